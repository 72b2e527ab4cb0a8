/* Relayouts: other tiles by storing vregs to scratch memory and loading them in another order.
 *
 * Between tiles of `small` and of n * small sublanes, n vregs are a group: what is one vreg of larger tiles
 * has a tile of each vreg of smaller ones. Their sublanes lie n apart in memory, one of each vreg beside the
 * others. */
#include "relayout_state.h"

#include "base/number.h"

typedef struct {
    bool larger;         /* tiles than before */
    bool loads_shuffled; /* else stores are */
    int n;               /* vregs in a group */
    int groups;          /* that are held */
    int at;              /* the group that is filled */
    int64_t delay; /* vregs of padding before the first that is stored, and before the first that is loaded */
    int64_t skips;
    int32_t sublanes[TS_SUBLANES]; /* on the side that is shuffled */
} scratch;

/* Loads wait until the groups are full or the vregs of the value, in two dims, have been stored. */
typedef struct {
    int *to;
    int sublane;
} delayed_load;

typedef struct {
    relayout_state *s;
    scratch how;
    int count;
    delayed_load *loads;
} transfer;

/* Of the side whose vregs are shuffled a vreg is eight sublanes in a row, of the other every n-th. */
static int sublane_of(const scratch *c, int64_t number, bool shuffled) {
    return (int)(c->at * TS_SUBLANES * c->n + number * (shuffled ? TS_SUBLANES : 1));
}

static void store(transfer *t, int value, int64_t number) {
    bool shuffled = !t->how.loads_shuffled;
    int sublane = sublane_of(&t->how, number, shuffled);
    ts_relayout_op op = {.kind = shuffled ? TS_RELAYOUT_SHUFFLED_STORE : TS_RELAYOUT_STORE,
                         .bits = TS_WORD_BITS,
                         .input_count = 1,
                         .inputs = &value,
                         .numbers = {sublane, t->how.n}};
    for (int i = 0; i < TS_SUBLANES && shuffled; i++) op.numbers[i] = sublane + t->how.sublanes[i];
    relayout_op(t->s, op);
}

static void load_all(transfer *t) {
    bool shuffled = t->how.loads_shuffled;
    for (int i = 0; i < t->count; i++) {
        int sublane = t->loads[i].sublane;
        ts_relayout_op op = {.kind = shuffled ? TS_RELAYOUT_SHUFFLED_LOAD : TS_RELAYOUT_LOAD,
                             .bits = TS_WORD_BITS,
                             .numbers = {sublane, t->how.n}};
        for (int k = 0; k < TS_SUBLANES && shuffled; k++) op.numbers[k] = sublane + t->how.sublanes[k];
        *t->loads[i].to = relayout_op(t->s, op);
    }
    t->count = 0;
}

/* Vreg `number` of the group: one of the source is stored, one of the result waits for its load. */
static void pass(transfer *t, bool stored, int *vreg, int64_t number) {
    if (stored)
        store(t, *vreg, number);
    else
        *TS_APPEND(t->s->arena, t->loads, t->count) =
            (delayed_load){vreg, sublane_of(&t->how, number, t->how.loads_shuffled)};
}

/* Vreg i of the side with the larger tiles; at the end of a group also what it meets on the other side. */
static void pass_vreg(transfer *t, const relayout_state *large, const relayout_state *small, int64_t i) {
    bool larger = t->how.larger;
    int64_t l = i / large->across / large->down, row = i / large->across % large->down;
    int64_t column = i % large->across, n = t->how.n;
    int64_t position = column + (larger ? t->how.skips : t->how.delay);
    bool end = column == large->across - 1;
    pass(t, !larger, &large->values[i], position % n);
    if (position % n != n - 1 && !end) return;
    for (int64_t k = 0; k < n; k++) {
        int64_t at = row * n - (larger ? t->how.delay : t->how.skips) + k;
        if (at < 0) continue;
        if (at >= small->down || position / n >= small->across) break;
        pass(t, larger, relayout_at(small, l, at, position / n), k);
    }
    t->how.at = (t->how.at + 1) % t->how.groups;
    if (t->how.at == 0 || (end && row == large->down - 1)) load_all(t);
}

/* Larger tiles: `large` sublanes, from tiles of `small`. */
static void find_sublanes(scratch *c, int64_t small, int64_t large) {
    int k = 0;
    for (int64_t a = 0; a < TS_SUBLANES / large; a++)
        for (int64_t v = 0; v < c->n; v++)
            for (int64_t b = 0; b < small; b++) c->sublanes[k++] = (int32_t)((a * small + b) * c->n + v);
}

/* Wanted offsets are taken where they lie alike in the smaller of the slices. */
static ts_vpad next_layout(const ts_vpad *now, const int64_t *tile, const int64_t *hint) {
    ts_vpad next = relayout_aligned(now, now->bits, tile[0], tile[1]);
    for (int i = 0; i < 2; i++)
        if (!is_replica(hint[i]) &&
            (hint[i] - now->offsets[i]) % ts_min(slice_of(now, i), slice_of(&next, i)) == 0)
            next.offsets[i] = hint[i];
    return next;
}

static bool begin(relayout_state *s, const ts_vpad *next, scratch *c) {
    enum { SHUFFLES_STORES_FROM = 5 }; /* generation */
    const ts_vpad *now = &s->layout;
    int64_t packing = ts_vpad_packing(now), a = now->tile[0] / packing, b = next->tile[0] / packing;
    *c = (scratch){.larger = a < b, .n = (int)(a < b ? b / a : a / b)};
    int along = c->larger ? 0 : 1; /* the dim along which the source's vregs are the shorter */
    c->delay = next->offsets[along] / slice_of(now, along);
    c->skips = now->offsets[!along] / slice_of(next, !along);
    c->loads_shuffled = c->larger || (s->request->generation < SHUFFLES_STORES_FROM && a == TS_SUBLANES);
    c->groups = (int)(s->request->scratch_sublanes / (TS_SUBLANES * c->n));
    find_sublanes(c, ts_min(a, b), ts_max(a, b));
    if (c->groups < 1)
        return relayout_refuse(s, c->larger ? "scratch space is not enough for retiling to large tile"
                                            : "scratch space is not enough for retiling to small tile");
    return true;
}

bool relayout_through_scratch(relayout_state *s, const int64_t *tile, const int64_t *hint) {
    const relayout_state old = *s;
    const ts_vpad next = next_layout(&old.layout, tile, hint);
    transfer t = {.s = s};
    if (!begin(s, &next, &t.how) || !relayout_become(s, &next)) return false;
    int64_t used = (int64_t)TS_SUBLANES * t.how.n * t.how.groups;
    if (used > s->out->scratch_sublanes) s->out->scratch_sublanes = used;
    const relayout_state *large = t.how.larger ? s : &old, *small = t.how.larger ? &old : s;
    for (int64_t i = 0; i < relayout_count(large); i++) pass_vreg(&t, large, small, i);
    relayout_step(s, "through scratch memory");
    return true;
}
