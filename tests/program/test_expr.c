/* The form of expressions: what is one, whatever its names stand for, and where another is wrong. */
#include <string.h>

#include "program/expr.h"
#include "tests/support/group.h"

static const struct {
    const char *text;
    int column; /* of the error; 0: it is an expression */
    const char *message;
} rows[] = {
    {"1", 0, NULL},
    {"a", 0, NULL},
    {"a / 0 + 9223372036854775807 * 2", 0, NULL},
    {"!(a == \"x\") && -b < 1.5 || c % 2.5 >= 0", 0, NULL},
    {"max(a, min(1.5, b)) - ceil_div(1, 0)", 0, NULL},
    {"(a < b) == c + (1 < 2)", 0, NULL},
    {"a < b && b < c || a == c", 0, NULL},
    {"a << b // 0 >> -1 < c", 0, NULL},
    {"0 < a < 8", 7, "a comparison of a comparison, expected '&&' between two, or parentheses"},
    {"a == b >= c", 8, "a comparison of a comparison, expected '&&' between two, or parentheses"},
    {"a < b == c", 7, "a comparison of a comparison, expected '&&' between two, or parentheses"},
    {"a && b != c + 1 != d", 17, "a comparison of a comparison, expected '&&' between two, or parentheses"},
    {"", 1, "found the end of the text, expected a number"},
    {"a +", 4, "found the end of the text, expected a number"},
    {"a << >> b", 6, "found '>>', expected a number"},
    {"a ** 2", 4, "found '*', expected a number"},
    {"(a", 3, "found the end of the text, expected ')'"},
    {"max(a)", 6, "found ')', expected ','"},
    {"max", 4, "found the end of the text, expected '('"},
    {"max(a, b", 9, "found the end of the text, expected ')'"},
};

TEST(forms) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_source source = {"expression", rows[i].text, strlen(rows[i].text)};
        const token *at = token_list(arena, &source);
        ts_error err = {0};
        assert_int_equal(expr_check(&err, &at), rows[i].column == 0);
        if (rows[i].column == 0) assert_true(token_ends_line(at));
        if (rows[i].column == 0) continue;
        assert_int_equal(err.column, rows[i].column);
        assert_string_equal(err.message, rows[i].message);
    }
}

int main(void) { return run_all_tests(begin_group, end_group); }
