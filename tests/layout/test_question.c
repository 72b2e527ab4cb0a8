/* Questions about shapes, as a user writes them: answers, and errors with their columns. */
#include <stdio.h>
#include <string.h>

#include "layout/notation/question.h"
#include "tests/support/cmocka.h"

#define TILED   "f32[3,5]{1,0:T(2,2)}"
#define LONG    "u32[8]{0:T(5)L(16)}" /* 10 elements in tiles, 16 with what L() adds */
#define STRIDED "f32[2,5] S[(2,5):(10,1)]"
#define LANES   "f32[4,4] S[(4,4):(1@lane,1@reg)] + 2@lane"

static const struct {
    const char *shape, *at, *inverse, *as, *equal;
    const char *found; /* what was answered, or the error from its place on */
} rows[] = {
    {TILED, "2,3", NULL, NULL, NULL, "index 2 3"},
    {TILED, "(0,4)", NULL, NULL, NULL, "index 0 4"},
    {TILED, "3,0", NULL, NULL, NULL, "--at:1:1: index 3 is outside dimension 0 of 3"},
    {TILED, "0,-1", NULL, NULL, NULL, "--at:1:3: index -1 is outside dimension 1 of 5"},
    {TILED, "1", NULL, NULL, NULL,
     "--at:1:2: found the end, expected ',' and another index: one for each dimension"},
    {TILED, "1,2,3", NULL, NULL, NULL, "--at:1:4: found ',', expected the end: one index for each dimension"},
    {TILED, "(1,2", NULL, NULL, NULL, "--at:1:5: found the end, expected ')'"},
    {TILED, "a", NULL, NULL, NULL, "--at:1:1: found 'a', expected an index"},
    {TILED, NULL, "17", NULL, NULL, "point 17: 2 3"},
    {TILED, NULL, "9", NULL, NULL, "point 9:"},
    {TILED, NULL, "0", NULL, NULL, "point 0: 0 0"},
    {TILED, NULL, "23", NULL, NULL, "point 23:"},
    {TILED, NULL, "m=12", NULL, NULL, "point 12: 2 0"},
    {TILED, NULL, "24", NULL, NULL, "--inverse:1:1: found 24 on the axis 'm', expected 0 to 23"},
    {TILED, NULL, "-1", NULL, NULL, "--inverse:1:1: found -1 on the axis 'm', expected 0 to 23"},
    {TILED, NULL, "1 2", NULL, NULL, "--inverse:1:3: found '2', expected the end of the coordinates"},
    {LONG, NULL, "9", NULL, NULL, "point 9:"},
    {LONG, NULL, "15", NULL, NULL, "point 15:"},
    {LONG, NULL, "16", NULL, NULL, "--inverse:1:1: found 16 on the axis 'm', expected 0 to 15"},
    {STRIDED, NULL, "14", NULL, NULL, "point 14: 1 4"},
    {STRIDED, NULL, "15", NULL, NULL, "--inverse:1:1: found 15 on the axis 'm', expected 0 to 14"},
    {LANES, NULL, "lane=3,reg=2", NULL, NULL, "point 3 2: 1 2"},
    {LANES, NULL, "reg=2", NULL, NULL, "point 2 2: 0 2"},
    {LANES, NULL, "lane=6", NULL, NULL, "--inverse:1:6: found 6 on the axis 'lane', expected 2 to 5"},
    {LANES, NULL, "lane=2,lane=3", NULL, NULL, "--inverse:1:8: axis 'lane' is given twice"},
    {LANES, NULL, "warp=2", NULL, NULL, "--inverse:1:1: the layout has no axis 'warp'"},
    {LANES, NULL, "7", NULL, NULL, "--inverse:1:1: found '7', expected an axis"},
    {"f32[0,8]", NULL, "0", NULL, NULL, "--inverse:1:1: the array has no elements"},
    {"f32[8,8]", NULL, NULL, "cute", NULL, "as f32[8,8] (8,8):(8,1)"},
    {"f32[8,8]", NULL, NULL, NULL, "f32[8,8] (8,8):(8,1)", "equal"},
    {"f32[8,8]", NULL, NULL, NULL, "f32[8,8]{0,1}", "differs at 1 0"},
    {"f32[65536,65536] SW(0,3,3) o S[(65536,65536):(65536,1)]", NULL, NULL, NULL, "f32[65536,65536]",
     "differs at 0 8"},
    {"f32[8,8]", NULL, NULL, NULL, "f32[8,9]",
     "--equal: the shapes have different dimensions, expected the same"},
    {"f32[8,8]", NULL, NULL, NULL, "f32[64]",
     "--equal: the shapes have different dimensions, expected the same"},
    {"f32[8,8]", NULL, NULL, NULL, "f32[8", "--equal:1:6: found the end, expected ',' or ']'"},
    {"f32[8,8]", NULL, NULL, NULL, NULL, "equal"},
    {"token[]", "0", NULL, NULL, NULL, "the shape is token[], which holds no data, expected an array"},
};

static void add_ints(char *out, size_t bytes, int count, const int64_t *values) {
    for (int i = 0; i < count; i++) {
        size_t used = strlen(out);
        snprintf(out + used, bytes - used, " %lld", (long long)values[i]);
    }
}

static void tell(const ts_layout_question *q, char *out, size_t bytes) {
    int rank = q->shape->layout->rank;
    ts_text text;
    *out = '\0';
    if (q->at) {
        snprintf(out, bytes, "index");
        add_ints(out, bytes, rank, q->index);
    } else if (q->inverse) {
        snprintf(out, bytes, "point");
        add_ints(out, bytes, q->shape->layout->axis_count, q->point);
        strcat(out, ":");
        add_ints(out, bytes, rank * (int)q->found.count, q->found.indices);
    } else if (q->as) {
        text = ts_text_begin(q->arena);
        ts_shape_print(q->translated, &text);
        snprintf(out, bytes, "as %s", text.bytes);
    } else {
        snprintf(out, bytes, q->compared.equal ? "equal" : "differs at");
        if (!q->compared.equal) add_ints(out, bytes, rank, q->compared.witness);
    }
}

TEST(answers) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error *err = ts_error_new();
        ts_source source = {"shape", rows[i].shape, strlen(rows[i].shape)};
        ts_layout_question q = {.arena = arena,
                                .shape = ts_shape_parse(err, arena, &source),
                                .at = rows[i].at,
                                .inverse = rows[i].inverse,
                                .as = rows[i].as,
                                .equal = rows[i].equal};
        char found[400];
        assert_non_null(q.shape);
        if (ts_layout_question_answer(err, &q))
            tell(&q, found, sizeof found);
        else if (ts_error_line(err) > 0)
            snprintf(found, sizeof found, "%s:%d:%d: %s", ts_error_file(err), ts_error_line(err),
                     ts_error_column(err), ts_error_message(err));
        else
            snprintf(found, sizeof found, "%s", ts_error_message(err));
        assert_string_equal(found, rows[i].found);
        ts_error_free(err);
        ts_arena_free(arena);
    }
}
