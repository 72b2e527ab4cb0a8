/* Rows as bytes and back, values as text and back, rows of a table that are kept. */
#include "sweep/columns.h"

#include <string.h>

#include "sweep/case.h"
#include "sweep/table.h"
#include "tests/support/test.h"

TEST(names) {
    assert_string_equal(ts_sweep_column_get(TS_COUNTER_CYCLES)->name, "cycles");
    for (int i = 0; i < TS_SWEEP_COLUMNS; i++) {
        const ts_sweep_column_info *info = ts_sweep_column_get(i);
        assert_true(info->kind >= TS_SWEEP_INTEGER && info->meaning[0]);
        assert_int_equal(ts_sweep_column_find(info->name, strlen(info->name)), i);
    }
    assert_int_equal(ts_sweep_column_find("time", 4), TS_SWEEP_MICROSECONDS_COLUMN);
    assert_int_equal(ts_sweep_column_find("times", 5), -1);
    assert_int_equal(ts_sweep_column_find("cycle", 5), -1);
    for (int i = 0; i < TS_SWEEP_STATUSES; i++) assert_true(ts_sweep_status_text((ts_sweep_status)i)[0]);
}

TEST_WITH_ARENA(rows_as_bytes) {
    ts_sweep_row row, back;
    ts_error why = {0}, other = {0};
    const ts_source source = {"a.tsim", "x y", 3};
    ts_error_at(&why, TS_ERROR_FAULT, &source, 2, "an error");
    why.next = &other;
    why.more = true;
    ts_sweep_row_error(arena, TS_SWEEP_FAILED, &why, &row);
    assert_null(row.err->next); /* which would be gone */
    ts_text out = ts_text_begin(arena);
    ts_sweep_set_integer(&row, TS_COUNTER_CYCLES, -5);
    ts_sweep_set_real(&row, TS_SWEEP_MICROSECONDS_COLUMN, 0.1);
    ts_sweep_set_real(&row, TS_SWEEP_ESTIMATED_COLUMN, 1.0 / 0.0); /* is none */
    ts_sweep_set_text(&row, TS_SWEEP_LIMITER_COLUMN, "a\nb");
    ts_sweep_set_text(&row, TS_SWEEP_LAYOUT_COLUMN, NULL);
    ts_sweep_row_pack(&out, &row);
    assert_true(ts_sweep_row_unpack(arena, out.bytes, out.length, &back));
    assert_int_equal(back.status, TS_SWEEP_FAILED);
    assert_false(back.err->more);
    assert_string_equal(back.err->message, "an error");
    assert_string_equal(back.err->name, "a.tsim");
    assert_string_equal(back.err->excerpt, "x y");
    assert_true(back.err->kind == TS_ERROR_FAULT && back.err->line == 1 && back.err->column == 3);
    assert_null(back.err->next);
    assert_int_equal(back.values[TS_COUNTER_CYCLES].integer, -5);
    assert_true(back.values[TS_SWEEP_MICROSECONDS_COLUMN].real == 0.1);
    assert_int_equal(back.values[TS_SWEEP_ESTIMATED_COLUMN].kind, TS_SWEEP_NONE);
    assert_string_equal(back.values[TS_SWEEP_LIMITER_COLUMN].text, "a\nb");
    assert_int_equal(back.values[TS_SWEEP_LAYOUT_COLUMN].kind, TS_SWEEP_NONE);
    for (size_t length = 0; length < out.length; length++) { /* none of its beginnings is a row */
        char *cut = ts_arena_copy_text(arena, out.bytes, length);
        assert_false(ts_sweep_row_unpack(arena, cut, length, &back));
    }
    ts_text_add_char(&out, 0);
    assert_false(ts_sweep_row_unpack(arena, out.bytes, out.length, &back));
    out.bytes[0] = TS_SWEEP_STATUSES;
    assert_false(ts_sweep_row_unpack(arena, out.bytes, out.length - 1, &back));
}

/* What another process may send: texts without ends, kinds that there are none of. */
TEST_WITH_ARENA(bytes_of_others) {
    ts_sweep_row row = {.status = TS_SWEEP_ERROR}, back;
    ts_error why = {.kind = TS_ERROR_CAPACITY};
    memset(why.message, 'm', sizeof why.message);
    memset(why.name, 'n', sizeof why.name);
    memset(why.excerpt, 'e', sizeof why.excerpt);
    row.err = &why;
    ts_text out = ts_text_begin(arena);
    ts_sweep_row_pack(&out, &row);
    assert_true(ts_sweep_row_unpack(arena, out.bytes, out.length, &back));
    assert_int_equal(strlen(back.err->message), TS_ERROR_TEXT_BYTES - 1);
    assert_int_equal(strlen(back.err->name), TS_ERROR_NAME_BYTES - 1);
    assert_int_equal(strlen(back.err->excerpt), TS_ERROR_LINE_BYTES - 1);
    assert_int_equal(back.err->kind, TS_ERROR_CAPACITY);
    static const struct {
        ts_error_kind kind;
        bool good;
    } kinds[] = {{TS_ERROR_NONE, false}, {TS_ERROR_INPUT, true}, {TS_ERROR_CAPACITY + 1, false}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        why.kind = kinds[i].kind;
        out = ts_text_begin(arena);
        ts_sweep_row_pack(&out, &row);
        assert_int_equal(ts_sweep_row_unpack(arena, out.bytes, out.length, &back), kinds[i].good);
    }
    row.err = NULL;
    out = ts_text_begin(arena);
    ts_sweep_row_pack(&out, &row);
    assert_int_equal(out.length, 2 + TS_SWEEP_COLUMNS); /* no values */
    assert_true(ts_sweep_row_unpack(arena, out.bytes, out.length, &back));
    for (size_t at = 1; at < out.length; at++) { /* is there an error; the kinds of values */
        char was = out.bytes[at];
        out.bytes[at] = at == 1 ? 2 : TS_SWEEP_TEXT + 1;
        assert_false(ts_sweep_row_unpack(arena, out.bytes, out.length, &back));
        out.bytes[at] = was;
    }
}

TEST(values_as_text) {
    static const struct {
        const char *text;
        ts_sweep_kind kind;
        const char *printed;
    } rows[] = {
        {"12", TS_SWEEP_INTEGER, "12"},
        {"-3", TS_SWEEP_INTEGER, "-3"},
        {"+3", TS_SWEEP_INTEGER, "3"},
        {"9223372036854775807", TS_SWEEP_INTEGER, "9223372036854775807"},
        {"0.1", TS_SWEEP_REAL, "0.1"},
        {"9223372036854775808", TS_SWEEP_REAL, "9.223372036854776e+18"},
        {"1e3", TS_SWEEP_REAL, "1000"},
        {"0.1000000000000000055", TS_SWEEP_REAL, "0.1"},
        {"1e999", TS_SWEEP_TEXT, "1e999"},
        {"0.30000000000000004", TS_SWEEP_REAL, "0.30000000000000004"},
        {"", TS_SWEEP_TEXT, ""},
        {"e", TS_SWEEP_TEXT, "e"},
        {"1 2", TS_SWEEP_TEXT, "1 2"},
        {"0x10", TS_SWEEP_TEXT, "0x10"},
        {"nan", TS_SWEEP_TEXT, "nan"},
        {"1-2", TS_SWEEP_TEXT, "1-2"},
        {"tpu-v5e", TS_SWEEP_TEXT, "tpu-v5e"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_arena *arena = ts_arena_new();
        ts_text out;
        double number;
        ts_sweep_value value = ts_sweep_value_read(rows[i].text);
        out = ts_text_begin(arena);
        ts_sweep_value_print(&value, &out);
        assert_int_equal(value.kind, rows[i].kind);
        assert_string_equal(out.bytes, rows[i].printed);
        assert_int_equal(ts_sweep_value_number(&value, &number), rows[i].kind != TS_SWEEP_TEXT);
        ts_arena_free(arena);
    }
}

static bool is_counted(const ts_sweep_table *table, int row, int columns) {
    bool numbers = strcmp(ts_sweep_table_cell(table, row, table->status_column)->text, "ok") == 0;
    for (int i = 0; i < columns; i++)
        numbers = numbers && ts_sweep_table_cell(table, row, i)->kind == TS_SWEEP_INTEGER;
    return numbers;
}

/* Against all pairs: a row is of the front when it is ok and has numbers, no other is at most as large in all, and smaller in
 * one. Behind the table lies what would beat all. */
TEST(fronts) {
    enum { ROWS = 60, COLUMNS = 4, STATUS = COLUMNS - 1 };
    uint32_t seed = 12345;
    for (int round = 0; round < 50; round++) {
        ts_arena *arena = ts_arena_new();
        ts_sweep_table table = {.column_count = COLUMNS, .row_count = ROWS, .status_column = STATUS};
        int columns[] = {0, 1, 2}, count = 1 + round % STATUS;
        int64_t *rows, found = 0;
        bool front[ROWS];
        table.cells = TS_NEW_ARRAY(arena, ts_sweep_value, (ROWS + 1) * COLUMNS);
        for (int i = 0; i < COLUMNS; i++)
            table.cells[ROWS * COLUMNS + i] = (ts_sweep_value){.kind = TS_SWEEP_INTEGER};
        for (int i = 0; i < ROWS * COLUMNS; i++) {
            seed = seed * 1664525 + 1013904223;
            table.cells[i] =
                (ts_sweep_value){.kind = (seed >> 20 & 31) == 0 ? TS_SWEEP_TEXT : TS_SWEEP_INTEGER,
                                 .integer = 1 + (seed >> 16 & 15)};
            if (table.cells[i].kind == TS_SWEEP_TEXT) table.cells[i].text = "none";
            if (i % COLUMNS == STATUS)
                table.cells[i] =
                    (ts_sweep_value){.kind = TS_SWEEP_TEXT, .text = (seed >> 21 & 7) == 0 ? "failed" : "ok"};
        }
        for (int a = 0; a < ROWS; a++) {
            front[a] = is_counted(&table, a, count);
            for (int b = 0; b < ROWS; b++) {
                if (!is_counted(&table, b, count)) continue;
                int less = 0, more = 0;
                for (int k = 0; k < count; k++) {
                    int64_t x = ts_sweep_table_cell(&table, a, k)->integer,
                            y = ts_sweep_table_cell(&table, b, k)->integer;
                    less += y < x;
                    more += y > x;
                }
                front[a] = front[a] && !(less > 0 && more == 0);
            }
            found += front[a];
        }
        assert_int_equal(ts_sweep_pareto(arena, &table, columns, count, &rows), found);
        for (int64_t i = 0; i < found; i++) {
            assert_true(front[rows[i]]);
            assert_true(i == 0 || ts_sweep_table_cell(&table, rows[i - 1], 0)->integer <=
                                      ts_sweep_table_cell(&table, rows[i], 0)->integer);
        }
        ts_arena_free(arena);
    }
}
