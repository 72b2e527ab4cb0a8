/* Shardings: how they are written, as text and as JSON. */
#include "report/reshard.h"

#include <inttypes.h>

#include "report/list.h"

static double microseconds(double ps) { return ps / 1e6; }

/* "512 B", "4.0 KiB", "16.0 MiB" */
const char *ts_report_size(ts_arena *arena, double bytes) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    for (; bytes >= 1024 && unit < 4; unit++) bytes /= 1024;
    return ts_text_format(arena, "%.*f %s", unit > 0, bytes, units[unit]);
}

void ts_report_mesh_lines(const ts_mesh *mesh, ts_text *out) {
    ts_text_add(out, "mesh          ");
    for (int i = 0; i < mesh->axis_count; i++)
        ts_text_add(out, "%s%s=%" PRId64, i ? ", " : "", mesh->axes[i].name, mesh->axes[i].extent);
    ts_text_add(out, ": %s of %s\n", ts_text_counted(out->arena, mesh->device_count, "device"),
                mesh->machine->title);
    ts_text_add(out, "links         chips %s; %.1f GB/s one way, %.2f us a hop, %.2f us to launch\n",
                ts_report_dims(out->arena, mesh), (double)mesh->ici->rate * mesh->ici->efficiency / 1e6,
                microseconds((double)mesh->ici->hop_ps), microseconds((double)mesh->ici->launch_ps));
}

static double device_bytes(const ts_sharding *s) {
    return (double)ts_sharding_elements(s) * s->shape->element_bits / 8;
}

/* A plan of what does not fit is a question, too. */
static void add_room(const ts_mesh *mesh, double bytes, ts_text *out) {
    const ts_machine *machine = mesh->machine;
    const ts_machine_memory *hbm = machine->spaces[TS_SPACE_HBM];
    double room = hbm ? (double)hbm->capacity_bytes / machine->chip.devices : 0;
    if (hbm && bytes > room)
        ts_text_add(out, "%-13s does not fit: a device of %s has %s of HBM\n", "", machine->title,
                    ts_report_size(out->arena, room));
}

void ts_report_sharding_lines(const char *what, const ts_mesh *mesh, const ts_sharding *s, ts_text *out) {
    const char *spec = ts_sharding_spec_text(out->arena, mesh, s), *hlo = ts_sharding_hlo_text(out->arena, s);
    ts_text_add(out, "%-13s %s\n", what, ts_sharding_axe_text(out->arena, mesh, s));
    if (spec) ts_text_add(out, "%-13s %s\n", "", spec);
    if (hlo) ts_text_add(out, "%-13s %s\n", "", hlo);
    int64_t copies = ts_sharding_copies(s);
    ts_text_add(out, "%-13s %s a device, ", "", ts_report_size(out->arena, device_bytes(s)));
    ts_text_add(out, copies == 1 ? "every element once\n" : "every element %" PRId64 " times\n", copies);
    add_room(mesh, device_bytes(s), out);
}

void ts_report_mesh_keys(const ts_mesh *mesh, ts_json *json) {
    ts_json_object(json, "mesh");
    for (int i = 0; i < mesh->axis_count; i++) ts_json_int(json, mesh->axes[i].name, mesh->axes[i].extent);
    ts_json_close(json);
    ts_json_ints(json, "topology", mesh->dim_count, mesh->dims);
    ts_json_array(json, "rings");
    for (int i = 0; i < mesh->dim_count; i++) ts_json_bool(json, NULL, mesh->ring[i]);
    ts_json_close(json);
}

void ts_report_sharding_keys(const char *key, const ts_mesh *mesh, const ts_sharding *s, ts_json *json) {
    ts_json_object(json, key);
    ts_json_text(json, "spec", ts_sharding_spec_text(json->out->arena, mesh, s));
    ts_json_text(json, "hlo", ts_sharding_hlo_text(json->out->arena, s));
    ts_json_text(json, "axe", ts_sharding_axe_text(json->out->arena, mesh, s));
    ts_json_int(json, "device_elements", ts_sharding_elements(s));
    ts_json_int(json, "copies", ts_sharding_copies(s));
    ts_json_close(json);
}
