/* Permutes of a few lines, for hosts with AVX-512 and its byte permutes (VBMI). */
#include "kernel.h"

#ifdef TS_KERNELS_X86
#if !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#pragma GCC optimize("O3")
#endif
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi2,prfchw")))
#include "kernel_inline.h"

typedef __m512i wide;
enum { PAIRS = TS_PERMUTE_LINES / 2 };

/* What a kernel is compiled for: constants. */
typedef struct {
    int unit;                       /* 1, or TS_PERMUTE_WORD: bytes that are permuted together */
    int sources, lines;             /* lines: few, whose order is in registers; or 0 */
    bool loads_whole, stores_whole; /* all bytes of lines may be read; are there */
} kind;

INLINE wide permute_pair(const kind k, wide from, const wide *v, bool single) {
    if (k.unit == 1)
        return single ? _mm512_permutexvar_epi8(from, v[0]) : _mm512_permutex2var_epi8(v[0], from, v[1]);
    return single ? _mm512_permutexvar_epi32(from, v[0]) : _mm512_permutex2var_epi32(v[0], from, v[1]);
}

/* Of `part` what `from` says it takes. */
INLINE wide take_part(const kind k, wide line, wide from, wide part) {
    if (k.unit == 1) return _mm512_mask_mov_epi8(line, _mm512_movepi8_mask(from), part);
    return _mm512_mask_mov_epi32(line, _mm512_movepi32_mask(from), part);
}

/* A line of the destination: from each pair of lines, and the last alone, what comes from there. */
INLINE wide permute_sources(const kind k, const wide *from, const wide *v) {
    wide line = _mm512_setzero_si512();
    UNROLL for (int i = 0; i < PAIRS; i++) {
        if (2 * i >= k.sources) continue;
        wide part = permute_pair(k, from[i], v + 2 * i, 2 * i + 1 == k.sources);
        line = i == 0 ? part : take_part(k, line, from[i], part);
    }
    return line;
}

/* Where the bytes of a line come from. */
INLINE void load_order(const kind k, const ts_tile *tile, int line, wide *from) {
    UNROLL for (int i = 0; i < PAIRS; i++) if (2 * i < k.sources) from[i] =
        _mm512_load_si512(tile->permute.from[line][i]);
}

INLINE void store_permuted(const kind k, const ts_tile *tile, int line, uint8_t *dst, wide v) {
    dst += tile->dst_line[line];
    if (k.stores_whole)
        _mm512_storeu_si512(dst, v);
    else
        _mm512_mask_storeu_epi8(dst, tile->dst_mask[line], v);
}

/* What is loaded later, or stored soon. */
INLINE void prefetch_lines(const kind k, const ts_tile *tile, const uint8_t *dst, const uint8_t *src) {
    const int lines = k.lines ? k.lines : tile->permute.lines;
    for (int i = 0; tile->ahead_bytes && i < k.sources; i++)
        __builtin_prefetch(src + tile->src_line[i] + tile->ahead_bytes, 0, 2);
    for (int i = 0; ASKS_FOR_STORES && !tile->ahead_bytes && i < lines; i++)
        __builtin_prefetch(dst + tile->dst_line[i] + TS_LINE_BYTES - 1, 1, 3);
}

INLINE void permute_lines(const kind k, const ts_tile *tile, wide (*order)[PAIRS], uint8_t *dst,
                          const uint8_t *src) {
    wide v[TS_PERMUTE_LINES], from[PAIRS];
    prefetch_lines(k, tile, dst, src);
    UNROLL for (int i = 0; i < TS_PERMUTE_LINES; i++) {
        if (i >= k.sources) continue;
        v[i] = k.loads_whole ? _mm512_loadu_si512(src + tile->src_line[i])
                             : _mm512_maskz_loadu_epi8(tile->src_mask[i], src + tile->src_line[i]);
    }
    UNROLL for (int i = 0; i < k.lines; i++) store_permuted(k, tile, i, dst, permute_sources(k, order[i], v));
    for (int i = 0; k.lines == 0 && i < tile->permute.lines; i++) {
        load_order(k, tile, i, from);
        store_permuted(k, tile, i, dst, permute_sources(k, from, v));
    }
}

INLINE void permute_all(const kind k, const ts_tile *tile, uint8_t *dst, const uint8_t *src) {
    wide order[TS_PERMUTE_FEW][PAIRS];
    UNROLL for (int i = 0; i < k.lines; i++) load_order(k, tile, i, order[i]);
    EACH_UNLISTED(tile, dst, src, permute_lines(k, tile, order, to_tile, from_tile));
}

INLINE bool stores_whole(const ts_tile *tile) {
    uint64_t all = UINT64_MAX;
    for (int i = 0; i < tile->permute.lines; i++) all &= tile->dst_mask[i];
    return all == UINT64_MAX;
}

#define PERMUTE(unit, sources, lines)                                                                        \
    TARGET static void permute_##unit##_##sources##_##lines(                                                 \
        const ts_tile *restrict tile, uint8_t *restrict dst, const uint8_t *restrict src) {                  \
        if (!tile->loads_whole)                                                                              \
            permute_all((kind){unit, sources, lines, false, false}, tile, dst, src);                         \
        else if (!stores_whole(tile))                                                                        \
            permute_all((kind){unit, sources, lines, true, false}, tile, dst, src);                          \
        else                                                                                                 \
            permute_all((kind){unit, sources, lines, true, true}, tile, dst, src);                           \
    }
#define EACH_FEW(x, unit, sources)                                                                           \
    x(unit, sources, 1) x(unit, sources, 2) x(unit, sources, 3) x(unit, sources, 4)
#define PERMUTE_FEW(unit, sources)  EACH_FEW(PERMUTE, unit, sources)
#define PERMUTE_ANY(unit, sources)  PERMUTE(unit, sources, 0)
#define ENTRY(unit, sources, lines) [lines - 1] = permute_##unit##_##sources##_##lines,
#define ENTRIES(unit, sources)      {EACH_FEW(ENTRY, unit, sources) permute_##unit##_##sources##_0},
#define ENTRY_ANY(unit, sources)    {[TS_PERMUTE_FEW] = permute_##unit##_##sources##_0},
#define FEW_SOURCES(x, unit)        x(unit, 1) x(unit, 2) x(unit, 3) x(unit, 4)
#define MANY_SOURCES(x, unit)       x(unit, 5) x(unit, 6) x(unit, 7) x(unit, 8)
#define ALL(unit)                                                                                            \
    FEW_SOURCES(PERMUTE_FEW, unit) FEW_SOURCES(PERMUTE_ANY, unit) MANY_SOURCES(PERMUTE_ANY, unit)
ALL(1)
ALL(4)
const ts_permutes ts_permutes_avx512[2] = {{FEW_SOURCES(ENTRIES, 1) MANY_SOURCES(ENTRY_ANY, 1)},
                                           {FEW_SOURCES(ENTRIES, 4) MANY_SOURCES(ENTRY_ANY, 4)}};
#endif
