/* tpu.matmul on the matrix units: the right side latched tile by tile, the rows of the left side pushed, results added to
 * the accumulator in vregs. */
#include <string.h>

#include "lower.h"

enum { VREGS_MAX = 1 << 14 };

/* The instructions of a type of operands; `packing` rows of them are in a word. */
static const struct matrix_row {
    ts_dtype dtype;
    int packing;
    ts_opcode latch, latch_columns, push;
} rows[] = {
    {TS_DTYPE_F32, 1, TS_OP_mxu_latch_f32, TS_OP_mxu_latcht_f32, TS_OP_mxu_push_f32},
    {TS_DTYPE_BF16, 2, TS_OP_mxu_latch_bf16, TS_OP_mxu_latcht_bf16, TS_OP_mxu_push_bf16},
    {TS_DTYPE_F8E5M2, 4, TS_OP_mxu_latch_f8e5m2, TS_OP_mxu_latcht_f8e5m2, TS_OP_mxu_push_f8e5m2},
    {TS_DTYPE_F8E4M3FN, 4, TS_OP_mxu_latch_f8e4m3fn, TS_OP_mxu_latcht_f8e4m3fn, TS_OP_mxu_push_f8e4m3fn},
    {TS_DTYPE_S8, 4, TS_OP_mxu_latch_i8, TS_OP_mxu_latcht_i8, TS_OP_mxu_push_i8},
    {TS_DTYPE_S4, 8, TS_OP_mxu_latch_i4, TS_OP_mxu_latcht_i4, TS_OP_mxu_push_i4},
};

/* A matrix in vregs: row-major, each of 8 * packing rows and 128 columns. */
typedef struct {
    const value *vregs;
    int64_t rows, columns; /* of vregs */
} matrix;

typedef struct {
    const struct matrix_row *row;
    matrix left, right;
    bool transposed; /* the right side has the columns of the product as its rows */
    int passes;      /* 6: of f32 in parts */
    int chunks;      /* vregs that an edge is wide */
    int64_t m, k, n; /* 8 rows, edges, edges */
    value *sums;     /* of m rows x n * chunks vregs */
    int64_t sum_columns;
} product;

static int64_t ceil_of(int64_t a, int64_t b) { return (a + b - 1) / b; }

static bool as_matrix(lowering *l, const value *v, const mlir_type *type, int packing, matrix *out) {
    if (v->kind != VALUE_VECTOR || type->rank != 2) {
        return malformed(l, "vectors of two dims");
    }
    *out = (matrix){v, ceil_of(type->dims[0], TS_SUBLANES * packing), ceil_of(type->dims[1], TS_LANES)};
    if (out->rows > VREGS_MAX || out->columns > VREGS_MAX || out->rows * out->columns > VREGS_MAX) {
        return refuse(l, "of more than 64 MiB");
    }
    return v->count == out->rows * out->columns || v->count == 1 ||
           malformed(l, "as many vregs as the shape has");
}

static ts_operand vreg_at(const matrix *m, int64_t row, int64_t column) {
    if (row >= m->rows || column >= m->columns) {
        return ts_integer(0);
    }
    return part_of(m->vregs, (int)(row * m->columns + column));
}

/* Part `which` of a word of f32: its 8 highest bits of the significand, the next, the rest. */
static ts_operand split(lowering *l, ts_operand o, int which) {
    if (which < 0) {
        return in_vreg(l, o);
    }
    o = in_vreg(l, o);
    for (int i = 0;; i++) {
        ts_operand high = emit2(l, TS_OP_vand_i32, o, ts_integer((int32_t)0xffff0000u));
        if (i == which) {
            return which == 2 ? o : high;
        }
        o = emit2(l, TS_OP_vsub_f32, o, high);
    }
}

static void latch_tile(lowering *l, const product *p, int unit, int64_t k, int64_t n, int which) {
    int per_tile = p->chunks * TS_LANES / (TS_SUBLANES * p->row->packing); /* vregs of rows */
    int64_t row = (p->transposed ? n : k) * per_tile, column = (p->transposed ? k : n) * p->chunks;
    ts_opcode opcode = p->transposed ? p->row->latch_columns : p->row->latch;
    for (int r = 0; r < per_tile; r++) {
        for (int c = 0; c < p->chunks; c++) {
            ts_operand from = split(l, vreg_at(&p->right, row + r, column + c), which);
            emit(l, opcode, 2, (ts_operand[]){ts_integer(unit), from});
        }
    }
    ts_operand number = ts_integer(unit);
    emit(l, TS_OP_mxu_swap, 1, &number);
}

static void push_rows(lowering *l, const product *p, int unit, int64_t row, int64_t k, int which) {
    for (int c = 0; c < p->chunks; c++) {
        ts_operand from = split(l, vreg_at(&p->left, row, k * p->chunks + c), which);
        emit(l, p->row->push, 2, (ts_operand[]){ts_integer(unit), from});
    }
}

/* The results of the rows of one push, added to the sums. */
static void pop_rows(lowering *l, const product *p, int unit, int64_t row, int64_t n) {
    bool whole =
        p->row->packing >= 4 && p->row->dtype != TS_DTYPE_F8E5M2 && p->row->dtype != TS_DTYPE_F8E4M3FN;
    for (int r = 0; r < p->row->packing; r++) {
        for (int c = 0; c < p->chunks; c++) {
            ts_operand number = ts_integer(unit), d = emit_new(l, TS_OP_mxu_pop, 1, &number);
            int64_t at = (row * p->row->packing + r) * p->sum_columns + n * p->chunks + c;
            if (row * p->row->packing + r >= p->m || n * p->chunks + c >= p->sum_columns) {
                continue;
            }
            ts_operand *sum = &p->sums->many[at];
            *sum = is_number(*sum) && number_of(*sum) == 0
                       ? d
                       : emit2(l, whole ? TS_OP_vadd_i32 : TS_OP_vadd_f32, d, *sum);
        }
    }
}

/* Rows first .. end - 1 of the left side; as many pushes are on their way as the queue of the unit has room for. */
static void multiply_rows(lowering *l, const product *p, int64_t k, int64_t n, const int which[2],
                          int64_t first, int64_t end) {
    const ts_machine_mxu *mxu = &l->target->core.mxu;
    int unit = l->unit = (l->unit + 1) % mxu->units;
    int64_t ahead = mxu->result_vregs / (p->row->packing * p->chunks);
    ahead = ahead > 0 ? ahead : 1;
    latch_tile(l, p, unit, k, n, which[1]);
    for (int64_t row = first; row < end + ahead; row++) {
        if (row >= first + ahead && row - ahead < end) pop_rows(l, p, unit, row - ahead, n);
        if (row < end) push_rows(l, p, unit, row, k, which[0]);
    }
}

/* A tile on one unit; or, where there are fewer tiles than units, its rows on several. */
static void multiply_tile(lowering *l, const product *p, int64_t k, int64_t n, const int which[2]) {
    int64_t tiles = p->k * p->n * p->passes * (l->products > 0 ? l->products : 1),
            units = l->target->core.mxu.units;
    int64_t parts = tiles < units ? units / tiles : 1, rows_left = p->left.rows;
    parts = parts < rows_left ? parts : rows_left;
    for (int64_t i = 0; i < parts; i++) {
        multiply_rows(l, p, k, n, which, rows_left * i / parts, rows_left * (i + 1) / parts);
    }
}

static bool multiply(lowering *l, const product *p) {
    /* of three parts each: the products that f32 can hold */
    static const int parts[][2] = {{0, 2}, {2, 0}, {1, 1}, {0, 1}, {1, 0}, {0, 0}}, one[2] = {-1, -1};
    for (int64_t n = 0; n < p->n; n++) {
        for (int64_t k = 0; k < p->k; k++) {
            for (int i = 0; i < p->passes; i++) multiply_tile(l, p, k, n, p->passes > 1 ? parts[i] : one);
        }
    }
    return true;
}

/* "#tpu.dot_dimension_numbers<[1], [0], ..>": the dims that are summed over. */
static bool contracted(lowering *l, int64_t *left, int64_t *right) {
    const mlir_attribute *a = mlir_find(l->op, "dimension_numbers");
    const char *open = a ? memchr(a->value.text, '<', a->value.length) : NULL;
    mlir_span items[8];
    int count =
        open ? mlir_items((mlir_span){open, (size_t)(a->value.text + a->value.length - open)}, items, 8) : 0;
    *left = 1;
    *right = 0;
    if (!a) {
        return true;
    }
    return (count >= 2 && mlir_integers(items[0], left, 1) == 1 && mlir_integers(items[1], right, 1) == 1) ||
           malformed(l, "dimension_numbers");
}

static bool wants(const lowering *l, const char *name, const char *word) {
    const mlir_attribute *a = mlir_find(l->op, name);
    size_t length = strlen(word);
    for (size_t i = 0; a && i + length <= a->value.length; i++) {
        if (memcmp(a->value.text + i, word, length) == 0) return true;
    }
    return false;
}

static bool find_product(lowering *l, product *p) {
    const mlir_type *left = type_at(l, 0), *right = type_at(l, 1), *sum = type_at(l, 2);
    const ts_machine_mxu *mxu = &l->target->core.mxu;
    int64_t left_dim, right_dim;
    *p = (product){.chunks = mxu->edge / TS_LANES};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].dtype == left->dtype) p->row = &rows[i];
    }
    if (!p->row || left->dtype != right->dtype || sum->bits != 32) {
        return refuse(l, "of such types");
    }
    if (mxu->units < 1 || p->chunks < 1) {
        return refuse(l, "without a matrix unit");
    }
    if (!contracted(l, &left_dim, &right_dim)) {
        return false;
    }
    p->transposed = right_dim == 1 || wants(l, "transpose_rhs", "true");
    if (left_dim != 1 || wants(l, "transpose_lhs", "true")) {
        return refuse(l, "with a transposed left side");
    }
    matrix sums;
    if (!as_matrix(l, value_at(l, 0), left, p->row->packing, &p->left) ||
        !as_matrix(l, value_at(l, 1), right, p->row->packing, &p->right) ||
        !as_matrix(l, value_at(l, 2), sum, 1, &sums)) {
        return false;
    }
    p->m = sums.rows;
    p->sum_columns = sums.columns;
    p->k = ceil_of(left->dims[1], mxu->edge);
    p->n = ceil_of(sum->dims[1], mxu->edge);
    return true;
}

bool lower_matmul(lowering *l) {
    product p;
    if (!find_product(l, &p)) {
        return false;
    }
    bool exact = wants(l, "precision", "fp32");
    if (exact && p.row->dtype != TS_DTYPE_F32) exact = false;
    if (wants(l, "precision", "bf16x3")) {
        return refuse(l, "in three passes");
    }
    int count = (int)(p.m * p.sum_columns);
    value sums = {
        .kind = VALUE_VECTOR, .count = count, .many = TS_NEW_ARRAY(l->arena, ts_operand, count + 1)};
    for (int i = 0; i < count; i++) sums.many[i] = part_of(value_at(l, 2), i);
    p.sums = &sums;
    p.passes = exact ? 6 : 1;
    return multiply(l, &p) && set_result(l, 0, value_of_parts(l, sums.many, count));
}
