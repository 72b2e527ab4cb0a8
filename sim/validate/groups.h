/* Groups of measurements that are alike: what their rows state, how they were timed, goals and remarks. A
 * table whose columns are those of tests/data/measured_groups.tsv, of which all from `chip` on may be
 * missing. */
#ifndef TILESIM_VALIDATE_GROUPS_H
#define TILESIM_VALIDATE_GROUPS_H

#include "base/arena.h"
#include "base/error.h"

/* What the parameters of a group's rows state: column `reads`. */
typedef enum {
    TS_READS_NOTHING,      /* not modelled */
    TS_READS_COPY,         /* bytes, copied inside HBM */
    TS_READS_COPY_TO_CMEM, /* a shape, copied from HBM to CMEM */
    TS_READS_TRAFFIC,      /* bytes read and written, once each */
    TS_READS_PRODUCT,      /* M, N, K of a matrix product, blocks and what is fused to it */
    TS_READS_KERNEL,       /* the same, and the blocks of a Pallas kernel */
    TS_READS_ELEMENTWISE,  /* a shape and the number of inputs, of f16 */
    TS_READS_ATTENTION,    /* batch, heads, length and depth */
    TS_READS_PERMUTE,      /* bytes, sent from a chip to its neighbour */
    TS_READS_ALL_GATHER,   /* bytes of a shard, and of what is transferred */
    TS_READS_ALL_REDUCE,   /* bytes, and the devices */
    TS_READS
} ts_group_reads;

typedef struct {
    const char *name; /* "copy-v4" */
    ts_group_reads reads;
    const char *chip;    /* "v4"; NULL: the row says it */
    const char *rows_of; /* a group whose rows it has, too, if kernels have such blocks; NULL: only its own */
    const char *meaning;
    const char *model;   /* what runs for a row; NULL: nothing does */
    bool wall;           /* timing `host`: a dispatch is part of it; `device`: none is */
    double median, high; /* goals for the median and the 90th percentile of the error, in per cent; 0: none */
    const char *reason;  /* why it is not modelled; NULL: it is */
    const char *miss;    /* why it misses its goals, and what would help; said only while it does; or NULL */
} ts_work_group;

typedef struct {
    const ts_work_group **groups; /* in the order of reports */
    int count;
} ts_work_groups;

/* Of a text of tables: is it one of groups, with a column `reads`? */
bool ts_work_groups_are(ts_arena *arena, const ts_source *source);

/* Adds the groups of a table; one of a name that is there already takes its place. */
bool ts_work_groups_add(ts_error *err, ts_arena *arena, const ts_source *source, ts_work_groups *groups);

/* NULL: there is none of that name. */
const ts_work_group *ts_work_groups_find(const ts_work_groups *groups, const char *name);

#endif
