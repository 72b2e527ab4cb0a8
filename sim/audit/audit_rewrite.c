/* What the TPU compiler makes of a module's operations before it lays arrays out, as far as orders of dims
 * show it: reshapes and transposes are joined, dims of 1 leave products, gathers, sums and broadcasts by
 * reshapes, products without a side are sums, and changes of type come before what only moves elements.
 * Learned from its text before the pass `layout-assignment` (tests/oracle). */
#include <string.h>

#include "audit_graph_private.h"
#include "base/number.h"
#include "layout/dtype.h"

static audit_node *at(const audit_graph *v, int32_t number) { return &v->list[number]; }

int32_t audit_graph_add(audit_graph *v, const audit_node *value) {
    *TS_APPEND(v->arena, v->list, v->count) = *value;
    return v->count - 1;
}

static bool same_array(const audit_array *a, const audit_array *b) {
    return a->dtype == b->dtype && ts_integers_equal(a->dims, a->rank, b->dims, b->rank);
}

/* Without the dims of the set. kept: where each of the others was. */
static audit_array without(const audit_array *array, unsigned set, int8_t kept[AUDIT_ORDER_DIMS]) {
    audit_array out = {.dtype = array->dtype};
    for (int dim = 0; dim < array->rank; dim++) {
        if (set & bit(dim)) continue;
        kept[out.rank] = (int8_t)dim;
        out.dims[out.rank++] = array->dims[dim];
    }
    return out;
}

static unsigned units(const audit_array *array) {
    unsigned set = 0;
    for (int dim = 0; dim < array->rank; dim++) set |= array->dims[dim] == 1 ? bit(dim) : 0;
    return set;
}

/* Of a set of dims, those that are left, as they are counted without `gone`. */
static unsigned renumber(unsigned set, unsigned gone, int rank) {
    unsigned out = 0;
    for (int dim = 0, number = 0; dim < rank; dim++) {
        if (gone & bit(dim)) continue;
        if (set & bit(dim)) out |= bit(number);
        number++;
    }
    return out;
}

/* A value like `like` that an operation of one operand makes. */
static audit_node made_of(const audit_node *like, ts_hlo_opcode opcode, int32_t operand,
                          const audit_array *array) {
    audit_node out = {.line = like->line, .name = like->name, .array = *array};
    out.op.opcode = opcode;
    out.operands[0] = operand;
    out.operand_count = 1;
    return out;
}

/* ---- Operations that only move elements ---- */

static int32_t put_reshape(audit_graph *v, const audit_node *like, int32_t x, const audit_array *array) {
    audit_array to = *array;
    to.dtype = at(v, x)->array.dtype;
    while (at(v, x)->op.opcode == TS_HLO_OP_RESHAPE) x = at(v, x)->operands[0];
    if (same_array(&at(v, x)->array, &to)) return x;
    bool fits = audit_array_elements(&at(v, x)->array) == audit_array_elements(&to);
    audit_node out = made_of(like, fits ? TS_HLO_OP_RESHAPE : TS_HLO_OP_UNKNOWN, x, &to);
    return audit_graph_add(v, &out);
}

/* Without its dims of 1, of which `gone` is told. */
static int32_t put_solid(audit_graph *v, const audit_node *like, int32_t x, unsigned *gone) {
    int8_t kept[AUDIT_ORDER_DIMS];
    *gone = units(&at(v, x)->array);
    audit_array solid = without(&at(v, x)->array, *gone, kept);
    return put_reshape(v, like, x, &solid);
}

/* A convolution names the dims of its result as they are wanted. */
static int32_t put_transposed(audit_graph *v, const audit_node *transpose) {
    audit_node out = *at(v, transpose->operands[0]);
    const audit_node from = out;
    for (int i = 0; i < out.array.rank; i++) {
        out.array.dims[i] = from.array.dims[transpose->op.permutation[i]];
        out.op.labels[2][i] = from.op.labels[2][transpose->op.permutation[i]];
    }
    return audit_graph_add(v, &out);
}

/* And those of its operands. */
static int32_t put_convolution(audit_graph *v, const audit_node *like) {
    audit_node out = *like;
    for (int k = 0; k < 2; k++) {
        const audit_node *x = at(v, out.operands[k]);
        if (x->op.opcode != TS_HLO_OP_TRANSPOSE) continue;
        for (int i = 0; i < x->array.rank; i++)
            out.op.labels[k][x->op.permutation[i]] = like->op.labels[k][i];
        out.operands[k] = x->operands[0];
    }
    return audit_graph_add(v, &out);
}

static int32_t put_transpose(audit_graph *v, const audit_node *like, int32_t x, const int8_t *permutation) {
    audit_node out = made_of(like, TS_HLO_OP_TRANSPOSE, x, &at(v, x)->array);
    int rank = out.array.rank, last = -1;
    bool in_order = true;
    memcpy(out.op.permutation, permutation, sizeof out.op.permutation);
    while (at(v, out.operands[0])->op.opcode == TS_HLO_OP_TRANSPOSE) {
        const audit_node *inner = at(v, out.operands[0]);
        for (int i = 0; i < rank; i++) out.op.permutation[i] = inner->op.permutation[out.op.permutation[i]];
        out.operands[0] = inner->operands[0];
    }
    const audit_array *from = &at(v, out.operands[0])->array;
    for (int i = 0; i < rank; i++) {
        int dim = out.op.permutation[i];
        out.array.dims[i] = from->dims[dim];
        if (from->dims[dim] == 1) continue;
        in_order &= dim > last;
        last = dim;
    }
    if (in_order) return put_reshape(v, like, out.operands[0], &out.array);
    if (at(v, out.operands[0])->op.opcode == TS_HLO_OP_CONVOLUTION) return put_transposed(v, &out);
    return audit_graph_add(v, &out);
}

/* Dims put where they are wanted: a reshape where they stay in order. */
static int32_t put_in_places(audit_graph *v, const audit_node *like, int32_t x, const int8_t *where,
                             const audit_array *array) {
    int8_t permutation[AUDIT_ORDER_DIMS] = {0};
    int rank = at(v, x)->array.rank;
    for (int dim = 0; dim < rank; dim++) {
        int before = 0;
        for (int other = 0; other < rank; other++) before += where[other] < where[dim];
        permutation[before] = (int8_t)dim;
    }
    return put_reshape(v, like, put_transpose(v, like, x, permutation), array);
}

/* where: the dims of the result that the operand's are. */
static int32_t put_broadcast(audit_graph *v, const audit_node *like, int32_t x, const int8_t *where,
                             const audit_array *array) {
    unsigned gone;
    int32_t solid = put_solid(v, like, x, &gone);
    audit_node out = made_of(like, TS_HLO_OP_BROADCAST, solid, array);
    int count = 0;
    for (int dim = 0; dim < at(v, x)->array.rank; dim++)
        if (!(gone & bit(dim))) out.op.permutation[count++] = where[dim];
    out.array.dtype = at(v, x)->array.dtype;
    if (count == array->rank - __builtin_popcount(units(array)))
        return put_in_places(v, like, solid, out.op.permutation, &out.array);
    return audit_graph_add(v, &out);
}

/* ---- Changes of type ---- */

static int bits_of(ts_dtype dtype) { return ts_dtype_get(dtype)->stored_bits; }

enum { MOST_MOVED = 8, MOST_NODES = 1 << 14 }; /* a change of type is moved no further */

static int32_t put_convert(audit_graph *v, const audit_node *like, int32_t x, ts_dtype dtype, int depth);

/* Before what only moves elements: reshapes, transposes, broadcasts, and, to narrower types, others. */
static int32_t convert_operands(audit_graph *v, const audit_node *like, int32_t x, ts_dtype dtype,
                                int depth) {
    audit_node out = *at(v, x);
    out.array.dtype = dtype;
    for (int k = 0; k < out.operand_count && (k == 0 || out.op.opcode == TS_HLO_OP_CONCATENATE); k++)
        if (out.operands[k] >= 0) out.operands[k] = put_convert(v, like, out.operands[k], dtype, depth + 1);
    return audit_graph_add(v, &out);
}

static bool is_moved(const audit_node *x, ts_dtype dtype) {
    ts_hlo_opcode opcode = x->op.opcode;
    if (opcode == TS_HLO_OP_RESHAPE || opcode == TS_HLO_OP_TRANSPOSE || opcode == TS_HLO_OP_BROADCAST)
        return true;
    return bits_of(dtype) < bits_of(x->array.dtype) &&
           (opcode == TS_HLO_OP_CONCATENATE || opcode == TS_HLO_OP_SLICE);
}

static int32_t put_convert(audit_graph *v, const audit_node *like, int32_t x, ts_dtype dtype, int depth) {
    const audit_node *from = at(v, x);
    if (from->array.dtype == dtype) return x;
    if (depth < MOST_MOVED && v->count < MOST_NODES && is_moved(from, dtype))
        return convert_operands(v, like, x, dtype, depth);
    audit_node out = made_of(like, TS_HLO_OP_CONVERT, x, &from->array);
    out.array.dtype = dtype;
    if (from->op.opcode == TS_HLO_OP_REDUCE) {
        const audit_node *summed = at(v, from->operands[0]); /* in a wider type, and back */
        int32_t source = summed->operands[0];
        if (summed->op.opcode == TS_HLO_OP_CONVERT && at(v, source)->array.dtype == dtype) {
            out.op = from->op;
            out.operands[0] = source;
        }
    }
    return audit_graph_add(v, &out);
}

/* ---- Sums ---- */

/* Over dims of what is transposed: the dims that stay must stay in their order. */
static bool sum_transposed(const audit_node *x, unsigned *dims) {
    unsigned out = 0;
    int last = -1;
    for (int i = 0; i < x->array.rank; i++) {
        int dim = x->op.permutation[i];
        if (*dims & bit(i)) {
            out |= bit(dim);
        } else {
            if (dim < last) return false;
            last = dim;
        }
    }
    *dims = out;
    return true;
}

static int32_t put_reduce(audit_graph *v, const audit_node *like, int32_t x, unsigned dims) {
    int8_t kept[AUDIT_ORDER_DIMS];
    audit_array made;
    if (at(v, x)->op.opcode == TS_HLO_OP_RESHAPE) {
        const audit_node *from = at(v, at(v, x)->operands[0]);
        audit_array a = without(&at(v, x)->array, units(&at(v, x)->array), kept),
                    b = without(&from->array, units(&from->array), kept);
        bool all = dims == bit(at(v, x)->array.rank) - 1;
        if (all || same_array(&a, &b)) {
            unsigned solid = renumber(dims, units(&at(v, x)->array), at(v, x)->array.rank);
            dims = all ? bit(from->array.rank) - 1 : 0;
            for (int i = 0; i < b.rank && !all; i++)
                if (solid & bit(i)) dims |= bit(kept[i]);
            x = at(v, x)->operands[0];
        }
    }
    if (at(v, x)->op.opcode == TS_HLO_OP_TRANSPOSE && sum_transposed(at(v, x), &dims))
        x = at(v, x)->operands[0];
    dims |= units(&at(v, x)->array);
    made = without(&at(v, x)->array, dims, kept);
    audit_node out = made_of(like, TS_HLO_OP_REDUCE, x, &made);
    out.op.dims = dims;
    return audit_graph_add(v, &out);
}

/* ---- Gathers and products ---- */

/* Of an axis by a list, which comes first and is then put where the axis is. Where the axis has one element
 * that is repeated. */
static int32_t put_gather(audit_graph *v, const audit_node *like, int32_t x) {
    int8_t kept[AUDIT_ORDER_DIMS], permutation[AUDIT_ORDER_DIMS] = {0};
    int axis = __builtin_ctz(like->op.dims);
    unsigned gone;
    if (at(v, x)->array.dims[axis] == 1) {
        audit_array others = without(&at(v, x)->array, like->op.dims, kept);
        return put_broadcast(v, like, put_reshape(v, like, x, &others), kept, &like->array);
    }
    audit_node out = *like;
    int rank = at(v, x)->array.rank;
    out.operands[0] = put_solid(v, like, x, &gone);
    out.op.dims = renumber(like->op.dims, gone, rank);
    int picked = __builtin_ctz(out.op.dims);
    const audit_array *solid = &at(v, out.operands[0])->array;
    out.array.rank = solid->rank;
    out.array.dims[0] = like->array.dims[axis];
    for (int dim = 0; dim < solid->rank; dim++) {
        if (dim != picked) out.array.dims[dim + (dim < picked)] = solid->dims[dim];
        permutation[dim] = (int8_t)(dim == picked ? 0 : dim + (dim < picked));
    }
    int32_t moved = put_transpose(v, like, audit_graph_add(v, &out), permutation);
    return put_reshape(v, like, moved, &like->array);
}

typedef struct {
    int32_t x;
    audit_array array;
    unsigned batch, contracting;
    int8_t where[AUDIT_ORDER_DIMS]; /* of a product's dims, which each is; -1: summed over */
} side;

/* Dims of a product: batch, then the first operand's, then the second's. */
static audit_array number_dims(side sides[2]) {
    audit_array made = {.dtype = sides[0].array.dtype};
    int free = __builtin_popcount(sides[0].batch);
    for (int k = 0; k < 2; k++) {
        int batch = 0;
        for (int dim = 0; dim < sides[k].array.rank; dim++) {
            int number = -1;
            if (sides[k].batch & bit(dim))
                number = batch++;
            else if (!(sides[k].contracting & bit(dim)) && free < AUDIT_ORDER_DIMS)
                number = free++;
            sides[k].where[dim] = (int8_t)number;
            if (number >= 0) made.dims[number] = sides[k].array.dims[dim];
        }
    }
    made.rank = free;
    return made;
}

static unsigned free_dims(const side *s) { return (bit(s->array.rank) - 1) & ~(s->batch | s->contracting); }

static int32_t put_multiply(audit_graph *v, const audit_node *like, int32_t x, int32_t y) {
    audit_node out = made_of(like, TS_HLO_OP_MULTIPLY, x, &at(v, x)->array);
    out.operands[1] = y;
    out.operand_count = 2;
    return audit_graph_add(v, &out);
}

/* Nothing is summed over: both are repeated. */
static int32_t outer_product(audit_graph *v, const audit_node *like, const side s[2],
                             const audit_array *made) {
    int32_t x = put_broadcast(v, like, s[0].x, s[0].where, made);
    return put_multiply(v, like, x, put_broadcast(v, like, s[1].x, s[1].where, made));
}

/* Of a set, the dim that is the count-th. */
static int nth(unsigned set, int count) {
    for (; count > 0; count--) set &= set - 1;
    return __builtin_ctz(set);
}

static int rank_in(unsigned set, int dim) { return __builtin_popcount(set & (bit(dim) - 1)); }

/* Operand k has batch dims and those that are summed over alone: it is repeated, multiplied and summed. */
static int32_t sum_of_products(audit_graph *v, const audit_node *like, const side s[2], int k) {
    const side *vector = &s[k], *other = &s[!k];
    int8_t where[AUDIT_ORDER_DIMS] = {0};
    for (int dim = 0; dim < vector->array.rank; dim++) {
        bool batch = vector->batch & bit(dim);
        unsigned from = batch ? vector->batch : vector->contracting,
                 to = batch ? other->batch : other->contracting;
        where[dim] = (int8_t)nth(to, rank_in(from, dim));
    }
    int32_t repeated = put_broadcast(v, like, vector->x, where, &other->array);
    return put_reduce(v, like, put_multiply(v, like, other->x, repeated), other->contracting);
}

/* Of a product without its dims of 1. */
static side solid_side(audit_graph *v, const audit_node *dot, int k) {
    unsigned gone;
    int rank = at(v, dot->operands[k])->array.rank;
    side out = {.x = put_solid(v, dot, dot->operands[k], &gone)};
    out.array = at(v, out.x)->array;
    out.batch = renumber(dot->op.batch[k], gone, rank);
    out.contracting = renumber(dot->op.contracting[k], gone, rank);
    return out;
}

static int32_t put_core(audit_graph *v, const audit_node *dot, const side s[2], const audit_array *made) {
    audit_node out = *dot;
    out.array = *made;
    for (int k = 0; k < 2; k++) {
        out.operands[k] = s[k].x;
        out.op.batch[k] = s[k].batch;
        out.op.contracting[k] = s[k].contracting;
    }
    return audit_graph_add(v, &out);
}

static int32_t put_dot(audit_graph *v, const audit_node *dot) {
    side s[2] = {solid_side(v, dot, 0), solid_side(v, dot, 1)};
    audit_array made = number_dims(s);
    bool same = __builtin_popcount(s[0].batch) == __builtin_popcount(s[1].batch) &&
                __builtin_popcount(s[0].contracting) == __builtin_popcount(s[1].contracting);
    int32_t out;
    if (!same || audit_array_elements(&made) != audit_array_elements(&dot->array)) {
        audit_node unknown = *dot;
        unknown.op.opcode = TS_HLO_OP_UNKNOWN;
        return audit_graph_add(v, &unknown);
    }
    if (!s[0].contracting)
        out = outer_product(v, dot, s, &made);
    else if (!free_dims(&s[0]) || !free_dims(&s[1]))
        out = sum_of_products(v, dot, s, free_dims(&s[0]) != 0);
    else
        out = put_core(v, dot, s, &made);
    at(v, out)->array.dtype = dot->array.dtype;
    return put_reshape(v, dot, out, &dot->array);
}

/* ---- All of them ---- */

/* Does it pick from one axis, and leave the others? */
static bool is_take(const audit_graph *v, const audit_node *gather) {
    const audit_array *from = &at(v, gather->operands[0])->array, *made = &gather->array;
    bool one = __builtin_popcount(gather->op.dims) == 1 && gather->op.dims < bit(from->rank);
    for (int dim = 0; one && dim < from->rank && made->rank == from->rank; dim++)
        one = from->dims[dim] == made->dims[dim] || (gather->op.dims & bit(dim));
    return one && made->rank == from->rank;
}

static int32_t put_as_is(audit_graph *v, const audit_node *node) {
    audit_node out = *node;
    bool slices = node->op.opcode == TS_HLO_OP_SLICE || node->op.opcode == TS_HLO_OP_PAD;
    if (slices && same_array(&at(v, node->operands[0])->array, &node->array)) return node->operands[0];
    if (node->op.opcode == TS_HLO_OP_GATHER) out.op.opcode = TS_HLO_OP_UNKNOWN;
    return audit_graph_add(v, &out);
}

static int32_t put(audit_graph *v, const audit_node *node) {
    int32_t x = node->operand_count > 0 ? node->operands[0] : -1;
    switch (x >= 0 ? node->op.opcode : TS_HLO_OP_UNKNOWN) {
    case TS_HLO_OP_RESHAPE:
        return put_reshape(v, node, x, &node->array);
    case TS_HLO_OP_TRANSPOSE:
        return put_transpose(v, node, x, node->op.permutation);
    case TS_HLO_OP_BROADCAST:
        return put_broadcast(v, node, x, node->op.permutation, &node->array);
    case TS_HLO_OP_CONVERT:
        return put_convert(v, node, x, node->array.dtype, 0);
    case TS_HLO_OP_REDUCE:
        return put_reshape(v, node, put_reduce(v, node, x, node->op.dims), &node->array);
    case TS_HLO_OP_GATHER:
        return is_take(v, node) ? put_gather(v, node, x) : put_as_is(v, node);
    case TS_HLO_OP_DOT:
        return put_dot(v, node);
    case TS_HLO_OP_CONVOLUTION:
        return put_convolution(v, node);
    default:
        return x >= 0 ? put_as_is(v, node) : audit_graph_add(v, node);
    }
}

void audit_graph_rewrite(const audit_graph *graph, audit_graph *out, int32_t *numbers) {
    for (int32_t i = 0; i < graph->count; i++) {
        audit_node node = graph->list[i];
        for (int k = 0; k < node.operand_count; k++)
            if (node.operands[k] >= 0) node.operands[k] = numbers[node.operands[k]];
        numbers[i] = put(out, &node);
    }
}
