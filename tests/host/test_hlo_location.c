/* Places of the user's program: tables at the head of a module, metadata of instructions. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "host/hlo_location.h"
#include "tests/support/test.h"

static ts_span span(const char *text) { return (ts_span){text, strlen(text)}; }

static void on_table(void *self, ts_span text) { ts_hlo_locations_row(self, text); }

static int32_t find(ts_hlo_locations *places, const char *attributes) {
    ts_span fields;
    return ts_hlo_metadata(span(attributes), &fields) ? ts_hlo_locations_find(places, fields) : -1;
}

static bool field(ts_span attributes, const char *name, ts_span *value) {
    ts_span fields;
    return ts_hlo_metadata(attributes, &fields) && ts_hlo_field(fields, name, value);
}

/* Tables as a module has them, through the reader. */
static ts_hlo_locations *read_tables(ts_arena *arena, const char *text) {
    ts_hlo_locations *places = ts_hlo_locations_new(arena);
    ts_hlo_events events = {.self = places, .table = on_table};
    ts_hlo_reader *reader = ts_hlo_new(arena, &events);
    ts_hlo_feed(reader, text, strlen(text));
    ts_hlo_finish(reader);
    return places;
}

/* "file:line function", or "none". */
static void expect(ts_hlo_locations *places, const char *attributes, const char *wanted) {
    char found[300] = "none";
    int32_t number = find(places, attributes);
    ts_hlo_location place = ts_hlo_locations_get(places, number);
    if (number >= 0) snprintf(found, sizeof found, "%s:%d %s", place.file, (int)place.line, place.function);
    assert_string_equal(found, wanted);
}

static const char tables[] =
    "HloModule jit_f\n\nFileNames\n1 \"/a b/{c}.py\"\n2 \"/x/site-packages/flax/linen.py\"\n"
    "3 \"/y/dist-packages/z.py\"\n\nFunctionNames\n1 \"<module>\"\n2 \"f\"\n3 \"Dense.__call__\"\n\n"
    "FileLocations\n1 {file_name_id=1 function_name_id=1 line=26 end_line=27 column=6 end_column=65}\n"
    "2 {file_name_id=1 function_name_id=2 line=15 end_line=15 column=8 end_column=31}\n"
    "3 {file_name_id=2 function_name_id=3 line=100 end_line=100 column=8 end_column=31}\n"
    "4 {file_name_id=9 function_name_id=2 line=7}\n5 {file_name_id=3 function_name_id=8 "
    "line=8}\n\nStackFrames\n"
    "1 {file_location_id=1 parent_frame_id=1}\n2 {file_location_id=2 parent_frame_id=2}\n"
    "3 {file_location_id=3 parent_frame_id=3}\n4 {file_location_id=3 parent_frame_id=4}\n"
    "5 {file_location_id=4 parent_frame_id=2}\n6 {file_location_id=5 parent_frame_id=1}\n"
    "7 {file_location_id=99 parent_frame_id=2}\n8 {file_location_id=3 parent_frame_id=9}\n\n"
    "%a = f32[] negate(%b)\n";

TEST_WITH_ARENA(stack_frames) {
    static const struct {
        const char *attributes, *wanted;
    } rows[] = {
        {", metadata={op_name=\"jit(f)/sin\" stack_frame_id=2}", "/a b/{c}.py:15 f"},
        {", sharding={replicated}, metadata={op_name=\"x\" stack_frame_id=1}, y=1",
         "/a b/{c}.py:26 <module>"},
        {", metadata={stack_frame_id=3}", "/a b/{c}.py:15 f"}, /* what called a package */
        {", metadata={stack_frame_id=4}", "/a b/{c}.py:15 f"},
        {", metadata={stack_frame_id=5}", "none"},                     /* a file that is not there */
        {", metadata={stack_frame_id=6}", "/y/dist-packages/z.py:8 "}, /* packages all the way */
        {", metadata={stack_frame_id=7}", "none"},
        {", metadata={stack_frame_id=8}", "/x/site-packages/flax/linen.py:100 Dense.__call__"},
        {", metadata={stack_frame_id=9}", "none"},
        {", metadata={stack_frame_id=0}", "none"},
        {", metadata={stack_frame_id=99999999999999999999}", "none"},
        {", metadata={op_name=\"stack_frame_id=2\"}", "none"},
        {", metadata={op_name=\"a\\\" stack_frame_id=1\" stack_frame_id=2}", "/a b/{c}.py:15 f"},
        {", metadata={op_name=\"never ends stack_frame_id=2}", "none"},
        {", backend_config={stack_frame_id=2}", "none"},
        {"", "none"},
        {", metadata=", "none"},
        {", metadata={}", "none"},
    };
    ts_hlo_locations *places = read_tables(arena, tables);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect(places, rows[i].attributes, rows[i].wanted);
    expect(places, rows[0].attributes, rows[0].wanted);
    int32_t once = find(places, rows[0].attributes);
    assert_int_equal(find(places, rows[0].attributes), once);
    ts_hlo_locations_begin(places); /* another module has no tables; numbers given out stay */
    expect(places, rows[0].attributes, "none");
    assert_string_equal(ts_hlo_locations_get(places, once).function, "f");
    assert_int_equal(ts_hlo_locations_get(places, -1).line + ts_hlo_locations_get(places, 1 << 20).line, 0);
}

/* Each line break doubled, or each blank between fields one of its own. */
static const char *broken(ts_arena *arena, bool fields) {
    ts_text out = ts_text_begin(arena);
    for (const char *c = tables; *c; c++) {
        bool field = fields && *c == ' ' && (c[1] == 'f' || c[1] == 'l' || c[1] == 'e' || c[1] == 'p');
        ts_text_add(&out, field ? "\n  " : *c == '\n' && !fields ? "\n\n" : "%c", *c);
    }
    return out.bytes;
}

TEST_WITH_ARENA(rows_are_broken) {
    static const char *const wanted[] = {
        "/a b/{c}.py:26 <module>", "/a b/{c}.py:15 f", "/a b/{c}.py:15 f", "/a b/{c}.py:15 f", "none",
        "/y/dist-packages/z.py:8 "};
    char text[80];
    for (int k = 0; k < 2; k++) {
        ts_hlo_locations *places = read_tables(arena, broken(arena, k == 1));
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
            snprintf(text, sizeof text, "metadata={stack_frame_id=%zu}", i + 1);
            expect(places, text, wanted[i]);
        }
    }
    /* A row that is cut, and what is no more of any. */
    ts_hlo_locations *places =
        read_tables(arena, "FileNames\n1 \"a\"\n2 \"b\"\nFileLocations\n1 {file_name_id=1 line=1\n2 "
                           "{file_name_id=2\n line=2}\nline=3}\n3 {file_name_id=2 line=4}\nStackFrames\n"
                           "1 {file_location_id=2}\n2 {file_location_id=1\n}\n");
    expect(places, "metadata={stack_frame_id=1}", "b:2 ");
    expect(places, "metadata={stack_frame_id=2}", "a:1 ");
}

/* Parents that are numbers of frames, 0 for none. */
TEST_WITH_ARENA(parents_from_zero) {
    ts_hlo_locations *places = read_tables(
        arena,
        "FileNames\n1 \"a.py\"\n2 \"/site-packages/b.py\"\nFunctionNames\n1 \"f\"\n2 \"g\"\nFileLocations\n"
        "1 {file_name_id=1 function_name_id=1 line=1}\n2 {file_name_id=1 function_name_id=2 line=2}\n"
        "3 {file_name_id=2 function_name_id=2 line=3}\nStackFrames\n1 {file_location_id=1 "
        "parent_frame_id=0}\n"
        "2 {file_location_id=2 parent_frame_id=1}\n3 {file_location_id=3 parent_frame_id=2}\n"
        "4 {file_location_id=3 parent_frame_id=1}\n");
    expect(places, "metadata={stack_frame_id=3}", "a.py:2 g");
    expect(places, "metadata={stack_frame_id=4}", "a.py:1 f");
    expect(places, "metadata={stack_frame_id=1}", "a.py:1 f");
}

TEST_WITH_ARENA(sources) {
    ts_hlo_locations *places = ts_hlo_locations_new(arena);
    const char *first = ", metadata={op_type=\"x\" op_name=\"y\" source_file=\"/a b.py\" source_line=12}",
               *second = ", metadata={source_file=\"/a b.py\" source_line=13}";
    expect(places, first, "/a b.py:12 ");
    int32_t number = find(places, first);
    assert_int_equal(number, 0);
    assert_int_equal(find(places, second), 1);
    assert_int_equal(find(places, first), 2);
    expect(places, second, "/a b.py:13 ");
    expect(places, "metadata={source_file=\"c.py\"}", "c.py:0 ");
    expect(places, "metadata={source_file=\"\" source_line=3}", "none");
}

TEST(fields) {
    ts_span value;
    ts_span attributes =
        span("x={op_name=\"no\"}, metadata={op_type=\"T\" op_name=\"d[\\'b\\']/a=1\" line=3 z=}");
    assert_true(field(attributes, "op_name", &value) && ts_span_is(value, "d[\\'b\\']/a=1"));
    assert_true(field(attributes, "op_type", &value) && ts_span_is(value, "T"));
    assert_true(field(attributes, "line", &value) && ts_span_is(value, "3"));
    assert_true(field(attributes, "z", &value) && value.length == 0);
    assert_false(field(attributes, "op", &value));
    assert_false(field(attributes, "a", &value));
    assert_false(field(span("op_name=\"x\""), "op_name", &value));
}

/* Rows beyond those that are kept have no place. */
TEST_WITH_ARENA(bounded) {
    ts_hlo_locations *places = ts_hlo_locations_new(arena);
    char text[80];
    ts_hlo_locations_row(places, span("1 {file_location_id=1 parent_frame_id=1}")); /* of no table */
    ts_hlo_locations_row(places, span("FileNames"));
    ts_hlo_locations_row(places, span("1 \"a.py\""));
    ts_hlo_locations_row(places, span("FileLocations"));
    ts_hlo_locations_row(places, span("1 {file_name_id=1 line=5}"));
    ts_hlo_locations_row(places, span("StackFrames"));
    for (int i = 0; i <= TS_HLO_LOCATIONS; i++)
        ts_hlo_locations_row(places, span("1 {file_location_id=1 parent_frame_id=1}"));
    snprintf(text, sizeof text, "metadata={stack_frame_id=%d}", TS_HLO_LOCATIONS);
    expect(places, text, "a.py:5 ");
    snprintf(text, sizeof text, "metadata={stack_frame_id=%d}", TS_HLO_LOCATIONS + 1);
    expect(places, text, "none");
    for (int i = 1; i < TS_HLO_LOCATIONS; i++) {
        snprintf(text, sizeof text, "metadata={source_file=\"b.py\" source_line=%d}", i);
        assert_int_equal(find(places, text), i);
    }
    assert_int_equal(find(places, text), TS_HLO_LOCATIONS - 1); /* the last one's again */
    expect(places, "metadata={source_file=\"b.py\" source_line=1}", "none");
    expect(places, "metadata={stack_frame_id=1}", "none");
}
