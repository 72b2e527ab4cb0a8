/* The vector functions for any host. */
#include "vector.h"

#if !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#pragma GCC optimize("O3")
#endif

#define TARGET
#define TABLE        ts_vector_base
#define MATRIX_TABLE ts_matrix_base
#define VECTOR_BYTES 16
#include "vector_all.inc"

bool ts_vector_has_avx512(void) {
#ifdef TS_VECTOR_AVX2
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}

ts_vector_function *const *ts_vector_select(void) {
#ifdef TS_VECTOR_AVX2
    if (ts_vector_has_avx512()) return ts_vector_avx512;
    if (__builtin_cpu_supports("avx2")) return ts_vector_avx2;
#endif
    return ts_vector_base;
}

const ts_matrix_functions *ts_matrix_select(void) {
#ifdef TS_VECTOR_AVX2
    if (ts_vector_has_avx512()) return &ts_matrix_avx512;
    if (__builtin_cpu_supports("avx2")) return &ts_matrix_avx2;
#endif
    return &ts_matrix_base;
}

void ts_vector_fill(uint32_t *d, uint32_t word) {
    LOOP { d[i] = word; }
}

void ts_vector_lay_side_by_side(uint32_t *side, const uint32_t *rows) {
    for (int row = 0; row < TS_SUBLANES; row++)
        for (int i = 0; i < 16; i++) side[i * TS_SUBLANES + row] = rows[row * 16 + i];
}
