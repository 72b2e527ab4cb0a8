/* Busy periods: what of them the engine simulates, and the steps that are kept. */
#include "traffic_state.h"

#include "base/number.h"

enum { PHASES = 16 }; /* parts of the time between two refreshes, at most */
enum { STEPS = 64 };  /* that a busy period adds to those that are kept, at most */
enum { REST = 1024 }; /* cycles after which the memory no longer knows what was before */

int64_t period_bytes(const ts_dma_transfer *what) {
    const ts_plan *plan = what->plan;
    int64_t bits = (what->src.in_hbm ? plan->src.shape->element_bits : 0) +
                   (what->dst.in_hbm ? plan->dst.shape->element_bits : 0);
    return plan->moved_elements * bits / 8;
}

/* ---- Simulating ---- */

static void take_arrival(traffic *t, const ts_dma_result *result) {
    arrival *a = t->unused ? t->unused : TS_NEW(t->arena, arrival), **end = &t->came;
    if (t->unused) t->unused = a->next;
    *a = (arrival){.result = *result};
    a->result.completed_cycle = of_engine(t, result->completed_cycle);
    while (*end) end = &(*end)->next;
    *end = a;
}

void period_take(traffic *t, int64_t least) {
    ts_dma_result result;
    chip_engine_complete(t->engine, &result);
    if (result.incoming) {
        take_arrival(t, &result);
        return;
    }
    record *r = t->first;
    while (r && r->number != result.tag) r = r->next;
    if (!r || r->over) return;
    result.issued_cycle = of_engine(t, result.issued_cycle);
    result.started_cycle = of_engine(t, result.started_cycle);
    result.completed_cycle = of_engine(t, result.completed_cycle);
    r->result = result;
    r->done = ts_max(result.completed_cycle, least);
}

/* What was recalled to have ended earlier than it does. */
static void let_end(traffic *t) {
    t->least = of_engine(t, chip_engine_next(t->engine, INT64_MAX));
    period_take(t, t->least);
}

void period_simulate(traffic *t, record *r) {
    while (!chip_engine_can_start(t->engine)) let_end(t);
    ts_dma_transfer what = r->what;
    what.tag = r->number;
    what.src.space = what.dst.space = NULL; /* bytes move here */
    int64_t cycle = ts_max(r->issued, t->least);
    uint64_t hash[2];
    shapes_hash_start(&t->shapes, &r->what, r->layouts, hash);
    chip_engine_start(t->engine, &what, hash, &r->arena, to_engine(t, cycle));
}

/* What the engine has ended by a cycle; nobody has been told of it before `now`. */
static void take_ended(traffic *t, int64_t cycle, int64_t now) {
    while (chip_engine_next(t->engine, to_engine(t, cycle)) != INT64_MAX) period_take(t, now);
}

void period_catch_up(traffic *t, int64_t now) {
    t->recalls = false;
    chip_engine_read_stats(t->engine, &t->stats);
    for (record *r = t->first; r; r = r->next) {
        take_ended(t, r->issued, now);
        period_simulate(t, r);
    }
    take_ended(t, now, now);
}

/* ---- Steps ---- */

/* Into how many parts the interval of refreshes is divided for a busy period that begins with so many bytes:
 * where the first refresh falls matters the less, the more of them there are. */
static int64_t phase_of(const traffic *t, int64_t bytes, int64_t cycle) {
    int phases = t->interval > 0 ? PHASES : 1;
    while (phases > 1 && phases * bytes > PHASES / 2 * t->interval_bytes) phases /= 2;
    return phases > 1 ? cycle % t->interval * phases / t->interval * PHASES + phases : 0;
}

static step *make_step(traffic *t, step what) {
    if (t->steps++ >= STEPS) return NULL;
    step *made = TS_NEW(t->arena, step);
    *made = what;
    return made;
}

/* The transfer starts `after` the step before, whose `starts` these are; *known: it has been seen. */
static step *find_start(traffic *t, step **starts, const shape *of, int64_t after, bool *known) {
    for (step *s = *starts; s; s = s->sibling) {
        *known = s->shape == of && s->after == after;
        if (*known) return s;
    }
    *known = false;
    step *made = make_step(t, (step){.sibling = *starts, .after = after, .shape = of});
    return made ? *starts = made : NULL;
}

void period_begin(traffic *t, const ts_dma_transfer *what, int layouts, int64_t cycle) {
    t->at = NULL;
    t->recalls = false;
    t->steps = 0;
    if (t->exact || t->simulated_bytes < t->simulated_most || cycle - t->latest < REST) return;
    const shape *of = shapes_find(&t->shapes, what, layouts);
    int64_t phase = phase_of(t, period_bytes(what), to_engine(t, cycle)) + ((int64_t)t->expected << 16);
    bool known;
    t->root = find_start(t, &t->periods[(of->hash[1] + (uint64_t)phase) % PERIOD_BUCKETS], of, phase, &known);
    t->at = t->root;
    t->recalls = known && t->root->ends;
    if (!t->recalls) chip_engine_read_stats(t->engine, &t->stats);
}

/* A transfer starts within the busy period. Recording ends with one that starts after another has ended: when
 * that is depends on single cycles, so it would hardly ever be seen again. */
void period_go_on(traffic *t, const ts_dma_transfer *what, int layouts, int64_t cycle) {
    if (!t->at) return;
    int64_t after = cycle - t->latest;
    step *last = t->at;
    bool known = false;
    t->at = last->shape ? find_start(t, &last->starts, shapes_find(&t->shapes, what, layouts), after, &known)
                        : NULL;
    if (t->at) last->quiet = ts_max(last->quiet, after);
    if (t->recalls && !known) period_catch_up(t, cycle);
}

void period_note_done(traffic *t, const record *r) {
    if (!t->at) return;
    step now = {.after = r->done - t->latest, .member = r->member, .result = r->result};
    if (!t->at->done) t->at->done = make_step(t, now);
    t->at = t->at->done;
    if (t->at && (t->at->after != now.after || t->at->member != now.member)) t->at = NULL;
}

/* The statistics of a busy period that has been simulated are kept with its last step. */
void period_end(traffic *t) {
    while (chip_engine_under_way(t->engine) > 0) let_end(t);
    if (!t->at) return;
    t->root->ends = true;
    if (!t->recalls && !t->at->hbm) {
        t->at->hbm = TS_NEW(t->arena, ts_hbm_stats);
        chip_engine_read_stats(t->engine, t->at->hbm);
        ts_hbm_stats_add(t->at->hbm, &t->stats, -1);
    }
    if (t->recalls) ts_hbm_stats_add(&t->past, t->at->hbm, 1);
}
