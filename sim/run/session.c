/* Sessions. */
#include "tilesim/run/session.h"

#include <assert.h>
#include <string.h>

#include "tilesim/dma/move.h"
#include "tilesim/layout/plan.h"
#include "tilesim/layout/shape.h"

#include "run_parts.h"

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
};

static void see_bundle(void *self, int bundle, int64_t cycle) {
    ts_session *s = self;
    const ts_chip_observer *o = s->request->observer;
    pace *own = &s->paces[s->core];
    s->events++;
    own->issued++;
    own->stall = -1;
    own->last_cycle = cycle;
    if (o && o->issued) {
        o->issued(o->self, bundle, cycle);
    }
}

static void see_stall(void *self, int bundle, int64_t first_cycle, int64_t cycles, int stall) {
    ts_session *s = self;
    const ts_chip_observer *o = s->request->observer;
    pace *own = &s->paces[s->core];
    s->events++;
    own->stall = stall;
    own->stall_cycles = cycles;
    own->last_cycle = first_cycle + cycles;
    if (o && o->stalled) {
        o->stalled(o->self, bundle, first_cycle, cycles, stall);
    }
}

static void see_transfer(void *self, int transfer, const ts_dma_result *result) {
    ts_session *s = self;
    const ts_chip_observer *o = s->request->observer;
    s->events++;
    for (int i = 0; i < TS_CHIP_CORES; i++) {
        s->paces[i].last_cycle = result->completed_cycle;
    }
    if (o && o->transferred) {
        o->transferred(o->self, transfer, result);
    }
}

static void see_core(void *self, int core) {
    ts_session *s = self;
    const ts_chip_observer *o = s->request->observer;
    s->core = core;
    if (o && o->core) {
        o->core(o->self, core);
    }
}

ts_session *ts_session_open(ts_error *err, ts_arena *arena, const ts_run_request *request) {
    ts_session *s = TS_NEW(arena, ts_session);
    *s = (ts_session){.request = request, .observer = {s, see_bundle, see_stall, see_transfer, see_core}};
    for (int i = 0; i < TS_CHIP_CORES; i++) {
        s->paces[i].stall = -1;
    }
    if (!run_parts_open(err, arena, request, &s->observer, &s->parts)) {
        return NULL;
    }
    s->ended = s->parts.program->code.bundle_count == 0;
    return s;
}

void ts_session_close(ts_session *session) {
    if (session) {
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
    if (state->waits && state->cycle < counters.cycles) {
        state->cycle = counters.cycles;
    }
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
            ends_with(instruction->source->name, file)) {
            return true;
        }
    }
    return false;
}

bool ts_session_has_line(const ts_session *session, const ts_breakpoint *at) {
    for (int i = 0; i < session->parts.program->code.bundle_count; i++) {
        if (comes_from(session, i, at)) {
            return true;
        }
    }
    return false;
}

static bool at_breakpoint(const ts_session *s, const ts_breakpoint *breakpoints, int count) {
    const ts_core *core = ts_chip_core(s->parts.chip, s->followed);
    for (int i = 0; i < count && !ts_core_halted(core); i++) {
        if (comes_from(s, ts_core_bundle(core), &breakpoints[i])) {
            return true;
        }
    }
    return false;
}

/* Events go on until none is left that belongs to the bundles issued: a breakpoint holds before the first
 * event of its bundle, but for the one where the session stands. */
bool ts_session_go(ts_error *err, ts_session *s, int64_t bundles, int64_t until,
                   const ts_breakpoint *breakpoints, int count, ts_stop *stop) {
    pace *own = &s->paces[s->followed];
    int64_t first = own->issued, before = -1;
    bool running = !s->ended;
    *stop = TS_STOP_END;
    while (running) {
        const ts_core *core = ts_chip_core(s->parts.chip, s->followed);
        if (own->issued - first >= bundles) {
            *stop = TS_STOP_STEPPED;
            return true;
        }
        if (ts_core_next(core) != INT64_MAX && ts_core_next(core) >= until) {
            *stop = TS_STOP_CYCLE;
            return true;
        }
        bool new_bundle = own->issued != first && own->issued != before;
        before = own->issued;
        if (new_bundle && at_breakpoint(s, breakpoints, count)) {
            *stop = TS_STOP_BREAK;
            return true;
        }
        int64_t events = s->events;
        if (!ts_chip_step(err, s->parts.chip, s->request->max_cycles, until, &running)) {
            return false;
        }
        if (running && s->events == events && until != INT64_MAX && ts_core_next(core) == INT64_MAX) {
            own->last_cycle = until;
            *stop = TS_STOP_CYCLE;
            return true;
        }
    }
    s->ended = true;
    return true;
}

/* ---- Values ---- */

bool ts_session_fetch(ts_error *err, ts_arena *arena, ts_session *session, int number, const int64_t *begin,
                      const int64_t *sizes, ts_host_array *array) {
    const ts_tensor *tensor = &session->parts.program->code.tensors[number];
    const ts_shape *shape = tensor->shape;
    ts_space *space = ts_chip_core_space(session->parts.chip, session->followed, tensor->space);
    int64_t axis_bits[TS_LAYOUT_MAX_AXES];
    int rank = shape->layout->rank;
    const ts_shape *flat = ts_shape_row_major(err, arena, shape->dtype, rank, sizes);
    if (!flat || !ts_space_place(err, space, shape, tensor->base_bytes, axis_bits) ||
        !ts_host_array_init(err, arena, shape->dtype, rank, sizes, array)) {
        return false;
    }
    ts_plan_side from = {shape, begin, axis_bits, tensor->base_bytes * 8}, to = {flat, NULL, NULL, 0};
    const ts_plan *plan = ts_plan_new(err, arena, &from, &to, rank, sizes);
    ts_space *out = ts_space_wrap(arena, "the output", array->bytes, (int64_t)array->length);
    return plan && ts_dma_move(err, plan, space, out);
}
