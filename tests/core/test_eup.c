/* The transcendental functions against long double libm, and against neighbours: accuracy, and what is exact.
 */
#include <math.h>
#include <string.h>

#include "core/vector.h"
#include "base/number.h"
#include "tests/support/cmocka.h"
#include "tests/support/rounds.h"

typedef long double wide;
static wide rsqrt_wide(wide x) { return 1 / sqrtl(x); }
static wide rcp_wide(wide x) { return 1 / x; }
static wide sigmoid_wide(wide x) { return 1 / (1 + expl(-x)); }

static const struct {
    ts_opcode op;
    wide (*reference)(wide);
    int bound, subnormal_bound; /* thousandths of an ulp */
} functions[] = {
    {TS_OP_vexp_f32, expl, 700, 800},
    {TS_OP_vlog_f32, logl, 501, 501},
    {TS_OP_vsqrt_f32, sqrtl, 501, 501},
    {TS_OP_vrsqrt_f32, rsqrt_wide, 501, 501},
    {TS_OP_vrcp_f32, rcp_wide, 501, 501},
    {TS_OP_vtanh_f32, tanhl, 501, 501},
    {TS_OP_vsigmoid_f32, sigmoid_wide, 501, 501},
    {TS_OP_vsin_f32, sinl, 501, 501},
    {TS_OP_vcos_f32, cosl, 501, 501},
};

/* The error in units of the last place of the nearest f32; 0 or huge where that is not finite or is 0. */
static wide error_ulps(wide exact, uint32_t bits) {
    float got = ts_f32_from_bits(bits), nearest = (float)exact;
    if (isnan(exact)) return bits == 0x7fc00000 ? 0 : 1e9L;
    if (!isfinite(nearest) || !isfinite(got) || nearest == 0 || got == 0)
        return ts_f32_bits(nearest) == bits ? 0 : 1e9L;
    float size = fabsf(nearest), above = nextafterf(size, INFINITY);
    wide ulp = isfinite(above) ? (wide)above - (wide)size : (wide)size - (wide)nextafterf(size, 0);
    return fabsl(exact - (wide)got) / ulp;
}

/* Every 4099th bit pattern, which meets every exponent and sign. (4099 is prime.) */
TEST(is_within_the_stated_error) {
    static uint32_t in[TS_VREG_WORDS], out[TS_VREG_WORDS];
    const int step = TS_VREG_WORDS * 4099 * cases(1, 8); /* ASan sees the same at an eighth of them */
    for (size_t f = 0; f < sizeof(functions) / sizeof(functions[0]); f++) {
        const char *mnemonic = ts_opcode_get(functions[f].op)->mnemonic;
        for (uint64_t first = 0; first < 1ull << 32; first += (uint64_t)step) {
            for (int i = 0; i < TS_VREG_WORDS; i++) in[i] = (uint32_t)(first + (uint64_t)i * 4099);
            ts_vector_select()[functions[f].op](out, in, in, in, 0);
            for (int i = 0; i < TS_VREG_WORDS; i++) {
                wide error = error_ulps(functions[f].reference((wide)ts_f32_from_bits(in[i])), out[i]);
                bool subnormal = (out[i] & 0x7fffffff) < 0x00800000;
                int bound = subnormal ? functions[f].subnormal_bound : functions[f].bound;
                if (error > (wide)bound / 1000)
                    fail_msg("%s: %.3f ulp at %08x", mnemonic, (double)error, in[i]);
            }
        }
    }
}

/* Near 0, and beside a number for which e^x is infinite; the largest errors of all f32 are among these. */
TEST(exp_is_the_same_in_any_company) {
    static uint32_t in[TS_VREG_WORDS], alone[TS_VREG_WORDS], beside[TS_VREG_WORDS];
    static const uint32_t worst[] = {0xc0a56fca, 0xc0a58069, 0x427003c4, 0xc1d537c4};
    uint64_t seed = 7;
    for (int round = 0; round < 2000; round++) {
        for (int i = 1; i < TS_VREG_WORDS; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            in[i] = (uint32_t)(seed >> 33) % 0x42ae0001u | (uint32_t)(seed >> 32 & 0x80000000u);
        }
        memcpy(in + 1, worst, sizeof(worst));
        uint32_t edge = 0x42ae0000 | (uint32_t)round << 31; /* 87 */
        in[0] = edge;
        ts_vector_base[TS_OP_vexp_f32](alone, in, in, in, 0);
        in[0] = 0x7f800000;
        ts_vector_select()[TS_OP_vexp_f32](beside, in, in, in, 0);
        assert_memory_equal(alone + 1, beside + 1, sizeof(alone) - sizeof(alone[0]));
        in[0] = edge;
        for (int i = 0; i < TS_VREG_WORDS; i++) {
            wide error = error_ulps(expl((wide)ts_f32_from_bits(in[i])), alone[i]);
            if (error > 0.7L) fail_msg("%.3f ulp at %08x", (double)error, in[i]);
        }
    }
}

/* Two binades hold every mantissa with even and with odd exponent; all others are these times a power of 4.
 */
TEST(square_root_is_correctly_rounded_for_every_mantissa) {
    static uint32_t in[TS_VREG_WORDS], out[TS_VREG_WORDS];
    for (uint32_t first = 0x3f800000; first < 0x40800000; first += TS_VREG_WORDS) {
        for (int i = 0; i < TS_VREG_WORDS; i++) in[i] = first + (uint32_t)i;
        ts_vector_select()[TS_OP_vsqrt_f32](out, in, in, in, 0);
        for (int i = 0; i < TS_VREG_WORDS; i++) {
            uint32_t want = ts_f32_bits(sqrtf(ts_f32_from_bits(in[i])));
            if (out[i] != want) fail_msg("sqrt of %08x: %08x, expected %08x", in[i], out[i], want);
        }
    }
}
