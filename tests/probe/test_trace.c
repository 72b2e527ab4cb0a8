/* The ring of a trace keeps the last events, in order. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "probe/counter.h"
#include "probe/trace.h"

static void test_ring(void **state) {
    (void)state;
    ts_arena *arena = ts_arena_new();
    ts_trace trace;
    ts_trace_init(&trace, arena, 4);
    assert_int_equal(ts_trace_count(&trace), 0);
    for (int i = 0; i < 11; i++) {
        ts_trace_add(&trace, &(ts_trace_event){.begin = i});
        int64_t kept = i < 4 ? i + 1 : 4;
        assert_int_equal(ts_trace_count(&trace), kept);
        for (int64_t k = 0; k < kept; k++) {
            assert_int_equal(ts_trace_get(&trace, k)->begin, i + 1 - kept + k);
        }
    }
    assert_int_equal(trace.added, 11);
    ts_arena_free(arena);
}

/* Names are keys of JSON: each has a text, and no two are alike. */
static void test_counters(void **state) {
    (void)state;
    for (int i = 0; i < TS_COUNTER_COUNT; i++) {
        const ts_counter_info *info = ts_counter_get((ts_counter)i);
        assert_true(info->name[0] != '\0' && info->unit[0] != '\0' && info->meaning[0] != '\0');
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(info->name, ts_counter_get((ts_counter)j)->name);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ring), cmocka_unit_test(test_counters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
