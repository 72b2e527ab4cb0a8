/* The chip's stepper. */
#include "chip/chip.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/number.h"
#include "state.h"

ts_space *ts_chip_space(ts_chip *chip, ts_space_kind kind) { return chip->cores[0].spaces[kind]; }
ts_space *ts_chip_core_space(ts_chip *chip, int core, ts_space_kind kind) {
    return chip->cores[core].spaces[kind];
}
const ts_chip_transfers *ts_chip_transfers_of(const ts_chip *chip, int transfer) {
    return &chip->transfers[transfer];
}
const ts_core *ts_chip_core(const ts_chip *chip, int core) { return chip->cores[core].core; }
int ts_chip_core_count(const ts_chip *chip) { return chip->core_count; }

/* ---- Deadlock ---- */

/* "the core waits for semaphore 'a' to reach 1, it is 0"; returns the instruction, NULL when the core has
 * halted. */
static const ts_instruction *add_wait(const ts_chip *chip, const chip_core *own, char *text, size_t bytes) {
    int semaphore = -1, number = (int)(own - chip->cores);
    int64_t needed = 0;
    const ts_instruction *wait = ts_core_waiting(own->core, &semaphore, &needed);
    int at = chip->core_count == 1 ? snprintf(text, bytes, "the core ")
                                   : snprintf(text, bytes, "core %d ", number);
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
        since = ts_max(since, core.cycles);
    }
    assert(first);
    ts_error_set(err, TS_ERROR_FAULT, "deadlock: %sthe DMA engine is idle; HBM is idle", text);
    return chip_fault_at(err, since, first->source, first->line, first->column);
}

/* ---- Running ---- */

/* What a core came to; of several it is said which. */
static bool fail_core(ts_error *err, const ts_chip *chip, const chip_core *own) {
    return chip->core_count > 1 && ts_error_whose(err, "core", own - chip->cores);
}

static bool too_long(ts_error *err, const ts_chip *chip, const chip_core *own, int64_t cycle,
                     int64_t max_cycles) {
    char text[TS_ERROR_TEXT_BYTES / 2];
    const ts_instruction *loop = ts_core_loop(own->core, text, sizeof text);
    ts_error_set(err, TS_ERROR_FAULT, "the program has not halted after %lld cycles%s%s",
                 (long long)max_cycles, loop ? ": " : "", text);
    chip_fault_at(err, cycle, loop ? loop->source : NULL, loop ? loop->line : 0, loop ? loop->column : 0);
    return fail_core(err, chip, own);
}

static bool all_halted(const ts_chip *chip) {
    bool all = true;
    for (int i = 0; i < chip->core_count; i++) all = all && ts_core_halted(chip->cores[i].core);
    return all;
}

/* At the end. */
static void look_back(ts_chip *chip) {
    int64_t end = chip->last_done;
    for (int i = 0; i < chip->core_count; i++) end = ts_max(end, chip_core_cycles(&chip->cores[i]));
    for (int i = 0; i < chip->core_count && chip->config->findings; i++) {
        const chip_core *own = &chip->cores[i];
        ts_left_state left = {chip->code, chip_core_number(own), own->accounts, own->semaphores};
        ts_left_semaphores(chip->config->findings, &left, end);
    }
}

/* What happened on one core before the barrier is in order for all behind it. */
static void order(ts_chip *chip, chip_core *own) {
    if (own->races) ts_races_pass_barrier(own->races);
    for (int i = 0; i < chip->core_count; i++) ts_arrivals_meet(own->arrivals, chip->cores[i].arrivals);
}

/* If all cores have come to a barrier, they go on. */
static void pass_barrier(ts_chip *chip) {
    int64_t last = 0;
    for (int i = 0; i < chip->core_count; i++) {
        int64_t since = ts_core_at_barrier(chip->cores[i].core);
        if (since < 0) return;
        last = ts_max(last, since);
    }
    for (int i = 0; i < chip->core_count; i++) {
        ts_core_pass_barrier(chip->cores[i].core, last);
        order(chip, &chip->cores[i]);
    }
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
        *others = ts_min(*others, next + (other > best));
    }
    return best;
}

/* Before it is looked whether a run is to end: a moment of the host. */
enum { CYCLES_UNASKED = 1 << 17 };

/* How far a core may go alone: up to a completion. With several cores, not farther than a transfer that
 * another one starts can change when others complete. */
static int64_t limit_of(const ts_chip *chip, int64_t core_at, int64_t max_cycles) {
    int64_t limit = ts_min(chip->quiet_until, max_cycles);
    const ts_dma_machine *memory = &chip->config->memory;
    int64_t issue = core_at + ts_clock_cycles(memory->dma->issue_ps, memory->core_khz);
    if (chip->core_count > 1) limit = ts_min(limit, issue);
    if (chip->config->interrupt) limit = ts_min(limit, core_at + CYCLES_UNASKED);
    return ts_max(limit, core_at + 1);
}

/* When the next transfer is complete; INT64_MAX: none is up to `limit`. Transfers are asked only when one may
 * be: what they are asked, and so what they answer, does not depend on the size of the steps. */
static int64_t next_done(ts_chip *chip, int64_t limit) {
    if (limit < chip->quiet_until) return INT64_MAX;
    int64_t done_at = traffic_next(chip->traffic, limit);
    if (done_at != INT64_MAX) return done_at;
    chip->quiet_until = traffic_quiet_until(chip->traffic, limit);
    if (limit != INT64_MAX) chip->quiet_until = ts_max(chip->quiet_until, limit + 1);
    return INT64_MAX;
}

typedef enum { ONE_EVENT, ALL_UNSEEN } step_size;

/* The next thing that happens up to `until`, if anything does: a completion, or what a core does
 * (ALL_UNSEEN: as much of that as nobody else can see). */
static bool step(ts_error *err, ts_chip *chip, int64_t max_cycles, int64_t until, step_size size,
                 bool *running) {
    int64_t core_at, others;
    chip_core *first = first_core(chip, &core_at, &others);
    *running = true;
    int64_t done_at = next_done(chip, core_at);
    if (done_at != INT64_MAX) return done_at > until || chip_complete(err, chip, done_at);
    if (core_at == INT64_MAX) {
        *running = false;
        if (!all_halted(chip)) return deadlock(err, chip);
        look_back(chip);
        return true;
    }
    if (core_at > until) return true;
    if (core_at >= max_cycles) return too_long(err, chip, first, core_at, max_cycles);
    int64_t limit = size == ALL_UNSEEN ? limit_of(chip, core_at, max_cycles) : core_at + 1;
    if (!ts_core_step(err, first->core, limit, others)) return fail_core(err, chip, first);
    if (chip->core_count > 1) pass_barrier(chip);
    return true;
}

bool ts_chip_step(ts_error *err, ts_chip *chip, int64_t max_cycles, int64_t until, bool *running) {
    return step(err, chip, max_cycles, until, ONE_EVENT, running);
}

/* ---- In a mesh ---- */

bool ts_chip_advance(ts_error *err, ts_chip *chip, const ts_chip_span *span, int64_t *next,
                     bool *has_message) {
    int64_t until = span->until, max_cycles = span->max_cycles;
    for (chip->has_message = *has_message = false;; *has_message = chip->has_message) {
        int64_t core_at, others;
        chip_core *first = first_core(chip, &core_at, &others);
        if (*has_message) return true;
        int64_t done_at = next_done(chip, ts_min(core_at, until - 1));
        if (done_at != INT64_MAX) {
            if (!chip_complete(err, chip, done_at)) return false;
            continue;
        }
        *next = ts_min(core_at, chip->quiet_until);
        if (core_at >= until) return true;
        if (core_at >= max_cycles) return too_long(err, chip, first, core_at, max_cycles);
        int64_t limit = limit_of(chip, core_at, max_cycles);
        if (!ts_core_step(err, first->core, ts_min(limit, until), others)) return fail_core(err, chip, first);
        if (chip->core_count > 1) pass_barrier(chip);
    }
}

bool ts_chip_halted(const ts_chip *chip) { return all_halted(chip); }
void ts_chip_look_back(ts_chip *chip) { look_back(chip); }

const ts_instruction *ts_chip_waiting(const ts_chip *chip, int core, int *semaphore, int64_t *needed) {
    *semaphore = -1;
    return ts_core_waiting(chip->cores[core].core, semaphore, needed);
}

bool ts_chip_run(ts_error *err, ts_chip *chip, int64_t max_cycles) {
    bool running = true;
    while (running) {
        if (!step(err, chip, max_cycles, INT64_MAX, ALL_UNSEEN, &running)) return false;
        if (ts_interrupt_is_heard(chip->config->interrupt))
            return ts_interrupt_error(err, chip->config->interrupt);
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

bool ts_chip_is_estimated(const ts_chip *chip) { return traffic_is_estimated(chip->traffic); }

void ts_chip_count(const ts_chip *chip, ts_chip_counters *counters) {
    *counters = chip->counters;
    counters->core_count = chip->core_count;
    for (int i = 0; i < chip->core_count; i++) {
        ts_core_count(chip->cores[i].core, &counters->cores[i]);
        counters->cycles = ts_max(counters->cycles, counters->cores[i].cycles);
    }
    counters->elapsed_cycles = ts_max(counters->elapsed_cycles, counters->cycles);
    traffic_count(chip->traffic, &counters->hbm, &counters->recalled);
    ts_hbm_stats_balance(&counters->hbm);
    counters->estimated = ts_chip_is_estimated(chip);
}
