/* Bytes that are watched. */
#include "session_private.h"

#include "base/number.h"
#include "layout/shape.h"

enum { WORD = 64 };

bool watch_new(ts_error *err, watch *w, const ts_space *space, int64_t first, int64_t end) {
    if (end - first > WATCH_BYTES) {
        return ts_error_set(err, TS_ERROR_INPUT, "%lld bytes from the first to the last, expected at most %d",
                            (long long)(end - first), WATCH_BYTES);
    }
    ts_arena *arena = ts_arena_new();
    *w = (watch){.arena = arena, .space = space, .first = first, .end = end};
    w->bytes = TS_NEW_ARRAY(arena, uint64_t, (end - first) / WORD + 1);
    return true;
}

void watch_free(watch *w) {
    if (w->arena) ts_arena_free(w->arena);
    *w = (watch){0};
}

void watch_add(watch *w, int64_t first, int64_t end) {
    for (int64_t at = first - w->first; at < end - w->first; at++)
        w->bytes[at / WORD] |= UINT64_C(1) << (at % WORD);
}

bool watch_meets(const watch *w, const ts_space *space, int64_t first, int64_t end) {
    if (!w->arena || space != w->space) return false;
    first = ts_max(first, w->first);
    end = ts_min(end, w->end);
    for (int64_t at = first - w->first; at < end - w->first; at++)
        if (w->bytes[at / WORD] >> (at % WORD) & 1) return true;
    return false;
}

/* ---- The runs of a plan ---- */

typedef struct {
    ts_side side;
    int element_bits;
    watch_run *run;
    void *self;
} visitor;

static bool visit_loops(const visitor *v, const ts_plan_loop *loops, int count, int64_t at) {
    int64_t bits = v->element_bits;
    if (count == 1 && ts_plan_step_bits(loops, v->side) == bits) { /* neighbours */
        bits *= loops->extent;
        count = 0;
    }
    if (count == 0) return v->run(v->self, at / 8, ts_ceil_div(at + bits, 8));
    for (int64_t i = 0; i < loops->extent; i++)
        if (!visit_loops(v, loops + 1, count - 1, at + i * ts_plan_step_bits(loops, v->side))) return false;
    return true;
}

bool watch_visit_runs(const ts_plan *plan, ts_side side, watch_run *run, void *self) {
    visitor v = {side, (side == TS_SRC ? plan->src : plan->dst).shape->element_bits, run, self};
    ts_plan_box box;
    for (int64_t n = 0; n < plan->box_count; n++) {
        ts_plan_get_box(plan, n, &box);
        if (!visit_loops(&v, box.loops, box.loop_count, ts_plan_start_bits(&box, side))) return false;
    }
    return true;
}
