"builtin.module"() <{sym_name = "jit_scan"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<256x256xf32>) -> (tensor<256x256xf32>, tensor<7x256x256xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg7: tensor<256x256xf32>):
    %11 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<7x256x256xf32>}> : () -> tensor<7x256x256xf32>
    %12 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %13 = "stablehlo.broadcast_in_dim"(%12) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<7x256x256xf32>
    %14 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %15:4 = "stablehlo.while"(%11, %14, %arg7, %13) ({
    ^bb0(%arg12: tensor<7x256x256xf32>, %arg13: tensor<i32>, %arg14: tensor<256x256xf32>, %arg15: tensor<7x256x256xf32>):
      %21 = "stablehlo.constant"() <{value = dense<7> : tensor<i32>}> : () -> tensor<i32>
      %22 = "stablehlo.compare"(%arg13, %21) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%22) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg8: tensor<7x256x256xf32>, %arg9: tensor<i32>, %arg10: tensor<256x256xf32>, %arg11: tensor<7x256x256xf32>):
      %16 = "func.call"(%arg8, %arg9) <{callee = @dynamic_index_in_dim}> : (tensor<7x256x256xf32>, tensor<i32>) -> tensor<256x256xf32>
      %17:2 = "func.call"(%arg10, %16) <{callee = @closed_call}> : (tensor<256x256xf32>, tensor<256x256xf32>) -> (tensor<256x256xf32>, tensor<256x256xf32>)
      %18 = "func.call"(%arg11, %17#1, %arg9) <{callee = @dynamic_update_index_in_dim}> : (tensor<7x256x256xf32>, tensor<256x256xf32>, tensor<i32>) -> tensor<7x256x256xf32>
      %19 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %20 = "stablehlo.add"(%arg9, %19) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg8, %20, %17#0, %18) : (tensor<7x256x256xf32>, tensor<i32>, tensor<256x256xf32>, tensor<7x256x256xf32>) -> ()
    }) : (tensor<7x256x256xf32>, tensor<i32>, tensor<256x256xf32>, tensor<7x256x256xf32>) -> (tensor<7x256x256xf32>, tensor<i32>, tensor<256x256xf32>, tensor<7x256x256xf32>)
    "func.return"(%15#2, %15#3) : (tensor<256x256xf32>, tensor<7x256x256xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<7x256x256xf32>, tensor<i32>) -> tensor<256x256xf32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<7x256x256xf32>, %arg6: tensor<i32>):
    %7 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %8 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %9 = "stablehlo.dynamic_slice"(%arg5, %arg6, %7, %8) <{slice_sizes = array<i64: 1, 256, 256>}> : (tensor<7x256x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x256x256xf32>
    %10 = "stablehlo.reshape"(%9) : (tensor<1x256x256xf32>) -> tensor<256x256xf32>
    "func.return"(%10) : (tensor<256x256xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<256x256xf32>, tensor<256x256xf32>) -> (tensor<256x256xf32>, tensor<256x256xf32>), res_attrs = [{}, {}], sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<256x256xf32>, %arg4: tensor<256x256xf32>):
    %4 = "stablehlo.transpose"(%arg3) <{permutation = array<i64: 1, 0>}> : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %5 = "stablehlo.add"(%arg3, %arg4) : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    %6 = "stablehlo.transpose"(%5) <{permutation = array<i64: 1, 0>}> : (tensor<256x256xf32>) -> tensor<256x256xf32>
    "func.return"(%4, %6) : (tensor<256x256xf32>, tensor<256x256xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<7x256x256xf32>, tensor<256x256xf32>, tensor<i32>) -> tensor<7x256x256xf32>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<7x256x256xf32>, %arg1: tensor<256x256xf32>, %arg2: tensor<i32>):
    %0 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<256x256xf32>) -> tensor<1x256x256xf32>
    %1 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %2 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %3 = "stablehlo.dynamic_update_slice"(%arg0, %0, %arg2, %1, %2) : (tensor<7x256x256xf32>, tensor<1x256x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<7x256x256xf32>
    "func.return"(%3) : (tensor<7x256x256xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
