/* Mesh files: those that the binary carries, and the figures of one. */
#ifndef TILESIM_REPORT_MESH_H
#define TILESIM_REPORT_MESH_H

#include "base/text.h"
#include "mesh/mesh.h"

bool ts_report_meshes(ts_error *err, ts_arena *arena, ts_text *out);
bool ts_report_meshes_json(ts_error *err, ts_arena *arena, ts_text *out);
/* A file that reads back as the same mesh, with the comments of its files. */
bool ts_report_mesh(ts_error *err, ts_arena *arena, const char *name, ts_text *out);
/* "4 (ring) x 4 (line)" */
void ts_report_dims(const ts_mesh *mesh, ts_text *out);

#endif
