/* .npy files: those that NumPy wrote, those that we write, and what is refused, with exact errors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "host/format.h"
#include "base/text.h"
#include "host/npy.h"
#include "layout/convert.h"
#include "tests/support/test.h"
#include "tests/support/host_array.h"
#include "tests/support/temporary.h"

static const struct {
    const char *file, *array;
} good[] = {
    {"b1", "pred[2,3] 0 1 1 1 1 1"},
    {"i1", "s8[2,3] 0 1 2 3 4 5"},
    {"i2", "s16[2,3] 0 1 2 3 4 5"},
    {"i4", "s32[2,3] 0 1 2 3 4 5"},
    {"i8", "s64[2,3] 0 1 2 3 4 5"},
    {"u1", "u8[2,3] 0 1 2 3 4 5"},
    {"u2", "u16[2,3] 0 1 2 3 4 5"},
    {"u4", "u32[2,3] 0 1 2 3 4 5"},
    {"u8", "u64[2,3] 0 1 2 3 4 5"},
    {"f2", "f16[2,3] 0 1 2 3 4 5"},
    {"f4", "f32[2,3] 0 1 2 3 4 5"},
    {"f8", "f64[2,3] 0 1 2 3 4 5"},
    {"c8", "c64[2,3] 0 1 2 3 4 5"},
    {"f4_fortran", "f32[2,3] 0 1 2 3 4 5"},
    {"f4_fortran_3d", "f32[2,3,4] 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23"},
    {"f4_version_2", "f32[2,3] 0 1 2 3 4 5"},
    {"f4_version_3", "f32[2,3] 0 1 2 3 4 5"},
    {"f4_scalar", "f32[] 7"},
    {"f4_vector", "f32[5] 0 1 2 3 4"},
    {"f4_empty", "f32[0,4]"},
    {"v2_bf16", "bf16[2,3] 0 1 2 3 4 5"},
    {"f4_big_endian", "f32[2,3] 0 1 2 3 4 5"},
    {"c8_big_endian", "c64[2,3] 0 1 2 3 4 5"},
    {"i2_big_endian_fortran", "s16[2,3] 0 1 2 3 4 5"},
};

TEST(numpys_files) {
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_host_array array;
        char path[256];
        snprintf(path, sizeof path, "tests/data/npy/%s.npy", good[i].file);
        if (!ts_host_load(&err, arena, path, NULL, &array)) fail_msg("%s: %s", path, err.message);
        assert_string_equal(host_array_text(arena, &array), good[i].array);
        ts_arena_free(arena);
    }
}

static const struct {
    const char *file;
    int column; /* of the header; 0 where the error has no place */
    const char *message;
} refused[] = {
    {"structured", 11, "structured elements are not read, expected one type such as '<f4'"},
    {"text", 11, "unknown element type '<U2', expected such as '<f4', '<f2', '|V2' (bf16), '|i1' or '|b1'"},
    {"date", 11,
     "unknown element type '<M8[D]', expected such as '<f4', '<f2', '|V2' (bf16), '|i1' or '|b1'"},
    {"none", 0, "cannot open 'tests/data/npy/none.npy': No such file or directory"},
};

TEST(numpys_files_that_are_refused) {
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_host_array array;
        char path[256];
        snprintf(path, sizeof path, "tests/data/npy/%s.npy", refused[i].file);
        assert_false(ts_host_load(&err, arena, path, NULL, &array));
        assert_string_equal(err.message, refused[i].message);
        assert_int_equal(err.column, refused[i].column);
        ts_arena_free(arena);
    }
}

/* A version 1.0 file of this header and so many zero bytes of data. */
static ts_source make_file(ts_arena *arena, const char *header, size_t data_bytes) {
    size_t length = strlen(header), total = 10 + length + data_bytes;
    char *bytes = ts_arena_alloc(arena, total + 1, 1);
    memcpy(bytes, "\x93NUMPY\x01", 7);
    bytes[8] = (char)(length & 0xff);
    bytes[9] = (char)(length >> 8);
    memcpy(bytes + 10, header, length);
    return (ts_source){"x.npy", bytes, total};
}

#define TAIL ", 'fortran_order': False, 'shape': (2,)}"
static const struct {
    const char *header;
    size_t data_bytes;
    int column; /* of the header; 0 where the error has no place */
    const char *message;
} headers[] = {
    {"{'descr': '<f4'" TAIL, 8, 0, ""},
    {"{\"shape\":(2),\"descr\":\"<f4\"}", 8, 12, "found ')', expected ','"},
    {"{'shape': (2L,), 'descr': '=f4', 'fortran_order': True}  \n", 8, 0, ""},
    {"{'shape': (1, 2,), 'descr': '|u1', 'fortran_order': False,}", 2, 0, ""},
    {"{'descr': '>u1'" TAIL, 2, 0, ""}, /* a byte has no order */
    {"", 8, 1, "found the end, expected '{'"},
    {"['descr']", 8, 1, "found '[', expected '{'"},
    {"{'descr': '<f4'", 8, 16, "found the end, expected ',' or '}'"},
    {"{'descr': '<f4}", 8, 11, "a string without its end"},
    {"{'descr': <f4" TAIL, 8, 11, "found '<', expected a type such as '<f4'"},
    {"{descr: '<f4'" TAIL, 8, 2, "found 'descr', expected a key in quotes"},
    {"{'descr' '<f4'" TAIL, 8, 10, "found ''', expected ':'"},
    {"{'type': '<f4'" TAIL, 8, 2, "unknown key, expected 'descr', 'fortran_order' or 'shape'"},
    {"{'descr': '<f4', 'descr': '<f4'" TAIL, 8, 18, "a second key 'descr'"},
    {"{'descr': '<f4', 'shape': (2,)}", 8, 31, "the key 'fortran_order' is missing"},
    {"{'descr': '<f4'" TAIL " x", 8, 57, "found 'x', expected the end of the header"},
    {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", 8, 35, "found '0', expected True or False"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': 2}", 8, 51, "found '2', expected '('"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}", 8, 54, "found '3', expected ','"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", 8, 52, "a dim of -2, expected 0 or more"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,)}", 8, 52,
     "9223372036854775808 does not fit in 64 bits"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", 8, 0,
     "x.npy: the dims multiply to more than 2^63 - 1 bytes"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 0)}", 0, 0, ""},
    {"{'descr': 'f4'" TAIL, 8, 11,
     "unknown element type 'f4', expected such as '<f4', '<f2', '|V2' (bf16), '|i1' or '|b1'"},
    {"{'descr': '<f3'" TAIL, 8, 11,
     "unknown element type '<f3', expected such as '<f4', '<f2', '|V2' (bf16), '|i1' or '|b1'"},
    {"{'descr': ''" TAIL, 8, 11,
     "unknown element type '', expected such as '<f4', '<f2', '|V2' (bf16), '|i1' or '|b1'"},
    {"{'descr': '|O'" TAIL, 8, 11,
     "unknown element type '|O', expected such as '<f4', '<f2', '|V2' (bf16), '|i1' or '|b1'"},
    {"{'descr': '|V1'" TAIL, 2, 11,
     "'|V1' does not say what its bytes hold, and no type of 1 bytes is expected"},
    {"{'descr': '<f4'" TAIL, 7, 0,
     "x.npy: byte 65: 7 bytes of data, expected 8 for f32[2] (the file is cut short)"},
    {"{'descr': '<f4'" TAIL, 9, 0, "x.npy: byte 65: 9 bytes of data, expected 8 for f32[2]"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,)}", 8, 0,
     "x.npy: byte 77: 8 bytes of data, expected 4000000000000 for f32[1000000000000] (the file is cut "
     "short)"},
};

TEST(header_rows) {
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_host_array array;
        ts_source file = make_file(arena, headers[i].header, headers[i].data_bytes);
        bool ok = ts_npy_parse(&err, arena, &file, NULL, &array);
        if (ok != (headers[i].message[0] == '\0') || strcmp(err.message, headers[i].message) != 0 ||
            err.column != headers[i].column)
            fail_msg("%s: column %d: %s", headers[i].header, err.column, err.message);
        ts_arena_free(arena);
    }
}

TEST_WITH_ARENA(error_shows_the_header) {
    ts_error err = {0};
    ts_host_array array;
    char shown[512];
    ts_source file = make_file(arena, "{'descr': '>f3', 'fortran_order': False, 'shape': (2,), }\n", 16);
    assert_false(ts_npy_parse(&err, arena, &file, NULL, &array));
    ts_error_format(&err, shown, sizeof shown);
    assert_string_equal(
        shown, "x.npy (header):1:11: error: unknown element type '>f3', expected such as '<f4', '<f2', "
               "'|V2' (bf16), '|i1' or '|b1'\n"
               "{'descr': '>f3', 'fortran_order': False, 'shape': (2,), }\n"
               "          ^\n");
}

static const struct {
    const char *bytes;
    size_t length;
    const char *message;
} prefixes[] = {
    {"", 0, "x.npy: not a .npy file: it does not begin with \\x93NUMPY"},
    {"\x93NUMPX\x01\x00\x00\x00", 10, "x.npy: not a .npy file: it does not begin with \\x93NUMPY"},
    {"\x93NUMPY\x01", 7, "x.npy: not a .npy file: it does not begin with \\x93NUMPY"},
    {"\x93NUMPY\x04\x00\x00\x00", 10, "x.npy: byte 6: version 4.0, expected 1.0, 2.0 or 3.0"},
    {"\x93NUMPY\x01\x01\x00\x00", 10, "x.npy: byte 6: version 1.1, expected 1.0, 2.0 or 3.0"},
    {"\x93NUMPY\x01\x00\x10", 9, "x.npy: byte 8: the file ends inside the header's length"},
    {"\x93NUMPY\x02\x00\x10\x00\x00", 11, "x.npy: byte 8: the file ends inside the header's length"},
    {"\x93NUMPY\x02\x00\x00\x00\x01\x00", 12,
     "x.npy: byte 8: a header of 65536 bytes, expected at most 65535"},
    {"\x93NUMPY\x01\x00\x05\x00{}", 12,
     "x.npy: byte 8: a header of 5 bytes, but the file ends after 2 of them"},
};

TEST(prefix_rows) {
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_host_array array;
        ts_source file = {"x.npy", prefixes[i].bytes, prefixes[i].length};
        assert_false(ts_npy_parse(&err, arena, &file, NULL, &array));
        assert_string_equal(err.message, prefixes[i].message);
        ts_arena_free(arena);
    }
}

/* What the user expects decides what void and uint16 hold, and never the type that a file names. */
static const struct {
    const char *descr;
    size_t bytes;
    ts_dtype expected, read;
} types[] = {
    {"|V2", 4, TS_DTYPE_BF16, TS_DTYPE_BF16},  {"<V2", 4, TS_DTYPE_F32, TS_DTYPE_BF16},
    {"<u2", 4, TS_DTYPE_BF16, TS_DTYPE_BF16},  {"<u2", 4, TS_DTYPE_F32, TS_DTYPE_U16},
    {"<i2", 4, TS_DTYPE_BF16, TS_DTYPE_S16},   {"|V1", 2, TS_DTYPE_F8E4M3FN, TS_DTYPE_F8E4M3FN},
    {"|V1", 2, TS_DTYPE_S4, TS_DTYPE_S4},      {"|u1", 2, TS_DTYPE_F8E4M3FN, TS_DTYPE_U8},
    {">u2", 4, TS_DTYPE_BF16, TS_DTYPE_BF16},  {"<f4", 8, TS_DTYPE_S32, TS_DTYPE_F32},
    {"<c16", 32, TS_DTYPE_S32, TS_DTYPE_C128},
};

TEST(expected_types) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_host_array array;
        char header[128];
        snprintf(header, sizeof header, "{'descr': '%s'" TAIL, types[i].descr);
        ts_source file = make_file(arena, header, types[i].bytes);
        ts_host_expect expect = {.has_dtype = true, .dtype = types[i].expected};
        if (!ts_npy_parse(&err, arena, &file, &expect, &array)) fail_msg("%s: %s", header, err.message);
        assert_string_equal(ts_dtype_get(array.dtype)->name, ts_dtype_get(types[i].read)->name);
        ts_arena_free(arena);
    }
}

TEST_WITH_ARENA(expected_dims) {
    ts_error err = {0};
    ts_host_array array;
    ts_source file = make_file(arena, "{'descr': '<f4'" TAIL, 8);
    const int64_t dims[] = {2, 1};
    ts_host_expect expect = {.has_dims = true, .rank = 1, .dims = dims};
    assert_true(ts_npy_parse(&err, arena, &file, &expect, &array));
    expect.rank = 2;
    assert_false(ts_npy_parse(&err, arena, &file, &expect, &array));
    assert_string_equal(err.message, "x.npy holds f32[2], expected dims [2,1]");
}

TEST_WITH_ARENA(many_dims) {
    for (int rank = TS_HOST_RANK; rank <= TS_HOST_RANK + 1; rank++) {
        ts_error err = {0};
        ts_host_array array;
        ts_text header = ts_text_begin(arena);
        ts_text_add(&header, "{'descr': '<f4', 'fortran_order': True, 'shape': (");
        for (int i = 0; i < rank; i++) ts_text_add(&header, "1,");
        ts_text_add(&header, ")}");
        ts_source file = make_file(arena, header.bytes, 4);
        assert_int_equal(ts_npy_parse(&err, arena, &file, NULL, &array), rank == TS_HOST_RANK);
        if (rank > TS_HOST_RANK) assert_string_equal(err.message, "more than 64 dims");
    }
}

/* Saving what NumPy wrote gives NumPy's bytes again: the same header, padding and data. */
TEST(saved_files_are_numpys) {
    static const char *const files[] = {"b1", "i1",  "i8", "u2",      "f2",        "f4",        "f8",
                                        "c8", "c16", "u4", "v2_bf16", "f4_scalar", "f4_vector", "f4_empty"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_host_array array;
        char path[256], copy[TEMPORARY_PATH], *left, *right;
        size_t left_length, right_length;
        snprintf(path, sizeof path, "tests/data/npy/%s.npy", files[i]);
        temporary_path(copy, "copy.npy");
        assert_true(ts_host_load(&err, arena, path, NULL, &array));
        assert_true(ts_host_save(&err, arena, copy, &array));
        assert_true(ts_file_read(&err, arena, path, 1000, &left, &left_length));
        assert_true(ts_file_read(&err, arena, copy, 1000, &right, &right_length));
        assert_int_equal(left_length, right_length);
        assert_memory_equal(left, right, left_length);
        assert_int_equal(remove(copy), 0);
        ts_arena_free(arena);
    }
}

TEST(every_type_comes_back) {
    char path[TEMPORARY_PATH];
    temporary_path(path, "every.npy");
    check_every_type(path, path);
}

TEST_WITH_ARENA(the_digits) {
    ts_error err = {0};
    ts_host_array digits, labels, reals;
    assert_true(ts_host_load(&err, arena, "tests/data/digits_1000_u8.npy", NULL, &digits));
    assert_true(ts_host_load(&err, arena, "tests/data/digits_1000_labels_u8.npy", NULL, &labels));
    assert_int_equal(digits.length, 784000);
    for (int row = 0; row < 1000; row++) assert_int_equal(labels.bytes[row], row % 10);
    uint64_t ink = 0;
    for (size_t i = 0; i < digits.length; i++) ink += digits.bytes[i];
    assert_int_equal(ink, 25786920);
    assert_true(ts_host_array_convert(&err, arena, &digits, TS_DTYPE_F32, &reals));
    for (size_t i = 0; i < digits.length; i++) {
        float value;
        memcpy(&value, reals.bytes + 4 * i, 4);
        assert_true(value == (float)digits.bytes[i]);
    }
}

/* Elements of eight bytes become others of four; what has more bytes than there are cannot be. */
TEST_WITH_ARENA(elements_of_eight_bytes_convert) {
    ts_error err = {0};
    double values[9];
    for (int i = 0; i < 9; i++) values[i] = i + 0.5;
    const ts_host_array wide = {
        .dtype = TS_DTYPE_F64, .rank = 1, .dims = {9}, .bytes = (uint8_t *)values, .length = sizeof values};
    ts_host_array narrow;
    assert_int_equal(ts_host_array_elements(&wide), 9);
    assert_true(ts_host_array_convert(&err, arena, &wide, TS_DTYPE_F32, &narrow));
    assert_int_equal(narrow.length, 9 * sizeof(float));
    for (int i = 0; i < 9; i++) {
        float value;
        memcpy(&value, narrow.bytes + 4 * i, 4);
        assert_true(value == (float)i + 0.5F);
    }
    const ts_host_array large = {
        .dtype = TS_DTYPE_S8, .rank = 2, .dims = {INT64_C(1) << 31, INT64_C(1) << 31}};
    assert_false(ts_host_array_convert(&err, arena, &large, TS_DTYPE_F32, &narrow));
    assert_string_equal(err.message, "an array: the dims multiply to more than 2^63 - 1 bytes");
}

/* Columns come first in the file. */
TEST(elements_of_any_size_in_fortran_order) {
    static const struct {
        const char *type, *array;
        size_t bytes;
    } rows[] = {{"u1", "u8[2,3] 0 1 2 3 4 5", 1},
                {"i2", "s16[2,3] 0 1 2 3 4 5", 2},
                {"i8", "s64[2,3] 0 1 2 3 4 5", 8}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_host_array array;
        const char *header =
            ts_text_format(arena, "{'descr': '<%s', 'fortran_order': True, 'shape': (2, 3)}", rows[i].type);
        ts_source file = make_file(arena, header, 6 * rows[i].bytes);
        for (size_t k = 0; k < 6; k++)
            ((char *)(uintptr_t)file.text)[10 + strlen(header) + (k % 3 * 2 + k / 3) * rows[i].bytes] =
                (char)k;
        assert_true(ts_npy_parse(&err, arena, &file, NULL, &array));
        assert_string_equal(host_array_text(arena, &array), rows[i].array);
        ts_arena_free(arena);
    }
}
