/* The scalars that an instruction reads: those that steer, which must be defined and known, and those of
 * which a value is made. */
#ifndef TILESIM_CHECK_SCALARS_H
#define TILESIM_CHECK_SCALARS_H

#include "base/arena.h"
#include "isa/isa.h"

/* Numbers of sregs, in the order of the operands; one that is read twice is there twice. */
typedef struct {
    const int *controls, *values;
    int control_count, value_count;
} ts_scalar_use;

/* Controls are the sregs of addresses, semaphores and slices, and with TS_SHADOW_CONTROL all others. */
void ts_scalar_use_of(ts_arena *arena, const ts_code *code, const ts_instruction *instruction,
                      ts_scalar_use *use);

#endif
