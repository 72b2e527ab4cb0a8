/* Text of a program that another parser reads: shapes, with parameters replaced by their values. */
#include <stdio.h>

#include "layout/dtype.h"

#include "assembler.h"

typedef struct {
    assembler *as;
    const token *begin, *end;
    ts_text text;
    int *locations;
    size_t capacity;
} splicer;

static void splicer_init(splicer *s, assembler *as, const token *begin, const token *end) {
    *s = (splicer){.as = as, .begin = begin, .end = end};
    s->text = ts_text_begin(as->arena);
}

static void add(splicer *s, const token *location, const char *bytes, size_t length) {
    size_t old = s->text.length, need = old + length + 1;
    if (need > s->capacity) {
        size_t capacity = need * 2;
        s->locations = ts_arena_grow(s->as->arena, s->locations, old, capacity, sizeof(int));
        s->capacity = capacity;
    }
    ts_text_add_bytes(&s->text, bytes, length);
    for (size_t i = old; i <= s->text.length; i++) s->locations[i] = (int)(location - s->begin);
}

static void add_number(splicer *s, const token *location, const constant *v) {
    char number[40];
    int length = v->is_float ? snprintf(number, sizeof(number), "%.17g", v->number)
                             : snprintf(number, sizeof(number), "%lld", (long long)v->integer);
    add(s, location, number, (size_t)length);
}

/* A token as it was written, with a space before it where there was one. */
static void add_token(splicer *s, const token *at) {
    const token *before = at - 1;
    bool apart =
        at > s->begin && (before->source != at->source || before->offset + before->length != at->offset);
    if (apart) add(s, before, " ", 1);
    size_t quotes = at->kind == TOKEN_STRING ? 2 : 0;
    add(s, at, at->source->text + at->offset, at->length + quotes);
}

static void finish(splicer *s, spliced *out) {
    add(s, s->end, "", 0);
    *out = (spliced){.begin = s->begin, .locations = s->locations};
    out->source = (ts_source){.name = "shape", .text = s->text.bytes, .length = s->text.length};
}

static bool opens_number(const token *at) {
    return token_is(at, '[') || token_is(at, '(') || token_is(at, '{') || token_is(at, ',') ||
           token_is(at, ':') || token_is(at, MARK2('<', '='));
}

/* An expression with a parameter, a function or an operator. The T of T(8,128) is none, whatever the
 * parameters. */
static bool worth_evaluating(const scope *names, const token *at) {
    if (at->kind == TOKEN_INTEGER) {
        return token_is(at + 1, '+') || token_is(at + 1, '-') || token_is(at + 1, '*') ||
               token_is(at + 1, '/') || token_is(at + 1, '%');
    }
    bool letter = token_is(at + 1, '(') && scope_find(names, at->text, at->length) != NULL;
    return at->kind == TOKEN_NAME && !letter && expr_begins(names, at);
}

/* "f32[": its dims are numbers and nothing else, so that a misspelt parameter can be named. */
static const token *strict_end(const token *begin, const token *end) {
    ts_dtype dtype;
    if (end - begin < 2 || !ts_dtype_find(begin->text, begin->length, &dtype) || !token_is(begin + 1, '['))
        return begin;
    const token *at = begin;
    while (at < end && !token_is(at, ']')) at++;
    return at;
}

bool splice_shape(assembler *as, const token *begin, const token *end, spliced *out) {
    splicer s;
    splicer_init(&s, as, begin, end);
    const token *strict = strict_end(begin, end);
    for (const token *at = begin; at < end;) {
        bool may = at > begin && opens_number(at - 1);
        bool must = may && at < strict && at->kind == TOKEN_NAME;
        const token *behind = at;
        constant v;
        if (must && !expr_parse(as->err, as->names, &behind, &v)) return false;
        if (must || (may && worth_evaluating(as->names, at) && expr_parse(NULL, as->names, &behind, &v))) {
            add_number(&s, at, &v);
            at = behind;
        } else {
            add_token(&s, at++);
        }
    }
    finish(&s, out);
    return true;
}

bool splice_error(assembler *as, const spliced *text, const ts_error *theirs) {
    size_t at = theirs->column > 0 ? (size_t)theirs->column - 1 : 0;
    at = at > text->source.length ? text->source.length : at;
    const token *location = text->begin + text->locations[at];
    size_t inside = 0; /* bytes into the token, where it was copied as written */
    while (inside < at && text->locations[at - inside - 1] == text->locations[at] &&
           inside + 1 < location->length)
        inside++;
    return ts_error_at(as->err, theirs->kind, location->source, location->offset + inside, "%s",
                       theirs->message);
}
