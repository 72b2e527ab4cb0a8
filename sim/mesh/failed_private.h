/* Links that have failed, and routes around them. */
#ifndef TILESIM_MESH_FAILED_PRIVATE_H
#define TILESIM_MESH_FAILED_PRIVATE_H

#include "mesh/mesh.h"

/* Sets mesh->failed from the request's texts. Refused: what is no link, and failures that leave some chip no
 * way to some other. */
bool mesh_read_failed(ts_error *err, ts_arena *arena, const ts_mesh_request *request, ts_mesh *mesh);
/* Of ts_mesh_route, with failed links; `loads` are bytes of each link, not of a line. */
int64_t mesh_route_around(const ts_mesh *mesh, int64_t from, int64_t to, int64_t bytes, int64_t *loads);

#endif
