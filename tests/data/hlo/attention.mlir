module @jit_attention attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x1024x16x64xbf16> {mhlo.sharding = "{replicated}"}, %arg1: tensor<8x1024x16x64xbf16>, %arg2: tensor<29184x2x2560xbf16>) -> (tensor<8x16x1024x1024xbf16> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.250000e-01> : tensor<bf16>
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1, 3] : (tensor<8x1024x16x64xbf16>) -> tensor<8x16x1024x64xbf16>
    %1 = stablehlo.transpose %arg1, dims = [0, 2, 3, 1] : (tensor<8x1024x16x64xbf16>) -> tensor<8x16x64x1024xbf16>
    %2 = stablehlo.dot_general %0, %1, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<8x16x1024x64xbf16>, tensor<8x16x64x1024xbf16>) -> tensor<8x16x1024x1024xbf16>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<8x16x1024x1024xbf16>
    %4 = stablehlo.multiply %2, %3 : tensor<8x16x1024x1024xbf16>
    %5 = "stablehlo.reduce"(%4, %cst) ({
    ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
      %9 = stablehlo.maximum %a, %b : tensor<bf16>
      stablehlo.return %9 : tensor<bf16>
    }) {dimensions = array<i64: 3>} : (tensor<8x16x1024x1024xbf16>, tensor<bf16>) -> tensor<8x16x1024xbf16>
    %6 = stablehlo.reshape %arg2 : (tensor<29184x2x2560xbf16>) -> tensor<58368x2560xbf16>
    return %4 : tensor<8x16x1024x1024xbf16>
  }
}
