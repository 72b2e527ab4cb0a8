/* The roofline of a run as text and as JSON. */
#include "run_private.h"

#include <math.h>

const char *report_scaled(ts_arena *arena, double value) {
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    enum { LAST = sizeof prefixes / sizeof prefixes[0] - 1 };
    int power = 0;
    for (; value >= 999.95 && power < LAST; power++) value /= 1000;
    return ts_text_format(arena, "%.*f %s",
                          value < 9.9995   ? 3
                          : value < 99.995 ? 2
                                           : 1,
                          value, prefixes[power]);
}

const char *report_operations(const ts_roofline *r) {
    return r->unit == TS_FLOPS_MXU && (r->kinds & ~(1u << TS_MXU_INT8 | 1u << TS_MXU_INT4)) == 0 ? "OP"
                                                                                                 : "FLOP";
}

static void add_peak(const ts_roofline *r, ts_text *out) {
    const char *unit = report_operations(r);
    ts_text_add(out, "%s", ts_flops_unit_text(r->unit));
    for (int kind = 0; kind < TS_FLOPS_COUNT; kind++)
        if (r->kinds >> kind & 1) ts_text_add(out, " %s", ts_flops_kind_text(kind));
    ts_text_add(out, ": %s %s = %s%s/s, ", ts_text_grouped(out->arena, r->flops), unit,
                report_scaled(out->arena, r->rate), unit);
    ts_text_add(out, "%.1f %% of the peak of %s%s/s\n", 100 * r->rate / r->peak,
                report_scaled(out->arena, r->peak), unit);
}

static void add_roof(const ts_roofline *r, ts_text *out) {
    const char *unit = report_operations(r);
    if (isinf(r->intensity)) {
        ts_text_add(out, "           no bytes of HBM: the peak is the roof\n");
        return;
    }
    ts_text_add(out, r->intensity < 999.5 ? "           %.3g" : "           %.0f", r->intensity);
    ts_text_add(out, " %s a byte of HBM, %s the ridge at %.1f: at most %s%s/s, ", unit,
                r->intensity < r->ridge ? "below" : "above", r->ridge, report_scaled(out->arena, r->roof),
                unit);
    ts_text_add(out, "%.1f %% reached\n", 100 * r->rate / r->roof);
}

static void add_longest_stall(const ts_chip_counters *chip, ts_text *out) {
    int64_t cycles, all = 0;
    int stall = ts_longest_stall(chip, &cycles);
    for (int i = 0; i < chip->core_count; i++) all += chip->cores[i].cycles;
    ts_text_add(out, "           %.1f %% of the time: %s\n", 100.0 * (double)cycles / (double)all,
                ts_stall_get(stall)->meaning);
}

/* -1: no other is busy. */
static int next_busiest(const ts_roofline *r, const bool *shown) {
    int best = -1;
    for (int i = 0; i < TS_UNIT_COUNT; i++)
        if (!shown[i] && r->busy[i] > (best < 0 ? 0 : r->busy[best])) best = i;
    return best;
}

/* The busiest units, and always the matrix units where there is something to do for them. */
static void add_busy(const ts_roofline *r, ts_text *out) {
    enum { SHOWN = 3 };
    bool shown[TS_UNIT_COUNT] = {false};
    int unit = r->busiest;
    for (int i = 0; i < SHOWN && unit >= 0; i++, unit = next_busiest(r, shown)) {
        ts_text_add(out, i == 0 ? "%s is busy %.1f %% of the time" : ", %s %.1f %%", ts_unit_text(unit),
                    100 * r->busy[unit]);
        shown[unit] = true;
    }
    if (r->busy[TS_SLOT_MXU] > 0 && !shown[TS_SLOT_MXU])
        ts_text_add(out, ", mxu %.1f %%", 100 * r->busy[TS_SLOT_MXU]);
}

static void add_bound(const ts_run_result *result, ts_text *out) {
    const ts_roofline *r = &result->roofline;
    ts_text_add(out, "bound by   ");
    if (r->bound != TS_BOUND_LINK) ts_text_add(out, "%s: ", ts_bound_text(r->bound));
    if (r->link >= 0) {
        ts_text_add(out, "ici link %s, busy %.1f %% of the time\n           ",
                    ts_mesh_link_text(out->arena, result->mesh->mesh, r->link), 100 * r->link_busy);
    }
    add_busy(r, out);
    ts_text_add(out, "\n           %s at least; the run took %.2f times that\n",
                ts_text_counted(out->arena, r->least_cycles, "cycle"),
                1 / (r->link >= 0 ? r->link_busy : r->busy[r->busiest]));
    if (r->bound == TS_BOUND_LATENCY) add_longest_stall(&result->chip, out);
}

void report_roofline(const ts_run_result *result, ts_text *out) {
    const ts_roofline *r = &result->roofline;
    ts_text_add(out, "roofline   ");
    if (r->unit != TS_FLOPS_NONE) {
        add_peak(r, out);
        add_roof(r, out);
    } else {
        ts_text_add(out, "no floating-point operations, and none of the matrix units\n");
    }
    if (r->busy[r->busiest] > 0 || r->link >= 0) add_bound(result, out);
}

static void add_link_json(const ts_run_result *result, ts_json *json) {
    const ts_roofline *r = &result->roofline;
    if (r->link < 0) return;
    ts_json_text(json, "bound_link", ts_mesh_link_text(json->out->arena, result->mesh->mesh, r->link));
    ts_json_real(json, "bound_link_busy_percent", 100 * r->link_busy, 3);
}

void report_roofline_json(const ts_run_result *result, ts_json *json) {
    const ts_roofline *r = &result->roofline;
    ts_json_object(json, "roofline");
    ts_json_text(json, "unit", ts_flops_unit_text(r->unit));
    ts_json_array(json, "types");
    for (int kind = 0; kind < TS_FLOPS_COUNT; kind++)
        if (r->kinds >> kind & 1) ts_json_text(json, NULL, ts_flops_kind_text(kind));
    ts_json_close(json);
    ts_json_int(json, "flops", r->flops);
    ts_json_real(json, "flops_per_s", r->rate, 0);
    ts_json_real(json, "peak_flops_per_s", r->peak, 0);
    ts_json_real(json, "peak_percent", r->peak > 0 ? 100 * r->rate / r->peak : 0, 3);
    ts_json_int(json, "hbm_pin_bytes", r->pin_bytes);
    ts_json_real(json, "hbm_bytes_per_s", r->hbm_rate, 0);
    ts_json_real(json, "peak_hbm_bytes_per_s", r->hbm_peak, 0);
    ts_json_real(json, "intensity", r->intensity, 6);
    ts_json_real(json, "ridge", r->ridge, 6);
    ts_json_real(json, "roof_flops_per_s", r->roof, 0);
    ts_json_object(json, "busy_percent");
    for (int i = 0; i < TS_UNIT_COUNT; i++) ts_json_real(json, ts_unit_text(i), 100 * r->busy[i], 3);
    ts_json_close(json);
    ts_json_text(json, "bound", ts_bound_text(r->bound));
    ts_json_text(json, "bound_unit", r->link >= 0 ? "ici" : ts_unit_text(r->busiest));
    add_link_json(result, json);
    ts_json_int(json, "least_cycles", r->least_cycles);
    ts_json_close(json);
}
