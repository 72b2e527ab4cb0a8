/* Groups of devices as axes of a mesh of their own, as newer XLA prints replica_groups:
 *
 *   mesh['x'=2,'y'=4] {'y'}     mesh['x'=2,'y'=2], device_ids=(0,2,1,3) {'x','y':(1)2}
 *
 * Quotes may be missing. Source: XLA mesh_and_axis.cc (ToString), replica_group.cc
 * (flattened_replica_groups). */
#include <inttypes.h>

#include "base/number.h"
#include "sharding_private.h"

static bool read_name(sharding_reader *r, ts_span *name) {
    return ts_cursor_name(&r->cursor, name) || sharding_read_name(r, name);
}

/* "@name": a mesh by its name, that no line of the text gave axes. Returns false. */
static bool refuse_named(sharding_reader *r) {
    ts_span name = {"", 0};
    ts_cursor_take(&r->cursor, "@");
    ts_cursor_name(&r->cursor, &name);
    return ts_error_at(r->err, TS_ERROR_INPUT, r->cursor.source, 0,
                       "the mesh '@%.*s' is not defined in the text, expected its axes", (int)name.length,
                       name.text);
}

/* "['x'=2,'y'=4]": extents; strides are those of the flat index. */
static bool read_axes(sharding_reader *r, ts_span *names, sharding_order *axes) {
    int64_t all = 1;
    if (ts_cursor_peek(&r->cursor) == '@') return refuse_named(r);
    if (!ts_cursor_expect(r->err, &r->cursor, "[")) return false;
    do {
        int i = axes->count;
        if (i == TS_SHARDING_MAX_DIGITS) return sharding_refuse(r, "too many axes");
        if (!read_name(r, &names[i]) || !ts_cursor_expect(r->err, &r->cursor, "=") ||
            !ts_cursor_integer(r->err, &r->cursor, "an extent", &axes->extent[i]))
            return false;
        if (axes->extent[i] < 1 || !ts_mul(all, axes->extent[i], &all))
            return sharding_refuse(r, "an extent of 0, or too large");
        axes->count++;
    } while (ts_cursor_take(&r->cursor, ","));
    if (!ts_cursor_expect(r->err, &r->cursor, "]")) return false;
    if (all != r->mesh->device_count)
        return ts_error_at(r->err, TS_ERROR_INPUT, r->cursor.source, 0,
                           "the groups are of %" PRId64 " devices, the mesh has %" PRId64, all,
                           r->mesh->device_count);
    for (int i = 0; i < axes->count; i++) axes->stride[i] = all /= axes->extent[i];
    return true;
}

/* ", device_ids=(0,2,1,3)" or "=([2,2]T(1,0))"; without it devices are numbered as the axes are. */
static bool read_devices(sharding_reader *r, sharding_order *devices) {
    *devices = (sharding_order){1, {r->mesh->device_count}, {1}};
    if (!ts_cursor_take(&r->cursor, ",")) return true;
    return ts_cursor_expect(r->err, &r->cursor, "device_ids") && ts_cursor_expect(r->err, &r->cursor, "=") &&
           ts_cursor_expect(r->err, &r->cursor, "(") &&
           (ts_cursor_peek(&r->cursor) == '[' ? sharding_read_iota(r, devices)
                                              : sharding_read_list(r, devices)) &&
           ts_cursor_expect(r->err, &r->cursor, ")");
}

/* "'x'" or "'x':(m)k", k of the axis, m of it before them. */
static bool read_member(sharding_reader *r, const ts_span *names, const sharding_order *axes,
                        sharding_order *members) {
    ts_span name;
    int axis = 0, n = members->count;
    if (!read_name(r, &name)) return false;
    while (axis < axes->count && !ts_span_same(names[axis], name)) axis++;
    if (axis == axes->count || n == TS_SHARDING_MAX_DIGITS)
        return sharding_refuse(r, "the groups' mesh has no such axis");
    ts_mesh_digit digit = {.extent = axes->extent[axis], .stride = axes->stride[axis]};
    if (!sharding_read_sub_axis(r, &digit)) return false;
    members->extent[n] = digit.extent;
    members->stride[n] = digit.stride;
    members->count++;
    return true;
}

static bool read_members(sharding_reader *r, const ts_span *names, const sharding_order *axes,
                         sharding_order *members) {
    if (!ts_cursor_expect(r->err, &r->cursor, "{")) return false;
    if (!ts_cursor_take(&r->cursor, "}")) {
        do
            if (!read_member(r, names, axes, members)) return false;
        while (ts_cursor_take(&r->cursor, ","));
        if (!ts_cursor_expect(r->err, &r->cursor, "}")) return false;
    }
    return ts_cursor_at_end(&r->cursor) || ts_cursor_unexpected(r->err, &r->cursor, "the end of the groups");
}

static bool is_first(const sharding_order *members, int64_t flat) {
    for (int i = 0; i < members->count; i++)
        if (flat / members->stride[i] % members->extent[i] != 0) return false;
    return true;
}

static int64_t count_firsts(const sharding_order *members, int64_t all) {
    int64_t count = 0;
    for (int64_t flat = 0; flat < all; flat++) count += is_first(members, flat);
    return count;
}

int64_t *sharding_read_groups(sharding_reader *r, int64_t shape[2]) {
    ts_span names[TS_SHARDING_MAX_DIGITS];
    sharding_order axes = {0}, devices, members = {0};
    int64_t all = r->mesh->device_count, *listed = TS_NEW_ARRAY(r->arena, int64_t, all), count = 0;
    if (!read_axes(r, names, &axes) || !read_devices(r, &devices) || !read_members(r, names, &axes, &members))
        return NULL;
    shape[0] = count_firsts(&members, all);
    shape[1] = 1;
    for (int i = 0; i < members.count && shape[1] <= all; i++) shape[1] *= members.extent[i];
    if (shape[0] * shape[1] != all) {
        sharding_refuse(r, "an axis is there twice");
        return NULL;
    }
    for (int64_t flat = 0; flat < all; flat++)
        for (int64_t m = 0; is_first(&members, flat) && m < shape[1]; m++)
            listed[count++] = sharding_device_at(&devices, flat + sharding_device_at(&members, m));
    return listed;
}
