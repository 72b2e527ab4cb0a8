/* Two JSON reports of one command, figure by figure: what changed, and by how much. */
#ifndef TILESIM_STUDY_COMPARE_H
#define TILESIM_STUDY_COMPARE_H

#include "base/arena.h"
#include "base/error.h"

/* A value of a report. Text is unquoted; "{..}" and "[..]" stand for what only one report has. */
typedef struct {
    const char *text; /* NULL: that report does not have it */
    bool is_number;
    double number;
} ts_compare_value;

/* Its path: keys, with points between them, and of lists in brackets what the element begins with, if that is
 * a text ("tensors[x].bytes") or an object ("candidates[BM=256].cycles"), else its position from 0; of
 * several that begin alike " #2" is the second in the first report. */
typedef struct {
    const char *path;
    size_t section; /* bytes of the path's first key */
    ts_compare_value before, after;
} ts_compare_change;

/* What a command's report is about: "microseconds" of a run. Less is better. */
typedef struct {
    const char *path;
    double before, after;
} ts_compare_figure;

enum { TS_COMPARE_FIGURES = 2 };

typedef struct {
    const char *command; /* "run" */
    ts_compare_figure figures[TS_COMPARE_FIGURES];
    int figure_count;
    const char *lacking;         /* which report has no such figure, and why; NULL: both have all */
    ts_compare_change *settings; /* what was run, on what */
    ts_compare_change *results;
    int setting_count, result_count;
    int64_t equal_count; /* values that both have, and that do not differ */
} ts_comparison;

/* Both are texts of JSON with one "schema", or that is an error. */
bool ts_compare(ts_error *err, ts_arena *arena, const ts_source *before, const ts_source *after,
                ts_comparison *result);

#endif
