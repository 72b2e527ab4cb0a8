/* In which order the loops around a kernel turn, and which of them the kernel turns itself. */
#include <stdlib.h>

#include "copy_plan.h"

enum { AHEAD_BYTES = 1024, LINE_OF_MEMORY = 64, BAND_BYTES = 128, LONG_ROW = 4096 };

static int by_source(const void *left, const void *right) {
    int64_t a = llabs(((const ts_copy_loop *)left)->src_bits),
            b = llabs(((const ts_copy_loop *)right)->src_bits);
    return a > b ? -1 : a < b;
}

/* The loop whose steps are `step` bits on one side; -1. */
static int loop_of_step(const ts_copy_plan *j, ts_side side, int64_t step) {
    for (int i = 0; i < j->loop_count; i++)
        if ((side == TS_DST ? j->loops[i].dst_bits : j->loops[i].src_bits) == step) return i;
    return -1;
}

/* Is every store that passes the caches one of an aligned line, with the rest of its 64 bytes close behind?
 */
static bool can_stream(const ts_copy_plan *j, const ts_plan_box *box, bool continues) {
    const ts_tile *tile = &j->tile;
    int64_t all = (intptr_t)j->m->dst.bytes + box->dst_bits / 8;
    if (j->joins) return false;
    for (int i = 0; tile->masks && i < 1 << tile->stages; i++)
        if (tile->dst_mask[i] != 0 && tile->dst_mask[i] != UINT64_MAX) return false;
    for (int i = 0; i < j->loop_count; i++) all |= j->loops[i].dst_bits / 8;
    if (all % LINE_OF_MEMORY != 0) return false;
    for (int i = 0; i < tile->stages; i++) {
        if (tile->dst_line[1 << i] % tile->line_bytes != 0) return false;
        continues = continues || tile->dst_line[1 << i] == tile->line_bytes;
    }
    return continues || tile->line_bytes == LINE_OF_MEMORY;
}

/* The kernel walks `loop` too, around those it has: up to `most` iterations a call. */
static bool give(ts_copy_plan *j, int *slot, int loop, int64_t most) {
    if (loop < 0 || *slot < 0 || most < 2) return false;
    for (int i = *slot + 1; i < TS_TILE_LOOPS; i++)
        if (j->inner_loop[i] == loop) return false;
    j->loops[loop].most = j->loops[loop].count < most ? j->loops[loop].count : most;
    j->inner_loop[(*slot)--] = loop;
    return true;
}

/* How far ahead of what is read the next of it lies: of long rows more of the same, of short ones other rows.
 */
static int64_t find_ahead(const ts_copy_plan *j) {
    int64_t row = 0;
    for (int i = j->loop_count - 1; i >= 0; i--) {
        int64_t step = llabs(j->loops[i].src_bits) / 8;
        if (row > 0 && step != row)
            return row < LONG_ROW ? LONG_ROW / row * j->loops[i].src_bits / 8 : AHEAD_BYTES;
        row = step * j->loops[i].count;
    }
    return AHEAD_BYTES;
}

/* Orders the loops of a copy, and gives the innermost to the kernel. What is larger than the caches is read in the
 * order of the source; within a cache that of the destination, which the plan has, is as good. The kernel gets first
 * the loop that continues the lines it writes, so that whole lines of memory are written at once; where its lines are
 * shorter than the memory's, then the loop that continues the lines it reads; then the rest, innermost first. */
void ts_copy_plan_order(ts_copy_plan *j, const ts_plan_box *box) {
    const ts_copy_context *m = j->m;
    ts_tile *tile = &j->tile;
    bool continues = false, is_short = j->tile_function && tile->line_bytes < LINE_OF_MEMORY;
    int slot = TS_TILE_LOOPS - 1;
    int outermost = -1; /* the loop that the kernel gets bands of: it gets none outside it */
    if (!j->tile_function || j->fills) slot = 1;
    for (int i = 0; i < TS_TILE_LOOPS; i++) j->inner_loop[i] = -1;
    if (m->streams) qsort(j->loops, (size_t)j->loop_count, sizeof j->loops[0], by_source);
    int64_t lines = j->tile_function ? 1 << tile->stages : 1;
    int64_t line_bits = j->tile_function ? 8 * tile->line_bytes : 0; /* a run has no tile */
    int64_t together = lines < 8 ? 8 / lines : 1;
    if ((is_short || m->streams) && lines > 1) {
        int64_t band = BAND_BYTES / tile->line_bytes > together ? BAND_BYTES / tile->line_bytes : together;
        int loop = loop_of_step(j, TS_DST, line_bits);
        /* a whole loop, where it goes on in the source too */
        bool last = loop >= 0 && loop == j->loop_count - 1 &&
                    (m->streams || llabs(j->loops[loop].src_bits) <= 8 * LINE_OF_MEMORY);
        continues = give(j, &slot, loop, last ? INT64_MAX : band);
        if (continues && m->streams && j->loops[loop].count > j->loops[loop].most) outermost = loop;
    }
    j->streams = j->tile_function && m->streams && can_stream(j, box, continues);
    if (is_short && lines > 1) {
        int64_t src_bits =
            line_bits / (m->dst.element_bits < 8 ? 8 : m->dst.element_bits) * ts_copy_width(&m->src);
        int loop = loop_of_step(j, TS_SRC, src_bits);
        bool all = !continues && m->streams && loop == j->loop_count - 1;
        give(j, &slot, loop, all ? INT64_MAX : 2 * together);
    }
    for (int i = j->loop_count - 1; i > outermost; i--) give(j, &slot, i, INT64_MAX);
    tile->ahead_bytes = m->streams ? find_ahead(j) : m->ahead_bytes;
    j->narrow.ahead_bytes = tile->ahead_bytes;
}
