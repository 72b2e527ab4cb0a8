/* Transfers simulated, and transfers recalled. */
#include "traffic_state.h"

#include "base/clock.h"
#include "base/number.h"

static void learn_refresh(traffic *t) {
    const ts_hbm_config *hbm = t->machine->hbm;
    if (hbm->refresh != TS_HBM_REFRESH_ALL_BANK) return;
    int64_t ticks = (int64_t)hbm->timing.t_refi * hbm->ticks_per_ck;
    t->interval = ts_clock_convert(ticks, ts_hbm_tick_khz(hbm), t->machine->core_khz);
    t->interval_bytes =
        (int64_t)hbm->timing.t_refi / hbm->timing.n_bl * hbm->burst_bytes * ts_hbm_bus_count(hbm);
}

traffic *traffic_new(ts_arena *arena, const ts_dma_machine *machine, bool exact) {
    traffic *t = TS_NEW(arena, traffic);
    t->arena = arena;
    t->machine = machine;
    t->shapes.arena = arena;
    t->shapes.dma = machine->dma;
    t->exact = exact;
    t->setup = (chip_engine_setup){.machine = machine, .exact = exact};
    t->simulated_most = TRAFFIC_SIMULATED_BYTES;
    learn_refresh(t);
    return t;
}

void traffic_set_channel_share(traffic *t, int share) { t->setup.share = share; }

void traffic_set_interrupt(traffic *t, ts_interrupt *interrupt) { t->setup.interrupt = interrupt; }

void traffic_share(traffic *t, int64_t chips, ts_engine_pool *pool) {
    t->simulated_most = TRAFFIC_SIMULATED_BYTES / chips;
    t->setup.pool = pool;
}

void traffic_observe(traffic *t, ts_hbm_observer *observer, void *self) {
    t->setup.observer = observer;
    t->setup.observed = self;
}

/* Made for the first transfer: many programs have none. */
static bool make_engine(ts_error *err, traffic *t) {
    if (!t->engine) t->engine = chip_engine_new(err, t->arena, &t->setup);
    return t->engine != NULL;
}

static void free_arenas(const record *r) {
    for (; r; r = r->next) ts_arena_free(r->arena);
}

void traffic_free(traffic *t) {
    free_arenas(t->first);
    free_arenas(t->next);
    free_arenas(t->free);
    chip_engine_free(t->engine);
}

bool traffic_can_start(const traffic *t) { return t->under_way < t->machine->dma->descriptors; }
int traffic_under_way(const traffic *t) { return t->under_way; }

/* ---- Records ---- */

static record *append(traffic *t, const ts_dma_transfer *what, int layouts, int64_t cycle) {
    record *r = t->next, **end = &t->first;
    int member = 0;
    t->next = NULL;
    for (; *end; end = &(*end)->next) member = (*end)->member + 1;
    *r = (record){.what = *what,
                  .layouts = layouts,
                  .arena = r->arena,
                  .number = t->started++,
                  .member = member,
                  .issued = cycle,
                  .done = INT64_MAX};
    *end = r;
    t->under_way++;
    return r;
}

/* Those that are over are kept as long as the busy period might have to be simulated after all. */
static void forget(traffic *t) {
    if (t->at && t->under_way > 0) return;
    for (record **at = &t->first; *at;) {
        record *r = *at;
        if (!r->over) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        *r = (record){.next = t->free, .arena = r->arena};
        t->free = r;
    }
}

/* Of those whose end is known. */
static record *earliest(const traffic *t) {
    record *best = NULL;
    for (record *r = t->first; r; r = r->next)
        if (!r->over && r->done != INT64_MAX && (!best || r->done < best->done)) best = r;
    return best;
}

/* ---- Starting and completing ---- */

static bool can_start(ts_error *err, const traffic *t, const ts_dma_transfer *what) {
    bool moves = what->src.space != NULL;
    if (moves && !ts_dma_check(err, what->plan, what->src.space, what->dst.space)) return false;
    return ts_dma_check_kind(err, t->machine->dma, what->plan);
}

ts_arena *traffic_arena(traffic *t) {
    if (!t->next) {
        t->next = t->free ? t->free : TS_NEW(t->arena, record);
        if (t->free) t->free = t->next->next;
        if (!t->next->arena) t->next->arena = ts_arena_new();
        t->next->next = NULL;
    }
    ts_arena_reset(t->next->arena);
    return t->next->arena;
}

bool traffic_start(ts_error *err, traffic *t, const ts_dma_transfer *what, int layouts, int64_t cycle) {
    if (!make_engine(err, t) || !can_start(err, t, what)) return false;
    (t->under_way == 0 ? period_begin : period_go_on)(t, what, layouts, cycle);
    record *r = append(t, what, layouts, cycle);
    t->latest = cycle;
    t->passed.is_alone = false;
    if (t->recalls) return true;
    t->simulated_bytes += period_bytes(what);
    period_simulate(t, r);
    return true;
}

bool traffic_expect(ts_error *err, traffic *t, const traffic_arrival *what, int64_t *incoming) {
    if (!make_engine(err, t)) return false;
    const ts_dma_transfer written = {.plan = what->plan, .dst.in_hbm = true};
    uint64_t hash[2];
    shapes_hash_start(&t->shapes, &written, what->layouts, hash);
    *incoming =
        chip_engine_expect(t->engine, &(chip_engine_arrival){what->plan, what->arena, what->owner}, hash);
    t->expected++;
    return true;
}

void traffic_feed(traffic *t, int64_t incoming, ts_dma_chunk chunk) {
    bool alone = t->under_way == 0, little = passed_may(&t->passed, t->machine, &chunk);
    bool recalls = !alone && t->recalls;
    chunk.passed = recalls || (alone && little && !t->exact && t->simulated_bytes >= t->simulated_most);
    if (!chunk.passed) {
        if (passed_samples(&t->passed)) {
            ts_hbm_stats now;
            chip_engine_read_stats(t->engine, &now);
            passed_simulate(&t->passed, &now, alone, &chunk);
        }
        t->simulated_bytes += chunk.bytes;
    } else if (!recalls) {
        passed_over(&t->passed, &chunk);
    }
    chunk.cycle = to_engine(t, ts_max(chunk.cycle, t->least));
    chip_engine_feed(t->engine, incoming, &chunk);
}

/* When the first of the transfers whose end is known completes; INT64_MAX: none. */
static int64_t first_known(const traffic *t) {
    const record *r = earliest(t);
    int64_t came = t->came ? t->came->result.completed_cycle : INT64_MAX;
    return r && r->done <= came ? r->done : came;
}

/* In a busy period that is recalled: when a transfer is complete, if that is known; INT64_MAX: it is not. */
static int64_t recalled_done(const traffic *t) {
    return t->at->done ? t->latest + t->at->done->after : INT64_MAX;
}

/* The same, or until when none is. */
static int64_t recalled_until(const traffic *t) {
    return t->at->done ? recalled_done(t) : t->latest + t->at->quiet;
}

static void work(traffic *t, int64_t limit) {
    while (first_known(t) == INT64_MAX && chip_engine_next(t->engine, to_engine(t, limit)) != INT64_MAX)
        period_take(t, 0);
}

static int64_t up_to(int64_t cycle, int64_t limit) { return cycle <= limit ? cycle : INT64_MAX; }

int64_t traffic_next(traffic *t, int64_t limit) {
    if (t->under_way == 0 && t->expected == 0) return INT64_MAX;
    if (t->under_way > 0 && t->recalls) {
        int64_t quiet = recalled_until(t);
        if (t->expected > 0) work(t, limit);
        if (limit <= quiet || t->at->done) return up_to(ts_min(recalled_done(t), first_known(t)), limit);
        period_catch_up(t, quiet);
    }
    work(t, limit);
    return up_to(first_known(t), limit);
}

int64_t traffic_quiet_until(const traffic *t, int64_t limit) {
    if (t->under_way == 0 && t->expected == 0) return INT64_MAX;
    int64_t until = first_known(t);
    if (until == INT64_MAX) until = of_engine(t, chip_engine_quiet_until(t->engine, to_engine(t, limit)));
    return t->under_way > 0 && t->recalls ? ts_min(until, recalled_until(t)) : until;
}

static record *take_recalled(traffic *t) {
    const step *done = t->at->done;
    record *r = t->first;
    while (r->member != done->member) r = r->next;
    r->done = t->latest + done->after;
    r->result = done->result;
    r->result.started_cycle += r->issued - r->result.issued_cycle;
    t->recalled++;
    t->at = t->at->done;
    return r;
}

static void complete_arrival(traffic *t, ts_dma_result *result) {
    arrival *a = t->came;
    *result = a->result;
    t->came = a->next;
    a->next = t->unused;
    t->unused = a;
    t->expected--;
}

bool traffic_complete(ts_error *err, traffic *t, ts_dma_result *result) {
    bool recalls = t->under_way > 0 && t->recalls;
    const record *first = earliest(t);
    int64_t own = recalls ? recalled_done(t) : first ? first->done : INT64_MAX;
    if (t->came && t->came->result.completed_cycle < own) {
        complete_arrival(t, result);
        return chip_engine_check(err, t->engine);
    }
    record *r = recalls ? take_recalled(t) : earliest(t);
    if (!recalls) period_note_done(t, r);
    *result = r->result;
    result->tag = r->what.tag;
    result->issued_cycle = r->issued;
    result->completed_cycle = t->latest = r->done;
    bool moved = !r->what.src.space || ts_dma_move(err, r->what.plan, r->what.src.space, r->what.dst.space);
    r->over = true;
    if (--t->under_way == 0) period_end(t);
    forget(t);
    return moved && chip_engine_check(err, t->engine);
}

/* ---- Counting for more ---- */

void traffic_mark(traffic *t) { traffic_count(t, &t->marked, &t->marked_recalled); }

void traffic_repeat(traffic *t, int64_t times, int64_t cycles) {
    ts_hbm_stats since;
    int64_t recalled;
    traffic_count(t, &since, &recalled);
    ts_hbm_stats_add(&since, &t->marked, -1);
    ts_hbm_stats_add(&t->past, &since, times);
    t->recalled += times * (recalled - t->marked_recalled);
    t->skipped += cycles;
    t->least += cycles;
    t->latest += cycles;
    for (record *r = t->first; r; r = r->next) {
        r->issued += cycles;
        if (r->done != INT64_MAX) r->done += cycles;
        r->result.issued_cycle += cycles;
        r->result.started_cycle += cycles;
        r->result.completed_cycle += cycles;
    }
}

bool traffic_is_estimated(const traffic *t) {
    return (t->engine && chip_engine_is_part(t->engine)) || t->recalled > 0 || t->passed.passed.bytes > 0 ||
           t->skipped > 0;
}

void traffic_count(const traffic *t, ts_hbm_stats *hbm, int64_t *recalled) {
    *hbm = (ts_hbm_stats){0};
    if (t->engine) chip_engine_read_stats(t->engine, hbm);
    ts_hbm_stats_add(hbm, &t->past, 1);
    passed_count(&t->passed, t->machine, hbm);
    *recalled = t->recalled;
}
