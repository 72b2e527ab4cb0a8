/* What layouts cost in a module that was compiled for a TPU: padding of each buffer, and each instruction
 * that only moves data. Fed HLO text (host/hlo.h) in pieces. What is kept is bounded whatever the text's
 * length: names of one computation, what calls the computations of one module, the shapes that these and the
 * lists refer to, and the largest buffers and moves, those that are alike as one.
 *
 * Buffers are the results of the instructions of ENTRY, of loops and branches; those of fused computations
 * are none. Sums are over instructions, not what is live at once. */
#ifndef TILESIM_AUDIT_AUDIT_H
#define TILESIM_AUDIT_AUDIT_H

#include "base/interrupt.h"
#include "host/hlo.h"
#include "host/hlo_opcode.h"
#include "host/hlo_location.h"
#include "layout/shape.h"
#include "machine/machine.h"
#include "mesh/collective.h"

enum {
    TS_AUDIT_SHAPES = 1 << 18,       /* that are referred to at once; further ones are counted, not audited */
    TS_AUDIT_NAMES = 1 << 20,        /* of one computation, to find operands by */
    TS_AUDIT_COMPUTATIONS = 1 << 19, /* of one module */
    TS_AUDIT_RECORDS = 1 << 16,      /* buffers, and moves, that are listed: the largest */
    TS_AUDIT_KINDS = 64,             /* of what was not understood */
    TS_AUDIT_NAME_BYTES = 56,        /* longer names are cut */
    TS_AUDIT_SPACES = 16,
    TS_AUDIT_PERMUTED = 16,
};

/* What arrays without tiles are taken to be. */
typedef enum {
    TS_AUDIT_UNTILED_AUTO, /* linear where more than a header has tiles, else as the rule */
    TS_AUDIT_UNTILED_LINEAR,
    TS_AUDIT_UNTILED_RULE, /* as the TPU compiler lays them out by default (layout/tpu_rule.h) */
} ts_audit_untiled;

typedef struct {
    const ts_machine *machine;
    ts_audit_untiled untiled;
    const ts_mesh *mesh;     /* on which collectives are priced; NULL: they are not */
    bool exact;              /* every price is of its own size and plan, with every access simulated */
    ts_interrupt *interrupt; /* NULL: none */
} ts_audit_request;

/* A shape of the text: an array, sized. */
typedef struct {
    const char *text; /* as printed, comments left out; where tiles are assumed, with them */
    int memory_space;
    bool tiled;                          /* tiles were printed */
    bool assumed;                        /* they were not, and are the rule's */
    int64_t logical_bytes, padded_bytes; /* logical: as compilers report it unpadded */
    int64_t widened_bytes;               /* of the padding: elements stored wider than their type, E() */
    int worst_dim;                       /* logical dim that tiles pad most; -1: none */
    int64_t worst_extent, worst_padded;
    int worst_rank; /* 0: the minor dim, 1: the second minor ... */
} ts_audit_shape;

typedef enum {
    TS_AUDIT_LEVEL_UNKNOWN, /* its caller is not in the text: taken as run once */
    TS_AUDIT_LEVEL_ENTRY,
    TS_AUDIT_LEVEL_CONTROL, /* a loop's or branch's, or called */
    TS_AUDIT_LEVEL_FUSED,
    TS_AUDIT_LEVEL_APPLIED, /* to single elements, by a reduction or the like */
    TS_AUDIT_LEVEL_ASYNC,   /* one instruction, started and waited for */
    TS_AUDIT_LEVELS
} ts_audit_level;

/* Whose location it is. */
typedef enum { TS_AUDIT_OWN, TS_AUDIT_MAKER, TS_AUDIT_READER } ts_audit_placed;

/* Where in the user's program it comes from, by the text's metadata. */
typedef struct {
    int32_t location;             /* of ts_audit_result.locations; -1: not known */
    ts_audit_placed of;           /* where it says none itself: what made its operand, or what reads it */
    char op[TS_AUDIT_NAME_BYTES]; /* op_name, the end of it: an argument's name, or the way to an operation */
} ts_audit_source;

typedef struct {
    int64_t line;
    char name[TS_AUDIT_NAME_BYTES]; /* "": a shape in a message */
    ts_audit_source source;
    ts_hlo_opcode opcode;
    int32_t shape, computation; /* computation -1: outside any, or of a module before */
    int64_t waste_bytes;        /* of one */
    int64_t count;              /* of equal buffers, where there are many */
    int space;                  /* where it lies: the shape's, or a heading's */
} ts_audit_buffer;

/* What a move changes. */
enum {
    TS_AUDIT_TYPE = 1,
    TS_AUDIT_ORDER = 2,
    TS_AUDIT_TILE = 4,
    TS_AUDIT_SPACE = 8,
    TS_AUDIT_SHAPE = 16,   /* dims: a reshape, a slice */
    TS_AUDIT_PADDING = 32, /* the target is more padded than the source */
    TS_AUDIT_REVERSED = 64,
};

typedef struct {
    int64_t line;
    char name[TS_AUDIT_NAME_BYTES];
    ts_audit_source source;
    ts_hlo_opcode opcode;
    int32_t src, dst, computation; /* src -1: not known, or of no matter */
    unsigned changes;
    int from, to;                          /* memory spaces */
    int32_t groups;                        /* of a collective, of the audit; 0: none, -1: not kept */
    int8_t permutation[TS_AUDIT_PERMUTED]; /* of a transpose of at most so many dims; -1 behind them */
    bool from_parameter, from_kernel;      /* the operand is a parameter, or a custom-call's */
    bool not_read;                         /* a transpose whose dims cannot be read */
    int64_t read_bytes, written_bytes;
    ts_audit_level level;
    int64_t count, runs; /* instructions that are alike, and how often they run: loops counted where their
                            trips are known */
    bool trips_unknown;  /* some are in a loop that does not say */
    bool in_branch;      /* of a conditional, which runs one; all of them count */
} ts_audit_move;

/* Moves that are alike: same opcode, shapes, level and in_branch. */
typedef struct {
    ts_audit_move first;
    bool priced;
    bool moves_nothing; /* its bytes are where they were: a reshape, a transpose */
    bool scaled;        /* its own plan was not: as much slower than in order as the nearest of its kind */
    const char *by;     /* who does it: a program of the core, or two passes; NULL: the DMA engine */
    const char *why_not;
    int64_t cycles; /* of one; of a fused one: at most */
    double microseconds, total_microseconds;
} ts_audit_group;

/* Buffers of one shape. */
typedef struct {
    int32_t shape;
    int64_t count, waste_bytes; /* in all */
    ts_audit_buffer first;
} ts_audit_class;

typedef struct {
    int64_t buffers, logical_bytes, padded_bytes, widened_bytes;
} ts_audit_sum;

typedef struct {
    const char *fix; /* a sentence */
    /* In braces, with which the move's source, or the buffer, would not cost it; NULL: none. */
    const char *layout;
    const char *what;
    bool is_move;
    int index; /* in groups, or classes */
    int64_t bytes_saved;
    double microseconds_saved; /* where it is known; of padding: each time that the buffers are read once */
    bool at_most;              /* what is saved is a bound */
} ts_audit_finding;

typedef struct {
    const char *kind;
    int64_t count, first_line;
    char excerpt[64];
} ts_audit_kind;

/* A size that the compiler printed, and ours. */
typedef struct {
    int64_t line;
    int32_t shape;
    char reported[16], computed[16];
    char reported_expansion[12], computed_expansion[12]; /* "": not printed */
    bool agrees, is_tuple;
} ts_audit_report;

/* A figure that the text reports of a memory: "used", "capacity", "HLO temp, padded". */
typedef struct {
    int64_t line, bytes;
    const char *name;
    char text[16];
    int space; /* the memory that the text names; -1: none */
} ts_audit_figure;

/* An allocation that the text reports, or what lives at the peak. */
typedef struct {
    int64_t line, bytes;
    char text[16];                  /* the size as printed */
    char name[TS_AUDIT_NAME_BYTES]; /* "parameter 0", "HLO temp"; at the peak the value's */
    int space;                      /* as of a figure */
    int32_t index, shape;           /* -1: it has no number, no shape */
    int32_t values;                 /* that share it, where they are listed */
    bool at_peak;
} ts_audit_allocation;

/* A copy that the TPU compiler will insert into a module that it has not seen. */
typedef struct {
    int64_t line, bytes;                                         /* bytes: read and written */
    char name[TS_AUDIT_NAME_BYTES], reader[TS_AUDIT_NAME_BYTES]; /* reader "": it is a result */
    const char *from, *to;
} ts_audit_copy;

typedef struct {
    const ts_audit_request *request;
    const ts_hlo_counts *text;
    const ts_hlo_locations *locations;
    const char *module; /* the first one's name, or NULL */
    bool has_entry, assumed_tiles;
    bool binary; /* its beginning has NUL bytes */
    int64_t shape_count;
    const ts_audit_shape *shapes;
    ts_audit_sum sum, spaces[TS_AUDIT_SPACES]; /* of all, and by memory space */
    int64_t class_count, group_count, buffer_count;
    const ts_audit_class *classes; /* most waste first */
    const ts_audit_group *groups;  /* most time first; collectives among them */
    const ts_audit_buffer *buffers;
    int64_t buffers_left_out, moves_left_out; /* of the lists */
    int64_t bitcasts, free_moves, collectives, collective_bytes, collectives_priced;
    double collective_microseconds;          /* of those that are priced */
    double microseconds, fused_microseconds; /* of all moves; upper bound of the fused ones */
    int finding_count;
    const ts_audit_finding *findings; /* by time, then by bytes: see `by_bytes` */
    const int *by_bytes;
    int kind_count;
    const ts_audit_kind *kinds;
    int report_count, reports_agreeing, reports_compared;
    const ts_audit_report *reports;
    int figure_count, allocation_count;
    const ts_audit_figure *figures;
    const ts_audit_allocation *allocations; /* largest first; then those at the peak */
    int64_t plans_priced, scaled_moves;
    bool copies_predicted; /* no compiler has laid the module out */
    int copy_count;
    const ts_audit_copy *copies; /* in the order of the text */
} ts_audit_result;

typedef struct ts_audit ts_audit;

/* Of a memory space by XLA's number: "hbm"; "other" of those without a name. */
const char *ts_audit_space_name(int number);

/* Is the time an estimate? Not with --exact, and not without moves. */
static inline bool ts_audit_is_estimated(const ts_audit_result *result) {
    return result->microseconds > 0 && !result->request->exact;
}

ts_audit *ts_audit_new(ts_arena *arena, const ts_audit_request *request);
void ts_audit_feed(ts_audit *audit, const char *bytes, size_t length);
/* progress: called with what is done of what; NULL: not wanted. */
typedef void (*ts_audit_progress)(void *self, int64_t done, int64_t of);
bool ts_audit_finish(ts_error *err, ts_audit *audit, ts_audit_progress progress, void *self,
                     ts_audit_result *result);
/* That the text of this name holds something: a table of zeros would say that all is well. */
bool ts_audit_check_any(ts_error *err, const ts_audit_result *result, const char *name);

void ts_audit_free(ts_audit *audit); /* and what its results refer to. NULL is fine */

const char *ts_audit_level_text(ts_audit_level level);
/* Does it update a part of its operand in place? */
bool ts_audit_updates(ts_hlo_opcode opcode);
/* As compilers print sizes: 6656B, 64.0K, 2.62G. Source: tsl numbers.cc HumanReadableNumBytes. */
void ts_audit_print_bytes(char out[16], int64_t bytes);

#endif
