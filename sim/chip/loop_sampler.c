/* Batches of a loop's iterations that stand for those behind them. */
#include "loop_sampler.h"

#include <math.h>

#include "base/clock.h"
#include "base/number.h"
#include "base/ratio.h"
#include "core/forward.h"

enum {
    BATCH_INTERVALS = 6, /* at least, of one */
    MOST_BATCHES = 32,
    LEAST_VISITS = 8,
    WORTH = 2, /* what is left out, in what is simulated for it */
    ERROR = 200,
    ROUGHLY = 100,
    WORKS = 3,        /* one part in so many of the time of two cores that are sampled together, at least */
    BUNDLES = 1 << 24 /* looked at for how long a loop goes on */
};

/* How far several cores are ahead of each other changes slowly, and so does how they meet in the memory. */
typedef struct {
    int settle_intervals; /* before the first batch */
    int least_batches;
} needs;
static const needs of_one = {12, 6}, of_several = {24, 8};

/* A loop, by the bundle of its branch back. */
typedef struct {
    int64_t visits, since; /* the cycle of the first */
    int64_t next;          /* not looked at before so many visits */
    int64_t passed;        /* iterations, also those left out; */
    int64_t in_vain;       /* looked at for nothing, at most as many: that may take longer than to simulate */
} loop;

/* A core in the loop that is sampled. */
typedef struct {
    int64_t iterations;  /* simulated, from where the core came on; -1: it has not */
    int64_t from, until; /* the cycles of the first, and behind the last whole period */
} member;

struct loop_sampler {
    ts_chip *chip;
    int64_t interval; /* of refreshes, in cycles */
    loop *loops[TS_CHIP_CORES];
    int end;                 /* of the loop that is sampled; -1: none */
    int timed;               /* the core that came first: batches are of its time */
    int cores, joined, left; /* that have not halted; of these came; went over what is left out */
    member members[TS_CHIP_CORES];
    int64_t alike, period;          /* iterations of each core that are; until they begin again */
    int64_t batch, round;           /* iterations of one, roughly; of whole periods, */
    int64_t parts;                  /* which are so many batches */
    int64_t last, times;            /* simulated by each; left out, in those. 0: not yet known */
    int64_t bundles;                /* left out, of the core that left out most */
    int64_t batch_from, round_from; /* the cycles where they began */
    ts_ratio batches, rounds;       /* their cycles; the weights are their iterations */
    int64_t from, busy_cycles;      /* when all had come, and before */
};

loop_sampler *loop_sampler_new(ts_arena *arena, ts_chip *chip) {
    const ts_chip_config *config = chip->config;
    if (!config->time_only || config->exact || chip->observer || config->links) return NULL;
    loop_sampler *s = TS_NEW(arena, loop_sampler);
    const ts_hbm_config *hbm = config->memory.hbm;
    *s = (loop_sampler){.chip = chip, .end = -1};
    s->interval = ts_clock_convert((int64_t)hbm->timing.t_refi * hbm->ticks_per_ck, ts_hbm_tick_khz(hbm),
                                   config->memory.core_khz);
    for (int i = 0; i < chip->core_count; i++)
        s->loops[i] = TS_NEW_ARRAY(arena, loop, chip->code->bundle_count);
    return s;
}

static const needs *needs_of(const loop_sampler *s) {
    return s->chip->core_count > 1 ? &of_several : &of_one;
}

static ts_core *core_of(const loop_sampler *s, int core) { return s->chip->cores[core].core; }
static int64_t cycle_of(const loop_sampler *s, int core) { return ts_core_next(core_of(s, core)); }

static int64_t busy_cycles(const loop_sampler *s, int64_t cycle) {
    const ts_chip *chip = s->chip;
    return chip->counters.dma_busy_cycles + (chip->busy_since < 0 ? 0 : cycle - chip->busy_since);
}

/* ---- Beginning ---- */

/* The inner loops of one that has come round begin again. */
static void forget_inner(loop_sampler *s, int core, int end) {
    for (int i = ts_core_forward_head(core_of(s, core), end); i < end; i++) s->loops[core][i] = (loop){0};
}

static int64_t count_alike(loop_sampler *s, int core, int end, int64_t *period) {
    loop *l = &s->loops[core][end];
    int64_t in_vain, alike = ts_core_forward_count(core_of(s, core), end, BUNDLES, period, &in_vain);
    l->in_vain += in_vain;
    l->next = l->visits + (*period > 0 ? alike + LEAST_VISITS : l->visits);
    return alike;
}

static bool is_worth(const loop_sampler *s, int64_t simulated) { return s->alike >= (1 + WORTH) * simulated; }

/* What is alike goes on for long enough, by what is known so far. */
static bool make_round(loop_sampler *s) {
    s->round = ts_round_up(s->batch, s->period);
    s->parts = s->round / s->batch;
    return is_worth(s, ts_ceil_div(needs_of(s)->least_batches, s->parts) * s->round);
}

/* From here on what the core does counts for others; when all have come, what the chip does too. */
static void join(loop_sampler *s, int core) {
    ts_core_forward_mark(core_of(s, core));
    chip_mark(s->chip, core);
    s->members[core] = (member){.from = cycle_of(s, core)};
    if (++s->joined < s->cores) return;
    traffic_mark(s->chip->traffic);
    s->from = cycle_of(s, core);
    s->busy_cycles = busy_cycles(s, s->from);
}

/* A core that came later. */
static void follow(loop_sampler *s, int core) {
    int64_t period, alike = count_alike(s, core, s->end, &period);
    s->alike = ts_min(s->alike, alike);
    if (period > 0 && ts_lcm(s->period, period, &s->period) && make_round(s))
        join(s, core);
    else
        s->end = -1;
}

/* Where enough iterations from here on are alike; else looks again behind them. */
static void begin(loop_sampler *s, int core, int end) {
    const ts_chip *chip = s->chip;
    const loop *l = &s->loops[core][end];
    if (chip_counts_for_others(chip)) return;
    s->alike = count_alike(s, core, end, &s->period);
    if (s->period == 0) return;
    double each = (double)(cycle_of(s, core) - l->since) / (double)(l->visits - 1);
    s->batch = (int64_t)((double)(BATCH_INTERVALS * s->interval) / each) + 1;
    if (!make_round(s)) return;
    s->end = end;
    s->timed = core;
    s->cores = s->joined = s->left = 0;
    for (int i = 0; i < chip->core_count; i++) {
        s->cores += !ts_core_halted(core_of(s, i));
        s->members[i].iterations = -1;
    }
    s->last = s->times = s->bundles = 0;
    s->batches = s->rounds = (ts_ratio){0};
    s->batch_from = s->round_from = cycle_of(s, core);
    join(s, core);
}

/* ---- Leaving out ---- */

static void move_times(ts_chip *chip, int64_t by) {
    for (ts_in_flight *t = chip->active; t; t = t->younger) {
        t->issued_cycle += by;
        t->begun_cycle += by;
    }
    if (chip->busy_since >= 0) chip->busy_since += by;
    chip->last_done += by;
    chip->quiet_until = 0;
}

/* All cores have gone over what is left out: now its time passes, for those as well that have halted
 * since. */
static void pass_time(loop_sampler *s, int64_t cycle) {
    ts_chip *chip = s->chip;
    int64_t by = ts_max(s->times * (cycle - s->from), s->bundles);
    int64_t busy = busy_cycles(s, cycle) - s->busy_cycles;
    for (int i = 0; i < chip->core_count; i++)
        if (s->members[i].iterations >= 0) ts_core_forward_move(core_of(s, i), by);
    move_times(chip, by);
    chip->counters.dma_busy_cycles += s->times * busy;
    traffic_repeat(chip->traffic, s->times, by);
    s->end = -1;
}

static void leave(loop_sampler *s, int core) {
    int64_t over = s->times * s->last;
    ts_core_forward_go(core_of(s, core), s->end, s->last, over);
    s->bundles = ts_max(s->bundles, ts_core_forward_repeat(core_of(s, core), s->times));
    chip_repeat(s->chip, core, s->times);
    loop *l = &s->loops[core][s->end];
    *l = (loop){.passed = l->passed + over, .in_vain = l->in_vain};
    if (++s->left == s->cores) pass_time(s, cycle_of(s, core));
}

/* An iteration of whole periods, in cycles. */
static double pace_of(const loop_sampler *s, const member *m) {
    int64_t whole = m->iterations - m->iterations % s->period;
    return whole > 0 ? (double)(m->until - m->from) / (double)whole : 0;
}

/* How cores that mostly wait meet in the memory may change at any time, and stay so for long; each of the
 * others may delay a core by so much. */
static bool works(const loop_sampler *s, int core) {
    int64_t cycles, waited = ts_core_forward_waited(core_of(s, core), &cycles);
    return WORKS * (s->cores - 1) * waited <= (WORKS - 1) * cycles;
}

/* Cores that are sampled together are equally fast. */
static bool are_steady(const loop_sampler *s) {
    double pace = pace_of(s, &s->members[s->timed]);
    bool all = true;
    for (int i = 0; i < s->chip->core_count; i++) {
        const member *m = &s->members[i];
        all = all && (m->iterations < 0 || (works(s, i) && ERROR * fabs(pace_of(s, m) - pace) <= pace));
    }
    return all;
}

/* Each core leaves when it has been through as many iterations. */
static void leave_out(loop_sampler *s) {
    const member *timed = &s->members[s->timed];
    int64_t most = timed->iterations;
    for (int i = 0; i < s->chip->core_count; i++)
        most = ts_max(most, s->members[i].iterations + (i != s->timed));
    s->last = ts_round_up(most, s->period);
    s->times = s->alike / s->last - 1;
    if (s->times <= 0)
        s->end = -1;
    else if (s->last == timed->iterations)
        leave(s, s->timed);
}

/* ---- Batches ---- */

static bool is_known(const loop_sampler *s, const ts_ratio *cycles, bool is_last) {
    return cycles->count >= needs_of(s)->least_batches &&
           ts_ratio_is_known(cycles, is_last || cycles->count >= MOST_BATCHES ? ROUGHLY : ERROR, 1);
}

/* Batches of a period that is long may differ where whole rounds do not. */
static void end_round(loop_sampler *s) {
    int64_t cycle = cycle_of(s, s->timed), simulated = s->members[s->timed].iterations;
    ts_ratio_add(&s->rounds, (double)(cycle - s->round_from), (double)s->round);
    s->round_from = cycle;
    bool is_last = s->rounds.count == MOST_BATCHES || !is_worth(s, simulated + s->round);
    if ((is_known(s, &s->batches, is_last) || is_known(s, &s->rounds, is_last)) && are_steady(s))
        leave_out(s);
    else if (is_last)
        s->end = -1;
}

/* The first iteration of a batch: those of a round are equally long, but for one iteration. */
static int64_t batch_begin(const loop_sampler *s, int batch) {
    return batch / s->parts * s->round + batch % s->parts * s->round / s->parts;
}

static void end_iteration(loop_sampler *s) {
    int64_t begin = batch_begin(s, s->batches.count), end = batch_begin(s, s->batches.count + 1);
    if (s->members[s->timed].iterations < end) return;
    int64_t cycle = cycle_of(s, s->timed);
    ts_ratio_add(&s->batches, (double)(cycle - s->batch_from), (double)(end - begin));
    s->batch_from = cycle;
    if (s->joined < s->cores)
        s->end = -1;
    else if (s->batches.count % s->parts == 0)
        end_round(s);
}

static void go_on(loop_sampler *s, int core) {
    member *m = &s->members[core];
    if (m->iterations < 0) {
        follow(s, core);
        return;
    }
    if (++m->iterations % s->period == 0) m->until = cycle_of(s, core);
    if (s->times == 0 && core == s->timed)
        end_iteration(s);
    else if (m->iterations == s->last)
        leave(s, core);
}

void loop_sampler_visit(loop_sampler *s, int core, int end) {
    loop *l = &s->loops[core][end];
    l->passed++;
    if (s->end >= 0) {
        if (end == s->end) go_on(s, core);
        return;
    }
    forget_inner(s, core, end);
    if (l->visits++ == 0) l->since = cycle_of(s, core);
    if (l->visits >= l->next && l->visits >= LEAST_VISITS && l->in_vain <= l->passed &&
        cycle_of(s, core) - l->since >= needs_of(s)->settle_intervals * s->interval)
        begin(s, core, end);
}
