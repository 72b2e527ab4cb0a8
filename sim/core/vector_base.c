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

void ts_vector_fill(uint32_t *d, uint32_t word) {
    LOOP { d[i] = word; }
}

void ts_vector_lay_side_by_side(uint32_t *side, const uint32_t *rows) {
    for (int row = 0; row < TS_SUBLANES; row++)
        for (int i = 0; i < 16; i++) side[i * TS_SUBLANES + row] = rows[row * 16 + i];
}
