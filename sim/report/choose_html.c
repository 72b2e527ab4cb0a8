/* The ranking of a tensor's layouts as a page. */
#include "page.h"
#include "padding.h"
#include "report/choose.h"
#include "report/machine.h"

static double microseconds(const ts_choose_result *r, const ts_candidate *c) {
    return ts_machine_microseconds(r->request->machine, c->priced ? c->cycles : c->bound_cycles);
}

static void add_facts(const ts_choose_result *r, page *p) {
    ts_arena *arena = p->out->arena;
    const char *gain = NULL;
    const ts_candidate *now = NULL;
    for (int i = 0; i < r->candidate_count; i++)
        if (r->candidates[i].is_now) now = &r->candidates[i];
    double least = microseconds(r, &r->candidates[0]);
    if (now)
        gain = ts_text_format(arena, "%s%.2fx", now->priced ? "" : "over ",
                              least > 0 ? microseconds(r, now) / least : 1);
    const page_fact facts[] = {
        {"the best takes", ts_text_format(arena, "%s%.3f us", r->estimated ? "~" : "", least)},
        {"now it takes, against that", gain},
        {"layouts", ts_text_grouped(arena, r->enumerated)},
        {"priced by running the model", ts_text_grouped(arena, r->priced)}};
    page_facts(p, facts, sizeof facts / sizeof *facts);
}

static void add_notes(const ts_candidate *c, page *p) {
    const char *const notes[] = {c->is_rule ? "compiler's rule" : NULL, c->is_now ? "now" : NULL,
                                 c->is_tie ? "as good as the best" : NULL,
                                 c->unfinished ? "the program ends while transfers are under way" : NULL,
                                 c->limiter};
    ts_text text = ts_text_begin(p->out->arena);
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++)
        if (notes[i] && *notes[i]) ts_text_add(&text, "%s%s", text.length > 0 ? "; " : "", notes[i]);
    if (c->alike > 1)
        ts_text_add(&text, "%sstands for %d that are alike", text.length > 0 ? "; " : "", c->alike);
    page_cell(p, "%s", text.bytes);
}

static void add_candidate(const ts_choose_result *r, const ts_candidate *c, page *p) {
    double percent = report_padding_percent(r->logical_bytes, c->bytes),
           least = microseconds(r, &r->candidates[0]);
    page_row(p);
    page_code(p, c->text);
    page_number(p, microseconds(r, c), "%s%.3f", c->priced ? "" : "> ", microseconds(r, c));
    page_number(p, microseconds(r, c), "%.2fx", least > 0 ? microseconds(r, c) / least : 1);
    page_count(p, c->bytes);
    page_number(p, percent, "%.1f %%", percent);
    add_notes(c, p);
}

static void add_candidates(const ts_choose_result *r, page *p) {
    static const page_column headings[] = {{"layout", false}, {"us", true},      {"against the best", true},
                                           {"bytes", true},   {"padding", true}, {"", false}};
    page_section(p, "Layouts");
    page_table(p, "Of those marked > the bound alone is known: it is above the best.", headings, 6);
    for (int i = 0; i < r->candidate_count; i++) add_candidate(r, &r->candidates[i], p);
    page_table_end(p);
    if (r->estimated) page_paragraph(p, "Prices are %s.", REPORT_ESTIMATED);
}

static void add_flips(const ts_choose_result *r, page *p) {
    static const page_column headings[] = {
        {"assumed figure", false}, {"with", false}, {"the best is", false}};
    if (r->flip_count == 0) return;
    page_section(p, "What would change it");
    page_table(p, "Figures of the machine that no document states, and with which another layout wins.",
               headings, 3);
    for (int i = 0; i < r->flip_count; i++) {
        page_row(p);
        page_code(p, r->flips[i].field);
        page_cell(p, "%s", r->flips[i].value);
        page_code(p, r->candidates[r->flips[i].winner].text);
    }
    page_table_end(p);
}

void ts_report_choose_html(const ts_choose_result *r, const ts_choose_view *view, ts_text *out) {
    page p;
    ts_text subject = ts_text_begin(out->arena);
    ts_text svg = ts_text_begin(out->arena);
    if (r->request->program) ts_text_add(&subject, "%s, %s: ", r->request->program, r->request->tensor);
    ts_shape_print(r->tensor, &subject);
    page_begin(&p, out, "Layouts of a tensor", subject.bytes, r->request->machine);
    add_facts(r, &p);
    page_section(&p, "Time and bytes");
    ts_report_choose_svg(r, view, &svg);
    page_picture(&p, NULL, &svg);
    add_candidates(r, &p);
    add_flips(r, &p);
    page_end(&p);
}
