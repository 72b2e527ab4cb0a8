/* Skipping against walking every access, over random shapes, layouts and address maps; what skipping must not
 * do. */
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

#include "tests/support/hbm2.h"
#include "tests/support/random_layout.h"
#include "tests/support/random_transfer.h"
#include "tests/support/rounds.h"
#include "machine/machine.h"
#include "tests/support/test.h"
#include "tests/support/shapes.h"

enum { PAIRS = 32, TPU_PAIRS = 16, DRAWN = 20, SEED = 77 };
/* Under ASan: to find faults of memory, not of prices. */
enum { SANITIZED_PAIRS = 2, SANITIZED_TPU_PAIRS = 2, SANITIZED_DRAWN = 5, SANITIZED_KNOWN = 2 };
static const char *const maps[] = {"A", "H", "B"};

static const char *const layouts[] = {"{1,0}",          "{1,0:T(8,128)}", "{0,1:T(8,128)}", "{0,1}",
                                      "{1,0:T(4,128)}", "{1,0:T(2,128)}", "{1,0:T(16,128)}"};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

static const ts_shape *shape_of(ts_arena *arena, const char *type, const int64_t *dims, const char *layout) {
    char text[96];
    snprintf(text, sizeof text, "%s[%d,%d]%s", type, (int)dims[0], (int)dims[1], layout);
    return parse_shape(arena, text);
}

static const ts_shape *shape(ts_arena *arena, const int64_t *dims, const char *layout) {
    return shape_of(arena, "f32", dims, layout);
}

static const ts_plan *plan_at(ts_arena *arena, const ts_shape *src, const ts_shape *dst, int64_t dst_byte) {
    ts_error err = {0};
    ts_plan_side a = {src, NULL, NULL, 0}, b = {dst, NULL, NULL, dst_byte * 8};
    const ts_plan *plan = ts_plan_new(&err, arena, &a, &b, 2, src->layout->dims);
    assert_non_null(plan);
    return plan;
}

static ts_dma_cost price(ts_arena *arena, const char *map, const ts_shape *src, const ts_shape *dst,
                         bool dst_in_hbm, bool exact) {
    ts_error err = {0};
    ts_hbm_config hbm = hbm2;
    ts_dma_machine machine = {&plain_dma, &hbm, HBM2_KHZ, NULL, NULL};
    hbm.address_map = map;
    ts_dma_cost cost;
    ts_plan_side a = {src, NULL, NULL, 0}, b = {dst, NULL, NULL, ts_round_up(src->bytes, 4096) * 8};
    const ts_plan *plan = ts_plan_new(&err, arena, &a, &b, 2, src->layout->dims);
    assert_non_null(plan);
    assert_true(ts_dma_price(
        &err, arena, &(ts_dma_price_request){&machine, plan, {.in_hbm = true}, {.in_hbm = dst_in_hbm}, exact},
        &cost));
    return cost;
}

/* One refresh of this memory is 260 cycles, and up to 50 more to close and open rows. */
static bool is_close(const ts_dma_cost *skipping, const ts_dma_cost *exact) {
    int64_t apart = llabs(skipping->cycles - exact->cycles);
    return apart <= 310 || apart * 100 <= exact->cycles;
}

/* What several pairs of prices have in common. */
typedef struct {
    int pairs, skipped, far;
    double worst, sum;
} distance;

static void compare(distance *d, const ts_dma_cost *quick, const ts_dma_cost *exact) {
    double off = (double)(quick->cycles - exact->cycles) / (double)exact->cycles, apart = fabs(off);
    assert_true(!exact->estimated && (quick->estimated || quick->cycles == exact->cycles));
    assert_int_equal(quick->transfer.useful_bytes, exact->transfer.useful_bytes);
    for (int i = 0; i < TS_HBM_LIMITER_COUNT; i++) assert_true(quick->hbm.limiter_cycles[i] >= 0);
    int64_t bytes = exact->transfer.src_bytes + exact->transfer.dst_bytes,
            more = quick->transfer.src_bytes + quick->transfer.dst_bytes - bytes;
    assert_true(llabs(more) * 50 <= bytes); /* what is simulated twice counts once */
    d->pairs++;
    d->sum += off;
    d->skipped += quick->estimated;
    d->far += !is_close(quick, exact);
    d->worst = apart > d->worst ? apart : d->worst;
}

static void print_distance(const char *where, const distance *d) {
    print_message("%s, seed %d: %d of %d pairs skip, %d of them further than 1 %% or one refresh; mean ",
                  where, SEED, d->skipped, d->pairs, d->far);
    print_message("%+.2f %%, furthest %.2f %%\n", d->sum * 100 / d->pairs, d->worst * 100);
}

static int64_t some_dim(uint64_t *seed, uint32_t from, uint32_t below) {
    int64_t dim = from + random_below(seed, below);
    return random_below(seed, 2) ? ts_round_up(dim, 256) : dim;
}

/* A small memory, with maps that favour channels and banks. */
TEST(skipping_is_close_to_walking) {
    uint64_t seed = SEED;
    distance d = {0};
    for (int i = 0; i < PAIRS; i += stride(4, PAIRS / SANITIZED_PAIRS)) {
        ts_arena *arena = ts_arena_new();
        int64_t dims[2] = {2400 + random_below(&seed, 1600), some_dim(&seed, 2400, 1600)};
        const char *from = layouts[random_below(&seed, LAYOUTS)], *to = layouts[random_below(&seed, LAYOUTS)];
        const ts_shape *src = shape(arena, dims, from), *dst = shape(arena, dims, to);
        bool dst_in_hbm = random_below(&seed, 2);
        ts_dma_cost exact = price(arena, maps[i % 3], src, dst, dst_in_hbm, true),
                    quick = price(arena, maps[i % 3], src, dst, dst_in_hbm, false);
        compare(&d, &quick, &exact);
        ts_arena_free(arena);
    }
    print_distance("HBM2", &d);
    assert_true(d.skipped * 10 > d.pairs * 9 && d.far <= d.pairs / 10 && d.worst < 0.05);
    assert_true(fabs(d.sum) < 0.005 * d.pairs);
}

TEST_WITH_ARENA(a_tpu_is_priced_within_a_hundredth) {
    static const char *const tpu_layouts[] = {"{1,0}", "{1,0:T(8,128)}", "{1,0:T(4,128)}", "{1,0:T(2,128)}"};
    const ts_machine *tpu = ts_machine_load(NULL, arena, "tpu-v5e");
    assert_non_null(tpu);
    ts_dma_machine machine = ts_dma_machine_of(tpu, NULL);
    uint64_t seed = SEED;
    distance d = {0};
    for (int i = 0, most = cases(TPU_PAIRS, SANITIZED_TPU_PAIRS); i < most; i++) {
        int64_t dims[2] = {some_dim(&seed, 1500, 1500), some_dim(&seed, 1500, 1500)};
        const ts_shape *src = shape(arena, dims, tpu_layouts[random_below(&seed, 4)]),
                       *dst = shape(arena, dims, tpu_layouts[random_below(&seed, 4)]);
        const ts_plan *plan = plan_at(arena, src, dst, ts_round_up(src->bytes, 4096));
        ts_dma_end end = {.in_hbm = true};
        ts_dma_cost exact, quick;
        assert_true(
            ts_dma_price(NULL, arena, &(ts_dma_price_request){&machine, plan, end, end, true}, &exact));
        assert_true(
            ts_dma_price(NULL, arena, &(ts_dma_price_request){&machine, plan, end, end, false}, &quick));
        compare(&d, &quick, &exact);
    }
    print_distance("TPU v5e", &d);
    assert_true(d.skipped == d.pairs && d.far == 0);
}

static void compare_on(distance *d, ts_arena *arena, const char *name, const random_transfer *t) {
    const ts_machine *tpu = ts_machine_load(NULL, arena, name);
    assert_non_null(tpu);
    assert_non_null(t->plan);
    ts_dma_machine machine = ts_dma_machine_of(tpu, NULL);
    ts_dma_end src = {.in_hbm = t->src_in_hbm}, dst = {.in_hbm = t->dst_in_hbm};
    ts_dma_cost exact, quick;
    char text[4 * RANDOM_TRANSFER_TEXT];
    if (!ts_dma_check_kind(NULL, machine.dma, t->plan)) return;
    assert_true(
        ts_dma_price(NULL, arena, &(ts_dma_price_request){&machine, t->plan, src, dst, true}, &exact));
    assert_true(
        ts_dma_price(NULL, arena, &(ts_dma_price_request){&machine, t->plan, src, dst, false}, &quick));
    compare(d, &quick, &exact);
    random_transfer_print(t, text, sizeof text);
    if (llabs(quick.cycles - exact.cycles) * 100 > exact.cycles)
        fail_msg("%s, %s: %lld cycles for %lld", name, text, (long long)quick.cycles,
                 (long long)exact.cycles);
}

/* Whatever users ask for, on all machines. */
TEST(drawn_transfers_are_priced_within_a_hundredth) {
    static const char *const names[] = {"tpu-v4", "tpu-v5e", "tpu-v5p", "tpu-v6e", "tpu-v7x"};
    uint64_t seed = SEED;
    distance d = {0};
    for (int i = 0, most = cases(DRAWN, SANITIZED_DRAWN); i < most; i++) {
        ts_arena *arena = ts_arena_new();
        random_transfer t = random_transfer_draw(&seed, arena, 1 << 20, 4 << 20);
        compare_on(&d, arena, names[i % 5], &t);
        ts_arena_free(arena);
    }
    print_distance("drawn", &d);
    assert_true(d.skipped > 0);
}

typedef struct {
    const char *machine, *src, *dst;
} known_transfer;

static distance compare_known(const char *what, const known_transfer *known, int count) {
    distance d = {0};
    for (int i = 0; i < count; i++) {
        ts_arena *arena = ts_arena_new();
        random_transfer t = random_transfer_of(arena, known[i].src, known[i].dst);
        compare_on(&d, arena, known[i].machine, &t);
        ts_arena_free(arena);
    }
    print_distance(what, &d);
    return d;
}

/* Short ones, where a refresh more or less counts; and long copies, whose reads and writes settle slowly. */
TEST(known_transfers_are_priced_within_a_hundredth) {
    static const known_transfer known[] = {
        {"tpu-v5p", "bf16[434,2186]{1,0:T(16,128)(2,1)}", "bf16[434,2186]{1,0:T(8,128)(2,1)}"},
        {"tpu-v5e", "f64[249138]{0:T(8,128)}", "f64[249138]{0:T(16,128)}"},
        {"tpu-v6e", "f64[218069]{0:T(8,128)}", "f64[218069]{0:T(16,128)}"},
        {"tpu-v5e", "s8[1498,1434,26]{2,1,0:T(8,128)(4,1)}", "s8[1498,1434,26]{2,1,0:T(8,128)(4,1)}"},
        {"tpu-v5e", "f8e5m2[17708467]{0:T(2,128)(4,1)}", "f8e5m2[17708467]{0:T(2,128)(4,1)}"},
        {"tpu-v5e", "s8[10880,5376]{1,0}", "s8[10880,5376]{1,0}"},
        {"tpu-v5e", "f32[45,57,16384]{2,1,0:T(16,128)}", "f32[45,57,16384]{2,1,0:T(16,128)}"},
        {"tpu-v5e", "f16[3101184]{0:T(32,128)}", "f16[3101184]{0:T(3,5)(2,1)}"},
        {"tpu-v4", "bf16[14136,5642]{1,0}", "bf16[14136,5642]{1,0}"},
        {"tpu-v4", "u4[12,5728,900]{2,0,1:T(8,128)E(4)}",
         "s16[12,5728,900]{2,1,0:T(1,128)(2,1)}"}, /* memory behind */
        {"tpu-v5e", "s16[59,24000]{0,1:T(1,128)(2,1)}",
         "f8e5m2[59,24000]{1,0:T(2,128)(4,1)S(1)}"}, /* blocks at the edge have fewer elements, not fewer lines */
        {"tpu-v5e", "s8[10,73,2811]{1,0,2}", "s8[10,73,2811]{2,1,0:T(2,2)(4,1)}"}, /* or on the way, */
        {"tpu-v5e", "s8[22,57,8149]{1,0,2}", "s8[22,57,8149]{2,1,0:T(2,2)(4,1)}"}, /* where no window is */
        {"tpu-v6e", "s8[35072,4480]{1,0:T(8,128)(4,1)}", "s8[35072,4480]{1,0:T(8,128)(4,1)}"},
        {"hbm2-reference", "s4[5125785]{0:T(5,3)(8,1)E(4)S(1)}",
         "s4[5125785]{0:T(3,5)E(4)}"}, /* memory behind what was left out, then the engine's pace */
        {"hbm3e-reference", "u8[9425297]{0:T(2,128)(4,1)}",
         "u8[9425297]{0:T(2,128)(4,1)}"}, /* queues that a jump disturbs for long */
        {"hbm2-reference", "s8[22,256,6500]{2,1,0}",
         "s8[22,256,6500]{2,1,0:T(8,128)}"}, /* windows that grow, and shrink again */
        {"tpu-v5e", "s8[4648,27,128]{2,1,0:T(1024)}",
         "s8[4648,27,128]{2,0,1:T(16,128)(4,1)}"}, /* the end is not like windows one behind the other */
        {"tpu-v5e", "s4[3584,312,13]{2,1,0:T(2,128)E(4)}",
         "s4[3584,312,13]{2,0,1:T(4,128)(8,1)E(4)S(1)}"}, /* blocks of one kind with more lines, or fewer */
    };
    distance d = compare_known("known", known, cases(sizeof known / sizeof known[0], SANITIZED_KNOWN));
    assert_int_equal(d.skipped, d.pairs);
}

/* Two to four times as long as from one refresh to the next. */
TEST(short_transfers_are_priced_within_a_hundredth) {
    static const known_transfer known[] = {
        {"tpu-v2", "f32[748885]{0:T(8,128)}", "f32[748885]{0:T(8,128)}"},
        {"tpu-v2", "f8e5m2[33,11,29,128]{2,3,1,0:T(16,128)(4,1)}", "f8e5m2[33,11,29,128]{2,3,0,1}"},
        {"trainium2", "s8[728,18,19]{2,1,0:T(3,5)(4,1)}", "s8[728,18,19]{2,1,0:T(2,128)(4,1)}"},
        {"hbm3e-reference", "f32[528,33,5,15]{3,2,1,0}", "f32[528,33,5,15]{3,2,1,0:T(5,3)}"},
        {"tpu-v6e", "f32[749272]{0:T(5,3)}", "f32[749272]{0:T(16,128)}"}, /* some of the channels */
        {"tpu-v7x", "u8[976,168,7]{0,2,1:T(256)}",
         "u8[976,168,7]{2,1,0:T(16,128)(4,1)}"}, /* at the engine's pace, */
        {"tpu-v7x", "s8[711,11,16,279]{3,0,1,2:T(32,128)(4,1)}",
         "s8[711,11,16,279]{3,2,1,0:T(2,128)(4,1)}"}, /* or nearly */
    };
    compare_known("short", known, cases(sizeof known / sizeof known[0], SANITIZED_KNOWN));
}

/* Of these either channels that get their share of every access are simulated, or the engine sets the pace. */
TEST(short_transfers_are_priced_to_the_cycle) {
    static const known_transfer known[] = {
        {"tpu-v5p", "f16[13,21,16,72]{3,2,1,0:T(2,128)}", "f16[13,21,16,72]{3,2,1,0:T(16,128)}"},
        {"tpu-v7x", "bf16[384,11,208]{2,1,0:T(2,128)(2,1)}", "bf16[384,11,208]{2,0,1:T(4,128)(2,1)}"},
        {"tpu-v2", "u4[19,560,7,65]{3,2,1,0:T(8,128)E(4)}", "u4[19,560,7,65]{3,2,1,0:T(4,128)(8,1)E(4)}"},
        {"tpu-v2", "s4[616,6,932]{2,1,0:T(16,128)(8,1)E(4)}", "s4[616,6,932]{2,1,0:T(16,128)E(4)}"},
    };
    distance d = compare_known("to the cycle", known, cases(sizeof known / sizeof known[0], SANITIZED_KNOWN));
    assert_true(d.skipped == d.pairs && d.worst == 0);
}

/* A slice that no access of the simulated channel is of. */
TEST_WITH_ARENA(a_channel_without_accesses_stands_for_none) {
    const int64_t begin[] = {0, 0, 24, 63}, start[4] = {0};
    const ts_shape *src = parse_shape(arena, "s32[107,2,203,160]{3,2,1,0:T(2,128)}"),
                   *dst = parse_shape(arena, "s32[62,2,179,54]{3,0,1,2:T(1024)}");
    ts_plan_side from = {.shape = src, .begin = begin}, to = {.shape = dst, .begin = start};
    random_transfer t = {.plan = ts_plan_new(NULL, arena, &from, &to, 4, dst->layout->dims),
                         .src_in_hbm = true};
    distance d = {0};
    compare_on(&d, arena, "hbm2-reference", &t);
    assert_int_equal(d.pairs, 1);
}

/* A thousand times more elements must not take a thousand times the walking. */
TEST_WITH_ARENA(large_tensors_are_mostly_skipped) {
    int64_t dims[2] = {16384, 4096};
    const ts_shape *src = shape(arena, dims, "{1,0}"), *dst = shape(arena, dims, "{1,0:T(8,128)}");
    ts_dma_cost cost = price(arena, "A", src, dst, false, false);
    assert_true(cost.estimated);
    assert_int_equal(cost.transfer.src_bytes, 1 << 28);
    assert_in_range(cost.cycles, (1 << 28) / HBM2_BYTES_PER_NS / 0.93, (1 << 28) / HBM2_BYTES_PER_NS / 0.91);
    assert_in_range(cost.hbm.reads, (1 << 23) * 0.99, (1 << 23) * 1.01);
}

/* Four channels are all walked, so that only blocks can be left out; each has as many accesses as are offered
 * together (256). */
TEST_WITH_ARENA(blocks_that_fill_an_offer_are_left_out) {
    ts_error err = {0};
    ts_hbm_config hbm = hbm2;
    ts_dma_machine machine = {&plain_dma, &hbm, HBM2_KHZ, NULL, NULL};
    ts_dma_cost cost;
    int64_t dims[2] = {65536, 1024};
    hbm.channels = 4;
    const ts_plan *plan = plan_at(arena, shape_of(arena, "bf16", dims, "{1,0}"),
                                  shape_of(arena, "bf16", dims, "{0,1}"), INT64_C(1) << 32);
    assert_true(ts_dma_price(
        &err, arena, &(ts_dma_price_request){&machine, plan, {.in_hbm = true}, {.in_hbm = false}, false},
        &cost));
    assert_true(cost.estimated);
}

/* Element by element: as a box of blocks of one. */
TEST_WITH_ARENA(gathers_are_skipped) {
    int64_t dims[2] = {cases(2048, 512), 2000};
    const ts_shape *src = shape(arena, dims, "{1,0}"), *dst = shape(arena, dims, "{1,0:T(8,128)(*,3)}");
    ts_dma_cost exact = price(arena, "H", src, dst, true, true),
                quick = price(arena, "H", src, dst, true, false);
    assert_int_equal(exact.transfer.kind, TS_DMA_GATHER);
    assert_true(quick.estimated && is_close(&quick, &exact));
    assert_int_equal(quick.transfer.useful_bytes, exact.transfer.useful_bytes);
}

TEST_WITH_ARENA(prices_kept_are_the_same) {
    ts_error err = {0};
    int64_t dims[2] = {300, 256};
    ts_dma_machine machine = {&plain_dma, &hbm2, HBM2_KHZ, NULL, NULL}, keeps = machine;
    keeps.prices = ts_dma_prices_new(arena);
    const ts_shape *src = shape(arena, dims, "{1,0}"), *dst = shape(arena, dims, "{1,0:T(8,128)}");
    const ts_plan *plans[] = {plan_at(arena, src, dst, 1 << 20), plan_at(arena, src, dst, (1 << 20) + 131072),
                              plan_at(arena, src, src, 1 << 20), plan_at(arena, src, dst, 1 << 20)};
    ts_dma_end hbm = {.in_hbm = true}, vmem = {.in_hbm = false};
    for (int i = 0; i < 16; i++) {
        ts_dma_cost fresh, kept;
        ts_dma_end to = i & 4 ? vmem : hbm;
        assert_true(ts_dma_price(&err, arena, &(ts_dma_price_request){&machine, plans[i % 4], hbm, to, i & 8},
                                 &fresh));
        assert_true(
            ts_dma_price(&err, arena, &(ts_dma_price_request){&keeps, plans[i % 4], hbm, to, i & 8}, &kept));
        assert_memory_equal(&fresh, &kept, sizeof fresh);
    }
}

/* The same boxes, beside bytes that are padding or another's, or of another type as wide. */
TEST_WITH_ARENA(neighbours_of_writes_are_told_apart) {
    ts_error err = {0};
    const int64_t zero[2] = {0, 0}, tall[2] = {64, 1}, wide[2] = {64, 2};
    ts_dma_machine keeps = {&plain_dma, &hbm2, HBM2_KHZ, ts_dma_prices_new(arena), NULL}, fresh = keeps;
    const ts_shape *src = shape_of(arena, "u8", tall, "{1,0}"),
                   *other = shape_of(arena, "f8e5m2", tall, "{1,0}");
    const ts_plan_side from[] = {{.shape = src}, {.shape = other}};
    const ts_plan_side to[] = {
        {.shape = shape_of(arena, "u8", tall, " (64,1):(2,1)"), .base_bits = 1 << 20},
        {.shape = shape_of(arena, "u8", wide, "{1,0}"), .begin = zero, .base_bits = 1 << 20},
        {.shape = src, .base_bits = 1 << 20},
        {.shape = shape_of(arena, "u8", wide, " (64,2):(2,128)"), .begin = zero, .base_bits = 1 << 20}};
    const ts_dma_end hbm = {.in_hbm = true};
    ts_dma_cost kept, asked[8];
    fresh.prices = NULL;
    for (int i = 0; i < 8; i++) {
        const ts_plan *plan = ts_plan_new(&err, arena, &from[i / 4], &to[i % 4], 2, tall);
        assert_true(ts_dma_price(&err, arena, &(ts_dma_price_request){&keeps, plan, hbm, hbm, true}, &kept));
        assert_true(
            ts_dma_price(&err, arena, &(ts_dma_price_request){&fresh, plan, hbm, hbm, true}, &asked[i]));
        assert_memory_equal(&kept, &asked[i], sizeof kept);
    }
    assert_int_equal(asked[0].transfer.rmw_lines, 0);
    assert_true(asked[1].transfer.rmw_lines > 0);
    assert_int_equal(asked[3].transfer.rmw_lines, 0);
    assert_int_not_equal(asked[6].transfer.kind, asked[2].transfer.kind);
}

/* Questions that differ in one thing alone, which the price depends on. */
TEST_WITH_ARENA(like_questions_are_told_apart) {
    static const struct {
        const char *src, *dst;
        int64_t begin[2], sizes[2], to[2];
    } asked[] = {
        {"f32[64,32]{1,0}", "f32[64,32]{1,0:T(8,128)}", {0, 0}, {64, 32}, {0, 0}},
        {"f32[32,64]{1,0}", "f32[32,64]{1,0:T(8,128)}", {0, 0}, {32, 64}, {0, 0}},  /* loops */
        {"f32[32,640]{1,0}", "f32[32,64]{1,0:T(8,128)}", {0, 0}, {32, 64}, {0, 0}}, /* steps of the source */
        {"f32[32,640]{1,0}", "f32[32,64]{1,0:T(8,128)}", {0, 5}, {32, 64}, {0, 0}}, /* where it begins */
        {"f32[32,640]{1,0}", "f32[32,64] (32,64):(512,1)", {0, 5}, {32, 64}, {0, 0}}, /* of the destination */
        {"f32[32,640]{1,0}", "f32[32,640]{1,0}", {0, 5}, {32, 64}, {0, 5}},           /* where that begins */
        {"f32[32,640]{1,0}", "f32[32,640]{1,0}", {0, 5}, {32, 64}, {0, 64}},
        {"f32[100,600]{1,0:T(8,128)}", "f32[90,500]{1,0}", {1, 70}, {90, 500}, {0, 0}}, /* several boxes */
        {"f32[100,600]{1,0:T(8,128)}", "f32[90,500]{1,0}", {3, 70}, {90, 500}, {0, 0}},
        {"f32[100,600]{1,0:T(8,128)}", "f32[90,500]{1,0}", {3, 90}, {90, 500}, {0, 0}},
        {"f32[64,90]{1,0}", "f32[64,90]{1,0:T(8,128)(*,3)}", {0, 0}, {64, 90}, {0, 0}}, /* gathers */
        {"f32[64,90]{1,0}", "f32[64,90]{1,0:T(16,128)(*,3)}", {0, 0}, {64, 90}, {0, 0}},
        {"f32[64,200]{1,0}", "f32[64,90]{1,0:T(16,128)(*,3)}", {0, 0}, {64, 90}, {0, 0}},
    };
    const ts_dma_end hbm = {.in_hbm = true};
    ts_dma_machine keeps = {&plain_dma, &hbm2, HBM2_KHZ, ts_dma_prices_new(arena), NULL}, fresh = keeps;
    ts_dma_cost before = {0};
    fresh.prices = NULL;
    for (size_t i = 0; i < 2 * sizeof asked / sizeof asked[0]; i++) {
        size_t k = i % (sizeof asked / sizeof asked[0]);
        ts_plan_side src = {.shape = read_shape(NULL, arena, asked[k].src), .begin = asked[k].begin},
                     dst = {.shape = read_shape(NULL, arena, asked[k].dst),
                            .begin = asked[k].to,
                            .base_bits = 1 << 23};
        const ts_plan *plan = ts_plan_new(NULL, arena, &src, &dst, 2, asked[k].sizes);
        ts_dma_cost kept, walked;
        assert_true(ts_dma_price(NULL, arena, &(ts_dma_price_request){&keeps, plan, hbm, hbm, true}, &kept));
        assert_true(
            ts_dma_price(NULL, arena, &(ts_dma_price_request){&fresh, plan, hbm, hbm, true}, &walked));
        assert_memory_equal(&kept, &walked, sizeof kept);
        if (k > 0) assert_memory_not_equal(&kept, &before, sizeof kept);
        before = kept;
    }
}

/* That a price is over a limit is known of lower ones alone; a price answers whatever the limit. */
TEST_WITH_ARENA(limits_are_told_apart) {
    int64_t dims[2] = {300, 256};
    ts_dma_machine keeps = {&plain_dma, &hbm2, HBM2_KHZ, ts_dma_prices_new(arena), NULL}, fresh = keeps;
    const ts_shape *src = shape(arena, dims, "{1,0}");
    const ts_dma_end hbm = {.in_hbm = true};
    ts_dma_price_request known = {&keeps, plan_at(arena, src, src, 1 << 20), hbm, hbm, true}, alone = known;
    ts_dma_cost whole, over, cost;
    fresh.prices = NULL;
    alone.machine = &fresh;
    assert_true(ts_dma_price(NULL, arena, &alone, &whole));
    assert_true(ts_dma_price_within(NULL, arena, &known, 1, &over));
    assert_true(over.is_over && over.cycles > 1);
    assert_true(ts_dma_price_within(NULL, arena, &known, 1, &cost));
    assert_memory_equal(&cost, &over, sizeof cost);
    for (int64_t limit = over.cycles - 1; limit <= over.cycles + 1; limit++) {
        assert_true(ts_dma_price_within(NULL, arena, &known, limit, &cost));
        assert_true(cost.is_over ? cost.cycles > limit : cost.cycles == whole.cycles);
    }
    assert_true(ts_dma_price_within(NULL, arena, &known, 0, &cost));
    assert_memory_equal(&cost, &whole, sizeof cost);
    assert_true(ts_dma_price_within(NULL, arena, &known, 1, &cost) && !cost.is_over);
    assert_memory_equal(&cost, &whole, sizeof cost);
}

/* By the figures of the machine, wherever they lie. */
TEST_WITH_ARENA(prices_are_kept_by_content) {
    ts_error err = {0};
    int64_t dims[2] = {300, 256}, cycles[4];
    ts_dma_config dma[2] = {plain_dma, plain_dma};
    ts_hbm_config hbm[2] = {hbm2, hbm2};
    ts_dma_prices *prices = ts_dma_prices_new(arena);
    const ts_shape *src = shape(arena, dims, "{1,0}");
    const ts_plan *plan = plan_at(arena, src, src, 1 << 20);
    for (int i = 0; i < 4; i++) {
        ts_dma_machine machine = {&dma[i % 2], &hbm[i % 2], HBM2_KHZ, prices, NULL}, fresh = machine;
        ts_dma_cost kept, walked;
        fresh.prices = NULL;
        if (i == 1) dma[1].issue_ps += 7000000;
        if (i == 2) hbm[0].address_map = "A";
        if (i == 3) hbm[1].timing.n_bl *= 8;
        ts_dma_end end = {.in_hbm = true};
        assert_true(
            ts_dma_price(&err, arena, &(ts_dma_price_request){&machine, plan, end, end, true}, &kept));
        assert_true(
            ts_dma_price(&err, arena, &(ts_dma_price_request){&fresh, plan, end, end, true}, &walked));
        assert_memory_equal(&kept, &walked, sizeof kept);
        cycles[i] = kept.cycles;
    }
    assert_int_not_equal(cycles[1], cycles[0]);
    assert_int_not_equal(cycles[3], cycles[1]);
}

/* Of no bytes more than the pins, or the engine, move at their peaks: any shapes, layouts and ends. */
TEST(nothing_beats_a_peak) {
    uint64_t seed = SEED + 1;
    for (int i = 0; i < 4 * PAIRS; i += stride(4, 4 * PAIRS / (4 * SANITIZED_PAIRS))) {
        ts_arena *arena = ts_arena_new();
        int64_t dims[2] = {some_dim(&seed, 1, 1500), some_dim(&seed, 1, 1500)};
        const ts_shape *src = shape(arena, dims, layouts[random_below(&seed, LAYOUTS)]),
                       *dst = shape(arena, dims, layouts[random_below(&seed, LAYOUTS)]);
        bool to_hbm = random_below(&seed, 2), exact = random_below(&seed, 2);
        ts_dma_cost cost = price(arena, maps[i % 3], src, dst, to_hbm, exact);
        int64_t bursts = cost.hbm.reads + cost.hbm.writes - cost.hbm.forwarded - cost.hbm.coalesced;
        int64_t units = (int64_t)hbm2.stacks * hbm2.channels * hbm2.pseudo_channels;
        double ticks = (double)cost.cycles * (double)hbm2.clock_khz / HBM2_KHZ;
        assert_true(bursts > 0 && (double)(bursts * hbm2.timing.n_bl) <= ticks * (double)units * (1 + 1e-9));
        assert_true(cost.cycles >= cost.engine_cycles);
        ts_arena_free(arena);
    }
}
