/* Where the ends of transfers lie, where errors about them point, what they take of energy, and several at once. */
#include "study/transfer.h"

#include "base/number.h"
#include "tests/support/group.h"
#include "tests/support/transfers.h"

#define TILE    "f32[8,128]{1,0:T(8,128)}"
#define IN_VMEM "f32[8,128]{1,0:T(8,128)S(1)}"
enum { BYTES = 4096, DMA_FJ = 1000, VMEM_FJ = 70 };

static const ts_machine *v5e;

static ts_transfer_request request_of(const ts_machine *machine, const char *src, const char *dst) {
    return (ts_transfer_request){.machine = machine,
                                 .prices = ts_prices_new(arena),
                                 .src = parse_end(arena, "source", src),
                                 .dst = parse_end(arena, "destination", dst)};
}

/* ---- Errors ---- */

TEST(errors_point_at_the_end) {
    static const struct {
        const char *src, *dst, *error;
    } rows[] = {
        {"f32[8,128]{1,0:S(7)}", TILE,
         "source:1:16: error: tpu-v5e has no memory space S(7)\nf32[8,128]{1,0:S(7)}\n               ^\n"},
        {TILE, "f32[8,128]{1,0:T(8,128)S(7)}",
         "destination:1:24: error: tpu-v5e has no memory space S(7)\n"
         "f32[8,128]{1,0:T(8,128)S(7)}\n                       ^\n"},
        {"f32[8]{0}", "f32[8] S[8:0@m]",
         "destination:1:1: error: the destination puts (0) and (1) in one place\nf32[8] S[8:0@m]\n^\n"},
        {TILE, "f32[8,129]{1,0}",
         "destination:1:4: error: the destination takes [8,129] and the source gives [8,128]\n"
         "f32[8,129]{1,0}\n   ^\n"},
        {TILE, "f32[1024]{0}",
         "destination:1:4: error: the destination has 1 dimension, [1024], and the source has 2, [8,128]\n"
         "f32[1024]{0}\n   ^\n"},
        {"f32[1024]{0}", TILE,
         "destination:1:4: error: the destination has 2 dimensions, [8,128], and the source has 1, "
         "[1024]\n" TILE "\n   ^\n"},
        {"f32[8,128]{1,0}[0:2]", "f32[8,128]{1,0}[0:3]",
         "destination:1:16: error: the destination takes [3,128] and the source gives [2,128]\n"
         "f32[8,128]{1,0}[0:3]\n               ^\n"},
        {"f32[8,128]{1,0}[0:2]", "f32[8,1,128]{2,1,0}",
         "destination:1:4: error: the destination takes [8,128] and the source gives [2,128]\n"
         "f32[8,1,128]{2,1,0}\n   ^\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const ts_transfer_request request = request_of(v5e, rows[i].src, rows[i].dst);
        ts_transfer_study study;
        ts_error err = {0};
        assert_false(ts_transfer_price(&err, arena, &request, &study));
        assert_error(&err, TS_ERROR_INPUT, rows[i].error);
    }
}

/* ---- Places ---- */

/* Behind the source, at a multiple of what the memory aligns to: 4 KiB in HBM, 512 bytes in VMEM. */
TEST(the_destination_is_behind_the_source) {
    static const struct {
        const char *src, *dst;
        int64_t src_at, dst_at, found_src, found_dst;
    } rows[] = {
        {TILE, TILE, -1, -1, 0, BYTES},
        {TILE, TILE, 512, -1, 512, 2 * BYTES},
        {TILE, TILE, BYTES, 0, BYTES, 0},
        {TILE, TILE, -1, 3 * BYTES, 0, 3 * BYTES},
        {"f32[9,128]{1,0:T(8,128)}", "f32[9,128]{1,0:T(8,128)}", -1, -1, 0, 2 * BYTES},
        {"f32[128]{0:T(128)S(1)}", "f32[128]{0:T(128)S(1)}", -1, -1, 0, 512},
        {"f32[129]{0:T(128)S(1)}", "f32[129]{0:T(128)S(1)}", 512, -1, 512, 3 * 512},
        {IN_VMEM, TILE, 512, -1, 512, 0},
        {TILE, IN_VMEM, 512, -1, 512, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_transfer_request request = request_of(v5e, rows[i].src, rows[i].dst);
        ts_transfer_study study;
        ts_error err = {0};
        request.src.at = rows[i].src_at;
        request.dst.at = rows[i].dst_at;
        if (!ts_transfer_price(&err, arena, &request, &study)) fail_msg("row %zu: %s", i, err.message);
        assert_int_equal(study.src.at, rows[i].found_src);
        assert_int_equal(study.dst.at, rows[i].found_dst);
        assert_int_equal(study.dst_placed, rows[i].dst_at >= 0);
        assert_int_equal(study.cost.transfer.useful_bytes, study.plan->elements * 4);
    }
}

/* In SBUF as far behind as each partition is filled, in steps of 64 bytes; what does not begin in one, behind all. */
TEST(partitions_are_filled_side_by_side) {
    static const struct {
        const char *text;
        int64_t at, dst_at;
    } rows[] = {
        {"f32[128,500] S[(128,500):(1@P,1@F)] S(1)", -1, 2048},
        {"f32[128,512] S[(128,512):(1@P,1@F)] S(1)", 128, 128 + 2048},
        {"f32[256,512] S[(2,128,512):(512@F,1@P,1@F)] S(1)", -1, 4096},
    };
    const ts_machine *trainium = ts_machine_load(NULL, arena, "trainium2");
    assert_non_null(trainium);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_transfer_request request = request_of(trainium, rows[i].text, rows[i].text);
        ts_transfer_study study;
        ts_error err = {0};
        request.src.at = rows[i].at;
        if (!ts_transfer_price(&err, arena, &request, &study)) fail_msg("row %zu: %s", i, err.message);
        assert_int_equal(study.dst.at, rows[i].dst_at);
    }
    static const char *const whole = "f32[128,49152] S[(128,49152):(1@P,1@F)] S(1)"; /* of 192 KiB each */
    const ts_transfer_request full = request_of(trainium, whole, whole);
    ts_transfer_study study;
    ts_error err = {0};
    assert_false(ts_transfer_price(&err, arena, &full, &study));
    assert_string_equal(err.message,
                        "the tensor takes 25165824 bytes at byte 196608 of sbuf, which has 25165824 bytes");
}

TEST(what_does_not_fit_is_refused) {
    static const struct {
        int64_t src_at, dst_at;
        const char *name, *message; /* whose text it points into */
    } rows[] = {
        {INT64_C(16) << 30, 0, "source",
         "the tensor takes 4096 bytes at byte 17179869184 of hbm, which has 17179869184 bytes"},
        {0, (INT64_C(16) << 30) - BYTES + 512, "destination",
         "the tensor takes 4096 bytes at byte 17179865600 of hbm, which has 17179869184 bytes"},
        {0, 0, "destination", "the source (bytes 0 to 4095) and the destination (0 to 4095) overlap"},
        {0, BYTES - 512, "destination",
         "the source (bytes 0 to 4095) and the destination (3584 to 7679) overlap"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_transfer_request request = request_of(v5e, TILE, TILE);
        ts_transfer_study study;
        ts_error err = {0};
        request.src.at = rows[i].src_at;
        request.dst.at = rows[i].dst_at;
        assert_false(ts_transfer_price(&err, arena, &request, &study));
        assert_string_equal(err.message, rows[i].message);
        assert_string_equal(err.name, rows[i].name);
        assert_int_equal(err.column, 1);
    }
    ts_transfer_request last = request_of(v5e, TILE, TILE);
    ts_transfer_study study;
    last.dst.at = (INT64_C(16) << 30) - BYTES;
    assert_true(ts_transfer_price(NULL, arena, &last, &study));
}

/* ---- Energy ---- */

/* Of the HBM as it was used; of the engine by bytes moved, of VMEM by those at its end. */
TEST(energy_is_of_what_was_moved) {
    static const struct {
        const char *src, *dst;
        int64_t moved, vmem;
    } rows[] = {
        {TILE, TILE, 2 * BYTES, 0}, {TILE, IN_VMEM, 2 * BYTES, BYTES}, {IN_VMEM, TILE, 2 * BYTES, BYTES}};
    ts_machine machine = *v5e;
    const ts_machine_energy energies[] = {{ts_energy_op_name(TS_ENERGY_DMA), DMA_FJ},
                                          {ts_energy_op_name(TS_ENERGY_VMEM), VMEM_FJ}};
    machine.energies = energies;
    machine.energy_count = 2;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const ts_transfer_request request = request_of(&machine, rows[i].src, rows[i].dst);
        ts_transfer_study study;
        ts_energy energy, hbm;
        assert_true(ts_transfer_price(NULL, arena, &request, &study));
        ts_transfer_energy(&study, &energy);
        ts_energy_of_hbm(&machine, &study.cost.hbm, study.cost.cycles, &hbm);
        assert_true(energy.hbm_total == hbm.hbm_total && energy.hbm_total > 0);
        double dma = (double)rows[i].moved * DMA_FJ * 1e-15, vmem = (double)rows[i].vmem * VMEM_FJ * 1e-15;
        assert_true(energy.ops[TS_ENERGY_DMA] > 0.999 * dma && energy.ops[TS_ENERGY_DMA] < 1.001 * dma);
        assert_true(energy.ops[TS_ENERGY_VMEM] >= 0.999 * vmem && energy.ops[TS_ENERGY_VMEM] <= 1.001 * vmem);
        study.by.program = "programs/transpose.tsim"; /* the engine did not */
        ts_transfer_energy(&study, &energy);
        assert_true(energy.hbm_total == hbm.hbm_total && !energy.any_stated);
    }
}

/* ---- Several at once ---- */

/* Each begins behind all those before in its memory, where it is not placed. */
TEST(a_mix_is_placed_one_behind_the_other) {
    static const struct {
        const char *src, *dst;
        int64_t at, found_src, found_dst; /* at: of the destination */
    } rows[] = {
        {TILE, IN_VMEM, -1, 0, 0},
        {TILE, TILE, -1, BYTES, 2 * BYTES},
        {IN_VMEM, TILE, 8 * BYTES, BYTES, 8 * BYTES},
        {TILE, IN_VMEM, -1, 9 * BYTES, 2 * BYTES},
        {TILE, TILE, 5 * BYTES, 10 * BYTES, 5 * BYTES},
        {TILE, TILE, -1, 11 * BYTES, 12 * BYTES},
        {IN_VMEM, TILE, 0, 3 * BYTES, 0},
    };
    enum { COUNT = sizeof rows / sizeof rows[0] };
    ts_transfer_end ends[COUNT][2];
    for (int i = 0; i < COUNT; i++) {
        ends[i][0] = parse_end(arena, "source", rows[i].src);
        ends[i][1] = parse_end(arena, "destination", rows[i].dst);
        ends[i][1].at = rows[i].at;
    }
    const ts_transfer_mix_request request = {v5e, ts_prices_new(arena), ends, COUNT, false};
    ts_transfer_mix mix;
    ts_error err = {0};
    if (!ts_transfer_price_concurrent(&err, arena, &request, &mix)) fail_msg("%s", err.message);
    int64_t sum = 0, longest = 0, slowest = 0;
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(mix.alone[i].src.at, rows[i].found_src);
        assert_int_equal(mix.alone[i].dst.at, rows[i].found_dst);
        assert_int_equal(mix.results[i].useful_bytes, BYTES);
        sum += mix.alone[i].cost.cycles;
        longest = ts_max(longest, mix.alone[i].cost.cycles);
        slowest = ts_max(slowest, mix.results[i].completed_cycle);
    }
    assert_int_equal(mix.one_after_other, sum);
    assert_int_equal(mix.count, COUNT);
    assert_int_equal(mix.mix.cycles, slowest);
    assert_true(mix.mix.cycles >= longest && mix.mix.cycles <= sum);
    assert_int_equal(mix.mix.moved_bytes, 10 * BYTES);
}

TEST(only_what_the_engine_does_is_mixed) {
    static const struct {
        const char *src, *dst;
        ts_error_kind kind;
        const char *error;
    } rows[] = {
        {"f32[64,256]{1,0:T(8,128)}", "f32[64,256]{0,1:T(8,128)}", TS_ERROR_UNMODELLED,
         "destination:1:1: not modelled: programs/transpose.tsim does this one, and only the engine's "
         "transfers can be mixed\nf32[64,256]{0,1:T(8,128)}\n^\n"},
        {TILE, "f32[8,128]{1,0:S(7)}", TS_ERROR_INPUT,
         "destination:1:16: error: tpu-v5e has no memory space S(7)\nf32[8,128]{1,0:S(7)}\n               "
         "^\n"},
        {TILE, "f32[9,128]{1,0}", TS_ERROR_INPUT,
         "destination:1:4: error: the destination takes [9,128] and the source gives [8,128]\n"
         "f32[9,128]{1,0}\n   ^\n"},
    };
    ts_machine machine = *v5e;
    machine.dma.bytes_per_cycle[TS_DMA_TRANSPOSE] = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_transfer_end ends[2][2] = {
            {parse_end(arena, "source", TILE), parse_end(arena, "destination", TILE)},
            {parse_end(arena, "source", rows[i].src), parse_end(arena, "destination", rows[i].dst)}};
        const ts_transfer_mix_request request = {&machine, ts_prices_new(arena), ends, 2, false};
        ts_transfer_mix mix;
        ts_error err = {0};
        assert_false(ts_transfer_price_concurrent(&err, arena, &request, &mix));
        assert_error(&err, rows[i].kind, rows[i].error);
    }
}

static int set_up(void **state) {
    begin_group(state);
    v5e = ts_machine_load(NULL, arena, "tpu-v5e");
    return v5e ? 0 : -1;
}

int main(void) { return run_all_tests(set_up, end_group); }
