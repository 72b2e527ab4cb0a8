/* Markdown as text for people: the tables and paragraphs that the reports write, not all that Markdown
 * has. */
#include "plain.h"

#include <string.h>

enum { MOST_COLUMNS = 16, GAP = 2 };

typedef struct {
    const char *text; /* without blanks around */
    int length;
} cell;

typedef struct {
    int count, width[MOST_COLUMNS], least[MOST_COLUMNS]; /* that the longest word needs */
    bool right[MOST_COLUMNS];
} columns;

static int larger(int a, int b) { return a > b ? a : b; }

static bool is_mark(const char *text) { return *text == '`' || *text == '*'; }

/* What is seen of so many bytes. */
static int seen(const char *text, int length) {
    int marks = 0;
    for (int i = 0; i < length; i++) marks += is_mark(text + i);
    return length - marks;
}

static void add_seen(ts_text *out, const char *text, int length) {
    for (int i = 0; i < length; i++)
        if (!is_mark(text + i)) ts_text_add_char(out, text[i]);
}

/* "| a | b |" */
static int read_cells(const char *line, cell cells[MOST_COLUMNS]) {
    int count = 0;
    for (line++; *line && *line != '\n' && count < MOST_COLUMNS; count++) {
        int length = (int)strcspn(line, "|\n"), start = (int)strspn(line, " "), end = length;
        while (end > start && line[end - 1] == ' ') end--;
        cells[count] = (cell){line + start, end > start ? end - start : 0};
        line += length + (line[length] == '|');
    }
    return count;
}

static const char *next_line(const char *line) {
    line += strcspn(line, "\n");
    return line + (*line == '\n');
}

/* The first words of a cell that fit, at least one; *rest begins behind them. */
static int take_words(const cell *c, int width, cell *rest) {
    int end = 0;
    for (int at = 0; at <= c->length; at++) {
        bool edge = at == c->length || c->text[at] == ' ';
        if (edge && (end == 0 || seen(c->text, at) <= width)) end = at;
    }
    int next = end + (end < c->length);
    *rest = (cell){c->text + next, c->length - next};
    return end;
}

static int longest_word(const cell *c) {
    int longest = 0;
    cell rest = *c;
    while (rest.length > 0) {
        cell word = rest;
        longest = larger(longest, seen(word.text, take_words(&word, 0, &rest)));
    }
    return longest;
}

static int slack(const columns *c, int column) { return c->width[column] - c->least[column]; }

/* Where the table is too wide, the column with most slack is narrowed: its cells wrap. */
static void narrow(columns *c) {
    int total = -GAP, best = 0;
    for (int i = 0; i < c->count; i++) {
        total += c->width[i] + GAP;
        if (slack(c, i) > slack(c, best)) best = i;
    }
    if (total > TS_TEXT_COLUMNS)
        c->width[best] = larger(c->least[best], c->width[best] - (total - TS_TEXT_COLUMNS));
}

/* Columns are as wide as the cells below the heading; that may take several lines. */
static void measure(const char *heading, columns *c) {
    cell cells[MOST_COLUMNS];
    const char *line = next_line(heading);
    c->count = read_cells(heading, cells);
    for (int i = 0; i < c->count; i++) c->width[i] = c->least[i] = longest_word(&cells[i]);
    int marks = read_cells(line, cells);
    for (int i = 0; i < marks; i++)
        c->right[i] = cells[i].length > 0 && cells[i].text[cells[i].length - 1] == ':';
    for (line = next_line(line); *line == '|'; line = next_line(line)) {
        int count = read_cells(line, cells);
        for (int i = 0; i < count && i < c->count; i++) {
            c->width[i] = larger(c->width[i], seen(cells[i].text, cells[i].length));
            c->least[i] = larger(c->least[i], longest_word(&cells[i]));
        }
    }
    narrow(c);
}

static void add_cell(ts_text *out, const columns *c, int column, const char *text, int length) {
    int blank = c->width[column] - seen(text, length);
    if (column > 0) ts_text_add(out, "%*s", GAP, "");
    if (c->right[column]) ts_text_add(out, "%*s", blank, "");
    add_seen(out, text, length);
    if (!c->right[column] && column + 1 < c->count) ts_text_add(out, "%*s", blank, "");
}

static void end_line(ts_text *out) {
    while (out->length > 0 && out->bytes[out->length - 1] == ' ') out->bytes[--out->length] = '\0';
    ts_text_add_char(out, '\n');
}

/* The lines of the words that fit, until there are no more. */
static void add_row(ts_text *out, const columns *c, const char *line) {
    cell cells[MOST_COLUMNS] = {{0}};
    read_cells(line, cells);
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < c->count; i++) {
            cell rest, now = cells[i];
            add_cell(out, c, i, now.text ? now.text : "", take_words(&now, c->width[i], &rest));
            cells[i] = rest;
            more = more || rest.length > 0;
        }
        end_line(out);
    }
}

/* Returns what follows the table. */
static const char *add_table(ts_text *out, const char *line) {
    columns c = {0};
    measure(line, &c);
    add_row(out, &c, line);
    for (line = next_line(next_line(line)); *line == '|'; line = next_line(line)) add_row(out, &c, line);
    return line;
}

void report_plain(const ts_text *markdown, ts_text *out) {
    ts_text text = ts_text_begin(out->arena);
    for (const char *line = markdown->bytes; *line;) {
        if (*line == '|') {
            line = add_table(&text, line);
            continue;
        }
        const char *next = next_line(line);
        add_seen(&text, line, (int)(next - line));
        line = next;
    }
    ts_text_wrap(&text, TS_TEXT_COLUMNS);
    ts_text_add_bytes(out, text.bytes, text.length);
}
