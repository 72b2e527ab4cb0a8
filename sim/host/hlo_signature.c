/* HLO text: the header of a computation, "ENTRY %name (parameter: shape, ..) -> shape {", which is one line of
 * any length that terminals and mails break. */
#include <string.h>

#include "hlo_reader_private.h"

/* [ENTRY] [%]name [(parameters) -> result] {, but for "module {" of StableHLO. */
bool hlo_take_computation(hlo_teller *t, const char *at, const char *end) {
    if (end[-1] != '{' || hlo_begins(at, end, "module {")) return false;
    bool entry = end - at > 6 && memcmp(at, "ENTRY", 5) == 0 && hlo_is_space(at[5]);
    if (entry) at = hlo_skip_space(at + 5, end);
    if (*at == '%') at++;
    const char *name = at;
    while (at < end && hlo_is_name(*at)) at++;
    ts_span span = {name, (size_t)(at - name)};
    at = hlo_skip_space(at, end);
    bool signature = at < end && *at == '(' && memmem(at, (size_t)(end - at), "->", 2) != NULL;
    if (at != end - 1 && !signature) return false;
    if (span.length == 0 && !entry) return false;
    hlo_tell_computation(t, span, entry);
    return true;
}

/* "()", "(word: shape" or "(word: (": what messages write in brackets is otherwise. */
static bool begins_parameters(const char *at, const char *end, bool marked) {
    bool cut;
    at = hlo_skip_space(at + 1, end);
    if (at == end || *at == ')') return marked;
    while (at < end && hlo_is_name(*at)) at++;
    if (at == end || *at != ':') return false;
    at = hlo_skip_space(at + 1, end);
    return at == end ? marked : *at == '(' || ts_hlo_shape_end(at, end, &cut) != NULL || cut;
}

static void add_row(hlo_held *h, const char *at, const char *end) {
    size_t length = (size_t)(end - at);
    h->depth += hlo_depth_of(at, end);
    h->opened = h->opened || memchr(at, '(', length) != NULL;
    h->arrow = h->arrow || memmem(at, length, "->", 2) != NULL;
}

bool hlo_hold_signature(hlo_held *h, int64_t line, const char *at, const char *end) {
    const char *first = at;
    bool entry = hlo_begins(at, end, "ENTRY ");
    if (entry) at = hlo_skip_space(at + 5, end);
    bool marked = entry || (at < end && *at == '%');
    if (at < end && *at == '%') at++;
    const char *name = at;
    while (at < end && hlo_is_name(*at)) at++;
    if (at == name && !entry) return false;
    at = hlo_skip_space(at, end);
    if (at == end ? !marked : *at != '(' || !begins_parameters(at, end, marked)) return false;
    hlo_hold(h, HLO_HOLDS_SIGNATURE, line, first, end);
    add_row(h, at, end);
    if (at == end || h->depth > 0 || end[-1] == ')' || h->arrow) return true;
    h->kind = HLO_HOLDS_NOTHING;
    return false;
}

/* May what is behind closed brackets, or none, go on with this? */
static bool goes_on_so(const hlo_held *h, const char *row) {
    if (!h->opened) return *row == '(' || *row == '{';
    if (!h->arrow) return *row == '-';
    return *row == '{' || h->text.bytes[h->text.length - 1] == '>';
}

hlo_answer hlo_signature_goes_on(hlo_held *h, const hlo_line *line) {
    const char *row = line->at, *end = line->end;
    bool other = row == end || *row == '}' || *row == '%' || memmem(row, (size_t)(end - row), " = ", 3);
    if (other || (h->depth <= 0 && !goes_on_so(h, row)) || !hlo_held_join(h, '\n', row, end))
        return HLO_NOT_ONE;
    add_row(h, row, end);
    return end[-1] == '{' && h->depth == 1 ? HLO_WHOLE : HLO_ENDS_EARLY;
}

void hlo_signature_tell(const hlo_held *h, hlo_teller *t) {
    const char *at = h->text.bytes, *end = at + h->text.length, *row_end;
    if (hlo_take_computation(t, at, end)) return;
    t->counts.kinds[TS_HLO_LITERAL] -= h->lines - 1; /* as which all but the first were counted */
    for (; at < end; at = row_end + 1, t->line++) {
        row_end = memchr(at, '\n', (size_t)(end - at));
        if (!row_end) row_end = end;
        hlo_tell_other(t, at, row_end);
    }
}
