/* What the files of the HLO reader share. */
#ifndef TILESIM_HOST_HLO_PRIVATE_H
#define TILESIM_HOST_HLO_PRIVATE_H

#include <string.h>

#include "base/text.h"
#include "host/hlo.h"

/* What a byte may be, for loops over many. */
enum {
    HLO_WORD = 1,
    HLO_NAME = 2,  /* of a word, "." or "-", or of UTF-8 */
    HLO_SPACE = 4, /* NUL, too: what some logs are padded with */
    HLO_OPENS = 8, /* '(' or '{'; '>' in "->" and '<' in "<=" are no brackets */
    HLO_CLOSES = 16,
    HLO_SQUARE = 32, /* '[' or ']' */
    HLO_COMMA = 64,
    HLO_QUOTE = 128,
};
extern const uint8_t hlo_bytes[256];

static inline bool hlo_is(char c, int kinds) { return (hlo_bytes[(uint8_t)c] & kinds) != 0; }
static inline bool hlo_is_space(char c) { return hlo_is(c, HLO_SPACE); }
static inline bool hlo_is_word(char c) { return hlo_is(c, HLO_WORD); }
static inline bool hlo_is_name(char c) { return hlo_is(c, HLO_NAME); }

/* Behind bytes of these kinds. */
static inline const char *hlo_skip(const char *at, const char *end, int kinds) {
    while (at < end && hlo_is(*at, kinds)) at++;
    return at;
}
static inline const char *hlo_skip_digits(const char *at, const char *end) {
    while (at < end && ts_is_digit(*at)) at++;
    return at;
}

/* Does the text from `at` to `end` begin so? */
static inline bool hlo_begins(const char *at, const char *end, const char *text) {
    const size_t length = strlen(text);
    return (size_t)(end - at) >= length && memcmp(at, text, length) == 0;
}

/* Behind white space and comments. */
const char *hlo_skip_space(const char *at, const char *end);
/* Behind the quote that closes the one at `at`, or `end`. */
const char *hlo_quote_end(const char *at, const char *end);
/* The next byte of these kinds outside quotes, or `end`. */
static inline const char *hlo_find(const char *at, const char *end, int kinds) {
    for (;;) {
        while (at < end && !hlo_is(*at, kinds | HLO_QUOTE)) at++;
        if (at == end || *at != '"') return at;
        at = hlo_quote_end(at, end);
    }
}
/* Behind the bracket that closes the one at `at`; NULL: none does. */
const char *hlo_bracket_end(const char *at, const char *end);

/* ---- An instruction (hlo_instruction.c) ---- */

typedef enum { HLO_NOT_ONE, HLO_WHOLE, HLO_ENDS_EARLY /* the next line may go on */ } hlo_answer;

/* [ROOT] name = [shape] opcode(operands), attributes. The spans are of the text. */
hlo_answer hlo_read_instruction(const char *at, const char *end, ts_hlo_instruction *i);
/* The same behind the time stamp or label that a log puts before it. */
hlo_answer hlo_read_labelled(const char *at, const char *end, ts_hlo_instruction *i);
/* [ROOT] name = alone, of a computation, or less of it; `next` is the first byte of the next line. */
bool hlo_is_left_side(const char *at, const char *end, char next);
/* "...": is something left out at the end? */
bool hlo_says_more(const char *at, const char *end);
/* Brackets outside quotes that are open at the end. */
int64_t hlo_depth_of(const char *at, const char *end);

/* Which of the tables of locations the line begins, from 0; -1: none. */
int hlo_table_of(ts_span line);

#endif
