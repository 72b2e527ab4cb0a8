/* Channels that do the same are walked once. Requests that are offered one by one part them all at the first,
 * so that every channel is walked: the answers must be the same. */
#include <string.h>

#include "tests/support/hbm2.h"
#include "tests/support/test.h"
#include "dram/hbm.h"

enum { REQUESTS = 12000, BATCH = 500, KIB = 1024, MIB = 1024 * 1024 };

/* Runs of `run` lines, `step` bytes apart, read, then, where `write_at` is not 0, written there; every
 * `odd`-th request goes where it likes, or, where that is below 0, to another row of the same channel. */
typedef struct {
    const char *map;
    int run;
    int64_t step, write_at;
    int odd, pace; /* eighths of a cycle between requests */
    int64_t lookahead;
    int scheduler, refresh, ticks;
} row;

static void fill(const row *r, ts_hbm_request *out) {
    int64_t turns = r->write_at ? 2 : 1;
    for (int64_t i = 0; i < REQUESTS; i++) {
        int64_t turn = i / r->run, line = i % r->run;
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
            ts_hbm_stream_offer(stream, q->address, 64, q->is_write, q->earliest);
        }
        if (!one_by_one) ts_hbm_stream_offer_all(stream, requests + i, BATCH, 64);
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

static void all_together_is_as_one_by_one(void **state) {
    static const row rows[] = {
        {"A", 1, 64, 0, 0, 0, 64 * KIB, 0, 1, 1},
        {"H", 64, 4 * KIB, 256 * MIB, 0, 0, 64 * KIB, 0, 1, 1},
        {"H", 8, 16 * KIB, 64 * MIB, 0, 0, 64 * KIB, 0, 1, 1},
        {"A", 4, 8 * KIB, 64 * MIB + 128 * KIB, 0, 0, 32 * KIB, 0, 2, 1},
        {"B", 32, 4 * KIB, 256 * MIB, 0, 0, 64 * KIB, 1, 1, 1},
        {"H", 16, 4 * KIB, 64 * KIB, 0, 0, 64 * KIB, 0, 1, 2},
        {"H", 64, 4 * KIB, 256 * MIB, 1777, 0, 64 * KIB, 0, 1, 1},
        {"A", 1, 64, 0, 3001, 8, 256 * KIB, 0, 1, 1},
        {"H", 64, 4 * KIB, 0, 0, 0, TS_HBM_UNLIMITED, 0, 1, 1},
        {"H", 64, 4 * KIB, 256 * MIB, 0, 0, 8 * KIB, 0, 0, 1},
        {"H", 64, 4 * KIB, 4 * KIB, 0, 0, 0, 0, 1, 1},
        {"A", 64, 4 * KIB, 256 * MIB, 0, 0, 64 * KIB, 2, 1, 1},
        {"A", 2, 64, 64, 0, 0, 64 * KIB, 0, 1, 1}, /* writes that are read again from the queue */
        {"A", 1, 64, 0, 0, 4800, 64 * KIB, 0, 1, 1},
        {"A", 1, 64, 0, 0, 1, 64 * KIB, 0, 1, 1},
        {"H", 64, 4 * KIB, 256 * MIB, 0, 3, 64 * KIB, 0, 1, 1},
        {"A", 8, KIB, 512, 0, 0, 64 * KIB, 0, 1, 1}, /* half of the channels are read, the others written */
        {"A", 8, 16 * KIB, 256 * MIB, 0, 0, 48 * KIB, 0, 1, 1},
        {"H", 8, 16 * KIB, 256 * MIB, 0, 0, 24 * KIB, 0, 1, 1},
        {"A", 1, 64, 0, 0, 0, 8 * KIB, 0, 1, 1},
        {"A", 1, 64, 0, 0, 0, 16 * KIB, 0, 1, 1},
        {"H", 1, 64, 0, 0, 0, 24 * KIB, 0, 1, 1},
        {"H", 4, 8 * KIB, 64 * MIB, 0, 0, 20 * KIB, 0, 1, 1},
        {"A", 1, 64, 0, -6 * BATCH, 0, 64 * KIB, 0, 1, 1}, /* the first of a block */
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_together_is_as_one_by_one)};
    return cmocka_run_group_tests_name("memory/hbm_representatives", tests, NULL, NULL);
}
