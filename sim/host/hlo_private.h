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
/* Behind what mail writes before what it quotes, "> ", ">> ", "> > ", with nothing behind it too: at most so
 * many marks; *marks says how many. */
const char *hlo_skip_quotes(const char *line, const char *end, int most, int *marks);
/* [ROOT] name = alone, of a computation, or less of it; `next` is the first byte of the next line, '\0': not
 * known. */
bool hlo_is_left_side(const char *at, const char *end, char next);
/* Brackets outside quotes that are open at the end. */
int64_t hlo_depth_of(const char *at, const char *end);

/* ---- What is around text in logs, terminals and web pages (hlo_stamp.c) ---- */

/* Behind what logs write before each line, "I0320 03:59:34.7 855 compiler.cc:2163] " or "E   ". */
const char *hlo_skip_stamp(const char *line, const char *end);
/* Quickly, as most lines begin none. */
bool hlo_may_begin_stamp(const char *at, const char *end);
/* Has the text tabs, no-break spaces, or what sets the colours of a terminal? */
bool hlo_has_marks(const char *at, size_t length);
/* The text with blanks in place of these, and without colours. */
void hlo_add_plain(ts_text *out, const char *at, const char *end);
/* Are lines written as one, with "\n" between them, as in strings of JSON and Python? Not what is quoted. */
bool hlo_has_escapes(const char *at, const char *end);
/* These lines. */
void hlo_add_unescaped(ts_text *out, const char *at, const char *end);

/* ---- Instructions over several lines (hlo_wrap.c) ---- */

/* A loop without its computations is not all of it. */
bool hlo_lacks_calls(const ts_hlo_instruction *i);
/* ", name=value", or axes of "replica_groups=mesh['x'=2] {'x'}". */
bool hlo_begins_rest(char first);
/* Does the line go on with one that could end before it? Where calls are lacking so does "name=value", not
 * "name = ..". */
bool hlo_is_rest(const char *at, const char *end, bool lacks_calls);
/* Is a name all of it, or "ROOT"? */
bool hlo_lacks_equals(ts_span held);
/* Does the line end one that lacks something? "}" alone ends a computation where operands were cut, "}," does
 * not. A quote that is cut off is none that goes on. */
bool hlo_ends_held(ts_span held, const char *at, const char *end);
/* Where another instruction begins in a line, behind one or what goes on with one that is held: text that is
 * filled has several in a line. `end`: there is none. */
const char *hlo_next_instruction(ts_span held, const char *at, const char *end, bool in_computation);

/* ---- The header of a module (hlo_header.c) ---- */

typedef struct {
    bool here, quoted; /* the last line was part of it, and a quote is open behind it */
    int64_t depth;     /* brackets that are open */
} hlo_header;

void hlo_header_begin(hlo_header *header, const char *at, const char *end); /* its first line */
/* Is the next line, without white space around it, part of it too? */
bool hlo_header_goes_on(hlo_header *header, const char *at, const char *end);

/* ---- That of a computation ---- */

typedef struct {
    int64_t line, depth; /* its first line, 0: none; brackets that are open */
    bool opened, arrow;  /* has it "(", "->"? */
} hlo_signature;

/* May a line that is nothing by itself be the beginning of one? */
bool hlo_opens_signature(hlo_signature *signature, const char *at, const char *end);
/* With the line from `row` to `end`, which may be no part of it, behind what it has and a line break. */
hlo_answer hlo_read_signature(hlo_signature *signature, const char *row, const char *end);

/* Which of the tables of locations the line begins, from 0; -1: none. */
int hlo_table_of(ts_span line);

enum { HLO_MLIR_OPEN = 32, HLO_MLIR_NAME = 64 };

/* StableHLO: state that lines share. */
typedef struct {
    ts_text shape, operands, attributes; /* of the instruction made last */
    ts_text body_operands,
        body_attributes;           /* of the operations whose bodies are open, one behind the other */
    ts_text meshes;                /* "@name=mesh['x'=2]" by line */
    int64_t depth, function_depth; /* braces open, and before the function's */
    int64_t muted_above;           /* what is deeper is the body of a reduction; -1: nothing is */
    int64_t lost_above;            /* what is deeper is in regions that are not told of; -1: nothing is */
    bool in_function;
    int open_count, region_count;
    struct hlo_region {
        ts_hlo_part part;
        int64_t depth; /* braces open around it */
    } regions[HLO_MLIR_OPEN];
    struct hlo_open { /* operations whose bodies are open: "stablehlo.reduce"(...) ({ */
        char name[HLO_MLIR_NAME], opcode[HLO_MLIR_NAME];
        int64_t depth, line;
        size_t operands_at, attributes_at; /* where its own begin */
    } open[HLO_MLIR_OPEN];
} hlo_mlir;

/* A line, and who is told what it says. */
typedef struct {
    const ts_hlo_events *events;
    int64_t line;
} hlo_teller;

/* One type at `at`, as HLO has it; returns its end. */
const char *hlo_mlir_add_type(ts_text *out, const char *at, const char *end);
/* Those that movements and counters need, to m->attributes; a constant of one number, to m->operands. */
void hlo_mlir_attributes(hlo_mlir *m, const char *opcode, const char *at, const char *end);
/* Behind `word` and the "=" that follows it, whatever blanks are between; NULL: it is not there. */
const char *hlo_mlir_value_of(const char *at, const char *end, const char *word);
/* The values of "return %a, %b : types" or of "(%a, %b) : types". */
ts_span hlo_mlir_values(const char *at, const char *end);

/* ---- Groups of devices (hlo_mlir_groups.c) ---- */

/* Those of a collective, as HLO has them. */
void hlo_mlir_add_groups(const hlo_mlir *m, ts_text *out, const char *opcode, const char *at,
                         const char *end);
/* Is the line a mesh, "sdy.mesh @name = <["x"=2]>"? Then it is kept. */
bool hlo_mlir_mesh(hlo_mlir *m, const char *at, const char *end);

/* ---- Loops and branches (hlo_mlir_regions.c) ---- */

/* "(%a = %x, %b = %y)" or "(%x, %y)" at `at`, of a loop that begins. */
void hlo_mlir_loop(hlo_mlir *m, const hlo_teller *teller, const char *at, const char *end);
/* The operation on this line opens a region: "({". */
void hlo_mlir_begin_region(hlo_mlir *m, const hlo_teller *teller, ts_hlo_part part, int64_t depth);
/* Those that so many open braces, or more, are around. */
void hlo_mlir_end_regions(hlo_mlir *m, const hlo_teller *teller, int64_t depth);
/* Regions that end or begin where the line does, what they name and what they give. */
void hlo_mlir_regions(hlo_mlir *m, const hlo_teller *teller, const char *at, const char *end);

/* ---- Statements over several lines (hlo_mlir_wrap.c) ---- */

/* Does the line begin one that the next lines go on with? `next` is the first byte of these; '\0': not
 * known. */
bool hlo_mlir_is_broken(const char *at, const char *end, char next);
/* Does this line go on with what is held of one? */
bool hlo_mlir_continues(ts_span held, const char *at, const char *end);

/* Is this line, the last of those counted, of StableHLO or MHLO an operation or function? Then events are
 * made of it. */
typedef enum { HLO_MLIR_NO, HLO_MLIR_YES, HLO_MLIR_INSTRUCTION } hlo_mlir_answer;
hlo_mlir_answer hlo_mlir_line(hlo_mlir *state, const char *at, const char *end, const ts_hlo_events *events,
                              ts_hlo_counts *counts, ts_hlo_instruction *instruction);

#endif
