/* Shardings over the devices of a mesh, and what it takes to bring a tensor from one to another. */
#ifndef TILESIM_REPORT_RESHARD_H
#define TILESIM_REPORT_RESHARD_H

#include "base/text.h"
#include "mesh/reshard.h"
#include "mesh/sharding.h"
#include "report/json.h"

/* "512 B", "4.0 KiB", "16.0 MiB" */
const char *ts_report_size(ts_arena *arena, double bytes);
/* The mesh and its links; a sharding in all notations, with what a device holds. */
void ts_report_mesh_lines(const ts_mesh *mesh, ts_text *out);
void ts_report_sharding_lines(const char *what, const ts_mesh *mesh, const ts_sharding *s, ts_text *out);
void ts_report_mesh_keys(const ts_mesh *mesh, ts_json *json);
void ts_report_sharding_keys(const char *key, const ts_mesh *mesh, const ts_sharding *s, ts_json *json);

/* Which device holds what: a picture of the last two dims, and a row a device; the first ones of large
 * meshes. */
void ts_report_sharding(const ts_mesh *mesh, const ts_sharding *s, ts_text *out);
void ts_report_sharding_json(const ts_mesh *mesh, const ts_sharding *s, ts_text *out);
void ts_report_sharding_svg(const ts_mesh *mesh, const ts_sharding *s, ts_text *out);
void ts_report_sharding_html(const ts_mesh *mesh, const ts_sharding *s, ts_text *out);

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
