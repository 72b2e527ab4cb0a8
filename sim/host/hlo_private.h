/* What the files of the HLO reader share. */
#ifndef TILESIM_HOST_HLO_PRIVATE_H
#define TILESIM_HOST_HLO_PRIVATE_H

#include "base/text.h"
#include "host/hlo.h"

/* NUL: what some logs are padded with. */
static inline bool hlo_is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\0';
}
static inline bool hlo_is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || ts_is_digit(c) || c == '_';
}
/* A byte of UTF-8 too. */
static inline bool hlo_is_name(char c) {
    return hlo_is_word(c) || c == '.' || c == '-' || (unsigned char)c >= 0x80;
}

/* Behind white space and comments. */
const char *hlo_skip_space(const char *at, const char *end);
/* Behind the quote that closes the one at `at`, or `end`. */
const char *hlo_quote_end(const char *at, const char *end);
/* Behind the bracket that closes the one at `at`; NULL: none does. */
const char *hlo_bracket_end(const char *at, const char *end);

enum { HLO_MLIR_OPEN = 32, HLO_MLIR_NAME = 64 };

/* StableHLO: state that lines share. */
typedef struct {
    ts_text shape, operands, attributes; /* of the instruction made last */
    int64_t depth, function_depth;       /* braces open, and before the function's */
    int64_t muted_above;                 /* what is deeper is the body of a reduction; -1: nothing is */
    int64_t loop_above;                  /* what is deeper is within a loop; -1: nothing is */
    bool in_function;
    int open_count;
    struct hlo_open { /* operations whose bodies are open: "stablehlo.reduce"(...) ({ */
        char name[HLO_MLIR_NAME], opcode[HLO_MLIR_NAME];
        int64_t depth, line;
    } open[HLO_MLIR_OPEN];
} hlo_mlir;

/* Is this line, the last of those counted, of StableHLO or MHLO an operation or function? Then events are made of it. */
/* Those that movements need, to m->attributes. */
void hlo_mlir_attributes(hlo_mlir *m, const char *opcode, const char *at, const char *end);
typedef enum { HLO_MLIR_NO, HLO_MLIR_YES, HLO_MLIR_INSTRUCTION } hlo_mlir_answer;
hlo_mlir_answer hlo_mlir_line(hlo_mlir *state, const char *at, const char *end, const ts_hlo_events *events,
                              ts_hlo_counts *counts, ts_hlo_instruction *instruction);

#endif
