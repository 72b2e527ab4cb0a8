/* Energies as people and programs read them. */
#include "report/energy.h"

#include <string.h>

#include "tests/support/group.h"

static const ts_energy some = {.hbm = {3e-6, 1e-6},
                               .hbm_total = 4e-6,
                               .ops = {2e-6, 0, 5e-7},
                               .stated = {true, false, true},
                               .ops_total = 2.5e-6,
                               .any_stated = true};
static const ts_energy none = {.hbm = {0}};

TEST(as_text) {
    static const struct {
        const ts_energy *energy;
        double microseconds;
        const char *text;
    } rows[] = {{&some, 8,
                 "energy   HBM 4.000 uJ, 0.500 W\n"
                 "         activate 75.0 %, read 25.0 %\n"
                 "         operations mxu_f32 2.000 uJ, mxu_fp8 0.500 uJ; others not stated\n"},
                {&some, 0,
                 "energy   HBM 4.000 uJ\n"
                 "         activate 75.0 %, read 25.0 %\n"
                 "         operations mxu_f32 2.000 uJ, mxu_fp8 0.500 uJ; others not stated\n"},
                {&none, 8,
                 "energy   HBM 0.000 uJ, 0.000 W\n"
                 "         operations not stated\n"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_text out = ts_text_begin(arena);
        report_energy(&out, "energy   ", rows[i].energy, rows[i].microseconds);
        assert_string_equal(out.bytes, rows[i].text);
    }
}

TEST(as_json) {
    ts_text out = ts_text_begin(arena);
    ts_json json;
    ts_json_begin(&json, &out, "test");
    report_energy_json(&json, &some);
    ts_json_end(&json);
    assert_string_equal(strstr(out.bytes, "  \"hbm_energy"), "  \"hbm_energy_joules\": {\n"
                                                             "    \"total\": 0.000004000000,\n"
                                                             "    \"activate\": 0.000003000000,\n"
                                                             "    \"read\": 0.000001000000,\n"
                                                             "    \"write\": 0.000000000000,\n"
                                                             "    \"refresh\": 0.000000000000,\n"
                                                             "    \"active_standby\": 0.000000000000,\n"
                                                             "    \"precharge_standby\": 0.000000000000\n"
                                                             "  },\n"
                                                             "  \"op_energy_joules\": {\n"
                                                             "    \"total\": 0.000002500000000,\n"
                                                             "    \"mxu_f32\": 0.000002000000000,\n"
                                                             "    \"mxu_bf16\": null,\n"
                                                             "    \"mxu_fp8\": 0.000000500000000,\n"
                                                             "    \"mxu_int8\": null,\n"
                                                             "    \"mxu_int4\": null,\n"
                                                             "    \"vpu_f32\": null,\n"
                                                             "    \"vpu_bf16\": null,\n"
                                                             "    \"vmem\": null,\n"
                                                             "    \"dma\": null,\n"
                                                             "    \"bundle\": null\n"
                                                             "  }\n"
                                                             "}\n");
}

int main(void) { return run_all_tests(begin_group, end_group); }
