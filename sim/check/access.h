/* An access of VMEM or SMEM by a core: what races and the findings about inputs are told of. */
#ifndef TILESIM_CHECK_ACCESS_H
#define TILESIM_CHECK_ACCESS_H

#include "isa/isa.h"
#include "memory/space.h"

/* Of bytes first .. end - 1, by an instruction that issues at `cycle`. */
typedef struct {
    const ts_instruction *instruction;
    const ts_space *space;
    int64_t first, end;
    bool writes;
    int64_t cycle;
    const uint32_t *mask; /* of a store: words of mask 0 are not written; NULL: all may be */
} ts_access;

/* A word of SMEM that is read outside of its array, of bytes first .. end - 1. */
typedef struct {
    const ts_instruction *instruction;
    int64_t address;
    const char *array;
    int64_t first, end;
    int64_t cycle;
} ts_outside_read;

#endif
