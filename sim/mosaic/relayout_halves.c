/* Relayouts: other tiles by combining halves of vregs, from generation 6 on.
 *
 * Which sublane of which vreg a tile's row is in, is a number of bits; other tiles are these bits in another
 * order. Halves of two vregs combined swap the highest bit of the sublane with a bit of the vreg; a gather
 * rotates the bits within the sublane. */
#include "relayout_state.h"

enum { SUBLANE_BITS = 3, MOST_GROUP = 1 << SUBLANE_BITS };

typedef struct {
    bool larger;                  /* tiles than before */
    int bits;                     /* that are swapped; 1 << bits vregs are a group */
    int kept_low, kept_high;      /* bits of the sublane that both have at their low and high ends */
    int32_t rotated[TS_SUBLANES]; /* the gather */
    int vregs[MOST_GROUP];
} group;

/* Sublane i goes where its bits above `kept_low` are rotated by one, to the left or right. */
static void find_rotation(group *g, bool left) {
    int turning = SUBLANE_BITS - g->kept_low, by = left ? 1 : turning - 1;
    for (int i = 0; i < TS_SUBLANES; i++) {
        int to = i & ((1 << g->kept_low) - 1);
        for (int bit = 0; bit < turning; bit++)
            to |= (i >> (g->kept_low + bit) & 1) << (g->kept_low + (bit + by) % turning);
        g->rotated[to] = i;
    }
}

typedef enum { LOWER, UPPER } half;

static int combine(relayout_state *s, int a, int b, half which) {
    if (a == NO_VALUE) a = which == UPPER ? NO_VALUE : b;
    if (b == NO_VALUE && which == LOWER) return a;
    if (a == NO_VALUE) return b;
    return relayout_binary(s, TS_RELAYOUT_COMBINE, a, b == NO_VALUE ? a : b, which == UPPER);
}

/* Pairs that differ in bit `bit` of their number, from the highest. */
static void swap_bit(relayout_state *s, group *g, int bit) {
    int step = 1 << (g->bits - 1 - bit);
    for (int i = 0; i < 1 << g->bits; i++) {
        int a = g->vregs[i], b;
        if ((i & step) != 0) continue;
        b = g->vregs[i | step];
        g->vregs[i] = combine(s, a, b, LOWER);
        g->vregs[i | step] = combine(s, a, b, UPPER);
    }
}

static void rotate(relayout_state *s, group *g) {
    for (int i = 0; i < 1 << g->bits; i++)
        if (g->vregs[i] != NO_VALUE) g->vregs[i] = relayout_gather(s, g->vregs[i], g->rotated);
}

/* Where bits are kept at the high end, all are rotated around once for each that is swapped. */
static void swap_with_prefix(relayout_state *s, group *g) {
    for (int i = 0; i < g->bits; i++) {
        if (g->larger) swap_bit(s, g, i);
        rotate(s, g);
        if (!g->larger) swap_bit(s, g, g->bits - 1 - i);
    }
}

/* Else the first rotation is not needed, and the bits of the vreg come out rotated. */
static void swap_all(relayout_state *s, group *g) {
    int rotated[MOST_GROUP];
    for (int i = 0; i < g->bits; i++) {
        if (i > 0) rotate(s, g);
        swap_bit(s, g, g->bits - 1 - i);
    }
    for (int i = 0; i < 1 << g->bits; i++) {
        int high = i >> (g->bits - 1), rest = i & ((1 << (g->bits - 1)) - 1);
        rotated[i] = g->vregs[rest << 1 | high];
    }
    for (int i = 0; i < 1 << g->bits; i++) g->vregs[i] = rotated[i];
}

/* Both layouts in an array of vregs with room for their offsets: vreg 0 of a layout is `before` vregs in. */
typedef struct {
    int64_t down, across, before[2];
} frame;

static frame find_frame(const relayout_state *s, const ts_vpad *now, const ts_vpad *a, const ts_vpad *b) {
    int64_t extents[2] = {s->rows, s->columns}, counts[2] = {0};
    frame f;
    for (int i = 0; i < 2; i++) {
        int64_t large = slice_of(a, i) > slice_of(b, i) ? slice_of(a, i) : slice_of(b, i);
        int64_t offset = a->offsets[i] > b->offsets[i] ? a->offsets[i] : b->offsets[i];
        counts[i] = ts_ceil_div(extents[i] + offset, large) * large / slice_of(now, i);
        f.before[i] = offset / slice_of(now, i);
    }
    f.down = counts[0], f.across = counts[1];
    return f;
}

static int vreg_in(const relayout_state *s, const frame *f, int64_t leading, int64_t row, int64_t column) {
    row -= f->before[0], column -= f->before[1];
    if (row < 0 || row >= s->down || column < 0 || column >= s->across) return NO_VALUE;
    return *relayout_at(s, leading, row, column);
}

static void put_in(relayout_state *s, const frame *f, const int64_t at[3], int value) {
    int64_t row = at[1] - f->before[0], column = at[2] - f->before[1];
    if (row >= 0 && row < s->down && column >= 0 && column < s->across)
        *relayout_at(s, at[0], row, column) = value;
}

/* A group lies along the columns of the layout with smaller slices of them, and along the rows of the
 * other. */
static void do_group(relayout_state *s, const relayout_state *old, group *g, const frame f[2],
                     const int64_t at[3]) {
    int64_t n = INT64_C(1) << g->bits, down = g->larger ? n : 1, across = g->larger ? 1 : n;
    for (int64_t i = 0; i < n; i++)
        g->vregs[i] = vreg_in(old, &f[0], at[0], at[1] * down + (g->larger ? i : 0),
                              at[2] * across + (g->larger ? 0 : i));
    if (g->kept_high > 0)
        swap_with_prefix(s, g);
    else
        swap_all(s, g);
    for (int64_t i = 0; i < n; i++) {
        const int64_t to[3] = {at[0], at[1] * across + (g->larger ? 0 : i),
                               at[2] * down + (g->larger ? i : 0)};
        put_in(s, &f[1], to, g->vregs[i]);
    }
}

/* Wanted offsets are taken where the pass takes them to lie alike. */
static ts_vpad next_layout(const ts_vpad *now, const int64_t *tile, const int64_t *hint) {
    ts_vpad next = relayout_aligned(now, now->bits, tile[0], tile[1]);
    for (int i = 0; i < 2; i++)
        if (!is_replica(hint[i]) && hint[i] % slice_of(now, i) == next.offsets[i] % slice_of(&next, i))
            next.offsets[i] = hint[i];
    return next;
}

static group find_group(const ts_vpad *now, const ts_vpad *next) {
    int a = ts_log2(sublanes_of_tile(now)), b = ts_log2(sublanes_of_tile(next));
    group g = {.larger = a < b};
    g.kept_low = a < b ? a : b;
    g.kept_high = SUBLANE_BITS - (a < b ? b : a);
    g.bits = SUBLANE_BITS - g.kept_low - g.kept_high;
    find_rotation(&g, g.kept_high > 0 && g.larger);
    return g;
}

bool relayout_by_halves(relayout_state *s, const int64_t *tile, const int64_t *hint) {
    const relayout_state old = *s;
    const ts_vpad next = next_layout(&old.layout, tile, hint);
    const frame f[2] = {find_frame(s, &old.layout, &old.layout, &next),
                        find_frame(s, &next, &old.layout, &next)};
    group g = find_group(&old.layout, &next);
    int64_t n = INT64_C(1) << g.bits;
    if (!relayout_become(s, &next)) return false;
    for (int64_t i = 0; i < relayout_count(s); i++) s->values[i] = NO_VALUE;
    int64_t down = g.larger ? f[0].down / n : f[0].down, across = g.larger ? f[0].across : f[0].across / n;
    for (int64_t i = 0; i < s->leading * down * across; i++) {
        const int64_t at[3] = {i / across / down, i / across % down, i % across};
        do_group(s, &old, &g, f, at);
    }
    for (int64_t i = 0; i < relayout_count(s); i++)
        if (s->values[i] == NO_VALUE) return relayout_stops(s);
    relayout_step(s, "combine halves of vregs");
    return true;
}
