/* Measurements beside models, as text and JSON. */
#include "report/validation.h"

#include <math.h>
#include <string.h>

#include "plain.h"
#include "report/machine.h"

static const char *about(const ts_validated_row *r) { return r->estimated ? "~" : ""; }

static void add_goal(ts_text *out, const ts_work_group *g) {
    if (g->median > 0)
        ts_text_add(out, "%.0f / %.0f", g->median, g->high);
    else
        ts_text_add_char(out, '-');
}

/* ---- The section of docs/accuracy.md ---- */

static const char introduction[] =
    "## TPU times\n\n"
    "Against published measurements of TPUs (`tests/data/tpu_measured.csv`, each with its source; `--data\n"
    "FILE` takes a table of your own instead). Every row is modelled by running a program or pricing a\n"
    "transfer on the machine of its chip; errors are |simulated / measured - 1| in per cent (90th: their\n"
    "90th percentile), and a row that is not modelled counts as 100. The roofline is what the published "
    "peaks\n"
    "alone say: bytes / bandwidth or operations / rate, whichever is more, with the same launch and "
    "dispatch.\n"
    "Times with `~` are sampled or extended; `--exact` simulates every access. `tilesim validate "
    "--markdown`\n"
    "writes this section; `--rows` adds every row.\n\n";

static void add_groups(const ts_validation *v, ts_text *out) {
    ts_text_add(out, "| group | rows | modelled | median | 90th | worst | goal | roofline: median | 90th "
                     "| its median |\n"
                     "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
    for (int i = 0; i < v->group_count; i++) {
        const ts_validated_group *g = &v->groups[i];
        if (g->modelled == 0) continue;
        ts_text_add(out, "| %s | %d | %d | %.1f | %.1f | %.1f | ", g->group->name, g->rows, g->modelled,
                    g->model.median, g->model.high, g->model.worst);
        add_goal(out, g->group);
        ts_text_add(out, " | %.1f | %.1f | ", g->roofline.median, g->roofline.high);
        if (g->model.median > 0)
            ts_text_add(out, "%.1f x ours |\n", g->roofline.median / g->model.median);
        else
            ts_text_add(out, "- |\n");
    }
    ts_text_add_char(out, '\n');
}

static void add_remarks(const ts_validation *v, ts_text *out) {
    for (int i = 0; i < v->group_count; i++) {
        const ts_validated_group *g = &v->groups[i];
        if (g->modelled == 0) continue;
        ts_text_add(out, "- **%s**: %s; %s.", g->group->name, g->group->meaning, g->group->model);
        if (g->worst != NULL)
            ts_text_add(out, " Worst: `%s`, %.4g us measured, %s%.4g us simulated.", g->worst->row->id,
                        g->worst->work.measured_us, about(g->worst), g->worst->simulated_us);
        if (g->out_of_order > 0)
            ts_text_add(out, " %lld pair%s in the wrong order.", (long long)g->out_of_order,
                        g->out_of_order == 1 ? " is" : "s are");
        if (g->group->median > 0 && !ts_validated_meets_goals(g) && g->group->miss != NULL)
            ts_text_add(out, " Missed: %s.", g->group->miss);
        ts_text_add_char(out, '\n');
    }
    ts_text_add_char(out, '\n');
}

/* Reasons, each once, with how many rows have it and the first of them. */
static void add_unmodelled(const ts_validation *v, ts_text *out) {
    bool any = false;
    for (int i = 0; i < v->row_count; i++) {
        const ts_validated_row *r = &v->rows[i];
        int count = 0;
        bool first = r->reason != NULL && !r->is_left_out;
        for (int j = 0; first && j < v->row_count; j++) {
            if (v->rows[j].reason == NULL || strcmp(v->rows[j].reason, r->reason) != 0) continue;
            first = j >= i;
            count++;
        }
        if (!first) continue;
        if (!any)
            ts_text_add(out, "Not modelled, by reason:\n\n| rows | the first | reason |\n|---:|---|---|\n");
        any = true;
        ts_text_add(out, "| %d | `%s` | %s |\n", count, r->row->id, r->reason);
    }
    if (any) ts_text_add_char(out, '\n');
}

static void add_rows(const ts_validation *v, ts_text *out) {
    ts_text_add(out, "| row | group | measured us | simulated us | error | roofline us "
                     "|\n|---|---|---:|---:|---:|---:|\n");
    for (int i = 0; i < v->row_count; i++) {
        const ts_validated_row *r = &v->rows[i];
        if (r->reason != NULL) continue;
        ts_text_add(out, "| %s | %s | %.4g | %s%.4g | %+.1f %% | %.4g |\n", r->row->id, r->work.group->name,
                    r->work.measured_us, about(r), r->simulated_us,
                    ts_validated_error(r->simulated_us, r->work.measured_us), r->roofline_us);
    }
    ts_text_add_char(out, '\n');
}

static void add_body(const ts_validation *v, bool rows, ts_text *out) {
    add_groups(v, out);
    add_remarks(v, out);
    add_unmodelled(v, out);
    if (rows) add_rows(v, out);
    out->bytes[--out->length] = '\0'; /* no empty line at the end */
}

void ts_report_validation_markdown(const ts_validation *v, bool rows, ts_text *out) {
    ts_text_add(out, "%s", introduction);
    add_body(v, rows, out);
}

void ts_report_validation(const ts_validation *v, bool rows, ts_text *out) {
    ts_text body = ts_text_begin(out->arena);
    add_body(v, rows, &body);
    if (v->machine) ts_report_machine_line("machine    ", v->machine, out);
    ts_text_add(
        out, "errors     |simulated / measured - 1|, per cent; a row that is not modelled counts as 100\n");
    if (ts_validation_is_estimated(v)) ts_text_add(out, "times      " REPORT_ESTIMATED "\n");
    ts_text_add_char(out, '\n');
    report_plain(&body, out);
}

/* ---- JSON ---- */

void report_errors_json(ts_json *json, const char *key, const ts_validation_errors *e) {
    ts_json_object(json, key);
    ts_json_real(json, "median_percent", e->median, 2);
    ts_json_real(json, "p90_percent", e->high, 2);
    ts_json_real(json, "worst_percent", e->worst, 2);
    ts_json_close(json);
}

static void add_json_group(ts_json *json, const ts_validated_group *g) {
    ts_json_object(json, NULL);
    ts_json_text(json, "group", g->group->name);
    ts_json_int(json, "rows", g->rows);
    ts_json_int(json, "modelled", g->modelled);
    report_errors_json(json, "simulated", &g->model);
    report_errors_json(json, "roofline", &g->roofline);
    if (g->group->median > 0) {
        ts_json_real(json, "goal_median_percent", g->group->median, 0);
        ts_json_real(json, "goal_p90_percent", g->group->high, 0);
        ts_json_bool(json, "goal_met", ts_validated_meets_goals(g));
    }
    ts_json_int(json, "pairs_out_of_order", g->out_of_order);
    ts_json_text(json, "worst", g->worst != NULL ? g->worst->row->id : NULL);
    ts_json_close(json);
}

static void add_time(ts_json *json, const char *key, double us) {
    ts_json_real(json, key, us > 0 ? us : (double)NAN, 6);
}

static void add_json_row(ts_json *json, const ts_validated_row *r) {
    ts_json_object(json, NULL);
    ts_json_text(json, "id", r->row->id);
    ts_json_text(json, "group", r->work.group != NULL ? r->work.group->name : NULL);
    ts_json_text(json, "machine", r->work.machine);
    add_time(json, "measured_us", r->work.measured_us);
    add_time(json, "simulated_us", r->simulated_us);
    if (r->reason == NULL) ts_json_bool(json, "estimated", r->estimated);
    add_time(json, "roofline_us", r->roofline_us);
    if (r->reason == NULL)
        ts_json_real(json, "error_percent", ts_validated_error(r->simulated_us, r->work.measured_us), 2);
    else
        ts_json_text(json, "reason", r->reason);
    ts_json_close(json);
}

void ts_report_validation_json(const ts_validation *v, ts_text *out) {
    ts_json json;
    ts_json_begin(&json, out, "validate");
    ts_report_machine_keys(v->machine, &json);
    ts_json_bool(&json, "estimated", ts_validation_is_estimated(v));
    ts_json_array(&json, "groups");
    for (int i = 0; i < v->group_count; i++) add_json_group(&json, &v->groups[i]);
    ts_json_close(&json);
    ts_json_array(&json, "rows");
    for (int i = 0; i < v->row_count; i++) add_json_row(&json, &v->rows[i]);
    ts_json_close(&json);
    ts_json_end(&json);
}
