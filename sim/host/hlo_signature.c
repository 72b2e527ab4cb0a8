/* HLO text: the header of a computation, "ENTRY %name (parameter: shape, ..) -> shape {", which is one line
 * of any length that terminals and mails break. */
#include <string.h>

#include "hlo_reader_private.h"

/* "()", "(word: shape" or "(word: (": what messages write in brackets is otherwise. */
static bool begins_parameters(const char *at, const char *end, bool marked) {
    bool cut;
    at = hlo_skip_space(at + 1, end);
    if (at == end || *at == ')') return marked;
    at = hlo_skip(at, end, HLO_NAME);
    if (at == end || *at != ':') return false;
    at = hlo_skip_space(at + 1, end);
    return at == end ? marked : *at == '(' || ts_hlo_shape_end(at, end, &cut) != NULL || cut;
}

/* "[ENTRY] [%]name", and where the text goes on. */
typedef struct {
    ts_span name;
    bool entry, marked; /* with "ENTRY", or '%' */
} left_side;

static const char *read_left_side(const char *at, const char *end, left_side *left) {
    left->entry = hlo_begins(at, end, "ENTRY") && (end - at == 5 || hlo_is_space(at[5]));
    if (left->entry) at = hlo_skip_space(at + 5, end);
    left->marked = left->entry || (at < end && *at == '%');
    if (at < end && *at == '%') at++;
    const char *name = at;
    at = hlo_skip(at, end, HLO_NAME);
    left->name = (ts_span){name, (size_t)(at - name)};
    return hlo_skip_space(at, end);
}

/* Behind the "{" of "(parameters) -> result {", or of "{" alone; NULL: the text is none or goes on
 * otherwise. */
static const char *body_of(const char *at, const char *end) {
    bool cut;
    if (at < end && *at == '(') {
        at = hlo_bracket_end(at, end);
        at = at ? hlo_skip_space(at, end) : NULL;
        if (!at || !hlo_begins(at, end, "->")) return NULL;
        at = hlo_skip_space(at + 2, end);
        at = ts_hlo_shape_end(at, end, &cut);
        at = at ? hlo_skip_space(at, end) : NULL;
    }
    return at && at < end && *at == '{' ? at + 1 : NULL;
}

/* Is the text, which the next line may go on with, what a body begins with: an instruction, or its left
 * side? */
static bool is_body(const char *at, const char *end, char next) {
    ts_hlo_instruction i;
    at = hlo_skip_space(at, end);
    return at == end || hlo_read_instruction(at, end, &i) != HLO_NOT_ONE || hlo_is_left_side(at, end, next);
}

bool hlo_begins_computation(const char *at, const char *end, char next) {
    left_side left;
    at = read_left_side(at, end, &left);
    if (left.entry) return true;
    if (left.name.length == 0) return false;
    if (at == end) return left.marked || next == '{' || next == '(';
    if (*at == '(') return begins_parameters(at, end, left.marked);
    return *at == '{' && hlo_is_space(at[-1]) && is_body(at + 1, end, next);
}

/* [ENTRY] [%]name [(parameters) -> result] {, but for "module {" of StableHLO. */
const char *hlo_take_computation(hlo_teller *t, const hlo_line *line) {
    const char *at = line->at, *end = line->end;
    left_side left;
    if (hlo_begins(at, end, "module {")) return NULL;
    at = read_left_side(at, end, &left);
    if (left.name.length == 0 && !left.entry) return NULL;
    const char *body = body_of(at, end);
    if (!body || !is_body(body, end, line->next)) {
        bool signature = at < end && *at == '(' && memmem(at, (size_t)(end - at), "->", 2) != NULL;
        if (!signature || end[-1] != '{') return NULL;
        body = end;
    }
    hlo_tell_computation(t, left.name, left.entry);
    return hlo_skip_space(body, end);
}

static void add_row(hlo_held *h, const char *at, const char *end) {
    size_t length = (size_t)(end - at);
    h->depth += hlo_depth_of(at, end);
    h->opened = h->opened || memchr(at, '(', length) != NULL;
    h->arrow = h->arrow || memmem(at, length, "->", 2) != NULL;
}

bool hlo_hold_signature(hlo_held *h, int64_t number, const hlo_line *line) {
    left_side left;
    const char *end = line->end, *at = read_left_side(line->at, end, &left);
    bool alone = left.marked || line->next == '{' || line->next == '('; /* with the rest in the next line */
    if (left.name.length == 0 && !left.entry) return false;
    if (at == end ? !alone : *at != '(' || !begins_parameters(at, end, left.marked)) return false;
    hlo_hold(h, HLO_HOLDS_SIGNATURE, number, line->at, end);
    add_row(h, at, end);
    if (at == end || h->depth > 0 || end[-1] == ')' || h->arrow) return true;
    h->kind = HLO_HOLDS_NOTHING;
    return false;
}

static bool lacks_name(const hlo_held *h) { return ts_span_is(hlo_held_text(h), "ENTRY"); }

/* May what is behind closed brackets, or none, go on with this? */
static bool goes_on_so(const hlo_held *h, const char *row, const char *end) {
    left_side left;
    if (lacks_name(h)) return *row == '%' || hlo_is_name(*row);
    if (h->arrow) return *row == '{' || h->text.bytes[h->text.length - 1] == '>';
    if (h->opened) return *row == '-';
    read_left_side(h->text.bytes, h->text.bytes + h->text.length, &left);
    return *row == '{' || (*row == '(' && (left.marked || begins_parameters(row, end, false)));
}

const char *hlo_signature_cut(const hlo_held *h, hlo_line *line) {
    int64_t depth = h->depth;
    for (const char *at = line->at, *end = line->end; at < end; at++) {
        if (!hlo_is(*at, HLO_OPENS | HLO_CLOSES)) continue;
        bool body = *at == '{' && depth == 0 && (at == line->at || hlo_is_space(at[-1]));
        if (body && is_body(at + 1, end, line->next)) return hlo_line_cut(line, hlo_skip_space(at + 1, end));
        depth += hlo_is(*at, HLO_OPENS) ? 1 : -1;
    }
    return line->end;
}

hlo_answer hlo_signature_goes_on(hlo_held *h, const hlo_line *line) {
    const char *row = line->at, *end = line->end;
    if (row == end || *row == '}' || memmem(row, (size_t)(end - row), " = ", 3)) return HLO_NOT_ONE;
    if ((*row == '%' && !lacks_name(h)) || (h->depth <= 0 && !goes_on_so(h, row, end))) return HLO_NOT_ONE;
    if (!hlo_held_join(h, '\n', row, end)) return HLO_NOT_ONE;
    add_row(h, row, end);
    return end[-1] == '{' && h->depth == 1 ? HLO_WHOLE : HLO_ENDS_EARLY;
}

void hlo_signature_tell(const hlo_held *h, hlo_teller *t) {
    const char *at = h->text.bytes, *end = at + h->text.length, *row_end;
    if (hlo_take_computation(t, &(hlo_line){.at = at, .end = end})) return;
    t->counts.kinds[TS_HLO_LITERAL] -= h->lines - 1; /* as which all but the first were counted */
    for (; at < end; at = row_end + 1, t->line++) {
        row_end = memchr(at, '\n', (size_t)(end - at));
        if (!row_end) row_end = end;
        hlo_tell_other(t, at, row_end);
    }
}
