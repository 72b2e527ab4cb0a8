/* Channels that do the same are walked once. Requests that are offered one by one part them all at the first,
 * so that every channel is walked: the answers must be the same. */
#include <string.h>

#include "tests/support/hbm2.h"
#include "tests/support/test.h"
#include "dram/hbm.h"
#include "dram/hbm_channel.h"

enum { REQUESTS = 12000, BATCH = 500, KIB = 1024, MIB = 1024 * 1024 };

/* Runs of `run` lines (below 0: the last line first), `step` bytes apart, read, then, where `write_at` is not
 * 0, written there; every `odd`-th request goes where it likes, or, where that is below 0, to another row of the
 * same channel. */
typedef struct {
    const char *map;
    int run;
    int64_t step, write_at;
    int odd, pace; /* eighths of a cycle between requests */
    int64_t lookahead;
    int scheduler, refresh, ticks;
    int bytes; /* of a request */
} row;

static void fill(const row *r, ts_hbm_request *out) {
    int64_t turns = r->write_at ? 2 : 1;
    for (int64_t i = 0; i < REQUESTS; i++) {
        int64_t run = r->run < 0 ? -r->run : r->run, turn = i / run, line = i % run;
        if (r->run < 0) line = run - 1 - line;
        out[i] = (ts_hbm_request){turn / turns * r->step + line * 64, r->pace * i / 8, turn % turns == 1};
        out[i].address += out[i].is_write ? r->write_at : 0;
        if (r->odd > 0 && i % r->odd == r->odd - 1) out[i].address = i * 2654435761 % (64 * MIB) / 64 * 64;
        if (r->odd < 0 && i % -r->odd == 0) out[i].address += 64 * MIB;
    }
}

typedef struct {
    int64_t accepted[REQUESTS / BATCH], end, done[2];
    ts_hbm_stats stats;
} outcome;

/* Every tenth batch is another stream's. */
static outcome run(const row *r, const ts_hbm_request *requests, bool one_by_one) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    outcome o = {0};
    ts_hbm_config config = hbm2;
    config.address_map = r->map;
    config.scheduler = (ts_hbm_scheduler)r->scheduler;
    config.refresh = (ts_hbm_refresh)r->refresh;
    config.ticks_per_ck = r->ticks;
    config.timing.t_refi_pb = 244;
    ts_hbm *hbm = ts_hbm_new(&err, arena, &config);
    assert_non_null(hbm);
    ts_hbm_stream *streams[2];
    for (int i = 0; i < 2; i++) streams[i] = ts_hbm_stream_new(arena, hbm, r->lookahead, TS_HBM_UNLIMITED);
    for (int i = 0; i < REQUESTS; i += BATCH) {
        ts_hbm_stream *stream = streams[i / BATCH % 10 == 9];
        for (int k = 0; one_by_one && k < BATCH; k++) {
            const ts_hbm_request *q = &requests[i + k];
            ts_hbm_stream_offer(stream, q->address, r->bytes, q->is_write, q->earliest);
        }
        if (!one_by_one) ts_hbm_stream_offer_all(stream, requests + i, BATCH, r->bytes);
        o.accepted[i / BATCH] = ts_hbm_stream_latest(stream);
    }
    o.end = ts_hbm_drain(hbm);
    for (int i = 0; i < 2; i++) {
        o.done[i] = ts_hbm_stream_done(streams[i]);
        assert_in_range(o.done[i], 1, o.end); /* none of its bursts is left */
    }
    ts_hbm_read_stats(hbm, &o.stats);
    ts_arena_free(arena);
    return o;
}

TEST(all_together_is_as_one_by_one) {
    static const row rows[] = {
        {"A", 1, 64, 0, 0, 0, 64 * KIB, 0, 1, 1, 64},
        {"H", 64, 4 * KIB, 256 * MIB, 0, 0, 64 * KIB, 0, 1, 1, 64},
        {"H", 8, 16 * KIB, 64 * MIB, 0, 0, 64 * KIB, 0, 1, 1, 64},
        {"A", 4, 8 * KIB, 64 * MIB + 128 * KIB, 0, 0, 32 * KIB, 0, 2, 1, 64},
        {"B", 32, 4 * KIB, 256 * MIB, 0, 0, 64 * KIB, 1, 1, 1, 64},
        {"H", 16, 4 * KIB, 64 * KIB, 0, 0, 64 * KIB, 0, 1, 2, 64},
        {"H", 64, 4 * KIB, 256 * MIB, 1777, 0, 64 * KIB, 0, 1, 1, 64},
        {"A", 1, 64, 0, 3001, 8, 256 * KIB, 0, 1, 1, 64},
        {"H", 64, 4 * KIB, 0, 0, 0, TS_HBM_UNLIMITED, 0, 1, 1, 64},
        {"H", 64, 4 * KIB, 256 * MIB, 0, 0, 8 * KIB, 0, 0, 1, 64},
        {"H", 64, 4 * KIB, 4 * KIB, 0, 0, 0, 0, 1, 1, 64},
        {"A", 64, 4 * KIB, 256 * MIB, 0, 0, 64 * KIB, 2, 1, 1, 64},
        {"A", 2, 64, 64, 0, 0, 64 * KIB, 0, 1, 1, 64}, /* writes that are read again from the queue */
        {"A", 1, 64, 0, 0, 4800, 64 * KIB, 0, 1, 1, 64},
        {"A", 1, 64, 0, 0, 1, 64 * KIB, 0, 1, 1, 64},
        {"H", 64, 4 * KIB, 256 * MIB, 0, 3, 64 * KIB, 0, 1, 1, 64},
        {"A", 8, KIB, 512, 0, 0, 64 * KIB, 0, 1, 1,
         64}, /* half of the channels are read, the others written */
        {"A", 8, 16 * KIB, 256 * MIB, 0, 0, 48 * KIB, 0, 1, 1, 64},
        {"H", 8, 16 * KIB, 256 * MIB, 0, 0, 24 * KIB, 0, 1, 1, 64},
        {"A", 1, 64, 0, 0, 0, 8 * KIB, 0, 1, 1, 64},
        {"A", 1, 64, 0, 0, 0, 16 * KIB, 0, 1, 1, 64},
        {"H", 1, 64, 0, 0, 0, 24 * KIB, 0, 1, 1, 64},
        {"H", 4, 8 * KIB, 64 * MIB, 0, 0, 20 * KIB, 0, 1, 1, 64},
        {"A", 1, 64, 0, 0, 40, 64 * KIB, 0, 1, 1, 32},         /* a burst each */
        {"A", -16, KIB, 512, 0, 0, 512, 0, 1, 1, 64},          /* the first of a block is represented */
        {"A", 1, 64, 0, -6 * BATCH, 0, 64 * KIB, 0, 1, 1, 64}, /* the first of a block */
    };
    static ts_hbm_request requests[REQUESTS];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fill(&rows[i], requests);
        outcome expected = run(&rows[i], requests, true), found = run(&rows[i], requests, false);
        if (memcmp(&found, &expected, sizeof found) != 0)
            fail_msg("row %d: %lld cycles, expected %lld", (int)i, (long long)found.end,
                     (long long)expected.end);
    }
}

/* Channels 0 to 3 and 4 to 7 have got different things; half of each group gets another row than the rest of it. */
static ts_hbm_stats part_twice(bool exact, int *simulated) {
    ts_arena *arena = ts_arena_new();
    ts_hbm_config config = hbm2;
    ts_hbm_request requests[3][8];
    ts_hbm_stats stats;
    config.address_map = "off co:1 ch co pc bg ba ro";
    ts_hbm *hbm = ts_hbm_new(NULL, arena, &config);
    if (exact) ts_hbm_simulate_all(hbm);
    ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, TS_HBM_UNLIMITED, TS_HBM_UNLIMITED);
    for (int c = 0; c < 8; c++) {
        requests[0][c] = (ts_hbm_request){c * 64, 0, c >= 4};
        requests[1][c] = (ts_hbm_request){c * 64 + c / 2 % 2 * MIB, 20, false};
        requests[2][c] = (ts_hbm_request){c * 64 + 3 * MIB, 40, false};
    }
    for (int i = 0; i < 3; i++) {
        ts_hbm_stream_offer_all(stream, requests[i], 8, 64);
        simulated[i] = hbm->simulated_count;
    }
    int64_t end = ts_hbm_drain(hbm);
    assert_int_equal(ts_hbm_stream_done(stream), end);
    ts_hbm_read_stats(hbm, &stats);
    ts_arena_free(arena);
    return stats;
}

TEST(channels_that_part_alike_stay_together) {
    int all[3], some[3];
    ts_hbm_stats expected = part_twice(true, all), found = part_twice(false, some);
    assert_memory_equal(&found, &expected, sizeof found);
    assert_int_equal(all[0], 8);
    assert_int_equal(some[0], 2);
    assert_int_equal(some[1], 4);
    assert_int_equal(some[2], 4);
}
