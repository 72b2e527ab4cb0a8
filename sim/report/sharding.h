/* Shardings: how they are written, and which device holds what. */
#ifndef TILESIM_REPORT_SHARDING_H
#define TILESIM_REPORT_SHARDING_H

#include "mesh/sharding.h"
#include "report/json.h"

/* "512 B", "4.0 KiB", "16.0 MiB" */
char *ts_report_size(char out[32], double bytes);
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

#endif
