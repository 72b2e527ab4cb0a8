/* An audit as a picture, and as a page that needs nothing else. */
#include <stdio.h>
#include <string.h>

#include "report/audit.h"
#include "report/machine.h"

enum { BARS = 16, LABEL = 470, WIDTH = 1100, ROW = 24, TOP = 46, SCALE = 420 };

/* Cut where it is longer than `most`. */
static void add_escaped(ts_text *out, const char *text, int most) {
    ts_text cut;
    ts_text_init(&cut, out->arena);
    ts_text_add(&cut, "%.*s%s", most, text, (int)strlen(text) > most ? ".." : "");
    ts_text_add_escaped(out, cut.bytes);
}

static void add_label(ts_text *out, int y, const char *text) {
    ts_text_add(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", LABEL - 8, y + 15);
    add_escaped(out, text, 64);
    ts_text_add(out, "</text>\n");
}

static void add_bar(ts_text *out, int x, int y, double width, const char *colour, const char *title) {
    ts_text_add(out, "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"16\" fill=\"%s\"><title>", x, y + 3,
                width, colour);
    add_escaped(out, title, 400);
    ts_text_add(out, "</title></rect>\n");
}

static int count_bars(const ts_audit_result *r, bool time) {
    int count = 0;
    int64_t all = time ? r->group_count : r->class_count;
    for (int64_t i = 0; i < all && count < BARS; i++)
        count += time ? r->groups[i].priced && r->groups[i].cycles > 0 : r->classes[i].waste_bytes > 0;
    return count;
}

static void add_padding(const ts_audit_result *r, int y, int bars, ts_text *out) {
    double most = 1;
    char value[16], title[160];
    for (int i = 0; i < bars; i++) {
        double all = (double)r->shapes[r->classes[i].shape].padded_bytes * (double)r->classes[i].count;
        most = all > most ? all : most;
    }
    for (int i = 0; i < bars; i++, y += ROW) {
        const ts_audit_class *class = &r->classes[i];
        const ts_audit_shape *shape = &r->shapes[class->shape];
        double data = (double)shape->logical_bytes * (double)class->count * SCALE / most;
        double padding = (double)class->waste_bytes * SCALE / most;
        snprintf(title, sizeof title, "%lld buffers, %lld bytes logical, %lld padded each",
                 (long long)class->count, (long long)shape->logical_bytes, (long long)shape->padded_bytes);
        add_label(out, y, shape->text);
        add_bar(out, LABEL, y, data, "#4878a8", title);
        add_bar(out, LABEL + (int)data, y, padding, "#d08050", title);
        ts_audit_print_bytes(value, class->waste_bytes);
        ts_text_add(out, "<text x=\"%d\" y=\"%d\">%s padding, %.1fx</text>\n",
                    LABEL + (int)(data + padding) + 6, y + 15, value,
                    shape->logical_bytes > 0 ? (double)shape->padded_bytes / (double)shape->logical_bytes
                                             : 1);
    }
}

static void add_time(const ts_audit_result *r, int y, int bars, ts_text *out) {
    double most = 1e-9;
    char label[128], title[160];
    int done = 0;
    for (int64_t i = 0; i < r->group_count; i++)
        if (r->groups[i].priced && r->groups[i].total_microseconds > most)
            most = r->groups[i].total_microseconds;
    for (int64_t i = 0; i < r->group_count && done < bars; i++) {
        const ts_audit_group *group = &r->groups[i];
        if (!group->priced || group->cycles == 0) continue;
        bool fused = group->first.level == TS_AUDIT_LEVEL_FUSED;
        double width = group->total_microseconds * SCALE / most;
        snprintf(label, sizeof label, "%s %s", ts_hlo_opcode_name(group->first.opcode),
                 r->shapes[group->first.dst].text);
        snprintf(title, sizeof title, "%s, line %lld: %lld times, %.3f us each", group->first.name,
                 (long long)group->first.line, (long long)group->first.runs, group->microseconds);
        add_label(out, y, label);
        add_bar(out, LABEL, y, width, fused ? "#a8c0d8" : "#4878a8", title);
        ts_text_add(out, "<text x=\"%d\" y=\"%d\">%s%.1f us</text>\n", LABEL + (int)width + 6, y + 15,
                    fused           ? "at most "
                    : group->scaled ? "about "
                                    : "",
                    group->total_microseconds);
        y += ROW;
        done++;
    }
}

void ts_report_audit_svg(const ts_audit_result *r, const ts_audit_view *view, ts_text *out) {
    int padded = count_bars(r, false), timed = count_bars(r, true);
    int second = TOP + padded * ROW + 50, height = second + timed * ROW + 16;
    ts_text_add(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
                "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" "
                "fill=\"white\"/>\n",
                WIDTH, height, WIDTH, height);
    ts_text_add(
        out, "<text x=\"%d\" y=\"28\" font-size=\"15\" font-weight=\"bold\">Bytes by shape: data and padding",
        16);
    ts_text_add(out, "%s</text>\n", padded == 0 ? " (none)" : "");
    ts_text_add(out,
                "<rect x=\"%d\" y=\"17\" width=\"12\" height=\"12\" fill=\"#4878a8\"/><text x=\"%d\" "
                "y=\"28\">data</text>"
                "<rect x=\"%d\" y=\"17\" width=\"12\" height=\"12\" fill=\"#d08050\"/><text x=\"%d\" "
                "y=\"28\">padding</text>\n",
                LABEL, LABEL + 17, LABEL + 60, LABEL + 77);
    add_padding(r, TOP, padded, out);
    ts_text_add(out,
                "<text x=\"16\" y=\"%d\" font-size=\"15\" font-weight=\"bold\">Time by move, all its runs, "
                "on ",
                second - 14);
    ts_report_machine_escaped(r->request->machine, out);
    ts_text_add(out, "%s</text>\n", timed == 0 ? " (none)" : "");
    add_time(r, second, timed, out);
    ts_text_add(out, "</svg>\n");
    (void)view;
}

static const char style[] =
    "body{font:14px/1.45 sans-serif;max-width:1120px;margin:24px auto;padding:0 16px;color:#222}"
    "table{border-collapse:collapse;margin:8px 0 20px;width:100%}td,th{padding:3px 10px 3px "
    "0;border-bottom:1px solid "
    "#ddd;text-align:left;vertical-align:top}td.n,th.n{text-align:right;white-space:nowrap}"
    "code{font:12px "
    "monospace;overflow-wrap:anywhere}h2{margin-top:28px}.fix{color:#285}.dim{color:#777}svg{max-width:100%;"
    "height:auto}";

static void add_sums(const ts_audit_result *r, ts_text *out) {
    char logical[16], padded[16];
    ts_text_add(
        out,
        "<h2>Buffers</h2><table><tr><th>space<th class=n>buffers<th class=n>logical<th class=n>padded<th "
        "class=n>expansion</tr>\n");
    for (int i = 0; i <= TS_AUDIT_SPACES; i++) {
        const ts_audit_sum *sum = i < TS_AUDIT_SPACES ? &r->spaces[i] : &r->sum;
        if (sum->buffers == 0) continue;
        ts_audit_print_bytes(logical, sum->logical_bytes);
        ts_audit_print_bytes(padded, sum->padded_bytes);
        ts_text_add(out, "<tr><td>%s<td class=n>%lld<td class=n>%s<td class=n>%s<td class=n>%.2fx</tr>\n",
                    ts_report_audit_space(i), (long long)sum->buffers, logical, padded,
                    sum->logical_bytes > 0 ? (double)sum->padded_bytes / (double)sum->logical_bytes : 1);
    }
    ts_text_add(out, "</table>\n");
}

static void add_findings(const ts_audit_result *r, ts_text *out) {
    char bytes[16];
    ts_text_add(out, "<h2>Findings, by time</h2>%s<ol>\n", r->finding_count == 0 ? "<p>None.</p>" : "");
    for (int i = 0; i < r->finding_count && i < BARS; i++) {
        const ts_audit_finding *f = &r->findings[i];
        const char *name = f->is_move ? r->groups[f->index].first.name : r->classes[f->index].first.name;
        int64_t line = f->is_move ? r->groups[f->index].first.line : r->classes[f->index].first.line;
        ts_text_add(out, "<li><code>");
        add_escaped(out, f->what, 4096);
        ts_text_add(out, "</code><br><span class=fix>");
        add_escaped(out, f->fix, 4096);
        ts_text_add(out, "</span><br><span class=dim>saves %s%.3f us%s", f->at_most ? "at most " : "",
                    f->microseconds_saved, f->is_move ? "" : " each time they are read");
        if (f->bytes_saved > 0) {
            ts_audit_print_bytes(bytes, f->bytes_saved);
            ts_text_add(out, ", %s", bytes);
        }
        ts_text_add(out, "; ");
        add_escaped(out, name, 100);
        ts_text_add(out, " line %lld</span></li>\n", (long long)line);
    }
    ts_text_add(out, "</ol>\n");
}

enum { TABLE_ROWS = 200 };

static void add_classes(const ts_audit_result *r, ts_text *out) {
    char logical[16], padded[16];
    ts_text_add(out, "<h2>Shapes</h2><table><tr><th class=n>buffers<th class=n>padded<th class=n>logical<th "
                     "class=n>expansion<th>shape<th>cause</tr>\n");
    for (int64_t i = 0; i < r->class_count && i < TABLE_ROWS; i++) {
        const ts_audit_shape *shape = &r->shapes[r->classes[i].shape];
        ts_audit_print_bytes(logical, shape->logical_bytes);
        ts_audit_print_bytes(padded, shape->padded_bytes);
        ts_text_add(out, "<tr><td class=n>%lld<td class=n>%s<td class=n>%s<td class=n>%.1fx<td><code>",
                    (long long)r->classes[i].count, padded, logical,
                    shape->logical_bytes > 0 ? (double)shape->padded_bytes / (double)shape->logical_bytes
                                             : 1);
        add_escaped(out, shape->text, 400);
        ts_text_add(out, "</code><td>");
        ts_report_audit_cause(shape, out);
        ts_text_add(out, "</tr>\n");
    }
    ts_text_add(out, "</table>\n");
    if (r->class_count > TABLE_ROWS)
        ts_text_add(out, "<p>And %lld more.</p>\n", (long long)r->class_count - TABLE_ROWS);
}

static void add_groups(const ts_audit_result *r, ts_text *out) {
    ts_text_add(
        out,
        "<h2>Moves</h2><table><tr><th>opcode<th>level<th class=n>runs<th class=n>us each<th class=n>us in "
        "all<th>changes<th>from, to</tr>\n");
    for (int64_t i = 0; i < r->group_count && i < TABLE_ROWS; i++) {
        const ts_audit_group *group = &r->groups[i];
        ts_text_add(out, "<tr><td>%s<td>%s<td class=n>%lld", ts_hlo_opcode_name(group->first.opcode),
                    ts_audit_level_text(group->first.level), (long long)group->first.runs);
        bool bounded = group->first.level == TS_AUDIT_LEVEL_FUSED && group->cycles > 0;
        const char *mark = bounded ? "&lt; " : group->scaled ? "~ " : "";
        bool compared = group->first.src >= 0 || group->first.changes;
        if (group->priced)
            ts_text_add(out, "<td class=n>%s%.3f<td class=n>%s%.3f<td>", mark, group->microseconds, mark,
                        group->total_microseconds);
        else
            ts_text_add(out, "<td colspan=2 class=\"n dim\">%s<td>", group->why_not ? group->why_not : "");
        if (compared) ts_report_audit_changes(group->first.changes, out);
        if (group->by)
            ts_text_add(out, "<br><span class=dim>%s %s</span>", group->scaled ? "as" : "by", group->by);
        ts_text_add(out, "<td><code>");
        if (group->first.src >= 0) {
            add_escaped(out, r->shapes[group->first.src].text, 400);
            ts_text_add(out, " to<br>");
        }
        add_escaped(out, r->shapes[group->first.dst].text, 400);
        ts_text_add(out, "</code></tr>\n");
    }
    ts_text_add(out, "</table>\n<p class=dim>&lt;: at most, for it is fused.%s</p>\n",
                r->scaled_moves > 0
                    ? " ~: as much slower than in order as the nearest of its kind that was priced."
                    : "");
    if (r->group_count > TABLE_ROWS)
        ts_text_add(out, "<p>And %lld more.</p>\n", (long long)r->group_count - TABLE_ROWS);
}

static void add_allocations(const ts_audit_result *r, ts_text *out) {
    char logical[16];
    ts_text_add(out, "<table><tr><th class=n>line<th class=n>size<th class=n>logical<th>space<th>allocation"
                     "<th class=n>values<th>shape</tr>\n");
    for (int i = 0; i < r->allocation_count && i < TABLE_ROWS; i++) {
        const ts_audit_allocation *one = &r->allocations[i];
        const ts_audit_shape *shape = one->shape >= 0 ? &r->shapes[one->shape] : NULL;
        ts_audit_print_bytes(logical, shape ? shape->logical_bytes : 0);
        ts_text_add(out, "<tr><td class=n>%lld<td class=n>%s<td class=n>%s<td>%s<td>%s", (long long)one->line,
                    one->text, shape ? logical : "", one->space >= 0 ? ts_report_audit_space(one->space) : "",
                    one->at_peak ? "live at the peak: " : "");
        add_escaped(out, one->name, 200);
        ts_text_add(out, "<td class=n>");
        if (one->values > 0) ts_text_add(out, "%d", (int)one->values);
        ts_text_add(out, "<td><code>");
        add_escaped(out, shape ? shape->text : "", 400);
        ts_text_add(out, "</code></tr>\n");
    }
    ts_text_add(out, "</table>\n");
    if (r->allocation_count > TABLE_ROWS)
        ts_text_add(out, "<p>And %d more.</p>\n", r->allocation_count - TABLE_ROWS);
}

static void add_memory(const ts_audit_result *r, ts_text *out) {
    if (r->figure_count + r->allocation_count == 0) return;
    ts_text_add(out, "<h2>Memory that the text reports</h2>\n");
    if (r->figure_count > 0)
        ts_text_add(out, "<table><tr><th class=n>line<th class=n>size<th>space<th>figure</tr>\n");
    for (int i = 0; i < r->figure_count; i++) {
        const ts_audit_figure *f = &r->figures[i];
        ts_text_add(out, "<tr><td class=n>%lld<td class=n>%s<td>%s<td>", (long long)f->line, f->text,
                    f->space >= 0 ? ts_report_audit_space(f->space) : "");
        add_escaped(out, f->name, 200);
        ts_text_add(out, "</tr>\n");
    }
    if (r->figure_count > 0) ts_text_add(out, "</table>\n");
    if (r->allocation_count > 0) add_allocations(r, out);
}

void ts_report_audit_html(const ts_audit_result *r, const ts_audit_view *view, ts_text *out) {
    ts_text_add(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Audit of ");
    add_escaped(out, view->input, 200);
    ts_text_add(out, "</title><style>%s</style></head><body>\n<h1>Layouts of ", style);
    add_escaped(out, r->module ? r->module : view->input, 200);
    ts_text_add(out, "</h1>\n<p>");
    add_escaped(out, view->input, 200);
    ts_text_add(out, ": %lld instructions, on ", (long long)r->text->instructions);
    ts_report_machine_escaped(r->request->machine, out);
    ts_text_add(out, ". Moves take %.3f us, fused ones at most %.3f us more.</p>\n", r->microseconds,
                r->fused_microseconds);
    ts_report_audit_svg(r, view, out);
    add_findings(r, out);
    add_sums(r, out);
    add_memory(r, out);
    add_classes(r, out);
    add_groups(r, out);
    ts_text_add(out, "<h2>Not understood, or left out</h2>%s<ul>\n",
                r->kind_count == 0 ? "<p>Nothing.</p>" : "");
    for (int i = 0; i < r->kind_count; i++) {
        ts_text_add(out, "<li>%lld ", (long long)r->kinds[i].count);
        add_escaped(out, r->kinds[i].kind, 200);
        ts_text_add(out, " <code>");
        add_escaped(out, r->kinds[i].excerpt, 100);
        ts_text_add(out, "</code></li>\n");
    }
    ts_text_add(out, "</ul></body></html>\n");
}
