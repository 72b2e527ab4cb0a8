/* What a relayout takes, as text, JSON, a picture and a page. */
#ifndef TILESIM_REPORT_RELAYOUT_H
#define TILESIM_REPORT_RELAYOUT_H

#include "base/text.h"
#include "study/relayout.h"

void ts_report_relayout(const ts_relayout_price_request *request, const ts_relayout_price *price,
                        ts_text *out);
void ts_report_relayout_json(const ts_relayout_price_request *request, const ts_relayout_price *price,
                             ts_text *out);
/* The first vregs of both sides: where elements are, in the colours of the source's vregs. */
bool ts_report_relayout_svg(ts_error *err, const ts_relayout_price *price, ts_text *out);
bool ts_report_relayout_html(ts_error *err, const ts_relayout_price_request *request,
                             const ts_relayout_price *price, ts_text *out);

#endif
