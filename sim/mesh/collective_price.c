/* The time of a collective: its phases, each as long as its longest ring's routes and its busiest link
 * take. */
#include <string.h>

#include "mesh/collective.h"
#include "mesh/even_private.h"

typedef struct {
    ts_arena *arena;
    const ts_collective *collective;
    ts_collective_price *price;
    int64_t *phase_loads, *loads;
    int64_t times, rounds, hops; /* of the phase that is being made */
    int64_t *injected;           /* by each chip, of the phase */
    ts_even_totals direct;       /* crossing and received, of direct transfers */
} meter;

/* Of the chip that sends most of its own, where that is limited. */
static double injection_ps(meter *m) {
    const ts_mesh *mesh = m->collective->mesh;
    int64_t most = 0;
    for (int64_t i = 0; i < mesh->chip_count && mesh->ici->injection > 0; i++) {
        if (m->injected[i] > most) most = m->injected[i];
        m->injected[i] = 0;
    }
    return ts_mesh_injection_ps(mesh, (double)most);
}

static void end_phase(meter *m) {
    int64_t links = ts_mesh_link_count(m->collective->mesh), most = 0;
    ts_mesh_sum_loads(m->collective->mesh, m->phase_loads);
    for (int64_t i = 0; i < links; i++) {
        if (m->phase_loads[i] > most) most = m->phase_loads[i];
        m->loads[i] += m->phase_loads[i] * m->times;
    }
    const ts_mesh *mesh = m->collective->mesh;
    double busy_ps = ts_mesh_link_ps(mesh, (double)most), injected_ps = injection_ps(m);
    double phase_ps =
        (double)m->hops * (double)mesh->ici->hop_ps + (injected_ps > busy_ps ? injected_ps : busy_ps);
    m->price->ps += (double)m->times * phase_ps;
    m->price->hops += m->times * m->hops;
    m->price->steps += m->times * m->rounds;
    memset(m->phase_loads, 0, sizeof *m->phase_loads * (size_t)links);
    m->hops = m->times = m->rounds = 0;
}

static void begin_phase(void *self, int64_t times) {
    meter *m = self;
    if (m->times > 0) end_phase(m);
    m->times = times;
}

static void count_crossing(meter *m, const ts_collective_transfer *t, int64_t wire_bytes) {
    const ts_mesh *mesh = m->collective->mesh;
    for (int i = 0; i < mesh->dim_count; i++) {
        int64_t from = ts_mesh_chip_at(mesh, t->source, i), to = ts_mesh_chip_at(mesh, t->destination, i);
        bool above = 2 * to >= mesh->dims[i];
        if ((2 * from >= mesh->dims[i]) != above) m->direct.crossing[i][above] += wire_bytes;
    }
}

static void count_transfer(void *self, const ts_collective_transfer *t) {
    meter *m = self;
    const ts_mesh *mesh = m->collective->mesh;
    if (t->times > m->rounds) m->rounds = t->times;
    m->price->visited += m->collective->algorithm == TS_ALGORITHM_DIRECT;
    if (t->source == t->destination) return;
    m->price->transfers += m->times * t->times;
    m->price->sent_bytes += t->bytes * m->times * t->times;
    int64_t wire_bytes = ts_mesh_wire_bytes(mesh, t->bytes);
    int64_t hops =
        t->times * ts_mesh_route(mesh, t->source, t->destination, wire_bytes * t->times, m->phase_loads);
    if (hops > 0) m->injected[ts_mesh_chip(mesh, t->source)] += t->bytes * t->times;
    if (hops > m->hops) m->hops = hops;
    if (m->collective->algorithm != TS_ALGORITHM_DIRECT || hops == 0) return;
    m->direct.received[ts_mesh_chip(mesh, t->destination)] += t->bytes;
    count_crossing(m, t, wire_bytes);
}

/* ---- Bounds ---- */

/* Bytes that a chip must receive in a collective of a group: what all its devices have in the end, or in the
 * beginning, but for the share of that which lies on one chip. */
static double group_bytes(const ts_collective *c, double *share) {
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
    *share = (chips - 1) / chips;
    return bytes;
}

/* Dims of the topology, as bits, in which the devices of a group differ. */
static unsigned group_dims(const ts_collective *c) {
    unsigned dims = 0;
    for (int64_t device = 0; device < c->mesh->device_count; device++) {
        int64_t first = device; /* of its group */
        for (int i = 0; i < c->group_count; i++) {
            const ts_mesh_digit *digit = &c->before.digits[c->group[i]];
            first -= device / digit->stride % digit->extent * digit->stride;
        }
        for (int d = 0; d < c->mesh->dim_count; d++)
            if (ts_mesh_chip_at(c->mesh, device, d) != ts_mesh_chip_at(c->mesh, first, d)) dims |= 1U << d;
    }
    return dims;
}

typedef enum { LINKS_IN, LINKS_OUT } link_end;

/* Links of some dims, into the chips that are alike in these dims, or out of them: of each such row of chips
 * at the index of its first chip, which is 0 in the other dims. */
static int64_t *row_links(const meter *m, unsigned dims, link_end end) {
    const ts_mesh *mesh = m->collective->mesh;
    int64_t *links = TS_NEW_ARRAY(m->arena, int64_t, mesh->chip_count);
    for (int64_t link = 0; link < ts_mesh_link_count(mesh); link++) {
        if (!(dims >> link % (2 * mesh->dim_count) / 2 & 1) || !ts_mesh_has_link(mesh, link)) continue;
        int64_t chip = end == LINKS_OUT ? link / (2 * mesh->dim_count) : ts_mesh_link_end(mesh, link),
                row = 0;
        for (int d = 0; d < mesh->dim_count; d++)
            if (dims >> d & 1) row += mesh->coordinates[chip * mesh->dim_count + d] * mesh->strides[d];
        links[row]++;
    }
    return links;
}

/* A chip of the row that has fewest; 0: no chip has any. */
static double fewest_links(const meter *m, unsigned dims, link_end end, int64_t *all) {
    const ts_mesh *mesh = m->collective->mesh;
    int64_t *links = row_links(m, dims, end), fewest = INT64_MAX, chips = 1;
    *all = 0;
    for (int64_t row = 0; row < mesh->chip_count; row++) {
        *all += links[row];
        bool first = true;
        for (int d = 0; d < mesh->dim_count; d++)
            first = first && (dims >> d & 1 || mesh->coordinates[row * mesh->dim_count + d] == 0);
        if (first && links[row] < fewest) fewest = links[row];
    }
    for (int d = 0; d < mesh->dim_count; d++)
        if (!(dims >> d & 1)) chips *= mesh->dims[d];
    return (double)fewest / (double)chips;
}

/* Of groups each of which has data of its own. What comes to chips that are alike in the dims of a group
 * comes over links of these dims, and so does what they give away. A sum of all must go from every chip but
 * one, and come to every chip but one. */
static double group_bound(const meter *m) {
    const ts_collective *c = m->collective;
    int64_t links;
    double share, bytes = group_bytes(c, &share);
    double fewest = fewest_links(m, group_dims(c),
                                 c->kind == TS_COLLECTIVE_REDUCE_SCATTER ? LINKS_OUT : LINKS_IN, &links);
    if (links == 0 || fewest == 0) return 0;
    if (c->kind != TS_COLLECTIVE_ALL_REDUCE) return ts_mesh_link_ps(c->mesh, bytes * share / fewest);
    double sent = 2 * bytes * share * (double)c->mesh->chip_count / (double)links;
    double received = bytes / fewest;
    return ts_mesh_link_ps(c->mesh, sent > received ? sent : received);
}

/* Bytes over the middle of a dim, and bytes times the least hops in it over all its links; detours have
 * more. */
static double dim_bytes(const meter *m, int dim) {
    const ts_mesh *mesh = m->collective->mesh;
    int64_t middle = mesh->chip_count / mesh->dims[dim] * (mesh->ring[dim] ? 2 : 1), links = 0;
    double bytes = 0, hops = 0;
    for (int way = 0; way < 2; way++) {
        double crossing = (double)m->direct.crossing[dim][way] / (double)middle;
        if (crossing > bytes) bytes = crossing;
    }
    for (int64_t link = 2 * dim; link < ts_mesh_link_count(mesh); link += 2 * mesh->dim_count) {
        hops += (double)m->loads[link] + (double)m->loads[link + 1];
        links += ts_mesh_has_link(mesh, link) + ts_mesh_has_link(mesh, link + 1);
    }
    hops = mesh->failed ? 0 : hops / (double)links;
    return hops > bytes ? hops : bytes;
}

/* Whether the same devices hold copies before and after: then each element has to go all the way. */
static bool keeps_copies(const ts_collective *c) {
    for (int i = 0; i < c->before.digit_count; i++)
        if ((c->before.digits[i].kind == TS_DIGIT_REPLICA) != (c->after.digits[i].kind == TS_DIGIT_REPLICA))
            return false;
    return true;
}

static double direct_bound(const meter *m) {
    const ts_collective *c = m->collective;
    const int64_t *links = row_links(m, ~0U, LINKS_IN);
    double bytes = 0;
    for (int64_t i = 0; i < c->mesh->chip_count; i++) {
        double there = m->direct.received[i] == 0 ? 0 : (double)m->direct.received[i] / (double)links[i];
        if (there > bytes) bytes = there;
    }
    for (int i = 0; i < c->mesh->dim_count && (c->pairs || keeps_copies(c)); i++) {
        double there = c->mesh->dims[i] > 1 ? dim_bytes(m, i) : 0;
        if (there > bytes) bytes = there;
    }
    return ts_mesh_link_ps(c->mesh, bytes);
}

static double bound_of(const meter *m) {
    const ts_collective *c = m->collective;
    if (c->kind == TS_COLLECTIVE_SLICE || c->mesh->chip_count == 1) return 0;
    return c->algorithm == TS_ALGORITHM_DIRECT ? direct_bound(m) : group_bound(m);
}

/* All at once, without a look at every pair. */
static bool count_even(meter *m) {
    ts_even_totals *totals = &m->direct;
    totals->loads = m->phase_loads;
    if (m->collective->algorithm != TS_ALGORITHM_DIRECT || !ts_even_count(m->collective, totals))
        return false;
    m->times = m->rounds = 1;
    m->hops = totals->hops;
    m->price->transfers = totals->transfers;
    m->price->sent_bytes = totals->sent_bytes;
    return true;
}

void ts_collective_measure(ts_arena *arena, const ts_collective *collective, ts_collective_price *price) {
    const ts_mesh *mesh = collective->mesh;
    int64_t links = ts_mesh_link_count(mesh);
    meter m = {.arena = arena, .collective = collective, .price = price};
    m.phase_loads = TS_NEW_ARRAY(arena, int64_t, links);
    m.loads = TS_NEW_ARRAY(arena, int64_t, links);
    m.injected = TS_NEW_ARRAY(arena, int64_t, mesh->chip_count);
    m.direct.received = TS_NEW_ARRAY(arena, int64_t, mesh->chip_count);
    *price = (ts_collective_price){.loads = m.loads};
    if (collective->kind != TS_COLLECTIVE_SLICE) price->ps = (double)mesh->ici->launch_ps;
    ts_collective_visitor visitor = {.self = &m, .step = begin_phase, .transfer = count_transfer};
    if (collective->kind != TS_COLLECTIVE_SLICE && !count_even(&m))
        ts_collective_visit(arena, collective, &visitor);
    if (m.times > 0) end_phase(&m);
    for (int64_t i = 0; i < links; i++) price->link_bytes = ts_max(price->link_bytes, m.loads[i]);
    price->bound_ps = bound_of(&m);
}

/* Of all devices, and where there are two; a choice that is forced and cannot be is one of a ring each
 * way. */
static bool has_two_rings(const ts_collective *c) {
    int32_t chips[2][TS_MESH_TWO_RINGS_CHIPS];
    return ts_collective_members(c) == c->mesh->device_count &&
           ts_mesh_two_rings(c->mesh, chips[0], chips[1]);
}

/* One algorithm, and of one that goes through several rings one number of chunks: kept where it is faster. */
static void consider(ts_arena *arena, ts_collective *best, const ts_collective *tried,
                     ts_collective_price *price, ts_collective_price *its) {
    bool found = price->loads != NULL;
    ts_collective_measure(arena, tried, its);
    if (found && its->ps >= price->ps) return;
    *best = *tried;
    *price = *its;
}

/* More chunks are worth their hops while links wait for each other. They have no fewer hops, and as much goes
 * over the busiest link: whether that leaves them a chance. */
static bool chunks_may_be_faster(const ts_collective *c, const ts_collective_price *its,
                                 const ts_collective_price *best) {
    const ts_mesh *mesh = c->mesh;
    double least = (double)(mesh->ici->launch_ps + its->hops * mesh->ici->hop_ps) +
                   ts_mesh_link_ps(mesh, (double)its->link_bytes);
    return c->algorithm == TS_ALGORITHM_TORUS && c->group_count > 1 && least < best->ps &&
           best->ps >= 1.01 * best->bound_ps;
}

static void consider_chunks(ts_arena *arena, ts_collective *best, ts_collective *tried,
                            ts_collective_price *price) {
    static const int chunks[] = {1, 4, 16, 64};
    ts_collective_price its;
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        if (i > 0 && !chunks_may_be_faster(tried, &its, price)) return;
        tried->chunks = chunks[i];
        consider(arena, best, tried, price, &its);
    }
}

/* Two rings have four links of each chip, and as many hops as there are chips: whether these leave them a
 * chance. */
static bool may_be_faster(const ts_collective *c, const ts_collective_price *price) {
    double hops_ps = (double)(c->mesh->chip_count - 1) * (double)c->mesh->ici->hop_ps;
    double links = ts_mesh_least_links(c->mesh) / 4.0;
    return (double)c->mesh->ici->launch_ps + hops_ps + price->bound_ps * (links > 1 ? links : 1) < price->ps;
}

enum { MOST_SENT_AT_ONCE = 1 << 16 }; /* transfers */

/* A gather sends each part to all at once in one step of fewer hops: whether that may be worth it, by the
 * bound. */
static bool may_send_at_once(const ts_collective *c, const ts_collective_price *price) {
    double least = (double)(c->mesh->ici->launch_ps + c->mesh->ici->hop_ps) + price->bound_ps;
    return least < price->ps && ts_collective_members(c) * c->mesh->device_count <= MOST_SENT_AT_ONCE;
}

/* Whether an algorithm is one of this collective, and may be better than what was found. */
static bool may_try(ts_algorithm_choice choice, const ts_collective *c, ts_algorithm algorithm,
                    const ts_collective_price *price) {
    bool gathers = c->kind == TS_COLLECTIVE_ALL_GATHER, found = price->loads != NULL;
    if (c->kind < TS_COLLECTIVE_REDUCE_SCATTER) return algorithm == TS_ALGORITHM_DIRECT;
    if (choice.forced && (gathers || choice.algorithm != TS_ALGORITHM_DIRECT))
        return algorithm == choice.algorithm;
    if (algorithm == TS_ALGORITHM_DIRECT) return gathers && may_send_at_once(c, price);
    return algorithm != TS_ALGORITHM_TWO_RINGS || ((!found || may_be_faster(c, price)) && has_two_rings(c));
}

void ts_collective_choose(ts_arena *arena, ts_algorithm_choice choice, ts_collective *collective,
                          ts_collective_price *price) {
    if (choice.forced && choice.algorithm == TS_ALGORITHM_TWO_RINGS && !has_two_rings(collective))
        choice.algorithm = TS_ALGORITHM_BIDIRECTIONAL;
    ts_collective tried = *collective;
    *price = (ts_collective_price){0};
    for (int i = 1; i <= TS_ALGORITHM_COUNT; i++) {
        tried.algorithm =
            (ts_algorithm)(i % TS_ALGORITHM_COUNT); /* direct last: what it has to beat is known */
        if (may_try(choice, collective, tried.algorithm, price))
            consider_chunks(arena, collective, &tried, price);
    }
}
