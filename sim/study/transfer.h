/* What it costs to move a tensor from one layout to another on a machine. */
#ifndef TILESIM_STUDY_TRANSFER_H
#define TILESIM_STUDY_TRANSFER_H

#include "chip/energy.h"
#include "dma/price.h"
#include "machine/machine.h"
#include "study/core_program.h"

enum { TS_TRANSFER_ANYWHERE = -1 };

/* One end of a transfer: a tensor, or a box of its logical indices. */
typedef struct {
    const ts_shape *shape;
    const int64_t *begin, *sizes; /* of the slice, a value for each dim; both NULL: the whole tensor */
    const ts_source *text;        /* what errors point into; NULL when there is none */
    int64_t at;                   /* the byte of offset 0, or TS_TRANSFER_ANYWHERE */
} ts_transfer_end;

/* "[0:8, 3, :]": a range for each dim, the last ones may be left out. A range is "begin:end", either may be
 * left out, "begin:+size", or one index. Refused: ranges outside the dims, and empty ones. `begin` and
 * `sizes` take a value for each dim. */
bool ts_transfer_slice_parse(ts_error *err, ts_cursor *cursor, const ts_layout *layout, int64_t *begin,
                             int64_t *sizes);
/* "SHAPE", or "SHAPE" and a slice. */
bool ts_transfer_end_parse(ts_error *err, ts_arena *arena, const ts_source *text, ts_transfer_end *end);
/* Both of "SRC -> DST"; errors call the text `what`. The split ones are named "source of WHAT" and so on. */
bool ts_transfer_pair_split(ts_error *err, ts_arena *arena, const char *what, const char *text,
                            ts_source ends[2]);
bool ts_transfer_pair_parse(ts_error *err, ts_arena *arena, const char *what, const char *text,
                            ts_transfer_end ends[2]);
/* The canonical text, which parses back. */
const char *ts_transfer_end_text(ts_arena *arena, const ts_transfer_end *end);
/* The error, if it has no location yet, at byte `offset` of the end's text. Returns false. */
bool ts_transfer_end_error(ts_error *err, const ts_transfer_end *end, size_t offset);

typedef struct {
    const ts_machine *machine;
    ts_prices *prices;
    ts_transfer_end src, dst;
    bool exact;
    int64_t limit; /* as that of ts_plan_price */
} ts_transfer_request;

typedef struct {
    const ts_machine *machine;
    ts_transfer_end src, dst; /* placed */
    bool dst_placed;          /* by the caller */
    const ts_machine_memory *src_memory, *dst_memory;
    const ts_plan *plan;
    bool exact; /* as it was asked for */
    ts_dma_cost cost;
    ts_core_program by; /* where the engine cannot do it: what the core does instead */
} ts_transfer_study;

/* The memory of a shape is the one whose number its layout states, S(n); 0 is HBM. TS_TRANSFER_ANYWHERE: the
 * source begins at 0; so does the destination, unless both share a memory: then it begins behind the source,
 * at the next address where the memory lets a tensor begin. The sizes of the two must agree; between slices,
 * dims of 1 do not count. Refused: different sizes, what does not fit, overlaps, impossible conversions.
 * prices, exact: as ts_plan_price. */
bool ts_transfer_price(ts_error *err, ts_arena *arena, const ts_transfer_request *request,
                       ts_transfer_study *study);
/* The same in two steps: all but the cost, of which the study then lacks nothing but prices and a limit. */
bool ts_transfer_prepare(ts_error *err, ts_arena *arena, const ts_transfer_request *request,
                         ts_transfer_study *study);
bool ts_transfer_price_prepared(ts_error *err, ts_arena *scratch, ts_prices *prices, int64_t limit,
                                ts_transfer_study *study);

/* From issue to completion; a program of the core in place of the engine has no counts of operations. */
void ts_transfer_energy(const ts_transfer_study *study, ts_energy *energy);

/* Several transfers at once. */
typedef struct {
    const ts_machine *machine;
    int count;
    ts_transfer_study *alone;     /* [count] each one by itself */
    const ts_dma_result *results; /* [count] of each, together */
    int64_t one_after_other;      /* cycles */
    ts_dma_mix mix;
} ts_transfer_mix;

typedef struct {
    const ts_machine *machine;
    ts_prices *prices;
    ts_transfer_end (*ends)[2]; /* source and destination of each */
    int count;
    bool exact;
} ts_transfer_mix_request;

/* Where tensors are not placed, each begins behind those before in its memory. Refused: what the engine
 * cannot do by itself. */
bool ts_transfer_price_concurrent(ts_error *err, ts_arena *arena, const ts_transfer_mix_request *request,
                                  ts_transfer_mix *mix);

/* The plan between two ends whose tensors lie as the sides say; sizes as above. */
const ts_plan *ts_transfer_plan(ts_error *err, ts_arena *arena, const ts_transfer_end *src, ts_plan_side from,
                                const ts_transfer_end *dst, ts_plan_side to);

#endif
