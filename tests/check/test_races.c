/* Races: who meets the bytes of a transfer that nobody has waited for. */
#include <stdio.h>
#include <string.h>

#include "check/races.h"
#include "tests/support/cmocka.h"
#include "tests/support/random_layout.h"
#include "tests/support/rounds.h"
#include "tests/support/shapes.h"

static const ts_source source = {"a.tsim", "", 0};
static const ts_tensor tensors[] = {{.name = "x"}, {.name = "xb"}};
enum { TRANSFERS = 8, GRANULE = 32 };

/* Transfer n is at line n + 1, from x to xb. */
typedef struct {
    ts_arena *arena;
    ts_code code;
    ts_transfer transfers[TRANSFERS];
    ts_findings *findings;
    ts_semaphore_account accounts[2];
    ts_space *hbm, *cmem, *vmem;
    ts_races *races;
} world;

static world *open_world(int cores) {
    ts_arena *arena = ts_arena_new();
    world *w = TS_NEW(arena, world);
    w->arena = arena;
    for (int i = 0; i < TRANSFERS; i++)
        w->transfers[i] = (ts_transfer){
            .source.tensor = 0, .destination.tensor = 1, .source_text = &source, .line = i + 1, .column = 1};
    w->code = (ts_code){.tensors = tensors, .transfers = w->transfers, .cores = cores};
    w->hbm = ts_space_new(arena, "hbm", 1 << 20);
    w->cmem = ts_space_new(arena, "cmem", 1 << 20);
    w->vmem = ts_space_new(arena, "vmem", 1 << 20);
    w->findings = TS_NEW(arena, ts_findings);
    w->races = ts_races_new(arena, &w->code, w->findings, w->accounts, w->hbm, w->cmem);
    return w;
}

static void close_world(world *w) {
    ts_races_free(w->races);
    ts_arena_free(w->arena);
}

/* All elements of two shapes that lie at these bytes. */
static const ts_plan *plan_of(ts_arena *arena, const char *from, int64_t from_byte, const char *to,
                              int64_t to_byte) {
    ts_error err = {0};
    ts_plan_side src = {parse_shape(arena, from), NULL, NULL, from_byte * 8},
                 dst = {parse_shape(arena, to), NULL, NULL, to_byte * 8};
    const ts_plan *plan =
        ts_plan_new(&err, arena, &src, &dst, src.shape->layout->rank, src.shape->layout->dims);
    if (!plan) fail_msg("%s", err.message);
    return plan;
}

static ts_in_flight *issue(ts_races *races, const ts_in_flight *record) {
    static ts_in_flight records[1000];
    static int count;
    ts_in_flight *t = &records[count++ % 1000];
    *t = *record;
    t->done_cycle = -1;
    ts_races_start(races, t);
    return t;
}

static void complete(ts_races *races, ts_in_flight *t, int64_t cycle) {
    t->done_cycle = cycle;
    ts_races_complete(races, t);
}

/* `bytes` bytes from hbm to vmem. */
static ts_in_flight *start(world *w, int transfer, int64_t from, int64_t to, int64_t bytes, int64_t cycle) {
    char text[32];
    snprintf(text, sizeof text, "u8[%lld]{0}", (long long)bytes);
    ts_left_send(&w->accounts[0], &w->transfers[transfer], 1);
    return issue(w->races, &(ts_in_flight){.what = &w->transfers[transfer],
                                           .plan = plan_of(w->arena, text, from, text, to),
                                           .src = w->hbm,
                                           .dst = w->vmem,
                                           .semaphore = 0,
                                           .issued_cycle = cycle});
}

static const ts_instruction vld = {.opcode = TS_OP_vld, .source = &source, .line = 20, .column = 1},
                            vst = {.opcode = TS_OP_vst, .source = &source, .line = 21, .column = 1},
                            wait = {.opcode = TS_OP_wait, .source = &source, .line = 22, .column = 1};

static int accessed(world *w, const ts_space *space, int64_t first, int64_t end, bool writes) {
    w->findings->count = 0;
    ts_races_access(w->races, &(ts_access){writes ? &vst : &vld, space, first, end, writes, 70, NULL});
    return w->findings->count;
}

static void wait_for(world *w, int64_t count) {
    ts_left_change(&w->accounts[0], &wait, -count);
    ts_races_change(w->races, 0);
}

/* ---- Accesses of the core ---- */

TEST(accesses_that_do_not_wait) {
    world *w = open_world(1);
    start(w, 3, 4096, 8192, 64, 10);
    assert_int_equal(accessed(w, w->vmem, 8192, 8196, false), 1);
    const ts_finding *f = &w->findings->list[0];
    assert_string_equal(f->text, "vld reads bytes of 'xb' that a DMA writes, without waiting for it");
    assert_string_equal(f->other_text, "the DMA that was not waited for");
    assert_int_equal(f->kind, TS_FINDING_READ_RACE);
    assert_true(f->where.line == 20 && f->other.line == 4 && f->cycle == 70);
    assert_false(f->has_margin);
    assert_int_equal(accessed(w, w->vmem, 8192, 8196, true), 1);
    assert_int_equal(f->kind, TS_FINDING_WRITE_RACE);
    assert_string_equal(f->text, "vst writes bytes of 'xb' that a DMA writes, without waiting for it");
    assert_int_equal(accessed(w, w->hbm, 4096, 4100, true), 1);
    assert_string_equal(f->text, "vst writes bytes of 'x' that a DMA reads, without waiting for it");
    assert_int_equal(accessed(w, w->hbm, 4096, 4100, false), 0); /* both read */
    assert_int_equal(accessed(w, w->vmem, 4096, 4100, true), 0);
    assert_int_equal(accessed(w, w->hbm, 8192, 8196, true), 0);
    close_world(w);
}

/* 32 bytes disturb each other. */
TEST(a_granule_at_each_end) {
    world *w = open_world(1);
    start(w, 0, 0, 8200, 100, 10); /* granules 8192 .. 8319 */
    assert_int_equal(accessed(w, w->vmem, 8188, 8192, false), 0);
    assert_int_equal(accessed(w, w->vmem, 8188, 8193, false), 1);
    assert_int_equal(accessed(w, w->vmem, 8192, 8193, false), 1);
    assert_int_equal(accessed(w, w->vmem, 8319, 8323, false), 1);
    assert_int_equal(accessed(w, w->vmem, 8320, 8324, false), 0);
    assert_int_equal(accessed(w, w->vmem, 0, 65536, false), 1);
    assert_int_equal(accessed(w, w->vmem, 0, 8192, false), 0);
    assert_int_equal(accessed(w, w->vmem, 8320, 65536, false), 0);
    close_world(w);
}

TEST(a_wait_ends_it) {
    world *w = open_world(1);
    ts_in_flight *a = start(w, 0, 0, 8192, 64, 10);
    wait_for(w, 1); /* cannot be, as it is not complete */
    assert_int_equal(accessed(w, w->vmem, 8192, 8196, false), 1);
    complete(w->races, a, 30);
    assert_int_equal(accessed(w, w->vmem, 8192, 8196, false), 1);
    ts_races_change(w->races, 1); /* another semaphore */
    assert_int_equal(accessed(w, w->vmem, 8192, 8196, false), 1);
    ts_races_change(w->races, 0);
    assert_int_equal(accessed(w, w->vmem, 8192, 8196, false), 0);
    ts_in_flight *b = start(w, 1, 0, 8192, 64, 40), *c = start(w, 2, 0, 16384, 64, 40);
    complete(w->races, c, 50);
    wait_for(w, 1); /* one of the two: nobody knows which */
    assert_int_equal(accessed(w, w->vmem, 8192, 8196, false), 1);
    assert_int_equal(accessed(w, w->vmem, 16384, 16388, false), 1);
    complete(w->races, b, 60);
    wait_for(w, 1);
    assert_int_equal(accessed(w, w->vmem, 8192, 8196, false), 0);
    assert_int_equal(accessed(w, w->vmem, 16384, 16388, false), 0);
    close_world(w);
}

/* What is added by hand must be taken as well. */
TEST(signals_that_are_no_transfers) {
    static const ts_instruction add = {.opcode = TS_OP_sem_add};
    world *w = open_world(1);
    complete(w->races, start(w, 0, 0, 8192, 64, 10), 0);
    ts_left_change(&w->accounts[0], &add, 1);
    wait_for(w, 1);
    assert_int_equal(accessed(w, w->vmem, 8192, 8196, false), 1);
    wait_for(w, 1);
    assert_int_equal(accessed(w, w->vmem, 8192, 8196, false), 0);
    close_world(w);
}

TEST(margins) {
    world *w = open_world(1);
    ts_in_flight *a = start(w, 0, 0, 8192, 64, 10);
    complete(w->races, a, 30);
    assert_int_equal(accessed(w, w->vmem, 8192, 8196, false), 1); /* at cycle 70 */
    assert_true(w->findings->list[0].has_margin);
    assert_int_equal(w->findings->list[0].margin_cycles, 40);
    ts_in_flight *b = start(w, 1, 0, 16384, 64, 40);
    w->findings->count = 0;
    ts_races_access(w->races, &(ts_access){&vld, w->vmem, 8192, 8196, false, 80, NULL});
    ts_races_access(w->races, &(ts_access){&vst, w->vmem, 16384, 16388, true, 81, NULL});
    assert_int_equal(w->findings->count, 2);
    assert_false(w->findings->list[1].has_margin);
    complete(w->races, b, 100);
    assert_true(w->findings->list[1].has_margin);
    assert_int_equal(w->findings->list[1].margin_cycles, -19);
    assert_int_equal(w->findings->list[0].margin_cycles, 50);
    close_world(w);
}

/* ---- Of transfers ---- */

TEST(transfers_that_meet) {
    world *w = open_world(1);
    static const struct {
        int64_t from, to; /* of 64 bytes, while a transfer goes from 4096 to 8192 of the same memory */
        const char *text;
    } rows[] = {
        {0, 1024, NULL},
        {4096, 1024, NULL}, /* both read */
        {8192, 1024, "this DMA reads bytes of 'xb' that a DMA writes, without waiting for it"},
        {0, 8192, "this DMA writes bytes of 'xb' that a DMA writes, without waiting for it"},
        {0, 4096, "this DMA writes bytes of 'x' that a DMA reads, without waiting for it"},
        {0, 8255, "this DMA writes bytes of 'xb' that a DMA writes, without waiting for it"},
        {0, 8256, NULL},
        {0, 8128, NULL},
        {0, 8129, "this DMA writes bytes of 'xb' that a DMA writes, without waiting for it"},
    };
    const ts_plan *first = plan_of(w->arena, "u8[64]{0}", 4096, "u8[64]{0}", 8192);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const ts_plan *plan = plan_of(w->arena, "u8[64]{0}", rows[i].from, "u8[64]{0}", rows[i].to);
        memset(w->findings, 0, sizeof *w->findings);
        issue(w->races, &(ts_in_flight){.what = &w->transfers[0],
                                        .plan = first,
                                        .src = w->hbm,
                                        .dst = w->hbm,
                                        .semaphore = -1,
                                        .issued_cycle = 5});
        issue(w->races, &(ts_in_flight){.what = &w->transfers[1],
                                        .plan = plan,
                                        .src = w->hbm,
                                        .dst = w->hbm,
                                        .semaphore = -1,
                                        .issued_cycle = 8});
        ts_races_free(w->races);
        if (w->findings->count != (rows[i].text != NULL)) fail_msg("row %zu: %d", i, w->findings->count);
        if (rows[i].text) {
            const ts_finding *f = &w->findings->list[0];
            assert_string_equal(f->text, rows[i].text);
            assert_true(f->where.line == 2 && f->other.line == 1 && f->cycle == 8);
            assert_int_equal(f->kind, strstr(rows[i].text, "DMA reads bytes") ? TS_FINDING_READ_RACE
                                                                              : TS_FINDING_WRITE_RACE);
        }
    }
    close_world(w);
}

/* Of many granules, which begin and end anywhere in a word of them. */
TEST(long_transfers) {
    enum { AT = 32768 + 32, LONG = 16384 };
    static const struct {
        int64_t to, bytes;
        bool meets;
    } rows[] = {{AT + LONG, LONG, false},
                {AT + LONG - 32, LONG, true},
                {AT - LONG, LONG, false},
                {AT - LONG + 1, LONG, true},
                {AT + 8000, 32, true},
                {0, 60000, true},
                {0, AT, false},
                {AT + LONG, 60000, false},
                {AT + LONG - 1, 60000, true},
                {AT + 2048, 2048, true},
                {AT + LONG - 64, 40000, true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        world *w = open_world(1);
        start(w, 0, 0, AT, LONG, 10);
        assert_int_equal(w->findings->count, 0);
        start(w, 1, 1 << 18, rows[i].to, rows[i].bytes, 20);
        if (w->findings->count != rows[i].meets) fail_msg("row %zu: %d", i, w->findings->count);
        close_world(w);
    }
    world *w = open_world(1);
    start(w, 0, 0, AT, LONG, 10);
    for (int64_t byte = 0; byte < 1 << 16; byte += GRANULE)
        assert_int_equal(accessed(w, w->vmem, byte, byte + 4, false), byte >= AT && byte < AT + LONG);
    close_world(w);
}

/* An access of many bytes sees the few that are touched; and holes that meet holes are no race. */
TEST(transfers_with_holes) {
    world *w = open_world(1);
    const ts_plan *first = plan_of(w->arena, "u8[4]{0}", 0, "u8[4] S[4:4096]", 8192);
    issue(w->races, &(ts_in_flight){.what = &w->transfers[0], .plan = first, .src = w->hbm, .dst = w->vmem});
    assert_int_equal(accessed(w, w->vmem, 8192 + 32, 8192 + 4096, false), 0);
    assert_int_equal(accessed(w, w->vmem, 8192 + 32, 8192 + 4097, false), 1);
    assert_int_equal(accessed(w, w->vmem, 8192 + 32, 8192 + 8192, false), 1);
    static const struct {
        int64_t to;
        int count;
    } rows[] = {{8192 + 32, 0},    {8192 + 4064, 0}, {8192 + 12288, 1},
                {8192 + 12320, 0}, {4096, 1},        {4096 + 2048, 0}};
    for (int i = 0; i < 6; i++) {
        const ts_plan *plan = plan_of(w->arena, "u8[2]{0}", 4096, "u8[2] S[2:4096]", rows[i].to);
        w->findings->count = 0;
        ts_races *races = ts_races_new(w->arena, &w->code, w->findings, w->accounts, w->hbm, w->cmem);
        issue(races, &(ts_in_flight){.what = &w->transfers[0], .plan = first, .src = w->hbm, .dst = w->vmem});
        issue(races, &(ts_in_flight){.what = &w->transfers[1], .plan = plan, .src = w->hbm, .dst = w->vmem});
        if (w->findings->count != rows[i].count) fail_msg("row %d: %d", i, w->findings->count);
        ts_races_free(races);
    }
    close_world(w);
}

/* Rows of 32 bytes every 64 leave a granule between them; every 63 none. */
TEST(a_granule_between_rows_is_free) {
    static const struct {
        const char *to;
        int count;
    } rows[] = {{"u8[4,32] S[(4,32):(64,1)]", 0}, {"u8[4,32] S[(4,32):(63,1)]", 1}};
    for (int i = 0; i < 2; i++) {
        world *w = open_world(1);
        const ts_plan *plan = plan_of(w->arena, "u8[4,32]{1,0}", 0, rows[i].to, 8192);
        issue(w->races,
              &(ts_in_flight){.what = &w->transfers[0], .plan = plan, .src = w->hbm, .dst = w->vmem});
        assert_int_equal(accessed(w, w->vmem, 8192 + 96, 8192 + 128, false), rows[i].count);
        assert_int_equal(accessed(w, w->vmem, 8192 + 128, 8192 + 160, false), 1);
        close_world(w);
    }
}

/* ---- Between cores ---- */

static ts_in_flight *started(world *w, int transfer, const ts_space *src, int64_t from, const ts_space *dst,
                             int64_t to) {
    const ts_plan *plan = plan_of(w->arena, "u8[64]{0}", from, "u8[64]{0}", to);
    return issue(w->races, &(ts_in_flight){.what = &w->transfers[transfer],
                                           .plan = plan,
                                           .src = src,
                                           .dst = dst,
                                           .semaphore = 0,
                                           .issued_cycle = 10});
}

/* Another core has written hbm 4096 from cmem 8192 and waits for it, or does not. */
TEST(transfers_of_another_core) {
    static const struct {
        bool waited, barrier;
        int64_t from, to; /* a transfer of this core, from hbm to cmem */
        const char *text;
    } rows[] = {
        {false, false, 0, 0, NULL},
        {false, false, 4096, 0,
         "this DMA reads bytes of 'xb' that a DMA of another core writes, with no wait and barrier between "
         "them"},
        {false, true, 4096, 0,
         "this DMA reads bytes of 'xb' that a DMA of another core writes, with no wait and barrier between "
         "them"},
        {false, false, 0, 8192,
         "this DMA writes bytes of 'x' that a DMA of another core reads, with no wait and barrier between "
         "them"},
        {true, false, 0, 0, NULL},
        {true, false, 4096, 0,
         "this DMA reads bytes of 'xb' that a DMA of another core writes, with no barrier between them"},
        {true, false, 4159, 0,
         "this DMA reads bytes of 'xb' that a DMA of another core writes, with no barrier between them"},
        {true, false, 4160, 0, NULL},
        {true, false, 4032, 0, NULL},
        {true, false, 0, 8192,
         "this DMA writes bytes of 'x' that a DMA of another core reads, with no barrier between them"},
        {true, false, 0, 4096, NULL}, /* another memory */
        {true, false, 8192, 0, NULL},
        {true, true, 4096, 8192, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        world *own = open_world(2), *other = open_world(2);
        other->races =
            ts_races_new(own->arena, &own->code, own->findings, own->accounts, own->hbm, own->cmem);
        ts_in_flight *theirs;
        const ts_plan *plan = plan_of(own->arena, "u8[64]{0}", 8192, "u8[64]{0}", 4096);
        ts_left_send(&own->accounts[0], &own->transfers[4], 1);
        theirs = issue(other->races, &(ts_in_flight){.what = &own->transfers[4],
                                                     .plan = plan,
                                                     .src = own->cmem,
                                                     .dst = own->hbm,
                                                     .semaphore = 0,
                                                     .issued_cycle = 10});
        if (rows[i].waited) {
            complete(other->races, theirs, 20);
            ts_left_change(&own->accounts[0], &wait, -1);
            ts_races_change(other->races, 0);
        }
        if (rows[i].barrier) ts_races_pass_barrier(other->races);
        ts_in_flight *mine = started(own, 2, own->hbm, rows[i].from, own->cmem, rows[i].to);
        ts_races_compare_cores(other->races, mine);
        if (own->findings->count != (rows[i].text != NULL)) fail_msg("row %zu: %d", i, own->findings->count);
        if (rows[i].text) {
            const ts_finding *f = &own->findings->list[0];
            assert_string_equal(f->text, rows[i].text);
            assert_string_equal(f->other_text, "the DMA of the other core");
            assert_true(f->where.line == 3 && f->other.line == 5 && f->cycle == 10);
        }
        ts_races_free(other->races);
        close_world(own);
        ts_arena_free(other->arena);
    }
}

/* What was written is written over: the trail names who was last, and keeps what others left beside it. */
TEST(a_trail_of_several) {
    world *w = open_world(2);
    static const int64_t places[] = {4096, 4096 + 128, 65536, 4096};
    for (int i = 0; i < 4; i++) {
        ts_left_send(&w->accounts[0], &w->transfers[i], 1);
        complete(w->races, started(w, i, w->vmem, 0, w->hbm, places[i]), 20);
        wait_for(w, 1);
        if (i == 2) assert_int_equal(w->findings->count, 0);
    }
    world *other = open_world(2);
    static const struct {
        int64_t place;
        int line;
    } rows[] = {{4096 + 128, 4}, {4096, 4}, {65536, 3}, {4096 + 64, 0}, {65536 - 64, 0}, {400000, 0}};
    for (int i = 0; i < 6; i++) {
        w->findings->count = 0;
        ts_races_compare_cores(w->races, started(other, 7, w->hbm, rows[i].place, other->vmem, 0));
        if (w->findings->count != (rows[i].line > 0)) fail_msg("row %d: %d", i, w->findings->count);
        if (rows[i].line > 0) assert_int_equal(w->findings->list[0].other.line, rows[i].line);
    }
    close_world(other);
    close_world(w);
}

TEST(one_core_leaves_no_trail) {
    world *w = open_world(1), *other = open_world(1);
    ts_left_send(&w->accounts[0], &w->transfers[0], 1);
    complete(w->races, started(w, 0, w->vmem, 0, w->hbm, 4096), 20);
    wait_for(w, 1);
    ts_races_compare_cores(w->races, started(other, 7, w->hbm, 4096, other->vmem, 0));
    assert_int_equal(w->findings->count, 0);
    close_world(other);
    close_world(w);
}

/* ---- Which bytes: a law ---- */

static const char *const layouts[] = {
    "{2,1,0}",         "{0,1,2}", "{1,2,0}", "{2,0,1}", "{2,1,0:T(8,128)}", "{2,1,0:T(8,128)(2,1)}",
    "{1,2,0:T(4,64)}",
};

enum { BYTES = 1 << 17 };

/* Granules that elements of the side lie in; each is known by where its element is. */
static void mark_elements(const ts_shape *shape, int64_t base, const int64_t *begin, const int64_t *sizes,
                          bool *touched) {
    int64_t index[3];
    for (int64_t n = 0; n < sizes[0] * sizes[1] * sizes[2]; n++) {
        int64_t offset[TS_LAYOUT_MAX_AXES], rest = n;
        for (int i = 2; i >= 0; i--) {
            index[i] = begin[i] + rest % sizes[i];
            rest /= sizes[i];
        }
        ts_layout_forward(shape->layout, index, offset);
        int64_t bit = base * 8 + offset[0] * shape->element_bits;
        for (int64_t g = bit / (GRANULE * 8); g <= (bit + shape->element_bits - 1) / (GRANULE * 8); g++)
            touched[g] = true;
    }
}

/* Every granule of an element is known, and none that is more than a granule from one. */
TEST(the_bytes_of_a_slice) {
    uint64_t seed = 7;
    for (int round = 0; round < rounds(300, 40); round++) {
        world *w = open_world(1);
        static bool touched[BYTES / GRANULE + 2];
        int64_t dims[3] = {1 + random_below(&seed, 4), 1 + random_below(&seed, 20),
                           1 + random_below(&seed, 150)};
        int64_t begin[3], sizes[3], base = random_below(&seed, 64) * 16;
        char text[64];
        for (int i = 0; i < 3; i++) {
            begin[i] = random_below(&seed, (uint32_t)dims[i]);
            sizes[i] = 1 + random_below(&seed, (uint32_t)(dims[i] - begin[i]));
        }
        snprintf(text, sizeof text, "%s[%lld,%lld,%lld]%s", random_below(&seed, 2) ? "u8" : "bf16",
                 (long long)dims[0], (long long)dims[1], (long long)dims[2], layouts[random_below(&seed, 7)]);
        ts_error err = {0};
        const ts_shape *shape = parse_shape(w->arena, text);
        const ts_shape *flat = ts_shape_row_major(&err, w->arena, shape->dtype, 3, sizes);
        ts_plan_side tiled = {shape, begin, NULL, base * 8}, rows = {flat, NULL, NULL, 0};
        bool writes = random_below(&seed, 2);
        const ts_plan *plan =
            ts_plan_new(&err, w->arena, writes ? &rows : &tiled, writes ? &tiled : &rows, 3, sizes);
        assert_non_null(plan);
        memset(touched, 0, sizeof touched);
        mark_elements(shape, base, begin, sizes, touched + 1);
        issue(w->races, &(ts_in_flight){.what = &w->transfers[0],
                                        .plan = plan,
                                        .src = writes ? w->hbm : w->vmem,
                                        .dst = writes ? w->vmem : w->hbm,
                                        .semaphore = -1,
                                        .issued_cycle = 5});
        for (int64_t g = 0; g < BYTES / GRANULE; g++) {
            bool found = accessed(w, w->vmem, g * GRANULE, g * GRANULE + 4, true) > 0;
            bool near = touched[g] || touched[g + 1] || touched[g + 2];
            if (touched[g + 1] ? !found : found && !near)
                fail_msg("round %d: %s from %lld,%lld,%lld, granule %lld: %d", round, text,
                         (long long)begin[0], (long long)begin[1], (long long)begin[2], (long long)g, found);
        }
        close_world(w);
    }
}

/* Backwards: steps below 0. */
TEST(a_reversed_layout) {
    static const struct {
        const char *flat, *reversed;
        int64_t last, hole; /* the byte of index 0; one in a granule without elements, -1: there is none */
    } rows[] = {
        {"u8[64]{0}", "u8[64] S[64:-1] + 63", 63, -1},
        {"u8[8]{0}", "u8[8] S[8:-32] + 224", 224, -1},
        {"u8[4]{0}", "u8[4] S[4:-96] + 288", 288, 64},
        {"u8[4,8]{1,0}", "u8[4,8] S[(4,8):(-64,-1)] + 199", 199, 32},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        world *w = open_world(1);
        const ts_plan *plan = plan_of(w->arena, rows[i].flat, 0, rows[i].reversed, 8192);
        issue(w->races, &(ts_in_flight){.what = &w->transfers[0],
                                        .plan = plan,
                                        .src = w->hbm,
                                        .dst = w->vmem,
                                        .semaphore = -1,
                                        .issued_cycle = 5});
        int64_t end = 8192 + rows[i].last / GRANULE * GRANULE + GRANULE;
        assert_int_equal(accessed(w, w->vmem, end - GRANULE, end, false), 1);
        assert_int_equal(accessed(w, w->vmem, 8192, 8193, false), 1);
        assert_int_equal(accessed(w, w->vmem, 0, 8192, false), 0);
        assert_int_equal(accessed(w, w->vmem, end, 65536, false), 0);
        if (rows[i].hole >= 0)
            assert_int_equal(accessed(w, w->vmem, 8192 + rows[i].hole, 8193 + rows[i].hole, false), 0);
        close_world(w);
    }
}
