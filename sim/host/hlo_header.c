/* HLO text: the header of a module, where it takes more than one line: "HloModule name, ..,
 * origin_recovery_table={", rows whose values are modules of their own between lines of one quote, "}", and
 * ",", "debug_attributes={", rows, "}". Source: XLA hlo_module.cc, HloModule::Print. By hand, lines are broken
 * anywhere in brackets. */
#include <string.h>

#include "hlo_reader_private.h"

enum { MODULE_WORD = 9 /* HloModule */ };

bool hlo_is_module(const char *at, const char *end) {
    return end - at > MODULE_WORD && memcmp(at, "HloModule", MODULE_WORD) == 0 &&
           hlo_is_space(at[MODULE_WORD]);
}

void hlo_hold_header(hlo_held *h, int64_t line, const char *at, const char *end) {
    hlo_hold(h, HLO_HOLDS_HEADER, line, at, end);
    h->depth = hlo_depth_of(at, end);
}

/* A quote alone, or with the comma behind it. */
static bool is_quote(const char *at, const char *end) {
    return *at == '"' && (end - at == 1 || (end - at == 2 && at[1] == ','));
}

/* "," or "name=value", behind the header's last line. */
static bool is_attribute(const char *at, const char *end) {
    const char *word = at;
    while (word < end && hlo_is_word(*word)) word++;
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

/* What it quotes is left out. */
hlo_answer hlo_header_goes_on(hlo_held *h, const hlo_line *line) {
    const char *at = line->at, *end = line->end;
    bool quote = at < end && is_quote(at, end);
    if (h->quoted) return h->quoted = !quote, HLO_ENDS_EARLY;
    if (at == end || !(h->depth > 0 ? is_row(at, end) : is_attribute(at, end))) return HLO_NOT_ONE;
    if (quote) return h->quoted = true, HLO_ENDS_EARLY;
    h->depth += hlo_depth_of(at, end);
    hlo_held_join(h, ' ', at, end);
    return HLO_ENDS_EARLY;
}

void hlo_header_tell(const hlo_held *h, hlo_teller *t) {
    const char *end = h->text.bytes + h->text.length,
               *name = hlo_skip_space(h->text.bytes + MODULE_WORD, end);
    const char *behind = name;
    while (behind < end && hlo_is_name(*behind)) behind++;
    ts_span rest = {behind, (size_t)(end - behind)};
    if (rest.length > 0 && *rest.text == ',') rest.text++, rest.length--;
    if (t->events->module)
        t->events->module(t->events->self, t->line, (ts_span){name, (size_t)(behind - name)}, rest);
}
