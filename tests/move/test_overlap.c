/* Transfers within one memory are refused when a byte belongs to both sides, and only then where stripes tell
 * them apart. */
#include <stdio.h>
#include <string.h>

#include "tests/support/random_layout.h"
#include "move/move.h"
#include "tests/support/cmocka.h"

enum { ROUNDS = 3000, SEED = 9, MOST_BYTES = 1 << 16 };

static const char *const layouts[] = {"{1,0}", "{0,1}", "{1,0:T(8,128)}", "{1,0:T(2,4)}",
                                      "{1,0:T(4,8)(2,1)}"};
static const char *const types[] = {"f32", "bf16", "s8", "s4"};

/* Is a byte touched by both sides? One element at a time. */
static bool really_overlap(const ts_plan *plan) {
    static uint8_t touched[MOST_BYTES];
    memset(touched, 0, sizeof touched);
    for (int side = 0; side < 2; side++) {
        for (int64_t n = 0; n < plan->box_count; n++) {
            ts_plan_box box;
            ts_plan_get_box(plan, n, &box);
            for (int64_t i = 0; i < box.elements; i++) {
                int64_t bit = side ? box.dst_bits : box.src_bits, left = i;
                for (int j = 0; j < box.loop_count; left /= box.loops[j++].extent)
                    bit +=
                        left % box.loops[j].extent * (side ? box.loops[j].dst_bits : box.loops[j].src_bits);
                int width = side ? plan->dst.shape->element_bits : plan->src.shape->element_bits;
                for (int64_t byte = bit / 8; byte <= (bit + width - 1) / 8; byte++) {
                    assert_in_range(byte, 0, MOST_BYTES - 1);
                    if (side && touched[byte]) return true;
                    if (!side) touched[byte] = 1;
                }
            }
        }
    }
    return false;
}

static const ts_shape *shape(ts_arena *arena, const char *type, const int64_t *dims, const char *layout) {
    char text[96];
    ts_error err = {0};
    snprintf(text, sizeof text, "%s[%d,%d]%s", type, (int)dims[0], (int)dims[1], layout);
    ts_source source = {"shape", text, strlen(text)};
    return ts_shape_parse(&err, arena, &source);
}

TEST(stripes_tell_sides_apart) {
    uint64_t seed = SEED;
    int apart = 0, accepted = 0, close = 0;
    for (int round = 0; round < ROUNDS; round++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        int64_t dims[2], sizes[2], from[2], to[2];
        for (int i = 0; i < 2; i++) {
            dims[i] = 1 + random_below(&seed, 40);
            sizes[i] = 1 + random_below(&seed, (uint32_t)dims[i]);
            from[i] = random_below(&seed, (uint32_t)(dims[i] - sizes[i] + 1));
            to[i] = random_below(&seed, (uint32_t)(dims[i] - sizes[i] + 1));
        }
        const char *type = types[random_below(&seed, 4)], *layout = layouts[random_below(&seed, 5)];
        const ts_shape *array = shape(arena, type, dims, layout);
        const ts_shape *other =
            random_below(&seed, 3) ? array : shape(arena, type, dims, layouts[random_below(&seed, 5)]);
        ts_plan_side a = {array, from, NULL, 0},
                     b = {other, to, NULL, random_below(&seed, 2) * 8 * random_below(&seed, 64)};
        const ts_plan *plan = ts_plan_new(&err, arena, &a, &b, 2, sizes);
        ts_space *space = ts_space_new(arena, "hbm", MOST_BYTES);
        assert_non_null(plan);
        bool fine = ts_dma_check(&err, plan, space, space), overlap = really_overlap(plan);
        assert_false(fine && overlap);
        apart += !overlap;
        accepted += fine;
        close += !overlap && !fine;
        ts_space_free(space);
        ts_arena_free(arena);
    }
    print_message("seed %d: %d of %d are apart, %d of them are accepted\n", SEED, apart, ROUNDS, accepted);
    assert_true(apart > ROUNDS / 10 && close * 5 < apart);
}
