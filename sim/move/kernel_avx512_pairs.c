/* Tiles of two lines of f32, and the bf16 of them, interleaved, for hosts with AVX-512: within the caches, where loads
 * and stores are soon done, and what is computed between them counts. */
#include "kernel.h"

#ifdef TS_KERNELS_X86
#if !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#pragma GCC optimize("O3")
#endif
#include "kernel_avx512.h"

enum { LINES = 2, HALF = TS_LINE_BYTES / 2 };

INLINE void join_lines(const ts_tile *tile, uint8_t *dst, const uint8_t *src) {
    UNROLL for (int i = 0; i < LINES; i++) {
        const uint8_t *from = src + i * TS_LINE_BYTES;
        _mm512_storeu_si512(dst + tile->dst_line[i],
                            round_pairs(from + tile->src_line[0], from + tile->src_line[1]));
    }
}

TARGET bool ts_pairs_join_avx512(const ts_tile *restrict tile, uint8_t *restrict dst,
                                 const uint8_t *restrict src) {
    if (tile->streams || tile->ahead_bytes) return false;
    EACH_TILE(tile, dst, src, join_lines(tile, to_tile, from_tile));
    return true;
}

/* Does one line have the elements of both, interleaved? */
INLINE bool is_interleaved(const ts_tile *tile) {
    const wide each = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
               even = _mm512_slli_epi32(each, 1), one = _mm512_set1_epi32(1);
    wide v[LINES] = {each, _mm512_add_epi32(each, _mm512_set1_epi32(16))};
    unpacks u;
    if (tile->src_line[1] != tile->src_line[0] + HALF) return false;
    set_unpacks(tile, 1, false, &u);
    if (u.unit_log2 != 2) return false;
    network(0, 1, LINES, &u, v);
    return _mm512_cmpneq_epi32_mask(v[0], even) == 0 &&
           _mm512_cmpneq_epi32_mask(v[1], _mm512_or_si512(even, one)) == 0;
}

INLINE void split_line(const ts_tile *tile, uint8_t *dst, const uint8_t *src) {
    const wide both = _mm512_loadu_si512(src + tile->src_line[0]);
    wide low = _mm512_slli_epi32(both, 16), high = _mm512_and_si512(both, _mm512_set1_epi32(-0x10000));
    if (__builtin_expect(has_nan(low, high), 0)) {
        low = plain_nan(low, low);
        high = plain_nan(high, high);
    }
    _mm512_storeu_si512(dst + tile->dst_line[0], low);
    _mm512_storeu_si512(dst + tile->dst_line[1], high);
}

TARGET bool ts_pairs_split_avx512(const ts_tile *restrict tile, uint8_t *restrict dst,
                                  const uint8_t *restrict src) {
    if (tile->streams || tile->ahead_bytes || !is_interleaved(tile)) return false;
    EACH_TILE(tile, dst, src, split_line(tile, to_tile, from_tile));
    return true;
}
#endif
