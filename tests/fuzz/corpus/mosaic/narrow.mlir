"builtin.module"() ({
"func.func"() <{sym_name = "main"}> ({
^bb0(%g: i32, %t: memref<4x4xi8, #tpu.memory_space<smem>>, %x: memref<8x128xf32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>, %y: memref<8x128xf32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>, %s: memref<8x128xi32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>):
%c = "arith.constant"() <{value = 0 : index}> : () -> index
%f = "arith.constant"() <{value = 1.5 : f32}> : () -> f32
%i = "memref.load"(%t, %c, %c) : (memref<4x4xi8, #tpu.memory_space<smem>>, index, index) -> i8
"memref.store"(%i, %t, %c, %c) : (i8, memref<4x4xi8, #tpu.memory_space<smem>>, index, index) -> ()
%j = "arith.extui"(%i) : (i8) -> i32
%h = "arith.sitofp"(%j) : (i32) -> f32
%m = "arith.mulf"(%h, %f) : (f32, f32) -> f32
%a = "tpu.shuffled_load"(%x, %c, %c) <{sublane_mask = array<i1: true, true, true, false, true, true, true, true>, sublane_offsets = array<i32: 0, 4, 1, 5, 2, 6, 3, 7>}> : (memref<8x128xf32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>, index, index) -> vector<8x128xf32>
%b = "arith.divf"(%a, %a) : (vector<8x128xf32>, vector<8x128xf32>) -> vector<8x128xf32>
%d = "math.powf"(%a, %b) : (vector<8x128xf32>, vector<8x128xf32>) -> vector<8x128xf32>
%e = "arith.cmpf"(%a, %d) <{predicate = 6 : i64}> : (vector<8x128xf32>, vector<8x128xf32>) -> vector<8x128xi1>
%k = "tpu.iota"() <{dimensions = array<i32: 0, 2>}> : () -> vector<8x128x2xi16>
%l = "arith.maxsi"(%k, %k) : (vector<8x128x2xi16>, vector<8x128x2xi16>) -> vector<8x128x2xi16>
%n = "arith.cmpi"(%k, %l) <{predicate = 6 : i64}> : (vector<8x128x2xi16>, vector<8x128x2xi16>) -> vector<8x128x2xi1>
%o = "tpu.create_subelement_mask"() <{from = 3 : i32, to = 11 : i32}> : () -> vector<8x128x2xi1>
%p = "arith.andi"(%n, %o) : (vector<8x128x2xi1>, vector<8x128x2xi1>) -> vector<8x128x2xi1>
%q = "tpu.all_reduce"(%a) <{dim = 1 : i64, kind = #tpu.reduction_kind<arg_max>}> : (vector<8x128xf32>) -> vector<8x128xi32>
%r = "arith.remsi"(%q, %q) : (vector<8x128xi32>, vector<8x128xi32>) -> vector<8x128xi32>
%u = "tpu.pack_subelements"(%r, %q, %r, %q) <{pack_format = #tpu.pack_format<compressed>, positions = array<i32: 0, 1, 2, 3>}> : (vector<8x128xi32>, vector<8x128xi32>, vector<8x128xi32>, vector<8x128xi32>) -> vector<8x128x4xi8>
%v = "tpu.unpack_subelements"(%u) <{index = 1 : i32, pack_format = #tpu.pack_format<interleaved>, sign_extended = false}> : (vector<8x128x4xi8>) -> vector<8x128x2xi16>
%w = "tpu.sublane_shuffle"(%a, %d) <{pattern = array<i32: 0, 9, 2, 3, 8, 1, 10, 11>}> : (vector<8x128xf32>, vector<8x128xf32>) -> vector<8x128xf32>
%z = "tpu.dynamic_rotate"(%w, %j) <{dimension = 1 : si32, stride = 2 : si32, stride_dimension = 0 : si32}> : (vector<8x128xf32>, i32) -> vector<8x128xf32>
%A = "tpu.broadcast_in_sublanes"(%z) <{lane = 8 : i32}> : (vector<8x128xf32>) -> vector<8x128xf32>
%B = "arith.constant"() <{value = dense<0.5> : vector<8x128x4xf8E4M3FN>}> : () -> vector<8x128x4xf8E4M3FN>
%C = "tpu.unpack_subelements"(%B) <{index = 3 : i32, pack_format = #tpu.pack_format<compressed>}> : (vector<8x128x4xf8E4M3FN>) -> vector<8x128xf32>
%D = "arith.constant"() <{value = dense<0.0> : vector<32x128xf32>}> : () -> vector<32x128xf32>
%E = "arith.constant"() <{value = dense<1> : vector<128x128xi8>}> : () -> vector<128x128xi8>
%F = "tpu.matmul"(%D, %E, %D) <{transpose_lhs = false, transpose_rhs = false}> : (vector<32x128xf32>, vector<128x128xi8>, vector<32x128xf32>) -> vector<32x128xf32>
%G:4 = "tpu.unroll_vectors"(%F) : (vector<32x128xf32>) -> (vector<8x128xf32>, vector<8x128xf32>, vector<8x128xf32>, vector<8x128xf32>)
%H = "arith.addf"(%A, %G#1) : (vector<8x128xf32>, vector<8x128xf32>) -> vector<8x128xf32>
%I = "arith.addf"(%H, %C) : (vector<8x128xf32>, vector<8x128xf32>) -> vector<8x128xf32>
%J = "vector.broadcast"(%m) : (f32) -> vector<8x128xf32>
%K = "arith.select"(%e, %I, %J) : (vector<8x128xi1>, vector<8x128xf32>, vector<8x128xf32>) -> vector<8x128xf32>
%L = "tpu.internal_scratch"() : () -> memref<72x128xi32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>
"tpu.shuffled_store"(%r, %L, %c, %c) <{sublane_mask = array<i1: true, true, true, true, true, true, true, true>, sublane_offsets = array<i32: 0, 9, 18, 27, 36, 45, 54, 63>}> : (vector<8x128xi32>, memref<72x128xi32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>, index, index) -> ()
%M = "tpu.iteration_bound"() <{dim = 0 : i32}> : () -> i32
"tpu.store"(%K, %y, %c, %c) <{operandSegmentSizes = array<i32: 1, 1, 2, 0>, sublane_mask = array<i1: true, true, true, true, true, true, true, true>}> : (vector<8x128xf32>, memref<8x128xf32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>, index, index) -> ()
"func.return"() : () -> ()
}) {iteration_bounds = array<i64: 2>, scalar_prefetch = 1 : i64, scratch_operands = 1 : i64} : () -> ()
}) {tilesim.operands = [tensor<4x4xi8>, tensor<8x128xf32>, tensor<8x128xf32>], tilesim.results = 1 : i64, tilesim.fills = ["zeros", "random(seed=1, lo=-1, hi=1)"]} : () -> ()
