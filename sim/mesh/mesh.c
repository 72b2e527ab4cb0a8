/* Meshes of devices and the topology of their chips, from text and from files. */
#include "mesh/mesh.h"

#include <string.h>

#include "mesh/failed_private.h"
#include "mesh/mesh_file.h"

/* ---- Reading ---- */

typedef struct {
    ts_span name; /* of NULL: none is given */
    int64_t extent;
    size_t at;
} extent_item;

static const char *const default_names[] = {"x", "y", "z", "w"};

static bool read_extent(ts_error *err, ts_cursor *cursor, extent_item *item) {
    ts_cursor_skip_space(cursor);
    item->at = cursor->at;
    if (!ts_cursor_integer(err, cursor, "an extent", &item->extent)) return false;
    if (item->extent >= 1 && item->extent <= TS_MESH_MAX_DEVICES) return true;
    return ts_error_at(err, TS_ERROR_INPUT, cursor->source, item->at, "found extent %lld, expected 1 to %d",
                       (long long)item->extent, TS_MESH_MAX_DEVICES);
}

/* "4x4": the letter is taken off a number's end by hand, for it may begin a name. */
static bool read_plain(ts_error *err, ts_cursor *cursor, extent_item *items, int *count) {
    do {
        if (*count == TS_MESH_MAX_DIMS)
            return ts_error_at(err, TS_ERROR_INPUT, cursor->source, cursor->at, "more than %d extents",
                               TS_MESH_MAX_DIMS);
        if (!read_extent(err, cursor, &items[*count])) return false;
        items[(*count)++].name.text = NULL;
    } while (ts_cursor_take(cursor, "x"));
    return true;
}

static bool read_named(ts_error *err, ts_cursor *cursor, extent_item *items, int *count) {
    do {
        if (*count == TS_MESH_MAX_AXES)
            return ts_error_at(err, TS_ERROR_INPUT, cursor->source, cursor->at, "more than %d axes",
                               TS_MESH_MAX_AXES);
        extent_item *item = &items[*count];
        if (!ts_cursor_name(cursor, &item->name))
            return ts_cursor_unexpected(err, cursor, "the name of an axis");
        size_t at = cursor->token;
        if (!ts_cursor_expect(err, cursor, "=") || !read_extent(err, cursor, item)) return false;
        for (int i = 0; i < *count; i++)
            if (ts_span_same(items[i].name, item->name))
                return ts_error_at(err, TS_ERROR_INPUT, cursor->source, at, "a second axis of this name");
        (*count)++;
    } while (ts_cursor_take(cursor, ","));
    return true;
}

static bool read_items(ts_error *err, const ts_source *source, extent_item *items, int *count) {
    ts_cursor cursor = {source, 0, 0};
    int next = ts_cursor_peek(&cursor);
    bool plain = next < 0 || ts_is_digit(next) || next == '-';
    *count = 0;
    if (plain ? !read_plain(err, &cursor, items, count) : !read_named(err, &cursor, items, count))
        return false;
    return ts_cursor_at_end(&cursor) ||
           ts_cursor_unexpected(err, &cursor, plain ? "'x' or the end" : "',' or the end");
}

static bool set_axes(ts_error *err, ts_arena *arena, const ts_source *source, ts_mesh *mesh) {
    extent_item items[TS_MESH_MAX_AXES];
    if (!read_items(err, source, items, &mesh->axis_count)) return false;
    int64_t stride = 1;
    for (int i = mesh->axis_count - 1; i >= 0; i--) {
        const extent_item *item = &items[i];
        const char *name = item->name.text ? ts_arena_copy_text(arena, item->name.text, item->name.length)
                                           : default_names[i];
        mesh->axes[i] = (ts_mesh_axis){name, item->extent, stride};
        stride *= item->extent; /* at most 2^16 each, and checked after each */
        if (stride > TS_MESH_MAX_DEVICES)
            return ts_error_at(err, TS_ERROR_INPUT, source, item->at, "more than %d devices",
                               TS_MESH_MAX_DEVICES);
    }
    mesh->device_count = stride;
    return true;
}

/* Where errors of the axes and of the chips are shown. */
typedef struct {
    const ts_source *source;
    size_t at;
} text_position;

/* Can the machine's links form a grid of so many dims? */
static bool check_dims(ts_error *err, const ts_mesh *mesh, int dims, text_position chips) {
    if (mesh->ici->dims == 0)
        return ts_error_set(err, TS_ERROR_INPUT, "%s has no links between chips (ici.dims is 0)",
                            mesh->machine->name);
    return dims <= mesh->ici->dims ||
           ts_error_at(err, TS_ERROR_INPUT, chips.source, chips.at,
                       "the links of %s form a grid of %d dims, found %d; a topology says how the chips lie",
                       mesh->machine->name, mesh->ici->dims, dims);
}

/* Extents of 1 are no dims of a topology that would have too many with them. */
static int drop_ones(extent_item *items, int count) {
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (items[i].extent > 1) items[kept++] = items[i];
    return kept > 0 ? kept : 1;
}

static bool set_topology(ts_error *err, const ts_mesh_request *request, ts_mesh *mesh) {
    const ts_source *source = request->topology.text ? &request->topology : &request->axes;
    extent_item items[TS_MESH_MAX_AXES];
    int count;
    if (!read_items(err, source, items, &count)) return false;
    if (count > TS_MESH_MAX_DIMS) count = drop_ones(items, count);
    if (count > TS_MESH_MAX_DIMS) return check_dims(err, mesh, count, (text_position){source, 0});
    mesh->dim_count = count;
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

static bool check_mesh(ts_error *err, const ts_mesh *mesh, text_position axes, text_position chips) {
    const ts_machine *machine = mesh->machine;
    int used = 0;
    for (int i = 0; i < mesh->dim_count; i++) used += mesh->dims[i] > 1;
    if (!check_dims(err, mesh, used, chips)) return false;
    if (mesh->chip_count > mesh->ici->most_chips)
        return ts_error_at(err, TS_ERROR_INPUT, chips.source, chips.at,
                           "found %lld chips, a slice of %s has at most %d", (long long)mesh->chip_count,
                           machine->name, mesh->ici->most_chips);
    if (mesh->device_count == mesh->chip_count * mesh->devices_per_chip) return true;
    return ts_error_at(err, TS_ERROR_INPUT, axes.source, axes.at,
                       "the mesh has %lld devices, the topology %lld chips of %d: the products must be equal",
                       (long long)mesh->device_count, (long long)mesh->chip_count, mesh->devices_per_chip);
}

static bool read_text(ts_error *err, ts_arena *arena, const ts_mesh_request *request, ts_mesh *out) {
    const ts_source *chips = request->topology.text ? &request->topology : &request->axes;
    out->machine = request->machine;
    out->ici = &request->machine->ici;
    out->devices_per_chip = request->machine->chip.devices;
    if (!request->topology.text && out->ici->dims > 0 && out->devices_per_chip > 1)
        return ts_error_at(err, TS_ERROR_INPUT, &request->axes, 0,
                           "a chip of %s is %d devices: a topology must say how the chips lie",
                           request->machine->name, out->devices_per_chip);
    return set_axes(err, arena, &request->axes, out) && set_topology(err, request, out) &&
           check_mesh(err, out, (text_position){chips, 0}, (text_position){chips, 0});
}

/* ---- Files ---- */

static bool multiply(ts_error *err, const ts_mesh_file *file, const char *path, int64_t extent,
                     int64_t *all) {
    const ts_tree *node = ts_mesh_file_node(file, path);
    *all *= extent; /* at most 2^16 each */
    return *all <= TS_MESH_MAX_DEVICES || ts_error_at(err, TS_ERROR_INPUT, node->source, node->offset,
                                                      "more than %d devices", TS_MESH_MAX_DEVICES);
}

static void add_axis(ts_mesh *mesh, const char *name, int64_t extent, int64_t stride) {
    for (int i = mesh->axis_count++; i > 0; i--) mesh->axes[i] = mesh->axes[i - 1];
    mesh->axes[0] = (ts_mesh_axis){name, extent, stride};
}

static bool set_file_axes(ts_error *err, const ts_mesh_file *file, ts_mesh *mesh) {
    mesh->device_count = 1;
    for (int i = file->axis_count - 1; i >= 0; i--) {
        int64_t stride = mesh->device_count;
        if (!multiply(err, file, "axes", file->axes[i].devices, &mesh->device_count)) return false;
        add_axis(mesh, file->axes[i].name, file->axes[i].devices, stride);
    }
    if (file->axis_count > 0) return true;
    if (mesh->devices_per_chip > 1) add_axis(mesh, "core", mesh->devices_per_chip, 1);
    for (int i = mesh->dim_count - 1; i >= 0; i--)
        add_axis(mesh, file->dims[i].name, mesh->dims[i], mesh->strides[i] * mesh->devices_per_chip);
    mesh->device_count = mesh->chip_count * mesh->devices_per_chip;
    return true;
}

static bool set_file_dims(ts_error *err, const ts_mesh_file *file, ts_mesh *mesh) {
    mesh->dim_count = file->dim_count;
    mesh->chip_count = 1;
    for (int i = file->dim_count - 1; i >= 0; i--) {
        const ts_mesh_file_dim *dim = &file->dims[i];
        bool rule = file->ici.wrap > 0 && dim->chips % file->ici.wrap == 0;
        mesh->dims[i] = dim->chips;
        mesh->strides[i] = mesh->chip_count;
        mesh->ring[i] =
            dim->chips > 2 && (dim->wrap == TS_MESH_WRAP_RULE ? rule : dim->wrap == TS_MESH_WRAP_RING);
        if (!multiply(err, file, "dims", dim->chips, &mesh->chip_count)) return false;
    }
    return true;
}

static bool read_file(ts_error *err, ts_arena *arena, const ts_mesh_request *request, ts_mesh *out) {
    const ts_machine *machine = request->machine;
    if (request->topology.text)
        return ts_error_at(err, TS_ERROR_INPUT, &request->topology, 0,
                           "the mesh file says how the chips lie");
    const char *name = ts_arena_copy_text(arena, request->axes.text, request->axes.length);
    const ts_mesh_file *file = ts_mesh_file_load(err, arena, name, &machine);
    if (!file) return false;
    const ts_tree *axes = ts_mesh_file_node(file, "axes."), *dims = ts_mesh_file_node(file, "dims.");
    out->machine = machine;
    out->ici = &file->ici;
    out->devices_per_chip = machine->chip.devices;
    return set_file_dims(err, file, out) && set_file_axes(err, file, out) &&
           check_mesh(err, out, (text_position){axes->source, axes->offset},
                      (text_position){dims->source, dims->offset}) &&
           ts_mesh_file_order(err, arena, file, out->chip_count, &out->order);
}

bool ts_mesh_read(ts_error *err, ts_arena *arena, const ts_mesh_request *request, ts_mesh *out) {
    bool file = ts_mesh_file_is(request->axes.text, request->axes.length);
    memset(out, 0, sizeof *out);
    if (!file && !request->machine)
        return ts_error_set(err, TS_ERROR_USAGE, "a mesh that is no file needs a machine");
    if (!(file ? read_file : read_text)(err, arena, request, out)) return false;
    set_coordinates(arena, out);
    return mesh_read_failed(err, arena, request, out);
}

/* ---- Asking ---- */

int ts_mesh_find_axis(const ts_mesh *mesh, const char *name, size_t length) {
    for (int i = 0; i < mesh->axis_count; i++)
        if (ts_text_is(name, length, mesh->axes[i].name)) return i;
    return -1;
}

int64_t ts_mesh_coordinate(const ts_mesh *mesh, int64_t device, int axis) {
    return device / mesh->axes[axis].stride % mesh->axes[axis].extent;
}

int64_t ts_mesh_route(const ts_mesh *mesh, int64_t source, int64_t destination, int64_t bytes,
                      int64_t *loads) {
    int64_t chip = ts_mesh_chip(mesh, source), hops = 0;
    if (mesh->failed) return mesh_route_around(mesh, chip, ts_mesh_chip(mesh, destination), bytes, loads);
    for (int dim = 0; dim < mesh->dim_count; dim++) {
        int64_t way[2] = {ts_mesh_chip_at(mesh, source, dim), ts_mesh_chip_at(mesh, destination, dim)};
        if (way[0] == way[1]) continue;
        hops += ts_mesh_route_dim(mesh, dim, way, chip, bytes, loads);
        chip += (way[1] - way[0]) * mesh->strides[dim];
    }
    return hops;
}
