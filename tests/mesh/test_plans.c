/* Plans against a search through all sequences of collectives: every sharding that two axes can make of two dims is a
 * node, and whatever one collective does is an edge, at its price. */
#include "tests/support/rounds.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

#include "mesh/reshard.h"

enum { AXES = 2, DIMS = 2, PLACES = 2 + 2 * DIMS, NODES = PLACES * PLACES };

typedef struct {
    ts_arena *arena;
    ts_error err;
    ts_mesh mesh;
    ts_sharding array; /* in whose digits places are set */
    ts_sharding nodes[NODES];
    bool valid[NODES];
    double step_ps[NODES][NODES], least_ps[NODES][NODES]; /* < 0: none */
} fixture;

static void begin(fixture *f, const char *axes, const char *array) {
    char text[64];
    memset(f, 0, sizeof *f);
    f->arena = ts_arena_new();
    ts_mesh_request request = {.machine = ts_machine_load(&f->err, f->arena, "tpu-v4"),
                               .axes = {"--mesh", axes, strlen(axes)}};
    snprintf(text, sizeof text, "%s P('a', 'b')", array);
    ts_source source = {"array", text, strlen(text)};
    if (!request.machine || !ts_mesh_read(&f->err, f->arena, &request, &f->mesh) ||
        !ts_sharding_parse(&f->err, f->arena, &f->mesh, &source, &f->array))
        fail_msg("%s: %s", axes, f->err.message);
    assert_int_equal(f->array.digit_count, AXES);
}

/* 0: copies, 1: partial; then of each dim alone or above the other axis, or below it. */
static void set_location(fixture *f, ts_sharding *s, int axis, int at) {
    ts_mesh_digit *digit = &s->digits[axis];
    const ts_mesh_digit *other = &s->digits[1 - axis];
    digit->kind = at == 0 ? TS_DIGIT_REPLICA : at == 1 ? TS_DIGIT_PARTIAL : TS_DIGIT_SHARD;
    digit->dim = at < 2 ? 0 : (at - 2) / 2;
    digit->weight = f->array.dims[digit->dim] / digit->extent;
    if (at % 2 != 0 && at > 2) digit->weight /= other->extent;
}

/* Both in one dim: one above and one below. Alone in a dim below nothing is no other sharding than some that plans
 * have to make: it is allowed on the way. */
static bool may_be(const int at[AXES]) {
    bool same_dim = at[0] >= 2 && at[1] >= 2 && (at[0] - 2) / 2 == (at[1] - 2) / 2;
    return !same_dim || at[0] % 2 != at[1] % 2;
}

static bool find_kind(const ts_sharding *a, const ts_sharding *b, ts_collective *c) {
    int count[3][3] = {{0}}, changed = 0;
    for (int i = 0; i < AXES; i++) {
        const ts_mesh_digit *x = &a->digits[i], *y = &b->digits[i];
        if (x->kind == y->kind && (x->kind != TS_DIGIT_SHARD || (x->dim == y->dim && x->weight == y->weight)))
            continue;
        c->group[c->group_count++] = i;
        count[x->kind][y->kind]++;
        changed++;
    }
    static const struct {
        ts_digit_kind from, to;
        ts_collective_kind kind;
    } kinds[] = {{TS_DIGIT_SHARD, TS_DIGIT_REPLICA, TS_COLLECTIVE_ALL_GATHER},
                 {TS_DIGIT_REPLICA, TS_DIGIT_SHARD, TS_COLLECTIVE_SLICE},
                 {TS_DIGIT_PARTIAL, TS_DIGIT_SHARD, TS_COLLECTIVE_REDUCE_SCATTER},
                 {TS_DIGIT_PARTIAL, TS_DIGIT_REPLICA, TS_COLLECTIVE_ALL_REDUCE}};
    c->kind = TS_COLLECTIVE_POINT_TO_POINT;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (count[kinds[i].from][kinds[i].to] == changed) c->kind = kinds[i].kind;
    int sums = count[TS_DIGIT_PARTIAL][0] + count[TS_DIGIT_PARTIAL][1];
    int splits = count[0][TS_DIGIT_PARTIAL] + count[1][TS_DIGIT_PARTIAL];
    return changed > 0 && splits == 0 && (sums == 0 || c->kind != TS_COLLECTIVE_POINT_TO_POINT);
}

static void price_all(fixture *f) {
    for (int n = 0; n < NODES; n++) {
        int at[AXES] = {n / PLACES, n % PLACES};
        f->nodes[n] = f->array;
        f->valid[n] = may_be(at);
        for (int i = 0; i < AXES; i++) set_location(f, &f->nodes[n], i, at[i]);
    }
    for (int from = 0; from < NODES; from++)
        for (int to = 0; to < NODES; to++) {
            ts_collective c = {.mesh = &f->mesh, .before = f->nodes[from], .after = f->nodes[to]};
            ts_collective_price price;
            f->step_ps[from][to] = -1;
            if (!f->valid[from] || !f->valid[to] || !find_kind(&f->nodes[from], &f->nodes[to], &c)) continue;
            ts_collective_choose(f->arena, (ts_algorithm_choice){0}, &c, &price);
            f->step_ps[from][to] = price.ps;
        }
}

/* Floyd and Warshall. */
static void find_least(fixture *f) {
    memcpy(f->least_ps, f->step_ps, sizeof f->least_ps);
    for (int by = 0; by < NODES; by++)
        for (int from = 0; from < NODES; from++)
            for (int to = 0; to < NODES; to++) {
                double a = f->least_ps[from][by], b = f->least_ps[by][to], *c = &f->least_ps[from][to];
                if (a >= 0 && b >= 0 && (*c < 0 || a + b < *c)) *c = a + b;
            }
}

static void check_pair(fixture *f, int from, int to) {
    ts_reshard_plan plan;
    ts_reshard_request request = {.mesh = &f->mesh, .source = &f->nodes[from], .destination = &f->nodes[to]};
    if (!ts_reshard(&f->err, f->arena, &request, &plan)) fail_msg("%s", f->err.message);
    if (plan.ps <= f->least_ps[from][to] * (1 + 1e-9)) return;
    fail_msg("%s -> %s: %.2f us, could be %.2f us", ts_sharding_axe_text(f->arena, &f->mesh, &f->nodes[from]),
             ts_sharding_axe_text(f->arena, &f->mesh, &f->nodes[to]), plan.ps / 1e6,
             f->least_ps[from][to] / 1e6);
}

TEST(test_no_order_is_better) {
    static const struct {
        const char *axes, *array;
    } rows[] = {{"a=2,b=2", "f32[64,64]"},
                {"a=2,b=4", "f32[4096,8192]"},
                {"a=4,b=4", "f32[64,128]"},
                {"a=4,b=4", "bf16[8192,8192]"},
                {"a=8,b=4", "f32[4096,4096]"}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        fixture *f = test_calloc(1, sizeof *f);
        begin(f, rows[r].axes, rows[r].array);
        price_all(f);
        find_least(f);
        for (int from = 0; from < NODES; from++)
            for (int to = 0; to < NODES; to++)
                if (from != to && f->least_ps[from][to] >= 0 && (from + to) % stride(4, 16) == 0)
                    check_pair(f, from, to);
        ts_arena_free(f->arena);
        test_free(f);
    }
}
