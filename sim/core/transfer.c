/* DMA starts and semaphores. */
#include <inttypes.h>

#include "state.h"
#include "base/number.h"

static bool find(ts_error *err, const ts_core *core, const core_op *op, const ts_semaphore_operand *operand,
                 int *semaphore) {
    int64_t index = operand->bias;
    if (operand->sreg >= 0) index += (int32_t)core->sregs[operand->sreg];
    if (index < 0 || index >= operand->count) {
        return core_fault(err, core, op, "semaphore index %" PRId64 " is out of range, expected 0 to %d",
                          index, operand->count - 1);
    }
    *semaphore = operand->first + (int)index;
    return true;
}

bool core_semaphore_find(ts_error *err, const ts_core *core, const core_op *op, int *semaphore) {
    return find(err, core, op, op->semaphore, semaphore);
}

static bool set(ts_error *err, ts_core *core, const core_op *op, int semaphore, int64_t value) {
    if (value < 0) {
        return core_fault(err, core, op, "semaphore %s would become %" PRId64 ", expected 0 or more",
                          core->setup.code->semaphore_names[semaphore], value);
    }
    if (core->setup.ports->changed) {
        core->setup.ports->changed(core->setup.ports->chip, op->instruction, semaphore,
                                   value - core->setup.semaphores[semaphore], core->now);
    }
    core->promised[semaphore] += value - core->setup.semaphores[semaphore];
    core->setup.semaphores[semaphore] = value;
    core->yielding = true;
    return true;
}

CORE_FUNCTION(sem_set) {
    int semaphore = 0;
    return core_semaphore_find(err, core, op, &semaphore) &&
           set(err, core, op, semaphore, (int32_t)op->in[0][0]);
}

CORE_FUNCTION(sem_add) {
    int semaphore = 0;
    return core_semaphore_find(err, core, op, &semaphore) &&
           set(err, core, op, semaphore, core->setup.semaphores[semaphore] + (int32_t)op->in[0][0]);
}

CORE_FUNCTION(sem_read) {
    int semaphore = 0;
    if (!core_semaphore_find(err, core, op, &semaphore)) return false;
    op->d[0] = (uint32_t)core->setup.semaphores[semaphore];
    if (core->setup.ports->looked) core->setup.ports->looked(core->setup.ports->chip, semaphore);
    return true;
}

static int64_t devices_of(const ts_core *core) { return core->setup.device ? core->setup.device->count : 1; }

static bool check_device(ts_error *err, const ts_core *core, const core_op *op, int64_t device) {
    return (device >= 0 && device < devices_of(core)) ||
           core_fault(err, core, op, "there is no device %" PRId64 ", expected 0 to %" PRId64, device,
                      devices_of(core) - 1);
}

/* The operands are read before the signal is sent, which may go to this device. */
CORE_FUNCTION(sem_signal) {
    int semaphore = 0;
    int64_t by = (int32_t)op->in[0][0], device = (int32_t)op->in[1][0];
    if (!core_semaphore_find(err, core, op, &semaphore) || !check_device(err, core, op, device)) return false;
    if (by < 1) return core_fault(err, core, op, "a signal of %" PRId64 ", expected 1 or more", by);
    if (!core->setup.ports->signalled || device == core->setup.device->id)
        return set(err, core, op, semaphore, core->setup.semaphores[semaphore] + by);
    ts_core_signal signal = {op->instruction, device, by, core->now, semaphore};
    core->yielding = true;
    core->setup.ports->signalled(core->setup.ports->chip, &signal);
    return true;
}

int64_t core_wait_count(const core_op *op) { return op->in[0] ? (int32_t)op->in[0][0] : 1; }

bool core_wait_ready(ts_error *err, const ts_core *core, const core_op *op, bool *ready) {
    int semaphore = 0;
    if (!core_semaphore_find(err, core, op, &semaphore)) return false;
    if (core_wait_count(op) < 0)
        return core_fault(err, core, op, "wait for %" PRId64 ", expected 0 or more", core_wait_count(op));
    *ready = core->setup.semaphores[semaphore] >= core_wait_count(op);
    return true;
}

/* Runs only once core_wait_ready said so. */
CORE_FUNCTION(wait) {
    int semaphore = 0;
    if (!core_semaphore_find(err, core, op, &semaphore)) return false;
    int64_t cycles = core->setup.config->latency_cycles[TS_LATENCY_SEMAPHORE];
    core_hold(core, cycles, TS_STALL_WAIT + TS_LATENCY_SEMAPHORE);
    return set(err, core, op, semaphore, core->setup.semaphores[semaphore] - core_wait_count(op));
}

/* Runs only once all have come; costs what a wait costs. */
CORE_FUNCTION(barrier) {
    (void)err, (void)op;
    core_hold(core, core->setup.config->latency_cycles[TS_LATENCY_SEMAPHORE],
              TS_STALL_WAIT + TS_LATENCY_SEMAPHORE);
    core->passed = false;
    core->yielding = true;
    return true;
}

/* ---- DMA ---- */

static bool begin_of(ts_error *err, const ts_core *core, const core_op *op, const ts_affine *affine,
                     int64_t *value) {
    *value = affine->constant;
    for (int i = 0; i < affine->term_count; i++) {
        int64_t part;
        if (!ts_mul(affine->terms[i].factor, (int32_t)core->sregs[affine->terms[i].sreg], &part) ||
            !ts_add(*value, part, value))
            return core_fault(err, core, op, "the index of the slice does not fit in 64 bits");
    }
    return true;
}

static bool begin_all(ts_error *err, const ts_core *core, const core_op *op, const ts_slice *slice,
                      int64_t *begin) {
    for (int dim = 0; dim < slice->rank; dim++)
        if (!begin_of(err, core, op, &slice->begin[dim], &begin[dim])) return false;
    return true;
}

/* Of a remote transfer: its device, and its semaphore there. */
static bool remote_end(ts_error *err, const ts_core *core, const core_op *op, ts_core_start *start) {
    const ts_transfer *transfer = &core->setup.code->transfers[start->transfer];
    return !transfer->remote || (begin_of(err, core, op, &transfer->device, &start->device) &&
                                 check_device(err, core, op, start->device) &&
                                 find(err, core, op, &transfer->receive, &start->receive));
}

/* The chip's error, at the location of the instruction. */
static bool error_at_instruction(ts_error *err, const ts_core *core, const core_op *op) {
    ts_error cause = *err;
    ts_error_clear(err);
    ts_instruction_error(err, cause.kind, op->instruction, "%s", cause.message);
    err->cycle = core->now;
    return false;
}

bool core_transfer_find(ts_error *err, const ts_core *core, const core_op *op, int *semaphore) {
    const ts_transfer *transfer = &core->setup.code->transfers[op->instruction->operands[0].as.transfer];
    return find(err, core, op, &transfer->semaphore, semaphore) &&
           begin_all(err, core, op, &transfer->source, core->begin) &&
           begin_all(err, core, op, &transfer->destination, core->begin + transfer->source.rank);
}

CORE_FUNCTION(dma) {
    int index = op->instruction->operands[0].as.transfer, semaphore = 0;
    const ts_transfer *transfer = &core->setup.code->transfers[index];
    int64_t *source = core->begin, *destination = core->begin + transfer->source.rank;
    ts_core_start start = {.transfer = index,
                           .source_begin = source,
                           .destination_begin = destination,
                           .cycle = core->now,
                           .device = -1,
                           .receive = -1};
    if (!core_transfer_find(err, core, op, &semaphore) || !remote_end(err, core, op, &start)) return false;
    start.semaphore = semaphore;
    core->yielding = true;
    core->promised[semaphore]++;
    core_loops_transfer(core, index);
    const ts_core_ports *ports = core->setup.ports;
    ts_error cause = {.kind = TS_ERROR_NONE};
    if (ports->dma_start(&cause, ports->chip, &start)) return true;
    if (err) {
        *err = cause;
        error_at_instruction(err, core, op);
    }
    return false;
}
