/* The ranking of a program's block sizes. */
#include "report/sweep_blocks.h"

#include <string.h>

#include "report/grid.h"
#include "report/json.h"
#include "report/machine.h"

enum { WIDTH = 7 };

static double number(const ts_sweep_table *t, int64_t row, const char *name) {
    int column = ts_sweep_table_find(NULL, t, "", name);
    double value;
    return column >= 0 && ts_sweep_value_number(ts_sweep_table_cell(t, row, column), &value) ? value : 0;
}

static const char *word(const ts_sweep_table *t, int64_t row, const char *name) {
    int column = ts_sweep_table_find(NULL, t, "", name);
    const ts_sweep_value *value = column >= 0 ? ts_sweep_table_cell(t, row, column) : NULL;
    return value && value->kind == TS_SWEEP_TEXT ? value->text : "";
}

/* Its digits, as long as they are. */
static int width_of(const ts_blocks_view *view, int block) {
    const char *value = view->request->blocks[block].value;
    size_t width = strlen(view->request->blocks[block].name);
    for (size_t length; *value; value += length + (value[length] == ','))
        if ((length = strcspn(value, ",")) > width) width = length;
    return width > WIDTH ? (int)width : WIDTH;
}

static void add_values(const ts_blocks_view *view, const ts_sweep_table *t, int64_t row, ts_text *out) {
    for (int i = 0; i < view->request->block_count; i++) {
        ts_text value;
        ts_text_init(&value, out->arena);
        ts_sweep_value_print(ts_sweep_table_cell(t, row, i), &value);
        ts_text_add(out, "%*s ", width_of(view, i), value.bytes);
    }
}

static void add_head(const ts_blocks_view *view, ts_text *out) {
    const ts_sweep_blocks *b = view->blocks;
    ts_report_machine_line("machine    ", view->machine, out);
    ts_text_add(out, "program    %s", view->request->program);
    for (int i = 0; i < view->request->define_count; i++)
        ts_text_add(out, " %s=%s", view->request->defines[i].name, view->request->defines[i].value);
    ts_text_add(out, "\nblocks     %lld: %lld timed, %lld do not fit, %lld with another error\n\n",
                (long long)(b->fast.row_count + b->misfits.row_count + b->failed.row_count),
                (long long)b->fast.row_count, (long long)b->misfits.row_count,
                (long long)b->failed.row_count);
}

static void add_fast(const ts_blocks_view *view, ts_text *out) {
    const ts_sweep_table *t = &view->blocks->fast;
    if (t->row_count == 0) return;
    double best = number(t, 0, "microseconds");
    for (int i = 0; i < view->request->block_count; i++)
        ts_text_add(out, "%*s ", width_of(view, i), view->request->blocks[i].name);
    ts_text_add(out, "%12s %8s %14s %10s  %s\n", "us", "to best", "cycles", "HBM uJ", "most cycles went to");
    for (int64_t i = 0; i < t->row_count && i < view->rows; i++) {
        char cycles[32];
        double us = number(t, i, "microseconds");
        size_t begin = out->length;
        add_values(view, t, i, out);
        ts_text_add(out, "%12.3f %7.2fx %14s %10.1f  ", us, best > 0 ? us / best : 1,
                    ts_text_group_digits(cycles, (int64_t)number(t, i, "cycles")),
                    number(t, i, "hbm_joules") * 1e6);
        report_add_cut(out, begin, word(t, i, "limiter"));
    }
    if (t->row_count > view->rows)
        ts_text_add(out, "and %lld slower ones; --all lists them\n", (long long)(t->row_count - view->rows));
}

static void add_failed(const ts_blocks_view *view, const ts_sweep_table *t, const char *title, ts_text *out) {
    if (t->row_count == 0) return;
    ts_text_add(out, "\n%s\n", title);
    for (int64_t i = 0; i < t->row_count && i < view->rows; i++) {
        add_values(view, t, i, out);
        ts_text_add(out, " %s\n", word(t, i, "error"));
    }
    if (t->row_count > view->rows)
        ts_text_add(out, "and %lld more; --all lists them\n", (long long)(t->row_count - view->rows));
}

void ts_report_blocks(const ts_blocks_view *view, ts_text *out) {
    add_head(view, out);
    add_fast(view, out);
    add_failed(view, &view->blocks->misfits, "what does not fit", out);
    add_failed(view, &view->blocks->failed, "what has another error", out);
    ts_text_wrap(out, TS_TEXT_COLUMNS);
}

/* ---- JSON ---- */

static void add_values_json(const ts_blocks_view *view, const ts_sweep_table *t, int64_t row, ts_json *json) {
    ts_json_object(json, "blocks");
    for (int i = 0; i < view->request->block_count; i++) {
        const ts_sweep_value *value = ts_sweep_table_cell(t, row, i);
        if (value->kind == TS_SWEEP_INTEGER) ts_json_int(json, t->headings[i].name, value->integer);
        if (value->kind == TS_SWEEP_REAL) ts_json_double(json, t->headings[i].name, value->real);
        if (value->kind == TS_SWEEP_TEXT) ts_json_text(json, t->headings[i].name, value->text);
    }
    ts_json_close(json);
}

static void add_failed_json(const ts_blocks_view *view, const ts_sweep_table *t, const char *key,
                            ts_json *json) {
    ts_json_array(json, key);
    for (int64_t i = 0; i < t->row_count; i++) {
        ts_json_object(json, NULL);
        add_values_json(view, t, i, json);
        ts_json_text(json, "error", word(t, i, "error"));
        ts_json_close(json);
    }
    ts_json_close(json);
}

void ts_report_blocks_json(const ts_blocks_view *view, ts_text *out) {
    const ts_sweep_table *t = &view->blocks->fast;
    ts_json json;
    ts_json_begin(&json, out, "blocks");
    ts_report_machine_keys(view->machine, &json);
    ts_json_text(&json, "program", view->request->program);
    ts_json_array(&json, "candidates");
    for (int64_t i = 0; i < t->row_count; i++) {
        double us = number(t, i, "microseconds"), best = number(t, 0, "microseconds");
        ts_json_object(&json, NULL);
        add_values_json(view, t, i, &json);
        ts_json_int(&json, "cycles", (int64_t)number(t, i, "cycles"));
        ts_json_real(&json, "microseconds", us, 6);
        ts_json_real(&json, "ratio", best > 0 ? us / best : 1, 4);
        ts_json_real(&json, "hbm_joules", number(t, i, "hbm_joules"), 12);
        ts_json_text(&json, "limiter", word(t, i, "limiter"));
        ts_json_close(&json);
    }
    ts_json_close(&json);
    add_failed_json(view, &view->blocks->misfits, "misfits", &json);
    add_failed_json(view, &view->blocks->failed, "failed", &json);
    ts_json_end(&json);
}
