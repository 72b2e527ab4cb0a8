/* What the files of the audit share. */
#ifndef TILESIM_AUDIT_AUDIT_PRIVATE_H
#define TILESIM_AUDIT_AUDIT_PRIVATE_H

#include "audit/audit.h"
#include "base/table.h"
#include "study/core_program.h"

/* Texts whose 64-bit hashes are equal are taken to be equal. */
uint64_t audit_hash(const char *text, size_t length);
uint64_t audit_hash_name(ts_span name);
ts_span audit_bare_name(ts_span name); /* without its mark, % or @ */

/* Facts of a shape that printed, or assumed, tiles give it. */
bool audit_shape_size(ts_arena *scratch, const ts_shape *shape, ts_audit_shape *out);
/* The layout of the rule, for a shape without tiles. An order that is written is kept, row-major only if
 * orders were chosen: before a compiler has done so all are printed row-major. */
const ts_shape *audit_shape_tiled(ts_arena *arena, const ts_machine *machine, const ts_shape *shape,
                                  bool orders_chosen);
/* What is different; permutation: of a transpose, NULL otherwise. */
unsigned audit_changes(const ts_shape *src, const ts_shape *dst, const int8_t *permutation);
/* The source of a transpose with its dims in the order of the result: what a copy of it moves. */
const ts_shape *audit_permuted(ts_arena *arena, const ts_shape *shape, const int8_t *permutation);
/* Is every element of the target, in row-major order of the dims, at the bit where the source has it, in as
 * many bytes? */
bool audit_same_places(ts_arena *arena, const ts_shape *src, const ts_shape *dst);
/* And have they the same type and memory space? */
bool audit_moves_nothing(ts_arena *arena, const ts_shape *src, const ts_shape *dst);
/* Or is it so with the tiles that a target, whose own are not printed, has without its dims of 1? */
bool audit_can_move_nothing(ts_arena *arena, const ts_audit_request *request, const ts_shape *src,
                            const ts_shape *dst);
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
/* The array in the nearest order of dims, with the rule's tiles, that has the size that a compiler printed, of
 * one whose text gives no order; NULL: none has. */
const char *audit_find_reported(ts_arena *arena, const ts_audit_request *request, const char *text,
                                const char *reported);
/* Is the size, as a compiler prints it, that of so many bytes? */
bool audit_says(const char *reported, int64_t bytes);
/* A size as the report prints sizes. */
void audit_print_as(const char *reported, int64_t bytes, char out[16]);

/* ---- Prices ---- */

enum {
    AUDIT_EXACT = 32, /* layouts between which a move is priced by its plan; all, if exact */
};

typedef struct {
    bool known;
    bool scaled; /* not of its own plan: as the nearest of its kind */
    int64_t cycles;
    const char *by;      /* a program of the core, or passes; NULL: the DMA engine */
    const char *why_not; /* it is not known */
} audit_price;

typedef struct {
    ts_arena *arena, *scratch;
    const ts_audit_request *request;
    const ts_machine *machine;
    ts_prices *prices;
    ts_error failure; /* of the system: what was priced then is not to be shown */
    int exact_count;
    struct audit_exact {
        uint64_t key, kind, orders;         /* of the two shapes; of what is alike; of the dims */
        int64_t bytes, line_cycles, cycles; /* cycles -1: no plan, or none that anyone can do */
        const char *by;
    } * exact;
} audit_prices;
void audit_prices_init(audit_prices *prices, ts_arena *arena, const ts_audit_request *request);

/* So many bytes out of one memory space, and into another. */
typedef struct {
    int from, to;
    int64_t read, written;
} audit_traffic;
/* In order. */
audit_price audit_prices_line(audit_prices *prices, const audit_traffic *traffic);
/* No price is below what the traffic takes at the peaks of the memories. */
void audit_bound(const audit_prices *prices, const audit_traffic *traffic, audit_price *price);

typedef struct {
    const char *src, *dst;     /* shapes; src NULL: not known */
    audit_traffic traffic;     /* whose memory spaces need not be the shapes' */
    const int8_t *permutation; /* of a transpose, of at most TS_AUDIT_PERMUTED dims; NULL otherwise */
    unsigned changes;
} audit_wanted;
/* Where order, tiles or type change between the same dims, by the plan; else in order. */
audit_price audit_prices_move(audit_prices *prices, const audit_wanted *wanted);

bool audit_is_hbm(const ts_machine *machine, int space);
/* Where the other side of a transfer lies that shares the memory with one of so many bytes. */
int64_t audit_address_behind(int64_t bytes);

/* Finds the few things worth doing; fills findings of the result. */
void audit_find(ts_arena *arena, audit_prices *prices, ts_audit_result *result);

#endif
