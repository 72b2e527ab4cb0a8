/* Windows in which the time of blocks is measured, and what leaving blocks out between them amounts to. */
#include "steady.h"

#include <string.h>

/* Every member is an int64: adds b * times / of to a. */
static void add_scaled(void *a, const void *b, size_t bytes, int64_t times, int64_t of) {
    int64_t *sum = a;
    const int64_t *part = b;
    for (size_t i = 0; i < bytes / sizeof *sum; i++)
        sum[i] += (int64_t)(((__int128)part[i] * times + (part[i] < 0 ? -of : of) / 2) / of);
}

void steady_add_stats(ts_hbm_stats *sum, const ts_hbm_stats *stats, int64_t times, int64_t of) {
    int64_t largest = sum->read_latency_max, end = sum->end_cycle;
    add_scaled(sum, stats, sizeof *sum, times, of);
    sum->read_latency_max = largest;
    sum->end_cycle = end;
}

/* ---- Watching ---- */

/* Refreshes fall due at multiples of the interval. */
static double quiet_ticks(const steady_state *s, int64_t tick) {
    int64_t count = tick / s->refresh.interval, after = tick % s->refresh.interval - s->refresh.stall;
    return (double)(count * (s->refresh.interval - s->refresh.stall) + (after > 0 ? after : 0));
}

/* Lets what was left out before cease to matter. */
static void warm(steady_state *s, int64_t tick) {
    s->from = tick + s->refresh.interval / 16;
    s->phase = STEADY_WARMS;
}

static void open_window(steady_state *s, int64_t next, const steady_sample *now) {
    s->phase = STEADY_MEASURES;
    s->open = *now;
    s->open_block = next;
    s->first = s->last = (steady_group){0};
}

static void add_moment(const steady_state *s, steady_group *group, int64_t next, int64_t tick) {
    group->count += 1;
    group->tick += (double)(tick - s->open.tick);
    group->quiet += quiet_ticks(s, tick) - quiet_ticks(s, s->open.tick);
    group->block += (double)(next - s->open_block);
}

/* How far the window has come: 0 to 1 while its blocks pass, and more when the group after it does. */
static double progress(const steady_state *s, int64_t next, int64_t tick) {
    if (s->length > 0) return (double)(next - s->open_block) / (double)s->length;
    return (double)(tick - s->open.tick) / (double)s->refresh.interval;
}

bool steady_note(steady_state *s, const ts_walk *walk, int64_t tick) {
    int64_t next, count, box = ts_walk_place(walk, &next, &count);
    if (s->refresh.interval == 0 || count == 0) return false;
    if (s->box != box) {
        *s = (steady_state){.refresh = s->refresh,
                            .engine_ticks_per_part = s->engine_ticks_per_part,
                            .box = box,
                            .lost = s->lost || s->owes};
        warm(s, tick);
    }
    if (s->phase == STEADY_RESTS) return false;
    if (s->phase == STEADY_WARMS) return tick >= s->from;
    double at = progress(s, next, tick), group = 1.0 / STEADY_GROUP;
    if (at <= group || s->first.count < 2)
        add_moment(s, &s->first, next, tick);
    else if (at >= 1)
        add_moment(s, &s->last, next, tick);
    return at >= 1 + group && s->last.count >= 2;
}

/* ---- Leaving out ---- */

/* Where the engine sets the pace, refreshes are hidden. */
static double window_rate(const steady_state *s, int64_t next, const steady_sample *now) {
    const steady_group *a = &s->first, *b = &s->last;
    double engine =
        (double)(now->parts - s->open.parts) * s->engine_ticks_per_part / (double)(next - s->open_block);
    double blocks = b->block / b->count - a->block / a->count, interval = (double)s->refresh.interval;
    double ticks = (b->tick / b->count - a->tick / a->count) / blocks;
    double quiet = (b->quiet / b->count - a->quiet / a->count) / blocks;
    double rate = quiet * interval / (interval - (double)s->refresh.stall);
    return ticks * 1000 <= engine * 1003 || rate < engine ? engine : rate;
}

static void take_rate(steady_state *s, double rate) {
    if (s->windows++ == 0) s->first_rate = rate;
    s->sum += rate;
    s->squares += rate * rate;
}

/* Is the mean known well enough? */
static bool is_known(const steady_state *s) {
    double n = s->windows, mean = s->sum / n, variance = (s->squares / n - mean * mean) * n / (n - 1);
    return s->windows >= s->most || (n > 2 && variance / n * STEADY_ERROR * STEADY_ERROR <= mean * mean);
}

/* From this block on a box is walked to its end. */
static int64_t tail_of(const steady_state *s, int64_t count) { return count - 1 - s->length / 8; }

/* Multiples of the golden section lie evenly, however many there are, and at no phase of an outer loop. */
static int64_t next_place(const steady_state *s, int64_t count) {
    double golden = 0.618034 * s->windows, fraction = golden - (double)(int)golden;
    return s->base + (int64_t)(fraction * (double)(tail_of(s, count) - s->length * 2 - s->base));
}

/* After the first window: is it worth to leave out anything of the rest? */
static bool begin_places(steady_state *s, const ts_walk *walk, int64_t next, int64_t count,
                         const steady_sample *now) {
    int64_t first = next - s->open_block;
    s->length = ts_walk_period(walk, first > STEADY_BLOCKS ? first : STEADY_BLOCKS);
    int64_t rest = tail_of(s, count) - next, most = 1 + STEADY_WALKED * first / s->length;
    if (most > rest * 3 / 4 / s->length)
        most = rest * 3 / 4 / s->length; /* no block is walked twice, or few */
    s->most = most < 3 ? 3 : (int)most;
    s->base = next;
    s->walked = now->totals.blocks;
    return rest >= STEADY_WORTH * s->length;
}

static void add_measured(steady_state *s, int64_t next, const steady_sample *now) {
    add_scaled(&s->measured, now, sizeof *now, 1, 1);
    add_scaled(&s->measured, &s->open, sizeof *now, -1, 1);
    s->measured_blocks += next - s->open_block;
}

static void charge(const steady_state *s, int64_t count, const steady_sample *now, steady_skip *skip) {
    int64_t left_out = tail_of(s, count) - s->base - (now->totals.blocks - s->walked);
    double rate = (s->sum - s->first_rate) / (s->windows - 1);
    if (left_out < 0) left_out = 0;
    add_scaled(&skip->gained, &s->measured, sizeof s->measured, left_out, s->measured_blocks);
    skip->gained.tick = (int64_t)(rate * (double)left_out + 0.5);
}

bool steady_look(steady_state *s, const ts_walk *walk, const steady_sample *now, steady_skip *skip) {
    int64_t next, count;
    ts_walk_place(walk, &next, &count);
    if (s->phase == STEADY_WARMS) {
        open_window(s, next, now);
        return false;
    }
    *skip = (steady_skip){0};
    take_rate(s, window_rate(s, next, now));
    s->phase = STEADY_RESTS;
    if (s->windows > 1)
        add_measured(s, next, now);
    else if (!begin_places(s, walk, next, count, now))
        return false;
    if (s->windows > 1 && is_known(s)) {
        charge(s, count, now, skip);
        s->owes = false;
        skip->to = tail_of(s, count);
    } else {
        skip->to = next_place(s, count);
        s->owes = true;
        warm(s, now->tick);
    }
    return true;
}
