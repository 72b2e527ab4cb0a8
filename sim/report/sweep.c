/* The table of a study, as text with the columns that fit, as CSV and as JSON with all. */
#include "report/sweep.h"

#include <string.h>

#include "report/json.h"

enum { GAP = 2, MOST_CHARACTERS = 42, MOST_SHOWN = 24, MOST_ERRORS = 4 };

/* ---- Text ---- */

/* In one line, with blanks for line breaks and tabs, which a parameter may hold. */
static const char *with_blanks(ts_arena *arena, const char *text) {
    char *out = ts_arena_copy_text(arena, text, strlen(text));
    for (char *at = out; (at = strpbrk(at, "\n\r\t")) != NULL;) *at = ' ';
    return ts_text_one_line(arena, out);
}

/* Cut to what a cell has room for. */
static const char *show(ts_arena *arena, const ts_sweep_table *t, int64_t row, int column) {
    const ts_sweep_value *value = ts_sweep_table_cell(t, row, column);
    const char *about = ts_sweep_table_is_estimate(t, row, column) ? "~" : "";
    if (value->kind == TS_SWEEP_TEXT)
        return ts_text_cut(arena, with_blanks(arena, value->text), MOST_CHARACTERS);
    if (value->kind == TS_SWEEP_INTEGER)
        return ts_text_format(arena, "%s%s", about, ts_text_grouped(arena, value->integer));
    return value->kind == TS_SWEEP_REAL ? ts_text_format(arena, "%s%.6g", about, value->real) : "-";
}

static int width_of(ts_arena *arena, const ts_sweep_view *view, int column) {
    const ts_sweep_table *t = view->table;
    int width = ts_text_characters(t->headings[column].name);
    for (int64_t i = 0; i < t->row_count && i < view->rows; i++) {
        int length = ts_text_characters(show(arena, t, i, column));
        if (length > width) width = length;
    }
    return width;
}

/* Parameters first, then what a reader looks for first, then the rest, as long as the line has room. */
typedef struct {
    ts_arena *arena;
    int columns[MOST_SHOWN], widths[MOST_SHOWN], count, used;
} layout;

static void add_if_fits(const ts_sweep_view *view, int column, layout *l) {
    for (int i = 0; i < l->count; i++)
        if (l->columns[i] == column) return;
    int width = width_of(l->arena, view, column);
    if (l->count == MOST_SHOWN || l->used + width + GAP > TS_TEXT_COLUMNS) return;
    l->columns[l->count] = column;
    l->widths[l->count++] = width;
    l->used += width + GAP;
}

static bool all_are_ok(const ts_sweep_table *t) {
    for (int64_t i = 0; i < t->row_count; i++)
        if (strcmp(ts_sweep_table_cell(t, i, t->status_column)->text, "ok") != 0) return false;
    return true;
}

static void choose_columns(const ts_sweep_view *view, layout *l) {
    static const char *const first[] = {"error",        "microseconds",  "cycles",
                                        "padded_bytes", "logical_bytes", "hbm_bytes"};
    const ts_sweep_table *t = view->table;
    int derived = t->column_count - t->study->derived_count;
    for (int i = 0; i < t->parameter_count; i++) add_if_fits(view, i, l);
    if (!all_are_ok(t)) add_if_fits(view, t->status_column, l);
    for (int i = 0; i < view->ranked_by_count; i++) add_if_fits(view, view->ranked_by[i], l);
    for (int i = derived; i < t->column_count; i++) add_if_fits(view, i, l);
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        int column = ts_sweep_table_find(NULL, t, "", first[i]);
        if (column >= 0) add_if_fits(view, column, l);
    }
}

/* Numbers end where their column does; nothing follows the last cell of a line. */
static void add_row(ts_text *out, const ts_sweep_table *t, const layout *l, const char *const *cells) {
    for (int i = 0; i < l->count; i++) {
        bool last = i + 1 == l->count;
        bool number = t->headings[l->columns[i]].number;
        int blanks = l->widths[i] - ts_text_characters(cells[i]);
        ts_text_add(out, "%*s%s%*s", number ? blanks : 0, "", cells[i],
                    last ? 0 : GAP + (number ? 0 : blanks), "");
    }
    ts_text_add_char(out, '\n');
}

static void add_table(const ts_sweep_view *view, ts_text *out) {
    const ts_sweep_table *t = view->table;
    const char *cells[MOST_SHOWN];
    layout l = {.arena = out->arena};
    choose_columns(view, &l);
    for (int64_t row = -1; row < t->row_count && row < view->rows; row++) {
        for (int i = 0; i < l.count; i++)
            cells[i] = row < 0 ? t->headings[l.columns[i]].name : show(out->arena, t, row, l.columns[i]);
        add_row(out, t, &l, cells);
    }
    if (t->row_count > view->rows)
        ts_text_add(out, "and %lld more: --rows N, --all, --csv FILE\n",
                    (long long)(t->row_count - view->rows));
}

/* In full, as a cell has no room for them, each once. */
static void add_errors(const ts_sweep_table *t, ts_text *out) {
    const char *errors[MOST_ERRORS];
    int64_t counts[MOST_ERRORS], others = 0;
    int column = ts_sweep_table_find(NULL, t, "", "error"), found = 0;
    for (int64_t row = 0; column >= 0 && row < t->row_count; row++) {
        const ts_sweep_value *value = ts_sweep_table_cell(t, row, column);
        int i = 0;
        if (value->kind != TS_SWEEP_TEXT) continue;
        while (i < found && strcmp(errors[i], value->text) != 0) i++;
        if (i == MOST_ERRORS && ++others) continue;
        if (i == found) errors[found] = value->text, counts[found++] = 0;
        counts[i]++;
    }
    for (int i = 0; i < found; i++)
        ts_text_add(out, "%serror of %lld: %s\n", i ? "" : "\n", (long long)counts[i], errors[i]);
    if (others > 0) ts_text_add(out, "and other errors of %lld: --csv FILE\n", (long long)others);
}

static void add_counts(const ts_sweep_view *view, ts_text *out) {
    const ts_sweep_result *r = view->result;
    ts_text_add(out, "points     %s: %s were there, %s answered", ts_text_grouped(out->arena, r->points),
                ts_text_grouped(out->arena, r->there), ts_text_grouped(out->arena, r->answered));
    if (r->left_out > 0)
        ts_text_add(out, "; %s left out by conditions", ts_text_grouped(out->arena, r->left_out));
    for (int i = TS_SWEEP_OK + 1; i < TS_SWEEP_STATUSES; i++)
        if (r->by_status[i] > 0)
            ts_text_add(out, "; %s of them: %s", ts_text_grouped(out->arena, r->by_status[i]),
                        ts_sweep_status_text((ts_sweep_status)i));
    ts_text_add(out, "\n\n");
}

static void add_head(const ts_sweep_view *view, ts_text *out) {
    ts_text_add(out, "study      %s: %s\n", ts_text_one_line(out->arena, view->study),
                ts_text_one_line(out->arena, view->table->study->title));
    ts_text_add(out, "database   %s\n", ts_text_one_line(out->arena, view->database));
    add_counts(view, out);
    ts_text_wrap(out, TS_TEXT_COLUMNS);
}

void ts_report_sweep(const ts_sweep_view *view, ts_text *out) {
    add_head(view, out);
    add_table(view, out);
    add_errors(view->table, out);
    ts_text_wrap(out, TS_TEXT_COLUMNS);
}

void ts_report_tuned(const ts_sweep_view *view, const ts_sweep_tuned *tuned, ts_text *out) {
    add_head(view, out);
    for (int i = 0; i < tuned->rung_count; i++) {
        const ts_sweep_rung *rung = &tuned->rungs[i];
        bool last = i + 1 == tuned->rung_count;
        ts_text_add(out, "at %-8s %s tried, ", rung->value, ts_text_grouped(out->arena, rung->tried));
        ts_text_add(out, last ? "%s of them with a result\n" : "the best %s go on\n",
                    ts_text_grouped(out->arena, rung->kept));
    }
    if (tuned->rung_count > 0)
        ts_text_add(
            out, "not tried at %s: %s of %s\n\n", tuned->rungs[tuned->rung_count - 1].value,
            ts_text_grouped(out->arena, tuned->candidates - tuned->rungs[tuned->rung_count - 1].tried),
            ts_text_grouped(out->arena, tuned->candidates));
    add_table(view, out);
    add_errors(view->table, out);
    ts_text_wrap(out, TS_TEXT_COLUMNS);
}

/* ---- CSV (RFC 4180) ---- */

static void add_field(ts_text *out, const char *text) {
    if (!strpbrk(text, ",\"\r\n")) {
        ts_text_add(out, "%s", text);
        return;
    }
    ts_text_add_char(out, '"');
    for (; *text; text++) ts_text_add(out, *text == '"' ? "\"\"" : "%c", *text);
    ts_text_add_char(out, '"');
}

void ts_report_sweep_csv(const ts_sweep_view *view, ts_text *out) {
    const ts_sweep_table *t = view->table;
    ts_text text = ts_text_begin(out->arena);
    for (int i = 0; i < t->column_count; i++) {
        ts_text_add(out, i ? "," : "");
        add_field(out, t->headings[i].name);
    }
    ts_text_add_char(out, '\n');
    for (int64_t row = 0; row < t->row_count; row++) {
        for (int i = 0; i < t->column_count; i++) {
            ts_text_clear(&text);
            ts_sweep_value_print(ts_sweep_table_cell(t, row, i), &text);
            ts_text_add(out, i ? "," : "");
            add_field(out, text.bytes);
        }
        ts_text_add_char(out, '\n');
    }
}

/* ---- JSON ---- */

static void add_value(ts_json *json, const char *key, const ts_sweep_value *value) {
    if (value->kind == TS_SWEEP_NONE) ts_json_null(json, key);
    if (value->kind == TS_SWEEP_INTEGER) ts_json_int(json, key, value->integer);
    if (value->kind == TS_SWEEP_REAL) ts_json_double(json, key, value->real);
    if (value->kind == TS_SWEEP_TEXT) ts_json_text(json, key, value->text);
}

static void add_rows_json(const ts_sweep_table *t, ts_json *json) {
    ts_json_array(json, "rows");
    for (int64_t row = 0; row < t->row_count; row++) {
        ts_json_object(json, NULL);
        for (int i = 0; i < t->column_count; i++)
            add_value(json, t->headings[i].name, ts_sweep_table_cell(t, row, i));
        ts_json_close(json);
    }
    ts_json_close(json);
}

static void add_json(const ts_sweep_view *view, ts_json *json) {
    const ts_sweep_result *r = view->result;
    const ts_sweep_table *t = view->table;
    ts_json_text(json, "study", view->study);
    ts_json_text(json, "title", t->study->title);
    ts_json_text(json, "database", view->database);
    ts_json_int(json, "points", r->points);
    ts_json_int(json, "there", r->there);
    ts_json_int(json, "answered", r->answered);
    ts_json_int(json, "left_out", r->left_out);
    ts_json_object(json, "statuses");
    for (int i = 0; i < TS_SWEEP_STATUSES; i++)
        ts_json_int(json, ts_sweep_status_text((ts_sweep_status)i), r->by_status[i]);
    ts_json_close(json);
    ts_json_array(json, "parameters");
    for (int i = 0; i < t->parameter_count; i++) ts_json_text(json, NULL, t->headings[i].name);
    ts_json_close(json);
    add_rows_json(t, json);
}

void ts_report_sweep_json(const ts_sweep_view *view, ts_text *out) {
    ts_json json;
    ts_json_begin(&json, out, "sweep");
    add_json(view, &json);
    ts_json_end(&json);
}

void ts_report_tuned_json(const ts_sweep_view *view, const ts_sweep_tuned *tuned, ts_text *out) {
    ts_json json;
    ts_json_begin(&json, out, "sweep.tune");
    add_json(view, &json);
    ts_json_int(&json, "candidates", tuned->candidates);
    ts_json_array(&json, "rungs");
    for (int i = 0; i < tuned->rung_count; i++) {
        ts_json_object(&json, NULL);
        ts_json_text(&json, "value", tuned->rungs[i].value);
        ts_json_int(&json, "tried", tuned->rungs[i].tried);
        ts_json_int(&json, "kept", tuned->rungs[i].kept);
        ts_json_close(&json);
    }
    ts_json_close(&json);
    ts_json_end(&json);
}
