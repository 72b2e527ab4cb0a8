/* Random pairs of layouts in memory that ends, or begins, where no page is: every version of the kernels
 * reads and writes nothing beyond its tensors, and gives the bytes of the definition. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/rounds.h"
#include "tests/support/random_layout.h"
#include "move/move.h"
#include "tests/support/test.h"

enum { PAIRS = 500, SANITIZED_PAIRS = 60 };
enum { BEHIND_BYTES = 64 }; /* of a source, as many as kernels may read on */
enum { MAX_DIMS = 4, FEW_ELEMENTS = 20000, MANY_ELEMENTS = 400000, TEXT = 128 };

typedef struct {
    uint8_t *map, *bytes;
    size_t map_bytes;
    int64_t length;
} edge;

/* `length` bytes, at whose end or beginning a page begins or ends that is not there. */
static edge edge_new(int64_t length, bool at_end) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = ((size_t)length + page - 1) / page * page;
    edge e = {.map_bytes = room + 2 * page, .length = length};
    e.map = mmap(NULL, e.map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(e.map != MAP_FAILED);
    assert_int_equal(mprotect(e.map + page, room, PROT_READ | PROT_WRITE), 0);
    e.bytes = e.map + page + (at_end ? room - (size_t)length : 0);
    return e;
}

static void edge_free(edge *e) { munmap(e->map, e->map_bytes); }

/* ---- Pairs ---- */

static const struct {
    const char *name;
    int tiles; /* which row of `tiles` */
} types[] = {{"f32", 0},      {"s32", 0},    {"bf16", 1}, {"f16", 1},           {"s8", 2},  {"u8", 2},
             {"f8e4m3fn", 2}, {"f8e5m2", 2}, {"s4", 2},   {"f8e4m3b11fnuz", 2}, {"pred", 2}};
enum { TYPES = sizeof types / sizeof types[0], SIDES = 2 };
static const char *const tiles[3][4] = {{"T(8,128)", "T(2,128)", "T(4,128)", "T(1024)"},
                                        {"T(8,128)(2,1)", "T(8,128)", "T(16,128)(2,1)", "T(2,128)(2,1)"},
                                        {"T(8,128)(4,1)", "T(8,128)", "T(32,128)(4,1)", "T(4,128)(4,1)"}};

static int random_dims(uint64_t *seed, int64_t *dims) {
    int rank = 2 + (int)random_below(seed, MAX_DIMS - 1), last = (int)random_below(seed, (uint32_t)rank);
    int64_t elements = random_below(seed, 4) ? FEW_ELEMENTS : MANY_ELEMENTS;
    for (int i = 0; i < rank; i++) {
        if (i == last) continue;
        dims[i] = 1 + random_below(seed, random_below(seed, 2) ? 33 : 600);
        while (dims[i] > elements / 2) dims[i] = (dims[i] + 1) / 2;
        elements /= dims[i];
    }
    dims[last] = 1 + random_below(seed, (uint32_t)elements);
    return rank;
}

static const ts_shape *random_shape(uint64_t *seed, ts_arena *arena, int type, int rank, const int64_t *dims,
                                    char *text) {
    int order[MAX_DIMS], used = sprintf(text, "%s[", types[type].name);
    for (int i = 0; i < rank; i++) {
        int k = (int)random_below(seed, (uint32_t)i + 1);
        order[i] = order[k];
        order[k] = i;
        used += sprintf(text + used, "%s%d", i ? "," : "", (int)dims[i]);
    }
    for (int i = 0; i < rank; i++) used += sprintf(text + used, "%s%d", i ? "," : "]{", order[i]);
    bool tiled = random_below(seed, 2) && dims[order[0]] >= 16;
    sprintf(text + used, "%s%s}", tiled ? ":" : "",
            tiled ? tiles[types[type].tiles][random_below(seed, 4)] : "");
    ts_source source = {"shape", text, strlen(text)};
    const ts_shape *shape = ts_shape_parse(NULL, arena, &source);
    assert_non_null(shape);
    return shape;
}

static void fill(uint64_t *seed, const edge *e) {
    for (int64_t i = 0; i < e->length; i++) e->bytes[i] = (uint8_t)random_below(seed, 256);
}

typedef struct {
    const ts_plan *plan;
    edge src;
    int64_t dst_bytes;
    bool at_end;
} moved;

static edge move_between(ts_arena *arena, ts_prepared_move *prepared, const moved *pair, bool at_end) {
    edge dst = edge_new(pair->dst_bytes, at_end);
    memset(dst.bytes, 0x55, (size_t)dst.length);
    ts_space *from = ts_space_wrap(arena, "source", pair->src.bytes, pair->src.length),
             *to = ts_space_wrap(arena, "destination", dst.bytes, dst.length);
    assert_true(ts_move_execute(NULL, prepared, (ts_move_end){from, 0}, (ts_move_end){to, 0}));
    return dst;
}

/* The second move of one that is prepared. The first goes elsewhere, and is the same; so is one by itself. */
static edge move(const moved *pair, const ts_move_options *options) {
    ts_arena *arena = ts_arena_new();
    ts_prepared_move *prepared = ts_move_prepare(arena, pair->plan, options);
    edge first = move_between(arena, prepared, pair, !pair->at_end),
         second = move_between(arena, prepared, pair, pair->at_end);
    assert_memory_equal(first.bytes, second.bytes, (size_t)first.length);
    ts_space *from = ts_space_wrap(arena, "source", pair->src.bytes, pair->src.length),
             *to = ts_space_wrap(arena, "destination", first.bytes, first.length);
    memset(first.bytes, 0x55, (size_t)first.length);
    assert_true(ts_dma_move_with(NULL, pair->plan, from, to, options));
    assert_memory_equal(first.bytes, second.bytes, (size_t)first.length);
    edge_free(&first);
    ts_arena_free(arena);
    return second;
}

TEST_WITH_ARENA(random_pairs) {
    const char *given = getenv("TS_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : 11;
    for (int n = 0, most = rounds(PAIRS, SANITIZED_PAIRS); n < most; n++) {
        ts_arena_reset(arena);
        int64_t dims[MAX_DIMS];
        char text[SIDES][TEXT];
        uint64_t pair_seed = seed;
        int type = (int)random_below(&seed, TYPES), rank = random_dims(&seed, dims);
        int other = random_below(&seed, 3) ? type : (int)random_below(&seed, TYPES);
        const ts_shape *from = random_shape(&seed, arena, type, rank, dims, text[0]),
                       *to = random_shape(&seed, arena, other, rank, dims, text[1]);
        ts_plan_side a = {from, NULL, NULL, 0}, b = {to, NULL, NULL, 0};
        moved pair = {.at_end = random_below(&seed, 3) > 0, .dst_bytes = to->storage_bytes};
        pair.plan = ts_plan_new(NULL, arena, &a, &b, rank, dims);
        int64_t behind = random_below(&seed, 2) ? BEHIND_BYTES : 0;
        pair.src = edge_new(from->storage_bytes + behind, pair.at_end);
        fill(&seed, &pair.src);
        edge want = move(&pair, &(ts_move_options){.threads = 1});
        for (int version = 0; version < 2 * TS_KERNELS_COUNT; version++) {
            ts_move_options options = {.kernels = ts_kernels_get(version / 2),
                                       .stores = version & 1 ? TS_STORES_STREAMING : TS_STORES_ORDINARY,
                                       .threads = 1 + n % 2};
            if (!options.kernels) continue;
            edge got = move(&pair, &options);
            if (memcmp(got.bytes, want.bytes, (size_t)got.length) != 0)
                fail_msg("TS_SEED=%llu: %s to %s: %s, %s, moves otherwise", (unsigned long long)pair_seed,
                         text[0], text[1], ts_kernels_name(version / 2),
                         version & 1 ? "streaming" : "in the cache");
            edge_free(&got);
        }
        edge_free(&want);
        edge_free(&pair.src);
    }
}
