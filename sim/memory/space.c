/* Memory spaces: ranges that become real at first touch. */
#include "memory/space.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "base/number.h"

ts_space ts_space_around(const char *name, void *bytes, int64_t length) {
    assert(length >= 0 && length < INT64_MAX / 16);
    return (ts_space){.name = name,
                      .capacity_bytes = length,
                      .axis_count = 1,
                      .axes = {{"m", 0, 0}},
                      .last = {.end = length, .bytes = bytes}};
}

ts_space *ts_space_wrap(ts_arena *arena, const char *name, void *bytes, int64_t length) {
    ts_space *space = TS_NEW(arena, ts_space);
    *space = ts_space_around(ts_arena_copy_text(arena, name, strlen(name)), bytes, length);
    space->arena = arena;
    return space;
}

ts_space *ts_space_new(ts_arena *arena, const char *name, int64_t capacity_bytes) {
    ts_space *space = ts_space_wrap(arena, name, NULL, capacity_bytes);
    space->last = (ts_space_range){0};
    return space;
}

ts_space *ts_space_of_machine(ts_arena *arena, const ts_machine_memory *memory) {
    ts_space *space = ts_space_new(arena, memory->name, memory->capacity_bytes);
    assert(memory->axis_count < TS_SPACE_MAX_AXES); /* machine/fields.c: at most 4 */
    for (int i = 0; i < memory->axis_count; i++) {
        const ts_machine_axis *axis = &memory->axes[i];
        space->axes[space->axis_count++] = (ts_space_axis){axis->name, axis->extent, axis->step_bytes};
    }
    return space;
}

void ts_space_free(ts_space *space) {
    for (int i = 0; space && i < space->range_count; i++) free(space->ranges[i].block);
}

void ts_space_forget(ts_space *space) {
    ts_space_free(space);
    space->range_count = 0;
    space->last = (ts_space_range){0};
}

/* ---- Ranges ---- */

/* Gives a range its bytes; false where the system has no such block. Pages of zeros from the system become
 * real at first touch. */
static bool make_real(ts_space_range *range) {
    int64_t length = range->end - range->begin;
    int64_t unit = length < TS_SPACE_HUGE_BYTES ? TS_SPACE_LINE_BYTES : TS_SPACE_HUGE_BYTES;
    int64_t all = length + unit + TS_SPACE_LINE_BYTES;
    if ((uint64_t)all > PTRDIFF_MAX) return false;
    uint8_t *block = calloc(1, (size_t)all);
    if (!block) return false;
    range->block = block;
    range->behind = TS_SPACE_LINE_BYTES;
    range->bytes = block + ((uintptr_t)range->begin - (uintptr_t)block) % (uintptr_t)unit;
    return true;
}

/* Huge pages for what was announced or is touched all at once, as far as the host has them: nothing depends
 * on it. */
static void advise(uint8_t *bytes, int64_t length) {
#ifdef MADV_HUGEPAGE
    size_t before = -(uintptr_t)bytes % TS_SPACE_HUGE_BYTES;
    if (length >= 2 * TS_SPACE_HUGE_BYTES) madvise(bytes + before, (size_t)length - before, MADV_HUGEPAGE);
#else
    (void)bytes, (void)length;
#endif
}

/* The first range that ends behind the address. */
static int find(const ts_space *space, int64_t address) {
    int low = 0, high = space->range_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (space->ranges[middle].end > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* How many ranges from number `first` on begin before `end`. */
static int count_met(const ts_space *space, int first, int64_t end) {
    int count = 0;
    while (first + count < space->range_count && space->ranges[first + count].begin < end) count++;
    return count;
}

/* One range in place of `count`, which lie in it. */
static ts_space_range *replace(ts_space *space, int first, int count, ts_space_range range) {
    if (space->range_count - count == space->range_room) {
        int room = space->range_room ? 2 * space->range_room : 8;
        space->ranges = ts_arena_grow(space->arena, space->ranges, (size_t)space->range_count, (size_t)room,
                                      sizeof range);
        space->range_room = room;
    }
    ts_space_range *at = space->ranges + first;
    memmove(at + 1, at + count, (size_t)(space->range_count - first - count) * sizeof range);
    *at = range;
    space->range_count += 1 - count;
    return at;
}

static void take_bytes(ts_space_range *to, ts_space_range *from) {
    if (from->bytes)
        memcpy(to->bytes + (from->begin - to->begin), from->bytes, (size_t)(from->end - from->begin));
    free(from->block);
}

/* What was not announced: chunks as far as there is nothing, and all ranges that the bytes meet. */
static ts_space_range *open_chunks(ts_space *space, int64_t address, int64_t end) {
    int first = find(space, address), count = count_met(space, first, end);
    const ts_space_range *met = space->ranges + first;
    ts_space_range new = {.begin = address / TS_SPACE_CHUNK_BYTES * TS_SPACE_CHUNK_BYTES,
                          .end = ts_round_up(end, TS_SPACE_CHUNK_BYTES)};
    int64_t behind = ts_round_up(space->capacity_bytes, TS_SPACE_LINE_BYTES);
    int64_t before = first > 0 ? met[-1].end : 0;
    if (first + count < space->range_count) behind = met[count].begin;
    if (new.begin < before) new.begin = before;
    if (new.end > behind) new.end = behind;
    if (count > 0 && met[0].begin < new.begin) new.begin = met[0].begin;
    if (count > 0 && met[count - 1].end > new.end) new.end = met[count - 1].end;
    if (!make_real(&new)) ts_out_of_memory((size_t)(new.end - new.begin));
    for (int i = 0; i < count; i++) take_bytes(&new, &space->ranges[first + i]);
    return replace(space, first, count, new);
}

uint8_t *ts_space_open(ts_space *space, int64_t address, int64_t length) {
    assert(length > 0 && ts_space_contains(space, address, length));
    int at = find(space, address);
    ts_space_range *range = space->ranges + at;
    bool inside = at < space->range_count && range->begin <= address && range->end - address >= length;
    bool fresh = !inside || !range->bytes;
    if (inside && fresh && !make_real(range)) {
        inside = false; /* without the hold */
        space->range_count--;
        memmove(range, range + 1, (size_t)(space->range_count - at) * sizeof *range);
    }
    if (!inside) range = open_chunks(space, address, address + length);
    space->last = *range;
    uint8_t *bytes = range->bytes + (address - range->begin);
    if (fresh && inside)
        advise(range->bytes, range->end - range->begin);
    else if (fresh)
        advise(bytes, length);
    return bytes;
}

void ts_space_hold(ts_space *space, int64_t address, int64_t length) {
    assert(ts_space_contains(space, address, length));
    ts_space_range new = {.begin = address / TS_SPACE_LINE_BYTES * TS_SPACE_LINE_BYTES,
                          .end = ts_round_up(address + length, TS_SPACE_LINE_BYTES)};
    int first = find(space, new.begin), count = count_met(space, first, new.end);
    for (int i = first; i < first + count; i++) {
        if (space->ranges[i].bytes) return;
        if (space->ranges[i].begin < new.begin) new.begin = space->ranges[i].begin;
        if (space->ranges[i].end > new.end) new.end = space->ranges[i].end;
    }
    if (length > 0) replace(space, first, count, new);
}

/* ---- Placing shapes ---- */

static const ts_space_axis *find_axis(const ts_space *space, const char *name) {
    for (int i = 0; i < space->axis_count; i++)
        if (strcmp(space->axes[i].name, name) == 0) return &space->axes[i];
    return NULL;
}

int64_t ts_space_partition_bits(const ts_space *space) {
    int64_t largest = 0;
    for (int i = 0; i < space->axis_count; i++)
        if (space->axes[i].step_bytes > largest) largest = space->axes[i].step_bytes;
    return largest * 8;
}

/* A named axis of elements must not run into the next partition. */
static bool fits_partition(ts_error *err, const ts_space *space, const ts_shape *shape, int i,
                           int64_t base_bytes) {
    const ts_space_axis *axis = find_axis(space, shape->layout->axes[i].name);
    int64_t low, high, partition = ts_space_partition_bits(space) / 8;
    if (partition == 0 || axis->step_bytes > 0 || axis == &space->axes[0]) return true;
    ts_layout_axis_range(shape->layout, i, &low, &high);
    int64_t bytes = ts_ceil_div((high + 1) * shape->element_bits, 8), at = base_bytes % partition;
    if (bytes <= partition - at) return true;
    return ts_error_set(err, TS_ERROR_INPUT,
                        at == 0
                            ? "the layout takes %lld bytes on axis '%s' of %s, whose partitions have %lld"
                            : "the layout takes %lld bytes on axis '%s' of %s, whose partitions have %lld, "
                              "from byte %lld of one",
                        (long long)bytes, axis->name, space->name, (long long)partition, (long long)at);
}

static bool place_axis(ts_error *err, const ts_space *space, const ts_shape *shape, int i, int64_t *bits,
                       int64_t *end) {
    const char *name = shape->layout->axes[i].name;
    const ts_space_axis *axis = find_axis(space, name);
    if (!axis) return ts_error_set(err, TS_ERROR_INPUT, "%s has no axis '%s'", space->name, name);
    int64_t low, high, reach;
    ts_layout_axis_range(shape->layout, i, &low, &high);
    if (axis->extent > 0 && (low < 0 || high >= axis->extent))
        return ts_error_set(err, TS_ERROR_INPUT,
                            "the layout reaches %lld to %lld on axis '%s' of %s, which has 0 to %lld",
                            (long long)low, (long long)high, name, space->name, (long long)axis->extent - 1);
    if (low < 0)
        return ts_error_set(err, TS_ERROR_INPUT,
                            "the layout reaches back to %lld on axis '%s' of %s, which begins at 0",
                            (long long)low, name, space->name);
    *bits = axis->step_bytes > 0 ? axis->step_bytes * 8 : shape->element_bits;
    if (ts_mul(high, *bits, &reach) && ts_add(*end, reach, end)) return true;
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
    int64_t end = shape->storage_bytes > 0 ? shape->element_bits : 0;
    if (base_bytes < 0 || base_bytes > space->capacity_bytes) {
        return ts_error_set(err, TS_ERROR_INPUT, "byte %lld is outside %s, which has %lld bytes",
                            (long long)base_bytes, space->name, (long long)space->capacity_bytes);
    }
    if (!shape->layout) return ts_error_set(err, TS_ERROR_INPUT, "this shape has no layout");
    if (!fits_behind(err, space, shape->storage_bytes, base_bytes)) return false;
    for (int i = 0; i < shape->layout->axis_count; i++)
        if (!place_axis(err, space, shape, i, &axis_bits[i], &end)) return false;
    if (!fits_behind(err, space, ts_ceil_div(end, 8), base_bytes)) return false;
    for (int i = 0; i < shape->layout->axis_count; i++)
        if (!fits_partition(err, space, shape, i, base_bytes)) return false;
    return true;
}
