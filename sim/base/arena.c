/* Arenas: chunks that fill up, are kept over a reset, and are freed together. */
#include "base/arena.h"

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SEPARATE true
#endif
#endif
#if !defined(SEPARATE) && (defined(__SANITIZE_ADDRESS__) || defined(TS_ARENA_SEPARATE))
#define SEPARATE true
#elif !defined(SEPARATE)
#define SEPARATE false
#endif

enum { ALIGNMENT = 16, FIRST_CHUNK_BYTES = 16 << 10, LARGEST_CHUNK_BYTES = 1 << 20 };

typedef struct chunk {
    struct chunk *next;
    size_t bytes, used;
    size_t dirty; /* bytes below this may be non-zero: they were used before a reset */
    alignas(ALIGNMENT) unsigned char data[];
} chunk;

struct ts_arena {
    chunk *current; /* allocations come from here; NULL at first */
    chunk *full;
    chunk *spare; /* kept by a reset */
    size_t chunk_bytes;
    bool separate; /* each allocation has a chunk of its own size, so that ASan sees its end */
};

__attribute__((weak)) void ts_out_of_memory(size_t bytes) {
    (void)bytes;
    abort();
}

static void *allocate(size_t bytes) {
    void *memory = calloc(1, bytes);
    if (!memory) ts_out_of_memory(bytes);
    return memory;
}

ts_arena *ts_arena_new(void) {
    ts_arena *arena = allocate(sizeof *arena);
    arena->chunk_bytes = FIRST_CHUNK_BYTES;
    arena->separate = SEPARATE;
    return arena;
}

static void free_chunks(chunk *list) {
    while (list) {
        chunk *next = list->next;
        free(list);
        list = next;
    }
}

void ts_arena_free(ts_arena *arena) {
    if (!arena) return;
    free_chunks(arena->current);
    free_chunks(arena->full);
    free_chunks(arena->spare);
    free(arena);
}

static void push(chunk **list, chunk *item) {
    item->next = *list;
    *list = item;
}

static chunk *pop(chunk **list) {
    chunk *item = *list;
    *list = item->next;
    item->next = NULL;
    return item;
}

void ts_arena_reset(ts_arena *arena) {
    if (arena->current) push(&arena->full, pop(&arena->current));
    while (arena->full) {
        chunk *item = pop(&arena->full);
        if (item->dirty < item->used) item->dirty = item->used;
        item->used = 0;
        push(&arena->spare, item);
    }
    if (arena->separate) {
        free_chunks(arena->spare);
        arena->spare = NULL;
    }
}

static chunk *new_chunk(ts_arena *arena, size_t bytes) {
    size_t size = bytes > arena->chunk_bytes || arena->separate ? bytes : arena->chunk_bytes;
    if (arena->chunk_bytes < LARGEST_CHUNK_BYTES) arena->chunk_bytes *= 2;
    chunk *item = allocate(sizeof *item + size);
    item->bytes = size;
    return item;
}

/* A chunk with room for `bytes`: the first kept one that is large enough, or a new one. */
static chunk *find_chunk(ts_arena *arena, size_t bytes) {
    for (chunk **link = &arena->spare; *link; link = &(*link)->next)
        if ((*link)->bytes >= bytes) return pop(link);
    return new_chunk(arena, bytes);
}

static void *take(chunk *item, size_t bytes) {
    unsigned char *start = item->data + item->used;
    size_t dirty = item->dirty > item->used ? item->dirty - item->used : 0;
    memset(start, 0, dirty < bytes ? dirty : bytes);
    item->used += bytes;
    return start;
}

void *ts_arena_alloc(ts_arena *arena, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2) ts_out_of_memory(SIZE_MAX);
    if (!arena->separate) bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    chunk *current = arena->current;
    if (current && !arena->separate && current->bytes - current->used >= bytes) return take(current, bytes);
    chunk *item = find_chunk(arena, bytes);
    void *memory = take(item, bytes);
    if (current && current->bytes - current->used > item->bytes - item->used) {
        push(&arena->full, item);
    } else {
        if (current) push(&arena->full, pop(&arena->current));
        push(&arena->current, item);
    }
    return memory;
}

void *ts_arena_grow(ts_arena *arena, const void *old, size_t old_count, size_t new_count, size_t size) {
    assert(new_count >= old_count);
    void *grown = ts_arena_alloc(arena, new_count, size);
    if (old_count) memcpy(grown, old, old_count * size);
    return grown;
}

void *ts_arena_extend(ts_arena *arena, void *items, size_t count, size_t size) {
    enum { FIRST = 4 };
    if (count > 0 && (count < FIRST || (count & (count - 1)) != 0)) return items;
    return ts_arena_grow(arena, items, count, count > 0 ? 2 * count : FIRST, size);
}

char *ts_arena_copy_text(ts_arena *arena, const char *text, size_t length) {
    char *copy = ts_arena_alloc(arena, length + 1, 1);
    if (length) memcpy(copy, text, length);
    return copy;
}
