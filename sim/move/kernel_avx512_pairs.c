/* Rows of f32, and the bf16 of two of them, interleaved, for hosts with AVX-512: within the caches, where the
 * order of loads and stores counts, and what is computed between them. */
#include "kernel.h"

#ifdef TS_KERNELS_X86
#if !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#pragma GCC optimize("O3")
#endif
#include "kernel_avx512.h"

/* Of bf16, that are joined or split at once. */
enum { LINES = 2, HALF = TS_LINE_BYTES / 2, JOINED = 4, SPLIT = 8 };

/* Caches take longer for lines of two rows in turns. */
#define KEEP_ORDER __asm__ volatile("" ::: "memory")

/* Two rows of f32, and one of bf16. */
typedef struct {
    int64_t lines, second; /* of bf16; bytes from the first row of f32 to the other */
} rows;

/* Do tiles within the caches follow each other, in such steps? */
INLINE bool are_rows(const ts_tile *tile, int64_t src_step, int64_t dst_step) {
    const ts_kernel_loop loop = tile->loops[3];
    return !tile->streams && !tile->ahead_bytes && !tile->listed &&
           (loop.count == 1 || (loop.src_step == src_step && loop.dst_step == dst_step));
}

INLINE void join_lines(int count, int64_t second, uint8_t *dst, const uint8_t *src) {
    wide first[JOINED], other[JOINED];
    UNROLL for (int i = 0; i < count; i++) first[i] = _mm512_loadu_si512(src + i * TS_LINE_BYTES);
    KEEP_ORDER;
    UNROLL for (int i = 0; i < count; i++) other[i] = _mm512_loadu_si512(src + second + i * TS_LINE_BYTES);
    KEEP_ORDER;
    UNROLL for (int i = 0; i < count; i++)
        _mm512_storeu_si512(dst + i * TS_LINE_BYTES, round_pairs(first[i], other[i]));
}

INLINE void join_row(const rows r, uint8_t *dst, const uint8_t *src) {
    int64_t i = 0;
    for (; i + JOINED <= r.lines; i += JOINED)
        join_lines(JOINED, r.second, dst + i * TS_LINE_BYTES, src + i * TS_LINE_BYTES);
    for (; i < r.lines; i++) join_lines(1, r.second, dst + i * TS_LINE_BYTES, src + i * TS_LINE_BYTES);
}

TARGET bool ts_pairs_join_avx512(const ts_tile *restrict tile, uint8_t *restrict dst,
                                 const uint8_t *restrict src) {
    const rows r = {LINES * tile->loops[3].count, tile->src_line[1] - tile->src_line[0]};
    if (!are_rows(tile, LINES * TS_LINE_BYTES, LINES * TS_LINE_BYTES) ||
        tile->dst_line[1] != tile->dst_line[0] + TS_LINE_BYTES)
        return false;
    dst += tile->dst_line[0];
    src += tile->src_line[0];
    EACH_ROW(tile->loops, dst, src, join_row(r, to, from));
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

INLINE void split_lines(int count, int64_t second, uint8_t *dst, const uint8_t *src) {
    wide row[LINES][SPLIT];
    UNROLL for (int i = 0; i < count; i++) {
        const wide both = _mm512_loadu_si512(src + i * TS_LINE_BYTES);
        wide low = _mm512_slli_epi32(both, 16), high = _mm512_and_si512(both, _mm512_set1_epi32(-0x10000));
        if (__builtin_expect(has_nan(low, high), 0)) {
            low = plain_nan(low, low);
            high = plain_nan(high, high);
        }
        row[0][i] = low;
        row[1][i] = high;
    }
    UNROLL for (int i = 0; i < count; i++) _mm512_storeu_si512(dst + i * TS_LINE_BYTES, row[0][i]);
    KEEP_ORDER;
    UNROLL for (int i = 0; i < count; i++) _mm512_storeu_si512(dst + second + i * TS_LINE_BYTES, row[1][i]);
}

INLINE void split_row(const rows r, uint8_t *dst, const uint8_t *src) {
    int64_t i = 0;
    for (; i + SPLIT <= r.lines; i += SPLIT)
        split_lines(SPLIT, r.second, dst + i * TS_LINE_BYTES, src + i * TS_LINE_BYTES);
    for (; i < r.lines; i++) split_lines(1, r.second, dst + i * TS_LINE_BYTES, src + i * TS_LINE_BYTES);
}

TARGET bool ts_pairs_split_avx512(const ts_tile *restrict tile, uint8_t *restrict dst,
                                  const uint8_t *restrict src) {
    const rows r = {tile->loops[3].count, tile->dst_line[1] - tile->dst_line[0]};
    if (!are_rows(tile, TS_LINE_BYTES, TS_LINE_BYTES) || !is_interleaved(tile)) return false;
    dst += tile->dst_line[0];
    src += tile->src_line[0];
    EACH_ROW(tile->loops, dst, src, split_row(r, to, from));
    return true;
}
#endif
