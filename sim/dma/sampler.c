/* Windows in which the time of blocks is measured, and what leaving blocks out between them amounts to. */
#include "sampler.h"

#include <string.h>

/* Every member is an int64: adds b * times / of to a. */
static void add_scaled(void *a, const void *b, size_t bytes, int64_t times, int64_t of) {
    int64_t *sum = a;
    const int64_t *part = b;
    for (size_t i = 0; i < bytes / sizeof *sum; i++)
        sum[i] += (int64_t)(((__int128)part[i] * times + (part[i] < 0 ? -of : of) / 2) / of);
}

void sampler_add_stats(ts_hbm_stats *sum, const ts_hbm_stats *stats, int64_t times, int64_t of) {
    int64_t largest = sum->read_latency_max, end = sum->end_cycle;
    add_scaled(sum, stats, sizeof *sum, times, of);
    sum->read_latency_max = largest;
    sum->end_cycle = end;
}

/* ---- The memory ---- */

/* How long a refresh of all banks keeps a channel from moving data: the rows are closed (tRTP, tRP), the
 * refresh itself, and the first row is opened and read again (tRCD, tCL). In ticks. Those of single banks are
 * part of the rhythm. */
static int64_t stall_ticks(const ts_hbm_config *hbm) {
    const ts_hbm_timing *t = &hbm->timing;
    if (hbm->refresh != TS_HBM_REFRESH_ALL_BANK) return 0;
    return (int64_t)(t->t_rtp + t->t_rp + t->t_rfc + t->t_rcd_rd + t->t_cl) * hbm->ticks_per_ck;
}

/* Those of all channels' queues, and those that are looked ahead to. */
static int64_t waiting_lines(const ts_hbm_config *hbm, const ts_dma_config *dma) {
    int64_t entries = (int64_t)hbm->stacks * hbm->channels * (hbm->read_entries + hbm->write_entries);
    int64_t ahead = dma->lookahead_bytes > 0 ? dma->lookahead_bytes : 0;
    return (ahead + entries * hbm->burst_bytes) / dma->access_bytes;
}

sampler_memory sampler_memory_of(const ts_hbm_config *hbm, const ts_dma_config *dma, uint64_t walked) {
    return (sampler_memory){(int64_t)hbm->timing.t_refi * hbm->ticks_per_ck, stall_ticks(hbm),
                            waiting_lines(hbm, dma), walked};
}

/* ---- Watching ---- */

/* Refreshes fall due at multiples of the interval. */
static double quiet_ticks(const sampler *s, int64_t tick) {
    int64_t count = tick / s->memory.interval, after = tick % s->memory.interval - s->memory.stall;
    return (double)(count * (s->memory.interval - s->memory.stall) + (after > 0 ? after : 0));
}

static int64_t lines_of(const ts_walk *walk) {
    const ts_walk_totals *totals = ts_walk_get_totals(walk);
    return totals->src_lines + totals->dst_lines + totals->rmw_lines;
}

/* Lets what was left out before cease to matter. */
static void warm_up(sampler *s, const ts_walk *walk, int64_t tick) {
    s->from = tick + s->memory.interval / 8;
    s->from_line = lines_of(walk) + s->memory.lines;
    s->phase = SAMPLER_WARMS;
}

static void open_window(sampler *s, const ts_walk *walk, int64_t next, const sampler_sample *now) {
    s->phase = SAMPLER_MEASURES;
    s->open = *now;
    s->open_block = next;
    s->open_line = lines_of(walk);
}

static uint64_t bit_of(int64_t box) { return UINT64_C(1) << (box < 63 ? box : 63); }

uint64_t sampler_rejected(const sampler *s) { return s->rejected | (s->owes ? bit_of(s->box) : 0); }

bool sampler_note(sampler *s, const ts_walk *walk, int64_t tick) {
    int64_t next, count, box = ts_walk_place(walk, &next, &count);
    if (s->memory.interval == 0 || count == 0 || (s->memory.walked & bit_of(box)) != 0) return false;
    if (s->box != box) {
        *s = (sampler){.memory = s->memory,
                       .engine_ticks_per_part = s->engine_ticks_per_part,
                       .box = box,
                       .turn = SAMPLER_BLOCKS,
                       .rejected = sampler_rejected(s)};
        warm_up(s, walk, tick);
    }
    if (s->phase == SAMPLER_RESTS) return false;
    if (s->phase == SAMPLER_WARMS) return tick >= s->from && lines_of(walk) >= s->from_line;
    return next - s->open_block >= s->turn && tick - s->open.tick >= s->memory.interval &&
           lines_of(walk) - s->open_line >= s->memory.lines;
}

/* ---- Leaving out ---- */

static int64_t elements_between(const ts_walk *walk, int64_t from, int64_t to) {
    return ts_walk_elements_before(walk, to) - ts_walk_elements_before(walk, from);
}

/* Where the engine sets the pace, refreshes are hidden. */
static double window_rate(const sampler *s, const sampler_sample *now, double elements,
                          bool *is_engine_bound) {
    const ts_hbm_progress *a = &s->open.progress, *b = &now->progress;
    double engine = (double)(now->parts - s->open.parts) * s->engine_ticks_per_part / elements;
    double ticks = (double)(now->tick - s->open.tick) / elements, interval = (double)s->memory.interval;
    double quiet = (quiet_ticks(s, b->cycle) - quiet_ticks(s, a->cycle)) / elements;
    double rate = quiet * interval / (interval - (double)s->memory.stall);
    if (b->served > a->served) rate *= (double)(b->accepted - a->accepted) / (double)(b->served - a->served);
    *is_engine_bound = ticks * 1000 <= engine * 1003 || rate < engine;
    return *is_engine_bound ? engine : rate;
}

/* Is the mean known to one part in `error`? */
static bool is_known(const sampler *s, double error) {
    double n = s->windows, mean = s->sum / n, variance = (s->squares / n - mean * mean) * n / (n - 1);
    if (s->is_engine_bound && s->windows > 1) return true;
    return s->windows >= SAMPLER_LEAST && variance / n * error * error <= mean * mean;
}

/* From this block on a box is walked to its end. */
static int64_t tail_of(const sampler *s, int64_t count) { return count - 1 - s->length / 8; }

/* Multiples of the golden section lie evenly, however many there are, and at no phase of an outer loop. What
 * is counted of channels is counted in rounds, so a place is a multiple of a power of two. */
static int64_t next_place(const sampler *s, int64_t count) {
    double golden = 0.618034 * (s->windows + 1), fraction = golden - (double)(int)golden;
    int64_t block = s->base + (int64_t)(fraction * (double)(tail_of(s, count) - s->length * 2 - s->base));
    return s->length < SAMPLER_ALIGNED ? block : block / SAMPLER_ALIGNED * SAMPLER_ALIGNED;
}

/* Windows of so many blocks from now on. Are there enough of them? */
static bool take_length(sampler *s, int64_t length, int64_t count) {
    s->length = length;
    int64_t rest = tail_of(s, count) - s->base,
            most = rest * 2 / 3 / length; /* few blocks are walked twice */
    s->most = most < SAMPLER_MOST ? (int)most : SAMPLER_MOST;
    s->windows = 0;
    s->is_engine_bound = true;
    s->sum = s->squares = 0;
    s->measured = (sampler_sample){0};
    s->measured_elements = 0;
    return rest >= SAMPLER_WORTH * length;
}

/* The same, of whole turns of the inner loops. */
static bool take_turns(sampler *s, const ts_walk *walk, int64_t count) {
    s->turn = ts_walk_period(walk, s->length > SAMPLER_TURN ? s->length : SAMPLER_TURN);
    return take_length(s, s->turn, count);
}

/* After the first window: is it worth to leave out anything of the rest? */
static bool begin_places(sampler *s, const ts_walk *walk, bool is_even) {
    int64_t next, count;
    ts_walk_place(walk, &next, &count);
    s->base = s->stretch = next;
    bool is_worth = take_length(s, next - s->open_block, count);
    return is_even ? is_worth : take_turns(s, walk, count);
}

/* After a window: is the first one to begin anew, later? */
static bool settle(sampler *s, const ts_walk *walk, int64_t next, const sampler_sample *now) {
    bool is_engine_bound, is_settled = s->is_settled || s->length > 0;
    window_rate(s, now, (double)elements_between(walk, s->open_block, next), &is_engine_bound);
    s->is_settled = true;
    if (is_settled || is_engine_bound) return false;
    s->from_line = SAMPLER_SETTLED * s->memory.lines;
    s->phase = SAMPLER_WARMS;
    return true;
}

static void add_measured(sampler *s, const sampler_sample *now, int64_t elements) {
    bool is_engine_bound;
    double rate = window_rate(s, now, (double)elements, &is_engine_bound);
    s->windows++;
    s->is_engine_bound = s->is_engine_bound && is_engine_bound;
    s->sum += rate;
    s->squares += rate * rate;
    add_scaled(&s->measured, now, sizeof *now, 1, 1);
    add_scaled(&s->measured, &s->open, sizeof *now, -1, 1);
    s->measured_elements += elements;
}

/* Blocks that were walked twice stand for others; where they are more than what was left out, they are too
 * many by so much. Where the engine sets the pace, a memory that is still behind it, for it had more to do
 * before, goes on at its own pace until it is not. */
static void charge(const sampler *s, const ts_walk *walk, int64_t tail, int64_t behind, sampler_skip *skip) {
    int64_t left_out = elements_between(walk, s->base, tail) - s->walked;
    add_scaled(&skip->gained, &s->measured, sizeof s->measured, left_out, s->measured_elements);
    int64_t ticks = (int64_t)(s->sum / s->windows * (double)left_out), most = ticks - skip->gained.tick;
    if (s->is_engine_bound && most > 0 && behind > 0) skip->caught_up = behind < most ? behind : most;
    skip->gained.tick = ticks - skip->caught_up;
    skip->to = tail;
}

/* Windows that end here are all: what do they tell? */
static bool is_enough(const sampler *s, int64_t count) {
    return is_known(s, SAMPLER_ROUGHLY) || tail_of(s, count) - s->base >= SAMPLER_MANY * s->length;
}

/* After a window: charges what was left out if its time is known by now; else there is to be another one. */
static void go_on(sampler *s, const ts_walk *walk, int64_t count, int64_t behind, sampler_skip *skip) {
    bool is_last = s->windows > 0 && s->windows >= s->most;
    if (s->windows > 0 && (is_known(s, SAMPLER_ERROR) || (is_last && is_enough(s, count)))) {
        charge(s, walk, tail_of(s, count), behind, skip);
        s->owes = false;
        return;
    }
    if (is_last && (s->turn != SAMPLER_BLOCKS || !take_turns(s, walk, count))) s->rejected |= bit_of(s->box);
    skip->to = next_place(s, count);
    s->owes = true;
}

bool sampler_look(sampler *s, const ts_walk *walk, const sampler_sample *now, bool is_even,
                  sampler_skip *skip) {
    int64_t next, count;
    ts_walk_place(walk, &next, &count);
    if (s->phase == SAMPLER_WARMS) {
        open_window(s, walk, next, now);
        return false;
    }
    *skip = (sampler_skip){0};
    if (settle(s, walk, next, now)) return false;
    s->phase = SAMPLER_RESTS;
    if (s->length > 0)
        add_measured(s, now, elements_between(walk, s->open_block, next));
    else if (!begin_places(s, walk, is_even))
        return false;
    s->walked += elements_between(walk, s->stretch, next);
    go_on(s, walk, count, now->behind, skip);
    if (s->owes) warm_up(s, walk, now->tick);
    s->stretch = skip->to;
    return true;
}
