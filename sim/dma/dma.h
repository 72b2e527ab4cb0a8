/* The DMA engine: transfers in, bytes moved and the cycle of completion out. One stepper, used by the chip
 * and, with one transfer from a state of rest, by ts_dma_price: there is no second formula.
 *
 * Cycles are the core's. A transfer waits for one of `queues`; after its issue cost it offers the accesses of
 * its plan (dma/traversal.h) to the HBM, as far ahead as look-ahead, bytes in flight and the engine's rate
 * allow; its bytes move at its completion, in one step, so that values never depend on how time is computed.
 * Equal completions are in order of issue. */
#ifndef TILESIM_DMA_DMA_H
#define TILESIM_DMA_DMA_H

#include "base/interrupt.h"
#include "move/move.h"
#include "dma/traversal.h"
#include "machine/dma_config.h"
#include "dram/hbm_alike.h"

/* One end: the space its bytes are in (NULL when only time is wanted), and whether the HBM model serves
 * it. */
typedef struct {
    ts_space *space;
    bool in_hbm;
    int64_t partition_bits; /* ts_space_partition_bits; 0: no partitions */
} ts_dma_end;

typedef struct {
    const ts_plan *plan;
    ts_dma_end src, dst;
    int64_t tag;    /* the caller's; comes back at completion */
    int priority;   /* 0 goes first; where the machine arbitrates by priority */
    uint64_t shift; /* of its locations in the HBM (ts_hbm_trace); 0: they are what the address map says */
} ts_dma_transfer;

typedef struct {
    int64_t tag, issued_cycle, started_cycle, completed_cycle;
    int64_t useful_bytes;         /* the valid elements, counted once: at the end where they are larger */
    int64_t src_bytes, dst_bytes; /* moved at each end: whole lines of HBM, elements elsewhere */
    int64_t padding_bytes;        /* of the moved ones, elements that are padding travelling along */
    int64_t waste_bytes;          /* of the moved ones, parts of lines that were not asked for */
    int64_t rmw_lines, runs, descriptors;
    int64_t engine_cycles; /* the engine's rate alone would have taken */
    ts_dma_kind kind;
    void *incoming; /* of what ts_dma_expect was told of: its owner; else NULL */
} ts_dma_result;

typedef struct ts_dma ts_dma;

/* hbm may be NULL when no transfer touches HBM. core_khz: of the cycles; hbm_tick_khz: of the HBM model's. */
ts_dma *ts_dma_new(ts_arena *arena, const ts_dma_config *config, ts_hbm *hbm, int64_t core_khz,
                   int64_t hbm_tick_khz);
void ts_dma_free(ts_dma *dma);  /* what transfers keep; the rest belongs to the arena. NULL is fine */
void ts_dma_reset(ts_dma *dma); /* of which nothing is under way: cycle 0, the HBM as well */
bool ts_dma_can_start(const ts_dma *dma); /* fewer than `descriptors` under way */
/* cycle: not before any cycle given before. Refused: overlaps and addresses (ts_dma_check), a kind that the
 * engine cannot do (TS_ERROR_UNMODELLED). */
bool ts_dma_start(ts_error *err, ts_dma *dma, const ts_dma_transfer *transfer, int64_t cycle);
/* Works until the first completion, but not past `limit`: the caller may start another transfer there.
 * Returns the cycle of the next completion if it is known to be at most `limit`, else INT64_MAX. */
int64_t ts_dma_next(ts_dma *dma, int64_t limit);
/* After ts_dma_next(dma, limit) knew of no completion up to `limit`: none comes before this cycle unless
 * another transfer is started. INT64_MAX: none is under way. */
int64_t ts_dma_quiet_until(const ts_dma *dma, int64_t limit);
/* What of the transfer's requests counts for its time, and that of others, in a memory like this one. */
void ts_dma_trace(const ts_dma_config *config, const ts_hbm *hbm, const ts_dma_transfer *transfer,
                  ts_hbm_trace *trace);
/* Moves the bytes of the transfer that ts_dma_next announced, and takes it off. */
bool ts_dma_complete(ts_error *err, ts_dma *dma, ts_dma_result *result);
int ts_dma_under_way(const ts_dma *dma);

/* What comes over links is written beside the engine: it takes no queue, descriptor or time of it, but its
 * writes share the channels of the HBM. They are offered in the cycle in which all bytes of a block are
 * there, in the order of cycles, of equal ones in that in which they were told of, behind what the engine
 * does in that cycle; what has come is complete when its last write, and those before it, were accepted. */
typedef struct ts_dma_incoming ts_dma_incoming;
/* The elements of the plan's destination, in its order; the plan must live until that is complete. */
ts_dma_incoming *ts_dma_expect(ts_dma *dma, const ts_plan *plan, void *owner);
void ts_dma_incoming_shift(ts_dma_incoming *incoming,
                           uint64_t shift); /* as that of a transfer; before it is fed */
typedef struct {
    int64_t bytes, cycle; /* so many more are there from that cycle on, which nobody has worked up to yet */
    bool last;            /* the last chunk: all bytes are there, padding too */
    bool passed;          /* over: its writes are not offered */
} ts_dma_chunk;
void ts_dma_feed(ts_dma *dma, ts_dma_incoming *incoming, const ts_dma_chunk *chunk);

/* Skipping: while one transfer is alone, blocks between positions where their time was measured
 * (sim/dma/sampler.h) are left out and their time is added. hbm: of the whole memory. The stats of what was
 * left out are added by ts_dma_add_skipped. */
void ts_dma_set_skipping(ts_dma *dma, const ts_hbm_config *hbm);
/* In cycles. One that takes longer, as windows tell or as has passed, ends early: it takes so many cycles at
 * least (else 0), and its end says nothing. */
void ts_dma_set_limit(ts_dma *dma, int64_t limit);
int64_t ts_dma_over_cycles(const ts_dma *dma);
/* Once it is heard, transfers make no more requests: they end, and their ends say nothing. */
void ts_dma_set_interrupt(ts_dma *dma, ts_interrupt *interrupt);
void ts_dma_add_skipped(const ts_dma *dma, ts_hbm_stats *stats, bool *any);

/* As what the engine does a plan: where it cannot do the kind in a stream, it moves element by element, as a
 * gather. */
ts_dma_kind ts_dma_kind_done(const ts_dma_config *config, const ts_plan *plan);

/* Bytes a cycle through the engine of a transfer of that kind: less where reads of the HBM are slower. */
int64_t ts_dma_rate(const ts_dma_config *config, ts_dma_end src, ts_dma_kind kind);
/* Refused (TS_ERROR_UNMODELLED): a kind that the engine cannot do, nor gather. */
bool ts_dma_check_kind(ts_error *err, const ts_dma_config *config, const ts_plan *plan);
ts_dma_kind ts_dma_classify(const ts_plan *plan);
const char *ts_dma_kind_text(ts_dma_kind kind);

#endif
