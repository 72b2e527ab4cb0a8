/* The vector functions for hosts with AVX2. No FMA: products and sums are rounded apart. */
#include "vector.h"

#if !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#pragma GCC optimize("O3")
#endif

#ifdef TS_VECTOR_AVX2
#define TARGET       __attribute__((target("avx2")))
#define TABLE        ts_vector_avx2
#define MATRIX_TABLE ts_matrix_avx2
#define VECTOR_BYTES 32
#include "vector_all.inc"
#endif
