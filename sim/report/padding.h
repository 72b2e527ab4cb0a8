/* What padding is called, in every report: docs/layouts.md defines both. Private to the folder. */
#ifndef TILESIM_REPORT_PADDING_H
#define TILESIM_REPORT_PADDING_H

#include "layout/shape.h"
#include "report/json.h"

/* Bytes of the copies that a layout's replicas make of its data, as far as there is room: some may share
 * places. */
int64_t report_replica_bytes(const ts_shape *shape);
/* Of the data and of its copies: neither is padding. */
int64_t report_held_bytes(const ts_shape *shape);
/* "padding": of the bytes with it, how many per cent hold no data. Layouts that share locations have none. */
double report_padding_percent(int64_t data_bytes, int64_t padded_bytes);
/* "expansion": how many times the data the bytes with padding are; 1 where there is no data. */
double report_expansion(int64_t data_bytes, int64_t padded_bytes);
/* The same as text of so many decimals, "1.60x"; "-" where there is no data. */
const char *report_expansion_text(ts_arena *arena, int64_t data_bytes, int64_t padded_bytes, int decimals);
/* "37.5 % padding: 60 of 96 bytes hold elements", and how many of these are replicas. */
const char *report_padding_text(ts_arena *arena, const ts_shape *shape);
/* The keys padding_percent and expansion. */
void report_padding_json(ts_json *json, int64_t data_bytes, int64_t padded_bytes);
/* The same of a shape that takes so many bytes. */
void report_shape_padding_json(ts_json *json, const ts_shape *shape, int64_t padded_bytes);

#endif
