/* Mesh files: those that the binary carries, and the figures of one. */
#include "report/list.h"

#include <inttypes.h>
#include <string.h>

#include "mesh/embedded.h"
#include "mesh/mesh_file.h"
#include "report/json.h"

const char *ts_report_dims(ts_arena *arena, const ts_mesh *mesh) {
    ts_text out = ts_text_begin(arena);
    for (int i = 0; i < mesh->dim_count; i++)
        ts_text_add(&out, "%s%" PRId64 "%s", i ? " x " : "", mesh->dims[i],
                    mesh->ring[i]       ? " (ring)"
                    : mesh->dims[i] > 1 ? " (line)"
                                        : "");
    return out.bytes;
}

static bool read_slice(ts_error *err, ts_arena *arena, size_t number, ts_mesh *mesh) {
    const char *name = ts_embedded_slices[number].name;
    ts_mesh_request request = {.axes = {"mesh", name, strlen(name)}};
    return ts_mesh_read(err, arena, &request, mesh);
}

bool ts_report_meshes(ts_error *err, ts_arena *arena, ts_text *out) {
    ts_text_add(out, "%-12s %-10s %8s %8s  %s\n", "mesh", "machine", "chips", "devices", "torus");
    for (size_t i = 0; i < ts_embedded_slice_count; i++) {
        ts_mesh mesh;
        if (!read_slice(err, arena, i, &mesh)) return false;
        ts_text_add(out, "%-12s %-10s %8" PRId64 " %8" PRId64 "  %s\n", ts_embedded_slices[i].name,
                    mesh.machine->name, mesh.chip_count, mesh.device_count, ts_report_dims(arena, &mesh));
    }
    return true;
}

bool ts_report_meshes_json(ts_error *err, ts_arena *arena, ts_text *out) {
    ts_json json;
    ts_json_begin(&json, out, "meshes");
    ts_json_array(&json, "meshes");
    for (size_t i = 0; i < ts_embedded_slice_count; i++) {
        ts_mesh mesh;
        if (!read_slice(err, arena, i, &mesh)) return false;
        ts_json_object(&json, NULL);
        ts_json_text(&json, "name", ts_embedded_slices[i].name);
        ts_json_text(&json, "machine", mesh.machine->name);
        ts_json_int(&json, "chips", mesh.chip_count);
        ts_json_int(&json, "devices", mesh.device_count);
        ts_json_ints(&json, "dims", mesh.dim_count, mesh.dims);
        ts_json_array(&json, "rings");
        for (int d = 0; d < mesh.dim_count; d++) ts_json_bool(&json, NULL, mesh.ring[d]);
        ts_json_close(&json);
        ts_json_close(&json);
    }
    ts_json_close(&json);
    ts_json_end(&json);
    return true;
}

bool ts_report_mesh(ts_error *err, ts_arena *arena, const char *name, ts_text *out) {
    const ts_machine *machine = NULL;
    const ts_mesh_file *file = ts_mesh_file_load(err, arena, name, &machine);
    if (!file) return false;
    ts_field_print_leaves(out, file->leaves, file->leaf_count, TS_FIELD_AS_WRITTEN);
    return true;
}
