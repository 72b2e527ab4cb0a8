/* How near the models are to what they imitate: sections of docs/accuracy.md, JSON, a picture and a page. */
#ifndef TILESIM_REPORT_VALIDATION_H
#define TILESIM_REPORT_VALIDATION_H

#include "base/text.h"
#include "report/json.h"
#include "validate/calibrate.h"
#include "validate/hbm_reference.h"
#include "validate/validate.h"

/* Measurements beside models: for people, and the section of docs/accuracy.md; rows: every row too. */
void ts_report_validation(const ts_validation *validation, bool rows, ts_text *out);
void ts_report_validation_markdown(const ts_validation *validation, bool rows, ts_text *out);
void ts_report_validation_json(const ts_validation *validation, ts_text *out);
void report_errors_json(ts_json *json, const char *key, const ts_validation_errors *errors);
/* Simulated against measured time, log-log, a picture a group. */
void ts_report_validation_svg(const ts_validation *validation, ts_text *out);
/* The picture, the groups and the rows as a page. `of`: what was measured, or the files of it. */
void ts_report_validation_html(const ts_validation *validation, const char *of, ts_text *out);

/* HBM beside other simulators: for people, and the section of docs/accuracy.md. */
void ts_report_hbm_accuracy(const ts_hbm_accuracy *accuracy, ts_text *out);
void ts_report_hbm_accuracy_markdown(const ts_hbm_accuracy *accuracy, ts_text *out);
void ts_report_hbm_accuracy_json(const ts_hbm_accuracy *accuracy, ts_text *out);

/* What a calibration found. */
void ts_report_calibration(const ts_calibration *calibration, ts_text *out);
void ts_report_calibration_json(const ts_calibration *calibration, ts_text *out);

#endif
