/* The value of a relayout on its way: its vregs in the order of its layout, and the ops that are added. */
#include "relayout_state.h"

#include <string.h>

enum { MOST_VREGS = 1 << 13, MOST_ON_THE_WAY = 1 << 16 };

ts_vpad relayout_aligned(const ts_vpad *layout, int bits, int64_t rows, int64_t columns) {
    ts_vpad out = *layout;
    out.bits = bits, out.tile[0] = rows, out.tile[1] = columns;
    for (int i = 0; i < 2; i++)
        if (!is_replica(out.offsets[i])) out.offsets[i] %= slice_of(&out, i);
    return out;
}

static int64_t slices(const ts_vpad *v, int dim, int64_t extent) {
    return is_replica(v->offsets[dim]) ? 1 : ts_ceil_div(v->offsets[dim] + extent, slice_of(v, dim));
}

/* Leading, rows and columns. */
static bool set_dims(relayout_state *s, ts_vpad_implicit implicit) {
    const ts_relayout_request *r = s->request;
    bool all = implicit == TS_VPAD_ALL, minor = implicit == TS_VPAD_MINOR, both = implicit == TS_VPAD_BOTH;
    int kept = all ? 2 : both ? 0 : 1;
    if (r->rank < kept)
        return ts_error_set(s->err, TS_ERROR_INPUT, "an array of %d dims has no such layout", r->rank);
    s->columns = minor || both ? 1 : r->dims[r->rank - 1];
    s->rows = all ? r->dims[r->rank - 2] : minor ? r->dims[r->rank - 1] : 1;
    s->leading = 1;
    for (int i = 0; i < r->rank - kept; i++)
        if (!ts_mul(s->leading, r->dims[i], &s->leading)) s->leading = INT64_MAX;
    return true;
}

bool relayout_become(relayout_state *s, const ts_vpad *layout) {
    int64_t count, most = s->op_count == 0 ? MOST_VREGS : MOST_ON_THE_WAY;
    if (!set_dims(s, layout->implicit)) return false;
    s->layout = *layout;
    s->down = slices(layout, 0, s->rows);
    s->across = slices(layout, 1, s->columns);
    if (!ts_mul(s->down, s->across, &count) || !ts_mul(count, s->leading, &count) || count > most)
        return ts_error_set(s->err, TS_ERROR_UNMODELLED, "a value of more than %d vregs is not modelled",
                            (int)most);
    s->values = TS_NEW_ARRAY(s->arena, int, count);
    return true;
}

bool relayout_materialize(relayout_state *s, const int64_t *offsets) {
    const relayout_state old = *s;
    ts_vpad next = old.layout;
    for (int i = 0; i < 2; i++)
        if (is_replica(old.layout.offsets[i]))
            next.offsets[i] = offsets[i];
        else if (offsets[i] != old.layout.offsets[i])
            return relayout_stops(s);
    if (!relayout_become(s, &next)) return false;
    for (int64_t l = 0; l < s->leading; l++)
        for (int64_t i = 0; i < s->down; i++)
            for (int64_t j = 0; j < s->across; j++)
                *relayout_at(s, l, i, j) = *relayout_at(&old, l, is_replica(old.layout.offsets[0]) ? 0 : i,
                                                        is_replica(old.layout.offsets[1]) ? 0 : j);
    return true;
}

bool relayout_same_positions(const relayout_state *s, ts_vpad_implicit implicit) {
    relayout_state other = *s;
    bool all = implicit == TS_VPAD_ALL && s->layout.implicit == TS_VPAD_SECOND;
    bool second = implicit == TS_VPAD_SECOND && s->layout.implicit == TS_VPAD_ALL;
    if (!set_dims(&other, implicit)) return false;
    return (s->layout.tile[0] == 1 && (all || second)) ||
           (other.rows == s->rows && other.columns == s->columns);
}

bool relayout_rename(relayout_state *s, ts_vpad_implicit implicit) {
    const relayout_state old = *s;
    ts_vpad next = old.layout;
    next.implicit = implicit;
    if (!relayout_become(s, &next)) return false;
    if (relayout_count(s) != relayout_count(&old)) return relayout_stops(s);
    s->values = old.values;
    return true;
}

/* ---- Ops ---- */

int relayout_op(relayout_state *s, ts_relayout_op op) {
    op.inputs = TS_COPY_ARRAY(s->arena, op.inputs, op.input_count);
    *TS_APPEND(s->arena, s->ops, s->op_count) = op;
    s->out->counts[op.kind]++;
    return (int)s->out->sources + s->op_count - 1;
}

int relayout_unary(relayout_state *s, ts_relayout_kind kind, int input, int first, int second) {
    return relayout_op(s, (ts_relayout_op){.kind = kind,
                                           .bits = s->layout.bits,
                                           .input_count = 1,
                                           .inputs = &input,
                                           .numbers = {first, second}});
}

int relayout_binary(relayout_state *s, ts_relayout_kind kind, int a, int b, int number) {
    return relayout_op(s, (ts_relayout_op){.kind = kind,
                                           .bits = TS_WORD_BITS,
                                           .input_count = 2,
                                           .inputs = (const int[]){a, b},
                                           .numbers = {number}});
}

int relayout_rotate(relayout_state *s, int value, int dim, int64_t amount) {
    return relayout_unary(s, TS_RELAYOUT_ROTATE, value, dim, (int)amount);
}

int relayout_mask(relayout_state *s, int bits, const int64_t rows[2], const int64_t lanes[2]) {
    return relayout_op(
        s, (ts_relayout_op){.kind = TS_RELAYOUT_MASK,
                            .bits = bits,
                            .numbers = {(int)rows[0], (int)rows[1], (int)lanes[0], (int)lanes[1]}});
}

int relayout_mask_rows(relayout_state *s, int64_t from, int64_t end) {
    return relayout_mask(s, TS_WORD_BITS, (const int64_t[]){from, end}, (const int64_t[]){0, TS_LANES});
}

int relayout_select(relayout_state *s, int by, int inside, int outside) {
    return relayout_op(s, (ts_relayout_op){.kind = TS_RELAYOUT_SELECT,
                                           .bits = s->layout.bits,
                                           .input_count = 3,
                                           .inputs = (const int[]){by, inside, outside}});
}

int relayout_gather(relayout_state *s, int value, const int32_t *sublanes) {
    ts_relayout_op op = {
        .kind = TS_RELAYOUT_GATHER, .bits = s->layout.bits, .input_count = 1, .inputs = &value};
    memcpy(op.numbers, sublanes, sizeof op.numbers);
    return relayout_op(s, op);
}

/* A step that follows itself is told once. */
void relayout_step(relayout_state *s, const char *step) {
    ts_text *steps = &s->out->steps;
    if (s->last_step != NULL && strcmp(s->last_step, step) == 0) return;
    ts_text_add(steps, "%s%s", steps->length > 0 ? ", " : "", step);
    s->last_step = step;
}

bool relayout_refuse(relayout_state *s, const char *words) {
    return ts_error_set(s->err, TS_ERROR_INPUT, "%s", words);
}

bool relayout_stops(relayout_state *s) {
    return relayout_refuse(s, "Mosaic's own pass ends at this relayout, at a check of its own");
}
