/* The picture of a study as SVG. */
#include "report/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "picture.h"

/* In pixels, but for what MOST_ and KINDS count. What is at the right and below grows with its texts. */
enum {
    PLOT_WIDTH = 514,
    PLOT_HEIGHT = 306,
    LEFT = 76,
    RIGHT = 170,
    TOP = 40,
    BOTTOM = 54,
    LINE = 17,
    LEGEND = 36, /* from the plot to the legend's texts */
    CHARACTER = 7,
    TITLE_CHARACTER = 9,
    MOST_TICKS = 12,
    MOST_WORDS = 36,
    MOST_CHARACTERS = 56,
    MOST_LEGEND = 64,
    KINDS = 8
};
static const char *const dashes[] = {"", "6 3", "2 3", "9 3 2 3"}; /* of each KINDS lines more */
/* From how many times the least on an axis is logarithmic; along x, where all are powers of two. */
static const double log_from_x = 8, log_from_x_of_powers = 4, log_from_y = 20;
static const double too_far = 1e307; /* to be shown: what is nearer has a finite range */

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
                        ts_text_quoted(length), part);
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

/* ---- Texts ---- */

static int longest(const char *const *texts, int count) {
    int64_t most = 0;
    for (int i = 0; i < count; i++) most = ts_max(most, ts_text_characters(texts[i]));
    return (int)ts_min(most, MOST_CHARACTERS);
}

/* ---- Axes ---- */

typedef struct {
    double low, high;
    bool logarithmic;
    double ticks[MOST_WORDS + 2];
    const char *labels[MOST_WORDS + 2];
    int tick_count;
    int from, to; /* pixels */
} axis;

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
    bool slanted; /* labels of x */
    int width, height, bottom;
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
    *TS_APPEND(arena, *words, *count) = word;
    return *count - 1;
}

static void find_marks(picture *p) {
    const ts_sweep_table *t = p->table;
    ts_arena *arena = p->out->arena;
    bool numbers = t->headings[p->plot->x].number;
    p->marks = TS_NEW_ARRAY(arena, mark, t->row_count + 1);
    for (int64_t row = 0; row < t->row_count; row++) {
        mark m = {0};
        const ts_sweep_value *x = ts_sweep_table_cell(t, row, p->plot->x);
        bool shown = ts_sweep_value_number(ts_sweep_table_cell(t, row, p->plot->y), &m.y);
        shown = shown && fabs(m.y) < too_far;
        if (numbers) shown = shown && ts_sweep_value_number(x, &m.x) && fabs(m.x) < too_far;
        if (!shown) continue;
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

/* From how many times the least it is logarithmic: of numbers that double, such as sizes, they are the
 * ticks. */
static double log_from(const picture *p, direction way) {
    if (way == ALONG_Y) return log_from_y;
    int exponent;
    for (int64_t i = 0; i < p->count; i++)
        if (frexp(p->marks[i].x, &exponent) != 0.5) return log_from_x;
    return log_from_x_of_powers;
}

static void find_range(const picture *p, axis *a, direction way) {
    a->low = HUGE_VAL;
    a->high = -HUGE_VAL;
    for (int64_t i = 0; i < p->count; i++) {
        a->low = fmin(a->low, value_of(&p->marks[i], way));
        a->high = fmax(a->high, value_of(&p->marks[i], way));
    }
    if (p->count == 0) a->low = 0, a->high = 1;
    a->logarithmic = a->low > 0 && a->high >= log_from(p, way) * a->low; /* the first word is at 0 */
}

/* 1, 2, 5, 10 .. of which at most so many fit. */
static double step_of(double range) {
    double step = pow(10, floor(log10(range)) - 1);
    static const double times[] = {2, 2.5, 2};
    for (int i = 0; range / step > MOST_TICKS / 2 + 1; i = (i + 1) % 3) step *= times[i];
    return step;
}

static void add_linear_ticks(axis *a) {
    if (a->high == a->low) {
        a->ticks[a->tick_count++] = a->low;
        return;
    }
    double step = step_of(a->high - a->low), first = ceil(a->low / step - 1e-9) + 0.0,
           last = floor(a->high / step + 1e-9);
    for (double i = 0; i <= last - first; i++) a->ticks[a->tick_count++] = (first + i) * step;
}

/* Powers of two along x, else of ten, or every 1, 2 and 5 where these are few; of many every second, third
 * .. */
static void add_log_ticks(axis *a, direction way) {
    static const double between[] = {1, 2, 5};
    double unit = way == ALONG_X ? 2 : 10, base = unit, range = log(a->high) - log(a->low), power;
    int parts = way == ALONG_Y && range < log(1000) ? 3 : 1;
    while (range / log(base) > MOST_TICKS) base *= unit;
    for (double k = floor(log(a->low) / log(base) + 1e-9); (power = pow(base, k)) <= a->high * 1.001; k++)
        for (int i = 0; i < parts; i++)
            if (power * between[i] >= a->low * 0.999 && power * between[i] <= a->high * 1.001)
                a->ticks[a->tick_count++] = power * between[i];
}

/* 1, 250, 16k, 2M; of powers of two 16Ki, 2Mi; 1e+20 of what is beyond that. */
static const char *number_text(ts_arena *arena, double value, int digits) {
    static const char *const units[][4] = {{"", "k", "M", "G"}, {"", "Ki", "Mi", "Gi"}};
    int unit = 0, exponent;
    bool binary = frexp(value, &exponent) == 0.5;
    bool far = fabs(value) >= 1e13;
    for (; !far && unit < 3 && fabs(value) >= (binary ? 1024 : 10000); unit++) value /= binary ? 1024 : 1000;
    return ts_text_format(arena, "%.*g%s", digits, value, units[binary][unit]);
}

/* As many as tell each tick from the next. */
static int digits_of(ts_arena *arena, const axis *a) {
    int digits = 4;
    for (int i = 1; i < a->tick_count; i++)
        while (digits < 15 && strcmp(number_text(arena, a->ticks[i - 1], digits),
                                     number_text(arena, a->ticks[i], digits)) == 0)
            digits++;
    return digits;
}

/* Every word, or every second .. */
static void add_words(picture *p) {
    axis *x = &p->x;
    for (int i = 0; i < p->word_count; i += 1 + (p->word_count - 1) / MOST_WORDS) {
        x->labels[x->tick_count] = ts_text_cut(p->out->arena, p->words[i], MOST_CHARACTERS);
        x->ticks[x->tick_count++] = i;
    }
}

static void add_numbers(picture *p, axis *a, direction way) {
    a->logarithmic ? add_log_ticks(a, way) : add_linear_ticks(a);
    int digits = digits_of(p->out->arena, a);
    for (int i = 0; i < a->tick_count; i++) a->labels[i] = number_text(p->out->arena, a->ticks[i], digits);
}

/* Where the longest would come near the next one, or reach over the frame. */
static bool must_slant(const axis *x) {
    int most = longest(x->labels, x->tick_count) * CHARACTER;
    if (x->tick_count < 2) return false; /* it has all the width */
    return most > position(x, x->ticks[1]) - position(x, x->ticks[0]) - CHARACTER || most > 2 * LEFT;
}

static void find_axes(picture *p) {
    find_range(p, &p->x, ALONG_X);
    find_range(p, &p->y, ALONG_Y);
    p->x.from = LEFT, p->x.to = LEFT + PLOT_WIDTH, p->y.from = TOP + PLOT_HEIGHT, p->y.to = TOP;
    if (!p->y.logarithmic) {
        p->y.low = fmin(p->y.low, 0), p->y.high = fmax(p->y.high, 0);
        p->y.high += (p->y.high - p->y.low) * 0.04;
    }
    p->word_count > 0 ? add_words(p) : add_numbers(p, &p->x, ALONG_X);
    add_numbers(p, &p->y, ALONG_Y);
    p->slanted = must_slant(&p->x);
}

static int legend_lines(const picture *p) {
    int most = p->line_count <= MOST_LEGEND ? p->line_count : MOST_LEGEND + 1;
    return p->plot->by < 0 ? 0 : most;
}

/* Room for the legend and for slanted labels, which are turned by 40 degrees. */
static void find_size(picture *p) {
    int legend = LEGEND + CHARACTER * (1 + longest(p->names, p->names ? p->line_count : 0)),
        words = p->slanted ? longest(p->x.labels, p->x.tick_count) * CHARACTER : 0;
    p->width = LEFT + PLOT_WIDTH + (int)ts_max(RIGHT, ts_max(legend, words * 7 / 9));
    p->bottom = BOTTOM + words * 2 / 3;
    p->height = (int)ts_max(TOP + PLOT_HEIGHT + p->bottom, TOP + LINE * (2 + legend_lines(p)));
}

static void add_x_tick(const picture *p, int i) {
    double at = position(&p->x, p->x.ticks[i]);
    int below = TOP + PLOT_HEIGHT + 18;
    ts_text_add(p->out, "<path class=\"grid\" d=\"M%.1f %dV%d\"/><text x=\"%.1f\" y=\"%d\" ", at, TOP,
                TOP + PLOT_HEIGHT, at, below);
    if (p->slanted)
        ts_text_add(p->out, "transform=\"rotate(40 %.1f %d)\">", at, below);
    else
        ts_text_add(p->out, "text-anchor=\"middle\">");
    ts_text_add(p->out, "%s</text>\n", ts_text_escaped(p->out->arena, p->x.labels[i]));
}

static void add_axes(const picture *p) {
    for (int i = 0; i < p->x.tick_count; i++) add_x_tick(p, i);
    for (int i = 0; i < p->y.tick_count; i++) {
        double at = position(&p->y, p->y.ticks[i]);
        ts_text_add(p->out,
                    "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" "
                    "text-anchor=\"end\">%s</text>\n",
                    LEFT, at, LEFT + PLOT_WIDTH, LEFT - 8, at + 4, p->y.labels[i]);
    }
}

static void add_title_line(const picture *p, const char *text, int y) {
    int most = (p->width - LEFT) / TITLE_CHARACTER;
    picture_text(p->out, LEFT, y, &(picture_font){.class = "title", .pixels = 14, .bold = true}, "%s",
                 ts_text_escaped(p->out->arena, ts_text_cut(p->out->arena, text, most)));
}

/* On one line, or on two. */
static void add_title(const picture *p) {
    const char *title = p->table->study->title, *end = title, *space = NULL;
    int most = (p->width - LEFT) / TITLE_CHARACTER;
    for (int i = 0; *end && i <= most; i++, end += ts_text_utf8_bytes(end) + !ts_text_utf8_bytes(end))
        if (*end == ' ') space = end;
    if (ts_text_characters(title) <= most || !space) {
        add_title_line(p, title, 22);
        return;
    }
    add_title_line(p, ts_arena_copy_text(p->out->arena, title, (size_t)(space - title)), 15);
    add_title_line(p, space + 1, 32);
}

static int by_series(const void *one, const void *other) {
    const mark *a = one, *b = other;
    if (a->series != b->series) return a->series < b->series ? -1 : 1;
    return a->x != b->x ? ts_order_reals(a->x, b->x) : ts_order_reals(a->y, b->y);
}

/* Has a line several points of one x that differ? */
static bool has_means(const picture *p) {
    mark *marks = TS_NEW_ARRAY(p->out->arena, mark, p->count + 1);
    memcpy(marks, p->marks, (size_t)p->count * sizeof *marks);
    qsort(marks, (size_t)p->count, sizeof *marks, by_series);
    for (int64_t i = 1; i < p->count; i++)
        if (marks[i].series == marks[i - 1].series && marks[i].x == marks[i - 1].x &&
            marks[i].y > marks[i - 1].y)
            return true;
    return false;
}

static void add_names(const picture *p) {
    const ts_sweep_heading *names = p->table->headings;
    add_title(p);
    ts_arena *arena = p->out->arena;
    ts_text_add(p->out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>", LEFT + PLOT_WIDTH / 2,
                TOP + PLOT_HEIGHT + p->bottom - 12, ts_text_escaped(arena, names[p->plot->x].name));
    ts_text_add(p->out,
                "<text transform=\"rotate(-90)\" x=\"%d\" y=\"18\" text-anchor=\"middle\">%s%s</text>\n",
                -(2 * TOP + PLOT_HEIGHT) / 2, ts_text_escaped(arena, names[p->plot->y].name),
                has_means(p) ? ", lines through the means" : "");
    if (p->plot->by < 0) return;
    ts_text_add(p->out, "<text x=\"%d\" y=\"%d\">%s</text>\n", LEFT + PLOT_WIDTH + 14, TOP + 4,
                ts_text_escaped(arena, names[p->plot->by].name));
}

/* ---- Lines ---- */

/* The beginning of a path in the looks of the line. */
static void begin_line(const picture *p, int line) {
    const char *dash = dashes[line / KINDS % (int)(sizeof dashes / sizeof dashes[0])];
    ts_text_add(p->out, "<path class=\"curve k%d\"", line % KINDS);
    if (*dash) ts_text_add(p->out, " stroke-dasharray=\"%s\"", dash);
    ts_text_add(p->out, " d=\"");
}

static void add_line(const picture *p, const mark *marks, int64_t count, int line) {
    begin_line(p, line);
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
        if (i > 0 && by_series(&marks[i - 1], &marks[i]) == 0) continue; /* it is there */
        ts_text_add(p->out, "<circle class=\"dot k%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"><title>",
                    line % KINDS, position(&p->x, marks[i].x), position(&p->y, marks[i].y),
                    count > 60 ? "1.5" : "3");
        ts_text_add_escaped(p->out, p->names ? p->names[line] : "");
        ts_text_add_char(p->out, ' ');
        if (p->word_count > 0) ts_text_add_escaped(p->out, p->words[(int)marks[i].x]);
        if (p->word_count == 0) ts_text_add(p->out, "%.6g", marks[i].x);
        ts_text_add(p->out, ": %.6g</title></circle>\n", marks[i].y);
    }
}

/* Its line and name; behind MOST_LEGEND of them how many more there are. */
static void add_legend(const picture *p, int line) {
    int at = LEFT + PLOT_WIDTH, y = TOP + 8 + LINE * (line + 1);
    if (line >= legend_lines(p)) return;
    if (line < MOST_LEGEND) {
        begin_line(p, line);
        ts_text_add(p->out, "M%d %dh16\"/>", at + 14, y - 4);
    }
    ts_text_add(p->out, "<text x=\"%d\" y=\"%d\">", at + LEGEND, y);
    if (line < MOST_LEGEND)
        ts_text_add_escaped(p->out, ts_text_cut(p->out->arena, p->names[line], MOST_CHARACTERS));
    else
        ts_text_add(p->out, "and %d more", p->line_count - MOST_LEGEND);
    ts_text_add(p->out, "</text>\n");
}

static void add_series(const picture *p, int line) {
    mark *own = TS_NEW_ARRAY(p->out->arena, mark, p->count + 1);
    int64_t count = 0;
    for (int64_t i = 0; i < p->count; i++)
        if (p->marks[i].series == line) own[count++] = p->marks[i];
    qsort(own, (size_t)count, sizeof *own, by_series);
    add_line(p, own, count, line);
    add_marks(p, own, count, line);
    add_legend(p, line);
}

void ts_report_sweep_svg(const ts_sweep_table *table, const ts_sweep_plot *plot, ts_text *out) {
    picture p = {.table = table, .plot = plot, .out = out};
    find_marks(&p);
    find_axes(&p);
    find_size(&p);
    picture_begin(out, p.width, p.height, table->study->title);
    add_axes(&p);
    add_names(&p);
    for (int i = 0; i < p.line_count; i++) add_series(&p, i);
    picture_end(out);
}
