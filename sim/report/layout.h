/* Shapes and layouts as people read them: sizes, padding by dim, digits, a picture, and the arithmetic of one
 * element; and two of them side by side. */
#ifndef TILESIM_REPORT_LAYOUT_H
#define TILESIM_REPORT_LAYOUT_H

#include "base/text.h"
#include "layout/notation/question.h"
#include "report/json.h"
#include "study/transfer.h"

/* What one logical dim, or a run of dims that the layout merges, costs. */
typedef struct {
    int dim_count; /* 0: dims that the tiles add in front (a tile of higher rank than the array) */
    int dims[TS_LAYOUT_MAX_DIMS];
    int64_t extent, padded; /* products over the dims, and over the digits made of them */
} ts_layout_cost;

/* The costs in the order of the dims; only those that pad are interesting. `value` of each digit is its
 * formula in the logical index (d0, d1 ...). Of a layout of stages (asserted). */
typedef struct {
    int cost_count;
    ts_layout_cost *costs;
    const char **values;
} ts_layout_anatomy;
void ts_layout_dissect(ts_arena *arena, const ts_layout *layout, ts_layout_anatomy *out);

/* The whole explanation; arrays of at most a few hundred elements are drawn. Lines of at most 100 columns. */
void ts_report_shape(ts_arena *arena, const ts_shape *shape, ts_text *out);
/* The grid of offsets and the memory order beside it; false (nothing added) when it would be too large. */
bool ts_report_picture(ts_arena *arena, const ts_shape *shape, ts_text *out);
/* The same of some shapes, one below the other, as an SVG image: the share of padding, cells coloured by tile
 * (with several axes: by the coordinate on the first), numbered by where they lie, padding hatched, sub-tiles
 * boxed in red, memory order beside the grid. Large arrays are drawn as tiles, of the very large ones the
 * beginning and the last. Needs layouts. */
void ts_report_svg(ts_arena *arena, int count, const ts_shape *const *shapes, ts_text *out);
/* The explanation and the image as a page. Needs a layout. */
void ts_report_shape_html(ts_arena *arena, const ts_shape *shape, ts_text *out);
/* For a terminal: the grid of offsets with the colours of its tiles, padding hatched; large arrays as above.
 * Needs a layout. */
void ts_report_ansi(ts_arena *arena, const ts_shape *shape, ts_text *out);
/* Step by step from the logical index (inside the dims) to the offset. */
void ts_report_offset(const ts_shape *shape, const int64_t *index, ts_text *out);
/* The ranges of the axes, the replicas and the swizzle; nothing for a layout in plain memory. */
void ts_report_axes(const ts_layout *layout, ts_text *out);
void ts_report_axes_json(const ts_layout *layout, ts_json *json);
/* The sums of digits of an index on each axis, and its points. */
void ts_report_point(const ts_layout *layout, const int64_t *index, ts_text *out);
void ts_report_point_json(const ts_layout *layout, const int64_t *index, ts_json *json);
/* The shape's own keys, into the open object: canonical, sizes, dims, digits. */
void ts_report_shape_json(ts_arena *arena, const ts_shape *shape, ts_json *json);
/* Of an array of any size, what a picture shows at once. */
typedef struct {
    int row_dim, column_dim;           /* dims of the grid; below 0: the last two */
    int64_t rows, columns;             /* cells, fewer where the array with its padding ends */
    int64_t index[TS_LAYOUT_MAX_DIMS]; /* of the first cell */
    int line_axis, place_axis;         /* of memory; less than 0: the first, the last. The same: one line
                                          goes on where the one before ends */
    int64_t lines, line;               /* lines, and points of each; line 0: as the tiles are */
    int64_t point[TS_LAYOUT_MAX_AXES]; /* the first */
} ts_layout_window;
/* Where the cells lie, and what lies at the points; what the tiles are. Needs a layout. */
void ts_report_layout_window_json(ts_arena *arena, const ts_shape *shape, const ts_layout_window *window,
                                  ts_text *out);
/* What was asked and answered; where nothing was asked, the explanation of the shape. */
void ts_report_layout_answer(const ts_layout_question *q, ts_text *out);
void ts_report_layout_answer_json(const ts_layout_question *q, ts_text *out);
/* What two shapes of the same map may still differ in: lines that begin with `head`. */
void ts_report_layout_difference(const ts_shape *a, const ts_shape *b, const char *head, ts_text *out);

/* Two layouts of one array side by side. */
typedef struct {
    const ts_shape *shapes[2];      /* of the same dims */
    const int64_t *index;           /* an element; NULL: there is none */
    const ts_transfer_study *study; /* of moving the first to the second; NULL: that cannot be priced .. */
    const char *why;                /* .. and why */
} ts_layout_pair;

/* Sizes, padding, pictures of small arrays, where the element lies in both, the plan between them, its
 * price. */
void ts_report_layout_pair(ts_arena *arena, const ts_layout_pair *pair, ts_text *out);
void ts_report_layout_pair_json(ts_arena *arena, const ts_layout_pair *pair, ts_text *out);
/* "element (2,130) is at"; "": none is asked for. */
const char *report_element_heading(const ts_layout_pair *pair, ts_arena *arena);
/* The same as a page. */
void ts_report_layout_pair_html(ts_arena *arena, const ts_layout_pair *pair, ts_text *out);

#endif
