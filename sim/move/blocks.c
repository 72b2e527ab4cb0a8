/* Boxes of a large tensor that write pieces of the same lines of memory: a block of the destination after the
 * other is made by all of them in a scratch, where they leave no gaps. */
#include <stdlib.h>

#include "copy_plan.h"

enum {
    BLOCK_BYTES = 192 << 10,
    MOST_BLOCK_BYTES = 1 << 20,
    BAND_BYTES = 384 << 10,
    LONG_RUN_BYTES = 2048,
    FEW = 64
};

/* Boxes that share their outermost loops; a block is `cover` steps of the last of these, one of the
 * others. */
typedef struct {
    const ts_copy_context *m;
    ts_plan_box boxes[TS_CONCURRENT_BOXES];
    int count, shared;
    int64_t cover;
} group;

static bool shares_first(const ts_plan_box *a, const ts_plan_box *b) {
    return a->loop_count > 0 && b->loop_count > 0 && ts_copy_is_same_loop(&a->loops[0], &b->loops[0]);
}

static bool all_share(const group *g, int loop) {
    for (int i = 0; i < g->count; i++)
        if (g->boxes[i].loop_count <= loop ||
            !ts_copy_is_same_loop(&g->boxes[i].loops[loop], &g->boxes[0].loops[loop]))
            return false;
    return true;
}

/* False where no block is small enough. */
static bool find_blocks(group *g) {
    for (g->shared = 0; all_share(g, g->shared);) {
        const ts_plan_loop *loop = &g->boxes[0].loops[g->shared++];
        int64_t step = loop->dst_bits / 8;
        if (step <= 0 || llabs(loop->src_bits) * loop->extent / 8 < TS_CACHE_LINE_BYTES) return false;
        g->cover = BLOCK_BYTES / step;
        if (g->cover > 0) break;
        g->cover = 1;
        if (llabs(loop->src_bits) / 8 < TS_CACHE_LINE_BYTES)
            return false; /* blocks would share lines of the source */
    }
    if (g->shared == 0) return false;
    const ts_plan_loop *last = &g->boxes[0].loops[g->shared - 1];
    if (g->cover > last->extent) g->cover = last->extent;
    for (int64_t whole = 64; whole > 4; whole /= 2) /* of tiles */
        if (g->cover >= whole && g->cover < last->extent) g->cover -= g->cover % whole;
    /* blocks do not share lines of the source */
    return llabs(last->src_bits) * g->cover / 8 >= TS_CACHE_LINE_BYTES &&
           g->cover * last->dst_bits / 8 <= MOST_BLOCK_BYTES;
}

/* Whole bytes of the destination, low up to high, that the boxes of a block fill without a gap; false where
 * they leave some. */
static bool find_filled(const group *block, int64_t *low, int64_t *high) {
    int64_t filled = 0;
    *low = INT64_MAX;
    *high = INT64_MIN;
    for (int i = 0; i < block->count; i++) {
        const ts_plan_box *box = &block->boxes[i];
        int64_t last = box->dst_bits;
        for (int k = 0; k < box->loop_count; k++) {
            if (box->loops[k].dst_bits <= 0) return false;
            last += (box->loops[k].extent - 1) * box->loops[k].dst_bits;
        }
        last += block->m->dst.element_bits;
        filled += ts_copy_count_elements(box) * block->m->dst.element_bits;
        if (box->dst_bits < *low) *low = box->dst_bits;
        if (last > *high) *high = last;
    }
    bool whole = *low % 8 == 0 && *high % 8 == 0 && *high - *low == filled;
    *low /= 8;
    *high /= 8;
    return whole && *high - *low <= BLOCK_BYTES;
}

static void move_block(const group *block, int64_t ahead_bytes) {
    _Alignas(TS_CACHE_LINE_BYTES) uint8_t scratch[BLOCK_BYTES + TS_CACHE_LINE_BYTES];
    static const ts_kernel_loop once[2] = {{1, 0, 0}, {1, 0, 0}};
    ts_copy_context in = *block->m;
    int64_t low, high, first = 0;
    bool filled = find_filled(block, &low, &high);
    in.streams = false;
    in.ahead_bytes = ahead_bytes;
    if (filled) {
        first =
            low - ((intptr_t)in.dst.bytes + low) % TS_CACHE_LINE_BYTES; /* lines lie as in the destination */
        in.dst.bytes = scratch;
    }
    for (int i = 0; i < block->count; i++) {
        ts_plan_box box = block->boxes[i];
        box.dst_bits -= first * 8;
        ts_move_box(&in, &box);
    }
    if (filled)
        block->m->kernels->stream_runs(block->m->dst.bytes + low, scratch + (low - first), high - low, once);
}

/* The block that begins at these steps of the shared loops. */
static void take_block(const group *g, const int64_t *at, group *block) {
    const int last = g->shared - 1;
    *block = *g;
    for (int i = 0; i < g->count; i++) {
        ts_plan_box *box = &block->boxes[i];
        for (int k = 0; k < g->shared; k++) {
            box->src_bits += at[k] * box->loops[k].src_bits;
            box->dst_bits += at[k] * box->loops[k].dst_bits;
            box->loops[k].extent = 1;
        }
        int64_t left = g->boxes[i].loops[last].extent - at[last];
        box->loops[last].extent = left < g->cover ? left : g->cover;
    }
}

static void move_group(const group *g) {
    const int last = g->shared - 1;
    const ts_plan_loop *loops = g->boxes[0].loops;
    int64_t at[TS_PLAN_MAX_LOOPS] = {0};
    for (int k = 0; k >= 0;) {
        group block;
        take_block(g, at, &block);
        move_block(&block, g->cover * loops[last].src_bits / 8);
        for (k = last; k >= 0; k--) {
            at[k] += k == last ? g->cover : 1;
            if (at[k] < loops[k].extent) break;
            at[k] = 0;
        }
    }
}

static bool is_filled(const group *g) {
    static const int64_t first[TS_PLAN_MAX_LOOPS];
    int64_t low, high;
    group block;
    take_block(g, first, &block);
    return find_filled(&block, &low, &high);
}

/* Do the elements of a block lie together in the source? */
static bool is_dense(const group *g) {
    const ts_plan_loop *last = &g->boxes[0].loops[g->shared - 1];
    int64_t bits = g->m->src.element_bits;
    for (int i = g->shared; i < g->boxes[0].loop_count; i++) {
        if (g->boxes[0].loops[i].src_bits < 0) return false;
        bits += (g->boxes[0].loops[i].extent - 1) * g->boxes[0].loops[i].src_bits;
    }
    return bits == last->src_bits;
}

/* Do boxes that are moved for themselves leave much in pieces? */
static bool has_pieces(const group *g) {
    int64_t all = 0, pieces = 0;
    for (int i = 0; i < g->count; i++) {
        int64_t elements = ts_copy_count_elements(&g->boxes[i]);
        all += elements;
        pieces += ts_move_box_in_lines(g->m, &g->boxes[i]) ? 0 : elements;
    }
    return pieces * FEW > all;
}

/* Bytes that lie together in the destination. */
static int64_t run_bytes(const ts_copy_context *m, const ts_plan_box *box) {
    int64_t bits = m->dst.element_bits;
    for (int i = 0; i < box->loop_count; i++) {
        if (box->loops[i].dst_bits != bits || box->loops[i].extent == 1) continue;
        bits *= box->loops[i].extent;
        i = -1;
    }
    return bits / 8;
}

/* Does the first loop of a box take the longest steps of the source, and not within a line? */
static bool leads_in_source(const ts_plan_box *box) {
    int64_t first = llabs(box->loops[0].src_bits);
    for (int k = 1; k < box->loop_count; k++)
        if (llabs(box->loops[k].src_bits) > first) return false;
    return first / 8 >= TS_CACHE_LINE_BYTES;
}

static bool all_lead(const group *g) {
    for (int i = 0; i < g->count; i++)
        if (!leads_in_source(&g->boxes[i])) return false;
    return true;
}

/* Elements in runs of so many bytes and more, and all. */
static int64_t count_in_runs(const group *g, int64_t bytes, int64_t *all) {
    int64_t in_runs = *all = 0;
    for (int i = 0; i < g->count; i++) {
        int64_t elements = ts_copy_count_elements(&g->boxes[i]);
        *all += elements;
        in_runs += run_bytes(g->m, &g->boxes[i]) >= bytes ? elements : 0;
    }
    return in_runs;
}

/* Do half of the elements or more lie in runs so long that their ends do not matter? Bands read the source in
 * its order. */
static bool has_long_runs(const group *g) {
    int64_t all, in_long = count_in_runs(g, LONG_RUN_BYTES, &all);
    return in_long * 2 >= all;
}

/* Do most lie in runs shorter than a line, which boxes share then? */
static bool shares_lines(const group *g) {
    int64_t all;
    return count_in_runs(g, TS_CACHE_LINE_BYTES, &all) * 2 < all;
}

/* Bytes of the destination that a step of the outermost loop makes, or takes. */
static int64_t bytes_of_step(const group *g) {
    const ts_plan_loop *loop = &g->boxes[0].loops[0];
    int64_t elements = 0, step = llabs(loop->dst_bits) / 8;
    for (int i = 0; i < g->count; i++) elements += ts_copy_count_elements(&g->boxes[i]);
    int64_t made = elements / loop->extent * g->m->dst.element_bits / 8;
    return made > step ? made : step;
}

/* Bands of the outermost loop, of each all boxes: lines that they share are still in a cache. */
static void move_bands(const group *g) {
    const ts_plan_loop loop = g->boxes[0].loops[0];
    int64_t step = bytes_of_step(g), steps = step > 0 && step < BAND_BYTES ? BAND_BYTES / step : 1;
    for (int64_t at = 0; at < loop.extent; at += steps) {
        for (int i = 0; i < g->count; i++) {
            ts_plan_box box = g->boxes[i];
            box.src_bits += at * loop.src_bits;
            box.dst_bits += at * loop.dst_bits;
            box.loops[0].extent = loop.extent - at < steps ? loop.extent - at : steps;
            ts_move_box(g->m, &box);
        }
    }
}

/* Do a few steps of the outermost loop, none within a line of the source, make a band? */
static bool makes_bands(const group *g) {
    return llabs(g->boxes[0].loops[0].src_bits) / 8 >= TS_CACHE_LINE_BYTES && bytes_of_step(g) <= BAND_BYTES;
}

/* Is much outside of the largest box, so that lines of the source would be read again? */
static bool has_rests(const group *g) {
    int64_t all = 0, largest = 0;
    for (int i = 0; i < g->count; i++) {
        int64_t elements = ts_copy_count_elements(&g->boxes[i]);
        all += elements;
        if (elements > largest) largest = elements;
    }
    return (all - largest) * FEW > all;
}

/* Where a box has the loop; -1. */
static int find_loop(const ts_plan_box *box, const ts_plan_loop *loop) {
    for (int k = 0; k < box->loop_count; k++)
        if (ts_copy_is_same_loop(&box->loops[k], loop)) return k;
    return -1;
}

/* Makes a loop that all boxes have the outermost one: of those that do not stay within a line of the source,
 * the one of the longest steps on a side. False where there is none. */
static bool lead_with_common(group *g, ts_side side) {
    ts_plan_loop best = {.extent = 0};
    for (int k = 0; k < g->boxes[0].loop_count; k++) {
        const ts_plan_loop *loop = &g->boxes[0].loops[k];
        bool all = llabs(loop->src_bits) / 8 >= TS_CACHE_LINE_BYTES &&
                   llabs(ts_plan_step_bits(loop, side)) > llabs(ts_plan_step_bits(&best, side));
        for (int i = 1; i < g->count; i++) all = all && find_loop(&g->boxes[i], loop) >= 0;
        if (all) best = *loop;
    }
    for (int i = 0; i < g->count && best.extent > 0; i++) {
        ts_plan_box *box = &g->boxes[i];
        for (int k = find_loop(box, &best); k > 0; k--) box->loops[k] = box->loops[k - 1];
        box->loops[0] = best;
    }
    return best.extent > 0;
}

/* Boxes that begin with the same loop; false where they would be moved one after the other, in pieces. Bands
 * of long runs are read in the order of the source. */
static bool move_sharing(group *g) {
    bool pieces = has_pieces(g),
         bands = (pieces || has_rests(g)) && g->count > 1 && (all_lead(g) || makes_bands(g));
    if (bands && has_long_runs(g)) {
        lead_with_common(g, TS_SRC);
        move_bands(g);
    } else if (pieces && find_blocks(g) && (g->count > 1 || is_dense(g)) && is_filled(g))
        move_group(g);
    else if (bands)
        move_bands(g);
    else if (pieces)
        return false;
    else
        for (int i = 0; i < g->count; i++) ts_move_box(g->m, &g->boxes[i]);
    return true;
}

/* Moves a box with one behind it with which it is one, as a run that tiles leave a rest of; false: there is
 * none. */
static bool move_joined(group *g, int i) {
    for (int k = i + 1; k < g->count; k++) {
        if (!ts_copy_plan_move_runs(g->m, &g->boxes[i], &g->boxes[k]) &&
            !ts_copy_plan_move_runs(g->m, &g->boxes[k], &g->boxes[i]))
            continue;
        g->boxes[k] = g->boxes[--g->count];
        g->boxes[i] = g->boxes[--g->count];
        return true;
    }
    return false;
}

/* Those that are one with another; leaves the others. */
static void move_all_joined(group *g) {
    for (int i = 0; i < g->count;) i += !move_joined(g, i);
}

/* Those that columns take, which need neither a scratch nor an order; leaves the others. */
static void move_all_columns(group *g) {
    for (int i = 0; i < g->count;)
        if (ts_columns_move(g->m, &g->boxes[i]))
            g->boxes[i] = g->boxes[--g->count];
        else
            i++;
}

/* Those of the group, and the others. */
static group all_of(const group *g, const ts_plan_box *others, int count) {
    group all = *g;
    for (int i = 0; i < count; i++) all.boxes[all.count++] = others[i];
    return all;
}

void ts_move_concurrent_boxes(const ts_copy_context *m, ts_plan_box *boxes, int count) {
    for (int left; count > 0; count = left) {
        group g = {.m = m};
        left = 0;
        for (int i = 0; i < count; i++)
            if (i == 0 || shares_first(&g.boxes[0], &boxes[i]))
                g.boxes[g.count++] = boxes[i];
            else
                boxes[left++] = boxes[i];
        move_all_joined(&g);
        move_all_columns(&g);
        if (g.count == 0 || move_sharing(&g)) continue;
        group all = all_of(&g, boxes, left);
        if (all.count > 1 && shares_lines(&all) && lead_with_common(&all, TS_DST)) {
            move_bands(&all);
            return;
        }
        for (int i = 0; i < g.count; i++) ts_move_box(m, &g.boxes[i]);
    }
}
