/* Fields: every kind of figure read and printed, and the exact text of every refusal. */
#include <string.h>

#include "tests/support/test.h"
#include "config/field.h"

typedef struct {
    const char *name;
    int64_t depth;
} part;

typedef struct {
    int32_t count;
    int64_t big;
    bool flag;
    const char *text;
    enum { RED, GREEN, BLUE } colour;
    int64_t bytes, khz, picoseconds;
    int32_t cycles;
    const part *parts;
    int32_t part_count;
} thing;

#define ROW(type, key, kind_, member, low, high, ...)                                                        \
    {                                                                                                        \
        .path = key, .kind = TS_FIELD_##kind_, .offset = offsetof(type, member),                             \
        .bytes = sizeof(((type *)0)->member), .min = low, .max = high, .unit = "", .meaning = __VA_ARGS__    \
    }
static const char *const colours[] = {"red", "green", "blue", NULL};
static const ts_field part_rows[] = {
    ROW(part, "depth", INTEGER, depth, 0, 9, "how deep"),
};
static const ts_field_table part_table = {part_rows, 1, sizeof(part)};
static const ts_field rows[] = {
    ROW(thing, "a.count", INTEGER, count, 1, 64, "how many", .power_of_two = true),
    ROW(thing, "a.big", INTEGER, big, -5, INT64_C(999999999999999999), "how big"),
    ROW(thing, "flag", BOOL, flag, 0, 1, "whether"),
    ROW(thing, "text", TEXT, text, 0, 0, "what"),
    ROW(thing, "colour", CHOICE, colour, 0, 2, "which", .choices = colours),
    ROW(thing, "bytes", BYTES, bytes, 0, INT64_C(1) << 40, "size"),
    ROW(thing, "clock", CLOCK, khz, 1, 9000000, "rate"),
    ROW(thing, "time", TIME, picoseconds, 0, 9000000, "delay"),
    ROW(thing, "cycles", CYCLES, cycles, 0, 1000, "delay in cycles", .clock = offsetof(thing, khz)),
    ROW(thing, "parts", GROUP, parts, 0, 2, "its parts", .fields = &part_table,
        .count_offset = offsetof(thing, part_count)),
};
static const ts_field_table table = {rows, sizeof rows / sizeof rows[0], sizeof(thing)};

#define REST "text: x\ncolour: red\nbytes: 1 B\nclock: 1.6 GHz\ntime: 1 ns\ncycles: 14 ns\nparts: {}\n"
#define GOOD "a: {count: 8, big: -5}\nflag: true\n" REST

static const ts_tree *load(ts_error *err, ts_arena *arena, const char *text) {
    ts_tree_builtin file = {"t", text, strlen(text)};
    return ts_tree_load(err, arena, "t", &file, 1);
}

static bool read(ts_error *err, ts_arena *arena, const char *text, const char *override, thing *out,
                 ts_field_leaves *leaves) {
    const ts_tree *tree = load(err, arena, text);
    assert_non_null(tree);
    ts_source *source = TS_NEW(arena, ts_source);
    *source = (ts_source){"set", override ? override : "", override ? strlen(override) : 0};
    const ts_tree *above = override ? ts_tree_parse_override(err, arena, source) : NULL;
    memset(out, 0, sizeof *out);
    return ts_field_read(err, arena, &table, above ? ts_tree_merge(arena, tree, above) : tree, out, leaves);
}

TEST_WITH_ARENA(reads_a_struct) {
    ts_error err = {0};
    thing got;
    ts_field_leaves leaves = {0};
    assert_true(read(&err, arena,
                     "a: {count: 8, big: 999999999999999999} # published (p)\nflag: true # derived\n"
                     "text: 'a # b' # assumed: x\ncolour: blue # assume\nbytes: 2 MiB\nclock: 1.6 GHz\n"
                     "time: 54.4 ns\ncycles: 14 ns\nparts:\n  x: {depth: 3}\n  y-1: {depth: 0}\n",
                     NULL, &got, &leaves));
    assert_int_equal(got.count, 8);
    assert_true(got.big == INT64_C(999999999999999999));
    assert_true(got.flag);
    assert_string_equal(got.text, "a # b");
    assert_int_equal(got.colour, BLUE);
    assert_int_equal(got.bytes, 2 << 20);
    assert_int_equal(got.khz, 1600000);
    assert_int_equal(got.picoseconds, 54400);
    assert_int_equal(got.cycles, 23);
    assert_int_equal(got.part_count, 2);
    assert_string_equal(got.parts[0].name, "x");
    assert_int_equal(got.parts[0].depth, 3);
    assert_string_equal(got.parts[1].name, "y-1");
    static const struct {
        const char *path;
        ts_field_status status;
    } expected[] = {
        {"a.count", TS_STATUS_PUBLISHED},
        {"a.big", TS_STATUS_PUBLISHED},
        {"flag", TS_STATUS_DERIVED},
        {"text", TS_STATUS_ASSUMED},
        {"colour", TS_STATUS_UNSTATED},
        {"bytes", TS_STATUS_UNSTATED},
        {"clock", TS_STATUS_UNSTATED},
        {"time", TS_STATUS_UNSTATED},
        {"cycles", TS_STATUS_UNSTATED},
        {"parts.x.depth", TS_STATUS_UNSTATED},
        {"parts.y-1.depth", TS_STATUS_UNSTATED},
    };
    assert_int_equal(leaves.count, sizeof expected / sizeof expected[0]);
    for (int i = 0; i < leaves.count; i++) {
        assert_string_equal(leaves.leaves[i].path, expected[i].path);
        assert_int_equal(ts_field_leaf_status(&leaves.leaves[i]), expected[i].status);
    }
}

/* What is accepted, and how it is printed back. */
TEST(prints_canonically) {
    static const struct {
        const char *override, *printed;
    } cases[] = {
        {"a.count=64", "64"},
        {"a.big=-5", "-5"},
        {"a.big=0", "0"},
        {"flag=false", "false"},
        {"text=a\"b\\", "\"a\\\"b\\\\\""},
        {"colour=green", "green"},
        {"bytes=0B", "0 B"},
        {"bytes=1024 B", "1 KiB"},
        {"bytes=1.5 KiB", "1536 B"},
        {"bytes=1 TiB", "1 TiB"},
        {"bytes=1025B", "1025 B"},
        {"clock=1 kHz", "0.001 MHz"},
        {"clock=940 MHz", "940 MHz"},
        {"clock=0.94GHz", "940 MHz"},
        {"clock=1.612001 GHz", "1.612001 GHz"},
        {"time=0 ns", "0 ns"},
        {"time=1 ps", "0.001 ns"},
        {"time=999.999 ns", "999.999 ns"},
        {"time=1.6 us", "1.6 us"},
        {"time=1600 ns", "1.6 us"},
        {"cycles=0 ck", "0 ck"},
        {"cycles=2 ck", "2 ck"},
        {"cycles=2 ns", "4 ck"},
        {"cycles=1.25 ns", "2 ck"},
        {"cycles=0.6us", "960 ck"},
        {"parts.x.depth=9", "9"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        thing got;
        ts_field_leaves leaves = {0};
        bool good = read(&err, arena, GOOD, cases[i].override, &got, &leaves);
        assert_string_equal(err.message, "");
        assert_true(good);
        size_t length = strcspn(cases[i].override, "=");
        ts_text text = ts_text_begin(arena);
        for (int j = 0; j < leaves.count; j++)
            if (strncmp(leaves.leaves[j].path, cases[i].override, length) == 0 &&
                leaves.leaves[j].path[length] == '\0')
                ts_field_print(&text, leaves.leaves[j].field, leaves.leaves[j].at);
        assert_string_equal(text.bytes, cases[i].printed);
        ts_arena_free(arena);
    }
}

/* As written comments stand in a column, where there is room; the values alone have none. */
TEST_WITH_ARENA(prints_a_file) {
    static const char given[] =
        "a: {count: 8, big: 7} # published\nflag: true\n"
        "text: abcdefghijklmnopqrstuvwxyz0123456789 # as long\ncolour: blue # assumed\nbytes: 1024 B\n"
        "clock: 1600 MHz\ntime: 1000 ps\ncycles: 14 ns # derived\n"
        "parts: {x: {depth: 3}, y: {depth: 4}}\n";
    static const char *const expected[] = {
        [TS_FIELD_VALUES] = "a:\n    count: 8\n    big: 7\nflag: true\n"
                            "text: \"abcdefghijklmnopqrstuvwxyz0123456789\"\ncolour: blue\nbytes: 1 KiB\n"
                            "clock: 1.6 GHz\ntime: 1 ns\ncycles: 23 ck\n"
                            "parts:\n    x:\n        depth: 3\n    y:\n        depth: 4\n",
        [TS_FIELD_AS_WRITTEN] = "a:\n    count: 8                         # published\n"
                                "    big: 7                           # published\nflag: true\n"
                                "text: \"abcdefghijklmnopqrstuvwxyz0123456789\" # as long\n"
                                "colour: blue                         # assumed\nbytes: 1024 B\n"
                                "clock: 1600 MHz\ntime: 1000 ps\n"
                                "cycles: 14 ns                        # derived\n"
                                "parts:\n    x:\n        depth: 3\n    y:\n        depth: 4\n",
    };
    for (int style = 0; style < 2; style++) {
        ts_error err = {0};
        thing got;
        ts_field_leaves leaves = {0};
        assert_true(read(&err, arena, given, NULL, &got, &leaves));
        ts_text text = ts_text_begin(arena);
        ts_field_print_leaves(&text, leaves.leaves, leaves.count, (ts_field_style)style);
        assert_string_equal(text.bytes, expected[style]);
    }
}

TEST(refuses_values) {
#define INTEGER "an integer from 1 to 64, a power of two"
#define SIZE    "a size such as 16 KiB from 0 B to 1 TiB"
#define CLOCK   "a frequency such as 1.5 GHz from 0.001 MHz to 9 GHz"
#define TIME    "a time such as 54.4 ns from 0 ns to 9 us"
#define CYCLES  "a time such as 14 ns or 2 ck from 0 ck to 1000 ck"
    static const struct {
        const char *override, *message;
    } cases[] = {
        {"a.count=0", "a.count: found '0', expected " INTEGER},
        {"a.count=128", "a.count: found '128', expected " INTEGER},
        {"a.count=3", "a.count: found '3', expected " INTEGER},
        {"a.count=8.0", "a.count: found '8.0', expected " INTEGER},
        {"a.count=1e1", "a.count: found '1e1', expected " INTEGER},
        {"a.count=1e999999999", "a.count: found '1e999999999', expected " INTEGER},
        {"a.count=0x8", "a.count: found '0x8', expected " INTEGER},
        {"a.count=08", "a.count: found '08', expected " INTEGER},
        {"a.count=8 ", "a.count: found '8 ', expected " INTEGER},
        {"a.count=+8", "a.count: found '+8', expected " INTEGER},
        {"a.count=", "a.count: found nothing, expected " INTEGER},
        {"a.count=nan", "a.count: found 'nan', expected " INTEGER},
        {"a.count=4294967300", "a.count: found '4294967300', expected " INTEGER},
        {"a.big=9223372036854775808",
         "a.big: found '9223372036854775808', expected an integer from -5 to 999999999999999999"},
        {"a.big=-6", "a.big: found '-6', expected an integer from -5 to 999999999999999999"},
        {"a.big=--1", "a.big: found '--1', expected an integer from -5 to 999999999999999999"},
        {"flag=yes", "flag: found 'yes', expected true or false"},
        {"text=", "text: found nothing, expected a text"},
        {"text=a\tb", "text: found 'a?b', expected a text"},
        {"colour=geen", "colour: found 'geen', expected red, green or blue; did you mean 'green'?"},
        {"bytes=16", "bytes: found '16', expected " SIZE},
        {"bytes=16 GB", "bytes: found '16 GB', expected " SIZE},
        {"bytes=-1 B", "bytes: found '-1 B', expected " SIZE},
        {"bytes=0.5 B", "bytes: found '0.5 B', expected " SIZE},
        {"bytes=9999999999999999999 B", "bytes: found '9999999999999999999 B', expected " SIZE},
        {"bytes=999999999999999999 TiB", "bytes: found '999999999999999999 TiB', expected " SIZE},
        {"clock=.nan", "clock: found '.nan', expected " CLOCK},
        {"clock=.inf", "clock: found '.inf', expected " CLOCK},
        {"clock=1.2.3 GHz", "clock: found '1.2.3 GHz', expected " CLOCK},
        {"clock=.5 GHz", "clock: found '.5 GHz', expected " CLOCK},
        {"clock=1. GHz", "clock: found '1. GHz', expected " CLOCK},
        {"clock=0 MHz", "clock: found '0 MHz', expected " CLOCK},
        {"clock=1.0000001 GHz", "clock: found '1.0000001 GHz', expected " CLOCK},
        {"time=1.0001 ns", "time: found '1.0001 ns', expected " TIME},
        {"time=1 ck", "time: found '1 ck', expected " TIME},
        {"cycles=2", "cycles: found '2', expected " CYCLES},
        {"cycles=0.5 ck", "cycles: found '0.5 ck', expected " CYCLES},
        {"cycles=1 ms", "cycles: found '1 ms', expected " CYCLES},
        {"cycles=999999999999999999 ms", "cycles: found '999999999999999999 ms', expected " CYCLES},
        {"parts.x.depth=10", "parts.x.depth: found '10', expected an integer from 0 to 9"},
        {"parts.x.dept=1", "unknown key 'parts.x.dept'; did you mean 'parts.x.depth'?"},
        {"parts.x y.depth=1", "'x y' is no name: expected letters, digits, '_' and '-'"},
        {"parts=1", "parts: found '1', expected a mapping with 0 to 2 keys"},
        {"parts.x=1", "parts.x: found '1', expected a mapping"},
        {"a=1", "a: found '1', expected a mapping"},
        {"a.count.x=1", "a.count: found a mapping, expected " INTEGER},
        {"a.cuont=1", "unknown key 'a.cuont'; did you mean 'a.count'?"},
        {"a.zzz=1", "unknown key 'a.zzz', expected one of count, big"},
        {"colours=red", "unknown key 'colours'; did you mean 'colour'?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        thing got;
        ts_field_leaves leaves = {0};
        assert_false(read(&err, arena, GOOD, cases[i].override, &got, &leaves));
        assert_string_equal(err.message, cases[i].message);
        assert_int_equal(err.kind, TS_ERROR_INPUT);
        assert_string_equal(err.name, "set");
        ts_arena_free(arena);
    }
}

TEST(refuses_files) {
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"a: {count: 8}\nflag: true\n" REST, "t:1:4: error: 'a.big' is missing: how big, an integer from -5 "
                                             "to 999999999999999999\na: {count: 8}\n   ^\n"},
        {"flag: true\n" REST,
         "t:1:1: error: 'a.count' is missing: how many, an integer from 1 to 64, a power of two\n"
         "flag: true\n^\n"},
        {"a: {count: 8, big: [1]}\nflag: true\n" REST,
         "t:1:20: error: a.big: found a list, expected an integer from -5 to 999999999999999999\n"
         "a: {count: 8, big: [1]}\n                   ^\n"},
        {"a:\n    count: \"8\"\n    big: 0\nflag: true\n" REST,
         "t:2:12: error: a.count: found the text '8', expected " INTEGER
         "\n    count: \"8\"\n           ^\n"},
        {"a:\nflag: true\n" REST, "t:1:3: error: a: found nothing, expected a mapping\na:\n  ^\n"},
        {"[a]\n", "t:1:1: error: found a list, expected a mapping\n[a]\n^\n"},
        {"a.count: 8\n" GOOD,
         "t:1:1: error: unknown key 'a.count', expected one of a, flag, text, colour, bytes, clock, "
         "time, cycles, parts\na.count: 8\n^\n"},
        {"a: {count: 8, big: 1}\nflag: true\ntext: x\ncolour: red\nbytes: 1 B\nclock: 1.6 GHz\ntime: 1 ns\n"
         "cycles: 14 ns\nparts: {x: {depth: 1}, y: {depth: 1}, z: {depth: 1}}\n",
         "t:9:8: error: parts: found a mapping, expected a mapping with 0 to 2 keys\n"
         "parts: {x: {depth: 1}, y: {depth: 1}, z: {depth: 1}}\n       ^\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        thing got;
        ts_field_leaves leaves = {0};
        assert_false(read(&err, arena, cases[i].text, NULL, &got, &leaves));
        assert_error(&err, TS_ERROR_INPUT, cases[i].expected);
        ts_arena_free(arena);
    }
}
