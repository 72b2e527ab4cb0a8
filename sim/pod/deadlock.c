/* Deadlocks of a mesh: who waits for whom.
 *
 * A core waits for a semaphore. Another device could signal it if an instruction of the program, with the scalars that
 * its core has now, names this semaphore here. Who waits for one that could, and so on, comes to a device again: that
 * is the cycle that is told. */
#include "deadlock.h"

#include <stdio.h>

static int64_t affine_value(ts_core *core, const ts_affine *affine) {
    int64_t value = affine->constant;
    for (int i = 0; i < affine->term_count; i++)
        value += affine->terms[i].factor *
                 (int32_t)*ts_core_register(core, TS_OPERAND_SREG, affine->terms[i].sreg);
    return value;
}

static bool names(const ts_semaphore_operand *operand, int semaphore) {
    return semaphore >= operand->first && semaphore < operand->first + operand->count;
}

/* Whether the instruction, done by that core, would signal the semaphore of the device. */
static bool would_signal(const ts_code *code, ts_core *core, const ts_instruction *i, int64_t device,
                         int semaphore) {
    if (i->opcode == TS_OP_sem_signal) {
        const ts_operand *to = &i->operands[2];
        int64_t there = to->kind == TS_OPERAND_SREG
                            ? (int32_t)*ts_core_register(core, TS_OPERAND_SREG, to->as.reg)
                            : to->as.integer;
        return there == device && names(&i->operands[0].as.semaphore, semaphore);
    }
    if (i->opcode != TS_OP_dma) return false;
    const ts_transfer *t = &code->transfers[i->operands[0].as.transfer];
    return t->remote && affine_value(core, &t->device) == device && names(&t->receive, semaphore);
}

static bool may_signal(const ts_pod *pod, int64_t who, int64_t device, int semaphore) {
    const ts_code *code = pod->request.code;
    ts_core *core = (ts_core *)(uintptr_t)ts_chip_core(pod->devices[who].chip, 0);
    bool found = false;
    for (int b = 0; b < code->bundle_count && !found; b++)
        for (int k = 0; k < code->bundles[b].count && !found; k++)
            found = would_signal(code, core, &code->bundles[b].instructions[k], device, semaphore);
    return found;
}

/* What the device waits for, and the device that could end that; -1: none. */
typedef struct {
    const ts_instruction *at; /* NULL: it has halted */
    int semaphore;
    int64_t needed, other;
} waiting;

static waiting look(const ts_pod *pod, int64_t device) {
    waiting w = {.semaphore = -1, .other = -1};
    w.at = ts_chip_waiting(pod->devices[device].chip, 0, &w.semaphore, &w.needed);
    for (int64_t i = 1; w.semaphore >= 0 && i < pod->device_count && w.other < 0; i++) {
        int64_t other = (device + i) % pod->device_count;
        if (may_signal(pod, other, device, w.semaphore)) w.other = other;
    }
    return w;
}

/* The first device of the cycle that one comes to from the first that waits; that one, where there is no cycle. */
static int64_t find_cycle(const ts_pod *pod, ts_arena *scratch) {
    bool *seen = TS_NEW_ARRAY(scratch, bool, pod->device_count);
    int64_t first = 0;
    while (first + 1 < pod->device_count && ts_chip_halted(pod->devices[first].chip)) first++;
    int64_t at = first;
    while (at >= 0 && !seen[at]) {
        seen[at] = true;
        at = look(pod, at).other;
    }
    return at < 0 ? first : at;
}

static const char *name_of(const ts_pod *pod, int semaphore) {
    return semaphore < 0 ? "" : pod->request.code->semaphore_names[semaphore];
}

static int tell(const ts_pod *pod, int64_t device, const waiting *w, char *text, size_t bytes) {
    if (!w->at) return snprintf(text, bytes, "device %lld has halted", (long long)device);
    if (w->semaphore < 0)
        return snprintf(text, bytes, "device %lld waits at a barrier of its cores, line %d",
                        (long long)device, w->at->line);
    return snprintf(text, bytes, "device %lld waits at line %d for semaphore '%s' to reach %lld, it is %lld",
                    (long long)device, w->at->line, name_of(pod, w->semaphore), (long long)w->needed,
                    (long long)ts_chip_semaphore(pod->devices[device].chip, 0, w->semaphore));
}

bool pod_deadlock(ts_error *err, const ts_pod *pod) {
    char text[TS_ERROR_TEXT_BYTES - 64];
    ts_arena *scratch = ts_arena_new();
    int64_t first = find_cycle(pod, scratch), at = first;
    ts_arena_free(scratch);
    size_t used = 0;
    waiting begin = look(pod, first);
    while (at >= 0 && used + 160 < sizeof text) { /* room for another one */
        waiting w = look(pod, at);
        used += (size_t)tell(pod, at, &w, text + used, sizeof text - used);
        at = w.other;
        const char *link = at < 0 && w.at ? ", which no device would signal" : at < 0 ? "" : ", for ";
        used += (size_t)snprintf(text + used, sizeof text - used, "%s", link);
        if (at == first) break;
    }
    if (at >= 0)
        used += (size_t)snprintf(text + used, sizeof text - used, "device %lld%s", (long long)at,
                                 at == first ? ": a cycle" : " ..");
    ts_chip_counters counters;
    ts_chip_count(pod->devices[first].chip, &counters);
    ts_instruction_error(err, TS_ERROR_FAULT, begin.at, "deadlock: %s", text);
    if (err) err->cycle = counters.cycles;
    return false;
}
