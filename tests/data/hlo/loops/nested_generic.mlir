"builtin.module"() <{sym_name = "jit_nested"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<256x256xf32>) -> tensor<256x256xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg7: tensor<256x256xf32>):
    %12 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %13:2 = "stablehlo.while"(%12, %arg7) ({
    ^bb0(%arg10: tensor<i32>, %arg11: tensor<256x256xf32>):
      %18 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
      %19 = "stablehlo.compare"(%arg10, %18) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%19) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg8: tensor<i32>, %arg9: tensor<256x256xf32>):
      %15 = "func.call"(%arg9) <{callee = @closed_call}> : (tensor<256x256xf32>) -> tensor<256x256xf32>
      %16 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %17 = "stablehlo.add"(%arg8, %16) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%17, %15) : (tensor<i32>, tensor<256x256xf32>) -> ()
    }) : (tensor<i32>, tensor<256x256xf32>) -> (tensor<i32>, tensor<256x256xf32>)
    %14 = "func.call"(%13#1) <{callee = @twice}> : (tensor<256x256xf32>) -> tensor<256x256xf32>
    "func.return"(%14) : (tensor<256x256xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<256x256xf32>) -> tensor<256x256xf32>, res_attrs = [{}], sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg2: tensor<256x256xf32>):
    %5 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %6:2 = "stablehlo.while"(%5, %arg2) ({
    ^bb0(%arg5: tensor<i32>, %arg6: tensor<256x256xf32>):
      %10 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
      %11 = "stablehlo.compare"(%arg5, %10) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%11) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<256x256xf32>):
      %7 = "func.call"(%arg4) <{callee = @closed_call_0}> : (tensor<256x256xf32>) -> tensor<256x256xf32>
      %8 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %9 = "stablehlo.add"(%arg3, %8) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%9, %7) : (tensor<i32>, tensor<256x256xf32>) -> ()
    }) : (tensor<i32>, tensor<256x256xf32>) -> (tensor<i32>, tensor<256x256xf32>)
    "func.return"(%6#1) : (tensor<256x256xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<256x256xf32>) -> tensor<256x256xf32>, res_attrs = [{}], sym_name = "closed_call_0", sym_visibility = "private"}> ({
  ^bb0(%arg1: tensor<256x256xf32>):
    %4 = "func.call"(%arg1) <{callee = @twice}> : (tensor<256x256xf32>) -> tensor<256x256xf32>
    "func.return"(%4) : (tensor<256x256xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<256x256xf32>) -> tensor<256x256xf32>, res_attrs = [{}], sym_name = "twice", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<256x256xf32>):
    %0 = "stablehlo.transpose"(%arg0) <{permutation = array<i64: 1, 0>}> : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %1 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %2 = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<256x256xf32>
    %3 = "stablehlo.multiply"(%0, %2) : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    "func.return"(%3) : (tensor<256x256xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
