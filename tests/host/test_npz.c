/* .npz files: those that NumPy wrote, those that we write, and damaged ones, of which none gives other values. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/file.h"
#include "host/format.h"
#include "base/text.h"
#include "layout/convert.h"
#include "tests/support/test.h"
#include "tests/support/host_array.h"
#include "tests/support/temporary.h"

static char path_space[TEMPORARY_PATH];

static const char *in_folder(const char *name) { return temporary_path(path_space, name); }

#define NUMPYS "tests/data/npy/"
#define VALUES "[2,3] 0 1 2 3 4 5"
static const struct {
    const char *path, *array; /* of what is refused: the error */
    size_t limit_bytes;
} rows[] = {
    {NUMPYS "one.npz", "f32" VALUES, 0},
    {NUMPYS "one.npz:arr_0", "f32" VALUES, 0},
    {NUMPYS "two.npz:x", "f32" VALUES, 0},
    {NUMPYS "two.npz:layer.0/w", "s16" VALUES, 0},
    {NUMPYS "two_compressed.npz:x", "f32" VALUES, 0},
    {NUMPYS "two_compressed.npz:layer.0/w", "s16" VALUES, 0},
    {NUMPYS "one.npz", "f32" VALUES, 152},
    {NUMPYS "one.npz", "cannot read '" NUMPYS "one.npz': 'arr_0' has more than 151 bytes", 151},
    {NUMPYS "two_compressed.npz:x", "cannot read '" NUMPYS "two_compressed.npz': 'x' has more than 99 bytes",
     99},
    {NUMPYS "two.npz", NUMPYS "two.npz holds 2 arrays, expected " NUMPYS "two.npz:NAME with such as 'x'", 0},
    {NUMPYS "two.npz:layer.0.w", NUMPYS "two.npz: no array 'layer.0.w'; did you mean 'layer.0/w'?", 0},
    {NUMPYS "two.npz:bias", NUMPYS "two.npz: no array 'bias', expected such as 'x'", 0},
    {NUMPYS "two.npz:", NUMPYS "two.npz:: an array's name is missing behind ':'", 0},
    {NUMPYS "none.npz", "cannot open '" NUMPYS "none.npz': No such file or directory", 0},
};

TEST(numpys_files) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_host_array array;
        ts_host_expect expect = {.limit_bytes = rows[i].limit_bytes};
        bool ok = ts_host_load(&err, arena, rows[i].path, &expect, &array);
        assert_string_equal(ok ? host_array_text(arena, &array) : err.message, rows[i].array);
        ts_arena_free(arena);
    }
}

TEST_WITH_ARENA(where_the_name_begins) {
    static const struct {
        const char *path;
        ts_host_format format;
        const char *file, *name;
    } paths[] = {
        {"a.npy", TS_FORMAT_NPY, "a.npy", NULL},
        {"a.npz", TS_FORMAT_NPZ, "a.npz", NULL},
        {"a.npz:x", TS_FORMAT_NPZ, "a.npz", "x"},
        {"a.npz/b.npz:x:y", TS_FORMAT_NPZ, "a.npz/b.npz", "x:y"},
        {"a.safetensors:b.npz:c", TS_FORMAT_SAFETENSORS, "a.safetensors", "b.npz:c"},
        {"a.npz:b.safetensors:c", TS_FORMAT_NPZ, "a.npz", "b.safetensors:c"},
        {"a.safetensors.npy", TS_FORMAT_NPY, "a.safetensors.npy", NULL},
        {"a.npy:x", TS_FORMAT_UNKNOWN, "a.npy:x", NULL},
        {"a.bin", TS_FORMAT_RAW, "a.bin", NULL},
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        ts_host_path split = ts_host_path_split(paths[i].path);
        assert_int_equal(split.format, paths[i].format);
        assert_string_equal(ts_host_file(arena, paths[i].path), paths[i].file);
        assert_true(paths[i].name ? strcmp(split.name, paths[i].name) == 0 : split.name == NULL);
        assert_int_equal(ts_host_is_archive(paths[i].path),
                         paths[i].format == TS_FORMAT_NPZ || paths[i].format == TS_FORMAT_SAFETENSORS);
    }
}

/* Saves `bytes` and loads x: what the file says, or the error without the path. */
static const char *load_bytes(ts_arena *arena, const char *bytes, size_t length) {
    ts_error err = {0};
    ts_host_array array;
    assert_true(ts_file_save(&err, arena, in_folder("damaged.npz"), bytes, length));
    bool ok = ts_host_load(&err, arena, in_folder("damaged.npz:x"), NULL, &array);
    if (ok) return host_array_text(arena, &array);
    const char *file = strstr(err.message, "damaged.npz");
    return ts_text_format(arena, "%s", file ? file : err.message);
}

TEST(damaged_files_give_no_other_values) {
    static const char *const files[] = {NUMPYS "two.npz", NUMPYS "two_compressed.npz"};
    for (int f = 0; f < 2; f++) {
        ts_arena *arena = ts_arena_new();
        char *bytes;
        size_t length, refused = 0;
        assert_true(ts_file_read(NULL, arena, files[f], 10000, &bytes, &length));
        assert_string_equal(load_bytes(arena, bytes, length), "f32" VALUES);
        for (size_t i = 0; i < length; i++) {
            assert_string_not_equal(load_bytes(arena, bytes, i), "f32" VALUES);
            bytes[i] ^= (char)0xa5;
            const char *found = load_bytes(arena, bytes, length);
            bytes[i] ^= (char)0xa5;
            bool same = strcmp(found, "f32" VALUES) == 0;
            if (!same && strncmp(found, "f32", 3) == 0) fail_msg("%s: byte %zu: %s", files[f], i, found);
            refused += !same;
        }
        assert_true(refused > length / 8);
        assert_int_equal(remove(in_folder("damaged.npz")), 0);
        ts_arena_free(arena);
    }
}

/* Bytes of NumPy's archive of one array that are changed, and what is read. Its record of the array has 30 bytes, a
 * name of 9 and 20 for long sizes; the directory's has 46 and the name; the end has 22. */
enum { ONE = 59 + 152 + 55 + 22, ENTRY = 59 + 152, END = ENTRY + 55 };
#define BROKEN "damaged.npz: not a whole .npz file: "
static const struct {
    size_t at;
    const char *bytes;
    int count;
    const char *message;
} damages[] = {
    {END, "Q", 1, BROKEN "it does not end with a directory"},
    {END + 12, "\xff\xff", 2, BROKEN "its directory lies outside"},
    {END + 16, "\x20\x01", 2, BROKEN "its directory lies outside"},
    {END + 12, "\x36", 1, BROKEN "its directory is damaged"},
    {ENTRY, "Q", 1, BROKEN "its directory is damaged"},
    {ENTRY + 8, "\x01", 1, "damaged.npz: 'x' is encrypted"},
    {ENTRY + 10, "\x0c", 1,
     "damaged.npz: 'x' is packed by method 12, expected 0 (stored) or 8 (deflate), as np.savez and "
     "np.savez_compressed write"},
    {ENTRY + 10, "\x08", 1, BROKEN "an entry does not unpack"},
    {ENTRY + 16, "\x01\x02", 2, BROKEN "an entry's checksum is another"},
    {ENTRY + 20, "\x97", 1, BROKEN "an entry cannot have the bytes that its directory says"},
    {ENTRY + 42, "\xff\x01", 2, BROKEN "an entry lies outside"},
    {ENTRY + 42, "\x01", 1, BROKEN "an entry is not where its directory says"},
    {ENTRY + 42, "\x02\x01", 2,
     BROKEN "an entry is not where its directory says"}, /* the last place for one */
    {ENTRY + 42, "\x03\x01", 2, BROKEN "an entry lies outside"},
    {ENTRY + 12, "\x12\x34\x56\x78", 4, "f32" VALUES}, /* its time, which is NumPy's first everywhere */
    {28, "\xff", 1, BROKEN "an entry lies outside"},
    {59 + 151, "\x01", 1, BROKEN "an entry's checksum is another"},
};

TEST(each_damage_has_a_name) {
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        ts_arena *arena = ts_arena_new();
        char *bytes;
        size_t length;
        assert_true(ts_file_read(NULL, arena, NUMPYS "one.npz", 10000, &bytes, &length));
        assert_int_equal(length, ONE);
        memcpy(bytes + ENTRY + 46, "x.npy\0\0\0\0", 9); /* of NumPy's arr_0.npy; a name ends at the NUL */
        memcpy(bytes + damages[i].at, damages[i].bytes, (size_t)damages[i].count);
        assert_string_equal(load_bytes(arena, bytes, length), damages[i].message);
        assert_int_equal(remove(in_folder("damaged.npz")), 0);
        ts_arena_free(arena);
    }
}

/* An archive may be followed by a comment, and two entries may have one name: then no one is meant. */
TEST_WITH_ARENA(comments_and_twins) {
    char *bytes;
    size_t length;
    assert_true(ts_file_read(NULL, arena, NUMPYS "two.npz", 10000, &bytes, &length));
    char *longer = ts_arena_alloc(arena, length + 70000, 1);
    memcpy(longer, bytes, length);
    assert_string_equal(load_bytes(arena, longer, length + 65535), "f32" VALUES);
    assert_string_equal(load_bytes(arena, longer, length + 65536), BROKEN "it does not end with a directory");
    for (size_t i = 0; i + 13 <= length; i++)
        if (memcmp(bytes + i, "layer.0/w.npy", 13) == 0) memcpy(bytes + i, "x.npy\0\0\0\0\0\0\0\0", 13);
    assert_string_equal(load_bytes(arena, bytes, length), "damaged.npz: a second array 'x'");
    assert_int_equal(remove(in_folder("damaged.npz")), 0);
}

static void add_to(char *bytes, size_t at, unsigned more) {
    bytes[at] = (char)((unsigned char)bytes[at] + more);
}

/* Of what lies beside an entry, fields of others may come before that of long sizes; one that is cut is none. */
TEST_WITH_ARENA(fields_of_others_are_passed_over) {
    enum {
        LOCAL = 30 + 5 + 20,
        NPY = 128 + 24,
        DIRECTORY = LOCAL + NPY,
        FIELD = DIRECTORY + 46 + 5,
        MORE = 7
    };
    static const char field[MORE + 1] = "UT\3\0abc";
    ts_host_array array;
    char *bytes;
    size_t length;
    assert_true(ts_host_load(NULL, arena, NUMPYS "one.npz", NULL, &array));
    assert_true(ts_host_save(NULL, arena, in_folder("x.npz:x"), &array));
    assert_true(ts_file_read(NULL, arena, in_folder("x.npz"), 10000, &bytes, &length));
    assert_int_equal(length, FIELD + 28 + 56 + 20 + 22);
    char *longer = ts_arena_alloc(arena, length + MORE, 1);
    memcpy(longer, bytes, FIELD);
    memcpy(longer + FIELD, field, MORE);
    memcpy(longer + FIELD + MORE, bytes + FIELD, length - FIELD);
    add_to(longer, DIRECTORY + 30, MORE);
    add_to(longer, FIELD + MORE + 28 + 40, MORE);
    add_to(longer, FIELD + MORE + 28 + 56 + 8, MORE);
    assert_string_equal(load_bytes(arena, longer, length + MORE), "f32" VALUES);
    add_to(longer, FIELD + 2, 40);
    assert_string_equal(load_bytes(arena, longer, length + MORE), BROKEN "its directory is damaged");
    assert_int_equal(remove(in_folder("x.npz")) | remove(in_folder("damaged.npz")), 0);
}

TEST(every_type_comes_back) {
    char path[TEMPORARY_PATH];
    check_every_type(temporary_path(path, "every.npz:a/b"), in_folder("every.npz"));
}

static int begun, with_arena;

/* In front of zlib's own. */
int inflateInit2_(z_stream *stream, int bits, const char *version, int bytes) {
    int (*real)(z_stream *, int, const char *, int);
    void *symbol = dlsym(RTLD_NEXT, "inflateInit2_");
    memcpy(&real, &symbol, sizeof real);
    begun++;
    with_arena += stream->zalloc && stream->zfree && stream->opaque;
    return real(stream, bits, version, bytes);
}

/* So that being out of memory is never taken for a damaged file. */
TEST(zlib_has_memory_of_the_arena) {
    ts_arena *arena = ts_arena_new();
    ts_host_array array;
    begun = with_arena = 0;
    assert_true(ts_host_load(NULL, arena, NUMPYS "two_compressed.npz:x", NULL, &array));
    assert_true(begun == 1 && with_arena == 1);
    ts_arena_free(arena);
}

TEST(names_that_no_archive_has) {
    enum { LONGEST = 65535 - 4 }; /* with ".npy" in 16 bits */
    static char longer[LONGEST + 2];
    memset(longer, 'n', LONGEST + 1);
    const struct {
        const char *name, *error; /* NULL: none */
    } names[] = {
        {"\xc3\xa9\xe2\x82\xac", NULL},     {"\xff", "the name is not UTF-8"},
        {"a\xc3", "the name is not UTF-8"}, {longer + 1, NULL},
        {longer, "the name is too long"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_host_array array;
        const char *file = in_folder("names.npz"),
                   *path = ts_text_format(arena, "%s:%s", file, names[i].name);
        assert_true(ts_host_load(NULL, arena, NUMPYS "one.npz", NULL, &array));
        assert_int_equal(ts_host_save(&err, arena, path, &array), !names[i].error);
        if (names[i].error)
            assert_string_equal(err.message, ts_text_format(arena, "%s: %s", file, names[i].error));
        assert_int_equal(ts_host_load(NULL, arena, path, NULL, &array), !names[i].error);
        assert_int_equal(remove(file) == 0, !names[i].error);
        ts_arena_free(arena);
    }
}
