"builtin.module"() <{sym_name = "kernel"}> ({
  "func.func"() <{function_type = (memref<8x128xi4, #tpu.tiled<(8,128)(8,1),[1,1]>, #tpu.memory_space<smem>>, memref<1x128xi32, #tpu.tiled<(1,128),[1,1]>, #tpu.memory_space<smem>>) -> (), sym_name = "main"}> ({
  ^bb0(%arg0: memref<8x128xi4, #tpu.tiled<(8,128)(8,1),[1,1]>, #tpu.memory_space<smem>> loc(unknown), %arg1: memref<1x128xi32, #tpu.tiled<(1,128),[1,1]>, #tpu.memory_space<smem>> loc(unknown)):
    %0 = "arith.constant"() <{value = 19 : i32}> {in_layout = []} : () -> i32 loc(#loc1)
    %1 = "arith.constant"() <{value = 0 : index}> {in_layout = []} : () -> index loc(#loc0)
    %2 = "arith.constant"() <{value = 3 : i32}> {in_layout = []} : () -> i32 loc(#loc0)
    %3 = "arith.constant"() <{value = 1 : index}> {in_layout = []} : () -> index loc(#loc0)
    %4 = "arith.constant"() <{value = 1 : i32}> {in_layout = []} : () -> i32 loc(#loc0)
    %5 = "arith.constant"() <{value = 0 : i32}> {in_layout = []} : () -> i32 loc(#loc0)
    %6 = "tpu.erase_memref_layout"(%arg0) : (memref<8x128xi4, #tpu.tiled<(8,128)(8,1),[1,1]>, #tpu.memory_space<smem>>) -> memref<8x128xi4, #tpu.memory_space<smem>> loc(#loc0)
    %7 = "tpu.reinterpret_cast"(%arg1) : (memref<1x128xi32, #tpu.tiled<(1,128),[1,1]>, #tpu.memory_space<smem>>) -> memref<1x128xi32, #tpu.tiled<(1,128),[1,1]>, #tpu.memory_space<smem>> loc(#loc0)
    %8 = "tpu.erase_memref_layout"(%7) : (memref<1x128xi32, #tpu.tiled<(1,128),[1,1]>, #tpu.memory_space<smem>>) -> memref<1x128xi32, #tpu.memory_space<smem>> loc(#loc0)
    "scf.for"(%5, %0, %4) ({
    ^bb0(%arg2: i32 loc("scan:"(#loc29))):
      %9 = "arith.index_cast"(%arg2) : (i32) -> index loc(#loc8)
      %10 = "memref.load"(%6, %3, %9) : (memref<8x128xi4, #tpu.memory_space<smem>>, index, index) -> i4 loc(#loc8)
      %11 = "arith.extsi"(%10) : (i4) -> i32 loc(#loc8)
      %12 = "arith.muli"(%11, %2) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32 loc(#loc8)
      "memref.store"(%12, %8, %1, %9) : (i32, memref<1x128xi32, #tpu.memory_space<smem>>, index, index) -> () loc(#loc9)
      "scf.yield"() {in_layout = []} : () -> () loc(#loc1)
    }) {in_layout = [#tpu.vpad<"none">, #tpu.vpad<"none">, #tpu.vpad<"none">], out_layout = []} : (i32, i32, i32) -> () loc(#loc1)
    "func.return"() {in_layout = []} : () -> () loc(#loc0)
  }) {dimension_semantics = [], scalar_prefetch = 0 : i64, scratch_operands = 0 : i64} : () -> () loc(#loc0)
}) {tilesim.fills = ["random(seed=1, lo=-8, hi=7)"], tilesim.generation = 5 : i64, tilesim.operands = [tensor<2x19xi4>, tensor<1x19xi32>], tilesim.results = 1 : i64} : () -> () loc(#loc0)
#loc0 = loc(unknown)
#loc1 = loc("tests/mosaic/kernels.py":818:9)
#loc8 = loc("tests/mosaic/kernels.py":820:22)
#loc9 = loc("tests/mosaic/kernels.py":820:12)
