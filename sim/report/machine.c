/* Machines for people. */
#include "report/machine.h"

#include <inttypes.h>
#include <string.h>

#include "machine/embedded.h"

/* ---- Its name ---- */

/* Each part in a new line when it would not fit any more; `columns` 0: all in one. */
static void add_part(ts_text *out, size_t line, int indent, size_t columns, const char *before,
                     const char *part) {
    if (columns > 0 && out->length - line + strlen(before) + strlen(part) > columns)
        ts_text_add(out, ",\n%*s%s", indent, "", before + strspn(before, ", "));
    else
        ts_text_add(out, "%s", before);
    ts_text_add(out, "%s", part);
}

static void add_name(const ts_machine *machine, int indent, size_t columns, ts_text *out) {
    size_t line = out->length - (size_t)indent;
    ts_text_add(out, "%s (%s)%s", ts_text_one_line(out->arena, machine->name),
                ts_text_one_line(out->arena, machine->title),
                strcmp(machine->name, TS_MACHINE_DEFAULT) == 0 ? ", the default" : "");
    for (int i = 0; i < machine->override_count; i++) {
        size_t at = out->length;
        add_part(out, line, indent, columns, i == 0 ? ", with " : ", ",
                 ts_text_one_line(out->arena, machine->overrides[i]));
        const char *newline = strchr(out->bytes + at, '\n');
        if (newline) line = (size_t)(newline + 1 - out->bytes);
    }
}

const char *ts_report_machine_name(ts_arena *arena, const ts_machine *machine) {
    ts_text name = ts_text_begin(arena);
    add_name(machine, 0, 0, &name);
    return name.bytes;
}

void ts_report_machine_line(const char *label, const ts_machine *machine, ts_text *out) {
    ts_text_add(out, "%s", label);
    add_name(machine, (int)strlen(label), TS_TEXT_COLUMNS - 1, out);
    ts_text_add_char(out, '\n');
}

const char *ts_report_machine_escaped(ts_arena *arena, const ts_machine *machine) {
    return ts_text_escaped(arena, ts_report_machine_name(arena, machine));
}

void ts_report_machine_keys(const ts_machine *machine, ts_json *json) {
    ts_json_text(json, "machine", machine ? machine->name : NULL);
    ts_json_text(json, "machine_hash",
                 machine ? ts_text_format(json->out->arena, "%016" PRIx64, machine->hash) : NULL);
    ts_json_array(json, "machine_overrides");
    for (int i = 0; machine && i < machine->override_count; i++)
        ts_json_text(json, NULL, machine->overrides[i]);
    ts_json_close(json);
}

/* ---- What follows from the figures ---- */

static double tera(int64_t rate) { return (double)rate / 1e12; }
static double giga(int64_t rate) { return (double)rate / 1e9; }
static double ratio(int64_t a, int64_t b) { return (double)a / (double)b; }

/* Of operations and a byte; "-" where nothing comes. */
static const char *ridge(ts_arena *arena, int64_t ops, int64_t bytes) {
    return bytes > 0 ? ts_text_format(arena, "%.1f", ratio(ops, bytes)) : "-";
}

static void add_rates(const ts_machine *m, ts_text *out) {
    int64_t vmem = ts_machine_vmem_rate(m, m->chip.peak_khz), hbm = ts_machine_hbm_rate(m);
    ts_text_add(out, "#   %-8s %14s %14s %20s %20s\n", "", "peak TOP/s", "sustained", "ridge, op/B of HBM",
                "op/B of VMEM");
    for (ts_mxu_type type = 0; type < TS_MXU_TYPE_COUNT; type++) {
        int64_t peak = ts_machine_peak_ops(m, type, m->chip.peak_khz);
        if (peak == 0) {
            ts_text_add(out, "#   %-8s not native\n", ts_mxu_type_text(type));
            continue;
        }
        ts_text_add(out, "#   %-8s %14.1f %14.1f %20s %20s\n", ts_mxu_type_text(type), tera(peak),
                    tera(ts_machine_peak_ops(m, type, m->chip.sustained_khz)), ridge(out->arena, peak, hbm),
                    ridge(out->arena, peak, vmem));
    }
    ts_text_add(out, "#   HBM      %14.1f GB/s\n", giga(hbm));
    if (vmem == 0) return;
    ts_text_add(out, "#   VMEM     %14.1f GB/s of loads, %.1f times HBM\n", giga(vmem), ratio(vmem, hbm));
}

/* Texts and groups without keys are no figures. */
static void count_status(const ts_machine *m, int counts[TS_STATUS_ASSUMED + 1]) {
    memset(counts, 0, sizeof counts[0] * (TS_STATUS_ASSUMED + 1));
    for (int i = 0; i < m->leaf_count; i++) {
        ts_field_kind kind = m->leaves[i].field->kind;
        if (kind != TS_FIELD_TEXT && kind != TS_FIELD_GROUP) counts[ts_field_leaf_status(&m->leaves[i])]++;
    }
}

void ts_report_machine(const ts_machine *machine, ts_text *out) {
    int counts[TS_STATUS_ASSUMED + 1];
    count_status(machine, counts);
    ts_text_add(out, "# %s\n", ts_report_machine_name(out->arena, machine));
    ts_machine_print(out, machine);
    ts_text_add(out, "\n# What follows, for the chip:\n");
    add_rates(machine, out);
    ts_text_add(out, "#   %s published, %d derived, %d assumed, %d without a source\n",
                ts_text_counted(out->arena, counts[TS_STATUS_PUBLISHED], "figure"), counts[TS_STATUS_DERIVED],
                counts[TS_STATUS_ASSUMED], counts[TS_STATUS_UNSTATED]);
    ts_text_add(out, "#   machine_hash %016" PRIx64 "\n", machine->hash);
}

/* ---- JSON ---- */

static void add_rates_json(const ts_machine *m, ts_json *json) {
    int64_t hbm = ts_machine_hbm_rate(m), vmem = ts_machine_vmem_rate(m, m->chip.peak_khz);
    ts_json_object(json, "operations_per_second");
    for (ts_mxu_type type = 0; type < TS_MXU_TYPE_COUNT; type++) {
        int64_t peak = ts_machine_peak_ops(m, type, m->chip.peak_khz);
        if (peak == 0) continue;
        ts_json_object(json, ts_mxu_type_text(type));
        ts_json_int(json, "peak", peak);
        ts_json_int(json, "sustained", ts_machine_peak_ops(m, type, m->chip.sustained_khz));
        ts_json_real(json, "hbm_ridge", ratio(peak, hbm), 3);
        ts_json_real(json, "vmem_ridge", ratio(peak, vmem), 3);
        ts_json_close(json);
    }
    ts_json_close(json);
    ts_json_int(json, "hbm_bytes_per_second", hbm);
    ts_json_int(json, "vmem_bytes_per_second", vmem);
}

static void add_value(const ts_field *field, const void *at, ts_json *json) {
    const char *text;
    if (field->kind == TS_FIELD_TEXT) {
        memcpy(&text, at, sizeof text);
        ts_json_text(json, "value", text);
    } else if (field->kind == TS_FIELD_GROUP) {
        ts_json_null(json, "value");
    } else if (field->kind == TS_FIELD_CHOICE) {
        ts_json_text(json, "value", field->choices[ts_field_value(field, at)]);
    } else if (field->kind == TS_FIELD_BOOL) {
        ts_json_bool(json, "value", ts_field_value(field, at) != 0);
    } else {
        ts_json_int(json, "value", ts_field_value(field, at));
    }
}

/* A time stays in ns where `value` is in ticks of a clock that may change. */
static void add_given(const ts_field_leaf *leaf, ts_arena *arena, ts_json *json) {
    ts_text given = ts_text_begin(arena);
    ts_field_print_given(&given, leaf);
    ts_json_text(json, "given", given.bytes);
}

void ts_report_machine_json(const ts_machine *machine, ts_text *out) {
    ts_json json;
    ts_json_begin(&json, out, "machine");
    ts_report_machine_keys(machine, &json);
    ts_json_text(&json, "title", machine->title);
    add_rates_json(machine, &json);
    ts_json_object(&json, "figures");
    for (int i = 0; i < machine->leaf_count; i++) {
        const ts_field_leaf *leaf = &machine->leaves[i];
        ts_json_object(&json, leaf->path);
        add_value(leaf->field, leaf->at, &json);
        ts_json_text(&json, "unit", ts_field_unit(leaf->field));
        if (leaf->field->kind != TS_FIELD_TEXT && leaf->field->kind != TS_FIELD_GROUP)
            add_given(leaf, out->arena, &json);
        ts_json_text(&json, "status", ts_field_status_text(ts_field_leaf_status(leaf)));
        ts_json_text(&json, "source", leaf->node->comment);
        ts_json_close(&json);
    }
    ts_json_close(&json);
    ts_json_end(&json);
}

/* ---- The list ---- */

bool ts_report_machines(ts_error *err, ts_arena *arena, ts_text *out) {
    ts_text_add(out, "%-16s %10s %14s %12s\n", "machine", "HBM GB/s", "HBM", "bf16 TOP/s");
    for (size_t i = 0; i < ts_embedded_machine_count; i++) {
        const ts_machine *m = ts_machine_load(err, arena, ts_embedded_machines[i].name);
        const ts_machine_memory *hbm = m ? ts_machine_find_memory(err, m, "hbm") : NULL;
        if (hbm == NULL) return false;
        ts_text_add(out, "%-16s %10.1f %10" PRId64 " GiB %12.1f  %s%s\n", m->name,
                    giga(ts_machine_hbm_rate(m)), hbm->capacity_bytes >> 30,
                    tera(ts_machine_peak_ops(m, TS_MXU_BF16, m->chip.peak_khz)), m->title,
                    strcmp(m->name, TS_MACHINE_DEFAULT) == 0 ? ", the default" : "");
    }
    return true;
}

bool ts_report_machines_json(ts_error *err, ts_arena *arena, ts_text *out) {
    ts_json json;
    ts_json_begin(&json, out, "machines");
    ts_json_text(&json, "default", TS_MACHINE_DEFAULT);
    ts_json_array(&json, "machines");
    for (size_t i = 0; i < ts_embedded_machine_count; i++) {
        const ts_machine *m = ts_machine_load(err, arena, ts_embedded_machines[i].name);
        if (m == NULL) return false;
        ts_json_object(&json, NULL);
        ts_report_machine_keys(m, &json);
        ts_json_text(&json, "title", m->title);
        add_rates_json(m, &json);
        ts_json_close(&json);
    }
    ts_json_close(&json);
    ts_json_end(&json);
    return true;
}
