/* Runs: what inputs are bound to, what outputs are wanted, checks and reports, what the sanitizer asks at the end. */
#include "run/run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/format.h"
#include "tests/support/run_text.h"
#include "tests/support/temporary.h"
#include "tests/support/test.h"

static const ts_machine *machine;

static ts_run_request request_of(ts_arena *arena, const char *text) {
    return (ts_run_request){.program = "a.tsim",
                            .built = assemble_text(arena, machine, text),
                            .machine = machine,
                            .keep_outputs = true,
                            .max_cycles = INT64_MAX};
}

static void assert_refused(const ts_run_request *request, ts_arena *arena, const char *text) {
    ts_error err = {0};
    ts_run_result result;
    assert_false(ts_run(&err, arena, request, &result));
    assert_error(&err, err.kind, text);
}

/* ---- Types of inputs ---- */

/* Which types hold every value of another. */
static const struct {
    ts_dtype from, to;
    bool exact, possible;
} types[] = {
    {TS_DTYPE_F32, TS_DTYPE_F32, true, true},      {TS_DTYPE_BF16, TS_DTYPE_F32, true, true},
    {TS_DTYPE_F16, TS_DTYPE_F32, true, true},      {TS_DTYPE_F32, TS_DTYPE_BF16, false, true},
    {TS_DTYPE_F16, TS_DTYPE_BF16, false, true},    {TS_DTYPE_F64, TS_DTYPE_F32, false, true},
    {TS_DTYPE_S8, TS_DTYPE_S32, true, true},       {TS_DTYPE_S32, TS_DTYPE_S8, false, true},
    {TS_DTYPE_U8, TS_DTYPE_S8, false, true},       {TS_DTYPE_S8, TS_DTYPE_U8, false, true},
    {TS_DTYPE_U8, TS_DTYPE_S16, true, true},       {TS_DTYPE_S8, TS_DTYPE_U32, false, true},
    {TS_DTYPE_U8, TS_DTYPE_U32, true, true},       {TS_DTYPE_S16, TS_DTYPE_F32, true, true},
    {TS_DTYPE_S32, TS_DTYPE_F32, false, true},     {TS_DTYPE_U8, TS_DTYPE_BF16, true, true},
    {TS_DTYPE_S16, TS_DTYPE_BF16, false, true},    {TS_DTYPE_PRED, TS_DTYPE_F32, true, true},
    {TS_DTYPE_PRED, TS_DTYPE_S8, true, true},      {TS_DTYPE_S8, TS_DTYPE_PRED, false, true},
    {TS_DTYPE_F32, TS_DTYPE_S32, false, true},     {TS_DTYPE_S32, TS_DTYPE_F64, true, true},
    {TS_DTYPE_F32, TS_DTYPE_F64, true, true},      {TS_DTYPE_S64, TS_DTYPE_F64, false, true},
    {TS_DTYPE_S4, TS_DTYPE_F8E4M3FN, false, true},
};

/* Eight zeros, but for the first element: 1. */
static ts_host_array one_of(ts_arena *arena, ts_dtype dtype) {
    ts_host_array s8 = {0}, out = {0};
    const int64_t dims[] = {8};
    ts_error err = {0};
    assert_true(ts_host_array_init(&err, arena, TS_DTYPE_S8, 1, dims, &s8));
    s8.bytes[0] = 1;
    assert_true(ts_host_array_convert(&err, arena, &s8, dtype, &out));
    return out;
}

TEST(inputs_keep_their_values) {
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        ts_arena *arena = ts_arena_new();
        const char *from = ts_dtype_get(types[i].from)->name, *to = ts_dtype_get(types[i].to)->name;
        ts_text text = ts_text_begin(arena), error = ts_text_begin(arena);
        ts_text_add(&text, ".tensor x hbm %s[8] inout\n sadd s1, s1, s1\n", to);
        ts_text_add(&error,
                    "error: input x: the array holds %s, the tensor is %s; convert rounds the values\n", from,
                    to);
        const ts_host_array array = one_of(arena, types[i].from), want = one_of(arena, types[i].to);
        const ts_run_array given = {"x", &array};
        ts_run_request request = request_of(arena, text.bytes);
        request.arrays = &given;
        request.array_count = 1;
        if (!types[i].exact) assert_refused(&request, arena, error.bytes);
        request.convert = !types[i].exact;
        ts_error err = {0};
        ts_run_result result;
        if (!ts_run(&err, arena, &request, &result)) fail_msg("row %zu: %s", i, err.message);
        assert_int_equal(result.tensors[0].converted, types[i].from != types[i].to);
        assert_string_equal(result.tensors[0].origin, "the caller's array");
        assert_memory_equal(result.tensors[0].after.bytes, want.bytes, want.length);
        ts_arena_free(arena);
    }
}

/* ---- Names of inputs and outputs ---- */

static const char tensors[] =
    ".tensor x hbm f32[8] in\n.tensor y hbm f32[8] out\n.tensor z hbm f32[8] in zeros\n"
    " sadd s1, s1, s1\n";

/* Before the program runs, not as its fault at the first transfer. */
TEST_WITH_ARENA(memory_is_checked) {
    const ts_host_array array = one_of(arena, TS_DTYPE_F32);
    const ts_run_array x = {"x", &array};
    ts_run_request request = request_of(arena, tensors);
    ts_machine odd = *request.machine;
    request.machine = &odd;
    request.arrays = &x;
    request.array_count = 1;
    odd.hbm.address_map = "Z";
    assert_refused(
        &request, arena,
        "address map:1:1: error: unknown field 'Z', expected off, co, pc, ch, st, sid, bg, ba or ro\n"
        "Z\n^\n");
    odd.hbm.address_map = "H";
    odd.hbm.banks = 1024;
    assert_refused(&request, arena, "error: hbm: banks of a channel is 8192, expected 1 to 128\n");
}

TEST_WITH_ARENA(names_are_checked) {
    static const struct {
        const char *names[2]; /* of arrays that are given */
        const char *error;
    } rows[] = {
        {{NULL}, "error: the tensor 'x' has no values, expected input x\n"},
        {{"x", "xx"}, "error: input xx: the program has no such tensor; did you mean 'x'?\n"},
        {{"x", "y"}, "error: input y: the tensor is not an input\n"},
        {{"x", "x"}, "error: input x is given twice\n"},
    };
    const ts_host_array array = one_of(arena, TS_DTYPE_F32);
    ts_run_request request = request_of(arena, tensors);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_run_array given[2] = {{rows[i].names[0], &array}, {rows[i].names[1], &array}};
        request.arrays = given;
        request.array_count = rows[i].names[0] ? 2 : 0;
        assert_refused(&request, arena, rows[i].error);
    }
    const ts_define out = {"q", "a.npy"}, y = {"y", "a.npy"};
    const ts_run_array x = {"x", &array};
    request.arrays = &x;
    request.array_count = request.output_count = 1;
    request.outputs = &out;
    assert_refused(&request, arena, "error: -o q: the program has no such tensor\n");
    request.outputs = &y;
    request.time_only = true;
    assert_refused(&request, arena, "error: -o y: --time-only computes no values\n");
    request.output_count = 0;
    request.built = assemble_text(arena, machine, "; nothing\n");
    request.array_count = 0;
    assert_refused(&request, arena,
                   "a.tsim:2:1: error: the program has no instructions, expected at least one\n\n^\n");
}

/* Of files, where no other input is missing. */
TEST_WITH_ARENA(names_of_files_are_checked) {
    static const ts_define files[] = {{"q", "q.npy"}, {"d", "d.npy"}, {"z", "tests/none.npy"}};
    static const char *const errors[] = {"error: -i q: the program has no such tensor\n",
                                         "error: -i d: the tensor is not an input\n",
                                         "error: cannot open 'tests/none.npy': No such file or directory\n"};
    ts_run_request request =
        request_of(arena, ".tensor z hbm f32[8] in zeros\n.tensor d hbm f32[8] out\n sadd s1, s1, s1\n");
    request.input_count = 1;
    for (int i = 0; i < 3; i++) {
        request.inputs = &files[i];
        assert_refused(&request, arena, errors[i]);
    }
    ts_error err = {0};
    ts_run_result result;
    request.inputs = &(const ts_define){"z", "README.md"}; /* which is no array */
    assert_false(ts_run(&err, arena, &request, &result));
    assert_non_null(strstr(err.message, "README.md"));
}

TEST_WITH_ARENA(dims_are_checked) {
    const ts_host_array array = one_of(arena, TS_DTYPE_F32);
    const ts_run_array x = {"x", &array};
    ts_run_request request = request_of(arena, ".tensor x hbm f32[9] in\n sadd s1, s1, s1\n");
    request.arrays = &x;
    request.array_count = 1;
    ts_error err = {0};
    ts_run_result result;
    assert_false(ts_run(&err, arena, &request, &result));
    assert_non_null(strstr(err.message, "[8]"));
    assert_non_null(strstr(err.message, "[9]"));
}

/* What a program fills an input with, and where the values are needed at all. */
TEST_WITH_ARENA(inputs_that_nobody_brings) {
    ts_run_request request =
        request_of(arena, ".tensor a hbm s32[4] inout zeros\n.tensor b hbm s32[4] inout iota\n"
                          ".tensor c hbm f32[4] inout random(seed=1, lo=2, hi=3)\n"
                          ".tensor d hbm s32[4] out\n sadd s1, s1, s1\n");
    ts_error err = {0};
    ts_run_result result;
    assert_true(ts_run(&err, arena, &request, &result));
    assert_string_equal(result.tensors[0].origin, "zeros");
    assert_string_equal(result.tensors[1].origin, "iota");
    assert_string_equal(result.tensors[2].origin, "random");
    assert_null(result.tensors[3].origin);
    assert_memory_equal(result.tensors[0].after.bytes, ((const int32_t[]){0, 0, 0, 0}), 16);
    assert_memory_equal(result.tensors[1].after.bytes, ((const int32_t[]){0, 1, 2, 3}), 16);
    for (int i = 0; i < 4; i++) {
        float value;
        memcpy(&value, result.tensors[2].after.bytes + 4 * i, 4);
        assert_true(value >= 2 && value < 3);
    }
    request.time_only = true;
    request.keep_outputs = false;
    request.built = assemble_text(
        arena, machine, ".tensor x hbm s32[8] in\n.tensor y vmem s32[8]\n.sem s\n dma y <- x, s\n wait s\n");
    assert_true(ts_run(&err, arena, &request, &result));
    request.built = assemble_text(
        arena, machine, ".tensor x hbm s32[8] in\n.tensor y smem s32[8]\n.sem s\n dma y <- x, s\n wait s\n");
    assert_refused(&request, arena, "error: the tensor 'x' has no values, expected -i x=FILE\n");
    request.built = assemble_text(arena, machine, ".tensor x smem s32[8] in\n sadd s1, s1, s1\n");
    assert_refused(&request, arena, "error: the tensor 'x' has no values, expected -i x=FILE\n");
}

/* ---- Checks and reports ---- */

static const char moved[] =
    ".tensor x hbm s32[8] in iota\n.tensor y hbm s32[8] out\n.tensor v vmem s32[8]\n.sem s\n"
    ".param N = 3\n.check y == x\n.check y[2:4] == N * x[2:4]\n.check x == iota(8)\n"
    ".report total = sum(y)\n.report third = y[3] * N\n"
    " dma v <- x, s\n wait s\n dma y <- v, s\n wait s\n";

TEST_WITH_ARENA(checks_and_reports) {
    ts_run_request request = request_of(arena, moved);
    ts_error err = {0};
    ts_run_result result;
    if (!ts_run(&err, arena, &request, &result)) fail_msg("%s", err.message);
    assert_false(result.passed);
    const size_t wrong[] = {0, 2, 0};
    for (int i = 0; i < 3; i++) assert_int_equal(result.checks[i].failed, wrong[i]);
    assert_true(result.reports[0] == 28 && result.reports[1] == 9);
    request.time_only = true;
    request.keep_outputs = false;
    assert_true(ts_run(&err, arena, &request, &result));
    assert_true(result.passed && !result.checks && !result.reports);
}

/* What is expected is made of inputs as they were: of 0 .. 7, which become 0. */
TEST_WITH_ARENA(checks_are_of_inputs_before_the_run) {
    const ts_run_request request =
        request_of(arena, ".tensor x hbm s32[8] inout iota\n.tensor z hbm s32[8] in zeros\n"
                          ".tensor v vmem s32[8]\n.sem s\n.check x == x\n.check x == z\n"
                          " dma v <- z, s\n wait s\n dma x <- v, s\n wait s\n");
    ts_error err = {0};
    ts_run_result result;
    assert_true(ts_run(&err, arena, &request, &result));
    assert_int_equal(result.checks[0].failed, 7);
    assert_int_equal(result.checks[1].failed, 0);
}

/* A tensor that nothing but a report asks for. */
TEST_WITH_ARENA(a_report_alone) {
    ts_run_request request =
        request_of(arena, ".tensor x hbm s32[8] in iota\n.tensor y hbm s32[8] out\n.sem s\n"
                          ".tensor v vmem s32[8]\n.report total = sum(y)\n"
                          " dma v <- x, s\n wait s\n dma y <- v, s\n wait s\n");
    request.keep_outputs = false;
    ts_error err = {0};
    ts_run_result result;
    if (!ts_run(&err, arena, &request, &result)) fail_msg("%s", err.message);
    assert_true(result.reports[0] == 28);
}

TEST(checks_that_cannot_be) {
    static const struct {
        const char *lines, *error;
        int more; /* errors behind the first; what was said already is said once */
    } rows[] = {
        {".check y == q\n.check y == q + 1\n.report r = w\n",
         "a.tsim:2:13: error: unknown name 'q'\n.check y == q\n            ^\n", 1},
        {".report r = y\n",
         "a.tsim:2:13: error: a report is one number, found 8\n.report r = y\n            ^\n", 0},
        {".report r = q\n.check y == w\n",
         "a.tsim:2:13: error: unknown name 'q'\n.report r = q\n            ^\n", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_text text = ts_text_begin(arena);
        ts_text_add(&text, ".tensor y hbm s32[8] inout zeros\n%s sadd s1, s1, s1\n", rows[i].lines);
        const ts_run_request request = request_of(arena, text.bytes);
        ts_error err = {0};
        ts_run_result result;
        assert_false(ts_run(&err, arena, &request, &result));
        assert_error(&err, err.kind, rows[i].error);
        int more = 0;
        for (const ts_error *next = err.next; next; next = next->next) more++;
        assert_int_equal(more, rows[i].more);
        ts_arena_free(arena);
    }
}

/* ---- What the sanitizer asks at the end ---- */

TEST(outputs_are_written) {
    static const struct {
        const char *tensors, *last;
        int line; /* of the tensor that is not written; 0: none */
    } rows[] = {
        {".tensor y hbm s32[8] out\n.tensor z hbm s32[8] out\n",
         " dma y <- v, s\n wait s\n dma z <- v, s\n wait s\n", 0},
        {".tensor y hbm s32[8] out\n.tensor z hbm s32[8] out\n", " dma y <- v, s\n wait s\n", 2},
        {".tensor y hbm s32[8] out\n.tensor z hbm s32[8] out\n", " dma z <- v, s\n wait s\n", 1},
        {".tensor y hbm s32[8] out\n.tensor z hbm s32[8]\n", " dma y <- v, s\n wait s\n", 0},
        {".tensor y hbm s32[9] out\n.tensor z hbm s32[8]\n", " dma y[0:8] <- v, s\n wait s\n", 1},
        {".tensor y hbm s32[8] inout zeros\n.tensor z hbm s32[8]\n", "", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_text text = ts_text_begin(arena);
        ts_text_add(
            &text,
            "%s.tensor x hbm s32[8] in iota\n.tensor v vmem s32[8]\n.sem s\n dma v <- x, s\n wait s\n%s",
            rows[i].tensors, rows[i].last);
        ts_run_request request = request_of(arena, text.bytes);
        request.check = true;
        ts_error err = {0};
        ts_run_result result;
        if (!ts_run(&err, arena, &request, &result)) fail_msg("row %zu: %s", i, err.message);
        assert_int_equal(result.passed, rows[i].line == 0);
        assert_int_equal(ts_findings_have(result.findings, TS_FINDING_UNWRITTEN), rows[i].line > 0);
        if (rows[i].line > 0) assert_int_equal(result.findings->list[0].where.line, rows[i].line);
        if (rows[i].line > 0) assert_int_equal(result.findings->list[0].where.column, 1);
        request.time_only = true; /* where no values are */
        request.keep_outputs = false;
        assert_true(ts_run(&err, arena, &request, &result) && result.passed);
        assert_int_equal(ts_findings_have(result.findings, TS_FINDING_UNWRITTEN), 0);
        request.check = request.time_only = false; /* nobody asks */
        assert_true(ts_run(&err, arena, &request, &result));
        assert_int_equal(ts_findings_have(result.findings, TS_FINDING_UNWRITTEN), 0);
        ts_arena_free(arena);
    }
}

/* What was never written may not come out, whether or not it was read before. */
TEST(outputs_are_defined) {
    static const char *const uses[] = {"out", "inout zeros", "in zeros", ""};
    for (int i = 0; i < 4; i++) {
        ts_arena *arena = ts_arena_new();
        ts_run_request request =
            request_of(arena, ts_text_format(arena,
                                             ".tensor y hbm s32[8] %s\n.tensor v vmem s32[8]\n.sem s\n"
                                             " dma y <- v, s\n wait s\n",
                                             uses[i]));
        request.check = true;
        ts_error err = {0};
        ts_run_result result;
        assert_true(ts_run(&err, arena, &request, &result));
        assert_int_equal(ts_findings_have(result.findings, TS_FINDING_OUTPUT), i < 2);
        ts_arena_free(arena);
    }
}

/* ---- Files ---- */

TEST_WITH_ARENA(outputs_are_saved) {
    const ts_define bad[] = {{"y", "tests/none/y.npy"}, {"q", "q.npy"}};
    ts_run_request request = request_of(arena, moved);
    ts_error err = {0};
    ts_run_result result;
    assert_true(ts_run(&err, arena, &request, &result));
    assert_true(ts_run_save(&err, arena, &request, &result)); /* none is asked for */
    request.output_count = 1;
    for (int i = 0; i < 2; i++) {
        request.outputs = &bad[i];
        err = (ts_error){0};
        assert_false(ts_run_save(&err, arena, &request, &result));
        assert_int_equal(err.kind, i == 0 ? TS_ERROR_IO : TS_ERROR_USAGE);
    }
    char path[TEMPORARY_PATH];
    close(mkstemp(temporary_path(path, "run.XXXXXX")));
    const ts_define good = {"y", ts_text_format(arena, "%s.npy", path)};
    request.outputs = &good;
    assert_true(ts_run_save(&err, arena, &request, &result));
    ts_host_array saved = {0};
    assert_true(ts_host_load(&err, arena, good.value, NULL, &saved));
    assert_memory_equal(saved.bytes, ((const int32_t[]){0, 1, 2, 3, 4, 5, 6, 7}), 32);
    unlink(path);
    unlink(good.value);
}

static int make_machine(void **state) {
    *state = ts_arena_new();
    machine = ts_machine_load(NULL, *state, "tpu-v5e");
    return machine ? 0 : -1;
}

static int free_machine(void **state) {
    ts_arena_free(*state);
    return 0;
}

int main(void) { return run_all_tests(make_machine, free_machine); }
