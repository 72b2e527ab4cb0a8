/* What a resharding does and takes. */
#include "report/reshard.h"

#include <inttypes.h>
#include <string.h>

#include "report/machine.h"

static double microseconds(double ps) { return ps / 1e6; }

static void add_collective(ts_text *out, int number, const ts_collective *c, const ts_collective_price *p) {
    const char *sent = ts_report_size(out->arena, (double)p->sent_bytes),
               *link = ts_report_size(out->arena, (double)p->link_bytes);
    int64_t members = ts_collective_members(c);
    const char *groups =
        ts_text_format(out->arena, "%" PRId64 " x %" PRId64, c->mesh->device_count / members, members);
    if (c->kind == TS_COLLECTIVE_SLICE) {
        ts_text_add(out, "  %d %-14s %-18s %-9s nothing moves\n", number, ts_collective_name(c->kind), "",
                    groups);
        return;
    }
    ts_text_add(out, "  %d %-14s %-18s %-9s %5" PRId64 " %11s %11s %9.2f us %6.1f %%\n", number,
                ts_collective_name(c->kind), ts_algorithm_name(c->algorithm), groups, p->steps, sent, link,
                microseconds(p->ps), p->ps > 0 ? 100 * p->bound_ps / p->ps : 0);
}

static void add_plan(ts_text *out, const ts_reshard_plan *plan) {
    if (plan->count == 0) {
        ts_text_add(out, "plan          nothing to do: every device has its elements\n");
        return;
    }
    ts_text_add(out, "plan          %-18s %-9s %5s %11s %11s %12s %8s\n", "algorithm", "groups", "steps",
                "sent", "busy link", "time", "of bound");
    for (int i = 0; i < plan->count; i++) add_collective(out, i + 1, &plan->collectives[i], &plan->prices[i]);
    ts_text_add(out, "time          %.2f us, %.1f %% of the bound by bandwidth, %.2f us\n",
                microseconds(plan->ps), plan->ps > 0 ? 100 * plan->bound_ps / plan->ps : 0,
                microseconds(plan->bound_ps));
}

int64_t ts_reshard_report_link_bytes(const ts_reshard_report *r, int64_t link) {
    int64_t sum = 0;
    for (int i = 0; i < r->plan.count; i++) sum += r->plan.prices[i].loads[link];
    return sum;
}

static int64_t busiest(const ts_reshard_report *r, int64_t *bytes) {
    int64_t link = -1;
    *bytes = 0;
    for (int64_t i = 0; i < ts_mesh_link_count(&r->mesh); i++) {
        int64_t sum = ts_reshard_report_link_bytes(r, i);
        if (sum <= *bytes) continue;
        *bytes = sum;
        link = i;
    }
    return link;
}

static int64_t used_links(const ts_reshard_report *r, int64_t *there) {
    int64_t used = 0;
    *there = 0;
    for (int64_t i = 0; i < ts_mesh_link_count(&r->mesh); i++) {
        used += ts_reshard_report_link_bytes(r, i) > 0;
        *there += ts_mesh_has_link(&r->mesh, i);
    }
    return used;
}

static void add_links(ts_text *out, const ts_reshard_report *r) {
    int64_t bytes, there, link = busiest(r, &bytes);
    if (link < 0) return;
    int64_t used = used_links(r, &there);
    ts_text_add(out, "busiest link  %s: %s; %" PRId64 " of %" PRId64 " links are used\n",
                ts_mesh_link_text(out->arena, &r->mesh, link), ts_report_size(out->arena, (double)bytes),
                used, there);
}

static void add_proof(ts_text *out, const ts_reshard_report *r) {
    if (r->unproved) ts_text_add(out, "proof         none: %s\n", r->unproved);
    if (!r->proved || r->plan.count == 0) return;
    ts_text_add(out, "proof         %s%s: %s moved, all in place\n", r->proof.shape.bytes,
                r->proof.shrunk ? ", with the same parts" : "",
                ts_text_counted(out->arena, r->proof.moved_bytes, "byte"));
}

void ts_report_reshard(const ts_reshard_report *r, ts_text *out) {
    double bytes =
        (double)ts_layout_element_count(r->source.shape->layout) * r->source.shape->element_bits / 8;
    ts_text_add(out, "array         %s, %s\n", ts_shape_text(out->arena, r->source.shape),
                ts_report_size(out->arena, bytes));
    ts_report_machine_line("machine       ", r->machine, out);
    ts_report_mesh_lines(&r->mesh, out);
    ts_report_sharding_lines("source", &r->mesh, &r->source, out);
    ts_report_sharding_lines("destination", &r->mesh, &r->destination, out);
    add_plan(out, &r->plan);
    add_links(out, r);
    add_proof(out, r);
    ts_text_wrap(out, TS_TEXT_COLUMNS);
}

bool ts_reshard_report_prove(ts_error *err, ts_arena *arena, ts_reshard_report *report) {
    /* over all devices: a fraction of a second; where no smaller array has the same parts, two seconds */
    static const int64_t most_elements[] = {1 << 20, 1 << 22};
    ts_error found = {.kind = TS_ERROR_UNMODELLED};
    for (int i = 0; i < 2 && !report->proved && found.kind == TS_ERROR_UNMODELLED; i++) {
        found = (ts_error){0};
        report->proved = ts_reshard_prove(&found, arena, &report->plan, most_elements[i], &report->proof);
    }
    if (report->proved) return true;
    if (found.kind != TS_ERROR_UNMODELLED) return ts_error_set(err, found.kind, "%s", found.message);
    report->unproved = ts_arena_copy_text(arena, found.message, strlen(found.message));
    return true;
}

/* ---- JSON ---- */

static void json_collective(ts_json *json, const ts_collective *c, const ts_collective_price *p) {
    int64_t members = ts_collective_members(c);
    ts_json_object(json, NULL);
    ts_json_text(json, "kind", ts_collective_name(c->kind));
    ts_json_text(json, "algorithm", c->kind == TS_COLLECTIVE_SLICE ? NULL : ts_algorithm_name(c->algorithm));
    ts_json_int(json, "group_devices", members);
    ts_json_int(json, "groups", c->mesh->device_count / members);
    ts_json_int(json, "pieces", c->chunks > 0 ? c->chunks : 1);
    ts_json_int(json, "steps", p->steps);
    ts_json_int(json, "transfers", p->transfers);
    ts_json_int(json, "hops", p->hops);
    ts_json_int(json, "sent_bytes", p->sent_bytes);
    ts_json_int(json, "busiest_link_bytes", p->link_bytes);
    ts_json_real(json, "microseconds", microseconds(p->ps), 6);
    ts_json_real(json, "bound_microseconds", microseconds(p->bound_ps), 6);
    ts_json_close(json);
}

static void json_links(ts_json *json, const ts_reshard_report *r) {
    ts_json_object(json, "links");
    for (int64_t i = 0; i < ts_mesh_link_count(&r->mesh); i++) {
        int64_t sum = ts_reshard_report_link_bytes(r, i);
        if (sum > 0) ts_json_int(json, ts_mesh_link_text(json->out->arena, &r->mesh, i), sum);
    }
    ts_json_close(json);
}

void ts_report_reshard_json(const ts_reshard_report *r, ts_text *out) {
    ts_json json;
    ts_json_begin(&json, out, "reshard");
    ts_report_machine_keys(r->machine, &json);
    ts_report_mesh_keys(&r->mesh, &json);
    ts_report_sharding_keys("source", &r->mesh, &r->source, &json);
    ts_report_sharding_keys("destination", &r->mesh, &r->destination, &json);
    ts_json_array(&json, "plan");
    for (int i = 0; i < r->plan.count; i++)
        json_collective(&json, &r->plan.collectives[i], &r->plan.prices[i]);
    ts_json_close(&json);
    ts_json_real(&json, "microseconds", microseconds(r->plan.ps), 6);
    ts_json_real(&json, "bound_microseconds", microseconds(r->plan.bound_ps), 6);
    json_links(&json, r);
    ts_json_bool(&json, "proved", r->proved);
    ts_json_text(&json, "proof_array", r->proved ? r->proof.shape.bytes : NULL);
    ts_json_int(&json, "proof_moved_bytes", r->proved ? r->proof.moved_bytes : 0);
    ts_json_text(&json, "unproved", r->unproved);
    ts_json_end(&json);
}
