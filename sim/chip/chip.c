/* The chip's stepper. */
#include "chip/chip.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/number.h"
#include "check/left.h"
#include "check/outputs.h"
#include "check/races.h"
#include "layout/plan.h"
#include "layout/shape.h"
#include "traffic.h"

/* A core, and what it has for itself. */
typedef struct {
    ts_chip *chip;
    ts_core *core;
    ts_space *spaces[TS_SPACE_COUNT]; /* those of the chip too */
    int64_t *semaphores;
    ts_semaphore_account *accounts; /* of them */
    ts_core_ports ports;
    ts_races *races;     /* of its own transfers; NULL: the sanitizer is off */
    bool stores_checked; /* with it: some input lies where stores go */
} chip_core;

struct ts_chip {
    const ts_chip_config *config;
    const ts_code *code;
    const ts_chip_observer *observer;
    ts_arena *arena;
    int64_t **axis_bits; /* of each tensor */
    chip_core cores[TS_CHIP_CORES];
    int core_count;
    const chip_core *told; /* the core of which the observer was told last */
    traffic *traffic;
    ts_outputs outputs; /* with the sanitizer */
    ts_in_flight *free_records;
    ts_in_flight *active; /* the oldest in flight */
    int64_t started;      /* transfers */
    int64_t busy_since;   /* -1: no transfer is under way */
    int64_t last_done;    /* the cycle of the last completion */
    int64_t quiet_until;  /* no transfer completes before this cycle, unless another starts */
    ts_chip_counters counters;
    ts_chip_transfers *transfers; /* of each transfer of the code */
};

/* The observer, which knows what core it is told of. */
static const ts_chip_observer *told_of(chip_core *by) {
    ts_chip *chip = by->chip;
    const ts_chip_observer *o = chip->observer;
    if (o && o->core && chip->told != by) o->core(o->self, (int)(by - chip->cores));
    chip->told = by;
    return o;
}

/* ---- Transfers ---- */

static ts_plan_side side_of(const ts_chip *chip, const ts_slice *slice, const int64_t *begin) {
    const ts_tensor *tensor = &chip->code->tensors[slice->tensor];
    return (ts_plan_side){tensor->shape, begin, chip->axis_bits[slice->tensor], tensor->base_bytes * 8};
}

/* Both slices have the same sizes but for dims of 1 (the assembler sees to it). */
static const ts_plan *make_plan(ts_error *err, ts_arena *arena, const ts_transfer *what, ts_plan_side *src,
                                ts_plan_side *dst) {
    const ts_slice *a = &what->source, *b = &what->destination;
    if (a->rank == b->rank && memcmp(a->size, b->size, (size_t)a->rank * sizeof a->size[0]) == 0) {
        return ts_plan_new(err, arena, src, dst, a->rank, a->size);
    }
    int rank;
    const int64_t *sizes = ts_plan_squeeze(err, arena, src, a->size, &rank);
    return sizes && ts_plan_squeeze(err, arena, dst, b->size, &rank)
               ? ts_plan_new(err, arena, src, dst, rank, sizes)
               : NULL;
}

/* Whether the transfer moves bytes: without values, only SMEM is kept exact. */
static bool has_values(const ts_chip *chip, const ts_transfer *what) {
    return !chip->config->time_only || chip->code->tensors[what->destination.tensor].space == TS_SPACE_SMEM;
}

static ts_space *space_of(const chip_core *by, const ts_slice *slice) {
    return by->spaces[by->chip->code->tensors[slice->tensor].space];
}

static ts_dma_end end_of(const chip_core *by, const ts_transfer *what, const ts_slice *slice) {
    const ts_chip *chip = by->chip;
    ts_space_kind kind = chip->code->tensors[slice->tensor].space;
    ts_space *space = by->spaces[kind];
    return (ts_dma_end){has_values(chip, what) ? space : NULL, kind == TS_SPACE_HBM,
                        ts_space_partition_bits(space)};
}

/* Without values, nothing that the program computes may come into SMEM. */
static bool source_is_known(ts_error *err, const ts_chip *chip, const ts_transfer *what) {
    const ts_tensor *source = &chip->code->tensors[what->source.tensor];
    if (!chip->config->time_only || !has_values(chip, what)) return true;
    bool known = source->space == TS_SPACE_HBM || source->space == TS_SPACE_SMEM;
    for (int i = 0; i < chip->code->transfer_count; i++) {
        bool written = chip->code->transfers[i].destination.tensor == what->source.tensor;
        known = known && !(written && source->space == TS_SPACE_HBM);
    }
    return known ||
           ts_error_set(err, TS_ERROR_UNMODELLED,
                        "'%s' is unknown when only time is modelled, and SMEM needs it", source->name);
}

static ts_in_flight *take_record(ts_chip *chip) {
    ts_in_flight *t = chip->free_records;
    if (!t) return TS_NEW(chip->arena, ts_in_flight);
    chip->free_records = t->next;
    return t;
}

static void give_back(ts_chip *chip, ts_in_flight *t) {
    t->next = chip->free_records;
    chip->free_records = t;
}

/* Adds where it happened to an error that came from below. */
static bool fault_at(ts_error *err, int64_t cycle, const ts_source *source, int line, int column) {
    if (!err) return false;
    ts_error below = *err;
    ts_error_kind kind = below.kind == TS_ERROR_INPUT ? TS_ERROR_FAULT : below.kind;
    if (below.line == 0 && source) {
        ts_error_clear(err);
        ts_error_mark(err, kind, source, line, column, "%s", below.message);
    }
    err->kind = kind;
    if (below.cycle <= 0) err->cycle = cycle;
    return false;
}

static bool transfer_fault(ts_error *err, int64_t cycle, const ts_transfer *what) {
    return fault_at(err, cycle, what->source_text, what->line, what->column);
}

static chip_core *core_of(ts_chip *chip, const ts_in_flight *t) { return &chip->cores[t->core]; }

static void check_start(ts_chip *chip, ts_in_flight *t) {
    ts_races_start(core_of(chip, t)->races, t);
    for (int i = 0; i < chip->core_count; i++) {
        if (i != t->core) ts_races_compare_cores(chip->cores[i].races, t);
    }
    ts_outputs_start(&chip->outputs, t);
}

/* The record of a transfer that starts, but for its plan. */
static ts_in_flight *open_record(const chip_core *by, const ts_core_start *start) {
    ts_chip *chip = by->chip;
    const ts_transfer *what = &chip->code->transfers[start->transfer];
    const ts_dma_machine *memory = &chip->config->memory;
    ts_in_flight *t = take_record(chip);
    *t = (ts_in_flight){.what = what,
                        .number = chip->started++,
                        .transfer = start->transfer,
                        .core = (int)(by - chip->cores),
                        .semaphore = start->semaphore,
                        .src = space_of(by, &what->source),
                        .dst = space_of(by, &what->destination),
                        .issued_cycle = start->cycle,
                        .done_cycle = -1,
                        .begun_cycle =
                            start->cycle + ts_clock_cycles(memory->dma->issue_ps, memory->core_khz)};
    return t;
}

static void put_in_flight(ts_chip *chip, ts_in_flight *t) {
    ts_in_flight **last = &chip->active;
    while (*last) last = &(*last)->younger;
    *last = t;
    if (t->semaphore >= 0) ts_left_send(&core_of(chip, t)->accounts[t->semaphore], t->what);
    if (core_of(chip, t)->races) check_start(chip, t);
    if (chip->busy_since < 0) chip->busy_since = t->issued_cycle;
    chip->quiet_until = 0;
    const ts_chip_observer *o = told_of(core_of(chip, t));
    if (o && o->started) o->started(o->self, t);
}

static bool start_dma(ts_error *err, void *self, const ts_core_start *start) {
    chip_core *by = self;
    ts_chip *chip = by->chip;
    ts_in_flight *t = open_record(by, start);
    const ts_transfer *what = t->what;
    ts_plan_side src = side_of(chip, &what->source, start->source_begin),
                 dst = side_of(chip, &what->destination, start->destination_begin);
    ts_dma_transfer moved = {.src = end_of(by, what, &what->source),
                             .dst = end_of(by, what, &what->destination),
                             .tag = t->number,
                             .priority = what->priority};
    ts_arena *arena = traffic_arena(chip->traffic);
    moved.plan = source_is_known(err, chip, what) ? make_plan(err, arena, what, &src, &dst) : NULL;
    int layouts = what->source.tensor * chip->code->tensor_count + what->destination.tensor;
    if (!moved.plan || !traffic_start(err, chip->traffic, &moved, layouts, start->cycle)) {
        give_back(chip, t);
        return transfer_fault(err, start->cycle, what);
    }
    const ts_dma_machine *memory = &chip->config->memory;
    t->plan = moved.plan;
    t->vreg_cycles = ts_ceil_div(
        TS_VREG_BYTES, ts_dma_rate(memory->dma, moved.src, ts_dma_kind_done(memory->dma, moved.plan)));
    put_in_flight(chip, t);
    return true;
}

/* ---- Ports of VMEM ---- */

static bool in_vmem(const ts_chip *chip, const ts_slice *slice) {
    return chip->code->tensors[slice->tensor].space == TS_SPACE_VMEM;
}

/* Whether a transfer goes through a VMEM port at `cycle`: a vreg's bytes at a time, at the engine's rate,
 * from its issue cost on until it is complete. */
static bool takes_port(const ts_in_flight *t, int64_t cycle) {
    return cycle >= t->begun_cycle && (cycle - t->begun_cycle) % t->vreg_cycles == 0;
}

/* The engine works at one transfer at a time: only the oldest of this core's that touch VMEM takes a port. */
static int64_t vmem_take(void *self, int64_t cycle, int loads, int stores) {
    const chip_core *by = self;
    const ts_chip *chip = by->chip;
    const int *slots = chip->config->core.limits.slots;
    for (const ts_in_flight *t = chip->active; t; t = t->younger) {
        bool reads = in_vmem(chip, &t->what->source), writes = in_vmem(chip, &t->what->destination);
        if (&chip->cores[t->core] != by || !(reads || writes)) continue;
        bool full = (reads && loads == slots[TS_SLOT_VLD]) || (writes && stores == slots[TS_SLOT_VST]);
        return full && takes_port(t, cycle) ? cycle + 1 : cycle;
    }
    return cycle;
}

static bool dma_ready(void *self) { return traffic_can_start(((chip_core *)self)->chip->traffic); }

static int64_t bytes_in(const ts_chip *chip, const ts_dma_result *r, const ts_transfer *what,
                        ts_space_kind space) {
    const ts_tensor *tensors = chip->code->tensors;
    return (tensors[what->source.tensor].space == space ? r->src_bytes : 0) +
           (tensors[what->destination.tensor].space == space ? r->dst_bytes : 0);
}

static void add_result(ts_chip *chip, const ts_dma_result *r, const ts_transfer *what) {
    ts_chip_counters *c = &chip->counters;
    c->transfers++;
    c->useful_bytes += r->useful_bytes;
    c->src_bytes += r->src_bytes;
    c->dst_bytes += r->dst_bytes;
    c->padding_bytes += r->padding_bytes;
    c->waste_bytes += r->waste_bytes;
    c->rmw_lines += r->rmw_lines;
    int64_t read = chip->code->tensors[what->source.tensor].space == TS_SPACE_HBM ? r->src_bytes : 0;
    int64_t written = chip->code->tensors[what->destination.tensor].space == TS_SPACE_HBM ? r->dst_bytes : 0;
    c->hbm_read_bytes += read;
    c->hbm_written_bytes += written;
    ts_chip_transfers *of = &chip->transfers[what - chip->code->transfers];
    of->times++;
    of->moved_bytes += r->src_bytes + r->dst_bytes;
    of->hbm_bytes += read + written;
    of->vmem_bytes += bytes_in(chip, r, what, TS_SPACE_VMEM);
    c->transfer_cycles += r->completed_cycle - r->issued_cycle;
    c->least_transfer_cycles += ts_dma_least_cycles(&chip->config->memory, r, read + written);
}

/* ---- The sanitizer ---- */

static void check_done(ts_chip *chip, ts_in_flight *t) {
    const chip_core *by = core_of(chip, t);
    bool vmem = chip->code->tensors[t->what->source.tensor].space == TS_SPACE_VMEM;
    ts_races_complete(by->races, t);
    if (!chip->config->time_only) ts_outputs_done(&chip->outputs, t, vmem ? ts_core_poison(by->core) : NULL);
}

/* -1: there is one core only. */
static int core_number(const chip_core *own) {
    return own->chip->core_count > 1 ? (int)(own - own->chip->cores) : -1;
}

static int64_t cycles_of(const chip_core *own) {
    ts_core_counters core;
    ts_core_count(own->core, &core);
    return core.cycles;
}

static void forward_accessed(void *self, const ts_access *access) {
    const chip_core *own = self;
    const ts_chip_observer *o = own->chip->observer;
    if (own->races) ts_races_access(own->races, access);
    if (access->writes && own->stores_checked) ts_outputs_store(&own->chip->outputs, own->spaces, access);
    if (access->writes && o && o->stored) o->stored(o->self, access);
}

static void changed(void *self, const ts_instruction *instruction, int semaphore, int64_t by, int64_t cycle) {
    chip_core *own = self;
    const ts_chip_observer *o = told_of(own);
    if (o && o->changed) o->changed(o->self, instruction, semaphore, by, cycle);
    ts_left_change(&own->accounts[semaphore], instruction, by);
    for (ts_in_flight *t = own->races ? ts_races_change(own->races, semaphore) : NULL; t;) {
        ts_in_flight *next = t->next;
        give_back(own->chip, t);
        t = next;
    }
}

static void watch(chip_core *own) {
    ts_chip *chip = own->chip;
    ts_space *const *spaces = chip->cores[0].spaces;
    own->races = ts_races_new(chip->arena, chip->code, chip->config->findings, own->accounts,
                              spaces[TS_SPACE_HBM], spaces[TS_SPACE_CMEM]);
    own->ports.accessed = forward_accessed;
    for (int i = 0; i < chip->code->tensor_count; i++) {
        bool stored =
            chip->code->tensors[i].space == TS_SPACE_VMEM || chip->code->tensors[i].space == TS_SPACE_SMEM;
        own->stores_checked = own->stores_checked || (stored && chip->config->inputs[i]);
    }
    for (int i = 0; i < TS_SPACE_COUNT && !chip->config->time_only; i++) {
        bool shared = own != chip->cores && own->spaces[i] == chip->cores[0].spaces[i];
        if (own->spaces[i] && !shared) ts_space_track(own->spaces[i], chip->arena);
    }
}

/* No longer in flight; races may still need the record. */
static void take_out(ts_chip *chip, ts_in_flight *t) {
    ts_in_flight **link = &chip->active;
    while (*link != t) link = &(*link)->younger;
    *link = t->younger;
    t->plan = NULL;
    if (!t->race) give_back(chip, t);
}

static void tell_done(ts_chip *chip, const ts_in_flight *t, const ts_dma_result *result) {
    const ts_chip_observer *o = chip->observer;
    if (o && o->moved) o->moved(o->self, t);
    if (o && o->transferred) o->transferred(o->self, t, result);
}

static bool complete(ts_error *err, ts_chip *chip, int64_t cycle) {
    ts_dma_result result;
    bool moved = traffic_complete(err, chip->traffic, &result);
    ts_in_flight *t = chip->active;
    while (t->number != result.tag) t = t->younger;
    const ts_transfer *what = t->what;
    const chip_core *by = core_of(chip, t);
    t->done_cycle = cycle;
    add_result(chip, &result, what);
    if (t->race) check_done(chip, t);
    if (chip->config->findings && ts_core_halted(by->core) && cycles_of(by) <= cycle)
        ts_left_transfer(chip->config->findings, what, core_number(by), cycles_of(by), cycle);
    tell_done(chip, t, &result);
    if (t->semaphore >= 0) by->semaphores[t->semaphore]++;
    take_out(chip, t);
    if (traffic_under_way(chip->traffic) == 0) {
        chip->counters.dma_busy_cycles += cycle - chip->busy_since;
        chip->busy_since = -1;
    }
    chip->last_done = cycle;
    chip->quiet_until = 0;
    for (int i = 0; i < chip->core_count; i++) ts_core_notify(chip->cores[i].core, cycle);
    return moved || transfer_fault(err, cycle, what);
}

/* ---- Building ---- */

static void forward_issued(void *self, int bundle, int64_t cycle) {
    const ts_chip_observer *o = told_of(self);
    o->issued(o->self, bundle, cycle);
}

static void forward_stalled(void *self, int bundle, int64_t first_cycle, int64_t cycles, int stall) {
    const ts_chip_observer *o = told_of(self);
    o->stalled(o->self, bundle, first_cycle, cycles, stall);
}

void ts_chip_configure(const ts_machine *machine, ts_chip_config *config) {
    *config = (ts_chip_config){.core = machine->core};
    config->memory = ts_dma_machine_of(machine, NULL);
    memcpy(config->spaces, machine->spaces, sizeof config->spaces);
}

/* A memory of which each core has one, or that of the chip. */
static void make_spaces(ts_chip *chip, chip_core *own) {
    for (int i = 0; i < TS_SPACE_COUNT; i++) {
        const ts_machine_memory *memory = chip->config->spaces[i];
        if (memory && (own == chip->cores || memory->per_core))
            own->spaces[i] = ts_space_of_machine(chip->arena, memory);
        else
            own->spaces[i] = chip->cores[0].spaces[i];
    }
}

static bool place_tensors(ts_error *err, ts_chip *chip) {
    const ts_code *code = chip->code;
    chip->axis_bits = TS_NEW_ARRAY(chip->arena, int64_t *, code->tensor_count);
    for (int i = 0; i < code->tensor_count; i++) {
        const ts_tensor *tensor = &code->tensors[i];
        if (!chip->cores[0].spaces[tensor->space]) {
            return ts_error_set(err, TS_ERROR_INPUT, "tensor '%s' is in %s, which this machine does not have",
                                tensor->name, ts_space_text(tensor->space));
        }
        chip->axis_bits[i] = TS_NEW_ARRAY(chip->arena, int64_t, TS_LAYOUT_MAX_AXES);
        if (!ts_space_place(err, chip->cores[0].spaces[tensor->space], tensor->shape, tensor->base_bytes,
                            chip->axis_bits[i])) {
            return false;
        }
    }
    return true;
}

/* A tensor of HBM becomes real as a whole; elsewhere all tensors do, since cores look words up one by one. */
static void hold_tensors(const ts_chip *chip, chip_core *own) {
    int64_t ends[TS_SPACE_COUNT] = {0};
    for (int i = 0; i < chip->code->tensor_count; i++) {
        const ts_tensor *tensor = &chip->code->tensors[i];
        int64_t end = tensor->base_bytes + tensor->bytes;
        if (tensor->space == TS_SPACE_HBM)
            ts_space_hold(own->spaces[TS_SPACE_HBM], tensor->base_bytes, tensor->bytes);
        else if (end > ends[tensor->space])
            ends[tensor->space] = end;
    }
    for (int i = 0; i < TS_SPACE_COUNT; i++) {
        if (ends[i] > 0) ts_space_hold(own->spaces[i], 0, ends[i]);
    }
}

static bool make_core(ts_error *err, ts_chip *chip, chip_core *own) {
    own->chip = chip;
    own->semaphores = TS_NEW_ARRAY(chip->arena, int64_t, chip->code->semaphore_count);
    own->accounts = TS_NEW_ARRAY(chip->arena, ts_semaphore_account, chip->code->semaphore_count);
    own->ports =
        (ts_core_ports){.chip = own, .dma_start = start_dma, .dma_ready = dma_ready, .changed = changed};
    if (chip->config->core.vmem_winner == TS_VMEM_DMA_WINS) own->ports.vmem_take = vmem_take;
    if (chip->config->sanitize) watch(own);
    if (chip->observer && chip->observer->stored) own->ports.accessed = forward_accessed;
    if (chip->observer && chip->observer->issued) own->ports.issued = forward_issued;
    if (chip->observer && chip->observer->stalled) own->ports.stalled = forward_stalled;
    ts_core_setup setup = {.config = &chip->config->core,
                           .code = chip->code,
                           .number = (int)(own - chip->cores),
                           .cores = chip->core_count,
                           .vmem = own->spaces[TS_SPACE_VMEM],
                           .smem = own->spaces[TS_SPACE_SMEM],
                           .semaphores = own->semaphores,
                           .ports = &own->ports,
                           .time_only = chip->config->time_only,
                           .patience = chip->config->patience,
                           .max_cycles = chip->config->max_cycles,
                           .profile = chip->config->profile,
                           .findings = chip->config->sanitize ? chip->config->findings : NULL};
    own->core = ts_core_new(err, chip->arena, &setup);
    return own->core != NULL;
}

static bool make_units(ts_error *err, ts_chip *chip) {
    for (int i = 0; i < chip->core_count; i++) {
        make_spaces(chip, &chip->cores[i]);
    }
    if (!place_tensors(err, chip)) return false;
    for (int i = 0; i < chip->core_count; i++) hold_tensors(chip, &chip->cores[i]);
    chip->traffic = traffic_new(chip->arena, &chip->config->memory, chip->config->exact);
    if (chip->observer && chip->observer->burst)
        traffic_observe(chip->traffic, chip->observer->burst, chip->observer->self);
    for (int i = 0; i < chip->core_count; i++) {
        if (!make_core(err, chip, &chip->cores[i])) return false;
    }
    return true;
}

ts_chip *ts_chip_new(ts_error *err, ts_arena *arena, const ts_chip_config *config, const ts_code *code,
                     const ts_chip_observer *observer) {
    ts_chip *chip = TS_NEW(arena, ts_chip);
    *chip = (ts_chip){.config = config, .code = code, .observer = observer, .arena = arena, .busy_since = -1};
    chip->core_count = code->cores > 1 ? code->cores : 1;
    assert(chip->core_count <= TS_CHIP_CORES);
    chip->told = chip->cores;
    chip->transfers = TS_NEW_ARRAY(arena, ts_chip_transfers, code->transfer_count);
    chip->outputs = (ts_outputs){code, config->outputs, config->inputs, config->findings};
    if (make_units(err, chip)) return chip;
    ts_chip_free(chip);
    return NULL;
}

void ts_chip_free(ts_chip *chip) {
    if (!chip) return;
    for (int core = chip->core_count - 1; core >= 0; core--) {
        ts_space **own = chip->cores[core].spaces, **first = chip->cores[0].spaces;
        for (int i = 0; i < TS_SPACE_COUNT; i++) {
            if (core == 0 || own[i] != first[i]) ts_space_free(own[i]);
        }
    }
    for (int i = 0; i < chip->core_count; i++) ts_races_free(chip->cores[i].races);
    if (chip->traffic) traffic_free(chip->traffic);
}

ts_space *ts_chip_space(ts_chip *chip, ts_space_kind kind) { return chip->cores[0].spaces[kind]; }
ts_space *ts_chip_core_space(ts_chip *chip, int core, ts_space_kind kind) {
    return chip->cores[core].spaces[kind];
}
const ts_chip_transfers *ts_chip_transfers_of(const ts_chip *chip, int transfer) {
    return &chip->transfers[transfer];
}
const ts_core *ts_chip_core(const ts_chip *chip, int core) { return chip->cores[core].core; }
int ts_chip_core_count(const ts_chip *chip) { return chip->core_count; }

/* ---- Running ---- */

/* ---- Deadlock ---- */

/* "the core waits for semaphore 'a' to reach 1, it is 0"; returns the instruction, NULL when the core has
 * halted. */
static const ts_instruction *add_wait(const ts_chip *chip, const chip_core *own, char *text, size_t bytes) {
    int semaphore = -1, at = 0;
    int64_t needed = 0;
    const ts_instruction *wait = ts_core_waiting(own->core, &semaphore, &needed);
    if (chip->core_count == 1)
        at = snprintf(text, bytes, "the core ");
    else
        at = snprintf(text, bytes, "core %d ", (int)(own - chip->cores));
    text += at, bytes -= (size_t)at;
    if (ts_core_halted(own->core))
        snprintf(text, bytes, "has halted; ");
    else if (ts_core_at_barrier(own->core) >= 0)
        snprintf(text, bytes, "waits at the barrier of %s:%d; ",
                 wait->source ? wait->source->name : chip->code->name, wait->line);
    else
        snprintf(text, bytes, "waits for semaphore '%s' to reach %lld, it is %lld; ",
                 chip->code->semaphore_names[semaphore], (long long)needed,
                 (long long)own->semaphores[semaphore]);
    return wait;
}

static bool deadlock(ts_error *err, const ts_chip *chip) {
    char text[TS_ERROR_TEXT_BYTES / 2];
    size_t at = 0;
    int64_t since = chip->last_done;
    const ts_instruction *first = NULL;
    for (int i = 0; i < chip->core_count && at + 160 < sizeof text; i++) {
        ts_core_counters core;
        const ts_instruction *wait = add_wait(chip, &chip->cores[i], text + at, sizeof text - at);
        at += strlen(text + at);
        first = first ? first : wait;
        ts_core_count(chip->cores[i].core, &core);
        since = core.cycles > since ? core.cycles : since;
    }
    assert(first);
    ts_error_set(err, TS_ERROR_FAULT, "deadlock: %sthe DMA engine is idle; HBM is idle", text);
    return fault_at(err, since, first->source, first->line, first->column);
}

/* ---- Running ---- */

static bool too_long(ts_error *err, const ts_core *core, int64_t cycle, int64_t max_cycles) {
    char text[TS_ERROR_TEXT_BYTES / 2];
    const ts_instruction *loop = ts_core_loop(core, text, sizeof text);
    ts_error_set(err, TS_ERROR_FAULT, "the program has not halted after %lld cycles%s%s",
                 (long long)max_cycles, loop ? ": " : "", text);
    return fault_at(err, cycle, loop ? loop->source : NULL, loop ? loop->line : 0, loop ? loop->column : 0);
}

static bool all_halted(const ts_chip *chip) {
    bool all = true;
    for (int i = 0; i < chip->core_count; i++) all = all && ts_core_halted(chip->cores[i].core);
    return all;
}

/* At the end. */
static void look_back(ts_chip *chip) {
    int64_t end = chip->last_done;
    for (int i = 0; i < chip->core_count; i++) {
        int64_t cycles = cycles_of(&chip->cores[i]);
        end = cycles > end ? cycles : end;
    }
    for (int i = 0; i < chip->core_count && chip->config->findings; i++) {
        const chip_core *own = &chip->cores[i];
        ts_left_state left = {chip->code, core_number(own), own->accounts, own->semaphores};
        ts_left_semaphores(chip->config->findings, &left, end);
    }
}

/* All cores have come to a barrier: they go on. */
static bool pass_barrier(ts_chip *chip) {
    int64_t last = 0;
    for (int i = 0; i < chip->core_count; i++) {
        int64_t since = ts_core_at_barrier(chip->cores[i].core);
        if (since < 0) return false;
        last = since > last ? since : last;
    }
    for (int i = 0; i < chip->core_count; i++) {
        ts_core_pass_barrier(chip->cores[i].core, last);
        if (chip->cores[i].races) ts_races_pass_barrier(chip->cores[i].races);
    }
    return true;
}

/* The core that goes first, those of lower number before others in a cycle; and from when on another one
 * does. */
static chip_core *first_core(ts_chip *chip, int64_t *at, int64_t *others) {
    chip_core *best = chip->cores;
    *at = ts_core_next(best->core);
    *others = INT64_MAX;
    for (int i = 1; i < chip->core_count; i++) {
        int64_t next = ts_core_next(chip->cores[i].core);
        if (next < *at) best = &chip->cores[i], *at = next;
    }
    for (chip_core *other = chip->cores; other < chip->cores + chip->core_count; other++) {
        int64_t next = ts_core_next(other->core);
        if (other == best || next == INT64_MAX) continue;
        next += other > best;
        *others = next < *others ? next : *others;
    }
    return best;
}

/* How far a core may go alone: up to a completion. With several cores, not farther than a transfer that
 * another one starts can change when others complete. */
static int64_t limit_of(const ts_chip *chip, int64_t core_at, int64_t max_cycles) {
    int64_t limit = chip->quiet_until < max_cycles ? chip->quiet_until : max_cycles;
    const ts_dma_machine *memory = &chip->config->memory;
    int64_t issue = core_at + ts_clock_cycles(memory->dma->issue_ps, memory->core_khz);
    if (chip->core_count > 1 && issue < limit) limit = issue;
    return limit > core_at ? limit : core_at + 1;
}

/* The next thing that happens up to `until`, if anything does: a completion, or what a core does; `far`: as
 * much of that as nobody else can see. Transfers are asked only when one may complete: what they are asked,
 * and so what they answer, does not depend on the size of the steps. */
static bool step(ts_error *err, ts_chip *chip, int64_t max_cycles, int64_t until, bool far, bool *running) {
    int64_t core_at, others;
    chip_core *first = first_core(chip, &core_at, &others);
    *running = true;
    if (core_at >= chip->quiet_until) {
        int64_t done_at = traffic_next(chip->traffic, core_at);
        if (done_at != INT64_MAX) return done_at > until || complete(err, chip, done_at);
        chip->quiet_until = traffic_quiet_until(chip->traffic, core_at);
        if (chip->quiet_until <= core_at && core_at != INT64_MAX) chip->quiet_until = core_at + 1;
    }
    if (core_at == INT64_MAX) {
        if (pass_barrier(chip)) return true;
        *running = false;
        if (!all_halted(chip)) return deadlock(err, chip);
        look_back(chip);
        return true;
    }
    if (core_at > until) return true;
    if (core_at >= max_cycles) return too_long(err, first->core, core_at, max_cycles);
    int64_t limit = far ? limit_of(chip, core_at, max_cycles) : core_at + 1;
    bool good = ts_core_step_shared(err, first->core, limit, others);
    if (good && chip->core_count > 1) pass_barrier(chip);
    return good;
}

bool ts_chip_step(ts_error *err, ts_chip *chip, int64_t max_cycles, int64_t until, bool *running) {
    return step(err, chip, max_cycles, until, false, running);
}

bool ts_chip_run(ts_error *err, ts_chip *chip, int64_t max_cycles) {
    bool running = true;
    while (running) {
        if (!step(err, chip, max_cycles, INT64_MAX, true, &running)) return false;
    }
    return true;
}

const ts_isa_limits *ts_chip_limits(const ts_chip *chip) { return &chip->config->core.limits; }

int64_t ts_chip_semaphore(const ts_chip *chip, int core, int semaphore) {
    return chip->cores[core].semaphores[semaphore];
}

bool ts_chip_transfer(const ts_chip *chip, int number, int *transfer, int64_t *issued_cycle) {
    const ts_in_flight *t = chip->active;
    for (; t && number > 0; number--) t = t->younger;
    if (!t) return false;
    *transfer = t->transfer;
    *issued_cycle = t->issued_cycle;
    return true;
}

void ts_chip_count(const ts_chip *chip, ts_chip_counters *counters) {
    *counters = chip->counters;
    counters->core_count = chip->core_count;
    for (int i = 0; i < chip->core_count; i++) {
        ts_core_count(chip->cores[i].core, &counters->cores[i]);
        if (counters->cores[i].cycles > counters->cycles) counters->cycles = counters->cores[i].cycles;
    }
    traffic_count(chip->traffic, &counters->hbm, &counters->recalled);
    counters->estimated = traffic_is_estimated(chip->traffic);
}
