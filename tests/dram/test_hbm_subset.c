/* A part of the channels that stands for all: its time, its counts, and when it does not stand for them; accesses that
 * are counted as one. */
#include <stdlib.h>

#include "tests/support/hbm2.h"
#include "tests/support/rounds.h"
#include "dram/hbm.h"
#include "dram/hbm_subset.h"
#include "tests/support/test.h"

enum { LINES = 1 << 15, LINE_BYTES = 64 };

typedef struct {
    int64_t end;
    bool fair;
    ts_hbm_stats stats;
} outcome;

/* Lines `stride` bytes apart; of every four, the last `writes` are written. */
static outcome walk(const char *map, int share, int64_t stride, int writes, int64_t lookahead) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_hbm_config config = hbm2;
    config.address_map = map;
    ts_hbm *hbm = ts_hbm_new_subset(&err, arena, &config, share);
    assert_non_null(hbm);
    ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, lookahead, 2 * lookahead);
    for (int64_t i = 0; i < LINES; i++)
        ts_hbm_stream_offer(stream, i * stride, LINE_BYTES, i % 4 >= 4 - writes, 0);
    outcome o = {.end = ts_hbm_drain(hbm), .fair = ts_hbm_subset_fair_share(hbm) == share};
    ts_hbm_read_stats(hbm, &o.stats);
    int64_t sum = 0;
    for (int i = 0; i < TS_HBM_LIMITER_COUNT; i++) sum += o.stats.limiter_cycles[i];
    assert_int_equal(sum, o.stats.end_cycle * hbm2.channels * hbm2.pseudo_channels);
    ts_arena_free(arena);
    return o;
}

TEST(a_part_takes_as_long_as_all) {
    static const char *const maps[] = {"A", "H"};
    for (int m = 0; m < 2; m++) {
        for (int writes = 0; writes < 3; writes += 2) {
            outcome all = walk(maps[m], 1, LINE_BYTES, writes, 65536),
                    part = walk(maps[m], 2, LINE_BYTES, writes, 65536);
            assert_true(part.fair);
            assert_true(llabs(part.end - all.end) * 100 <= all.end * (writes ? 3 : 1));
            assert_int_equal(part.stats.reads, all.stats.reads);
            assert_int_equal(part.stats.writes, all.stats.writes);
        }
    }
}

/* Where windows are so narrow that most channels idle, they decide. */
TEST(windows_shrink_with_the_part) {
    for (int64_t lookahead = 1024; lookahead <= 8192; lookahead *= 2) {
        outcome all = walk("A", 1, LINE_BYTES, 0, lookahead), part = walk("A", 2, LINE_BYTES, 0, lookahead);
        assert_true(llabs(part.end - all.end) * 10 <= all.end);
    }
}

/* With map A, lines 4 KiB apart are all in the same channel. */
TEST(a_part_that_gets_all_or_nothing_is_not_fair) {
    assert_false(walk("A", 2, 4096, 0, 65536).fair);
    assert_false(walk("A", 4, 256, 0, 65536).fair);
    assert_true(walk("H", 2, 4096, 0, 65536).fair);
    assert_true(walk("A", 1, 4096, 0, 65536).fair);
}

/* With map A, the second 128 bytes are in the second channel. */
TEST_WITH_ARENA(what_no_simulated_channel_gets_is_done) {
    ts_hbm_config config = hbm2;
    config.address_map = "A";
    ts_hbm *hbm = ts_hbm_new_subset(NULL, arena, &config, 2);
    ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, 65536, TS_HBM_UNLIMITED);
    ts_hbm_stream_offer(stream, 128, LINE_BYTES, false, 0);
    assert_int_equal(ts_hbm_stream_done(stream), 0);
    ts_hbm_stream_offer(stream, 0, LINE_BYTES, false, 0);
    assert_int_equal(ts_hbm_stream_done(stream), -1);
}

TEST_WITH_ARENA(what_others_get_is_counted_as_row_hits) {
    ts_hbm_config config = hbm2;
    ts_hbm_stats stats;
    config.address_map = "A";
    ts_hbm *hbm = ts_hbm_new_subset(NULL, arena, &config, 2);
    ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, 65536, TS_HBM_UNLIMITED);
    for (int i = 0; i < 5; i++) ts_hbm_stream_offer(stream, 128 + i * 1024, LINE_BYTES, i >= 3, 0);
    ts_hbm_drain(hbm);
    ts_hbm_read_stats(hbm, &stats);
    assert_int_equal(stats.reads, 3 * 2); /* bursts of 32 bytes */
    assert_int_equal(stats.writes, 2 * 2);
    assert_int_equal(stats.row_hits, 5 * 2);
}

/* What is in flight holds its place in the window; without one, requests are in order. */
TEST_WITH_ARENA(the_window_is_no_larger_than_what_may_be_in_flight) {
    static const struct {
        int64_t lookahead, in_flight, bursts;
    } rows[] = {{0, 4096, 0},    {0, TS_HBM_UNLIMITED, 0},      {4096, 8192, 128}, {8192, 4096, 128},
                {-1, 4096, 128}, {4096, TS_HBM_UNLIMITED, 128}, {-1, -1, -1}};
    ts_hbm *hbm = ts_hbm_new_subset(NULL, arena, &hbm2, 2);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, rows[i].lookahead, rows[i].in_flight);
        assert_int_equal(stream->load->lookahead, rows[i].bursts);
    }
}

/* Lines to half of the channels, then a jump, and whole rounds of lines to all. */
TEST_WITH_ARENA(a_jump_begins_a_round) {
    ts_hbm_config config = hbm2;
    config.address_map = "off co:1 ch pc bg co ba ro";
    for (int jumps = 0; jumps < 2; jumps++) {
        ts_hbm *hbm = ts_hbm_new_subset(NULL, arena, &config, 2);
        ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, 65536, TS_HBM_UNLIMITED);
        for (int64_t i = 0; i < 64; i++)
            ts_hbm_stream_offer(stream, i / 4 * 1024 + i % 4 * 64, LINE_BYTES, false, 0);
        if (jumps) ts_hbm_subset_jump(hbm);
        for (int64_t i = 0; i < 4096; i++) ts_hbm_stream_offer(stream, i * LINE_BYTES, LINE_BYTES, false, 0);
        assert_int_equal(ts_hbm_subset_is_even(hbm), jumps);
    }
}

TEST_WITH_ARENA(a_reset_forgets_what_was_counted) {
    ts_hbm_config config = hbm2;
    config.address_map = "off co:1 ch pc bg co ba ro";
    ts_hbm *hbm = ts_hbm_new_subset(NULL, arena, &config, 2);
    for (int again = 0; again < 2; again++) {
        ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, 65536, TS_HBM_UNLIMITED);
        for (int64_t i = 0; i < 8192; i++) /* to one odd channel, then to all */
            ts_hbm_stream_offer(stream, again ? i * 64 : i * 1024 + 64, LINE_BYTES, false, 0);
        assert_int_equal(ts_hbm_subset_is_even(hbm), again);
        assert_int_equal(ts_hbm_subset_fair_share(hbm), again ? 2 : 1);
        ts_hbm_reset(hbm);
    }
}

/* Is half of 8 channels, the even ones, fair, where the i-th line that is offered is line_of(i, how)? */
static bool is_fair_of(int64_t line_of(int64_t i, int how), int how, int64_t lines) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_hbm_config config = hbm2;
    config.address_map = "off co:1 ch pc bg co ba ro"; /* successive lines are in successive channels */
    ts_hbm *hbm = ts_hbm_new_subset(&err, arena, &config, 2);
    assert_non_null(hbm);
    ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, 65536, TS_HBM_UNLIMITED);
    for (int64_t i = 0; i < lines; i++)
        ts_hbm_stream_offer(stream, line_of(i, how) * LINE_BYTES, LINE_BYTES, false, 0);
    ts_hbm_drain(hbm);
    bool fair = ts_hbm_subset_fair_share(hbm) == 2;
    ts_arena_free(arena);
    return fair;
}

/* The even channels get half of all lines, evenly; of the odd ones, all go to one, or one to each. */
static int64_t odd_line(int64_t i, int to_one) { return i % 2 == 0 || !to_one ? i : i * 8 + 1; }

TEST(a_part_without_the_busiest_is_not_fair) {
    assert_true(is_fair_of(odd_line, false, LINES));
    assert_false(is_fair_of(odd_line, true, LINES));
}

/* Lines to 8 channels in turns; in each round of 1,024 turns one odd channel gets so many lines of another. */
static int64_t moved_line(int64_t i, int more) { return i % 8 == 3 && i / 8 % 1024 < more ? i - 2 : i; }

TEST(the_busiest_may_get_a_little_more) {
    static const struct {
        int more; /* one in 400 is allowed */
        bool fair;
    } rows[] = {{0, true}, {2, true}, {4, false}, {16, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(is_fair_of(moved_line, rows[i].more, cases(16, 2) * LINES), rows[i].fair);
}

typedef struct {
    bool is_fair_so_far;
    int share;
} judgement;

/* Of half of 8 channels; an odd one gets so many of 1,024 lines more. Lines come `gap` cycles apart. */
static judgement judge_paced(int more, int64_t gap) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_hbm_config config = hbm2;
    config.address_map = "off co:1 ch pc bg co ba ro";
    ts_hbm *hbm = ts_hbm_new_subset(&err, arena, &config, 2);
    assert_non_null(hbm);
    ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, 65536, TS_HBM_UNLIMITED);
    judgement j = {.is_fair_so_far = true};
    for (int64_t i = 0, most = cases(8, 2) * LINES; i < most && j.is_fair_so_far; i++) {
        ts_hbm_stream_offer(stream, moved_line(i, more) * LINE_BYTES, LINE_BYTES, false, i * gap / 16);
        if (i % 64 == 0) j.is_fair_so_far = ts_hbm_subset_is_fair_so_far(hbm);
    }
    ts_hbm_drain(hbm);
    j.share = ts_hbm_subset_fair_share(hbm);
    ts_arena_free(arena);
    return j;
}

/* 256 bytes a cycle are the peak: a line of 64 each quarter of a cycle. */
TEST(who_waits_for_requests_may_get_more) {
    static const struct {
        int more;
        int64_t gap; /* sixteenths of a cycle */
        judgement is;
    } rows[] = {{0, 0, {true, 2}},   {12, 0, {false, 1}},  {12, 4, {false, 1}}, {12, 16, {true, 2}},
                {12, 40, {true, 2}}, {48, 16, {false, 1}}, {48, 40, {true, 2}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        judgement j = judge_paced(rows[i].more, rows[i].gap);
        assert_int_equal(j.is_fair_so_far, rows[i].is.is_fair_so_far);
        assert_int_equal(j.share, rows[i].is.share);
    }
}

TEST(shares_are_powers_of_two_of_a_stack) {
    ts_hbm_config config = hbm2;
    assert_int_equal(ts_hbm_sampling_factor(&config, 4), 2);
    assert_int_equal(ts_hbm_sampling_factor(&config, 8), 1);
    assert_int_equal(ts_hbm_sampling_factor(&config, 16), 1);
    config.stacks = 4;
    assert_int_equal(ts_hbm_sampling_factor(&config, 1), 32);
    config.stacks = 6;
    assert_int_equal(ts_hbm_sampling_factor(&config, 4), 8);
    config.channels = 12;
    assert_int_equal(ts_hbm_sampling_factor(&config, 4), 4);
}

/* Pairs of bursts, of powers of two; where stacks take turns, within one. */
TEST(accesses_counted_as_one) {
    static const struct {
        const char *map;
        int stacks, bytes;
        bool taken;
    } rows[] = {
        {"A", 1, 32, false},   {"A", 1, 64, true},   {"A", 1, 80, false},          {"A", 1, 96, false},
        {"A", 1, 128, true},   {"A", 1, 4096, true}, {"A", 1, 8192, false},        {"A", 3, 1024, true},
        {"A", 3, 2048, false}, {"A", 2, 2048, true}, {"robaracoch", 1, 64, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_hbm_config config = hbm2;
        const ts_hbm_request request = {0};
        config.address_map = rows[i].map;
        config.stacks = rows[i].stacks;
        for (int share = 1; share <= 2; share++) {
            ts_hbm *hbm = ts_hbm_new_subset(&err, arena, &config, share);
            assert_non_null(hbm);
            if (hbm_subset_take(hbm, &request, 1, rows[i].bytes) != rows[i].taken) fail_msg("row %zu", i);
        }
        ts_arena_free(arena);
    }
}

/* Channels take turns every 128 bytes in A and H, every 32 in robaracoch, every 1,024 in B. */
TEST(accesses_give_a_balanced_part_its_share) {
    static const struct {
        const char *map;
        int most, bytes, share;
    } rows[] = {
        {"A", 8, 1024, 8},         {"A", 8, 512, 4},         {"A", 8, 256, 2},          {"A", 8, 128, 1},
        {"A", 2, 1024, 2},         {"A", 1, 64, 1},          {"H", 8, 512, 4},          {"B", 8, 1024, 1},
        {"robaracoch", 8, 256, 8}, {"robaracoch", 8, 64, 2}, {"robaracoch", 4, 256, 4}, {"no map", 8, 64, 8},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_hbm_config config = hbm2;
        config.address_map = rows[i].map;
        assert_int_equal(ts_hbm_balanced_share(&config, rows[i].most, rows[i].bytes), rows[i].share);
    }
    ts_hbm_config in_turns = hbm2; /* of three stacks: what an access gives each depends on where it is */
    in_turns.address_map = "A";
    in_turns.stacks = 3;
    assert_int_equal(ts_hbm_balanced_share(&in_turns, 8, 1 << 16), 1);
}

/* Requests of a size, one in eight unaligned, two after gaps; offered together, or in turn as the lines they
 * are of. */
static outcome requests_of(int share, int32_t bytes, int64_t lookahead, int64_t gap, bool in_lines) {
    enum { REQUESTS = 300 };
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_hbm_config config = hbm2;
    ts_hbm_request requests[REQUESTS];
    config.address_map = "H";
    ts_hbm *hbm = ts_hbm_new_subset(&err, arena, &config, share);
    assert_non_null(hbm);
    ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, lookahead, TS_HBM_UNLIMITED);
    ts_hbm_simulate_all(hbm);
    for (int64_t i = 0; i < REQUESTS; i++) {
        int64_t place = i * 0x9e3779b1 % 65536 * bytes + (i % 8 == 5) * LINE_BYTES;
        requests[i] = (ts_hbm_request){place, i / 100 * gap, i / 3 % 3 == 1};
    }
    for (int i = 0; in_lines && i < REQUESTS; i++)
        for (int32_t line = 0; line < bytes; line += LINE_BYTES)
            ts_hbm_stream_offer(stream, requests[i].address + line, LINE_BYTES, requests[i].is_write,
                                requests[i].earliest);
    if (!in_lines) ts_hbm_stream_offer_all(stream, requests, REQUESTS, bytes);
    outcome o = {.end = ts_hbm_drain(hbm)};
    ts_hbm_read_stats(hbm, &o.stats);
    ts_arena_free(arena);
    return o;
}

static void assert_same_in_lines(int share, int32_t bytes, int64_t lookahead, int64_t gap) {
    outcome whole = requests_of(share, bytes, lookahead, gap, false),
            lines = requests_of(share, bytes, lookahead, gap, true);
    assert_int_equal(whole.end, lines.end);
    assert_memory_equal(&whole.stats, &lines.stats, sizeof lines.stats);
}

TEST(accesses_are_the_lines_they_are_of) {
    static const int64_t lookaheads[] = {256, 1024, 65536, TS_HBM_UNLIMITED};
    for (int share = 1; share <= 2; share *= 2)
        for (int32_t bytes = 3 * LINE_BYTES; bytes <= 7 * LINE_BYTES; bytes += 2 * LINE_BYTES)
            assert_same_in_lines(share, bytes, 1024, 2000);
    for (int share = 1; share <= 2; share *= 2)
        for (int32_t bytes = LINE_BYTES; bytes <= 8192;
             bytes *= cases(2, 8)) /* 4 KiB: the most that is one access */
            for (size_t i = 0; i < sizeof lookaheads / sizeof *lookaheads; i++)
                assert_same_in_lines(share, bytes, lookaheads[i], 2000000);
}

/* ---- Groups ---- */

enum { GROUPED = 4096, ACCESS = 512 };

typedef struct {
    int count; /* of a group at first, at the end */
    int last_count;
    int share;
    bool is_even;
    outcome is;
} grouped;

/* Accesses i at address_of(i, how), all together or each by itself; twice, with a reset in between. */
static grouped offer_accesses(int64_t address_of(int64_t i, int how), int how, int at_once) {
    ts_arena *arena = ts_arena_new();
    ts_hbm_config config = hbm2;
    ts_hbm_request *requests = TS_NEW_ARRAY(arena, ts_hbm_request, GROUPED);
    config.address_map = "H";
    ts_hbm *hbm = ts_hbm_new_subset(NULL, arena, &config, 8);
    grouped g = {0};
    for (int64_t i = 0; i < GROUPED; i++)
        requests[i] = (ts_hbm_request){address_of(i, how), how / 16 * (i / 4), i / 8 % 2 == 1};
    for (int again = 0; again < 2; again++) {
        if (again) ts_hbm_reset(hbm);
        ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, 65536, TS_HBM_UNLIMITED);
        for (int64_t i = 0; i < GROUPED; i += at_once) {
            ts_hbm_stream_offer_all(stream, requests + i, at_once, ACCESS);
            if (i == 0) g.count = hbm->group.count;
        }
        g.last_count = hbm->group.count;
        g.is.end = ts_hbm_drain(hbm);
    }
    g.share = ts_hbm_subset_fair_share(hbm);
    g.is_even = ts_hbm_subset_is_even(hbm);
    ts_hbm_read_stats(hbm, &g.is.stats);
    ts_arena_free(arena);
    return g;
}

/* Read and written by eight; `how`: the bytes from one to the next, by powers of two, the lower bits exchanged,
 * or every 512th from elsewhere. */
static int64_t in_steps(int64_t i, int how) {
    return (i << (9 + how % 4)) + ((how & 4) && i % 512 == 511 ? 256 : 0);
}
static int64_t mirrored(int64_t i, int how) { return in_steps(i ^ 5, how); }
static int64_t by_three(int64_t i, int how) { return in_steps(i * 3, how); }

TEST(groups_are_the_accesses_they_are_of) {
    static const struct {
        int64_t (*address_of)(int64_t i, int how);
        int how, count, last_count;
    } rows[] = {
        {in_steps, 0, 8, 8},  {in_steps, 1, 8, 8},  {in_steps, 3, 8, 8}, {mirrored, 0, 8, 8},
        {mirrored, 2, 8, 8},  {by_three, 0, 1, 1},  {in_steps, 4, 8, 1}, {mirrored, 6, 8, 1},
        {in_steps, 16, 4, 4}, {in_steps, 19, 4, 4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        grouped together = offer_accesses(rows[i].address_of, rows[i].how, 256),
                singly = offer_accesses(rows[i].address_of, rows[i].how, 1);
        if (together.count != rows[i].count || together.last_count != rows[i].last_count)
            fail_msg("row %zu: %d, then %d", i, together.count, together.last_count);
        assert_int_equal(singly.count, 1);
        assert_int_equal(together.is.end, singly.is.end);
        assert_int_equal(together.share, singly.share);
        assert_int_equal(together.is_even, singly.is_even);
        assert_memory_equal(&together.is.stats, &singly.is.stats, sizeof singly.is.stats);
    }
}

/* Local cycles begin again after 2^28: while an access waits for the window, too. */
TEST(accesses_pass_the_end_of_local_cycles) {
    for (int share = cases(1, 2); share <= 2; share *= 2)
        assert_same_in_lines(share, 4096, 256, ((int64_t)1 << 27) - 200);
}
