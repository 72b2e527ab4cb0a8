/* What the devices of a mesh and their links did in a run. */
#ifndef TILESIM_REPORT_RUN_MESH_H
#define TILESIM_REPORT_RUN_MESH_H

#include "report/json.h"
#include "run/run.h"

void report_run_mesh(const ts_run_request *request, const ts_run_mesh *mesh, ts_text *out);
/* The object "mesh". */
void report_run_mesh_json(const ts_run_request *request, const ts_run_mesh *mesh, ts_json *json);

#endif
