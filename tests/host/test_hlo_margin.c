/* What tools put before every line of a text: what is left without it. */
#include <string.h>

#include "host/hlo_reader_private.h"
#include "tests/support/cmocka.h"

/* The lines that are left, each behind ':', those that are none of the text's as '-'. */
static const char *stripped(ts_arena *arena, const char *at) {
    ts_text out = ts_text_begin(arena);
    hlo_margin margin = {0};
    for (const char *end; *at; at = end + (*end == '\n')) {
        end = at + strcspn(at, "\n");
        hlo_margin_kind kind = hlo_margin_take(&margin, at, end);
        if (kind == HLO_MARGIN_DROP) {
            ts_text_add(&out, "-\n");
            continue;
        }
        const char *begin = kind == HLO_MARGIN_BLANK ? end : at + margin.width;
        assert_true(begin <= end);
        ts_text_add(&out, ":%.*s\n", (int)(end - begin), begin);
    }
    return out.bytes;
}

static const struct {
    const char *text, *lines;
} rows[] = {
    /* Of cat -n and nl; grep -n, with lines around; editors; bat; what is behind a number that ends its
     * line. */
    {"     1\tHloModule m\n     2\t\n     3\t  %a = x\n       \n     4\t}\n",
     ":HloModule m\n:\n:  %a = x\n:       \n:}\n"},
    {"4:ENTRY %e {\n5-  %a = x\n9:  %b = x\n9:x\n12:}\n7:x\n",
     ":ENTRY %e {\n:  %a = x\n:  %b = x\n:9:x\n:}\n:7:x\n"},
    {" 9 module {\n10   %0 = x\n11\n12  x\n14 x\n13 y\n", ":module {\n:  %0 = x\n:\n: x\n:14 x\n:y\n"},
    {"  1 | HloModule m\n  2 |\n  3 | x\n", ": HloModule m\n:\n: x\n"},
    {"   1   \xe2\x94\x82 HloModule m\n   2   \xe2\x94\x82 x\n", ": HloModule m\n: x\n"},
    {"0: func.func @f() {\n1: x\n", ": func.func @f() {\n: x\n"},
    {"7: ROOT a\n23:59:34 x\n2026-11-30 x\n9-\n10:\n12:x1\n",
     ": ROOT a\n:23:59:34 x\n:2026-11-30 x\n:\n:\n:x1\n"},
    {"7: ROOT a\n8: x\n", ": ROOT a\n: x\n"},
    {"3 %f.1 (a\n4 x\n", ":%f.1 (a\n:x\n"},
    /* Another text begins: with numbers of its own, or without. */
    {"7:ENTRY %e {\n8:}\n1:HloModule m\n2:x\n", ":ENTRY %e {\n:}\n:HloModule m\n:x\n"},
    {"1 HloModule m\n2 x\nHloModule n\n3 {a=1}\n", ":HloModule m\n:x\n:HloModule n\n:3 {a=1}\n"},
    {"1 HloModule m\n2 x\n  %b = y\n3 {a=1}\n", ":HloModule m\n:x\n:  %b = y\n:{a=1}\n"},
    /* Tables, times, lists and numbers that are none of lines. */
    {"FileNames\n1 \"a\"\n2 \"b\"\n1 {a=1}\n", ":FileNames\n:1 \"a\"\n:2 \"b\"\n:1 {a=1}\n"},
    {"03:59:34 %a = x\n0 x\n0: x\n1. %a = x\n", ":03:59:34 %a = x\n:0 x\n:0: x\n:1. %a = x\n"},
    {"4-ENTRY %e {\n5 x\n", ":4-ENTRY %e {\n:5 x\n"},
    {"90 % of it\n91 x\n32 %v98, %v97\n33 x\n4 %\n5 x\n6 %a \n7 x\n8 %a =",
     ":90 % of it\n:91 x\n:32 %v98, %v97\n:33 x\n:4 %\n:5 x\n:6 %a \n:7 x\n:%a =\n"},
    {"1234567890 HloModule m\n1234567891 x\n", ":1234567890 HloModule m\n:1234567891 x\n"},
    {"123456789 HloModule m\n123456790 x\n", ":HloModule m\n:x\n"},
    {"12HloModule m\n13 x\n", ":12HloModule m\n:13 x\n"},
    /* Hunks have as many lines as they say; of which a blank one may have lost its blank. */
    {"--- a\n+++ b\n@@ -1,4 +1,5 @@ ENTRY %e {\n a\n-b\n+c\n+d\n\n e\n-x\n+y\n z\n",
     ":--- a\n:+++ b\n:\n:a\n-\n:c\n:d\n:\n:e\n:-x\n:+y\n: z\n"},
    {"@@ -1 +2,0 @@\n-a\n-x\n@@ -3,0 +4 @@\n+a\n+x\n@@ -5 +5 @@\n-a\n\\ No newline\n+b\n\\ x\n",
     ":\n-\n:-x\n:\n:a\n:+x\n:\n-\n-\n:b\n:\\ x\n"},
    {"@@ -1,2 +1,2 @@\n-a\n@@ -8,2 +8,2 @@\n b\nc\n-d\n", ":\n-\n:\n:b\n:c\n:-d\n"},
    {"@@ -1,2 +1,2\n-a\n@@ 1 @@\n-a\n@@ -a +1 @@\n-a\n",
     ":@@ -1,2 +1,2\n:-a\n:@@ 1 @@\n:-a\n:@@ -a +1 @@\n:-a\n"},
    /* Numbers in hunks are the text's. */
    {"@@ -1,2 +1,2 @@\n 1 HloModule m\n 2 x\n2 x\n", ":\n:1 HloModule m\n:2 x\n:2 x\n"},
    /* A block of Markdown, with and without headings. */
    {"-x\n```diff\n  a\n-b\n+c\n@@ -1 +1 @@\n-d\n+e\n+f\n```\n-x\n",
     ":-x\n:\n: a\n-\n:c\n:\n-\n:e\n:f\n:```\n:-x\n"},
    {"```hlo\n-x\n````diff\n-x\n", ":```hlo\n:-x\n:\n-\n"},
    {"``diff\n-x\n", ":``diff\n:-x\n"},
    /* Of diff without options. */
    {"3,4c3\n< a\n< b\n---\n> c\n> x\n", ":\n-\n-\n-\n:c\n:> x\n"},
    {"3,4d2\n< a\n< b\n< x\n3a4,5\n> a\n>\n> x\n9c9\n< a\n\\ No newline\n---\n>   b\n---\n",
     ":\n-\n-\n:< x\n:\n:a\n:\n:> x\n:\n-\n-\n-\n:  b\n:---\n"},
    {"3c4\nx\n< x\n3e4\n< x\n3c\n< x\n3c4,\n< x\n3c4 x\n< x\n",
     ":\n:x\n:< x\n:3e4\n:< x\n:3c\n:< x\n:3c4,\n:< x\n:3c4 x\n:< x\n"},
    {"3c4\r\n< x\n---\n> y\n", ":\n-\n-\n:y\n"},
    {"3c4\n> x\n3c4\n---\n", ":\n:> x\n:\n:---\n"},
    /* Of diff -c, which leaves a side out that has only what both have. */
    {"*** a\n--- b\n***************\n*** 1,3 ****\n  a\n! b\n- c\n--- 1,4 ----\n  a\n! d\n\n+ e\n+ x\n",
     ":*** a\n:--- b\n:***************\n:\n-\n-\n-\n-\n:a\n:d\n:\n:e\n:+ x\n"},
    {"*** 3 ****\n--- 4,5 ----\n+ a\n\\ No newline\n!\n! x\n", ":\n-\n:a\n-\n:\n:! x\n"},
    {"*** 4,5 ****\n  a\n- b\n--- 4 ----\n***************\n*** 9 ****\n! a\n! x\n+ x\n",
     ":\n-\n-\n-\n:***************\n:\n-\n:! x\n:+ x\n"},
    {"*** 1 ****\n! a\n\\ No newline\n--- 1 ----\n! b\n\\ No newline\n! x\n", ":\n-\n-\n-\n:b\n-\n:! x\n"},
    {"*** 4,5\n- a\n*** 4 ***\n- a\n*** 4****\n- a\n--- 4 ----\n+ a\n",
     ":*** 4,5\n:- a\n:*** 4 ***\n:- a\n:*** 4****\n:- a\n:--- 4 ----\n:+ a\n"},
};

TEST(lines_without_margins) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        assert_string_equal(stripped(arena, rows[i].text), rows[i].lines);
        ts_arena_free(arena);
    }
}

/* A line may end anywhere, whatever is behind it. */
TEST(no_line_is_read_beyond) {
    static const char *const lines[] = {
        "  12 | HloModule m", "12:%a = x", "@@ -12,3 +12,4 @@",      "12,13c12,13",
        "*** 12,13 ****",     "```diff",   "  1   \xe2\x94\x82 %f ("};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        for (size_t length = 0; length < strlen(lines[i]); length++) {
            ts_arena *arena = ts_arena_new();
            hlo_margin margin = {0};
            char *line = ts_arena_alloc(arena, length + 1, 1);
            memcpy(line, lines[i], length);
            hlo_margin_take(&margin, line, line + length);
            assert_true(margin.width <= length);
            ts_arena_free(arena);
        }
}
