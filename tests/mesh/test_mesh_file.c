/* Mesh files and links that have failed: what is read, errors and their places, routes, flits and injection. */
#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mesh/embedded.h"
#include "mesh/mesh_file.h"
#include "mesh/reshard.h"
#include "tests/support/mesh_routes.h"
#include "tests/support/temporary.h"

typedef struct {
    ts_arena *arena;
    ts_error err;
    ts_mesh mesh;
} fixture;

static bool read_tree(fixture *f, const char *text, const ts_mesh_file **file) {
    const ts_machine *machine = NULL;
    ts_source *source = TS_NEW(f->arena, ts_source);
    *source = (ts_source){"mesh.yaml", text, strlen(text)};
    const ts_tree *tree = ts_tree_parse(&f->err, f->arena, source);
    *file = tree ? ts_mesh_file_read(&f->err, f->arena, tree, &machine) : NULL;
    return *file != NULL;
}

static bool read_mesh(fixture *f, const char *axes, const char *machine, const char *const *failed,
                      int count) {
    memset(f, 0, sizeof *f);
    f->arena = ts_arena_new();
    ts_mesh_request request = {
        .axes = {"--mesh", axes, strlen(axes)}, .failed = failed, .failed_count = count};
    if (machine) request.machine = ts_machine_load(&f->err, f->arena, machine);
    return ts_mesh_read(&f->err, f->arena, &request, &f->mesh);
}

TEST(test_shipped) {
    static const struct {
        const char *name;
        int64_t devices;
        int rings;
        const char *last_axis;
    } rows[] = {{"v4-64", 64, 3, "z"},    {"v4-4096", 4096, 3, "z"},  {"v5e-16", 16, 0, "y"},
                {"v5e-256", 256, 2, "y"}, {"v5p-64", 64, 3, "z"},     {"v5p-6144", 6144, 3, "z"},
                {"v6e-256", 256, 2, "y"}, {"v7x-64", 128, 3, "core"}, {"v7x-9216", 18432, 3, "core"}};
    assert_int_equal(ts_embedded_slice_count, sizeof rows / sizeof *rows);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        if (!read_mesh(&f, rows[i].name, NULL, NULL, 0)) fail_msg("%s: %s", rows[i].name, f.err.message);
        int rings = 0;
        for (int d = 0; d < f.mesh.dim_count; d++) rings += f.mesh.ring[d];
        assert_int_equal(f.mesh.device_count, rows[i].devices);
        assert_int_equal(rings, rows[i].rings);
        assert_string_equal(f.mesh.axes[f.mesh.axis_count - 1].name, rows[i].last_axis);
        assert_int_equal(f.mesh.axes[f.mesh.axis_count - 1].stride, 1);
        assert_int_equal(f.mesh.ici->flit_bytes, 128);
        ts_arena_free(f.arena);
    }
}

#define HEAD "title: t\nmachine: tpu-v4\n"
#define DIMS "dims:\n  x: {chips: 4, wrap: line}\n  y: {chips: 8, wrap: rule}\n"

TEST(test_fields) {
    fixture f = {.arena = ts_arena_new()};
    const ts_mesh_file *file;
    const int32_t *order;
    assert_true(
        read_tree(&f, HEAD DIMS "axes:\n  data: {devices: 32}\norder: 1,0\nici: {hop: 2 us}\n", &file));
    assert_int_equal(file->dim_count, 2);
    assert_int_equal(file->dims[0].wrap, TS_MESH_WRAP_LINE);
    assert_int_equal(file->axes[0].devices, 32);
    assert_int_equal(file->ici.hop_ps, 2000000);
    assert_int_equal(file->ici.rate, 50000); /* the machine's */
    assert_true(ts_mesh_file_order(&f.err, f.arena, file, 2, &order));
    assert_int_equal(order[0], 1);
    assert_int_equal(order[1], 0);
    assert_false(ts_mesh_file_order(&f.err, f.arena, file, 4096, &order));
    assert_non_null(strstr(f.err.message, "found the end, expected ','"));
    f.err = (ts_error){0};
    assert_false(ts_mesh_file_order(&f.err, f.arena, file, 4097, &order));
    assert_non_null(strstr(f.err.message, "(of at most 4096)"));
    f.err = (ts_error){0};
    assert_true(read_tree(&f, HEAD DIMS, &file));
    assert_true(ts_mesh_file_order(&f.err, f.arena, file, 32, &order));
    assert_null(order);
    static const struct {
        const char *text;
        bool is;
    } names[] = {{"/4x4", true}, {".4", true}, {"4x4", false}, {"", false},  {"a", true},  {"z9", true},
                 {"A", true},    {"Z9", true}, {"@", false},   {"[", false}, {"`", false}, {"{", false}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(ts_mesh_file_is(names[i].text, strlen(names[i].text)), names[i].is);
    assert_false(ts_mesh_file_is("4/x", 1));
    assert_false(ts_mesh_file_is("a=2,b=4", 7));
    assert_true(ts_mesh_file_is("v4-64", 5));
    assert_true(ts_mesh_file_is("./4x4.yaml", 10));
    ts_arena_free(f.arena);
}

TEST(test_errors) {
    static const struct {
        const char *text;
        int line, column;
        const char *message;
    } rows[] = {
        {"title: t\n", 1, 1, "'machine' is missing: whose chips they are, where -m names no other"},
        {"title: t\nmachine: tpu-v44\n" DIMS, 2, 10,
         "no machine is called 'tpu-v44', and it is no path of a file: the built-in ones are"},
        {HEAD "dims: {}\n", 3, 7, "dims: found a mapping, expected a mapping with 1 to 4 keys"},
        {HEAD "dims:\n  x: {chips: 4}\n", 4, 6,
         "'dims.x.wrap' is missing: whether the ends are joined: by the machine's rule, as a ring, or not"},
        {HEAD "dims:\n  x: {chips: 0, wrap: rule}\n", 4, 14, "dims.x.chips: found '0'"},
        {HEAD "dims:\n  x: {chips: 4, wrap: torus}\n", 4, 23, "dims.x.wrap: found 'torus'"},
        {HEAD DIMS "ici: {hops: 1 us}\n", 6, 7, "'ici.hops'"},
        {HEAD DIMS "links: 4\n", 6, 1, "'links'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f = {.arena = ts_arena_new()};
        const ts_mesh_file *file;
        assert_false(read_tree(&f, rows[i].text, &file));
        if (!strstr(f.err.message, rows[i].message) || f.err.line != rows[i].line ||
            f.err.column != rows[i].column)
            fail_msg("row %zu: %d:%d: %s", i, f.err.line, f.err.column, f.err.message);
        ts_arena_free(f.arena);
    }
}

/* Names of no file, and what is no mapping where the machine is known. */
TEST(test_no_mesh) {
    fixture f;
    assert_false(read_mesh(&f, "v4-65", "tpu-v4", NULL, 0));
    assert_string_equal(f.err.message,
                        "no mesh is called 'v4-65', and it is neither axes, as 4x4 or data=2,model=8, nor a "
                        "path: the built-in ones "
                        "are v4-4096, v4-64, v5e-16, v5e-256, v5p-6144, v5p-64, v6e-256, v7x-64, v7x-9216; "
                        "did you mean 'v4-64'?");
    f.err = (ts_error){0};
    const ts_machine *machine = ts_machine_load(&f.err, f.arena, "tpu-v4");
    const ts_source source = {"mesh.yaml", "v4\n", 3};
    const ts_tree *tree = ts_tree_parse(&f.err, f.arena, &source);
    assert_null(ts_mesh_file_read(&f.err, f.arena, tree, &machine));
    assert_non_null(strstr(f.err.message, "mapping"));
    ts_arena_free(f.arena);
}

TEST(test_orders_refused) {
    static const struct {
        const char *order, *message;
    } rows[] = {{"order: 0,1,2\n", "found the end, expected ','"},
                {"order: 0,1,2,2\n", "chip 2 a second time"},
                {"order: 0,0,1,2\n", "chip 0 a second time"},
                {"order: 0,1,2,4\n", "chip 4, the mesh has 0 to 3"},
                {"order: 9,1,2,3\n", "chip 9, the mesh has 0 to 3"},
                {"order: ':0'\n", "order: found ':0', expected row_major, or the chips' numbers"},
                {"order: 0,1,2,3,4\n", "found ',', expected the end: each chip stood once"},
                {"order: rows\n", "order: found 'rows', expected row_major, or the chips' numbers"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f = {.arena = ts_arena_new()};
        const ts_mesh_file *file;
        const int32_t *order;
        ts_text text = ts_text_begin(f.arena);
        ts_text_add(&text, HEAD DIMS "%s", rows[i].order);
        assert_true(read_tree(&f, text.bytes, &file));
        assert_false(ts_mesh_file_order(&f.err, f.arena, file, 4, &order));
        if (!strstr(f.err.message, rows[i].message)) fail_msg("row %zu: %s", i, f.err.message);
        ts_arena_free(f.arena);
    }
}

/* Files whose dims and axes are not of one number of devices, or of no slice of the machine. */
TEST(test_meshes_refused) {
    static const struct {
        const char *body;
        int line;
        const char *message;
    } rows[] = {
        {DIMS "axes: {a: {devices: 5}}\n", 6,
         "the mesh has 5 devices, the topology 32 chips of 1: the products must be equal"},
        {DIMS "axes: {a: {devices: 512}, b: {devices: 256}}\n", 6, "more than 65536 devices"},
        {"dims: {x: {chips: 512, wrap: rule}, y: {chips: 256, wrap: line}}\n", 3, "more than 65536 devices"},
        {"dims: {x: {chips: 64, wrap: rule}, y: {chips: 128, wrap: line}}\n", 3,
         "found 8192 chips, a slice of tpu-v4 has at most 4096"},
        {"dims: {a: {chips: 2, wrap: line}, b: {chips: 2, wrap: line}, c: {chips: 2, wrap: line}, d: {chips: "
         "2, "
         "wrap: line}}\n",
         3, "the links of tpu-v4 form a grid of 3 dims, found 4; a topology says how the chips lie"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        char path[TEMPORARY_PATH];
        int descriptor = mkstemp(temporary_path(path, "test_mesh_XXXXXX"));
        dprintf(descriptor, HEAD "%s", rows[i].body);
        close(descriptor);
        assert_false(read_mesh(&f, path, NULL, NULL, 0));
        unlink(path);
        if (strcmp(f.err.message, rows[i].message) != 0 || f.err.line != rows[i].line)
            fail_msg("row %zu: %d: %s", i, f.err.line, f.err.message);
        ts_arena_free(f.arena);
    }
}

/* ---- Failed links ---- */

TEST(test_routes_around) {
    static const char *const failed[] = {"(0,0)->(0,1)", "( 1 , 2 ) -> (2,2)", "(0,0)->(3,0)"};
    fixture f;
    assert_true(read_mesh(&f, "4x4", "tpu-v4", failed, 3));
    for (int64_t from = 0; from < 16; from++)
        for (int64_t to = 0; to < 16; to++) check_route(&f.mesh, from, to);
    int64_t loads[64] = {0};
    assert_int_equal(ts_mesh_route(&f.mesh, 0, 1, 1, loads), 3); /* (0,0) (1,0) (1,1) (0,1) */
    assert_int_equal(loads[0], 1);
    ts_arena_free(f.arena);
}

/* Where no link of it has failed a route is what it is on a mesh where all work. */
TEST(test_other_routes_stay) {
    static const char *const failed[] = {"(0,0)->(0,1)", "(1,2)->(2,2)", "(0,0)->(3,0)"};
    fixture f, whole;
    int same = 0;
    assert_true(read_mesh(&f, "4x4", "tpu-v4", failed, 3));
    assert_true(read_mesh(&whole, "4x4", "tpu-v4", NULL, 0));
    for (int64_t from = 0; from < 16; from++) {
        for (int64_t to = 0; to < 16; to++) {
            int64_t loads[2][64] = {{0}};
            bool works = true;
            ts_mesh_route(&f.mesh, from, to, 1, loads[0]);
            ts_mesh_route(&whole.mesh, from, to, 1, loads[1]);
            ts_mesh_sum_loads(&f.mesh, loads[0]);
            ts_mesh_sum_loads(&whole.mesh, loads[1]);
            for (int link = 0; link < 64; link++)
                works = works && (loads[1][link] == 0 || ts_mesh_has_link(&f.mesh, link));
            if (works) assert_memory_equal(loads[0], loads[1], sizeof loads[0]);
            same += works;
        }
    }
    assert_in_range(same, 200, 255);
    ts_arena_free(f.arena);
    ts_arena_free(whole.arena);
}

TEST(test_failures_refused) {
    static const struct {
        const char *failed[2];
        int column;
        const char *message;
    } rows[] = {
        {{"(0,0)->(1,1)"}, 1, "there is no such link: the chips are not neighbours, or it is given twice"},
        {{"(0,0)->(0,1)", "(0,0)->(0,1)"},
         1,
         "there is no such link: the chips are not neighbours, or it is given twice"},
        {{"(0,4)->(0,1)"}, 4, "coordinate 4, the dim has 0 to 1"},
        {{"(0,0)"}, 6, "found the end, expected '->'"},
        {{"(0,0)->(0,1"}, 12, "found the end, expected ')'"},
        {{"(0,0)->(0,1) x"}, 14, "found 'x', expected the end"},
        {{"(0,0)->(0,1)", "(0,0)->(1,0)"}, 1, "no way is left from (0,0) to (0,1)"},
        {{"(0,1)->(0,0)", "(1,0)->(0,0)"}, 1, "no way is left from (0,1) to (0,0)"},
        {{"(0,1)->(1,1)", "(1,0)->(1,1)"}, 1, "no way is left from (0,0) to (1,1)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        assert_false(read_mesh(&f, "2x2", "tpu-v4", rows[i].failed, rows[i].failed[1] ? 2 : 1));
        if (strcmp(f.err.message, rows[i].message) != 0 || f.err.column != rows[i].column)
            fail_msg("row %zu: %d: %s", i, f.err.column, f.err.message);
        ts_arena_free(f.arena);
    }
}

static bool plan_of(fixture *f, const char *from, const char *to, ts_reshard_plan *plan) {
    static ts_sharding ends[2];
    ts_source a = {"source", from, strlen(from)}, b = {"destination", to, strlen(to)};
    ts_reshard_request request = {.mesh = &f->mesh, .source = &ends[0], .destination = &ends[1]};
    return ts_sharding_parse(&f->err, f->arena, &f->mesh, &a, &ends[0]) &&
           ts_sharding_parse(&f->err, f->arena, &f->mesh, &b, &ends[1]) &&
           ts_reshard(&f->err, f->arena, &request, plan);
}

/* Plans are made with bytes on meshes with failures and with chips in another order; none is faster than its bound, or
 * than on a mesh where all links work. */
TEST(test_plans) {
    static const char *const failed[] = {"(0,0)->(0,1)", "(2,1)->(1,1)"};
    static const char *const pairs[][2] = {{"f32[16,32] P(('x','y'))", "f32[16,32]"},
                                           {"f32[16,32] P('x','y')", "f32[16,32] P('y')"},
                                           {"f32[16,32] P('x')", "f32[16,32] P(None,'x')"},
                                           {"f32[16,32] P(unreduced={'x','y'})", "f32[16,32]"},
                                           {"f32[16,32] P('y',unreduced={'x'})", "f32[16,32] P('y','x')"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        fixture whole, broken;
        ts_reshard_plan a, b;
        ts_reshard_proof proof;
        assert_true(read_mesh(&whole, "4x4", "tpu-v4", NULL, 0));
        assert_true(read_mesh(&broken, "4x4", "tpu-v4", failed, 2));
        assert_true(plan_of(&whole, pairs[i][0], pairs[i][1], &a));
        assert_true(plan_of(&broken, pairs[i][0], pairs[i][1], &b));
        assert_true(ts_reshard_prove(&broken.err, broken.arena, &b, 1 << 14, &proof));
        assert_true(b.ps >= a.ps && b.bound_ps <= b.ps && a.bound_ps <= a.ps);
        for (int64_t link = 0; link < ts_mesh_link_count(&broken.mesh); link++)
            for (int c = 0; c < b.count; c++)
                assert_true(ts_mesh_has_link(&broken.mesh, link) || b.prices[c].loads[link] == 0);
        int32_t order[16];
        for (int c = 0; c < 16; c++) order[c] = (5 * c + 3) % 16;
        whole.mesh.order = order;
        assert_true(plan_of(&whole, pairs[i][0], pairs[i][1], &b));
        assert_true(ts_reshard_prove(&whole.err, whole.arena, &b, 1 << 14, &proof));
        assert_true(b.ps >= a.ps && b.bound_ps <= b.ps);
        ts_arena_free(whole.arena);
        ts_arena_free(broken.arena);
    }
}

/* ---- Flits and injection: v4 has 45 GB/s a link, 1 us a hop, 3.8 us to launch ---- */

TEST(test_flits_and_injection) {
    static const struct {
        const char *array;
        int64_t flit, injection, link_bytes;
        double us;
    } rows[] = {
        /* 4 chips to all others at once, two messages a link: of 1 byte one is a flit; of 258, three */
        {"u8[4]", 128, 0, 2 * 128, 3.8 + 2 + 2 * 128 / 45000.0},
        {"u8[1032]", 128, 0, 2 * 384, 3.8 + 2 + 2 * 384 / 45000.0},
        {"u8[1032]", 64, 0, 2 * 320, 3.8 + 2 + 2 * 320 / 45000.0},
        /* a chip sends 3 MB over two links in 33.3 us, or at 10 GB/s in all, of which nine tenths are reached: all at once
         * is as good as round the ring */
        {"u8[4000000]", 1, 0, 1500000, 3.8 + 3 + 1500000 / 45000.0},
        {"u8[4000000]", 1, 10000, 2000000, 3.8 + 2 + 3000000 / 9000.0},
        {"u8[4000000]", 1, 200000, 1500000, 3.8 + 3 + 1500000 / 45000.0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        ts_reshard_plan plan;
        ts_text text;
        assert_true(read_mesh(&f, "4", "tpu-v4", NULL, 0));
        ts_machine_ici ici = *f.mesh.ici;
        ici.flit_bytes = rows[i].flit;
        ici.injection = rows[i].injection;
        f.mesh.ici = &ici;
        text = ts_text_begin(f.arena);
        ts_text_add(&text, "%s P('x')", rows[i].array);
        assert_true(plan_of(&f, text.bytes, rows[i].array, &plan));
        if (plan.prices[0].link_bytes != rows[i].link_bytes || fabs(plan.ps / 1e6 - rows[i].us) > 1e-6)
            fail_msg("row %zu: %lld bytes, %.6f us", i, (long long)plan.prices[0].link_bytes, plan.ps / 1e6);
        ts_arena_free(f.arena);
    }
}
