/* Memories that do the same: one that rests as one that is new, and requests at renamed banks, rows and channels. The
 * oracle is a memory that was offered everything, as it is. */
#include <string.h>

#include "dram/hbm_alike.h"
#include "tests/support/hbm2.h"
#include "tests/support/test.h"

enum { ACCESSES = 48, ACCESS_BYTES = 512, BUSES = 16, MIB = 1 << 20 };

typedef struct {
    ts_arena *arena;
    ts_hbm *hbm;
    ts_hbm_stream *stream;
} memory;

static memory make(const ts_hbm_config *config, int share) {
    ts_error err = {0};
    memory m = {.arena = ts_arena_new()};
    m.hbm = ts_hbm_new_subset(&err, m.arena, config, share);
    assert_non_null(m.hbm);
    m.stream = ts_hbm_stream_new(m.arena, m.hbm, 65536, TS_HBM_UNLIMITED);
    return m;
}

static ts_hbm_config config_of(const char *map, int sids) {
    ts_hbm_config config = hbm2;
    config.address_map = map;
    config.sids = sids;
    return config;
}

static uint64_t next(uint64_t *seed) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 33;
}

typedef struct {
    int64_t address, after;
    bool is_write;
} access;

/* Below `span`, of the kinds `writes`: none, all, some. */
static void draw(uint64_t *seed, int64_t span, int writes, access *out) {
    bool near = next(seed) % 2;
    for (int i = 0; i < ACCESSES; i++) {
        int64_t line = near ? i : (int64_t)(next(seed) % (uint64_t)(span / ACCESS_BYTES));
        out[i] = (access){line * ACCESS_BYTES % span, (int64_t)(next(seed) % 3 * (next(seed) % 40)),
                          writes == 1 || (writes == 2 && next(seed) % 3 == 0)};
    }
}

/* From a cycle on; when each was accepted. */
static void offer(const memory *m, const access *list, int64_t base, int64_t cycle, uint64_t shift,
                  int64_t *accepted) {
    ts_hbm_settle(m->hbm, cycle);
    ts_hbm_stream_start(m->stream, cycle);
    ts_hbm_stream_shift(m->stream, shift);
    for (int i = 0; i < ACCESSES; i++) {
        cycle += list[i].after;
        accepted[i] =
            ts_hbm_stream_offer(m->stream, base + list[i].address, ACCESS_BYTES, list[i].is_write, cycle);
    }
    while (ts_hbm_stream_done(m->stream) < 0) ts_hbm_settle(m->hbm, cycle += 16);
    accepted[ACCESSES] = ts_hbm_stream_done(m->stream);
}

static ts_hbm_stats stats_of(const memory *m) {
    ts_hbm_stats stats;
    ts_hbm_read_stats(m->hbm, &stats);
    return stats;
}

static void expect_same_stats(ts_hbm_stats *found, ts_hbm_stats *expected) {
    for (const ts_member *m = ts_hbm_stats_members; m->count > 0; m++)
        for (int i = 0; i < m->count; i++)
            assert_int_equal(*ts_member_of(found, m, i), *ts_member_of(expected, m, i));
}

/* ---- Rest ---- */

/* What comes `earlier` ticks before the memory rests, or some time after it does, is served as in a new one; then
 * counts are those of both. */
static bool is_served_as_new(const ts_hbm_config *config, uint64_t *seed, int64_t earlier) {
    access first[ACCESSES], second[ACCESSES];
    int64_t expected[ACCESSES + 1], found[ACCESSES + 1], begun = (int64_t)(next(seed) % 20000);
    memory all = make(config, 1), before = make(config, 1), idle = make(config, 1), new = make(config, 1);
    draw(seed, MIB, (int)(next(seed) % 2), first);
    draw(seed, MIB, (int)(next(seed) % 3), second);
    for (int i = 0; i < BUSES; i++) first[i].address = i * 2 * ACCESS_BYTES; /* all buses, with every map */
    offer(&all, first, 0, begun, 0, expected);
    offer(&before, first, 0, begun, 0, expected);
    int64_t cycle = ts_hbm_rest_cycle(all.hbm) - earlier;
    if (earlier == 0) cycle += (int64_t)(next(seed) % 3 * (next(seed) % 200000));
    ts_hbm_set_direction(new.hbm, ts_hbm_direction(all.hbm));
    offer(&all, second, 0, cycle, 0, expected);
    offer(&new, second, 0, cycle, 0, found);
    bool same = memcmp(expected, found, sizeof found) == 0;
    ts_hbm_stats stats = stats_of(&all), sum = stats_of(&new), beyond;
    ts_hbm_count_beyond(before.hbm, idle.hbm, cycle, &beyond);
    ts_members_add(&sum, &beyond, ts_hbm_stats_members, 1, 1);
    put_waits_together(&sum);
    put_waits_together(&stats);
    if (earlier == 0) expect_same_stats(&sum, &stats);
    const memory made[] = {all, before, idle, new};
    for (int i = 0; i < 4; i++) ts_arena_free(made[i].arena);
    return same;
}

TEST(at_rest_a_memory_does_as_a_new_one) {
    static const char *const maps[] = {"A", "H", "B"};
    uint64_t seed = 20261123;
    int before = 0;
    for (int round = 0; round < 60; round++) {
        ts_hbm_config config = config_of(maps[round % 3], 1 + round / 3 % 2);
        assert_true(is_served_as_new(&config, &seed, 0));
        before += is_served_as_new(&config, &seed, config.timing.t_refi + 200);
    }
    assert_true(before < 60);
}

/* The refresh that begins late, where rows were open, is not one of a memory that did nothing; the next is, once it is
 * over, 259 ticks later. */
TEST(it_rests_after_the_second_refresh) {
    static const struct {
        int64_t cycle, rest;
    } rows[] = {{0, 8059}, {3700, 8059}, {3890, 11959}, {3900, 11959}, {39000, 47059}};
    ts_hbm_config config = config_of("A", 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        memory m = make(&config, 1);
        ts_hbm_stream_start(m.stream, rows[i].cycle);
        ts_hbm_stream_offer(m.stream, 0, 32, false, rows[i].cycle);
        assert_int_equal(ts_hbm_rest_cycle(m.hbm), INT64_MAX); /* not while a burst is to be done */
        ts_hbm_drain(m.hbm);
        assert_int_equal(ts_hbm_rest_cycle(m.hbm), rows[i].rest);
        ts_arena_free(m.arena);
    }
}

TEST(directions_are_those_of_all_buses) {
    ts_hbm_config config = config_of("A", 1);
    memory m = make(&config, 1);
    assert_int_equal(ts_hbm_direction(m.hbm), 2);
    for (int64_t at = 0; at < 2048; at += 64) ts_hbm_stream_offer(m.stream, at, 64, true, 0);
    ts_hbm_drain(m.hbm);
    assert_int_equal(ts_hbm_direction(m.hbm), 1);
    ts_hbm_stream_start(m.stream, 10000);
    ts_hbm_stream_offer(m.stream, 64, 64, false, 10000); /* of one pseudo channel */
    ts_hbm_drain(m.hbm);
    assert_int_equal(ts_hbm_direction(m.hbm), -1);
    ts_hbm_reset(m.hbm);
    ts_hbm_stream_offer(m.stream, 128, 64, false, 0); /* of one channel */
    ts_hbm_drain(m.hbm);
    assert_int_equal(ts_hbm_direction(m.hbm), -1);
    ts_hbm_reset(m.hbm);
    ts_hbm_set_direction(m.hbm, 0);
    assert_int_equal(ts_hbm_direction(m.hbm), 0);
    ts_arena_free(m.arena);
}

TEST(only_some_memories_may_be_alike) {
    ts_hbm_config config = hbm2;
    assert_true(ts_hbm_may_be_alike(&config));
    config.refresh = TS_HBM_REFRESH_PER_BANK;
    assert_false(ts_hbm_may_be_alike(&config));
    config = hbm2, config.page = TS_HBM_PAGE_CLOSED;
    assert_false(ts_hbm_may_be_alike(&config));
    config = hbm2, config.scheduler = TS_HBM_SCHEDULER_PER_BANK;
    assert_false(ts_hbm_may_be_alike(&config));
    config = hbm2, config.timing.t_refi = 4 * config.timing.t_rfc;
    assert_false(ts_hbm_may_be_alike(&config));
    config.timing.t_refi++;
    assert_true(ts_hbm_may_be_alike(&config));
}

/* ---- Renamed ---- */

static ts_hbm_trace trace_of(const memory *m, const access *list, int64_t base) {
    ts_hbm_trace trace = {0};
    for (int i = 0; i < ACCESSES; i++)
        ts_hbm_trace_access(m->hbm, &trace, base + list[i].address, ACCESS_BYTES, list[i].is_write);
    return trace;
}

static bool is_same_trace(ts_hbm_trace a, ts_hbm_trace b) {
    return memcmp(a.hash, b.hash, sizeof a.hash) == 0;
}

/* From two places, each shifted by its trace or not; and again behind it, while the memory still knows. */
TEST(places_of_the_same_trace_do_the_same) {
    static const char *const maps[] = {"A", "H"};
    uint64_t seed = 20261124;
    int alike = 0;
    for (int round = 0; round < 120; round++) {
        ts_hbm_config config = config_of(maps[round % 2], 1 + round / 2 % 2);
        int share = round / 4 % 2 ? 4 : 1;
        memory m[3] = {make(&config, share), make(&config, share), make(&config, share)};
        access list[2][ACCESSES];
        int64_t base[2], accepted[3][2][ACCESSES + 1];
        for (int i = 0; i < 2; i++) base[i] = (int64_t)(next(&seed) % 64) * MIB;
        for (int i = 0; i < 2; i++) draw(&seed, MIB, (int)(next(&seed) % 3), list[i]);
        ts_hbm_trace traces[2] = {trace_of(&m[0], list[0], base[0]), trace_of(&m[0], list[0], base[1])};
        bool same = is_same_trace(traces[0], traces[1]);
        alike += same && base[0] != base[1];
        for (int i = 0; i < 3; i++) {
            int64_t cycle = 100;
            const int64_t from = base[i == 1];
            for (int part = 0; part < 2; part++) {
                offer(&m[i], list[part], from, cycle, i == 2 ? traces[0].shift : 0, accepted[i][part]);
                cycle = accepted[i][part][ACCESSES] + 20;
            }
        }
        assert_memory_equal(accepted[0], accepted[2], sizeof accepted[0]);
        ts_hbm_stats stats[3] = {stats_of(&m[0]), stats_of(&m[1]), stats_of(&m[2])};
        expect_same_stats(&stats[2], &stats[0]);
        if (same) assert_memory_equal(accepted[0][0], accepted[1][0], sizeof accepted[0][0]);
        for (int i = 0; i < 3; i++) ts_arena_free(m[i].arena);
    }
    assert_true(alike >= 20);
}

TEST(traces_tell_requests_apart) {
    static const struct {
        const char *map;
        int64_t base[2];
        bool same;
    } rows[] = {
        {"A", {0, 64 * MIB}, true},  /* another row */
        {"A", {0, 65536}, true},     /* another bank */
        {"A", {0, 1024}, true},      /* another group */
        {"A", {0, 256}, true},       /* another channel */
        {"A", {0, 64}, false},       /* the other pseudo channel */
        {"A", {0, 32}, false},       /* a column on */
        {"H", {0, 128 * MIB}, true}, /* a row whose hash is a channel */
        {"H", {0, 64 * MIB}, false}, /* and one whose hash is a pseudo channel */
    };
    ts_hbm_config config = hbm2;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        config.address_map = rows[i].map;
        memory m = make(&config, 1);
        ts_hbm_trace traces[4] = {{{0}, 0, false}};
        for (int k = 0; k < 2; k++) {
            ts_hbm_trace_access(m.hbm, &traces[k], rows[i].base[k], 32, false);
            ts_hbm_trace_access(m.hbm, &traces[k], rows[i].base[k] + (1 << 18), 32, true);
        }
        assert_int_equal(is_same_trace(traces[0], traces[1]), rows[i].same);
        ts_hbm_trace_access(m.hbm, &traces[2], 0, 32, true);
        ts_hbm_trace_access(m.hbm, &traces[2], 1 << 18, 32, true);
        assert_false(is_same_trace(traces[0], traces[2]));
        ts_hbm_trace_access(m.hbm, &traces[3], 0, 64, false);
        ts_hbm_trace_access(m.hbm, &traces[3], 1 << 18, 64, true);
        assert_false(is_same_trace(traces[0], traces[3]));
        ts_arena_free(m.arena);
    }
}

/* All bursts of an access count that are simulated, and nothing else of it. */
TEST(traces_tell_accesses_apart) {
    static const char channels[] = "off co:1 ch co pc bg ba ro";
    static const struct {
        const char *map;
        int stacks, pcs, share;
        struct {
            int64_t address;
            int32_t bytes;
        } access[2];
        bool same;
    } rows[] = {
        {"A", 1, 2, 1, {{0, 64}, {0, 62}}, true},        /* bytes of the same bursts */
        {"A", 1, 2, 1, {{0, 32}, {0, 33}}, false},       /* one burst more */
        {"A", 1, 2, 1, {{0, 32}, {128, 32}}, true},      /* another channel */
        {"A", 1, 2, 1, {{448, 128}, {960, 128}}, false}, /* the second pair in another group than the first */
        {"A", 1, 2, 1, {{96, 64}, {224, 64}}, false},    /* single bursts: as far apart in channels */
        {"A", 1, 2, 1, {{65280, 512}, {130816, 512}}, false}, /* over two tables of the map: and in banks */
        {"A", 1, 4, 1, {{0, 32}, {128, 32}}, false},          /* another of four pseudo channels */
        {channels, 1, 2, 2, {{192, 96}, {256, 96}}, false},   /* of one channel: a burst, and a pair */
        {channels, 1, 2, 2, {{96, 64}, {128, 64}}, false},
        {channels, 1, 2, 2, {{128, 64}, {256, 64}}, true},
        {"A", 3, 2, 1, {{0, 32}, {32, 32}}, false},  /* stacks take turns: columns */
        {"A", 3, 2, 1, {{0, 32}, {256, 32}}, false}, /* and channels */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_hbm_config config = config_of(rows[i].map, 1);
        config.stacks = rows[i].stacks;
        config.pseudo_channels = rows[i].pcs;
        memory m = make(&config, rows[i].share);
        ts_hbm_trace traces[2] = {{{0}, 0, false}};
        for (int k = 0; k < 2; k++)
            ts_hbm_trace_access(m.hbm, &traces[k], rows[i].access[k].address, rows[i].access[k].bytes, false);
        if (is_same_trace(traces[0], traces[1]) != rows[i].same) fail_msg("row %d", (int)i);
        ts_arena_free(m.arena);
    }
}
