/* A program with arrays of one's own: doubles an array, ./run tpu-v5e */
#include <stdio.h>

#include <tilesim.h>

static const char text[] =
    ".tensor x hbm f32[8,128]{1,0:T(8,128)} inout\n.tensor xb vmem f32[8,128]{1,0:T(8,128)}\n"
    ".sem done\n dma xb <- x, done\n wait done\n vld v0, xb[0, 0]\n"
    " vadd.f32 v0, v0, v0\n vst xb[0, 0], v0\n dma x <- xb, done\n wait done\n";

int main(int argc, char **argv) {
    ts_error *err = ts_error_new();
    ts_arena *arena = ts_arena_new();
    float values[8 * 128];
    const int64_t dims[] = {8, 128};
    for (int i = 0; i < 8 * 128; i++) values[i] = (float)i;
    ts_input input = {"x", ts_array_wrap(err, arena, "f32", 2, dims, values)};
    ts_run_options options = {.struct_bytes = sizeof options, .inputs = &input, .input_count = 1};
    const ts_simulation *run = NULL;
    ts_program_request program = {.struct_bytes = sizeof program, .source = text};
    options.machine = program.machine = ts_machine_load(err, arena, argc > 1 ? argv[1] : "tpu-v5e");
    if (options.machine && (options.program = ts_program_assemble(err, arena, &program)))
        run = ts_simulate(err, arena, &options);
    if (run) {
        const float *out = ts_array_data(ts_simulation_output(run, "x"));
        printf("%lld cycles, x[7,127] = %g\n", (long long)ts_simulation_cycles(run), out[8 * 128 - 1]);
    } else {
        fprintf(stderr, "run: %s\n", ts_error_message(err));
    }
    ts_arena_free(arena);
    ts_error_free(err);
    return !run;
}
