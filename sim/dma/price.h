/* What one transfer costs: the engine and the HBM of dma.h with this transfer alone, from rest (rows closed,
 * refresh phase 0) until they are idle again. */
#ifndef TILESIM_DMA_PRICE_H
#define TILESIM_DMA_PRICE_H

#include "dma/breakdown.h"
#include "dma/dma.h"
#include "machine/machine.h"

/* Prices that were asked before: a search asks the same again and again. An answer takes microseconds, and is
 * what simulating gives, to the bit. A question is the same when the machine's figures, the transfer's boxes,
 * their addresses and its ends are, whatever the layouts are called; one with many boxes, or that gathers, is
 * priced again. Threads may ask at once. */
typedef struct ts_dma_prices ts_dma_prices;
ts_dma_prices *ts_dma_prices_new(ts_arena *arena);

typedef struct {
    const ts_dma_config *dma;
    const ts_hbm_config *hbm;
    int64_t core_khz;
    ts_dma_prices *prices;   /* or NULL: none are kept */
    ts_interrupt *interrupt; /* or NULL; asked while a price is made, by one thread: heard, it is an error */
} ts_dma_machine;

/* Of a machine under load, which must outlive it. */
ts_dma_machine ts_dma_machine_of(const ts_machine *machine, ts_dma_prices *prices);

typedef struct {
    ts_dma_result transfer;
    ts_hbm_stats hbm;
    int64_t cycles;        /* of the core, issue to completion */
    int64_t fixed_cycles;  /* issue, further descriptors, completion */
    int64_t engine_cycles; /* its data at the engine's rate */
    int64_t memory_cycles; /* its lines at the HBM's peak */
    /* Where the cycles went: they add up to `cycles` (sim/dma/breakdown_private.h has the rule). */
    int64_t components[TS_DMA_COMPONENT_COUNT];
    ts_dma_limit limit;  /* what limits it */
    const char *limiter; /* the same in words */
    bool estimated;      /* not every access was simulated, or not the whole program run */
    bool is_over; /* over the limit, and not priced: it takes `cycles` at least, nothing else is known */
} ts_dma_cost;

/* Of up to so many bytes accessed in HBM, every access of every channel is simulated. */
enum { TS_DMA_PRICE_SIMULATED_BYTES = 2 << 20 };

typedef struct {
    const ts_dma_machine *machine;
    const ts_plan *plan;
    ts_dma_end src, dst; /* their spaces are not used; one that is not in HBM is served by the engine alone */
    bool exact;          /* simulate every access */
} ts_dma_price_request;

/* Unless exact, a larger transfer is simulated on a part of the memory's channels (ts_hbm_new_subset), and
 * long boxes only at some positions, of a refresh interval each; docs/timing.md says how far from the exact
 * answer that may be. */
bool ts_dma_price(ts_error *err, ts_arena *scratch, const ts_dma_price_request *request, ts_dma_cost *cost);
/* The same; what surely takes more than `limit` cycles (0: no limit), by its bound, by windows that agree or
 * by what has passed, is not priced: cost->is_over. */
bool ts_dma_price_within(ts_error *err, ts_arena *scratch, const ts_dma_price_request *request, int64_t limit,
                         ts_dma_cost *cost);

/* That it takes so many cycles at least, which are over what was asked for. */
ts_dma_cost ts_dma_cost_over(int64_t least_cycles, ts_dma_kind kind);

/* No price is less: the least bytes at the HBM's peak or all at the engine's rate, and the fixed cost. */
int64_t ts_dma_price_bound(const ts_dma_price_request *request);
/* The bytes that it reads and writes in HBM at least: of all elements, those at several places once. */
int64_t ts_dma_least_bytes(const ts_dma_price_request *request);

/* One channel of HBM in so many stands for the others (memory/hbm.h): the most that is tried first. */
int ts_dma_first_sampling_factor(const ts_dma_machine *machine);
/* A part of the HBM that gets exactly its share of every access: one channel in *share, which is lowered,
 * down to 1, until that holds. */
ts_hbm *ts_dma_new_subset(ts_error *err, ts_arena *arena, const ts_dma_machine *machine, int *share);

/* Core cycles that all channels together need for so many bytes at their peak. */
int64_t ts_dma_peak_cycles(const ts_dma_machine *m, int64_t bytes);
/* What a transfer that moves so many bytes to and from HBM takes alone at least: the fixed cost, then its
 * data at the engine's rate or its bytes at the HBM's peak, whichever is slower. */
int64_t ts_dma_least_cycles(const ts_dma_machine *machine, const ts_dma_result *transfer, int64_t hbm_bytes);

/* Several transfers that start at once. */
typedef struct {
    int64_t cycles;        /* until the last is done */
    int64_t memory_cycles; /* the floor: pin_bytes at the HBM's peak */
    int64_t engine_cycles; /* all data at the engine's rates */
    int64_t moved_bytes;   /* to and from HBM */
    int64_t pin_bytes;     /* of these: not of bursts that its queues answer */
    bool estimated;        /* not every channel was simulated */
    ts_hbm_stats hbm;
} ts_dma_mix;

typedef struct {
    const ts_dma_machine *machine;
    const ts_dma_transfer *transfers; /* tags and spaces are not used */
    int count;
    bool exact; /* else on a part of the channels */
} ts_dma_mix_request;

/* results[i] is of transfers[i]. */
bool ts_dma_price_concurrent(ts_error *err, ts_arena *scratch, const ts_dma_mix_request *request,
                             ts_dma_result *results, ts_dma_mix *mix);

/* The cost breakdown of a program of the core that does what the engine cannot. Given in *cost: cycles, hbm,
 * and in transfer useful, src and dst bytes (of HBM), padding and waste. Of its cycles the core works or
 * waits for itself core_cycles, most of them for what core_limiter says. */
void ts_dma_break_down_program(const ts_dma_machine *machine, int64_t core_cycles, const char *core_limiter,
                               ts_dma_cost *cost);

#endif
