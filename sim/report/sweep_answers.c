/* What hangs on which figure, and what changed between two databases: as text and as JSON. */
#include <math.h>
#include <string.h>

#include "report/json.h"
#include "report/sweep.h"

enum { FIELD = 44, VALUE = 14 };

/* ---- Sensitivity ---- */

static int with_effect(const ts_sweep_sensitivity_view *view) {
    int count = 0;
    while (count < view->changes->count && view->list[count].elasticity != 0) count++;
    return count;
}

static void add_times(ts_text *out, double times) {
    if (times > 0)
        ts_text_add(out, " %9.3fx", times);
    else
        ts_text_add(out, " %10s", "-");
}

void ts_report_sensitivity(const ts_sweep_sensitivity_view *view, ts_text *out) {
    int count = with_effect(view);
    ts_text_add(out, "study      %s: %s\n", ts_text_one_line(out->arena, view->view->study),
                ts_text_one_line(out->arena, view->view->table->study->title));
    ts_text_add(out, "%s against %s of the machine, each at half and at twice its value\n\n", view->column,
                ts_text_counted(out->arena, view->changes->count, "figure"));
    ts_text_add(out, "%-*s %*s %10s %10s %10s\n", FIELD, "figure", VALUE, "is", "elasticity", "at half",
                "at twice");
    for (int i = 0; i < count && i < view->view->rows; i++) {
        const ts_sweep_elasticity *e = &view->list[i];
        ts_text_add(out, "%-*s %*s %+10.3f", FIELD, e->moved->field, VALUE, e->moved->value, e->elasticity);
        add_times(out, e->halved);
        add_times(out, e->doubled);
        ts_text_add_char(out, '\n');
    }
    if (count > view->view->rows)
        ts_text_add(out, "and %d more: --rows N, --all\n", count - view->view->rows);
    ts_text_add(out, "%d without effect\n", view->changes->count - count);
}

void ts_report_sensitivity_json(const ts_sweep_sensitivity_view *view, ts_text *out) {
    ts_json json;
    ts_json_begin(&json, out, "sweep.sensitivity");
    ts_json_text(&json, "study", view->view->study);
    ts_json_text(&json, "column", view->column);
    ts_json_array(&json, "figures");
    for (int i = 0; i < view->changes->count; i++) {
        const ts_sweep_elasticity *e = &view->list[i];
        ts_json_object(&json, NULL);
        ts_json_text(&json, "field", e->moved->field);
        ts_json_text(&json, "value", e->moved->value);
        ts_json_real(&json, "elasticity", e->elasticity, 6);
        ts_json_real(&json, "at_half", e->halved > 0 ? e->halved : (double)NAN, 6);
        ts_json_real(&json, "at_twice", e->doubled > 0 ? e->doubled : (double)NAN, 6);
        ts_json_close(&json);
    }
    ts_json_close(&json);
    ts_json_end(&json);
}

/* ---- Two databases ---- */

/* The first line of a question, and what varies. */
static void add_point(ts_text *out, const ts_sweep_change *c) {
    ts_text_add(out, "%s\n    %.*s on %s\n", c->parameters, (int)strcspn(c->question, "\n"), c->question,
                ts_text_one_line(out->arena, c->machine));
}

static void add_change(ts_text *out, const ts_sweep_change *c, const char *column) {
    add_point(out, c);
    if (c->before_status != c->after_status)
        ts_text_add(out, "    %s, was %s\n", ts_sweep_status_text(c->after_status),
                    ts_sweep_status_text(c->before_status));
    if (isinf(c->ratio))
        ts_text_add(out, "    %s %.6g, was 0\n", column, c->after);
    else if (c->ratio > 0)
        ts_text_add(out, "    %s %.6g, was %.6g: %.4fx\n", column, c->after, c->before, c->ratio);
}

void ts_report_sweep_worst(const ts_sweep_diff *diff, ts_text *out) {
    if (diff->measured == 0)
        ts_text_add(out, "no point has %s in both", diff->column);
    else if (isinf(diff->worst))
        ts_text_add(out, "%s was 0, and is no longer", diff->column);
    else
        ts_text_add(out, "%s %.4fx what it was", diff->column, diff->worst);
    ts_text_add(out, "; %lld no longer ok", (long long)diff->broken);
}

void ts_report_sweep_diff(const ts_sweep_diff_view *view, ts_text *out) {
    const ts_sweep_diff *d = view->diff;
    ts_text_add(out, "before     %s\nafter      %s\n", ts_text_one_line(out->arena, view->before),
                ts_text_one_line(out->arena, view->after));
    ts_text_add(out, "points     %lld in both: %lld differ; %lld only before, %lld only after",
                (long long)d->both, (long long)d->change_count, (long long)d->only_before,
                (long long)d->only_after);
    if (d->older > 0) ts_text_add(out, "; %s left out", ts_text_counted(out->arena, d->older, "older row"));
    ts_text_add(out, "\nworst      ");
    ts_report_sweep_worst(d, out);
    ts_text_add_char(out, '\n');
    for (int64_t i = 0; i < d->change_count && i < view->rows; i++) {
        ts_text_add_char(out, '\n');
        add_change(out, &d->changes[i], d->column);
    }
    if (d->change_count > view->rows)
        ts_text_add(out, "\nand %lld more: --rows N, --all\n", (long long)(d->change_count - view->rows));
    ts_text_wrap(out, TS_TEXT_COLUMNS);
}

static void add_json_change(ts_json *json, const ts_sweep_change *c) {
    ts_json_object(json, NULL);
    ts_json_text(json, "parameters", c->parameters);
    ts_json_text(json, "question", c->question);
    ts_json_text(json, "machine", c->machine);
    ts_json_text(json, "before_status", ts_sweep_status_text(c->before_status));
    ts_json_text(json, "after_status", ts_sweep_status_text(c->after_status));
    ts_json_double(json, "before", c->before);
    ts_json_double(json, "after", c->after);
    ts_json_double(json, "ratio", c->ratio > 0 ? c->ratio : (double)NAN);
    ts_json_close(json);
}

void ts_report_sweep_diff_json(const ts_sweep_diff_view *view, ts_text *out) {
    const ts_sweep_diff *d = view->diff;
    ts_json json;
    ts_json_begin(&json, out, "sweep.diff");
    ts_json_text(&json, "before", view->before);
    ts_json_text(&json, "after", view->after);
    ts_json_text(&json, "column", d->column);
    ts_json_int(&json, "both", d->both);
    ts_json_int(&json, "only_before", d->only_before);
    ts_json_int(&json, "only_after", d->only_after);
    ts_json_int(&json, "measured", d->measured);
    ts_json_int(&json, "older", d->older);
    ts_json_int(&json, "broken", d->broken);
    ts_json_real(&json, "worst", d->worst, 6);
    ts_json_array(&json, "changes");
    for (int64_t i = 0; i < d->change_count; i++) add_json_change(&json, &d->changes[i]);
    ts_json_close(&json);
    ts_json_end(&json);
}
