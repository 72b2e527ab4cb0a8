/* Where the assembler goes on behind an error, and what follows from one. */
#include <string.h>

#include "assembler.h"

static bool names_bad(const assembler *as, const token *at, const token *end) {
    for (; at < end; at++) {
        const char *dot = memchr(at->text, '.', at->length);
        size_t length = dot != NULL ? (size_t)(dot - at->text) : at->length;
        const symbol *named = at->kind == TOKEN_NAME ? scope_find(as->names, at->text, length) : NULL;
        if (named != NULL && named->class == SYMBOL_BAD) return true;
    }
    return false;
}

/* Keeps the error of a statement, unless an earlier one led to it. */
static void settle(assembler *as, const token *begin, const token *end) {
    const token *unknown = scope_take_unknown(as->global);
    if (!as->fatal && (names_bad(as, begin, end) || (unknown != NULL && as->blind))) ts_error_clear(&as->now);
    keep_error(as);
    if (unknown != NULL) scope_spoil(as->global, unknown);
}

/* ---- Where to go on ---- */

/* The end of a line, not the ';' of a bundle. */
static bool ends_row(const token *at) {
    return token_ends_line(at) && (at->length == 0 || at->text[0] == '\n');
}

const token *bundle_end(const token *brace) {
    int depth = 0;
    for (const token *at = brace;; at++) {
        bool fresh = at > brace && ends_row(at - 1);
        if (at->kind == TOKEN_END || (fresh && (at->kind == TOKEN_DIRECTIVE || token_is(at, '{')))) return at;
        depth += token_is(at, '{') - token_is(at, '}');
        if (depth == 0) return at;
    }
}

static const token *line_end(const token *at, const token *stop) {
    while (at < stop && !token_ends_line(at)) at++;
    return at;
}

static const token *statement_end(const token *begin, const token *stop) {
    if (!token_is(begin, '{')) return line_end(begin, stop);
    const token *end = bundle_end(begin);
    return token_is(end, '}') ? line_end(end, stop) : end;
}

static const token *behind_labels(const token *at) {
    while (at->kind == TOKEN_NAME && token_is(at + 1, ':')) at += 2;
    return at;
}

const token *recover(assembler *as, const token *begin, const token **at, const token *stop) {
    if (as->stopped) return NULL;
    begin = behind_labels(begin);
    *at = statement_end(begin, stop);
    settle(as, begin, *at);
    return begin;
}

bool recover_instruction(assembler *as, const token *begin, const token **at) {
    int depth = 0;
    const token *end = begin;
    for (; depth > 0 ? !ends_row(end) : !token_ends_line(end) && !token_is(end, '}'); end++)
        depth += token_is(end, '{') - token_is(end, '}');
    *at = end;
    settle(as, begin, end);
    return !as->stopped;
}
