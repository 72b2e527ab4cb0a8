/* Findings about outputs and inputs. */
#include <string.h>

#include "check/outputs.h"
#include "tests/support/cmocka.h"
#include "tests/support/shapes.h"

static const ts_source source = {"a.tsim", "", 0};
enum { XB, Y, N, TENSORS, Y_BYTE = 4096, CYCLE = 60 };

/* xb lies in VMEM from byte 0 on, y in HBM, n in SMEM; y and n are outputs, xb and n inputs. */
typedef struct {
    ts_arena *arena;
    ts_tensor tensors[TENSORS];
    ts_code code;
    ts_space *spaces[TS_SPACE_COUNT];
    bool outputs[TENSORS], inputs[TENSORS];
    ts_findings *findings;
    ts_outputs all;
} world;

static world *open_world(void) {
    static const char *const tiled = "f32[16,100]{1,0:T(8,128)}";
    ts_arena *arena = ts_arena_new();
    world *w = TS_NEW(arena, world);
    w->arena = arena;
    w->tensors[XB] = (ts_tensor){"xb", TS_SPACE_VMEM, 0, 8192, parse_shape(arena, tiled)};
    w->tensors[Y] = (ts_tensor){"y", TS_SPACE_HBM, Y_BYTE, 8192, parse_shape(arena, tiled)};
    w->tensors[N] = (ts_tensor){"n", TS_SPACE_SMEM, 32, 16, parse_shape(arena, "s32[4]{0}")};
    w->code = (ts_code){.tensors = w->tensors, .tensor_count = TENSORS};
    for (int i = 0; i < TS_SPACE_COUNT; i++) {
        w->spaces[i] = ts_space_new(arena, "space", 1 << 16);
        ts_space_track(w->spaces[i], arena);
        ts_space_mark_valid(w->spaces[i], 0, 8 << 16);
    }
    w->outputs[Y] = w->outputs[N] = w->inputs[XB] = w->inputs[N] = true;
    w->findings = TS_NEW(arena, ts_findings);
    w->all = (ts_outputs){&w->code, w->outputs, w->inputs, w->findings, NULL};
    return w;
}

static void close_world(world *w) { ts_arena_free(w->arena); }

static const ts_transfer transfers[] = {
    {.source.tensor = XB, .destination.tensor = Y, .source_text = &source, .line = 5, .column = 1},
    {.source.tensor = Y, .destination.tensor = XB, .source_text = &source, .line = 6, .column = 1},
};

/* All of a tensor, or the rows from `first` on, to the same of the other. */
static ts_in_flight in_flight(world *w, int transfer, int64_t first) {
    const ts_transfer *what = &transfers[transfer];
    const ts_tensor *from = &w->tensors[what->source.tensor], *to = &w->tensors[what->destination.tensor];
    int64_t begin[] = {first, 0}, sizes[] = {16 - first, 100};
    ts_plan_side src = {from->shape, begin, NULL, from->base_bytes * 8},
                 dst = {to->shape, begin, NULL, to->base_bytes * 8};
    ts_error err = {0};
    const ts_plan *plan = ts_plan_new(&err, w->arena, &src, &dst, 2, sizes);
    if (!plan) fail_msg("%s", err.message);
    return (ts_in_flight){.what = what,
                          .plan = plan,
                          .src = w->spaces[from->space],
                          .dst = w->spaces[to->space],
                          .issued_cycle = 10,
                          .done_cycle = CYCLE};
}

/* The byte of element (row, column) of f32[16,100]{1,0:T(8,128)}. */
static int64_t byte_of(int64_t row, int64_t column) { return (row / 8 * 1024 + row % 8 * 128 + column) * 4; }

/* ---- Inputs ---- */

TEST(transfers_into_an_input) {
    world *w = open_world();
    ts_in_flight good = in_flight(w, 0, 0), bad = in_flight(w, 1, 0);
    ts_outputs_start(&w->all, &good);
    assert_int_equal(w->findings->count, 0);
    ts_outputs_start(&w->all, &bad);
    assert_int_equal(w->findings->count, 1);
    const ts_finding *f = &w->findings->list[0];
    assert_true(f->kind == TS_FINDING_OVERWRITTEN && f->where.line == 6 && f->cycle == 10);
    assert_string_equal(f->text, "this DMA writes to 'xb', which is an input and not inout");
    assert_true(f->other.source == NULL && f->other.line == 0);
    close_world(w);
}

TEST(stores_into_an_input) {
    static const ts_instruction sst = {.opcode = TS_OP_sst, .source = &source, .line = 9, .column = 1};
    static const struct {
        ts_space_kind space;
        int64_t first, end;
        const char *text;
    } rows[] = {
        {TS_SPACE_SMEM, 28, 32, NULL},
        {TS_SPACE_SMEM, 28, 33, "sst writes to 'n', which is an input and not inout"},
        {TS_SPACE_SMEM, 47, 50, "sst writes to 'n', which is an input and not inout"},
        {TS_SPACE_SMEM, 48, 52, NULL},
        {TS_SPACE_VMEM, 8188, 8200, "sst writes to 'xb', which is an input and not inout"},
        {TS_SPACE_VMEM, 8192, 8196, NULL},
        {TS_SPACE_HBM, Y_BYTE, Y_BYTE + 4, NULL}, /* an output alone */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        world *w = open_world();
        ts_access store = {&sst, w->spaces[rows[i].space], rows[i].first, rows[i].end, true, 33, NULL};
        ts_outputs_store(&w->all, w->spaces, &store);
        w->code.tensor_count = 0; /* not one more than there are */
        ts_outputs_store(&w->all, w->spaces, &store);
        if (w->findings->count != (rows[i].text != NULL)) fail_msg("row %zu: %d", i, w->findings->count);
        if (rows[i].text) {
            const ts_finding *f = &w->findings->list[0];
            assert_true(f->kind == TS_FINDING_OVERWRITTEN && f->where.line == 9 && f->cycle == 33);
            assert_true(f->other.source == NULL && f->other.line == 0);
            assert_string_equal(f->text, rows[i].text);
        }
        close_world(w);
    }
}

/* ---- Outputs ---- */

static const struct {
    const char *shape, *text;
} named[] = {
    {"s32[4]{0}", "n[1] was never written"},
    {"s32[]", "n[] was never written"},
    {"s32[1,2,1,2]{3,2,1,0}", "n[0,0,0,1] was never written"},
};

TEST(the_index_of_what_was_not_written) {
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        world *w = open_world();
        ts_space *smem = w->spaces[TS_SPACE_SMEM];
        ts_error err = {0};
        w->tensors[N].shape = parse_shape(w->arena, named[i].shape);
        int64_t byte = 32 + (w->tensors[N].shape->layout->rank > 0 ? 4 : 0);
        ts_space_mark_poison(smem, byte * 8, 32);
        assert_true(ts_outputs_find_unwritten(&err, &w->all, N, smem, (ts_location){&source, 3, 1}, CYCLE));
        assert_int_equal(w->findings->count, 1);
        assert_string_equal(w->findings->list[0].text, named[i].text);
        close_world(w);
    }
}

/* With one element of the output undefined, where it is and how it is called. */
static const struct {
    int64_t row, column, from_row;
    const char *text;
} undefined[] = {
    {0, 0, 0, "y[0,0] gets an undefined value from 'xb', where nothing was written"},
    {9, 99, 0, "y[9,99] gets an undefined value from 'xb', where nothing was written"},
    {15, 10, 0, "y[15,10] gets an undefined value from 'xb', where nothing was written"},
    {9, 99, 3, "y[9,99] gets an undefined value from 'xb', where nothing was written"},
    {9, 99, 10, NULL},  /* another part was moved */
    {9, 100, 0, NULL},  /* padding */
    {15, 127, 0, NULL}, /* padding */
};

TEST(undefined_values_that_are_sent) {
    for (size_t i = 0; i < sizeof undefined / sizeof undefined[0]; i++) {
        world *w = open_world();
        ts_in_flight t = in_flight(w, 0, undefined[i].from_row);
        int64_t byte = Y_BYTE + byte_of(undefined[i].row, undefined[i].column);
        ts_space_mark_poison(w->spaces[TS_SPACE_HBM], byte * 8, 32);
        ts_outputs_done(&w->all, &t, NULL);
        if (w->findings->count != (undefined[i].text != NULL)) fail_msg("row %zu: %d", i, w->findings->count);
        if (undefined[i].text) {
            const ts_finding *f = &w->findings->list[0];
            assert_true(f->kind == TS_FINDING_OUTPUT && f->where.line == 5 && f->cycle == CYCLE);
            assert_int_equal(f->other.line, 0);
            assert_null(f->other_text);
            assert_string_equal(f->text, undefined[i].text);
        }
        w->findings->count = 0;
        w->outputs[Y] = false; /* nobody asks what it holds */
        ts_outputs_done(&w->all, &t, NULL);
        assert_int_equal(w->findings->count, 0);
        close_world(w);
    }
}

/* A scalar has no index, and a vector one number. */
TEST(undefined_values_of_few_dims) {
    static const struct {
        const char *shape;
        int64_t size, word;
        const char *text;
    } rows[] = {
        {"f32[]", 0, 0, "y gets an undefined value from 'xb', where nothing was written"},
        {"f32[9]{0:T(128)}", 9, 7, "y[7] gets an undefined value from 'xb', where nothing was written"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        world *w = open_world();
        w->tensors[XB].shape = w->tensors[Y].shape = parse_shape(w->arena, rows[i].shape);
        ts_plan_side src = {w->tensors[XB].shape, NULL, NULL, 0},
                     dst = {w->tensors[Y].shape, NULL, NULL, Y_BYTE * 8};
        ts_in_flight t = {.what = &transfers[0],
                          .plan = ts_plan_new(NULL, w->arena, &src, &dst, rows[i].size > 0, &rows[i].size),
                          .src = w->spaces[TS_SPACE_VMEM],
                          .dst = w->spaces[TS_SPACE_HBM]};
        ts_space_mark_poison(w->spaces[TS_SPACE_HBM], (Y_BYTE + 4 * rows[i].word) * 8, 32);
        ts_outputs_done(&w->all, &t, NULL);
        assert_int_equal(w->findings->count, 1);
        assert_string_equal(w->findings->list[0].text, rows[i].text);
        close_world(w);
    }
}

/* v0 is undefined since line `origin`, and stored at line 8 into the first rows of xb. */
static ts_poison *stored(world *w, const ts_instruction *origin) {
    static const ts_isa_limits limits = {.sregs = 1, .vregs = 1, .vmasks = 1};
    static uint32_t vreg[TS_VREG_WORDS], vmask[TS_VREG_WORDS], sreg[1], all[TS_VREG_WORDS];
    static const ts_address address = {.tensor = -1, .stride = 1, .sublane_mask = 0xff};
    static const ts_instruction vst = {
        .opcode = TS_OP_vst,
        .mask = -1,
        .operand_count = 2,
        .operands = {{TS_OPERAND_ADDRESS, .as.address = &address}, {TS_OPERAND_VREG, .as.reg = 0}},
        .source = &source,
        .line = 8};
    ts_poison_setup setup = {
        &w->code,   &limits, sreg, vreg, vmask, w->spaces[TS_SPACE_VMEM], w->spaces[TS_SPACE_SMEM],
        w->findings};
    ts_poison *poison = ts_poison_new(w->arena, &setup);
    ts_poison_operands operands[] = {
        {.instruction = origin ? origin : &vst, .rule = TS_SHADOW_UNIT, .result = vreg},
        {.instruction = &vst, .rule = TS_SHADOW_STORE, .sources = {vreg}},
    };
    ts_poison_op *ops[2];
    memset(all, 0xff, sizeof all);
    ts_poison_bundle(poison, operands, 2, ops);
    ts_poison_result(ops[0], all);
    ts_poison_run(ops[1], 0);
    return poison;
}

TEST(the_store_that_left_it) {
    static const ts_instruction vadd = {.opcode = TS_OP_vadd_f32, .mask = -1, .source = &source, .line = 7};
    static const struct {
        int64_t row;
        const ts_instruction *origin;
        int line;
        const char *text;
    } rows[] = {{7, &vadd, 7, "this met the undefined value first"},
                {7, NULL, 8, "this stored it"},
                {8, &vadd, 0, NULL}}; /* nothing was stored there */
    for (int i = 0; i < 3; i++) {
        world *w = open_world();
        const ts_poison *poison = stored(w, rows[i].origin);
        ts_in_flight t = in_flight(w, 0, 0);
        ts_space_mark_poison(w->spaces[TS_SPACE_HBM], (Y_BYTE + byte_of(rows[i].row, 99)) * 8, 32);
        ts_outputs_done(&w->all, &t, poison);
        assert_int_equal(w->findings->count, 1);
        const ts_finding *f = &w->findings->list[0];
        assert_int_equal(f->other.line, rows[i].line);
        if (rows[i].text) {
            assert_string_equal(f->other_text, rows[i].text);
            assert_string_equal(f->text, "y[7,99] gets an undefined value from 'xb'");
        } else {
            assert_null(f->other_text);
            assert_string_equal(f->text,
                                "y[8,99] gets an undefined value from 'xb', where nothing was written");
        }
        close_world(w);
    }
}

TEST(elements_that_were_never_written) {
    world *w = open_world();
    ts_space *hbm = w->spaces[TS_SPACE_HBM], *smem = w->spaces[TS_SPACE_SMEM];
    ts_location where = {&source, 2, 1};
    ts_error err = {0};
    ts_space_mark_poison(hbm, (Y_BYTE + byte_of(3, 100)) * 8, 32); /* padding */
    ts_space_mark_poison(hbm, (Y_BYTE - 4) * 8, 32);
    assert_true(ts_outputs_find_unwritten(&err, &w->all, Y, hbm, where, CYCLE));
    assert_int_equal(w->findings->count, 0);
    ts_space_mark_poison(hbm, (Y_BYTE + byte_of(12, 34)) * 8, 1);
    ts_space_mark_poison(smem, (32 + 4) * 8, 32);
    assert_true(ts_outputs_find_unwritten(&err, &w->all, Y, hbm, where, CYCLE));
    where.line = 3;
    assert_true(ts_outputs_find_unwritten(&err, &w->all, N, smem, where, CYCLE));
    assert_int_equal(w->findings->count, 2);
    const ts_finding *f = w->findings->list;
    assert_true(f->kind == TS_FINDING_UNWRITTEN && f->where.line == 2 && f->cycle == CYCLE);
    assert_null(f->other.source);
    assert_string_equal(f[0].text, "y[12,34] was never written");
    assert_string_equal(f[1].text, "n[1] was never written");
    ts_space *small = ts_space_new(w->arena, "small", 64);
    assert_false(
        ts_outputs_find_unwritten(&err, &w->all, Y, small, where, CYCLE)); /* it does not lie there */
    assert_int_equal(err.kind, TS_ERROR_INPUT);
    close_world(w);
}
