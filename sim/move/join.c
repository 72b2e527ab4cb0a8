/* Two boxes that are one but for the last steps of a loop, as tiles leave them of sizes that they do not
 * divide: words that hold four rows, and a last one that holds fewer. */
#include <string.h>

#include "copy_plan.h"

/* The loops of a box that another has not: how many, of which up to two are listed. */
static int find_own(const ts_plan_box *box, const ts_plan_box *other, int own[2]) {
    int count = 0;
    for (int i = 0; i < box->loop_count; i++) {
        bool both = false;
        for (int k = 0; k < other->loop_count; k++)
            both = both || ts_copy_is_same_loop(&box->loops[i], &other->loops[k]);
        if (!both && count < 2) own[count] = i;
        count += !both;
    }
    return count;
}

/* How many steps of a loop the other box has, by the only loop that it alone has, or by none; 0: it has
 * others. */
static int64_t steps_of(const ts_plan_loop *loop, const ts_plan_box *other, int count, const int own[2]) {
    if (count == 0) return 1;
    const ts_plan_loop *part = &other->loops[own[0]];
    bool is_part = count == 1 && part->src_bits == loop->src_bits && part->dst_bits == loop->dst_bits;
    return is_part && part->extent < loop->extent ? part->extent : 0;
}

/* A loop of two steps, where its steps in the destination say. Its number. */
static int insert(ts_plan_box *box, ts_plan_loop loop) {
    int at = box->loop_count++;
    for (; at > 0 && box->loops[at - 1].dst_bits < loop.dst_bits; at--) box->loops[at] = box->loops[at - 1];
    box->loops[at] = loop;
    return at;
}

/* Puts the other box one step behind those of loop `outer`, or of one of one step (-1); false where it is not
 * there. */
static bool add_step(ts_plan_box *box, const ts_plan_box *other, ts_lack *lack) {
    const int64_t src = other->src_bits - box->src_bits, dst = other->dst_bits - box->dst_bits;
    if (lack->outer >= 0) {
        ts_plan_loop *loop = &box->loops[lack->outer];
        const int64_t steps = loop->extent++;
        return loop->src_bits * steps == src && loop->dst_bits * steps == dst;
    }
    if (box->loop_count == TS_PLAN_MAX_LOOPS) return false;
    lack->outer = insert(box, (ts_plan_loop){2, src, dst});
    lack->inner += lack->outer <= lack->inner;
    return true;
}

/* The box that both are, and what it lacks; false: they are two. */
static bool join(const ts_plan_box *a, const ts_plan_box *b, ts_plan_box *both, ts_lack *lack) {
    int own[2] = {0}, other[2] = {0};
    const int count = find_own(a, b, own), others = find_own(b, a, other);
    if (count < 1 || count > 2) return false;
    for (int i = 0; i < count; i++) {
        *both = *a;
        *lack = (ts_lack){.from = steps_of(&a->loops[own[i]], b, others, other),
                          .outer = count > 1 ? own[1 - i] : -1,
                          .inner = own[i]};
        if (lack->from > 0 && add_step(both, b, lack)) return true;
    }
    return false;
}

/* By a copy plan of its own. */
static bool move(const ts_copy_context *m, const ts_plan_box *box, const ts_lack *lack) {
    int64_t times[TS_PLAN_MAX_LOOPS];
    ts_copy_plan copy;
    ts_copy_plan_begin(&copy, m);
    copy.lack = *lack;
    if (!ts_copy_plan_match_lacking(&copy, box, times)) return false;
    ts_copy_plan_order(&copy, box);
    ts_copy_plan_run_box(&copy, box);
    return true;
}

bool ts_copy_plan_move_joined(const ts_copy_plan *copy, const ts_plan_box *box, const bool *taken) {
    ts_box_list *list = copy->others;
    ts_plan_box both;
    ts_lack lack;
    for (int i = list->next; i < list->count; i++) {
        if (list->taken[i] || !join(box, &list->boxes[i], &both, &lack) || !move(copy->m, &both, &lack))
            continue;
        memcpy(list->taken, taken, sizeof list->taken);
        list->taken[i] = true;
        return true;
    }
    return false;
}

/* ---- Past the caches ---- */

/* Do runs have all steps of both loops, and end with what is not there? Then they are so much shorter. */
static bool shorten(ts_copy_plan *copy, const ts_plan_box *box, const ts_lack *lack) {
    const ts_plan_loop *outer = &box->loops[lack->outer], *inner = &box->loops[lack->inner];
    const int64_t width = copy->m->dst.element_bits;
    if (inner->dst_bits != width || outer->dst_bits != width * inner->extent ||
        8 * copy->tile.runs.bytes != outer->dst_bits * outer->extent)
        return false;
    copy->tile.runs.lacks = (inner->extent - lack->from) * width / 8;
    ts_copy_plan_set_call(copy);
    return true;
}

/* The last line of the source that a run needs ends less than a line behind what is there. */
static bool reads_enough(const ts_copy_context *m) {
    return ts_copy_reads_on(m) && m->src.element_bits <= m->dst.element_bits;
}

bool ts_copy_plan_move_runs(const ts_copy_context *m, const ts_plan_box *box, const ts_plan_box *other) {
    int64_t times[TS_PLAN_MAX_LOOPS];
    ts_plan_box both;
    ts_lack lack;
    ts_copy_plan copy;
    if (!reads_enough(m) || !join(box, other, &both, &lack)) return false;
    ts_copy_plan_begin(&copy, m);
    if (!ts_copy_plan_match_runs(&copy, &both, times)) return false;
    ts_copy_plan_order(&copy, &both);
    if (!copy.in_runs || !shorten(&copy, &both, &lack)) return false;
    ts_copy_plan_run(&copy, both.src_bits, both.dst_bits);
    return true;
}
