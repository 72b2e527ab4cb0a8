/* What a resharding does and takes, as text and as JSON; and shardings by themselves. */
#ifndef TILESIM_REPORT_RESHARD_H
#define TILESIM_REPORT_RESHARD_H

#include "base/text.h"
#include "mesh/reshard.h"

typedef struct {
    const ts_machine *machine;
    ts_mesh mesh;
    ts_sharding source, destination;
    ts_reshard_plan plan;
    bool proved; /* `proof` is set */
    ts_reshard_proof proof;
    const char *unproved; /* why it is not; NULL: it was not asked for */
} ts_reshard_report;

/* Moves a small array by the plan, so that the command line and the library do the same; where none is small
 * enough `unproved` says so. False: the plan is wrong. */
bool ts_reshard_report_prove(ts_error *err, ts_arena *arena, ts_reshard_report *report);

void ts_report_reshard(const ts_reshard_report *report, ts_text *out);
void ts_report_reshard_svg(const ts_reshard_report *report, ts_text *out);
void ts_report_reshard_html(const ts_reshard_report *report, ts_text *out);
/* Bytes over a link, of all collectives of the plan. */
int64_t ts_reshard_report_link_bytes(const ts_reshard_report *report, int64_t link);
void ts_report_reshard_json(const ts_reshard_report *report, ts_text *out);

#endif
