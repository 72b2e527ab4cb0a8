/* The library's interface, through its public headers alone. */
#include <stdbool.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/support/cmocka.h"
#include "tests/support/temporary.h"
#include "tilesim.h"

static ts_error *err;
static ts_arena *arena;

static int set_up(void **state) {
    err = ts_error_new();
    arena = ts_arena_new();
    return 0;
}

static int tear_down(void **state) {
    ts_arena_free(arena);
    ts_error_free(err);
    return 0;
}

static void failed(ts_error_kind kind, const char *message) {
    assert_int_equal(ts_error_get_kind(err), kind);
    assert_string_equal(ts_error_message(err), message);
    ts_error_clear(err);
    assert_int_equal(ts_error_get_kind(err), TS_ERROR_NONE);
}

static const ts_machine *machine(void) {
    const ts_machine *m = ts_machine_load(err, arena, "tpu-v5e");
    assert_non_null(m);
    return m;
}

TEST_WITH(version, set_up, tear_down) { assert_string_equal(ts_version(), TS_VERSION); }

TEST_WITH(errors, set_up, tear_down) {
    char text[400];
    assert_null(ts_shape_from_text(err, arena, "f32[8,128]{1,0:T(8,x)}"));
    assert_string_equal(ts_error_file(err), "shape");
    assert_int_equal(ts_error_line(err), 1);
    assert_int_equal(ts_error_column(err), 20);
    assert_int_equal(ts_error_exit_code(err), 1);
    assert_null(ts_error_next(err));
    size_t needed = ts_error_format(err, text, sizeof text);
    assert_int_equal(needed, strlen(text));
    assert_non_null(strstr(text, "shape:1:20: error: "));
    ts_error_clear(err);
    assert_string_equal(ts_error_message(err), "");
    assert_null(ts_shape_from_text(NULL, arena, "f32[")); /* nobody wants to know why */
}

/* A sanitizer keeps what is freed for a while. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED true
#endif
#endif
#if !defined(SANITIZED) && defined(__SANITIZE_ADDRESS__)
#define SANITIZED true
#elif !defined(SANITIZED)
#define SANITIZED false
#endif

static long peak_kib(void) {
    struct rusage used;
    assert_int_equal(getrusage(RUSAGE_SELF, &used), 0);
    return used.ru_maxrss;
}

TEST_WITH(arrays, set_up, tear_down) {
    int64_t dims[] = {2, 3};
    float values[6] = {1, 2, 3, 4, 5, 6};
    char path[TEMPORARY_PATH];
    ts_array *made = ts_array_new(err, arena, "bf16", 2, dims);
    ts_array *own = ts_array_wrap(err, arena, "f32", 2, dims, values);
    assert_string_equal(ts_array_type(made), "bf16");
    assert_int_equal(ts_array_bytes(made), 12);
    assert_int_equal(ts_array_rank(own), 2);
    assert_memory_equal(ts_array_dims(own), dims, sizeof dims);
    assert_ptr_equal(ts_array_data(own), values);
    assert_int_equal(ts_array_bytes(own), 24);
    assert_null(ts_array_new(err, arena, "f23", 2, dims));
    failed(TS_ERROR_INPUT, "no element type is called 'f23'; did you mean 'f32'?");
    assert_null(ts_array_wrap(err, arena, "f32", 65, dims, values));
    failed(TS_ERROR_INPUT, "an array of 65 dims, expected 0 to 64");
    assert_null(ts_array_wrap(err, arena, "f32", -1, dims, values));
    failed(TS_ERROR_INPUT, "an array of -1 dims, expected 0 to 64");
    assert_null(ts_array_load(err, arena, "/nowhere/a.npy"));
    assert_int_equal(ts_error_get_kind(err), TS_ERROR_IO);
    ts_error_clear(err);
    assert_true(ts_array_save(err, own, temporary_path(path, "api_array.npy")));
    const ts_array *read = ts_array_load(err, arena, path);
    assert_memory_equal(ts_array_data(read), values, sizeof values);
    const ts_array *large = ts_array_new(err, arena, "f32", 2, (int64_t[]){128, 128});
    long before = peak_kib();
    for (int n = 0; n < 400; n++) assert_true(ts_array_save(err, large, path));
    assert_true(SANITIZED || peak_kib() - before < 8 << 10); /* the arena kept a copy of each */
    remove(path);
}

TEST_WITH(shapes, set_up, tear_down) {
    const ts_shape *shape = ts_shape_from_text(err, arena, "f32[3,5]{1,0:T(2,2)}");
    int64_t index[] = {2, 3}, found[2] = {0}, at = 0, outside[] = {3, 0}, below[] = {0, -1};
    assert_string_equal(ts_shape_type(shape), "f32");
    assert_int_equal(ts_shape_rank(shape), 2);
    assert_int_equal(ts_shape_dims(shape)[1], 5);
    assert_int_equal(ts_shape_logical_bytes(shape), 60);
    assert_int_equal(ts_shape_padded_bytes(shape), 96);
    assert_int_equal(ts_shape_storage_bytes(shape), 96);
    assert_string_equal(ts_shape_axis(shape, 0), "m");
    assert_null(ts_shape_axis(shape, 1));
    assert_null(ts_shape_axis(shape, -1));
    assert_true(ts_shape_locate(err, shape, index, &at));
    assert_int_equal(at, 17); /* the second row of tiles, its second tile, element 1 */
    assert_int_equal(ts_shape_find(err, shape, &at, found), 1);
    assert_memory_equal(found, index, sizeof index);
    at = 9; /* of the third tile of the first row: column 5 */
    assert_int_equal(ts_shape_find(err, shape, &at, found), 0);
    assert_false(ts_shape_locate(err, shape, outside, &at));
    failed(TS_ERROR_INPUT, "index 3 of dim 0, expected 0 to 2");
    assert_false(ts_shape_locate(err, shape, below, &at));
    failed(TS_ERROR_INPUT, "index -1 of dim 1, expected 0 to 4");
    const ts_shape *tuple = ts_shape_from_text(err, arena, "(f32[2], s8[3])");
    assert_int_equal(ts_shape_rank(tuple), 0);
    assert_null(ts_shape_dims(tuple));
    assert_null(ts_shape_axis(tuple, 0));
    assert_null(ts_shape_svg(arena, tuple));
    assert_false(ts_shape_locate(err, tuple, index, &at));
    ts_error_clear(err);
    assert_int_equal(ts_shape_find(err, tuple, &at, found), -1);
    ts_error_clear(err);
}

TEST_WITH(notations, set_up, tear_down) {
    const ts_shape *shape = ts_shape_from_text(err, arena, "f32[16,256]{1,0:T(8,128)}");
    const ts_shape *axe = ts_shape_translate(err, arena, shape, "axe");
    const ts_shape *other = ts_shape_from_text(err, arena, "f32[16,256]{1,0}");
    const ts_shape *narrow = ts_shape_from_text(err, arena, "f32[16,255]{1,0}");
    const ts_shape *typed = ts_shape_from_text(err, arena, "s32[16,256]{1,0:T(8,128)}");
    const ts_shape *tuple = ts_shape_from_text(err, arena, "(f32[2], s8[3])");
    assert_string_equal(ts_shape_text(arena, shape), "f32[16,256]{1,0:T(8,128)}");
    assert_int_equal(ts_shape_equal(err, shape, axe), 1);
    assert_int_equal(ts_shape_equal(err, shape, other), 0);
    assert_int_equal(ts_shape_equal(err, other, narrow), 0);
    assert_int_equal(ts_shape_equal(err, shape, typed), 0);
    assert_int_equal(ts_shape_equal(err, shape, tuple), -1);
    ts_error_clear(err);
    assert_int_equal(ts_shape_equal(err, tuple, shape), -1);
    ts_error_clear(err);
    assert_null(ts_shape_translate(err, arena, shape, "latin"));
    ts_error_clear(err);
    assert_non_null(strstr(ts_shape_report(arena, shape), "f32[16,256]{1,0:T(8,128)}"));
    assert_memory_equal(ts_shape_json(arena, shape), "{\n  \"schema\": \"tilesim.layout\"", 30);
    assert_non_null(strstr(ts_shape_svg(arena, shape), "<svg"));
}

TEST_WITH(plans, set_up, tear_down) {
    const ts_shape *tiled = ts_shape_from_text(err, arena, "f32[16,256]{1,0:T(8,128)}");
    const ts_shape *plain = ts_shape_from_text(err, arena, "f32[16,256]{1,0}");
    const ts_shape *narrow = ts_shape_from_text(err, arena, "f32[16,255]{1,0}");
    const ts_plan *plan = ts_plan_between(err, arena, plain, tiled);
    ts_box box = {.struct_bytes = sizeof box};
    assert_int_equal(ts_plan_elements(plan), 4096);
    assert_int_equal(ts_plan_box_count(plan), 1);
    assert_null(ts_plan_gathers(plan));
    assert_true(ts_plan_read_box(plan, 0, &box));
    int64_t elements = 1;
    for (int i = 0; i < box.loop_count; i++) elements *= box.loops[i].extent;
    assert_int_equal(elements, 4096);
    assert_int_equal(box.loops[box.loop_count - 1].source_bits, 32);
    assert_int_equal(box.loops[box.loop_count - 1].destination_bits, 32);
    assert_int_equal(box.source_bits | box.destination_bits, 0);
    assert_false(ts_plan_read_box(plan, 1, &box));
    assert_false(ts_plan_read_box(plan, -1, &box));
    box.struct_bytes = sizeof box - 1;
    assert_false(ts_plan_read_box(plan, 0, &box));
    assert_null(ts_plan_between(err, arena, plain, narrow));
    failed(TS_ERROR_INPUT, "the source has the dims [16,256], the destination [16,255]");
    const ts_shape *swizzled = ts_shape_from_text(err, arena, "f32[8,64] SW(3,3,3)oS[(8,64):(64,1)]");
    assert_non_null(swizzled);
    assert_non_null(ts_plan_gathers(
        ts_plan_between(err, arena, swizzled, ts_shape_from_text(err, arena, "f32[8,64]{1,0}"))));
}

TEST_WITH(moves, set_up, tear_down) {
    int64_t dims[] = {3, 5};
    float values[15];
    for (int i = 0; i < 15; i++) values[i] = (float)i;
    const ts_array *array = ts_array_wrap(err, arena, "f32", 2, dims, values);
    const ts_shape *shape = ts_shape_from_text(err, arena, "f32[3,5]{1,0:T(2,2)}");
    const ts_array *packed = ts_move_pack(err, arena, array, shape, 1);
    const float *bytes = ts_array_data(packed);
    assert_int_equal(ts_array_bytes(packed), 96);
    assert_string_equal(ts_array_type(packed), "u8");
    assert_int_equal(ts_array_dims(packed)[0], 96);
    assert_true(bytes[1] == 1 && bytes[2] == 5 && bytes[9] == 0 && bytes[17] == 13);
    const ts_array *back = ts_move_unpack(err, arena, bytes, 96, shape, 2);
    assert_memory_equal(ts_array_data(back), values, sizeof values);
    assert_null(ts_move_unpack(err, arena, bytes, 95, shape, 1));
    ts_error_clear(err);
    unsigned char own[96];
    memset(own, 0xff, sizeof own);
    assert_int_equal(ts_move_bytes(err, shape), 96);
    assert_true(ts_move_pack_into(err, array, shape, 1, own, sizeof own));
    assert_memory_equal(own, bytes, 9 * sizeof *bytes);
    assert_int_equal(own[9 * sizeof *bytes], 0xff); /* padding keeps what it holds */
    int32_t integers[15] = {0};
    ts_array *other = ts_array_wrap(err, arena, "s32", 2, dims, integers);
    assert_true(ts_move_unpack_into(err, own, 96, shape, 1, other));
    for (int i = 0; i < 15; i++) assert_int_equal(integers[i], i);
    assert_false(ts_move_pack_into(err, array, shape, 1, own, 95));
    ts_error_clear(err);
    assert_false(ts_move_unpack_into(err, own, 97, shape, 1, other));
    assert_string_equal(ts_error_message(err), "the buffer: 97 bytes, expected the 96 of the shape");
    ts_error_clear(err);
    assert_false(ts_move_unpack_into(err, own, -1, shape, 1, other));
    assert_string_equal(ts_error_message(err), "the buffer: -1 bytes, expected the 96 of the shape");
    ts_error_clear(err);
    assert_false(ts_move_unpack_into(err, own, INT64_MAX, shape, 1, other));
    ts_error_clear(err);
    other = ts_array_wrap(err, arena, "s32", 1, (int64_t[]){15}, integers);
    assert_false(ts_move_unpack_into(err, own, 96, shape, 1, other));
    ts_error_clear(err);
    const ts_shape *tuple = ts_shape_from_text(err, arena, "(f32[2], s8[3])");
    assert_int_equal(ts_move_bytes(err, tuple), -1);
    ts_error_clear(err);
    assert_false(ts_move_pack_into(err, array, tuple, 1, own, 96));
    ts_error_clear(err);
    assert_false(ts_move_unpack_into(err, own, 96, tuple, 1, other));
    ts_error_clear(err);
    assert_null(ts_move_pack(err, arena, array, tuple, 1));
    ts_error_clear(err);
    assert_null(ts_move_unpack(err, arena, bytes, 96, tuple, 1));
    ts_error_clear(err);
}

static const ts_shape *shape_of(const char *text) {
    const ts_shape *shape = ts_shape_from_text(err, arena, text);
    assert_non_null(shape);
    return shape;
}

static const ts_converter *converter_of(const char *source, const char *destination) {
    return ts_converter_new(err, arena, shape_of(source), shape_of(destination), 1);
}

/* Each twice, and the same as by the other functions; of small and of many elements. */
TEST_WITH(converters, set_up, tear_down) {
    static const char *const rows[][3] = {
        {"f32[20,300]{1,0}", "bf16[20,300]{1,0:T(8,128)(2,1)}", "f32"},
        {"f32[7,3]", "s32[7,3]{0,1:T(2,4)}", "f32"},
        {"s8[64,200]{1,0}", "s8[64,200]{0,1}", "s8"},
        {"f32[40,100]{1,0}", "f32[40,100] lambda i,j: [j, i]", "f32"},
        {"u8[0,8]", "c64[0,8]{1,0:T(8,128)}", "u8"},
    };
    static unsigned char source[24000], packed[2][24 * 384 * 4], back[2][24000];
    for (size_t i = 0; i < sizeof source; i++) source[i] = (unsigned char)(i * 37 % 101);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const ts_shape *flat = shape_of(rows[i][0]), *tiled = shape_of(rows[i][1]);
        const ts_converter *there = converter_of(rows[i][0], rows[i][1]);
        const ts_converter *again = converter_of(rows[i][1], rows[i][0]);
        const int64_t *dims = ts_shape_dims(flat);
        int64_t from = ts_converter_source_bytes(there), to = ts_converter_destination_bytes(there);
        assert_int_equal(from, ts_move_bytes(err, flat));
        assert_int_equal(to, ts_move_bytes(err, tiled));
        assert_int_equal(ts_converter_destination_bytes(again), from);
        memset(packed, 0x55, sizeof packed);
        assert_true(ts_move_pack_into(err, ts_array_wrap(err, arena, rows[i][2], 2, dims, source), tiled, 1,
                                      packed[0], to));
        ts_array *array = ts_array_wrap(err, arena, rows[i][2], 2, dims, back[0]);
        assert_true(ts_move_unpack_into(err, packed[0], to, tiled, 1, array));
        for (int n = 0; n < 2; n++) {
            memset(packed[1], 0x55, sizeof packed[1]);
            assert_true(ts_converter_run(err, there, source, from, packed[1], to));
            assert_memory_equal(packed[1], packed[0], sizeof packed[0]);
            assert_true(ts_converter_run(err, again, packed[1], to, back[1], from));
            assert_memory_equal(back[1], back[0], (size_t)from);
        }
    }
}

/* What pads the source, be it padded alike, does not get into the destination. */
TEST_WITH(converters_keep_padding, set_up, tear_down) {
    const ts_converter *tiles = converter_of("f32[3,5]{1,0:T(2,2)}", "f32[3,5]{1,0:T(2,2)}");
    unsigned char from[96], to[96];
    memset(from, 0x11, sizeof from);
    memset(to, 0x22, sizeof to);
    assert_true(ts_converter_run(err, tiles, from, 96, to, 96));
    int same = 0;
    for (int i = 0; i < 96; i++) same += to[i] == 0x11;
    assert_int_equal(same, 60);
}

TEST_WITH(converters_refuse, set_up, tear_down) {
    static const struct {
        const char *source, *destination, *message;
    } rows[] = {
        {"f32[4,6]", "f32[6,4]", "the source has the dims [4,6], the destination [6,4]"},
        {"f32[4,6]", "f32[4]", "the source has the dims [4,6], the destination [4]"},
        {"c64[4]", "f32[4]", "there is no conversion from c64 to f32"},
        {"c64[4]", "c64[4]{0:E(32)}", "there is no conversion of c64 from 64 to 32 bits"},
        {"f32[8] S[8:1@lane]", "f32[8]", "the source has no axis 'lane'"},
        {"f32[8]", "f32[8] S[8:1@lane]", "the destination has no axis 'lane'"},
        {"f32[8,2] S[(8,2):(1@lane,1)]", "f32[8,2]", "the layout has 2 axes; a file holds one"},
        {"(f32[2], s8[3])", "f32[2]", "the source is a tuple, expected an array"},
        {"f32[4]", "f32[4] 4:0", "the destination puts (0) and (1) in one place"},
        {"s8[4611686018427387904]", "s8[4611686018427387904]",
         "the source: 4611686018427387904 bytes, more than any memory has"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_null(converter_of(rows[i].source, rows[i].destination));
        failed(TS_ERROR_INPUT, rows[i].message);
    }
    const ts_converter *tiles = converter_of("f32[3,5]", "f32[3,5]{1,0:T(2,2)}");
    unsigned char memory[156], before[156];
    memset(memory, 0x33, sizeof memory);
    memcpy(before, memory, sizeof memory);
    assert_false(ts_converter_run(err, tiles, memory, 59, memory + 60, 96));
    failed(TS_ERROR_INPUT, "the source: 59 bytes, expected the 60 of the shape");
    assert_false(ts_converter_run(err, tiles, memory, 60, memory + 60, 97));
    failed(TS_ERROR_INPUT, "the destination: 97 bytes, expected the 96 of the shape");
    assert_false(ts_converter_run(err, tiles, memory, 60, memory + 59, 96));
    failed(TS_ERROR_USAGE, "the source and the destination overlap, expected memory of its own for each");
    assert_false(ts_converter_run(err, tiles, memory + 95, 60, memory, 96));
    failed(TS_ERROR_USAGE, "the source and the destination overlap, expected memory of its own for each");
    assert_memory_equal(memory, before, sizeof memory);
    assert_true(ts_converter_run(err, tiles, memory, 60, memory + 60, 96));
    assert_true(ts_converter_run(err, tiles, memory + 96, 60, memory, 96));
}

/* One converter, many threads. */
typedef struct {
    const ts_converter *converter;
    const float *values;
    const unsigned char *want;
    int wrong;
} at_once;

enum { AT_ONCE = 4, AT_ONCE_TIMES = 300, AT_ONCE_BYTES = 24 * 384 * 2 };

static void *run_at_once(void *context) {
    at_once *one = context;
    unsigned char made[AT_ONCE_BYTES];
    for (int n = 0; n < AT_ONCE_TIMES; n++) {
        memset(made, 0, sizeof made);
        if (!ts_converter_run(NULL, one->converter, one->values, 24000, made, AT_ONCE_BYTES) ||
            memcmp(made, one->want, AT_ONCE_BYTES) != 0)
            one->wrong++;
    }
    return NULL;
}

TEST_WITH(converters_of_several_threads, set_up, tear_down) {
    const ts_converter *shared = converter_of("f32[20,300]", "bf16[20,300]{1,0:T(8,128)(2,1)}");
    static float values[AT_ONCE][6000];
    static unsigned char want[AT_ONCE][AT_ONCE_BYTES];
    pthread_t threads[AT_ONCE];
    at_once all[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++) {
        for (int k = 0; k < 6000; k++) values[i][k] = (float)(k * (i + 1));
        assert_true(ts_converter_run(err, shared, values[i], 24000, want[i], AT_ONCE_BYTES));
        all[i] = (at_once){shared, values[i], want[i], 0};
    }
    for (int i = 0; i < AT_ONCE; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_at_once, &all[i]), 0);
    for (int i = 0; i < AT_ONCE; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(all[i].wrong, 0);
    }
}

TEST_WITH(machines, set_up, tear_down) {
    const char *changes[] = {"hbm.clock=3.2 GHz"};
    const ts_machine *m = machine(), *changed = ts_machine_change(err, arena, "tpu-v5e", changes, 1);
    int count = 0;
    while (ts_machine_name(count)) assert_non_null(ts_machine_load(err, arena, ts_machine_name(count++)));
    assert_true(count >= 8);
    assert_null(ts_machine_name(-1));
    assert_string_equal(ts_machine_title(m), "TPU v5e");
    assert_true(ts_machine_hash(m) == ts_machine_hash(machine()) &&
                ts_machine_hash(m) != ts_machine_hash(changed));
    assert_non_null(strstr(ts_machine_text(arena, changed), "clock: 3.2 GHz"));
    assert_memory_equal(ts_machine_json(arena, m), "{\n", 2);
    changes[0] = "hbm.clocks=1";
    assert_null(ts_machine_change(err, arena, "tpu-v5e", changes, 1));
    assert_string_equal(ts_error_file(err), "changes");
    ts_error_clear(err);
}

TEST_WITH(prices, set_up, tear_down) {
    ts_price_request r = {.struct_bytes = sizeof r, .machine = machine()};
    r.source = "f32[1024,1024]{1,0}";
    r.destination = "f32[1024,1024]{1,0:T(8,128)}";
    const ts_price *price = ts_price_transfer(err, arena, &r);
    r.exact = 1;
    const ts_price *exact = ts_price_transfer(err, arena, &r);
    assert_true(ts_price_is_exact(exact) && !ts_price_is_exact(price));
    int64_t a = ts_price_cycles(price), b = ts_price_cycles(exact);
    assert_true(a > b - b / 100 && a < b + b / 100);
    assert_true(ts_price_microseconds(price) * 1500 > (double)a * 0.99 &&
                ts_price_microseconds(price) * 1500 < (double)a * 1.01);
    assert_int_equal(ts_price_useful_bytes(price), 4 << 20);
    assert_int_equal(ts_price_moved_bytes(price), 8 << 20);
    assert_non_null(ts_price_limiter(price));
    assert_null(strstr(ts_price_json(arena, price), "\"others\""));
    r.exact = 0;
    r.others = 1;
    size_t alone = strlen(ts_price_text(arena, price));
    assert_true(strlen(ts_price_text(arena, ts_price_transfer(err, arena, &r))) > alone);
}

TEST_WITH(bad_requests, set_up, tear_down) {
    struct {
        ts_price_request r;
        char later[8];
    } newer = {
        .r = {
            .struct_bytes = sizeof newer, .machine = machine(), .source = "f32[8]", .destination = "f32[8]"}};
    ts_price_request r = {0};
    char message[200];
    snprintf(message, sizeof message,
             "ts_price_request.struct_bytes is 0, expected sizeof(ts_price_request), here %zu", sizeof r);
    assert_null(ts_price_transfer(err, arena, &r));
    failed(TS_ERROR_USAGE, message);
    assert_null(ts_price_transfer(err, arena, NULL));
    failed(TS_ERROR_USAGE, message);
    r.struct_bytes = (1 << 16) + 1;
    assert_null(ts_price_transfer(err, arena, &r));
    assert_int_equal(ts_error_exit_code(err), 2);
    ts_error_clear(err);
    assert_non_null(ts_price_transfer(err, arena, &newer.r)); /* a newer caller that asks for nothing new */
    newer.later[7] = 1;
    assert_null(ts_price_transfer(err, arena, &newer.r));
    failed(TS_ERROR_USAGE, "ts_price_request asks for what version " TS_VERSION " does not know");
    r = (ts_price_request){
        .struct_bytes = offsetof(ts_price_request, exact), .machine = machine(), .source = "f32[8]"};
    r.exact = 1; /* behind what an older caller has */
    assert_null(ts_price_transfer(err, arena, &r));
    failed(TS_ERROR_USAGE, "the request has no destination");
    r.machine = NULL;
    assert_null(ts_price_transfer(err, arena, &r));
    failed(TS_ERROR_USAGE, "the request has no machine");
}

TEST_WITH(reshardings, set_up, tear_down) {
    ts_reshard_query q = {.struct_bytes = sizeof q,
                          .machine = ts_machine_load(err, arena, "tpu-v4"),
                          .source = "f32[64,64] P('x')",
                          .destination = "f32[64,64]",
                          .mesh = "8"};
    const ts_reshard_answer *found = ts_reshard_find(err, arena, &q);
    assert_non_null(found);
    assert_int_equal(ts_reshard_collective_count(found), 1);
    assert_true(ts_reshard_bound_microseconds(found) > 0);
    assert_true(ts_reshard_microseconds(found) > ts_reshard_bound_microseconds(found));
    assert_non_null(strstr(ts_reshard_text(arena, found), "all in place"));
    assert_non_null(strstr(ts_reshard_json(arena, found), "\"proved\": true"));
    q.failed_links = &(const char *){"(0)->(2)"};
    q.failed_link_count = 1;
    assert_null(ts_reshard_find(err, arena, &q));
    assert_string_equal(ts_error_file(err), "failed link");
    ts_error_clear(err);
    q.failed_link_count = 0;
    q.algorithm = "rings";
    assert_null(ts_reshard_find(err, arena, &q));
    failed(TS_ERROR_USAGE, "algorithm is 'rings', expected direct, ring, bidirectional, torus or two-rings; "
                           "did you mean 'ring'?");
    q.mesh = NULL;
    assert_null(ts_reshard_find(err, arena, &q));
    failed(TS_ERROR_USAGE, "ts_reshard_query needs a mesh, a source and a destination");
}

TEST_WITH(relayouts, set_up, tear_down) {
    ts_relayout_query q = {.struct_bytes = sizeof q,
                           .machine = machine(),
                           .source = "f32[8,128] vpad<\"32,{0,0},(8,128)\">",
                           .destination = "f32[8,128] vpad<\"32,{0,5},(8,128)\">"};
    const ts_relayout_answer *found = ts_relayout_find(err, arena, &q);
    assert_non_null(found);
    assert_int_equal(ts_relayout_op_total(found), 1);
    assert_true(ts_relayout_cycles(found) > 0);
    assert_non_null(strstr(ts_relayout_text(arena, found), "rotate columns"));
    assert_non_null(strstr(ts_relayout_svg(arena, found), "first element (0,0)"));
    q.destination = NULL;
    assert_null(ts_relayout_find(err, arena, &q));
    failed(TS_ERROR_USAGE, "ts_relayout_query needs a machine, a source and a destination");
}

static const char text[] =
    ".tensor x hbm f32[8,128]{1,0:T(8,128)} in\n.tensor y hbm f32[8,128]{1,0:T(8,128)} out\n"
    ".tensor xb vmem f32[8,128]{1,0:T(8,128)}\n.param N = 1\n.sem done\n"
    " dma xb <- x, done\n wait done\n vld v0, xb[0, 0]\n vadd.f32 v0, v0, N\n"
    " vst xb[0, 0], v0\n dma y <- xb, done\n wait done\n.check y == x + N\n";

/* For one device. */
static ts_program_request program_of(const char *source) {
    return (ts_program_request){
        .struct_bytes = sizeof(ts_program_request), .machine = machine(), .source = source};
}

static const ts_program *read_program(const char *path) {
    const ts_program_request request = program_of(path);
    return ts_program_read(err, arena, &request);
}

static const ts_program *assemble(const char *source) {
    const ts_program_request request = program_of(source);
    return ts_program_assemble(err, arena, &request);
}

TEST_WITH(runs, set_up, tear_down) {
    float values[1024];
    int64_t dims[] = {8, 128}, other[] = {128, 8};
    for (int i = 0; i < 1024; i++) values[i] = (float)i;
    ts_define two = {"N", "2"};
    ts_input input = {"x", ts_array_wrap(err, arena, "f32", 2, dims, values)};
    ts_run_options options = {
        .struct_bytes = sizeof options, .machine = machine(), .inputs = &input, .input_count = 1};
    ts_program_request request = program_of(text);
    request.defines = &two;
    request.define_count = 1;
    options.program = ts_program_assemble(err, arena, &request);
    const ts_simulation *run = ts_simulate(err, arena, &options);
    const ts_array *y = ts_simulation_output(run, "y");
    assert_true(ts_simulation_passed(run) && ts_simulation_cycles(run) > 100);
    assert_true(((const float *)ts_array_data(y))[1023] == 1025);
    assert_ptr_equal(ts_simulation_output(run, "y"), y); /* threads may ask at once: nothing is made */
    assert_null(ts_simulation_output(run, "x"));         /* an input */
    assert_null(ts_simulation_output(run, "z"));
    const ts_run_options first = {.struct_bytes = sizeof first,
                                  .machine = machine(),
                                  .program = assemble("\xef\xbb\xbf.tensor y hbm f32[8] out\n halt\n")};
    assert_non_null(ts_simulation_output(ts_simulate(err, arena, &first), "y"));
    assert_int_equal(ts_simulation_counter(run, "cycles"), ts_simulation_cycles(run));
    assert_int_equal(ts_simulation_counter(run, "transfers"), 2);
    assert_int_equal(ts_simulation_counter(run, "cycle"), -1);
    assert_true(ts_simulation_microseconds(run) * 1500 > (double)ts_simulation_cycles(run) * 0.99);
    assert_non_null(strstr(ts_simulation_text(arena, run), "the caller's array"));
    assert_non_null(strstr(ts_simulation_json(arena, run), "\"passed\": true"));
    input.array = ts_array_wrap(err, arena, "f32", 2, other, values);
    assert_null(ts_simulate(err, arena, &options));
    ts_error_clear(err);
    input.array = ts_array_wrap(err, arena, "f64", 2, dims, values);
    assert_null(ts_simulate(err, arena, &options));
    failed(TS_ERROR_INPUT, "input x: the array holds f64, the tensor is f32; convert rounds the values");
    input.name = "y";
    assert_null(ts_simulate(err, arena, &options));
    failed(TS_ERROR_USAGE, "input y: the tensor is not an input");
    input.array = NULL;
    assert_null(ts_simulate(err, arena, &options));
    failed(TS_ERROR_USAGE, "input 0 has no name or no array");
    options.inputs = NULL;
    assert_null(ts_simulate(err, arena, &options));
    failed(TS_ERROR_USAGE, "input 0 has no name or no array");
    options.input_count = -1;
    assert_null(ts_simulate(err, arena, &options));
    failed(TS_ERROR_USAGE, "input_count is -1, expected 0 or more");
    options.input_count = 0;
    options.max_cycles = -10;
    assert_null(ts_simulate(err, arena, &options));
    failed(TS_ERROR_USAGE, "max_cycles is -10, expected 0 or more");
    options.max_cycles = 0;
    options.threads = -1;
    assert_null(ts_simulate(err, arena, &options));
    failed(TS_ERROR_USAGE, "threads is -1, expected 0 or more");
    options.program = NULL;
    assert_null(ts_simulate(err, arena, &options));
    failed(TS_ERROR_USAGE, "the run has no machine or no program");
}

/* A text with shardings is made for a mesh, whole arrays are given and come back; on its axes it runs, on no others. */
TEST_WITH(meshes, set_up, tear_down) {
    static const char shifted[] =
        ".tensor x hbm f32[4,8,128]{2,1,0:T(8,128)} P('x') in\n"
        ".tensor y hbm f32[4,8,128]{2,1,0:T(8,128)} P('x') out\n.sem sent, came\n"
        " device.id s1\n sxor s1, s1, 1\n dma y <- x, sent, came device=s1\n wait came\n wait sent\n";
    float values[4 * 1024];
    const int64_t dims[] = {4, 8, 128};
    for (int i = 0; i < 4 * 1024; i++) values[i] = (float)i;
    ts_input input = {"x", ts_array_wrap(err, arena, "f32", 3, dims, values)};
    ts_program_request request = program_of(shifted);
    assert_null(ts_program_assemble(err, arena, &request));
    failed(TS_ERROR_INPUT, "a sharding needs a mesh of devices to run on");
    request.topology = "2x2";
    assert_null(ts_program_assemble(err, arena, &request));
    failed(TS_ERROR_USAGE, "topology is '2x2' without a mesh, expected both");
    request.topology = NULL;
    request.machine = ts_machine_load(err, arena, "tpu-v5p");
    request.mesh = "4y";
    assert_null(ts_program_assemble(err, arena, &request));
    failed(TS_ERROR_INPUT, "found 'y', expected 'x' or the end");
    request.mesh = "4";
    ts_run_options options = {
        .struct_bytes = sizeof options, .machine = request.machine, .inputs = &input, .input_count = 1};
    options.program = ts_program_assemble(err, arena, &request);
    for (int given = 0; given < 2; given++) {
        const ts_simulation *run = ts_simulate(err, arena, &options);
        const float *y = ts_array_data(ts_simulation_output(run, "y"));
        for (int i = 0; i < 4 * 1024; i++) assert_true(y[i] == (float)(i ^ 1024));
        options.mesh = "4";
    }
    options.mesh = "2x2";
    assert_null(ts_simulate(err, arena, &options));
    failed(TS_ERROR_USAGE, "the program was read for a mesh with other axes than '2x2'");
    options.mesh = NULL;
    options.topology = "4";
    assert_null(ts_simulate(err, arena, &options));
    failed(TS_ERROR_USAGE, "topology is '4' without a mesh, expected both");
    options.topology = NULL;
    options.machine = ts_machine_load(err, arena, "tpu-v4");
    assert_null(ts_simulate(err, arena, &options)); /* over the links of which machine? */
    failed(TS_ERROR_USAGE,
           "the program was read for a mesh of 'tpu-v5p', expected one of 'tpu-v4' for its links too");
    const char *const sets[] = {"ici.hop=9 us", "ici.launch=9 us"};
    options.machine = ts_machine_change(err, arena, "tpu-v5p", sets, 2);
    assert_null(ts_simulate(err, arena, &options));
    failed(TS_ERROR_USAGE,
           "the program was read for a mesh of 'tpu-v5p', expected one of 'tpu-v5p with ici.hop=9 us, "
           "ici.launch=9 us' for its links too");
    options.mesh = "4";
    assert_non_null(ts_simulate(err, arena, &options));
    options.mesh = NULL;
    options.machine = request.machine;
    options.page = 1;
    const ts_simulation *drawn = ts_simulate(err, arena, &options);
    assert_non_null(strstr(ts_simulation_html(arena, drawn), "device 3 (x=3)"));
    request.mesh = "0";
    assert_null(ts_program_assemble(err, arena, &request));
    ts_error_clear(err);
    request.source = NULL;
    assert_null(ts_program_read(err, arena, &request));
    failed(TS_ERROR_USAGE, "ts_program_request needs a machine and a source");
}

/* A program of a machine that has VMEM, on one that has none. */
TEST_WITH(a_program_needs_its_memories, set_up, tear_down) {
    const ts_run_options options = {.struct_bytes = sizeof options,
                                    .machine = ts_machine_load(err, arena, "tmem"),
                                    .program = assemble(" vld v0, vmem[0]\n")};
    assert_null(ts_simulate(err, arena, &options));
    failed(TS_ERROR_INPUT, "this machine has no vmem");
}

TEST_WITH(a_program_needs_its_cores, set_up, tear_down) {
    ts_program_request request = program_of(".cores 2\n core.count s1\n barrier\n");
    ts_run_options options = {.struct_bytes = sizeof options};
    options.machine = request.machine = ts_machine_load(err, arena, "tpu-v4");
    options.program = ts_program_assemble(err, arena, &request);
    assert_non_null(ts_simulate(err, arena, &options));
    options.machine = machine();
    assert_null(ts_simulate(err, arena, &options));
    failed(TS_ERROR_INPUT, "the program runs on 2 TensorCores, tpu-v5e has 1");
}

/* The timeline is there when the run is over, also of one that broke a rule, and of no other. */
TEST_WITH(traces, set_up, tear_down) {
    char path[TEMPORARY_PATH], begin[3] = "";
    temporary_path(path, "api_trace.json");
    ts_run_options options = {.struct_bytes = sizeof options, .machine = machine(), .trace = path};
    options.program = read_program("tilesim:/add.tsim");
    remove(path);
    const ts_simulation *traced = ts_simulate(err, arena, &options);
    assert_true(ts_simulation_passed(traced));
    FILE *file = fopen(path, "r");
    assert_true(file && fread(begin, 1, 1, file) == 1 && begin[0] == '{' && fclose(file) == 0);
    assert_int_equal(remove(path), 0);
    options.max_cycles = 100;
    assert_null(ts_simulate(err, arena, &options));
    assert_int_equal(ts_error_get_kind(err), TS_ERROR_FAULT);
    assert_int_equal(remove(path), 0);
    assert_null(ts_simulate(NULL, arena, &options));
    assert_int_equal(remove(path), 0);
    ts_error_clear(err);
    ts_input input = {"z", ts_array_new(err, arena, "f32", 0, NULL)};
    options.max_cycles = 0;
    options.inputs = &input;
    options.input_count = 1;
    assert_null(ts_simulate(err, arena, &options)); /* before it begins */
    assert_int_not_equal(remove(path), 0);
    assert_int_equal(ts_error_get_kind(err), TS_ERROR_USAGE);
    ts_error_clear(err);
    options.input_count = 0;
    options.trace = "/nowhere/trace.json";
    assert_null(ts_simulate(err, arena, &options));
    assert_int_equal(ts_error_get_kind(err), TS_ERROR_IO);
    ts_error_clear(err);
    options.trace = NULL;
    const ts_simulation *plain = ts_simulate(err, arena, &options);
    assert_int_equal(ts_simulation_cycles(plain), ts_simulation_cycles(traced));
    assert_null(ts_simulation_html(arena, plain));
    options.page = 1;
    const char *html = ts_simulation_html(arena, ts_simulate(err, arena, &options));
    assert_true(strncmp(html, "<!DOCTYPE html>", 15) == 0 || strncmp(html, "<!doctype html>", 15) == 0);
    assert_non_null(strstr(html, "Timeline"));
    options.trace = path;
    assert_string_equal(ts_simulation_html(arena, ts_simulate(err, arena, &options)), html);
    remove(path);
}

TEST_WITH(run_modes, set_up, tear_down) {
    ts_run_options options = {.struct_bytes = sizeof options, .machine = machine(), .time_only = 1};
    options.program = read_program("tilesim:/add.tsim");
    const ts_simulation *timed = ts_simulate(err, arena, &options);
    options.time_only = 0;
    const ts_simulation *whole = ts_simulate(err, arena, &options);
    assert_int_equal(ts_simulation_cycles(timed), ts_simulation_cycles(whole));
    assert_null(ts_simulation_output(timed, "y"));
    assert_non_null(ts_simulation_output(whole, "y"));
    options.max_cycles = 100;
    assert_null(ts_simulate(err, arena, &options));
    assert_int_equal(ts_error_get_kind(err), TS_ERROR_FAULT);
    ts_error_clear(err);
    const char *again = ts_program_text(arena, options.program);
    options.program = assemble(again);
    options.max_cycles = 0;
    assert_int_equal(ts_simulation_cycles(ts_simulate(err, arena, &options)), ts_simulation_cycles(whole));
    assert_null(assemble(" vad.f32 v0, v0, v0\n"));
    assert_int_equal(ts_error_line(err), 1);
    ts_error_clear(err);
}

TEST_WITH(builder_errors, set_up, tear_down) {
    static const char shape[] = "f32[8,128]{1,0:T(8,128)}";
    static const struct {
        const char *memory, *shape, *role, *fill, *message;
        ts_error_kind kind;
    } rows[] = {
        {"vmm", shape, "in", NULL,
         "unknown memory 'vmm', expected hbm, vmem, smem or cmem; did you mean 'vmem'?", TS_ERROR_INPUT},
        {NULL, shape, "in", NULL, "the tensor's memory is NULL, expected a text", TS_ERROR_USAGE},
        {"vmem", shape, "inn", NULL,
         "unknown role 'inn', expected scratch, in, out or inout; did you mean 'in'?", TS_ERROR_INPUT},
        {"vmem", shape, NULL, NULL, "the tensor's role is NULL, expected a text", TS_ERROR_USAGE},
        {"vmem", shape, "in", "zeroes",
         "unknown fill 'zeroes', expected none, zeros, iota or random; did you mean 'zeros'?",
         TS_ERROR_INPUT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_builder *b = ts_builder_new(err, arena, machine(), "p");
        assert_int_equal(ts_builder_tensor(b, "x", rows[i].memory, rows[i].shape, rows[i].role, rows[i].fill),
                         -1);
        assert_int_equal(ts_builder_tensor(b, "y", "vmem", shape, "scratch", NULL), -1);
        assert_int_equal(ts_builder_semaphores(b, "s", 1), -1);
        assert_null(ts_builder_end(b));
        failed(rows[i].kind, rows[i].message);
    }
    ts_builder *b;
    for (int tensor = -1; tensor < 2; tensor += 2) {
        ts_builder_index at[2] = {{0, 0, 0}};
        b = ts_builder_new(err, arena, machine(), "p");
        assert_int_equal(ts_builder_tensor(b, "x", "vmem", shape, "in", NULL), 0);
        assert_int_equal(ts_builder_at(b, tensor, at), -1);
        assert_null(ts_builder_end(b));
        failed(TS_ERROR_INPUT, tensor < 0 ? "the program has no tensor -1" : "the program has no tensor 1");
    }
    b = ts_builder_new(err, arena, machine(), "p");
    ts_builder_add(b, "vadd.f23", 2, ts_builder_vreg(b, 0), ts_builder_vreg(b, 1));
    assert_null(ts_builder_end(b));
    failed(TS_ERROR_INPUT, "unknown instruction 'vadd.f23'; did you mean 'vadd.f32'?");
    b = ts_builder_new(err, arena, machine(), "p");
    ts_builder_add(b, "vadd.f23", 0);
    assert_int_equal(ts_builder_tensor(b, "x", "vmm", shape, "inn", "zeroes"),
                     -1); /* adds no hint of its own */
    failed(TS_ERROR_INPUT, "unknown instruction 'vadd.f23'; did you mean 'vadd.f32'?");
    b = ts_builder_new(err, arena, machine(), "p");
    ts_builder_add(b, "vmov", 2, ts_builder_vreg(b, 0), (ts_value)7); /* of no builder */
    assert_null(ts_builder_end(b));
    assert_int_equal(ts_error_get_kind(err), TS_ERROR_INPUT);
    ts_error_clear(err);
    assert_int_equal(
        ts_builder_tensor(ts_builder_new(err, arena, machine(), "p"), "x", "vmem", "f32[", "in", NULL), -1);
    ts_error_clear(err);
}

static void missing(const void *result, const char *what) {
    char message[100];
    assert_null(result);
    snprintf(message, sizeof message, "%s is NULL, expected a text", what);
    failed(TS_ERROR_USAGE, message);
}

static ts_module_audit *audited(const char *module, size_t length, bool exact) {
    const ts_module_audit_request request = {.struct_bytes = sizeof request,
                                             .machine = machine(),
                                             .text = module,
                                             .length = length,
                                             .exact = exact};
    return ts_audit_module(err, arena, &request);
}

/* Texts that may not be left out. */
TEST_WITH(texts_that_are_missing, set_up, tear_down) {
    static const char *const none[] = {NULL};
    const ts_define defines[] = {{NULL, "1"}, {"ROWS", NULL}};
    missing(ts_shape_from_text(err, arena, NULL), "the shape");
    missing(ts_shape_translate(err, arena, ts_shape_from_text(err, arena, "f32[8]{0}"), NULL),
            "the notation");
    missing(ts_array_new(err, arena, NULL, 0, NULL), "the type");
    missing(ts_array_wrap(err, arena, NULL, 0, NULL, NULL), "the type");
    missing(ts_array_load(err, arena, NULL), "the path");
    assert_int_equal(ts_array_save(err, ts_array_new(err, arena, "f32", 0, NULL), NULL), 0);
    missing(NULL, "the path");
    missing(ts_machine_load(err, arena, NULL), "the machine's name");
    missing(ts_machine_change(err, arena, "tpu-v5e", none, 1), "a change");
    missing(audited(NULL, 0, false), "the module");
    for (int i = 0; i < 2; i++) {
        const char *what = i ? "a define's value" : "a define's name";
        ts_program_request request = {sizeof request, machine(), "tilesim:/add.tsim", &defines[i], 1,
                                      NULL,           NULL};
        ts_choice_request choice = {
            .struct_bytes = sizeof choice, .program = "tilesim:/add.tsim", .tensor = "x"};
        choice.defines = &defines[i];
        choice.define_count = 1;
        missing(ts_program_read(err, arena, &request), what);
        missing(ts_program_assemble(err, arena, &request), what);
        missing(ts_choose_layouts(err, arena, &choice), what);
    }
    ts_reshard_query query = {.struct_bytes = sizeof query, .machine = machine(), .mesh = "2x2"};
    query.source = query.destination = "f32[8,8] P('x', None)";
    query.failed_links = none;
    query.failed_link_count = 1;
    missing(ts_reshard_find(err, arena, &query), "a failed link");
}

static void fewer_than_none(const void *result, const char *name) {
    char message[100];
    assert_null(result);
    snprintf(message, sizeof message, "%s_count is -1, expected 0 or more", name);
    failed(TS_ERROR_USAGE, message);
}

TEST_WITH(counts_below_0, set_up, tear_down) {
    ts_program_request program = {sizeof program, machine(), "tilesim:/add.tsim", NULL, -1, NULL, NULL};
    ts_choice_request choice = {.struct_bytes = sizeof choice, .shape = "f32[8,8]{1,0}", .change_count = -1};
    ts_reshard_query query = {.struct_bytes = sizeof query,
                              .machine = machine(),
                              .mesh = "2x2",
                              .source = "f32[8]",
                              .destination = "f32[8]",
                              .failed_link_count = -1};
    fewer_than_none(ts_program_read(err, arena, &program), "define");
    fewer_than_none(ts_program_assemble(err, arena, &program), "define");
    fewer_than_none(ts_choose_layouts(err, arena, &choice), "change");
    choice.change_count = 0;
    choice.define_count = -1;
    fewer_than_none(ts_choose_layouts(err, arena, &choice), "define");
    fewer_than_none(ts_reshard_find(err, arena, &query), "failed_link");
    fewer_than_none(ts_machine_change(err, arena, "tpu-v5e", NULL, -1), "change");
    assert_non_null(ts_machine_change(err, arena, "tpu-v5e", NULL, 0));
    program.define_count = 1;
    assert_null(ts_program_read(err, arena, &program));
    failed(TS_ERROR_USAGE, "define_count is 1, and the list NULL");
}

TEST_WITH(masks_that_are_missing, set_up, tear_down) {
    ts_builder *b = ts_builder_new(err, arena, machine(), "p");
    ts_value v0 = ts_builder_vreg(b, 0);
    ts_builder_add_masked(b, -1, "vadd.f32", 3, v0, v0, v0);
    assert_null(ts_builder_end(b));
    failed(TS_ERROR_INPUT, "there is no vmask -1");
    b = ts_builder_new(err, arena, machine(), "p");
    v0 = ts_builder_vreg(b, 0);
    ts_builder_add_masked(b, 0, "vadd.f32", 3, v0, v0, v0);
    assert_non_null(strstr(ts_program_text(arena, ts_builder_end(b)), "vadd.f32 v0, v0, v0 if m0"));
}

TEST_WITH(transfers_to_other_devices, set_up, tear_down) {
    static const char shape[] = "f32[8,128]{1,0:T(8,128)}";
    ts_builder *b = ts_builder_new(err, arena, machine(), "p");
    const ts_builder_index at[2] = {{0, 0, 0}};
    const int64_t sizes[] = {8, 128};
    ts_builder_box x = {ts_builder_tensor(b, "x", "hbm", shape, "in", "zeros"), at, sizes},
                   y = {ts_builder_tensor(b, "y", "hbm", shape, "out", NULL), at, sizes};
    assert_int_equal(ts_builder_tensor(b, "z", "vmem", shape, "scratch", "none"), 2);
    int sent = ts_builder_semaphores(b, "s", 2);
    ts_value transfer = ts_builder_transfer(b, &y, &x, ts_builder_semaphore(b, sent));
    ts_builder_to_device(b, transfer, ts_builder_semaphore(b, sent + 1), (ts_builder_index){3, 0, 0});
    ts_builder_add(b, "dma", 1, transfer);
    const ts_program *program = ts_builder_end(b);
    assert_non_null(program);
    assert_non_null(strstr(ts_program_text(arena, program), "s[0], s[1] device=3"));
}

TEST_WITH(texts_that_a_builder_misses, set_up, tear_down) {
    ts_builder *b = ts_builder_new(err, arena, machine(), NULL);
    ts_builder_place(b, ts_builder_label(b));
    missing(ts_builder_end(b), "the program's name");
    for (int i = 0; i < 5; i++) {
        static const char *const whats[] = {"the tensor's name", "the tensor's shape", "the semaphores' name",
                                            "the check", "the mnemonic"};
        b = ts_builder_new(err, arena, machine(), "p");
        if (i < 2)
            assert_int_equal(ts_builder_tensor(b, i ? "x" : NULL, "vmem", i ? NULL : "f32[8]{0}", "in", NULL),
                             -1);
        if (i == 2) assert_int_equal(ts_builder_semaphores(b, NULL, 1), -1);
        if (i == 3) ts_builder_check(b, NULL);
        if (i == 4) ts_builder_add(b, NULL, 0);
        missing(ts_builder_end(b), whats[i]);
    }
}

TEST_WITH(names_that_are_missing, set_up, tear_down) {
    ts_run_options options = {.struct_bytes = sizeof options, .machine = machine()};
    ts_program_request add = {sizeof add, machine(), "tilesim:/add.tsim", NULL, 0, NULL, NULL};
    options.program = ts_program_read(err, arena, &add);
    const ts_simulation *run = ts_simulate(err, arena, &options);
    assert_int_equal(ts_simulation_counter(run, NULL), -1);
    assert_null(ts_simulation_output(run, NULL));
}

/* A second end would take what labels have become for labels. */
TEST_WITH(builders_end_once, set_up, tear_down) {
    ts_builder *b = ts_builder_new(err, arena, machine(), "p");
    ts_value over = ts_builder_label(b), again = ts_builder_label(b), s1 = ts_builder_sreg(b, 1);
    ts_builder_add(b, "brnz", 2, s1, over);
    ts_builder_place(b, again);
    ts_builder_add(b, "sadd", 3, s1, s1, ts_builder_integer(b, 1));
    ts_builder_place(b, over);
    ts_builder_add(b, "br.lt", 3, s1, ts_builder_integer(b, 3), again);
    const ts_program *once = ts_builder_end(b);
    assert_non_null(once);
    const char *printed = ts_program_text(arena, once);
    ts_builder_add(b, "nop", 0);
    ts_builder_pack(b, 1);
    assert_null(ts_builder_end(b));
    failed(TS_ERROR_USAGE, "the builder has ended");
    assert_string_equal(ts_program_text(arena, once), printed);
}

TEST_WITH(builder_fills, set_up, tear_down) {
    static const char shape[] = "f32[8,128]{1,0:T(8,128)}";
    static const struct {
        const char *fill, *printed;
    } rows[] = {{NULL, " in\n"},
                {"zeros", " in zeros\n"},
                {"iota", " in iota\n"},
                {"random", " in random(seed=1, lo=-1, hi=1)\n"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_builder *b = ts_builder_new(err, arena, machine(), "p");
        assert_int_equal(ts_builder_tensor(b, "x", "vmem", shape, "in", rows[i].fill), 0);
        const char *end = strstr(ts_program_text(arena, ts_builder_end(b)), shape);
        assert_non_null(end);
        assert_memory_equal(end + strlen(shape), rows[i].printed, strlen(rows[i].printed));
    }
}

/* A mask, a bundle of two and a branch back. */
TEST_WITH(builder_parts, set_up, tear_down) {
    ts_run_options options = {.struct_bytes = sizeof options, .machine = machine()};
    ts_builder *b = ts_builder_new(err, arena, options.machine, "p");
    ts_value v0 = ts_builder_vreg(b, 0), v1 = ts_builder_vreg(b, 1), s1 = ts_builder_sreg(b, 1);
    ts_value back = ts_builder_label(b);
    ts_builder_place(b, back);
    ts_builder_open(b);
    ts_builder_add(b, "vadd.f32", 3, v0, v0, ts_builder_f32(b, 1));
    ts_builder_add(b, "sadd", 3, s1, s1, ts_builder_integer(b, 1));
    ts_builder_close(b);
    ts_builder_add(b, "vcmp.lt.f32", 3, ts_builder_vmask(b, 1), v0, v1);
    ts_builder_add_masked(b, 1, "vadd.f32", 3, v1, v0, v0);
    ts_builder_add(b, "br.lt", 3, s1, ts_builder_integer(b, 3), back);
    options.program = ts_builder_end(b);
    if (!options.program) fail_msg("%s", ts_error_message(err));
    assert_int_equal(ts_simulation_counter(ts_simulate(err, arena, &options), "bundles"), 3 * 4);
    assert_non_null(strstr(ts_program_text(arena, options.program), "{ vadd.f32"));
}

TEST_WITH(choices, set_up, tear_down) {
    ts_choice_request r = {.struct_bytes = sizeof r, .shape = "f32[256,128]{1,0}"};
    const ts_choice *choice = ts_choose_layouts(err, arena, &r);
    int count = ts_choice_count(choice);
    assert_true(count > 1);
    for (int i = 1; i < count && ts_choice_cycles(choice, i) >= 0; i++)
        assert_true(ts_choice_cycles(choice, i) >= ts_choice_cycles(choice, i - 1));
    assert_non_null(strstr(ts_choice_text(arena, choice), strchr(ts_choice_layout(choice, 0), '{')));
    assert_non_null(strstr(ts_choice_json(arena, choice), ts_choice_layout(choice, 0)));
    assert_true(ts_choice_bytes(choice, 0) >= 256 * 128 * 4);
    for (int exact = 0; exact < 2; exact++) {
        const ts_choice_request large = {
            .struct_bytes = sizeof large, .shape = "f32[4096,4096]{1,0}", .exact = exact};
        const char *json = ts_choice_json(arena, ts_choose_layouts(err, arena, &large));
        assert_non_null(strstr(json, exact ? "\"estimated\": false" : "\"estimated\": true"));
    }
    assert_null(ts_choice_layout(choice, count));
    assert_null(ts_choice_layout(choice, -1));
    assert_int_equal(ts_choice_cycles(choice, count), -1);
    assert_int_equal(ts_choice_bytes(choice, count), -1);
    r.program = "tilesim:/add.tsim";
    assert_null(ts_choose_layouts(err, arena, &r));
    failed(TS_ERROR_USAGE, "a choice is of a shape or of a program's tensor");
    r.shape = NULL;
    r.tensor = "x";
    r.uses = "dma";
    assert_null(ts_choose_layouts(err, arena, &r));
    failed(TS_ERROR_USAGE, "uses are of a shape: a program says itself what it does");
    const ts_define rows = {"ROWS", "8"};
    for (int i = 0; i < 2; i++) {
        ts_choice_request of = {.struct_bytes = sizeof of, .shape = "f32[8]", .tensor = i ? NULL : "x"};
        of.defines = &rows;
        of.define_count = i;
        assert_null(ts_choose_layouts(err, arena, &of));
        failed(TS_ERROR_USAGE, "a tensor and defines are of a program, the choice is of a shape");
    }
    r.uses = NULL;
    r.machine = "tpu-v4";
    assert_true(ts_choice_count(ts_choose_layouts(err, arena, &r)) > 0);
    const char *changes[] = {"hbm.clock=3.2 GHz"};
    int64_t cycles = ts_choice_cycles(ts_choose_layouts(err, arena, &r), 0);
    r.changes = changes;
    r.change_count = 1;
    assert_int_not_equal(ts_choice_cycles(ts_choose_layouts(err, arena, &r), 0), cycles);
    changes[0] = "hbm.clocks=1";
    assert_null(ts_choose_layouts(err, arena, &r));
    assert_string_equal(ts_error_file(err), "changes");
    ts_error_clear(err);
    r.machine = "tpu-v9";
    assert_null(ts_choose_layouts(err, arena, &r));
    ts_error_clear(err);
}

TEST_WITH(audits, set_up, tear_down) {
    static const char module[] = "HloModule m\n\nENTRY %main (p: f32[1024,3]) -> f32[1024,3] {\n"
                                 "  %p = f32[1024,3]{1,0:T(8,128)} parameter(0)\n  ROOT %c = "
                                 "f32[1024,3]{0,1:T(4,128)} copy(f32[1024,3]{1,0:T(8,128)} %p)\n}\n";
    ts_module_audit *audit = audited(module, sizeof module - 1, false);
    assert_int_equal(ts_audit_logical_bytes(audit), 2 * 1024 * 3 * 4);
    assert_int_equal(ts_audit_padded_bytes(audit), 1024 * 128 * 4 + 1024 * 4 * 4);
    assert_true(ts_audit_microseconds(audit) > 0);
    assert_non_null(ts_audit_fix(audit, 0));
    assert_null(ts_audit_fix(audit, 1000));
    assert_null(ts_audit_fix(audit, -1));
    assert_non_null(strstr(ts_audit_text(arena, audit), "f32[1024,3]{1,0:T(8,128)}"));
    assert_non_null(strstr(ts_audit_json(arena, audit), "\"tilesim.audit\""));
    assert_non_null(strstr(ts_audit_json(arena, audit), "\"estimated\": true"));
    ts_audit_close(audit);
    ts_audit_close(NULL);
    audit = audited(module, sizeof module - 1, true);
    assert_non_null(strstr(ts_audit_json(arena, audit), "\"estimated\": false"));
    ts_audit_close(audit);
    const ts_module_audit_request none = {.struct_bytes = sizeof none, .text = module};
    assert_null(ts_audit_module(err, arena, &none));
    failed(TS_ERROR_USAGE, "the request has no machine");
    assert_null(audited("nothing\n", 8, false));
    failed(TS_ERROR_INPUT, "the module holds no instruction or shape in 1 line, expected HLO text, such as "
                           "'%a = f32[8,128]{1,0:T(8,128)} parameter(0)'");
    assert_null(audited("", 0, false));
    failed(TS_ERROR_INPUT, "the module is empty, expected a module as text");
}

TEST_WITH(studies, set_up, tear_down) {
    static const char yaml[] = "vary: {ROWS: [8, 16, x]}\n"
                               "ask: {dma: 'f32[$ROWS,128] -> f32[$ROWS,128]{1,0:T(8,128)}'}\n";
    ts_study_request request = {.struct_bytes = sizeof request, .text = yaml, .workers = 2};
    const ts_study *study = ts_study_answer(err, arena, &request);
    assert_non_null(study);
    assert_int_equal(ts_study_points(study), 3);
    assert_int_equal(ts_study_answered(study), 3);
    const char *csv = ts_study_csv(arena, study);
    assert_memory_equal(csv, "ROWS,status,error,cycles,", strlen("ROWS,status,error,cycles,"));
    assert_non_null(strstr(csv, "\n16,ok,,"));
    assert_non_null(strstr(csv, "\nx,error,"));
    assert_non_null(strstr(ts_study_json(arena, study), "\"schema\": \"tilesim.sweep\""));
    request.file = "also";
    assert_null(ts_study_answer(err, arena, &request));
    failed(TS_ERROR_USAGE, "a study is a file or a text");
    request.file = NULL;
    request.text = "ask: 1\n";
    assert_null(ts_study_answer(err, arena, &request));
    failed(TS_ERROR_INPUT, "ask: expected a mapping of 1 to 64 keys");
    request.text = NULL;
    request.file = "no/such/study.yaml";
    assert_null(ts_study_answer(err, arena, &request));
    failed(TS_ERROR_IO, "cannot open 'no/such/study.yaml': No such file or directory");
    request.text = yaml;
    request.file = NULL;
    request.workers = 1000;
    assert_null(ts_study_answer(err, arena, &request));
    failed(TS_ERROR_USAGE, "1000 workers, expected 1 to 256");
    request.workers = 1;
    request.timeout_seconds = -1;
    assert_null(ts_study_answer(err, arena, &request));
    failed(TS_ERROR_USAGE, "timeout_seconds is -1, expected 0 (none) or more");
    request.timeout_seconds = 0;
    request.retry = 1;
    assert_null(ts_study_answer(err, arena, &request));
    failed(TS_ERROR_USAGE, "retry is of points that are in a database, expected one as well");
}

/* How often it may be asked before it says so. */
static int stops(void *context) { return (*(int *)context)-- == 0; }

/* The run ends when it is asked for the third time. */
static void stop_run(ts_run_options options) {
    int rounds = 2;
    options.struct_bytes = sizeof options;
    options.machine = machine();
    options.stopped = stops;
    options.context = &rounds;
    assert_non_null(options.program);
    assert_null(ts_simulate(err, arena, &options));
    failed(TS_ERROR_IO, "the run is stopped");
    assert_int_equal(rounds, -1);
}

/* A loop, many seconds long, on a chip and on a mesh. */
TEST_WITH(stopped_runs, set_up, tear_down) {
    static const char *const meshes[] = {NULL, "2x2"};
    for (int i = 0; i < 2; i++) {
        ts_program_request request =
            program_of(".loop s0 = 0, 200000000\n    vadd.f32 v0, v0, v1\n.end\nhalt\n");
        request.mesh = meshes[i];
        stop_run((ts_run_options){.program = ts_program_assemble(err, arena, &request)});
    }
}

/* A run whose core waits for one long transfer, simulated access by access. */
TEST_WITH(stopped_transfers, set_up, tear_down) {
    const ts_program_request request = program_of(".tensor x hbm f32[65536,8192]{1,0} in\n"
                                                  ".tensor y hbm f32[65536,8192]{1,0:T(8,128)} out\n"
                                                  ".sem s\n    dma y <- x, s\n    wait s\n    halt\n");
    stop_run(
        (ts_run_options){.program = ts_program_assemble(err, arena, &request), .time_only = 1, .exact = 1});
}

TEST_WITH(stopped_prices, set_up, tear_down) {
    static const char large[] = "f32[65536,32768]{1,0}", tiled[] = "f32[65536,32768]{1,0:T(8,128)}",
                      *const machines[] = {"tpu-v5e", "tpu-v4"}; /* by the engine, by the core */
    for (int i = 0; i < 4; i++) {
        int rounds = 2;
        const ts_price_request request = {.struct_bytes = sizeof request,
                                          .machine = ts_machine_load(err, arena, machines[i / 2]),
                                          .source = large,
                                          .destination = tiled,
                                          .exact = 1,
                                          .others = i % 2,
                                          .stopped = stops,
                                          .context = &rounds};
        assert_null(ts_price_transfer(err, arena, &request));
        failed(TS_ERROR_IO, "the price is stopped");
        assert_int_equal(rounds, -1);
    }
}

TEST_WITH(stopped_choices, set_up, tear_down) {
    const ts_choice_request requests[] = {
        {.shape = "f32[32768,32768]", .uses = "dma:hbm>hbm", .exact = 1},
        {.shape = "f32[65536,65536]", .uses = "reduce:0,reduce:1,stream", .exact = 1, .exhaustive = 1},
        {.program = "tilesim:/softmax.tsim",
         .tensor = "x",
         .defines = &(ts_define){"ROWS", "65536"},
         .define_count = 1,
         .exact = 1},
    };
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        int rounds = 0;
        ts_choice_request request = requests[i];
        request.struct_bytes = sizeof request;
        request.stopped = stops;
        request.context = &rounds;
        assert_null(ts_choose_layouts(err, arena, &request));
        failed(TS_ERROR_IO, "the choice is stopped");
        assert_int_equal(rounds, -1);
    }
}

/* While it reads a module, and while it prices its moves. */
TEST_WITH(stopped_audits, set_up, tear_down) {
    static const char moved[] = "HloModule m\n\nENTRY e {\n"
                                "  p = f32[65536,32768]{1,0:T(8,128)} parameter(0)\n"
                                "  ROOT c = f32[65536,32768]{0,1:T(8,128)} copy(p)\n}\n";
    for (int begin = 0; begin < 3; begin++) {
        int rounds = begin;
        const ts_module_audit_request request = {.struct_bytes = sizeof request,
                                                 .machine = machine(),
                                                 .text = moved,
                                                 .length = sizeof moved - 1,
                                                 .exact = 1,
                                                 .stopped = stops,
                                                 .context = &rounds};
        assert_null(ts_audit_module(err, arena, &request));
        failed(TS_ERROR_IO, "the audit is stopped");
        assert_int_equal(rounds, -1);
    }
}

TEST_WITH(stopped_studies, set_up, tear_down) {
    char database[TEMPORARY_PATH];
    int rounds = 3;
    ts_study_request request = {.struct_bytes = sizeof request,
                                .text =
                                    "vary: {ROWS: {from: 1, to: 50, step: 1}}\nask: {layout: 'f32[$ROWS]'}\n",
                                .database = temporary_path(database, "api_stopped.db"),
                                .stopped = stops,
                                .context = &rounds};
    remove(database);
    assert_null(ts_study_answer(err, arena, &request));
    failed(TS_ERROR_IO, "the study is stopped");
    rounds = -1; /* never */
    const ts_study *study = ts_study_answer(err, arena, &request);
    assert_non_null(study);
    assert_in_range(ts_study_answered(study), 50 - 3, 50); /* on a busy host none comes for some time */
    remove(database);
}

/* Of one point, which takes minutes. */
TEST_WITH(stopped_points, set_up, tear_down) {
    char path[TEMPORARY_PATH], study[TEMPORARY_PATH + 64];
    int rounds = 2;
    ts_study_request request = {
        .struct_bytes = sizeof request, .text = study, .stopped = stops, .context = &rounds};
    FILE *file = fopen(temporary_path(path, "api_long.tsim"), "w");
    assert_true(file && fputs(".loop s0 = 0, 2000000000\n    vadd.f32 v0, v0, v1\n.end\n", file) > 0);
    fclose(file);
    snprintf(study, sizeof study, "ask: {program: '%s'}\n", path);
    assert_null(ts_study_answer(err, arena, &request));
    failed(TS_ERROR_IO, "the study is stopped");
    assert_int_equal(rounds, -1);
    remove(path);
}

/* Of a mesh, where nobody names another. */
TEST_WITH(machines_of_meshes, set_up, tear_down) {
    static const char *const rows[][2] = {
        {"v6e-256", "tpu-v6e"}, {"v4-64", "tpu-v4"}, {"4x4", "tpu-v5e"}, {"data=2,model=8", "tpu-v5e"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(ts_machine_of_mesh(err, arena, rows[i][0]), rows[i][1]);
    assert_null(ts_machine_of_mesh(err, arena, NULL));
    failed(TS_ERROR_USAGE, "the mesh is NULL, expected a text");
    assert_null(ts_machine_of_mesh(err, arena, "./none.yaml"));
    failed(TS_ERROR_IO, "cannot open './none.yaml': No such file or directory");
}
