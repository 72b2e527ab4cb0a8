/* From what a chip tells to the events of a timeline. */
#include "recorder.h"

#include <assert.h>

#include "base/clock.h"
#include "base/number.h"
#include "layout/shape.h"

enum { TOKENS = 64 }; /* that are remembered of a semaphore */

/* What one added to a semaphore. */
typedef struct {
    int64_t upto;              /* what was added up to its end */
    bool drawn;                /* what did */
    int transfer;              /* -1: a signal of another device */
    int from_track, via_track; /* -1: not drawn */
    int64_t from, via;
} token;

typedef struct {
    int64_t value;
    int64_t added, taken;
    int64_t first, end; /* tokens of which something is there; those kept are the last TOKENS */
    token *tokens;      /* ring; NULL: none yet */
} semaphore_state;

typedef struct {
    int first_track;
    int64_t *unit_free; /* the cycle from which each is */
    semaphore_state *semaphores;
    int region;         /* the innermost */
    bool *region_drawn; /* by region: of those that are open */
    bool begun;         /* the timeline's first cycle has come */
} core_state;

/* Chunks of a message that follow each other on a link. */
typedef struct {
    const ts_chip_message *message; /* NULL: none */
    int64_t begin_ps, end_ps;
    ts_trace_event event;
} link_state;

struct recorder {
    ts_timeline *timeline;
    ts_chip_observer observer;
    ts_arena *arena;
    const ts_core_config *config;
    row_set rows;
    track_map tracks;
    buses buses;
    core_state cores[TS_CHIP_CORES];
    core_state *told;
    int64_t outstanding_bytes, outstanding_at;
    int64_t *queue_free; /* the cycle from which each is */
    link_state links[2 * TS_MESH_MAX_DIMS];
    int64_t arrivals_free;
};

static void put_point(recorder *r, int kind, int track, int64_t cycle, int64_t value) {
    rows_put(&r->rows, &(ts_trace_event){.begin = cycle, .value = {value}, .kind = kind, .track = track});
}

/* ---- Regions ---- */

static void enter(recorder *r, core_state *core, int region, int64_t cycle) {
    core->region_drawn[region] = rows_draws(&r->rows, cycle);
    if (!core->region_drawn[region]) return;
    rows_put(&r->rows, &(ts_trace_event){.begin = cycle,
                                         .kind = TS_TIMELINE_ENTER,
                                         .track = core->first_track + TRACK_REGIONS,
                                         .id = region});
}

static void leave(recorder *r, core_state *core, int64_t cycle) {
    int region = core->region;
    int64_t until = r->timeline->until;
    core->region = r->timeline->program->regions[region].parent;
    if (!core->region_drawn[region]) return;
    core->region_drawn[region] = false;
    put_point(r, TS_TIMELINE_LEAVE, core->first_track + TRACK_REGIONS, ts_min(cycle, until), 0);
}

/* From `outer`, which is open, into `region`. */
static void enter_all(recorder *r, core_state *core, int outer, int region, int64_t cycle) {
    if (region == outer) return;
    enter_all(r, core, outer, r->timeline->program->regions[region].parent, cycle);
    enter(r, core, region, cycle);
}

static void go_to_region(recorder *r, core_state *core, int region, int64_t cycle) {
    const ts_program *program = r->timeline->program;
    while (!ts_program_region_holds(program, core->region, region)) leave(r, core, cycle);
    enter_all(r, core, core->region, region, cycle);
    core->region = region;
}

/* The bundle has the core from `cycle` on. Regions that are open where the timeline begins begin there. */
static void see_bundle(recorder *r, core_state *core, int bundle, int64_t cycle) {
    int region = ts_program_region_of(r->timeline->program, bundle);
    int64_t from = r->timeline->from;
    if (!core->begun && cycle >= from) {
        int there = cycle > from ? core->region : region;
        core->begun = true;
        enter_all(r, core, -1, there, from);
        core->region = there;
    }
    if (region != core->region) go_to_region(r, core, region, cycle);
}

/* ---- Bundles ---- */

static void see_core(void *self, int core) {
    recorder *r = self;
    r->told = &r->cores[core];
}

static void see_instruction(recorder *r, core_state *core, int bundle, int part, int64_t cycle) {
    const ts_instruction *instruction = &r->timeline->program->code.bundles[bundle].instructions[part];
    ts_core_use use = ts_core_use_of(r->config, instruction);
    int unit = use.first, end = use.first + use.count;
    while (unit < end && core->unit_free[unit] > cycle) unit++;
    assert(unit < end);
    core->unit_free[unit] = cycle + (use.cycles > 1 ? use.cycles : 1);
    rows_add(&r->rows,
             &(ts_trace_event){.begin = cycle,
                               .cycles = core->unit_free[unit] - cycle,
                               .kind = TS_TIMELINE_INSTRUCTION,
                               .track = core->first_track + TRACK_UNITS + unit,
                               .id = bundle,
                               .part = part},
             0);
}

static void see_issued(void *self, int bundle, int64_t cycle) {
    recorder *r = self;
    core_state *core = r->told;
    see_bundle(r, core, bundle, cycle);
    rows_add(&r->rows,
             &(ts_trace_event){.begin = cycle,
                               .cycles = 1,
                               .kind = TS_TIMELINE_BUNDLE,
                               .track = core->first_track + TRACK_BUNDLES,
                               .id = bundle},
             0);
    for (int i = 0; i < r->timeline->program->code.bundles[bundle].count; i++)
        see_instruction(r, core, bundle, i, cycle);
}

static void see_stalled(void *self, int bundle, int64_t first_cycle, int64_t cycles, int stall) {
    recorder *r = self;
    core_state *core = r->told;
    see_bundle(r, core, bundle, first_cycle);
    rows_add(&r->rows,
             &(ts_trace_event){.begin = first_cycle,
                               .cycles = cycles,
                               .kind = TS_TIMELINE_STALL,
                               .track = core->first_track + TRACK_STALLS,
                               .id = stall,
                               .part = bundle},
             stall);
}

/* ---- Semaphores ---- */

static void change_semaphore(recorder *r, core_state *core, int semaphore, int64_t by, int64_t cycle) {
    semaphore_state *s = &core->semaphores[semaphore];
    int track = core->first_track + TRACK_UNITS + r->tracks.units + semaphore;
    s->value += by;
    if (rows_draws(&r->rows, cycle)) put_point(r, TS_TIMELINE_COUNTER, track, cycle, s->value);
}

static void give(recorder *r, semaphore_state *s, int64_t count, const token *what) {
    if (!s->tokens) s->tokens = TS_NEW_ARRAY(r->arena, token, TOKENS);
    token *new = &s->tokens[s->end++ % TOKENS];
    *new = *what;
    new->upto = s->added += count;
}

static void draw_arrow(recorder *r, const core_state *core, const token *t, int64_t cycle) {
    int to = core->first_track + TRACK_BUNDLES;
    if (!t->drawn || t->from > cycle || !rows_draws(&r->rows, cycle)) return;
    rows_put(&r->rows, &(ts_trace_event){.begin = t->from,
                                         .value = {to, cycle, t->via_track, t->via},
                                         .kind = TS_TIMELINE_ARROW,
                                         .track = t->from_track,
                                         .id = t->transfer});
}

/* What came first is taken first. */
static void see_changed(void *self, const ts_instruction *instruction, int semaphore, int64_t by,
                        int64_t cycle) {
    recorder *r = self;
    core_state *core = r->told;
    semaphore_state *s = &core->semaphores[semaphore];
    change_semaphore(r, core, semaphore, by, cycle);
    if (s->first < s->end - TOKENS) s->first = s->end - TOKENS;
    int64_t end = by < 0 ? s->taken - by : s->taken;
    while (s->taken < end && s->first < s->end) {
        const token *t = &s->tokens[s->first % TOKENS];
        if (instruction->opcode == TS_OP_wait && t->upto > s->taken) draw_arrow(r, core, t, cycle);
        s->taken = ts_min(ts_max(t->upto, s->taken), end);
        s->first += t->upto <= s->taken;
    }
    s->taken = end;
    if (by > 0) give(r, s, by, &(token){.drawn = false});
}

/* ---- Transfers ---- */

static void count_outstanding(recorder *r, int64_t bytes, int64_t cycle) {
    r->outstanding_bytes += bytes;
    r->outstanding_at = ts_max(cycle, r->outstanding_at);
    if (rows_draws(&r->rows, r->outstanding_at))
        put_point(r, TS_TIMELINE_COUNTER, r->tracks.outstanding, r->outstanding_at, r->outstanding_bytes);
}

static void see_started(void *self, const ts_in_flight *t) {
    count_outstanding(self, ts_plan_wide_bytes(t->plan, t->plan->elements), t->issued_cycle);
}

/* Queues are alike: of those that are free, the one that became so last, which always leaves enough of them
 * as transfers are told in the order in which they end. */
static int choose_queue(const recorder *r, int64_t cycle) {
    int best = 0;
    for (int i = 1; i < r->tracks.queues; i++) {
        bool fits = r->queue_free[i] <= cycle, better = r->queue_free[i] > r->queue_free[best];
        bool had = r->queue_free[best] <= cycle;
        if (fits ? !had || better : !had && !better) best = i;
    }
    return best;
}

/* From when on it has a queue, which may be cut where times were recalled. Returns whether it is drawn. */
static bool draw_transfer(recorder *r, const ts_in_flight *t, const ts_dma_result *result,
                          ts_trace_event *event) {
    int64_t begin = ts_max(result->started_cycle, t->issued_cycle);
    int queue = choose_queue(r, begin);
    if (begin < r->queue_free[queue]) begin = r->queue_free[queue];
    *event = (ts_trace_event){.begin = begin,
                              .cycles = result->completed_cycle - begin,
                              .value = {result->useful_bytes, result->src_bytes + result->dst_bytes,
                                        t->issued_cycle, result->completed_cycle - t->issued_cycle},
                              .kind = TS_TIMELINE_TRANSFER,
                              .track = r->tracks.queue_first + queue,
                              .id = t->transfer,
                              .part = t->core};
    if (event->cycles <= 0) return false;
    r->queue_free[queue] = result->completed_cycle;
    return rows_add(&r->rows, event, 0);
}

static void see_transferred(void *self, const ts_in_flight *t, const ts_dma_result *result) {
    recorder *r = self;
    core_state *core = &r->cores[t->core];
    ts_trace_event event;
    bool drawn = draw_transfer(r, t, result, &event), begins = rows_draws(&r->rows, t->issued_cycle);
    int64_t from = r->timeline->from;
    count_outstanding(r, -ts_plan_wide_bytes(t->plan, t->plan->elements), result->completed_cycle);
    if (t->semaphore < 0 || t->message) return;
    int64_t by = ts_transfer_adds(&r->timeline->program->code, t->what, t->semaphore);
    change_semaphore(r, core, t->semaphore, by, result->completed_cycle);
    give(r, &core->semaphores[t->semaphore], by,
         &(token){.drawn = begins,
                  .transfer = t->transfer,
                  .from_track = core->first_track + TRACK_BUNDLES,
                  .from = t->issued_cycle,
                  .via_track = drawn ? event.track : -1,
                  .via = event.begin > from ? event.begin : from});
}

static void see_sent(void *self, const ts_in_flight *t, int64_t cycle) {
    recorder *r = self;
    core_state *core = &r->cores[t->core];
    if (t->semaphore < 0) return;
    int64_t by = ts_transfer_adds(&r->timeline->program->code, t->what, t->semaphore);
    change_semaphore(r, core, t->semaphore, by, cycle);
    give(r, &core->semaphores[t->semaphore], by,
         &(token){.drawn = rows_draws(&r->rows, t->issued_cycle),
                  .transfer = t->transfer,
                  .from_track = core->first_track + TRACK_BUNDLES,
                  .from = t->issued_cycle,
                  .via_track = -1});
}

/* ---- Messages ---- */

int64_t recorder_cycle(const recorder *r, int64_t ps) {
    return ts_clock_cycles(ps, r->timeline->machine->chip.sustained_khz);
}

static void end_message(recorder *r, link_state *link) {
    ts_trace_event *event = &link->event;
    event->begin = recorder_cycle(r, link->begin_ps);
    event->cycles = recorder_cycle(r, link->end_ps) - event->begin;
    if (link->message && event->cycles > 0) rows_add(&r->rows, event, 0);
    link->message = NULL;
}

static ts_trace_event message_event(const ts_chip_message *m, int track) {
    return (ts_trace_event){.value = {m->source, m->destination, m->bytes},
                            .kind = TS_TIMELINE_MESSAGE,
                            .track = track,
                            .id = m->transfer,
                            .part = m->semaphore};
}

void recorder_carried(recorder *r, const ts_pod_chunk *chunk) {
    int number = (int)(chunk->link % r->tracks.links);
    link_state *link = &r->links[number];
    if (link->message != chunk->message || link->end_ps != chunk->begin_ps) {
        end_message(r, link);
        link->message = chunk->message;
        link->begin_ps = chunk->begin_ps;
        link->event = message_event(chunk->message, r->tracks.link_first + number);
        link->event.value[2] = 0;
    }
    link->event.value[2] += chunk->bytes;
    link->end_ps = chunk->end_ps;
}

/* Draws an arrival as one cycle; several of one cycle are drawn in a row. */
bool recorder_arrived(recorder *r, const ts_chip_message *m, int64_t cycle, int64_t *at) {
    core_state *core = &r->cores[m->core];
    ts_trace_event event = message_event(m, r->tracks.arrivals);
    *at = event.begin = ts_max(cycle, r->arrivals_free);
    event.cycles = 1;
    r->arrivals_free = event.begin + 1;
    bool drawn = rows_add(&r->rows, &event, 0);
    change_semaphore(r, core, m->semaphore, m->by, cycle);
    give(r, &core->semaphores[m->semaphore], m->by,
         &(token){.drawn = drawn,
                  .transfer = m->transfer,
                  .from_track = event.track,
                  .from = event.begin,
                  .via_track = -1});
    return drawn;
}

bool recorder_draws(recorder *r, int64_t cycle) { return rows_draws(&r->rows, cycle); }
const track_map *recorder_tracks(const recorder *r) { return &r->tracks; }

static void see_burst(void *self, const ts_hbm_burst *burst) {
    buses_burst(&((recorder *)self)->buses, burst);
}

/* ---- Beginning and end ---- */

recorder *recorder_new(ts_arena *arena, ts_timeline *timeline) {
    recorder *r = TS_NEW(arena, recorder);
    r->timeline = timeline;
    r->arena = arena;
    r->observer = (ts_chip_observer){.self = r,
                                     .issued = see_issued,
                                     .stalled = see_stalled,
                                     .transferred = see_transferred,
                                     .core = see_core,
                                     .started = see_started,
                                     .changed = see_changed,
                                     .sent = see_sent,
                                     .burst = see_burst};
    return r;
}

const ts_chip_observer *recorder_observer(const recorder *r) { return &r->observer; }

static void begin_core(recorder *r, core_state *core, int number) {
    const ts_program *program = r->timeline->program;
    *core = (core_state){.first_track = number * r->tracks.of_core, .region = -1};
    core->unit_free = TS_NEW_ARRAY(r->arena, int64_t, r->tracks.units);
    core->semaphores = TS_NEW_ARRAY(r->arena, semaphore_state, program->code.semaphore_count + 1);
    core->region_drawn = TS_NEW_ARRAY(r->arena, bool, program->region_count + 1);
    rows_tell_apart(&r->rows, r->arena, core->first_track + TRACK_STALLS, TS_STALL_COUNT);
}

void recorder_begin(recorder *r, const ts_machine *machine, const ts_program *program, int64_t device) {
    ts_timeline *t = r->timeline;
    t->machine = machine;
    t->program = program;
    tracks_make(r->arena, t, device, &r->tracks);
    r->config = &machine->core;
    rows_init(&r->rows, r->arena, t);
    buses_init(&r->buses, r->arena, &r->rows, &r->tracks);
    for (int i = 0; i < r->tracks.cores; i++) begin_core(r, &r->cores[i], i);
    r->told = r->cores;
    r->queue_free = TS_NEW_ARRAY(r->arena, int64_t, r->tracks.queues);
}

void recorder_end(recorder *r, const ts_chip *chip) {
    ts_chip_counters counters;
    ts_chip_count(chip, &counters);
    for (int i = 0; i < r->tracks.cores; i++) {
        core_state *core = &r->cores[i];
        while (core->region >= 0) leave(r, core, counters.cores[i].cycles);
    }
    buses_end(&r->buses);
    for (int i = 0; i < r->tracks.links; i++) end_message(r, &r->links[i]);
    rows_end(&r->rows);
    r->timeline->cycles = counters.cycles;
    r->timeline->recalled = counters.recalled;
    ts_trace_flush(&r->timeline->trace);
}
