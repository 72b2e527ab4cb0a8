/* What an audit collects while text comes. */
#ifndef TILESIM_AUDIT_AUDIT_STATE_H
#define TILESIM_AUDIT_AUDIT_STATE_H

#include "audit_private.h"

/* A distinct text of a shape: an array, or a tuple of leaves. */
typedef struct {
    uint64_t hash;
    const char *text, *rule_text; /* of arrays; rule_text: with the rule's tiles, NULL when there are tiles */
    ts_audit_shape linear, ruled;
    const int32_t *leaves; /* of a tuple: NULL for an array */
    int32_t leaf_count;
    int8_t rank; /* of an array */
    bool is_tuple;
} shape_record;

/* Classes of memory spaces, for sums. */
enum {
#define SPACE(id, number, name, written) SPACE_##id,
#include "audit/spaces.def"
    SPACE_OTHER,
    SPACE_CLASSES
};
typedef struct {
    int number; /* XLA's; of others TS_AUDIT_SPACES - 1 */
    const char *name, *written;
} space_row;
extern const space_row audit_spaces[SPACE_CLASSES];

typedef struct {
    ts_audit_sum linear,
        ruled; /* of shapes as the text has them, and with the tiles of the compiler's rule */
} space_sum;

typedef struct {
    int64_t runs;       /* when the module does once; those whose number is not known count once. Settled */
    int32_t calls;      /* the last one of it; -1: none */
    int32_t sums;       /* -1: none */
    int32_t root;       /* its result, if that is known: one of the values; -1 otherwise */
    int32_t next, back; /* while callers are visited: the call that is looked at, who waits for its runs */
    int32_t within;     /* of a StableHLO region: the computation around it; -1: none */
    uint8_t part;       /* which part of a loop or branch it is (ts_hlo_part); 0: no region */
    bool has_root;      /* the text marks it */
    bool begun;         /* the text has it */
    bool runs_unknown, in_branch, visited, summed_up;
    uint8_t level; /* ts_audit_level, or AUDIT_LEVEL_CALLED until that is settled */
    bool by_name;  /* its name says that it is fused; what calls it may say otherwise */
    int spaces[2]; /* of what is started: read, written; -1: not known */
} computation_record;

/* How a computation is called, beside ts_audit_level. */
enum {
    AUDIT_LEVEL_CALLED = TS_AUDIT_LEVELS, /* only by `call`: at the level of what calls it */
    AUDIT_LEVEL_BRANCH,                   /* TS_AUDIT_LEVEL_CONTROL, one of several of which one runs */
};

/* A call of a computation, by another one or by text outside of all. */
typedef struct {
    int32_t caller, before; /* another caller's of the same; -1: none */
    int64_t line;           /* of the last instruction that does it */
    int64_t runs;           /* each time that the caller runs */
    bool unknown;           /* of some the text does not say how many */
    bool branch;            /* some of it are as one of several */
} audit_call_record;

/* A loop of StableHLO that is open: values, or -1, and computations. */
typedef struct {
    int32_t init, test, next, condition;
    int32_t parameter; /* whose members are what it carries */
} audit_loop;

enum { AUDIT_LOOPS = 64 /* open ones; the reader tells of fewer */ };

/* What integers are, of the computation that the text is in, and the results of those before. */
typedef struct {
    struct audit_value *list;
    int64_t capacity;
    int32_t count, begin; /* begin: of this computation's */
    int32_t loop_count, loops_begun;
    audit_loop loops[AUDIT_LOOPS];
    ts_table names;
} audit_values;

typedef struct audit_copies audit_copies; /* values of entry (audit_copies.c) */

/* An entry of an out-of-memory report. */
typedef struct {
    bool open, labelled; /* labelled: its instruction was read */
    int64_t line;
    char size[16], expansion[12];
    char shape[512];
    char kind[24]; /* "HLO temp" */
} report_block;

enum { AUDIT_GROUP_TEXTS = 256 };
enum { AUDIT_AWAITED = 64 /* moves whose readers are looked for */ };
typedef struct {
    uint64_t name; /* what a reader of the move would name */
    int64_t move;  /* in moves */
} audit_awaited;

/* Of a report of memory: its lists, what lives at the peak as a list, or as entries. */
typedef enum { SECTION_NONE, SECTION_LIST, SECTION_PEAK, SECTION_ENTRIES } audit_section;

struct ts_audit {
    ts_arena *arena, *scratch;
    ts_arena *texts; /* of shapes, and leaves of tuples: a new one each time that shapes are forgotten */
    const ts_audit_request *request;
    ts_hlo_reader *reader;
    ts_hlo_events events;
    ts_hlo_locations *locations;
    ts_table made_at;              /* names of this computation, and locations */
    const ts_hlo_instruction *now; /* that is looked at; NULL: none is */
    audit_awaited awaited[AUDIT_AWAITED];
    int awaited_count;
    ts_table shape_table, names, computation_table;
    shape_record *shapes;
    int64_t shape_count, shape_capacity, text_bytes;
    int64_t forget_count,
        forget_bytes; /* so many shapes, or bytes of `texts`, and those in no use are forgotten */
    computation_record *computations; /* of this module */
    int64_t computation_count, computation_capacity;
    audit_call_record *calls; /* of this module */
    int64_t call_count, call_capacity;
    int32_t current;                  /* computation; -1: outside */
    space_sum (*sums)[SPACE_CLASSES]; /* of the computations that have buffers */
    int64_t sums_count, sums_capacity;
    space_sum settled[SPACE_CLASSES]; /* of settled computations, and of text outside any */
    audit_values values;
    audit_copies *copies;
    bool current_fused, current_scatters, any_tiles, has_entry, has_mlir, binary;
    bool ruled;       /* shapes without tiles are those of the compiler's rule, else they lie in rows */
    bool unscheduled; /* a module's header does not say is_scheduled: no compiler is done with it */
    ts_audit_buffer *buffers;
    ts_audit_move *moves;
    /* settled: so many at the beginning are of no computation that is known */
    int64_t buffer_count, buffer_capacity, buffers_settled, buffers_dropped, least_waste;
    int64_t move_count, move_capacity, moves_settled, moves_dropped, least_bytes;
    const char *group_texts[AUDIT_GROUP_TEXTS]; /* of collectives: which devices take part */
    int32_t group_text_count;
    int64_t bitcasts;
    ts_audit_kind kinds[TS_AUDIT_KINDS];
    int kind_count;
    const char *module;
    int32_t *entry_shapes; /* of the arguments, and behind them the results, by the first module's header */
    int64_t entry_count, result_count; /* 0 results: tuples in tuples, or a compiler has laid out all */
    bool entry_is_flat;                /* they are arrays, and the module is the first one */
    report_block block;
    ts_audit_report *reports;
    int report_count;
    /* Reports of memory. */
    audit_section section;
    int heading_space; /* that the text named last; -1: none */
    int allocation;    /* the one that values are listed of; -1: none */
    ts_table value_table;
    ts_audit_figure *figures;
    ts_audit_allocation *allocations;
    int figure_count, allocation_count;
};

enum { AUDIT_NONE = -1, AUDIT_SUMS = 1 << 16 /* computations with buffers */, AUDIT_CALLS = 1 << 20 };

/* Sums of what texts say: no larger than what an integer holds. */
static inline void audit_add(int64_t *sum, int64_t more) {
    if (__builtin_add_overflow(*sum, more, sum)) *sum = INT64_MAX;
}

/* A condition runs once more than the body, whose runs AUDIT_NONE are not known. */
static inline int64_t audit_condition_runs(int64_t trips) {
    if (trips >= 0) audit_add(&trips, 1);
    return trips;
}

static inline void audit_add_sum(ts_audit_sum *to, const ts_audit_sum *sum) {
    to->buffers += sum->buffers;
    audit_add(&to->logical_bytes, sum->logical_bytes);
    audit_add(&to->widened_bytes, sum->widened_bytes);
    audit_add(&to->padded_bytes, sum->padded_bytes);
}

static inline int64_t audit_times(int64_t a, int64_t b) {
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* Counts so many under a kind; `kind` is copied. */
void audit_note(ts_audit *a, int64_t count, int64_t line, const char *kind, ts_span excerpt);
/* The number of a shape's text, or AUDIT_NONE, which is counted. */
int32_t audit_intern(ts_audit *a, int64_t line, ts_span text);
/* Have arrays without tiles those of the rule, as far as the text was read? */
bool audit_takes_rule(const ts_audit *a);
const ts_audit_shape *audit_shape_now(const ts_audit *a,
                                      int32_t shape); /* with what is known of tiles so far */
/* Text that is no instruction: shapes in it, and reports of sizes. */
void audit_message(ts_audit *a, int64_t line, ts_span text);
void audit_close_block(ts_audit *a);
/* The array with the tiles that its text leaves out: those that explain the reported size, else the
 * rule's. */
int32_t audit_with_tiles(ts_audit *a, int64_t line, int32_t shape, const char *reported);
/* A reported size, and how many times that of the values it is ("" where that is not said). */
void audit_compare(ts_audit *a, int64_t line, int32_t shape, const char *reported, const char *expansion);
/* An array whose size the text reports: a buffer, compared. The shape with the tiles that this explains. Of
 * AUDIT_NONE nothing. */
int32_t audit_add_reported(ts_audit *a, int64_t line, ts_span name, int32_t shape, const char *reported);

/* ---- A module's header (audit_header.c) ---- */

void audit_read_header(ts_audit *a, int64_t line, ts_span name, ts_span attributes);
/* The shape of a parameter, with the layout that the header gives it, if it says none itself and no compiler
 * has laid out the module. */
int32_t audit_argument(const ts_audit *a, const ts_hlo_instruction *i, int32_t shape);
/* Of a result, the shape that the header gives it, if no compiler has laid out the module; or AUDIT_NONE. */
int32_t audit_result(const ts_audit *a, int64_t number);

/* ---- Collectives (audit_collective.c) ---- */

/* One that the compiler runs beside other work stands in the fusion that starts it, in each that it runs
 * beside, and in the one that ends it. Is it in any but the first? */
bool audit_collective_goes_on(ts_span attributes);

/* The number of the groups, or pairs, that the attributes state; 0: none; AUDIT_NONE: they are too
 * long, or too many others are kept. */
int32_t audit_keep_groups(ts_audit *a, ts_span attributes);
void audit_price_collective(ts_audit *a, ts_audit_result *r, ts_audit_group *group);

/* ---- Reports of memory (audit_memory.c) ---- */

typedef enum { AUDIT_LINE_NONE, AUDIT_LINE_FIGURES, AUDIT_LINE_ALL } audit_line; /* what of it was read */
enum { AUDIT_SIZE = 16 };
/* "8.00MiB", "276.0K", "4096", "0B" as printed, without "iB"; behind it, or NULL: none is there. */
const char *audit_read_size(ts_span text, char word[AUDIT_SIZE], int64_t *bytes);
audit_line audit_memory_line(ts_audit *a, int64_t line, ts_span text);
void audit_keep_block(ts_audit *a, int32_t shape); /* the entry that ends, of an out-of-memory message */
void audit_finish_memory(ts_audit *a);
void audit_add_buffer(ts_audit *a, int64_t line, ts_span name, ts_hlo_opcode opcode, int32_t shape);
/* Those of an instruction's result that are its own (audit_buffers.c). */
void audit_add_buffers(ts_audit *a, const ts_hlo_instruction *i, ts_hlo_opcode opcode, int32_t shape);
void audit_move(ts_audit *a, const ts_hlo_instruction *i, ts_hlo_opcode opcode, int32_t shape);
bool audit_starts_part(ts_hlo_opcode opcode); /* of which a part alone is read and written */
/* Where what async-start moves lies, by the shape ((operands), result, ..). Left as they are: it says
 * nothing. */
void audit_started_spaces(ts_audit *a, int64_t line, ts_span shape, int spaces[2]);

/* ---- How often loops run (audit_trips.c) ---- */

void audit_follow_value(ts_audit *a, const ts_hlo_instruction *i, ts_hlo_opcode opcode);
void audit_begin_values(ts_audit *a); /* of a computation */
void audit_end_values(ts_audit *a);
void audit_forget_values(ts_audit *a); /* with the computations */
/* How often the body of a `while` runs, by its condition; AUDIT_NONE: that does not say. */
int64_t audit_count_trips(ts_audit *a, const ts_hlo_instruction *i);
/* What the loops of StableHLO begin with, carry and give. */
void audit_loop_part(ts_audit *a, ts_hlo_part part, ts_span values);
/* The same of the innermost loop, whose body ends. */
int64_t audit_count_loop(ts_audit *a);

/* ---- Regions of StableHLO (audit_regions.c) ---- */

/* Those of loops and branches are computations, as HLO's are. */
void audit_region(ts_audit *a, int64_t line, ts_hlo_part part);
void audit_region_end(ts_audit *a);
bool audit_in_region(const ts_audit *a);

/* ---- Who calls whom (audit_calls.c) ---- */

/* The computation that the text is in runs another so often each time; AUDIT_NONE: the text does not say.
 * One that an instruction names twice, as branches, runs once. */
void audit_add_call(ts_audit *a, int64_t line, int32_t callee, uint8_t level, int64_t runs);
/* How often the last caller of it runs it, after all: 0 or more. */
void audit_set_runs(ts_audit *a, int32_t callee, int64_t runs);
/* How often each computation runs, and the level of those that are only called. */
void audit_settle_calls(ts_audit *a);

/* ---- Where it comes from in the user's program (audit_source.c) ---- */

/* The hash of the name that an operand ends with. */
uint64_t audit_hash_operand(ts_span operand);
/* Of the instruction that is looked at. */
void audit_find_source(ts_audit *a, ts_audit_source *source);
/* If the move that was kept last has no location, what reads it later may. */
void audit_await_reader(ts_audit *a, ts_span name);
/* An instruction that may read what is awaited, or make what is moved. */
void audit_see_location(ts_audit *a, const ts_hlo_instruction *i);
void audit_forget_awaited(ts_audit *a); /* a computation ends, or moves get other numbers */

/* ---- Which copies a compiler will insert (audit_copies.c) ---- */

void audit_copies_begin(ts_audit *a, ts_span name, bool entry); /* a computation */
/* shape: the instruction's, with the layout that a header gives it. */
void audit_copies_add(ts_audit *a, const ts_hlo_instruction *i, ts_hlo_opcode opcode, int32_t shape);
void audit_copies_return(ts_audit *a, ts_span operands);
/* Values that regions and branches read, whose results follow from them. */
void audit_copies_read(ts_audit *a, ts_span values);
void audit_copies_finish(ts_audit *a, ts_audit_result *r);

/* ---- What is kept, and bounded ---- */

void audit_keep_init(ts_audit *a);
/* The list with room for one more, `most` in all: what is not used of it costs nothing, and those before are a
 * third of it in all. */
static inline void *audit_room(ts_audit *a, void *list, int64_t count, int64_t *capacity, int64_t most,
                               size_t size) {
    if (count < *capacity) return list;
    *capacity = *capacity == 0 ? 256 : 4 * *capacity;
    if (*capacity > most) *capacity = most;
    return ts_arena_grow(a->arena, list, (size_t)count, (size_t)*capacity, size);
}
/* As much as there is room for, with '?' in place of what does not print, and a NUL. */
void audit_keep_printable(char *out, size_t size, ts_span text);
void audit_keep_buffer(ts_audit *a, const ts_audit_buffer *buffer, ts_span name);
/* Compare buffers: by shape, memory space and line; the most waste first, then by line. */
int audit_by_shape(const void *x, const void *y);
int audit_by_waste(const void *x, const void *y);
void audit_keep_move(ts_audit *a, const ts_audit_move *move, ts_span name);
/* In an order of their own; moves that differ in nothing but where they are become one. */
void audit_merge_moves(ts_audit *a);
int32_t audit_new_computation(ts_audit *a, uint64_t hash, int64_t line, ts_span name);
/* Makes room for one more call: what `name` stands for is looked up behind it. */
void audit_reserve_call(ts_audit *a, int64_t line, ts_span name);
/* The sums of the current computation. */
space_sum *audit_sums(ts_audit *a, int64_t line);
/* No further text says how the computations so far are called: their buffers and moves count as they are, and
 * they are forgotten, but for the one that the text is in. */
void audit_settle(ts_audit *a);
/* AUDIT_NONE: there are too many. */
int32_t audit_new_shape(ts_audit *a, const shape_record *record);
/* Forgets shapes that nothing refers to, when there are many. Only between events: the others get new
 * numbers. */
void audit_forget_shapes(ts_audit *a);

/* Does it start what another instruction waits for, and is its shape a tuple with the operands? The member
 * that it makes. */
bool audit_is_start(ts_hlo_opcode opcode);
bool audit_is_message(ts_hlo_opcode opcode); /* (data, flag, token) */
ts_span audit_started(ts_hlo_opcode opcode, ts_span shape);

/* What a name stands for, in the table of names. */
enum { NAME_SHAPE = (1 << 24) - 1, NAME_PARAMETER = 1 << 24, NAME_KERNEL = 1 << 25 };

#endif
