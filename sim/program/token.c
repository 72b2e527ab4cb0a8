/* The lexer. */
#include "token.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

typedef struct {
    const ts_source *source;
    size_t at;
    int depth;  /* of open braces */
    int bundle; /* 1: the outermost of them is a bundle's, others end with their line */
    int line;
    size_t line_begin;
    token *list; /* NULL: they are only counted */
    token counted;
    size_t count;
} lexer;

static int byte_at(const lexer *lex, size_t at) {
    return at < lex->source->length ? (unsigned char)lex->source->text[at] : -1;
}

static bool in_name(int c) { return c == '_' || (c < 128 && isalnum(c)); }
static bool begins_name(int c) { return in_name(c) && !isdigit(c); }

/* At the start of a statement: a '{' here begins a bundle, also where one before it has no '}'. */
static bool is_fresh(const lexer *lex) {
    const token *last = lex->list != NULL && lex->count > 0 ? &lex->list[lex->count - 1] : &lex->counted;
    return lex->count == 0 || (last->kind == TOKEN_LINE && last->text[0] == '\n') || token_is(last, ':');
}

static token *add(lexer *lex, token_kind kind, size_t begin) {
    token *new = lex->list != NULL ? &lex->list[lex->count] : &lex->counted;
    lex->count++;
    *new = (token){.kind = kind,
                   .source = lex->source,
                   .offset = begin,
                   .line = lex->line,
                   .column = (int)(begin - lex->line_begin) + 1,
                   .text = lex->source->text + begin,
                   .length = lex->at - begin};
    return new;
}

static void skip_to_line_end(lexer *lex) {
    while (byte_at(lex, lex->at) != '\n' && byte_at(lex, lex->at) >= 0) lex->at++;
}

/* vadd.f32: parts joined by single dots. */
static void skip_name(lexer *lex) {
    while (in_name(byte_at(lex, lex->at)) ||
           (byte_at(lex, lex->at) == '.' && in_name(byte_at(lex, lex->at + 1))))
        lex->at++;
}

static size_t skip_digits(lexer *lex) {
    size_t begin = lex->at;
    while (byte_at(lex, lex->at) < 128 && isdigit(byte_at(lex, lex->at))) lex->at++;
    return lex->at - begin;
}

/* The value of the digits between `begin` and the cursor; false when it does not fit in 64 bits: of 2^63,
 * which fits with a sign, it is then INT64_MIN. */
static bool integer_value(const lexer *lex, size_t begin, int base, int64_t *value) {
    uint64_t sum = 0;
    *value = 0;
    for (size_t i = begin; i < lex->at; i++) {
        int digit = ts_hex_value(byte_at(lex, i));
        if (__builtin_mul_overflow(sum, base, &sum) || __builtin_add_overflow(sum, digit, &sum)) return false;
    }
    if (sum > (uint64_t)INT64_MAX + 1) return false;
    *value = sum > INT64_MAX ? INT64_MIN : (int64_t)sum;
    return *value >= 0;
}

/* The part of a number behind its first digits: true when it has one. */
static bool skip_fraction(lexer *lex) {
    bool is_float = false;
    if (byte_at(lex, lex->at) == '.' && isdigit(byte_at(lex, lex->at + 1))) {
        lex->at++;
        skip_digits(lex);
        is_float = true;
    }
    int next = byte_at(lex, lex->at + 1);
    bool sign = next == '-' || next == '+';
    if (tolower(byte_at(lex, lex->at)) == 'e' && isdigit(byte_at(lex, lex->at + 1 + sign))) {
        lex->at += 1 + (size_t)sign;
        skip_digits(lex);
        is_float = true;
    }
    return is_float;
}

/* Skips the digits of an integer; false: it has no value. */
static bool take_integer(lexer *lex, int64_t *value) {
    size_t begin = lex->at;
    if (byte_at(lex, begin) == '0' && byte_at(lex, begin + 1) == 'x' && isxdigit(byte_at(lex, begin + 2))) {
        lex->at += 2;
        while (isxdigit(byte_at(lex, lex->at))) lex->at++;
        return integer_value(lex, begin + 2, 16, value);
    }
    skip_digits(lex);
    return integer_value(lex, begin, 10, value);
}

/* The value of the float that ends at the cursor; false when it has none. strtod rounds once, in the C locale: the
 * command line sets no other, and the library's interface that one. Programs wrote 1e999 before there was `inf`. */
static bool float_value(const lexer *lex, size_t begin, double *value) {
    char text[64];
    size_t length = lex->at - begin;
    if (length >= sizeof(text)) return false;
    memcpy(text, lex->source->text + begin, length);
    text[length] = '\0';
    *value = strtod(text, NULL);
    return *value < HUGE_VAL || strcmp(text, "1e999") == 0;
}

static void lex_number(lexer *lex) {
    size_t begin = lex->at;
    int64_t integer = 0;
    double number = 0;
    bool good = take_integer(lex, &integer);
    bool is_float = byte_at(lex, begin + 1) != 'x' && skip_fraction(lex);
    if (is_float) good = float_value(lex, begin, &number);
    if (in_name(byte_at(lex, lex->at)) || !good) {
        size_t end = lex->at;
        skip_name(lex);
        add(lex, TOKEN_BAD, begin)->integer = !is_float && lex->at == end ? integer : 0;
    } else if (is_float) {
        add(lex, TOKEN_FLOAT, begin)->number = number;
    } else {
        add(lex, TOKEN_INTEGER, begin)->integer = integer;
    }
}

static void lex_string(lexer *lex) {
    size_t begin = lex->at++;
    while (byte_at(lex, lex->at) != '"' && byte_at(lex, lex->at) != '\n' && byte_at(lex, lex->at) >= 0)
        lex->at++;
    bool closed = byte_at(lex, lex->at) == '"';
    lex->at += closed;
    token *new = add(lex, closed ? TOKEN_STRING : TOKEN_BAD, begin);
    new->text += closed;
    new->length -= closed ? 2 : 0;
}

static void lex_mark(lexer *lex) {
    static const char pairs[][3] = {"<-", "~=", "<=", ">=", "==", "!=", "&&", "||", "//", "<<", ">>"};
    static const char singles[] = "+-*/%(){}[]<>=!:,@?|&";
    size_t begin = lex->at;
    bool fresh = is_fresh(lex);
    int c = byte_at(lex, begin), next = byte_at(lex, begin + 1);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        if (c == pairs[i][0] && next == pairs[i][1]) {
            lex->at += 2;
            add(lex, TOKEN_MARK, begin)->integer = MARK2(c, next);
            return;
        }
    }
    lex->at++;
    bool known = c > 0 && strchr(singles, c) != NULL;
    add(lex, known ? TOKEN_MARK : TOKEN_BAD, begin)->integer = c;
    lex->depth += (c == '{') - (c == '}' && lex->depth > 0);
    if (c == '{' && fresh) lex->depth = lex->bundle = 1;
}

static void lex_semicolon(lexer *lex) {
    if (lex->depth == 0 || byte_at(lex, lex->at + 1) == ';') {
        skip_to_line_end(lex);
        return;
    }
    lex->at++;
    add(lex, TOKEN_LINE, lex->at - 1);
}

static void lex_newline(lexer *lex) {
    size_t begin = lex->at++;
    add(lex, TOKEN_LINE, begin);
    lex->line++;
    lex->line_begin = lex->at;
    lex->bundle = lex->depth > 0 ? lex->bundle : 0;
    lex->depth = lex->bundle;
}

/* A name, or a directive, which has a dot in front. */
static void lex_name(lexer *lex) {
    size_t begin = lex->at++;
    bool is_directive = byte_at(lex, begin) == '.', fresh = is_fresh(lex);
    skip_name(lex);
    if (is_directive && fresh) lex->depth = lex->bundle = 0; /* no bundle holds one */
    token *new = add(lex, is_directive ? TOKEN_DIRECTIVE : TOKEN_NAME, begin);
    bool infinite = token_is_name(new, "inf");
    if (infinite || token_is_name(new, "nan")) {
        new->kind = TOKEN_FLOAT;
        new->number = infinite ? HUGE_VAL : (double)NAN;
    }
}

static void lex_one(lexer *lex) {
    size_t begin = lex->at;
    int c = byte_at(lex, begin);
    if (c == ' ' || c == '\t' || c == '\r')
        lex->at++;
    else if (c == '\n')
        lex_newline(lex);
    else if (c == ';')
        lex_semicolon(lex);
    else if (begins_name(c) || (c == '.' && begins_name(byte_at(lex, begin + 1))))
        lex_name(lex);
    else if (c < 128 && isdigit(c))
        lex_number(lex);
    else if (c == '"')
        lex_string(lex);
    else
        lex_mark(lex);
}

/* How many tokens there are; into `list` unless it is NULL. */
static size_t lex_all(const ts_source *source, token *list) {
    lexer lex = {.source = source, .line = 1, .list = list};
    while (lex.at < source->length) lex_one(&lex);
    add(&lex, TOKEN_END, source->length);
    return lex.count;
}

const token *token_list(ts_arena *arena, const ts_source *source) {
    token *list = TS_NEW_ARRAY(arena, token, lex_all(source, NULL));
    lex_all(source, list);
    return list;
}

bool token_unexpected(ts_error *err, const token *found, const char *what) {
    const int length = ts_text_quoted(found->length);
    switch (found->kind) {
    case TOKEN_END:
        return TOKEN_ERROR(err, found, "found the end of the text, expected %s", what);
    case TOKEN_LINE:
        if (found->text[0] == ';') return TOKEN_ERROR(err, found, "found ';', expected %s", what);
        return TOKEN_ERROR(err, found, "found the end of the line, expected %s", what);
    case TOKEN_BAD:
        if (isdigit((unsigned char)found->text[0]))
            return TOKEN_ERROR(err, found, "'%.*s' is not a number of at most 64 bits", length, found->text);
        if ((unsigned char)found->text[0] < 32 || (unsigned char)found->text[0] > 126) {
            return TOKEN_ERROR(err, found, "found byte 0x%02x, expected %s", (unsigned char)found->text[0],
                               what);
        }
        break;
    default:
        break;
    }
    return TOKEN_ERROR(err, found, "found '%.*s', expected %s", length, found->text, what);
}

bool token_is_name(const token *at, const char *name) {
    return (at->kind == TOKEN_NAME || at->kind == TOKEN_DIRECTIVE) && ts_text_is(at->text, at->length, name);
}

bool token_ends_line(const token *at) { return at->kind == TOKEN_LINE || at->kind == TOKEN_END; }
