/* Meshes of requests. */
#include <string.h>

#include "api_private.h"
#include "mesh/mesh_file.h"

const char *ts_machine_of_mesh(ts_error *err, ts_arena *arena, const char *mesh) {
    API_C_LOCALE;
    if (!ts_error_need(err, "the mesh", mesh)) return NULL;
    return ts_mesh_file_is(mesh, strlen(mesh)) ? ts_mesh_file_machine(err, arena, mesh) : TS_MACHINE_DEFAULT;
}

bool api_read_mesh(ts_error *err, ts_arena *arena, const ts_machine *machine, const char *const texts[2],
                   ts_mesh *mesh) {
    ts_mesh_request request = {.machine = machine, .axes = api_source("mesh", texts[0])};
    if (texts[1]) request.topology = api_source("topology", texts[1]);
    return ts_mesh_read(err, arena, &request, mesh);
}

bool api_need_mesh(ts_error *err, const char *mesh, const char *topology) {
    return mesh || !topology ||
           ts_error_set(err, TS_ERROR_USAGE, "topology is '%s' without a mesh, expected both", topology);
}

bool api_same_axes(const ts_mesh *a, const ts_mesh *b) {
    bool same = a->axis_count == b->axis_count;
    for (int i = 0; same && i < a->axis_count; i++)
        same = a->axes[i].extent == b->axes[i].extent && strcmp(a->axes[i].name, b->axes[i].name) == 0;
    return same;
}
