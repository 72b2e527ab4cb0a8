/* Planning: which collectives bring one sharding to another, in which order, by which algorithms. */
#include "mesh/reshard.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "mesh/reshard_private.h"

enum { MOST_VISITS = 1 << 21 }; /* a third of a second */

typedef struct {
    bool may, seen, done;
    double ps, least_left; /* to get there; from there to the goal */
    int steps, detours;
    int64_t before;
} reached;

typedef struct {
    int64_t detours;     /* that may still be priced */
    bool copies_at_once; /* direct transfers may make copies, or drop them */
} way_rules;

typedef struct {
    ts_arena *arena;
    const ts_reshard_request *request;
    reshard_ways ways;
    reached *nodes;
    ts_sharding *shardings; /* of the nodes */
    ts_arena *scratch;      /* of a step that is tried */
    way_rules rules;
    int64_t visits;  /* of direct transfers, in this search; no more than MOST_VISITS once there is a way */
    double guess_ps; /* of the way that estimates say is best, priced */
    int guess_steps;
    int64_t guess[TS_RESHARD_MAX_COLLECTIVES + 1]; /* its nodes */
} search;

/* ---- One step ---- */

/* From where device 0 gets its elements: from one device, from all others of the group as much, or
 * neither. */
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

static ts_collective_kind kind_of(ts_arena *arena, const ts_collective *draft) {
    spread s = {.last = -1, .equal = true};
    ts_collective_visitor visitor = {&s, true, true, spread_step, spread_transfer};
    ts_collective_visit(arena, draft, &visitor);
    if (s.sources + s.keeps <= 1) return TS_COLLECTIVE_PERMUTE;
    bool copies = ts_sharding_copies(&draft->before) != ts_sharding_copies(&draft->after);
    return s.sources == ts_collective_members(draft) - 1 && s.equal && !copies ? TS_COLLECTIVE_ALL_TO_ALL
                                                                               : TS_COLLECTIVE_POINT_TO_POINT;
}

/* Digits by what they become. */
typedef struct {
    int to_sum, to_split_sum, to_copy, to_shard, moved, wrong;
} changes;

static void count_change(const ts_mesh_digit *from, const ts_mesh_digit *to, changes *n) {
    bool copy = to->kind == TS_DIGIT_REPLICA;
    if (to->kind == TS_DIGIT_PARTIAL)
        n->wrong++;
    else if (from->kind == TS_DIGIT_PARTIAL)
        *(copy ? &n->to_sum : &n->to_split_sum) += 1;
    else if (from->kind == TS_DIGIT_REPLICA)
        n->to_shard++;
    else
        *(copy ? &n->to_copy : &n->moved) += 1;
}

/* The single collective that makes all the changes; false: there is none. */
static bool find_kind(const search *s, const changes *n, ts_collective_kind *kind) {
    int sums = n->to_sum + n->to_split_sum, others = n->to_copy + n->to_shard + n->moved;
    if (n->wrong || (sums && others) || (n->to_sum && n->to_split_sum)) return false;
    *kind = TS_COLLECTIVE_POINT_TO_POINT;
    if (sums)
        *kind = n->to_sum ? TS_COLLECTIVE_ALL_REDUCE : TS_COLLECTIVE_REDUCE_SCATTER;
    else if (others == n->to_shard)
        *kind = TS_COLLECTIVE_SLICE;
    else if (others == n->to_copy)
        *kind = TS_COLLECTIVE_ALL_GATHER;
    return *kind != TS_COLLECTIVE_POINT_TO_POINT || s->rules.copies_at_once || others == n->moved;
}

static bool draft_step(const search *s, const ts_sharding *from, const ts_sharding *to, ts_collective *c) {
    changes n = {0};
    *c = (ts_collective){.mesh = s->request->mesh, .before = *from, .after = *to};
    for (int i = 0; i < from->digit_count; i++) {
        if (reshard_same_placement(&from->digits[i], &to->digits[i])) continue;
        c->group[c->group_count++] = i;
        count_change(&from->digits[i], &to->digits[i], &n);
    }
    return find_kind(s, &n, &c->kind);
}

/* ---- A guess: the best way by estimates, of all nodes, where only some can be priced ---- */

/* Devices of a group along each dim of the topology. */
static void group_extents(const ts_collective *c, double extents[TS_MESH_MAX_DIMS]) {
    const ts_mesh *mesh = c->mesh;
    for (int d = 0; d < mesh->dim_count; d++) extents[d] = 1;
    for (int i = 0; i < c->group_count; i++) {
        const ts_mesh_digit *digit = &c->before.digits[c->group[i]];
        int64_t stride = digit->stride / mesh->devices_per_chip;
        for (int d = 0; d < mesh->dim_count && stride > 0; d++)
            if (stride >= mesh->strides[d] && stride < mesh->strides[d] * mesh->dims[d])
                extents[d] *= (double)digit->extent;
    }
}

/* As if the links of the dims in which the group lies were shared evenly. */
static double estimate_ps(const ts_collective *c) {
    const ts_mesh *mesh = c->mesh;
    double extents[TS_MESH_MAX_DIMS], chips = 1, longest = 1, hops = 0, links = 0;
    if (c->kind == TS_COLLECTIVE_SLICE) return 0;
    group_extents(c, extents);
    for (int d = 0; d < mesh->dim_count; d++) {
        chips *= extents[d];
        links += extents[d] > 1 ? 2 : 0;
        hops += extents[d] - 1;
        if (extents[d] > longest) longest = extents[d];
    }
    double before = (double)ts_sharding_elements(&c->before), after = (double)ts_sharding_elements(&c->after);
    double lacks = (after > before ? after : before) * (chips - 1) / chips / links;
    if (c->kind == TS_COLLECTIVE_ALL_REDUCE) lacks *= 2;
    if (c->kind < TS_COLLECTIVE_REDUCE_SCATTER) lacks = after * longest / 8;
    double bytes = links > 0 ? lacks * c->after.shape->element_bits / 8 : 0;
    return (double)mesh->ici->launch_ps + hops * (double)mesh->ici->hop_ps + ts_mesh_link_ps(mesh, bytes);
}

/* Of each step [from * nodes + to]; HUGE_VAL: there is none. */
static double *estimate_steps(const search *s) {
    int64_t nodes = s->ways.node_count;
    double *steps = TS_NEW_ARRAY(s->arena, double, nodes *nodes);
    ts_collective c;
    for (int64_t from = 0; from < nodes; from++)
        for (int64_t to = 0; to < nodes; to++) {
            bool may = from != to && s->nodes[from].may && s->nodes[to].may &&
                       draft_step(s, &s->shardings[from], &s->shardings[to], &c);
            steps[from * nodes + to] = may ? estimate_ps(&c) : HUGE_VAL;
        }
    return steps;
}

/* The way of the least sum (Dijkstra's algorithm), as nodes; how many steps, 0: too many. */
static int find_least(const search *s, const double *steps, int64_t *way) {
    int64_t nodes = s->ways.node_count, at = 0, *before = TS_NEW_ARRAY(s->scratch, int64_t, nodes);
    double *sum = TS_NEW_ARRAY(s->scratch, double, nodes);
    bool *done = TS_NEW_ARRAY(s->scratch, bool, nodes);
    for (int64_t n = 1; n < nodes; n++) sum[n] = HUGE_VAL;
    while (at != s->ways.goal_node) {
        done[at] = true;
        int64_t next = s->ways.goal_node;
        for (int64_t n = 0; n < nodes; n++) {
            double there = sum[at] + steps[at * nodes + n];
            if (there < sum[n]) sum[n] = there, before[n] = at;
            if (!done[n] && sum[n] < sum[next]) next = n;
        }
        at = next;
    }
    int count = 0;
    for (; at != 0; at = before[at])
        if (++count > TS_RESHARD_MAX_COLLECTIVES) return 0;
    at = s->ways.goal_node;
    for (int i = count; i >= 0; i--, at = before[at]) way[i] = at;
    return count;
}

/* The steps of a way get their prices; the sum. */
static double price_way(search *s, double *steps, bool *priced, const int64_t *way, int count, bool *new) {
    double sum = 0;
    *new = false;
    for (int i = 0; i < count; i++) {
        int64_t edge = way[i] * s->ways.node_count + way[i + 1];
        ts_collective c;
        ts_collective_price price;
        if (!priced[edge]) {
            (void)draft_step(s, &s->shardings[way[i]], &s->shardings[way[i + 1]], &c);
            ts_arena_reset(s->scratch);
            ts_collective_choose(s->scratch, s->request->choice, &c, &price);
            s->visits += price.visited;
            steps[edge] = price.ps;
            *new = priced[edge] = true;
        }
        sum += steps[edge];
    }
    return sum;
}

/* The best way by estimates gets its prices, and so does the next best with these, until the best has them
 * all (Dellin and Srinivasa, "A unifying formalism for shortest path problems with expensive edge
 * evaluations", 2016). */
static void guess_way(search *s) {
    enum { GUESSES = 32 };
    double *steps = estimate_steps(s);
    bool *priced = TS_NEW_ARRAY(s->arena, bool, s->ways.node_count * s->ways.node_count), new = true;
    for (int i = 0; i < GUESSES && new && s->visits < MOST_VISITS; i++) {
        int64_t way[TS_RESHARD_MAX_COLLECTIVES + 1];
        ts_arena_reset(s->scratch);
        int count = find_least(s, steps, way);
        if (count == 0) return;
        double sum = price_way(s, steps, priced, way, count, &new);
        if (sum >= s->guess_ps) continue;
        s->guess_ps = sum;
        s->guess_steps = count;
        memcpy(s->guess, way, sizeof way);
    }
}

/* ---- The cheapest way ---- */

/* What each device lacks comes over all links of its chip at best; splitting copies takes nothing. */
static double least_ps(const search *s, const ts_sharding *from, const ts_sharding *to) {
    const ts_mesh *mesh = s->request->mesh;
    bool moves = false;
    for (int i = 0; i < from->digit_count; i++)
        moves = moves || (from->digits[i].kind != TS_DIGIT_REPLICA &&
                          !reshard_same_placement(&from->digits[i], &to->digits[i]));
    if (!moves) return 0;
    if (mesh->devices_per_chip > 1) return (double)mesh->ici->launch_ps; /* it may be within chips */
    double lacks = (double)ts_sharding_elements(to) - (double)ts_sharding_elements(from);
    double bytes = lacks > 0 ? lacks * to->shape->element_bits / 8 : 0;
    return (double)(mesh->ici->launch_ps + mesh->ici->hop_ps) +
           ts_mesh_link_ps(mesh, bytes / (2 * mesh->dim_count));
}

static void try_step(search *s, int64_t from, int64_t to) {
    ts_collective c;
    ts_collective_price price;
    reached *a = &s->nodes[from], *b = &s->nodes[to], *goal = &s->nodes[s->ways.goal_node];
    bool detour = b->detours > 0;
    if (!b->may || b->done || a->steps == TS_RESHARD_MAX_COLLECTIVES || (detour && s->rules.detours == 0))
        return;
    if (s->visits >= MOST_VISITS && (goal->seen || s->guess_ps < HUGE_VAL)) return;
    double least = a->ps + least_ps(s, &s->shardings[from], &s->shardings[to]);
    double most = goal->seen && goal->ps < s->guess_ps ? goal->ps : s->guess_ps;
    if ((b->seen && least >= b->ps) || least + b->least_left >= most) return;
    if (!draft_step(s, &s->shardings[from], &s->shardings[to], &c)) return;
    ts_arena_reset(s->scratch);
    s->rules.detours -= detour;
    ts_collective_choose(s->scratch, s->request->choice, &c, &price);
    s->visits += price.visited;
    double ps = a->ps + price.ps;
    if (b->seen && (ps > b->ps || (ps == b->ps && a->steps + 1 >= b->steps))) return;
    b->seen = true;
    b->ps = ps;
    b->steps = a->steps + 1;
    b->before = from;
}

static int64_t next_node(const search *s) {
    int64_t best = -1;
    for (int64_t n = 0; n < s->ways.node_count; n++)
        if (s->nodes[n].seen && !s->nodes[n].done && (best < 0 || s->nodes[n].ps < s->nodes[best].ps))
            best = n;
    return best;
}

static void set_nodes(search *s) {
    s->nodes = TS_NEW_ARRAY(s->arena, reached, s->ways.node_count);
    for (int64_t n = 0; n < s->ways.node_count; n++) {
        s->nodes[n].may = reshard_node(&s->ways, n, &s->shardings[n]);
        s->nodes[n].detours = reshard_detours(&s->ways, n);
        s->nodes[n].least_left = least_ps(s, &s->shardings[n], &s->ways.goal);
    }
    s->nodes[0].seen = true;
    s->guess_ps = HUGE_VAL;
}

/* Dijkstra's algorithm; the goal is tried first from every node, so that what is dearer is left out early. */
static bool find_way(search *s, way_rules rules) {
    int64_t goal = s->ways.goal_node;
    s->rules = rules;
    s->visits = 0;
    set_nodes(s);
    if (rules.detours > 0 && rules.detours < s->ways.node_count) guess_way(s);
    for (int64_t at = 0; at >= 0 && at != goal; at = next_node(s)) {
        s->nodes[at].done = true;
        try_step(s, at, goal);
        for (int away = 0; away <= s->ways.bundle_count; away++)
            for (int64_t n = 1; n < s->ways.node_count; n++)
                if (n != goal && s->nodes[n].detours == away) try_step(s, at, n);
    }
    return s->nodes[goal].seen || s->guess_ps < HUGE_VAL;
}

/* The nodes of the way that was found. */
static int list_way(const search *s, int64_t *nodes) {
    int64_t at = s->ways.goal_node;
    if (!s->nodes[at].seen || s->guess_ps < s->nodes[at].ps) {
        memcpy(nodes, s->guess, sizeof s->guess);
        return s->guess_steps;
    }
    for (int i = s->nodes[at].steps; i >= 0; i--) {
        nodes[i] = at;
        at = s->nodes[at].before;
    }
    return s->nodes[s->ways.goal_node].steps;
}

static void make_plan(search *s, ts_reshard_plan *plan) {
    int64_t nodes[TS_RESHARD_MAX_COLLECTIVES + 1];
    plan->count = list_way(s, nodes);
    plan->visits = s->visits;
    for (int i = 0; i < plan->count; i++) {
        (void)draft_step(s, &s->shardings[nodes[i]], &s->shardings[nodes[i + 1]], &plan->collectives[i]);
        ts_collective *c = &plan->collectives[i];
        if (c->kind == TS_COLLECTIVE_POINT_TO_POINT) c->kind = kind_of(s->scratch, c);
        ts_collective_choose(s->arena, s->request->choice, c, &plan->prices[i]);
    }
    for (int i = 0; i < plan->count; i++) {
        plan->ps += plan->prices[i].ps;
        plan->bound_ps += plan->prices[i].bound_ps;
    }
}

/* ---- Requests ---- */

static bool check_request(ts_error *err, const ts_sharding *a, const ts_sharding *b) {
    return (a->shape->dtype == b->shape->dtype && ts_integers_equal(a->dims, a->rank, b->dims, b->rank)) ||
           ts_error_set(err, TS_ERROR_INPUT,
                        "the source and the destination must be one array: equal types and dims");
}

/* ---- Sums that are made of values: one device keeps what it has, for the others it is 0 ---- */

static bool becomes_sum(const ts_sharding *a, const ts_sharding *b, int digit) {
    return b->digits[digit].kind == TS_DIGIT_PARTIAL && a->digits[digit].kind != TS_DIGIT_PARTIAL;
}

/* Does no other digit come into that dim, or change its place in it? */
static bool stays_split(const ts_sharding *a, const ts_sharding *b, int dim) {
    bool same = true;
    for (int i = 0; i < a->digit_count; i++) {
        const ts_mesh_digit *to = &b->digits[i];
        bool uses = to->kind == TS_DIGIT_SHARD && to->dim == dim;
        same = same && (!uses || reshard_same_placement(&a->digits[i], to));
    }
    return same;
}

/* What is reached before such sums: their digits are as in the source, or copies. True: there are any. */
static bool leave_out_sums(const ts_sharding *a, ts_sharding *b) {
    const ts_sharding end = *b;
    bool any = false;
    for (int i = 0; i < a->digit_count; i++) {
        if (!becomes_sum(a, &end, i)) continue;
        bool kept = a->digits[i].kind == TS_DIGIT_REPLICA || stays_split(a, &end, a->digits[i].dim);
        b->digits[i] = a->digits[i];
        if (!kept) b->digits[i].kind = TS_DIGIT_REPLICA;
        any = true;
    }
    return any;
}

/* The last step: nothing moves; a device keeps what it has, or a part of that. */
static void keep_parts(ts_arena *arena, const ts_reshard_request *request, const ts_sharding *before,
                       ts_reshard_plan *plan) {
    ts_collective *c = &plan->collectives[plan->count];
    *c = (ts_collective){
        .mesh = request->mesh, .kind = TS_COLLECTIVE_SLICE, .before = *before, .after = plan->destination};
    for (int i = 0; i < before->digit_count; i++)
        if (before->digits[i].kind != c->after.digits[i].kind) c->group[c->group_count++] = i;
    ts_collective_choose(arena, request->choice, c, &plan->prices[plan->count++]);
}

static bool find_any_way(search *s, const ts_reshard_request *request) {
    enum { DETOURS = 1 << 14, LEAST_DETOURS = 64 }; /* by chip: half a second at most */
    int64_t chips = request->mesh->chip_count;
    int64_t detours = chips * LEAST_DETOURS > DETOURS ? LEAST_DETOURS : DETOURS / chips;
    bool direct = request->choice.algorithm == TS_ALGORITHM_DIRECT, forced = request->choice.forced;
    const way_rules tries[] = {{forced ? 0 : detours, direct || !forced}, {detours, direct}, {0, true}};
    for (int i = 0; i < 3; i++)
        if (find_way(s, tries[i])) return true;
    return false;
}

/* ---- Shardings without common parts ---- */

static bool has_sums(const ts_sharding *sharding) {
    bool any = false;
    for (int i = 0; i < sharding->digit_count; i++) any = any || sharding->digits[i].kind == TS_DIGIT_PARTIAL;
    return any;
}

static ts_sharding all_copies(const ts_sharding *sharding) {
    ts_sharding copies = *sharding;
    for (int i = 0; i < copies.digit_count; i++) copies.digits[i].kind = TS_DIGIT_REPLICA;
    return copies;
}

/* Every device gets all of it, and keeps its part: so do compilers ("full rematerialization" in XLA). */
static bool reshard_by_copies(ts_error *err, ts_arena *arena, const ts_reshard_request *request,
                              ts_reshard_plan *plan) {
    const ts_sharding from = all_copies(request->source), to = all_copies(request->destination);
    ts_reshard_request gather = *request;
    gather.destination = &from;
    if (has_sums(request->source) && has_sums(request->destination))
        return ts_error_set(err, TS_ERROR_UNMODELLED,
                            "the two shardings cut the devices in ways that have no common parts, and both "
                            "have partial sums");
    if (!ts_reshard(err, arena, &gather, plan)) return false;
    plan->destination = *request->destination;
    keep_parts(arena, request, &to, plan);
    return true;
}

bool ts_reshard(ts_error *err, ts_arena *arena, const ts_reshard_request *request, ts_reshard_plan *plan) {
    search *s = TS_NEW(arena, search);
    *s = (search){.arena = arena, .request = request};
    *plan = (ts_reshard_plan){
        .mesh = request->mesh, .source = *request->source, .destination = *request->destination};
    if (!check_request(err, request->source, request->destination)) return false;
    if (!ts_sharding_refine(&plan->source, &plan->destination))
        return reshard_by_copies(err, arena, request, plan);
    ts_sharding_cut_at_dims(&plan->source, &plan->destination, request->mesh);
    ts_sharding goal = plan->destination;
    bool sums = leave_out_sums(&plan->source, &goal);
    reshard_find_ways(arena, &plan->source, &goal, &s->ways);
    s->shardings = TS_NEW_ARRAY(arena, ts_sharding, s->ways.node_count);
    s->scratch = ts_arena_new();
    bool found = find_any_way(s, request);
    assert(found); /* sums become copies, and all else moves at once */
    make_plan(s, plan);
    if (sums) keep_parts(arena, request, &goal, plan);
    ts_arena_free(s->scratch);
    return true;
}
