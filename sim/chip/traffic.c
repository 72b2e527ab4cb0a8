/* Transfers walked, and transfers recalled. */
#include "traffic.h"

#include <assert.h>
#include <string.h>

#include "tilesim/base/clock.h"
#include "tilesim/base/number.h"

/* Transfers between two layouts whose plans differ in nothing but whole accesses of HBM. */
typedef struct shape {
    struct shape *next;
    uint64_t hash[2];
} shape;

typedef struct {
    const shape *shape;
    int64_t ago; /* cycles since it was issued */
} member;

/* A situation, in order of issue, the last being the transfer that starts; and what comes of it when no other
 * starts. */
typedef struct episode {
    struct episode *next;
    uint64_t hash;
    int count, phase;
    int64_t origin; /* the cycle after a refresh at which its first is issued */
    member *members;
    int64_t *started_in, *done_in; /* cycles from the start of the last; negative: before it */
    ts_dma_result *results;
    int64_t hbm_bytes; /* of all members */
    ts_hbm_stats hbm;
} episode;

typedef struct record {
    struct record *next; /* in order of issue */
    shape *shape;
    ts_arena *arena; /* of its plan */
    ts_dma_transfer what;
    int64_t issued, started, done; /* done INT64_MAX: not known yet */
    const episode *episode;        /* NULL: it was walked */
    int member;                    /* of the episode */
    bool over;
} record;

enum { BUCKETS = 1 << 10, SHAPE_BOXES = 1 << 10 };
enum { PHASES = 16 };            /* parts of the time between two refreshes, at most */
enum { KEPT = 8, WINDOW = 256 }; /* completed transfers that may belong to a situation; all that may */
enum { KEPT_CYCLES = 4096 };     /* so long after their completion */

struct traffic {
    ts_arena *arena;
    const ts_dma_machine *machine;
    ts_dma *walked;
    ts_hbm *hbm;
    bool exact, recalls;
    int64_t walked_bytes, serial;
    record *first, *free; /* first: those under way, and those that overlap with them */
    int64_t latest;       /* the cycle of the last start */
    int64_t
        due; /* the cycle in which transfers that have just started begin to matter; INT64_MAX: none have */
    int under_way;
    shape *shapes[BUCKETS];
    episode *episodes[BUCKETS];
    int64_t interval;       /* of refreshes of all banks; 0: none */
    int64_t interval_bytes; /* that the HBM moves in it at its peak */
    ts_dma *quiet;          /* the engine on which new situations are walked */
    ts_hbm *quiet_hbm;
    member window[WINDOW];
    ts_hbm_stats recalled_hbm;
    int64_t recalled;
};

static int64_t tick_khz(const ts_hbm_config *hbm) { return hbm->clock_khz * hbm->ticks_per_ck; }

static bool make_quiet(ts_error *err, traffic *t) {
    const ts_hbm_config *hbm = t->machine->hbm;
    int64_t khz = tick_khz(hbm);
    if (hbm->refresh == TS_HBM_REFRESH_ALL_BANK) {
        int64_t ticks = (int64_t)hbm->timing.t_refi * hbm->ticks_per_ck;
        t->interval = ts_clock_convert(ticks, khz, t->machine->core_khz);
        t->interval_bytes = (int64_t)hbm->timing.t_refi / hbm->timing.n_bl * hbm->burst_bytes * hbm->stacks *
                            hbm->channels * hbm->pseudo_channels;
    }
    t->quiet_hbm = ts_hbm_new(err, t->arena, hbm);
    if (!t->quiet_hbm) return false;
    t->quiet = ts_dma_new(t->arena, t->machine->dma, t->quiet_hbm, t->machine->core_khz, khz);
    return true;
}

/* Into how many parts the interval of refreshes is divided for a situation that moves so many bytes: where
 * the first refresh falls matters the less, the more of them there are. */
static int count_phases(const traffic *t, int64_t bytes) {
    int phases = t->interval > 0 ? PHASES : 1;
    while (phases > 1 && phases * bytes > PHASES / 2 * t->interval_bytes) phases /= 2;
    return phases;
}

traffic *traffic_new(ts_error *err, ts_arena *arena, const ts_dma_machine *machine, bool exact) {
    traffic *t = TS_NEW(arena, traffic);
    t->arena = arena;
    t->machine = machine;
    t->exact = exact;
    t->due = INT64_MAX;
    t->hbm = ts_hbm_new(err, arena, machine->hbm);
    if (!t->hbm) return NULL;
    t->walked = ts_dma_new(arena, machine->dma, t->hbm, machine->core_khz, tick_khz(machine->hbm));
    return t;
}

void traffic_free(traffic *t) {
    for (record *r = t->first; r; r = r->next) ts_arena_free(r->arena);
    ts_dma_free(t->walked);
    ts_dma_free(t->quiet);
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

static shape *find_shape(traffic *t, record *r, int layouts) {
    uint64_t hash[2];
    hash_shape(t, &r->what, layouts, hash);
    shape **at = &t->shapes[hash[0] % BUCKETS];
    for (shape *s = *at; s; s = s->next) {
        if (memcmp(s->hash, hash, sizeof hash) == 0) return s;
    }
    shape *made = TS_NEW(t->arena, shape);
    *made = (shape){.next = *at, .hash = {hash[0], hash[1]}};
    return *at = made;
}

/* ---- Situations ---- */
/* What is over and does not overlap with anything under way no longer matters, but for the last few: their
 * writes may still be queued. */
static void forget(traffic *t) {
    record **at = &t->first;
    int64_t earliest = INT64_MAX;
    int count = 0;
    for (record *r = t->first; r; r = r->next) {
        if (!r->over && r->issued < earliest) earliest = r->issued;
        count++;
    }
    while (*at) {
        record *r = *at;
        bool old = count > t->under_way + KEPT || r->done < earliest - KEPT_CYCLES;
        if (r->over && old && (r->done <= earliest || count > WINDOW / 2)) {
            *at = r->next;
            ts_arena_free(r->arena);
            *r = (record){.next = t->free};
            t->free = r;
            count--;
        } else {
            at = &r->next;
        }
    }
}

static int64_t planned_bytes(const ts_dma_transfer *what) {
    const ts_plan *plan = what->plan;
    int64_t bits = (what->src.in_hbm ? plan->src.shape->element_bits : 0) +
                   (what->dst.in_hbm ? plan->dst.shape->element_bits : 0);
    return plan->moved_elements * bits / 8;
}

static int look_around(traffic *t, int64_t now, uint64_t *hash, int64_t *bytes) {
    int count = 0;
    uint64_t both[2] = {0};
    *bytes = 0;
    for (record *r = t->first; r; r = r->next) {
        *bytes += planned_bytes(&r->what);
        assert(count < WINDOW);
        int64_t ago = now - r->issued;
        t->window[count++] = (member){r->shape, ago};
        mix(both, (int64_t)r->shape->hash[1]);
        mix(both, ago);
    }
    *hash = both[0];
    return count;
}

static int64_t moved_bytes(const ts_dma_transfer *what, const ts_dma_result *result) {
    return (what->src.in_hbm ? result->src_bytes : 0) + (what->dst.in_hbm ? result->dst_bytes : 0);
}

static void take(traffic *t, episode *e) {
    ts_dma_result r;
    bool complete = ts_dma_complete(NULL, t->quiet, &r);
    assert(complete);
    int64_t now = e->origin + e->members[0].ago;
    e->results[r.tag] = r;
    e->started_in[r.tag] = r.started_cycle - now;
    e->done_in[r.tag] = r.completed_cycle - now;
}

/* Walks a situation from rest, at cycle 0 of its own. */
static void walk(traffic *t, episode *e) {
    int64_t now = e->origin;
    ts_dma_reset(t->quiet);
    const record *r = t->first;
    for (int i = 0; i < e->count; i++, r = r->next) {
        int64_t start = e->origin + e->members[0].ago - e->members[i].ago, done;
        now = start > now ? start : now;
        while (ts_dma_next(t->quiet, now) != INT64_MAX) take(t, e);
        while (!ts_dma_can_start(t->quiet)) {
            done = ts_dma_next(t->quiet, INT64_MAX);
            take(t, e);
            now = done > now ? done : now;
        }
        ts_dma_transfer what = {r->what.plan, r->what.src, r->what.dst, i, r->what.priority};
        what.src.space = what.dst.space = NULL;
        bool started = ts_dma_start(NULL, t->quiet, &what, now);
        assert(started);
    }
    while (ts_dma_under_way(t->quiet) > 0) {
        ts_dma_next(t->quiet, INT64_MAX);
        take(t, e);
    }
    int i = 0;
    for (const record *m = t->first; m; m = m->next) e->hbm_bytes += moved_bytes(&m->what, &e->results[i++]);
    ts_hbm_drain(t->quiet_hbm);
    ts_hbm_read_stats(t->quiet_hbm, &e->hbm);
}

static const episode *find_episode(traffic *t, int64_t now) {
    uint64_t hash;
    int64_t bytes, before = t->first->issued;
    int count = look_around(t, now, &hash, &bytes), phases = count_phases(t, bytes);
    int phase = phases > 1 ? (int)(before % t->interval * phases / t->interval) : 0;
    episode **at = &t->episodes[hash % BUCKETS];
    for (episode *e = *at; e; e = e->next) {
        bool same = e->hash == hash && e->count == count && e->phase == phase;
        if (same && memcmp(e->members, t->window, (size_t)count * sizeof(member)) == 0) return e;
    }
    episode *e = TS_NEW(t->arena, episode);
    *e = (episode){.next = *at, .hash = hash, .count = count, .phase = phase};
    e->origin = (2 * phase + 1) * t->interval / (2 * phases);
    e->members = TS_NEW_ARRAY(t->arena, member, count);
    e->started_in = TS_NEW_ARRAY(t->arena, int64_t, count);
    e->done_in = TS_NEW_ARRAY(t->arena, int64_t, count);
    e->results = TS_NEW_ARRAY(t->arena, ts_dma_result, count);
    memcpy(e->members, t->window, (size_t)count * sizeof(member));
    walk(t, e);
    return *at = e;
}

/* What is under way ends as in the situation that the latest starts have made, but not before they mattered.
 */
static void recall(traffic *t) {
    const episode *e = find_episode(t, t->latest);
    int i = 0;
    for (record *r = t->first; r; r = r->next, i++) {
        if (r->over) continue;
        int64_t done = t->latest + e->done_in[i], started = t->latest + e->started_in[i];
        r->started = started > r->issued ? started : r->issued;
        r->done = done > t->due ? done : t->due;
        r->episode = e;
        r->member = i;
    }
    t->due = INT64_MAX;
}

/* A transfer that starts changes nothing before its issue cost has run; several that start within it are
 * taken together. */
static void expect(traffic *t, int64_t cycle) {
    int64_t due = cycle + ts_clock_cycles(t->machine->dma->issue_ps, t->machine->core_khz);
    t->due = due < t->due ? due : t->due;
    t->latest = cycle;
}

/* Those under way are recalled from now on. */
static bool stop_walking(ts_error *err, traffic *t) {
    ts_dma_result ignored;
    t->recalls = true;
    while (ts_dma_under_way(t->walked) > 0) {
        ts_dma_next(t->walked, INT64_MAX);
        ts_dma_complete(NULL, t->walked, &ignored);
    }
    return make_quiet(err, t);
}

/* ---- Starting and completing ---- */

static record *append(traffic *t, const ts_dma_transfer *what, int layouts, ts_arena *arena, int64_t cycle) {
    record *r = t->free;
    if (r)
        t->free = r->next;
    else
        r = TS_NEW(t->arena, record);
    *r = (record){.what = *what, .arena = arena, .issued = cycle, .done = INT64_MAX};
    r->shape = find_shape(t, r, layouts);
    record **end = &t->first;
    while (*end) end = &(*end)->next;
    *end = r;
    t->under_way++;
    return r;
}

static bool can_start(ts_error *err, traffic *t, const ts_dma_transfer *what) {
    bool moves = what->src.space != NULL;
    if (moves && !ts_dma_check(err, what->plan, what->src.space, what->dst.space)) return false;
    if (!ts_dma_check_kind(err, t->machine->dma, what->plan)) return false;
    return t->exact || t->recalls || t->walked_bytes < TRAFFIC_WALKED_BYTES || stop_walking(err, t);
}

bool traffic_start(ts_error *err, traffic *t, const ts_dma_transfer *what, int layouts, ts_arena *arena,
                   int64_t cycle) {
    if (!can_start(err, t, what)) {
        ts_arena_free(arena);
        return false;
    }
    if (t->recalls && t->due <= cycle) recall(t);
    record *r = append(t, what, layouts, arena, cycle);
    forget(t);
    if (t->recalls) {
        expect(t, cycle);
        return true;
    }
    t->walked_bytes += planned_bytes(what);
    ts_dma_transfer inner = {what->plan, what->src, what->dst, (int64_t)(intptr_t)r, what->priority};
    inner.src.space = inner.dst.space = NULL; /* bytes move here */
    return ts_dma_start(err, t->walked, &inner, cycle);
}

static record *earliest(const traffic *t) {
    record *best = NULL;
    for (record *r = t->first; r; r = r->next) {
        if (!r->over && (!best || r->done < best->done)) best = r;
    }
    return best;
}

int64_t traffic_next(traffic *t, int64_t limit) {
    if (!t->recalls) return ts_dma_next(t->walked, limit);
    const record *r = earliest(t);
    if (t->due <= limit && r && t->due <= r->done) {
        recall(t);
        r = earliest(t);
    }
    return r && r->done <= limit ? r->done : INT64_MAX;
}

int64_t traffic_quiet_until(const traffic *t, int64_t limit) {
    if (!t->recalls) return ts_dma_quiet_until(t->walked, limit);
    const record *r = earliest(t);
    return r && r->done < t->due ? r->done : t->due;
}

/* Every member is an int64; the largest latency and the last cycle are not sums. */
static void add_share(ts_hbm_stats *sum, const ts_hbm_stats *stats, int64_t part, int64_t whole) {
    int64_t largest = sum->read_latency_max, end = sum->end_cycle, *to = (int64_t *)sum;
    const int64_t *from = (const int64_t *)stats;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += (int64_t)((__int128)from[i] * part / whole);
    sum->read_latency_max = largest > stats->read_latency_max ? largest : stats->read_latency_max;
    sum->end_cycle = end;
}

static record *take_recalled(traffic *t, ts_dma_result *result) {
    record *r = earliest(t);
    *result = r->episode->results[r->member];
    result->issued_cycle = r->issued;
    result->started_cycle = r->started;
    result->completed_cycle = r->done;
    int64_t bytes = moved_bytes(&r->what, result);
    if (bytes > 0) add_share(&t->recalled_hbm, &r->episode->hbm, bytes, r->episode->hbm_bytes);
    t->recalled++;
    return r;
}

static record *take_walked(ts_error *err, traffic *t, ts_dma_result *result) {
    bool complete = ts_dma_complete(err, t->walked, result);
    assert(complete);
    record *r = (record *)(intptr_t)result->tag;
    r->done = result->completed_cycle;
    return r;
}

bool traffic_complete(ts_error *err, traffic *t, ts_dma_result *result) {
    record *r = t->recalls ? take_recalled(t, result) : take_walked(err, t, result);
    result->tag = r->what.tag;
    r->over = true;
    t->under_way--;
    bool moved = !r->what.src.space || ts_dma_move(err, r->what.plan, r->what.src.space, r->what.dst.space);
    return moved;
}

void traffic_count(const traffic *t, ts_hbm_stats *hbm, int64_t *recalled) {
    ts_hbm_read_stats(t->hbm, hbm);
    add_share(hbm, &t->recalled_hbm, 1, 1);
    *recalled = t->recalled;
}
