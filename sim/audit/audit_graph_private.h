/* The values of a module's entry, of which an audit foretells the copies. */
#ifndef TILESIM_AUDIT_AUDIT_GRAPH_PRIVATE_H
#define TILESIM_AUDIT_AUDIT_GRAPH_PRIVATE_H

#include "audit_orders_private.h"

enum { AUDIT_NODE_OPERANDS = 8 };

typedef struct {
    int64_t line;
    const char *name;
    audit_array array;
    audit_operation op;
    uint64_t callee; /* of a call */
    int operand_count;
    int32_t operands[AUDIT_NODE_OPERANDS]; /* -1: not known */
    bool lives, loops;                     /* a result follows from it; a loop begins with it */
    bool has_want, has_need[AUDIT_NODE_OPERANDS], has_given, has_due;
    audit_order want, have, needs[AUDIT_NODE_OPERANDS];
    audit_order given, due; /* by the header: of an argument, of a result */
} audit_node;

/* An operand's number is less than its reader's. */
typedef struct {
    ts_arena *arena;
    audit_node *list;
    int32_t count;
} audit_graph;

int32_t audit_graph_add(audit_graph *values, const audit_node *value); /* its number */

audit_node *audit_operand(const audit_graph *g, const audit_node *v, int k); /* NULL: not known */
bool audit_joins(const audit_node *v);      /* is it computed of several arrays, element by element? */
bool audit_is_product(const audit_node *v); /* its operands are known */
audit_dot audit_dot_of(const audit_graph *g, const audit_node *v); /* of a product; without `usual` */
/* The values as the TPU compiler rewrites them before it lays them out. numbers: of each, in `out`. Those
 * that are not TS_HLO_OP_UNKNOWN are of operands that fit (audit_operation_fits). */
void audit_graph_rewrite(const audit_graph *values, audit_graph *out, int32_t *numbers);

/* What is wanted of each, and what each then needs of its operands. */
void audit_graph_ask(const audit_orders *o, audit_graph *graph);

#endif
