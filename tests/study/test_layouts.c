/* The cheapest other layout of an end, found by prices of all and by those with a limit. */
#include "study/layouts.h"

#include "tests/support/rounds.h"
#include "tests/support/shapes.h"
#include "tests/support/transfers.h"
#include "tests/support/test.h"

static const struct {
    const char *machine, *src, *dst;
} pairs[] = {
    {"tpu-v5e", "f32[1024,640]{1,0}", "f32[1024,640]{1,0:T(8,128)}"}, /* several take the same time */
    {"tpu-v5e", "f32[300,1030]{1,0:T(8,128)}", "f32[300,1030]{0,1}"}, /* by the core */
    {"tpu-v5p", "f32[700]{0}", "f32[700]{0:T(1024)S(1)}"},
    {"tpu-v7x", "u8[64,56,30]{2,1,0}", "u8[64,56,30]{2,0,1:T(8,128)(4,1)}"},
    {"tpu-v7x", "bf16[2000,3000]{1,0}", "bf16[2000,3000]{0,1:T(8,128)(2,1)}"},
};

TEST(the_cheapest_is_that_of_all) {
    for (int i = 0, most = cases((int)(sizeof pairs / sizeof pairs[0]), 3); i < most; i++) {
        ts_arena *arena = ts_arena_new();
        const ts_machine *machine = ts_machine_load(NULL, arena, pairs[i].machine);
        ts_transfer_request request = parse_transfer(arena, machine, pairs[i].src, pairs[i].dst);
        ts_transfer_study alone, study;
        ts_transfer_others all[2], cheapest[2];
        ts_transfer_others_request tried = {.cheapest_only = true, .threads = 1 + i % 3};
        assert_true(ts_transfer_price_with_others(NULL, arena, &request, &tried, &study, cheapest));
        tried = (ts_transfer_others_request){.cheapest_only = false, .threads = 1 + (i + 1) % 3};
        assert_true(ts_transfer_price_with_others(NULL, arena, &request, &tried, &study, all));
        request.prices = ts_prices_new(arena);
        assert_true(ts_transfer_price(NULL, arena, &request, &alone));
        assert_int_equal(alone.cost.cycles, study.cost.cycles);
        assert_string_equal(alone.by.parameters ? alone.by.parameters : "",
                            study.by.parameters ? study.by.parameters : "");
        for (int end = 0; end < 2; end++) {
            ts_text a, b;
            a = ts_text_begin(arena), b = ts_text_begin(arena);
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

TEST_WITH_ARENA(what_cannot_be_moved_has_no_other_layouts) {
    const ts_machine *machine = ts_machine_load(NULL, arena, "tpu-v5e");
    ts_transfer_request request = parse_transfer(arena, machine, "f32[8]{0}", "f32[9]{0}");
    for (int cheapest = 0; cheapest < 2; cheapest++) {
        ts_error err = {0};
        ts_transfer_study study;
        ts_transfer_others others[2];
        const ts_transfer_others_request tried = {.cheapest_only = cheapest, .threads = 1};
        assert_false(ts_transfer_price_with_others(&err, arena, &request, &tried, &study, others));
        assert_int_equal(err.kind, TS_ERROR_INPUT);
    }
}

/* Priced with a limit, from nothing known: within it the price is what it is without. */
TEST_WITH_ARENA(a_limit_changes_no_price) {
    static const struct {
        const char *src, *dst;
    } moved[] = {{"f32[512,640]{1,0}", "f32[512,640]{1,0:T(8,128)}"}, /* by the engine */
                 {"f32[8,8]{1,0}", "f32[8,8]{0,1}"},                  /* element by element */
                 {"f32[512,640]{1,0}", "f32[512,640]{0,1}"},          /* by a program that is run whole, */
                 {"f32[4096,2048]{1,0}", "f32[4096,2048]{0,1:T(8,128)}"}}; /* or in part */
    const ts_machine *machine = ts_machine_load(NULL, arena, "tpu-v5e");
    for (int i = 0, most = cases((int)(sizeof moved / sizeof moved[0]), 3); i < most; i++) {
        ts_transfer_study study, limited;
        ts_transfer_request request = parse_transfer(arena, machine, moved[i].src, moved[i].dst);
        assert_true(ts_transfer_price(NULL, arena, &request, &study));
        assert_false(study.cost.is_over);
        int64_t cycles = study.cost.cycles, limits[] = {1, cycles / 3, cycles, 2 * cycles};
        for (int k = 0; k < 4; k++) {
            request = parse_transfer(arena, machine, moved[i].src, moved[i].dst);
            request.limit = limits[k];
            assert_true(ts_transfer_price(NULL, arena, &request, &limited));
            assert_int_equal(limited.cost.is_over, k < 2);
            if (k < 2) assert_in_range(limited.cost.cycles, limits[k] + 1, cycles);
            if (k >= 2) assert_memory_equal(&limited.cost, &study.cost, offsetof(ts_dma_cost, limiter));
        }
    }
}

/* Without tiles, row-major and with the two minor dims exchanged; in tiles of every height that TPUs use; and
 * the model itself, first, where it is none of these. */
static const struct {
    const char *machine, *model, *layouts;
} lists[] = {
    {"tpu-v5e", "f32[16,256]{1,0}",
     "f32[16,256]{1,0} f32[16,256]{0,1} f32[16,256]{0,1:T(8,128)} f32[16,256]{1,0:T(8,128)} "
     "f32[16,256]{1,0:T(4,128)} f32[16,256]{1,0:T(2,128)} f32[16,256]{1,0:T(1,128)}"},
    {"tpu-v5e", "f32[16,256]",
     "f32[16,256]{1,0} f32[16,256]{0,1} f32[16,256]{0,1:T(8,128)} f32[16,256]{1,0:T(8,128)} "
     "f32[16,256]{1,0:T(4,128)} f32[16,256]{1,0:T(2,128)} f32[16,256]{1,0:T(1,128)}"},
    {"tpu-v5e", "f32[16,256]{1,0:T(2,128)}",
     "f32[16,256]{1,0:T(2,128)} f32[16,256]{1,0} f32[16,256]{0,1} f32[16,256]{0,1:T(8,128)} "
     "f32[16,256]{1,0:T(8,128)} f32[16,256]{1,0:T(4,128)} f32[16,256]{1,0:T(1,128)}"},
    {"tpu-v5e", "f32[16,256]{1,0:T(16,128)}",
     "f32[16,256]{1,0:T(16,128)} f32[16,256]{1,0} f32[16,256]{0,1} f32[16,256]{0,1:T(8,128)} "
     "f32[16,256]{1,0:T(8,128)} f32[16,256]{1,0:T(4,128)} f32[16,256]{1,0:T(2,128)} "
     "f32[16,256]{1,0:T(1,128)}"},
    {"tpu-v7x", "bf16[2,16,256]{2,1,0}",
     "bf16[2,16,256]{2,1,0} bf16[2,16,256]{1,2,0} bf16[2,16,256]{1,2,0:T(8,128)(2,1)} "
     "bf16[2,16,256]{2,1,0:T(16,128)(2,1)} bf16[2,16,256]{2,1,0:T(8,128)(2,1)} "
     "bf16[2,16,256]{2,1,0:T(4,128)(2,1)} bf16[2,16,256]{2,1,0:T(2,128)(2,1)}"},
    {"tpu-v5e", "s4[16,256]{1,0}",
     "s4[16,256]{1,0} s4[16,256]{1,0:E(4)} s4[16,256]{0,1:E(4)} s4[16,256]{0,1:T(8,128)(8,1)E(4)} "
     "s4[16,256]{1,0:T(64,128)(8,1)E(4)} s4[16,256]{1,0:T(8,128)(8,1)E(4)}"},
    {"tpu-v5e", "pred[16,256]{1,0}",
     "pred[16,256]{1,0} pred[16,256]{0,1} pred[16,256]{0,1:T(8,128)(4,1)} pred[16,256]{1,0:T(32,128)(4,1)} "
     "pred[16,256]{1,0:T(8,128)(4,1)} pred[16,256]{1,0:T(4,128)(4,1)}"},
    {"tpu-v5e", "f32[4096]{0}",
     "f32[4096]{0} f32[4096]{0:T(1024)} f32[4096]{0:T(512)} f32[4096]{0:T(256)} f32[4096]{0:T(128)}"},
    {"tpu-v5e", "f32[]", "f32[]"},
    {"tpu-v5e", "f32[16,256]{1,0:S(1)}",
     "f32[16,256]{1,0:S(1)} f32[16,256]{0,1:S(1)} f32[16,256]{0,1:T(8,128)S(1)} "
     "f32[16,256]{1,0:T(8,128)S(1)} f32[16,256]{1,0:T(4,128)S(1)} f32[16,256]{1,0:T(2,128)S(1)} "
     "f32[16,256]{1,0:T(1,128)S(1)}"},
};

TEST(the_list_is_what_tpus_use) {
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_text text = ts_text_begin(arena);
        const ts_machine *machine = ts_machine_load(NULL, arena, lists[i].machine);
        const ts_transfer_matrix *m = ts_transfer_price_matrix(
            NULL, arena,
            &(ts_transfer_matrix_request){machine, parse_shape(arena, lists[i].model), false,
                                          (int)(1 + i % 3)});
        assert_non_null(m);
        for (int k = 0; k < m->list.count; k++) {
            ts_text_add(&text, "%s", k > 0 ? " " : "");
            ts_shape_print(m->list.shapes[k], &text);
        }
        assert_string_equal(text.bytes, lists[i].layouts);
        ts_arena_free(arena);
    }
}

/* Others of an end: never its own, the cheapest first, and also what is like the other end's. */
static const struct {
    const char *src, *dst;
    int end; /* whose others: 0 of the source */
    const char *other;
    bool is_there;
} others_of[] = {
    {"f32[64,256]{1,0}", "f32[64,256]{1,0:T(16,128)}", 0, "f32[64,256]{1,0:T(16,128)}", true},
    {"f32[64,256]{1,0}", "f32[64,256]{1,0:T(16,128)}", 1, "f32[64,256]{1,0:T(16,128)}", false}, /* its own */
    {"f32[64,256]{1,0:T(16,128)}", "f32[64,256]{1,0}", 1, "f32[64,256]{1,0:T(16,128)}", true},
    {"f32[64,256]{1,0}", "f32[64,256]{1,0:T(8,128)}", 0, "f32[64,256]{1,0:T(16,128)}", false},
    /* Of three dims, in the order of the other end: without tiles, with the usual ones, and with its own. */
    {"f32[4,64,256]{2,1,0}", "f32[4,64,256]{1,0,2:T(16,128)}", 0, "f32[4,64,256]{1,0,2}", true},
    {"f32[4,64,256]{2,1,0}", "f32[4,64,256]{1,0,2:T(16,128)}", 0, "f32[4,64,256]{1,0,2:T(8,128)}", true},
    {"f32[4,64,256]{2,1,0}", "f32[4,64,256]{1,0,2:T(16,128)}", 0, "f32[4,64,256]{1,0,2:T(16,128)}", true},
    {"f32[4,64,256]{2,1,0}", "bf16[4,64,256]{1,0,2:T(16,128)}", 0, "f32[4,64,256]{1,0,2}", true},
    {"f32[4,64,256]{2,1,0}", "bf16[4,64,256]{1,0,2:T(16,128)}", 0, "f32[4,64,256]{1,0,2:T(16,128)}", false},
    {"f32[4,64,256]{2,1,0}", "bf16[4,64,256]{1,0,2:T(16,128)}", 0, "bf16[4,64,256]{1,0,2:T(16,128)}", false},
    {"f32[4,64,256]{2,1,0}", "f32[4,64,256]{2,1,0}", 0, "f32[4,64,256]{1,0,2}", false},
    {"f32[64,256]{1,0}", "f32[64,256]{1,0:T(16,128)S(1)}", 0, "f32[64,256]{1,0:T(16,128)S(1)}", false},
    {"f32[64,256]{1,0}", "f32[64,256]{1,0:T(16,128)S(1)}", 0, "f32[64,256]{1,0:T(16,128)}", true},
    {"f32[64,256]{1,0}", "f32[64,256] S[(64,256):(512,1)]", 0, "f32[64,256] S[(64,256):(512,1)]", true},
    {"f32[300000,2]{0,1}", "f32[300000,2]{0,1:S(1)}", 1, "f32[300000,2]{0,1:T(8,128)S(1)}", true},
    {"f32[300000,2]{0,1}", "f32[300000,2]{0,1:S(1)}", 1, "f32[300000,2]{1,0:T(8,128)S(1)}",
     false}, /* too large */
};

TEST(others_are_like_the_other_end) {
    for (size_t i = 0; i < sizeof others_of / sizeof others_of[0]; i++) {
        ts_arena *arena = ts_arena_new();
        const ts_machine *machine = ts_machine_load(NULL, arena, "tpu-v5e");
        ts_transfer_request request = parse_transfer(arena, machine, others_of[i].src, others_of[i].dst);
        ts_transfer_study study;
        ts_transfer_others all[2];
        const ts_transfer_others_request tried = {.cheapest_only = false};
        assert_true(ts_transfer_price_with_others(NULL, arena, &request, &tried, &study, all));
        const ts_transfer_others *found = &all[others_of[i].end];
        bool is_there = false;
        for (int k = 0; k < found->count; k++) {
            ts_text text = ts_text_begin(arena);
            ts_shape_print(found->others[k].shape, &text);
            is_there = is_there || strcmp(text.bytes, others_of[i].other) == 0;
            assert_string_not_equal(text.bytes, others_of[i].end ? others_of[i].dst : others_of[i].src);
            assert_true(found->others[k].cycles > 0);
            assert_true(k == 0 || found->others[k - 1].cycles <= found->others[k].cycles);
        }
        if (is_there != others_of[i].is_there)
            fail_msg("%s -> %s: %s is%s there", others_of[i].src, others_of[i].dst, others_of[i].other,
                     is_there ? "" : " not");
        ts_arena_free(arena);
    }
}

/* Prices are the same whatever threads ask for them, also of pairs that nobody can do. */
TEST_WITH_ARENA(threads_change_no_price) {
    static const char *const models[] = {"bf16[300,700]{1,0}", "f64[30,70]{1,0}"}, *const sets[] = {
                                                                                       "dma.rate.gather=0"};
    const ts_machine *machine = ts_machine_load_with(NULL, arena, "tpu-v5e", "--set", sets, 1);
    int impossible = 0;
    for (int i = 0; i < 2; i++) {
        ts_transfer_matrix_request request = {machine, parse_shape(arena, models[i]), false, 1};
        const ts_transfer_matrix *alone = ts_transfer_price_matrix(NULL, arena, &request);
        request.threads = 4;
        const ts_transfer_matrix *shared = ts_transfer_price_matrix(NULL, arena, &request);
        assert_true(alone && shared);
        for (int pair = 0; pair < alone->list.count * alone->list.count; pair++) {
            const ts_dma_cost *a = &alone->costs[pair / alone->list.count][pair % alone->list.count],
                              *b = &shared->costs[pair / alone->list.count][pair % alone->list.count];
            assert_int_equal(a->cycles, b->cycles);
            assert_int_equal(a->estimated, b->estimated);
            assert_memory_equal(a->components, b->components, sizeof a->components);
            assert_string_equal(a->cycles > 0 ? a->limiter : "", a->cycles > 0 ? b->limiter : "");
            impossible += a->cycles == 0;
        }
    }
    assert_int_equal(impossible, 20);
}

/* The error is that of the first pair, the straight copy. */
TEST_WITH_ARENA(what_does_not_fit_has_no_matrix) {
    ts_error err = {0};
    const ts_transfer_matrix_request request = {.machine = ts_machine_load(NULL, arena, "tpu-v5e"),
                                                .model = parse_shape(arena, "f32[65536,65536,8]{2,1,0}"),
                                                .threads = 3};
    assert_null(ts_transfer_price_matrix(&err, arena, &request));
    assert_int_equal(err.kind, TS_ERROR_INPUT);
}

/* A layout to itself is a straight copy; and each price is that of the transfer. */
TEST_WITH_ARENA(a_matrix_has_the_price_of_each_pair) {
    const ts_machine *machine = ts_machine_load(NULL, arena, "tpu-v5e");
    const ts_transfer_matrix *m = ts_transfer_price_matrix(
        NULL, arena,
        &(ts_transfer_matrix_request){machine, parse_shape(arena, "f32[256,512]{1,0}"), false, 1});
    assert_int_equal(m->copy_cycles, m->costs[0][0].cycles);
    assert_ptr_equal(m->machine, machine);
    for (int from = 0; from < m->list.count; from++)
        for (int to = 0; to < m->list.count; to++) {
            ts_transfer_study study;
            const ts_transfer_request request = {
                .machine = machine,
                .prices = ts_prices_new(arena),
                .src = {.shape = m->list.shapes[from], .at = TS_TRANSFER_ANYWHERE},
                .dst = {.shape = m->list.shapes[to], .at = TS_TRANSFER_ANYWHERE}};
            assert_true(ts_transfer_price(NULL, arena, &request, &study));
            assert_int_equal(m->costs[from][to].cycles, study.cost.cycles);
            assert_int_equal(m->costs[from][to].transfer.kind, study.cost.transfer.kind);
        }
}
