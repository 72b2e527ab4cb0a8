/* HBM time beside the figures of other simulators: Ramulator 2.1 (CMU-SAFARI/ramulator2, c5b1c3a) and
 * DRAMsim3 (umd-memsys/DRAMsim3, 2981759), which were run on the patterns and on short sequences. */
#ifndef TILESIM_VALIDATE_HBM_REFERENCE_H
#define TILESIM_VALIDATE_HBM_REFERENCE_H

#include "study/hbm_run.h"

/* A run of a simulator (tests/data/hbm_reference.csv). */
typedef struct {
    const char *simulator; /* "ramulator2.1", "dramsim3" */
    const char *config;    /* "hbm2_8ch", ... */
    const char *map;       /* A, H */
    const char *frontend;  /* win1024: 64 KiB look-ahead; perch: unlimited; inorder: none */
    const char *pattern;
    int64_t requests, cycles;
    double bandwidth_fraction, row_hit_rate, read_latency; /* 4, 4 and 1 decimals */
    int64_t kilorequests;                                  /* a second of its CPU time */
} ts_hbm_reference;

/* A short sequence, on one pseudo channel, map A, no refresh (tests/data/hbm_micro.csv). */
typedef struct {
    const char *name;
    int64_t requests, ramulator_cycles, dramsim3_cycles; /* -1: it did not end */
    double ramulator_latency;
} ts_hbm_sequence_reference;

extern const ts_hbm_reference ts_hbm_references[];
extern const int ts_hbm_reference_count;
extern const ts_hbm_sequence_reference ts_hbm_sequence_references[];
extern const int ts_hbm_sequence_reference_count;

/* The machine of a configuration of the references: a built-in one with some figures changed; NULL, and no
 * error, when HBM time does not have what that configuration does. */
typedef struct {
    const char *config, *machine, *meaning;
    const char *sets[12]; /* "hbm.channels=1", ... */
} ts_hbm_reference_config;
const ts_hbm_reference_config *ts_hbm_reference_find(const char *config);

/* The machine of a configuration under an address map. */
const ts_machine *ts_hbm_reference_machine(ts_error *err, ts_arena *arena,
                                           const ts_hbm_reference_config *config, const char *map);
/* The cycles of a reference as ts_hbm_run counts them: the driver of DRAMsim3's runs counts one more. */
int64_t ts_hbm_reference_cycles(const ts_hbm_reference *reference);
/* Runs what a reference ran. */
bool ts_hbm_reference_run(ts_error *err, const ts_hbm_reference *reference, ts_hbm_run *run);
/* The simulator whose rules and figures are meant. */
typedef enum { TS_HBM_RAMULATOR, TS_HBM_DRAMSIM3, TS_HBM_SIMULATORS } ts_hbm_simulator;
bool ts_hbm_sequence_run(ts_error *err, const ts_hbm_sequence_reference *reference, ts_hbm_simulator as,
                         ts_hbm_run *run);

/* All references whose configuration HBM time has, and all sequences. */
typedef struct {
    const ts_hbm_reference *reference;
    ts_hbm_run run;
} ts_hbm_comparison;
typedef struct {
    ts_hbm_comparison *runs;
    int run_count;
    ts_hbm_run *sequences[2]; /* of ts_hbm_sequence_references: as Ramulator, as DRAMsim3 */
} ts_hbm_accuracy;
typedef struct {
    int threads;                                       /* that run them; the result is the same */
    void (*run)(void *self, int64_t done, int64_t of); /* told of each run that is done; NULL: nobody is */
    void *self;
} ts_hbm_accuracy_request;
bool ts_hbm_accuracy_measure(ts_error *err, ts_arena *arena, const ts_hbm_accuracy_request *request,
                             ts_hbm_accuracy *accuracy);

#endif
