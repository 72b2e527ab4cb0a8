/* The order of the loops around a kernel, and which of them the kernel runs itself. */
#include <stdlib.h>

#include "copy_plan.h"

#include "base/number.h"

enum {
    AHEAD_BYTES = 1024, /* of a source whose elements are no wider than those they become */
    BAND_BYTES = 128,
    LONG_ROW = 4096,
    RUN_LOOPS = 2,
    MANY_CALLS = 32,
    LITTLE_BYTES = 4096,
    MANY_LINES = 64
};

static int by_source(const void *left, const void *right) {
    int64_t a = llabs(((const ts_copy_loop *)left)->src_bits),
            b = llabs(((const ts_copy_loop *)right)->src_bits);
    return a > b ? -1 : a < b;
}

static int by_count(const void *left, const void *right) {
    int64_t a = ((const ts_copy_loop *)left)->count, b = ((const ts_copy_loop *)right)->count;
    return a < b ? -1 : a > b;
}

/* Would the loops around those that a kernel of runs has itself call it so often, for so little, that this
 * takes longer than to move them in another order? */
static bool calls_often(const ts_copy_plan *copy) {
    if (copy->tile_function) return false;
    int64_t calls = 1, bytes = copy->run_bytes;
    for (int i = 0; i < copy->loop_count; i++)
        *(i + RUN_LOOPS < copy->loop_count ? &calls : &bytes) *= copy->loops[i].count;
    return calls > MANY_CALLS && bytes < LITTLE_BYTES;
}

/* Runs in caches, not longer than a line, that follow each other in the destination, of which each lies in
 * another line of the source: more of them than it has lines at hand. Those that follow each other in the
 * source are then innermost, if they are fewer. */
static void read_in_order(ts_copy_plan *copy) {
    if (copy->tile_function || copy->m->streams || copy->loop_count < RUN_LOOPS ||
        copy->run_bytes > TS_CACHE_LINE_BYTES)
        return;
    ts_copy_loop *last = &copy->loops[copy->loop_count - 1];
    if (last->count <= MANY_LINES || llabs(last->src_bits) < 8 * TS_CACHE_LINE_BYTES) return;
    for (ts_copy_loop *loop = copy->loops; loop < last; loop++) {
        if (loop->src_bits != copy->run_elements * copy->m->src.element_bits || loop->count >= last->count)
            continue;
        ts_copy_loop inner = *loop;
        for (; loop < last; loop++) loop[0] = loop[1];
        *last = inner;
    }
}

/* The loop whose steps are `step` bits on one side; -1. */
static int loop_of_step(const ts_copy_plan *copy, ts_side side, int64_t step) {
    for (int i = 0; i < copy->loop_count; i++)
        if ((side == TS_DST ? copy->loops[i].dst_bits : copy->loops[i].src_bits) == step) return i;
    return -1;
}

/* Do all lines of tiles begin where those of memory do, or where shorter ones end that began there? */
static bool is_aligned(const ts_copy_plan *copy, const ts_plan_box *box) {
    const ts_tile *tile = &copy->tile;
    int64_t all = (intptr_t)copy->m->dst.bytes + box->dst_bits / 8;
    for (int i = 0; i < copy->loop_count; i++) all |= copy->loops[i].dst_bits / 8;
    for (int i = 0; i < tile->stages; i++) all |= tile->dst_line[1 << i] % tile->line_bytes;
    return all % TS_CACHE_LINE_BYTES == 0;
}

/* Is every store that passes the caches one of an aligned line, with the rest of its 64 bytes close
 * behind? */
static bool can_stream(const ts_copy_plan *copy, bool continues) {
    const ts_tile *tile = &copy->tile;
    if (copy->joins) return false;
    for (int i = 0; tile->masks && i < 1 << tile->stages; i++)
        if (tile->dst_mask[i] != 0 && tile->dst_mask[i] != UINT64_MAX) return false;
    for (int i = 0; i < tile->stages; i++)
        continues = continues || tile->dst_line[1 << i] == tile->line_bytes;
    return continues || tile->line_bytes == TS_CACHE_LINE_BYTES;
}

/* The kernel runs `loop` too, around those it has: up to `most` iterations a call. */
static bool give(ts_copy_plan *copy, int *slot, int loop, int64_t most) {
    if (loop < 0 || *slot < 0 || most < 2) return false;
    for (int i = *slot + 1; i < TS_TILE_LOOPS; i++)
        if (copy->inner_loop[i] == loop) return false;
    copy->loops[loop].most = copy->loops[loop].count < most ? copy->loops[loop].count : most;
    copy->inner_loop[(*slot)--] = loop;
    return true;
}

/* How far ahead of what is read the next of it lies: of long rows more of the same, of short ones other
 * rows. */
static int64_t find_ahead(const ts_copy_plan *copy) {
    const int64_t narrows = ts_max(ts_copy_width(&copy->m->src) / ts_copy_width(&copy->m->dst), 1);
    int64_t row = 0, ahead = narrows * AHEAD_BYTES;
    for (int i = copy->loop_count - 1; i >= 0; i--) {
        int64_t step = llabs(copy->loops[i].src_bits) / 8;
        if (row > 0 && step != row)
            return row < LONG_ROW ? LONG_ROW / row * copy->loops[i].src_bits / 8 : ahead;
        row = step * copy->loops[i].count;
    }
    return ahead;
}

/* What the kernel loops over itself: its tiles, or a run. */
typedef struct {
    int slot;                 /* of the next loop that it gets; -1: none is free */
    int64_t lines, line_bits; /* of a tile; a run is one, and has none of a tile's */
    int64_t tiles;            /* that make eight lines */
    bool is_short;            /* its lines are shorter than the memory's */
} inner;

static inner inner_of(const ts_copy_plan *copy) {
    if (!copy->tile_function) return (inner){.slot = 1, .lines = 1, .tiles = 8};
    int64_t lines = 1 << copy->tile.stages;
    return (inner){.slot = copy->fills ? 1 : TS_TILE_LOOPS - 1,
                   .lines = lines,
                   .line_bits = 8 * copy->tile.line_bytes,
                   .tiles = lines < 8 ? 8 / lines : 1,
                   .is_short = copy->tile.line_bytes < TS_CACHE_LINE_BYTES};
}

/* The loop that continues the lines it writes, so that whole lines of memory are written at once: all of it
 * where it goes on in the source too, else bands. Is there one? `outermost` is it if the kernel gets bands of
 * a stream. */
static bool give_written(ts_copy_plan *copy, inner *in, int *outermost) {
    const ts_copy_context *m = copy->m;
    if (in->lines < 2 || !(in->is_short || m->streams)) return false;
    int64_t band =
        BAND_BYTES / copy->tile.line_bytes > in->tiles ? BAND_BYTES / copy->tile.line_bytes : in->tiles;
    int loop = loop_of_step(copy, TS_DST, in->line_bits);
    bool all = loop >= 0 && loop == copy->loop_count - 1 &&
               (m->streams || llabs(copy->loops[loop].src_bits) <= 8 * TS_CACHE_LINE_BYTES);
    if (!give(copy, &in->slot, loop, all ? INT64_MAX : band)) return false;
    if (m->streams && copy->loops[loop].count > copy->loops[loop].most) *outermost = loop;
    return true;
}

/* Where its lines are shorter than the memory's, the loop that continues the lines it reads. */
static void give_read(ts_copy_plan *copy, inner *in, bool continues) {
    const ts_copy_context *m = copy->m;
    if (in->lines < 2 || !in->is_short) return;
    int64_t step = in->line_bits / ts_copy_width(&m->dst) * ts_copy_width(&m->src);
    int loop = loop_of_step(copy, TS_SRC, step);
    bool all = !continues && m->streams && loop == copy->loop_count - 1;
    give(copy, &in->slot, loop, all ? INT64_MAX : 2 * in->tiles);
}

/* The kernel gets first what continues its lines; then the rest, innermost first. */
static void give_loops(ts_copy_plan *copy, bool aligned) {
    inner in = inner_of(copy);
    int outermost = -1; /* the kernel gets no loop outside it */
    bool continues = give_written(copy, &in, &outermost);
    copy->streams = aligned && can_stream(copy, continues);
    give_read(copy, &in, continues);
    for (int i = copy->loop_count - 1; i > outermost; i--) give(copy, &in.slot, i, INT64_MAX);
}

/* Orders the loops of a copy, and gives the innermost to the kernel. What is larger than the caches is read
 * in the order of the source; within a cache that of the destination, which the plan has, is as good. */
void ts_copy_plan_order(ts_copy_plan *copy, const ts_plan_box *box) {
    const ts_copy_context *m = copy->m;
    const bool passes = copy->tile_function && m->streams, aligned = passes && is_aligned(copy, box);
    copy->streams = false;
    for (int i = 0; i < TS_TILE_LOOPS; i++) copy->inner_loop[i] = -1;
    if (m->streams || calls_often(copy))
        qsort(copy->loops, (size_t)copy->loop_count, sizeof copy->loops[0],
              m->streams ? by_source : by_count);
    read_in_order(copy);
    copy->in_runs = passes && !aligned && ts_copy_plan_go_in_runs(copy);
    if (!copy->in_runs) give_loops(copy, aligned);
    copy->tile.ahead_bytes = m->streams ? find_ahead(copy) : m->ahead_bytes;
    copy->narrow.ahead_bytes = copy->tile.ahead_bytes;
    ts_copy_plan_set_call(copy);
}
