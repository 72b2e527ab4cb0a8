/* The ops of a relayout, as Mosaic's relayoutVregs orders them: tiling, then rows, then columns. */
#include "relayout.h"

#include <inttypes.h>

#include "base/number.h"

enum { SUBLANES = TS_VREG_SUBLANES, LANES = TS_VREG_LANES, MOST_VREGS = 1 << 13 };

const char *ts_relayout_op_name(ts_relayout_kind kind) {
    static const char *const names[] = {"tpu.rotate", "tpu.create_mask", "arith.select",
                                        "tpu.unpack_subelements", "tpu.pack_subelements"};
    return names[kind];
}

/* The value as it is now: its layout, and its vregs, row-major over leading, down, across. */
typedef struct {
    ts_arena *arena;
    ts_vpad layout;
    int64_t leading, rows, columns; /* of the value with implicit dims */
    int64_t down, across;
    int *values;
    ts_relayout_op *ops;
    int op_count;
    ts_relayout *out;
} state;

static int64_t ceil_of(int64_t offset, int64_t extent, int64_t slice) {
    return offset == TS_VPAD_REPLICATED ? 1 : ts_ceil_div(offset + extent, slice);
}

static void measure(const state *s, const ts_vpad *v, int64_t *down, int64_t *across) {
    *down = ceil_of(v->offsets[0], s->rows, v->tile[0]);
    *across = ceil_of(v->offsets[1], s->columns, v->tile[1] * ts_vpad_tiles(v));
}

/* Rows and columns as a layout sees them, with its implicit dims, and what is before them. */
static bool set_dims(ts_error *err, const ts_relayout_request *r, ts_vpad_implicit implicit, state *s) {
    bool all = implicit == TS_VPAD_ALL, minor = implicit == TS_VPAD_MINOR, both = implicit == TS_VPAD_BOTH;
    int kept = all ? 2 : both ? 0 : 1;
    if (r->rank < kept)
        return ts_error_set(err, TS_ERROR_INPUT, "an array of %d dims has no such layout", r->rank);
    s->columns = minor || both ? 1 : r->dims[r->rank - 1];
    s->rows = all ? r->dims[r->rank - 2] : minor ? r->dims[r->rank - 1] : 1;
    s->leading = 1;
    for (int i = 0; i < r->rank - kept; i++)
        if (!ts_mul(s->leading, r->dims[i], &s->leading)) s->leading = INT64_MAX;
    return true;
}

static int add_op(state *s, ts_relayout_op op) {
    s->ops = ts_arena_extend(s->arena, s->ops, (size_t)s->op_count, sizeof *s->ops);
    s->ops[s->op_count] = op;
    s->out->counts[op.kind]++;
    return (int)s->out->sources + s->op_count++;
}

static int rotate(state *s, int value, int dim, int64_t amount) {
    return add_op(s, (ts_relayout_op){TS_RELAYOUT_ROTATE, 1, {value}, amount, dim, 0});
}

static int mask(state *s, int dim, int64_t count) {
    return add_op(s, (ts_relayout_op){TS_RELAYOUT_MASK, 0, {0}, count, dim, 0});
}

static int select_by(state *s, int by, int inside, int outside) {
    return add_op(s, (ts_relayout_op){TS_RELAYOUT_SELECT, 3, {by, inside, outside}, 0, 0, 0});
}

static void add_step(state *s, const char *step) {
    ts_text_add(&s->out->steps, "%s%s", s->out->steps.length > 0 ? ", " : "", step);
}

static int *new_values(state *s, int64_t down, int64_t across) {
    return TS_NEW_ARRAY(s->arena, int, s->leading *down *across);
}

static int *at(const state *s, int64_t leading, int64_t row, int64_t column) {
    return &s->values[(leading * s->down + row) * s->across + column];
}

/* ---- Shifts. A vreg of the result has the end of one of the source's and the beginning of the next. ---- */

typedef struct {
    int dim;
    int64_t amount; /* of the rotation */
    bool back;      /* the result's vreg j begins with source j - 1, not j */
} shift;

static shift shift_of(const state *s, int dim, int64_t to, int64_t extent) {
    int64_t by = to - s->layout.offsets[dim];
    return (shift){dim, by < 0 ? by + extent : by, by > 0};
}

/* Which of the source's vregs along the dim lie in j: the first, or -1; the second, or -1. */
static void parts_of(const shift *h, int64_t j, int64_t count, int64_t *first, int64_t *second) {
    *first = h->back ? j - 1 : j;
    *second = *first + 1;
    if (*second >= count) *second = -1;
}

static int row_result(state *s, const shift *h, int by, const int *inputs) {
    int first = -1, second = -1;
    /* Mosaic rotates the first part again, by 0: by how far its tile moves within the vreg */
    if (inputs[0] >= 0) first = rotate(s, rotate(s, inputs[0], 0, h->amount), 0, 0);
    if (inputs[1] >= 0) second = rotate(s, inputs[1], 0, h->amount);
    return first < 0 ? second : second < 0 ? first : select_by(s, by, first, second);
}

static void shift_rows(state *s, int64_t to) {
    const shift h = shift_of(s, 0, to, SUBLANES);
    int64_t down, across, first, second, i = 0;
    ts_vpad next = s->layout;
    next.offsets[0] = to;
    measure(s, &next, &down, &across);
    int *values = new_values(s, down, across);
    int by = mask(s, 0, h.amount);
    for (int64_t l = 0; l < s->leading; l++)
        for (int64_t j = 0; j < down; j++)
            for (int64_t c = 0; c < across; c++) {
                parts_of(&h, j, s->down, &first, &second);
                const int inputs[2] = {first < 0 ? -1 : *at(s, l, first, c),
                                       second < 0 ? -1 : *at(s, l, second, c)};
                values[i++] = row_result(s, &h, by, inputs);
            }
    s->values = values, s->down = down, s->layout = next;
    add_step(s, "rotate rows");
}

/* Every vreg is rotated once; the mask is made where it is first needed. */
static void shift_columns(state *s, int64_t to) {
    const shift h = shift_of(s, 1, to, LANES);
    int64_t down, across, first, second, i = 0, total = s->leading * s->down * s->across;
    ts_vpad next = s->layout;
    int by = -1;
    next.offsets[1] = to;
    measure(s, &next, &down, &across);
    int *values = new_values(s, down, across);
    for (int64_t k = 0; k < total; k++) s->values[k] = rotate(s, s->values[k], 1, h.amount);
    for (int64_t row = 0; row < s->leading * down; row++)
        for (int64_t c = 0; c < across; c++) {
            parts_of(&h, c, s->across, &first, &second);
            const int *line = &s->values[row * s->across];
            if (first >= 0 && second >= 0 && by < 0) by = mask(s, 1, h.amount);
            values[i++] = first < 0    ? line[second]
                          : second < 0 ? line[first]
                                       : select_by(s, by, line[first], line[second]);
        }
    s->values = values, s->across = across, s->layout = next;
    add_step(s, "rotate columns");
}

/* ---- Packed values: a tile of 8 rows, several a vreg along the columns, or of 8 rows for each part of a word ---- */

/* The vreg and the part of it that block (row, column) of 8 by 128 lies in. */
static int64_t place_of(const ts_vpad *v, int64_t row, int64_t column, int64_t across, int *part) {
    int64_t packing = ts_vpad_packing(v);
    bool wide = v->tile[0] == SUBLANES;
    *part = (int)(wide ? column % packing : row % packing);
    return wide ? row * across + column / packing : row / packing * across + column;
}

static void retile(state *s, const ts_vpad *to) {
    ts_vpad next = s->layout;
    int64_t down, across, blocks_down = ceil_of(s->layout.offsets[0], s->rows, SUBLANES),
                          blocks_across = ceil_of(s->layout.offsets[1], s->columns, LANES);
    int part;
    next.tile[0] = to->tile[0], next.tile[1] = to->tile[1];
    measure(s, &next, &down, &across);
    int64_t total = s->leading * down * across, blocks = blocks_down * blocks_across;
    ts_relayout_op *packs = TS_NEW_ARRAY(s->arena, ts_relayout_op, total);
    for (int64_t i = 0; i < s->leading * blocks; i++) {
        int64_t l = i / blocks, row = i % blocks / blocks_across, column = i % blocks_across;
        int from = s->values[l * s->down * s->across + place_of(&s->layout, row, column, s->across, &part)];
        int wide = add_op(s, (ts_relayout_op){TS_RELAYOUT_UNPACK, 1, {from}, part, 0, 0});
        ts_relayout_op *pack = &packs[l * down * across + place_of(&next, row, column, across, &part)];
        pack->inputs[pack->input_count++] = wide;
        pack->present |= UINT32_C(1) << part;
    }
    s->values = TS_NEW_ARRAY(s->arena, int, total);
    for (int64_t i = 0; i < total; i++) {
        packs[i].kind = TS_RELAYOUT_PACK;
        s->values[i] = add_op(s, packs[i]);
    }
    s->down = down, s->across = across, s->layout = next;
    add_step(s, "unpack and pack");
}

/* ---- Which way ---- */

static bool same_tile(const ts_vpad *a, const ts_vpad *b) {
    return a->tile[0] == b->tile[0] && a->tile[1] == b->tile[1];
}

static bool is_line(ts_vpad_implicit implicit) {
    return implicit == TS_VPAD_ALL || implicit == TS_VPAD_SECOND;
}

/* VectorLayout::generalizes, with as many vregs; `d`: the value as `to` sees it. */
static bool is_free(const state *s, const ts_vpad *to, const state *d) {
    const ts_vpad *from = &s->layout;
    int64_t least = from->tile[0] < to->tile[0] ? from->tile[0] : to->tile[0];
    for (int i = 0; i < 2; i++)
        if (from->offsets[i] != TS_VPAD_REPLICATED && from->offsets[i] != to->offsets[i]) return false;
    bool lines = from->tile[0] == 1 && to->tile[0] == 1 && is_line(from->implicit) && is_line(to->implicit);
    if (from->implicit != to->implicit && !lines && (s->rows != d->rows || s->columns != d->columns))
        return false;
    if (d->leading * d->down * d->across != s->leading * s->down * s->across) return false;
    if (same_tile(from, to)) return true;
    int64_t row = to->offsets[0] < 0 ? 0 : to->offsets[0], column = to->offsets[1] < 0 ? 0 : to->offsets[1];
    return from->tile[1] == LANES && to->tile[1] == LANES && row + s->rows <= least &&
           column + s->columns <= LANES;
}

static bool is_replicated(const ts_vpad *v) { return v->offsets[0] < 0 && v->offsets[1] < 0; }

/* Whether all places along a logical dim, counted from the last, hold the same. */
static bool is_replicated_along(const ts_vpad *v, int dim) {
    static const int place[][2] = {[TS_VPAD_ALL] = {1, 0},
                                   [TS_VPAD_MINOR] = {0, -1},
                                   [TS_VPAD_SECOND] = {1, -1},
                                   [TS_VPAD_BOTH] = {-1, -1}};
    int at = place[v->implicit][dim];
    return at >= 0 && v->offsets[at] < 0;
}

static bool refuse_replica(ts_error *err, const ts_relayout_request *r) {
    for (int dim = 0; dim < 2 && dim < r->rank; dim++)
        if (is_replicated_along(&r->to, dim) && !is_replicated_along(&r->from, dim) &&
            r->dims[r->rank - 1 - dim] != 1)
            return ts_error_set(
                err, TS_ERROR_INPUT,
                "Invalid relayout: Non-singleton logical dimension is replicated in destination but "
                "not in source");
    return true;
}

static bool unmodelled(ts_error *err, const char *what) {
    return ts_error_set(err, TS_ERROR_UNMODELLED, "a relayout %s is not modelled", what);
}

static bool can_retile(const state *s, const ts_vpad *to) {
    const ts_vpad *from = &s->layout;
    int64_t packing = ts_vpad_packing(from), full = SUBLANES * packing;
    bool sizes = from->tile[1] == LANES && to->tile[1] == LANES &&
                 ((from->tile[0] == SUBLANES && to->tile[0] == full) ||
                  (from->tile[0] == full && to->tile[0] == SUBLANES));
    return sizes && (packing == 2 || packing == 4) && from->offsets[0] < SUBLANES && from->offsets[1] < LANES;
}

/* What Mosaic does otherwise; asked before anything is emitted. */
static bool check_way(ts_error *err, const state *s, const ts_vpad *to) {
    const ts_vpad *from = &s->layout;
    bool rows = from->offsets[0] != to->offsets[0], columns = from->offsets[1] != to->offsets[1];
    if (from->offsets[0] < 0 || from->offsets[1] < 0 || to->offsets[0] < 0 || to->offsets[1] < 0)
        return unmodelled(err, "of a value that is replicated along one dim");
    if (!same_tile(from, to) && !can_retile(s, to)) return unmodelled(err, "between these tiles");
    if (rows && (to->bits != TS_VREG_WORD_BITS || to->tile[0] != SUBLANES || to->tile[1] != LANES))
        return unmodelled(err, "of rows of packed values or of tiles other than (8,128)");
    if (columns && (to->tile[1] != LANES || ts_vpad_tiles(to) != 1))
        return unmodelled(err, "of columns where a vreg has several tiles");
    return true;
}

/* References to the same vregs; of a value that is all replicated, each as often as is needed. */
static void copy_references(state *s, const state *d) {
    int64_t sources = s->leading * s->down * s->across, results = d->leading * d->down * d->across;
    int *values = TS_NEW_ARRAY(s->arena, int, results);
    for (int64_t i = 0; i < results; i++) values[i] = s->values[i * sources / results];
    s->values = values, s->leading = d->leading, s->down = d->down, s->across = d->across;
    add_step(s, "free");
}

static bool go(ts_error *err, const ts_relayout_request *r, state *s, const state *d) {
    const ts_vpad *to = &r->to;
    if (!refuse_replica(err, r)) return false;
    bool whole = s->layout.implicit == TS_VPAD_ALL || s->layout.implicit == to->implicit;
    if (is_free(s, to, d) || (whole && is_replicated(&s->layout))) return copy_references(s, d), true;
    if (s->layout.implicit != to->implicit) return unmodelled(err, "between implicit dims");
    if (!check_way(err, s, to)) return false;
    if (!same_tile(&s->layout, to)) retile(s, to);
    if (s->layout.offsets[0] != to->offsets[0]) shift_rows(s, to->offsets[0]);
    if (s->layout.offsets[1] != to->offsets[1]) shift_columns(s, to->offsets[1]);
    return true;
}

static bool count_vregs(ts_error *err, state *s, const ts_vpad *v, int64_t *count) {
    measure(s, v, &s->down, &s->across);
    if (ts_mul(s->down, s->across, count) && ts_mul(*count, s->leading, count) && *count <= MOST_VREGS)
        return true;
    return ts_error_set(err, TS_ERROR_UNMODELLED, "a value of more than %d vregs is not modelled",
                        MOST_VREGS);
}

bool ts_relayout_plan(ts_error *err, ts_arena *arena, const ts_relayout_request *r, ts_relayout *out) {
    state s = {.arena = arena, .layout = r->from, .out = out}, d = {.layout = r->to};
    *out = (ts_relayout){.bits = r->from.bits};
    ts_text_init(&out->steps, arena);
    if (r->from.bits != r->to.bits)
        return ts_error_set(err, TS_ERROR_INPUT, "the layouts are of elements of %d and of %d bits",
                            r->from.bits, r->to.bits);
    if (!set_dims(err, r, r->from.implicit, &s) || !set_dims(err, r, r->to.implicit, &d) ||
        !count_vregs(err, &s, &r->from, &out->sources) || !count_vregs(err, &d, &r->to, &out->results))
        return false;
    s.values = TS_NEW_ARRAY(arena, int, out->sources);
    for (int64_t i = 0; i < out->sources; i++) s.values[i] = (int)i;
    if (!go(err, r, &s, &d)) return false;
    out->values = s.values, out->ops = s.ops, out->op_count = s.op_count;
    return true;
}
