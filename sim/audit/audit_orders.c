/* How orders of dims go through operations: what was learned from what the TPU compiler does with programs of
 * one or two of them (docs/layouts.md, tests/oracle). */
#include <string.h>

#include "audit_orders_private.h"
#include "base/number.h"
#include "isa/vreg.h"
#include "layout/dtype.h"
#include "layout/notation/tpu_rule.h"
#include "layout/notation/xla.h"

/* ---- Orders ---- */

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

int64_t audit_order_bytes(const audit_orders *o, const audit_array *array, const audit_order *order) {
    const ts_shape *shape = audit_order_shape(o, array, order);
    return shape ? shape->bytes : INT64_MAX / 2;
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
        if (a && b && audit_moves_nothing(o->scratch, a, b)) return true;
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

typedef struct {
    int8_t of[2][AUDIT_ORDER_DIMS]; /* each dim's group */
    int8_t list[AUDIT_ORDER_DIMS];  /* minor to major */
    int count;
    bool single; /* each is one dim on both sides */
} groups;

/* As they first occur from the minor end of `side`. */
static groups groups_of(const audit_array *const arrays[2], int side, const audit_order *order) {
    groups g = {.single = true};
    int8_t dims[AUDIT_ORDER_DIMS];
    int count = solid(arrays[side], order, dims), others = 0;
    unsigned done = 0;
    find_groups(arrays, g.of);
    for (int i = 0; i < count; i++) {
        int8_t number = g.of[side][dims[i]];
        if (number < 0) continue;
        g.single &= !(done & bit(number));
        if (!(done & bit(number))) g.list[g.count++] = number;
        done |= bit(number);
    }
    for (int dim = 0; dim < arrays[!side]->rank; dim++) others += g.of[!side][dim] >= 0;
    g.single &= others == g.count;
    return g;
}

/* Each row-major, on both sides. */
static void lay_groups(const audit_array *const arrays[2], const groups *g, audit_order out[2]) {
    for (int k = 0; k < 2; k++) {
        int8_t list[AUDIT_ORDER_DIMS];
        int count = 0;
        for (int i = 0; i < g->count; i++)
            for (int dim = arrays[k]->rank - 1; dim >= 0; dim--)
                if (g->of[k][dim] == g->list[i]) list[count++] = (int8_t)dim;
        out[k] = with_units(arrays[k], list, count);
    }
}

/* Groups as `side` has them. */
static void through_reshape(const audit_array *const arrays[2], int side, const audit_order *order,
                            audit_order out[2]) {
    groups g = groups_of(arrays, side, order);
    lay_groups(arrays, &g, out);
    if (same_solid(arrays[side], order, &out[side])) out[side] = *order;
}

/* The groups inside that make both sides the fewest bytes; of equal ones those that are further in now. */
static void cheapest_reshape(const audit_orders *o, const audit_array *const arrays[2],
                             const audit_order *order, audit_order out[2]) {
    groups g = groups_of(arrays, 0, order), trial = g;
    int64_t least = INT64_MAX;
    for (int minor = 0; minor < g.count; minor++)
        for (int second = 0; second < g.count; second++) {
            audit_order both[2];
            if (minor == second && g.count > 1) continue;
            trial.count = 0;
            trial.list[trial.count++] = g.list[minor];
            if (second != minor) trial.list[trial.count++] = g.list[second];
            for (int8_t number = AUDIT_ORDER_DIMS * 2; number >= 0; number--)
                for (int i = 0; i < g.count; i++)
                    if (g.list[i] == number && i != minor && i != second) trial.list[trial.count++] = number;
            lay_groups(arrays, &trial, both);
            int64_t bytes =
                audit_order_bytes(o, arrays[0], &both[0]) + audit_order_bytes(o, arrays[1], &both[1]);
            if (bytes >= least) continue;
            least = bytes;
            out[0] = both[0], out[1] = both[1];
        }
    if (same_solid(arrays[0], order, &out[0])) out[0] = *order;
}

/* ---- What fits together ---- */

int64_t audit_array_elements(const audit_array *array) { /* a shape's: they fit into 64 bits */
    return ts_product(array->rank, array->dims);
}

static bool is_permutation(const int8_t *list, int rank) {
    unsigned seen = 0;
    for (int i = 0; i < rank; i++) seen |= bit(list[i]);
    return seen == bit(rank) - 1;
}

/* One dim of batch, or of a kernel's outputs, one of features, or its inputs, and others of space, each
 * once. */
static bool labels_fit(const char *labels, int rank) {
    int batch = 0, features = 0;
    unsigned space = 0;
    for (; *labels; labels++) {
        batch += strchr("bo", *labels) != NULL;
        features += strchr("fi", *labels) != NULL;
        if (ts_is_digit(*labels)) space |= bit(*labels - '0');
    }
    return batch == 1 && features == 1 && __builtin_popcount(space) == rank - 2;
}

static bool convolution_fits(const audit_operation *op, const audit_array *const arrays[3]) {
    for (int k = 0; k < 3; k++)
        if (!arrays[k] || (int)strlen(op->labels[k]) != arrays[k]->rank ||
            !labels_fit(op->labels[k], arrays[k]->rank))
            return false;
    return true;
}

/* The operand's dims are where it says, each once. */
static bool broadcast_fits(const audit_operation *op, const audit_array *first, const audit_array *made) {
    unsigned seen = 0;
    for (int k = 0; k < first->rank; k++) {
        int dim = op->permutation[k];
        if (dim >= made->rank || (seen & bit(dim))) return false;
        if (first->dims[k] != 1 && first->dims[k] != made->dims[dim]) return false;
        seen |= bit(dim);
    }
    return true;
}

static bool dot_fits(const audit_operation *op, const audit_array *const operands[2]) {
    for (int k = 0; k < 2; k++)
        if (!operands[k] || (op->batch[k] | op->contracting[k]) >= bit(operands[k]->rank)) return false;
    return __builtin_popcount(op->batch[0]) == __builtin_popcount(op->batch[1]) &&
           __builtin_popcount(op->contracting[0]) == __builtin_popcount(op->contracting[1]);
}

bool audit_operation_fits(const audit_operation *op, const audit_array *first, const audit_array *second,
                          const audit_array *made) {
    switch (op->opcode) {
    case TS_HLO_OP_RESHAPE:
        return first && audit_array_elements(first) == audit_array_elements(made);
    case TS_HLO_OP_TRANSPOSE:
        return first && first->rank == made->rank && is_permutation(op->permutation, made->rank);
    case TS_HLO_OP_CONVERT:
        return first && first->rank == made->rank;
    case TS_HLO_OP_BROADCAST:
        return first && broadcast_fits(op, first, made);
    case TS_HLO_OP_REDUCE:
        return first && op->dims < bit(first->rank) &&
               first->rank - __builtin_popcount(op->dims) == made->rank;
    case TS_HLO_OP_DOT:
        return dot_fits(op, (const audit_array *const[2]){first, second});
    case TS_HLO_OP_CONVOLUTION:
        return convolution_fits(op, (const audit_array *const[3]){first, second, made});
    default:
        return true;
    }
}

/* ---- From the result to operands ---- */

bool audit_is_elementwise(ts_hlo_opcode opcode) {
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

bool audit_ends_here(ts_hlo_opcode opcode) {
    return opcode == TS_HLO_OP_PARAMETER || opcode == TS_HLO_OP_CONSTANT || opcode == TS_HLO_OP_IOTA;
}

static bool keeps_dims(ts_hlo_opcode opcode) {
    return audit_is_elementwise(opcode) || opcode == TS_HLO_OP_PAD || opcode == TS_HLO_OP_CONCATENATE ||
           opcode == TS_HLO_OP_REVERSE;
}

static bool is_narrow(ts_dtype dtype) { return ts_dtype_get(dtype)->value_bits <= 4; }

/* False: a dim of the operand is none of the result's. */
static bool back_through_broadcast(const audit_operation *op, int operand_rank, int rank,
                                   const audit_order *result, audit_order *out) {
    int count = 0;
    for (int i = 0; i < rank; i++)
        for (int k = 0; k < operand_rank; k++)
            if (op->permutation[k] == result->at[i]) out->at[count++] = (int8_t)k;
    return count == operand_rank;
}

bool audit_order_back(const audit_orders *o, const audit_operation *op, const audit_array *operand,
                      const audit_array *made, const audit_order *result, audit_order *out) {
    const audit_array *arrays[2] = {operand, made};
    audit_order both[2];
    *out = *result;
    if (keeps_dims(op->opcode)) return operand->rank == made->rank;
    /* An argument that only changes its type is laid out again behind that, but for truth values and 4-bit
     * types. */
    if (op->opcode == TS_HLO_OP_CONVERT)
        return !(op->of_argument && op->is_result) || is_narrow(operand->dtype);
    if (op->opcode == TS_HLO_OP_BROADCAST)
        return back_through_broadcast(op, operand->rank, made->rank, result, out);
    if (op->opcode == TS_HLO_OP_TRANSPOSE) {
        for (int i = 0; i < made->rank; i++) out->at[i] = op->permutation[result->at[i]];
        return true;
    }
    if (op->opcode != TS_HLO_OP_RESHAPE) return false;
    through_reshape(arrays, 1, result, both);
    if (!audit_order_default(o, operand, out) || !same_solid(operand, out, &both[0])) *out = both[0];
    both[0] = *out;
    return is_bitcast(o, arrays, (const audit_order *const[2]){&both[0], result});
}

/* ---- From operands to the result ---- */

static bool is_row_major(const audit_array *array, const audit_order *order) {
    for (int i = 0; i < array->rank; i++)
        if (order->at[i] != array->rank - 1 - i) return false;
    return true;
}

/* Of dims of 1 alone. Taken away from under tiles they leave taller tiles to copy to; put there they are
 * where readers want them, unless rows of an argument are. */
static void forward_units(const audit_orders *o, const audit_operation *op, audit_step *step,
                          const audit_order *outside) {
    const audit_array *arrays[2] = {step->operand, step->made};
    int64_t minor = step->operand->rank > 0 ? step->operand->dims[step->have->at[0]] : 1;
    bool solid_rows = step->operand->rank < 2 ||
                      (op->of_argument && minor % TS_LANES != 0 && is_row_major(step->operand, step->have));
    if (step->want && same_solid(step->made, step->want, &step->makes) && !solid_rows)
        step->makes = *step->want;
    bool covered = step->operand->rank > 1 && step->operand->dims[step->have->at[1]] == 1;
    if (step->made->rank > 1 && step->made->rank < step->operand->rank && covered &&
        !is_bitcast(o, arrays, (const audit_order *const[2]){step->have, &step->makes}))
        step->needs = *outside;
}

static void forward_reshape(const audit_orders *o, const audit_operation *op, audit_step *step) {
    const audit_array *arrays[2] = {step->operand, step->made};
    audit_order both[2];
    step->needs = *step->have;
    if (step->want && is_bitcast(o, arrays, (const audit_order *const[2]){step->have, step->want})) {
        step->makes = *step->want;
        return;
    }
    through_reshape(arrays, 0, step->have, both);
    groups g = groups_of(arrays, 0, step->have);
    if (!g.single) cheapest_reshape(o, arrays, step->have, both);
    step->needs = both[0];
    step->makes = both[1];
    if (g.single) {
        int8_t dims[AUDIT_ORDER_DIMS] = {0};
        audit_order outside = with_units(step->operand, dims, solid(step->operand, step->have, dims));
        forward_units(o, op, step, &outside);
    } else if (step->want && same_solid(step->made, step->want, &both[1])) {
        step->makes = *step->want;
    }
}

/* The usual order of the others, and that dim outside them. */
static audit_order picked_outside(const audit_orders *o, const audit_array *array, int picked) {
    audit_array others = {.dtype = array->dtype};
    audit_order order = {{0}};
    for (int dim = 0; dim < array->rank; dim++)
        if (dim != picked) others.dims[others.rank++] = array->dims[dim];
    (void)audit_order_default(o, &others, &order);
    for (int i = 0; i < others.rank; i++) order.at[i] = (int8_t)(order.at[i] + (order.at[i] >= picked));
    order.at[others.rank] = (int8_t)picked;
    return order;
}

static int position_of(const audit_order *order, int dim) {
    int location = 0;
    while (order->at[location] != dim) location++;
    return location;
}

audit_order audit_order_of_gathered(const audit_orders *o, const audit_operation *op,
                                    const audit_array *operand) {
    int picked = __builtin_ctz(op->dims);
    audit_order usual = {{0}};
    (void)audit_order_default(o, operand, &usual);
    return position_of(&usual, picked) < (operand->rank < 3 ? 1 : 2) ? picked_outside(o, operand, picked)
                                                                     : usual;
}

/* An argument's dim that is picked from is not the minor one; of another array of three dims or more it is
 * outside tiles. The list of what is picked, the result's first dim, is where that dim is, or, behind two
 * others, outermost. */
static void forward_gather(const audit_orders *o, const audit_operation *op, audit_step *step) {
    int picked = __builtin_ctz(op->dims), rank = step->operand->rank, count = 0;
    int location = position_of(step->have, picked);
    if (location < (op->of_argument || rank < 3 ? 1 : 2) && rank > 1)
        step->needs = picked_outside(o, step->operand, picked);
    location = position_of(&step->needs, picked);
    for (int i = 0; i < rank; i++) {
        int dim = step->needs.at[i];
        if (dim != picked)
            step->makes.at[count++] = (int8_t)(dim + (dim < picked));
        else if (location < 2)
            step->makes.at[count++] = 0;
    }
    if (location >= 2) step->makes.at[count] = 0;
}

static void forward_reduce(const audit_operation *op, audit_step *step) {
    int8_t number[AUDIT_ORDER_DIMS];
    int kept = 0, count = 0;
    for (int dim = 0; dim < step->operand->rank; dim++)
        number[dim] = (int8_t)(op->dims & bit(dim) ? -1 : kept++);
    for (int i = 0; i < step->operand->rank; i++)
        if (number[step->have->at[i]] >= 0) step->makes.at[count++] = number[step->have->at[i]];
}

static int64_t rows_of_tile(const audit_orders *o, const audit_array *array, const audit_order *order) {
    const ts_shape *shape = audit_order_shape(o, array, order);
    return shape && shape->xla->tile_count > 0 && shape->xla->tiles[0].rank == 2
               ? shape->xla->tiles[0].dims[0]
               : 1;
}

/* [.., a, b, c] as [.., a, b * c], or all as one dim: rows of tiles become lanes. */
bool audit_order_retiles(const audit_orders *o, const audit_step *step, audit_array *view,
                         audit_order orders[2]) {
    const audit_array *from = step->operand, *to = step->made;
    int64_t lanes = from->dims[from->rank - 1], rows = ts_product(from->rank - 1, from->dims);
    if (from->rank < 2 || lanes % TS_LANES != 0 || !is_row_major(from, step->have) ||
        to->rank >= from->rank || !is_row_major(to, &step->makes))
        return false;
    *view = (audit_array){.dtype = from->dtype, .rank = 4};
    if (to->rank == 1) {
        int64_t height = rows_of_tile(o, from, step->have);
        if (height > TS_SUBLANES || from->dims[from->rank - 2] % height != 0) return false;
        const int64_t dims[] = {rows / height, lanes / TS_LANES, height, TS_LANES};
        memcpy(view->dims, dims, sizeof dims);
    } else {
        int64_t above = ts_product(to->rank - 1, to->dims);
        int64_t height = above < TS_SUBLANES ? above : TS_SUBLANES;
        if (to->rank != from->rank - 1 || above % height != 0) return false;
        const int64_t dims[] = {above / height, height, rows / above, lanes};
        memcpy(view->dims, dims, sizeof dims);
    }
    orders[0] = (audit_order){{3, 2, 1, 0}};
    orders[1] = (audit_order){{3, 1, 2, 0}};
    return view->dims[1] > 1 && view->dims[2] > 1;
}

void audit_order_forward(const audit_orders *o, const audit_operation *op, audit_step *step) {
    audit_order usual = {{0}};
    (void)audit_order_default(o, step->made, &usual);
    step->needs = *step->have;
    step->makes = step->want ? *step->want : usual;
    bool same_rank = step->operand->rank == step->made->rank;
    switch (op->opcode) {
    case TS_HLO_OP_RESHAPE:
        forward_reshape(o, op, step);
        break;
    case TS_HLO_OP_GATHER:
        if (same_rank && op->dims && !(op->dims & (op->dims - 1))) forward_gather(o, op, step);
        break;
    case TS_HLO_OP_REDUCE:
        forward_reduce(op, step);
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
