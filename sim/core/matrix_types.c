/* Types of the matrix units' operands, the instructions that have them, and elements in vregs. */
#include "matrix_types.h"

#include "state.h"
#include "base/number.h"
#include "layout/dtype.h"

const matrix_type_info matrix_types[] = {
#define TYPE_ROW(name, bits, rate) {#name, bits, TS_MXU_##rate},
    MATRIX_TYPES(TYPE_ROW)};

static const struct {
    ts_opcode opcode;
    matrix_type type;
    int port;
} instructions[] = {
#define INSTRUCTION_ROWS(name, bits, rate)                                                                   \
    {TS_OP_mxu_latch_##name, TYPE_##name, CORE_MXU_LATCH},                                                   \
        {TS_OP_mxu_latcht_##name, TYPE_##name, CORE_MXU_LATCH},                                              \
        {TS_OP_mxu_push_##name, TYPE_##name, CORE_MXU_PUSH},                                                 \
        {TS_OP_mxu_acc_##name, TYPE_##name, CORE_MXU_PUSH},
    MATRIX_TYPES(INSTRUCTION_ROWS)};

bool matrix_find_type(ts_opcode opcode, matrix_type *type, int *port) {
    for (size_t i = 0; i < sizeof(instructions) / sizeof(instructions[0]); i++) {
        if (instructions[i].opcode == opcode) {
            *type = instructions[i].type;
            *port = instructions[i].port;
            return true;
        }
    }
    return false;
}

static const ts_float_format *format_of(matrix_type type) {
    ts_dtype dtype = type == TYPE_f8e5m2     ? TS_DTYPE_F8E5M2
                     : type == TYPE_f8e4m3fn ? TS_DTYPE_F8E4M3FN
                                             : TS_DTYPE_F8E4M3B11FNUZ;
    return ts_dtype_get(dtype)->format;
}

/* As f32 bits, or as i32. */
static uint32_t element(matrix_type type, uint32_t word, int i) {
    switch (type) {
    case TYPE_f32:
        return (uint32_t)ts_bf16_from_f32(ts_f32_from_bits(word)) << 16;
    case TYPE_bf16:
        return word >> (16 * i) << 16;
    case TYPE_i8:
        return (uint32_t)((int32_t)(word << (24 - 8 * i)) >> 24);
    case TYPE_i4:
        return (uint32_t)((int32_t)(word << (28 - 4 * i)) >> 28);
    default:
        return ts_f32_bits(ts_float_decode(format_of(type), word >> (8 * i) & 255));
    }
}

void matrix_unpack_row(matrix_type type, const uint32_t *vreg, int r, uint32_t *out, ptrdiff_t stride) {
    const uint32_t *words = vreg + r / matrix_packing(type) * TS_LANES;
    for (int lane = 0; lane < TS_LANES; lane++)
        out[lane * stride] = element(type, words[lane], r % matrix_packing(type));
}

bool matrix_is_undefined(matrix_type type, uint32_t shadow, int r) {
    return (shadow >> (r % matrix_packing(type) * matrix_types[type].bits) &
            (UINT32_MAX >> (32 - matrix_types[type].bits))) != 0;
}
