/* The transfers of a collective. */
#include "mesh/collective.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"

static const char *const kinds[TS_COLLECTIVE_KIND_COUNT] = {
    [TS_COLLECTIVE_SLICE] = "slice",
    [TS_COLLECTIVE_PERMUTE] = "permute",
    [TS_COLLECTIVE_ALL_TO_ALL] = "all-to-all",
    [TS_COLLECTIVE_POINT_TO_POINT] = "point-to-point",
    [TS_COLLECTIVE_REDUCE_SCATTER] = "reduce-scatter",
    [TS_COLLECTIVE_ALL_GATHER] = "all-gather",
    [TS_COLLECTIVE_ALL_REDUCE] = "all-reduce",
};
const char *ts_collective_name(ts_collective_kind kind) { return kinds[kind]; }

static const struct {
    const char *word, *name;
} algorithms[TS_ALGORITHM_COUNT] = {
    [TS_ALGORITHM_DIRECT] = {"direct", "direct"},
    [TS_ALGORITHM_RING] = {"ring", "ring"},
    [TS_ALGORITHM_BIDIRECTIONAL] = {"bidirectional", "bidirectional ring"},
    [TS_ALGORITHM_TORUS] = {"torus", "rings of a torus"},
    [TS_ALGORITHM_TWO_RINGS] = {"two-rings", "two rings"},
};
const char *ts_algorithm_name(ts_algorithm algorithm) { return algorithms[algorithm].name; }

bool ts_algorithm_find(ts_error *err, const char *what, const char *word, ts_algorithm *algorithm) {
    for (int i = 0; i < TS_ALGORITHM_COUNT; i++) {
        if (strcmp(algorithms[i].word, word) != 0) continue;
        *algorithm = (ts_algorithm)i;
        return true;
    }
    ts_error_set(err, TS_ERROR_USAGE,
                 "%s is '%.40s', expected direct, ring, bidirectional, torus or two-rings", what, word);
    return ts_error_hint(
        err, ts_text_nearest(word, &algorithms[0].word, TS_ALGORITHM_COUNT, sizeof algorithms[0]));
}

int64_t ts_collective_members(const ts_collective *collective) {
    int64_t members = 1;
    for (int i = 0; i < collective->group_count; i++)
        members *= collective->before.digits[collective->group[i]].extent;
    return members;
}

/* ---- Common digits ---- */

static bool cut_alike(ts_sharding *a, ts_sharding *b) {
    for (int i = 0; i < b->digit_count; i++)
        if (!ts_sharding_cut(a, b->digits[i].stride)) return false;
    for (int i = 0; i < a->digit_count; i++)
        if (!ts_sharding_cut(b, a->digits[i].stride)) return false;
    return true;
}

bool ts_sharding_refine(ts_sharding *a, ts_sharding *b) {
    ts_sharding x = *a, y = *b;
    if (!cut_alike(&x, &y)) { /* where one was cut, at axes, the other may not divide */
        ts_sharding_join(a), ts_sharding_join(b);
        return cut_alike(a, b);
    }
    *a = x;
    *b = y;
    return true;
}

void ts_sharding_cut_at_dims(ts_sharding *a, ts_sharding *b, const ts_mesh *mesh) {
    for (int i = 0; i < mesh->dim_count; i++) {
        int64_t stride = mesh->strides[i] * mesh->devices_per_chip;
        ts_sharding x = *a, y = *b;
        if (!ts_sharding_cut(&x, stride) || !ts_sharding_cut(&y, stride)) continue;
        *a = x;
        *b = y;
    }
}

/* ---- Rings ---- */

/* A ring: digits whose values, counted up and down in turn, make neighbours of devices that follow each
 * other; or all devices in an order of their chips. */
typedef struct {
    int count;
    const ts_mesh_digit *digits[TS_SHARDING_MAX_DIGITS]; /* the slowest first */
    int64_t extent;
    int64_t devices_per_chip;
    const int32_t *chips,
        *positions; /* the chip at each position, and the other way round; NULL: by digits */
} ring;

enum { MAX_RINGS = TS_SHARDING_MAX_DIGITS };

typedef struct {
    const ts_collective *collective;
    const ts_collective_visitor *visitor;
    int ring_count, stage_count,
        shares; /* every stage is of another ring; each ring is first in one share, or in two, one for either way */
    int stages, chunks;                     /* of the whole: an all-reduce goes through its rings twice */
    int64_t weights[MAX_RINGS], weight_sum; /* of a share, by its first ring; of all shares */
    ring rings[MAX_RINGS];
} walk;

/* Where a device stands in a ring, and the other way round. */
static int64_t position_of(const ring *r, int64_t device) {
    if (r->positions)
        return r->positions[device / r->devices_per_chip] * r->devices_per_chip +
               device % r->devices_per_chip;
    int64_t position = 0;
    for (int i = 0; i < r->count; i++) {
        int64_t value = device / r->digits[i]->stride % r->digits[i]->extent;
        bool down =
            position % 2 != 0; /* so that the last of a run and the first of the next are neighbours */
        position = position * r->digits[i]->extent + (down ? r->digits[i]->extent - 1 - value : value);
    }
    return position;
}

static int64_t device_at(const ring *r, int64_t device, int64_t position) {
    position = ts_floor_mod(position, r->extent);
    if (r->chips)
        return r->chips[position / r->devices_per_chip] * r->devices_per_chip +
               position % r->devices_per_chip;
    int64_t below = r->extent, above = 0;
    for (int i = 0; i < r->count; i++) {
        const ts_mesh_digit *digit = r->digits[i];
        below /= digit->extent;
        int64_t value = position / below % digit->extent;
        if (above % 2 != 0) value = digit->extent - 1 - value;
        above = position / below;
        device += (value - device / digit->stride % digit->extent) * digit->stride;
    }
    return device;
}

static void add_ring(walk *w, const int *group, int count) {
    ring *r = &w->rings[w->ring_count++];
    *r = (ring){.count = count, .extent = 1};
    for (int i = 0; i < count; i++) {
        r->digits[i] = &w->collective->before.digits[group[i]];
        r->extent *= r->digits[i]->extent;
    }
}

static void add_chip_ring(walk *w, ts_arena *arena, const int32_t *chips) {
    const ts_mesh *mesh = w->collective->mesh;
    int32_t *positions = TS_NEW_ARRAY(arena, int32_t, mesh->chip_count);
    for (int32_t i = 0; i < mesh->chip_count; i++) positions[chips[i]] = i;
    w->rings[w->ring_count++] = (ring){.extent = mesh->device_count,
                                       .devices_per_chip = mesh->devices_per_chip,
                                       .chips = chips,
                                       .positions = positions};
}

/* ---- Shares ---- */

enum { EQUAL_WEIGHT = 32, MOST_WEIGHED = 6 };

/* Links of each chip that a ring of one digit keeps busy: 2 of a whole ring of the torus, 1 of a part or a
 * line. */
static int links_of(const ts_mesh *mesh, const ts_mesh_digit *digit) {
    int64_t stride = digit->stride / mesh->devices_per_chip;
    for (int d = 0; d < mesh->dim_count && stride > 0; d++)
        if (mesh->ring[d] && mesh->strides[d] == stride && mesh->dims[d] == digit->extent) return 2;
    return 1;
}

/* How long the links of the busiest dim are: each share passes a dim with what the dims before have left of
 * it. */
static double busiest_dim(const walk *w, const int64_t *weights) {
    double most = 0;
    for (int d = 0; d < w->ring_count; d++) {
        const ring *r = &w->rings[d];
        if (r->digits[0]->stride < w->collective->mesh->devices_per_chip) continue; /* within a chip */
        double load = 0;
        for (int first = 0; first < w->ring_count; first++) {
            double left = (double)weights[first];
            for (int i = first; i % w->ring_count != d; i++)
                left /= (double)w->rings[i % w->ring_count].extent;
            load += left * (double)(r->extent - 1) / (double)r->extent;
        }
        load /= links_of(w->collective->mesh, r->digits[0]);
        if (load > most) most = load;
    }
    return most;
}

/* Moves weight from one share to another; whether that is better. */
static bool improve(const walk *w, int64_t *weights) {
    double best = busiest_dim(w, weights) * (1 - 1e-9);
    int from = -1, to = -1;
    for (int i = 0; i < w->ring_count; i++)
        for (int j = 0; j < w->ring_count; j++) {
            if (i == j || weights[i] == 1) continue;
            weights[i]--;
            weights[j]++;
            double load = busiest_dim(w, weights);
            weights[i]++;
            weights[j]--;
            if (load >= best) continue;
            best = load;
            from = i;
            to = j;
        }
    if (from < 0) return false;
    weights[from]--;
    weights[to]++;
    return true;
}

static void set_weights(walk *w) {
    bool weighed = w->collective->algorithm == TS_ALGORITHM_TORUS && w->ring_count <= MOST_WEIGHED;
    for (int i = 0; i < w->ring_count; i++) w->weights[i] = weighed ? EQUAL_WEIGHT : 1;
    while (weighed && improve(w, w->weights)) continue;
    for (int i = 0; i < w->shares; i++) w->weight_sum += w->weights[i % w->ring_count];
}

static void set_rings(walk *w, ts_arena *arena) {
    const ts_collective *c = w->collective;
    w->stage_count = 1;
    if (c->algorithm == TS_ALGORITHM_TORUS) {
        for (int i = 0; i < c->group_count; i++) add_ring(w, &c->group[i], 1);
        w->stage_count = w->ring_count;
    } else if (c->algorithm == TS_ALGORITHM_TWO_RINGS) {
        int32_t *chips = TS_NEW_ARRAY(arena, int32_t, 2 * c->mesh->chip_count);
        if (!ts_mesh_two_rings(c->mesh, chips, chips + c->mesh->chip_count)) return;
        for (int i = 0; i < 2; i++) add_chip_ring(w, arena, chips + i * c->mesh->chip_count);
    } else {
        add_ring(w, c->group, c->group_count);
    }
    w->shares = w->ring_count * (c->algorithm == TS_ALGORITHM_RING ? 1 : 2);
    w->stages = w->stage_count * (c->kind == TS_COLLECTIVE_ALL_REDUCE ? 2 : 1);
    w->chunks = c->chunks > 0 ? c->chunks : 1;
    set_weights(w);
}

/* A chunk of a share in one stage: which ring it is in, which way it goes round, what is sent. */
typedef enum { SCATTER, GATHER } direction;
typedef struct {
    direction does;
    const ring *r;
    int64_t way; /* 1 or -1 */
    /* Of what a position sends: the rings that it has been through are copies, or not yet split. */
    ts_sharding held;
    const ts_sharding *parts; /* in which the share is taken */
    /* Of an all-reduce: the index of a position's part among those of the chunk. */
    int ring_count;
    const ring *through[MAX_RINGS];
    int64_t first, count, of, bytes; /* the chunk, of all */
} share_stage;

static void set_kind(walk *w, ts_sharding *held, const ring *r, ts_digit_kind kind) {
    for (int i = 0; i < r->count; i++) held->digits[r->digits[i] - w->collective->before.digits].kind = kind;
}

static int64_t transfer_bytes(const share_stage *s, int64_t of) {
    /* up to whole bytes: a device that has less is waited for all the same */
    int64_t elements = ts_ceil_div(ts_sharding_elements(&s->held) * s->count, of);
    return ts_ceil_div(elements * s->held.shape->element_bits, 8);
}

static void set_chunk(const walk *w, int share, int chunk, share_stage *s) {
    s->of = w->weight_sum * w->chunks;
    s->count = w->weights[share % w->ring_count];
    for (int i = 0; i < share; i++) s->first += w->weights[i % w->ring_count] * w->chunks;
    s->first += chunk * s->count;
}

/* Stage `number` of a chunk: rings are gone through in turn, from another first one in each share; gathering
 * goes back the same way. */
static void begin_share(walk *w, int share, int chunk, int number, share_stage *s) {
    const ts_collective *c = w->collective;
    bool parts = c->kind == TS_COLLECTIVE_ALL_REDUCE; /* the array's own sharding does not change */
    direction does = c->kind == TS_COLLECTIVE_ALL_GATHER || number >= w->stage_count ? GATHER : SCATTER;
    int stage = does == SCATTER ? number : w->stages - 1 - number;
    *s = (share_stage){.does = does, .way = share < w->ring_count ? 1 : -1};
    set_chunk(w, share, chunk, s);
    s->parts = does == SCATTER || parts ? &c->after : &c->before;
    s->held = *s->parts;
    for (int i = 0; i < w->stage_count; i++) {
        const ring *r = &w->rings[(share + i) % w->ring_count];
        if (i <= stage) s->through[s->ring_count++] = r;
        if (i > stage && !parts) set_kind(w, &s->held, r, TS_DIGIT_REPLICA);
    }
    s->r = s->through[stage];
    int64_t of = s->of;
    for (int i = 0; parts && i < s->ring_count; i++) of *= s->through[i]->extent;
    s->bytes = transfer_bytes(s, of);
}

/* What the device `owner`, at its position of the stage's ring, sends to the next of `device`. */
static void send(walk *w, const share_stage *s, int64_t times, int64_t device, int64_t owner) {
    int64_t next = device_at(s->r, device, position_of(s->r, device) + s->way);
    int64_t part = 0, of = 1;
    bool parts = w->collective->kind == TS_COLLECTIVE_ALL_REDUCE;
    for (int i = 0; parts && i < s->ring_count; i++) {
        part = part * s->through[i]->extent + position_of(s->through[i], owner);
        of *= s->through[i]->extent;
    }
    ts_collective_transfer transfer = {.source = device,
                                       .destination = next,
                                       .adds = s->does == SCATTER,
                                       .held = &s->held,
                                       .parts = s->parts,
                                       .owner = owner,
                                       .first = s->first * of + part * s->count,
                                       .count = s->count,
                                       .of = s->of * of,
                                       .times = times,
                                       .bytes = s->bytes};
    w->visitor->transfer(w->visitor->self, &transfer);
}

static void send_all(walk *w, const share_stage *s, int64_t times, int64_t step) {
    int64_t back = s->does == SCATTER ? step + 1 : step;
    for (int64_t device = 0; device < w->collective->mesh->device_count; device++)
        send(w, s, times, device, device_at(s->r, device, position_of(s->r, device) - s->way * back));
}

static void visit_steps(walk *w, const share_stage *list, int count) {
    int64_t steps = 0;
    for (int i = 0; i < count; i++)
        if (list[i].r->extent - 1 > steps) steps = list[i].r->extent - 1;
    for (int64_t step = 0; step < steps; step++) {
        w->visitor->step(w->visitor->self, 1);
        for (int i = 0; i < count; i++)
            if (list[i].r->extent - 1 > step) send_all(w, &list[i], 1, step);
    }
}

/* Each chunk enters a stage when the one before has left it. */
static void visit_phases(walk *w, share_stage *list) {
    int times = 1;
    for (int phase = 0; phase < w->stages + w->chunks - 1; phase += times) {
        int count = 0;
        for (int chunk = 0; chunk < w->chunks && chunk <= phase; chunk++)
            for (int share = 0; phase - chunk < w->stages && share < w->shares; share++)
                begin_share(w, share, chunk, phase - chunk, &list[count++]);
        bool full = phase >= w->stages - 1 && phase < w->chunks; /* a chunk is in every stage */
        times = full && !w->visitor->every_step ? w->chunks - phase : 1;
        if (w->visitor->every_step) {
            visit_steps(w, list, count);
            continue;
        }
        w->visitor->step(w->visitor->self, times);
        for (int i = 0; i < count; i++)
            if (list[i].r->extent > 1) send_all(w, &list[i], list[i].r->extent - 1, 0);
    }
}

/* ---- Direct ---- */

/* A run of indices of a dim: the digits of the devices that hold it, and of those that want it, in device
 * numbers. */
typedef struct {
    int64_t begin, extent, holder, wanter;
} run;

typedef struct {
    int count;
    run *runs; /* by wanter */
} run_list;

/* What a dim's digits make of a device number, or what they want of an index. */
typedef enum { OF_DEVICE, OF_INDEX } part_of;

static int64_t dim_part(const ts_sharding *sharding, int dim, int64_t number, part_of of) {
    int64_t part = 0;
    for (int i = 0; i < sharding->digit_count; i++) {
        const ts_mesh_digit *digit = &sharding->digits[i];
        int64_t unit = of == OF_INDEX ? digit->weight : digit->stride;
        if (digit->kind == TS_DIGIT_SHARD && digit->dim == dim)
            part += number / unit % digit->extent * digit->stride;
    }
    return part;
}

static void add_run(ts_arena *arena, run_list *list, run next) {
    run *last = list->count > 0 ? &list->runs[list->count - 1] : NULL;
    if (last && last->holder == next.holder && last->wanter == next.wanter) {
        last->extent += next.extent;
        return;
    }
    *TS_APPEND(arena, list->runs, list->count) = next;
}

static int by_wanter(const void *a, const void *b) {
    const run *x = a, *y = b;
    if (x->wanter != y->wanter) return ts_order(x->wanter, y->wanter);
    return ts_order(x->begin, y->begin);
}

static void find_runs(ts_arena *arena, const ts_collective *c, int dim, run_list *list) {
    int64_t a = ts_sharding_run(&c->before, dim), b = ts_sharding_run(&c->after, dim), end;
    for (int64_t at = 0; at < c->before.dims[dim]; at = end) {
        end = (at / a + 1) * a < (at / b + 1) * b ? (at / a + 1) * a : (at / b + 1) * b;
        if (end > c->before.dims[dim]) end = c->before.dims[dim];
        add_run(arena, list,
                (run){at, end - at, dim_part(&c->before, dim, at, OF_INDEX),
                      dim_part(&c->after, dim, at, OF_INDEX)});
    }
    if (list->count > 0) qsort(list->runs, (size_t)list->count, sizeof *list->runs, by_wanter);
}

/* The runs that a device wants: a part of the list. */
static run_list wanted_runs(const run_list *list, int64_t wanter) {
    int low = 0, high = list->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (list->runs[middle].wanter < wanter)
            low = middle + 1;
        else
            high = middle;
    }
    run_list found = {0, list->runs + low};
    while (low + found.count < list->count && found.runs[found.count].wanter == wanter) found.count++;
    return found;
}

static void send_runs(walk *w, const run_list *lists, int64_t device, int64_t base) {
    const ts_sharding *after = &w->collective->after;
    int at[TS_LAYOUT_MAX_DIMS] = {0}, dim = after->rank;
    int64_t only[2 * TS_LAYOUT_MAX_DIMS];
    do {
        int64_t elements = 1, source = base;
        for (int d = 0; d < after->rank; d++) {
            const run *r = &lists[d].runs[at[d]];
            source += r->holder;
            elements *= r->extent;
            only[2 * d] = r->begin;
            only[2 * d + 1] = r->extent;
        }
        ts_collective_transfer transfer = {.source = source,
                                           .destination = device,
                                           .held = after,
                                           .parts = after,
                                           .owner = device,
                                           .count = 1,
                                           .of = 1,
                                           .times = 1,
                                           .only = only};
        transfer.bytes = ts_ceil_div(elements * after->shape->element_bits, 8);
        w->visitor->transfer(w->visitor->self, &transfer);
        for (dim = after->rank - 1; dim >= 0 && ++at[dim] == lists[dim].count; dim--) at[dim] = 0;
    } while (dim >= 0);
}

static void visit_direct(walk *w, ts_arena *scratch) {
    const ts_collective *c = w->collective;
    run_list all[TS_LAYOUT_MAX_DIMS] = {{0}}, own[TS_LAYOUT_MAX_DIMS];
    int64_t devices = w->visitor->first_device_only ? 1 : c->mesh->device_count;
    for (int d = 0; d < c->after.rank; d++) find_runs(scratch, c, d, &all[d]);
    w->visitor->step(w->visitor->self, 1);
    for (int64_t device = 0; device < devices; device++) {
        int64_t base = device;
        bool some = true;
        for (int d = 0; d < c->after.rank; d++) {
            own[d] = wanted_runs(&all[d], dim_part(&c->after, d, device, OF_DEVICE));
            base -= dim_part(&c->before, d, device, OF_DEVICE);
            some = some && own[d].count > 0;
        }
        if (some) send_runs(w, own, device, base);
    }
}

static void visit_pairs(const ts_collective *c, const ts_collective_visitor *visitor) {
    visitor->step(visitor->self, 1);
    for (int64_t i = 0; i < c->pair_count; i++) {
        ts_collective_transfer transfer = {.source = c->pairs[i][0],
                                           .destination = c->pairs[i][1],
                                           .count = 1,
                                           .of = 1,
                                           .times = 1,
                                           .bytes = c->pair_bytes};
        visitor->transfer(visitor->self, &transfer);
    }
}

void ts_collective_visit(ts_arena *scratch, const ts_collective *collective,
                         const ts_collective_visitor *visitor) {
    walk w = {.collective = collective, .visitor = visitor};
    if (collective->kind == TS_COLLECTIVE_SLICE) return;
    if (collective->pairs) {
        visit_pairs(collective, visitor);
        return;
    }
    if (collective->algorithm == TS_ALGORITHM_DIRECT) {
        visit_direct(&w, scratch);
        return;
    }
    set_rings(&w, scratch);
    int64_t concurrent = ts_min(w.stages, w.chunks);
    visit_phases(&w, TS_NEW_ARRAY(scratch, share_stage, w.shares * concurrent));
}
