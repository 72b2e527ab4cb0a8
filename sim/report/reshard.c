/* What a resharding does and takes. */
#include "report/reshard.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/mesh.h"

static double microseconds(double ps) { return ps / 1e6; }

/* "512 B", "4.0 KiB", "16.0 MiB" */
static char *size_text(char out[32], double bytes) {
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    int unit = -1;
    for (; bytes >= 1024 && unit < 3; unit++) bytes /= 1024;
    if (unit < 0)
        snprintf(out, 32, "%.0f B", bytes);
    else
        snprintf(out, 32, "%.1f %s", bytes, units[unit]);
    return out;
}

static void add_mesh(ts_text *out, const ts_reshard_report *r) {
    const ts_mesh *mesh = &r->mesh;
    ts_text_add(out, "mesh          ");
    for (int i = 0; i < mesh->axis_count; i++)
        ts_text_add(out, "%s%s=%" PRId64, i ? ", " : "", mesh->axes[i].name, mesh->axes[i].extent);
    ts_text_add(out, ": %" PRId64 " devices of %s\n", mesh->device_count, r->machine->title);
    ts_text_add(out, "links         chips ");
    ts_report_dims(mesh, out);
    ts_text_add(out, "; %.1f GB/s one way, %.2f us a hop, %.2f us to launch\n",
                (double)mesh->ici->rate * mesh->ici->efficiency / 1e6,
                microseconds((double)mesh->ici->hop_ps), microseconds((double)mesh->ici->launch_ps));
}

static double device_bytes(const ts_sharding *s) {
    return (double)ts_sharding_elements(s) * s->shape->element_bits / 8;
}

static void add_sharding(ts_text *out, const char *what, const ts_mesh *mesh, const ts_sharding *s) {
    ts_text spec, hlo, axe;
    char size[32];
    ts_text_init(&spec, out->arena);
    ts_text_init(&hlo, out->arena);
    ts_text_init(&axe, out->arena);
    bool has_spec = ts_sharding_print_spec(&spec, mesh, s);
    bool has_hlo = ts_sharding_print_hlo(&hlo, s);
    ts_sharding_print_axe(&axe, mesh, s);
    ts_text_add(out, "%-13s %s\n", what, axe.bytes);
    if (has_spec) ts_text_add(out, "%-13s %s\n", "", spec.bytes);
    if (has_hlo) ts_text_add(out, "%-13s %s\n", "", hlo.bytes);
    size_text(size, device_bytes(s));
    int64_t copies = ts_sharding_copies(s);
    ts_text_add(out, "%-13s %s a device, ", "", size);
    ts_text_add(out, copies == 1 ? "every element once\n" : "every element %" PRId64 " times\n", copies);
}

static void add_group(ts_text *out, const ts_collective *c) {
    int64_t members = ts_collective_members(c);
    ts_text_add(out, "%" PRId64 " x %" PRId64, c->mesh->device_count / members, members);
}

static void add_collective(ts_text *out, int number, const ts_collective *c, const ts_collective_price *p) {
    ts_text groups;
    char sent[32], link[32];
    ts_text_init(&groups, out->arena);
    add_group(&groups, c);
    size_text(sent, (double)p->sent_bytes);
    size_text(link, (double)p->link_bytes);
    if (c->kind == TS_COLLECTIVE_SLICE) {
        ts_text_add(out, "  %d %-14s %-18s %-9s nothing moves\n", number, ts_collective_name(c->kind), "",
                    groups.bytes);
        return;
    }
    ts_text_add(out, "  %d %-14s %-18s %-9s %5" PRId64 " %11s %11s %9.2f us %6.1f %%\n", number,
                ts_collective_name(c->kind), ts_algorithm_name(c->algorithm), groups.bytes, p->steps, sent,
                link, microseconds(p->ps), p->ps > 0 ? 100 * p->bound_ps / p->ps : 0);
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

/* Over all collectives of a plan. */
static int64_t link_bytes(const ts_reshard_report *r, int64_t link) {
    int64_t sum = 0;
    for (int i = 0; i < r->plan.count; i++) sum += r->plan.prices[i].loads[link];
    return sum;
}

static int64_t busiest(const ts_reshard_report *r, int64_t *bytes) {
    int64_t link = -1;
    *bytes = 0;
    for (int64_t i = 0; i < ts_mesh_link_count(&r->mesh); i++) {
        int64_t sum = link_bytes(r, i);
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
        used += link_bytes(r, i) > 0;
        *there += ts_mesh_has_link(&r->mesh, i);
    }
    return used;
}

static void add_links(ts_text *out, const ts_reshard_report *r) {
    int64_t bytes, there, link = busiest(r, &bytes);
    char size[32];
    if (link < 0) return;
    size_text(size, (double)bytes);
    ts_text_add(out, "busiest link  ");
    ts_mesh_print_link(out, &r->mesh, link);
    ts_text_add(out, ": %s; ", size);
    int64_t used = used_links(r, &there);
    ts_text_add(out, "%" PRId64 " of %" PRId64 " links are used\n", used, there);
}

static void add_proof(ts_text *out, const ts_reshard_report *r) {
    if (r->unproved) ts_text_add(out, "proof         none: %s\n", r->unproved);
    if (!r->proved || r->plan.count == 0) return;
    char digits[32];
    ts_text_add(out, "proof         %s%s: %s bytes moved, all in place\n", r->proof.shape.bytes,
                r->proof.shrunk ? ", with the same parts" : "",
                ts_text_group_digits(digits, r->proof.moved_bytes));
}

void ts_report_reshard(const ts_reshard_report *r, ts_text *out) {
    char size[32];
    ts_text shape;
    ts_text_init(&shape, out->arena);
    ts_shape_print(r->source.shape, &shape);
    double bytes =
        (double)ts_layout_element_count(r->source.shape->layout) * r->source.shape->element_bits / 8;
    size_text(size, bytes);
    ts_text_add(out, "array         %s, %s\n", shape.bytes, size);
    add_mesh(out, r);
    add_sharding(out, "source", &r->mesh, &r->source);
    add_sharding(out, "destination", &r->mesh, &r->destination);
    add_plan(out, &r->plan);
    add_links(out, r);
    add_proof(out, r);
}

bool ts_reshard_report_prove(ts_error *err, ts_arena *arena, ts_reshard_report *report) {
    enum { MOST_ELEMENTS = 1 << 20 }; /* over all devices: a fraction of a second */
    ts_error found = {0};
    report->proved = ts_reshard_prove(&found, arena, &report->plan, MOST_ELEMENTS, &report->proof);
    if (report->proved) return true;
    if (found.kind != TS_ERROR_UNMODELLED) return ts_error_set(err, found.kind, "%s", found.message);
    report->unproved = ts_arena_copy_text(arena, found.message, strlen(found.message));
    return true;
}

/* ---- JSON ---- */

static void json_mesh(ts_json *json, const ts_mesh *mesh) {
    ts_json_object(json, "mesh");
    for (int i = 0; i < mesh->axis_count; i++) ts_json_int(json, mesh->axes[i].name, mesh->axes[i].extent);
    ts_json_close(json);
    ts_json_ints(json, "topology", mesh->dim_count, mesh->dims);
    ts_json_array(json, "rings");
    for (int i = 0; i < mesh->dim_count; i++) ts_json_bool(json, NULL, mesh->ring[i]);
    ts_json_close(json);
}

static void json_sharding(ts_json *json, const char *key, const ts_mesh *mesh, const ts_sharding *s) {
    ts_text spec, hlo, axe;
    ts_text_init(&spec, json->out->arena);
    ts_text_init(&hlo, json->out->arena);
    ts_text_init(&axe, json->out->arena);
    bool has_spec = ts_sharding_print_spec(&spec, mesh, s);
    bool has_hlo = ts_sharding_print_hlo(&hlo, s);
    ts_sharding_print_axe(&axe, mesh, s);
    ts_json_object(json, key);
    ts_json_text(json, "spec", has_spec ? spec.bytes : NULL);
    ts_json_text(json, "hlo", has_hlo ? hlo.bytes : NULL);
    ts_json_text(json, "axe", axe.bytes);
    ts_json_int(json, "device_elements", ts_sharding_elements(s));
    ts_json_int(json, "copies", ts_sharding_copies(s));
    ts_json_close(json);
}

static void json_collective(ts_json *json, const ts_collective *c, const ts_collective_price *p) {
    int64_t members = ts_collective_members(c);
    ts_json_object(json, NULL);
    ts_json_text(json, "kind", ts_collective_name(c->kind));
    ts_json_text(json, "algorithm", c->kind == TS_COLLECTIVE_SLICE ? NULL : ts_algorithm_name(c->algorithm));
    ts_json_int(json, "group_devices", members);
    ts_json_int(json, "steps", p->steps);
    ts_json_int(json, "hops", p->hops);
    ts_json_int(json, "sent_bytes", p->sent_bytes);
    ts_json_int(json, "busiest_link_bytes", p->link_bytes);
    ts_json_real(json, "microseconds", microseconds(p->ps), 3);
    ts_json_real(json, "bound_microseconds", microseconds(p->bound_ps), 3);
    ts_json_close(json);
}

static void json_links(ts_json *json, const ts_reshard_report *r) {
    ts_text name;
    ts_text_init(&name, json->out->arena);
    ts_json_object(json, "links");
    for (int64_t i = 0; i < ts_mesh_link_count(&r->mesh); i++) {
        int64_t sum = link_bytes(r, i);
        if (sum == 0) continue;
        ts_text_clear(&name);
        ts_mesh_print_link(&name, &r->mesh, i);
        ts_json_int(json, name.bytes, sum);
    }
    ts_json_close(json);
}

void ts_report_reshard_json(const ts_reshard_report *r, ts_text *out) {
    ts_json json;
    ts_json_begin(&json, out, "reshard");
    ts_json_text(&json, "machine", r->machine->name);
    json_mesh(&json, &r->mesh);
    json_sharding(&json, "source", &r->mesh, &r->source);
    json_sharding(&json, "destination", &r->mesh, &r->destination);
    ts_json_array(&json, "plan");
    for (int i = 0; i < r->plan.count; i++)
        json_collective(&json, &r->plan.collectives[i], &r->plan.prices[i]);
    ts_json_close(&json);
    ts_json_real(&json, "microseconds", microseconds(r->plan.ps), 3);
    ts_json_real(&json, "bound_microseconds", microseconds(r->plan.bound_ps), 3);
    json_links(&json, r);
    ts_json_bool(&json, "proved", r->proved);
    ts_json_end(&json);
}
