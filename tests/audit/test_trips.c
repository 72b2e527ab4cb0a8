/* How often loops run that say so only by their condition: what they begin with, add and compare. */
#include <stdio.h>
#include <string.h>

#include "audit/audit_private.h"
#include "tests/support/audited.h"
#include "tests/support/group.h"

static ts_audit_request request;

#define STATE "(s32[], f32[8,1024]{1,0:T(8,128)})"
static const char form[] = "HloModule loop, is_scheduled=true\n\n"
                           "%%cond (s.1: (s32[], f32[8,1024])) -> pred[] {\n"
                           "  %%s.1 = " STATE " parameter(0)\n"
                           "  %%i.1 = s32[] get-tuple-element(%%s.1), index=0\n"
                           "  %%n = s32[] constant(%s)\n"
                           "  ROOT %%c = pred[] compare(%s), direction=%s\n"
                           "}\n\n"
                           "%%body (s.2: (s32[], f32[8,1024])) -> (s32[], f32[8,1024]) {\n"
                           "  %%s.2 = " STATE " parameter(0)\n"
                           "  %%i.2 = s32[] get-tuple-element(%%s.2), index=0\n"
                           "  %%x = f32[8,1024]{1,0:T(8,128)} get-tuple-element(%%s.2), index=1\n"
                           "  %%step = s32[] constant(%s)\n"
                           "  %%next = s32[] %s\n"
                           "  %%moved = f32[8,1024]{1,0:T(8,128)S(1)} copy(%%x)\n"
                           "  %%back = f32[8,1024]{1,0:T(8,128)} copy(%%moved)\n"
                           "  ROOT %%r = " STATE " tuple(%%next, %%back)\n"
                           "}\n\n"
                           "ENTRY %%main (a: f32[8,1024]) -> f32[8,1024] {\n"
                           "  %%a = f32[8,1024]{1,0:T(8,128)} parameter(0)\n"
                           "  %%k = s32[] constant(%s)\n"
                           "  %%in = " STATE " tuple(%%k, %%a)\n"
                           "  %%w = " STATE " while(%%in), condition=%%cond, body=%%body\n"
                           "  ROOT %%o = f32[8,1024]{1,0:T(8,128)} get-tuple-element(%%w), index=1\n"
                           "}\n";

#define ADD "add(%i.2, %step)"
#define I_N "%i.1, %n"
#define N_I "%n, %i.1"

static const struct {
    const char *begin, *next, *step, *compared, *direction, *end;
    int64_t runs; /* -1: the text does not say */
} loops[] = {
    {"0", ADD, "1", I_N, "LT", "10", 10},
    {"3", ADD, "1", I_N, "LT", "10", 7},
    {"0", ADD, "3", I_N, "LT", "10", 4},
    {"0", ADD, "3", I_N, "LT", "9", 3},
    {"0", ADD, "1", I_N, "LE", "10", 11},
    {"0", ADD, "5", I_N, "LE", "10", 3},
    {"0", ADD, "5", I_N, "LE", "9", 2},
    {"10", ADD, "-1", I_N, "GT", "0", 10},
    {"10", ADD, "-3", I_N, "GT", "0", 4},
    {"10", ADD, "-3", I_N, "GT", "1", 3},
    {"10", ADD, "-1", I_N, "GE", "0", 11},
    {"10", ADD, "-5", I_N, "GE", "0", 3},
    {"-4", ADD, "2", I_N, "LT", "4", 4},
    {"0", ADD, "1", I_N, "NE", "6", 6},
    {"12", ADD, "-2", I_N, "NE", "0", 6},
    /* The other way round, either of the sum and of the comparison. */
    {"0", "add(%step, %i.2)", "1", I_N, "LT", "10", 10},
    {"0", ADD, "1", N_I, "GT", "10", 10},
    {"0", ADD, "1", N_I, "GE", "10", 11},
    {"10", ADD, "-1", N_I, "LT", "0", 10},
    {"10", ADD, "-1", N_I, "LE", "0", 11},
    {"10", "subtract(%i.2, %step)", "1", I_N, "GT", "0", 10},
    /* Never. */
    {"10", ADD, "1", I_N, "LT", "10", 0},
    {"5", ADD, "1", I_N, "EQ", "6", 0},
    /* Once, as long as it is equal. */
    {"6", ADD, "1", I_N, "EQ", "6", 1},
    /* Without an end, past it, or of what is not read. */
    {"0", ADD, "0", I_N, "LT", "10", -1},
    {"0", ADD, "-1", I_N, "LT", "10", -1},
    {"0", ADD, "4", I_N, "NE", "6", -1},
    {"0", "multiply(%i.2, %step)", "2", I_N, "LT", "10", -1},
    {"0", ADD, "1", I_N, "LT", "ten", -1},
    {"0", "add(%i.2, %what)", "1", I_N, "LT", "10", -1},
    {"0", ADD, "1", "%i.1, %i.1", "LT", "10", 0}, /* less than itself */
};

/* The only move of that name. */
static const ts_audit_move *move_of(const ts_audit_result *r, const char *name) {
    const ts_audit_move *found = NULL;
    for (int k = 0; k < r->group_count; k++)
        if (strcmp(r->groups[k].first.name, name) == 0) found = &r->groups[k].first;
    if (!found) fail_msg("there is no '%s'", name);
    return found;
}

static void loops_run_as_often_as_they_say(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++) {
        char text[4096];
        ts_audit_result r;
        int length = snprintf(text, sizeof text, form, loops[i].end, loops[i].compared, loops[i].direction,
                              loops[i].step, loops[i].next, loops[i].begin);
        ts_audit *audit = audited(arena, &request, (audited_text){text, (size_t)length, 0}, &r);
        const ts_audit_move *moved = move_of(&r, "moved");
        if (moved->trips_unknown != (loops[i].runs < 0) ||
            (loops[i].runs >= 0 && moved->runs != loops[i].runs))
            fail_msg("%s from %s by %s, %s, %s %s: %d%s", loops[i].next, loops[i].begin, loops[i].step,
                     loops[i].compared, loops[i].direction, loops[i].end, (int)moved->runs,
                     moved->trips_unknown ? ", not known" : "");
        ts_audit_free(audit);
    }
}

static int set_up(void **state) {
    begin_group(state);
    request.machine = ts_machine_load(NULL, arena, "tpu-v5e");
    return request.machine ? 0 : -1;
}
/* Where the condition does not, the compiler does. */
static void the_compiler_says(void **state) {
    (void)state;
    static const char *const configs[] = {
        "{\"known_trip_count\":{\"n\":\"15\"}}",
        "{\"known_trip_count\": {\"n\": \"15\"}, \"known_init_step\":{\"init\":\"0\"}}",
        "\"{\\\"known_trip_count\\\":{\\\"n\\\":\\\"15\\\"}}\""};
    for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++) {
        ts_text text = ts_text_begin(arena);
        ts_text_add(&text,
                    "HloModule m, is_scheduled=true\n\n%%c {\n  %%p = f32[8,128]{1,0:T(8,128)} parameter(0)\n"
                    "  ROOT %%l = pred[] custom-call(%%p)\n}\n\n%%b {\n"
                    "  %%q = f32[8,128]{1,0:T(8,128)} parameter(0)\n"
                    "  ROOT %%k = f32[8,128]{1,0:T(8,128)} copy(%%q)\n}\n\nENTRY %%main {\n"
                    "  %%a = f32[8,128]{1,0:T(8,128)} parameter(0)\n"
                    "  ROOT %%w = f32[8,128]{1,0:T(8,128)} while(%%a), condition=%%c, body=%%b, "
                    "backend_config=%s\n}\n",
                    configs[i]);
        ts_audit_result r;
        ts_audit *audit = audited(arena, &request, (audited_text){text.bytes, text.length, 0}, &r);
        assert_int_equal(r.group_count, 1);
        assert_int_equal(r.groups[0].first.runs, 15);
        assert_false(r.groups[0].first.trips_unknown);
        ts_audit_free(audit);
    }
}

#define WHILE(size, with, name, end)                                                                         \
    "%w" name ":2 = stablehlo.while(%x = " with ", %i = %z) : tensor<" size "xf32>, tensor<i32>\ncond {\n"   \
    "%l = stablehlo.compare LT, %i, " end " : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"                    \
    "stablehlo.return %l : tensor<i1>\n} do {\n%" name                                                       \
    " = stablehlo.transpose %x, dims = [1, 0] : (tensor<" size "xf32>) -> tensor<" size                      \
    "xf32>\n%j = stablehlo.add %i, %one : tensor<i32>\n"                                                     \
    "stablehlo.return %" name ", %j : tensor<" size "xf32>, tensor<i32>\n}\n"
#define NUMBER(name, value) name " = stablehlo.constant dense<" value "> : tensor<i32>\n"

/* Of two loops each has its own turns; what they count is the last that they carry. */
static void loops_of_stablehlo(void **state) {
    (void)state;
    static const char text[] =
        "func.func @main(%a: tensor<8x8xf32>, %b: tensor<16x16xf32>) -> tensor<8x8xf32> {\n" NUMBER("%z", "0")
            NUMBER("%one", "1") NUMBER("%n", "6") NUMBER("%m", "4") WHILE("8x8", "%a", "six", "%n")
                WHILE("16x16", "%b", "four",
                      "%m") "%once = stablehlo.transpose %a, dims = [1, 0] : (tensor<8x8xf32>) "
                            "-> tensor<8x8xf32>\nreturn %once : tensor<8x8xf32>\n}\n";
    ts_audit_result r;
    ts_audit *audit = audited(arena, &request, (audited_text){text, strlen(text), 0}, &r);
    assert_int_equal(move_of(&r, "six")->runs, 6);
    assert_int_equal(move_of(&r, "four")->runs, 4);
    assert_int_equal(move_of(&r, "once")->runs, 1);
    assert_false(move_of(&r, "six")->trips_unknown || move_of(&r, "four")->trips_unknown);
    ts_audit_free(audit);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_run_as_often_as_they_say),
        cmocka_unit_test(the_compiler_says),
        cmocka_unit_test(loops_of_stablehlo),
    };
    return cmocka_run_group_tests(tests, set_up, end_group);
}
