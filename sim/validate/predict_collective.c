/* Collectives of measured rows, on a mesh of the row's chips. */
#include <stdio.h>
#include <string.h>

#include "validate/predict.h"

static void print_extents(char *out, size_t size, const ts_workload *work, int32_t devices) {
    size_t at = 0;
    for (int i = 0; i < work->chip_dims; i++)
        at += (size_t)snprintf(out + at, size - at, "%s%lld", i ? "x" : "", (long long)work->chips[i]);
    if (devices > 1) snprintf(out + at, size - at, "x%d", devices);
}

/* The members of a group differ in the leading coordinates of the mesh: chips first, then devices of a
 * chip. */
static void print_groups(char *out, size_t size, const ts_workload *work, int64_t devices) {
    long long members = work->members, groups = devices / work->members;
    if (work->collective == TS_COLLECTIVE_PERMUTE)
        snprintf(out, size, "{{0,%lld},{%lld,0}}", (long long)devices / 2, (long long)devices / 2);
    else
        snprintf(out, size, "[%lld,%lld]<=[%lld,%lld]T(1,0)", groups, members, members, groups);
}

bool ts_workload_predict_collective(ts_error *err, ts_arena *arena, const ts_workload *work,
                                    const ts_machine *machine, double *us) {
    enum { SIZE = 128 };
    char axes[SIZE], topology[SIZE], groups[SIZE];
    ts_mesh mesh;
    ts_collective collective;
    ts_collective_price price;
    print_extents(topology, SIZE, work, 1);
    print_extents(axes, SIZE, work, machine->chip.devices);
    ts_mesh_request at = {.machine = machine,
                          .axes = {"mesh", axes, strlen(axes)},
                          .topology = {"topology", topology, strlen(topology)}};
    if (!ts_mesh_read(err, arena, &at, &mesh)) return false;
    if (mesh.device_count % work->members != 0)
        return ts_error_set(err, TS_ERROR_UNMODELLED, "its groups do not divide its devices");
    print_groups(groups, SIZE, work, mesh.device_count);
    ts_collective_request request = {
        &mesh, work->collective, work->bytes, {"groups", groups, strlen(groups)}};
    if (!ts_collective_read(err, arena, &request, &collective)) return false;
    ts_collective_choose(arena, (ts_algorithm_choice){work->one_dim, TS_ALGORITHM_TWO_RINGS}, &collective,
                         &price);
    *us = price.ps / 1e6;
    return true;
}
