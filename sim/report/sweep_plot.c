/* The picture of a study as SVG. */
#include "report/sweep_plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 760,
    HEIGHT = 400,
    LEFT = 76,
    RIGHT = 170,
    TOP = 40,
    BOTTOM = 54,
    MOST_TICKS = 12,
    KINDS = 8,
    LINE = 17
};
/* From how many times the least on an axis is logarithmic. */
static const double log_from_x = 8, log_from_y = 20;

static const char style[] =
    "<style>.sweep text{font:12px system-ui,sans-serif;fill:#333}.sweep "
    ".title{font-size:14px;font-weight:600}"
    ".sweep .page{fill:#fff}.sweep .grid{stroke:#e4e6ea}.sweep .line{fill:none;stroke-width:2}"
    ".sweep .k0{stroke:#1769aa;fill:#1769aa}.sweep .k1{stroke:#d9822b;fill:#d9822b}"
    ".sweep .k2{stroke:#2e8b57;fill:#2e8b57}.sweep .k3{stroke:#b5487d;fill:#b5487d}"
    ".sweep .k4{stroke:#6b5bb5;fill:#6b5bb5}.sweep .k5{stroke:#8a6d3b;fill:#8a6d3b}"
    ".sweep .k6{stroke:#3aa6b9;fill:#3aa6b9}.sweep .k7{stroke:#777;fill:#777}"
    "@media(prefers-color-scheme:dark){.sweep .page{fill:#16181d}.sweep text{fill:#e4e6eb}"
    ".sweep .grid{stroke:#33373f}.sweep .k0{stroke:#5aaaf0;fill:#5aaaf0}.sweep "
    ".k1{stroke:#f0a35a;fill:#f0a35a}"
    ".sweep .k2{stroke:#63c78e;fill:#63c78e}.sweep .k3{stroke:#e07cae;fill:#e07cae}"
    ".sweep .k4{stroke:#a294ea;fill:#a294ea}.sweep .k5{stroke:#c9a86a;fill:#c9a86a}"
    ".sweep .k6{stroke:#6fd3e4;fill:#6fd3e4}.sweep .k7{stroke:#aaa;fill:#aaa}}"
    ".sweep .line{fill:none}</style>\n";

/* ---- What is asked for ---- */

static bool read_part(ts_error *err, const ts_sweep_table *table, const char *part, size_t length,
                      ts_sweep_plot *plot) {
    static const char *const names[] = {"x=", "y=", "by="};
    int *const columns[] = {&plot->x, &plot->y, &plot->by};
    char name[96];
    for (int i = 0; i < 3; i++) {
        size_t begin = strlen(names[i]);
        if (length <= begin || length - begin >= sizeof name || strncmp(part, names[i], begin) != 0) continue;
        snprintf(name, sizeof name, "%.*s", (int)(length - begin), part + begin);
        *columns[i] = ts_sweep_table_find(err, table, "--plot", name);
        return *columns[i] >= 0;
    }
    return ts_error_set(err, TS_ERROR_USAGE, "--plot: found '%.*s', expected x=COLUMN,y=COLUMN,by=COLUMN",
                        (int)(length < 60 ? length : 60), part);
}

bool ts_sweep_plot_parse(ts_error *err, const ts_sweep_table *table, const char *text, ts_sweep_plot *plot) {
    *plot = (ts_sweep_plot){-1, -1, -1};
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        if (!read_part(err, table, at, length, plot)) return false;
        at += length;
        if (!*at) break;
    }
    if (plot->x < 0 || plot->y < 0)
        return ts_error_set(err, TS_ERROR_USAGE,
                            "--plot: found '%.60s', expected x=COLUMN,y=COLUMN,by=COLUMN", text);
    return table->headings[plot->y].number ||
           ts_error_set(err, TS_ERROR_USAGE, "--plot: '%s' has no numbers", table->headings[plot->y].name);
}

/* ---- Axes ---- */

typedef struct {
    double low, high;
    bool logarithmic;
    double ticks[MOST_TICKS + 2];
    const char *labels[MOST_TICKS + 2]; /* NULL: the number */
    int tick_count;
    int from, to; /* pixels */
} axis;

typedef struct {
    const ts_sweep_value *name;
    const char *text;
} series;

typedef struct {
    double x, y;
    int series;
} mark;

typedef struct {
    const ts_sweep_table *table;
    const ts_sweep_plot *plot;
    ts_text *out;
    axis x, y;
    mark *marks;
    int64_t count;
    const char **names; /* of the lines */
    int line_count;
    const char **words; /* of an x without numbers */
    int word_count;
} picture;

static double scaled(const axis *a, double value) { return a->logarithmic ? log10(value) : value; }

static double position(const axis *a, double value) {
    double low = scaled(a, a->low), high = scaled(a, a->high);
    double part = high > low ? (scaled(a, value) - low) / (high - low) : 0.5;
    return a->from + part * (a->to - a->from);
}

static const char *text_of(ts_arena *arena, const ts_sweep_value *value) {
    ts_text text = ts_text_begin(arena);
    ts_sweep_value_print(value, &text);
    return text.bytes;
}

static int find_word(ts_arena *arena, const char ***words, int *count, const char *word) {
    for (int i = 0; i < *count; i++)
        if (strcmp((*words)[i], word) == 0) return i;
    *words = ts_arena_extend(arena, *words, (size_t)*count, sizeof **words);
    (*words)[*count] = word;
    return (*count)++;
}

static void find_marks(picture *p) {
    const ts_sweep_table *t = p->table;
    ts_arena *arena = p->out->arena;
    bool numbers = t->headings[p->plot->x].number;
    p->marks = TS_NEW_ARRAY(arena, mark, t->row_count + 1);
    for (int64_t row = 0; row < t->row_count; row++) {
        mark m = {0};
        const ts_sweep_value *x = ts_sweep_table_cell(t, row, p->plot->x);
        if (!ts_sweep_value_number(ts_sweep_table_cell(t, row, p->plot->y), &m.y)) continue;
        if (numbers && !ts_sweep_value_number(x, &m.x)) continue;
        if (!numbers) m.x = find_word(arena, &p->words, &p->word_count, text_of(arena, x));
        if (p->plot->by >= 0)
            m.series = find_word(arena, &p->names, &p->line_count,
                                 text_of(arena, ts_sweep_table_cell(t, row, p->plot->by)));
        p->marks[p->count++] = m;
    }
    if (p->plot->by < 0) p->line_count = 1;
}

typedef enum { ALONG_X, ALONG_Y } direction;

static double value_of(const mark *m, direction way) { return way == ALONG_X ? m->x : m->y; }

static void find_range(const picture *p, axis *a, direction way) {
    a->low = HUGE_VAL;
    a->high = -HUGE_VAL;
    for (int64_t i = 0; i < p->count; i++) {
        a->low = fmin(a->low, value_of(&p->marks[i], way));
        a->high = fmax(a->high, value_of(&p->marks[i], way));
    }
    if (p->count == 0) a->low = 0, a->high = 1;
    a->logarithmic = a->low > 0 && a->high >= (way == ALONG_X ? log_from_x : log_from_y) * a->low &&
                     (way == ALONG_Y || p->word_count == 0);
}

/* 1, 2, 5, 10 .. of which at most so many fit. */
static double step_of(double range) {
    double step = pow(10, floor(log10(range)) - 1);
    static const double times[] = {2, 2.5, 2};
    for (int i = 0; range / step > MOST_TICKS / 2 + 1; i = (i + 1) % 3) step *= times[i];
    return step;
}

static void add_tick(axis *a, double value) {
    if (a->tick_count < MOST_TICKS + 2) a->ticks[a->tick_count++] = value;
}

static void add_linear_ticks(axis *a) {
    double step = step_of(a->high > a->low ? a->high - a->low : 1);
    for (double k = ceil(a->low / step - 1e-9) + 0.0;
         k * step <= a->high * (1 + 1e-9) && a->tick_count < MOST_TICKS; k++)
        add_tick(a, k * step);
}

/* Powers of two along x, else of ten, or every 1, 2 and 5 where these are few. */
static void add_log_ticks(axis *a, direction way) {
    double base = way == ALONG_X ? 2 : 10, decades = log10(a->high / a->low);
    while (way == ALONG_X && log(a->high / a->low) / log(base) > MOST_TICKS) base *= 2;
    static const double between[] = {1, 2, 5};
    for (double power = pow(base, floor(log(a->low) / log(base) + 1e-9)); power <= a->high * 1.001;
         power *= base)
        for (int i = 0; i < (way == ALONG_Y && decades < 3 ? 3 : 1); i++)
            if (power * between[i] >= a->low * 0.999 && power * between[i] <= a->high * 1.001)
                add_tick(a, power * between[i]);
}

static void find_axes(picture *p) {
    find_range(p, &p->x, ALONG_X);
    find_range(p, &p->y, ALONG_Y);
    p->x.from = LEFT, p->x.to = WIDTH - RIGHT, p->y.from = HEIGHT - BOTTOM, p->y.to = TOP;
    if (!p->y.logarithmic && p->y.low > 0) p->y.low = 0;
    if (!p->y.logarithmic) p->y.high += (p->y.high - p->y.low) * 0.04;
    for (int i = 0; i < p->word_count && i < MOST_TICKS; i++) {
        p->x.labels[p->x.tick_count] = p->words[i];
        add_tick(&p->x, i);
    }
    if (p->word_count == 0)
        (p->x.logarithmic ? (void)add_log_ticks(&p->x, ALONG_X) : add_linear_ticks(&p->x));
    p->y.logarithmic ? add_log_ticks(&p->y, ALONG_Y) : add_linear_ticks(&p->y);
}

/* 1, 250, 16k, 2M: of powers of two with 1024 to the k; 1e+20 of what is beyond that. */
static const char *number_text(char out[32], double value) {
    static const char *const units[] = {"", "k", "M", "G"};
    bool binary = value >= 1024 && fmod(value, 1024) == 0;
    int unit = 0;
    bool far = fabs(value) >= 1e13;
    for (; !far && unit < 3 && fabs(value) >= (binary ? 1024 : 10000); unit++) value /= binary ? 1024 : 1000;
    snprintf(out, 32, "%.4g%s%s", value, units[unit], binary && unit ? "i" : "");
    return out;
}

static void add_axes(const picture *p) {
    char text[32];
    for (int i = 0; i < p->x.tick_count; i++) {
        double at = position(&p->x, p->x.ticks[i]);
        ts_text_add(
            p->out,
            "<path class=\"grid\" d=\"M%.1f %dV%d\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">", at,
            TOP, HEIGHT - BOTTOM, at, HEIGHT - BOTTOM + 18);
        ts_text_add_escaped(p->out, p->x.labels[i] ? p->x.labels[i] : number_text(text, p->x.ticks[i]));
        ts_text_add(p->out, "</text>\n");
    }
    for (int i = 0; i < p->y.tick_count; i++) {
        double at = position(&p->y, p->y.ticks[i]);
        ts_text_add(p->out,
                    "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" "
                    "text-anchor=\"end\">%s</text>\n",
                    LEFT, at, WIDTH - RIGHT, LEFT - 8, at + 4, number_text(text, p->y.ticks[i]));
    }
}

static void add_names(const picture *p) {
    const ts_sweep_heading *names = p->table->headings;
    ts_text_add(p->out, "<text class=\"title\" x=\"%d\" y=\"22\">", LEFT);
    ts_text_add_escaped(p->out, p->table->study->title);
    ts_text_add(p->out, "</text><text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", (LEFT + WIDTH - RIGHT) / 2,
                HEIGHT - 12);
    ts_text_add_escaped(p->out, names[p->plot->x].name);
    ts_text_add(p->out, "</text><text transform=\"rotate(-90)\" x=\"%d\" y=\"18\" text-anchor=\"middle\">",
                -(TOP + HEIGHT - BOTTOM) / 2);
    ts_text_add_escaped(p->out, names[p->plot->y].name);
    ts_text_add(p->out, "</text>\n");
    if (p->plot->by < 0) return;
    ts_text_add(p->out, "<text x=\"%d\" y=\"%d\">", WIDTH - RIGHT + 14, TOP + 4);
    ts_text_add_escaped(p->out, names[p->plot->by].name);
    ts_text_add(p->out, "</text>\n");
}

/* ---- Lines ---- */

static int by_x(const void *one, const void *other) {
    const mark *a = one, *b = other;
    return a->x != b->x ? (a->x > b->x) - (a->x < b->x) : (a->y > b->y) - (a->y < b->y);
}

static void add_line(const picture *p, const mark *marks, int64_t count, int line) {
    ts_text_add(p->out, "<path class=\"line k%d\"%s d=\"", line % KINDS,
                line >= KINDS ? " stroke-dasharray=\"6 3\"" : "");
    for (int64_t i = 0, next; i < count; i = next) {
        double sum = 0;
        for (next = i; next < count && marks[next].x == marks[i].x; next++) sum += marks[next].y;
        ts_text_add(p->out, "%c%.1f %.1f", i ? 'L' : 'M', position(&p->x, marks[i].x),
                    position(&p->y, sum / (double)(next - i)));
    }
    ts_text_add(p->out, "\"/>\n");
}

static void add_marks(const picture *p, const mark *marks, int64_t count, int line) {
    for (int64_t i = 0; i < count; i++) {
        if (i > 0 && by_x(&marks[i - 1], &marks[i]) == 0) continue; /* it is there */
        ts_text_add(p->out, "<circle class=\"k%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"><title>", line % KINDS,
                    position(&p->x, marks[i].x), position(&p->y, marks[i].y), count > 60 ? "1.5" : "3");
        ts_text_add_escaped(p->out, p->names ? p->names[line] : "");
        ts_text_add_char(p->out, ' ');
        if (p->word_count > 0) ts_text_add_escaped(p->out, p->words[(int)marks[i].x]);
        if (p->word_count == 0) ts_text_add(p->out, "%.6g", marks[i].x);
        ts_text_add(p->out, ": %.6g</title></circle>\n", marks[i].y);
    }
}

static void add_series(const picture *p, int line) {
    mark *own = TS_NEW_ARRAY(p->out->arena, mark, p->count + 1);
    int64_t count = 0;
    for (int64_t i = 0; i < p->count; i++)
        if (p->marks[i].series == line) own[count++] = p->marks[i];
    qsort(own, (size_t)count, sizeof *own, by_x);
    add_line(p, own, count, line);
    add_marks(p, own, count, line);
    int y = TOP + 8 + LINE * (line + 1);
    if (p->plot->by < 0 || y > HEIGHT - 8) return;
    ts_text_add(p->out, "<path class=\"line k%d\" d=\"M%d %dh16\"/><text x=\"%d\" y=\"%d\">", line % KINDS,
                WIDTH - RIGHT + 14, y - 4, WIDTH - RIGHT + 36, y);
    ts_text_add_escaped(p->out, p->names[line]);
    ts_text_add(p->out, "</text>\n");
}

void ts_report_sweep_svg(const ts_sweep_table *table, const ts_sweep_plot *plot, ts_text *out) {
    picture p = {.table = table, .plot = plot, .out = out};
    find_marks(&p);
    find_axes(&p);
    ts_text_add(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"sweep\" width=\"%d\" height=\"%d\" "
                "viewBox=\"0 0 %d %d\" "
                "role=\"img\" aria-label=\"",
                WIDTH, HEIGHT, WIDTH, HEIGHT);
    ts_text_add_escaped(out, table->study->title);
    ts_text_add(out, "\">\n%s<rect class=\"page\" width=\"%d\" height=\"%d\"/>\n", style, WIDTH, HEIGHT);
    add_axes(&p);
    add_names(&p);
    for (int i = 0; i < p.line_count; i++) add_series(&p, i);
    ts_text_add(out, "</svg>\n");
}
