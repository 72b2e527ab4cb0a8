/* What an audit collects while text comes. */
#ifndef SIM_STUDY_AUDIT_STATE_H
#define SIM_STUDY_AUDIT_STATE_H

#include "audit_private.h"

/* A distinct text of a shape: an array, or a tuple of leaves. */
typedef struct {
    const char *text, *rule_text; /* of arrays; rule_text: with the rule's tiles, NULL when there are tiles */
    ts_audit_shape linear, ruled;
    const int32_t *leaves; /* of a tuple: NULL for an array */
    int32_t leaf_count;
    bool is_tuple;
} shape_record;

/* Of buffers, by where they are. */
enum { SPACE_HBM, SPACE_VMEM, SPACE_CMEM, SPACE_HOST, SPACE_OTHER, SPACE_CLASSES };

typedef struct {
    int64_t buffers, logical, widened, linear, ruled;
} space_sum;

typedef struct {
    ts_audit_level level;
    int32_t parent; /* -1 */
    int64_t trips;  /* of the loop whose body it is; 1 otherwise; 0: the loop does not say */
    bool by_name;   /* nothing said how it is called; its name says that it is fused */
    space_sum sums[SPACE_CLASSES];
} computation_record;

/* An entry of an out-of-memory report. */
typedef struct {
    bool open, labelled; /* labelled: its instruction was read */
    int64_t line;
    char size[16], unpadded[16], expansion[12];
    char shape[512];
} report_block;

struct ts_audit {
    ts_arena *arena, *scratch;
    const ts_audit_request *request;
    ts_hlo_reader *reader;
    ts_hlo_events events;
    audit_table shape_table, names, computation_table;
    shape_record *shapes;
    int64_t shape_count, shape_capacity, pool_bytes;
    computation_record *computations;
    int32_t computation_count, computation_capacity, current; /* current: -1 outside */
    space_sum outside[SPACE_CLASSES];
    bool current_fused, any_tiles, has_entry, has_mlir;
    ts_audit_buffer *buffers;
    ts_audit_move *moves;
    int64_t buffer_count, buffer_capacity, buffers_dropped, least_waste;
    int64_t move_count, move_capacity, moves_dropped, least_bytes;
    int64_t bitcasts, free_moves, collectives, collective_bytes, donated;
    ts_audit_kind kinds[TS_AUDIT_KINDS];
    int kind_count;
    const char *module;
    int32_t *entry_shapes;
    int64_t entry_count;
    report_block block;
    ts_audit_report *reports;
    int report_count, report_capacity;
};

enum {
    AUDIT_NONE = -1,
    AUDIT_FUSED = -2 /* a computation that is not kept, whose name says that it is fused */
};

/* Counts so many under a kind; `kind` is copied. */
void audit_note(ts_audit *a, int64_t count, int64_t line, const char *kind, ts_hlo_span excerpt);
/* The number of a shape's text, or AUDIT_NONE, which is counted. */
int32_t audit_intern(ts_audit *a, int64_t line, ts_hlo_span text);
const ts_audit_shape *audit_shape_now(const ts_audit *a,
                                      int32_t shape); /* with what is known of tiles so far */
/* Text that is no instruction: shapes in it, and reports of sizes. */
void audit_message(ts_audit *a, int64_t line, ts_hlo_span text);
void audit_close_block(ts_audit *a);
void audit_add_buffer(ts_audit *a, int64_t line, ts_hlo_span name, ts_hlo_opcode opcode, int32_t shape);
void audit_move(ts_audit *a, const ts_hlo_instruction *i, ts_hlo_opcode opcode, int32_t shape);

/* Does it start what another instruction waits for, and is its shape a tuple with the operands? The member
 * that it makes. */
bool audit_is_start(ts_hlo_opcode opcode);
ts_hlo_span audit_started(ts_hlo_opcode opcode, ts_hlo_span shape);

/* What a name stands for, in the table of names. */
enum { NAME_SHAPE = (1 << 24) - 1, NAME_PARAMETER = 1 << 24, NAME_KERNEL = 1 << 25 };

#endif
