/* What a move between layouts costs: by its plan, the engine's way or a program's; in two passes; as the nearest one. */
#include <stdio.h>
#include <string.h>

#include "audit/audit_private.h"
#include "layout/notation/xla.h"
#include "tests/support/group.h"

enum { HBM = 0, VMEM = 1, PRICED_FIRST = 12, REORDERS = TS_AUDIT_TYPE | TS_AUDIT_ORDER | TS_AUDIT_TILE };

static ts_machine machine;
static ts_audit_request common;
static audit_prices prices;

/* Before and behind each test. */
static int begin(void **state) {
    common = (ts_audit_request){.machine = &machine};
    audit_prices_init(&prices, arena, &common);
    return 0;
}
static int end(void **state) {
    ts_arena_free(prices.scratch);
    return 0;
}
static void begin_again(void) {
    end(NULL);
    begin(NULL);
}

static const ts_shape *shape_of(const char *text) {
    const ts_shape *shape = audit_parse(NULL, arena, text, strlen(text));
    assert_non_null(shape);
    return shape;
}

static audit_wanted wanted(const char *src, const char *dst, int to, unsigned changes) {
    return (audit_wanted){src, dst, .traffic = {HBM, to, shape_of(src)->bytes, shape_of(dst)->bytes},
                          .changes = changes};
}

static audit_price move(const char *src, const char *dst, unsigned changes) {
    const audit_wanted w = wanted(src, dst, HBM, changes);
    audit_price price = audit_prices_move(&prices, &w);
    assert_true(price.known && price.cycles > 0);
    return price;
}

/* ---- By the plan ---- */

static int64_t plan_cycles(const ts_machine *on, const char *src, const char *dst, int to, const char **by) {
    const ts_shape *from = shape_of(src), *into = shape_of(dst);
    ts_plan_side sides[2] = {{.shape = from}, {.shape = into}};
    if (to == HBM) sides[1].base_bits = 8 * audit_address_behind(from->bytes);
    const ts_plan *plan = ts_plan_new(NULL, arena, &sides[0], &sides[1], from->xla->rank, from->xla->dims);
    const ts_plan_price_request request = {
        on, ts_prices_new(arena), plan, {.in_hbm = true}, {.in_hbm = to == HBM}, false, 0};
    ts_dma_cost cost;
    ts_core_program program;
    if (!ts_plan_price(NULL, arena, &request, &cost, &program)) return -1;
    *by = program.program;
    return cost.cycles;
}

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

/* Of the engine and of the program that does the same, the faster; nothing less than the peaks allow. */
TEST_WITH(the_faster_way_is_taken, begin, end) {
    static const struct {
        const char *src, *dst;
        int to;
        unsigned changes;
        ts_dma_kind kind;
        int rate; /* of the engine: bytes a cycle */
    } rows[] = {
        {"f32[64,256]{1,0:T(8,128)}", "f32[64,256]{0,1:T(8,128)}", HBM, TS_AUDIT_ORDER, TS_DMA_TRANSPOSE, 0},
        {"f32[64,256]{1,0:T(8,128)}", "f32[64,256]{0,1:T(8,128)}", HBM, TS_AUDIT_ORDER, TS_DMA_TRANSPOSE,
         1024},
        {"f32[64,256]{1,0:T(8,128)}", "f32[64,256]{0,1:T(8,128)}", VMEM, TS_AUDIT_ORDER, TS_DMA_TRANSPOSE,
         1024},
        {"f32[64,256]{1,0:T(8,128)}", "bf16[64,256]{1,0:T(8,128)(2,1)}", HBM, TS_AUDIT_TYPE, TS_DMA_CONVERT,
         0},
        {"f32[64,256]{1,0:T(8,128)}", "bf16[64,256]{1,0:T(8,128)(2,1)}", HBM, TS_AUDIT_TYPE, TS_DMA_CONVERT,
         1024},
        {"f32[64,256]{1,0:T(8,128)}", "f32[64,256]{0,1:T(8,128)}", HBM, TS_AUDIT_ORDER, TS_DMA_TRANSPOSE, 1},
    };
    const ts_machine shipped = machine;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        machine.dma.bytes_per_cycle[rows[i].kind] = rows[i].rate;
        begin_again();
        const audit_wanted w = wanted(rows[i].src, rows[i].dst, rows[i].to, rows[i].changes);
        audit_price price = audit_prices_move(&prices, &w);
        const char *by, *by_program;
        int64_t best = plan_cycles(&machine, rows[i].src, rows[i].dst, rows[i].to, &by);
        machine.dma.bytes_per_cycle[rows[i].kind] = 0;
        int64_t program = plan_cycles(&machine, rows[i].src, rows[i].dst, rows[i].to, &by_program);
        if (program >= 0 && program < best) best = program, by = by_program;
        assert_true(price.known && !price.scaled);
        assert_int_equal(price.cycles, best);
        assert_true(same_text(price.by, by));
        assert_int_equal(audit_prices_move(&prices, &w).cycles, best); /* again */
        assert_int_equal(prices.exact_count, 1);
        machine = shipped;
    }
}

/* Types, orders or tiles that change; what cannot be read, or has other dims, is in order. */
TEST_WITH(what_does_not_reorder_is_in_order, begin, end) {
    static const char *const rows = "f32[64,256]{1,0:T(8,128)}", *const columns = "f32[64,256]{0,1:T(8,128)}";
    static const int8_t swapped[TS_AUDIT_PERMUTED] = {1, 0};
    const struct {
        const char *src, *dst;
        unsigned changes;
        const int8_t *permutation;
    } cases[] = {
        {rows, columns, TS_AUDIT_SPACE | TS_AUDIT_SHAPE | TS_AUDIT_PADDING, NULL},
        {NULL, columns, REORDERS, NULL},
        {"f32[64,256", columns, REORDERS, NULL},
        {rows, "f32[64,256", REORDERS, NULL},
        {rows, "f32[256,64]{1,0:T(8,128)}", REORDERS, NULL},
        {rows, "f32[64,65792]{1,0:T(8,128)}", REORDERS, NULL},
        {rows, "f32[64,2,128]{2,1,0:T(8,128)}", REORDERS, NULL},
        {rows, "f32[64,2,128]{2,1,0:T(8,128)}", REORDERS, swapped},
        {rows, columns, REORDERS, swapped},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const audit_wanted w = {
            cases[i].src, cases[i].dst, {HBM, HBM, 1 << 16, 1 << 16}, cases[i].permutation, cases[i].changes};
        audit_price line = audit_prices_line(&prices, &w.traffic), price = audit_prices_move(&prices, &w);
        assert_true(price.known && !price.scaled && !price.by);
        assert_int_equal(price.cycles, line.cycles);
    }
    assert_int_equal(prices.exact_count, 0);
}

/* f32 [2,3,4] with dim 0 the most minor, as [4,2,3]: what was dim 0 is dim 1. */
TEST_WITH(a_transpose_keeps_the_places, begin, end) {
    static const int8_t permutation[] = {2, 0, 1};
    static const int dims[] = {4, 2, 3}, order[] = {1, 0, 2};
    const ts_shape *out = audit_permuted(arena, shape_of("f32[2,3,4]{0,2,1}"), permutation);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(out->xla->dims[i], dims[i]);
        assert_int_equal(out->xla->minor_to_major[i], order[i]);
    }
    static const int8_t swapped[TS_AUDIT_PERMUTED] = {1, 0};
    audit_wanted plain =
                     wanted("f32[256,64]{0,1:T(8,128)}", "f32[256,64]{1,0:T(8,128)}", HBM, TS_AUDIT_ORDER),
                 transposed = plain;
    transposed.src = "f32[64,256]{1,0:T(8,128)}";
    transposed.permutation = swapped;
    int64_t cycles = audit_prices_move(&prices, &plain).cycles;
    assert_int_equal(audit_prices_move(&prices, &transposed).cycles, cycles);
    assert_int_equal(prices.exact_count, 2);
}

/* ---- In two passes ---- */

TEST_WITH(type_and_order_in_one_pass_or_two, begin, end) {
    static const char *const src = "f32[128,256]{1,0:T(8,128)}",
                             *const between = "bf16[128,256]{1,0:T(8,128)(2,1)}",
                             *const dst = "bf16[128,256]{0,1:T(8,128)(2,1)}";
    static const int gather[] = {0, 4};
    const ts_machine shipped = machine;
    int in_two = 0;
    for (int i = 0; i < 2; i++) {
        machine.dma.bytes_per_cycle[TS_DMA_GATHER] = gather[i];
        begin_again();
        audit_price type = move(src, between, TS_AUDIT_TYPE), order = move(between, dst, TS_AUDIT_ORDER),
                    both = move(src, dst, TS_AUDIT_TYPE | TS_AUDIT_ORDER);
        const char *by;
        int64_t one = plan_cycles(&machine, src, dst, HBM, &by), two = type.cycles + order.cycles;
        assert_int_equal(both.cycles, one >= 0 && one <= two ? one : two);
        if (one < 0 || one > two) {
            assert_string_equal(both.by, "two passes: type, then order");
            in_two++;
        }
        machine = shipped;
    }
    assert_true(in_two > 0);
}

/* ---- As the nearest ---- */

/* f32 of so many rows, with the other order of dims. */
static audit_wanted turned(int rows) {
    return wanted(ts_text_format(arena, "f32[%d,128]{1,0:T(8,128)}", rows),
                  ts_text_format(arena, "f32[%d,128]{0,1:T(8,128)}", rows), HBM, TS_AUDIT_ORDER);
}

/* Prices the first twelve of a kind: of 128, 256, .. rows. */
static void price_first(audit_price *priced, int64_t *lines) {
    for (int i = 0; i < PRICED_FIRST; i++) {
        const audit_wanted w = turned(128 * (i + 1));
        lines[i] = audit_prices_line(&prices, &w.traffic).cycles;
        priced[i] = audit_prices_move(&prices, &w);
        assert_false(priced[i].scaled);
    }
}

/* Twelve of a kind are priced; then others of it are as the nearest, by padded bytes. */
TEST_WITH(later_ones_are_as_the_nearest, begin, end) {
    static const struct { int rows, nearest; } later[] = {{120, 0}, {130, 1}, {700, 5}, {900, 7}, {4096, 11}};
    audit_price priced[PRICED_FIRST];
    int64_t lines[PRICED_FIRST];
    price_first(priced, lines);
    for (size_t i = 0; i < sizeof later / sizeof later[0]; i++) {
        const audit_price *nearest = &priced[later[i].nearest];
        const audit_wanted w = turned(later[i].rows);
        int64_t line = audit_prices_line(&prices, &w.traffic).cycles;
        double times = (double)nearest->cycles / (double)lines[later[i].nearest];
        audit_price price = audit_prices_move(&prices, &w);
        assert_true(price.scaled && same_text(price.by, nearest->by));
        assert_in_range(price.cycles, (int64_t)((double)line * times) - 1,
                        (int64_t)((double)line * times) + 1);
    }
    assert_int_equal(prices.exact_count, PRICED_FIRST);
}

/* One of another kind is priced behind them, then others are as that. */
TEST_WITH(another_kind_is_priced, begin, end) {
    audit_price priced[PRICED_FIRST];
    int64_t lines[PRICED_FIRST];
    price_first(priced, lines);
    assert_false(move("f32[384,128]{0,1:T(8,128)}", "f32[384,128]{1,0:T(8,128)}", TS_AUDIT_TILE).scaled);
    assert_true(move("f32[256,128]{0,1:T(8,128)}", "f32[256,128]{1,0:T(8,128)}", TS_AUDIT_TILE).scaled);
    assert_int_equal(prices.exact_count, PRICED_FIRST + 1);
}

TEST_WITH(all_are_priced_where_that_is_asked_for, begin, end) {
    common.exact = true;
    prices.exact_count = 0;
    for (int i = 0; i < PRICED_FIRST + 2; i++) {
        const char *src = ts_text_format(arena, "f32[8,%d]{1,0:T(8,128)}", 128 * (i + 1)),
                   *dst = ts_text_format(arena, "f32[8,%d]{1,0:T(4,128)}", 128 * (i + 1));
        assert_false(move(src, dst, TS_AUDIT_TILE).scaled);
    }
}

/* What changes the minor dim is another kind; dims of 1 are no dims, those of 2 are. */
TEST_WITH(transposes_are_a_kind, begin, end) {
    static const char *const flat = "f32[1,640]{1,0:T(1,128)}", *const same = "f32[1,640]{0,1:T(1,128)}";
    static const char *const pairs[] = {"f32[2,640]{1,0:T(2,128)}", "f32[2,640]{0,1:T(2,128)}",
                                        "f32[2,768]{1,0:T(2,128)}", "f32[2,768]{0,1:T(2,128)}"};
    move(flat, same, TS_AUDIT_ORDER);
    move(pairs[0], pairs[1], TS_AUDIT_ORDER);
    assert_int_equal(prices.exact_count, 2);
    assert_int_not_equal(prices.exact[0].kind, prices.exact[1].kind);
    move(pairs[2], pairs[3], TS_AUDIT_ORDER);
    assert_int_equal(prices.exact[1].kind, prices.exact[2].kind);
    assert_int_equal(prices.exact[1].orders, prices.exact[2].orders);
    move("f32[1,1]{1,0:T(1,128)}", "f32[1,1]{0,1:T(1,128)}", TS_AUDIT_ORDER);
    assert_int_equal(prices.exact[3].kind, prices.exact[0].kind);
    move("u8[1]{0}", "s8[1]{0}", TS_AUDIT_TYPE); /* a byte is priced, too */
    assert_int_equal(prices.exact_count, 5);
}

/* Twenty times the bytes are nearer than another order of dims with twice as many: that is far as 32 times. */
TEST_WITH(orders_are_far, begin, end) {
    static const char *const rows[] = {"f32[256,512]{1,0:T(8,128)}", "f32[256,512]{1,0:T(4,128)}"},
                             *const columns[] = {"f32[2560,512]{0,1:T(8,128)}",
                                                 "f32[2560,512]{0,1:T(4,128)}"},
                             *const asked[] = {"f32[128,512]{0,1:T(8,128)}", "f32[128,512]{0,1:T(4,128)}"};
    move(rows[0], rows[1], TS_AUDIT_TILE);
    const audit_wanted near = wanted(columns[0], columns[1], HBM, TS_AUDIT_TILE),
                       w = wanted(asked[0], asked[1], HBM, TS_AUDIT_TILE);
    double times = (double)audit_prices_move(&prices, &near).cycles /
                   (double)audit_prices_line(&prices, &near.traffic).cycles;
    for (int i = 2; i < PRICED_FIRST; i++) {
        char src[64];
        snprintf(src, sizeof src, "s32[8,%d]{1,0:T(8,128)}", 128 * i);
        move(src, src, TS_AUDIT_TILE);
    }
    audit_price price = audit_prices_move(&prices, &w);
    int64_t cycles = (int64_t)(times * (double)audit_prices_line(&prices, &w.traffic).cycles);
    assert_true(price.scaled);
    assert_in_range(price.cycles, cycles - 1, cycles + 1);
}

/* One of each kind, up to 32; of what is new then the price is that in order. */
TEST_WITH(there_is_room_for_so_many, begin, end) {
    static const char *const types[] = {"f32", "s32", "u32", "s64", "f64"};
    for (int i = 0; i < AUDIT_EXACT + 2; i++) {
        char src[64], dst[64];
        snprintf(src, sizeof src, "%s[8,%d]{1,0:T(8,128)}", types[i / 7], 128 * (i + 1));
        snprintf(dst, sizeof dst, "%s[8,%d]{1,0:T(4,128)}", types[i / 7], 128 * (i + 1));
        const audit_wanted w = wanted(src, dst, HBM, 1u + (unsigned)i % REORDERS);
        audit_price line = audit_prices_line(&prices, &w.traffic), price = audit_prices_move(&prices, &w);
        assert_false(price.scaled);
        assert_int_equal(prices.exact_count, i < AUDIT_EXACT ? i + 1 : AUDIT_EXACT);
        if (i >= AUDIT_EXACT) assert_int_equal(price.cycles, line.cycles);
    }
}

static int set_up(void **state) {
    begin_group(state);
    const ts_machine *loaded = ts_machine_load(NULL, arena, "tpu-v5e");
    if (loaded) machine = *loaded;
    return loaded ? 0 : -1;
}

int main(void) { return run_all_tests(set_up, end_group); }
