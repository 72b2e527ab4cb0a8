/* The copies that the TPU compiler will put into a module that it has not seen: arguments and results get
 * their default layouts, orders go from results to operands as far as operations let them and from arguments
 * to results behind that, and where the two meet an array is copied. Operations: audit_orders.c. */
#include <stdio.h>
#include <string.h>

#include "audit_state.h"
#include "audit_graph_private.h"
#include "layout/notation/xla.h"

enum {
    MOST_VALUES = 1 << 12,
    MOST_RESULTS = 1 << 10,
    MOST_OPERANDS = AUDIT_NODE_OPERANDS,
    MOST_CALLEES = 64,
};

/* A function other than entry: does it gather from its first argument, and along which dims? */
typedef struct {
    uint64_t name;
    bool gathers;
    unsigned dims;
} callee;

typedef struct {
    int32_t number; /* of the value */
    bool has_due;
    audit_order due; /* by the header */
} result;

struct audit_copies {
    ts_table names;
    audit_graph read, values; /* as written, as rewritten */
    result returned[MOST_RESULTS];
    int returned_count, callee_count;
    callee callees[MOST_CALLEES];
    bool in_entry, has_entry, overflows;
    ts_audit_copy *list;
    int list_count;
};

static audit_copies *get(ts_audit *a) {
    if (a->copies) return a->copies;
    a->copies = TS_NEW(a->arena, audit_copies);
    a->copies->names = ts_table_begin(a->arena, MOST_VALUES * 8); /* members of tuples too */
    a->copies->read.arena = a->copies->values.arena = a->arena;
    return a->copies;
}

/* ---- While text comes ---- */

void audit_copies_begin(ts_audit *a, ts_span name, bool entry) {
    audit_copies *c = get(a);
    c->in_entry = entry && !c->has_entry;
    c->has_entry |= entry;
    if (c->callee_count > 0 && !c->callees[c->callee_count - 1].gathers) c->callee_count--;
    if (c->in_entry || c->callee_count == MOST_CALLEES) return;
    c->callees[c->callee_count++] = (callee){.name = audit_hash_name(name)};
}

/* What is within the braces of `name={..}`. */
static ts_span read_list(ts_span attributes, const char *name) {
    ts_span list = {attributes.text, 0};
    ts_hlo_attribute(attributes, name, &list);
    return ts_hlo_inside(list);
}

static unsigned read_dims(ts_span attributes, const char *name) {
    ts_span list = read_list(attributes, name), item;
    unsigned dims = 0;
    while (ts_hlo_next(&list, &item))
        if (item.length == 1 && ts_is_digit(*item.text)) dims |= 1u << (*item.text - '0');
    return dims;
}

/* "b01f_01io->b01f" */
static void read_labels(ts_span attributes, audit_operation *op) {
    ts_span text;
    if (!ts_hlo_attribute(attributes, "dim_labels", &text)) return;
    int part = 0, count = 0;
    for (size_t i = 0; i < text.length && part < 3; i++) {
        char c = text.text[i];
        bool names = ts_is_digit(c) || strchr("bfio", c);
        if (names && count + 1 < AUDIT_ORDER_DIMS) op->labels[part][count++] = c;
        if (c == '_' || c == '>') part++, count = 0;
    }
}

static audit_operation read_operation(const ts_hlo_instruction *i, ts_hlo_opcode opcode) {
    audit_operation op = {.opcode = opcode};
    ts_span list = read_list(i->attributes, "dimensions"), item;
    if (opcode == TS_HLO_OP_REDUCE) op.dims = read_dims(i->attributes, "dimensions");
    if (opcode == TS_HLO_OP_GATHER) op.dims = read_dims(i->attributes, "collapsed_slice_dims");
    if (opcode == TS_HLO_OP_CONVOLUTION) read_labels(i->attributes, &op);
    if (opcode == TS_HLO_OP_DOT) {
        op.batch[0] = read_dims(i->attributes, "lhs_batch_dims");
        op.batch[1] = read_dims(i->attributes, "rhs_batch_dims");
        op.contracting[0] = read_dims(i->attributes, "lhs_contracting_dims");
        op.contracting[1] = read_dims(i->attributes, "rhs_contracting_dims");
    }
    bool lists = opcode == TS_HLO_OP_TRANSPOSE || opcode == TS_HLO_OP_BROADCAST;
    for (int k = 0; lists && k < AUDIT_ORDER_DIMS && ts_hlo_next(&list, &item); k++)
        op.permutation[k] = (int8_t)(item.length == 1 ? (*item.text - '0') & (AUDIT_ORDER_DIMS - 1) : 0);
    return op;
}

static bool read_array(ts_audit *a, ts_span text, audit_array *array) {
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

static void give_name(audit_copies *c, uint64_t hash, int32_t number) {
    c->overflows |= !ts_table_put(&c->names, hash, number);
}

static uint64_t member(uint64_t tuple, int64_t k) {
    return tuple ^ (uint64_t)(k + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

static int32_t find_member(const audit_copies *c, uint64_t tuple, int64_t k) {
    return ts_table_get(&c->names, member(tuple, k));
}

/* The k-th of several results is "%w#k" in StableHLO, and in HLO a member of the tuple w. */
static int32_t find(const audit_copies *c, ts_span item) {
    const char *mark = memchr(item.text, '#', item.length);
    if (!mark) return ts_table_get(&c->names, audit_hash_operand(item));
    ts_span tuple = {item.text, (size_t)(mark - item.text)},
            digits = {mark + 1, item.length - tuple.length - 1};
    return find_member(c, audit_hash_operand(tuple), ts_hlo_number(digits));
}

static bool is_tuple(ts_span shape) { return shape.length > 1 && *shape.text == '('; }

static ts_span leaves(ts_span shape) { return is_tuple(shape) ? ts_hlo_inside(shape) : shape; }

/* Members of a tuple are what is put there, results of a loop what it begins with: in HLO a tuple's
 * members. */
static void name_members(audit_copies *c, const ts_hlo_instruction *i, bool loop) {
    bool of_tuple = loop && !i->mlir;
    uint64_t own = audit_hash_name(i->name), first = audit_hash_operand(i->operands);
    ts_span rest = of_tuple ? leaves(i->shape) : i->operands, item;
    for (int k = 0; ts_hlo_next(&rest, &item); k++) {
        int32_t known = of_tuple ? find_member(c, first, k) : find(c, item);
        if (known < 0) continue;
        c->read.list[known].loops |= loop;
        give_name(c, is_tuple(i->shape) ? member(own, k) : own, known);
    }
}

/* Gives a get-tuple-element the value that was put in the tuple, if that is known. */
static bool is_member(audit_copies *c, const ts_hlo_instruction *i) {
    ts_span item, text;
    if (!ts_hlo_item(i->operands, 0, &item) || !ts_hlo_attribute(i->attributes, "index", &text)) return false;
    int32_t known = find_member(c, audit_hash_operand(item), ts_hlo_number(ts_hlo_digits(text)));
    if (known >= 0) give_name(c, audit_hash_name(i->name), known);
    return known >= 0;
}

/* In other functions only what they pick matters: jax.numpy.take is one. */
static void see_callee(audit_copies *c, const ts_hlo_instruction *i, ts_hlo_opcode opcode) {
    callee *now = c->callee_count > 0 ? &c->callees[c->callee_count - 1] : NULL;
    if (!now || opcode != TS_HLO_OP_GATHER) return;
    now->gathers = true;
    now->dims = read_dims(i->attributes, "collapsed_slice_dims");
}

/* One whose operands are not known, not there or do not fit may be anything; others have their first one. */
static void settle_operation(const audit_copies *c, audit_node *v) {
    const audit_array *arrays[2] = {NULL, NULL};
    for (int k = 0; k < 2 && k < v->operand_count; k++)
        if (v->operands[k] >= 0) arrays[k] = &c->read.list[v->operands[k]].array;
    bool known = v->operand_count == 0 || arrays[0];
    if (!known || !audit_operation_fits(&v->op, arrays[0], arrays[1], &v->array))
        v->op.opcode = TS_HLO_OP_UNKNOWN;
}

/* The order of an argument or result that a header tiles. False: it does not. */
static bool read_given(ts_audit *a, int32_t shape, const audit_array *array, audit_order *order) {
    if (shape == AUDIT_NONE || a->shapes[shape].is_tuple || !a->shapes[shape].linear.tiled) return false;
    const char *text = a->shapes[shape].text;
    const ts_shape *given = audit_parse(NULL, a->scratch, text, strlen(text));
    bool fits = given && given->xla && given->xla->rank == array->rank && given->dtype == array->dtype;
    for (int k = 0; fits && k < array->rank; k++) {
        fits = given->xla->dims[k] == array->dims[k];
        order->at[k] = (int8_t)ts_xla_dim_at(given->xla, k);
    }
    ts_arena_reset(a->scratch);
    return fits;
}

/* 0: it calls none. */
static uint64_t callee_of(const ts_hlo_instruction *i, ts_hlo_opcode opcode) {
    ts_span name;
    bool calls = ts_hlo_attribute(i->attributes, "callee", &name) ||
                 (opcode == TS_HLO_OP_CALL && ts_hlo_attribute(i->attributes, "to_apply", &name));
    return calls ? audit_hash_name(audit_bare_name(name)) : 0;
}

/* Loops and tuples give names to values that are known: is it one of those alone? */
static bool is_known(audit_copies *c, const ts_hlo_instruction *i, ts_hlo_opcode opcode) {
    bool loop = opcode == TS_HLO_OP_WHILE;
    if (loop || opcode == TS_HLO_OP_TUPLE) {
        name_members(c, i, loop);
        return true;
    }
    return opcode == TS_HLO_OP_GET_TUPLE_ELEMENT && is_member(c, i);
}

/* What an operation makes: an array, or several, of which nothing else is known. */
static void add_values(ts_audit *a, const ts_hlo_instruction *i, ts_hlo_opcode opcode, int32_t shape) {
    audit_copies *c = a->copies;
    ts_span rest = i->operands, shapes = leaves(i->shape), item;
    bool ends = audit_ends_here(opcode), several = is_tuple(i->shape);
    uint64_t own = audit_hash_name(i->name);
    audit_node v = {.line = i->line, .op = {.opcode = ends ? opcode : TS_HLO_OP_UNKNOWN}};
    v.name = ts_arena_copy_text(a->arena, i->name.text, i->name.length);
    if (!several) v.op = read_operation(i, opcode);
    if (!several) v.callee = callee_of(i, opcode);
    while (!ends && v.operand_count < MOST_OPERANDS && ts_hlo_next(&rest, &item))
        v.operands[v.operand_count++] = find(c, item);
    for (int k = 0; ts_hlo_next(&shapes, &item); k++) {
        audit_node made = v;
        if (!read_array(a, item, &made.array)) continue;
        c->overflows |= c->read.count == MOST_VALUES;
        if (c->overflows) return;
        if (opcode == TS_HLO_OP_PARAMETER) made.has_given = read_given(a, shape, &made.array, &made.given);
        settle_operation(c, &made);
        give_name(c, several ? member(own, k) : own, audit_graph_add(&c->read, &made));
    }
}

static void add_result(ts_audit *a, int k, int32_t number) {
    audit_copies *c = a->copies;
    c->overflows |= c->returned_count == MOST_RESULTS;
    if (number < 0 || c->overflows) return;
    result one = {.number = number};
    one.has_due = read_given(a, audit_result(a, k), &c->read.list[number].array, &one.due);
    c->returned[c->returned_count++] = one;
}

static void return_root(ts_audit *a, const ts_hlo_instruction *i) {
    uint64_t own = audit_hash_name(i->name);
    ts_span rest = leaves(i->shape), item;
    if (!is_tuple(i->shape)) add_result(a, 0, ts_table_get(&a->copies->names, own));
    for (int k = 0; is_tuple(i->shape) && ts_hlo_next(&rest, &item); k++)
        add_result(a, k, find_member(a->copies, own, k));
}

void audit_copies_add(ts_audit *a, const ts_hlo_instruction *i, ts_hlo_opcode opcode, int32_t shape) {
    audit_copies *c = get(a);
    bool within = i->lost || audit_in_region(a);
    if (!c->in_entry) {
        see_callee(c, i, opcode);
        return;
    }
    if (within || opcode == TS_HLO_OP_CONDITIONAL) audit_copies_read(a, i->operands);
    if (within || c->overflows) return;
    if (!is_known(c, i, opcode)) add_values(a, i, opcode, shape);
    if (i->root) return_root(a, i);
}

void audit_copies_return(ts_audit *a, ts_span operands) {
    ts_span item;
    for (int k = 0; get(a)->in_entry && ts_hlo_next(&operands, &item); k++)
        add_result(a, k, find(a->copies, item));
}

static bool read_value(audit_copies *c, int32_t number) {
    if (number >= 0) c->read.list[number].lives = true;
    return number >= 0;
}

void audit_copies_read(ts_audit *a, ts_span values) {
    audit_copies *c = get(a);
    ts_span item;
    while (c->in_entry && ts_hlo_next(&values, &item)) {
        uint64_t tuple = audit_hash_operand(item);
        read_value(c, find(c, item));
        for (int k = 0; read_value(c, find_member(c, tuple, k)); k++) {
        }
    }
}

/* ---- When all is read ---- */

static void resolve_calls(audit_copies *c) {
    for (int32_t i = 0; i < c->read.count; i++)
        for (int k = 0; c->read.list[i].callee && k < c->callee_count; k++) {
            if (c->callees[k].name != c->read.list[i].callee || !c->callees[k].gathers) continue;
            c->read.list[i].op.opcode = TS_HLO_OP_GATHER;
            c->read.list[i].op.dims = c->callees[k].dims;
        }
}

/* As the compiler rewrites them; of those that nothing follows from there is nothing to say. */
static void rewrite(ts_audit *a, audit_copies *c) {
    int32_t *numbers = TS_NEW_ARRAY(a->arena, int32_t, (size_t)c->read.count + 1);
    audit_graph_rewrite(&c->read, &c->values, numbers);
    for (int32_t i = 0; i < c->read.count; i++) c->values.list[numbers[i]].lives |= c->read.list[i].lives;
    for (int k = 0; k < c->returned_count; k++) {
        result *one = &c->returned[k];
        one->number = numbers[one->number];
        audit_node *v = &c->values.list[one->number];
        v->lives = v->op.is_result = true;
        if (!v->has_due) v->due = one->due;
        v->has_due |= one->has_due;
    }
    for (int32_t i = c->values.count - 1; i >= 0; i--) {
        const audit_node *v = &c->values.list[i];
        for (int k = 0; v->lives && k < v->operand_count; k++)
            if (v->operands[k] >= 0) c->values.list[v->operands[k]].lives = true;
    }
}

static const audit_node *before_padding(const audit_graph *g, const audit_node *v) {
    for (const audit_node *x = v; x && x->array.rank == v->array.rank; x = audit_operand(g, x, 0)) {
        v = x;
        if (x->op.opcode != TS_HLO_OP_PAD) break;
    }
    return v;
}

/* Of a value for its reader, NULL: as a result; before it is padded. A 64-bit integer is two words, in an
 * array each. */
static void copy(ts_audit *a, const audit_orders *o, const audit_node *v, const audit_order *to,
                 const audit_node *reader) {
    const audit_order have = v->have;
    if (audit_order_same(&v->array, &have, to)) return;
    v = before_padding(&a->copies->values, v);
    audit_array array = v->array;
    bool wide = array.dtype == TS_DTYPE_S64 || array.dtype == TS_DTYPE_U64;
    if (wide) array.dtype = TS_DTYPE_U32;
    const ts_shape *from = audit_order_shape(o, &array, &have), *into = audit_order_shape(o, &array, to);
    bool fixed = v->op.opcode == TS_HLO_OP_CONSTANT || v->op.opcode == TS_HLO_OP_IOTA;
    if (!from || !into || fixed || audit_moves_nothing(o->scratch, from, into)) return;
    ts_audit_copy made = {.line = reader ? reader->line : v->line,
                          .from = ts_shape_text(a->arena, from),
                          .to = ts_shape_text(a->arena, into),
                          .bytes = from->bytes + into->bytes};
    snprintf(made.name, sizeof made.name, "%s", v->name);
    snprintf(made.reader, sizeof made.reader, "%s", reader ? reader->name : "");
    for (int i = 0; i < 1 + wide; i++) *TS_APPEND(a->arena, a->copies->list, a->copies->list_count) = made;
}

/* Operand k to `need`; what another operand is, or was copied for, is not copied again. */
static void copy_operand(ts_audit *a, const audit_orders *o, const audit_node *v, int k,
                         const audit_order *need) {
    const audit_node *x = audit_operand(&a->copies->values, v, k);
    for (int j = 0; j < k; j++)
        if (v->operands[j] == v->operands[k]) return;
    if (x) copy(a, o, x, need, v);
}

/* All operands as the result asks, if it does. */
static bool read_as_asked(ts_audit *a, const audit_orders *o, audit_node *v) {
    bool asked = false;
    for (int k = 0; k < v->operand_count; k++) {
        if (!v->has_need[k]) continue;
        copy_operand(a, o, v, k, &v->needs[k]);
        asked = true;
    }
    if (asked) v->have = v->want;
    return asked;
}

/* As a product reads it. What is computed in f32 is rounded to bf16 before it is copied. Where there are
 * batch dims the second operand has as many dims as the first, of 1. */
static audit_node read_by_product(const audit_node *v, const audit_dot *dot, int k, const audit_node *x) {
    audit_node out = *x;
    bool computed = !audit_ends_here(x->op.opcode) && x->op.opcode != TS_HLO_OP_RESHAPE &&
                    x->op.opcode != TS_HLO_OP_TRANSPOSE;
    if (computed && out.array.dtype == TS_DTYPE_F32) out.array.dtype = TS_DTYPE_BF16;
    out.want = dot->needs[k];
    while (k == 1 && v->op.batch[0] && out.array.rank < dot->operands[0]->rank) {
        int rank = out.array.rank++;
        out.array.dims[rank] = 1;
        out.have.at[rank] = out.want.at[rank] = (int8_t)rank;
    }
    return out;
}

static void multiply_forward(ts_audit *a, const audit_orders *o, audit_node *v) {
    audit_dot dot = audit_dot_of(&a->copies->values, v);
    dot.usual = v->have;
    audit_order_dot(o, &v->op, &dot);
    for (int k = 0; k < 2; k++) {
        audit_node x = read_by_product(v, &dot, k, audit_operand(&a->copies->values, v, k));
        if (k == 0 || v->operands[1] != v->operands[0]) copy(a, o, &x, &x.want, v);
    }
    v->have = dot.makes;
}

static void retile(ts_audit *a, const audit_orders *o, const audit_node *v, const audit_step *step) {
    audit_node view = *v;
    audit_order orders[2];
    if (!audit_order_retiles(o, step, &view.array, orders)) return;
    view.have = orders[0];
    copy(a, o, &view, &orders[1], v);
}

/* The number of the operand of most elements. */
static int largest(const audit_copies *c, const audit_node *v) {
    int64_t most = -1;
    int found = 0;
    for (int k = 0; k < v->operand_count; k++) {
        const audit_node *x = audit_operand(&c->values, v, k);
        int64_t elements = x ? audit_array_elements(&x->array) : -1;
        if (elements <= most) continue;
        most = elements;
        found = k;
    }
    return found;
}

/* Takes the order of dims of operand `leader`, and asks the other operands for it. */
static void step_forward(ts_audit *a, const audit_orders *o, audit_node *v, int leader) {
    const audit_node *x = audit_operand(&a->copies->values, v, leader);
    bool joins = audit_joins(v) || v->op.opcode == TS_HLO_OP_CONCATENATE;
    audit_step step = {
        .operand = &x->array, .made = &v->array, .have = &x->have, .want = v->has_want ? &v->want : NULL};
    audit_order_forward(o, &v->op, &step);
    copy_operand(a, o, v, leader, &step.needs);
    v->have = step.makes;
    if (v->op.opcode == TS_HLO_OP_RESHAPE) retile(a, o, v, &step);
    for (int k = 0; joins && k < v->operand_count; k++) {
        const audit_node *y = audit_operand(&a->copies->values, v, k);
        if (y && k != leader && y->array.rank == v->array.rank) copy_operand(a, o, v, k, &step.makes);
    }
}

static void go_forward(ts_audit *a, const audit_orders *o, audit_node *v) {
    const audit_graph *g = &a->copies->values;
    int leader = v->op.opcode == TS_HLO_OP_CONCATENATE ? largest(a->copies, v) : 0;
    if (read_as_asked(a, o, v)) return;
    (void)audit_order_default(o, &v->array, &v->have);
    if (v->has_given) v->have = v->given;
    if (v->op.opcode == TS_HLO_OP_PARAMETER) return;
    if (audit_is_product(v)) {
        multiply_forward(a, o, v);
        return;
    }
    if (v->has_want) v->have = v->want;
    if (audit_operand(g, v, leader) && !audit_ends_here(v->op.opcode)) step_forward(a, o, v, leader);
}

void audit_copies_finish(ts_audit *a, ts_audit_result *r) {
    audit_copies *c = a->copies;
    audit_orders o = {a->scratch, a->request};
    if (!c || c->overflows || a->any_tiles || !(a->has_mlir || a->unscheduled)) return;
    resolve_calls(c);
    rewrite(a, c);
    audit_graph_ask(&o, &c->values);
    for (int32_t i = 0; i < c->values.count; i++) {
        if (c->values.list[i].lives) go_forward(a, &o, &c->values.list[i]);
        ts_arena_reset(a->scratch);
    }
    for (int k = 0; k < c->returned_count; k++) {
        audit_order order = c->returned[k].due;
        const audit_node *v = &c->values.list[c->returned[k].number];
        if (c->returned[k].has_due || audit_order_default(&o, &v->array, &order))
            copy(a, &o, v, &order, NULL);
    }
    ts_arena_reset(a->scratch);
    r->copies_predicted = c->has_entry;
    r->copies = c->list;
    r->copy_count = c->list_count;
}
