/* Planning: which collectives bring one sharding to another, by which algorithms. */
#include "mesh/reshard.h"

#include <string.h>

typedef struct {
    ts_error *err;
    ts_arena *arena;
    const ts_reshard_request *request;
    ts_sharding now, goal; /* with the same digits */
    ts_reshard_plan *plan;
} planner;

static bool same_place(const ts_mesh_digit *a, const ts_mesh_digit *b) {
    if (a->kind != b->kind) return false;
    return a->kind != TS_DIGIT_SHARD || (a->dim == b->dim && a->weight == b->weight);
}

static void add_collective(planner *p, ts_collective_kind kind, const ts_sharding *after, const int *group,
                           int count) {
    int at = p->plan->count++;
    ts_collective *c = &p->plan->collectives[at];
    *c = (ts_collective){.mesh = p->request->mesh, .kind = kind, .before = p->now, .after = *after};
    c->group_count = count;
    memcpy(c->group, group, sizeof *group * (size_t)count);
    ts_collective_choose(p->arena, p->request->choice, c, &p->plan->prices[at]);
    p->now = *after;
    p->plan->ps += p->plan->prices[at].ps;
}

/* ---- Which digits take part ---- */

/* Digits that are of the kind `from` and shall be of the kind `to`: the group, and the sharding when they are. */
static int take_digits(const planner *p, ts_digit_kind from, ts_digit_kind to, int *group,
                       ts_sharding *after) {
    int count = 0;
    *after = p->now;
    for (int i = 0; i < p->now.digit_count; i++) {
        if (p->now.digits[i].kind != from || p->goal.digits[i].kind != to) continue;
        group[count++] = i;
        after->digits[i] = p->goal.digits[i];
    }
    return count;
}

static void add_kind(planner *p, ts_digit_kind from, ts_digit_kind to, ts_collective_kind kind) {
    int group[TS_SHARDING_MAX_DIGITS];
    ts_sharding after;
    int count = take_digits(p, from, to, group, &after);
    if (count > 0) add_collective(p, kind, &after, group, count);
}

/* Whether the digits of each dim select different parts of its index: else some elements have no holder. */
static bool apart(const ts_sharding *sharding) {
    for (int i = 0; i < sharding->digit_count; i++)
        for (int j = 0; j < sharding->digit_count; j++) {
            const ts_mesh_digit *a = &sharding->digits[i], *b = &sharding->digits[j];
            if (i == j || a->kind != TS_DIGIT_SHARD || b->kind != TS_DIGIT_SHARD || a->dim != b->dim)
                continue;
            if (a->weight <= b->weight && b->weight < a->weight * a->extent) return false;
            if (a->weight % b->weight != 0 && b->weight % a->weight != 0) return false;
        }
    return true;
}

/* From where device 0 gets its elements: from one device, from all others of the group as much, or neither. */
typedef struct {
    int64_t sources, last, bytes;
    bool equal, keeps;
} spread;

static void spread_step(void *self, int64_t times) { (void)self, (void)times; }
static void spread_transfer(void *self, const ts_collective_transfer *t) {
    spread *s = self;
    s->keeps = s->keeps || t->source == t->destination;
    if (t->source == t->destination || t->source == s->last) return;
    s->equal = s->equal && (s->sources == 0 || t->bytes == s->bytes);
    s->bytes = t->bytes;
    s->last = t->source;
    s->sources++;
}

static ts_collective_kind kind_of(planner *p, const ts_collective *draft) {
    spread s = {.last = -1, .equal = true};
    ts_collective_visitor visitor = {&s, true, true, spread_step, spread_transfer};
    ts_collective_visit(p->arena, draft, &visitor);
    if (s.sources + s.keeps <= 1) return TS_COLLECTIVE_PERMUTE;
    bool copies = ts_sharding_copies(&draft->before) != ts_sharding_copies(&draft->after);
    return s.sources == ts_collective_members(draft) - 1 && s.equal && !copies ? TS_COLLECTIVE_ALL_TO_ALL
                                                                               : TS_COLLECTIVE_POINT_TO_POINT;
}

static void add_direct(planner *p, const ts_sharding *after, const int *group, int count) {
    ts_collective draft = {.mesh = p->request->mesh, .kind = TS_COLLECTIVE_POINT_TO_POINT, .before = p->now};
    draft.after = *after;
    draft.group_count = count;
    memcpy(draft.group, group, sizeof *group * (size_t)count);
    if (count > 0) add_collective(p, kind_of(p, &draft), after, group, count);
}

/* Shards that become other shards. */
static bool add_exchange(planner *p) {
    int group[TS_SHARDING_MAX_DIGITS], count = 0;
    ts_sharding after = p->now;
    for (int i = 0; i < p->now.digit_count; i++) {
        if (p->now.digits[i].kind != TS_DIGIT_SHARD || p->goal.digits[i].kind != TS_DIGIT_SHARD) continue;
        if (same_place(&p->now.digits[i], &p->goal.digits[i])) continue;
        group[count++] = i;
        after.digits[i] = p->goal.digits[i];
    }
    if (!apart(&after)) return false;
    add_direct(p, &after, group, count);
    return true;
}

/* ---- Plans ---- */

static bool add_sums(planner *p) {
    for (int i = 0; i < p->now.digit_count; i++)
        if (p->goal.digits[i].kind == TS_DIGIT_PARTIAL && p->now.digits[i].kind != TS_DIGIT_PARTIAL)
            return ts_error_set(p->err, TS_ERROR_UNMODELLED,
                                "the destination has partial sums where the source has none");
    int group[TS_SHARDING_MAX_DIGITS];
    ts_sharding after;
    int count = take_digits(p, TS_DIGIT_PARTIAL, TS_DIGIT_SHARD, group, &after);
    if (count > 0 &&
        !apart(&after)) { /* the places are taken until other digits have moved: sums as copies first */
        for (int i = 0; i < count; i++) after.digits[group[i]].kind = TS_DIGIT_REPLICA;
        add_collective(p, TS_COLLECTIVE_ALL_REDUCE, &after, group, count);
    } else if (count > 0) {
        add_collective(p, TS_COLLECTIVE_REDUCE_SCATTER, &after, group, count);
    }
    add_kind(p, TS_DIGIT_PARTIAL, TS_DIGIT_REPLICA, TS_COLLECTIVE_ALL_REDUCE);
    return true;
}

static bool add_slices(planner *p) {
    int group[TS_SHARDING_MAX_DIGITS];
    ts_sharding after;
    int count = take_digits(p, TS_DIGIT_REPLICA, TS_DIGIT_SHARD, group, &after);
    if (count == 0) return true;
    if (!apart(&after)) return false;
    add_collective(p, TS_COLLECTIVE_SLICE, &after, group, count);
    return true;
}

typedef enum { EXCHANGE_FIRST, GATHER_FIRST, ALL_AT_ONCE, ORDERS } plan_order;

static bool same_sharding(const ts_sharding *a, const ts_sharding *b) {
    for (int i = 0; i < a->digit_count; i++)
        if (!same_place(&a->digits[i], &b->digits[i])) return false;
    return true;
}

static void add_all_at_once(planner *p) {
    int group[TS_SHARDING_MAX_DIGITS], count = 0;
    for (int i = 0; i < p->now.digit_count; i++)
        if (!same_place(&p->now.digits[i], &p->goal.digits[i])) group[count++] = i;
    add_direct(p, &p->goal, group, count);
}

/* One plan; false: the order does not work, for digits would be in each other's way, or (with an error) none does. */
static bool make_plan(planner *p, plan_order order) {
    if (!add_sums(p)) return false;
    if (order == ALL_AT_ONCE) {
        add_all_at_once(p);
        return true;
    }
    bool gathers_first = order == GATHER_FIRST;
    if (gathers_first) add_kind(p, TS_DIGIT_SHARD, TS_DIGIT_REPLICA, TS_COLLECTIVE_ALL_GATHER);
    if (!add_slices(p) || !add_exchange(p)) return false;
    if (!gathers_first) add_kind(p, TS_DIGIT_SHARD, TS_DIGIT_REPLICA, TS_COLLECTIVE_ALL_GATHER);
    return same_sharding(&p->now, &p->goal);
}

static bool check_request(ts_error *err, const ts_sharding *a, const ts_sharding *b) {
    bool equal = a->rank == b->rank && a->shape->dtype == b->shape->dtype;
    for (int d = 0; d < a->rank && equal; d++) equal = a->dims[d] == b->dims[d];
    return equal || ts_error_set(err, TS_ERROR_INPUT,
                                 "the source and the destination must be one array: equal types "
                                 "and dims");
}

/* Of an order that works the faster plan is kept. False: an error, no order works. */
static bool consider(const planner *base, plan_order order, ts_reshard_plan *best, bool *found) {
    planner p = *base;
    ts_reshard_plan plan = {0};
    p.plan = &plan;
    bool made = make_plan(&p, order);
    if (p.err && p.err->kind != TS_ERROR_NONE) return false;
    if (made && (!*found || plan.ps < best->ps)) *best = plan;
    *found = *found || made;
    return true;
}

bool ts_reshard(ts_error *err, ts_arena *arena, const ts_reshard_request *request, ts_reshard_plan *plan) {
    planner p = {err, arena, request, *request->source, *request->destination, NULL};
    bool found = false;
    memset(plan, 0, sizeof *plan);
    if (!check_request(err, request->source, request->destination)) return false;
    if (!ts_sharding_refine(&p.now, &p.goal))
        return ts_error_set(err, TS_ERROR_UNMODELLED,
                            "the two shardings cut the devices in ways that have no common parts");
    ts_sharding_cut_at_dims(&p.now, &p.goal, request->mesh);
    bool directly = request->choice.forced && request->choice.algorithm == TS_ALGORITHM_DIRECT;
    for (int order = directly ? ALL_AT_ONCE : 0; order < ORDERS; order++) {
        if (order == ALL_AT_ONCE && found && request->choice.forced) break; /* rings are wanted */
        if (!consider(&p, (plan_order)order, plan, &found)) return false;
        if (plan->count <= 1 && found) break; /* no order can need fewer */
    }
    plan->mesh = request->mesh;
    plan->source = p.now;
    plan->destination = p.goal;
    for (int i = 0; i < plan->count; i++) plan->bound_ps += plan->prices[i].bound_ps;
    return true;
}
