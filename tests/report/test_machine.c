/* Machines for people: their names, the rates that follow from their figures, and their figures as JSON. */
#include "report/machine.h"

#include <string.h>

#include "tests/support/group.h"
#include "tests/support/written.h"

static const ts_machine *changed(const char *name, const char *const *sets, int count) {
    ts_error err = {0};
    const ts_machine *machine = ts_machine_load_with(&err, arena, name, "--set", sets, count);
    if (!machine) fail_msg("%s", err.message);
    return machine;
}

static const char *line_of(const char *label, const char *const *sets, int count) {
    ts_text out = ts_text_begin(arena);
    ts_report_machine_line(label, changed("tpu-v5e", sets, count), &out);
    return out.bytes;
}

/* What was changed goes on below the name where a line has no room for it: up to 99 columns. */
TEST(names) {
    static const char *const sets[] = {"hbm.clock=1.6 GHz", "chip.launch=1.5us", "hbm.timing.t_refi=3.9 us",
                                       "dma.queues=1", "hbm.controller.refresh=none"};
    static const char *const title = "title=a < b";
    assert_string_equal(ts_report_machine_name(arena, changed("tpu-v5p", sets, 5)),
                        "tpu-v5p (TPU v5p), with chip.launch=1.5 us, hbm.clock=1.6 GHz, "
                        "hbm.timing.t_refi=3.9 us, hbm.controller.refresh=none, dma.queues=1");
    assert_string_equal(ts_report_machine_escaped(arena, changed("tpu-v5p", &title, 1)),
                        "tpu-v5p (a &lt; b), with title=&quot;a &lt; b&quot;");
    assert_string_equal(line_of("machine       ", sets, 0), "machine       tpu-v5e (TPU v5e), the default\n");
    assert_string_equal(
        line_of("machine       ", sets, 5),
        "machine       tpu-v5e (TPU v5e), the default, with chip.launch=1.5 us, hbm.clock=1.6 GHz,\n"
        "              hbm.timing.t_refi=3.9 us, hbm.controller.refresh=none, dma.queues=1\n");
    assert_string_equal(
        line_of("machine                                 ", sets, 5),
        "machine                                 tpu-v5e (TPU v5e), the default, with chip.launch=1.5 us,\n"
        "                                        hbm.clock=1.6 GHz, hbm.timing.t_refi=3.9 us,\n"
        "                                        hbm.controller.refresh=none, dma.queues=1\n");
    for (int label = 44; label <= 45; label++) /* behind it 55 characters */
        assert_string_equal(line_of(ts_text_format(arena, "%*s", label, ""), &sets[1], 1),
                            ts_text_format(arena,
                                           "%*stpu-v5e (TPU v5e), the default,%s%*swith chip.launch=1.5 us\n",
                                           label, "", label > 44 ? "\n" : " ", label > 44 ? label : 0, ""));
}

/* Texts and groups without keys are no figures. */
static void count_figures(const ts_machine *machine, int counts[TS_STATUS_ASSUMED + 1]) {
    for (int i = 0; i < machine->leaf_count; i++) {
        const ts_field_kind kind = machine->leaves[i].field->kind;
        counts[ts_field_leaf_status(&machine->leaves[i])] += kind != TS_FIELD_TEXT && kind != TS_FIELD_GROUP;
    }
}

TEST(what_follows) {
    ts_text out = ts_text_begin(arena);
    int counts[TS_STATUS_ASSUMED + 1] = {0};
    const ts_machine *machine = changed("tpu-v5e", NULL, 0);
    count_figures(machine, counts);
    ts_report_machine(machine, &out);
    assert_holds(out.bytes,
                 ts_text_format(arena,
                                "\n#   %d figures published, %d derived, %d assumed, %d without a source\n",
                                counts[TS_STATUS_PUBLISHED], counts[TS_STATUS_DERIVED],
                                counts[TS_STATUS_ASSUMED], counts[TS_STATUS_UNSTATED]));
    assert_holds(out.bytes,
                 "\n# What follows, for the chip:\n"
                 "#                peak TOP/s      sustained   ridge, op/B of HBM         op/B of VMEM\n");
    assert_holds(out.bytes,
                 "\n#   bf16              196.6          196.6                240.0                 10.7\n");
    assert_holds(out.bytes,
                 "\n#   int4              786.4          786.4                960.0                 42.7\n");
    assert_holds(out.bytes, "\n#   HBM               819.2 GB/s\n"
                            "#   VMEM            18432.0 GB/s of loads, 22.5 times HBM\n");
    ts_text_clear(&out);
    ts_report_machine(changed("tpu-v4", NULL, 0), &out);
    assert_holds(out.bytes, "\n#   fp8      not native\n");
    ts_text_clear(&out);
    ts_report_machine_json(changed("tpu-v4", NULL, 0), &out);
    const char *rates = json_value(arena, out.bytes, "operations_per_second");
    assert_true(strstr(rates, "\"fp8\"") == NULL && strstr(rates, "\"bf16\"") != NULL);
}

/* Without VMEM nothing is said of it. */
TEST(no_memory_no_rate) {
    ts_text out = ts_text_begin(arena);
    ts_report_machine(changed("trainium2", NULL, 0), &out);
    assert_holds(out.bytes, "\n#   HBM               362.5 GB/s\n#   51 figures published");
    assert_holds(out.bytes, "  506.2                    -\n");
    ts_text_clear(&out);
    ts_report_machine_json(changed("trainium2", NULL, 0), &out);
    assert_string_equal(json_value(arena, out.bytes, "vmem_bytes_per_second"), "0");
}

TEST(as_json) {
    ts_text out = ts_text_begin(arena);
    const char *const set = "chip.launch=1.5us";
    ts_report_machine_json(changed("tpu-v5e", &set, 1), &out);
    assert_string_equal(json_value(arena, out.bytes, "machine_overrides"), "[\"chip.launch=1.5 us\"]");
    assert_string_equal(
        json_value(arena, out.bytes, "operations_per_second"),
        "{\"f32\":{\"peak\":196608000000000,\"sustained\":196608000000000,\"hbm_ridge\":240,"
        "\"vmem_ridge\":10.667},\"bf16\":{\"peak\":196608000000000,\"sustained\":196608000000000,"
        "\"hbm_ridge\":240,\"vmem_ridge\":10.667},\"fp8\":{\"peak\":196608000000000,"
        "\"sustained\":196608000000000,\"hbm_ridge\":240,\"vmem_ridge\":10.667},"
        "\"int8\":{\"peak\":393216000000000,\"sustained\":393216000000000,\"hbm_ridge\":480,"
        "\"vmem_ridge\":21.333},\"int4\":{\"peak\":786432000000000,\"sustained\":786432000000000,"
        "\"hbm_ridge\":960,\"vmem_ridge\":42.667}}");
    assert_string_equal(json_value(arena, out.bytes, "hbm_bytes_per_second"), "819200000000");
    const char *figures = json_value(arena, out.bytes, "figures");
    assert_string_equal(json_value(arena, figures, "chip.launch"),
                        "{\"value\":1500000,\"unit\":\"ps\",\"given\":\"1.5 us\",\"status\":\"unstated\","
                        "\"source\":\"override\"}");
    assert_string_equal(json_value(arena, figures, "hbm.address_map"),
                        "{\"value\":\"H\",\"unit\":\"\",\"status\":\"assumed\","
                        "\"source\":\"assumed (not public; a plausible hash)\"}");
    assert_string_equal(json_value(arena, figures, "hbm.controller.refresh"),
                        "{\"value\":\"all_bank\",\"unit\":\"\",\"given\":\"all_bank\",\"status\":\"assumed\","
                        "\"source\":\"assumed (R2)\"}");
    assert_string_equal(json_value(arena, figures, "memories.hbm.per_core"),
                        "{\"value\":false,\"unit\":\"\",\"given\":\"false\",\"status\":\"published\","
                        "\"source\":\"published (TI)\"}");
    assert_string_equal(json_value(arena, figures, "energy"),
                        "{\"value\":null,\"unit\":\"\",\"status\":\"unstated\",\"source\":\"\"}");
}

TEST(all_are_listed) {
    ts_error err = {0};
    ts_text out = ts_text_begin(arena), json = ts_text_begin(arena);
    assert_true(ts_report_machines(&err, arena, &out));
    assert_holds(out.bytes, "machine            HBM GB/s            HBM   bf16 TOP/s\n");
    assert_holds(out.bytes,
                 "\ntpu-v5e               819.2         16 GiB        196.6  TPU v5e, the default\n");
    assert_true(ts_report_machines_json(&err, arena, &json));
    assert_string_equal(json_value(arena, json.bytes, "default"), "\"tpu-v5e\"");
}

int main(void) { return run_all_tests(begin_group, end_group); }
