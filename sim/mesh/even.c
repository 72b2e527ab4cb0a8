/* What goes over the links when every device gets as much from every other that has something for it:
 * counted by digits, not pair by pair. A device gets parts from those whose digits are its own in some
 * positions and any in the others; over a line of chips in one dim, from position a to position b, goes
 * what comes from all that differ from each other in the dims that have been passed and goes to all that
 * differ in those that have not: as many pairs for every line. */
#include <string.h>

#include "mesh/even_private.h"

typedef struct {
    const ts_mesh *mesh;
    ts_sharding before, after; /* same digits, and in each dim the same cuts */
    int digits;
    int from
        [TS_SHARDING_MAX_DIGITS]; /* of the destination: the digit that the source's must equal; -1: any */
    int dim_of[TS_SHARDING_MAX_DIGITS]; /* of the topology; TS_MESH_MAX_DIMS: within a chip */
    int64_t sources, runs, bytes;       /* of each device; of a pair */
    ts_even_totals *totals;
} even;

/* ---- Digits ---- */

/* Cuts digits of `a` where those of `b` begin, in the indices of their dim. */
static bool cut_once(ts_sharding *a, ts_sharding *b, bool *changed) {
    for (int i = 0; i < a->digit_count; i++)
        for (int j = 0; j < b->digit_count; j++) {
            const ts_mesh_digit *x = &a->digits[i], *y = &b->digits[j];
            if (x->kind != TS_DIGIT_SHARD || y->kind != TS_DIGIT_SHARD || x->dim != y->dim) continue;
            int64_t cuts[2] = {y->weight, y->weight * y->extent};
            for (int k = 0; k < 2; k++) {
                if (cuts[k] <= x->weight || cuts[k] >= x->weight * x->extent) continue;
                if (cuts[k] % x->weight != 0) return false;
                *changed = true;
                int64_t stride = x->stride * (cuts[k] / x->weight);
                return ts_sharding_cut(a, stride) && ts_sharding_cut(b, stride);
            }
        }
    return true;
}

static bool cut_alike(ts_sharding *a, ts_sharding *b) {
    for (bool changed = true; changed;) {
        changed = false;
        if (!cut_once(a, b, &changed) || !cut_once(b, a, &changed)) return false;
    }
    return true;
}

/* Digits divide their dims and each other's weights, so that all parts are as large. */
static bool divides(const ts_sharding *s) {
    for (int i = 0; i < s->digit_count; i++) {
        const ts_mesh_digit *digit = &s->digits[i];
        if (digit->kind == TS_DIGIT_SHARD && s->dims[digit->dim] % (digit->weight * digit->extent) != 0)
            return false;
    }
    return s->shape->element_bits % 8 == 0;
}

static bool set_positions(even *e) {
    const ts_mesh *mesh = e->mesh;
    for (int i = 0; i < e->digits; i++) {
        const ts_mesh_digit *digit = &e->before.digits[i];
        int64_t stride = digit->stride / mesh->devices_per_chip;
        e->dim_of[i] = TS_MESH_MAX_DIMS;
        for (int d = 0; d < mesh->dim_count && stride > 0; d++)
            if (stride >= mesh->strides[d] && stride < mesh->strides[d] * mesh->dims[d]) e->dim_of[i] = d;
        int d = e->dim_of[i];
        int64_t end = d == TS_MESH_MAX_DIMS ? 1 : mesh->strides[d] * mesh->dims[d];
        if (digit->stride * digit->extent > end * mesh->devices_per_chip) return false;
    }
    return true;
}

static bool set_sources(even *e) {
    const ts_sharding *after = &e->after;
    e->sources = 1;
    for (int i = 0; i < e->digits; i++) {
        const ts_mesh_digit *mine = &e->before.digits[i];
        e->from[i] = mine->kind == TS_DIGIT_SHARD ? -1 : i;
        for (int j = 0; j < e->digits && mine->kind == TS_DIGIT_SHARD; j++) {
            const ts_mesh_digit *other = &after->digits[j];
            if (other->kind != TS_DIGIT_SHARD || other->dim != mine->dim || other->weight != mine->weight)
                continue;
            if (other->extent != mine->extent) return false;
            e->from[i] = j;
        }
        if (e->from[i] < 0) e->sources *= mine->extent;
    }
    int64_t elements = ts_sharding_elements(after);
    e->bytes = elements / e->sources * after->shape->element_bits / 8;
    return e->bytes > 0;
}

/* ---- Pairs ---- */

static int64_t digit_value(const even *e, int digit, int64_t device) {
    const ts_mesh_digit *d = &e->before.digits[digit];
    return device / d->stride % d->extent;
}

/* Equalities that a source and a destination have to keep where only the source's digits of dims >= dim and
 * the destination's of dims <= dim are known; and how many pairs have the same known digits. */
typedef struct {
    int equal_count, agree_count;
    int equal[TS_SHARDING_MAX_DIGITS][2]; /* source's, destination's */
    int agree[TS_SHARDING_MAX_DIGITS][2]; /* both of the source */
    int64_t pairs;
} rules;

static void set_rules(const even *e, int dim, rules *r) {
    int fixed_by[TS_SHARDING_MAX_DIGITS];
    *r = (rules){.pairs = 1};
    for (int j = 0; j < e->digits; j++) fixed_by[j] = -1;
    for (int i = 0; i < e->digits; i++) {
        bool known = e->dim_of[i] >= dim && e->dim_of[i] < TS_MESH_MAX_DIMS;
        int j = e->from[i];
        if (!known && j < 0) r->pairs *= e->before.digits[i].extent;
        if (!known || j < 0) continue;
        if (e->dim_of[j] <= dim) {
            r->equal[r->equal_count][0] = i;
            r->equal[r->equal_count++][1] = j;
        } else if (fixed_by[j] >= 0) {
            r->agree[r->agree_count][0] = i;
            r->agree[r->agree_count++][1] = fixed_by[j];
        } else {
            fixed_by[j] = i;
        }
    }
    for (int j = 0; j < e->digits; j++)
        if (e->dim_of[j] > dim && fixed_by[j] < 0) r->pairs *= e->before.digits[j].extent;
}

static bool keeps(const even *e, const rules *r, int64_t source, int64_t destination) {
    for (int i = 0; i < r->equal_count; i++)
        if (digit_value(e, r->equal[i][0], source) != digit_value(e, r->equal[i][1], destination))
            return false;
    for (int i = 0; i < r->agree_count; i++)
        if (digit_value(e, r->agree[i][0], source) != digit_value(e, r->agree[i][1], source)) return false;
    return true;
}

/* The chip at which a message enters dim `dim`: at its destination's position in the dims before, its
 * source's in those behind. */
static void count_lines(even *e, int dim) {
    const ts_mesh *mesh = e->mesh;
    rules r;
    set_rules(e, dim, &r);
    int64_t below = mesh->strides[dim], extent = mesh->dims[dim],
            bytes = r.pairs * ts_mesh_wire_bytes(mesh, e->bytes / e->runs) * e->runs;
    for (int64_t to = 0; to < mesh->chip_count; to += below)
        for (int64_t from = 0; from < below * extent; from++) {
            int64_t way[2] = {from / below, to / below % extent};
            if (way[0] == way[1] || !keeps(e, &r, from * mesh->devices_per_chip, to * mesh->devices_per_chip))
                continue;
            int64_t chip = to - way[1] * below + from;
            ts_mesh_route_dim(mesh, dim, way, chip, bytes, e->totals->loads);
            bool above = 2 * way[1] >= extent;
            if ((2 * way[0] >= extent) != above) e->totals->crossing[dim][above] += bytes;
        }
}

/* ---- Chips ---- */

/* The source's digits that are any of the destination's chip: how many sources are on it, of
 * `destination`. */
static void count_received(even *e) {
    for (int64_t device = 0; device < e->mesh->device_count; device++) {
        int64_t same_chip = 1;
        bool itself = true;
        for (int i = 0; i < e->digits; i++) {
            bool inside = e->dim_of[i] == TS_MESH_MAX_DIMS;
            bool equal = e->from[i] < 0 || digit_value(e, e->from[i], device) == digit_value(e, i, device);
            if (inside && e->from[i] < 0) same_chip *= e->before.digits[i].extent;
            if (!inside && !equal) same_chip = 0;
            itself = itself && equal;
        }
        int64_t others = e->sources - itself;
        e->totals->received[device / e->mesh->devices_per_chip] += (e->sources - same_chip) * e->bytes;
        e->totals->sent_bytes += others * e->bytes;
        e->totals->transfers += others * e->runs;
    }
}

/* Hops from a position of a dim to the furthest that the digits of `source` leave to a destination; -1:
 * none. */
static int64_t furthest(const even *e, int dim, const int64_t *fixed, int64_t source) {
    int64_t most = -1, apart = e->mesh->strides[dim] * e->mesh->devices_per_chip;
    for (int64_t position = 0; position < e->mesh->dims[dim]; position++) {
        int64_t way[2] = {ts_mesh_chip_at(e->mesh, source, dim), position};
        bool may = true;
        for (int j = 0; j < e->digits && may; j++)
            may = e->dim_of[j] != dim || fixed[j] < 0 || digit_value(e, j, position * apart) == fixed[j];
        int64_t hops = may ? ts_mesh_route_dim(e->mesh, dim, way, 0, 0, NULL) : -1;
        if (hops > most) most = hops;
    }
    return most;
}

static void count_hops(even *e) {
    for (int64_t source = 0; source < e->mesh->device_count; source++) {
        int64_t fixed[TS_SHARDING_MAX_DIGITS], hops = 0;
        bool sends = true;
        memset(fixed, -1, sizeof fixed);
        for (int i = 0; i < e->digits; i++) {
            int64_t value = digit_value(e, i, source);
            if (e->from[i] < 0) continue;
            sends = sends && (fixed[e->from[i]] < 0 || fixed[e->from[i]] == value);
            fixed[e->from[i]] = value;
        }
        for (int dim = 0; dim < e->mesh->dim_count && sends; dim++) hops += furthest(e, dim, fixed, source);
        if (hops > e->totals->hops) e->totals->hops = hops;
    }
}

/* Runs of a pair, for a device's elements lie in runs of the finest digit of both. */
static void set_runs(even *e) {
    e->runs = 1;
    for (int m = 0; m < e->after.rank; m++) {
        int64_t finest = e->after.dims[m];
        for (int i = 0; i < 2 * e->digits; i++) {
            const ts_mesh_digit *d = i % 2 ? &e->after.digits[i / 2] : &e->before.digits[i / 2];
            if (d->kind == TS_DIGIT_SHARD && d->dim == m && d->weight < finest) finest = d->weight;
        }
        e->runs *= e->after.dims[m] / finest;
    }
    for (int i = 0; i < e->digits; i++)
        if (e->after.digits[i].kind == TS_DIGIT_SHARD) e->runs /= e->after.digits[i].extent;
    e->runs /= e->sources;
}

bool ts_even_count(const ts_collective *collective, ts_even_totals *totals) {
    even e = {.mesh = collective->mesh, .totals = totals};
    e.before = collective->before;
    e.after = collective->after;
    bool regular = !e.mesh->order && !e.mesh->failed && e.mesh->ici->injection == 0;
    if (!regular || collective->pairs || !cut_alike(&e.before, &e.after)) return false;
    ts_sharding_cut_at_dims(&e.before, &e.after, e.mesh);
    e.digits = e.before.digit_count;
    if (!divides(&e.before) || !divides(&e.after) || !set_positions(&e) || !set_sources(&e)) return false;
    set_runs(&e);
    for (int dim = 0; dim < e.mesh->dim_count; dim++) count_lines(&e, dim);
    count_received(&e);
    count_hops(&e);
    return true;
}
