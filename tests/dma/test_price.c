/* Skipping against walking every access, over random shapes and layouts; what skipping must not do. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/hbm2.h"
#include "tests/support/random_layout.h"

enum { PAIRS = 24, SEED = 77 };

static const char *const layouts[] = {"{1,0}",          "{1,0:T(8,128)}", "{0,1:T(8,128)}", "{0,1}",
                                      "{1,0:T(4,128)}", "{1,0:T(2,128)}", "{1,0:T(16,128)}"};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

static const ts_shape *shape(ts_arena *arena, const int64_t *dims, const char *layout) {
    char text[96];
    ts_error err = {0};
    snprintf(text, sizeof text, "f32[%d,%d]%s", (int)dims[0], (int)dims[1], layout);
    ts_source source = {"shape", text, strlen(text)};
    const ts_shape *parsed = ts_shape_parse(&err, arena, &source);
    assert_non_null(parsed);
    return parsed;
}

static ts_dma_cost price(ts_arena *arena, const ts_shape *src, const ts_shape *dst, bool dst_in_hbm,
                         bool exact) {
    ts_error err = {0};
    ts_dma_machine machine = {&plain_dma, &hbm2, HBM2_KHZ};
    ts_dma_cost cost;
    ts_plan_side a = {src, NULL, NULL, 0}, b = {dst, NULL, NULL, ts_round_up(src->bytes, 4096) * 8};
    const ts_plan *plan = ts_plan_new(&err, arena, &a, &b, 2, src->layout->dims);
    assert_non_null(plan);
    assert_true(ts_dma_price(&err, arena, &machine, plan, (ts_dma_end){.in_hbm = true},
                             (ts_dma_end){.in_hbm = dst_in_hbm}, exact, &cost));
    return cost;
}

/* One refresh of this memory is 260 cycles, and up to 50 more to close and open rows. */
static bool is_close(const ts_dma_cost *skipping, const ts_dma_cost *exact) {
    int64_t apart = llabs(skipping->cycles - exact->cycles);
    return apart <= 310 || apart * 100 <= exact->cycles;
}

static void skipping_is_close_to_walking(void **state) {
    (void)state;
    uint64_t seed = SEED;
    int skipped = 0, far = 0;
    for (int i = 0; i < PAIRS; i++) {
        ts_arena *arena = ts_arena_new();
        int64_t dims[2] = {700 + random_below(&seed, 1200), 700 + random_below(&seed, 1200)};
        if (random_below(&seed, 2)) dims[1] = ts_round_up(dims[1], 256);
        const ts_shape *src = shape(arena, dims, layouts[random_below(&seed, LAYOUTS)]);
        const ts_shape *dst = shape(arena, dims, layouts[random_below(&seed, LAYOUTS)]);
        bool dst_in_hbm = random_below(&seed, 2);
        ts_dma_cost exact = price(arena, src, dst, dst_in_hbm, true),
                    quick = price(arena, src, dst, dst_in_hbm, false);
        assert_true(!exact.skipped && (quick.skipped || quick.cycles == exact.cycles));
        assert_int_equal(quick.transfer.useful_bytes, exact.transfer.useful_bytes);
        skipped += quick.skipped;
        far += !is_close(&quick, &exact);
        assert_in_range(quick.cycles, exact.cycles * 92 / 100 - 310, exact.cycles * 108 / 100 + 310);
        ts_arena_free(arena);
    }
    print_message("seed %d: %d of %d pairs skip, %d of them further than 1 %% or one refresh\n", SEED,
                  skipped, PAIRS, far);
    assert_true(skipped >= PAIRS / 4 && far <= PAIRS / 12);
}

/* A thousand times more elements must not take a thousand times the walking. */
static void large_tensors_are_mostly_skipped(void **state) {
    (void)state;
    ts_arena *arena = ts_arena_new();
    int64_t dims[2] = {16384, 4096};
    const ts_shape *src = shape(arena, dims, "{1,0}"), *dst = shape(arena, dims, "{1,0:T(8,128)}");
    ts_dma_cost cost = price(arena, src, dst, false, false);
    assert_true(cost.skipped);
    assert_int_equal(cost.transfer.src_bytes, 1 << 28);
    assert_in_range(cost.cycles, (1 << 28) / HBM2_BYTES_PER_NS / 0.93, (1 << 28) / HBM2_BYTES_PER_NS / 0.91);
    assert_in_range(cost.hbm.reads, (1 << 23) * 0.99, (1 << 23) * 1.01);
    ts_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skipping_is_close_to_walking),
        cmocka_unit_test(large_tensors_are_mostly_skipped),
    };
    return cmocka_run_group_tests_name("dma/price", tests, NULL, NULL);
}
