/* The rows of suites of kernels: what their names mean. */
#include <string.h>
#include <strings.h>

#include "workload_private.h"

static int64_t type_bytes(const char *parameters) {
    return HAS(parameters, "bf16", "bfloat16", "f16", "float16", "half") ? 2
           : HAS(parameters, "int8", "s8", "u8", "*float8")              ? 1
                                                                         : 4;
}

/* Elements of the tensor that an operation reads; the keys are those of KernelBench. */
static int64_t input_elements(const ts_measured_row *row) {
    int64_t dims[2 * TS_WORK_MAX_DIMS];
    static const char *const keys[] = {"batch_size", "features", "dim1", "dim2"};
    int count = workload_dims(row, "input_shape", dims + 1);
    if (count > 0) {
        dims[0] = NUMBER("batch_size");
        return workload_product(dims, count + 1);
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        int64_t extent = NUMBER(keys[i]);
        if (extent > 0) dims[count++] = extent;
    }
    return workload_product(dims, count);
}

/* An operation that streams: its input so often, and a result. */
static bool read_stream(const ts_measured_row *row, ts_workload *work) {
    int64_t out[TS_WORK_MAX_DIMS], written = workload_product(out, workload_dims(row, "out", out)),
                                   bytes = type_bytes(row->parameters);
    int64_t read = work->rule->result == TS_RESULT_SAME ? written : input_elements(row);
    work->kind = TS_WORK_PASSES;
    if (read == 0 || (written == 0 && work->rule->result != TS_RESULT_SCALAR))
        return workload_refuse(work, "it states no shapes");
    work->read_bytes = read * bytes * work->rule->input_reads;
    work->written_bytes = (work->rule->result == TS_RESULT_SCALAR ? 1 : written) * bytes;
    return true;
}

/* A product of KernelBench: its result is the last dim of `out` wide. */
static bool read_kernelbench_product(const ts_measured_row *row, ts_workload *work) {
    int64_t out[TS_WORK_MAX_DIMS], bytes = type_bytes(row->parameters);
    int rank = workload_dims(row, "out", out);
    if (rank < 2) return workload_refuse(work, "it states no shape");
    int64_t m = workload_product(out, rank - 1), n = out[rank - 1], k = NUMBER("K");
    if (k == 0 || rank == 4)
        k = rank == 4   ? NUMBER("l")
            : rank == 3 ? NUMBER("k")
                        : NUMBER("N", "M");                   /* b i j l k; tall: M x N x M */
    if (k == 0 && HAS(row->workload, "priority gemm")) k = m; /* JAXBench's 8p_GEMM: 8192 x 8192 x 28672 */
    work->kind = TS_WORK_MATMUL;
    work->random = true;
    return workload_add_product(work,
                                (ts_work_product){.m = m,
                                                  .n = n,
                                                  .k = k,
                                                  .in_bytes = bytes,
                                                  .out_bytes = bytes,
                                                  .weights = HAS(row->workload, "batched") ? out[0] : 1});
}

static bool is_one_of(const char *word, size_t length, const char *const *list) {
    for (; *list != NULL; list++)
        if (strlen(*list) == length && strncasecmp(word, *list, length) == 0) return true;
    return false;
}

/* What is fused to a product, by the words of its name, and where the fusion ends. */
static double count_transcendentals(const char *name) {
    static const char *const functions[] = {"GELU", "Sigmoid", "Swish",    "SiLU",
                                            "Tanh", "Mish",    "Softplus", NULL};
    static const char *const ends[] = {"Sum",       "Max",     "Min",     "Mean",
                                       "LogSumExp", "AvgPool", "MaxPool", NULL}; /* reduced */
    double count = 0;
    for (const char *at = name; *at != '\0' && *at != ' '; at += *at == '_') {
        size_t length = strcspn(at, "_ ");
        if (is_one_of(at, length, ends)) return count;
        count += is_one_of(at, length, functions);
        at += length;
    }
    return count;
}

static bool read_swiglu(const ts_measured_row *row, ts_workload *work) {
    int64_t rows = workload_product((int64_t[]){NUMBER("batch"), NUMBER("seq_len")}, 2),
            narrow = NUMBER("emb_dim"), wide = NUMBER("mlp_dim");
    ts_work_product up = {.m = rows, .n = wide, .k = narrow, .in_bytes = 2, .out_bytes = 2}, gate = up;
    gate.transcendentals = 1;
    ts_work_product down = {.m = rows, .n = narrow, .k = wide, .in_bytes = 2, .out_bytes = 2};
    return workload_add_product(work, up) && workload_add_product(work, gate) &&
           workload_add_product(work, down);
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
    workload_block(row, work);
    if (HAS(name, "*SwiGLU")) return read_swiglu(row, work);
    bool two = NUMBER("hidden_size") > 0 && last > 0;
    int rank = workload_dims(row, "out", out);
    if (!two && (rank == 0 || out[rank - 1] != n)) p.out_bytes = 0;
    ts_work_product second = {.m = p.m, .n = last, .k = n, .in_bytes = 2};
    return workload_add_product(work, p) && (!two || workload_add_product(work, second));
}

static bool read_jaxbench(const ts_measured_row *row, ts_workload *work) {
    const char *name = strchr(row->workload, ' ');
    name = name != NULL ? name + 1 : row->workload;
    work->random = name[strspn(name, "0123456789")] != 'k'; /* those of KernelBench have weights of zero */
    if (HAS(name, "*attention")) {
        bool one =
            (HAS(row->workload, "pallas", "optimized") || HAS(row->parameters, "pallas", "*_optimized")) &&
            !HAS(name, "*paged", "*MLA", "*sparse", "*ring");
        return workload_enter(work, one ? "flash-v6e" : "attention-v6e") && workload_read_group(row, work);
    }
    if (HAS(name, "conv2d", "conv3d", "*_conv")) return workload_refuse(work, "convolutions");
    if (!HAS(name, "*gemm", "*matmul", "*bmm", "*swiglu", "*ragged_dot"))
        return workload_refuse(work, "an operation of JAXBench that is not known");
    bool norm = HAS(name, "*GroupNorm", "*BatchNorm", "*LayerNorm", "*Softmax");
    return workload_enter(work, norm ? "gemm-norm-v6e" : "gemm-v6e") &&
           read_jaxbench_product(row, work, name);
}

/* "8p_GEMM 8192x8192x28672 bf16 XLA default": M x K x N. */
static bool read_wiki(const ts_measured_row *row, ts_workload *work) {
    int64_t d[3] = {0};
    if (!workload_crosses(row->workload, d)) d[0] = 0;
    work->kind = TS_WORK_MATMUL;
    work->random = true;
    return workload_add_product(
        work, (ts_work_product){.m = d[0], .k = d[1], .n = d[2], .in_bytes = 2, .out_bytes = 2});
}

static bool read_f16_product(const ts_measured_row *row, ts_workload *work) {
    bool small = NUMBER("M") <= 256 && NUMBER("N") <= 256 && NUMBER("K") <= 256;
    return workload_enter(work, small ? "matmul-small-v4" : "matmul-v4") && workload_read_group(row, work);
}

enum { SMALL_ELEMENTS = 16384 };

static bool read_f16_elementwise(const ts_measured_row *row, ts_workload *work) {
    if (!workload_enter(work, "small-v4") || !workload_read_group(row, work)) return false;
    if (workload_product(work->dims, work->rank) <= SMALL_ELEMENTS) return true;
    return workload_enter(work, "elementwise-v4") && workload_read_group(row, work);
}

static bool (*const readers[TS_SUITES])(const ts_measured_row *row, ts_workload *work) = {
    [TS_SUITE_NONE] = workload_read_group,
    [TS_SUITE_WIKI] = read_wiki,
    [TS_SUITE_KERNELBENCH_STREAM] = read_stream,
    [TS_SUITE_KERNELBENCH_PRODUCT] = read_kernelbench_product,
    [TS_SUITE_JAXBENCH] = read_jaxbench,
    [TS_SUITE_F16_PRODUCT] = read_f16_product,
    [TS_SUITE_F16_ELEMENTWISE] = read_f16_elementwise,
};

bool workload_read_suite(const ts_measured_row *row, ts_workload *work) {
    return readers[work->rule->suite](row, work);
}
