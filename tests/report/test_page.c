/* What pages are made of, element by element: escaped texts, shares of bars, what sorts, what opens. */
#include "report/page.h"

#include <string.h>

#include "report/picture.h"
#include "tests/support/group.h"

static ts_text out;
static page p;

/* An empty page without its frame. */
static void begin(void) {
    out = ts_text_begin(arena);
    p = (page){.out = &out};
}

static void assert_written(const char *expected) {
    assert_string_equal(out.bytes, expected);
    begin();
}

static int times(const char *word) {
    int count = 0;
    for (const char *at = out.bytes; (at = strstr(at, word)) != NULL; at += strlen(word)) count++;
    return count;
}

TEST(the_frame_names_what_it_shows) {
    out = ts_text_begin(arena);
    page_begin(&p, &out, "a & b", "c<d>", NULL);
    page_section(&p, "x > y");
    page_section(&p, "z");
    page_end(&p);
    assert_int_equal(times("<title>a &amp; b: c&lt;d&gt;</title>"), 1);
    assert_int_equal(times("<h1>a &amp; b</h1>\n<p><code>c&lt;d&gt;</code></p>"), 1);
    assert_int_equal(
        times("<section>\n<h2>x &gt; y</h2>\n</section>\n<section>\n<h2>z</h2>\n</section>\n</main>"), 1);
    assert_int_equal(times("</section>"), 2);
    assert_int_equal(times("<script>"), 1);
    out = ts_text_begin(arena);
    page_begin(&p, &out, "a", "b", ts_machine_load(NULL, arena, "tpu-v5e"));
    page_end(&p);
    assert_int_equal(times("<code>b</code><br>"), 1);
    assert_int_equal(times("tpu-v5e"), 1);
    assert_int_equal(times("</section>"), 0);
}

TEST(facts_without_a_value_are_left_out) {
    begin();
    page_facts(&p, (page_fact[]){{"a<", "1 > 0"}, {"none", NULL}, {"b", ""}}, 3);
    assert_written("<dl class=\"facts\">\n<div><dt>a&lt;</dt><dd>1 &gt; 0</dd></div>\n"
                   "<div><dt>b</dt><dd></dd></div>\n</dl>\n");
}

/* Also those that no buffer of a fixed size holds. */
TEST(texts_are_whole) {
    for (int length = 509; length <= 514; length++) {
        begin();
        page_paragraph(&p, "%0*d<", length - 1, 7);
        assert_int_equal(out.length, (size_t)length - 1 + strlen("<p>&lt;</p>\n"));
        assert_non_null(strstr(out.bytes, "007&lt;</p>\n"));
    }
}

/* Shares are of the sum; parts of 0 have no colour; who brings one keeps it; after the last comes the first. */
TEST(bars_and_legends_agree) {
    static const page_part parts[] = {{"a<b", 0.1, "1 us", 0},  {"none", 0, "0", 0},
                                      {"c", 0.2, "2 <us>", 11}, {"d", 0.05, "half", 0},
                                      {"e", 0.05, "half", 1},   {"not asked for", 1, "", 0}};
    begin();
    page_bar(&p, "what \"is\" it", parts, 5);
    assert_written("<div class=\"bar\" role=\"img\" aria-label=\"what &quot;is&quot; it\">"
                   "<span class=\"kind-1\" style=\"width:25.0000%\" title=\"a&lt;b: 1 us\"></span>"
                   "<span class=\"kind-11\" style=\"width:50.0000%\" title=\"c: 2 &lt;us&gt;\"></span>"
                   "<span class=\"kind-2\" style=\"width:12.5000%\" title=\"d: half\"></span>"
                   "<span class=\"kind-1\" style=\"width:12.5000%\" title=\"e: half\"></span></div>\n");
    page_legend(&p, parts, 5);
    assert_written("<ul class=\"legend\">\n"
                   "<li><i class=\"kind-1\"></i><span>a&lt;b</span><b>1 us &nbsp; 25.0 %</b></li>\n"
                   "<li><i class=\"kind-11\"></i><span>c</span><b>2 &lt;us&gt; &nbsp; 50.0 %</b></li>\n"
                   "<li><i class=\"kind-2\"></i><span>d</span><b>half &nbsp; 12.5 %</b></li>\n"
                   "<li><i class=\"kind-1\"></i><span>e</span><b>half &nbsp; 12.5 %</b></li>\n</ul>\n");
    page_part many[PAGE_KINDS + 1];
    for (int i = 0; i <= PAGE_KINDS; i++) many[i] = (page_part){"x", 1, "1", 0};
    page_bar(&p, "", many, PAGE_KINDS + 1);
    assert_int_equal(times("kind-1\""), 2);
    assert_int_equal(times("kind-8\""), 1);
    begin();
    page_bar(&p, "", &parts[1], 1);
    page_legend(&p, &parts[1], 1);
    assert_written("<div class=\"bar\" role=\"img\" aria-label=\"\"></div>\n<ul class=\"legend\">\n</ul>\n");
}

TEST(what_opens_has_a_summary) {
    begin();
    page_details(&p, "%d < 2", 1);
    page_details_end(&p);
    assert_written("<details>\n<summary>1 &lt; 2</summary>\n</details>\n");
}

static const page_column headings[] = {{"a<", false}, {"b", true}};

TEST(tables_sort_and_listings_stay) {
    begin();
    page_table(&p, "x < y", headings, 2);
    page_row(&p);
    page_cell(&p, "%s", "<");
    page_number(&p, 0.1, "%.1f < 1", 0.1);
    page_row(&p);
    page_code(&p, "&");
    page_number(&p, -3, "-3");
    page_table_end(&p);
    assert_written(
        "<p class=\"soft\">x &lt; y</p>\n<div class=\"scroll\" tabindex=\"0\">\n"
        "<table class=\"sorts\">\n<thead><tr><th scope=\"col\"><button type=\"button\">a&lt;</button>"
        "</th><th scope=\"col\" class=\"number\"><button type=\"button\">b</button></th></tr></thead>\n"
        "<tbody>\n<tr><td>&lt;</td><td class=\"number\" data-value=\"0.10000000000000001\">"
        "0.1 &lt; 1</td></tr>\n<tr><td><code>&amp;</code></td>"
        "<td class=\"number\" data-value=\"-3\">-3</td></tr>\n</tbody>\n</table>\n</div>\n");
    page_listing(&p, NULL, headings, 2);
    page_table_end(&p);
    assert_written(
        "<div class=\"scroll\" tabindex=\"0\">\n<table class=\"listing\">\n<thead><tr>"
        "<th scope=\"col\">a&lt;</th><th scope=\"col\" class=\"number\">b</th></tr></thead>\n<tbody>\n"
        "</tbody>\n</table>\n</div>\n");
}

/* Cells of a listing of one column, without what is around them. */
static void assert_cell(const char *expected) {
    static const char tail[] = "</tr>\n</tbody>\n</table>\n</div>\n";
    page_table_end(&p);
    const char *cell = strstr(out.bytes, "<tbody>\n<tr>");
    assert_non_null(cell);
    cell += strlen("<tbody>\n<tr>");
    assert_string_equal(ts_text_format(arena, "%.*s", (int)(strlen(cell) - strlen(tail)), cell), expected);
}

static void begin_row(void) {
    begin();
    page_listing(&p, NULL, headings, 1);
    page_row(&p);
}

/* A sentence may break; what is a word or three may not. Characters count, not bytes. */
TEST(sentences_may_break) {
#define TEN "abcdefghi\xc3\xa4"
    static const char *const rows[][2] = {{TEN TEN TEN "ab", "line"}, {TEN TEN TEN "abc", "words"}};
    for (int i = 0; i < 2; i++) {
        begin_row();
        page_words(&p, rows[i][0]);
        assert_cell(ts_text_format(arena, "<td class=\"%s\">%s</td>", rows[i][1], rows[i][0]));
    }
}

/* A column of numbers may have a word; a tag has each attribute once. */
TEST(words_among_numbers) {
    static const page_column numbers[] = {{"n", true}};
    begin();
    page_listing(&p, NULL, numbers, 1);
    page_row(&p);
    page_words(&p, "none");
    assert_cell("<td class=\"number line\">none</td>");
}

TEST(lines_of_programs_have_a_depth) {
    begin_row();
    page_source_line(&p, &(page_source){"a < b", "", "", 3, false});
    assert_cell("<td class=\"source\" data-depth=\"3\" style=\"--depth:3\"><code>a &lt; b</code></td>");
    begin_row();
    page_source_line(&p, &(page_source){"a", "b<", "c<", 0, true});
    assert_cell(
        "<td class=\"source\" data-depth=\"0\" style=\"--depth:0\"><button type=\"button\" class=\"fold\" "
        "aria-expanded=\"true\" aria-label=\"what is further in\"></button><code>a</code>"
        "<span class=\"soft\"> b&lt;</span><small>c&lt;</small></td>");
}

/* The second bar ends where both together do. */
TEST(heat_is_stacked) {
    begin_row();
    page_heat(&p, 40, (const double[]){0.25, 0.125}, "<40");
    assert_cell(
        "<td data-value=\"40\"><span class=\"heat\" style=\"--a:25.00%;--b:37.50%\">&lt;40</span></td>");
}

/* What a picture hatches with has an id that no other picture of the page has. */
TEST(pictures_have_ids_of_their_own) {
    ts_text svg = ts_text_begin(arena);
    ts_text_add(&svg, "<svg id=\"padding\" fill=\"url(#padding)\">\"paddings\"</svg>\n");
    begin();
    page_picture(&p, NULL, &svg);
    page_picture(&p, "a < b", &svg);
    assert_written("<figure>\n<svg id=\"padding-1\" fill=\"url(#padding-1)\">\"paddings\"</svg>\n</figure>\n"
                   "<figure>\n<figcaption>a &lt; b</figcaption>\n"
                   "<svg id=\"padding-2\" fill=\"url(#padding-2)\">\"paddings\"</svg>\n</figure>\n");
    page_text(&p, &svg);
    assert_written(
        "<pre class=\"text\" tabindex=\"0\">&lt;svg id=&quot;padding&quot; fill=&quot;url(#padding)&quot;"
        "&gt;&quot;paddings&quot;&lt;/svg&gt;\n</pre>\n");
}

/* Nothing in a text ends the element it is in. */
TEST(data_is_closed_by_the_page_alone) {
    ts_text json = ts_text_begin(arena);
    ts_text_add(&json, "{\"a\":\"</script><b>\"}");
    begin();
    page_data(&p, "x", &json);
    assert_written(
        "<script type=\"application/json\" id=\"x\">{\"a\":\"\\u003c/script>\\u003cb>\"}</script>\n");
}

/* ---- Pictures ---- */

/* The colour that the text after `from` gives a class. */
static const char *colour_of(const char *from, const char *rule) {
    const char *at = strstr(from, rule);
    assert_non_null(at);
    at += strlen(rule);
    return ts_text_format(arena, "%.*s", (int)strcspn(at, ";}"), at);
}

/* Light and dark are those of pages, and a picture needs no page. */
TEST(pictures_have_the_colours_of_pages) {
    static const char dark[] = "@media (prefers-color-scheme: dark)";
    static const char *const rows[][2] = {{".picture .data{fill:", "--kind-1: "},
                                          {".picture .tile{stroke:", "--ink: "},
                                          {".picture .page{fill:", "--paper: "}};
    const char *styles = page_file("style.css");
    out = ts_text_begin(arena);
    picture_begin(&out, 300, 40, NULL);
    picture_end(&out);
    assert_int_equal(times("width=\"300\" height=\"40\" viewBox=\"0 0 300 40\""), 1);
    assert_int_equal(times("var("), 0);
    for (int i = 0; i < 3; i++) {
        const char *light = colour_of(out.bytes, rows[i][0]),
                   *night = colour_of(strstr(out.bytes, dark), rows[i][0]);
        assert_string_equal(light, colour_of(styles, rows[i][1]));
        assert_string_equal(night, colour_of(strstr(styles, dark), rows[i][1]));
        assert_string_not_equal(light, night);
    }
}

TEST(parts_of_pictures) {
    begin();
    picture_text(&out, 3, -4, &(picture_font){NULL, NULL, 0, false}, "%d of %s", 1, "a &lt; b");
    picture_text(&out, 3, 4, &(picture_font){"soft", "end", 1, true}, "-");
    assert_written("<text x=\"3\" y=\"-4\">1 of a &lt; b</text>\n<text x=\"3\" y=\"4\" class=\"soft\" "
                   "text-anchor=\"end\" font-size=\"1\" font-weight=\"bold\">-</text>\n");
    picture_bar(&out, 5, 2 * PICTURE_ROW, 10.25, "data", NULL);
    picture_bar(&out, 5, 0, 0, "waste", "a < b");
    assert_written("<rect class=\"data\" x=\"5\" y=\"51\" width=\"10.2\" height=\"16\"></rect>\n"
                   "<rect class=\"waste\" x=\"5\" y=\"3\" width=\"0.0\" height=\"16\">"
                   "<title>a &lt; b</title></rect>\n");
    assert_string_equal(picture_microseconds(out.arena, 0.2794), "0.279 us");
    assert_string_equal(picture_microseconds(out.arena, 9.99), "9.990 us");
    assert_string_equal(picture_microseconds(out.arena, 10), "10.0 us");
    assert_string_equal(picture_microseconds(out.arena, 105.14), "105.1 us");
}

int main(void) { return run_all_tests(begin_group, end_group); }
