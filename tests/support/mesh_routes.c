/* Routes over a mesh against a search over its links. */
#include "tests/support/mesh_routes.h"

#include "tests/support/test.h"

static int64_t link_end(const ts_mesh *mesh, int64_t link) {
    int64_t chip = link / (2 * mesh->dim_count);
    int dim = (int)(link % (2 * mesh->dim_count)) / 2;
    int64_t at = chip / mesh->strides[dim] % mesh->dims[dim];
    int64_t next = (at + (link % 2 == 0 ? 1 : mesh->dims[dim] - 1)) % mesh->dims[dim];
    return chip + (next - at) * mesh->strides[dim];
}

/* Hops of the shortest way, by relaxing all links until nothing changes. */
static int64_t shortest(const ts_mesh *mesh, ts_arena *arena, int64_t from, int64_t to) {
    int64_t *far = TS_NEW_ARRAY(arena, int64_t, mesh->chip_count);
    for (int64_t i = 0; i < mesh->chip_count; i++) far[i] = i == from ? 0 : INT32_MAX;
    for (bool changed = true; changed;) {
        changed = false;
        for (int64_t link = 0; link < ts_mesh_link_count(mesh); link++) {
            int64_t chip = link / (2 * mesh->dim_count), end = link_end(mesh, link);
            if (!ts_mesh_has_link(mesh, link) || far[chip] + 1 >= far[end]) continue;
            far[end] = far[chip] + 1;
            changed = true;
        }
    }
    return far[to];
}

void check_route(const ts_mesh *mesh, int64_t source, int64_t destination) {
    ts_arena *arena = ts_arena_new();
    int64_t *loads = TS_NEW_ARRAY(arena, int64_t, ts_mesh_link_count(mesh)), used = 0;
    int64_t *leaves = TS_NEW_ARRAY(arena, int64_t, mesh->chip_count);
    int64_t hops = ts_mesh_route(mesh, source, destination, 7, loads);
    int64_t from = source / mesh->devices_per_chip, to = destination / mesh->devices_per_chip;
    ts_mesh_sum_loads(mesh, loads);
    assert_int_equal(hops, shortest(mesh, arena, from, to));
    for (int64_t link = 0; link < ts_mesh_link_count(mesh); link++) {
        if (loads[link] == 0) continue;
        assert_int_equal(loads[link], 7);
        assert_true(ts_mesh_has_link(mesh, link));
        leaves[link / (2 * mesh->dim_count)]++;
        leaves[link_end(mesh, link)]--;
        used++;
    }
    assert_int_equal(used, hops);
    for (int64_t chip = 0; chip < mesh->chip_count; chip++)
        assert_int_equal(leaves[chip], (chip == from) - (chip == to));
    ts_arena_free(arena);
}
