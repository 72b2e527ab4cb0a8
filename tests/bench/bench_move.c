/* How fast tensors change their layouts on this host, as ratios to memcpy and to a streaming copy in the same
 * run: large, and within a cache, prepared once; beside them oneDNN's reorder and NumPy, where configure.py found them.
 * An argument chooses a part: known, ragged, bytes, convert, gather, threads or random, whose seed may
 * follow. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/peer_dnnl.h"
#include "study/bench.h"

enum { LARGE, SMALL, SIZES, TEXT = 96 };

typedef struct {
    const char *name; /* what numpy_moves.py calls it */
    const char *src[SIZES], *dst[SIZES];
    double goal[SIZES];
} pair;

static const pair pairs[] = {
    {"f32 {1,0} -> T(8,128)",
     {"f32[8192,8192]{1,0}", "f32[128,256]{1,0}"},
     {"f32[8192,8192]{1,0:T(8,128)}", "f32[128,256]{1,0:T(8,128)}"},
     {1.25, 0.70}},
    {"f32 T(8,128) -> {1,0}",
     {"f32[8192,8192]{1,0:T(8,128)}", "f32[128,256]{1,0:T(8,128)}"},
     {"f32[8192,8192]{1,0}", "f32[128,256]{1,0}"},
     {1.20, 0.70}},
    {"f32 ragged -> T(8,128)",
     {"f32[8191,8101]{1,0}", "f32[127,251]{1,0}"},
     {"f32[8191,8101]{1,0:T(8,128)}", "f32[127,251]{1,0:T(8,128)}"},
     {1.25, 0.48}},
    {"bf16 {1,0} -> T(8,128)(2,1)",
     {"bf16[8192,16384]{1,0}", "bf16[256,256]{1,0}"},
     {"bf16[8192,16384]{1,0:T(8,128)(2,1)}", "bf16[256,256]{1,0:T(8,128)(2,1)}"},
     {1.20, 0.50}},
    {"bf16 T(8,128)(2,1) -> {1,0}",
     {"bf16[8192,16384]{1,0:T(8,128)(2,1)}", "bf16[256,256]{1,0:T(8,128)(2,1)}"},
     {"bf16[8192,16384]{1,0}", "bf16[256,256]{1,0}"},
     {1.20, 0.50}},
    {"int8 {1,0} -> T(8,128)(4,1)",
     {"s8[16384,16384]{1,0}", "s8[256,512]{1,0}"},
     {"s8[16384,16384]{1,0:T(8,128)(4,1)}", "s8[256,512]{1,0:T(8,128)(4,1)}"},
     {1.20, 0.52}},
    {"f32 {1,0} -> {0,1}",
     {"f32[8192,8192]{1,0}", "f32[128,256]{1,0}"},
     {"f32[8192,8192]{0,1}", "f32[128,256]{0,1}"},
     {0.75, 0.45}},
    {"f32 -> bf16 T(8,128)(2,1)",
     {"f32[8192,8192]{1,0}", "f32[128,256]{1,0}"},
     {"bf16[8192,8192]{1,0:T(8,128)(2,1)}", "bf16[128,256]{1,0:T(8,128)(2,1)}"},
     {1.10, 0.60}},
    {"bf16 T(8,128) -> T(8,128)(2,1)",
     {"bf16[8192,16384]{1,0:T(8,128)}", "bf16[256,256]{1,0:T(8,128)}"},
     {"bf16[8192,16384]{1,0:T(8,128)(2,1)}", "bf16[256,256]{1,0:T(8,128)(2,1)}"},
     {0.80, 0.40}},
    {"f32 NHWC -> NCHW4c",
     {"f32[64,128,128,64]", "f32[2,16,16,64]"},
     {"f32[64,128,128,64] S[(64,128,128,16,4):(1048576,512,4,65536,1)]",
      "f32[2,16,16,64] S[(2,16,16,16,4):(16384,64,4,1024,1)]"},
     {0.80, 0.40}},
    {"f32 -> partitions (Axe)",
     {"f32[65536,1024]", "f32[256,128]"},
     {"f32[65536,1024] S[(512,128,1024):(1024@F,1@P,1@F)]", "f32[256,128] S[(2,128,128):(128@F,1@P,1@F)]"},
     {0.80, 0.40}},
    {"pred -> T(32,128)(32,1)E(1)",
     {"pred[16384,16384]{1,0}", "pred[256,512]{1,0}"},
     {"pred[16384,16384]{1,0:T(32,128)(32,1)E(1)}", "pred[256,512]{1,0:T(32,128)(32,1)E(1)}"},
     {0.80, 0.40}},
};
enum { PAIRS = sizeof pairs / sizeof pairs[0] };

/* Sizes that no tile and no line of memory divides. */
static const pair ragged[] = {
    {"f32 -> T(8,128)",
     {"f32[8191,8101]{1,0}", "f32[127,129]{1,0}"},
     {"f32[8191,8101]{1,0:T(8,128)}", "f32[127,129]{1,0:T(8,128)}"},
     {1.0, 0.9}},
    {"f32 T(8,128) ->",
     {"f32[8191,8101]{1,0:T(8,128)}", "f32[127,129]{1,0:T(8,128)}"},
     {"f32[8191,8101]{1,0}", "f32[127,129]{1,0}"},
     {1.0, 0.9}},
    {"bf16 -> T(8,128)(2,1)",
     {"bf16[8191,16301]{1,0}", "bf16[127,251]{1,0}"},
     {"bf16[8191,16301]{1,0:T(8,128)(2,1)}", "bf16[127,251]{1,0:T(8,128)(2,1)}"},
     {1.0, 0.9}},
    {"bf16 T(8,128)(2,1) ->",
     {"bf16[8191,16301]{1,0:T(8,128)(2,1)}", "bf16[127,251]{1,0:T(8,128)(2,1)}"},
     {"bf16[8191,16301]{1,0}", "bf16[127,251]{1,0}"},
     {1.0, 0.9}},
    {"bf16 T(8,128) ->",
     {"bf16[8191,16301]{1,0:T(8,128)}", "bf16[127,251]{1,0:T(8,128)}"},
     {"bf16[8191,16301]{1,0}", "bf16[127,251]{1,0}"},
     {1.0, 0.9}},
    {"int8 -> T(8,128)(4,1)",
     {"s8[16381,16301]{1,0}", "s8[255,251]{1,0}"},
     {"s8[16381,16301]{1,0:T(8,128)(4,1)}", "s8[255,251]{1,0:T(8,128)(4,1)}"},
     {1.0, 0.9}},
    {"int8 T(8,128)(4,1) ->",
     {"s8[16381,16301]{1,0:T(8,128)(4,1)}", "s8[255,251]{1,0:T(8,128)(4,1)}"},
     {"s8[16381,16301]{1,0}", "s8[255,251]{1,0}"},
     {1.0, 0.9}},
    {"f32 {1,0} -> {0,1}",
     {"f32[8191,8101]{1,0}", "f32[127,129]{1,0}"},
     {"f32[8191,8101]{0,1}", "f32[127,129]{0,1}"},
     {0.75, 0.9}},
    {"bf16 {1,0} -> {0,1}",
     {"bf16[8191,16301]{1,0}", "bf16[127,251]{1,0}"},
     {"bf16[8191,16301]{0,1}", "bf16[127,251]{0,1}"},
     {0.75, 0.9}},
    {"int8 {1,0} -> {0,1}",
     {"s8[16381,16301]{1,0}", "s8[255,251]{1,0}"},
     {"s8[16381,16301]{0,1}", "s8[255,251]{0,1}"},
     {0.75, 0.9}},
    {"f32 -> bf16 T(8,128)(2,1)",
     {"f32[8191,8101]{1,0}", "f32[127,129]{1,0}"},
     {"bf16[8191,8101]{1,0:T(8,128)(2,1)}", "bf16[127,129]{1,0:T(8,128)(2,1)}"},
     {1.0, 0.9}},
    {"bf16 T(8,128)(2,1) -> f32",
     {"bf16[8191,8101]{1,0:T(8,128)(2,1)}", "bf16[127,129]{1,0:T(8,128)(2,1)}"},
     {"f32[8191,8101]{1,0}", "f32[127,129]{1,0}"},
     {1.0, 0.9}},
};

/* Rows of few lines, whose ends are much of them. */
static const pair short_rows[] = {
    {"f32, 871 columns ->", {"f32[77049,871]{1,0}"}, {"f32[77049,871]{1,0:T(8,128)}"}, {1.0}},
    {"f32, 871, T(8,128) ->", {"f32[77049,871]{1,0:T(8,128)}"}, {"f32[77049,871]{1,0}"}, {1.0}},
    {"bf16, 451 columns ->", {"bf16[297592,451]{1,0}"}, {"bf16[297592,451]{1,0:T(8,128)(2,1)}"}, {1.0}},
    {"bf16, 451, T(8,128)(2,1) ->",
     {"bf16[297592,451]{1,0:T(8,128)(2,1)}"},
     {"bf16[297592,451]{1,0}"},
     {1.0}},
    {"int8, 641 columns ->", {"s8[418774,641]{1,0}"}, {"s8[418774,641]{1,0:T(8,128)(4,1)}"}, {1.0}},
    {"int8, 641, T(8,128)(4,1) ->", {"s8[418774,641]{1,0:T(8,128)(4,1)}"}, {"s8[418774,641]{1,0}"}, {1.0}},
};

/* Permutes of bytes, and of runs. */
static const pair permutes[] = {
    {"bf16 heads of 80 outward",
     {"bf16[16,2048,16,80]{3,2,1,0}", "bf16[2,16,16,80]{3,2,1,0}"},
     {"bf16[16,2048,16,80]{3,1,2,0}", "bf16[2,16,16,80]{3,1,2,0}"},
     {1.0, 0}},
    {"u8 of 48 rows",
     {"u8[48,1398101]{1,0}", "u8[48,1365]{1,0}"},
     {"u8[48,1398101]{0,1}", "u8[48,1365]{0,1}"},
     {0, 0}},
    {"u8 {2,1,0} -> {1,2,0}",
     {"u8[64,1024,1024]{2,1,0}", "u8[16,64,64]{2,1,0}"},
     {"u8[64,1024,1024]{1,2,0}", "u8[16,64,64]{1,2,0}"},
     {0, 0}},
    {"u8 {2,1,0} -> {0,1,2}",
     {"u8[64,1024,1024]{2,1,0}", "u8[16,64,64]{2,1,0}"},
     {"u8[64,1024,1024]{0,1,2}", "u8[16,64,64]{0,1,2}"},
     {0, 0}},
    {"u8 ragged {2,1,0} -> {1,2,0}",
     {"u8[61,1021,1019]{2,1,0}", "u8[15,61,71]{2,1,0}"},
     {"u8[61,1021,1019]{1,2,0}", "u8[15,61,71]{1,2,0}"},
     {0, 0}},
    {"u8 ragged {1,0,2} -> {2,0,1}",
     {"u8[4290,474,33]{1,0,2}", "u8[71,31,29]{1,0,2}"},
     {"u8[4290,474,33]{2,0,1}", "u8[71,31,29]{2,0,1}"},
     {0, 0}},
    {"u8 NHWC -> NCHW",
     {"u8[300,224,224,3]{3,2,1,0}", "u8[1,147,149,3]{3,2,1,0}"},
     {"u8[300,224,224,3]{2,1,3,0}", "u8[1,147,149,3]{2,1,3,0}"},
     {0, 0}},
    {"u8 NCHW -> NHWC",
     {"u8[300,3,224,224]{3,2,1,0}", "u8[1,3,147,149]{3,2,1,0}"},
     {"u8[300,3,224,224]{1,3,2,0}", "u8[1,3,147,149]{1,3,2,0}"},
     {0, 0}},
    {"u8 NHWC -> CHWN",
     {"u8[224,224,3,300]{3,2,1,0}", "u8[31,29,3,25]{3,2,1,0}"},
     {"u8[224,224,3,300]{0,3,1,2}", "u8[31,29,3,25]{0,3,1,2}"},
     {0, 0}},
    {"u8 {3,2,1,0} -> {0,1,2,3}",
     {"u8[100,37,60,302]{3,2,1,0}", "u8[25,7,12,31]{3,2,1,0}"},
     {"u8[100,37,60,302]{0,1,2,3}", "u8[25,7,12,31]{0,1,2,3}"},
     {0, 0}},
    {"u8 {3,2,1,0} -> {2,0,3,1}",
     {"u8[100,37,60,302]{3,2,1,0}", "u8[25,7,12,31]{3,2,1,0}"},
     {"u8[100,37,60,302]{2,0,3,1}", "u8[25,7,12,31]{2,0,3,1}"},
     {0, 0}},
    {"u8 T(8,128) -> {0,1,2}",
     {"u8[431,1178,132]{1,0,2:T(8,128)}", "u8[31,141,15]{1,0,2:T(8,128)}"},
     {"u8[431,1178,132]{0,1,2}", "u8[31,141,15]{0,1,2}"},
     {0, 0}},
};

static bool measure(ts_arena *arena, const char *src, const char *dst, ts_move_options how, double seconds,
                    ts_bench_result *result) {
    ts_error err = {0};
    ts_source from = {"source", src, strlen(src)}, to = {"destination", dst, strlen(dst)};
    ts_bench bench = {.how = how, .seconds = seconds};
    if (ts_transfer_end_parse(&err, arena, &from, &bench.src) &&
        ts_transfer_end_parse(&err, arena, &to, &bench.dst) && ts_bench_run(&err, arena, &bench, result))
        return true;
    printf("%s -> %s: %s\n", src, dst, err.message);
    return false;
}

/* ---- NumPy: a line "ratio name" for each pair that it has ---- */

static void read_numpy(double *ratios, int size) {
    const char *python = getenv("NUMPY_PYTHON");
    char command[256], line[256], name[128];
    double ratio;
    memset(ratios, 0, PAIRS * sizeof *ratios);
    if (!python || !python[0]) return;
    snprintf(command, sizeof command, "%s tests/bench/numpy_moves.py %s", python,
             size == LARGE ? "large" : "small");
    FILE *pipe = popen(command, "r");
    while (pipe && fgets(line, sizeof line, pipe)) {
        if (sscanf(line, "%lf %127[^\n]", &ratio, name) != 2) continue;
        for (int i = 0; i < PAIRS; i++)
            if (strcmp(pairs[i].name, name) == 0) ratios[i] = ratio;
    }
    if (pipe) pclose(pipe);
}

static void print_ratio(double ratio) {
    if (ratio > 0)
        printf(" %7.2f", ratio);
    else
        printf(" %7s", "-");
}

/* Of one pair, but for what other libraries reach. */
static bool print_pair(const pair *p, int size) {
    ts_arena *arena = ts_arena_new();
    ts_bench_result r;
    bool done = measure(arena, p->src[size], p->dst[size],
                        (ts_move_options){.kernels = ts_kernels_best(), .threads = 1}, 0.4, &r);
    if (done) {
        printf("%-30s %8.1f %8.1f %8.2f", p->name, (double)r.bytes / r.move_seconds / 1e9,
               (double)r.bytes / r.memcpy_seconds / 1e9, r.memcpy_seconds / r.move_seconds);
        print_ratio(p->goal[size]);
        print_ratio(r.stream_seconds / r.move_seconds);
    }
    ts_arena_free(arena);
    return done;
}

static void print_head(const char *title) {
    printf("%-30s %8s %8s %8s %7s %7s", title, "GB/s", "memcpy", "ratio", "goal", "stream");
}

static bool print_known(int size) {
    double numpy[PAIRS];
    read_numpy(numpy, size);
    print_head(size == LARGE ? "tensors of 256 MiB" : "tensors of 128 KiB");
    printf(" %7s %7s\n", "oneDNN", "NumPy");
    for (int i = 0; i < PAIRS; i++) {
        if (!print_pair(&pairs[i], size)) return false;
        print_ratio(peer_dnnl_ratio(pairs[i].src[size], pairs[i].dst[size]));
        print_ratio(numpy[i]);
        printf("\n");
        fflush(stdout);
    }
    return true;
}

static bool print_pairs(const char *title, const pair *rows, size_t count, int size) {
    print_head(title);
    printf("\n");
    for (size_t i = 0; i < count; i++) {
        if (!print_pair(&rows[i], size)) return false;
        printf("\n");
        fflush(stdout);
    }
    return true;
}

static bool print_tables(void) { return print_known(LARGE) && print_known(SMALL); }

static bool print_ragged(void) {
    enum { RAGGED = sizeof ragged / sizeof ragged[0] };
    enum { SHORT_ROWS = sizeof short_rows / sizeof short_rows[0] };
    return print_pairs("ragged, 256 MiB", ragged, RAGGED, LARGE) &&
           print_pairs("short rows, 256 MiB", short_rows, SHORT_ROWS, LARGE) &&
           print_pairs("ragged, 64 KiB", ragged, RAGGED, SMALL);
}

static bool print_permutes(void) {
    enum { PERMUTES = sizeof permutes / sizeof permutes[0] };
    return print_pairs("bytes, 64 MiB (stream: 0.5)", permutes, PERMUTES, LARGE) &&
           print_pairs("bytes, 64 KiB", permutes, PERMUTES, SMALL);
}

/* ---- Threads: what asking for two costs, or gains ---- */

static bool print_threads(void) {
    printf("f32[N,N]{1,0} -> {0,1}: microseconds with one thread, and where two are asked for\n");
    for (int n = 64; n <= 4096; n *= 2) {
        char src[TEXT], dst[TEXT];
        ts_arena *arena = ts_arena_new();
        ts_bench_result one, two;
        snprintf(src, TEXT, "f32[%d,%d]{1,0}", n, n);
        snprintf(dst, TEXT, "f32[%d,%d]{0,1}", n, n);
        if (!measure(arena, src, dst, (ts_move_options){.kernels = ts_kernels_best(), .threads = 1}, 0.1,
                     &one) ||
            !measure(arena, src, dst, (ts_move_options){.kernels = ts_kernels_best(), .threads = 2}, 0.1,
                     &two))
            return false;
        printf("%7d %10.1f %10.1f\n", n, one.move_seconds * 1e6, two.move_seconds * 1e6);
        ts_arena_free(arena);
    }
    return true;
}

/* ---- What no loops describe: beside the definition, element by element ---- */

static bool print_gathers(void) {
    static const char *const gathers[][2] = {
        {"f32[2048,2048]{1,0}", "f32[2048,2048]{1,0:T(8,128)(*,3)}"},
        {"s4[2048,2048]{1,0:E(4)}", "s4[2048,2048]{1,0:T(8,128)(*,5)E(4)}"},
        {"f32[2048,2048]{1,0}", "bf16[2048,2048] lambda i, j: [i, j^(i&31)]"},
    };
    printf("gathers: times as fast as the definition; the goal is 5\n");
    for (size_t i = 0; i < sizeof gathers / sizeof gathers[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_bench_result fast, slow;
        if (!measure(arena, gathers[i][0], gathers[i][1], (ts_move_options){.kernels = ts_kernels_best()},
                     0.3, &fast) ||
            !measure(arena, gathers[i][0], gathers[i][1], (ts_move_options){0}, 0.3, &slow))
            return false;
        printf("%7.2f  %s -> %s\n", slow.move_seconds / fast.move_seconds, gathers[i][0], gathers[i][1]);
        ts_arena_free(arena);
    }
    return true;
}

/* ---- Conversions, from row to column: arrays of 64 Ki elements ---- */

static bool print_conversions(void) {
    static const char *const types[] = {"f32", "bf16", "f16", "f8e4m3fn", "f8e5m2", "f8e4m3b11fnuz",
                                        "s32", "s8",   "u8",  "pred",     "s4"};
    enum { TYPES = sizeof types / sizeof types[0] };
    printf("ratios to memcpy of conversions of 64 Ki elements\n%14s", "");
    for (int to = 0; to < TYPES; to++) printf(" %6.6s", types[to]);
    for (int from = 0; from < TYPES; from++) {
        printf("\n%-14s", types[from]);
        for (int to = 0; to < TYPES; to++) {
            char src[TEXT], dst[TEXT];
            ts_arena *arena = ts_arena_new();
            ts_bench_result r;
            snprintf(src, TEXT, "%s[65536]{0%s}", types[from], from == TYPES - 1 ? ":E(4)" : "");
            snprintf(dst, TEXT, "%s[65536]{0%s}", types[to], to == TYPES - 1 ? ":E(4)" : "");
            if (!measure(arena, src, dst, (ts_move_options){.kernels = ts_kernels_best()}, 0.02, &r))
                return false;
            printf(" %6.2f", r.memcpy_seconds / r.move_seconds);
            ts_arena_free(arena);
        }
    }
    printf("\n");
    return true;
}

/* ---- Random regular pairs: odd sizes, permuted, tiled or not on either side ---- */

enum { RANDOM_PAIRS = 40, MOST_DIMS = 4 };

typedef struct {
    char src[TEXT], dst[TEXT];
    double ratio, stream;
} random_pair;

enum { SEED = 20251121 };
static uint64_t state = SEED;

static uint32_t below(uint32_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

/* Half of the dims are short; the last takes what is left of the elements. */
static void random_dims(int64_t elements, int rank, int64_t *dims) {
    int last = (int)below((uint32_t)rank);
    for (int i = 0; i < rank; i++) {
        int64_t most = below(2) ? 33 : 1200;
        if (i != last) dims[i] = 2 + below((uint32_t)most);
        while (i != last && dims[i] > elements / 2) dims[i] = (dims[i] + 1) / 2;
        if (i != last) elements /= dims[i];
    }
    dims[last] = elements < 1 ? 1 : elements;
}

static void random_layout_text(char *text, const char *type, int width, int rank, const int64_t *dims) {
    static const char *const tiles[3][4] = {{"T(8,128)(4,1)", "T(8,128)", "T(32,128)(4,1)", "T(4,128)(4,1)"},
                                            {"T(8,128)(2,1)", "T(8,128)", "T(16,128)(2,1)", "T(2,128)(2,1)"},
                                            {"T(8,128)", "T(2,128)", "T(4,128)", "T(1024)"}};
    int order[MOST_DIMS], used = sprintf(text, "%s[", type);
    for (int i = 0; i < rank; i++) {
        int k = (int)below((uint32_t)i + 1);
        order[i] = order[k];
        order[k] = i;
        used += sprintf(text + used, "%s%d", i ? "," : "", (int)dims[i]);
    }
    for (int i = 0; i < rank; i++) used += sprintf(text + used, "%s%d", i ? "," : "]{", order[i]);
    bool tiled = below(2) && dims[order[0]] >= 64 && dims[order[1]] >= 4; /* or most is padding */
    sprintf(text + used, "%s%s}", tiled ? ":" : "", tiled ? tiles[width / 2][below(4)] : "");
}

static void random_pair_make(int64_t bytes, random_pair *made) {
    static const struct {
        const char *name;
        int width;
    } types[] = {{"f32", 4}, {"bf16", 2}, {"s8", 1}, {"s32", 4}, {"f16", 2}, {"u8", 1}};
    int64_t dims[MOST_DIMS];
    int type = (int)below(6), rank = 2 + (int)below(MOST_DIMS - 1);
    random_dims(bytes / types[type].width, rank, dims);
    do {
        random_layout_text(made->src, types[type].name, types[type].width, rank, dims);
        random_layout_text(made->dst, types[type].name, types[type].width, rank, dims);
    } while (strcmp(made->src, made->dst) == 0);
}

static int by_ratio(const void *left, const void *right) {
    double a = ((const random_pair *)left)->ratio, b = ((const random_pair *)right)->ratio;
    return a < b ? -1 : a > b;
}

static bool print_random_of(int size, int64_t bytes, const char *title) {
    random_pair all[RANDOM_PAIRS];
    for (int i = 0; i < RANDOM_PAIRS; i++) {
        ts_arena *arena = ts_arena_new();
        ts_bench_result r;
        random_pair_make(bytes, &all[i]);
        if (!measure(arena, all[i].src, all[i].dst, (ts_move_options){.kernels = ts_kernels_best()}, 0.1, &r))
            return false;
        all[i].ratio = r.memcpy_seconds / r.move_seconds;
        all[i].stream = r.stream_seconds / r.move_seconds;
        ts_arena_free(arena);
    }
    qsort(all, RANDOM_PAIRS, sizeof all[0], by_ratio);
    printf("%d random pairs of %s: least %.2f (goal %.1f), a tenth below %.2f, median %.2f (goal %.1f)\n",
           RANDOM_PAIRS, title, all[0].ratio, size == LARGE ? 0.4 : 0.3, all[RANDOM_PAIRS / 10].ratio,
           all[RANDOM_PAIRS / 2].ratio, size == LARGE ? 0.8 : 0.6);
    for (int i = 0; i < RANDOM_PAIRS; i++)
        printf("%7.2f %7.2f  %s -> %s\n", all[i].ratio, all[i].stream, all[i].src, all[i].dst);
    return true;
}

static bool print_random(void) {
    printf("seed %llu (the second argument)\n", (unsigned long long)state);
    return print_random_of(LARGE, 64 << 20, "64 MiB") && print_random_of(SMALL, 128 << 10, "128 KiB");
}

static const struct {
    const char *name;
    bool (*print)(void);
} parts[] = {
    {"known", print_tables},        {"ragged", print_ragged},  {"bytes", print_permutes},
    {"convert", print_conversions}, {"gather", print_gathers}, {"threads", print_threads},
    {"random", print_random},
};

int main(int argc, char **argv) {
    printf(
        "Bytes read and written a second, one thread, of moves that are prepared once and done many times;\n"
        "ratios to memcpy (stream: to a copy past the caches)\n");
    if (argc > 2) state = strtoull(argv[2], NULL, 10);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if ((argc < 2 || strcmp(argv[1], parts[i].name) == 0) && !parts[i].print()) return 1;
    return 0;
}
