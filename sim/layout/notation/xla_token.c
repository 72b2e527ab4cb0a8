/* Tokens of XLA's shape notation. */
#include "xla_private.h"

#include <inttypes.h>
#include <string.h>

static const char *here(const xla_reader *r, size_t *left) {
    *left = r->cursor->source->length - r->cursor->at;
    return r->cursor->source->text + r->cursor->at;
}

static void skip_comment(xla_reader *r, const char *text, size_t left) {
    bool line = text[1] == '/';
    const char *end = line ? memchr(text, '\n', left) : memmem(text + 2, left - 2, "*/", 2);
    if (end != NULL) {
        r->cursor->at += (size_t)(end - text) + (line ? 1 : 2);
        return;
    }
    if (!line)
        ts_error_at(r->err, TS_ERROR_INPUT, r->cursor->source, r->cursor->at, "this comment does not end");
    r->cursor->at = r->cursor->source->length;
}

void xla_skip(xla_reader *r) {
    for (;;) {
        ts_cursor_skip_space(r->cursor);
        size_t left;
        const char *text = here(r, &left);
        if (left < 2 || text[0] != '/' || (text[1] != '/' && text[1] != '*')) return;
        skip_comment(r, text, left);
    }
}

int xla_peek(xla_reader *r) {
    xla_skip(r);
    return ts_cursor_peek(r->cursor);
}

bool xla_take(xla_reader *r, const char *text) {
    xla_skip(r);
    return ts_cursor_take(r->cursor, text);
}

bool xla_expect(xla_reader *r, const char *text) {
    xla_skip(r);
    return ts_cursor_expect(r->err, r->cursor, text);
}

bool xla_unexpected(xla_reader *r, const char *what) {
    xla_skip(r);
    return ts_cursor_unexpected(r->err, r->cursor, what);
}

static bool is_word(char c) {
    return ts_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
}

size_t xla_number_word(xla_reader *r, bool *integer) {
    xla_skip(r);
    size_t left, length = 0;
    const char *text = here(r, &left);
    if (left > 0 && text[0] == '-') length++;
    if (length == left || !ts_is_digit(text[length])) return 0;
    *integer = true;
    for (; length < left && is_word(text[length]); length++) *integer = *integer && ts_is_digit(text[length]);
    return length;
}

bool xla_read_int(xla_reader *r, const char *what, int64_t *value) {
    bool integer = false;
    size_t length = xla_number_word(r, &integer);
    if (length == 0) return xla_unexpected(r, what);
    if (integer) return ts_cursor_integer(r->err, r->cursor, what, value);
    r->cursor->token = r->cursor->at;
    return XLA_REFUSE(r, "found '%.*s', expected %s", ts_text_quoted(length),
                      r->cursor->source->text + r->cursor->at, what);
}

bool xla_read_size(xla_reader *r, const char *what, int64_t least, int64_t *value) {
    if (!xla_read_int(r, what, value)) return false;
    if (*value < least)
        return XLA_REFUSE(r, "found %" PRId64 ", expected %s of at least %" PRId64, *value, what, least);
    return true;
}
