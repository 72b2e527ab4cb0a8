/* The program by line with its cycles: which lines are told, and how deep they are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "run_private.h"

enum { PLAIN_SHOWN = 3 };

/* Frames with less than one in so many cycles are one line, as loops are without heat; stalls with less have
 * no reason. */
enum { FOLD_PART = 1000, REASON_PART = 200 };

typedef struct {
    const ts_source *source;
    const report_source *text;
} known_source;

/* Where a frame is used. */
typedef struct {
    int parent, line, frame;
} frame_location;

typedef struct {
    const ts_program *program;
    const ts_profile *profile;
    frame_location *locations; /* sorted */
    known_source *sources;     /* those met so far, NULL ends them */
    ts_arena *arena;
    report_line_taker *take;
    void *self;
} listing;

static int64_t total_of(const listing *l) { return l->profile->total.values[TS_LINE_CYCLES]; }

static const report_source *find_source(listing *l, const ts_source *source) {
    known_source *known = l->sources;
    while (known->source && known->source != source) known++;
    if (!known->source) *known = (known_source){source, report_source_new(l->arena, source)};
    return known->text;
}

typedef struct {
    const ts_line_counts *counts; /* NULL: the line has no instructions */
    const ts_source *source;
    int line, depth;
    char mark; /* as in report_line */
    const char *note;
} row;

static void add_row(listing *l, const row *r) {
    const char *text = report_source_line(l->arena, find_source(l, r->source), r->line);
    l->take(l->self, &(report_line){r->counts, text, r->note, r->line, r->depth, r->mark});
}

int report_line_reasons(const ts_profile *profile, const ts_line_counts *counts,
                        int reasons[REPORT_REASONS]) {
    bool shown[TS_STALL_COUNT] = {false};
    int count = 0;
    for (; count < REPORT_REASONS; count++) {
        int most = -1;
        for (int stall = 0; stall < TS_STALL_COUNT; stall++) {
            bool more = most < 0 || counts->stalls[stall] > counts->stalls[most];
            if (!shown[stall] && more) most = stall;
        }
        int64_t cycles = counts->stalls[most];
        if (cycles == 0 || cycles * REASON_PART < profile->total.values[TS_LINE_CYCLES]) break;
        shown[most] = true;
        reasons[count] = most;
    }
    return count;
}

int report_hot_loops(const ts_profile *p) {
    int hot = 0;
    while (hot < p->loop_count && hot < REPORT_LOOPS &&
           p->loops[hot].own_cycles * FOLD_PART >= p->total.values[TS_LINE_CYCLES])
        hot++;
    return hot;
}

/* ---- Bodies ---- */

static int compare_locations(const void *x, const void *y) {
    const frame_location *a = x, *b = y;
    int parents = ts_order(a->parent, b->parent), lines = ts_order(a->line, b->line);
    return parents ? parents : lines ? lines : ts_order(a->frame, b->frame);
}

/* The first frame of `parent` at or after the line. */
static const frame_location *find_frames(const listing *l, int parent, int line) {
    frame_location wanted = {parent, line, -1};
    const frame_location *low = l->locations, *high = low + l->program->frame_count;
    while (low < high) {
        const frame_location *middle = low + (high - low) / 2;
        if (compare_locations(middle, &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const listing *l, const frame_location *p, int parent, int line) {
    return p < l->locations + l->program->frame_count && p->parent == parent && p->line == line;
}

/* Lines of a body that are printed. */
typedef struct {
    const ts_source *source;
    int first, end, frame, depth;
} body;

typedef enum { TEXT_NONE, TEXT_OPENS, TEXT_ELSE, TEXT_END, TEXT_MACRO, TEXT_OTHER } text_kind;

/* What a line without instructions does to those behind it; nothing can be executed of any other
 * directive. */
static text_kind kind_of(listing *l, const ts_source *source, int line) {
    static const struct {
        const char *word;
        text_kind kind;
    } words[] = {{".for", TEXT_OPENS}, {".if", TEXT_OPENS}, {".loop", TEXT_OPENS},
                 {".else", TEXT_ELSE}, {".end", TEXT_END},  {".macro", TEXT_MACRO}};
    const char *text = report_source_line(l->arena, find_source(l, source), line);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i].word);
        bool ends = text[strnlen(text, length)] == '\0' || text[length] == ' ';
        if (strncmp(text, words[i].word, length) == 0 && ends) return words[i].kind;
    }
    bool marks = text[strspn(text, "{};")] == '\0'; /* or nothing */
    return marks || text[0] == '.' ? TEXT_NONE : TEXT_OTHER;
}

/* The .end of the block that the line opens; *others: how many lines in it could be executed. At `end` if it
 * goes on behind that. */
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
    const char *note = ts_text_format(l->arena, "%d lines", count);
    l->take(l->self, &(report_line){.text = "", .note = note, .depth = b->depth, .mark = ' '});
}

/* A block of which nothing is in the program is one row. */
static void add_block(listing *l, const body *b, int line, int lines) {
    const char *note = ts_text_format(l->arena, "  .. %s", ts_text_counted(l->arena, lines, "line"));
    add_row(l, &(row){NULL, b->source, line, b->depth, ' ', note});
}

/* Lines first .. end - 1, without instructions: what repeats and chooses; of the others a few, or how many
 * there are. What follows is as deep in as these leave it. A macro is shown where it is called. */
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
    add_row(l, &(row){&own->counts, frame->source, frame->end_line, depth, ' ', ""});
}

static void add_frame(listing *l, int number, int depth) {
    const ts_program_frame *frame = &l->program->frames[number];
    const ts_line_counts *counts = &l->profile->frames[number];
    int64_t cycles = counts->values[TS_LINE_CYCLES];
    bool loop = frame->kind == TS_FRAME_LOOP, folded = cycles == 0 || cycles * FOLD_PART < total_of(l);
    const char *note = "", *slash = strrchr(frame->body->name, '/');
    const char *name = ts_text_one_line(l->arena, slash ? slash + 1 : frame->body->name);
    if (!loop && frame->body == frame->source)
        note = ts_text_format(l->arena, "  -> %d", frame->first_line);
    else if (!loop)
        note = ts_text_format(l->arena, "  -> %.20s:%d", name, frame->first_line);
    add_row(l, &(row){counts, frame->source, frame->line, depth, folded ? '>' : '+', note});
    if (folded) return;
    add_body(l, (body){frame->body, frame->first_line + loop, frame->end_line, number, depth + 1});
    if (loop) add_end(l, number, depth);
}

/* What stands at a line, if anything does; returns the line behind it. */
static int add_line(listing *l, const body *b, int line) {
    const ts_profile_line *own = ts_profile_find(l->profile, b->frame, line);
    int next = own ? line + 1 : line;
    if (own) add_row(l, &(row){&own->counts, b->source, line, b->depth, ' ', ""});
    for (const frame_location *p = find_frames(l, b->frame, line); is_at(l, p, b->frame, line); p++) {
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

/* ---- The whole ---- */

void report_lines_walk(const ts_run_result *result, ts_arena *arena, report_line_taker *take, void *self) {
    const ts_program *program = result->program;
    listing l = {.program = program, .profile = result->profile, .arena = arena, .take = take, .self = self};
    l.locations = TS_NEW_ARRAY(arena, frame_location, program->frame_count);
    l.sources = TS_NEW_ARRAY(arena, known_source, program->frame_count + 2);
    for (int i = 0; i < program->frame_count; i++)
        l.locations[i] = (frame_location){program->frames[i].parent, program->frames[i].line, i};
    qsort(l.locations, (size_t)program->frame_count, sizeof *l.locations, compare_locations);
    int end = report_source_count(find_source(&l, program->source)) + 1;
    add_body(&l, (body){program->source, 1, end, -1, 0});
}
