/* Large collectives on tori of rings: within 5 % of what their links can carry, by the formula beside each, which is
 * worked out here from the mesh's extents alone. */
#include "tests/support/rounds.h"
#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mesh/reshard.h"

/* v4 has rings at multiples of 4, and 45 GB/s a link and way: 45,000 bytes a microsecond. */
#define RATE 45000.0
enum { MOST_AXES = 3 };

/* B: bytes of the whole array a group has; n_i: extents of the group's dims; n their product; k of them. */
static double product(int count, const int64_t *extents) {
    double n = 1;
    for (int i = 0; i < count; i++) n *= (double)extents[i];
    return n;
}
/* Every chip lacks B (n-1)/n, and has 2 k links. */
static double gather_us(int k, const int64_t *extents, double bytes) {
    double n = product(k, extents);
    return bytes * (n - 1) / n / (2 * k) / RATE;
}
/* Every element is sent n-1 times to be added, and n-1 times as a sum. */
static double reduce_us(int k, const int64_t *extents, double bytes) {
    return 2 * gather_us(k, extents, bytes);
}
/* Of B/n on each chip half goes n_i/4 hops, or on average as far, in the longest dim, over 2 links. */
static double exchange_us(int k, const int64_t *extents, double bytes) {
    double most = 0;
    for (int i = 0; i < k; i++)
        if ((double)extents[i] > most) most = (double)extents[i];
    return bytes / product(k, extents) * most / 8 / RATE;
}

/* %s: the axes of the group. The others split the last dim, so that groups have data of their own. */
static const struct {
    const char *from, *to;
    ts_collective_kind kind;
    double (*bound_us)(int k, const int64_t *extents, double bytes);
} collectives[] = {
    {"P((%s)", "P(None", TS_COLLECTIVE_ALL_GATHER, gather_us},
    {"P(unreduced={%s}", "P((%s)", TS_COLLECTIVE_REDUCE_SCATTER, gather_us},
    {"P(unreduced={%s}", "P(None", TS_COLLECTIVE_ALL_REDUCE, reduce_us},
    {"P((%s)", "P(None, (%s)", TS_COLLECTIVE_ALL_TO_ALL, exchange_us},
};

static const struct {
    int axes;
    int64_t extents[MOST_AXES];
} tori[] = {
    {1, {4}},       {1, {8}},        {1, {16}},       {1, {64}},       {2, {4, 4}},      {2, {4, 8}},
    {2, {16, 4}},   {2, {8, 16}},    {2, {16, 16}},   {2, {4, 32}},    {3, {4, 4, 4}},   {3, {4, 4, 8}},
    {3, {8, 4, 4}}, {3, {4, 8, 16}}, {3, {16, 4, 4}}, {3, {8, 8, 12}}, {3, {4, 16, 16}}, {3, {16, 16, 16}},
};

typedef struct {
    ts_arena *arena;
    ts_error err;
    ts_mesh mesh;
    ts_sharding ends[2];
    ts_reshard_plan plan;
} fixture;

static void begin(fixture *f, size_t torus) {
    char axes[64];
    size_t at = 0;
    memset(f, 0, sizeof *f);
    f->arena = ts_arena_new();
    for (int i = 0; i < tori[torus].axes; i++)
        at += (size_t)snprintf(axes + at, sizeof axes - at, "%s%c=%lld", i ? "," : "", 'a' + i,
                               (long long)tori[torus].extents[i]);
    ts_mesh_request request = {.machine = ts_machine_load(&f->err, f->arena, "tpu-v4"),
                               .axes = {"--mesh", axes, strlen(axes)}};
    if (!request.machine || !ts_mesh_read(&f->err, f->arena, &request, &f->mesh))
        fail_msg("%s: %s", axes, f->err.message);
}

/* "P(('a','b')" becomes a sharding of the array by the first `grouped` axes, and of its last dim by the others. */
static void parse(fixture *f, int end, const char *format, int axes, int grouped) {
    static const char all[] = "'a','b','c'";
    char text[160];
    const char *mark = strstr(format, "%s"), *sums = strstr(format, "unreduced");
    size_t at = (size_t)snprintf(text, sizeof text, "bf16[49152,49152,768] P(");
    if (mark && !sums)
        at += (size_t)snprintf(text + at, sizeof text - at, "%.*s%.*s)", (int)(mark - format - 2), format + 2,
                               4 * grouped - 1, all);
    else
        at += (size_t)snprintf(text + at, sizeof text - at, "None");
    at += (size_t)snprintf(text + at, sizeof text - at, strstr(format, "None, ") ? ", (" : ", None, (");
    at += (size_t)snprintf(text + at, sizeof text - at, "%.*s)", 4 * (axes - grouped), all + 4 * grouped);
    if (sums) at += (size_t)snprintf(text + at, sizeof text - at, ", unreduced={%.*s}", 4 * grouped - 1, all);
    snprintf(text + at, sizeof text - at, ")");
    ts_source source = {"sharding", text, strlen(text)};
    if (!ts_sharding_parse(&f->err, f->arena, &f->mesh, &source, &f->ends[end]))
        fail_msg("%s: %s", text, f->err.message);
}

static void check(size_t torus, size_t row, int k) {
    fixture f;
    begin(&f, torus);
    parse(&f, 0, collectives[row].from, tori[torus].axes, k);
    parse(&f, 1, collectives[row].to, tori[torus].axes, k);
    ts_reshard_request request = {.mesh = &f.mesh, .source = &f.ends[0], .destination = &f.ends[1]};
    assert_true(ts_reshard(&f.err, f.arena, &request, &f.plan));
    double groups = product(tori[torus].axes - k, tori[torus].extents + k);
    double bytes = 2 * 49152.0 * 49152.0 * 768.0 / groups;
    double bound = collectives[row].bound_us(k, tori[torus].extents, bytes);
    double us = f.plan.ps / 1e6, ours = f.plan.bound_ps / 1e6;
    if (f.plan.count != 1 || f.plan.collectives[0].kind != collectives[row].kind ||
        fabs(ours / bound - 1) > 1e-6 || us < bound || us > 1.05 * bound)
        fail_msg("torus %zu, %d axes, row %zu: %s by %s in %d pieces, %.2f us, bound %.2f us, ours %.2f us",
                 torus, k, row, ts_collective_name(f.plan.collectives[0].kind),
                 ts_algorithm_name(f.plan.collectives[0].algorithm), f.plan.collectives[0].chunks, us, bound,
                 ours);
    ts_arena_free(f.arena);
}

TEST(test_large) {
    int one = 0;
    for (size_t torus = 0; torus < sizeof tori / sizeof *tori; torus++)
        for (size_t row = 0; row < sizeof collectives / sizeof *collectives; row++)
            for (int k = 1; k <= tori[torus].axes; k++)
                if (one++ % stride(1, 9) == 0) check(torus, row, k);
}

/* Two axes change places and copies move from one axis to another: with the copies split all elements are exchanged,
 * then gathered over one axis. Few of the ways to that can be priced on so many chips. */
TEST(test_split_copies) {
    for (size_t torus = 0; torus < sizeof tori / sizeof *tori; torus++) {
        const int64_t *n = tori[torus].extents;
        if (n[0] * n[1] * n[2] < 4096 || n[0] != n[1] || n[1] != n[2]) continue;
        static const char *const texts[] = {"f32[4096,4096,4096] P('a','b')",
                                            "f32[4096,4096,4096] P('b','c')"};
        fixture f;
        begin(&f, torus);
        for (int end = 0; end < 2; end++) {
            ts_source source = {"sharding", texts[end], strlen(texts[end])};
            assert_true(ts_sharding_parse(&f.err, f.arena, &f.mesh, &source, &f.ends[end]));
        }
        ts_reshard_request request = {.mesh = &f.mesh, .source = &f.ends[0], .destination = &f.ends[1]};
        assert_true(ts_reshard(&f.err, f.arena, &request, &f.plan));
        double bytes = 4 * 4096.0 * 4096.0 * 4096.0;
        double bound = exchange_us(3, n, bytes) + gather_us(1, n + 2, bytes / (double)(n[0] * n[1]));
        double us = f.plan.ps / 1e6;
        if (us < bound || us > 1.05 * bound) fail_msg("torus %zu: %.2f us, bound %.2f us", torus, us, bound);
        ts_arena_free(f.arena);
    }
}
