/* Matching a box with a permute of blocks whose runs lie apart: of a few rows or columns. */
#include <string.h>

#include "copy_plan.h"

enum {
    MOST_BYTES = 64 * TS_LANE_VECTORS,
    MOST_CLOCKS = 12, /* for 64 bytes */
    LEAST_COUNT = 5,
    MOST_SHORT_BYTES = 20,
    LEAST_SMALL_BYTES = 256,
    MOST_SMALL_BYTES = 640
};

/* How many steps of each loop are taken. */
typedef struct {
    int64_t times[TS_PLAN_MAX_LOOPS];
    int64_t clocks, bytes;
} block;

/* The loop whose steps are so many bits, and of which so far no step is taken; -1. */
static int find_loop(const ts_plan_box *box, ts_side side, const int64_t *times, int64_t bits) {
    for (int i = 0; i < box->loop_count; i++)
        if (times[i] == 1 && box->loops[i].extent > 1 && ts_plan_step_bits(&box->loops[i], side) == bits)
            return i;
    return -1;
}

/* Fewer steps, so that runs of the other side fill lanes. */
static int64_t round_steps(int64_t steps, int64_t run_bytes) {
    static const int64_t lanes[] = {64, 32, 16};
    for (int i = 0; i < 3; i++)
        if (run_bytes * steps >= lanes[i] && lanes[i] % run_bytes == 0) return lanes[i] / run_bytes;
    return steps;
}

/* Takes the loops that continue a run of one side, the last in part. */
static void take_run(const ts_plan_box *box, ts_side side, int unit, int64_t most, block *b) {
    const ts_side other = side == TS_SRC ? TS_DST : TS_SRC;
    int64_t next = 8 * unit, run = unit;
    b->bytes = unit;
    for (int i = 0; i < box->loop_count; i++) b->times[i] = 1;
    for (int i = find_loop(box, side, b->times, next); i >= 0; i = find_loop(box, side, b->times, next)) {
        int64_t extent = box->loops[i].extent, steps = most / b->bytes;
        bool continues = ts_plan_step_bits(&box->loops[i], other) == 8 * run;
        if (steps >= extent)
            steps = extent;
        else if (continues)
            steps = round_steps(steps, run);
        if (steps < 2) return;
        b->times[i] = steps;
        b->bytes *= steps;
        if (continues) run *= steps;
        if (steps < extent) return;
        next *= extent;
    }
}

/* The vectors of a side, and where each loop's steps lie in them: bytes from the first, one vector behind the
 * other. */
static void set_side(const ts_plan_box *box, const block *b, ts_side side, int unit, ts_lane_side *lanes,
                     int64_t *steps) {
    int64_t run = unit, left[TS_PLAN_MAX_LOOPS], used = 1;
    memcpy(left, b->times, sizeof left);
    for (int i = 0; i < box->loop_count; i++) {
        if (left[i] == 1 || ts_plan_step_bits(&box->loops[i], side) != 8 * run) continue;
        steps[i] = run;
        run *= left[i];
        left[i] = 1;
        i = -1;
    }
    int64_t pitch = run == 16 || run == 32 ? run : (run + 63) / 64 * 64;
    lanes->lanes = (int)(pitch < 64 ? 64 / pitch : 1);
    lanes->run_bytes = (int)run;
    for (int i = 0; i < box->loop_count; i++) {
        if (left[i] == 1) continue;
        steps[i] = used * pitch;
        used *= left[i];
    }
    lanes->runs = (int)used;
    lanes->vectors = (int)((used * pitch + 63) / 64);
}

/* About what a block takes. */
static int64_t count_clocks(const ts_lane_permute *p) {
    static const int load[] = {0, 2, 3, 0, 5}, store[] = {0, 3, 4, 0, 8}; /* by lanes */
    return p->src.vectors * load[p->src.lanes] +
           p->dst.vectors * (p->src.vectors * 3 / 4 + 1 + store[p->dst.lanes]);
}

/* Where lanes begin, and the bytes of each vector that are whole runs or pieces of them. */
static void set_begins(const ts_plan_box *box, const block *b, ts_side side, const int64_t *steps,
                       ts_lane_side *lanes) {
    const int pieces = lanes->lanes > 1 ? 1 : (lanes->run_bytes + 63) / 64;
    int used = 1;
    lanes->begin[0] = 0;
    for (int i = 0; i < box->loop_count; i++) {
        if (b->times[i] == 1 || steps[i] < lanes->run_bytes) continue;
        int64_t step = ts_plan_step_bits(&box->loops[i], side) / 8;
        for (int n = used; n < used * b->times[i]; n++)
            lanes->begin[n * pieces] = lanes->begin[(n - used) * pieces] + step;
        used *= (int)b->times[i];
    }
    for (int n = 0; n < used * pieces; n++) {
        int piece = n % pieces, bytes = lanes->run_bytes - 64 * piece;
        lanes->begin[n] = lanes->begin[n - piece] + 64 * piece;
        if (lanes->lanes == 1) lanes->mask[n] = bytes < 64 ? (UINT64_C(1) << bytes) - 1 : UINT64_MAX;
    }
    for (int n = used; lanes->lanes > 1 && n % lanes->lanes != 0; n++)
        lanes->begin[n] = lanes->begin[n - n % lanes->lanes]; /* the first again */
}

/* Of each byte of the destination's vectors, which one of the source's it is. */
static void set_from(const ts_plan_box *box, const block *b, int unit, const int64_t *src_steps,
                     const int64_t *dst_steps, ts_lane_permute *p) {
    uint16_t src[MOST_BYTES], dst[MOST_BYTES];
    int used = 1;
    src[0] = dst[0] = 0;
    for (int i = 0; i < box->loop_count; i++) {
        const int all = used * (int)b->times[i];
        for (int n = used; b->times[i] > 1 && n < all; n++) {
            src[n] = (uint16_t)(src[n - used] + src_steps[i]);
            dst[n] = (uint16_t)(dst[n - used] + dst_steps[i]);
        }
        used = all;
    }
    memset(p->from, 0xff, sizeof p->from);
    for (int k = 0; k < unit; k++)
        for (int n = 0; n < used; n++) p->from[dst[n] + k] = (uint16_t)(src[n] + k);
    for (int n = p->dst.runs; p->dst.lanes > 1 && n % p->dst.lanes != 0; n++) {
        int bytes = p->dst.run_bytes;
        memcpy(p->from + n * bytes, p->from + (n - n % p->dst.lanes) * bytes, 2 * (size_t)bytes);
    }
}

static bool is_odd(int64_t count) { return (count & (count - 1)) != 0; }

/* Does a side begin with a few elements whose number is no power of two, or do both with the same small block? Others
 * have faster kernels. */
static bool is_fit(const ts_plan_box *box, int unit) {
    block src, dst;
    bool odd = true;
    for (int i = 0; i < box->loop_count; i++) src.times[i] = 1;
    for (int side = TS_SRC; side <= TS_DST; side++) {
        int i = find_loop(box, (ts_side)side, src.times, 8 * unit);
        int64_t count = i < 0 ? 1 : box->loops[i].extent;
        odd = odd && is_odd(count);
        if (is_odd(count) && count >= LEAST_COUNT && count * unit <= MOST_SHORT_BYTES && unit <= 2)
            return true;
    }
    if (!odd) return false;
    take_run(box, TS_SRC, unit, MOST_SMALL_BYTES, &src);
    take_run(box, TS_DST, unit, MOST_SMALL_BYTES, &dst);
    for (int i = 0; i < box->loop_count; i++)
        if (src.times[i] != dst.times[i] || (src.times[i] > 1 && src.times[i] < box->loops[i].extent))
            return false;
    return src.bytes >= LEAST_SMALL_BYTES;
}

/* The block of most bytes a clock, if it is fast enough. */
static bool choose_block(const ts_plan_box *box, int unit, ts_lane_permute *p, block *best) {
    int64_t steps[TS_PLAN_MAX_LOOPS];
    *best = (block){.bytes = 0};
    for (int64_t most = MOST_BYTES; most >= MOST_BYTES / 2; most /= 2) {
        for (int side = TS_SRC; side <= TS_DST; side++) {
            block b;
            take_run(box, (ts_side)side, unit, most, &b);
            set_side(box, &b, TS_SRC, unit, &p->src, steps);
            set_side(box, &b, TS_DST, unit, &p->dst, steps);
            if (p->src.vectors > TS_LANE_VECTORS || p->dst.vectors > TS_LANE_VECTORS) continue;
            b.clocks = count_clocks(p);
            if (b.clocks * 64 < b.bytes * MOST_CLOCKS && b.clocks * best->bytes <= best->clocks * b.bytes)
                *best = b;
        }
    }
    return best->bytes > 0;
}

static void set_permute(const ts_plan_box *box, const block *b, int unit, ts_lane_permute *p) {
    int64_t src_steps[TS_PLAN_MAX_LOOPS], dst_steps[TS_PLAN_MAX_LOOPS];
    set_side(box, b, TS_SRC, unit, &p->src, src_steps);
    set_side(box, b, TS_DST, unit, &p->dst, dst_steps);
    set_begins(box, b, TS_SRC, src_steps, &p->src);
    set_begins(box, b, TS_DST, dst_steps, &p->dst);
    set_from(box, b, unit, src_steps, dst_steps, p);
}

bool ts_copy_plan_match_lanes(ts_copy_plan *j, const ts_plan_box *box, int64_t *times) {
    const ts_tile_kernels *kernels = j->m->kernels->tiles[0];
    ts_lane_permute *p = &j->tile.lanes;
    int unit = j->m->dst.element_bits / 8;
    block best;
    if (!kernels->permute_lanes || !is_fit(box, unit) || !choose_block(box, unit, p, &best)) return false;
    memcpy(times, best.times, (size_t)box->loop_count * sizeof *times);
    ts_copy_plan_set_loops(j, box, times);
    if (!ts_copy_plan_steps_by(j, box, 8, 8)) return false;
    set_permute(box, &best, unit, p);
    j->tile.line_bytes = TS_LINE_BYTES;
    j->tile.stages = 0;
    j->tile.masks = j->fills = j->joins = false;
    j->kernels = kernels;
    j->tile_function = kernels->permute_lanes[p->src.lanes / 2][p->dst.lanes / 2][p->src.vectors - 1];
    return true;
}
