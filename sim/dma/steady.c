/* Finding that the time of blocks repeats, and what leaving blocks out amounts to. */
#include "steady.h"

#include <string.h>

/* A box is first seen when its first block has been walked. */
bool steady_is_boundary(steady_state *steady, const ts_walk *walk) {
    int64_t next, count, before = steady->next;
    ts_walk_place(walk, &next, &count);
    steady->next = next;
    if (count == 0) return false;
    if (steady->window == 0 || next < before) {
        steady->window = ts_walk_period(walk, STEADY_BLOCKS);
        steady->boundary = next;
        steady->count = steady->doublings = 0;
    }
    return next == steady->boundary;
}

/* Every member is an int64: adds b * times / of to a. */
static void add_scaled(void *a, const void *b, size_t bytes, int64_t times, int64_t of) {
    int64_t *sum = a;
    const int64_t *part = b;
    for (size_t i = 0; i < bytes / sizeof *sum; i++) sum[i] += (int64_t)((__int128)part[i] * times / of);
}

void steady_add_stats(ts_hbm_stats *sum, const ts_hbm_stats *stats, int64_t times, int64_t of) {
    int64_t largest = sum->read_latency_max, end = sum->end_cycle;
    add_scaled(sum, stats, sizeof *sum, times, of);
    sum->read_latency_max = largest;
    sum->end_cycle = end;
}

static bool agrees(const steady_state *steady) {
    if (steady->count <= STEADY_WINDOWS) return false;
    int64_t least = INT64_MAX, most = 0;
    for (int i = 0; i < STEADY_WINDOWS; i += STEADY_SUM) {
        int64_t sum = steady->samples[i + STEADY_SUM].tick - steady->samples[i].tick;
        if (sum < least) least = sum;
        if (sum > most) most = sum;
    }
    return (most - least) * STEADY_AGREE <= most * (1 + steady->doublings / 2);
}

/* A full list that does not agree: windows of twice the length average more. */
static void thin_out(steady_state *steady) {
    for (int i = 0; i <= STEADY_WINDOWS / 2; i++) steady->samples[i] = steady->samples[2 * i];
    steady->count = STEADY_WINDOWS / 2 + 1;
    steady->window *= 2;
    steady->doublings++;
}

bool steady_look(steady_state *steady, const ts_walk *walk, const steady_sample *now, steady_skip *skip) {
    int64_t next, count;
    ts_walk_place(walk, &next, &count);
    steady->samples[steady->count++] = *now;
    bool agreed = agrees(steady);
    int64_t windows = (count - next) / steady->window - 1; /* the last one is walked */
    if (steady->count > STEADY_WINDOWS && (!agreed || windows < 1)) thin_out(steady);
    steady->boundary = next + steady->window;
    if (!agreed || windows < 1) return false;
    const steady_sample *first = &steady->samples[0];
    *skip = (steady_skip){.blocks = windows * steady->window};
    add_scaled(&skip->gained, now, sizeof *now, windows, STEADY_WINDOWS);
    steady_sample before = {0};
    add_scaled(&before, first, sizeof before, windows, STEADY_WINDOWS);
    add_scaled(&skip->gained, &before, sizeof before, -1, 1);
    /* The first windows also hold the HBM's wait for its first request. */
    const ts_hbm_stats *late = &steady->samples[STEADY_SUM].hbm;
    skip->gained.hbm = (ts_hbm_stats){0};
    add_scaled(&skip->gained.hbm, &now->hbm, sizeof *late, windows, STEADY_WINDOWS - STEADY_SUM);
    ts_hbm_stats start = {0};
    add_scaled(&start, late, sizeof start, windows, STEADY_WINDOWS - STEADY_SUM);
    add_scaled(&skip->gained.hbm, &start, sizeof start, -1, 1);
    /* Nor does what follows the last request repeat. */
    skip->gained.hbm.limiter_cycles[TS_HBM_LIMITER_LATENCY] = 0;
    skip->gained.hbm.limiter_cycles[TS_HBM_LIMITER_IDLE] = 0;
    steady->boundary = INT64_MAX;
    steady->next = next + skip->blocks;
    return true;
}
