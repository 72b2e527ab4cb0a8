/* Matching a box with a permute of lines: steps of its loops that stay within few lines of either side. */
#include <string.h>

#include "copy_plan.h"

#include "base/number.h"

#if !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#pragma GCC optimize("O3") /* tables of many elements are listed in vectors */
#endif

enum {
    MOST_LOOPS = 6,
    MOST_ELEMENTS = TS_PERMUTE_LINES * TS_LINE_BYTES,
    PAIR_BYTES = 2 * TS_LINE_BYTES,
    PARTS = 16,
    FEW_STEPS = 64,
    LEAST_APART = 2048, /* elements, of fewer a permute takes longer to find than it saves */
    BYTES_A_CLOCK = 6   /* what is as fast as other kernels */
};

/* The lines of one side in which the steps of the loops lie that are taken: those of short steps make a span,
 * which the others repeat. */
typedef struct {
    ts_side side;
    int order[MOST_LOOPS];            /* the loops, the shortest steps first */
    int64_t span, repeats;            /* bytes of one; how many */
    int64_t place[TS_PLAN_MAX_LOOPS]; /* what a step of a loop is where the lines lie one behind the other */
    bool repeated[TS_PLAN_MAX_LOOPS]; /* the loops that repeat the span */
} window;

typedef struct {
    const ts_plan_box *box;
    ts_lack lack;
    int64_t *times;
    int64_t most_sources;         /* lines */
    int unit, step;               /* bytes of an element, and those that are permuted as one */
    int count, loops[MOST_LOOPS]; /* that may be taken, of few steps first */
    window sides[2];
    int apart; /* bytes a clock that lines must move which lie apart; 0: they may not */
} choice;

static int64_t step_of(const choice *c, ts_side side, int loop) {
    return ts_plan_step_bits(&c->box->loops[loop], side) / 8;
}

static int64_t lines_in(int64_t span) { return (span + TS_LINE_BYTES - 1) / TS_LINE_BYTES; }
static int64_t lines_of(const window *w) { return w->repeats * lines_in(w->span); }

/* A loop extends the span where that takes no more lines than to repeat it. */
static void measure(const choice *c, window *w) {
    w->span = c->unit;
    w->repeats = 1;
    for (int i = 0; i < c->count; i++) {
        int loop = w->order[i];
        int64_t times = c->times[loop], step = step_of(c, w->side, loop), span = (times - 1) * step + w->span;
        w->place[loop] = step;
        w->repeated[loop] = w->repeats > 1 || lines_in(span) > times * lines_in(w->span);
        if (!w->repeated[loop]) {
            w->span = span;
        } else {
            w->place[loop] = lines_of(w) * TS_LINE_BYTES;
            w->repeats *= times;
        }
    }
}

/* Do so many steps of a loop fit? Takes them. */
static bool fits(choice *c, int loop, int64_t times) {
    c->times[loop] = times;
    measure(c, &c->sides[TS_SRC]);
    measure(c, &c->sides[TS_DST]);
    return lines_of(&c->sides[TS_SRC]) <= c->most_sources && lines_of(&c->sides[TS_DST]) <= TS_PERMUTE_LINES;
}

/* Not fewer steps of a loop than the lines of a side hold. */
static int64_t bound(const choice *c, ts_side side, int loop, int64_t lines) {
    int64_t steps = lines * TS_LINE_BYTES / step_of(c, side, loop) + 1;
    return steps > lines ? steps : lines;
}

/* As many steps as fit: of few in pieces of about one size, of many a power of two, so that lines are
 * whole. */
static void take(choice *c, int loop) {
    int64_t extent = c->box->loops[loop].extent, least = 1, most = bound(c, TS_SRC, loop, c->most_sources);
    most = ts_min(extent, ts_min(most, bound(c, TS_DST, loop, TS_PERMUTE_LINES)));
    for (int64_t next = most; least < most; next = (least + most + 1) / 2)
        if (fits(c, loop, next))
            least = next;
        else
            most = next - 1;
    int64_t pieces = (extent + least - 1) / least, steps = (extent + pieces - 1) / pieces;
    if (extent > FEW_STEPS && pieces > 1) steps = INT64_C(1) << ts_log2(least);
    if (!fits(c, loop, steps)) fits(c, loop, least);
}

/* Puts a loop behind those of as short steps. */
static void add_to_side(const choice *c, window *w, int loop) {
    int at = c->count;
    for (; at > 0 && step_of(c, w->side, w->order[at - 1]) > step_of(c, w->side, loop); at--)
        w->order[at] = w->order[at - 1];
    w->order[at] = loop;
}

/* Does it go forward on both sides, and within a line on one? */
static bool may_be_taken(const ts_plan_loop *loop) {
    return (loop->src_bits | loop->dst_bits) % 8 == 0 && loop->src_bits > 0 && loop->dst_bits > 0 &&
           ts_min(loop->src_bits, loop->dst_bits) < TS_LINE_BYTES * 8;
}

static void find_loops(choice *c) {
    const ts_plan_loop *loops = c->box->loops;
    for (int i = 0; i < c->box->loop_count; i++) {
        c->times[i] = 1;
        if (c->count == MOST_LOOPS || !may_be_taken(&loops[i])) continue;
        int at = c->count;
        for (; at > 0 && loops[c->loops[at - 1]].extent > loops[i].extent; at--)
            c->loops[at] = c->loops[at - 1];
        c->loops[at] = i;
        for (int side = 0; side < 2; side++) add_to_side(c, &c->sides[side], i);
        c->count++;
    }
}

/* Words, where all elements are of some. */
static int find_step(const choice *c) {
    int64_t bytes = c->unit;
    for (int i = 0; i < c->count; i++)
        bytes |= step_of(c, TS_SRC, c->loops[i]) | step_of(c, TS_DST, c->loops[i]);
    return bytes % TS_PERMUTE_WORD == 0 ? TS_PERMUTE_WORD : 1;
}

/* Where the elements lie on a side, in lines one behind the other: those of the longest loop as one. */
static int list_elements(const choice *c, const window *w, uint16_t *at) {
    int used = 1;
    at[0] = 0;
    for (int i = c->count - 1; i >= 0; i--) {
        int times = (int)c->times[c->loops[i]];
        for (int n = 1; n < times; n++) {
            uint16_t *next = at + n * used, step = (uint16_t)(n * w->place[c->loops[i]]);
            for (int k = 0; k < used; k++) next[k] = (uint16_t)(at[k] + step);
        }
        used *= times;
    }
    return used;
}

/* Leaves out the elements that are not there, of those that are listed. */
static int drop_lacking(const choice *c, int count, uint16_t *src, uint16_t *dst) {
    int64_t at[TS_PLAN_MAX_LOOPS] = {0};
    int kept = 0;
    for (int n = 0; n < count; n++) {
        bool lacks = ts_lack_has(&c->lack, c->box, at[c->lack.outer], at[c->lack.inner]);
        src[kept] = src[n];
        dst[kept] = dst[n];
        kept += !lacks;
        for (int i = c->count - 1; i >= 0 && ++at[c->loops[i]] == c->times[c->loops[i]]; i--)
            at[c->loops[i]] = 0;
    }
    return kept;
}

/* Where the lines lie in memory. */
static void list_lines(const choice *c, const window *w, int64_t *lines) {
    int64_t used = lines_in(w->span);
    for (int i = 0; i < used; i++) lines[i] = (int64_t)i * TS_LINE_BYTES;
    for (int i = 0; i < c->count; i++) {
        int64_t step = step_of(c, w->side, w->order[i]), all = used * c->times[w->order[i]];
        if (!w->repeated[w->order[i]]) continue;
        for (int64_t n = used; n < all; n++) lines[n] = lines[n - used] + step;
        used = all;
    }
    for (; used < TS_PERMUTE_LINES; used++) lines[used] = 0;
}

/* A bit for each byte that has its highest bit set, of hosts whose first byte is the lowest. */
static uint64_t mask_of(const uint8_t *bytes) {
    uint64_t mask = 0;
    for (int i = 0; i < TS_LINE_BYTES; i += 8) {
        uint64_t eight;
        memcpy(&eight, bytes + i, sizeof eight);
        mask |= ((eight >> 7 & UINT64_C(0x0101010101010101)) * UINT64_C(0x0102040810204080) >> 56) << i;
    }
    return mask;
}

/* Where in the table of a permute it is from which byte another comes. */
static uint16_t place_of(uint16_t from, uint16_t to) {
    return (uint16_t)((to / TS_LINE_BYTES) * (TS_PERMUTE_LINES / 2 * TS_LINE_BYTES) + to % TS_LINE_BYTES +
                      (from / PAIR_BYTES) * TS_LINE_BYTES);
}

/* What each byte of an element comes from, or each word. */
static void set_bytes(ts_permute *permute, const uint16_t *src, const uint16_t *dst, int count, int unit,
                      int step) {
    uint16_t place[MOST_ELEMENTS];
    uint8_t *all = permute->from[0][0];
    memset(all, 0, (size_t)permute->lines * sizeof permute->from[0]);
    for (int k = 0; k < unit; k += step) {
        for (int n = 0; n < count; n++) place[n] = place_of((uint16_t)(src[n] + k), (uint16_t)(dst[n] + k));
        for (int n = 0; step == 1 && n < count; n++)
            all[place[n]] = (uint8_t)(TS_PERMUTE_TAKES | (src[n] + k) % PAIR_BYTES);
        for (int n = 0; step > 1 && n < count; n++) {
            all[place[n]] = (uint8_t)((src[n] + k) % PAIR_BYTES / TS_PERMUTE_WORD);
            all[place[n] + TS_PERMUTE_WORD - 1] = TS_PERMUTE_TAKES;
        }
    }
}

/* Which bytes of the lines of a side there are. Of a source some may be read again, in place of others. */
static void set_masks(uint64_t *masks, const window *w, const uint16_t *at, int count, int unit) {
    const int64_t lines = lines_of(w);
    const bool whole = w->span % TS_LINE_BYTES == 0 && lines * TS_LINE_BYTES == (int64_t)count * unit;
    uint8_t taken[MOST_ELEMENTS];
    if (!whole) memset(taken, 0, sizeof taken);
    for (int k = 0; !whole && k < unit; k++)
        for (int n = 0; n < count; n++) taken[at[n] + k] = TS_PERMUTE_TAKES;
    for (int i = 0; i < TS_PERMUTE_LINES; i++)
        masks[i] = i >= lines ? 0 : whole ? UINT64_MAX : mask_of(taken + i * TS_LINE_BYTES);
}

/* Clocks that one takes: of bytes three for a pair of lines, of words two; half that for a line alone. */
static int64_t clocks_of(const choice *c) {
    int64_t sources = lines_of(&c->sides[TS_SRC]), lines = lines_of(&c->sides[TS_DST]),
            pairs = (sources + 1) / 2;
    return sources + lines * (c->step == 1 ? sources + pairs : 2 * pairs);
}

/* How many PARTS of a byte it moves a clock; 0 where it is no more than a run. Pieces that overlap move some
 * bytes again. */
static int64_t rate_of(const choice *c) {
    int64_t bytes = c->unit, pieces = 1, loops = 0;
    for (int i = 0; i < c->count; i++) {
        int64_t times = c->times[c->loops[i]], extent = c->box->loops[c->loops[i]].extent;
        loops += times > 1;
        bytes *= extent;
        pieces *= (extent + times - 1) / times;
    }
    if (!c->apart && (c->sides[TS_SRC].repeats > 1 || c->sides[TS_DST].repeats > 1)) return 0;
    return loops > 1 ? bytes * PARTS / (pieces * clocks_of(c)) : 0;
}

/* Do the lines of both sides hold all steps of a loop? */
static bool are_held(const ts_plan_loop *loop, int apart) {
    int64_t reach =
        (loop->extent - 1) * (loop->src_bits > loop->dst_bits ? loop->src_bits : loop->dst_bits) / 8;
    return reach < TS_PERMUTE_FEW * TS_LINE_BYTES || (apart && loop->extent <= TS_PERMUTE_LINES);
}

/* Is there a loop whose steps stay within a line on both sides, and one that no network halves? */
static bool is_likely(const ts_plan_box *box, int64_t unit, int apart) {
    bool near = false, odd = false;
    int64_t elements = 1, line = TS_LINE_BYTES * 8;
    int count = 0;
    for (int i = 0; i < box->loop_count; i++) {
        const ts_plan_loop *loop = &box->loops[i];
        elements *= loop->extent;
        if (!may_be_taken(loop)) continue;
        count++;
        near = near || (loop->extent > 2 && loop->src_bits < line && loop->dst_bits < line &&
                        (loop->src_bits != unit || loop->dst_bits != unit));
        odd = odd || ((loop->extent & (loop->extent - 1)) != 0 && are_held(loop, apart));
    }
    return count > 1 && near && odd && (!apart || elements >= LEAST_APART);
}

/* Are there loops over lines that lie apart, more than few on a side? */
static bool are_many(const choice *c) {
    for (int i = 0; c->apart && i < c->count; i++) {
        const ts_plan_loop *loop = &c->box->loops[c->loops[i]];
        bool apart = loop->src_bits >= TS_LINE_BYTES * 8 || loop->dst_bits >= TS_LINE_BYTES * 8;
        if (apart && loop->extent > TS_PERMUTE_FEW && loop->extent <= TS_PERMUTE_LINES) return true;
    }
    return false;
}

/* How many steps of each loop it takes; false where it does not pay. */
static bool choose(choice *c) {
    c->most_sources = are_many(c) ? TS_PERMUTE_LINES : TS_PERMUTE_FEW;
    for (int i = 0; i < c->count; i++) take(c, c->loops[i]);
    return ts_lack_is_inside(&c->lack, c->box, c->times) &&
           rate_of(c) >= PARTS * (c->apart ? c->apart : BYTES_A_CLOCK);
}

static void set_tile(ts_tile *tile, const choice *c) {
    const window *src = &c->sides[TS_SRC], *dst = &c->sides[TS_DST];
    uint16_t from[MOST_ELEMENTS], to[MOST_ELEMENTS];
    int count = list_elements(c, src, from);
    list_elements(c, dst, to);
    if (c->lack.from > 0) count = drop_lacking(c, count, from, to);
    list_lines(c, src, tile->src_line);
    list_lines(c, dst, tile->dst_line);
    tile->permute.lines = (int)lines_of(dst);
    set_bytes(&tile->permute, from, to, count, c->unit, c->step);
    set_masks(tile->src_mask, src, from, count, c->unit);
    set_masks(tile->dst_mask, dst, to, count, c->unit);
    tile->line_bytes = TS_LINE_BYTES;
    tile->stages = __builtin_ctz(TS_PERMUTE_LINES);
    tile->masks = true;
}

bool ts_copy_plan_match_permute(ts_copy_plan *copy, const ts_plan_box *box, int apart, int64_t *times) {
    const ts_tile_kernels *kernels = copy->m->kernels->tiles[0];
    if (!kernels->permutes || !is_likely(box, copy->m->dst.element_bits, apart)) return false;
    choice c = {.box = box,
                .lack = copy->lack,
                .times = times,
                .unit = copy->m->dst.element_bits / 8,
                .apart = apart};
    c.sides[TS_SRC].side = TS_SRC;
    c.sides[TS_DST].side = TS_DST;
    find_loops(&c);
    c.step = find_step(&c);
    if (!choose(&c)) return false;
    ts_copy_plan_set_loops(copy, box, times);
    if (!ts_copy_plan_steps_by(copy, box, 8)) return false;
    copy->fills = copy->joins = false;
    set_tile(&copy->tile, &c);
    copy->tile.loads_whole = ts_copy_may_load_whole(copy, (int)lines_of(&c.sides[TS_SRC]));
    copy->kernels = kernels;
    int64_t sources = lines_of(&c.sides[TS_SRC]), lines = lines_of(&c.sides[TS_DST]);
    bool few = sources <= TS_PERMUTE_FEW && lines <= TS_PERMUTE_FEW;
    copy->tile_function = kernels->permutes[c.step > 1][sources - 1][few ? lines - 1 : TS_PERMUTE_FEW];
    return true;
}
