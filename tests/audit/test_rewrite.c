/* What operations become before arrays are laid out: of a few nodes, the last one as an expression. */
#include "audit/audit_graph_private.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tests/support/group.h"

enum { MOST_NODES = 12 };

/* Dims as text: "8,1,128". */
typedef struct {
    const char *dims;
    ts_dtype dtype; /* 0: f32 */
    audit_operation op;
    int operand_count;
    int32_t operands[3];
} node;

#define OF(x) .operand_count = 1, .operands = {x}
#define ARG(shape)                                                                                           \
    {                                                                                                        \
        .dims = shape, .op = {.opcode = TS_HLO_OP_PARAMETER }                                                \
    }
#define TYPED(shape, type)                                                                                   \
    {                                                                                                        \
        .dims = shape, .dtype = type, .op = {.opcode = TS_HLO_OP_PARAMETER }                                 \
    }
#define PLAIN(name, x, shape)                                                                                \
    { .dims = shape, .op = {.opcode = TS_HLO_OP_##name}, OF(x) }
#define RESHAPE(x, shape) PLAIN(RESHAPE, x, shape)
#define CONVERT(x, shape, type)                                                                              \
    { .dims = shape, .dtype = type, .op = {.opcode = TS_HLO_OP_CONVERT}, OF(x) }
#define TRANSPOSE(x, shape, ...)                                                                             \
    { .dims = shape, .op = {.opcode = TS_HLO_OP_TRANSPOSE, .permutation = {__VA_ARGS__}}, OF(x) }
#define BROADCAST(x, shape, ...)                                                                             \
    { .dims = shape, .op = {.opcode = TS_HLO_OP_BROADCAST, .permutation = {__VA_ARGS__}}, OF(x) }
#define REDUCE(x, shape, set)                                                                                \
    { .dims = shape, .op = {.opcode = TS_HLO_OP_REDUCE, .dims = set}, OF(x) }
#define GATHER(x, list, shape, set)                                                                          \
    {                                                                                                        \
        .dims = shape, .op = {.opcode = TS_HLO_OP_GATHER, .dims = set}, .operand_count = 2, .operands = {    \
            x,                                                                                               \
            list                                                                                             \
        }                                                                                                    \
    }
#define DOT(x, y, shape, batch0, batch1, sum0, sum1)                                                         \
    {                                                                                                        \
        .dims = shape,                                                                                       \
        .op = {.opcode = TS_HLO_OP_DOT, .batch = {batch0, batch1}, .contracting = {sum0, sum1}},             \
        .operand_count = 2, .operands = {                                                                    \
            x,                                                                                               \
            y                                                                                                \
        }                                                                                                    \
    }
#define CONVOLVE(x, y, shape, ...)                                                                           \
    {                                                                                                        \
        .dims = shape, .op = {.opcode = TS_HLO_OP_CONVOLUTION, .labels = {__VA_ARGS__}}, .operand_count = 2, \
        .operands = {                                                                                        \
            x,                                                                                               \
            y                                                                                                \
        }                                                                                                    \
    }

static const struct {
    node nodes[MOST_NODES];
    const char *made;
} rows[] = {
    /* Reshapes are joined, and those to what is there are none; without as many elements nothing is known. */
    {{ARG("8,128"), RESHAPE(0, "8,128")}, "a"},
    {{ARG("8,128"), RESHAPE(0, "1024"), RESHAPE(1, "2,512")}, "reshape(a):f32[2,512]"},
    {{ARG("8,128"), RESHAPE(0, "1024"), RESHAPE(1, "8,128")}, "a"},
    {{ARG("8,128"), RESHAPE(0, "1025")}, "(unknown)(a):f32[1025]"},
    /* Transposes are joined; those that move only dims of 1 are reshapes. */
    {{ARG("2,3,4"), TRANSPOSE(0, "4,2,3", 2, 0, 1)}, "transpose(a) 2 0 1:f32[4,2,3]"},
    {{ARG("2,3,4"), TRANSPOSE(0, "4,2,3", 2, 0, 1), TRANSPOSE(1, "3,4,2", 2, 0, 1)},
     "transpose(a) 1 2 0:f32[3,4,2]"},
    {{ARG("2,3,4"), TRANSPOSE(0, "4,2,3", 2, 0, 1), TRANSPOSE(1, "2,3,4", 1, 2, 0)}, "a"},
    {{ARG("2,1,4"), TRANSPOSE(0, "1,2,4", 1, 0, 2)}, "reshape(a):f32[1,2,4]"},
    {{ARG("2,1,4"), TRANSPOSE(0, "1,4,2", 1, 2, 0)}, "transpose(a) 1 2 0:f32[1,4,2]"},
    /* A convolution gives and takes dims as they are wanted. */
    {{ARG("8,28,56,8"), ARG("5,5,8,64"), CONVOLVE(0, 1, "8,28,56,64", "b01f", "01io", "b01f"),
      TRANSPOSE(2, "64,8,28,56", 3, 0, 1, 2)},
     "convolution(a, b) b01f 01io fb01:f32[64,8,28,56]"},
    {{ARG("8,28,56,8"), ARG("5,5,8,64"), TRANSPOSE(0, "8,8,28,56", 3, 0, 1, 2),
      TRANSPOSE(1, "64,5,5,8", 3, 0, 1, 2), CONVOLVE(2, 3, "8,28,56,64", "fb01", "o01i", "b01f")},
     "convolution(a, b) b01f 01io b01f:f32[8,28,56,64]"},
    {{ARG("8,28,56,8"), ARG("5,5,8,64"), RESHAPE(0, "8,28,56,8"),
      CONVOLVE(2, 1, "8,28,56,64", "b01f", "01io", "b01f")},
     "convolution(a, b) b01f 01io b01f:f32[8,28,56,64]"},
    /* Broadcasts are of what has no dims of 1. */
    {{ARG("8"), BROADCAST(0, "4,8", 1)}, "broadcast(a) 1:f32[4,8]"},
    {{ARG("1,8"), BROADCAST(0, "4,8", 0, 1)}, "broadcast(reshape(a):f32[8]) 1:f32[4,8]"},
    {{ARG("8,1,4"), BROADCAST(0, "8,16,4", 0, 1, 2)}, "broadcast(reshape(a):f32[8,4]) 0 2:f32[8,16,4]"},
    {{ARG("8,4"), BROADCAST(0, "1,8,1,4", 1, 3)}, "reshape(a):f32[1,8,1,4]"},
    {{ARG("8,4"), BROADCAST(0, "4,8", 1, 0)}, "transpose(a) 1 0:f32[4,8]"},
    {{ARG("2,1,3,4"), BROADCAST(0, "4,1,2,3", 2, 1, 3, 0)},
     "reshape(transpose(reshape(a):f32[2,3,4]) 2 0 1:f32[4,2,3]):f32[4,1,2,3]"},
    {{ARG(""), BROADCAST(0, "4,8", 0)}, "broadcast(a):f32[4,8]"},
    {{TYPED("1,8", TS_DTYPE_BF16), BROADCAST(0, "4,8", 0, 1)}, "broadcast(reshape(a):bf16[8]) 1:bf16[4,8]"},
    /* A change of type comes first, of what only moves elements; to narrower ones before slices, too. */
    {{ARG("8,4"), CONVERT(0, "8,4", TS_DTYPE_F32)}, "a"},
    {{ARG("8,4"), CONVERT(0, "8,4", TS_DTYPE_BF16)}, "convert(a):bf16[8,4]"},
    {{ARG("8,4"), RESHAPE(0, "32"), CONVERT(1, "32", TS_DTYPE_BF16)},
     "reshape(convert(a):bf16[8,4]):bf16[32]"},
    {{ARG("8,4"), TRANSPOSE(0, "4,8", 1, 0), CONVERT(1, "4,8", TS_DTYPE_F64)},
     "transpose(convert(a):f64[8,4]) 1 0:f64[4,8]"},
    {{ARG("8"), BROADCAST(0, "4,8", 1), CONVERT(1, "4,8", TS_DTYPE_BF16)},
     "broadcast(convert(a):bf16[8]) 1:bf16[4,8]"},
    {{ARG("8,4"), PLAIN(SLICE, 0, "2,4"), CONVERT(1, "2,4", TS_DTYPE_BF16)},
     "slice(convert(a):bf16[8,4]):bf16[2,4]"},
    {{ARG("8,4"), PLAIN(SLICE, 0, "2,4"), CONVERT(1, "2,4", TS_DTYPE_S32)},
     "convert(slice(a):f32[2,4]):s32[2,4]"},
    {{ARG("8,4"), PLAIN(NEGATE, 0, "8,4"), CONVERT(1, "8,4", TS_DTYPE_BF16)},
     "convert(negate(a):f32[8,4]):bf16[8,4]"},
    {{ARG("8,4"),
      ARG("2,4"),
      {.dims = "10,4", .op = {.opcode = TS_HLO_OP_CONCATENATE}, .operand_count = 2, .operands = {0, 1}},
      CONVERT(2, "10,4", TS_DTYPE_BF16)},
     "concatenate(convert(a):bf16[8,4], convert(b):bf16[2,4]):bf16[10,4]"},
    {{ARG("8,4"),
      ARG("2,4"),
      {.dims = "10,4", .op = {.opcode = TS_HLO_OP_CONCATENATE}, .operand_count = 3, .operands = {0, -1, 1}},
      CONVERT(2, "10,4", TS_DTYPE_BF16)},
     "concatenate(convert(a):bf16[8,4], ?, convert(b):bf16[2,4]):bf16[10,4]"},
    {{ARG("8,4"),
      ARG("2,4"),
      {.dims = "10,4", .op = {.opcode = TS_HLO_OP_CONCATENATE}, .operand_count = 2, .operands = {0, 1}},
      CONVERT(2, "10,4", TS_DTYPE_F64)},
     "convert(concatenate(a, b):f32[10,4]):f64[10,4]"},
    /* No further than through eight. */
    {{ARG("9"), PLAIN(SLICE, 0, "8"), PLAIN(SLICE, 1, "7"), PLAIN(SLICE, 2, "6"), PLAIN(SLICE, 3, "5"),
      PLAIN(SLICE, 4, "4"), PLAIN(SLICE, 5, "3"), PLAIN(SLICE, 6, "2"), PLAIN(SLICE, 7, "1"),
      PLAIN(SLICE, 8, ""), CONVERT(9, "", TS_DTYPE_BF16)},
     "slice(slice(slice(slice(slice(slice(slice(slice(convert(slice(a):f32[8]):bf16[8]):bf16[7]):bf16[6]):"
     "bf16[5])"
     ":bf16[4]):bf16[3]):bf16[2]):bf16[1]):bf16[]"},
    /* A sum in a wider type, and back, is none. */
    {{TYPED("8,4", TS_DTYPE_BF16), CONVERT(0, "8,4", TS_DTYPE_F32), REDUCE(1, "4", 1),
      CONVERT(2, "4", TS_DTYPE_BF16)},
     "reduce(a) dim0:bf16[4]"},
    {{TYPED("8,4", TS_DTYPE_S8), CONVERT(0, "8,4", TS_DTYPE_F32), REDUCE(1, "4", 1),
      CONVERT(2, "4", TS_DTYPE_BF16)},
     "convert(reduce(convert(a):f32[8,4]) dim0:f32[4]):bf16[4]"},
    {{ARG("8,4"), REDUCE(0, "4", 1), CONVERT(1, "4", TS_DTYPE_BF16)},
     "convert(reduce(a) dim0:f32[4]):bf16[4]"},
    /* Sums over dims of what is reshaped or transposed, where the others stay in order. */
    {{ARG("8,4,2"), REDUCE(0, "4", 5)}, "reduce(a) dim0 dim2:f32[4]"},
    {{ARG("8,1,4"), REDUCE(0, "8,1", 4)}, "reshape(reduce(a) dim1 dim2:f32[8]):f32[8,1]"},
    {{ARG("8,4"), RESHAPE(0, "8,1,4"), REDUCE(1, "8,1", 4)}, "reshape(reduce(a) dim1:f32[8]):f32[8,1]"},
    {{ARG("8,4"), RESHAPE(0, "1,8,1,4"), REDUCE(1, "1,1,4", 2)}, "reshape(reduce(a) dim0:f32[4]):f32[1,1,4]"},
    {{ARG("8,4"), RESHAPE(0, "32"), REDUCE(1, "", 1)}, "reduce(a) dim0 dim1:f32[]"},
    {{ARG("8,4"), RESHAPE(0, "2,4,4"), REDUCE(1, "4,4", 1)}, "reduce(reshape(a):f32[2,4,4]) dim0:f32[4,4]"},
    {{ARG("8,4"), TRANSPOSE(0, "4,8", 1, 0), REDUCE(1, "4", 2)}, "reduce(a) dim0:f32[4]"},
    {{ARG("2,3,4"), TRANSPOSE(0, "4,2,3", 2, 0, 1), REDUCE(1, "2,3", 1)}, "reduce(a) dim2:f32[2,3]"},
    {{ARG("2,3,4"), TRANSPOSE(0, "4,2,3", 2, 0, 1), REDUCE(1, "4,2", 4)},
     "reduce(transpose(a) 2 0 1:f32[4,2,3]) dim2:f32[4,2]"},
    {{ARG("2,3,4,5"), TRANSPOSE(0, "5,2,4,3", 3, 0, 2, 1), REDUCE(1, "2,4,3", 1)},
     "reduce(transpose(a) 3 0 2 1:f32[5,2,4,3]) dim0:f32[2,4,3]"},
    {{ARG("2,3,4,5"), TRANSPOSE(0, "5,2,3,4", 3, 0, 1, 2), REDUCE(1, "2,4", 5)},
     "reduce(a) dim1 dim3:f32[2,4]"},
    {{ARG("2,3,4"), RESHAPE(0, "2,1,3,4"), REDUCE(1, "2,1,4", 4)},
     "reshape(reduce(a) dim1:f32[2,4]):f32[2,1,4]"},
    {{ARG("2,1,4"), RESHAPE(0, "2,4"), REDUCE(1, "", 3)}, "reduce(a) dim0 dim1 dim2:f32[]"},
    /* What is picked comes first, and is put where the axis is; an axis of one is repeated. */
    {{ARG("40,50,60"), ARG("3"), GATHER(0, 1, "40,3,60", 2)},
     "transpose(gather(a, b) dim1:f32[3,40,60]) 1 0 2:f32[40,3,60]"},
    {{ARG("40,50,60"), ARG("3"), GATHER(0, 1, "3,50,60", 1)}, "gather(a, b) dim0:f32[3,50,60]"},
    {{ARG("40,50,60"), ARG("3"), GATHER(0, 1, "40,50,3", 4)},
     "transpose(gather(a, b) dim2:f32[3,40,50]) 1 2 0:f32[40,50,3]"},
    {{ARG("1,50,60"), ARG("3"), GATHER(0, 1, "1,3,60", 2)},
     "reshape(gather(reshape(a):f32[50,60], b) dim0:f32[3,60]):f32[1,3,60]"},
    {{ARG("40,1,60"), ARG("3"), GATHER(0, 1, "40,3,60", 2)},
     "broadcast(reshape(a):f32[40,60]) 0 2:f32[40,3,60]"},
    {{ARG("40,50,60"), ARG("3"), GATHER(0, 1, "40,3,61", 2)}, "(unknown)(a, b) dim1:f32[40,3,61]"},
    {{ARG("40,50,60"), ARG("3"), GATHER(0, 1, "3,3,60", 3)}, "(unknown)(a, b) dim0 dim1:f32[3,3,60]"},
    {{ARG("40,50,60"), ARG("3"), GATHER(0, 1, "3,60", 2)}, "(unknown)(a, b) dim1:f32[3,60]"},
    {{ARG("40,50,60"), ARG("3"), GATHER(0, 1, "40,50,60", 8)}, "(unknown)(a, b) dim3:f32[40,50,60]"},
    /* Products: without dims of 1, without a sum, without a side. */
    {{ARG("8,4"), ARG("4,16"), DOT(0, 1, "8,16", 0, 0, 2, 1)}, "dot(a, b) sum1 sum'0:f32[8,16]"},
    {{ARG("2,8,4"), ARG("2,4,16"), DOT(0, 1, "2,8,16", 1, 1, 4, 2)},
     "dot(a, b) batch0 batch'0 sum2 sum'1:f32[2,8,16]"},
    {{ARG("2,1,8,4"), ARG("2,4,1,16"), DOT(0, 1, "2,1,8,1,16", 1, 1, 8, 2)},
     "reshape(dot(reshape(a):f32[2,8,4], reshape(b):f32[2,4,16]) batch0 batch'0 sum2 "
     "sum'1:f32[2,8,16]):f32[2,1,8,1,16]"},
    {{ARG("8"), ARG("16"), DOT(0, 1, "8,16", 0, 0, 0, 0)},
     "multiply(broadcast(a) 0:f32[8,16], broadcast(b) 1:f32[8,16]):f32[8,16]"},
    {{ARG("2,8"), ARG("2,16"), DOT(0, 1, "2,8,16", 1, 1, 0, 0)},
     "multiply(broadcast(a) 0 1:f32[2,8,16], broadcast(b) 0 2:f32[2,8,16]):f32[2,8,16]"},
    {{ARG("8,4"), ARG("4"), DOT(0, 1, "8", 0, 0, 2, 1)},
     "reduce(multiply(a, broadcast(b) 1:f32[8,4]):f32[8,4]) dim1:f32[8]"},
    {{ARG("4"), ARG("8,4"), DOT(0, 1, "8", 0, 0, 1, 2)},
     "reduce(multiply(b, broadcast(a) 1:f32[8,4]):f32[8,4]) dim1:f32[8]"},
    {{ARG("2,3,4"), ARG("2,8,3,4"), DOT(0, 1, "2,3,8", 3, 5, 4, 8)},
     "reshape(reduce(multiply(b, broadcast(a) 0 2 3:f32[2,8,3,4]):f32[2,8,3,4]) dim3:f32[2,8,3]):f32[2,3,8]"},
    {{ARG("4,6"), ARG("8,4,6"), DOT(0, 1, "8", 0, 0, 3, 6)},
     "reduce(multiply(b, broadcast(a) 1 2:f32[8,4,6]):f32[8,4,6]) dim1 dim2:f32[8]"},
    {{ARG("2,3,4"), ARG("2,3,8,4"), DOT(0, 1, "2,8", 1, 1, 6, 10)},
     "reduce(multiply(b, broadcast(a) 0 1 3:f32[2,3,8,4]):f32[2,3,8,4]) dim1 dim3:f32[2,8]"},
    {{ARG("2,3"), ARG("3,2,5"), DOT(0, 1, "3,2,5", 2, 1, 0, 0)}, "(unknown)(a, b) batch1 batch'0:f32[3,2,5]"},
    {{ARG("8,4"), ARG("4,1"), DOT(0, 1, "8,1", 0, 0, 2, 1)},
     "reshape(reduce(multiply(a, broadcast(reshape(b):f32[4]) 1:f32[8,4]):f32[8,4]) dim1:f32[8]):f32[8,1]"},
    {{ARG("8,1"), ARG("1,16"), DOT(0, 1, "8,16", 0, 0, 2, 1)},
     "multiply(broadcast(reshape(a):f32[8]) 0:f32[8,16], broadcast(reshape(b):f32[16]) "
     "1:f32[8,16]):f32[8,16]"},
    {{TYPED("8,4", TS_DTYPE_BF16), TYPED("4,16", TS_DTYPE_BF16), DOT(0, 1, "8,16", 0, 0, 2, 1)},
     "dot(a, b) sum1 sum'0:f32[8,16]"},
    {{ARG("8,4"), ARG("4,16"), DOT(0, 1, "8,17", 0, 0, 2, 1)}, "(unknown)(a, b) sum1 sum'0:f32[8,17]"},
    {{ARG("8,4"), ARG("4,16"), DOT(0, 1, "8,16", 0, 0, 2, 0)}, "(unknown)(a, b) sum1:f32[8,16]"},
    /* What keeps its elements is what it keeps; others are as they are. */
    {{ARG("8,4"), PLAIN(SLICE, 0, "8,4")}, "a"},
    {{ARG("8,4"), PLAIN(PAD, 0, "8,4")}, "a"},
    {{ARG("8,4"), PLAIN(PAD, 0, "8,5")}, "pad(a):f32[8,5]"},
    {{ARG("8,4"), PLAIN(REVERSE, 0, "8,4")}, "reverse(a):f32[8,4]"},
    {{{.dims = "8,4", .op = {.opcode = TS_HLO_OP_UNKNOWN}, .operand_count = 1, .operands = {-1}}},
     "(unknown)(?):f32[8,4]"},
    {{{.dims = "8,4", .op = {.opcode = TS_HLO_OP_UNKNOWN}}, RESHAPE(0, "32"), RESHAPE(1, "4,8")},
     "reshape((unknown):f32[8,4]):f32[4,8]"},
    {{{.dims = "8,4", .op = {.opcode = TS_HLO_OP_IOTA}}}, "iota:f32[8,4]"},
};

/* ---- As text ---- */

static audit_array array_of(const node *n) {
    audit_array out = {.dtype = n->dtype ? n->dtype : TS_DTYPE_F32};
    const char *at = n->dims;
    while (*at) {
        char *end;
        out.dims[out.rank++] = strtoll(at, &end, 10);
        at = *end ? end + 1 : end;
    }
    return out;
}

static void add_set(ts_text *out, const char *what, unsigned set) {
    for (int dim = 0; set >> dim; dim++)
        if (set >> dim & 1) ts_text_add(out, " %s%d", what, dim);
}

static void add_fields(ts_text *out, const audit_graph *g, const audit_node *n) {
    const audit_operation *op = &n->op;
    int placed = op->opcode == TS_HLO_OP_TRANSPOSE   ? n->array.rank
                 : op->opcode == TS_HLO_OP_BROADCAST ? g->list[n->operands[0]].array.rank
                                                     : 0;
    for (int i = 0; i < placed; i++) ts_text_add(out, " %d", op->permutation[i]);
    add_set(out, "dim", op->dims);
    for (int k = 0; k < 2; k++) add_set(out, k ? "batch'" : "batch", op->batch[k]);
    for (int k = 0; k < 2; k++) add_set(out, k ? "sum'" : "sum", op->contracting[k]);
    for (int k = 0; k < 3 && op->labels[k][0]; k++) ts_text_add(out, " %.8s", op->labels[k]);
}

static void add_node(ts_text *out, const audit_graph *g, int32_t number) {
    const audit_node *n = &g->list[number];
    if (n->op.opcode == TS_HLO_OP_PARAMETER)
        ts_text_add(out, "%s", n->name);
    else
        ts_text_add(out, "%s", ts_hlo_opcode_name(n->op.opcode));
    for (int k = 0; k < n->operand_count; k++) {
        ts_text_add(out, k ? ", " : "(");
        if (n->operands[k] >= 0)
            add_node(out, g, n->operands[k]);
        else
            ts_text_add(out, "?");
    }
    if (n->operand_count > 0) ts_text_add(out, ")");
    if (n->op.opcode == TS_HLO_OP_PARAMETER) return;
    add_fields(out, g, n);
    ts_text_add(out, ":%s", ts_dtype_get(n->array.dtype)->name);
    for (int i = 0; i < n->array.rank; i++) ts_text_add(out, "%s%" PRId64, i ? "," : "[", n->array.dims[i]);
    ts_text_add(out, n->array.rank ? "]" : "[]");
}

TEST(operations_become) {
    static const char *const names[MOST_NODES] = {"a", "b", "c"};
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        audit_graph given = {.arena = arena}, made = given;
        int32_t numbers[MOST_NODES];
        int count = 0;
        for (; count < MOST_NODES && rows[row].nodes[count].dims; count++) {
            const node *n = &rows[row].nodes[count];
            audit_node value = {
                .name = names[count], .array = array_of(n), .op = n->op, .operand_count = n->operand_count};
            for (int k = 0; k < n->operand_count; k++) value.operands[k] = n->operands[k];
            assert_int_equal(audit_graph_add(&given, &value), count);
        }
        audit_graph_rewrite(&given, &made, numbers);
        ts_text text = ts_text_begin(arena);
        add_node(&text, &made, numbers[count - 1]);
        assert_string_equal(text.bytes, rows[row].made);
    }
}

int main(void) { return run_all_tests(begin_group, end_group); }
