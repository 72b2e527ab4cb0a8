/* What a calibration found, as text and JSON. */

#include <math.h>

#include "report/machine.h"
#include "report/validation.h"

static const char *value_text(ts_arena *arena, const ts_fitted_field *f, int64_t value) {
    ts_text text = ts_text_begin(arena);
    ts_field_print_value(&text, f->field, value);
    return text.bytes;
}

static ts_validation_errors errors_of(ts_arena *arena, const ts_validation *v) {
    double *errors = TS_NEW_ARRAY(arena, double, v->row_count + 1);
    int n = 0;
    for (int i = 0; i < v->row_count; i++) {
        const ts_validated_row *r = &v->rows[i];
        if (r->reason == NULL) errors[n++] = fabs(ts_validated_error(r->simulated_us, r->work.measured_us));
    }
    return ts_validated_errors(errors, n);
}

static bool is_estimated(const ts_calibration *c) {
    return ts_validation_is_estimated(&c->first) || ts_validation_is_estimated(&c->last);
}

static void add_fields(const ts_calibration *c, ts_text *out) {
    ts_text_add(out, "%-20s %14s %14s   %s\n", "figure", "before", "after",
                "a per cent of it moves the rows by");
    for (int i = 0; i < c->field_count; i++) {
        const ts_fitted_field *f = &c->fields[i];
        ts_text_add(out, "%-20s %14s ", f->path, value_text(out->arena, f, f->before));
        if (f->left_out != NULL)
            ts_text_add(out, "%14s   %s\n", "not fitted", f->left_out);
        else
            ts_text_add(out, "%14s   %.3f %%%s\n", value_text(out->arena, f, f->after), f->elasticity,
                        f->at_bound ? "; a fit goes no further: begin nearer, with --set" : "");
    }
}

void ts_report_calibration(const ts_calibration *c, ts_text *out) {
    ts_validation_errors before = errors_of(out->arena, &c->first), after = errors_of(out->arena, &c->last);
    ts_report_machine_line("machine    ", c->before, out);
    ts_text_add(out, "rows       %d of %d\n", c->rows, c->first.row_count);
    if (is_estimated(c)) ts_text_add(out, "times      " REPORT_ESTIMATED "\n");
    ts_text_add_char(out, '\n');
    add_fields(c, out);
    ts_text_add(out, "\n%-20s %14s %14s\n", "error, per cent", "before", "after");
    ts_text_add(out, "%-20s %14.1f %14.1f\n", "median", before.median, after.median);
    ts_text_add(out, "%-20s %14.1f %14.1f\n", "90th percentile", before.high, after.high);
    ts_text_add(out, "%-20s %14.1f %14.1f\n", "worst", before.worst, after.worst);
    ts_text_add(out, "\n%-40s %12s %12s %12s\n", "row", "measured us", "before", "after");
    for (int i = 0; i < c->first.row_count; i++) {
        const ts_validated_row *a = &c->first.rows[i], *b = &c->last.rows[i];
        double measured = a->work.measured_us;
        if (a->reason != NULL) continue;
        ts_text_add(out, "%-40.40s %12.5g %+10.1f %% %+10.1f %%\n", a->row->id, measured,
                    ts_validated_error(a->simulated_us, measured),
                    ts_validated_error(b->simulated_us, measured));
    }
}

static void add_json_figures(ts_json *json, const ts_calibration *c) {
    ts_json_array(json, "figures");
    for (int i = 0; i < c->field_count; i++) {
        const ts_fitted_field *f = &c->fields[i];
        ts_json_object(json, NULL);
        ts_json_text(json, "figure", f->path);
        ts_json_text(json, "unit", ts_field_unit(f->field));
        ts_json_int(json, "before", f->before);
        ts_json_int(json, "after", f->after);
        ts_json_text(json, "left_out", f->left_out);
        ts_json_bool(json, "at_bound", f->at_bound);
        ts_json_close(json);
    }
    ts_json_close(json);
}

static void add_json_rows(ts_json *json, const ts_calibration *c) {
    ts_json_array(json, "rows");
    for (int i = 0; i < c->first.row_count; i++) {
        const ts_validated_row *r = &c->first.rows[i];
        if (r->reason != NULL) continue;
        ts_json_object(json, NULL);
        ts_json_text(json, "id", r->row->id);
        ts_json_real(json, "measured_us", r->work.measured_us, 6);
        ts_json_real(json, "before_us", r->simulated_us, 6);
        ts_json_real(json, "after_us", c->last.rows[i].simulated_us, 6);
        ts_json_close(json);
    }
    ts_json_close(json);
}

void ts_report_calibration_json(const ts_calibration *c, ts_text *out) {
    ts_json json;
    ts_validation_errors before = errors_of(out->arena, &c->first), after = errors_of(out->arena, &c->last);
    ts_json_begin(&json, out, "calibrate");
    ts_report_machine_keys(c->before, &json);
    ts_json_int(&json, "rows_used", c->rows);
    ts_json_bool(&json, "estimated", is_estimated(c));
    add_json_figures(&json, c);
    report_errors_json(&json, "before", &before);
    report_errors_json(&json, "after", &after);
    add_json_rows(&json, c);
    ts_json_end(&json);
}
