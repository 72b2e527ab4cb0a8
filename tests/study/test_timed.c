/* Programs that are run once for their time: what is known of them answers later questions. */
#include <stdio.h>

#include "tests/support/rounds.h"
#include "tests/support/temporary.h"
#include "tests/support/test.h"

#include "run/run.h"
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

TEST_WITH_ARENA(over_a_limit_is_over_lower_ones) {
    ts_timed_program p = program_in(arena);
    const ts_timed_run *over = run_with(&p, 100);
    assert_true(over->is_over);
    assert_int_equal(over->chip.cycles, 100);
    assert_ptr_equal(run_with(&p, 100), over);
    assert_ptr_equal(run_with(&p, 50), over);
    const ts_timed_run *later = run_with(&p, 101);
    assert_true(later->is_over);
    assert_int_equal(later->chip.cycles, 101);
}

TEST_WITH_ARENA(a_whole_run_answers_any_limit) {
    ts_timed_program p = program_in(arena);
    assert_true(run_with(&p, 100)->is_over);
    const ts_timed_run *whole = run_with(&p, 0);
    assert_false(whole->is_over);
    assert_true(whole->chip.cycles > 100);
    assert_ptr_equal(run_with(&p, 0), whole);
    assert_ptr_equal(run_with(&p, whole->chip.cycles), whole);
    ts_timed_define(&p, "ROWS", 128);
    assert_true(run_with(&p, 0)->chip.cycles < whole->chip.cycles);
}

TEST_WITH_ARENA(few_channels_take_about_as_long) {
    ts_timed_program p = program_in(arena);
    ts_timed_define(&p, "COLS", 8192);
    const ts_timed_run *usual = run_with(&p, 0);
    p.channel_share = 4;
    const ts_timed_run *same = run_with(&p, 0);
    p.channel_share = 16;
    const ts_timed_run *few = run_with(&p, 0);
    assert_int_equal(same->chip.cycles, usual->chip.cycles);
    assert_int_not_equal(few->chip.cycles, usual->chip.cycles);
    assert_in_range(few->chip.cycles, usual->chip.cycles * 95 / 100, usual->chip.cycles * 105 / 100);
    assert_int_equal(few->chip.hbm.reads, usual->chip.hbm.reads);
    assert_ptr_equal(run_with(&p, 0), few);
    p.exact = true;
    const ts_timed_run *exact = run_with(&p, 0);
    p.channel_share = 0;
    assert_int_equal(run_with(&p, 0)->chip.cycles, exact->chip.cycles);
}

/* The others were in memory of the run. */
TEST_WITH_ARENA(of_the_errors_of_a_program_the_first_is_left) {
    const char *const change = "core.sregs=4";
    ts_timed_program p = program_in(arena);
    ts_error err = {0};
    p.machine = ts_machine_change(NULL, arena, "tpu-v5e", &change, 1);
    assert_null(ts_timed_run_get(&err, &p));
    assert_non_null(strstr(err.message, "there is no sreg"));
    assert_null(err.next);
}

/* ---- The pace ---- */

typedef struct {
    double cycles[1000];
    int count;
} completions;

static void note(void *self, const ts_in_flight *transfer, const ts_dma_result *result) {
    completions *c = self;
    (void)transfer;
    assert_true(c->count < 1000);
    c->cycles[c->count++] = (double)result->completed_cycle;
}

/* Of the same run, told of its transfers. */
static completions completions_of(ts_arena *arena, const ts_timed_program *p) {
    completions c = {.count = 0};
    const ts_chip_observer observer = {.self = &c, .transferred = note};
    const ts_run_request request = {.program = p->program,
                                    .machine = p->machine,
                                    .defines = p->defines,
                                    .define_count = p->count,
                                    .time_only = true,
                                    .observer = &observer,
                                    .max_cycles = TS_RUN_MOST_CYCLES};
    ts_run_result result;
    assert_true(ts_run(NULL, arena, &request, &result));
    return c;
}

static double slope_of(const double *y, int first, int end) {
    double n = end - first, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = first; i < end; i++) sx += i, sy += y[i], sxx += (double)i * i, sxy += i * y[i];
    return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

TEST_WITH_ARENA(the_pace_is_that_of_the_middle) {
    ts_timed_program p = program_in(arena);
    static const int cols[] = {128, 1025, 3000, 20000, 30000, 45000, 60000};
    for (int i = 0, most = cases((int)(sizeof cols / sizeof *cols), 4); i < most; i++) {
        ts_timed_define(&p, "COLS", cols[i]);
        p.paced = false;
        const ts_timed_run *plain = run_with(&p, 0);
        p.paced = true;
        const ts_timed_run *run = run_with(&p, 0);
        completions c = completions_of(arena, &p);
        assert_int_equal(c.count, run->chip.transfers);
        assert_true(c.count >= (i < 3 ? 2 : 40));
        double expected = slope_of(c.cycles, c.count / 4, c.count - c.count / 8);
        assert_true(run->pace > expected * (1 - 1e-9) && run->pace < expected * (1 + 1e-9));
        assert_true(plain->pace == 0);
        assert_int_equal(plain->chip.cycles, run->chip.cycles);
        assert_ptr_equal(run_with(&p, 0), run);
    }
}

TEST_WITH_ARENA(nothing_is_moved_at_no_pace) {
    ts_timed_program p = program_in(arena);
    ts_timed_define(&p, "END", 0);
    p.paced = true;
    assert_true(run_with(&p, 0)->pace == 0);
}

/* Also before its limit: it does not go on for longer. */
TEST_WITH_ARENA(what_fails_is_an_error) {
    ts_timed_program p = program_in(arena);
    char path[TEMPORARY_PATH];
    FILE *file = fopen(temporary_path(path, "timed_deadlock.tsim"), "w");
    assert_non_null(file);
    assert_true(fputs(".sem a\nwait a\n", file) >= 0 && fclose(file) == 0);
    p.program = path;
    p.count = 0;
    for (p.limit = 0; p.limit <= 1000; p.limit += 1000) {
        ts_error err = {0};
        assert_null(ts_timed_run_get(&err, &p));
        assert_int_equal(err.kind, TS_ERROR_FAULT);
        assert_null(ts_timed_run_get(NULL, &p));
    }
    remove(path);
}
