/* The cheapest other layout of an end, found by prices of all and by those with a limit. */
#include "study/layouts.h"

#include "tests/support/test.h"

static const ts_shape *parse(ts_arena *arena, const char *text) {
    ts_source source = {"shape", text, strlen(text)};
    const ts_shape *shape = ts_shape_parse(NULL, arena, &source);
    assert_non_null(shape);
    return shape;
}

static ts_transfer_request request_of(ts_arena *arena, const ts_machine *machine, const char *src,
                                      const char *dst) {
    return (ts_transfer_request){.machine = machine,
                                 .prices = ts_prices_new(arena),
                                 .src = {.shape = parse(arena, src), .at = TS_TRANSFER_ANYWHERE},
                                 .dst = {.shape = parse(arena, dst), .at = TS_TRANSFER_ANYWHERE}};
}

static const struct {
    const char *machine, *src, *dst;
} pairs[] = {
    {"tpu-v5e", "f32[1024,640]{1,0}", "f32[1024,640]{1,0:T(8,128)}"}, /* several take the same time */
    {"tpu-v5e", "f32[300,1030]{1,0:T(8,128)}", "f32[300,1030]{0,1}"}, /* by the core */
    {"tpu-v7x", "bf16[2000,3000]{1,0}", "bf16[2000,3000]{0,1:T(8,128)(2,1)}"},
    {"tpu-v7x", "u8[64,56,30]{2,1,0}", "u8[64,56,30]{2,0,1:T(8,128)(4,1)}"},
    {"tpu-v5p", "f32[700]{0}", "f32[700]{0:T(1024)S(1)}"},
};

static void the_cheapest_is_that_of_all(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        ts_arena *arena = ts_arena_new();
        const ts_machine *machine = ts_machine_load(NULL, arena, pairs[i].machine);
        ts_transfer_request request = request_of(arena, machine, pairs[i].src, pairs[i].dst);
        ts_transfer_study study;
        ts_transfer_others all[2], cheapest[2];
        assert_true(ts_transfer_price(NULL, arena, &request, &study));
        ts_transfer_others_request tried = {&study, ts_prices_new(arena), .cheapest_only = true};
        assert_true(ts_transfer_try_others(NULL, arena, &tried, cheapest));
        tried.cheapest_only = false;
        assert_true(ts_transfer_try_others(NULL, arena, &tried, all));
        for (int end = 0; end < 2; end++) {
            ts_text a, b;
            ts_text_init(&a, arena), ts_text_init(&b, arena);
            assert_true(all[end].count > 1);
            assert_int_equal(cheapest[end].count, 1);
            ts_shape_print(all[end].others[0].shape, &a);
            ts_shape_print(cheapest[end].others[0].shape, &b);
            assert_string_equal(a.bytes, b.bytes);
            assert_int_equal(cheapest[end].others[0].cycles, all[end].others[0].cycles);
            assert_int_equal(cheapest[end].others[0].estimated, all[end].others[0].estimated);
        }
        ts_arena_free(arena);
    }
}

/* Priced with a limit, from nothing known: within it the price is what it is without. */
static void a_limit_changes_no_price(void **state) {
    (void)state;
    static const struct {
        const char *src, *dst;
    } moved[] = {{"f32[512,640]{1,0}", "f32[512,640]{1,0:T(8,128)}"}, /* by the engine */
                 {"f32[512,640]{1,0}", "f32[512,640]{0,1}"},          /* by a program that is run whole, */
                 {"f32[4096,2048]{1,0}", "f32[4096,2048]{0,1:T(8,128)}"}, /* or in part */
                 {"f32[8,8]{1,0}", "f32[8,8]{0,1}"}};                     /* element by element */
    ts_arena *arena = ts_arena_new();
    const ts_machine *machine = ts_machine_load(NULL, arena, "tpu-v5e");
    for (size_t i = 0; i < sizeof moved / sizeof moved[0]; i++) {
        ts_transfer_study study, limited;
        ts_transfer_request request = request_of(arena, machine, moved[i].src, moved[i].dst);
        assert_true(ts_transfer_price(NULL, arena, &request, &study));
        assert_false(study.cost.is_over);
        int64_t cycles = study.cost.cycles, limits[] = {1, cycles / 3, cycles, 2 * cycles};
        for (int k = 0; k < 4; k++) {
            request = request_of(arena, machine, moved[i].src, moved[i].dst);
            request.limit = limits[k];
            assert_true(ts_transfer_price(NULL, arena, &request, &limited));
            assert_int_equal(limited.cost.is_over, k < 2);
            if (k < 2) assert_in_range(limited.cost.cycles, limits[k] + 1, cycles);
            if (k >= 2) assert_memory_equal(&limited.cost, &study.cost, offsetof(ts_dma_cost, limiter));
        }
    }
    ts_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cheapest_is_that_of_all),
        cmocka_unit_test(a_limit_changes_no_price),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
