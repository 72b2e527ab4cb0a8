/* Recognises workloads: which group a row is of, which machine, and what was timed. */
#include "validate/workload.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "workload_private.h"

/* ---- Which chip ---- */

/* How tables name chips, and into how many devices of one they count; of names that begin alike the longer is
 * first. */
static const struct {
    const char *name, *chip, *machine;
    int devices;
} machines[] = {
    {"v2", "v2", "tpu-v2", 2},        {"v3", "v3", "tpu-v3", 2},        {"v4i", "v4i", "tpu-v4i", 1},
    {"v4", "v4", "tpu-v4", 1},        {"v5e", "v5e", "tpu-v5e", 1},     {"v5litepod", "v5e", "tpu-v5e", 1},
    {"v5 lite", "v5e", "tpu-v5e", 1}, {"v5lite", "v5e", "tpu-v5e", 1},  {"v5p", "v5p", "tpu-v5p", 1},
    {"v6e", "v6e", "tpu-v6e", 1},     {"v6 lite", "v6e", "tpu-v6e", 1}, {"trillium", "v6e", "tpu-v6e", 1},
    {"v7x", "v7x", "tpu-v7x", 2},     {"tpu7x", "v7x", "tpu-v7x", 2},   {"ironwood", "v7x", "tpu-v7x", 2},
};

/* The position behind the name of a chip in a text. */
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
        if (!isdigit((unsigned char)*at)) continue;
        bool crossed = tolower((unsigned char)at[-1]) == 'x'; /* "x8", "2x1" */
        char *end;
        factor = strtoll(at, &end, 10);
        crossed |= tolower((unsigned char)*end) == 'x' && isdigit((unsigned char)end[1]);
        if (crossed && factor > count) count = factor;
        at = end - 1;
    }
    return count > (cores ? 2 : 1);
}

static bool find_machine(const char *text, ts_workload *work, const char **chip, bool *several) {
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        const char *behind = find_name(text, machines[i].name);
        if (behind == NULL) continue;
        work->machine = machines[i].machine;
        work->devices = machines[i].devices;
        *chip = machines[i].chip;
        *several = is_several(behind, *chip);
        return true;
    }
    return workload_refuse(work, "there is no machine of that chip");
}

enum { TIME, BYTES, OPERATIONS };
static const struct {
    const char *unit;
    int of;
    double factor; /* of a time, in us; of a rate, a us */
} units[] = {{"us", TIME, 1},
             {"ms", TIME, 1e3},
             {"s", TIME, 1e6},
             {"ns", TIME, 1e-3},
             {"ps", TIME, 1e-6},
             {"\xc2\xb5s", TIME, 1}, /* the micro sign, and a Greek letter */
             {"\xce\xbcs", TIME, 1},
             {"GB/s", BYTES, 1e3},
             {"GiB/s", BYTES, 0x1p30 / 1e6},
             {"TB/s", BYTES, 1e6},
             {"TFLOP/s", OPERATIONS, 1e6},
             {"TFLOPS", OPERATIONS, 1e6},
             {"TFLOPs/s", OPERATIONS, 1e6},
             {"GFLOP/s", OPERATIONS, 1e3}};

static void find_time(const ts_measured_row *row, ts_workload *work) {
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

/* ---- Which group ---- */

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

static void read_by_words(const ts_work_rules *rules, const ts_measured_row *row, ts_workload *work) {
    static const char chips[] = "it is of several chips, and no collective";
    const char *chip;
    bool several;
    if (!find_machine(row->chip, work, &chip, &several)) return;
    const ts_work_rule *rule = work->rule = ts_work_rules_find(rules, chip, row->workload, row->timing);
    bool modelled = rule == NULL || rule->group == NULL || workload_enter(work, rule->group);
    several = several && !(work->group && work->group->reads >= TS_READS_PERMUTE);
    if (several && modelled)
        workload_refuse(work, chips);
    else if (rule == NULL || rule->reason != NULL)
        workload_refuse(work, rule ? rule->reason : "words that are not known");
    else if (modelled)
        workload_read_suite(row, work);
}

void ts_workload_read(const ts_work_groups *groups, const ts_work_rules *rules, const ts_measured_row *row,
                      ts_workload *work) {
    *work = (ts_workload){.launched = true, .groups = groups};
    if (*row->group != '\0')
        read_by_group(row, work);
    else
        read_by_words(rules, row, work);
    find_time(row, work);
}
