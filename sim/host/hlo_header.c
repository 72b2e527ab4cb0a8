/* HLO text: the header of a module, where it takes more than one line: "HloModule name, ..,
 * origin_recovery_table={", rows whose values are modules of their own between lines of one quote, "}", and
 * ",", "debug_attributes={", rows, "}". Source: XLA hlo_module.cc, HloModule::Print. By hand, lines are
 * broken anywhere in brackets. */
#include <string.h>

#include "hlo_reader_private.h"

enum { MODULE_WORD = 9 /* HloModule */ };

bool hlo_is_module(const char *at, const char *end) {
    return hlo_begins(at, end, "HloModule") && (end - at == MODULE_WORD || hlo_is_space(at[MODULE_WORD]));
}

/* Is the name of the module in the next line? */
static bool lacks_name(const hlo_held *h) { return h->text.length == MODULE_WORD; }

/* Behind it, and behind the comma that may follow. */
static const char *skip_name(const char *at, const char *end) {
    at = hlo_skip(at, end, HLO_NAME);
    return at < end && *at == ',' ? at + 1 : at;
}

/* A quote alone, or with the comma behind it. */
static bool is_quote(const char *at, const char *end) {
    return *at == '"' && (end - at == 1 || (end - at == 2 && at[1] == ','));
}

/* "," or "name=value", behind the header's last line. */
static bool is_attribute(const char *at, const char *end) {
    const char *word = hlo_skip(at, end, HLO_WORD);
    return (*at == ',' && end - at == 1) || (word > at && end - word > 1 && *word == '=' && word[1] != ' ');
}

/* "name = ", but for "xla.sdy.meshes={mesh = #sdy.mesh<..>}" of an attribute. */
static bool assigns(const char *at, const char *end) {
    while ((at = memmem(at, (size_t)(end - at), " = ", 3)) != NULL)
        if ((at += 3) == end || *at != '#') return true;
    return false;
}

/* In brackets that are open; a line that begins something of its own says that the header was cut. */
static bool is_row(const char *at, const char *end) {
    bool opens = end[-1] == '{' && hlo_is_word(*at) && end[-2] != '=' && end[-2] != '{';
    return *at != '%' && !opens && !assigns(at, end) && !hlo_begins(at, end, "HloModule");
}

/* Where a computation begins in the line of a header, behind blanks that no comma is before; `end`: none
 * does. */
static const char *computation_in(const hlo_line *line, const char *from, int64_t depth) {
    const char *end = line->end;
    for (const char *at = from; (at = hlo_find(at, end, HLO_OPENS | HLO_CLOSES | HLO_SPACE)) < end; at++)
        if (hlo_is(*at, HLO_OPENS | HLO_CLOSES))
            depth += hlo_is(*at, HLO_OPENS) ? 1 : -1;
        else if (*at == ' ' && depth <= 0 && at[-1] != ',' && hlo_begins_computation(at + 1, end, line->next))
            return at + 1;
    return end;
}

const char *hlo_hold_header(hlo_held *h, int64_t line, hlo_line *first) {
    const char *name = hlo_skip_space(first->at + MODULE_WORD, first->end);
    const char *behind = hlo_line_cut(first, computation_in(first, skip_name(name, first->end), 0));
    hlo_hold(h, HLO_HOLDS_HEADER, line, first->at, first->end);
    h->depth = hlo_depth_of(first->at, first->end);
    return behind;
}

const char *hlo_header_cut(const hlo_held *h, hlo_line *line) {
    const char *from = lacks_name(h) ? skip_name(line->at, line->end) : line->at;
    bool whole = h->quoted || (from == line->at && hlo_begins_computation(from, line->end, line->next));
    return whole ? line->end : hlo_line_cut(line, computation_in(line, from, h->depth));
}

static bool is_rest(const hlo_held *h, const char *at, const char *end) {
    if (lacks_name(h)) return skip_name(at, end) == end || skip_name(at, end)[-1] == ',';
    return h->depth > 0 ? is_row(at, end) : is_attribute(at, end);
}

/* What it quotes is left out. */
hlo_answer hlo_header_goes_on(hlo_held *h, const hlo_line *line) {
    const char *at = line->at, *end = line->end;
    bool quote = at < end && is_quote(at, end);
    if (h->quoted) return h->quoted = !quote, HLO_ENDS_EARLY;
    if (at == end || !is_rest(h, at, end)) return HLO_NOT_ONE;
    if (quote) return h->quoted = true, HLO_ENDS_EARLY;
    h->depth += hlo_depth_of(at, end);
    hlo_held_join(h, ' ', at, end);
    return HLO_ENDS_EARLY;
}

void hlo_header_tell(const hlo_held *h, hlo_teller *t) {
    const char *end = h->text.bytes + h->text.length,
               *name = hlo_skip_space(h->text.bytes + MODULE_WORD, end);
    const char *behind = hlo_skip(name, end, HLO_NAME);
    ts_span rest = {behind, (size_t)(end - behind)};
    if (rest.length > 0 && *rest.text == ',') rest.text++, rest.length--;
    if (t->events->module)
        t->events->module(t->events->self, t->line, (ts_span){name, (size_t)(behind - name)}, rest);
}
