/* Loops that never end: those that are told at once, those that are given up, and those that do end. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/core_fixture.h"

enum { LONG = 10000000 };

static bool run(fixture *f, const char *text) {
    assert_true(fixture_load(f, text));
    while (ts_core_next(f->core) < LONG) {
        if (!ts_core_step(&f->err, f->core, LONG)) return false;
    }
    return true;
}

static void certain_ones_are_told_at_once(void **state) {
    (void)state;
    static const char *const texts[] = {
        "jump @0",
        "nop\nbr.lt s1 10 @0",
        "v2s s1 v0\nbrz s1 @0",
        "sld s1 [0]\nsst [0] 0\nbrz s1 @0",
        "smov s1 0\nsadd s1 s1 1\nbr.lt s1 9 @1\njump @0",
        "sem.read s1 e0\nbrz s1 @0",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        fixture *f = fixture_new();
        assert_false(run(f, texts[i]));
        assert_int_equal(f->err.kind, TS_ERROR_FAULT);
        assert_non_null(strstr(f->err.message, "endless loop: this branch back to "));
        assert_true(f->err.cycle < 1000000);
        fixture_free(f);
    }
}

static void the_outermost_is_named(void **state) {
    (void)state;
    fixture *f = fixture_new();
    char text[200];
    assert_false(run(f, "smov s1 0\nsadd s1 s1 1\nbr.lt s1 9 @1\njump @0"));
    const ts_instruction *branch = ts_core_loop(f->core, text, sizeof text);
    assert_int_equal(branch->opcode, TS_OP_jump);
    fixture_free(f);
}

static void others_go_on(void **state) {
    (void)state;
    static const char *const texts[] = {
        "sadd s1 s1 1\nbr.lt s1 100000 @0",
        "sld s1 [0]\nsadd s1 s1 1\nsst [0] s1\nbr.gt s1 50000 @6\nsmov s1 0\njump @0\nnop",
        "vadd.i32 v0 v0 1\nv2s s1 v0\nbr.gt s1 20000 @5\nsmov s1 0\njump @0\nnop",
        "sem.add e0 1\nsem.read s1 e0\nbr.gt s1 20000 @5\nsmov s1 0\njump @0\nnop",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        fixture *f = fixture_new();
        assert_true(run(f, texts[i]));
        assert_true(ts_core_halted(f->core));
        fixture_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(certain_ones_are_told_at_once),
                                       cmocka_unit_test(the_outermost_is_named),
                                       cmocka_unit_test(others_go_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
