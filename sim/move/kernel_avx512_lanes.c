/* The permute of blocks whose runs lie apart, for hosts with AVX-512 and its byte permutes. */
#include "kernel.h"

#ifdef TS_KERNELS_X86
#if !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#pragma GCC optimize("O3", "no-tree-loop-distribute-patterns")
#endif
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")))
#include "kernel_inline.h"
typedef __m512i wide;

enum { PAIRS = (TS_LANE_VECTORS + 1) / 2 };

/* How each vector is made of every two of the source. */
typedef struct {
    wide index[TS_LANE_VECTORS];
    __mmask64 mine[TS_LANE_VECTORS][PAIRS];
} plan;

INLINE __mmask64 find_pair(const uint16_t *from, int pair) {
    const wide low = _mm512_srli_epi16(_mm512_loadu_si512(from), 7),
               high = _mm512_srli_epi16(_mm512_loadu_si512(from + 32), 7),
               all = _mm512_set1_epi16((short)pair);
    return (__mmask64)_mm512_cmpeq_epi16_mask(high, all) << 32 | _mm512_cmpeq_epi16_mask(low, all);
}

INLINE void set_plan(const ts_lane_permute *permute, plan *p) {
    for (int i = 0; i < permute->dst.vectors; i++) {
        const uint16_t *from = permute->from + 64 * i;
        const __m256i low = _mm512_cvtepi16_epi8(_mm512_loadu_si512(from)),
                      high = _mm512_cvtepi16_epi8(_mm512_loadu_si512(from + 32));
        p->index[i] = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
        for (int k = 0; 2 * k < permute->src.vectors; k++) p->mine[i][k] = find_pair(from, k);
    }
}

INLINE wide load_vector(int lanes, const ts_lane_side *side, int i, const uint8_t *src) {
    const int64_t *at = side->begin + i * lanes;
    if (lanes == 1 && side->mask[i] == UINT64_MAX) return _mm512_loadu_si512(src + at[0]);
    if (lanes == 1) return _mm512_maskz_loadu_epi8(side->mask[i], src + at[0]);
    if (lanes == 2) {
        wide both = _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(src + at[0])));
        return _mm512_mask_broadcast_i64x4(both, 0xf0, _mm256_loadu_si256((const __m256i *)(src + at[1])));
    }
    wide v = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(src + at[0])));
    v = _mm512_mask_broadcast_i32x4(v, 0xf0, _mm_loadu_si128((const __m128i *)(src + at[1])));
    v = _mm512_mask_broadcast_i32x4(v, 0xf00, _mm_loadu_si128((const __m128i *)(src + at[2])));
    return _mm512_mask_broadcast_i32x4(v, 0xf000, _mm_loadu_si128((const __m128i *)(src + at[3])));
}

INLINE void store_vector(int lanes, const ts_lane_side *side, int i, uint8_t *dst, wide v) {
    const int64_t *at = side->begin + i * lanes;
    if (lanes == 1) {
        if (side->mask[i] == UINT64_MAX)
            _mm512_storeu_si512(dst + at[0], v);
        else
            _mm512_mask_storeu_epi8(dst + at[0], side->mask[i], v);
        return;
    }
    __m256i low = _mm512_castsi512_si256(v), high = _mm512_extracti64x4_epi64(v, 1);
    if (lanes == 2) {
        _mm256_storeu_si256((__m256i *)(dst + at[0]), low);
        _mm256_storeu_si256((__m256i *)(dst + at[1]), high);
        return;
    }
    _mm_storeu_si128((__m128i *)(dst + at[0]), _mm256_castsi256_si128(low));
    _mm_storeu_si128((__m128i *)(dst + at[1]), _mm256_extracti128_si256(low, 1));
    _mm_storeu_si128((__m128i *)(dst + at[2]), _mm256_castsi256_si128(high));
    _mm_storeu_si128((__m128i *)(dst + at[3]), _mm256_extracti128_si256(high, 1));
}

/* What a kernel is compiled for: constants. */
typedef struct {
    int vectors, src_lanes, dst_lanes;
} shape;

INLINE void permute_block(const shape s, const ts_tile *tile, const plan *p, uint8_t *dst,
                          const uint8_t *src) {
    const ts_lane_permute *permute = &tile->lanes;
    const int count = permute->dst.vectors;
    wide v[TS_LANE_VECTORS];
    UNROLL for (int i = 0; i < s.vectors; i++) v[i] = load_vector(s.src_lanes, &permute->src, i, src);
    for (int i = 0; tile->ahead_bytes && i < s.vectors * s.src_lanes; i++)
        __builtin_prefetch(src + permute->src.begin[i] + tile->ahead_bytes, 0, 2);
    for (int i = 0; i < count; i++) {
        const wide index = p->index[i];
        wide line = s.vectors == 1 ? _mm512_permutexvar_epi8(index, v[0])
                                   : _mm512_permutex2var_epi8(v[0], index, v[1]);
        UNROLL for (int k = 2; k < s.vectors; k += 2) {
            const wide some = k + 1 < s.vectors ? _mm512_permutex2var_epi8(v[k], index, v[k + 1])
                                                : _mm512_permutexvar_epi8(index, v[k]);
            line = _mm512_mask_mov_epi8(line, p->mine[i][k / 2], some);
        }
        store_vector(s.dst_lanes, &permute->dst, i, dst, line);
    }
}

INLINE void permute_blocks(const shape s, const ts_tile *tile, uint8_t *dst, const uint8_t *src) {
    const ts_kernel_loop *l = tile->loops;
    plan p;
    set_plan(&tile->lanes, &p);
    for (int64_t i = 0; i < l[0].count; i++) {
        for (int64_t j = 0; j < l[1].count; j++) {
            for (int64_t k = 0; k < l[2].count; k++) {
                uint8_t *to = dst + i * l[0].dst_step + j * l[1].dst_step + k * l[2].dst_step;
                const uint8_t *at = src + i * l[0].src_step + j * l[1].src_step + k * l[2].src_step;
                for (int64_t n = 0; n < l[3].count; n++, to += l[3].dst_step, at += l[3].src_step)
                    permute_block(s, tile, &p, to, at);
            }
        }
    }
}

#define LANES(vectors, src, dst)                                                                             \
    TARGET static void permute_lanes_##vectors##_##src##_##dst(                                              \
        const ts_tile *restrict tile, uint8_t *restrict to, const uint8_t *restrict from) {                  \
        permute_blocks((shape){vectors, src, dst}, tile, to, from);                                          \
    }
#define EACH_VECTORS(x, src, dst)                                                                            \
    x(1, src, dst) x(2, src, dst) x(3, src, dst) x(4, src, dst) x(5, src, dst) x(6, src, dst)
#define ENTRY(vectors, src, dst) permute_lanes_##vectors##_##src##_##dst,
EACH_VECTORS(LANES, 1, 1)
EACH_VECTORS(LANES, 1, 2)
EACH_VECTORS(LANES, 1, 4)
EACH_VECTORS(LANES, 2, 1)
EACH_VECTORS(LANES, 2, 2)
EACH_VECTORS(LANES, 2, 4)
EACH_VECTORS(LANES, 4, 1)
EACH_VECTORS(LANES, 4, 2)
EACH_VECTORS(LANES, 4, 4)
ts_tile_function *const ts_permute_lanes_avx512[TS_LANE_KINDS][TS_LANE_KINDS][TS_LANE_VECTORS] = {
    {{EACH_VECTORS(ENTRY, 1, 1)}, {EACH_VECTORS(ENTRY, 1, 2)}, {EACH_VECTORS(ENTRY, 1, 4)}},
    {{EACH_VECTORS(ENTRY, 2, 1)}, {EACH_VECTORS(ENTRY, 2, 2)}, {EACH_VECTORS(ENTRY, 2, 4)}},
    {{EACH_VECTORS(ENTRY, 4, 1)}, {EACH_VECTORS(ENTRY, 4, 2)}, {EACH_VECTORS(ENTRY, 4, 4)}}};
#endif
