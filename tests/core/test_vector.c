/* The vector instructions on exact bits, in every table that this host can run. */
#include <stdio.h>
#include <string.h>

#include "core/vector.h"
#include "base/number.h"
#include "tests/support/cmocka.h"
#include "tests/support/rounds.h"

enum {
    MAX = 0x7f7fffff,
    TINY = 1,
    INF = 0x7f800000,
    QNAN = 0x7fc00000,
    ODD_NAN = 0x7fa12345,
    ONE = 0x3f800000
};
#define MINUS(bits) (0x80000000u | (bits))

static ts_vector_function *const *tables[3] = {ts_vector_base};
static int table_count = 1;

static int find_tables(void **state) {
#ifdef TS_VECTOR_AVX2
    if (__builtin_cpu_supports("avx2")) tables[table_count++] = ts_vector_avx2;
    if (ts_vector_has_avx512()) tables[table_count++] = ts_vector_avx512;
#endif
    return 0;
}

/* ---- One word: op, a, b, c, what comes out ---- */

typedef struct {
    ts_opcode op;
    uint32_t a, b, c, d;
} row;

#define ROW(op, ...)                                                                                         \
    { TS_OP_##op, __VA_ARGS__ }

static const row rows[] = {
    /* 1 + 2^-24 is a tie, to even; 1 + 3 * 2^-24 rounds up */
    ROW(vadd_f32, ONE, 0x33800000, 0, ONE),
    ROW(vadd_f32, ONE, 0x33c00000, 0, 0x3f800001),
    ROW(vadd_f32, ONE + 1, 0x33800000, 0, ONE + 2),
    ROW(vadd_f32, TINY, TINY, 0, 2),
    ROW(vadd_f32, MINUS(0), MINUS(0), 0, MINUS(0)),
    ROW(vadd_f32, ONE, MINUS(ONE), 0, 0),
    ROW(vadd_f32, MAX, MAX, 0, INF),
    ROW(vadd_f32, INF, MINUS(INF), 0, QNAN),
    ROW(vadd_f32, ODD_NAN, ONE, 0, QNAN),
    ROW(vadd_f32, ONE, MINUS(ODD_NAN), 0, QNAN),
    ROW(vsub_f32, 0x40400000, ONE, 0, 0x40000000),
    ROW(vrsub_f32, 0x40400000, ONE, 0, MINUS(0x40000000)),
    ROW(vsub_f32, 0, 0, 0, 0),
    ROW(vmul_f32, 0x3f800001, 0x3f800001, 0, 0x3f800002),
    ROW(vmul_f32, 0x00800000, 0x3f000000, 0, 0x00400000),
    ROW(vmul_f32, TINY, 0x3f000000, 0, 0),
    ROW(vmul_f32, 3, 0x3f000000, 0, 2),
    ROW(vmul_f32, MINUS(0), ONE, 0, MINUS(0)),
    ROW(vmul_f32, INF, 0, 0, QNAN),
    ROW(vmin_f32, 0, MINUS(0), 0, MINUS(0)),
    ROW(vmin_f32, MINUS(0), 0, 0, MINUS(0)),
    ROW(vmax_f32, MINUS(0), 0, 0, 0),
    ROW(vmax_f32, 0, MINUS(0), 0, 0),
    ROW(vmin_f32, MINUS(ONE), MINUS(TINY), 0, MINUS(ONE)),
    ROW(vmax_f32, MINUS(ONE), MINUS(INF), 0, MINUS(ONE)),
    ROW(vmin_f32, ODD_NAN, ONE, 0, QNAN),
    ROW(vmax_f32, MINUS(INF), MINUS(ODD_NAN), 0, QNAN),
    ROW(vneg_f32, ODD_NAN, 0, 0, MINUS(ODD_NAN)),
    ROW(vneg_f32, 0, 0, 0, MINUS(0)),
    ROW(vabs_f32, MINUS(ODD_NAN), 0, 0, ODD_NAN),
    ROW(vfloor_f32, 0x3fc00000, 0, 0, ONE), /* 1.5 */
    ROW(vfloor_f32, MINUS(TINY), 0, 0, MINUS(ONE)),
    ROW(vfloor_f32, MINUS(0), 0, 0, MINUS(0)),
    ROW(vfloor_f32, TINY, 0, 0, 0),
    ROW(vfloor_f32, MINUS(0x40000000), 0, 0, MINUS(0x40000000)),
    ROW(vfloor_f32, 0x4affffff, 0, 0, 0x4afffffe), /* 8388607.5 */
    ROW(vfloor_f32, MINUS(INF), 0, 0, MINUS(INF)),
    ROW(vfloor_f32, ODD_NAN, 0, 0, QNAN),
    ROW(vround_f32, 0x3f000000, 0, 0, 0),          /* 0.5 */
    ROW(vround_f32, 0x3fc00000, 0, 0, 0x40000000), /* 1.5 */
    ROW(vround_f32, 0x40200000, 0, 0, 0x40000000), /* 2.5 */
    ROW(vround_f32, MINUS(0x3f000000), 0, 0, MINUS(0)),
    ROW(vround_f32, 0x4affffff, 0, 0, 0x4b000000),
    ROW(vround_f32, 0x4b000001, 0, 0, 0x4b000001),
    ROW(vround_f32, MINUS(ODD_NAN), 0, 0, QNAN),
    ROW(vcmp_eq_f32, 0, MINUS(0), 0, ~0u),
    ROW(vcmp_eq_f32, QNAN, QNAN, 0, 0),
    ROW(vcmp_ne_f32, QNAN, QNAN, 0, ~0u),
    ROW(vcmp_lt_f32, QNAN, ONE, 0, 0),
    ROW(vcmp_lt_f32, MINUS(ONE), MINUS(0), 0, ~0u),
    ROW(vcmp_le_f32, 0, MINUS(0), 0, ~0u),
    ROW(vcmp_le_f32, ONE, QNAN, 0, 0),
    ROW(vcmp_gt_f32, TINY, 0, 0, ~0u),
    ROW(vcmp_gt_f32, QNAN, MINUS(INF), 0, 0),
    ROW(vcmp_ge_f32, MINUS(0), 0, 0, ~0u),
    ROW(vcmp_ge_f32, QNAN, QNAN, 0, 0),
    ROW(vadd_i32, 0x7fffffff, 1, 0, 0x80000000),
    ROW(vsub_i32, 0, 1, 0, ~0u),
    ROW(vmul_i32, 0x10001, 0x10001, 0, 0x20001),
    ROW(vmin_i32, ~0u, 1, 0, ~0u),
    ROW(vmax_i32, ~0u, 1, 0, 1),
    ROW(vand_i32, 0xf0f0, 0xff00, 0, 0xf000),
    ROW(vor_i32, 0xf0f0, 0xff00, 0, 0xfff0),
    ROW(vxor_i32, 0xf0f0, 0xff00, 0, 0x0ff0),
    ROW(vshl_i32, 3, 31, 0, 0x80000000),
    ROW(vshl_i32, 3, 32, 0, 0),
    ROW(vshl_i32, 3, ~0u, 0, 0),
    ROW(vshr_u32, 0x80000000, 31, 0, 1),
    ROW(vshr_u32, 0x80000000, 32, 0, 0),
    ROW(vshr_i32, 0x80000000, 4, 0, 0xf8000000),
    ROW(vshr_i32, 0x80000000, 99, 0, ~0u),
    ROW(vcmp_eq_i32, 5, 5, 0, ~0u),
    ROW(vcmp_ne_i32, 5, 5, 0, 0),
    ROW(vcmp_lt_i32, ~0u, 0, 0, ~0u),
    ROW(vcmp_le_i32, 1, 0, 0, 0),
    ROW(vcmp_gt_i32, 0x80000000, 0, 0, 0),
    ROW(vcmp_ge_i32, 0, 0x80000000, 0, ~0u),
    ROW(vmov, ODD_NAN, 0, 0, ODD_NAN),
    ROW(vsel, ~0u, 7, 9, 7),
    ROW(vsel, 0, 7, 9, 9),
    ROW(vsel, 0xffff, 0x11112222, 0x33334444, 0x33332222),
    ROW(vcvt_f32_i32, 0x01000001, 0, 0, 0x4b800000), /* 2^24 + 1: a tie, to even */
    ROW(vcvt_f32_i32, 0x80000000, 0, 0, 0xcf000000),
    ROW(vcvt_f32_i32, ~0u, 0, 0, 0xbf800000),
    ROW(vcvt_i32_f32, 0xbfffffff, 0, 0, ~0u), /* -1.9999999 */
    ROW(vcvt_i32_f32, 0x4effffff, 0, 0, 0x7fffff80),
    ROW(vcvt_i32_f32, 0x4f000000, 0, 0, 0x7fffffff),
    ROW(vcvt_i32_f32, 0xcf000000, 0, 0, 0x80000000),
    ROW(vcvt_i32_f32, MINUS(INF), 0, 0, 0x80000000),
    ROW(vcvt_i32_f32, INF, 0, 0, 0x7fffffff),
    ROW(vcvt_i32_f32, ODD_NAN, 0, 0, 0),
    ROW(vcvt_i32_f32, MINUS(ODD_NAN), 0, 0, 0),
    ROW(vunpack_lo_bf16, 0x3f80ffc1, 0, 0, 0xffc10000),
    ROW(vunpack_hi_bf16, 0x7fa0c000, 0, 0, 0x7fa00000),
    ROW(vpack_bf16, 0x3f808000, 0x3f818000, 0, 0x3f823f80), /* ties: down to even, up to even */
    ROW(vpack_bf16, 0x3f808001, MAX, 0, 0x7f803f81),
    ROW(vpack_bf16, 0x7f800001, 0xffffffff, 0, 0xffc07fc0),
    ROW(vpack_bf16, MINUS(0), TINY, 0, 0x00008000),
    ROW(vpack_bf16, 0x00018000, 0x00008000, 0, 0x00000002),
    ROW(vclz_u32, 0, 0, 0, 32),
    ROW(vclz_u32, 1, 0, 0, 31),
    ROW(vclz_u32, 0x80000001, 0, 0, 0),
    ROW(vpopcount_u32, 0, 0, 0, 0),
    ROW(vpopcount_u32, 0xffffffff, 0, 0, 32),
    ROW(vpopcount_u32, 0x80010100, 0, 0, 3),
    ROW(vpack_i16, 0x7fff, 0xffff8000, 0, 0x80007fff),
    ROW(vpack_i16, 0x8000, 0x80000000, 0, 0x80007fff),
    ROW(vpack_i8, 0x0080007f, 0xff7fff80, 0, 0x80807f7f),
    ROW(vpack_i8, 0x00010002, 0xfffffffe, 0, 0xfffe0102),
    ROW(vpack_u8, 0x010000ff, 0xffff0001, 0, 0x0001ffff),
    ROW(vpack_i4, 0x7f80f807, 0x01020304, 0, 0x12347887),
    ROW(vpack_i4, 0xff080709, 0, 0, 0x0000f777),
    ROW(vadd_bf16, 0x3f803f80, 0x3f80bf80, 0, 0x40000000),
    ROW(vadd_bf16, 0x3f803f81, 0x3b803b80, 0, 0x3f803f82), /* + 2^-8: ties */
    ROW(vadd_bf16, 0x7f7f0001, 0x7f7f0001, 0, 0x7f800002),
    ROW(vsub_bf16, 0x7f803f80, 0x7f803f80, 0, 0x7fc00000),
    ROW(vrsub_bf16, 0x3f803f80, 0x40003f80, 0, 0x3f800000),
    ROW(vmul_bf16, 0x3f813f81, 0x3f818000, 0, 0x3f828000),
    ROW(vmul_bf16, 0x00013f80, 0x3f00ff81, 0, 0x00007fc0),
    ROW(vmin_bf16, 0x80003f80, 0x0000ffc1, 0, 0x80007fc0),
    ROW(vmax_bf16, 0x80003f80, 0x0000c000, 0, 0x00003f80),
    ROW(vneg_bf16, 0x7fa00000, 0, 0, 0xffa08000),
    ROW(vabs_bf16, 0xffa08000, 0, 0, 0x7fa00000),
    ROW(vcmp_eq_bf16, 0x80007fc0, 0x00007fc0, 0, 0xffff0000),
    ROW(vcmp_ne_bf16, 0x80007fc0, 0x00007fc0, 0, 0x0000ffff),
    ROW(vcmp_lt_bf16, 0x3f80bf80, 0x4000c000, 0, 0xffff0000),
    ROW(vcmp_le_bf16, 0x3f807fc0, 0x3f80c000, 0, 0xffff0000),
    ROW(vcmp_gt_bf16, 0x3f80bf80, 0x4000c000, 0, 0x0000ffff),
    ROW(vcmp_ge_bf16, 0x3f80bf80, 0x3f80c000, 0, 0xffffffff),
    ROW(vexp_bf16, 0x00003f80, 0, 0, 0x3f80402e),
    ROW(vlog_bf16, 0x3f80bf80, 0, 0, 0x00007fc0),
    ROW(vtanh_bf16, 0x8000ff80, 0, 0, 0x8000bf80),
    ROW(vrsqrt_bf16, 0x40800000, 0, 0, 0x3f007f80),
    ROW(vrcp_bf16, 0x40408000, 0, 0, 0x3eabff80),
    ROW(vsigmoid_bf16, 0x0000ff80, 0, 0, 0x3f000000),
    ROW(vrandom, 0, 0, 0, 0x6b200159), /* the published answer for a counter and a key of zeros */
    ROW(vsin_f32, MINUS(0), 0, 0, MINUS(0)),
    ROW(vsin_f32, TINY, 0, 0, TINY),
    ROW(vsin_f32, INF, 0, 0, QNAN),
    ROW(vsin_f32, MINUS(ODD_NAN), 0, 0, QNAN),
    ROW(vsin_f32, ONE, 0, 0, 0x3f576aa4),
    ROW(vsin_f32, MINUS(ONE), 0, 0, 0xbf576aa4),
    ROW(vcos_f32, MINUS(0), 0, 0, ONE),
    ROW(vcos_f32, MINUS(INF), 0, 0, QNAN),
    ROW(vcos_f32, MINUS(ONE), 0, 0, 0x3f0a5140),
    ROW(mnot, 0xff, 0, 0, 0xffffff00),
    ROW(mand, 0xf0, 0x3c, 0, 0x30),
    ROW(mor, 0xf0, 0x3c, 0, 0xfc),
    ROW(mxor, 0xf0, 0x3c, 0, 0xcc),
    ROW(mmov, 0x1234, 0, 0, 0x1234),
    ROW(mbits, 0x1234, 0, 0, 0x1234),
    ROW(vexp_f32, 0, 0, 0, ONE),
    ROW(vexp_f32, MINUS(0), 0, 0, ONE),
    ROW(vexp_f32, ONE, 0, 0, 0x402df854),
    ROW(vexp_f32, MINUS(INF), 0, 0, 0),
    ROW(vexp_f32, INF, 0, 0, INF),
    ROW(vexp_f32, ODD_NAN, 0, 0, QNAN),
    ROW(vexp_f32, 0x42b17217, 0, 0, 0x7f7fff84), /* 88.72283: the last finite one */
    ROW(vexp_f32, 0x42b17218, 0, 0, INF),
    ROW(vexp_f32, 0xc2cff1b4, 0, 0, 1), /* -103.97208: the last above 0 */
    ROW(vexp_f32, 0xc2cff1b5, 0, 0, 0),
    ROW(vlog_f32, ONE, 0, 0, 0),
    ROW(vlog_f32, 0, 0, 0, MINUS(INF)),
    ROW(vlog_f32, MINUS(0), 0, 0, MINUS(INF)),
    ROW(vlog_f32, MINUS(TINY), 0, 0, QNAN),
    ROW(vlog_f32, TINY, 0, 0, 0xc2ce8ed0),
    ROW(vlog_f32, INF, 0, 0, INF),
    ROW(vlog_f32, MINUS(INF), 0, 0, QNAN),
    ROW(vlog_f32, 0x402df854, 0, 0, 0x3f7fffff), /* 2.7182817 < e */
    ROW(vsqrt_f32, 0x40800000, 0, 0, 0x40000000),
    ROW(vsqrt_f32, TINY, 0, 0, 0x1a3504f3),
    ROW(vsqrt_f32, MINUS(0), 0, 0, MINUS(0)),
    ROW(vsqrt_f32, MINUS(ONE), 0, 0, QNAN),
    ROW(vsqrt_f32, INF, 0, 0, INF),
    ROW(vrsqrt_f32, 0x40800000, 0, 0, 0x3f000000),
    ROW(vrsqrt_f32, 0, 0, 0, INF),
    ROW(vrsqrt_f32, MINUS(0), 0, 0, MINUS(INF)),
    ROW(vrsqrt_f32, INF, 0, 0, 0),
    ROW(vrsqrt_f32, MINUS(TINY), 0, 0, QNAN),
    ROW(vrcp_f32, 0x40800000, 0, 0, 0x3e800000),
    ROW(vrcp_f32, MINUS(0), 0, 0, MINUS(INF)),
    ROW(vrcp_f32, MAX, 0, 0, 0x00200000),
    ROW(vrcp_f32, MINUS(INF), 0, 0, MINUS(0)),
    ROW(vrcp_f32, MINUS(ODD_NAN), 0, 0, QNAN),
    ROW(vtanh_f32, 0, 0, 0, 0),
    ROW(vtanh_f32, MINUS(0), 0, 0, MINUS(0)),
    ROW(vtanh_f32, MINUS(TINY), 0, 0, MINUS(TINY)),
    ROW(vtanh_f32, MINUS(INF), 0, 0, MINUS(ONE)),
    ROW(vtanh_f32, ONE, 0, 0, 0x3f42f7d6),
    ROW(vtanh_f32, ODD_NAN, 0, 0, QNAN),
    ROW(vsigmoid_f32, 0, 0, 0, 0x3f000000),
    ROW(vsigmoid_f32, MINUS(INF), 0, 0, 0),
    ROW(vsigmoid_f32, INF, 0, 0, ONE),
    ROW(vsigmoid_f32, ODD_NAN, 0, 0, QNAN),
};

static void fill(uint32_t *vreg, uint32_t word) {
    for (int i = 0; i < TS_VREG_WORDS; i++) vreg[i] = word;
}

TEST(gives_the_stated_bits_in_every_word) {
    static uint32_t a[TS_VREG_WORDS], b[TS_VREG_WORDS], c[TS_VREG_WORDS], d[TS_VREG_WORDS];
    int wrong = 0;
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        for (int t = 0; t < table_count; t++) {
            fill(a, rows[r].a), fill(b, rows[r].b), fill(c, rows[r].c), fill(d, 0x55555555);
            tables[t][rows[r].op](d, a, b, c, 0);
            for (int i = 0; i < TS_VREG_WORDS; i++) {
                if (d[i] == rows[r].d) continue;
                printf("%s %08x %08x %08x: %08x, expected %08x (word %d, table %d)\n",
                       ts_opcode_get(rows[r].op)->mnemonic, rows[r].a, rows[r].b, rows[r].c, d[i], rows[r].d,
                       i, t);
                wrong++;
                break;
            }
        }
    }
    assert_int_equal(wrong, 0);
}

/* ---- All tables give the same bits, in place too ---- */

static uint32_t next_random(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 32);
}

TEST(tables_agree) {
    static uint32_t in[3][TS_VREG_WORDS], want[TS_VREG_WORDS], got[TS_VREG_WORDS];
    uint64_t seed = 20240607;
    for (int round = 0, most = rounds(200, 50); round < most; round++) {
        for (int i = 0; i < 3 * TS_VREG_WORDS; i++) {
            uint32_t special =
                (uint32_t[]){0, INF, QNAN, TINY, MAX, ODD_NAN, ONE, 32}[next_random(&seed) % 8];
            uint32_t word = next_random(&seed);
            (&in[0][0])[i] = next_random(&seed) % 8 == 0 ? special | (word & 0x80000000u) : word;
        }
        int32_t n = (int32_t)next_random(&seed) % 200;
        for (int op = 0; op < TS_OP_COUNT; op++) {
            if (!ts_vector_base[op]) continue;
            memset(want, 0, sizeof(want));
            ts_vector_base[op](want, in[0], in[1], in[2], n);
            for (int t = 1; t < table_count; t++) {
                memset(got, 0, sizeof(got));
                tables[t][op](got, in[0], in[1], in[2], n);
                if (memcmp(want, got, sizeof(want)) != 0)
                    fail_msg("%s", ts_opcode_get((ts_opcode)op)->mnemonic);
            }
            if (op == TS_OP_v2s) continue;
            for (int t = 0; t < table_count; t++) { /* the destination may be a source */
                memcpy(got, in[0], sizeof(got));
                tables[t][op](got, got, in[1], in[2], n);
                if (memcmp(want, got, sizeof(want)) != 0)
                    fail_msg("%s", ts_opcode_get((ts_opcode)op)->mnemonic);
            }
        }
    }
}

/* ---- Across lanes and sublanes, against the words one by one ---- */

static void by_place(uint32_t *vreg) {
    for (int i = 0; i < TS_VREG_WORDS; i++) vreg[i] = (uint32_t)(i / TS_LANES * 1000 + i % TS_LANES);
}

typedef struct {
    ts_opcode op;
    int32_t n;
    int sublane, lane;
    uint32_t word;
} location_row;

static const location_row places[] = {
    {TS_OP_viota_lane, 0, 3, 17, 17},
    {TS_OP_viota_sublane, 0, 3, 17, 3},
    {TS_OP_mlanes, 5, 7, 4, ~0u},
    {TS_OP_mlanes, 5, 7, 5, 0},
    {TS_OP_mlanes, 0, 0, 0, 0},
    {TS_OP_mlanes, -1, 0, 0, 0},
    {TS_OP_mlanes, 128, 0, 127, ~0u},
    {TS_OP_mlanes, 1000, 0, 127, ~0u},
    {TS_OP_msubs, 3, 2, 127, ~0u},
    {TS_OP_msubs, 3, 3, 0, 0},
    {TS_OP_mall, 0, 7, 127, ~0u},
    {TS_OP_mnone, 0, 7, 127, 0},
    {TS_OP_vrot_lane, 1, 2, 0, 2127},
    {TS_OP_vrot_lane, 1, 2, 1, 2000},
    {TS_OP_vrot_lane, -1, 2, 127, 2000},
    {TS_OP_vrot_lane, 128, 2, 5, 2005},
    {TS_OP_vrot_lane, 127, 2, 5, 2006},
    {TS_OP_vrot_sublane, 1, 0, 9, 7009},
    {TS_OP_vrot_sublane, 1, 1, 9, 9},
    {TS_OP_vrot_sublane, -3, 7, 9, 2009},
    {TS_OP_vrot_sublane, 8, 7, 9, 7009},
    {TS_OP_vgather_sublane, 0, 3, 11,
     11 % 8 * 1000 + 11}, /* word (i, j) of the second source is 1000 i + j */
    {TS_OP_vgather_lane, 0, 3, 11, 3000 + 3011 % 128},
    {TS_OP_vunpack_u8, 0, 7, 127, 7127 & 255},
    {TS_OP_vunpack_u8, 5, 7, 127, 7127 >> 8},
    {TS_OP_vunpack_i8, 0, 7, 127, (uint32_t)(7127 % 256 - 256)},
    {TS_OP_vunpack_i8, 2, 7, 127, 0},
    {TS_OP_vunpack_u16, 0, 7, 127, 7127},
    {TS_OP_vunpack_i16, 2, 7, 127, 7127},
    {TS_OP_vunpack_i16, 3, 7, 127, 0},
    {TS_OP_vunpack_u4, 1, 7, 127, 13},
    {TS_OP_vunpack_i4, 9, 7, 127, (uint32_t)-3},
    {TS_OP_vunpack_i4, -5, 7, 127, 1},
    {TS_OP_vbcast_lane, 100, 4, 3, 4100},
    {TS_OP_vbcast_lane, 128, 4, 3, 4000},
    {TS_OP_vbcast_sublane, 6, 1, 3, 6003},
    {TS_OP_vbcast_sublane, -1, 1, 3, 7003},
    {TS_OP_vsum_lane_i32, 0, 1, 60, 128 * 1000 + 127 * 64},
    {TS_OP_vmax_lane_i32, 0, 1, 60, 1127},
    {TS_OP_vmin_lane_i32, 0, 1, 60, 1000},
    {TS_OP_vsum_sublane_i32, 0, 5, 60, 28000 + 8 * 60},
    {TS_OP_vmax_sublane_i32, 0, 5, 60, 7060},
    {TS_OP_vmin_sublane_i32, 0, 5, 60, 60},
};

TEST(moves_words_to_their_places) {
    static uint32_t a[TS_VREG_WORDS], d[TS_VREG_WORDS];
    by_place(a);
    for (size_t r = 0; r < sizeof(places) / sizeof(places[0]); r++) {
        for (int t = 0; t < table_count; t++) {
            tables[t][places[r].op](d, a, a, a, places[r].n);
            uint32_t word = d[places[r].sublane * TS_LANES + places[r].lane];
            if (word == places[r].word) continue;
            fail_msg("%s %d, sublane %d, lane %d: %u, expected %u", ts_opcode_get(places[r].op)->mnemonic,
                     places[r].n, places[r].sublane, places[r].lane, word, places[r].word);
        }
    }
}

/* Row r of 16 has r * 128 + lane in the high half of its words, which is bf16. */
TEST(packs_the_rows_of_two) {
    static uint32_t two[2 * TS_VREG_WORDS], d[TS_VREG_WORDS];
    for (int t = 0; t < table_count; t++) {
        for (int i = 0; i < 2 * TS_VREG_WORDS; i++) two[i] = (uint32_t)i << 16;
        tables[t][TS_OP_vpack_rows_bf16](d, two, two + TS_VREG_WORDS, NULL, 0);
        tables[t][TS_OP_vpack_rows_bf16](two, two, two + TS_VREG_WORDS, NULL, 0); /* in place */
        assert_memory_equal(two, d, sizeof d);
        for (int r = 0; r < 2 * TS_SUBLANES; r++)
            for (int lane = 0; lane < TS_LANES; lane++)
                assert_int_equal(d[r / 2 * TS_LANES + lane] >> (r % 2 * 16) & 0xffff, r * TS_LANES + lane);
    }
}

/* Row r of a lane has the byte r * 5 + lane, modulo 256, in the values of `bits` of its words. */
static uint32_t field_of(int line, int lane, int bits) {
    return (uint32_t)(line * 5 + lane) & (uint32_t)((UINT64_C(1) << bits) - 1);
}

/* Fields of twice the size from two vregs, as the masks are packed too. */
TEST(packs_rows_of_fields) {
    static uint32_t two[2 * TS_VREG_WORDS], d[TS_VREG_WORDS];
    static const struct {
        ts_opcode op;
        int bits;
    } cases[] = {{TS_OP_vpack_rows_b16, 16},
                 {TS_OP_vpack_rows_b8, 8},
                 {TS_OP_vpack_rows_b4, 4},
                 {TS_OP_mpack_rows_b16, 16}};
    for (int n = 0; n < table_count * 4; n++) {
        int bits = cases[n % 4].bits, per_word = 16 / bits;
        memset(two, 0xa5, sizeof two); /* what is above a field does not count */
        for (int r = 0; r < 2 * TS_SUBLANES * per_word; r++) {
            for (int lane = 0; lane < TS_LANES; lane++) {
                uint32_t *word = &two[r / per_word * TS_LANES + lane], mask = (1u << bits) - 1;
                int up = r % per_word * 2 * bits;
                *word = (*word & ~(mask << up)) | field_of(r, lane, bits) << up;
            }
        }
        tables[n / 4][cases[n % 4].op](d, two, two + TS_VREG_WORDS, NULL, 0);
        tables[n / 4][cases[n % 4].op](two, two, two + TS_VREG_WORDS, NULL, 0); /* in place */
        assert_memory_equal(two, d, sizeof d);
        for (int r = 0; r < 2 * TS_SUBLANES * per_word; r++) {
            for (int lane = 0; lane < TS_LANES; lane++) {
                uint32_t word = d[r / (2 * per_word) * TS_LANES + lane] >> (r % (2 * per_word) * bits);
                assert_int_equal(word & ((1u << bits) - 1), field_of(r, lane, bits));
            }
        }
    }
}

TEST(unpacks_rows_of_fields) {
    static uint32_t a[TS_VREG_WORDS], d[TS_VREG_WORDS];
    static const struct {
        ts_opcode op;
        int bits, up;
        bool sign;
    } cases[] = {{TS_OP_vunpack_rows_bf16, 16, 16, false}, {TS_OP_vunpack_rows_i16, 16, 0, true},
                 {TS_OP_vunpack_rows_u16, 16, 0, false},   {TS_OP_vunpack_rows_i8, 8, 0, true},
                 {TS_OP_vunpack_rows_u8, 8, 0, false},     {TS_OP_vunpack_rows_i4, 4, 0, true},
                 {TS_OP_vunpack_rows_u4, 4, 0, false}};
    uint64_t seed = 11;
    for (int i = 0; i < TS_VREG_WORDS; i++) a[i] = (uint32_t)next_random(&seed);
    for (int n = 0; n < table_count * 7; n++) {
        int bits = cases[n % 7].bits, per_word = 32 / bits;
        for (int part = -1; part <= per_word; part++) {
            tables[n / 7][cases[n % 7].op](d, a, NULL, NULL, part);
            for (int i = 0; i < TS_VREG_WORDS; i++) {
                int line = (part + per_word) % per_word * TS_SUBLANES + i / TS_LANES;
                int64_t field = a[line / per_word * TS_LANES + i % TS_LANES] >> (line % per_word * bits) &
                                ((1u << bits) - 1);
                if (cases[n % 7].sign && field >> (bits - 1)) field -= INT64_C(1) << bits;
                assert_int_equal(d[i], (uint32_t)((uint64_t)field << cases[n % 7].up));
            }
        }
    }
}

/* The sums in the stated order, written out: pairs half the width apart. */
static float halve(const float *values, int count) {
    float part[TS_LANES];
    if (count == 1) return values[0];
    for (int i = 0; i < count / 2; i++) part[i] = values[i] + values[i + count / 2];
    return halve(part, count / 2);
}

TEST(adds_in_the_stated_order) {
    static uint32_t a[TS_VREG_WORDS], d[TS_VREG_WORDS];
    static float values[TS_VREG_WORDS];
    uint64_t seed = 7;
    for (int i = 0; i < TS_VREG_WORDS; i++) {
        values[i] = (float)(int32_t)next_random(&seed) * 1e-5f;
        a[i] = ts_f32_bits(values[i]);
    }
    for (int t = 0; t < table_count; t++) {
        tables[t][TS_OP_vsum_lane_f32](d, a, a, a, 0);
        for (int i = 0; i < TS_VREG_WORDS; i++)
            assert_int_equal(d[i], ts_f32_bits(halve(values + i / TS_LANES * TS_LANES, TS_LANES)));
        tables[t][TS_OP_vsum_sublane_f32](d, a, a, a, 0);
        for (int i = 0; i < TS_VREG_WORDS; i++) {
            float column[TS_SUBLANES];
            for (int s = 0; s < TS_SUBLANES; s++) column[s] = values[s * TS_LANES + i % TS_LANES];
            assert_int_equal(d[i], ts_f32_bits(halve(column, TS_SUBLANES)));
        }
    }
}

TEST(f32_reductions_pass_nan_and_order_zeros) {
    static uint32_t a[TS_VREG_WORDS], d[TS_VREG_WORDS];
    fill(a, 0);
    a[77] = MINUS(0);
    a[TS_LANES + 3] = MINUS(ODD_NAN);
    for (int t = 0; t < table_count; t++) {
        tables[t][TS_OP_vmin_lane_f32](d, a, a, a, 0);
        assert_int_equal(d[0], MINUS(0));
        assert_int_equal(d[TS_LANES], QNAN);
        tables[t][TS_OP_vmax_lane_f32](d, a, a, a, 0);
        assert_int_equal(d[0], 0);
        tables[t][TS_OP_vmax_sublane_f32](d, a, a, a, 0);
        assert_int_equal(d[5 * TS_LANES + 3], QNAN);
        assert_int_equal(d[77], 0);
        tables[t][TS_OP_vmin_sublane_f32](d, a, a, a, 0);
        assert_int_equal(d[77], MINUS(0));
    }
}

/* The bf16 nearest to an exact sum or product, ties to even, among the neighbours of its truncation. */
static uint16_t nearest_bf16(double exact) {
    uint32_t base = ts_f32_bits((float)exact) >> 16 & 0x7fff;
    double size = exact < 0 ? -exact : exact, least = 1e300;
    uint32_t best = 0;
    for (uint32_t c = base > 0 ? base - 1 : 0; c <= base + 1; c++) {
        double apart = size - (double)ts_f32_from_bits((uint32_t)c << 16);
        apart = apart < 0 ? -apart : apart;
        if (apart < least || (apart == least && c % 2 == 0)) least = apart, best = c;
    }
    return (uint16_t)(best | (exact < 0 ? 0x8000 : 0));
}

TEST(bf16_sums_and_products_are_rounded_once) {
    static uint32_t a[TS_VREG_WORDS], b[TS_VREG_WORDS], sum[TS_VREG_WORDS], product[TS_VREG_WORDS];
    uint64_t seed = 3;
    for (int round = 0; round < 200; round++) {
        for (int i = 0; i < TS_VREG_WORDS; i++) { /* exponents near 0, so that double is exact */
            a[i] = (next_random(&seed) & 0x87ff87ffu) | 0x38003800u;
            b[i] = (next_random(&seed) & 0x87ff87ffu) | 0x38003800u;
        }
        ts_vector_select()[TS_OP_vadd_bf16](sum, a, b, b, 0);
        ts_vector_select()[TS_OP_vmul_bf16](product, a, b, b, 0);
        for (int i = 0; i < 2 * TS_VREG_WORDS; i++) {
            int up = i % 2 * 16;
            double x = (double)ts_f32_from_bits(a[i / 2] >> up << 16);
            double y = (double)ts_f32_from_bits(b[i / 2] >> up << 16);
            if (x + y != 0) assert_int_equal(sum[i / 2] >> up & 0xffff, nearest_bf16(x + y));
            assert_int_equal(product[i / 2] >> up & 0xffff, nearest_bf16(x * y));
        }
    }
}

/* Every bf16 through the EUP: what the f32 function gives, rounded by the base library. */
TEST(bf16_functions_round_the_f32_result) {
    static const ts_opcode pairs[][2] = {
        {TS_OP_vexp_bf16, TS_OP_vexp_f32},     {TS_OP_vlog_bf16, TS_OP_vlog_f32},
        {TS_OP_vtanh_bf16, TS_OP_vtanh_f32},   {TS_OP_vrcp_bf16, TS_OP_vrcp_f32},
        {TS_OP_vrsqrt_bf16, TS_OP_vrsqrt_f32}, {TS_OP_vsigmoid_bf16, TS_OP_vsigmoid_f32}};
    static uint32_t packed[TS_VREG_WORDS], wide[TS_VREG_WORDS], got[TS_VREG_WORDS], want[TS_VREG_WORDS];
    for (size_t p = 0; p < sizeof(pairs) / sizeof(pairs[0]); p++) {
        for (uint32_t first = 0; first < 65536; first += TS_VREG_WORDS) {
            for (uint32_t i = 0; i < TS_VREG_WORDS; i++) packed[i] = (first + i) | (first + i) << 16;
            for (uint32_t i = 0; i < TS_VREG_WORDS; i++) wide[i] = (first + i) << 16;
            ts_vector_select()[pairs[p][0]](got, packed, packed, packed, 0);
            ts_vector_select()[pairs[p][1]](want, wide, wide, wide, 0);
            for (int i = 0; i < TS_VREG_WORDS; i++)
                assert_int_equal(got[i], ts_bf16_from_f32(ts_f32_from_bits(want[i])) * 0x10001u);
        }
    }
}

/* Threefry as the paper writes it, with all four words, checked on the published answers. */
static void threefry_reference(const uint32_t counter[2], const uint32_t key[2], uint32_t out[2]) {
    const uint32_t k[3] = {key[0], key[1], 0x1bd11bda ^ key[0] ^ key[1]};
    const int turns[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
    uint32_t x0 = counter[0] + k[0], x1 = counter[1] + k[1];
    for (uint32_t d = 0; d < 5; d++) {
        for (int j = 0; j < 4; j++) {
            x0 += x1;
            x1 = x1 << turns[d % 2][j] | x1 >> (32 - turns[d % 2][j]);
            x1 ^= x0;
        }
        x0 += k[(d + 1) % 3];
        x1 += k[(d + 2) % 3] + d + 1;
    }
    out[0] = x0, out[1] = x1;
}

TEST(random_bits_are_threefry) {
    static uint32_t counters[TS_VREG_WORDS], d[TS_VREG_WORDS];
    uint32_t out[2];
    threefry_reference((uint32_t[]){~0u, ~0u}, (uint32_t[]){~0u, ~0u}, out);
    assert_int_equal(out[0], 0x1cb996fc);
    assert_int_equal(out[1], 0xbb002be7);
    threefry_reference((uint32_t[]){0x243f6a88, 0x85a308d3}, (uint32_t[]){0x13198a2e, 0x03707344}, out);
    assert_int_equal(out[0], 0xc4923a9c);
    assert_int_equal(out[1], 0x483df7a0);
    for (uint32_t i = 0; i < TS_VREG_WORDS; i++) counters[i] = i * 0x9e3779b9u;
    ts_vector_select()[TS_OP_vrandom](d, counters, counters, counters, -12345);
    for (int i = 0; i < TS_VREG_WORDS; i++) {
        threefry_reference((uint32_t[]){counters[i], 0}, (uint32_t[]){(uint32_t)-12345, 0}, out);
        assert_int_equal(d[i], out[0]);
    }
}

int main(void) { return run_all_tests(find_tables, NULL); }
