/* How orders of dims go through operations: what was learned from what the TPU compiler does with programs of
 * one or two of them (docs/layouts.md, tests/oracle). */
#include <string.h>

#include "audit_orders_private.h"
#include "layout/dtype.h"
#include "layout/notation/tpu_rule.h"
#include "layout/notation/xla.h"

/* ---- Orders ---- */

static unsigned bit(int dim) { return 1u << dim; }

/* Dims of more than one element, minor to major; how many. */
static int solid(const audit_array *array, const audit_order *order, int8_t out[AUDIT_ORDER_DIMS]) {
    int count = 0;
    for (int i = 0; i < array->rank; i++)
        if (array->dims[order->at[i]] != 1) out[count++] = order->at[i];
    return count;
}

/* So many dims, and those of 1 outside them. */
static audit_order with_units(const audit_array *array, const int8_t *list, int count) {
    audit_order out = {{0}};
    for (int i = 0; i < count; i++) out.at[i] = list[i];
    for (int dim = array->rank - 1; dim >= 0 && count < AUDIT_ORDER_DIMS; dim--)
        if (array->dims[dim] == 1) out.at[count++] = (int8_t)dim;
    return out;
}

/* The dims of the set outside the others. */
static audit_order outer(const audit_array *array, const audit_order *order, unsigned set) {
    int8_t all[AUDIT_ORDER_DIMS], list[AUDIT_ORDER_DIMS];
    int count = solid(array, order, all), made = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < count; i++)
            if (((set & bit(all[i])) != 0) == (pass == 1)) list[made++] = all[i];
    return with_units(array, list, made);
}

/* The dims that tiles cover are kept as they are; of the others those of 1 are nowhere. */
bool audit_order_same(const audit_array *array, const audit_order *a, const audit_order *b) {
    int8_t lists[2][AUDIT_ORDER_DIMS];
    const audit_order *orders[2] = {a, b};
    int counts[2] = {0, 0};
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < array->rank; i++)
            if (i < 2 || array->dims[orders[k]->at[i]] != 1) lists[k][counts[k]++] = orders[k]->at[i];
    return counts[0] == counts[1] && memcmp(lists[0], lists[1], (size_t)counts[0]) == 0;
}

static bool same_solid(const audit_array *array, const audit_order *a, const audit_order *b) {
    int8_t x[AUDIT_ORDER_DIMS], y[AUDIT_ORDER_DIMS];
    int count = solid(array, a, x);
    return count == solid(array, b, y) && memcmp(x, y, (size_t)count) == 0;
}

static const ts_shape *tiled(const audit_orders *o, const audit_array *array, const audit_order *order,
                             unsigned flags) {
    int list[AUDIT_ORDER_DIMS];
    for (int i = 0; i < array->rank; i++) list[i] = order->at[i];
    const ts_xla_layout fields = {.rank = array->rank, .dims = array->dims, .minor_to_major = list};
    return ts_tpu_tiled(NULL, o->scratch, array->dtype, &fields, o->request->machine->chip.generation, flags);
}

const ts_shape *audit_order_shape(const audit_orders *o, const audit_array *array, const audit_order *order) {
    return tiled(o, array, order, TS_TPU_ENTRY);
}

bool audit_order_default(const audit_orders *o, const audit_array *array, audit_order *order) {
    const ts_xla_layout fields = {.rank = array->rank, .dims = array->dims};
    const ts_shape *shape =
        ts_tpu_default(NULL, o->scratch, array->dtype, &fields, o->request->machine->chip.generation);
    for (int i = 0; shape && i < array->rank; i++) order->at[i] = (int8_t)ts_xla_dim_at(shape->xla, i);
    return shape != NULL;
}

/* In the tiles of arguments, or in lower ones on both sides. */
static bool is_bitcast(const audit_orders *o, const audit_array *const arrays[2],
                       const audit_order *const orders[2]) {
    static const unsigned flags[] = {TS_TPU_ENTRY, TS_TPU_ARGUMENT};
    for (int i = 0; i < 2; i++) {
        const ts_shape *a = tiled(o, arrays[0], orders[0], flags[i]),
                       *b = tiled(o, arrays[1], orders[1], flags[i]);
        if (a && b && audit_moves_nothing(o->scratch, o->request, a, b, false)) return true;
    }
    return false;
}

/* ---- Reshapes ---- */

/* Runs of dims of both sides that hold as many elements, by number; dims of 1 are in none, -1. */
static void find_groups(const audit_array *const arrays[2], int8_t group[2][AUDIT_ORDER_DIMS]) {
    int at[2] = {0, 0};
    memset(group, -1, 2 * AUDIT_ORDER_DIMS);
    for (int8_t number = 0; at[0] < arrays[0]->rank || at[1] < arrays[1]->rank; number++) {
        int64_t products[2] = {1, 1};
        do {
            int side = products[0] > products[1] || at[0] == arrays[0]->rank;
            if (at[side] == arrays[side]->rank) return;
            int64_t extent = arrays[side]->dims[at[side]];
            if (extent != 1) group[side][at[side]] = number;
            products[side] *= extent;
            at[side]++;
        } while (products[0] != products[1] || products[0] == 1);
    }
}

/* Groups in the order in which they first occur from the minor end of `side`, each row-major: on that side,
 * and on the other. */
static void through_reshape(const audit_array *const arrays[2], int side, const audit_order *order,
                            audit_order out[2]) {
    int8_t group[2][AUDIT_ORDER_DIMS], lists[2][AUDIT_ORDER_DIMS], dims[AUDIT_ORDER_DIMS];
    int counts[2] = {0, 0}, count = solid(arrays[side], order, dims);
    unsigned done = 0;
    find_groups(arrays, group);
    for (int i = 0; i < count; i++) {
        int8_t number = group[side][dims[i]];
        if (number < 0 || (done & bit(number))) continue;
        done |= bit(number);
        for (int k = 0; k < 2; k++)
            for (int dim = arrays[k]->rank - 1; dim >= 0; dim--)
                if (group[k][dim] == number) lists[k][counts[k]++] = (int8_t)dim;
    }
    for (int k = 0; k < 2; k++) out[k] = with_units(arrays[k], lists[k], counts[k]);
    if (same_solid(arrays[side], order, &out[side])) out[side] = *order;
}

/* ---- What fits together ---- */

static int64_t elements_of(const audit_array *array) { /* a shape's: they fit into 64 bits */
    int64_t elements = 1;
    for (int i = 0; i < array->rank; i++) elements *= array->dims[i];
    return elements;
}

static bool is_permutation(const int8_t *list, int rank) {
    unsigned seen = 0;
    for (int i = 0; i < rank; i++) seen |= bit(list[i]);
    return seen == bit(rank) - 1;
}

static bool dot_fits(const audit_operation *op, const audit_array *const operands[2]) {
    for (int k = 0; k < 2; k++)
        if (!operands[k] || (op->batch[k] | op->contracting[k]) >= bit(operands[k]->rank)) return false;
    return true;
}

bool audit_operation_fits(const audit_operation *op, const audit_array *first, const audit_array *second,
                          const audit_array *made) {
    switch (op->opcode) {
    case TS_HLO_OP_RESHAPE:
        return elements_of(first) == elements_of(made);
    case TS_HLO_OP_TRANSPOSE:
        return first->rank == made->rank && is_permutation(op->permutation, made->rank);
    case TS_HLO_OP_CONVERT:
        return first->rank == made->rank;
    case TS_HLO_OP_REDUCE:
        return op->dims < bit(first->rank) && first->rank - __builtin_popcount(op->dims) == made->rank;
    case TS_HLO_OP_DOT:
        return dot_fits(op, (const audit_array *const[2]){first, second});
    default:
        return true;
    }
}

/* ---- From the result to operands ---- */

/* Does an operation of one element of each operand, of the same dims? */
static bool is_elementwise(ts_hlo_opcode opcode) {
    static const ts_hlo_opcode others[] = {TS_HLO_OP_BROADCAST,
                                           TS_HLO_OP_CHOLESKY,
                                           TS_HLO_OP_CONVOLUTION,
                                           TS_HLO_OP_CUSTOM_CALL,
                                           TS_HLO_OP_DOT,
                                           TS_HLO_OP_FFT,
                                           TS_HLO_OP_FUSION,
                                           TS_HLO_OP_GATHER,
                                           TS_HLO_OP_IOTA,
                                           TS_HLO_OP_REDUCE_WINDOW,
                                           TS_HLO_OP_SELECT_AND_SCATTER,
                                           TS_HLO_OP_REDUCE,
                                           TS_HLO_OP_SCATTER,
                                           TS_HLO_OP_SORT,
                                           TS_HLO_OP_TRIANGULAR_SOLVE,
                                           TS_HLO_OP_CONVERT,
                                           TS_HLO_OP_UNKNOWN};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (others[i] == opcode) return false;
    return ts_hlo_opcode_class(opcode) == TS_HLO_COMPUTES;
}

static bool keeps_dims(ts_hlo_opcode opcode) {
    return is_elementwise(opcode) || opcode == TS_HLO_OP_PAD || opcode == TS_HLO_OP_CONCATENATE ||
           opcode == TS_HLO_OP_REVERSE;
}

static bool is_packed(ts_dtype dtype) {
    const ts_dtype_info *info = ts_dtype_get(dtype);
    return info->class != TS_CLASS_BOOL && info->value_bits <= 4;
}

bool audit_order_back(const audit_orders *o, const audit_operation *op, const audit_array *operand,
                      const audit_array *made, const audit_order *result, audit_order *out) {
    const audit_array *arrays[2] = {operand, made};
    audit_order both[2];
    *out = *result;
    if (keeps_dims(op->opcode)) return operand->rank == made->rank;
    /* An argument that only changes its type is laid out anew behind that, but for types of less than a byte. */
    if (op->opcode == TS_HLO_OP_CONVERT) return !op->between_ends || is_packed(operand->dtype);
    if (op->opcode == TS_HLO_OP_BROADCAST) {
        int count = 0;
        for (int i = 0; i < made->rank; i++)
            for (int k = 0; k < operand->rank; k++)
                if (op->permutation[k] == result->at[i]) out->at[count++] = (int8_t)k;
        return count == operand->rank;
    }
    if (op->opcode == TS_HLO_OP_TRANSPOSE) {
        for (int i = 0; i < made->rank; i++) out->at[i] = op->permutation[result->at[i]];
        return true;
    }
    if (op->opcode != TS_HLO_OP_RESHAPE) return false;
    through_reshape(arrays, 1, result, both);
    *out = both[0];
    return is_bitcast(o, arrays, (const audit_order *const[2]){&both[0], result});
}

/* ---- From operands to the result ---- */

static void forward_reshape(const audit_orders *o, audit_step *step) {
    const audit_array *arrays[2] = {step->operand, step->made};
    audit_order both[2];
    step->needs = *step->have;
    if (step->want && is_bitcast(o, arrays, (const audit_order *const[2]){step->have, step->want})) {
        step->makes = *step->want;
        return;
    }
    through_reshape(arrays, 0, step->have, both);
    step->needs = both[0];
    step->makes = both[1];
    if (step->want && same_solid(step->made, step->want, &both[1])) step->makes = *step->want;
}

/* The dim that is picked from is not the minor one; else it comes outside the others, as readers want them. */
static void forward_gather(const audit_operation *op, audit_step *step) {
    int8_t dims[AUDIT_ORDER_DIMS];
    int count = solid(step->operand, step->have, dims);
    if (count > 1 && (op->dims & bit(step->have->at[0])))
        step->needs = outer(step->operand, step->want ? step->want : step->have, op->dims);
    step->makes = step->needs;
}

static void forward_reduce(const audit_operation *op, audit_step *step) {
    int8_t number[AUDIT_ORDER_DIMS];
    int kept = 0, count = 0;
    for (int dim = 0; dim < step->operand->rank; dim++)
        number[dim] = (int8_t)(op->dims & bit(dim) ? -1 : kept++);
    for (int i = 0; i < step->operand->rank; i++)
        if (number[step->have->at[i]] >= 0) step->makes.at[count++] = number[step->have->at[i]];
}

/* The set of the two dims that tiles cover; 0: there are not two. */
static unsigned inner(const audit_array *array, const audit_order *order) {
    int8_t dims[AUDIT_ORDER_DIMS];
    return solid(array, order, dims) > 1 ? bit(dims[0]) | bit(dims[1]) : 0;
}

/* Batch dims are outside, and a dim that is summed over within. */
audit_order audit_order_of_dot(const audit_operation *op, int side, const audit_array *operand,
                               const audit_order *have) {
    int8_t dims[AUDIT_ORDER_DIMS], list[AUDIT_ORDER_DIMS];
    unsigned sums = op->contracting[side];
    audit_order out = inner(operand, have) & op->batch[side] ? outer(operand, have, op->batch[side]) : *have;
    int count = solid(operand, &out, dims), made = 0;
    if (count < 3 || !sums || (sums & (sums - 1)) || (inner(operand, &out) & sums)) return out;
    int summed = __builtin_ctz(sums);
    if (operand->dims[summed] == 1) return out;
    list[made++] = dims[0];
    list[made++] = (int8_t)summed;
    for (int dim = operand->rank - 1; dim >= 0; dim--)
        if (operand->dims[dim] != 1 && dim != dims[0] && dim != summed) list[made++] = (int8_t)dim;
    return with_units(operand, list, made);
}

/* Of the two inner dims that minor which pads less. */
static void turn_inner(const audit_orders *o, const audit_array *array, audit_order *order) {
    int8_t dims[AUDIT_ORDER_DIMS];
    int count = solid(array, order, dims);
    if (count < 2) return;
    int8_t greater = dims[0] > dims[1] ? dims[0] : dims[1], less = dims[0] > dims[1] ? dims[1] : dims[0];
    dims[0] = greater, dims[1] = less;
    audit_order first = with_units(array, dims, count);
    dims[0] = less, dims[1] = greater;
    audit_order second = with_units(array, dims, count);
    const ts_shape *a = audit_order_shape(o, array, &first), *b = audit_order_shape(o, array, &second);
    *order = a && b && b->bytes < a->bytes ? second : first;
}

/* A product has its batch dims outside the two that tiles cover, and one of the second operand's within. */
static void forward_dot(const audit_orders *o, const audit_operation *op, audit_step *step) {
    const audit_array *made = step->made;
    int batch = __builtin_popcount(op->batch[0]),
        left = step->operand->rank - batch - __builtin_popcount(op->contracting[0]), free[2] = {-1, -1};
    int8_t dims[AUDIT_ORDER_DIMS];
    unsigned right = 0;
    for (int dim = made->rank - 1; dim >= batch; dim--) {
        if (made->dims[dim] == 1) continue;
        free[dim >= batch + left] = dim;
        if (dim >= batch + left) right |= bit(dim);
    }
    if (made->rank > 2 && (inner(made, &step->makes) & (bit(batch) - 1))) {
        step->makes = outer(made, &step->makes, bit(batch) - 1);
        turn_inner(o, made, &step->makes);
    }
    int count = solid(made, &step->makes, dims), from = 0;
    if (free[0] < 0 || free[1] < 0 || count < 3 || (inner(made, &step->makes) & right)) return;
    while (dims[from] != free[1]) from++;
    for (; from > 1; from--) dims[from] = dims[from - 1];
    dims[1] = (int8_t)free[1];
    step->makes = with_units(made, dims, count);
}

void audit_order_forward(const audit_orders *o, const audit_operation *op, audit_step *step) {
    audit_order usual = {{0}};
    (void)audit_order_default(o, step->made, &usual);
    step->needs = *step->have;
    step->makes = step->want ? *step->want : usual;
    bool same_rank = step->operand->rank == step->made->rank;
    switch (op->opcode) {
    case TS_HLO_OP_RESHAPE:
        forward_reshape(o, step);
        break;
    case TS_HLO_OP_GATHER:
        if (same_rank) forward_gather(op, step);
        break;
    case TS_HLO_OP_REDUCE:
        forward_reduce(op, step);
        break;
    case TS_HLO_OP_DOT:
        step->needs = audit_order_of_dot(op, 0, step->operand, step->have);
        forward_dot(o, op, step);
        break;
    case TS_HLO_OP_TRANSPOSE:
        for (int i = 0; i < step->made->rank; i++)
            for (int k = 0; k < step->made->rank; k++)
                if (op->permutation[k] == step->have->at[i]) step->makes.at[i] = (int8_t)k;
        break;
    default:
        if (same_rank && (keeps_dims(op->opcode) || op->opcode == TS_HLO_OP_SLICE ||
                          op->opcode == TS_HLO_OP_DYNAMIC_SLICE || op->opcode == TS_HLO_OP_CONVERT))
            step->makes = *step->have;
    }
}
