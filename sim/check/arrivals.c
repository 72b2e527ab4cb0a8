/* Writes of other devices. */
#include "check/arrivals.h"

#include <string.h>

#include "base/number.h"
#include "check/races.h"
#include "check/reach.h"

/* The last use of a granule. */
typedef struct {
    int64_t cycle;            /* -1: none */
    const ts_instruction *by; /* NULL: `transfer` */
    const ts_transfer *transfer;
} use;

/* A tensor that other devices write. */
typedef struct {
    const ts_space *space;
    int64_t first, end; /* granules */
    use *last;
} watched;

/* What came and was not waited for. */
typedef struct arrived {
    struct arrived *next;          /* that came to the same semaphore */
    struct arrived *older, *newer; /* of what wrote */
    ts_arena *arena;               /* of the reach; NULL: a signal, which touches nothing */
    ts_arrival is;
    ts_reach reach;
    int64_t known[]; /* `is` has it */
} arrived;

/* The first first. */
typedef struct {
    arrived *first, *last;
    arrived *seen; /* the last arrival that a read of the semaphore has seen; NULL: none */
} queue;

struct ts_arrivals {
    ts_arrivals_setup setup;
    int count;
    watched *tensors;
    queue *semaphores;
    queue written; /* what wrote, of all semaphores */
    arrived *spare;
    int64_t *known;
};

static bool is_watched(const ts_code *code, int tensor) {
    bool found = false;
    for (int i = 0; i < code->transfer_count; i++)
        found = found || (code->transfers[i].remote && code->transfers[i].destination.tensor == tensor);
    return found;
}

ts_arrivals *ts_arrivals_new(const ts_arrivals_setup *setup) {
    const ts_code *code = setup->code;
    ts_arrivals *a = TS_NEW(setup->arena, ts_arrivals);
    *a = (ts_arrivals){.setup = *setup};
    a->known = TS_NEW_ARRAY(setup->arena, int64_t, setup->device_count);
    for (int64_t d = 0; d < setup->device_count; d++) a->known[d] = -1;
    a->semaphores = TS_NEW_ARRAY(setup->arena, queue, code->semaphore_count);
    a->tensors = TS_NEW_ARRAY(setup->arena, watched, code->tensor_count);
    for (int i = 0; i < code->tensor_count; i++) {
        const ts_tensor *t = &code->tensors[i];
        if (!is_watched(code, i)) continue;
        watched *w = &a->tensors[a->count++];
        *w = (watched){setup->spaces[t->space], t->base_bytes / TS_GRANULE_BYTES,
                       ts_ceil_div(t->base_bytes + t->bytes, TS_GRANULE_BYTES), NULL};
        w->last = TS_NEW_ARRAY(setup->arena, use, w->end - w->first);
        for (int64_t g = 0; g < w->end - w->first; g++) w->last[g].cycle = -1;
    }
    return a;
}

void ts_arrivals_free(ts_arrivals *a) {
    while (a && a->written.first) {
        arrived *gone = a->written.first;
        a->written.first = gone->newer;
        ts_arena_free(gone->arena);
    }
}

/* ---- Uses ---- */

static void note_span(watched *w, int64_t first, int64_t end, const use *by) {
    for (int64_t g = ts_max(first, w->first); g < end && g < w->end; g++) w->last[g - w->first] = *by;
}

static void note_reach(ts_arrivals *a, const ts_reach *r, const use *by) {
    for (int i = 0; i < a->count && r->touched; i++) {
        watched *w = &a->tensors[i];
        if (w->space != r->space) continue;
        for (int64_t g = r->first; g < r->end; g++)
            if (r->touched[(g - r->first) / TS_REACH_WORD] >> ((g - r->first) % TS_REACH_WORD) & 1)
                note_span(w, g, g + 1, by);
    }
}

static void report(const ts_arrivals *a, const arrived *other, ts_side side, ts_location where,
                   int64_t cycle) {
    ts_finding *f =
        ts_findings_add(a->setup.findings, side == TS_SRC ? TS_FINDING_READ_RACE : TS_FINDING_WRITE_RACE,
                        where, ts_location_of_transfer(other->is.what), cycle);
    if (!f) return;
    ts_finding_describe(f, "this %s bytes of '%s' that a DMA of device %lld wrote, without waiting for it",
                        side == TS_SRC ? "reads" : "writes",
                        a->setup.code->tensors[other->is.what->destination.tensor].name,
                        (long long)other->is.source);
    f->other_text = "the DMA that was not waited for";
    f->has_margin = true;
    f->margin_cycles = cycle - other->is.cycle;
}

void ts_arrivals_access(ts_arrivals *a, const ts_access *access) {
    if (!a) return;
    int64_t first = access->first / TS_GRANULE_BYTES, end = ts_ceil_div(access->end, TS_GRANULE_BYTES);
    for (const arrived *i = a->written.first; i; i = i->newer)
        if (i->reach.space == access->space && ts_reach_touches(&i->reach, first, end))
            report(a, i, access->writes ? TS_DST : TS_SRC, ts_location_of(access->instruction),
                   access->cycle);
    const use by = {access->cycle, access->instruction, NULL};
    for (int i = 0; i < a->count; i++)
        if (a->tensors[i].space == access->space) note_span(&a->tensors[i], first, end, &by);
}

void ts_arrivals_start(ts_arrivals *a, const ts_in_flight *t) {
    if (!a || !a->written.first) return;
    ts_arena *scratch = ts_arena_new();
    ts_reach src = ts_reach_find(scratch, t->plan, TS_SRC, t->src), dst = {0};
    if (t->dst) dst = ts_reach_find(scratch, t->plan, TS_DST, t->dst);
    for (const arrived *i = a->written.first; i; i = i->newer) {
        if (ts_reach_overlap(&src, &i->reach))
            report(a, i, TS_SRC, ts_location_of_transfer(t->what), t->issued_cycle);
        if (ts_reach_overlap(&dst, &i->reach))
            report(a, i, TS_DST, ts_location_of_transfer(t->what), t->issued_cycle);
    }
    ts_arena_free(scratch);
}

void ts_arrivals_done(ts_arrivals *a, const ts_in_flight *t) {
    if (!a) return;
    const ts_reach *src, *dst;
    const use by = {t->done_cycle, NULL, t->what};
    ts_races_reach(t, &src, &dst);
    note_reach(a, src, &by);
    note_reach(a, dst, &by);
}

/* ---- Writes ---- */

static ts_location location_of_use(const use *u) {
    return u->by ? ts_location_of(u->by) : ts_location_of_transfer(u->transfer);
}

/* The last of the uses of what is written of which the sender did not know; NULL: none. */
static const use *find_unordered(const ts_arrivals *a, const arrived *new) {
    const use *found = NULL;
    const ts_reach *r = &new->reach;
    int64_t known = new->is.known[a->setup.device];
    for (int i = 0; i < a->count; i++) {
        const watched *w = &a->tensors[i];
        for (int64_t g = w->first; w->space == r->space && g < w->end; g++) {
            const use *u = &w->last[g - w->first];
            if (u->cycle > known && ts_reach_touches(r, g, g + 1) && (!found || u->cycle > found->cycle))
                found = u;
        }
    }
    return found;
}

static void compare_uses(ts_arrivals *a, const arrived *new) {
    const use *last = find_unordered(a, new);
    ts_finding *f =
        last ? ts_findings_add(a->setup.findings, TS_FINDING_WRITE_RACE,
                               ts_location_of_transfer(new->is.what), location_of_use(last), new->is.cycle)
             : NULL;
    if (!f) return;
    ts_finding_describe(f, "this DMA of device %lld writes bytes of '%s' whose use here it did not wait for",
                        (long long)new->is.source,
                        a->setup.code->tensors[new->is.what->destination.tensor].name);
    f->other_text = "the use: nothing that the sender waited for comes behind it";
    f->has_margin = true;
    f->margin_cycles = new->is.cycle - last->cycle;
}

static void compare_arrived(ts_arrivals *a, const arrived *new) {
    compare_uses(a, new);
    for (const arrived *i = a->written.first; i; i = i->newer)
        if (ts_reach_overlap(&i->reach, &new->reach))
            report(a, i, TS_DST, ts_location_of_transfer(new->is.what), new->is.cycle);
}

static arrived *new_arrived(ts_arrivals *a, const ts_arrival *arrival) {
    size_t known_bytes = (size_t)a->setup.device_count * sizeof(int64_t);
    arrived *new = a->spare;
    if (new)
        a->spare = new->next;
    else
        new = ts_arena_alloc(a->setup.arena, 1, sizeof *new + known_bytes);
    *new = (arrived){.is = *arrival};
    new->is.known = memcpy(new->known, arrival->known, known_bytes);
    return new;
}

static void write_bytes(ts_arrivals *a, arrived *new) {
    int tensor = new->is.what->destination.tensor;
    new->arena = ts_arena_new();
    new->reach = ts_reach_find(new->arena, new->is.plan, TS_DST,
                               a->setup.spaces[a->setup.code->tensors[tensor].space]);
    compare_arrived(a, new);
    new->older = a->written.last;
    *(new->older ? &new->older->newer : &a->written.first) = new;
    a->written.last = new;
}

void ts_arrivals_come(ts_arrivals *a, const ts_arrival *arrival) {
    if (!a) return;
    arrived *new = new_arrived(a, arrival);
    queue *q = &a->semaphores[arrival->semaphore];
    if (arrival->what) write_bytes(a, new);
    *(q->first ? &q->last->next : &q->first) = new;
    q->last = new;
}

/* All of it was taken. */
static void forget(ts_arrivals *a, arrived *i) {
    if (i->arena) {
        *(i->older ? &i->older->newer : &a->written.first) = i->newer;
        *(i->newer ? &i->newer->older : &a->written.last) = i->older;
        ts_arena_free(i->arena);
    }
    i->next = a->spare;
    a->spare = i;
}

static void learn(ts_arrivals *a, const int64_t *known) {
    for (int64_t d = 0; d < a->setup.device_count; d++) a->known[d] = ts_max(a->known[d], known[d]);
}

void ts_arrivals_look(ts_arrivals *a, int semaphore) {
    queue *q = &a->semaphores[semaphore];
    for (arrived *i = q->seen ? q->seen->next : q->first; i; i = i->next) {
        learn(a, i->is.known);
        q->seen = i;
    }
}

void ts_arrivals_wait(ts_arrivals *a, const ts_instruction *wait, int semaphore, int64_t count,
                      int64_t cycle) {
    for (queue *q = a ? &a->semaphores[semaphore] : NULL; q && q->first && count > 0;) {
        arrived *i = q->first;
        int64_t taken = ts_min(count, i->is.by);
        learn(a, i->is.known);
        count -= taken;
        i->is.by -= taken;
        if (i->is.by > 0) return;
        q->first = i->next;
        if (q->seen == i) q->seen = NULL;
        note_reach(a, &i->reach, &(use){cycle, wait, NULL});
        forget(a, i);
    }
}

/* ---- Clocks ---- */

void ts_arrivals_meet(ts_arrivals *a, const ts_arrivals *other) {
    if (a) learn(a, other->known);
}

const int64_t *ts_arrivals_known(ts_arrivals *a, int64_t cycle) {
    a->known[a->setup.device] = cycle;
    return a->known;
}
