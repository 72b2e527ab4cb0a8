/* HBM time beside other simulators, as JSON: every key of made-up runs. */
#include <string.h>

#include <cjson/cJSON.h>

#include "report/hbm_accuracy.h"
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

static void keys_of_json(void **state) {
    (void)state;
    ts_arena *arena = ts_arena_new();
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
    ts_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(keys_of_json)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
