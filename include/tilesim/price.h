/* Prices: what moving a tensor from one layout to another costs on a machine. */
#ifndef TILESIM_PRICE_H
#define TILESIM_PRICE_H

#include <stddef.h>

#include "tilesim/machine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    size_t struct_bytes; /* sizeof(ts_price_request); what is zero is the default */
    const ts_machine *machine;
    const char *source, *destination; /* shapes, or slices of them: "f32[64,256]{1,0}[0:8, :]" */
    int exact;                        /* simulate every access */
    int others;                       /* also what other layouts of both ends cost */
    /* Asked some times a second: not 0 ends it with an error. NULL: none. */
    int (*stopped)(void *context);
    void *context;
} ts_price_request;

typedef struct ts_price ts_price;

/* NULL on an error. */
TS_API const ts_price *ts_price_transfer(ts_error *err, ts_arena *arena, const ts_price_request *request);
TS_API int64_t ts_price_cycles(const ts_price *price); /* of the core's clock */
TS_API double ts_price_microseconds(const ts_price *price);
TS_API int64_t ts_price_useful_bytes(const ts_price *price);
TS_API int64_t ts_price_moved_bytes(const ts_price *price); /* at both ends, with padding and waste */
TS_API const char *ts_price_limiter(const ts_price *price); /* in words */
TS_API int ts_price_is_exact(const ts_price *price);        /* nothing was left out */
/* What `tilesim dma` prints, and what it prints with --json. */
TS_API const char *ts_price_text(ts_arena *arena, const ts_price *price);
TS_API const char *ts_price_json(ts_arena *arena, const ts_price *price);

#ifdef __cplusplus
}
#endif

#endif
