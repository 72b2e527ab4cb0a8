"builtin.module"() <{sym_name = "_halves"}> ({
  "func.func"() <{function_type = (memref<64x256xi8, #tpu.tiled<(32,128)(4,1),[2,1]>, #tpu.memory_space<any>>, memref<1x32x256xi8, #tpu.tiled<(32,128)(4,1),[2,2,1]>, #tpu.memory_space<any>>, memref<!tpu.dma_semaphore, #tpu.tiled<,[]>, #tpu.memory_space<semaphore_mem>>) -> (), sym_name = "main"}> ({
  ^bb0(%arg0: memref<64x256xi8, #tpu.tiled<(32,128)(4,1),[2,1]>, #tpu.memory_space<any>> loc(unknown), %arg1: memref<1x32x256xi8, #tpu.tiled<(32,128)(4,1),[2,2,1]>, #tpu.memory_space<any>> loc(unknown), %arg2: memref<!tpu.dma_semaphore, #tpu.tiled<,[]>, #tpu.memory_space<semaphore_mem>> loc(unknown)):
    %0 = "arith.constant"() <{value = 0 : i32}> {in_layout = []} : () -> i32 loc(#loc0)
    %1 = "arith.constant"() <{value = 1 : i32}> {in_layout = []} : () -> i32 loc(#loc0)
    %2 = "tpu.erase_memref_layout"(%arg1) : (memref<1x32x256xi8, #tpu.tiled<(32,128)(4,1),[2,2,1]>, #tpu.memory_space<any>>) -> memref<1x32x256xi8, #tpu.memory_space<any>> loc(#loc0)
    %3 = "tpu.erase_memref_layout"(%arg2) : (memref<!tpu.dma_semaphore, #tpu.tiled<,[]>, #tpu.memory_space<semaphore_mem>>) -> memref<!tpu.dma_semaphore, #tpu.memory_space<semaphore_mem>> loc(#loc0)
    %4 = "tpu.memref_reshape"(%arg0) : (memref<64x256xi8, #tpu.tiled<(32,128)(4,1),[2,1]>, #tpu.memory_space<any>>) -> memref<2x32x256xi8, #tpu.tiled<(32,128)(4,1),[2,2,1]>, #tpu.memory_space<any>> loc(#loc1)
    %5 = "tpu.memref_slice"(%4, %1, %0, %0) <{operandSegmentSizes = array<i32: 1, 3, 0>}> : (memref<2x32x256xi8, #tpu.tiled<(32,128)(4,1),[2,2,1]>, #tpu.memory_space<any>>, i32, i32, i32) -> memref<1x32x256xi8, #tpu.tiled<(32,128)(4,1),[2,2,1]>, #tpu.memory_space<any>> loc(#loc1)
    %6 = "tpu.erase_memref_layout"(%5) : (memref<1x32x256xi8, #tpu.tiled<(32,128)(4,1),[2,2,1]>, #tpu.memory_space<any>>) -> memref<1x32x256xi8, #tpu.memory_space<any>> loc(#loc1)
    "tpu.enqueue_dma"(%6, %2, %3) <{operandSegmentSizes = array<i32: 1, 0, 1, 1, 0, 0>, priority = 0 : i32, strict_ordering = false}> : (memref<1x32x256xi8, #tpu.memory_space<any>>, memref<1x32x256xi8, #tpu.memory_space<any>>, memref<!tpu.dma_semaphore, #tpu.memory_space<semaphore_mem>>) -> () loc(#loc1)
    "tpu.wait_dma2"(%3, %6, %2) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, strict_ordering = false}> : (memref<!tpu.dma_semaphore, #tpu.memory_space<semaphore_mem>>, memref<1x32x256xi8, #tpu.memory_space<any>>, memref<1x32x256xi8, #tpu.memory_space<any>>) -> () loc(#loc8)
    "func.return"() {in_layout = []} : () -> () loc(#loc0)
  }) {dimension_semantics = [], scalar_prefetch = 0 : i64, scratch_operands = 1 : i64} : () -> () loc(#loc0)
}) {tilesim.fills = ["random(seed=1, lo=-128, hi=127)"], tilesim.generation = 5 : i64, tilesim.operands = [tensor<64x256xi8>, tensor<1x32x256xi8>], tilesim.results = 1 : i64} : () -> () loc(#loc0)
#loc0 = loc(unknown)
#loc1 = loc("tests/mosaic/kernels.py":750:4)
#loc8 = loc("tests/mosaic/kernels.py":751:4)
