/* What the reports of one transfer and of several share. Private to the folder. */
#ifndef TILESIM_REPORT_LIMITERS_H
#define TILESIM_REPORT_LIMITERS_H

#include "base/text.h"
#include "dram/hbm.h"
#include "report/json.h"

/* A line that begins with `before`: the largest shares of the time of all pseudo channels, up to the last
 * data. */
void report_add_limiters(ts_text *out, const char *before, const ts_hbm_stats *hbm);
/* All of them, in ticks, as the key "hbm_limiters". */
void report_add_limiters_json(ts_json *json, const ts_hbm_stats *hbm);

#endif
