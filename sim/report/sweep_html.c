/* A study as a page. */
#include "page.h"
#include "report/sweep.h"

enum { MOST_ROWS = 5000 };

static void add_facts(const ts_sweep_view *view, page *p) {
    const ts_sweep_result *r = view->result;
    int64_t bad = r->points - r->by_status[TS_SWEEP_OK];
    const page_fact facts[] = {{"points", ts_text_grouped(p->out->arena, r->points)},
                               {"answered now", ts_text_grouped(p->out->arena, r->answered)},
                               {"not ok", bad > 0 ? ts_text_grouped(p->out->arena, bad) : NULL}};
    page_facts(p, facts, sizeof facts / sizeof *facts);
}

static void add_cell(page *p, const ts_sweep_table *t, int64_t row, int column) {
    const ts_sweep_value *value = ts_sweep_table_cell(t, row, column);
    const char *about = ts_sweep_table_is_estimate(t, row, column) ? "~" : "";
    if (value->kind == TS_SWEEP_INTEGER)
        page_number(p, (double)value->integer, "%s%s", about, ts_text_grouped(p->out->arena, value->integer));
    else if (value->kind == TS_SWEEP_REAL)
        page_number(p, value->real, "%s%.6g", about, value->real);
    else
        page_words(p, value->kind == TS_SWEEP_TEXT ? value->text : "");
}

static void add_table(const ts_sweep_table *t, page *p) {
    page_column *headings = TS_NEW_ARRAY(p->out->arena, page_column, t->column_count);
    for (int i = 0; i < t->column_count; i++)
        headings[i] = (page_column){t->headings[i].name, t->headings[i].number};
    page_section(p, "Points");
    page_table(p, t->row_count > MOST_ROWS ? "The first of them." : "Every figure is of one point.", headings,
               t->column_count);
    for (int64_t row = 0; row < t->row_count && row < MOST_ROWS; row++) {
        page_row(p);
        for (int i = 0; i < t->column_count; i++) add_cell(p, t, row, i);
    }
    page_table_end(p);
}

void ts_report_sweep_html(const ts_sweep_view *view, const ts_sweep_plot *plot, ts_text *out) {
    page p;
    ts_text svg = ts_text_begin(out->arena);
    page_begin(&p, out, view->table->study->title, view->study, NULL);
    add_facts(view, &p);
    if (plot) {
        page_section(&p, "Picture");
        ts_report_sweep_svg(view->table, plot, &svg);
        page_picture(&p, NULL, &svg);
    }
    add_table(view->table, &p);
    page_end(&p);
}
