/* Files and bases: names, relative paths, what lies on top, circles, and what cannot be opened. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/test.h"
#include "base/file.h"
#include "base/text.h"
#include "config/tree.h"
#include "tests/support/temporary.h"

#define FILE_OF(name, text)                                                                                  \
    { name, text, sizeof text - 1 }
static const ts_tree_builtin builtins[] = {
    FILE_OF("alpha", "x: 1\nm:\n  a: 1\n  b: 2\n"),
    FILE_OF("beta", "base: alpha\nm: {b: 3, c: 4}\ny: 5\n"),
    FILE_OF("gamma", "m: {a: null}\nbase: beta\n"),
    FILE_OF("loop-1", "base: loop-2\n"),
    FILE_OF("loop-2", "base: loop-1\n"),
    FILE_OF("outside", "base: ./a.yaml\n"),
    FILE_OF("list", "base: [alpha]\n"),
    FILE_OF("none", "base:\n"),
    FILE_OF("typo", "x: 1\nbase: alhpa\n"),
};
enum { BUILTINS = sizeof builtins / sizeof builtins[0] };

static const ts_tree *load(ts_error *err, ts_arena *arena, const char *name) {
    return ts_tree_load(err, arena, name, builtins, BUILTINS);
}

static void print_tree(ts_text *out, const ts_tree *node) {
    if (node->kind == TS_TREE_SCALAR) {
        ts_text_add(out, "%s", node->text);
        return;
    }
    for (int i = 0; i < node->count; i++) {
        ts_text_add(out, "%s%s=", i > 0 ? " " : "", node->entries[i].key);
        if (node->entries[i].value->kind == TS_TREE_MAP) ts_text_add_char(out, '(');
        print_tree(out, node->entries[i].value);
        if (node->entries[i].value->kind == TS_TREE_MAP) ts_text_add_char(out, ')');
    }
}

static void expect_tree(const char *name, const char *expected) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_text out = ts_text_begin(arena);
    const ts_tree *tree = load(&err, arena, name);
    assert_string_equal(err.message, "");
    print_tree(&out, tree);
    assert_string_equal(out.bytes, expected);
    ts_arena_free(arena);
}

static void expect_refusal(const char *name, ts_error_kind kind, const char *expected) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    assert_null(load(&err, arena, name));
    assert_error(&err, kind, expected);
    ts_arena_free(arena);
}

TEST(merges_builtins) {
    expect_tree("alpha", "x=1 m=(a=1 b=2)");
    expect_tree("beta", "x=1 m=(a=1 b=3 c=4) y=5");
    expect_tree("gamma", "x=1 m=(b=3 c=4) y=5");
}

#define NAMES "alpha, beta, gamma, loop-1, loop-2, outside, list, none, typo"

TEST(refuses_builtins) {
    expect_refusal(
        "bata", TS_ERROR_INPUT,
        "error: no machine is called 'bata', and it is no path of a file: the built-in ones are " NAMES
        "; did you mean 'beta'?\n");
    expect_refusal("", TS_ERROR_INPUT,
                   "error: no machine is called '', and it is no path of a file: the built-in ones are " NAMES
                   "\n");
    expect_refusal("loop-1", TS_ERROR_INPUT,
                   "loop-2:1:7: error: 'loop-1' is a base of itself\nbase: loop-1\n      ^\n");
    expect_refusal("outside", TS_ERROR_INPUT,
                   "outside:1:7: error: the base of a built-in machine must be a built-in one\nbase: "
                   "./a.yaml\n      ^\n");
    expect_refusal("list", TS_ERROR_INPUT,
                   "list:1:7: error: base: expected the name of a built-in machine or the path of a file\n"
                   "base: [alpha]\n      ^\n");
    expect_refusal("none", TS_ERROR_INPUT,
                   "none:1:6: error: base: expected the name of a built-in machine or the path of a "
                   "file\nbase:\n     ^\n");
    expect_refusal("typo", TS_ERROR_INPUT,
                   "typo:2:7: error: no machine is called 'alhpa', and it is no path of a file: the built-in "
                   "ones are " NAMES "; did you mean 'alpha'?\nbase: alhpa\n      ^\n");
}

static void save(const char *name, const char *text) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    assert_true(ts_file_save(&err, arena, name, text, strlen(text)));
    ts_arena_free(arena);
}

/* In a new folder. */
static int enter(void **state) {
    char *folder = malloc(TEMPORARY_PATH);
    *state = temporary_path(folder, "load-XXXXXX");
    return !(mkdtemp(folder) && chdir(folder) == 0 && mkdir("sub", 0777) == 0);
}

static int leave(void **state) {
    static const char *const names[] = {"a.yaml", "b.yml",      "c.yaml",     "d.yaml", "e.yaml",
                                        "f.yaml", "sub/a.yaml", "sub/g.yaml", "sub"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) remove(names[i]);
    rmdir(*state);
    free(*state);
    return 0;
}

static void expect_files(const char *name, const char *expected) {
    const char *files[TS_TREE_MAX_BASES + 1];
    ts_arena *arena = ts_arena_new();
    int count = ts_tree_files(arena, name, files);
    ts_text all = ts_text_begin(arena);
    for (int i = 0; i < count; i++) ts_text_add(&all, "%s%s", i > 0 ? " " : "", files[i]);
    assert_string_equal(count > 0 ? all.bytes : "", expected);
    ts_arena_free(arena);
}

TEST_WITH(loads_files, enter, leave) {
    char absolute[4200];
    snprintf(absolute, sizeof absolute, "base: %s/b.yml\n", (const char *)*state);
    save("sub/g.yaml", absolute);
    save("a.yaml", "base: sub/a.yaml\nm: {c: 9}\n");
    save("sub/a.yaml", "base: ../b.yml\nz: 7\n");
    save("b.yml", "base: alpha\nx: 2\n");
    save("c.yaml", "base: c.yaml\n");
    save("d.yaml", "base: sub/../d.yaml\n");
    save("e.yaml", "x: 1\nbase: absent.yaml\n");
    save("f.yaml", "base: sub/\n");
    save("h.yaml", "- base: a.yaml\n");
    save("i.yaml", "base: [a.yaml]\n");
    expect_files("alpha", "");
    expect_files("a.yaml", "a.yaml sub/a.yaml sub/../b.yml");
    expect_files("e.yaml", "e.yaml absent.yaml"); /* as far as they can be read */
    expect_files("h.yaml", "h.yaml");
    expect_files("i.yaml", "i.yaml");
    expect_files("c.yaml", "c.yaml c.yaml c.yaml c.yaml c.yaml c.yaml c.yaml c.yaml c.yaml");
    expect_tree("a.yaml", "x=2 m=(a=1 b=2 c=9) z=7");
    expect_tree("./sub/a.yaml", "x=2 m=(a=1 b=2) z=7");
    expect_tree("sub/g.yaml", "x=2 m=(a=1 b=2)");
    expect_refusal("c.yaml", TS_ERROR_INPUT,
                   "c.yaml:1:7: error: 'c.yaml' is a base of itself\nbase: c.yaml\n      ^\n");
    expect_refusal(
        "d.yaml", TS_ERROR_INPUT,
        "sub/../sub/../sub/../sub/../sub/../sub/../sub/../d.yaml:1:7: error: too many bases, one on top of "
        "the other\nbase: sub/../d.yaml\n      ^\n");
    expect_refusal("e.yaml", TS_ERROR_IO,
                   "e.yaml:2:7: error: cannot open 'absent.yaml': No such file or directory\nbase: "
                   "absent.yaml\n      ^\n");
    expect_refusal("f.yaml", TS_ERROR_IO,
                   "f.yaml:1:7: error: cannot read 'sub/': it is a directory\nbase: sub/\n      ^\n");
    expect_refusal("absent.yaml", TS_ERROR_IO,
                   "error: cannot open 'absent.yaml': No such file or directory\n");
    expect_refusal("./sub", TS_ERROR_IO, "error: cannot read './sub': it is a directory\n");
}

TEST(parses_overrides) {
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {"a", "set:1:2: error: expected a field and a value: path.to.field=value\na\n ^\n"},
        {"", "set:1:1: error: expected a field and a value: path.to.field=value\n\n^\n"},
        {"=1", "set:1:1: error: expected a field and a value: path.to.field=value\n=1\n^\n"},
        {"a..b=1", "set:1:3: error: expected a field and a value: path.to.field=value\na..b=1\n  ^\n"},
        {"a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.b=1", /* one more than maps may be deep */
         "set:1:34: error: expected a field and a value: path.to.field=value\n"
         "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.b=1\n                                 ^\n"},
        {"a.b", "set:1:4: error: expected a field and a value: path.to.field=value\na.b\n   ^\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_source source = {"set", rows[i].text, strlen(rows[i].text)};
        assert_null(ts_tree_parse_override(&err, arena, &source));
        assert_error(&err, TS_ERROR_USAGE, rows[i].expected);
        ts_arena_free(arena);
    }
}
