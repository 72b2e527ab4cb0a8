/* What rows of measurements state: each row's figures as its words say them, worked out by hand. */
#include <string.h>

#include "tests/support/group.h"
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
static const char *said(const ts_workload *w) {
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

/* What a row leaves out is as its table has it: microseconds, 1 of them. */
typedef struct {
    const char *parameters, *said, *words, *chip, *group, *unit;
    double value;
    const char *of; /* the group that it turns out to be of; NULL: any */
} row_case;
#define ROW(its_parameters, is_said, ...)                                                                    \
    { .parameters = its_parameters, .said = is_said, __VA_ARGS__ }

static ts_measurements measurements;

static const char *either(const char *own, const char *otherwise) {
    return own ? own : otherwise ? otherwise : "";
}

static void check_rows(const row_case *rows, size_t count, const row_case *usual) {
    for (size_t i = 0; i < count; i++) {
        const ts_measured_row row = {.id = "r",
                                     .group = either(rows[i].group, usual->group),
                                     .chip = either(rows[i].chip, usual->chip),
                                     .workload = either(rows[i].words, usual->words),
                                     .parameters = either(rows[i].parameters, usual->parameters),
                                     .timing = "",
                                     .unit = either(rows[i].unit, "us"),
                                     .value = rows[i].value ? rows[i].value : 1};
        ts_workload work;
        ts_workload_read(&measurements.groups, &measurements.rules, &row, &work);
        if (strcmp(said(&work), rows[i].said) != 0)
            fail_msg("%s %s %s: %s, expected %s", row.chip, row.workload, row.parameters, said(&work),
                     rows[i].said);
        if (rows[i].of) assert_string_equal(work.group->name, rows[i].of);
    }
}
#define CHECK(rows, ...) check_rows(rows, sizeof(rows) / sizeof *(rows), &(const row_case){__VA_ARGS__})

/* A row may be of several chips: "x8", extents of which one is above 1, or cores behind a hyphen, of which v2 to
 * v4 and v5p have two a chip. */
TEST(chips_are_counted) {
    static const char *const one[] = {"v5e",        "v5e x1",          "v5e 1x1", "v5e 1x1x1",
                                      "v6e-1",      "v5litepod-1",     "v4-2",    "v3-2",
                                      "v5p-2",      "v7x (1 of 2 TC)", "tpu v5e", "v5e, xla 2",
                                      "a v5e xl 3", "v5e 2 of 8",      "v5e 2 2"},
                             *const several[] = {"v5e x2",  "v5e x8",   "v5e X8", "v5e 2x1",
                                                 "v5e 1x2", "v5e 10x1", "v6e-2",  "v6e-8",
                                                 "v4-3",    "v4-8",     "v2-4",   "v5p-4"};
    row_case row = ROW("bytes=4096", "copy 4096 read=4096 written=4096 1us", .words = "copy HBM to HBM");
    for (size_t i = 0; i < sizeof one / sizeof *one; i++) {
        row.chip = one[i];
        check_rows(&row, 1, &row);
    }
    row.said = "it is of several chips, and no collective";
    for (size_t i = 0; i < sizeof several / sizeof *several; i++) {
        row.chip = several[i];
        check_rows(&row, 1, &row);
    }
}

TEST(chips_that_are_not_known) {
    static const char none[] = "there is no machine of that chip";
    static const row_case rows[] = {
        ROW("bytes=4096", none, .chip = "v8"),
        ROW("bytes=4096", none),
        ROW("bytes=4096", none, .chip = "v5ex"), /* a name ends where the word does */
        ROW("bytes=4096", none, .chip = "xv5e"), /* and begins where one does */
        ROW("bytes=4096", none, .words = "", .chip = "v5e",
            .group = "copy"), /* of a group's row the parameters say it */
        ROW("{\"chip\": \"v5e\", \"bytes\": 4096}", "copy 4096 read=4096 written=4096 1us", .words = "",
            .group = "copy"),
        ROW("", "a group that is not known", .words = "", .chip = "v5e", .group = "copies"),
    };
    CHECK(rows, .words = "copy HBM");
}

/* Times in their units; a rate is of the bytes that are read and written, or of two operations a product. */
TEST(units_of_times) {
    static const char copy[] = "copy HBM", gemm[] = "gemm";
    static const row_case rows[] = {
        ROW("bytes=4096", "copy 4096 read=4096 written=4096 2.5us", .unit = "us", .value = 2.5),
        ROW("bytes=4096", "copy 4096 read=4096 written=4096 2500us", .unit = "ms", .value = 2.5),
        ROW("bytes=4096", "copy 4096 read=4096 written=4096 2.5e+06us", .unit = "s", .value = 2.5),
        ROW("bytes=4096", "copy 4096 read=4096 written=4096 2.5us", .unit = "ns", .value = 2500),
        ROW("bytes=4096", "copy 4096 read=4096 written=4096 2us", .unit = "ps", .value = 2e6),
        ROW("bytes=4096", "copy 4096 read=4096 written=4096 2us", .unit = "\xc2\xb5s", .value = 2),
        /* 16 MB of traffic at 0.5 TB/s are 32 us */
        ROW("bytes=8000000", "copy 8000000 read=8000000 written=8000000 32us", .unit = "GB/s", .value = 500),
        ROW("bytes=8000000", "copy 8000000 read=8000000 written=8000000 32us", .unit = "tb/s", .value = 0.5),
        ROW("bytes=1GiB", "copy 1073741824 read=1073741824 written=1073741824 4000us", .unit = "GiB/s",
            .value = 500),
        /* 2 x 1000^3 operations at 100 T/s are 20 us */
        ROW("M=N=K=1000", "matmul 1000x1000x1000:2>2 random 20us", .words = gemm, .unit = "TFLOP/s",
            .value = 100),
        ROW("M=N=K=1000", "matmul 1000x1000x1000:2>2 random 20us", .words = gemm, .unit = "TFLOPS",
            .value = 100),
        ROW("M=N=K=1000", "matmul 1000x1000x1000:2>2 random 20us", .words = gemm, .unit = "GFLOP/s",
            .value = 1e5),
        ROW("M=N=K=1000", "it is not a time", .words = gemm, .unit = "GB/s",
            .value = 1), /* of a product no bytes are stated */
        ROW("bytes=4096", "it is not a time", .unit = "TFLOP/s", .value = 1),
        ROW("bytes=4096", "it is not a time", .unit = "%", .value = 1),
    };
    CHECK(rows, .chip = "v5e", .words = copy);
}

TEST(copies) {
    static const char copy[] = "copy to S(3)";
    static const row_case rows[] = {
        ROW("shape=f16[512,1024]{1,0}", "copy 512x1024 inside 1us"),
        ROW("shape=f16[2,3,128]{2,1,0}", "copy 2x3x128 inside 1us"),
        ROW("shape=f16[256]{0}", "copy 2x128 inside 1us"), /* rows of 128 lanes */
        ROW("shape=f16[257]{0}", "copy 3x128 inside 1us"),
        ROW("shape=f16[]", "it states no shape"),
        ROW("bytes=4", "it states no shape"),
        ROW("shape=f16[512,0]", "it states no shape"),
        ROW("shape=f16[8388608,4194304]", "it states no shape"), /* over 2^44 */
        ROW("shape=f16[4194304,4194304]", "copy 4194304x4194304 inside 1us"),
        ROW("size=1 KiB", "copy 1024 read=1024 written=1024 1us", .words = "copy HBM", .chip = "v5e"),
        ROW("size=17592186044416", "copy 17592186044416 read=17592186044416 written=17592186044416 1us",
            .words = "copy HBM", .chip = "v5e"),
        ROW("size=17592186044417", "it states no size", .words = "copy HBM", .chip = "v5e"),
        ROW("size=1", "copy 1 read=1 written=1 1us", .words = "copy HBM", .chip = "v5e"),
        ROW("size=0.5", "it states no size", .words = "copy HBM", .chip = "v5e"),
    };
    CHECK(rows, .chip = "v4", .words = copy);
}

TEST(products) {
    static const char none[] = "it does not state M, N and K";
    static const row_case rows[] = {
        ROW("M=8 N=16 K=32", "matmul 8x16x32:2>2 random 1us"),
        ROW("m=8 n=16 k=32", "matmul 8x16x32:2>2 random 1us"),
        ROW("n=64", "matmul 64x64x64:2>2 random 1us"),
        ROW("size=64", "matmul 64x64x64:2>2 random 1us"),
        ROW("N=16 size=64", "matmul 16x16x16:2>2 random 1us"),
        ROW("of 8x16x32", "matmul 8x16x32:2>2 random 1us"),
        ROW("", "matmul 8x16x32:2>2 random 1us", .words = "gemm 8x16x32"),
        ROW("", "matmul 1x2x3:2>2 random 1us", .words = "gemm 8x16, 8x16x32x64, 1x2x3"),
        ROW("", none, .words = "gemm a8x16x32 0x1x1"),
        ROW("", none, .words = "gemm 8x16x32x"),
        ROW("", "matmul 2x3x4:2>2 random 1us", .words = "gemm 0x1x1, 2x3x4"),
        ROW("of 17592186044416x1x1", "matmul 17592186044416x1x1:2>2 random 1us"), /* 2^44 */
        ROW("of 17592186044417x1x1", none),
        ROW("N=1 size=64", "matmul 1x1x1:2>2 random 1us"),
        ROW("M=1 N=2", none),
        ROW("N=2 K=1", none),
        ROW("shape=[8,16,32]", "matmul 8x16x32:2>2 random 1us"),
        ROW("shape=[8,16]", none),
        ROW("shape=[8,16,32,4]", none),
        ROW("size=1", "matmul 1x1x1:2>2 random 1us"),
        ROW("M=8 K=32", none),
        ROW("N=8 K=32", none),
        ROW("", none),
        /* any two of the three extents make a matrix: at most 2^44 elements */
        ROW("M=8388608 N=4194304 K=1", none),
        ROW("M=1 N=4194304 K=8388608", none),
        ROW("M=8388608 N=1 K=4194304", none),
        ROW("M=8 N=16 K=32 dtype=f32", "matmul 8x16x32:4>4 random 1us"),
        ROW("M=8 N=16 K=32", "matmul 8x16x32:4>4 random 1us", .words = "gemm of f32"),
        ROW("M=8 N=16 K=32 dtype=bf16", "matmul 8x16x32:2>2 random 1us"),
        ROW("M=8 N=16 K=32", "a product of 8-bit values", .words = "gemm of int8"),
        ROW("M=8 N=16 K=32 dtype=fp8", "a product of 8-bit values"),
        ROW("M=8 N=16 K=32 dtype=f64", "a product of another type than f32, bf16 and f16"),
        ROW("M=8 N=16 K=32 bin=4 bout=8 eup=2.5 xp=0.5 nb=4 rnd=0",
            "matmul 8x16x32 weights=4:4>8 eup=2.5 more=0.5 1us"),
        ROW("M=8 N=16 K=32 bout=0 nb=8", "matmul 8x16x32 weights=8:2>0 random 1us"),
        ROW("M=8 N=16 K=32 nb=9", "matmul 8x16x32:2>2 random 1us"), /* above M */
        ROW("M=8 N=16 K=32 bin=9", "its elements are of more than eight bytes"),
        ROW("M=8 N=16 K=32 bout=9", "its elements are of more than eight bytes"),
        ROW("M=8 N=16 K=32 eup=16", "matmul 8x16x32:2>2 eup=16 random 1us"),
        ROW("M=8 N=16 K=32 eup=17", "too many transcendental functions"),
        ROW("M=8 N=4194304 K=4194304 nb=2", "its matrices are too many"),
        ROW("M=8 N=16 K=32 blk=[2,4,6]", "matmul 8x16x32:2>2 block=2x4x6 random 1us"),
        ROW("M=8 N=16 K=32 block_shape=(2,4) block_k=6", "matmul 8x16x32:2>2 block=2x4x6 random 1us"),
        ROW("M=8 N=16 K=32 bm=2 bk=6", "matmul 8x16x32:2>2 block=2x0x6 random 1us"),
    };
    CHECK(rows, .chip = "v5e", .words = "gemm");
}

TEST(kernels_and_passes) {
    static const char kernel[] = "pallas-kernels-v5e";
    static const row_case rows[] = {
        ROW("M=N=K=64 blk=[2,4,6]", "kernel 64x64x64:2>2 block=2x4x6 random 1us", .group = kernel),
        ROW("M=N=K=64 blk=[2,4,6]", "kernel 64x64x64:2>2 block=2x4x6 transposed random 1us",
            .words = "a trhs", .group = kernel),
        ROW("M=N=K=64 blk=[2,4]", "it states no blocks", .group = kernel),
        ROW("M=N=64 blk=[2,4,6]", "it does not state M, N and K", .group = kernel),
        ROW("R=300 W=200", "passes read=300 written=200 1us", .group = "stream-v6e"),
        ROW("R=300", "passes read=300 1us", .group = "stream-v6e"),
        ROW("W=300", "it does not state the bytes it reads", .group = "stream-v6e"),
        ROW("sh=[4,8] nin=3", "elementwise 4x8 in=3 1us"),
        ROW("shape=[4,8]", "elementwise 4x8 in=2 1us", .words = "max"),
        ROW("n=32", "elementwise 32 in=1 1us", .words = "tanh"),
        ROW("", "it states no shape", .words = "tanh"),
        ROW("sh=[4,8] nin=4", "elementwise 4x8 in=4 1us"),
        ROW("sh=[4,8] nin=5", "it has more than four inputs"),
        ROW("M=N=K=64", "how XLA tiles f16 products is not public", .group = "matmul-v4"),
        /* f16 on v4: groups by size */
        ROW("shape=(128,128)", "elementwise 128x128 in=2 1us", .words = "f16 elementwise add", .chip = "v4",
            .group = ""),
        ROW("M=256 N=256 K=256", "products of f16 convert their operands in a way that is not public",
            .words = "f16 matmul", .chip = "v4", .group = ""),
        ROW("M=257 N=256 K=256", "how XLA tiles f16 products is not public", .words = "f16 matmul",
            .chip = "v4", .group = ""),
        ROW("M=256 N=257 K=256", "how XLA tiles f16 products is not public", .words = "f16 matmul",
            .chip = "v4", .group = ""),
        ROW("M=256 N=256 K=257", "how XLA tiles f16 products is not public", .words = "f16 matmul",
            .chip = "v4", .group = ""),
    };
    CHECK(rows, .group = "small-v4");
}

/* At most 16,384 elements are a small kernel. */
TEST(element_wise_groups) {
    static const row_case rows[] = {
        ROW("shape=(128,128)", "elementwise 128x128 in=2 1us", .of = "small-v4"),
        ROW("shape=(16385,)", "elementwise 16385 in=2 1us", .of = "elementwise-v4"),
        ROW("shape=[]", "it states no shape", .of = "small-v4"),
    };
    CHECK(rows, .chip = "v4", .words = "f16 elementwise add");
}

TEST(attention) {
    static const char flash[] = "flash attention";
    static const row_case rows[] = {
        ROW("B=2 H=4 S=512 D=128", "attention b=2 h=4 l=512 d=128 random causal 1us"),
        ROW("batch: 2, num_heads: 4, seq_len: 512, head_dim: 64, causal: 0",
            "attention b=2 h=4 l=512 d=64 random 1us"),
        ROW("B=2 H=4 S=512 D=128 Skv=512", "attention b=2 h=4 l=512 d=128 random causal 1us"),
        ROW("B=2 H=4 S=512 D=128 Skv=1024", "it has more keys than queries, or fewer"),
        ROW("B=2 H=4 S=512 D=128 Skv=1", "it has more keys than queries, or fewer"),
        ROW("B=1 H=1 S=1 D=1", "attention b=1 h=1 l=1 d=1 random causal 1us"),
        ROW("B=2 H=4 S=512 D=129", "heads of more than 128 are not modelled"),
        ROW("B=2 H=4 D=128", "it does not state batch, heads, length and depth"),
        ROW("B=1 H=4 S=512 D=128", "attention b=1 h=4 l=512 d=128 random causal 1us",
            .words = "JAXBench 1p_Flash_Attention pallas"),
        ROW("B=1 H=4 S=512 D=128", "the row does not say which scores go to HBM",
            .words = "JAXBench 1p_Flash_Attention XLA"),
        ROW("B=1 H=4 S=512 D=128", "the row does not say which scores go to HBM",
            .words = "JAXBench 1p_paged_Attention pallas"),
    };
    CHECK(rows, .chip = "v6e", .words = flash);
}

/* Members are devices; of v7x a chip has two. What a device gets is all shards but its own. */
TEST(collectives) {
    static const char gather[] = "all_gather f32[n,8,128]", reduce[] = "all_reduce f32[n,8,128]";
    static const row_case rows[] = {
        /* a shard is 2 x 8 x 128 f32 = 8192 bytes; a chip's two devices get 3 each: 49152 bytes */
        ROW("n=2 transferred=49152",
            "collective all-gather read=49152 bytes=32768 members=4 chips=2x1x1 inside 1us", .words = gather,
            .chip = "v7x 2x1x1"),
        /* 49152 bytes at 1 GB/s take 49.152 us */
        ROW("n=2 transferred=49152",
            "collective all-gather read=49152 bytes=32768 members=4 chips=2x2x1 inside 49.152us",
            .words = gather, .unit = "GB/s", .value = 1),
        ROW("n=2 transferred=49152 topology=2x2",
            "collective all-gather read=49152 bytes=32768 members=4 chips=2x2 inside 1us", .words = gather),
        ROW("n=2 transferred=49152 topology=4, as 2x2",
            "collective all-gather read=49152 bytes=32768 members=4 chips=2x2x1 inside 1us",
            .words = gather), /* of no extents */
        ROW("n=2 transferred=8191", "it does not state the bytes of a shard, and those that are transferred",
            .words = gather),
        ROW("transferred=8192", "it does not state the bytes of a shard, and those that are transferred",
            .words = gather),
        ROW("S=100 tr=1400", "collective all-gather read=1400 bytes=800 members=8 chips=2x2x2 inside 1us",
            .words = gather),
        ROW("S=1 tr=14", "collective all-gather read=14 bytes=8 members=8 chips=2x2x2 inside 1us",
            .words = gather),
        /* half of a shard each rounds to one of another */
        ROW("S=100 tr=100", "collective all-gather read=200 bytes=200 members=2 chips=2x1x1 inside 1us",
            .words = gather),
        ROW("n=2", "collective all-reduce bytes=8192 members=8 chips=2x4 one-dim inside 1us",
            .chip = "v5e 2x4"),
        ROW("n=2", "collective all-reduce bytes=8192 members=8 chips=2x4 one-dim inside 1us",
            .chip = "2x4 v5e"),
        ROW("b=1 P=2", "collective all-reduce bytes=1 members=2 chips=2x1x1 one-dim inside 1us",
            .chip = "v5e"),
        ROW("n=2", "collective all-reduce bytes=8192 members=16 chips=2x4 one-dim inside 1us",
            .chip = "v7x 2x4"),
        ROW("n=2 P=24", "collective all-reduce bytes=8192 members=24 chips=2x2x3 one-dim inside 1us"),
        ROW("n=2 P=3", "it does not state the bytes and the devices"),
        ROW("n=2 P=1", "it does not state the bytes and the devices", .chip = "v5e"),
        ROW("P=8", "it does not state the bytes and the devices", .chip = "v5e"),
        ROW("n=2", "it does not state the bytes and the devices", .chip = "v5e"),
        ROW("b=100 P=2", "collective all-reduce bytes=100 members=2 chips=2x1x1 one-dim inside 1us",
            .chip = "v5e"),
        ROW("n=5 P=2", "collective all-reduce bytes=30 members=2 chips=2x1x1 one-dim inside 1us",
            .words = "all_reduce bf16[n,3]", .chip = "v5e"), /* 5 x 3 x 2 */
        ROW("n=5 P=2", "it does not state the bytes and the devices", .words = "all_reduce bf16[n,3",
            .chip = "v5e"),
        ROW("n=5 P=2", "it does not state the bytes and the devices", .words = "all_reduce bf16[n,0]",
            .chip = "v5e"),
        ROW("n=2 P=2", "collective all-reduce bytes=8192 members=2 chips=1x1x1 one-dim inside 1us",
            .words = reduce, .chip = "v7x"),
        ROW("b=100 P=2 topology=99999999x99999999", "its chips are too many", .words = reduce),
        ROW("n=2 P=2", "it does not state the bytes and the devices",
            .words = "all_reduce f99999999999999999[n,1000000]"),
        ROW("n=5 P=2", "collective all-reduce bytes=15 members=2 chips=2x1x1 one-dim inside 1us",
            .words = "all_reduce s8[n,3]", .chip = "v5e"),
        ROW("b=100 P=2 topology=2x2x2x2",
            "collective all-reduce bytes=100 members=2 chips=2x2x2 one-dim inside 1us", .words = reduce,
            .chip = "v5e"),
        /* a prime number of chips has no other extents */
        ROW("b=100 P=65521",
            "collective all-reduce bytes=100 members=65521 chips=65521x1x1 one-dim inside 1us",
            .words = reduce, .chip = "v5e"),
        ROW("b=100 P=65536",
            "collective all-reduce bytes=100 members=65536 chips=64x32x32 one-dim inside 1us",
            .words = reduce, .chip = "v5e"),
        ROW("b=100 P=65537", "its chips are too many", .words = reduce,
            .chip = "v5e"), /* more than a mesh may have */
        ROW("bytes=4096", "collective permute bytes=4096 members=2 chips=2 inside 1us", .words = "ppermute",
            .chip = "v5e x8"),
        ROW("bytes=2 MiB", "collective permute bytes=2097152 members=2 chips=2 inside 1us",
            .words = "ppermute", .chip = "v5e x8"),
        ROW("bytes=1-16 KiB", "collective permute bytes=8704 members=2 chips=2 inside 1us",
            .words = "ppermute", .chip = "v5e x8"), /* their middle: 8.5 KiB */
        ROW("bytes=100-300", "collective permute bytes=200 members=2 chips=2 inside 1us", .words = "ppermute",
            .chip = "v5e x8"),
        ROW("b=0.5", "it does not state the bytes", .words = "ppermute", .chip = "v5e x8"),
        ROW("b=1", "collective permute bytes=1 members=2 chips=2 inside 1us", .words = "ppermute",
            .chip = "v5e x8"),
        ROW("", "it does not state the bytes", .words = "ppermute", .chip = "v5e x8"),
    };
    CHECK(rows, .chip = "v7x", .words = reduce);
}

/* The names of suites' kernels say what runs; f32 is four bytes. */
TEST(suites) {
    static const char none[] = "it states no shapes";
    static const row_case rows[] = {
        ROW("out=((4, 6), dtype(float32))", "passes read=96 written=96 1us",
            .words = "JAXKernelBench level1 19_ReLU"),
        ROW("out=((4, 6), dtype(bfloat16))", "passes read=48 written=48 1us",
            .words = "JAXKernelBench level1 19_ReLU"),
        ROW("out=((4, 6), dtype(int8))", "passes read=24 written=24 1us",
            .words = "JAXKernelBench level1 19_ReLU"),
        ROW("out=((4, 6), dtype(float32))", "passes read=288 written=96 1us",
            .words = "JAXKernelBench level1 23_Softmax"), /* three times */
        ROW("out=((4, 6), dtype(float32))", "passes read=192 written=96 1us",
            .words = "JAXKernelBench level1 36_RMSNorm"),
        ROW("batch_size=2 dim1=4 dim2=6 out=((2, 6), x)", "passes read=192 written=48 1us"),
        ROW("batch_size=2 features=3 dim2=6 out=((2, 6), x)", "passes read=144 written=48 1us"),
        ROW("out=((2, 6), x)", none),
        ROW("batch_size=2 dim1=4", none),
        ROW("batch_size=2 input_shape=(5,) out=((), x)", "passes read=40 written=4 1us",
            .words = "JAXKernelBench level1 100_HingeLoss"), /* a scalar */
        ROW("batch_size=2 input_shape=(5,3) out=((), x)", "passes read=240 written=4 1us",
            .words = "JAXKernelBench level1 98_KLDivLoss"),
        ROW("N=K=5 out=((4, 6), dtype(float32))", "matmul 4x6x5:4>4 random 1us",
            .words = "JAXKernelBench level1 1_matmul"),
        ROW("M=7 N=3 out=((7, 7), dtype(float32))", "matmul 7x7x3:4>4 random 1us",
            .words = "JAXKernelBench level1 9_Tall_matmul"),
        ROW("k=5 out=((2, 4, 6), dtype(float32))", "matmul 8x6x5 weights=2:4>4 random 1us",
            .words = "JAXKernelBench level1 3_Batched_matmul"),
        ROW("K=9 l=5 out=((2, 3, 4, 6), dtype(float32))", "matmul 24x6x5:4>4 random 1us",
            .words = "JAXKernelBench level1 11_4D_matmul"),
        ROW("N=5 out=((4,), dtype(float32))", "it states no shape",
            .words = "JAXKernelBench level1 1_matmul"),
        ROW("out=((4, 6), dtype(bfloat16))", "matmul 4x6x4:2>2 random 1us",
            .words = "JAXKernelBench priority gemm"),
        ROW("", "matmul 4x6x5:2>2 random 1us", .words = "8p_GEMM 4x5x6 bf16 XLA default"),
        ROW("batch_size=1 dim1=1 dim2=1 out=((1, 1), x)", "passes read=4 written=4 1us",
            .words = "JAXKernelBench level1 52_Argmin"),
        ROW("", "it does not state M, N and K", .words = "8p_GEMM bf16 XLA default"),
        ROW("", "it does not state M, N and K", .words = "8p_GEMM 4x5x6a bf16 XLA default"),
    };
    CHECK(rows, .chip = "v6e", .words = "JAXKernelBench level1 52_Argmin");
}

/* What is fused to a product counts up to where a reduction ends it. */
TEST(fused_products) {
    static const row_case rows[] = {
        ROW("M=4 N=6 K=5 out=[4, 6]", "matmul 4x6x5:2>2 random 1us", .words = "JAXBench 8p_GEMM XLA"),
        ROW("M=4 N=6 K=5 out=[4, 6]", "matmul 4x6x5:2>2 1us"),
        ROW("M=4 N=6 K=5", "matmul 4x6x5:2>0 1us"),
        ROW("M=4 N=6 K=5 out=[4, 1]", "matmul 4x6x5:2>0 1us"),
        ROW("batch_size=4 in_features=5 out_features=6 out=[4, 6]", "matmul 4x6x5:2>2 eup=2 1us",
            .words = "JAXBench 8k_Gemm_Sigmoid_GELU XLA"),
        ROW("batch_size=4 in_features=5 out_features=6 out=[4]", "matmul 4x6x5:2>0 eup=1 1us",
            .words = "JAXBench 8k_Gemm_Sigmoid_Max_GELU XLA"),
        ROW("M=4 N=6 K=5 out=[4]", "matmul 4x6x5:2>0 eup=1 1us",
            .words = "JAXBench 8k_Gemm_Sigmoid_Sum_GELU XLA"),
        ROW("M=4 N=6 K=5 out=[4, 6]", "matmul 4x6x5:2>2 1us", .words = "JAXBench 8k_Gemm_Max_GELU XLA Tanh"),
        ROW("M=4 N=6 K=5 out=[4, 6]", "matmul 4x6x5:2>2 more=0.5 1us",
            .words = "JAXBench 8k_Gemm_ResidualAdd XLA"),
        ROW("M=4 N=6 K=5 out=[4, 6]", "matmul 4x6x5:2>2 eup=1 1us", .words = "JAXBench 8k_Gemm_Sigmoid"),
        ROW("batch_size=17592186044416 M=17592186044416 N=6 K=5", "it does not state M, N and K"),
        ROW("batch_size=3 M=4 N=6 K=5 out=[3, 4, 6]", "matmul 12x6x5 weights=3:2>2 random 1us",
            .words = "JAXBench 8p_GEMM XLA"),
        ROW("M=4 N=6 K=5 num_groups=2 out=[4, 6]", "matmul 4x6x5 weights=2:2>2 random 1us",
            .words = "JAXBench 8p_ragged_dot XLA"),
        /* two products, of which the second is reduced */
        ROW("batch_size=4 input_size=5 hidden_size=6 output_size=7 out=[4]",
            "matmul 4x6x5:2>2 eup=1 4x7x6:2>0 1us", .words = "JAXBench 32k_Gemm_Sigmoid XLA"),
        ROW("batch: 2, seq_len: 3, emb_dim: 5, mlp_dim: 7",
            "matmul 6x7x5:2>2 6x7x5:2>2 eup=1 6x5x7:2>2 random 1us", .words = "JAXBench 9p_SwiGLU XLA"),
        ROW("M=4 N=6 K=5", "convolutions", .words = "JAXBench 18k_Conv2D"),
        ROW("M=4 N=6 K=5", "an operation of JAXBench that is not known", .words = "JAXBench 18k_Sort"),
        ROW("M=4 N=6 K=5 out=[4, 6]", "the row does not say how often the norm passes over memory",
            .words = "JAXBench 8k_Gemm_GroupNorm XLA"),
    };
    CHECK(rows, .chip = "v6e", .words = "JAXBench 8k_Gemm XLA");
}

static int load_measurements(void **state) {
    begin_group(state);
    return ts_measurements_load(NULL, arena, NULL, 0, &measurements) ? 0 : -1;
}

int main(void) { return run_all_tests(load_measurements, end_group); }
