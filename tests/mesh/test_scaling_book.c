/* Worked examples of "How to Scale Your Model", chapter 3, "Sharded Matrices and How to Multiply Them" (jax-ml.github.io/
 * scaling-book/sharding, commit 04d8de58): the book's time, and ours. The book leaves out that a device has its own part
 * already, (n-1)/n, the launch of a collective, and hops where bytes bound; it states its hops apart. So ours is the
 * book's times (n-1)/n, and a launch of 3.8 us and the hops on top. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "mesh/reshard.h"

/* Without a launch, as in the book. */
static const char *const bare[] = {"ici.launch=0 ns", "ici.flit=1 B"};

static double plan_us(const char *machine, const char *axes, const char *topology, const char *from,
                      const char *to, double *hop_us) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_mesh mesh;
    ts_sharding ends[2];
    ts_reshard_plan plan;
    ts_source a = {"source", from, strlen(from)}, b = {"destination", to, strlen(to)};
    ts_mesh_request at = {.machine = ts_machine_load_with(&err, arena, machine, "", bare, 2),
                          .axes = {"--mesh", axes, strlen(axes)}};
    if (topology) at.topology = (ts_source){"--topology", topology, strlen(topology)};
    ts_reshard_request request = {.mesh = &mesh, .source = &ends[0], .destination = &ends[1]};
    if (!at.machine || !ts_mesh_read(&err, arena, &at, &mesh) ||
        !ts_sharding_parse(&err, arena, &mesh, &a, &ends[0]) ||
        !ts_sharding_parse(&err, arena, &mesh, &b, &ends[1]) || !ts_reshard(&err, arena, &request, &plan))
        fail_msg("%s -> %s: %s", from, to, err.message);
    int64_t hops = 0;
    for (int i = 0; i < plan.count; i++) hops += plan.prices[i].hops;
    *hop_us = (double)hops * (double)mesh.ici->hop_ps / 1e6;
    ts_arena_free(arena);
    return plan.ps / 1e6;
}

TEST(test_book) {
    static const struct {
        const char *machine, *axes, *topology, *from, *to;
        double book_us, ours_us; /* ours without hops: what is behind it says why it differs */
        double hops_us;
    } rows[] = {
        /* Pop Quiz 2: v5e, no ring of 4, "more like 3 * 8.4e6 / 4.5e10": the part at an end goes 3 hops;
         * here of an eighth, for X splits the other dim; a ring on a line comes back over 3 hops in each of 3 steps */
        {"tpu-v5e", "X=8,Y=4", NULL, "bf16[2048,8192] P('Y','X')", "bf16[2048,8192] P(None,'X')", 560 / 8.0,
         559.24 / 8, 9},
        /* Question 2, 1: AllGather_X([B_X, D_Y]) on v4p 4x4x4: 2 B D / (Y 9e10). Here Z splits D as well, so it is a
         * quarter of that: copies along Z would each pass on a part, which the book leaves out */
        {"tpu-v4", "X=4,Y=4,Z=4", NULL, "bf16[1024,4096] P('X',('Y','Z'))",
         "bf16[1024,4096] P(None,('Y','Z'))", 23.3 / 4, 23.3 / 4 * 3 / 4, 3},
        /* Question 2, 3: AllGather_XY: 2 B D / (2 9e10); Z splits another dim, so that it cannot help */
        {"tpu-v4", "X=4,Y=4,Z=4", NULL, "bf16[4,1024,4096] P('Z','X','Y')", "bf16[4,1024,4096] P('Z')", 46.6,
         46.6 * 15 / 16, 6},
        /* Question 2, 4: the sum over Z, of 2 B D / (X Y) bytes: the book has one pass, 5.8 us; a sum is two */
        {"tpu-v4", "X=4,Y=4,Z=4", NULL, "bf16[1024,4096] P('X','Y',unreduced={'Z'})",
         "bf16[1024,4096] P('X','Y')", 2 * 5.83, 2 * 5.83 * 3 / 4, 6},
        /* Question 3: B = 128 on X: 2 hops, for each sends to all others at once, both ways */
        {"tpu-v4", "X=4", NULL, "bf16[128] P('X')", "bf16[128]", 0, 128 / 45000.0, 2},
        /* The table of chapter 3: an all-gather of V is V / W, W both ways; a reduce-scatter as much; an all-reduce
         * twice; an all-to-all a quarter: here of n/(n-1), for it has no own part to leave out. V = 900 MB: 10,000 us */
        {"tpu-v5e", "X=16", NULL, "u8[16,56250000] P('X')", "u8[16,56250000]", 10000, 9375, 15},
        {"tpu-v5e", "X=16", NULL, "u8[16,56250000] P(unreduced={'X'})", "u8[16,56250000] P('X')", 10000, 9375,
         15},
        {"tpu-v5e", "X=16", NULL, "u8[16,56250000] P(unreduced={'X'})", "u8[16,56250000]", 20000, 18750, 30},
        {"tpu-v5e", "X=16", NULL, "u8[16,56250000] P('X')", "u8[16,56250000] P(None,'X')", 2500, 2500, 8},
        /* and over two axes half of that */
        {"tpu-v5e", "X=16,Y=16", NULL, "u8[256,3515625] P(('X','Y'))", "u8[256,3515625]", 5000,
         5000 * 255 / 256.0, 30},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double hops,
            us = plan_us(rows[i].machine, rows[i].axes, rows[i].topology, rows[i].from, rows[i].to, &hops);
        if (fabs(us - hops - rows[i].ours_us) > 0.005 * rows[i].ours_us ||
            fabs(hops - rows[i].hops_us) > 1e-9)
            fail_msg("row %zu: %.3f us and %.3f us of hops, expected %.3f and %.3f, the book %.3f", i,
                     us - hops, hops, rows[i].ours_us, rows[i].hops_us, rows[i].book_us);
    }
}

/* Case 4, and what needs no communication: both products of an axis that is taken twice cost an all-gather of one. */
TEST(test_products) {
    double hops;
    /* Cases 1 and 2: A[I, J_X] is gathered; A[I_X, J] as it is */
    double gathered = plan_us("tpu-v4", "X=4", NULL, "bf16[4096,4096] P(None,'X')", "bf16[4096,4096]", &hops);
    assert_true(plan_us("tpu-v4", "X=4", NULL, "bf16[4096,4096] P('X')", "bf16[4096,4096] P('X')", &hops) ==
                0);
    /* Case 3: C[I, K] {U_X} as a sum is twice that, as a part, C[I, K_X], once: a reduce-scatter is the gather's
     * derivative */
    double sum =
        plan_us("tpu-v4", "X=4", NULL, "bf16[4096,4096] P(unreduced={'X'})", "bf16[4096,4096]", &hops);
    double part = plan_us("tpu-v4", "X=4", NULL, "bf16[4096,4096] P(unreduced={'X'})",
                          "bf16[4096,4096] P(None,'X')", &hops);
    assert_true(fabs(sum / gathered - 2) < 1e-9 && fabs(part / gathered - 1) < 1e-9);
}
