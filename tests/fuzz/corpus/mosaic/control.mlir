"builtin.module"() ({
"func.func"() <{sym_name = "main"}> ({
^bb0(%i: i32, %x: memref<8x128xf32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>, %y: memref<8x128xf32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>):
%c0 = "arith.constant"() <{value = 0 : index}> : () -> index
%a = "tpu.load"(%x, %c0, %c0) <{sublane_mask = array<i1: true, true, true, true, true, true, true, true>, sublane_stride = 1 : i32}> : (memref<8x128xf32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>, index, index) -> vector<8x128xf32> loc(#loc1)
%1 = "arith.constant"() <{value = 1 : i32}> : () -> i32
%3 = "arith.constant"() <{value = 3 : i32}> : () -> i32
%p = "arith.cmpi"(%i, %1) <{predicate = 2 : i64}> : (i32, i32) -> i1
%q = "scf.if"(%p) ({
%s = "math.tanh"(%a) : (vector<8x128xf32>) -> vector<8x128xf32>
"scf.yield"(%s) : (vector<8x128xf32>) -> ()
}, {
"scf.yield"(%a) : (vector<8x128xf32>) -> ()
}) : (i1) -> vector<8x128xf32>
%f:2 = "scf.for"(%1, %3, %1, %q, %a) ({
^bb0(%n: i32, %u: vector<8x128xf32>, %v: vector<8x128xf32>):
%w = "arith.maximumf"(%u, %v) : (vector<8x128xf32>, vector<8x128xf32>) -> vector<8x128xf32>
"scf.yield"(%w, %u) : (vector<8x128xf32>, vector<8x128xf32>) -> ()
}) : (i32, i32, i32, vector<8x128xf32>, vector<8x128xf32>) -> (vector<8x128xf32>, vector<8x128xf32>)
%h = "scf.while"(%i) ({
^bb0(%o: i32):
%l = "arith.cmpi"(%o, %3) <{predicate = 2 : i64}> : (i32, i32) -> i1
"scf.condition"(%l, %o) : (i1, i32) -> ()
}, {
^bb0(%o: i32):
%l = "arith.addi"(%o, %1) : (i32, i32) -> i32
"scf.yield"(%l) : (i32) -> ()
}) : (i32) -> i32
%j = "arith.select"(%p, %f#0, %f#1) : (i1, vector<8x128xf32>, vector<8x128xf32>) -> vector<8x128xf32>
"tpu.store"(%j, %y, %c0, %c0) <{operandSegmentSizes = array<i32: 1, 1, 2, 0>, sublane_mask = array<i1: true, true, true, true, true, true, true, true>, sublane_stride = 1 : i32}> : (vector<8x128xf32>, memref<8x128xf32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>, index, index) -> ()
"func.return"() : () -> () loc(#loc1)
}) {iteration_bounds = array<i64: 3>, scalar_prefetch = 0 : i64, scratch_operands = 0 : i64, window_params = [{transform_indices = @t0, window_bounds = array<i64: 8, 128>}, {transform_indices = @t0, window_bounds = array<i64: 8, 128>}]} : () -> ()
"func.func"() <{sym_name = "t0"}> ({
^bb0(%g: i32):
%z = "arith.constant"() <{value = 0 : i32}> : () -> i32
"func.return"(%g, %z) : (i32, i32) -> ()
}) : () -> ()
}) {tilesim.operands = [tensor<20x128xf32>, tensor<20x128xf32>], tilesim.results = 1 : i64, tilesim.fills = ["iota"]} : () -> ()
#loc1 = loc("k.py":3:4)
