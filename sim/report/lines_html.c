/* The program with the heat of its lines, and its hottest loops, as parts of a page. */
#include "base/number.h"
#include "run_private.h"

typedef struct {
    const ts_profile *profile;
    page *page;
} listing;

static double share(const ts_profile *p, int64_t cycles) {
    return ts_fraction(cycles, p->total.values[TS_LINE_CYCLES]);
}

/* "waited 1,234 (5.0 %) waiting for a DMA, or another semaphore". */
static void add_reasons(const listing *l, const ts_line_counts *counts, ts_text *out) {
    int reasons[REPORT_REASONS], count = report_line_reasons(l->profile, counts, reasons);
    for (int i = 0; i < count; i++) {
        int64_t cycles = counts->stalls[reasons[i]];
        ts_text_add(out, "%s%s (%.1f %%) %s", i > 0 ? ", " : "", ts_text_counted(out->arena, cycles, "cycle"),
                    100 * share(l->profile, cycles), ts_stall_get(reasons[i])->meaning);
    }
}

static void add_count(page *p, int64_t value) {
    if (value == 0)
        page_cell(p, "%s", "");
    else
        page_count(p, value);
}

static void add_heat(const listing *l, const ts_line_counts *counts) {
    const int64_t *v = counts->values;
    const double parts[] = {share(l->profile, v[TS_LINE_ISSUED]), share(l->profile, v[TS_LINE_STALLED])};
    page_heat(l->page, (double)v[TS_LINE_CYCLES], parts,
              v[TS_LINE_CYCLES] > 0 ? ts_text_format(l->page->out->arena, "%.1f", 100 * (parts[0] + parts[1]))
                                    : "");
}

static void add_line(void *self, const report_line *line) {
    static const ts_line_counter counters[] = {TS_LINE_ISSUED, TS_LINE_STALLED, TS_LINE_TIMES,
                                               TS_LINE_HBM_BYTES, TS_LINE_VMEM_BYTES};
    const listing *l = self;
    ts_text below = ts_text_begin(l->page->out->arena);
    if (line->counts && line->mark == ' ') add_reasons(l, line->counts, &below);
    page_row(l->page);
    if (line->line > 0)
        page_integer(l->page, line->line);
    else
        page_cell(l->page, "..");
    if (line->counts)
        add_heat(l, line->counts);
    else
        page_cell(l->page, "%s", "");
    page_source_line(l->page,
                     &(page_source){line->text, line->note, below.bytes, line->depth, line->mark == '+'});
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        add_count(l->page, line->counts ? line->counts->values[counters[i]] : 0);
}

void report_lines_section(const ts_run_result *result, page *p) {
    static const page_column headings[] = {{"line", true},   {"% of cycles", true}, {"program", false},
                                           {"issued", true}, {"stalled", true},     {"times", true},
                                           {"HBM B", true},  {"VMEM B", true}};
    listing l = {result->profile, p};
    if (!result->program->source) return;
    page_section(p, "Program");
    page_listing(p,
                 "Cycles by line: a bundle's are divided among its instructions. Bars: issued, then stalled. "
                 "A line with a button sums up what is further in.",
                 headings, 8);
    report_lines_walk(result, p->out->arena, add_line, &l);
    page_table_end(p);
}

/* ---- Loops ---- */

static void add_loop(const ts_run_result *result, const ts_profile_loop *loop, page *p) {
    const int64_t *v = loop->counts.values;
    const double parts[] = {share(result->profile, loop->own_cycles), 0};
    ts_text location = ts_text_begin(p->out->arena);
    if (loop->source) ts_program_print_location(result->program, loop->source, loop->first_line, &location);
    if (loop->last_line > loop->first_line) ts_text_add(&location, "-%d", loop->last_line);
    if (loop->locations > 1) ts_text_add(&location, " in %d places", loop->locations);
    page_row(p);
    page_cell(p, "%s", location.bytes);
    page_code(p, report_loop_text(p->out->arena, loop));
    page_count(p, loop->own_cycles);
    page_heat(p, (double)loop->own_cycles, parts, ts_text_format(p->out->arena, "%.1f", 100 * parts[0]));
    page_count(p, v[TS_LINE_CYCLES]);
    page_count(p, v[TS_LINE_TIMES]);
    double turn = ts_fraction(v[TS_LINE_CYCLES], v[TS_LINE_TIMES]);
    page_number(p, turn, "%.1f", turn);
}

void report_loops_section(const ts_run_result *result, page *p) {
    static const page_column headings[] = {
        {"lines", false},     {"first line", false}, {"own cycles", true},   {"%", true},
        {"with inner", true}, {"turns", true},       {"cycles a turn", true}};
    int shown = report_hot_loops(result->profile);
    if (shown == 0) return;
    page_section(p, "Hottest loops");
    page_table(p, "By cycles of their own: without those of inner loops.", headings, 7);
    for (int i = 0; i < shown; i++) add_loop(result, &result->profile->loops[i], p);
    page_table_end(p);
}
