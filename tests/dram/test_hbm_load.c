/* How evenly channels are loaded: who holds all back, and for how long others do not. */
#include "dram/hbm_load.h"
#include "tests/support/cmocka.h"

enum { CHANNELS = 8, BANK_BITS = 4, QUEUE = 64, LOOKAHEAD = 512, LONG = 1 << 15, STEPS = 64 };

typedef struct {
    ts_arena *arena;
    hbm_load load;
    hbm_load_stream stream;
} loaded;

static void start_of(loaded *l, int channels, int share, int32_t lookahead) {
    l->arena = ts_arena_new();
    l->load = (hbm_load){.channels = channels, .bank_bits = BANK_BITS, .share = share, .queue = QUEUE};
    hbm_load_init(&l->load, l->arena);
    l->stream = (hbm_load_stream){.lookahead = lookahead};
    hbm_load_open(&l->load, &l->stream);
}

static void start(loaded *l, int share, int32_t lookahead) { start_of(l, CHANNELS, share, lookahead); }

static void stop(loaded *l) { ts_arena_free(l->arena); }

static uint64_t at(int channel, int bank, int64_t row) {
    uint64_t location = (uint64_t)row << TS_ADDRESS_CHANNEL_BITS | (uint64_t)channel;
    return (location << TS_ADDRESS_BANK_BITS | (uint64_t)bank) << TS_ADDRESS_COLUMN_BITS;
}

static void give(loaded *l, int channel, int bank, int64_t row) {
    hbm_load_add(&l->load, &l->stream, at(channel, bank, row), 1);
}

static void give_rounds(loaded *l, int rounds) {
    for (int i = 0; i < rounds; i++)
        for (int c = 0; c < CHANNELS; c++) give(l, c, 0, 0);
}

/* ---- Who gets the same ---- */

TEST(channels_that_get_the_same_stand_for_each_other) {
    for (int share = 2; share <= CHANNELS; share *= 2) {
        loaded l;
        start(&l, share, LOOKAHEAD);
        give_rounds(&l, LONG / CHANNELS);
        assert_true(l.load.is_even);
        assert_true(hbm_load_is_fair_so_far(&l.load));
        assert_int_equal(hbm_load_fair_share(&l.load), share);
        /* a burst a step, and a row to open */
        assert_int_equal(l.load.level[0].end, (LONG / CHANNELS + 2) * STEPS);
        assert_true(hbm_load_ratio(&l.load) == 1);
        stop(&l);
    }
}

/* In each of many rounds `channel` gets one burst more for every `every` of the others. */
static void give_more(loaded *l, int channel, int every) {
    for (int i = 0; i < LONG; i++) {
        give_rounds(l, 1);
        if (i % every == 0) give(l, channel, 0, 0);
    }
}

TEST(one_that_gets_more_is_to_be_simulated) {
    static const struct {
        int share, channel, every, fair; /* one in 400 is allowed */
    } rows[] = {{4, 0, 8, 4}, {4, 4, 8, 4}, {4, 2, 8, 2},   {4, 6, 8, 2},   {4, 1, 8, 1},  {4, 7, 8, 1},
                {2, 2, 8, 2}, {2, 3, 8, 1}, {4, 1, 300, 1}, {4, 1, 600, 4}, {4, 2, 300, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        loaded l;
        start(&l, rows[i].share, LOOKAHEAD);
        give_more(&l, rows[i].channel, rows[i].every);
        assert_int_equal(hbm_load_fair_share(&l.load), rows[i].fair);
        stop(&l);
    }
}

/* Their time is right, but what they did is not what others do. */
TEST(who_gets_more_than_a_share_is_not_fair) {
    loaded l;
    start(&l, 4, LOOKAHEAD);
    for (int i = 0; i < LONG; i++) give(&l, i % 5 < 3 ? 0 : i % CHANNELS, 0, 0);
    assert_true(l.load.level[0].end == l.load.level[2].end);
    assert_int_equal(hbm_load_fair_share(&l.load), 1);
    stop(&l);
    start(&l, 4, LOOKAHEAD);
    for (int i = 0; i < LONG; i++) give(&l, i % 40 == 1 ? 0 : i % CHANNELS, 0, 0);
    assert_int_equal(hbm_load_fair_share(&l.load), 4);
    stop(&l);
    start(&l, 4, LOOKAHEAD); /* 0.1333 more: over one in 8 */
    for (int i = 0; i < LONG; i++) give(&l, i % 30 == 1 ? 0 : i % CHANNELS, 0, 0);
    assert_true(hbm_load_fair_share(&l.load) < 4);
    stop(&l);
    start(&l, 2, LOOKAHEAD); /* of 1024, an eighth and 16 a channel more than half */
    for (int i = 0; i < 640 + 384; i++) give(&l, i < 640 ? i * 2 % CHANNELS : i * 2 % CHANNELS + 1, 0, 0);
    assert_int_equal(hbm_load_fair_share(&l.load), 2);
    give(&l, 0, 0, 0);
    assert_int_equal(hbm_load_fair_share(&l.load), 1);
    stop(&l);
}

/* In rounds of 64 bursts of each channel `more` of the last ones go to the first or the second instead, in turns. */
static int share_alone(int rounds, int more) {
    loaded l;
    start(&l, CHANNELS, LOOKAHEAD);
    for (int i = 0; i < rounds; i++)
        for (int k = 0; k < 64 * CHANNELS; k++)
            give(&l, k >= 64 * CHANNELS - more ? i % 2 : k % CHANNELS, 0, 0);
    assert_int_equal(l.load.is_even, more == 0);
    int share = hbm_load_fair_share(&l.load);
    assert_int_equal(hbm_load_is_fair_so_far(&l.load), share == CHANNELS);
    stop(&l);
    return share;
}

TEST(a_single_channel_stands_for_equals_only) {
    assert_int_equal(share_alone(400, 0), CHANNELS);
    assert_int_equal(share_alone(400, 1), CHANNELS); /* one in 64 is allowed */
    assert_int_equal(share_alone(400, 4), CHANNELS / 2);
    assert_int_equal(share_alone(20, 4), CHANNELS); /* and a round's worth */
    loaded l;
    start(&l, CHANNELS, LOOKAHEAD);
    for (int i = 0; i < 100; i++) { /* each gets half of its share first, or last: as much in all */
        for (int k = 0; k < 32 * CHANNELS; k++) give(&l, i % 2 * 4 + k % 4, 0, 0);
        for (int k = 0; k < 32 * CHANNELS; k++) give(&l, 4 - i % 2 * 4 + k % 4, 0, 0);
    }
    assert_true(l.load.is_even);
    for (int i = 0; i < 100; i++) /* in every second round */
        for (int k = 0; k < 64 * CHANNELS; k++) give(&l, i % 2 * 4 + k % 4, 0, 0);
    assert_false(l.load.is_even);
    assert_false(hbm_load_is_fair_so_far(&l.load));
    assert_int_equal(hbm_load_fair_share(&l.load), CHANNELS / 2);
    l.load.length = TS_HBM_SUBSET_LONG;
    assert_int_equal(hbm_load_fair_share(&l.load), CHANNELS); /* queues and lookahead even that out */
    stop(&l);
}

/* ---- What queues and lookahead even out ---- */

/* All of `run` bursts to an odd channel, then all to an even one, in turns. */
static bool turns_are_fair(int32_t run, int32_t lookahead) {
    loaded l;
    start(&l, 2, lookahead);
    for (int32_t i = 0; i < LONG / run; i++)
        for (int32_t k = 0; k < run; k++) give(&l, i % 2, 0, 0);
    bool fair = hbm_load_fair_share(&l.load) == 2;
    stop(&l);
    return fair;
}

TEST(what_can_be_served_meanwhile_holds_nobody_back) {
    assert_true(turns_are_fair(16, 512));
    assert_true(turns_are_fair(64, 512));
    assert_true(turns_are_fair(256, 512));
    assert_true(turns_are_fair(2048, -1) ==
                turns_are_fair(2048, LONG)); /* unlimited is as much as there is */
    assert_true(turns_are_fair(512, 512));   /* lookahead and queue */
    assert_false(turns_are_fair(1024, 512)); /* one channel is idle meanwhile */
    assert_false(turns_are_fair(512, 256));
    assert_true(turns_are_fair(48, 0)); /* in order, what fits in a queue */
    assert_false(turns_are_fair(128, 0));
}

/* Of each share its part, in stages. */
TEST(lookahead_is_divided_among_shares) {
    static const struct {
        int32_t lookahead;
        hbm_load_window windows[3]; /* of all, of every second, of every fourth channel */
    } rows[] = {
        {512,
         {{.count = 64, .stage_bursts = 8},
          {.count = 64, .stage_bursts = 4},
          {.count = 64, .stage_bursts = 2}}},
        {6,
         {{.count = 6, .stage_bursts = 1}, {.count = 3, .stage_bursts = 1}, {.count = 1, .stage_bursts = 1}}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        loaded l;
        start(&l, 4, rows[i].lookahead);
        for (int k = 0; k < 3; k++) {
            assert_int_equal(l.stream.windows[k].count, rows[i].windows[k].count);
            assert_int_equal(l.stream.windows[k].stage_bursts, rows[i].windows[k].stage_bursts);
        }
        stop(&l);
    }
}

/* The last of 101 is accepted when there is room in the queue, and the next one is offered then. */
TEST(in_order_each_waits_for_the_one_before) {
    loaded l;
    start(&l, 2, 0);
    for (int i = 0; i < 101; i++) give(&l, 0, 0, 0);
    give(&l, 1, 0, 0);
    assert_int_equal(l.load.level[0].until[1], (100 + 2 - QUEUE + 1 + 2) * STEPS);
    stop(&l);
}

TEST(more_so_far_may_be_what_waits) {
    loaded l;
    start(&l, 2, LOOKAHEAD);
    for (int i = 0; i < QUEUE; i++) give(&l, 1, 0, 0);
    assert_true(hbm_load_is_fair_so_far(&l.load));
    assert_int_equal(hbm_load_fair_share(&l.load), 1); /* but not if that is all */
    for (int i = 0; i < 15; i++) give(&l, 1, 0, 0);
    assert_false(hbm_load_is_fair_so_far(&l.load));
    stop(&l);
}

/* Who stops early has counted what waits, too. */
TEST(what_is_tried_next_is_not_judged_by_what_waits) {
    loaded l;
    start(&l, 4, LOOKAHEAD);
    for (int i = 0; i < QUEUE / 4 + 10; i++) give(&l, 1, 0, 0);
    for (int i = 0; i < 3 * QUEUE; i++) give(&l, 2, 0, 0);
    for (int i = 0; i < 3 * QUEUE - 10; i++) give(&l, 3, 0, 0);
    assert_int_equal(hbm_load_fair_share(&l.load), 2);
    for (int i = 0; i < 50; i++) give(&l, 3, 0, 0);
    assert_int_equal(hbm_load_fair_share(&l.load), 1);
    l.load.was_stopped = true;
    for (int i = 0; i < 10; i++) give(&l, 2, 0, 0);
    assert_int_equal(hbm_load_fair_share(&l.load), 2);
    stop(&l);
}

/* ---- Rows ---- */

TEST(rows_that_are_opened_take_time) {
    loaded l;
    start(&l, 2, LOOKAHEAD);
    for (int i = 0; i < LONG; i++) {
        give(&l, 0, i % 16, 0);
        give(&l, 1, i % 16, i / 16 % 8 == 0 ? i : 0);
    }
    assert_int_equal(hbm_load_fair_share(&l.load), 1);
    stop(&l);
    start(&l, 2, LOOKAHEAD);
    for (int i = 0; i < 100; i++) give(&l, 0, i % 2, i % 4);
    assert_int_equal(l.load.level[0].end, (100 + 2 * 100) * STEPS); /* two banks, each with rows in turns */
    stop(&l);
}

/* ---- Accesses of several channels ---- */

/* Of four pairs: the second in another bank, the third in another channel. */
static void set_access(loaded *l) {
    const uint64_t pairs[] = {at(0, 0, 0), at(0, 8, 0), at(2, 1, 0), at(2, 9, 0)};
    hbm_load_set_access(&l->load, pairs, 4);
    hbm_load_open(&l->load, &l->stream);
}

TEST(an_access_loads_all_channels_that_it_reaches) {
    loaded l;
    start(&l, 8, -1);
    set_access(&l);
    /* 4 bursts a channel; the same rows, whichever pair is the first */
    for (int i = 0; i < 100; i++)
        hbm_load_add_access(&l.load, &l.stream, at(i % 2 * 2, i % 2 + i / 2 % 2 * 8, 0));
    assert_int_equal(l.load.level[0].end, (100 * 4 + 2) * STEPS);
    for (int i = 0; i < 100; i++) hbm_load_add_access(&l.load, &l.stream, at(1 + i % 2 * 2, 0, 0));
    assert_int_equal(l.load.level[0].end,
                     (100 * 4 + 2 * 2) * STEPS); /* in bank 0 and, of the other channel, 1 */
    assert_int_equal(l.load.levels, 4);          /* all, 2, 4, 8: none gets the same of every access */
    stop(&l);
}

/* Two of the four pairs are in each half of the channels that it reaches: 4 bursts for a share of 4, none for others. */
TEST(an_access_gives_a_share_what_lies_in_it) {
    const uint64_t pairs[] = {at(0, 0, 0), at(0, 8, 0), at(2, 1, 0), at(2, 9, 0)};
    loaded l;
    start(&l, 4, -1);
    set_access(&l);
    assert_int_equal(l.load.levels, 3);
    assert_int_equal(l.load.level[0].access_bursts, 8);
    assert_int_equal(l.load.level[1].access_bursts, 8);
    assert_int_equal(l.load.level[2].access_bursts, 4);
    hbm_load_add_access(&l.load, &l.stream, at(0, 0, 0));
    hbm_load_add_access(&l.load, &l.stream, at(1, 0, 0));
    assert_int_equal(l.load.level[0].bursts, 16);
    assert_int_equal(l.load.level[1].bursts, 8);
    assert_int_equal(l.load.level[2].bursts, 4);
    assert_int_equal(l.load.level[2].end, (4 + 2) * STEPS);
    /* by the burst, half of each lies in the other channel of its coset */
    hbm_load_add(&l.load, &l.stream, pairs[0], 4);
    assert_int_equal(l.load.level[0].end, (4 + 2 + 2) * STEPS);
    stop(&l);
}

/* Of four pairs two lie in one row. */
TEST(columns_make_no_coset) {
    const uint64_t pairs[] = {at(0, 0, 0), at(0, 0, 0) + 2, at(1, 0, 0), at(1, 0, 0) + 2};
    loaded l;
    start(&l, 4, LOOKAHEAD);
    hbm_load_set_access(&l.load, pairs, 4);
    hbm_load_open(&l.load, &l.stream);
    assert_int_equal(l.load.levels, 2); /* all and 4: half of each is even */
    assert_int_equal(l.load.rank, 1);
    for (int i = 0; i < 100; i++) hbm_load_add_access(&l.load, &l.stream, at(i % 2, 0, 0) + 2);
    assert_int_equal(l.load.level[0].end, (100 * 4 + 2) * STEPS);
    assert_int_equal(hbm_load_fair_share(&l.load), 2);
    const uint64_t banks[] = {at(0, 0, 0), at(0, 1 << (TS_ADDRESS_BANK_BITS - 1), 0)};
    hbm_load_set_access(&l.load, banks, 2);
    assert_int_equal(l.load.rank, 1);
    assert_int_equal(l.load.coset_channels, 1);
    stop(&l);
}

TEST(the_last_access_that_was_set_counts) {
    const uint64_t none = 0;
    loaded l;
    start(&l, 8, -1);
    set_access(&l);
    hbm_load_set_access(&l.load, &none, 1);
    hbm_load_open(&l.load, &l.stream);
    for (int i = 0; i < 100; i++) hbm_load_add_access(&l.load, &l.stream, at(i % 2 * 2, i % 2 * 8, 0));
    assert_int_equal(l.load.level[0].end, (100 / 2 * 2 + 2) * STEPS); /* channels by themselves */
    stop(&l);
}

TEST(shares_that_every_access_loads_evenly_are_fair) {
    const uint64_t pairs[] = {at(0, 0, 0), at(1, 0, 0)};
    loaded l;
    start(&l, 8, LOOKAHEAD);
    hbm_load_set_access(&l.load, pairs, 2);
    hbm_load_open(&l.load, &l.stream);
    assert_int_equal(l.load.levels, 3); /* all, 4, 8 */
    for (int i = 0; i < LONG; i++) hbm_load_add_access(&l.load, &l.stream, at(6, 0, 0));
    assert_false(l.load.is_even);
    assert_int_equal(hbm_load_fair_share(&l.load), 2);
    stop(&l);
}

/* In each round of accesses to pairs of channels, the last ones go to the first pair or the second instead, in turns. */
static int share_of(ts_hbm_subset_length length, int channels) {
    enum { ROUNDS = 400, MORE = 8 };
    const int accesses = 64 * channels / 4;
    const uint64_t pairs[] = {at(0, 0, 0), at(1, 0, 0)};
    loaded l;
    start_of(&l, channels, 4, LOOKAHEAD);
    hbm_load_set_access(&l.load, pairs, 2);
    hbm_load_open(&l.load, &l.stream);
    l.load.length = length;
    for (int i = 0; i < ROUNDS; i++)
        for (int k = 0; k < accesses; k++) {
            int pair = k < accesses - MORE ? k % (channels / 2) : i % 2;
            hbm_load_add_access(&l.load, &l.stream, at(2 * pair, 0, 0));
        }
    int share = hbm_load_fair_share(&l.load);
    assert_int_equal(hbm_load_is_fair_so_far(&l.load), share == 4);
    stop(&l);
    return share;
}

TEST(of_short_streams_each_access_is_to_be_seen) {
    assert_int_equal(share_of(TS_HBM_SUBSET_USUAL, CHANNELS), 4);
    assert_int_equal(share_of(TS_HBM_SUBSET_LONG, CHANNELS), 4);
    assert_int_equal(share_of(TS_HBM_SUBSET_SHORT, CHANNELS), 2); /* one channel of each pair */
}

TEST(several_channels_stand_for_all_of_short_streams) {
    assert_int_equal(share_of(TS_HBM_SUBSET_SHORT, 2 * CHANNELS), 2); /* four are not several, */
    assert_int_equal(share_of(TS_HBM_SUBSET_SHORT, 4 * CHANNELS), 4); /* eight are */
}

/* ---- Requests in groups ---- */

/* Of two requests of two channels each, one behind the other. */
static const uint64_t *group_pairs(void) {
    static uint64_t pairs[4];
    for (int i = 0; i < 4; i++) pairs[i] = at(i, 0, 0);
    return pairs;
}

/* So many requests of four channels in turns, a row each; in groups as long as `more` of the last ones are not all
 * for two channels. */
static void give_requests(loaded *l, ts_hbm_subset_length length, int groups, int more, bool in_groups) {
    start(l, 8, -1);
    l->load.length = length;
    hbm_load_set_access(&l->load, group_pairs(), 2);
    if (in_groups) hbm_load_regroup(&l->load, group_pairs(), 4);
    hbm_load_open(&l->load, &l->stream);
    for (int i = 0; i < groups; i++)
        for (int k = 0; k < (in_groups ? 1 : 2); k++)
            hbm_load_add_access(&l->load, &l->stream, at(i % 2 * 4 + 2 * k, 0, i));
    if (in_groups) hbm_load_regroup(&l->load, group_pairs(), 2);
    for (int i = 0; i < more; i++) hbm_load_add_access(&l->load, &l->stream, at(4, 1, i));
}

static void assert_same_load(const hbm_load *a, const hbm_load *b) {
    assert_int_equal(a->levels, b->levels);
    assert_int_equal(a->is_even, b->is_even);
    assert_int_equal(a->round, b->round);
    assert_int_equal(a->coset_channels, b->coset_channels);
    assert_int_equal(hbm_load_fair_share(a), hbm_load_fair_share(b));
    for (int c = 0; c < CHANNELS; c++)
        if (a->levels_of[c] > 0) assert_int_equal(a->round_of[c], b->round_of[c]);
    for (int i = 0; i < a->levels; i++) {
        assert_int_equal(a->level[i].share, b->level[i].share);
        assert_int_equal(a->level[i].end, b->level[i].end);
        assert_int_equal(a->level[i].bursts, b->level[i].bursts);
        assert_int_equal(a->level[i].busiest, b->level[i].busiest);
    }
}

TEST(groups_load_channels_as_their_requests_do) {
    static const struct {
        int groups, more, share;
    } rows[] = {{1, 0, 8}, {400, 0, 8}, {401, 0, 8}, {401, 1, 8}, {401, 60, 4}, {16000, 1, 8}, {0, 40, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (ts_hbm_subset_length length = TS_HBM_SUBSET_SHORT; length <= TS_HBM_SUBSET_LONG; length++) {
            loaded singly, together;
            give_requests(&singly, length, rows[i].groups, rows[i].more, false);
            give_requests(&together, length, rows[i].groups, rows[i].more, true);
            assert_same_load(&together.load, &singly.load);
            assert_int_equal(hbm_load_fair_share(&singly.load), rows[i].share);
            stop(&singly);
            stop(&together);
        }
}

/* Of two cosets one gets more in a round, or the other. A quarter of the channels has a part of every group of one, but
 * not of every request of one. */
TEST(groups_of_short_streams_are_judged_as_requests) {
    const uint64_t pairs[] = {at(0, 0, 0), at(4, 0, 0), at(2, 0, 0), at(6, 0, 0)};
    for (int together = 1; together <= 2; together++) {
        loaded l;
        start(&l, 8, LOOKAHEAD);
        l.load.length = TS_HBM_SUBSET_SHORT;
        hbm_load_set_access(&l.load, pairs, 2);
        if (together == 2) hbm_load_regroup(&l.load, pairs, 4);
        hbm_load_open(&l.load, &l.stream);
        for (int i = 0; i < 400 * 64; i++)
            for (int k = 0; k < 2; k += together)
                hbm_load_add_access(&l.load, &l.stream, at((i % 64 < 60 ? i % 2 : i / 64 % 2) + 2 * k, 0, 0));
        assert_int_equal(hbm_load_fair_share(&l.load), 2);
        stop(&l);
    }
}

TEST(a_part_that_gets_nothing_says_nothing) {
    loaded l;
    start(&l, 2, LOOKAHEAD);
    assert_true(hbm_load_ratio(&l.load) == 1); /* nobody gets anything */
    for (int i = 0; i < LONG; i++) give(&l, 1, 0, 0);
    assert_true(hbm_load_ratio(&l.load) > 1e300);
    stop(&l);
}

/* ---- Asking ---- */

TEST(a_jump_forgets_what_has_begun) {
    for (int jumps = 0; jumps < 2; jumps++) {
        loaded l;
        start(&l, 2, LOOKAHEAD);
        for (int i = 0; i < 64 * 4; i++) give(&l, i % 4, 0, 0);
        if (jumps) hbm_load_jump(&l.load);
        give_rounds(&l, 64);
        assert_int_equal(l.load.is_even, jumps);
        hbm_load_clear(&l.load);
        hbm_load_open(&l.load, &l.stream);
        assert_true(l.load.is_even);
        assert_int_equal(l.load.level[0].end, 0);
        for (int c = 0; c < CHANNELS; c++) give(&l, c, 0, 0); /* its row is to be opened again */
        assert_int_equal(l.load.level[0].end, 3 * STEPS);
        stop(&l);
    }
}

TEST(grace_lasts_for_an_eighth) {
    loaded l;
    start(&l, 2, LOOKAHEAD);
    assert_false(hbm_load_has_grace(&l.load)); /* at the beginning */
    give_rounds(&l, 798);                      /* 800 steps */
    assert_false(hbm_load_has_grace(&l.load));
    assert_true(hbm_load_has_grace(&l.load));
    give_rounds(&l, 99);
    assert_true(hbm_load_has_grace(&l.load));
    give_rounds(&l, 1);
    assert_false(hbm_load_has_grace(&l.load));
    give_rounds(&l, 897 / 8 - 1);
    assert_true(hbm_load_has_grace(&l.load));
    for (int i = 0; i < 2; i++) give(&l, 1, 0, 0); /* all of them count, not those that are simulated */
    assert_false(hbm_load_has_grace(&l.load));
    stop(&l);
}
