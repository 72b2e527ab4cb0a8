/* Races between the core and its transfers, and of transfers among themselves. */
#include "check/races.h"

#include "base/number.h"

typedef struct ts_race {
    ts_arena *arena;
    ts_reach src, dst;
    int pending[TS_FINDINGS_MOST]; /* findings whose margin is known at completion */
    int pending_count;
} race;

/* Granules of a memory of all cores, by words of 64. What was touched before the last barrier counts no
 * more. */
typedef struct {
    uint64_t touched;
    int64_t phase;
    const ts_transfer *what; /* the last */
} track;
typedef struct {
    const ts_space *space;
    track *words;
    int64_t count;
} trail;

enum { READ, WRITTEN, SHARED_SPACES = 2 };
struct ts_races {
    ts_arena *arena;
    const ts_code *code;
    ts_findings *findings;
    ts_in_flight *unsynced;
    /* of transfers that were waited for: by other cores nobody has waited until all have come to a barrier */
    trail trails[SHARED_SPACES][2];
    int64_t phase; /* from 1; how many barriers were passed */
    const ts_semaphore_account *accounts;
};

ts_races *ts_races_new(ts_arena *arena, const ts_code *code, ts_findings *findings,
                       const ts_semaphore_account *accounts, const ts_space *hbm, const ts_space *cmem) {
    ts_races *races = TS_NEW(arena, ts_races);
    *races = (ts_races){.arena = arena, .code = code, .findings = findings, .phase = 1, .accounts = accounts};
    for (int i = 0; i < 2 && code->cores > 1; i++) {
        races->trails[0][i].space = hbm;
        races->trails[1][i].space = cmem;
    }
    return races;
}

void ts_races_free(ts_races *races) {
    while (races && races->unsynced) {
        ts_in_flight *t = races->unsynced;
        races->unsynced = t->next;
        ts_arena_free(t->race->arena);
    }
}

/* ---- Findings ---- */

/* Who does what without waiting for a transfer. */
typedef struct {
    ts_finding_kind kind;
    ts_location where;
    const char *who;
    bool other_core; /* than that of the transfer */
} culprit;

static void report(ts_races *races, const culprit *c, ts_in_flight *other, ts_side side, int64_t cycle) {
    ts_location location = ts_location_of_transfer(other->what);
    ts_finding *f = ts_findings_add(races->findings, c->kind, c->where, location, cycle);
    if (!f) return;
    const ts_slice *slice = side == TS_DST ? &other->what->destination : &other->what->source;
    ts_finding_describe(f, "%s %s bytes of '%s' that a DMA %s%s, %s", c->who,
                        c->kind == TS_FINDING_READ_RACE ? "reads" : "writes",
                        races->code->tensors[slice->tensor].name, c->other_core ? "of another core " : "",
                        side == TS_DST ? "writes" : "reads",
                        c->other_core ? "with no wait and barrier between them" : "without waiting for it");
    f->other_text = c->other_core ? "the DMA of the other core" : "the DMA that was not waited for";
    f->has_margin = other->done_cycle >= 0;
    f->margin_cycles = cycle - other->done_cycle;
    race *r = other->race;
    if (!f->has_margin && r->pending_count < TS_FINDINGS_MOST)
        r->pending[r->pending_count++] = (int)(f - races->findings->list);
}

void ts_races_access(ts_races *races, const ts_access *access) {
    int64_t from = access->first / TS_GRANULE_BYTES, to = ts_ceil_div(access->end, TS_GRANULE_BYTES);
    for (ts_in_flight *t = races->unsynced; t; t = t->next) {
        bool in_dst = t->dst == access->space && ts_reach_touches(&t->race->dst, from, to);
        bool in_src = access->writes && t->src == access->space && ts_reach_touches(&t->race->src, from, to);
        if (in_dst || in_src) {
            culprit c = {access->writes ? TS_FINDING_WRITE_RACE : TS_FINDING_READ_RACE,
                         ts_location_of(access->instruction),
                         ts_opcode_get(access->instruction->opcode)->mnemonic, false};
            report(races, &c, t, in_dst ? TS_DST : TS_SRC, access->cycle);
        }
    }
}

typedef enum { OWN_CORE, OTHER_CORE } transfer_core;

/* Reports where a new transfer overlaps one that was not waited for. */
static void compare(ts_races *races, const ts_in_flight *started, transfer_core core) {
    ts_location where = ts_location_of_transfer(started->what);
    culprit reader = {TS_FINDING_READ_RACE, where, "this DMA", core == OTHER_CORE},
            writer = {TS_FINDING_WRITE_RACE, where, "this DMA", core == OTHER_CORE};
    const ts_reach *src = &started->race->src, *dst = &started->race->dst;
    int64_t cycle = started->issued_cycle;
    for (ts_in_flight *t = races->unsynced; t; t = t->next) {
        if (ts_reach_overlap(src, &t->race->dst)) report(races, &reader, t, TS_DST, cycle);
        if (ts_reach_overlap(dst, &t->race->dst)) report(races, &writer, t, TS_DST, cycle);
        if (ts_reach_overlap(dst, &t->race->src)) report(races, &writer, t, TS_SRC, cycle);
    }
}

/* ---- Between cores ---- */

static void leave_trail(ts_races *races, int kind, const ts_reach *r, const ts_transfer *what) {
    for (int i = 0; i < SHARED_SPACES; i++) {
        trail *t = &races->trails[i][kind];
        int64_t first = r->first / TS_REACH_WORD, words = ts_ceil_div(r->end, TS_REACH_WORD);
        if (t->space != r->space || !r->touched) continue;
        if (words > t->count) {
            t->words =
                ts_arena_grow(races->arena, t->words, (size_t)t->count, (size_t)words * 2, sizeof *t->words);
            t->count = words * 2;
        }
        for (int64_t w = first; w < words; w++) {
            uint64_t before = t->words[w].phase == races->phase ? t->words[w].touched : 0;
            if (r->touched[w - first])
                t->words[w] = (track){before | r->touched[w - first], races->phase, what};
        }
    }
}

/* A transfer of these races that touched some of it since the last barrier; NULL: none. */
static const ts_transfer *find_trail(const ts_races *races, int kind, const ts_reach *r) {
    for (int i = 0; i < SHARED_SPACES; i++) {
        const trail *t = &races->trails[i][kind];
        int64_t first = r->first / TS_REACH_WORD, words = ts_ceil_div(r->end, TS_REACH_WORD);
        if (t->space != r->space || !r->touched) continue;
        for (int64_t w = first; w < words && w < t->count; w++) {
            bool meets = t->words[w].phase == races->phase && (t->words[w].touched & r->touched[w - first]);
            if (meets) return t->words[w].what;
        }
    }
    return NULL;
}

static void report_unordered(ts_races *races, ts_finding_kind kind, const ts_in_flight *started,
                             int trail_kind) {
    const ts_reach *r = kind == TS_FINDING_READ_RACE ? &started->race->src : &started->race->dst;
    const ts_transfer *other = find_trail(races, trail_kind, r);
    ts_finding *f = other ? ts_findings_add(races->findings, kind, ts_location_of_transfer(started->what),
                                            ts_location_of_transfer(other), started->issued_cycle)
                          : NULL;
    if (!f) return;
    const ts_slice *slice = trail_kind == WRITTEN ? &other->destination : &other->source;
    ts_finding_describe(
        f, "this DMA %s bytes of '%s' that a DMA of another core %s, with no barrier between them",
        kind == TS_FINDING_READ_RACE ? "reads" : "writes", races->code->tensors[slice->tensor].name,
        trail_kind == WRITTEN ? "writes" : "reads");
    f->other_text = "the DMA of the other core";
}

void ts_races_compare_cores(ts_races *other, const ts_in_flight *started) {
    compare(other, started, OTHER_CORE);
    report_unordered(other, TS_FINDING_READ_RACE, started, WRITTEN);
    report_unordered(other, TS_FINDING_WRITE_RACE, started, WRITTEN);
    report_unordered(other, TS_FINDING_WRITE_RACE, started, READ);
}

void ts_races_pass_barrier(ts_races *races) { races->phase++; }

/* ---- Transfers ---- */

void ts_races_start(ts_races *races, ts_in_flight *t) {
    ts_arena *arena = ts_arena_new();
    t->race = TS_NEW(arena, race);
    *t->race = (race){.arena = arena,
                      .src = ts_reach_find(arena, t->plan, TS_SRC, t->src),
                      .dst = t->dst ? ts_reach_find(arena, t->plan, TS_DST, t->dst) : (ts_reach){0}};
    compare(races, t, OWN_CORE);
    t->next = races->unsynced;
    races->unsynced = t;
}

void ts_races_reach(const ts_in_flight *t, const ts_reach **src, const ts_reach **dst) {
    *src = &t->race->src;
    *dst = &t->race->dst;
}

void ts_races_complete(ts_races *races, const ts_in_flight *t) {
    for (int i = 0; i < t->race->pending_count; i++) {
        ts_finding *f = &races->findings->list[t->race->pending[i]];
        f->has_margin = true;
        f->margin_cycles = f->cycle - t->done_cycle;
    }
}

static void forget(ts_races *races, ts_in_flight *t) {
    leave_trail(races, READ, &t->race->src, t->what);
    leave_trail(races, WRITTEN, &t->race->dst, t->what);
    ts_arena_free(t->race->arena);
    t->race = NULL;
}

ts_in_flight *ts_races_change(ts_races *races, int semaphore) {
    const ts_semaphore_account *account = &races->accounts[semaphore];
    ts_in_flight *waited = NULL, **link = &races->unsynced;
    while (*link && account->taken >= account->sent + account->added) {
        ts_in_flight *t = *link;
        if (t->semaphore != semaphore || t->done_cycle < 0) {
            link = &t->next;
            continue;
        }
        *link = t->next;
        forget(races, t);
        t->next = waited;
        waited = t;
    }
    return waited;
}
