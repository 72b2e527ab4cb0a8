/* All pairs of layouts: a table in time and in straight copies, what it teaches, and a heat map. */
#ifndef TILESIM_REPORT_DMA_MATRIX_H
#define TILESIM_REPORT_DMA_MATRIX_H

#include "base/text.h"
#include "study/layouts.h"

void ts_report_matrix(const ts_transfer_matrix *matrix, ts_text *out);
void ts_report_matrix_json(const ts_transfer_matrix *matrix, ts_text *out);
void ts_report_matrix_svg(const ts_transfer_matrix *matrix, ts_text *out);

#endif
