/* Tiles whose lines are parts of long runs of the destination, which lie anywhere in lines of memory. */
#include <stdlib.h>
#include <string.h>

#include "copy_plan.h"

#include "base/number.h"

/* Shorter runs are mostly ends. A kernel that goes to another of many runs with each short piece, and to
 * other pages, is slower than a scratch. */
enum { LEAST_RUN = 256, MANY_RUNS = 8, SHORT_PIECE = 256, NEAR_BYTES = 64 << 10 };

/* The loop around number `inner` whose steps are so many bits; -1. */
static int find_along(const ts_copy_plan *copy, int inner, int64_t bits) {
    for (int i = 0; i < inner; i++)
        if (copy->loops[i].dst_bits == bits && copy->loops[i].count > 1) return i;
    return -1;
}

/* Finds the loops that continue runs, each around the one before; first: the number of that which is the
 * kernel's first. False where none is the last. */
static bool find_loops(ts_copy_plan *copy, int first) {
    ts_tile_runs *runs = &copy->tile.runs;
    int64_t bits = 8 * copy->tile.line_bytes;
    memset(runs, 0, sizeof *runs);
    for (int i = find_along(copy, copy->loop_count, bits); i >= 0 && i >= first;
         i = find_along(copy, i, bits)) {
        runs->along[i - first] = true;
        bits *= copy->loops[i].count;
    }
    runs->bytes = bits / 8;
    return runs->along[TS_TILE_LOOPS - 1] && runs->bytes >= LEAST_RUN;
}

/* The kernel's first loop that continues runs: within it runs are begun and not ended. */
static int outermost_of(const ts_tile_runs *runs) {
    int k = 0;
    while (!runs->along[k]) k++;
    return k;
}

/* Are there many runs, far from each other, of which the kernel stores little before it goes to another? */
static bool is_scattered(const ts_copy_plan *copy, int first) {
    const ts_tile_runs *runs = &copy->tile.runs;
    int64_t piece = copy->tile.line_bytes, count = 1 << copy->tile.stages, reach = 0;
    for (int k = TS_TILE_LOOPS - 1; k >= 0 && runs->along[k]; k--) piece *= copy->loops[first + k].count;
    for (int k = outermost_of(runs); k < TS_TILE_LOOPS; k++) {
        const ts_copy_loop *loop = &copy->loops[first + k];
        if (runs->along[k]) continue;
        count *= loop->count;
        reach += (loop->count - 1) * llabs(loop->dst_bits) / 8;
    }
    return piece < SHORT_PIECE && count > MANY_RUNS && reach > NEAR_BYTES;
}

/* Gives the kernel its loops: of those between the runs' no more than it can keep lines for. */
static void give_loops(ts_copy_plan *copy, int first) {
    ts_tile_runs *runs = &copy->tile.runs;
    const int outermost = outermost_of(runs);
    int64_t kept = 1 << copy->tile.stages;
    for (int k = TS_TILE_LOOPS - 1; k >= 0 && first + k >= 0; k--) {
        ts_copy_loop *loop = &copy->loops[first + k];
        loop->most = loop->count;
        copy->inner_loop[k] = first + k;
        if (k < outermost || runs->along[k]) continue;
        runs->kept_step[k] = (int)kept;
        loop->most = ts_min(TS_KEPT_LINES / kept, loop->count);
        kept *= loop->most;
    }
    if (first + outermost > 0) runs->next = copy->loops[first + outermost - 1].dst_bits / 8;
}

bool ts_copy_plan_go_in_runs(ts_copy_plan *copy) {
    const int first = copy->loop_count - TS_TILE_LOOPS;
    if (!copy->runs_function || copy->fills || copy->joins || !find_loops(copy, first) ||
        is_scattered(copy, first))
        return false;
    give_loops(copy, first);
    return true;
}

void ts_copy_plan_set_runs(ts_copy_plan *copy) {
    ts_tile_runs *runs = &copy->tile.runs;
    memcpy(copy->tile.loops, copy->inner, sizeof copy->inner);
    runs->bytes = copy->tile.line_bytes - runs->lacks;
    for (int k = 0; k < TS_TILE_LOOPS; k++)
        if (runs->along[k]) runs->bytes += (copy->inner[k].count - 1) * copy->inner[k].dst_step;
}
