/* A trace hands on all events, in order, when its buffer is full. */
#include "probe/counter.h"
#include "probe/trace.h"
#include "tests/support/test.h"

typedef struct {
    int64_t next, calls;
} taker;

static void take(void *self, const ts_trace_event *events, int64_t count) {
    taker *t = self;
    for (int64_t i = 0; i < count; i++) assert_int_equal(events[i].begin, t->next++);
    t->calls++;
}

TEST_WITH_ARENA(test_buffer) {
    ts_trace trace;
    taker t = {0};
    ts_trace_init(&trace, arena, 4, take, &t);
    ts_trace_flush(&trace);
    assert_int_equal(t.calls, 0);
    for (int i = 0; i < 9; i++) {
        ts_trace_add(&trace, &(ts_trace_event){.begin = i});
        assert_int_equal(t.next, (i + 1) / 4 * 4);
        assert_int_equal(t.calls, (i + 1) / 4);
    }
    ts_trace_flush(&trace);
    assert_int_equal(t.next, 9); /* one was left */
    assert_int_equal(t.calls, 3);
    assert_int_equal(trace.added, 9);
    ts_trace_flush(&trace);
    assert_int_equal(t.calls, 3);
}

/* Names are keys of JSON: each has a text, and no two are alike. */
TEST(test_counters) {
    for (int i = 0; i < TS_COUNTER_COUNT; i++) {
        const ts_counter_info *info = ts_counter_get((ts_counter)i);
        assert_true(info->name[0] != '\0' && info->unit[0] != '\0' && info->meaning[0] != '\0');
        for (int j = 0; j < i; j++) assert_string_not_equal(info->name, ts_counter_get((ts_counter)j)->name);
    }
}
