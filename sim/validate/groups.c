/* Reads the groups of measurements from a table. */
#include "validate/groups.h"

#include <string.h>

#include "validate/table.h"

/* Columns. */
enum { GROUP, READS, CHIP, TIMING, MEDIAN, HIGH, MEANING, MODEL, REASON, MISS, ROWS_OF, COLUMNS };

static const ts_table_column columns[COLUMNS] = {
    [GROUP] = {"group", .optional = false},       [READS] = {"reads", .optional = false},
    [CHIP] = {"chip", .optional = true},          [TIMING] = {"timing", .optional = true},
    [MEDIAN] = {"goal_median", .optional = true}, [HIGH] = {"goal_p90", .optional = true},
    [MEANING] = {"meaning", .optional = true},    [MODEL] = {"model", .optional = true},
    [REASON] = {"reason", .optional = true},      [MISS] = {"miss", .optional = true},
    [ROWS_OF] = {"rows_of", .optional = true},
};

static const char *const reads_names[TS_READS] = {
    [TS_READS_NOTHING] = "nothing",
    [TS_READS_COPY] = "copy",
    [TS_READS_COPY_TO_CMEM] = "copy-to-cmem",
    [TS_READS_TRAFFIC] = "traffic",
    [TS_READS_PRODUCT] = "product",
    [TS_READS_ELEMENTWISE] = "elementwise",
    [TS_READS_KERNEL] = "kernel",
    [TS_READS_ATTENTION] = "attention",
    [TS_READS_PERMUTE] = "permute",
    [TS_READS_ALL_GATHER] = "all-gather",
    [TS_READS_ALL_REDUCE] = "all-reduce",
};
/* What runs for a row, where the table does not say it. */
static const char *const models[TS_READS] = {
    [TS_READS_COPY] = "programs/copy.tsim",        [TS_READS_COPY_TO_CMEM] = "a transfer",
    [TS_READS_TRAFFIC] = "programs/pass.tsim",     [TS_READS_PRODUCT] = "programs/matmul.tsim",
    [TS_READS_ELEMENTWISE] = "programs/half.tsim", [TS_READS_ATTENTION] = "programs/flash_attention.tsim",
    [TS_READS_PERMUTE] = "a collective",           [TS_READS_ALL_GATHER] = "a collective",
    [TS_READS_ALL_REDUCE] = "a collective",        [TS_READS_KERNEL] = "a Pallas kernel",
};
static const char *const timings[] = {"device", "host"};

static bool read_goal(ts_error *err, const ts_table *t, int c, double *goal) {
    *goal = 0;
    return *ts_table_cell(t, c) == '\0' || ts_table_positive(err, t, c, goal);
}

static bool check(ts_error *err, const ts_table *t, const ts_work_group *g) {
    const char *fault = *g->name == '\0' ? "a group without a name"
                        : (g->median > 0) != (g->high > 0)
                            ? "a goal for the median or the 90th percentile alone, expected both or none"
                        : (g->reads == TS_READS_NOTHING) != (g->reason != NULL)
                            ? "expected a reason where nothing is read, and only there"
                            : NULL;
    return fault == NULL ||
           ts_error_at(err, TS_ERROR_INPUT, t->source, ts_table_offset(t, GROUP), "%s", fault);
}

static bool read_group(ts_error *err, const ts_table *t, ts_work_group *g) {
    int reads, timing;
    if (!ts_table_word(err, t, READS, reads_names, TS_READS, &reads) ||
        !ts_table_word(err, t, TIMING, timings, sizeof timings / sizeof timings[0], &timing))
        return false;
    *g = (ts_work_group){.name = ts_table_cell(t, GROUP),
                         .reads = (ts_group_reads)reads,
                         .chip = ts_table_text(t, CHIP),
                         .meaning = ts_table_cell(t, MEANING),
                         .model = ts_table_text(t, MODEL),
                         .wall = timing == 1,
                         .reason = ts_table_text(t, REASON),
                         .miss = ts_table_text(t, MISS),
                         .rows_of = ts_table_text(t, ROWS_OF)};
    if (g->model == NULL) g->model = models[reads];
    return read_goal(err, t, MEDIAN, &g->median) && read_goal(err, t, HIGH, &g->high) && check(err, t, g);
}

bool ts_work_groups_are(ts_arena *arena, const ts_source *source) {
    return ts_table_is(arena, source, columns, READS + 1);
}

/* The index of the group of that name, or where a new one goes. */
static int index_of(const ts_work_groups *groups, const char *name) {
    int i = 0;
    while (i < groups->count && strcmp(groups->groups[i]->name, name) != 0) i++;
    return i;
}

bool ts_work_groups_add(ts_error *err, ts_arena *arena, const ts_source *source, ts_work_groups *groups) {
    ts_table t;
    if (!ts_table_open(err, arena, source, &t) || !ts_table_columns(err, &t, columns, COLUMNS)) return false;
    while (ts_table_next(err, &t)) {
        ts_work_group *g = TS_NEW(arena, ts_work_group);
        if (!read_group(err, &t, g)) return false;
        int index = index_of(groups, g->name);
        if (index == groups->count) {
            groups->groups =
                ts_arena_extend(arena, groups->groups, (size_t)groups->count, sizeof(ts_work_group *));
            groups->count++;
        }
        groups->groups[index] = g;
    }
    return !t.failed;
}

const ts_work_group *ts_work_groups_find(const ts_work_groups *groups, const char *name) {
    int index = index_of(groups, name);
    return index < groups->count ? groups->groups[index] : NULL;
}
