/* The kernels for hosts with AVX2: tiles with lines of 32 bytes. */
#include "kernel.h"

#ifdef TS_KERNELS_X86
#if !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#pragma GCC optimize("O3", "no-tree-loop-distribute-patterns") /* memcpy is not for 16 bytes */
#endif
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,prfchw")))
#define LINE   32
#include "kernel_tiles.inc"

const ts_tile_kernels ts_tiles_avx2 = {
    .line_bytes = 32,
    .orders = true,
    .by_granules = by_granules,
    .transposes = transposes,
    .load_narrow = load_narrow,
    .store_narrow = store_narrow,
};

typedef __m256i wide;
#define WIDE_LOAD(p)      _mm256_loadu_si256((const __m256i *)(p))
#define WIDE_STORE(p, v)  _mm256_storeu_si256((__m256i *)(p), v)
#define WIDE_STREAM(p, v) _mm256_stream_si256((__m256i *)(p), v)
#define RUNS              ts_runs_avx2
#define STREAM_RUNS       ts_stream_runs_avx2
#define STREAM_STAGED     ts_stream_staged_avx2
#include "kernel_run.inc"

void ts_stream_end(void) { _mm_sfence(); }
#define LANES    8
#define CONVERTS ts_converts_avx2
#include "kernel_convert.inc"
#endif
