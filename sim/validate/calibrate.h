/* Fits figures of a machine to measurements: bounded least squares of the logarithms of simulated /
 * measured. */
#ifndef TILESIM_VALIDATE_CALIBRATE_H
#define TILESIM_VALIDATE_CALIBRATE_H

#include "validate/validate.h"

enum { TS_CALIBRATE_MAX_FIELDS = 8 };

/* What is fitted unless the user says: overheads and rates that no document states. */
extern const char *const ts_calibrate_fields[]; /* ends in NULL */

typedef struct {
    const char *path; /* "chip.launch" */
    const ts_field *field;
    int64_t before, after; /* as stored */
    double elasticity;     /* per cent that the rows move, in the mean square, for a per cent of it */
    const char *left_out;  /* why it was not fitted; NULL: it was */
    bool at_bound;         /* it is at a limit of the fit */
} ts_fitted_field;

typedef struct {
    ts_fitted_field fields[TS_CALIBRATE_MAX_FIELDS];
    int field_count;
    const ts_machine *before, *after;
    ts_validation first, last; /* the same rows */
    int rows;                  /* that both model */
} ts_calibration;

typedef struct {
    const ts_measurements *measurements;
    const char *machine;     /* its name .. */
    const char *const *sets; /* .. with these, each "hbm.stacks=4" */
    const char *sets_from;   /* the option that they come from */
    int set_count, field_count;
    bool exact;                /* see ts_validate_request */
    int threads;               /* likewise */
    const char *const *fields; /* to fit, each of which the rows must determine; NULL: those of
                                  ts_calibrate_fields that they do */
} ts_calibrate_request;

/* A field stays within a factor of 16 of what it was, and within its own range. Refused: more fields than
 * half the rows; fields that move no row, or move all as others do. */
bool ts_calibrate(ts_error *err, ts_arena *arena, const ts_calibrate_request *request,
                  ts_calibration *calibration);

/* The file of the fitted machine; `source` says where its figures come from. Checked: it reads back as the
 * same. */
bool ts_calibration_print(ts_error *err, ts_arena *arena, const ts_calibration *calibration,
                          const char *source, ts_text *out);

#endif
