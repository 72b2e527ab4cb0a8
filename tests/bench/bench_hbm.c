/* How fast HBM time is computed: million requests of 64 bytes a second of CPU time. From patterns, as `tilesim hbm`
 * does it, channels that are offered the same being simulated once; with every channel simulated, and that from trace files
 * of the same requests; beside what the simulators that it agrees with took for the same runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/host_clock.h"
#include "validate/hbm_reference.h"
#include "tests/support/temporary.h"

enum { RUNS = 7 };

/* The best of some runs, from opening a pattern, or a trace, to the last statistics. */
static double run_seconds(const ts_machine *machine, const char *requests_of, bool exact) {
    double best = 1e9;
    for (int i = 0; i < RUNS; i++) {
        ts_arena *arena = ts_arena_new();
        ts_hbm_run run;
        double start = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID);
        ts_hbm_requests *requests = ts_hbm_requests_open(NULL, arena, requests_of, &machine->hbm);
        const ts_hbm_run_request request = {&machine->hbm, requests, 65536, exact, NULL};
        if (!requests || !ts_hbm_run_requests(NULL, arena, &request, &run)) return -1;
        double elapsed = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
        if (elapsed < best) best = elapsed;
        ts_hbm_requests_close(requests);
        ts_arena_free(arena);
    }
    return best;
}

/* Writes a pattern as a trace. */
static bool write_trace(const ts_machine *machine, const char *pattern, const char *path) {
    enum { BLOCK = 512 };
    ts_hbm_request block[BLOCK];
    ts_arena *arena = ts_arena_new();
    ts_hbm_requests *requests = ts_hbm_requests_open(NULL, arena, pattern, &machine->hbm);
    FILE *file = fopen(path, "w");
    int count = 0;
    bool ok = requests && file;
    while (ok && (ok = ts_hbm_requests_read(NULL, requests, block, BLOCK, &count)) && count > 0) {
        for (int i = 0; i < count; i++)
            fprintf(file, "%s 0x%llx\n", block[i].is_write ? "ST" : "LD",
                    (unsigned long long)block[i].address);
    }
    ok &= file && fclose(file) == 0;
    ts_arena_free(arena);
    return ok;
}

/* Thousand requests a second of the first simulator's run like this one, with a 64 KiB window. */
static int64_t kilorequests(const char *simulator, const char *config, const char *map, const char *pattern) {
    for (int i = 0; i < ts_hbm_reference_count; i++) {
        const ts_hbm_reference *r = &ts_hbm_references[i];
        if (strcmp(r->simulator, simulator) == 0 && strcmp(r->config, config) == 0 &&
            strcmp(r->map, map) == 0 && strcmp(r->frontend, "win1024") == 0 &&
            strcmp(r->pattern, pattern) == 0)
            return r->kilorequests;
    }
    return 0;
}

static void print_peer(const char *simulator, const char *config, const char *map, const char *pattern,
                       double rate) {
    int64_t peer = kilorequests(simulator, config, map, pattern);
    if (peer > 0)
        printf("%9.3f %6.0fx", (double)peer / 1000, rate / ((double)peer * 1000));
    else
        printf("%9s %7s", "-", "");
}

/* A line of the table. */
static bool compare(const char *const config[4], const ts_machine *machine, const ts_hbm_pattern *p,
                    const char *path) {
    int64_t requests = (int64_t)p->leg_count;
    for (int k = 0; k < TS_HBM_NEST_LOOPS; k++) requests *= p->extents[k];
    if (!write_trace(machine, p->name, path)) return false;
    const double elapsed[] = {run_seconds(machine, p->name, false), run_seconds(machine, p->name, true),
                              run_seconds(machine, path, true)};
    double rate = (double)requests / elapsed[1];
    printf("%-10s %-3s %-14s", config[0], config[1], p->name);
    for (int i = 0; i < 3; i++) {
        if (elapsed[i] < 0) return false;
        printf(" %9.2f", (double)requests / elapsed[i] / 1e6);
    }
    print_peer("ramulator2.1", config[2], config[1], p->name, rate);
    print_peer("dramsim3", config[3], config[1], p->name, rate);
    printf("\n");
    return true;
}

int main(void) {
    /* The configuration and map; the configurations of the two simulators' runs. */
    static const char *const configs[][4] = {{"hbm2_8ch", "A", "hbm2_8ch", "hbm2m_16pc"},
                                             {"hbm2_8ch", "H", "hbm2_8ch", "hbm2m_16pc"},
                                             {"hbm3_16ch", "H", "hbm3_16ch", ""},
                                             {"hbm2m_16pc", "H", "", "hbm2m_16pc"}}; /* per_bank */
    char path[TEMPORARY_PATH];
    int file = mkstemp(temporary_path(path, "bench_hbm_XXXXXX"));
    bool ok = file >= 0 && close(file) == 0;
    printf("%-10s %-3s %-14s %9s %9s %9s %12s %16s\n", "config", "map", "pattern", "tilesim", "--exact",
           "its trace", "Ramulator 2.1", "DRAMsim3");
    for (size_t i = 0; ok && i < sizeof configs / sizeof configs[0]; i++) {
        ts_arena *arena = ts_arena_new();
        const ts_machine *machine =
            ts_hbm_reference_machine(NULL, arena, ts_hbm_reference_find(configs[i][0]), configs[i][1]);
        ok = machine != NULL;
        for (const ts_hbm_pattern *p = ts_hbm_patterns; ok && p->name; p++)
            ok = compare(configs[i], machine, p, path);
        ts_arena_free(arena);
    }
    unlink(path);
    return !ok;
}
