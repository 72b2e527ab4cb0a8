/* Reshardings: random pairs are planned by every algorithm and made with bytes; a plan with a fault is found out; prices
 * are those of closed forms, worked out by hand. */
#include "tests/support/rounds.h"
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "mesh/even_private.h"
#include "mesh/reshard.h"
#include "tests/support/random_layout.h"

typedef struct {
    ts_arena *arena;
    ts_error err;
    ts_mesh mesh;
    ts_sharding source, destination;
    ts_reshard_plan plan;
} fixture;

static void begin(fixture *f, const char *machine, const char *axes, const char *topology) {
    memset(f, 0, sizeof *f);
    f->arena = ts_arena_new();
    const char *const whole = "ici.flit=1 B"; /* so that bytes are bytes */
    ts_mesh_request request = {.machine = ts_machine_load_with(&f->err, f->arena, machine, "", &whole, 1),
                               .axes = {"--mesh", axes, strlen(axes)}};
    if (topology) request.topology = (ts_source){"--topology", topology, strlen(topology)};
    if (!request.machine || !ts_mesh_read(&f->err, f->arena, &request, &f->mesh))
        fail_msg("%s: %s", axes, f->err.message);
}

static void parse(fixture *f, const char *text, ts_sharding *out) {
    ts_source source = {"source", text, strlen(text)};
    if (!ts_sharding_parse(&f->err, f->arena, &f->mesh, &source, out))
        fail_msg("%s: %s", text, f->err.message);
}

/* By the algorithm; TS_ALGORITHM_COUNT: by any. */
static bool make_plan(fixture *f, const char *from, const char *to, ts_algorithm algorithm) {
    parse(f, from, &f->source);
    parse(f, to, &f->destination);
    ts_reshard_request request = {.mesh = &f->mesh, .source = &f->source, .destination = &f->destination};
    request.choice = (ts_algorithm_choice){algorithm != TS_ALGORITHM_COUNT, algorithm};
    return ts_reshard(&f->err, f->arena, &request, &f->plan);
}

/* ---- Prices: v4 has 45 GB/s a link, 1 us a hop, 3.8 us to launch ---- */

TEST(test_prices) {
    static const struct {
        const char *mesh, *from, *to;
        ts_algorithm algorithm;
        ts_collective_kind kind;
        int64_t steps, link_bytes;
        double us, bound_us;
    } rows[] = {
        /* 8 chips of 45,000,000 bytes: a ring passes seven of them on, in halves either way, or has two rings of 4 and 2 */
        {"8", "u8[360000000] P('x')", "u8[360000000]", TS_ALGORITHM_RING, TS_COLLECTIVE_ALL_GATHER, 7,
         315000000, 3.8 + 7 + 7000, 3500},
        {"8", "u8[360000000] P('x')", "u8[360000000]", TS_ALGORITHM_BIDIRECTIONAL, TS_COLLECTIVE_ALL_GATHER,
         7, 157500000, 3.8 + 7 + 3500, 3500},
        {"8", "u8[360000000] P(unreduced={'x'})", "u8[360000000] P('x')", TS_ALGORITHM_RING,
         TS_COLLECTIVE_REDUCE_SCATTER, 7, 315000000, 3.8 + 7 + 7000, 3500},
        {"8", "u8[360000000] P(unreduced={'x'})", "u8[360000000]", TS_ALGORITHM_BIDIRECTIONAL,
         TS_COLLECTIVE_ALL_REDUCE, 14, 315000000, 3.8 + 14 + 7000, 7000},
        /* all at once: over each link what goes 1, 2, 3 hops up, and of 4 hops half */
        {"8", "u8[360000000] P('x')", "u8[360000000]", TS_ALGORITHM_DIRECT, TS_COLLECTIVE_ALL_GATHER, 1,
         360000000, 3.8 + 4 + 8000, 3500},
        /* which is best where hops take longer than bytes */
        {"8", "u8[3600] P('x')", "u8[3600]", TS_ALGORITHM_COUNT, TS_COLLECTIVE_ALL_GATHER, 1, 3600,
         3.8 + 4 + 0.08, 0.035},
        /* faster at once than to gather one dim and then turn the other */
        {"4x4", "u8[4,4,45000000] P('x','y')", "u8[4,4,45000000] P('y')", TS_ALGORITHM_COUNT,
         TS_COLLECTIVE_POINT_TO_POINT, 1, 90000000, 3.8 + 4 + 2000, 1000},
        /* 4 x 4: each of four shares goes round one dim, then, four times as large, round the other */
        {"4x4", "u8[720000000] P(('x','y'))", "u8[720000000]", TS_ALGORITHM_TORUS, TS_COLLECTIVE_ALL_GATHER,
         6, 168750000, 3.8 + 6 + 3750, 3750},
        {"4x4", "u8[720000000] P(('x','y'))", "u8[720000000]", TS_ALGORITHM_RING, TS_COLLECTIVE_ALL_GATHER,
         15, 675000000, 3.8 + 15 + 15000, 3750},
        /* a line of 2: half of the other's elements each way, over one link each */
        {"2", "u8[2,90000000] P('x')", "u8[2,90000000] P(None,'x')", TS_ALGORITHM_COUNT,
         TS_COLLECTIVE_ALL_TO_ALL, 1, 45000000, 3.8 + 1 + 1000, 1000},
        /* round 4 devices: one hop either way, and two for what lies opposite, from every other up: 2 of 4 parts a link */
        {"4", "u8[4,180000000] P('x')", "u8[4,180000000] P(None,'x')", TS_ALGORITHM_COUNT,
         TS_COLLECTIVE_ALL_TO_ALL, 1, 90000000, 3.8 + 2 + 2000, 2000},
        /* a chip sends all it has to one other, and gets as much: from (x,y) to (y,x), at most 4 hops away */
        {"4x4", "u8[16,45000000] P(('x','y'))", "u8[16,45000000] P(('y','x'))", TS_ALGORITHM_DIRECT,
         TS_COLLECTIVE_PERMUTE, 1, 90000000, 3.8 + 4 + 2000, 500},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fixture f;
        begin(&f, "tpu-v4", rows[i].mesh, NULL);
        if (!make_plan(&f, rows[i].from, rows[i].to, rows[i].algorithm)) fail_msg("%s", f.err.message);
        const ts_collective_price *p = &f.plan.prices[0];
        if (f.plan.count != 1 || f.plan.collectives[0].kind != rows[i].kind || p->steps != rows[i].steps ||
            p->link_bytes != rows[i].link_bytes || fabs(p->ps / 1e6 - rows[i].us) > 0.01 ||
            fabs(p->bound_ps / 1e6 - rows[i].bound_us) > 0.01)
            fail_msg("row %zu: %d of kind %d, %lld steps, %lld bytes, %.2f us, bound %.2f us", i,
                     f.plan.count, f.plan.collectives[0].kind, (long long)p->steps, (long long)p->link_bytes,
                     p->ps / 1e6, p->bound_ps / 1e6);
        ts_arena_free(f.arena);
    }
}

/* Two devices of a chip: what goes between them is on no link. */
TEST(test_devices_of_a_chip) {
    fixture f;
    begin(&f, "tpu-v7x", "x=2,core=2", "2");
    assert_true(make_plan(&f, "u8[4,90] P('core')", "u8[4,90]", TS_ALGORITHM_RING));
    assert_int_equal(f.plan.prices[0].link_bytes, 0);
    assert_int_equal(f.plan.prices[0].sent_bytes, 4 * 180);
    assert_true(make_plan(&f, "u8[4,90] P('x')", "u8[4,90]", TS_ALGORITHM_RING));
    assert_int_equal(f.plan.prices[0].link_bytes, 2 * 180); /* both devices' */
    double free_ps = f.plan.ps;
    ts_machine_ici ici = *f.mesh.ici;
    ici.injection = 1; /* MB/s: what a chip sends takes far longer, but not what stays in it */
    f.mesh.ici = &ici;
    assert_true(make_plan(&f, "u8[4,90] P('x')", "u8[4,90]", TS_ALGORITHM_RING));
    assert_true(f.plan.ps > free_ps + 2 * 180 * 1e6 / 2);
    assert_true(make_plan(&f, "u8[4,90] P('core')", "u8[4,90]", TS_ALGORITHM_RING));
    assert_true(f.plan.ps < free_ps + 1e6);
    ts_arena_free(f.arena);
}

/* ---- Laws ---- */

static const char *const places[] = {"P()",
                                     "P('a')",
                                     "P('b', 'a')",
                                     "P(('a', 'b'))",
                                     "P(('b', 'a'), 'c')",
                                     "P('c', ('b', 'a'))",
                                     "P(None, 'b')",
                                     "P(None, ('a', 'c', 'b'))",
                                     "P('a', unreduced={'b'})",
                                     "P(unreduced={'a', 'c'})",
                                     "P('c', 'b', unreduced={'a'})",
                                     "P(('a', 'b', 'c'), None)"};
enum { PLACES = sizeof places / sizeof places[0] };

static const struct {
    const char *machine, *axes, *topology, *array;
} grounds[] = {
    {"tpu-v4", "a=2,b=2,c=2", "8", "f32[24,40]"},
    {"tpu-v4", "a=2,b=4,c=2", "4x4", "s8[16,32]"},
    {"tpu-v5e", "a=4,b=2,c=2", "2x8", "bf16[17,33]"},
    {"tpu-v7x", "a=2,b=3,c=2", "2x3", "f32[12,36]"},
    {"tpu-v5p", "a=1,b=4,c=4", "2x2x4", "f32[5,7]"},
    {"tpu-v4", "a=3,b=2,c=1", "6", "u8[18,6,2]"},
    {"tpu-v4", "a=2,b=2,c=4", "4x4", "s32[8192,16384,8]"},
    {"tpu-v5e", "a=2,b=2,c=2", "2x4", "f32[6,65536,9]"},
    {"tpu-v4", "a=2,b=1,c=3", "6", "f32[0,40]"},
    {"tpu-v7x", "a=2,b=5,c=1", "5", "pred[6,0,3]"},
};

/* Its time. */
static double check_pair(fixture *f, const char *array, const char *from, const char *to,
                         ts_algorithm algorithm) {
    ts_text a, b;
    ts_reshard_proof proof;
    a = ts_text_begin(f->arena);
    b = ts_text_begin(f->arena);
    ts_text_add(&a, "%s %s", array, from);
    ts_text_add(&b, "%s %s", array, to);
    if (!make_plan(f, a.bytes, b.bytes, algorithm))
        fail_msg("%s -> %s by %d: %s", a.bytes, b.bytes, algorithm, f->err.message);
    if (!ts_reshard_prove(&f->err, f->arena, &f->plan, 1 << 14, &proof))
        fail_msg("%s -> %s by %d: %s", a.bytes, b.bytes, algorithm, f->err.message);
    for (int i = 0; i < f->plan.count; i++)
        if (f->plan.prices[i].bound_ps > f->plan.prices[i].ps)
            fail_msg("%s -> %s: below the bound", a.bytes, b.bytes);
    return f->plan.ps;
}

TEST(test_every_pair) {
    for (size_t g = 0; g < sizeof grounds / sizeof grounds[0]; g++)
        for (int from = 0; from < PLACES; from++)
            for (int to = 0; to < PLACES; to++) {
                if ((from * PLACES + to) % stride(3, 23) != 0) continue;
                fixture f;
                begin(&f, grounds[g].machine, grounds[g].axes, grounds[g].topology);
                const char *array = grounds[g].array;
                double best = check_pair(&f, array, places[from], places[to], TS_ALGORITHM_COUNT);
                for (int algorithm = 0; algorithm < TS_ALGORITHM_COUNT; algorithm++)
                    if (check_pair(&f, array, places[from], places[to], (ts_algorithm)algorithm) < best)
                        fail_msg("%s: %s -> %s is faster by %d", array, places[from], places[to], algorithm);
                ts_arena_free(f.arena);
            }
}

/* What is counted without a look at every pair is what all transfers add up to. */
typedef struct {
    const ts_mesh *mesh;
    int64_t steps, transfers, bytes, hops, *loads;
    int64_t crossing[TS_MESH_MAX_DIMS]
                    [2]; /* wire bytes of direct transfers, from the lower half of a dim and back */
} counts;
static void count_step(void *self, int64_t times) { ((counts *)self)->steps += times; }
static void count_transfer(void *self, const ts_collective_transfer *t) {
    counts *c = self;
    if (t->source == t->destination) return;
    c->transfers += t->times;
    c->bytes += t->times * t->bytes;
    int64_t hops = ts_mesh_route(c->mesh, t->source, t->destination, t->bytes, c->loads);
    if (hops > c->hops) c->hops = hops;
    for (int d = 0; d < c->mesh->dim_count; d++) {
        int64_t half = (c->mesh->dims[d] + 1) / 2;
        bool from = ts_mesh_chip_at(c->mesh, t->source, d) >= half,
             to = ts_mesh_chip_at(c->mesh, t->destination, d) >= half;
        if (from != to) c->crossing[d][to] += ts_mesh_wire_bytes(c->mesh, t->bytes);
    }
}

static void check_price(fixture *f, const ts_collective *collective, const ts_collective_price *price) {
    int64_t links = ts_mesh_link_count(&f->mesh);
    counts c = {.mesh = &f->mesh, .loads = TS_NEW_ARRAY(f->arena, int64_t, links)};
    ts_collective_visitor all = {&c, true, false, count_step, count_transfer};
    ts_collective_visit(f->arena, collective, &all);
    ts_mesh_sum_loads(&f->mesh, c.loads);
    assert_int_equal(c.steps, price->steps);
    assert_int_equal(c.transfers, price->transfers);
    assert_int_equal(c.bytes, price->sent_bytes);
    assert_memory_equal(c.loads, price->loads, (size_t)links * sizeof *c.loads);
    if (collective->algorithm == TS_ALGORITHM_DIRECT && collective->kind != TS_COLLECTIVE_SLICE)
        assert_int_equal(c.hops, price->hops);
}

/* Of equal parts what goes over the middle of each dim is known without looking, in whole flits. */
static void check_crossing(fixture *f, const ts_collective *collective) {
    ts_machine_ici ici = *f->mesh.ici;
    ici.flit_bytes = 128;
    ts_mesh mesh = f->mesh;
    mesh.ici = &ici;
    ts_collective c = *collective;
    c.mesh = &mesh;
    ts_even_totals even = {.loads = TS_NEW_ARRAY(f->arena, int64_t, ts_mesh_link_count(&mesh)),
                           .received = TS_NEW_ARRAY(f->arena, int64_t, mesh.chip_count)};
    if (c.kind == TS_COLLECTIVE_SLICE || c.algorithm != TS_ALGORITHM_DIRECT || !ts_even_count(&c, &even))
        return;
    counts all = {.mesh = &mesh, .loads = TS_NEW_ARRAY(f->arena, int64_t, ts_mesh_link_count(&mesh))};
    ts_collective_visitor visitor = {&all, true, false, count_step, count_transfer};
    ts_collective_visit(f->arena, &c, &visitor);
    assert_memory_equal(even.crossing, all.crossing, sizeof all.crossing);
}

TEST(test_counts) {
    static const struct {
        const char *machine, *axes, *topology, *array;
    } meshes[] = {
        {"tpu-v4", "a=2,b=3,c=4", "4x6", "f32[24,48]"},
        {"tpu-v4", "a=4,b=2,c=4", "4x8", "f32[32,64]"},
        {"tpu-v7x", "a=4,b=4,c=4", "4x8", "bf16[64,64]"},
        {"tpu-v4", "a=2,b=2,c=3", "12", "f32[7,13]"},
    };
    for (size_t m = 0; m < sizeof meshes / sizeof meshes[0]; m++)
        for (int from = 0; from < PLACES; from++)
            for (int to = 0; to < PLACES; to++) {
                if ((from * PLACES + to) % stride(2, 7) != 0) continue;
                fixture f;
                ts_text a, b;
                begin(&f, meshes[m].machine, meshes[m].axes, meshes[m].topology);
                a = ts_text_begin(f.arena);
                b = ts_text_begin(f.arena);
                ts_text_add(&a, "%s %s", meshes[m].array, places[from]);
                ts_text_add(&b, "%s %s", meshes[m].array, places[to]);
                for (int algorithm = 0; algorithm < TS_ALGORITHM_COUNT; algorithm++) {
                    assert_true(make_plan(&f, a.bytes, b.bytes, (ts_algorithm)algorithm));
                    for (int i = 0; i < f.plan.count; i++)
                        check_price(&f, &f.plan.collectives[i], &f.plan.prices[i]);
                    for (int i = 0; i < f.plan.count; i++) check_crossing(&f, &f.plan.collectives[i]);
                }
                ts_arena_free(f.arena);
            }
}

/* Parts of unlike sizes are looked at one by one: the search ends with what it has when that is too many. */
TEST(test_visits) {
    fixture f;
    begin(&f, "tpu-v5p", "8x8x8", NULL);
    assert_true(
        make_plan(&f, "f32[512,16] P('x',('y','z'))", "f32[512,16] P(('z','x'))", TS_ALGORITHM_COUNT));
    assert_in_range(f.plan.visits, 1 << 21, (1 << 21) + 512 * 64);
    assert_true(
        make_plan(&f, "f32[512,64] P('x',('y','z'))", "f32[512,64] P(('z','x'))", TS_ALGORITHM_COUNT));
    assert_int_equal(f.plan.visits, 0);
    ts_arena_free(f.arena);
}

/* ---- Plans with a fault ---- */

TEST(test_faults) {
    fixture f;
    ts_reshard_proof proof;
    begin(&f, "tpu-v4", "a=2,b=2,c=2", "8");
    assert_true(make_plan(&f, "f32[8,8] P('a', unreduced={'b'})", "f32[8,8] P(None, 'b')",
                          TS_ALGORITHM_BIDIRECTIONAL));
    assert_int_equal(f.plan.count, 2);
    assert_true(ts_reshard_prove(&f.err, f.arena, &f.plan, 1 << 20, &proof));
    ts_reshard_plan plan = f.plan;
    plan.collectives[1].kind = TS_COLLECTIVE_SLICE; /* nothing moves */
    assert_false(ts_reshard_prove(&f.err, f.arena, &plan, 1 << 20, &proof));
    f.err = (ts_error){0};
    plan = f.plan;
    plan.collectives[0].kind = TS_COLLECTIVE_ALL_GATHER; /* stored, not added */
    assert_false(ts_reshard_prove(&f.err, f.arena, &plan, 1 << 20, &proof));
    f.err = (ts_error){0};
    plan = f.plan;
    plan.count = 0;
    assert_false(ts_reshard_prove(&f.err, f.arena, &plan, 1 << 20, &proof));
    f.err = (ts_error){0};
    plan = f.plan;
    plan.collectives[1].group[0] = 2; /* among others than those that need it */
    assert_false(ts_reshard_prove(&f.err, f.arena, &plan, 1 << 20, &proof));
    ts_arena_free(f.arena);
}

/* What was moved: of an array that is made smaller where it is too large for all devices. */
TEST(test_proofs) {
    static const struct {
        const char *from, *to;
        int64_t most;
        const char *shape; /* or the error */
        int64_t elements, moved;
        bool shrunk;
    } rows[] = {
        {"f32[4096] P('x')", "f32[4096]", 1 << 14, "f32[4096]", 4096, 4 * 3 * 4096, false},
        {"f32[4096] P('x')", "f32[4096]", (1 << 14) - 1, "f32[2048]", 2048, 4 * 3 * 2048, true},
        {"f32[4096] P('x')", "f32[4096]", 1 << 10, "f32[256]", 256, 4 * 3 * 256, true},
        {"f32[64,16] P('x')", "f32[64,16]", 1 << 11, "f32[32,16]", 512, 4 * 3 * 512, true},
        {"f32[12,36] P('x')", "f32[12,36]", 1 << 9, "f32[12,9]", 108, 4 * 3 * 108, true},
        {"f32[12,36] P('x')", "f32[12,36] P(None,'x')", 1 << 10, "f32[12,12]", 144, 4 * 3 * 36, true},
        {"bf16[64,4] P(unreduced={'x'})", "bf16[64,4]", 1 << 10, "bf16[64,4]", 256, 2 * 2 * 3 * 256, false},
        {"s8[12] P('x')", "s8[12]", 1 << 10, "s8[12]", 12, 3 * 12, false},
        {"s4[12]{0:E(4)} P('x')", "s4[12]{0:E(4)}", 1 << 10, "s4[12]", 12, 3 * 12 / 2, false},
        {"f32[4096] S[(1024,4):(1,1@x)]", "f32[4096]", 1 << 10,
         "f32[4096] on 4 devices is too much to move, and no smaller array has the same parts", 0, 0, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        ts_reshard_proof proof;
        begin(&f, "tpu-v4", "x=4", NULL);
        assert_true(make_plan(&f, rows[i].from, rows[i].to, TS_ALGORITHM_RING));
        bool good = ts_reshard_prove(&f.err, f.arena, &f.plan, rows[i].most, &proof);
        if (strcmp(good ? proof.shape.bytes : f.err.message, rows[i].shape) != 0)
            fail_msg("row %zu: %s", i, good ? proof.shape.bytes : f.err.message);
        if (good && (proof.elements != rows[i].elements || proof.moved_bytes != rows[i].moved ||
                     proof.shrunk != rows[i].shrunk))
            fail_msg("row %zu: %lld, %lld, %d", i, (long long)proof.elements, (long long)proof.moved_bytes,
                     proof.shrunk);
        ts_arena_free(f.arena);
    }
}

/* Through the rings of both dims each of 16 devices gets every element that it lacks once. */
TEST(test_moved_once) {
    fixture f;
    ts_reshard_proof proof;
    begin(&f, "tpu-v4", "4x4", NULL);
    assert_true(make_plan(&f, "f32[1024] P(('x','y'))", "f32[1024]", TS_ALGORITHM_TORUS));
    assert_true(ts_reshard_prove(&f.err, f.arena, &f.plan, 1 << 14, &proof));
    assert_int_equal(proof.moved_bytes, 4 * 15 * 1024);
    ts_arena_free(f.arena);
}

TEST(test_refused) {
    static const struct {
        const char *from, *to, *message;
    } rows[] = {
        {"f32[8,8]", "f32[8,9]", "the source and the destination must be one array: equal types and dims"},
        {"f32[8,8]", "s32[8,8]", "the source and the destination must be one array: equal types and dims"},
        {"f32[8,8]", "f32[8,8,1]", "the source and the destination must be one array: equal types and dims"},
        {"f32[12] {devices=[2,3]<=[6] last_tile_dims={unreduced}}",
         "f32[12] {devices=[3,2]<=[6] last_tile_dims={unreduced}}",
         "the two shardings cut the devices in ways that have no common parts, and both have partial sums"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fixture f;
        begin(&f, "tpu-v4", "a=6", "6");
        assert_false(make_plan(&f, rows[i].from, rows[i].to, TS_ALGORITHM_COUNT));
        assert_string_equal(f.err.message, rows[i].message);
        ts_arena_free(f.arena);
    }
}

/* 2 x 3 parts and 3 x 2: each of 6 devices has a half or a sixth, gets the rest, and keeps its part of all. */
TEST(test_without_common_parts) {
    static const struct {
        const char *from, *to;
        ts_collective_kind first;
        int64_t moved_bytes;
        int kept; /* devices of which each keeps another part */
    } rows[] = {
        {"f32[12] {devices=[2,3]<=[6] last_tile_dim_replicate}",
         "f32[12] {devices=[3,2]<=[6] last_tile_dim_replicate}", TS_COLLECTIVE_ALL_GATHER, 6 * 6 * 4, 3},
        {"f32[6,6] {devices=[2,3]<=[6]}", "f32[6,6] {devices=[3,2]<=[6]}", TS_COLLECTIVE_ALL_GATHER,
         6 * 30 * 4, 6},
        {"f32[6,6] {devices=[2,1,3]<=[6] last_tile_dims={unreduced}}", "f32[6,6] {devices=[3,2]<=[6]}",
         TS_COLLECTIVE_ALL_REDUCE, 6 * (2 * 12 + 18) * 4, 6},
        {"f32[6,6] {devices=[3,2]<=[6]}", "f32[6,6] {devices=[2,1,3]<=[6] last_tile_dims={unreduced}}",
         TS_COLLECTIVE_ALL_GATHER, 6 * 30 * 4, 6},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fixture f;
        ts_reshard_proof proof;
        begin(&f, "tpu-v4", "a=6", "6");
        if (!make_plan(&f, rows[i].from, rows[i].to, TS_ALGORITHM_RING))
            fail_msg("row %zu: %s", i, f.err.message);
        const ts_reshard_plan *p = &f.plan;
        assert_int_equal(p->collectives[0].kind, rows[i].first);
        assert_int_equal(p->collectives[p->count - 1].kind, TS_COLLECTIVE_SLICE);
        assert_int_equal(ts_collective_members(&p->collectives[p->count - 1]), rows[i].kept);
        assert_true(p->ps > 0 && p->prices[p->count - 1].ps == 0);
        if (!ts_reshard_prove(&f.err, f.arena, &f.plan, 1 << 14, &proof))
            fail_msg("row %zu: %s", i, f.err.message);
        assert_int_equal(proof.moved_bytes, rows[i].moved_bytes);
        ts_arena_free(f.arena);
    }
}

/* Devices that are counted across the axes: where copies are all that the other side has, or it can be cut too. */
TEST(test_orders_across_axes) {
    static const struct {
        const char *from, *to;
        ts_collective_kind kind;
    } rows[] = {
        {"f32[6,6] {devices=[1,6]<=[2,3]}", "f32[6,6]", TS_COLLECTIVE_ALL_GATHER},
        {"f32[6,6] {devices=[6,1]<=[2,3]T(1,0)}", "f32[6,6]", TS_COLLECTIVE_ALL_GATHER},
        {"f32[6,6] {devices=[2,3]<=[6]}", "f32[6,6] P(None)", TS_COLLECTIVE_ALL_GATHER},
        {"f32[6,6]", "f32[6,6] {devices=[2,3]<=[6]}", TS_COLLECTIVE_SLICE},
        {"f32[6,6] P(('x','y'))", "f32[6,6] {devices=[2,3]<=[6]}", TS_COLLECTIVE_ALL_TO_ALL},
        {"f32[6,6] {devices=[2,1,3]<=[6] last_tile_dims={unreduced}}",
         "f32[6,6] {devices=[2,1,3]<=[6] last_tile_dim_replicate}", TS_COLLECTIVE_ALL_REDUCE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fixture f;
        ts_reshard_proof proof;
        begin(&f, "tpu-v4", "3x2", "3x2");
        if (!make_plan(&f, rows[i].from, rows[i].to, TS_ALGORITHM_COUNT))
            fail_msg("row %zu: %s", i, f.err.message);
        if (f.plan.count != 1 || f.plan.collectives[0].kind != rows[i].kind)
            fail_msg("row %zu: %d of kind %d", i, f.plan.count, f.plan.collectives[0].kind);
        if (!ts_reshard_prove(&f.err, f.arena, &f.plan, 1 << 14, &proof))
            fail_msg("row %zu: %s", i, f.err.message);
        ts_arena_free(f.arena);
    }
}

/* ---- Sums that are made of values ---- */

/* Nothing moves where elements are already; else they go there first, and sums are made last. */
TEST(test_sums_of_values) {
    static const struct {
        const char *from, *to;
        int count;
        ts_collective_kind first;
        int members; /* of a group of that one */
    } rows[] = {
        {"f32[8,12]", "f32[8,12] P(unreduced={'a'})", 1, TS_COLLECTIVE_SLICE, 2},
        {"f32[9,13] P('a')", "f32[9,13] P(unreduced={'a'})", 1, TS_COLLECTIVE_SLICE, 2},
        {"f32[8,12] P('a', 'b')", "f32[8,12] P('a', unreduced={'b'})", 1, TS_COLLECTIVE_SLICE, 4},
        {"f32[8,12] P(('a', 'b'))", "f32[8,12] P('a', unreduced={'b'})", 1, TS_COLLECTIVE_SLICE, 4},
        {"f32[8,12] P(unreduced={'a'})", "f32[8,12] P(unreduced={'a', 'b'})", 1, TS_COLLECTIVE_SLICE, 4},
        {"f32[8,12] P(unreduced={'a'})", "f32[8,12] P(unreduced={'b'})", 2, TS_COLLECTIVE_ALL_REDUCE, 2},
        {"f32[8,12] P(None, 'a')", "f32[8,12] P('a', unreduced={'b'})", 2, TS_COLLECTIVE_ALL_TO_ALL, 2},
        {"f32[8,12] P('b')", "f32[8,12] P('a', unreduced={'b'})", 2, TS_COLLECTIVE_POINT_TO_POINT, 8},
        {"f32[9,12] P(('b', 'a'))", "f32[9,12] P('a', unreduced={'b'})", 2, TS_COLLECTIVE_POINT_TO_POINT, 8},
        {"f32[8,12] P(('a', 'b'))", "f32[8,12] P(None, 'a', unreduced={'b'})", 2, TS_COLLECTIVE_ALL_TO_ALL,
         2},
        {"f32[8,12] P(('a', 'b'))", "f32[8,12] P(unreduced={'b'})", 2, TS_COLLECTIVE_ALL_GATHER, 2},
        {"f32[8,12] P('b', 'a')", "f32[8,12] P(unreduced={'b'})", 2, TS_COLLECTIVE_ALL_GATHER, 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fixture f;
        ts_reshard_proof proof;
        begin(&f, "tpu-v4", "a=2,b=4", "8");
        assert_true(make_plan(&f, rows[i].from, rows[i].to, TS_ALGORITHM_COUNT));
        const ts_collective *last = &f.plan.collectives[f.plan.count - 1];
        int members = (int)ts_collective_members(&f.plan.collectives[0]);
        if (f.plan.count != rows[i].count || f.plan.collectives[0].kind != rows[i].first ||
            members != rows[i].members || last->kind != TS_COLLECTIVE_SLICE)
            fail_msg("row %zu: %d steps, the first of kind %d by %d", i, f.plan.count,
                     f.plan.collectives[0].kind, members);
        assert_true(f.plan.prices[f.plan.count - 1].ps == 0);
        assert_true(ts_reshard_prove(&f.err, f.arena, &f.plan, 1 << 20, &proof));
        ts_reshard_plan plan = f.plan;
        plan.count--; /* all keep what they have, or what others sent */
        assert_false(ts_reshard_prove(&f.err, f.arena, &plan, 1 << 20, &proof));
        ts_arena_free(f.arena);
    }
}

/* ---- Collectives as programs write them ---- */

static bool read_collective(fixture *f, ts_collective_kind kind, int64_t bytes, const char *groups,
                            ts_collective *c) {
    ts_collective_request request = {&f->mesh, kind, bytes, {"groups", groups, strlen(groups)}};
    return ts_collective_read(&f->err, f->arena, &request, c);
}

TEST(test_collectives) {
    static const struct {
        ts_collective_kind kind;
        int64_t bytes;
        const char *groups;
        ts_algorithm algorithm;
        int64_t steps, sent, link_bytes; /* on 4 x 4 rings */
    } rows[] = {
        {TS_COLLECTIVE_ALL_GATHER, 1600, "{}", TS_ALGORITHM_RING, 15, 16 * 1500, 1500},
        {TS_COLLECTIVE_ALL_GATHER, 1600, "", TS_ALGORITHM_TORUS, 6, 16 * 1500, 375},
        {TS_COLLECTIVE_ALL_GATHER, 400, "{{0,1,2,3},{4,5,6,7},{8,9,10,11},{12,13,14,15}}", TS_ALGORITHM_RING,
         3, 16 * 300, 300},
        {TS_COLLECTIVE_ALL_GATHER, 400, "[4,4]<=[4,4]T(1,0)", TS_ALGORITHM_RING, 3, 16 * 300, 300},
        {TS_COLLECTIVE_REDUCE_SCATTER, 100, "[4,4]<=[16]", TS_ALGORITHM_RING, 3, 16 * 300, 300},
        {TS_COLLECTIVE_ALL_REDUCE, 400, "[4,4]<=[16]", TS_ALGORITHM_RING, 6, 16 * 600, 600},
        {TS_COLLECTIVE_ALL_TO_ALL, 400, "[4,4]<=[16]", TS_ALGORITHM_DIRECT, 1, 16 * 300, 200},
        {TS_COLLECTIVE_PERMUTE, 400, "{{0,1},{1,2},{2,3},{3,0}}", TS_ALGORITHM_DIRECT, 1, 1600, 400},
        {TS_COLLECTIVE_PERMUTE, 400, "{{0,2},{0,1}}", TS_ALGORITHM_DIRECT, 1, 800, 800},
        {TS_COLLECTIVE_PERMUTE, 400, "{}", TS_ALGORITHM_DIRECT, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fixture f;
        ts_collective c;
        ts_collective_price p;
        begin(&f, "tpu-v4", "4x4", NULL);
        if (!read_collective(&f, rows[i].kind, rows[i].bytes, rows[i].groups, &c))
            fail_msg("%s", f.err.message);
        c.algorithm = rows[i].algorithm;
        ts_collective_measure(f.arena, &c, &p);
        if (p.steps != rows[i].steps || p.sent_bytes != rows[i].sent || p.link_bytes != rows[i].link_bytes)
            fail_msg("row %zu: %lld steps, %lld sent, %lld", i, (long long)p.steps, (long long)p.sent_bytes,
                     (long long)p.link_bytes);
        ts_collective_choose(f.arena, (ts_algorithm_choice){false, TS_ALGORITHM_RING}, &c, &p);
        assert_true(p.bound_ps <= p.ps);
        ts_arena_free(f.arena);
    }
}

/* What a collective does to the three dims of which HLO's groups split one: (groups, members, a part). */
TEST(test_what_is_split) {
    static const struct {
        ts_collective_kind kind;
        int64_t bytes;
        const char *groups, *before, *after;
    } rows[] = {
        {TS_COLLECTIVE_ALL_GATHER, 400, "[4,4]<=[16]", "S[(4,4,100):(1@x,1@y,1)]",
         "S[(4,4,100):(1@x,100,1)] + R[(4):(1@y)]"},
        {TS_COLLECTIVE_REDUCE_SCATTER, 100, "[4,4]<=[16]", "S[(4,4,100):(1@x,100,1)]",
         "S[(4,4,100):(1@x,1@y,1)]"},
        {TS_COLLECTIVE_ALL_REDUCE, 400, "[4,4]<=[16]", "S[(4,4,100):(1@x,100,1)]",
         "S[(4,4,100):(1@x,100,1)] + R[(4):(1@y)]"},
        {TS_COLLECTIVE_ALL_TO_ALL, 400, "[4,4]<=[16]", "S[(4,4,400):(1@x,1@y,1)]",
         "S[(4,4,4,100):(1@x,100,1@y,1)]"},
        {TS_COLLECTIVE_ALL_TO_ALL, 400, "[4,4]<=[4,4]T(1,0)", "S[(4,4,400):(1@y,1@x,1)]",
         "S[(4,4,4,100):(1@y,100,1@x,1)]"},
        {TS_COLLECTIVE_ALL_TO_ALL, 399, "{}", "S[(1,4,4,400):(400,1@x,1@y,1)]",
         "S[(1,16,4,4,25):(400,25,1@x,1@y,1)]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fixture f;
        ts_collective c;
        begin(&f, "tpu-v4", "4x4", NULL);
        if (!read_collective(&f, rows[i].kind, rows[i].bytes, rows[i].groups, &c))
            fail_msg("%s", f.err.message);
        assert_string_equal(ts_sharding_axe_text(f.arena, &f.mesh, &c.before), rows[i].before);
        assert_string_equal(ts_sharding_axe_text(f.arena, &f.mesh, &c.after), rows[i].after);
        ts_arena_free(f.arena);
    }
}

/* Bytes a link of the bound, on 4 x 4 rings, where links of one chip have failed: a chip lacks 15 of 16 parts, or gives
 * as many away, over those that it has left; a sum goes over all that there are, or into the chip that has fewest. */
TEST(test_bounds_with_failures) {
    static const char *const out[] = {"(0,0)->(0,1)", "(0,0)->(0,3)"}, *const in[] = {"(0,1)->(0,0)",
                                                                                      "(0,3)->(0,0)",
                                                                                      "(1,0)->(0,0)"};
    static const struct {
        const char *const *failed;
        int count;
        ts_collective_kind kind;
        int64_t bytes;
        const char *groups;
        double link_bytes;
    } rows[] = {
        {out, 2, TS_COLLECTIVE_ALL_GATHER, 1600, "{}", 1500 / 3.0},
        {out, 2, TS_COLLECTIVE_REDUCE_SCATTER, 100, "{}", 1500 / 2.0},
        {out, 2, TS_COLLECTIVE_ALL_REDUCE, 1600, "{}", 2 * 1500 * 16 / 62.0},
        {in, 3, TS_COLLECTIVE_ALL_GATHER, 1600, "{}", 1500},
        {in, 3, TS_COLLECTIVE_REDUCE_SCATTER, 100, "{}", 1500 / 3.0},
        {in, 3, TS_COLLECTIVE_ALL_REDUCE, 1600, "{}", 1600},
        {in, 3, TS_COLLECTIVE_ALL_REDUCE, 0, "{}", 0},
        {in, 3, TS_COLLECTIVE_ALL_REDUCE, 1600, "mesh['x'=16] {}", 0},
        /* Of four groups, whose chips at one place have 6 links together. */
        {out, 2, TS_COLLECTIVE_REDUCE_SCATTER, 100, "[4,4]<=[16]", 300 / 1.5},
        {in, 2, TS_COLLECTIVE_ALL_GATHER, 400, "[4,4]<=[16]", 300 / 1.5},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fixture f;
        ts_collective c;
        ts_collective_price p;
        begin(&f, "tpu-v4", "4x4", NULL);
        ts_mesh_request request = {.machine = f.mesh.machine,
                                   .axes = {"--mesh", "4x4", 3},
                                   .failed = rows[i].failed,
                                   .failed_count = rows[i].count};
        assert_true(ts_mesh_read(&f.err, f.arena, &request, &f.mesh));
        if (!read_collective(&f, rows[i].kind, rows[i].bytes, rows[i].groups, &c))
            fail_msg("%s", f.err.message);
        c.algorithm = TS_ALGORITHM_RING; /* along links of its dims */
        ts_collective_measure(f.arena, &c, &p);
        if (fabs(p.bound_ps - ts_mesh_link_ps(&f.mesh, rows[i].link_bytes)) > 1)
            fail_msg("row %zu: %.3f ps, %.3f bytes", i, p.bound_ps, p.bound_ps / ts_mesh_link_ps(&f.mesh, 1));
        assert_true(p.bound_ps <= p.ps);
        ts_arena_free(f.arena);
    }
}

/* Groups by axes of a mesh of their own, and the same as lists. */
TEST(test_groups_by_axes) {
    static const struct {
        const char *axes, *lists;
    } rows[] = {
        {"mesh['x'=2,'y'=2,'z'=4] {'z'}", "{{0,1,2,3},{4,5,6,7},{8,9,10,11},{12,13,14,15}}"},
        {"mesh[x=4,y=4] {x}", "{{0,4,8,12},{1,5,9,13},{2,6,10,14},{3,7,11,15}}"},
        {"mesh['x'=2,'y'=8] {'y':(2)2,'x'}", "{{0,8,2,10},{1,9,3,11},{4,12,6,14},{5,13,7,15}}"},
        {"mesh['x'=8,'y'=2], device_ids=(0,8,1,9,2,10,3,11,4,12,5,13,6,14,7,15) {'y'}",
         "{{0,8},{1,9},{2,10},{3,11},{4,12},{5,13},{6,14},{7,15}}"},
        {"mesh['x'=8,'y'=2], device_ids=([2,8]T(1,0)) {'y'}",
         "{{0,8},{1,9},{2,10},{3,11},{4,12},{5,13},{6,14},{7,15}}"},
        {"mesh['x'=16,'one'=1] {'one'}",
         "{{0},{1},{2},{3},{4},{5},{6},{7},{8},{9},{10},{11},{12},{13},{14},{15}}"},
        {"mesh['x'=16] {}", "{{0},{1},{2},{3},{4},{5},{6},{7},{8},{9},{10},{11},{12},{13},{14},{15}}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fixture f;
        ts_collective axes, lists;
        begin(&f, "tpu-v4", "4x4", NULL);
        if (!read_collective(&f, TS_COLLECTIVE_ALL_GATHER, 4096, rows[i].axes, &axes) ||
            !read_collective(&f, TS_COLLECTIVE_ALL_GATHER, 4096, rows[i].lists, &lists))
            fail_msg("row %zu: %s", i, f.err.message);
        assert_int_equal(axes.group_count, lists.group_count);
        assert_memory_equal(axes.group, lists.group, (size_t)lists.group_count * sizeof *lists.group);
        assert_memory_equal(axes.before.digits, lists.before.digits, sizeof lists.before.digits);
        ts_arena_free(f.arena);
    }
}

TEST(test_groups_by_axes_refused) {
    static const char *const rows[][2] = {
        {"mesh['x'=2,'y'=4] {'x'}", "the groups are of 8 devices, the mesh has 16"},
        {"mesh['x'=4,'y'=4] {'z'}", "the groups' mesh has no such axis"},
        {"mesh['x'=4,'y'=4] {'x','x':(1)2}", "an axis is there twice"},
        {"mesh['x'=4,'y'=4] {'x':(1)3}", "(1)3 does not divide the axis, which has 4"},
        {"mesh['x'=0,'y'=4] {'x'}", "an extent of 0, or too large"},
        {"mesh['x'=4,'y'=4]", "found the end, expected '{'"},
        {"mesh['x'=4,'y'=4] {'x'} more", "found 'more', expected the end of the groups"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fixture f;
        ts_collective c;
        begin(&f, "tpu-v4", "4x4", NULL);
        assert_false(read_collective(&f, TS_COLLECTIVE_ALL_GATHER, 4096, rows[i][0], &c));
        assert_string_equal(f.err.message, rows[i][1]);
        ts_arena_free(f.arena);
    }
}

/* Bytes of the bound of pairs, on 4 x 4 rings, of 400 each: over 8 links into half of a dim, over 32 of a dim as far as
 * they go, which links carry as whole flits; over 4 into a chip. */
TEST(test_pair_bounds) {
    static const struct {
        const char *pairs;
        int count, links;
        bool into_chip;
    } rows[] = {
        {"{{0,8},{1,9},{2,10},{3,11},{4,12},{5,13},{6,14},{7,15}}", 8, 8, false},
        {"{{8,0},{9,1},{10,2},{11,3},{12,4},{13,5},{14,6},{15,7}}", 8, 8, false},
        {"{{0,2},{1,3},{4,6},{5,7},{8,10},{9,11},{12,14},{13,15}}", 8, 8, false},
        {"{{0,1},{1,0},{2,3},{3,2},{4,5},{5,4},{6,7},{7,6},{8,9},{9,8},{10,11},{11,10},{12,13},{13,12},{14,"
         "15},{15,14}}",
         16, 32, false},
        {"{{0,4},{4,0},{1,5},{5,1},{2,6},{6,2},{3,7},{7,3},{8,12},{12,8},{9,13},{13,9},{10,14},{14,10},{11,"
         "15},{15,11}}",
         16, 32, false},
        {"{{0,5}}", 1, 4, true},
        {"{{0,5},{4,5}}", 2, 4, true},
        {"{{0,0}}", 0, 1, false},
    };
    static const int64_t flits[][2] = {
        {1, 400}, {128, 512}, {4096, 4096}}; /* and how many bytes are then on the wire */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int k = 0; k < (rows[i].into_chip ? 1 : 3); k++) {
            fixture f;
            ts_collective c;
            ts_collective_price p;
            begin(&f, "tpu-v4", "4x4", NULL);
            ts_machine_ici ici = *f.mesh.ici;
            ici.flit_bytes = flits[k][0];
            f.mesh.ici = &ici;
            if (!read_collective(&f, TS_COLLECTIVE_PERMUTE, 400, rows[i].pairs, &c))
                fail_msg("%s", f.err.message);
            ts_collective_measure(f.arena, &c, &p);
            double bytes = (double)(rows[i].count * flits[k][1]) / rows[i].links;
            if (fabs(p.bound_ps - ts_mesh_link_ps(&f.mesh, bytes)) > 1e-3)
                fail_msg("row %zu: %.3f ps, flits of %d", i, p.bound_ps, (int)flits[k][0]);
            ts_arena_free(f.arena);
        }
}

TEST(test_collectives_refused) {
    static const struct {
        ts_collective_kind kind;
        const char *groups, *message;
    } rows[] = {
        {TS_COLLECTIVE_ALL_GATHER, "{{0,1},{2}}", "groups of different sizes"},
        {TS_COLLECTIVE_ALL_GATHER, "{{0,1},{2,3}}", "the sharding is of 4 devices, the mesh has 16"},
        {TS_COLLECTIVE_ALL_GATHER, "{{0,1},{2,3}", "found the end, expected '}'"},
        {TS_COLLECTIVE_ALL_GATHER, "[0,16]<=[16]", "groups of no devices"},
        {TS_COLLECTIVE_ALL_GATHER, "[4]<=[16]", "found ']', expected ','"},
        {TS_COLLECTIVE_PERMUTE, "{{0,16}}", "device 16, the mesh has 0 to 15"},
        {TS_COLLECTIVE_PERMUTE, "{{16,0}}", "device 16, the mesh has 0 to 15"},
        {TS_COLLECTIVE_PERMUTE, "{{0,1},{2}}", "groups of different sizes"},
        {TS_COLLECTIVE_PERMUTE, "{{0,1}} {}", "found '{', expected the end of the groups"},
        {TS_COLLECTIVE_PERMUTE, "{0,1}", "found '0', expected '{'"},
        {TS_COLLECTIVE_ALL_GATHER, "{{0},{1,2}}", "groups of different sizes"},
        {TS_COLLECTIVE_ALL_GATHER, "{{0,1},{2,3},{4,5},{6}}", "groups of different sizes"},
        {TS_COLLECTIVE_ALL_GATHER, "[16,0]<=[16]", "groups of no devices"},
        {TS_COLLECTIVE_PERMUTE, "{{0,1,2}}", "expected pairs of a source and a destination"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fixture f;
        ts_collective c;
        begin(&f, "tpu-v4", "4x4", NULL);
        assert_false(read_collective(&f, rows[i].kind, 64, rows[i].groups, &c));
        assert_string_equal(f.err.message, rows[i].message);
        ts_arena_free(f.arena);
    }
}

/* 2^48 bytes are the most. */
TEST(test_bytes_of_collectives) {
    static const struct {
        int64_t bytes;
        const char *message; /* NULL: read */
    } rows[] = {{0, NULL},
                {INT64_C(1) << 48, NULL},
                {-1, "a collective of -1 bytes"},
                {(INT64_C(1) << 48) + 1, "a collective of 281474976710657 bytes"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fixture f;
        ts_collective c;
        begin(&f, "tpu-v4", "4x4", NULL);
        assert_int_equal(read_collective(&f, TS_COLLECTIVE_PERMUTE, rows[i].bytes, "{{0,1}}", &c),
                         !rows[i].message);
        if (rows[i].message) assert_string_equal(f.err.message, rows[i].message);
        if (!rows[i].message) assert_true(c.pair_count == 1 && c.pair_bytes == rows[i].bytes);
        ts_arena_free(f.arena);
    }
}
