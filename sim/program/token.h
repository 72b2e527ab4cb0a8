/* The tokens of a program text: names, numbers, marks and line ends, each with its location. */
#ifndef TILESIM_PROGRAM_TOKEN_H
#define TILESIM_PROGRAM_TOKEN_H

#include "base/arena.h"
#include "base/error.h"

typedef enum {
    TOKEN_END,
    TOKEN_LINE,      /* the end of a line, or a ';' between the instructions of a bundle */
    TOKEN_NAME,      /* vadd.f32, ready */
    TOKEN_DIRECTIVE, /* .tensor */
    TOKEN_INTEGER,
    TOKEN_FLOAT,
    TOKEN_STRING, /* "..." without escapes; the text excludes the quotes */
    TOKEN_MARK,   /* one or two characters */
    TOKEN_BAD,    /* an error only if it is read as a token */
} token_kind;

/* A mark of two characters is first + 256 * second. */
#define MARK2(a, b) ((a) | (b) << 8)

typedef struct {
    const ts_source *source;
    size_t offset;    /* in the source */
    const char *text; /* not ended by NUL */
    size_t length;
    union {
        int64_t integer; /* of an integer, or the mark; of what is bad INT64_MIN: it is 2^63 */
        double number;   /* of a float */
    };
    int line, column; /* from 1 */
    token_kind kind;
} token;

/* All tokens of the source, then one TOKEN_END. ';' begins a comment, but inside braces it parts
 * instructions;
 * ';;' begins a comment anywhere. */
const token *token_list(ts_arena *arena, const ts_source *source);

/* An error at a token: "..., expected ...". */
#define TOKEN_ERROR(err, token, ...)                                                                         \
    ts_error_at((err), TS_ERROR_INPUT, (token)->source, (token)->offset, __VA_ARGS__)
/* "found X, expected `what`". */
bool token_unexpected(ts_error *err, const token *found, const char *what);

static inline bool token_is(const token *at, int mark) {
    return at->kind == TOKEN_MARK && at->integer == mark;
}
bool token_is_name(const token *at, const char *name);
/* Is it the next? Then *at is behind it. */
static inline bool token_take(const token **at, int mark) { return token_is(*at, mark) && ++*at; }
static inline bool token_take_name(const token **at, const char *name) {
    return token_is_name(*at, name) && ++*at;
}
/* At the end of a statement? */
bool token_ends_line(const token *at);

#endif
