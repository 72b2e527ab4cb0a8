/* HLO: instructions that are broken over lines, as terminals, mails and people do. */
#include <string.h>

#include "hlo_reader_private.h"

bool hlo_lacks_calls(const ts_hlo_instruction *i) {
    ts_span a = i->attributes;
    return ts_span_is(i->opcode, "while") &&
           (a.length == 0 || memmem(a.text, a.length, "condition=", 10) == NULL ||
            memmem(a.text, a.length, "body=", 5) == NULL);
}

/* ", name=value", or axes of "replica_groups=mesh['x'=2] {'x'}". */
static bool begins_rest(char first) { return first == ',' || first == '{'; }

bool hlo_may_go_on(const ts_hlo_instruction *i, char next) { return begins_rest(next) || hlo_lacks_calls(i); }

/* "name=value", not "name = ..". */
static bool is_attribute(const char *at, const char *end) {
    const char *word = at;
    while (word < end && (hlo_is_word(*word) || *word == '-')) word++;
    return word > at && end - word > 1 && *word == '=' && !hlo_is_space(word[1]);
}

/* Does the line go on with one that could end before it? Where calls are lacking so does "name=value", not
 * "name = ..". */
static bool is_rest(const hlo_line *line, bool lacks_calls) {
    return line->at < line->end &&
           (begins_rest(*line->at) || (lacks_calls && is_attribute(line->at, line->end)));
}

/* Is a name all of it, or "ROOT"? */
static bool lacks_equals(ts_span held) { return memchr(held.text, '=', held.length) == NULL; }

/* Does the line begin something of its own? */
static bool is_beginning(const char *at, const char *end) {
    ts_hlo_instruction i;
    if (at == end || *at == '}') return true;
    if (memcmp(at, "HloModule", (size_t)(end - at) < 9 ? (size_t)(end - at) : 9) == 0) return true;
    return !is_attribute(at, end) && hlo_read_instruction(at, end, &i) != HLO_NOT_ONE;
}

static void scan_on(hlo_open_ends *o, const char *at, const char *end) {
    for (; at < end; at++) {
        if (*at == '"') o->quote = !o->quote;
        if (o->quote) {
            at += *at == '\\';
            continue;
        }
        o->braces += (*at == '{') - (*at == '}');
        o->parentheses += (*at == '(') - (*at == ')');
    }
}

/* Attributes have signs, or are the only word; a log's sentences often have none. */
static bool may_be_attribute(const char *at, const char *end) {
    for (const char *sign = at; sign < end; sign++)
        if (strchr("={}()[],\"", *sign) && *sign) return true;
    return memchr(at, ' ', (size_t)(end - at)) == NULL;
}

/* Does the line end one that lacks something? "}" alone ends a computation where operands were cut, "}," does
 * not. A quote that is cut off is none that goes on. */
static bool ends_held(const hlo_held *h, const char *at, const char *end) {
    const ts_span held = hlo_held_text(h);
    bool comma = end - at > 1 && at[1] == ',', closes = at < end && *at == '}';
    const hlo_open_ends o = h->open;
    if (lacks_equals(held)) return at == end || (ts_span_is(held, "ROOT") ? closes : *at != '=');
    if (o.quote) return is_beginning(at, end) || !memchr(at, '"', (size_t)(end - at));
    bool in_attribute = o.braces > 0 && o.parentheses <= 0;
    if (closes) return comma ? o.braces <= 0 : !in_attribute;
    return is_beginning(at, end) || (in_attribute && !may_be_attribute(at, end));
}

/* ---- What is held ---- */

bool hlo_is_literal(const ts_hlo_instruction *i) { return i->cut && ts_span_is(i->opcode, "constant"); }

void hlo_hold_literal(hlo_held *h, ts_hlo_instruction *i) {
    i->cut = false;
    h->kind = HLO_HOLDS_LITERAL;
    h->depth = 1 + hlo_depth_of(i->operands.text, i->operands.text + i->operands.length);
    if (h->depth <= 0) h->kind = HLO_HOLDS_NOTHING;
}

const char *hlo_literal_end(const hlo_held *h, const hlo_line *line) {
    int64_t depth = h->depth;
    for (const char *at = line->at; (at = hlo_find(at, line->end, HLO_OPENS | HLO_CLOSES)) < line->end; at++)
        if ((depth += hlo_is(*at, HLO_OPENS) ? 1 : -1) == 0) return at + 1;
    return line->end;
}

hlo_answer hlo_literal_goes_on(hlo_held *h, const hlo_line *line) {
    ts_hlo_instruction i;
    if (hlo_read_instruction(line->at, line->end, &i) != HLO_NOT_ONE) return HLO_NOT_ONE;
    h->depth += hlo_depth_of(line->at, line->end);
    return h->depth > 0 ? HLO_ENDS_EARLY : HLO_WHOLE;
}

void hlo_hold_instruction(hlo_held *h, const hlo_teller *t, hlo_answer found, const ts_hlo_instruction *i,
                          const hlo_line *first) {
    hlo_hold(h, HLO_HOLDS_INSTRUCTION, t->line, first->at, first->end);
    h->whole = found == HLO_WHOLE;
    h->lacks = hlo_lacks_calls(i);
    h->sure = t->in_computation || *first->at == '%';
    scan_on(&h->open, first->at, first->end);
}

bool hlo_instruction_goes_on(const hlo_held *h, const hlo_line *line) {
    size_t length = (size_t)(line->end - line->at);
    if (h->counted == TS_HLO_JOINED_LINES - 1 || h->text.length + 1 + length > TS_HLO_LINE_BYTES)
        return false;
    return h->whole ? is_rest(line, h->lacks) : !ends_held(h, line->at, line->end);
}

hlo_answer hlo_instruction_read(const hlo_held *h, ts_hlo_instruction *i) {
    const char *at = h->text.bytes, *end = at + h->text.length;
    hlo_answer found = hlo_read_instruction(at, end, i);
    return found == HLO_NOT_ONE ? hlo_read_labelled(at, end, i) : found;
}

/* Does the last line, of many, leave brackets open, whatever the instruction is? Of a constant, no more is
 * held; "...": no more follows. */
static bool is_within(const hlo_held *h, const hlo_line *line) {
    const size_t length = (size_t)(line->end - line->at);
    return h->sure && (h->open.parentheses > 0 || h->open.braces > 0) &&
           !hlo_says_more(line->at, line->end) && !memmem(line->at, length, "constant", 8);
}

hlo_answer hlo_instruction_join(hlo_held *h, const hlo_line *line) {
    ts_hlo_instruction i;
    hlo_held_join(h, ' ', line->at, line->end);
    scan_on(&h->open, line->at, line->end);
    h->whole = false;
    if (is_within(h, line)) return HLO_ENDS_EARLY;
    h->counted++;
    if (hlo_is_left_side(h->text.bytes, h->text.bytes + h->text.length, '=')) return HLO_ENDS_EARLY;
    hlo_answer found = hlo_instruction_read(h, &i);
    h->whole = found == HLO_WHOLE;
    h->lacks = hlo_lacks_calls(&i);
    bool more = h->whole ? hlo_may_go_on(&i, line->next) : found == HLO_ENDS_EARLY && !hlo_is_literal(&i);
    return more ? HLO_ENDS_EARLY : HLO_WHOLE;
}

/* ---- Several in a line ---- */

/* A line, and what is open where it was looked at last, with the lines before. */
typedef struct {
    const char *at, *end, *seen;
    hlo_open_ends open;
} wrapped_line;

/* Never before where it was asked. */
static bool is_outside(wrapped_line *line, const char *at) {
    if (at > line->seen) scan_on(&line->open, line->seen, at);
    line->seen = at;
    return !line->open.quote && line->open.braces + line->open.parentheses <= 0;
}

/* Where the left side begins that ends there, behind other text and outside brackets; NULL: none does. */
static const char *left_side_of(wrapped_line *line, const char *end) {
    while (end > line->at && hlo_is_space(end[-1])) end--;
    const char *name = end;
    while (name > line->at && hlo_is_name(name[-1])) name--;
    if (name == end || ts_is_digit(*name)) return NULL;
    if (name > line->at && name[-1] == '%') name--;
    if (name - line->at >= 5 && memcmp(name - 5, "ROOT ", 5) == 0) name -= 5;
    return name > line->at && name[-1] == ' ' && is_outside(line, name) ? name : NULL;
}

/* The same of one that goes on in the next line: by name alone only in a computation, where no prose is. What
 * the next line begins with does not matter, as it may not be there yet. */
static const char *last_left_side(wrapped_line *line, bool in_computation) {
    bool ends_in_equals = line->end > line->at && line->end[-1] == '=';
    return ends_in_equals || in_computation ? left_side_of(line, line->end - ends_in_equals) : NULL;
}

/* The next " = ", which few lines have more than one of; NULL: there is none. */
static const char *find_equals(const char *at, const char *end) {
    const char *line = at;
    while ((at = memchr(at, '=', (size_t)(end - at))) != NULL) {
        if (at > line && at[-1] == ' ' && end - at > 1 && at[1] == ' ') return at - 1;
        at++;
    }
    return NULL;
}

const char *hlo_closing_bracket(const hlo_open_ends *held, const char *at, const char *end) {
    wrapped_line line = {at, end, at, *held};
    for (const char *bracket = at; (bracket = memchr(bracket, '}', (size_t)(end - bracket))); bracket++)
        if (bracket > at && hlo_is_space(bracket[-1]) && is_outside(&line, bracket)) return bracket;
    return end;
}

const char *hlo_next_instruction(const hlo_open_ends *held, const char *at, const char *end,
                                 bool in_computation) {
    ts_hlo_instruction i;
    wrapped_line line = {at, end, at, held ? *held : (hlo_open_ends){0}};
    const char *equals = find_equals(at, end), *next;
    if (equals && !held) equals = find_equals(equals + 2, end);
    for (; equals; equals = next) {
        const char *name = left_side_of(&line, equals);
        next = find_equals(equals + 2, end);
        if (name && hlo_read_instruction(name, next ? next : end, &i) != HLO_NOT_ONE) return name;
    }
    const char *last = last_left_side(&line, in_computation);
    return last ? last : end;
}
