/* Time only: what an unknown scalar makes unknown, and where it is refused. */
#include <string.h>

#include "check/unknown.h"
#include "tests/support/test.h"
#include "tests/support/core_fixture.h"

enum { SREGS = 12, SMEM_BYTES = 64, CYCLE = 77 };

/* Runs the bundles one after another, `times` over; false at what is refused. */
static bool run(ts_error *err, ts_arena *arena, ts_unknown *unknown, const ts_code *code, int times) {
    ts_unknown_op *ops[32][4];
    for (int b = 0; b < code->bundle_count; b++)
        for (int i = 0; i < code->bundles[b].count; i++)
            ops[b][i] = ts_unknown_op_new(arena, unknown, &code->bundles[b].instructions[i]);
    for (int n = 0; n < times * code->bundle_count; n++) {
        const ts_bundle *bundle = &code->bundles[n % code->bundle_count];
        ts_unknown_op **own = ops[n % code->bundle_count];
        for (int i = 0; i < bundle->count; i++) {
            if (!own[i]) continue;
            if (!ts_unknown_check(err, unknown, own[i], CYCLE)) return false;
            ts_unknown_begin(unknown, own[i], fixture_address(&bundle->instructions[i]));
        }
        for (int i = 0; i < bundle->count; i++)
            if (own[i]) ts_unknown_settle(unknown, own[i]);
    }
    return true;
}

static const struct {
    const char *text;
    unsigned unknown;    /* bits: sregs that are, at the end */
    const char *refusal; /* behind "s1 is unknown .. vector"; NULL: none */
    int times;
} rows[] = {
    {"smov s1 5\nsadd s2 s1 s1", 0, NULL, 1},
    {"v2s s0 v3", 1, NULL, 1},
    {"v2s s1 v3", 2, NULL, 1},
    {"v2s s1 v3\nsadd s2 s1 4\nsadd s3 s4 s2\nsadd s5 s4 s4", 2 | 4 | 8, NULL, 1},
    {"v2s s1 v3\nsadd s2 s1 4\nsmov s1 0\nsmov s2 1", 0, NULL, 1},
    {"v2s s1 v3\nvadd.i32 v1 v2 s1\nvrot.lane v1 v2 s1\nvld v1 [0+s2*128]", 2, NULL, 1},
    {"v2s s1 v3\nsst [3] s1\nsld s2 [3]\nsld s3 [2]\nsld s4 [4]", 2 | 4, NULL, 1},
    {"v2s s1 v3\nsst [3] s1\nsst [3] 0\nsld s2 [3]", 2, NULL, 1},
    {"v2s s1 v3\nsst [0] s1\nsld s2 [0]", 2 | 4, NULL, 1},
    {"v2s s1 v3 ; sadd s2 s1 0", 2, NULL, 1}, /* what was before */
    {"v2s s1 v3 ; sadd s2 s1 0", 2 | 4, NULL, 2},
    {"v2s s1 v3\nsem.read s1 e0", 0, NULL, 1},
    {"v2s s1 v3\nbrnz s1 @0", 0, " <- line 1 (v2s)", 1},
    {"v2s s2 v3\nsadd s1 s2 1\nsadd s2 s1 1\ndelay s1", 0, " <- line 2 (sadd) <- line 1 (v2s)", 1},
    {"v2s s1 v3\nvst [0+s1*128] v1", 0, " <- line 1 (v2s)", 1},
    {"v2s s1 v3\nsld s2 [0+s3+s1]", 0, " <- line 1 (v2s)", 1},
    {"v2s s1 v3\nsst [0+s1] 7", 0, " <- line 1 (v2s)", 1},
    {"v2s s1 v3\nsem.read s2 e0+s1:4", 0, " <- line 1 (v2s)", 1},
    {"v2s s4 v3\nv2s s5 v3\nsadd s1 s4 s5\nbrnz s1 @0", 0, " <- line 3 (sadd) <- line 2 (v2s)", 1},
    {"v2s s4 v3\nsadd s1 s4 s6\nbrnz s1 @0", 0, " <- line 2 (sadd) <- line 1 (v2s)", 1},
    {"v2s s4 v3\nsst [5] s4\nsld s1 [5]\nbrnz s1 @0", 0, " <- line 3 (sld) <- line 2 (sst) <- line 1 (v2s)",
     1},
    /* six lines are said */
    {"v2s s2 v3\nsmov s3 s2\nsmov s4 s3\nsmov s5 s4\nsmov s6 s5\nsmov s1 s6\nbrz s1 @0", 0,
     " <- line 6 (smov) <- line 5 (smov) <- line 4 (smov) <- line 3 (smov) <- line 2 (smov) <- line 1 (v2s)",
     1},
    {"v2s s2 v3\nsmov s3 s2\nsmov s4 s3\nsmov s5 s4\nsmov s6 s5\nsmov s7 s6\nsmov s1 s7\nbrz s1 @0", 0,
     " <- line 7 (smov) <- line 6 (smov) <- line 5 (smov) <- line 4 (smov) <- line 3 (smov) <- line 2 (smov) "
     "<- ...",
     1},
};

TEST(what_is_unknown_and_what_is_refused) {
    static const char begins[] = "s1 is unknown when only time is modelled: it comes from a vector";
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_code code = {.name = "test"};
        ts_error err = {0};
        fixture_assemble(arena, &code, rows[i].text);
        ts_unknown *unknown = ts_unknown_new(arena, &code, SREGS, SMEM_BYTES);
        bool good = run(&err, arena, unknown, &code, rows[i].times);
        assert_int_equal(good, rows[i].refusal == NULL);
        if (rows[i].refusal) {
            assert_int_equal(err.kind, TS_ERROR_UNMODELLED);
            assert_int_equal(err.cycle, CYCLE);
            assert_memory_equal(err.message, begins, sizeof begins - 1);
            assert_string_equal(err.message + sizeof begins - 1, rows[i].refusal);
        }
        for (int s = 0; good && s < SREGS; s++)
            assert_int_equal(ts_unknown_has(unknown, s), rows[i].unknown >> s & 1);
        if (good) assert_int_equal(ts_unknown_any(unknown), rows[i].unknown != 0);
        ts_arena_free(arena);
    }
}

/* A counter that goes on from an unknown start: each time round its own value is the cause. */
TEST_WITH_ARENA(a_loop_names_where_it_began) {
    ts_code first = {.name = "test"}, round = first, last = first;
    ts_error err = {0};
    fixture_assemble(arena, &first, "v2s s1 v3");
    fixture_assemble(arena, &round, "sadd s1 s1 1");
    fixture_assemble(arena, &last, "brnz s1 @0");
    ts_unknown *unknown = ts_unknown_new(arena, &first, SREGS, SMEM_BYTES);
    assert_true(run(&err, arena, unknown, &first, 1));
    assert_true(run(&err, arena, unknown, &round, 10));
    assert_false(run(&err, arena, unknown, &last, 1));
    assert_non_null(strstr(err.message, "vector <- line 1 (sadd) <- line 1 (v2s)"));
    assert_null(strstr(err.message, "..."));
}

TEST_WITH_ARENA(instructions_without_scalars_cost_nothing) {
    static const struct {
        const char *text;
        bool asked;
    } ops[] = {{"vadd.i32 v1 v2 s3", false}, {"mlanes m1 s3", false}, {"vld v1 [0]", false},
               {"vld v1 [0+s1*128]", true},  {"nop", false},          {"jump @0", false},
               {"sst [0] 1", true},          {"core.id s1", true},    {"v2s s1 v1", true}};
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        ts_code code = {.name = "test"};
        fixture_assemble(arena, &code, ops[i].text);
        const ts_unknown *unknown = ts_unknown_new(arena, &code, SREGS, SMEM_BYTES);
        assert_int_equal(ts_unknown_op_new(arena, unknown, &code.bundles[0].instructions[0]) != NULL,
                         ops[i].asked);
    }
}
