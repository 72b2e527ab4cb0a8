/* What of a run is drawn in a timeline, what is summed up, and how bursts of HBM become intervals and rates. */
#include <stdio.h>
#include <string.h>

#include "tests/support/test.h"
#include "run/recorder.h"

enum { TRACKS = 5, EVENTS = 8 };

typedef struct {
    ts_arena *arena;
    ts_timeline timeline;
    ts_machine machine;
    row_set rows;
    track_map map;
    buses buses;
    char text[4096]; /* "track:begin+cycles" of each event, and what it says */
    size_t length;
} fixture;

static void print(fixture *f, const ts_trace_event *e) {
    static const char *const kinds[] = {[TS_TIMELINE_BUNDLE] = "",
                                        [TS_TIMELINE_BUS] = " bus",
                                        [TS_TIMELINE_REST] = " rest",
                                        [TS_TIMELINE_COUNTER] = " rate"};
    char *at = f->text + f->length;
    size_t left = sizeof f->text - f->length;
    f->length += (size_t)snprintf(at, left, "%s%d:%lld+%lld%s", f->length > 0 ? ", " : "", e->track,
                                  (long long)e->begin, (long long)e->cycles, kinds[e->kind]);
    at = f->text + f->length;
    left = sizeof f->text - f->length;
    if (e->kind == TS_TIMELINE_REST)
        f->length += (size_t)snprintf(at, left, " %lld of %d", (long long)e->value[0], e->id);
    if (e->kind == TS_TIMELINE_BUS || e->kind == TS_TIMELINE_COUNTER)
        f->length += (size_t)snprintf(at, left, " %lld %lld", (long long)e->value[0], (long long)e->value[1]);
    if (e->kind == TS_TIMELINE_BUS) assert_int_equal(e->value[2], 2 * (e->value[0] + e->value[1]));
}

static void take(void *self, const ts_trace_event *events, int64_t count) {
    for (int64_t i = 0; i < count; i++) print(self, &events[i]);
}

/* A tick of HBM is 1.5 cycles, a burst 2 ticks of 32 bytes. */
static fixture *make(int64_t from, int64_t until) {
    ts_arena *arena = ts_arena_new();
    fixture *f = TS_NEW(arena, fixture);
    f->arena = arena;
    f->machine.chip.sustained_khz = 1500000;
    f->machine.hbm =
        (ts_hbm_config){.clock_khz = 1000000, .ticks_per_ck = 1, .burst_bytes = 32, .timing = {.n_bl = 2}};
    f->timeline = (ts_timeline){
        .machine = &f->machine, .from = from, .until = until, .events = EVENTS, .track_count = TRACKS};
    f->map = (track_map){.buses = 2, .bus_first = 2, .bandwidth = 4};
    ts_trace_init(&f->timeline.trace, arena, 3, take, f);
    rows_init(&f->rows, arena, &f->timeline);
    rows_tell_apart(&f->rows, arena, 1, 3);
    buses_init(&f->buses, arena, &f->rows, &f->map);
    return f;
}

static bool add(fixture *f, int track, int64_t begin, int64_t cycles, int sort) {
    return rows_add(&f->rows, &(ts_trace_event){.begin = begin, .cycles = cycles, .track = track}, sort);
}

static void expect(fixture *f, const char *text) {
    ts_trace_flush(&f->timeline.trace);
    assert_string_equal(f->text, text);
    ts_arena_free(f->arena);
}

TEST(test_cut) {
    fixture *f = make(10, 20);
    add(f, 0, 0, 9, 0);
    add(f, 0, 9, 1, 0);
    add(f, 1, 9, 2, 0);
    add(f, 0, 10, 1, 0);
    add(f, 0, 15, 9, 0);
    add(f, 1, 19, 1, 0);
    add(f, 1, 20, 1, 0);
    assert_false(rows_draws(&f->rows, 9));
    assert_true(rows_draws(&f->rows, 10) && rows_draws(&f->rows, 19));
    assert_false(rows_draws(&f->rows, 20));
    rows_end(&f->rows);
    assert_int_equal(f->timeline.sampled_from, -1);
    expect(f, "1:10+1, 0:10+1, 0:15+5, 1:19+1");
}

/* The 8th event, and no window behind it: all that there is was drawn. */
TEST(test_no_window_left) {
    fixture *f = make(0, INT64_MAX);
    for (int i = 0; i < 8; i++) add(f, 0, i * 10, 2, 0);
    assert_int_equal(f->timeline.thinned, 1);
    assert_int_equal(f->timeline.sampled_from, -1);
    assert_true(rows_draws(&f->rows, 2 * TS_TIMELINE_WINDOW));
    assert_int_equal(f->timeline.sampled_from, -1);
    assert_false(rows_draws(&f->rows, 3 * TS_TIMELINE_WINDOW));
    assert_int_equal(f->timeline.sampled_from, 3 * TS_TIMELINE_WINDOW);
    assert_false(rows_draws(&f->rows, TS_TIMELINE_WINDOW + 5));
    assert_int_equal(f->timeline.sampled_from, TS_TIMELINE_WINDOW);
    rows_end(&f->rows);
    expect(f, "0:0+2, 0:10+2, 0:20+2, 0:30+2, 0:40+2, 0:50+2, 0:60+2, 0:70+2");
}

/* Three intervals a window. The 8th event is in window 2: of those from 3 on every second is drawn. What was
 * not is an event too: the 16th is the second of window 6, the 24th the second of window 14. */
TEST(test_windows) {
    enum { WINDOW = TS_TIMELINE_WINDOW };
    fixture *f = make(0, INT64_MAX);
    char found[17] = "";
    for (int window = 0; window < 16; window++)
        for (int i = 0; i < 3; i++) add(f, 0, window * WINDOW + i * 10, 2, 0);
    for (int window = 0; window < 16; window++)
        found[window] = rows_draws(&f->rows, window * WINDOW + WINDOW - 1) ? '1' : '0';
    assert_string_equal(found, "1110101000100010");
    assert_int_equal(f->timeline.sampled_from, 3 * WINDOW);
    assert_int_equal(f->timeline.thinned, 3);
    rows_end(&f->rows);
    expect(f, "0:0+2, 0:10+2, 0:20+2, 0:1024+2, 0:1034+2, 0:1044+2, 0:2048+2, 0:2058+2, 0:2068+2, "
              "0:3072+6 rest 3 of -1, 0:4096+2, 0:4106+2, 0:4116+2, 0:5120+6 rest 3 of -1, "
              "0:6144+2, 0:6154+2, 0:6164+2, 0:7168+18 rest 9 of -1, 0:10240+2, 0:10250+2, 0:10260+2, "
              "0:11264+18 rest 9 of -1, 0:14336+2, 0:14346+2, 0:14356+2, 0:15360+6 rest 3 of -1");
}

/* Each eight events halve the windows, as long as there are levels. */
TEST(test_levels) {
    fixture *f = make(0, INT64_MAX);
    for (int i = 0; i < EVENTS * (ROWS_LEVELS + 2); i++) {
        const int levels = i / EVENTS < ROWS_LEVELS ? i / EVENTS : ROWS_LEVELS - 1;
        assert_int_equal(f->timeline.thinned, levels);
        rows_put(&f->rows, &(ts_trace_event){.begin = i, .cycles = 1});
        ts_trace_flush(&f->timeline.trace);
        f->length = 0;
    }
    ts_arena_free(f->arena);
}

/* By sort, one after the other, not before the end of what was drawn. */
TEST(test_rests) {
    fixture *f = make(0, 7024);
    for (int i = 0; i < EVENTS; i++) add(f, 0, i, 1, 0);
    assert_false(rows_draws(&f->rows, 1024));
    assert_true(rows_draws(&f->rows, 2048));
    add(f, 1, 2054, 1100, 1);
    add(f, 1, 3154, 3, 2);
    assert_false(add(f, 1, 3164, 5, 0));
    add(f, 1, 3169, 1, 2);
    assert_true(add(f, 1, 4104, 1, 2));
    add(f, 1, 5524, 2000, 1);
    rows_end(&f->rows);
    expect(f, "0:0+1, 0:1+1, 0:2+1, 0:3+1, 0:4+1, 0:5+1, 0:6+1, 0:7+1, 1:2054+1100, 1:3154+5 rest 1 of 0, "
              "1:3159+4 rest 2 of 2, 1:4104+1, 1:5524+1500 rest 1 of 1");
}

static void burst(fixture *f, int bus, int64_t tick, bool is_write) {
    buses_burst(&f->buses, &(ts_hbm_burst){bus, 2, is_write, tick});
}

/* Bursts of 3 cycles. Those at ticks 3 and 6 touch; the one at 9 begins in cycle 13, and the last ended in
 * 12. */
TEST(test_intervals) {
    fixture *f = make(0, 600);
    burst(f, 0, 3, false);
    burst(f, 1, 4, true);
    burst(f, 0, 6, true);
    burst(f, 0, 9, false);
    burst(f, 0, 11, false);
    burst(f, 1, 399, true);
    burst(f, 1, 400, true);
    buses_end(&f->buses);
    assert_int_equal(f->timeline.share, 2);
    expect(f, "2:4+4 bus 1 0, 2:9+3 bus 0 1, 3:6+3 bus 0 1, 2:13+7 bus 2 0, 3:598+2 bus 0 1, "
              "4:0+256 rate 192 128, 4:256+256 rate 0 0, 4:512+256 rate 0 128");
}

/* A run that ends with a bin has no rate behind it. */
TEST(test_whole_bins) {
    fixture *f = make(0, 512);
    burst(f, 0, 3, false);
    burst(f, 0, 200, false);
    buses_end(&f->buses);
    expect(f, "2:4+4 bus 1 0, 2:300+3 bus 1 0, 4:0+256 rate 64 0, 4:256+256 rate 64 0");
}

/* What is older than all bins counts towards the oldest; a long time without bursts is one 0. */
TEST(test_rates) {
    const int64_t far = (int64_t)BUSES_BINS * BUSES_BIN, old = 2 * far + BUSES_BIN;
    char text[256];
    fixture *f = make(0, INT64_MAX);
    f->timeline.events = 1000;
    burst(f, 0, 0, false);
    burst(f, 0, 2 * far, false);
    burst(f, 1, 0, true);
    buses_end(&f->buses);
    snprintf(text, sizeof text,
             "4:0+256 rate 64 0, 4:256+256 rate 0 0, 2:0+3 bus 1 0, 2:%lld+3 bus 1 0, 3:0+3 bus 0 1, "
             "4:%lld+256 rate 0 64, 4:%lld+256 rate 0 0, 4:%lld+256 rate 64 0, 4:%lld+256 rate 0 0",
             (long long)(3 * far), (long long)old, (long long)(old + 256), (long long)(3 * far),
             (long long)(3 * far + 256));
    expect(f, text);
}

/* In windows that are not drawn: their mean, up to where the next is drawn. */
TEST(test_mean_rates) {
    static const int64_t ticks[] = {1417, 2083, 2084, 2383, 2751, 4151}; /* cycles 2125, .. 6226 */
    fixture *f = make(0, INT64_MAX);
    for (int i = 0; i < EVENTS; i++) add(f, 0, i, 1, 0);
    f->timeline.events = 1000;
    f->length = 0;
    for (int i = 0; i < 6; i++) burst(f, i % 2, ticks[i], i == 2);
    buses_end(&f->buses);
    ts_trace_flush(&f->timeline.trace);
    assert_non_null(strstr(f->text, ", 4:2048+256"));
    f->length = (size_t)snprintf(f->text, sizeof f->text, "%s", strstr(f->text, "4:2048+256"));
    expect(f, "4:2048+256 rate 64 0, 4:2304+256 rate 0 0, 4:3072+1024 rate 128 64, 4:4096+256 rate 64 0, "
              "4:4352+256 rate 0 0, 4:6144+256 rate 64 0, 4:6400+256 rate 0 0");
}

/* What is left when the run ends in such windows. */
TEST(test_last_rates) {
    fixture *f = make(0, 1280);
    for (int i = 0; i < EVENTS; i++) add(f, 0, i, 1, 0);
    f->timeline.events = 1000;
    burst(f, 0, 718, false);
    burst(f, 1, 1118, false);
    buses_end(&f->buses);
    rows_end(&f->rows);
    expect(f, "0:0+1, 0:1+1, 0:2+1, 0:3+1, 0:4+1, 0:5+1, 0:6+1, 0:7+1, 4:1024+256 rate 64 0, "
              "2:1077+3 rest 1 of -1");
}
