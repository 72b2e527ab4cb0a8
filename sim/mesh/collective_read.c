/* Collectives as compiled programs write them: a kind, bytes, and groups of devices. */
#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "mesh/collective.h"
#include "sharding_private.h"

/* "{{0,1},{2,3}}": as many numbers in each. */
typedef struct {
    int64_t count, groups;
    int64_t *numbers;
} number_lists;

static bool read_group(ts_error *err, ts_arena *arena, ts_cursor *cursor, number_lists *lists) {
    int64_t before = lists->count;
    if (!ts_cursor_expect(err, cursor, "{")) return false;
    do {
        if (!ts_cursor_integer(err, cursor, "the number of a device",
                               TS_APPEND(arena, lists->numbers, lists->count)))
            return false;
    } while (ts_cursor_take(cursor, ","));
    lists->groups++;
    if (lists->count - before != lists->count / lists->groups || lists->count % lists->groups != 0)
        return ts_error_at(err, TS_ERROR_UNMODELLED, cursor->source, cursor->token,
                           "groups of different sizes");
    return ts_cursor_expect(err, cursor, "}");
}

static bool read_lists(ts_error *err, ts_arena *arena, ts_cursor *cursor, number_lists *lists) {
    if (!ts_cursor_expect(err, cursor, "{")) return false;
    if (ts_cursor_take(cursor, "}")) return true;
    do
        if (!read_group(err, arena, cursor, lists)) return false;
    while (ts_cursor_take(cursor, ","));
    return ts_cursor_expect(err, cursor, "}") &&
           (ts_cursor_at_end(cursor) || ts_cursor_unexpected(err, cursor, "the end of the groups"));
}

/* "[G,n]<=..": the first two numbers, for the array's dims; the rest is read as a sharding. */
static bool read_iota(ts_error *err, ts_cursor cursor, int64_t *groups, int64_t *members) {
    return ts_cursor_expect(err, &cursor, "[") &&
           ts_cursor_integer(err, &cursor, "the number of groups", groups) &&
           ts_cursor_expect(err, &cursor, ",") &&
           ts_cursor_integer(err, &cursor, "devices of a group", members) &&
           ts_cursor_expect(err, &cursor, "]");
}

static bool read_devices(ts_error *err, ts_arena *arena, const ts_collective_request *request,
                         number_lists *lists) {
    sharding_reader r = {err, arena, request->mesh, {&request->groups, 0, 0}, NULL, false};
    int64_t shape[2];
    if (!ts_cursor_take(&r.cursor, "mesh")) return read_lists(err, arena, &r.cursor, lists);
    int64_t *devices = sharding_read_groups(&r, shape);
    if (devices) *lists = (number_lists){shape[0] * shape[1], shape[0], devices};
    return devices != NULL;
}

static bool print_groups(ts_error *err, ts_arena *arena, const ts_collective_request *request,
                         ts_text *devices, int64_t shape[2]) {
    ts_cursor cursor = {&request->groups, 0, 0};
    number_lists lists = {0};
    shape[0] = 1;
    shape[1] = request->mesh->device_count;
    if (ts_cursor_peek(&cursor) == '[') {
        if (!read_iota(err, cursor, &shape[0], &shape[1])) return false;
        ts_text_add(devices, "%.*s", (int)request->groups.length, request->groups.text);
        return true;
    }
    if (request->groups.length > 0 && !read_devices(err, arena, request, &lists)) return false;
    if (lists.count > 0) {
        shape[0] = lists.groups;
        shape[1] = lists.count / lists.groups;
    }
    ts_text_add(devices, "[%" PRId64 ",%" PRId64 "]", shape[0], shape[1]);
    if (lists.count == 0) ts_text_add(devices, "<=[%" PRId64 "]", shape[1]);
    for (int64_t i = 0; i < lists.count; i++)
        ts_text_add(devices, "%s%" PRId64, i ? "," : "", lists.numbers[i]);
    return true;
}

/* The member's digits are of dim 1; a third dim is there for what goes all to all. */
static bool read_groups(ts_error *err, ts_arena *arena, const ts_collective_request *request,
                        ts_sharding *out) {
    int64_t shape[2];
    ts_text devices = ts_text_begin(arena);
    ts_text text = ts_text_begin(arena);
    if (!print_groups(err, arena, request, &devices, shape)) return false;
    if (shape[0] < 1 || shape[1] < 1)
        return ts_error_at(err, TS_ERROR_INPUT, &request->groups, 0, "groups of no devices");
    bool scatters = request->kind == TS_COLLECTIVE_REDUCE_SCATTER;
    int64_t rest = scatters ? request->bytes : ts_ceil_div(request->bytes, shape[1]);
    bool transposes = request->kind == TS_COLLECTIVE_ALL_TO_ALL;
    const char *end = memchr(devices.bytes, ']', devices.length); /* of the tiles, which get a third dim */
    ts_text_add(&text, "u8[%" PRId64 ",%" PRId64 ",%" PRId64 "] {devices=%.*s,1%s}", shape[0], shape[1],
                transposes ? ts_round_up(request->bytes, shape[1]) : rest, (int)(end - devices.bytes),
                devices.bytes, end);
    ts_source *source = TS_NEW(arena, ts_source);
    *source = (ts_source){request->groups.name, text.bytes, text.length};
    return ts_sharding_parse(err, arena, request->mesh, source, out);
}

static void set_kinds(ts_collective *c, ts_digit_kind before, ts_digit_kind after) {
    for (int i = 0; i < c->before.digit_count; i++) {
        ts_mesh_digit *digit = &c->before.digits[i];
        if (digit->kind != TS_DIGIT_SHARD || digit->dim != 1) continue;
        c->group[c->group_count++] = i;
        digit->kind = before;
        c->after.digits[i].kind = after;
    }
}

/* Dim 1, which is as long as a group, becomes whole, and dim 2 is split in its place. */
static void transpose(ts_collective *c) {
    int64_t members = c->before.dims[1];
    for (int i = 0; i < c->after.digit_count; i++) {
        ts_mesh_digit *digit = &c->after.digits[i];
        if (digit->kind != TS_DIGIT_SHARD || digit->dim != 1) continue;
        digit->dim = 2;
        digit->weight *= c->before.dims[2] / members;
    }
}

static bool read_pairs(ts_error *err, ts_arena *arena, const ts_collective_request *request,
                       ts_collective *out) {
    ts_cursor cursor = {&request->groups, 0, 0};
    number_lists lists = {.numbers = TS_NEW_ARRAY(arena, int64_t, 1)}; /* also of no pairs: "{}" */
    if (!read_lists(err, arena, &cursor, &lists)) return false;
    if (lists.count != 2 * lists.groups)
        return ts_error_at(err, TS_ERROR_INPUT, &request->groups, 0,
                           "expected pairs of a source and a destination");
    for (int64_t i = 0; i < lists.count; i++)
        if (lists.numbers[i] < 0 || lists.numbers[i] >= request->mesh->device_count)
            return ts_error_at(err, TS_ERROR_INPUT, &request->groups, 0,
                               "device %" PRId64 ", the mesh has 0 to %" PRId64, lists.numbers[i],
                               request->mesh->device_count - 1);
    out->pairs = (const int64_t(*)[2])lists.numbers;
    out->pair_count = lists.groups;
    out->pair_bytes = request->bytes;
    return true;
}

bool ts_collective_read(ts_error *err, ts_arena *arena, const ts_collective_request *request,
                        ts_collective *out) {
    memset(out, 0, sizeof *out);
    out->mesh = request->mesh;
    out->kind = request->kind;
    if (request->bytes < 0 || request->bytes > INT64_C(1) << 48)
        return ts_error_set(err, TS_ERROR_INPUT, "a collective of %" PRId64 " bytes", request->bytes);
    if (request->kind == TS_COLLECTIVE_PERMUTE) return read_pairs(err, arena, request, out);
    if (!read_groups(err, arena, request, &out->before)) return false;
    out->after = out->before;
    ts_sharding_cut_at_dims(&out->before, &out->after, request->mesh);
    bool gathers = request->kind == TS_COLLECTIVE_ALL_GATHER,
         transposes = request->kind == TS_COLLECTIVE_ALL_TO_ALL;
    set_kinds(out, gathers || transposes ? TS_DIGIT_SHARD : TS_DIGIT_PARTIAL,
              request->kind == TS_COLLECTIVE_REDUCE_SCATTER || transposes ? TS_DIGIT_SHARD
                                                                          : TS_DIGIT_REPLICA);
    if (transposes) transpose(out);
    return true;
}
