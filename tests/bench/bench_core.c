/* How fast the core runs: bundles and vector operations a second of CPU time, and their cost in memcpys of a
 * vreg. */
#include <stdio.h>
#include <string.h>

#include "tests/support/core_fixture.h"
#include "base/host_clock.h"

typedef struct {
    const char *name, *text; /* a loop of s1 rounds */
    bool time_only;
} program;

static const program programs[] = {
    {"scalar loop", "smov s1 4000000\nssub s1 s1 1\nbrnz s1 @1", false},
    {"add: load, add, store",
     "smov s1 1000000\nvld v1 [0] ; ssub s1 s1 1\nvld v2 [1024]\nvadd.f32 v3 v1 v2\nvst [2048] v3 ; brnz s1 "
     "@1",
     false},
    {"dense: a polynomial, 4 operations a bundle",
     "smov s1 500000\n"
     "vmul.f32 v4 v0 v2 ; vadd.f32 v5 v1 v3 ; vmul.f32 v6 v2 v2 ; vmax.f32 v7 v3 v0 ; ssub s1 s1 1\n"
     "vadd.f32 v0 v4 v5 ; vsub.f32 v1 v6 v7 ; vmul.f32 v2 v4 v6 ; vmin.f32 v3 v5 v7 ; brnz s1 @1",
     false},
    {"exp", "smov s1 300000\nvexp.f32 v1 v2 ; ssub s1 s1 1\nbrnz s1 @1", false},
    {"time only, iterations left out",
     "smov s1 5000000\nvld v1 [0] ; ssub s1 s1 1\nvld v2 [1024]\nvadd.f32 v3 v1 v2\nvst [2048] v3 ; brnz s1 "
     "@1",
     true},
    {"lane sum", "smov s1 1000000\nvsum.lane.f32 v1 v2 ; ssub s1 s1 1\nbrnz s1 @1", false},
};

static double memcpy_seconds(void) {
    static char from[TS_VREG_BYTES], to[TS_VREG_BYTES];
    double start = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < 1000000; i++) {
        memcpy(to, from, sizeof(to));
        __asm__ volatile("" ::"r"(to) : "memory");
    }
    return (ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID) - start) / 1e6;
}

int main(void) {
    double copy = memcpy_seconds();
    printf("%-38s %12s %12s %10s\n", "program", "bundles/s", "vector ops/s", "per memcpy");
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        fixture *f = fixture_new();
        ts_core_counters counters;
        f->ports.issued = NULL;
        f->ports.stalled = NULL;
        f->time_only = programs[i].time_only;
        if (!fixture_load(f, programs[i].text)) return 1;
        double start = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID);
        if (!fixture_run(f)) return 1;
        double elapsed = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
        ts_core_count(f->core, &counters);
        int64_t operations = counters.bundles;
        const int64_t *used = counters.instructions;
        operations = used[TS_SLOT_VALU] + used[TS_SLOT_VLD] + used[TS_SLOT_VST] + used[TS_SLOT_EUP] +
                     used[TS_SLOT_XLU];
        double each = operations > 0 ? elapsed / (double)operations / copy : 0;
        printf("%-38s %12.3g %12.3g %10.2f\n", programs[i].name, (double)counters.bundles / elapsed,
               (double)operations / elapsed, each);
        fixture_free(f);
    }
    return 0;
}
