/* Transfers: the cost breakdown of one, several at once, and all pairs of layouts. */
#ifndef TILESIM_REPORT_TRANSFER_H
#define TILESIM_REPORT_TRANSFER_H

#include "base/text.h"
#include "study/layouts.h"
#include "study/transfer.h"

/* Also the loops of the plan's boxes (the first of them, when there are many)? */
typedef enum { TS_TRANSFER_COST, TS_TRANSFER_COST_AND_LOOPS } ts_transfer_detail;

/* others: what other layouts of the source and of the destination cost; NULL: not tried. */
void ts_report_transfer(const ts_transfer_study *study, const ts_transfer_others others[2],
                        ts_transfer_detail detail, ts_text *out);
void ts_report_transfer_json(const ts_transfer_study *study, const ts_transfer_others others[2],
                             ts_transfer_detail detail, ts_text *out);
/* The blocks in which the engine walks the plan, `count` of them from number `first` on: where each is in the
 * loops of its box, and its accesses with their channels, banks, rows and columns of HBM. */
void ts_report_transfer_steps_json(const ts_transfer_study *study, int64_t first, int64_t count,
                                   ts_text *out);
/* One page: the breakdown, the plan, other layouts and pictures of both. */
void ts_report_transfer_html(const ts_transfer_study *study, const ts_transfer_others others[2],
                             ts_text *out);

/* Several at once: how long each takes alone and together, and what the memory allows. */
void ts_report_transfer_mix(const ts_transfer_mix *mix, ts_text *out);
void ts_report_transfer_mix_json(const ts_transfer_mix *mix, ts_text *out);

/* All pairs of layouts: a table in time and in straight copies, what it teaches, and a heat map. */
void ts_report_matrix(const ts_transfer_matrix *matrix, ts_text *out);
void ts_report_matrix_json(const ts_transfer_matrix *matrix, ts_text *out);
void ts_report_matrix_svg(const ts_transfer_matrix *matrix, ts_text *out);

#endif
