"builtin.module"() <{sym_name = "jit_steps"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<256x256xf32>) -> (tensor<256x256xf32>, tensor<i32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<256x256xf32>):
    %0 = "stablehlo.constant"() <{value = dense<9> : tensor<i32>}> : () -> tensor<i32>
    %1:2 = "stablehlo.while"(%arg0, %0) ({
    ^bb0(%arg3: tensor<256x256xf32>, %arg4: tensor<i32>):
      %5 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %6 = "stablehlo.compare"(%arg4, %5) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%6) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg1: tensor<256x256xf32>, %arg2: tensor<i32>):
      %2 = "stablehlo.transpose"(%arg1) <{permutation = array<i64: 1, 0>}> : (tensor<256x256xf32>) -> tensor<256x256xf32>
      %3 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
      %4 = "stablehlo.subtract"(%arg2, %3) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%2, %4) : (tensor<256x256xf32>, tensor<i32>) -> ()
    }) : (tensor<256x256xf32>, tensor<i32>) -> (tensor<256x256xf32>, tensor<i32>)
    "func.return"(%1#0, %1#1) : (tensor<256x256xf32>, tensor<i32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
