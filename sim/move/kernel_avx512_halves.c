/* Tiles of two lines of bytes or of pairs of them, for hosts with AVX-512 and its byte permutes (VBMI). Where
 * a line of one side is made of half of each line of the other, halves are loaded or stored and one permute
 * of a line does the rest. A network's stage takes a permute of two lines for each, which is two shuffles:
 * hosts make one a clock. */
#include "kernel.h"

#ifdef TS_KERNELS_X86
#if !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#pragma GCC optimize("O3")
#endif
#include "kernel_avx512.h"

enum { LINES = 2, HALF = TS_LINE_BYTES / 2 };

/* How the bytes of each line are permuted, between halves and it. */
typedef struct {
    wide order[LINES];
} halves;

/* What the network makes of lines that have in each byte one of these. */
INLINE void pass(const unpacks *u, wide first, wide second, wide v[LINES]) {
    v[0] = first;
    v[1] = second;
    network(0, 1, LINES, u, v);
}

INLINE bool are_same(wide a, wide b) { return _mm512_cmpneq_epi8_mask(a, b) == 0; }

/* Do the halves of the source's lines make lines: both first ones the first? */
INLINE bool find_made_dst(const unpacks *u, halves *h) {
    const wide all = _mm512_loadu_si512(numbers), in_half = _mm512_and_si512(all, _mm512_set1_epi8(HALF - 1)),
               second = _mm512_and_si512(all, _mm512_set1_epi8(HALF));
    wide v[LINES];
    pass(u, second, second, v);
    if (!are_same(v[0], _mm512_setzero_si512()) || !are_same(v[1], _mm512_set1_epi8(HALF))) return false;
    pass(u, in_half, _mm512_or_si512(in_half, _mm512_set1_epi8(HALF)), h->order);
    return true;
}

/* Do lines of the source make the halves of lines: the first both first ones? */
INLINE bool find_made_src(const unpacks *u, halves *h) {
    const wide all = _mm512_loadu_si512(numbers), second = _mm512_and_si512(all, _mm512_set1_epi8(HALF));
    wide v[LINES];
    pass(u, _mm512_setzero_si512(), _mm512_set1_epi8(HALF), v);
    if (!are_same(v[0], second) || !are_same(v[1], second)) return false;
    pass(u, all, all, v);
    h->order[0] = _mm512_shuffle_i64x2(v[0], v[1], 0x44);
    h->order[1] = _mm512_shuffle_i64x2(v[0], v[1], 0xee);
    return true;
}

INLINE void prefetch_tile(const ts_tile *tile, uint8_t *dst) {
    for (int i = 0; ASKS_FOR_STORES && i < LINES; i++)
        __builtin_prefetch(dst + tile->dst_line[i] + TS_LINE_BYTES - 1, 1, 3);
}

INLINE void load_halves(const ts_tile *tile, const halves *h, uint8_t *dst, const uint8_t *src) {
    const uint8_t *const row[LINES] = {src + tile->src_line[0], src + tile->src_line[1]};
    prefetch_tile(tile, dst);
    wide first = _mm512_permutexvar_epi8(h->order[0], load_squares(LINES, row, 0)),
         second = _mm512_permutexvar_epi8(h->order[1], load_squares(LINES, row, HALF));
    _mm512_storeu_si512(dst + tile->dst_line[0], first);
    _mm512_storeu_si512(dst + tile->dst_line[1], second);
}

INLINE void store_halves(const ts_tile *tile, const halves *h, uint8_t *dst, const uint8_t *src) {
    prefetch_tile(tile, dst);
    wide first = _mm512_permutexvar_epi8(h->order[0], _mm512_loadu_si512(src + tile->src_line[0])),
         second = _mm512_permutexvar_epi8(h->order[1], _mm512_loadu_si512(src + tile->src_line[1]));
    store_half(NULL, dst + tile->dst_line[0], _mm512_castsi512_si256(first));
    store_half(NULL, dst + tile->dst_line[0] + HALF, _mm512_castsi512_si256(second));
    store_half(NULL, dst + tile->dst_line[1], _mm512_extracti64x4_epi64(first, 1));
    store_half(NULL, dst + tile->dst_line[1] + HALF, _mm512_extracti64x4_epi64(second, 1));
}

/* Of words a permute of two lines is one shuffle. */
TARGET bool ts_halves_avx512(const ts_tile *restrict tile, uint8_t *restrict dst,
                             const uint8_t *restrict src) {
    unpacks u;
    halves h;
    if (tile->streams || tile->ahead_bytes) return false;
    set_unpacks(tile, 1, false, &u);
    if (u.unit_log2 == 2) return false;
    const bool makes_dst = find_made_dst(&u, &h), makes_src = !makes_dst && find_made_src(&u, &h);
    if (makes_dst) EACH_TILE(tile, dst, src, load_halves(tile, &h, to_tile, from_tile));
    if (makes_src) EACH_TILE(tile, dst, src, store_halves(tile, &h, to_tile, from_tile));
    return makes_dst || makes_src;
}
#endif
