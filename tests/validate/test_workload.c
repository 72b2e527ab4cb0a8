/* What rows of measurements state: each row's figures as its words say them, worked out by hand. */
#include <string.h>

#include "tests/support/test.h"
#include "base/text.h"
#include "validate/validate.h"

static const char *const kind_names[] = {"none",        "copy",      "matmul",    "kernel",    "passes",
                                         "elementwise", "layernorm", "attention", "collective"};
static const char *const collective_names[TS_COLLECTIVE_KIND_COUNT] = {
    [TS_COLLECTIVE_PERMUTE] = "permute",
    [TS_COLLECTIVE_ALL_GATHER] = "all-gather",
    [TS_COLLECTIVE_ALL_REDUCE] = "all-reduce"};

static void say_list(ts_text *out, const char *name, const int64_t *numbers, int count) {
    for (int i = 0; i < count; i++) ts_text_add(out, "%s%lld", i == 0 ? name : "x", (long long)numbers[i]);
}

static void say_number(ts_text *out, const char *name, int64_t number) {
    if (number != 0) ts_text_add(out, " %s=%lld", name, (long long)number);
}

static void say_products(ts_text *out, const ts_workload *w) {
    for (int i = 0; i < w->count; i++) {
        const ts_work_product *p = &w->products[i];
        say_list(out, " ", (const int64_t[]){p->m, p->n, p->k}, 3);
        if (p->weights != 1) say_number(out, "weights", p->weights);
        ts_text_add(out, ":%lld>%lld", (long long)p->in_bytes, (long long)p->out_bytes);
        if (p->transcendentals > 0) ts_text_add(out, " eup=%g", p->transcendentals);
        if (p->extra_reads > 0) ts_text_add(out, " more=%g", p->extra_reads);
    }
}

static void say_flags(ts_text *out, const ts_workload *w) {
    const struct {
        bool set;
        const char *name;
    } flags[] = {{w->transposed, "transposed"}, {w->relu, "relu"},       {w->random, "random"},
                 {w->causal, "causal"},         {w->one_dim, "one-dim"}, {!w->launched, "inside"}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i].set) ts_text_add(out, " %s", flags[i].name);
}

/* All of it: what is 0 or false is left out. */
static const char *said(ts_arena *arena, const ts_workload *w) {
    if (w->reason != NULL) return w->reason;
    ts_text out = ts_text_begin(arena);
    ts_text_add(&out, "%s", kind_names[w->kind]);
    if (w->kind == TS_WORK_COLLECTIVE) ts_text_add(&out, " %s", collective_names[w->collective]);
    say_list(&out, " ", w->dims, w->rank);
    say_number(&out, "in", w->inputs);
    say_number(&out, "read", w->read_bytes);
    say_number(&out, "written", w->written_bytes);
    say_products(&out, w);
    if (w->block[0] || w->block[1] || w->block[2]) say_list(&out, " block=", w->block, 3);
    say_number(&out, "b", w->batch);
    say_number(&out, "h", w->heads);
    say_number(&out, "l", w->length);
    say_number(&out, "d", w->depth);
    say_number(&out, "bytes", w->bytes);
    say_number(&out, "members", w->members);
    say_list(&out, " chips=", w->chips, w->chip_dims);
    say_flags(&out, w);
    ts_text_add(&out, " %gus", w->measured_us);
    return out.bytes;
}

typedef struct {
    const char *group, *chip, *words, *parameters, *unit;
    double value;
    const char *said;
} row_case;

static void check_rows(const row_case *rows, size_t count) {
    ts_arena *arena = ts_arena_new();
    ts_measurements m;
    ts_error err = {0};
    assert_true(ts_measurements_load(&err, arena, NULL, 0, &m));
    for (size_t i = 0; i < count; i++) {
        const ts_measured_row row = {.id = "r",
                                     .group = rows[i].group ? rows[i].group : "",
                                     .chip = rows[i].chip,
                                     .workload = rows[i].words,
                                     .parameters = rows[i].parameters,
                                     .timing = "",
                                     .unit = rows[i].unit ? rows[i].unit : "us",
                                     .value = rows[i].value ? rows[i].value : 1};
        ts_workload work;
        ts_workload_read(&m.groups, &m.rules, &row, &work);
        if (strcmp(said(arena, &work), rows[i].said) != 0)
            fail_msg("%s %s %s: %s, expected %s", row.chip, row.workload, row.parameters, said(arena, &work),
                     rows[i].said);
    }
    ts_arena_free(arena);
}
#define CHECK(rows) check_rows(rows, sizeof(rows) / sizeof *(rows))

/* A row may be of several chips: "x8", extents of which one is above 1, or cores behind a hyphen, of which v2 to
 * v4 and v5p have two a chip. */
static void chips_are_counted(void **state) {
    (void)state;
    static const char one[] = "copy 4096 read=4096 written=4096 1us",
                      several[] = "it is of several chips, and no collective";
    static const struct {
        const char *chip;
        bool several;
    } rows[] = {{"v5e", false},        {"v5e x1", false},
                {"v5e x2", true},      {"v5e x8", true},
                {"v5e X8", true},      {"v5e 1x1", false},
                {"v5e 2x1", true},     {"v5e 1x2", true},
                {"v5e 10x1", true},    {"v5e 1x1x1", false},
                {"v6e-1", false},      {"v6e-2", true},
                {"v6e-8", true},       {"v5litepod-1", false},
                {"v4-2", false},       {"v4-3", true},
                {"v4-8", true},        {"v3-2", false},
                {"v2-4", true},        {"v5p-2", false},
                {"v5p-4", true},       {"v7x (1 of 2 TC)", false},
                {"tpu v5e", false},    {"v5e, xla 2", false},
                {"a v5e xl 3", false}, {"v5e 2 of 8", false},
                {"v5e 2 2", false}};
    ts_arena *arena = ts_arena_new();
    ts_measurements m;
    assert_true(ts_measurements_load(NULL, arena, NULL, 0, &m));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_workload work;
        const ts_measured_row row = {.group = "",
                                     .chip = rows[i].chip,
                                     .workload = "copy HBM to HBM",
                                     .parameters = "bytes=4096",
                                     .timing = "",
                                     .unit = "us",
                                     .value = 1};
        ts_workload_read(&m.groups, &m.rules, &row, &work);
        if (strcmp(said(arena, &work), rows[i].several ? several : one) != 0)
            fail_msg("%s: %s", rows[i].chip, said(arena, &work));
    }
    ts_arena_free(arena);
}

static void chips_that_are_not_known(void **state) {
    (void)state;
    static const char none[] = "there is no machine of that chip";
    static const row_case rows[] = {
        {NULL, "v8", "copy HBM", "bytes=4096", NULL, 0, none},
        {NULL, "", "copy HBM", "bytes=4096", NULL, 0, none},
        {NULL, "v5ex", "copy HBM", "bytes=4096", NULL, 0, none}, /* a name ends where the word does */
        {NULL, "xv5e", "copy HBM", "bytes=4096", NULL, 0, none}, /* and begins where one does */
        {"copy", "v5e", "", "bytes=4096", NULL, 0, none},        /* of a group's row the parameters say it */
        {"copy", "", "", "{\"chip\": \"v5e\", \"bytes\": 4096}", NULL, 0,
         "copy 4096 read=4096 written=4096 1us"},
        {"copies", "v5e", "", "", NULL, 0, "a group that is not known"},
    };
    CHECK(rows);
}

/* Times in their units; a rate is of the bytes that are read and written, or of two operations a product. */
static void units_of_times(void **state) {
    (void)state;
    static const char copy[] = "copy HBM", gemm[] = "gemm";
    static const row_case rows[] = {
        {NULL, "v5e", copy, "bytes=4096", "us", 2.5, "copy 4096 read=4096 written=4096 2.5us"},
        {NULL, "v5e", copy, "bytes=4096", "ms", 2.5, "copy 4096 read=4096 written=4096 2500us"},
        {NULL, "v5e", copy, "bytes=4096", "s", 2.5, "copy 4096 read=4096 written=4096 2.5e+06us"},
        {NULL, "v5e", copy, "bytes=4096", "ns", 2500, "copy 4096 read=4096 written=4096 2.5us"},
        {NULL, "v5e", copy, "bytes=4096", "ps", 2e6, "copy 4096 read=4096 written=4096 2us"},
        {NULL, "v5e", copy, "bytes=4096", "\xc2\xb5s", 2, "copy 4096 read=4096 written=4096 2us"},
        /* 16 MB of traffic at 0.5 TB/s are 32 us */
        {NULL, "v5e", copy, "bytes=8000000", "GB/s", 500, "copy 8000000 read=8000000 written=8000000 32us"},
        {NULL, "v5e", copy, "bytes=8000000", "tb/s", 0.5, "copy 8000000 read=8000000 written=8000000 32us"},
        {NULL, "v5e", copy, "bytes=1GiB", "GiB/s", 500,
         "copy 1073741824 read=1073741824 written=1073741824 4000us"},
        /* 2 x 1000^3 operations at 100 T/s are 20 us */
        {NULL, "v5e", gemm, "M=N=K=1000", "TFLOP/s", 100, "matmul 1000x1000x1000:2>2 random 20us"},
        {NULL, "v5e", gemm, "M=N=K=1000", "TFLOPS", 100, "matmul 1000x1000x1000:2>2 random 20us"},
        {NULL, "v5e", gemm, "M=N=K=1000", "GFLOP/s", 1e5, "matmul 1000x1000x1000:2>2 random 20us"},
        {NULL, "v5e", gemm, "M=N=K=1000", "GB/s", 1,
         "it is not a time"}, /* of a product no bytes are stated */
        {NULL, "v5e", copy, "bytes=4096", "TFLOP/s", 1, "it is not a time"},
        {NULL, "v5e", copy, "bytes=4096", "%", 1, "it is not a time"},
    };
    CHECK(rows);
}

static void copies(void **state) {
    (void)state;
    static const char copy[] = "copy to S(3)";
    static const row_case rows[] = {
        {NULL, "v4", copy, "shape=f16[512,1024]{1,0}", NULL, 0, "copy 512x1024 inside 1us"},
        {NULL, "v4", copy, "shape=f16[2,3,128]{2,1,0}", NULL, 0, "copy 2x3x128 inside 1us"},
        {NULL, "v4", copy, "shape=f16[256]{0}", NULL, 0, "copy 2x128 inside 1us"}, /* rows of 128 lanes */
        {NULL, "v4", copy, "shape=f16[257]{0}", NULL, 0, "copy 3x128 inside 1us"},
        {NULL, "v4", copy, "shape=f16[]", NULL, 0, "it states no shape"},
        {NULL, "v4", copy, "bytes=4", NULL, 0, "it states no shape"},
        {NULL, "v4", copy, "shape=f16[512,0]", NULL, 0, "it states no shape"},
        {NULL, "v4", copy, "shape=f16[8388608,4194304]", NULL, 0, "it states no shape"}, /* over 2^44 */
        {NULL, "v4", copy, "shape=f16[4194304,4194304]", NULL, 0, "copy 4194304x4194304 inside 1us"},
        {NULL, "v5e", "copy HBM", "size=1 KiB", NULL, 0, "copy 1024 read=1024 written=1024 1us"},
        {NULL, "v5e", "copy HBM", "size=17592186044416", NULL, 0,
         "copy 17592186044416 read=17592186044416 written=17592186044416 1us"},
        {NULL, "v5e", "copy HBM", "size=17592186044417", NULL, 0, "it states no size"},
        {NULL, "v5e", "copy HBM", "size=1", NULL, 0, "copy 1 read=1 written=1 1us"},
        {NULL, "v5e", "copy HBM", "size=0.5", NULL, 0, "it states no size"},
    };
    CHECK(rows);
}

static void products(void **state) {
    (void)state;
    static const char none[] = "it does not state M, N and K";
    static const row_case rows[] = {
        {NULL, "v5e", "gemm", "M=8 N=16 K=32", NULL, 0, "matmul 8x16x32:2>2 random 1us"},
        {NULL, "v5e", "gemm", "m=8 n=16 k=32", NULL, 0, "matmul 8x16x32:2>2 random 1us"},
        {NULL, "v5e", "gemm", "n=64", NULL, 0, "matmul 64x64x64:2>2 random 1us"},
        {NULL, "v5e", "gemm", "size=64", NULL, 0, "matmul 64x64x64:2>2 random 1us"},
        {NULL, "v5e", "gemm", "N=16 size=64", NULL, 0, "matmul 16x16x16:2>2 random 1us"},
        {NULL, "v5e", "gemm", "of 8x16x32", NULL, 0, "matmul 8x16x32:2>2 random 1us"},
        {NULL, "v5e", "gemm 8x16x32", "", NULL, 0, "matmul 8x16x32:2>2 random 1us"},
        {NULL, "v5e", "gemm 8x16, 8x16x32x64, 1x2x3", "", NULL, 0, "matmul 1x2x3:2>2 random 1us"},
        {NULL, "v5e", "gemm a8x16x32 0x1x1", "", NULL, 0, none},
        {NULL, "v5e", "gemm", "shape=[8,16,32]", NULL, 0, "matmul 8x16x32:2>2 random 1us"},
        {NULL, "v5e", "gemm", "shape=[8,16]", NULL, 0, none},
        {NULL, "v5e", "gemm", "shape=[8,16,32,4]", NULL, 0, none},
        {NULL, "v5e", "gemm", "size=1", NULL, 0, "matmul 1x1x1:2>2 random 1us"},
        {NULL, "v5e", "gemm", "M=8 K=32", NULL, 0, none},
        {NULL, "v5e", "gemm", "N=8 K=32", NULL, 0, none},
        {NULL, "v5e", "gemm", "", NULL, 0, none},
        /* any two of the three extents make a matrix: at most 2^44 elements */
        {NULL, "v5e", "gemm", "M=8388608 N=4194304 K=1", NULL, 0, none},
        {NULL, "v5e", "gemm", "M=1 N=4194304 K=8388608", NULL, 0, none},
        {NULL, "v5e", "gemm", "M=8388608 N=1 K=4194304", NULL, 0, none},
        {NULL, "v5e", "gemm", "M=8 N=16 K=32 dtype=f32", NULL, 0, "matmul 8x16x32:4>4 random 1us"},
        {NULL, "v5e", "gemm of f32", "M=8 N=16 K=32", NULL, 0, "matmul 8x16x32:4>4 random 1us"},
        {NULL, "v5e", "gemm", "M=8 N=16 K=32 dtype=bf16", NULL, 0, "matmul 8x16x32:2>2 random 1us"},
        {NULL, "v5e", "gemm of int8", "M=8 N=16 K=32", NULL, 0, "a product of 8-bit values"},
        {NULL, "v5e", "gemm", "M=8 N=16 K=32 dtype=fp8", NULL, 0, "a product of 8-bit values"},
        {NULL, "v5e", "gemm", "M=8 N=16 K=32 dtype=f64", NULL, 0,
         "a product of another type than f32, bf16 and f16"},
        {NULL, "v5e", "gemm", "M=8 N=16 K=32 bin=4 bout=8 eup=2.5 xp=0.5 nb=4 rnd=0", NULL, 0,
         "matmul 8x16x32 weights=4:4>8 eup=2.5 more=0.5 1us"},
        {NULL, "v5e", "gemm", "M=8 N=16 K=32 bout=0 nb=8", NULL, 0,
         "matmul 8x16x32 weights=8:2>0 random 1us"},
        {NULL, "v5e", "gemm", "M=8 N=16 K=32 nb=9", NULL, 0, "matmul 8x16x32:2>2 random 1us"}, /* above M */
        {NULL, "v5e", "gemm", "M=8 N=16 K=32 bin=9", NULL, 0, "its elements are of more than eight bytes"},
        {NULL, "v5e", "gemm", "M=8 N=16 K=32 bout=9", NULL, 0, "its elements are of more than eight bytes"},
        {NULL, "v5e", "gemm", "M=8 N=16 K=32 eup=16", NULL, 0, "matmul 8x16x32:2>2 eup=16 random 1us"},
        {NULL, "v5e", "gemm", "M=8 N=16 K=32 eup=17", NULL, 0, "too many transcendental functions"},
        {NULL, "v5e", "gemm", "M=8 N=4194304 K=4194304 nb=2", NULL, 0, "its matrices are too many"},
        {NULL, "v5e", "gemm", "M=8 N=16 K=32 blk=[2,4,6]", NULL, 0,
         "matmul 8x16x32:2>2 block=2x4x6 random 1us"},
        {NULL, "v5e", "gemm", "M=8 N=16 K=32 block_shape=(2,4) block_k=6", NULL, 0,
         "matmul 8x16x32:2>2 block=2x4x6 random 1us"},
        {NULL, "v5e", "gemm", "M=8 N=16 K=32 bm=2 bk=6", NULL, 0,
         "matmul 8x16x32:2>2 block=2x0x6 random 1us"},
    };
    CHECK(rows);
}

static void kernels_and_passes(void **state) {
    (void)state;
    static const char kernel[] = "pallas-kernels-v5e";
    static const row_case rows[] = {
        {kernel, "", "", "M=N=K=64 blk=[2,4,6]", NULL, 0, "kernel 64x64x64:2>2 block=2x4x6 random 1us"},
        {kernel, "", "a trhs", "M=N=K=64 blk=[2,4,6]", NULL, 0,
         "kernel 64x64x64:2>2 block=2x4x6 transposed random 1us"},
        {kernel, "", "", "M=N=K=64 blk=[2,4]", NULL, 0, "it states no blocks"},
        {kernel, "", "", "M=N=64 blk=[2,4,6]", NULL, 0, "it does not state M, N and K"},
        {"stream-v6e", "", "", "R=300 W=200", NULL, 0, "passes read=300 written=200 1us"},
        {"stream-v6e", "", "", "R=300", NULL, 0, "passes read=300 1us"},
        {"stream-v6e", "", "", "W=300", NULL, 0, "it does not state the bytes it reads"},
        {"small-v4", "", "", "sh=[4,8] nin=3", NULL, 0, "elementwise 4x8 in=3 1us"},
        {"small-v4", "", "max", "shape=[4,8]", NULL, 0, "elementwise 4x8 in=2 1us"},
        {"small-v4", "", "tanh", "n=32", NULL, 0, "elementwise 32 in=1 1us"},
        {"small-v4", "", "tanh", "", NULL, 0, "it states no shape"},
        {"small-v4", "", "", "sh=[4,8] nin=4", NULL, 0, "elementwise 4x8 in=4 1us"},
        {"small-v4", "", "", "sh=[4,8] nin=5", NULL, 0, "it has more than four inputs"},
        {"matmul-v4", "", "", "M=N=K=64", NULL, 0, "how XLA tiles f16 products is not public"},
        /* f16 on v4: groups by size */
        {NULL, "v4", "f16 elementwise add", "shape=(128,128)", NULL, 0, "elementwise 128x128 in=2 1us"},
        {NULL, "v4", "f16 matmul", "M=256 N=256 K=256", NULL, 0,
         "products of f16 convert their operands in a way that is not public"},
        {NULL, "v4", "f16 matmul", "M=257 N=256 K=256", NULL, 0, "how XLA tiles f16 products is not public"},
        {NULL, "v4", "f16 matmul", "M=256 N=257 K=256", NULL, 0, "how XLA tiles f16 products is not public"},
        {NULL, "v4", "f16 matmul", "M=256 N=256 K=257", NULL, 0, "how XLA tiles f16 products is not public"},
    };
    CHECK(rows);
}

/* At most 16,384 elements are a small kernel. */
static void element_wise_groups(void **state) {
    (void)state;
    static const struct {
        const char *parameters, *group;
    } rows[] = {{"shape=(128,128)", "small-v4"}, {"shape=(16385,)", "elementwise-v4"}};
    ts_arena *arena = ts_arena_new();
    ts_measurements m;
    assert_true(ts_measurements_load(NULL, arena, NULL, 0, &m));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_workload work;
        const ts_measured_row row = {.group = "",
                                     .chip = "v4",
                                     .workload = "f16 elementwise add",
                                     .parameters = rows[i].parameters,
                                     .timing = "",
                                     .unit = "us",
                                     .value = 1};
        ts_workload_read(&m.groups, &m.rules, &row, &work);
        assert_string_equal(work.group->name, rows[i].group);
        assert_int_equal(work.kind, TS_WORK_ELEMENTWISE);
    }
    ts_arena_free(arena);
}

static void attention(void **state) {
    (void)state;
    static const char flash[] = "flash attention";
    static const row_case rows[] = {
        {NULL, "v6e", flash, "B=2 H=4 S=512 D=128", NULL, 0,
         "attention b=2 h=4 l=512 d=128 random causal 1us"},
        {NULL, "v6e", flash, "batch: 2, num_heads: 4, seq_len: 512, head_dim: 64, causal: 0", NULL, 0,
         "attention b=2 h=4 l=512 d=64 random 1us"},
        {NULL, "v6e", flash, "B=2 H=4 S=512 D=128 Skv=512", NULL, 0,
         "attention b=2 h=4 l=512 d=128 random causal 1us"},
        {NULL, "v6e", flash, "B=2 H=4 S=512 D=128 Skv=1024", NULL, 0,
         "it has more keys than queries, or fewer"},
        {NULL, "v6e", flash, "B=2 H=4 S=512 D=129", NULL, 0, "heads of more than 128 are not modelled"},
        {NULL, "v6e", flash, "B=2 H=4 D=128", NULL, 0, "it does not state batch, heads, length and depth"},
        {NULL, "v6e", "JAXBench 1p_Flash_Attention pallas", "B=1 H=4 S=512 D=128", NULL, 0,
         "attention b=1 h=4 l=512 d=128 random causal 1us"},
        {NULL, "v6e", "JAXBench 1p_Flash_Attention XLA", "B=1 H=4 S=512 D=128", NULL, 0,
         "the row does not say which scores go to HBM"},
        {NULL, "v6e", "JAXBench 1p_paged_Attention pallas", "B=1 H=4 S=512 D=128", NULL, 0,
         "the row does not say which scores go to HBM"},
    };
    CHECK(rows);
}

/* Members are devices; of v7x a chip has two. What a device gets is all shards but its own. */
static void collectives(void **state) {
    (void)state;
    static const char gather[] = "all_gather f32[n,8,128]", reduce[] = "all_reduce f32[n,8,128]";
    static const row_case rows[] = {
        /* a shard is 2 x 8 x 128 f32 = 8192 bytes; a chip's two devices get 3 each: 49152 bytes */
        {NULL, "v7x 2x1x1", gather, "n=2 transferred=49152", NULL, 0,
         "collective all-gather read=49152 bytes=32768 members=4 chips=2x1x1 inside 1us"},
        /* 49152 bytes at 1 GB/s take 49.152 us */
        {NULL, "v7x", gather, "n=2 transferred=49152", "GB/s", 1,
         "collective all-gather read=49152 bytes=32768 members=4 chips=2x2x1 inside 49.152us"},
        {NULL, "v7x", gather, "n=2 transferred=49152 topology=2x2", NULL, 0,
         "collective all-gather read=49152 bytes=32768 members=4 chips=2x2 inside 1us"},
        {NULL, "v7x", gather, "n=2 transferred=49152 topology=4, as 2x2", NULL, 0, /* of no extents */
         "collective all-gather read=49152 bytes=32768 members=4 chips=2x2x1 inside 1us"},
        {NULL, "v7x", gather, "n=2 transferred=8191", NULL, 0,
         "it does not state the bytes of a shard, and those that are transferred"},
        {NULL, "v7x", gather, "transferred=8192", NULL, 0,
         "it does not state the bytes of a shard, and those that are transferred"},
        {NULL, "v7x", gather, "S=100 tr=1400", NULL, 0,
         "collective all-gather read=1400 bytes=800 members=8 chips=2x2x2 inside 1us"},
        {NULL, "v5e 2x4", reduce, "n=2", NULL, 0,
         "collective all-reduce bytes=8192 members=8 chips=2x4 one-dim inside 1us"},
        {NULL, "v7x 2x4", reduce, "n=2", NULL, 0,
         "collective all-reduce bytes=8192 members=16 chips=2x4 one-dim inside 1us"},
        {NULL, "v7x", reduce, "n=2 P=24", NULL, 0,
         "collective all-reduce bytes=8192 members=24 chips=2x2x3 one-dim inside 1us"},
        {NULL, "v7x", reduce, "n=2 P=3", NULL, 0, "it does not state the bytes and the devices"},
        {NULL, "v5e", reduce, "n=2 P=1", NULL, 0, "it does not state the bytes and the devices"},
        {NULL, "v5e", reduce, "P=8", NULL, 0, "it does not state the bytes and the devices"},
        {NULL, "v5e", reduce, "n=2", NULL, 0, "it does not state the bytes and the devices"},
        {NULL, "v5e", reduce, "b=100 P=2", NULL, 0,
         "collective all-reduce bytes=100 members=2 chips=2x1x1 one-dim inside 1us"},
        {NULL, "v5e", "all_reduce bf16[n,3]", "n=5 P=2", NULL, 0, /* 5 x 3 x 2 */
         "collective all-reduce bytes=30 members=2 chips=2x1x1 one-dim inside 1us"},
        {NULL, "v5e", "all_reduce bf16[n,3", "n=5 P=2", NULL, 0,
         "it does not state the bytes and the devices"},
        {NULL, "v5e", "all_reduce bf16[n,0]", "n=5 P=2", NULL, 0,
         "it does not state the bytes and the devices"},
        /* a prime number of chips has no other extents */
        {NULL, "v5e", reduce, "b=100 P=1000000000039", NULL, 0,
         "collective all-reduce bytes=100 members=1000000000039 chips=1000000000039x1x1 one-dim inside 1us"},
        {NULL, "v5e x8", "ppermute", "bytes=4096", NULL, 0,
         "collective permute bytes=4096 members=2 chips=2 inside 1us"},
        {NULL, "v5e x8", "ppermute", "bytes=2 MiB", NULL, 0,
         "collective permute bytes=2097152 members=2 chips=2 inside 1us"},
        {NULL, "v5e x8", "ppermute", "bytes=1-16 KiB", NULL, 0, /* their middle: 8.5 KiB */
         "collective permute bytes=8704 members=2 chips=2 inside 1us"},
        {NULL, "v5e x8", "ppermute", "bytes=100-300", NULL, 0,
         "collective permute bytes=200 members=2 chips=2 inside 1us"},
        {NULL, "v5e x8", "ppermute", "b=0.5", NULL, 0, "it does not state the bytes"},
        {NULL, "v5e x8", "ppermute", "b=1", NULL, 0,
         "collective permute bytes=1 members=2 chips=2 inside 1us"},
        {NULL, "v5e x8", "ppermute", "", NULL, 0, "it does not state the bytes"},
    };
    CHECK(rows);
}

/* The names of suites' kernels say what runs; f32 is four bytes. */
static void suites(void **state) {
    (void)state;
    static const char none[] = "it states no shapes";
    static const row_case rows[] = {
        {NULL, "v6e", "JAXKernelBench level1 19_ReLU", "out=((4, 6), dtype(float32))", NULL, 0,
         "passes read=96 written=96 1us"},
        {NULL, "v6e", "JAXKernelBench level1 19_ReLU", "out=((4, 6), dtype(bfloat16))", NULL, 0,
         "passes read=48 written=48 1us"},
        {NULL, "v6e", "JAXKernelBench level1 19_ReLU", "out=((4, 6), dtype(int8))", NULL, 0,
         "passes read=24 written=24 1us"},
        {NULL, "v6e", "JAXKernelBench level1 23_Softmax", "out=((4, 6), dtype(float32))", NULL, 0,
         "passes read=288 written=96 1us"}, /* three times */
        {NULL, "v6e", "JAXKernelBench level1 36_RMSNorm", "out=((4, 6), dtype(float32))", NULL, 0,
         "passes read=192 written=96 1us"},
        {NULL, "v6e", "JAXKernelBench level1 52_Argmin", "batch_size=2 dim1=4 dim2=6 out=((2, 6), x)", NULL,
         0, "passes read=192 written=48 1us"},
        {NULL, "v6e", "JAXKernelBench level1 52_Argmin", "batch_size=2 features=3 dim2=6 out=((2, 6), x)",
         NULL, 0, "passes read=144 written=48 1us"},
        {NULL, "v6e", "JAXKernelBench level1 52_Argmin", "out=((2, 6), x)", NULL, 0, none},
        {NULL, "v6e", "JAXKernelBench level1 52_Argmin", "batch_size=2 dim1=4", NULL, 0, none},
        {NULL, "v6e", "JAXKernelBench level1 100_HingeLoss", "batch_size=2 input_shape=(5,) out=((), x)",
         NULL, 0, "passes read=40 written=4 1us"}, /* a scalar */
        {NULL, "v6e", "JAXKernelBench level1 98_KLDivLoss", "batch_size=2 input_shape=(5,3) out=((), x)",
         NULL, 0, "passes read=240 written=4 1us"},
        {NULL, "v6e", "JAXKernelBench level1 1_matmul", "N=K=5 out=((4, 6), dtype(float32))", NULL, 0,
         "matmul 4x6x5:4>4 random 1us"},
        {NULL, "v6e", "JAXKernelBench level1 9_Tall_matmul", "M=7 N=3 out=((7, 7), dtype(float32))", NULL, 0,
         "matmul 7x7x3:4>4 random 1us"},
        {NULL, "v6e", "JAXKernelBench level1 3_Batched_matmul", "k=5 out=((2, 4, 6), dtype(float32))", NULL,
         0, "matmul 8x6x5 weights=2:4>4 random 1us"},
        {NULL, "v6e", "JAXKernelBench level1 11_4D_matmul", "K=9 l=5 out=((2, 3, 4, 6), dtype(float32))",
         NULL, 0, "matmul 24x6x5:4>4 random 1us"},
        {NULL, "v6e", "JAXKernelBench level1 1_matmul", "N=5 out=((4,), dtype(float32))", NULL, 0,
         "it states no shape"},
        {NULL, "v6e", "JAXKernelBench priority gemm", "out=((4, 6), dtype(bfloat16))", NULL, 0,
         "matmul 4x6x4:2>2 random 1us"},
        {NULL, "v6e", "8p_GEMM 4x5x6 bf16 XLA default", "", NULL, 0, "matmul 4x6x5:2>2 random 1us"},
        {NULL, "v6e", "8p_GEMM bf16 XLA default", "", NULL, 0, "it does not state M, N and K"},
    };
    CHECK(rows);
}

/* What is fused to a product counts up to where a reduction ends it. */
static void fused_products(void **state) {
    (void)state;
    static const row_case rows[] = {
        {NULL, "v6e", "JAXBench 8p_GEMM XLA", "M=4 N=6 K=5 out=[4, 6]", NULL, 0,
         "matmul 4x6x5:2>2 random 1us"},
        {NULL, "v6e", "JAXBench 8k_Gemm XLA", "M=4 N=6 K=5 out=[4, 6]", NULL, 0, "matmul 4x6x5:2>2 1us"},
        {NULL, "v6e", "JAXBench 8k_Gemm XLA", "M=4 N=6 K=5", NULL, 0, "matmul 4x6x5:2>0 1us"},
        {NULL, "v6e", "JAXBench 8k_Gemm XLA", "M=4 N=6 K=5 out=[4, 1]", NULL, 0, "matmul 4x6x5:2>0 1us"},
        {NULL, "v6e", "JAXBench 8k_Gemm_Sigmoid_GELU XLA",
         "batch_size=4 in_features=5 out_features=6 out=[4, 6]", NULL, 0, "matmul 4x6x5:2>2 eup=2 1us"},
        {NULL, "v6e", "JAXBench 8k_Gemm_Sigmoid_Max_GELU XLA",
         "batch_size=4 in_features=5 out_features=6 out=[4]", NULL, 0, "matmul 4x6x5:2>0 eup=1 1us"},
        {NULL, "v6e", "JAXBench 8k_Gemm_Sigmoid_Sum_GELU XLA", "M=4 N=6 K=5 out=[4]", NULL, 0,
         "matmul 4x6x5:2>0 eup=1 1us"},
        {NULL, "v6e", "JAXBench 8k_Gemm_Max_GELU XLA Tanh", "M=4 N=6 K=5 out=[4, 6]", NULL, 0,
         "matmul 4x6x5:2>2 1us"},
        {NULL, "v6e", "JAXBench 8k_Gemm_ResidualAdd XLA", "M=4 N=6 K=5 out=[4, 6]", NULL, 0,
         "matmul 4x6x5:2>2 more=0.5 1us"},
        {NULL, "v6e", "JAXBench 8p_GEMM XLA", "batch_size=3 M=4 N=6 K=5 out=[3, 4, 6]", NULL, 0,
         "matmul 12x6x5 weights=3:2>2 random 1us"},
        {NULL, "v6e", "JAXBench 8p_ragged_dot XLA", "M=4 N=6 K=5 num_groups=2 out=[4, 6]", NULL, 0,
         "matmul 4x6x5 weights=2:2>2 random 1us"},
        /* two products, of which the second is reduced */
        {NULL, "v6e", "JAXBench 32k_Gemm_Sigmoid XLA",
         "batch_size=4 input_size=5 hidden_size=6 output_size=7 out=[4]", NULL, 0,
         "matmul 4x6x5:2>2 eup=1 4x7x6:2>0 1us"},
        {NULL, "v6e", "JAXBench 9p_SwiGLU XLA", "batch: 2, seq_len: 3, emb_dim: 5, mlp_dim: 7", NULL, 0,
         "matmul 6x7x5:2>2 6x7x5:2>2 eup=1 6x5x7:2>2 random 1us"},
        {NULL, "v6e", "JAXBench 18k_Conv2D", "M=4 N=6 K=5", NULL, 0, "convolutions"},
        {NULL, "v6e", "JAXBench 18k_Sort", "M=4 N=6 K=5", NULL, 0,
         "an operation of JAXBench that is not known"},
        {NULL, "v6e", "JAXBench 8k_Gemm_GroupNorm XLA", "M=4 N=6 K=5 out=[4, 6]", NULL, 0,
         "the row does not say how often the norm passes over memory"},
    };
    CHECK(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chips_are_counted),
        cmocka_unit_test(chips_that_are_not_known),
        cmocka_unit_test(units_of_times),
        cmocka_unit_test(copies),
        cmocka_unit_test(products),
        cmocka_unit_test(kernels_and_passes),
        cmocka_unit_test(element_wise_groups),
        cmocka_unit_test(attention),
        cmocka_unit_test(collectives),
        cmocka_unit_test(suites),
        cmocka_unit_test(fused_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
