/* A table of 64-bit keys, which are hashes or hashed, to numbers; it grows up to a limit. */
#ifndef TILESIM_BASE_TABLE_H
#define TILESIM_BASE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

typedef struct {
    ts_arena *arena;
    struct ts_table_slot {
        uint64_t hash;
        int32_t value;
        uint32_t epoch; /* of the table when it was put in; others are empty */
    } * slots;
    int64_t capacity, count, limit;
    uint32_t epoch;
} ts_table;

static inline ts_table ts_table_begin(ts_arena *arena, int64_t limit) {
    return (ts_table){.arena = arena, .limit = limit, .epoch = 1};
}
void ts_table_clear(ts_table *table);
/* The value, or -1. What has the same hash is taken to be the same. */
int32_t ts_table_get(const ts_table *table, uint64_t hash);
bool ts_table_put(ts_table *table, uint64_t hash, int32_t value); /* false: full */

#endif
