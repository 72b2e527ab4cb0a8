/* Fields: one row each, from which a tree is read into a struct, a struct is printed, and a schema is
 * listed. */
#ifndef TILESIM_CONFIG_FIELD_H
#define TILESIM_CONFIG_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "config/tree.h"

/* How a figure is written, and what is stored. No figure is a float: decimals are scaled exactly. */
typedef enum {
    TS_FIELD_INTEGER, /* 128 */
    TS_FIELD_BOOL,    /* true, false */
    TS_FIELD_TEXT,    /* const char * */
    TS_FIELD_CHOICE,  /* one of the words in `choices`; its index */
    TS_FIELD_BYTES,   /* 512 B, 16 KiB, 128 MiB, 16 GiB; bytes */
    TS_FIELD_CLOCK,   /* 940 MHz, 1.5 GHz; kHz */
    TS_FIELD_TIME,    /* 800 ps, 54.4 ns, 1.6 us; picoseconds */
    TS_FIELD_CYCLES,  /* 14 ns, 2 ck; cycles of the clock at `clock`, rounded up */
    TS_FIELD_GROUP, /* a map with any keys: an array of structs whose first member is the key, const char * */
} ts_field_kind;

struct ts_field_table;
typedef struct {
    const char *path; /* "hbm.timing.t_rp", from the root of its table */
    ts_field_kind kind;
    size_t offset, bytes; /* of the member */
    int64_t min, max;     /* as stored, both allowed; of a group: number of keys */
    bool power_of_two;
    size_t clock;                        /* CYCLES: offset of an int64_t, kHz, read before */
    const char *const *choices;          /* ends in NULL */
    const struct ts_field_table *fields; /* of a group's structs */
    size_t count_offset;                 /* of a group: its int32_t; `offset` is the pointer's */
    const char *unit;                    /* "" where there is none, or the value states it */
    const char *meaning;
} ts_field;

typedef struct ts_field_table {
    const ts_field *fields;
    int count;
    size_t bytes; /* of the struct */
} ts_field_table;

/* A figure that was read; a group without keys is one as well. */
typedef struct {
    const char *path; /* with the group's keys: "memories.vmem.capacity_bytes" */
    const ts_field *field;
    const void *at;      /* the member */
    const ts_tree *node; /* its location and comment */
} ts_field_leaf;

typedef struct {
    ts_field_leaf *leaves;
    int32_t count;
} ts_field_leaves;

/* Fills the struct `out` (zeroed by the caller). Every field must be there; unknown keys are refused. */
bool ts_field_read(ts_error *err, ts_arena *arena, const ts_field_table *table, const ts_tree *tree,
                   void *out, ts_field_leaves *leaves);

/* The figure as a file would have it. */
void ts_field_print(ts_text *out, const ts_field *field, const void *at);
/* A number that the figure may have, such as a bound. */
void ts_field_print_value(ts_text *out, const ts_field *field, int64_t value);
/* The same in the unit that it was given in: a time in ns stays one beside another clock. */
void ts_field_print_given(ts_text *out, const ts_field_leaf *leaf);
/* Figures as the file that has them: with the comments of their files and in their units, or values alone. */
typedef enum { TS_FIELD_VALUES, TS_FIELD_AS_WRITTEN } ts_field_style;
void ts_field_print_leaves(ts_text *out, const ts_field_leaf *leaves, int count, ts_field_style style);
/* The stored integer of a figure that is no text and no group, and its unit ("" when it has none). */
int64_t ts_field_value(const ts_field *field, const void *at);
const char *ts_field_unit(const ts_field *field);
/* "integer", "size", ... */
const char *ts_field_kind_text(ts_field_kind kind);
/* "1 to 64, a power of two"; the words of a choice; "" when anything goes. */
void ts_field_range(ts_text *out, const ts_field *field);
/* What an error says was expected: "an integer from 1 to 64, a power of two". */
void ts_field_expectation(ts_text *out, const ts_field *field);

/* Where a figure comes from: the first word of its comment. */
typedef enum {
    TS_STATUS_UNSTATED,
    TS_STATUS_PUBLISHED,
    TS_STATUS_DERIVED,
    TS_STATUS_ASSUMED
} ts_field_status;
ts_field_status ts_field_leaf_status(const ts_field_leaf *leaf);
const char *ts_field_status_text(ts_field_status status);

#endif
