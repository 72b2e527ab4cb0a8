/* What the files share that read StableHLO and MHLO. */
#ifndef TILESIM_HOST_HLO_MLIR_PRIVATE_H
#define TILESIM_HOST_HLO_MLIR_PRIVATE_H

#include "hlo_reader_private.h"

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
void hlo_mlir_loop(hlo_mlir *m, hlo_teller *teller, const char *at, const char *end);
/* The operation on this line opens a region: "({". */
void hlo_mlir_begin_region(hlo_mlir *m, hlo_teller *teller, ts_hlo_part part, int64_t depth);
/* Those that so many open braces, or more, are around. */
void hlo_mlir_end_regions(hlo_mlir *m, hlo_teller *teller, int64_t depth);
/* Regions that end or begin where the line does, what they name and what they give. */
void hlo_mlir_regions(hlo_mlir *m, hlo_teller *teller, const char *at, const char *end);

/* ---- Statements (hlo_mlir.c, and over several lines hlo_mlir_wrap.c) ---- */

void hlo_mlir_begin(hlo_mlir *m, ts_arena *arena);
/* Does a line say that the text is of StableHLO or MHLO? */
bool hlo_mlir_is_dialect(const char *at, const char *end);
/* Does the line begin one that the next lines go on with? `next` is the first byte of these. */
bool hlo_mlir_is_broken(const char *at, const char *end, char next);
/* Adds the line to one if it goes on with it. HLO_WHOLE: no more may come. */
hlo_answer hlo_statement_goes_on(hlo_held *held, const hlo_line *line);
/* Is the line an operation or function? Then it is told what it says. */
bool hlo_mlir_tell(hlo_mlir *m, hlo_teller *teller, const char *at, const char *end);

#endif
