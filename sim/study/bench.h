/* How fast this host moves a tensor from one layout to another, beside copies of as many bytes. The times are
 * the host's, and the only results here that differ from run to run. */
#ifndef TILESIM_STUDY_BENCH_H
#define TILESIM_STUDY_BENCH_H

#include "move/move.h"
#include "study/transfer.h"

enum { TS_BENCH_MOST_BYTES = 1 << 30 }; /* a tensor */

typedef struct {
    ts_transfer_end src, dst;
    ts_move_options how;
    double seconds; /* about how long to measure */
} ts_bench;

typedef struct {
    int64_t elements, bytes; /* bytes: read and written, of the elements that arrive */
    int64_t boxes;
    bool gathers, streams;
    const char *why_gather;
    int rounds;          /* each times all three */
    double move_seconds; /* one, prepared, of the best round; so the others */
    double memcpy_seconds,
        stream_seconds; /* copies that read and write as many bytes; 0: this host has no such stores */
} ts_bench_result;

/* Where a side lies in its buffer: bits a step on each axis, and the bytes that all take. Axes lie one behind
 * the other, that of the last digit innermost, then those without digits. Refused: tensors of more than
 * TS_BENCH_MOST_BYTES, and those that begin below 0. */
bool ts_bench_place(ts_error *err, const ts_transfer_end *end, int64_t *bits, int64_t *bytes);

/* Moves of so many bytes in one sample: 16 MiB, but of small ones, which take long for their bytes, 2048. */
int ts_bench_times(int64_t bytes);

/* Of a move that is prepared once, with its plan, and done many times. Buffers on huge pages where the host has them,
 * read and written before they are timed. Refused: what ts_bench_place,
 * ts_transfer_plan and ts_dma_move refuse. */
bool ts_bench_run(ts_error *err, ts_arena *arena, const ts_bench *bench, ts_bench_result *result);

#endif
