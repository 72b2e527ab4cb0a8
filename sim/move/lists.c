/* Lists of tiles: of a box with short loops, or of boxes that are moved together. */
#include "copy_plan.h"

enum { FEW_STEPS = 4, LARGE_STAGES = 3 };

/* The tiles of the loops from number `first` on; more than can be listed where these are too many. */
static int64_t count_from(const ts_copy_plan *copy, int first) {
    int64_t tiles = 1;
    for (int i = first; i < copy->loop_count && tiles <= TS_TILES_LISTED; i++)
        tiles *= copy->loops[i].count + copy->loops[i].has_tail;
    return tiles;
}

/* Can they be listed: those within the outermost loop (1), or of all loops (0)? */
static bool can_list(const ts_copy_plan *copy, int first) {
    return copy->tile_function && copy->lists && !copy->fills && !copy->m->streams &&
           (first == 0 || (copy->loop_count > 1 && !copy->loops[0].has_tail)) &&
           count_from(copy, first) <= TS_TILES_LISTED;
}

/* The loop around those, of one step where there is none. */
static ts_copy_loop outer_of(const ts_copy_plan *copy, int first) {
    return first > 0 ? copy->loops[0] : (ts_copy_loop){.count = 1};
}

static void list_tiles(ts_copy_plan *copy, int first, int64_t src_bits, int64_t dst_bits) {
    ts_tile_place *at = copy->tile.list + copy->tile.listed;
    int64_t used = 1;
    at[0] = (ts_tile_place){src_bits >> 3, dst_bits >> 3};
    for (int i = copy->loop_count - 1; i >= first; i--) {
        const ts_copy_loop *loop = &copy->loops[i];
        const int64_t steps = loop->count + loop->has_tail;
        for (int64_t n = 1; n < steps; n++) {
            bool is_tail = n == loop->count;
            int64_t src = (is_tail ? loop->tail_src_bits : n * loop->src_bits) >> 3,
                    dst = (is_tail ? loop->tail_dst_bits : n * loop->dst_bits) >> 3;
            for (int64_t k = 0; k < used; k++)
                at[n * used + k] = (ts_tile_place){at[k].src + src, at[k].dst + dst};
        }
        used *= steps;
    }
    copy->tile.listed += (int)used;
}

/* Is its own list better than loops? Hosts do not foresee the ends of short ones, which costs as much as to
 * move few lines; a tail would read and write lines of its neighbours when the cache has lost them. */
static bool is_better_listed(const ts_copy_plan *copy, int first) {
    for (int i = first; i < copy->loop_count; i++)
        if (copy->loops[i].has_tail) return true;
    return copy->tile.stages < LARGE_STAGES && copy->loop_count > 1 &&
           copy->loops[copy->loop_count - 1].count < FEW_STEPS;
}

/* The first box from number i on of whose tiles none is left, and whose outermost loop is the same where the
 * list is of a step of that; the count of all where there is none. */
static int find_alike(const ts_copy_plan *copy, const ts_plan_box *box, int first, int i) {
    const ts_box_list *list = copy->others;
    int64_t times[TS_PLAN_MAX_LOOPS];
    for (; i < list->count; i++) {
        const ts_plan_box *other = &list->boxes[i];
        if (!list->taken[i] &&
            (first == 0 ||
             (other->loop_count > 0 && ts_copy_is_same_loop(&box->loops[0], &other->loops[0]))) &&
            ts_copy_plan_serves(copy, other, times) && !ts_copy_leaves_rests(copy->m, other, times))
            return i;
    }
    return i;
}

/* Are all tiles that the loop goes over those of `first`? */
static bool is_alike(const ts_copy_plan *copy, int first, const ts_copy_loop *outer) {
    const ts_copy_loop loop = outer_of(copy, first);
    return loop.count == outer->count && loop.src_bits == outer->src_bits && loop.dst_bits == outer->dst_bits;
}

/* Adds the tiles of these, the first of them number i, as long as there is room. */
static void list_others(ts_copy_plan *copy, const ts_plan_box *box, int first, int i) {
    ts_box_list *list = copy->others;
    const ts_copy_loop outer = outer_of(copy, first);
    int64_t times[TS_PLAN_MAX_LOOPS];
    for (; i < list->count; i = find_alike(copy, box, first, i + 1)) {
        const ts_plan_box *other = &list->boxes[i];
        if (!ts_copy_plan_match_again(copy, other, times) || !can_list(copy, first) ||
            copy->tile.listed + count_from(copy, first) > TS_TILES_LISTED || !is_alike(copy, first, &outer))
            continue;
        list->taken[i] = true;
        list_tiles(copy, first, other->src_bits, other->dst_bits);
    }
}

/* next: the first of the others; -1: there are none. */
static void run_list(ts_copy_plan *copy, const ts_plan_box *box, int first, int next) {
    const ts_copy_loop outer = outer_of(copy, first);
    ts_tile *tile = &copy->tile;
    list_tiles(copy, first, box->src_bits, box->dst_bits);
    if (next >= 0) list_others(copy, box, first, next);
    tile->loops[0] = tile->loops[1] = (ts_kernel_loop){1, 0, 0};
    tile->loops[2] = (ts_kernel_loop){outer.count, outer.src_bits >> 3, outer.dst_bits >> 3};
    tile->loops[3] = (ts_kernel_loop){tile->listed, 0, 0};
    tile->streams = false;
    ts_copy_step_run(copy, box->src_bits, box->dst_bits);
    tile->listed = 0;
}

/* Lists the box with others, or alone; false where neither can be, or pays. */
static bool list_box(ts_copy_plan *copy, const ts_plan_box *box, int first, bool alone) {
    const int count = copy->others && !alone ? copy->others->count : 0;
    if (!can_list(copy, first)) return false;
    const int next = count > 0 ? find_alike(copy, box, first, copy->others->next) : 0;
    if (alone ? !is_better_listed(copy, first) : next == count) return false;
    run_list(copy, box, first, alone ? -1 : next);
    return true;
}

void ts_copy_plan_run_box(ts_copy_plan *copy, const ts_plan_box *box) {
    if (list_box(copy, box, 1, false) || list_box(copy, box, 0, false) || list_box(copy, box, 1, true) ||
        list_box(copy, box, 0, true))
        return;
    ts_copy_step_run(copy, box->src_bits, box->dst_bits);
}
