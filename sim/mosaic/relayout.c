/* A relayout: what is free, what is refused, and else its steps: tiles, implicit dims, offsets; of masks,
 * around these. */
#include "relayout_state.h"

static const char *const op_names[] = {
    "arith.addi",
    "arith.cmpi",
    "arith.extui",
    "arith.ori",
    "arith.select",
    "arith.shli",
    "arith.shrui",
    "tpu.broadcast_in_sublanes",
    "tpu.create_mask",
    "tpu.create_subelement_mask",
    "tpu.dynamic_gather",
    "tpu.gather",
    "tpu.iota",
    "tpu.load",
    "tpu.mask_cast",
    "tpu.pack_subelements",
    "tpu.pack_vmsk",
    "tpu.rotate",
    "tpu.shuffled_load",
    "tpu.shuffled_store",
    "tpu.store",
    "tpu.sublane_shuffle",
    "tpu.unpack_subelements",
};

const char *ts_relayout_op_name(ts_relayout_kind kind) { return op_names[kind]; }

static bool same_layout(const ts_vpad *a, const ts_vpad *b) {
    return a->bits == b->bits && a->implicit == b->implicit && has_tile(a, b->tile[0], b->tile[1]) &&
           a->offsets[0] == b->offsets[0] && a->offsets[1] == b->offsets[1];
}

/* VectorLayout::generalizes, with as many vregs; `d`: the value in the layout that is wanted. */
static bool is_free(const relayout_state *s, const relayout_state *d) {
    const ts_vpad *from = &s->layout, *to = &d->layout;
    int64_t least = from->tile[0] < to->tile[0] ? from->tile[0] : to->tile[0];
    for (int i = 0; i < 2; i++)
        if (!is_replica(from->offsets[i]) && from->offsets[i] != to->offsets[i]) return false;
    if (from->bits != to->bits || relayout_count(s) != relayout_count(d)) return false;
    bool lines = to->tile[0] == 1 && relayout_same_positions(s, to->implicit);
    if (!lines && (s->rows != d->rows || s->columns != d->columns)) return false;
    if (has_tile(from, to->tile[0], to->tile[1])) return true;
    int64_t row = offset_or_0(from->offsets[0]), column = offset_or_0(from->offsets[1]);
    return from->tile[1] == TS_LANES && to->tile[1] == TS_LANES && row + s->rows <= least &&
           column + s->columns <= TS_LANES;
}

static int dims_of(ts_vpad_implicit implicit) {
    return implicit == TS_VPAD_ALL ? 2 : implicit == TS_VPAD_BOTH ? 0 : 1;
}

/* Does every place of the vregs hold the same value, or its row where the value has one row? */
static bool is_replicated(const relayout_state *s, const ts_vpad *to) {
    bool rows = is_replica(s->layout.offsets[0]) || (s->layout.tile[0] == 1 && s->rows == 1);
    return rows && is_replica(s->layout.offsets[1]) && dims_of(s->layout.implicit) >= dims_of(to->implicit);
}

/* References to the vregs that are there; of a value that is all replicated, each as often as is needed. */
static void refer(relayout_state *s, const relayout_state *d) {
    const relayout_state old = *s;
    int64_t sources = relayout_count(&old), results = relayout_count(d);
    *s = *d;
    s->ops = old.ops, s->op_count = old.op_count;
    for (int64_t i = 0; i < results; i++) s->values[i] = old.values[i * sources / results];
}

static bool refuse_replica(relayout_state *s) {
    const ts_relayout_request *r = s->request;
    for (int dim = 0; dim < 2 && dim < r->rank; dim++)
        if (ts_vpad_is_replicated(&r->to, dim) && !ts_vpad_is_replicated(&r->from, dim) &&
            r->dims[r->rank - 1 - dim] != 1)
            return relayout_refuse(s, "Invalid relayout: Non-singleton logical dimension is replicated in "
                                      "destination but not in source");
    return true;
}

static bool change(relayout_state *s, const relayout_state *d) {
    const ts_vpad *to = &d->layout;
    if (s->layout.bits != to->bits) return relayout_refuse(s, "Can't change bitwidth during a relayout");
    if (is_free(s, d) || is_replicated(s, to)) return refer(s, d), true;
    if (s->layout.implicit != to->implicit && relayout_same_positions(s, to->implicit) &&
        !relayout_rename(s, to->implicit))
        return false;
    if (!relayout_tiles(s, to->tile, to->offsets) || !relayout_implicit(s, to->implicit, to->offsets) ||
        !relayout_offsets(s, to->offsets))
        return false;
    return same_layout(&s->layout, to) || relayout_stops(s);
}

/* ---- Masks ---- */

static void cast_masks(relayout_state *s, ts_relayout_kind kind, int bits) {
    for (int64_t i = 0; i < relayout_count(s); i++)
        s->values[i] = relayout_op(
            s, (ts_relayout_op){.kind = kind, .bits = bits, .input_count = 1, .inputs = &s->values[i]});
}

/* Of words to those of halves. */
static bool packs_masks(const ts_vpad *from, const ts_vpad *to) {
    ts_vpad narrow = *from;
    narrow.bits = 16;
    return from->bits == TS_WORD_BITS && has_tile(from, TS_SUBLANES, TS_LANES) && same_layout(&narrow, to);
}

static bool pack_masks(relayout_state *s, const relayout_state *d) {
    const relayout_state old = *s;
    if (!relayout_become(s, &d->layout)) return false;
    for (int64_t i = 0; i < relayout_count(s); i++) {
        int64_t low = i % s->across * 2, high = low + (low + 1 < old.across);
        const int *line = &old.values[i / s->across * old.across];
        s->values[i] = relayout_op(s, (ts_relayout_op){.kind = TS_RELAYOUT_PACK_MASKS,
                                                       .bits = 16,
                                                       .input_count = 2,
                                                       .inputs = (const int[]){line[low], line[high]}});
    }
    relayout_step(s, "pack masks");
    return true;
}

/* As integers of the width that is masked. */
static bool change_masks(relayout_state *s, const relayout_state *d) {
    if (is_replicated(s, &d->layout)) {
        cast_masks(s, TS_RELAYOUT_CAST_MASK, d->layout.bits);
        return refer(s, d), true;
    }
    if (packs_masks(&s->layout, &d->layout)) return pack_masks(s, d);
    relayout_step(s, "masks as integers");
    cast_masks(s, TS_RELAYOUT_EXTEND, s->layout.bits);
    if (!change(s, d)) return false;
    cast_masks(s, TS_RELAYOUT_COMPARE, s->layout.bits);
    return true;
}

bool ts_relayout_plan(ts_error *err, ts_arena *arena, const ts_relayout_request *r, ts_relayout *out) {
    relayout_state s = {.err = err, .arena = arena, .request = r, .out = out}, d;
    *out = (ts_relayout){.bits = r->from.bits, .masks = r->masks};
    out->steps = ts_text_begin(arena);
    d = s;
    if (!refuse_replica(&s) || !relayout_become(&s, &r->from) || !relayout_become(&d, &r->to)) return false;
    out->sources = relayout_count(&s);
    for (int64_t i = 0; i < out->sources; i++) s.values[i] = (int)i;
    if (r->masks ? !change_masks(&s, &d) : !change(&s, &d)) return false;
    if (out->steps.length == 0) ts_text_add(&out->steps, "free");
    out->results = relayout_count(&s);
    out->values = s.values, out->ops = s.ops, out->op_count = s.op_count;
    relayout_merge(arena, out);
    return true;
}
