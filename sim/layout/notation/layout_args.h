/* Private: the arguments of operations on layouts, "key=value;key=value". */
#ifndef TILESIM_LAYOUT_NOTATION_LAYOUT_ARGS_H
#define TILESIM_LAYOUT_NOTATION_LAYOUT_ARGS_H

#include "base/text.h"

enum { TS_LAYOUT_ARGS_MAX = 8 };

typedef struct {
    int count;
    const char *keys[TS_LAYOUT_ARGS_MAX], *values[TS_LAYOUT_ARGS_MAX];
} ts_layout_args;

/* NULL or empty: none. */
bool ts_layout_args_read(ts_error *err, ts_arena *arena, const char *text, ts_layout_args *args);
const char *ts_layout_args_find(const ts_layout_args *args, const char *key); /* NULL: not given */
bool ts_layout_args_int(ts_error *err, const ts_layout_args *args, const char *key, int64_t *value);
/* "8,16"; empty is no values. */
bool ts_layout_args_ints(ts_error *err, ts_arena *arena, const ts_layout_args *args, const char *key,
                         int *count, int64_t **values);
/* "6,5|2,15" */
bool ts_layout_args_lists(ts_error *err, ts_arena *arena, const ts_layout_args *args, const char *key,
                          int *count, int **counts, const int64_t ***lists);
/* "2:4,0:64" */
bool ts_layout_args_ranges(ts_error *err, ts_arena *arena, const ts_layout_args *args, const char *key,
                           int *count, int64_t **begin, int64_t **end);

#endif
