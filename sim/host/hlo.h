/* HLO text as compilers print it, read as a stream: whole modules, fragments, cut files, and lines out of
 * logs and out-of-memory messages. Also StableHLO and MHLO, whose lines arrive as if they were HLO's.
 *
 * Bytes are fed in pieces of any size; a line is split into spans and handed on at once, so that memory is
 * bounded (TS_HLO_LINE_BYTES and the little beside it) whatever the text holds. Nothing is an error: what is
 * not understood is handed on as such. Source of the grammar: XLA hlo_parser.cc, hlo_instruction.cc
 * (printing), layout.cc. */
#ifndef TILESIM_HOST_HLO_H
#define TILESIM_HOST_HLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"

enum {
    TS_HLO_LINE_BYTES = 1 << 20, /* of a line that are looked at; of a longer one the middle is skipped */
    TS_HLO_JOINED_LINES = 64,    /* pieces of a wrapped instruction, but for those in brackets where it is
                                  * certain to be one */
};

/* Spans are valid during the call. */
typedef struct {
    int64_t line;  /* where it begins, from 1 */
    ts_span name;  /* without '%'; of StableHLO without '%' too */
    ts_span shape; /* one array or tuple, as printed; empty where the line has none */
    ts_span opcode;
    ts_span operands;   /* between the parentheses */
    ts_span attributes; /* behind them */
    bool root;
    bool cut;   /* the text ends, or says "...", before the operands do */
    bool mlir;  /* from StableHLO or MHLO: shapes have no layouts */
    bool lost;  /* of StableHLO: in a loop or branch that is too deep for `part` to tell of it */
    bool again; /* "from instruction: .." of a list of values: said before, or for each of its values */
} ts_hlo_instruction;

/* What a line may be besides. */
typedef enum {
    TS_HLO_OTHER,   /* nothing known */
    TS_HLO_BLANK,   /* empty, or only marks */
    TS_HLO_COMMENT, /* a line that begins with "//" or "#", or is in a comment of several */
    TS_HLO_TABLE,   /* a row of the tables of names, locations and stack frames */
    TS_HLO_LITERAL, /* a further line of a constant, or of an attribute */
    TS_HLO_OLD,     /* a line of a diff's old side */
    TS_HLO_LINE_KINDS
} ts_hlo_line_kind;

/* What loops and branches of StableHLO, which lie within a function, are made of. */
typedef enum {
    TS_HLO_LOOP,       /* one begins, with these values; its two regions follow */
    TS_HLO_CARRIED,    /* what they are called in the region that is open, or in both that follow */
    TS_HLO_CONDITION,  /* a region begins, from here on to TS_HLO_BRANCH */
    TS_HLO_BODY,       /* of a loop too */
    TS_HLO_BRANCH,     /* of what takes one of several */
    TS_HLO_GIVES,      /* the values that the innermost region gives */
    TS_HLO_REGION_END, /* of the innermost one */
} ts_hlo_part;

/* Any may be NULL. */
typedef struct {
    void *self;
    /* `HloModule name, ...`: the whole header, but for what it quotes; told when it has ended. */
    void (*module)(void *self, int64_t line, ts_span name, ts_span attributes);
    /* A computation begins, or a function of StableHLO. */
    void (*computation)(void *self, int64_t line, ts_span name, bool entry);
    void (*end)(void *self); /* it ends */
    void (*instruction)(void *self, const ts_hlo_instruction *instruction);
    /* A line that is none of these and no table. */
    void (*message)(void *self, int64_t line, ts_span text);
    /* A line of the tables of names, locations and stack frames (host/hlo_location.h). */
    void (*table)(void *self, ts_span text);
    /* What a function of StableHLO gives. */
    void (*returns)(void *self, ts_span operands);
    /* A part of a loop or branch within it; values "%a, %b" where the part has some. */
    void (*part)(void *self, int64_t line, ts_hlo_part part, ts_span values);
} ts_hlo_events;

typedef struct {
    int64_t bytes, lines, instructions, computations;
    int64_t cut_instructions; /* of the instructions */
    int64_t long_lines, unended_computations;
    int64_t unended_comments;         /* 1: the rest of the text is in one */
    int64_t kinds[TS_HLO_LINE_KINDS]; /* lines */
} ts_hlo_counts;

typedef struct ts_hlo_reader ts_hlo_reader;

ts_hlo_reader *ts_hlo_new(ts_arena *arena, const ts_hlo_events *events);
void ts_hlo_feed(ts_hlo_reader *reader, const char *bytes, size_t length);
void ts_hlo_finish(ts_hlo_reader *reader); /* the text ends; a last line needs no newline */
const ts_hlo_counts *ts_hlo_get_counts(const ts_hlo_reader *reader);

/* ---- Within spans ---- */

/* The end of the shape that begins at `at`: an array or a tuple as printed. NULL: none begins there, or the
 * text ends within it (then *cut is set). */
const char *ts_hlo_shape_end(const char *at, const char *end, bool *cut);
/* The next operand, or member of a tuple: text between commas that no bracket or quote encloses, without
 * spaces and comments around it. False when there is none; *rest is what follows. */
bool ts_hlo_next(ts_span *rest, ts_span *item);
/* The same of a list: the number-th, from 0. */
bool ts_hlo_item(ts_span list, int number, ts_span *item);
/* "a, b" of "(a, b)" or "{a, b}"; nothing of what is too short for both brackets. */
static inline ts_span ts_hlo_inside(ts_span span) {
    return span.length < 2 ? (ts_span){span.text, 0} : (ts_span){span.text + 1, span.length - 2};
}
/* Behind the label, wherever it is; NULL: it is not there. And the text from there on. */
const char *ts_hlo_find(ts_span text, const char *label);
static inline ts_span ts_hlo_from(ts_span text, const char *at) {
    return (ts_span){at, (size_t)(text.text + text.length - at)};
}
/* The next shape anywhere in a text, such as a message; *rest is what follows it. False: no more. */
bool ts_hlo_find_shape(ts_span *rest, ts_span *shape);
/* The value of `name=` at no depth in the attributes: up to the comma that ends it. */
bool ts_hlo_attribute(ts_span attributes, const char *name, ts_span *value);
bool ts_hlo_begins(ts_span span, const char *text);
ts_span ts_hlo_trim(ts_span span);     /* without white space around it */
int64_t ts_hlo_number(ts_span digits); /* of at most 18; -1: it is none */
/* Behind a key of a backend_config, as "known_trip_count":{"n":"4"} behind "\"known_trip_count", with blanks or
 * without, or quoted in a quote; -1: there is none. */
int64_t ts_hlo_stated_number(ts_span attributes, const char *key);
ts_span ts_hlo_digits(ts_span text); /* those that it begins with */

#endif
