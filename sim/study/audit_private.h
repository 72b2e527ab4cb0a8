/* What the files of the audit share. */
#ifndef SIM_STUDY_AUDIT_PRIVATE_H
#define SIM_STUDY_AUDIT_PRIVATE_H

#include "tilesim/study/audit.h"

/* A table of texts, or of their hashes, to numbers; it grows up to a limit. */
typedef struct {
    ts_arena *arena;
    struct audit_slot {
        uint64_t hash;
        int32_t value;
        uint32_t epoch; /* of the table when it was put in; others are empty */
    } * slots;
    int64_t capacity, count, limit;
    uint32_t epoch;
} audit_table;

void audit_table_init(audit_table *table, ts_arena *arena, int64_t limit);
void audit_table_clear(audit_table *table);
/* The value, or -1. Texts whose 64-bit hashes are equal are taken to be equal. */
int32_t audit_table_get(const audit_table *table, uint64_t hash);
bool audit_table_put(audit_table *table, uint64_t hash, int32_t value); /* false: full */
uint64_t audit_hash(const char *text, size_t length);

/* Facts of a shape that printed, or assumed, tiles give it. */
bool audit_shape_size(ts_arena *scratch, const ts_shape *shape, ts_audit_shape *out);
/* The tiles of the rule, for a shape that has none. */
const ts_shape *audit_shape_tiled(ts_arena *arena, const ts_audit_request *request, const ts_shape *shape);
/* What is different; permutation: of a transpose, NULL otherwise. */
unsigned audit_changes(const ts_shape *src, const ts_shape *dst, const int *permutation);
const ts_shape *audit_parse(ts_error *err, ts_arena *arena, const char *text, size_t length);
/* The least padded bytes over orders of dims, with the rule's tiles; and over folds of the second minor dim
 * into a neighbour. */
typedef struct {
    int64_t bytes;
    const char *text; /* the shape; NULL: none is better */
    int distance;     /* from the order now: among equally good ones the nearest is taken */
    bool folds;
} audit_better;
void audit_find_better(ts_arena *arena, const ts_audit_request *request, const char *text,
                       audit_better *order, audit_better *fold);

/* Prices by traffic: `read` bytes out of one space, `written` into another, in whole lines, in order. */
typedef struct {
    ts_arena *arena, *scratch;
    const ts_machine *machine;
    struct audit_price {
        int64_t key_bytes, cycles;
        int src_space, dst_space;
        bool known;
        const char *why_not;
    } * prices;
    int count, capacity;
} audit_prices;
void audit_prices_init(audit_prices *prices, ts_arena *arena, const ts_machine *machine);
const struct audit_price *audit_prices_get(audit_prices *prices, int src_space, int dst_space, int64_t read,
                                           int64_t written);

/* Finds the few things worth doing; fills findings of the result. */
void audit_find(ts_arena *arena, audit_prices *prices, ts_audit_result *result);

#endif
