/* Transfers walked, and transfers recalled. */
#include "traffic.h"
#include "passed.h"

#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "base/number.h"

/* Transfers between two layouts whose plans differ in nothing but whole accesses of HBM. */
typedef struct shape {
    struct shape *next;
    uint64_t hash[2];
} shape;

/* What has happened in a busy period, the latest first; and what came next whenever it had. */
typedef struct step {
    struct step *sibling; /* another start after the same */
    struct step *starts;  /* of transfers, before any other is complete */
    struct step *done;    /* the next completion when none starts before it; NULL: not known */
    int64_t after;        /* cycles since the step before; of the first: the phase */
    int64_t quiet;        /* cycles after it in which no transfer is complete: the last of `starts` */
    const shape *shape;   /* of a start; NULL: a completion */
    int member;           /* of a completion: which transfer of the busy period */
    ts_dma_result result;
    ts_hbm_stats *hbm; /* of the whole busy period, when it ends here */
    bool ends;         /* of the first: a busy period has come to its end in as many steps as are kept */
} step;

typedef struct record {
    struct record *next; /* in order of issue */
    ts_arena *arena;     /* of its plan */
    ts_dma_transfer what;
    int layouts;          /* see traffic_start */
    int64_t number;       /* of all that were started: the tag of what is walked */
    int member;           /* of the busy period */
    int64_t issued, done; /* done INT64_MAX: not known yet */
    ts_dma_result result;
    bool over;
} record;

/* What has come over links. */
typedef struct arrival {
    struct arrival *next;
    ts_dma_result result;
} arrival;

enum { BUCKETS = 1 << 10, SHAPE_BOXES = 1 << 10 };
enum { PHASES = 16 }; /* parts of the time between two refreshes, at most */
enum { STEPS = 64 };  /* of a busy period that are kept */
enum { REST = 1024 }; /* cycles after which the memory no longer knows what was before */

struct traffic {
    ts_arena *arena;
    const ts_dma_machine *machine;
    walker *engine; /* NULL: nothing was started yet */
    walker_setup setup;
    bool exact;
    bool recalls; /* this busy period is recalled so far: the engine knows nothing of it */
    int64_t walked_bytes, walked_most, serial, started;
    int64_t least;        /* the engine has been here */
    record *first, *free; /* first: of the busy period, while its steps are kept; else those under way */
    record *next;         /* for the next start */
    int under_way;
    int expected;  /* that has not come */
    arrival *came; /* that the engine has completed, by cycle */
    arrival *unused;
    passed passed;  /* of what comes */
    step *root;     /* the first of the busy period */
    step *at;       /* the latest; NULL: they are no longer kept */
    int steps;      /* of the busy period */
    int64_t latest; /* the cycle of the last start or completion */
    shape *shapes[BUCKETS];
    step *periods[BUCKETS]; /* by the first start */
    int64_t interval;       /* of refreshes of all banks; 0: none */
    int64_t interval_bytes; /* that the HBM moves in it at its peak */
    ts_hbm_stats stats;     /* at the beginning of the busy period, if it is walked */
    ts_hbm_stats past;      /* of what was recalled */
    int64_t recalled;
    int64_t skipped;     /* cycles that the engine does not know of (traffic_repeat) */
    ts_hbm_stats marked; /* counts when it was marked */
    int64_t marked_recalled;
};

/* The engine's cycle, and back. */
static int64_t to_engine(const traffic *t, int64_t cycle) {
    return cycle == INT64_MAX ? cycle : cycle - t->skipped;
}
static int64_t of_engine(const traffic *t, int64_t cycle) {
    return cycle == INT64_MAX ? cycle : cycle + t->skipped;
}

static void learn_refresh(traffic *t) {
    const ts_hbm_config *hbm = t->machine->hbm;
    if (hbm->refresh != TS_HBM_REFRESH_ALL_BANK) return;
    int64_t ticks = (int64_t)hbm->timing.t_refi * hbm->ticks_per_ck;
    t->interval = ts_clock_convert(ticks, ts_hbm_tick_khz(hbm), t->machine->core_khz);
    t->interval_bytes = (int64_t)hbm->timing.t_refi / hbm->timing.n_bl * hbm->burst_bytes * hbm->stacks *
                        hbm->channels * hbm->pseudo_channels;
}

traffic *traffic_new(ts_arena *arena, const ts_dma_machine *machine, bool exact) {
    traffic *t = TS_NEW(arena, traffic);
    t->arena = arena;
    t->machine = machine;
    t->exact = exact;
    t->setup = (walker_setup){.machine = machine, .exact = exact};
    t->walked_most = TRAFFIC_WALKED_BYTES;
    learn_refresh(t);
    return t;
}

void traffic_share(traffic *t, int64_t chips, ts_walks *walks) {
    t->walked_most = TRAFFIC_WALKED_BYTES / chips;
    t->setup.walks = walks;
}

void traffic_observe(traffic *t, ts_hbm_observer *observer, void *self) {
    t->setup.observer = observer;
    t->setup.observed = self;
}

/* Made for the first transfer: many programs have none. */
static bool make_engine(ts_error *err, traffic *t) {
    if (!t->engine) t->engine = walker_new(err, t->arena, &t->setup);
    return t->engine != NULL;
}

static void free_arenas(const record *r) {
    for (; r; r = r->next) ts_arena_free(r->arena);
}

void traffic_free(traffic *t) {
    free_arenas(t->first);
    free_arenas(t->next);
    free_arenas(t->free);
    walker_free(t->engine);
}

bool traffic_can_start(const traffic *t) { return t->under_way < t->machine->dma->descriptors; }
int traffic_under_way(const traffic *t) { return t->under_way; }

/* ---- Shapes ---- */

static void mix(uint64_t *hash, int64_t value) {
    hash[0] = (hash[0] ^ (uint64_t)value) * UINT64_C(0x9e3779b97f4a7c15);
    hash[0] ^= hash[0] >> 29;
    hash[1] = (hash[1] + (uint64_t)value) * UINT64_C(0xbf58476d1ce4e5b9);
    hash[1] ^= hash[1] >> 32;
}

static void mix_box(uint64_t *hash, const ts_plan_box *box, const ts_plan_box *first) {
    mix(hash, box->loop_count);
    mix(hash, box->src_bits - first->src_bits);
    mix(hash, box->dst_bits - first->dst_bits);
    for (int i = 0; i < box->loop_count; i++) {
        mix(hash, box->loops[i].extent);
        mix(hash, box->loops[i].src_bits);
        mix(hash, box->loops[i].dst_bits);
    }
}

/* Plans of too many boxes are each a shape of their own. */
static void hash_shape(traffic *t, const ts_dma_transfer *what, int layouts, uint64_t *hash) {
    const ts_plan *plan = what->plan;
    int64_t access_bits = (int64_t)t->machine->dma->access_bytes * 8;
    hash[0] = hash[1] = (uint64_t)layouts;
    mix(hash, what->priority);
    mix(hash, plan->box_count);
    mix(hash, plan->gathers);
    mix(hash, plan->box_count > SHAPE_BOXES ? ++t->serial : 0);
    ts_plan_box first, box;
    for (int64_t i = 0; i < plan->box_count && i < SHAPE_BOXES; i++) {
        ts_plan_get_box(plan, i, &box);
        if (i == 0) first = box;
        mix_box(hash, &box, &first);
    }
    if (plan->box_count > 0) {
        mix(hash, what->src.in_hbm ? ts_floor_mod(first.src_bits, access_bits) : -1);
        mix(hash, what->dst.in_hbm ? ts_floor_mod(first.dst_bits, access_bits) : -1);
    }
}

static const shape *find_shape(traffic *t, const ts_dma_transfer *what, int layouts) {
    uint64_t hash[2];
    hash_shape(t, what, layouts, hash);
    shape **at = &t->shapes[hash[0] % BUCKETS];
    for (shape *s = *at; s; s = s->next)
        if (memcmp(s->hash, hash, sizeof hash) == 0) return s;
    shape *made = TS_NEW(t->arena, shape);
    *made = (shape){.next = *at, .hash = {hash[0], hash[1]}};
    return *at = made;
}

/* What tells the starts of all chips apart, but for where in its memory each begins. */
static void hash_start(traffic *t, const ts_dma_transfer *what, int layouts, uint64_t *hash) {
    const ts_plan *plan = what->plan;
    const ts_dma_config *dma = t->machine->dma;
    int64_t aligned_bits = (int64_t)dma->access_bytes * 8 * dma->write_granule_bits;
    ts_plan_box first = {0};
    hash_shape(t, what, layouts, hash);
    if (plan->box_count > 0) ts_plan_get_box(plan, 0, &first);
    mix(hash, plan->box_count > SHAPE_BOXES ? (int64_t)(uintptr_t)t : 0);
    mix(hash, plan->elements);
    mix(hash, plan->moved_elements);
    mix(hash, ts_floor_mod(first.src_bits, aligned_bits));
    mix(hash, ts_floor_mod(first.dst_bits, aligned_bits));
}

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

/* Those that are over are kept as long as the busy period might have to be walked after all. */
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

static void add_stats(ts_hbm_stats *sum, const ts_hbm_stats *stats, int64_t times) {
    ts_members_add(sum, stats, ts_hbm_stats_members, times, 1);
    if (stats->read_latency_max > sum->read_latency_max) sum->read_latency_max = stats->read_latency_max;
}

/* ---- Walking ---- */

static void take_arrival(traffic *t, const ts_dma_result *result) {
    arrival *a = t->unused ? t->unused : TS_NEW(t->arena, arrival), **end = &t->came;
    if (t->unused) t->unused = a->next;
    *a = (arrival){.result = *result};
    a->result.completed_cycle = of_engine(t, result->completed_cycle);
    while (*end) end = &(*end)->next;
    *end = a;
}

/* Takes off what the engine has completed. It ends at `least` at the earliest; if it was recalled to have
 * ended, that stands. */
static void take(traffic *t, int64_t least) {
    ts_dma_result result;
    walker_complete(t->engine, &result);
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
    r->done = result.completed_cycle > least ? result.completed_cycle : least;
}

/* What was recalled to have ended earlier than it does. */
static void let_end(traffic *t) {
    t->least = of_engine(t, walker_next(t->engine, INT64_MAX));
    take(t, t->least);
}

static void walk(traffic *t, record *r) {
    while (!walker_can_start(t->engine)) let_end(t);
    ts_dma_transfer what = r->what;
    what.tag = r->number;
    what.src.space = what.dst.space = NULL; /* bytes move here */
    int64_t cycle = r->issued > t->least ? r->issued : t->least;
    uint64_t hash[2];
    hash_start(t, &r->what, r->layouts, hash);
    walker_start(t->engine, &what, hash, &r->arena, to_engine(t, cycle));
}

/* The engine, which is idle, is given what has been started before `now`. */
static void catch_up(traffic *t, int64_t now) {
    t->recalls = false;
    walker_read_stats(t->engine, &t->stats);
    for (record *r = t->first; r; r = r->next) {
        while (walker_next(t->engine, to_engine(t, r->issued)) != INT64_MAX) take(t, now);
        walk(t, r);
    }
}

/* ---- Busy periods ---- */
/* From a start with nothing under way until nothing is under way again. */

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

static int64_t planned_bytes(const ts_dma_transfer *what) {
    const ts_plan *plan = what->plan;
    int64_t bits = (what->src.in_hbm ? plan->src.shape->element_bits : 0) +
                   (what->dst.in_hbm ? plan->dst.shape->element_bits : 0);
    return plan->moved_elements * bits / 8;
}

/* The first start of a busy period. */
static void begin(traffic *t, const ts_dma_transfer *what, int layouts, int64_t cycle) {
    t->at = NULL;
    t->recalls = false;
    t->steps = 0;
    if (t->exact || t->walked_bytes < t->walked_most || cycle - t->latest < REST) return;
    const shape *of = find_shape(t, what, layouts);
    int64_t phase = phase_of(t, planned_bytes(what), to_engine(t, cycle)) + ((int64_t)t->expected << 16);
    bool known;
    t->root = find_start(t, &t->periods[(of->hash[1] + (uint64_t)phase) % BUCKETS], of, phase, &known);
    t->at = t->root;
    t->recalls = known && t->root->ends;
    if (!t->recalls) walker_read_stats(t->engine, &t->stats);
}

/* A transfer starts within the busy period. Recording ends with one that starts after another has ended: when
 * that is depends on single cycles, so it would hardly ever be seen again. */
static void go_on(traffic *t, const ts_dma_transfer *what, int layouts, int64_t cycle) {
    if (!t->at) return;
    int64_t after = cycle - t->latest;
    step *last = t->at;
    bool known = false;
    t->at = last->shape ? find_start(t, &last->starts, find_shape(t, what, layouts), after, &known) : NULL;
    if (t->at && after > last->quiet) last->quiet = after;
    if (t->recalls && !known) catch_up(t, cycle);
}

static void note_done(traffic *t, const record *r) {
    if (!t->at) return;
    step now = {.after = r->done - t->latest, .member = r->member, .result = r->result};
    if (!t->at->done) t->at->done = make_step(t, now);
    t->at = t->at->done;
    if (t->at && (t->at->after != now.after || t->at->member != now.member)) t->at = NULL;
}

/* The statistics of a busy period that has been walked are kept with its last step. */
static void end(traffic *t) {
    while (walker_under_way(t->engine) > 0) let_end(t);
    if (!t->at) return;
    t->root->ends = true;
    if (!t->recalls && !t->at->hbm) {
        t->at->hbm = TS_NEW(t->arena, ts_hbm_stats);
        walker_read_stats(t->engine, t->at->hbm);
        add_stats(t->at->hbm, &t->stats, -1);
    }
    if (t->recalls) add_stats(&t->past, t->at->hbm, 1);
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
    (t->under_way == 0 ? begin : go_on)(t, what, layouts, cycle);
    record *r = append(t, what, layouts, cycle);
    t->latest = cycle;
    t->passed.is_alone = false;
    if (t->recalls) return true;
    t->walked_bytes += planned_bytes(what);
    walk(t, r);
    return true;
}

bool traffic_expect(ts_error *err, traffic *t, const traffic_arrival *what, int64_t *incoming) {
    if (!make_engine(err, t)) return false;
    const ts_dma_transfer written = {.plan = what->plan, .dst.in_hbm = true};
    uint64_t hash[2];
    hash_start(t, &written, what->layouts, hash);
    *incoming = walker_expect(t->engine, &(walker_arrival){what->plan, what->arena, what->owner}, hash);
    t->expected++;
    return true;
}

void traffic_feed(traffic *t, int64_t incoming, ts_dma_chunk chunk) {
    bool alone = t->under_way == 0, little = passed_may(&t->passed, t->machine, &chunk);
    bool recalls = !alone && t->recalls;
    chunk.passed = recalls || (alone && little && !t->exact && t->walked_bytes >= t->walked_most);
    if (!chunk.passed) {
        if (passed_samples(&t->passed)) {
            ts_hbm_stats now;
            walker_read_stats(t->engine, &now);
            passed_walk(&t->passed, &now, alone, &chunk);
        }
        t->walked_bytes += chunk.bytes;
    } else if (!recalls) {
        passed_over(&t->passed, &chunk);
    }
    chunk.cycle = to_engine(t, chunk.cycle > t->least ? chunk.cycle : t->least);
    walker_feed(t->engine, incoming, &chunk);
}

/* The first that is known to be complete. */
static int64_t first_known(const traffic *t) {
    const record *r = earliest(t);
    int64_t came = t->came ? t->came->result.completed_cycle : INT64_MAX;
    return r && r->done <= came ? r->done : came;
}

/* In a busy period that is recalled: when a transfer is complete, or from when on it may be. */
static int64_t recalled_until(const traffic *t) {
    return t->latest + (t->at->done ? t->at->done->after : t->at->quiet);
}

static void work(traffic *t, int64_t limit) {
    while (first_known(t) == INT64_MAX && walker_next(t->engine, to_engine(t, limit)) != INT64_MAX)
        take(t, 0);
}

static int64_t up_to(int64_t cycle, int64_t limit) { return cycle <= limit ? cycle : INT64_MAX; }

int64_t traffic_next(traffic *t, int64_t limit) {
    if (t->under_way == 0 && t->expected == 0) return INT64_MAX;
    if (t->under_way > 0 && t->recalls) {
        int64_t quiet = recalled_until(t);
        if (t->expected > 0) work(t, limit);
        if (limit <= quiet || t->at->done)
            return up_to(ts_min(t->at->done ? quiet : INT64_MAX, first_known(t)), limit);
        catch_up(t, quiet);
    }
    work(t, limit);
    return up_to(first_known(t), limit);
}

int64_t traffic_quiet_until(const traffic *t, int64_t limit) {
    if (t->under_way == 0 && t->expected == 0) return INT64_MAX;
    int64_t until = first_known(t);
    if (until == INT64_MAX) until = of_engine(t, walker_quiet_until(t->engine, to_engine(t, limit)));
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
    int64_t own = recalls ? recalled_until(t) : first ? first->done : INT64_MAX;
    if (t->came && t->came->result.completed_cycle < own) {
        complete_arrival(t, result);
        return walker_check(err, t->engine);
    }
    record *r = recalls ? take_recalled(t) : earliest(t);
    if (!recalls) note_done(t, r);
    *result = r->result;
    result->tag = r->what.tag;
    result->issued_cycle = r->issued;
    result->completed_cycle = t->latest = r->done;
    bool moved = !r->what.src.space || ts_dma_move(err, r->what.plan, r->what.src.space, r->what.dst.space);
    r->over = true;
    if (--t->under_way == 0) end(t);
    forget(t);
    return moved && walker_check(err, t->engine);
}

/* ---- Counting for more ---- */

void traffic_mark(traffic *t) { traffic_count(t, &t->marked, &t->marked_recalled); }

void traffic_repeat(traffic *t, int64_t times, int64_t cycles) {
    ts_hbm_stats since;
    int64_t recalled;
    traffic_count(t, &since, &recalled);
    add_stats(&since, &t->marked, -1);
    add_stats(&t->past, &since, times);
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
    return (t->engine && walker_is_part(t->engine)) || t->recalled > 0 || t->passed.passed.bytes > 0 ||
           t->skipped > 0;
}

void traffic_count(const traffic *t, ts_hbm_stats *hbm, int64_t *recalled) {
    *hbm = (ts_hbm_stats){0};
    if (t->engine) walker_read_stats(t->engine, hbm);
    add_stats(hbm, &t->past, 1);
    passed_count(&t->passed, t->machine, hbm);
    *recalled = t->recalled;
}
