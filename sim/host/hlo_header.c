/* The header of a module, where it takes more than one line: "HloModule name, .., origin_recovery_table={", rows whose
 * values are modules of their own between lines of one quote, "}", and ",", "debug_attributes={", rows, "}".
 * Source: XLA hlo_module.cc, HloModule::Print. By hand, lines are broken anywhere in brackets. */
#include <string.h>

#include "hlo_private.h"

static int64_t depth_of(const char *at, const char *end) {
    int64_t depth = 0;
    while (at < end) {
        depth += (*at == '(' || *at == '{') - (*at == ')' || *at == '}');
        at = *at == '"' ? hlo_quote_end(at, end) : at + 1;
    }
    return depth;
}

void hlo_header_begin(hlo_header *header, const char *at, const char *end) {
    *header = (hlo_header){.here = true, .depth = depth_of(at, end)};
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

/* In brackets that are open; a line that begins something of its own says that the header was cut. */
static bool is_row(const char *at, const char *end) {
    bool opens = end[-1] == '{' && hlo_is_word(*at);
    return *at != '%' && !opens && !memmem(at, (size_t)(end - at), " = ", 3) &&
           !hlo_begins(at, end, "HloModule");
}

bool hlo_header_goes_on(hlo_header *header, const char *at, const char *end) {
    if (!header->here || header->quoted) {
        header->quoted = header->quoted && !(at < end && is_quote(at, end));
        return header->here;
    }
    header->here = at < end && (header->depth > 0 ? is_row(at, end) : is_attribute(at, end));
    if (!header->here) return false;
    header->quoted = is_quote(at, end);
    if (!header->quoted) header->depth += depth_of(at, end);
    return true;
}
