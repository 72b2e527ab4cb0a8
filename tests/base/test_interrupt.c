/* Whether long work is to end: asked now and then. */
#include "base/interrupt.h"

#include "base/host_clock.h"
#include "tests/support/test.h"

typedef struct {
    int asked, answer;
} caller;

static int stopped(void *context) {
    caller *c = context;
    c->asked++;
    return c->answer;
}

TEST(nobody_stops_it) { assert_false(ts_interrupt_is_heard(NULL)); }

TEST(the_answer_is_heard) {
    static const int answers[] = {0, 1, -1};
    for (int i = 0; i < 3; i++) {
        caller c = {.answer = answers[i]};
        ts_interrupt interrupt = {.stopped = stopped, .context = &c};
        assert_int_equal(ts_interrupt_is_heard(&interrupt), answers[i] != 0);
        assert_int_equal(c.asked, 1);
    }
}

/* What was asked a moment before is not asked again; what was asked a second before is. */
TEST(it_is_asked_now_and_then) {
    caller c = {.answer = 1};
    double now = ts_host_seconds(CLOCK_MONOTONIC);
    ts_interrupt interrupt = {.stopped = stopped, .context = &c, .asked_at = now + 3600};
    assert_false(ts_interrupt_is_heard(&interrupt));
    assert_int_equal(c.asked, 0);
    interrupt.asked_at = now - 1;
    assert_true(ts_interrupt_is_heard(&interrupt));
    assert_int_equal(c.asked, 1);
    assert_true(interrupt.asked_at >= now);
}

/* However often it could be: 20 times a second. */
TEST(it_is_not_asked_each_time) {
    caller c = {.answer = 0};
    ts_interrupt interrupt = {.stopped = stopped, .context = &c};
    double begun = ts_host_seconds(CLOCK_MONOTONIC);
    for (int i = 0; i < 1000; i++) assert_false(ts_interrupt_is_heard(&interrupt));
    assert_true(c.asked <= 1 + (ts_host_seconds(CLOCK_MONOTONIC) - begun) * 20);
}

/* Those who end what they do, one after another, need not be told each. */
TEST(what_is_heard_stays) {
    caller c = {.answer = 1};
    ts_interrupt interrupt = {.what = "the work", .stopped = stopped, .context = &c};
    ts_error err = {0};
    assert_true(ts_interrupt_is_heard(&interrupt));
    interrupt.asked_at = 0;
    c.answer = 0;
    assert_true(ts_interrupt_is_heard(&interrupt));
    assert_int_equal(c.asked, 1);
    assert_false(ts_interrupt_error(&err, &interrupt));
    assert_int_equal(err.kind, TS_ERROR_IO);
    assert_string_equal(err.message, "the work is stopped");
}
