/* Memory: everything that the library makes lives in an arena and goes with it. */
#ifndef TILESIM_ARENA_H
#define TILESIM_ARENA_H

#include <stddef.h>

#include "tilesim/version.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ts_arena ts_arena;

TS_API ts_arena *ts_arena_new(void);
TS_API void ts_arena_free(ts_arena *arena);  /* NULL is fine */
TS_API void ts_arena_reset(ts_arena *arena); /* everything in it is gone; its memory is kept for reuse */

/* Called when the system has no more memory; must not return. The library's own aborts; a program has another
 * by defining a function of this name: the linker takes that one. */
TS_API TS_NORETURN void ts_out_of_memory(size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
