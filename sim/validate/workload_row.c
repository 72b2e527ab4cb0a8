/* What the row of a workload states, by its keys and words, and what the rows of each group do. */
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "workload_private.h"

bool workload_refuse(ts_workload *work, const char *reason) {
    work->kind = TS_WORK_NONE;
    work->reason = reason;
    return false;
}

/* A positive whole number by the first of some keys, ended by NULL, that is there; 0: none. */
int64_t workload_number(const ts_measured_row *row, const char *const *keys) {
    double value;
    for (; *keys != NULL; keys++)
        if (ts_measured_numbers(row->parameters, *keys, 1, &value) == 1 && value >= 1 &&
            value <= WORKLOAD_LARGEST)
            return (int64_t)value;
    return 0;
}

/* A figure that may have a fraction; `otherwise` where the row does not have it. */
static double real_of(const ts_measured_row *row, const char *key, double otherwise) {
    double value;
    return ts_measured_numbers(row->parameters, key, 1, &value) == 1 && value >= 0 &&
                   value <= WORKLOAD_LARGEST
               ? value
               : otherwise;
}

int workload_dims(const ts_measured_row *row, const char *key, int64_t *dims) {
    double numbers[TS_WORK_MAX_DIMS];
    int count = ts_measured_numbers(row->parameters, key, TS_WORK_MAX_DIMS, numbers);
    for (int i = 0; i < count; i++) {
        if (numbers[i] < 1 || numbers[i] > WORKLOAD_LARGEST) return 0;
        dims[i] = (int64_t)numbers[i];
    }
    return count;
}

/* 0: there are none, or too many elements. */
int64_t workload_product(const int64_t *dims, int count) {
    int64_t all = count > 0;
    for (int i = 0; i < count; i++)
        if (__builtin_mul_overflow(all, dims[i], &all) || all > (int64_t)WORKLOAD_LARGEST) return 0;
    return all;
}

bool workload_has(const char *text, const char *const *words) {
    for (; *words != NULL; words++)
        if (ts_work_has(text, *words, strlen(*words))) return true;
    return false;
}

/* ---- What a group's rows state, in either format ---- */

static bool read_copy_v4(const ts_measured_row *row, ts_workload *work) {
    work->kind = TS_WORK_COPY;
    work->launched = false; /* inside a kernel, while it runs */
    work->rank = workload_dims(row, "shape", work->dims);
    if (work->rank == 1) { /* rows of lanes */
        work->rank = 2;
        work->dims[0] = (work->dims[0] + 127) / 128;
        work->dims[1] = 128;
    }
    return workload_product(work->dims, work->rank) > 0 || workload_refuse(work, "it states no shape");
}

static bool read_copy_inside(const ts_measured_row *row, ts_workload *work) {
    work->kind = TS_WORK_COPY;
    work->rank = 1;
    work->dims[0] = NUMBER("s", "size", "bytes");
    work->read_bytes = work->written_bytes = work->dims[0];
    return work->dims[0] > 0 || workload_refuse(work, "it states no size");
}

enum { MOST_TRANSCENDENTALS = 16 };

bool workload_add_product(ts_workload *work, ts_work_product p) {
    int64_t dims[] = {p.m, p.n, p.k};
    if (workload_product(dims, 2) == 0 || workload_product(dims + 1, 2) == 0 ||
        workload_product((int64_t[]){p.m, p.k}, 2) == 0)
        return workload_refuse(work, "it does not state M, N and K");
    if (p.weights < 1 || p.weights > p.m) p.weights = 1;
    if (workload_product((int64_t[]){p.n, p.k, p.weights}, 3) == 0)
        return workload_refuse(work, "its matrices are too many");
    if (p.in_bytes > 8 || p.out_bytes > 8)
        return workload_refuse(work, "its elements are of more than eight bytes");
    if (p.transcendentals > MOST_TRANSCENDENTALS)
        return workload_refuse(work, "too many transcendental functions");
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
        if ((i < 2 && *end != 'x') || d[i] < 1 || d[i] > (int64_t)WORKLOAD_LARGEST) return false;
    }
    return !isalnum((unsigned char)*at);
}

bool workload_crosses(const char *text, int64_t *d) {
    for (const char *at = text; *at != '\0'; at++)
        if ((at == text || !isalnum((unsigned char)at[-1])) && read_crosses(at, d)) return true;
    return false;
}

/* M, N and K by name, by the size of a square, or from a shape; 0: not stated. */
static void read_extents(const ts_measured_row *row, int64_t *d) {
    int64_t all = NUMBER("n", "size");
    d[0] = NUMBER("M", "m");
    d[1] = NUMBER("N", "n");
    d[2] = NUMBER("K", "k");
    if (d[0] > 0 || d[2] > 0) return;
    if (d[1] > 0 || all > 0)
        d[0] = d[1] = d[2] = d[1] > 0 ? d[1] : all;
    else if (!workload_crosses(row->parameters, d) && !workload_crosses(row->workload, d) &&
             workload_dims(row, "shape", d) != 3)
        d[0] = 0;
}

static const char *const narrow[] = {"fp8", "f8", "*float8", "int8", "s8", "int4", "s4", NULL};
static const char *const halves[] = {"bf16", "bfloat16", "f16", "fp16", "float16", NULL};
static const char *const wide[] = {"f32", "fp32", "float32", NULL};

/* Does the row have a dtype= that none of the lists has? */
static bool has_other_type(const ts_measured_row *row) {
    const char *type = strstr(row->parameters, "dtype=");
    return type && !workload_has(type, narrow) && !workload_has(type, halves) && !workload_has(type, wide);
}

/* Bytes of the operands: of bf16, unless the row says otherwise. */
static int64_t product_bytes(const ts_measured_row *row) {
    if (workload_has(row->workload, narrow) || workload_has(row->parameters, narrow)) return 1;
    return workload_has(row->workload, wide) || workload_has(row->parameters, wide) ? 4 : 2;
}

void workload_block(const ts_measured_row *row, ts_workload *work) {
    int64_t d[TS_WORK_MAX_DIMS];
    int count = workload_dims(row, "blk", d);
    if (count == 0) count = workload_dims(row, "block_shape", d);
    work->block[0] = count > 1 ? d[0] : NUMBER("bm");
    work->block[1] = count > 1 ? d[1] : NUMBER("bn");
    work->block[2] = count == 3 ? d[2] : NUMBER("bk", "block_k");
}

static bool read_gemm(const ts_measured_row *row, ts_workload *work) {
    int64_t d[TS_WORK_MAX_DIMS], bytes = product_bytes(row);
    work->kind = TS_WORK_MATMUL;
    if (bytes < 2) return workload_refuse(work, "a product of 8-bit values");
    if (has_other_type(row)) return workload_refuse(work, "a product of another type than f32, bf16 and f16");
    work->random = real_of(row, "rnd", 1) > 0;
    workload_block(row, work);
    read_extents(row, d);
    return workload_add_product(work,
                                (ts_work_product){.m = d[0],
                                                  .n = d[1],
                                                  .k = d[2],
                                                  .weights = NUMBER("nb"),
                                                  .in_bytes = (int64_t)real_of(row, "bin", (double)bytes),
                                                  .out_bytes = (int64_t)real_of(row, "bout", (double)bytes),
                                                  .transcendentals = real_of(row, "eup", 0),
                                                  .extra_reads = real_of(row, "xp", 0)});
}

static bool read_kernel(const ts_measured_row *row, ts_workload *work) {
    if (!read_gemm(row, work)) return false;
    work->kind = TS_WORK_KERNEL;
    work->transposed = HAS(row->workload, "transposed", "trhs") || HAS(row->id, "*trhs");
    work->relu = HAS(row->workload, "relu") || HAS(row->id, "*relu");
    return workload_product(work->block, 3) > 0 || workload_refuse(work, "it states no blocks");
}

static bool read_elementwise(const ts_measured_row *row, ts_workload *work) {
    work->kind = TS_WORK_ELEMENTWISE;
    work->rank = workload_dims(row, "sh", work->dims);
    if (work->rank == 0) work->rank = workload_dims(row, "shape", work->dims);
    if (work->rank == 0) work->rank = workload_dims(row, "n", work->dims);
    work->inputs = (int)NUMBER("nin");
    if (work->inputs == 0)
        work->inputs = HAS(row->workload, "add", "sub", "mul", "div", "max", "min", "pow") ? 2 : 1;
    if (work->inputs > 4) return workload_refuse(work, "it has more than four inputs");
    return workload_product(work->dims, work->rank) > 0 || workload_refuse(work, "it states no shape");
}

static bool read_traffic(const ts_measured_row *row, ts_workload *work) {
    work->kind = TS_WORK_PASSES;
    work->read_bytes = NUMBER("R");
    work->written_bytes = NUMBER("W");
    return work->read_bytes > 0 || workload_refuse(work, "it does not state the bytes it reads");
}

static bool read_attention(const ts_measured_row *row, ts_workload *work) {
    work->kind = TS_WORK_ATTENTION;
    work->batch = NUMBER("B", "batch", "batch_size");
    work->heads = NUMBER("H", "num_heads", "num_q_heads", "num_query_heads");
    work->length = NUMBER("S", "seq_len", "seq", "q_len");
    work->depth = NUMBER("D", "head_dim");
    work->causal = real_of(row, "causal", 1) > 0;
    work->random = true;
    int64_t keys = NUMBER("Skv", "kv_len", "kv_seq_len");
    if (keys > 0 && keys != work->length)
        return workload_refuse(work, "it has more keys than queries, or fewer");
    int64_t dims[] = {work->batch, work->heads, work->length, work->depth};
    if (work->depth > 128) return workload_refuse(work, "heads of more than 128 are not modelled");
    return workload_product(dims, 4) > 0 ||
           workload_refuse(work, "it does not state batch, heads, length and depth");
}

/* ---- Collectives ---- */

/* "2x2x4" behind `key`, or anywhere in `text` where that is NULL: extents, at most three; 0: none. */
static int read_chips(const char *text, const char *key, int64_t *extents) {
    const char *at = key ? strstr(text, key) : text;
    if (at == NULL) return 0;
    for (at += key ? strlen(key) : 0; *at != '\0'; at++) {
        if (!isdigit((unsigned char)*at) || (at > text && isalnum((unsigned char)at[-1]))) continue;
        int count = 0;
        char *end;
        for (const char *from = at; count < 3; from = end + 1) {
            extents[count++] = strtoll(from, &end, 10);
            if (*end != 'x' || !isdigit((unsigned char)end[1])) break;
        }
        if (count > 1) return count;
        if (key) return 0;
    }
    return 0;
}

/* As square as may be: 16 in three dims is 4 x 2 x 2. */
static void compact(int64_t chips, int dims, ts_workload *work) {
    int64_t *extent = work->chips;
    work->chip_dims = dims;
    for (int i = 0; i < dims; i++) extent[i] = 1;
    for (int64_t factor = 2; chips > 1; factor++)
        for (; chips % factor == 0; chips /= factor) {
            int least = 0;
            for (int i = 1; i < dims; i++)
                if (extent[i] < extent[least]) least = i;
            extent[least] *= factor;
        }
}

static bool set_chips(const ts_measured_row *row, int64_t chips, ts_workload *work) {
    work->chip_dims = read_chips(row->parameters, "topology=", work->chips);
    if (work->chip_dims == 0) work->chip_dims = read_chips(row->chip, NULL, work->chips);
    if (work->chip_dims == 0 && chips <= TS_MESH_MAX_DEVICES) compact(chips, 3, work);
    return workload_product(work->chips, work->chip_dims) > 0 ||
           workload_refuse(work, "its chips are too many");
}

/* Bytes of an array for one of its `n`: "f32[n,8,128]". */
static int64_t bytes_of_n(const char *text) {
    const char *at = strstr(text, "[n,");
    if (at == NULL) return 0;
    const char *type = at;
    while (type > text && isdigit((unsigned char)type[-1])) type--;
    int64_t bytes = strtoll(type, NULL, 10) / 8;
    for (char *end; *at != ']' && bytes > 0; at = end) {
        int64_t extent = strtoll(at + (at[1] == 'n' ? 3 : 1), &end, 10);
        bytes = *end == '\0' ? 0 : workload_product((int64_t[]){bytes, extent}, 2);
    }
    return bytes;
}

static int64_t operand_bytes(const ts_measured_row *row, const char *key) {
    const char *const keys[] = {key, NULL}, *const n[] = {"n", NULL};
    int64_t bytes = workload_number(row, keys);
    if (bytes > 0) return bytes;
    return workload_product((int64_t[]){workload_number(row, n), bytes_of_n(row->workload)}, 2);
}

static bool finish(ts_workload *work) {
    work->kind = TS_WORK_COLLECTIVE;
    work->launched = false;
    return true;
}

/* What crosses the links of a chip is stated, for all its devices; a device gets all shards but its own. */
static bool read_all_gather(const ts_measured_row *row, ts_workload *work) {
    int64_t shard = operand_bytes(row, "S");
    double transferred = real_of(row, "tr", real_of(row, "transferred", 0));
    int64_t devices = work->devices;
    if (shard <= 0 || transferred < (double)shard)
        return workload_refuse(work,
                               "it does not state the bytes of a shard, and those that are transferred");
    work->collective = TS_COLLECTIVE_ALL_GATHER;
    work->members = (int64_t)(transferred / (double)(devices * shard) + 0.5) + 1;
    work->bytes = shard * work->members;
    work->read_bytes = devices * shard * (work->members - 1); /* of which the rate is */
    return set_chips(row, work->members, work) && finish(work);
}

static bool read_all_reduce(const ts_measured_row *row, ts_workload *work) {
    work->collective = TS_COLLECTIVE_ALL_REDUCE;
    work->one_dim = true; /* as the group's source says of its rows: "1D all-reduce" */
    work->bytes = operand_bytes(row, "b");
    int64_t devices = work->devices;
    work->members = NUMBER("P");
    int64_t extents[3];
    if (work->members == 0)
        work->members = workload_product(extents, read_chips(row->chip, NULL, extents)) * devices;
    if (work->bytes <= 0 || work->members < 2 || work->members % devices != 0)
        return workload_refuse(work, "it does not state the bytes and the devices");
    return set_chips(row, work->members / devices, work) && finish(work);
}

/* "1 MiB", "1-16 KiB": the middle. */
static double sized(const char *text) {
    static const struct {
        const char *unit;
        double bytes;
    } units[] = {{"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}};
    const char *at = strstr(text, "bytes=");
    char *end;
    if (at == NULL) return 0;
    double from = strtod(at + strlen("bytes="), &end), to = *end == '-' ? strtod(end + 1, &end) : from;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strncmp(end + (*end == ' '), units[i].unit, 3) == 0) return (from + to) / 2 * units[i].bytes;
    return (from + to) / 2;
}

/* One hop: two chips, of which each sends to the other. */
static bool read_permute(const ts_measured_row *row, ts_workload *work) {
    double bytes = real_of(row, "b", sized(row->parameters));
    if (bytes < 1 || bytes > WORKLOAD_LARGEST) return workload_refuse(work, "it does not state the bytes");
    work->collective = TS_COLLECTIVE_PERMUTE;
    work->bytes = (int64_t)bytes;
    work->members = 2;
    compact(2, 1, work);
    return finish(work);
}

static bool (*const readers[TS_READS])(const ts_measured_row *row, ts_workload *work) = {
    [TS_READS_COPY] = read_copy_inside,        [TS_READS_COPY_TO_CMEM] = read_copy_v4,
    [TS_READS_TRAFFIC] = read_traffic,         [TS_READS_PRODUCT] = read_gemm,
    [TS_READS_ELEMENTWISE] = read_elementwise, [TS_READS_ATTENTION] = read_attention,
    [TS_READS_PERMUTE] = read_permute,         [TS_READS_ALL_GATHER] = read_all_gather,
    [TS_READS_ALL_REDUCE] = read_all_reduce,   [TS_READS_KERNEL] = read_kernel,
};

bool workload_enter(ts_workload *work, const char *group) {
    work->group = ts_work_groups_find(work->groups, group);
    assert(work->group != NULL);
    return work->group->reads != TS_READS_NOTHING || workload_refuse(work, work->group->reason);
}

bool workload_read_group(const ts_measured_row *row, ts_workload *work) {
    if (work->group->reads == TS_READS_NOTHING) return workload_refuse(work, work->group->reason);
    return readers[work->group->reads](row, work);
}
