/* What changed between two reports, as text and as JSON. */
#include "report/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"
#include "base/number.h"
#include "report/json.h"

/* A path has a line of its own where it does not fit its column. */
enum { PATH = 42, VALUE = 17 };

/* 8 characters: "+12.5 %", "x 12.3", "=". */
static void add_ratio(ts_text *out, double before, double after) {
    double ratio = after / before;
    if (!(before != 0) || !isfinite(ratio) || ratio <= 0)
        ts_text_add(out, "%8s", "");
    else if (ratio < 10)
        ts_text_add(out, "%+6.1f %%", 100 * (ratio - 1));
    else
        ts_text_add(out, "x %6.4g", ratio);
}

/* Numbers in groups of three digits, or with six digits in all; texts are whole: two may differ at their
 * ends. */
static const char *show(ts_arena *arena, const ts_compare_value *value) {
    if (!value->text || !value->is_number) return value->text ? value->text : "-";
    if (fabs(value->number) < 0x1p53 && value->number == floor(value->number))
        return ts_text_grouped(arena, (int64_t)value->number);
    return ts_text_format(arena, "%.6g", value->number);
}

static bool has_numbers(const ts_compare_change *change) {
    return change->before.is_number && change->after.is_number;
}

static void add_change(ts_text *out, const ts_compare_change *change) {
    const char *before = ts_text_one_line(out->arena, show(out->arena, &change->before));
    const char *after = ts_text_one_line(out->arena, show(out->arena, &change->after));
    bool narrow = strlen(before) <= VALUE && strlen(after) <= VALUE;
    if (!narrow) {
        ts_text_add(out, "%s\n    %s\n    %s\n", change->path, before, after);
        return;
    }
    if (strlen(change->path) > PATH)
        ts_text_add(out, "%s\n%*s", change->path, PATH, "");
    else
        ts_text_add(out, "%-*s", PATH, change->path);
    ts_text_add(out, " %*s %*s ", VALUE, before, VALUE, after);
    if (has_numbers(change)) add_ratio(out, change->before.number, change->after.number);
    while (out->bytes[out->length - 1] == ' ') out->bytes[--out->length] = '\0';
    ts_text_add_char(out, '\n');
}

/* ---- Sections: the keys at the top, then those below each, the largest difference first ---- */

static bool is_section_alone(const ts_compare_change *change) {
    return change->path[change->section] == '\0';
}

/* A missing number counts as 0. Texts come first. */
static double difference(const ts_compare_change *change) {
    const ts_compare_value *a = &change->before, *b = &change->after;
    bool texts = (a->text && !a->is_number) || (b->text && !b->is_number);
    return texts ? (double)INFINITY : fabs(b->number - a->number);
}

static int by_difference(const void *one, const void *other) {
    const ts_compare_change *a = *(const ts_compare_change *const *)one,
                            *b = *(const ts_compare_change *const *)other;
    double x = difference(a), y = difference(b);
    return x != y ? ts_order_reals(y, x) : (a > b) - (a < b);
}

static bool same_section(const ts_compare_change *a, const ts_compare_change *b) {
    return a->section == b->section && memcmp(a->path, b->path, a->section) == 0;
}

static void add_section(const ts_compare_change *changes, int count, const ts_compare_view *view,
                        ts_text *out) {
    const ts_compare_change **rows = TS_NEW_ARRAY(out->arena, const ts_compare_change *, count);
    int shown = count < view->rows ? count : view->rows;
    for (int i = 0; i < count; i++) rows[i] = &changes[i];
    qsort(rows, (size_t)count, sizeof *rows, by_difference);
    if (out->bytes[out->length - 2] != '\n') ts_text_add_char(out, '\n');
    for (int i = 0; i < shown; i++) add_change(out, rows[i]);
    if (shown < count) ts_text_add(out, "and %d more; --all shows them\n", count - shown);
}

static void add_results(const ts_comparison *r, const ts_compare_view *view, ts_text *out) {
    for (int i = 0; i < r->result_count; i++)
        if (is_section_alone(&r->results[i])) add_change(out, &r->results[i]);
    for (int i = 0, next; i < r->result_count; i = next) {
        for (next = i + 1; next < r->result_count && same_section(&r->results[i], &r->results[next]);) next++;
        if (!is_section_alone(&r->results[i])) add_section(&r->results[i], next - i, view, out);
    }
}

void ts_report_compare(const ts_comparison *r, const ts_compare_view *view, ts_text *out) {
    ts_text_add(out, "before     %s\nafter      %s\n", ts_text_one_line(out->arena, view->before),
                ts_text_one_line(out->arena, view->after));
    ts_text_add(out, "           reports of tilesim %s\n\n", r->command);
    if (r->result_count + r->setting_count > 0)
        ts_text_add(out, "%-*s %*s %*s   change\n", PATH, "", VALUE, "before", VALUE, "after");
    for (int i = 0; i < r->setting_count; i++) add_change(out, &r->settings[i]);
    if (r->setting_count > 0 && r->result_count > 0) ts_text_add_char(out, '\n');
    add_results(r, view, out);
    if (r->result_count + r->setting_count > 0) ts_text_add_char(out, '\n');
    ts_text_add(out, "%s %s the same in both\n", ts_text_counted(out->arena, r->equal_count, "value"),
                r->equal_count == 1 ? "is" : "are");
    ts_text_wrap(out, TS_TEXT_COLUMNS);
}

/* ---- A page ---- */

static void add_changes_html(page *p, const char *heading, const ts_compare_change *changes, int count) {
    static const page_column headings[] = {
        {"figure", false}, {"before", true}, {"after", true}, {"difference", true}, {"change", true}};
    if (count == 0) return;
    page_section(p, heading);
    page_table(p, NULL, headings, 5);
    for (int i = 0; i < count; i++) {
        const ts_compare_change *c = &changes[i];
        const ts_compare_value by = {"", true, c->after.number - c->before.number};
        double ratio = c->after.number / c->before.number;
        page_row(p);
        page_code(p, c->path);
        page_number(p, c->before.number, "%s", show(p->out->arena, &c->before));
        page_number(p, c->after.number, "%s", show(p->out->arena, &c->after));
        if (has_numbers(c))
            page_number(p, by.number, "%s%s", by.number > 0 ? "+" : "", show(p->out->arena, &by));
        else
            page_cell(p, "%s", "");
        if (has_numbers(c) && isfinite(ratio))
            page_number(p, ratio, "%+.1f %%", 100 * (ratio - 1));
        else
            page_cell(p, "%s", "");
    }
    page_table_end(p);
}

/* "16,444,928 to 1,671,432,192 (+10063.8 %)"; nothing is a share of 0. */
static const char *fact_of(const ts_compare_figure *f, ts_arena *arena) {
    const ts_compare_value before = {.text = "", .is_number = true, .number = f->before},
                           after = {.text = "", .is_number = true, .number = f->after};
    ts_text text = ts_text_begin(arena);
    ts_text_add(&text, "%s to %s", show(arena, &before), show(arena, &after));
    if (f->before != 0) ts_text_add(&text, " (%+.1f %%)", 100 * (f->after / f->before - 1));
    return text.bytes;
}

void ts_report_compare_html(const ts_comparison *r, const ts_compare_view *view, ts_text *out) {
    page_fact facts[TS_COMPARE_FIGURES];
    page p;
    const char *subject = ts_text_format(out->arena, "%s and %s", view->before, view->after);
    page_begin(&p, out, "What changed", subject, NULL);
    for (int i = 0; i < r->figure_count; i++)
        facts[i] = (page_fact){r->figures[i].path, fact_of(&r->figures[i], out->arena)};
    page_facts(&p, facts, r->figure_count);
    add_changes_html(&p, "What was compared", r->settings, r->setting_count);
    add_changes_html(&p, "Figures", r->results, r->result_count);
    page_paragraph(&p, "%lld value%s the same in both.", (long long)r->equal_count,
                   r->equal_count == 1 ? " is" : "s are");
    page_end(&p);
}

/* ---- JSON ---- */

static void add_value_json(ts_json *json, const char *key, const ts_compare_value *value) {
    if (value->is_number)
        ts_json_double(json, key, value->number);
    else
        ts_json_text(json, key, value->text);
}

static void add_changes_json(ts_json *json, const char *key, const ts_compare_change *changes, int count) {
    ts_json_array(json, key);
    for (int i = 0; i < count; i++) {
        ts_json_object(json, NULL);
        ts_json_text(json, "path", changes[i].path);
        add_value_json(json, "before", &changes[i].before);
        add_value_json(json, "after", &changes[i].after);
        if (has_numbers(&changes[i]))
            ts_json_double(json, "ratio", changes[i].after.number / changes[i].before.number);
        ts_json_close(json);
    }
    ts_json_close(json);
}

void ts_report_compare_json(const ts_comparison *r, const ts_compare_view *view, ts_text *out) {
    ts_json json;
    ts_json_begin(&json, out, "compare");
    ts_json_text(&json, "before", view->before);
    ts_json_text(&json, "after", view->after);
    ts_json_text(&json, "command", r->command);
    ts_json_array(&json, "figures");
    for (int i = 0; i < r->figure_count; i++) {
        ts_json_object(&json, NULL);
        ts_json_text(&json, "path", r->figures[i].path);
        ts_json_double(&json, "before", r->figures[i].before);
        ts_json_double(&json, "after", r->figures[i].after);
        ts_json_double(&json, "ratio", r->figures[i].after / r->figures[i].before);
        ts_json_close(&json);
    }
    ts_json_close(&json);
    add_changes_json(&json, "settings", r->settings, r->setting_count);
    add_changes_json(&json, "results", r->results, r->result_count);
    ts_json_int(&json, "equal_values", r->equal_count);
    ts_json_end(&json);
}
