/* Moving the bytes of a plan. */
#ifndef TILESIM_MOVE_MOVE_H
#define TILESIM_MOVE_MOVE_H

#include "layout/plan.h"
#include "memory/space.h"

/* Moves every element, converting where the types differ (layout/convert.h has the rules). Padding that both
 * sides share travels; other bits of the destination keep what they held. The poison of a source element goes
 * with it. Refused before anything moves: types with no conversion, addresses outside a space, two sides that
 * overlap. */
bool ts_dma_move(ts_error *err, const ts_plan *plan, ts_space *src, ts_space *dst);

/* Versions of the kernels that move; all give the same bits. */
typedef struct ts_kernels ts_kernels;
enum { TS_KERNELS_PORTABLE, TS_KERNELS_AVX2, TS_KERNELS_AVX512, TS_KERNELS_COUNT };
const ts_kernels *ts_kernels_get(int version); /* NULL where this host cannot run them */
const ts_kernels *ts_kernels_best(void);       /* what ts_dma_move takes */
const char *ts_kernels_name(int version);      /* "avx2" */
/* Copies of bytes, the memories apart, with stores that pass the caches; false where the kernels have
 * none. */
bool ts_kernels_stream_copy(const ts_kernels *kernels, void *dst, const void *src, int64_t bytes);

typedef enum {
    TS_STORES_BY_SIZE, /* past the caches when source and destination, `alike` times, are more than half of the
                          last one */
    TS_STORES_ORDINARY,
    TS_STORES_STREAMING,
} ts_move_stores;

typedef struct {
    const ts_kernels *kernels; /* NULL: by the definition, element by element */
    ts_move_stores stores;
    int threads;   /* as many at most, fewer where they do not pay; 0 and 1: the caller alone */
    int64_t alike; /* so many such moves come in a row, between other memories; 0 and 1: this one alone */
} ts_move_options;

/* A move that is prepared once, with its plan, and done many times: what does not depend on the addresses,
 * which kernels move what, is found when it is first done. */
typedef struct ts_prepared_move ts_prepared_move;
typedef struct {
    ts_space *space;
    int64_t shift_bytes; /* behind the plan's addresses */
} ts_move_end;
/* The plan must outlive it. */
ts_prepared_move *ts_move_prepare(ts_arena *arena, const ts_plan *plan, const ts_move_options *options);
/* Finds that at once, for ends as these, whose bytes are not touched: ts_move_execute between others that are
 * as large puts nothing into the arena then. Refused is what it would refuse. */
bool ts_move_make_ready(ts_error *err, ts_prepared_move *move, ts_move_end src, ts_move_end dst);
/* By one thread at a time. */
bool ts_move_execute(ts_error *err, ts_prepared_move *move, ts_move_end src, ts_move_end dst);

/* ts_dma_move in another way, prepared and done once; the result is the same. */
bool ts_dma_move_with(ts_error *err, const ts_plan *plan, ts_space *src, ts_space *dst,
                      const ts_move_options *options);
/* Whether such a move uses streaming stores. */
bool ts_dma_move_streams(const ts_plan *plan, const ts_move_options *options);

/* The same for the shadows alone, where `dst` has one: part of ts_dma_move. */
void ts_dma_move_shadow(const ts_plan *plan, const ts_space *src, ts_space *dst);
/* The first element in the order of the plan that the source holds undefined, as the bits where it lies and
 * arrives. */
bool ts_dma_find_poison(const ts_plan *plan, const ts_space *src, int64_t *src_bit, int64_t *dst_bit);

/* The checks alone. */
bool ts_dma_check(ts_error *err, const ts_plan *plan, const ts_space *src, const ts_space *dst);

#endif
