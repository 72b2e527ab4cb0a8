module @jit_steps attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<256x256xf32>) -> (tensor<256x256xf32> {jax.result_info = "result[0]"}, tensor<i32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<9> : tensor<i32>
    %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %c) : tensor<256x256xf32>, tensor<i32>
    cond {
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      %1 = stablehlo.compare GE, %iterArg_0, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.transpose %iterArg, dims = [1, 0] : (tensor<256x256xf32>) -> tensor<256x256xf32>
      %c_1 = stablehlo.constant dense<4> : tensor<i32>
      %2 = stablehlo.subtract %iterArg_0, %c_1 : tensor<i32>
      stablehlo.return %1, %2 : tensor<256x256xf32>, tensor<i32>
    }
    return %0#0, %0#1 : tensor<256x256xf32>, tensor<i32>
  }
}
