/* Rankings of layouts: as text, JSON, a picture and a page. */
#include "report/choose.h"

#include <string.h>

#include "tests/support/cells.h"
#include "tests/support/group.h"
#include "tests/support/shapes.h"
#include "tests/support/written.h"

/* A cycle is a nanosecond. */
static const ts_machine machine = {.name = "m", .title = "of hand", .chip.sustained_khz = 1000000};
static const ts_machine_memory hbm = {.name = "hbm"}, vmem = {.name = "vmem"};
static const ts_choose_use uses[] = {{.kind = TS_USE_DMA, .from = &hbm, .to = &vmem},
                                     {.kind = TS_USE_REDUCE, .dim = 1},
                                     {.kind = TS_USE_STREAM}};

/* The best, one as good that is there now, the compiler's, and one that was cut. */
static const ts_candidate four[] = {
    {.text = "f32[8,3]{1,0:T(8,128)}",
     .bytes = 2200,
     .bound_cycles = 900,
     .dma_cycles = 1000,
     .core_cycles = 500,
     .cycles = 1000,
     .hbm_joules = 2.5e-6,
     .limiter = "HBM <bus>",
     .priced = true,
     .is_tie = true,
     .alike = 1},
    {.text = "f32[8,3]{0,1}",
     .bytes = 4400,
     .bound_cycles = 800,
     .dma_cycles = 1050,
     .core_cycles = 100,
     .cycles = 1050,
     .hbm_joules = 3e-6,
     .limiter = "ports",
     .priced = true,
     .is_tie = true,
     .is_now = true,
     .alike = 3},
    {.text = "linear",
     .bytes = 100,
     .bound_cycles = 700,
     .dma_cycles = 2000,
     .core_cycles = 1,
     .cycles = 2000,
     .hbm_joules = 4e-6,
     .priced = true,
     .is_rule = true,
     .alike = 2},
    {.text = "f32[8,3]{x}", .bytes = 8800, .bound_cycles = 3000, .cycles = 7, .limiter = "", .alike = 1},
};
static const ts_choose_flip flips[] = {{"dma.lookahead", "64 KiB", 1, 1250, 1500}, {"hbm.x", "2", 2, 10, 20}};

static ts_choose_request request;
static ts_choose_result r;
static ts_candidate candidates[30];

static void begin(void) {
    memcpy(candidates, four, sizeof four);
    request = (ts_choose_request){.machine = &machine, .uses = uses, .use_count = 3};
    r = (ts_choose_result){.request = &request,
                           .tensor = parse_shape(arena, "f32[8,3]"),
                           .logical_bytes = 100,
                           .enumerated = 1234,
                           .priced = 1003,
                           .cut = 231,
                           .candidate_count = 4,
                           .candidates = candidates,
                           .fields_moved = 12,
                           .flip_count = 2,
                           .flips = flips};
}

typedef void writer(const ts_choose_result *result, const ts_choose_view *view, ts_text *out);

static const char *written(writer *write, int rows) {
    ts_text out = ts_text_begin(arena);
    write(&r, &(ts_choose_view){rows}, &out);
    return out.bytes;
}

static const char *text_of(int rows) { return written(ts_report_choose, rows); }

/* ---- Text ---- */

#define HEAD                                                                                                 \
    "tensor     f32[8,3]{1,0}, 100 bytes of data\n"                                                          \
    "machine    m (of hand)\n"                                                                               \
    "uses       transfer from hbm to vmem; sum along dim 1; one pass over it\n"
#define CUT                                                                                                  \
    "layouts    1,234: 1,003 priced by running the model, 231 cut, whose bounds are worse than the best"

TEST(heads_say_what_was_asked) {
    begin();
    assert_holds(text_of(9), HEAD CUT "\n\n");
    r.unfit = 1;
    r.cut = 0;
    assert_holds(text_of(9),
                 HEAD "layouts    1,234: 1,003 priced by running the model, 0 cut, 1 does not fit in its "
                      "memory\n\n");
    candidates[0].unfinished = true;
    assert_holds(
        text_of(9),
        "warning    with 1 the program ends while transfers are under way: their time is not in it\n\n");
    for (int i = 1; i < 4; i++) candidates[i].unfinished = true;
    assert_holds(text_of(9), "\nwarning    with all the program ends ");
    begin();
    r.cut = 1;
    r.estimated = true;
    r.block_bytes = 4096;
    assert_holds(text_of(9), "1 cut, whose bounds are worse than the best\n"
                             "prices     ~ sampled or extended; --exact simulates every access\n"
                             "           sums and passes of those above 4,096 bytes,\n"
                             "           half of vmem: block by block\n\n");
    request.program = "a.tsim";
    request.tensor = "x";
    r.block_bytes = 0;
    assert_holds(text_of(9), "tensor     x: f32[8,3]{1,0}, 100 bytes of data\nmachine    m (of hand)\n"
                             "uses       a.tsim, all of the run\n");
    assert_holds(text_of(9), "1 cut: they run longer than the best and a tie\nprices ");
}

#define UNDER "\n                              HBM "
#define ROW_0                                                                                                \
    "       1.000   1.00x            2,200    95.5 %      1.000      0.500  {1,0:T(8,128)}" UNDER            \
    "2.5 uJ; HBM <bus>\n"
#define ROW_1                                                                                                \
    "       1.050   1.05x=           4,400    97.7 %      1.050      0.100  {0,1} and 2 alike" UNDER         \
    "3.0 uJ; ports  <- now\n"
#define ROW_2                                                                                                \
    "       2.000   2.00x              100     0.0 %      2.000      0.001  linear and 1 alike" UNDER        \
    "4.0 uJ;   <- compiler's rule\n"
#define ROW_3   ">      3.000   3.00x            8,800    98.9 %                        {x}\n"
#define COLUMNS "          us   ratio            bytes   padding         dma       core  layout\n"
#define TIES    "= a tie with the best: nearer than the 10 % by which measured copies differ from the model\n"

/* Now and the compiler's are shown whatever their place. */
TEST(rows_of_layouts) {
    begin();
    assert_string_equal(section_of(arena, text_of(4), "          us"), COLUMNS ROW_0 ROW_1 ROW_2 ROW_3 TIES);
    assert_string_equal(section_of(arena, text_of(3), "          us"),
                        COLUMNS ROW_0 ROW_1 ROW_2 "             and 1 more; --all lists them\n" TIES);
    assert_holds(text_of(0), COLUMNS ROW_1 ROW_2 "             and 2 more; --all lists them\n" TIES);
    candidates[1].is_tie = false;
    assert_null(strstr(text_of(4), "= a tie"));
    candidates[0].cycles = 1;
    assert_holds(text_of(1), "       1.050 1050.00x ");
    candidates[0].cycles = 0;
    assert_holds(text_of(1), "       1.050   1.00x ");
}

/* A program has no parts, its layouts have the energy of the run. */
TEST(rows_of_a_program) {
    begin();
    request.program = "a.tsim";
    assert_string_equal(
        section_of(arena, text_of(4), "          us"),
        "          us   ratio            bytes   padding     HBM uJ  layout\n"
        "       1.000   1.00x            2,200    95.5 %        2.5  {1,0:T(8,128)}\n"
        "       1.050   1.05x=           4,400    97.7 %        3.0  {0,1} and 2 alike  <- now\n"
        "       2.000   2.00x              100     0.0 %        4.0  linear and 1 alike  <- "
        "compiler's rule\n"
        ">      3.000   3.00x            8,800    98.9 %             {x}\n" TIES);
}

TEST(what_would_change_the_winner) {
    begin();
    assert_null(strstr(text_of(9), "nother"));
    request.moves_fields = true;
    assert_true(ts_text_ends(
        text_of(9), "\nAnother layout wins, by more than a tie, with assumed figures of the machine (12 "
                    "were moved) at:\n"
                    "  dma.lookahead = 64 KiB: {0,1}, 1.250 us instead of 1.500\n"
                    "  hbm.x = 2: linear, 0.010 us instead of 0.020\n"));
    r.flip_count = 0;
    assert_true(ts_text_ends(
        text_of(9), "\nNo other layout wins by more than a tie when an assumed figure of the machine (12 "
                    "were moved) is\nhalved or doubled.\n"));
}

/* ---- JSON ---- */

static const char *value(const char *key) {
    return json_value(arena, written(ts_report_choose_json, 1), key);
}

TEST(as_json) {
    static const char *const rows[][2] = {
        {"schema", "\"tilesim.choose\""},
        {"machine", "\"m\""},
        {"program", "null"},
        {"tensor", "null"},
        {"logical_bytes", "100"},
        {"layouts", "1234"},
        {"priced", "1003"},
        {"cut", "231"},
        {"unfit", "5"},
        {"estimated", "true"},
        {"tie_percent", "10"},
        {"block_bytes", "6"},
        {"fields_moved", "12"},
        {"winner_changes",
         "[{\"field\":\"dma.lookahead\",\"value\":\"64 KiB\",\"shape\":\"f32[8,3]{0,1}\",\"cycles\":1250,"
         "\"cycles_of_best\":1500},{\"field\":\"hbm.x\",\"value\":\"2\",\"shape\":\"linear\",\"cycles\":10,"
         "\"cycles_of_best\":20}]"},
        {"candidates",
         "[{\"shape\":\"f32[8,3]{1,0:T(8,128)}\",\"bytes\":2200,\"padding_percent\":95.4545,\"expansion\":22,"
         "\"priced\":true,\"cycles\":1000,\"microseconds\":1,\"ratio\":1,\"hbm_joules\":2.5e-06,"
         "\"dma_cycles\":1000,\"core_cycles\":500,\"limiter\":\"ports\",\"tie\":true,\"rule\":false,"
         "\"now\":false,\"alike\":1},"
         "{\"shape\":\"f32[8,3]{0,1}\",\"bytes\":8800,\"padding_percent\":98.8636,\"expansion\":88,"
         "\"priced\":false,\"cycles_at_least\":3000,\"microseconds\":3,\"ratio\":3,\"tie\":false,"
         "\"rule\":false,\"now\":false,\"alike\":1}]"},
    };
    begin();
    candidates[0].limiter = "ports";
    candidates[1] = candidates[3];
    candidates[1].text = "f32[8,3]{0,1}";
    r.candidate_count = 2;
    r.unfit = 5;
    r.block_bytes = 6;
    r.estimated = true;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(value(rows[i][0]), rows[i][1]);
    request.program = "a.tsim";
    request.tensor = "x";
    assert_string_equal(value("program"), "\"a.tsim\"");
    assert_string_equal(value("tensor"), "\"x\"");
    assert_null(strstr(value("candidates"), "dma_cycles"));
}

/* ---- The picture ---- */

static const char *picture(void) { return written(ts_report_choose_svg, 1); }

#define BAR(class, x, y, width)                                                                              \
    "<rect class=\"" class "\" x=\"" #x "\" y=\"" #y "\" width=\"" width "\" height=\"16\"></rect>\n"
#define TEXT(x, y, rest) "<text x=\"" #x "\" y=\"" #y "\"" rest "</text>\n"
#define BREAK(x, y)                                                                                          \
    "<path class=\"break\" d=\"M" #x " " #y "l6 -20m4 0l-6 20\" fill=\"none\" stroke-width=\"2\"/>\n"

/* Four times the best, 4 us, are 240 pixels, and 8,800 bytes 220: what was cut is longer. Names take 20 letters of 8 pixels:
 * "linear" and what may stand behind it. */
TEST(bars_of_time_and_of_bytes) {
    begin();
    candidates[3].bound_cycles = 4001;
    candidates[3].bytes = 9000;
    assert_holds(picture(), "width=\"910\" height=\"172\"");
    assert_holds(
        picture(),
        TEXT(16, 26, " font-size=\"15\" font-weight=\"bold\">Layouts of f32[8,3]{1,0} on m (of hand)")
            TEXT(160, 48, " class=\"soft\">time; full: a tie with the best, grey: cut, at least so long")
                TEXT(560, 48, " class=\"soft\">bytes; blue: data, orange: padding"));
    assert_holds(
        picture(),
        TEXT(152, 75, " text-anchor=\"end\">{1,0:T(8,128)}") BAR("data", 160, 63, "60.0")
            TEXT(225, 75, ">1.000 us") BAR("data", 560, 63, "2.5") BAR("waste", 562, 63, "52.5")
                TEXT(620, 75, ">2,200") TEXT(152, 99, " text-anchor=\"end\" font-weight=\"bold\">{0,1} (now)")
                    BAR("data", 160, 87, "63.0") TEXT(228, 99, ">1.050 us") BAR("data", 560, 87, "2.5")
                        BAR("waste", 562, 87, "107.5") TEXT(675, 99, ">4,400")
                            TEXT(152, 123, " text-anchor=\"end\" font-weight=\"bold\">linear (rule)")
                                BAR("data half", 160, 111, "120.0") TEXT(285, 123, ">2.000 us")
                                    BAR("data", 560, 111, "2.5") BAR("waste", 562, 111, "0.0")
                                        TEXT(567, 123, ">100") TEXT(152, 147, " text-anchor=\"end\">{x}")
                                            BAR("cut", 160, 135,
                                                "240.0") BREAK(384, 153) TEXT(405, 147, ">more than 4.001 us")
                                                BAR("data", 560, 135, "2.5") BAR("waste", 562, 135, "217.5")
                                                    BREAK(764, 153) TEXT(785, 147, ">9,000") "</svg>");
}

/* One that was cut is a measure up to four times the best. */
TEST(bars_of_what_was_cut) {
    begin();
    assert_holds(picture(), BAR("cut", 160, 135, "240.0") TEXT(405, 147, ">more than 3.000 us"));
    assert_holds(picture(), BAR("data half", 160, 111, "160.0"));
}

/* What is there now is a measure even where it was cut. */
TEST(a_cut_one_may_be_the_measure) {
    begin();
    candidates[3].is_now = true;
    candidates[3].bound_cycles = 4000;
    assert_holds(picture(), BAR("data", 160, 63, "60.0"));
    assert_holds(picture(),
                 BAR("cut", 160, 135, "240.0") TEXT(405, 147, ">more than 4.000 us")
                     BAR("data", 560, 135, "2.5") BAR("waste", 562, 135, "217.5") TEXT(785, 147, ">8,800"));
    candidates[2].is_now = true;
    assert_holds(picture(), ">linear (rule) (now)<");
}

/* Of no elements. */
TEST(bars_of_nothing) {
    begin();
    r.logical_bytes = candidates[0].bytes = candidates[0].cycles = 0;
    r.candidate_count = 1;
    assert_holds(picture(), BAR("data", 112, 63, "0.0") TEXT(117, 75, ">0.000 us") BAR("data", 512, 63, "0.0")
                                BAR("waste", 512, 63, "0.0") TEXT(517, 75, ">0") "</svg>");
}

/* Further ones only where they are there now or the compiler's; names have at most 330 pixels. */
TEST(twenty_four_bars) {
    begin();
    r.candidate_count = 28;
    for (int i = 0; i < 28; i++) candidates[i] = four[0];
    candidates[25].is_now = candidates[27].is_rule = true;
    candidates[26].text = "{aaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee}"; /* is not drawn */
    assert_holds(picture(), "width=\"974\" height=\"724\""); /* 28 letters; 60 + 27 * 24 + 16 */
    assert_holds(picture(), TEXT(224, 699, " class=\"soft\">and 2 more") "</svg>");
    candidates[0].text = "{aaaaaaaaabbbbbbbbbbccccccccccddddddddde}";
    assert_holds(picture(), "width=\"1078\"");
    candidates[0].text = "{aaaaaaaaabbbbbbbbbbccccccccccdddddddddee}";
    assert_holds(picture(), "width=\"1080\"");
    candidates[24].is_now = candidates[26].is_now = true;
    assert_null(strstr(picture(), " more<"));
    assert_holds(picture(), "height=\"748\"");
}

/* ---- The page ---- */

static const char *page_of(void) {
    const char *all = written(ts_report_choose_html, 9);
    return strstr(all, "<h1>");
}

static const char *table(const char *caption) {
    const char *at = strstr(page_of(), caption);
    return at ? cells_of(arena, ts_text_format(arena, "%.*s", (int)(strstr(at, "</table>") - at), at)) : "";
}

TEST(a_page) {
    begin();
    assert_holds(page_of(), "<h1>Layouts of a tensor</h1>\n<p><code>f32[8,3]{1,0}</code><br>");
    assert_holds(page_of(), "<dl class=\"facts\">\n<div><dt>the best takes</dt><dd>1.000 us</dd></div>\n"
                            "<div><dt>now it takes, against that</dt><dd>1.05x</dd></div>\n"
                            "<div><dt>layouts</dt><dd>1,234</dd></div>\n"
                            "<div><dt>priced by running the model</dt><dd>1,003</dd></div>\n</dl>\n");
    assert_string_equal(
        table("Of those marked"),
        "Of those marked &gt; the bound alone is known: it is above the best."
        "+layout|+us|+against the best|+bytes|+padding|+|\n"
        "f32[8,3]{1,0:T(8,128)}|1.000|1.00x|2,200|95.5 %|as good as the best; HBM &lt;bus&gt;|\n"
        "f32[8,3]{0,1}|1.050|1.05x|4,400|97.7 %|now; as good as the best; ports; stands for 3 that "
        "are alike|\n"
        "linear|2.000|2.00x|100|0.0 %|compiler's rule; stands for 2 that are alike|\n"
        "f32[8,3]{x}|&gt; 3.000|3.00x|8,800|98.9 %||\n");
    assert_string_equal(table("Figures of the machine"),
                        "Figures of the machine that no document states, and with which another layout wins."
                        "+assumed figure|+with|+the best is|\n"
                        "dma.lookahead|64 KiB|f32[8,3]{0,1}|\nhbm.x|2|linear|\n");
    assert_holds(page_of(), "<h2>Time and bytes</h2>\n<figure>\n<svg ");
    assert_null(strstr(page_of(), "~"));
    r.estimated = true;
    assert_holds(page_of(), "<dd>~1.000 us</dd>");
    assert_holds(page_of(), "<p>Prices are ~ sampled or extended; --exact simulates every access.</p>");
}

TEST(a_page_of_a_program) {
    begin();
    request.program = "a.tsim";
    r.flip_count = 0;
    request.tensor = "x";
    assert_holds(page_of(), "<code>a.tsim, x: f32[8,3]{1,0}</code>");
    assert_string_equal(table("Figures of the machine"), "");
    candidates[1].is_now = false;
    candidates[2].limiter = NULL;
    candidates[2].is_rule = false;
    assert_null(strstr(page_of(), "now it takes"));
    assert_holds(table("Of those marked"), "|stands for 2 that are alike|");
    candidates[3].is_now = true;
    assert_holds(page_of(), "<dd>over 3.00x</dd>");
    candidates[0].cycles = 0;
    assert_holds(page_of(), "<dd>over 1.00x</dd>");
    assert_holds(table("Of those marked"), "|1.050|1.00x|");
    candidates[0].cycles = 500;
    assert_holds(page_of(), "<dd>over 6.00x</dd>");
    candidates[3].is_now = false;
    candidates[0].is_now = true;
    assert_holds(page_of(), "<dd>1.00x</dd>");
    assert_holds(table("Of those marked"), "|1.050|2.10x|");
}

int main(void) { return run_all_tests(begin_group, end_group); }
