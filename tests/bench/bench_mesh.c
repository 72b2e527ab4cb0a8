/* Many chips, in seconds of CPU time: a ring all-reduce of 64 chips with values and without (memories filled before, and
 * looked at behind), what a chip costs in a run of time only, and what it costs to plan a reshard over 4,096 chips. */
#include <stdio.h>
#include <string.h>

#include "base/host_clock.h"
#include "mesh/reshard.h"
#include "pod/pod.h"
#include "run/run.h"

static bool read_mesh(ts_error *err, ts_arena *arena, const char *axes, ts_mesh *mesh) {
    ts_mesh_request request = {.machine = ts_machine_load(err, arena, "tpu-v5p"),
                               .axes = {"--mesh", axes, strlen(axes)}};
    return request.machine && ts_mesh_read(err, arena, &request, mesh);
}

/* ---- Programs ---- */

typedef struct {
    const char *path, *axes;
    ts_define define;
    bool values;
} run;

/* The addends of device d are d + 1. */
static void fill(ts_pod *pod, const ts_mesh *mesh, const ts_tensor *x) {
    for (int64_t d = 0; d < mesh->device_count; d++) {
        uint8_t *bytes =
            ts_space_touch(ts_chip_space(ts_pod_chip(pod, d), x->space), x->base_bytes, x->bytes);
        float addend = (float)(d + 1);
        for (int64_t at = 0; at < x->bytes; at += 4) memcpy(bytes + at, &addend, sizeof addend);
    }
}

static bool is_summed(ts_error *err, ts_pod *pod, const ts_mesh *mesh, const ts_tensor *x) {
    int64_t n = mesh->device_count;
    for (int64_t d = 0; d < n; d++)
        for (int64_t at = 0; at < x->bytes; at += x->bytes / 64) {
            float sum;
            ts_space *space = ts_chip_space(ts_pod_chip(pod, d), x->space);
            memcpy(&sum, ts_space_touch(space, x->base_bytes + at, sizeof sum), sizeof sum);
            if (sum != (float)(n * (n + 1) / 2)) return ts_error_set(err, TS_ERROR_FAULT, "a sum is wrong");
        }
    return true;
}

/* With values, those of the first tensor are summed, and only the run is timed. */
static bool bench_run(ts_error *err, const run *what) {
    ts_arena *arena = ts_arena_new();
    ts_mesh mesh;
    ts_target target;
    ts_chip_config config;
    bool good = read_mesh(err, arena, what->axes, &mesh);
    if (good) ts_run_target(mesh.machine, &target), ts_chip_configure(mesh.machine, &config);
    target.mesh = &mesh;
    config.time_only = !what->values;
    const ts_program *program =
        good ? ts_program_load(err, arena, what->path, &target, &what->define, 1) : NULL;
    double start = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID);
    ts_pod_request request = {
        .mesh = &mesh, .code = &program->code, .config = &config, .max_cycles = INT64_MAX};
    ts_pod *pod = program ? ts_pod_new(err, arena, &request) : NULL;
    if (pod && what->values) fill(pod, &mesh, &program->code.tensors[0]);
    if (what->values) start = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID);
    good = pod && ts_pod_run(err, pod);
    double elapsed = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
    if (good && what->values) good = is_summed(err, pod, &mesh, &program->code.tensors[0]);
    ts_pod_free(pod);
    if (good)
        printf("%-32s %-10s %6lld %-10s %8.3f %10.3f\n", what->path, what->axes, (long long)mesh.device_count,
               what->values ? "values" : "time only", elapsed, 1e3 * elapsed / (double)mesh.device_count);
    ts_arena_free(arena);
    return good;
}

static bool bench_runs(ts_error *err) {
    static const char reduce[] = "programs/mesh/all_reduce.tsim", halo[] = "programs/mesh/halo.tsim",
                      softmax[] = "programs/softmax.tsim";
    static const run runs[] = {
        {reduce, "4x4x4", {"ROWS", "512"}, true},   {reduce, "4x4x4", {"ROWS", "512"}, false},
        {halo, "4x4", {"ROWS", "256"}, false},      {halo, "4x4x4", {"ROWS", "256"}, false},
        {halo, "8x8x4", {"ROWS", "256"}, false},    {halo, "16x8x8", {"ROWS", "256"}, false},
        {halo, "16x16x16", {"ROWS", "256"}, false}, {softmax, "16x8x8", {"ROWS", "8192"}, false},
    };
    printf("%-32s %-10s %6s %-10s %8s %10s\n", "program", "mesh", "chips", "", "CPU s", "ms a chip");
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        if (!bench_run(err, &runs[i])) return false;
    return true;
}

/* ---- Plans ---- */

static bool bench_plan(ts_error *err, const char *from, const char *to) {
    ts_arena *arena = ts_arena_new();
    const char *specs[2] = {from, to};
    ts_mesh mesh;
    ts_sharding ends[2];
    bool good = read_mesh(err, arena, "16x16x16", &mesh);
    for (int i = 0; good && i < 2; i++) {
        char text[128];
        snprintf(text, sizeof text, "f32[4096,4096,4096] %s", specs[i]);
        ts_source source = {"sharding", text, strlen(text)};
        good = ts_sharding_parse(err, arena, &mesh, &source, &ends[i]);
    }
    ts_reshard_plan plan;
    ts_reshard_request request = {.mesh = &mesh, .source = &ends[0], .destination = &ends[1]};
    double start = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID);
    good = good && ts_reshard(err, arena, &request, &plan);
    if (good)
        printf("%-26s %-26s %8.3f %12.2f %9.1f %%\n", from, to,
               ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID) - start, plan.ps / 1e6,
               100 * plan.bound_ps / plan.ps);
    ts_arena_free(arena);
    return good;
}

static bool bench_plans(ts_error *err) {
    static const char *const plans[][2] = {
        {"P(('x','y','z'))", "P()"},
        {"P(unreduced={'x','y','z'})", "P()"},
        {"P('x','y','z')", "P('z','x','y')"},
        {"P('x','y')", "P('y','z')"},
        {"P('z',('x','y'))", "P(None,('z','x'))"},
    };
    printf("\n%-26s %-26s %8s %12s %11s\n", "reshard over 4,096 chips", "to", "CPU s", "us", "of bound");
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        if (!bench_plan(err, plans[i][0], plans[i][1])) return false;
    return true;
}

int main(void) {
    ts_error err = {.kind = TS_ERROR_NONE};
    bool good = bench_runs(&err) && bench_plans(&err);
    if (!good) fprintf(stderr, "bench_mesh: %s\n", err.message);
    return !good;
}
