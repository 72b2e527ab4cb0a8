/* Texts of index maps that are long, or nest deep: chains are walked in loops, nesting is bounded. */
#include "tests/support/test.h"

#include "layout/notation/index_map.h"

enum { TERMS = 500 }; /* more than nest; of far longer ones: tests/cli/test_deep.py */

/* "lambda i, j: [" first, then TERMS times link, then last "]" */
static ts_source chain(ts_arena *arena, const char *first, const char *link, const char *last) {
    ts_text text = ts_text_begin(arena);
    ts_text_add(&text, "lambda i, j: [%s", first);
    for (int n = 0; n < TERMS; n++) ts_text_add(&text, "%s", link);
    ts_text_add(&text, "%s]", last);
    return (ts_source){"map", text.bytes, text.length};
}

/* Read, printed as it was, evaluated, and with a shape that is known. */
TEST(chains) {
    static const struct {
        const char *first, *link;
        int64_t value, extent; /* at (1, 2); over 2 x 4; 0: none that begins at 0 */
    } rows[] = {
        {"i", " + i", TERMS + 1, 2 * (TERMS + 1)},
        {"j", " - i + i", 2, 4},
        {"j", " ^ 1", 2, 4},
        {"j", " | i", 3, 4},
        {"j + 3", " * 1", 5, 0},
        {"i + 5", " // 1 + i", TERMS + 6, 0},
        {"i", " + (j - i)", TERMS + 1, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_index_map map;
        ts_text printed;
        int64_t value, extent;
        ts_source source = chain(arena, rows[i].first, rows[i].link, "");
        assert_true(ts_index_map_parse(&err, arena, &source, &map));
        printed = ts_text_begin(arena);
        ts_index_map_print(&printed, &map);
        assert_string_equal(printed.bytes, source.text);
        assert_true(ts_index_map_apply(&err, &map, (const int64_t[]){1, 2}, &value));
        assert_int_equal(value, rows[i].value);
        assert_true(ts_index_map_equivalent(&map, &map));
        bool has_shape = ts_index_map_shape(&err, arena, &map, (const int64_t[]){2, 4}, &extent);
        assert_int_equal(has_shape ? extent : 0, rows[i].extent);
        ts_arena_free(arena);
    }
}

/* An overflow at the far end is seen, and so is a divisor. */
TEST(chains_that_do_not_fit) {
    static const struct {
        const char *first, *link, *message;
    } rows[] = {
        {"i + 1", " * 2", "transformed index 0 divides by 0 or does not fit in 64 bits at this index"},
        {"i", " // j", "transformed index 0 divides by 0 or does not fit in 64 bits at this index"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_index_map map;
        int64_t value;
        ts_source source = chain(arena, rows[i].first, rows[i].link, "");
        assert_true(ts_index_map_parse(&err, arena, &source, &map));
        assert_false(ts_index_map_apply(&err, &map, (const int64_t[]){1, 0}, &value));
        assert_string_equal(err.message, rows[i].message);
        ts_arena_free(arena);
    }
}

TEST(absurd_nesting) {
    static const struct {
        const char *first, *link, *message;
    } rows[] = {
        {"", "(", "nested more than 200 deep"},
        {"", "-", "nested more than 200 deep"},
        {"", "max(i, ", "nested more than 200 deep"},
        {"", "max(", "nested more than 200 deep"},
        {"", "i + (", "nested more than 200 deep"},
        {"", "i | i ^ i & i << i + i * (", "nested more than 200 deep"},
        {"i", " + i", "found '+', expected a number, an index, '-' or '('"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_index_map map;
        ts_source source = chain(arena, rows[i].first, rows[i].link, " + + i");
        assert_false(ts_index_map_parse(&err, arena, &source, &map));
        assert_string_equal(err.message, rows[i].message);
        assert_int_equal(err.line, 1);
        ts_arena_free(arena);
    }
}

/* As deep as is read, in both ways that use up the room for operands that wait: also values of blocks. */
TEST(deepest) {
    static const struct {
        const char *open, *inside, *close;
        int levels;
    } rows[] = {
        {"(", "i * 4 + j", ")", 199},
        {"i ^ i ^ (", "i * 4 + j", ")", 198},
        {"0 | 0 ^ (", "(i * 4 + j) % 8", ")", 84},
        {"0 + 0 * (", "0", " % 7) + (i ^ 0) * 4 - -j", 120},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_text text, once, twice;
        ts_index_map map, again;
        int64_t value;
        text = ts_text_begin(arena);
        once = ts_text_begin(arena);
        twice = ts_text_begin(arena);
        ts_text_add(&text, "lambda i, j: ");
        for (int n = 0; n < rows[i].levels; n++) ts_text_add(&text, "%s", rows[i].open);
        ts_text_add(&text, "%s", rows[i].inside);
        for (int n = 0; n < rows[i].levels; n++)
            ts_text_add(&text, "%s", n > 0 && i == 3 ? ")" : rows[i].close);
        ts_source source = {"map", text.bytes, text.length};
        assert_true(ts_index_map_parse(&err, arena, &source, &map));
        ts_index_map_print(&once, &map);
        source = (ts_source){"again", once.bytes, once.length};
        assert_true(ts_index_map_parse(&err, arena, &source, &again));
        ts_index_map_print(&twice, &again);
        assert_string_equal(once.bytes, twice.bytes);
        assert_true(ts_index_map_apply(&err, &map, (const int64_t[]){1, 3}, &value));
        assert_int_equal(value, i == 3 ? 0 : 7);
        ts_arena_free(arena);
    }
}

/* Blocks of a map that is no sum of digits, with few and with many operands that wait. */
TEST(blocks) {
    static const int levels[] = {0, 1, 28, 29, 30, 31, 32, 60, 190};
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_text text;
        ts_index_map map;
        text = ts_text_begin(arena);
        ts_text_add(&text, "lambda i, j: [(i * 200 + j) ^ 1");
        for (int n = 0; n < levels[i]; n++) ts_text_add(&text, " + (max(i, j) // 256 * 3 - -i * 0");
        for (int n = 0; n < levels[i]; n++) ts_text_add_char(&text, ')');
        ts_text_add_char(&text, ']');
        ts_source source = {"map", text.bytes, text.length};
        assert_true(ts_index_map_parse(&err, arena, &source, &map));
        const ts_layout *layout =
            ts_index_map_layout(&err, arena, &map, (const int64_t[]){3, 200}, TS_INDEX_MAP_FLAT);
        assert_non_null(layout);
        assert_non_null(layout->function.forward_block);
        int64_t index[2][TS_MAP_BLOCK], offsets[TS_MAP_BLOCK], one;
        for (int k = 0; k < TS_MAP_BLOCK; k++) index[0][k] = k % 3, index[1][k] = k;
        layout->function.forward_block(layout->function.self, index, TS_MAP_BLOCK, offsets);
        for (int k = 0; k < TS_MAP_BLOCK; k++) {
            ts_layout_forward(layout, (const int64_t[]){k % 3, k}, &one);
            assert_int_equal(one, (k % 3 * 200 + k) ^ 1);
            assert_int_equal(offsets[k], one);
        }
        ts_arena_free(arena);
    }
}
