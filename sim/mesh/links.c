/* The links of a mesh: where they lead, what goes over them, how long that takes. */
#include "base/number.h"
#include "mesh/mesh.h"

static int64_t chip_coordinate(const ts_mesh *mesh, int64_t chip, int dim) {
    return mesh->coordinates[chip * mesh->dim_count + dim];
}

bool ts_mesh_has_link(const ts_mesh *mesh, int64_t link) {
    int64_t chip = link / (2 * mesh->dim_count);
    int dim = (int)(link % (2 * mesh->dim_count)) / 2;
    int64_t at = chip_coordinate(mesh, chip, dim);
    if (mesh->failed && mesh->failed[link]) return false;
    if (mesh->ring[dim]) return true;
    return link % 2 == 0 ? at + 1 < mesh->dims[dim] : at > 0;
}

int64_t ts_mesh_link_end(const ts_mesh *mesh, int64_t link) {
    int64_t chip = link / (2 * mesh->dim_count);
    int dim = (int)(link % (2 * mesh->dim_count)) / 2;
    int64_t at = chip_coordinate(mesh, chip, dim), extent = mesh->dims[dim];
    int64_t next = (at + (link % 2 == 0 ? 1 : extent - 1)) % extent;
    return chip + (next - at) * mesh->strides[dim];
}

int ts_mesh_least_links(const ts_mesh *mesh) {
    int count = 0;
    for (int i = 0; i < mesh->dim_count; i++) count += mesh->ring[i] ? 2 : mesh->dims[i] > 1;
    return count;
}

/* Adds to the links of the chips first .. last-1 of a line; round the ring where first > last. `line` is the
 * link of the line's chip 0, `apart` the distance of neighbours' links. */
static void add_range(int64_t *line, int64_t apart, int64_t extent, const int64_t range[2], int64_t bytes) {
    line[range[0] * apart] += bytes;
    if (range[1] < extent) line[range[1] * apart] -= bytes;
    if (range[0] > range[1]) line[0] += bytes;
}

/* The shorter way round a ring; where both are as long, by the parity of the coordinate. */
static bool goes_down(const ts_mesh *mesh, int dim, int64_t from, int64_t to) {
    if (!mesh->ring[dim]) return to < from;
    int64_t up = to - from + (to < from ? mesh->dims[dim] : 0);
    return 2 * up + from % 2 > mesh->dims[dim];
}

int64_t ts_mesh_next_link(const ts_mesh *mesh, int64_t chip, int64_t destination) {
    for (int dim = 0; dim < mesh->dim_count; dim++) {
        int64_t from = chip_coordinate(mesh, chip, dim), to = chip_coordinate(mesh, destination, dim);
        if (from != to) return chip * 2 * mesh->dim_count + 2 * dim + goes_down(mesh, dim, from, to);
    }
    return -1;
}

int64_t ts_mesh_route_dim(const ts_mesh *mesh, int dim, const int64_t way[2], int64_t chip, int64_t bytes,
                          int64_t *loads) {
    int64_t extent = mesh->dims[dim], up = way[1] - way[0], apart = mesh->strides[dim] * 2 * mesh->dim_count;
    if (mesh->ring[dim] && up < 0) up += extent;
    bool down = goes_down(mesh, dim, way[0], way[1]);
    int64_t hops = !down ? up : mesh->ring[dim] ? extent - up : -up;
    if (!loads || hops == 0) return hops;
    int64_t *line = &loads[(chip - way[0] * mesh->strides[dim]) * 2 * mesh->dim_count + 2 * dim + down];
    int64_t range[2] = {down ? (way[1] + 1) % extent : way[0], down ? way[0] + 1 : way[1]};
    add_range(line, apart, extent, range, bytes);
    return hops;
}

void ts_mesh_sum_loads(const ts_mesh *mesh, int64_t *loads) {
    for (int64_t chip = 0; chip < mesh->chip_count && !mesh->failed; chip++)
        for (int dim = 0; dim < mesh->dim_count; dim++) {
            if (mesh->coordinates[chip * mesh->dim_count + dim] == 0) continue;
            int64_t link = chip * 2 * mesh->dim_count + 2 * dim;
            int64_t before = link - mesh->strides[dim] * 2 * mesh->dim_count;
            loads[link] += loads[before];
            loads[link + 1] += loads[before + 1];
        }
}

int64_t ts_mesh_wire_bytes(const ts_mesh *mesh, int64_t bytes) {
    return ts_round_up(bytes, mesh->ici->flit_bytes);
}

/* At so many MB/s, with the efficiency of links, in thousandths: bytes / (rate * 1e6 * efficiency / 1e3)
 * seconds. */
static double picoseconds(const ts_mesh *mesh, int64_t rate, double bytes) {
    return bytes * 1e9 / ((double)rate * (double)mesh->ici->efficiency);
}

double ts_mesh_link_ps(const ts_mesh *mesh, double bytes) {
    return picoseconds(mesh, mesh->ici->rate, bytes);
}

double ts_mesh_injection_ps(const ts_mesh *mesh, double bytes) {
    return mesh->ici->injection > 0 ? picoseconds(mesh, mesh->ici->injection, bytes) : 0;
}

const char *ts_mesh_chip_text(ts_arena *arena, const ts_mesh *mesh, int64_t chip) {
    ts_text out = ts_text_begin(arena);
    for (int i = 0; i < mesh->dim_count; i++)
        ts_text_add(&out, "%s%lld", i ? "," : "(", (long long)chip_coordinate(mesh, chip, i));
    ts_text_add_char(&out, ')');
    return out.bytes;
}

const char *ts_mesh_link_text(ts_arena *arena, const ts_mesh *mesh, int64_t link) {
    return ts_text_format(arena, "%s -> %s", ts_mesh_chip_text(arena, mesh, link / (2 * mesh->dim_count)),
                          ts_mesh_chip_text(arena, mesh, ts_mesh_link_end(mesh, link)));
}
