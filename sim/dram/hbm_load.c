/* A channel that gets more than others holds all back, once these have served what queues and lookahead let them have.
 * Opening a row takes the time of some bursts. */
#include "hbm_load.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

enum {
    STEPS = 64,            /* of a burst */
    ROW_STEPS = 2 * STEPS, /* of a row that is opened */
    SPARE = 16,            /* all may take so many bursts longer, and one part in so many: */
    TOLERANCE = 400,
    ROUND = 64,  /* bursts of a channel; those that are even get the same in each, */
    ALONE = 64,  /* those of a single one's kind one part in so many more at most, of all rounds */
    SEVERAL = 8, /* channels of any kind stand for all of a short transfer, if they take as long */
    MORE = 8     /* a share may get one part in so many more than its own, or less */
};

void hbm_load_init(hbm_load *load, ts_arena *arena) {
    for (int i = 0, share = 1; share <= load->share; i++, share *= 2)
        load->level[i].until = TS_NEW_ARRAY(arena, int64_t, load->channels);
    load->round_of = TS_NEW_ARRAY(arena, int32_t, load->channels);
    load->levels_of = TS_NEW_ARRAY(arena, uint8_t, load->channels);
    load->row = TS_NEW_ARRAY(arena, int32_t, (int64_t)load->channels << load->bank_bits);
    const uint64_t none = 0;
    hbm_load_set_access(load, &none, 1);
}

void hbm_load_jump(hbm_load *load) {
    memset(load->round_of, 0, sizeof load->round_of[0] * (size_t)load->channels);
    load->round = 0;
}

static void forget_rows(hbm_load *load) {
    memset(load->row, 0xff, (sizeof load->row[0] * (size_t)load->channels) << load->bank_bits);
}

void hbm_load_clear(hbm_load *load) {
    for (int i = 0; i < load->levels; i++) {
        hbm_load_level *level = &load->level[i];
        level->end = level->bursts = level->busiest = 0;
        memset(level->until, 0, sizeof(int64_t) * (size_t)load->channels);
    }
    forget_rows(load);
    load->is_even = true;
    load->grace = 0;
    load->was_stopped = false;
    hbm_load_jump(load);
}

/* ---- Cosets ---- */

static inline uint64_t reduce(const hbm_load *load, uint64_t location) {
    for (int i = 0; i < load->rank; i++) location ^= load->basis[i] & -(location >> load->pivot[i] & 1);
    return location;
}

/* The highest bits are taken out first: channels that are in one coset have one that stands for them.
 * Columns do not matter. Of pairs by number, as linear as the map is, those of powers of two span all. */
static void set_basis(hbm_load *load, const uint64_t *pairs, int count) {
    load->rank = 0;
    for (int i = 1; i < count && load->rank < HBM_LOAD_BASIS; i *= 2) {
        uint64_t more = reduce(load, pairs[i] - (uint64_t)ts_address_column(pairs[i]));
        if (more == 0) continue;
        load->pivot[load->rank] = 63 - __builtin_clzll(more);
        load->basis[load->rank++] = more;
    }
}

/* Pairs of the access that begins in a channel, in those of a share. */
static int pairs_within(const uint64_t *pairs, int count, int channel, int share) {
    int sum = 0;
    for (int i = 0; i < count; i++) sum += ((channel ^ ts_address_channel(pairs[i])) & (share - 1)) == 0;
    return sum;
}

/* As pairs are linear, a share whose first part gets its part of them gives each part the same. */
static bool is_even_share(const uint64_t *pairs, int count, int share) {
    return pairs_within(pairs, count, 0, share) * share == count;
}

/* The channel that stands for the coset of one. */
static int coset_of(const hbm_load *load, int channel) {
    return ts_address_channel(reduce(load, (uint64_t)channel << TS_ADDRESS_CHANNEL_SHIFT));
}

static void add_level(hbm_load *load, const uint64_t *pairs, int count, int share) {
    hbm_load_level *level = &load->level[load->levels++];
    level->share = share;
    for (int c = 0; c < load->channels; c++) {
        if (coset_of(load, c) != c) continue;
        int within = pairs_within(pairs, count, c, share);
        if (within == 0) continue;
        load->levels_of[c] = (uint8_t)load->levels;
        level->access_bursts = 2 * within;
    }
}

static void set_cosets(hbm_load *load, const uint64_t *pairs, int count) {
    set_basis(load, pairs, count);
    load->coset_channels = 1;
    for (int i = 0; i < load->rank; i++)
        load->coset_channels *= ts_address_channel((uint64_t)1 << load->pivot[i]) != 0 ? 2 : 1;
    load->access_steps = 2 * count * STEPS / load->coset_channels;
    load->levels = 0;
    memset(load->levels_of, 0, (size_t)load->channels);
    add_level(load, pairs, count, 1);
    for (int share = 2; share <= load->share; share *= 2)
        if (!is_even_share(pairs, count, share)) add_level(load, pairs, count, share);
}

void hbm_load_set_access(hbm_load *load, const uint64_t *pairs, int count) {
    set_cosets(load, pairs, count);
    load->request_channels = load->coset_channels;
    hbm_load_clear(load);
}

/* Of a share that accesses loaded evenly there was none: it did what all channels did. */
static const hbm_load_level *level_of(const hbm_load *load, int share) {
    for (int i = 1; i < load->levels; i++)
        if (load->level[i].share == share) return &load->level[i];
    return &load->level[0];
}

/* In place: what stands for a channel has a lower number, or its own, and the same goes for levels. */
static void go_on_from(hbm_load *load, const hbm_load *before) {
    for (int i = load->levels - 1; i >= 0; i--) {
        hbm_load_level *level = &load->level[i];
        const hbm_load_level *from = level_of(before, level->share);
        level->bursts = from->bursts * from->share / level->share;
        level->busiest = from->busiest * load->coset_channels / before->coset_channels;
        level->end = from->end;
        for (int c = load->channels - 1; c >= 0; c--) level->until[c] = from->until[coset_of(before, c)];
    }
    for (int c = load->channels - 1; c >= 0; c--)
        load->round_of[c] =
            load->round_of[coset_of(before, c)] * load->coset_channels / before->coset_channels;
}

void hbm_load_regroup(hbm_load *load, const uint64_t *pairs, int count) {
    const hbm_load before = *load;
    set_cosets(load, pairs, count);
    go_on_from(load, &before);
    forget_rows(load);
}

/* ---- Counting ---- */

static hbm_load_window window_of(int32_t lookahead, int share) {
    hbm_load_window w = {.count = 1, .stage_bursts = lookahead < 0 ? INT32_MAX : 1};
    int32_t bursts = lookahead / share;
    if (bursts <= 1) return w;
    w.count = bursts < HBM_LOAD_STAGES ? bursts : HBM_LOAD_STAGES;
    w.stage_bursts = bursts / w.count;
    return w;
}

void hbm_load_open(const hbm_load *load, hbm_load_stream *stream) {
    for (int i = 0; i < load->levels; i++)
        stream->windows[i] = window_of(stream->lookahead, load->level[i].share);
}

static __attribute__((noinline)) void end_stages(hbm_load_window *w) {
    for (; w->bursts >= w->stage_bursts; w->bursts -= w->stage_bursts) {
        w->accepted[w->at] = w->latest;
        w->at = w->at + 1 == w->count ? 0 : w->at + 1;
        w->earliest = w->accepted[w->at];
    }
}

/* What a level gets: so many bursts of all its channels, and so many steps of one. */
typedef struct {
    int channel;
    int32_t bursts, steps;
    int64_t queue;
} amount;

/* What waits for another was not accepted later than the latest, so the queue alone makes that later. */
static inline void take(hbm_load_level *level, hbm_load_window *w, const amount a) {
    int64_t *until = &level->until[a.channel];
    w->latest = ts_max(w->latest, *until - a.queue);
    *until = ts_max(*until, w->earliest) + a.steps;
    level->end = ts_max(level->end, *until);
    level->bursts += a.bursts;
    w->bursts += a.bursts;
    if (__builtin_expect(w->bursts >= w->stage_bursts, 0)) end_stages(w);
}

/* Is the row that a coset accesses now another than the last? */
static inline bool opens_row(hbm_load *load, uint64_t coset) {
    int32_t row = ts_address_row(coset),
            *last = &load->row[ts_address_channel(coset) << load->bank_bits | ts_address_bank(coset)];
    bool opens = *last != row;
    *last = row;
    return opens;
}

static __attribute__((noinline)) void end_round(hbm_load *load) {
    int64_t busiest[HBM_LOAD_LEVELS] = {0}, least = INT32_MAX;
    for (int c = 0; c < load->channels; c++) {
        for (int i = 0; i < load->levels_of[c]; i++) busiest[i] = ts_max(busiest[i], load->round_of[c]);
        if (load->levels_of[c] > 0) least = ts_min(least, load->round_of[c]);
    }
    load->is_even = load->is_even && busiest[0] == least;
    for (int i = 0; i < load->levels; i++) load->level[i].busiest += busiest[i];
    hbm_load_jump(load);
}

static inline void count(hbm_load *load, int channel, int32_t bursts) {
    load->round += bursts;
    load->round_of[channel] += bursts;
    if (__builtin_expect(load->round >= ROUND * load->channels, 0)) end_round(load);
}

void hbm_load_add_access(hbm_load *load, hbm_load_stream *stream, uint64_t location) {
    uint64_t coset = reduce(load, location);
    int channel = ts_address_channel(coset), levels = load->levels_of[channel];
    count(load, channel, load->level[0].access_bursts);
    if (load->levels == 1 && load->coset_channels == load->request_channels)
        return; /* nothing to compare it with */
    amount a = {.channel = channel,
                .steps = load->access_steps + (opens_row(load, coset) ? ROW_STEPS : 0),
                .queue = (int64_t)load->queue * STEPS};
    for (int i = 0; i < levels; i++) {
        a.bursts = load->level[i].access_bursts;
        take(&load->level[i], &stream->windows[i], a);
    }
}

void hbm_load_add(hbm_load *load, hbm_load_stream *stream, uint64_t location, int bursts) {
    uint64_t coset = reduce(load, location);
    int32_t steps = bursts * STEPS / load->coset_channels + (opens_row(load, coset) ? ROW_STEPS : 0);
    const amount a = {ts_address_channel(coset), bursts, steps, (int64_t)load->queue * STEPS};
    count(load, a.channel, bursts);
    for (int i = 0; i < load->levels && (ts_address_channel(location) & (load->level[i].share - 1)) == 0; i++)
        take(&load->level[i], &stream->windows[i], a);
}

/* ---- What that says ---- */

/* Are the channels of a share of enough cosets, or several, or do they get about the same as all? */
static bool may_stand(const hbm_load *load, const hbm_load_level *level) {
    const int largest[] = {[TS_HBM_SUBSET_USUAL] = load->channels / 2,
                           [TS_HBM_SUBSET_SHORT] =
                               (int)ts_max(load->request_channels, load->channels / SEVERAL),
                           [TS_HBM_SUBSET_LONG] = load->channels};
    int64_t more = load->length == TS_HBM_SUBSET_SHORT ? 0 : level->busiest / ALONE;
    more += ROUND * load->coset_channels / load->request_channels;
    return level->share <= largest[load->length] || load->level[0].busiest <= level->busiest + more;
}

static bool is_fair(const hbm_load *load, const hbm_load_level *level, int32_t spare) {
    int64_t all = load->level[0].bursts, more = level->bursts * level->share - all;
    return may_stand(load, level) &&
           load->level[0].end <= level->end + level->end / TOLERANCE + (int64_t)spare * STEPS &&
           ts_max(more, -more) <= all / MORE + (int64_t)spare * load->channels;
}

bool hbm_load_is_fair_so_far(hbm_load *load) {
    return is_fair(load, &load->level[load->levels - 1], SPARE + load->queue);
}

double hbm_load_ratio(const hbm_load *load) {
    int64_t all = load->level[0].end, simulated = load->level[load->levels - 1].end;
    if (simulated > 0) return (double)all / (double)simulated;
    return all > 0 ? HUGE_VAL : 1;
}

bool hbm_load_has_grace(hbm_load *load) {
    int64_t end = load->level[0].end;
    if (end < load->grace) return true;
    load->grace = end + end / 8;
    return false;
}

int hbm_load_fair_share(const hbm_load *load) {
    int32_t spare = SPARE + (load->was_stopped ? load->queue / 4 : 0);
    if (load->levels == 1) return load->share;
    for (int i = load->levels - 1; i > 0; i--)
        if (is_fair(load, &load->level[i], spare)) return load->level[i].share;
    return load->level[1].share / 2;
}
