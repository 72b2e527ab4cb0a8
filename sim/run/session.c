/* Sessions. */
#include "run/session.h"

#include <assert.h>
#include <string.h>

#include "move/move.h"
#include "layout/plan.h"
#include "layout/shape.h"

#include "run_parts.h"
#include "watch.h"

/* How far a core is. */
typedef struct {
    int64_t issued, last_cycle; /* of what was told last */
    int stall;                  /* of the bundle that issues next; -1: none */
    int64_t stall_cycles;
} pace;

struct ts_session {
    const ts_run_request *request;
    run_parts parts;
    ts_chip_observer observer; /* ours; it tells the request's */
    int core;                  /* that events come from */
    int followed;              /* the session stands where this core does */
    pace paces[TS_CHIP_CORES];
    int64_t events;
    bool ended;
    watch watches[TS_WATCHES];
    int watch_count; /* those with an arena */
    bool was_hit;
    ts_watch_hit hit;
};

static void see_bundle(void *self, int bundle, int64_t cycle) {
    ts_session *s = self;
    const ts_chip_observer *o = s->request->observer;
    pace *own = &s->paces[s->core];
    s->events++;
    own->issued++;
    own->stall = -1;
    own->last_cycle = cycle;
    if (o && o->issued) o->issued(o->self, bundle, cycle);
}

static void see_stall(void *self, int bundle, int64_t first_cycle, int64_t cycles, int stall) {
    ts_session *s = self;
    const ts_chip_observer *o = s->request->observer;
    pace *own = &s->paces[s->core];
    s->events++;
    own->stall = stall;
    own->stall_cycles = cycles;
    own->last_cycle = first_cycle + cycles;
    if (o && o->stalled) o->stalled(o->self, bundle, first_cycle, cycles, stall);
}

static void see_transfer(void *self, const ts_in_flight *transfer, const ts_dma_result *result) {
    ts_session *s = self;
    const ts_chip_observer *o = s->request->observer;
    s->events++;
    for (int i = 0; i < TS_CHIP_CORES; i++) s->paces[i].last_cycle = result->completed_cycle;
    if (o && o->transferred) o->transferred(o->self, transfer, result);
}

static void see_core(void *self, int core) {
    ts_session *s = self;
    const ts_chip_observer *o = s->request->observer;
    s->core = core;
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

static void see_write(ts_session *s, const ts_watch_hit *by, const ts_space *space, int64_t first,
                      int64_t end) {
    for (int i = 0; i < TS_WATCHES && s->watch_count > 0 && !s->was_hit; i++) {
        if (!watch_meets(&s->watches[i], space, first, end)) continue;
        s->was_hit = true;
        s->hit = *by;
        s->hit.watch = i + 1;
        s->hit.space = s->watches[i].kind;
        s->hit.first = first;
        s->hit.end = end;
    }
}

static void see_store(void *self, const ts_access *store) {
    see_write(self, &(ts_watch_hit){.instruction = store->instruction, .cycle = store->cycle}, store->space,
              store->first, store->end);
}

typedef struct {
    ts_session *session;
    const ts_in_flight *transfer;
} watched_transfer;

static bool see_run(void *self, int64_t first, int64_t end) {
    const watched_transfer *w = self;
    const ts_in_flight *t = w->transfer;
    see_write(w->session, &(ts_watch_hit){.transfer = t->transfer, .cycle = t->done_cycle}, t->dst, first,
              end);
    return !w->session->was_hit;
}

static void see_move(void *self, const ts_in_flight *transfer) {
    watched_transfer w = {self, transfer};
    if (w.session->watch_count > 0) watch_walk(transfer->plan, false, see_run, &w);
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
    s->first = first < s->first ? first : s->first;
    s->end = end > s->end ? end : s->end;
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
    if (w && watch_walk(plan, true, widen, &all) && all.end <= all.first) {
        ts_error_set(err, TS_ERROR_INPUT, "expected a slice that is not empty");
    } else if (w &&
               watch_new(err, w, ts_chip_core_space(s->parts.chip, s->followed, kind), all.first, all.end)) {
        watch_walk(plan, true, add_run, w);
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

ts_session *ts_session_open(ts_error *err, ts_arena *arena, const ts_run_request *request) {
    ts_session *s = TS_NEW(arena, ts_session);
    *s = (ts_session){.request = request,
                      .observer = {.self = s,
                                   .issued = see_bundle,
                                   .stalled = see_stall,
                                   .transferred = see_transfer,
                                   .core = see_core,
                                   .stored = see_store,
                                   .moved = see_move}};
    for (int i = 0; i < TS_CHIP_CORES; i++) s->paces[i].stall = -1;
    if (!run_parts_open(err, arena, request, &s->observer, &s->parts)) return NULL;
    s->ended = s->parts.program->code.bundle_count == 0;
    return s;
}

void ts_session_close(ts_session *session) {
    if (session) {
        for (int i = 0; i < TS_WATCHES; i++) watch_free(&session->watches[i]);
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
    const pace *own = &session->paces[session->followed];
    int64_t next = ts_core_next(core);
    ts_core_counters counters;
    ts_core_count(core, &counters);
    *state = (ts_session_state){.cycle = next == INT64_MAX ? own->last_cycle : next,
                                .bundle = ts_core_halted(core) ? -1 : ts_core_bundle(core),
                                .waits = !ts_core_halted(core) && next == INT64_MAX,
                                .stall = own->stall,
                                .stall_cycles = own->stall_cycles};
    if (state->waits && state->cycle < counters.cycles) state->cycle = counters.cycles;
}

/* ---- Stopping ---- */

static bool ends_with(const char *name, const char *file) {
    size_t a = strlen(name), b = strlen(file);
    return a >= b && strcmp(name + a - b, file) == 0 && (a == b || name[a - b - 1] == '/');
}

static bool comes_from(const ts_session *s, int bundle, const ts_breakpoint *at) {
    const ts_code *code = &s->parts.program->code;
    const char *file = at->file ? at->file : s->request->program;
    const ts_bundle *b = &code->bundles[bundle];
    for (int i = 0; i < b->count; i++) {
        const ts_instruction *instruction = &b->instructions[i];
        if (instruction->source && instruction->line == at->line &&
            ends_with(instruction->source->name, file))
            return true;
    }
    return false;
}

bool ts_session_has_line(const ts_session *session, const ts_breakpoint *at) {
    for (int i = 0; i < session->parts.program->code.bundle_count; i++)
        if (comes_from(session, i, at)) return true;
    return false;
}

static int64_t value_of(const ts_session *s, const ts_condition_side *side) {
    ts_core *core = (ts_core *)(uintptr_t)ts_chip_core(s->parts.chip, s->followed);
    switch (side->kind) {
    case TS_NAME_REGISTER:
        return (int32_t)*ts_core_register(core, TS_OPERAND_SREG, side->index);
    case TS_NAME_SEMAPHORE:
        return ts_chip_semaphore(s->parts.chip, s->followed, side->index);
    default:
        return side->number;
    }
}

static bool holds(const ts_session *s, const ts_condition *c) {
    int64_t left = value_of(s, &c->left), right = value_of(s, &c->right);
    switch (c->test) {
    case TS_TEST_EQ:
        return left == right;
    case TS_TEST_NE:
        return left != right;
    case TS_TEST_LT:
        return left < right;
    case TS_TEST_LE:
        return left <= right;
    case TS_TEST_GT:
        return left > right;
    case TS_TEST_GE:
        return left >= right;
    default:
        return true;
    }
}

static bool at_breakpoint(const ts_session *s, const ts_breakpoint *breakpoints, int count) {
    const ts_core *core = ts_chip_core(s->parts.chip, s->followed);
    for (int i = 0; i < count && !ts_core_halted(core); i++)
        if (comes_from(s, ts_core_bundle(core), &breakpoints[i]) && holds(s, &breakpoints[i].condition))
            return true;
    return false;
}

/* Events go on until none is left that belongs to the bundles issued: a breakpoint holds before the first
 * event of its bundle, but for the one where the session stands. */
bool ts_session_go(ts_error *err, ts_session *s, const ts_session_goal *goal, ts_stop *stop) {
    int64_t until = goal->until;
    pace *own = &s->paces[s->followed];
    int64_t first = own->issued, before = -1;
    bool running = !s->ended;
    int cores = ts_chip_core_count(s->parts.chip);
    int idle = 0; /* steps without an event: each core may begin to wait */
    *stop = TS_STOP_END;
    s->was_hit = false;
    while (running) {
        const ts_core *core = ts_chip_core(s->parts.chip, s->followed);
        if (own->issued - first >= goal->bundles) {
            *stop = TS_STOP_STEPPED;
            return true;
        }
        if (ts_core_next(core) != INT64_MAX && ts_core_next(core) >= until) {
            *stop = TS_STOP_CYCLE;
            return true;
        }
        bool new_bundle = own->issued != first && own->issued != before;
        before = own->issued;
        if (new_bundle && at_breakpoint(s, goal->breakpoints, goal->breakpoint_count)) {
            *stop = TS_STOP_BREAK;
            return true;
        }
        int64_t events = s->events;
        if (!ts_chip_step(err, s->parts.chip, s->request->max_cycles, until, &running)) return false;
        if (s->was_hit) {
            *stop = TS_STOP_WATCH;
            s->ended = !running;
            return true;
        }
        idle = s->events == events ? idle + 1 : 0;
        if (running && idle > cores && until != INT64_MAX && ts_core_next(core) == INT64_MAX) {
            own->last_cycle = until;
            *stop = TS_STOP_CYCLE;
            return true;
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
