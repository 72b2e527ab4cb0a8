/* What is done of a move, kept so that it can be done again between other addresses. */

#include "copy_plan.h"

typedef struct ts_copy_step {
    ts_copy_context own, *m; /* own: where it is not that of most */
    bool runs; /* the copy plan; else elements: those of the list, or where it has none of the box */
    int64_t src_bits, dst_bits;
    ts_plan_box box;
    ts_element_list list;
    ts_copy_plan copy;
} ts_copy_step;

/* Room for one more; NULL where there is none. */
static ts_copy_step *new_step(ts_copy_steps *all) {
    if (all->count == TS_COPY_MOST_STEPS) return NULL;
    if (!all->steps) all->steps = TS_NEW_ARRAY(all->arena, ts_copy_step *, TS_COPY_MOST_STEPS);
    if (all->count == all->room) {
        uint8_t *raw = TS_NEW_ARRAY(all->arena, uint8_t, sizeof(ts_copy_step) + _Alignof(ts_copy_step));
        raw += -(uintptr_t)raw % _Alignof(ts_copy_step);
        all->steps[all->room++] = (ts_copy_step *)raw;
    }
    return all->steps[all->count++];
}

/* The next step, with what it needs of the context; NULL: it is not kept. */
static ts_copy_step *keep(const ts_copy_context *m) {
    ts_copy_steps *all = m->steps;
    ts_copy_step *step = all && !all->full ? new_step(all) : NULL;
    if (all) all->full = !step;
    if (!step) return NULL;
    step->m = all->m;
    if (m == all->m) return step;
    step->own = *m;
    step->m = &step->own;
    return step;
}

static bool finds(const ts_copy_context *m) { return m->steps && m->steps->finds; }

void ts_copy_step_elements(const ts_copy_context *m, const ts_plan_box *box) {
    ts_copy_step *step = keep(m);
    if (step) {
        step->runs = false;
        step->box = *box;
        ts_elements_list(m, box, &step->list);
    }
    if (!finds(m)) ts_move_elements(m, box);
}

void ts_copy_step_run(ts_copy_plan *copy, int64_t src_bits, int64_t dst_bits) {
    ts_copy_step *step = keep(copy->m);
    if (step) {
        step->runs = true;
        step->src_bits = src_bits;
        step->dst_bits = dst_bits;
        step->copy = *copy;
        step->copy.m = step->m;
        step->copy.others = NULL;
    }
    if (!finds(copy->m)) ts_copy_plan_run(copy, src_bits, dst_bits);
}

void ts_copy_steps_repeat(const ts_copy_steps *steps) {
    for (int i = 0; i < steps->count; i++) {
        ts_copy_step *step = steps->steps[i];
        step->m->src.bytes = steps->m->src.bytes;
        step->m->dst.bytes = steps->m->dst.bytes;
        if (step->runs)
            ts_copy_plan_run(&step->copy, step->src_bits, step->dst_bits);
        else if (step->list.count > 0)
            ts_elements_move_list(step->m, &step->list);
        else
            ts_move_elements(step->m, &step->box);
    }
}
