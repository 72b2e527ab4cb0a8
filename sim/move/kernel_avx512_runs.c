/* Tiles whose lines continue runs that begin anywhere in a line of memory, stored past the caches, for hosts
 * with AVX-512 and its byte permutes (VBMI): what a line of a tile leaves of a line of memory is kept until
 * the next of its run comes. By way of a scratch the same takes twice as long: a core stores in order, so
 * that stores to the scratch wait for those that pass the caches, and loads wait for both. */
#include "kernel.h"

#ifdef TS_KERNELS_X86
#if !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#pragma GCC optimize("O3")
#endif
#include "kernel_avx512.h"

enum { LINE = TS_LINE_BYTES, MOST_LINES = 16 };

/* What a kernel is compiled for: constants. */
typedef struct {
    ts_load how;
    int stages, tiles; /* of a step, at most */
} kind;

/* What serves all tiles of a call. */
typedef struct {
    const ts_tile *tile;
    unpacks u;
    int64_t last_line[MOST_LINES]; /* src_line of those tiles in which a run ends within a line */
} call;

/* Some steps of the last loop. */
typedef struct {
    uint8_t *dst;
    const uint8_t *src;
    wide *kept;   /* of each line of a tile */
    int64_t left; /* bytes of the runs from here on */
    bool begins;  /* the runs */
} steps;

/* One line of each tile, as they continue a run. */
INLINE void store_run(const kind k, const steps *s, int line, uint8_t *p, const wide *v) {
    const int first = (int)((uintptr_t)p % LINE);
    const int64_t end = first + s->left; /* of the run, from the first line of memory on */
    const wide from = _mm512_loadu_si512(numbers + LINE - first);
    const bool begins = s->begins && first > 0, ends = k.tiles == 1 && end < LINE;
    wide kept = s->begins ? v[line] : s->kept[line];
    p -= first;
    UNROLL for (int n = 0; n < k.tiles; n++) {
        const wide next = v[n << k.stages | line], whole = _mm512_permutex2var_epi8(kept, from, next);
        if (n == 0 && (begins || ends))
            store_bytes(p, begins ? first : 0, end, whole);
        else
            _mm512_stream_si512((void *)(p + n * LINE), whole);
        kept = next;
    }
    if (s->left <= k.tiles * LINE && end > k.tiles * LINE)
        store_bytes(p + k.tiles * LINE, 0, end - k.tiles * LINE, _mm512_permutex2var_epi8(kept, from, kept));
    s->kept[line] = kept;
}

INLINE void move_tiles(const kind k, const call *c, const int64_t *line, const steps *s) {
    const int lines = 1 << k.stages, all = k.tiles * lines;
    const int64_t step = c->tile->loops[3].src_step;
    wide v[MOST_LINES];
    UNROLL for (int i = 0; i < all; i++) v[i] = load(k.how, s->src + i / lines * step + line[i % lines]);
    if (k.stages == 0 && c->tile->orders) arrange_all(c->tile->order, all, v);
    network(0, k.stages, all, &c->u, v);
    UNROLL for (int i = 0; i < lines; i++) store_run(k, s, i, s->dst + c->tile->dst_line[i], v);
}

/* So many of which there are kernels. */
INLINE void move_some(const kind k, int some, const call *c, const int64_t *line, const steps *s) {
    if (k.tiles >= 8 && some == 8)
        move_tiles((kind){k.how, k.stages, 8}, c, line, s);
    else if (k.tiles >= 4 && some == 4)
        move_tiles((kind){k.how, k.stages, 4}, c, line, s);
    else if (k.tiles >= 2 && some == 2)
        move_tiles((kind){k.how, k.stages, 2}, c, line, s);
    else
        move_tiles((kind){k.how, k.stages, 1}, c, line, s);
}

/* What a row does not read: a host that finds gaps no longer sees what comes next. */
INLINE void prefetch_rest(const kind k, const call *c, const steps *s) {
    const ts_kernel_loop loop = c->tile->loops[3];
    for (int64_t n = s->left / LINE; n < loop.count; n++)
        for (int i = 0; i < 1 << k.stages; i++)
            __builtin_prefetch(s->src + n * loop.src_step + c->tile->src_line[i] + LINE - 1, 0, 3);
}

/* Steps of the last loop, which continues the runs: as many at once as there are, up to what registers
 * hold. */
INLINE void move_row(const kind k, const call *c, steps s) {
    const ts_kernel_loop loop = c->tile->loops[3];
    prefetch_rest(k, c, &s);
    for (int64_t i = 0; i < loop.count && s.left > 0;) {
        const int64_t whole = s.left / LINE, lines = loop.count - i < whole ? loop.count - i : whole;
        int some = k.tiles;
        while (some > 1 && some > lines) some /= 2;
        move_some(k, some, c, lines == 0 ? c->last_line : c->tile->src_line, &s);
        i += some;
        s.src += some * loop.src_step;
        s.dst += some * loop.dst_step;
        s.left -= some * LINE;
        s.begins = false;
    }
}

/* What is not needed of the last tile need not be there: it is the line with the first byte. The network
 * tells which line each byte comes from. */
INLINE void find_last(const kind k, const ts_tile *tile, call *c) {
    const int lines = 1 << k.stages;
    const uint64_t there = first_bytes((tile->runs.bytes - 1) % LINE + 1);
    wide from[MOST_LINES];
    for (int i = 0; i < lines; i++) from[i] = _mm512_set1_epi8((char)i);
    network(0, k.stages, lines, &c->u, from);
    const int first = _mm_cvtsi128_si32(_mm512_castsi512_si128(from[0])) & UINT8_MAX;
    for (int i = 0; i < lines; i++) {
        uint64_t needed = 0;
        for (int n = 0; n < lines; n++) needed |= _mm512_cmpeq_epi8_mask(from[n], _mm512_set1_epi8((char)i));
        c->last_line[i] = tile->src_line[(needed & there) != 0 ? i : first];
    }
}

/* Where the runs that begin here end, and where the next begin: stores to these are the only ones that wait
 * for lines. */
INLINE void prefetch_ends(const kind k, const ts_tile *tile, uint8_t *dst) {
    UNROLL for (int i = 0; i < 1 << k.stages; i++) {
        uint8_t *p = dst + tile->dst_line[i];
        __builtin_prefetch(p + tile->runs.bytes - 1, 1, 3);
        __builtin_prefetch(p + tile->runs.next, 1, 3);
    }
}

/* A row of the tiles of the other loops at these steps, if it began with the runs. */
INLINE void move_row_at(const kind k, const call *c, steps row, const int64_t *at) {
    const ts_tile_runs *runs = &c->tile->runs;
    for (int i = 0; i < TS_TILE_LOOPS - 1; i++) {
        const ts_kernel_loop loop = c->tile->loops[i];
        row.src += at[i] * loop.src_step;
        row.dst += at[i] * loop.dst_step;
        row.kept += at[i] * runs->kept_step[i];
        row.left -= runs->along[i] ? at[i] * loop.dst_step : 0;
    }
    row.begins = row.left == runs->bytes;
    if (row.begins) prefetch_ends(k, c->tile, row.dst);
    move_row(k, c, row);
}

INLINE void move_rows(const kind k, const ts_tile *tile, uint8_t *dst, const uint8_t *src) {
    wide kept[TS_KEPT_LINES];
    call c = {.tile = tile};
    set_unpacks(tile, k.stages, false, &c.u);
    find_last(k, tile, &c);
    const steps first = {dst, src, kept, tile->runs.bytes, true};
    int64_t at[TS_TILE_LOOPS - 1];
    for (at[0] = 0; at[0] < tile->loops[0].count; at[0]++)
        for (at[1] = 0; at[1] < tile->loops[1].count; at[1]++)
            for (at[2] = 0; at[2] < tile->loops[2].count; at[2]++) move_row_at(k, &c, first, at);
}

#define RUNS(how, stages)                                                                                    \
    TARGET static void runs_##how##_##stages(const ts_tile *restrict tile, uint8_t *restrict dst,            \
                                             const uint8_t *restrict src) {                                  \
        move_rows((kind){how, stages, (stages) < 3 ? 8 >> (stages) : 1}, tile, dst, src);                    \
    }
#define EACH(x, how) x(how, 0) x(how, 1) x(how, 2) x(how, 3) x(how, 4)
EACH(RUNS, TS_LOAD_SAME)
EACH(RUNS, TS_LOAD_BF16_FROM_F32)
EACH(RUNS, TS_LOAD_F32_FROM_BF16)

#define ENTRY(how, stages) [how][stages] = runs_##how##_##stages,
ts_tile_function *const ts_tile_runs_avx512[TS_LOAD_COUNT][TS_TILE_STAGES + 1] = {
    EACH(ENTRY, TS_LOAD_SAME) EACH(ENTRY, TS_LOAD_BF16_FROM_F32) EACH(ENTRY, TS_LOAD_F32_FROM_BF16)};
#endif
