/* The shardings that a reshard may go through on its way. */
#include "mesh/reshard_private.h"

#include <string.h>

/* ---- Bundles ---- */

/* What makes digits one bundle: that they are one run of the device's number and of the array's index, that
 * they are of one dim, or of one kind; on both ends. */
typedef enum { ONE_RUN, ONE_DIM, ONE_KIND } likeness;

static bool alike(const ts_mesh_digit *a, const ts_mesh_digit *b, likeness how) {
    if (a->kind != b->kind) return false;
    if (how == ONE_RUN && a->stride != b->stride * b->extent) return false;
    if (how == ONE_KIND || a->kind != TS_DIGIT_SHARD) return true;
    return a->dim == b->dim && (how == ONE_DIM || a->weight == b->weight * b->extent);
}

bool reshard_same_placement(const ts_mesh_digit *a, const ts_mesh_digit *b) {
    if (a->kind != TS_DIGIT_SHARD || b->kind != TS_DIGIT_SHARD) return a->kind == b->kind;
    return a->dim == b->dim && a->weight == b->weight;
}

/* Shards and sums that stay are in no bundle. False: too many bundles, which kinds cannot make. */
static bool set_bundles(reshard_ways *w, likeness how) {
    w->bundle_count = 0;
    memset(w->bundles, 0, sizeof w->bundles);
    for (int i = 0; i < w->start.digit_count; i++) {
        const ts_mesh_digit *from = &w->start.digits[i], *to = &w->goal.digits[i];
        int at = 0;
        if (reshard_same_placement(from, to) && from->kind != TS_DIGIT_REPLICA) continue;
        for (; at < w->bundle_count; at++) {
            int last = w->bundles[at].digits[w->bundles[at].count - 1];
            if (alike(&w->start.digits[last], from, how) && alike(&w->goal.digits[last], to, how)) break;
        }
        if (at == RESHARD_BUNDLES) return false;
        if (at == w->bundle_count) w->bundle_count++;
        w->bundles[at].digits[w->bundles[at].count++] = i;
    }
    return true;
}

/* ---- Places ---- */

/* Unless there is one like it. */
static void add_placement(reshard_bundle *b, const ts_mesh_digit *digits) {
    if (b->placement_count == RESHARD_PLACEMENTS) return;
    for (int at = 0; at < b->placement_count; at++) {
        int same = 0;
        for (int i = 0; i < b->count; i++) same += reshard_same_placement(&b->placements[at][i], &digits[i]);
        if (same == b->count) return;
    }
    memcpy(b->placements[b->placement_count++], digits, sizeof *digits * (size_t)b->count);
}

static void add_end(reshard_bundle *b, const ts_sharding *end) {
    ts_mesh_digit digits[TS_SHARDING_MAX_DIGITS];
    for (int i = 0; i < b->count; i++) digits[i] = end->digits[b->digits[i]];
    add_placement(b, digits);
}

static void add_copies(reshard_bundle *b) {
    ts_mesh_digit digits[TS_SHARDING_MAX_DIGITS];
    for (int i = 0; i < b->count; i++) {
        digits[i] = b->placements[0][i];
        digits[i].kind = TS_DIGIT_REPLICA;
    }
    add_placement(b, digits);
}

/* Lets the bundle split a dim by all its digits in a row, the last with this weight. */
static void add_split(reshard_bundle *b, int dim, int64_t weight) {
    ts_mesh_digit digits[TS_SHARDING_MAX_DIGITS];
    for (int i = b->count - 1; i >= 0; i--) {
        digits[i] = b->placements[0][i];
        digits[i].kind = TS_DIGIT_SHARD;
        digits[i].dim = dim;
        digits[i].weight = weight;
        weight *= digits[i].extent;
    }
    add_placement(b, digits);
}

/* Lets the bundle split each dim as its outermost digit, and as its innermost. */
static void add_dims(const reshard_ways *w, reshard_bundle *b) {
    int64_t parts = 1, all = 1;
    for (int i = 0; i < b->count; i++) parts *= b->placements[0][i].extent;
    for (int i = 0; i < w->start.digit_count; i++) all *= w->start.digits[i].extent;
    for (int dim = 0; dim < w->start.rank; dim++) {
        if (w->start.dims[dim] == 0) continue; /* a part of it has no weight */
        if (w->start.dims[dim] % parts == 0) add_split(b, dim, w->start.dims[dim] / parts);
        if (w->start.dims[dim] % all == 0) add_split(b, dim, w->start.dims[dim] / all);
    }
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

static void set_placements(ts_arena *arena, reshard_ways *w) {
    for (int at = 0; at < w->bundle_count; at++) {
        reshard_bundle *b = &w->bundles[at];
        b->placements = ts_arena_alloc(arena, RESHARD_PLACEMENTS, sizeof *b->placements);
        add_end(b, &w->start);
        add_end(b, &w->goal);
        b->goal = b->placement_count - 1; /* copies that stay copies are there already */
        add_copies(b);
        add_dims(w, b);
    }
}

/* Leaves out placements of the bundle that has most, until there are few enough nodes. */
static void limit_nodes(reshard_ways *w) {
    for (;;) {
        int64_t nodes = 1;
        reshard_bundle *most = &w->bundles[0];
        for (int at = 0; at < w->bundle_count; at++) {
            nodes *= w->bundles[at].placement_count;
            if (w->bundles[at].placement_count >= most->placement_count) most = &w->bundles[at];
        }
        if (nodes <= RESHARD_NODES) return;
        most->placement_count--;
    }
}

/* ---- Nodes ---- */

void reshard_find_ways(ts_arena *arena, const ts_sharding *start, const ts_sharding *goal,
                       reshard_ways *ways) {
    *ways = (reshard_ways){.start = *start, .goal = *goal, .node_count = 1};
    for (likeness how = ONE_RUN; !set_bundles(ways, how); how++) continue;
    set_placements(arena, ways);
    limit_nodes(ways);
    for (int at = 0; at < ways->bundle_count; at++) {
        ways->goal_node += ways->bundles[at].goal * ways->node_count;
        ways->node_count *= ways->bundles[at].placement_count;
    }
}

bool reshard_node(const reshard_ways *ways, int64_t node, ts_sharding *out) {
    *out = ways->start;
    for (int at = 0; at < ways->bundle_count; at++) {
        const reshard_bundle *b = &ways->bundles[at];
        const ts_mesh_digit *placement = b->placements[node % b->placement_count];
        for (int i = 0; i < b->count; i++) out->digits[b->digits[i]] = placement[i];
        node /= b->placement_count;
    }
    return apart(out);
}

int reshard_detours(const reshard_ways *ways, int64_t node) {
    int count = 0;
    for (int at = 0; at < ways->bundle_count; at++) {
        int64_t placement = node % ways->bundles[at].placement_count;
        count += placement != 0 && placement != ways->bundles[at].goal;
        node /= ways->bundles[at].placement_count;
    }
    return count;
}
