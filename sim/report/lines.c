/* The program with the cycles of its lines, as text. */
#include "report/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source_text.h"

enum { LOOPS_SHOWN = 10, PLAIN_SHOWN = 3, REASONS_SHOWN = 3, NOTE = 40 };
enum { NUMBERS = 40, LINE_COLUMNS = 4, INDENT = 2, DEEP = 4, DEEPEST = 10 }; /* columns, and depths */

/* Frames with less than one in so many cycles are one line, and stalls with less have no reason. */
enum { FOLD_PART = 1000, REASON_PART = 200 };

typedef struct {
    const ts_source *source;
    const report_source *text;
} known_source;

/* Where a frame is used. */
typedef struct {
    int parent, line, frame;
} frame_place;

typedef struct {
    const ts_program *program;
    const ts_profile *profile;
    frame_place *places;   /* sorted */
    known_source *sources; /* those met so far, NULL ends them */
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

static double percent(int64_t part, int64_t whole) {
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static int64_t total_of(const listing *l) { return l->profile->total.values[TS_LINE_CYCLES]; }

/* ---- Rows ---- */

static const report_source *find_source(listing *l, const ts_source *source) {
    known_source *known = l->sources;
    while (known->source && known->source != source) known++;
    if (!known->source) *known = (known_source){source, report_source_new(l->out->arena, source)};
    return known->text;
}

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
    if (v[TS_LINE_CYCLES] > 0) snprintf(part, sizeof part, "%.1f", percent(v[TS_LINE_CYCLES], total_of(l)));
    ts_text_add(l->out, "%6s %6s %5s %6s %6s %6s", compact(issued, v[TS_LINE_ISSUED]),
                compact(stalled, v[TS_LINE_STALLED]), part, compact(times, v[TS_LINE_TIMES]),
                compact(hbm, v[TS_LINE_HBM_BYTES]), compact(vmem, v[TS_LINE_VMEM_BYTES]));
}

/* Ends the row with the note; what does not fit before that is cut. */
static void end_row(const listing *l, size_t begin, const char *note) {
    size_t room = TS_TEXT_COLUMNS - strlen(note);
    if (l->out->length - begin > room) {
        l->out->length = begin + room - 2;
        ts_text_add(l->out, "..");
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

typedef struct {
    const ts_line_counts *counts; /* NULL: the line has no instructions */
    const ts_source *source;
    int line, depth;
    char mark;        /* '+': a sum of what is below, '>': of what is not shown, ' ' */
    const char *note; /* behind the text */
} row;

static void add_row(listing *l, const row *r) {
    static const ts_line_counts none = {0};
    begin_style(l, style_of(l, r->counts ? r->counts : &none));
    size_t begin = l->out->length;
    if (r->counts)
        add_numbers(l, r->counts);
    else
        ts_text_add(l->out, "%*s", NUMBERS, "");
    ts_text_add(l->out, " %*d %c%*s", LINE_COLUMNS, r->line, r->mark, indent_of(r->depth), "");
    report_source_line(find_source(l, r->source), r->line, l->out);
    end_row(l, begin, r->note);
}

/* What a line that stalled waited for, the longest first. */
static void add_reasons(listing *l, const row *r) {
    bool shown[TS_STALL_COUNT] = {false};
    for (int i = 0; i < REASONS_SHOWN; i++) {
        int most = -1;
        for (int stall = 0; stall < TS_STALL_COUNT; stall++) {
            bool more = most < 0 || r->counts->stalls[stall] > r->counts->stalls[most];
            if (!shown[stall] && more) most = stall;
        }
        int64_t cycles = r->counts->stalls[most];
        char digits[32];
        if (cycles * REASON_PART < total_of(l) || cycles == 0) return;
        shown[most] = true;
        begin_style(l, "2");
        size_t begin = l->out->length;
        ts_text_add(l->out, "%6s %6s %5.1f %*s", "", compact(digits, cycles), percent(cycles, total_of(l)),
                    NUMBERS - 19 + LINE_COLUMNS + 2, "");
        ts_text_add(l->out, "^ %s", ts_stall_get(most)->meaning);
        end_row(l, begin, "");
    }
}

/* ---- Bodies ---- */

static int compare_places(const void *x, const void *y) {
    const frame_place *a = x, *b = y;
    int parents = (a->parent > b->parent) - (a->parent < b->parent),
        lines = (a->line > b->line) - (a->line < b->line);
    return parents ? parents : lines ? lines : (a->frame > b->frame) - (a->frame < b->frame);
}

/* The first at the line, or behind it. */
static const frame_place *find_frames(const listing *l, int parent, int line) {
    frame_place wanted = {parent, line, -1};
    const frame_place *low = l->places, *high = low + l->program->frame_count;
    while (low < high) {
        const frame_place *middle = low + (high - low) / 2;
        if (compare_places(middle, &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const listing *l, const frame_place *p, int parent, int line) {
    return p < l->places + l->program->frame_count && p->parent == parent && p->line == line;
}

/* Lines of a body that are printed. */
typedef struct {
    const ts_source *source;
    int first, end, frame, depth;
} body;

typedef enum { TEXT_NONE, TEXT_OPENS, TEXT_ELSE, TEXT_END, TEXT_MACRO, TEXT_OTHER } text_kind;

/* What a line without instructions does to those behind it; nothing can be executed of any other directive. */
static text_kind kind_of(listing *l, const ts_source *source, int line) {
    static const struct {
        const char *word;
        text_kind kind;
    } words[] = {{".for", TEXT_OPENS}, {".if", TEXT_OPENS}, {".loop", TEXT_OPENS},
                 {".else", TEXT_ELSE}, {".end", TEXT_END},  {".macro", TEXT_MACRO}};
    ts_text text;
    ts_text_init(&text, l->out->arena);
    report_source_line(find_source(l, source), line, &text);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i].word);
        bool ends = text.bytes[strnlen(text.bytes, length)] == '\0' || text.bytes[length] == ' ';
        if (strncmp(text.bytes, words[i].word, length) == 0 && ends) return words[i].kind;
    }
    bool marks = strspn(text.bytes, "{};") == text.length; /* or nothing */
    return marks || text.bytes[0] == '.' ? TEXT_NONE : TEXT_OTHER;
}

/* The .end of the block that the line opens; *others: how many lines in it could be executed. At `end` if it goes on
 * behind that. */
static int end_of_block(listing *l, const ts_source *source, int line, int end, int *others) {
    int depth = 0;
    for (*others = 0; line < end; line++) {
        text_kind kind = kind_of(l, source, line);
        depth += (kind == TEXT_OPENS || kind == TEXT_MACRO) - (kind == TEXT_END);
        *others += kind == TEXT_OTHER;
        if (depth == 0) break;
    }
    return line;
}

static void add_others(listing *l, const body *b, const int *lines, int count) {
    for (int i = 0; i < count && count <= PLAIN_SHOWN; i++)
        add_row(l, &(row){NULL, b->source, lines[i], b->depth, ' ', ""});
    if (count <= PLAIN_SHOWN) return;
    begin_style(l, "2");
    size_t begin = l->out->length;
    ts_text_add(l->out, "%*s..  %*s%d lines", NUMBERS + LINE_COLUMNS - 1, "", indent_of(b->depth), "", count);
    end_row(l, begin, "");
}

/* A block of which nothing is in the program is one row. */
static void add_block(listing *l, const body *b, int line, int lines) {
    char note[32];
    snprintf(note, sizeof note, "  .. %d line%s", lines, lines == 1 ? "" : "s");
    add_row(l, &(row){NULL, b->source, line, b->depth, ' ', note});
}

/* Lines first .. end - 1, without instructions: what repeats and chooses; of the others a few, or how many there are.
 * What follows is as deep in as these leave it. A macro is shown where it is called. */
static void add_plain(listing *l, body *b, int first, int end) {
    int lines[PLAIN_SHOWN], count = 0, others;
    for (int line = first; line < end; line++) {
        text_kind kind = kind_of(l, b->source, line);
        if (kind == TEXT_OTHER && count < PLAIN_SHOWN) lines[count] = line;
        count += kind == TEXT_OTHER;
        if (kind == TEXT_NONE || kind == TEXT_OTHER) continue;
        add_others(l, b, lines, count);
        count = 0;
        int last =
            kind == TEXT_OPENS || kind == TEXT_MACRO ? end_of_block(l, b->source, line, end, &others) : end;
        if (last < end && kind == TEXT_OPENS && others > 0) add_block(l, b, line, others);
        if (last < end) {
            line = last;
            continue;
        }
        b->depth -= kind != TEXT_OPENS;
        if (kind != TEXT_END) add_row(l, &(row){NULL, b->source, line, b->depth, ' ', ""});
        b->depth += kind != TEXT_END;
    }
    add_others(l, b, lines, count);
}

static void add_body(listing *l, body b);

/* Instructions that stand for the loop itself are shown where it ends. */
static void add_end(listing *l, int number, int depth) {
    const ts_program_frame *frame = &l->program->frames[number];
    const ts_profile_line *own = ts_profile_find(l->profile, number, frame->line);
    row r = {&own->counts, frame->source, frame->end_line, depth, ' ', ""};
    add_row(l, &r);
    add_reasons(l, &r);
}

static void add_frame(listing *l, int number, int depth) {
    const ts_program_frame *frame = &l->program->frames[number];
    const ts_line_counts *counts = &l->profile->frames[number];
    int64_t cycles = counts->values[TS_LINE_CYCLES];
    bool loop = frame->kind == TS_FRAME_LOOP, folded = cycles == 0 || cycles * FOLD_PART < total_of(l);
    char note[NOTE] = "";
    const char *slash = strrchr(frame->body->name, '/');
    const char *name = slash ? slash + 1 : frame->body->name;
    if (!loop && frame->body == frame->source)
        snprintf(note, sizeof note, "  -> %d", frame->first_line);
    else if (!loop)
        snprintf(note, sizeof note, "  -> %.20s:%d", name, frame->first_line);
    add_row(l, &(row){counts, frame->source, frame->line, depth, folded ? '>' : '+', note});
    if (folded) return;
    add_body(l, (body){frame->body, frame->first_line + loop, frame->end_line, number, depth + 1});
    if (loop) add_end(l, number, depth);
}

/* What stands at a line, if anything does; returns the line behind it. */
static int add_line(listing *l, const body *b, int line) {
    const ts_profile_line *own = ts_profile_find(l->profile, b->frame, line);
    int next = own ? line + 1 : line;
    if (own) {
        row r = {&own->counts, b->source, line, b->depth, ' ', ""};
        add_row(l, &r);
        add_reasons(l, &r);
    }
    for (const frame_place *p = find_frames(l, b->frame, line); is_at(l, p, b->frame, line); p++) {
        const ts_program_frame *frame = &l->program->frames[p->frame];
        add_frame(l, p->frame, b->depth);
        next = frame->kind == TS_FRAME_LOOP ? frame->end_line + 1 : line + 1;
    }
    return next;
}

static bool has_rows(const listing *l, const body *b, int line) {
    return ts_profile_find(l->profile, b->frame, line) ||
           is_at(l, find_frames(l, b->frame, line), b->frame, line);
}

static void add_body(listing *l, body b) {
    int plain = b.first;
    for (int line = b.first; line < b.end;) {
        if (has_rows(l, &b, line)) {
            add_plain(l, &b, plain, line);
            line = plain = add_line(l, &b, line);
        } else {
            line++;
        }
    }
    add_plain(l, &b, plain, b.end);
}

/* ---- Loops ---- */

static void add_loop(listing *l, const ts_profile_loop *loop) {
    const int64_t *v = loop->counts.values;
    char own[32], cycles[32], turns[32];
    const int64_t limit = 100000000;
    begin_style(l, "0");
    size_t begin = l->out->length;
    ts_text_add(l->out, "%10s %5.1f %10s %10s ", grouped(own, loop->own_cycles, limit),
                percent(loop->own_cycles, total_of(l)), grouped(cycles, v[TS_LINE_CYCLES], limit),
                grouped(turns, v[TS_LINE_TIMES], limit));
    ts_text_add(l->out, "%8.1f  ",
                v[TS_LINE_TIMES] > 0 ? (double)v[TS_LINE_CYCLES] / (double)v[TS_LINE_TIMES] : 0);
    if (loop->source && l->program->includes)
        ts_program_print_place(l->program, loop->source, loop->first_line, l->out);
    else
        ts_text_add(l->out, "%d", loop->first_line);
    if (loop->last_line > loop->first_line) ts_text_add(l->out, "-%d", loop->last_line);
    if (loop->places > 1) ts_text_add(l->out, " in %d places", loop->places);
    ts_text_add(l->out, "  ");
    if (loop->source) report_source_line(find_source(l, loop->source), loop->first_line, l->out);
    end_row(l, begin, "");
}

/* Of those with any heat. */
static void add_loops(listing *l) {
    const ts_profile *p = l->profile;
    int shown = 0;
    while (shown < p->loop_count && shown < LOOPS_SHOWN &&
           p->loops[shown].own_cycles * FOLD_PART >= total_of(l))
        shown++;
    if (shown == 0) return;
    ts_text_add(l->out, "\nhottest loops, by cycles of their own: without those of inner loops\n");
    ts_text_add(l->out, "%10s %5s %10s %10s %8s  %s\n", "own cycles", "%", "with inner", "turns", "a turn",
                "lines");
    for (int i = 0; i < shown; i++) add_loop(l, &p->loops[i]);
    if (p->loop_count > shown) ts_text_add(l->out, "%10s and %d others\n", "", p->loop_count - shown);
}

/* ---- The whole ---- */

void ts_report_lines(const ts_run_result *result, bool colour, ts_text *out) {
    const ts_program *program = result->program;
    listing l = {program,
                 result->profile,
                 TS_NEW_ARRAY(out->arena, frame_place, program->frame_count),
                 TS_NEW_ARRAY(out->arena, known_source, program->frame_count + 2),
                 out,
                 colour};
    for (int i = 0; i < program->frame_count; i++)
        l.places[i] = (frame_place){program->frames[i].parent, program->frames[i].line, i};
    qsort(l.places, (size_t)program->frame_count, sizeof *l.places, compare_places);
    add_loops(&l);
    if (!program->source) return;
    ts_text_add(
        out,
        "\ncycles by line: a bundle's is divided among its instructions; + sums up what is further in\n");
    ts_text_add(out, "%6s %6s %5s %6s %6s %6s %*s\n", "issued", "stall", "%", "times", "HBM B", "VMEM B",
                LINE_COLUMNS, "line");
    add_numbers(&l, &result->profile->total);
    ts_text_add(out, "       total\n");
    int end = report_source_count(find_source(&l, program->source)) + 1;
    add_body(&l, (body){program->source, 1, end, -1, 0});
}
