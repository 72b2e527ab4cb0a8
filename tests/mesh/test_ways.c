/* Where the digits of a sharding can be on the way to another: by hand from the rules of reshard_ways.c. */
#include <string.h>

#include "mesh/reshard_private.h"
#include "tests/support/group.h"

static ts_error err;

static ts_sharding parse(const ts_mesh *mesh, const char *array, const char *spec) {
    ts_text text;
    ts_sharding out;
    text = ts_text_begin(arena);
    ts_text_add(&text, "f32%s %s", array, spec);
    ts_source source = {"array", text.bytes, text.length};
    if (!ts_sharding_parse(&err, arena, mesh, &source, &out)) fail_msg("%s: %s", text.bytes, err.message);
    return out;
}

/* topology: NULL as the axes. */
static void find_on(const char *topology, const char *axes, const char *array, const char *from,
                    const char *to, reshard_ways *ways) {
    ts_mesh mesh;
    ts_mesh_request request = {.machine = ts_machine_load(&err, arena, "tpu-v4"),
                               .axes = {"mesh", axes, strlen(axes)}};
    if (topology) request.topology = (ts_source){"topology", topology, strlen(topology)};
    if (!ts_mesh_read(&err, arena, &request, &mesh)) fail_msg("%s: %s", axes, err.message);
    ts_sharding start = parse(&mesh, array, from), goal = parse(&mesh, array, to);
    reshard_find_ways(arena, &start, &goal, ways);
}

static void find(const char *axes, const char *array, const char *from, const char *to, reshard_ways *ways) {
    find_on(NULL, axes, array, from, to, ways);
}

/* A bundle a line: its digits, then its placements: R copies, + partial, 0/8 in dim 0 with weight 8. */
static const char *text_of(const reshard_ways *ways) {
    ts_text t;
    t = ts_text_begin(arena);
    for (int at = 0; at < ways->bundle_count; at++) {
        const reshard_bundle *b = &ways->bundles[at];
        for (int i = 0; i < b->count; i++) ts_text_add(&t, "%s%d", i > 0 ? "," : "", b->digits[i]);
        for (int k = 0; k < b->placement_count; k++)
            for (int i = 0; i < b->count; i++) {
                const ts_mesh_digit *d = &b->placements[k][i];
                ts_text_add(&t, "%s", i > 0 ? "," : k == 0 ? ": " : " ");
                if (d->kind == TS_DIGIT_SHARD)
                    ts_text_add(&t, "%d/%d", d->dim, (int)d->weight);
                else
                    ts_text_add(&t, "%s", d->kind == TS_DIGIT_REPLICA ? "R" : "+");
            }
        ts_text_add(&t, "\n");
    }
    return t.bytes;
}

static const struct {
    const char *axes, *array, *from, *to, *bundles;
    int goal_node, node_count;
} rows[] = {
    /* Each dim's first and last part of 2 or 4, and of all 8. */
    {"a=2,b=4", "[64,32]", "P('a', None)", "P(None, 'a')", "0: 0/32 1/16 R 0/8 1/4\n1: R 0/16 0/8 1/8 1/4\n",
     1, 25},
    /* One run; as many parts as there are devices. */
    {"a=2,b=4", "[64,32]", "P(('a','b'), None)", "P(None, ('a','b'))", "0,1: 0/32,0/8 1/16,1/4 R,R\n", 1, 3},
    /* Not in the order of devices. */
    {"a=2,b=4", "[64,32]", "P(('b','a'), None)", "P(None, ('b','a'))",
     "0: 0/8 1/4 R 0/32 1/16\n1: 0/16 1/8 R 0/8 1/4\n", 6, 25},
    /* In order at one end alone. */
    {"a=2,b=4", "[64,32]", "P(('a','b'), None)", "P('b', 'a')",
     "0: 0/32 1/16 R 0/8 1/4\n1: 0/8 0/16 R 1/8 1/4\n", 6, 25},
    /* What stays is in no bundle, unless it is copies. */
    {"a=2,b=4", "[64,32]", "P('a', 'b')", "P('a', None)", "1: 1/8 R 0/16 0/8 1/4\n", 1, 5},
    {"a=2,b=4", "[64,32]", "P(None, None)", "P(None, None)", "0,1: R,R 0/32,0/8 1/16,1/4\n", 0, 3},
    {"a=2,b=4", "[64,32]", "P(None, None, unreduced={'a'})", "P('a', None)",
     "0: + 0/32 R 0/8 1/16 1/4\n1: R 0/16 0/8 1/8 1/4\n", 1, 30},
    /* Dims that 3 do not divide, and of nothing. */
    {"a=2,b=3", "[6,32]", "P('a', None)", "P(None, 'a')", "0: 0/3 1/16 R 0/1\n1: R 0/2 0/1\n", 1, 12},
    {"a=2,b=4", "[0,32]", "P(None, 'a')", "P(None, None)", "0: 1/16 R 1/4\n1: R 1/8 1/4\n", 1, 9},
};

TEST(bundles_have_placements) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        reshard_ways ways;
        find(rows[i].axes, rows[i].array, rows[i].from, rows[i].to, &ways);
        assert_string_equal(text_of(&ways), rows[i].bundles);
        assert_int_equal(ways.goal_node, rows[i].goal_node);
        assert_int_equal(ways.node_count, rows[i].node_count);
        ts_sharding out;
        assert_true(reshard_node(&ways, 0, &out));
        for (int d = 0; d < out.digit_count; d++)
            assert_true(reshard_same_placement(&out.digits[d], &ways.start.digits[d]));
        assert_true(reshard_node(&ways, ways.goal_node, &out));
        for (int d = 0; d < out.digit_count; d++)
            assert_true(reshard_same_placement(&out.digits[d], &ways.goal.digits[d]));
    }
}

/* Every number of parts along the dim is that of some index. */
static bool has_holders(const ts_sharding *s, int dim) {
    bool seen[256] = {false};
    int parts = 1, found = 0;
    for (int64_t index = 0; index < s->dims[dim]; index++) {
        int at = 0;
        parts = 1;
        for (int d = 0; d < s->digit_count; d++) {
            if (s->digits[d].kind != TS_DIGIT_SHARD || s->digits[d].dim != dim) continue;
            at = at * (int)s->digits[d].extent + (int)(index / s->digits[d].weight % s->digits[d].extent);
            parts *= (int)s->digits[d].extent;
        }
        found += !seen[at];
        seen[at] = true;
    }
    return found == parts || s->dims[dim] == 0;
}

TEST(every_part_has_elements) {
    int bad = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        reshard_ways ways;
        find(rows[i].axes, rows[i].array, rows[i].from, rows[i].to, &ways);
        for (int64_t node = 0; node < ways.node_count; node++) {
            ts_sharding out;
            bool good = reshard_node(&ways, node, &out), expected = true;
            for (int dim = 0; dim < out.rank; dim++) expected = expected && has_holders(&out, dim);
            if (strchr(rows[i].axes, '3')) expected = expected && good; /* 2 and 3 apart are passed over */
            if (good != expected) fail_msg("row %zu, node %d: %d", i, (int)node, good);
            bad += !good;
        }
    }
    assert_true(bad > 0);
}

/* Where a bundle is neither at its start nor at its goal. */
TEST(detours_are_counted) {
    reshard_ways ways;
    find("a=2,b=4", "[64,32]", "P(('b','a'), None)", "P(None, ('b','a'))", &ways);
    static const struct {
        int first, second, detours;
    } nodes[] = {{0, 0, 0}, {1, 1, 0}, {0, 1, 0}, {2, 0, 1}, {1, 4, 1}, {3, 2, 2}};
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++)
        assert_int_equal(reshard_detours(&ways, nodes[i].first + 5 * nodes[i].second), nodes[i].detours);
}

/* Six bundles at most: else digits of one dim, then of one kind, go together. */
TEST(bundles_are_few) {
    static const char seven[] = "a=2,b=2,c=2,d=2,e=2,f=2,g=2", six[] = "a=2,b=2,c=2,d=2,e=2,f=2";
    reshard_ways ways;
    find_on("8x4x4", seven, "[128,128]", "P(('g','f','e','d','c','b','a'), None)",
            "P(None, ('g','f','e','d','c','b','a'))", &ways);
    assert_int_equal(ways.bundle_count, 1);
    assert_int_equal(ways.bundles[0].count, 7);
    find_on("8x4x4", seven, "[2,2,2,2,2,2,2]", "P('a','b','c','d','e','f','g')", "P()", &ways);
    assert_int_equal(ways.bundle_count, 1);
    find_on("4x4x4", six, "[2,2,2,2,2,2]", "P('a','b','c','d','e','f')", "P()", &ways);
    assert_int_equal(ways.bundle_count, 6);
    /* Nodes are at most 512, the last of the largest bundles has fewer: 3 ** 5 * 2 of 3 ** 6. */
    find_on("4x4x4", six, "[64,64,64,64,64,64]", "P('a','b','c','d','e','f')", "P()", &ways);
    for (int at = 0; at < 6; at++) assert_int_equal(ways.bundles[at].placement_count, at < 5 ? 3 : 2);
    assert_int_equal(ways.node_count, 486);
}

int main(void) { return run_all_tests(begin_group, end_group); }
