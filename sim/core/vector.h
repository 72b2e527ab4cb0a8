/* The functions of the vector instructions: one for each opcode of a vector family, over whole vregs. */
#ifndef TILESIM_CORE_VECTOR_H
#define TILESIM_CORE_VECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/isa.h"

/* Indexed by opcode; NULL for opcodes that are not vector functions. All tables give the same bits: they are
 * the same text, compiled for different instruction sets of the host. */
extern ts_vector_function *const ts_vector_base[TS_OP_COUNT];
#if defined(__x86_64__)
#define TS_VECTOR_AVX2 1
extern ts_vector_function *const ts_vector_avx2[TS_OP_COUNT], *const ts_vector_avx512[TS_OP_COUNT];
#endif

/* The fastest table that this host can run. */
ts_vector_function *const *ts_vector_select(void);

/* out[r][n] = the sum over k, from 0 up, of rows[r][k] * tile[k][n], each product and each sum rounded;
 * matrices of `edge` columns, row after row; r < row_count, a multiple of 8; edge is a multiple of 16. */
typedef struct {
    void (*f32)(float *out, const float *rows, const float *tile, int row_count, int edge);
    void (*i32)(uint32_t *out, const uint32_t *rows, const uint32_t *tile, int row_count, int edge);
} ts_matrix_functions;
extern const ts_matrix_functions ts_matrix_base;
#ifdef TS_VECTOR_AVX2
extern const ts_matrix_functions ts_matrix_avx2, ts_matrix_avx512;
#endif
const ts_matrix_functions *ts_matrix_select(void);
bool ts_vector_has_avx512(void); /* this host */

void ts_vector_fill(uint32_t *d, uint32_t word);
/* A matrix of 8 rows of 16 words becomes one of 16 rows of 8. */
void ts_vector_lay_side_by_side(uint32_t *side, const uint32_t *rows);

#endif
