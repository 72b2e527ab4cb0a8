/* The kernels for hosts with AVX-512 and its byte permutes (VBMI): tiles with lines of 64 bytes. */
#include "kernel.h"

#ifdef TS_KERNELS_X86
#if !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
/* memcpy is not for 16 bytes, and where a short loop lies is a fifth of its time. */
#pragma GCC optimize("O3", "no-tree-loop-distribute-patterns", "align-loops=32")
#endif
#include "kernel_avx512.h"

#define WIDE_LOAD(p)                  _mm512_loadu_si512(p)
#define WIDE_STORE(p, v)              _mm512_storeu_si512(p, v)
#define WIDE_STREAM(p, v)             _mm512_stream_si512((void *)(p), v)
#define WIDE_COPY_MASKED(dst, src, m) _mm512_mask_storeu_epi8(dst, m, _mm512_maskz_loadu_epi8(m, src))
#define HALF_COPY_MASKED(dst, src, m)                                                                        \
    _mm256_mask_storeu_epi8(dst, (__mmask32)(m), _mm256_maskz_loadu_epi8((__mmask32)(m), src))
#define LANE_COPY_MASKED(dst, src, m)                                                                        \
    _mm_mask_storeu_epi8(dst, (__mmask16)(m), _mm_maskz_loadu_epi8((__mmask16)(m), src))
#define RUNS          ts_runs_avx512
#define STREAM_RUNS   ts_stream_runs_avx512
#define STREAM_STAGED ts_stream_staged_avx512
#include "kernel_run.inc"

/* ---- Loads ---- */

/* Where the last byte lies: of lines that lie across two, the first of them has come with the line before. */
INLINE void prefetch(ts_load how, const uint8_t *p) {
    __builtin_prefetch(p + 63, 0, 3);
    if (how == TS_LOAD_BF16_FROM_F32 || how == TS_LOAD_BF16_PAIRS) __builtin_prefetch(p + 127, 0, 3);
}

INLINE wide load_line(ts_load how, masking masks, const ts_tile *tile, int line, const uint8_t *p) {
    if (masks != MASKS_BOTH) return load(how, p);
    return _mm512_maskz_loadu_epi8(tile->src_mask[line], p);
}

INLINE void store(uint8_t *p, bool streams, wide v) {
    if (streams)
        WIDE_STREAM(p, v);
    else
        WIDE_STORE(p, v);
}

/* mask: of the line's bytes; NULL: all. */
INLINE void store_line(const uint64_t *mask, bool streams, uint8_t *p, wide v) {
    if (mask && !streams)
        _mm512_mask_storeu_epi8(p, *mask, v);
    else if (!mask || *mask != 0)
        store(p, streams, v);
}

/* ---- Tiles ---- */

#define UNROLLED(stages) ((stages) < 3 ? 8 >> (stages) : 1) /* tiles of a step */

/* What a kernel is compiled for: constants. */
typedef struct {
    ts_load how;
    masking masks;
    int stages;
    bool listed; /* the steps of the last loop */
    int tiles;   /* of an unrolled step */
} kind;

INLINE wide load_of_tile(const kind k, const ts_tile *tile, int line, const uint8_t *src) {
    if (k.how != TS_LOAD_BF16_PAIRS) return load_line(k.how, k.masks, tile, line, src + tile->src_line[line]);
    src += line * 64;
    return round_pairs(WIDE_LOAD(src + tile->src_line[0]), WIDE_LOAD(src + tile->src_line[1]));
}

/* All lines of some tiles: as they were loaded, then as they are stored. */
INLINE void arrange_tiles(const kind k, int all, const ts_tile *tile, const unpacks *u, wide *v) {
    if (k.how != TS_LOAD_BF16_PAIRS) {
        if (k.stages == 0 && tile->orders) arrange_all(tile->order, all, v);
        network(0, k.stages, all, u, v);
    }
    if (k.stages == 0 && k.masks && tile->packs) arrange_all(tile->pack, all, v);
}

/* Where tile n of some comes from, and goes to: those of the last loop from these addresses on, or these of
 * its list. */
INLINE const uint8_t *src_of(const kind k, const ts_tile_place *at, int n, const ts_tile *tile,
                             const uint8_t *src) {
    return src + (k.listed ? at[n].src : n * tile->loops[3].src_step);
}
INLINE uint8_t *dst_of(const kind k, const ts_tile_place *at, int n, const ts_tile *tile, uint8_t *dst) {
    return dst + (k.listed ? at[n].dst : n * tile->loops[3].dst_step);
}

/* All are loaded before the first is stored. Up to 16 lines stay in registers. */
INLINE void move_some(const kind k, const ts_tile_place *at, const ts_tile *tile, const unpacks *u,
                      uint8_t *dst, const uint8_t *src) {
    const int lines = 1 << k.stages, all = k.tiles * lines;
    const int64_t ahead = tile->ahead_bytes;
    const bool streams = tile->streams;
    wide v[16];
    if (ASKS_FOR_STORES && !streams && !ahead)
        UNROLL for (int i = 0; i < all; i++)
            __builtin_prefetch(dst_of(k, at, i / lines, tile, dst) + tile->dst_line[i % lines] + 63, 1, 3);
    UNROLL for (int i = 0; i < all; i++) v[i] =
        load_of_tile(k, tile, i % lines, src_of(k, at, i / lines, tile, src));
    if (ahead) {
        UNROLL for (int i = 0; i < all; i++) {
            prefetch(k.how, src_of(k, at, i / lines, tile, src) + tile->src_line[i % lines] + ahead);
        }
    }
    arrange_tiles(k, all, tile, u, v);
    UNROLL for (int i = 0; i < all; i++)
        store_line(k.masks ? &tile->dst_mask[i % lines] : NULL, streams,
                   dst_of(k, at, i / lines, tile, dst) + tile->dst_line[i % lines], v[i]);
}

/* 32 and 64 lines go through the first three stages eight at a time, and through the others from a copy. */
INLINE void move_large_tile(const kind k, const ts_tile *tile, const unpacks *u, uint8_t *dst,
                            const uint8_t *src) {
    const ts_load how = k.how;
    const int rest = k.stages - 3;
    wide copy[TS_TILE_LINES];
    if (ASKS_FOR_STORES && !tile->streams && !tile->ahead_bytes)
        for (int i = 0; i < 8 << rest; i++) prefetch_stored(dst + tile->dst_line[i], 64);
    for (int group = 0; group < 1 << rest; group++) {
        wide v[8];
        const int64_t *at = tile->src_line + 8 * group;
        UNROLL for (int i = 0; i < 8; i++) v[i] = load_line(how, k.masks, tile, 8 * group + i, src + at[i]);
        if (tile->ahead_bytes)
            UNROLL for (int i = 0; i < 8; i++) prefetch(how, src + at[i] + tile->ahead_bytes);
        network(0, 3, 8, u, v);
        UNROLL for (int i = 0; i < 8; i++) copy[8 * group + i] = v[i];
    }
    for (int group = 0; group < 8; group++) {
        wide v[8];
        UNROLL for (int i = 0; i < 1 << rest; i++) v[i] = copy[8 * i + group];
        network(3, rest, 1 << rest, u, v);
        const int64_t *at = tile->dst_line + group;
        UNROLL for (int i = 0; i < 1 << rest; i++)
            store_line(k.masks ? &tile->dst_mask[8 * i + group] : NULL, tile->streams, dst + at[8 * i], v[i]);
    }
}

/* Steps of the last loop from `first` on. */
INLINE void move_steps(const kind k, int64_t first, const ts_tile *tile, const unpacks *u, uint8_t *dst,
                       const uint8_t *src) {
    const ts_tile_place *at = tile->list + first;
    const ts_kernel_loop loop = tile->loops[3];
    if (!k.listed) {
        dst += first * loop.dst_step;
        src += first * loop.src_step;
    }
    if (k.stages <= 4)
        move_some(k, at, tile, u, dst, src);
    else
        move_large_tile(k, tile, u, dst + (k.listed ? at->dst : 0), src + (k.listed ? at->src : 0));
}

INLINE void move_row(const kind k, const ts_tile *tile, const unpacks *u, uint8_t *dst, const uint8_t *src) {
    const int64_t count = tile->loops[3].count;
    const kind one = {k.how, k.masks, k.stages, k.listed, 1};
    int64_t i = 0;
    for (; k.tiles > 1 && i + k.tiles <= count; i += k.tiles) move_steps(k, i, tile, u, dst, src);
    for (; i < count; i++) move_steps(one, i, tile, u, dst, src);
}

INLINE void move_rows(const kind k, const ts_tile *tile, uint8_t *dst, const uint8_t *src) {
    unpacks u;
    set_unpacks(tile, k.how == TS_LOAD_BF16_PAIRS ? 0 : k.stages, k.masks && tile->packs, &u);
    EACH_ROW(tile->loops, dst, src, move_row(k, tile, &u, to, from));
}

/* Tiles that are listed, or some of whose loads are masked, by functions of their own: registers are few. */
#define ROWS(name, how, masks, stages, listed)                                                               \
    TARGET static __attribute__((noinline)) void name(const ts_tile *restrict tile, uint8_t *restrict dst,   \
                                                      const uint8_t *restrict src) {                         \
        move_rows((kind){how, masks, stages, listed, UNROLLED(stages)}, tile, dst, src);                     \
    }
#define TILES(how, stages)                                                                                   \
    ROWS(listed_##how##_##stages, how, MASKS_NONE, stages, true)                                             \
    TARGET static void tiles_##how##_##stages(const ts_tile *restrict tile, uint8_t *restrict dst,           \
                                              const uint8_t *restrict src) {                                 \
        if (how == TS_LOAD_SAME && stages == 1 && ts_halves_avx512(tile, dst, src)) return;                  \
        if (how == TS_LOAD_BF16_PAIRS && ts_pairs_join_avx512(tile, dst, src)) return;                       \
        if (how == TS_LOAD_F32_FROM_BF16 && stages == 1 && ts_pairs_split_avx512(tile, dst, src)) return;    \
        if (tile->listed)                                                                                    \
            listed_##how##_##stages(tile, dst, src);                                                         \
        else                                                                                                 \
            move_rows((kind){how, false, stages, false, UNROLLED(stages)}, tile, dst, src);                  \
    }
#define EACH_5(x, how) x(how, 0) x(how, 1) x(how, 2) x(how, 3) x(how, 4)
EACH_5(TILES, TS_LOAD_SAME)
TILES(TS_LOAD_SAME, 5)
TILES(TS_LOAD_SAME, 6)
EACH_5(TILES, TS_LOAD_BF16_FROM_F32)
TILES(TS_LOAD_BF16_FROM_F32, 5)
EACH_5(TILES, TS_LOAD_F32_FROM_BF16)
TILES(TS_LOAD_BF16_PAIRS, 1)

#define ENTRY(how, stages) [how][stages] = tiles_##how##_##stages,
static ts_tile_function *const by_stages[TS_LOAD_COUNT][TS_TILE_STAGES + 1] = {
    EACH_5(ENTRY, TS_LOAD_SAME) ENTRY(TS_LOAD_SAME, 5) ENTRY(TS_LOAD_SAME, 6)
        EACH_5(ENTRY, TS_LOAD_BF16_FROM_F32) ENTRY(TS_LOAD_BF16_FROM_F32, 5)
            EACH_5(ENTRY, TS_LOAD_F32_FROM_BF16) ENTRY(TS_LOAD_BF16_PAIRS, 1)};

#define MASKED(how, stages)                                                                                  \
    ROWS(masked_both_##stages, how, MASKS_BOTH, stages, false)                                               \
    ROWS(masked_both_listed_##stages, how, MASKS_BOTH, stages, true)                                         \
    ROWS(masked_stores_##stages, how, MASKS_STORES, stages, false)                                           \
    ROWS(masked_stores_listed_##stages, how, MASKS_STORES, stages, true)                                     \
    TARGET static void masked_##stages(const ts_tile *restrict tile, uint8_t *restrict dst,                  \
                                       const uint8_t *restrict src) {                                        \
        static ts_tile_function *const functions[2][2] = {                                                   \
            {masked_both_##stages, masked_both_listed_##stages},                                             \
            {masked_stores_##stages, masked_stores_listed_##stages}};                                        \
        functions[tile->loads_whole][tile->listed > 0](tile, dst, src);                                      \
    }
EACH_5(MASKED, TS_LOAD_SAME)
MASKED(TS_LOAD_SAME, 5)
MASKED(TS_LOAD_SAME, 6)
static ts_tile_function *const masked[TS_TILE_STAGES + 1] = {masked_0, masked_1, masked_2, masked_3,
                                                             masked_4, masked_5, masked_6};

/* ---- Transposes ---- */

INLINE void store_squares(int across, int lanes, const uint64_t *mask, uint8_t *const *column, wide v) {
    if (across == 1) {
        store_whole(mask, column[0], v);
        return;
    }
    __m256i low = _mm512_castsi512_si256(v), high = _mm512_extracti64x4_epi64(v, 1);
    if (across == 2) {
        store_half(mask, column[0], low);
        if (lanes > 1) store_half(mask, column[1], high);
        return;
    }
    store_lane(mask, column[0], _mm256_castsi256_si128(low));
    if (lanes > 1) store_lane(mask, column[1], _mm256_extracti128_si256(low, 1));
    if (lanes > 2) store_lane(mask, column[2], _mm256_castsi256_si128(high));
    if (lanes > 3) store_lane(mask, column[3], _mm256_extracti128_si256(high, 1));
}

INLINE wide unpack_lanes(int granule, bool high, wide a, wide b) {
    if (granule == 1) return high ? _mm512_unpackhi_epi8(a, b) : _mm512_unpacklo_epi8(a, b);
    if (granule == 2) return high ? _mm512_unpackhi_epi16(a, b) : _mm512_unpacklo_epi16(a, b);
    if (granule == 4) return high ? _mm512_unpackhi_epi32(a, b) : _mm512_unpacklo_epi32(a, b);
    return high ? _mm512_unpackhi_epi64(a, b) : _mm512_unpacklo_epi64(a, b);
}

/* Byte p of a half, where elements of `unit` bytes take turns and the lanes in the middle have changed
 * places. */
#define MIX(unit, half, p)                                                                                   \
    ((((p)&15) / (unit)&1) << 6 | ((p)&16) << 1 | ((p)&32) >> 1 | (half) << 3 |                              \
     ((p)&15) / (2 * (unit)) * (unit) | (p) % (unit)),
#define MIX_4(unit, half, p)                                                                                 \
    MIX(unit, half, p) MIX(unit, half, p + 1) MIX(unit, half, p + 2) MIX(unit, half, p + 3)
#define MIX_16(unit, half, p)                                                                                \
    MIX_4(unit, half, p) MIX_4(unit, half, p + 4) MIX_4(unit, half, p + 8) MIX_4(unit, half, p + 12)
#define MIX_64(unit, half)                                                                                   \
    { MIX_16(unit, half, 0) MIX_16(unit, half, 16) MIX_16(unit, half, 32) MIX_16(unit, half, 48) }
static const uint8_t mixed[4][2][64] = {{MIX_64(1, 0), MIX_64(1, 1)},
                                        {MIX_64(2, 0), MIX_64(2, 1)},
                                        {MIX_64(4, 0), MIX_64(4, 1)},
                                        {MIX_64(8, 0), MIX_64(8, 1)}};

/* An element that is a lane has none to take turns with. */
INLINE void mix_lanes(int width, wide a, wide b, wide v[2]) {
    if (width == 16) {
        v[0] = _mm512_shuffle_i64x2(a, a, 0xd8);
        return;
    }
    const uint8_t(*order)[64] = mixed[__builtin_ctz((unsigned)width)];
    v[0] = _mm512_permutex2var_epi8(a, WIDE_LOAD(order[0]), b);
    v[1] = _mm512_permutex2var_epi8(a, WIDE_LOAD(order[1]), b);
}

INLINE wide join_lanes(bool odd, wide a, wide b) {
    return odd ? _mm512_shuffle_i64x2(a, b, 0xdd) : _mm512_shuffle_i64x2(a, b, 0x88);
}

/* Where each byte of two columns of so many bytes comes from, one behind the other, as of mixed: those of the
 * even lanes. */
INLINE wide packed_order(int width, int64_t column_bytes) {
    const wide place = WIDE_LOAD(numbers), bytes = _mm512_set1_epi8((char)column_bytes);
    const __mmask64 second = _mm512_cmpge_epu8_mask(place, bytes);
    const wide at = _mm512_mask_sub_epi8(place, second, place, bytes);
    const wide pairs = _mm512_and_si512(at, _mm512_set1_epi8((char)(16 - 2 * width)));
    const wide odd = _mm512_and_si512(at, _mm512_set1_epi8((char)width));
    const __m128i to_other = _mm_cvtsi32_si128(6 - __builtin_ctz((unsigned)width)); /* of the two registers */
    wide from = _mm512_and_si512(at, _mm512_set1_epi8((char)(width - 1)));
    from = _mm512_or_si512(from, _mm512_srli_epi16(pairs, 1));
    from = _mm512_or_si512(from, _mm512_sll_epi16(odd, to_other));
    from = _mm512_or_si512(from, _mm512_slli_epi16(_mm512_and_si512(at, _mm512_set1_epi8(16)), 1));
    return _mm512_mask_add_epi8(from, second, from, _mm512_set1_epi8(8));
}

INLINE void store_packed(uint8_t *p, int64_t bytes, wide order, bool high, wide a, wide b) {
    if (high) order = _mm512_or_si512(order, _mm512_set1_epi8(16));
    _mm512_mask_storeu_epi8(p, first_bytes(bytes), _mm512_permutex2var_epi8(a, order, b));
}

typedef wide squares;
#define LANES              4
#define MASKS              true
#define LOADS_EARLY(width) ((width) <= 2)
#define LOAD_LANES         load_squares
#define UNPACK_LANES       unpack_lanes
#define MIXES              true
#define MIX_LANES          mix_lanes
#define PAIRS              true
#define JOIN_LANES         join_lanes
#define STORE_LANES        store_squares
#define PACKED_ORDER       packed_order
#define STORE_PACKED       store_packed
#include "kernel_transpose.inc"
#include "kernel_columns.inc"
#include "kernel_adjoin.inc"
#undef LANES

/* ---- Elements narrower than a byte ---- */

INLINE wide load_parts(const ts_narrow *narrow, prefetching ahead, int line, const uint8_t *src) {
    int width = narrow->width;
    wide v = _mm512_setzero_si512(), mask = _mm512_set1_epi8((char)((1 << width) - 1));
    for (int y = narrow->parts - 1; y >= 0; y--) {
        int64_t at = narrow->src_line[line] + narrow->part[y];
        wide part = WIDE_LOAD(src + (at >> 3));
        if (ahead == PREFETCH_AHEAD) __builtin_prefetch(src + (at >> 3) + narrow->ahead_bytes, 0, 2);
        if (narrow->truth && narrow->src_width == 8) {
            v = _mm512_add_epi8(v, v);
            v = _mm512_mask_add_epi8(v, _mm512_test_epi8_mask(part, part), v, _mm512_set1_epi8(1));
            continue;
        }
        if (narrow->src_width < 8) part = _mm512_srl_epi16(part, _mm_cvtsi32_si128((int)(at & 7)));
        v = _mm512_sll_epi16(v, _mm_cvtsi32_si128(narrow->dst_width));
        v = _mm512_or_si512(v, _mm512_and_si512(part, mask));
    }
    return v;
}

INLINE void store_joined(uint8_t *p, int width, wide v) {
    if (width == 1) {
        uint64_t bits = _mm512_test_epi8_mask(v, v);
        memcpy(p, &bits, sizeof bits);
    } else if (width == 4) {
        wide pairs = _mm512_maddubs_epi16(v, _mm512_set1_epi16(0x1001)); /* low + 16 * high */
        _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi16_epi8(pairs));
    } else {
        uint8_t bytes[64];
        WIDE_STORE(bytes, v);
        join_bytes(p, bytes, 64, width);
    }
}

TARGET static void load_narrow(const ts_narrow *narrow, uint8_t *lines, const uint8_t *src, int64_t tiles,
                               int64_t step) {
    for (int64_t n = 0; n < tiles; n++, src += step) {
        for (int i = 0; i < narrow->lines; i++, lines += 64) {
            WIDE_STORE(lines, narrow->ahead_bytes ? load_parts(narrow, PREFETCH_AHEAD, i, src)
                                                  : load_parts(narrow, NO_PREFETCH, i, src));
        }
    }
}

TARGET static void store_narrow(const ts_narrow *narrow, uint8_t *dst, const uint8_t *lines, int64_t tiles,
                                int64_t step) {
    for (int64_t n = 0; n < tiles; n++, dst += step)
        for (int i = 0; i < narrow->lines; i++, lines += 64)
            store_joined(dst + narrow->dst_line[i], narrow->dst_width, WIDE_LOAD(lines));
}

const ts_tile_kernels ts_tiles_avx512 = {
    .line_bytes = 64,
    .orders = true,
    .by_stages = by_stages,
    .runs = ts_tile_runs_avx512,
    .masked = masked,
    .bytes = ts_bytes_avx512,
    .permutes = ts_permutes_avx512,
    .transposes = transposes,
    .columns = columns_by_width,
    .columns_of_runs = columns_of_runs,
    .adjoins = &adjoins,
    .masks_columns = true,
    .lists = true,
    .load_narrow = load_narrow,
    .store_narrow = store_narrow,
};
#define LANES    16
#define CONVERTS ts_converts_avx512
#include "kernel_convert.inc"
#endif
