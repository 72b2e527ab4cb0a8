/* The products of a queue on the matrix units: tiles of the right sides latched, rows of the left sides
 * pushed, results added to the sums in vregs. As many tiles as there are units go at once, row by row, so
 * that what they add to the same sum comes together, and a sum waits in a register only between such
 * groups. */
#include "matmul.h"

static ts_operand vreg_at(const matrix *m, int64_t row, int64_t column) {
    if (row >= m->rows || column >= m->columns) return ts_integer(0);
    return part_of(m->vregs, (int)(row * m->columns + column));
}

static ts_operand highest_bits(lowering *l, ts_operand o) {
    return emit2(l, TS_OP_vand_i32, o, ts_integer((int32_t)0xffff0000u));
}

/* Part `which` of a word of f32: its 8 highest bits of the significand, the next, the rest. All parts of 0
 * are 0. */
static ts_operand split(lowering *l, ts_operand o, int which) {
    bool zero = is_number(o) && number_of(o) == 0;
    o = in_vreg(l, o);
    if (which < 0 || zero) return o;
    for (int i = 0; i < which; i++) o = emit2(l, TS_OP_vsub_f32, o, highest_bits(l, o));
    return which == 2 ? o : highest_bits(l, o);
}

static void push_rows(lowering *l, const product *p, int unit, int64_t row, int64_t k, int which) {
    for (int c = 0; c < p->chunks; c++) {
        ts_operand from = split(l, vreg_at(&p->left, row, k * p->chunks + c), which);
        emit(l, p->row->push, 2, (ts_operand[]){ts_integer(unit), from});
    }
}

/* ---- Tiles ---- */

/* A tile on a unit: rows first .. end - 1 of the left side; where there are fewer tiles than units, several
 * share them. */
typedef struct {
    product *p;
    int64_t k, n, first, end;
    const int *which; /* parts of the left and of the right side */
    bool last;        /* of a sum */
    int unit;
} tile;

struct matmul_queue {
    LIST_OF(product *) products;
    LIST_OF(tile) tiles;
};

/* ---- Latching: of tiles that go together, a vreg of each in turn ---- */

static int latches_of(const product *p) {
    return p->chunks * p->chunks * TS_LANES / (TS_SUBLANES * p->row->packing);
}

static void latch(lowering *l, const tile *t, int index) {
    const product *p = t->p;
    int per_tile = latches_of(p) / p->chunks; /* vregs of rows */
    int64_t row = (p->transposed ? t->n : t->k) * per_tile + index / p->chunks,
            column = (p->transposed ? t->k : t->n) * p->chunks + index % p->chunks;
    ts_operand from = split(l, vreg_at(&p->right, row, column), t->which[1]);
    emit(l, p->transposed ? p->row->latch_columns : p->row->latch, 2,
         (ts_operand[]){ts_integer(t->unit), from});
}

/* ---- Results ---- */

/* A result of the unit, added to a sum. */
static void pop_result(lowering *l, const tile *t, ts_opcode add, int64_t at) {
    ts_operand number = ts_integer(t->unit), *sum = &t->p->sums[at], to = t->p->results[at];
    bool starts = is_number(*sum) && number_of(*sum) == 0;
    if (starts && t->last) {
        emit(l, TS_OP_mxu_pop, 2, (ts_operand[]){to, number});
        return;
    }
    ts_operand d = emit_new(l, TS_OP_mxu_pop, 1, &number);
    if (t->last)
        emit_to(l, to, add, 2, (ts_operand[]){d, *sum});
    else
        *sum = starts ? d : emit2(l, add, d, *sum);
}

/* The results of the rows of one push. */
static void pop_rows(lowering *l, const tile *t, int64_t row) {
    const product *p = t->p;
    ts_dtype dtype = p->row->dtype;
    ts_opcode add = dtype == TS_DTYPE_S8 || dtype == TS_DTYPE_S4 ? TS_OP_vadd_i32 : TS_OP_vadd_f32;
    for (int r = 0; r < p->row->packing; r++) {
        for (int c = 0; c < p->chunks; c++) {
            int64_t sum_row = row * p->row->packing + r, column = t->n * p->chunks + c;
            if (sum_row < p->m && column < p->sum_columns) {
                pop_result(l, t, add, sum_row * p->sum_columns + column);
            } else {
                ts_operand number = ts_integer(t->unit);
                emit_new(l, TS_OP_mxu_pop, 1, &number);
            }
        }
    }
}

/* In as many parts as there are units for each tile. */
static void add_tile(lowering *l, product *p, tile like) {
    int64_t tiles = p->k * p->n * p->passes * (l->products > 0 ? l->products : 1),
            units = l->target->core.mxu.units, rows_left = p->left.rows;
    int64_t parts = tiles < units ? units / tiles : 1;
    parts = parts < rows_left ? parts : rows_left;
    for (int64_t i = 0; i < parts; i++) {
        tile *new = PUSH(l->arena, &l->matmuls->tiles);
        *new = like;
        new->unit = l->unit = (l->unit + 1) % l->target->core.mxu.units;
        new->first = rows_left *i / parts;
        new->end = rows_left *(i + 1) / parts;
    }
}

static void add_tiles(lowering *l, product *p) {
    /* of three parts each: the products that f32 can hold */
    static const int parts[][2] = {{0, 2}, {2, 0}, {1, 1}, {0, 1}, {1, 0}, {0, 0}}, one[2] = {-1, -1};
    for (int64_t n = 0; n < p->n; n++) {
        for (int64_t k = 0; k < p->k; k++) {
            for (int i = 0; i < p->passes; i++) {
                bool last = k == p->k - 1 && i == p->passes - 1;
                add_tile(l, p, (tile){p, k, n, .which = p->passes > 1 ? parts[i] : one, .last = last});
            }
        }
    }
}

/* ---- The queue ---- */

/* Step `at` of all steps: a group of tiles, and a row of it. False: there is none. */
typedef struct {
    const tile *tiles;
    int count;
    int64_t row, rows;
} step;

static bool find_step(const lowering *l, int64_t at, step *out) {
    const struct matmul_queue *q = l->matmuls;
    int units = l->target->core.mxu.units;
    int64_t rows = 0;
    for (int i = 0; i < units && i < q->tiles.count; i++) {
        int64_t here = q->tiles.items[i].end - q->tiles.items[i].first;
        rows = here > rows ? here : rows;
    }
    int64_t first = at / rows * units;
    if (at < 0 || first >= q->tiles.count) return false;
    *out = (step){&q->tiles.items[first], (int)(q->tiles.count - first), at % rows, rows};
    out->count = out->count < units ? out->count : units;
    return true;
}

static void at_line_of(lowering *l, const product *p) {
    l->file = p->file;
    l->line = p->line;
}

/* From the `begin`th vreg of each tile to before the `end`th. */
static void latch_step(lowering *l, const step *s, int64_t begin, int64_t end) {
    for (int64_t index = begin; index < end; index++) {
        for (int i = 0; i < s->count; i++) {
            at_line_of(l, s->tiles[i].p);
            latch(l, &s->tiles[i], (int)index);
        }
    }
}

/* Beside a row the tiles of the next group are latched, in even parts. */
static void push_step(lowering *l, const step *s, const step *next) {
    int64_t all = latches_of(s->tiles[0].p), rows = s->rows;
    for (int i = 0; i < s->count && s->row == 0; i++) {
        ts_operand number = ts_integer(s->tiles[i].unit);
        at_line_of(l, s->tiles[i].p);
        emit(l, TS_OP_mxu_swap, 1, &number);
    }
    for (int i = 0; i < s->count; i++) {
        const tile *t = &s->tiles[i];
        at_line_of(l, t->p);
        if (t->first + s->row < t->end) push_rows(l, t->p, t->unit, t->first + s->row, t->k, t->which[0]);
    }
    latch_step(l, next, s->row * all / rows, (s->row + 1) * all / rows);
}

static void pop_step(lowering *l, const step *s) {
    for (int i = 0; i < s->count; i++) {
        const tile *t = &s->tiles[i];
        at_line_of(l, t->p);
        if (t->first + s->row < t->end) pop_rows(l, t, t->first + s->row);
    }
}

/* As many pushes are on their way as the queue of a unit has room for. */
void matmul_flush(lowering *l) {
    if (!l->matmuls || l->matmuls->products.count == 0) return;
    const product *p = l->matmuls->products.items[0];
    int64_t ahead = l->target->core.mxu.result_vregs / (p->row->packing * p->chunks);
    ts_source *file = l->file;
    int line = l->line;
    step pushed, popped, next;
    ahead = ahead > 0 ? ahead : 1;
    if (find_step(l, 0, &pushed)) latch_step(l, &pushed, 0, latches_of(p));
    for (int64_t at = 0, more = true; more; at++) {
        bool pops = find_step(l, at - ahead, &popped), pushes = find_step(l, at, &pushed);
        if (pops) pop_step(l, &popped);
        if (pushes && !find_step(l, at + pushed.rows, &next)) next = (step){0};
        if (pushes) push_step(l, &pushed, &next);
        more = pops || pushes || at < ahead;
    }
    l->file = file;
    l->line = line;
    l->matmuls->products.count = l->matmuls->tiles.count = 0;
}

/* Will a product that waits write the register? */
static bool is_pending(const lowering *l, ts_operand o) {
    for (int i = 0; i < l->matmuls->products.count; i++) {
        const product *p = l->matmuls->products.items[i];
        int first = p->results[0].as.reg;
        if (o.kind == TS_OPERAND_VREG && o.as.reg >= first && o.as.reg < first + p->m * p->sum_columns)
            return true;
    }
    return false;
}

bool matmul_awaits(const lowering *l, const value *v) {
    for (int i = 0; l->matmuls && v->kind == VALUE_VECTOR && i < v->count; i++)
        if (is_pending(l, part_of(v, i))) return true;
    return false;
}

bool matmul_is_read(const lowering *l) {
    bool passes_on = ts_span_is(l->op->name, "tpu.matmul") || ts_span_is(l->op->name, "tpu.roll_vectors") ||
                     ts_span_is(l->op->name, "tpu.unroll_vectors");
    bool reads = false;
    for (int i = 0; l->matmuls && !passes_on && i < l->op->operand_count && !reads; i++)
        reads = matmul_awaits(l, value_at(l, i));
    return reads;
}

/* None of the sums waits, or they are just the results of another product. */
static bool goes_on(const lowering *l, const value *sums, int64_t count) {
    const product *from = NULL;
    for (int i = 0; i < l->matmuls->products.count; i++) {
        const product *q = l->matmuls->products.items[i];
        if (part_of(sums, 0).as.reg == q->results[0].as.reg && is_pending(l, part_of(sums, 0))) from = q;
    }
    for (int64_t i = 0; i < count; i++) {
        ts_operand sum = part_of(sums, (int)i);
        if (from ? !is_pending(l, sum) || sum.as.reg != from->results[i].as.reg : is_pending(l, sum))
            return false;
    }
    return true;
}

/* Tiles of both may go together, in the same steps. */
static bool goes_with(const lowering *l, const product *p, const value *sums) {
    const product *a = l->matmuls->products.items[0];
    return a->row == p->row && a->passes == p->passes && a->m == p->m && a->k == p->k && a->n == p->n &&
           a->sum_columns == p->sum_columns && a->left.rows == p->left.rows &&
           !matmul_awaits(l, p->left.vregs) && !matmul_awaits(l, p->right.vregs) &&
           goes_on(l, sums, p->m * p->sum_columns);
}

void matmul_queue_product(lowering *l, product *p, const value *sums) {
    int64_t count = p->m * p->sum_columns;
    if (!l->matmuls) l->matmuls = TS_NEW(l->arena, struct matmul_queue);
    if (l->matmuls->products.count > 0 && !goes_with(l, p, sums)) matmul_flush(l);
    p->sums = TS_NEW_ARRAY(l->arena, ts_operand, count + 1);
    p->results = TS_NEW_ARRAY(l->arena, ts_operand, count + 1);
    for (int64_t i = 0; i < count; i++) p->sums[i] = part_of(sums, (int)i);
    for (int64_t i = 0; i < count; i++) p->results[i] = fresh(l, TS_OPERAND_VREG);
    p->file = l->file;
    p->line = l->line;
    *PUSH(l->arena, &l->matmuls->products) = p;
    add_tiles(l, p);
}
