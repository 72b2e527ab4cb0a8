/* Loops that change a scalar each turn and move the same slices for ever: given up after so much of the host's
 * work, by transfers and by bytes. */
#include <stdio.h>
#include <string.h>

#include "tests/support/run_text.h"
#include "tests/support/test.h"

enum { PATIENCE = 1 << 20 }; /* the command line's is 128 times as much */

/* Runs a loop from line 4 to line 7 until it is given up; returns how often it was then taken. */
static int turns(int rows, const char *last) {
    static const char before[] = "a loop without an end in sight: this branch back to line 4 was taken ";
    static const char after[] =
        "and no DMA of a new slice started in the last of them; with max_cycles N it goes on up to cycle N";
    char text[512];
    snprintf(text, sizeof text,
             ".tensor h hbm f32[%d,1024]\n.tensor v vmem f32[%d,1024]\n.sem s\n"
             "go: dma v <- h, s\n wait s\n sadd s1, s1, 1\n %s\n",
             rows, rows, last);
    ts_error err = {0};
    ts_arena *arena = ts_arena_new();
    assert_false(run_patiently(&err, arena, text, PATIENCE));
    assert_int_equal(err.kind, TS_ERROR_FAULT);
    assert_int_equal(err.line, 7);
    assert_true(ts_text_starts(err.message, before));
    int taken = 0;
    const char *at = err.message + strlen(before);
    for (; *at != ' '; at++) taken = *at == ',' ? taken : taken * 10 + (*at - '0');
    assert_non_null(strstr(at, after));
    assert_string_equal(strstr(at, after), after);
    ts_arena_free(arena);
    return taken;
}

TEST(the_same_slices_for_ever) {
    int small = turns(8, "br.ne s1, -1, go"), large = turns(4096, "br.ne s1, -1, go");
    assert_in_range(small, 1000, 100000);
    assert_in_range(large, 10, small / 50);
    assert_int_equal(turns(8, "jump go"), small);
}
