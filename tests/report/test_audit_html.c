/* Audits as a picture and as a page. */
#include "report/audit.h"

#include "tests/support/frame.h"
#include "tests/support/cells.h"
#include "tests/support/group.h"
#include "tests/support/small_audit.h"
#include "tests/support/written.h"

static small_audit *a;
static const ts_audit_view view = {"m<1>.hlo", 1};

static const char *picture(void) {
    ts_text out = ts_text_begin(arena);
    ts_report_audit_svg(&a->result, &view, &out);
    assert_readable(out.bytes);
    return out.bytes;
}

/* What the elements of a page's body say: rows are lines, cells end in bars. */
static const char *page_of(void) {
    ts_text out = ts_text_begin(arena);
    ts_report_audit_html(&a->result, &view, &out);
    const char *body = strstr(out.bytes, "<h1>"), *end = strstr(body, "<script");
    return ts_text_format(arena, "%.*s", (int)(end - body), body);
}

/* From a heading to the next. */
static const char *table(const char *heading) {
    const char *at = strstr(page_of(), ts_text_format(arena, "<h2>%s</h2>", heading));
    if (!at) return "";
    const char *end = strstr(at + 1, "<h2>");
    return cells_of(arena, end ? ts_text_format(arena, "%.*s", (int)(end - at), at) : at);
}

/* ---- The picture ---- */

#define BAR(class, x, y, width, title)                                                                       \
    "<rect class=\"" class "\" x=\"" #x "\" y=\"" #y "\" width=\"" width "\" height=\"16\"><title>" title    \
                           "</title></rect>\n"
#define LABEL(y, text) "<text x=\"462\" y=\"" #y "\" text-anchor=\"end\">" text "</text>\n"

#define VALUE(x, y, text) "<text x=\"" #x "\" y=\"" #y "\">" text "</text>\n"

/* The longest has 420 pixels: 3 times 4096 bytes, of which 3 times 96 are data. */
TEST(bars_of_padding_and_of_time) {
#define TITLE_0 "3 buffers, 96 bytes logical, 4096 padded each"
#define TITLE_1 "1 buffer, 2048 bytes logical, 4096 padded each"
    a = small_audit_new(arena);
    assert_holds(picture(), "width=\"1100\" height=\"232\"");
    assert_holds(
        picture(),
        "<text x=\"16\" y=\"28\" font-size=\"15\" font-weight=\"bold\">Bytes by shape: data and "
        "padding</text>\n"
        "<rect class=\"data\" x=\"470\" y=\"17\" width=\"12\" height=\"12\"/>" VALUE(
            487, 28,
            "data") "<rect class=\"waste\" x=\"530\" y=\"17\" width=\"12\" height=\"12\"/>" VALUE(547, 28,
                                                                                                  "padding")
            LABEL(61, "f32[8,3]{a}") BAR("data", 470, 49, "9.8", TITLE_0) BAR(
                "waste", 479, 49, "410.2", TITLE_0) VALUE(896, 61,
                                                          "11.7K padding, 42.7x") LABEL(85, "f32[4,128]{b}")
                BAR("data", 470, 73, "70.0", TITLE_1) BAR("waste", 540, 73, "70.0", TITLE_1) VALUE(
                    616, 85,
                    "2.0K padding, 2.0x") "<text x=\"16\" y=\"130\" font-size=\"15\" "
                                          "font-weight=\"bold\">Time by move, all its runs, "
                                          "on m (of hand)</text>\n" LABEL(159, "copy f32[8,128]{e}") BAR(
                                              "data", 470, 147, "420.0",
                                              "copy.1, line 20: 6 times, 1.500 us each")
                                              VALUE(896, 159, "9.000 us") LABEL(183, "transpose f32[8,3]{a}")
                                                  BAR("data half", 470, 171, "23.3",
                                                      "t.1, line 21: 1 time, 0.500 us each")
                                                      VALUE(499, 183, "at most 0.500 us")
                                                          LABEL(207, "copy f32[8,128]{d}")
                                                              BAR("data", 470, 195, "11.7",
                                                                  "copy.2, line 22: 1 time, 0.250 us each")
                                                                  VALUE(487, 207, "about 0.250 us") "</svg>");
}

/* What is free, or has no price, has no bar and is no measure. */
TEST(what_has_no_bar) {
    a = small_audit_empty(arena);
    assert_holds(picture(), "height=\"112\"");
    assert_holds(picture(), "data and padding (none)</text>");
    assert_holds(picture(), "on m (of hand) (none)</text>\n</svg>");
    a = small_audit_new(arena);
    a->groups[0].priced = false;
    a->groups[1].cycles = 0;
    assert_holds(picture(), "height=\"184\"");
    assert_holds(picture(), "(of hand)</text>\n" LABEL(159, "copy f32[8,128]{d}")
                                BAR("data", 470, 147, "210.0", "copy.2, line 22: 1 time, 0.250 us each"));
    a->classes[0].waste_bytes = a->classes[1].waste_bytes = 1;
    assert_holds(picture(), "height=\"184\"");
}

#define FIFTY_NINE "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define SIXTY      FIFTY_NINE "a"

TEST(at_most_sixteen_bars) {
    ts_audit_class classes[17];
    ts_audit_group groups[17];
    a = small_audit_new(arena);
    for (int i = 0; i < 17; i++) {
        classes[i] = a->classes[0];
        groups[i] = a->groups[0];
        groups[i].total_microseconds = 17 - i;
    }
    a->result.classes = classes;
    a->result.groups = groups;
    a->result.class_count = a->result.group_count = 17;
    a->shapes[0].text = SIXTY "<23456";
    a->shapes[4].text = SIXTY "23456";
    assert_holds(picture(), "height=\"880\""); /* 46 + 16 * 24 + 50 + 16 * 24 + 16 */
    assert_holds(picture(), LABEL(421, SIXTY "&lt;23456") "<rect");
    assert_holds(picture(), LABEL(855, "copy " FIFTY_NINE ".."));
    assert_holds(picture(), VALUE(525, 855, "2.000 us") "</svg>");
}

/* ---- The page ---- */

TEST(facts_and_bytes) {
    a = small_audit_new(arena);
    assert_holds(page_of(), "<h1>jit_f</h1>\n<p><code>m&lt;1&gt;.hlo</code>");
    assert_holds(page_of(), "<div><dt>instructions</dt><dd>2,000</dd></div>\n"
                            "<div><dt>bytes of all buffers</dt><dd>24.4K</dd></div>\n"
                            "<div><dt>expansion</dt><dd>2.50x</dd></div>\n"
                            "<div><dt>moves take</dt><dd>~9.250 us</dd></div>\n"
                            "<div><dt>fused moves</dt><dd>at most 0.500 us more</dd></div>\n");
    assert_holds(page_of(), "<span>data</span><b>9.8K &nbsp; 40.0 %</b>");
    assert_holds(page_of(), "<span>padding</span><b>14.6K &nbsp; 60.0 %</b>");
    a->result.scaled_moves = 0;
    a->result.module = NULL;
    assert_holds(page_of(), "<h1>Layouts of a module</h1>");
    a->request.exact = true;
    assert_holds(page_of(), "<dd>9.250 us</dd>");
    assert_holds(page_of(), "<p>&lt;: at most, for it is fused.</p>");
}

TEST(tables_of_buffers_and_shapes) {
    a = small_audit_new(arena);
    assert_holds(table("Buffers"), "+space|+buffers|+logical|+padded|+expansion|\n"
                                   "hbm|5|7.8K|19.5K|2.50x|\nother|1|2.0K|4.9K|2.50x|\n"
                                   "all|6|9.8K|24.4K|2.50x|\n           1,024 bytes of it are elements");
    assert_holds(table("Shapes"),
                 "+buffers|+padded|+logical|+expansion|+shape|+cause|\n"
                 "3|4.0K|96B|42.7x|f32[8,3]{a}|dim 1 (minor) 3 to 128|\n"
                 "1|4.0K|2.0K|2.0x|f32[4,128]{b}|dim 0 (second minor) 4 to 8|\n"
                 "2|4.0K|4.0K|1.0x|f32[8,128]{d}|none|\n"
                 "Of shapes without tiles, and orders that none has chosen: the TPU compiler's."
                 "And 1500 smaller ones that are not listed.");
    a->result.assumed_tiles = false;
    a->result.buffers_left_out = 0;
    assert_true(ts_text_ends(table("Shapes"), "|none|\n"));
}

/* What is written of a move, and of one without a price why. */
TEST(table_of_moves) {
    a = small_audit_new(arena);
    assert_holds(table("Moves"),
                 "+opcode|+level|+runs|+us each|+us in all|+changes|+from|+to|\n"
                 "copy|entry|6|1.500|9.000|order+tile, by a program|f32[8,128]{d}|f32[8,128]{e}|\n"
                 "transpose|fused|1|&lt; 0.500|&lt; 0.500|padding, in a loop of unknown length, in a branch|"
                 "f32[8,128]{d}|f32[8,3]{a}|\n"
                 "copy|loop or branch|1|~ 0.250|~ 0.250|order, as two passes, in a branch|f32[8,128]{e}|"
                 "f32[8,128]{d}|\n"
                 "dynamic-update-slice|level unknown|1|too many dims|-|dims, in a loop of unknown length||"
                 "f32[8,128]{e}|\n"
                 "reshape|entry|4|0.000|0.000|10 bytes||f32[8,128]{d}|\n"
                 "&lt;: at most, for it is fused. ~: as much slower than in order as the nearest of its kind "
                 "that was priced.And 2500 smaller ones that are not listed.in all     ~9.250 us;");
    a->groups[1].cycles = 1;
    a->groups[0].scaled = true;
    assert_holds(table("Moves"), "fused|1|&lt; 0.500|");
    assert_holds(table("Moves"), "entry|6|~ 1.500|");
    a->groups[1].cycles = 0;
    a->groups[3].why_not = NULL;
    assert_holds(table("Moves"), "fused|1|0.500|0.500|");
    assert_holds(table("Moves"), "level unknown|1||-|");
}

TEST(tables_of_what_the_text_reports) {
    a = small_audit_new(arena);
    assert_string_equal(table("Memory that the text reports"),
                        "Memory that the text reports+line|+size|+space|+figure|\n"
                        "50|2.0K|hbm|used|\n51|64B||temp|\n"
                        "+line|+size|+logical|+space|+allocation|+values|+shape|\n"
                        "60|4.0K|96B|hbm|parameter 0|1|f32[8,3]{a}|\n"
                        "61|512B|||temp|2||\n"
                        "62|256B|4.0K|vmem|live at the peak: v.1||f32[8,128]{d}|\n");
    assert_string_equal(table("Sizes that the text reports"),
                        "Sizes that the text reports1 of 2 equal the computed ones."
                        "+line|+reported|+expansion|+|+computed|+expansion|+shape|\n"
                        "40|4.0K|42.7x|equals|4.0K|42.7x|f32[8,3]{a}|\n"
                        "41|4.0K||differs|8.0K||f32[4,128]{b}|\n"
                        "42|16B||a tuple: its table||||\n");
    assert_string_equal(table("Not understood, or left out"),
                        "Not understood, or left out+count|+what|+for example|\n"
                        "1234|opcode|%x = y|\n1|shapes||\n");
    assert_string_equal(table("Copies that the compiler will insert"),
                        "Copies that the compiler will insert+value|+for|+line|+bytes|+from|+to|\n"
                        "p.0|dot.1|70|8.0K|{i}|{j}|\nd.1|a result|71|4.0K|{k}|{l}|\n");
    a->result.figure_count = 0;
    assert_holds(table("Memory that the text reports"), "reports+line|+size|+logical|");
    a->result.figure_count = 1;
    a->result.allocation_count = 0;
    assert_true(ts_text_ends(table("Memory that the text reports"), "+figure|\n50|2.0K|hbm|used|\n"));
}

TEST(a_page_of_nothing) {
    a = small_audit_empty(arena);
    assert_string_equal(table("Findings, by time"), "Findings, by timeNone.");
    assert_string_equal(table("Copies that the compiler will insert"), "");
    assert_string_equal(table("Memory that the text reports"), "");
    assert_string_equal(table("Sizes that the text reports"), "");
    assert_string_equal(table("Not understood, or left out"), "Not understood, or left outNothing.");
    a->result.copies_predicted = true;
    assert_string_equal(table("Copies that the compiler will insert"),
                        "Copies that the compiler will insertNone.");
}

/* A table has 200 rows; the page says of how many it does not. */
TEST(long_tables) {
    static const char *const headings[] = {"Moves", "Copies that the compiler will insert", "Shapes",
                                           "Memory that the text reports", "Sizes that the text reports"};
    enum { MOST = 201 };
    a = small_audit_new(arena);
    ts_audit_result *r = &a->result;
    ts_audit_class *classes = TS_NEW_ARRAY(arena, ts_audit_class, MOST);
    ts_audit_group *groups = TS_NEW_ARRAY(arena, ts_audit_group, MOST);
    ts_audit_copy *copies = TS_NEW_ARRAY(arena, ts_audit_copy, MOST);
    ts_audit_allocation *allocations = TS_NEW_ARRAY(arena, ts_audit_allocation, MOST);
    ts_audit_report *reports = TS_NEW_ARRAY(arena, ts_audit_report, MOST);
    for (int i = 0; i < MOST; i++) {
        classes[i] = a->classes[0], groups[i] = a->groups[0], copies[i] = a->copies[0];
        allocations[i] = a->allocations[0], reports[i] = a->reports[0];
    }
    r->classes = classes, r->groups = groups, r->copies = copies, r->allocations = allocations;
    r->reports = reports;
    r->figure_count = 0;
    r->buffers_left_out = r->moves_left_out = 1;
    for (int count = MOST - 1; count <= MOST; count++) {
        r->class_count = r->group_count = count;
        r->copy_count = r->allocation_count = r->report_count = count;
        for (int i = 0; i < 5; i++) {
            const char *text = table(headings[i]);
            int rows = 0;
            for (const char *at = text; (at = strstr(at, "|\n")) != NULL; at++) rows++;
            assert_int_equal(rows, 1 + 200);
            assert_int_equal(strstr(text, "And 1 more.") != NULL, count == MOST);
            assert_int_equal(strstr(text, "And 1 smaller one that is not") != NULL, i % 2 == 0 && i < 4);
        }
    }
}

#define FINDING(n, what, fix, saves, at)                                                                     \
    "<li><code>" what "</code><br><span class=\"good\">" fix "</span><br><span class=\"soft\">" saves        \
    "; " at "</span></li>\n"

TEST(findings_in_a_list) {
    ts_audit_finding many[17];
    a = small_audit_new(arena);
    a->findings[1].what = "a < b";
    a->findings[1].fix = "c > d";
    assert_holds(
        page_of(),
        "<ol class=\"findings\" start=\"1\">\n" FINDING(
            1, "move 1", "fix 1", "saves 6.500 us", "copy.1 line 20; source: jit(f)/t, made at b.py:5 in f")
            FINDING(2, "a &lt; b", "c &gt; d", "saves at most 2.250 us each time they are read, 8.0K",
                    "a.1 line 7; source: a.py:3: x")
                FINDING(3, "move 3", "fix 3", "saves about 0.125 us, 1.00M",
                        "copy.2 line 22; source: op, read at a.py:3") "</ol>\n</section>");
    a->groups[0].first.source = (ts_audit_source){-1, TS_AUDIT_OWN, ""};
    assert_holds(page_of(), "copy.1 line 20</span></li>\n");
    for (int i = 0; i < 17; i++) many[i] = a->findings[0];
    many[16].what = "the last";
    a->result.findings = many;
    a->result.finding_count = 16;
    assert_holds(page_of(), "copy.1 line 20</span></li>\n</ol>\n</section>");
    a->result.finding_count = 17;
    assert_holds(page_of(),
                 "</ol>\n<details>\n<summary>1 more</summary>\n<ol class=\"findings\" start=\"17\">\n"
                 "<li><code>the last</code>");
}

int main(void) { return run_all_tests(begin_group, end_group); }
