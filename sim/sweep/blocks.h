/* The block sizes of a program ranked by its time: a study made of names and values. */
#ifndef TILESIM_SWEEP_BLOCKS_H
#define TILESIM_SWEEP_BLOCKS_H

#include "sweep/answers.h"

typedef struct {
    const char *program;               /* a path; $NAME in it is the value of that block size */
    const char *machine;               /* a name, or a path */
    const char *const *sets;           /* what of it is changed: "hbm.stacks=4" */
    const ts_define *defines, *blocks; /* of the blocks the values, with commas between them */
    int set_count, define_count, block_count;
    int workers;
    bool exact;
    void (*progress)(void *self, int64_t done, int64_t of, int64_t answered); /* NULL: none */
    void *self;
} ts_sweep_blocks_request;

/* Rows of one table: those with a time, the shortest first; those whose tensors do not fit; those with another error. */
typedef struct {
    ts_sweep_table fast, misfits, failed;
} ts_sweep_blocks;

bool ts_sweep_rank_blocks(ts_error *err, ts_arena *arena, const ts_sweep_blocks_request *request,
                          ts_sweep_blocks *blocks);

#endif
