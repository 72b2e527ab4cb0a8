/* Whole runs: who takes the CPU time, and their memory. Then long ones, time only, and how fast programs run, a second of CPU time: the
 * core alone (its DMAs done at once, nothing moved), then the whole chip, with values and without. */
#include <math.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/host_clock.h"
#include "run/session.h"

static const struct {
    const char *path;
    ts_define sizes[3];
    int size_count;
    double flops;
} programs[] = {
    {"programs/add.tsim", {{"ROWS", "8192"}, {"COLS", "1024"}}, 2, 0},
    {"programs/softmax.tsim", {{"ROWS", "8192"}, {"COLS", "1000"}}, 2, 0},
    {"programs/normalize.tsim", {{"ROWS", "8192"}, {"COLS", "1000"}}, 2, 0},
    {"programs/matmul.tsim", {{"M", "1024"}, {"N", "1024"}, {"K", "1024"}}, 3, 2.0 * 1024 * 1024 * 1024},
};
enum { PROGRAMS = sizeof programs / sizeof programs[0] };

static void print(int number, const char *what, const ts_core_counters *core, double elapsed) {
    int64_t vector = 0;
    for (int slot = TS_SLOT_VALU; slot <= TS_SLOT_XLU; slot++) vector += core->instructions[slot];
    printf("%-26s %-18s %10.3g %12.3g", programs[number].path, what, (double)core->bundles / elapsed,
           (double)vector / elapsed);
    if (programs[number].flops > 0) printf(" %10.3g", programs[number].flops / elapsed * 1e-9);
    printf("\n");
}

static bool done_at_once(ts_error *err, void *semaphores, const ts_core_start *start) {
    (void)err;
    ((int64_t *)semaphores)[start->semaphore]++;
    return true;
}

static bool bench_core(ts_error *err, ts_arena *arena, const ts_chip_config *config, const ts_code *code,
                       int number) {
    int64_t *semaphores = TS_NEW_ARRAY(arena, int64_t, code->semaphore_count);
    ts_core_ports ports = {.chip = semaphores, .dma_start = done_at_once};
    ts_core_setup setup = {.config = &config->core, .code = code, .semaphores = semaphores, .ports = &ports};
    ts_core_counters counters;
    setup.vmem = ts_space_new(arena, "vmem", config->spaces[TS_SPACE_VMEM]->capacity_bytes);
    setup.smem = ts_space_new(arena, "smem", config->spaces[TS_SPACE_SMEM]->capacity_bytes);
    ts_space_hold(setup.vmem, 0, setup.vmem->capacity_bytes);
    ts_space_hold(setup.smem, 0, setup.smem->capacity_bytes);
    ts_core *core = ts_core_new(err, arena, &setup);
    double start = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID);
    bool good = core != NULL;
    while (good && !ts_core_halted(core)) good = ts_core_step(err, core, INT64_MAX, INT64_MAX);
    double elapsed = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
    if (good) ts_core_count(core, &counters);
    if (good) print(number, "core, values", &counters, elapsed);
    ts_space_free(setup.vmem);
    ts_space_free(setup.smem);
    return good;
}

static bool bench_chip(ts_error *err, ts_arena *arena, const ts_chip_config *config, const ts_code *code,
                       int number) {
    ts_chip_counters counters;
    ts_chip *chip = ts_chip_new(err, arena, config, code, NULL);
    if (!chip) return false;
    double start = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID);
    bool good = ts_chip_run(err, chip, INT64_MAX);
    double elapsed = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
    ts_chip_count(chip, &counters);
    print(number, config->time_only ? "chip, time only" : "chip, values", &counters.cores[0], elapsed);
    ts_chip_free(chip);
    return good;
}

static bool bench(ts_error *err, ts_arena *arena, const ts_machine *machine, int number) {
    ts_target target;
    ts_chip_config config;
    ts_run_target(machine, &target);
    ts_chip_configure(machine, &config);
    const ts_program *program = ts_program_load(err, arena, programs[number].path, &target,
                                                programs[number].sizes, programs[number].size_count);
    if (!program || !bench_core(err, arena, &config, &program->code, number) ||
        !bench_chip(err, arena, &config, &program->code, number))
        return false;
    config.time_only = true;
    return bench_chip(err, arena, &config, &program->code, number);
}

/* ---- Whole runs ---- */

static const struct {
    const char *path;
    ts_define sizes[3];
    int size_count;
} whole[] = {
    {"programs/softmax.tsim", {{"ROWS", "8192"}}, 1},
    {"programs/add.tsim", {{"ROWS", "16384"}}, 1},
    {"programs/flash_attention.tsim", {{"HEADS", "32"}}, 1},
    {"programs/gelu.tsim", {{"ROWS", "65536"}}, 1},
    {"programs/matmul.tsim", {{"M", "2048"}, {"N", "2048"}, {"K", "1024"}}, 3},
};
enum { WHOLE = sizeof whole / sizeof whole[0] };

/* What the children find: seconds of the inputs (made, stored), of the machine, of all; bytes of the tensors
 * in HBM, and of all. */
typedef struct {
    double inputs, machine, all, hbm_bytes, tensor_bytes;
} shares;

static bool run_parts(ts_error *err, ts_arena *arena, const ts_run_request *request, shares *found) {
    ts_stop stop;
    const ts_session_goal end = {.bundles = INT64_MAX, .until = INT64_MAX};
    double start = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID);
    ts_session *session = ts_session_open(err, arena, request);
    found->inputs = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
    bool good = session && ts_session_go(err, session, &end, &stop);
    found->machine = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID) - start - found->inputs;
    ts_session_close(session);
    return good;
}

static bool run_all(ts_error *err, ts_arena *arena, const ts_run_request *request, shares *found) {
    ts_run_result result;
    double start = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID);
    bool good = ts_run(err, arena, request, &result);
    found->all = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
    for (int i = 0; good && i < result.program->code.tensor_count; i++) {
        const ts_tensor *t = &result.program->code.tensors[i];
        found->tensor_bytes += (double)t->bytes;
        if (t->space == TS_SPACE_HBM) found->hbm_bytes += (double)t->bytes;
    }
    return good;
}

/* In a process of its own, whose memory is its own. */
static bool in_child(bool (*does)(ts_error *, ts_arena *, const ts_run_request *, shares *),
                     const ts_run_request *request, shares *found, struct rusage *used) {
    int status = 1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        ts_error err = {.kind = TS_ERROR_NONE};
        bool good = does(&err, ts_arena_new(), request, found);
        if (!good) fprintf(stderr, "bench_run: %s\n", err.message);
        _exit(!good);
    }
    return child > 0 && wait4(child, &status, 0, used) == child && status == 0;
}

/* The least of some runs, for others use the host too. */
static bool measure(const ts_run_request *request, shares *found, shares *least, double *bytes) {
    enum { RUNS = 5 };
    struct rusage used;
    for (int i = 0; i < RUNS; i++) {
        *found = (shares){0};
        if (!in_child(run_parts, request, found, &used) || !in_child(run_all, request, found, &used))
            return false;
        if (i == 0 || found->inputs < least->inputs) least->inputs = found->inputs;
        if (i == 0 || found->machine < least->machine) least->machine = found->machine;
        if (i == 0 || found->all < least->all) least->all = found->all;
    }
    least->hbm_bytes = found->hbm_bytes;
    least->tensor_bytes = found->tensor_bytes;
    *bytes = (double)used.ru_maxrss * 1024;
    return true;
}

static bool bench_whole(const ts_machine *machine, shares *found, int number) {
    ts_run_request request = {.machine = machine,
                              .program = whole[number].path,
                              .defines = whole[number].sizes,
                              .define_count = whole[number].size_count,
                              .max_cycles = INT64_MAX};
    shares least;
    double bytes;
    if (!measure(&request, found, &least, &bytes)) return false;
    double rest = least.all - least.inputs - least.machine, percent = 100 / least.all;
    printf("%-30s %8.3f %8.0f %% %8.0f %% %8.0f %% %9.0f %8.2f %9.2f\n", whole[number].path, least.all,
           least.machine * percent, least.inputs * percent, rest * percent, bytes * 1e-6,
           bytes / least.hbm_bytes, bytes / least.tensor_bytes);
    return true;
}

/* ---- Long runs, time only ---- */

static const struct {
    const char *path;
    ts_define sizes[3];
    int size_count;
} large[] = {
    {"programs/softmax.tsim", {{"ROWS", "524288"}}, 1},
    {"programs/normalize.tsim", {{"ROWS", "1000000"}}, 1},
    {"programs/transpose.tsim", {{"ROWS", "64000"}, {"COLS", "4000"}}, 2},
    {"programs/transpose.tsim", {{"ROWS", "32768"}, {"COLS", "32768"}}, 2},
    {"programs/matmul.tsim", {{"M", "8192"}, {"N", "8192"}, {"K", "8192"}}, 3},
};
enum { LARGE = sizeof large / sizeof large[0] };

static bool bench_large(ts_error *err, ts_arena *arena, const ts_machine *machine, int number) {
    enum { RUNS = 3 };
    const ts_run_request request = {.machine = machine,
                                    .program = large[number].path,
                                    .defines = large[number].sizes,
                                    .define_count = large[number].size_count,
                                    .time_only = true,
                                    .max_cycles = INT64_MAX};
    ts_run_result result;
    double least = HUGE_VAL;
    for (int i = 0; i < RUNS; i++) {
        double start = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID);
        if (!ts_run(err, arena, &request, &result)) return false;
        least = fmin(least, ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID) - start);
    }
    printf("%-26s", large[number].path);
    for (int k = 0; k < large[number].size_count; k++)
        printf(" %s=%s", large[number].sizes[k].name, large[number].sizes[k].value);
    printf(": %.3f s, %.3g cycles\n", least, (double)result.chip.cycles);
    return true;
}

int main(void) {
    ts_error err = {.kind = TS_ERROR_NONE};
    ts_arena *arena = ts_arena_new();
    const ts_machine *machine = ts_machine_load(&err, arena, "tpu-v5e");
    shares *found = mmap(NULL, sizeof *found, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool good = machine != NULL && found != MAP_FAILED;
    printf("%-30s %8s %10s %10s %10s %9s %8s %9s\n", "program", "CPU s", "machine", "inputs", "reference",
           "MB", "/ HBM's", "/ tensors");
    for (int i = 0; good && i < WHOLE; i++)
        good = bench_whole(machine, found, i); /* children: while we are small */
    printf("\nlong runs, time only: CPU time (streams: goal 0.2 s)\n");
    for (int i = 0; good && i < LARGE; i++) good = bench_large(&err, arena, machine, i);
    printf("\n%-26s %-18s %10s %12s %10s\n", "program", "", "bundles/s", "vector ops/s", "GFLOP/s");
    for (int i = 0; good && i < PROGRAMS; i++) good = bench(&err, arena, machine, i);
    if (!good) fprintf(stderr, "bench_run: %s\n", err.message);
    ts_arena_free(arena);
    return !good;
}
