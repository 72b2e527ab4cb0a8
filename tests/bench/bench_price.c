/* How long a price takes, in milliseconds of CPU time: the first in a process, one asked after others, and
 * one that was asked before; beside what part of walking every access that is, and how far from it
 * the answer. Then those of random transfers, on all machines.
 *
 *   bench_price [COUNT [SEED [MACHINE|all [LEAST [MOST [priced]]]]]]     so many a machine, of so many KiB; not walked */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/random_transfer.h"
#include "tests/support/shapes.h"
#include "base/host_clock.h"
#include "dma/price.h"
#include "machine/machine.h"
#include "study/layouts.h"

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
    {"tiles of (5,3)", "u8[63674757]{0:T(16,128)(4,1)}", "u8[63674757]{0:T(5,3)}", true},
    {"4-D, permuted", "f32[64,8,128,256]{3,2,1,0}", "f32[64,8,128,256]{3,1,2,0:T(8,128)}", true},
};

static double milliseconds(void) { return 1e3 * ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID); }

/* From the middle of larger tensors where the shape is that of a slice. */
static const ts_plan *plan_of(ts_arena *arena, const char *from, const char *to, bool is_slice) {
    static const int64_t middle[2] = {1024, 1024}, start[2] = {0, 0};
    const ts_shape *src = read_shape(NULL, arena, is_slice ? "f32[4096,4096]{1,0:T(8,128)}" : from),
                   *dst = read_shape(NULL, arena, to);
    ts_plan_side a = {.shape = src, .begin = is_slice ? middle : NULL},
                 b = {.shape = dst, .begin = is_slice ? start : NULL, .base_bits = INT64_C(1) << 36};
    return ts_plan_new(NULL, arena, &a, &b, dst->layout->rank, dst->layout->dims);
}

typedef struct {
    const ts_dma_machine *machine;
    const ts_plan *plan;
    ts_dma_end src, dst;
} question;

static double ask(const question *q, bool exact, int64_t *cycles) {
    ts_arena *scratch = ts_arena_new();
    ts_dma_cost cost = {0};
    double start = milliseconds();
    ts_dma_price(NULL, scratch, &(ts_dma_price_request){q->machine, q->plan, q->src, q->dst, exact}, &cost);
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

static bool print_known(void) {
    ts_arena *arena = ts_arena_new();
    const ts_machine *machine = ts_machine_load(NULL, arena, "tpu-v5e");
    if (!machine) return false;
    ts_dma_machine parts = ts_dma_machine_of(machine, NULL);
    printf("%-20s %12s %8s %8s %9s %9s %10s\n", "ms, on tpu-v5e", "cycles", "cold", "warm", "again",
           "simulated", "off by");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        question q = {.machine = &parts,
                      .src = {.in_hbm = true},
                      .plan = plan_of(arena, rows[i].src, rows[i].dst, strcmp(rows[i].name, "a slice") == 0)};
        if (!q.plan) return false;
        print_row(q, i);
    }
    ts_arena_free(arena);
    return true;
}

/* ---- With programs of the core, and with other layouts ---- */

static void print_table(const char *name, const char *from, const char *to) {
    ts_arena *arena = ts_arena_new();
    const ts_machine *machine = ts_machine_load(NULL, arena, name);
    ts_transfer_study study;
    ts_transfer_others others[2];
    ts_transfer_request request = {
        .machine = machine,
        .prices = ts_prices_new(arena),
        .src = {.shape = read_shape(NULL, arena, from), .at = TS_TRANSFER_ANYWHERE},
        .dst = {.shape = read_shape(NULL, arena, to), .at = TS_TRANSFER_ANYWHERE}};
    double start = milliseconds();
    bool good = machine && ts_transfer_price(NULL, arena, &request, &study);
    double alone = milliseconds() - start;
    const ts_transfer_others_request tried = {.cheapest_only = true, .threads = 1};
    request.prices = ts_prices_new(arena);
    start = milliseconds();
    good = good && ts_transfer_price_with_others(NULL, arena, &request, &tried, &study, others);
    if (good)
        printf("%-9s %-44s %12lld %8.1f %8.1f\n", name, to, (long long)study.cost.cycles, alone,
               milliseconds() - start);
    ts_arena_free(arena);
}

static void print_tables(void) {
    printf("%-9s %-44s %12s %8s %8s\n", "ms", "from row-major, to", "cycles", "alone", "table");
    static const char *const names[] = {"tpu-v5e", "tpu-v7x"};
    for (int i = 0; i < 2; i++) {
        print_table(names[i], "f32[32768,32768]{1,0}", "f32[32768,32768]{0,1}");
        print_table(names[i], "f32[32768,32768]{1,0}", "f32[32768,32768]{1,0:T(8,128)}");
        print_table(names[i], "f32[1024,1024]{1,0}", "f32[1024,1024]{1,0:T(8,128)}");
        print_table(names[i], "bf16[8,4096,1000]{2,1,0}", "bf16[8,4096,1000]{1,2,0}");
    }
}

/* ---- Random transfers ---- */

enum { COUNT = 100, SEED = 20251122, LEAST_KIB = 16, MOST_KIB = 64 << 10 };

typedef struct {
    int count;
    uint64_t seed;
    int64_t least_kib, most_kib;
    const char *machine; /* or all */
    bool walks;          /* every access too */
} choice;

typedef struct {
    double *priced, *walked; /* ms */
    int count, skipped, far;
    double sum, furthest;
    double slowest;
    char slow[4 * RANDOM_TRANSFER_TEXT]; /* the slowest price */
} distance;

static int by_size(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static void print_times(const char *what, double *ms, int count) {
    double sum = 0;
    qsort(ms, (size_t)count, sizeof *ms, by_size);
    for (int i = 0; i < count; i++) sum += ms[i];
    printf("    ms %-7s mean %.2f, median %.2f, of ten the slowest %.2f, slowest %.1f\n", what, sum / count,
           ms[count / 2], ms[count * 9 / 10], ms[count - 1]);
}

static void note_slowest(const random_transfer *t, double ms, distance *d) {
    if (ms <= d->slowest) return;
    d->slowest = ms;
    random_transfer_print(t, d->slow, sizeof d->slow);
}

static void measure(const ts_dma_machine *machine, const random_transfer *t, bool walks, distance *d) {
    question q = {machine, t->plan, {.in_hbm = t->src_in_hbm}, {.in_hbm = t->dst_in_hbm}};
    char text[4 * RANDOM_TRANSFER_TEXT];
    int64_t quick, exact;
    d->priced[d->count] = ask(&q, false, &quick);
    note_slowest(t, d->priced[d->count], d);
    if (walks) d->walked[d->count] = ask(&q, true, &exact);
    d->count++;
    if (!walks) return;
    double off = (double)(quick - exact) / (double)exact;
    d->sum += off;
    d->skipped += quick != exact;
    d->furthest = fabs(off) > d->furthest ? fabs(off) : d->furthest;
    if (fabs(off) <= 0.01) return;
    d->far++;
    random_transfer_print(t, text, sizeof text);
    printf("  %+6.2f %%  %lld for %lld  %s\n", off * 100, (long long)quick, (long long)exact, text);
    fflush(stdout);
}

static bool print_random_on(const char *name, const choice *c) {
    ts_arena *arena = ts_arena_new();
    const ts_machine *machine = ts_machine_load(NULL, arena, name);
    if (!machine) return false;
    ts_dma_machine parts = ts_dma_machine_of(machine, NULL);
    uint64_t seed = c->seed;
    distance d = {.priced = TS_NEW_ARRAY(arena, double, c->count),
                  .walked = TS_NEW_ARRAY(arena, double, c->count)};
    while (d.count < c->count) {
        ts_arena *scratch = ts_arena_new();
        random_transfer t = random_transfer_draw(&seed, scratch, c->least_kib << 10, c->most_kib << 10);
        if (ts_dma_check_kind(NULL, parts.dma, t.plan)) measure(&parts, &t, c->walks, &d);
        ts_arena_free(scratch);
    }
    if (c->walks)
        printf("%s: %d of %d further off than 1 %%, furthest %.2f %%, mean %+.3f %%; %d differ\n", name,
               d.far, d.count, d.furthest * 100, d.sum / d.count * 100, d.skipped);
    else
        printf("%s: %d\n", name, d.count);
    print_times("priced", d.priced, d.count);
    printf("    slowest   %s\n", d.slow);
    if (c->walks) print_times("simulated", d.walked, d.count);
    ts_arena_free(arena);
    return true;
}

static bool print_random(const choice *c) {
    static const char *const names[] = {"tpu-v4", "tpu-v5e", "tpu-v5p", "tpu-v6e", "tpu-v7x"};
    printf("random transfers of %lld to %lld KiB, seed %llu\n", (long long)c->least_kib,
           (long long)c->most_kib, (unsigned long long)c->seed);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!c->machine && !print_random_on(names[i], c)) return false;
    return !c->machine || print_random_on(c->machine, c);
}

int main(int argc, char **argv) {
    choice c = {.count = argc > 1 ? atoi(argv[1]) : COUNT,
                .seed = argc > 2 ? strtoull(argv[2], NULL, 10) : SEED,
                .machine = argc > 3 && strcmp(argv[3], "all") != 0 ? argv[3] : NULL,
                .least_kib = argc > 4 ? atoi(argv[4]) : LEAST_KIB,
                .most_kib = argc > 5 ? atoi(argv[5]) : MOST_KIB,
                .walks = argc <= 6 || strcmp(argv[6], "priced") != 0};
    if (argc == 1 && !print_known()) return 1;
    if (argc == 1) print_tables();
    return print_random(&c) ? 0 : 1;
}
