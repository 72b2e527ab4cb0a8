/* A run on every device of a mesh: arrays are dealt out to the devices, and gathered at the end. */
#include <string.h>

#include "base/number.h"
#include "host/pack.h"
#include "layout/shape.h"
#include "pod/pod.h"

#include "recorder.h"
#include "run_parts.h"

typedef struct {
    const ts_run_request *request;
    const ts_chip_observer *const *observers; /* [device]; NULL: none */
    run_parts parts;
    ts_findings **findings; /* [device] */
    mesh_recorder *told;    /* NULL: there is no timeline */
    ts_pod *pod;
} mesh_run;

static int64_t devices_of(const mesh_run *run) { return run->request->mesh->device_count; }

static bool is_split(const ts_sharding *sharding, const mesh_run *run) {
    return sharding && ts_sharding_copies(sharding) < devices_of(run);
}

/* ---- Inputs ---- */

static bool store_inputs(ts_error *err, const mesh_run *run) {
    ts_arena *scratch = ts_arena_new();
    bool good = true;
    for (int i = 0; good && i < run->parts.program->code.tensor_count; i++) {
        const ts_run_tensor *bound = &run->parts.tensors[i];
        if (!bound->origin) continue;
        const ts_sharding *sharding = run->parts.program->uses[i].sharding;
        ts_host_reader whole = run_input(scratch, bound);
        for (int64_t d = 0; good && d < devices_of(run); d++) {
            ts_host_reader part =
                is_split(sharding, run) ? sharded_part(scratch, sharding, d, &whole) : whole;
            good = run_store(err, &run->parts.program->code.tensors[i], &part, ts_pod_chip(run->pod, d));
        }
    }
    ts_arena_free(scratch);
    return good;
}

/* ---- Outputs ---- */

enum { COMPARED = 1 << 14 }; /* elements at once */

/* Elements from `at` on that two copies of a part have alike, bit by bit, or that pad it. */
static size_t count_same(const ts_sharding *sharding, int64_t device, int64_t at,
                         const uint8_t *const copies[2], size_t count, size_t bytes) {
    size_t same = 0;
    while (same < count && (memcmp(copies[0] + same * bytes, copies[1] + same * bytes, bytes) == 0 ||
                            sharded_is_padding(sharding, device, at + (int64_t)same)))
        same++;
    return same;
}

static bool compare_copy(ts_error *err, const mesh_run *run, int i, const ts_host_reader *parts,
                         int64_t device) {
    const ts_tensor *tensor = &run->parts.program->code.tensors[i];
    const ts_sharding *sharding = run->parts.program->uses[i].sharding;
    int64_t first = sharded_first_copy(sharding, device);
    size_t bytes = (size_t)ts_dtype_get(tensor->shape->dtype)->stored_bits / 8;
    int64_t elements = ts_layout_element_count(tensor->shape->layout);
    ts_arena *scratch = ts_arena_new();
    uint8_t *a = TS_NEW_ARRAY(scratch, uint8_t, bytes * COMPARED),
            *b = TS_NEW_ARRAY(scratch, uint8_t, bytes * COMPARED);
    bool good = true;
    for (int64_t at = 0; good && at < elements; at += COMPARED) {
        size_t count = (size_t)ts_min(elements - at, COMPARED);
        good = parts[device].read(err, parts[device].self, at, 1, count, a) &&
               parts[first].read(err, parts[first].self, at, 1, count, b);
        size_t same =
            good ? count_same(sharding, device, at, (const uint8_t *const[]){a, b}, count, bytes) : count;
        if (same < count)
            good = ts_error_set(
                err, TS_ERROR_FAULT,
                "the copies of '%s' on devices %lld and %lld differ, first in element %lld of the part",
                tensor->name, (long long)first, (long long)device, (long long)at + (long long)same);
    }
    ts_arena_free(scratch);
    return good;
}

static bool compare_copies(ts_error *err, const mesh_run *run, int i, const ts_host_reader *parts) {
    const ts_sharding *sharding = run->parts.program->uses[i].sharding;
    ts_tensor_role role = run->parts.program->uses[i].role;
    if (!sharding || role == TS_ROLE_SCRATCH) return true;
    for (int64_t d = 0; d < devices_of(run); d++)
        if (sharded_first_copy(sharding, d) != d && !compare_copy(err, run, i, parts, d)) return false;
    return true;
}

static bool fetch_one(ts_error *err, ts_arena *arena, mesh_run *run, int i, bool saved) {
    const ts_tensor *tensor = &run->parts.program->code.tensors[i];
    const ts_sharding *sharding = run->parts.program->uses[i].sharding;
    ts_run_tensor *bound = &run->parts.tensors[i];
    ts_host_reader *parts = TS_NEW_ARRAY(arena, ts_host_reader, devices_of(run));
    for (int64_t d = 0; d < devices_of(run); d++) {
        ts_space *space = ts_chip_space(ts_pod_chip(run->pod, d), tensor->space);
        parts[d] = ts_host_fetch_reader(arena, tensor->shape, space, tensor->base_bytes);
    }
    bound->fetched = is_split(sharding, run) ? sharded_whole(arena, sharding, parts) : parts[0];
    return compare_copies(err, run, i, parts) &&
           run_take(err, arena, ts_program_shape(run->parts.program, i), saved, bound);
}

static bool fetch(ts_error *err, ts_arena *arena, mesh_run *run) {
    for (int i = 0; i < run->parts.program->code.tensor_count && !run->request->time_only; i++) {
        bool saved;
        if (run_wants(run->request, &run->parts, i, &saved) && !fetch_one(err, arena, run, i, saved))
            return false;
    }
    return true;
}

/* ---- What happened ---- */

static void find_busiest_link(const ts_run_request *request, const ts_run_mesh *m, ts_run_result *result) {
    int64_t best = 0, cycles = m->chips[m->slowest].cycles;
    for (int64_t i = 1; i < ts_mesh_link_count(m->mesh); i++)
        if (m->links[i].busy_ps > m->links[best].busy_ps) best = i;
    double ps = 1e6 * ts_machine_microseconds(request->machine, cycles);
    if (ps > 0) ts_roofline_add_link(&result->roofline, best, (double)m->links[best].busy_ps / ps, cycles);
}

static void count(ts_arena *arena, const mesh_run *run, ts_run_result *result) {
    const ts_mesh *mesh = run->request->mesh;
    ts_run_mesh *out = TS_NEW(arena, ts_run_mesh);
    ts_chip_counters *chips = TS_NEW_ARRAY(arena, ts_chip_counters, mesh->device_count);
    ts_run_link *links = TS_NEW_ARRAY(arena, ts_run_link, ts_mesh_link_count(mesh));
    *out = (ts_run_mesh){.mesh = mesh, .chips = chips, .links = links};
    for (int64_t d = 0; d < mesh->device_count; d++) {
        ts_chip_count(ts_pod_chip(run->pod, d), &chips[d]);
        if (chips[d].cycles > chips[out->slowest].cycles) out->slowest = d;
    }
    for (int64_t i = 0; i < ts_mesh_link_count(mesh); i++) {
        ts_pod_link link = ts_pod_link_of(run->pod, i);
        links[i] = (ts_run_link){link.bytes, link.busy_ps};
    }
    result->mesh = out;
    run_measure(arena, run->request, ts_pod_chip(run->pod, out->slowest), result);
    find_busiest_link(run->request, out, result);
}

/* The findings of all devices: what is found at the same lines is one, told of the first device. */
static void gather_findings(const mesh_run *run) {
    ts_findings *all = run->parts.findings;
    for (int64_t d = 0; d < devices_of(run); d++) {
        const ts_findings *own = run->findings[d];
        all->dropped += own->dropped;
        for (int i = 0; i < own->count; i++) {
            const ts_finding *f = &own->list[i];
            ts_finding *new = ts_findings_join(all, f);
            if (new) ts_finding_describe(new, "device %lld: %.200s", (long long)d, f->text);
        }
    }
}

static bool find_all_unwritten(ts_error *err, const mesh_run *run, const ts_run_result *result) {
    bool good = true;
    for (int64_t d = 0; good && d < devices_of(run) && run->request->check && !run->request->time_only; d++)
        good = find_unwritten(err, &(run_device){ts_pod_chip(run->pod, d), d, result->mesh->chips[d].cycles},
                              run->parts.program, run->parts.outputs, run->findings[d]);
    return good;
}

/* ---- The whole ---- */

static bool open_pod(ts_error *err, ts_arena *arena, mesh_run *run) {
    const ts_run_request *request = run->request;
    run_parts_configure(arena, request, &run->parts);
    run->findings = TS_NEW_ARRAY(arena, ts_findings *, devices_of(run));
    for (int64_t d = 0; d < devices_of(run); d++) {
        run->findings[d] = TS_NEW(arena, ts_findings);
        run->findings[d]->all_warn = !request->check;
    }
    if (request->timeline) run->told = mesh_recorder_new(arena, request, run->parts.program);
    ts_pod_request pod = {.mesh = request->mesh,
                          .code = &run->parts.program->code,
                          .config = &run->parts.config,
                          .findings = run->findings,
                          .observers = run->observers,
                          .max_cycles = request->max_cycles,
                          .threads = run->told || run->observers ? 1 : request->threads};
    if (run->told) {
        pod.observers = mesh_recorder_observers(run->told);
        pod.observer = mesh_recorder_observer(run->told);
    }
    run->pod = ts_pod_new(err, arena, &pod);
    return run->pod != NULL;
}

struct ts_pod *run_open_mesh(ts_error *err, ts_arena *arena, const ts_run_request *request,
                             const ts_chip_observer *const *observers, run_parts *parts) {
    mesh_run *run = TS_NEW(arena, mesh_run);
    *run = (mesh_run){.request = request, .observers = observers};
    if (!run_parts_load(err, arena, request, &run->parts) || !open_pod(err, arena, run)) return NULL;
    *parts = run->parts;
    if (store_inputs(err, run)) return run->pod;
    ts_pod_free(run->pod);
    return NULL;
}

static bool simulate(ts_error *err, ts_arena *arena, mesh_run *run, ts_run_result *result) {
    if (!store_inputs(err, run)) return false;
    bool good = ts_pod_run(err, run->pod);
    if (run->told) mesh_recorder_end(run->told, run->pod);
    if (!good || !fetch(err, arena, run)) return false;
    count(arena, run, result);
    if (!find_all_unwritten(err, run, result)) return false;
    gather_findings(run);
    return run->request->time_only || run_compare(err, arena, &run->parts, result);
}

bool run_on_mesh(ts_error *err, ts_arena *arena, const ts_run_request *request, ts_run_result *result) {
    mesh_run run = {.request = request, .observers = request->observers};
    if (!run_parts_load(err, arena, request, &run.parts)) return false;
    result->program = run.parts.program;
    bool good = open_pod(err, arena, &run) && simulate(err, arena, &run, result);
    ts_pod_free(run.pod);
    if (good) run_conclude(&run.parts, result);
    return good;
}
