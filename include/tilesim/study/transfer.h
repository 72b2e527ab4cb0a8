/* What it costs to move a tensor from one layout to another on a machine. */
#ifndef TILESIM_STUDY_TRANSFER_H
#define TILESIM_STUDY_TRANSFER_H

#include "tilesim/dma/price.h"
#include "tilesim/machine/machine.h"

enum { TS_TRANSFER_ANYWHERE = -1 };

typedef struct {
    const ts_machine *machine;
    bool by_default; /* the user named no machine; set by the caller */
    const ts_shape *src, *dst;
    const ts_machine_memory *src_memory, *dst_memory;
    int64_t src_at, dst_at; /* byte addresses of offset 0 */
    const ts_plan *plan;
    ts_dma_cost cost;
} ts_transfer_study;

/* The memory of a shape is the one whose number its layout states, S(n); 0 is HBM. TS_TRANSFER_ANYWHERE: the source
 * begins at 0; so does the destination, unless both share a memory: then it begins behind the source, at the next
 * place where the memory lets a tensor begin. Refused: different shapes, what does not fit, overlaps, impossible
 * conversions. exact: as ts_dma_price. */
bool ts_transfer_price(ts_error *err, ts_arena *arena, const ts_machine *machine, const ts_shape *src,
                       const ts_shape *dst, int64_t src_at, int64_t dst_at, bool exact, ts_transfer_study *study);

/* Microseconds of so many core cycles of the machine. */
double ts_machine_microseconds(const ts_machine *machine, int64_t cycles);

#endif
