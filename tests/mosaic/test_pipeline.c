/* Kernels with a grid: which blocks move and what comes out; and what is refused. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "layout/dtype.h"
#include "mosaic/mosaic.h"
#include "run/run.h"
#include "tests/support/cmocka.h"
#include "tests/support/group.h"

#define WINDOW "memref<8x128xf32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>"
#define ALL                                                                                                  \
    "sublane_mask = array<i1: true, true, true, true, true, true, true, true>, sublane_stride = 1 : i32"
#define LOAD "%a = \"tpu.load\"(%x, %c, %c) <{" ALL "}> : (" WINDOW ", index, index) -> vector<8x128xf32>\n"
#define STORE(value)                                                                                         \
    "\"tpu.store\"(" value ", %y, %c, %c) <{operandSegmentSizes = array<i32: 1, 1, 2, 0>, " ALL              \
    "}> : (vector<8x128xf32>, " WINDOW ", index, index) -> ()\n"
#define BITS(name) name " = \"tpu.prng_random_bits\"() : () -> vector<8x128xi32>\n"
#define COPY       LOAD STORE("%a")

static ts_error err;

/* A kernel of one input of `in` rows and one result of `out` rows of 128, in blocks of 8; %g is the grid index, and each
 * transform gives %r. */
typedef struct {
    const char *grid, *input, *result, *body;
    int in, out;
} sketch;

static const char *text_of(sketch s) {
    ts_text t;
    const char *names[] = {s.input, s.result};
    t = ts_text_begin(arena);
    ts_text_add(
        &t,
        "\"builtin.module\"() ({\n\"func.func\"() <{sym_name = \"main\"}> ({\n^bb0(%%g: i32, %%x: " WINDOW
        ", %%y: " WINDOW "):\n%%c = \"arith.constant\"() <{value = 0 : index}> : () -> index\n%s"
        "\"func.return\"() : () -> ()\n}) {iteration_bounds = array<i64: %s>, scalar_prefetch = 0 : i64, "
        "scratch_operands = 0 : i64, window_params = [{transform_indices = @t0, window_bounds = "
        "array<i64: "
        "8, "
        "128>}, {transform_indices = @t1, window_bounds = array<i64: 8, 128>}]} : () -> ()\n",
        s.body, s.grid);
    for (int i = 0; i < 2; i++) {
        ts_text_add(&t,
                    "\"func.func\"() <{sym_name = \"t%d\"}> ({\n^bb0(%%g: i32):\n%%z = \"arith.constant\"() "
                    "<{value = 0 "
                    ": i32}> : () -> i32\n%%two = \"arith.constant\"() <{value = 2 : i32}> : () -> "
                    "i32\n%s\"func.return\"(%%r, %%z) : (i32, i32) -> ()\n}) : () -> ()\n",
                    i, names[i]);
    }
    ts_text_add(&t,
                "}) {tilesim.operands = [tensor<%dx128xf32>, tensor<%dx128xf32>], tilesim.results = 1 : i64, "
                "tilesim.fills = [\"iota\"]} : () -> ()\n",
                s.in, s.out);
    return t.bytes;
}

static const char same[] = "%r = \"arith.addi\"(%g, %z) : (i32, i32) -> i32\n";
static const char half[] = "%r = \"arith.divsi\"(%g, %two) : (i32, i32) -> i32\n";
static const char fixed[] = "%r = \"arith.constant\"() <{value = 1 : i32}> : () -> i32\n";
static const char first[] = "%r = \"arith.constant\"() <{value = 0 : i32}> : () -> i32\n";
static const char back[] = "%r = \"arith.subi\"(%two, %g) : (i32, i32) -> i32\n";

/* A kernel whose input and result have the block of the step. */
#define ONE_STEP(body)                                                                                       \
    { "1", same, same, body, 8, 8 }
#define TWO_STEPS(body)                                                                                      \
    { "2", same, same, body, 16, 16 }

typedef struct {
    int in, out; /* transfers from the input, and to the result */
    const ts_program *program;
    const float *values;
} outcome;

static void count(void *self, const ts_in_flight *transfer, const ts_dma_result *result) {
    outcome *o = self;
    const ts_transfer *t = &o->program->code.transfers[transfer->transfer];
    (void)result;
    o->in += strcmp(o->program->code.tensors[t->source.tensor].name, "0") == 0;
    o->out += strcmp(o->program->code.tensors[t->destination.tensor].name, "1") == 0;
}

static const ts_program *read_text(const char *text) {
    err = (ts_error){0};
    const ts_machine *machine = ts_machine_load(&err, arena, "tpu-v5e");
    ts_source *source = TS_NEW(arena, ts_source);
    ts_target target;
    ts_run_target(machine, &target);
    *source = (ts_source){"k.mlir", text, strlen(text)};
    return ts_mosaic_parse(&err, arena, source, &target);
}

static bool try_text(const char *text, outcome *o) {
    *o = (outcome){.program = read_text(text)};
    ts_chip_observer observer = {.self = o, .transferred = count};
    ts_run_result result;
    if (!o->program) return false;
    ts_run_request request = {.program = "k.mlir",
                              .built = o->program,
                              .machine = ts_machine_load(&err, arena, "tpu-v5e"),
                              .keep_outputs = true,
                              .check = true,
                              .observer = &observer,
                              .max_cycles = INT64_MAX};
    if (!ts_run(&err, arena, &request, &result)) return false;
    o->values = (const float *)(const void *)result.tensors[1].after.bytes;
    return result.passed;
}

static bool try_run(sketch s, outcome *o) { return try_text(text_of(s), o); }

static outcome run(sketch s) {
    outcome o;
    bool good = try_run(s, &o);
    if (!good) print_error("%d:%d: %s\n", err.line, err.column, err.message);
    assert_true(good);
    return o;
}

/* Of the last block 4 rows are read; behind them lies in the buffer what the block two before it had there. */
TEST(what_a_cut_block_leaves_is_undefined) {
    outcome o;
    assert_true(try_run((sketch){"3", same, same, COPY, 20, 20}, &o));
    assert_false(try_run((sketch){"3", same, same, COPY, 20, 24}, &o));
    assert_true(try_run((sketch){"4", same, same, COPY, 28, 28}, &o));
    assert_false(try_run((sketch){"4", same, same, COPY, 28, 32}, &o));
    assert_string_equal(err.message, "");
}

TEST(blocks_follow_the_grid) {
    outcome o = run((sketch){"4", same, same, COPY, 32, 32});
    assert_int_equal(o.in, 4);
    assert_int_equal(o.out, 4);
    for (int i = 0; i < 32 * 128; i++) assert_true(o.values[i] == (float)i);
    o = run((sketch){"3", same, back, COPY, 24, 24});
    assert_int_equal(o.out, 3);
    for (int i = 0; i < 24 * 128; i++) assert_true(o.values[i] == (float)((2 - i / 1024) * 1024 + i % 1024));
}

TEST(a_block_that_is_there_is_not_fetched) {
    outcome o = run((sketch){"6", half, same, COPY, 24, 48});
    assert_int_equal(o.in, 3);
    assert_int_equal(o.out, 6);
    for (int i = 0; i < 48 * 128; i++) assert_true(o.values[i] == (float)(i / 2048 * 1024 + i % 1024));
    o = run((sketch){"5", fixed, same, COPY, 16, 40});
    assert_int_equal(o.in, 1);
    for (int i = 0; i < 40 * 128; i++) assert_true(o.values[i] == (float)(1024 + i % 1024));
}

TEST(a_result_leaves_when_it_is_complete) {
    outcome o = run((sketch){"6", same, half, COPY, 48, 24});
    assert_int_equal(o.in, 6);
    assert_int_equal(o.out, 3);
    for (int i = 0; i < 24 * 128; i++) assert_true(o.values[i] == (float)(i / 1024 * 2048 + 1024 + i % 1024));
    o = run((sketch){"2", same, first, COPY STORE("%a"), 16, 8});
    assert_int_equal(o.out, 1);
    for (int i = 0; i < 1024; i++) assert_true(o.values[i] == (float)(1024 + i));
}

TEST(the_last_block_is_cut) {
    outcome o = run((sketch){"3", same, same, COPY, 20, 20});
    assert_int_equal(o.in, 3);
    assert_int_equal(o.out, 3);
    for (int i = 0; i < 20 * 128; i++) assert_true(o.values[i] == (float)i);
}

TEST(inputs_may_be_zeros) {
    const char *text = text_of((sketch)ONE_STEP(COPY)), *at = strstr(text, "iota");
    ts_text t = ts_text_begin(arena);
    outcome o;
    ts_text_add(&t, "%.*szeros%s", (int)(at - text), text, at + strlen("iota"));
    assert_true(try_text(t.bytes, &o));
    for (int i = 0; i < 8 * 128; i++) assert_true(o.values[i] == 0);
}

/* The text with more said of the window that has that transform. */
static const char *with_windows(const char *text, const char *transform, const char *more) {
    const char *at = strstr(text, transform) + strlen(transform);
    ts_text t = ts_text_begin(arena);
    ts_text_add(&t, "%.*s, %s%s", (int)(at - text), text, more, at);
    return t.bytes;
}

/* The kernel that copies, whose input has windows of that kind. */
static bool try_windows(const char *kind, outcome *o) {
    return try_text(with_windows(text_of((sketch){"3", same, same, COPY, 16, 24}), "@t0", kind), o);
}

/* Where its transform says how many rows before it there are, not how many blocks. */
TEST(windows_may_begin_in_a_block) {
    static const char *const padded[] = {"window_kind = #tpu.element_window<[0, 0], [1, 0]>",
                                         "window_kind = #tpu.element_window<[0, 2],[0, 0]>",
                                         "window_kind = #tpu.element_window<[9, 0],[0, 0]>"};
    outcome o;
    assert_true(try_windows("window_kind = #tpu.element_window<[0, 0], [0, 0]>", &o));
    for (int i = 0; i < 24 * 128; i++) assert_true(o.values[i] == (float)(i / 1024 * 128 + i % 1024));
    for (int i = 0; i < 3; i++) {
        assert_false(try_windows(padded[i], &o));
        assert_non_null(strstr(err.message, "is not modelled: with padded element windows"));
    }
}

static int64_t bytes_of(const ts_program *program, const char *name) {
    for (int i = 0; i < program->code.tensor_count; i++)
        if (strcmp(program->code.tensors[i].name, name) == 0) return program->code.tensors[i].bytes;
    return -1;
}

/* The kernel that copies, with one buffer for some of its windows. */
static outcome run_single(sketch s, bool input, bool result) {
    static const char single[] = "pipeline_mode = #tpu.pipeline_mode<synchronous>",
                      twice[] = "pipeline_mode = #tpu.pipeline_mode<double_buffered>";
    outcome o;
    const char *text = with_windows(text_of(s), "@t0", input ? single : twice);
    assert_true(try_text(with_windows(text, "@t1", result ? single : twice), &o));
    assert_int_equal(bytes_of(o.program, "window_0"), input ? 4096 : 8192);
    assert_int_equal(bytes_of(o.program, "window_1"), result ? 4096 : 8192);
    return o;
}

/* Blocks that are there are not fetched, results leave when they are complete, and of arrays that end in a block a part. */
TEST(windows_may_have_one_buffer) {
    for (int which = 0; which < 4; which++) {
        outcome o = run_single((sketch){"4", same, same, COPY, 28, 28}, which & 1, which & 2);
        for (int i = 0; i < 28 * 128; i++) assert_true(o.values[i] == (float)i);
        o = run_single((sketch){"6", half, same, COPY, 24, 48}, which & 1, which & 2);
        assert_true(o.in == 3 && o.out == 6);
        for (int i = 0; i < 48 * 128; i++) assert_true(o.values[i] == (float)(i / 2048 * 1024 + i % 1024));
        o = run_single((sketch){"6", same, half, COPY, 48, 24}, which & 1, which & 2);
        assert_true(o.in == 6 && o.out == 3);
        for (int i = 0; i < 24 * 128; i++)
            assert_true(o.values[i] == (float)(i / 1024 * 2048 + 1024 + i % 1024));
    }
    outcome o;
    assert_false(try_text(with_windows(text_of((sketch){"4", same, same, COPY, 28, 32}), "@t0",
                                       "pipeline_mode = #tpu.pipeline_mode<synchronous>"),
                          &o)); /* what the block before it had behind the end is undefined */
    assert_false(try_windows("pipeline_mode = #tpu.pipeline_mode<revolving>", &o));
    assert_non_null(strstr(err.message, "is not modelled: with windows of other than one buffer or two"));
}

TEST(one_step_has_no_loop) {
    outcome o = run((sketch)ONE_STEP(COPY));
    assert_int_equal(o.in, 1);
    assert_int_equal(o.out, 1);
    for (int i = 0; i < o.program->code.bundle_count; i++)
        for (int k = 0; k < o.program->code.bundles[i].count; k++)
            assert_int_not_equal(o.program->code.bundles[i].instructions[k].opcode, TS_OP_brz);
}

/* A bound that is an argument may be 0, where nothing is asked for. */
TEST(a_grid_of_no_steps_does_nothing) {
    const ts_program *program = read_text(text_of((sketch){"0", same, same, COPY, 16, 16}));
    assert_non_null(program);
    assert_int_equal(program->code.transfer_count, 0);
    assert_int_equal(program->code.bundle_count, 1);
}

static int64_t cycles_of(int64_t grid_step, const char *text) {
    const ts_machine *standard = ts_machine_load(&err, arena, "tpu-v5e");
    ts_machine *machine = TS_NEW(arena, ts_machine);
    ts_source *source = TS_NEW(arena, ts_source);
    ts_target target;
    ts_run_result result;
    *machine = *standard;
    machine->core.grid_step_cycles = grid_step;
    ts_run_target(machine, &target);
    *source = (ts_source){"k.mlir", text, strlen(text)};
    ts_run_request request = {.program = "k.mlir",
                              .built = ts_mosaic_parse(&err, arena, source, &target),
                              .machine = machine,
                              .exact = true,
                              .max_cycles = INT64_MAX};
    assert_non_null(request.built);
    assert_true(ts_run(&err, arena, &request, &result));
    return result.counters.values[TS_COUNTER_CYCLES];
}

static int64_t cycles_with(int64_t grid_step, sketch s) { return cycles_of(grid_step, text_of(s)); }

/* A step waits for what moves into or out of its one buffer. */
TEST(one_buffer_takes_longer) {
    const char *text = text_of((sketch){"8", same, same, COPY, 64, 64});
    static const char single[] = "pipeline_mode = #tpu.pipeline_mode<synchronous>";
    int64_t moves[] = {cycles_of(0, with_windows(text, "@t0", single)),
                       cycles_of(0, with_windows(text, "@t1", single))};
    for (int i = 0; i < 2; i++) assert_in_range(moves[i] - cycles_of(0, text), 7 * 100, 7 * 600);
}

/* What the pipeline's own instructions take is part of the cost of a step; the rest is waited for in each. */
TEST(a_step_has_its_cost) {
    const sketch moving = {"4", same, same, COPY, 32, 32}, staying = {"6", fixed, first, COPY, 16, 8};
    assert_int_equal(cycles_with(3000, moving) - cycles_with(2000, moving), 4 * 1000);
    assert_int_equal(cycles_with(3000, staying) - cycles_with(2000, staying), 6 * 1000);
    assert_int_equal(cycles_with(0, moving), cycles_with(60, moving));
    assert_int_equal(cycles_with(0, staying), cycles_with(4, staying));
    int64_t own = 1000 - (cycles_with(1000, staying) - cycles_with(0, staying)) / 6;
    assert_in_range(own, 10, 60);
    assert_in_range(cycles_with(own + 6, staying) - cycles_with(0, staying), 6, 6 * 16);
    assert_in_range(cycles_with(3000, moving) - 4 * 3000, 0, 1500);
}

#define NUMBER(name, value) name " = \"arith.constant\"() <{value = " value " : i32}> : () -> i32\n"
#define ADD(name, x, y)     name " = \"arith.addi\"(" x ", " y ") : (i32, i32) -> i32\n"
#define COMPARE(name, which, x, y)                                                                           \
    name " = \"arith.cmpi\"(" x ", " y ") <{predicate = " which " : i64}> : (i32, i32) -> i1\n"
#define YIELD(x)           "\"scf.yield\"(" x ") : (i32) -> ()\n"
#define WORDS(dims)        "memref<" dims "xi32, #tpu.memory_space<smem>>"
#define CUBE(last)         WORDS("1x5x" last)
#define INDEX(name, value) name " = \"arith.constant\"() <{value = " value " : index}> : () -> index\n"
/* 1 x 5 x 4 words %m, of which [0, 3, 2] is g + 2. */
#define CUBE_WITH_N                                                                                          \
    NUMBER("%l", "0")                                                                                        \
    NUMBER("%one", "1")                                                                                      \
    NUMBER("%two", "2")                                                                                      \
    NUMBER("%three", "3")                                                                                    \
    ADD("%n", "%g", "%two")                                                                                  \
    INDEX("%i0", "0")                                                                                        \
    INDEX("%i2", "2")                                                                                        \
    INDEX("%i3", "3")                                                                                        \
    "%m = \"memref.alloca\"() <{operandSegmentSizes = array<i32: 0, 0>}> : () "                              \
    "-> " CUBE("4") "\n"                                                                                     \
                    "\"memref.store\"(%n, %m, %i0, %i3, %i2) : (i32, " CUBE(                                 \
                        "4") ", index, index, index) -> ()\n"
#define WORD(name)                                                                                           \
    name " = \"memref.load\"(%m, %i0, %i3, %i2) : (" CUBE("4") ", index, index, index) -> i32\n"
#define WHOLE                 "vector<8x128xi32>"
#define FLOATS                "vector<8x128xf32>"
#define SPREAD(name, x)       name " = \"vector.broadcast\"(" x ") : (i32) -> " WHOLE "\n"
#define ADD_WHOLE(name, x, y) name " = \"arith.addi\"(" x ", " y ") : (" WHOLE ", " WHOLE ") -> " WHOLE "\n"
#define STORE_WHOLE(x)        "%f = \"arith.sitofp\"(" x ") : (" WHOLE ") -> vector<8x128xf32>\n" STORE("%f")
/* All of a block is that number. */
#define STORE_NUMBER(x) SPREAD("%b", x) STORE_WHOLE("%b")

/* The lowest 8 bits of g + more. */
#define BYTE(name, more)                                                                                     \
    NUMBER("%more", more) ADD("%sum", "%g", "%more") name " = \"arith.trunci\"(%sum) : (i32) -> i8\n"
#define ONE_BYTE(name, value)   name " = \"arith.constant\"() <{value = " value " : i8}> : () -> i8\n"
#define BYTES(name, what, x, y) name " = \"arith." what "\"(" x ", " y ") : (i8, i8) -> i8\n"
#define FROM_BYTE(name, how)    name " = \"arith." how "\"(%n) : (i8) -> i32\n"
#define DIVIDE(name, how, x, y) name " = \"arith." how "\"(" x ", " y ") : (i32, i32) -> i32\n"
#define LESS_BIT(name, x, y)    name " = \"arith.cmpi\"(" x ", " y ") <{predicate = 2 : i64}> : (i1, i1) -> i1\n"

#define LEAST NUMBER("%least", "-2147483648") ADD("%n", "%g", "%least")

/* What a step makes of its number, %g: 0 or 1. */
TEST(ways_are_taken_and_loops_end) {
    static const struct {
        const char *body;
        float of[2];
    } rows[] = {
        /* Two values change places three times: s = 2 * 10 + (g + 1). */
        {NUMBER("%l", "0") NUMBER("%h", "3") NUMBER("%one", "1") NUMBER("%ten", "10")
             ADD("%n", "%g",
                 "%one") "%r:2 = \"scf.for\"(%l, %h, %one, %n, %ten) ({\n^bb0(%i: i32, %p: i32, %q: i32):\n"
                         "\"scf.yield\"(%q, %p) : (i32, i32) -> ()\n}) : (i32, i32, i32, i32, i32) -> (i32, "
                         "i32)\n" ADD("%t", "%r#0", "%r#0") ADD("%s", "%t", "%r#1") STORE_NUMBER("%s"),
         {21, 22}},
        /* From 3 to 3 there is no turn; from 0 to g there are g. */
        {NUMBER("%l", "3") NUMBER("%h", "3") NUMBER("%one", "1")
             NUMBER("%five", "5") "%s = \"scf.for\"(%l, %h, %one, %five) ({\n^bb0(%i: i32, %p: i32):\n" ADD(
                 "%n", "%p", "%one") YIELD("%n") "}) : (i32, i32, i32, i32) -> i32\n" STORE_NUMBER("%s"),
         {5, 5}},
        {NUMBER("%l", "0") NUMBER("%one", "1")
             NUMBER("%five", "5") "%s = \"scf.for\"(%l, %g, %one, %five) ({\n^bb0(%i: i32, %p: i32):\n" ADD(
                 "%n", "%p", "%five") YIELD("%n") "}) : (i32, i32, i32, i32) -> i32\n" STORE_NUMBER("%s"),
         {5, 10}},
        /* A condition that is known, and one that is not, with another way and without. */
        {NUMBER("%l", "0") NUMBER("%h", "3") COMPARE("%k", "0", "%l", "%h") "%s = \"scf.if\"(%k) ({\n" YIELD(
             "%l") "}, {\n" YIELD("%h") "}) : (i1) -> i32\n" STORE_NUMBER("%s"),
         {3, 3}},
        {NUMBER("%l", "0") NUMBER("%h", "3") COMPARE("%k", "2", "%l", "%h") "%s = \"scf.if\"(%k) ({\n" YIELD(
             "%l") "}, {\n" YIELD("%h") "}) : (i1) -> i32\n" STORE_NUMBER("%s"),
         {0, 0}},
        {NUMBER("%l", "0") NUMBER("%h", "3") COMPARE("%k", "0", "%l", "%g") "%s = \"scf.if\"(%k) ({\n" YIELD(
             "%h") "}, {\n" YIELD("%l") "}) : (i1) -> i32\n" STORE_NUMBER("%s"),
         {3, 0}},
        {NUMBER("%l", "0") STORE_NUMBER("%l") NUMBER("%h", "3")
             COMPARE("%k", "0", "%l",
                     "%g") "\"scf.if\"(%k) ({\n"
                           "%d = \"vector.broadcast\"(%h) : (i32) -> vector<8x128xi32>\n"
                           "%e = \"arith.sitofp\"(%d) : (vector<8x128xi32>) -> vector<8x128xf32>\n" STORE(
                               "%e") "\"scf.yield\"() : () -> ()\n}, {\n}) : (i1) -> ()\n",
         {3, 0}},
        /* Of 5 numbers in 1 x 5 x 4 words, the dim that goes is the last of 1 x 5 x 1. */
        {CUBE_WITH_N "\"memref.store\"(%one, %m, %i0, %i3, %i3) : (i32, " CUBE(
             "4") ", index, index, index) -> ()\n"
                  "\"memref.store\"(%one, %m, %i0, %i2, %i2) : (i32, " CUBE(
                      "4") ", index, index, index) -> ()\n"
                           "%p = \"tpu.memref_slice\"(%m, %l, %l, %two) <{operandSegmentSizes = array<i32: "
                           "1, 3, "
                           "0>}> : (" CUBE("4") ", i32, i32, i32) -> " CUBE(
                               "1") "\n"
                                    "%q = \"tpu.memref_squeeze\"(%p) : (" CUBE("1") ") -> " WORDS(
                                        "1x5") "\n"
                                               "%s = \"memref.load\"(%q, %i0, %i3) : (" WORDS(
                                                   "1x5") ", index, index) -> i32\n" STORE_NUMBER("%s"),
         {2, 3}},
        /* A '?' that is known to be 1 stays, and the 1 before it goes. */
        {CUBE_WITH_N "%p = \"tpu.memref_slice\"(%m, %l, %three, %l, %one) <{operandSegmentSizes = array<i32: "
                     "1, 3, 1>}> : (" CUBE("4") ", i32, i32, i32, i32) -> " WORDS(
                         "1x?x4") "\n"
                                  "%q = \"tpu.memref_squeeze\"(%p) : (" WORDS("1x?x4") ") -> " WORDS(
                                      "?x4") "\n"
                                             "%s = \"memref.load\"(%q, %i0, %i2) : (" WORDS(
                                                 "?x4") ", index, index) -> i32\n" STORE_NUMBER("%s"),
         {2, 3}},
        /* Of 1 x 1 x 4 words one dim stays before the 4. */
        {CUBE_WITH_N
         "%p = \"tpu.memref_slice\"(%m, %l, %three, %l) <{operandSegmentSizes = array<i32: 1, 3, 0>}> "
         ": (" CUBE("4") ", i32, i32, i32) -> " WORDS(
             "1x1x4") "\n"
                      "%q = \"tpu.memref_squeeze\"(%p) : (" WORDS("1x1x4") ") -> " WORDS(
                          "1x4") "\n"
                                 "%s = \"memref.load\"(%q, %i0, %i2) : (" WORDS(
                                     "1x4") ", index, index) -> i32\n" STORE_NUMBER("%s"),
         {2, 3}},
        /* Two vectors do: 2 * 10 + (g + 1). */
        {NUMBER("%l", "0") NUMBER("%h", "3") NUMBER("%one", "1") NUMBER("%ten", "10") ADD("%n", "%g", "%one")
             SPREAD("%u", "%n") SPREAD(
                 "%v", "%ten") "%r:2 = \"scf.for\"(%l, %h, %one, %u, %v) ({\n"
                               "^bb0(%i: i32, %p: " WHOLE ", %q: " WHOLE "):\n\"scf.yield\"(%q, %p) : (" WHOLE
                               ", " WHOLE ") -> ()\n}) : (i32, i32, i32, " WHOLE ", " WHOLE ") -> (" WHOLE
                               ", " WHOLE ")\n" ADD_WHOLE("%t", "%r#0", "%r#0") ADD_WHOLE("%w", "%t", "%r#1")
                                   STORE_WHOLE("%w"),
         {21, 22}},
        /* Nothing is carried: a word grows by twos from g + 2, while it is less than 5. */
        {CUBE_WITH_N NUMBER("%five", "5") "\"scf.while\"() ({\n" WORD("%w")
             COMPARE("%k", "2", "%w", "%five") "\"scf.condition\"(%k) : (i1) -> ()\n}, {\n" WORD("%w")
                 ADD("%x2", "%w", "%two") "\"memref.store\"(%x2, %m, %i0, %i3, %i2) : (i32, " CUBE(
                     "4") ", index, index, index) -> ()\n"
                          "\"scf.yield\"() : () -> ()\n}) : () -> ()\n" WORD("%s") STORE_NUMBER("%s"),
         {6, 5}},
        /* The last of the four bytes that a scalar is spread to: g + 258, less 256. */
        {NUMBER("%two", "258") ADD(
             "%n", "%g",
             "%two") "%t = \"arith.trunci\"(%n) : (i32) -> i8\n"
                     "%b = \"vector.broadcast\"(%t) : (i8) -> vector<8x128x4xi8>\n"
                     "%u = \"tpu.unpack_subelements\"(%b) <{index = 3 : i32, pack_format = "
                     "#tpu.pack_format<compressed>, "
                     "sign_extended = true}> : (vector<8x128x4xi8>) -> vector<8x128xi32>\n" STORE_WHOLE("%u"),
         {2, 3}},
        /* A byte in all four of a word: -4 and -3. */
        {BYTE("%t", "-4") "%p = \"vector.broadcast\"(%t) : (i8) -> vector<8x128x4xi8>\n"
                          "%q = \"tpu.unpack_subelements\"(%p) <{index = 3 : i32, pack_format = "
                          "#tpu.pack_format<compressed>}> : (vector<8x128x4xi8>) -> " WHOLE
                          "\n" STORE_WHOLE("%q"),
         {-4, -3}},
        /* What is narrower than a word wraps around: twice g + 127; half of it, a tenth of g + 199, without sign. */
        {BYTE("%t", "127") BYTES("%n", "addi", "%t", "%t") FROM_BYTE("%s", "extsi") STORE_NUMBER("%s"),
         {-2, 0}},
        {BYTE("%t", "127") ONE_BYTE("%k", "1") BYTES("%n", "shrui", "%t", "%k") FROM_BYTE("%s", "extui")
             STORE_NUMBER("%s"),
         {63, 64}},
        {BYTE("%t", "199") ONE_BYTE("%k", "10") BYTES("%n", "divui", "%t", "%k") FROM_BYTE("%s", "extui")
             STORE_NUMBER("%s"),
         {19, 20}},
        {BYTE("%t", "-128") ONE_BYTE("%k", "-1") BYTES("%n", "divsi", "%t", "%k") FROM_BYTE("%s", "extsi")
             STORE_NUMBER("%s"),
         {-128, 127}},
        /* Without sign, by what is beyond 2^31: g - 2 by -1, and the rest of -1 by g - 2. */
        {NUMBER("%a2", "-2") ADD("%n", "%g", "%a2")
             NUMBER("%one", "-1") "%s = \"arith.divui\"(%n, %one) : (i32, i32) -> i32\n" STORE_NUMBER("%s"),
         {0, 1}},
        {NUMBER("%a2", "-2") ADD("%n", "%g", "%a2")
             NUMBER("%one", "-1") "%s = \"arith.remui\"(%one, %n) : (i32, i32) -> i32\n" STORE_NUMBER("%s"),
         {1, 0}},
        /* With sign, of and by g - 2^31, and by -2^31, which is its own negative. */
        {LEAST DIVIDE("%s", "divsi", "%n", "%n") STORE_NUMBER("%s"), {1, 1}},
        {LEAST DIVIDE("%s", "divsi", "%least", "%n") STORE_NUMBER("%s"), {1, 1}},
        {LEAST DIVIDE("%s", "remsi", "%least", "%n") STORE_NUMBER("%s"), {0, -1}},
        {LEAST DIVIDE("%s", "divsi", "%n", "%least") STORE_NUMBER("%s"), {1, 0}},
        {LEAST NUMBER("%most", "2147483647") DIVIDE("%s", "divsi", "%most", "%n") STORE_NUMBER("%s"),
         {0, -1}},
        {LEAST NUMBER("%minus", "-1") DIVIDE("%t", "divsi", "%n", "%minus") ADD("%s", "%t", "%least")
             STORE_NUMBER("%s"),
         {0, -1}},
        /* Of one bit with its sign, what is true is -1. */
        {NUMBER("%l", "0") COMPARE("%k", "0", "%g", "%l") COMPARE("%f", "1", "%g", "%g")
             LESS_BIT("%j", "%k", "%f") "%s = \"arith.extui\"(%j) : (i1) -> i32\n" STORE_NUMBER("%s"),
         {1, 0}},
        /* One bit wraps around, too: 1 + 1 is 0. */
        {NUMBER("%l", "0") COMPARE("%k", "0", "%g", "%l")
             COMPARE("%f", "0", "%l", "%l") "%j = \"arith.addi\"(%k, %f) : (i1, i1) -> i1\n%s = "
                                            "\"arith.extui\"(%j) : (i1) -> i32\n" STORE_NUMBER("%s"),
         {0, 1}},
        /* By twos from g, while it is less than 5. */
        {NUMBER("%five", "5") NUMBER("%two", "2") "%s = \"scf.while\"(%g) ({\n^bb0(%u: i32):\n" COMPARE(
             "%k", "2", "%u",
             "%five") "\"scf.condition\"(%k, %u) : (i1, i32) -> ()\n}, {\n^bb0(%w: i32):\n" ADD("%n", "%w",
                                                                                                "%two")
             YIELD("%n") "}) : (i32) -> i32\n" STORE_NUMBER("%s"),
         {6, 5}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        outcome o = run((sketch)TWO_STEPS(rows[i].body));
        for (int k = 0; k < 2; k++)
            if (o.values[k * 1024] != rows[i].of[k] || o.values[k * 1024 + 1023] != rows[i].of[k])
                fail_msg("row %zu: %g of %d", i, (double)o.values[k * 1024], k);
    }
}

/* Scratch of f32 in VMEM whose block of 8 x 128 number k, at the indices `at`, counts on from 1024 * (g + k). */
#define VMEM(dims, tile, strides)                                                                            \
    "memref<" dims "xf32, #tpu.tiled<(" tile "),[" strides "]>, #tpu.memory_space<vmem>>"
#define INDEX(name, value) name " = \"arith.constant\"() <{value = " value " : index}> : () -> index\n"
#define INDICES                                                                                              \
    INDEX("%i1", "1")                                                                                        \
    INDEX("%i2", "2")                                                                                        \
    INDEX("%i3", "3")                                                                                        \
    INDEX("%i8", "8")                                                                                        \
    INDEX("%i16", "16") INDEX("%i24", "24") INDEX("%i128", "128") INDEX("%k1", "1024") INDEX("%k2", "2048")
#define TIMES(name, x, y) name " = \"arith.muli\"(" x ", " y ") : (i32, i32) -> i32\n"
#define ON(name, by)                                                                                         \
    name "s = \"arith.constant\"() <{value = dense<" by                                                      \
         "> : vector<8x128xf32>}> : () -> vector<8x128xf32>\n" name " = \"arith.addf\"(%a, " name            \
         "s) : (vector<8x128xf32>, vector<8x128xf32>) -> vector<8x128xf32>\n"
#define BLOCKS LOAD ON("%a1", "1.024000e+03") ON("%a2", "2.048000e+03") ON("%a3", "3.072000e+03")
#define SCRATCH_OF(type)                                                                                     \
    "%m = \"memref.alloca\"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> " type "\n"
#define PUT(value, type, count, at, types)                                                                   \
    "\"tpu.store\"(" value ", %m, " at ") <{operandSegmentSizes = array<i32: 1, 1, " count ", 0>, " ALL      \
    "}> : (vector<8x128xf32>, " type ", " types ") -> ()\n"
#define GET(of, type, at, types)                                                                             \
    "%v = \"tpu.load\"(" of ", " at ") <{" ALL "}> : (" type ", " types                                      \
    ") -> vector<8x128xf32>\n" STORE("%"                                                                     \
                                     "v")
#define CUT(name, of, from, to, at, types)                                                                   \
    name " = \"tpu.memref_slice\"(" of ", " at ") : (" from ", " types ") -> " to "\n"

#define ROWS(n) VMEM(n "x128", "8,128", "1,1")
#define FOUR                                                                                                 \
    INDICES BLOCKS SCRATCH_OF(ROWS("32")) PUT("%a", ROWS("32"), "2", "%c, %c", "index, index")               \
        PUT("%a1", ROWS("32"), "2", "%i8, %c", "index, index")                                               \
            PUT("%a2", ROWS("32"), "2", "%i16, %c", "index, index")                                          \
                PUT("%a3", ROWS("32"), "2", "%i24, %c", "index, index") NUMBER("%z", "0") NUMBER("%n3", "3") \
                    NUMBER("%n8", "8") TIMES("%g8", "%g", "%n8")
#define WIDE VMEM("16x256", "8,128", "2,1")
#define FOUR_WIDE                                                                                            \
    INDICES BLOCKS SCRATCH_OF(WIDE) PUT("%a", WIDE, "2", "%c, %c", "index, index")                           \
        PUT("%a1", WIDE, "2", "%c, %i128", "index, index") PUT("%a2", WIDE, "2", "%i8, %c", "index, index")  \
            PUT("%a3", WIDE, "2", "%i8, %i128", "index, index") NUMBER("%n8", "8") NUMBER("%n128", "128")    \
                TIMES("%g8", "%g", "%n8") TIMES("%g128", "%g", "%n128")
#define DEEP VMEM("3x8x128", "8,128", "1,1,1")
#define THREE_DEEP                                                                                           \
    INDICES BLOCKS SCRATCH_OF(DEEP) PUT("%a", DEEP, "3", "%c, %c, %c", "index, index, index")                \
        PUT("%a1", DEEP, "3", "%i1, %c, %c", "index, index, index")                                          \
            PUT("%a2", DEEP, "3", "%i2, %c, %c", "index, index, index")
#define DEEPER VMEM("1x3x8x128", "8,128", "3,1,1,1")
#define THREE_DEEPER                                                                                         \
    INDICES BLOCKS SCRATCH_OF(DEEPER) PUT("%a", DEEPER, "4", "%c, %c, %c, %c", "index, index, index, index") \
        PUT("%a1", DEEPER, "4", "%c, %i1, %c, %c", "index, index, index, index")                             \
            PUT("%a2", DEEPER, "4", "%c, %i2, %c, %c", "index, index, index, index")
#define PLAIN "memref<24x128xf32, #tpu.memory_space<vmem>>"
#define THREE_PLAIN                                                                                          \
    INDICES BLOCKS SCRATCH_OF(PLAIN) PUT("%a", PLAIN, "2", "%c, %c", "index, index")                         \
        PUT("%a1", PLAIN, "2", "%i8, %c", "index, index") PUT("%a2", PLAIN, "2", "%i16, %c", "index, index")
#define LINE VMEM("3072", "1024", "1")
#define THREE_IN_LINE                                                                                        \
    INDICES BLOCKS SCRATCH_OF(LINE) PUT("%a", LINE, "1", "%c", "index")                                      \
        PUT("%a1", LINE, "1", "%k1", "index") PUT("%a2", LINE, "1", "%k2", "index") NUMBER("%n1024", "1024") \
            NUMBER("%n128", "128") TIMES("%g1024", "%g", "%n1024") TIMES("%g128", "%g", "%n128")

/* Two halves a word. */
#define HALVES(dims, tile, strides)                                                                          \
    "memref<" dims "xbf16, #tpu.tiled<(" tile "),[" strides "]>, #tpu.memory_space<vmem>>"
#define PAIRS HALVES("48x128", "16,128", "1,1")
#define THREE_OF_PAIRS                                                                                       \
    INDICES BLOCKS SCRATCH_OF(PAIRS) PUT("%a", PAIRS, "2", "%c, %c", "index, index")                         \
        PUT("%a1", PAIRS, "2", "%i16, %c", "index, index") INDEX("%i32", "32")                               \
            PUT("%a2", PAIRS, "2", "%i32, %c", "index, index") ADD("%g2", "%g", "%g")
#define PAIRS_IN_LINE HALVES("6144", "2048", "1")
#define THREE_PAIRS_IN_LINE                                                                                  \
    INDICES BLOCKS SCRATCH_OF(PAIRS_IN_LINE) PUT("%a", PAIRS_IN_LINE, "1", "%c", "index")                    \
        PUT("%a1", PAIRS_IN_LINE, "1", "%k2", "index") INDEX("%k4", "4096")                                  \
            PUT("%a2", PAIRS_IN_LINE, "1", "%k4", "index") NUMBER("%n256", "256")                            \
                TIMES("%g256", "%g", "%n256") INDEX("%i256", "256")

/* Where what is read begins, in steps 0 and 1: a row is 128, a block 1024. */
TEST(memrefs_begin_where_indices_say) {
    static const struct {
        const char *body;
        int begins[2];
    } rows[] = {
        {FOUR GET("%m", ROWS("32"), "%g, %c", "i32, index"), {0, 1024 + 128}},
        {FOUR GET("%m", ROWS("32"), "%g8, %c", "i32, index"), {0, 2048}},
        {FOUR GET("%m", ROWS("32"), "%i3, %c", "index, index"), {384, 1024 + 384}},
        {FOUR CUT("%p", "%m", ROWS("32"), ROWS("24"), "%g8, %z", "i32, i32")
             GET("%p", ROWS("24"), "%i3, %c", "index, index"),
         {384, 2048 + 384}},
        {FOUR CUT("%p", "%m", ROWS("32"), ROWS("31"), "%i3, %z", "index, i32")
             GET("%p", ROWS("31"), "%g8, %c", "i32, index"),
         {384, 1024 + 1024 + 384}},
        /* More terms than an address has. */
        {FOUR CUT("%p", "%m", ROWS("32"), ROWS("31"), "%g, %z", "i32, i32")
             CUT("%q", "%p", ROWS("31"), ROWS("30"), "%g, %z", "i32, i32")
                 CUT("%r", "%q", ROWS("30"), ROWS("29"), "%g, %z", "i32, i32")
                     CUT("%s", "%r", ROWS("29"), ROWS("16"), "%g8, %z", "i32, i32")
                         GET("%s", ROWS("16"), "%g, %c", "i32, index"),
         {0, 1024 + 1024 + 4 * 128}},
        {FOUR_WIDE GET("%m", WIDE, "%g8, %c", "i32, index"), {0, 1024 + 2048}},
        {FOUR_WIDE GET("%m", WIDE, "%c, %g128", "index, i32"), {0, 1024 + 1024}},
        {FOUR_WIDE GET("%m", WIDE, "%g8, %i128", "i32, index"), {1024, 1024 + 3072}},
        {THREE_DEEP GET("%m", DEEP, "%g, %c, %c", "i32, index, index"), {0, 1024 + 1024}},
        {THREE_DEEP GET("%m", DEEP, "%i2, %c, %c", "index, index, index"), {2048, 1024 + 2048}},
        /* The dim of 1 goes; tiles stay those of the last two. */
        {THREE_DEEPER "%p = \"tpu.memref_squeeze\"(%m) : (" DEEPER ") -> " DEEP
                      "\n" GET("%p", DEEP, "%g, %c, %c", "i32, index, index"),
         {0, 1024 + 1024}},
        {THREE_PLAIN GET("%m", PLAIN, "%g, %c", "i32, index"), {0, 1024 + 128}},
        {THREE_PLAIN GET("%m", PLAIN, "%i3, %c", "index, index"), {384, 1024 + 384}},
        {THREE_OF_PAIRS GET("%m", PAIRS, "%g2, %c", "i32, index"), {0, 1024 + 128}},
        {THREE_OF_PAIRS GET("%m", PAIRS, "%i2, %c", "index, index"), {128, 1024 + 128}},
        {THREE_PAIRS_IN_LINE GET("%m", PAIRS_IN_LINE, "%g256", "i32"), {0, 1024 + 128}},
        {THREE_PAIRS_IN_LINE GET("%m", PAIRS_IN_LINE, "%i256", "index"), {128, 1024 + 128}},
        {THREE_IN_LINE GET("%m", LINE, "%g1024", "i32"), {0, 1024 + 1024}},
        {THREE_IN_LINE GET("%m", LINE, "%g128", "i32"), {0, 1024 + 128}},
        {THREE_IN_LINE GET("%m", LINE, "%i128", "index"), {128, 1024 + 128}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        outcome o = run((sketch)TWO_STEPS(rows[i].body));
        for (int k = 0; k < 2 * 1024; k++)
            if (o.values[k] != (float)(rows[i].begins[k / 1024] + k % 1024))
                fail_msg("row %zu: %g at %d", i, (double)o.values[k], k);
    }
}

/* A register leads to a tile where a row within it is added: to a row of one, that could end in the next. */
TEST(rows_behind_a_register_stay_in_their_tile) {
    static const char body[] = FOUR CUT("%p", "%m", ROWS("32"), ROWS("24"), "%g, %z", "i32, i32")
        GET("%p", ROWS("24"), "%i3, %c", "index, index");
    outcome o;
    assert_false(try_run((sketch)TWO_STEPS(body), &o));
    assert_non_null(strstr(err.message, "index 1 (s"));
    assert_non_null(strstr(err.message, "is not on a tile boundary, expected a multiple of 8"));
}

/* What a region gives is the operation's. */
TEST(a_region_gives_its_result) {
    static const char body[] = "%v:2 = \"tpu.region\"() ({\n" LOAD ON(
        "%b",
        "1.000000e+03") "\"tpu.yield\"(%a, %b) : (vector<8x128xf32>, vector<8x128xf32>) -> ()\n}) : () -> "
                        "(vector<8x128xf32>, vector<8x128xf32>)\n"
                        "%w = \"arith.subf\"(%v#1, %v#0) : (vector<8x128xf32>, vector<8x128xf32>) -> "
                        "vector<8x128xf32>\n" STORE("%w");
    outcome o = run((sketch)TWO_STEPS(body));
    for (int i = 0; i < 16 * 128; i++) assert_true(o.values[i] == 1000);
}

#define DONE "memref<!tpu.dma_semaphore, #tpu.memory_space<semaphore_mem>>"

/* From the buffer that the step's block is in. */
TEST(transfers_read_the_block_of_the_step) {
    static const char body[] = SCRATCH_OF(
        ROWS("8")) "%s = \"tpu.sem_alloc\"() : () -> " DONE "\n"
                   "\"tpu.enqueue_dma\"(%x, %m, %s) <{operandSegmentSizes = array<i32: 1, 0, 1, 1, 0, 0>}> : "
                   "(" WINDOW
                   ", " ROWS("8") ", " DONE ") -> ()\n\"tpu.wait_dma2\"(%s, %x, %m) : (" DONE ", " WINDOW
                                  ", " ROWS("8") ") -> ()\n" GET("%m", ROWS("8"), "%c, %c", "index, index");
    outcome o = run((sketch){"4", same, same, body, 32, 32});
    for (int i = 0; i < 32 * 128; i++) assert_true(o.values[i] == (float)i);
}

/* The text with scratch of 8 x 128 in a memory, %h, and a semaphore, %s. */
static const char *with_scratch(const char *text, const char *memory) {
    const char *head = strstr(text, ", %y: ") + strlen(", %y: " WINDOW),
               *count = strstr(text, "scratch_operands = 0");
    ts_text t = ts_text_begin(arena);
    ts_text_add(
        &t,
        "%.*s, %%h: memref<8x128xf32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<%s>>, %%s: " DONE "%.*s"
        "scratch_operands = 2%s",
        (int)(head - text), text, memory, (int)(count - head), head, count + strlen("scratch_operands = 0"));
    return t.bytes;
}

#define COPY_WINDOW(from, to)                                                                                \
    "\"tpu.enqueue_dma\"(" from ", " to                                                                      \
    ", %s) <{operandSegmentSizes = array<i32: 1, 0, 1, 1, 0, 0>}> : (" WINDOW ", " WINDOW ", " DONE          \
    ") -> ()\n\"tpu.wait_dma2\"(%s, " from ", " to ") : (" DONE ", " WINDOW ", " WINDOW ") -> ()\n"

/* Each block waits in it for what the result gets from there; no VMEM is taken. */
TEST(scratch_may_be_in_hbm) {
    const char *text =
        text_of((sketch){"4", same, same, COPY_WINDOW("%x", "%h") COPY_WINDOW("%h", "%y"), 32, 32});
    outcome o;
    assert_true(try_text(with_scratch(text, "hbm"), &o));
    for (int i = 0; i < 32 * 128; i++) assert_true(o.values[i] == (float)i);
    for (int i = 0; i < o.program->code.tensor_count; i++) {
        const ts_tensor *t = &o.program->code.tensors[i];
        assert_int_equal(t->space, strncmp(t->name, "window", 6) == 0 ? TS_SPACE_VMEM : TS_SPACE_HBM);
    }
    assert_false(try_text(with_scratch(text, "any"), &o));
    assert_non_null(strstr(err.message, "'func.func' is not modelled: with scratch in this memory"));
}

#define COPY_ROWS(from, to)                                                                                  \
    "\"tpu.enqueue_dma\"(" from ", " to                                                                      \
    ", %s) <{operandSegmentSizes = array<i32: 1, 0, 1, 1, 0, 0>}> : (" ROWS("4") ", " ROWS(                  \
        "4") ", " DONE ") -> ()\n\"tpu.wait_dma2\"(%s, " from ", " to ") : (" DONE                           \
             ", " ROWS("4") ", " ROWS("4") ") -> ()\n"

/* The halves of each block change places. */
TEST(transfers_read_a_part_of_the_block) {
    static const char body[] = SCRATCH_OF(ROWS("8")) INDEX("%i4", "4")
        NUMBER("%z", "0") "%s = \"tpu.sem_alloc\"() : () -> " DONE
                          "\n" CUT("%x0", "%x", WINDOW, ROWS("4"), "%c, %z", "index, i32")
                              CUT("%x4", "%x", WINDOW, ROWS("4"), "%i4, %z", "index, i32")
                                  CUT("%m0", "%m", ROWS("8"), ROWS("4"), "%c, %z", "index, i32")
                                      CUT("%m4", "%m", ROWS("8"), ROWS("4"), "%i4, %z", "index, i32")
                                          COPY_ROWS("%x0", "%m4") COPY_ROWS("%x4", "%m0")
                                              GET("%m", ROWS("8"), "%c, %c", "index, index");
    outcome o = run((sketch){"4", same, same, body, 32, 32});
    for (int i = 0; i < 32 * 128; i++) assert_true(o.values[i] == (float)(i ^ 512));
}

/* Row by row from where five registers lead. */
TEST(transfers_begin_where_registers_say) {
    static const char body[] = FOUR CUT("%p", "%m", ROWS("32"), ROWS("31"), "%g, %z", "i32, i32")
        CUT("%q", "%p", ROWS("31"), ROWS("30"), "%g, %z", "i32, i32") CUT("%r", "%q", ROWS("30"), ROWS("29"),
                                                                          "%g, %z", "i32, i32")
            CUT("%t", "%r", ROWS("29"), ROWS("28"), "%g, %z", "i32, i32")
                CUT("%u", "%t", ROWS("28"), ROWS("8"), "%g, %z",
                    "i32, i32") "%o = \"memref.alloca\"() <{operandSegmentSizes = array<i32: 0, 0>}> : () "
                                "-> " ROWS("8") "\n"
                                                "%s = \"tpu.sem_alloc\"() : () -> " DONE "\n"
                                                "\"tpu.enqueue_dma\"(%u, %o, %s) <{operandSegmentSizes = "
                                                "array<i32: 1, 0, 1, 1, 0, 0>}> : "
                                                "(" ROWS("8") ", " ROWS(
                                                    "8") ", " DONE
                                                         ") -> ()\n\"tpu.wait_dma2\"(%s, %u, %o) : (" DONE
                                                         ", " ROWS("8") ", " ROWS("8") ") -> ()\n" GET(
                                                             "%o", ROWS("8"), "%c, %c", "index, index");
    outcome o = run((sketch)TWO_STEPS(body));
    for (int i = 0; i < 16 * 128; i++)
        assert_true(o.values[i] == (float)(i / 1024 * (1024 + 5 * 128) + i % 1024));
}

#define QUARTER                     VMEM("8x128", "8,128", "2,1")
#define ROWS_OF_HALVES(rows, n)     HALVES(rows "x128", "16,128)(2,1", n ",1")
#define BITCAST(name, of, from, to) name " = \"tpu.memref_bitcast\"(" of ") : (" from ") -> " to "\n"
/* The part at these rows and columns as halves of words, copied, and as words again. */
#define COPY_AS_HALVES(rows, columns, seen)                                                                  \
    FOUR_WIDE CUT("%p", "%m", WIDE, QUARTER, rows ", " columns, "i32, i32")                                  \
        BITCAST("%q", "%p", QUARTER,                                                                         \
                seen) "%o = \"memref.alloca\"() <{operandSegmentSizes = array<i32: 0, 0>}> : () "            \
                      "-> " ROWS_OF_HALVES(                                                                  \
                          "16", "1") "\n"                                                                    \
                                     "%s = \"tpu.sem_alloc\"() : () -> " DONE "\n"                           \
                                     "\"tpu.enqueue_dma\"(%q, %o, %s) <{operandSegmentSizes = "              \
                                     "array<i32: 1, 0, 1, 1, 0, 0>}> : (" seen ", " ROWS_OF_HALVES(          \
                                         "16", "1") ", " DONE ") -> ()\n"                                    \
                                                    "\"tpu.wait_dma2\"(%s, %q, %o) : (" DONE ", " seen       \
                                                    ", " ROWS_OF_HALVES("16", "1") ") -> ()\n" BITCAST(      \
                                                        "%r", "%o", ROWS_OF_HALVES("16", "1"), ROWS("8"))    \
                                                        GET("%r", ROWS("8"), "%c, %c", "index, index")

#define PART_OF_LINE      VMEM("1024", "1024", "1")
#define HALVES_OF_LINE(n) HALVES(n, "2048", "1")
#define COPY_LINE                                                                                            \
    THREE_IN_LINE CUT("%p", "%m", LINE, PART_OF_LINE, "%n1024", "i32")                                       \
        BITCAST("%q", "%p", PART_OF_LINE,                                                                    \
                HALVES_OF_LINE("2048")) "%s = \"tpu.sem_alloc\"() : () -> " DONE "\n"                        \
                                        "\"tpu.enqueue_dma\"(%q, %q, %s) <{operandSegmentSizes = "           \
                                        "array<i32: 1, 0, 1, 1, 0, 0>}> : (" HALVES_OF_LINE(                 \
                                            "2048") ", " HALVES_OF_LINE("2048") ", " DONE ") -> ()\n"

/* Its rows have to be known, to be rows, and as many bits. */
TEST(parts_are_copied_as_another_type) {
    outcome o = run((sketch)ONE_STEP(COPY_AS_HALVES("%n8", "%n128", ROWS_OF_HALVES("16", "2"))));
    for (int i = 0; i < 8 * 128; i++) assert_true(o.values[i] == (float)(3 * 1024 + i));
    o = run((sketch)TWO_STEPS(COPY_AS_HALVES("%n8", "%g128", ROWS_OF_HALVES("16", "2"))));
    for (int i = 0; i < 16 * 128; i++)
        assert_true(o.values[i] == (float)(2 * 1024 + i / 1024 * 2048 + i % 1024));
    static const char *const refused[] = {COPY_AS_HALVES("%g8", "%n128", ROWS_OF_HALVES("16", "2")),
                                          COPY_AS_HALVES("%n8", "%n128", ROWS_OF_HALVES("8", "2")),
                                          COPY_AS_HALVES("%n8", "%n128", ROWS_OF_HALVES("32", "2"))};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_false(try_run((sketch)TWO_STEPS(refused[i]), &o));
        assert_string_equal(err.message,
                            "'tpu.enqueue_dma' is not modelled: through a view with another layout");
    }
    assert_false(try_run((sketch)ONE_STEP(COPY_LINE), &o));
    assert_string_equal(err.message, "'tpu.enqueue_dma' is not modelled: through a view with another layout");
}

#define SHAPED(name, to)                name " = \"tpu.memref_reshape\"(%m) : (" ROWS("32") ") -> " to "\n"
#define SQUEEZED(name, of, from, to)    name " = \"tpu.memref_squeeze\"(" of ") : (" from ") -> " to "\n"
#define HALF(blocks)                    VMEM(blocks "x16x128", "8,128", "2,1,1")
#define QUARTERS(blocks)                VMEM(blocks "x8x128", "8,128", "1,1,1")
#define AT_BLOCK(name, of, from, to, n) CUT(name, of, from, to, n ", %z, %z", "i32, i32, i32")
#define COPY_BLOCK(from, to, type)                                                                           \
    "\"tpu.enqueue_dma\"(" from ", " to                                                                      \
    ", %s) <{operandSegmentSizes = array<i32: 1, 0, 1, 1, 0, 0>}> : (" type ", " type ", " DONE              \
    ") -> ()\n\"tpu.wait_dma2\"(%s, " from ", " to ") : (" DONE ", " type ", " type ") -> ()\n"

/* Of four blocks of 8 rows the second half is copied, and the third quarter over the first; both are added. */
TEST(parts_are_copied_through_several_views) {
    static const char body[] = FOUR NUMBER("%n1", "1") NUMBER("%n2", "2") SHAPED("%h", HALF("2")) AT_BLOCK(
        "%h1", "%h", HALF("2"), HALF("1"), "%n1") SQUEEZED("%hs", "%h1", HALF("1"), ROWS("16"))
        SHAPED("%q", QUARTERS("4")) AT_BLOCK("%q2", "%q", QUARTERS("4"), QUARTERS("1"),
                                             "%n2") SQUEEZED("%qs", "%q2", QUARTERS("1"), ROWS("8"))
            SHAPED("%r", QUARTERS("4")) AT_BLOCK("%r0", "%r", QUARTERS("4"), QUARTERS("1"), "%z") SQUEEZED(
                "%rs", "%r0", QUARTERS("1"),
                ROWS("8")) "%o = \"memref.alloca\"() <{operandSegmentSizes = array<i32: 0, 0>}> : () "
                           "-> " ROWS("16") "\n"
                                            "%s = \"tpu.sem_alloc\"() : () -> " DONE
                                            "\n" COPY_BLOCK("%hs", "%o", ROWS("16")) COPY_BLOCK(
                                                "%qs", "%rs",
                                                ROWS("8")) "%t = \"tpu.load\"(%m, %c, %c) <{" ALL
                                                           "}> : (" ROWS(
                                                               "32") ", index, index) -> vector<8x128xf32>\n"
                                                                     "%u = \"tpu.load\"(%o, %i8, %c) <{" ALL
                                                                     "}> : (" ROWS(
                                                                         "16") ", index, index) -> "
                                                                               "vector<8x128xf32>\n"
                                                                               "%v = \"arith.addf\"(%t, %u) "
                                                                               ": (vector<8x128xf32>, "
                                                                               "vector<8x128xf32>) -> "
                                                                               "vector<8x128xf32>\n" STORE(
                                                                                   "%v");
    outcome o = run((sketch)ONE_STEP(body));
    for (int i = 0; i < 8 * 128; i++) assert_true(o.values[i] == (float)(2048 + i + 3072 + i));
}

#define PARTED VMEM("1x2x8x128", "8,128", "2,1,1,1")
#define EIGHTH VMEM("1x1x8x128", "8,128", "2,1,1,1")
/* The second half as `to`, of which `cut` is copied. */
#define COPY_OF_HALF(to, cut)                                                                                \
    FOUR NUMBER("%n1", "1") SHAPED("%h", HALF("2"))                                                          \
        AT_BLOCK("%h1", "%h", HALF("2"), HALF("1"), "%n1") "%p = \"tpu.memref_reshape\"(%h1) : (" HALF(      \
            "1") ") -> " to "\n" cut                                                                         \
                 "%o = \"memref.alloca\"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> " ROWS(        \
                     "8") "\n"                                                                               \
                          "%s = \"tpu.sem_alloc\"() : () -> " DONE "\n" COPY_BLOCK("%r", "%o", ROWS("8"))    \
                              GET("%o", ROWS("8"), "%c, %c", "index, index")

/* Of a dim that is there in part no other can be made. */
TEST(parts_are_copied_in_parts) {
    static const char parted[] =
        COPY_OF_HALF(PARTED, CUT("%q", "%p", PARTED, EIGHTH, "%z, %n1, %z, %z", "i32, i32, i32, i32")
                                 SQUEEZED("%r", "%q", EIGHTH, ROWS("8"))),
                      other[] = COPY_OF_HALF(QUARTERS("2"),
                                             AT_BLOCK("%q", "%p", QUARTERS("2"), QUARTERS("1"), "%n1")
                                                 SQUEEZED("%r", "%q", QUARTERS("1"), ROWS("8")));
    outcome o = run((sketch)ONE_STEP(parted));
    for (int i = 0; i < 8 * 128; i++) assert_true(o.values[i] == (float)(3072 + i));
    assert_false(try_run((sketch)ONE_STEP(other), &o));
    assert_string_equal(err.message, "'tpu.enqueue_dma' is not modelled: through a view with another layout");
}

/* Every other sublane from the second on, the others are left as they are. */
TEST(some_sublanes_are_stored) {
    static const char body[] = LOAD ON("%a1", "1.000000e+05")
        STORE("%a") "\"tpu.store\"(%a1, %y, %c, %c) <{operandSegmentSizes = array<i32: "
                    "1, 1, 2, 0>, sublane_mask = array<i1: false, true, false, true, false, true, false, "
                    "true>, sublane_stride = "
                    "1 : i32}> : (vector<8x128xf32>, " WINDOW ", index, index) -> ()\n";
    outcome o = run((sketch)ONE_STEP(body));
    for (int i = 0; i < 8 * 128; i++) assert_true(o.values[i] == (float)(i + i / 128 % 2 * 100000));
}

TEST(elements_are_read_as_vregs) {
    static const char body[] =
        "%p = \"arith.constant\"() <{value = 0.0 : f32}> : () -> f32\n"
        "%a = \"vector.transfer_read\"(%x, %c, %c, %p) <{in_bounds = [true, true]}> : (" WINDOW
        ", index, index, f32) -> vector<8x128xf32>\n" STORE("%a");
    outcome o = run((sketch)ONE_STEP(body));
    for (int i = 0; i < 8 * 128; i++) assert_true(o.values[i] == (float)i);
}

/* ---- Products of matrices that are constant in each vreg ---- */

#define VREG "vector<8x128xf32>"

static void add_vreg_types(ts_text *t, int count) {
    for (int i = 0; i < count; i++) ts_text_add(t, "%s" VREG, i > 0 ? ", " : "");
}

static void add_rolled(ts_text *t, const char *name, const char *vregs, int count) {
    ts_text_add(t, "%s = \"tpu.roll_vectors\"(%s) {out_layout = [#tpu.vpad<\"32,{0,0},(8,128)\">]} : (", name,
                vregs);
    add_vreg_types(t, count);
    ts_text_add(t, ") -> vector<%dx128xf32>\n", 8 * count);
}

/* left * ones + sums: each is a list of vregs; the results are <name>#0 .. */
static void add_times_ones(ts_text *t, const char *name, const char *left, const char *sums, int count) {
    add_rolled(t, "%l", left, count);
    add_rolled(t, "%s", sums, count);
    ts_text_add(
        t,
        "%%q = \"tpu.matmul\"(%%l, %%ones, %%s) <{dimension_numbers = #tpu.dot_dimension_numbers<[1], [0], "
        "[0], [1], [0, 0, 1, 1], [], []>, transpose_lhs = false, transpose_rhs = false}> : "
        "(vector<%dx128xf32>, vector<128x128xf32>, vector<%dx128xf32>) -> vector<%dx128xf32>\n",
        8 * count, 8 * count, 8 * count);
    ts_text_add(t,
                "%s:%d = \"tpu.unroll_vectors\"(%%q) {in_layout = [#tpu.vpad<\"32,{0,0},(8,128)\">]} : "
                "(vector<%dx128xf32>) -> (",
                name, count, 8 * count);
    add_vreg_types(t, count);
    ts_text_add(t, ")\n");
}

/* Products that follow each other go together, but for those of other sizes, and those that need results of one before other
 * than as the sums of the same rows. */
TEST(products_wait_for_what_they_need) {
    static const struct {
        struct {
            const char *name, *left, *sums;
            int count;
        } products[5];
        const char *stored;
        float value;
    } rows[] = {
        {{{"%p", "%v1", "%v0", 1},
          {"%q1", "%v2", "%v0", 1},
          {"%q2", "%v3", "%v0", 1},
          {"%q3", "%v4", "%v0", 1},
          {"%r", "%v1, %v2, %v3, %v4", "%v0, %v0, %v0, %v0", 4}},
         "%r#3",
         4 * 128},
        {{{"%p", "%v1, %v2", "%v0, %v0", 2}, {"%r", "%v3, %v4", "%p#0, %p#1", 2}}, "%r#1", (2 + 4) * 128},
        {{{"%p", "%v1, %v2", "%v0, %v0", 2}, {"%r", "%v3, %v4", "%p#1, %p#0", 2}}, "%r#0", (2 + 3) * 128},
        {{{"%p", "%v1, %v2, %v3", "%v0, %v0, %v0", 3}, {"%r", "%v2, %v4, %v3", "%p#0, %p#2, %p#1", 3}},
         "%r#1",
         (3 + 4) * 128},
        {{{"%p", "%v1, %v2", "%v0, %v0", 2}, {"%r", "%p#1, %p#0", "%v1, %v2", 2}}, "%r#1", 128 * 128 + 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_text t = ts_text_begin(arena);
        for (int v = 0; v < 5; v++)
            ts_text_add(&t,
                        "%%v%d = \"arith.constant\"() <{value = dense<%d.0> : " VREG "}> : () -> " VREG "\n",
                        v, v);
        add_rolled(&t, "%ones",
                   "%v1, %v1, %v1, %v1, %v1, %v1, %v1, %v1, %v1, %v1, %v1, %v1, %v1, %v1, %v1, %v1", 16);
        for (int k = 0; k < 5 && rows[i].products[k].name; k++)
            add_times_ones(&t, rows[i].products[k].name, rows[i].products[k].left, rows[i].products[k].sums,
                           rows[i].products[k].count);
        ts_text_add(&t,
                    "\"tpu.store\"(%s, %%y, %%c, %%c) <{operandSegmentSizes = array<i32: 1, 1, 2, 0>, " ALL
                    "}> : (" VREG ", " WINDOW ", index, index) -> ()\n",
                    rows[i].stored);
        outcome o = run((sketch)ONE_STEP(t.bytes));
        for (int k = 0; k < 8 * 128; k++)
            if (o.values[k] != rows[i].value) fail_msg("row %zu: %g at %d", i, (double)o.values[k], k);
    }
}

/* A row within a tile is counted from the tile's first: a register that leads to another row is told. */
TEST(registers_lead_to_tiles) {
    static const struct {
        const char *body, *message;
    } rows[] = {
        {FOUR CUT("%p", "%m", ROWS("32"), ROWS("24"), "%g, %z", "i32, i32")
             GET("%p", ROWS("24"), "%i3, %c", "index, index"),
         "is not on a tile boundary, expected a multiple of 8"},
        {THREE_OF_PAIRS GET("%m", PAIRS, "%g, %c", "i32, index"),
         "is not on a tile boundary, expected a multiple of 2"},
        {THREE_OF_PAIRS GET("%m", PAIRS, "%c, %g", "index, i32"),
         "is not on a tile boundary, expected a multiple of 128"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        outcome o;
        assert_false(try_run((sketch)TWO_STEPS(rows[i].body), &o));
        if (!strstr(err.message, rows[i].message)) fail_msg("row %zu: %s", i, err.message);
        assert_int_equal(err.kind, TS_ERROR_FAULT);
    }
}

/* A vreg of words and one of halves that are not known. */
#define SPLAT                                                                                                \
    "%v = \"tpu.iota\"() <{dimensions = array<i32: 1>}> : () -> vector<8x128xi32>\n"                         \
    "%h = \"tpu.bitcast_vreg\"(%v) : (vector<8x128xi32>) -> vector<8x128x2xi16>\n"

#define SEMAPHORES(dims) "memref<" dims "x!tpu.semaphore, #tpu.memory_space<semaphore_mem>>"

static const struct {
    sketch s;
    ts_error_kind kind;
    const char *message;
} refused[] = {
    {TWO_STEPS("%s = \"tpu.sem_alloc\"() : () -> " SEMAPHORES("4097") "\n"), TS_ERROR_UNMODELLED,
     "'tpu.sem_alloc' is not modelled: of this type"},
    {TWO_STEPS("%s = \"tpu.sem_alloc\"() : () -> " SEMAPHORES("64x65") "\n"), TS_ERROR_UNMODELLED,
     "'tpu.sem_alloc' is not modelled: of this type"},
    {TWO_STEPS(BITS("%p")), TS_ERROR_UNMODELLED,
     "'tpu.prng_random_bits' is not modelled: before a seed is set"},
    {TWO_STEPS("\"tpu.sort\"() : () -> () loc(\"k.py\":9:1)\n"), TS_ERROR_UNMODELLED,
     "'tpu.sort' is not modelled: only SparseCores have it (k.py:9)"},
    {TWO_STEPS("%c = \"arith.constant\"() <{value = 1 : i1}> : () -> i1\n\"cf.assert\"(%c) <{msg = \"\"}> : "
               "(i1) -> "
               "()\n"),
     TS_ERROR_UNMODELLED,
     "'cf.assert' is not modelled: a debug check, which kernels lowered without pl.enable_debug_checks do "
     "not have"},
    {TWO_STEPS("%k = \"arith.constant\"() <{value = dense<[1, 2]> : vector<8x128xf32>}> : () -> "
               "vector<8x128xf32>\n"),
     TS_ERROR_UNMODELLED, "'arith.constant' is not modelled: of different values"},
    {{"-9223372036854775808", same, same, COPY, 16, 16},
     TS_ERROR_UNMODELLED,
     "'func.func' is not modelled: with a dynamic grid"},
    {TWO_STEPS(SCRATCH_OF(ROWS("16")) NUMBER("%z", "0") NUMBER("%n9", "9")
                   CUT("%p", "%m", ROWS("16"), ROWS("8"), "%n9, %z",
                       "i32, i32") "%s = \"tpu.sem_alloc\"() : () -> " DONE
                                   "\n\"tpu.enqueue_dma\"(%x, %p, %s) <{operandSegmentSizes = "
                                   "array<i32: 1, 0, 1, 1, 0, 0>}> : (" WINDOW
                                   ", " ROWS("8") ", " DONE ") -> () loc(\"k.py\":9:1)\n"),
     TS_ERROR_INPUT, "a slice of 8 from 9 on is outside of dim 0, which has 16 (k.py:9)"},
    {TWO_STEPS(SCRATCH_OF(ROWS("16")) NUMBER("%z", "0") NUMBER("%n9", "-1")
                   CUT("%p", "%m", ROWS("16"), ROWS("8"), "%n9, %z",
                       "i32, i32") "%s = \"tpu.sem_alloc\"() : () -> " DONE
                                   "\n\"tpu.enqueue_dma\"(%x, %p, %s) <{operandSegmentSizes = "
                                   "array<i32: 1, 0, 1, 1, 0, 0>}> : (" WINDOW
                                   ", " ROWS("8") ", " DONE ") -> () loc(\"k.py\":9:1)\n"),
     TS_ERROR_INPUT, "a slice of 8 from -1 on is outside of dim 0, which has 16 (k.py:9)"},
    {{"2, 2", same, same, COPY, 16, 16},
     TS_ERROR_INPUT,
     "'func.func': expected as many arguments as grid dims, operands and scratch"},
    {TWO_STEPS("%k = \"tpu.load\"(%x, %c) : (" WINDOW ", index) -> vector<8x128xf32>\n"), TS_ERROR_INPUT,
     "'tpu.load': expected an index for each dim"},
    {TWO_STEPS(
         "%k = \"arith.constant\"() <{value = 3 : index}> : () -> index\n%l = \"tpu.load\"(%x, %c, %k) <{" ALL
         "}> : (" WINDOW ", index, index) -> vector<8x128xf32>\n"),
     TS_ERROR_UNMODELLED, "'tpu.load' is not modelled: at an index inside a word or a row of lanes"},
    {TWO_STEPS(
         SPLAT
         "%r = \"arith.cmpi\"(%v, %v) <{predicate = 10 : i64}> : (vector<8x128xi32>, vector<8x128xi32>) "
         "-> vector<8x128xi1>\n"),
     TS_ERROR_INPUT, "'arith.cmpi': expected a predicate"},
    {TWO_STEPS(
         SPLAT
         "%r = \"arith.cmpi\"(%v, %v) <{predicate = -1 : i64}> : (vector<8x128xi32>, vector<8x128xi32>) "
         "-> vector<8x128xi1>\n"),
     TS_ERROR_INPUT, "'arith.cmpi': expected a predicate"},
    {TWO_STEPS(SPLAT "%r = \"tpu.matmul\"(%v, %v, %v) <{dimension_numbers = #tpu.dot_dimension_numbers<[1], "
                     "[1], [0], [0], "
                     "[0, 0, 1, 0], [], []>}> : (vector<8x128xi32>, vector<8x128xi32>, vector<8x128xi32>) -> "
                     "vector<8x128xi32>\n"),
     TS_ERROR_UNMODELLED,
     "'tpu.matmul' is not modelled: of such types, expected bf16, f32, f8e5m2, f8e4m3fn, f8e4m3b11fnuz, s8 "
     "or s4"},
    {TWO_STEPS(SPLAT "%r = \"tpu.unpack_subelements\"(%h) <{index = 2 : i32, pack_format = "
                     "#tpu.pack_format<compressed>}> : (vector<8x128x2xi16>) -> vector<8x128xi32>\n"),
     TS_ERROR_UNMODELLED, "'tpu.unpack_subelements' is not modelled: of such types"},
    {TWO_STEPS(SPLAT "%r = \"tpu.unpack_subelements\"(%h) <{index = -1 : i32, pack_format = "
                     "#tpu.pack_format<compressed>}> : (vector<8x128x2xi16>) -> vector<8x128xi32>\n"),
     TS_ERROR_UNMODELLED, "'tpu.unpack_subelements' is not modelled: of such types"},
    {TWO_STEPS(
         SPLAT
         "%r = \"tpu.unpack_subelements\"(%h) <{index = 0 : i32, pack_format = #tpu.pack_format<mixed>}> "
         ": (vector<8x128x2xi16>) -> vector<8x128xi32>\n"),
     TS_ERROR_INPUT, "'tpu.unpack_subelements': expected a pack_format"},
    {TWO_STEPS(SPLAT "%r = \"tpu.unpack_subelements\"(%h) <{pack_format = #tpu.pack_format<compressed>}> : "
                     "(vector<8x128x2xi16>) -> vector<8x128xi32>\n"),
     TS_ERROR_INPUT, "'tpu.unpack_subelements': expected a vreg and an index"},
    {TWO_STEPS(
         SPLAT
         "%r = \"tpu.pack_subelements\"(%v, %v) <{pack_format = #tpu.pack_format<compressed>, positions = "
         "array<i32: 0>}> : (vector<8x128xi32>, vector<8x128xi32>) -> vector<8x128x2xi16>\n"),
     TS_ERROR_INPUT, "'tpu.pack_subelements': expected a position of each operand"},
    {TWO_STEPS(
         SPLAT
         "%r = \"tpu.pack_subelements\"(%v, %v) <{pack_format = #tpu.pack_format<compressed>, positions = "
         "array<i32: 0, 2>}> : (vector<8x128xi32>, vector<8x128xi32>) -> vector<8x128x2xi16>\n"),
     TS_ERROR_INPUT, "'tpu.pack_subelements': expected vregs and their positions"},
    {TWO_STEPS(
         SPLAT
         "%k = \"arith.cmpi\"(%v, %v) <{predicate = 0 : i64}> : (vector<8x128xi32>, vector<8x128xi32>) -> "
         "vector<8x128xi1>\n%r = \"tpu.pack_vmsk\"(%k, %k) {positions = array<i32: 1, 0>} : "
         "(vector<8x128xi1>, "
         "vector<8x128xi1>) -> vector<8x128x2xi1>\n"),
     TS_ERROR_UNMODELLED, "'tpu.pack_vmsk' is not modelled: of these shapes"},
    {TWO_STEPS(SPLAT "%r = \"tpu.broadcast_in_sublanes\"(%h) <{lane = 0 : i32}> : (vector<8x128x2xi16>) -> "
                     "vector<8x128x2xi16>\n"),
     TS_ERROR_UNMODELLED, "'tpu.broadcast_in_sublanes' is not modelled: of packed values"},
    {TWO_STEPS(SPLAT "%r = \"tpu.broadcast_in_sublanes\"(%v) <{lane = 128 : i32}> : (vector<8x128xi32>) -> "
                     "vector<8x128xi32>\n"),
     TS_ERROR_UNMODELLED, "'tpu.broadcast_in_sublanes' is not modelled: of packed values"},
    {TWO_STEPS(
         SPLAT
         "%r = \"vector.extract\"(%h) <{static_position = array<i64: 0, 0, 0>}> : (vector<8x128x2xi16>) "
         "-> i16\n"),
     TS_ERROR_UNMODELLED, "'vector.extract' is not modelled: of these operands"},
    {TWO_STEPS(SPLAT "%r = \"tpu.pack_elementwise\"(%v, %v) : (vector<8x128xi32>, vector<8x128xi32>) -> "
                     "vector<8x128xi32>\n"),
     TS_ERROR_INPUT, "'tpu.pack_elementwise': expected target_type"},
    {TWO_STEPS(SPLAT "%s = \"arith.constant\"() <{value = 5 : i32}> : () -> i32\n"
                     "%z = \"arith.constant\"() <{value = 0 : i32}> : () -> i32\n"
                     "%r = \"arith.divui\"(%s, %z) : (i32, i32) -> i32\n"),
     TS_ERROR_UNMODELLED, "'arith.divui' is not modelled: by 0"},
    {TWO_STEPS(
         "%z = \"arith.constant\"() <{value = 0 : i32}> : () -> i32\n"
         "%r = \"tpu.memref_slice\"(%x, %z, %z) : (memref<16x128xf32, #tpu.memory_space<vmem>>, i32, i32) -> "
         "memref<?x128xf32, #tpu.memory_space<vmem>>\n"),
     TS_ERROR_INPUT, "'tpu.memref_slice': expected sizes that are scalars"},
    {TWO_STEPS("%z = \"arith.constant\"() <{value = 0 : i32}> : () -> i32\n"
               "%n = \"arith.constant\"() <{value = -1 : i32}> : () -> i32\n"
               "%r = \"tpu.memref_slice\"(%x, %z, %z, %n) : (memref<16x128xf32, #tpu.memory_space<vmem>>, "
               "i32, i32, "
               "i32) -> "
               "memref<?x128xf32, #tpu.memory_space<vmem>>\n"),
     TS_ERROR_INPUT, "'tpu.memref_slice': expected sizes that are not negative"},
    {TWO_STEPS(SPLAT
               "%r = \"tpu.sublane_shuffle\"(%v, %v) <{pattern = array<i32: 0, 1, 2, 3, 4, 5, 6, 16>}> : "
               "(vector<8x128xi32>, vector<8x128xi32>) -> vector<8x128xi32>\n"),
     TS_ERROR_INPUT, "'tpu.sublane_shuffle': expected sublanes from 0 to 15"},
    {TWO_STEPS(SPLAT "%r = \"tpu.broadcast_in_sublanes\"(%v) <{lane = 128 : i32}> : (vector<8x128xi32>) -> "
                     "vector<8x128xi32>\n"),
     TS_ERROR_UNMODELLED, "'tpu.broadcast_in_sublanes' is not modelled: of packed values"},
    {TWO_STEPS(
         SPLAT
         "%r = \"tpu.dynamic_rotate\"(%v, %c) <{dimension = 1 : si32, stride = 1 : si32, stride_dimension "
         "= 1 : si32}> : (vector<8x128xi32>, i32) -> vector<8x128xi32>\n"),
     TS_ERROR_UNMODELLED, "'tpu.dynamic_rotate' is not modelled: with a stride along the same dim"},
    {TWO_STEPS(SPLAT "%r = \"tpu.iteration_bound\"() <{dim = 1 : i32}> : () -> i32\n"), TS_ERROR_INPUT,
     "'tpu.iteration_bound': expected a dim of the grid"},
    {TWO_STEPS("\"scf.for\"(%c, %c) ({}) : (index, index) -> ()\n"), TS_ERROR_INPUT,
     "'scf.for': expected bounds, a step and a region of one block"},
    {TWO_STEPS("%k = \"tpu.load\"(%x, %c, %c) <{" ALL "}> : (" WINDOW
               ", index, index) -> vector<0x128xf32>\n"),
     TS_ERROR_INPUT,
     "'tpu.load': found vector<0x128xf32>, expected a vreg, as vector<8x128xf32> or vector<8x128x2xbf16>"},
    {TWO_STEPS("%k = \"tpu.load\"(%x, %c, %c) <{" ALL "}> : (" WINDOW
               ", index, index) -> vector<1000000x128xf32>\n"),
     TS_ERROR_INPUT,
     "'tpu.load': found vector<1000000x128xf32>, expected a vreg, as vector<8x128xf32> or "
     "vector<8x128x2xbf16>"},
    {TWO_STEPS("%k = \"tpu.load\"(%x, %c, %c) <{" ALL "}> : (" WINDOW ", index, index) -> vector<128xf32>\n"),
     TS_ERROR_INPUT,
     "'tpu.load': found vector<128xf32>, expected a vreg, as vector<8x128xf32> or vector<8x128x2xbf16>"},
    {TWO_STEPS("%k = \"tpu.load\"(%x, %c, %c) <{" ALL "}> : (" WINDOW
               ", index, index) -> vector<8x256xf32>\n"),
     TS_ERROR_INPUT,
     "'tpu.load': found vector<8x256xf32>, expected a vreg, as vector<8x128xf32> or vector<8x128x2xbf16>"},
    {TWO_STEPS(SPLAT "%r = \"tpu.bitcast_vreg\"(%v) : (vector<8x128xi32>) -> vector<8x128x4xi16>\n"),
     TS_ERROR_INPUT,
     "'tpu.bitcast_vreg': found vector<8x128x4xi16>, expected a vreg, as vector<8x128xf32> or "
     "vector<8x128x2xbf16>"},
    {TWO_STEPS(
         SPLAT
         "%r = \"arith.addi\"(%v, %v) : (vector<8x128xi32>, vector<8x128xi32>) -> vector<16x128xi32>\n"),
     TS_ERROR_INPUT,
     "'arith.addi': found vector<16x128xi32>, expected a vreg, as vector<8x128xf32> or vector<8x128x2xbf16>"},
    {TWO_STEPS("%q = \"arith.divf\"(%c) : (index) -> index\n"), TS_ERROR_INPUT,
     "'arith.divf': expected two operands"},
    {TWO_STEPS(SPLAT "%q = \"math.ctpop\"(%v, %v) : (" WHOLE ", " WHOLE ") -> " WHOLE "\n"), TS_ERROR_INPUT,
     "'math.ctpop': expected one operand"},
    {TWO_STEPS(SPLAT "%q = \"arith.cmpi\"(%v, %v, %v) <{predicate = 0 : i64}> : (" WHOLE ", " WHOLE ", " WHOLE
                     ") -> vector<8x128xi1>\n"),
     TS_ERROR_INPUT, "'arith.cmpi': expected two operands"},
    {TWO_STEPS("\"scf.if\"(%x) ({}) : (" WINDOW ") -> ()\n"), TS_ERROR_INPUT,
     "'scf.if': expected a condition and a region"},
    {TWO_STEPS(COMPARE("%k", "0", "%g", "%g") "%s = \"scf.if\"(%k) ({\n" YIELD(
         "%g") "}, {\n\"scf.yield\"() : () -> ()\n}) : (i1) -> i32\n"),
     TS_ERROR_INPUT, "'scf.if': expected a yield of as many values as results"},
    {TWO_STEPS(SPLAT COMPARE("%k", "0", "%g", "%g") "%s = \"scf.if\"(%k) ({\n" YIELD("%g") "}, {\n" YIELD(
         "%v") "}) : (i1) -> i32\n"),
     TS_ERROR_INPUT, "'scf.if': expected the same kind of value on both ways"},
    {TWO_STEPS("%s = \"scf.for\"(%g, %g, %g, %g) ({\n^bb0(%i: i32, %p: i32):\n\"scf.yield\"() : () -> ()\n}) "
               ": (i32, "
               "i32, i32, i32) -> i32\n"),
     TS_ERROR_INPUT, "'scf.for': expected a yield of what is carried"},
    {TWO_STEPS("\"scf.for\"(%g, %g, %g, %g) ({\n^bb0(%i: i32):\n\"scf.yield\"() : () -> ()\n}) : (i32, i32, "
               "i32, i32) "
               "-> ()\n"),
     TS_ERROR_INPUT, "'scf.for': expected as many arguments as values"},
    {TWO_STEPS("\"scf.while\"(%g) ({\n^bb0(%u: i32):\n}) : (i32) -> ()\n"), TS_ERROR_INPUT,
     "'scf.while': expected two regions of one block"},
    {TWO_STEPS(
         "\"scf.while\"(%g) ({\n^bb0(%u: i32):\n\"scf.condition\"() : () -> ()\n}, {\n^bb0(%w: i32):\n" YIELD(
             "%w") "}) : (i32) -> ()\n"),
     TS_ERROR_INPUT, "'scf.while': expected a condition"},
    {TWO_STEPS(SPLAT
               "\"scf.while\"(%g) ({\n^bb0(%u: i32):\n\"scf.condition\"(%v) : (vector<8x128xi32>) -> ()\n}, "
               "{\n^bb0(%w: i32):\n" YIELD("%w") "}) : (i32) -> ()\n"),
     TS_ERROR_INPUT, "'scf.while': expected a condition"},
    {TWO_STEPS(COMPARE(
         "%k", "0", "%g",
         "%g") "\"scf.while\"(%g) ({\n^bb0(%u: i32):\n\"scf.condition\"(%k, %u) : (i1, i32) -> ()\n}, "
               "{\n^bb0(%w: i32):\n\"scf.yield\"() : () -> ()\n}) : (i32) -> ()\n"),
     TS_ERROR_INPUT, "'scf.while': expected a yield of what is carried"},
    {TWO_STEPS("\"tpu.delay\"(%x) : (" WINDOW ") -> ()\n"), TS_ERROR_INPUT, "'tpu.delay': expected a scalar"},
    {TWO_STEPS("%m = \"memref.alloca\"() : () -> memref<8x128xf32, #tpu.memory_space<any>>\n"),
     TS_ERROR_UNMODELLED, "'memref.alloca' is not modelled: of this memory"},
    {TWO_STEPS("%m = \"memref.alloca\"() : () -> memref<16x128xf32, "
               "#tpu.tiled<(2147483647,1)(2,1073741823),[1,1]>, "
               "#tpu.memory_space<vmem>>\n"),
     TS_ERROR_INPUT,
     "f32[16,128]{1,0:T(2147483647,1)(2,1073741823)}: the padded size of the layout does not fit in 64 bits"},
    {TWO_STEPS("%m = \"memref.alloca\"() : () -> i32\n"), TS_ERROR_UNMODELLED,
     "'memref.alloca' is not modelled: of this memory"},
};

TEST(what_is_not_modelled_is_refused) {
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        assert_null(read_text(text_of(refused[i].s)));
        assert_string_equal(err.message, refused[i].message);
        assert_int_equal(err.kind, refused[i].kind);
        assert_true(err.line > 0);
    }
}

/* A module of a window, a moving one and scratch: rows of 512 bytes, of 134,217,728 that there are. */
static void read_sized(int window, int moving, int scratch) {
    char text[4096];
    snprintf(
        text, sizeof text,
        "\"m\"() ({\n\"func.func\"() <{sym_name = \"main\"}> ({\n^bb0(%%i: i32, %%x: memref<%dx128xf32, "
        "#tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>, %%y: memref<%dx128xf32, "
        "#tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>, %%s: memref<%dx128xf32, "
        "#tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>):\n\"func.return\"() : () -> ()\n})"
        "{iteration_bounds = array<i64: 2>, scratch_operands = 1 : i64, window_params = [{}, "
        "{transform_indices = @t}]} : () -> ()\n\"func.func\"() <{sym_name = \"t\"}> ({\n^bb0(%%i: i32):\n"
        "%%c = \"arith.constant\"() <{value = 0 : i32}> : () -> i32\n\"func.return\"(%%i, %%c) : (i32, i32) "
        "-> ()\n}) : () -> ()\n}) {tilesim.operands = [tensor<%dx128xf32>, tensor<%dx128xf32>], "
        "tilesim.results = 1 : i64} : () -> ()\n",
        window, moving, scratch, window, 2 * moving);
    const ts_program *program = read_text(text);
    assert_int_equal(program == NULL, err.message[0] != '\0');
}

TEST(what_does_not_fit_is_told_by_its_parts) {
    read_sized(1 << 20, 8, 16);
    assert_string_equal(
        err.message,
        "the kernel takes 536,887,296 bytes of vmem, tpu-v5e has 134,217,728 (402,669,568 too many): "
        "window_0 536,870,912, window_1 8,192 (2 buffers), scratch0 8,192");
    assert_int_equal(err.kind, TS_ERROR_INPUT);
    assert_true(err.line > 0);
    read_sized(1 << 17, 1 << 16, 1 << 16);
    assert_non_null(strstr(err.message, "takes 167,772,160 bytes of vmem"));
    assert_non_null(
        strstr(err.message, "window_0 67,108,864, window_1 67,108,864 (2 buffers), scratch0 33,554,432"));
    read_sized(1 << 16, 1 << 16, 1 << 16); /* just all of it */
    assert_string_equal(err.message, "");
    read_sized(1 << 16, 1 << 16, (1 << 16) + 8);
    assert_non_null(strstr(err.message, "(4,096 too many)"));
}

#define MEMREF(rows)        "memref<" rows "x128xf32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>"
#define SCRATCH(name, rows) name " = \"tpu.internal_scratch\"() : () -> " MEMREF(rows) "\n"

/* What is written through one is read through another, and all take as much as the largest. */
TEST(internal_scratch_is_one_memory) {
    static const char body[] = SCRATCH("%p", "8") LOAD
        "\"tpu.store\"(%a, %p, %c, %c) <{operandSegmentSizes = array<i32: 1, 1, 2, 0>, " ALL
        "}> : (vector<8x128xf32>, " MEMREF("8") ", index, index) -> ()\n" SCRATCH("%q", "24")
            SCRATCH("%r", "16") "%b = \"tpu.load\"(%q, %c, %c) <{" ALL
                                "}> : (" MEMREF("24") ", index, index) -> vector<8x128xf32>\n" STORE("%b");
    outcome o = run((sketch)TWO_STEPS(body));
    for (int i = 0; i < 16 * 128; i++) assert_true(o.values[i] == (float)i);
    assert_int_equal(bytes_of(o.program, "internal_scratch"), 24 * 512);
}

/* Texts have six digits of them: 1.4453125 is printed as 1.44531, which lies below it. */
TEST(constants_of_bf16_are_the_nearest) {
    static const char *const bodies[] = {
        "%h = \"arith.constant\"() <{value = dense<1.445310e+00> : vector<8x128x2xbf16>}> : () -> "
        "vector<8x128x2xbf16>\n",
        "%s = \"arith.constant\"() <{value = 1.445310e+00 : bf16}> : () -> bf16\n"
        "%h = \"vector.broadcast\"(%s) : (bf16) -> vector<8x128x2xbf16>\n",
    };
    for (int i = 0; i < 2; i++) {
        char body[2048];
        snprintf(body, sizeof body, "%s%s%s", bodies[i],
                 "%r = \"tpu.bitcast_vreg\"(%h) : (vector<8x128x2xbf16>) -> vector<8x128xf32>\n",
                 LOAD STORE("%r"));
        outcome o = run((sketch)TWO_STEPS(body));
        assert_memory_equal(o.values, (&(uint32_t){0x3fb93fb9}), 4);
    }
}

/* Of a seed, words of a vreg are Threefry's of its places, those of the next vreg of the places behind. */
#define SEED(seeds, types) "\"tpu.prng_set_seed_32\"(" seeds ") : (" types ") -> ()\n"
#define AS_F32(to, from)   to " = \"tpu.bitcast_vreg\"(" from ") : (vector<8x128xi32>) -> vector<8x128xf32>\n"
TEST(random_bits_are_those_of_the_seed) {
    static const char body[] = LOAD SEED("%g", "i32") BITS("%p") BITS("%q") AS_F32("%r", "%q") STORE("%r"),
                      folded[] = LOAD SEED("%g, %g", "i32, i32") BITS("%p") AS_F32("%r", "%p") STORE("%r");
    uint32_t one[2048], two[2048];
    memcpy(one, run((sketch)TWO_STEPS(body)).values, sizeof one);
    memcpy(two, run((sketch)TWO_STEPS(folded)).values, sizeof two);
    assert_int_equal(two[0], 0x6b200159); /* the authors' known answer of zeros */
    assert_memory_not_equal(one, two, 4096);
    assert_memory_not_equal(one, one + 1024, 4096);
    memcpy(two, run((sketch)TWO_STEPS(body)).values, sizeof two);
    assert_memory_equal(one, two, sizeof one);
}

/* "%x, %x, .." of what fills a word, and its types. */
static const char *times(const char *word, int count) {
    ts_text t = ts_text_begin(arena);
    for (int i = 0; i < count; i++) ts_text_add(&t, "%s%s", i > 0 ? ", " : "", word);
    return t.bytes;
}

/* Packs %v, words of type `from`, `count` times as `to`; %w is the first of them again, of type `words` by way of `as`. */
static const char *through(const char *from, const char *to, const char *as, const char *words, int count) {
    ts_text t = ts_text_begin(arena);
    ts_text_add(
        &t,
        "%%p = \"tpu.pack_subelements\"(%s) <{pack_format = #tpu.pack_format<compressed>, positions = "
        "array<i32: %s>}> : (%s) -> vector<8x128x%dx%s>\n"
        "%%q = \"tpu.bitcast_vreg\"(%%p) : (vector<8x128x%dx%s>) -> vector<8x128x%dx%s>\n",
        times("%v", count), count == 4 ? "0, 1, 2, 3" : "0, 1, 2, 3, 4, 5, 6, 7", times(from, count), count,
        to, count, to, count, as);
    ts_text_add(&t,
                "%%w = \"tpu.unpack_subelements\"(%%q) <{index = 0 : i32, pack_format = "
                "#tpu.pack_format<compressed>}> : (vector<8x128x%dx%s>) -> %s\n",
                count, as, words);
    return t.bytes;
}

typedef struct {
    const char *name;
    ts_dtype dtype;
    const char *integer, *unit;
    float scale; /* the unit as a number */
} small_float;

static const float *values_of(const char *head, const char *convert, const char *tail) {
    ts_text t = ts_text_begin(arena);
    ts_text_add(&t, "%s%s%s", head, convert, tail);
    return run((sketch)TWO_STEPS(t.bytes)).values;
}

static void check_codes(const small_float *f, const ts_dtype_info *type) {
    const uint32_t mask = (1u << type->value_bits) - 1;
    const float *found =
        values_of(LOAD "%v = \"arith.fptosi\"(%a) : (" FLOATS ") -> " WHOLE "\n",
                  through(WHOLE, f->integer, f->name, FLOATS, 32 / type->value_bits), STORE("%w"));
    for (uint32_t k = 0; k < 2048; k++) {
        float wanted = ts_float_decode(type->format, k & mask);
        if (ts_f32_bits(found[k]) != ts_f32_bits(wanted) && (found[k] == found[k] || wanted == wanted))
            fail_msg("%s %02x: %g, expected %g", f->name, k & mask, (double)found[k], (double)wanted);
    }
}

static void check_values(const small_float *f, const ts_dtype_info *type) {
    const uint32_t mask = (1u << type->value_bits) - 1;
    ts_text head = ts_text_begin(arena);
    ts_text_add(&head, "%s",
                LOAD "%m = \"arith.constant\"() <{value = dense<1.024e3> : " FLOATS "}> : () -> " FLOATS
                     "\n%s = \"arith.subf\"(%a, %m) : (" FLOATS ", " FLOATS ") -> " FLOATS "\n");
    ts_text_add(&head, "%%n = \"arith.constant\"() <{value = dense<%s> : " FLOATS "}> : () -> " FLOATS "\n",
                f->unit);
    ts_text_add(&head, "%s", "%v = \"arith.mulf\"(%s, %n) : (" FLOATS ", " FLOATS ") -> " FLOATS "\n");
    const float *found = values_of(
        head.bytes, through(FLOATS, f->name, f->integer, WHOLE, 32 / type->value_bits), STORE_WHOLE("%w"));
    for (int k = 0; k < 2048; k++) {
        float value = (float)(k - 1024) * f->scale;
        uint32_t wanted = ts_float_encode(type->format, value);
        if (((uint32_t)(int32_t)found[k] & mask) != wanted)
            fail_msg("%s %g: %g, expected %02x", f->name, (double)value, (double)found[k], wanted);
    }
}

/* Every code, and values from small ones to beyond the largest. */
TEST(small_floats_are_those_of_their_formats) {
    static const small_float rows[] = {
        {"f8E4M3FN", TS_DTYPE_F8E4M3FN, "i8", "0.5", .5f},
        {"f8E5M2", TS_DTYPE_F8E5M2, "i8", "7.5e1", 75},
        {"f8E4M3B11FNUZ", TS_DTYPE_F8E4M3B11FNUZ, "i8", "3.125e-2", .03125f},
        {"f8E4M3B11FNUZ", TS_DTYPE_F8E4M3B11FNUZ, "i8", "1.52587890625e-5", 0x1p-16f},
        {"f4E2M1FN", TS_DTYPE_F4E2M1FN, "i4", "7.8125e-3", 0x1p-7f},
        {"f8E4M3FN", TS_DTYPE_F8E4M3FN, "i8", "0x7FC00000", NAN},
        {"f8E5M2", TS_DTYPE_F8E5M2, "i8", "0x7FC00000", NAN},
        {"f8E4M3B11FNUZ", TS_DTYPE_F8E4M3B11FNUZ, "i8", "0x7FC00000", NAN},
        {"f4E2M1FN", TS_DTYPE_F4E2M1FN, "i4", "0x7FC00000", NAN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_codes(&rows[i], ts_dtype_get(rows[i].dtype));
        check_values(&rows[i], ts_dtype_get(rows[i].dtype));
    }
}

#define FLOAT(name, value)                                                                                   \
    name " = \"arith.constant\"() <{value = dense<" value "> : " FLOATS "}> : () -> " FLOATS "\n"
#define OF_TWO(name, op, x, y)    name " = \"" op "\"(" x ", " y ") : (" FLOATS ", " FLOATS ") -> " FLOATS "\n"
#define AS(name, op, from, x, to) name " = \"" op "\"(" x ") : (" from ") -> " to "\n"
/* (k - 1024) / 2^8 of the k'th value. */
#define EIGHTS                                                                                               \
    LOAD FLOAT("%m", "1.024e3") FLOAT("%n", "3.90625e-3") OF_TWO("%s", "arith.subf", "%a", "%m")             \
        OF_TWO("%x", "arith.mulf", "%s", "%n")
/* k * 2097169, of 32 bits. */
#define ALL_BITS                                                                                             \
    LOAD AS("%i", "arith.fptosi", FLOATS, "%a", WHOLE) NUMBER("%p", "2097169")                               \
        SPREAD("%q", "%p") "%u = \"arith.muli\"(%i, %q) : (" WHOLE ", " WHOLE ") -> " WHOLE "\n"

static double eighth(int k) { return (k - 1024) / 256.0; }
static double of_erf(int k) { return erf(eighth(k)); }
static double of_atan2(int k) { return atan2(eighth(k), 0.5 - eighth(k) * eighth(k)); }
static double of_least(int k) { return atan2(k, 512); } /* in units of 2^-149 */
static double of_zero(int k) { return k < 1024 ? 3.141592653589793 : 0; }
static double of_unsigned(int k) { return (double)(float)((uint32_t)k * 2097169u); }
static double of_narrow(int k) { return (double)((uint32_t)k * 2097169u & 0xffff); }
static double of_float(int k) {
    double x = ((double)k - 256) * 0x1p22;
    return x < 0 ? 0 : x >= 0x1p32 ? 0x1p32 : x;
}

static double of_nearest(int k) { return fmax(nearbyint(eighth(k)), 0); }
static double of_narrow_float(int k) { return k < 1024 ? 0 : fmin(96.0 * (k - 1024), 65535); }

static double of_tiny(int k) { return log1p(k * 0x1p-40); } /* 1 + x is 1 */
static double of_third(int k) { return k > 1300; }
static double of_last(int k) { return k > 700; }

#define BYTE_FLOATS "vector<8x128x4xf8E5M2>"
#define B11         "vector<8x128x4xf8E4M3B11FNUZ>"
#define OF_B11(name, value)                                                                                  \
    name " = \"arith.constant\"() <{value = dense<" value "> : " B11 "}> : () -> " B11 "\n"
#define NIBBLES "vector<8x128x8xi4>"
#define PACK_NIBBLES(name, of)                                                                               \
    name " = \"tpu.pack_subelements\"(" of ") <{pack_format = #tpu.pack_format<compressed>, positions = "    \
         "array<i32: 0, 1, 2, 3, 4, 5, 6, 7>}> : (" WHOLE ", " WHOLE ", " WHOLE ", " WHOLE ", " WHOLE        \
         ", " WHOLE ", " WHOLE ", " WHOLE ") -> " NIBBLES "\n"
#define MASK "vector<8x128xi1>"
#define BEYOND(name, value)                                                                                  \
    FLOAT("%l" name, value)                                                                                  \
    "%" name " = \"arith.cmpf\"(%a, %l" name ") <{predicate = 2 : i64}> : (" FLOATS ", " FLOATS ") -> " MASK \
    "\n"
#define MASKS LOAD BEYOND("e", "1.0e2") BEYOND("f", "7.0e2") BEYOND("g3", "1.3e3") BEYOND("h", "1.9e3")
/* The index'th of packed masks as numbers. */
#define OF_MASKS(packed, as, index)                                                                          \
    AS("%v", "arith.extui", "vector<" packed "xi1>", "%m", "vector<" packed as ">")                          \
    "%t = \"tpu.unpack_subelements\"(%v) <{index = " index                                                   \
    " : i32, pack_format = #tpu.pack_format<compressed>}> : (vector<" packed as ">) -> " WHOLE               \
    "\n%b = \"arith.andi\"(%t, %one) : (" WHOLE ", " WHOLE ") -> " WHOLE                                     \
    "\n" AS("%w", "arith.sitofp", WHOLE, "%b", FLOATS)
#define ONE "%one = \"arith.constant\"() <{value = dense<1> : " WHOLE "}> : () -> " WHOLE "\n"

/* (k - 1024) of the k'th value, in a byte without sign. */
static double of_byte(int k) { return k < 1024 ? 0 : fmin(k - 1024, 255); }
/* Rows of 8 x 128 bytes, k in the k'th, as columns. */
static double of_turned(int k) { return (k % 128 % 8 * 128 + k / 128 % 8) & 0xff; }
/* Groups of 8 rows of nibbles take turns, in the second vreg the other way round: k, or its row; those from 72 on as columns. */
static double of_turned_nibbles(int k) {
    int row = k % 128;
    return (row / 8 + row / 64) % 2 ? k / 1024 * 8 + row % 8 : 8 + k / 128 % 8;
}
static double of_constant_product(int k) {
    (void)k;
    return 3 * 0.5 * 128;
}
static double of_eighth_turn(int k) {
    (void)k;
    return 0.785398163397448;
}

/* Those that take several instructions, of 2,048 values. */
TEST(functions_of_words) {
    static const struct {
        const char *body;
        double (*of)(int k);
        double near, share;
    } rows[] = {
        {EIGHTS AS("%w", "math.erf", FLOATS, "%x", FLOATS), of_erf, 0, 7e-7},
        {EIGHTS FLOAT("%h", "5.0e-1") OF_TWO("%t", "arith.mulf", "%x", "%x")
             OF_TWO("%g2", "arith.subf", "%h", "%t") OF_TWO("%w", "math.atan2", "%x", "%g2"),
         of_atan2, 0, 5e-7},
        {EIGHTS FLOAT("%o", "0.0") OF_TWO("%w", "math.atan2", "%o", "%x"), of_zero, 0, 1e-7},
        {LOAD FLOAT("%o", "0x00000001") FLOAT("%t", "0x00000200") OF_TWO("%x", "arith.mulf", "%a", "%o")
             OF_TWO("%w", "math.atan2", "%x", "%t"),
         of_least, 0, 5e-7},
        {ALL_BITS AS("%w", "arith.uitofp", WHOLE, "%u", FLOATS), of_unsigned, 0, 0},
        {ALL_BITS
         "%v = \"tpu.pack_subelements\"(%u, %u) <{pack_format = #tpu.pack_format<interleaved>, positions = "
         "array<i32: 0, 1>}> : (" WHOLE ", " WHOLE ") -> vector<8x128x2xi16>\n" AS(
             "%h", "arith.uitofp", "vector<8x128x2xi16>", "%v",
             "vector<8x128x2xbf16>") "%w = \"tpu.unpack_subelements\"(%h) <{index = 1 : i32, pack_format = "
                                     "#tpu.pack_format<interleaved>}> : (vector<8x128x2xbf16>) -> " FLOATS
                                     "\n",
         of_narrow, 0, 0x1p-8},
        {LOAD FLOAT("%m", "2.56e2") FLOAT("%n", "4.194304e6") OF_TWO("%s", "arith.subf", "%a", "%m")
             OF_TWO("%x", "arith.mulf", "%s", "%n") AS("%t", "arith.fptoui", FLOATS, "%x", WHOLE)
                 AS("%w", "tpu.uitofp", WHOLE, "%t", FLOATS),
         of_float, 0, 0},
        {EIGHTS "%t = \"tpu.fptoui\"(%x) <{rounding_mode = #tpu.rounding_mode<to_nearest_even>}> : (" FLOATS
                ") -> " WHOLE "\n" AS("%w", "arith.sitofp", WHOLE, "%t", FLOATS),
         of_nearest, 0, 0},
        {LOAD FLOAT("%m", "1.024e3") FLOAT("%n", "9.6e1") OF_TWO("%s", "arith.subf", "%a", "%m")
             OF_TWO("%x", "arith.mulf", "%s",
                    "%n") "%v = \"tpu.pack_subelements\"(%x, %x) <{pack_format = "
                          "#tpu.pack_format<interleaved>, positions = "
                          "array<i32: 0, 1>}> : (" FLOATS ", " FLOATS ") -> vector<8x128x2xbf16>\n" AS(
                              "%h", "arith.fptoui", "vector<8x128x2xbf16>", "%v",
                              "vector<8x128x2xi16>") "%t = \"tpu.unpack_subelements\"(%h) <{index = 1 : i32, "
                                                     "pack_format = "
                                                     "#tpu.pack_format<interleaved>, sign_extended = false}> "
                                                     ": (vector<8x128x2xi16>) -> " WHOLE
                                                     "\n" AS("%w", "arith.sitofp", WHOLE, "%t", FLOATS),
         of_narrow_float, 0, 0x1p-8},
        {LOAD FLOAT("%m", "1.024e3") OF_TWO(
             "%x", "arith.subf", "%a",
             "%m") "%v = \"tpu.pack_subelements\"(%x, %x, %x, %x) <{pack_format = "
                   "#tpu.pack_format<compressed>, positions = "
                   "array<i32: 0, 1, 2, 3>}> {unsigned_integers = true} : (" FLOATS ", " FLOATS ", " FLOATS
                   ", " FLOATS ") -> vector<8x128x4xi8>\n%t = \"tpu.unpack_subelements\"(%v) <{index = 3 : "
                   "i32, pack_format = "
                   "#tpu.pack_format<compressed>}> {unsigned_integers = true} : (vector<8x128x4xi8>) "
                   "-> " WHOLE "\n" AS("%w", "arith.sitofp", WHOLE, "%t", FLOATS),
         of_byte, 0, 0},
        {LOAD AS("%i", "arith.fptosi", FLOATS, "%a",
                 WHOLE) "%v = \"tpu.pack_subelements\"(%i, %i, %i, %i) <{pack_format = "
                        "#tpu.pack_format<compressed>, positions = "
                        "array<i32: 0, 1, 2, 3>}> : (" WHOLE ", " WHOLE ", " WHOLE ", " WHOLE
                        ") -> vector<8x128x4xi8>\n" AS(
                            "%f", "tpu.bitcast_vreg", "vector<8x128x4xi8>", "%v",
                            BYTE_FLOATS) "%r = \"tpu.roll_vectors\"(%f, %f, %f, %f) : (" BYTE_FLOATS
                                         ", " BYTE_FLOATS ", " BYTE_FLOATS ", " BYTE_FLOATS
                                         ") -> vector<128x128xf8E5M2>\n%u = \"tpu.transpose\"(%r) "
                                         "<{permutation = array<i64: 1, 0>}> : "
                                         "(vector<128x128xf8E5M2>) -> vector<128x128xf8E5M2>\n%p:4 = "
                                         "\"tpu.unroll_vectors\"(%u) : "
                                         "(vector<128x128xf8E5M2>) -> (" BYTE_FLOATS ", " BYTE_FLOATS
                                         ", " BYTE_FLOATS ", " BYTE_FLOATS
                                         ")\n" AS("%b", "tpu.bitcast_vreg", BYTE_FLOATS, "%p#0",
                                                  "vector<8x128x4xi8>") "%t = \"tpu.unpack_subelements\"(%b) "
                                                                        "<{index = 0 : i32, pack_format = "
                                                                        "#tpu.pack_format<compressed>, "
                                                                        "sign_extended = false}> : "
                                                                        "(vector<8x128x4xi8>) -> " WHOLE
                                                                        "\n" AS("%w", "arith.sitofp", WHOLE,
                                                                                "%t", FLOATS),
         of_turned, 0, 0},
        {LOAD AS("%i", "arith.fptosi", FLOATS, "%a", WHOLE) //
         "%n = \"arith.constant\"() <{value = dense<7> : " WHOLE "}> : () -> " WHOLE "\n"
         "%j = \"arith.shrsi\"(%i, %n) : (" WHOLE ", " WHOLE ") -> " WHOLE "\n" //
         PACK_NIBBLES("%u", "%i, %j, %i, %j, %i, %j, %i, %j") PACK_NIBBLES(
             "%v", "%j, %i, %j, %i, %j, %i, %j, %i") "%r = \"tpu.roll_vectors\"(%u, %v) : (" NIBBLES
                                                     ", " NIBBLES ") -> vector<128x128xi4>\n"
                                                     "%q = \"tpu.transpose\"(%r) <{permutation = array<i64: "
                                                     "1, 0>}> : (vector<128x128xi4>) -> vector<128x128xi4>\n"
                                                     "%p:2 = \"tpu.unroll_vectors\"(%q) : "
                                                     "(vector<128x128xi4>) -> (" NIBBLES ", " NIBBLES ")\n"
                                                     "%t = \"tpu.unpack_subelements\"(%p#1) <{index = 1 : "
                                                     "i32, pack_format = #tpu.pack_format<compressed>, "
                                                     "sign_extended = false}> : (" NIBBLES ") -> " WHOLE
                                                     "\n" //
         AS("%w", "arith.sitofp", WHOLE, "%t", FLOATS),
         of_turned_nibbles, 0, 0},
        {OF_B11("%l", "3.0") OF_B11("%h", "5.0e-1") FLOAT("%n", "0.0") //
         "%s = \"tpu.roll_vectors\"(%n, %n, %n, %n) : (" FLOATS ", " FLOATS ", " FLOATS ", " FLOATS
         ") -> vector<32x128xf32>\n"
         "%m = \"tpu.roll_vectors\"(%l) : (" B11 ") -> vector<32x128xf8E4M3B11FNUZ>\n"
         "%r = \"tpu.roll_vectors\"(%h, %h, %h, %h) : (" B11 ", " B11 ", " B11 ", " B11
         ") -> vector<128x128xf8E4M3B11FNUZ>\n"
         "%q = \"tpu.matmul\"(%m, %r, %s) <{dimension_numbers = #tpu.dot_dimension_numbers<[1], [0], [0], "
         "[1], [0, 0, 1, 1], "
         "[], []>}> : (vector<32x128xf8E4M3B11FNUZ>, vector<128x128xf8E4M3B11FNUZ>, vector<32x128xf32>) -> "
         "vector<32x128xf32>\n"
         "%p:4 = \"tpu.unroll_vectors\"(%q) : (vector<32x128xf32>) -> (" FLOATS ", " FLOATS ", " FLOATS
         ", " FLOATS ")\n" //
         OF_TWO("%w", "arith.addf", "%p#3", "%n"),
         of_constant_product, 0, 0},
        {LOAD FLOAT("%o", "0x7F800000") OF_TWO("%w", "math.atan2", "%o", "%o"), of_eighth_turn, 0, 1e-7},
        {LOAD FLOAT("%n", "0x2B800000") OF_TWO("%x", "arith.mulf", "%a", "%n")
             AS("%w", "math.log1p", FLOATS, "%x", FLOATS),
         of_tiny, 0, 1e-7},
        {MASKS ONE "%m = \"tpu.pack_vmsk\"(%e, %f, %g3, %h) {positions = array<i32: 0, 1, 2, 3>} : (" MASK
                   ", " MASK ", " MASK ", " MASK ") -> vector<8x128x4xi1>\n" OF_MASKS("8x128x4", "xi8", "2"),
         of_third, 0, 0},
        {MASKS ONE "%m = \"tpu.pack_vmsk\"(%e, %e, %h, %g3, %h, %e, %e, %f) : (" MASK ", " MASK ", " MASK
                   ", " MASK ", " MASK ", " MASK ", " MASK ", " MASK
                   ") -> vector<8x128x8xi1>\n" OF_MASKS("8x128x8", "xi4", "7"),
         of_last, 0, 0},
        {MASKS ONE "%m = \"tpu.pack_vmsk\"(%e, %f) {positions = array<i32: 0, 1>} : (" MASK ", " MASK
                   ") -> vector<8x128x2xi1>\n" OF_MASKS("8x128x2", "xi16", "1"),
         of_last, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const float *found = values_of(rows[i].body, "", STORE("%w"));
        for (int k = 0; k < 2048; k++) {
            double wanted = rows[i].of(k), apart = fabs((double)found[k] - wanted);
            if (!(apart <= rows[i].near + rows[i].share * fabs(wanted)))
                fail_msg("row %zu, value %d: %.9g, expected %.9g", i, k, (double)found[k], wanted);
        }
    }
}

/* Bits of two words of each of 8 by 8: of the k'th value. */
static const uint32_t of_floats[8] = {0xff800000, 0xbf800000, 0x80000000, 0,
                                      0x3f800000, 0x3f800001, 0x7f800000, 0x7fc00000};
static const uint32_t of_integers[8] = {0x80000000, 0x80000001, 0xffffffff, 0, 1, 2, 0x7ffffffe, 0x7fffffff};

static void add_integer(ts_text *t, const char *name, int32_t value) {
    ts_text_add(t, "%%%s = \"arith.constant\"() <{value = dense<%d> : " WHOLE "}> : () -> " WHOLE "\n", name,
                value);
}

/* The vector `name`: of `words` the k >> shift & 7'th. */
static void add_picked(ts_text *t, const char *name, int shift, const uint32_t *words, const char *type) {
    ts_text_add(t, "%s", AS("%i", "arith.fptosi", FLOATS, "%a", WHOLE));
    add_integer(t, "s", shift);
    add_integer(t, "m", 7);
    add_integer(t, "v", (int32_t)words[0]);
    ts_text_add(t, "%s",
                "%e = \"arith.shrui\"(%i, %s) : (" WHOLE ", " WHOLE ") -> " WHOLE "\n"
                "%j = \"arith.andi\"(%e, %m) : (" WHOLE ", " WHOLE ") -> " WHOLE "\n");
    for (int k = 1; k < 8; k++) {
        add_integer(t, "k", k);
        add_integer(t, "w", (int32_t)words[k]);
        ts_text_add(t, "%s",
                    "%q = \"arith.cmpi\"(%j, %k) <{predicate = 0 : i64}> : (" WHOLE ", " WHOLE ") -> " MASK
                    "\n%v = \"arith.select\"(%q, %w, %v) : (" MASK ", " WHOLE ", " WHOLE ") -> " WHOLE "\n");
    }
    ts_text_add(t, "%%%s = \"tpu.bitcast_vreg\"(%%v) : (" WHOLE ") -> %s\n", name, type);
}

static const float *compared(const char *op, const uint32_t *words, int predicate) {
    const char *type = words == of_floats ? FLOATS : WHOLE;
    ts_text t = ts_text_begin(arena);
    ts_text_add(&t, "%s", LOAD);
    add_picked(&t, "left", 0, words, type);
    add_picked(&t, "right", 3, words, type);
    ts_text_add(&t, "%%b = \"%s\"(%%left, %%right) <{predicate = %d : i64}> : (%s, %s) -> " MASK "\n", op,
                predicate, type, type);
    ts_text_add(&t, "%s",
                AS("%u", "arith.extui", MASK, "%b", WHOLE) AS("%f", "arith.sitofp", WHOLE, "%u", FLOATS)
                    STORE("%f"));
    return run((sketch)ONE_STEP(t.bytes)).values;
}

/* As MLIR's arith defines them: of floats 1 to 7 are false of a NaN, 8 to 14 true. */
static bool float_holds(int predicate, float x, float y) {
    bool ordered = x == x && y == y;
    const bool of[] = {false, x == y, x > y, x >= y, x < y, x <= y, x != y, true};
    if (predicate == 15) return true;
    if (predicate == 14) return !ordered;
    return predicate < 8 ? ordered && of[predicate] : !ordered || of[predicate - 7];
}

static bool integer_holds(int predicate, uint32_t x, uint32_t y) {
    int32_t a = (int32_t)x, b = (int32_t)y;
    const bool of[] = {x == y, x != y, a<b, a <= b, a> b, a >= b, x<y, x <= y, x> y, x >= y};
    return of[predicate];
}

TEST(predicates_are_those_of_mlir) {
    for (int predicate = 0; predicate < 16 + 10; predicate++) {
        bool floats = predicate < 16;
        const uint32_t *words = floats ? of_floats : of_integers;
        const float *found =
            floats ? compared("arith.cmpf", words, predicate) : compared("arith.cmpi", words, predicate - 16);
        for (int k = 0; k < 1024; k++) {
            uint32_t x = words[k % 8], y = words[k / 8 % 8];
            bool holds = floats ? float_holds(predicate, ts_f32_from_bits(x), ts_f32_from_bits(y))
                                : integer_holds(predicate - 16, x, y);
            if (found[k] != (float)holds) fail_msg("predicate %d of %x and %x", predicate, x, y);
        }
    }
}

TEST(a_delay_is_of_nanoseconds) {
    static const char delayed[] =
        LOAD STORE("%a") "%n = \"arith.constant\"() <{value = 3000000 : i32}> : () -> i32\n"
                         "%m = \"arith.addi\"(%n, %g) : (i32, i32) -> i32\n"
                         "\"tpu.delay\"(%m) : (i32) -> ()\n";
    int64_t with = cycles_with(0, (sketch)ONE_STEP(delayed)),
            without = cycles_with(0, (sketch)ONE_STEP(COPY));
    assert_in_range(with - without, 4499950, 4500050); /* at 1.5 GHz */
}

TEST(logs_are_passed_over) {
    outcome o = run(
        (sketch)TWO_STEPS("\"tpu.log\"(%g) <{formatted = true, tag = \"step $0\"}> : (i32) -> ()\n" COPY));
    for (int i = 0; i < 16 * 128; i++) assert_true(o.values[i] == (float)i);
    assert_string_equal(o.program->reports[o.program->report_count - 1].name, "logs_not_printed");
}

int main(void) { return run_all_tests(begin_group, end_group); }
