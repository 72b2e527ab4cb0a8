/* How near HBM time is to other simulators: a section of docs/accuracy.md, and JSON. */
#ifndef TILESIM_REPORT_HBM_ACCURACY_H
#define TILESIM_REPORT_HBM_ACCURACY_H

#include "base/text.h"
#include "validate/hbm_reference.h"

/* For people, and the section of docs/accuracy.md. */
void ts_report_hbm_accuracy(const ts_hbm_accuracy *accuracy, ts_text *out);
void ts_report_hbm_accuracy_markdown(const ts_hbm_accuracy *accuracy, ts_text *out);
void ts_report_hbm_accuracy_json(const ts_hbm_accuracy *accuracy, ts_text *out);

#endif
