/* Collectives: one movement between two shardings of an array, as steps of transfers from device to device.
 * The same transfers are priced, shown, and made with real bytes.
 *
 * In a ring every device sends to its neighbour what it got in the step before (Patarasuk and Yuan,
 * "Bandwidth optimal all-reduce algorithms", 2009); the rings of a torus work on a share of the data each,
 * the dims in turns, so that all links are busy (Jain and Sabharwal, "Optimal bucket algorithms for large MPI
 * collectives on torus interconnects", 2010). Shares are as large as makes the links of all dims equally
 * busy; they go through their rings in chunks, one behind the other, so that no dim waits for a longer one.
 *
 * Rings that are gone round at the same time are a phase; phases are barriers. A phase takes the hops of its
 * longest ring, step by step, and the time of its busiest link. */
#ifndef TILESIM_MESH_COLLECTIVE_H
#define TILESIM_MESH_COLLECTIVE_H

#include "mesh/sharding.h"

typedef enum {
    TS_COLLECTIVE_SLICE, /* a copy keeps a part of itself: nothing moves */
    TS_COLLECTIVE_PERMUTE,
    TS_COLLECTIVE_ALL_TO_ALL,
    TS_COLLECTIVE_POINT_TO_POINT, /* what is neither of the two */
    TS_COLLECTIVE_REDUCE_SCATTER,
    TS_COLLECTIVE_ALL_GATHER,
    TS_COLLECTIVE_ALL_REDUCE,
    TS_COLLECTIVE_KIND_COUNT
} ts_collective_kind;
const char *ts_collective_name(ts_collective_kind kind); /* "all-gather" */

typedef enum {
    TS_ALGORITHM_DIRECT, /* all at once, each to where it belongs */
    TS_ALGORITHM_RING,
    TS_ALGORITHM_BIDIRECTIONAL, /* half of the data either way */
    TS_ALGORITHM_TORUS,         /* both ways, in each digit of the group at once */
    TS_ALGORITHM_TWO_RINGS, /* both ways, in two rings of all devices without a common link; not everywhere */
    TS_ALGORITHM_COUNT
} ts_algorithm;
const char *ts_algorithm_name(ts_algorithm algorithm); /* "bidirectional ring" */
/* By its word: "bidirectional"; `what` is what the error calls it. */
bool ts_algorithm_find(ts_error *err, const char *what, const char *word, ts_algorithm *algorithm);

typedef struct {
    const ts_mesh *mesh;
    ts_collective_kind kind;
    ts_algorithm algorithm;
    ts_sharding before, after; /* same digits, which may differ in what they select */
    int group_count;
    int group[TS_SHARDING_MAX_DIGITS]; /* digits whose devices talk to each other */
    int chunks;                        /* in which a share goes through the rings of a torus; 0: one */
    /* Of a permute that is given as pairs, source and destination, of which each moves so many bytes; else
     * NULL. */
    const int64_t (*pairs)[2];
    int64_t pair_count, pair_bytes;
} ts_collective;

/* What goes from one device to another in a step, to be stored there, or added: of all that `owner` holds
 * under `held`, a share. Shares are taken where the elements lie in the end, or lay in the beginning: of the
 * n elements that a device has under `parts`, in row-major order, those from n * first / of to n * (first +
 * count) / of. */
typedef struct {
    int64_t source, destination;
    bool adds;
    const ts_sharding *held, *parts;
    int64_t owner;
    int64_t first, count, of;
    int64_t times;       /* that it is made in a row: 1 where every_step */
    int64_t bytes;       /* with padding: every device's share is as large as the largest */
    const int64_t *only; /* of direct transfers: which runs of the dims, for who moves them; else NULL */
} ts_collective_transfer;

typedef struct {
    void *self;
    bool every_step;        /* else phases, of those that are alike the first, and of a ring its first step */
    bool first_device_only; /* of direct transfers: what device 0 gets, as all do where dims divide evenly */
    /* `times` phases like this one begin; 1, a step of all rings, where every_step. */
    void (*step)(void *self, int64_t times);
    void (*transfer)(void *self, const ts_collective_transfer *transfer);
} ts_collective_visitor;
void ts_collective_visit(ts_arena *scratch, const ts_collective *collective,
                         const ts_collective_visitor *visitor);

int64_t ts_collective_members(const ts_collective *collective); /* devices of a group */

/* The digits of both that one number of devices has: cut where either is. False: they have no common cuts. */
bool ts_sharding_refine(ts_sharding *a, ts_sharding *b);
/* Cuts digits where the dims of the topology are, as far as they can be: so that rings go round one dim
 * each. */
void ts_sharding_cut_at_dims(ts_sharding *a, ts_sharding *b, const ts_mesh *mesh);

typedef struct {
    int64_t steps, transfers;
    int64_t sent_bytes;   /* of all transfers, once each */
    int64_t link_bytes;   /* over the busiest link */
    int64_t visited;      /* direct transfers that were looked at one by one */
    int64_t hops;         /* of the longest route of each step, added up */
    double ps, bound_ps;  /* bound: no schedule is faster; see ts_collective_price */
    const int64_t *loads; /* bytes over each link */
} ts_collective_price;

/* From launch to the last byte. The bound is the larger of two: bytes that a device must receive (or send)
 * over all links of its chip, and, where every byte is wanted once, bytes that must cross the middle of a dim
 * over its links. */
void ts_collective_measure(ts_arena *arena, const ts_collective *collective, ts_collective_price *price);

/* Which of the algorithms may be taken; none is forced: the fastest. */
typedef struct {
    bool forced;
    ts_algorithm algorithm;
} ts_algorithm_choice;
/* Sets the algorithm, and measures. */
void ts_collective_choose(ts_arena *arena, ts_algorithm_choice choice, ts_collective *collective,
                          ts_collective_price *price);

/* A collective as compiled programs write it. */
typedef struct {
    const ts_mesh *mesh;
    ts_collective_kind kind;
    /* Of the result on each device. */
    int64_t bytes;
    /* HLO's replica_groups: "{{0,1},{2,3}}", "[2,4]<=[8]", "mesh['x'=2,'y'=4] {'y'}", "{}" for all; of a
     * permute its source_target_pairs "{{0,1},{1,0}}". */
    ts_source groups;
} ts_collective_request;
bool ts_collective_read(ts_error *err, ts_arena *arena, const ts_collective_request *request,
                        ts_collective *out);

#endif
