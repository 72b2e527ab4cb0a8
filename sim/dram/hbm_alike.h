/* Memories that do the same: what one does depends on its history only as far as that is not long ago, and
 * not on which bank or channel is which. Of memories that refresh all banks at a time, with open pages, the
 * scheduler row_hit, and streams without a limit of what is in flight. */
#ifndef TILESIM_DRAM_HBM_ALIKE_H
#define TILESIM_DRAM_HBM_ALIKE_H

#include "dram/hbm.h"

bool ts_hbm_may_be_alike(const ts_hbm_config *config);
/* From this cycle on it is, but for its counts, as one to which nothing was ever offered and that is told of
 * the same direction (ts_hbm_set_direction): the second refresh after its end is over. INT64_MAX: not all is
 * done yet. */
int64_t ts_hbm_rest_cycle(const ts_hbm *hbm);
/* In which the data buses of all pseudo channels that are simulated moved data last: 0 reads, 1 writes, 2
 * nothing yet; -1: not all in the same. */
int ts_hbm_direction(const ts_hbm *hbm);
void ts_hbm_set_direction(ts_hbm *hbm, int direction); /* after a reset */
/* What one counted more, by a cycle from which on it rests, than one to which nothing was offered, both from
 * their reset on. What the time without requests went to is known to neither: of limiters only the sum of
 * TS_HBM_LIMITER_REQUESTS, DATA, LATENCY, REFRESH and IDLE can be added to what a third counts from then on. */
void ts_hbm_count_beyond(ts_hbm *hbm, ts_hbm *idle, int64_t cycle, ts_hbm_stats *out);

/* The bursts of accesses in simulated channels, in order, by where they lie beside the first of them. Two
 * sequences of the same hash, offered at the same cycles to memories in the same state, are served at the
 * same cycles; all of a stream's locations may be shifted (XOR) by its `shift`. */
typedef struct {
    uint64_t hash[2];
    uint64_t shift;
    bool begun; /* `shift` is known */
} ts_hbm_trace;
/* Of an access that is aligned to its bytes. */
void ts_hbm_trace_access(const ts_hbm *hbm, ts_hbm_trace *trace, int64_t address, int32_t bytes,
                         bool is_write);
void ts_hbm_stream_shift(ts_hbm_stream *stream, uint64_t shift); /* until it is started again */

#endif
