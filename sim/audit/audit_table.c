/* The audit's tables: open addressing on 64-bit hashes, cleared by counting up. */
#include <string.h>

#include "audit_private.h"

enum { FIRST = 1 << 10 };

uint64_t audit_hash(const char *text, size_t length) {
    uint64_t hash = UINT64_C(0x9e3779b97f4a7c15) ^ length, word;
    for (; length >= 8; text += 8, length -= 8) {
        memcpy(&word, text, 8);
        hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    word = 0;
    if (length > 0) memcpy(&word, text, length);
    hash = (hash ^ word) * UINT64_C(0xc4ceb9fe1a85ec53);
    hash ^= hash >> 29;
    hash *= UINT64_C(0xff51afd7ed558ccd);
    return hash ^ (hash >> 32);
}

uint64_t audit_hash_name(ts_span name) { return audit_hash(name.text, name.length); }

ts_span audit_bare_name(ts_span name) {
    if (name.length > 0 && (*name.text == '%' || *name.text == '@')) name.text++, name.length--;
    return name;
}

void audit_table_init(audit_table *table, ts_arena *arena, int64_t limit) {
    *table = (audit_table){.arena = arena, .capacity = FIRST, .limit = limit, .epoch = 1};
    table->slots = ts_arena_alloc(arena, FIRST, sizeof *table->slots);
}

void audit_table_clear(audit_table *table) {
    table->count = 0;
    if (++table->epoch != 0) return;
    memset(table->slots, 0, (size_t)table->capacity * sizeof *table->slots);
    table->epoch = 1;
}

static struct audit_slot *find(const audit_table *table, uint64_t hash) {
    uint64_t mask = (uint64_t)table->capacity - 1;
    for (uint64_t at = hash & mask;; at = (at + 1) & mask) {
        struct audit_slot *slot = &table->slots[at];
        if (slot->epoch != table->epoch || slot->hash == hash) return slot;
    }
}

int32_t audit_table_get(const audit_table *table, uint64_t hash) {
    const struct audit_slot *slot = find(table, hash);
    return slot->epoch == table->epoch ? slot->value : -1;
}

static void grow(audit_table *table) {
    struct audit_slot *old = table->slots;
    int64_t capacity = table->capacity;
    uint32_t epoch = table->epoch;
    table->capacity = 4 * capacity;
    table->slots = ts_arena_alloc(table->arena, (size_t)table->capacity, sizeof *table->slots);
    for (int64_t i = 0; i < capacity; i++)
        if (old[i].epoch == epoch) *find(table, old[i].hash) = old[i];
}

bool audit_table_put(audit_table *table, uint64_t hash, int32_t value) {
    if (table->count == table->limit) return false;
    if (2 * table->count >= table->capacity) grow(table);
    struct audit_slot *slot = find(table, hash);
    table->count += slot->epoch != table->epoch;
    *slot = (struct audit_slot){hash, value, table->epoch};
    return true;
}
