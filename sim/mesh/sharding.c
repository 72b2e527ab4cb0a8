/* Shardings: the digits of a device's number, what they select, and how they are written. */
#include "sharding_private.h"

#include <string.h>

#include "base/number.h"

/* ---- Asking ---- */

int64_t ts_sharding_extent(const ts_sharding *sharding, int dim) {
    int64_t parts = 1;
    for (int i = 0; i < sharding->digit_count; i++) {
        const ts_mesh_digit *digit = &sharding->digits[i];
        if (digit->kind == TS_DIGIT_SHARD && digit->dim == dim) parts *= digit->extent;
    }
    return ts_ceil_div(sharding->dims[dim], parts);
}

int64_t ts_sharding_elements(const ts_sharding *sharding) {
    int64_t elements = 1;
    for (int d = 0; d < sharding->rank; d++) elements *= ts_sharding_extent(sharding, d);
    return elements;
}

int64_t ts_sharding_copies(const ts_sharding *sharding) {
    int64_t copies = 1;
    for (int i = 0; i < sharding->digit_count; i++)
        if (sharding->digits[i].kind == TS_DIGIT_REPLICA) copies *= sharding->digits[i].extent;
    return copies;
}

static int64_t digit_of(const ts_mesh_digit *digit, int64_t device) {
    return device / digit->stride % digit->extent;
}

static int64_t wanted(const ts_mesh_digit *digit, const int64_t *index) {
    return index[digit->dim] / digit->weight % digit->extent;
}

int64_t ts_sharding_device(const ts_sharding *sharding, const int64_t *index, int64_t device) {
    for (int i = 0; i < sharding->digit_count; i++) {
        const ts_mesh_digit *digit = &sharding->digits[i];
        if (digit->kind == TS_DIGIT_SHARD)
            device += (wanted(digit, index) - digit_of(digit, device)) * digit->stride;
    }
    return device;
}

bool ts_sharding_holds(const ts_sharding *sharding, const int64_t *index, int64_t device) {
    return ts_sharding_device(sharding, index, device) == device;
}

bool ts_sharding_holds_at(const ts_sharding *sharding, int dim, int64_t at, int64_t device) {
    for (int i = 0; i < sharding->digit_count; i++) {
        const ts_mesh_digit *digit = &sharding->digits[i];
        if (digit->kind != TS_DIGIT_SHARD || digit->dim != dim) continue;
        if (at / digit->weight % digit->extent != digit_of(digit, device)) return false;
    }
    return true;
}

int64_t ts_sharding_run(const ts_sharding *sharding, int dim) {
    int64_t run = sharding->dims[dim] > 0 ? sharding->dims[dim] : 1;
    for (int i = 0; i < sharding->digit_count; i++) {
        const ts_mesh_digit *digit = &sharding->digits[i];
        if (digit->kind == TS_DIGIT_SHARD && digit->dim == dim && digit->weight < run) run = digit->weight;
    }
    return run;
}

int64_t ts_sharding_addend(const ts_sharding *sharding, int64_t device) {
    int64_t addend = 0;
    for (int i = 0; i < sharding->digit_count; i++) {
        const ts_mesh_digit *digit = &sharding->digits[i];
        if (digit->kind == TS_DIGIT_PARTIAL) addend = addend * digit->extent + digit_of(digit, device);
    }
    return addend;
}

bool ts_sharding_cut(ts_sharding *sharding, int64_t stride) {
    for (int i = 0; i < sharding->digit_count; i++) {
        ts_mesh_digit *digit = &sharding->digits[i];
        int64_t below = stride / digit->stride;
        if (stride <= digit->stride || stride >= digit->stride * digit->extent) continue;
        if (stride % digit->stride != 0 || digit->extent % below != 0) return false;
        if (sharding->digit_count == TS_SHARDING_MAX_DIGITS) return false;
        memmove(digit + 2, digit + 1, sizeof *digit * (size_t)(sharding->digit_count++ - i - 1));
        digit[1] = *digit;
        digit[1].extent = below;
        digit[0].extent /= below;
        digit[0].stride = stride;
        digit[0].weight *= below;
        return true;
    }
    return true;
}

static bool follow(const ts_mesh_digit *major, const ts_mesh_digit *minor) {
    return major->kind == minor->kind && major->stride == minor->stride * minor->extent &&
           (major->kind != TS_DIGIT_SHARD ||
            (major->dim == minor->dim && major->weight == minor->weight * minor->extent));
}

void ts_sharding_join(ts_sharding *sharding) {
    int count = 0;
    for (int i = 0; i < sharding->digit_count; i++) {
        ts_mesh_digit digit = sharding->digits[i];
        if (count > 0 && follow(&sharding->digits[count - 1], &digit))
            digit.extent *= sharding->digits[--count].extent;
        sharding->digits[count++] = digit;
    }
    sharding->digit_count = count;
}

/* ---- Printing ---- */

/* Whether what a device holds of a dim is one run. */
static bool contiguous(const ts_mesh_digit *const digits[], int count, int64_t held) {
    if (held == 0) held = 1; /* as digits of an empty dim are weighed */
    for (int i = count - 1; i >= 0; held *= digits[i--]->extent)
        if (digits[i]->weight != held) return false;
    return true;
}

/* The digits of a dim, the most significant first: by weight. */
static int digits_of_dim(const ts_sharding *sharding, int dim, const ts_mesh_digit *out[]) {
    int count = 0;
    for (int i = 0; i < sharding->digit_count; i++) {
        const ts_mesh_digit *digit = &sharding->digits[i];
        if (digit->kind != TS_DIGIT_SHARD || digit->dim != dim) continue;
        int at = count++;
        for (; at > 0 && out[at - 1]->weight < digit->weight; at--) out[at] = out[at - 1];
        out[at] = digit;
    }
    return count;
}

static int digits_of_kind(const ts_sharding *sharding, ts_digit_kind kind, const ts_mesh_digit *out[]) {
    int count = 0;
    for (int i = 0; i < sharding->digit_count; i++)
        if (sharding->digits[i].kind == kind) out[count++] = &sharding->digits[i];
    return count;
}

static int64_t product(const ts_mesh_digit *const digits[], int count) {
    int64_t all = 1;
    for (int i = 0; i < count; i++) all *= digits[i]->extent;
    return all;
}

/* iota(dims) transposed: its dims are the digits by stride, the order is that of the tiles. Digits that
 * follow each other in both are one. */
static void print_iota(ts_text *out, const ts_sharding *sharding, const ts_mesh_digit *const order[]) {
    int position[TS_SHARDING_MAX_DIGITS], whole[TS_SHARDING_MAX_DIGITS], count = 0;
    for (int i = 0; i < sharding->digit_count; i++) position[order[i] - sharding->digits] = i;
    ts_text_add(out, "<=[");
    for (int i = 0; i < sharding->digit_count;) {
        int64_t extent = 1;
        whole[count] = position[i];
        do extent *= sharding->digits[i++].extent;
        while (i < sharding->digit_count && position[i] == position[i - 1] + 1);
        ts_text_add(out, "%s%lld", count++ ? "," : "", (long long)extent);
    }
    ts_text_add_char(out, ']');
    for (int at = 0, printed = 0; count > 1 && at < sharding->digit_count; at++)
        for (int i = 0; i < count; i++)
            if (whole[i] == at) ts_text_add(out, "%s%d", printed++ ? "," : "T(", i);
    if (count > 1) ts_text_add_char(out, ')');
}

const char *ts_sharding_hlo_text(ts_arena *arena, const ts_sharding *sharding) {
    const ts_mesh_digit *order[TS_SHARDING_MAX_DIGITS];
    int count = 0;
    ts_text out = ts_text_begin(arena), tiles = ts_text_begin(arena);
    for (int d = 0; d < sharding->rank; d++) {
        int digits = digits_of_dim(sharding, d, &order[count]);
        if (!contiguous(&order[count], digits, ts_sharding_extent(sharding, d))) return NULL;
        ts_text_add(&tiles, "%s%lld", d ? "," : "", (long long)product(&order[count], digits));
        count += digits;
    }
    int replicas = digits_of_kind(sharding, TS_DIGIT_REPLICA, &order[count]);
    int partials = digits_of_kind(sharding, TS_DIGIT_PARTIAL, &order[count + replicas]);
    if (replicas == sharding->digit_count) return "{replicated}";
    if (replicas) ts_text_add(&tiles, ",%lld", (long long)product(&order[count], replicas));
    if (partials) ts_text_add(&tiles, ",%lld", (long long)product(&order[count + replicas], partials));
    ts_text_add(&out, "{devices=[%s]", tiles.bytes + (sharding->rank == 0));
    print_iota(&out, sharding, order);
    if (partials)
        ts_text_add(&out, " last_tile_dims={%sunreduced}", replicas ? "replicated, " : "");
    else if (replicas)
        ts_text_add(&out, " last_tile_dim_replicate");
    ts_text_add_char(&out, '}');
    return out.bytes;
}

/* The axis of which a digit is a part, and its stride there; NULL: it goes beyond one. */
static const ts_mesh_axis *axis_of(const ts_mesh *mesh, const ts_mesh_digit *digit, int64_t *stride) {
    for (int i = 0; i < mesh->axis_count; i++) {
        const ts_mesh_axis *axis = &mesh->axes[i];
        *stride = digit->stride / axis->stride;
        if (digit->stride % axis->stride == 0 && *stride * digit->extent <= axis->extent) return axis;
    }
    *stride = digit->stride;
    return NULL;
}

/* axis NULL: in the device's own memory. */
static void add_iter(ts_text *extents, ts_text *strides, int64_t extent, int64_t stride, const char *axis) {
    ts_text_add(extents, "%s%lld", extents->length ? "," : "", (long long)extent);
    ts_text_add(strides, "%s%lld%s%s", strides->length ? "," : "", (long long)stride, axis ? "@" : "",
                axis ? axis : "");
}

static void add_digit(const ts_mesh *mesh, const ts_mesh_digit *digit, ts_text *extents, ts_text *strides) {
    int64_t stride;
    const ts_mesh_axis *axis = axis_of(mesh, digit, &stride);
    add_iter(extents, strides, digit->extent, stride, axis ? axis->name : "device");
}

static void add_dim(const ts_mesh *mesh, const ts_sharding *sharding, int dim, ts_text *extents,
                    ts_text *strides) {
    const ts_mesh_digit *digits[TS_SHARDING_MAX_DIGITS];
    int count = digits_of_dim(sharding, dim, digits);
    int64_t inner = 1, above = 0; /* of the device's own memory */
    for (int d = dim + 1; d < sharding->rank; d++) inner *= ts_sharding_extent(sharding, d);
    int64_t held = ts_sharding_extent(sharding, dim), padded = held * product(digits, count);
    for (int i = 0; i <= count; i++) {
        int64_t until = i < count ? digits[i]->weight * digits[i]->extent : 1;
        above = i ? digits[i - 1]->weight : padded;
        bool inside = i == count && (count == 0 || held == 0);
        if (above > until || inside) { /* what lies between two digits stays on the device */
            int64_t extent = held == 0 ? 0 : above / until;
            if (extent > 0) held /= extent;
            add_iter(extents, strides, extent, held * inner, NULL);
        }
        if (i < count) add_digit(mesh, digits[i], extents, strides);
    }
}

static void print_list(ts_text *out, const char *open, const ts_text *extents, const ts_text *strides) {
    ts_text_add(out, "%s(%s):(%s)]", open, extents->bytes, strides->bytes);
}

const char *ts_sharding_axe_text(ts_arena *arena, const ts_mesh *mesh, const ts_sharding *sharding) {
    ts_text out = ts_text_begin(arena), extents = ts_text_begin(arena), strides = ts_text_begin(arena);
    for (int d = 0; d < sharding->rank; d++) add_dim(mesh, sharding, d, &extents, &strides);
    if (sharding->rank == 0) add_iter(&extents, &strides, 1, 1, NULL);
    print_list(&out, "S[", &extents, &strides);
    ts_text_clear(&extents);
    ts_text_clear(&strides);
    for (int i = 0; i < sharding->digit_count; i++)
        if (sharding->digits[i].kind == TS_DIGIT_REPLICA)
            add_digit(mesh, &sharding->digits[i], &extents, &strides);
    if (extents.length > 0) print_list(&out, " + R[", &extents, &strides);
    return out.bytes;
}

/* Whether the digits are whole axes, one after the other. */
static bool print_names(ts_text *out, const ts_mesh *mesh, const ts_mesh_digit *const digits[], int count) {
    for (int i = 0; i < count; i++) {
        int64_t stride;
        const ts_mesh_axis *axis = axis_of(mesh, digits[i], &stride);
        if (!axis || stride != 1 || axis->extent != digits[i]->extent) return false;
        ts_text_add(out, "%s'%s'", i ? ", " : "", axis->name);
    }
    return true;
}

const char *ts_sharding_spec_text(ts_arena *arena, const ts_mesh *mesh, const ts_sharding *sharding) {
    const ts_mesh_digit *digits[TS_SHARDING_MAX_DIGITS];
    ts_text spec = ts_text_begin(arena);
    ts_text_add(&spec, "P(");
    for (int d = 0; d < sharding->rank; d++) {
        int count = digits_of_dim(sharding, d, digits);
        if (!contiguous(digits, count, ts_sharding_extent(sharding, d))) return NULL;
        ts_text_add(&spec, "%s%s", d ? ", " : "", count == 0 ? "None" : count > 1 ? "(" : "");
        if (!print_names(&spec, mesh, digits, count)) return NULL;
        if (count > 1) ts_text_add_char(&spec, ')');
    }
    int partials = digits_of_kind(sharding, TS_DIGIT_PARTIAL, digits);
    if (partials) ts_text_add(&spec, "%sunreduced={", sharding->rank ? ", " : "");
    if (partials && !print_names(&spec, mesh, digits, partials)) return NULL;
    ts_text_add(&spec, partials ? "})" : ")");
    return spec.bytes;
}

/* ---- For those that read them ---- */

bool sharding_refuse(sharding_reader *r, const char *message) {
    return ts_cursor_refuse(r->err, &r->cursor, "%s", message);
}

bool sharding_refuse_overlap(sharding_reader *r, const ts_mesh_digit *digit, size_t at) {
    const ts_mesh_axis *axis = &r->mesh->axes[r->mesh->axis_count - 1];
    while (axis->stride * axis->extent <= digit->stride) axis--;
    return ts_error_at(r->err, TS_ERROR_INPUT, r->cursor.source, at,
                       "two parts of the sharding use the axis '%s', or parts of it that overlap",
                       axis->name);
}

bool sharding_add(sharding_reader *r, ts_mesh_digit digit) {
    if (digit.extent == 1) return true;
    for (int i = 0; i < r->out->digit_count; i++) {
        const ts_mesh_digit *other = &r->out->digits[i];
        if (digit.stride < other->stride * other->extent && other->stride < digit.stride * digit.extent)
            return sharding_refuse_overlap(r, &digit, r->cursor.token);
    }
    if (r->out->digit_count == TS_SHARDING_MAX_DIGITS)
        return sharding_refuse(r, "the sharding has too many digits");
    r->out->digits[r->out->digit_count++] = digit;
    return true;
}

bool sharding_check_rank(sharding_reader *r, int count) {
    if (count == r->out->rank) return true;
    return ts_cursor_refuse(r->err, &r->cursor, "the sharding has %d dims, the array %d", count,
                            r->out->rank);
}

bool sharding_check_rank_at_most(sharding_reader *r, int count) {
    return count < r->out->rank || sharding_check_rank(r, count);
}
