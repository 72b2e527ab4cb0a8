/* The header of a module, where it takes more than one line: "HloModule name, .., origin_recovery_table={",
 * rows whose values are modules of their own between lines of one quote, "}", and ",", "debug_attributes={",
 * rows, "}". Source: XLA hlo_module.cc, HloModule::Print. By hand, lines are broken anywhere in brackets.
 * That of a computation, "ENTRY %name (parameter: shape, ..) -> shape {", is one line of any length, which
 * terminals and mails break. */
#include <string.h>

#include "hlo_private.h"

void hlo_header_begin(hlo_header *header, const char *at, const char *end) {
    *header = (hlo_header){.here = true, .depth = hlo_depth_of(at, end)};
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

bool hlo_header_goes_on(hlo_header *header, const char *at, const char *end) {
    if (!header->here || header->quoted) {
        header->quoted = header->quoted && !(at < end && is_quote(at, end));
        return header->here;
    }
    header->here = at < end && (header->depth > 0 ? is_row(at, end) : is_attribute(at, end));
    if (!header->here) return false;
    header->quoted = is_quote(at, end);
    if (!header->quoted) header->depth += hlo_depth_of(at, end);
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

static void add_row(hlo_signature *signature, const char *at, const char *end) {
    size_t length = (size_t)(end - at);
    signature->depth += hlo_depth_of(at, end);
    signature->opened = signature->opened || memchr(at, '(', length) != NULL;
    signature->arrow = signature->arrow || memmem(at, length, "->", 2) != NULL;
}

bool hlo_opens_signature(hlo_signature *signature, const char *at, const char *end) {
    bool entry = hlo_begins(at, end, "ENTRY ");
    if (entry) at = hlo_skip_space(at + 5, end);
    bool marked = entry || (at < end && *at == '%');
    if (at < end && *at == '%') at++;
    const char *name = at;
    while (at < end && hlo_is_name(*at)) at++;
    if (at == name && !entry) return false;
    at = hlo_skip_space(at, end);
    *signature = (hlo_signature){0};
    if (at == end) return marked;
    if (*at != '(' || !begins_parameters(at, end, marked)) return false;
    add_row(signature, at, end);
    return signature->depth > 0 || end[-1] == ')' || signature->arrow;
}

/* May what is behind closed brackets, or none, go on with this? */
static bool goes_on_so(const hlo_signature *signature, const char *row) {
    if (!signature->opened) return *row == '(' || *row == '{';
    return signature->arrow ? *row == '{' || row[-2] == '>' : *row == '-';
}

hlo_answer hlo_read_signature(hlo_signature *signature, const char *row, const char *end) {
    bool other = row == end || *row == '}' || *row == '%' || memmem(row, (size_t)(end - row), " = ", 3);
    if (other || (signature->depth <= 0 && !goes_on_so(signature, row))) return HLO_NOT_ONE;
    add_row(signature, row, end);
    return end[-1] == '{' && signature->depth == 1 ? HLO_WHOLE : HLO_ENDS_EARLY;
}
