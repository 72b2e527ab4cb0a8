/* What a relayout takes, as text and as JSON. */
#ifndef TILESIM_REPORT_RELAYOUT_H
#define TILESIM_REPORT_RELAYOUT_H

#include "report/json.h"
#include "study/relayout.h"

void ts_report_relayout(const ts_relayout_price_request *request, const ts_relayout_price *price,
                        ts_text *out);
void ts_report_relayout_json(const ts_relayout_price_request *request, const ts_relayout_price *price,
                             ts_text *out);

#endif
