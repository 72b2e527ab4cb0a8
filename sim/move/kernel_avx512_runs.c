/* Tiles whose lines continue runs that begin anywhere in a line of memory, stored past the caches, for hosts with AVX-512
 * and its byte permutes (VBMI): what a line of a tile leaves of a line of memory is kept until the next of its run comes.
 * By way of a scratch the same takes twice as long: a core stores in order, so that stores to the scratch wait for those
 * that pass the caches, and loads wait for both. */
#include "kernel.h"

#ifdef TS_KERNELS_X86
#if !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#pragma GCC optimize("O3")
#endif
#include "kernel_avx512.h"

enum { LINE = TS_LINE_BYTES, MOST_LINES = 16 };

#define EIGHT(n)      n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7
#define THIRTY_TWO(n) EIGHT(n), EIGHT(n + 8), EIGHT(n + 16), EIGHT(n + 24)
static const uint8_t numbers[2 * LINE] = {THIRTY_TWO(0), THIRTY_TWO(32), THIRTY_TWO(64), THIRTY_TWO(96)};

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

/* The first so many bytes. */
INLINE uint64_t first_bytes(int64_t n) { return n >= LINE ? UINT64_MAX : (UINT64_C(1) << n) - 1; }

/* Of a line of memory that is not the run's alone, its part. */
INLINE void store_part(uint8_t *p, int64_t first, int64_t end, wide v) {
    _mm512_mask_storeu_epi8(p, first_bytes(end) & UINT64_MAX << first, v);
}

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
            store_part(p, begins ? first : 0, end, whole);
        else
            _mm512_stream_si512((void *)(p + n * LINE), whole);
        kept = next;
    }
    if (s->left <= k.tiles * LINE && end > k.tiles * LINE)
        store_part(p + k.tiles * LINE, 0, end - k.tiles * LINE, _mm512_permutex2var_epi8(kept, from, kept));
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

/* Steps of the last loop, which continues the runs: as many at once as there are, up to what registers hold. */
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

/* Does line i of the source have any of these bytes of those of the destination? */
INLINE bool has_any(const kind k, const unpacks *u, int i, uint64_t bytes) {
    const int lines = 1 << k.stages;
    uint64_t has = 0;
    wide v[MOST_LINES];
    for (int n = 0; n < lines; n++) v[n] = n == i ? _mm512_set1_epi8(-1) : _mm512_setzero_si512();
    network(0, k.stages, lines, u, v);
    for (int n = 0; n < lines; n++) has |= _mm512_movepi8_mask(v[n]);
    return (has & bytes) != 0;
}

/* What is not needed of the last tile need not be there: it is one of the lines that are. */
INLINE void find_last(const kind k, const ts_tile *tile, call *c) {
    const uint64_t bytes = first_bytes((tile->runs.bytes - 1) % LINE + 1);
    int needed = 0;
    while (!has_any(k, &c->u, needed, bytes)) needed++;
    for (int i = 0; i < 1 << k.stages; i++)
        c->last_line[i] = tile->src_line[has_any(k, &c->u, i, bytes) ? i : needed];
}

/* Where the runs that begin here end, and where the next begin: stores to these are the only ones that wait for lines. */
INLINE void prefetch_ends(const kind k, const ts_tile *tile, uint8_t *dst) {
    UNROLL for (int i = 0; i < 1 << k.stages; i++) {
        uint8_t *p = dst + tile->dst_line[i];
        __builtin_prefetch(p + tile->runs.bytes - 1, 1, 3);
        __builtin_prefetch(p + tile->runs.next, 1, 3);
    }
}

INLINE void move_calls(const kind k, const ts_tile *tile, uint8_t *dst, const uint8_t *src) {
    const ts_kernel_loop *loops = tile->loops;
    const ts_tile_runs *runs = &tile->runs;
    wide kept[TS_KEPT_LINES];
    call c = {.tile = tile};
    set_unpacks(tile, k.stages, false, &c.u);
    find_last(k, tile, &c);
    for (int64_t x = 0; x < loops[0].count; x++)
        for (int64_t y = 0; y < loops[1].count; y++)
            for (int64_t z = 0; z < loops[2].count; z++) {
                const int64_t at[] = {x, y, z};
                steps row = {dst, src, kept, runs->bytes, true};
                for (int i = 0; i < 3; i++) {
                    row.dst += at[i] * loops[i].dst_step;
                    row.src += at[i] * loops[i].src_step;
                    row.kept += at[i] * runs->kept_step[i];
                    row.left -= runs->along[i] ? at[i] * loops[i].dst_step : 0;
                }
                row.begins = row.left == runs->bytes;
                if (row.begins) prefetch_ends(k, tile, row.dst);
                move_row(k, &c, row);
            }
}

#define RUNS(how, stages)                                                                                    \
    TARGET static void runs_##how##_##stages(const ts_tile *restrict tile, uint8_t *restrict dst,            \
                                             const uint8_t *restrict src) {                                  \
        move_calls((kind){how, stages, (stages) < 3 ? 8 >> (stages) : 1}, tile, dst, src);                   \
    }
#define EACH(x, how) x(how, 0) x(how, 1) x(how, 2) x(how, 3) x(how, 4)
EACH(RUNS, TS_LOAD_SAME)
EACH(RUNS, TS_LOAD_BF16_FROM_F32)
EACH(RUNS, TS_LOAD_F32_FROM_BF16)

#define ENTRY(how, stages) [how][stages] = runs_##how##_##stages,
ts_tile_function *const ts_tile_runs_avx512[TS_LOAD_COUNT][TS_TILE_STAGES + 1] = {
    EACH(ENTRY, TS_LOAD_SAME) EACH(ENTRY, TS_LOAD_BF16_FROM_F32) EACH(ENTRY, TS_LOAD_F32_FROM_BF16)};
#endif
