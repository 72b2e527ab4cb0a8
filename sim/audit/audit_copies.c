/* The copies that the TPU compiler will put into a module that it has not seen: arguments and results get
 * their default layouts, orders go from results to operands as far as operations let them and from arguments
 * to results behind that, and where the two meet an array is copied. Operations: audit_orders.c. */
#include <stdio.h>
#include <string.h>

#include "audit_orders_private.h"
#include "audit_state.h"
#include "base/number.h"
#include "layout/notation/xla.h"

enum { MOST_VALUES = 1 << 12, MOST_OPERANDS = 8, MOST_CALLEES = 64 };

typedef struct {
    int64_t line;
    char name[TS_AUDIT_NAME_BYTES];
    audit_array array;
    audit_operation op;
    uint64_t callee; /* of a call */
    int operand_count;
    int32_t operands[MOST_OPERANDS];
    bool has_want, has_need[MOST_OPERANDS];
    audit_order want, have, needs[MOST_OPERANDS];
} value;

/* A function that is not entry: what it picks from its first argument, if it does. */
typedef struct {
    uint64_t name;
    bool gathers;
    unsigned dims;
} callee;

struct audit_copies {
    audit_table names;
    value *values;
    int32_t count, capacity;
    int32_t returned[MOST_OPERANDS];
    int returned_count, callee_count;
    callee callees[MOST_CALLEES];
    bool in_entry, has_entry, overflows;
    ts_audit_copy *list;
    int list_count, list_capacity;
};

static audit_copies *get(ts_audit *a) {
    if (a->copies) return a->copies;
    a->copies = TS_NEW(a->arena, audit_copies);
    audit_table_init(&a->copies->names, a->arena, MOST_VALUES * 2);
    return a->copies;
}

/* ---- While text comes ---- */

void audit_copies_begin(ts_audit *a, ts_hlo_span name, bool entry) {
    audit_copies *c = get(a);
    c->in_entry = entry && !c->has_entry;
    c->has_entry |= entry;
    if (c->in_entry || c->callee_count == MOST_CALLEES) return;
    c->callees[c->callee_count++] = (callee){.name = audit_hash(name.text, name.length)};
}

static unsigned read_dims(ts_hlo_span attributes, const char *name) {
    ts_hlo_span list, item;
    unsigned dims = 0;
    if (!ts_hlo_attribute(attributes, name, &list) || list.length < 2) return 0;
    list = (ts_hlo_span){list.text + 1, list.length - 2};
    while (ts_hlo_next(&list, &item))
        if (item.length == 1 && *item.text >= '0' && *item.text < '0' + AUDIT_ORDER_DIMS)
            dims |= 1u << (*item.text - '0');
    return dims;
}

static audit_operation read_operation(const ts_hlo_instruction *i, ts_hlo_opcode opcode) {
    audit_operation op = {.opcode = opcode};
    ts_hlo_span list, item;
    if (opcode == TS_HLO_OP_REDUCE) op.dims = read_dims(i->attributes, "dimensions");
    if (opcode == TS_HLO_OP_GATHER) op.dims = read_dims(i->attributes, "collapsed_slice_dims");
    if (opcode == TS_HLO_OP_DOT) {
        op.batch[0] = read_dims(i->attributes, "lhs_batch_dims");
        op.batch[1] = read_dims(i->attributes, "rhs_batch_dims");
        op.contracting[0] = read_dims(i->attributes, "lhs_contracting_dims");
        op.contracting[1] = read_dims(i->attributes, "rhs_contracting_dims");
    }
    bool lists = opcode == TS_HLO_OP_TRANSPOSE || opcode == TS_HLO_OP_BROADCAST;
    if (!lists || !ts_hlo_attribute(i->attributes, "dimensions", &list) || list.length < 2) return op;
    list = (ts_hlo_span){list.text + 1, list.length - 2};
    for (int k = 0; k < AUDIT_ORDER_DIMS && ts_hlo_next(&list, &item); k++)
        op.permutation[k] = (int8_t)(item.length == 1 ? (*item.text - '0') & (AUDIT_ORDER_DIMS - 1) : 0);
    return op;
}

static bool read_array(ts_audit *a, ts_hlo_span text, audit_array *array) {
    const ts_shape *shape = audit_parse(NULL, a->scratch, text.text, text.length);
    bool fits = shape && shape->layout && shape->xla && shape->xla->rank <= AUDIT_ORDER_DIMS &&
                ts_layout_element_count(shape->layout) > 0;
    if (fits) {
        *array = (audit_array){.dtype = shape->dtype, .rank = shape->xla->rank};
        for (int i = 0; i < array->rank; i++) array->dims[i] = shape->xla->dims[i];
    }
    ts_arena_reset(a->scratch);
    return fits;
}

static int32_t find(const audit_copies *c, ts_hlo_span item) {
    ts_hlo_span name = audit_operand_name(item);
    return audit_table_get(&c->names, audit_hash(name.text, name.length));
}

/* A loop's results are what it begins with: "%a = %x, %b = %y" says so. */
static void name_results(audit_copies *c, const ts_hlo_instruction *i) {
    ts_hlo_span rest = i->operands, item;
    char name[TS_AUDIT_NAME_BYTES];
    for (int k = 0; ts_hlo_next(&rest, &item); k++) {
        int32_t first = find(c, item);
        if (k % 2 == 0 || first < 0) continue;
        int length = snprintf(name, sizeof name, "%.*s#%d", (int)i->name.length, i->name.text, k / 2);
        if (length < (int)sizeof name) audit_table_put(&c->names, audit_hash(name, (size_t)length), first);
    }
}

static value *add_value(ts_audit *a, audit_copies *c) {
    if (c->count == c->capacity) {
        int32_t more = c->capacity ? 2 * c->capacity : 32;
        c->values = ts_arena_grow(a->arena, c->values, (size_t)c->count, (size_t)more, sizeof *c->values);
        c->capacity = more;
    }
    c->values[c->count] = (value){0};
    return &c->values[c->count++];
}

/* In other functions only what they pick matters: jax.numpy.take is one. */
static void see_callee(audit_copies *c, const ts_hlo_instruction *i, ts_hlo_opcode opcode) {
    callee *now = c->callee_count > 0 ? &c->callees[c->callee_count - 1] : NULL;
    if (!now || opcode != TS_HLO_OP_GATHER) return;
    now->gathers = true;
    now->dims = read_dims(i->attributes, "collapsed_slice_dims");
}

/* One whose operands are not known, or do not fit, may be anything. */
static void settle_operation(const audit_copies *c, value *v) {
    const audit_array *arrays[2] = {NULL, NULL};
    for (int k = 0; k < 2 && k < v->operand_count; k++)
        if (v->operands[k] >= 0) arrays[k] = &c->values[v->operands[k]].array;
    if (v->operand_count > 0 && !(arrays[0] && audit_operation_fits(&v->op, arrays[0], arrays[1], &v->array)))
        v->op.opcode = TS_HLO_OP_UNKNOWN;
}

void audit_copies_add(ts_audit *a, const ts_hlo_instruction *i, ts_hlo_opcode opcode) {
    audit_copies *c = get(a);
    audit_array array;
    ts_hlo_span rest = i->operands, item;
    if (!c->in_entry) {
        see_callee(c, i, opcode);
        return;
    }
    if (opcode == TS_HLO_OP_WHILE && i->mlir) name_results(c, i);
    if (i->looped || c->overflows || !read_array(a, i->shape, &array)) return;
    c->overflows = c->count == MOST_VALUES;
    if (c->overflows) return;
    int32_t number = c->count;
    value *v = add_value(a, c);
    v->line = i->line;
    v->array = array;
    v->op = read_operation(i, opcode);
    snprintf(v->name, sizeof v->name, "%.*s", (int)i->name.length, i->name.text);
    if (ts_hlo_attribute(i->attributes, "callee", &item)) v->callee = audit_hash(item.text, item.length);
    while (v->operand_count < MOST_OPERANDS && ts_hlo_next(&rest, &item))
        v->operands[v->operand_count++] = find(c, item);
    settle_operation(c, v);
    audit_table_put(&c->names, audit_hash(i->name.text, i->name.length), number);
    if (i->root) audit_copies_return(a, i->name);
}

void audit_copies_return(ts_audit *a, ts_hlo_span operands) {
    audit_copies *c = get(a);
    ts_hlo_span item;
    while (c->in_entry && c->returned_count < MOST_OPERANDS && ts_hlo_next(&operands, &item)) {
        int32_t number = find(c, item);
        if (number >= 0) c->returned[c->returned_count++] = number;
    }
}

/* ---- When all is read ---- */

static void resolve_calls(audit_copies *c) {
    for (int32_t i = 0; i < c->count; i++)
        for (int k = 0; c->values[i].callee && k < c->callee_count; k++) {
            if (c->callees[k].name != c->values[i].callee || !c->callees[k].gathers) continue;
            c->values[i].op.opcode = TS_HLO_OP_GATHER;
            c->values[i].op.dims = c->callees[k].dims;
        }
}

static bool ends_here(ts_hlo_opcode opcode) {
    return opcode == TS_HLO_OP_PARAMETER || opcode == TS_HLO_OP_CONSTANT || opcode == TS_HLO_OP_IOTA;
}

/* What results ask of operands; the first reader that asks decides. */
static void go_back(const audit_orders *o, audit_copies *c) {
    for (int k = 0; k < c->returned_count; k++) {
        value *v = &c->values[c->returned[k]];
        v->has_want = audit_order_default(o, &v->array, &v->want);
        for (int j = 0; j < v->operand_count; j++)
            v->op.between_ends |=
                v->operands[j] >= 0 && c->values[v->operands[j]].op.opcode == TS_HLO_OP_PARAMETER;
    }
    for (int32_t i = c->count - 1; i >= 0; i--) {
        value *v = &c->values[i];
        for (int k = 0; v->has_want && !ends_here(v->op.opcode) && k < v->operand_count; k++) {
            if (v->operands[k] < 0) continue;
            value *x = &c->values[v->operands[k]];
            v->has_need[k] = audit_order_back(o, &v->op, &x->array, &v->array, &v->want, &v->needs[k]);
            if (!v->has_need[k] || x->has_want) continue;
            x->has_want = true;
            x->want = v->needs[k];
        }
    }
}

static const char *text_of(ts_audit *a, const ts_shape *shape) {
    ts_text text;
    ts_text_init(&text, a->arena);
    ts_shape_print(shape, &text);
    return text.bytes;
}

/* Of a value for its reader, NULL: as a result. */
static void copy(ts_audit *a, const audit_orders *o, const value *v, const audit_order *to,
                 const value *reader) {
    audit_copies *c = a->copies;
    if (audit_order_same(&v->array, &v->have, to)) return;
    const ts_shape *from = audit_order_shape(o, &v->array, &v->have),
                   *into = audit_order_shape(o, &v->array, to);
    if (!from || !into || v->op.opcode == TS_HLO_OP_CONSTANT || v->op.opcode == TS_HLO_OP_IOTA) return;
    if (c->list_count == c->list_capacity) {
        int more = c->list_capacity ? 2 * c->list_capacity : 8;
        c->list = ts_arena_grow(a->arena, c->list, (size_t)c->list_count, (size_t)more, sizeof *c->list);
        c->list_capacity = more;
    }
    ts_audit_copy *made = &c->list[c->list_count++];
    *made = (ts_audit_copy){.line = reader ? reader->line : v->line,
                            .from = text_of(a, from),
                            .to = text_of(a, into),
                            .bytes = from->bytes + into->bytes};
    snprintf(made->name, sizeof made->name, "%s", v->name);
    snprintf(made->reader, sizeof made->reader, "%s", reader ? reader->name : "");
}

/* All operands as the result asks, if it does. */
static bool read_as_asked(ts_audit *a, const audit_orders *o, value *v) {
    bool asked = false;
    for (int k = 0; k < v->operand_count; k++) {
        bool again = false;
        if (!v->has_need[k]) continue;
        for (int j = 0; j < k; j++) again |= v->has_need[j] && v->operands[j] == v->operands[k];
        if (!again) copy(a, o, &a->copies->values[v->operands[k]], &v->needs[k], v);
        asked = true;
    }
    if (asked) v->have = v->want;
    return asked;
}

static void go_forward(ts_audit *a, const audit_orders *o, value *v) {
    value *x = v->operand_count > 0 && v->operands[0] >= 0 ? &a->copies->values[v->operands[0]] : NULL;
    if (read_as_asked(a, o, v)) return;
    (void)audit_order_default(o, &v->array, &v->have);
    if (v->op.opcode == TS_HLO_OP_PARAMETER) return;
    if (v->has_want) v->have = v->want;
    if (!x || ends_here(v->op.opcode)) return;
    audit_step step = {
        .operand = &x->array, .made = &v->array, .have = &x->have, .want = v->has_want ? &v->want : NULL};
    audit_order_forward(o, &v->op, &step);
    copy(a, o, x, &step.needs, v);
    v->have = step.makes;
    if (v->op.opcode != TS_HLO_OP_DOT || v->operand_count < 2 || v->operands[1] < 0) return;
    value *y = &a->copies->values[v->operands[1]];
    audit_order second = audit_order_of_dot(&v->op, 1, &y->array, &y->have);
    copy(a, o, y, &second, v);
}

void audit_copies_finish(ts_audit *a, ts_audit_result *r) {
    audit_copies *c = a->copies;
    audit_orders o = {a->scratch, a->request};
    if (!c || c->overflows || a->any_tiles || !(a->has_mlir || a->unscheduled)) return;
    resolve_calls(c);
    go_back(&o, c);
    ts_arena_reset(a->scratch);
    for (int32_t i = 0; i < c->count; i++) {
        go_forward(a, &o, &c->values[i]);
        ts_arena_reset(a->scratch);
    }
    for (int k = 0; k < c->returned_count; k++) {
        audit_order usual;
        const value *v = &c->values[c->returned[k]];
        if (audit_order_default(&o, &v->array, &usual)) copy(a, &o, v, &usual, NULL);
    }
    ts_arena_reset(a->scratch);
    r->copies_predicted = c->has_entry;
    r->copies = c->list;
    r->copy_count = c->list_count;
}
