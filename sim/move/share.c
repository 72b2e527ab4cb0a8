/* A move by several threads: no byte of the destination has two writers. */
#include <stdlib.h>

#include "copy_plan.h"
#include "base/threads.h"

enum {
    MANY_BOXES = 16,  /* a thread; then each takes whole ones */
    SHARE_STEP = 128, /* a multiple of what a kernel takes of a loop at once */
};

typedef struct {
    const ts_copy_context *m;
    const ts_plan *plan;
} work;

/* Do no two elements of the box, one inside a range of its loops and one outside, share a byte? */
static bool owns_bytes(const ts_copy_context *m, const ts_plan_box *box) {
    int64_t bits = box->dst_bits, inside = m->dst.element_bits;
    if (inside % 8 == 0) return true;
    for (int i = box->loop_count - 1; i >= 0; i--)
        if (inside < 8 && box->loops[i].dst_bits == inside)
            inside *= box->loops[i].extent;
        else
            bits |= box->loops[i].dst_bits;
    return (bits | inside) % 8 == 0;
}

/* Leaves of the box a share of its outermost loop; false when that is nothing. What cannot be shared is the
 * first's. */
static bool take_share(const ts_copy_context *m, ts_plan_box *box, int share, int threads) {
    ts_plan_loop *loop = box->loops, *end = box->loops + box->loop_count;
    while (loop < end && loop->extent < threads) loop++;
    if (loop == end || llabs(loop->dst_bits) < 8 || !owns_bytes(m, box)) return share == 0;
    int64_t step = loop->extent < (int64_t)threads * SHARE_STEP ? 1 : SHARE_STEP, steps = loop->extent / step;
    int64_t first = steps * share / threads * step, last = steps * (share + 1) / threads * step;
    if (share == threads - 1) last = loop->extent;
    box->src_bits += first * loop->src_bits;
    box->dst_bits += first * loop->dst_bits;
    loop->extent = last - first;
    return true;
}

/* Those that come later for which the copy plan serves again, before it is matched with others. */
static void move_alike(ts_copy_plan *copy, ts_box_list *list) {
    int64_t times[TS_PLAN_MAX_LOOPS];
    for (int i = list->next; i < list->count; i++) {
        if (list->taken[i] || !ts_copy_plan_serves(copy, &list->boxes[i], times)) continue;
        list->taken[i] = true;
        ts_copy_plan_move(copy, &list->boxes[i]);
    }
}

/* Those that continue another are moved with it. */
static void move_list(const ts_copy_context *m, const ts_plan *plan) {
    ts_box_list list;
    ts_copy_plan copy;
    ts_copy_plan_begin(&copy, m);
    copy.others = &list;
    list.next = 0;
    list.count = (int)plan->box_count;
    for (int i = 0; i < list.count; i++) {
        ts_plan_get_box(plan, i, &list.boxes[i]);
        list.taken[i] = false;
    }
    while (list.next < list.count) {
        int i = list.next++;
        if (list.taken[i]) continue;
        ts_copy_plan_move(&copy, &list.boxes[i]);
        move_alike(&copy, &list);
    }
}

/* Are there few boxes, which one thread moves within the caches? */
static bool is_list(const work *w, int threads) {
    return threads == 1 && w->m->kernels && !w->m->streams && w->plan->box_count > 1 &&
           w->plan->box_count <= TS_CONCURRENT_BOXES;
}

static void move_share(const void *context, int share, int threads) {
    const work *w = context;
    if (is_list(w, threads)) {
        move_list(w->m, w->plan);
        return;
    }
    bool whole = w->plan->box_count >= (int64_t)MANY_BOXES * threads && w->m->dst.element_bits % 8 == 0;
    bool together = w->m->streams && w->plan->box_count <= TS_CONCURRENT_BOXES;
    ts_plan_box boxes[TS_CONCURRENT_BOXES];
    ts_copy_plan copy;
    int count = 0;
    ts_copy_plan_begin(&copy, w->m);
    for (int64_t i = 0; i < w->plan->box_count; i++) {
        ts_plan_box box;
        if (whole && i % threads != share) continue;
        ts_plan_get_box(w->plan, i, &box);
        if (!whole && threads > 1 && !take_share(w->m, &box, share, threads)) continue;
        if (together)
            boxes[count++] = box;
        else if (w->m->kernels)
            ts_copy_plan_move(&copy, &box);
        else
            ts_move_elements(w->m, &box);
    }
    if (together) ts_move_concurrent_boxes(w->m, boxes, count);
    if (w->m->streams) w->m->kernels->stream_end();
}

void ts_move_boxes(const ts_copy_context *m, const ts_plan *plan, int threads) {
    ts_threads_share(threads, move_share, &(work){m, plan});
}
