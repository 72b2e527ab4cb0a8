/* Tables: open addressing, cleared by counting up. */
#include "base/table.h"

#include <string.h>

enum { FIRST = 1 << 6 };

void ts_table_clear(ts_table *table) {
    table->count = 0;
    if (++table->epoch != 0) return;
    if (table->capacity > 0) memset(table->slots, 0, (size_t)table->capacity * sizeof *table->slots);
    table->epoch = 1;
}

static struct ts_table_slot *find(const ts_table *table, uint64_t hash) {
    uint64_t mask = (uint64_t)table->capacity - 1;
    for (uint64_t at = hash & mask;; at = (at + 1) & mask) {
        struct ts_table_slot *slot = &table->slots[at];
        if (slot->epoch != table->epoch || slot->hash == hash) return slot;
    }
}

int32_t ts_table_get(const ts_table *table, uint64_t hash) {
    if (table->count == 0) return -1;
    const struct ts_table_slot *slot = find(table, hash);
    return slot->epoch == table->epoch ? slot->value : -1;
}

static void grow(ts_table *table) {
    struct ts_table_slot *old = table->slots;
    int64_t capacity = table->capacity;
    uint32_t epoch = table->epoch;
    table->capacity = capacity > 0 ? 4 * capacity : FIRST;
    table->slots = ts_arena_alloc(table->arena, (size_t)table->capacity, sizeof *table->slots);
    for (int64_t i = 0; i < capacity; i++)
        if (old[i].epoch == epoch) *find(table, old[i].hash) = old[i];
}

bool ts_table_put(ts_table *table, uint64_t hash, int32_t value) {
    if (table->count == table->limit) return false;
    if (2 * table->count >= table->capacity) grow(table);
    struct ts_table_slot *slot = find(table, hash);
    table->count += slot->epoch != table->epoch;
    *slot = (struct ts_table_slot){hash, value, table->epoch};
    return true;
}
