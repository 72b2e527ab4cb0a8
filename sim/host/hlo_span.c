/* Spans of HLO text: shapes, lists and attributes, found without understanding them. */
#include "host/hlo.h"

#include <string.h>

#include "hlo_private.h"
#include "layout/dtype.h"

enum { LONGEST_TYPE = 16 };

#define EIGHT(kind) kind, kind, kind, kind, kind, kind, kind, kind
enum { NAMED = HLO_WORD | HLO_NAME };
const uint8_t hlo_bytes[256] = {
    ['\0'] = HLO_SPACE,
    ['\t'] = HLO_SPACE,
    ['\n'] = HLO_SPACE,
    ['\r'] = HLO_SPACE,
    [' '] = HLO_SPACE,
    ['"'] = HLO_QUOTE,
    ['('] = HLO_OPENS,
    [')'] = HLO_CLOSES,
    [','] = HLO_COMMA,
    ['-'] = HLO_NAME,
    ['.'] = HLO_NAME,
    ['0'] = EIGHT(NAMED),
    NAMED,
    NAMED,
    ['A'] = EIGHT(NAMED),
    EIGHT(NAMED),
    EIGHT(NAMED),
    NAMED,
    NAMED,
    ['['] = HLO_SQUARE,
    [']'] = HLO_SQUARE,
    ['_'] = NAMED,
    ['a'] = EIGHT(NAMED),
    EIGHT(NAMED),
    EIGHT(NAMED),
    NAMED,
    NAMED,
    ['{'] = HLO_OPENS,
    ['}'] = HLO_CLOSES,
    [0x80] = EIGHT(EIGHT(HLO_NAME)),
    EIGHT(EIGHT(HLO_NAME)),
};

bool ts_hlo_begins(ts_span span, const char *text) {
    size_t length = strlen(text);
    return span.length >= length && memcmp(span.text, text, length) == 0;
}

const char *hlo_skip_space(const char *at, const char *end) {
    for (;;) {
        at = hlo_skip(at, end, HLO_SPACE);
        if (end - at < 2 || at[0] != '/' || at[1] != '*') return at;
        const char *star = at + 2;
        while ((star = memchr(star, '*', (size_t)(end - star))) != NULL && star + 1 < end && star[1] != '/')
            star++;
        if (star == NULL || star + 1 >= end) return end;
        at = star + 2;
    }
}

ts_span ts_hlo_trim(ts_span span) {
    while (span.length > 0 && hlo_is_space(*span.text)) span.text++, span.length--;
    while (span.length > 0 && hlo_is_space(span.text[span.length - 1])) span.length--;
    return span;
}

ts_span ts_hlo_digits(ts_span text) {
    size_t length = 0;
    while (length < text.length && ts_is_digit(text.text[length])) length++;
    return (ts_span){text.text, length};
}

int64_t ts_hlo_number(ts_span digits) {
    int64_t number = 0;
    if (digits.length == 0 || digits.length > 18 || ts_hlo_digits(digits).length < digits.length) return -1;
    for (size_t i = 0; i < digits.length; i++) number = 10 * number + (digits.text[i] - '0');
    return number;
}

int64_t ts_hlo_stated_number(ts_span attributes, const char *key) {
    const char *found = memmem(attributes.text, attributes.length, key, strlen(key));
    const char *end = attributes.text + attributes.length;
    if (!found) return -1;
    for (found += strlen(key); found < end && strchr(" :{\"n\\", *found) && *found;) found++;
    return ts_hlo_number(ts_hlo_digits((ts_span){found, (size_t)(end - found)}));
}

const char *hlo_quote_end(const char *at, const char *end) {
    for (at++; at < end; at++)
        if (*at == '\\')
            at++;
        else if (*at == '"')
            return at + 1;
    return end;
}

enum { BRACKETS = HLO_OPENS | HLO_CLOSES | HLO_SQUARE };

static bool opens(char c) { return hlo_is(c, HLO_OPENS) || c == '['; }

const char *hlo_bracket_end(const char *at, const char *end) {
    int64_t depth = 0;
    for (; (at = hlo_find(at, end, BRACKETS)) < end; at++)
        if ((depth += opens(*at) ? 1 : -1) <= 0) return at + 1;
    return NULL;
}

bool ts_hlo_next(ts_span *rest, ts_span *item) {
    const char *at = rest->text, *end = at + rest->length, *from;
    int64_t depth = 0;
    from = at = hlo_skip_space(at, end);
    if (at >= end) return false;
    for (; (at = hlo_find(at, end, BRACKETS | HLO_COMMA)) < end && (*at != ',' || depth > 0); at++)
        if (*at != ',') depth += opens(*at) ? 1 : -1;
    *item = ts_hlo_trim((ts_span){from, (size_t)(at - from)});
    if (at < end) at++;
    *rest = (ts_span){at, (size_t)(end - at)};
    return true;
}

bool ts_hlo_item(ts_span list, int number, ts_span *item) {
    for (; ts_hlo_next(&list, item); number--)
        if (number == 0) return true;
    return false;
}

const char *ts_hlo_find(ts_span text, const char *label) {
    const char *at = memmem(text.text, text.length, label, strlen(label));
    return at ? at + strlen(label) : NULL;
}

/* One name=value of the attributes at a time. */
bool ts_hlo_attribute(ts_span attributes, const char *name, ts_span *value) {
    ts_span item;
    size_t length = strlen(name);
    if (attributes.length <= length) return false;
    const char *found = memmem(attributes.text, attributes.length, name, length), *at = attributes.text;
    if (found == NULL) return false;
    while (at < found && !hlo_is(*at, BRACKETS | HLO_QUOTE)) at++;
    if (at == found && at > attributes.text && (at[-1] == ',' || hlo_is_space(at[-1]))) /* at no depth */
        attributes.length -= (size_t)(found - attributes.text), attributes.text = found;
    while (ts_hlo_next(&attributes, &item)) {
        if (item.length <= length || memcmp(item.text, name, length) != 0 || item.text[length] != '=')
            continue;
        *value = ts_hlo_trim((ts_span){item.text + length + 1, item.length - length - 1});
        return true;
    }
    return false;
}

static bool is_type(const char *at, const char *end) {
    ts_dtype dtype;
    return at < end && ts_dtype_find(at, (size_t)(end - at), &dtype);
}

/* Behind a blank, what is no number is a message's remark. */
static bool begins_dims(const char *bracket, const char *end) {
    return end - bracket > 1 && (ts_is_digit(bracket[1]) || bracket[1] == '<' || bracket[1] == ']');
}

static bool type_before(const char *first, const char *bracket, const char *end, const char **type) {
    const char *behind = bracket;
    while (behind > first && behind[-1] == ' ') behind--;
    const char *at = behind;
    while (at > first && behind - at < LONGEST_TYPE && hlo_is_word(at[-1])) at--;
    if (at > first && (hlo_is_word(at[-1]) || at[-1] == '.' || at[-1] == '%')) return false;
    *type = at;
    return is_type(at, behind) && (behind == bracket || begins_dims(bracket, end));
}

/* Behind the bracket; NULL, and it is cut: none closes it. */
static const char *closed(const char *bracket, const char *end, bool *cut) {
    const char *behind = hlo_bracket_end(bracket, end);
    *cut = behind == NULL;
    return behind;
}

static const char *array_end(const char *bracket, const char *end, bool *cut) {
    const char *at = memchr(bracket, ']', (size_t)(end - bracket));
    if (at == NULL) return *cut = true, NULL;
    at++;
    const char *brace = hlo_skip_space(at, end);
    if (brace >= end || *brace != '{') return at;
    const char *first = hlo_skip_space(brace + 1, end);
    if (first < end && *first != ':' && !ts_is_digit(*first)) return at;
    return closed(brace, end, cut);
}

const char *ts_hlo_shape_end(const char *at, const char *end, bool *cut) {
    *cut = false;
    if (at < end && *at == '(') return closed(at, end, cut);
    const char *word = hlo_skip(at, end, HLO_WORD);
    const char *bracket = hlo_skip(word, end, HLO_SPACE);
    if (word == at || bracket >= end) return NULL;
    if (*bracket == '[' && (bracket == word || is_type(at, word))) return array_end(bracket, end, cut);
    if (*word != '(' || word != at + 1 || *at != 'b') return NULL;
    return closed(word, end, cut);
}

bool ts_hlo_find_shape(ts_span *rest, ts_span *shape) {
    const char *first = rest->text, *end = first + rest->length, *at = first, *type;
    bool cut;
    while (at < end && (at = memchr(at, '[', (size_t)(end - at))) != NULL) {
        if (type_before(first, at, end, &type)) {
            const char *close = array_end(at, end, &cut);
            if (close != NULL) {
                *shape = (ts_span){type, (size_t)(close - type)};
                *rest = (ts_span){close, (size_t)(end - close)};
                return true;
            }
        }
        at++;
    }
    return false;
}
