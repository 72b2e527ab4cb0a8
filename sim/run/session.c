/* Sessions. */
#include "run/session.h"

#include <assert.h>

#include "base/number.h"
#include "move/move.h"
#include "layout/plan.h"
#include "layout/shape.h"

#include "session_private.h"

/* What was asked to be told as well. */
static const ts_chip_observer *also_told(const session_device *d) {
    const ts_run_request *request = d->session->request;
    return request->observers ? request->observers[d->number] : request->observer;
}

static void see_chip(void *self, const ts_chip *chip) {
    const ts_chip_observer *o = also_told(self);
    if (o && o->opened) o->opened(o->self, chip);
}

static void see_bundle(void *self, int bundle, int64_t cycle) {
    session_device *d = self;
    const ts_chip_observer *o = also_told(d);
    pace *own = &d->paces[d->core];
    d->session->events++;
    own->issued++;
    own->stall = -1;
    own->last_cycle = cycle;
    if (o && o->issued) o->issued(o->self, bundle, cycle);
}

static void see_stall(void *self, int bundle, int64_t first_cycle, int64_t cycles, int stall) {
    session_device *d = self;
    const ts_chip_observer *o = also_told(d);
    pace *own = &d->paces[d->core];
    d->session->events++;
    own->stall = stall;
    own->stall_cycles = cycles;
    own->last_cycle = first_cycle + cycles;
    if (o && o->stalled) o->stalled(o->self, bundle, first_cycle, cycles, stall);
}

static void see_transfer(void *self, const ts_in_flight *transfer, const ts_dma_result *result) {
    session_device *d = self;
    const ts_chip_observer *o = also_told(d);
    d->session->events++;
    for (int i = 0; i < TS_CHIP_CORES; i++) d->paces[i].last_cycle = result->completed_cycle;
    if (o && o->transferred) o->transferred(o->self, transfer, result);
}

static void see_core(void *self, int core) {
    session_device *d = self;
    const ts_chip_observer *o = also_told(d);
    d->core = core;
    if (o && o->core) o->core(o->self, core);
}

/* ---- Boxes of tensors ---- */

/* From a box of a tensor to a row-major array. */
static const ts_plan *plan_box(ts_error *err, ts_arena *arena, const ts_session *s,
                               const ts_session_box *box) {
    const ts_tensor *tensor = &s->parts.program->code.tensors[box->tensor];
    const ts_shape *shape = tensor->shape;
    ts_space *space = ts_chip_core_space(s->parts.chip, s->followed, tensor->space);
    int64_t *axis_bits = TS_NEW_ARRAY(arena, int64_t, TS_LAYOUT_MAX_AXES);
    int rank = shape->layout->rank;
    const ts_shape *flat = ts_shape_row_major(err, arena, shape->dtype, rank, box->sizes);
    if (!flat || !ts_space_place(err, space, shape, tensor->base_bytes, axis_bits)) return NULL;
    ts_plan_side from = {shape, box->begin, axis_bits, tensor->base_bytes * 8}, to = {flat, NULL, NULL, 0};
    return ts_plan_new(err, arena, &from, &to, rank, box->sizes);
}

/* ---- Watches ---- */

static void see_write(session_device *d, const ts_watch_hit *by, const ts_space *space, int64_t first,
                      int64_t end) {
    ts_session *s = d->session;
    for (int i = 0; i < TS_WATCHES && s->watch_count > 0 && !s->was_hit; i++) {
        if (!watch_meets(&s->watches[i], space, first, end)) continue;
        s->was_hit = true;
        s->hit_device = d->number;
        s->hit = *by;
        s->hit.watch = i + 1;
        s->hit.space = s->watches[i].kind;
        s->hit.first = first;
        s->hit.end = end;
    }
}

static void see_store(void *self, const ts_access *store) {
    const ts_watch_hit by = {.instruction = store->instruction, .cycle = store->cycle};
    int64_t words = (store->end - store->first) / 4;
    if (!store->mask) see_write(self, &by, store->space, store->first, store->end);
    for (int64_t i = 0, end; store->mask && i < words; i = end + 1) {
        for (end = i; end < words && store->mask[end]; end++) {
        }
        if (end > i) see_write(self, &by, store->space, store->first + 4 * i, store->first + 4 * end);
    }
}

typedef struct {
    session_device *device;
    const ts_in_flight *transfer;
} watched_transfer;

static bool see_run(void *self, int64_t first, int64_t end) {
    const watched_transfer *w = self;
    const ts_in_flight *t = w->transfer;
    see_write(w->device, &(ts_watch_hit){.transfer = t->transfer, .cycle = t->done_cycle}, t->dst, first,
              end);
    return !w->device->session->was_hit;
}

static void see_move(void *self, const ts_in_flight *transfer) {
    watched_transfer w = {self, transfer};
    if (w.device->session->watch_count > 0) watch_visit_runs(transfer->plan, TS_DST, see_run, &w);
}

static watch *free_watch(ts_error *err, ts_session *s) {
    for (int i = 0; i < TS_WATCHES; i++)
        if (!s->watches[i].arena) return &s->watches[i];
    ts_error_set(err, TS_ERROR_INPUT, "there are %d watches already", TS_WATCHES);
    return NULL;
}

static int begin_watch(ts_session *s, watch *w, ts_space_kind kind) {
    w->kind = kind;
    s->watch_count++;
    return (int)(w - s->watches) + 1;
}

int ts_session_watch_bytes(ts_error *err, ts_session *s, ts_space_kind kind, int64_t first, int64_t end) {
    const ts_space *space = ts_chip_core_space(s->parts.chip, s->followed, kind);
    if (!space || first < 0 || end <= first || !ts_space_contains(space, first, end - first)) {
        ts_error_set(err, TS_ERROR_INPUT, "expected bytes that %s has", ts_space_text(kind));
        return -1;
    }
    watch *w = free_watch(err, s);
    if (!w || !watch_new(err, w, space, first, end)) return -1;
    watch_add(w, first, end);
    return begin_watch(s, w, kind);
}

typedef struct {
    int64_t first, end;
} span;

static bool widen(void *self, int64_t first, int64_t end) {
    span *s = self;
    s->first = ts_min(first, s->first);
    s->end = ts_max(end, s->end);
    return true;
}

static bool add_run(void *self, int64_t first, int64_t end) {
    watch_add(self, first, end);
    return true;
}

int ts_session_watch_box(ts_error *err, ts_session *s, const ts_session_box *box) {
    ts_arena *scratch = ts_arena_new();
    ts_space_kind kind = s->parts.program->code.tensors[box->tensor].space;
    const ts_plan *plan = plan_box(err, scratch, s, box);
    span all = {INT64_MAX, INT64_MIN};
    watch *w = plan ? free_watch(err, s) : NULL;
    int found = -1;
    if (w && watch_visit_runs(plan, TS_SRC, widen, &all) && all.end <= all.first) {
        ts_error_set(err, TS_ERROR_INPUT, "expected a slice that is not empty");
    } else if (w &&
               watch_new(err, w, ts_chip_core_space(s->parts.chip, s->followed, kind), all.first, all.end)) {
        watch_visit_runs(plan, TS_SRC, add_run, w);
        found = begin_watch(s, w, kind);
    }
    ts_arena_free(scratch);
    return found;
}

bool ts_session_unwatch(ts_session *s, int number) {
    bool known = number >= 1 && number <= TS_WATCHES && s->watches[number - 1].arena;
    if (known) {
        watch_free(&s->watches[number - 1]);
        s->watch_count--;
    }
    return known;
}

bool ts_session_watch(const ts_session *s, int number, ts_watch_range *range) {
    const watch *w = &s->watches[number - 1];
    *range = (ts_watch_range){w->kind, w->first, w->end};
    return w->arena != NULL;
}

const ts_watch_hit *ts_session_hit(const ts_session *s) { return s->was_hit ? &s->hit : NULL; }

/* ---- Opening ---- */

static void begin_device(session_device *d, ts_session *s, int64_t number) {
    *d = (session_device){.session = s,
                          .number = number,
                          .told = -1,
                          .observer = {.self = d,
                                       .opened = see_chip,
                                       .issued = see_bundle,
                                       .stalled = see_stall,
                                       .transferred = see_transfer,
                                       .core = see_core,
                                       .stored = see_store,
                                       .moved = see_move}};
    for (int i = 0; i < TS_CHIP_CORES; i++) d->paces[i].stall = -1;
}

static bool open_devices(ts_error *err, ts_arena *arena, ts_session *s) {
    const ts_run_request *request = s->request;
    return request->mesh ? session_open_mesh(err, arena, s)
                         : run_parts_open(err, arena, request, &s->devices->observer, &s->parts);
}

ts_session *ts_session_open(ts_error *err, ts_arena *arena, const ts_run_request *request) {
    ts_session *s = TS_NEW(arena, ts_session);
    int64_t devices = request->mesh ? request->mesh->device_count : 1;
    *s = (ts_session){.request = request, .devices = TS_NEW_ARRAY(arena, session_device, devices)};
    for (int64_t i = 0; i < devices; i++) begin_device(&s->devices[i], s, i);
    s->at = s->devices;
    if (!open_devices(err, arena, s)) return NULL;
    s->entries = session_find_entries(arena, s->parts.program);
    return s;
}

void ts_session_close(ts_session *session) {
    if (session) {
        for (int i = 0; i < TS_WATCHES; i++) watch_free(&session->watches[i]);
        if (session->pod)
            ts_pod_free(session->pod);
        else
            ts_chip_free(session->parts.chip);
    }
}

const ts_program *ts_session_program(const ts_session *session) { return session->parts.program; }
ts_chip *ts_session_chip(ts_session *session) { return session->parts.chip; }
int ts_session_followed(const ts_session *session) { return session->followed; }

void ts_session_follow(ts_session *session, int core) {
    assert(core >= 0 && core < ts_chip_core_count(session->parts.chip));
    session->followed = core;
}

void ts_session_look(const ts_session *session, ts_session_state *state) {
    const ts_core *core = ts_chip_core(session->parts.chip, session->followed);
    const pace *own = &session->at->paces[session->followed];
    int64_t next = ts_core_next(core);
    ts_core_counters counters;
    ts_core_count(core, &counters);
    *state = (ts_session_state){.cycle = next == INT64_MAX ? own->last_cycle : next,
                                .estimated = ts_chip_is_estimated(session->parts.chip),
                                .bundle = ts_core_halted(core) ? -1 : ts_core_bundle(core),
                                .waits = !ts_core_halted(core) && next == INT64_MAX,
                                .stall = own->stall,
                                .stall_cycles = own->stall_cycles};
    if (ts_core_halted(core) || (state->waits && state->cycle < counters.cycles))
        state->cycle = counters.cycles;
    if (state->waits && state->cycle < session->cycle) state->cycle = session->cycle;
}

/* ---- Stopping ---- */

/* Events go on until none is left that belongs to the bundles issued: a breakpoint holds before the first
 * event of its bundle, but for the one where the session stands. */
/* Before the next bundle: has the session gone as far as it should? `first` and `before` are the bundles that
 * were issued when it began, and at the last look. */
static bool is_reached(ts_session *s, const ts_session_goal *goal, int64_t first, int64_t before,
                       ts_stop *stop) {
    const ts_core *core = ts_chip_core(s->parts.chip, s->followed);
    int64_t issued = s->at->paces[s->followed].issued;
    if (issued - first >= goal->bundles)
        *stop = TS_STOP_STEPPED;
    else if (ts_core_next(core) != INT64_MAX && ts_core_next(core) >= goal->until)
        *stop = TS_STOP_CYCLE;
    else if (issued != first && issued != before &&
             session_at_breakpoint(s, goal->breakpoints, goal->breakpoint_count))
        *stop = TS_STOP_BREAK;
    else
        return false;
    return true;
}

static bool stop_for(ts_stop why, ts_stop *stop) {
    *stop = why;
    return true;
}

static bool waits_beyond(const ts_session *s, int64_t until) {
    return until != INT64_MAX && ts_core_next(ts_chip_core(s->parts.chip, s->followed)) == INT64_MAX;
}

bool ts_session_go(ts_error *err, ts_session *s, const ts_session_goal *goal, ts_stop *stop) {
    if (s->pod) return session_go_on_mesh(err, s, goal, stop);
    pace *own = &s->at->paces[s->followed];
    int64_t first = own->issued, before = -1;
    bool running = !s->ended;
    int cores = ts_chip_core_count(s->parts.chip),
        idle = 0; /* steps without an event: each may begin to wait */
    *stop = TS_STOP_END;
    s->was_hit = false;
    while (running) {
        if (is_reached(s, goal, first, before, stop)) return true;
        before = own->issued;
        int64_t events = s->events;
        if (!ts_chip_step(err, s->parts.chip, s->request->max_cycles, goal->until, &running)) return false;
        if (s->was_hit) {
            s->ended = !running;
            return stop_for(TS_STOP_WATCH, stop);
        }
        idle = s->events == events ? idle + 1 : 0;
        if (running && idle > cores && waits_beyond(s, goal->until)) {
            own->last_cycle = ts_max(own->last_cycle, goal->until);
            return stop_for(TS_STOP_CYCLE, stop);
        }
    }
    s->ended = true;
    return true;
}

/* ---- Values ---- */

bool ts_session_fetch(ts_error *err, ts_arena *arena, ts_session *session, const ts_session_box *box,
                      ts_host_array *array) {
    const ts_tensor *tensor = &session->parts.program->code.tensors[box->tensor];
    ts_space *space = ts_chip_core_space(session->parts.chip, session->followed, tensor->space);
    const ts_plan *plan = plan_box(err, arena, session, box);
    if (!plan || !ts_host_array_init(err, arena, tensor->shape->dtype, plan->rank, box->sizes, array))
        return false;
    ts_space *out = ts_space_wrap(arena, "the output", array->bytes, (int64_t)array->length);
    return ts_dma_move(err, plan, space, out);
}
