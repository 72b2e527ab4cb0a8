/* StableHLO and MHLO: statements that are broken over lines, as people do to read them. */
#include <stdint.h>
#include <string.h>

#include "hlo_mlir_private.h"

/* What a text leaves open. */
typedef struct {
    int64_t depth, braces; /* brackets, and of them "{" */
    bool typed;            /* " : " outside all of them: what follows are types */
} open_ends;

enum { OPENS = 1, CLOSES, QUOTES, COLON };
static const uint8_t marks[256] = {
    ['('] = OPENS,  ['['] = OPENS,  ['{'] = OPENS,  ['<'] = OPENS,  [')'] = CLOSES,
    [']'] = CLOSES, ['}'] = CLOSES, ['>'] = CLOSES, ['"'] = QUOTES, [':'] = COLON};

static open_ends scan(const char *at, const char *end) {
    open_ends o = {0};
    for (; at < end; at++) {
        uint8_t mark = marks[(uint8_t)*at];
        if (mark == OPENS) {
            o.depth++;
            o.braces += *at == '{';
        } else if (mark == CLOSES && (*at != '>' || at[-1] != '-')) {
            o.depth--;
            o.braces -= *at == '}';
        } else if (mark == QUOTES) {
            at = hlo_quote_end(at, end) - 1;
        } else if (mark == COLON) {
            o.typed |= o.depth <= 0 && at + 1 < end && at[1] == ' ';
        }
    }
    return o;
}

/* "%a =", "%a:2 =", "%a, %b =", but not "%a = %b", of a loop. */
static bool is_operation(const char *at, const char *end) {
    while (at < end && *at == '%') {
        for (at++; at < end && (*at == ':' || hlo_is_name(*at));) at++;
        at = hlo_skip_space(at, end);
        if (at < end && *at == '=') {
            at = hlo_skip_space(at + 1, end);
            return at == end || *at != '%';
        }
        if (at == end || *at != ',') return false;
        at = hlo_skip_space(at + 1, end);
    }
    return false;
}

static bool is_function(const char *at, const char *end) {
    return hlo_begins(at, end, "func.func") || hlo_begins(at, end, "\"func.func\"");
}

/* "return %a : ..", or the word alone. */
static bool is_return(const char *at, const char *end, bool *alone) {
    static const char *const words[] = {"return", "func.return", "stablehlo.return", "mhlo.return"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i]);
        if (!hlo_begins(at, end, words[i])) continue;
        *alone = at + length == end;
        return *alone || hlo_is_space(at[length]);
    }
    return *alone = false;
}

/* A comma, "=", ":", "->" or "applies" at its end: there is more. */
static bool dangles(const char *at, const char *end) {
    static const char applies[] = " applies"; /* "stablehlo.add across .." of a reduction */
    char last = end[-1];
    size_t length = sizeof applies - 1;
    if ((size_t)(end - at) > length && memcmp(end - length, applies, length) == 0) return true;
    return last == ',' || last == '=' || last == ':' || (last == '>' && end - at > 1 && end[-2] == '-');
}

/* A mesh of Shardy's, which has no types. */
static bool is_mesh(const char *at, const char *end) { return hlo_begins(at, end, "sdy.mesh "); }

/* May a line that begins so go on with this one, whose brackets are closed? An operation without its types
 * goes on with any; 'l': of "loc(..)". */
static bool may_follow(const char *at, const char *end, bool typed, char next) {
    bool alone;
    if (next == ':' || next == ',' || next == '-' || next == 'l') return true;
    if (is_function(at, end) || is_mesh(at, end)) return next == '{';
    if (is_return(at, end, &alone)) return alone && next == '%';
    return *at == '%' && !typed && next != '\n' && next != '}' && next != '^' && next != '#';
}

/* "stablehlo.send ..", "\"mhlo.send\"(..": an operation without results, or "cond {" and the like. */
static bool is_statement(const char *at, const char *end) {
    const char *word = at += *at == '"', *dot = NULL;
    for (; word < end && (hlo_is_word(*word) || *word == '.'); word++)
        if (*word == '.') dot = word;
    if (dot == NULL) return word + 2 == end && hlo_begins(word, end, " {");
    return dot > at && word < end && !ts_is_digit(*at) && *word != '=';
}

/* "{" at its end: of what follows it has a region, or attributes. */
static bool opens_region(const char *at, const char *end) {
    if (end[-1] != '{' || end[-2] == '<') return false;
    const char *equal = memchr(at, '=', (size_t)(end - at));
    if (end[-2] == '(' || *at != '%' || !equal) return true;
    const char *word = hlo_skip_space(equal + 1, end);
    bool ours = *word == '"' || hlo_begins(word, end, "stablehlo.") || hlo_begins(word, end, "mhlo.");
    return !ours || scan(at, end - 1).typed;
}

bool hlo_mlir_is_broken(const char *at, const char *end, char next) {
    bool alone, block = *at == '^';
    if (!block && !is_operation(at, end) && !is_function(at, end) && !is_return(at, end, &alone) &&
        !is_mesh(at, end))
        return false;
    if (opens_region(at, end) || (end - at > 2 && hlo_begins(end - 3, end, "..."))) return false;
    open_ends o = scan(at, end);
    if (next == '/') return true; /* of a comment: what follows it is not known */
    return o.depth > 0 || (dangles(at, end) && !block) || may_follow(at, end, o.typed, next);
}

static bool continues(ts_span held, const char *at, const char *end) {
    bool alone;
    if (at == end || *at == '^' || is_function(at, end) || is_return(at, end, &alone) ||
        hlo_begins(at, end, "module") || hlo_begins(at, end, "HloModule"))
        return false;
    open_ends o = scan(held.text, held.text + held.length);
    bool loop = o.depth > 0 && end[-1] == '='; /* "%a =" in brackets is a loop's */
    if (!loop && is_operation(at, end)) return false;
    if (*at == '}') return o.braces > 0;
    if (o.depth > 0 || (dangles(held.text, held.text + held.length) && *held.text != '^')) return true;
    if ((*at == '-' && !hlo_begins(at, end, "->")) || (*at == 'l' && o.typed && !hlo_begins(at, end, "loc(")))
        return false;
    return !is_statement(at, end) && may_follow(held.text, held.text + held.length, o.typed, *at);
}

hlo_answer hlo_statement_goes_on(hlo_held *h, const hlo_line *line) {
    const ts_span held = hlo_held_text(h);
    const char first = line->at < line->end ? *line->at : '\n';
    bool goes_on =
        hlo_mlir_is_broken(held.text, held.text + held.length, first) && /* known behind a comment */
        continues(held, line->at, line->end);
    if (!goes_on || h->lines == TS_HLO_JOINED_LINES || !hlo_held_join(h, ' ', line->at, line->end))
        return HLO_NOT_ONE;
    bool more = hlo_mlir_is_broken(h->text.bytes, h->text.bytes + h->text.length, line->next);
    return more ? HLO_ENDS_EARLY : HLO_WHOLE;
}
