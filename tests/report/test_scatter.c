/* Simulated against measured times as a picture, of made-up rows. */
#include "report/validation.h"

#include <string.h>

#include "tests/support/group.h"

/* The drawing, without the frame that all pictures have. */
static const char *drawn(const ts_validation *v, const char *size) {
    ts_text out = ts_text_begin(arena);
    ts_report_validation_svg(v, &out);
    assert_non_null(strstr(out.bytes, size));
    const char *begin = strstr(out.bytes, "<g font");
    assert_non_null(begin);
    return begin;
}

/* One panel for a group with rows that are modelled; rows of others and those that are not are in none. From 1 to 100
 * us, so that a decade takes 108 pixels. */
TEST(rows_are_points) {
    static const ts_work_group groups[] = {{.name = "copies"}, {.name = "products"}};
    static const ts_measured_row ids[] = {{.id = "a<b"}, {.id = "c"}, {.id = "d"}, {.id = "e"}};
    ts_validated_row rows[] = {
        {&ids[0], {.group = &groups[0], .measured_us = 10}, false, NULL, 100, 1, false},
        {&ids[1], {.group = &groups[0], .measured_us = 20}, false, NULL, 10, 5, false},
        {&ids[2], {.group = &groups[0], .measured_us = 0.001}, false, "why", 1, 1, false},
        {&ids[3], {.group = &groups[1], .measured_us = 5000}, false, NULL, 4000, 3000, false},
    };
    ts_validated_group sums[] = {{&groups[0], 3, 2, {25, 0, 0}, {60.04, 0, 0}, NULL, 0},
                                 {&groups[1], 1, 0, {0, 0, 0}, {0, 0, 0}, NULL, 0},
                                 {&groups[1], 1, 1, {20, 0, 0}, {40, 0, 0}, NULL, 0}};
    const ts_validation v = {NULL, rows, 4, sums, 3};
    assert_string_equal(
        drawn(&v, "viewBox=\"0 0 608 336\""), /* panels of 300 by 308 */

        "<g font-size=\"11\" transform=\"translate(58 72)\">\n"
        "<text font-size=\"13\" font-weight=\"bold\" x=\"0\" y=\"-20\">copies</text><text class=\"soft\" "
        "x=\"0\" y=\"-6\">median error 25.0 %, roofline 60.0 %, 2 rows</text>\n"
        "<rect class=\"frame\" width=\"216\" height=\"216\"/>\n"
        "<path class=\"grid\" d=\"M0.0 0v216M0 216.0h216\"/><text x=\"0.0\" y=\"230\" "
        "text-anchor=\"middle\">1</text><text x=\"-6\" y=\"220.0\" text-anchor=\"end\">1</text>\n"
        "<path class=\"grid\" d=\"M108.0 0v216M0 108.0h216\"/><text x=\"108.0\" y=\"230\" "
        "text-anchor=\"middle\">10</text><text x=\"-6\" y=\"112.0\" text-anchor=\"end\">10</text>\n"
        "<path class=\"grid\" d=\"M216.0 0v216M0 0.0h216\"/><text x=\"216.0\" y=\"230\" "
        "text-anchor=\"middle\">100</text><text x=\"-6\" y=\"4.0\" text-anchor=\"end\">100</text>\n"
        "<path class=\"equal\" d=\"M0 216L216 0\"/><path class=\"off\" d=\"M0 205.5L205.5 0M10.5 216L216 "
        "10.5\"/>\n"
        "<text class=\"soft\" x=\"108\" y=\"246\" text-anchor=\"middle\">measured, us</text>\n"
        "<text class=\"soft\" transform=\"rotate(-90)\" x=\"-108\" y=\"-44\" "
        "text-anchor=\"middle\">predicted, us</text>\n"
        "<circle class=\"roofline\" cx=\"108.0\" cy=\"216.0\" r=\"3\"/><circle class=\"model\" cx=\"108.0\" "
        "cy=\"0.0\" r=\"3\"><title>a&lt;b: 10 us measured, 100 simulated</title></circle>\n"
        "<circle class=\"roofline\" cx=\"140.5\" cy=\"140.5\" r=\"3\"/><circle class=\"model\" cx=\"140.5\" "
        "cy=\"108.0\" r=\"3\"><title>c: 20 us measured, 10 simulated</title></circle>\n"
        "</g>\n"
        "<g font-size=\"11\" transform=\"translate(358 72)\">\n"
        "<text font-size=\"13\" font-weight=\"bold\" x=\"0\" y=\"-20\">products</text><text class=\"soft\" "
        "x=\"0\" y=\"-6\">median error 20.0 %, roofline 40.0 %, 1 row</text>\n"
        "<rect class=\"frame\" width=\"216\" height=\"216\"/>\n"
        "<path class=\"grid\" d=\"M0.0 0v216M0 216.0h216\"/><text x=\"0.0\" y=\"230\" "
        "text-anchor=\"middle\">1k</text><text x=\"-6\" y=\"220.0\" text-anchor=\"end\">1k</text>\n"
        "<path class=\"grid\" d=\"M216.0 0v216M0 0.0h216\"/><text x=\"216.0\" y=\"230\" "
        "text-anchor=\"middle\">10k</text><text x=\"-6\" y=\"4.0\" text-anchor=\"end\">10k</text>\n"
        "<path class=\"equal\" d=\"M0 216L216 0\"/><path class=\"off\" d=\"M0 195.1L195.1 0M20.9 216L216 "
        "20.9\"/>\n"
        "<text class=\"soft\" x=\"108\" y=\"246\" text-anchor=\"middle\">measured, us</text>\n"
        "<text class=\"soft\" transform=\"rotate(-90)\" x=\"-108\" y=\"-44\" "
        "text-anchor=\"middle\">predicted, us</text>\n"
        "<circle class=\"roofline\" cx=\"151.0\" cy=\"112.9\" r=\"3\"/><circle class=\"model\" cx=\"151.0\" "
        "cy=\"86.0\" r=\"3\"><title>e: 5000 us measured, 4000 simulated</title></circle>\n"
        "</g>\n"
        "</svg>\n");
    ts_validated_group four[] = {sums[0], sums[0], sums[2], sums[2]};
    (void)drawn(&(ts_validation){NULL, rows, 4, four, 1}, "viewBox=\"0 0 608 336\"");
    (void)drawn(&(ts_validation){NULL, rows, 4, four, 3}, "viewBox=\"0 0 908 336\"");
    const char *all = drawn(&(ts_validation){NULL, rows, 4, four, 4}, "viewBox=\"0 0 908 644\"");
    assert_non_null(strstr(all, "translate(658 72)"));
    assert_non_null(strstr(all, "translate(58 380)")); /* below the first */
}

int main(void) { return run_all_tests(begin_group, end_group); }
