/* Arrays dealt out to devices and gathered, beside who holds what by the definition (ts_sharding_holds). */
#include "run/run_parts.h"

#include <string.h>

#include "tests/support/test.h"

enum { MOST = 4096 };
static const int32_t untouched = 0x5a5a5a5a;

typedef struct {
    ts_arena *arena;
    ts_mesh mesh;
    ts_sharding sharding;
    ts_host_array whole;
    int64_t elements, part_elements;
} fixture;

static void begin(fixture *f, const char *axes, const char *text) {
    ts_error err = {0};
    f->arena = ts_arena_new();
    const ts_machine *machine = ts_machine_load(&err, f->arena, "tpu-v5p");
    assert_non_null(machine);
    ts_mesh_request request = {.machine = machine, .axes = {"mesh", axes, strlen(axes)}};
    ts_source source = {"array", text, strlen(text)};
    assert_true(ts_mesh_read(&err, f->arena, &request, &f->mesh));
    assert_true(ts_sharding_parse(&err, f->arena, &f->mesh, &source, &f->sharding));
    assert_true(
        ts_host_array_init(&err, f->arena, TS_DTYPE_S32, f->sharding.rank, f->sharding.dims, &f->whole));
    f->elements = (int64_t)ts_host_array_elements(&f->whole);
    f->part_elements = ts_sharding_elements(&f->sharding);
    for (int64_t i = 0; i < f->elements; i++) ((int32_t *)(void *)f->whole.bytes)[i] = (int32_t)i;
}

static bool holds(const fixture *f, int64_t flat, int64_t device) {
    int64_t index[TS_LAYOUT_MAX_DIMS];
    for (int i = f->sharding.rank - 1; i >= 0; i--) {
        index[i] = flat % f->sharding.dims[i];
        flat /= f->sharding.dims[i];
    }
    return ts_sharding_holds(&f->sharding, index, device);
}

static void assert_reads(const ts_host_reader *reader, int64_t first, int64_t stride, size_t count,
                         const int32_t *expected) {
    int32_t got[MOST];
    ts_error err = {0};
    memset(got, 0x5a, sizeof got);
    assert_true(reader->read(&err, reader->self, first, stride, count, got));
    for (size_t i = 0; i < count; i++) assert_int_equal(got[i], expected[first + (int64_t)i * stride]);
    for (size_t i = count; i < MOST; i++) assert_int_equal(got[i], untouched);
}

static void assert_read(const ts_host_reader *reader, const int32_t *expected, int64_t count) {
    assert_reads(reader, 0, 1, (size_t)count, expected);
    if (count < 8) return;
    assert_reads(reader, 3, 1, (size_t)count - 5, expected);
    assert_reads(reader, 1, 3, (size_t)(count - 1) / 3, expected);
    assert_reads(reader, count - 1, -2, (size_t)count / 2, expected);
}

static void assert_dealt(const char *axes, const char *text) {
    fixture f;
    begin(&f, axes, text);
    ts_host_reader whole = sharded_of_array(f.arena, &f.whole);
    ts_host_reader *parts = TS_NEW_ARRAY(f.arena, ts_host_reader, f.mesh.device_count);
    assert_read(&whole, (const int32_t *)(const void *)f.whole.bytes, f.elements);
    for (int64_t d = 0; d < f.mesh.device_count; d++) {
        int32_t *expected = TS_NEW_ARRAY(f.arena, int32_t, f.elements);
        int64_t count = 0, first = 0;
        for (int64_t i = 0; i < f.elements; i++)
            if (holds(&f, i, d)) expected[count++] = (int32_t)i;
        assert_int_equal(count, f.part_elements);
        ts_host_reader part = sharded_part(f.arena, &f.sharding, d, &whole);
        assert_read(&part, expected, count);
        while (!holds(&f, expected[0], first)) first++;
        assert_int_equal(sharded_first_copy(&f.sharding, d), first);
        ts_host_array own;
        ts_error err = {0};
        assert_true(ts_host_array_init(&err, f.arena, TS_DTYPE_S32, 1, &count, &own));
        memcpy(own.bytes, expected, (size_t)count * 4);
        parts[d] = sharded_of_array(f.arena, &own);
    }
    ts_host_reader gathered = sharded_whole(f.arena, &f.sharding, parts);
    assert_read(&gathered, (const int32_t *)(const void *)f.whole.bytes, f.elements);
    ts_arena_free(f.arena);
}

TEST(every_device_has_its_part) {
    assert_dealt("4", "s32[8,6] P('x')");
    assert_dealt("4", "s32[6,8] P(None, 'x')");
    assert_dealt("2x3", "s32[4,6,5] P('x', 'y')");
    assert_dealt("2x3", "s32[6,4] P('y', None)");
    assert_dealt("2x3", "s32[12,5] P(('x', 'y'))");
    assert_dealt("2x3", "s32[12,5] P(('y', 'x'))");
    assert_dealt("2x3x2", "s32[4,3,12] P('z', None, ('x', 'y'))");
    assert_dealt("4", "s32[5,7]");
    assert_dealt("4", "s32[]");
    assert_dealt("4", "s32[16,8] {devices=[2,2]<=[2,2]T(1,0)}");
    assert_dealt("2x2", "s32[8,16] S[(2,2,2,16):(32,1@x,16,1)] + R[2:1@y]");
    assert_dealt("2", "s32[16] S[(2,2,4):(4,1@x,1)]");
}

/* What each device has of 0, 1, 2 .., padding as 0; and what is gathered where padding is anything. */
static void assert_padded(const char *axes, const char *text, const int32_t *expected) {
    fixture f;
    begin(&f, axes, text);
    ts_host_reader whole = sharded_of_array(f.arena, &f.whole);
    ts_host_reader *parts = TS_NEW_ARRAY(f.arena, ts_host_reader, f.mesh.device_count);
    for (int64_t d = 0; d < f.mesh.device_count; d++, expected += f.part_elements) {
        ts_host_reader part = sharded_part(f.arena, &f.sharding, d, &whole);
        assert_read(&part, expected, f.part_elements);
        ts_host_array own;
        ts_error err = {0};
        assert_true(ts_host_array_init(&err, f.arena, TS_DTYPE_S32, 1, &f.part_elements, &own));
        int32_t *values = (int32_t *)(void *)own.bytes;
        int64_t held = 1, real = 0;
        for (int64_t i = 0; i < f.part_elements; i++) {
            values[i] = sharded_is_padding(&f.sharding, d, i) ? -1 : expected[i];
            real += values[i] >= 0;
        }
        for (int i = 0; i < f.sharding.rank; i++) held *= sharded_held(&f.sharding, i, d);
        assert_int_equal(real, held);
        parts[d] = sharded_of_array(f.arena, &own);
    }
    ts_host_reader gathered = sharded_whole(f.arena, &f.sharding, parts);
    assert_read(&gathered, (const int32_t *)(const void *)f.whole.bytes, f.elements);
    ts_arena_free(f.arena);
}

TEST(parts_that_are_shorter_end_with_zeros) {
    assert_padded("4", "s32[10] P('x')", (const int32_t[]){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0});
    assert_padded("6", "s32[3] P('x')", (const int32_t[]){0, 1, 2, 0, 0, 0});
    assert_padded("2x2", "s32[3,5] P('x', 'y')", (const int32_t[]){0,  1,  2,  5, 6, 7, 3,  4,  0, 8, 9, 0,
                                                                   10, 11, 12, 0, 0, 0, 13, 14, 0, 0, 0, 0});
    assert_padded("3", "s32[2,4] P(None, 'x')", (const int32_t[]){0, 1, 4, 5, 2, 3, 6, 7, 0, 0, 0, 0});
    assert_padded("2", "s32[2,3] P(None, 'x')", (const int32_t[]){0, 1, 3, 4, 2, 0, 5, 0});
    assert_padded("3", "s32[4] P('x')", (const int32_t[]){0, 1, 2, 3, 0, 0});
    assert_padded("2x2", "s32[5] P('y')", (const int32_t[]){0, 1, 2, 3, 4, 0, 0, 1, 2, 3, 4, 0});
    assert_padded("2x2", "s32[7] P(('y', 'x'))", (const int32_t[]){0, 1, 4, 5, 2, 3, 6, 0});
}

TEST_WITH_ARENA(elements_of_eight_bytes) {
    ts_error err = {0};
    ts_host_array array;
    const int64_t count = 6, values[] = {10, 11, 12, 13, 14, 15};
    int64_t got[4] = {0};
    assert_true(ts_host_array_init(&err, arena, TS_DTYPE_S64, 1, &count, &array));
    memcpy(array.bytes, values, sizeof values);
    ts_host_reader reader = sharded_of_array(arena, &array);
    assert_true(reader.read(&err, reader.self, 1, 2, 3, got));
    assert_memory_equal(got, ((const int64_t[]){11, 13, 15, 0}), sizeof got);
}
