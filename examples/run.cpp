// A program with arrays of one's own: doubles an array, ./run tpu-v5e
#include <cstdio>
#include <memory>
#include <numeric>
#include <vector>

#include <tilesim.h>

static const char text[] = R"(
.tensor x  hbm  f32[8,128]{1,0:T(8,128)} inout
.tensor xb vmem f32[8,128]{1,0:T(8,128)}
.sem done
 dma xb <- x, done
 wait done
 vld v0, xb[0, 0]
 vadd.f32 v0, v0, v0
 vst xb[0, 0], v0
 dma x <- xb, done
 wait done
)";

int main(int argc, char **argv) {
    std::unique_ptr<ts_error, void (*)(ts_error *)> err(ts_error_new(), ts_error_free);
    std::unique_ptr<ts_arena, void (*)(ts_arena *)> arena(ts_arena_new(), ts_arena_free);
    std::vector<float> values(8 * 128);
    std::iota(values.begin(), values.end(), 0.0f);
    const int64_t dims[] = {8, 128};
    ts_input input = {"x", ts_array_wrap(err.get(), arena.get(), "f32", 2, dims, values.data())};
    ts_run_options options{};
    options.struct_bytes = sizeof options, options.inputs = &input, options.input_count = 1;
    options.machine = ts_machine_load(err.get(), arena.get(), argc > 1 ? argv[1] : "tpu-v5e");
    ts_program_request program{};
    program.struct_bytes = sizeof program, program.machine = options.machine, program.source = text;
    if (options.machine) options.program = ts_program_assemble(err.get(), arena.get(), &program);
    const ts_simulation *run = options.program ? ts_simulate(err.get(), arena.get(), &options) : nullptr;
    if (!run) return std::fprintf(stderr, "run: %s\n", ts_error_message(err.get())), 1;
    auto out = static_cast<const float *>(ts_array_data(ts_simulation_output(run, "x")));
    std::printf("%lld cycles, x[7,127] = %g\n", (long long)ts_simulation_cycles(run), out[8 * 128 - 1]);
}
