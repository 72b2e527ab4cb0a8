/* Chips that share what engines simulate are told what each would be told by an engine of its own. */
#include <string.h>

#include "base/number.h"
#include "chip/chip_engine.h"
#include "chip/engine_tree.h"
#include "tests/support/hbm2.h"
#include "tests/support/rounds.h"
#include "tests/support/test.h"

enum { CHIPS = 6, STARTS = 4, PLANS = 4096, MIB = 1 << 20 };

static const ts_dma_machine machine = {&plain_dma, &hbm2, HBM2_KHZ, NULL, NULL};

/* A chip and its twin, which shares nothing. */
typedef struct {
    chip_engine *shared, *alone;
    int64_t tag;
    int expected;
} chip;

typedef struct {
    ts_arena *arena;
    ts_engine_pool *pool;
    chip chips[CHIPS];
    ts_arena *plans[PLANS];
    int plan_count;
} fixture;

static fixture open_chips(bool exact) {
    fixture f = {.arena = ts_arena_new(), .pool = ts_engine_pool_new(&machine, exact)};
    assert_non_null(f.pool);
    for (int i = 0; i < CHIPS; i++) {
        ts_error err = {0};
        chip_engine_setup setup = {.machine = &machine, .exact = exact};
        f.chips[i].alone = chip_engine_new(&err, f.arena, &setup);
        setup.pool = f.pool;
        f.chips[i].shared = chip_engine_new(&err, f.arena, &setup);
        f.chips[i].tag = 1000 * i; /* a chip's own */
    }
    return f;
}

static void close_chips(fixture *f) {
    for (int i = 0; i < CHIPS; i++) {
        chip_engine_free(f->chips[i].shared);
        chip_engine_free(f->chips[i].alone);
    }
    ts_engine_pool_free(f->pool);
    for (int i = 0; i < f->plan_count; i++) ts_arena_free(f->plans[i]);
    ts_arena_free(f->arena);
}

/* ---- Starts ---- */

typedef struct {
    int64_t address, cycle;
    int rows;
    bool is_write, in_vmem; /* in_vmem: both ends are */
} start;

static const ts_shape *shape_of(ts_arena *arena) {
    static const char text[] = "f32[64,128]{1,0}";
    ts_source source = {"shape", text, strlen(text)};
    return ts_shape_parse(NULL, arena, &source);
}

static ts_dma_transfer transfer_of(ts_arena *arena, const start *s, int64_t tag) {
    const ts_shape *shape = shape_of(arena);
    static const int64_t begin[2] = {0, 0};
    int64_t sizes[2] = {s->rows, 128};
    ts_plan_side far = {shape, begin, NULL, s->address * 8}, near = {shape, begin, NULL, 0};
    ts_dma_transfer t = {.tag = tag};
    t.plan = ts_plan_new(NULL, arena, s->is_write ? &near : &far, s->is_write ? &far : &near, 2, sizes);
    t.src.in_hbm = !s->in_vmem && !s->is_write;
    t.dst.in_hbm = !s->in_vmem && s->is_write;
    return t;
}

static void begin(fixture *f, chip *c, const start *s) {
    const uint64_t hash[2] = {(uint64_t)s->rows, (uint64_t)s->is_write + 2 * (uint64_t)s->in_vmem};
    ts_arena *arena = ts_arena_new(), *none = f->arena;
    ts_dma_transfer t = transfer_of(f->arena, s, c->tag);
    chip_engine_start(c->alone, &t, hash, &none, s->cycle);
    assert_ptr_equal(none, f->arena);
    t = transfer_of(arena, s, c->tag++);
    chip_engine_start(c->shared, &t, hash, &arena, s->cycle);
    if (arena)
        f->plans[f->plan_count++] = arena; /* not kept, but looked at if the engine is the chip's own */
}

/* ---- Asking both ---- */

static void expect_same_stats(const chip *c) {
    ts_hbm_stats found, alone;
    chip_engine_read_stats(c->shared, &found);
    chip_engine_read_stats(c->alone, &alone);
    put_waits_together(&found);
    put_waits_together(&alone);
    assert_memory_equal(&found, &alone, sizeof found);
}

static int64_t next_of(const chip *c, int64_t limit) {
    int64_t found = chip_engine_next(c->shared, limit);
    assert_int_equal(found, chip_engine_next(c->alone, limit));
    assert_int_equal(chip_engine_quiet_until(c->shared, limit), chip_engine_quiet_until(c->alone, limit));
    return found;
}

static int64_t complete(chip *c) {
    ts_dma_result found, alone;
    chip_engine_complete(c->shared, &found);
    chip_engine_complete(c->alone, &alone);
    assert_memory_equal(&found, &alone, sizeof found);
    assert_int_equal(chip_engine_under_way(c->shared), chip_engine_under_way(c->alone));
    assert_ptr_equal(found.incoming, found.incoming ? c : NULL);
    c->expected -= found.incoming != NULL;
    return found.completed_cycle;
}

/* What comes over links, in chunks of a quarter, so many cycles apart from the last start on. */
typedef struct {
    int64_t address, apart;
    int rows; /* 0: nothing comes */
    bool passed[4];
    int fed;
    int64_t shared, alone; /* its numbers */
} arrival;

static void expect_arrival(fixture *f, chip *c, arrival *a) {
    const start s = {.address = a->address, .rows = a->rows, .is_write = true};
    const uint64_t hash[2] = {(uint64_t)a->rows, 77};
    ts_arena *none = f->arena, **arena = &f->plans[f->plan_count++];
    *arena = ts_arena_new();
    ts_dma_transfer alone = transfer_of(f->arena, &s, 0), shared = transfer_of(*arena, &s, 0);
    a->alone = chip_engine_expect(c->alone, &(chip_engine_arrival){alone.plan, &none, c}, hash);
    a->shared = chip_engine_expect(c->shared, &(chip_engine_arrival){shared.plan, arena, c}, hash);
    c->expected++;
}

/* Those up to the limit. */
static void feed(const chip *c, arrival *a, int64_t from, int64_t limit) {
    for (; a->rows > 0 && a->fed < 4 && from + a->fed * a->apart <= limit; a->fed++) {
        const ts_dma_chunk chunk = {.bytes = a->rows * 128,
                                    .cycle = from + a->fed * a->apart,
                                    .last = a->fed == 3,
                                    .passed = a->passed[a->fed]};
        chip_engine_feed(c->shared, a->shared, &chunk);
        chip_engine_feed(c->alone, a->alone, &chunk);
    }
}

static bool is_busy(const chip *c) { return chip_engine_under_way(c->alone) > 0 || c->expected > 0; }

/* Starts, with what is complete before each, then the rest; the cycle of the last completion. */
static int64_t go_on(fixture *f, chip *c, const start *starts, int count, int64_t step, arrival come) {
    int64_t end = 0, last = starts[count - 1].cycle;
    for (int i = 0; i < count; i++) {
        while (is_busy(c) && next_of(c, starts[i].cycle) != INT64_MAX) end = complete(c);
        begin(f, c, &starts[i]);
    }
    if (come.rows > 0) expect_arrival(f, c, &come);
    for (int64_t limit = last; is_busy(c); limit += step) {
        feed(c, &come, last + 1, limit);
        if (step % 3 == 0) expect_same_stats(c);
        while (is_busy(c) && next_of(c, limit) != INT64_MAX) end = complete(c);
        assert_true(chip_engine_can_start(c->shared));
    }
    expect_same_stats(c);
    return end;
}

static int64_t go(fixture *f, chip *c, const start *starts, int count, int64_t step) {
    return go_on(f, c, starts, count, step, (arrival){0});
}

/* ---- Tests ---- */

static uint64_t draw(uint64_t *seed, uint64_t below) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*seed >> 33) % below;
}

static void draw_starts(uint64_t *seed, int64_t cycle, start *out) {
    for (int i = 0; i < STARTS; i++) {
        cycle += i ? (int64_t)draw(seed, 3) * 150 : 0;
        out[i] = (start){.address = (int64_t)draw(seed, 3) * 65536,
                         .cycle = cycle,
                         .rows = 8 << draw(seed, 4),
                         .is_write = draw(seed, 3) == 0,
                         .in_vmem = draw(seed, 6) == 0};
    }
}

static arrival draw_arrival(uint64_t *seed) {
    arrival a = {.address = MIB + (int64_t)draw(seed, 3) * 65536, .apart = 1 + (int64_t)draw(seed, 300)};
    a.rows = draw(seed, 2) ? 8 << draw(seed, 3) : 0;
    bool all = draw(seed, 3) == 0;
    for (int i = 0; i < 4; i++) a.passed[i] = all || draw(seed, 3) == 0;
    return a;
}

/* Periods that most chips do alike, each from a place of its own; the next begins soon or once memories rest. */
TEST(everyone_is_told_what_an_own_engine_says) {
    for (uint64_t seed = 1, last = (uint64_t)cases(16, 4); seed <= last; seed++) {
        fixture f = open_chips(seed % 3 == 0);
        uint64_t random = seed;
        int64_t cycle = 5;
        for (int period = 0; period < 12; period++) {
            start starts[STARTS];
            int64_t end = cycle, step = 1 + (int64_t)draw(&random, 200);
            int count = 1 + (int)draw(&random, STARTS);
            draw_starts(&random, cycle, starts);
            arrival come = draw_arrival(&random);
            for (int i = 0; i < CHIPS; i++) {
                start own[STARTS];
                memcpy(own, starts, sizeof own);
                int64_t base = (int64_t)draw(&random, 3) * 64 * MIB * i;
                for (int k = 0; k < count; k++) own[k].address += base;
                arrival other = come;
                other.address += base;
                if (draw(&random, 5) == 0) own[count - 1].cycle += (int64_t)draw(&random, 30);
                if (draw(&random, 8) == 0) own[0].rows = 24;
                end = ts_max(end,
                             go_on(&f, &f.chips[i], own, count, draw(&random, 4) ? step : step + 1, other));
            }
            cycle = end +
                    (draw(&random, 2) ? (int64_t)draw(&random, 3000) : 9000 + (int64_t)draw(&random, 30000));
        }
        close_chips(&f);
    }
}

static void all_go(fixture *f, const start *s, int count, int64_t apart, int64_t late) {
    for (int i = 0; i < CHIPS; i++) {
        start own[STARTS];
        memcpy(own, s, (size_t)count * sizeof *s);
        for (int k = 0; k < count; k++) own[k].address += i * apart;
        own[count - 1].cycle += i * late;
        go(f, &f->chips[i], own, count, 50);
    }
}

/* By what they do in two periods. */
TEST(engines_are_as_many_as_differ) {
    static const struct {
        int64_t apart, late, gap;
        int engines;
    } rows[] = {
        {0, 0, 100, 1},          /* all do the same */
        {64 * MIB, 0, 100, 1},   /* in another row */
        {64, 0, 100, CHIPS},     /* in other pseudo channels and columns */
        {0, 1, 100, CHIPS},      /* at other cycles */
        {64 * MIB, 0, 20000, 1}, /* an engine is there again once memories rest */
        {64, 0, 20000, CHIPS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f = open_chips(false);
        start s[2] = {{.cycle = 7, .rows = 8}, {.address = 2 * MIB, .cycle = 9, .rows = 16}};
        all_go(&f, s, 2, rows[i].apart, rows[i].late);
        for (int k = 0; k < 2; k++) s[k].cycle += 2000 + rows[i].gap;
        all_go(&f, s, 2, rows[i].apart, rows[i].late);
        assert_int_equal(f.pool->engines, rows[i].engines);
        close_chips(&f);
    }
}

/* What was asked in common is asked again, for the one that asks something else. */
TEST(one_that_goes_another_way_has_an_engine) {
    fixture f = open_chips(false);
    const start same[] = {{.cycle = 7, .rows = 64}}, other[] = {{.cycle = 2500, .rows = 32}},
                third[] = {{.cycle = 2500, .rows = 16}};
    all_go(&f, same, 1, 0, 0);
    assert_int_equal(f.pool->engines, 1);
    for (int i = 0; i < CHIPS; i++) go(&f, &f.chips[i], i == 3 ? third : other, 1, 50);
    assert_int_equal(f.pool->engines, 2);
    close_chips(&f);
}

static pool_node *ask_on(pool_position *from, pool_node question) {
    return from->at = pool_ask(from, &question, NULL);
}

/* Of what is asked again the answers are there: others read them meanwhile. */
TEST(answers_are_written_once) {
    enum { MARK = -7 };
    fixture f = open_chips(false);
    const start s = {.cycle = 7, .rows = 8};
    const pool_tree key = {.cycle = s.cycle};
    pool_position at = {f.pool, pool_join(f.pool, &key), NULL};
    at.at = &at.tree->root;
    ask_on(&at, (pool_node){.what = ASK_START, .cycle = s.cycle, .transfer = transfer_of(f.arena, &s, 0)});
    pool_node *next = ask_on(&at, (pool_node){.what = ASK_NEXT, .cycle = INT64_MAX}),
              *done = ask_on(&at, (pool_node){.what = ASK_COMPLETE}),
              *read = ask_on(&at, (pool_node){.what = ASK_STATS});
    const pool_position before = at;
    ask_on(&at, (pool_node){.what = ASK_QUIET, .cycle = 100000});
    next->next = next->quiet = done->result.completed_cycle = done->stats->reads = read->stats->reads = MARK;
    pool_engine *again = pool_part(&before); /* the other one is past that */
    assert_int_equal(f.pool->engines, 2);
    assert_int_equal(next->next, MARK);
    assert_int_equal(next->quiet, MARK);
    assert_int_equal(done->result.completed_cycle, MARK);
    assert_int_equal(done->stats->reads, MARK);
    assert_int_equal(read->stats->reads, MARK);
    assert_ptr_equal(again->head, read);
    pool_free_engines(again);
    pool_leave(f.pool, at.tree);
    close_chips(&f);
}

/* A chip that asks for ever, and never rests, has an engine of its own in the end; what it was told before stands. */
TEST(who_asks_too_much_is_alone) {
    fixture f = open_chips(false);
    start s = {.cycle = 7, .rows = 8};
    for (int period = 0; period < 220; period++) {
        s.cycle = 7 + period * 1500;
        for (int i = 0; i < 2; i++) go(&f, &f.chips[i], &s, 1, 6);
    }
    assert_int_equal(f.pool->engines, 2);
    close_chips(&f);
}

/* One that goes alone takes its engine only: the tree's other one is still that of the other chip. */
TEST(who_is_alone_leaves_engines_of_others) {
    fixture f = open_chips(false);
    start s = {.cycle = 7, .rows = 8}, other = {.cycle = 1507, .rows = 16};
    for (int i = 0; i < 2; i++) go(&f, &f.chips[i], &s, 1, 6);
    go(&f, &f.chips[1], &other, 1, 6);
    for (int period = 1; period < 220; period++) {
        s.cycle = 7 + period * 1500;
        go(&f, &f.chips[0], &s, 1, 6);
    }
    assert_int_equal(f.pool->engines, 2);
    chip_engine_free(f.chips[0].shared);
    f.chips[0].shared = NULL;
    other.cycle += 1500;
    go(&f, &f.chips[1], &other, 1, 6);
    close_chips(&f);
}

/* When those that asked an engine are gone, another chip has it, unless a transfer is still under way. */
TEST(engines_outlive_their_chips) {
    for (int busy = 0; busy < 2; busy++) {
        fixture f = open_chips(false);
        start s = {.cycle = 7, .rows = 8};
        go(&f, &f.chips[0], &s, 1, 50);
        s.cycle = 1000; /* memories do not rest yet */
        if (busy) begin(&f, &f.chips[0], &s);
        chip_engine_free(f.chips[0].shared);
        f.chips[0].shared = NULL;
        s.cycle = 2000;
        s.rows = 16;
        go(&f, &f.chips[1], &s, 1, 50);
        assert_int_equal(f.pool->engines, 1 + busy);
        close_chips(&f);
    }
}

/* Of 64 rows of 512 bytes in bursts of 32, a quarter each; the bytes behind what is passed over lie where they do. */
TEST(what_is_passed_over_is_not_written) {
    enum { QUARTER = 64 * 512 / 4 / 32 };
    static const struct {
        bool passed[4];
        int quarters;
    } rows[] = {{{false, false, false, false}, 4}, {{true, false, false, false}, 3},
                {{false, true, false, false}, 3},  {{true, true, false, false}, 2},
                {{true, true, true, false}, 1},    {{false, false, false, true}, 3},
                {{true, false, true, false}, 2},   {{true, true, true, true}, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f = open_chips(true);
        chip *c = &f.chips[0];
        arrival come = {.address = MIB, .apart = 500, .rows = 64};
        memcpy(come.passed, rows[i].passed, sizeof come.passed);
        expect_arrival(&f, c, &come);
        for (int64_t limit = 7; is_busy(c); limit += 50) {
            feed(c, &come, 7, limit);
            while (is_busy(c) && next_of(c, limit) != INT64_MAX) complete(c);
        }
        expect_same_stats(c);
        ts_hbm_stats stats;
        chip_engine_read_stats(c->alone, &stats);
        assert_int_equal(stats.writes, rows[i].quarters * QUARTER);
        close_chips(&f);
    }
}

TEST(exact_chips_simulate_all_channels) {
    fixture f = open_chips(true);
    assert_false(chip_engine_is_part(f.chips[0].shared));
    assert_false(chip_engine_is_part(f.chips[0].alone));
    close_chips(&f);
}

TEST_WITH_ARENA(unlike_memories_are_not_shared) {
    ts_hbm_config hbm = hbm2;
    ts_dma_config dma = plain_dma;
    ts_dma_machine other = {&dma, &hbm, HBM2_KHZ, NULL, NULL};
    hbm.page = TS_HBM_PAGE_CLOSED;
    assert_null(ts_engine_pool_new(&other, false));
    hbm = hbm2;
    dma.in_flight_bytes = 4096;
    assert_null(ts_engine_pool_new(&other, false));
    dma.in_flight_bytes = 0;
    hbm.address_map = "no map";
    assert_null(ts_engine_pool_new(&other, false));
    ts_engine_pool_free(NULL);
    ts_error err = {0};
    chip_engine_setup setup = {.machine = &other};
    assert_null(chip_engine_new(&err, arena, &setup));
    assert_int_equal(err.kind, TS_ERROR_INPUT);
    chip_engine_free(NULL);
}
