/* Answers to questions about a shape, as text and as JSON. */
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "report/layout.h"
#include "tests/support/group.h"
#include "tests/support/shapes.h"

#define TILED "f32[3,5]{1,0:T(2,4)}"
#define AXES  "f32[2,2] S[(2,2):(1@a,1@b)]"
#define NONE  "null"

/* What was not asked is NULL in the question, and no key of the JSON. */
static const struct {
    const char *shape, *at, *inverse, *as, *equal;
    const char *text;                                    /* NULL: as it begins with the whole explanation */
    const char *offset, *elements, *same, *witness, *to; /* JSON; NULL: there is no such key */
} rows[] = {
    {TILED, NULL, NULL, NULL, NULL, NULL, NONE, NULL, NULL, NULL, NULL},
    {TILED, NULL, "24", NULL, NULL, TILED " at 24 holds (2,4)\n", NONE, "[[2,4]]", NULL, NULL, NULL},
    {TILED, NULL, "31", NULL, NULL, TILED " at 31 holds padding: no element is there\n", NONE, "[]", NULL,
     NULL, NULL},
    {"f32[2,2] S[(2,2):(1,1)]", NULL, "1", NULL, NULL, "f32[2,2] S[(2,2):(1,1)] at 1 holds (0,1) (1,0)\n",
     NONE, "[[0,1],[1,0]]", NULL, NULL, NULL},
    {TILED, NULL, NULL, NULL, TILED,
     "equal: every element is at the same place in both\n  " TILED "\n  " TILED "\n", NONE, NULL, "true",
     "null", NULL},
    {TILED, NULL, NULL, NULL, "f32[3,5]{1,0:T(2,4)S(1)}",
     "equal: every element is at the same place in both\nbut: memory spaces 0 and 1\n  " TILED
     "\n  f32[3,5]{1,0:T(2,4)S(1)}\n",
     NONE, NULL, "true", "null", NULL},
    {"s8[4]{0}", NULL, NULL, NULL, "s8[4]{0:E(16)}",
     "equal: every element is at the same place in both\nbut: elements of 8 and of 16 bits\n  s8[4]{0}\n"
     "  s8[4]{0:E(16)}\n",
     NONE, NULL, "true", "null", NULL},
};

static ts_layout_question ask(size_t i) {
    ts_error err = {0};
    ts_layout_question q = {.arena = arena,
                            .shape = parse_shape(arena, rows[i].shape),
                            .at = rows[i].at,
                            .inverse = rows[i].inverse,
                            .as = rows[i].as,
                            .equal = rows[i].equal};
    if (!ts_layout_question_answer(&err, &q)) fail_msg("row %zu: %s", i, err.message);
    return q;
}

TEST(answers_as_text) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_layout_question q = ask(i);
        ts_text out = ts_text_begin(arena), whole = ts_text_begin(arena);
        ts_report_layout_answer(&q, &out);
        ts_report_shape(arena, q.shape, &whole);
        assert_string_equal(out.bytes, rows[i].text ? rows[i].text : whole.bytes);
    }
}

/* What goes step by step to the offset stands between the shape and what is asked behind it. */
TEST(places_as_text) {
    ts_layout_question q = {.arena = arena, .shape = parse_shape(arena, TILED), .at = "2,4", .inverse = "0"};
    ts_text out = ts_text_begin(arena), steps = ts_text_begin(arena);
    assert_true(ts_layout_question_answer(NULL, &q));
    ts_report_layout_answer(&q, &out);
    ts_report_offset(q.shape, (const int64_t[]){2, 4}, &steps);
    assert_string_equal(
        out.bytes,
        ts_text_format(arena, TILED " at (2,4)\n\n%s\nThe same shape at 0 holds (0,0)\n", steps.bytes));
}

TEST(differences_name_an_element) {
    ts_layout_question q = {
        .arena = arena, .shape = parse_shape(arena, "f32[2,3]{1,0}"), .equal = "f32[2,3]{0,1}"};
    ts_text out = ts_text_begin(arena);
    assert_true(ts_layout_question_answer(NULL, &q));
    ts_report_layout_answer(&q, &out);
    assert_true(ts_text_starts(out.bytes, "different at (1,0)\n  f32[2,3]{1,0}\n"));
    assert_non_null(strstr(out.bytes, "\n  f32[2,3]{0,1}\n"));
    q = (ts_layout_question){.arena = arena, .shape = parse_shape(arena, "f32[2,3]{1,0}"), .as = "axe"};
    ts_text_clear(&out);
    assert_true(ts_layout_question_answer(NULL, &q));
    ts_report_layout_answer(&q, &out);
    assert_string_equal(out.bytes, "f32[2,3] S[6:1]\n");
}

static void assert_key(const cJSON *all, const char *key, const char *expected) {
    char *text = cJSON_PrintUnformatted(cJSON_GetObjectItem(all, key));
    if (expected)
        assert_string_equal(text, expected);
    else
        assert_null(text);
    free(text);
}

TEST(answers_as_json) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_layout_question q = ask(i);
        ts_text out = ts_text_begin(arena);
        ts_report_layout_answer_json(&q, &out);
        cJSON *all = cJSON_Parse(out.bytes);
        assert_key(all, "schema", "\"tilesim.layout\"");
        assert_key(all, "offset", rows[i].offset);
        assert_key(all, "elements", rows[i].elements);
        assert_key(all, "equal", rows[i].same);
        assert_key(all, "witness", rows[i].witness);
        assert_key(all, "as", rows[i].to);
        cJSON_Delete(all);
    }
}

/* Of one axis there is an offset; of several there are points alone. */
TEST(places_as_json) {
    static const char *const cases[][5] = {{TILED, "2,4", "24", "[2,4]", "[1,0]"},
                                           {AXES, "1,0", "null", "[1,0]", "[1,0]"}};
    for (int i = 0; i < 2; i++) {
        ts_layout_question q = {.arena = arena,
                                .shape = parse_shape(arena, cases[i][0]),
                                .at = cases[i][1],
                                .equal = "f32[2,2]{0,1}",
                                .as = i == 0 ? NULL : "axe"};
        if (i == 0) q.equal = "f32[3,5]{1,0}";
        ts_text out = ts_text_begin(arena);
        assert_true(ts_layout_question_answer(NULL, &q));
        ts_report_layout_answer_json(&q, &out);
        cJSON *all = cJSON_Parse(out.bytes);
        assert_key(all, "offset", cases[i][2]);
        assert_key(all, "index", cases[i][3]);
        assert_key(all, "equal", "false");
        assert_key(all, "witness", cases[i][4]);
        assert_key(all, "as_storage_bytes", i == 0 ? NULL : "16");
        cJSON_Delete(all);
    }
}

int main(void) { return run_all_tests(begin_group, end_group); }
