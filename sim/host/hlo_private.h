/* What the files of the HLO reader share. */
#ifndef TILESIM_HOST_HLO_PRIVATE_H
#define TILESIM_HOST_HLO_PRIVATE_H

#include "base/text.h"
#include "host/hlo.h"

/* NUL: what some logs are padded with. */
static inline bool hlo_is_space(char c) { return ts_is_space(c) || c == '\0'; }
static inline bool hlo_is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || ts_is_digit(c) || c == '_';
}
/* A byte of UTF-8 too. */
static inline bool hlo_is_name(char c) {
    return hlo_is_word(c) || c == '.' || c == '-' || (unsigned char)c >= 0x80;
}

/* Does the text from `at` to `end` begin so? */
static inline bool hlo_begins(const char *at, const char *end, const char *text) {
    return ts_hlo_begins((ts_span){at, (size_t)(end - at)}, text);
}

/* Behind white space and comments. */
const char *hlo_skip_space(const char *at, const char *end);
/* Behind the quote that closes the one at `at`, or `end`. */
const char *hlo_quote_end(const char *at, const char *end);
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
/* Brackets outside quotes that are open at the end. */
int64_t hlo_depth_of(const char *at, const char *end);

/* Which of the tables of locations the line begins, from 0; -1: none. */
int hlo_table_of(ts_span line);

#endif
