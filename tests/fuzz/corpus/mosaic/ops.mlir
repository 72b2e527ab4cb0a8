"builtin.module"() ({
"func.func"() <{sym_name = "main"}> ({
^bb0(%i: i32, %x: memref<8x128xf32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>, %y: memref<8x128xf32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>):
%c0 = "arith.constant"() <{value = 0 : index}> : () -> index
%c5 = "arith.constant"() <{value = 5 : index}> : () -> index
%a = "tpu.load"(%x, %c0, %c0) <{sublane_mask = array<i1: true, true, true, true, true, true, true, true>, sublane_stride = 1 : i32}> : (memref<8x128xf32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>, index, index) -> vector<8x128xf32> loc(#loc1)
%r = "tpu.all_reduce"(%a) <{dim = 1 : i64, kind = #tpu.reduction_kind<sum>}> : (vector<8x128xf32>) -> vector<8x128xf32>
%b = "tpu.iota"() <{dimensions = array<i32: 1>}> : () -> vector<8x128xi32>
%g = "arith.sitofp"(%b) : (vector<8x128xi32>) -> vector<8x128xf32>
%pk = "tpu.pack_subelements"(%r, %g) <{pack_format = #tpu.pack_format<compressed>, positions = array<i32: 0, 1>}> : (vector<8x128xf32>, vector<8x128xf32>) -> vector<8x128x2xbf16>
%up = "tpu.unpack_subelements"(%pk) <{index = 1 : i32, pack_format = #tpu.pack_format<compressed>}> : (vector<8x128x2xbf16>) -> vector<8x128xf32>
%ro = "tpu.dynamic_rotate"(%up, %i) <{dimension = 1 : i32}> : (vector<8x128xf32>, i32) -> vector<8x128xf32>
%ga = "tpu.gather"(%ro) <{dimension = 0 : i32, indices = array<i32: 0, 2, 1, 3, 4, 5, 6, 7>}> : (vector<8x128xf32>) -> vector<8x128xf32>
%mk = "tpu.create_mask"(%c0, %c0, %c5, %c5) : (index, index, index, index) -> vector<8x128xi1>
%pm = "tpu.pack_vmsk"(%mk, %mk) : (vector<8x128xi1>, vector<8x128xi1>) -> vector<8x128x2xi1>
%cm = "arith.cmpf"(%ga, %a) <{predicate = 4 : i64}> : (vector<8x128xf32>, vector<8x128xf32>) -> vector<8x128xi1>
%an = "arith.andi"(%mk, %cm) : (vector<8x128xi1>, vector<8x128xi1>) -> vector<8x128xi1>
%se = "arith.select"(%an, %ga, %a) : (vector<8x128xi1>, vector<8x128xf32>, vector<8x128xf32>) -> vector<8x128xf32>
"tpu.store"(%se, %y, %c0, %c0) <{operandSegmentSizes = array<i32: 1, 1, 2, 0>, sublane_mask = array<i1: true, true, true, true, true, true, true, true>, sublane_stride = 1 : i32}> : (vector<8x128xf32>, memref<8x128xf32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>, index, index) -> ()
"func.return"() : () -> () loc(#loc1)
}) {iteration_bounds = array<i64: 3>, scalar_prefetch = 0 : i64, scratch_operands = 0 : i64, window_params = [{transform_indices = @t0, window_bounds = array<i64: 8, 128>}, {transform_indices = @t0, window_bounds = array<i64: 8, 128>}]} : () -> ()
"func.func"() <{sym_name = "t0"}> ({
^bb0(%g: i32):
%z = "arith.constant"() <{value = 0 : i32}> : () -> i32
"func.return"(%g, %z) : (i32, i32) -> ()
}) : () -> ()
}) {tilesim.operands = [tensor<20x128xf32>, tensor<20x128xf32>], tilesim.results = 1 : i64, tilesim.fills = ["iota"]} : () -> ()
#loc1 = loc("k.py":3:4)
