/* HTML reports: one file each, that needs nothing else. Private to the folder.
 *
 * What is written as text is escaped; every function adds whole elements. */
#ifndef TILESIM_REPORT_PAGE_H
#define TILESIM_REPORT_PAGE_H

#include "base/text.h"
#include "machine/machine.h"

enum { PAGE_KINDS = 8, PAGE_SHADES = 16 }; /* colours of kinds of things; and the same, paler */

typedef struct {
    ts_text *out;
    bool in_section;
    int pictures;
    int columns, column, rows; /* of the open table; of its open row */
    const struct page_column *headings;
} page;

typedef struct {
    const char *name, *value;
} page_fact;

/* A part of a whole. */
typedef struct {
    const char *label;
    double value;
    const char *text; /* the value as it is shown */
    int kind;         /* its colour, 1 .. PAGE_SHADES; 0: the next one */
} page_part;

typedef struct page_column {
    const char *heading;
    bool number; /* to the right, and sorted as numbers */
} page_column;

/* A file of web/page/ that pages carry. */
const char *page_file(const char *name);

/* The heading, what was asked for, and on what machine (NULL: none). */
void page_begin(page *p, ts_text *out, const char *title, const char *subject, const ts_machine *machine);
void page_end(page *p);

void page_facts(page *p, const page_fact *facts, int count);
void page_section(page *p, const char *heading);
void page_paragraph(page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A stacked bar, and what its colours are; parts of 0 are left out. `what` is its name for those who do not
 * see it. */
void page_bar(page *p, const char *what, const page_part *parts, int count);
void page_legend(page *p, const page_part *parts, int count);
/* What opens at a click, until its end. */
void page_details(page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void page_details_end(page *p);

/* A table that sorts by its headings; then rows of as many cells as columns. `headings` stays. */
void page_table(page *p, const char *caption, const page_column *headings, int count);
/* The same, not sortable. */
void page_listing(page *p, const char *caption, const page_column *headings, int count);
void page_row(page *p);
void page_cell(page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void page_code(page *p, const char *text);  /* a cell, in the font of programs */
void page_words(page *p, const char *text); /* a cell wide enough for a sentence, or for a text on one line */
/* A number sorts by its value. */
void page_number(page *p, double value, const char *format, ...) __attribute__((format(printf, 3, 4)));
void page_integer(page *p, int64_t value); /* "1234" */
void page_count(page *p, int64_t value);   /* "1,234" */
/* A cell with text of a program, so deep in; `note` behind it, and `below` it in small letters ("": nothing).
 * Of rows of which those deeper in are a part, `folds`. */
typedef struct {
    const char *text, *note, *below;
    int depth;
    bool folds;
} page_source;
void page_source_line(page *p, const page_source *line);
/* A number with bars: `parts` shares of 1 beside each other, at most two. */
void page_heat(page *p, double value, const double parts[2], const char *text);
void page_table_end(page *p);

/* A picture that is SVG, and text as a terminal has it. */
void page_picture(page *p, const char *caption, const ts_text *svg);
void page_text(page *p, const ts_text *text);
/* JSON for the scripts of the page, in an element of that id; and one of them. */
void page_data(page *p, const char *id, const ts_text *json);
void page_script(page *p, const char *file);
#endif
