/* Orders of a product or convolution and of what it reads: two dims are inside, those that tiles cover. */
#include <string.h>

#include "audit_orders_private.h"

/* The two inside, the others row-major. */
static audit_order with_inside(const audit_array *array, int minor, int second) {
    audit_order out = {.at = {(int8_t)minor, (int8_t)second}};
    int count = 2;
    for (int dim = array->rank - 1; dim >= 0; dim--)
        if (dim != minor && dim != second) out.at[count++] = (int8_t)dim;
    return out;
}

/* One dim of each set inside, so that the array has the fewest bytes; of equal ones that which comes first in
 * `walk`. */
static audit_order inside(const audit_orders *o, const audit_array *array, const unsigned sets[2],
                          const audit_order *walk) {
    audit_order best = *walk;
    int64_t least = INT64_MAX;
    for (int i = 0; i < array->rank; i++)
        for (int k = 0; k < array->rank; k++) {
            unsigned minor = bit(walk->at[i]), second = bit(walk->at[k]);
            if (!((sets[0] & minor) && (sets[1] & second)) && !((sets[1] & minor) && (sets[0] & second)))
                continue;
            audit_order trial = with_inside(array, walk->at[i], walk->at[k]);
            int64_t bytes = audit_order_bytes(o, array, &trial);
            if (bytes >= least) continue;
            least = bytes;
            best = trial;
        }
    return best;
}

/* The operand's dim that is this one of the product. */
static int operand_dim(const audit_operation *op, int side, const audit_array *operand, int number) {
    for (int dim = 0; dim < operand->rank; dim++)
        if (!((op->batch[side] | op->contracting[side]) & bit(dim)) && number-- == 0) return dim;
    return 0;
}

bool audit_dot_is_flat(const audit_dot *dot) {
    return dot->operands[0]->rank <= 2 && dot->operands[1]->rank <= 2;
}

static unsigned labelled(const char *labels, const char *any) {
    return bit((int)(strpbrk(labels, any) - labels));
}

/* Batch and features are inside, dims of space outside, the last one innermost. */
static audit_order convolved(const audit_orders *o, const audit_operation *op, int side,
                             const audit_array *array, const audit_order *walk) {
    const char *labels = op->labels[side];
    unsigned sets[2] = {labelled(labels, "bo"), labelled(labels, "fi")};
    audit_order out = inside(o, array, sets, walk);
    int count = 2;
    for (char label = '9'; label >= '0'; label--)
        for (int dim = 0; dim < array->rank; dim++)
            if (labels[dim] == label) out.at[count++] = (int8_t)dim;
    return out;
}

static void convolve(const audit_orders *o, const audit_operation *op, audit_dot *dot) {
    dot->makes = convolved(o, op, 2, dot->made, dot->want ? dot->want : &dot->usual);
    for (int k = 0; k < 2; k++) dot->needs[k] = convolved(o, op, k, dot->operands[k], dot->have[k]);
}

void audit_order_dot(const audit_orders *o, const audit_operation *op, audit_dot *dot) {
    if (op->opcode == TS_HLO_OP_CONVOLUTION) {
        convolve(o, op, dot);
        return;
    }
    const audit_array *made = dot->made;
    int batch = __builtin_popcount(op->batch[0]),
        left = dot->operands[0]->rank - __builtin_popcount(op->contracting[0]);
    unsigned sets[2] = {(bit(left) - 1) & ~(bit(batch) - 1), ~(bit(left) - 1)};
    bool flat = audit_dot_is_flat(dot);
    for (int k = 0; k < 2; k++) dot->needs[k] = *dot->have[k];
    dot->makes = dot->want ? *dot->want : dot->usual;
    if (flat && dot->want) return;
    dot->makes = inside(o, made, sets, &dot->makes);
    for (int k = 0; k < 2 && !flat; k++) {
        int dim = sets[k] & bit(dot->makes.at[0]) ? dot->makes.at[0] : dot->makes.at[1];
        dim = operand_dim(op, k, dot->operands[k], dim - (k == 0 ? batch : left));
        unsigned inner[2] = {op->contracting[k], bit(dim)};
        dot->needs[k] = inside(o, dot->operands[k], inner, dot->have[k]);
    }
}
