/* The controller of one HBM channel: its queues, and the bank-by-bank keys by which it picks. Private. */
#ifndef SIM_MEMORY_HBM_CHANNEL_H
#define SIM_MEMORY_HBM_CHANNEL_H

#include <assert.h>

#include "dram_state.h"
#include "tilesim/memory/address_map.h"
#include "tilesim/memory/hbm.h"

enum {
    NO_SLOT = 0xffff,
    KEY_BANK_BITS = 9,      /* a key is the age of a request and, below it, its bank */
    KEY_NONE = INT32_MAX,
    MAX_AGE = 1 << 21,      /* then all ages of a queue are lowered */
    FILTER_BITS = 10,       /* of the counting filter over queued writes */
    FAR = 1 << 30,          /* a local cycle that never comes */
    REBASE_AT = 1 << 28,    /* local cycles above it are lowered */
};

/* A request in a queue: one burst, or two that follow each other in address and in age. */
typedef struct {
    int64_t burst;         /* the first one's address, in bursts */
    int32_t row, key;
    int32_t arrival[2];
    int32_t ticket[2];     /* its place in its stream's ring */
    uint16_t next, previous; /* of the same bank, by age */
    uint16_t stream;
    uint8_t left;          /* bit i: burst i is still to be served */
    uint8_t counted;       /* bit i: burst i is in the row statistics */
} hbm_slot;

/* A burst whose row was opened for it; it is served before the queues. */
typedef struct {
    int32_t arrival, ticket;
    uint16_t bank, stream;
    uint8_t direction;
} hbm_active;

typedef struct {
    int count, entries;    /* bursts */
    int32_t age;           /* of the next request */
    uint16_t newest;       /* the slot made last while it can take a second burst, or NO_SLOT */
    uint16_t free;         /* list of free slots */
    hbm_slot *slots;
    int32_t *hit_key;      /* by bank: of the oldest request to the open row; KEY_NONE */
    int32_t *row_key;      /* by bank: of the request that an ACT or PRE may be issued for; KEY_NONE */
    uint16_t *hit, *miss;  /* by bank: the oldest request to the open row, and to any other */
    uint16_t *first, *last;
    int32_t column_bound, row_bound; /* no column, row command of this queue is possible before */
} hbm_queue;

typedef struct {
    ts_dram dram;
    hbm_queue queue[2];
    hbm_active *active;
    int active_count;
    uint8_t *active_of;    /* by bank: how many of its bursts are active */
    bool is_writing;
    int32_t next;          /* the next cycle at which something can happen */
    int32_t last_accept;
    int32_t row_bus_free;
    int32_t refresh_at;    /* when the next refresh falls due */
    int refresh_waiting, refresh_head;
    uint16_t *filter;      /* counts of queued writes, by hash of their address */
    int32_t *page_count;   /* by bank: column commands since its row was opened (closed page) */
    uint8_t last_direction[DRAM_MAX_PCS]; /* of the data bus; 2: none yet */
    ts_hbm_stats stats;    /* end_cycle is local */
} hbm_channel;

struct ts_hbm {
    ts_hbm_config config;
    ts_address_map *map;
    dram_spec *spec;
    hbm_channel *channels;
    int channel_count;
    int64_t base;          /* of local cycles */
    int32_t write_high, write_low; /* drain starts above, ends below */
    int32_t read_latency;  /* RD to last data */
    ts_hbm_stream *streams[256];
    int stream_count;
    int64_t end_cycle;
    void (*walk)(ts_hbm *hbm, hbm_channel *channel, int32_t until); /* hbm_walkers.h */
    int32_t (*offer)(ts_hbm *hbm, ts_hbm_stream *st, int64_t burst, int direction, int32_t earliest);
};

struct ts_hbm_stream {
    ts_hbm *hbm;
    int index;
    int32_t window;        /* bursts of lookahead; 0 in order, -1 unlimited */
    int32_t in_flight;     /* bursts; -1 unlimited */
    int32_t *accepted;     /* ring of window: the latest acceptance so far, local */
    int32_t *done;         /* ring of in_flight: local cycle, or ~channel while not known */
    int32_t window_at, done_at;
    int32_t latest;        /* acceptance so far */
    int32_t latest_done;   /* of the bursts that have left the ring */
    int32_t start;
    int32_t end;           /* the last thing done */
    int64_t unfinished;
};

#endif
