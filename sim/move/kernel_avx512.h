/* What the kernels with lines of 64 bytes share: what they are compiled for, the network of a tile, and parts
 * of lines. */
#ifndef TILESIM_MOVE_KERNEL_AVX512_H
#define TILESIM_MOVE_KERNEL_AVX512_H

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,bmi2,prfchw")))
#include "kernel_inline.h"

typedef __m512i wide;

/* Of the bytes of two lines. */
#define EIGHT(n)      n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7
#define THIRTY_TWO(n) EIGHT(n), EIGHT(n + 8), EIGHT(n + 16), EIGHT(n + 24)
static const uint8_t numbers[2 * TS_LINE_BYTES] = {THIRTY_TWO(0), THIRTY_TWO(32), THIRTY_TWO(64),
                                                   THIRTY_TWO(96)};
#undef THIRTY_TWO
#undef EIGHT

/* Which of the 2^n units of the pair (a, b) comes to unit p of the half, when granules of 2^g units take
 * turns: of p's bits, bit g chooses a or b, those above it move down by one, and the half is the highest. */
#define INDEX(n, g, half, p)                                                                                 \
    (((p) & ((1 << (g)) - 1)) | (p) >> ((g) + 1) << (g) | (half) << ((n)-1) | ((p) >> (g)&1) << (n)),
#define INDEX_4(n, g, half, p)                                                                               \
    INDEX(n, g, half, p) INDEX(n, g, half, p + 1) INDEX(n, g, half, p + 2) INDEX(n, g, half, p + 3)
#define INDEX_16(n, g, half, p)                                                                              \
    INDEX_4(n, g, half, p)                                                                                   \
    INDEX_4(n, g, half, p + 4) INDEX_4(n, g, half, p + 8) INDEX_4(n, g, half, p + 12)
#define INDEX_32(n, g, half, p) INDEX_16(n, g, half, p) INDEX_16(n, g, half, p + 16)
#define BYTES(g)                                                                                             \
    { {INDEX_32(6, g, 0, 0) INDEX_32(6, g, 0, 32)}, {INDEX_32(6, g, 1, 0) INDEX_32(6, g, 1, 32)}, }
static const uint8_t unpack_bytes[6][2][64] = {BYTES(0), BYTES(1), BYTES(2), BYTES(3), BYTES(4), BYTES(5)};

/* The network of a tile, of units of 2^unit_log2 bytes: the longer these, the faster it is. */
typedef struct {
    int unit_log2; /* 0, 1, 2 */
    wide index[TS_TILE_STAGES][2];
} unpacks;

/* Arranges what a permute of two lines takes, and what it makes; NULL: neither. */
INLINE wide arrange_index(wide index, const uint8_t *order, const uint8_t *pack) {
    const wide line = _mm512_set1_epi8(TS_LINE_BYTES);
    if (order)
        index = _mm512_ternarylogic_epi32(index, line,
                                          _mm512_permutexvar_epi8(index, _mm512_loadu_si512(order)), 0xea);
    return pack ? _mm512_permutexvar_epi8(_mm512_loadu_si512(pack), index) : index;
}

/* The first stage arranges lines as it takes them, the last as they leave. */
INLINE void set_unpacks(const ts_tile *tile, int stages, bool packs, unpacks *u) {
    int granules = tile->granules,
        unit = tile->orders || packs ? tile->unit_log2 : __builtin_ctz((unsigned)granules | 4);
    u->unit_log2 = unit > 2 ? 2 : unit;
    for (int j = 0; j < stages; j++, granules &= granules - 1) {
        int g = __builtin_ctz((unsigned)granules);
        for (int half = 0; half < 2; half++) {
            wide bytes = arrange_index(_mm512_loadu_si512(unpack_bytes[g][half]),
                                       tile->orders && j == 0 ? tile->order : NULL,
                                       packs && j == stages - 1 ? tile->pack : NULL);
            u->index[j][half] = u->unit_log2 == 0   ? bytes
                                : u->unit_log2 == 1 ? _mm512_srli_epi16(bytes, 1)
                                                    : _mm512_srli_epi32(bytes, 2);
        }
    }
}

#define STAGES(permute)                                                                                      \
    do {                                                                                                     \
        UNROLL for (int j = 0; j < stages; j++) {                                                            \
            UNROLL for (int i = 0; i < lines; i++) {                                                         \
                if (i >> j & 1) continue;                                                                    \
                wide a = v[i], b = v[i | 1 << j];                                                            \
                v[i] = permute(a, u->index[first + j][0], b);                                                \
                v[i | 1 << j] = permute(a, u->index[first + j][1], b);                                       \
            }                                                                                                \
        }                                                                                                    \
    } while (0)

/* Stages of a number of lines that is a multiple of 2^stages. */
INLINE void network(int first, int stages, int lines, const unpacks *u, wide *v) {
    if (u->unit_log2 == 0)
        STAGES(_mm512_permutex2var_epi8);
    else if (u->unit_log2 == 1)
        STAGES(_mm512_permutex2var_epi16);
    else
        STAGES(_mm512_permutex2var_epi32);
}

INLINE void arrange_all(const uint8_t *order, int lines, wide *v) {
    wide from = _mm512_loadu_si512(order);
    UNROLL for (int i = 0; i < lines; i++) v[i] = _mm512_permutexvar_epi8(from, v[i]);
}

/* ---- Conversions: ts_element_convert's, to nearest, ties to even, and a NaN keeps its sign only ---- */

INLINE bool has_nan(wide a, wide b) {
    return _mm512_cmp_ps_mask(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), _CMP_UNORD_Q) != 0;
}

INLINE wide plain_nan(wide bits, wide otherwise) {
    __mmask16 nan = _mm512_cmp_ps_mask(_mm512_castsi512_ps(bits), _mm512_castsi512_ps(bits), _CMP_UNORD_Q);
    wide sign = _mm512_set1_epi32(INT32_MIN), quiet = _mm512_set1_epi32(0x7fc00000);
    return _mm512_mask_or_epi32(otherwise, nan, _mm512_and_epi32(bits, sign), quiet);
}

INLINE wide round_number(wide bits) {
    __mmask16 odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x10000));
    wide sum = _mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff));
    return _mm512_mask_add_epi32(sum, odd, bits, _mm512_set1_epi32(0x8000));
}

/* Those of b between those of a. */
INLINE wide round_pairs(wide a, wide b) {
    wide low = round_number(a), high = round_number(b);
    if (__builtin_expect(has_nan(a, b), 0)) {
        low = plain_nan(a, low);
        high = plain_nan(b, high);
    }
    return _mm512_mask_blend_epi16(0xaaaaaaaa, _mm512_srli_epi32(low, 16), high);
}

static const uint16_t odd_halves[32] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31,
                                        33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63};

INLINE wide round_bf16(wide a, wide b) {
    wide low = round_number(a), high = round_number(b);
    if (__builtin_expect(has_nan(a, b), 0)) {
        low = plain_nan(a, low);
        high = plain_nan(b, high);
    }
    return _mm512_permutex2var_epi16(low, _mm512_loadu_si512(odd_halves), high);
}

INLINE wide load(ts_load how, const uint8_t *p) {
    if (how == TS_LOAD_BF16_FROM_F32) return round_bf16(_mm512_loadu_si512(p), _mm512_loadu_si512(p + 64));
    if (how == TS_LOAD_F32_FROM_BF16) {
        wide bits = _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p)), 16);
        return __builtin_expect(has_nan(bits, bits), 0) ? plain_nan(bits, bits) : bits;
    }
    return _mm512_loadu_si512(p);
}

/* ---- Parts of lines ---- */

/* Lanes are put in order as they are loaded, where no shuffle is needed. */
INLINE wide load_squares(int across, const uint8_t *const *row, int64_t at) {
    if (across == 4) return _mm512_loadu_si512(row[0] + at);
    if (across == 2) {
        wide both = _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(row[0] + at)));
        return _mm512_mask_broadcast_i64x4(both, 0xf0, _mm256_loadu_si256((const __m256i *)(row[1] + at)));
    }
    wide v = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(row[0] + at)));
    v = _mm512_mask_broadcast_i32x4(v, 0xf0, _mm_loadu_si128((const __m128i *)(row[1] + at)));
    v = _mm512_mask_broadcast_i32x4(v, 0xf00, _mm_loadu_si128((const __m128i *)(row[2] + at)));
    return _mm512_mask_broadcast_i32x4(v, 0xf000, _mm_loadu_si128((const __m128i *)(row[3] + at)));
}

/* The first so many bytes. */
INLINE uint64_t first_bytes(int64_t n) { return n >= TS_LINE_BYTES ? UINT64_MAX : (UINT64_C(1) << n) - 1; }

/* Of a line of memory that has others beside them, the bytes from `first` to before `end`. */
INLINE void store_bytes(uint8_t *line, int64_t first, int64_t end, wide v) {
    _mm512_mask_storeu_epi8(line, first_bytes(end) & UINT64_MAX << first, v);
}

INLINE void store_whole(const uint64_t *mask, uint8_t *p, wide v) {
    if (mask)
        _mm512_mask_storeu_epi8(p, *mask, v);
    else
        _mm512_storeu_si512(p, v);
}

INLINE void store_half(const uint64_t *mask, uint8_t *p, __m256i v) {
    if (mask)
        _mm256_mask_storeu_epi8(p, (__mmask32)*mask, v);
    else
        _mm256_storeu_si256((__m256i *)p, v);
}

INLINE void store_lane(const uint64_t *mask, uint8_t *p, __m128i v) {
    if (mask)
        _mm_mask_storeu_epi8(p, (__mmask16)*mask, v);
    else
        _mm_storeu_si128((__m128i *)p, v);
}

#endif
