/* Reading the shardings of HLO: {devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}, behind "{devices". */
#include <inttypes.h>

#include "base/number.h"
#include "sharding_private.h"

typedef struct {
    int count;
    int64_t values[TS_SHARDING_MAX_DIGITS];
} integers;

static bool read_integers(sharding_reader *r, const char *end, integers *out) {
    out->count = 0;
    do {
        if (out->count == TS_SHARDING_MAX_DIGITS) return sharding_refuse(r, "too many numbers");
        if (!ts_cursor_integer(r->err, &r->cursor, "a number", &out->values[out->count])) return false;
        if (out->values[out->count] < 0) return sharding_refuse(r, "a number below 0");
        out->count++;
    } while (ts_cursor_take(&r->cursor, ","));
    return ts_cursor_expect(r->err, &r->cursor, end);
}

static bool check_devices(sharding_reader *r, const integers *dims) {
    int64_t all = 1;
    for (int i = 0; i < dims->count; i++)
        if (dims->values[i] < 1 || !ts_mul(all, dims->values[i], &all))
            return sharding_refuse(r, "a number of 0, or too large");
    if (all == r->mesh->device_count) return true;
    return ts_cursor_refuse(r->err, &r->cursor,
                            "the sharding is of %" PRId64 " devices, the mesh has %" PRId64, all,
                            r->mesh->device_count);
}

/* The next faster part of an order; what continues the one before is one with it, as XLA has it in the
 * end. */
static void add_part(sharding_order *order, int64_t extent, int64_t stride) {
    int last = order->count - 1;
    if (extent == 1) return;
    if (last >= 0 && order->stride[last] == extent * stride) {
        order->extent[last] *= extent;
        order->stride[last] = stride;
        return;
    }
    order->extent[order->count] = extent;
    order->stride[order->count++] = stride;
}

bool sharding_read_iota(sharding_reader *r, sharding_order *order) {
    integers dims, dim_order = {0};
    int64_t strides[TS_SHARDING_MAX_DIGITS], stride = 1;
    bool used[TS_SHARDING_MAX_DIGITS] = {false};
    if (!ts_cursor_expect(r->err, &r->cursor, "[") || !read_integers(r, "]", &dims) ||
        !check_devices(r, &dims))
        return false;
    for (int i = dims.count - 1; i >= 0; i--) strides[i] = stride, stride *= dims.values[i];
    if (ts_cursor_take(&r->cursor, "T")) {
        if (!ts_cursor_expect(r->err, &r->cursor, "(") || !read_integers(r, ")", &dim_order)) return false;
        if (dim_order.count != dims.count)
            return sharding_refuse(r, "the order has not as many numbers as there are dims");
    }
    order->count = 0;
    for (int i = 0; i < dims.count; i++) {
        int64_t from = dim_order.count ? dim_order.values[i] : i;
        if (from >= dims.count || used[from])
            return sharding_refuse(r, "the order is no permutation of the dims");
        used[from] = true;
        add_part(order, dims.values[from], strides[from]);
    }
    return true;
}

int64_t sharding_device_at(const sharding_order *order, int64_t flat) {
    int64_t device = 0;
    for (int i = order->count - 1; i >= 0; flat /= order->extent[i--])
        device += flat % order->extent[i] * order->stride[i];
    return device;
}

/* A list of devices is taken where it is a product of strides, as all lists are that a mesh gives. */
static bool list_order(sharding_reader *r, const int64_t *devices, int64_t count, sharding_order *order) {
    sharding_order minor_first = {0};
    for (int64_t step = 1; step < count;) {
        int64_t stride = devices[step] - devices[0], extent = 1;
        while (step * extent < count && devices[step * extent] - devices[0] == extent * stride) extent++;
        while (count / step % extent != 0) extent--;
        if (extent == 1 || stride < 1) return sharding_refuse(r, "the devices are in no order of a mesh");
        minor_first.extent[minor_first.count] = extent;
        minor_first.stride[minor_first.count++] = stride;
        step *= extent;
    }
    for (order->count = 0; order->count < minor_first.count; order->count++) {
        order->extent[order->count] = minor_first.extent[minor_first.count - 1 - order->count];
        order->stride[order->count] = minor_first.stride[minor_first.count - 1 - order->count];
    }
    for (int64_t flat = 0; flat < count; flat++)
        if (sharding_device_at(order, flat) != devices[flat])
            return sharding_refuse(r, "the devices are in no order of a mesh");
    return true;
}

bool sharding_read_list(sharding_reader *r, sharding_order *order) {
    int64_t count = r->mesh->device_count, *devices = TS_NEW_ARRAY(r->arena, int64_t, count);
    bool *listed = TS_NEW_ARRAY(r->arena, bool, count);
    for (int64_t i = 0; i < count; i++) {
        if (i > 0 && !ts_cursor_expect(r->err, &r->cursor, ",")) return false;
        if (!ts_cursor_integer(r->err, &r->cursor, "the number of a device", &devices[i])) return false;
        if (devices[i] < 0 || devices[i] >= count)
            return ts_cursor_refuse(r->err, &r->cursor, "device %" PRId64 ", the mesh has 0 to %" PRId64,
                                    devices[i], count - 1);
        if (listed[devices[i]])
            return ts_cursor_refuse(r->err, &r->cursor, "device %" PRId64 " a second time", devices[i]);
        listed[devices[i]] = true;
    }
    return list_order(r, devices, count, order);
}

/* The next `tiles` of the flat index belong to `digit`. */
static bool take_tiles(sharding_reader *r, sharding_order *order, int *at, int64_t tiles,
                       ts_mesh_digit digit) {
    while (tiles > 1) {
        int64_t *extent = &order->extent[*at], part = ts_gcd(*extent, tiles);
        if (*extent == 1) {
            (*at)++;
            continue;
        }
        if (part == 1) /* also of what is left where neither divides the other */
            return sharding_refuse(
                r, "the devices are in no order of a mesh: a dim's tiles split one of <=[..] unevenly");
        digit.extent = part;
        digit.stride = order->stride[*at] * (*extent / part);
        *extent /= part;
        tiles /= part;
        if (!sharding_add(r, digit)) return false;
    }
    return true;
}

/* Kinds of the tile dims behind the array's. */
static bool read_fields(sharding_reader *r, int extra, ts_digit_kind *kinds) {
    for (int i = 0; i < extra; i++) kinds[i] = TS_DIGIT_REPLICA;
    if (ts_cursor_take(&r->cursor, "last_tile_dim_replicate"))
        return ts_cursor_expect(r->err, &r->cursor, "}") && sharding_check_rank(r, r->out->rank + extra - 1);
    if (ts_cursor_take(&r->cursor, "last_tile_dims")) {
        if (!ts_cursor_expect(r->err, &r->cursor, "=") || !ts_cursor_expect(r->err, &r->cursor, "{"))
            return false;
        for (int i = 0; i < extra; i++) {
            if (i > 0 && !ts_cursor_expect(r->err, &r->cursor, ",")) return false;
            kinds[i] = ts_cursor_take(&r->cursor, "unreduced") ? TS_DIGIT_PARTIAL : TS_DIGIT_REPLICA;
            if (kinds[i] == TS_DIGIT_REPLICA && !ts_cursor_expect(r->err, &r->cursor, "replicated"))
                return false;
        }
        return ts_cursor_expect(r->err, &r->cursor, "}") && ts_cursor_expect(r->err, &r->cursor, "}");
    }
    return ts_cursor_expect(r->err, &r->cursor, "}") && sharding_check_rank(r, r->out->rank + extra);
}

bool sharding_read_hlo(sharding_reader *r) {
    integers tiles;
    sharding_order order = {0};
    ts_digit_kind kinds[TS_SHARDING_MAX_DIGITS];
    int at = 0;
    if (!ts_cursor_expect(r->err, &r->cursor, "=") || !ts_cursor_expect(r->err, &r->cursor, "[") ||
        !read_integers(r, "]", &tiles) || !check_devices(r, &tiles))
        return false;
    if (tiles.count < r->out->rank && !sharding_check_rank(r, tiles.count)) return false;
    if (!(ts_cursor_take(&r->cursor, "<=") ? sharding_read_iota(r, &order) : sharding_read_list(r, &order)) ||
        !read_fields(r, tiles.count - r->out->rank, kinds))
        return false;
    for (int i = 0; i < tiles.count; i++) {
        ts_mesh_digit digit =
            i < r->out->rank ? sharding_digit_of(i) : (ts_mesh_digit){.kind = kinds[i - r->out->rank]};
        if (!take_tiles(r, &order, &at, tiles.values[i], digit)) return false;
    }
    return true;
}
