/* HLO: instructions that are broken over lines, as terminals, mails and people do. */
#include <string.h>

#include "hlo_private.h"

bool hlo_lacks_calls(const ts_hlo_instruction *i) {
    ts_span a = i->attributes;
    return ts_span_is(i->opcode, "while") &&
           (a.length == 0 || memmem(a.text, a.length, "condition=", 10) == NULL ||
            memmem(a.text, a.length, "body=", 5) == NULL);
}

bool hlo_begins_rest(char first) { return first == ',' || first == '{'; }

/* "name=value", not "name = ..". */
static bool is_attribute(const char *at, const char *end) {
    const char *word = at;
    while (word < end && (hlo_is_word(*word) || *word == '-')) word++;
    return word > at && end - word > 1 && *word == '=' && !hlo_is_space(word[1]);
}

bool hlo_is_rest(const char *at, const char *end, bool lacks_calls) {
    return (at < end && hlo_begins_rest(*at)) || (lacks_calls && is_attribute(at, end));
}

bool hlo_lacks_equals(ts_span held) { return memchr(held.text, '=', held.length) == NULL; }

/* Does the line begin something of its own? */
static bool is_beginning(const char *at, const char *end) {
    ts_hlo_instruction i;
    if (at == end || *at == '}') return true;
    if (memcmp(at, "HloModule", (size_t)(end - at) < 9 ? (size_t)(end - at) : 9) == 0) return true;
    return !is_attribute(at, end) && hlo_read_instruction(at, end, &i) != HLO_NOT_ONE;
}

/* What a text leaves open. */
typedef struct {
    int64_t braces, parentheses;
    bool quote;
} open_ends;

static open_ends scan(ts_span text) {
    open_ends o = {0};
    for (const char *at = text.text, *end = at + text.length; at < end; at++) {
        if (*at == '"') o.quote = !o.quote;
        if (o.quote) {
            at += *at == '\\';
            continue;
        }
        o.braces += (*at == '{') - (*at == '}');
        o.parentheses += (*at == '(') - (*at == ')');
    }
    return o;
}

/* Attributes have signs, or are the only word; a log's sentences often have none. */
static bool may_be_attribute(const char *at, const char *end) {
    for (const char *sign = at; sign < end; sign++)
        if (strchr("={}()[],\"", *sign) && *sign) return true;
    return memchr(at, ' ', (size_t)(end - at)) == NULL;
}

bool hlo_ends_held(ts_span held, const char *at, const char *end) {
    bool comma = end - at > 1 && at[1] == ',', closes = at < end && *at == '}';
    open_ends o = scan(held);
    if (hlo_lacks_equals(held)) return at == end || (ts_span_is(held, "ROOT") ? closes : *at != '=');
    if (o.quote) return is_beginning(at, end) || !memchr(at, '"', (size_t)(end - at));
    bool in_attribute = o.braces > 0 && o.parentheses <= 0;
    if (closes) return comma ? o.braces <= 0 : !in_attribute;
    return is_beginning(at, end) || (in_attribute && !may_be_attribute(at, end));
}
