/* Questions about a shape, as a user writes them: where an element is, what is at an offset, the same map in
 * another notation, whether another shape is the same map. */
#ifndef TILESIM_LAYOUT_NOTATION_QUESTION_H
#define TILESIM_LAYOUT_NOTATION_QUESTION_H

#include "layout/shape.h"

typedef struct {
    ts_arena *arena;
    const ts_shape *shape;
    const char *at, *inverse, *as, *equal; /* the texts; NULL: not asked */
    /* The answers. */
    int64_t index[TS_LAYOUT_MAX_DIMS], point[TS_LAYOUT_MAX_AXES];
    ts_index_list found; /* the elements at `point` */
    const ts_shape *translated, *other;
    ts_layout_comparison compared; /* equal, where that was not asked */
} ts_layout_question;

/* at: "2,3"; inverse: an offset, or "axis=value,.."; as: the name of a notation; equal: a shape. Errors call
 * them by the options of `tilesim layout`. */
bool ts_layout_question_answer(ts_error *err, ts_layout_question *question);

#endif
