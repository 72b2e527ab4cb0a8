/* Programs made in C: the same as from text, and what a wrong call is told. */
#include <stdio.h>
#include <string.h>

#include "machine/machine.h"
#include "program/builder.h"
#include "run/run.h"
#include "tests/support/cmocka.h"

static const char text[] = ".tensor x hbm f32[64,256]{1,0:T(8,128)} in iota\n"
                           ".tensor xb vmem f32[2,32,256]{2,1,0:T(8,128)}\n"
                           ".sem in[2], out\n"
                           ".check x == iota(64, 256) + 256 * iota(64, 256, axis=0) + 1\n"
                           "        smov s1, 0\n"
                           "next:   dma xb[s1] <- x[s1 * 32:+32, :], in[s1]\n"
                           "        wait in[s1]\n"
                           "        smov s2, 0\n"
                           ".pack auto\n"
                           "row:    vld v0, xb[s1, s2, 0]\n"
                           "        vld v1, xb[s1, s2, 128]\n"
                           "        vadd.f32 v0, v0, 1.0\n"
                           "        vadd.f32 v1, v1, 1.0\n"
                           "        mall m0\n"
                           "        vst xb[s1, s2, 0], v0 if m0\n"
                           "        vst xb[s1, s2, 128] stride=1 mask=0xf0, v1\n"
                           "        vst xb[s1, s2, 128] stride=1 mask=0x0f, v1\n"
                           "        sadd s2, s2, 8\n"
                           "        br.lt s2, 32, row\n"
                           ".pack off\n"
                           "        dma x[s1 * 32:+32, :] <- xb[s1], out\n"
                           "        { wait out ; sadd s1, s1, 1 }\n"
                           "        br.lt s1, 2, next\n";

typedef struct {
    ts_arena *arena;
    ts_error err;
    const ts_machine *machine;
    ts_target target;
    ts_program_builder *b;
    int x, xb, in, out;
} fixture;

static int setup(void **state) {
    ts_arena *arena = ts_arena_new();
    fixture *f = TS_NEW(arena, fixture);
    f->arena = arena;
    f->machine = ts_machine_load(&f->err, arena, "tpu-v5e");
    assert_non_null(f->machine);
    ts_run_target(f->machine, &f->target);
    f->b = ts_program_begin(&f->err, arena, "built", &f->target);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    ts_arena_free(((fixture *)*state)->arena);
    return 0;
}

static const ts_shape *shape_of(fixture *f, const char *shape) {
    ts_source source = {"shape", shape, strlen(shape)};
    const ts_shape *parsed = ts_shape_parse(&f->err, f->arena, &source);
    assert_non_null(parsed);
    assert_non_null(ts_shape_layout(&f->err, parsed, "the tensor"));
    return parsed;
}

static void declare(fixture *f) {
    ts_tensor_use in = {.role = TS_ROLE_IN, .fill = TS_FILL_IOTA}, scratch = {.role = TS_ROLE_SCRATCH};
    f->x = ts_program_tensor(f->b, "x", TS_SPACE_HBM, shape_of(f, "f32[64,256]{1,0:T(8,128)}"), &in);
    f->xb =
        ts_program_tensor(f->b, "xb", TS_SPACE_VMEM, shape_of(f, "f32[2,32,256]{2,1,0:T(8,128)}"), &scratch);
    f->in = ts_program_semaphores(f->b, "in", 2);
    f->out = ts_program_semaphores(f->b, "out", 1);
}

/* The address of xb[s1, s2 + row, column]. */
static ts_operand at(fixture *f, int64_t row, int64_t column, int sublanes) {
    ts_affine index[] = {ts_index_of(1, 1, 0), ts_index_of(2, 1, row), ts_index(column)};
    return ts_program_rows(f->b, f->xb, index, 1, sublanes);
}

static void add_rows(fixture *f) {
    ts_program_builder *b = f->b;
    ts_operand row = ts_program_label(b);
    ts_program_pack_begin(b);
    ts_program_place(b, row);
    for (int i = 0; i < 2; i++) ts_program_add(b, TS_OP_vld, 2, ts_vreg(i), at(f, 0, 128 * i, 0xff));
    for (int i = 0; i < 2; i++) ts_program_add(b, TS_OP_vadd_f32, 3, ts_vreg(i), ts_vreg(i), ts_f32(1.0f));
    ts_program_add(b, TS_OP_mall, 1, ts_vmask(0));
    ts_program_add_named(b, 0, "vst", 2, (const ts_operand[]){at(f, 0, 0, 0xff), ts_vreg(0)});
    ts_program_add(b, TS_OP_vst, 2, at(f, 0, 128, 0xf0), ts_vreg(1));
    ts_program_add(b, TS_OP_vst, 2, at(f, 0, 128, 0x0f), ts_vreg(1));
    ts_program_add(b, TS_OP_sadd, 3, ts_sreg(2), ts_sreg(2), ts_integer(8));
    ts_program_add(b, TS_OP_br_lt, 3, ts_sreg(2), ts_integer(32), row);
    ts_program_pack_end(b);
}

static ts_program_box box(int tensor, const ts_affine *begin, const int64_t *sizes) {
    return (ts_program_box){tensor, begin, sizes};
}

static const ts_program *build(fixture *f) {
    ts_program_builder *b = f->b;
    declare(f);
    ts_program_check_text(b, "x == iota(64, 256) + 256 * iota(64, 256, axis=0) + 1");
    ts_affine block[] = {ts_index_of(1, 32, 0), ts_index(0)},
              buffer[] = {ts_index_of(1, 1, 0), ts_index(0), ts_index(0)};
    int64_t rows[] = {32, 256}, one[] = {1, 32, 256};
    ts_operand next = ts_program_label(b), in = ts_semaphore_of(f->in, 2, 1), out = ts_semaphore(f->out);
    ts_program_add(b, TS_OP_smov, 2, ts_sreg(1), ts_integer(0));
    ts_program_place(b, next);
    ts_program_add(b, TS_OP_dma, 1,
                   ts_program_transfer(b, box(f->xb, buffer, one), box(f->x, block, rows), in));
    ts_program_add(b, TS_OP_wait, 1, in);
    ts_program_add(b, TS_OP_smov, 2, ts_sreg(2), ts_integer(0));
    add_rows(f);
    ts_program_add(b, TS_OP_dma, 1,
                   ts_program_transfer(b, box(f->x, block, rows), box(f->xb, buffer, one), out));
    ts_program_open(b);
    ts_program_add(b, TS_OP_wait, 1, out);
    ts_program_add(b, TS_OP_sadd, 3, ts_sreg(1), ts_sreg(1), ts_integer(1));
    ts_program_close(b);
    ts_program_add(b, TS_OP_br_lt, 3, ts_sreg(1), ts_integer(2), next);
    return ts_program_end(b);
}

TEST_WITH(the_same_program_as_from_text, setup, teardown) {
    fixture *f = *state;
    ts_source source = {"text", text, sizeof text - 1};
    const ts_program *parsed = ts_program_parse(&f->err, f->arena, &source, &f->target, NULL, 0);
    assert_non_null(parsed);
    const ts_program *built = build(f);
    assert_non_null(built);
    ts_text a, b;
    a = ts_text_begin(f->arena);
    b = ts_text_begin(f->arena);
    ts_program_print(parsed, &a);
    ts_program_print(built, &b);
    assert_string_equal(a.bytes, b.bytes);
    assert_true(strstr(a.bytes, "mask=0xf0") != NULL && strstr(a.bytes, "{ ") != NULL);
}

TEST_WITH(it_runs_and_is_checked, setup, teardown) {
    fixture *f = *state;
    ts_run_request request = {
        .program = "built", .built = build(f), .machine = f->machine, .max_cycles = 1000000};
    ts_run_result result;
    bool ran = ts_run(&f->err, f->arena, &request, &result);
    assert_string_equal(f->err.message, "");
    assert_true(ran);
    assert_true(result.passed);
    assert_int_equal(result.checks[0].count, 64 * 256);
    assert_int_equal(result.counters.values[TS_COUNTER_TRANSFERS], 4);
}

TEST_WITH(a_view_takes_no_space, setup, teardown) {
    fixture *f = *state;
    declare(f);
    int view = ts_program_view(f->b, "view", shape_of(f, "bf16[64,512]{1,0:T(8,128)(2,1)}"), f->x);
    assert_int_equal(ts_program_view(f->b, "less", shape_of(f, "f32[64,128]{1,0:T(8,128)}"), f->x), -1);
    int next = ts_program_tensor(f->b, "next", TS_SPACE_HBM, shape_of(f, "f32[8,128]{1,0:T(8,128)}"),
                                 &(ts_tensor_use){0});
    assert_int_equal(ts_program_get_tensor(f->b, view)->base_bytes,
                     ts_program_get_tensor(f->b, f->x)->base_bytes);
    assert_int_equal(ts_program_get_tensor(f->b, next)->base_bytes, 64 * 256 * 4);
    ts_program_view(f->b, "x", shape_of(f, "f32[64,256]{1,0:T(8,128)}"), f->x);
    assert_null(ts_program_end(f->b));
    assert_non_null(strstr(f->err.message, "x"));
}

/* ---- What kernels need beside ---- */

static const ts_program *printed(fixture *f, ts_text *out) {
    const ts_program *program = ts_program_end(f->b);
    assert_string_equal(f->err.message, "");
    assert_non_null(program);
    *out = ts_text_begin(f->arena);
    ts_program_print(program, out);
    return program;
}

static ts_operand block_in(fixture *f) {
    ts_affine zero[] = {ts_index(0), ts_index(0), ts_index(0)};
    int64_t rows[] = {32, 256}, one[] = {1, 32, 256};
    return ts_program_transfer(f->b, box(f->xb, zero, one), box(f->x, zero, rows), ts_semaphore(f->in));
}

/* To another device; where another tensor is; counted in bytes; with a report. */
TEST_WITH(as_text_has_it, setup, teardown) {
    fixture *f = *state;
    ts_text out;
    declare(f);
    int again = ts_program_tensor(f->b, "again", TS_SPACE_VMEM, shape_of(f, "s32[64,256]{1,0:T(8,128)}"),
                                  &(ts_tensor_use){0});
    assert_int_equal(ts_program_get_tensor(f->b, again)->base_bytes, 64 * 256 * 4);
    ts_program_share(f->b, again, f->xb);
    ts_program_view(f->b, "view", shape_of(f, "bf16[64,512]{1,0:T(8,128)(2,1)}"), f->x);
    for (int i = 0; i < 2; i++) ts_program_count_bytes(f->b, f->in + i);
    ts_program_report_text(f->b, "top", "max(x)");
    ts_operand transfer = block_in(f);
    ts_program_to_device(f->b, transfer, ts_semaphore_of(f->in, 2, 3), ts_index_of(4, 2, 1));
    ts_program_add(f->b, TS_OP_dma, 1, transfer);
    ts_affine to[] = {ts_index(1), ts_index(16), ts_index(128)}, from[] = {ts_index(8), ts_index(128)};
    int64_t tile[] = {1, 8, 128};
    ts_program_add(
        f->b, TS_OP_dma, 1,
        ts_program_transfer(f->b, box(f->xb, to, tile), box(f->x, from, tile + 1), ts_semaphore(f->in)));
    const ts_program *program = printed(f, &out);
    assert_int_equal(ts_program_line(program, 0), 1);
    assert_int_equal(program->code.transfers[0].line, 1);
    assert_int_equal(program->code.transfers[0].column, 1);
    assert_int_equal(program->code.tensors[again].base_bytes, program->code.tensors[f->xb].base_bytes);
    assert_string_equal(out.bytes,
                        ".tensor x hbm f32[64,256]{1,0:T(8,128)} in iota\n"
                        ".tensor xb vmem f32[2,32,256]{2,1,0:T(8,128)}\n"
                        ".tensor again vmem s32[64,256]{1,0:T(8,128)}\n"
                        ".tensor view hbm bf16[64,512]{1,0:T(8,128)(2,1)}\n"
                        ".sem in[2] bytes\n.sem out[1]\n.report top = max(x)\n"
                        "    dma xb[0, 0:+32, 0:+256] <- x[0:+32, 0:+256], in[0], in[s3] device=s4 * 2 + 1\n"
                        "    dma xb[1, 16:+8, 128:+128] <- x[8:+8, 128:+128], in[0]\n");
}

/* Instructions are of a line of a text, as far as it has that. */
TEST_WITH(lines_are_of_texts, setup, teardown) {
    fixture *f = *state;
    const ts_source own = {"kernels/own.py", "one\ntwo\nthree", 13},
                    other = {"kernels/lib/other.py", "\nb", 2};
    const struct {
        const ts_source *source;
        int line, found;
    } rows[] = {{&own, 2, 2}, {&other, 1, 1}, {&other, 7, 2}, {&own, 3, 3}, {&other, 2, 2}};
    enum { ROWS = sizeof rows / sizeof rows[0] };
    for (int i = 0; i < ROWS; i++) {
        ts_program_from(f->b, rows[i].source, rows[i].line);
        ts_program_add(f->b, TS_OP_smov, 2, ts_sreg(i), ts_integer(i));
    }
    ts_text out;
    const ts_program *program = printed(f, &out);
    assert_int_equal(program->code.bundle_count, ROWS);
    assert_int_equal(program->frame_count, 1);
    assert_true(program->frames[0].first_line == 1 && program->frames[0].end_line == 3);
    assert_ptr_equal(ts_program_frame_text(program, 0), &other);
    assert_ptr_equal(ts_program_frame_text(program, -1), &own);
    for (int i = 0; i < ROWS; i++) {
        ts_text where = ts_text_begin(f->arena), bundle = ts_text_begin(f->arena);
        assert_ptr_equal(ts_program_source(program, i), rows[i].source);
        assert_int_equal(ts_program_line(program, i), rows[i].found);
        ts_program_print_location(program, ts_program_source(program, i), ts_program_line(program, i),
                                  &where);
        assert_string_equal(where.bytes, ts_text_format(f->arena, "line %d", rows[i].found));
        ts_program_print_bundle(program, i, &bundle);
        assert_string_equal(bundle.bytes, ts_text_format(f->arena, "smov s%d, %d", i, i));
    }
}

/* ---- Errors ---- */

static void error_of(fixture *f, const char *message) {
    assert_null(ts_program_end(f->b));
    assert_string_equal(f->err.message, message);
    assert_string_equal(f->err.name, "built");
    assert_int_equal(f->err.line, 1);
}

TEST_WITH(wrong_operand, setup, teardown) {
    fixture *f = *state;
    ts_program_add(f->b, TS_OP_vadd_f32, 3, ts_vreg(0), ts_vreg(0), ts_vmask(1));
    ts_program_add(f->b, TS_OP_vadd_f32, 1, ts_vreg(0)); /* after an error nothing more is said */
    error_of(f, "vadd.f32: operand 3: found vmask, expected vreg, sreg or f32 number");
}

/* What follows an error is not looked at. */
TEST_WITH(wrong_among_packed, setup, teardown) {
    fixture *f = *state;
    ts_program_pack_begin(f->b);
    ts_program_add(f->b, TS_OP_vld, 2, ts_vreg(0), ts_vreg(1));
    ts_program_pack_end(f->b);
    ts_program_open(f->b);
    error_of(f, "vld: operand 2: found vreg, expected VMEM address");
}

TEST_WITH(wrong_count, setup, teardown) {
    fixture *f = *state;
    ts_program_add(f->b, TS_OP_vadd_f32, 2, ts_vreg(0), ts_vreg(0));
    error_of(f, "vadd.f32 takes 3 operands, found 2");
}

/* The value of a wait may be left out. */
TEST_WITH(too_few_for_what_is_needed, setup, teardown) {
    fixture *f = *state;
    ts_program_add(f->b, TS_OP_wait, 0);
    error_of(f, "wait takes 1 operand, found 0");
}

TEST_WITH(more_than_any_takes, setup, teardown) {
    fixture *f = *state;
    ts_program_add(f->b, TS_OP_halt, 6, ts_sreg(0), ts_sreg(1), ts_sreg(2), ts_sreg(3), ts_sreg(4),
                   ts_sreg(5));
    error_of(f, "halt takes 0 operands, found 6");
}

TEST_WITH(wrong_register, setup, teardown) {
    fixture *f = *state;
    ts_program_add(f->b, TS_OP_smov, 2, ts_sreg(400), ts_integer(0));
    assert_null(ts_program_end(f->b));
    assert_true(strncmp(f->err.message, "there is no sreg s400: ", 23) == 0);
}

TEST_WITH(wrong_mask, setup, teardown) {
    fixture *f = *state;
    ts_program_add_named(f->b, 0, "smov", 2, (const ts_operand[]){ts_sreg(0), ts_integer(0)});
    error_of(f, "smov takes no mask");
}

TEST_WITH(wrong_semaphore, setup, teardown) {
    fixture *f = *state;
    ts_program_add(f->b, TS_OP_wait, 1, ts_semaphore(3));
    error_of(f, "there is no semaphore 3");
}

TEST_WITH(wrong_index, setup, teardown) {
    fixture *f = *state;
    declare(f);
    ts_affine index[] = {ts_index(0), ts_index(32), ts_index(0)};
    ts_program_at(f->b, f->xb, index);
    error_of(f, "index 32 is outside dim 1, which has 32");
}

/* Addresses of HBM were taken for addresses of VMEM. */
TEST_WITH(wrong_space, setup, teardown) {
    fixture *f = *state;
    declare(f);
    ts_affine zero[] = {ts_index(0), ts_index(0), ts_index(0)};
    ts_program_add(f->b, TS_OP_vld, 2, ts_vreg(0), ts_program_at(f->b, f->x, zero));
    error_of(f, "'x' is in hbm, expected a tensor in vmem");
}

TEST_WITH(wrong_boundary, setup, teardown) {
    fixture *f = *state;
    declare(f);
    ts_affine index[] = {ts_index(0), ts_index(3), ts_index(0)};
    ts_program_at(f->b, f->xb, index);
    error_of(f, "the index into 'xb' gives no address: it is not on a tile boundary: 3 in dim 1 is no "
                "multiple of 8; with stride=1 behind it an access may begin at any row of 128 words");
}

TEST_WITH(wrong_slice, setup, teardown) {
    fixture *f = *state;
    declare(f);
    ts_affine zero[] = {ts_index(0), ts_index(0), ts_index(0)};
    int64_t rows[] = {32, 256}, one[] = {1, 16, 256};
    ts_program_transfer(f->b, box(f->xb, zero, one), box(f->x, zero, rows), ts_semaphore(f->in));
    error_of(f, "the destination takes [16,256] and the source gives [32,256]");
}

/* The excerpt is the name of the tensor whose slice it is. */
TEST_WITH(slice_outside, setup, teardown) {
    fixture *f = *state;
    declare(f);
    ts_affine zero[] = {ts_index(0), ts_index(0), ts_index(0)}, before[] = {ts_index(-16), ts_index(0)};
    int64_t rows[] = {16, 256}, one[] = {1, 16, 256};
    ts_program_transfer(f->b, box(f->xb, zero, one), box(f->x, before, rows), ts_semaphore(f->in));
    error_of(f, "the slice from -16, of 16, is outside dim 0, which has 64");
    assert_string_equal(f->err.excerpt, "x");
}

TEST_WITH(empty_slices, setup, teardown) {
    fixture *f = *state;
    ts_affine zero[] = {ts_index(0), ts_index(0), ts_index(0)};
    int64_t rows[][2] = {{0, 256}, {-8, 256}}, one[][3] = {{1, 0, 256}, {1, -8, 256}};
    for (int i = 0; i < 2; i++) {
        f->b = ts_program_begin(&f->err, f->arena, "built", &f->target);
        declare(f);
        ts_program_transfer(f->b, box(f->xb, zero, one[i]), box(f->x, zero, rows[i]), ts_semaphore(f->in));
        error_of(f, "the slice holds nothing");
        f->err = (ts_error){0};
    }
}

TEST_WITH(wrong_label, setup, teardown) {
    fixture *f = *state;
    ts_program_add(f->b, TS_OP_jump, 1, ts_program_label(f->b));
    error_of(f, "jump goes to a label that was never placed");
}

TEST_WITH(no_such_label, setup, teardown) {
    fixture *f = *state;
    ts_program_place(f->b, ts_sreg(0));
    error_of(f, "there is no such label");
}

TEST_WITH(no_such_label_yet, setup, teardown) {
    fixture *f = *state;
    ts_operand label = ts_program_label(f->b);
    label.as.label++;
    ts_program_place(f->b, label);
    error_of(f, "there is no such label");
}

TEST_WITH(placed_twice, setup, teardown) {
    fixture *f = *state;
    ts_operand label = ts_program_label(f->b);
    ts_program_place(f->b, label);
    ts_program_add(f->b, TS_OP_jump, 1, label);
    ts_program_place(f->b, label);
    error_of(f, "the label is placed twice");
}

/* As the assembler has it: bundles hold instructions, and nothing else. */
TEST_WITH(wrong_bundles, setup, teardown) {
    fixture *f = *state;
    static const char *const messages[] = {"a bundle in a bundle",
                                           "no bundle is open",
                                           "the bundle is empty",
                                           "a label stands before a bundle, not in one",
                                           "packing begins and ends between bundles, not in one",
                                           "packing begins and ends between bundles, not in one",
                                           "the bundle is not closed"};
    for (int i = 0; i < 7; i++) {
        f->b = ts_program_begin(&f->err, f->arena, "built", &f->target);
        if (i != 1) ts_program_open(f->b);
        if (i != 1 && i != 2) ts_program_add(f->b, TS_OP_nop, 0);
        if (i == 0) ts_program_open(f->b);
        if (i == 1 || i == 2) ts_program_close(f->b);
        if (i == 3) ts_program_place(f->b, ts_program_label(f->b));
        if (i == 4) ts_program_pack_begin(f->b);
        if (i == 5) ts_program_pack_end(f->b);
        if (i < 6 && i != 1 && i != 2) ts_program_close(f->b);
        error_of(f, messages[i]);
        f->err = (ts_error){0};
    }
}

TEST_WITH(wide_integers, setup, teardown) {
    fixture *f = *state;
    ts_program_add(f->b, TS_OP_sadd, 3, ts_sreg(1), ts_sreg(1), ts_integer(INT32_MIN));
    ts_program_add(f->b, TS_OP_sadd, 3, ts_sreg(1), ts_sreg(1), ts_integer(UINT32_MAX));
    assert_int_equal(f->err.kind, TS_ERROR_NONE);
    ts_program_add(f->b, TS_OP_sadd, 3, ts_sreg(1), ts_sreg(1), ts_integer((int64_t)UINT32_MAX + 1));
    error_of(f, "4294967296 does not fit in 32 bits");
}

TEST_WITH(narrow_integers, setup, teardown) {
    fixture *f = *state;
    ts_program_add(f->b, TS_OP_sadd, 3, ts_sreg(1), ts_sreg(1), ts_integer((int64_t)INT32_MIN - 1));
    error_of(f, "-2147483649 does not fit in 32 bits");
}

TEST_WITH(no_semaphore, setup, teardown) {
    fixture *f = *state;
    declare(f);
    ts_affine zero[] = {ts_index(0), ts_index(0), ts_index(0)};
    int64_t rows[] = {16, 256}, one[] = {1, 16, 256};
    ts_program_transfer(f->b, box(f->xb, zero, one), box(f->x, zero, rows), ts_sreg(1));
    error_of(f, "a transfer needs a semaphore");
}

TEST_WITH(wrong_name, setup, teardown) {
    fixture *f = *state;
    declare(f);
    assert_int_equal(ts_program_semaphores(f->b, "x", 1), -1);
    assert_null(ts_program_end(f->b));
    assert_true(strstr(f->err.message, "'x'") != NULL);
}

/* What could not be said in text is refused: it would be printed, and not be read back. */
TEST_WITH(no_names, setup, teardown) {
    fixture *f = *state;
    static const char *const names[] = {"", "a-b", "a b", " a", "a\nb", "a.b", "-1", "1.5", "inf", "\"a\""};
    ts_tensor_use use = {0};
    for (size_t i = 0; i < 2 * sizeof names / sizeof names[0]; i++) {
        char message[64];
        f->b = ts_program_begin(&f->err, f->arena, "built", &f->target);
        if (i % 2)
            assert_int_equal(ts_program_semaphores(f->b, names[i / 2], 1), -1);
        else
            assert_int_equal(ts_program_tensor(f->b, names[i / 2], TS_SPACE_HBM, shape_of(f, "f32[8]"), &use),
                             -1);
        snprintf(message, sizeof message, "found '%s', expected a name", i / 2 == 4 ? "a?b" : names[i / 2]);
        error_of(f, message);
        f->err = (ts_error){0};
    }
}

TEST_WITH(values_of_no_input, setup, teardown) {
    fixture *f = *state;
    ts_tensor_use use = {.role = TS_ROLE_OUT, .fill = TS_FILL_IOTA};
    assert_int_equal(ts_program_tensor(f->b, "y", TS_SPACE_HBM, shape_of(f, "f32[8]"), &use), -1);
    error_of(f, "only a tensor that is 'in' or 'inout' begins with values");
}

TEST_WITH(no_such_tensor, setup, teardown) {
    fixture *f = *state;
    declare(f);
    ts_program_at(f->b, 2, (ts_affine[]){ts_index(0), ts_index(0), ts_index(0)});
    error_of(f, "there is no tensor 2");
}

TEST_WITH(no_such_destination, setup, teardown) {
    fixture *f = *state;
    declare(f);
    ts_affine zero[] = {ts_index(0), ts_index(0), ts_index(0)};
    int64_t one[] = {1, 32, 256};
    ts_program_transfer(f->b, box(2, zero, one), box(f->xb, zero, one), ts_semaphore(f->in));
    error_of(f, "there is no tensor 2");
}

TEST_WITH(no_such_source, setup, teardown) {
    fixture *f = *state;
    declare(f);
    ts_affine zero[] = {ts_index(0), ts_index(0), ts_index(0)};
    int64_t one[] = {1, 32, 256};
    ts_program_transfer(f->b, box(f->xb, zero, one), box(-1, zero, one), ts_semaphore(f->in));
    error_of(f, "there is no tensor -1");
}

TEST_WITH(no_such_space, setup, teardown) {
    fixture *f = *state;
    ts_tensor_use use = {0};
    assert_int_equal(ts_program_tensor(f->b, "c", TS_SPACE_CMEM, shape_of(f, "f32[8,128]{1,0}"), &use), -1);
    error_of(f, "tpu-v5e has no cmem");
}

TEST_WITH(no_such_instruction, setup, teardown) {
    fixture *f = *state;
    ts_program_add_named(f->b, -1, "vad.f32", 1, (const ts_operand[]){ts_vreg(0)});
    error_of(f, "unknown instruction 'vad.f32'; did you mean 'vadd.f32'?");
}

/* At least one sublane, at most 8; strides from 0. */
TEST_WITH(wrong_rows, setup, teardown) {
    fixture *f = *state;
    static const struct {
        int64_t stride;
        int mask;
    } rows[] = {{-1, 1}, {1, 0}, {1, 0x100}, {INT64_C(1) << 31, 1}};
    ts_affine zero[] = {ts_index(0), ts_index(0), ts_index(0)};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        f->err = (ts_error){0};
        f->b = ts_program_begin(&f->err, f->arena, "built", &f->target);
        declare(f);
        ts_program_rows(f->b, f->xb, zero, 0, 1);
        ts_program_rows(f->b, f->xb, zero, INT32_MAX, 1);
        assert_int_equal(f->err.kind, TS_ERROR_NONE);
        ts_program_rows(f->b, f->xb, zero, rows[i].stride, rows[i].mask);
        error_of(f, "expected a stride from 0 and a mask of 1 to 8 sublanes");
    }
}

TEST_WITH(wrong_receiver, setup, teardown) {
    fixture *f = *state;
    declare(f);
    ts_program_to_device(f->b, block_in(f), ts_sreg(1), ts_index(0));
    error_of(f, "expected a transfer, and a semaphore of the device that it goes to");
}

TEST_WITH(wrong_transfer, setup, teardown) {
    fixture *f = *state;
    declare(f);
    ts_program_to_device(f->b, ts_sreg(1), ts_semaphore(f->in), ts_index(0));
    error_of(f, "expected a transfer, and a semaphore of the device that it goes to");
}

TEST_WITH(wrong_device, setup, teardown) {
    fixture *f = *state;
    declare(f);
    ts_program_to_device(f->b, block_in(f), ts_semaphore(f->in), ts_index_of(400, 1, 0));
    assert_null(ts_program_end(f->b));
    assert_true(strncmp(f->err.message, "there is no sreg s400: ", 23) == 0);
}

TEST_WITH(no_such_receiver, setup, teardown) {
    fixture *f = *state;
    declare(f);
    ts_program_to_device(f->b, block_in(f), ts_semaphore(3), ts_index(0));
    error_of(f, "there is no semaphore 3");
}
