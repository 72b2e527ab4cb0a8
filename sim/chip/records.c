/* The chip's records of transfers in flight, from start to end. */
#include "state.h"

#include "base/number.h"

ts_plan_side chip_side(const ts_chip *chip, const ts_slice *slice, const int64_t *begin) {
    const ts_tensor *tensor = &chip->code->tensors[slice->tensor];
    return (ts_plan_side){tensor->shape, begin, chip->axis_bits[slice->tensor], tensor->base_bytes * 8};
}

/* Both slices have the same sizes but for dims of 1 (the assembler sees to it). */
const ts_plan *chip_plan(ts_error *err, ts_arena *arena, const ts_transfer *what, ts_plan_side *src,
                         ts_plan_side *dst) {
    const ts_slice *a = &what->source, *b = &what->destination;
    if (ts_integers_equal(a->size, a->rank, b->size, b->rank))
        return ts_plan_new(err, arena, src, dst, a->rank, a->size);
    int rank;
    const int64_t *sizes = ts_plan_squeeze(err, arena, src, a->size, &rank);
    return sizes && ts_plan_squeeze(err, arena, dst, b->size, &rank)
               ? ts_plan_new(err, arena, src, dst, rank, sizes)
               : NULL;
}

ts_in_flight *chip_take_record(ts_chip *chip) {
    ts_in_flight *t = chip->free_records;
    if (!t) return TS_NEW(chip->arena, ts_in_flight);
    chip->free_records = t->next;
    return t;
}

void chip_give_back(ts_chip *chip, ts_in_flight *t) {
    t->next = chip->free_records;
    chip->free_records = t;
}

bool chip_fault_at(ts_error *err, int64_t cycle, const ts_source *source, int line, int column) {
    if (!err) return false;
    ts_error below = *err;
    ts_error_kind kind = below.kind == TS_ERROR_INPUT ? TS_ERROR_FAULT : below.kind;
    if (below.line == 0 && source) {
        ts_error_clear(err);
        ts_error_mark(err, kind, source, line, column, below.message);
    }
    err->kind = kind;
    if (below.cycle <= 0) err->cycle = cycle;
    return false;
}

static chip_core *core_of(ts_chip *chip, const ts_in_flight *t) { return &chip->cores[t->core]; }

static void check_start(ts_chip *chip, ts_in_flight *t) {
    ts_races_start(core_of(chip, t)->races, t);
    ts_arrivals_start(core_of(chip, t)->arrivals, t);
    for (int i = 0; i < chip->core_count; i++)
        if (i != t->core) ts_races_compare_cores(chip->cores[i].races, t);
    ts_outputs_start(&chip->outputs, t);
}

void chip_put_in_flight(ts_chip *chip, ts_in_flight *t) {
    ts_in_flight **last = &chip->active;
    while (*last) last = &(*last)->younger;
    *last = t;
    if (t->semaphore >= 0) {
        int64_t by = ts_transfer_adds(chip->code, t->what, t->semaphore);
        ts_left_send(&core_of(chip, t)->accounts[t->semaphore], t->what, by);
    }
    if (core_of(chip, t)->races) check_start(chip, t);
    if (chip->busy_since < 0) chip->busy_since = t->issued_cycle;
    chip->quiet_until = 0;
    const ts_chip_observer *o = chip_told_of(core_of(chip, t));
    if (o && o->started) o->started(o->self, t);
}

/* ---- The sanitizer ---- */

static void check_done(ts_chip *chip, ts_in_flight *t) {
    const chip_core *by = core_of(chip, t);
    bool vmem = chip->code->tensors[t->what->source.tensor].space == TS_SPACE_VMEM;
    ts_races_complete(by->races, t);
    ts_arrivals_done(by->arrivals, t);
    if (!chip->config->time_only && t->dst)
        ts_outputs_done(&chip->outputs, t, vmem ? ts_core_poison(by->core) : NULL);
}

int chip_core_number(const chip_core *own) {
    return own->chip->core_count > 1 ? (int)(own - own->chip->cores) : -1;
}

int64_t chip_core_cycles(const chip_core *own) {
    ts_core_counters core;
    ts_core_count(own->core, &core);
    return core.cycles;
}

void chip_read_outside(void *self, const ts_outside_read *read) {
    const chip_core *own = self;
    ts_findings *findings = own->chip->config->findings;
    if (!findings) return;
    ts_finding *f = ts_findings_add(findings, TS_FINDING_OUTSIDE, ts_location_of(read->instruction),
                                    (ts_location){0}, read->cycle);
    if (f)
        ts_finding_describe(
            f, "%s reads bytes %lld to %lld, outside of %s (%lld to %lld): it gets what lies there",
            ts_opcode_get(read->instruction->opcode)->mnemonic, (long long)read->address,
            (long long)read->address + 3, read->array, (long long)read->first, (long long)read->end - 1);
}

void chip_change_semaphore(void *self, const ts_instruction *instruction, int semaphore, int64_t by,
                           int64_t cycle) {
    chip_core *own = self;
    const ts_chip_observer *o = chip_told_of(own);
    if (o && o->changed) o->changed(o->self, instruction, semaphore, by, cycle);
    ts_left_change(&own->accounts[semaphore], instruction, by);
    if (by < 0) ts_arrivals_wait(own->arrivals, instruction, semaphore, -by, cycle);
    for (ts_in_flight *t = own->races ? ts_races_change(own->races, semaphore) : NULL; t;) {
        ts_in_flight *next = t->next;
        chip_give_back(own->chip, t);
        t = next;
    }
}

/* No longer in flight; races may still need the record. */
static void take_out(ts_chip *chip, ts_in_flight *t) {
    ts_in_flight **link = &chip->active;
    while (*link != t) link = &(*link)->younger;
    *link = t->younger;
    t->plan = NULL;
    if (!t->race) chip_give_back(chip, t);
}

void chip_settle(ts_chip *chip, ts_in_flight *t, int64_t cycle) {
    const chip_core *by = core_of(chip, t);
    t->done_cycle = cycle;
    if (t->race) check_done(chip, t);
    if (chip->config->findings && ts_core_halted(by->core) && chip_core_cycles(by) <= cycle)
        ts_left_transfer(chip->config->findings, t->what, chip_core_number(by), chip_core_cycles(by), cycle);
    int ends[] = {t->semaphore, t->dst ? t->receive : -1};
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0) by->semaphores[ends[i]] += ts_transfer_adds(chip->code, t->what, ends[i]);
    take_out(chip, t);
    chip->last_done = cycle;
    for (int i = 0; i < chip->core_count; i++) ts_core_notify(chip->cores[i].core, cycle);
}
