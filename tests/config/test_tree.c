/* YAML to trees: places, comments, aliases, and the exact text of every kind of refusal. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"
#include "base/text.h"
#include "config/tree.h"

/* "{a: 1@0 #c, b: [x]}": the tree with offsets and comments of its scalars. */
static void print_tree(ts_text *out, const ts_tree *node) {
    if (node->kind == TS_TREE_SCALAR) {
        const char *quote = node->quoted ? "'" : "";
        ts_text_add(out, "%s%s%s@%zu", quote, node->text, quote, node->offset);
        if (node->comment[0]) ts_text_add(out, " #%s", node->comment);
        return;
    }
    ts_text_add(out, node->kind == TS_TREE_MAP ? "{" : "[");
    for (int i = 0; i < node->count; i++) {
        ts_text_add(out, "%s%s%s", i > 0 ? ", " : "", node->entries[i].key ? node->entries[i].key : "",
                    node->entries[i].key ? ": " : "");
        print_tree(out, node->entries[i].value);
    }
    ts_text_add(out, node->kind == TS_TREE_MAP ? "}" : "]");
}

TEST(reads_trees) {
    static const struct {
        const char *text, *tree;
    } rows[] = {
        {"a: 1", "{a: 1@3}"},
        {"a: 1 # published (x)  \nb: 2#no\n", "{a: 1@3 #published (x), b: 2#no@26}"},
        {"a:\r\n  b: 1.5 ns # t\r\n", "{a: {b: 1.5 ns@9 #t}}"},
        {"a: {b: 1, c: 2} # both", "{a: {b: 1@7 #both, c: 2@13 #both}}"},
        {"a: {b: 'it''s # no', c: \"#\"} # yes", "{a: {b: 'it's # no'@7 #yes, c: '#'@24 #yes}}"},
        {"a: {b: 1, c: \"' # no\"} # yes", "{a: {b: 1@7 #yes, c: '' # no'@13 #yes}}"},
        {"a: 'b'# no blank before", "{a: 'b'@3}"},
        {"a: | # block\n  x # text\nb: # nothing", "{a: 'x # text\n'@3 #block, b: @26 #nothing}"},
        {"a:\n- 1 # one\n- [2, 3]", "{a: [1@5 #one, [2@16, 3@19]]}"},
        {"\xef\xbb\xbf"
         "\xc3\xa4: 1 # \xc3\xb6",
         "{\xc3\xa4: 1@7 #\xc3\xb6}"},
        {"a: &x {b: 1}\nc: *x\nd: *x", "{a: {b: 1@10}, c: {b: 1@10}, d: {b: 1@10}}"},
        {"a: &x 1\nb: &x 2\nc: *x", "{a: 1@3, b: 2@11, c: 2@11}"},
        {"--- {}\n...\n", "{}"},
        {"'a b': x", "{a b: x@7}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_text out = ts_text_begin(arena);
        ts_source source = {"t.yaml", rows[i].text, strlen(rows[i].text)};
        const ts_tree *tree = ts_tree_parse(&err, arena, &source);
        assert_string_equal(err.message, "");
        print_tree(&out, tree);
        assert_string_equal(out.bytes, rows[i].tree);
        ts_arena_free(arena);
    }
}

static void expect_refusal(const char *text, size_t length, const char *expected) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_source source = {"t.yaml", text, length};
    assert_null(ts_tree_parse(&err, arena, &source));
    assert_error(&err, TS_ERROR_INPUT, expected);
    ts_arena_free(arena);
}

TEST(refuses) {
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {"", "t.yaml:1:1: error: found nothing, expected a mapping\n\n^\n"},
        {"# only this\n", "t.yaml:2:1: error: found nothing, expected a mapping\n\n^\n"},
        {"a: 1\nb: 2\na: 3\n", "t.yaml:3:1: error: duplicate key 'a': it is also on line 1\na: 3\n^\n"},
        {"a: 1\nb: 2\nc: 3\nb: 4\n", "t.yaml:4:1: error: duplicate key 'b': it is also on line 2\nb: 4\n^\n"},
        {"a: &x\n  b: *x\n",
         "t.yaml:2:6: error: the alias '*x' stands inside what it refers to\n  b: *x\n     ^\n"},
        {"a: *y\n", "t.yaml:1:4: error: the alias '*y' refers to nothing\na: *y\n   ^\n"},
        {"a: !!int 5\n",
         "t.yaml:1:4: error: found the tag 'tag:yaml.org,2002:int', expected none\na: !!int 5\n   ^\n"},
        {"a: !x {}\n", "t.yaml:1:4: error: found the tag '!x', expected none\na: !x {}\n   ^\n"},
        {"[1]: 2\n", "t.yaml:1:1: error: expected a word as key\n[1]: 2\n^\n"},
        {"a: 1\n---\nb: 2\n", "t.yaml:2:1: error: found a second document, expected one\n---\n^\n"},
        {"a: \"x\\0y\"\n", "t.yaml:1:4: error: the text has a NUL in it\na: \"x\\0y\"\n   ^\n"},
        {"a: {b: 1\n",
         "t.yaml:2:1: error: not valid YAML: while parsing a flow mapping, did not find expected ',' or "
         "'}'\n\n^\n"},
        {"a: \"x\n", "t.yaml:2:1: error: not valid YAML: while scanning a quoted scalar, found unexpected "
                     "end of stream\n\n^\n"},
        {"a: 1\n b: 2\n",
         "t.yaml:2:3: error: not valid YAML: mapping values are not allowed in this context\n b: 2\n"
         "  ^\n"},
        {"\xc3\xa4: 1\n\xc3\xa4\xc3\xa4: *y\n",
         "t.yaml:2:7: error: the alias '*y' refers to nothing\n\xc3\xa4\xc3\xa4: *y\n    ^\n"},
        {"a: \xff\n", "t.yaml:1:4: error: not valid YAML: invalid leading UTF-8 octet\na: \xff\n   ^\n"},
        {"[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]", "t.yaml:1:17: error: more than 16 levels\n"
                                                "[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]\n                ^\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_refusal(rows[i].text, strlen(rows[i].text), rows[i].expected);
    expect_refusal("a\0: 1", 5,
                   "t.yaml:1:2: error: not valid YAML: control characters are not allowed\na?: 1\n ^\n");
}

/* Aliases of aliases: 10 x 10 x 10 x 10 values from a few lines. */
TEST_WITH_ARENA(bounds_expansion) {
    ts_text text = ts_text_begin(arena);
    ts_text_add(&text, "a: &a [0,0,0,0,0,0,0,0,0,0]\n");
    for (char c = 'b'; c <= 'd'; c++) {
        ts_text_add(&text, "%c: &%c [*%c", c, c, c - 1);
        for (int i = 1; i < 10; i++) ts_text_add(&text, ",*%c", c - 1);
        ts_text_add(&text, "]\n");
    }
    expect_refusal(text.bytes, text.length,
                   "t.yaml:4:17: error: more than 4096 values, aliases expanded\n"
                   "d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n                ^\n");
}

/* A list of 4,095 values and the list itself are as many as there may be. */
TEST_WITH_ARENA(counts_every_value) {
    ts_text text = ts_text_begin(arena);
    for (int i = 1; i < TS_TREE_MAX_NODES; i++) ts_text_add(&text, "- 0\n");
    ts_source source = {"t.yaml", text.bytes, text.length};
    const ts_tree *tree = ts_tree_parse(NULL, arena, &source);
    assert_non_null(tree);
    assert_int_equal(tree->size, TS_TREE_MAX_NODES);
    ts_text_add(&text, "- 0\n");
    expect_refusal(text.bytes, text.length,
                   "t.yaml:4096:3: error: more than 4096 values, aliases expanded\n- 0\n  ^\n");
}

/* Every prefix of a file is a tree or an error with a place inside it. */
TEST(survives_truncation) {
    static const char text[] =
        "a: &x {b: 'c', d: \"e\\n\", f: [1, 2]}\ng: |\n  h\ni: *x # j\nk:\n  l: \xc3\xa4\n";
    for (size_t length = 0; length < sizeof text; length++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        char *copy = ts_arena_copy_text(arena, text, length);
        ts_source source = {"t.yaml", copy, length};
        const ts_tree *tree = ts_tree_parse(&err, arena, &source);
        assert_true((tree != NULL) == (err.kind == TS_ERROR_NONE));
        assert_true(tree || (err.line >= 1 && err.line <= 8 && err.column >= 1));
        ts_arena_free(arena);
    }
}

/* The call that `countdown` reaches gets nothing. */
static jmp_buf out_of_memory;
static int countdown;

__attribute__((visibility("default"))) void *yaml_malloc(size_t bytes);
void *yaml_malloc(size_t bytes) { return --countdown == 0 ? NULL : malloc(bytes ? bytes : 1); }
void ts_out_of_memory(size_t bytes) {
    assert_true(bytes > 0);
    longjmp(out_of_memory, 1);
}

/* Never taken for what is wrong with the text, which a study would note as its answer. */
TEST(memory_runs_out) {
    static const char text[] = "a: &x {b: 'c', d: [1, 2]}\ne: *x # j\n";
    const ts_source source = {"t.yaml", text, sizeof text - 1};
    volatile int calls = 0;
    for (volatile bool whole = false; !whole; calls++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        countdown = calls + 1;
        if (setjmp(out_of_memory) == 0) {
            assert_non_null(ts_tree_parse(&err, arena, &source));
            whole = countdown > 0;
        }
        assert_int_equal(err.kind, TS_ERROR_NONE);
        ts_arena_free(arena);
    }
    assert_true(calls > 20);
}
