/* The shapes of a text, each once by a number, and the buffers that have them. */
#include <stdio.h>
#include <string.h>

#include "audit_state.h"
#include "base/list.h"
#include "layout/notation/xla.h"

enum { MOST_TEXT_BYTES = 64 << 20, MOST_DEPTH = 64 };

/* ---- Shapes ---- */

static const char *without_comments(ts_audit *a, ts_span text) {
    char *out = ts_arena_alloc(a->texts, text.length + 1, 1);
    size_t length = 0;
    for (size_t i = 0; i < text.length; i++)
        if (text.text[i] != ' ') out[length++] = text.text[i];
    return out;
}

/* The array as the TPU compiler's rule tiles it, where the text gives no tiles. */
static void size_ruled(ts_audit *a, const ts_shape *shape, shape_record *record) {
    record->ruled = record->linear;
    const ts_shape *ruled = audit_shape_tiled(a->scratch, a->request->machine, shape, !a->unscheduled);
    if (!ruled) return;
    ts_text printed = ts_text_begin(a->scratch);
    ts_shape_print(ruled, &printed);
    record->ruled = (ts_audit_shape){0};
    audit_shape_size(a->scratch, ruled, &record->ruled);
    record->rule_text = ts_arena_copy_text(a->texts, printed.bytes, printed.length);
    record->ruled.text = record->rule_text;
    record->ruled.assumed = true;
}

static bool size_array(ts_audit *a, int64_t line, ts_span text, shape_record *record) {
    ts_error err = {0};
    const ts_shape *shape = audit_parse(&err, a->scratch, text.text, text.length);
    if (!shape || !shape->xla) {
        char kind[160];
        snprintf(kind, sizeof kind, "shape: %.140s", shape ? "it has no size" : err.message);
        audit_note(a, 1, line, kind, text);
        return false;
    }
    if (!audit_shape_size(a->scratch, shape, &record->linear)) {
        audit_note(a, 1, line, "shape: an unbounded dimension has no size", text);
        return false;
    }
    record->rank = (int8_t)shape->xla->rank;
    record->text = without_comments(a, text);
    record->linear.text = record->text;
    record->linear.tiled = shape->xla->tile_count > 0;
    a->any_tiles |= record->linear.tiled;
    size_ruled(a, shape, record);
    return true;
}

typedef LIST_OF(int32_t) leaf_list;

static void add_leaf(ts_audit *a, leaf_list *leaves, int32_t leaf) {
    if (leaf == AUDIT_NONE) return;
    *PUSH(a->texts, leaves) = leaf;
}

/* Of no array. */
static bool is_empty(ts_span shape) {
    return ts_hlo_begins(shape, "token[") || ts_hlo_begins(shape, "opaque[");
}

/* The leaves of a tuple that are arrays; those that a report leaves out, "...(+6)", are counted. */
static void read_leaves(ts_audit *a, int64_t line, ts_span text, int depth, leaf_list *leaves) {
    ts_span rest = ts_hlo_inside(text), item;
    while (ts_hlo_next(&rest, &item)) {
        bool tuple = ts_hlo_begins(item, "(");
        if (tuple && depth == MOST_DEPTH)
            audit_note(a, 1, line, "tuples nested more than 64 deep", (ts_span){"", 0});
        else if (tuple)
            read_leaves(a, line, item, depth + 1, leaves);
        else if (ts_hlo_begins(item, "..."))
            audit_note(a, 1, line, "members of a tuple that the text leaves out", item);
        else if (item.length > 0 && !is_empty(item))
            add_leaf(a, leaves, audit_intern(a, line, item));
    }
}

int32_t audit_intern(ts_audit *a, int64_t line, ts_span text) {
    uint64_t hash = audit_hash_name(text);
    int32_t known = ts_table_get(&a->shape_table, hash);
    if (known >= 0) return a->shapes[known].is_tuple || a->shapes[known].text ? known : AUDIT_NONE;
    shape_record record = {.hash = hash};
    if (a->text_bytes > MOST_TEXT_BYTES || a->shape_count >= TS_AUDIT_SHAPES) {
        audit_note(a, 1, line, "shapes beyond those that are kept", text);
        return AUDIT_NONE;
    }
    bool tuple = text.length >= 2 && *text.text == '(', good = true;
    record.is_tuple = tuple || is_empty(text); /* which is one of nothing */
    if (tuple) {
        leaf_list leaves = {0};
        read_leaves(a, line, text, 0, &leaves);
        record.leaves = leaves.items;
        record.leaf_count = leaves.count;
    } else if (!record.is_tuple) {
        good = size_array(a, line, text, &record);
        ts_arena_reset(a->scratch);
    }
    return good ? audit_new_shape(a, &record) : AUDIT_NONE;
}

bool audit_takes_rule(const ts_audit *a) {
    ts_audit_untiled choice = a->request->untiled;
    return choice == TS_AUDIT_UNTILED_RULE || (choice == TS_AUDIT_UNTILED_AUTO && !a->any_tiles);
}

const ts_audit_shape *audit_shape_now(const ts_audit *a, int32_t shape) {
    const shape_record *record = &a->shapes[shape];
    return audit_takes_rule(a) ? &record->ruled : &record->linear;
}

/* ---- Buffers ---- */

const space_row audit_spaces[SPACE_CLASSES] = {
#define SPACE(id, number, name, written) {number, name, written},
#include "audit/spaces.def"
    {TS_AUDIT_SPACES - 1, "other", NULL}};

static int space_class(int space) {
    for (int k = 0; k < SPACE_OTHER; k++)
        if (audit_spaces[k].number == space) return k;
    return SPACE_OTHER;
}

const char *ts_audit_space_name(int number) { return audit_spaces[space_class(number)].name; }

static void add_shape(ts_audit_sum *sum, const ts_audit_shape *shape) {
    audit_add_sum(sum, &(ts_audit_sum){.buffers = 1,
                                       .logical_bytes = shape->logical_bytes,
                                       .widened_bytes = shape->widened_bytes,
                                       .padded_bytes = shape->padded_bytes});
}

void audit_add_buffer(ts_audit *a, int64_t line, ts_span name, ts_hlo_opcode opcode, int32_t shape) {
    const shape_record *record = &a->shapes[shape];
    int space = record->linear.memory_space;
    bool headed = space == 0 && a->current < 0 && a->heading_space > 0 && opcode == TS_HLO_OP_UNKNOWN;
    if (headed) space = a->heading_space; /* "Largest program allocations in vmem:" */
    space_sum *sum = &audit_sums(a, line)[space_class(space)];
    const ts_audit_shape *now = audit_shape_now(a, shape);
    add_shape(&sum->linear, &record->linear);
    add_shape(&sum->ruled, &record->ruled);
    ts_audit_buffer buffer = {.line = line,
                              .opcode = opcode,
                              .shape = shape,
                              .computation = a->current,
                              .space = space,
                              .waste_bytes = now->padded_bytes - now->logical_bytes};
    audit_keep_buffer(a, &buffer, name);
}

bool audit_is_message(ts_hlo_opcode opcode) { return opcode == TS_HLO_OP_SEND || opcode == TS_HLO_OP_RECV; }

/* The member that a start operation makes, or that goes to another device; the others exist already, or are
 * flags. */
ts_span audit_started(ts_hlo_opcode opcode, ts_span shape) {
    int wanted = opcode == TS_HLO_OP_COPY_START || audit_is_message(opcode) ? 0 : 1;
    ts_span item;
    if (shape.length < 2 || *shape.text != '(') return shape;
    return ts_hlo_item(ts_hlo_inside(shape), wanted, &item) ? item : (ts_span){"", 0};
}

/* all-reduce-start has the shape of its result alone. */
bool audit_is_start(ts_hlo_opcode opcode) {
    const char *name = ts_hlo_opcode_name(opcode);
    size_t length = strlen(name);
    return length > 6 && strcmp(name + length - 6, "-start") == 0 && opcode != TS_HLO_OP_ALL_REDUCE_START;
}
