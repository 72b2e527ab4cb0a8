/* Transfers that the DMA engine of a machine cannot do: the core does them, by programs that are shipped. */
#ifndef TILESIM_STUDY_CORE_PROGRAM_H
#define TILESIM_STUDY_CORE_PROGRAM_H

#include "study/prices.h"

typedef struct {
    const ts_machine *machine;
    ts_prices *prices;
    const ts_plan *plan;
    ts_dma_end src, dst;
    bool exact;    /* every access is simulated, every program run whole */
    int64_t limit; /* cycles; 0: none. What is surely over it is not priced: cost->is_over */
} ts_plan_price_request;

typedef struct {
    const char *program;    /* "programs/transpose.tsim"; NULL: the engine does it */
    const char *parameters; /* "-D TYPE=f32 -D ROWS=128", as `tilesim run` takes them */
    ts_dma_kind kind;       /* of the transfer: what the engine cannot do, where it does not */
    const char *status;     /* of the machine's rate for it: "assumed" */
    const char *slower;     /* where the engine does it: the program that takes longer; NULL: none does it */
    int64_t slower_cycles;
} ts_core_program;

/* As ts_dma_price. A kind whose rate the machine states as 0 costs what the program takes that does it with
 * the core (cost->transfer.kind is then TS_DMA_CORE_PROGRAM), run with time only; of a large one some blocks
 * are run, and the rest goes on at the pace of their middle. What no shipped program does, or does in longer,
 * the engine moves element by element; refused (TS_ERROR_UNMODELLED): where its gather rate is 0 as well and
 * no program does it. The texts in `by` belong to `prices`. Surely over a limit is what moves more bytes, or
 * takes longer in the engine or by windows of it that agree, than that; and a program whose first blocks take
 * so long that all would still be over it if they were TS_LIMIT_PERCENT faster. */
enum { TS_LIMIT_PERCENT = 20 };
bool ts_plan_price(ts_error *err, ts_arena *scratch, const ts_plan_price_request *request, ts_dma_cost *cost,
                   ts_core_program *by);

/* "dma.rate.transpose", and what the machine says of where the figure comes from. */
const char *ts_dma_rate_field(ts_dma_kind kind);

#endif
