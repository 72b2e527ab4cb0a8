/* The time of a collective: its steps, each as long as its longest route and its busiest link take. */
#include <string.h>

#include "mesh/collective.h"

typedef struct {
    const ts_collective *collective;
    ts_collective_price *price;
    int64_t *step_loads, *loads;
    int64_t times, hops;                   /* of the step that is being made */
    int64_t crossing[TS_MESH_MAX_DIMS][2]; /* bytes over the middle of each dim, up and down */
    int64_t *received;                     /* by each chip, from others */
} meter;

static void end_step(meter *m) {
    int64_t links = ts_mesh_link_count(m->collective->mesh), most = 0;
    ts_mesh_sum_loads(m->collective->mesh, m->step_loads);
    for (int64_t i = 0; i < links; i++) {
        if (m->step_loads[i] > most) most = m->step_loads[i];
        m->loads[i] += m->step_loads[i] * m->times;
    }
    const ts_mesh *mesh = m->collective->mesh;
    double step_ps = (double)m->hops * (double)mesh->ici->hop_ps + ts_mesh_link_ps(mesh, (double)most);
    m->price->ps += (double)m->times * step_ps;
    m->price->hops += m->times * m->hops;
    m->price->steps += m->times;
    memset(m->step_loads, 0, sizeof *m->step_loads * (size_t)links);
    m->hops = m->times = 0;
}

static void begin_step(void *self, int64_t times) {
    meter *m = self;
    if (m->times > 0) end_step(m);
    m->times = times;
}

static void count_crossing(meter *m, const ts_collective_transfer *t) {
    const ts_mesh *mesh = m->collective->mesh;
    for (int i = 0; i < mesh->dim_count; i++) {
        int64_t from = ts_mesh_chip_at(mesh, t->source, i), to = ts_mesh_chip_at(mesh, t->destination, i);
        bool above = 2 * to >= mesh->dims[i];
        if ((2 * from >= mesh->dims[i]) != above) m->crossing[i][above] += t->bytes;
    }
}

static void count_transfer(void *self, const ts_collective_transfer *t) {
    meter *m = self;
    const ts_mesh *mesh = m->collective->mesh;
    if (t->source == t->destination) return;
    m->price->transfers += m->times;
    m->price->sent_bytes += t->bytes * m->times;
    int64_t hops = ts_mesh_route(mesh, t->source, t->destination, t->bytes, m->step_loads);
    if (hops > m->hops) m->hops = hops;
    if (m->collective->algorithm != TS_ALGORITHM_DIRECT || hops == 0) return;
    m->received[t->destination / mesh->devices_per_chip] += t->bytes;
    count_crossing(m, t);
}

/* ---- Bounds ---- */

/* Bytes that a chip must receive in a collective of a group: what all its devices have in the end, or in the
 * beginning, but for the share of that which lies on one chip. */
static double group_bytes(const ts_collective *c) {
    bool gathers = c->kind == TS_COLLECTIVE_ALL_GATHER;
    double bytes =
        (double)ts_sharding_elements(gathers ? &c->after : &c->before) * c->after.shape->element_bits / 8;
    double chips = 1;
    for (int i = 0; i < c->before.digit_count; i++) {
        const ts_mesh_digit *digit = &c->before.digits[i];
        bool inside = digit->stride < c->mesh->devices_per_chip, grouped = false;
        for (int j = 0; j < c->group_count; j++) grouped = grouped || c->group[j] == i;
        if (grouped && !inside) chips *= (double)digit->extent;
        if (!grouped && inside && digit->kind != TS_DIGIT_REPLICA) bytes *= (double)digit->extent;
    }
    return bytes * (chips - 1) / chips * (c->kind == TS_COLLECTIVE_ALL_REDUCE ? 2 : 1);
}

static double direct_bound(const meter *m) {
    const ts_mesh *mesh = m->collective->mesh;
    int64_t most = 0;
    for (int64_t i = 0; i < mesh->chip_count; i++)
        if (m->received[i] > most) most = m->received[i];
    double bound = ts_mesh_link_ps(mesh, (double)most / ts_mesh_least_links(mesh));
    for (int i = 0;
         i < mesh->dim_count && (m->collective->pairs || ts_sharding_copies(&m->collective->after) == 1);
         i++) {
        if (mesh->dims[i] == 1) continue;
        int64_t links = mesh->chip_count / mesh->dims[i] * (mesh->ring[i] ? 2 : 1);
        for (int way = 0; way < 2; way++) {
            double ps = ts_mesh_link_ps(mesh, (double)m->crossing[i][way] / (double)links);
            if (ps > bound) bound = ps;
        }
    }
    return bound;
}

static double bound_of(const meter *m) {
    const ts_collective *c = m->collective;
    if (c->kind == TS_COLLECTIVE_SLICE || ts_mesh_least_links(c->mesh) == 0) return 0;
    if (c->algorithm == TS_ALGORITHM_DIRECT) return direct_bound(m);
    return ts_mesh_link_ps(c->mesh, group_bytes(c) / ts_mesh_least_links(c->mesh));
}

void ts_collective_measure(ts_arena *arena, const ts_collective *collective, ts_collective_price *price) {
    const ts_mesh *mesh = collective->mesh;
    int64_t links = ts_mesh_link_count(mesh);
    meter m = {.collective = collective, .price = price};
    m.step_loads = TS_NEW_ARRAY(arena, int64_t, links);
    m.loads = TS_NEW_ARRAY(arena, int64_t, links);
    m.received = TS_NEW_ARRAY(arena, int64_t, mesh->chip_count);
    *price = (ts_collective_price){.busiest_link = -1, .loads = m.loads};
    if (collective->kind != TS_COLLECTIVE_SLICE) price->ps = (double)mesh->ici->launch_ps;
    ts_collective_visitor visitor = {.self = &m, .step = begin_step, .transfer = count_transfer};
    ts_collective_visit(arena, collective, &visitor);
    if (m.times > 0) end_step(&m);
    for (int64_t i = 0; i < links; i++) {
        if (m.loads[i] <= price->link_bytes) continue;
        price->link_bytes = m.loads[i];
        price->busiest_link = i;
    }
    price->bound_ps = bound_of(&m);
}

/* Of all devices, and where there are two; a choice that is forced and cannot be is one of a ring each way. */
static bool has_two_rings(const ts_collective *c) {
    int32_t chips[2][TS_MESH_TWO_RINGS_CHIPS];
    return ts_collective_members(c) == c->mesh->device_count &&
           ts_mesh_two_rings(c->mesh, chips[0], chips[1]);
}

void ts_collective_choose(ts_arena *arena, ts_algorithm_choice choice, ts_collective *collective,
                          ts_collective_price *price) {
    bool has_rings = collective->kind >= TS_COLLECTIVE_REDUCE_SCATTER, found = false;
    if (choice.forced && choice.algorithm == TS_ALGORITHM_TWO_RINGS && has_rings &&
        !has_two_rings(collective))
        choice.algorithm = TS_ALGORITHM_BIDIRECTIONAL;
    ts_algorithm best = TS_ALGORITHM_DIRECT;
    for (int a = has_rings ? TS_ALGORITHM_RING : 0; a < (has_rings ? (int)TS_ALGORITHM_COUNT : 1); a++) {
        bool may =
            !choice.forced || choice.algorithm == TS_ALGORITHM_DIRECT || choice.algorithm == (ts_algorithm)a;
        ts_collective_price tried;
        if (has_rings && (!may || (a == TS_ALGORITHM_TWO_RINGS && !has_two_rings(collective)))) continue;
        collective->algorithm = (ts_algorithm)a;
        ts_collective_measure(arena, collective, &tried);
        if (found && tried.ps >= price->ps) continue;
        found = true;
        best = (ts_algorithm)a;
        *price = tried;
    }
    collective->algorithm = best;
}
