/* The queues of the per bank scheduler (hbm_banks_scheduler.h): a controller's read queue and its write buffer,
 * as lists of entries for each bank, and a queue of commands for each bank, by age. What is yet to be served
 * is also found by its burst. */
#ifndef TILESIM_DRAM_HBM_BANKS_QUEUES_H
#define TILESIM_DRAM_HBM_BANKS_QUEUES_H

#include "hbm_banks.h"
#include "hbm_banks_lanes.h"
#include "hbm_simulators.h"

enum { NONE = -1, BUCKETS = 512 };

typedef struct {
    uint64_t burst; /* its location */
    int32_t arrival, ticket;
    uint32_t age; /* when it began to wait */
    int32_t next; /* that waits for its bank */
    int32_t same; /* the next in its bucket, or the next free one */
    uint8_t bank, stream, is_write;
    bool is_merged; /* other reads are done with it (hbm_merged) */
} entry;
_Static_assert(sizeof(entry) == 32, "two entries in a cache line");

typedef struct {
    int32_t newest[2]; /* that waits, by direction, or the list's end */
    int32_t count;     /* commands */
    int32_t served;    /* columns since the row was opened */
} bank_queue;

/* Sets of banks are bits. */
struct hbm_banks {
    entry *entries; /* behind them the ends of lists: before the first that waits */
    int capacity, pitch;
    uint32_t *commands; /* by bank: keys by age, slots by age, `pitch` of each */
    int32_t free, bucket[BUCKETS];
    uint32_t age;          /* of what next begins to wait */
    int waiting[2], count; /* bursts that wait, and commands */
    int draining;          /* writes still to be moved before reads are again */
    int32_t rested_until;  /* nothing waited up to here but writes that were to stay */
    uint64_t after;        /* the banks behind the one visited last */
    int32_t stepped;       /* the last cycle in which something could happen */
    int32_t column_at;     /* the cycle of the last column command, */
    uint64_t column_burst; /* and whose it was */
    bool column_is_write;
    uint64_t waits[2], room; /* banks with waiting bursts; that take another command */
    uint64_t row;            /* whose first command needs an ACT, or a PRE that may be issued */
    uint64_t hits[2];        /* with a command to the open row */
    bank_queue banks[HBM_BANKS_MOST];
};

static inline uint64_t bit_of(int bank) { return (uint64_t)1 << bank; }
static inline void put_bit(uint64_t *set, int bank, bool is_in) {
    *set = (*set & ~bit_of(bank)) | (uint64_t)is_in << bank;
}

/* ---- What is yet to be served, by its burst. ---- */

static inline int32_t *bucket_of(struct hbm_banks *b, uint64_t burst) {
    return &b->bucket[burst * 0x9E3779B97F4A7C15u >> 55];
}

/* The read, or the write, of the burst. */
static inline int32_t find(struct hbm_banks *b, uint64_t burst, int direction) {
    int32_t slot = *bucket_of(b, burst);
    while (slot != NONE && (b->entries[slot].burst != burst || b->entries[slot].is_write != direction))
        slot = b->entries[slot].same;
    return slot;
}

/* A free entry becomes that of a burst. */
static inline int32_t take_entry(struct hbm_banks *b, uint64_t burst) {
    int32_t slot = b->free, *bucket = bucket_of(b, burst);
    entry *e = &b->entries[slot];
    b->free = e->same;
    e->burst = burst;
    e->same = *bucket;
    *bucket = slot;
    return slot;
}

static inline void free_entry(struct hbm_banks *b, int32_t slot) {
    int32_t *at = bucket_of(b, b->entries[slot].burst);
    while (*at != slot) at = &b->entries[*at].same;
    *at = b->entries[slot].same;
    b->entries[slot].same = b->free;
    b->free = slot;
}

/* ---- What waits. ---- */

static inline int32_t end_of(const struct hbm_banks *b, int direction, int bank) {
    return b->capacity + direction * HBM_BANKS_MOST + bank;
}
static inline int32_t first_in(const struct hbm_banks *b, int direction, int bank) {
    return b->entries[end_of(b, direction, bank)].next;
}

static inline void begin_waiting(struct hbm_banks *b, int32_t slot) {
    entry *e = &b->entries[slot];
    int direction = e->is_write;
    int32_t *newest = &b->banks[e->bank].newest[direction];
    e->age = b->age++;
    b->entries[*newest].next = slot;
    *newest = slot;
    b->waits[direction] |= bit_of(e->bank);
    b->waiting[direction]++;
}

/* The first of a list. */
static inline void end_waiting(struct hbm_banks *b, int32_t slot) {
    const entry *e = &b->entries[slot];
    int direction = e->is_write;
    int32_t *newest = &b->banks[e->bank].newest[direction], end = end_of(b, direction, e->bank);
    b->entries[end].next = e->next;
    b->waits[direction] ^= (uint64_t)(*newest == slot) << e->bank;
    *newest = *newest == slot ? end : *newest;
    b->waiting[direction]--;
}

/* ---- Commands. ---- */

/* The row and, below it, the direction. */
static inline uint32_t key_of(int32_t row, int direction) { return (uint32_t)row << 1 | (uint32_t)direction; }

#endif
