/* The instructions that only move data: what each reads, writes and changes. */
#include <stdio.h>
#include <string.h>

#include "audit_state.h"

/* An operand: its shape by its own text or by its name, with what else is known of the name. */
static int32_t find_operand(ts_audit *a, int64_t line, ts_span operands, int number, int32_t *flags) {
    ts_span item;
    bool cut;
    *flags = 0;
    if (!ts_hlo_item(operands, number, &item)) return AUDIT_NONE;
    const char *end = item.text + item.length;
    const char *behind = item.length > 0 ? ts_hlo_shape_end(item.text, end, &cut) : NULL;
    int32_t known = ts_table_get(&a->names, audit_hash_operand(item));
    if (known >= 0) *flags = known & ~NAME_SHAPE;
    if (behind) return audit_intern(a, line, (ts_span){item.text, (size_t)(behind - item.text)});
    return known >= 0 ? known & NAME_SHAPE : AUDIT_NONE;
}

/* dimensions={1,0}; false: there are none, or not as many as the array has. */
static bool read_permutation(ts_span attributes, int rank, int *permutation) {
    ts_span value, item;
    bool seen[TS_LAYOUT_MAX_DIMS] = {false};
    int count = 0;
    if (!ts_hlo_attribute(attributes, "dimensions", &value)) return false;
    value = ts_hlo_inside(value);
    while (ts_hlo_next(&value, &item)) {
        int64_t dim = ts_hlo_number(item);
        if (count == rank || dim < 0 || dim >= rank || seen[dim]) return false;
        seen[dim] = true;
        permutation[count++] = (int)dim;
    }
    return count == rank;
}

/* The dims of a transpose are kept, for it is compared when all is read. */
static bool keep_permutation(ts_audit *a, const ts_hlo_instruction *i, int32_t dst, int8_t *kept) {
    int permutation[TS_LAYOUT_MAX_DIMS], rank = a->shapes[dst].rank;
    if (rank > TS_AUDIT_PERMUTED || !read_permutation(i->attributes, rank, permutation)) return false;
    for (int k = 0; k < rank; k++) kept[k] = (int8_t)permutation[k];
    return true;
}

bool ts_audit_updates(ts_hlo_opcode opcode) {
    return opcode == TS_HLO_OP_DYNAMIC_UPDATE_SLICE || opcode == TS_HLO_OP_DYNAMIC_UPDATE_SLICE_START;
}

/* Which operand holds what is moved. */
static int source_of(ts_hlo_opcode opcode) { return opcode == TS_HLO_OP_DYNAMIC_UPDATE_SLICE ? 1 : 0; }

/* Does it read only a part of its operand, as large as the result? */
static bool takes_part(ts_hlo_opcode opcode) {
    return opcode == TS_HLO_OP_SLICE || opcode == TS_HLO_OP_DYNAMIC_SLICE;
}

static int32_t only_array(const ts_audit *a, int32_t shape) {
    if (shape == AUDIT_NONE) return AUDIT_NONE;
    const shape_record *record = &a->shapes[shape];
    if (!record->is_tuple) return shape;
    return record->leaf_count == 1 ? record->leaves[0] : AUDIT_NONE;
}

static int space_of(const ts_audit *a, int32_t shape) { return a->shapes[shape].linear.memory_space; }

/* The array that is member `number` of a tuple's text, or of the tuple that this member is. */
static int32_t member(ts_audit *a, int64_t line, ts_span tuple, int number, int within) {
    ts_span item;
    if (!ts_hlo_begins(tuple, "(") || !ts_hlo_item(ts_hlo_inside(tuple), number, &item)) return AUDIT_NONE;
    if (item.length > 0 && *item.text == '(' && within >= 0) return member(a, line, item, within, -1);
    return item.length > 0 ? only_array(a, audit_intern(a, line, item)) : AUDIT_NONE;
}

/* copy-start: (destination, source, flag); the others: ((operands), destination, flag). */
static void read_started(ts_audit *a, int64_t line, ts_hlo_opcode opcode, ts_span shape, int32_t *src,
                         int32_t *dst) {
    bool copies = opcode == TS_HLO_OP_COPY_START, updates = opcode == TS_HLO_OP_DYNAMIC_UPDATE_SLICE_START;
    int32_t all = audit_intern(a, line, shape);
    if (copies && all != AUDIT_NONE && a->shapes[all].leaf_count > 1) {
        *dst = a->shapes[all].leaves[0];
        *src = a->shapes[all].leaves[1];
        return;
    }
    *dst = member(a, line, shape, 1, 0);
    *src = copies ? AUDIT_NONE : member(a, line, shape, 0, updates ? 1 : 0);
}

void audit_started_spaces(ts_audit *a, int64_t line, ts_span shape, int spaces[2]) {
    int32_t src, dst;
    read_started(a, line, TS_HLO_OP_SLICE_START, shape, &src, &dst);
    if (src == AUDIT_NONE || dst == AUDIT_NONE) return;
    spaces[0] = space_of(a, src);
    spaces[1] = space_of(a, dst);
}

bool audit_starts_part(ts_hlo_opcode opcode) {
    return opcode == TS_HLO_OP_SLICE_START || opcode == TS_HLO_OP_DYNAMIC_SLICE_START ||
           opcode == TS_HLO_OP_DYNAMIC_UPDATE_SLICE_START;
}

static bool is_started(ts_hlo_opcode opcode) {
    return opcode == TS_HLO_OP_COPY_START || audit_starts_part(opcode);
}

static bool is_transfer(ts_hlo_opcode opcode) {
    return ts_hlo_opcode_class(opcode) == TS_HLO_MOVES || opcode == TS_HLO_OP_BITCAST;
}

/* The bytes of a collective's result, and the array that is most of it. */
static void add_results(ts_audit *a, int32_t shape, ts_audit_move *move) {
    const shape_record *record = &a->shapes[shape];
    int64_t most = -1;
    int32_t count = record->is_tuple ? record->leaf_count : 1;
    for (int32_t k = 0; k < count; k++) {
        int32_t array = record->is_tuple ? record->leaves[k] : shape;
        int64_t bytes = audit_shape_now(a, array)->padded_bytes;
        audit_add(&move->written_bytes, bytes);
        if (bytes <= most) continue;
        most = bytes;
        move->dst = array;
    }
}

static void move_collective(ts_audit *a, const ts_hlo_instruction *i, ts_hlo_opcode opcode, int32_t shape) {
    if (*i->shape.text == '(' && (audit_is_start(opcode) || audit_is_message(opcode))) {
        ts_span made = audit_started(opcode, i->shape);
        shape = made.length > 0 ? audit_intern(a, i->line, made) : AUDIT_NONE;
        if (shape == AUDIT_NONE) return;
    }
    ts_audit_move move = {.line = i->line,
                          .opcode = opcode,
                          .src = AUDIT_NONE,
                          .dst = AUDIT_NONE,
                          .groups = audit_keep_groups(a, i->attributes),
                          .computation = a->current};
    add_results(a, shape, &move);
    if (move.dst == AUDIT_NONE) return;
    audit_keep_move(a, &move, i->name);
}

/* A fusion of this name keeps parts of an all-reduce's results: the chip does a reduce-scatter (jax scaling
 * book, profiling.md, where one was measured). */
static void end_scatter(ts_audit *a, int32_t result) {
    for (int64_t k = a->move_count; k-- > a->moves_settled && a->moves[k].computation == a->current;) {
        ts_audit_move *move = &a->moves[k];
        if (move->opcode != TS_HLO_OP_ALL_REDUCE) continue;
        move->opcode = TS_HLO_OP_REDUCE_SCATTER;
        move->written_bytes = 0;
        add_results(a, result, move);
        return;
    }
}

static void note_unpriced(ts_audit *a, const ts_hlo_instruction *i, const char *why) {
    char kind[96];
    snprintf(kind, sizeof kind, "%s: not priced", why);
    audit_note(a, 1, i->line, kind, i->name);
}

static const char no_operand[] = "a move whose operand is not in the text";

/* One move for each memory that operands lie in, of their bytes. */
static void move_concatenated(ts_audit *a, const ts_hlo_instruction *i, ts_audit_move *move) {
    int64_t bytes[TS_AUDIT_SPACES] = {0};
    int32_t flags;
    ts_span rest = i->operands, item;
    while (ts_hlo_next(&rest, &item)) {
        int32_t src = only_array(a, find_operand(a, i->line, item, 0, &flags));
        if (src == AUDIT_NONE) return note_unpriced(a, i, no_operand);
        int space = space_of(a, src);
        audit_add(&bytes[space < TS_AUDIT_SPACES - 1 ? space : TS_AUDIT_SPACES - 1],
                  audit_shape_now(a, src)->padded_bytes);
    }
    int used = 0;
    for (int k = 0; k < TS_AUDIT_SPACES; k++) used += bytes[k] > 0;
    move->written_bytes = audit_shape_now(a, move->dst)->padded_bytes;
    for (int k = 0; k < TS_AUDIT_SPACES; k++) {
        if (bytes[k] == 0) continue;
        move->from = k;
        move->read_bytes = bytes[k];
        if (used > 1) move->written_bytes = bytes[k];
        audit_keep_move(a, move, i->name);
    }
}

/* A bitcast: of no bytes. Of arrays whose text has no tiles it says nothing of those that are assumed. */
static void move_nothing(ts_audit *a, const ts_hlo_instruction *i, const ts_audit_move *move) {
    a->bitcasts++;
    if (move->src != AUDIT_NONE &&
        a->shapes[move->src].linear.padded_bytes != a->shapes[move->dst].linear.padded_bytes)
        audit_note(a, 1, i->line, "a bitcast between different numbers of bytes", i->name);
    audit_keep_move(a, move, i->name);
}

/* What it reads and writes, and where. */
static void fill_move(ts_audit *a, const ts_hlo_instruction *i, ts_audit_move *move, int32_t result) {
    ts_hlo_opcode opcode = move->opcode;
    move->to = space_of(a, result);
    move->from = move->src == AUDIT_NONE ? move->to : space_of(a, move->src);
    if (opcode == TS_HLO_OP_TRANSPOSE) move->not_read = !keep_permutation(a, i, move->dst, move->permutation);
    if (move->not_read) note_unpriced(a, i, "a transpose whose dimensions cannot be read");
    move->written_bytes = audit_shape_now(a, move->dst)->padded_bytes;
    bool part = takes_part(opcode) || audit_starts_part(opcode);
    move->read_bytes = part ? move->written_bytes : audit_shape_now(a, move->src)->padded_bytes;
    if (takes_part(opcode)) move->src = AUDIT_NONE; /* those of many arrays are alike */
}

/* From which array to which, and from whose; returns the array that results. */
static int32_t begin_move(ts_audit *a, const ts_hlo_instruction *i, int32_t shape, ts_audit_move *move) {
    int32_t flags = 0, first = find_operand(a, i->line, i->operands, source_of(move->opcode), &flags);
    memset(move->permutation, -1, sizeof move->permutation);
    move->src = only_array(a, first);
    move->dst = only_array(a, shape);
    if (is_started(move->opcode) && *i->shape.text == '(')
        read_started(a, i->line, move->opcode, i->shape, &move->src, &move->dst);
    int32_t result = move->dst;
    if (ts_audit_updates(move->opcode)) move->dst = move->src; /* the rest stays where it is */
    move->trips_unknown = i->lost;
    move->from_parameter = (flags & NAME_PARAMETER) != 0;
    move->from_kernel = (flags & NAME_KERNEL) != 0;
    return result;
}

/* What is started under a name that any instruction has so: the instruction, and what it makes. */
static ts_hlo_opcode started_move(ts_audit *a, const ts_hlo_instruction *i, int32_t *shape) {
    ts_hlo_opcode opcode = ts_hlo_opcode_started(i->opcode);
    ts_hlo_class class = ts_hlo_opcode_class(opcode);
    if (class != TS_HLO_MOVES && class != TS_HLO_COLLECTIVE) return TS_HLO_OP_ASYNC_START;
    ts_span made = audit_started(TS_HLO_OP_ASYNC_START, i->shape);
    *shape = made.length > 0 ? audit_intern(a, i->line, made) : AUDIT_NONE;
    return *shape == AUDIT_NONE ? TS_HLO_OP_ASYNC_START : opcode;
}

void audit_move(ts_audit *a, const ts_hlo_instruction *i, ts_hlo_opcode opcode, int32_t shape) {
    if (a->current_scatters && i->root) end_scatter(a, shape);
    if (opcode == TS_HLO_OP_ASYNC_START) opcode = started_move(a, i, &shape);
    if (ts_hlo_opcode_class(opcode) == TS_HLO_COLLECTIVE) {
        if (!audit_collective_goes_on(i->attributes)) move_collective(a, i, opcode, shape);
        return;
    }
    if (!is_transfer(opcode)) return;
    ts_audit_move move = {.line = i->line, .opcode = opcode, .computation = a->current};
    int32_t result = begin_move(a, i, shape, &move);
    if (result == AUDIT_NONE)
        note_unpriced(a, i, "a move of a tuple");
    else if (move.src == AUDIT_NONE && opcode != TS_HLO_OP_BITCAST)
        note_unpriced(a, i, no_operand);
    else if (opcode == TS_HLO_OP_BITCAST)
        move_nothing(a, i, &move);
    else if (opcode == TS_HLO_OP_CONCATENATE)
        move.to = space_of(a, result), move.src = AUDIT_NONE, move_concatenated(a, i, &move);
    else
        fill_move(a, i, &move, result), audit_keep_move(a, &move, i->name);
}
