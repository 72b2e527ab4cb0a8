/* Measurements beside models as a page. */
#include <math.h>

#include "page.h"
#include "report/validation.h"

static void add_group(const ts_validated_group *g, page *p) {
    page_row(p);
    page_cell(p, "%s", g->group->name);
    page_integer(p, g->rows);
    page_integer(p, g->modelled);
    page_number(p, g->model.median, "%.1f", g->model.median);
    page_number(p, g->model.high, "%.1f", g->model.high);
    page_number(p, g->model.worst, "%.1f", g->model.worst);
    if (g->group->median > 0)
        page_cell(p, "%.0f / %.0f, %s", g->group->median, g->group->high,
                  ts_validated_meets_goals(g) ? "met" : "missed");
    else
        page_cell(p, "none");
    page_number(p, g->roofline.median, "%.1f", g->roofline.median);
}

static void add_groups(const ts_validation *v, page *p) {
    static const page_column headings[] = {
        {"group", false}, {"rows", true},    {"modelled", true}, {"median %", true},
        {"90th %", true}, {"worst %", true}, {"goal", false},    {"roofline: median %", true}};
    page_section(p, "Groups");
    page_table(p,
               "Errors are |simulated / measured - 1|. The roofline is what the published peaks alone say.",
               headings, 8);
    for (int i = 0; i < v->group_count; i++)
        if (v->groups[i].modelled > 0) add_group(&v->groups[i], p);
    page_table_end(p);
}

static int count_left_out(const ts_validation *v) {
    int count = 0;
    for (int i = 0; i < v->row_count; i++) count += v->rows[i].is_left_out;
    return count;
}

static void add_row(const ts_validated_row *r, page *p) {
    double measured = r->work.measured_us, error = ts_validated_error(r->simulated_us, measured);
    page_row(p);
    page_code(p, r->row->id);
    page_cell(p, "%s", r->row->chip);
    if (measured > 0)
        page_number(p, measured, "%.3f", measured);
    else
        page_number(p, 0, "-"); /* it is no time */
    if (r->reason) {
        page_number(p, 0, "not modelled: %s", r->reason);
        page_number(p, 100, "-");
    } else {
        page_number(p, r->simulated_us, "%s%.3f", r->estimated ? "~" : "", r->simulated_us);
        page_number(p, fabs(error), "%+.1f", error);
    }
}

static void add_rows(const ts_validation *v, page *p) {
    static const page_column headings[] = {{"measurement", false},
                                           {"machine", false},
                                           {"measured us", true},
                                           {"simulated us", true},
                                           {"error %", true}};
    page_section(p, "Measurements");
    page_table(p, NULL, headings, 5);
    for (int i = 0; i < v->row_count; i++)
        if (!v->rows[i].is_left_out) add_row(&v->rows[i], p);
    page_table_end(p);
    int left_out = count_left_out(v);
    if (left_out > 0) page_paragraph(p, "And %d of other chips, which are left out.", left_out);
}

static void add_facts(const ts_validation *v, page *p) {
    int modelled = 0, with_goal = 0, met = 0;
    for (int i = 0; i < v->group_count; i++) {
        const ts_validated_group *g = &v->groups[i];
        bool goal = g->modelled > 0 && g->group->median > 0;
        modelled += g->modelled;
        with_goal += goal;
        met += goal && ts_validated_meets_goals(g);
    }
    const page_fact facts[] = {{"measurements modelled", ts_text_format(p->out->arena, "%d of %d", modelled,
                                                                        v->row_count - count_left_out(v))},
                               {"goals met", ts_text_format(p->out->arena, "%d of %d", met, with_goal)}};
    page_facts(p, facts, sizeof facts / sizeof *facts);
}

void ts_report_validation_html(const ts_validation *v, const char *of, ts_text *out) {
    page p;
    ts_text svg = ts_text_begin(out->arena);
    page_begin(&p, out, "Simulated and measured times", of, v->machine);
    add_facts(v, &p);
    page_section(&p, "Simulated against measured");
    ts_report_validation_svg(v, &svg);
    page_picture(&p, "A point a measurement; on the diagonal both agree.", &svg);
    add_groups(v, &p);
    add_rows(v, &p);
    page_end(&p);
}
