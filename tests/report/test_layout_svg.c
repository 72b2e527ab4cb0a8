/* Pictures of layouts, read back from their SVG: what stands in which cell, which cells look alike, what is framed. */
#include "report/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/frame.h"
#include "tests/support/group.h"
#include "tests/support/shapes.h"

enum { CELL_WIDTH = 44, CELL_HEIGHT = 26, MOST = 2000 };

typedef struct {
    int x, y; /* of its cell */
    char text[32];
} item;

static item items[MOST];
static int item_count;

static int by_place(const void *a, const void *b) {
    const item *one = a, *other = b;
    return one->y != other->y ? (one->y > other->y) - (one->y < other->y)
                              : (one->x > other->x) - (one->x < other->x);
}

static item *add_item(int x, int y) {
    assert_true(item_count < MOST);
    items[item_count] = (item){.x = x, .y = y};
    return &items[item_count++];
}

/* The number that an attribute has. */
static int number(const char *element, const char *name) {
    const char *at = strstr(element, ts_text_format(arena, " %s=\"", name));
    assert_non_null(at);
    return atoi(at + strlen(name) + 3);
}

/* Elements of the picture; `take` is given each. */
static void each_element(const char *svg, void (*take)(const char *element, const char *content)) {
    for (const char *at = strstr(svg, "<rect class=\"page\""); (at = strchr(at, '<')) != NULL;) {
        size_t length = strcspn(at, ">");
        const char *element = ts_text_format(arena, "%.*s", (int)length, at), *content = at + length + 1;
        take(element, ts_text_format(arena, "%.*s", (int)strcspn(content, "<"), content));
        at = content;
    }
}

static bool is(const char *element, const char *what) { return strstr(element, what) != NULL; }

/* What cells hold: "." is padding. */
static void take_text(const char *element, const char *content) {
    if (ts_text_starts(element, "<text class=\"cell")) {
        int x = number(element, "x") - CELL_WIDTH / 2,
            y = number(element, "y") - CELL_HEIGHT / 2 - number(element, "font-size") / 3;
        snprintf(add_item(x, y)->text, sizeof items->text, "%s%s", content,
                 is(element, "cell bare") ? "!" : "");
    } else if (is(element, "class=\"edge\"")) {
        snprintf(add_item(number(element, "x"), number(element, "y"))->text, sizeof items->text, ".");
    }
}

/* The colours of cells as letters. */
static char colours[64][32];
static void take_colour(const char *element, const char *content) {
    (void)content;
    const char *fill = strstr(element, "fill=\"hsl(");
    if (!fill || is(element, "share")) return;
    int i = 0;
    while (*colours[i] && strncmp(colours[i], fill, 31) != 0) i++;
    assert_true(i < 63);
    snprintf(colours[i], sizeof colours[i], "%.31s", fill);
    item *it = add_item(number(element, "x"), number(element, "y"));
    it->text[0] = (char)('a' + i);
}

/* In lines, with bars where a cell is not beside the one before. */
static const char *lines_of(const char *svg, void (*take)(const char *, const char *)) {
    ts_text out = ts_text_begin(arena);
    item_count = 0;
    memset(colours, 0, sizeof colours);
    each_element(svg, take);
    qsort(items, (size_t)item_count, sizeof *items, by_place);
    for (int i = 0; i < item_count; i++) {
        const item *it = &items[i], *before = i > 0 ? it - 1 : it;
        if (it->y != before->y) ts_text_add(&out, it->y - before->y == CELL_HEIGHT ? "\n" : "\n\n");
        if (it->y == before->y && i > 0) ts_text_add(&out, it->x - before->x == CELL_WIDTH ? " " : " | ");
        ts_text_add(&out, "%s", it->text);
    }
    if (item_count > 0) ts_text_add_char(&out, '\n');
    return out.bytes;
}

/* The frames, those in dashes, and the bar of the share of padding. */
static ts_text frames;
static void take_frame(const char *element, const char *content) {
    (void)content;
    const char *name = is(element, "class=\"tile\"")    ? "tile"
                       : is(element, "class=\"inner\"") ? "inner"
                       : is(element, "class=\"share\"") ? "share"
                       : is(element, "dasharray")       ? "replica"
                                                        : NULL;
    if (name)
        ts_text_add(&frames, "%s %d,%d %dx%d\n", name, number(element, "x"), number(element, "y"),
                    number(element, "width"), number(element, "height"));
}

static const char *svg_of(const char *text) {
    const ts_shape *shape = parse_shape(arena, text);
    ts_text out = ts_text_begin(arena);
    ts_report_svg(arena, 1, &shape, &out);
    assert_readable(out.bytes);
    return out.bytes;
}

TEST(cells_hold_their_offsets) {
    static const struct {
        const char *shape, *cells, *colours, *frames;
    } rows[] = {
        {"f32[3,5]{1,0:T(2,4)}",
         "0 1 2 3 8 . . . | 0,0 0,1 0,2 0,3 1,0 1,1 1,2 1,3\n"
         "4 5 6 7 12 . . . | 0,4 . . . 1,4 . . .\n"
         "16 17 18 19 24 . . . | 2,0 2,1 2,2 2,3 . . . .\n"
         ". . . . . . . . | 2,4 . . . . . . .\n",
         "a a a a b | a a a a a a a a\n"
         "a a a a b | b | b\n"
         "c c c c d | c c c c\n"
         "d\n",
         "tile 24,82 176x52\n"
         "tile 200,82 176x52\n"
         "tile 24,134 176x52\n"
         "tile 200,134 176x52\n"
         "tile 24,82 352x104\n"
         "share 24,38 103x14\n"},
        {"bf16[3,4]{1,0:T(4,4)(2,1)}",
         "0 2 4 6 | 0,0 1,0 0,1 1,1 0,2 1,2 0,3 1,3 2,0 . 2,1 . 2,2 . 2,3 .\n"
         "1 3 5 7\n"
         "8 10 12 14\n"
         ". . . .\n",
         "a a a a | a a a a a a a a a | a | a | a\n"
         "a a a a\n"
         "a a a a\n",
         "inner 24,82 44x52\n"
         "inner 68,82 44x52\n"
         "inner 112,82 44x52\n"
         "inner 156,82 44x52\n"
         "inner 24,134 44x52\n"
         "inner 68,134 44x52\n"
         "inner 112,134 44x52\n"
         "inner 156,134 44x52\n"
         "tile 24,82 176x104\n"
         "tile 24,82 176x104\n"
         "share 24,38 165x14\n"},
        {"f32[2,1,3]{2,1,0}",
         "0 1 2 | 0,0,0 0,0,1 0,0,2\n"
         "1,0,0 1,0,1 1,0,2\n"
         "3 4 5\n",
         "a a a | a a a\n"
         "a a a\n"
         "a a a\n",
         "tile 24,82 132x26\n"
         "tile 24,134 132x26\n"
         "share 24,38 220x14\n"},
        {"f32[9,1,1]{2,1,0}",
         "0\n"
         "\n"
         "1\n"
         "\n"
         "2\n"
         "\n"
         "3\n"
         "\n"
         "4\n"
         "\n"
         "5\n"
         "\n"
         "6\n"
         "\n"
         "7\n",
         "a\n"
         "\n"
         "a\n"
         "\n"
         "a\n"
         "\n"
         "a\n"
         "\n"
         "a\n"
         "\n"
         "a\n"
         "\n"
         "a\n"
         "\n"
         "a\n",
         "tile 24,82 44x26\n"
         "tile 24,134 44x26\n"
         "tile 24,186 44x26\n"
         "tile 24,238 44x26\n"
         "tile 24,290 44x26\n"
         "tile 24,342 44x26\n"
         "tile 24,394 44x26\n"
         "tile 24,446 44x26\n"
         "share 24,38 220x14\n"},
        {"f32[17,3]{1,0:T(8,128)}",
         ". | 0! | 0 1 2 . . . . . . . . . . . . .\n"
         ". | 1024! | 128 129 130 . . . . . . . . . . . . .\n"
         ". | 2048! | 256 257 258 . . . . . . . . . . . . .\n"
         "384 385 386 . . . . . . . . . . . . .\n"
         "512 513 514 . . . . . . . . . . . . .\n"
         "640 641 642 . . . . . . . . . . . . .\n"
         "768 769 770 . . . . . . . . . . . . .\n"
         "896 897 898 . . . . . . . . . . . . .\n",
         "a | a a a\n"
         "b | a a a\n"
         "c | a a a\n"
         "a a a\n"
         "a a a\n"
         "a a a\n"
         "a a a\n"
         "a a a\n",
         "tile 24,82 44x78\n"
         "tile 128,82 704x208\n"
         "tile 128,82 704x208\n"
         "share 24,38 4x14\n"},
        {"f32[300]{0:T(16)}",
         "0 16 32 48 64 80 96 112 128 144 160 176 192 208 224 | . | 288 | 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 "
         "15\n",
         "a b c d e f g h i j k l m n o | p | a a a a a a a a a a a a a a a a\n",
         "tile 24,82 726x26\n"
         "tile 810,82 704x26\n"
         "tile 810,82 704x26\n"
         "share 24,38 217x14\n"},
        {"f32[1100]{0}", "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 | 1099\n", "a a a a a a a a a a a a a a a | a\n",
         "tile 24,82 726x26\n"
         "share 24,38 220x14\n"},
        {"f32[]", "0 | \n", "a | a\n",
         "tile 24,82 44x26\n"
         "share 24,38 220x14\n"},
        {"f32[2,0]{1,0}", "", "", "share 24,38 220x14\n"},
        {"f32[2,2,2] S[(2,2,2):(1@a,1@b,1@c)] + 5@c",
         "0,0,5 0,0,6 | 0,0,0 0,0,1 | 0,1,0 0,1,1\n"
         "0,1,5 0,1,6 | 1,0,0 1,0,1 | 1,1,0 1,1,1\n"
         "\n"
         "1,0,5 1,0,6\n"
         "1,1,5 1,1,6\n",
         "a a | a a | b b\n"
         "b b | c c | d d\n"
         "\n"
         "c c\n"
         "d d\n",
         "tile 24,82 88x52\n"
         "tile 24,160 88x52\n"
         "tile 172,82 88x52\n"
         "tile 304,82 88x52\n"
         "share 24,38 63x14\n"},
        {"f32[2,3] S[(2,3):(1@a,1@b)] + R[2:3@b]",
         "0,0 0,1 0,2 | 0,0 0,1 0,2 0,0 0,1 0,2\n"
         "1,0 1,1 1,2 | 1,0 1,1 1,2 1,0 1,1 1,2\n",
         "a a a | a a a a a a\n"
         "b b b | b b b b b b\n",
         "tile 24,82 132x52\n"
         "replica 351,85 38x20\n"
         "replica 395,85 38x20\n"
         "replica 439,85 38x20\n"
         "replica 351,111 38x20\n"
         "replica 395,111 38x20\n"
         "replica 439,111 38x20\n"
         "tile 216,82 264x52\n"
         "share 24,38 220x14\n"
         "share 24,38 110x14\n"},
        {"f32[2] S[2:1] + R[2:3]",
         "0 1 | 0 1\n"
         ". 0\n"
         "1\n",
         "a a | a a\n"
         "a\n"
         "a\n",
         "tile 24,82 88x26\n"
         "replica 219,111 38x20\n"
         "replica 175,137 38x20\n"
         "share 24,38 176x14\n"
         "share 24,38 88x14\n"},
        {"f32[2,2,1,2]{3,2,1,0}",
         "0 1 | 0,0,0,0 0,0,0,1\n"
         "0,1,0,0 0,1,0,1\n"
         "2 3 | 1,0,0,0 1,0,0,1\n"
         "1,1,0,0 1,1,0,1\n"
         "4 5\n"
         "\n"
         "6 7\n",
         "a a | a a\n"
         "a a\n"
         "a a | a a\n"
         "a a\n"
         "a a\n"
         "\n"
         "a a\n",
         "tile 24,82 88x26\n"
         "tile 24,134 88x26\n"
         "tile 24,186 88x26\n"
         "tile 24,238 88x26\n"
         "share 24,38 220x14\n"},
        {"f32[2,3]{1,0:T(2)}",
         "0 1 2 . | 0,0 0,1\n"
         "4 5 6 . | 0,2 .\n"
         "1,0 1,1\n"
         "1,2 .\n",
         "a a b | a a\n"
         "a a b | b\n"
         "a a\n"
         "b\n",
         "tile 24,82 88x52\n"
         "tile 112,82 88x52\n"
         "tile 24,82 176x52\n"
         "share 24,38 165x14\n"},
        {"f32[4,4] S[(2,2,2,2):(8,2,4,1)]",
         "0 1 4 5 | 0,0 0,1 1,0 1,1\n"
         "2 3 6 7 | 0,2 0,3 1,2 1,3\n"
         "8 9 12 13 | 2,0 2,1 3,0 3,1\n"
         "10 11 14 15 | 2,2 2,3 3,2 3,3\n",
         "a a b b | a a a a\n"
         "a a b b | b b b b\n"
         "c c d d | c c c c\n"
         "c c d d | d d d d\n",
         "tile 24,82 88x52\n"
         "tile 112,82 88x52\n"
         "tile 24,134 88x52\n"
         "tile 112,134 88x52\n"
         "tile 24,82 176x104\n"
         "share 24,38 220x14\n"},
        {"f32[8] S[(2,2,2):(1,2,4)]",
         "0 4 2 6 1 5 3 7 | 0 4 2 6\n"
         "1 5 3 7\n",
         "a a a a b b b b | a b a b\n"
         "a b a b\n",
         "inner 24,82 88x26\n"
         "inner 112,82 88x26\n"
         "inner 200,82 88x26\n"
         "inner 288,82 88x26\n"
         "tile 24,82 176x26\n"
         "tile 200,82 176x26\n"
         "tile 24,82 352x26\n"
         "share 24,38 220x14\n"},
        {"f32[2,3] S[(2,3):(1,2)]",
         "0 2 4 | 0,0 1,0\n"
         "1 3 5 | 0,1 1,1\n"
         "0,2 1,2\n",
         "a a a | a a\n"
         "a a a | a a\n"
         "a a\n",
         "tile 24,82 132x52\n"
         "share 24,38 220x14\n"},
        {"f32[2,4] S<1,0,2> o 0 o (2,4):(4,1)",
         "0 1 2 3 | 0,0 0,1 0,2 0,3\n"
         "5 4 7 6 | 1,1 1,0 1,3 1,2\n",
         "a b c d | a b c d\n"
         "a b c d | b a d c\n",
         "tile 24,82 176x52\n"
         "share 24,38 220x14\n"},
        {"f32[1] S[(1):(1@a)] + 3@b", "0,3 | 0\n", "a | a\n",
         "tile 24,82 44x26\n"
         "tile 128,82 44x26\n"
         "share 24,38 55x14\n"},
        {"f32[2,2] S[(2,2):(1@b,1@b)] + 5@a",
         "5,0 5,1 | 0,0 0,1+ 1,1\n"
         "5,1 5,2\n",
         "a a | a a a\n"
         "a a\n",
         "tile 24,82 88x52\n"
         "tile 172,82 132x26\n"
         "share 24,38 49x14\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *svg = svg_of(rows[i].shape);
        frames = ts_text_begin(arena);
        each_element(svg, take_frame);
        assert_string_equal(lines_of(svg, take_text), rows[i].cells);
        assert_string_equal(lines_of(svg, take_colour), rows[i].colours);
        assert_string_equal(frames.bytes, rows[i].frames);
    }
}

/* Long ones are smaller, and no wider than their cell. */
TEST(labels_fit_their_cells) {
    static const struct {
        const char *offset, *text;
    } rows[] = {
        {"1234", "y=\"99\" font-size=\"12\">1234<"},
        {"12345", "y=\"99\" font-size=\"12\">12345<"},
        {"123456", "y=\"98\" font-size=\"10\">123456<"},
        {"1234567", "y=\"98\" font-size=\"10\" textLength=\"42\" lengthAdjust=\"spacingAndGlyphs\">1234567<"},
        {"12345678", "y=\"97\" font-size=\"8\">12345678<"},
        {"123456789",
         "y=\"97\" font-size=\"8\" textLength=\"42\" lengthAdjust=\"spacingAndGlyphs\">123456789<"},
        {"1234567890", "y=\"97\" font-size=\"6\">1234567890<"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *svg = svg_of(ts_text_format(arena, "f32[1] S[(1):(1@m)] + %s@m", rows[i].offset));
        assert_non_null(strstr(svg, ts_text_format(arena, "<text class=\"cell\" x=\"46\" %s", rows[i].text)));
    }
}

/* Titles and captions say what axes are where; the picture is as large as what is in it; tiles go round the colours. */
TEST(what_stands_around_the_cells) {
    static const char *const rows[][2] = {
        {"f32[]", "width=\"604\" height=\"134\""},
        {"f32[2,2,2] S[(2,2,2):(1@a,1@b,1@c)] + 5@b", "hsl(210,60%,82%)"},
        {"f32[2,2,2] S[(2,2,2):(1@a,1@b,1@c)] + 5@b", "hsl(210,60%,73%)"},
        {"f32[3,20]{1,0}", "width=\"1692\" height=\"212\""},
        {"f32[65,1]{1,0:T(5,1)}", ", a cell is a tile of 5 x 1"},
        {"f32[1,65]{1,0:T(1,5)}", ", a cell is a tile of 1 x 5"},
        {"f32[2,2]{1,0:T(1,1)}", "hsl(210,60%,82%)"},
        {"f32[2,2]{1,0:T(1,1)}", "hsl(347,60%,82%)"},
        {"f32[2,2]{1,0:T(1,1)}", "hsl(89,60%,82%)"},
        {"f32[2,2]{1,0:T(1,1)}", ">0.0 % padding: 16 of 16 bytes hold elements<"},
        {"f32[1,1]{1,0:T(8,128)}", ">99.9 % padding: 4 of 4,096 bytes hold elements<"},
        {"f32[1,1]{1,0:T(8,128)}", "y=\"38\" width=\"1\" height=\"14\" class=\"share\""},
        {"f32[17,3]{1,0:T(8,128)}", ", a cell is a tile of 8 x 128, beside it the first one<"},
        {"f32[300]{0:T(16)}",
         ", a cell is a tile of 1 x 16, beside it the first one  (the beginning, and the last)<"},
        {"f32[2,2,2] S[(2,2,2):(1@a,1@b,1@c)] + 5@b", "  (a,b,c); beside it a down, c across<"},
        {"f32[2,2,2] S[(2,2,2):(1@a,1@b,1@c)] + 5@b", "<text x=\"172\" y=\"70\" font-size=\"13\">b 5</text>"},
        {"f32[2,2,2] S[(2,2,2):(1@a,1@b,1@c)] + 5@b", "<text x=\"304\" y=\"70\" font-size=\"13\">b 6</text>"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!strstr(svg_of(rows[i][0]), rows[i][1])) fail_msg("%s has no %s", rows[i][0], rows[i][1]);
    assert_null(strstr(svg_of("f32[64,1]{1,0:T(8,1)}"), "a cell is a tile"));
    assert_null(strstr(svg_of("f32[1,64]{1,0:T(1,8)}"), "a cell is a tile"));
}

int main(void) { return run_all_tests(begin_group, end_group); }
