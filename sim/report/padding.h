/* What padding is called, in every report: docs/layouts.md defines both. Private to the folder. */
#ifndef TILESIM_REPORT_PADDING_H
#define TILESIM_REPORT_PADDING_H

#include "report/json.h"

/* "padding": of the bytes with it, how many per cent hold no data. Layouts that share locations have none. */
double report_padding_percent(int64_t data_bytes, int64_t padded_bytes);
/* "expansion": how many times the data the bytes with padding are; 1 where there is no data. */
double report_expansion(int64_t data_bytes, int64_t padded_bytes);
/* The keys padding_percent and expansion. */
void report_padding_json(ts_json *json, int64_t data_bytes, int64_t padded_bytes);

#endif
