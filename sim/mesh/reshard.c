/* Planning: which collectives bring one sharding to another, in which order, by which algorithms. */
#include "mesh/reshard.h"

#include <assert.h>

#include "mesh/reshard_private.h"

typedef struct {
    bool may, seen, done;
    double ps, least_left; /* to get there; from there to the goal */
    int steps, detours;
    int64_t before;
} reached;

typedef struct {
    ts_arena *arena;
    const ts_reshard_request *request;
    reshard_ways ways;
    reached *nodes;
    ts_sharding *shardings; /* of the nodes */
    ts_arena *scratch;      /* of a step that is tried */
    bool copies_at_once;    /* direct transfers may make copies, or drop them */
    int64_t detours;        /* that may still be priced */
} search;

/* ---- One step ---- */

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

/* The one collective that does all of it; false: none does, or may. */
static bool find_kind(const search *s, const changes *n, ts_collective_kind *kind) {
    int sums = n->to_sum + n->to_split_sum, others = n->to_copy + n->to_shard + n->moved;
    bool at_once = s->request->choice.forced && s->request->choice.algorithm == TS_ALGORITHM_DIRECT;
    if (n->wrong || (sums && others) || (n->to_sum && n->to_split_sum)) return false;
    *kind = TS_COLLECTIVE_POINT_TO_POINT;
    if (sums)
        *kind = n->to_sum ? TS_COLLECTIVE_ALL_REDUCE : TS_COLLECTIVE_REDUCE_SCATTER;
    else if (others == n->to_shard)
        *kind = TS_COLLECTIVE_SLICE;
    else if (others == n->to_copy && !at_once)
        *kind = TS_COLLECTIVE_ALL_GATHER;
    return *kind != TS_COLLECTIVE_POINT_TO_POINT || s->copies_at_once || others == n->moved;
}

static bool draft_step(const search *s, const ts_sharding *from, const ts_sharding *to, ts_collective *c) {
    changes n = {0};
    *c = (ts_collective){.mesh = s->request->mesh, .before = *from, .after = *to};
    for (int i = 0; i < from->digit_count; i++) {
        if (reshard_same_place(&from->digits[i], &to->digits[i])) continue;
        c->group[c->group_count++] = i;
        count_change(&from->digits[i], &to->digits[i], &n);
    }
    return find_kind(s, &n, &c->kind);
}

/* ---- The cheapest way ---- */

/* What each device lacks comes over all links of its chip at best; splitting copies takes nothing. */
static double least_ps(const search *s, const ts_sharding *from, const ts_sharding *to) {
    const ts_mesh *mesh = s->request->mesh;
    bool moves = false;
    for (int i = 0; i < from->digit_count; i++)
        moves = moves || (from->digits[i].kind != TS_DIGIT_REPLICA &&
                          !reshard_same_place(&from->digits[i], &to->digits[i]));
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
    if (!b->may || b->done || a->steps == TS_RESHARD_MAX_COLLECTIVES || (detour && s->detours == 0)) return;
    double least = a->ps + least_ps(s, &s->shardings[from], &s->shardings[to]);
    if ((b->seen && least >= b->ps) || (goal->seen && least + b->least_left >= goal->ps)) return;
    if (!draft_step(s, &s->shardings[from], &s->shardings[to], &c)) return;
    ts_arena_reset(s->scratch);
    s->detours -= detour;
    ts_collective_choose(s->scratch, s->request->choice, &c, &price);
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
}

/* Dijkstra's algorithm; the goal is tried first from every node, so that what is dearer is left out early. */
static bool find_way(search *s, int64_t detours, bool copies_at_once) {
    int64_t goal = s->ways.goal_node;
    s->detours = detours;
    s->copies_at_once = copies_at_once;
    set_nodes(s);
    for (int64_t at = 0; at >= 0 && at != goal; at = next_node(s)) {
        s->nodes[at].done = true;
        try_step(s, at, goal);
        for (int away = 0; away <= s->ways.bundle_count; away++)
            for (int64_t n = 1; n < s->ways.node_count; n++)
                if (n != goal && s->nodes[n].detours == away) try_step(s, at, n);
    }
    return s->nodes[goal].seen;
}

static void make_plan(search *s, ts_reshard_plan *plan) {
    int64_t at = s->ways.goal_node;
    plan->count = s->nodes[at].steps;
    for (int i = plan->count - 1; i >= 0; at = s->nodes[at].before, i--) {
        (void)draft_step(s, &s->shardings[s->nodes[at].before], &s->shardings[at], &plan->collectives[i]);
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
    bool equal = a->rank == b->rank && a->shape->dtype == b->shape->dtype;
    for (int d = 0; d < a->rank && equal; d++) equal = a->dims[d] == b->dims[d];
    return equal || ts_error_set(err, TS_ERROR_INPUT,
                                 "the source and the destination must be one array: equal types "
                                 "and dims");
}

static bool check_sums(ts_error *err, const ts_sharding *a, const ts_sharding *b) {
    for (int i = 0; i < a->digit_count; i++)
        if (b->digits[i].kind == TS_DIGIT_PARTIAL && a->digits[i].kind != TS_DIGIT_PARTIAL)
            return ts_error_set(err, TS_ERROR_UNMODELLED,
                                "the destination has partial sums where the source has none");
    return true;
}

bool ts_reshard(ts_error *err, ts_arena *arena, const ts_reshard_request *request, ts_reshard_plan *plan) {
    search *s = TS_NEW(arena, search);
    *s = (search){.arena = arena, .request = request};
    *plan = (ts_reshard_plan){
        .mesh = request->mesh, .source = *request->source, .destination = *request->destination};
    if (!check_request(err, request->source, request->destination)) return false;
    if (!ts_sharding_refine(&plan->source, &plan->destination))
        return ts_error_set(err, TS_ERROR_UNMODELLED,
                            "the two shardings cut the devices in ways that have no common parts");
    if (!check_sums(err, &plan->source, &plan->destination)) return false;
    ts_sharding_cut_at_dims(&plan->source, &plan->destination, request->mesh);
    reshard_find_ways(arena, &plan->source, &plan->destination, &s->ways);
    s->shardings = TS_NEW_ARRAY(arena, ts_sharding, s->ways.node_count);
    s->scratch = ts_arena_new();
    enum { DETOURS = 1 << 14, LEAST_DETOURS = 64 }; /* by chip: half a second at most */
    int64_t chips = request->mesh->chip_count;
    int64_t detours = chips * LEAST_DETOURS > DETOURS ? LEAST_DETOURS : DETOURS / chips;
    bool direct = request->choice.algorithm == TS_ALGORITHM_DIRECT, forced = request->choice.forced;
    bool found = find_way(s, forced ? 0 : detours, direct || !forced) || find_way(s, detours, direct) ||
                 find_way(s, 0, true);
    assert(found); /* sums become copies, and all else moves at once */
    make_plan(s, plan);
    ts_arena_free(s->scratch);
    return true;
}
