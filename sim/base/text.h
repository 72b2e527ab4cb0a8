/* Text: a growing buffer, a cursor for hand-written parsers, and the nearest name ("did you mean"). */
#ifndef TILESIM_BASE_TEXT_H
#define TILESIM_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"

/* Text that grows in an arena; `bytes` always ends in NUL. */
typedef struct {
    ts_arena *arena;
    char *bytes;
    size_t length, capacity;
} ts_text;

ts_text ts_text_begin(ts_arena *arena); /* empty */
void ts_text_add(ts_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ts_text_add_list(ts_text *text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
/* One that is written at once. */
const char *ts_text_format(ts_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ts_text_add_bytes(ts_text *text, const char *bytes, size_t length);
void ts_text_add_char(ts_text *text, char c);
void ts_text_add_integers(ts_text *text, const int64_t *values, int count); /* "8,128" */
void ts_text_add_tuple(ts_text *text, const int64_t *values, int count);    /* "(8,128)" */
/* The bytes of the UTF-8 character (RFC 3629) that `text`, which ends in NUL, begins with; 0: it is none. */
size_t ts_text_utf8_bytes(const char *text);
bool ts_text_is_utf8(const char *text);
/* Adds it, or U+FFFD in place of a byte that begins none; returns what follows. */
const char *ts_text_add_character(ts_text *text, const char *content);
int ts_text_characters(const char *text);
/* A text of at most `most` characters, at least 2: the last two of what was longer are "..". */
const char *ts_text_cut(ts_arena *arena, const char *text, int most);
/* A name from outside as it stands in a line of text: '?' in place of control bytes, as in errors. The same
 * where there are none. */
const char *ts_text_one_line(ts_arena *arena, const char *name);
/* As the content of XML and HTML, in UTF-8. */
void ts_text_add_escaped(ts_text *text, const char *content);
const char *ts_text_escaped(ts_arena *arena, const char *content);
void ts_text_clear(ts_text *text);
/* What reports for people fit into. */
enum { TS_TEXT_COLUMNS = 100 };
/* Lines of what is there that have more than `columns` go on in the next, four columns further in than they
 * begin, or than what their label is of; they end at spaces only. */
void ts_text_wrap(ts_text *text, size_t columns);
/* "a, b or c". */
void ts_text_add_choices(ts_text *text, const char *const *words, int count);
/* Ends the line that begins at byte `begin`: as many of the words as TS_TEXT_COLUMNS has room for, " .." for
 * others. */
void ts_text_end_line(ts_text *text, size_t begin, const char *words);

static inline bool ts_is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
static inline bool ts_is_digit(int c) { return c >= '0' && c <= '9'; }
/* Of ASCII: what may move a terminal's cursor. */
static inline bool ts_is_control(char c) { return (unsigned char)c < ' ' || c == 0x7f; }
/* Of a hexadecimal digit; 16: it is none. */
static inline int ts_hex_value(int c) {
    if (ts_is_digit(c)) return c - '0';
    int letter = c | 32;
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : 16;
}
/* Bytes of UTF-8's byte order mark, which editors may put before a text: 3, or 0. */
static inline size_t ts_text_mark(const char *text, size_t length) {
    return length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}
/* Are these `length` bytes the word? */
static inline bool ts_text_is(const char *bytes, size_t length, const char *word) {
    return strlen(word) == length && memcmp(bytes, word, length) == 0;
}

/* Bytes of a name that an error quotes with "%.*s", as names of outside may be of any length. */
enum { TS_TEXT_QUOTED = 60 };
static inline int ts_text_quoted(size_t length) {
    return (int)(length < TS_TEXT_QUOTED ? length : TS_TEXT_QUOTED);
}

/* As qsort wants it, of an array of texts. */
int ts_text_order(const void *a, const void *b);
bool ts_text_starts(const char *text, const char *start);
bool ts_text_ends(const char *text, const char *end);

/* Bytes of a longer text. */
typedef struct {
    const char *text;
    size_t length;
} ts_span;

static inline bool ts_span_is(ts_span span, const char *word) {
    return ts_text_is(span.text, span.length, word);
}
static inline bool ts_span_same(ts_span a, ts_span b) {
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

/* Of `count` names the one nearest to `word` (optimal string alignment distance at most 1 + length / 4), or
 * NULL; among equally near ones the one that begins most alike, then the first; but NULL where three are as
 * near and as much alike: any of them may be meant. `names` has pointers `stride_bytes` apart, so that it can
 * be a column of a table. */
const char *ts_text_nearest(const char *word, const char *const *names, size_t count, size_t stride_bytes);

/* A cursor over a source. Helpers skip white space first (space, tab, CR, LF); nothing reads past the end. */
typedef struct {
    const ts_source *source;
    size_t at;    /* the next byte to read */
    size_t token; /* where the last token began: where an error points */
} ts_cursor;

void ts_cursor_skip_space(ts_cursor *cursor);
bool ts_cursor_at_end(ts_cursor *cursor);                 /* after white space */
int ts_cursor_peek(ts_cursor *cursor);                    /* next byte after white space, or -1 */
bool ts_cursor_take(ts_cursor *cursor, const char *text); /* consumes exactly `text` if it is next */
/* Requires `text`; the error says what was found instead. */
bool ts_cursor_expect(ts_error *err, ts_cursor *cursor, const char *text);
/* [A-Za-z_][A-Za-z0-9_]*; the name is not copied. False when none is next (no error is set). */
bool ts_cursor_name(ts_cursor *cursor, ts_span *name);
/* -?[0-9]+ ; out of int64 is an error "... does not fit in 64 bits"; `what` says what was expected. */
bool ts_cursor_integer(ts_error *err, ts_cursor *cursor, const char *what, int64_t *value);
/* An error at the token that was read last. Returns false. */
bool ts_cursor_refuse(ts_error *err, const ts_cursor *cursor, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "found X, expected `what`", pointing at the next token. Returns false. */
bool ts_cursor_unexpected(ts_error *err, ts_cursor *cursor, const char *what);

/* Strict decimal integer of the whole text (for command-line values). */
bool ts_text_to_int(ts_error *err, const char *what, const char *text, int64_t *value);

/* 1234567 as "1,234,567" (for tables people read); at most 27 bytes with the NUL. */
char *ts_text_group_digits(char out[32], int64_t value);
/* The same in an arena: for reports, not for each step of a run. */
const char *ts_text_grouped(ts_arena *arena, int64_t value);
/* With what is counted: "1 miss", "1,234 misses"; "-es" after s, x, ch and sh. */
const char *ts_text_counted(ts_arena *arena, int64_t count, const char *noun);

#endif
