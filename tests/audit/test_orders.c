/* How orders of dims go through operations, back from a result and forward from an operand. */
#include "audit/audit_orders_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/audited.h"
#include "tests/support/group.h"

/* "f32 8,128", and "1,0" minor to major. */
static audit_array array_of(const char *text) {
    audit_array out = {.dtype = TS_DTYPE_F32};
    char name[8];
    int length = 0;
    sscanf(text, "%7s%n", name, &length);
    assert_true(ts_dtype_find(name, strlen(name), &out.dtype));
    for (const char *at = text + length; *at;) {
        char *end;
        out.dims[out.rank++] = strtoll(at, &end, 10);
        at = *end ? end + 1 : end;
    }
    return out;
}

static audit_order order_of(const char *text) {
    audit_order out = {{0}};
    int count = 0;
    for (; *text; text++)
        if (*text != ',') out.at[count++] = (int8_t)(*text - '0');
    return out;
}

static void print_order(char out[24], const audit_order *order, int rank) {
    out[0] = '\0';
    for (int i = 0; i < rank; i++) sprintf(out + strlen(out), "%s%d", i > 0 ? "," : "", order->at[i]);
}

static audit_orders orders(void) { return (audit_orders){arena, &v6e_audit}; }

#define OP(name)                                                                                             \
    { .opcode = TS_HLO_OP_##name }
#define OF_ARGUMENT(name)                                                                                    \
    { .opcode = TS_HLO_OP_##name, .of_argument = true }
#define PLACES(name, ...)                                                                                    \
    {                                                                                                        \
        .opcode = TS_HLO_OP_##name, .permutation = { __VA_ARGS__ }                                           \
    }
#define DIMS(name, set)                                                                                      \
    { .opcode = TS_HLO_OP_##name, .dims = set }

/* ---- What fits ---- */

#define DOT(batch0, batch1, sum0, sum1)                                                                      \
    {                                                                                                        \
        .opcode = TS_HLO_OP_DOT, .batch = {batch0, batch1}, .contracting = { sum0, sum1 }                    \
    }
#define LABELS(x, y, z)                                                                                      \
    {                                                                                                        \
        .opcode = TS_HLO_OP_CONVOLUTION, .labels = { x, y, z }                                               \
    }

static const struct {
    audit_operation op;
    const char *first, *second, *made; /* NULL: there is none */
    bool fits;
} fitting[] = {
    {OP(RESHAPE), "f32 8,4", NULL, "f32 32", true},
    {OP(RESHAPE), "f32 8,4", NULL, "f32 33", false},
    {OP(RESHAPE), NULL, NULL, "f32", false},
    {PLACES(TRANSPOSE, 1, 0), "f32 8,4", NULL, "f32 4,8", true},
    {PLACES(TRANSPOSE, 1, 1), "f32 8,4", NULL, "f32 4,8", false},
    {PLACES(TRANSPOSE, 0, 2), "f32 8,4", NULL, "f32 4,8", false},
    {PLACES(TRANSPOSE, 1, 0), "f32 8,4,2", NULL, "f32 4,8", false},
    {PLACES(TRANSPOSE, 1, 0), NULL, NULL, "f32 4,8", false},
    {OP(CONVERT), "f32 8,4", NULL, "bf16 8,4", true},
    {OP(CONVERT), "f32 32", NULL, "bf16 8,4", false},
    {OP(CONVERT), NULL, NULL, "bf16 8,4", false},
    {PLACES(BROADCAST, 1), "f32 8", NULL, "f32 4,8", true},
    {PLACES(BROADCAST, 0), "f32 8", NULL, "f32 4,8", false},
    {PLACES(BROADCAST, 2), "f32 8", NULL, "f32 4,8", false},
    {PLACES(BROADCAST, 0, 1), "f32 1,8", NULL, "f32 4,8", true},
    {PLACES(BROADCAST, 1, 1), "f32 8,8", NULL, "f32 4,8", false},
    {PLACES(BROADCAST, 0), NULL, NULL, "f32 4,8", false},
    {DIMS(REDUCE, 2), "f32 8,4", NULL, "f32 8", true},
    {DIMS(REDUCE, 2), "f32 8,4", NULL, "f32 8,4", false},
    {DIMS(REDUCE, 4), "f32 8,4", NULL, "f32 8", false},
    {DIMS(REDUCE, 0), NULL, NULL, "f32", false},
    {DOT(0, 0, 2, 1), "f32 8,4", "f32 4,16", "f32 8,16", true},
    {DOT(0, 0, 4, 1), "f32 8,4", "f32 4,16", "f32 8,16", false},
    {DOT(0, 0, 2, 4), "f32 8,4", "f32 4,16", "f32 8,16", false},
    {DOT(4, 1, 2, 2), "f32 8,4", "f32 4,16", "f32 8,16", false},
    {DOT(1, 0, 2, 1), "f32 8,4", "f32 4,16", "f32 8,16", false},
    {DOT(0, 0, 3, 1), "f32 8,4", "f32 4,16", "f32 16", false},
    {DOT(0, 0, 2, 1), "f32 8,4", NULL, "f32 8,16", false},
    {LABELS("b01f", "01io", "b01f"), "f32 8,28,56,8", "f32 5,5,8,64", "f32 8,28,56,64", true},
    {LABELS("b01f", "01i", "b01f"), "f32 8,28,56,8", "f32 5,5,8,64", "f32 8,28,56,64", false},
    {LABELS("b01f", "01io", "b01f"), "f32 8,28,56,8", NULL, "f32 8,28,56,64", false},
    {LABELS("b01f", "01io", "b0f"), "f32 8,28,56,8", "f32 5,5,8,64", "f32 8,28,56,64", false},
    {LABELS("i01o", "f10b", "o10f"), "f32 8,28,56,8", "f32 5,5,8,64", "f32 8,28,56,64", true},
    {LABELS("b0?f", "01io", "b01f"), "f32 8,28,56,8", "f32 5,5,8,64", "f32 8,28,56,64", false},
    {LABELS("b00f", "01io", "b01f"), "f32 8,28,56,8", "f32 5,5,8,64", "f32 8,28,56,64", false},
    {LABELS("b01f", "01oo", "b01f"), "f32 8,28,56,8", "f32 5,5,8,64", "f32 8,28,56,64", false},
    {LABELS("b01f", "01ii", "b01f"), "f32 8,28,56,8", "f32 5,5,8,64", "f32 8,28,56,64", false},
    {LABELS("b01f", "01io", "201f"), "f32 8,28,56,8", "f32 5,5,8,64", "f32 8,28,56,64", false},
    {OP(NEGATE), NULL, NULL, "f32 4,8", true},
    {OP(IOTA), NULL, NULL, "f32 4,8", true},
};

TEST(operations_fit_their_operands) {
    for (size_t i = 0; i < sizeof fitting / sizeof fitting[0]; i++) {
        const char *texts[] = {fitting[i].first, fitting[i].second, fitting[i].made};
        audit_array arrays[3];
        for (int k = 0; k < 3; k++)
            if (texts[k]) arrays[k] = array_of(texts[k]);
        if (audit_operation_fits(&fitting[i].op, texts[0] ? &arrays[0] : NULL, texts[1] ? &arrays[1] : NULL,
                                 &arrays[2]) != fitting[i].fits)
            fail_msg("row %zu, %s", i, texts[2]);
    }
}

/* ---- Alike ---- */

static const struct {
    const char *array, *a, *b;
    bool same;
} alike[] = {
    {"f32 8,4,2", "2,1,0", "2,1,0", true},
    {"f32 8,4,2", "2,1,0", "1,2,0", false},
    {"f32 8,1,4,2", "3,2,1,0", "3,2,0,1", true},
    {"f32 8,1,4,2", "3,2,1,0", "3,1,2,0", false},
    {"f32 8,1,4,2", "1,3,2,0", "1,3,2,0", true},
    {"f32 8,1", "1,0", "0,1", false},
    {"f32 8,4,2,1,3", "4,2,1,0,3", "4,2,0,1,3", false},
};

TEST(orders_are_alike) {
    for (size_t i = 0; i < sizeof alike / sizeof alike[0]; i++) {
        audit_array array = array_of(alike[i].array);
        audit_order a = order_of(alike[i].a), b = order_of(alike[i].b);
        if (audit_order_same(&array, &a, &b) != alike[i].same) fail_msg("%s and %s", alike[i].a, alike[i].b);
    }
}

/* ---- Back ---- */

static const struct {
    audit_operation op;
    const char *operand, *made, *result, *order; /* NULL: none is asked for */
} backs[] = {
    {OP(NEGATE), "f32 8,128", "f32 8,128", "0,1", "0,1"},
    {OP(PAD), "f32 8,128", "f32 9,128", "0,1", "0,1"},
    {OP(CONCATENATE), "f32 8,128", "f32 16,128", "0,1", "0,1"},
    {OP(REVERSE), "f32 8,128", "f32 8,128", "0,1", "0,1"},
    {OP(SELECT), "pred", "f32 8,128", "0,1", NULL},
    {OP(SLICE), "f32 8,128", "f32 4,128", "0,1", NULL},
    {OP(CONVERT), "f32 8,128", "bf16 8,128", "0,1", "0,1"},
    {OF_ARGUMENT(CONVERT), "f32 8,128", "bf16 8,128", "0,1", "0,1"},
    {{.opcode = TS_HLO_OP_CONVERT, .is_result = true}, "f32 8,128", "bf16 8,128", "0,1", "0,1"},
    {{.opcode = TS_HLO_OP_CONVERT, .is_result = true, .of_argument = true},
     "f32 8,128",
     "bf16 8,128",
     "0,1",
     NULL},
    {{.opcode = TS_HLO_OP_CONVERT, .is_result = true, .of_argument = true},
     "s4 8,128",
     "bf16 8,128",
     "0,1",
     "0,1"},
    {{.opcode = TS_HLO_OP_CONVERT, .is_result = true, .of_argument = true},
     "s8 8,128",
     "bf16 8,128",
     "0,1",
     NULL},
    {PLACES(BROADCAST, 1, 3), "f32 4,8", "f32 2,4,16,8", "1,0,3,2", "0,1"},
    {PLACES(BROADCAST, 1, 3), "f32 4,8", "f32 2,4,16,8", "3,0,1,2", "1,0"},
    {PLACES(TRANSPOSE, 2, 0, 1), "f32 2,3,4", "f32 4,2,3", "2,1,0", "1,0,2"},
    {PLACES(TRANSPOSE, 2, 0, 1), "f32 2,3,4", "f32 4,2,3", "0,1,2", "2,0,1"},
    {OP(RESHAPE), "f32 16,128", "f32 2,8,128", "2,1,0", "1,0"},
    {OP(RESHAPE), "f32 16,128", "f32 2,8,128", "1,2,0", NULL},
    {OP(RESHAPE), "f32 16,128", "f32 16,1,128", "2,0,1", "1,0"},
    {OP(RESHAPE), "f32 16,128", "f32 16,1,128", "0,2,1", "0,1"},
    {OP(RESHAPE), "f32 16,128", "f32 2048", "0", "1,0"},
    {OP(RESHAPE), "f32 2,8,128", "f32 16,128", "1,0", "2,1,0"},
    {OP(RESHAPE), "f32 2,8,128", "f32 16,128", "0,1", NULL},
    {OP(RESHAPE), "f32 3,5,7", "f32 15,7", "1,0", NULL},
    {OP(REDUCE), "f32 8,128", "f32 8", "0", NULL},
};

TEST(orders_go_back) {
    const audit_orders o = orders();
    for (size_t i = 0; i < sizeof backs / sizeof backs[0]; i++) {
        audit_array operand = array_of(backs[i].operand), made = array_of(backs[i].made);
        audit_order result = order_of(backs[i].result), out;
        char text[24];
        bool asks = audit_order_back(&o, &backs[i].op, &operand, &made, &result, &out);
        print_order(text, &out, operand.rank);
        if (strcmp(asks ? text : "none", backs[i].order ? backs[i].order : "none") != 0)
            fail_msg("%s to %s as %s: %s", backs[i].operand, backs[i].made, backs[i].result,
                     asks ? text : "none");
    }
}

/* ---- Forward ---- */

static const struct {
    audit_operation op;
    const char *operand, *have, *made, *want; /* want NULL: nobody asks */
    const char *needs, *makes;
} forwards[] = {
    {OP(NEGATE), "f32 8,128", "0,1", "f32 8,128", NULL, "0,1", "0,1"},
    {OP(SLICE), "f32 8,128", "0,1", "f32 4,128", "1,0", "0,1", "0,1"},
    {OP(DYNAMIC_SLICE), "f32 8,128", "0,1", "f32 4,128", NULL, "0,1", "0,1"},
    {OP(CONVERT), "f32 8,128", "0,1", "bf16 8,128", NULL, "0,1", "0,1"},
    {OP(CUSTOM_CALL), "f32 8,128", "0,1", "f32 8,128", NULL, "0,1", "1,0"},
    {OP(CUSTOM_CALL), "f32 8,128", "0,1", "f32 8,128", "0,1", "0,1", "0,1"},
    {PLACES(TRANSPOSE, 2, 0, 1), "f32 2,3,4", "2,1,0", "f32 4,2,3", NULL, "2,1,0", "0,2,1"},
    {PLACES(TRANSPOSE, 2, 0, 1), "f32 2,3,4", "1,2,0", "f32 4,2,3", NULL, "1,2,0", "2,0,1"},
    {DIMS(REDUCE, 2), "f32 2,3,4", "1,0,2", "f32 2,4", NULL, "1,0,2", "0,1"},
    {DIMS(REDUCE, 1), "f32 2,3,4", "1,0,2", "f32 3,4", NULL, "1,0,2", "0,1"},
    /* What is picked from is not the minor dim, or outside tiles. */
    {DIMS(GATHER, 2), "f32 40,50", "1,0", "f32 3,40", NULL, "0,1", "1,0"},
    {DIMS(GATHER, 1), "f32 40,50", "1,0", "f32 3,50", NULL, "1,0", "1,0"},
    {DIMS(GATHER, 2), "f32 40,50,60", "2,1,0", "f32 3,40,60", NULL, "2,0,1", "2,1,0"},
    {{.opcode = TS_HLO_OP_GATHER, .dims = 2, .of_argument = true},
     "f32 40,50,60",
     "2,1,0",
     "f32 3,40,60",
     NULL,
     "2,1,0",
     "2,0,1"},
    {{.opcode = TS_HLO_OP_GATHER, .dims = 4, .of_argument = true},
     "f32 40,50,60",
     "2,1,0",
     "f32 3,40,50",
     NULL,
     "1,0,2",
     "2,1,0"},
    {DIMS(GATHER, 1), "f32 40,50,60", "2,1,0", "f32 3,50,60", NULL, "2,1,0", "2,1,0"},
    {DIMS(GATHER, 1), "f32 40", "0", "f32 3", NULL, "0", "0"},
    {DIMS(GATHER, 3), "f32 40,50", "1,0", "f32 3,40", NULL, "1,0", "1,0"},
    {DIMS(GATHER, 0), "f32 40,50", "0,1", "f32 3,40", NULL, "0,1", "1,0"},
    {DIMS(GATHER, 1), "f32 40,50", "0,1", "f32 3,4,50", NULL, "0,1", "2,1,0"},
    /* Reshapes: bitcasts where they can be, else the cheapest of both sides. */
    {OP(RESHAPE), "f32 16,128", "1,0", "f32 2,8,128", NULL, "1,0", "2,1,0"},
    {OP(RESHAPE), "f32 16,128", "0,1", "f32 2,8,128", NULL, "1,0", "2,1,0"},
    {OP(RESHAPE), "f32 16,128", "1,0", "f32 2,8,128", "2,1,0", "1,0", "2,1,0"},
    {OP(RESHAPE), "f32 16,128", "1,0", "f32 2,8,128", "1,2,0", "1,0", "2,1,0"},
    {OP(RESHAPE), "f32 4,6,100", "2,1,0", "f32 24,100", NULL, "2,1,0", "1,0"},
    {OP(RESHAPE), "f32 4,6,100", "0,1,2", "f32 24,100", NULL, "2,1,0", "1,0"},
    {OP(RESHAPE), "f32 4,6,100", "1,0,2", "f32 4,600", NULL, "2,1,0", "1,0"},
    {OP(RESHAPE), "f32 4,6,100,3", "3,2,1,0", "f32 24,300", NULL, "1,0,3,2", "0,1"},
    {OP(RESHAPE), "f32 6,4,10,30,7,3", "5,4,3,2,1,0", "f32 24,300,21", NULL, "3,2,1,0,5,4", "1,0,2"},
    {OP(RESHAPE), "f32 7,24,300", "2,1,0", "f32 7,6,4,10,30", NULL, "2,1,0", "4,3,2,1,0"},
    {OP(RESHAPE), "f32 7,24,300", "0,1,2", "f32 7,6,4,10,30", "4,3,2,1,0", "2,1,0", "4,3,2,1,0"},
    {OP(RESHAPE), "f32 1024", "0", "f32 8,128", NULL, "0", "1,0"},
    /* Dims of 1 alone. */
    {OP(RESHAPE), "f32 16,1,128", "2,1,0", "f32 16,128", NULL, "2,1,0", "1,0"},
    {OP(RESHAPE), "f32 16,1,128", "2,0,1", "f32 16,128", NULL, "2,0,1", "1,0"},
    {OP(RESHAPE), "f32 16,1,100", "2,1,0", "f32 16,100", "1,0", "2,1,0", "1,0"},
    {OP(RESHAPE), "f32 16,100", "1,0", "f32 16,1,100", "2,1,0", "1,0", "2,1,0"},
    {OP(RESHAPE), "f32 16,100", "1,0", "f32 16,1,100", "2,0,1", "1,0", "2,0,1"},
    {OF_ARGUMENT(RESHAPE), "f32 16,100", "1,0", "f32 16,1,100", "2,1,0", "1,0", "2,1,0"},
    {OF_ARGUMENT(RESHAPE), "f32 16,128", "1,0", "f32 16,1,128", "2,1,0", "1,0", "2,1,0"},
    {OF_ARGUMENT(RESHAPE), "f32 16,100", "0,1", "f32 16,1,100", "1,0,2", "0,1", "1,0,2"},
    {OP(RESHAPE), "f32 100", "0", "f32 100,1", "1,0", "0", "0,1"},
    {OP(RESHAPE), "f32 100,1", "1,0", "f32 100", NULL, "1,0", "0"},
    {OP(RESHAPE), "f32 100,1", "0,1", "f32 100", NULL, "0,1", "0"},
    {OP(RESHAPE), "f32 1,1", "1,0", "f32", NULL, "1,0", ""},
    {OP(RESHAPE), "f32 5,16,1,128", "3,2,1,0", "f32 5,16,128", NULL, "3,2,1,0", "2,1,0"},
    {OP(RESHAPE), "bf16 5,16,1,128", "3,2,1,0", "bf16 5,16,128", NULL, "3,1,0,2", "2,1,0"},
};

TEST(orders_go_forward) {
    const audit_orders o = orders();
    for (size_t i = 0; i < sizeof forwards / sizeof forwards[0]; i++) {
        audit_array operand = array_of(forwards[i].operand), made = array_of(forwards[i].made);
        audit_order have = order_of(forwards[i].have), want = {{0}};
        if (forwards[i].want) want = order_of(forwards[i].want);
        audit_step step = {
            .operand = &operand, .made = &made, .have = &have, .want = forwards[i].want ? &want : NULL};
        char needs[24], makes[24];
        audit_order_forward(&o, &forwards[i].op, &step);
        print_order(needs, &step.needs, operand.rank);
        print_order(makes, &step.makes, made.rank);
        if (strcmp(needs, forwards[i].needs) != 0 || strcmp(makes, forwards[i].makes) != 0)
            fail_msg("%s to %s: needs %s, makes %s", forwards[i].operand, forwards[i].made, needs, makes);
    }
}

/* ---- Rows of tiles that become lanes ---- */

static const struct {
    const char *operand, *have, *made, *makes;
    const char *view; /* NULL: no rows move */
} retiled[] = {
    {"f32 16,256", "1,0", "f32 4096", "0", "f32 2,2,8,128"},
    {"f32 12,256", "1,0", "f32 3072", "0", NULL},
    {"f32 16,128", "1,0", "f32 2048", "0", NULL},
    {"f32 16,200", "1,0", "f32 3200", "0", NULL},
    {"f32 16,256", "0,1", "f32 4096", "0", NULL},
    {"f32 3,16,256", "2,1,0", "f32 3,4096", "1,0", "f32 1,3,16,256"},
    {"f32 3,16,256", "2,1,0", "f32 12288", "0", "f32 6,2,8,128"},
    {"f32 16,4,256", "2,1,0", "f32 16,1024", "1,0", "f32 2,8,4,256"},
    {"f32 16,4,256", "2,1,0", "f32 16,1024", "0,1", NULL},
    {"f32 12,4,256", "2,1,0", "f32 12,1024", "1,0", NULL},
    {"f32 2,8,4,256", "3,2,1,0", "f32 2,8,1024", "2,1,0", "f32 2,8,4,256"},
    {"f32 2,8,4,256", "3,2,1,0", "f32 16,1024", "1,0", NULL},
    {"f32 1,4,256", "2,1,0", "f32 1,1024", "1,0", NULL},
    {"f32 16,1,256", "2,1,0", "f32 16,256", "1,0", NULL},
    {"f32 16,256", "1,0", "f32 4096,1", "1,0", NULL},
    {"f32 256", "0", "f32 256", "0", NULL},
    {"bf16 32,256", "1,0", "bf16 8192", "0", "bf16 4,2,8,128"},
};

TEST(rows_become_lanes) {
    const audit_orders o = orders();
    for (size_t i = 0; i < sizeof retiled / sizeof retiled[0]; i++) {
        audit_array operand = array_of(retiled[i].operand), made = array_of(retiled[i].made), view;
        audit_order have = order_of(retiled[i].have), sides[2];
        audit_step step = {
            .operand = &operand, .made = &made, .have = &have, .makes = order_of(retiled[i].makes)};
        char text[96] = "none";
        if (audit_order_retiles(&o, &step, &view, sides))
            snprintf(text, sizeof text, "%s %d,%d,%d,%d", ts_dtype_get(view.dtype)->name, (int)view.dims[0],
                     (int)view.dims[1], (int)view.dims[2], (int)view.dims[3]);
        if (strcmp(text, retiled[i].view ? retiled[i].view : "none") != 0)
            fail_msg("%s to %s: %s", retiled[i].operand, retiled[i].made, text);
    }
}

/* ---- Products ---- */

/* Two dims are inside: one of the sum and one of its own of an operand, one of either side of the result; of the pairs that
 * which pads least (tiles of 8 x 128; few rows are lower), of equal ones what comes first in the order that is there. */
static const struct {
    audit_operation op;
    const char *first, *second, *made;
    const char *have[2], *want, *usual; /* want NULL: nobody asks */
    const char *needs[2], *makes;
} products[] = {
    /* two dims by two: as they are, and the result as it is wanted, or as it pads least */
    {DOT(0, 0, 2, 1),
     "f32 64,32",
     "f32 32,128",
     "f32 64,128",
     {"0,1", "1,0"},
     "0,1",
     "1,0",
     {"0,1", "1,0"},
     "0,1"},
    {DOT(0, 0, 2, 1),
     "f32 64,32",
     "f32 32,128",
     "f32 64,128",
     {"1,0", "0,1"},
     NULL,
     "0,1",
     {"1,0", "0,1"},
     "1,0"},
    {DOT(0, 0, 2, 1),
     "f32 1024,32",
     "f32 32,3",
     "f32 1024,3",
     {"1,0", "1,0"},
     NULL,
     "1,0",
     {"1,0", "1,0"},
     "0,1"},
    {DOT(0, 0, 2, 1),
     "f32 128,32",
     "f32 32,128",
     "f32 128,128",
     {"1,0", "1,0"},
     NULL,
     "0,1",
     {"1,0", "1,0"},
     "0,1"},
    /* batches: x of 64 x 32 is 32 rows of 64 lanes rather than 64 rows of 32 */
    {DOT(1, 1, 4, 2),
     "f32 4,64,32",
     "f32 4,32,128",
     "f32 4,64,128",
     {"2,1,0", "2,1,0"},
     NULL,
     "2,1,0",
     {"1,2,0", "2,1,0"},
     "2,1,0"},
    {DOT(2, 2, 4, 1),
     "f32 64,4,32",
     "f32 32,4,128",
     "f32 4,64,128",
     {"2,1,0", "2,1,0"},
     NULL,
     "2,1,0",
     {"0,2,1", "2,0,1"},
     "2,1,0"},
    /* the result's rows are either dim of x: what is wanted says which */
    {DOT(1, 1, 8, 2),
     "f32 2,64,16,256",
     "f32 2,256,512",
     "f32 2,64,16,512",
     {"3,2,1,0", "2,1,0"},
     NULL,
     "3,2,1,0",
     {"3,2,1,0", "2,1,0"},
     "3,2,1,0"},
    {DOT(1, 1, 8, 2),
     "f32 2,64,16,256",
     "f32 2,256,512",
     "f32 2,64,16,512",
     {"3,2,1,0", "1,2,0"},
     "3,1,2,0",
     "3,2,1,0",
     {"3,1,2,0", "1,2,0"},
     "3,1,2,0"},
    /* and of y */
    {DOT(1, 1, 4, 2),
     "f32 2,8,256",
     "f32 2,256,512,64",
     "f32 2,8,512,64",
     {"2,1,0", "3,2,1,0"},
     NULL,
     "3,2,1,0",
     {"2,1,0", "2,1,3,0"},
     "2,1,3,0"},
    /* convolutions: batch and features inside, then the last dim of space */
    {LABELS("b01f", "01io", "b01f"),
     "f32 8,16,16,128",
     "f32 3,3,128,256",
     "f32 8,14,14,256",
     {"3,2,1,0", "3,2,1,0"},
     NULL,
     "3,2,1,0",
     {"3,0,2,1", "3,2,1,0"},
     "3,0,2,1"},
    {LABELS("f10b", "01io", "b01f"),
     "f32 128,16,16,8",
     "f32 3,3,128,256",
     "f32 128,14,14,256",
     {"3,2,1,0", "2,3,1,0"},
     "0,3,2,1",
     "3,2,1,0",
     {"0,3,1,2", "2,3,1,0"},
     "0,3,2,1"},
};

TEST(orders_of_products) {
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        const audit_orders o = orders();
        const audit_array x = array_of(products[i].first), y = array_of(products[i].second),
                          made = array_of(products[i].made);
        const audit_order have[2] = {order_of(products[i].have[0]), order_of(products[i].have[1])},
                          want = order_of(products[i].want ? products[i].want : "");
        audit_dot dot = {.operands = {&x, &y},
                         .made = &made,
                         .have = {&have[0], &have[1]},
                         .want = products[i].want ? &want : NULL,
                         .usual = order_of(products[i].usual)};
        char found[3][24];
        assert_int_equal(audit_dot_is_flat(&dot), x.rank == 2 && y.rank == 2);
        audit_order_dot(&o, &products[i].op, &dot);
        print_order(found[0], &dot.needs[0], x.rank);
        print_order(found[1], &dot.needs[1], y.rank);
        print_order(found[2], &dot.makes, made.rank);
        if (strcmp(found[0], products[i].needs[0]) != 0 || strcmp(found[1], products[i].needs[1]) != 0 ||
            strcmp(found[2], products[i].makes) != 0)
            fail_msg("row %zu: %s by %s gives %s", i, found[0], found[1], found[2]);
    }
    const audit_array flat = array_of("f32 8,8"), tall = array_of("f32 2,8,8");
    assert_false(audit_dot_is_flat(&(audit_dot){.operands = {&flat, &tall}}));
    assert_false(audit_dot_is_flat(&(audit_dot){.operands = {&tall, &flat}}));
}

int main(void) { return run_all_tests(begin_audits, end_group); }
