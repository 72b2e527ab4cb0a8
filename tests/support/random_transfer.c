/* Random transfers for the tests of prices, and for their bench. */
#include "tests/support/random_transfer.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/random_layout.h"
#include "tests/support/shapes.h"
#include "base/number.h"
#include "layout/shape.h"

enum { PAGE = 4096 };

static const struct {
    const char *name;
    int bits;
} types[] = {{"f32", 32}, {"bf16", 16}, {"s8", 8}, {"u8", 8},   {"s4", 4},     {"pred", 8},
             {"s32", 32}, {"f16", 16},  {"u4", 4}, {"s16", 16}, {"f8e5m2", 8}, {"f64", 64}};

enum { USUAL_TILES = 5 }; /* the first ones */
static const char *const tiles[] = {"T(8,128)", "T(2,128)", "T(4,128)", "T(16,128)", "T(32,128)", "T(1,128)",
                                    "T(3,5)",   "T(5,3)",   "T(2,2)",   "T(1024)",   "T(256)",    "T(128)"};

static uint32_t pick(uint64_t *seed, size_t count) { return random_below(seed, (uint32_t)count); }

static double unit(uint64_t *seed) { return random_below(seed, 1 << 30) / (double)(1 << 30); }

/* Each dim takes a random part of the elements that are left; some are rounded, as users' are. */
static void draw_dims(uint64_t *seed, double elements, int rank, int64_t *dims) {
    for (int i = rank - 1; i >= 0; i--) {
        double part = i == 0 ? 1 : (0.3 + 1.4 * unit(seed)) / (i + 1);
        double dim = pow(elements, part < 1 ? part : 1);
        dims[i] = (int64_t)dim < 1 ? 1 : (int64_t)dim;
        int64_t round = random_below(seed, 2) ? 8 : 128;
        if (dims[i] > 64 && random_below(seed, 2)) dims[i] = ts_round_up(dims[i], round);
        elements /= (double)dims[i];
        if (elements < 1) elements = 1;
    }
}

/* Row-major, most of them; of the others, most keep the minor dim. */
static void draw_order(uint64_t *seed, int rank, int *order) {
    bool is_shuffled = random_below(seed, 3) == 0;
    int kept_dims = random_below(seed, 4) > 0;
    for (int i = 0; i < rank; i++) order[i] = rank - 1 - i;
    for (int i = rank - 1; i > kept_dims && is_shuffled; i--) {
        int other = kept_dims + (int)random_below(seed, (uint32_t)(i + 1 - kept_dims)), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

typedef struct {
    char *text;
    int used;
} writer;

static __attribute__((format(printf, 2, 3))) void add(writer *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    w->used += vsnprintf(w->text + w->used, (size_t)(RANDOM_TRANSFER_TEXT - w->used), format, args);
    va_end(args);
}

/* Where a tile's elements share a word, it is T(8,128)(4,1). */
static void draw_tile(uint64_t *seed, int bits, writer *w) {
    size_t common = sizeof tiles / sizeof *tiles;
    const char *tile = tiles[pick(seed, random_below(seed, 3) > 0 ? USUAL_TILES : common)];
    add(w, "%s", tile);
    if (bits < 32 && strchr(tile, ',') && random_below(seed, 4) > 0) add(w, "(%d,1)", 32 / bits);
}

static void draw_shape(uint64_t *seed, int type, int rank, const int64_t *dims, int space, char *text) {
    int order[RANDOM_TRANSFER_DIMS], bits = types[type].bits;
    bool is_tiled = random_below(seed, 4) > 0;
    writer w = {text, 0};
    draw_order(seed, rank, order);
    add(&w, "%s[", types[type].name);
    for (int i = 0; i < rank; i++) add(&w, i ? ",%lld" : "%lld", (long long)dims[i]);
    for (int i = 0; i < rank; i++) add(&w, i ? ",%d" : "]{%d", order[i]);
    if (is_tiled || bits < 8 || space) add(&w, ":");
    if (is_tiled) draw_tile(seed, bits, &w);
    if (bits < 8) add(&w, "E(%d)", bits);
    if (space) add(&w, "S(%d)", space);
    add(&w, "}");
}

static void make_plan(random_transfer *t, ts_arena *arena, int64_t most) {
    const ts_shape *src = read_shape(NULL, arena, t->src), *dst = read_shape(NULL, arena, t->dst);
    static const int64_t zero[RANDOM_TRANSFER_DIMS];
    t->plan = NULL;
    if (!src || !dst || !src->layout || !dst->layout || src->bytes > most || dst->bytes > most) return;
    t->src_in_hbm = src->memory_space == 0;
    t->dst_in_hbm = dst->memory_space == 0;
    int64_t behind = src->memory_space == dst->memory_space ? ts_round_up(src->storage_bytes, PAGE) : 0;
    ts_plan_side a = {.shape = src, .begin = t->is_slice ? t->src_begin : NULL},
                 b = {.shape = dst, .begin = t->is_slice ? zero : NULL, .base_bits = behind * 8};
    t->rank = dst->layout->rank;
    for (int i = 0; i < t->rank; i++) t->sizes[i] = dst->layout->dims[i];
    t->plan = ts_plan_new(NULL, arena, &a, &b, t->rank, dst->layout->dims);
}

random_transfer random_transfer_of(ts_arena *arena, const char *src, const char *dst) {
    random_transfer t = {0};
    snprintf(t.src, sizeof t.src, "%s", src);
    snprintf(t.dst, sizeof t.dst, "%s", dst);
    make_plan(&t, arena, INT64_MAX);
    return t;
}

/* The source gets larger by something around the slice, which is aligned to tiles or not. */
static void draw_slice(uint64_t *seed, random_transfer *t, int rank, const int64_t *sizes, int64_t *dims) {
    t->is_slice = random_below(seed, 5) == 0;
    for (int i = 0; i < rank; i++) {
        int64_t before = t->is_slice && random_below(seed, 2) ? random_below(seed, 64) : 0;
        if (before > 8 && random_below(seed, 2)) before = ts_round_up(before, i == rank - 1 ? 128 : 8);
        t->src_begin[i] = before;
        dims[i] = sizes[i] + before + (t->is_slice && random_below(seed, 2) ? random_below(seed, 64) : 0);
    }
}

static void draw(uint64_t *seed, random_transfer *t, int64_t least, int64_t most) {
    int type = (int)pick(seed, sizeof types / sizeof *types), to = type;
    int rank = 1 + (int)random_below(seed, RANDOM_TRANSFER_DIMS);
    int64_t sizes[RANDOM_TRANSFER_DIMS], dims[RANDOM_TRANSFER_DIMS];
    double bytes = (double)least * pow((double)most / (double)least, unit(seed));
    uint32_t space = random_below(seed, 6);
    if (random_below(seed, 6) == 0) to = (int)pick(seed, sizeof types / sizeof *types);
    draw_dims(seed, bytes * 8 / types[type].bits, rank, sizes);
    draw_slice(seed, t, rank, sizes, dims);
    draw_shape(seed, type, rank, dims, space == 0, t->src);
    draw_shape(seed, to, rank, sizes, space == 1, t->dst);
    if (random_below(seed, 6) == 0) {
        t->is_slice = false;
        memcpy(t->dst, t->src, sizeof t->dst);
    }
}

random_transfer random_transfer_draw(uint64_t *seed, ts_arena *arena, int64_t least, int64_t most) {
    random_transfer t;
    do {
        t = (random_transfer){0};
        draw(seed, &t, least, most);
        make_plan(&t, arena, 4 * most);
    } while (!t.plan || (!t.src_in_hbm && !t.dst_in_hbm));
    return t;
}

void random_transfer_print(const random_transfer *t, char *text, int size) {
    int used = snprintf(text, (size_t)size, "%s", t->src);
    for (int i = 0; i < t->rank && t->is_slice; i++)
        used += snprintf(text + used, (size_t)(size - used), "%s%lld:+%lld", i ? ", " : "[",
                         (long long)t->src_begin[i], (long long)t->sizes[i]);
    snprintf(text + used, (size_t)(size - used), "%s %s", t->is_slice ? "]" : "", t->dst);
}
