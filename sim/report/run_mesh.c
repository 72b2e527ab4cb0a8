/* Devices and links of a run on a mesh. */
#include "run_private.h"

#include <inttypes.h>

/* Of the run's time. */
static double busy_percent(const ts_run_request *request, const ts_run_mesh *m, const ts_run_link *link) {
    double ps = 1e6 * ts_machine_microseconds(request->machine, m->chips[m->slowest].cycles);
    return ps > 0 ? 100 * (double)link->busy_ps / ps : 0;
}

typedef struct {
    int64_t used, there, busiest, bytes; /* busiest: -1: none; bytes: of all, once for each link */
} link_sums;

static link_sums sum_links(const ts_run_mesh *m) {
    link_sums sums = {.busiest = -1};
    for (int64_t i = 0; i < ts_mesh_link_count(m->mesh); i++) {
        const ts_run_link *link = &m->links[i];
        sums.there += ts_mesh_has_link(m->mesh, i);
        sums.used += link->bytes > 0;
        sums.bytes += link->bytes;
        if (link->bytes > (sums.busiest < 0 ? 0 : m->links[sums.busiest].bytes)) sums.busiest = i;
    }
    return sums;
}

static int64_t fastest(const ts_run_mesh *m) {
    int64_t least = 0;
    for (int64_t d = 1; d < m->mesh->device_count; d++)
        if (m->chips[d].cycles < m->chips[least].cycles) least = d;
    return least;
}

void report_run_mesh(const ts_run_request *request, const ts_run_mesh *m, ts_text *out) {
    const ts_mesh *mesh = m->mesh;
    link_sums sums = sum_links(m);
    int64_t least = fastest(m);
    ts_text_add(out, "mesh       ");
    for (int i = 0; i < mesh->axis_count; i++)
        ts_text_add(out, "%s%s=%" PRId64, i ? ", " : "", mesh->axes[i].name, mesh->axes[i].extent);
    ts_text_add(out, ": %s; %" PRId64 " of %" PRId64 " links are used, for %s in all\n",
                ts_text_counted(out->arena, mesh->device_count, "device"), sums.used, sums.there,
                ts_text_counted(out->arena, sums.bytes, "byte"));
    if (sums.busiest >= 0) {
        const ts_run_link *link = &m->links[sums.busiest];
        ts_text_add(out, "           busiest link %s: %s, in use %.1f %% of the time\n",
                    ts_mesh_link_text(out->arena, mesh, sums.busiest),
                    ts_text_counted(out->arena, link->bytes, "byte"), busy_percent(request, m, link));
    }
    ts_text_add(out, "devices    device %" PRId64 " ends last, in cycle %s, and is told of below\n",
                m->slowest, ts_text_grouped(out->arena, m->chips[m->slowest].cycles));
    ts_text_add(out, "           device %" PRId64 " ends first, in cycle %s\n", least,
                ts_text_grouped(out->arena, m->chips[least].cycles));
}

static void add_device(const ts_chip_counters *chip, int64_t number, ts_json *json) {
    ts_json_object(json, NULL);
    ts_json_int(json, "device", number);
    ts_json_int(json, "cycles", chip->cycles);
    ts_json_int(json, "transfers", chip->transfers);
    ts_json_int(json, "hbm_read_bytes", chip->hbm_read_bytes);
    ts_json_int(json, "hbm_written_bytes", chip->hbm_written_bytes);
    ts_json_int(json, "semaphore_stall_cycles", chip->cores[0].stalls[TS_STALL_SEMAPHORE]);
    ts_json_close(json);
}

static void add_link(const ts_run_request *request, const ts_run_mesh *m, int64_t number, ts_json *json) {
    ts_json_object(json, NULL);
    ts_json_text(json, "link", ts_mesh_link_text(json->out->arena, m->mesh, number));
    ts_json_int(json, "bytes", m->links[number].bytes);
    ts_json_real(json, "busy_percent", busy_percent(request, m, &m->links[number]), 3);
    ts_json_close(json);
}

void report_run_mesh_json(const ts_run_request *request, const ts_run_mesh *m, ts_json *json) {
    ts_json_object(json, "mesh");
    ts_json_object(json, "axes");
    for (int i = 0; i < m->mesh->axis_count; i++)
        ts_json_int(json, m->mesh->axes[i].name, m->mesh->axes[i].extent);
    ts_json_close(json);
    ts_json_int(json, "slowest_device", m->slowest);
    ts_json_array(json, "devices");
    for (int64_t d = 0; d < m->mesh->device_count; d++) add_device(&m->chips[d], d, json);
    ts_json_close(json);
    ts_json_array(json, "links");
    for (int64_t i = 0; i < ts_mesh_link_count(m->mesh); i++)
        if (ts_mesh_has_link(m->mesh, i)) add_link(request, m, i, json);
    ts_json_close(json);
    ts_json_close(json);
}
