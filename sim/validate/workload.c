/* Recognises workloads: which group a row is of, which machine, and what was timed. */
#include "validate/workload.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "workload_private.h"

/* ---- Which group ---- */

static const char limbs[] = "integers of several words",
                  kernels[] = "which kernel of attention it is, and its shapes, are not in the row",
                  chips[] = "it is of several chips, and no collective";

#define FAMILY(group_, chip_, ...)                                                                           \
    {                                                                                                        \
        .group = group_, .chip = chip_, .words = { __VA_ARGS__ }                                             \
    }
#define SUITE(group_, chip_, read_, ...)                                                                     \
    { .group = group_, .chip = chip_, .words = {__VA_ARGS__}, .read = read_ }
#define REFUSED(word_, reason_)                                                                              \
    { .words = {word_}, .reason = reason_ }

/* Of rows by words: the first that fits. Of that chip, or NULL: of any; all `words` are there. */
static const struct {
    const char *group; /* NULL: the suite chooses it, or there is none */
    const char *chip, *words[2];
    bool (*read)(const ts_measured_row *row, ts_workload *work); /* of a suite; NULL: as the group says */
    const char *reason;                                          /* why it is refused */
} families[] = {
    REFUSED("SparseCore", "SparseCores are not modelled"),
    REFUSED("*SC overlap", "SparseCores are not modelled"),
    REFUSED("ppermute fit", "it is derived from other rows"),
    FAMILY("ici-allgather", NULL, "all_gather"),
    FAMILY("ici-allgather", NULL, "all-gather"),
    FAMILY("ici-allreduce", NULL, "all_reduce"),
    FAMILY("ici-allreduce", NULL, "all-reduce"),
    FAMILY("ici-permute", NULL, "ppermute"),
    SUITE("gemm-v6e-wall", "v6e", workload_read_wiki, "8p_GEMM", "XLA default"),
    SUITE(NULL, "v6e", workload_read_kernelbench, "JAXKernelBench"),
    SUITE(NULL, "v6e", workload_read_jaxbench, "JAXBench"),
    SUITE("matmul-v4", "v4", workload_read_f16_product, "f16", "matmul"),
    FAMILY("layernorm-v4", "v4", "layer"),
    SUITE("small-v4", "v4", workload_read_f16_elementwise, "f16", "elementwise"),
    SUITE("small-v4", "v4", workload_read_f16_elementwise, "f16", "activation"),
    FAMILY("copy-v4", "v4", "copy", "*S(3)"),
    FAMILY("copy-v4", "v4", "copy", "*CMEM"),
    FAMILY("copy-v7x", "v7x", "copy", "HBM"),
    FAMILY("copy", NULL, "copy", "HBM"),
    REFUSED("*sparse", "the row does not say which blocks are zero"),
    REFUSED("NTT", limbs),
    REFUSED("modular", limbs),
    FAMILY("flash-v6e", "v6e", "flash", "attention"),
    REFUSED("*attention", kernels),
    REFUSED("RPA", kernels),
    REFUSED("per-grid-step", "it is derived from another row"),
    REFUSED("copy-start", "it is a part of a transfer"),
    FAMILY("pallas-blocks-v5e", "v5e", "pallas matmul"),
    FAMILY("pallas-blocks-v5e", "v5e", "xla matmul"),
    FAMILY("gemm-large-wall", "v5e", "dense xla reference"),
    FAMILY("gemm-large-wall", "v4", "*matmul"),
    FAMILY("gemm-v7x", "v7x", "*gemm"),
    FAMILY("gemm-v7x", "v7x", "*matmul"),
    FAMILY("gemm", NULL, "*gemm"),
    FAMILY("gemm", NULL, "*matmul"),
    FAMILY("gemm", NULL, "matrix multipl"),
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
    for (const char *at = text; *at != '\0'; at++)
        if (strncasecmp(at, name, length) == 0 && (at == text || !isalnum((unsigned char)at[-1])) &&
            !isalnum((unsigned char)at[length]))
            return at + length;
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
    return workload_refuse(work, "there is no machine of that chip");
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
    if (work->kind != TS_WORK_NONE && work->measured_us <= 0) workload_refuse(work, "it is not a time");
}

static void read_by_group(const ts_measured_row *row, ts_workload *work) {
    const char *chip;
    bool several;
    work->group = ts_work_groups_find(work->groups, row->group);
    if (work->group == NULL) {
        workload_refuse(work, "a group that is not known");
        return;
    }
    const char *text = work->group->chip;
    if (text == NULL) text = strstr(row->parameters, "\"chip\""); /* "chip": "v5e" */
    if (work->group->reads == TS_READS_NOTHING ||
        find_machine(text != NULL ? text : "", work, &chip, &several))
        workload_read_group(row, work);
}

static void read_by_words(const ts_measured_row *row, ts_workload *work) {
    const char *chip;
    bool several;
    if (!find_machine(row->chip, work, &chip, &several)) return;
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        const char *const *words = families[i].words, *group = families[i].group;
        if (families[i].chip != NULL && strcmp(chip, families[i].chip) != 0) continue;
        if (!HAS(row->workload, words[0]) || (words[1] != NULL && !HAS(row->workload, words[1]))) continue;
        if (group != NULL && strcmp(group, "gemm") == 0 && HAS(row->timing, "wall", "host"))
            group = "gemm-large-wall";
        bool modelled = group == NULL || workload_enter(work, group) || families[i].read != NULL;
        several = several && !(work->group && work->group->reads >= TS_READS_PERMUTE);
        if (families[i].reason != NULL || (several && modelled))
            workload_refuse(work, several ? chips : families[i].reason);
        else if (families[i].read != NULL)
            families[i].read(row, work);
        else
            workload_read_group(row, work);
        return;
    }
    workload_refuse(work, several ? chips : "words that are not known");
}

void ts_workload_read(const ts_work_groups *groups, const ts_measured_row *row, ts_workload *work) {
    *work = (ts_workload){.launched = true, .groups = groups};
    if (*row->group != '\0')
        read_by_group(row, work);
    else
        read_by_words(row, work);
    find_time(row, work);
}
