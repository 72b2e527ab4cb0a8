"builtin.module"() <{sym_name = "kernel"}> ({
  "func.func"() <{function_type = (memref<40x256xf32, #tpu.tiled<(8,128),[2,1]>, #tpu.memory_space<any>>, memref<40x256xf32, #tpu.tiled<(8,128),[2,1]>, #tpu.memory_space<any>>, memref<!tpu.dma_semaphore, #tpu.tiled<,[]>, #tpu.memory_space<semaphore_mem>>) -> (), sym_name = "main"}> ({
  ^bb0(%arg0: memref<40x256xf32, #tpu.tiled<(8,128),[2,1]>, #tpu.memory_space<any>> loc(unknown), %arg1: memref<40x256xf32, #tpu.tiled<(8,128),[2,1]>, #tpu.memory_space<any>> loc(unknown), %arg2: memref<!tpu.dma_semaphore, #tpu.tiled<,[]>, #tpu.memory_space<semaphore_mem>> loc(unknown)):
    %0 = "tpu.erase_memref_layout"(%arg0) : (memref<40x256xf32, #tpu.tiled<(8,128),[2,1]>, #tpu.memory_space<any>>) -> memref<40x256xf32, #tpu.memory_space<any>> loc(#loc0)
    %1 = "tpu.erase_memref_layout"(%arg1) : (memref<40x256xf32, #tpu.tiled<(8,128),[2,1]>, #tpu.memory_space<any>>) -> memref<40x256xf32, #tpu.memory_space<any>> loc(#loc0)
    %2 = "tpu.erase_memref_layout"(%arg2) : (memref<!tpu.dma_semaphore, #tpu.tiled<,[]>, #tpu.memory_space<semaphore_mem>>) -> memref<!tpu.dma_semaphore, #tpu.memory_space<semaphore_mem>> loc(#loc0)
    "tpu.enqueue_dma"(%0, %1, %2) <{operandSegmentSizes = array<i32: 1, 0, 1, 1, 0, 0>, priority = 0 : i32, strict_ordering = false}> : (memref<40x256xf32, #tpu.memory_space<any>>, memref<40x256xf32, #tpu.memory_space<any>>, memref<!tpu.dma_semaphore, #tpu.memory_space<semaphore_mem>>) -> () loc(#loc1)
    "tpu.wait_dma2"(%2, %0, %1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, strict_ordering = false}> : (memref<!tpu.dma_semaphore, #tpu.memory_space<semaphore_mem>>, memref<40x256xf32, #tpu.memory_space<any>>, memref<40x256xf32, #tpu.memory_space<any>>) -> () loc(#loc8)
    "func.return"() {in_layout = []} : () -> () loc(#loc0)
  }) {dimension_semantics = [], scalar_prefetch = 0 : i64, scratch_operands = 1 : i64} : () -> () loc(#loc0)
}) {tilesim.fills = ["random(seed=1, lo=-1, hi=1)"], tilesim.generation = 5 : i64, tilesim.operands = [tensor<40x200xf32>, tensor<40x200xf32>], tilesim.results = 1 : i64} : () -> () loc(#loc0)
#loc0 = loc(unknown)
#loc1 = loc("tests/mosaic/kernels.py":426:8)
#loc8 = loc("tests/mosaic/kernels.py":427:8)
