/* A program made in C and run: x + 1 on any machine, and what it costs. Needs nothing but the installed
 * library: cc examples/builder.c $(pkg-config --cflags --libs tilesim) -o builder && ./builder tpu-v5e */
#include <stdio.h>

#include <tilesim.h>

enum { ROWS = 64, COLS = 256 };

/* All of x to VMEM, 1 more in each tile, and back. */
static const ts_program *build(ts_error *err, ts_arena *arena, const ts_machine *machine) {
    static const char shape[] = "f32[64,256]{1,0:T(8,128)}";
    static const ts_builder_index start[2];
    static const int64_t all[] = {ROWS, COLS};
    ts_builder *b = ts_builder_new(err, arena, machine, "increment");
    ts_builder_box x = {ts_builder_tensor(b, "x", "hbm", shape, "inout", "iota"), start, all};
    ts_builder_box xb = {ts_builder_tensor(b, "xb", "vmem", shape, "scratch", NULL), start, all};
    ts_value done = ts_builder_semaphore(b, ts_builder_semaphores(b, "done", 1)), next = ts_builder_label(b);
    ts_value s1 = ts_builder_sreg(b, 1), one = ts_builder_f32(b, 1.0f);
    ts_builder_check(b, "x == iota(64, 256) + 256 * iota(64, 256, axis=0) + 1");
    ts_builder_add(b, "dma", 1, ts_builder_transfer(b, &xb, &x, done));
    ts_builder_add(b, "wait", 1, done);
    ts_builder_pack(b, 1);
    ts_builder_place(b, next);
    for (int i = 0; i < COLS / 128; i++) {
        ts_builder_index tile[] = {{0, 1, 1}, {128 * i, 0, 0}}; /* xb[s1, 128 * i] */
        ts_value v = ts_builder_vreg(b, i), at = ts_builder_at(b, xb.tensor, tile);
        ts_builder_add(b, "vld", 2, v, at);
        ts_builder_add(b, "vadd.f32", 3, v, v, one);
        ts_builder_add(b, "vst", 2, at, v);
    }
    ts_builder_add(b, "sadd", 3, s1, s1, ts_builder_integer(b, 8));
    ts_builder_add(b, "br.lt", 3, s1, ts_builder_integer(b, ROWS), next);
    ts_builder_pack(b, 0);
    ts_builder_add(b, "dma", 1, ts_builder_transfer(b, &x, &xb, done));
    ts_builder_add(b, "wait", 1, done);
    return ts_builder_end(b);
}

int main(int argc, char **argv) {
    ts_error *err = ts_error_new();
    ts_arena *arena = ts_arena_new();
    ts_run_options options = {.struct_bytes = sizeof options};
    const ts_simulation *run = NULL;
    options.machine = ts_machine_load(err, arena, argc > 1 ? argv[1] : "tpu-v5e");
    if (options.machine && (options.program = build(err, arena, options.machine)))
        run = ts_simulate(err, arena, &options);
    int right = run && ts_simulation_passed(run);
    if (run)
        printf("%s: %lld cycles, %s\n", ts_machine_title(options.machine),
               (long long)ts_simulation_cycles(run), right ? "right" : "wrong");
    else
        fprintf(stderr, "builder: %s\n", ts_error_message(err));
    ts_arena_free(arena);
    ts_error_free(err);
    return !right;
}
