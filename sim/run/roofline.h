/* What a run could be at best: where it stands under the roofline of its machine, and what bounds it. */
#ifndef TILESIM_RUN_ROOFLINE_H
#define TILESIM_RUN_ROOFLINE_H

#include "chip/chip.h"
#include "machine/machine.h"

/* A bound that is reached by less than this leaves latency as what a run is bound by: the 60 % below which
 * Nsight Compute says so of both compute and memory. */
enum { TS_BOUND_LEAST_PERCENT = 60 };
typedef enum { TS_BOUND_LATENCY, TS_BOUND_MEMORY, TS_BOUND_COMPUTE, TS_BOUND_LINK } ts_bound;
const char *ts_bound_text(ts_bound bound); /* "latency", ... */

/* Whose operations are compared with a peak. */
typedef enum { TS_FLOPS_NONE, TS_FLOPS_MXU, TS_FLOPS_VPU } ts_flops_unit;
const char *ts_flops_unit_text(ts_flops_unit unit); /* "mxu"; NULL: none */
const char *ts_flops_kind_text(int kind);           /* "bf16" */

/* Units whose time is compared: the slots, of which that of the matrix units is busy while rows enter them,
 * then bundles, then the HBM. */
enum { TS_UNIT_ISSUE = TS_SLOT_COUNT, TS_UNIT_HBM, TS_UNIT_COUNT };
const char *ts_unit_text(int unit); /* "valu", "issue", "hbm", ... */

/* Shares are of 1. Rates and peaks are a second, of the chip; peaks are those of `tilesim show machine`. */
typedef struct {
    ts_flops_unit unit;           /* that whose operations take longest at their peak */
    unsigned kinds;               /* bit (1 << kind) each, see TS_FLOPS_COUNT: what it worked on */
    int64_t flops;                /* of that unit */
    double rate, peak;            /* the same a second; with several kinds, the peak of this mix */
    int64_t hbm_bytes, pin_bytes; /* moved to and from it; of them, not of bursts that its queues answer */
    double hbm_rate, hbm_peak;    /* of its pins */
    double intensity;             /* flops a byte of HBM; infinite without bytes, 0 without flops */
    double ridge;               /* from which intensity on `peak` is the roof; below, hbm_peak x intensity */
    double roof;                /* the lower of the two: the rate that the roofline allows */
    double busy[TS_UNIT_COUNT]; /* share of their time */
    ts_bound bound;
    int busiest;          /* unit: its time is the least that the run can take */
    int64_t least_cycles; /* that time */
    int64_t link;         /* of a mesh, which is busier than all units: its time is the least; -1: none is */
    double link_busy;
} ts_roofline;

/* Of what a chip with this machine's figures counted. */
void ts_roofline_find(const ts_machine *machine, const ts_chip_counters *counters, ts_roofline *roofline);

/* The busiest link of a mesh; busy: its share of the time. */
void ts_roofline_add_link(ts_roofline *roofline, int64_t link, double busy, int64_t cycles);

/* The reason for which the cores stalled longest, and the sum of its cycles over all of them. */
int ts_longest_stall(const ts_chip_counters *counters, int64_t *cycles);

#endif
