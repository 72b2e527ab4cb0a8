/* Arenas: the only allocator. Three lifetimes (load, run, scratch); everything in one is freed together. */
#ifndef TILESIM_BASE_ARENA_H
#define TILESIM_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "tilesim/arena.h"

/* Zeroed, aligned to 16 bytes, never NULL. `count * size` is checked. Under ASan, or where the library is
 * compiled with TS_ARENA_SEPARATE, each allocation is its own malloc. */
void *ts_arena_alloc(ts_arena *arena, size_t count, size_t size);
/* A larger copy of an array; the old one stays valid and is freed with the arena. */
void *ts_arena_grow(ts_arena *arena, const void *old, size_t old_count, size_t new_count, size_t size);
/* The same with room for one more of `count` items, where there is none: room doubles at powers of two. For
 * arrays that begin empty and grow by nothing else. */
void *ts_arena_extend(ts_arena *arena, void *items, size_t count, size_t size);
char *ts_arena_copy_text(ts_arena *arena, const char *text, size_t length); /* adds the NUL */

/* A count that the host cannot address becomes one that is refused. */
static inline size_t ts_arena_count(int64_t count) {
    return count < 0 || (uint64_t)count > SIZE_MAX ? SIZE_MAX : (size_t)count;
}

#define TS_NEW(arena, type) ((type *)ts_arena_alloc((arena), 1, sizeof(type)))
#define TS_NEW_ARRAY(arena, type, count)                                                                     \
    ((type *)ts_arena_alloc((arena), ts_arena_count((int64_t)(count)), sizeof(type)))
#define TS_COPY_ARRAY(arena, items, count)                                                                   \
    ts_arena_grow((arena), (items), (size_t)(count), (size_t)(count), sizeof *(items))
/* The address of a new item behind the `count` of an array that grows by nothing else. */
#define TS_APPEND(arena, items, count)                                                                       \
    ((items) = ts_arena_extend((arena), (items), (size_t)(count), sizeof *(items)), &(items)[(count)++])

#endif
