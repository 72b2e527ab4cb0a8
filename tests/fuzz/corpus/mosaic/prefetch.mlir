"builtin.module"() ({
"func.func"() <{sym_name = "main"}> ({
^bb0(%i: i32, %p: memref<3xi32, #tpu.tiled<(128),[1]>, #tpu.memory_space<smem>>, %x: memref<8x128xf32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>, %y: memref<8x128xf32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>):
%c0 = "arith.constant"() <{value = 0 : index}> : () -> index
%a = "tpu.load"(%x, %c0, %c0) <{sublane_mask = array<i1: true, true, true, true, true, true, true, true>, sublane_stride = 1 : i32}> : (memref<8x128xf32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>, index, index) -> vector<8x128xf32> loc(#loc1)
"tpu.store"(%a, %y, %c0, %c0) <{operandSegmentSizes = array<i32: 1, 1, 2, 0>, sublane_mask = array<i1: true, true, true, true, true, true, true, true>, sublane_stride = 1 : i32}> : (vector<8x128xf32>, memref<8x128xf32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>, index, index) -> ()
"func.return"() : () -> () loc(#loc1)
}) {iteration_bounds = array<i64: 3>, scalar_prefetch = 1 : i64, scratch_operands = 0 : i64, window_params = [{transform_indices = @t0, window_bounds = array<i64: 8, 128>}, {transform_indices = @t0, window_bounds = array<i64: 8, 128>}]} : () -> ()
"func.func"() <{sym_name = "t0"}> ({
^bb0(%g: i32, %p: memref<3xi32, #tpu.tiled<(128),[1]>, #tpu.memory_space<smem>>):
%z = "arith.constant"() <{value = 0 : i32}> : () -> i32
%n = "arith.index_cast"(%g) : (i32) -> index
%b = "memref.load"(%p, %n) : (memref<3xi32, #tpu.tiled<(128),[1]>, #tpu.memory_space<smem>>, index) -> i32
"func.return"(%b, %z) : (i32, i32) -> ()
}) : () -> ()
}) {tilesim.operands = [tensor<3xi32>, tensor<20x128xf32>, tensor<20x128xf32>], tilesim.results = 1 : i64, tilesim.fills = ["zeros", "random(seed=1, lo=-1, hi=1)"]} : () -> ()
#loc1 = loc("k.py":3:4)
