/* Studies as texts: their points, what fills their texts, and what is refused, with its place. */
#include "sweep/study.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "sweep/case.h"
#include "tests/support/test.h"

static const ts_sweep_study *parse(ts_error *err, ts_arena *arena, const char *text) {
    ts_source *source = TS_NEW(arena, ts_source);
    *source = (ts_source){"study.yaml", text, strlen(text)};
    return ts_sweep_study_parse(err, arena, source, "at/");
}

static void add_case(ts_arena *arena, const ts_sweep_point *point, ts_text *out) {
    ts_error err = {0};
    ts_sweep_case asked;
    if (!ts_sweep_case_of(&err, arena, point, &asked)) fail_msg("%s", err.message);
    ts_text_add(out, "%s %s on %s", ts_sweep_question_text(asked.question), asked.text, asked.machine);
    for (int i = 0; i < asked.set_count; i++) ts_text_add(out, " %s", asked.sets[i]);
    for (int i = 0; i < asked.define_count; i++)
        ts_text_add(out, " -D %s=%s", asked.defines[i].name, asked.defines[i].value);
    for (int i = 0; i < asked.input_count; i++)
        ts_text_add(out, " -i %s=%s", asked.inputs[i].name, asked.inputs[i].value);
    ts_text_add(out, "%s%s%s%s\n", asked.exact ? " exact" : "", asked.time_only ? " time" : "",
                asked.uses ? " for " : "", asked.uses ? asked.uses : "");
}

/* All points that count, a line each. */
static void expect_cases(const char *text, const char *expected) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_text out;
    const ts_sweep_study *study = parse(&err, arena, text);
    if (!study) fail_msg("%s", err.message);
    out = ts_text_begin(arena);
    for (int64_t i = 0; i < study->grid.point_count; i++) {
        ts_sweep_point point;
        bool counts;
        ts_sweep_point_get(arena, study, i, &point);
        assert_true(ts_sweep_point_counts(&err, arena, &point, &counts));
        if (counts) add_case(arena, &point, &out);
    }
    assert_string_equal(out.bytes, expected);
    ts_arena_free(arena);
}

TEST(points) {
    expect_cases("ask: {layout: 'f32[8]'}\n", "layout f32[8] on tpu-v5e\n");
    expect_cases("vary: {A: [1,2], B: [x, '1,2']}\nask: {layout: '$A $B $$ $(A + 1)'}\n",
                 "layout 1 x $ 2 on tpu-v5e\nlayout 1 1,2 $ 2 on tpu-v5e\n"
                 "layout 2 x $ 3 on tpu-v5e\nlayout 2 1,2 $ 3 on tpu-v5e\n");
    expect_cases(
        "vary: {A: {from: 1, to: 9, times: 3}, C: {from: -1, to: 2, step: 2}}\nask: {layout: $A/$C}\n",
        "layout 1/-1 on tpu-v5e\nlayout 1/1 on tpu-v5e\nlayout 3/-1 on tpu-v5e\n"
        "layout 3/1 on tpu-v5e\nlayout 9/-1 on tpu-v5e\nlayout 9/1 on tpu-v5e\n");
    expect_cases(
        "points: [{A: 1, B: x}, {B: y, A: 2}]\nvary: {C: '5,6'}\nask: {layout: $A$B$C}\n",
        "layout 1x5 on tpu-v5e\nlayout 1x6 on tpu-v5e\nlayout 2y5 on tpu-v5e\nlayout 2y6 on tpu-v5e\n");
    expect_cases("points: [{A: \"1\\nx\", B: y}, {A: 1, B: \"x\\ny\"}]\nask: {layout: $A/$B}\n",
                 "layout 1\nx/y on tpu-v5e\nlayout 1/x\ny on tpu-v5e\n");
    expect_cases("ask: [{name: a, layout: x}, {name: b, layout: y}]\n",
                 "layout x on tpu-v5e\nlayout y on tpu-v5e\n");
    expect_cases("vary: {aAz_0: 1, zZa9: 2}\nask: {layout: $aAz_0.$zZa9}\n", "layout 1.2 on tpu-v5e\n");
    expect_cases("vary: {A: '1,2,3,4'}\nwhere: [A > 1, A * 0.5 != 1.5, '4']\nask: {layout: $A}\n",
                 "layout 2 on tpu-v5e\nlayout 4 on tpu-v5e\n");
    expect_cases("vary: {T: 'f32,bf16', A: '1,2'}\nwhere: T == \"f32\" && A > 1\nask: {layout: $T$A}\n",
                 "layout f322 on tpu-v5e\n");
    expect_cases("vary: {T: [any, 1, 2]}\nwhere: T == \"any\" || T > 1 + 0 * T\n"
                 "ask: {layout: '$(T != \"any\" && -min(T, 2) < 0)'}\n",
                 "layout 0 on tpu-v5e\nlayout 1 on tpu-v5e\n");
    expect_cases(
        "points: [{T: f32}, {T: x}, {T: 01}]\nwhere: ['\"f32\" != T', T != \"1\" || 0, '!(T == \"x\")']\n"
        "ask: {layout: 'a$T$(max(T == \"01\", -1) * 2)'}\n",
        "layout a012 on tpu-v5e\n");
    expect_cases("vary: {machine: [tpu-v5e, tpu-v6e]}\nwhere: machine == \"tpu-v6e\"\nask: {layout: a}\n",
                 "layout a on tpu-v6e\n");
}

TEST(what_is_asked) {
    expect_cases(
        "machine: m/a.yaml\nset: {hbm.stacks: $(2 * N), x.y: z}\nvary: {N: 1, hbm.burst: 64}\n"
        "ask: {program: p.tsim, define: {ROWS: $N}, input: {x: d.npy, y: /d.npy}, exact: true}\n",
        "program at/p.tsim on at/m/a.yaml hbm.stacks=2 x.y=z hbm.burst=64 -D ROWS=1 -i x=at/d.npy -i "
        "y=/d.npy exact\n");
    expect_cases("vary: {machine: [tpu-v4, /b.yaml]}\n"
                 "ask: [{audit: step.txt}, {choose: 'f32[8]', uses: stream}, {name: a, dma: a -> b},\n"
                 "      {name: t, program: 'tilesim:/add.tsim', time_only: true}]\n",
                 "audit at/step.txt on tpu-v4\naudit at/step.txt on /b.yaml\n"
                 "choose f32[8] on tpu-v4 for stream\nchoose f32[8] on /b.yaml for stream\n"
                 "dma a -> b on tpu-v4\ndma a -> b on /b.yaml\n"
                 "program tilesim:/add.tsim on tpu-v4 time\nprogram tilesim:/add.tsim on /b.yaml time\n");
}

TEST_WITH_ARENA(one_more_axis) {
    ts_error err = {0};
    ts_text out;
    const char *values[] = {"", "hbm.stacks*2"};
    const ts_grid_axis axis = {TS_SWEEP_CHANGE, values, 2};
    const ts_sweep_study *study =
        parse(&err, arena, "points: [{A: 1}, {A: 2}]\nvary: {B: '3,4'}\nask: {layout: $A$B}\n");
    const ts_sweep_study *wider = ts_sweep_study_with(&err, arena, study, &axis);
    assert_int_equal(study->grid.point_count, 4);
    assert_int_equal(wider->grid.point_count, 8);
    out = ts_text_begin(arena);
    for (int64_t i = 0; i < 8; i++) {
        ts_sweep_point point;
        ts_sweep_point_get(arena, wider, i, &point);
        add_case(arena, &point, &out);
    }
    assert_string_equal(out.bytes, "layout 13 on tpu-v5e\nlayout 14 on tpu-v5e\n"
                                   "layout 13 on tpu-v5e hbm.stacks=4\nlayout 14 on tpu-v5e hbm.stacks=4\n"
                                   "layout 23 on tpu-v5e\nlayout 24 on tpu-v5e\n"
                                   "layout 23 on tpu-v5e hbm.stacks=4\nlayout 24 on tpu-v5e hbm.stacks=4\n");
}

/* Each point's own figure, whatever else the study changes of it. */
TEST_WITH_ARENA(changes_of_each_machine) {
    ts_error err = {0};
    ts_sweep_point point;
    ts_sweep_case asked;
    ts_text out = ts_text_begin(arena);
    const char *values[] = {"hbm.clock/2", "memories.cmem.capacity*2"};
    const ts_grid_axis axis = {TS_SWEEP_CHANGE, values, 2};
    const ts_sweep_study *study = parse(&err, arena,
                                        "vary: {machine: [tpu-v4, tpu-v5e], hbm.clock: [1 GHz, 3 GHz]}\n"
                                        "ask: {layout: A}\n");
    study = ts_sweep_study_with(&err, arena, study, &axis);
    assert_int_equal(study->grid.point_count, 8);
    for (int64_t i = 0; i < 4; i++) {
        ts_sweep_point_get(arena, study, i, &point);
        add_case(arena, &point, &out);
    }
    assert_string_equal(out.bytes, "layout A on tpu-v4 hbm.clock=1 GHz hbm.clock=500 MHz\n"
                                   "layout A on tpu-v4 hbm.clock=3 GHz hbm.clock=1.5 GHz\n"
                                   "layout A on tpu-v5e hbm.clock=1 GHz hbm.clock=500 MHz\n"
                                   "layout A on tpu-v5e hbm.clock=3 GHz hbm.clock=1.5 GHz\n");
    ts_sweep_point_get(arena, study, 6, &point);
    assert_true(ts_sweep_case_of(&err, arena, &point, &asked));
    assert_int_equal(asked.set_count, 2);
    assert_string_equal(asked.sets[1], "memories.cmem.capacity=*2");
}

TEST_WITH_ARENA(derived) {
    ts_error err = {0};
    ts_sweep_row row = {0};
    ts_sweep_point point;
    ts_sweep_value value;
    const ts_sweep_study *study =
        parse(&err, arena,
              "vary: {A: 3, T: x}\nask: {layout: 'f32[8]'}\n"
              "columns: {a: cycles + A, b: a * 2, c: time * 2, d: T + 1, e: hbm_bytes, f: 1 / (A - 3)}\n");
    if (!study) fail_msg("%s", err.message);
    ts_sweep_set_integer(&row, TS_COUNTER_CYCLES, 10);
    ts_sweep_set_real(&row, TS_SWEEP_MICROSECONDS_COLUMN, 1.5);
    ts_sweep_point_get(arena, study, 0, &point);
    static const double expected[] = {13, 26, 3};
    for (int i = 0; i < 3; i++) {
        double number;
        assert_true(ts_sweep_point_evaluate(&err, arena, &point, &row, &study->derived[i], &value));
        assert_true(ts_sweep_value_number(&value, &number));
        assert_true(number == expected[i]);
    }
    for (int i = 3; i < 5; i++) {
        assert_true(ts_sweep_point_evaluate(&err, arena, &point, &row, &study->derived[i], &value));
        assert_int_equal(value.kind, TS_SWEEP_NONE);
    }
    assert_false(ts_sweep_point_evaluate(&err, arena, &point, &row, &study->derived[5], &value));
    assert_string_equal(err.message, "the divisor is 0");
    assert_int_equal(err.line, 3);
}

/* Place, message. */
#define TEXT_ALONE "found a text, expected it beside == or != and a parameter"
#define BESIDE     "a comparison of texts beside an operator, expected it in brackets"

static const struct {
    const char *text;
    int line, column;
    const char *message;
} wrong[] = {
    {"[1]", 1, 1, "a study: expected keys such as `vary` and `ask`"},
    {"vary: {A: 1}", 1, 1, "a study: expected `ask`, what to ask at each point"},
    {"ask: {dma: a}\nwhat: 1", 2, 1, "unknown key 'what'"},
    {"ask: {dma: a}\nvaty: 1", 2, 1, "unknown key 'vaty'; did you mean 'vary'?"},
    {"ask: {dma: [a]}", 1, 12, "dma: expected a text"},
    {"ask: {dma: ''}", 1, 12, "dma: expected a text"},
    {"ask: {move: a}", 1, 6, "ask: expected one of dma, program, layout, choose, audit, reshard, hbm"},
    {"ask: {dmaa: a}", 1, 6,
     "ask: expected one of dma, program, layout, choose, audit, reshard, hbm; did you mean 'dma'?"},
    {"ask: {name: a, reshart: b}", 1, 6,
     "ask: expected one of dma, program, layout, choose, audit, reshard, hbm; did you mean 'reshard'?"},
    {"ask: {dma: a, exakt: true}", 1, 15, "unknown key 'exakt'; did you mean 'exact'?"},
    {"ask: {dma: a, uses: b}", 1, 15, "unknown key 'uses'"},
    {"ask: {program: a, define: 1}", 1, 27, "define: expected a mapping of 1 to 64 keys"},
    {"ask: {program: a, define: {A: [1]}}", 1, 31, "A: expected a text"},
    {"ask: [{dma: a}, {dma: b}]", 1, 17,
     "ask: two questions have one name, expected each with a `name` of its own"},
    {"ask: []", 1, 6, "ask: expected a mapping of 1 to 64 keys"},
    {"title: [a]\nask: {dma: a}", 1, 8, "title: expected a text"},
    {"machine: {a: b}\nask: {dma: a}", 1, 10, "machine: expected a text"},
    {"machine: a\nvary: {A: 1, machine: [b, c]}\nask: {dma: a}", 2, 14,
     "'machine' varies, but `machine` in line 1 gives it one value, expected one of the two"},
    {"points: [{hbm.burst: 1, B: 1}]\nset:\n  x: 1\n  hbm.burst: 2\nask: {dma: a}", 1, 11,
     "'hbm.burst' varies, but `set` in line 4 gives it one value, expected one of the two"},
    {"set: a\nask: {dma: a}", 1, 6, "set: expected a mapping of 1 to 64 keys"},
    {"set: {a: [b]}\nask: {dma: a}", 1, 10, "a: expected a text"},
    {"vary: 1\nask: {dma: a}", 1, 7, "vary: expected a mapping of 1 to 64 keys"},
    {"vary: {A: []}\nask: {dma: a}", 1, 11, "expected at least one value"},
    {"vary: {A: '1,,2'}\nask: {dma: a}", 1, 11, "expected values such as 1,2,3"},
    {"vary: {A: [1, 1]}\nask: {dma: a}", 1, 11, "'1' is there twice"},
    {"what: 1\nask: {dma: a}", 1, 1, "unknown key 'what'"},
    {"vary: {A: [[1]]}\nask: {dma: a}", 1, 12, "A: expected a text"},
    {"vary: {cycles: 1}\nask: {dma: a}", 1, 8, "'cycles' is the name of a result, expected another"},
    {"vary: {status: 1}\nask: {dma: a}", 1, 8, "'status' is the name of a result, expected another"},
    {"ask: {dma: a}\ncolumns: {x: 2 * (cycles}", 2, 25, "found the end of the text, expected ')'"},
    {"ask: {dma: a}\ncolumns: {x: cycles ** 2}", 2, 22, "found '*', expected a number"},
    {"ask: {dma: a}\ncolumns: {x: cycles 2}", 2, 21, "found '2', expected an operator, or the end"},
    {"vary: {A: 1}\nwhere: |\n    A == 1\n    A == 2\nask: {dma: a}", 2, 9,
     "found 'A', expected an operator, or the end"},
    {"ask: {dma: a}\ncolumns: {x: max(cycles)}", 2, 24, "found ')', expected ','"},
    {"ask: {dma: a}\ncolumns: {x: max}", 2, 17, "found the end of the text, expected '('"},
    {"vary: {A: x}\nwhere: 1 < 2 && A == \"x\" && !\nask: {dma: a}", 2, 30,
     "found the end of the text, expected a number"},
    {"vary: {A: 1}\nask: {dma: 'f32[$(A + )]'}", 2, 23, "found the end of the text, expected a number"},
    {"ask: {dma: a}\ncolumns: {error: 1}", 2, 11, "'error' is the name of a result, expected another"},
    {"vary: {A: 1}\nwhere: A == 'x'\nask: {dma: a}", 2, 13, "found ''', expected a text in double quotes"},
    {"vary: {A: ' 1, '}\nask: {dma: a}", 1, 11, "expected values such as 1,2,3"},
    {"vary: {time: 1}\nask: {dma: a}", 1, 8, "'time' is the name of a result, expected another"},
    {"vary: {change: 1}\nask: {dma: a}", 1, 8, "'change' is taken, expected another name"},
    {"vary: {A: [8, 16, 8]}\nask: {dma: a}", 1, 11, "'8' is there twice"},
    {"vary: {A: '1,2,3,2'}\nask: {dma: a}", 1, 11, "'2' is there twice"},
    {"points: [{A: 1}]\nvary: {A: 1}\nask: {dma: a}", 2, 8, "'A' varies already"},
    {"vary: {ask: 1}\nask: [{dma: a}, {name: b, dma: b}]", 1, 8, "'ask' varies already"},
    {"points: {A: 1}\nask: {dma: a}", 1, 9, "points: expected a list"},
    {"points: [{A: 1}, {B: 1}]\nask: {dma: a}", 1, 18, "points: expected the keys of the first of them"},
    {"points: [{A: 1}, {A: 1, B: 1}]\nask: {dma: a}", 1, 18,
     "points: expected the keys of the first of them"},
    {"points: [{A: 1, B: 2}, {A: 2, B: 1}, {B: 2, A: 1}]\nask: {dma: a}", 1, 38,
     "points: this one is there twice"},
    {"points: [{A: [1]}]\nask: {dma: a}", 1, 14, "A: expected a text"},
    {"vary: {A: {from: 1, to: 3}}\nask: {dma: a}", 1, 11,
     "expected {from: A, to: B, step: C} or {from: A, to: B, times: C}"},
    {"vary: {A: {from: 1, to: 3, by: 1}}\nask: {dma: a}", 1, 28, "unknown key 'by'"},
    {"vary: {A: {from: 1, to: x, step: 1}}\nask: {dma: a}", 1, 25, "found 'x', expected an integer"},
    {"vary: {A: {from: 4, to: 3, step: 1}}\nask: {dma: a}", 1, 11,
     "expected from <= to, and a step from 1, or times from 2 of numbers from 1"},
    {"vary: {A: {from: 0, to: 3, times: 2}}\nask: {dma: a}", 1, 11,
     "expected from <= to, and a step from 1, or times from 2 of numbers from 1"},
    {"vary: {A: {from: 1, to: 3, times: 1}}\nask: {dma: a}", 1, 11,
     "expected from <= to, and a step from 1, or times from 2 of numbers from 1"},
    {"vary: {A: {from: 1, to: 3, step: 0}}\nask: {dma: a}", 1, 11,
     "expected from <= to, and a step from 1, or times from 2 of numbers from 1"},
    {"vary: {A: {from: 1, to: 1000001, step: 1}}\nask: {dma: a}", 1, 11, "over 1000000 values"},
    {"vary: {A: {from: 1, to: 4000, step: 1}, B: {from: 1, to: 4000, step: 1}}\nask: {dma: a}", 1, 44,
     "over 10000000 points"},
    {"vary: {ROWS: 1}\nask: {dma: $ROW}", 2, 13, "unknown parameter 'ROW'; did you mean 'ROWS'?"},
    {"vary: {ROWS: 1}\nask: {dma: 'ab $(1 + ROW)'}", 2, 22, "unknown parameter 'ROW'; did you mean 'ROWS'?"},
    {"ask: {dma: 'ab $(1'}", 1, 16, "found '$(' without its ')'"},
    {"ask: {dma: 'ab $'}", 1, 16, "found '$', expected $NAME, $(EXPRESSION) or $$"},
    {"set: {a.b: $X}\nask: {dma: a}", 1, 13, "unknown parameter 'X'"},
    {"ask: {program: a, define: {A: $X}}", 1, 32, "unknown parameter 'X'"},
    {"vary: {ROWS: 1}\nwhere: ROWS + cycles\nask: {dma: a}", 2, 15, "unknown parameter 'cycles'"},
    {"where: [[1]]\nask: {dma: a}", 1, 9, "where: expected a text"},
    {"vary: {T: a}\nwhere: T < \"a\"\nask: {dma: a}", 2, 12, TEXT_ALONE},
    {"vary: {T: a}\nwhere: '1 + \"a\" == \"b\"'\nask: {dma: a}", 2, 13, TEXT_ALONE},
    {"vary: {T: a}\nwhere: 1 == \"b\"\nask: {dma: a}", 2, 13, TEXT_ALONE},
    {"vary: {T: a}\nwhere: 1 + T == \"b\"\nask: {dma: a}", 2, 12, BESIDE},
    {"vary: {T: a}\nwhere: '!T == \"b\"'\nask: {dma: a}", 2, 10, BESIDE},
    {"vary: {T: a}\nwhere: T == \"b\" < 2\nask: {dma: a}", 2, 8, BESIDE},
    {"vary: {T: a}\nask: {dma: '$(T == \"b\" \"c\")'}", 2, 15, BESIDE},
    {"ask: {dma: a}\ncolumns: {a: limiter == \"hbm\"}", 2, 14, "a text is compared with a parameter"},
    {"vary: {T: a}\nwhere: min == \"b\"\nask: {dma: a}", 2, 8, "a text is compared with a parameter"},
    {"vary: {T: a}\nwhere: U == \"b\"\nask: {dma: a}", 2, 8, "unknown parameter 'U'"},
    {"ask: {dma: a}\ncolumns: {a: cycls}", 2, 14,
     "unknown parameter or column 'cycls'; did you mean 'cycles'?"},
    {"ask: {dma: a}\ncolumns: {a: b, b: cycles}", 2, 14, "unknown parameter or column 'b'"},
    {"vary: {A: 1}\nask: {dma: a}\ncolumns: {longer: A, b: longe}", 3, 25,
     "unknown parameter or column 'longe'; did you mean 'longer'?"},
    {"vary: {A: 1}\nask: {dma: a}\ncolumns: {A: cycles}", 3, 11, "'A' varies already"},
    {"ask: {dma: a}\ncolumns: {cycles: 1}", 2, 11, "'cycles' is the name of a result, expected another"},
    {"ask: {dma: a}\ncolumns: {a: [1]}", 2, 14, "a: expected a text"},
};

TEST(refused) {
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        if (parse(&err, arena, wrong[i].text)) fail_msg("%s is taken", wrong[i].text);
        if (strcmp(err.message, wrong[i].message) != 0 || err.line != wrong[i].line ||
            err.column != wrong[i].column)
            fail_msg("%s\n%d:%d %s\nexpected %d:%d %s", wrong[i].text, err.line, err.column, err.message,
                     wrong[i].line, wrong[i].column, wrong[i].message);
        ts_arena_free(arena);
    }
}

/* What is found where the values are. */
TEST(refused_at_a_point) {
    static const struct {
        const char *text;
        int line, column;
        const char *message;
    } rows[] = {
        {"vary: {A: '1,x'}\nask: {dma: 'a $(A * 1)'}", 2, 17, "A is 'x' here, expected a number"},
        {"vary: {A: '1,x'}\nwhere: 0 < A\nask: {dma: a}", 2, 12, "A is 'x' here, expected a number"},
        {"vary: {A: '1,0'}\nask: {dma: 'a $(1 / A)'}", 2, 19, "the divisor is 0"},
        {"vary: {A: '1,0'}\nset: {hbm.stacks: $(1 / A)}\nask: {dma: a}", 2, 23, "the divisor is 0"},
        {"vary: {A: '1,0'}\nask: {program: a, define: {B: $(1 / A)}}", 2, 35, "the divisor is 0"},
        {"vary: {A: '1,0'}\nask: {program: a, input: {B: $(1 / A)}}", 2, 34, "the divisor is 0"},
        {"vary: {A: '1,0'}\nask: {choose: a, uses: $(1 / A)}", 2, 28, "the divisor is 0"},
        {"vary: {A: '1,0'}\nask: {dma: a, exact: $(1 / A)}", 2, 26, "the divisor is 0"},
        {"vary: {A: 'true,maybe'}\nask: {dma: a, exact: $A}", 2, 22, "found 'maybe', expected true or false"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_sweep_point point;
        ts_sweep_case asked;
        const ts_sweep_study *study = parse(&err, arena, rows[i].text);
        if (!study) fail_msg("%s", err.message);
        ts_sweep_point_get(arena, study, 1, &point);
        bool counts;
        assert_false(ts_sweep_point_counts(&err, arena, &point, &counts) &&
                     ts_sweep_case_of(&err, arena, &point, &asked));
        assert_string_equal(err.message, rows[i].message);
        assert_int_equal(err.line, rows[i].line);
        assert_int_equal(err.column, rows[i].column);
        ts_arena_free(arena);
    }
}

/* What points are about, by which the larger is asked first. */
TEST(sizes) {
    static const struct {
        const char *ask;
        double bytes;
    } rows[] = {
        {"dma: 'f32[10,20] -> f32[10,20]{1,0:T(8,128)}'", 801},
        {"dma: 'f32[10,20][2:5, :] -> f32[3,20]'", 241},
        {"dma: 'f32[10,20][0:10, 3] -> f32[10,1]'", 41},
        {"dma: nothing", 1},
        {"layout: 's8[7,3]'", 22},
        {"choose: 'bf16[8,8]'", 129},
        {"layout: 'f32['", 1},
        {"audit: tests/data/no_such_file.txt", 1},
        {"audit: tests/data/measured_words.tsv", 0}, /* a byte more than it has */
        {"program: p.tsim", 16 << 20},
        {"hbm: c_copy4k", 16 << 20},
        {"reshard: 'a -> b'", 16 << 20},
    };
    struct stat file;
    assert_int_equal(stat("tests/data/measured_words.tsv", &file), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_source *source = TS_NEW(arena, ts_source);
        ts_sweep_point point;
        ts_sweep_case asked;
        char text[128];
        int length = snprintf(text, sizeof text, "ask: {%s}\n", rows[i].ask);
        *source = (ts_source){"study.yaml", text, (size_t)length};
        const ts_sweep_study *study = ts_sweep_study_parse(&err, arena, source, "");
        if (!study) fail_msg("%s", err.message);
        ts_sweep_point_get(arena, study, 0, &point);
        assert_true(ts_sweep_case_of(&err, arena, &point, &asked));
        double expected = rows[i].bytes > 0 ? rows[i].bytes : 1 + (double)file.st_size;
        if (ts_sweep_case_bytes(arena, &asked) != expected)
            fail_msg("%s: %g", rows[i].ask, ts_sweep_case_bytes(arena, &asked));
        ts_arena_free(arena);
    }
}

/* Machines and figures that there are not; of a figure one machine is enough that has it. */
TEST(machines_and_figures) {
    static const struct {
        const char *text, *error; /* NULL: none */
    } rows[] = {
        {"ask: {layout: x}\n", NULL},
        {"machine: tpu-v4\nset: {memories.cmem.capacity: 128 MiB, hbm.stacks: -1}\nask: {layout: x}\n", NULL},
        {"vary: {machine: 'tpu-v4,tpu-v5e', hbm.clock: [1 GHz, 2 GHz], ROWS: 3}\nask: {layout: x}\n", NULL},
        {"vary: {machine: [tpu-v5e, tpu-v4], memories.cmem.capacity: 5}\nask: {layout: x}\n", NULL},
        {"points: [{machine: tpu-v4, hbm.clock: 1 GHz}]\nask: {layout: x}\n", NULL},
        {"machine: tpu-v9\nask: {layout: x}\n", "1:10 no machine is called 'tpu-v9'"},
        {"vary: {machine: [tpu-v4, tpu-v9]}\nask: {layout: x}\n", "1:26 no machine is called 'tpu-v9'"},
        {"vary: {A: 1, machine: tpu-v9}\nask: {layout: x}\n", "1:23 no machine is called 'tpu-v9'"},
        {"vary: {machine: 'tpu-v4,tpu-v9'}\nask: {layout: x}\n", "1:18 no machine is called 'tpu-v9'"},
        {"machine: /dev/null\nask: {layout: x}\n", NULL}, /* wrong in its first line: of its points */
        {"points: [{machine: tpu-v9}, {machine: tpu-v4}]\nask: {layout: x}\n",
         "1:20 no machine is called 'tpu-v9'"},
        {"points: [{machine: tpu-v4}, {machine: tpu-v9}]\nask: {layout: x}\n",
         "1:39 no machine is called 'tpu-v9'"},
        {"set: {hbm.stacks: 2, hbm.clok: 2}\nask: {layout: x}\n",
         "1:22 unknown key 'hbm.clok'; did you mean 'hbm.clock'?"},
        {"set: {clok: 2}\nask: {layout: x}\n", "1:7 unknown key 'clok'"},
        {"vary: {hbm.clok: [2]}\nask: {layout: x}\n", "1:8 unknown key 'hbm.clok'"},
        {"points: [{A: 1, hbm.clok: 2}]\nask: {layout: x}\n", "1:17 unknown key 'hbm.clok'"},
        {"vary: {machine: [tpu-v4, tpu-v5e]}\nset: {hbm.clok: 2}\nask: {layout: x}\n",
         "2:7 unknown key 'hbm.clok'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        char found[600];
        const ts_sweep_study *study = parse(&err, arena, rows[i].text);
        if (!study) fail_msg("%s", err.message);
        bool good = ts_sweep_study_check(&err, arena, study);
        snprintf(found, sizeof found, "%d:%d %s", err.line, err.column, err.message);
        if (good != !rows[i].error) fail_msg("%s: %s", rows[i].text, found);
        if (!good && strncmp(found, rows[i].error, strlen(rows[i].error)) != 0)
            fail_msg("%s: %s", rows[i].text, found);
        if (!good) assert_string_equal(err.name, "study.yaml");
        ts_arena_free(arena);
    }
}
