/* Routes over a mesh against a search over its links. */
#ifndef TESTS_SUPPORT_MESH_ROUTES_H
#define TESTS_SUPPORT_MESH_ROUTES_H

#include "mesh/mesh.h"

/* Fails the test unless the route between two devices is one way of working links, each with its bytes, and as short as
 * any is. */
void check_route(const ts_mesh *mesh, int64_t source, int64_t destination);

#endif
