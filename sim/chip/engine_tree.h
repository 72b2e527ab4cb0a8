/* Private to engine_pool.c and chip_engine.c: what shared engines were asked, as trees. */
#ifndef TILESIM_CHIP_ENGINE_TREE_H
#define TILESIM_CHIP_ENGINE_TREE_H

#include "engine_pool.h"

#include <pthread.h>

typedef enum {
    ASK_START,
    ASK_EXPECT,
    ASK_FEED,
    ASK_NEXT,
    ASK_QUIET,
    ASK_COMPLETE,
    ASK_SETTLE,
    ASK_STATS
} asked;

/* What an engine was asked, behind all that its parents are, and the answer. */
typedef struct pool_node {
    struct pool_node *parent, *sibling, *children;
    asked what;
    int depth;
    int64_t cycle; /* of a start or a chunk; a limit; the tick to settle to; the least end of statistics */
    uint64_t hash[2];
    int64_t number; /* of what is expected, or fed */
    union {
        ts_dma_transfer transfer; /* that starts, or, but for its source, is expected */
        ts_dma_chunk chunk;
        struct {
            int64_t next, quiet;
        };
        ts_dma_result result;
    };
    ts_hbm_stats *stats;  /* of a completion with nothing under way: what was counted, */
    int64_t rest;         /* from which tick on the memory rests, */
    int direction;        /* and the direction of its buses */
    ts_hbm_stats *beyond; /* what was counted more than in a memory that did nothing; NULL: not known yet */
} pool_node;

/* What is expected of links, by its number of all on a tree. */
typedef struct {
    int64_t number;
    ts_dma_incoming *incoming;
} expected;

typedef struct pool_engine {
    struct pool_engine *next;
    ts_arena *arena;
    ts_hbm *hbm;
    ts_dma *dma;
    expected *expected;
    int expected_count, expected_room;
    const pool_node *head; /* the last that it was asked */
} pool_engine;

typedef struct held {
    struct held *next;
    ts_arena *arena;
} held;

/* A tree, from a start of memories that rest on. */
typedef struct pool_tree {
    struct pool_tree *next;
    int64_t cycle;
    int direction;
    uint64_t hash[2];
    int64_t chips;        /* on it */
    pthread_mutex_t lock; /* of all below; taken before that of the pool */
    ts_arena *arena;
    pool_node root;
    pool_engine *engines;
    held *plans;
} pool_tree;

enum { POOL_BUCKETS = 1 << 10 };

struct ts_engine_pool {
    ts_arena *arena;
    const ts_dma_machine *machine;
    int share;            /* of the channels one in so many is simulated */
    pool_engine *model;   /* its HBM is never offered anything */
    pthread_mutex_t lock; /* of what follows */
    pool_tree *trees[POOL_BUCKETS], *spare_trees;
    pool_engine *spare_engines;
    int64_t engines; /* made */
};

/* Where a chip is. */
typedef struct {
    ts_engine_pool *pool;
    pool_tree *tree;
    pool_node *at;
} pool_position;

pool_engine *pool_make_engine(ts_error *err, const ts_dma_machine *machine, int share);
void pool_free_engines(pool_engine *list);
int pool_share_of(const ts_dma_machine *machine, bool exact);
/* arena: for what is counted where nothing is under way; NULL: nobody asks for that. */
void pool_ask_engine(pool_engine *e, ts_arena *arena, pool_node *n);
bool pool_complete(pool_engine *e, ts_arena *arena, pool_node *n);

pool_tree *pool_join(ts_engine_pool *pool, const pool_tree *key);
void pool_leave(ts_engine_pool *pool, pool_tree *tree);
/* arena: of the plan of a start, to be kept with it where it is not known yet. */
pool_node *pool_ask(const pool_position *from, const pool_node *question, ts_arena **arena);
pool_engine *pool_part(const pool_position *from); /* from here on the engine is the chip's own */
/* What was counted more than in a memory that did nothing. The first takes the engine back. */
void pool_count_beyond(ts_engine_pool *pool, pool_engine *e, int64_t tick, ts_hbm_stats *beyond);
void pool_count_at(const pool_position *from, int64_t tick, ts_hbm_stats *beyond);

#endif
