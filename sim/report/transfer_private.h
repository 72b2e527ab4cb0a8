/* Private to reports: what those of one transfer, of several and of all pairs of layouts share. */
#ifndef TILESIM_REPORT_TRANSFER_PRIVATE_H
#define TILESIM_REPORT_TRANSFER_PRIVATE_H

#include "base/text.h"
#include "dram/hbm.h"
#include "page.h"
#include "report/json.h"
#include "report/transfer.h"

/* Of useful data. */
double report_gb_per_second(const ts_transfer_study *study);
/* Of the HBM's peak, in per cent: what moved over its pins. */
double report_peak_share(const ts_transfer_study *study);
/* What a part is called in the table: of the engine's rate, for what. */
const char *report_part_label(ts_arena *arena, const ts_transfer_study *study, ts_dma_component part);
/* The loops of the plan's boxes. */
void report_add_boxes(const ts_plan *plan, ts_text *out);
/* The keys box_count and boxes: the first `most` of the plan, a loop as [extent, source stride, destination
 * stride] in bits. */
void report_add_boxes_json(ts_json *json, const ts_plan *plan, int64_t most);
/* The coordinates of an element: "offset 1,234", or "lane 3, warp 1". */
const char *report_point_text(ts_arena *arena, const ts_layout *layout, const int64_t *index);
/* Sections of a page: where the time goes, and the plan. */
void report_transfer_sections(const ts_transfer_study *study, page *p);

/* A line that begins with `before`: the largest shares of the time of all pseudo channels, up to the last
 * data. */
void report_add_limiters(ts_text *out, const char *before, const ts_hbm_stats *hbm);
/* All of them, in ticks, as the key "hbm_limiters". */
void report_add_limiters_json(ts_json *json, const ts_hbm_stats *hbm);

/* ---- All pairs of layouts ---- */

/* Of a straight copy, in hundredths, rounded. */
int64_t matrix_ratio(const ts_transfer_matrix *matrix, int from, int to);
/* Is any price? */
bool matrix_is_estimated(const ts_transfer_matrix *matrix);
/* The layout's own text, without type and dims: "{1,0:T(8,128)}". */
const char *matrix_layout_text(ts_arena *arena, const ts_shape *shape);
/* The type and dims alone: "bf16[4096,4096]". */
const char *matrix_array_text(ts_arena *arena, const ts_shape *shape);

#endif
