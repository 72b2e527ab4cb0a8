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
        *s = (steady_state){
            .refresh = s->refresh, .engine_ticks_per_part = s->engine_ticks_per_part, .box = box};
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
    double engine = (double)(now->parts - s->open.parts) * s->engine_ticks_per_part / (double)(next - s->open_block);
    double blocks = b->block / b->count - a->block / a->count, interval = (double)s->refresh.interval;
    double ticks = (b->tick / b->count - a->tick / a->count) / blocks;
    double quiet = (b->quiet / b->count - a->quiet / a->count) / blocks;
    double rate = quiet * interval / (interval - (double)s->refresh.stall);
    return ticks * 1000 <= engine * 1003 || rate < engine ? engine : rate;
}

/* Blocks charged at the window's rate. */
static void fill_skip(const steady_state *s, const steady_sample *now, int64_t window, int64_t charged,
                      steady_skip *skip) {
    steady_sample gained = *now;
    add_scaled(&gained, &s->open, sizeof gained, -1, 1);
    skip->gained = (steady_sample){0};
    add_scaled(&skip->gained, &gained, sizeof gained, charged, window);
    skip->gained.tick = (int64_t)(s->rate * (double)charged + 0.5);
}

/* Where in its part a window begins: never at the same phase of an outer loop. */
static int64_t place_of(const steady_state *s, int place) {
    double golden = 0.618034 * (place + 1), fraction = 0.25 + 0.5 * (golden - (double)(int)golden);
    return s->base + place * s->part_blocks + (int64_t)(fraction * (double)(s->part_blocks - s->length));
}

/* After the first window: is the rest worth to be cut in parts? */
static bool begin_places(steady_state *s, const ts_walk *walk, int64_t next, int64_t count,
                         steady_skip *skip) {
    int64_t first = next - s->open_block, most;
    s->length = ts_walk_period(walk, first > STEADY_BLOCKS ? first : STEADY_BLOCKS);
    most = STEADY_WALKED * first / s->length;
    if (most < 2) most = 2;
    int64_t rest = count - next - s->length / 8 - 1, parts = rest / (STEADY_PART * s->length);
    if (parts == 0) {
        s->phase = STEADY_RESTS;
        return false;
    }
    s->parts = (int)(parts < most ? parts : most);
    s->base = next;
    s->part_blocks = rest / s->parts;
    skip->gained = (steady_sample){0};
    s->pending = skip->blocks = place_of(s, 0) - next;
    return true;
}

static void end_place(steady_state *s, int64_t next, const steady_sample *now, steady_skip *skip) {
    int64_t until = s->base + ++s->places * s->part_blocks, before = s->pending;
    if (s->alike >= STEADY_ALIKE || s->places == s->parts) {
        until = s->base + s->parts * s->part_blocks;
        s->places = s->parts;
        s->phase = STEADY_RESTS;
    }
    if (until < next) until = next;
    s->pending = s->places < s->parts ? place_of(s, s->places) - until : 0;
    if (s->pending < 0) s->pending = 0;
    skip->blocks = until - next + s->pending;
    fill_skip(s, now, next - s->open_block, before + until - next, skip);
}

bool steady_look(steady_state *s, const ts_walk *walk, const steady_sample *now, steady_skip *skip) {
    int64_t next, count;
    ts_walk_place(walk, &next, &count);
    if (s->phase == STEADY_WARMS) {
        open_window(s, next, now);
        return false;
    }
    double before = s->rate, apart;
    s->rate = window_rate(s, next, now);
    apart = s->rate > before ? s->rate - before : before - s->rate;
    s->alike = apart * STEADY_AGREE <= before ? s->alike + 1 : 0;
    warm(s, now->tick);
    if (s->length == 0) return begin_places(s, walk, next, count, skip);
    end_place(s, next, now, skip);
    return true;
}
