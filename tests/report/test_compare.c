/* What changed between two reports, as text, as JSON and as a page. */
#include "report/compare.h"

#include <string.h>

#include "tests/support/cells.h"
#include "tests/support/group.h"

static const char before[] =
    "{\"schema\":\"tilesim.run\",\"machine\":\"tpu-v5e\",\"cycles\":1000,\"microseconds\":2.5,"
    "\"stalls\":{\"dma\":10,\"alu\":400,\"gone\":5,\"one\":1,\"two\":1,\"same\":1},"
    "\"name\":\"a text that takes more room than its column has\",\"none\":0,"
    "\"a_key_of_more_than_forty_two_characters_in_all\":{\"x\":3,\"y\":2000}}";
static const char after[] =
    "{\"schema\":\"tilesim.run\",\"machine\":\"tpu-v6e\",\"cycles\":1500,\"microseconds\":30,"
    "\"stalls\":{\"dma\":20000000,\"alu\":390,\"new\":7,\"one\":2,\"two\":2,\"same\":1},\"name\":\"short\","
    "\"none\":4,"
    "\"a_key_of_more_than_forty_two_characters_in_all\":{\"x\":2.25,\"y\":1000}}";

static const ts_comparison *compared_texts(const char *one, const char *other) {
    ts_comparison *result = TS_NEW(arena, ts_comparison);
    ts_error err = {0};
    ts_source a = {"a", one, strlen(one)}, b = {"b", other, strlen(other)};
    if (!ts_compare(&err, arena, &a, &b, result)) fail_msg("%s", err.message);
    return result;
}

static const ts_comparison *compared(void) { return compared_texts(before, after); }

/* Columns hold 42 and 17 characters; what is longer has a line of its own. */
TEST(what_fits_a_column) {
#define PATH_42 "a_path_of_just_forty_two_characters_in_all"
    static const struct {
        const char *path, *before, *after, *text;
    } rows[] = {
        {PATH_42, "\"seventeen letters\"", "\"x\"", "\n" PATH_42 " seventeen letters                 x\n"},
        {PATH_42, "\"x\"", "\"seventeen letters\"", "\n" PATH_42 "                 x seventeen letters\n"},
        {PATH_42 "+", "1", "2",
         "\n" PATH_42 "+\n                                                           1"
         "                 2 +100.0 %\n"},
        {"k", "\"eighteen letters..\"", "\"x\"", "\nk\n    eighteen letters..\n    x\n"},
        {"k", "\"x\"", "\"eighteen letters..\"", "\nk\n    x\n    eighteen letters..\n"},
        {"k", "-3", "-1.5",
         "\nk                                                         -3              -1.5  -50.0 %\n"},
        {"k", "1", "9.99",
         "\nk                                                          1              9.99 +899.0 %\n"},
        {"k", "1", "10",
         "\nk                                                          1                10 x     10\n"},
        {"k", "1", "-1",
         "\nk                                                          1                -1\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_text out = ts_text_begin(arena);
        const char *values[2] = {rows[i].before, rows[i].after}, *reports[2];
        for (int k = 0; k < 2; k++)
            reports[k] =
                ts_text_format(arena, "{\"schema\":\"tilesim.run\",\"%s\":%s}", rows[i].path, values[k]);
        ts_report_compare(compared_texts(reports[0], reports[1]), &(ts_compare_view){"a.json", "b.json", 9},
                          &out);
        if (!strstr(out.bytes, rows[i].text)) fail_msg("row %zu: %s", i, out.bytes);
    }
}

#define HEAD    "before     a.json\nafter      b.json\n           reports of tilesim run\n\n"
#define COLUMNS "                                                      before             after   change\n"

/* There are headings where something differs. */
TEST(little_differs) {
    static const char *const cases[][3] = {
        {"\"machine\":\"a\",\"k\":1", "\"machine\":\"a\",\"k\":1", HEAD "3 values are the same in both\n"},
        {"\"machine\":\"a\",\"k\":1", "\"machine\":\"b\",\"k\":1",
         HEAD COLUMNS "machine                                                    a                 b\n\n"
                      "2 values are the same in both\n"},
        {"\"machine\":\"a\",\"k\":1", "\"machine\":\"a\",\"k\":2",
         HEAD COLUMNS
         "k                                                          1                 2 +100.0 %\n\n"
         "2 values are the same in both\n"},
        {"\"machine\":\"a\",\"s\":{\"x\":1,\"y\":1}", "\"machine\":\"a\",\"s\":{\"x\":2,\"y\":4}",
         HEAD COLUMNS
         "\n"
         "s.y                                                        1                 4 +300.0 %\n"
         "s.x                                                        1                 2 +100.0 %\n\n"
         "2 values are the same in both\n"},
        {"\"machine\":\"a\",\"s\":{\"x\":1},\"t\":{\"x\":1}",
         "\"machine\":\"a\",\"s\":{\"x\":2},\"t\":{\"x\":4}",
         HEAD COLUMNS
         "\ns.x                                                        1                 2 +100.0 %\n"
         "\nt.x                                                        1                 4 +300.0 %\n\n"
         "2 values are the same in both\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ts_text out = ts_text_begin(arena);
        const char *reports[2];
        for (int k = 0; k < 2; k++)
            reports[k] = ts_text_format(arena, "{\"schema\":\"tilesim.run\",%s}", cases[i][k]);
        ts_report_compare(compared_texts(reports[0], reports[1]), &(ts_compare_view){"a.json", "b.json", 9},
                          &out);
        assert_string_equal(out.bytes, cases[i][2]);
    }
}

TEST(as_text) {
    static const struct {
        int rows;
        const char *text;
    } rows[] = {
        {9, "before     a.json\n"
            "after      b.json\n"
            "           reports of tilesim run\n"
            "\n"
            "                                                      before             after   change\n"
            "machine                                              tpu-v5e           tpu-v6e\n"
            "\n"
            "cycles                                                 1,000             1,500  +50.0 %\n"
            "microseconds                                             2.5                30 x     12\n"
            "name\n"
            "    a text that takes more room than its column has\n"
            "    short\n"
            "none                                                       0                 4\n"
            "\n"
            "stalls.dma                                                10        20,000,000 x  2e+06\n"
            "stalls.alu                                               400               390   -2.5 %\n"
            "stalls.new                                                 -                 7\n"
            "stalls.gone                                                5                 -\n"
            "stalls.one                                                 1                 2 +100.0 %\n"
            "stalls.two                                                 1                 2 +100.0 %\n"
            "\n"
            "a_key_of_more_than_forty_two_characters_in_all.y\n"
            "                                                       2,000             1,000  -50.0 %\n"
            "a_key_of_more_than_forty_two_characters_in_all.x\n"
            "                                                           3              2.25  -25.0 %\n"
            "\n"
            "2 values are the same in both\n"},
        {2, "before     a.json\n"
            "after      b.json\n"
            "           reports of tilesim run\n"
            "\n"
            "                                                      before             after   change\n"
            "machine                                              tpu-v5e           tpu-v6e\n"
            "\n"
            "cycles                                                 1,000             1,500  +50.0 %\n"
            "microseconds                                             2.5                30 x     12\n"
            "name\n"
            "    a text that takes more room than its column has\n"
            "    short\n"
            "none                                                       0                 4\n"
            "\n"
            "stalls.dma                                                10        20,000,000 x  2e+06\n"
            "stalls.alu                                               400               390   -2.5 %\n"
            "and 4 more; --all shows them\n"
            "\n"
            "a_key_of_more_than_forty_two_characters_in_all.y\n"
            "                                                       2,000             1,000  -50.0 %\n"
            "a_key_of_more_than_forty_two_characters_in_all.x\n"
            "                                                           3              2.25  -25.0 %\n"
            "\n"
            "2 values are the same in both\n"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_text out = ts_text_begin(arena);
        ts_report_compare(compared(), &(ts_compare_view){"a.json", "b.json", rows[i].rows}, &out);
        assert_string_equal(out.bytes, rows[i].text);
    }
}

TEST(as_a_page) {
    ts_text out = ts_text_begin(arena);
    ts_report_compare_html(compared(), &(ts_compare_view){"a.json", "b.json", 9}, &out);
    assert_non_null(strstr(out.bytes, "2.5 to 30 (+1100.0 %)"));
    const char *tables = strstr(out.bytes, "<h2");
    assert_non_null(tables);
    *strstr(out.bytes, "<script") = '\0';
    assert_non_null(strstr(out.bytes, "<dl class=\"facts\">\n<div><dt>microseconds</dt>"
                                      "<dd>2.5 to 30 (+1100.0 %)</dd></div>\n</dl>"));
    assert_string_equal(cells_of(arena, tables),
                        "What was compared+figure|+before|+after|+difference|+change|\n"
                        "machine|tpu-v5e|tpu-v6e|||\n"
                        "Figures+figure|+before|+after|+difference|+change|\n"
                        "cycles|1,000|1,500|+500|+50.0 %|\n"
                        "microseconds|2.5|30|+27.5|+1100.0 %|\n"
                        "stalls.dma|10|20,000,000|+19,999,990|+199999900.0 %|\n"
                        "stalls.alu|400|390|-10|-2.5 %|\n"
                        "stalls.gone|5|-|||\n"
                        "stalls.one|1|2|+1|+100.0 %|\n"
                        "stalls.two|1|2|+1|+100.0 %|\n"
                        "stalls.new|-|7|||\n"
                        "name|a text that takes more room than its column has|short|||\n"
                        "none|0|4|+4||\n"
                        "a_key_of_more_than_forty_two_characters_in_all.x|3|2.25|-0.75|-25.0 %|\n"
                        "a_key_of_more_than_forty_two_characters_in_all.y|2,000|1,000|-1,000|-50.0 %|\n"
                        "2 values are the same in both.");
}

TEST(as_json) {
    ts_text out = ts_text_begin(arena);
    ts_report_compare_json(compared(), &(ts_compare_view){"a.json", "b.json", 9}, &out);
    const char *keys = strstr(out.bytes, "  \"before\"");
    assert_non_null(strstr(out.bytes, "\"schema\": \"tilesim.compare\""));
    assert_string_equal(keys, "  \"before\": \"a.json\",\n"
                              "  \"after\": \"b.json\",\n"
                              "  \"command\": \"run\",\n"
                              "  \"figures\": [\n"
                              "    {\n"
                              "      \"path\": \"microseconds\",\n"
                              "      \"before\": 2.5,\n"
                              "      \"after\": 30,\n"
                              "      \"ratio\": 12\n"
                              "    }\n"
                              "  ],\n"
                              "  \"settings\": [\n"
                              "    {\n"
                              "      \"path\": \"machine\",\n"
                              "      \"before\": \"tpu-v5e\",\n"
                              "      \"after\": \"tpu-v6e\"\n"
                              "    }\n"
                              "  ],\n"
                              "  \"results\": [\n"
                              "    {\n"
                              "      \"path\": \"cycles\",\n"
                              "      \"before\": 1000,\n"
                              "      \"after\": 1500,\n"
                              "      \"ratio\": 1.5\n"
                              "    },\n"
                              "    {\n"
                              "      \"path\": \"microseconds\",\n"
                              "      \"before\": 2.5,\n"
                              "      \"after\": 30,\n"
                              "      \"ratio\": 12\n"
                              "    },\n"
                              "    {\n"
                              "      \"path\": \"stalls.dma\",\n"
                              "      \"before\": 10,\n"
                              "      \"after\": 20000000,\n"
                              "      \"ratio\": 2000000\n"
                              "    },\n"
                              "    {\n"
                              "      \"path\": \"stalls.alu\",\n"
                              "      \"before\": 400,\n"
                              "      \"after\": 390,\n"
                              "      \"ratio\": 0.97499999999999998\n"
                              "    },\n"
                              "    {\n"
                              "      \"path\": \"stalls.gone\",\n"
                              "      \"before\": 5,\n"
                              "      \"after\": null\n"
                              "    },\n"
                              "    {\n"
                              "      \"path\": \"stalls.one\",\n"
                              "      \"before\": 1,\n"
                              "      \"after\": 2,\n"
                              "      \"ratio\": 2\n"
                              "    },\n"
                              "    {\n"
                              "      \"path\": \"stalls.two\",\n"
                              "      \"before\": 1,\n"
                              "      \"after\": 2,\n"
                              "      \"ratio\": 2\n"
                              "    },\n"
                              "    {\n"
                              "      \"path\": \"stalls.new\",\n"
                              "      \"before\": null,\n"
                              "      \"after\": 7\n"
                              "    },\n"
                              "    {\n"
                              "      \"path\": \"name\",\n"
                              "      \"before\": \"a text that takes more room than its column has\",\n"
                              "      \"after\": \"short\"\n"
                              "    },\n"
                              "    {\n"
                              "      \"path\": \"none\",\n"
                              "      \"before\": 0,\n"
                              "      \"after\": 4,\n"
                              "      \"ratio\": null\n"
                              "    },\n"
                              "    {\n"
                              "      \"path\": \"a_key_of_more_than_forty_two_characters_in_all.x\",\n"
                              "      \"before\": 3,\n"
                              "      \"after\": 2.25,\n"
                              "      \"ratio\": 0.75\n"
                              "    },\n"
                              "    {\n"
                              "      \"path\": \"a_key_of_more_than_forty_two_characters_in_all.y\",\n"
                              "      \"before\": 2000,\n"
                              "      \"after\": 1000,\n"
                              "      \"ratio\": 0.5\n"
                              "    }\n"
                              "  ],\n"
                              "  \"equal_values\": 2\n"
                              "}\n");
}

int main(void) { return run_all_tests(begin_group, end_group); }
