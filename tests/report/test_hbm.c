/* What a run of HBM requests took: all lines and keys, of round numbers. */
#include "report/hbm.h"

#include <string.h>

#include "tests/support/group.h"

/* 1,000 cycles of half a ns in 16 pseudo channels, each of which moves 16 bytes in one. */
static ts_hbm_report report_of(const char *what, int64_t cycles) {
    const char *const set = "hbm.clock=2 GHz";
    ts_hbm_report r = {.machine = ts_machine_load_with(NULL, arena, "hbm2-reference", "--set", &set, 1),
                       .what = what};
    assert_non_null(r.machine);
    if (cycles == 0) {
        r.lookahead_bytes = -1;
        return r;
    }
    r.lookahead_bytes = 65536;
    r.host_seconds = 0.0005;
    r.run = (ts_hbm_run){.requests = 2000, .bytes = 128000, .cycles = cycles};
    r.run.stats = (ts_hbm_stats){.end_cycle = cycles,
                                 .reads = 3000,
                                 .writes = 1000,
                                 .forwarded = 300,
                                 .coalesced = 100,
                                 .row_hits = 2700,
                                 .row_misses = 700,
                                 .row_conflicts = 200,
                                 .activations = 900,
                                 .precharges = 880,
                                 .refreshes = 4,
                                 .read_to_write = 60,
                                 .write_to_read = 50,
                                 .read_latency_sum = 75000,
                                 .read_latency_max = 1234};
    r.run.stats.limiter_cycles[0] = 500 * 16 + 15;
    r.run.stats.limiter_cycles[1] = 2 * 16 + 8;
    r.run.stats.limiter_cycles[2] = 16 + 8;
    r.run.stats.limiter_cycles[TS_HBM_LIMITER_COUNT - 1] = 496 * 16 - 15;
    return r;
}

TEST(as_text) {
    const ts_hbm_report r = report_of("stream", 1000), none = report_of("none", 0);
    ts_text out = ts_text_begin(arena);
    ts_report_hbm(&r, &out);
    assert_string_equal(
        out.bytes,
        "requests      stream: 2,000 of 64 bytes, 128,000 bytes\n"
        "machine       hbm2-reference (HBM2 reference), with hbm.clock=2 GHz\n"
        "address map   A\n"
        "look-ahead    65,536 bytes\n"
        "time          1,000 cycles of 2.000 GHz, 0.500 us, 256.0 GB/s, 50.00 % of the peak\n"
        "rows          75.00 % hits, 900 activations, 880 precharges, 4 refreshes\n"
        "reads         3,000 bursts, mean latency 25.00 cycles, longest 1,234\n"
        "writes        1,000 bursts, 50 turnarounds to reads, 60 to writes\n"
        "              300 reads answered by queued writes, 100 writes merged into them\n"
        "limiters      what the time of a pseudo channel went to, on average\n"
        "   50.00 %  data        the data bus moves a burst\n"
        "    0.30 %  requests    nothing was offered in time: the window, the port, or a full queue\n"
        "    0.10 %  scheduling  ready, but the controller served others: older ones, or the other "
        "direction\n"
        "   49.60 %  idle        done before other pseudo channels were\n"
        "energy        2.444 uJ, 4.889 W, 19.10 pJ a byte\n"
        "           0.373 uJ  activate           rows opened and closed\n"
        "           1.085 uJ  read               bursts read\n"
        "           0.481 uJ  write              bursts written\n"
        "           0.122 uJ  refresh            rows refreshed\n"
        "           0.384 uJ  precharge_standby  pseudo channels with every row closed\n"
        "host          0.001 s of CPU time, 4.00 million requests a second\n");
    ts_text_clear(&out);
    ts_report_hbm(&none, &out);
    assert_string_equal(out.bytes,
                        "requests      none: 0 of 64 bytes, 0 bytes\n"
                        "machine       hbm2-reference (HBM2 reference), with hbm.clock=2 GHz\n"
                        "address map   A\n"
                        "look-ahead    unlimited\n"
                        "time          0 cycles of 2.000 GHz, 0.000 us, 0.0 GB/s, 0.00 % of the peak\n"
                        "rows          0.00 % hits, 0 activations, 0 precharges, 0 refreshes\n"
                        "reads         0 bursts, mean latency 0.00 cycles, longest 0\n"
                        "writes        0 bursts, 0 turnarounds to reads, 0 to writes\n"
                        "limiters      what the time of a pseudo channel went to, on average\n"
                        "energy        0.000 uJ, 0.000 W, 0.00 pJ a byte\n"
                        "host          0.000 s of CPU time, 0.00 million requests a second\n");
}

/* Without its line breaks, from a key on. */
static const char *in_one_line(const ts_text *json, const char *key) {
    char *to = strstr(json->bytes, key);
    const char *start = to;
    for (const char *from = to; *from; from++)
        if (*from == '\n')
            from += strspn(from + 1, " ");
        else
            *to++ = *from;
    *to = '\0';
    return start;
}

TEST(look_ahead_of_nothing) {
    ts_hbm_report r = report_of("none", 0);
    ts_text out = ts_text_begin(arena);
    r.lookahead_bytes = 0;
    ts_report_hbm(&r, &out);
    assert_non_null(strstr(out.bytes, "\nlook-ahead    0 bytes\n"));
}

TEST(patterns_are_listed) {
    ts_text out = ts_text_begin(arena), json = ts_text_begin(arena);
    ts_report_hbm_patterns(&out);
    ts_report_hbm_patterns_json(&json);
    const char *at = out.bytes;
    for (const ts_hbm_pattern *p = ts_hbm_patterns; p->name; p++) {
        const char *line = ts_text_format(arena, "%-14s  %s\n", p->name, p->meaning);
        assert_memory_equal(at, line, strlen(line));
        at += strlen(line);
        assert_non_null(strstr(json.bytes, ts_text_format(arena, "\"name\": \"%s\"", p->name)));
    }
    assert_int_equal(*at, 0);
}

TEST(as_json) {
    const ts_hbm_report r = report_of("stream", 1000), none = report_of("none", 0);
    ts_text out = ts_text_begin(arena);
    ts_report_hbm_json(&r, &out);
    assert_string_equal(
        in_one_line(&out, "\"requests_from"),
        "\"requests_from\": \"stream\",\"address_map\": \"A\",\"lookahead_bytes\": 65536,"
        "\"requests\": 2000,\"bytes\": 128000,\"cycles\": 1000,\"clock_khz\": 2000000,"
        "\"gb_per_s\": 256.000,\"bandwidth_fraction\": 0.500000,\"row_hit_rate\": 0.750000,"
        "\"mean_read_latency_cycles\": 25.0000,\"max_read_latency_cycles\": 1234,\"reads\": 3000,"
        "\"writes\": 1000,\"forwarded\": 300,\"coalesced\": 100,\"row_hits\": 2700,"
        "\"row_misses\": 700,\"row_conflicts\": 200,\"activations\": 900,\"precharges\": 880,"
        "\"refreshes\": 4,\"read_to_write\": 60,\"write_to_read\": 50,"
        "\"limiters\": {\"data\": 500,\"requests\": 3,\"scheduling\": 1,\"column_bus\": 0,"
        "\"row_bus\": 0,\"tCCD\": 0,\"tRTW\": 0,\"tWTR\": 0,\"tRCD\": 0,\"tRP\": 0,\"tRAS\": 0,"
        "\"tRTP\": 0,\"tWR\": 0,\"tPPD\": 0,\"tRC\": 0,\"tRRD\": 0,\"tFAW\": 0,\"refresh\": 0,"
        "\"latency\": 0,\"idle\": 496},\"energy_joules\": {\"total\": 0.000002444280,"
        "\"activate\": 0.000000372600,\"read\": 0.000001085400,\"write\": 0.000000480600,"
        "\"refresh\": 0.000000121680,\"active_standby\": 0.000000000000,"
        "\"precharge_standby\": 0.000000384000},\"host_seconds\": 0.000500}");
    ts_text_clear(&out);
    ts_report_hbm_json(&none, &out);
    strstr(out.bytes, "\"reads")[0] = '\0'; /* all of what follows is 0 */
    assert_string_equal(in_one_line(&out, "\"lookahead"),
                        "\"lookahead_bytes\": null,\"requests\": 0,\"bytes\": 0,\"cycles\": 0,"
                        "\"clock_khz\": 2000000,\"gb_per_s\": 0.000,\"bandwidth_fraction\": 0.000000,"
                        "\"row_hit_rate\": 0.000000,\"mean_read_latency_cycles\": 0.0000,"
                        "\"max_read_latency_cycles\": 0,");
}

int main(void) { return run_all_tests(begin_group, end_group); }
