/* The matrix units and the transposer: products against sums written out, time to the cycle, and misuse. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/core_fixture.h"
#include "core/vector.h"
#include "base/number.h"
#include "tests/support/cmocka.h"

static fixture *new_fixture(int edge, int staging, int results) {
    fixture *f = fixture_new();
    f->config.mxu = (ts_machine_mxu){.units = 2,
                                     .edge = edge,
                                     .rate = {1, 1, 1, 2, 4},
                                     .staging = staging,
                                     .accumulators = 80,
                                     .result_vregs = results};
    f->config.limits.vregs = 256;
    return f;
}

/* ---- The types: `bits` each, and what a value means, apart from the code under test ---- */

typedef struct {
    const char *name;
    int bits;
    bool integer;
    float (*value)(uint32_t bits);
} type_row;

static float f32_value(uint32_t bits) {
    return ts_f32_from_bits((uint32_t)ts_bf16_from_f32(ts_f32_from_bits(bits)) << 16);
}
static float bf16_value(uint32_t bits) { return ts_f32_from_bits(bits << 16); }
static float i8_value(uint32_t bits) { return (float)(bits < 128 ? (int)bits : (int)bits - 256); }
static float i4_value(uint32_t bits) { return (float)(bits < 8 ? (int)bits : (int)bits - 16); }
static float scaled(uint32_t bits, int mantissa, int bias) {
    int exponent = (int)(bits >> mantissa & ((128u >> mantissa) - 1));
    float m = (float)(bits & ((1u << mantissa) - 1)) + (exponent > 0 ? (float)(1 << mantissa) : 0);
    for (int e = (exponent > 0 ? exponent : 1) - bias - mantissa; e != 0; e += e > 0 ? -1 : 1)
        m = e > 0 ? m * 2 : m / 2;
    return bits >> 7 & 1 ? -m : m;
}
static float e5m2_value(uint32_t bits) { return scaled(bits, 2, 15); }
static float e4m3fn_value(uint32_t bits) { return scaled(bits, 3, 7); }
static float e4m3b11_value(uint32_t bits) { return scaled(bits, 3, 11); }

static const type_row types[] = {
    {"f32", 32, false, f32_value},
    {"bf16", 16, false, bf16_value},
    {"f8e5m2", 8, false, e5m2_value},
    {"f8e4m3fn", 8, false, e4m3fn_value},
    {"f8e4m3b11fnuz", 8, false, e4m3b11_value},
    {"i8", 8, true, i8_value},
    {"i4", 4, true, i4_value},
};

/* A random finite number of the type, small enough for nothing to overflow. */
static uint32_t random_bits(const type_row *type, uint64_t *seed) {
    uint32_t word = fixture_random(seed);
    if (type->bits == 32) return ts_f32_bits((float)(int32_t)(word << 8) * 1e-9f);
    if (type->bits == 16) return ts_f32_bits((float)(int32_t)(word << 8) * 1e-9f) >> 16;
    if (type->bits == 8 && !type->integer)
        return (word & 0xbf) == 0x80 ? 1 : word & 0xbf; /* no NaN, inf, -0 */
    return word & ((1u << type->bits) - 1);
}

/* Element (row, column) of a matrix into vregs as tiles of 8 sublanes of packed rows hold it: vreg by group
 * of rows, then by 128 columns. */
static void put(uint32_t *vregs, const type_row *type, int columns, int row, int column, uint32_t bits) {
    int packing = 32 / type->bits, rows = 8 * packing;
    uint32_t *vreg = vregs + (row / rows * (columns / 128) + column / 128) * TS_VREG_WORDS;
    vreg[row % rows / packing * 128 + column % 128] |= bits << (row % packing * type->bits);
}

enum { EDGE_MAX = 256, ROWS_MAX = 64, ROWS_AT = 64, RESULTS_AT = 80 };
static uint32_t tile[EDGE_MAX][EDGE_MAX], rows[ROWS_MAX][EDGE_MAX];

/* Vregs from `first` on to a matrix of random elements, which `matrix` gets, transposed if so asked. */
static void random_matrix(fixture *f, const type_row *type, int first, int row_count, int edge,
                          uint32_t (*matrix)[EDGE_MAX], bool transposed, uint64_t *seed) {
    for (int r = 0; r < row_count; r++) {
        for (int c = 0; c < edge; c++) {
            uint32_t bits = random_bits(type, seed);
            *(transposed ? &matrix[c][r] : &matrix[r][c]) = bits;
            put(fixture_vreg(f, first), type, edge, r, c, bits);
        }
    }
}

/* "line.type 1 v[first]", and so on, `count` of them. */
static void add_lines(char *text, const char *line, const char *type, int first, int count) {
    for (int i = 0; i < count; i++) sprintf(text + strlen(text), "%s.%s 1 v%d\n", line, type, first + i);
}

static void check_product(const fixture *f, const type_row *type, int row_count, int edge) {
    for (int r = 0; r < row_count; r++) {
        for (int n = 0; n < edge; n++) {
            float sum = 0;
            int32_t whole = 0;
            for (int k = 0; k < edge; k++) {
                float a = type->value(rows[r][k]), b = type->value(tile[k][n]);
                sum += a * b;
                whole += type->integer ? (int32_t)a * (int32_t)b : 0;
            }
            const uint32_t *vreg =
                fixture_vreg((fixture *)(uintptr_t)f, RESULTS_AT + r / 8 * (edge / 128) + n / 128);
            uint32_t got = vreg[r % 8 * 128 + n % 128],
                     want = type->integer ? (uint32_t)whole : ts_f32_bits(sum);
            if (got != want)
                fail_msg("%s, edge %d: (%d, %d): %08x, expected %08x", type->name, edge, r, n, got, want);
        }
    }
}

static void check_type(const type_row *type, int edge, bool transposed) {
    int row_count = 256 / type->bits, chunks = edge / 128;
    uint64_t seed = (uint64_t)(type->bits + edge);
    char *text = calloc(1, 16384);
    add_lines(text, transposed ? "mxu.latcht" : "mxu.latch", type->name, 0, edge / row_count * chunks);
    strcat(text, "mxu.swap 1\n");
    add_lines(text, "mxu.push", type->name, ROWS_AT, chunks);
    for (int i = 0; i < row_count / 8 * chunks; i++)
        sprintf(text + strlen(text), "mxu.pop v%d 1\n", RESULTS_AT + i);
    fixture *f = new_fixture(edge, 2, 32);
    assert_true(fixture_load(f, text));
    random_matrix(f, type, 0, edge, edge, tile, transposed, &seed);
    random_matrix(f, type, ROWS_AT, row_count, edge, rows, false, &seed);
    if (!fixture_run(f)) fail_msg("%s", f->err.message);
    check_product(f, type, row_count, edge);
    fixture_free(f);
    free(text);
}

TEST(every_type_multiplies_in_the_stated_order) {
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        check_type(&types[i], 128, false);
        check_type(&types[i], 128, true);
        check_type(&types[i], 256, false);
        check_type(&types[i], 256, true);
    }
}

TEST(the_hosts_tables_agree) {
#ifdef TS_VECTOR_AVX2
    static float a[16 * 128], w[128 * 128], want[16 * 128], got[16 * 128];
    uint64_t seed = 5;
    if (!__builtin_cpu_supports("avx2")) return;
    for (int i = 0; i < 16 * 128; i++) a[i] = (float)(int32_t)fixture_random(&seed);
    for (int i = 0; i < 128 * 128; i++) w[i] = (float)(int32_t)fixture_random(&seed);
    const ts_matrix_functions *tables[] = {&ts_matrix_avx2, ts_matrix_select()};
    for (int i = 0; i < 2; i++) {
        ts_matrix_base.f32(want, a, w, 16, 128);
        tables[i]->f32(got, a, w, 16, 128);
        assert_memory_equal(want, got, sizeof(want));
        ts_matrix_base.i32((uint32_t *)(void *)want, (uint32_t *)(void *)a, (uint32_t *)(void *)w, 16, 128);
        tables[i]->i32((uint32_t *)(void *)got, (uint32_t *)(void *)a, (uint32_t *)(void *)w, 16, 128);
        assert_memory_equal(want, got, sizeof(want));
    }
#endif
}

TEST(nan_comes_out_as_the_one_nan) {
    fixture *f = new_fixture(128, 2, 32);
    char text[4096] = "vmov v0 1.0\nvmov v64 4290772992\n"; /* 0xffc00000 */
    add_lines(text, "mxu.latch", "f32", 0, 1);
    for (int i = 1; i < 16; i++) strcat(text, "mxu.latch.f32 1 v0\n");
    strcat(text, "mxu.swap 1\nmxu.push.f32 1 v64\nmxu.pop v65 1 ?m1");
    assert_true(fixture_load(f, text));
    memset(ts_core_register(f->core, TS_OPERAND_VMASK, 1), 0xff, 4); /* and only word 0 is written */
    assert_true(fixture_run(f));
    assert_int_equal(fixture_vreg(f, 65)[0], 0x7fc00000);
    assert_int_equal(fixture_vreg(f, 65)[1], 0);
    fixture_free(f);
}

/* ---- Time ---- */

/* 16 latches of f32 make a tile of edge 128. */
/* What is added twice to accumulators from number 3 on is twice what is popped, and then it is gone. */
static void check_sums(const type_row *type, int edge) {
    int row_count = 256 / type->bits, chunks = edge / 128, results = row_count / 8 * chunks;
    uint64_t seed = (uint64_t)(type->bits * edge);
    char *text = calloc(1, 16384);
    add_lines(text, "mxu.latch", type->name, 0, edge / row_count * chunks);
    strcat(text, "mxu.swap 1\n");
    add_lines(text, "mxu.push", type->name, ROWS_AT, chunks);
    for (int i = 0; i < 2 * chunks; i++)
        sprintf(text + strlen(text), "mxu.acc.%s 1 v%d 3\n", type->name, ROWS_AT + i % chunks);
    for (int i = 0; i < results; i++)
        sprintf(text + strlen(text), "mxu.pop v%d 1\nmxu.take v%d 1 %d\nmxu.take v%d 1 %d\n", 0, 1, 3 + i, 2,
                3 + i);
    fixture *f = new_fixture(edge, 2, 32);
    assert_true(fixture_load(f, text));
    random_matrix(f, type, 0, edge, edge, tile, false, &seed);
    random_matrix(f, type, ROWS_AT, row_count, edge, rows, false, &seed);
    if (!fixture_run(f)) fail_msg("%s", f->err.message);
    for (int i = 0; i < 1024; i++) {
        uint32_t one = fixture_vreg(f, 0)[i], two = fixture_vreg(f, 1)[i];
        float sum = (0.0f + ts_f32_from_bits(one)) + ts_f32_from_bits(one);
        assert_int_equal(two, type->integer ? 2 * one : sum == sum ? ts_f32_bits(sum) : 0x7fc00000);
        assert_int_equal(fixture_vreg(f, 2)[i], 0);
    }
    fixture_free(f);
    free(text);
}

TEST(results_are_added_to_accumulators) {
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        check_sums(&types[i], 128);
        check_sums(&types[i], 256);
    }
}

static void latch_16(char *text) {
    for (int i = 0; i < 16; i++) strcat(text, "mxu.latch.f32 0 v0\n");
}

TEST(a_tile_is_used_after_its_latency) {
    fixture *f = new_fixture(128, 2, 32);
    char text[4096] = "";
    f->config.latency_cycles[TS_LATENCY_MXU_LATCH] = 40;
    f->config.occupancy_cycles[TS_LATENCY_MXU_LATCH] = 8;
    latch_16(text);
    strcat(text, "mxu.swap 0");
    fixture_do(f, text);
    assert_int_equal(fixture_issued(f, 15), 15 * 8);
    assert_int_equal(fixture_issued(f, 16), 15 * 8 + 40);
    assert_int_equal(fixture_stalled(f, "busy_mxu_latch"), 15 * 7);
    assert_int_equal(fixture_stalled(f, "wait_mxu_latch"), 39);
    fixture_free(f);
}

/* Pushes of 8 cycles, whose results come after 100; the text latches their tile. */
static fixture *new_pushes(char *text) {
    fixture *f = new_fixture(128, 2, 32);
    f->config.latency_cycles[TS_LATENCY_MXU_PUSH] = 100;
    f->config.occupancy_cycles[TS_LATENCY_MXU_PUSH] = 8;
    latch_16(text);
    return f;
}

TEST(pushes_occupy_and_results_come_later) {
    char text[4096] = "";
    fixture *f = new_pushes(text);
    f->config.latency_cycles[TS_LATENCY_MXU_POP] = 5;
    strcat(text,
           "mxu.swap 0\nmxu.push.f32 0 v0\nmxu.push.f32 0 v0\nmxu.pop v1 0\nvneg.f32 v2 v1\nmxu.pop v1 0");
    fixture_do(f, text);
    assert_int_equal(fixture_issued(f, 17), 17);
    assert_int_equal(fixture_issued(f, 18), 25);
    assert_int_equal(fixture_issued(f, 19), 117);
    assert_int_equal(fixture_issued(f, 20), 122);
    assert_int_equal(fixture_issued(f, 21), 125);
    assert_int_equal(fixture_stalled(f, "busy_mxu_push"), 7);
    assert_int_equal(fixture_stalled(f, "wait_mxu_push"), 91 + 2);
    assert_int_equal(fixture_stalled(f, "wait_mxu_pop"), 4);
    fixture_free(f);
}

TEST(sums_are_there_when_results_would_be) {
    char text[4096] = "";
    fixture *f = new_pushes(text);
    strcat(text, "mxu.swap 0\nmxu.acc.f32 0 v0 7\nmxu.acc.f32 0 v0 8\nmxu.take v1 0 9\nmxu.take v1 0 "
                 "7\nmxu.take v1 0 8");
    fixture_do(f, text);
    assert_int_equal(fixture_issued(f, 17), 17);
    assert_int_equal(fixture_issued(f, 18), 25);
    assert_int_equal(fixture_issued(f, 19), 26);
    assert_int_equal(fixture_issued(f, 20), 117);
    assert_int_equal(fixture_issued(f, 21), 125);
    fixture_free(f);
}

/* Occupancy is that of 8 rows of bf16: packed rows take longer, faster types less, a half of the edge half.
 */
TEST(occupancy_follows_packing_rate_and_edge) {
    static const struct {
        const char *type;
        int edge, latches, cycles;
    } cases[] = {{"f32", 128, 16, 8},    {"bf16", 128, 8, 16}, {"i8", 128, 4, 16},  {"i4", 128, 2, 16},
                 {"f8e5m2", 128, 4, 32}, {"f32", 256, 64, 4},  {"bf16", 256, 32, 8}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fixture *f = new_fixture(cases[i].edge, 2, 64);
        char text[4096] = "";
        f->config.occupancy_cycles[TS_LATENCY_MXU_PUSH] = 8;
        for (int l = 0; l < cases[i].latches; l++)
            sprintf(text + strlen(text), "mxu.latch.%s 0 v0\n", cases[i].type);
        sprintf(text + strlen(text), "mxu.swap 0\nmxu.push.%s 0 v0\nmxu.push.%s 0 v0", cases[i].type,
                cases[i].type);
        fixture_do(f, text);
        assert_int_equal(fixture_issued(f, cases[i].latches + 2) - fixture_issued(f, cases[i].latches + 1),
                         cases[i].cycles);
        ts_core_counters counters;
        ts_core_count(f->core, &counters);
        assert_int_equal(counters.mxu_busy_cycles, 2 * cases[i].cycles);
        assert_int_equal(counters.busy_cycles[TS_SLOT_MXU], 0);
        fixture_free(f);
    }
}

TEST(units_work_side_by_side) {
    fixture *f = new_fixture(128, 2, 32);
    char text[4096] = "";
    f->config.occupancy_cycles[TS_LATENCY_MXU_LATCH] = 8;
    f->config.occupancy_cycles[TS_LATENCY_MXU_PUSH] = 8;
    latch_16(text);
    strcat(text,
           "mxu.swap 0\nmxu.push.f32 0 v0 ; mxu.latch.f32 0 v0 ; mxu.latch.f32 1 v0\nmxu.latch.f32 1 v0\n"
           "mxu.push.f32 0 v0");
    fixture_do(f, text);
    int64_t start = fixture_issued(f, 17);
    assert_int_equal(start, 15 * 8 + 8);
    assert_int_equal(fixture_issued(f, 18), start + 8);
    assert_int_equal(fixture_issued(f, 19), start + 9);
    fixture_free(f);
}

TEST(staging_lets_the_next_tile_in) {
    fixture *f = new_fixture(128, 2, 32);
    char text[8192] = "vmov v0 1.0\nvmov v1 2.0\n";
    latch_16(text);
    strcat(text, "mxu.swap 0\n");
    for (int i = 0; i < 16; i++) strcat(text, "mxu.latch.f32 0 v1\n");
    strcat(text, "mxu.push.f32 0 v0\nmxu.swap 0\nmxu.push.f32 0 v0\nmxu.pop v2 0\nmxu.pop v3 0");
    fixture_do(f, text);
    assert_int_equal(fixture_vreg(f, 2)[0], ts_f32_bits(128.0f));
    assert_int_equal(fixture_vreg(f, 3)[0], ts_f32_bits(256.0f));
    fixture_free(f);
}

/* Instructions of a bundle on one queue keep the order in which they are written. */
TEST(a_bundle_keeps_the_order_of_a_unit) {
    static const struct {
        const char *bundle;
        float result;
    } cases[] = {{"mxu.push.f32 0 v0 ; mxu.swap 0", 128.0f},
                 {"mxu.swap 0 ; mxu.push.f32 0 v0", 256.0f},
                 {"mxu.swap 0 ; mxu.push.f32 0 v5 ; vmov v5 v0 ; vmov v0 v5", 0.0f}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fixture *f = new_fixture(128, 2, 32);
        char text[8192] = "vmov v0 1.0\nvmov v1 2.0\n";
        latch_16(text);
        strcat(text, "mxu.swap 0\n");
        for (int l = 0; l < 16; l++) strcat(text, "mxu.latch.f32 0 v1\n");
        strcat(text, cases[i].bundle);
        strcat(text, "\nmxu.pop v2 0");
        fixture_do(f, text);
        assert_int_equal(fixture_vreg(f, 2)[0], ts_f32_bits(cases[i].result));
        fixture_free(f);
    }
}

/* ---- Misuse ---- */

/* Results that are added to accumulators need no room in the queue, whose 8 vregs two pushes of i8 fill. */
TEST(sums_need_no_room_for_results) {
    static const char *const last[] = {"mxu.acc.i8 0 v0 1", "mxu.push.i8 0 v0"};
    for (int i = 0; i < 2; i++) {
        fixture *f = new_fixture(128, 2, 8);
        char text[512] = "";
        for (int k = 0; k < 4; k++) strcat(text, "mxu.latch.i8 0 v0\n");
        strcat(strcat(text, "mxu.swap 0\nmxu.push.i8 0 v0\nmxu.push.i8 0 v0\n"), last[i]);
        assert_true(fixture_load(f, text));
        assert_int_equal(fixture_run(f), i == 0);
        fixture_free(f);
    }
}

TEST(misuse_is_a_fault_or_refused) {
    static const struct {
        int tiles; /* latched into unit 0 first */
        const char *text, *message;
    } cases[] = {
        {0, "mxu.latch.f32 2 v0", "no matrix unit 2, expected 0 to 1"},
        {0, "mxu.latch.f8e5m2 0 v0", "the matrix unit of this machine does not take f8e5m2"},
        {0, "mxu.push.f32 0 v0 ; mxu.push.f32 0 v1", "the bundle has two mxu.push.f32 on one unit"},
        {2, "mxu.swap 0 ; mxu.swap 0", "the bundle has two mxu.swap on one unit"},
        {0, "vtr.push.b32 v0 ; vtr.push.b32 v1", "the bundle has two vtr.push.b32 on one unit"},
        {0, "mxu.push.f32 0 v0", "matrix unit 0 has no tile in use, expected a swap first"},
        {0, "mxu.pop v0 0", "matrix unit 0 has no result, expected a push first"},
        {0, "mxu.latch.f32 0 v0\nmxu.swap 0",
         "matrix unit 0 has no complete tile: 1 of 16 vregs of f32 are latched"},
        {0, "mxu.latch.bf16 0 v0\nmxu.latch.bf16 0 v0\nmxu.swap 0",
         "matrix unit 0 has no complete tile: 2 of 8 vregs of bf16 are latched"},
        {0, "mxu.swap 0", "matrix unit 0 has no tile, expected mxu.latch first"},
        {0, "mxu.latch.f32 0 v0\nmxu.latch.bf16 0 v0", "a tile of f32 so far, expected no bf16 in it"},
        {1, "mxu.swap 0\nmxu.push.bf16 0 v0", "the tile in use is of f32, expected rows of it, not bf16"},
        {2, "mxu.latch.f32 0 v0", "matrix unit 0 holds 2 tiles, expected a swap before another"},
        {1, "mxu.swap 0\nmxu.push.f32 0 v0\nmxu.push.f32 0 v0\nmxu.push.f32 0 v0",
         "2 results in the queue of matrix unit 0 and 1 to come, expected 2 at most"},
        {1, "mxu.swap 0\nmxu.acc.f32 0 v0 80", "accumulators 80 to 80, expected 0 to 79"},
        {1, "mxu.swap 0\nmxu.acc.bf16 0 v0 79", "accumulators 79 to 80, expected 0 to 79"},
        {0, "mxu.take v0 0 80", "accumulators 80 to 80, expected 0 to 79"},
        {0, "mxu.take v0 2 0", "no matrix unit 2, expected 0 to 1"},
        {1, "mxu.swap 0\nmxu.acc.f32 0 v0 1 ; mxu.take v0 0 1",
         "accumulator 1 of matrix unit 0 is added to in this bundle, expected an earlier one"},
        {0, "vtr.pop v0", "the transposer has no complete block: 0 of 128 rows are in it"},
        {0, "vtr.push.b32 v0\nvtr.pop v0", "the transposer has no complete block: 8 of 128 rows are in it"},
        {0, "vtr.push.b32 v0\nvtr.push.b16 v0", "a block of words so far, expected no halves in it"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fixture *f = new_fixture(128, 2, 2);
        char text[4096] = "";
        f->config.mxu.rate[TS_MXU_FP8] = 0;
        for (int t = 0; t < cases[i].tiles; t++) latch_16(text);
        strcat(text, cases[i].text);
        assert_false(fixture_load(f, text) && fixture_run(f));
        assert_string_equal(f->err.message, cases[i].message);
        fixture_free(f);
    }
    fixture *f = fixture_new();
    assert_false(fixture_load(f, "mxu.swap 0"));
    assert_string_equal(f->err.message, "this machine has no matrix unit");
    f->config.mxu =
        (ts_machine_mxu){.units = 1, .edge = 128, .staging = 2, .result_vregs = 4, .rate = {1, 1}};
    ts_error_clear(&f->err);
    assert_false(fixture_load(f, "mxu.take v0 0 0"));
    assert_string_equal(
        f->err.message,
        "the matrix units of this machine have no accumulators, expected mxu.push and mxu.pop");
    f->config.mxu = (ts_machine_mxu){.units = 1, .edge = 64, .staging = 2, .result_vregs = 4, .rate = {1, 1}};
    ts_error_clear(&f->err);
    assert_false(fixture_load(f, "mxu.swap 0"));
    assert_int_equal(f->err.kind, TS_ERROR_UNMODELLED);
    fixture_free(f);
}

/* ---- The transposer ---- */

TEST(blocks_come_out_transposed) {
    fixture *f = new_fixture(128, 2, 32);
    char text[4096] = "";
    for (int i = 0; i < 16; i++) sprintf(text + strlen(text), "vtr.push.b32 v%d\n", i);
    for (int i = 0; i < 8; i++) sprintf(text + strlen(text), "vtr.push.b16 v%d\n", i);
    for (int i = 0; i < 24; i++) sprintf(text + strlen(text), "vtr.pop v%d\n", 100 + i);
    assert_true(fixture_load(f, text));
    uint64_t seed = 11;
    for (int i = 0; i < 16 * TS_VREG_WORDS; i++) fixture_vreg(f, 0)[i] = fixture_random(&seed);
    assert_true(fixture_run(f));
    const uint32_t *in = fixture_vreg(f, 0), *out = fixture_vreg(f, 100), *halves = fixture_vreg(f, 116);
    for (int r = 0; r < 128; r++) {
        for (int c = 0; c < 128; c++) {
            assert_int_equal(out[r * 128 + c], in[c * 128 + r]);
            assert_int_equal(halves[r / 2 * 128 + c] >> r % 2 * 16 & 0xffff,
                             in[c / 2 * 128 + r] >> c % 2 * 16 & 0xffff);
        }
    }
    fixture_free(f);
}

TEST(a_block_is_ready_after_its_latency) {
    fixture *f = new_fixture(128, 2, 32);
    char text[4096] = "";
    f->config.limits.slots[TS_SLOT_XLU] = 1;
    f->config.latency_cycles[TS_LATENCY_TRANSPOSE] = 50;
    f->config.occupancy_cycles[TS_LATENCY_TRANSPOSE] = 9;
    for (int i = 0; i < 8; i++) strcat(text, "vtr.push.b16 v0\n");
    strcat(text, "vtr.pop v1\nvtr.pop v2");
    fixture_do(f, text);
    assert_int_equal(fixture_issued(f, 7), 7 * 18);
    assert_int_equal(fixture_issued(f, 8), 7 * 18 + 50);
    assert_int_equal(fixture_issued(f, 9), 7 * 18 + 51);
    assert_int_equal(fixture_stalled(f, "wait_transpose"), 49);
    assert_int_equal(fixture_stalled(f, "busy_transpose"), 7 * 17);
    fixture_free(f);
}

TEST(two_blocks_fit) {
    fixture *f = new_fixture(128, 2, 32);
    char text[4096] = "";
    for (int i = 0; i < 33; i++) strcat(text, "vtr.push.b32 v0\n");
    assert_true(fixture_load(f, text));
    assert_false(fixture_run(f));
    assert_string_equal(f->err.message, "the transposer holds 2 blocks, expected pops before another");
    assert_int_equal(f->err.cycle, 32);
    fixture_free(f);
}
