/* Tables of measurements: a point of a machine a row. Two formats, told apart by their first line:
 *   id,chip,workload description,parameters,measured value,unit,source,timing,tier
 *       CSV, in any order; the last three may be missing
 *   id<TAB>group<TAB>measured_us<TAB>workload
 *       the workload as a JSON object */
#ifndef TILESIM_VALIDATE_MEASURED_H
#define TILESIM_VALIDATE_MEASURED_H

#include "base/arena.h"
#include "base/error.h"

typedef struct {
    const char *id;
    const char *group;      /* "" in a CSV table: the workload says it */
    const char *chip;       /* "v4", "v7x (1 of 2 TC)"; "" in a table by groups */
    const char *workload;   /* the words; "" in a table by groups */
    const char *parameters; /* KEY=VALUE .., KEY: VALUE .., or a JSON object */
    const char *unit;       /* "us", "ms", "GB/s" ... */
    const char *timing;     /* "xprof device", "wall-clock" ...; may be "" */
    double value;           /* in `unit`, above 0 */
} ts_measured_row;

typedef struct {
    ts_measured_row *rows;
    int count;
} ts_measured;

enum { TS_MEASURED_MAX_BYTES = 16 << 20 };

/* Adds the rows of a table. */
bool ts_measured_add(ts_error *err, ts_arena *arena, const ts_source *source, ts_measured *table);

/* The numbers that `key` has in a text of parameters, as `key=3`, `key: 3*2`, `"key": [1, 2]`,
 * `key=f32[3,4]{..}` or `key=(other,)`, where other is a key. M=N=K=5 gives all three. At most `most` of
 * them; 0: there is no such key, no number behind it, or something else in its list. */
int ts_measured_numbers(const char *parameters, const char *key, int most, double *numbers);

#endif
