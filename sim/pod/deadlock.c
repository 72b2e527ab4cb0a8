/* Deadlocks of a mesh: who waits for whom.
 *
 * A core waits for a semaphore. The same core of another device could signal it if an instruction of the
 * program, with the scalars that it has now, names this semaphore here. One at a barrier waits for a core of
 * its chip that is not. Who waits for one that could, and so on, comes to a core again: that is the cycle
 * that is told. */
#include "deadlock.h"

#include "base/text.h"

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

/* A core of a device, by number: those of device 0 first. */
static int cores_of(const ts_pod *pod) { return ts_chip_core_count(pod->devices[0].chip); }
static ts_chip *chip_of(const ts_pod *pod, int64_t place) { return pod->devices[place / cores_of(pod)].chip; }
static int core_of(const ts_pod *pod, int64_t place) { return (int)(place % cores_of(pod)); }

static bool may_signal(const ts_pod *pod, int64_t who, int64_t device, int semaphore) {
    const ts_code *code = pod->request.code;
    ts_core *core = (ts_core *)(uintptr_t)ts_chip_core(chip_of(pod, who), core_of(pod, who));
    bool found = false;
    for (int b = 0; b < code->bundle_count && !found; b++)
        for (int k = 0; k < code->bundles[b].count && !found; k++)
            found = would_signal(code, core, &code->bundles[b].instructions[k], device, semaphore);
    return found;
}

/* What a core waits for, and the core that could end that; -1: none. */
typedef struct {
    const ts_instruction *at; /* NULL: it has halted */
    int semaphore;            /* -1: a barrier */
    int64_t needed, other;
} waiting;

static waiting wait_of(const ts_pod *pod, int64_t place) {
    waiting w = {.semaphore = -1, .other = -1};
    w.at = ts_chip_waiting(chip_of(pod, place), core_of(pod, place), &w.semaphore, &w.needed);
    return w;
}

static bool is_at_barrier(const waiting *w) { return w->at && w->semaphore < 0; }

/* Of a core at a barrier: the first core of its chip that is not there; -1: all are. */
static int64_t find_missing(const ts_pod *pod, int64_t place) {
    int64_t first = place - core_of(pod, place);
    for (int64_t other = first; other < first + cores_of(pod); other++) {
        const waiting w = wait_of(pod, other);
        if (!is_at_barrier(&w)) return other;
    }
    return -1;
}

static waiting look(const ts_pod *pod, int64_t place) {
    waiting w = wait_of(pod, place);
    int64_t count = pod->device_count * cores_of(pod), device = place / cores_of(pod);
    if (is_at_barrier(&w)) w.other = find_missing(pod, place);
    for (int64_t i = 1; w.semaphore >= 0 && i < pod->device_count && w.other < 0; i++) {
        int64_t other = (place + i * cores_of(pod)) % count;
        if (may_signal(pod, other, device, w.semaphore)) w.other = other;
    }
    return w;
}

/* The first core of the cycle that one comes to from the first that waits; that one, where there is no
 * cycle. */
static int64_t find_cycle(const ts_pod *pod, ts_arena *scratch) {
    int64_t count = pod->device_count * cores_of(pod), first = 0;
    bool *seen = TS_NEW_ARRAY(scratch, bool, count);
    while (first + 1 < count && !wait_of(pod, first).at) first++;
    int64_t at = first;
    while (at >= 0 && !seen[at]) {
        seen[at] = true;
        at = look(pod, at).other;
    }
    return at < 0 ? first : at;
}

static void add_name(const ts_pod *pod, int64_t place, ts_text *out) {
    long long device = place / cores_of(pod);
    if (cores_of(pod) > 1) ts_text_add(out, "core %d of ", core_of(pod, place));
    ts_text_add(out, "device %lld", device);
}

static void tell(const ts_pod *pod, int64_t place, const waiting *w, ts_text *out) {
    add_name(pod, place, out);
    if (!w->at) {
        ts_text_add(out, " has halted");
    } else if (is_at_barrier(w)) {
        ts_text_add(out, " waits at the barrier of line %d", w->at->line);
    } else {
        int64_t is = ts_chip_semaphore(chip_of(pod, place), core_of(pod, place), w->semaphore);
        ts_text_add(out, " waits at line %d for semaphore '%s' to reach %lld, it is %lld", w->at->line,
                    pod->request.code->semaphore_names[w->semaphore], (long long)w->needed, (long long)is);
    }
    if (w->other < 0 && w->at) ts_text_add(out, ", which no device would signal");
}

enum { ROOM = TS_ERROR_TEXT_BYTES - 64, ANOTHER = 160 }; /* bytes of the message, and of one of those told */

static void tell_cycle(const ts_pod *pod, int64_t first, ts_text *out) {
    int64_t at = first;
    do {
        const waiting w = look(pod, at);
        tell(pod, at, &w, out);
        at = w.other;
        if (at >= 0) ts_text_add(out, ", for ");
    } while (at >= 0 && at != first && out->length + ANOTHER < ROOM);
    if (at < 0) return;
    add_name(pod, at, out);
    ts_text_add(out, "%s", at == first ? ": a cycle" : " ..");
}

bool pod_deadlock(ts_error *err, const ts_pod *pod) {
    ts_arena *scratch = ts_arena_new();
    ts_text text = ts_text_begin(scratch);
    int64_t first = find_cycle(pod, scratch);
    tell_cycle(pod, first, &text);
    ts_chip_counters counters;
    ts_chip_count(chip_of(pod, first), &counters);
    ts_instruction_error(err, TS_ERROR_FAULT, wait_of(pod, first).at, "deadlock: %s", text.bytes);
    ts_arena_free(scratch);
    if (err) err->cycle = counters.cycles;
    return false;
}
