/* Where the user wrote what became an instruction of HLO: metadata, and the tables at the head of a module
 * that its numbers refer to. Source: XLA hlo_module.cc (printing of FileNames .. StackFrames), OpMetadata. */
#ifndef TILESIM_HOST_HLO_LOCATION_H
#define TILESIM_HOST_HLO_LOCATION_H

#include "host/hlo.h"

enum {
    TS_HLO_LOCATIONS = 1 << 18
}; /* rows of a table, and locations, that are kept; what is beyond has none */

typedef struct {
    const char *file, *function; /* "": not known */
    int64_t line;
} ts_hlo_location;

typedef struct ts_hlo_locations ts_hlo_locations;

ts_hlo_locations *ts_hlo_locations_new(ts_arena *arena);
void ts_hlo_locations_begin(ts_hlo_locations *locations); /* a module, whose tables count from 1 again */
/* A line of the tables: the name of one, or a row. */
void ts_hlo_locations_row(ts_hlo_locations *locations, ts_span line);
/* The fields of an instruction's metadata: name=value between blanks. False: it has none. */
bool ts_hlo_metadata(ts_span attributes, ts_span *fields);
/* A field's value, without quotes: "op_name". */
bool ts_hlo_field(ts_span fields, const char *name, ts_span *value);
/* The number of the location that such fields name, -1 where they name none. Of a stack of frames the
 * innermost that is no installed package's. */
int32_t ts_hlo_locations_find(ts_hlo_locations *locations, ts_span fields);
ts_hlo_location ts_hlo_locations_get(const ts_hlo_locations *locations, int32_t number);

#endif
