/* Meshes: what is read, errors and their columns, and routes against a search over the links. */
#include "tests/support/rounds.h"
#include "tests/support/test.h"

#include <string.h>

#include "mesh/mesh.h"
#include "tests/support/mesh_routes.h"
#include "tests/support/random_layout.h"

typedef struct {
    const char *machine, *axes, *topology;
} mesh_text;

static bool read_mesh(ts_error *err, ts_arena *arena, const mesh_text *text, ts_mesh *mesh) {
    const ts_machine *machine = text->machine ? ts_machine_load(err, arena, text->machine) : NULL;
    ts_mesh_request request = {.machine = machine, .axes = {"--mesh", text->axes, strlen(text->axes)}};
    if (text->topology) request.topology = (ts_source){"--topology", text->topology, strlen(text->topology)};
    return (machine || !text->machine) && ts_mesh_read(err, arena, &request, mesh);
}

TEST(test_read) {
    static const struct {
        mesh_text text;
        int axes, dims;
        int64_t devices, chips;
        int rings;
        const char *second;
        int64_t stride; /* of the first axis */
    } rows[] = {
        {{"tpu-v5e", "4x4", NULL}, 2, 2, 16, 16, 0, "y", 4},
        {{"tpu-v5e", "16x2", NULL}, 2, 2, 32, 32, 1, "y", 2},
        {{"tpu-v4", "4x4x8", NULL}, 3, 3, 128, 128, 3, "y", 32},
        {{"tpu-v4", "data=2, model = 8", "2x2x4"}, 2, 3, 16, 16, 1, "model", 8},
        {{"tpu-v7x", "x=4,core=2", "2x2"}, 2, 2, 8, 4, 0, "core", 2},
        {{"tpu-v5p", "1x8", NULL}, 2, 2, 8, 8, 1, "y", 8},
        {{"tpu-v5p", "a=1,b=2,c=1,d=4,e=1,f=1,g=2,h=1", NULL}, 8, 3, 16, 16, 1, "b", 16},
        {{"tpu-v5p", "a=1,b=1,c=1,d=1,e=1", NULL}, 5, 1, 1, 1, 0, "b", 1},
        {{"tpu-v4", "a=1,b=4", "w=4,x=1,y=1,z=1,last=1"}, 2, 1, 4, 4, 1, "b", 4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_mesh mesh;
        if (!read_mesh(&err, arena, &rows[i].text, &mesh)) fail_msg("%s: %s", rows[i].text.axes, err.message);
        int rings = 0;
        for (int d = 0; d < mesh.dim_count; d++) rings += mesh.ring[d];
        assert_int_equal(mesh.axis_count, rows[i].axes);
        assert_int_equal(mesh.dim_count, rows[i].dims);
        assert_int_equal(mesh.device_count, rows[i].devices);
        assert_int_equal(mesh.chip_count, rows[i].chips);
        assert_int_equal(rings, rows[i].rings);
        assert_string_equal(mesh.axes[1].name, rows[i].second);
        assert_int_equal(mesh.axes[0].stride, rows[i].stride);
        assert_int_equal(ts_mesh_find_axis(&mesh, rows[i].second, strlen(rows[i].second)), 1);
        assert_int_equal(ts_mesh_find_axis(&mesh, "none", 4), -1);
        assert_int_equal(ts_mesh_coordinate(&mesh, mesh.device_count - 1, 0), mesh.axes[0].extent - 1);
        ts_arena_free(arena);
    }
}

/* Two chips have one link between them, whatever the machine closes to rings. */
TEST_WITH_ARENA(two_chips_are_no_ring) {
    static const char *const pairs[] = {"ici.wrap=2"};
    ts_mesh mesh;
    const ts_machine *machine = ts_machine_load_with(NULL, arena, "tpu-v5e", "--set", pairs, 1);
    ts_mesh_request request = {.machine = machine, .axes = {"--mesh", "2x4", 3}};
    assert_non_null(machine);
    assert_true(ts_mesh_read(NULL, arena, &request, &mesh));
    assert_false(mesh.ring[0]);
    assert_true(mesh.ring[1]);
}

TEST(test_errors) {
    static const struct {
        mesh_text text;
        int column;
        const char *message;
    } rows[] = {
        {{"tpu-v5e", "4x0", NULL}, 3, "found extent 0, expected 1 to 65536"},
        {{"tpu-v5e", "4x", NULL}, 3, "found the end, expected an extent"},
        {{"tpu-v5e", "", NULL}, 1, "found the end, expected an extent"},
        {{"tpu-v5e", "4x4 4", NULL}, 5, "found '4', expected 'x' or the end"},
        {{"tpu-v5e", "a=4,a=4", "4x4"}, 5, "a second axis of this name"},
        {{"tpu-v5e", "a=4,4", "4x4"}, 5, "found '4', expected the name of an axis"},
        {{"tpu-v5e", "1x1x1x1x1", NULL}, 9, "more than 4 extents"},
        {{"tpu-v5e", "-4", NULL}, 1, "found extent -4, expected 1 to 65536"},
        {{"tpu-v5e", "65537", NULL}, 1, "found extent 65537, expected 1 to 65536"},
        {{"tpu-v5e", "a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1", "1"}, 33, "more than 8 axes"},
        {{"tpu-v5e", "a=4 b=4", "4x4"}, 5, "found 'b', expected ',' or the end"},
        {{"tpu-v5e", "4x4", "65536x2"}, 1, "more than 65536 chips"},
        {{"tpu-v5e", "4x4", "4x"}, 3, "found the end, expected an extent"},
        {{"tpu-v5e", "4x4", "16x1x1x1x1"}, 10, "more than 4 extents"},
        {{"tpu-v5e", "6x4", "4x4"},
         1,
         "the mesh has 24 devices, the topology 16 chips of 1: the products must be equal"},
        {{"tpu-v7x", "3x3", "2x2"},
         1,
         "the mesh has 9 devices, the topology 4 chips of 2: the products must be equal"},
        {{"tpu-v5e", "v5e-16", "4x4"}, 1, "the mesh file says how the chips lie"},
        {{NULL, "4x4", NULL}, 0, "a mesh that is no file needs a machine"},
        {{"tpu-v5e", "65536x2", NULL}, 1, "more than 65536 devices"},
        {{"tpu-v5e", "2x2x2", NULL},
         1,
         "the links of tpu-v5e form a grid of 2 dims, found 3; a topology says how the chips lie"},
        {{"tpu-v5p", "a=2,b=2,c=2,d=2,e=2", NULL},
         1,
         "the links of tpu-v5p form a grid of 3 dims, found 5; a topology says how the chips lie"},
        {{"hbm2-reference", "a=2,b=2,c=2,d=2,e=2", NULL},
         0,
         "hbm2-reference has no links between chips (ici.dims is 0)"},
        {{"tpu-v5e", "32x16", NULL}, 1, "found 512 chips, a slice of tpu-v5e has at most 256"},
        {{"tpu-v5e", "4x4", "2x4"},
         1,
         "the mesh has 16 devices, the topology 8 chips of 1: the products must be equal"},
        {{"tpu-v7x", "4x4", NULL},
         1,
         "a chip of tpu-v7x is 2 devices: a topology must say how the chips lie"},
        {{"hbm2-reference", "4x4", NULL}, 0, "hbm2-reference has no links between chips (ici.dims is 0)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_mesh mesh;
        assert_false(read_mesh(&err, arena, &rows[i].text, &mesh));
        assert_string_equal(err.message, rows[i].message);
        assert_int_equal(err.column, rows[i].column);
        ts_arena_free(arena);
    }
}

/* ---- Routes ---- */

TEST(test_routes) {
    static const mesh_text texts[] = {
        {"tpu-v5e", "3x5", NULL},  {"tpu-v4", "4x8", NULL},    {"tpu-v4", "4x2x4", NULL},
        {"tpu-v5e", "16x2", NULL}, {"tpu-v7x", "16x2", "4x4"}, {"tpu-v4", "8", NULL},
    };
    uint64_t seed = 20;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_mesh mesh;
        if (!read_mesh(&err, arena, &texts[i], &mesh)) fail_msg("%s: %s", texts[i].axes, err.message);
        for (int j = 0; j < cases(200, 30); j++)
            check_route(&mesh, random_below(&seed, (uint32_t)mesh.device_count),
                        random_below(&seed, (uint32_t)mesh.device_count));
        ts_arena_free(arena);
    }
}

/* Loads of several routes add up, on the same links too. */
TEST_WITH_ARENA(test_sums) {
    ts_error err = {0};
    ts_mesh mesh;
    assert_true(read_mesh(&err, arena, &(mesh_text){"tpu-v4", "8", NULL}, &mesh));
    int64_t loads[16] = {0};
    assert_int_equal(ts_mesh_route(&mesh, 6, 1, 10, loads), 3); /* 6 7 0 1 */
    assert_int_equal(ts_mesh_route(&mesh, 7, 2, 100, loads), 3);
    assert_int_equal(ts_mesh_route(&mesh, 1, 6, 1000, loads), 3);
    assert_int_equal(ts_mesh_route(&mesh, 0, 4, 10000, loads), 4); /* both ways are as long: up */
    ts_mesh_sum_loads(&mesh, loads);
    static const int64_t up[] = {10110, 10100, 10000, 10000, 0, 0, 10, 110},
                         down[] = {1000, 1000, 0, 0, 0, 0, 0, 1000};
    for (int i = 0; i < 8; i++) {
        assert_int_equal(loads[2 * i], up[i]);
        assert_int_equal(loads[2 * i + 1], down[i]);
    }
    assert_int_equal(ts_mesh_least_links(&mesh), 2);
    assert_string_equal(ts_mesh_link_text(arena, &mesh, 15), "(7) -> (6)");
    assert_string_equal(ts_mesh_link_text(arena, &mesh, 14), "(7) -> (0)");
}

/* ---- Two rings without a common link ---- */

/* Both go through all chips over links, and no link is in both, or twice in one, either way. */
static void check_rings(const ts_mesh *mesh, ts_arena *arena, int32_t *const chips[2]) {
    bool *used = TS_NEW_ARRAY(arena, bool, mesh->chip_count * mesh->chip_count);
    for (int ring = 0; ring < 2; ring++) {
        bool seen[TS_MESH_TWO_RINGS_CHIPS] = {false};
        for (int64_t i = 0; i < mesh->chip_count; i++) {
            int64_t a = chips[ring][i], b = chips[ring][(i + 1) % mesh->chip_count],
                    links = 2 * mesh->dim_count;
            bool neighbours = false;
            for (int64_t link = a * links; link < (a + 1) * links; link++)
                neighbours =
                    neighbours || (ts_mesh_has_link(mesh, link) && ts_mesh_link_end(mesh, link) == b);
            assert_true(neighbours && !seen[a]);
            assert_false(used[a * mesh->chip_count + b]);
            seen[a] = used[a * mesh->chip_count + b] = used[b * mesh->chip_count + a] = true;
        }
    }
}

/* A torus of two dims has them (Foregger, "Hamiltonian decompositions of products of cycles", 1978). */
TEST(test_two_rings) {
    static const struct {
        mesh_text text;
        bool has;
    } rows[] = {
        {{"tpu-v4", "4x4", NULL}, true},   {{"tpu-v4", "4x8", NULL}, true},
        {{"tpu-v4", "8x4", NULL}, true},   {{"tpu-v4", "8x8", NULL}, true},
        {{"tpu-v4", "4x12", NULL}, true},  {{"tpu-v4", "16x4", NULL}, true},
        {{"tpu-v4", "4x4x4", NULL}, true}, {{"tpu-v4", "4x4x2", NULL}, true},
        {{"tpu-v7x", "32", "4x4"}, true},  {{"tpu-v4", "4x2", NULL}, false},   /* 3 links a chip */
        {{"tpu-v4", "8x12", NULL}, false},                                     /* too many chips */
        {{"tpu-v4", "16", NULL}, false},   {{"tpu-v5e", "4x4", NULL}, false},  /* lines */
        {{"tpu-v4", "4x3x3", NULL}, true}, {{"tpu-v4", "4x5x2", NULL}, false}, /* a ring and two lines */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_mesh mesh;
        int32_t first[TS_MESH_TWO_RINGS_CHIPS], second[TS_MESH_TWO_RINGS_CHIPS];
        int32_t *const chips[2] = {first, second};
        assert_true(read_mesh(&err, arena, &rows[i].text, &mesh));
        if (ts_mesh_two_rings(&mesh, first, second) != rows[i].has) fail_msg("%s", rows[i].text.axes);
        if (rows[i].has) check_rings(&mesh, arena, chips);
        mesh.order = first;
        assert_false(ts_mesh_two_rings(&mesh, first, second));
        mesh.order = NULL;
        mesh.failed = TS_NEW_ARRAY(arena, bool, ts_mesh_link_count(&mesh));
        assert_false(ts_mesh_two_rings(&mesh, first, second));
        ts_arena_free(arena);
    }
}
