/* Transfers of a chip, without the chip: rows of 512 bytes of an HBM2 that are read or written. */
#ifndef TESTS_SUPPORT_TRAFFIC_SIDE_H
#define TESTS_SUPPORT_TRAFFIC_SIDE_H

#include "chip/traffic_state.h"
#include "tests/support/hbm2.h"

enum { STARTS = 3, ROW = 512, BURST = 32 };

extern const ts_dma_machine side_machine;

typedef struct {
    int64_t at; /* cycles behind the begin of a busy period */
    int rows;   /* of 512 bytes; 0: no start */
    bool is_write;
} start;

typedef struct {
    ts_arena *arena;
    traffic *t;
    int64_t tag;
} side;

side side_open(int64_t chips);
void side_close(side *s);
const ts_plan *side_plan(ts_arena *arena, const start *s);
void side_begin(side *s, const start *what, int64_t cycle);
ts_dma_result side_complete(side *s);
int side_run(side *s, const start *starts, int64_t from, ts_dma_result *results);
int64_t side_recalled(const side *s);
ts_hbm_stats side_stats(const side *s);

#endif
