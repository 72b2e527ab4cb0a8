/* The instructions that only move data: what each reads, writes and changes. */
#include <stdlib.h>
#include <string.h>

#include "audit_state.h"
#include "tilesim/layout/xla.h"

/* An operand: its shape by its own text or by its name, with what else is known of the name. */
static int32_t find_operand(ts_audit *a, int64_t line, ts_hlo_span operands, int number, int32_t *flags) {
    ts_hlo_span item;
    bool cut;
    *flags = 0;
    do {
        if (!ts_hlo_next(&operands, &item)) return AUDIT_NONE;
    } while (number-- > 0);
    const char *end = item.text + item.length, *at = end;
    const char *behind = item.length > 0 ? ts_hlo_shape_end(item.text, end, &cut) : NULL;
    while (at > item.text && at[-1] != ' ' && at[-1] != '%') at--;
    int32_t known = audit_table_get(&a->names, audit_hash(at, (size_t)(end - at)));
    if (known >= 0) *flags = known & ~NAME_SHAPE;
    if (behind) return audit_intern(a, line, (ts_hlo_span){item.text, (size_t)(behind - item.text)});
    return known >= 0 ? known & NAME_SHAPE : AUDIT_NONE;
}

/* dimensions={1,0}; false: there are none, or not as many as the array has. */
static bool read_permutation(ts_hlo_span attributes, int rank, int *permutation) {
    ts_hlo_span value, item;
    bool seen[TS_LAYOUT_MAX_DIMS] = {false};
    int count = 0;
    if (!ts_hlo_attribute(attributes, "dimensions", &value) || value.length < 2) return false;
    value = (ts_hlo_span){value.text + 1, value.length - 2};
    while (ts_hlo_next(&value, &item)) {
        int dim = item.length == 0 ? -1 : 0;
        for (size_t k = 0; k < item.length && dim >= 0; k++) {
            bool digit = item.text[k] >= '0' && item.text[k] <= '9';
            dim = digit && dim < TS_LAYOUT_MAX_DIMS ? 10 * dim + (item.text[k] - '0') : -1;
        }
        if (count == rank || dim < 0 || dim >= rank || seen[dim]) return false;
        seen[dim] = true;
        permutation[count++] = dim;
    }
    return count == rank;
}

static const char *text_of(const ts_audit *a, int32_t shape) {
    const ts_audit_shape *now = audit_shape_now(a, shape);
    return now->text;
}

static unsigned compare(ts_audit *a, const ts_hlo_instruction *i, int32_t src, int32_t dst,
                        int8_t kept[TS_AUDIT_PERMUTED]) {
    int permutation[TS_LAYOUT_MAX_DIMS];
    const char *from = text_of(a, src), *to = text_of(a, dst);
    const ts_shape *x = audit_parse(NULL, a->scratch, from, strlen(from));
    const ts_shape *y = audit_parse(NULL, a->scratch, to, strlen(to));
    bool turns = y && y->xla && read_permutation(i->attributes, y->xla->rank, permutation);
    unsigned changes = x && y ? audit_changes(x, y, turns ? permutation : NULL) : 0;
    for (int k = 0; turns && y->xla->rank <= TS_AUDIT_PERMUTED && k < y->xla->rank; k++)
        kept[k] = (int8_t)permutation[k];
    ts_arena_reset(a->scratch);
    return changes;
}

/* Which operand holds what is moved; -1: it does not matter, the result says it all. */
static int source_of(ts_hlo_opcode opcode) {
    switch (opcode) {
    case TS_HLO_OP_SLICE:
    case TS_HLO_OP_DYNAMIC_SLICE:
    case TS_HLO_OP_CONCATENATE:
        return -1;
    case TS_HLO_OP_DYNAMIC_UPDATE_SLICE:
        return 1;
    default:
        return 0;
    }
}

static int32_t only_array(const ts_audit *a, int32_t shape) {
    if (shape == AUDIT_NONE) return AUDIT_NONE;
    const shape_record *record = &a->shapes[shape];
    if (!record->is_tuple) return shape;
    return record->leaf_count == 1 ? record->leaves[0] : AUDIT_NONE;
}

/* copy-start: (destination, source, flag); slice-start: ((source), destination, flag). */
static bool read_started(const ts_audit *a, ts_hlo_opcode opcode, int32_t shape, int32_t *src, int32_t *dst) {
    const shape_record *record = &a->shapes[shape];
    if (!record->is_tuple || record->leaf_count < 2) return false;
    bool copies = opcode == TS_HLO_OP_COPY_START;
    *dst = record->leaves[copies ? 0 : 1];
    *src = record->leaves[copies ? 1 : 0];
    return true;
}

static bool is_started(ts_hlo_opcode opcode) {
    return opcode == TS_HLO_OP_COPY_START || opcode == TS_HLO_OP_SLICE_START ||
           opcode == TS_HLO_OP_DYNAMIC_SLICE_START || opcode == TS_HLO_OP_DYNAMIC_UPDATE_SLICE_START;
}

static bool is_transfer(ts_hlo_opcode opcode) {
    return ts_hlo_opcode_class(opcode) == TS_HLO_MOVES || opcode == TS_HLO_OP_BITCAST;
}

static void move_collective(ts_audit *a, const ts_hlo_instruction *i, ts_hlo_opcode opcode, int32_t shape) {
    if (*i->shape.text == '(' && audit_is_start(opcode)) {
        ts_hlo_span made = audit_started(opcode, i->shape);
        shape = made.length > 0 ? audit_intern(a, i->line, made) : AUDIT_NONE;
        if (shape == AUDIT_NONE) return;
    }
    const shape_record *record = &a->shapes[shape];
    ts_audit_move move = {.line = i->line,
                          .opcode = opcode,
                          .src = AUDIT_NONE,
                          .dst = only_array(a, shape),
                          .computation = a->current};
    for (int32_t k = 0; k < record->leaf_count; k++)
        audit_add(&move.written_bytes, audit_shape_now(a, record->leaves[k])->padded_bytes);
    if (!record->is_tuple) move.written_bytes = audit_shape_now(a, shape)->padded_bytes;
    if (record->is_tuple && record->leaf_count > 0 && move.dst == AUDIT_NONE)
        move.dst = record->leaves[record->leaf_count - 1];
    if (move.dst == AUDIT_NONE) return;
    audit_keep_move(a, &move, i->name);
}

void audit_move(ts_audit *a, const ts_hlo_instruction *i, ts_hlo_opcode opcode, int32_t shape) {
    if (ts_hlo_opcode_class(opcode) == TS_HLO_COLLECTIVE) {
        move_collective(a, i, opcode, shape);
        return;
    }
    if (!is_transfer(opcode)) return;
    ts_audit_move move = {.line = i->line, .opcode = opcode, .src = AUDIT_NONE, .computation = a->current};
    memset(move.permutation, -1, sizeof move.permutation);
    int32_t src = AUDIT_NONE, dst = only_array(a, shape), flags = 0;
    if (is_started(opcode)) {
        if (!read_started(a, opcode, shape, &src, &dst)) return;
        (void)find_operand(a, i->line, i->operands, 0, &flags);
    } else if (source_of(opcode) >= 0) {
        src = only_array(a, find_operand(a, i->line, i->operands, source_of(opcode), &flags));
    }
    if (dst == AUDIT_NONE) return;
    if (opcode == TS_HLO_OP_DYNAMIC_UPDATE_SLICE) dst = src; /* the rest stays where it is */
    if (dst == AUDIT_NONE) {
        audit_note(a, 1, i->line, "a move whose operand is not in the text: not priced", i->name);
        return;
    }
    if (src == AUDIT_NONE && source_of(opcode) >= 0 && opcode != TS_HLO_OP_BITCAST) {
        audit_note(a, 1, i->line, "a move whose operand is not in the text: not priced", i->name);
        return;
    }
    move.dst = dst;
    move.src = src;
    move.from_parameter = (flags & NAME_PARAMETER) != 0;
    move.from_kernel = (flags & NAME_KERNEL) != 0;
    if (opcode == TS_HLO_OP_BITCAST) {
        a->bitcasts++;
        if (src != AUDIT_NONE &&
            audit_shape_now(a, src)->padded_bytes != audit_shape_now(a, dst)->padded_bytes)
            audit_note(a, 1, i->line, "a bitcast between different numbers of bytes", i->name);
        audit_keep_move(a, &move, i->name); /* of no bytes */
        return;
    }
    /* The others are compared when all is read, once for all that are alike. */
    if (opcode == TS_HLO_OP_TRANSPOSE) move.changes = compare(a, i, src, dst, move.permutation);
    /* A slice reads what it gives, not all of its source. */
    bool part = (is_started(opcode) && opcode != TS_HLO_OP_COPY_START) || src == AUDIT_NONE;
    move.written_bytes = audit_shape_now(a, dst)->padded_bytes;
    move.read_bytes = part ? move.written_bytes : audit_shape_now(a, src)->padded_bytes;
    audit_keep_move(a, &move, i->name);
}
