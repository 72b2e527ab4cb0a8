/* What the binary carries: programs, mesh files, and the functions of checks. */
#ifndef TILESIM_REPORT_LIST_H
#define TILESIM_REPORT_LIST_H

#include "base/text.h"
#include "mesh/mesh.h"

/* Programs, each by its name, and what it computes: the first sentence of its text. Those of folders are parts of
 * others. */
void ts_report_programs(ts_text *out);
void ts_report_programs_json(ts_text *out);

/* For a terminal, and as docs/program.md has them. */
void ts_report_functions(ts_text *out);
void ts_report_functions_markdown(ts_text *out);

bool ts_report_meshes(ts_error *err, ts_arena *arena, ts_text *out);
bool ts_report_meshes_json(ts_error *err, ts_arena *arena, ts_text *out);
/* A file that reads back as the same mesh, with the comments of its files. */
bool ts_report_mesh(ts_error *err, ts_arena *arena, const char *name, ts_text *out);
/* "4 (ring) x 4 (line)" */
const char *ts_report_dims(ts_arena *arena, const ts_mesh *mesh);

#endif
