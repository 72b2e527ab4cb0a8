/* The program with the cycles of its lines, as text. */
#include <stdio.h>

#include "base/number.h"
#include "report/run.h"
#include "run_private.h"

enum { NUMBERS = 40, LINE_COLUMNS = 4, INDENT = 2, DEEP = 4, DEEPEST = 10 }; /* columns, and depths */

typedef struct {
    const ts_program *program;
    const ts_profile *profile;
    ts_text *out;
    bool colour;
} listing;

/* ---- Numbers ---- */

/* All digits below `limit`, which is 100,000 or more; else "123.4M". */
static const char *grouped(char text[32], int64_t value, int64_t limit) {
    static const char prefixes[] = "kMGTPE";
    double scaled = (double)value;
    int power = -1;
    if (value < limit) return ts_text_group_digits(text, value);
    for (; scaled >= 999.95; power++) scaled /= 1000;
    snprintf(text, 32, "%.*f%c", scaled < 9.9995 ? 3 : scaled < 99.995 ? 2 : 1, scaled, prefixes[power]);
    return text;
}

/* At most six characters; nothing for 0. */
static const char *compact(char text[32], int64_t value) {
    text[0] = '\0';
    return value == 0 ? text : grouped(text, value, 100000);
}

static int64_t total_of(const listing *l) { return l->profile->total.values[TS_LINE_CYCLES]; }

/* ---- Rows ---- */

static void begin_style(const listing *l, const char *style) {
    if (l->colour) ts_text_add(l->out, "\033[%sm", style);
}

static void end_style(const listing *l) {
    if (l->colour) ts_text_add(l->out, "\033[0m");
}

/* What is warmer is brighter: from a tenth and a hundredth of the cycles on. */
static const char *style_of(const listing *l, const ts_line_counts *counts) {
    int64_t cycles = counts->values[TS_LINE_CYCLES];
    return cycles == 0 ? "2" : cycles >= total_of(l) / 10 ? "1;31" : cycles >= total_of(l) / 100 ? "33" : "0";
}

static void add_numbers(const listing *l, const ts_line_counts *counts) {
    const int64_t *v = counts->values;
    char issued[32], stalled[32], times[32], hbm[32], vmem[32], part[32] = "";
    if (v[TS_LINE_CYCLES] > 0)
        snprintf(part, sizeof part, "%.1f", ts_percent(v[TS_LINE_CYCLES], total_of(l)));
    ts_text_add(l->out, "%6s %6s %5s %6s %6s %6s", compact(issued, v[TS_LINE_ISSUED]),
                compact(stalled, v[TS_LINE_STALLED]), part, compact(times, v[TS_LINE_TIMES]),
                compact(hbm, v[TS_LINE_HBM_BYTES]), compact(vmem, v[TS_LINE_VMEM_BYTES]));
}

/* Ends the row with the note; what does not fit before that is cut. */
static void end_row(const listing *l, size_t begin, const char *note) {
    int room = TS_TEXT_COLUMNS - ts_text_characters(note);
    const char *row = l->out->bytes + begin, *cut = ts_text_cut(l->out->arena, row, room);
    if (cut != row) {
        l->out->length = begin;
        ts_text_add(l->out, "%s", cut);
    }
    ts_text_add(l->out, "%s", note);
    end_style(l);
    ts_text_add_char(l->out, '\n');
}

/* A level is narrower where there are many, and at last nothing. */
static int indent_of(int depth) {
    int deep = depth < DEEPEST ? depth : DEEPEST;
    return deep <= DEEP ? INDENT * deep : INDENT * DEEP + deep - DEEP;
}

/* What a line that stalled waited for, the longest first. */
static void add_reasons(const listing *l, const ts_line_counts *counts) {
    int reasons[REPORT_REASONS], count = report_line_reasons(l->profile, counts, reasons);
    for (int i = 0; i < count; i++) {
        int64_t cycles = counts->stalls[reasons[i]];
        char digits[32];
        begin_style(l, "2");
        size_t begin = l->out->length;
        ts_text_add(l->out, "%6s %6s %5.1f %*s", "", compact(digits, cycles), ts_percent(cycles, total_of(l)),
                    NUMBERS - 19 + LINE_COLUMNS + 2, "");
        ts_text_add(l->out, "^ %s", ts_stall_get(reasons[i])->meaning);
        end_row(l, begin, "");
    }
}

static void add_line(void *self, const report_line *r) {
    static const ts_line_counts none = {0};
    const listing *l = self;
    begin_style(l, style_of(l, r->counts ? r->counts : &none));
    size_t begin = l->out->length;
    if (r->counts)
        add_numbers(l, r->counts);
    else
        ts_text_add(l->out, "%*s", NUMBERS, "");
    if (r->line > 0)
        ts_text_add(l->out, " %*d %c%*s%s", LINE_COLUMNS, r->line, r->mark, indent_of(r->depth), "", r->text);
    else
        ts_text_add(l->out, " %*s  %*s", LINE_COLUMNS, "..", indent_of(r->depth), "");
    end_row(l, begin, r->note);
    if (r->counts && r->mark == ' ') add_reasons(l, r->counts);
}

/* ---- Loops ---- */

static void add_loop(const listing *l, const ts_profile_loop *loop) {
    const int64_t *v = loop->counts.values;
    char own[32], cycles[32], times[32];
    const int64_t limit = 100000000;
    begin_style(l, "0");
    size_t begin = l->out->length;
    ts_text_add(l->out, "%10s %5.1f %10s %10s ", grouped(own, loop->own_cycles, limit),
                ts_percent(loop->own_cycles, total_of(l)), grouped(cycles, v[TS_LINE_CYCLES], limit),
                grouped(times, v[TS_LINE_TIMES], limit));
    ts_text_add(l->out, "%8.1f  ", ts_fraction(v[TS_LINE_CYCLES], v[TS_LINE_TIMES]));
    if (loop->source && l->program->includes)
        ts_program_print_location(l->program, loop->source, loop->first_line, l->out);
    else
        ts_text_add(l->out, "%d", loop->first_line);
    if (loop->last_line > loop->first_line) ts_text_add(l->out, "-%d", loop->last_line);
    if (loop->locations > 1) ts_text_add(l->out, " in %d places", loop->locations);
    ts_text_add(l->out, "  %s", report_loop_text(l->out->arena, loop));
    end_row(l, begin, "");
}

/* Of those with any heat. */
static void add_loops(const listing *l) {
    const ts_profile *p = l->profile;
    int shown = report_hot_loops(p);
    if (shown == 0) return;
    ts_text_add(l->out, "\nhottest loops, by cycles of their own: without those of inner loops\n");
    ts_text_add(l->out, "%10s %5s %10s %10s %8s  %s\n", "own cycles", "%", "with inner", "turns", "a turn",
                "lines");
    for (int i = 0; i < shown; i++) add_loop(l, &p->loops[i]);
    if (p->loop_count > shown)
        ts_text_add(l->out, "%10s and %s\n", "",
                    ts_text_counted(l->out->arena, p->loop_count - shown, "other"));
}

/* ---- The whole ---- */

void ts_report_lines(const ts_run_result *result, bool colour, ts_text *out) {
    const ts_program *program = result->program;
    listing l = {program, result->profile, out, colour};
    add_loops(&l);
    if (!program->source) return;
    ts_text_add(
        out,
        "\ncycles by line: a bundle's is divided among its instructions; + sums up what is further in\n");
    ts_text_add(out, "%6s %6s %5s %6s %6s %6s %*s\n", "issued", "stall", "%", "times", "HBM B", "VMEM B",
                LINE_COLUMNS, "line");
    add_numbers(&l, &result->profile->total);
    ts_text_add(out, "       total\n");
    report_lines_walk(result, out->arena, add_line, &l);
}
