/* How near the machines are to the real ones: every row of a table of measurements beside what a model
 * says. */
#ifndef TILESIM_VALIDATE_VALIDATE_H
#define TILESIM_VALIDATE_VALIDATE_H

#include "validate/predict.h"

typedef struct {
    const ts_measured_row *row;
    ts_workload work;
    bool is_left_out;   /* its chip is not the given machine's */
    const char *reason; /* why it is not modelled; NULL: it is */
    double simulated_us, roofline_us;
    bool estimated; /* simulated_us was sampled or extended */
} ts_validated_row;

/* Errors are |predicted / measured - 1|, in per cent; a row that is not modelled counts as 100. */
typedef struct {
    double median, high, worst; /* high: the 90th percentile, the least that nine rows of ten do not exceed */
} ts_validation_errors;

typedef struct {
    const ts_work_group *group;
    int rows, modelled;
    ts_validation_errors model, roofline;
    const ts_validated_row *worst; /* NULL: none is modelled */
    /* Pairs whose measured times differ by over 5 % and whose simulated ones are the other way. */
    int64_t out_of_order;
} ts_validated_group;

typedef struct {
    const ts_machine *machine; /* that was given; NULL: each row has its chip's own */
    ts_validated_row *rows;    /* as in the table */
    int row_count;
    ts_validated_group *groups; /* those with rows, in their order */
    int group_count;
} ts_validation;

typedef struct {
    ts_measured table;
    ts_work_groups groups;
    ts_work_rules rules; /* of rows that name no group */
} ts_measurements;

/* Of files in any order: the rows of all tables of rows, or of that which the binary carries; its groups,
 * with those of tables of groups added or in their place; rules of tables of words are before its own. */
bool ts_measurements_load(ts_error *err, ts_arena *arena, const char *const *paths, int count,
                          ts_measurements *measurements);

/* Copies rows to the groups that include another group. */
void ts_measurements_share(ts_arena *arena, ts_measurements *measurements);

typedef struct {
    const ts_measurements *measurements;
    /* Its figures are those of the rows of its chip, and other rows are left out; NULL: each row is of the
     * machine that comes with tilesim. */
    const ts_machine *machine;
    bool exact;                                        /* nothing is sampled or extended */
    int threads;                                       /* that predict rows; the result is the same */
    void (*row)(void *self, int64_t done, int64_t of); /* told of each row that is done; NULL: nobody is */
    void *self;
} ts_validate_request;

/* False: the system refused something. */
bool ts_validate(ts_error *err, ts_arena *arena, const ts_validate_request *request,
                 ts_validation *validation);
/* How long it takes, about: CPU seconds by the kind of a row, as measured over the table that the binary
 * carries. */
double ts_validate_seconds(ts_arena *arena, const ts_validate_request *request);
bool ts_validation_is_estimated(const ts_validation *validation); /* any of its rows? */

/* "no row is of a TPU v6e", `what`, and of which chips the rows are. Returns false. */
bool ts_validation_refuse(ts_error *err, ts_arena *arena, const ts_validation *v, const char *what);

/* Are its errors within its goals? Of a group that has some. */
bool ts_validated_meets_goals(const ts_validated_group *group);
double ts_validated_error(double predicted_us, double measured_us); /* per cent, signed */
/* Statistics of at least one error; sorts them. */
ts_validation_errors ts_validated_errors(double *errors, int count);

#endif
