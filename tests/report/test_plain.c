/* Markdown as text for people: tables in columns, headings of several lines, lines that fit. */
#include "report/plain.h"

#include "tests/support/group.h"

#define A20     "aaaaaaaaaaaaaaaaaaaa"
#define ROW     A20 A20 A20 A20
#define BLANK79 "                                                                               "

TEST(documents_as_text) {
    static const char *const rows[][2] = {
        {"", ""},
        {"# A *b* `c`\n\nd\n", "# A b c\n\nd\n"},
        {"no newline", "no newline"},
        /* As wide as what is below; numbers to the right; the last column has no blanks behind. */
        {"| a | bb | c |\n|---|---:|---|\n| xyz | 1 | d |\n| x | 1234 |  |\n",
         "a      bb  c\nxyz     1  d\nx    1234\n"},
        /* Marks take no room. */
        {"|a|b|\n|-|-|\n|`x`|y|\n|**z**|`w w`|\n|.. |v|\nend\n", "a   b\nx   y\nz   w w\n..  v\nend\n"},
        /* A heading has as many lines as its words need; the longest one makes the column wider. */
        {"|time, in us|share of all|\n|---:|---|\n|1|2 and 3|\n\n",
         "time,  share\nin us  of all\n    1  2 and 3\n\n"},
        /* Cells that a row lacks are blank; those that no heading has are left out. */
        {"|a|b|c|\n|-|-|-|\n|1|\n|1|2|3|4|\n", "a  b  c\n1\n1  2  3\n"},
        /* Two tables, and text between. */
        {"|a|\n|-|\n|12|\n`t`\n|b|\n|-:|\n|3|\n", "a\n12\nt\nb\n3\n"},
        {"|a|\n|-|\n|12|", "a\n12\n"},
        {"|a|\n|:|\n|12|\n", " a\n12\n"},
        {"|||\n|-|-|\n||1|\n|||\n", "\n  1\n\n"},
        /* Of a table that is wider than 100 characters the column of most words has several lines. */
        {"|" ROW "|bbb|g|1|\n|-|-|-|-:|\n|x|bbb cc dddddd eeeee ffff|h h|2|\n|y|c|i|3|\n",
         ROW "  bbb         g    1\nx" BLANK79 "  bbb cc      h h  2\n" BLANK79 "   dddddd\n" BLANK79
             "   eeeee ffff\ny" BLANK79 "  c           i    3\n"},
        {ROW " bbbbbbbbbbbbbbbbbbb\n", ROW " bbbbbbbbbbbbbbbbbbb\n"},
        {ROW " bbbbbbbbbbbbbbbbbbbb\n", ROW "\n    bbbbbbbbbbbbbbbbbbbb\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_text markdown = ts_text_begin(arena), out = ts_text_begin(arena);
        ts_text_add(&markdown, "%s", rows[i][0]);
        ts_text_add(&out, "before\n");
        report_plain(&markdown, &out);
        assert_string_equal(out.bytes, ts_text_format(arena, "before\n%s", rows[i][1]));
    }
}

int main(void) { return run_all_tests(begin_group, end_group); }
