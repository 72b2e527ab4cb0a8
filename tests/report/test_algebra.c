/* Values of expressions over layouts, as text and as JSON; the list of functions. */
#include "report/algebra.h"

#include <string.h>

#include "tests/support/group.h"
#include "tests/support/written.h"

static const char *json_of(const ts_value *value) {
    ts_json json;
    ts_text out = ts_text_begin(arena);
    ts_json_begin(&json, &out, "test");
    ts_report_value_json(value, &json);
    ts_json_end(&json);
    return out.bytes;
}

static ts_value value_of(const char *expression) {
    const ts_source source = {"expression", expression, strlen(expression)};
    ts_error err = {0};
    ts_value value = {0};
    if (!ts_algebra_evaluate(&err, arena, &source, &value)) fail_msg("%s: %s", expression, err.message);
    return value;
}

/* Of each kind one, and what else a function found. */
TEST(values) {
    static const struct {
        const char *expression, *text, *kind, *value, *key, *extra;
    } rows[] = {
        {"cosize((4,3):(1,8))", "20\n", "tuple", "20", NULL, NULL},
        {"compatible(24, (4,(2,3)))", "yes\n", "word", "true", NULL, NULL},
        {"compatible(5, 4)", "no\n", "word", "false", NULL, NULL},
        {"(2,(3,4))", "(2,(3,4))\n", "tuple", "[2,[3,4]]", NULL, NULL},
        {"Sw<1,2,3> o 4 o ((2,1),(3,4)):((1,9),(2,6))", "S<1,2,3> o 4 o ((2,1),(3,4)):((1,0),(2,6))\n",
         "CuTe layout", "{\"shape\":[[2,1],[3,4]],\"stride\":[[1,0],[2,6]],\"swizzle\":[1,2,3],\"offset\":4}",
         NULL, NULL},
        {"complement((4,(1,3)):(2,(7,16)), 96)", "(2,2,2):(1,8,48)\n", "CuTe layout",
         "{\"shape\":[2,2,2],\"stride\":[1,8,48],\"swizzle\":null,\"offset\":0}", NULL, NULL},
        {"forward(S[8:1] + R[2:16], 3)", "{m=3} {m=19}\n", "point", "[{\"m\":3},{\"m\":19}]", NULL, NULL},
        {"backward(S[8:2], {m=3}, 8)", "none\n", "word", "null", NULL, NULL},
        {"S[(8,4):(1@F,1)] + R[2:16] + 3 + 5@F", "S[(8,4):(1@F,1)] + R[2:16] + 5@F + 3\n", "Axe layout",
         "{\"shards\":[{\"extent\":8,\"stride\":1,\"axis\":\"F\"},{\"extent\":4,\"stride\":1,\"axis\":\"m\"}]"
         ",\"replicas\":[{\"extent\":2,\"stride\":16,\"axis\":\"m\"}],\"offsets\":{\"F\":5,\"m\":3},"
         "\"swizzle\":null}",
         NULL, NULL},
        {"group(S[32:1], (4,8))", "S[(4,8):(8,1)]\nseps: (0,1,2)\n", "Axe layout",
         "{\"shards\":[{\"extent\":4,\"stride\":8,\"axis\":\"m\"},{\"extent\":8,\"stride\":1,\"axis\":\"m\"}]"
         ",\"replicas\":[],\"offsets\":{},\"swizzle\":null}",
         "seps", "[0,1,2]"},
        {"get_scope(S[(8,4,2):(4@laneid,1@laneid,1)])", "thread..warp\n", "word", "\"thread..warp\"", NULL,
         NULL},
        {"lambda i, j: (i * 8 + j)", "lambda i, j: [i * 8 + j]\n", "index map",
         "\"lambda i, j: [i * 8 + j]\"", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const ts_value value = value_of(rows[i].expression);
        const char *json = json_of(&value);
        ts_text text = ts_text_begin(arena);
        ts_report_value(&value, &text);
        assert_string_equal(text.bytes, rows[i].text);
        assert_string_equal(json_value(arena, json, "value"), rows[i].value);
        assert_string_equal(json_value(arena, json, "kind"), ts_text_format(arena, "\"%s\"", rows[i].kind));
        if (rows[i].key) assert_string_equal(json_value(arena, json, rows[i].key), rows[i].extra);
    }
}

/* Deeper than JSON is. */
TEST(deep_tuples_are_null) {
    for (int depth = 20; depth <= 21; depth++) {
        ts_text expression = ts_text_begin(arena);
        for (int i = 0; i < depth; i++) ts_text_add(&expression, "(2,");
        ts_text_add(&expression, "3");
        for (int i = 0; i < depth; i++) ts_text_add(&expression, ")");
        const ts_value value = value_of(expression.bytes);
        assert_int_equal(strcmp(json_value(arena, json_of(&value), "value"), "null") == 0, depth > 20);
    }
}

/* By system, with what each function gives. */
TEST(functions_are_listed) {
    ts_text out = ts_text_begin(arena), table = ts_text_begin(arena), want = ts_text_begin(arena),
            rows = ts_text_begin(arena);
    ts_algebra_row row;
    const char *system = "";
    for (int i = 0; ts_algebra_function(i, &row); i++) {
        ts_text usage = ts_text_begin(arena);
        ts_algebra_print_usage(&usage, i);
        const char *gap = i > 0 ? "\n" : "";
        if (strcmp(system, row.system) != 0) {
            ts_text_add(&want, "%s%s (%s)\n", gap, row.system, row.sources);
            ts_text_add(&rows, "%s### %s\n\nFrom %s.\n\n| function | gives | example |\n|---|---|---|\n", gap,
                        row.system, row.sources);
        }
        system = row.system;
        ts_text_add(&want, "\n  %s\n      %s\n      %s\n          = %s\n", usage.bytes, row.meaning,
                    row.example, row.result);
        ts_text_add(&rows, "| `%s` | %s | `%s` = `%s` |\n", usage.bytes, row.meaning, row.example,
                    row.result);
    }
    ts_report_algebra(&out);
    ts_report_algebra_markdown(&table);
    assert_string_equal(out.bytes, want.bytes);
    assert_string_equal(table.bytes, rows.bytes);
}

int main(void) { return run_all_tests(begin_group, end_group); }
