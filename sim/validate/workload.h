/* What was measured: the workload of a row of a table of measurements, in figures that a model can run. */
#ifndef TILESIM_VALIDATE_WORKLOAD_H
#define TILESIM_VALIDATE_WORKLOAD_H

#include "mesh/collective.h"
#include "validate/measured.h"
#include "validate/words.h"

typedef enum {
    TS_WORK_NONE,        /* not modelled; `reason` says why */
    TS_WORK_COPY,        /* one transfer of `dims`, to the memory `to_space` */
    TS_WORK_MATMUL,      /* `count` products in a row */
    TS_WORK_KERNEL,      /* one product, of a Pallas kernel with these blocks */
    TS_WORK_PASSES,      /* kernels that read and write HBM once each */
    TS_WORK_ELEMENTWISE, /* one operation on f16, its operands on the chip */
    TS_WORK_LAYERNORM,   /* of f16 */
    TS_WORK_ATTENTION,   /* in one kernel: nothing but q, k, v and the output in HBM */
    TS_WORK_COLLECTIVE,  /* over the links of several chips */
} ts_work_kind;

typedef struct {
    int64_t m, n, k;
    int64_t weights;             /* matrices of k x n: each takes its share of the rows */
    int64_t in_bytes, out_bytes; /* of an element; out_bytes 0: the result is reduced where it is made */
    double transcendentals;      /* of each element of the result */
    double extra_reads;          /* of a matrix like the result */
} ts_work_product;

enum { TS_WORK_MAX_DIMS = 6, TS_WORK_MAX_PRODUCTS = 4 };

typedef struct {
    ts_work_kind kind;
    const ts_work_groups *groups; /* among which its group is */
    const ts_work_group *group;   /* NULL: of none */
    const ts_work_rule *rule;     /* which says its group; NULL: the row does */
    const char *machine;          /* "tpu-v6e" */
    int devices;                  /* of a chip of it: chip.devices of its file, which is not read here */
    const char *reason;           /* why it is not modelled */
    double measured_us;           /* 0: the row is no time */
    bool launched;                /* a kernel, whose launch is part of it */
    int rank;
    int64_t dims[TS_WORK_MAX_DIMS];
    int inputs; /* of an element-wise operation */
    int64_t read_bytes, written_bytes;
    int count;
    ts_work_product products[TS_WORK_MAX_PRODUCTS];
    int64_t block[3]; /* of rows, of columns, of the common dim, when the row says so; else 0 */
    bool transposed;  /* the right side of a kernel; its result: */
    bool relu;
    bool random;                         /* the operands of the matrix units are random, not constant */
    int64_t batch, heads, length, depth; /* of attention */
    bool causal;
    ts_collective_kind collective;
    int64_t bytes, members; /* on each device: see ts_collective_request; of each group */
    bool one_dim;           /* all devices are in rings */
    int chip_dims;
    int64_t chips[3];
} ts_workload;

/* Never fails: what is not recognised has a reason. `groups` has those that come with tilesim, and stays;
 * rules are of rows that name no group. */
void ts_workload_read(const ts_work_groups *groups, const ts_work_rules *rules, const ts_measured_row *row,
                      ts_workload *work);

#endif
