/* An audit as a picture, and as a page that needs nothing else. */
#include "padding.h"
#include "page.h"
#include "picture.h"
#include "report/audit.h"
#include "report/machine.h"

enum { BARS = 16, LABEL = 470, WIDTH = 1100, TOP = 46, SCALE = 420 };

static void add_label(ts_text *out, int y, const char *text) {
    picture_text(out, LABEL - 8, y + 15, &(picture_font){.anchor = "end"}, "%s",
                 ts_text_escaped(out->arena, ts_text_cut(out->arena, text, 66)));
}

typedef enum { OF_WASTE, OF_TIME } bar_kind;

static int count_bars(const ts_audit_result *r, bar_kind kind) {
    int count = 0;
    int64_t all = kind == OF_TIME ? r->group_count : r->class_count;
    for (int64_t i = 0; i < all && count < BARS; i++)
        count +=
            kind == OF_TIME ? r->groups[i].priced && r->groups[i].cycles > 0 : r->classes[i].waste_bytes > 0;
    return count;
}

static void add_padding(const ts_audit_result *r, int y, int bars, ts_text *out) {
    double most = 1;
    for (int i = 0; i < bars; i++) {
        double all = (double)r->shapes[r->classes[i].shape].padded_bytes * (double)r->classes[i].count;
        most = all > most ? all : most;
    }
    for (int i = 0; i < bars; i++, y += PICTURE_ROW) {
        const ts_audit_class *class = &r->classes[i];
        const ts_audit_shape *shape = &r->shapes[class->shape];
        double data = (double)shape->logical_bytes * (double)class->count * SCALE / most;
        double padding = (double)class->waste_bytes * SCALE / most;
        const char *title = ts_text_format(out->arena, "%s, %lld bytes logical, %lld padded each",
                                           ts_text_counted(out->arena, class->count, "buffer"),
                                           (long long)shape->logical_bytes, (long long)shape->padded_bytes);
        add_label(out, y, shape->text);
        picture_bar(out, LABEL, y, data, "data", title);
        picture_bar(out, LABEL + (int)data, y, padding, "waste", title);
        picture_text(out, LABEL + (int)(data + padding) + 6, y + 15, &(picture_font){0}, "%s padding, %.1fx",
                     ts_report_audit_bytes(out->arena, class->waste_bytes),
                     report_expansion(shape->logical_bytes, shape->padded_bytes));
    }
}

/* The bar of the longest is SCALE wide. */
static void add_time_bar(const ts_audit_result *r, const ts_audit_group *group, double longest, int y,
                         ts_text *out) {
    bool fused = group->first.level == TS_AUDIT_LEVEL_FUSED;
    double width = group->total_microseconds * SCALE / longest;
    const char *title = ts_text_format(
        out->arena, "%s, line %lld: %s, %.3f us each", group->first.name, (long long)group->first.line,
        ts_text_counted(out->arena, group->first.runs, "time"), group->microseconds);
    add_label(out, y,
              ts_text_format(out->arena, "%s %s", ts_hlo_opcode_name(group->first.opcode),
                             r->shapes[group->first.dst].text));
    picture_bar(out, LABEL, y, width, fused ? "data half" : "data", title);
    picture_text(out, LABEL + (int)width + 6, y + 15, &(picture_font){0}, "%s%s",
                 fused           ? "at most "
                 : group->scaled ? "about "
                                 : "",
                 picture_microseconds(out->arena, group->total_microseconds));
}

static void add_time(const ts_audit_result *r, int y, int bars, ts_text *out) {
    double most = 1e-9;
    int done = 0;
    for (int64_t i = 0; i < r->group_count; i++)
        if (r->groups[i].priced && r->groups[i].total_microseconds > most)
            most = r->groups[i].total_microseconds;
    for (int64_t i = 0; i < r->group_count && done < bars; i++) {
        const ts_audit_group *group = &r->groups[i];
        if (!group->priced || group->cycles == 0) continue;
        add_time_bar(r, group, most, y, out);
        y += PICTURE_ROW;
        done++;
    }
}

static void add_key(ts_text *out, int x, const char *class, const char *label) {
    ts_text_add(out, "<rect class=\"%s\" x=\"%d\" y=\"17\" width=\"12\" height=\"12\"/>", class, x);
    picture_text(out, x + 17, 28, &(picture_font){0}, "%s", label);
}

void ts_report_audit_svg(const ts_audit_result *r, const ts_audit_view *view, ts_text *out) {
    static const picture_font title = {.pixels = 15, .bold = true};
    int padded = count_bars(r, OF_WASTE), timed = count_bars(r, OF_TIME);
    int second = TOP + padded * PICTURE_ROW + 50, height = second + timed * PICTURE_ROW + 16;
    picture_begin(out, WIDTH, height, NULL);
    picture_text(out, 16, 28, &title, "Bytes by shape: data and padding%s", padded == 0 ? " (none)" : "");
    add_key(out, LABEL, "data", "data");
    add_key(out, LABEL + 60, "waste", "padding");
    add_padding(r, TOP, padded, out);
    picture_text(out, 16, second - 14, &title, "Time by move, all its runs, on %s%s",
                 ts_report_machine_escaped(out->arena, r->request->machine), timed == 0 ? " (none)" : "");
    add_time(r, second, timed, out);
    picture_end(out);
    (void)view;
}

/* ---- The page ---- */

enum { TABLE_ROWS = 200 };

/* "And 12 more.", where there are more rows than are shown. */
static void add_more(page *p, int64_t count, int64_t left_out) {
    if (count > TABLE_ROWS) page_paragraph(p, "And %lld more.", (long long)count - TABLE_ROWS);
    if (left_out > 0)
        page_paragraph(p, "And %lld smaller %s not listed.", (long long)left_out,
                       left_out == 1 ? "one that is" : "ones that are");
}

/* Lines as the text has them. */
static void add_lines(const ts_audit_result *r, void (*add)(const ts_audit_result *r, ts_text *out),
                      page *p) {
    ts_text text = ts_text_begin(p->out->arena);
    add(r, &text);
    ts_text_wrap(&text, TS_TEXT_COLUMNS);
    page_text(p, &text);
}

static void page_bytes(page *p, int64_t bytes) {
    page_number(p, (double)bytes, "%s", ts_report_audit_bytes(p->out->arena, bytes));
}

static void add_sums(const ts_audit_result *r, page *p) {
    static const page_column headings[] = {
        {"space", false}, {"buffers", true}, {"logical", true}, {"padded", true}, {"expansion", true}};
    page_section(p, "Buffers");
    page_table(p, NULL, headings, 5);
    for (int i = 0; i <= TS_AUDIT_SPACES; i++) {
        const ts_audit_sum *sum = i < TS_AUDIT_SPACES ? &r->spaces[i] : &r->sum;
        double ratio = report_expansion(sum->logical_bytes, sum->padded_bytes);
        if (sum->buffers == 0) continue;
        page_row(p);
        page_cell(p, "%s", ts_report_audit_space(i));
        page_integer(p, sum->buffers);
        page_bytes(p, sum->logical_bytes);
        page_bytes(p, sum->padded_bytes);
        page_number(p, ratio, "%s",
                    report_expansion_text(p->out->arena, sum->logical_bytes, sum->padded_bytes, 2));
    }
    page_table_end(p);
    add_lines(r, ts_report_audit_sum_notes, p);
}

static void add_finding(const ts_audit_result *r, const ts_audit_finding *f, ts_text *out) {
    const char *name = f->is_move ? r->groups[f->index].first.name : r->classes[f->index].first.name;
    int64_t line = f->is_move ? r->groups[f->index].first.line : r->classes[f->index].first.line;
    const char *source = ts_report_audit_source(out->arena, r, ts_report_audit_source_of(r, f));
    ts_text_add(out, "<li><code>%s</code><br><span class=\"good\">%s</span><br><span class=\"soft\">",
                ts_text_escaped(out->arena, f->what), ts_text_escaped(out->arena, f->fix));
    ts_text_add(out, "%s; %s line %lld", ts_report_audit_saving(out->arena, r, f),
                ts_text_escaped(out->arena, ts_text_cut(out->arena, name, 102)), (long long)line);
    if (*source) ts_text_add(out, "; source: %s", ts_text_escaped(out->arena, source));
    ts_text_add(out, "</span></li>\n");
}

static void add_some_findings(const ts_audit_result *r, int begin, int end, page *p) {
    ts_text_add(p->out, "<ol class=\"findings\" start=\"%d\">\n", begin + 1);
    for (int i = begin; i < end; i++) add_finding(r, &r->findings[i], p->out);
    ts_text_add(p->out, "</ol>\n");
}

static void add_findings(const ts_audit_result *r, page *p) {
    page_section(p, "Findings, by time");
    if (r->finding_count == 0) {
        page_paragraph(p, "None.");
        return;
    }
    int first = r->finding_count < BARS ? r->finding_count : BARS;
    add_some_findings(r, 0, first, p);
    if (first == r->finding_count) return;
    page_details(p, "%d more", r->finding_count - first);
    add_some_findings(r, first, r->finding_count, p);
    page_details_end(p);
}

static void add_classes(const ts_audit_result *r, page *p) {
    static const page_column headings[] = {{"buffers", true},   {"padded", true}, {"logical", true},
                                           {"expansion", true}, {"shape", false}, {"cause", false}};
    page_section(p, "Shapes");
    page_table(p, NULL, headings, 6);
    for (int64_t i = 0; i < r->class_count && i < TABLE_ROWS; i++) {
        const ts_audit_shape *shape = &r->shapes[r->classes[i].shape];
        double ratio = report_expansion(shape->logical_bytes, shape->padded_bytes);
        page_row(p);
        page_integer(p, r->classes[i].count);
        page_bytes(p, shape->padded_bytes);
        page_bytes(p, shape->logical_bytes);
        page_number(p, ratio, "%s",
                    report_expansion_text(p->out->arena, shape->logical_bytes, shape->padded_bytes, 1));
        page_code(p, shape->text);
        page_cell(p, "%s", ts_report_audit_cause(p->out->arena, shape));
    }
    page_table_end(p);
    if (r->assumed_tiles)
        page_paragraph(p, "Of shapes without tiles, and orders that none has chosen: the TPU compiler's.");
    add_more(p, r->class_count, r->buffers_left_out);
}

/* The time of one run, and of all runs. */
static void add_costs(const ts_audit_group *group, page *p) {
    bool bounded = group->first.level == TS_AUDIT_LEVEL_FUSED && group->cycles > 0;
    const char *mark = bounded ? "< " : group->scaled ? "~ " : "";
    if (group->priced) {
        page_number(p, group->microseconds, "%s%.3f", mark, group->microseconds);
        page_number(p, group->total_microseconds, "%s%.3f", mark, group->total_microseconds);
    } else {
        page_cell(p, "%s", group->why_not ? group->why_not : "");
        page_number(p, -1, "-");
    }
}

static void add_group(const ts_audit_result *r, const ts_audit_group *group, page *p) {
    page_row(p);
    page_cell(p, "%s", ts_hlo_opcode_name(group->first.opcode));
    page_cell(p, "%s", ts_audit_level_text(group->first.level));
    page_integer(p, group->first.runs);
    add_costs(group, p);
    page_cell(p, "%s%s", ts_report_audit_what(p->out->arena, group), ts_report_audit_runs(&group->first));
    const char *from = ts_report_audit_from(r, &group->first);
    page_code(p, from ? from : "");
    page_code(p, r->shapes[group->first.dst].text);
}

static void add_groups(const ts_audit_result *r, page *p) {
    static const page_column headings[] = {{"opcode", false}, {"level", false},    {"runs", true},
                                           {"us each", true}, {"us in all", true}, {"changes", false},
                                           {"from", false},   {"to", false}};
    page_section(p, "Moves");
    page_table(p, NULL, headings, 8);
    for (int64_t i = 0; i < r->group_count && i < TABLE_ROWS; i++) add_group(r, &r->groups[i], p);
    page_table_end(p);
    page_paragraph(p, "<: at most, for it is fused.%s",
                   r->scaled_moves > 0
                       ? " ~: as much slower than in order as the nearest of its kind that was priced."
                       : "");
    add_more(p, r->group_count, r->moves_left_out);
    add_lines(r, ts_report_audit_move_sums, p);
}

static void add_allocation(const ts_audit_result *r, const ts_audit_allocation *one, page *p) {
    const ts_audit_shape *shape = one->shape >= 0 ? &r->shapes[one->shape] : NULL;
    const char *logical = shape ? ts_report_audit_bytes(p->out->arena, shape->logical_bytes) : "";
    page_row(p);
    page_integer(p, one->line);
    page_cell(p, "%s", one->text);
    page_number(p, shape ? (double)shape->logical_bytes : 0, "%s", logical);
    page_cell(p, "%s", one->space >= 0 ? ts_report_audit_space(one->space) : "");
    page_cell(p, "%s%s", one->at_peak ? "live at the peak: " : "", one->name);
    page_number(p, one->values, "%.0d", (int)one->values);
    page_code(p, shape ? shape->text : "");
}

static void add_memory(const ts_audit_result *r, page *p) {
    static const page_column figures[] = {
        {"line", true}, {"size", false}, {"space", false}, {"figure", false}};
    static const page_column allocations[] = {{"line", true},   {"size", false},       {"logical", true},
                                              {"space", false}, {"allocation", false}, {"values", true},
                                              {"shape", false}};
    if (r->figure_count + r->allocation_count == 0) return;
    page_section(p, "Memory that the text reports");
    if (r->figure_count > 0) page_table(p, NULL, figures, 4);
    for (int i = 0; i < r->figure_count; i++) {
        const ts_audit_figure *f = &r->figures[i];
        page_row(p);
        page_integer(p, f->line);
        page_cell(p, "%s", f->text);
        page_cell(p, "%s", f->space >= 0 ? ts_report_audit_space(f->space) : "");
        page_cell(p, "%s", f->name);
    }
    if (r->figure_count > 0) page_table_end(p);
    if (r->allocation_count == 0) return;
    page_table(p, NULL, allocations, 7);
    for (int i = 0; i < r->allocation_count && i < TABLE_ROWS; i++) add_allocation(r, &r->allocations[i], p);
    page_table_end(p);
    add_more(p, r->allocation_count, 0);
}

/* Sizes that the compiler printed, and ours. */
static void add_reports(const ts_audit_result *r, page *p) {
    static const page_column headings[] = {{"line", true},  {"reported", false}, {"expansion", false},
                                           {"", false},     {"computed", false}, {"expansion", false},
                                           {"shape", false}};
    if (r->report_count == 0) return;
    page_section(p, "Sizes that the text reports");
    page_paragraph(p, "%d of %d equal the computed ones.", r->reports_agreeing, r->reports_compared);
    page_table(p, NULL, headings, 7);
    for (int i = 0; i < r->report_count && i < TABLE_ROWS; i++) {
        const ts_audit_report *report = &r->reports[i];
        page_row(p);
        page_integer(p, report->line);
        page_cell(p, "%s", report->reported);
        page_cell(p, "%s", report->reported_expansion);
        page_cell(p, "%s", report->is_tuple ? "a tuple: its table" : report->agrees ? "equals" : "differs");
        page_cell(p, "%s", report->is_tuple ? "" : report->computed);
        page_cell(p, "%s", report->is_tuple ? "" : report->computed_expansion);
        page_code(p, report->is_tuple ? "" : r->shapes[report->shape].text);
    }
    page_table_end(p);
    add_more(p, r->report_count, 0);
}

static void add_copies(const ts_audit_result *r, page *p) {
    static const page_column headings[] = {{"value", false}, {"for", false},  {"line", true},
                                           {"bytes", true},  {"from", false}, {"to", false}};
    if (!r->copies_predicted) return;
    page_section(p, "Copies that the compiler will insert");
    if (r->copy_count == 0) {
        page_paragraph(p, "None.");
        return;
    }
    page_table(p, NULL, headings, 6);
    for (int i = 0; i < r->copy_count && i < TABLE_ROWS; i++) {
        const ts_audit_copy *copy = &r->copies[i];
        page_row(p);
        page_cell(p, "%s", copy->name);
        page_cell(p, "%s", copy->reader[0] ? copy->reader : "a result");
        page_integer(p, copy->line);
        page_bytes(p, copy->bytes);
        page_code(p, copy->from);
        page_code(p, copy->to);
    }
    page_table_end(p);
    add_more(p, r->copy_count, 0);
}

static void add_left_out(const ts_audit_result *r, page *p) {
    static const page_column headings[] = {{"count", true}, {"what", false}, {"for example", false}};
    page_section(p, "Not understood, or left out");
    if (r->kind_count == 0) {
        page_paragraph(p, "Nothing.");
        return;
    }
    page_table(p, NULL, headings, 3);
    for (int i = 0; i < r->kind_count; i++) {
        page_row(p);
        page_integer(p, r->kinds[i].count);
        page_cell(p, "%s", r->kinds[i].kind);
        page_code(p, r->kinds[i].excerpt);
    }
    page_table_end(p);
}

/* Of all bytes those that hold something, by space, and padding. */
static void add_bytes(const ts_audit_result *r, page *p) {
    int64_t data = r->sum.logical_bytes, padding = r->sum.padded_bytes - data;
    const page_part parts[] = {
        {"data", (double)data, ts_report_audit_bytes(p->out->arena, data), 0},
        {"padding", (double)padding, ts_report_audit_bytes(p->out->arena, padding), 0}};
    page_section(p, "Bytes of all buffers");
    page_bar(p, "Data and padding", parts, 2);
    page_legend(p, parts, 2);
}

static void add_facts(const ts_audit_result *r, page *p) {
    ts_arena *arena = p->out->arena;
    const page_fact facts[] = {
        {"instructions", ts_text_grouped(arena, r->text->instructions)},
        {"bytes of all buffers", ts_report_audit_bytes(arena, r->sum.padded_bytes)},
        {"expansion", report_expansion_text(arena, r->sum.logical_bytes, r->sum.padded_bytes, 2)},
        {"moves take", ts_text_format(arena, "%s%.3f us", ts_report_audit_about(r), r->microseconds)},
        {"fused moves", ts_text_format(arena, "at most %.3f us more", r->fused_microseconds)}};
    page_facts(p, facts, sizeof facts / sizeof *facts);
}

void ts_report_audit_html(const ts_audit_result *r, const ts_audit_view *view, ts_text *out) {
    page p;
    page_begin(&p, out, r->module ? r->module : "Layouts of a module", view->input, r->request->machine);
    add_facts(r, &p);
    add_bytes(r, &p);
    add_findings(r, &p);
    add_groups(r, &p);
    add_copies(r, &p);
    add_classes(r, &p);
    add_sums(r, &p);
    add_memory(r, &p);
    add_reports(r, &p);
    add_left_out(r, &p);
    page_end(&p);
}
