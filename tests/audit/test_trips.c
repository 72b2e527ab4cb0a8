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

TEST(loops_run_as_often_as_they_say) {
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

/* ---- Further forms of loops ---- */

/* A loop that counts its first member from 0 to 10 by 1; what a row states is otherwise. */
#define PAIR                       "(s32[], s32[])"
#define LONG(name, text)           "  %" name " = s64[] " text "\n"
#define LONG_I                     LONG("i", "get-tuple-element(%s), index=0")
#define U8(name, text)             "  %" name " = u8[] " text "\n"
#define U8_I                       U8("i", "get-tuple-element(%s), index=0")
#define S32(name, what)            "  %" name " = s32[] " what "\n"
#define MEMBERS                    S32("i", "get-tuple-element(%s), index=0") S32("j", "get-tuple-element(%s), index=1")
#define TEN                        S32("n", "constant(10)")
#define ONE                        S32("one", "constant(1)")
#define COMPARED(sides, direction) "  ROOT %c = pred[] compare(" sides "), direction=" direction "\n"
#define GIVE(next)                 "  ROOT %r = " PAIR " tuple(" next ", %j)\n"
#define NEXT                       S32("next", "add(%i, %one)") GIVE("%next")
/* A computation of two parameters, or of the pair, that gives one number. */
#define OF_TWO(root)  "%of_two {\n" S32("p", "parameter(0)") S32("q", "parameter(1)") root "}\n\n"
#define OF_PAIR(root) "%of_pair {\n  %s = " PAIR " parameter(0)\n" MEMBERS root "}\n\n"

static const struct {
    const char *others, *state, *in, *test, *body;
    int64_t runs; /* -1: the text does not say */
} forms[] = {
    {.runs = 10},
    /* The counter is all that the loop carries. */
    {.state = "s32[]",
     .in = "  %in = s32[] constant(3)\n",
     .test = TEN COMPARED("%s, %n", "LT"),
     .body = ONE "  ROOT %r = s32[] add(%s, %one)\n",
     .runs = 7},
    /* It is the second member, or both are looked at. */
    {.test = MEMBERS TEN COMPARED("%j, %n", "LT"),
     .body = MEMBERS ONE S32("next", "add(%j, %one)") "  ROOT %r = " PAIR " tuple(%i, %next)\n",
     .runs = 10},
    {.in = S32("zero", "constant(0)") S32("last", "constant(10)") "  %in = " PAIR " tuple(%zero, %last)\n",
     .test = MEMBERS COMPARED("%i, %j", "LT"),
     .body = MEMBERS ONE S32("next", "add(%i, %one)")
         S32("less", "subtract(%j, %one)") "  ROOT %r = " PAIR " tuple(%next, %less)\n",
     .runs = 5},
    {.test = MEMBERS TEN COMPARED("%i, %j", "LT"), .body = MEMBERS ONE NEXT, .runs = 0},
    /* Numbers that are computed of others, and copied. */
    {.test = MEMBERS TEN S32("k", "constant(2)") S32("m", "subtract(%n, %k)") COMPARED("%i, %m", "LT"),
     .runs = 8},
    {.test = MEMBERS TEN S32("k", "constant(2)") S32("m", "add(%k, %i)") COMPARED("%m, %n", "LT"), .runs = 8},
    {.body = MEMBERS ONE S32("half", "add(%i, %one)") S32("next", "add(%half, %one)") GIVE("%next"),
     .runs = 5},
    {.body = MEMBERS ONE S32("half", "convert(%i)") S32("next", "add(%half, %one)")
         S32("copied", "copy(%next)") GIVE("%copied"),
     .runs = 10},
    {.body = MEMBERS ONE S32("half", "add(%i, %one)") S32("next", "add(%half, %j)") GIVE("%next"),
     .runs = -1},
    {.body = MEMBERS ONE S32("less", "compare(%i, %one), direction=LT") S32("next", "add(%less, %one)")
         GIVE("%next"),
     .runs = -1},
    {.body = MEMBERS ONE S32("next", "subtract(%one, %i)") GIVE("%next"), .runs = -1},
    {.body = MEMBERS ONE S32("next", "add(%i, %j)") GIVE("%next"), .runs = -1},
    {.body = MEMBERS ONE S32("next", "negate(%i)") GIVE("%next"), .runs = -1},
    /* By what is called: with its parameters, members of them, and more that is added. */
    {.others = OF_TWO(S32("k", "constant(2)") "  ROOT %a = s32[] add(%q, %k)\n"),
     .body = MEMBERS S32("next", "fusion(%j, %i), kind=kLoop, calls=%of_two") GIVE("%next"),
     .runs = 5},
    {.others = OF_PAIR(S32("k", "constant(2)") "  ROOT %a = s32[] add(%i, %k)\n"),
     .body = MEMBERS S32("next", "call(%s), to_apply=%of_pair") GIVE("%next"),
     .runs = 5},
    {.others = OF_TWO(COMPARED("%q, %p", "GT")),
     .test = MEMBERS TEN "  ROOT %c = pred[] fusion(%i, %n), kind=kLoop, calls=%of_two\n",
     .runs = 10},
    {.others = OF_PAIR(ONE S32("k", "constant(5)") S32("next", "add(%i, %k)") GIVE("%next")),
     .body = "  ROOT %r = " PAIR " fusion(%s), kind=kLoop, calls=%of_pair\n",
     .runs = 2},
    {.others = OF_TWO("  ROOT %k = s32[] constant(4)\n"),
     .test = MEMBERS TEN S32("m", "fusion(%n, %n), kind=kLoop, calls=%of_two") COMPARED("%i, %m", "LT"),
     .runs = 4},
    {.body = MEMBERS S32("next", "fusion(%i), kind=kLoop, calls=%not_there") GIVE("%next"), .runs = -1},
    {.body = MEMBERS S32("next", "fusion(%i), kind=kLoop") GIVE("%next"), .runs = -1},
    /* The result is what is marked, else the last. */
    {.test = MEMBERS TEN COMPARED("%i, %n", "LT") S32("later", "constant(3)"), .runs = 10},
    {.test = MEMBERS TEN "  %c = pred[] compare(%i, %n), direction=LT\n", .runs = 10},
    {.test = MEMBERS TEN "  %c = pred[] compare(%i, %n), direction=LT\n  ROOT %d = pred[] not(%c)\n",
     .runs = -1},
    {.test = MEMBERS TEN COMPARED("%i, %n", "ALMOST"), .runs = -1},
    {.test = MEMBERS TEN "  ROOT %c = pred[] compare(%i, %n)\n", .runs = -1},
    /* Members that are not there, members of members, values of another computation. */
    {.test = S32("i", "get-tuple-element(%s), index=2") TEN COMPARED("%i, %n", "LT"), .runs = -1},
    {.test = S32("i", "get-tuple-element(%s), index=-1") TEN COMPARED("%i, %n", "LT"), .runs = -1},
    {.test = S32("i", "get-tuple-element(%s), index=4294967296") TEN COMPARED("%i, %n", "LT"), .runs = -1},
    {.test = S32("i", "get-tuple-element(%s)") TEN COMPARED("%i, %n", "LT"), .runs = -1},
    {.test = "  %t = " PAIR " get-tuple-element(%s), index=1\n" S32("i", "get-tuple-element(%t), index=0")
         TEN COMPARED("%i, %n", "LT"),
     .runs = -1},
    {.test = S32("p", "parameter(1)") TEN COMPARED("%p, %n", "LT"), .runs = -1},
    {.test = S32("p", "parameter(-1)") TEN COMPARED("%p, %n", "LT"), .runs = -1},
    {.test = MEMBERS COMPARED("%i, %one", "LT"), .runs = -1},
    {.others = OF_TWO(ONE "  ROOT %a = s32[] add(%p, %one)\n"),
     .test = MEMBERS COMPARED("%i, %one", "LT"),
     .runs = -1},
    {.body = MEMBERS ONE S32("next", "add(%i, %one)") "  ROOT %r = " PAIR " tuple(%j, %next)\n", .runs = -1},
    {.in = "  %in = " PAIR " custom-call()\n", .runs = -1},
    /* Numbers, and what is none. */
    {.test = MEMBERS S32("n", "constant( 7 )") COMPARED("%i, %n", "LT"), .runs = 7},
    {.test = MEMBERS S32("n", "constant(1x)") COMPARED("%i, %n", "LT"), .runs = -1},
    {.test = MEMBERS S32("n", "constant(-)") COMPARED("%i, %n", "LT"), .runs = -1},
    {.test = MEMBERS S32("n", "constant()") COMPARED("%i, %n", "LT"), .runs = -1},
    {.test = MEMBERS S32("n", "constant({1,2})") COMPARED("%i, %n", "LT"), .runs = -1},
    {.test = MEMBERS "  %n = s32[2] constant(9)\n" COMPARED("%i, %n", "LT"), .runs = -1},
    {.test = MEMBERS S32("n", "constant(2147483648)") COMPARED("%i, %n", "LT"), .runs = -1}, /* of no s32 */
    {.test = MEMBERS S32("n", "constant(9223372036854775799)") COMPARED("%i, %n", "LT"), .runs = -1},
    {.test =
         "  %i = u63[] get-tuple-element(%s), index=0\n  %n = u63[] constant(9)\n" COMPARED("%i, %n", "LT"),
     .runs = 9},
    {.test = LONG_I LONG("n", "constant(9223372036854775799)") COMPARED("%i, %n", "LT"),
     .runs = 9223372036854775799},
    {.test = LONG_I LONG("n", "constant(9223372036854775809)") COMPARED("%i, %n", "LT"), .runs = -1},
    {.in = S32("low", "constant(-9)") "  %in = " PAIR " tuple(%low, %low)\n",
     .test = LONG_I LONG("n", "constant(9223372036854775799)") COMPARED("%i, %n", "LT"),
     .runs = -1}, /* more rounds than are counted */
    {.test = LONG_I TEN LONG("most", "constant(9223372036854775799)") LONG("m", "add(%most, %n)")
         COMPARED("%i, %m", "LT"),
     .runs = -1},
    {.test = LONG_I TEN LONG("least", "constant(-9223372036854775799)") LONG("m", "subtract(%least, %n)")
         COMPARED("%i, %m", "GT"),
     .runs = -1},
    /* Integers wrap: one less is the largest of its type more. */
    {.in = U8("i", "constant(20)") "  %in = " PAIR " tuple(%i, %i)\n",
     .test = U8_I U8("n", "constant(9)") COMPARED("%i, %n", "NE"),
     .body = U8_I U8("one", "constant(255)") U8("next", "add(%i, %one)") GIVE("%next"),
     .runs = 11},
    {.in = U8("i", "constant(8)") "  %in = " PAIR " tuple(%i, %i)\n",
     .test = U8_I U8("n", "constant(1)") COMPARED("%n, %i", "LT"),
     .body = U8_I U8("one", "constant(3)") U8("next", "subtract(%i, %one)") GIVE("%next"),
     .runs = -1}, /* 8, 5, 2, 255 .. */
    {.test = U8_I U8("n", "constant(255)") COMPARED("%i, %n", "LE"), .runs = -1},
    {.test = U8_I U8("n", "constant(255)") COMPARED("%i, %n", "LT"), .runs = 255},
    {.test =
         "  %i = s8[] get-tuple-element(%s), index=0\n  %n = s8[] constant(127)\n" COMPARED("%i, %n", "LT"),
     .runs = 127},
    {.test =
         "  %i = s8[] get-tuple-element(%s), index=0\n  %n = s8[] constant(127)\n" COMPARED("%i, %n", "LE"),
     .runs = -1},
    {.test = U8_I U8("k", "constant(250)") U8("l", "constant(13)") U8("n", "add(%k, %l)")
         COMPARED("%i, %n", "LT"),
     .runs = 7},
    /* Equal, or not, without an end. */
    {.test = MEMBERS S32("n", "constant(-6)") COMPARED("%i, %n", "NE"), .runs = -1},
    {.test = MEMBERS S32("n", "constant(0)") COMPARED("%i, %n", "NE"), .runs = 0},
    {.test = MEMBERS TEN COMPARED("%j, %n", "NE"), .body = MEMBERS ONE NEXT, .runs = -1},
    {.test = MEMBERS S32("n", "constant(0)") COMPARED("%j, %n", "EQ"), .body = MEMBERS ONE NEXT, .runs = -1},
};

static const char *or_else(const char *text, const char *otherwise) { return text ? text : otherwise; }

static void add_loop(ts_text *text, size_t i) {
    const char *state = or_else(forms[i].state, PAIR);
    ts_text_add(text, "HloModule loop, is_scheduled=true\n\n%s%%cond {\n  %%s = %s parameter(0)\n%s}\n\n",
                or_else(forms[i].others, ""), state,
                or_else(forms[i].test, MEMBERS TEN COMPARED("%i, %n", "LT")));
    ts_text_add(text,
                "%%body {\n  %%s = %s parameter(0)\n  %%x = f32[8,128]{1,0:T(8,128)} iota()\n"
                "  %%moved = f32[8,128]{1,0:T(8,128)S(1)} copy(%%x)\n%s}\n\n",
                state, or_else(forms[i].body, MEMBERS ONE NEXT));
    ts_text_add(text, "ENTRY %%main {\n%s  ROOT %%w = %s while(%%in), condition=%%cond, body=%%body\n}\n",
                or_else(forms[i].in, S32("zero", "constant(0)") "  %in = " PAIR " tuple(%zero, %zero)\n"),
                state);
}

TEST(loops_of_other_forms) {
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        ts_audit_result r;
        ts_text text = ts_text_begin(arena);
        add_loop(&text, i);
        ts_audit *audit = audited(arena, &request, (audited_text){text.bytes, text.length, 0}, &r);
        const ts_audit_move *moved = move_of(&r, "moved");
        int64_t runs = moved->trips_unknown ? -1 : moved->runs;
        if (runs != forms[i].runs)
            fail_msg("%lld runs, not %lld:\n%s", (long long)runs, (long long)forms[i].runs, text.bytes);
        ts_audit_free(audit);
    }
}

static int set_up(void **state) {
    begin_group(state);
    request.machine = ts_machine_load(NULL, arena, "tpu-v5e");
    return request.machine ? 0 : -1;
}
/* Where the condition does not, the compiler does. */
TEST(the_compiler_says) {
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
TEST(loops_of_stablehlo) {
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

/* A loop that counts, and carries a tensor; another one is moved in its body, behind `within`. */
#define CARRIED "tensor<8x8xf32>, tensor<i32>"
#define LOOP(name, moved, size, end, within)                                                                 \
    "%w" name ":2 = stablehlo.while(%x" name " = %a, %i" name " = %z) : " CARRIED "\ncond {\n"               \
    "%l = stablehlo.compare LT, %i" name ", " end " : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"            \
    "stablehlo.return %l : tensor<i1>\n} do {\n" within "%j" name " = stablehlo.add %i" name                 \
    ", %one : tensor<i32>\n"                                                                                 \
    "%" name " = stablehlo.transpose " moved ", dims = [1, 0] : (tensor<" size "xf32>) -> tensor<" size      \
    "xf32>\n"                                                                                                \
    "stablehlo.return %x" name ", %j" name " : " CARRIED "\n}\n"
#define IF                                                                                                   \
    "%t:2 = \"stablehlo.if\"(%p) ({\nstablehlo.return %a, %one : " CARRIED "\n}, {\n"                        \
    "stablehlo.return %a, %m : " CARRIED "\n}) : (tensor<i1>) -> (" CARRIED ")\n"

/* What is within a loop runs as often as both say; a branch within gives nothing of the loop's. */
TEST(loops_in_loops_of_stablehlo) {
    static const char text[] =
        "func.func @main(%a: tensor<8x8xf32>, %b: tensor<16x16xf32>, %c: tensor<24x24xf32>, %d: "
        "tensor<32x32xf32>, "
        "%p: tensor<i1>) -> tensor<8x8xf32> {\n" NUMBER("%z", "0") NUMBER("%one", "1") NUMBER("%n", "6")
            NUMBER("%m", "4")
                LOOP("outer", "%a", "8x8", "%n",
                     LOOP("inner", "%b", "16x16", "%m", "") LOOP("next", "%c", "24x24", "%n", IF))
                    LOOP("last", "%d", "32x32", "%m", "") "return %a : tensor<8x8xf32>\n}\n";
    static const struct {
        const char *name;
        int64_t runs;
    } rows[] = {{"outer", 6}, {"inner", 24}, {"next", 36}, {"last", 4}};
    ts_audit_result r;
    ts_audit *audit = audited(arena, &request, (audited_text){text, strlen(text), 0}, &r);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const ts_audit_move *moved = move_of(&r, rows[i].name);
        if (moved->trips_unknown || moved->runs != rows[i].runs)
            fail_msg("%s: %d%s", rows[i].name, (int)moved->runs, moved->trips_unknown ? ", not known" : "");
    }
    ts_audit_free(audit);
}

int main(void) { return run_all_tests(set_up, end_group); }
