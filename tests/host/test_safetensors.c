/* Safetensors and raw files: headers by rows with exact errors, selection by name, there and back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "host/format.h"
#include "base/text.h"
#include "host/safetensors.h"
#include "tests/support/test.h"
#include "tests/support/temporary.h"

static char path_space[TEMPORARY_PATH];

static const char *in_folder(const char *name) { return temporary_path(path_space, name); }

/* The path of a file with this header and `data_bytes` of data, 0 1 2 3 ... */
static const char *make_file(ts_arena *arena, const char *header, size_t data_bytes) {
    const char *path = in_folder("model.safetensors");
    uint64_t length = strlen(header);
    ts_file_writer *writer = ts_file_create(NULL, arena, path);
    uint8_t data[256];
    for (int i = 0; i < 256; i++) data[i] = (uint8_t)i;
    assert_true(ts_file_write(NULL, writer, &length, 8) && ts_file_write(NULL, writer, header, length));
    assert_true(ts_file_write(NULL, writer, data, data_bytes) && ts_file_close(NULL, writer));
    return path;
}

/* "a: bf16[2] at 0, b: u8[3] at 4" */
static const char *show(ts_arena *arena, const ts_safetensors_index *index) {
    ts_text text = ts_text_begin(arena);
    for (size_t i = 0; i < index->count; i++) {
        ts_text_add(&text, "%s%s: ", i ? ", " : "", index->tensors[i].name);
        ts_host_array_print(&index->tensors[i].array, &text);
        ts_text_add(&text, " at %d", (int)index->tensors[i].offset);
    }
    return text.bytes;
}

#define ONE(fields) "{\"a\":{" fields "}}"
#define A           "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}"
#define B           "\"b\":{\"dtype\":\"BF16\",\"shape\":[1,2],\"data_offsets\":[8,12]}"
static const struct {
    const char *header;
    uint64_t data_bytes;
    const char *tensors;
} good[] = {
    {"{}", 0, ""},
    {"{" A "}", 8, "a: f32[2] at 0"},
    {"{" B "," A "}    ", 12, "a: f32[2] at 0, b: bf16[1,2] at 8"},
    {"{\"__metadata__\":{\"format\":\"pt\"}," A "}", 8, "a: f32[2] at 0"},
    {"{\"__metadata__\":{\"x\\u0000\":\"\\u0000\"}," A "}", 8, "a: f32[2] at 0"},
    {"{\"x\":{\"data_offsets\":[0,0],\"shape\":[0,3],\"dtype\":\"F8_E4M3\"}," A "}", 8,
     "x: f8e4m3fn[0,3] at 0, a: f32[2] at 0"},
    {"{\"p\":{\"dtype\":\"F4\",\"shape\":[2,3],\"data_offsets\":[0,3]},"
     "\"q\":{\"dtype\":\"F6_E2M3\",\"shape\":[12],\"data_offsets\":[3,12]},"
     "\"r\":{\"dtype\":\"F6_E3M2\",\"shape\":[0],\"data_offsets\":[12,12]}}",
     12, "p: f4e2m1fn[2,3] at 0, q: f6e2m3fn[12] at 3, r: f6e3m2fn[0] at 12"},
    {"{\"__metadata__\":null," A "}", 8, "a: f32[2] at 0"},
    {"{\"__metadata__\":{\"x\":\"1\",\"x\":\"2\"}," A "}", 8, "a: f32[2] at 0"},
    {ONE("\"x\":{\"y\":[1,2.5e-1,-0,null,true,\"\"]},\"dtype\":\"F32\",\"x\":1.5,\"shape\":[2],\"data_"
         "offsets\":[0,8]"),
     8, "a: f32[2] at 0"},
    {"{" A "," A "}", 8, "a: f32[2] at 0"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[9],\"data_offsets\":[90,1]}," B "," A "}", 12,
     "a: f32[2] at 0, b: bf16[1,2] at 8"},
    {"{\"s\":{\"dtype\":\"BOOL\",\"shape\":[],\"data_offsets\":[0,1]}}", 1, "s: pred[] at 0"},
};

TEST(good_headers) {
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_safetensors_index index;
        ts_source header = {"m", good[i].header, strlen(good[i].header)};
        if (!ts_safetensors_parse(&err, arena, &header, good[i].data_bytes, &index))
            fail_msg("%s: %s", good[i].header, err.message);
        assert_string_equal(show(arena, &index), good[i].tensors);
        assert_int_equal(index.data_at, 8 + header.length);
        ts_arena_free(arena);
    }
}

#define DTYPES                                                                                               \
    "BOOL, U8, I8, F8_E5M2, F8_E4M3, F8_E8M0, F8_E4M3FNUZ, F8_E5M2FNUZ, I16, U16, F16, BF16, I32, U32, "     \
    "F32, "                                                                                                  \
    "F64, I64, U64 or C64"
#define NESTED "[[[[[[[[[[[[[[[["
static const struct {
    const char *header;
    uint64_t data_bytes;
    int column; /* 0 where the error has no place */
    const char *message;
} bad[] = {
    {"", 0, 1, "the header does not begin with '{'"},
    {" {" A "}", 8, 1, "the header does not begin with '{'"},
    {"{\"a\":{]}", 0, 8, "the header is not valid JSON"},
    {"{\"a\":" NESTED NESTED NESTED NESTED NESTED NESTED NESTED NESTED "[", 0, 132,
     "nested more than 127 deep"},
    {"{\"[{[{[{\\\"[[2.0\":" NESTED "}", 0, 34, "the header is not valid JSON"},
    {"{" A "} x", 8, 56, "text behind the header, expected only spaces"},
    {"[]", 0, 1, "the header does not begin with '{'"},
    {"{\v}", 0, 2, "the header is not valid JSON"},
    {"{\"\x01\":1}", 0, 3, "a string that is not UTF-8 without control characters"},
    {"{\"\xc3\xa9\n\":1}", 0, 5, "a string that is not UTF-8 without control characters"},
    {"{\"a\xff\":1}", 0, 4, "a string that is not UTF-8 without control characters"},
    {"{\"a\xe2\x82", 0, 4, "a string that is not UTF-8 without control characters"},
    {"{\"__metadata__\":{\"x\":\"\x01\"}," A "}", 8, 23,
     "a string that is not UTF-8 without control characters"},
    {"{\"a\\u0000b\":1}", 0, 4, "a NUL in a string"},
    {"{\"__metadata__\\u0000\":1}", 0, 15, "a NUL in a string"},
    {"{\"__metadata__\":{\"x\\u0000\":\"\\u0000\"},\"a\\u0000b\":1}", 0, 40, "a NUL in a string"},
    {"{\"__metadata__\":{\"format\":3}," A "}", 8, 0, "m: expected an object of strings in '__metadata__'"},
    {"{\"__metadata__\":[\"format\"]," A "}", 8, 0, "m: expected an object of strings in '__metadata__'"},
    {"{\"a\":3}", 0, 0, "m: tensor 'a': expected an object with 'dtype', 'shape' and 'data_offsets'"},
    {ONE("\"shape\":[2],\"data_offsets\":[0,8]"), 8, 0, "m: tensor 'a': expected a string 'dtype'"},
    {ONE("\"dtype\":\"F32\",\"data_offsets\":[0,8]"), 8, 0, "m: tensor 'a': expected a list 'shape'"},
    {ONE("\"dtype\":\"F32\",\"shape\":[2]"), 8, 0, "m: tensor 'a': expected two integers in 'data_offsets'"},
    {ONE("\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8,9]"), 8, 0,
     "m: tensor 'a': expected two integers in 'data_offsets'"},
    {ONE("\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0]"), 8, 0,
     "m: tensor 'a': expected two integers in 'data_offsets'"},
    {ONE("\"dtype\":\"F32\",\"dtype\":\"F32\""), 8, 0, "m: tensor 'a': a second key 'dtype'"},
    {ONE("\"type\":\"F32\""), 8, 0, "m: tensor 'a': expected a string 'dtype'"},
    {ONE("\"x\":01"), 8, 11, "found 01, expected a number"},
    {ONE("\"x\":1."), 8, 11, "found 1., expected a number"},
    {ONE("\"x\":1e"), 8, 11, "found 1e, expected a number"},
    {ONE("\"x\":-"), 8, 11, "found -, expected a number"},
    {ONE("\"x\":1e999"), 8, 11, "found 1e999, expected a number"},
    {ONE("\"x\":\"\\u0000\""), 8, 12, "a NUL in a string"},
    {ONE("\"dtype\":\"BF61\",\"shape\":[2],\"data_offsets\":[0,8]"), 8, 0,
     "m: tensor 'a': unknown dtype 'BF61'; did you mean 'BF16'?"},
    {ONE("\"dtype\":\"quaternion\",\"shape\":[2],\"data_offsets\":[0,8]"), 8, 0,
     "m: tensor 'a': unknown dtype 'quaternion', expected " DTYPES},
    {ONE("\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,2]"), 2, 0,
     "m: tensor 'a': its elements do not fill whole bytes"},
    {ONE("\"dtype\":\"F4\",\"shape\":[4],\"data_offsets\":[0,4]"), 4, 0,
     "m: tensor 'a': data_offsets span 4 bytes, but its shape needs 2"},
    {ONE("\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]"), 8, 0,
     "m: tensor 'a': expected an integer from 0 to 2^53 in 'shape'"},
    {ONE("\"dtype\":\"F32\",\"shape\":[1.5],\"data_offsets\":[0,8]"), 8, 30,
     "found 1.5, expected an integer"},
    {ONE("\"dtype\":\"F32\",\"shape\":[2.0],\"data_offsets\":[0,8]"), 8, 30,
     "found 2.0, expected an integer"},
    {ONE("\"dtype\":\"F32\",\"shape\":[02],\"data_offsets\":[0,8]"), 8, 30, "found 02, expected an integer"},
    {ONE("\"dtype\":\"F32\",\"shape\":[-0],\"data_offsets\":[0,0]"), 0, 30, "found -0, expected an integer"},
    {ONE("\"dtype\":\"F32\",\"shape\":[1e0],\"data_offsets\":[0,4]"), 4, 30,
     "found 1e0, expected an integer"},

    {ONE("\"dtype\":\"F32\",\"shape\":[\"2\"],\"data_offsets\":[0,8]"), 8, 0,
     "m: tensor 'a': expected an integer from 0 to 2^53 in 'shape'"},
    {ONE("\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,1e20]"), 8, 51,
     "found 1e20, expected an integer"},
    {ONE("\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,100000000000000000000]"), 8, 0,
     "m: tensor 'a': expected an integer from 0 to 2^53 in 'data_offsets'"},
    {ONE("\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,12]"), 8, 0,
     "m: tensor 'a': data_offsets [0, 12] are not inside the 8 bytes of data"},
    {ONE("\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]"), 8, 0,
     "m: tensor 'a': data_offsets [8, 0] are not inside the 8 bytes of data"},
    {ONE("\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]"), 8, 0,
     "m: tensor 'a': data_offsets span 8 bytes, but its shape needs 12"},
    {ONE("\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,8]"), 8, 0,
     "m: the dims multiply to more than 2^63 - 1 bytes"},
    {"{\"a\":{\"dtype\":\"X\",\"shape\":[2],\"data_offsets\":[0,8]}," A "}", 8, 0,
     "m: tensor 'a': unknown dtype 'X', expected " DTYPES},
    {"{" A "," B ",\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[12,14]}}", 14, 0,
     "m: tensor 'b': 8 bytes of data in front of it belong to no tensor"},
    {"{\"__metadata__\":null,\"__metadata__\":{}," A "}", 8, 0, "m: a second '__metadata__'"},
    {"{\"__metadata__\":{\"x\":null}," A "}", 8, 0, "m: expected an object of strings in '__metadata__'"},
    {"{" A ",\"c\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[6,8]}}", 8, 0,
     "m: tensor 'c': its data overlaps that of 'a'"},
    {"{" B "}", 12, 0, "m: tensor 'b': 8 bytes of data in front of it belong to no tensor"},
    {"{" A "}", 9, 0, "m: the last 1 bytes belong to no tensor"},
};

TEST(bad_headers) {
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_safetensors_index index;
        ts_source header = {"m", bad[i].header, strlen(bad[i].header)};
        assert_false(ts_safetensors_parse(&err, arena, &header, bad[i].data_bytes, &index));
        if (strcmp(err.message, bad[i].message) != 0 || err.column != bad[i].column)
            fail_msg("%s: column %d: %s", bad[i].header, err.column, err.message);
        ts_arena_free(arena);
    }
}

TEST_WITH_ARENA(a_zero_is_no_space) {
    static const char text[] = "{" A "}\0";
    ts_error err = {0};
    ts_safetensors_index index;
    ts_source header = {"m", text, sizeof text - 1};
    assert_false(ts_safetensors_parse(&err, arena, &header, 8, &index));
    assert_string_equal(err.message, "text behind the header, expected only spaces");
}

TEST_WITH_ARENA(deep_json_is_refused) {
    ts_error err = {0};
    ts_safetensors_index index;
    ts_text text = ts_text_begin(arena);
    ts_text_add(&text, "{\"a\":");
    for (int i = 0; i < 100000; i++) ts_text_add_char(&text, '[');
    ts_source header = {"m", text.bytes, text.length};
    assert_false(ts_safetensors_parse(&err, arena, &header, 0, &index));
    assert_string_equal(err.message, "nested more than 127 deep");
}

TEST(one_tensor_by_name) {
    static const struct {
        const char *name, *message; /* %s: the path */
    } rows[] = {
        {"model.safetensors:b", ""},
        {"model.safetensors", "%s holds 3 tensors, expected %s:NAME with such as 'a'"},
        {"model.safetensors:layer.0.wieght",
         "%s: no tensor 'layer.0.wieght'; did you mean 'layer.0.weight'?"},
        {"model.safetensors:bias", "%s: no tensor 'bias', expected such as 'a'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_host_array array;
        char path[512], spec[512], message[2048];
        const char *layer =
            "{" A "," B ",\"layer.0.weight\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[12,15]}}";
        snprintf(path, sizeof path, "%s", make_file(arena, layer, 15));
        snprintf(spec, sizeof spec, "%s", in_folder(rows[i].name));
        const char *first = strstr(rows[i].message, "%s"), *rest = first ? first + 2 : rows[i].message;
        const char *second = strstr(rest, "%s");
        if (!first)
            message[0] = '\0';
        else if (!second)
            snprintf(message, sizeof message, "%s%s", path, rest);
        else
            snprintf(message, sizeof message, "%s%.*s%s%s", path, (int)(second - rest), rest, path,
                     second + 2);
        assert_int_equal(ts_host_load(&err, arena, spec, NULL, &array), message[0] == '\0');
        assert_string_equal(err.message, message);
        if (!first) {
            assert_int_equal(array.dtype, TS_DTYPE_BF16);
            assert_memory_equal(array.bytes, "\x08\x09\x0a\x0b", 4);
        }
        assert_int_equal(remove(path), 0);
        ts_arena_free(arena);
    }
}

TEST(damaged_files) {
    static const struct {
        const char *bytes;
        size_t length;
        const char *message;
    } rows[] = {
        {"\2\0\0\0", 4, "4 bytes, too short for a safetensors file"},
        {"\3\0\0\0\0\0\0\0{}", 10, "a header of 3 bytes, but the file ends after 2 of them"},
        {"\0\0\0\0\0\0\0\1{}", 10, "a header of 72057594037927936 bytes, expected at most 16777216"},
        {"\2\0\0\0\0\0\0\0{}", 10, " holds no tensors"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_host_array array;
        const char *path = in_folder("damaged.safetensors");
        assert_true(ts_file_save(&err, arena, path, rows[i].bytes, rows[i].length));
        assert_false(ts_host_load(&err, arena, path, NULL, &array));
        assert_memory_equal(err.message, path, strlen(path));
        const char *message = err.message + strlen(path);
        assert_string_equal(message + (message[0] == ':' ? 2 : 0), rows[i].message);
        assert_int_equal(remove(path), 0);
        ts_arena_free(arena);
    }
}

TEST_WITH_ARENA(there_and_back) {
    ts_error err = {0};
    char *bytes;
    size_t length;
    ts_safetensor tensors[2] = {{.name = "w \"1\"\n"}, {.name = "b"}};
    const int64_t dims[] = {2, 3};
    assert_true(ts_host_array_init(&err, arena, TS_DTYPE_BF16, 2, dims, &tensors[0].array));
    assert_true(ts_host_array_init(&err, arena, TS_DTYPE_U8, 1, dims, &tensors[1].array));
    for (size_t i = 0; i < 12; i++) tensors[0].array.bytes[i] = (uint8_t)(200 + i);
    const char *path = in_folder("two.safetensors");
    assert_true(ts_safetensors_save(&err, arena, path, tensors, 2));
    assert_true(ts_file_read(&err, arena, path, 1000, &bytes, &length));
    const char *header =
        "{\"w \\\"1\\\"\\u000a\":{\"dtype\":\"BF16\",\"shape\":[2,3],\"data_offsets\":[0,12]},"
        "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[12,14]}}";
    assert_memory_equal(bytes + 8, header, strlen(header));
    assert_int_equal((uint8_t)bytes[0], (strlen(header) + 7) / 8 * 8);
    ts_host_array back;
    assert_true(ts_safetensors_load(&err, arena, path, "w \"1\"\n", NULL, &back));
    assert_int_equal(back.dtype, TS_DTYPE_BF16);
    assert_memory_equal(back.bytes, tensors[0].array.bytes, 12);
    assert_int_equal(remove(path), 0);

    char named[600];
    snprintf(named, sizeof named, "%s:left", in_folder("one.safetensors"));
    assert_true(ts_host_save(&err, arena, named, &tensors[0].array));
    assert_true(ts_host_load(&err, arena, named, NULL, &back));
    assert_true(ts_host_load(&err, arena, in_folder("one.safetensors"), NULL, &back));
    assert_memory_equal(back.bytes, tensors[0].array.bytes, 12);
    assert_int_equal(remove(in_folder("one.safetensors")), 0);
    assert_false(ts_host_save(&err, arena, "x.safetensors:__metadata__", &tensors[0].array));
    assert_string_equal(err.message, "x.safetensors: no tensor can be called '__metadata__'");
    err = (ts_error){0};
    tensors[0].array.dtype = TS_DTYPE_S4;
    assert_false(ts_host_save(&err, arena, "x.safetensors", &tensors[0].array));
    assert_string_equal(err.message, "x.safetensors: a safetensors file cannot hold s4");
}

TEST_WITH_ARENA(uint16_is_bf16_where_that_is_expected) {
    ts_error err = {0};
    ts_host_array array;
    ts_host_expect expect = {.has_dtype = true, .dtype = TS_DTYPE_BF16};
    const char *path = make_file(arena, ONE("\"dtype\":\"U16\",\"shape\":[2],\"data_offsets\":[0,4]"), 4);
    assert_true(ts_host_load(&err, arena, path, &expect, &array));
    assert_int_equal(array.dtype, TS_DTYPE_BF16);
    expect.dtype = TS_DTYPE_F32;
    assert_true(ts_host_load(&err, arena, path, &expect, &array));
    assert_int_equal(array.dtype, TS_DTYPE_U16);
    expect = (ts_host_expect){.has_dims = true, .rank = 1, .dims = (const int64_t[]){3}};
    assert_false(ts_host_load(&err, arena, path, &expect, &array));
    assert_string_equal(err.message, "a holds u16[2], expected dims [3]");
    expect = (ts_host_expect){.limit_bytes = 3};
    ts_error_clear(&err);
    assert_false(ts_host_load(&err, arena, path, &expect, &array));
    assert_int_equal(err.kind, TS_ERROR_IO);
    assert_int_equal(remove(path), 0);
}

/* Elements of less than a byte are refused when they are asked for; their file's others are read. */
TEST_WITH_ARENA(packed_elements) {
    ts_error err = {0};
    ts_host_array array;
    char message[1024];
    const char *header = "{\"w\":{\"dtype\":\"F4\",\"shape\":[2,8],\"data_offsets\":[0,8]},"
                         "\"scale\":{\"dtype\":\"F8_E8M0\",\"shape\":[2],\"data_offsets\":[8,10]}}";
    make_file(arena, header, 10);
    assert_true(ts_host_load(&err, arena, in_folder("model.safetensors:scale"), NULL, &array));
    assert_int_equal(array.dtype, TS_DTYPE_F8E8M0FNU);
    assert_memory_equal(array.bytes, "\x08\x09", 2);
    assert_false(ts_host_load(&err, arena, in_folder("model.safetensors:w"), NULL, &array));
    snprintf(message, sizeof message,
             "%s: tensor 'w': elements of 4 bits, several to a byte, are not read; save it as " DTYPES,
             in_folder("model.safetensors"));
    assert_string_equal(err.message, message);
    ts_error_clear(&err);
    assert_true(ts_host_array_init(&err, arena, TS_DTYPE_F4E2M1FN, 0, NULL, &array));
    assert_false(ts_host_save(&err, arena, in_folder("model.safetensors"), &array));
    assert_non_null(strstr(err.message, "a safetensors file cannot hold f4e2m1fn"));
    assert_int_equal(remove(in_folder("model.safetensors")), 0);
}

TEST_WITH_ARENA(raw_files) {
    ts_error err = {0};
    ts_host_array array = {TS_DTYPE_F32, 1, {2}, (uint8_t *)"12345678", 8}, back;
    char path[512], message[1024];
    snprintf(path, sizeof path, "%s", in_folder("x.raw"));
    assert_true(ts_host_save(&err, arena, path, &array));
    ts_host_expect expect = {.has_dtype = true, .dtype = TS_DTYPE_U16};
    assert_true(ts_host_load(&err, arena, path, &expect, &back));
    assert_int_equal(back.dims[0], 4);
    assert_memory_equal(back.bytes, "12345678", 8);
    expect = (ts_host_expect){true, true, TS_DTYPE_F32, 2, (const int64_t[]){2, 2}, 0};
    assert_false(ts_host_load(&err, arena, path, &expect, &back));
    snprintf(message, sizeof message, "%s: 8 bytes, expected 16", path);
    assert_string_equal(err.message, message);
    ts_error_clear(&err);
    expect = (ts_host_expect){.has_dtype = true, .dtype = TS_DTYPE_C128};
    assert_false(ts_host_load(&err, arena, path, &expect, &back));
    snprintf(message, sizeof message, "%s: 8 bytes, expected a multiple of 16 for c128", path);
    assert_string_equal(err.message, message);
    ts_error_clear(&err);
    assert_false(ts_host_load(&err, arena, path, NULL, &back));
    snprintf(message, sizeof message,
             "%s: a raw file does not say its element type or dims: state them with --from", path);
    assert_string_equal(err.message, message);
    assert_int_equal(remove(path), 0);
}

TEST(names_without_a_format) {
    static const char *const names[] = {"x.dat", "npy", "", "x.npy.gz", "-"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_host_array array;
        char message[256];
        snprintf(message, sizeof message,
                 "%s: the name does not say the format, expected .npy, .npz[:NAME], .safetensors[:NAME], "
                 ".bin or .raw",
                 names[i]);
        assert_false(ts_host_load(&err, arena, names[i], NULL, &array));
        assert_string_equal(err.message, message);
        ts_arena_free(arena);
    }
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_host_array array;
    assert_false(ts_host_load(&err, arena, "m.safetensors:", NULL, &array));
    assert_string_equal(err.message, "m.safetensors:: a tensor's name is missing behind ':'");
    err = (ts_error){0};
    assert_false(ts_host_load(&err, arena, "m.npz:", NULL, &array));
    assert_string_equal(err.message, "m.npz:: an array's name is missing behind ':'");
    ts_arena_free(arena);
}
