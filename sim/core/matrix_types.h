/* Types of the matrix units' operands, and how vregs hold their rows. Private to the layer. */
#ifndef TILESIM_CORE_MATRIX_TYPES_H
#define TILESIM_CORE_MATRIX_TYPES_H

#include <stddef.h>

#include "isa/isa.h"
#include "machine/core_config.h"

#define MATRIX_TYPES(row)                                                                                    \
    row(f32, 32, F32) row(bf16, 16, BF16) row(f8e5m2, 8, FP8) row(f8e4m3fn, 8, FP8)                          \
        row(f8e4m3b11fnuz, 8, FP8) row(i8, 8, INT8) row(i4, 4, INT4)

typedef enum {
#define ENUM_ROW(name, bits, rate) TYPE_##name,
    MATRIX_TYPES(ENUM_ROW)
} matrix_type;

typedef struct {
    const char *name;
    int bits;
    ts_mxu_type rate;
} matrix_type_info;
extern const matrix_type_info matrix_types[]; /* by matrix_type */

static inline bool matrix_is_integer(matrix_type type) { return type == TYPE_i8 || type == TYPE_i4; }
static inline int matrix_packing(matrix_type type) { return 32 / matrix_types[type].bits; }
static inline int matrix_rows(matrix_type type) { return TS_SUBLANES * matrix_packing(type); } /* in a vreg */

/* The type that an instruction has, and the port that it takes (CORE_MXU_..); false: it has none. */
bool matrix_find_type(ts_opcode opcode, matrix_type *type, int *port);

/* Row r of the vreg's rows, as f32 bits or i32: 128 elements that are `stride` words apart in `out`. Value
 * number i of each word is row i of those in its sublane. */
void matrix_unpack_row(matrix_type type, const uint32_t *vreg, int r, uint32_t *out, ptrdiff_t stride);
/* Is a bit of the element of row r that is in this word? */
bool matrix_is_undefined(matrix_type type, uint32_t shadow, int r);

#endif
