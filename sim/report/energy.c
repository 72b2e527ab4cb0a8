/* Energies, as text and as JSON. */
#include "report/energy.h"

#include <math.h>
#include <string.h>

static void add_hbm(ts_text *out, int indent, const ts_energy *energy, double microseconds) {
    ts_text_add(out, "HBM %.3f uJ", energy->hbm_total * 1e6);
    if (microseconds > 0) ts_text_add(out, ", %.3f W", energy->hbm_total * 1e6 / microseconds);
    const char *between = ts_text_format(out->arena, "\n%*s", indent, "");
    for (int i = 0; i < TS_HBM_ENERGY_CAUSES; i++) {
        if (energy->hbm[i] == 0) continue;
        ts_text_add(out, "%s%s %.1f %%", between, ts_hbm_energy_name((ts_hbm_energy_cause)i),
                    100 * energy->hbm[i] / energy->hbm_total);
        between = ", ";
    }
    ts_text_add_char(out, '\n');
}

static void add_ops(ts_text *out, const ts_energy *energy) {
    ts_text_add(out, "operations");
    for (int i = 0, shown = 0; i < TS_ENERGY_OPS; i++)
        if (energy->stated[i])
            ts_text_add(out, "%s %s %.3f uJ", shown++ ? "," : "", ts_energy_op_name((ts_energy_op)i),
                        energy->ops[i] * 1e6);
    ts_text_add(out, energy->any_stated ? "; others not stated\n" : " not stated\n");
}

void report_energy(ts_text *out, const char *label, const ts_energy *energy, double microseconds) {
    int indent = (int)strlen(label);
    ts_text text = ts_text_begin(out->arena);
    ts_text_add(&text, "%s", label);
    add_hbm(&text, indent, energy, microseconds);
    ts_text_add(&text, "%*s", indent, "");
    add_ops(&text, energy);
    ts_text_wrap(&text, TS_TEXT_COLUMNS);
    ts_text_add(out, "%s", text.bytes);
}

enum { DECIMALS = 12, OP_DECIMALS = 15 }; /* an operation is stated in fJ */

double report_total_joules(const double joules[TS_HBM_ENERGY_CAUSES]) {
    double total = 0;
    for (int i = 0; i < TS_HBM_ENERGY_CAUSES; i++) total += joules[i];
    return total;
}

void report_hbm_energy_json(ts_json *json, const char *key, const double joules[TS_HBM_ENERGY_CAUSES]) {
    ts_json_object(json, key);
    ts_json_real(json, "total", report_total_joules(joules), DECIMALS);
    for (int i = 0; i < TS_HBM_ENERGY_CAUSES; i++)
        ts_json_real(json, ts_hbm_energy_name((ts_hbm_energy_cause)i), joules[i], DECIMALS);
    ts_json_close(json);
}

void report_energy_json(ts_json *json, const ts_energy *energy) {
    report_hbm_energy_json(json, "hbm_energy_joules", energy->hbm);
    ts_json_object(json, "op_energy_joules");
    ts_json_real(json, "total", energy->any_stated ? energy->ops_total : (double)NAN, OP_DECIMALS);
    for (int i = 0; i < TS_ENERGY_OPS; i++)
        ts_json_real(json, ts_energy_op_name((ts_energy_op)i),
                     energy->stated[i] ? energy->ops[i] : (double)NAN, OP_DECIMALS);
    ts_json_close(json);
}
