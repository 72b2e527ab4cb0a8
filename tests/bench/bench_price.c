/* How long a price takes, in milliseconds of CPU time: the first in a process, one asked after others, and
 * one that was asked before; beside what part of walking every access that is, and how far from it
 * the answer. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tilesim/dma/price.h"
#include "tilesim/machine/machine.h"

enum { RUNS = 5 };

static const struct {
    const char *name, *src, *dst;
    bool walked; /* also walk every access */
} rows[] = {
    {"tiling, N = 1024", "f32[1024,1024]{1,0}", "f32[1024,1024]{1,0:T(8,128)}", true},
    {"tiling, N = 4096", "f32[4096,4096]{1,0}", "f32[4096,4096]{1,0:T(8,128)}", true},
    {"tiling, N = 32768", "f32[32768,32768]{1,0}", "f32[32768,32768]{1,0:T(8,128)}", false},
    {"tiling into VMEM", "f32[4096,4096]{1,0}", "f32[4096,4096]{1,0:T(8,128)S(1)}", true},
    {"transpose", "f32[2048,2048]{1,0}", "f32[2048,2048]{0,1}", true},
    {"bf16 packing", "bf16[4096,4096]{1,0}", "bf16[4096,4096]{1,0:T(8,128)(2,1)}", true},
    {"a slice", "f32[512,512]{1,0:T(8,128)}", "f32[512,512]{1,0:T(8,128)S(1)}", true},
    {"4-D, permuted", "f32[64,8,128,256]{3,2,1,0}", "f32[64,8,128,256]{3,1,2,0:T(8,128)}", true},
};

static double milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static const ts_shape *parse(ts_arena *arena, const char *text) {
    ts_source source = {"shape", text, strlen(text)};
    return ts_shape_parse(NULL, arena, &source);
}

/* From the middle of larger tensors where the shape is that of a slice. */
static const ts_plan *plan_of(ts_arena *arena, const char *from, const char *to, bool is_slice) {
    static const int64_t middle[2] = {1024, 1024}, start[2] = {0, 0};
    const ts_shape *src = parse(arena, is_slice ? "f32[4096,4096]{1,0:T(8,128)}" : from),
                   *dst = parse(arena, to);
    ts_plan_side a = {.shape = src, .begin = is_slice ? middle : NULL},
                 b = {.shape = dst, .begin = is_slice ? start : NULL, .base_bits = INT64_C(1) << 36};
    return ts_plan_new(NULL, arena, &a, &b, dst->layout->rank, dst->layout->dims);
}

typedef struct {
    const ts_dma_machine *machine;
    const ts_plan *plan;
    ts_dma_end dst;
} question;

static double ask(const question *q, bool exact, int64_t *cycles) {
    ts_arena *scratch = ts_arena_new();
    ts_dma_end hbm = {.in_hbm = true};
    ts_dma_cost cost = {0};
    double start = milliseconds();
    ts_dma_price(NULL, scratch, q->machine, q->plan, hbm, q->dst, exact, &cost);
    double spent = milliseconds() - start;
    *cycles = cost.cycles;
    ts_arena_free(scratch);
    return spent;
}

static double best(const question *q) {
    double least = 1e9;
    int64_t cycles;
    for (int i = 0; i < RUNS; i++) {
        double spent = ask(q, false, &cycles);
        least = spent < least ? spent : least;
    }
    return least;
}

static void print_row(question q, size_t i) {
    int64_t cycles, exact = 0;
    q.dst.in_hbm = !strstr(rows[i].dst, "S(1)");
    double cold = ask(&q, false, &cycles), warm = best(&q), all = rows[i].walked ? ask(&q, true, &exact) : 0;
    printf("%-20s %12lld %8.2f %8.2f", rows[i].name, (long long)cycles, cold, warm);
    ts_arena *arena = ts_arena_new();
    ts_dma_machine keeps = *q.machine;
    keeps.prices = ts_dma_prices_new(arena);
    q.machine = &keeps;
    ask(&q, false, &cycles);
    printf(" %9.4f", best(&q));
    if (rows[i].walked) printf(" %9.1f %+8.2f %%", all, 100.0 * (double)(cycles - exact) / (double)exact);
    printf("\n");
    ts_arena_free(arena);
}

int main(void) {
    ts_arena *arena = ts_arena_new();
    const ts_machine *machine = ts_machine_load(NULL, arena, "tpu-v5e");
    if (!machine) return 1;
    ts_dma_machine parts = ts_dma_machine_of(machine, NULL);
    printf("%-20s %12s %8s %8s %9s %9s %10s\n", "ms, on tpu-v5e", "cycles", "cold", "warm", "again", "walked",
           "off by");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        question q = {.machine = &parts,
                      .plan = plan_of(arena, rows[i].src, rows[i].dst, strcmp(rows[i].name, "a slice") == 0)};
        if (!q.plan) return 1;
        print_row(q, i);
    }
    ts_arena_free(arena);
    return 0;
}
