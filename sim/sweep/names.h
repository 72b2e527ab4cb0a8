/* Names in the texts of a study: what stands behind a dollar, in expressions, and of machines. */
#ifndef TILESIM_SWEEP_NAMES_H
#define TILESIM_SWEEP_NAMES_H

#include "program/token.h"
#include "sweep/study.h"

typedef enum { SWEEP_END, SWEEP_LITERAL, SWEEP_NAME, SWEEP_EXPRESSION } sweep_segment_kind;
typedef struct {
    sweep_segment_kind kind;
    const char *text;
    size_t length;
} sweep_segment;

/* The next segment of a text from byte *at on, which is left behind it. */
bool sweep_next_segment(ts_error *err, const ts_tree *text, size_t *at, sweep_segment *segment);

/* An error at byte `at` of a scalar of the study's file. False. */
bool sweep_error_in(ts_error *err, const ts_tree *text, size_t at, const char *message);

/* The same of an error that points into a segment of it. */
bool sweep_pass_up(ts_error *err, const ts_tree *text, const sweep_segment *segment, const ts_error *theirs);

/* Which names a text may have. */
typedef struct {
    const ts_sweep_study *study; /* its parameters */
    int derived;                 /* -1: no results; else the results, and so many of its derived columns */
} sweep_known;
/* Are all names of an expression known, or those of a text's segments, and are expressions well formed? */
bool sweep_check_expression(ts_error *err, ts_arena *arena, const sweep_known *known, const ts_tree *text);
bool sweep_check_text(ts_error *err, ts_arena *arena, const sweep_known *known, const ts_tree *text);

/* ---- Texts in expressions (texts.c) ---- */

/* Why a text in the expression is compared with nothing, and where; NULL: all are compared with
 * parameters. */
const char *sweep_wrong_text(const ts_sweep_study *study, const token *list, const token **location);
/* The tokens of such an expression with 1 or 0 in place of each comparison. */
const token *sweep_compare_texts(ts_arena *arena, const ts_sweep_point *point, const token *list);

/* A path of the study, which is relative to its folder. */
const char *sweep_beside(ts_arena *arena, const ts_sweep_study *study, const char *path);

#endif
