/* Memory spaces: reserved address ranges whose chunks become real at first touch. */
#include "tilesim/memory/space.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "tilesim/base/number.h"

static ts_space *new_space(ts_arena *arena, const char *name, int64_t capacity_bytes) {
    ts_space *space = TS_NEW(arena, ts_space);
    space->name = ts_arena_copy_text(arena, name, strlen(name));
    space->capacity_bytes = capacity_bytes;
    space->axis_count = 1;
    space->axes[0] = (ts_space_axis){"m", 0, 0};
    return space;
}

static int64_t reserved_bytes(const ts_space *space) {
    return ts_round_up(space->capacity_bytes, TS_SPACE_CHUNK_BYTES);
}

ts_space *ts_space_new(ts_error *err, ts_arena *arena, const char *name, int64_t capacity_bytes) {
    assert(capacity_bytes > 0 && capacity_bytes < INT64_MAX / 16);
    ts_space *space = new_space(arena, name, capacity_bytes);
    int64_t length = reserved_bytes(space);
    void *range = mmap(NULL, (size_t)length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) {
        ts_error_set(err, TS_ERROR_IO, "cannot reserve %lld bytes of addresses for %s: %s", (long long)length,
                     name, strerror(errno));
        return NULL;
    }
    madvise(range, (size_t)length, MADV_HUGEPAGE); /* as far as the host has them: nothing depends on it */
    space->bytes = range;
    space->touched = TS_NEW_ARRAY(arena, uint8_t, length / TS_SPACE_CHUNK_BYTES);
    return space;
}

ts_space *ts_space_wrap(ts_arena *arena, const char *name, void *bytes, int64_t length) {
    ts_space *space = new_space(arena, name, length);
    space->bytes = bytes;
    return space;
}

ts_space *ts_space_of_machine(ts_error *err, ts_arena *arena, const ts_machine_memory *memory, bool real) {
    ts_space *space = real ? ts_space_new(err, arena, memory->name, memory->capacity_bytes)
                           : ts_space_wrap(arena, memory->name, NULL, memory->capacity_bytes);
    for (int i = 0; space && i < memory->axis_count && space->axis_count < TS_SPACE_MAX_AXES; i++) {
        const ts_machine_axis *axis = &memory->axes[i];
        space->axes[space->axis_count++] = (ts_space_axis){axis->name, axis->extent, axis->step_bytes};
    }
    return space;
}

void ts_space_free(ts_space *space) {
    if (space && space->touched) munmap(space->bytes, (size_t)reserved_bytes(space));
}

static void make_real(ts_space *space, int64_t chunk, int64_t count) {
    uint8_t *start = space->bytes + chunk * TS_SPACE_CHUNK_BYTES;
    int failed = mprotect(start, (size_t)(count * TS_SPACE_CHUNK_BYTES), PROT_READ | PROT_WRITE);
    assert(!failed);
    memset(space->touched + chunk, 1, (size_t)count);
}

uint8_t *ts_space_touch(ts_space *space, int64_t address, int64_t length) {
    assert(ts_space_contains(space, address, length));
    if (!space->touched || length == 0) return space->bytes + address;
    int64_t first = address / TS_SPACE_CHUNK_BYTES, last = (address + length - 1) / TS_SPACE_CHUNK_BYTES;
    for (int64_t chunk = first; chunk <= last; chunk++) {
        if (!space->touched[chunk]) make_real(space, chunk, 1);
    }
    return space->bytes + address;
}

static bool check(ts_error *err, const ts_space *space, int64_t address, int64_t length) {
    if (ts_space_contains(space, address, length)) return true;
    return ts_error_set(err, TS_ERROR_FAULT,
                        "access to %s at byte %lld of %lld bytes, expected it within 0 to %lld", space->name,
                        (long long)address, (long long)length, (long long)space->capacity_bytes);
}

bool ts_space_read(ts_error *err, ts_space *space, int64_t address, void *out, int64_t length) {
    if (!check(err, space, address, length)) return false;
    memcpy(out, ts_space_touch(space, address, length), (size_t)length);
    return true;
}

/* ---- Placing shapes ---- */

static const ts_space_axis *find_axis(const ts_space *space, const char *name) {
    for (int i = 0; i < space->axis_count; i++) {
        if (strcmp(space->axes[i].name, name) == 0) return &space->axes[i];
    }
    return NULL;
}

int64_t ts_space_partition_bits(const ts_space *space) {
    int64_t largest = 0;
    for (int i = 0; i < space->axis_count; i++) {
        if (space->axes[i].step_bytes > largest) largest = space->axes[i].step_bytes;
    }
    return largest * 8;
}

/* A named axis of elements must not run into the next partition. */
static bool fits_partition(ts_error *err, const ts_space *space, const ts_space_axis *axis,
                           int64_t reach_bits) {
    int64_t partition = ts_space_partition_bits(space);
    if (partition == 0 || axis->step_bytes > 0 || axis == &space->axes[0] || reach_bits <= partition)
        return true;
    return ts_error_set(
        err, TS_ERROR_INPUT, "the layout takes %lld bytes on axis '%s' of %s, whose partitions have %lld",
        (long long)ts_ceil_div(reach_bits, 8), axis->name, space->name, (long long)partition / 8);
}

static bool place_axis(ts_error *err, const ts_space *space, const ts_shape *shape, int i, int64_t *bits,
                       int64_t *end) {
    const char *name = shape->layout->axes[i].name;
    const ts_space_axis *axis = find_axis(space, name);
    if (!axis) return ts_error_set(err, TS_ERROR_INPUT, "%s has no axis '%s'", space->name, name);
    int64_t low, high, reach;
    ts_layout_axis_range(shape->layout, i, &low, &high);
    if (low < 0 || (axis->extent > 0 && high >= axis->extent)) {
        return ts_error_set(err, TS_ERROR_INPUT,
                            "the layout reaches %lld to %lld on axis '%s' of %s, which has 0 to %lld",
                            (long long)low, (long long)high, name, space->name,
                            (long long)(axis->extent > 0 ? axis->extent - 1 : space->capacity_bytes - 1));
    }
    *bits = axis->step_bytes > 0 ? axis->step_bytes * 8 : shape->element_bits;
    if (ts_mul(high, *bits, &reach) && ts_add(*end, reach, end)) {
        return fits_partition(err, space, axis, reach + shape->element_bits);
    }
    return ts_error_set(err, TS_ERROR_INPUT, "the layout's addresses do not fit in 64 bits");
}

static bool fits_behind(ts_error *err, const ts_space *space, int64_t bytes, int64_t base_bytes) {
    if (bytes <= space->capacity_bytes - base_bytes) return true;
    return ts_error_set(
        err, TS_ERROR_INPUT, "the tensor takes %lld bytes at byte %lld of %s, which has %lld bytes",
        (long long)bytes, (long long)base_bytes, space->name, (long long)space->capacity_bytes);
}

bool ts_space_place(ts_error *err, const ts_space *space, const ts_shape *shape, int64_t base_bytes,
                    int64_t *axis_bits) {
    int64_t end = shape->element_bits;
    if (base_bytes < 0 || base_bytes > space->capacity_bytes) {
        return ts_error_set(err, TS_ERROR_INPUT, "byte %lld is outside %s, which has %lld bytes",
                            (long long)base_bytes, space->name, (long long)space->capacity_bytes);
    }
    if (!shape->layout) return ts_error_set(err, TS_ERROR_INPUT, "this shape has no layout");
    if (!fits_behind(err, space, shape->storage_bytes, base_bytes)) return false;
    for (int i = 0; i < shape->layout->axis_count; i++) {
        if (!place_axis(err, space, shape, i, &axis_bits[i], &end)) return false;
    }
    return fits_behind(err, space, ts_ceil_div(end, 8), base_bytes);
}
