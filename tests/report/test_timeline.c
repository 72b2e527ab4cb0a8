/* Timelines as Chrome's trace events: each kind of event, names of rows, times, what is left out. */
#include "report/timeline.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tilesim/version.h"

#include "core/core.h"
#include "report/run_private.h"
#include "tests/support/group.h"
#include "tests/support/small_timeline.h"
#include "tests/support/written.h"
#include "tests/support/temporary.h"

static char path[TEMPORARY_PATH];
static ts_timeline timeline;

/* The file of these events. */
static const char *file_of(const ts_trace_event *events, int count) {
    ts_error err = {0};
    ts_chrome_trace trace;
    char *bytes;
    size_t length;
    assert_true(ts_chrome_trace_open(&err, arena, path, &timeline, &trace));
    for (int i = 0; i < count; i++) ts_trace_add(&timeline.trace, &events[i]);
    ts_trace_flush(&timeline.trace);
    assert_true(ts_chrome_trace_close(&err, &trace));
    assert_true(ts_file_read(&err, arena, path, 1 << 24, &bytes, &length));
    return bytes;
}

#define HEAD "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
#define ABOUT                                                                                                \
    "\n],\"otherData\":{\"tilesim\":\"" TS_VERSION "\",\"program\":\"a.tsim\",\"machine\":\"m (of hand)\","  \
    "\"time\":\"1 ns is 1 cycle of the core, 2000000 kHz\",\"left_out\":"

static int set_up(void **state) {
    begin_group(state);
    int file = mkstemp(temporary_path(path, "tilesim-test-XXXXXX"));
    return file < 0 ? -1 : close(file);
}

static int tear_down(void **state) {
    unlink(path);
    return end_group(state);
}

/* ---- Events ---- */

#define BEGIN(phase, process, row, ts)                                                                       \
    "{\"ph\":\"" phase "\",\"pid\":" #process ",\"tid\":" #row ",\"ts\":" ts
#define X(process, row, name, args)                                                                          \
    BEGIN("X", process, row, "1.500") ",\"dur\":0.002,\"name\":\"" name "\",\"args\":{" args "}}"
#define LINE(line) "\"file\":\"a.tsim\",\"line\":" #line

TEST(each_kind_of_event) {
    static const struct {
        ts_trace_event event;
        const char *text;
    } rows[] = {
        {{1500, 2, {0}, TS_TIMELINE_BUNDLE, SMALL_BUNDLES, 2, 0}, X(1, 100, "vld ; sadd", LINE(7))},
        {{1500, 2, {0}, TS_TIMELINE_BUNDLE, SMALL_BUNDLES, 0, 0}, X(1, 100, "dma", LINE(4))},
        {{1500, 2, {0}, TS_TIMELINE_INSTRUCTION, SMALL_BUNDLES, 2, 1}, X(1, 100, "sadd", LINE(7))},
        {{1500, 2, {0}, TS_TIMELINE_STALL, SMALL_BUNDLES, TS_STALL_SEMAPHORE, 1},
         X(1, 100, "semaphore_low", LINE(5))},
        {{1500, 2, {11, 12, 13, 14}, TS_TIMELINE_TRANSFER, SMALL_TRANSFERS, 0, 5},
         X(1, 101, "xb <- x",
           LINE(4) ",\"useful_bytes\":11,\"moved_bytes\":12,\"issued_cycle\":13,\"cycles_from_issue\":14")},
        {{1500, 2, {2, 0, 5}, TS_TIMELINE_BUS, SMALL_BUS, 0, 0},
         X(2, 103, "read", "\"reads\":2,\"writes\":0,\"ticks\":5")},
        {{1500, 2, {0, 1, 5}, TS_TIMELINE_BUS, SMALL_BUS, 0, 0},
         X(2, 103, "write", "\"reads\":0,\"writes\":1,\"ticks\":5")},
        {{1500, 2, {1, 1, 5}, TS_TIMELINE_BUS, SMALL_BUS, 0, 0},
         X(2, 103, "read, write", "\"reads\":1,\"writes\":1,\"ticks\":5")},
        {{1500, 2, {3, 4, 5}, TS_TIMELINE_MESSAGE, SMALL_BUS, 0, 1},
         X(2, 103, "xb <- x", LINE(4) ",\"from\":3,\"to\":4,\"bytes\":5")},
        {{1500, 2, {3, 4, 5}, TS_TIMELINE_MESSAGE, SMALL_BUS, -1, 1},
         X(2, 103, "signal ready[1]", "\"from\":3,\"to\":4,\"bytes\":5")},
        {{1500, 2, {3}, TS_TIMELINE_REST, SMALL_BUS, -1, 0}, X(2, 103, "sum of", "\"sum_of\":3")},
        {{1500, 2, {3}, TS_TIMELINE_REST, SMALL_BUS, TS_STALL_BARRIER, 0},
         X(2, 103, "barrier", "\"sum_of\":3")},
        {{1500, 2, {3}, TS_TIMELINE_REST, SMALL_BUS, 0, 0}, X(2, 103, "wait_scalar", "\"sum_of\":3")},
        {{1500, 0, {0}, TS_TIMELINE_ENTER, SMALL_REGIONS, 0, 0},
         BEGIN("B", 1, 105, "1.500") ",\"name\":\"sum\"}"},
        {{1500, 0, {0}, TS_TIMELINE_LEAVE, SMALL_REGIONS, 0, 0}, BEGIN("E", 1, 105, "1.500") "}"},
        {{1500, 0, {17, 3}, TS_TIMELINE_COUNTER, SMALL_QUEUE, 0, 0},
         BEGIN("C", 1, 102, "1.500") ",\"name\":\"queue\",\"args\":{\"dma\":17}}"},
        /* 1009 bytes in 200 cycles of half a nanosecond are 10.09 GB/s, 8 are 0.08. */
        {{1500, 200, {1009, 8}, TS_TIMELINE_COUNTER, SMALL_RATE, 0, 0},
         BEGIN("C", 2, 104, "1.500") ",\"name\":\"GB/s\",\"args\":{\"read\":10.09,\"written\":0.08}}"},
        /* 1.001 would be read as 1.000999..: as cycle 1000. */
        {{1001, 0, {0}, TS_TIMELINE_LEAVE, SMALL_REGIONS, 0, 0}, BEGIN("E", 1, 105, "1.0011") "}"},
        {{1002, 0, {0}, TS_TIMELINE_LEAVE, SMALL_REGIONS, 0, 0}, BEGIN("E", 1, 105, "1.002") "}"},
        {{7, 0, {0}, TS_TIMELINE_LEAVE, SMALL_REGIONS, 0, 0}, BEGIN("E", 1, 105, "0.007") "}"},
    };
    timeline = small_timeline(arena);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *text = file_of(&rows[i].event, 1), *end = strstr(text, ",\n{\"ph\":\"M\"");
        assert_non_null(end);
        assert_string_equal(ts_text_format(arena, "%.*s", (int)(end - text), text),
                            ts_text_format(arena, "%s%s", HEAD, rows[i].text));
    }
}

/* Of several cores it is said which one asked. */
TEST(transfers_of_cores) {
    static const ts_trace_event event = {0, 1, {11}, TS_TIMELINE_TRANSFER, SMALL_TRANSFERS, 0, 5};
    timeline = small_timeline(arena);
    ts_program *program = TS_NEW(arena, ts_program);
    *program = *timeline.program;
    program->code.cores = 2;
    timeline.program = program;
    assert_holds(file_of(&event, 1), LINE(4) ",\"core\":5,\"useful_bytes\":11,");
}

#define POINT(phase, row, ts, rest)                                                                          \
    BEGIN(phase, 1, row, ts) ",\"cat\":\"dma\",\"name\":\"dma\",\"id\":" rest "}"

/* From row to row, through a third where it is drawn. */
TEST(arrows) {
    static const ts_trace_event events[] = {
        {10, 0, {SMALL_BUNDLES, 40, SMALL_QUEUE, 20}, TS_TIMELINE_ARROW, SMALL_TRANSFERS, 0, 0},
        {50, 0, {SMALL_BUNDLES, 60, -1, 0}, TS_TIMELINE_ARROW, SMALL_TRANSFERS, 0, 0},
        {70, 0, {SMALL_TRANSFERS, 90, 0, 80}, TS_TIMELINE_ARROW, SMALL_TRANSFERS, 0, 0},
    };
    timeline = small_timeline(arena);
    assert_holds(
        file_of(events, 3),
        HEAD
            POINT("s", 101, "0.010", "1") ",\n" POINT("t", 102, "0.020", "1") ",\n" POINT("f", 100, "0.040", "1,\"bp\":\"e\"") ",\n" POINT(
                "s", 101, "0.050",
                "2") ",\n" POINT("f", 100, "0.060",
                                 "2,\"bp\":\"e\"") ",\n" POINT("s", 101, "0.070",
                                                               "3") ",\n" POINT("t", 100, "0.080",
                                                                                "3") ",\n" POINT("f", 101,
                                                                                                 "0.090",
                                                                                                 "3,\"bp\":"
                                                                                                 "\"e\"") ","
                                                                                                          "\n"
                                                                                                          "{"
                                                                                                          "\""
                                                                                                          "ph"
                                                                                                          "\""
                                                                                                          ":"
                                                                                                          "\""
                                                                                                          "M"
                                                                                                          "\"");
}

/* ---- Rows ---- */

#define META(process, row, what, args)                                                                       \
    "{\"ph\":\"M\",\"pid\":" #process ",\"tid\":" #row ",\"name\":\"" what "\",\"args\":{" args "}}"
#define PROCESS(number, name, index)                                                                         \
    META(number, 0, "process_name", "\"name\":\"" name "\"")                                                 \
    ",\n" META(number, 0, "process_sort_index", "\"sort_index\":" #index)
#define ROW(process, row, name, index)                                                                       \
    META(process, row, "thread_name", "\"name\":\"" name "\"")                                               \
    ",\n" META(process, row, "thread_sort_index", "\"sort_index\":" #index)

/* Those with events, and their processes; a counter's name is in its events. */
TEST(rows_have_names) {
    static const ts_trace_event events[] = {
        {0, 1, {0}, TS_TIMELINE_BUNDLE, SMALL_BUNDLES, 2, 0},
        {0, 1, {0}, TS_TIMELINE_COUNTER, SMALL_QUEUE, 0, 0},
        {0, 1, {1}, TS_TIMELINE_BUS, SMALL_BUS, 0, 0},
        {0, 1, {0}, TS_TIMELINE_LEAVE, SMALL_REGIONS, 0, 0},
    };
    timeline = small_timeline(arena);
    assert_string_equal(file_of(events, 0), HEAD ABOUT "\"\"}}\n");
    assert_holds(file_of(events, 2),
                 "{\"dma\":0}},\n" PROCESS(1, "core 0", 0) ",\n" ROW(1, 100, "bundles", 0) ABOUT "\"\"}}\n");
    assert_holds(file_of(&events[2], 2),
                 "},\n" PROCESS(2, "HBM", 1) ",\n" ROW(2, 103, "bus", 3) ",\n" PROCESS(
                     1, "core 0", 0) ",\n" ROW(1, 105, "regions", 5) ABOUT);
    timeline.share = 16;
#define LABEL(process) META(process, 0, "process_labels", "\"labels\":\"one of 16 channels is simulated\"")
    assert_holds(file_of(&events[2], 2),
                 PROCESS(2, "HBM", 1) ",\n" LABEL(2) ",\n" ROW(2, 103, "bus", 3) ",\n" PROCESS(
                     1, "core 0", 0) ",\n" ROW(1, 105, "regions", 5));
    timeline.share = 2;
    assert_holds(file_of(&events[2], 1), "one of 2 channels");
    timeline.mesh = &(ts_mesh){0};
    timeline.share = 16;
    assert_holds(file_of(events, 1), PROCESS(1, "core 0", 0) ",\n" LABEL(1));
}

/* Numbers of rows are above those of processes, of which a mesh may have many. */
TEST(rows_of_many_processes) {
    static const ts_trace_event event = {0, 1, {0}, TS_TIMELINE_BUNDLE, SMALL_BUNDLES, 2, 0};
    const char *processes[100];
    timeline = small_timeline(arena);
    for (int i = 0; i < 100; i++) processes[i] = "p";
    timeline.processes = processes;
    timeline.process_count = 99;
    assert_holds(file_of(&event, 1), HEAD "{\"ph\":\"X\",\"pid\":1,\"tid\":100,");
    timeline.process_count = 100;
    assert_holds(file_of(&event, 1), HEAD "{\"ph\":\"X\",\"pid\":1,\"tid\":101,");
}

/* Written in parts, of 64 KiB or a little more, and nothing is lost between them. */
TEST(long_files) {
    enum { COUNT = 3000 };
    ts_trace_event *events = TS_NEW_ARRAY(arena, ts_trace_event, COUNT);
    timeline = small_timeline(arena);
    for (int i = 0; i < COUNT; i++)
        events[i] = (ts_trace_event){i, 1, {0}, TS_TIMELINE_LEAVE, SMALL_REGIONS, 0, 0};
    const char *text = file_of(events, COUNT);
    int found = 0;
    for (const char *at = text; (at = strstr(at, "},\n{\"ph\":\"E\"")) != NULL; at++) found++;
    assert_int_equal(found, COUNT - 1);
    assert_true(ts_text_ends(text, "\"left_out\":\"\"}}\n"));
}

TEST(files_that_cannot_be_written) {
    ts_error err = {0};
    ts_chrome_trace trace;
    timeline = small_timeline(arena);
    assert_false(ts_chrome_trace_open(&err, arena, "/none/such/file", &timeline, &trace));
    assert_int_equal(err.kind, TS_ERROR_IO);
    err = (ts_error){0};
    assert_true(ts_chrome_trace_open(&err, arena, "/dev/full", &timeline, &trace));
    assert_false(ts_chrome_trace_close(&err, &trace));
    assert_int_equal(err.kind, TS_ERROR_IO);
    assert_true(ts_chrome_trace_open(NULL, arena, "/dev/full", &timeline, &trace));
    ts_error_set(&trace.err, TS_ERROR_IO, "before");
    assert_false(ts_chrome_trace_close(&err, &trace));
    assert_string_equal(err.message, "before");
}

/* ---- What is left out ---- */

static const char *notes(void) {
    ts_text out = ts_text_begin(arena);
    ts_report_timeline_notes(&timeline, &out);
    return out.bytes;
}

TEST(what_is_left_out) {
    timeline = small_timeline(arena);
    assert_string_equal(notes(), "");
    timeline.from = 1;
    timeline.cycles = 12345;
    assert_string_equal(notes(), "no event begins in the cycles asked for, from 1 on: the run has 12,345\n");
    timeline.trace.added = 1;
    timeline.sampled_from = 0;
    timeline.thinned = 11;
    assert_string_equal(notes(),
                        "from cycle 0 on, events are drawn in one of 2 windows of 1,024 cycles, later one of "
                        "up to 2,048, and are summed up in the others\n");
    timeline.sampled_from = -1;
    timeline.recalled = 1;
    assert_string_equal(notes(),
                        "the time of 1 transfer is recalled, and HBM does not show them; --exact simulates "
                        "all\n");
}

int main(void) { return run_all_tests(set_up, tear_down); }
