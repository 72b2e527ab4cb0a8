/* Meshes of devices, the topology of their chips, and routes. */
#include "mesh/mesh.h"

#include <string.h>

/* ---- Reading ---- */

typedef struct {
    const char *name;
    size_t length;
    int64_t extent;
    size_t at;
} extent_item;

static const char *const default_names[] = {"x", "y", "z", "w"};

static bool read_extent(ts_error *err, ts_cursor *cursor, extent_item *item) {
    item->at = (ts_cursor_skip_space(cursor), cursor->at);
    if (!ts_cursor_integer(err, cursor, "an extent", &item->extent)) return false;
    if (item->extent >= 1 && item->extent <= TS_MESH_MAX_DEVICES) return true;
    return ts_error_at(err, TS_ERROR_INPUT, cursor->source, item->at, "found extent %lld, expected 1 to %d",
                       (long long)item->extent, TS_MESH_MAX_DEVICES);
}

/* "4x4": the letter is taken off a number's end by hand, for it may begin a name. */
static bool read_plain(ts_error *err, ts_cursor *cursor, extent_item *items, int most, int *count) {
    do {
        if (*count == most)
            return ts_error_at(err, TS_ERROR_INPUT, cursor->source, cursor->at, "more than %d extents", most);
        if (!read_extent(err, cursor, &items[*count])) return false;
        items[(*count)++].name = NULL;
    } while (ts_cursor_take(cursor, "x"));
    return true;
}

static bool read_named(ts_error *err, ts_cursor *cursor, extent_item *items, int *count) {
    do {
        if (*count == TS_MESH_MAX_AXES)
            return ts_error_at(err, TS_ERROR_INPUT, cursor->source, cursor->at, "more than %d axes",
                               TS_MESH_MAX_AXES);
        extent_item *item = &items[*count];
        if (!ts_cursor_name(cursor, &item->name, &item->length))
            return ts_cursor_unexpected(err, cursor, "the name of an axis");
        size_t at = cursor->token;
        if (!ts_cursor_expect(err, cursor, "=") || !read_extent(err, cursor, item)) return false;
        for (int i = 0; i < *count; i++)
            if (items[i].length == item->length && memcmp(items[i].name, item->name, item->length) == 0)
                return ts_error_at(err, TS_ERROR_INPUT, cursor->source, at, "a second axis of this name");
        (*count)++;
    } while (ts_cursor_take(cursor, ","));
    return true;
}

static bool read_items(ts_error *err, const ts_source *source, extent_item *items, int most, int *count) {
    ts_cursor cursor = {source, 0, 0};
    int next = ts_cursor_peek(&cursor);
    bool plain = next < 0 || (next >= '0' && next <= '9') || next == '-';
    *count = 0;
    if (plain ? !read_plain(err, &cursor, items, most, count) : !read_named(err, &cursor, items, count))
        return false;
    return ts_cursor_at_end(&cursor) ||
           ts_cursor_unexpected(err, &cursor, plain ? "'x' or the end" : "',' or the end");
}

static bool set_axes(ts_error *err, ts_arena *arena, const ts_source *source, ts_mesh *mesh) {
    extent_item items[TS_MESH_MAX_AXES];
    if (!read_items(err, source, items, TS_MESH_MAX_DIMS, &mesh->axis_count)) return false;
    int64_t stride = 1;
    for (int i = mesh->axis_count - 1; i >= 0; i--) {
        const extent_item *item = &items[i];
        const char *name =
            item->name ? ts_arena_copy_text(arena, item->name, item->length) : default_names[i];
        mesh->axes[i] = (ts_mesh_axis){name, item->extent, stride};
        stride *= item->extent; /* at most 2^16 each, and checked after each */
        if (stride > TS_MESH_MAX_DEVICES)
            return ts_error_at(err, TS_ERROR_INPUT, source, item->at, "more than %d devices",
                               TS_MESH_MAX_DEVICES);
    }
    mesh->device_count = stride;
    return true;
}

static bool set_topology(ts_error *err, const ts_mesh_request *request, ts_mesh *mesh) {
    const ts_source *source = request->topology.text ? &request->topology : &request->axes;
    extent_item items[TS_MESH_MAX_AXES];
    if (!read_items(err, source, items, TS_MESH_MAX_DIMS, &mesh->dim_count)) return false;
    int64_t stride = 1;
    for (int i = mesh->dim_count - 1; i >= 0; i--) {
        mesh->dims[i] = items[i].extent;
        mesh->strides[i] = stride;
        mesh->ring[i] = items[i].extent > 2 && items[i].extent % request->machine->ici.wrap == 0;
        stride *= items[i].extent;
        if (stride > TS_MESH_MAX_DEVICES)
            return ts_error_at(err, TS_ERROR_INPUT, source, items[i].at, "more than %d chips",
                               TS_MESH_MAX_DEVICES);
    }
    mesh->chip_count = stride;
    return true;
}

static void set_coordinates(ts_arena *arena, ts_mesh *mesh) {
    int32_t *coordinates = TS_NEW_ARRAY(arena, int32_t, mesh->chip_count * mesh->dim_count);
    for (int64_t chip = 0; chip < mesh->chip_count; chip++)
        for (int dim = 0; dim < mesh->dim_count; dim++)
            coordinates[chip * mesh->dim_count + dim] =
                (int32_t)(chip / mesh->strides[dim] % mesh->dims[dim]);
    mesh->coordinates = coordinates;
}

static bool check_mesh(ts_error *err, const ts_mesh_request *request, const ts_mesh *mesh) {
    const ts_machine *machine = request->machine;
    if (machine->ici.dims == 0)
        return ts_error_set(err, TS_ERROR_INPUT, "%s has no links between chips (ici.dims is 0)",
                            machine->name);
    int used = 0;
    for (int i = 0; i < mesh->dim_count; i++) used += mesh->dims[i] > 1;
    const ts_source *source = request->topology.text ? &request->topology : &request->axes;
    if (used > machine->ici.dims)
        return ts_error_at(
            err, TS_ERROR_INPUT, source, 0,
            "the links of %s form a grid of %d dims, found %d; --topology says how the chips lie",
            machine->name, machine->ici.dims, used);
    if (mesh->chip_count > machine->ici.most_chips)
        return ts_error_at(err, TS_ERROR_INPUT, source, 0, "found %lld chips, a slice of %s has at most %d",
                           (long long)mesh->chip_count, machine->name, machine->ici.most_chips);
    if (mesh->device_count == mesh->chip_count * mesh->devices_per_chip) return true;
    return ts_error_at(err, TS_ERROR_INPUT, source, 0,
                       "the mesh has %lld devices, the topology %lld chips of %d: the products must be equal",
                       (long long)mesh->device_count, (long long)mesh->chip_count, mesh->devices_per_chip);
}

bool ts_mesh_read(ts_error *err, ts_arena *arena, const ts_mesh_request *request, ts_mesh *out) {
    memset(out, 0, sizeof *out);
    out->ici = &request->machine->ici;
    out->devices_per_chip = request->machine->chip.devices;
    if (!request->topology.text && request->machine->ici.dims > 0 && out->devices_per_chip > 1)
        return ts_error_at(err, TS_ERROR_INPUT, &request->axes, 0,
                           "a chip of %s is %d devices: --topology must say how the chips lie",
                           request->machine->name, out->devices_per_chip);
    if (!set_axes(err, arena, &request->axes, out) || !set_topology(err, request, out) ||
        !check_mesh(err, request, out))
        return false;
    set_coordinates(arena, out);
    return true;
}

/* ---- Asking ---- */

int ts_mesh_find_axis(const ts_mesh *mesh, const char *name, size_t length) {
    for (int i = 0; i < mesh->axis_count; i++)
        if (strlen(mesh->axes[i].name) == length && memcmp(mesh->axes[i].name, name, length) == 0) return i;
    return -1;
}

int64_t ts_mesh_coordinate(const ts_mesh *mesh, int64_t device, int axis) {
    return device / mesh->axes[axis].stride % mesh->axes[axis].extent;
}

static int64_t chip_coordinate(const ts_mesh *mesh, int64_t chip, int dim) {
    return mesh->coordinates[chip * mesh->dim_count + dim];
}

bool ts_mesh_has_link(const ts_mesh *mesh, int64_t link) {
    int64_t chip = link / (2 * mesh->dim_count);
    int dim = (int)(link % (2 * mesh->dim_count)) / 2;
    int64_t at = chip_coordinate(mesh, chip, dim);
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

/* Adds to the links of the chips first .. last-1 of a line; round the ring where first > last. `line` is the link of
 * the line's chip 0, `apart` the distance of neighbours' links. */
static void add_range(int64_t *line, int64_t apart, int64_t extent, const int64_t range[2], int64_t bytes) {
    line[range[0] * apart] += bytes;
    if (range[1] < extent) line[range[1] * apart] -= bytes;
    if (range[0] > range[1]) line[0] += bytes;
}

/* The shorter way round a ring; where both are as long, by the place where one is. */
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

int64_t ts_mesh_route(const ts_mesh *mesh, int64_t source, int64_t destination, int64_t bytes,
                      int64_t *loads) {
    int64_t chip = source / mesh->devices_per_chip, hops = 0;
    for (int dim = 0; dim < mesh->dim_count; dim++) {
        int64_t way[2] = {ts_mesh_chip_at(mesh, source, dim), ts_mesh_chip_at(mesh, destination, dim)};
        if (way[0] == way[1]) continue;
        hops += ts_mesh_route_dim(mesh, dim, way, chip, bytes, loads);
        chip += (way[1] - way[0]) * mesh->strides[dim];
    }
    return hops;
}

void ts_mesh_sum_loads(const ts_mesh *mesh, int64_t *loads) {
    for (int64_t chip = 0; chip < mesh->chip_count; chip++)
        for (int dim = 0; dim < mesh->dim_count; dim++) {
            if (mesh->coordinates[chip * mesh->dim_count + dim] == 0) continue;
            int64_t link = chip * 2 * mesh->dim_count + 2 * dim;
            int64_t before = link - mesh->strides[dim] * 2 * mesh->dim_count;
            loads[link] += loads[before];
            loads[link + 1] += loads[before + 1];
        }
}

double ts_mesh_link_ps(const ts_mesh *mesh, double bytes) {
    /* MB/s, thousandths: bytes / (rate * 1e6 * efficiency / 1e3) seconds */
    return bytes * 1e9 / ((double)mesh->ici->rate * (double)mesh->ici->efficiency);
}

static void print_chip(ts_text *out, const ts_mesh *mesh, int64_t chip) {
    for (int i = 0; i < mesh->dim_count; i++)
        ts_text_add(out, "%s%lld", i ? "," : "(", (long long)chip_coordinate(mesh, chip, i));
    ts_text_add_char(out, ')');
}

void ts_mesh_print_link(ts_text *out, const ts_mesh *mesh, int64_t link) {
    print_chip(out, mesh, link / (2 * mesh->dim_count));
    ts_text_add(out, " -> ");
    print_chip(out, mesh, ts_mesh_link_end(mesh, link));
}
