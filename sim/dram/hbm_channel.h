/* The controller of one HBM channel: its queues, and the keys by which it picks from them. Private. */
#ifndef TILESIM_DRAM_HBM_CHANNEL_H
#define TILESIM_DRAM_HBM_CHANNEL_H

#include <assert.h>
#include <string.h>

#include "dram_state.h"
#include "hbm_load.h"
#include "machine/address_map.h"
#include "dram/hbm.h"

enum {
    NO_SLOT = 0xffff,
    KEY_SLOT_BITS = 12, /* a key is the age of a request and, below it, its slot */
    MAX_ENTRIES = 1 << KEY_SLOT_BITS,
    MAX_AGE = 1 << (31 - KEY_SLOT_BITS - 1), /* then all ages of a queue are lowered */
    FILTER_BITS = 10,                        /* of the counting filter over queued writes */
    REBASE_AT = 1 << 28,                     /* local cycles above it are lowered */
    MAX_STREAMS = 256,
    ACTIVE_ENDS = 3, /* entries behind the last active burst, */
    ACTIVE_GAP = 32, /* and before the first, at most */
    ACTIVE_PLACES = ACTIVE_GAP + DRAM_MAX_BANKS + ACTIVE_ENDS,
};

/* A request in a queue: one burst, or two that follow each other in address and in age. */
typedef struct {
    _Alignas(8) uint64_t location; /* the first one's in the channel (hbm_segment) */
    int32_t key;
    int32_t arrival[2];
    uint8_t bank, stream;
    uint8_t at, end; /* bursts at to end - 1 are still to be served */
    uint8_t counted; /* bit i: burst i is in the row statistics */
} hbm_slot;
_Static_assert(sizeof(hbm_slot) == 32, "two slots in a cache line");

/* Its position in the list of its bank, by age; apart, as lists are searched for rows. */
typedef struct {
    int32_t row;
    uint16_t next, previous;
} hbm_link;

/* A burst whose row was opened for it; it is served before the queues. */
typedef struct {
    int64_t age;    /* its arrival and, below it, the cycle of its ACT */
    int32_t opened; /* ready as far as its ACT goes */
    int32_t ticket;
    uint8_t bank, group, stream, direction;
    uint16_t column; /* for observers of commands */
} hbm_active;

typedef struct {
    int count, entries;              /* bursts */
    int32_t age;                     /* of the next request */
    uint16_t newest;                 /* the slot made last while it can take a second burst, or NO_SLOT */
    uint16_t free;                   /* list of free slots */
    int32_t column_bound, row_bound; /* no column, row command of this queue is possible before */
    hbm_slot *slots;                 /* behind them one of no key, for the ends of lists */
    hbm_link
        *links; /* by slot; behind them one for each bank: the end of its list, before the oldest and after
                        the newest; of no row */
    int32_t *tickets; /* by 2 * slot + burst: its position in its stream's ring, of a stream that has one */
    int32_t
        hit_key[DRAM_MAX_BANKS]; /* of the oldest request to the open row once it can be served; KEY_NONE */
    int32_t group_key[DRAM_MAX_GROUPS];   /* the lowest hit_key of its banks */
    uint16_t group_hits[DRAM_MAX_GROUPS]; /* bits: its banks with a hit_key */
    int32_t row_key[DRAM_MAX_BANKS];      /* of the request that an ACT or PRE may be issued for; KEY_NONE */
    uint16_t hit[DRAM_MAX_BANKS], miss[DRAM_MAX_BANKS]; /* the oldest to the open row, and to any other, or
                                                           the end of the bank's list */
} hbm_queue;

/* What a command has waited for: a limiter, and the bank's own command that the rule counts from (a bit
 * number). */
typedef struct {
    uint8_t limiter, after;
} hbm_cause;

typedef struct {
    int number;
    int represented; /* for how many more than itself it is simulated */
    int split_from;  /* its last representative before */
    int32_t next;    /* the next cycle at which something can happen */
    int32_t last_accept;
    int32_t special_at; /* before it there are but columns and rows: no refresh falls due, no row becomes
                         * ready for hits; 0 while something waits */
    int32_t
        calm_until; /* before it there is nothing but hits of the direction that is served, and it stays so */
    int32_t refresh_at; /* when the next refresh falls due */
    int32_t row_bus_free;
    int row_bus_command; /* the last on it, by bit number */
    int32_t active_at;   /* no active burst can be served before */
    int32_t opening_at;  /* the first `at` of opening, or FAR */
    bool is_writing;
    int waiting_count;                    /* of waiting: while it is not 0, nothing else begins */
    int refresh_head;                     /* bank refresh: the next bank of each pseudo channel */
    int32_t refresh_again[DRAM_MAX_SIDS]; /* all banks of the stack id are refreshed: not again before */
    int32_t page_at;                      /* closed page: no row is to be closed before */
    int active_first, active_count, opening_count;
    int32_t bus_until[DRAM_MAX_PCS]; /* the time of a pseudo channel is accounted for up to here */
    int32_t refresh_from[DRAM_MAX_PCS], refresh_until[DRAM_MAX_PCS]; /* its last refresh, */
    bool nobody_waits[DRAM_MAX_PCS];                                 /* and whether that held nothing back */
    int64_t passed[DRAM_MAX_PCS]; /* of its time without requests, passed over and not accounted for */
    int64_t accepted[2];          /* bursts, by direction */
    ts_hbm_stats stats;           /* without what is counted elsewhere */
    hbm_queue queue[2];
    struct hbm_banks *banks; /* of the per bank scheduler, or NULL */
    ts_dram dram;
    hbm_active active[ACTIVE_PLACES]; /* by `opened`; behind the last some that are never */
    struct {
        int32_t at;
        int16_t bank, direction;
    } opening[2 *
              DRAM_MAX_BANKS]; /* rows with hits that cannot be served yet, by when they can; not those of the
                                * direction that the row was opened for: the active burst is served first */
    uint8_t active_of[DRAM_MAX_BANKS]; /* 1 + the direction of the bank's active burst, or 0 */
    struct {
        int16_t command, bank;           /* REFA, REFB, or PRE of a row that has been open long enough */
    } waiting[2 * DRAM_MAX_BANKS];       /* first come, first served */
    uint16_t page_count[DRAM_MAX_BANKS]; /* columns since the row was opened (closed page) */
    bool page_waits[DRAM_MAX_BANKS];     /* its PRE is in waiting */
    hbm_cause act_cause[DRAM_MAX_BANKS], pre_cause[DRAM_MAX_BANKS]; /* what its last ACT, PRE waited for */
    uint8_t last_direction[DRAM_MAX_PCS];                           /* of its data bus; 2: none yet */
    uint16_t filter[1 << FILTER_BITS]; /* counts of queued writes, by hash of their address */
} hbm_channel;

/* Bursts of one stream, in its order, as segments: one burst, or two next to each other in a row. Those of
 * one channel are taken together: no acceptance in a block tells when another burst of it can be offered, as
 * a block is not longer than the stream's window. */
enum { BLOCK = 1024 };
typedef struct {
    uint64_t location; /* of the first burst: ts_address_map_pack without the channel */
    int32_t at[2];     /* in: offered from this cycle on; out: accepted */
    int32_t ticket[2]; /* of a stream with a ring of what is not yet done: its position there */
    uint16_t channel;
    bool is_write, is_pair;
} hbm_segment;
typedef struct {
    int count, bursts;
    hbm_segment segments[BLOCK];
    hbm_segment *order[BLOCK]; /* by channel, then as offered */
} hbm_block;

/* Requests that are added, and counted while not all channels are simulated, as one access: aligned, and at the
 * address of the first XOR `differ`. */
enum { HBM_GROUP = 8, HBM_ACCESS_PAIRS = 64 };
typedef struct {
    int32_t bytes;             /* of a request; 0: there are none */
    int count;                 /* of requests, a power of two */
    int64_t differ[HBM_GROUP]; /* linear in the request's number: those of powers of two make the others */
    int pairs;                 /* of all of them */
    uint64_t pair[HBM_ACCESS_PAIRS]; /* their locations, if the first is at 0 */
    uint64_t *simulated;             /* those in simulated channels, as bits, by the first one's channel */
} hbm_group;

struct ts_hbm {
    ts_hbm_config config;
    ts_address_map *map;
    dram_spec *spec;
    ts_arena *arena;
    hbm_channel **channels;  /* whose number `share` divides (hbm_channel_at); NULL: never simulated yet */
    int32_t *representative; /* by number: the channel that is simulated for it */
    int channel_count;       /* of all */
    hbm_channel **simulated; /* those that are their own representatives */
    int simulated_count;
    ts_hbm_stats
        *history;  /* by number: what a channel that is represented has counted beyond its representative */
    uint64_t pair; /* the location of a pair's second burst, XOR that of the first */
    int share;     /* channels whose number it divides are simulated */
    int64_t offered[2]; /* bursts to all channels, by direction, while not all are simulated */
    int64_t begun;      /* when the first of all requests was offered; -1: none was */
    hbm_load load;
    hbm_group group;
    int64_t stuck_at;  /* per bank scheduler: it would do nothing from here on; -1 */
    int64_t base;      /* of local cycles */
    int32_t stepped;   /* channels were stepped to here before a gap, or a new start of a stream */
    int32_t gap_at;    /* who offers from then on may leave a gap before that is worth passing over */
    int64_t end_cycle; /* of streams started again since */
    int32_t write_high, write_low; /* drain starts above, ends below */
    int32_t read_latency;          /* RD to last data */
    int32_t burst_ticks;
    int32_t refresh_ticks; /* from one refresh of a channel to the next; FAR */
    int refresh_pcs;       /* pseudo channels that are refreshed together */
    bool is_observed;
    ts_hbm_observer *observer; /* of bursts; NULL: none */
    void *observed;
    ts_hbm_command_observer *command_observer; /* NULL: none */
    void *commands_observed;
    ts_hbm_stream *streams[MAX_STREAMS];
    int stream_count;
    void (*simulate)(ts_hbm *hbm, hbm_channel *channel, int32_t until); /* hbm_simulators.h */
    void (*run)(ts_hbm *hbm, ts_hbm_stream *st, hbm_channel *ch, hbm_segment *const *segments, int count);
    hbm_block block;
    int32_t *block_first; /* by channel, and two more: where its segments begin in block.order */
    bool is_exact;        /* no channel follows another, no gap is passed over */
    bool is_limited;      /* a stream has a ring of what is not yet done */
    bool is_awaited;      /* somebody has waited for something to be done */
    bool has_pairs;       /* an even burst and the next are in one row */
};

static inline int hbm_channel_index(const ts_hbm *hbm, int number) {
    return number >> __builtin_ctz((unsigned)hbm->share);
}
/* A channel that is simulated, by its number, which `share` divides. */
ALWAYS static inline hbm_channel *hbm_channel_at(const ts_hbm *hbm, int number) {
    return hbm->channels[hbm_channel_index(hbm, number)];
}
/* The simulated channel that stands for channel `number`. */
static inline hbm_channel *hbm_representative(const ts_hbm *hbm, int number) {
    return hbm_channel_at(hbm, hbm->representative[number]);
}

/* Bursts that it holds: in its queues, or active. */
static inline int hbm_held(const hbm_channel *ch) {
    return ch->queue[0].count + ch->queue[1].count + ch->active_count;
}

/* ---- hbm_channel.c ---- */

/* State for a channel that is simulated from now on; not cleared. */
hbm_channel *hbm_begin_channel(ts_hbm *hbm, int number);
/* From rest: nothing waits, rows are closed. */
void hbm_clear_channel(ts_hbm *hbm, hbm_channel *ch);

/* Reads of a stream that are done with one that came before (per bank scheduler). */
typedef struct {
    int64_t count, arrivals; /* the sum of their arrivals */
    int32_t ticket;          /* of the last: the rest of them follow in the stream's merged_next */
} hbm_merged;

struct ts_hbm_stream {
    ts_hbm *hbm;
    int index;
    int32_t window;    /* bursts of lookahead; 0 in order, -1 unlimited */
    int32_t in_flight; /* bursts; -1 unlimited */
    int32_t *accepted; /* ring of window: the latest acceptance so far, local */
    int32_t *done;     /* ring of in_flight: local cycle, -1: unused, or -2 - channel while not known */
    int32_t offer_at, accept_at, done_at; /* positions in them */
    int32_t latest;                       /* acceptance so far */
    int32_t latest_done;                  /* of the bursts that have left the ring */
    int32_t start;
    hbm_load_stream *load; /* while not all channels are simulated */
    uint64_t shift;        /* of its locations: XOR */
    int32_t end;           /* the last thing done since the base moved; -1 */
    int64_t end_cycle;     /* and before; -1 */
    int64_t unfinished;
    hbm_merged *merged;   /* per bank scheduler: by channel and entry */
    int32_t *merged_next; /* by ticket */
};

/* The next burst may be offered from this cycle on, as far as acceptances say. */
static inline int32_t hbm_stream_earliest(const ts_hbm_stream *st) {
    if (st->window > 0) return max32(st->start, st->accepted[st->offer_at] + 1);
    return st->window == 0 ? max32(st->start, st->latest) : st->start;
}

/* Raises *earliest by the burst that must be done first; steps its channel while it is not, up to `limit`.
 * False when that is not far enough. */
bool hbm_wait_for_done(ts_hbm_stream *st, int32_t *earliest, int32_t limit);

/* The ticket of the next burst of a channel: its position in the stream's ring of what is not yet done. What
 * left the entry must be done; returns the first cycle after that and all before it. */
static inline int32_t hbm_take_ticket(ts_hbm_stream *st, int32_t channel, int32_t *ticket) {
    *ticket = st->done_at;
    st->latest_done = max32(st->latest_done, st->done[*ticket]);
    st->done[*ticket] = -2 - channel;
    st->done_at = *ticket + 1 == st->in_flight ? 0 : *ticket + 1;
    return st->latest_done + 1;
}

/* Is it known when the burst was done that left the ring `ahead` (0, 1) entries from now? */
static inline bool hbm_is_done_known(const ts_hbm_stream *st, int32_t ahead) {
    int32_t at = st->done_at + ahead;
    return st->done[at >= st->in_flight ? at - st->in_flight : at] >= -1;
}

/* Observers are told of a command at `t`, before it closes a row, after it opens one. location: of the burst
 * of a column command. */
void hbm_tell(const ts_hbm *hbm, const hbm_channel *ch, int command, int bank, uint64_t location, int32_t t);
/* The same, when there is one, of a row command, by bit number. */
ALWAYS static inline void hbm_tell_row(const ts_hbm *hbm, const hbm_channel *ch, int command, int bank,
                                       int32_t t) {
    if (__builtin_expect(hbm->is_observed, 0)) hbm_tell(hbm, ch, command, bank, 0, t);
}

/* A row command, by bit number, takes the bus. */
ALWAYS static inline void hbm_take_row_bus(hbm_channel *ch, int command, int32_t t) {
    ch->row_bus_free = t + ch->dram.spec->bus_ticks[command];
    ch->row_bus_command = command;
}

/* ---- Where the time goes (hbm_attribution.c): all cycles of each pseudo channel, once. ---- */

/* What an ACT or PRE to be issued at `t` for a request that arrived at `arrival` has waited for. */
hbm_cause hbm_act_cause(const hbm_channel *ch, int bank, int32_t arrival, int32_t t);
hbm_cause hbm_pre_cause(const hbm_channel *ch, int bank, int32_t arrival, int32_t t);
/* Keeps that for the bank's next column. A time before bus_until is accounted for already: nobody will ask.
 */
ALWAYS static inline void hbm_keep_cause(hbm_channel *ch, int command, int bank, int32_t arrival, int32_t t) {
    if (t <= ch->bus_until[bank >> ch->dram.spec->pc_shift]) return;
    if (command == DRAM_ACT)
        ch->act_cause[bank] = hbm_act_cause(ch, bank, arrival, t);
    else
        ch->pre_cause[bank] = hbm_pre_cause(ch, bank, arrival, t);
}
/* A column command: of which burst, offered when, and whether the row was opened for it. */
typedef struct {
    int direction, bank, stream;
    int32_t arrival;
    const int32_t *ticket;
    bool is_active;
} hbm_column;
/* Accounts for the time before a column command at `t`, called before it is issued. */
void hbm_attribute_column(const ts_hbm *hbm, hbm_channel *ch, const hbm_column *column, int32_t t);
/* A refresh issued at `t` keeps its pseudo channel busy for `ticks`. Accounts for the time up to it where requests
 * `wait`; else what the time was is known with the next, or when all is done. */
void hbm_attribute_refresh(const ts_hbm *hbm, hbm_channel *ch, int bank, int32_t t, int32_t ticks,
                           bool waits);
/* Local cycles are lowered by `shift`. */
void hbm_attribution_rebase(const ts_hbm *hbm, hbm_channel *ch, int32_t shift);
/* Adds to `cycles` what is left of each pseudo channel's time up to `end`, when all is done. */
void hbm_attribute_rest(const ts_hbm *hbm, const hbm_channel *ch, int32_t end, int64_t *cycles);

#endif
