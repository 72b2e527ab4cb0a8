/* How evenly requests load the channels: how long all of them would take, and how long those of a share, if each
 * served its bursts in order and at the same pace. Private.
 *
 * The pairs of an aligned access lie in channels, banks and rows that differ from its first pair's by XOR with what is
 * the same for all accesses (address_map.h). What accesses reach from each other by these are a coset, which is loaded
 * evenly: it is counted as one. */
#ifndef TILESIM_DRAM_HBM_LOAD_H
#define TILESIM_DRAM_HBM_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "machine/address_map.h"
#include "dram/hbm.h"

enum {
    HBM_LOAD_STAGES = 64,
    HBM_LOAD_LEVELS = TS_ADDRESS_CHANNEL_BITS + 1,
    HBM_LOAD_BASIS = 8, /* 2^8 pairs of an access at most */
};

/* The lookahead of a stream, in stages: what is in one is offered when the one a lookahead before it was accepted. */
typedef struct {
    int64_t accepted[HBM_LOAD_STAGES]; /* ring */
    int64_t earliest, latest;          /* acceptance: that waited for, that of the last burst */
    int32_t stage_bursts, bursts;      /* of a stage, and of the current one so far */
    int count, at;                     /* of the ring */
} hbm_load_window;

/* Of one stream. */
typedef struct {
    int32_t lookahead; /* bursts of all channels; 0 in order, -1 unlimited */
    hbm_load_window windows[HBM_LOAD_LEVELS];
} hbm_load_stream;

/* Of one share of the channels. */
typedef struct {
    int share;
    int32_t access_bursts; /* of an access that reaches them */
    int64_t *until;        /* by coset (the channel that stands for it): it has served what it got so far */
    int64_t end;           /* the latest of these */
    int64_t bursts;        /* so far */
    int64_t busiest;       /* bursts of the coset that gets most of a round, summed over rounds */
} hbm_load_level;

typedef struct {
    int channels, bank_bits, share, queue;
    int levels; /* the first: all channels; then the shares that an access does not load evenly, the largest last */
    hbm_load_level level[HBM_LOAD_LEVELS];
    uint8_t *levels_of; /* by channel: of an access whose coset it stands for */
    int32_t *row;       /* by channel and bank of a coset: the last one accessed */
    uint64_t basis[HBM_LOAD_BASIS];
    int pivot[HBM_LOAD_BASIS]; /* bit number */
    int rank, coset_channels;
    int request_channels;     /* of the coset of a request by itself */
    int32_t access_steps;     /* of each channel of a coset, for an access */
    int32_t round, *round_of; /* bursts of the current round: in all, by coset */
    ts_hbm_subset_length length;
    bool is_even;     /* all channels got the same all the time so far */
    bool was_stopped; /* as the simulated channels did not stand for all */
    int64_t grace;    /* until `end` of all */
} hbm_load;

/* channels, bank_bits (of a channel), share and queue (bursts that wait at a channel) are set. */
void hbm_load_init(hbm_load *load, ts_arena *arena);
/* What is counted as one access from now on: so many pairs, at these locations if the first is at 0. What was counted
 * before, and windows that are open, are nothing then. */
void hbm_load_set_access(hbm_load *load, const uint64_t *pairs, int count);
/* The same, for more of such requests at a time before any is counted, or for fewer: what was counted stays. */
void hbm_load_regroup(hbm_load *load, const uint64_t *pairs, int count);
void hbm_load_clear(hbm_load *load);
/* From the beginning, with the stream's lookahead. */
void hbm_load_open(const hbm_load *load, hbm_load_stream *stream);
/* An access by the location of any of its pairs; bursts of one row. Locations: ts_address_map_pack. */
void hbm_load_add_access(hbm_load *load, hbm_load_stream *stream, uint64_t location);
void hbm_load_add(hbm_load *load, hbm_load_stream *stream, uint64_t location, int bursts);
/* Do the simulated channels take as long as all do so far, but for what waits at them? If not, that is the end. */
bool hbm_load_is_fair_so_far(hbm_load *load);
/* How long all take, as a part of what the simulated ones do: infinite where these get nothing. */
double hbm_load_ratio(const hbm_load *load);
/* Was this asked not long ago, so that it need not be looked at again what unfairness amounts to? */
bool hbm_load_has_grace(hbm_load *load);
/* At the end: the largest share, from that which is simulated on, that takes as long as all channels do. */
int hbm_load_fair_share(const hbm_load *load);
/* Requests go on elsewhere: a round that has begun is forgotten. */
void hbm_load_jump(hbm_load *load);

#endif
