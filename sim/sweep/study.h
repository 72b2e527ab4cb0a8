/* A study: what varies, what is asked at each point, which points count, and figures that follow. One YAML
 * file:
 *
 *   title: Tiling against rows
 *   machine: tpu-v5e                     # a name, or a path beside the study
 *   set: {hbm.stacks: 1}                 # figures of it that are changed
 *   vary:                                # a grid; the last varies fastest
 *     ROWS: {from: 8, to: 4096, times: 2}
 *     machine: [tpu-v5e, tpu-v6e]        # over the one above
 *     hbm.bandwidth_scale: 0.5,1,2       # a name with a point is a figure of the machine
 *   points: [{A: 1, B: x}, {A: 2, B: y}] # what varies together
 *   where: ROWS * A < 4096 && B != "y"   # an expression, or a list: all must hold
 *   ask:                                 # one question, or a list of them
 *     dma: 'f32[$ROWS,128] -> f32[$ROWS,128]{1,0:T(8,$(4 * 2))}'
 *   columns: {gb_per_s: useful_bytes / microseconds / 1000}
 *
 * $NAME and $(EXPRESSION) stand for their values in all texts of set and ask; $$ is a dollar. */
#ifndef TILESIM_SWEEP_STUDY_H
#define TILESIM_SWEEP_STUDY_H

#include "config/tree.h"
#include "run/run.h"
#include "study/grid.h"
#include "sweep/columns.h"

typedef enum {
    TS_SWEEP_DMA,
    TS_SWEEP_PROGRAM,
    TS_SWEEP_LAYOUT,
    TS_SWEEP_CHOOSE,
    TS_SWEEP_AUDIT,
    TS_SWEEP_RESHARD,
    TS_SWEEP_HBM,
    TS_SWEEP_QUESTIONS
} ts_sweep_question;
const char *ts_sweep_question_text(ts_sweep_question question);

/* A text of the study, with its place. */
typedef struct {
    const char *name;
    const ts_tree *node;
} ts_sweep_text;

/* Texts of a question, as its row of the table of questions has them; NULL: not given. */
enum { TS_SWEEP_OPTIONS = 4 };
typedef struct {
    ts_sweep_question question;
    const char *name; /* how it is called among several */
    const ts_tree *text;
    const ts_tree *options[TS_SWEEP_OPTIONS];
} ts_sweep_ask;
/* The name of option `i` of a question, or NULL. */
const char *ts_sweep_option_text(ts_sweep_question question, int i);

typedef struct ts_sweep_moves ts_sweep_moves;

typedef struct {
    const ts_source *source;
    const char *title;
    const char *folder;     /* its files are relative to; "" or ends in '/' */
    const ts_tree *machine; /* NULL: the default */
    const ts_tree *sets;    /* a map; NULL: none */
    ts_grid grid;           /* the list of points and that of questions are axes of numbers, first */
    int first_varied;       /* axes before it are such */
    const ts_tree *points;  /* a list of maps with the same keys; NULL: none */
    const ts_tree *vary;    /* a map; NULL: none */
    const ts_sweep_ask *asks;
    int ask_count;
    const char **names; /* of the parameters of a point */
    int name_count;
    const ts_run_request *run; /* in place of asks: the parameters are further defines of it; NULL */
    const ts_tree *path; /* of its program, with names of the parameters, which are no defines then; NULL */
    ts_sweep_text *conditions, *derived;
    int condition_count, derived_count;
    ts_sweep_moves *moves; /* of a study with changes: what these are on each machine; NULL */
} ts_sweep_study;

enum { TS_SWEEP_NAMES = 64 };

/* Names in its expressions are known, and its texts are right in form. `folder` as above. It points into
 * `source` and its text, which must outlive it, as `folder` must. NULL: an error (TS_ERROR_INPUT) with its
 * place. */
const ts_sweep_study *ts_sweep_study_parse(ts_error *err, ts_arena *arena, const ts_source *source,
                                           const char *folder);
/* Is there each machine that it names, and a figure of each name in set, points and vary? Whether a value can
 * be, the point's answer says. */
bool ts_sweep_study_check(ts_error *err, ts_arena *arena, const ts_sweep_study *study);
/* Both. */
const ts_sweep_study *ts_sweep_study_load(ts_error *err, ts_arena *arena, const char *path);
/* The same with one more axis, which varies slowest of those with values. One of this name is of figures of a
 * point's machine, after all else that the study changes of it: "hbm.stacks*2", "hbm.stacks/2", or "" for
 * none. */
#define TS_SWEEP_CHANGE "change"
const ts_sweep_study *ts_sweep_study_with(ts_error *err, ts_arena *arena, const ts_sweep_study *study,
                                          const ts_grid_axis *axis);

/* Of every `count` points that number `index`, from 0; count 0: all. */
typedef struct {
    int64_t index, count;
} ts_sweep_shard;
bool ts_sweep_shard_has(const ts_sweep_shard *shard, int64_t point);

/* Texts of the parameters of a point, [study->name_count]; which question it asks. */
typedef struct {
    const ts_sweep_study *study;
    const ts_sweep_ask *ask;
    const char **values;
    int64_t index;
} ts_sweep_point;
void ts_sweep_point_get(ts_arena *arena, const ts_sweep_study *study, int64_t index, ts_sweep_point *point);
/* The value of that parameter, or NULL. */
const char *ts_sweep_point_value(const ts_sweep_point *point, const char *name);
/* Do all conditions hold? */
bool ts_sweep_point_counts(ts_error *err, ts_arena *arena, const ts_sweep_point *point, bool *counts);
/* A text with values in place of names. */
const char *ts_sweep_point_fill(ts_error *err, ts_arena *arena, const ts_sweep_point *point,
                                const ts_tree *text);
/* An expression over parameters and, if row is not NULL, results; none where a name has no number. */
bool ts_sweep_point_evaluate(ts_error *err, ts_arena *arena, const ts_sweep_point *point,
                             const ts_sweep_row *row, const ts_sweep_text *text, ts_sweep_value *value);

#endif
