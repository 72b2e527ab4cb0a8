/* The time of HBM: requests in, the cycles at which each was accepted and the last one was done out. */
#ifndef TILESIM_DRAM_HBM_H
#define TILESIM_DRAM_HBM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/members.h"
#include "base/number.h"
#include "base/arena.h"
#include "base/error.h"
#include "machine/hbm_config.h"
#include "dram/dram.h"

/* All cycles are ticks of the memory's own clock (hbm_config.h), from 0 at reset. What a channel holds is
 * allocated, in the arena of new, when it is first simulated by itself; else only new and stream_new allocate.
 * Equal calls give equal answers.
 *
 * Several streams share the channels like this: a burst waits at the port of its channel in the order in
 * which bursts were offered, and offers must come in non-decreasing order of the cycle from which they are
 * made. So a caller with several streams always offers from the one whose ts_hbm_stream_next is lowest (ties:
 * its own fixed order), and a caller that acts at cycle t first makes all offers that are possible before t.
 */
typedef struct ts_hbm ts_hbm;
typedef struct ts_hbm_stream ts_hbm_stream;

enum { TS_HBM_UNLIMITED = -1 };

/* Would ts_hbm_new take it? For memories that are made when they are first used. */
bool ts_hbm_check_config(ts_error *err, const ts_hbm_config *config);
ts_hbm *ts_hbm_new(ts_error *err, ts_arena *arena, const ts_hbm_config *config);
/* A part of the memory stands for all of it: of the channels every share-th is simulated, requests to the
 * others are passed over, streams have the part's share of their windows, and statistics are extended to all
 * channels. As the channels of a regular stream all do the same, shifted and permuted, its time is that of
 * the whole memory within about 1 %. share: a power of two that divides the channels of a stack;
 * ts_hbm_sampling_factor is the largest that leaves `least` channels. */
ts_hbm *ts_hbm_new_subset(ts_error *err, ts_arena *arena, const ts_hbm_config *config, int share);
int ts_hbm_sampling_factor(const ts_hbm_config *config, int least);
/* The same with rules of one's own; an error when the controller could not keep to one of them. */
ts_hbm *ts_hbm_new_with_rules(ts_error *err, ts_arena *arena, const ts_hbm_config *config, int share,
                              ts_dram_rules rules);
/* Does the part stand for all channels so far: would these not take longer? If not, that is the end. */
bool ts_hbm_subset_is_fair_so_far(ts_hbm *hbm);
/* How long its requests go on. In long streams what some channels are ahead of others evens out. In short
 * ones a part stands for channels that do not all get about the same only if each access reaches it, or it is
 * several; usually, if it is not a single channel. */
typedef enum { TS_HBM_SUBSET_USUAL, TS_HBM_SUBSET_SHORT, TS_HBM_SUBSET_LONG } ts_hbm_subset_length;
void ts_hbm_subset_expect(ts_hbm *hbm, ts_hbm_subset_length length);
/* At the end: the largest share, from that which was simulated on, that stands for all. */
int ts_hbm_subset_fair_share(const ts_hbm *hbm);
/* Has every channel got the same all the time? */
bool ts_hbm_subset_is_even(const ts_hbm *hbm);
/* The next requests are from elsewhere. */
void ts_hbm_subset_jump(ts_hbm *hbm);
/* The largest share, from `share` down by halves, with which a part gets exactly that of any so many bytes
 * that are aligned to their number (a power of two). The map being linear, those at address 0 tell for all.
 * If every request is so, the part does what the whole would, nearly to the tick. A map that cannot be read:
 * `share`. */
int ts_hbm_balanced_share(const ts_hbm_config *config, int share, int64_t bytes);
/* A burst that is served: the data bus of its pseudo channel is taken for ts_hbm_burst_ticks from the column
 * command on (that the data follow some ticks later, those of reads later than those of writes, is left out).
 */
typedef struct {
    int bus;   /* pseudo channel bus % pseudo_channels of channel bus / pseudo_channels */
    int share; /* it stands for so many channels */
    bool is_write;
    int64_t tick;
} ts_hbm_burst;
typedef void ts_hbm_observer(void *self, const ts_hbm_burst *burst);
/* From now on `observer` is told of each burst, those of a pseudo channel in order of time; of channels that
 * are simulated by themselves, so all of the part after ts_hbm_simulate_all. NULL: nobody. */
void ts_hbm_observe(ts_hbm *hbm, ts_hbm_observer *observer, void *self);
int ts_hbm_burst_ticks(const ts_hbm_config *config);
/* A command that is issued: RD, RDA, WR and WRA have all of row and column, ACT the row; else those are -1.
 * PREA and REFA have no bank: bank is that of the first of the pseudo channel. */
typedef struct {
    ts_dram_command command;
    int bus;  /* as that of a burst */
    int bank; /* (sid * bank_groups + group) * banks + bank of the pseudo channel */
    int32_t row, column;
    int64_t tick; /* at which it starts */
} ts_hbm_command;
typedef void ts_hbm_command_observer(void *self, const ts_hbm_command *command);
/* The same for commands, those of a channel in order of time; of all that are issued after
 * ts_hbm_simulate_all. */
void ts_hbm_observe_commands(ts_hbm *hbm, ts_hbm_command_observer *observer, void *self);
/* Rows closed, queues empty, cycle 0, refresh phase 0, statistics 0; streams must be started again. */
void ts_hbm_reset(ts_hbm *hbm);

/* From now on, and from the start: every channel is simulated by itself, and gaps between requests cycle by
 * cycle. All results are the same; it only takes longer. */
void ts_hbm_simulate_all(ts_hbm *hbm);

/* A transfer's view: its requests run at most `lookahead_bytes` past the oldest one not yet accepted, and at
 * most `in_flight_bytes` past the oldest one not yet done (data returned, or written); both are counted in
 * whole bursts. TS_HBM_UNLIMITED: no limit. lookahead 0: in order, each waits for the one before. */
ts_hbm_stream *ts_hbm_stream_new(ts_arena *arena, ts_hbm *hbm, int64_t lookahead_bytes,
                                 int64_t in_flight_bytes);
void ts_hbm_stream_start(ts_hbm_stream *stream, int64_t cycle);
/* The first cycle at which the next request can be offered, as far as that can be known by running the memory
 * up to `limit` (no other stream may offer before it later); limit + 1 when it is not known by then. */
int64_t ts_hbm_stream_next(ts_hbm_stream *stream, int64_t limit);
/* Offers the bursts that [address, address + bytes) touches, from `earliest` on (or from stream_next, if that
 * is later). Returns the cycle at which the last of them was accepted. */
int64_t ts_hbm_stream_offer(ts_hbm_stream *stream, int64_t address, int32_t bytes, bool is_write,
                            int64_t earliest);
/* The same for many, in order; faster than one by one. */
typedef struct {
    int64_t address, earliest;
    bool is_write;
} ts_hbm_request;
int64_t ts_hbm_stream_offer_all(ts_hbm_stream *stream, const ts_hbm_request *requests, int count,
                                int32_t bytes);
/* The latest acceptance so far. */
int64_t ts_hbm_stream_latest(const ts_hbm_stream *stream);
/* The cycle at which everything offered so far was done, or -1 while that is not known: it is known once the
 * memory has been settled far enough. */
int64_t ts_hbm_stream_done(const ts_hbm_stream *stream);

/* How far the simulated channels have come: bursts accepted (but for those answered from queues), about how
 * many of them were served, and by which cycle. */
typedef struct {
    int64_t accepted, served, cycle;
} ts_hbm_progress;
ts_hbm_progress ts_hbm_read_progress(const ts_hbm *hbm);

/* States that no later offer is made before `cycle`; runs the memory up to it. */
void ts_hbm_settle(ts_hbm *hbm, int64_t cycle);
/* Nothing more will be offered: runs until all is done, and returns that cycle (the last data of reads, the
 * last WR command of writes). Streams can be started again at or after it. */
int64_t ts_hbm_drain(ts_hbm *hbm);

/* False when the per bank scheduler, as the simulator that it follows, would have stopped for ever: from
 * there on the cycles are not those of any machine. */
bool ts_hbm_check(ts_error *err, const ts_hbm *hbm);

const char *ts_hbm_limiter_name(ts_hbm_limiter limiter);
const char *ts_hbm_limiter_meaning(ts_hbm_limiter limiter);

typedef struct {
    int64_t reads, writes;        /* bursts accepted */
    int64_t forwarded, coalesced; /* of them: reads answered from, writes merged into, a queue */
    int64_t row_hits, row_misses, row_conflicts; /* bursts by the state of their bank when first served */
    int64_t activations, precharges, refreshes;
    int64_t read_to_write, write_to_read;       /* turnarounds of the data bus of a pseudo channel */
    int64_t read_latency_sum, read_latency_max; /* of bursts, from acceptance to last data */
    int64_t end_cycle;                          /* of the last thing done */
    int64_t open_cycles;                        /* with a row open, of all pseudo channels, up to end_cycle */
    int64_t limiter_cycles[TS_HBM_LIMITER_COUNT]; /* of all pseudo channels, up to end_cycle */
} ts_hbm_stats;
static inline double ts_hbm_row_hit_rate(const ts_hbm_stats *s) {
    return ts_fraction(s->row_hits, s->row_hits + s->row_misses + s->row_conflicts);
}
static inline double ts_hbm_mean_read_latency(const ts_hbm_stats *s) {
    return ts_fraction(s->read_latency_sum, s->reads);
}
/* All that add up: not read_latency_max, nor end_cycle. */
extern const ts_member ts_hbm_stats_members[];
/* Adds those so many times; the longer of the latencies. */
void ts_hbm_stats_add(ts_hbm_stats *sum, const ts_hbm_stats *stats, int64_t times);
/* After drain: limiter_cycles then adds up to end_cycle a pseudo channel. */
void ts_hbm_read_stats(const ts_hbm *hbm, ts_hbm_stats *stats);
/* Of what accesses amount to (bytes, or time at the peak), the part of bursts that are on the pins: not of those that
 * queues answer. */
int64_t ts_hbm_on_pins(const ts_hbm_stats *stats, int64_t moved);
/* As if something had been done at `end`. */
void ts_hbm_read_stats_to(const ts_hbm *hbm, int64_t end, ts_hbm_stats *stats);
/* Of counts that are put together from parts, or from differences, a wait may come out below 0: it is taken from
 * the waits for requests. Row hits are what misses leave of all bursts: below 0 they are taken from the misses. */
void ts_hbm_stats_balance(ts_hbm_stats *stats);

#endif
