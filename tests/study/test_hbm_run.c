/* Requests run through an HBM: what is counted, and the peak that they are held against. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "study/hbm_run.h"
#include "tests/support/group.h"
#include "tests/support/temporary.h"

static ts_hbm_config config_of(const char *name) {
    const ts_machine *machine = ts_machine_load(NULL, arena, name);
    assert_non_null(machine);
    return machine->hbm;
}

static ts_hbm_run run(const ts_hbm_config *config, const char *what, int64_t lookahead, bool exact) {
    ts_hbm_run out;
    ts_hbm_run_request request = {.config = config, .lookahead_bytes = lookahead, .exact = exact};
    request.requests = ts_hbm_requests_open(NULL, arena, what, config);
    assert_non_null(request.requests);
    assert_true(ts_hbm_run_requests(NULL, arena, &request, &out));
    ts_hbm_requests_close(request.requests);
    return out;
}

/* As many as the pattern's loops and legs make. */
static int64_t requests_of(const ts_hbm_pattern *p) {
    int64_t count = p->leg_count;
    for (int i = 0; i < TS_HBM_NEST_LOOPS; i++) count *= p->extents[i] > 0 ? p->extents[i] : 1;
    return count;
}

/* Each channel moves a burst every BL clocks. */
static int64_t peak_of(const ts_hbm_config *c, int64_t bytes) {
    int64_t slots = (int64_t)c->stacks * c->channels * c->pseudo_channels * c->burst_bytes;
    return (bytes * c->timing.n_bl * c->ticks_per_ck + slots - 1) / slots;
}

TEST(all_requests_are_run_and_none_beats_the_peak) {
    const ts_hbm_config config = config_of("tpu-v5e");
    for (const ts_hbm_pattern *p = ts_hbm_patterns; p->name; p++) {
        ts_hbm_run r = run(&config, p->name, 64 << 10, false);
        assert_int_equal(r.requests, requests_of(p));
        assert_int_equal(r.bytes, 64 * r.requests);
        assert_int_equal((r.stats.reads + r.stats.writes) * config.burst_bytes, r.bytes);
        assert_true(r.cycles >= peak_of(&config, r.bytes));
        bool writes = p->legs[0].is_write || (p->leg_count > 1 && p->legs[1].is_write);
        assert_int_equal(r.stats.writes > 0, writes);
    }
}

/* A stream over all channels is near the peak, one request at a time is far from it. */
TEST(what_runs_ahead_fills_the_channels) {
    const ts_hbm_config config = config_of("tpu-v5e");
    const char *what = ts_hbm_patterns[0].name;
    ts_hbm_run far = run(&config, what, 256 << 10, false), one = run(&config, what, 64, false);
    assert_int_equal(far.requests, one.requests);
    assert_true(one.cycles > 2 * far.cycles);
    int64_t peak = peak_of(&config, far.bytes);
    assert_in_range(far.cycles, peak, peak * 11 / 10);
}

TEST(representatives_stand_for_all) {
    const ts_hbm_config config = config_of("tpu-v5e");
    for (int i = 0; ts_hbm_patterns[i].name && i < 3; i++) {
        ts_hbm_run some = run(&config, ts_hbm_patterns[i].name, 64 << 10, false),
                   all = run(&config, ts_hbm_patterns[i].name, 64 << 10, true);
        assert_memory_equal(&some, &all, offsetof(ts_hbm_run, stats));
        assert_int_equal(some.stats.activations, all.stats.activations);
    }
}

static ts_hbm_requests *trace_of(const ts_hbm_config *config, const char *text, char path[TEMPORARY_PATH]) {
    int made = mkstemp(temporary_path(path, "trace-XXXXXX"));
    assert_int_equal(write(made, text, strlen(text)), strlen(text));
    close(made);
    return ts_hbm_requests_open(NULL, arena, path, config);
}

/* A line that is none ends the run. */
TEST(traces_are_run_to_their_end) {
    static const struct {
        const char *text;
        int requests; /* -1: refused */
    } rows[] = {{"LD 0\n", 1}, {"LD 0\nST 4096\n", 2}, {"LD 0\nLD what\n", -1}};
    const ts_hbm_config config = config_of("tpu-v5e");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char path[TEMPORARY_PATH];
        ts_error err = {0};
        ts_hbm_run out;
        ts_hbm_run_request request = {.config = &config, .lookahead_bytes = 64 << 10};
        request.requests = trace_of(&config, rows[i].text, path);
        assert_int_equal(ts_hbm_run_requests(&err, arena, &request, &out), rows[i].requests >= 0);
        if (rows[i].requests < 0) assert_int_equal(err.kind, TS_ERROR_INPUT);
        if (rows[i].requests >= 0) assert_int_equal(out.requests, rows[i].requests);
        ts_hbm_requests_close(request.requests);
        unlink(path);
    }
}

int main(void) { return run_all_tests(begin_group, end_group); }
