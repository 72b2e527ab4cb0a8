/* What the row of a workload states: figures by their keys, words, and the readers that suites share.
 * Private. */
#ifndef TILESIM_VALIDATE_WORKLOAD_PRIVATE_H
#define TILESIM_VALIDATE_WORKLOAD_PRIVATE_H

#include "validate/workload.h"

#define WORKLOAD_LARGEST                                                                                     \
    0x1p44 /* bytes, elements: nothing of a chip is larger, and products of them are checked */

/* Sets why it is not modelled; returns false. */
bool workload_refuse(ts_workload *work, const char *reason);

/* The figure of the first of `keys` (NULL ends them) that the row has; 0: it has none, or no positive whole
 * number. */
int64_t workload_number(const ts_measured_row *row, const char *const *keys);
#define NUMBER(...) workload_number(row, (const char *const[]){__VA_ARGS__, NULL})

int workload_dims(const ts_measured_row *row, const char *key, int64_t *dims);
/* Of the dims; 0: there are none, or too many elements. */
int64_t workload_product(const int64_t *dims, int count);

/* Does the text contain one of `words` (NULL ends them)? See ts_work_rule. */
bool workload_has(const char *text, const char *const *words);
#define HAS(text, ...) workload_has(text, (const char *const[]){__VA_ARGS__, NULL})

/* "2048x2048x512" anywhere in a text: false: there are no such three numbers. */
bool workload_crosses(const char *text, int64_t *d);
void workload_block(const ts_measured_row *row, ts_workload *work);
bool workload_add_product(ts_workload *work, ts_work_product p);

/* Puts the row into that group; false, with the reason: groups like it are not modelled. */
bool workload_enter(ts_workload *work, const char *group);
/* Reads the row as its group says. */
bool workload_read_group(const ts_measured_row *row, ts_workload *work);

/* Reads it as the suite of its rule does, or its group. */
bool workload_read_suite(const ts_measured_row *row, ts_workload *work);

#endif
