/* The audit: HLO text in, tables of shapes, buffers, moves and computations. */
#include "audit/audit.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "audit_state.h"

/* ---- Computations ---- */

static bool is_fused(ts_span name) {
    return ts_hlo_begins(name, "fused_computation") || memmem(name.text, name.length, "fusion", 6) != NULL ||
           memmem(name.text, name.length, ".fused", 6) != NULL;
}

static int32_t computation_named(ts_audit *a, int64_t line, ts_span name) {
    name = audit_bare_name(name);
    uint64_t hash = audit_hash_name(name);
    int32_t known = ts_table_get(&a->computation_table, hash);
    if (known >= 0) return known;
    int32_t made = audit_new_computation(a, hash, line, name);
    a->computations[made].by_name = is_fused(name);
    return made;
}

static void call(ts_audit *a, int64_t line, ts_span name, uint8_t level, int64_t trips) {
    if (name.length == 0) return;
    audit_reserve_call(a, line, name);
    audit_add_call(a, line, computation_named(a, line, name), level, trips);
}

/* By the condition, else as the compiler states it. */
static int64_t trips_of(ts_audit *a, const ts_hlo_instruction *i) {
    int64_t stated = ts_hlo_stated_number(i->attributes, "\"known_trip_count"),
            counted = audit_count_trips(a, i);
    if (stated >= 0 && counted >= 0 && stated != counted)
        audit_note(a, 1, i->line, "a loop whose condition says another number than known_trip_count",
                   i->name);
    return counted >= 0 ? counted : stated;
}

static void call_named(ts_audit *a, const ts_hlo_instruction *i, const char *attribute, uint8_t level,
                       int64_t trips) {
    ts_span value, item;
    if (!ts_hlo_attribute(i->attributes, attribute, &value)) return;
    if (value.length < 2 || *value.text != '{') {
        call(a, i->line, value, level, trips);
        return;
    }
    value = ts_hlo_inside(value);
    while (ts_hlo_next(&value, &item)) call(a, i->line, item, level, trips);
}

/* What an operation calls once, by the attribute that names it. */
static const struct {
    ts_hlo_opcode opcode;
    const char *attribute;
    uint8_t level;
} callers[] = {
    {TS_HLO_OP_FUSION, "calls", TS_AUDIT_LEVEL_FUSED},
    {TS_HLO_OP_FUSION_START, "calls", TS_AUDIT_LEVEL_FUSED},
    {TS_HLO_OP_CALL, "to_apply", AUDIT_LEVEL_CALLED},
    {TS_HLO_OP_CALL_START, "to_apply", AUDIT_LEVEL_CALLED},
    {TS_HLO_OP_CALL, "callee", AUDIT_LEVEL_CALLED}, /* of StableHLO */
    {TS_HLO_OP_CONDITIONAL, "branch_computations", AUDIT_LEVEL_BRANCH},
    {TS_HLO_OP_CONDITIONAL, "true_computation", AUDIT_LEVEL_BRANCH},
    {TS_HLO_OP_CONDITIONAL, "false_computation", AUDIT_LEVEL_BRANCH},
    {TS_HLO_OP_SELECT_AND_SCATTER, "select", TS_AUDIT_LEVEL_APPLIED},
    {TS_HLO_OP_SELECT_AND_SCATTER, "scatter", TS_AUDIT_LEVEL_APPLIED},
};

/* To the elements of its operands, or slices of them. */
static void read_applied(ts_audit *a, const ts_hlo_instruction *i, ts_hlo_opcode opcode) {
    ts_hlo_class class = ts_hlo_opcode_class(opcode);
    if (opcode == TS_HLO_OP_CUSTOM_CALL) call_named(a, i, "called_computations", TS_AUDIT_LEVEL_APPLIED, 1);
    if (opcode == TS_HLO_OP_CALL || opcode == TS_HLO_OP_CALL_START || opcode == TS_HLO_OP_FUSION) return;
    if (class == TS_HLO_ALIASES || class == TS_HLO_MOVES) return;
    call_named(a, i, "to_apply", TS_AUDIT_LEVEL_APPLIED, 1);
}

static void read_calls(ts_audit *a, const ts_hlo_instruction *i, ts_hlo_opcode opcode) {
    ts_span name;
    for (size_t k = 0; k < sizeof callers / sizeof callers[0]; k++)
        if (callers[k].opcode == opcode) call_named(a, i, callers[k].attribute, callers[k].level, 1);
    read_applied(a, i, opcode);
    if (opcode == TS_HLO_OP_ASYNC_START && ts_hlo_attribute(i->attributes, "calls", &name) &&
        name.length > 0) {
        call(a, i->line, name, TS_AUDIT_LEVEL_ASYNC, 1);
        audit_started_spaces(a, i->line, i->shape,
                             a->computations[computation_named(a, i->line, name)].spaces);
    }
    if (opcode != TS_HLO_OP_WHILE) return;
    int64_t trips = trips_of(a, i);
    call_named(a, i, "body", TS_AUDIT_LEVEL_CONTROL, trips);
    call_named(a, i, "condition", TS_AUDIT_LEVEL_CONTROL, audit_condition_runs(trips));
}

/* ---- Events ---- */

static void on_module(void *self, int64_t line, ts_span name, ts_span attributes) {
    ts_audit *a = self;
    audit_forget_shapes(a);
    audit_settle(a); /* another module may use the names again */
    ts_hlo_locations_begin(a->locations);
    audit_read_header(a, line, name, attributes);
}

/* One that the text had before is another module's: that may use all names again. */
static int32_t begun_computation(ts_audit *a, int64_t line, ts_span name) {
    int32_t number = computation_named(a, line, name);
    if (a->computations[number].begun && name.length > 0) {
        a->current = AUDIT_NONE;
        audit_settle(a);
        number = computation_named(a, line, name);
    }
    a->computations[number].begun = true;
    return number;
}

static void on_computation(void *self, int64_t line, ts_span name, bool entry) {
    ts_audit *a = self;
    audit_copies_begin(a, audit_bare_name(name), entry);
    audit_close_block(a);
    ts_table_clear(&a->names);
    ts_table_clear(&a->made_at);
    a->current = begun_computation(a, line, name);
    audit_begin_values(a);
    a->has_entry |= entry;
    a->current_fused = is_fused(audit_bare_name(name)) && !entry;
    a->current_scatters = ts_hlo_begins(audit_bare_name(name), "all-reduce-scatter");
    if (entry) a->computations[a->current].level = TS_AUDIT_LEVEL_ENTRY;
}

static void on_end(void *self) {
    ts_audit *a = self;
    audit_end_values(a);
    audit_forget_awaited(a);
    a->current = AUDIT_NONE;
    a->current_fused = a->current_scatters = false;
}

static void remember(ts_audit *a, const ts_hlo_instruction *i, ts_hlo_opcode opcode, int32_t shape) {
    int32_t value = shape;
    bool entry = a->current == AUDIT_NONE ||
                 (a->current >= 0 && a->computations[a->current].level == TS_AUDIT_LEVEL_ENTRY);
    if (opcode == TS_HLO_OP_PARAMETER && entry) value |= NAME_PARAMETER;
    if (opcode == TS_HLO_OP_CUSTOM_CALL) value |= NAME_KERNEL;
    uint64_t hash = audit_hash_name(i->name);
    if (ts_table_put(&a->names, hash, value)) return;
    ts_table_clear(&a->names);
    audit_note(a, 1, i->line, "names beyond those that are kept: earlier ones are forgotten", i->name);
}

/* Of a list of values: in the module before, or for another value of it. */
static bool was_said(const ts_audit *a, const ts_hlo_instruction *i) {
    return a->has_entry || ts_table_get(&a->names, audit_hash_name(i->name)) >= 0;
}

static void note_unreadable(ts_audit *a, const ts_hlo_instruction *i, ts_hlo_opcode opcode) {
    if (opcode == TS_HLO_OP_UNKNOWN && i->opcode.length > 0) {
        char kind[sizeof "unknown instruction ''" + TS_TEXT_QUOTED];
        snprintf(kind, sizeof kind, "unknown instruction '%.*s'", ts_text_quoted(i->opcode.length),
                 i->opcode.text);
        audit_note(a, 1, i->line, kind, i->name);
    }
    if (i->cut && i->shape.length > 0 && i->opcode.length == 0)
        audit_note(a, 1, i->line, "an instruction that ends before its opcode", i->name);
    ts_hlo_class class = ts_hlo_opcode_class(opcode);
    bool counts = i->opcode.length > 0 && class != TS_HLO_ALIASES && class != TS_HLO_CALLS;
    if (counts && i->shape.length == 0 && !i->cut && !i->mlir && !a->block.open)
        audit_note(a, 1, i->line, "an instruction whose shape is left out: not counted", i->name);
}

/* Is nothing behind the dims, which end here, but an order of as many: "f32[2,3]{0,1}"? */
static bool has_order_alone(ts_span shape, size_t dims) {
    int commas = 0;
    for (size_t i = 0; i < shape.length; i++) {
        if (i >= dims && !isdigit((unsigned char)shape.text[i]) && !strchr("{,}", shape.text[i]))
            return false;
        commas += (shape.text[i] == ',') * (i < dims ? 1 : -1);
    }
    return commas == 0;
}

/* Before a compiler has laid anything out, XLA writes a transpose in the order in which nothing moves, all
 * else row-major: none has chosen either. */
static ts_span chosen_shape(const ts_audit *a, ts_span shape, ts_hlo_opcode opcode) {
    if (!a->unscheduled || a->any_tiles || opcode != TS_HLO_OP_TRANSPOSE) return shape;
    const char *brace = memchr(shape.text, '{', shape.length);
    size_t dims = brace ? (size_t)(brace - shape.text) : shape.length;
    return has_order_alone(shape, dims) ? (ts_span){shape.text, dims} : shape;
}

static void on_instruction(void *self, const ts_hlo_instruction *i) {
    ts_audit *a = self;
    audit_forget_shapes(a);
    if (i->again && was_said(a, i)) return;
    a->now = i;
    if (!i->again) a->section = SECTION_NONE;
    ts_hlo_opcode opcode = ts_hlo_opcode_find(i->opcode);
    note_unreadable(a, i, opcode);
    a->has_mlir |= i->mlir;
    bool whole = i->shape.length > 0 && !(i->cut && i->opcode.length == 0);
    int32_t shape = whole ? audit_intern(a, i->line, chosen_shape(a, i->shape, opcode)) : AUDIT_NONE;
    if (a->block.open && a->block.labelled) audit_close_block(a);
    bool in_report = a->block.labelled = a->block.open;
    if (in_report && shape == AUDIT_NONE && a->block.shape[0] && i->opcode.length > 0)
        shape = audit_intern(a, i->line, (ts_span){a->block.shape, strlen(a->block.shape)});
    if (opcode == TS_HLO_OP_PARAMETER) shape = audit_argument(a, i, shape);
    if (shape != AUDIT_NONE) remember(a, i, opcode, shape);
    audit_follow_value(a, i, opcode);
    if (!a->any_tiles && i->opcode.length > 0) audit_copies_add(a, i, opcode, shape);
    read_calls(a, i, opcode);
    bool listed = i->again && a->value_table.count > 0; /* with the values */
    if (!a->current_fused && !in_report && !listed && i->opcode.length > 0)
        audit_add_buffers(a, i, opcode, shape);
    audit_see_location(a, i);
    if (shape != AUDIT_NONE) audit_move(a, i, opcode, shape);
    a->now = NULL;
}

static void on_return(void *self, ts_span operands) { audit_copies_return(self, operands); }

static void on_part(void *self, int64_t line, ts_hlo_part part, ts_span values) {
    ts_audit *a = self;
    if (part == TS_HLO_GIVES) audit_copies_read(a, values);
    if (part == TS_HLO_REGION_END)
        audit_region_end(a);
    else if (part >= TS_HLO_CONDITION && part <= TS_HLO_BRANCH)
        audit_region(a, line, part);
    else
        audit_loop_part(a, part, values);
}

static void on_message(void *self, int64_t line, ts_span text) {
    audit_forget_shapes(self);
    audit_message(self, line, text);
}

static void on_table(void *self, ts_span text) {
    ts_audit *a = self;
    ts_hlo_locations_row(a->locations, text);
}

ts_audit *ts_audit_new(ts_arena *arena, const ts_audit_request *request) {
    ts_audit *a = TS_NEW(arena, ts_audit);
    a->arena = arena;
    a->scratch = ts_arena_new();
    a->request = request;
    a->current = a->heading_space = a->allocation = AUDIT_NONE;
    a->events = (ts_hlo_events){a,          on_module, on_computation, on_end, on_instruction,
                                on_message, on_table,  on_return,      on_part};
    a->reader = ts_hlo_new(arena, &a->events);
    a->locations = ts_hlo_locations_new(arena);
    audit_keep_init(a);
    a->shape_table = ts_table_begin(arena, TS_AUDIT_SHAPES);
    a->names = ts_table_begin(arena, TS_AUDIT_NAMES);
    a->made_at = ts_table_begin(arena, TS_AUDIT_NAMES);
    a->values.names = ts_table_begin(arena, TS_AUDIT_NAMES);
    a->value_table = ts_table_begin(arena, TS_AUDIT_NAMES);
    a->computation_table = ts_table_begin(arena, TS_AUDIT_COMPUTATIONS);
    return a;
}

void ts_audit_feed(ts_audit *a, const char *bytes, size_t length) {
    bool first = ts_hlo_get_counts(a->reader)->bytes == 0;
    a->binary |= first && length > 0 && memchr(bytes, '\0', length) != NULL;
    ts_hlo_feed(a->reader, bytes, length);
}
