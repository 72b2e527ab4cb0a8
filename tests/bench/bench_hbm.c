/* How fast HBM time is computed: million requests of 64 bytes a second of CPU time, every burst walked,
 * beside what the simulators that it agrees with took for the same runs. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tilesim/study/hbm_reference.h"

enum { RUNS = 7 };

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The best of some runs, from the requests' pattern to the last statistics. */
static double run_seconds(const ts_machine *machine, const char *pattern) {
    double best = 1e9;
    for (int i = 0; i < RUNS; i++) {
        ts_arena *arena = ts_arena_new();
        ts_hbm_run run;
        double start = seconds();
        ts_hbm_requests *requests = ts_hbm_requests_open(NULL, arena, pattern, &machine->hbm);
        if (!requests || !ts_hbm_run_requests(NULL, arena, &machine->hbm, requests, 65536, true, &run))
            return -1;
        double elapsed = seconds() - start;
        if (elapsed < best) best = elapsed;
        ts_arena_free(arena);
    }
    return best;
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

int main(void) {
    static const char *const configs[][2] = {{"hbm2_8ch", "A"}, {"hbm2_8ch", "H"}, {"hbm3_16ch", "H"}};
    printf("%-10s %-3s %-14s %9s %12s %16s\n", "config", "map", "pattern", "tilesim", "Ramulator 2.1",
           "DRAMsim3");
    for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++) {
        ts_arena *arena = ts_arena_new();
        const char *config = configs[i][0], *map = configs[i][1];
        const ts_machine *machine = ts_hbm_reference_machine(NULL, arena, ts_hbm_reference_find(config), map);
        if (!machine) return 1;
        for (const ts_hbm_pattern *p = ts_hbm_patterns; p->name; p++) {
            int64_t requests = (int64_t)p->leg_count;
            for (int k = 0; k < TS_HBM_NEST_LOOPS; k++) requests *= p->extents[k];
            double elapsed = run_seconds(machine, p->name), rate = (double)requests / elapsed;
            if (elapsed < 0) return 1;
            printf("%-10s %-3s %-14s %9.2f", config, map, p->name, rate / 1e6);
            print_peer("ramulator2.1", config, map, p->name, rate);
            print_peer("dramsim3", i < 2 ? "hbm2m_16pc" : "", map, p->name, rate);
            printf("\n");
        }
        ts_arena_free(arena);
    }
    return 0;
}
