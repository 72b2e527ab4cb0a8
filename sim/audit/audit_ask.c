/* Which orders of dims are asked of values, by results and by what operations read: docs/layouts.md,
 * Copies. */
#include "audit_graph_private.h"

enum { MOST_EXPANSION = 4 };

audit_node *audit_operand(const audit_graph *g, const audit_node *v, int k) {
    return k < v->operand_count && v->operands[k] >= 0 ? &g->list[v->operands[k]] : NULL;
}

bool audit_joins(const audit_node *v) {
    return audit_is_elementwise(v->op.opcode) && v->operand_count > 1 && v->operands[0] != v->operands[1];
}

bool audit_is_product(const audit_node *v) {
    return v->op.opcode == TS_HLO_OP_DOT || v->op.opcode == TS_HLO_OP_CONVOLUTION;
}

static audit_order row_major(const audit_array *array) {
    audit_order out = {{0}};
    for (int i = 0; i < array->rank; i++) out.at[i] = (int8_t)(array->rank - 1 - i);
    return out;
}

/* ---- From a reader to what it reads ---- */

static bool is_converted(const audit_graph *g, const audit_node *x, ts_hlo_opcode from) {
    const audit_node *source = audit_operand(g, x, 0);
    return x->op.opcode == TS_HLO_OP_CONVERT && source && source->op.opcode == from;
}

/* Is x copied for v rather than made as v wants it? */
static bool stops(const audit_graph *g, const audit_node *v, const audit_node *x) {
    if (v->op.opcode == TS_HLO_OP_CONCATENATE)
        return audit_joins(x) || is_converted(g, x, TS_HLO_OP_PARAMETER);
    if (v->op.opcode != TS_HLO_OP_BROADCAST) return false;
    return x->op.opcode == TS_HLO_OP_RESHAPE || x->op.opcode == TS_HLO_OP_TRANSPOSE ||
           is_converted(g, x, TS_HLO_OP_PARAMETER);
}

/* A reshape that does not move nothing has its order from its operand. */
static bool is_bound(const audit_orders *o, const audit_graph *g, const audit_node *x,
                     const audit_order *need) {
    const audit_node *source = audit_operand(g, x, 0);
    audit_order out;
    if (x->op.opcode != TS_HLO_OP_RESHAPE || !source) return false;
    return !audit_order_back(o, &x->op, &source->array, &x->array, need, &out);
}

/* Does v have its order from x, and is copied itself where that is not wanted? */
static bool follows(const audit_orders *o, const audit_graph *g, const audit_node *v, const audit_node *x,
                    const audit_order *need) {
    ts_hlo_opcode from = x->op.opcode;
    bool gathered = from == TS_HLO_OP_GATHER || is_converted(g, x, TS_HLO_OP_GATHER);
    switch (v->op.opcode) {
    case TS_HLO_OP_CONCATENATE:
        return from == TS_HLO_OP_CONVOLUTION;
    case TS_HLO_OP_CONVERT:
        return from == TS_HLO_OP_CONVOLUTION || gathered;
    case TS_HLO_OP_RESHAPE:
        return from != TS_HLO_OP_PARAMETER && v->array.rank >= x->array.rank &&
               !is_converted(g, x, TS_HLO_OP_PARAMETER) &&
               !(from == TS_HLO_OP_TRANSPOSE && x->array.rank == 2);
    case TS_HLO_OP_TRANSPOSE:
        return (from == TS_HLO_OP_DOT && x->array.rank > 2) || gathered || is_bound(o, g, x, need);
    default:
        return audit_joins(v) && (from == TS_HLO_OP_CONVOLUTION || is_bound(o, g, x, need));
    }
}

static void want(audit_node *x, const audit_order *order) {
    if (x->has_want) return;
    x->want = *order;
    x->has_want = true;
}

/* What a value's order asks of its operands. */
static void ask_operands(const audit_orders *o, const audit_graph *g, audit_node *v) {
    bool free = true;
    for (int k = 0; k < v->operand_count; k++) {
        audit_node *x = audit_operand(g, v, k);
        if (!x) continue;
        v->has_need[k] = audit_order_back(o, &v->op, &x->array, &v->array, &v->want, &v->needs[k]);
        if (!v->has_need[k] || stops(g, v, x)) continue;
        if (follows(o, g, v, x, &v->needs[k]))
            free = false;
        else
            want(x, &v->needs[k]);
    }
    for (int k = 0; k < v->operand_count && !free; k++) v->has_need[k] = false;
}

/* ---- What operations ask by themselves ---- */

static bool is_put_together(const audit_node *x) {
    return x->op.opcode == TS_HLO_OP_CONCATENATE || x->op.opcode == TS_HLO_OP_RESHAPE;
}

static bool is_flat_dot(const audit_node *x) { return x->op.opcode == TS_HLO_OP_DOT && x->array.rank == 2; }

audit_dot audit_dot_of(const audit_graph *g, const audit_node *v) {
    const audit_node *x = audit_operand(g, v, 0), *y = audit_operand(g, v, 1);
    return (audit_dot){.operands = {&x->array, &y->array},
                       .made = &v->array,
                       .have = {&x->have, &y->have},
                       .want = v->has_want ? &v->want : NULL};
}

/* Of a product but two dims by two: of what is put together for it, and of such products. */
static void ask_for_dot(const audit_orders *o, const audit_graph *g, const audit_node *v) {
    audit_order usual[2];
    audit_dot dot = audit_dot_of(g, v);
    bool usable = audit_order_default(o, &v->array, &dot.usual);
    for (int k = 0; k < 2; k++) {
        usable &= audit_order_default(o, dot.operands[k], &usual[k]);
        dot.have[k] = &usual[k];
    }
    if (!usable || (v->op.opcode == TS_HLO_OP_DOT && audit_dot_is_flat(&dot))) return;
    audit_order_dot(o, &v->op, &dot);
    for (int k = 0; k < 2; k++) {
        audit_node *x = audit_operand(g, v, k);
        if (is_put_together(x) || is_flat_dot(x)) want(x, &dot.needs[k]);
    }
}

/* A gather asks for an order if its operand was made for it. */
static void ask_for_gather(const audit_orders *o, const audit_node *v, audit_node *x) {
    bool joined = audit_joins(x) && x->array.rank > 2;
    if (!joined && !is_put_together(x) && x->op.opcode != TS_HLO_OP_TRANSPOSE &&
        x->op.opcode != TS_HLO_OP_BROADCAST)
        return;
    audit_order order = audit_order_of_gathered(o, &v->op, &x->array);
    want(x, &order);
}

/* A reshape asks for an order if its operand may have any. */
static void ask_for_reshape(const audit_orders *o, const audit_graph *g, const audit_node *v, audit_node *x) {
    const audit_node *first = audit_operand(g, x, 0);
    bool repeats = x->op.opcode == TS_HLO_OP_BROADCAST ||
                   (audit_joins(x) && first && first->op.opcode == TS_HLO_OP_BROADCAST);
    audit_step step = {.operand = &x->array, .made = &v->array, .want = v->has_want ? &v->want : NULL};
    audit_order usual;
    if (!(repeats || is_flat_dot(x)) || !audit_order_default(o, &x->array, &usual)) return;
    step.have = &usual;
    audit_order_forward(o, &v->op, &step);
    want(x, &step.needs);
}

static void ask_by_itself(const audit_orders *o, const audit_graph *g, const audit_node *v) {
    audit_node *x = audit_operand(g, v, 0), *y = audit_operand(g, v, 1);
    audit_order usual;
    if (!x) return;
    if (audit_is_product(v)) ask_for_dot(o, g, v);
    if (v->op.opcode == TS_HLO_OP_GATHER && v->op.dims) ask_for_gather(o, v, x);
    if (v->op.opcode == TS_HLO_OP_RESHAPE) ask_for_reshape(o, g, v, x);
    if (audit_joins(v) && !v->has_want && x->op.opcode == TS_HLO_OP_PARAMETER && y &&
        y->op.opcode == TS_HLO_OP_BROADCAST && audit_order_default(o, &x->array, &usual))
        want(y, &usual);
}

/* What a loop begins with is row-major, unless it is an argument or padding makes it much more. */
static void ask_for_loop(const audit_orders *o, audit_node *v) {
    audit_order order = row_major(&v->array), usual;
    if (v->op.opcode == TS_HLO_OP_PARAMETER || !audit_order_default(o, &v->array, &usual)) return;
    if (audit_order_bytes(o, &v->array, &order) / MOST_EXPANSION > audit_order_bytes(o, &v->array, &usual))
        return;
    v->want = order;
    v->has_want = true;
}

static bool order_of_result(const audit_orders *o, const audit_node *v, audit_order *order) {
    if (!v->has_due) return audit_order_default(o, &v->array, order);
    *order = v->due;
    return true;
}

/* Readers first; of several that ask the first decides. */
void audit_graph_ask(const audit_orders *o, audit_graph *g) {
    for (int32_t i = g->count - 1; i >= 0; i--) {
        audit_node *v = &g->list[i];
        const audit_node *x = audit_operand(g, v, 0);
        v->op.of_argument = x && x->op.opcode == TS_HLO_OP_PARAMETER;
        if (v->op.is_result) v->has_want = order_of_result(o, v, &v->want);
        if (v->lives && v->loops) ask_for_loop(o, v);
        if (v->lives && v->has_want && !audit_ends_here(v->op.opcode)) ask_operands(o, g, v);
        if (v->lives) ask_by_itself(o, g, v);
        ts_arena_reset(o->scratch);
    }
}
