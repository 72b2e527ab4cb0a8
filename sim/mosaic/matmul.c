/* tpu.matmul: reads the operation as a product of matrices in vregs, and queues it. */
#include <string.h>

#include "base/number.h"
#include "matmul.h"

static const matrix_row rows[] = {
    {TS_DTYPE_F32, 1, TS_OP_mxu_latch_f32, TS_OP_mxu_latcht_f32, TS_OP_mxu_push_f32},
    {TS_DTYPE_BF16, 2, TS_OP_mxu_latch_bf16, TS_OP_mxu_latcht_bf16, TS_OP_mxu_push_bf16},
    {TS_DTYPE_F8E5M2, 4, TS_OP_mxu_latch_f8e5m2, TS_OP_mxu_latcht_f8e5m2, TS_OP_mxu_push_f8e5m2},
    {TS_DTYPE_F8E4M3FN, 4, TS_OP_mxu_latch_f8e4m3fn, TS_OP_mxu_latcht_f8e4m3fn, TS_OP_mxu_push_f8e4m3fn},
    {TS_DTYPE_S8, 4, TS_OP_mxu_latch_i8, TS_OP_mxu_latcht_i8, TS_OP_mxu_push_i8},
    {TS_DTYPE_S4, 8, TS_OP_mxu_latch_i4, TS_OP_mxu_latcht_i4, TS_OP_mxu_push_i4},
};

static bool as_matrix(lowering *l, const value *v, const mlir_type *type, int packing, matrix *out) {
    if (v->kind != VALUE_VECTOR || type->rank != 2) return malformed(l, "vectors of two dims");
    *out =
        (matrix){v, ts_ceil_div(type->dims[0], TS_SUBLANES * packing), ts_ceil_div(type->dims[1], TS_LANES)};
    if (out->rows > MATRIX_VREGS_MAX || out->columns > MATRIX_VREGS_MAX ||
        out->rows * out->columns > MATRIX_VREGS_MAX)
        return refuse(l, "of more than 64 MiB");
    return v->count == out->rows * out->columns || v->count == 1 ||
           malformed(l, "as many vregs as the shape has");
}

/* "#tpu.dot_dimension_numbers<[1], [0], ..>": the dims that are summed over. */
static bool contracted(lowering *l, int64_t *left, int64_t *right) {
    const mlir_attribute *a = mlir_find(l->op, "dimension_numbers");
    const char *open = a ? memchr(a->value.text, '<', a->value.length) : NULL;
    ts_span items[8];
    int count =
        open ? mlir_items((ts_span){open, (size_t)(a->value.text + a->value.length - open)}, items, 8) : 0;
    *left = 1;
    *right = 0;
    if (!a) return true;
    return (count >= 2 && mlir_integers(items[0], left, 1) == 1 && mlir_integers(items[1], right, 1) == 1) ||
           malformed(l, "dimension_numbers");
}

/* The instructions of its type, and which dims are summed over. */
static bool find_form(lowering *l, product *p, const product_side *sides) {
    int64_t left_dim, right_dim;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].dtype == sides[0].type.dtype) p->row = &rows[i];
    if (!p->row || type_at(l, 2)->bits != 32) return refuse(l, "of such types");
    if (!contracted(l, &left_dim, &right_dim)) return false;
    p->transposed = right_dim == 1 || matmul_wants(l, "transpose_rhs", "true");
    return (left_dim == 1 && !matmul_wants(l, "transpose_lhs", "true")) ||
           refuse(l, "with a transposed left side");
}

static bool find_sizes(lowering *l, product *p, const product_side *sides) {
    const mlir_type *left = &sides[0].type, *sum = type_at(l, 2);
    int64_t edge = l->target->core.mxu.edge;
    matrix sums;
    if (!as_matrix(l, &sides[0].vregs, left, p->row->packing, &p->left) ||
        !as_matrix(l, &sides[1].vregs, &sides[1].type, p->row->packing, &p->right) ||
        !as_matrix(l, value_at(l, 2), sum, 1, &sums))
        return false;
    p->m = sums.rows;
    p->sum_columns = sums.columns;
    p->k = ts_ceil_div(left->dims[1], edge);
    p->n = ts_ceil_div(sum->dims[1], edge);
    return (p->k > 0 && p->n * p->chunks >= p->sum_columns && p->left.rows * p->row->packing >= p->m) ||
           malformed(l, "sums of the product's shape");
}

/* The sides are kept with the product, which refers to them. */
static bool find_product(lowering *l, product *p) {
    product_side *sides = TS_NEW_ARRAY(l->arena, product_side, 2);
    const ts_machine_mxu *mxu = &l->target->core.mxu;
    *p = (product){.chunks = mxu->edge / TS_LANES};
    if (mxu->units < 1 || p->chunks < 1) return refuse(l, "without a matrix unit");
    return matmul_read_sides(l, sides) && find_form(l, p, sides) && find_sizes(l, p, sides);
}

bool lower_matmul(lowering *l) {
    product *p = TS_NEW(l->arena, product);
    if (!find_product(l, p)) return false;
    if (matmul_wants(l, "precision", "bf16x3")) return refuse(l, "in three passes");
    p->passes = matmul_wants(l, "precision", "fp32") && p->row->dtype == TS_DTYPE_F32 ? 6 : 1;
    matmul_queue_product(l, p, value_at(l, 2));
    return set_result(l, 0, value_of_parts(l, p->results, (int)(p->m * p->sum_columns)));
}
