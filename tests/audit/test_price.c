/* Traffic that keeps its order: what is priced, what is not, and how prices between two powers of two lie. */

#include "audit/audit_private.h"
#include "tests/support/group.h"

enum { HBM = 0, VMEM = 1, FLAGS = 2, HOST = 5, SMEM = 6, SPARSE_FLAGS = 8, NONE = 77 };

static ts_audit_request request;
static audit_prices prices;

static audit_price price(int from, int to, int64_t read, int64_t written) {
    const audit_traffic traffic = {from, to, read, written};
    return audit_prices_line(&prices, &traffic);
}

static int64_t cycles(int from, int to, int64_t read, int64_t written) {
    audit_price p = price(from, to, read, written);
    if (!p.known) fail_msg("%d to %d: %s", from, to, p.why_not);
    return p.cycles;
}

TEST(memories_that_are_not_modelled_are_named) {
    static const struct {
        int from, to;
        const char *why; /* NULL: priced */
    } rows[] = {
        {HBM, HBM, NULL},
        {HBM, VMEM, NULL},
        {VMEM, HBM, NULL},
        {HBM, SMEM, NULL},
        {SMEM, HBM, NULL},
        {HBM, HOST, "transfers to and from the host are not modelled"},
        {HOST, HBM, "transfers to and from the host are not modelled"},
        {FLAGS, HBM, "transfers of flags are not modelled"},
        {HBM, SPARSE_FLAGS, "transfers of flags are not modelled"},
        {NONE, HBM, "the machine has no such memory space"},
        {HBM, -1, "the machine has no such memory space"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        audit_price p = price(rows[i].from, rows[i].to, 4096, 4096);
        assert_int_equal(p.known, rows[i].why == NULL);
        if (rows[i].why)
            assert_string_equal(p.why_not, rows[i].why);
        else
            assert_true(p.cycles > 0);
    }
    assert_true(audit_is_hbm(request.machine, HBM));
    assert_false(audit_is_hbm(request.machine, VMEM) || audit_is_hbm(request.machine, SMEM));
    assert_false(audit_is_hbm(request.machine, NONE) || audit_is_hbm(request.machine, HOST));
}

TEST(nothing_takes_no_time) {
    assert_int_equal(cycles(HBM, HBM, 0, 0), 0);
    assert_int_equal(cycles(HBM, VMEM, 0, 0), 0);
}

/* On the line between the prices of the powers of two around it; what is less than the least is as that. */
TEST(prices_between_are_on_the_line) {
    static const struct { int from, to; } ways[] = {{HBM, HBM}, {HBM, VMEM}, {VMEM, HBM}};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        int from = ways[i].from, to = ways[i].to;
        int64_t low = cycles(from, to, 1 << 20, 1 << 20), high = cycles(from, to, 2 << 20, 2 << 20);
        assert_true(low < high);
        assert_int_equal(cycles(from, to, 3 << 19, 3 << 19), low + (high - low) / 2);
        assert_int_equal(cycles(from, to, 5 << 18, 5 << 18), low + (high - low) / 4);
        int64_t least = cycles(from, to, 4096, 4096);
        assert_int_equal(cycles(from, to, 4, 4), least);
        assert_int_equal(cycles(from, to, 2048, 2048), least);
        assert_true(cycles(from, to, 8192, 8192) > least);
    }
}

/* From HBM to HBM reads and writes are one stream; elsewhere the side in HBM counts. */
TEST(sides_count_where_the_hbm_is) {
    enum { MB = 1 << 20 };
    assert_int_equal(cycles(HBM, HBM, 3 * MB, MB), cycles(HBM, HBM, 2 * MB, 2 * MB));
    assert_int_equal(cycles(HBM, HBM, MB, 3 * MB), cycles(HBM, HBM, 2 * MB, 2 * MB));
    assert_int_equal(cycles(HBM, HBM, MB + 1, MB + 1), cycles(HBM, HBM, MB + 2, MB));
    assert_int_equal(cycles(HBM, VMEM, 2 * MB, MB), cycles(HBM, VMEM, 2 * MB, 2 * MB));
    assert_int_equal(cycles(VMEM, HBM, MB, 2 * MB), cycles(VMEM, HBM, 2 * MB, 2 * MB));
    assert_int_equal(cycles(VMEM, VMEM, MB, 2 * MB), cycles(VMEM, VMEM, 2 * MB, MB));
    assert_true(cycles(VMEM, VMEM, MB, 2 * MB) > cycles(VMEM, VMEM, MB, MB));
}

/* Bytes times frequency over bandwidth, of the memory that is asked for most. */
TEST(no_price_is_below_the_peak) {
    const ts_machine *machine = request.machine;
    const ts_dma_machine dma = ts_dma_machine_of(machine, NULL);
    static const audit_traffic traffic[] = {
        {HBM, HBM, 64 << 20, 64 << 20}, {HBM, HBM, 100 << 20, 0}, {HBM, HOST, 100 << 20, 100 << 20}};
    for (size_t i = 0; i < sizeof traffic / sizeof traffic[0]; i++) {
        const audit_traffic *t = &traffic[i];
        audit_price low = {.known = true, .cycles = 1}, high = {.known = true, .cycles = INT64_MAX / 2},
                    no = {0};
        int64_t bytes = (t->from == HBM ? t->read : 0) + (t->to == HBM ? t->written : 0),
                least = ts_dma_peak_cycles(&dma, bytes);
        audit_bound(&prices, t, &low);
        audit_bound(&prices, t, &high);
        audit_bound(&prices, t, &no);
        assert_in_range(low.cycles, least, least + least / 10);
        assert_int_equal(high.cycles, INT64_MAX / 2);
        assert_int_equal(no.cycles, 0);
    }
}

/* Both sides of what stays in VMEM are at its rate; the engine's is that of the larger one. */
TEST(nor_below_the_rate_of_vmem_and_engine) {
    const audit_traffic inside = {VMEM, VMEM, 64 << 20, 32 << 20};
    audit_price price_of_engine = {.known = true, .cycles = 1}, price_of_vmem = price_of_engine;
    ts_machine machine = *request.machine;
    audit_prices own = prices;
    own.machine = &machine;
    int64_t khz = machine.chip.sustained_khz, rate = ts_machine_vmem_rate(&machine, khz); /* bytes a second */
    int64_t in_vmem = (int64_t)((double)(96 << 20) * (double)khz * 1000 / (double)rate);
    machine.dma.bytes_per_cycle[TS_DMA_COPY] = 1024;
    audit_bound(&own, &inside, &price_of_engine);
    assert_in_range(price_of_engine.cycles, (64 << 20) / 1024, (64 << 20) / 1024 + 1000);
    machine.dma.bytes_per_cycle[TS_DMA_COPY] = 0;
    audit_bound(&own, &inside, &price_of_vmem);
    assert_in_range(price_of_vmem.cycles, in_vmem - 1, in_vmem + 1);
    static const audit_traffic ways[] = {{HBM, VMEM, 4096, 96 << 20}, {VMEM, HBM, 96 << 20, 4096}};
    for (int i = 0; i < 2; i++) { /* the other side counts in HBM */
        audit_price price_of_way = {.known = true, .cycles = 1};
        audit_bound(&own, &ways[i], &price_of_way);
        assert_in_range(price_of_way.cycles, in_vmem - 1, in_vmem + 1);
    }
    machine.core.limits.slots[TS_SLOT_VLD] = 0; /* without loads it has no rate */
    audit_price without = {.known = true, .cycles = 1};
    audit_bound(&own, &inside, &without);
    assert_in_range(without.cycles, 0, in_vmem - 1);
}

/* As one transfer of a row of words, to the place where the other side is said to lie. */
TEST(a_power_of_two_costs_what_its_transfer_does) {
    static const int64_t elements = 1 << 18;
    const ts_shape *shape = ts_shape_row_major(NULL, arena, TS_DTYPE_F32, 1, &elements);
    ts_plan_side src = {.shape = shape},
                 dst = {.shape = shape, .base_bits = 8 * audit_address_behind(1 << 20)};
    const ts_plan *plan = ts_plan_new(NULL, arena, &src, &dst, 1, &elements);
    const ts_dma_machine machine = ts_dma_machine_of(request.machine, NULL);
    const ts_dma_price_request whole = {
        .machine = &machine, .plan = plan, .src = {.in_hbm = true}, .dst = {.in_hbm = true}};
    ts_dma_cost cost;
    assert_true(ts_dma_price(NULL, arena, &whole, &cost));
    assert_int_equal(cycles(HBM, HBM, 1 << 20, 1 << 20), cost.cycles);
}

TEST(exact_prices_are_of_the_very_size) {
    ts_audit_request exactly = request;
    audit_prices own;
    exactly.exact = true;
    audit_prices_init(&own, arena, &exactly);
    const audit_traffic odd = {HBM, VMEM, 5 << 18, 5 << 18}, power = {HBM, VMEM, 1 << 20, 1 << 20};
    audit_price of_odd = audit_prices_line(&own, &odd), of_power = audit_prices_line(&own, &power);
    assert_true(of_odd.known && of_power.known && of_odd.cycles > of_power.cycles);
    ts_arena_free(own.scratch);
}

TEST(the_other_side_is_apart_from_multiples) {
    enum { MIB = 1 << 20, APART = 640 << 10 };
    assert_int_equal(audit_address_behind(0), APART);
    assert_int_equal(audit_address_behind(1), 16 * MIB + APART);
    assert_int_equal(audit_address_behind(16 * MIB), 16 * MIB + APART);
    assert_int_equal(audit_address_behind(16 * MIB + 1), 32 * MIB + APART);
}

static int set_up(void **state) {
    begin_group(state);
    request.machine = ts_machine_load(NULL, arena, "tpu-v5e");
    audit_prices_init(&prices, arena, &request);
    return request.machine ? 0 : -1;
}
static int tear_down(void **state) {
    ts_arena_free(prices.scratch);
    return end_group(state);
}

int main(void) { return run_all_tests(set_up, tear_down); }
