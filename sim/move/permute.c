/* Matching a box with a permute of blocks: its inner loops, where they stay within a few lines on both sides. */
#include <string.h>

#include "copy_plan.h"

enum { MOST_LINES = TS_PERMUTED / TS_LINE_BYTES, LEAST_BYTES_A_CLOCK = 6 };

typedef struct {
    int64_t src, dst; /* bytes that the elements taken so far lie in */
    int64_t bytes;    /* of these elements */
    int loops;
} window;

static int64_t at_least_one(int64_t n) { return n < 1 ? 1 : n; }

/* How many steps of a loop still lie within the lines. */
static int64_t fitting(const ts_plan_loop *loop, const window *w) {
    if (loop->src_bits <= 0 || loop->dst_bits <= 0) return 1;
    int64_t src = (TS_PERMUTED - w->src) / at_least_one(loop->src_bits / 8) + 1,
            dst = (TS_PERMUTED - w->dst) / at_least_one(loop->dst_bits / 8) + 1;
    return src < dst ? src : dst;
}

/* The loop not yet taken with the shortest steps; -1. */
static int next_loop(const ts_plan_box *box, const int64_t *times) {
    int next = -1;
    int64_t least = INT64_MAX;
    for (int i = 0; i < box->loop_count; i++) {
        int64_t src = box->loops[i].src_bits, dst = box->loops[i].dst_bits, step = src > dst ? src : dst;
        if (times[i] > 1 || box->loops[i].extent < 2 || src <= 0 || dst <= 0 || step >= least) continue;
        next = i;
        least = step;
    }
    return next;
}

/* Takes loops while they fit whole, and of the next as much as fits. */
static void take_loops(const ts_plan_box *box, int unit, int64_t *times, window *w) {
    *w = (window){.src = unit, .dst = unit, .bytes = unit};
    for (int i = 0; i < box->loop_count; i++) times[i] = 1;
    for (int i = next_loop(box, times); i >= 0; i = next_loop(box, times)) {
        int64_t extent = box->loops[i].extent, fit = fitting(&box->loops[i], w);
        times[i] = extent < fit ? extent : fit;
        w->src += (times[i] - 1) * box->loops[i].src_bits / 8;
        w->dst += (times[i] - 1) * box->loops[i].dst_bits / 8;
        w->bytes *= times[i];
        w->loops += times[i] > 1;
        if (times[i] < extent) return;
    }
}

/* Where the elements lie on each side, from the first. */
static int list_elements(const ts_plan_box *box, const int64_t *times, uint8_t *src, uint8_t *dst) {
    int used = 1;
    src[0] = dst[0] = 0;
    for (int i = 0; i < box->loop_count; i++) {
        const int all = used * (int)times[i];
        const uint8_t src_step = (uint8_t)(box->loops[i].src_bits / 8),
                      dst_step = (uint8_t)(box->loops[i].dst_bits / 8);
        for (int n = used; n < all; n++) {
            src[n] = (uint8_t)(src[n - used] + src_step);
            dst[n] = (uint8_t)(dst[n - used] + dst_step);
        }
        used = all;
    }
    return used;
}

/* Sets the bits that `some` has, so many bits higher. */
static void add_shifted(uint64_t *mask, const uint64_t *some, int64_t by) {
    int64_t words = by / 64, bits = by % 64;
    for (int64_t i = MOST_LINES - 1; i >= words; i--) {
        uint64_t below = i > words ? some[i - words - 1] >> 1 >> (63 - bits) : 0;
        mask[i] |= some[i - words] << bits | below;
    }
}

/* The bytes of a side's lines that the elements are in: those of so many steps of a loop at once, twice as many each
 * time. */
static void set_mask(const ts_plan_box *box, const int64_t *times, ts_side side, int unit, uint64_t *mask) {
    memset(mask, 0, MOST_LINES * sizeof *mask);
    mask[0] = (UINT64_C(1) << unit) - 1;
    for (int i = 0; i < box->loop_count; i++) {
        int64_t step = ts_plan_step_bits(&box->loops[i], side) / 8;
        for (int64_t have = 1, more; have < times[i]; have += more) {
            uint64_t some[MOST_LINES];
            memcpy(some, mask, sizeof some);
            more = have < times[i] - have ? have : times[i] - have;
            add_shifted(mask, some, more * step);
        }
    }
}

static void set_bytes(ts_tile *tile, const ts_plan_box *box, const int64_t *times, int unit) {
    uint8_t src[TS_PERMUTED], dst[TS_PERMUTED];
    int count = list_elements(box, times, src, dst);
    set_mask(box, times, TS_SRC, unit, tile->src_mask);
    set_mask(box, times, TS_DST, unit, tile->dst_mask);
    for (int k = 0; k < unit; k++)
        for (int n = 0; n < count; n++) tile->permute.from[dst[n] + k] = (uint8_t)(src[n] + k);
}

/* Clocks that a block takes: of more than two lines each is permuted twice. */
static int64_t clocks_of(const window *w) {
    int64_t lines = (w->dst + TS_LINE_BYTES - 1) / TS_LINE_BYTES;
    return lines * (w->src > 2 * TS_LINE_BYTES ? 5 : 3) + 1;
}

/* Does it fill most of the lines, and is it more than a run? */
static bool pays(const window *w) {
    int64_t longer = w->src > w->dst ? w->src : w->dst;
    return w->loops > 1 && w->bytes >= clocks_of(w) * LEAST_BYTES_A_CLOCK && w->bytes * 3 >= longer * 2;
}

bool ts_copy_plan_match_permute(ts_copy_plan *j, const ts_plan_box *box, int64_t *times) {
    const ts_tile_kernels *kernels = j->m->kernels->tiles[0];
    int unit = j->m->dst.element_bits / 8;
    window w;
    if (!kernels->permutes) return false;
    take_loops(box, unit, times, &w);
    if (!pays(&w)) return false;
    ts_copy_plan_set_loops(j, box, times);
    if (!ts_copy_plan_steps_by(j, box, 8, 8)) return false;
    set_bytes(&j->tile, box, times, unit);
    j->tile.line_bytes = TS_LINE_BYTES;
    j->tile.stages = w.dst > 2 * TS_LINE_BYTES ? 2 : w.dst > TS_LINE_BYTES;
    j->tile.masks = true;
    for (int i = 0; i < MOST_LINES; i++) j->tile.src_line[i] = j->tile.dst_line[i] = i * TS_LINE_BYTES;
    j->fills = j->joins = false;
    j->kernels = kernels;
    int sources = w.src > 2 * TS_LINE_BYTES ? 3 : w.src > TS_LINE_BYTES ? 2 : 1;
    if (w.src <= TS_LINE_BYTES / 2 && w.dst <= TS_LINE_BYTES / 2) sources = 0;
    j->tile_function = kernels->permutes[sources][(w.dst - 1) / TS_LINE_BYTES];
    return true;
}
