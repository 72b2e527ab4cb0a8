/* The HBM of a machine: geometry, timing, controller and address map, all in the memory's own clock. */
#ifndef TILESIM_MACHINE_HBM_CONFIG_H
#define TILESIM_MACHINE_HBM_CONFIG_H

#include <stdint.h>

typedef enum {
    TS_HBM_SCHEDULER_ROW_HIT,  /* oldest ready command first; a precharge waits for older hits of its row */
    TS_HBM_SCHEDULER_FRFCFS,   /* oldest ready command first, whatever it closes */
    TS_HBM_SCHEDULER_PER_BANK, /* a command queue a bank, banks visited round robin, a limit on row hits */
} ts_hbm_scheduler;

enum {
    TS_HBM_MAX_BANKS = 128,         /* of a channel: HBM4 with 16 dies */
    TS_HBM_MAX_BANKS_PER_BANK = 64, /* of a pseudo channel, for TS_HBM_SCHEDULER_PER_BANK */
    TS_HBM_MAX_BURST_BITS = 10,     /* log2 of bytes */
};

typedef enum { TS_HBM_REFRESH_NONE, TS_HBM_REFRESH_ALL_BANK, TS_HBM_REFRESH_PER_BANK } ts_hbm_refresh;
typedef enum { TS_HBM_PAGE_OPEN, TS_HBM_PAGE_CLOSED } ts_hbm_page;

typedef struct {
#define TIMING(name, most, meaning) int32_t name;
#include "machine/hbm_timing.def"
#undef TIMING
} ts_hbm_timing;

typedef struct {
#define ENERGY(name, unit, meaning) int32_t name;
#include "machine/hbm_energy.def"
#undef ENERGY
} ts_hbm_energy;

typedef struct {
    int32_t stacks;
    int32_t channels;        /* of a stack */
    int32_t pseudo_channels; /* of a channel; they share its command buses */
    int32_t sids;            /* stack ids (ranks) of a pseudo channel; HBM2: 1 */
    int32_t bank_groups;     /* of a stack id */
    int32_t banks;           /* of a bank group */
    int32_t rows;            /* of a bank */
    int32_t row_bytes;       /* of one row in one pseudo channel */
    int32_t burst_bytes;     /* moved by one RD or WR */

    int64_t clock_khz; /* of CK */
    /* The memory counts ticks. HBM2: a tick is one CK. HBM3: half a CK, as row commands use both edges;
     * column commands, ACT and REF then start on rising edges only. Every cycle that the model takes or gives
     * is a tick. */
    int32_t ticks_per_ck;
    int32_t act_ticks, row_ticks,
        column_ticks; /* how long a command holds its bus: HBM2 2, 1, 1; HBM3 3, 1, 2 */
    ts_hbm_timing timing;

    ts_hbm_scheduler scheduler;
    ts_hbm_page page;
    int32_t page_accesses; /* closed page: column commands of a row, after which it is closed */
    int32_t read_entries,
        write_entries; /* bursts queued in a channel (per bank scheduler: in a pseudo channel) */
    int32_t write_high_percent,
        write_low_percent; /* drain starts above high, ends below low, of write_entries */
    int32_t bank_entries;  /* per bank scheduler: commands queued for a bank */
    int32_t row_hit_limit; /* per bank scheduler: hits that may hold back a precharge */
    ts_hbm_refresh refresh;

    ts_hbm_energy energy; /* of a pseudo channel */

    const char *address_map; /* a name (A, B, H, ...) or fields, lowest first; see machine/address_map.h */
} ts_hbm_config;

static inline int64_t ts_hbm_tick_khz(const ts_hbm_config *config) {
    return config->clock_khz * config->ticks_per_ck;
}

/* Buses of data: pseudo channels of all stacks. */
static inline int64_t ts_hbm_bus_count(const ts_hbm_config *c) {
    return (int64_t)c->stacks * c->channels * c->pseudo_channels;
}

/* What its geometry holds. */
static inline int64_t ts_hbm_bytes(const ts_hbm_config *c) {
    int64_t banks = ts_hbm_bus_count(c) * c->sids * c->bank_groups * c->banks;
    return banks * c->row_bytes * c->rows; /* at most 2^24 * 2^16 * 2^22 */
}

#endif
