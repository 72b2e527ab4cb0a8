"builtin.module"() <{sym_name = "relayout"}> ({
  "func.func"() <{function_type = (i32, memref<16x128xi32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>, memref<16x128xi32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>) -> (), sym_name = "main"}> ({
  ^bb0(%step: i32, %tiled0: memref<16x128xi32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>, %tiled1: memref<16x128xi32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>):
    %c0 = "arith.constant"() <{value = 0 : index}> : () -> index
    %src = "tpu.erase_memref_layout"(%tiled0) : (memref<16x128xi32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>) -> memref<16x128xi32, #tpu.memory_space<vmem>>
    %dst = "tpu.erase_memref_layout"(%tiled1) : (memref<16x128xi32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>) -> memref<16x128xi32, #tpu.memory_space<vmem>>
    %scratch = "tpu.internal_scratch"() : () -> memref<64x128xi32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>
    %t0 = "arith.constant"() <{value = 0 : index}> : () -> index
    %v0 = "tpu.load"(%src, %t0, %c0) <{sublane_mask = array<i1: true, true, true, true, true, true, true, true>, sublane_stride = 1 : i32}> : (memref<16x128xi32, #tpu.memory_space<vmem>>, index, index) -> vector<8x128xi32>
    %t1 = "arith.constant"() <{value = 8 : index}> : () -> index
    %v1 = "tpu.load"(%src, %t1, %c0) <{sublane_mask = array<i1: true, true, true, true, true, true, true, true>, sublane_stride = 1 : i32}> : (memref<16x128xi32, #tpu.memory_space<vmem>>, index, index) -> vector<8x128xi32>
    %t2 = "arith.constant"() <{value = 0 : index}> : () -> index
    %t3 = "arith.constant"() <{value = 0 : index}> : () -> index
    "tpu.store"(%v0, %scratch, %t2, %t3) <{operandSegmentSizes = array<i32: 1, 1, 2, 0>, sublane_mask = array<i1: true, true, true, true, true, true, true, true>, sublane_stride = 4 : i32}> : (vector<8x128xi32>, memref<64x128xi32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>, index, index) -> ()
    %t4 = "arith.constant"() <{value = 1 : index}> : () -> index
    %t5 = "arith.constant"() <{value = 0 : index}> : () -> index
    "tpu.store"(%v1, %scratch, %t4, %t5) <{operandSegmentSizes = array<i32: 1, 1, 2, 0>, sublane_mask = array<i1: true, true, true, true, true, true, true, true>, sublane_stride = 4 : i32}> : (vector<8x128xi32>, memref<64x128xi32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>, index, index) -> ()
    %t6 = "arith.constant"() <{value = 0 : index}> : () -> index
    %t7 = "arith.constant"() <{value = 0 : index}> : () -> index
    %v4 = "tpu.shuffled_load"(%scratch, %t6, %t7) <{sublane_mask = array<i1: true, true, true, true, true, true, true, true>, sublane_offsets = array<i32: 0, 4, 1, 5, 2, 6, 3, 7>}> : (memref<64x128xi32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>, index, index) -> vector<8x128xi32>
    %t8 = "arith.constant"() <{value = 0 : index}> : () -> index
    %t9 = "arith.constant"() <{value = 0 : index}> : () -> index
    %v5 = "tpu.shuffled_load"(%scratch, %t8, %t9) <{sublane_mask = array<i1: true, true, true, true, true, true, true, true>, sublane_offsets = array<i32: 8, 12, 9, 13, 10, 14, 11, 15>}> : (memref<64x128xi32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>, index, index) -> vector<8x128xi32>
    %t10 = "arith.constant"() <{value = 0 : index}> : () -> index
    "tpu.store"(%v4, %dst, %t10, %c0) <{operandSegmentSizes = array<i32: 1, 1, 2, 0>, sublane_mask = array<i1: true, true, true, true, true, true, true, true>, sublane_stride = 1 : i32}> : (vector<8x128xi32>, memref<16x128xi32, #tpu.memory_space<vmem>>, index, index) -> ()
    %t11 = "arith.constant"() <{value = 8 : index}> : () -> index
    "tpu.store"(%v5, %dst, %t11, %c0) <{operandSegmentSizes = array<i32: 1, 1, 2, 0>, sublane_mask = array<i1: true, true, true, true, true, true, true, true>, sublane_stride = 1 : i32}> : (vector<8x128xi32>, memref<16x128xi32, #tpu.memory_space<vmem>>, index, index) -> ()
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
