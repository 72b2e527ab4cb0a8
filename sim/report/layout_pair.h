/* Two layouts of one array side by side. */
#ifndef TILESIM_REPORT_LAYOUT_PAIR_H
#define TILESIM_REPORT_LAYOUT_PAIR_H

#include "base/text.h"
#include "study/transfer.h"

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
