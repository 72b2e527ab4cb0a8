/* The loops around a kernel: what its tiles leave of each. */
#include "copy_plan.h"

#include <string.h>

enum { LITTLE = 2, FEW_TILES = 3, MANY = 8, TINY_PREPARED = 16 };

bool ts_copy_is_tiny(const ts_copy_context *m, const ts_plan_box *box) {
    return ts_copy_count_elements(box) <= (m->steps && m->same ? TINY_PREPARED : TS_COPY_TINY);
}

bool ts_copy_rest_is_apart(const ts_copy_context *m, const ts_plan_loop *loop, int64_t times) {
    int64_t rest = ts_copy_rest(loop, times);
    if (ts_copy_is_narrow(m)) return rest > 0;
    return rest > 0 && !m->streams && !m->staging && rest <= LITTLE && rest * MANY <= times &&
           loop->extent < FEW_TILES * times;
}

bool ts_copy_leaves_rests(const ts_copy_context *m, const ts_plan_box *box, const int64_t *times) {
    for (int i = 0; i < box->loop_count; i++)
        if (ts_copy_rest_is_apart(m, &box->loops[i], times[i])) return true;
    return false;
}

void ts_copy_plan_set_loops(ts_copy_plan *copy, const ts_plan_box *box, const int64_t *times) {
    copy->loop_count = 0;
    for (int i = 0; i < box->loop_count; i++) {
        ts_plan_loop loop = box->loops[i];
        int64_t last = loop.extent - times[i], count = times[i] == 1 ? loop.extent : loop.extent / times[i];
        bool has_tail = ts_copy_rest(&loop, times[i]) > 0 && !ts_copy_rest_is_apart(copy->m, &loop, times[i]);
        if (count < 2 && !has_tail) continue;
        copy->loops[copy->loop_count++] = (ts_copy_loop){.count = count,
                                                         .src_bits = loop.src_bits * times[i],
                                                         .dst_bits = loop.dst_bits * times[i],
                                                         .most = 1,
                                                         .has_tail = has_tail,
                                                         .tail_src_bits = loop.src_bits * last,
                                                         .tail_dst_bits = loop.dst_bits * last};
    }
}

bool ts_copy_plan_steps_by(const ts_copy_plan *copy, const ts_plan_box *box, int64_t src_bits) {
    int64_t src = box->src_bits, dst = box->dst_bits;
    for (int i = 0; i < copy->loop_count; i++) {
        src |= copy->loops[i].src_bits | copy->loops[i].tail_src_bits;
        dst |= copy->loops[i].dst_bits | copy->loops[i].tail_dst_bits;
    }
    return src % src_bits == 0 && dst % 8 == 0;
}

void ts_copy_plan_keep(ts_copy_plan *copy, const ts_plan_box *box, const int64_t *times) {
    copy->box.loop_count = copy->tile_function ? box->loop_count : 0;
    memcpy(copy->box.loops, box->loops, (size_t)copy->box.loop_count * sizeof box->loops[0]);
    memcpy(copy->times, times, (size_t)copy->box.loop_count * sizeof *times);
}

/* A loop may have more or fewer steps outside a tile that takes some of its steps. */
static bool is_alike(const ts_plan_loop *a, const ts_plan_loop *b, int64_t times) {
    return a->src_bits == b->src_bits && a->dst_bits == b->dst_bits &&
           (a->extent == b->extent || (a->extent >= times && b->extent >= times));
}

/* A loop that is not there has one step. */
bool ts_copy_plan_serves(const ts_copy_plan *copy, const ts_plan_box *box, int64_t *times) {
    int same = 0;
    if (copy->box.loop_count == 0 || ts_copy_is_narrow(copy->m)) return false;
    for (int i = 0; i < copy->box.loop_count; i++)
        if (same < box->loop_count && is_alike(&copy->box.loops[i], &box->loops[same], copy->times[i]))
            times[same++] = copy->times[i];
        else if (copy->times[i] > 1)
            return false;
    return same == box->loop_count;
}

bool ts_copy_plan_match_again(ts_copy_plan *copy, const ts_plan_box *box, int64_t *times) {
    if (!ts_copy_plan_serves(copy, box, times)) return false;
    ts_copy_plan_set_loops(copy, box, times);
    return ts_copy_plan_steps_by(copy, box, 8);
}
