/* The queues of the per bank scheduler (hbm_banks_scheduler.h): a controller's read queue, its write buffer,
 * and a queue of commands for each bank, as lists of entries that are also found by their burst. */
#ifndef TILESIM_DRAM_HBM_BANKS_QUEUES_H
#define TILESIM_DRAM_HBM_BANKS_QUEUES_H

#include "hbm_banks.h"
#include "hbm_simulators.h"

enum { NONE = -1, BUCKETS = 512 };

typedef struct {
    uint64_t burst; /* its location */
    int32_t row, arrival, ticket;
    uint32_t age;           /* when it came into its list */
    int32_t next, previous; /* in the list */
    int32_t same;           /* the next in its bucket, or the next free one */
    uint8_t bank, stream, is_write;
    bool is_merged; /* other reads are done with it (hbm_merged) */
} entry;

enum { COMMANDS = 2, LISTS }; /* of a bank; 0 and 1 are its part of the read queue, the write buffer */

/* Sets of banks are bits. */
struct hbm_banks {
    entry *entries; /* behind them the ends of lists: before the oldest and after the newest */
    int capacity;
    int32_t free, bucket[BUCKETS];
    uint32_t age;             /* of what next comes into a list */
    int waiting[2], commands; /* in the lists */
    int draining;             /* writes still to be moved before reads are again */
    int last;                 /* the bank visited last */
    int32_t stepped;          /* the last cycle in which something could happen */
    int32_t column_at;        /* the cycle of the last column command, */
    uint64_t column_burst;    /* and whose it was */
    bool column_is_write;
    uint64_t waits[2], room;   /* banks with waiting bursts; that take another command */
    uint64_t row;              /* whose first command needs an ACT, or a PRE that may be issued */
    uint64_t hits[2];          /* with a command to the open row */
    int32_t row_at, hit_at[2]; /* none of `row`, `hits` is ready before */
    int32_t first_hit[2][HBM_BANKS_MOST];
    uint16_t held[2][HBM_BANKS_MOST]; /* commands, by direction */
    uint16_t served[HBM_BANKS_MOST];  /* columns since the row was opened */
};

static inline uint64_t bit_of(int bank) { return (uint64_t)1 << bank; }
static inline void put_bit(uint64_t *set, int bank, bool is_in) {
    *set = (*set & ~bit_of(bank)) | (uint64_t)is_in << bank;
}

static inline int32_t end_of(const struct hbm_banks *b, int list, int bank) {
    return b->capacity + list * HBM_BANKS_MOST + bank;
}
static inline int32_t first_in(const struct hbm_banks *b, int list, int bank) {
    return b->entries[end_of(b, list, bank)].next;
}

static void append(struct hbm_banks *b, int list, int32_t slot) {
    entry *e = &b->entries[slot];
    int32_t end = end_of(b, list, e->bank);
    e->age = b->age++;
    e->next = end;
    e->previous = b->entries[end].previous;
    b->entries[e->previous].next = b->entries[end].previous = slot;
}

static void remove_from_list(struct hbm_banks *b, const entry *e) {
    b->entries[e->previous].next = e->next;
    b->entries[e->next].previous = e->previous;
}

static inline int32_t *bucket_of(struct hbm_banks *b, uint64_t burst) {
    return &b->bucket[burst * 0x9E3779B97F4A7C15u >> 55];
}

/* The read, or the write, of the burst that is yet to be served. */
static int32_t find(struct hbm_banks *b, uint64_t burst, bool is_write) {
    int32_t slot = *bucket_of(b, burst);
    while (slot != NONE && (b->entries[slot].burst != burst || b->entries[slot].is_write != is_write))
        slot = b->entries[slot].same;
    return slot;
}

static int32_t make_entry(struct hbm_banks *b, const entry *e) {
    int32_t slot = b->free, *bucket = bucket_of(b, e->burst);
    b->free = b->entries[slot].same;
    b->entries[slot] = *e;
    b->entries[slot].same = *bucket;
    *bucket = slot;
    return slot;
}

static void free_entry(struct hbm_banks *b, int32_t slot) {
    int32_t *at = bucket_of(b, b->entries[slot].burst);
    while (*at != slot) at = &b->entries[*at].same;
    *at = b->entries[slot].same;
    b->entries[slot].same = b->free;
    b->free = slot;
}

#endif
