/* A program made in C and run: x + 1 on any machine, and what it costs. Needs nothing but the installed
 * library: cc examples/builder.c $(pkg-config --cflags --libs tilesim) -o builder && ./builder tpu-v5e */
#include <stdio.h>
#include <string.h>

#include <tilesim/machine/machine.h>
#include <tilesim/program/builder.h>
#include <tilesim/run/run.h>

enum { ROWS = 64, COLS = 256 };

static const ts_shape *shape_of(ts_error *err, ts_arena *arena, const char *text) {
    ts_source source = {"shape", text, strlen(text)};
    const ts_shape *shape = ts_shape_parse(err, arena, &source);
    return shape && ts_shape_layout(err, shape, "a tensor") ? shape : NULL;
}

/* All of x to VMEM, 1 more in each tile, and back. */
static const ts_program *build(ts_error *err, ts_arena *arena, const ts_target *target) {
    const ts_shape *shape = shape_of(err, arena, "f32[64,256]{1,0:T(8,128)}");
    if (!shape) return NULL;
    ts_program_builder *b = ts_program_begin(err, arena, "increment", target);
    int x = ts_program_tensor(b, "x", TS_SPACE_HBM, shape,
                              &(ts_tensor_use){.role = TS_ROLE_INOUT, .fill = TS_FILL_IOTA});
    int xb = ts_program_tensor(b, "xb", TS_SPACE_VMEM, shape, &(ts_tensor_use){.role = TS_ROLE_SCRATCH});
    ts_operand done = ts_semaphore(ts_program_semaphores(b, "done", 1)), next = ts_program_label(b);
    ts_affine start[] = {ts_index(0), ts_index(0)};
    int64_t all[] = {ROWS, COLS};
    ts_program_check_text(b, "x == iota(64, 256) + 256 * iota(64, 256, axis=0) + 1");
    ts_program_add(b, TS_OP_dma, 1, ts_program_transfer(b, xb, start, all, x, start, all, done));
    ts_program_add(b, TS_OP_wait, 1, done);
    ts_program_pack(b, true);
    ts_program_place(b, next);
    for (int i = 0; i < COLS / 128; i++) {
        ts_affine tile[] = {ts_index_of(1, 1, 0), ts_index(128 * i)}; /* xb[s1, 128 * i] */
        ts_program_add(b, TS_OP_vld, 2, ts_vreg(i), ts_program_at(b, xb, tile));
        ts_program_add(b, TS_OP_vadd_f32, 3, ts_vreg(i), ts_vreg(i), ts_f32(1.0f));
        ts_program_add(b, TS_OP_vst, 2, ts_program_at(b, xb, tile), ts_vreg(i));
    }
    ts_program_add(b, TS_OP_sadd, 3, ts_sreg(1), ts_sreg(1), ts_integer(8));
    ts_program_add(b, TS_OP_br_lt, 3, ts_sreg(1), ts_integer(ROWS), next);
    ts_program_pack(b, false);
    ts_program_add(b, TS_OP_dma, 1, ts_program_transfer(b, x, start, all, xb, start, all, done));
    ts_program_add(b, TS_OP_wait, 1, done);
    return ts_program_end(b);
}

int main(int argc, char **argv) {
    ts_error err = {0};
    ts_arena *arena = ts_arena_new();
    ts_target target;
    ts_run_result result;
    bool good = false;
    const ts_machine *machine = ts_machine_load(&err, arena, argc > 1 ? argv[1] : "tpu-v5e");
    if (machine) {
        ts_run_target(machine, &target);
        const ts_program *program = build(&err, arena, &target);
        ts_run_request request = {
            .program = "increment", .built = program, .machine = machine, .max_cycles = INT64_MAX};
        good = program && ts_run(&err, arena, &request, &result);
    }
    if (good)
        printf("%s: %lld cycles, %lld bundles, %s\n", machine->name, (long long)result.chip.cycles,
               (long long)result.chip.cores[0].bundles, result.passed ? "right" : "wrong");
    else
        fprintf(stderr, "builder: %s\n", err.message);
    ts_arena_free(arena);
    return !good || !result.passed;
}
