/* HTML reports: one file each, that needs nothing else. */
#include "page.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "report/machine.h"
#include "report/style.h"

enum { SENTENCE = 32 }; /* characters: from here a text may be broken over lines (td.words) */

const char *page_file(const char *name) {
    size_t i = 0;
    while (i < ts_embedded_style_count && strcmp(ts_embedded_styles[i].name, name) != 0) i++;
    assert(i < ts_embedded_style_count);
    return ts_embedded_styles[i].text;
}

static const char *escaped(const page *p, const char *text) { return ts_text_escaped(p->out->arena, text); }

/* As text of the page. */
static void add(page *p, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));
static void add(page *p, const char *format, va_list arguments) {
    ts_text text = ts_text_begin(p->out->arena);
    ts_text_add_list(&text, format, arguments);
    ts_text_add_escaped(p->out, text.bytes);
}

static void close_section(page *p) {
    if (p->in_section) ts_text_add(p->out, "</section>\n");
    p->in_section = false;
}

void page_begin(page *p, ts_text *out, const char *title, const char *subject, const ts_machine *machine) {
    *p = (page){.out = out};
    const char *heading = escaped(p, title), *about = escaped(p, subject);
    ts_text_add(out,
                "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                "<title>%s: %s</title>\n<style>\n%s%s</style>\n</head>\n",
                heading, about, page_file("style.css"), page_file("report.css"));
    ts_text_add(out, "<body>\n<main>\n<header>\n<h1>%s</h1>\n<p><code>%s</code>", heading, about);
    if (machine) ts_text_add(out, "<br>%s", ts_report_machine_escaped(out->arena, machine));
    ts_text_add(out, "</p>\n</header>\n");
}

void page_end(page *p) {
    close_section(p);
    ts_text_add(p->out, "</main>\n");
    page_script(p, "report.js");
    ts_text_add(p->out, "</body>\n</html>\n");
}

void page_facts(page *p, const page_fact *facts, int count) {
    ts_text_add(p->out, "<dl class=\"facts\">\n");
    for (int i = 0; i < count; i++) {
        if (!facts[i].value) continue;
        ts_text_add(p->out, "<div><dt>%s</dt><dd>%s</dd></div>\n", escaped(p, facts[i].name),
                    escaped(p, facts[i].value));
    }
    ts_text_add(p->out, "</dl>\n");
}

void page_section(page *p, const char *heading) {
    close_section(p);
    ts_text_add(p->out, "<section>\n<h2>%s</h2>\n", escaped(p, heading));
    p->in_section = true;
}

/* An element that holds text alone. */
static void add_within(page *p, const char *tag, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));
static void add_within(page *p, const char *tag, const char *format, va_list arguments) {
    ts_text_add(p->out, "<%s>", tag);
    add(p, format, arguments);
    ts_text_add(p->out, "</%s>\n", tag);
}

void page_paragraph(page *p, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_within(p, "p", format, arguments);
    va_end(arguments);
}

/* ---- A stacked bar ---- */

static double sum_of(const page_part *parts, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += parts[i].value;
    return sum;
}

/* Of a part that is shown; *next: that of the next one without. */
static int kind_of(const page_part *part, int *next) {
    return part->kind > 0 ? part->kind : (*next)++ % PAGE_KINDS + 1;
}

void page_legend(page *p, const page_part *parts, int count) {
    double sum = sum_of(parts, count);
    ts_text_add(p->out, "<ul class=\"legend\">\n");
    for (int i = 0, kind = 0; i < count; i++) {
        if (parts[i].value <= 0) continue;
        ts_text_add(p->out, "<li><i class=\"kind-%d\"></i><span>%s</span><b>%s &nbsp; %.1f %%</b></li>\n",
                    kind_of(&parts[i], &kind), escaped(p, parts[i].label), escaped(p, parts[i].text),
                    100 * parts[i].value / sum);
    }
    ts_text_add(p->out, "</ul>\n");
}

void page_bar(page *p, const char *what, const page_part *parts, int count) {
    double sum = sum_of(parts, count);
    ts_text_add(p->out, "<div class=\"bar\" role=\"img\" aria-label=\"%s\">", escaped(p, what));
    for (int i = 0, kind = 0; i < count; i++) {
        if (parts[i].value <= 0) continue;
        ts_text_add(p->out, "<span class=\"kind-%d\" style=\"width:%.4f%%\" title=\"%s: %s\"></span>",
                    kind_of(&parts[i], &kind), 100 * parts[i].value / sum, escaped(p, parts[i].label),
                    escaped(p, parts[i].text));
    }
    ts_text_add(p->out, "</div>\n");
}

/* ---- What opens ---- */

void page_details(page *p, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    ts_text_add(p->out, "<details>\n");
    add_within(p, "summary", format, arguments);
    va_end(arguments);
}

void page_details_end(page *p) { ts_text_add(p->out, "</details>\n"); }

/* ---- Tables ---- */

typedef enum { LISTING, SORTS } table_kind;

static void add_heading(page *p, const page_column *heading, table_kind kind) {
    bool sorts = kind == SORTS;
    ts_text_add(p->out, "<th scope=\"col\"%s>%s%s%s</th>", heading->number ? " class=\"number\"" : "",
                sorts ? "<button type=\"button\">" : "", escaped(p, heading->heading),
                sorts ? "</button>" : "");
}

static void begin_table(page *p, const char *caption, const page_column *headings, int count,
                        table_kind kind) {
    p->headings = headings;
    p->columns = p->column = count;
    p->rows = 0;
    if (caption) ts_text_add(p->out, "<p class=\"soft\">%s</p>\n", escaped(p, caption));
    ts_text_add(p->out, "<div class=\"scroll\" tabindex=\"0\">\n<table class=\"%s\">\n<thead><tr>",
                kind == SORTS ? "sorts" : "listing");
    for (int i = 0; i < count; i++) add_heading(p, &headings[i], kind);
    ts_text_add(p->out, "</tr></thead>\n<tbody>\n");
}

void page_table(page *p, const char *caption, const page_column *headings, int count) {
    begin_table(p, caption, headings, count, SORTS);
}

void page_listing(page *p, const char *caption, const page_column *headings, int count) {
    begin_table(p, caption, headings, count, LISTING);
}

void page_row(page *p) {
    assert(p->column == p->columns);
    ts_text_add(p->out, p->rows++ > 0 ? "</tr>\n<tr>" : "<tr>");
    p->column = 0;
}

/* `class`: of the cell, beside that of its column; "": none. */
static void begin_cell_of(page *p, const char *class) {
    assert(p->column < p->columns);
    bool number = p->headings[p->column++].number, both = number && *class;
    ts_text_add(p->out, "<td");
    if (number || *class)
        ts_text_add(p->out, " class=\"%s%s%s\"", number ? "number" : "", both ? " " : "", class);
}

static void begin_cell(page *p) { begin_cell_of(p, ""); }

void page_cell(page *p, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    begin_cell(p);
    ts_text_add_char(p->out, '>');
    add(p, format, arguments);
    ts_text_add(p->out, "</td>");
    va_end(arguments);
}

void page_words(page *p, const char *text) {
    begin_cell_of(p, ts_text_characters(text) > SENTENCE ? "words" : "line");
    ts_text_add(p->out, ">%s</td>", escaped(p, text));
}

void page_code(page *p, const char *text) {
    begin_cell(p);
    ts_text_add(p->out, "><code>%s</code></td>", escaped(p, text));
}

void page_number(page *p, double value, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    begin_cell(p);
    ts_text_add(p->out, " data-value=\"%.17g\">", value);
    add(p, format, arguments);
    ts_text_add(p->out, "</td>");
    va_end(arguments);
}

void page_integer(page *p, int64_t value) { page_number(p, (double)value, "%lld", (long long)value); }

void page_count(page *p, int64_t value) {
    page_number(p, (double)value, "%s", ts_text_grouped(p->out->arena, value));
}

void page_source_line(page *p, const page_source *line) {
    begin_cell_of(p, "source");
    ts_text_add(p->out, " data-depth=\"%d\" style=\"--depth:%d\">", line->depth, line->depth);
    if (line->folds)
        ts_text_add(p->out, "<button type=\"button\" class=\"fold\" aria-expanded=\"true\" "
                            "aria-label=\"what is further in\"></button>");
    ts_text_add(p->out, "<code>%s</code>", escaped(p, line->text));
    if (*line->note) ts_text_add(p->out, "<span class=\"soft\"> %s</span>", escaped(p, line->note));
    if (*line->below) ts_text_add(p->out, "<small>%s</small>", escaped(p, line->below));
    ts_text_add(p->out, "</td>");
}

void page_heat(page *p, double value, const double parts[2], const char *text) {
    begin_cell(p);
    ts_text_add(p->out,
                " data-value=\"%.17g\"><span class=\"heat\" style=\"--a:%.2f%%;--b:%.2f%%\">%s</span></td>",
                value, 100 * parts[0], 100 * (parts[0] + parts[1]), escaped(p, text));
}

void page_table_end(page *p) {
    assert(p->column == p->columns);
    ts_text_add(p->out, "%s</tbody>\n</table>\n</div>\n", p->rows > 0 ? "</tr>\n" : "");
}

/* ---- Pictures and text ---- */

/* A picture's own id for its hatching gets a number: what is in a closed part of a page hatches nothing
 * outside. */
static void add_picture(page *p, const ts_text *svg) {
    static const char *const names[] = {"\"padding\"", "(#padding)"};
    const char *at = svg->bytes;
    int number = ++p->pictures;
    while (*at) {
        const char *name = NULL;
        for (int i = 0; i < 2; i++)
            if (ts_text_starts(at, names[i])) name = names[i];
        if (name)
            ts_text_add(p->out, "%.*s-%d%c", (int)strlen(name) - 1, name, number, name[strlen(name) - 1]);
        else
            ts_text_add_char(p->out, *at);
        at += name ? strlen(name) : 1;
    }
}

void page_picture(page *p, const char *caption, const ts_text *svg) {
    ts_text_add(p->out, "<figure>\n");
    if (caption) ts_text_add(p->out, "<figcaption>%s</figcaption>\n", escaped(p, caption));
    add_picture(p, svg);
    ts_text_add(p->out, "</figure>\n");
}

void page_text(page *p, const ts_text *text) {
    ts_text_add(p->out, "<pre class=\"text\" tabindex=\"0\">");
    ts_text_add_escaped(p->out, text->bytes);
    ts_text_add(p->out, "</pre>\n");
}

/* ---- Scripts ---- */

void page_data(page *p, const char *id, const ts_text *json) {
    ts_text_add(p->out, "<script type=\"application/json\" id=\"%s\">", id);
    for (const char *at = json->bytes; *at;) {
        size_t plain = strcspn(at, "<");
        ts_text_add_bytes(p->out, at, plain);
        at += plain;
        if (*at) ts_text_add(p->out, "\\u003c"), at++;
    }
    ts_text_add(p->out, "</script>\n");
}

void page_script(page *p, const char *file) {
    ts_text_add(p->out, "<script>\n%s</script>\n", page_file(file));
}
