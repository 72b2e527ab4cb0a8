/* How the orders of dims of an operation's operand and result go together, as the TPU compiler has them. */
#ifndef TILESIM_AUDIT_AUDIT_ORDERS_PRIVATE_H
#define TILESIM_AUDIT_AUDIT_ORDERS_PRIVATE_H

#include "audit_private.h"

enum { AUDIT_ORDER_DIMS = 8 }; /* arrays of more are not followed */

typedef struct {
    int8_t at[AUDIT_ORDER_DIMS]; /* minor to major */
} audit_order;

typedef struct {
    ts_dtype dtype;
    int rank;
    int64_t dims[AUDIT_ORDER_DIMS];
} audit_array;

/* Sets of dims are bits. */
static inline unsigned bit(int dim) { return 1u << dim; }

typedef struct {
    ts_hlo_opcode opcode;
    int8_t permutation[AUDIT_ORDER_DIMS]; /* of a transpose; of a broadcast, where its operand's dims are */
    bool of_argument, is_result;          /* its first operand is one; entry returns it */
    unsigned dims;                        /* that a reduce sums over, a gather picks from */
    unsigned batch[2], contracting[2];    /* of a dot's operands */
    char labels[3][AUDIT_ORDER_DIMS];     /* of a convolution's operands and result: "b01f", "01io", "b01f" */
} audit_operation;

typedef struct {
    ts_arena *scratch;
    const ts_audit_request *request;
} audit_orders;

/* Do they lie alike? The order of dims of 1 matters only where a tile covers them. */
bool audit_order_same(const audit_array *array, const audit_order *a, const audit_order *b);
/* With its layout: the order, and the tiles that go with it. */
const ts_shape *audit_order_shape(const audit_orders *o, const audit_array *array, const audit_order *order);
int64_t audit_order_bytes(const audit_orders *o, const audit_array *array, const audit_order *order);
bool audit_order_default(const audit_orders *o, const audit_array *array, audit_order *order);

int64_t audit_array_elements(const audit_array *array);
/* Is it of such arrays? A text may say anything; NULL: there is none. */
bool audit_operation_fits(const audit_operation *op, const audit_array *first, const audit_array *second,
                          const audit_array *made);

/* The order that an operand must have where the result is to have `result`. False: the operation does not ask
 * for one: what it makes follows from what it reads. */
bool audit_order_back(const audit_orders *o, const audit_operation *op, const audit_array *operand,
                      const audit_array *made, const audit_order *result, audit_order *out);

/* A step from an operand to the result of an operation that needs no certain order. */
typedef struct {
    const audit_array *operand, *made;
    const audit_order *have, *want; /* the operand's; what readers of the result ask for */
    audit_order needs, makes;       /* what the operand is copied to, if it is another; the result's */
} audit_step;
void audit_order_forward(const audit_orders *o, const audit_operation *op, audit_step *step);

typedef struct {
    const audit_array *operands[2], *made;
    const audit_order *have[2], *want; /* as of a step */
    audit_order usual;                 /* the result's, if nobody asks */
    audit_order needs[2], makes;
} audit_dot;
bool audit_dot_is_flat(const audit_dot *dot); /* of two dims each */
void audit_order_dot(const audit_orders *o, const audit_operation *op, audit_dot *dot);

/* The order in which a gather reads an array that no argument is. */
audit_order audit_order_of_gathered(const audit_orders *o, const audit_operation *op,
                                    const audit_array *operand);
/* A reshape without another order of dims moves whole rows of tiles: what then is copied, if anything. */
bool audit_order_retiles(const audit_orders *o, const audit_step *step, audit_array *view,
                         audit_order orders[2]);

bool audit_ends_here(ts_hlo_opcode opcode); /* it is made of nothing: an argument, a constant */
/* Is each element of the result made of the same elements of the operands? */
bool audit_is_elementwise(ts_hlo_opcode opcode);

#endif
