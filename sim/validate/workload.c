/* Recognises workloads by the words and parameters of their rows. */
#include "validate/workload.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- Groups ---- */

typedef enum {
    COPY_V4,
    COPY_V7X,
    STREAM_V6E,
    NORM_V6E,
    GEMM_V7X,
    GEMM_V6E,
    GEMM_V6E_WALL,
    GEMM_LARGE_WALL,
    COPY,
    GEMM,
    PALLAS_BLOCKS_V5E,
    SMALL_V4,
    ELEMENTWISE_V4,
    MATMUL_SMALL_V4,
    LAYERNORM_V4,
    FLASH_V6E,
    MATMUL_V4,
    GEMM_NORM_V6E,
    ATTENTION_V6E,
    ICI_PERMUTE,
    ICI_ALLGATHER,
    ICI_ALLREDUCE,
    GROUPS
} group_id;

static const char links[] = "there are no links between chips";

#define MODELLED(id, name_, chip_, meaning_, model_, ...)                                                    \
    [id] = {.name = name_, .chip = chip_, .meaning = meaning_, .model = model_, __VA_ARGS__}
#define UNMODELLED(id, name_, meaning_, reason_)                                                             \
    [id] = {.name = name_, .meaning = meaning_, .reason = reason_}
#define GOAL(median_, high_) .median = median_, .high = high_

const ts_work_group ts_work_groups[] = {
    MODELLED(COPY_V4, "copy-v4", "v4", "copies from HBM to CMEM", "a transfer", GOAL(4, 15)),
    MODELLED(COPY_V7X, "copy-v7x", "v7x", "copies inside HBM, one of two devices", "programs/copy.tsim",
             GOAL(4, 15),
             .miss =
                 "the smallest copies take longer than launch, load and store in turn; a trace that shows "
                 "them apart would say which is too short"),
    MODELLED(STREAM_V6E, "stream-v6e", "v6e", "element-wise kernels, reductions and losses",
             "programs/pass.tsim", GOAL(5, 12), .wall = true),
    MODELLED(NORM_V6E, "norm-v6e", "v6e", "norms and softmax: several passes",
             "programs/pass.tsim, once a pass", GOAL(8, 20), .wall = true),
    MODELLED(GEMM_V7X, "gemm-v7x", "v7x", "matrix products, one of two devices", "programs/matmul.tsim",
             GOAL(7, 25),
             .miss = "the smallest products share their launch with copies, which want a longer one; a trace "
                     "with launch and transfers apart would give each its own"),
    MODELLED(GEMM_V6E, "gemm-v6e", "v6e", "matrix products with what is fused to them",
             "programs/matmul.tsim", GOAL(7, 25),
             .miss =
                 "rows of the same product differ by 16 % with what is fused to it, and how XLA fuses it is "
                 "not public; its kernels, as text, would say"),
    MODELLED(GEMM_V6E_WALL, "gemm-v6e-wall", "v6e", "matrix products, measured on the host",
             "programs/matmul.tsim", .wall = true),
    MODELLED(GEMM_LARGE_WALL, "gemm-large-wall", NULL, "large matrix products, measured on the host",
             "programs/matmul.tsim", .wall = true),
    MODELLED(COPY, "copy", NULL, "copies inside HBM, of other chips", "programs/copy.tsim"),
    MODELLED(GEMM, "gemm", NULL, "matrix products of other chips", "programs/matmul.tsim"),
    MODELLED(PALLAS_BLOCKS_V5E, "pallas-blocks-v5e", "v5e", "matrix products in blocks of stated sizes",
             "programs/matmul.tsim, and blocks.tsim where a block is a tile", GOAL(6, 12), .wall = true),
    MODELLED(SMALL_V4, "small-v4", "v4", "element-wise kernels of at most 16,384 f16", "programs/half.tsim",
             GOAL(8, 20)),
    MODELLED(ELEMENTWISE_V4, "elementwise-v4", "v4", "element-wise kernels of more f16", "programs/half.tsim",
             GOAL(5, 15)),
    MODELLED(FLASH_V6E, "flash-v6e", "v6e", "attention in one kernel", "programs/flash_attention.tsim",
             GOAL(30, 50),
             .miss =
                 "the program takes as many keys at a time as a tile has columns, and overlaps what no unit "
                 "waits for; what the compiler overlaps is not public, but its bundles, as text, would say"),
    UNMODELLED(MATMUL_SMALL_V4, "matmul-small-v4", "f16 matrix products up to 256",
               "products of f16 convert their operands in a way that is not public"),
    UNMODELLED(LAYERNORM_V4, "layernorm-v4", "f16 layer norm",
               "it is several kernels, and which is not public"),
    UNMODELLED(MATMUL_V4, "matmul-v4", "f16 matrix products above 256",
               "how XLA tiles f16 products is not public"),
    UNMODELLED(GEMM_NORM_V6E, "gemm-norm-v6e", "matrix products and a norm",
               "the row does not say how often the norm passes over memory"),
    UNMODELLED(ATTENTION_V6E, "attention-v6e", "attention in several kernels",
               "the row does not say which scores go to HBM"),
    UNMODELLED(ICI_PERMUTE, "ici-permute", "one hop between chips", links),
    UNMODELLED(ICI_ALLGATHER, "ici-allgather", "all-gather", links),
    UNMODELLED(ICI_ALLREDUCE, "ici-allreduce", "all-reduce", links),
};
const int ts_work_group_count = GROUPS;

/* ---- Parameters ---- */

static bool refuse(ts_workload *work, const char *reason) {
    work->kind = TS_WORK_NONE;
    work->reason = reason;
    return false;
}

#define LARGEST 0x1p44 /* bytes, elements: nothing of a chip is larger, and products of them are checked */

/* A positive whole number by the first of some keys, ended by NULL, that is there; 0: none. */
static int64_t number(const ts_measured_row *row, const char *const *keys) {
    double value;
    for (; *keys != NULL; keys++) {
        if (ts_measured_numbers(row->parameters, *keys, 1, &value) == 1 && value >= 1 && value <= LARGEST)
            return (int64_t)value;
    }
    return 0;
}
#define NUMBER(...) number(row, (const char *const[]){__VA_ARGS__, NULL})

static double real(const ts_measured_row *row, const char *key, double otherwise) {
    double value;
    return ts_measured_numbers(row->parameters, key, 1, &value) == 1 && value >= 0 && value <= LARGEST
               ? value
               : otherwise;
}

static int dims_of(const ts_measured_row *row, const char *key, int64_t *dims) {
    double numbers[TS_WORK_MAX_DIMS];
    int count = ts_measured_numbers(row->parameters, key, TS_WORK_MAX_DIMS, numbers);
    for (int i = 0; i < count; i++) {
        if (numbers[i] < 1 || numbers[i] > LARGEST) return 0;
        dims[i] = (int64_t)numbers[i];
    }
    return count;
}

/* 0: there are none, or too many elements. */
static int64_t product(const int64_t *dims, int count) {
    int64_t all = count > 0;
    for (int i = 0; i < count; i++) {
        if (__builtin_mul_overflow(all, dims[i], &all) || all > (int64_t)LARGEST) return 0;
    }
    return all;
}

/* Does the text have the word? It begins where a word does ("max" is not in "softmax") unless it begins with
 * '*'. */
static bool has(const char *text, const char *word) {
    bool anywhere = *word == '*';
    size_t length = strlen(word += anywhere);
    for (const char *at = text; *at != '\0'; at++) {
        if (strncasecmp(at, word, length) == 0 && (anywhere || at == text || !isalpha((unsigned char)at[-1])))
            return true;
    }
    return false;
}

static bool has_any(const char *text, const char *const *words) {
    for (; *words != NULL; words++) {
        if (has(text, *words)) return true;
    }
    return false;
}
#define HAS(text, ...) has_any(text, (const char *const[]){__VA_ARGS__, NULL})

static int64_t type_bytes(const char *parameters) {
    return HAS(parameters, "bf16", "bfloat16", "f16", "float16", "half") ? 2
           : HAS(parameters, "int8", "s8", "u8", "*float8")              ? 1
                                                                         : 4;
}

/* ---- What a group's rows say, in either format ---- */

static bool read_copy_v4(const ts_measured_row *row, ts_workload *work) {
    work->kind = TS_WORK_COPY;
    work->launched = false; /* inside a kernel, while it runs */
    work->rank = dims_of(row, "shape", work->dims);
    if (work->rank == 1) { /* rows of lanes */
        work->rank = 2;
        work->dims[0] = (work->dims[0] + 127) / 128;
        work->dims[1] = 128;
    }
    return product(work->dims, work->rank) > 0 || refuse(work, "it states no shape");
}

static bool read_copy_inside(const ts_measured_row *row, ts_workload *work) {
    work->kind = TS_WORK_COPY;
    work->rank = 1;
    work->dims[0] = NUMBER("s", "size", "bytes");
    work->read_bytes = work->written_bytes = work->dims[0];
    return work->dims[0] > 0 || refuse(work, "it states no size");
}

enum { MOST_TRANSCENDENTALS = 16 };

static bool add_product(ts_workload *work, ts_work_product p) {
    int64_t dims[] = {p.m, p.n, p.k};
    if (product(dims, 2) == 0 || product(dims + 1, 2) == 0 || product((int64_t[]){p.m, p.k}, 2) == 0)
        return refuse(work, "it does not state M, N and K");
    if (p.weights < 1 || p.weights > p.m) p.weights = 1;
    if (product((int64_t[]){p.n, p.k, p.weights}, 3) == 0) return refuse(work, "its matrices are too many");
    if (p.in_bytes > 8 || p.out_bytes > 8) return refuse(work, "its elements are of more than eight bytes");
    if (p.transcendentals > MOST_TRANSCENDENTALS) return refuse(work, "too many transcendental functions");
    work->products[work->count++] = p;
    return true;
}

/* "2048x2048x512", behind `at`: false: there are no three numbers. */
static bool read_crosses(const char *at, int64_t *d) {
    char *end;
    for (int i = 0; i < 3; i++) {
        if (!isdigit((unsigned char)*at)) return false;
        d[i] = strtoll(at, &end, 10);
        at = end + (i < 2 && *end == 'x');
        if ((i < 2 && *end != 'x') || d[i] < 1 || d[i] > (int64_t)LARGEST) return false;
    }
    return !isalnum((unsigned char)*at);
}

static bool find_crosses(const char *text, int64_t *d) {
    for (const char *at = text; *at != '\0'; at++) {
        if ((at == text || !isalnum((unsigned char)at[-1])) && read_crosses(at, d)) return true;
    }
    return false;
}

/* M, N and K: each by its name, or all by that of a square, or in one shape. 0: it is not there. */
static void read_extents(const ts_measured_row *row, int64_t *d) {
    int64_t all = NUMBER("n", "size");
    d[0] = NUMBER("M", "m");
    d[1] = NUMBER("N", "n");
    d[2] = NUMBER("K", "k");
    if (d[0] > 0 || d[2] > 0) return;
    if (d[1] > 0 || all > 0)
        d[0] = d[1] = d[2] = d[1] > 0 ? d[1] : all;
    else if (!find_crosses(row->parameters, d) && !find_crosses(row->workload, d) &&
             dims_of(row, "shape", d) != 3)
        d[0] = 0;
}

/* Bytes of the operands: of bf16, unless the row says otherwise. */
static int64_t product_bytes(const ts_measured_row *row) {
    static const char *const narrow[] = {"fp8", "f8", "*float8", "int8", "s8", "int4", "s4", NULL};
    static const char *const wide[] = {"f32", "fp32", "float32", NULL};
    if (has_any(row->workload, narrow) || has_any(row->parameters, narrow)) return 1;
    return has_any(row->workload, wide) || has_any(row->parameters, wide) ? 4 : 2;
}

static void read_block(const ts_measured_row *row, ts_workload *work) {
    int64_t d[TS_WORK_MAX_DIMS];
    int count = dims_of(row, "blk", d);
    if (count == 0) count = dims_of(row, "block_shape", d);
    work->block[0] = count > 1 ? d[0] : NUMBER("bm");
    work->block[1] = count > 1 ? d[1] : NUMBER("bn");
    work->block[2] = count == 3 ? d[2] : NUMBER("bk", "block_k");
}

static bool read_gemm(const ts_measured_row *row, ts_workload *work) {
    int64_t d[TS_WORK_MAX_DIMS], bytes = product_bytes(row);
    work->kind = TS_WORK_MATMUL;
    if (bytes < 2) return refuse(work, "a product of 8-bit values");
    work->random = real(row, "rnd", 1) > 0;
    read_block(row, work);
    read_extents(row, d);
    return add_product(work, (ts_work_product){.m = d[0],
                                               .n = d[1],
                                               .k = d[2],
                                               .weights = NUMBER("nb"),
                                               .in_bytes = (int64_t)real(row, "bin", (double)bytes),
                                               .out_bytes = (int64_t)real(row, "bout", (double)bytes),
                                               .transcendentals = real(row, "eup", 0),
                                               .extra_reads = real(row, "xp", 0)});
}

static bool read_elementwise(const ts_measured_row *row, ts_workload *work) {
    work->kind = TS_WORK_ELEMENTWISE;
    work->rank = dims_of(row, "sh", work->dims);
    if (work->rank == 0) work->rank = dims_of(row, "shape", work->dims);
    if (work->rank == 0) work->rank = dims_of(row, "n", work->dims);
    work->inputs = (int)NUMBER("nin");
    if (work->inputs == 0)
        work->inputs = HAS(row->workload, "add", "sub", "mul", "div", "max", "min", "pow") ? 2 : 1;
    if (work->inputs > 4) return refuse(work, "it has more than four inputs");
    return product(work->dims, work->rank) > 0 || refuse(work, "it states no shape");
}

static bool read_traffic(const ts_measured_row *row, ts_workload *work) {
    work->kind = TS_WORK_PASSES;
    work->read_bytes = NUMBER("R");
    work->written_bytes = NUMBER("W");
    return work->read_bytes > 0 || refuse(work, "it does not state the bytes it reads");
}

static bool read_attention(const ts_measured_row *row, ts_workload *work) {
    work->kind = TS_WORK_ATTENTION;
    work->batch = NUMBER("B", "batch", "batch_size");
    work->heads = NUMBER("H", "num_heads", "num_q_heads", "num_query_heads");
    work->length = NUMBER("S", "seq_len", "seq", "q_len");
    work->depth = NUMBER("D", "head_dim");
    work->causal = real(row, "causal", 1) > 0;
    work->random = true;
    int64_t keys = NUMBER("Skv", "kv_len", "kv_seq_len");
    if (keys > 0 && keys != work->length) return refuse(work, "it has more keys than queries, or fewer");
    int64_t dims[] = {work->batch, work->heads, work->length, work->depth};
    if (work->depth > 128) return refuse(work, "heads of more than 128 are not modelled");
    return product(dims, 4) > 0 || refuse(work, "it does not state batch, heads, length and depth");
}

static bool read_nothing(const ts_measured_row *row, ts_workload *work) {
    (void)row;
    return refuse(work, work->group->reason);
}

/* ---- The suites of v6e: what their names mean ---- */

/* Operations of KernelBench, level 1, that stream: reads of the input, and whether something of its size is
 * written. */
static const struct {
    const char *words[4];
    int reads; /* of a tensor of that size */
    enum { SAME, REDUCED, SCALAR } result;
    group_id group;
} streams[] = {
    {{"BatchNorm"}, 1, SAME, STREAM_V6E}, /* with stored statistics */
    {{"*Softmax", "InstanceNorm", "GroupNorm", "LayerNorm"}, 3, SAME, NORM_V6E},
    {{"RMSNorm", "Frobenius", "L1Norm", "L2Norm"}, 2, SAME, NORM_V6E},
    {{"*_reduction", "argmax", "argmin"}, 1, REDUCED, STREAM_V6E},
    {{"HingeLoss"}, 1, SCALAR, STREAM_V6E}, /* the targets are one number a row */
    {{"MSELoss", "HuberLoss", "KLDivLoss", "CosineSimilarityLoss"}, 2, SCALAR, STREAM_V6E},
    {{"TripletMarginLoss"}, 3, SCALAR, STREAM_V6E},
    {{"*ReLU", "Sigmoid", "*Tanh", "Swish"}, 1, SAME, STREAM_V6E},
    {{"*GELU", "SELU", "ELU", "HardSigmoid"}, 1, SAME, STREAM_V6E},
    {{"Softplus", "Softsign", "*scalar_mul", "*diagonal"}, 1, SAME, STREAM_V6E},
};

/* Elements of the tensor that an operation reads; the keys are those of KernelBench. */
static int64_t input_elements(const ts_measured_row *row) {
    int64_t dims[2 * TS_WORK_MAX_DIMS];
    static const char *const keys[] = {"batch_size", "features", "dim1", "dim2"};
    int count = dims_of(row, "input_shape", dims + 1);
    if (count > 0) {
        dims[0] = NUMBER("batch_size");
        return product(dims, count + 1);
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        int64_t extent = NUMBER(keys[i]);
        if (extent > 0) dims[count++] = extent;
    }
    return product(dims, count);
}

static bool read_stream(const ts_measured_row *row, ts_workload *work, int i) {
    int64_t out[TS_WORK_MAX_DIMS], written = product(out, dims_of(row, "out", out)),
                                   bytes = type_bytes(row->parameters);
    int64_t read = streams[i].result == SAME ? written : input_elements(row);
    work->kind = TS_WORK_PASSES;
    work->group = &ts_work_groups[streams[i].group];
    if (read == 0 || (written == 0 && streams[i].result != SCALAR))
        return refuse(work, "it states no shapes");
    work->read_bytes = read * bytes * streams[i].reads;
    work->written_bytes = (streams[i].result == SCALAR ? 1 : written) * bytes;
    return true;
}

/* A product of KernelBench: its result is the last dim of `out` wide. */
static bool read_kernelbench_product(const ts_measured_row *row, ts_workload *work) {
    int64_t out[TS_WORK_MAX_DIMS], bytes = type_bytes(row->parameters);
    int rank = dims_of(row, "out", out);
    work->group = &ts_work_groups[GEMM_V6E_WALL];
    if (rank < 2) return refuse(work, "it states no shape");
    int64_t m = product(out, rank - 1), n = out[rank - 1], k = NUMBER("K");
    if (k == 0 || rank == 4)
        k = rank == 4   ? NUMBER("l")
            : rank == 3 ? NUMBER("k")
                        : NUMBER("N", "M");                   /* b i j l k; tall: M x N x M */
    if (k == 0 && has(row->workload, "priority gemm")) k = m; /* JAXBench's 8p_GEMM: 8192 x 8192 x 28672 */
    work->kind = TS_WORK_MATMUL;
    work->random = true;
    return add_product(work, (ts_work_product){.m = m,
                                               .n = n,
                                               .k = k,
                                               .in_bytes = bytes,
                                               .out_bytes = bytes,
                                               .weights = has(row->workload, "batched") ? out[0] : 1});
}

static bool read_kernelbench(const ts_measured_row *row, ts_workload *work) {
    const char *name = row->workload;
    if (HAS(name, "conv", "*pooling", "*attention"))
        return refuse(work, "convolutions, pooling and attention of KernelBench");
    if (HAS(name, "*cumsum", "*cumprod", "CrossEntropy", "*moe"))
        return refuse(work, "scans, gathers and mixtures of experts");
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        for (int w = 0; w < 4 && streams[i].words[w] != NULL; w++) {
            if (has(name, streams[i].words[w])) return read_stream(row, work, (int)i);
        }
    }
    if (HAS(name, "*matmul", "*matrix", "gemm")) return read_kernelbench_product(row, work);
    return refuse(work, "an operation of KernelBench that is not known");
}

/* What is fused to a product, by the words of its name, and where the fusion ends. */
static double count_transcendentals(const char *name) {
    static const char *const functions[] = {"GELU", "Sigmoid", "Swish",    "SiLU",
                                            "Tanh", "Mish",    "Softplus", NULL};
    static const char *const ends[] = {"Sum",       "Max",     "Min",     "Mean",
                                       "LogSumExp", "AvgPool", "MaxPool", NULL}; /* reduced */
    double count = 0;
    for (const char *at = name; *at != '\0' && *at != ' '; at += strcspn(at, "_ "), at += *at == '_') {
        char word[32] = "";
        size_t length = strcspn(at, "_ ");
        memcpy(word, at, length < sizeof word ? length : sizeof word - 1);
        for (int i = 0; ends[i] != NULL; i++) {
            if (strcasecmp(word, ends[i]) == 0) return count;
        }
        for (int i = 0; functions[i] != NULL; i++) count += strcasecmp(word, functions[i]) == 0;
    }
    return count;
}

static bool read_swiglu(const ts_measured_row *row, ts_workload *work) {
    int64_t rows = product((int64_t[]){NUMBER("batch"), NUMBER("seq_len")}, 2), narrow = NUMBER("emb_dim"),
            wide = NUMBER("mlp_dim");
    ts_work_product up = {.m = rows, .n = wide, .k = narrow, .in_bytes = 2, .out_bytes = 2}, gate = up;
    gate.transcendentals = 1;
    ts_work_product down = {.m = rows, .n = narrow, .k = wide, .in_bytes = 2, .out_bytes = 2};
    return add_product(work, up) && add_product(work, gate) && add_product(work, down);
}

static bool read_jaxbench_product(const ts_measured_row *row, ts_workload *work, const char *name) {
    int64_t n = NUMBER("N", "out_features", "hidden_size", "output_size"), last = NUMBER("output_size"),
            out[TS_WORK_MAX_DIMS];
    ts_work_product p = {.m = NUMBER("M", "batch_size"),
                         .n = n,
                         .k = NUMBER("K", "in_features", "input_size"),
                         .weights = NUMBER("num_groups"),
                         .in_bytes = 2,
                         .out_bytes = 2,
                         .transcendentals = count_transcendentals(name),
                         .extra_reads = HAS(name, "*ResidualAdd") ? 0.5 : 0};
    int64_t batch = NUMBER("M") > 0 ? NUMBER("batch_size", "B") : 0; /* as many products of M rows */
    work->kind = TS_WORK_MATMUL;
    if (batch > 0) p.weights = batch;
    if (batch > 0 && __builtin_mul_overflow(p.m, batch, &p.m)) p.m = 0;
    read_block(row, work);
    if (has(name, "*SwiGLU")) return read_swiglu(row, work);
    bool two = NUMBER("hidden_size") > 0 && last > 0;
    int rank = dims_of(row, "out", out);
    if (!two && (rank == 0 || out[rank - 1] != n)) p.out_bytes = 0;
    if (!add_product(work, p)) return false;
    p = (ts_work_product){.m = p.m, .n = last, .k = n, .in_bytes = 2};
    return !two || add_product(work, p);
}

static bool read_jaxbench(const ts_measured_row *row, ts_workload *work) {
    const char *name = strchr(row->workload, ' ');
    name = name != NULL ? name + 1 : row->workload;
    work->random = name[strspn(name, "0123456789")] != 'k'; /* those of KernelBench have weights of zero */
    if (HAS(name, "*attention")) {
        bool one =
            (HAS(row->workload, "pallas", "optimized") || HAS(row->parameters, "pallas", "*_optimized")) &&
            !HAS(name, "*paged", "*MLA", "*sparse", "*ring");
        work->group = &ts_work_groups[one ? FLASH_V6E : ATTENTION_V6E];
        return one ? read_attention(row, work) : refuse(work, work->group->reason);
    }
    if (HAS(name, "conv2d", "conv3d", "*_conv")) return refuse(work, "convolutions");
    if (!HAS(name, "*gemm", "*matmul", "*bmm", "*swiglu", "*ragged_dot"))
        return refuse(work, "an operation of JAXBench that is not known");
    bool norm = HAS(name, "*GroupNorm", "*BatchNorm", "*LayerNorm", "*Softmax");
    work->group = &ts_work_groups[norm ? GEMM_NORM_V6E : GEMM_V6E];
    return norm ? refuse(work, work->group->reason) : read_jaxbench_product(row, work, name);
}

/* "8p_GEMM 8192x8192x28672 bf16 XLA default": M x K x N. */
static bool read_wiki(const ts_measured_row *row, ts_workload *work) {
    int64_t d[3] = {0};
    if (!find_crosses(row->workload, d)) d[0] = 0;
    work->kind = TS_WORK_MATMUL;
    work->random = true;
    return add_product(work,
                       (ts_work_product){.m = d[0], .k = d[1], .n = d[2], .in_bytes = 2, .out_bytes = 2});
}

static bool read_f16_product(const ts_measured_row *row, ts_workload *work) {
    work->group =
        &ts_work_groups[NUMBER("M") <= 256 && NUMBER("N") <= 256 && NUMBER("K") <= 256 ? MATMUL_SMALL_V4
                                                                                       : MATMUL_V4];
    return refuse(work, work->group->reason);
}

static bool read_f16_elementwise(const ts_measured_row *row, ts_workload *work) {
    bool good = read_elementwise(row, work);
    work->group =
        &ts_work_groups[good && product(work->dims, work->rank) > 16384 ? ELEMENTWISE_V4 : SMALL_V4];
    return good;
}

/* ---- Which group ---- */

static const char limbs[] = "integers of several words",
                  kernels[] = "which kernel of attention it is, and its shapes, are not in the row",
                  chips[] = "it is of several chips, and there are no links between them";

#define FAMILY(group_, chip_, read_, ...)                                                                    \
    { .group = group_, .chip = chip_, .words = {__VA_ARGS__}, .read = read_ }
#define REFUSED(word_, reason_)                                                                              \
    { .group = GROUPS, .words = {word_}, .reason = reason_ }

/* Of rows by words: the first that fits. Of that chip, or NULL: of any; all `words` are there. */
static const struct {
    group_id group;
    const char *chip, *words[2];
    bool (*read)(const ts_measured_row *row, ts_workload *work); /* NULL: refused */
    const char *reason;
} families[] = {
    FAMILY(ICI_ALLGATHER, NULL, read_nothing, "all_gather"),
    FAMILY(ICI_ALLGATHER, NULL, read_nothing, "all-gather"),
    FAMILY(ICI_ALLREDUCE, NULL, read_nothing, "all_reduce"),
    FAMILY(ICI_ALLREDUCE, NULL, read_nothing, "all-reduce"),
    FAMILY(ICI_PERMUTE, NULL, read_nothing, "ppermute"),
    FAMILY(GEMM_V6E_WALL, "v6e", read_wiki, "8p_GEMM", "XLA default"),
    FAMILY(GROUPS, "v6e", read_kernelbench, "JAXKernelBench"),
    FAMILY(GROUPS, "v6e", read_jaxbench, "JAXBench"),
    FAMILY(MATMUL_V4, "v4", read_f16_product, "f16", "matmul"),
    FAMILY(LAYERNORM_V4, "v4", read_nothing, "layer"),
    FAMILY(SMALL_V4, "v4", read_f16_elementwise, "f16", "elementwise"),
    FAMILY(SMALL_V4, "v4", read_f16_elementwise, "f16", "activation"),
    FAMILY(COPY_V4, "v4", read_copy_v4, "copy", "*S(3)"),
    FAMILY(COPY_V4, "v4", read_copy_v4, "copy", "*CMEM"),
    FAMILY(COPY_V7X, "v7x", read_copy_inside, "copy", "HBM"),
    FAMILY(COPY, NULL, read_copy_inside, "copy", "HBM"),
    REFUSED("*sparse", "the row does not say which blocks are zero"),
    REFUSED("NTT", limbs),
    REFUSED("modular", limbs),
    FAMILY(FLASH_V6E, "v6e", read_attention, "flash", "attention"),
    REFUSED("*attention", kernels),
    REFUSED("RPA", kernels),
    REFUSED("SparseCore", "SparseCores are not modelled"),
    REFUSED("*SC overlap", "SparseCores are not modelled"),
    REFUSED("per-grid-step", "it is derived from another row"),
    REFUSED("copy-start", "it is a part of a transfer"),
    FAMILY(PALLAS_BLOCKS_V5E, "v5e", read_gemm, "pallas matmul"),
    FAMILY(PALLAS_BLOCKS_V5E, "v5e", read_gemm, "xla matmul"),
    FAMILY(GEMM_LARGE_WALL, "v5e", read_gemm, "dense xla reference"),
    FAMILY(GEMM_LARGE_WALL, "v4", read_gemm, "*matmul"),
    FAMILY(GEMM_V7X, "v7x", read_gemm, "*gemm"),
    FAMILY(GEMM_V7X, "v7x", read_gemm, "*matmul"),
    FAMILY(GEMM, NULL, read_gemm, "*gemm"),
    FAMILY(GEMM, NULL, read_gemm, "*matmul"),
    FAMILY(GEMM, NULL, read_gemm, "matrix multipl"),
};

/* Of rows that state their group. */
static bool (*const readers[GROUPS])(const ts_measured_row *row, ts_workload *work) = {
    [COPY_V4] = read_copy_v4,
    [COPY_V7X] = read_copy_inside,
    [STREAM_V6E] = read_traffic,
    [NORM_V6E] = read_traffic,
    [GEMM_V7X] = read_gemm,
    [GEMM_V6E] = read_gemm,
    [GEMM_V6E_WALL] = read_gemm,
    [GEMM_LARGE_WALL] = read_gemm,
    [COPY] = read_copy_inside,
    [GEMM] = read_gemm,
    [PALLAS_BLOCKS_V5E] = read_gemm,
    [SMALL_V4] = read_elementwise,
    [ELEMENTWISE_V4] = read_elementwise,
    [FLASH_V6E] = read_attention,
};

/* How tables name chips; of names that begin alike the longer is first. */
static const struct {
    const char *name, *chip, *machine;
} machines[] = {
    {"v2", "v2", "tpu-v2"},        {"v3", "v3", "tpu-v3"},        {"v4i", "v4i", "tpu-v4i"},
    {"v4", "v4", "tpu-v4"},        {"v5e", "v5e", "tpu-v5e"},     {"v5litepod", "v5e", "tpu-v5e"},
    {"v5 lite", "v5e", "tpu-v5e"}, {"v5lite", "v5e", "tpu-v5e"},  {"v5p", "v5p", "tpu-v5p"},
    {"v6e", "v6e", "tpu-v6e"},     {"v6 lite", "v6e", "tpu-v6e"}, {"trillium", "v6e", "tpu-v6e"},
    {"v7x", "v7x", "tpu-v7x"},     {"tpu7x", "v7x", "tpu-v7x"},   {"ironwood", "v7x", "tpu-v7x"},
};

/* The place behind the name of a chip in a text. */
static const char *find_name(const char *text, const char *name) {
    size_t length = strlen(name);
    for (const char *at = text; *at != '\0'; at++) {
        if (strncasecmp(at, name, length) == 0 && (at == text || !isalnum((unsigned char)at[-1])) &&
            !isalnum((unsigned char)at[length]))
            return at + length;
    }
    return NULL;
}

/* Of "v5e x8", "v7x 2x2x1", "v6e-8" more than one; "v7x (1 of 2 TC)" and "v6e-1" are one. What stands behind
 * a hyphen counts the cores, for v2 to v4 and v5p two a chip. */
static bool is_several(const char *behind, const char *chip) {
    int64_t count = 1, factor;
    bool cores = *behind == '-' && strchr("234", chip[1]) != NULL;
    cores |= *behind == '-' && strcmp(chip, "v5p") == 0;
    if (*behind == '-' && isdigit((unsigned char)behind[1])) count = strtoll(behind + 1, NULL, 10);
    for (const char *at = behind; *at != '\0'; at++) {
        if (tolower((unsigned char)*at) != 'x' || !isdigit((unsigned char)at[1])) continue;
        factor = strtoll(at + 1, NULL, 10);
        count = factor > count ? factor : count;
        if (isdigit((unsigned char)at[-1]) && at[-1] > '1') count = 2;
    }
    return count > (cores ? 2 : 1);
}

static bool find_machine(const char *text, ts_workload *work, const char **chip, bool *several) {
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        const char *behind = find_name(text, machines[i].name);
        if (behind == NULL) continue;
        work->machine = machines[i].machine;
        *chip = machines[i].chip;
        *several = is_several(behind, *chip);
        return true;
    }
    return refuse(work, "there is no machine of that chip");
}

static void find_time(const ts_measured_row *row, ts_workload *work) {
    enum { TIME, BYTES, OPERATIONS };
    static const struct {
        const char *unit;
        int of;
        double factor; /* of a time, in us; of a rate, a us */
    } units[] = {{"us", TIME, 1},
                 {"ms", TIME, 1e3},
                 {"s", TIME, 1e6},
                 {"ns", TIME, 1e-3},
                 {"GB/s", BYTES, 1e3},
                 {"GiB/s", BYTES, 0x1p30 / 1e6},
                 {"TB/s", BYTES, 1e6},
                 {"TFLOP/s", OPERATIONS, 1e6},
                 {"TFLOPS", OPERATIONS, 1e6},
                 {"TFLOPs/s", OPERATIONS, 1e6},
                 {"GFLOP/s", OPERATIONS, 1e3}};
    double amounts[] = {0, (double)(work->read_bytes + work->written_bytes), 0};
    for (int i = 0; i < work->count; i++) {
        const ts_work_product *p = &work->products[i];
        amounts[OPERATIONS] += 2 * (double)p->m * (double)p->n * (double)p->k;
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcasecmp(row->unit, units[i].unit) != 0) continue;
        work->measured_us = units[i].of == TIME ? row->value * units[i].factor
                                                : amounts[units[i].of] / (row->value * units[i].factor);
    }
    if (work->kind != TS_WORK_NONE && work->measured_us <= 0) refuse(work, "it is not a time");
}

static void read_by_group(const ts_measured_row *row, ts_workload *work) {
    const char *chip;
    bool several;
    for (int g = 0; g < GROUPS; g++) {
        if (strcmp(row->group, ts_work_groups[g].name) == 0) work->group = &ts_work_groups[g];
    }
    if (work->group == NULL) {
        refuse(work, "a group that is not known");
        return;
    }
    const char *text = work->group->chip;
    if (text == NULL) text = strstr(row->parameters, "\"chip\""); /* "chip": "v5e" */
    if (work->group->reason != NULL)
        refuse(work, work->group->reason);
    else if (find_machine(text != NULL ? text : "", work, &chip, &several))
        readers[work->group - ts_work_groups](row, work);
}

static void read_by_words(const ts_measured_row *row, ts_workload *work) {
    const char *chip;
    bool several;
    if (!find_machine(row->chip, work, &chip, &several)) return;
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        const char *const *words = families[i].words;
        if (families[i].chip != NULL && strcmp(chip, families[i].chip) != 0) continue;
        if (!has(row->workload, words[0]) || (words[1] != NULL && !has(row->workload, words[1]))) continue;
        group_id group = families[i].group;
        if (group == GEMM && HAS(row->timing, "wall", "host")) group = GEMM_LARGE_WALL;
        if (group < GROUPS) work->group = &ts_work_groups[group];
        if (families[i].read == NULL || (several && families[i].read != read_nothing))
            refuse(work, several ? chips : families[i].reason);
        else
            families[i].read(row, work);
        return;
    }
    refuse(work, several ? chips : "words that are not known");
}

void ts_workload_read(const ts_measured_row *row, ts_workload *work) {
    *work = (ts_workload){.launched = true};
    if (*row->group != '\0')
        read_by_group(row, work);
    else
        read_by_words(row, work);
    find_time(row, work);
}
