/* Programs that are run once for their time: what is known of them answers later questions. */
#include "tests/support/test.h"

#include "study/timed.h"

static const ts_timed_run *run_with(ts_timed_program *p, int64_t limit) {
    p->limit = limit;
    const ts_timed_run *run = ts_timed_run_get(NULL, p);
    assert_non_null(run);
    return run;
}

static ts_timed_program program_in(ts_arena *arena) {
    ts_timed_program p = {.arena = arena,
                          .runs = ts_timed_runs_new(arena),
                          .machine = ts_machine_load(NULL, arena, "tpu-v5e"),
                          .program = "tilesim:/transpose.tsim"};
    ts_timed_define(&p, "ROWS", 256);
    ts_timed_define(&p, "COLS", 256);
    return p;
}

static void over_a_limit_is_over_lower_ones(void **state) {
    (void)state;
    ts_arena *arena = ts_arena_new();
    ts_timed_program p = program_in(arena);
    const ts_timed_run *over = run_with(&p, 100);
    assert_true(over->is_over);
    assert_int_equal(over->chip.cycles, 100);
    assert_ptr_equal(run_with(&p, 100), over);
    assert_ptr_equal(run_with(&p, 50), over);
    const ts_timed_run *later = run_with(&p, 101);
    assert_true(later->is_over);
    assert_int_equal(later->chip.cycles, 101);
    ts_arena_free(arena);
}

static void a_whole_run_answers_any_limit(void **state) {
    (void)state;
    ts_arena *arena = ts_arena_new();
    ts_timed_program p = program_in(arena);
    assert_true(run_with(&p, 100)->is_over);
    const ts_timed_run *whole = run_with(&p, 0);
    assert_false(whole->is_over);
    assert_true(whole->chip.cycles > 100);
    assert_int_equal(ts_timed_run_parameter(whole, "ROWS"), 256);
    assert_int_equal(ts_timed_run_parameter(whole, "NONE"), 0);
    assert_ptr_equal(run_with(&p, 0), whole);
    assert_ptr_equal(run_with(&p, whole->chip.cycles), whole);
    ts_timed_define(&p, "ROWS", 128);
    assert_true(run_with(&p, 0)->chip.cycles < whole->chip.cycles);
    ts_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(over_a_limit_is_over_lower_ones),
        cmocka_unit_test(a_whole_run_answers_any_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
