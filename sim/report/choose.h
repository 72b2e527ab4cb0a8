/* The ranking of a tensor's layouts, as text, JSON and a picture. */
#ifndef TILESIM_REPORT_CHOOSE_H
#define TILESIM_REPORT_CHOOSE_H

#include "base/text.h"
#include "choose/choose.h"

typedef struct {
    int rows; /* INT_MAX: all */
} ts_choose_view;

void ts_report_choose(const ts_choose_result *result, const ts_choose_view *view, ts_text *out);
void ts_report_choose_json(const ts_choose_result *result, const ts_choose_view *view, ts_text *out);
/* Bars of time and of bytes. */
void ts_report_choose_svg(const ts_choose_result *result, const ts_choose_view *view, ts_text *out);
/* The whole report as an HTML page. */
void ts_report_choose_html(const ts_choose_result *result, const ts_choose_view *view, ts_text *out);

#endif
