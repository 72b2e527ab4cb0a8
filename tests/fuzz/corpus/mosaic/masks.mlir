"builtin.module"() <{sym_name = "relayout"}> ({
  "func.func"() <{function_type = (i32, memref<16x128xi32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>, memref<16x128xi32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>) -> (), sym_name = "main"}> ({
  ^bb0(%step: i32, %tiled0: memref<16x128xi32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>, %tiled1: memref<16x128xi32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>):
    %c0 = "arith.constant"() <{value = 0 : index}> : () -> index
    %src = "tpu.erase_memref_layout"(%tiled0) : (memref<16x128xi32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>) -> memref<16x128xi32, #tpu.memory_space<vmem>>
    %dst = "tpu.erase_memref_layout"(%tiled1) : (memref<16x128xi32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>) -> memref<16x128xi32, #tpu.memory_space<vmem>>
    %t0 = "arith.constant"() <{value = 0 : index}> : () -> index
    %w0 = "tpu.load"(%src, %t0, %c0) <{sublane_mask = array<i1: true, true, true, true, true, true, true, true>, sublane_stride = 1 : i32}> : (memref<16x128xi32, #tpu.memory_space<vmem>>, index, index) -> vector<8x128xi32>
    %p0 = "tpu.bitcast_vreg"(%w0) : (vector<8x128xi32>) -> vector<8x128x4xi8>
    %t1 = "arith.constant"() <{value = dense<0> : vector<8x128x4xi8>}> : () -> vector<8x128x4xi8>
    %v0 = "arith.cmpi"(%p0, %t1) <{predicate = 1 : i64}> : (vector<8x128x4xi8>, vector<8x128x4xi8>) -> vector<8x128x4xi1>
    %t2 = "arith.constant"() <{value = 8 : index}> : () -> index
    %w1 = "tpu.load"(%src, %t2, %c0) <{sublane_mask = array<i1: true, true, true, true, true, true, true, true>, sublane_stride = 1 : i32}> : (memref<16x128xi32, #tpu.memory_space<vmem>>, index, index) -> vector<8x128xi32>
    %p1 = "tpu.bitcast_vreg"(%w1) : (vector<8x128xi32>) -> vector<8x128x4xi8>
    %t3 = "arith.constant"() <{value = dense<0> : vector<8x128x4xi8>}> : () -> vector<8x128x4xi8>
    %v1 = "arith.cmpi"(%p1, %t3) <{predicate = 1 : i64}> : (vector<8x128x4xi8>, vector<8x128x4xi8>) -> vector<8x128x4xi1>
    %p2 = "arith.extui"(%v0) <{}> : (vector<8x128x4xi1>) -> vector<8x128x4xi8>
    %v2 = "tpu.bitcast_vreg"(%p2) : (vector<8x128x4xi8>) -> vector<8x128xi32>
    %p3 = "arith.extui"(%v1) <{}> : (vector<8x128x4xi1>) -> vector<8x128x4xi8>
    %v3 = "tpu.bitcast_vreg"(%p3) : (vector<8x128x4xi8>) -> vector<8x128xi32>
    %v4 = "tpu.create_subelement_mask"() <{from = 0 : i32, to = 7 : i32}> : () -> vector<8x128x4xi1>
    %v5 = "tpu.create_subelement_mask"() <{from = 8 : i32, to = 15 : i32}> : () -> vector<8x128x4xi1>
    %v6 = "arith.ori"(%v4, %v5) <{}> : (vector<8x128x4xi1>, vector<8x128x4xi1>) -> vector<8x128x4xi1>
    %v7 = "tpu.create_subelement_mask"() <{from = 16 : i32, to = 23 : i32}> : () -> vector<8x128x4xi1>
    %v8 = "arith.ori"(%v6, %v7) <{}> : (vector<8x128x4xi1>, vector<8x128x4xi1>) -> vector<8x128x4xi1>
    %v9 = "tpu.create_subelement_mask"() <{from = 24 : i32, to = 31 : i32}> : () -> vector<8x128x4xi1>
    %v10 = "arith.ori"(%v8, %v9) <{}> : (vector<8x128x4xi1>, vector<8x128x4xi1>) -> vector<8x128x4xi1>
    %t4 = "arith.constant"() <{value = dense<8> : vector<8x128xi32>}> : () -> vector<8x128xi32>
    %v11 = "arith.shrui"(%v2, %t4) <{}> : (vector<8x128xi32>, vector<8x128xi32>) -> vector<8x128xi32>
    %v12 = "tpu.rotate"(%v11) <{amount = 2 : si32, dimension = 0 : si32}> : (vector<8x128xi32>) -> vector<8x128xi32>
    %t5 = "arith.constant"() <{value = dense<24> : vector<8x128xi32>}> : () -> vector<8x128xi32>
    %v13 = "arith.shli"(%v2, %t5) <{}> : (vector<8x128xi32>, vector<8x128xi32>) -> vector<8x128xi32>
    %v14 = "tpu.rotate"(%v13) <{amount = 1 : si32, dimension = 0 : si32}> : (vector<8x128xi32>) -> vector<8x128xi32>
    %v15 = "arith.ori"(%v12, %v14) <{}> : (vector<8x128xi32>, vector<8x128xi32>) -> vector<8x128xi32>
    %v16 = "tpu.rotate"(%v15) <{amount = 6 : si32, dimension = 0 : si32}> : (vector<8x128xi32>) -> vector<8x128xi32>
    %t6 = "arith.constant"() <{value = dense<24> : vector<8x128xi32>}> : () -> vector<8x128xi32>
    %v17 = "arith.shli"(%v3, %t6) <{}> : (vector<8x128xi32>, vector<8x128xi32>) -> vector<8x128xi32>
    %v18 = "tpu.rotate"(%v17) <{amount = 1 : si32, dimension = 0 : si32}> : (vector<8x128xi32>) -> vector<8x128xi32>
    %t7 = "tpu.bitcast_vreg"(%v16) : (vector<8x128xi32>) -> vector<8x128x4xi8>
    %t8 = "tpu.bitcast_vreg"(%v18) : (vector<8x128xi32>) -> vector<8x128x4xi8>
    %p19 = "arith.select"(%v10, %t7, %t8) <{}> : (vector<8x128x4xi1>, vector<8x128x4xi8>, vector<8x128x4xi8>) -> vector<8x128x4xi8>
    %v19 = "tpu.bitcast_vreg"(%p19) : (vector<8x128x4xi8>) -> vector<8x128xi32>
    %t9 = "arith.constant"() <{value = dense<8> : vector<8x128xi32>}> : () -> vector<8x128xi32>
    %v20 = "arith.shrui"(%v3, %t9) <{}> : (vector<8x128xi32>, vector<8x128xi32>) -> vector<8x128xi32>
    %v21 = "tpu.rotate"(%v20) <{amount = 2 : si32, dimension = 0 : si32}> : (vector<8x128xi32>) -> vector<8x128xi32>
    %v22 = "tpu.rotate"(%v21) <{amount = 6 : si32, dimension = 0 : si32}> : (vector<8x128xi32>) -> vector<8x128xi32>
    %t10 = "tpu.bitcast_vreg"(%v19) : (vector<8x128xi32>) -> vector<8x128x4xi8>
    %t11 = "arith.constant"() <{value = dense<0> : vector<8x128x4xi8>}> : () -> vector<8x128x4xi8>
    %v23 = "arith.cmpi"(%t10, %t11) <{predicate = 1 : i64}> : (vector<8x128x4xi8>, vector<8x128x4xi8>) -> vector<8x128x4xi1>
    %t12 = "tpu.bitcast_vreg"(%v22) : (vector<8x128xi32>) -> vector<8x128x4xi8>
    %t13 = "arith.constant"() <{value = dense<0> : vector<8x128x4xi8>}> : () -> vector<8x128x4xi8>
    %v24 = "arith.cmpi"(%t12, %t13) <{predicate = 1 : i64}> : (vector<8x128x4xi8>, vector<8x128x4xi8>) -> vector<8x128x4xi1>
    %t14 = "arith.constant"() <{value = 0 : index}> : () -> index
    %q0 = "arith.extui"(%v23) : (vector<8x128x4xi1>) -> vector<8x128x4xi8>
    %o0 = "tpu.bitcast_vreg"(%q0) : (vector<8x128x4xi8>) -> vector<8x128xi32>
    "tpu.store"(%o0, %dst, %t14, %c0) <{operandSegmentSizes = array<i32: 1, 1, 2, 0>, sublane_mask = array<i1: true, true, true, true, true, true, true, true>, sublane_stride = 1 : i32}> : (vector<8x128xi32>, memref<16x128xi32, #tpu.memory_space<vmem>>, index, index) -> ()
    %t15 = "arith.constant"() <{value = 8 : index}> : () -> index
    %q1 = "arith.extui"(%v24) : (vector<8x128x4xi1>) -> vector<8x128x4xi8>
    %o1 = "tpu.bitcast_vreg"(%q1) : (vector<8x128x4xi8>) -> vector<8x128xi32>
    "tpu.store"(%o1, %dst, %t15, %c0) <{operandSegmentSizes = array<i32: 1, 1, 2, 0>, sublane_mask = array<i1: true, true, true, true, true, true, true, true>, sublane_stride = 1 : i32}> : (vector<8x128xi32>, memref<16x128xi32, #tpu.memory_space<vmem>>, index, index) -> ()
    "func.return"() : () -> ()
  }) {dimension_semantics = [#tpu.dimension_semantics<arbitrary>], iteration_bounds = array<i64: 1>, scalar_prefetch = 0 : i64, scratch_operands = 0 : i64, window_params = [{transform_indices = @transform_0, window_bounds = array<i64: 16, 128>}, {transform_indices = @transform_1, window_bounds = array<i64: 16, 128>}]} : () -> ()
  "func.func"() <{function_type = (i32) -> (i32, i32), sym_name = "transform_0"}> ({
  ^bb0(%arg0: i32):
    %0 = "arith.constant"() <{value = 0 : i32}> : () -> i32
    "func.return"(%0, %0) : (i32, i32) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (i32) -> (i32, i32), sym_name = "transform_1"}> ({
  ^bb0(%arg0: i32):
    %0 = "arith.constant"() <{value = 0 : i32}> : () -> i32
    "func.return"(%0, %0) : (i32, i32) -> ()
  }) : () -> ()
}) {tilesim.operands = [tensor<16x128xi32>, tensor<16x128xi32>], tilesim.results = 1 : i64} : () -> ()
