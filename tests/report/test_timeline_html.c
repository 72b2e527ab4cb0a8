/* Timelines in pages: the events that are kept, what the script gets of them, the tables. */
#include "report/timeline.h"

#include <string.h>

#include "core/core.h"
#include "report/run.h"
#include "report/run_private.h"
#include "tests/support/cells.h"
#include "tests/support/group.h"
#include "tests/support/small_timeline.h"
#include "tests/support/written.h"

static ts_timeline timeline;
static ts_page_trace trace;
static int64_t forwarded;

static void forward(void *self, const ts_trace_event *events, int64_t count) {
    (void)events;
    *(int64_t *)self += count;
}

static void keep(const ts_trace_event *events, int count) {
    ts_page_trace_open(arena, &timeline, &trace);
    for (int i = 0; i < count; i++) ts_trace_add(&timeline.trace, &events[i]);
    ts_trace_flush(&timeline.trace);
    timeline.trace.take = NULL; /* the next one is nobody's second */
}

static const char *json(void) {
    ts_text out = ts_text_begin(arena);
    ts_report_page_trace_json(&trace, &out);
    return out.bytes;
}

static const char *section(void (*add)(const ts_page_trace *t, page *p)) {
    ts_text out = ts_text_begin(arena);
    page p = {.out = &out};
    add(&trace, &p);
    return out.bytes;
}

static const char *cells(void (*add)(const ts_page_trace *t, page *p)) {
    return cells_of(arena, section(add));
}

#define EVENT(kind, begin, cycles, track, id, part)                                                          \
    { begin, cycles, {0}, TS_TIMELINE_##kind, SMALL_##track, id, part }

/* ---- For the script ---- */

/* Kinds have a name, a place and a colour: 1 valu, 2 misc, 3 vld, 4 eup, 5 mxu, 6 scalar, 7 xlu, 8 vst. */
TEST(names_places_and_colours) {
    static const struct {
        ts_trace_event event;
        const char *text;
    } rows[] = {
        {EVENT(BUNDLE, 0, 1, BUNDLES, 2, 0), "[\"vld ; sadd\",\"line 7\",1]"},
        {EVENT(INSTRUCTION, 0, 1, BUNDLES, 2, 0), "[\"vld\",\"line 7\",3]"},
        {EVENT(INSTRUCTION, 0, 1, BUNDLES, 2, 1), "[\"sadd\",\"line 7\",6]"},
        {EVENT(INSTRUCTION, 0, 1, BUNDLES, 0, 0), "[\"dma\",\"line 4\",2]"},
        {EVENT(STALL, 0, 1, BUNDLES, TS_STALL_SEMAPHORE, 1),
         "[\"waiting for a DMA, or another semaphore\",\"line 5\",2]"},
        {EVENT(STALL, 0, 1, BUNDLES, TS_STALL_WAIT, 2), "[\"not ready: scalar arithmetic\",\"line 7\",6]"},
        {EVENT(TRANSFER, 0, 1, TRANSFERS, 0, 3), "[\"xb <- x\",\"line 4\",2]"},
        {EVENT(MESSAGE, 0, 1, BUS, 0, 3), "[\"xb <- x\",\"line 4\",7]"},
        {EVENT(MESSAGE, 0, 1, BUS, -1, 1), "[\"signal ready[1]\",\"\",7]"},
        {{0, 1, {1, 0}, TS_TIMELINE_BUS, SMALL_BUS, 0, 0}, "[\"read\",\"\",3]"},
        {{0, 1, {0, 1}, TS_TIMELINE_BUS, SMALL_BUS, 0, 0}, "[\"write\",\"\",5]"},
        {{0, 1, {1, 1}, TS_TIMELINE_BUS, SMALL_BUS, 0, 0}, "[\"read, write\",\"\",5]"},
        {EVENT(REST, 0, 1, BUS, -1, 0), "[\"summed up\",\"\",0]"},
        {EVENT(REST, 0, 1, BUS, TS_STALL_WAIT, 0), "[\"not ready: scalar arithmetic\",\"\",6]"},
        {EVENT(REST, 0, 1, BUS, TS_STALL_SEMAPHORE, 0),
         "[\"waiting for a DMA, or another semaphore\",\"\",2]"},
        {EVENT(ENTER, 0, 0, REGIONS, 0, 0), "[\"sum\",\"\",1]"},
    };
    timeline = small_timeline(arena);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        keep(&rows[i].event, 1);
        assert_string_equal(strstr(json(), ",\n\"what\""),
                            ts_text_format(arena, ",\n\"what\":[%s]}", rows[i].text));
    }
}

/* A wait has the colour of the unit that is waited for. */
TEST(colours_of_waits) {
    static const char *const units[] = {"", "valu", "misc", "vld", "eup", "mxu", "scalar", "xlu", "vst"};
    timeline = small_timeline(arena);
    for (int latency = 0; latency < TS_LATENCY_COUNT; latency++) {
        const ts_trace_event event = EVENT(REST, 0, 1, BUS, TS_STALL_WAIT + latency, 0);
        const char *unit = ts_report_stall_unit(TS_STALL_WAIT + latency);
        int colour = 8;
        while (colour > 0 && strcmp(units[colour], unit) != 0) colour--;
        keep(&event, 1);
        assert_holds(json(), ts_text_format(arena, "\"\",%d]]}", colour > 0 ? colour : 2));
    }
}

/* The ninth region has the colour of the first. */
TEST(colours_of_regions) {
    ts_program *program = TS_NEW(arena, ts_program);
    ts_program_region regions[10];
    timeline = small_timeline(arena);
    *program = *timeline.program;
    for (int i = 0; i < 10; i++) regions[i] = timeline.program->regions[0];
    program->regions = regions;
    timeline.program = program;
    for (int i = 0; i < 10; i++) {
        const ts_trace_event event = EVENT(ENTER, 0, 0, REGIONS, i, 0);
        keep(&event, 1);
        assert_holds(json(), ts_text_format(arena, "[\"sum\",\"\",%d]]}", i < 8 ? 1 + i : i - 7));
    }
}

/* [gap, cycles, what, how many or bytes] of each, in its row. What is alike has one number. */
TEST(events_by_row) {
    static const ts_trace_event events[] = {
        {4, 0, {SMALL_BUNDLES, 9, -1, 0}, TS_TIMELINE_ARROW, SMALL_TRANSFERS, 0, 0},
        {5, 2, {0}, TS_TIMELINE_BUNDLE, SMALL_BUNDLES, 2, 0},
        {3, 20, {7, 8, 9, 10}, TS_TIMELINE_TRANSFER, SMALL_TRANSFERS, 0, 1},
        {9, 1, {0}, TS_TIMELINE_STALL, SMALL_BUNDLES, TS_STALL_SEMAPHORE, 1},
        {10, 2, {0}, TS_TIMELINE_BUNDLE, SMALL_BUNDLES, 2, 0},
        {24, 6, {1, 0, 0, 0}, TS_TIMELINE_TRANSFER, SMALL_TRANSFERS, 0, 2},
        {24, 0, {SMALL_BUNDLES, 28, SMALL_BUS, 26}, TS_TIMELINE_ARROW, SMALL_TRANSFERS, 0, 0},
        {0, 0, {0}, TS_TIMELINE_ENTER, SMALL_REGIONS, 0, 0},
        {31, 0, {0}, TS_TIMELINE_LEAVE, SMALL_REGIONS, 0, 0},
    };
    timeline = small_timeline(arena);
    timeline.from = 3;
    keep(events, 9);
    assert_string_equal(
        json(),
        "{\"from\":3,\"to\":31,\"notes\":\"\",\n\"tracks\":["
        "{\"number\":0,\"row\":{\"process\":\"core 0\",\"name\":\"bundles\",\"rate\":0,\"series\":[],"
        "\"regions\":0,\"events\":[5,2,0,0,4,1,1,0,1,2,0,0]}},\n"
        "{\"number\":1,\"row\":{\"process\":\"core 0\",\"name\":\"transfers\",\"rate\":0,\"series\":[],"
        "\"regions\":0,\"events\":[3,20,2,7,21,6,2,1]}},\n"
        "{\"number\":5,\"row\":{\"process\":\"core 0\",\"name\":\"regions\",\"rate\":0,\"series\":[],"
        "\"regions\":1,\"events\":[0,1,3,0,31,0,0,0]}}],\n"
        "\"arrows\":[1,4,-1,0,0,9,1,24,3,26,0,28],\n"
        "\"what\":[[\"vld ; sadd\",\"line 7\",1],\n[\"waiting for a DMA, or another semaphore\",\"line "
        "5\",2],\n"
        "[\"xb <- x\",\"line 4\",2],\n[\"sum\",\"\",1]]}");
}

/* Of buses bursts, of messages bytes, of counters values, of rates hundredths of 10^9 bytes a second. */
TEST(numbers_of_events) {
    static const ts_trace_event events[] = {
        {1, 2, {3, 4, 5}, TS_TIMELINE_BUS, SMALL_BUS, 0, 0},
        {6, 2, {9, 0, 5}, TS_TIMELINE_BUS, SMALL_BUS, 0, 0},
        {10, 2, {3, 4, 77}, TS_TIMELINE_MESSAGE, SMALL_BUS, 0, 0},
        {12, 2, {78, 4, 5}, TS_TIMELINE_REST, SMALL_BUS, -1, 0},
        {3, 0, {17, 3}, TS_TIMELINE_COUNTER, SMALL_QUEUE, 0, 0},
        {2, 200, {1009, 8}, TS_TIMELINE_COUNTER, SMALL_RATE, 0, 0},
        {1, 0, {0}, TS_TIMELINE_LEAVE, SMALL_REGIONS, 0, 0},
        {2, 0, {0}, TS_TIMELINE_ENTER, SMALL_REGIONS, 0, 0},
    };
    timeline = small_timeline(arena);
    keep(events, 8);
    assert_holds(json(), "\"to\":14,");
    assert_holds(json(), "\"name\":\"bus\",\"rate\":0,\"series\":[],\"regions\":0,"
                         "\"events\":[1,2,0,7,5,2,1,9,4,2,2,77,2,2,3,78]}}");
    assert_holds(json(),
                 "\"name\":\"queue\",\"rate\":0,\"series\":[\"dma\"],\"regions\":0,\"events\":[3,17,3,0]}}");
    assert_holds(json(), "\"name\":\"GB/s\",\"rate\":1,\"series\":[\"read\",\"written\"],\"regions\":0,"
                         "\"events\":[2,1009,8,0]}}");
    assert_holds(json(), "\"regions\":1,\"events\":[1,0,0,0,1,1,4,0]}}");
    keep(events, 1);
    assert_holds(json(), "\"to\":3,");
    keep(events, 0);
    assert_string_equal(json(),
                        "{\"from\":0,\"to\":1,\"notes\":\"\",\n\"tracks\":[],\n\"arrows\":[],\n\"what\":[]}");
}

/* A transfer's core, or what is left of a message's, is nothing that tells them apart; a bus's bursts are. */
TEST(what_is_alike) {
    static const struct {
        ts_trace_event one, other;
        bool alike;
    } rows[] = {
        {EVENT(BUNDLE, 0, 1, BUNDLES, 2, 0), EVENT(BUNDLE, 0, 1, BUNDLES, 1, 0), false},
        {EVENT(INSTRUCTION, 0, 1, BUNDLES, 2, 0), EVENT(INSTRUCTION, 0, 1, BUNDLES, 2, 1), false},
        {EVENT(TRANSFER, 0, 1, BUNDLES, 0, 0), EVENT(TRANSFER, 0, 1, BUNDLES, 0, 1), true},
        {EVENT(TRANSFER, 0, 1, BUNDLES, 0, 0), EVENT(MESSAGE, 0, 1, BUNDLES, 0, 0), false},
        {EVENT(MESSAGE, 0, 1, BUNDLES, -1, 0), EVENT(MESSAGE, 0, 1, BUNDLES, -1, 1), false},
        {EVENT(REST, 0, 1, BUNDLES, -1, 0), EVENT(REST, 0, 1, BUNDLES, -1, 7), true},
        {EVENT(REST, 0, 1, BUNDLES, -1, 0), EVENT(REST, 0, 1, BUNDLES, 0, 0), false},
        {{0, 1, {1, 0}, TS_TIMELINE_BUS, 0, 1, 2}, {0, 1, {2, 0}, TS_TIMELINE_BUS, 0, 3, 4}, true},
        {{0, 1, {1, 0}, TS_TIMELINE_BUS, 0, 0, 0}, {0, 1, {1, 1}, TS_TIMELINE_BUS, 0, 0, 0}, false},
        {{0, 1, {0, 1}, TS_TIMELINE_BUS, 0, 0, 0}, {0, 1, {1, 1}, TS_TIMELINE_BUS, 0, 0, 0}, false},
    };
    timeline = small_timeline(arena);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        keep((ts_trace_event[]){rows[i].one, rows[i].other}, 2);
        bool alike = strstr(strstr(json(), "\"what\""), "],\n[") == NULL;
        if (alike != rows[i].alike) fail_msg("row %zu", i);
    }
}

/* Who took events before takes them still. So many are kept, and it is said from where on others are not. */
TEST(what_is_kept) {
    enum { MOST = 360000 };
    ts_trace_event *events = TS_NEW_ARRAY(arena, ts_trace_event, MOST + 3);
    timeline = small_timeline(arena);
    for (int i = 0; i < MOST + 3; i++)
        events[i] = (ts_trace_event){i, 1, {0}, TS_TIMELINE_BUNDLE, SMALL_BUNDLES, 2, 0};
    events[MOST + 1].begin = 0; /* of another row */
    forwarded = 0;
    ts_trace_init(&timeline.trace, arena, 5, forward, &forwarded);
    keep(events, 10000);
    assert_int_equal(forwarded, 10000);
    assert_int_equal(trace.count, 10000);
    for (int i = 0; i < 10000; i++) assert_int_equal(trace.events[i].begin, i);
    assert_int_equal(trace.end, -1);
    timeline = small_timeline(arena);
    keep(events, MOST);
    assert_int_equal(trace.end, -1);
    timeline = small_timeline(arena);
    keep(events, MOST + 3);
    assert_int_equal(trace.count, MOST);
    assert_int_equal(trace.end, 0);
    trace.end = MOST - 5;
    trace.count = 1;
    assert_holds(json(),
                 "\"notes\":\"this page has no room for what begins from cycle 359,995 on: --from and "
                 "--until choose\\n\"");
    trace.end = 0;
    assert_holds(json(), "from cycle 0 on: ");
}

/* ---- Tables ---- */

TEST(rows_as_a_table) {
    static const ts_trace_event events[] = {
        {4, 2, {0}, TS_TIMELINE_BUNDLE, SMALL_BUNDLES, 2, 0},
        {6, 3, {10}, TS_TIMELINE_REST, SMALL_BUNDLES, -1, 0},
        {24, 1000, {1}, TS_TIMELINE_TRANSFER, SMALL_TRANSFERS, 0, 2},
        {0, 0, {0}, TS_TIMELINE_ENTER, SMALL_REGIONS, 0, 0},
        {0, 0, {0}, TS_TIMELINE_LEAVE, SMALL_REGIONS, 0, 0},
        {3, 4, {17, 3}, TS_TIMELINE_COUNTER, SMALL_QUEUE, 0, 0},
    };
    timeline = small_timeline(arena);
    timeline.from = 24;
    keep(events, 6);
    assert_holds(cells(report_timeline_section), "The rows of the timeline as a table"
                                                 "+of|+row|+events|+cycles busy|+share|\n"
                                                 "core 0|bundles|11|5|0.5 %|\n"
                                                 "core 0|transfers|1|1,000|100.0 %|\n"
                                                 "core 0|queue|1|||\n"
                                                 "core 0|regions|1|||\n");
    assert_holds(section(report_timeline_section),
                 "<h2>Timeline</h2>\n<div id=\"timeline\"></div>\n<details>");
    assert_holds(section(report_timeline_section), "id=\"timeline-data\">{\"from\":24,\"to\":1024,");
    keep(events, 0);
    assert_string_equal(section(report_timeline_section), "");
}

/* Cycles are from start to completion; the rate is of useful bytes: 10000 in 1000 cycles of half a nanosecond. */
TEST(transfers_by_line) {
    static const ts_trace_event events[] = {
        {4, 2, {0}, TS_TIMELINE_BUNDLE, SMALL_BUNDLES, 2, 0},
        {6, 3, {4000, 5000, 1, 600}, TS_TIMELINE_TRANSFER, SMALL_TRANSFERS, 0, 0},
        {9, 3, {6000, 7000, 1, 400}, TS_TIMELINE_TRANSFER, SMALL_TRANSFERS, 0, 0},
    };
#define ROW "+line|+transfer|+times|+useful bytes|+bytes moved|+cycles each|+the longest|+GB/s each|\n"
    timeline = small_timeline(arena);
    keep(events, 3);
    assert_string_equal(
        cells(report_transfers_section),
        "TransfersBy line. Cycles are from start to completion; bytes moved count both ends." ROW
        "line 4|xb &lt;- x|2|10,000|12,000|500.0|600|20.0|\n");
    trace.end = 0;
    assert_holds(cells(report_transfers_section), "By line, of those that the timeline draws one by one.");
    trace.end = -1;
    timeline.sampled_from = 0;
    assert_holds(cells(report_transfers_section), "By line, of those that the timeline draws one by one.");
    trace.events[1].value[3] = trace.events[2].value[3] = 0;
    assert_holds(cells(report_transfers_section), "|0.0|0|0.0|\n");
    keep(events, 1);
    assert_string_equal(section(report_transfers_section), "");
}

/* Of one line, but of other tensors, or of other lines, they are told apart. */
TEST(transfers_that_differ) {
    ts_transfer transfers[5];
    ts_trace_event events[5];
    ts_program *program = TS_NEW(arena, ts_program);
    timeline = small_timeline(arena);
    *program = *timeline.program;
    timeline.program = program;
    for (int i = 0; i < 5; i++) {
        transfers[i] = program->code.transfers[0];
        events[i] = (ts_trace_event){i, 1, {1, 2, 3, 1}, TS_TIMELINE_TRANSFER, SMALL_TRANSFERS, i, 0};
    }
    program->code.transfers = transfers;
    program->code.transfer_count = 5;
    transfers[1].line = 5;
    transfers[2].source.tensor = 1;
    transfers[3].destination.tensor = 0;
    keep(events, 5);
#define BEHIND "|1|2|1.0|1|2.0|\n"
    assert_holds(cells(report_transfers_section),
                 ROW "line 4|xb &lt;- x|2|2|4|1.0|1|2.0|\nline 5|xb &lt;- x|1" BEHIND
                     "line 4|xb &lt;- xb|1" BEHIND "line 4|x &lt;- x|1" BEHIND);
}

int main(void) { return run_all_tests(begin_group, end_group); }
