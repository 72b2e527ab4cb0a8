/* Points a minute of a study, beside the time that one point takes without it: of transfers that are remembered, of
 * random ones; and how much faster two workers are, where points are alike and where they are not.
 *
 *   bench_sweep [POINTS [PAIRS]] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/host_clock.h"
#include "sweep/case.h"
#include "sweep/sweep.h"
#include "tests/support/random_transfer.h"

enum {
    POINTS = 20000,
    PAIRS = 400,
    ROUNDS = 3,
    PROGRAMS = 480,
    LEAST_BYTES = 16 << 10,
    MOST_BYTES = 64 << 20
};

static double cpu_seconds(int who) {
    struct rusage used;
    getrusage(who, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
}

static double all_cpu_seconds(void) { return cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN); }

typedef struct {
    double wall, cpu;
    int64_t points, good;
} measured;

static measured answer(const ts_sweep_study *study, const char *database, int workers) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    const ts_sweep_crew_request request = {.study = study, .workers = workers};
    ts_sweep_crew crew;
    ts_sweep_result result;
    remove(database);
    double start = ts_host_seconds(CLOCK_MONOTONIC), cpu = all_cpu_seconds();
    ts_sweep_store *store = ts_sweep_store_open(&err, arena, database, TS_SWEEP_WRITE);
    ts_sweep_processes(&err, arena, &request, &crew);
    ts_sweep_request sweep = {.study = study, .store = store, .crew = &crew};
    if (!store || !ts_sweep(&err, arena, &sweep, &result)) {
        printf("%s\n", err.message);
        exit(1);
    }
    crew.dismiss(crew.self);
    ts_sweep_store_close(&err, store);
    measured m = {ts_host_seconds(CLOCK_MONOTONIC) - start, all_cpu_seconds() - cpu, result.answered,
                  result.by_status[TS_SWEEP_OK]};
    remove(database);
    ts_arena_free(arena);
    return m;
}

/* The same points in this process, without a database. */
static double alone(const ts_sweep_study *study) {
    ts_sweep_context *context = ts_sweep_context_new(study);
    double start = cpu_seconds(RUSAGE_SELF);
    for (int64_t i = 0; i < study->grid.point_count; i++) {
        ts_arena *arena = ts_arena_new();
        ts_sweep_row row;
        ts_sweep_answer(arena, context, i, &row);
        ts_arena_free(arena);
    }
    double spent = cpu_seconds(RUSAGE_SELF) - start;
    ts_sweep_context_free(context);
    return spent;
}

static void print_row(const char *name, const ts_sweep_study *study, int workers) {
    measured m = answer(study, "build/bench_sweep.db", workers);
    double own = alone(study), points = (double)m.points;
    printf("%-28s %7d %8lld %8lld %12.0f %12.0f %10.3f %10.3f\n", name, workers, (long long)m.points,
           (long long)m.good, 60 * points / m.wall, 60 * points / m.cpu, 1e3 * own / points,
           1e3 * (m.cpu - own) / points);
}

static const ts_sweep_study *parse(ts_arena *arena, const char *text) {
    ts_error err = {0};
    ts_source *source = TS_NEW(arena, ts_source);
    *source = (ts_source){"study", text, strlen(text)};
    const ts_sweep_study *study = ts_sweep_study_parse(&err, arena, source, "");
    if (!study) printf("%s\n", err.message), exit(1);
    return study;
}

static const ts_sweep_study *remembered(ts_arena *arena, int count) {
    ts_text text = ts_text_begin(arena);
    ts_text_add(
        &text,
        "vary: {N: {from: 1, to: %d, step: 1}}\nask: {dma: 'f32[512,512] -> f32[512,512]{1,0:T(8,128)}'}\n",
        count);
    return parse(arena, text.bytes);
}

static const ts_sweep_study *random_pairs(ts_arena *arena, int count) {
    uint64_t seed = 20261122;
    ts_text text = ts_text_begin(arena);
    ts_text_add(&text, "ask: {dma: $PAIR}\nvary:\n  PAIR:\n");
    for (int i = 0; i < count; i++) {
        ts_arena *scratch = ts_arena_new();
        random_transfer t = random_transfer_draw(&seed, scratch, LEAST_BYTES, MOST_BYTES);
        char pair[4 * RANDOM_TRANSFER_TEXT];
        random_transfer_print(&t, pair, sizeof pair);
        size_t src = strlen(pair) - strlen(t.dst) - 1; /* before the space */
        ts_text_add(&text, "  - '%.*s -> %s'\n", (int)src, pair, t.dst);
        ts_arena_free(scratch);
    }
    return parse(arena, text.bytes);
}

static const ts_sweep_study *programs(ts_arena *arena, int count) {
    ts_text text = ts_text_begin(arena);
    ts_text_add(&text,
                "vary: {ROWS: {from: 1001, to: %d, step: 1}}\n"
                "ask: {program: 'tilesim:/layernorm.tsim', define: {ROWS: $ROWS}, time_only: true}\n",
                1000 + count);
    return parse(arena, text.bytes);
}

/* Of one worker and of two, in turns: others may work here too. A short study shows what starting costs, a long one what
 * it costs to share points. */
static void print_efficiency(const char *name, const ts_sweep_study *study) {
    measured best[2] = {{.wall = 1e9}, {.wall = 1e9}};
    for (int i = 0; i < 2 * ROUNDS; i++) {
        measured now = answer(study, "build/bench_sweep.db", 1 + i % 2);
        if (now.wall < best[i % 2].wall) best[i % 2] = now;
    }
    printf("%lld %s: %.3f s with a worker, %.3f s with two: efficiency %.2f; CPU %.3f s and %.3f s\n",
           (long long)best[0].points, name, best[0].wall, best[1].wall, best[0].wall / (2 * best[1].wall),
           best[0].cpu, best[1].cpu);
}

int main(int argc, char **argv) {
    ts_arena *arena = ts_arena_new();
    int points = argc > 1 ? atoi(argv[1]) : POINTS, pairs = argc > 2 ? atoi(argv[2]) : PAIRS;
    printf("%-28s %7s %8s %8s %12s %12s %10s %10s\n", "", "workers", "points", "ok", "points/min", "a core's",
           "ms alone", "ms more");
    print_row("transfers, remembered", remembered(arena, points), 1);
    print_row("transfers, random", random_pairs(arena, pairs), 1);
    print_efficiency("programs, alike", programs(arena, PROGRAMS / 8));
    print_efficiency("programs, alike", programs(arena, PROGRAMS));
    print_efficiency("random transfers", random_pairs(arena, pairs / 4));
    print_efficiency("random transfers", random_pairs(arena, pairs));
    ts_arena_free(arena);
    return 0;
}
