/* Lists of tiles: of a box with short loops, or of boxes that are moved together. */
#include "copy_plan.h"

enum { FEW_STEPS = 4, LARGE_STAGES = 3 };

/* The tiles within a step of the outermost loop; 0 where these cannot be listed. */
static int64_t count_tiles(const ts_copy_plan *j) {
    int64_t tiles = 1;
    if (!j->tile_function || !j->lists || j->fills || j->m->streams || j->loop_count < 2 ||
        j->loops[0].has_tail)
        return 0;
    for (int i = 1; i < j->loop_count && tiles <= TS_TILES_LISTED; i++)
        tiles *= j->loops[i].count + j->loops[i].has_tail;
    return tiles <= TS_TILES_LISTED ? tiles : 0;
}

static void list_tiles(ts_copy_plan *j, int64_t src_bits, int64_t dst_bits) {
    ts_tile_place *at = j->tile.list + j->tile.listed;
    int64_t used = 1;
    at[0] = (ts_tile_place){src_bits >> 3, dst_bits >> 3};
    for (int i = j->loop_count - 1; i >= 1; i--) {
        const ts_copy_loop *loop = &j->loops[i];
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
    j->tile.listed += (int)used;
}

/* Is its own list better than loops? Hosts do not foresee the ends of short ones, which costs as much as to move few
 * lines; a tail would read and write lines of its neighbours when the cache has lost them. */
static bool is_better_listed(const ts_copy_plan *j) {
    for (int i = 1; i < j->loop_count; i++)
        if (j->loops[i].has_tail) return true;
    return j->tile.stages < LARGE_STAGES && j->loops[j->loop_count - 1].count < FEW_STEPS;
}

/* The first box from number i on of whose tiles none is left and whose outermost loop is the same; the count of all where
 * there is none. */
static int find_alike(const ts_copy_plan *j, const ts_plan_box *box, int i) {
    const ts_box_list *list = j->others;
    int64_t times[TS_PLAN_MAX_LOOPS];
    for (; i < list->count; i++) {
        const ts_plan_box *other = &list->boxes[i];
        if (!list->taken[i] && other->loop_count > 0 &&
            ts_copy_is_same_loop(&box->loops[0], &other->loops[0]) && ts_copy_plan_serves(j, other, times) &&
            !ts_copy_leaves_rests(j->m, other, times))
            return i;
    }
    return i;
}

/* Adds the tiles of these, the first of them number i, as long as there is room. */
static void list_others(ts_copy_plan *j, const ts_plan_box *box, const ts_copy_loop *outer, int i) {
    ts_box_list *list = j->others;
    int64_t times[TS_PLAN_MAX_LOOPS];
    for (; i < list->count; i = find_alike(j, box, i + 1)) {
        const ts_plan_box *other = &list->boxes[i];
        if (!ts_copy_plan_match_again(j, other, times)) continue;
        const ts_copy_loop *loop = &j->loops[0];
        int64_t tiles = count_tiles(j);
        if (tiles == 0 || j->tile.listed + tiles > TS_TILES_LISTED || loop->count != outer->count ||
            loop->src_bits != outer->src_bits || loop->dst_bits != outer->dst_bits)
            continue;
        list->taken[i] = true;
        list_tiles(j, other->src_bits, other->dst_bits);
    }
}

void ts_copy_plan_run_box(ts_copy_plan *j, const ts_plan_box *box) {
    const bool can = count_tiles(j) > 0;
    const int first = can && j->others ? find_alike(j, box, j->others->next) : 0;
    const bool others = can && j->others && first < j->others->count;
    const ts_copy_loop outer = j->loops[0];
    ts_tile *tile = &j->tile;
    if (!others && !(can && is_better_listed(j))) {
        ts_copy_step_run(j, box->src_bits, box->dst_bits);
        return;
    }
    list_tiles(j, box->src_bits, box->dst_bits);
    if (others) list_others(j, box, &outer, first);
    tile->loops[0] = tile->loops[1] = (ts_kernel_loop){1, 0, 0};
    tile->loops[2] = (ts_kernel_loop){outer.count, outer.src_bits >> 3, outer.dst_bits >> 3};
    tile->loops[3] = (ts_kernel_loop){tile->listed, 0, 0};
    tile->streams = false;
    ts_copy_step_run(j, box->src_bits, box->dst_bits);
    tile->listed = 0;
}
