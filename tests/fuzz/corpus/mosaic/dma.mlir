"builtin.module"() ({
"func.func"() <{sym_name = "main"}> ({
^bb0(%x: memref<20x128xf32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<any>>, %y: memref<20x128xf32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<any>>):
%i = "arith.constant"() <{value = 1 : i32}> : () -> i32
%z = "arith.constant"() <{value = 0 : i32}> : () -> i32
"tpu.region"() ({
%b = "memref.alloca"() : () -> memref<2x8x128xf32, #tpu.tiled<(8,128),[1,1,1]>, #tpu.memory_space<vmem>>
%s = "tpu.sem_alloc"() : () -> memref<2x!tpu.dma_semaphore, #tpu.tiled<,[1]>, #tpu.memory_space<semaphore_mem>>
%k = "tpu.memref_slice"(%s, %i) : (memref<2x!tpu.dma_semaphore, #tpu.tiled<,[1]>, #tpu.memory_space<semaphore_mem>>, i32) -> memref<1x!tpu.dma_semaphore, #tpu.tiled<,[1]>, #tpu.memory_space<semaphore_mem>>
%l = "tpu.memref_squeeze"(%k) : (memref<1x!tpu.dma_semaphore, #tpu.tiled<,[1]>, #tpu.memory_space<semaphore_mem>>) -> memref<!tpu.dma_semaphore, #tpu.tiled<,[]>, #tpu.memory_space<semaphore_mem>>
%h = "tpu.memref_slice"(%x, %i, %z) : (memref<20x128xf32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<any>>, i32, i32) -> memref<8x128xf32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<any>>
%v = "tpu.memref_slice"(%b, %i, %z, %z) : (memref<2x8x128xf32, #tpu.tiled<(8,128),[1,1,1]>, #tpu.memory_space<vmem>>, i32, i32, i32) -> memref<1x8x128xf32, #tpu.tiled<(8,128),[1,1,1]>, #tpu.memory_space<vmem>>
%w = "tpu.memref_squeeze"(%v) : (memref<1x8x128xf32, #tpu.tiled<(8,128),[1,1,1]>, #tpu.memory_space<vmem>>) -> memref<8x128xf32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>
"tpu.enqueue_dma"(%h, %w, %l) <{operandSegmentSizes = array<i32: 1, 0, 1, 1, 0, 0>}> : (memref<8x128xf32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<any>>, memref<8x128xf32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>, memref<!tpu.dma_semaphore, #tpu.tiled<,[]>, #tpu.memory_space<semaphore_mem>>) -> ()
"tpu.wait_dma2"(%l, %h, %w) : (memref<!tpu.dma_semaphore, #tpu.tiled<,[]>, #tpu.memory_space<semaphore_mem>>, memref<8x128xf32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<any>>, memref<8x128xf32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>) -> ()
"tpu.yield"() : () -> ()
}) : () -> ()
"func.return"() : () -> () loc(#loc1)
}) {scalar_prefetch = 0 : i64, scratch_operands = 0 : i64} : () -> ()
}) {tilesim.operands = [tensor<20x128xf32>, tensor<20x128xf32>], tilesim.results = 1 : i64, tilesim.fills = ["iota"]} : () -> ()
#loc1 = loc("k.py":3:4)
