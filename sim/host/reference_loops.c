/* The loops of the reference for the instruction sets of the host. */
#include "reference_loops.h"

#include <float.h>
#include <math.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#if !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) /* gcc vectorises such loops only at -O3 */
#pragma GCC optimize("O3")
#endif

#define LOG2_OF_E          0x1.71547652b82fep0
#define LOG_OF_2_HIGH      0x1.62e42fee00000p-1 /* 32 bits: exact times an exponent */
#define LOG_OF_2_LOW       0x1.a39ef35793c76p-33
#define ROUNDER            0x1.8p52 /* what is added to it is rounded to an integer, its low bits */
#define FUSED_ONE(a, b, c) (FUSES ? __builtin_fma(a, b, c) : (a) * (b) + (c))
#define ALWAYS_INLINE      inline __attribute__((always_inline))

typedef enum { BY_BOUNDS, BY_ROUNDING } comparison;

#define VECTOR_BYTES 16
#define TARGET
#define FUSES        false /* there may be no such step */
#define FUSED        SEPARATE
#define LESS(a, b)   (NAME(bits))((a) < (b))
#define LESSER(a, b) (NAME(lanes))(((NAME(bits))(a)&LESS(a, b)) | ((NAME(bits))(b) & ~LESS(a, b)))
#define VERSION      base
#include "reference_loops.inc"
#undef TARGET
#undef FUSED
#undef LESSER
#undef VECTOR_BYTES
#undef VERSION

#undef FUSES
#define FUSES true
#ifdef __x86_64__
#define VECTOR_BYTES   32
#define TARGET         __attribute__((target("avx2,fma")))
#define LESSER(a, b)   (NAME(lanes)) _mm256_min_pd((__m256d)(a), (__m256d)(b))
#define FUSED(a, b, c) (NAME(lanes)) _mm256_fmadd_pd(_mm256_set1_pd(a), (__m256d)(b), (__m256d)(c))
#define VERSION        avx2
#include "reference_loops.inc"
#undef TARGET
#undef FUSED
#undef LESSER
#undef VECTOR_BYTES
#undef VERSION

#define VECTOR_BYTES 64
#ifdef __clang__
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw")))
#else
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,prefer-vector-width=512")))
#endif
#define LESSER(a, b)   (NAME(lanes)) _mm512_min_pd((__m512d)(a), (__m512d)(b))
#define FUSED(a, b, c) (NAME(lanes)) _mm512_fmadd_pd(_mm512_set1_pd(a), (__m512d)(b), (__m512d)(c))
#define VERSION        avx512
#include "reference_loops.inc"
#undef TARGET
#undef FUSED
#undef LESSER
#undef VECTOR_BYTES
#undef VERSION

const ts_reference_loops *ts_reference_loops_get(int version) {
    bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
    if (version == 1 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &avx2;
    if (version == 2 && wide) return &avx512;
    return version == 0 ? &base : NULL;
}
#else
const ts_reference_loops *ts_reference_loops_get(int version) { return version == 0 ? &base : NULL; }
#endif

const ts_reference_loops *ts_reference_loops_best(void) {
    const ts_reference_loops *best = &base;
    for (int i = 1; ts_reference_loops_get(i); i++) best = ts_reference_loops_get(i);
    return best;
}
