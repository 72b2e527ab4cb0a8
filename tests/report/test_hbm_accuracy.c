/* HBM time beside other simulators, as JSON: every key of made-up runs. */
#include <string.h>

#include <cjson/cJSON.h>

#include "report/validation.h"
#include "tests/support/test.h"

static void has_text(const cJSON *object, const char *key, const char *value) {
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(object, key)), value);
}

static void has_number(const cJSON *object, const char *key, double value) {
    const cJSON *item = cJSON_GetObjectItem(object, key);
    assert_true(cJSON_IsNumber(item));
    if (item->valuedouble != value) fail_msg("%s is %.9f, expected %.9f", key, item->valuedouble, value);
}

static void check_sequences(const cJSON *list, const ts_hbm_run *runs) {
    assert_int_equal(cJSON_GetArraySize(list), 16);
    for (int i = 0; i < 16; i++) {
        const cJSON *item = cJSON_GetArrayItem(list, i);
        has_text(item, "name", ts_hbm_sequence_references[i].name);
        has_number(item, "reference_cycles", (double)ts_hbm_sequence_references[i].ramulator_cycles);
        has_number(item, "cycles", (double)runs[i].cycles);
        assert_int_equal(cJSON_GetArraySize(item), 3);
    }
}

static void check_run(const cJSON *item, const ts_hbm_comparison *c, double row_hit_rate, double latency) {
    const ts_hbm_reference *r = c->reference;
    has_text(item, "simulator", r->simulator);
    has_text(item, "config", r->config);
    has_text(item, "map", r->map);
    has_text(item, "frontend", r->frontend);
    has_text(item, "pattern", r->pattern);
    has_number(item, "reference_cycles", (double)ts_hbm_reference_cycles(r));
    has_number(item, "cycles", (double)c->run.cycles);
    has_number(item, "reference_row_hit_rate", r->row_hit_rate);
    has_number(item, "row_hit_rate", row_hit_rate);
    has_number(item, "reference_mean_read_latency_cycles", r->read_latency);
    has_number(item, "mean_read_latency_cycles", latency);
    assert_int_equal(cJSON_GetArraySize(item), 11);
}

TEST_WITH_ARENA(keys_of_json) {
    ts_hbm_run sequences[2][16] = {{{.cycles = 0}}};
    for (int i = 0; i < 16; i++) sequences[0][i].cycles = 7 * i;
    ts_hbm_stats some = {
        .reads = 8, .row_hits = 3, .row_misses = 1, .row_conflicts = 4, .read_latency_sum = 100};
    ts_hbm_comparison runs[] = {{&ts_hbm_references[0], {.cycles = 1234, .stats = some}},
                                {&ts_hbm_references[ts_hbm_reference_count - 1], {.cycles = 5}}};
    ts_hbm_accuracy accuracy = {runs, 2, {sequences[0], sequences[1]}};
    ts_text out = ts_text_begin(arena);
    ts_report_hbm_accuracy_json(&accuracy, &out);
    cJSON *json = cJSON_Parse(out.bytes);
    assert_non_null(json);
    has_text(json, "schema", "tilesim.validate");
    check_sequences(cJSON_GetObjectItem(json, "sequences"), sequences[0]);
    const cJSON *list = cJSON_GetObjectItem(json, "runs");
    assert_int_equal(cJSON_GetArraySize(list), 2);
    check_run(cJSON_GetArrayItem(list, 0), &runs[0], 0.375, 12.5);
    check_run(cJSON_GetArrayItem(list, 1), &runs[1], 0, 0);
    cJSON_Delete(json);
}

/* Figures that are the same as far as the reference's decimals go are; of a group the largest differences are told. */
TEST_WITH_ARENA(groups_and_runs) {
    static const ts_hbm_reference made[] = {
        {"ramulator2.1", "hbm2_8ch", "A", "win1024", "one", 8, 1000, 0.5, 0.3750, 12.5, 0},
        {"ramulator2.1", "hbm2_8ch", "A", "win1024", "two", 8, 400, 0.25, 0.4, 10, 0},
        {"ramulator2.1", "hbm2_8ch", "H", "win1024", "one", 8, 20000, 0.5, 0.37504, 12.54, 0},
        {"ramulator2.1", "hbm2_8ch", "H", "perch", "one", 8, 200, 0.5, 0.3749, 0, 0},
        {"ramulator2.1", "hbm2_8ch", "H", "inorder", "one", 8, 200, 0.5, 0.375, 12.5, 0},
        {"dramsim3", "hbm2m_16pc", "A", "win1024", "one", 8, 1301, 0.5, 0.375, 12.5, 0},
        {"ramulator2.1", "hbm3_16ch", "A", "win1024", "one", 8, 700, 0.5, 0.375, 12.5, 0},
    };
    static const int64_t cycles[] = {1010, 390, 20000, 201, 200, 1300, 710};
    ts_hbm_run sequences[2][16] = {{{.cycles = 0}}};
    for (int i = 0; i < 16; i++) sequences[0][i].cycles = 100 + i, sequences[1][i].cycles = 200 + i;
    ts_hbm_comparison runs[7];
    for (int i = 0; i < 7; i++)
        runs[i] = (ts_hbm_comparison){
            &made[i],
            {.cycles = cycles[i],
             .stats = {
                 .reads = 8, .row_hits = 3, .row_misses = 1, .row_conflicts = 4, .read_latency_sum = 100}}};
    ts_hbm_accuracy accuracy = {runs, 7, {sequences[0], sequences[1]}};
    ts_text out = ts_text_begin(arena);
    ts_report_hbm_accuracy_markdown(&accuracy, &out);
    static const char *const expected[] = {
        "| R1 | 36 | 100 | 35 | 200 |\n| W1 | 18 | 101 | (not drained) | 201 |\n",
        "| HBM2, one stack | A | 64 KiB | 2 | 10 (2.50 %) | 0.0250 | 25.00 % |\n"
        "| HBM2, one stack | H | 64 KiB | 1 | 0 (0.00 %) | 0.0000 | 0.00 % |\n"
        "| HBM2, one stack | H | unlimited | 1 | 1 (0.50 %) | 0.0001 | 0.00 % |\n"
        "| HBM2, one stack | H | none | 1 | 0 (0.00 %) | 0.0000 | 0.00 % |\n"
        "| HBM2, 16 channels, DRAMsim3's controller | A | 64 KiB | 1 | 0 (0.00 %) | 0.0000 | 0.00 % |\n"
        "| HBM3, one stack | A | 64 KiB | 1 | 10 (1.43 %) | 0.0000 | 0.00 % |\n\n",
        "row hits | read latency | DRAMsim3 | per_bank |\n|---|---|---:|---:|---:|---:|---:|---:|---:|\n"
        "| one | A | 1,000 | 1,010 | 0.4950 | 0.3750 | 12.5 | 1,300 | 1,300 |\n"
        "| two | A | 400 | 390 | 0.2564 | 0.3750 | 12.5 |\n"
        "| one | H | 20,000 | 20,000 | 0.5000 | 0.3750 | 12.5 |\n\n",
        "half cycles of 0.625 ns:\n\n| pattern | map | Ramulator 2.1 | tilesim | of the peak | row hits | "
        "read latency |\n"
        "|---|---|---:|---:|---:|---:|---:|\n"
        "| one | A | 700 | 710 | 0.4930 | 0.3750 | 12.5 |\n",
    };
    for (int i = 0; i < 4; i++)
        if (!strstr(out.bytes, expected[i])) fail_msg("%s", out.bytes);
}
