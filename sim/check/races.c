/* Races between the core and its transfers, and of transfers among themselves.
 *
 * Which bytes a transfer touches is kept as a bit for each granule of 32 bytes: less is one access of HBM and
 * one part of a row of VMEM, so that neighbours within it disturb each other in the machine as well. */
#include "check/races.h"

#include <string.h>

#include "base/number.h"

enum { GRANULE_BYTES = 32, GRANULE_BITS = GRANULE_BYTES * 8, WORD = 64 };

typedef struct {
    const ts_space *space;
    int64_t first, end; /* granules, `first` a multiple of 64 */
    uint64_t *touched;
} reach;

typedef struct ts_race {
    ts_arena *arena;
    reach src, dst;
    int pending[TS_FINDINGS_MOST]; /* findings whose margin is known at completion */
    int pending_count;
} race;

/* Granules of a memory of all cores, by words of 64. What was touched before the last barrier counts no more.
 */
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

/* ---- The granules of a plan's side ---- */

typedef struct {
    int64_t extent, bits;
} side_loop;

static void mark(reach *r, int64_t first_bit, int64_t end_bit) {
    int64_t first = ts_floor_div(first_bit, GRANULE_BITS), end = ts_ceil_div(end_bit, GRANULE_BITS);
    for (int64_t g = first; g < end; g++) {
        int64_t at = g - r->first;
        if (at % WORD == 0 && end - g >= WORD) {
            r->touched[at / WORD] = UINT64_MAX;
            g += WORD - 1;
        } else {
            r->touched[at / WORD] |= UINT64_C(1) << (at % WORD);
        }
    }
}

/* The loops of one side with steps of at least a granule, and the span of the others. */
static int split_loops(const ts_plan_box *box, bool source, int element_bits, side_loop *loops, int64_t *low,
                       int64_t *high) {
    int count = 0;
    *low = 0;
    *high = element_bits;
    for (int i = 0; i < box->loop_count; i++) {
        side_loop l = {box->loops[i].extent, source ? box->loops[i].src_bits : box->loops[i].dst_bits};
        if (l.bits == 0) continue;
        if (l.bits > 0 && l.bits <= GRANULE_BITS)
            *high += (l.extent - 1) * l.bits;
        else if (l.bits < 0 && l.bits >= -GRANULE_BITS)
            *low += (l.extent - 1) * l.bits;
        else
            loops[count++] = l;
    }
    return count;
}

/* Steps that the span fills without a gap make it longer. */
static int join_loops(side_loop *loops, int count, int64_t *low, int64_t *high) {
    for (int i = 0; i < count; i++) {
        if (loops[i].bits > 0 && loops[i].bits <= *high - *low + GRANULE_BITS) {
            *high += (loops[i].extent - 1) * loops[i].bits;
            loops[i] = loops[--count];
            i = -1;
        }
    }
    return count;
}

static void mark_loops(reach *r, const side_loop *loops, int count, int64_t at, int64_t low, int64_t high) {
    if (count == 0) {
        mark(r, at + low, at + high);
        return;
    }
    for (int64_t i = 0; i < loops[0].extent; i++) {
        mark_loops(r, loops + 1, count - 1, at + i * loops[0].bits, low, high);
    }
}

static void box_range(const ts_plan_box *box, bool source, int element_bits, int64_t *first, int64_t *end) {
    int64_t low = source ? box->src_bits : box->dst_bits, high = low + element_bits;
    for (int i = 0; i < box->loop_count; i++) {
        int64_t reach_bits =
            (box->loops[i].extent - 1) * (source ? box->loops[i].src_bits : box->loops[i].dst_bits);
        *(reach_bits < 0 ? &low : &high) += reach_bits;
    }
    *first = low < *first ? low : *first;
    *end = high > *end ? high : *end;
}

static reach find_reach(ts_arena *arena, const ts_plan *plan, bool source, const ts_space *space) {
    int element_bits = (source ? plan->src : plan->dst).shape->element_bits;
    int64_t first = INT64_MAX, end = INT64_MIN;
    ts_plan_box box;
    for (int64_t n = 0; n < plan->box_count; n++) {
        ts_plan_get_box(plan, n, &box);
        box_range(&box, source, element_bits, &first, &end);
    }
    reach r = {.space = space};
    if (end <= first) return r;
    r.first = ts_floor_div(first, GRANULE_BITS) / WORD * WORD;
    r.end = ts_ceil_div(end, GRANULE_BITS);
    r.touched = TS_NEW_ARRAY(arena, uint64_t, ts_ceil_div(r.end - r.first, WORD));
    for (int64_t n = 0; n < plan->box_count; n++) {
        side_loop loops[TS_PLAN_MAX_LOOPS];
        int64_t low, high;
        ts_plan_get_box(plan, n, &box);
        int count = split_loops(&box, source, element_bits, loops, &low, &high);
        count = join_loops(loops, count, &low, &high);
        mark_loops(&r, loops, count, source ? box.src_bits : box.dst_bits, low, high);
    }
    return r;
}

static bool touches(const reach *r, int64_t first, int64_t end) {
    first = first > r->first ? first : r->first;
    end = end < r->end ? end : r->end;
    for (int64_t g = first; g < end; g++) {
        int64_t at = g - r->first;
        uint64_t word = r->touched[at / WORD] >> (at % WORD);
        int64_t left = end - g, here = WORD - at % WORD;
        if (left < here) word &= (UINT64_C(1) << left) - 1;
        if (word) return true;
        g += here - 1;
    }
    return false;
}

static bool overlap(const reach *a, const reach *b) {
    if (a->space != b->space || !a->touched || !b->touched) return false;
    int64_t first = a->first > b->first ? a->first : b->first, end = a->end < b->end ? a->end : b->end;
    for (int64_t g = first; g < end; g += WORD) { /* both begin at a multiple of 64 */
        if (a->touched[(g - a->first) / WORD] & b->touched[(g - b->first) / WORD]) return true;
    }
    return false;
}

/* ---- Findings ---- */

/* Who does what without waiting for a transfer. */
typedef struct {
    ts_finding_kind kind;
    ts_place where;
    const char *who;
    bool other_core; /* than that of the transfer */
} culprit;

static void report(ts_races *races, const culprit *c, ts_in_flight *other, bool other_writes, int64_t cycle) {
    ts_place place = ts_place_of_transfer(other->what);
    ts_finding *f = ts_findings_add(races->findings, c->kind, c->where, place, cycle);
    if (!f) return;
    const ts_slice *slice = other_writes ? &other->what->destination : &other->what->source;
    ts_finding_describe(f, "%s %s bytes of '%s' that a DMA %s%s, %s", c->who,
                        c->kind == TS_FINDING_READ_RACE ? "reads" : "writes",
                        races->code->tensors[slice->tensor].name, c->other_core ? "of another core " : "",
                        other_writes ? "writes" : "reads",
                        c->other_core ? "with no wait and barrier between them" : "without waiting for it");
    f->other_text = c->other_core ? "the DMA of the other core" : "the DMA that was not waited for";
    f->has_margin = other->done_cycle >= 0;
    f->margin_cycles = cycle - other->done_cycle;
    race *r = other->race;
    if (!f->has_margin && r->pending_count < TS_FINDINGS_MOST) {
        r->pending[r->pending_count++] = (int)(f - races->findings->list);
    }
}

void ts_races_access(ts_races *races, const ts_access *access) {
    int64_t from = access->first / GRANULE_BYTES, to = ts_ceil_div(access->end, GRANULE_BYTES);
    for (ts_in_flight *t = races->unsynced; t; t = t->next) {
        bool in_dst = t->dst == access->space && touches(&t->race->dst, from, to);
        bool in_src = access->writes && t->src == access->space && touches(&t->race->src, from, to);
        if (in_dst || in_src) {
            culprit c = {access->writes ? TS_FINDING_WRITE_RACE : TS_FINDING_READ_RACE,
                         ts_place_of(access->instruction),
                         ts_opcode_get(access->instruction->opcode)->mnemonic, false};
            report(races, &c, t, in_dst, access->cycle);
        }
    }
}

/* Of a transfer with those that were not waited for. */
static void compare(ts_races *races, const ts_in_flight *started, bool other_core) {
    ts_place where = ts_place_of_transfer(started->what);
    culprit reader = {TS_FINDING_READ_RACE, where, "this DMA", other_core},
            writer = {TS_FINDING_WRITE_RACE, where, "this DMA", other_core};
    const reach *src = &started->race->src, *dst = &started->race->dst;
    int64_t cycle = started->issued_cycle;
    for (ts_in_flight *t = races->unsynced; t; t = t->next) {
        if (overlap(src, &t->race->dst)) report(races, &reader, t, true, cycle);
        if (overlap(dst, &t->race->dst)) report(races, &writer, t, true, cycle);
        if (overlap(dst, &t->race->src)) report(races, &writer, t, false, cycle);
    }
}

/* ---- Between cores ---- */

static void leave_trail(ts_races *races, int kind, const reach *r, const ts_transfer *what) {
    for (int i = 0; i < SHARED_SPACES; i++) {
        trail *t = &races->trails[i][kind];
        int64_t first = r->first / WORD, words = ts_ceil_div(r->end, WORD);
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
static const ts_transfer *find_trail(const ts_races *races, int kind, const reach *r) {
    for (int i = 0; i < SHARED_SPACES; i++) {
        const trail *t = &races->trails[i][kind];
        int64_t first = r->first / WORD, words = ts_ceil_div(r->end, WORD);
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
    const reach *r = kind == TS_FINDING_READ_RACE ? &started->race->src : &started->race->dst;
    const ts_transfer *other = find_trail(races, trail_kind, r);
    ts_finding *f = other ? ts_findings_add(races->findings, kind, ts_place_of_transfer(started->what),
                                            ts_place_of_transfer(other), started->issued_cycle)
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
    compare(other, started, true);
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
                      .src = find_reach(arena, t->plan, true, t->src),
                      .dst = t->dst ? find_reach(arena, t->plan, false, t->dst) : (reach){0}};
    compare(races, t, false);
    t->next = races->unsynced;
    races->unsynced = t;
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
