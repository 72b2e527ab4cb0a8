/* Batches of a loop's iterations that stand for those behind them. */
#include "loop_sampler.h"

#include <string.h>

#include "base/clock.h"
#include "base/number.h"
#include "base/ratio.h"
#include "core/forward.h"

enum {
    SETTLE_INTERVALS = 24, /* before the first batch */
    BATCH_INTERVALS = 6,   /* at least, of one */
    LEAST_BATCHES = 8,
    MOST_BATCHES = 32,
    LEAST_VISITS = 8,
    WORTH = 2, /* what is left out, in what is simulated for it */
    ERROR = 200,
    ROUGHLY = 100,
    BUNDLES = 1 << 24 /* looked at for how long a loop goes on */
};

/* A loop, by the bundle of its branch back. */
typedef struct {
    int64_t visits, since; /* the cycle of the first */
    int64_t next;          /* not looked at before so many visits */
    int64_t passed;        /* iterations, also those left out; */
    int64_t in_vain;       /* looked at for nothing, at most as many: that may take longer than to simulate */
} loop;

struct loop_sampler {
    ts_chip *chip;
    int64_t interval; /* of refreshes, in cycles */
    loop *loops;
    int end;                        /* of the loop that is sampled; -1: none */
    int64_t alike, period;          /* iterations from the first batch on that are; until they begin again */
    int64_t round;                  /* iterations of whole periods, */
    int64_t parts;                  /* which are so many batches */
    int64_t iterations;             /* simulated in all */
    int64_t batch_from, round_from; /* the cycles where they began */
    ts_ratio batches, rounds;       /* their cycles; the weights are their iterations */
    int64_t busy_cycles;            /* before them */
};

loop_sampler *loop_sampler_new(ts_arena *arena, ts_chip *chip) {
    const ts_chip_config *config = chip->config;
    if (!config->time_only || config->exact || config->sanitize || chip->observer || chip->core_count > 1 ||
        config->links)
        return NULL;
    loop_sampler *s = TS_NEW(arena, loop_sampler);
    const ts_hbm_config *hbm = config->memory.hbm;
    *s = (loop_sampler){.chip = chip, .end = -1};
    s->interval = ts_clock_convert((int64_t)hbm->timing.t_refi * hbm->ticks_per_ck, ts_hbm_tick_khz(hbm),
                                   config->memory.core_khz);
    s->loops = TS_NEW_ARRAY(arena, loop, chip->code->bundle_count);
    return s;
}

static ts_core *core_of(const loop_sampler *s) { return s->chip->cores[0].core; }
static int64_t cycle_of(const loop_sampler *s) { return ts_core_next(core_of(s)); }

static int64_t busy_cycles(const loop_sampler *s) {
    const ts_chip *chip = s->chip;
    return chip->counters.dma_busy_cycles + (chip->busy_since < 0 ? 0 : cycle_of(s) - chip->busy_since);
}

/* ---- Beginning ---- */

/* The inner loops of one that has come round begin again. */
static void forget_inner(loop_sampler *s, int end) {
    for (int i = ts_core_forward_head(core_of(s), end); i < end; i++) s->loops[i] = (loop){0};
}

static void mark(loop_sampler *s) {
    ts_chip *chip = s->chip;
    ts_core_forward_mark(core_of(s));
    traffic_mark(chip->traffic);
    chip_mark(chip);
    s->busy_cycles = busy_cycles(s);
}

static bool is_worth(const loop_sampler *s, int64_t simulated) { return s->alike >= (1 + WORTH) * simulated; }

/* Where enough iterations from here on are alike; else looks again behind them. */
static void begin(loop_sampler *s, int end) {
    loop *l = &s->loops[end];
    int64_t in_vain;
    s->alike = ts_core_forward_count(core_of(s), end, BUNDLES, &s->period, &in_vain);
    l->in_vain += in_vain;
    l->next = l->visits + (s->period > 0 ? s->alike + LEAST_VISITS : l->visits);
    const ts_in_flight *oldest = s->chip->active; /* may count for others, from the time before */
    if (s->period == 0 || (oldest && oldest->number < s->chip->marked.end)) return;
    double each = (double)(cycle_of(s) - l->since) / (double)(l->visits - 1);
    int64_t batch = (int64_t)((double)(BATCH_INTERVALS * s->interval) / each) + 1;
    s->round = ts_round_up(batch, s->period);
    s->parts = s->round / batch;
    if (!is_worth(s, ts_ceil_div(LEAST_BATCHES, s->parts) * s->round)) return;
    s->end = end;
    s->batches = s->rounds = (ts_ratio){0};
    s->iterations = 0;
    s->batch_from = s->round_from = cycle_of(s);
    mark(s);
}

/* ---- Batches ---- */

static void move_times(ts_chip *chip, int64_t by) {
    for (ts_in_flight *t = chip->active; t; t = t->younger) {
        t->issued_cycle += by;
        t->begun_cycle += by;
    }
    if (chip->busy_since >= 0) chip->busy_since += by;
    chip->last_done += by;
    chip->quiet_until = 0;
}

/* Leaves out what the batches stand for. */
static void leave_out(loop_sampler *s) {
    ts_chip *chip = s->chip;
    int64_t busy = busy_cycles(s) - s->busy_cycles;
    int64_t times = s->alike / s->iterations - 1;
    ts_core_forward_go(core_of(s), s->end, s->iterations, times * s->iterations);
    chip_repeat(chip, times);
    int64_t by = ts_core_forward_repeat(core_of(s), times);
    move_times(chip, by);
    chip->counters.dma_busy_cycles += times * busy;
    traffic_repeat(chip->traffic, times, by);
    loop *l = &s->loops[s->end];
    *l = (loop){.passed = l->passed + times * s->iterations, .in_vain = l->in_vain};
    s->end = -1;
}

static bool is_known(const ts_ratio *cycles, bool is_last) {
    return cycles->count >= LEAST_BATCHES &&
           ts_ratio_is_known(cycles, is_last || cycles->count >= MOST_BATCHES ? ROUGHLY : ERROR, 1);
}

/* Batches of a period that is long may differ where whole rounds do not. */
static void end_round(loop_sampler *s) {
    ts_ratio_add(&s->rounds, (double)(cycle_of(s) - s->round_from), (double)s->round);
    s->round_from = cycle_of(s);
    bool is_last = s->rounds.count == MOST_BATCHES || !is_worth(s, s->iterations + s->round);
    if (is_known(&s->batches, is_last) || is_known(&s->rounds, is_last))
        leave_out(s);
    else if (is_last)
        s->end = -1;
}

/* The first iteration of a batch: those of a round are equally long, but for one iteration. */
static int64_t batch_begin(const loop_sampler *s, int batch) {
    return batch / s->parts * s->round + batch % s->parts * s->round / s->parts;
}

static void go_on(loop_sampler *s) {
    int64_t begin = batch_begin(s, s->batches.count), end = batch_begin(s, s->batches.count + 1);
    if (++s->iterations < end) return;
    ts_ratio_add(&s->batches, (double)(cycle_of(s) - s->batch_from), (double)(end - begin));
    s->batch_from = cycle_of(s);
    if (s->batches.count % s->parts == 0) end_round(s);
}

void loop_sampler_visit(loop_sampler *s, int end) {
    loop *l = &s->loops[end];
    l->passed++;
    if (s->end >= 0) {
        if (end == s->end) go_on(s);
        return;
    }
    forget_inner(s, end);
    if (l->visits++ == 0) l->since = cycle_of(s);
    if (l->visits >= l->next && l->visits >= LEAST_VISITS && l->in_vain <= l->passed &&
        cycle_of(s) - l->since >= SETTLE_INTERVALS * s->interval)
        begin(s, end);
}
