/* Tiles of 16 lines of bytes, for hosts with AVX-512 and its byte permutes (VBMI). Unpacks within lanes of 16
 * bytes take one shuffle each, those of whole lines two: so the digits that leave a line are brought into its
 * lanes first, and at last those that entered to where they belong. */
#include "kernel.h"

#ifdef TS_KERNELS_X86
#if !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#pragma GCC optimize("O3")
#endif
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,bmi2,prfchw")))
#include "kernel_inline.h"

typedef __m512i wide;
enum { LINES = 16, HALF = LINES / 2 };

/* How lines are arranged as they are loaded, and as they are stored. */
typedef struct {
    wide order, pack;
} arrangement;

/* The digits that stay are the lowest of a tile's line, and choose the lane here. */
static void set_order(const ts_tile *tile, uint8_t *order) {
    for (int i = 0; i < TS_LINE_BYTES; i++) {
        int from = i % LINES * 4 + i / LINES;
        order[i] = tile->orders ? tile->order[from] : (uint8_t)from;
    }
}

/* The digits that entered at granules are the lowest here. */
static void set_pack(const ts_tile *tile, bool packs, uint8_t *pack) {
    int at[TS_TILE_STAGES], low = 0, high = tile->stages;
    for (int bit = 0; bit < TS_TILE_STAGES; bit++) at[bit] = tile->granules >> bit & 1 ? low++ : high++;
    for (int i = 0; i < TS_LINE_BYTES; i++) {
        int to = packs ? tile->pack[i] : i;
        pack[i] = 0;
        for (int bit = 0; bit < TS_TILE_STAGES; bit++) pack[i] |= (uint8_t)((to >> bit & 1) << at[bit]);
    }
}

/* Squares of 8 elements of two bytes: line i becomes column i of each lane. */
INLINE void transpose_halves(wide *v) {
    wide a[HALF], b[HALF];
    UNROLL for (int i = 0; i < HALF / 2; i++) {
        a[2 * i] = _mm512_unpacklo_epi16(v[i], v[i + 4]);
        a[2 * i + 1] = _mm512_unpackhi_epi16(v[i], v[i + 4]);
    }
    UNROLL for (int i = 0; i < HALF / 2; i++) {
        b[2 * i] = _mm512_unpacklo_epi16(a[i], a[i + 4]);
        b[2 * i + 1] = _mm512_unpackhi_epi16(a[i], a[i + 4]);
    }
    UNROLL for (int i = 0; i < HALF / 2; i++) {
        v[2 * i] = _mm512_unpacklo_epi16(b[i], b[i + 4]);
        v[2 * i + 1] = _mm512_unpackhi_epi16(b[i], b[i + 4]);
    }
}

/* Even and odd lines apart, as of two bytes; then in two of these bytes change places, which is no
 * shuffle. */
INLINE void transpose_bytes(wide *v) {
    const __mmask64 odd_bytes = 0xaaaaaaaaaaaaaaaa;
    wide even[HALF], odd[HALF];
    UNROLL for (int i = 0; i < HALF; i++) {
        even[i] = v[2 * i];
        odd[i] = v[2 * i + 1];
    }
    transpose_halves(even);
    transpose_halves(odd);
    UNROLL for (int i = 0; i < HALF; i++) {
        v[2 * i] = _mm512_mask_mov_epi8(even[i], odd_bytes, _mm512_slli_epi16(odd[i], 8));
        v[2 * i + 1] = _mm512_mask_mov_epi8(_mm512_srli_epi16(even[i], 8), odd_bytes, odd[i]);
    }
}

INLINE wide load_line(masking masks, const ts_tile *tile, int line, const wide order, const uint8_t *src) {
    src += tile->src_line[line];
    if (tile->ahead_bytes) __builtin_prefetch(src + tile->ahead_bytes + TS_LINE_BYTES - 1, 0, 2);
    if (masks && tile->src_mask[line] == 0) return _mm512_setzero_si512();
    if (masks == MASKS_BOTH)
        return _mm512_permutexvar_epi8(order, _mm512_maskz_loadu_epi8(tile->src_mask[line], src));
    return _mm512_permutexvar_epi8(order, _mm512_loadu_si512(src));
}

INLINE void store_line(masking masks, const ts_tile *tile, int line, const wide pack, uint8_t *dst, wide v) {
    dst += tile->dst_line[line];
    if (masks && tile->dst_mask[line] == 0) return;
    v = _mm512_permutexvar_epi8(pack, v);
    if (tile->streams)
        _mm512_stream_si512((void *)dst, v);
    else if (masks)
        _mm512_mask_storeu_epi8(dst, tile->dst_mask[line], v);
    else
        _mm512_storeu_si512(dst, v);
}

INLINE void prefetch_there(masking masks, const ts_tile *tile, uint8_t *dst) {
    if (!ASKS_FOR_STORES || tile->streams || tile->ahead_bytes) return;
    for (int i = 0; i < LINES; i++)
        if (!masks || tile->dst_mask[i] != 0) prefetch_stored(dst + tile->dst_line[i], TS_LINE_BYTES);
}

/* The last digit of a line's number left first. */
INLINE int reversed(int i) { return (i & 1) << 3 | (i & 2) << 1 | (i & 4) >> 1 | (i & 8) >> 3; }

INLINE void move_tile(masking masks, const ts_tile *tile, const arrangement *a, uint8_t *dst,
                      const uint8_t *src) {
    wide v[LINES];
    prefetch_there(masks, tile, dst);
    UNROLL for (int i = 0; i < LINES; i++) v[i] = load_line(masks, tile, i, a->order, src);
    transpose_bytes(v);
    UNROLL for (int i = 0; i < LINES; i++) store_line(masks, tile, reversed(i), a->pack, dst, v[i]);
}

INLINE void move_tiles(masking masks, const ts_tile *tile, uint8_t *dst, const uint8_t *src) {
    uint8_t order[TS_LINE_BYTES], pack[TS_LINE_BYTES];
    set_order(tile, order);
    set_pack(tile, masks && tile->packs, pack);
    const arrangement a = {_mm512_loadu_si512(order), _mm512_loadu_si512(pack)};
    EACH_TILE(tile, dst, src, move_tile(masks, tile, &a, to_tile, from_tile));
}

TARGET static void whole(const ts_tile *restrict tile, uint8_t *restrict dst, const uint8_t *restrict src) {
    move_tiles(MASKS_NONE, tile, dst, src);
}
TARGET static void in_part(const ts_tile *restrict tile, uint8_t *restrict dst, const uint8_t *restrict src) {
    if (tile->loads_whole)
        move_tiles(MASKS_STORES, tile, dst, src);
    else
        move_tiles(MASKS_BOTH, tile, dst, src);
}
ts_tile_function *const ts_bytes_avx512[2] = {whole, in_part};
#endif
