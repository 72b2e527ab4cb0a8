/* What a calibration found. */
#ifndef TILESIM_REPORT_CALIBRATION_H
#define TILESIM_REPORT_CALIBRATION_H

#include "base/text.h"
#include "validate/calibrate.h"

void ts_report_calibration(const ts_calibration *calibration, ts_text *out);
void ts_report_calibration_json(const ts_calibration *calibration, ts_text *out);

#endif
