/* HLO text as a stream: what each line is. */
#include "host/hlo.h"

#include <limits.h>
#include <string.h>

#include "hlo_mlir_private.h"

struct ts_hlo_reader {
    hlo_lines lines;
    hlo_teller teller;
    hlo_held held;
    hlo_table table;
    hlo_mlir mlir;
    bool is_mlir;
    ts_text unescaped; /* the lines of one with "\n" between them */
    bool is_unescaped; /* these are looked at */
    bool in_comment;   /* of several lines */
};

const ts_hlo_counts *ts_hlo_get_counts(const ts_hlo_reader *r) { return &r->teller.counts; }

/* ---- A line that goes on with nothing ---- */

/* What takes a line may leave some of it: *behind is where that begins. */
static void take_instruction(ts_hlo_reader *r, hlo_line *line, hlo_answer found, ts_hlo_instruction *i,
                             const char **behind) {
    const char *last = i->attributes.text ? i->attributes.text + i->attributes.length : line->end;
    if (last < line->end) *behind = hlo_line_cut(line, hlo_skip_space(last, line->end));
    bool literal = found == HLO_ENDS_EARLY && hlo_is_literal(i);
    bool goes_on = found == HLO_ENDS_EARLY ? !literal : hlo_may_go_on(i, line->next);
    r->table.open = false;
    if (goes_on && !line->shortened) return hlo_hold_instruction(&r->held, &r->teller, found, i, line);
    if (literal) hlo_hold_literal(&r->held, i);
    i->line = r->teller.line;
    hlo_tell_instruction(&r->teller, i);
}

static bool take_module(ts_hlo_reader *r, hlo_line *line, const char **behind) {
    bool alone = line->end - line->at == sizeof "HloModule" - 1; /* with its name in the next line */
    if (!hlo_is_module(line->at, line->end) || (alone && !hlo_is_name(line->next))) return false;
    hlo_tell_end(&r->teller);
    const char *rest = hlo_hold_header(&r->held, r->teller.line, line);
    if (rest > line->end) *behind = rest;
    r->is_mlir = false;
    return true;
}

static bool take_computation(ts_hlo_reader *r, const hlo_line *line, const char **behind) {
    const char *rest = hlo_take_computation(&r->teller, line);
    if (rest && rest < line->end) *behind = rest;
    return rest != NULL;
}

static bool take_statement(ts_hlo_reader *r, const hlo_line *line) {
    if (!r->is_mlir && !hlo_mlir_is_dialect(line->at, line->end)) return false;
    if (hlo_mlir_is_broken(line->at, line->end, line->next)) {
        hlo_hold(&r->held, HLO_HOLDS_STATEMENT, r->teller.line, line->at, line->end);
        r->held.marks = line->marks;
        return true;
    }
    bool is_one = hlo_mlir_tell(&r->mlir, &r->teller, line->at, line->end);
    r->is_mlir |= is_one;
    return is_one;
}

/* Of a computation; behind it, in the same line, another may begin. */
static bool take_bracket(ts_hlo_reader *r, const hlo_line *line, const char **behind) {
    const char *rest = hlo_skip_space(line->at + 1, line->end);
    if (*line->at != '}') return false;
    if (!r->teller.in_computation) {
        hlo_tell_kind(&r->teller, TS_HLO_LITERAL);
    } else {
        bool more = rest < line->end &&
                    (hlo_is_module(rest, line->end) || hlo_begins_computation(rest, line->end, line->next));
        hlo_tell_end(&r->teller);
        if (more) *behind = rest;
    }
    return true;
}

static bool take_blank(ts_hlo_reader *r, const hlo_line *line) {
    if (!hlo_line_is_blank(line)) return false;
    hlo_tell_kind(&r->teller, TS_HLO_BLANK);
    if (line->at < line->end && *line->at == '=') hlo_tell_message(&r->teller, line->at, line->end);
    return true;
}

static bool take_comment(ts_hlo_reader *r, const hlo_line *line) {
    if (!hlo_line_is_comment(line)) return false;
    hlo_tell_kind(&r->teller, TS_HLO_COMMENT);
    return true;
}

/* A name, to which the next line has the rest. */
static bool take_left_side(ts_hlo_reader *r, const hlo_line *line) {
    static const ts_hlo_instruction none;
    if (!r->teller.in_computation || !hlo_is_left_side(line->at, line->end, line->next)) return false;
    hlo_hold_instruction(&r->held, &r->teller, HLO_ENDS_EARLY, &none, line);
    return true;
}

static bool take_escaped(ts_hlo_reader *r, const hlo_line *line);

static void take_fresh(ts_hlo_reader *r, hlo_line *line, bool may_be_statement, const char **behind) {
    const char *at = line->at, *end = line->end;
    ts_hlo_instruction i;
    if (*at == '#') return hlo_tell_kind(&r->teller, TS_HLO_COMMENT);
    if (r->is_mlir && may_be_statement && take_statement(r, line)) return;
    hlo_answer found = hlo_read_instruction(at, end, &i);
    if (found == HLO_NOT_ONE) {
        if (take_escaped(r, line) || take_bracket(r, line, behind) || take_module(r, line, behind) ||
            take_computation(r, line, behind) || hlo_table_take(&r->table, &r->teller, at, end) ||
            (may_be_statement && take_statement(r, line)) || take_left_side(r, line))
            return;
        found = hlo_read_labelled(at, end, &i);
    }
    if (found != HLO_NOT_ONE)
        take_instruction(r, line, found, &i, behind);
    else if (!hlo_hold_signature(&r->held, r->teller.line, line))
        hlo_tell_other(&r->teller, at, end);
}

/* ---- What is held ---- */

static void give_statement(ts_hlo_reader *r, char next) {
    const char *at = r->held.text.bytes, *end = at + r->held.text.length, *behind = end;
    hlo_line line = {.at = at, .end = end, .next = next};
    if (hlo_mlir_tell(&r->mlir, &r->teller, at, end))
        r->is_mlir = true;
    else if (r->held.lines == 1)
        take_fresh(r, &line, false, &behind);
    else
        behind = at;
    if (behind < end) hlo_tell_other(&r->teller, behind, end);
}

static void give_instruction(ts_hlo_reader *r) {
    const char *at = r->held.text.bytes;
    ts_hlo_instruction i;
    hlo_answer found = hlo_instruction_read(&r->held, &i);
    if (found == HLO_NOT_ONE) return hlo_tell_other(&r->teller, at, at + r->held.text.length);
    if (found == HLO_ENDS_EARLY && hlo_is_literal(&i)) hlo_hold_literal(&r->held, &i);
    i.line = r->teller.line;
    hlo_tell_instruction(&r->teller, &i);
}

/* What is held is all there is of it; `next` is what the next line begins with. */
static void give_held(ts_hlo_reader *r, char next) {
    const int64_t now = r->teller.line;
    const hlo_held_kind kind = r->held.kind;
    r->teller.line = r->held.line;
    r->held.kind = HLO_HOLDS_NOTHING;
    if (kind == HLO_HOLDS_HEADER) hlo_header_tell(&r->held, &r->teller);
    if (kind == HLO_HOLDS_SIGNATURE) hlo_signature_tell(&r->held, &r->teller);
    if (kind == HLO_HOLDS_STATEMENT) give_statement(r, next);
    if (kind == HLO_HOLDS_INSTRUCTION) give_instruction(r);
    r->teller.line = now;
}

/* Where others begin behind the first instruction of a text; `held`: of what goes on in it. */
static const char *others_in(const ts_hlo_reader *r, const char *at, const char *end,
                             const hlo_open_ends *held) {
    const bool in_computation = r->teller.in_computation;
    if (r->is_mlir || !(in_computation || held)) return end;
    return hlo_next_instruction(held, at, end, in_computation);
}

/* Cuts the line behind what it has, from there on, of what is held; returns where the rest begins. */
static const char *cut_behind(const ts_hlo_reader *r, hlo_line *line, const char *from,
                              const hlo_open_ends *held) {
    const char *behind = others_in(r, from, line->end, held);
    if (r->teller.in_computation) behind = hlo_closing_bracket(held, from, behind);
    return hlo_line_cut(line, behind);
}

/* The line goes on with what is held, up to *behind. HLO_WHOLE: no more may come. */
static hlo_answer join_held(ts_hlo_reader *r, hlo_line *line, const char **behind) {
    hlo_held *h = &r->held;
    *behind = line->end;
    if (h->kind == HLO_HOLDS_HEADER) {
        *behind = hlo_header_cut(h, line);
        return hlo_header_goes_on(h, line);
    }
    if (h->kind == HLO_HOLDS_SIGNATURE) {
        *behind = hlo_signature_cut(h, line);
        return hlo_signature_goes_on(h, line);
    }
    if (h->kind == HLO_HOLDS_STATEMENT) return hlo_statement_goes_on(h, line);
    if (h->kind == HLO_HOLDS_LITERAL) {
        *behind = cut_behind(r, line, hlo_literal_end(h, line), &(hlo_open_ends){0});
        return hlo_literal_goes_on(h, line);
    }
    if (!hlo_instruction_goes_on(h, line)) return HLO_NOT_ONE;
    *behind = cut_behind(r, line, line->at, &h->open);
    return hlo_instruction_join(h, line);
}

/* True: that was so, or the line is a comment. */
static bool take_held(ts_hlo_reader *r, hlo_line *line, const char **behind) {
    const char first = line->at < line->end ? *line->at : '\n';
    if (r->held.kind == HLO_HOLDS_NOTHING) return false;
    if (r->held.kind >= HLO_HOLDS_STATEMENT && take_comment(r, line)) return *behind = line->end, true;
    hlo_answer found = join_held(r, line, behind);
    if (found != HLO_NOT_ONE) hlo_tell_kind(&r->teller, TS_HLO_LITERAL);
    if (found != HLO_ENDS_EARLY) give_held(r, found == HLO_WHOLE ? line->next : first);
    return found != HLO_NOT_ONE;
}

/* ---- Lines ---- */

static void take_stripped(ts_hlo_reader *r, hlo_line *line) {
    const char *const end = line->end, *behind;
    const char next = line->next;
    while (true) {
        if (!take_held(r, line, &behind)) {
            line->end = end;
            line->next = next;
            if (take_blank(r, line) || take_comment(r, line)) return;
            behind = hlo_line_cut(line, others_in(r, line->at, end, NULL));
            take_fresh(r, line, true, &behind);
        }
        if (behind == end) return;
        line->at = behind;
        line->end = end;
        line->next = next;
    }
}

static void take_dropped(ts_hlo_reader *r, int64_t lines) {
    r->teller.counts.lines += lines;
    r->teller.counts.kinds[TS_HLO_OLD] += lines;
}

static void take_line(void *self, hlo_line *line) {
    ts_hlo_reader *r = self;
    take_dropped(r, line->dropped);
    r->teller.line = ++r->teller.counts.lines;
    r->teller.counts.long_lines += line->shortened;
    if (r->teller.line == 1) line->at += ts_text_mark(line->at, (size_t)(line->end - line->at));
    /* Of a statement's other lines no more marks than of its first: ">" closes a bracket, too. */
    const int marks = r->held.kind == HLO_HOLDS_STATEMENT ? r->held.marks : INT_MAX;
    const bool within = r->in_comment;
    hlo_line_strip(line, marks, &r->in_comment);
    if (line->at == line->end && (within || r->in_comment))
        hlo_tell_kind(&r->teller, TS_HLO_COMMENT);
    else
        take_stripped(r, line);
}

/* They are counted as lines. */
static bool take_escaped(ts_hlo_reader *r, const hlo_line *line) {
    if (r->is_unescaped || !hlo_has_escapes(line->at, line->end)) return false;
    r->is_unescaped = true;
    r->unescaped.length = 0;
    hlo_add_unescaped(&r->unescaped, line->at, line->end);
    r->teller.counts.lines--; /* this one, which is the first of them */
    const char *at = r->unescaped.bytes, *end = at + r->unescaped.length;
    for (const char *row_end; at < end; at = row_end + 1) {
        row_end = memchr(at, '\n', (size_t)(end - at));
        char next = row_end ? hlo_first_byte(row_end + 1, end) : line->next;
        if (!row_end) row_end = end;
        take_line(r, &(hlo_line){.at = at, .end = row_end, .next = next});
    }
    r->is_unescaped = false;
    return true;
}

ts_hlo_reader *ts_hlo_new(ts_arena *arena, const ts_hlo_events *events) {
    ts_hlo_reader *r = TS_NEW(arena, ts_hlo_reader);
    r->teller.events = events;
    r->held.text = ts_text_begin(arena);
    r->unescaped = ts_text_begin(arena);
    hlo_lines_begin(&r->lines, arena, r, take_line);
    hlo_mlir_begin(&r->mlir, arena);
    return r;
}

void ts_hlo_feed(ts_hlo_reader *r, const char *bytes, size_t length) {
    r->teller.counts.bytes += (int64_t)length;
    hlo_lines_feed(&r->lines, bytes, length);
}

/* The text ends: in a signature, whose shapes are of no message, or in a literal, which is cut. */
static void cut_held(ts_hlo_reader *r) {
    hlo_held *h = &r->held;
    if (h->kind == HLO_HOLDS_LITERAL) r->teller.counts.cut_instructions++;
    if (h->kind != HLO_HOLDS_SIGNATURE || h->depth <= 0) return;
    h->kind = HLO_HOLDS_NOTHING;
    r->teller.counts.unended_computations++;
    hlo_tell_kind(&r->teller, TS_HLO_LITERAL);
}

void ts_hlo_finish(ts_hlo_reader *r) {
    hlo_lines_finish(&r->lines);
    take_dropped(r, r->lines.dropped);
    cut_held(r);
    give_held(r, '\n');
    r->teller.counts.unended_computations += r->teller.in_computation;
    r->teller.counts.unended_comments += r->in_comment;
    hlo_tell_end(&r->teller);
}
