/* The vector functions for hosts with AVX-512. No FMA: products and sums are rounded apart. */
#include "vector.h"

#if !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#pragma GCC optimize("O3")
#endif

#ifdef TS_VECTOR_AVX2
#if defined(__clang__)
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#else
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")))
#endif
#define TABLE        ts_vector_avx512
#define MATRIX_TABLE ts_matrix_avx512
#define VECTOR_BYTES 64
#include "vector_all.inc"
#endif
