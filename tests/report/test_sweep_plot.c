/* Pictures of studies: axes, ticks, lines, marks, legends; what --plot may say. */
#include "report/sweep.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/frame.h"
#include "tests/support/group.h"
#include "tests/support/small_table.h"
#include "tests/support/written.h"

static const char *drawn(const char *text, ts_sweep_plot plot) {
    ts_text out = ts_text_begin(arena);
    ts_report_sweep_svg(small_table(arena, 1, text), &plot, &out);
    assert_readable(out.bytes);
    return out.bytes;
}

/* Where the next tick along x or y begins: "X YV.." or "X YH..". NULL: there is none. */
static const char *next_tick(const char *svg, bool along_x) {
    static const char beginning[] = "<path class=\"grid\" d=\"M";
    while ((svg = strstr(svg, beginning)) != NULL) {
        svg += sizeof beginning - 1;
        if (svg[strcspn(svg, "VH")] == (along_x ? 'V' : 'H')) break;
    }
    return svg;
}

/* The texts of the ticks along x or y, with blanks between. */
static const char *ticks(const char *svg, bool along_x) {
    ts_text out = ts_text_begin(arena);
    for (const char *at = svg; (at = next_tick(at, along_x)) != NULL;) {
        const char *text = strchr(strstr(at, "<text"), '>') + 1;
        ts_text_add(&out, "%s%.*s", out.length > 0 ? " " : "", (int)strcspn(text, "<"), text);
    }
    return out.bytes;
}

/* Ticks are in their order, on the axis, and leave no half of it empty. */
static void assert_covered(const char *svg, bool along_x) {
    const double begin = along_x ? 76 : 346, length = along_x ? 514 : -306;
    double before = 0, x = 0, y = 0;
    int count = 0;
    for (const char *at = svg; (at = next_tick(at, along_x)) != NULL; count++) {
        assert_int_equal(sscanf(at, "%lf %lf", &x, &y), 2);
        double part = ((along_x ? x : y) - begin) / length;
        if (part < before - 1e-3 || part > before + 0.5) fail_msg("%g behind %g: %s", part, before, svg);
        before = part;
    }
    if (before < 0.5 || before > 1 + 1e-3 || count > 13) fail_msg("%d ticks up to %g", count, before);
}

/* ---- What is asked for ---- */

TEST(what_may_be_plotted) {
    static const struct {
        const char *text;
        int x, y, by;
        const char *error;
    } rows[] = {
        {"x=n,y=cycles", 0, 2, -1, NULL},
        {"by=kind,y=cycles,x=n", 0, 2, 1, NULL},
        {"x=kind,y=n", 1, 0, -1, NULL},
        {"x=n,y=cycles,x=cycles", 2, 2, -1, NULL},
        {"x=n", 0, 0, 0, "--plot: found 'x=n', expected x=COLUMN,y=COLUMN,by=COLUMN"},
        {"y=n", 0, 0, 0, "--plot: found 'y=n', expected x=COLUMN,y=COLUMN,by=COLUMN"},
        {"x=n,", 0, 0, 0, "--plot: found '', expected x=COLUMN,y=COLUMN,by=COLUMN"},
        {"x=,y=n", 0, 0, 0, "--plot: found 'x=', expected x=COLUMN,y=COLUMN,by=COLUMN"},
        {"x=n,z=n", 0, 0, 0, "--plot: found 'z=n', expected x=COLUMN,y=COLUMN,by=COLUMN"},
        {"x=n,y=kind", 0, 0, 0, "--plot: 'kind' has no numbers"},
        {"x=kinds,y=n", 0, 0, 0, "--plot: there is no column 'kinds'"},
    };
    const ts_sweep_table *table = small_table(arena, 1, "n|kind|cycles\n1|a|2\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_sweep_plot plot;
        ts_error err = {0};
        assert_int_equal(ts_sweep_plot_parse(&err, table, rows[i].text, &plot), rows[i].error == NULL);
        if (rows[i].error) {
            assert_holds(err.message, rows[i].error);
            assert_int_equal(err.kind, TS_ERROR_USAGE);
            continue;
        }
        assert_int_equal(plot.x, rows[i].x);
        assert_int_equal(plot.y, rows[i].y);
        assert_int_equal(plot.by, rows[i].by);
    }
}

/* A name has 95 letters at most. */
TEST(long_names) {
#define TEN    "aaaaaaaaab"
#define NINETY TEN TEN TEN TEN TEN TEN TEN TEN TEN
    const ts_sweep_table *table = small_table(arena, 1, NINETY "abcde|" NINETY "abcdef\n1|2\n");
    ts_sweep_plot plot;
    ts_error err = {0};
    assert_true(ts_sweep_plot_parse(NULL, table, "x=" NINETY "abcde,y=" NINETY "abcde", &plot));
    assert_false(ts_sweep_plot_parse(&err, table, "x=" NINETY "abcdef,y=" NINETY "abcde", &plot));
    assert_string_equal(err.message,
                        "--plot: found 'x=aaaaaaaaabaaaaaaaaabaaaaaaaaabaaaaaaaaabaaaaaaaaabaaaaaaaa', "
                        "expected x=COLUMN,y=COLUMN,by=COLUMN");
}

/* ---- Axes ---- */

#define GRID_X(at, text)                                                                                     \
    "<path class=\"grid\" d=\"M" at " 40V346\"/><text x=\"" at "\" y=\"364\" text-anchor=\"middle\">" text   \
    "</text>\n"
#define GRID_Y(at, below, text)                                                                              \
    "<path class=\"grid\" d=\"M76 " at "H590\"/><text x=\"68\" y=\"" below "\" text-anchor=\"end\">" text    \
    "</text>\n"
#define MARK(k, x, y, title)                                                                                 \
    "<circle class=\"dot k" #k "\" cx=\"" x "\" cy=\"" y "\" r=\"3\"><title>" title "</title></circle>\n"

/* x goes over 514 pixels from 76 on; y from 346 up to 40, from 0 to 4 % above the largest: 40 of 41.6. */
TEST(one_line) {
    const char *svg = drawn("n|y<\n1|10\n4|40\n3|30\n", (ts_sweep_plot){0, 1, -1});
    assert_holds(svg, "class=\"picture\" width=\"760\" height=\"400\" viewBox=\"0 0 760 400\" ");
    assert_holds(svg, " role=\"img\" aria-label=\"a title\">");
    assert_holds(
        svg,
        "<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n" GRID_X("76.0", "1") GRID_X("161.7", "1.5")
            GRID_X("247.3", "2") GRID_X("333.0", "2.5") GRID_X("418.7", "3") GRID_X("504.3", "3.5")
                GRID_X("590.0", "4") GRID_Y("346.0", "350.0", "0") GRID_Y("272.4", "276.4", "10")
                    GRID_Y("198.9", "202.9", "20") GRID_Y("125.3", "129.3", "30") GRID_Y(
                        "51.8", "55.8",
                        "40") "<text x=\"76\" y=\"22\" class=\"title\" font-size=\"14\" "
                              "font-weight=\"bold\">a title</text>\n"
                              "<text x=\"333\" y=\"388\" text-anchor=\"middle\">n</text>"
                              "<text transform=\"rotate(-90)\" x=\"-193\" y=\"18\" "
                              "text-anchor=\"middle\">y&lt;</text>\n"
                              "<path class=\"curve k0\" d=\"M76.0 272.4L418.7 125.3L590.0 51.8\"/>\n" MARK(
                                  0, "76.0", "272.4", " 1: 10") MARK(0, "418.7", "125.3", " 3: 30")
                                  MARK(0, "590.0", "51.8", " 4: 40") "</svg>\n");
}

/* The line goes through the mean of what has one x; what is there twice is marked once. */
TEST(means) {
    const char *svg = drawn("n|y\n1|0\n1|20\n3|40\n3|40\n", (ts_sweep_plot){0, 1, -1});
    assert_holds(svg, ">y, lines through the means</text>");
    assert_holds(svg,
                 "<path class=\"curve k0\" d=\"M76.0 272.4L590.0 51.8\"/>\n" MARK(0, "76.0", "346.0", " 1: 0")
                     MARK(0, "76.0", "198.9", " 1: 20") MARK(0, "590.0", "51.8", " 3: 40") "</svg>");
    assert_holds(drawn("n|y\n1|20\n1|20\n3|40\n", (ts_sweep_plot){0, 1, -1}), ">y</text>");
    assert_holds(drawn("n|y|k\n1|1|a\n2|1|b\n2|5|b\n", (ts_sweep_plot){0, 1, 2}), "through the means</text>");
    assert_holds(drawn("n|y\n-2|1\n0|-5\n", (ts_sweep_plot){0, 1, -1}), ">y</text>");
    assert_holds(drawn("n|y\n-2|20\n0|40\n", (ts_sweep_plot){0, 1, -1}), " d=\"M76.0 198.9L590.0 51.8\"");
    assert_holds(drawn("n|y\n1|0\n1|20\n3|40\n", (ts_sweep_plot){0, 1, -1}), "through the means</text>");
    assert_holds(drawn("n|y|k\n1|20|a\n1|30|b\n3|40|b\n", (ts_sweep_plot){0, 1, 2}), ">y</text>");
}

TEST(ticks_of_axes) {
    static const struct {
        const char *cells, *x, *y;
    } rows[] = {
        /* From 8 times the least on along x it is logarithmic, of powers of two from 4 times; along y from 20 times. */
        {"n|y\n1|1\n7|19\n", "1 2 3 4 5 6 7", "0 5 10 15"},
        {"n|y\n1|1\n8|20\n", "1 2 4 8", "1 2 5 10 20"},
        {"n|y\n3|1\n24|19\n", "4 8 16", "0 5 10 15"},
        {"n|y\n1|1\n4|2\n", "1 2 4", "0 0.5 1 1.5 2"},
        {"n|y\n1|1\n2|2\n", "1 1.2 1.4 1.6 1.8 2", "0 0.5 1 1.5 2"},
        {"n|y\n0|1\n64|999\n", "0 10 20 30 40 50 60", "1 2 5 10 20 50 100 200 500"},
        {"n|y\n-8|1\n64|1000\n", "0 20 40 60", "1 10 100 1000"},
        {"n|y\n-30|1\n-10|2\n", "-30 -25 -20 -15 -10", "0 0.5 1 1.5 2"},
        {"n|y\n1|1\n2|1e26\n", "1 1.2 1.4 1.6 1.8 2", "1 1000 1000k 1000M 1000G 1e+15 1e+18 1e+21 1e+24"},
        {"n|y\n1|-10\n7|-30\n", "1 2 3 4 5 6 7", "-30 -25 -20 -15 -10 -5 0"},
        {"n|y\n1|-10\n7|30\n", "1 2 3 4 5 6 7", "-10 0 10 20 30"},
        {"n|y\n5|7\n", "5", "0 2 4 6"},
        {"n|y\n5.5|0\n", "5.5", "0"},
        {"n|y\n0|0\n7|0\n", "0 1 2 3 4 5 6 7", "0"},
        {"n|y\n1|0.05\n2|1.5\n", "1 1.2 1.4 1.6 1.8 2", "0.05 0.1 0.2 0.5 1"},
        /* Powers of two have the prefixes of IEC. */
        {"n|y\n1024|0\n4096|20000\n", "1Ki 2Ki 4Ki", "0 5000 10k 15k 20k"},
        {"n|y\n1048576|0\n4194304|2e13\n", "1Mi 2Mi 4Mi", "0 5000G 1e+13 1.5e+13 2e+13"},
        {"n|y\n4398046511104|0\n17592186044416|1\n", "4096Gi 8192Gi 1.759e+13", "0 0.2 0.4 0.6 0.8 1"},
        /* Each has a text of its own. */
        {"n|y\n1|1000000\n4|1000003\n", "1 2 4", "0 200k 400k 600k 800k 1000k"},
        {"n|y\n100000.5|0\n100001|1\n", "100.0005k 100.0006k 100.0007k 100.0008k 100.0009k 100.001k",
         "0 0.2 0.4 0.6 0.8 1"},
        {"n|y\n|1\n", "0 0.2 0.4 0.6 0.8 1", "0 0.2 0.4 0.6 0.8 1"},
        /* Too far to be shown. */
        {"n|y\n1|1e308\n1e308|1\n2|2\n3|\n", "2", "0 0.5 1 1.5 2"},
        {"n|y\n1|1\n65536|2\n", "1 4 16 64 256 1Ki 4Ki 16Ki 64Ki", "0 0.5 1 1.5 2"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *svg = drawn(rows[i].cells, (ts_sweep_plot){0, 1, -1});
        if (strcmp(ticks(svg, true), rows[i].x) != 0) fail_msg("row %zu, x: %s", i, ticks(svg, true));
        if (strcmp(ticks(svg, false), rows[i].y) != 0) fail_msg("row %zu, y: %s", i, ticks(svg, false));
    }
}

TEST(ticks_cover_their_axes) {
    static const double ranges[][2] = {{1, 7},          {-30, -10},        {-1e-3, 1e-3},  {0.001, 0.0011},
                                       {3, 24},         {5, 5000},         {1, 1e20},      {7e-9, 3e11},
                                       {1e-300, 1e300}, {1e17, 1e17 + 64}, {-3e5, 1.7e12}, {0, 0.1}};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        const double *range = ranges[i];
        const char *svg = drawn(
            ts_text_format(arena, "n|y\n%.17g|%.17g\n%.17g|%.17g\n", range[0], range[0], range[1], range[1]),
            (ts_sweep_plot){0, 1, -1});
        assert_covered(svg, true);
        assert_covered(svg, false);
    }
}

TEST(places_on_logarithmic_axes) {
    /* A third of the way is twice the least of eight times; a half of 100 times is ten times. */
    assert_holds(drawn("n|y\n1|1\n2|10\n8|100\n", (ts_sweep_plot){0, 1, -1}),
                 "d=\"M76.0 346.0L247.3 193.0L590.0 40.0\"");
    assert_holds(drawn("n|y\n5|0\n", (ts_sweep_plot){0, 1, -1}), MARK(0, "333.0", "193.0", " 5: 0"));
}

/* In the order of the rows, slanted where they are wide. */
TEST(words_along_x) {
    const char *svg = drawn("w|y\nb|1\n<a|2\nb|3\n", (ts_sweep_plot){0, 1, -1});
    assert_holds(svg, GRID_X("76.0", "b") GRID_X("590.0", "&lt;a"));
    assert_holds(svg, "<title> b: 1</title>");
    assert_holds(svg, "<title> b: 3</title>");
    assert_holds(svg, "<title> &lt;a: 2</title>");
    /* 22 letters of 7 pixels are more than twice 76. */
    assert_int_equal(
        count_parts(drawn("w|y\naaaaaaaaaabbbbbbbbbbc|1\nb|1\n", (ts_sweep_plot){0, 1, -1}), "rotate(40"), 0);
    svg = drawn("w|y\naaaaaaaaaabbbbbbbbbbcd|1\nb|1\n", (ts_sweep_plot){0, 1, -1});
    assert_holds(
        svg, "<text x=\"76.0\" y=\"364\" transform=\"rotate(40 76.0 364)\">aaaaaaaaaabbbbbbbbbbcd</text>");
    assert_holds(svg, "width=\"760\" height=\"502\""); /* 22 * 7 * 2 / 3 more below */
    assert_holds(svg, "<text x=\"333\" y=\"490\" text-anchor=\"middle\">w</text>");
    assert_holds(drawn("w|y\n" TEN TEN "aaaaa|1\nb|1\n", (ts_sweep_plot){0, 1, -1}), "width=\"760\"");
    /* Of five words each has 128 pixels. */
    for (int letters = 17; letters <= 18; letters++) {
        const char *five = ts_text_format(arena, "w|y\n%.*s|1\nb|1\nc|1\nd|1\ne|1\n", letters, TEN TEN);
        assert_int_equal(count_parts(drawn(five, (ts_sweep_plot){0, 1, -1}), "rotate(40"),
                         letters == 18 ? 5 : 0);
    }
    /* 35 letters to the right of the last: 245 * 7 / 9 pixels. */
    assert_holds(drawn("w|y\n" TEN TEN TEN "aaaaa|1\nb|1\n", (ts_sweep_plot){0, 1, -1}), "width=\"780\"");
    /* Also where 35 of 42 pixels are left between words. */
    assert_int_equal(
        count_parts(drawn("w|y\n00000a|1\na|1\nb|1\nc|1\nd|1\ne|1\nf|1\ng|1\nh|1\ni|1\nj|1\nk|1\nl|1\n",
                          (ts_sweep_plot){0, 1, -1}),
                    "rotate(40"),
        13);
    assert_int_equal(
        count_parts(drawn("w|y\n0000a|1\na|1\nb|1\nc|1\nd|1\ne|1\nf|1\ng|1\nh|1\ni|1\nj|1\nk|1\nl|1\n",
                          (ts_sweep_plot){0, 1, -1}),
                    "rotate(40"),
        0);
    /* y is logarithmic all the same. */
    assert_string_equal(ticks(drawn("w|y\na|1\nb|1000\n", (ts_sweep_plot){0, 1, -1}), false),
                        "1 10 100 1000");
    assert_holds(drawn("w|y\nb|1\n", (ts_sweep_plot){0, 1, -1}), "<title> b: 1</title>");
    /* One word has all the width: 72 letters but one. */
    assert_int_equal(
        count_parts(drawn("w|y\n" TEN TEN TEN TEN TEN TEN TEN TEN "|1\n", (ts_sweep_plot){0, 1, -1}),
                    "rotate(40"),
        0);
}

TEST(every_second_word) {
    ts_text text = ts_text_begin(arena);
    ts_text_add(&text, "w|y\n");
    for (int i = 0; i < 37; i++) {
        if (i == 36)
            assert_int_equal(count_parts(drawn(text.bytes, (ts_sweep_plot){0, 1, -1}), "40V346"), 36);
        ts_text_add(&text, "w%d|1\n", i);
    }
    assert_int_equal(count_parts(drawn(text.bytes, (ts_sweep_plot){0, 1, -1}), "40V346"), 19);
}

/* ---- Lines ---- */

TEST(lines_and_their_legend) {
    const char *svg = drawn("n|y|k<\n1|0|a<b\n3|40|a<b\n1|20|c\n", (ts_sweep_plot){0, 1, 2});
    assert_holds(
        svg,
        ">y</text>\n<text x=\"604\" y=\"44\">k&lt;</text>\n"
        "<path class=\"curve k0\" d=\"M76.0 346.0L590.0 51.8\"/>\n" MARK(0, "76.0", "346.0", "a&lt;b 1: 0")
            MARK(0, "590.0", "51.8",
                 "a&lt;b 3: 40") "<path class=\"curve k0\" d=\"M604 61h16\"/><text x=\"626\" "
                                 "y=\"65\">a&lt;b</text>\n"
                                 "<path class=\"curve k1\" d=\"M76.0 198.9\"/>\n" MARK(
                                     1, "76.0", "198.9",
                                     "c 1: 20") "<path class=\"curve k1\" d=\"M604 78h16\"/><text x=\"626\" "
                                                "y=\"82\">c</text>\n</svg>");
    svg = drawn("k|n|y\na|1|0\nb|1|1\n", (ts_sweep_plot){1, 2, 0});
    assert_holds(svg, "y=\"44\">k</text>");
    assert_holds(svg, "y=\"82\">b</text>\n</svg>");
    assert_holds(drawn("k|n|y\na|1|0\n", (ts_sweep_plot){1, 2, 0}), "\" y=\"65\">a</text>\n</svg>");
    /* 36 + 7 * (1 + 20) pixels for names of 20 letters, of which there are 56 at most. */
    assert_holds(drawn("n|y|k\n1|0|" TEN TEN "\n", (ts_sweep_plot){0, 1, 2}), "width=\"773\"");
    svg = drawn("n|y|k\n1|0|" TEN TEN TEN TEN TEN TEN "\n", (ts_sweep_plot){0, 1, 2});
    assert_holds(svg, "width=\"1025\"");
    assert_holds(svg, ">" TEN TEN TEN TEN TEN "aaaa..</text>");
}

/* Eight colours, then dashes; 64 of them have a name; of many points marks are smaller. */
TEST(many_lines) {
    ts_text text = ts_text_begin(arena);
    ts_text_add(&text, "n|y|k\n");
    for (int i = 0; i < 64; i++) ts_text_add(&text, "%d|1|k%d\n", 1 + i % 2, i);
    const char *svg = drawn(text.bytes, (ts_sweep_plot){0, 1, 2});
    assert_holds(svg, "height=\"1162\""); /* 40 + 17 * 66 */
    assert_holds(svg, ">k63</text>\n</svg>");
    assert_holds(svg, "<path class=\"curve k7\" d=\"M604 180h16\"/>");
    assert_holds(svg, "<path class=\"curve k0\" stroke-dasharray=\"6 3\" d=\"M604 197h16\"/>");
    assert_holds(svg, "<path class=\"curve k7\" stroke-dasharray=\"9 3 2 3\" d=\"M604 588h16\"/>");
    assert_holds(svg, "<path class=\"curve k0\" d=\"M604 605h16\"/>");
    ts_text_add(&text, "1|1|k64\n1|1|k65\n");
    svg = drawn(text.bytes, (ts_sweep_plot){0, 1, 2});
    assert_holds(svg, "height=\"1179\"");
    assert_holds(svg, "\"/>\n<circle class=\"dot k0\" ");
    assert_int_equal(count_parts(svg, ">and 2 more</text>"), 1);
    assert_null(strstr(svg, ">k65</text>"));
    ts_text_clear(&text);
    ts_text_add(&text, "n|y\n");
    for (int i = 0; i < 60; i++) ts_text_add(&text, "%d|1\n", i);
    assert_int_equal(count_parts(drawn(text.bytes, (ts_sweep_plot){0, 1, -1}), "r=\"3\""), 60);
    ts_text_add(&text, "60|1\n");
    assert_int_equal(count_parts(drawn(text.bytes, (ts_sweep_plot){0, 1, -1}), "r=\"1.5\""), 61);
}

/* 9 pixels a letter of what is right of the axis, 684 pixels: 76 letters on a line, and a second line. */
TEST(long_titles) {
#define SEVENTY TEN TEN TEN TEN TEN TEN TEN
    static const char *const rows[][2] = {
        {SEVENTY " 23456",
         "y=\"22\" class=\"title\" font-size=\"14\" font-weight=\"bold\">" SEVENTY " 23456</text>\n<text"},
        {SEVENTY " 234567", "y=\"15\" class=\"title\" font-size=\"14\" font-weight=\"bold\">" SEVENTY
                            "</text>\n<text x=\"76\" y=\"32\" class=\"title\" font-size=\"14\" "
                            "font-weight=\"bold\">234567</text>\n<text"},
        {SEVENTY "1234567",
         "y=\"22\" class=\"title\" font-size=\"14\" font-weight=\"bold\">" SEVENTY "1234..</text>\n<text"},
        {"a b " SEVENTY "34567",
         "y=\"15\" class=\"title\" font-size=\"14\" font-weight=\"bold\">a b</text>\n<text x=\"76\" y=\"32\" "
         "class=\"title\" font-size=\"14\" font-weight=\"bold\">" SEVENTY "34567</text>"},
        {SEVENTY "123456 x", "y=\"15\" class=\"title\" font-size=\"14\" font-weight=\"bold\">" SEVENTY
                             "123456</text>\n<text x=\"76\" y=\"32\" class=\"title\" font-size=\"14\" "
                             "font-weight=\"bold\">x</text>"},
        {"<", "y=\"22\" class=\"title\" font-size=\"14\" font-weight=\"bold\">&lt;</text>"},
    };
    ts_sweep_table *table = small_table(arena, 1, "n|y\n1|1\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_text out = ts_text_begin(arena);
        ts_sweep_study study = {.title = rows[i][0]};
        table->study = &study;
        ts_report_sweep_svg(table, &(ts_sweep_plot){0, 1, -1}, &out);
        assert_holds(out.bytes, rows[i][1]);
    }
}

int main(void) { return run_all_tests(begin_group, end_group); }
