/* Busy periods: which are looked up as what, and how much of one is kept. */
#include <string.h>

#include "tests/support/test.h"
#include "tests/support/traffic_side.h"

enum { INTERVAL = 3900, PERIOD = 5 * INTERVAL, REST = 1024, MANY = 40 };

static const start one = {0, 1, false};

static void end_all(side *s) {
    while (traffic_next(s->t, INT64_MAX) != INT64_MAX) side_complete(s);
}

static side open_on(const ts_dma_machine *on, bool exact) {
    side s = {.arena = ts_arena_new()};
    s.t = traffic_new(s.arena, on, exact);
    traffic_share(s.t, TRAFFIC_SIMULATED_BYTES, NULL);
    return s;
}

/* One that has simulated what must be simulated. */
static side open_warm(const ts_dma_machine *on) {
    side s = open_on(on, false);
    side_begin(&s, &one, 0);
    end_all(&s);
    return s;
}

/* ---- What a period begins with ---- */

/* In a 16th of the interval; the more bytes there are, the fewer parts: those of half of it are moved in each. */
TEST(phases_are_parts_of_the_interval) {
    static const struct {
        int rows, cycle, phases, part;
    } rows[] = {
        {1, 0, 16, 0},      {1, 243, 16, 0},  {1, 244, 16, 1},    {1, 1949, 16, 7},   {1, 1950, 16, 8},
        {1, 3899, 16, 15},  {975, 0, 16, 0},  {976, 0, 8, 0},     {1950, 487, 8, 0},  {1950, 488, 8, 1},
        {1951, 975, 4, 1},  {3900, 0, 4, 0},  {3901, 1950, 2, 1}, {7800, 1949, 2, 0}, {7801, 0, 1, 0},
        {7801, 3899, 1, 0}, {8192, 10, 1, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        side s = open_warm(&side_machine);
        const start what = {0, rows[i].rows, false};
        side_begin(&s, &what, PERIOD + rows[i].cycle);
        int64_t wanted = rows[i].phases > 1 ? 16 * rows[i].part + rows[i].phases : 0;
        if (!s.t->root || s.t->root->after != wanted)
            fail_msg("row %zu: %d, expected %d", i, (int)s.t->root->after, (int)wanted);
        assert_ptr_equal(s.t->at, s.t->root);
        side_close(&s);
    }
}

TEST(without_refresh_there_are_no_phases) {
    ts_hbm_config hbm = hbm2;
    hbm.refresh = TS_HBM_REFRESH_NONE;
    const ts_dma_machine on = {&plain_dma, &hbm, HBM2_KHZ, NULL, NULL};
    side s = open_warm(&on);
    side_begin(&s, &one, PERIOD + 3000);
    assert_int_equal(s.t->root->after, 0);
    side_close(&s);
}

/* Also how many messages are to come tells periods apart. */
TEST(messages_are_part_of_it) {
    static const start eight = {0, 8, true};
    side s = open_warm(&side_machine);
    for (int64_t count = 1; count <= 2; count++) {
        ts_error err = {0};
        ts_arena *none = s.arena;
        int64_t incoming;
        const traffic_arrival comes = {side_plan(s.arena, &eight), &none, &s, 0};
        assert_true(traffic_expect(&err, s.t, &comes, &incoming));
        side_begin(&s, &one, count * PERIOD);
        assert_int_equal(s.t->root->after, count << 16 | 16);
        while (traffic_under_way(s.t) > 0 && traffic_next(s.t, INT64_MAX) != INT64_MAX) side_complete(&s);
    }
    side_close(&s);
}

/* So many cycles after the end of the one before, which may count for others, and once so many bytes are simulated. */
TEST(memories_rest_before_it) {
    for (int k = 0; k < 4; k++) {
        int early = k % 2, skipped = k / 2 * PERIOD;
        side s = open_on(&side_machine, false);
        side_begin(&s, &one, REST);
        assert_null(s.t->at); /* nothing is simulated yet */
        int64_t end = traffic_next(s.t, INT64_MAX);
        end_all(&s);
        traffic_mark(s.t);
        traffic_repeat(s.t, 0, skipped);
        side_begin(&s, &one, end + skipped + REST - early);
        assert_int_equal(s.t->at == NULL, early);
        side_close(&s);
    }
    side s = open_on(&side_machine, true);
    for (int k = 0; k < 3; k++) {
        side_begin(&s, &one, k * PERIOD);
        assert_null(s.t->at);
        end_all(&s);
    }
    side_close(&s);
}

/* ---- What is kept of it ---- */

/* Each time 64 starts and ends more, until all are. */
TEST(so_many_steps_are_added_at_once) {
    ts_dma_config dma = plain_dma;
    dma.descriptors = MANY;
    const ts_dma_machine on = {&dma, &hbm2, HBM2_KHZ, NULL, NULL};
    for (int starts = 31; starts <= 33; starts++) {
        side s = open_warm(&on);
        int recorded = starts <= 32 ? 1 : 2;
        for (int k = 1; k <= 3; k++) {
            for (int i = 0; i < starts; i++) side_begin(&s, &one, k * PERIOD);
            assert_int_equal(s.t->recalls, k > recorded);
            end_all(&s);
        }
        assert_int_equal(side_recalled(&s), (3 - recorded) * starts);
        side_close(&s);
    }
}

/* Where it ends otherwise than it did, its steps are no longer kept. */
TEST(ends_are_noted_once) {
    static const struct {
        int64_t done;
        int member;
        bool kept;
    } rows[] = {{150, 2, true}, {151, 2, false}, {150, 1, false}, {149, 3, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        step known = {.after = 50, .member = 2}, at = {.done = &known};
        traffic t = {.at = &at, .latest = 100, .steps = 64};
        const record r = {.done = rows[i].done, .member = rows[i].member};
        period_note_done(&t, &r);
        assert_ptr_equal(t.at, rows[i].kept ? &known : NULL);
    }
    step at = {0};
    traffic t = {.arena = ts_arena_new(), .at = &at, .latest = 100};
    period_note_done(&t, &(record){.done = 150, .member = 3});
    assert_true(t.at == at.done && at.done->after == 50 && at.done->member == 3 && t.steps == 1);
    ts_arena_free(t.arena);
}

/* Of a transfer until the next one starts, when it was latest, none was complete. */
TEST(the_latest_start_is_noted) {
    static const int later[] = {30, 50, 40};
    side s = open_warm(&side_machine);
    int64_t most = 0;
    for (int k = 0; k < 3; k++) {
        side_begin(&s, &one, (k + 1) * PERIOD);
        const step *root = s.t->root;
        side_begin(&s, &one, (k + 1) * PERIOD + later[k]);
        most = later[k] > most ? later[k] : most;
        assert_int_equal(root->quiet, most);
        end_all(&s);
    }
    side_close(&s);
}

/* What was recalled to be complete, and is not when the rest is simulated, is so before the next period. */
TEST(what_was_told_too_early_ends_with_the_period) {
    static const start little = {0, 4, false}, much = {0, 400, false};
    side s = open_warm(&side_machine);
    for (int k = 1; k <= 2; k++) {
        side_begin(&s, &little, k * PERIOD);
        side_begin(&s, &much, k * PERIOD + 1);
        step *done = s.t->root->starts->done;
        if (done) *done = (step){.after = 5, .member = 1, .result = done->result};
        if (!done) end_all(&s);
    }
    assert_int_equal(traffic_next(s.t, INT64_MAX), 2 * PERIOD + 6);
    assert_int_equal(side_complete(&s).tag, 4);
    side_begin(&s, &one, 2 * PERIOD + 7);
    assert_false(s.t->recalls);
    int64_t last = 0;
    for (int64_t next; (next = traffic_next(s.t, INT64_MAX)) != INT64_MAX; last = next) side_complete(&s);
    assert_int_equal(chip_engine_under_way(s.t->engine), 0);
    assert_true(s.t->least > last);
    side_begin(&s, &one, last + 1);
    assert_int_equal(traffic_next(s.t, s.t->least), INT64_MAX);
    end_all(&s);
    side_close(&s);
}

/* Two at a time, each with its own end. */
TEST(what_came_is_told_once) {
    static const start eight = {0, 8, true};
    side s = open_on(&side_machine, true);
    for (int64_t round = 0; round < 3; round++) {
        ts_error err = {0};
        ts_arena *none = s.arena;
        int owners[2];
        for (int i = 0; i < 2; i++) {
            int64_t incoming;
            const traffic_arrival comes = {side_plan(s.arena, &eight), &none, &owners[i], 0};
            assert_true(traffic_expect(&err, s.t, &comes, &incoming));
            traffic_feed(s.t, incoming, (ts_dma_chunk){8 * ROW, round * PERIOD, true, false});
        }
        assert_true(traffic_next(s.t, INT64_MAX) != INT64_MAX);
        assert_true(chip_engine_next(s.t->engine, INT64_MAX) != INT64_MAX);
        period_take(s.t, 0); /* the second, before anybody is told of the first */
        int64_t first = traffic_next(s.t, INT64_MAX);
        ts_dma_result results[2] = {side_complete(&s), side_complete(&s)};
        assert_true(results[0].completed_cycle == first && results[1].completed_cycle >= first);
        bool in_order = results[0].incoming == &owners[0];
        assert_ptr_equal(results[0].incoming, &owners[in_order ? 0 : 1]);
        assert_ptr_equal(results[1].incoming, &owners[in_order ? 1 : 0]);
        assert_int_equal(traffic_next(s.t, INT64_MAX), INT64_MAX);
    }
    side_close(&s);
}

/* ---- Counts ---- */

TEST(bytes_are_those_in_hbm) {
    static const struct {
        const char *src, *dst;
        bool reads, writes;
        int64_t bytes;
    } rows[] = {
        {"f32[8,128]{1,0}", "f32[8,128]{1,0}", true, false, 4096},
        {"f32[8,128]{1,0}", "f32[8,128]{1,0}", false, true, 4096},
        {"f32[8,128]{1,0}", "f32[8,128]{1,0}", true, true, 8192},
        {"f32[8,128]{1,0}", "f32[8,128]{1,0}", false, false, 0},
        {"f32[8,128]{1,0}", "bf16[8,128]{1,0}", true, true, 6144},
        {"f32[8,128]{1,0}", "bf16[8,128]{1,0}", false, true, 2048},
        {"f32[8,100]{1,0}", "f32[8,100]{1,0:T(8,128)}", true, false, 3200},
        {"f32[8,100]{1,0:T(8,128)}", "f32[8,100]{1,0:T(8,128)}", true, false, 4096}, /* with the padding */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_arena *arena = ts_arena_new();
        ts_source sources[] = {{"src", rows[i].src, strlen(rows[i].src)},
                               {"dst", rows[i].dst, strlen(rows[i].dst)}};
        ts_plan_side sides[2] = {{0}};
        for (int k = 0; k < 2; k++) sides[k].shape = ts_shape_parse(NULL, arena, &sources[k]);
        const ts_layout *layout = sides[0].shape->layout;
        const ts_dma_transfer what = {.plan = ts_plan_new(NULL, arena, &sides[0], &sides[1], 2, layout->dims),
                                      .src.in_hbm = rows[i].reads,
                                      .dst.in_hbm = rows[i].writes};
        assert_int_equal(period_bytes(&what), rows[i].bytes);
        ts_arena_free(arena);
    }
}
