/* Shardings: every notation, errors and their columns, and HLO's tile assignments against their definition. */
#include "tests/support/rounds.h"
#include "tests/support/test.h"

#include <string.h>

#include "mesh/collective.h"
#include "tests/support/random_layout.h"

static void make_mesh(ts_arena *arena, const char *axes, ts_mesh *mesh) {
    ts_error err = {0};
    ts_mesh_request request = {.machine = ts_machine_load(&err, arena, "tpu-v4"),
                               .axes = {"--mesh", axes, strlen(axes)}};
    if (!request.machine || !ts_mesh_read(&err, arena, &request, mesh)) fail_msg("%s: %s", axes, err.message);
}

static bool parse(ts_error *err, ts_arena *arena, const ts_mesh *mesh, const char *text, ts_sharding *out) {
    ts_source source = {"source", text, strlen(text)};
    return ts_sharding_parse(err, arena, mesh, &source, out);
}

static const char *print(ts_arena *arena, const ts_mesh *mesh, const ts_sharding *s, int form) {
    const char *text = form == 0   ? ts_sharding_hlo_text(arena, s)
                       : form == 1 ? ts_sharding_spec_text(arena, mesh, s)
                                   : ts_sharding_axe_text(arena, mesh, s);
    return text ? text : "none";
}

TEST(test_forms) {
    static const struct {
        const char *text, *hlo, *spec, *axe; /* on x=2, y=4, z=2 */
    } rows[] = {
        {"f32[8,16]", "{replicated}", "P(None, None)", "S[(8,16):(16,1)] + R[(2,4,2):(1@x,1@y,1@z)]"},
        {"f32[8,16] {replicated}", "{replicated}", "P(None, None)",
         "S[(8,16):(16,1)] + R[(2,4,2):(1@x,1@y,1@z)]"},
        {"f32[8,16] PartitionSpec('x', None)", "{devices=[2,1,8]<=[16] last_tile_dim_replicate}",
         "P('x', None)", "S[(2,4,16):(1@x,16,1)] + R[(4,2):(1@y,1@z)]"},
        {"f32[0,16] P(('y', 'x'), 'z')", "{devices=[8,2]<=[2,4,2]T(1,0,2)}", "P(('y', 'x'), 'z')",
         "S[(4,2,0,2,8):(1@y,1@x,0,1@z,1)]"},
        {"f32[8,16] P('x')", "{devices=[2,1,8]<=[16] last_tile_dim_replicate}", "P('x', None)",
         "S[(2,4,16):(1@x,16,1)] + R[(4,2):(1@y,1@z)]"},
        {"f32[8,16]{0,1:T(8,128)} P(None, ('z', \"x\"))",
         "{devices=[1,4,4]<=[8,2]T(1,0) last_tile_dim_replicate}", "P(None, ('z', 'x'))",
         "S[(8,2,2,4):(4,1@z,1@x,1)] + R[(4):(1@y)]"},
        {"f32[8,16] P('x', unreduced={'y'})",
         "{devices=[2,1,2,4]<=[2,4,2]T(0,2,1) last_tile_dims={replicated, unreduced}}",
         "P('x', None, unreduced={'y'})", "S[(2,4,16):(1@x,16,1)] + R[(2):(1@z)]"},
        {"f32[10] P('y')", "{devices=[4,4]<=[2,4,2]T(1,0,2) last_tile_dim_replicate}", "P('y')",
         "S[(4,3):(1@y,1)] + R[(2,2):(1@x,1@z)]"},
        {"f32[] P()", "{replicated}", "P()", "S[(1):(1)] + R[(2,4,2):(1@x,1@y,1@z)]"},
        {"f32[16,16] {devices=[4,4]<=[16]}", "{devices=[4,4]<=[16]}", "none",
         "S[(2,2,4,2,2,4):(1@x,2@y,4,1@y,1@z,1)]"},
        {"f32[16,16] {devices=[4,4]<=[2,4,2]T(1,0,2)}", "{devices=[4,4]<=[2,4,2]T(1,0,2)}",
         "P('y', ('x', 'z'))", "S[(4,4,2,2,4):(1@y,4,1@x,1@z,1)]"},
        {"f32[8] {devices=[2,8]0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15 last_tile_dim_replicate}",
         "{devices=[2,8]<=[16] last_tile_dim_replicate}", "P('x')", "S[(2,4):(1@x,1)] + R[(4,2):(1@y,1@z)]"},
        {"f32[8] {devices=[2,8]0,2,4,6,8,10,12,14,1,3,5,7,9,11,13,15 last_tile_dims={replicated}}",
         "{devices=[2,8]<=[8,2]T(1,0) last_tile_dim_replicate}", "P('z')",
         "S[(2,4):(1@z,1)] + R[(2,4):(1@x,1@y)]"},
        {"f32[8,16] #sdy.sharding<@mesh, [{\"x\", \"z\"}, {\"y\":(2)2, ?}p1], replicated={\"y\":(1)2}>",
         "{devices=[4,2,2]<=[2,2,2,2]T(0,3,2,1) last_tile_dim_replicate}", "none",
         "S[(2,2,2,2,8):(1@x,1@z,8,1@y,1)] + R[(2):(2@y)]"},
        {"f32[8,16] #sdy.sharding<@m, [{?}, {}], unreduced={\"x\"}>",
         "{devices=[1,1,8,2]<=[2,8]T(1,0) last_tile_dims={replicated, unreduced}}",
         "P(None, None, unreduced={'x'})", "S[(8,16):(16,1)] + R[(4,2):(1@y,1@z)]"},
        {"f32[8,16] S[(2,4,2,8):(1@x,16,1@z,1)] + R[4:1@y]",
         "{devices=[2,2,4]<=[2,4,2]T(0,2,1) last_tile_dim_replicate}", "P('x', 'z')",
         "S[(2,4,2,8):(1@x,8,1@z,1)] + R[(4):(1@y)]"},
        {"f32[8,16] S[(4,2,16):(16,1@x,1)] + R[(4,2):(1@y,1@z)]", "none", "none",
         "S[(4,2,16):(16,1@x,1)] + R[(4,2):(1@y,1@z)]"},
        {"f32[8] S[(2,4):(1@x,1)] + R[(4,2,2):(1@y,1@z,1@lane)]",
         "{devices=[2,8]<=[16] last_tile_dim_replicate}", "P('x')",
         "S[(2,4):(1@x,1)] + R[(4,2):(1@y,1@z)]"}, /* copies in a memory are on no device */
        {"f32[256] S[(2,2,2,2,2,2,2,2):(1@vreg,1@sublane,1@sub,1@reg,1@warp,1@laneid,1@m,1)]", "{replicated}",
         "P(None)", "S[(256):(1)] + R[(2,4,2):(1@x,1@y,1@z)]"},
        {"f32[8,2] lambda i, j: [i, SEP, j]", "{replicated}", "P(None, None)",
         "S[(8,2):(2,1)] + R[(2,4,2):(1@x,1@y,1@z)]"},
        {"f32[16,2] S[(16,2):(1@device,1)]", "{devices=[16,1]<=[16]}", "P(('x', 'y', 'z'), None)",
         "S[(2,4,2,2):(1@x,1@y,1@z,1)]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_mesh mesh;
        ts_sharding s;
        make_mesh(arena, "x=2,y=4,z=2", &mesh);
        if (!parse(&err, arena, &mesh, rows[i].text, &s)) fail_msg("%s: %s", rows[i].text, err.message);
        assert_string_equal(print(arena, &mesh, &s, 0), rows[i].hlo);
        assert_string_equal(print(arena, &mesh, &s, 1), rows[i].spec);
        assert_string_equal(print(arena, &mesh, &s, 2), rows[i].axe);
        ts_arena_free(arena);
    }
}

/* ---- Errors ---- */

TEST(test_errors) {
    static const struct {
        const char *text;
        int column;
        const char *message;
    } rows[] = {
        {"f32[8,16] P('x', 'x')", 18,
         "two parts of the sharding use the axis 'x', or parts of it that overlap"},
        {"f32[8,16] P(('y', 'z'), unreduced={'y'})", 36,
         "two parts of the sharding use the axis 'y', or parts of it that overlap"},
        {"f32[8,16] #sdy.sharding<@m, [{\"y\":(2)2}, {\"z\"}], replicated={\"y\"}>", 62,
         "two parts of the sharding use the axis 'y', or parts of it that overlap"},
        {"f32[8] S[(2,4):(1@z,1)] + R[(2,4,2):(1@x,1@y,1@z)]", 1,
         "two parts of the sharding use the axis 'z', or parts of it that overlap"},
        {"f32[8] S[(2,4):(1@device,1)] + R[(2,4,2):(1@x,1@y,1@z)]", 1,
         "two parts of the sharding use the axis 'z', or parts of it that overlap"},
        {"f32[8] S[(2,4):(3@y,1)] + R[(2,2):(1@x,1@z)]", 1,
         "2 coordinates 3 apart on the axis 'y', which has 4"},
        {"f32[8,16] P('w')", 13, "the mesh has no axis 'w'"},
        {"f32[8,16] P('x', 'y', 'z')", 23, "the sharding has 3 dims, the array 2"},
        {"f32[8,16] P(x)", 13, "found 'x', expected the name of an axis in quotes"},
        {"f32[8,16] P('w'", 13, "the mesh has no axis 'w'"},
        {"f32[8,16] P('x', unreduced={'w'", 29, "the mesh has no axis 'w'"},
        {"f32[8,16] P('x", 13, "the quote does not end"},
        {"f32[8,16] P('x' 'y')", 17, "found ''', expected ')'"},
        {"f32[8,16] P('x') y", 18, "found 'y', expected the end of the sharding"},
        {"f32[8,16] {devices=[3,4]<=[12]}", 24, "the sharding is of 12 devices, the mesh has 16"},
        {"f32[8,16] {devices=[4,4]<=[8]}", 29, "the sharding is of 8 devices, the mesh has 16"},
        {"f32[8,16] {devices=[4,4]<=[4,4]T(0,0)}", 37, "the order is no permutation of the dims"},
        {"f32[8,16] {devices=[4,4]<=[4,4]T(0)}", 35, "the order has not as many numbers as there are dims"},
        {"f32[8,16] {devices=[16]<=[16]}", 23, "the sharding has 1 dims, the array 2"},
        {"f32[8] {devices=[16]<=[16] last_tile_dim_replicate}", 51, "the sharding has 0 dims, the array 1"},
        {"f32[8] {devices=[2,2,4]<=[16] last_tile_dim_replicate}", 54,
         "the sharding has 2 dims, the array 1"},
        {"f32[8,16] {devices=[4,2,2]<=[16]}", 33, "the sharding has 3 dims, the array 2"},
        {"f32[8] {devices=[16]1,0,2,3,4,5,6,7,8,9,10,11,12,13,14,15}", 56,
         "the devices are in no order of a mesh"},
        {"f32[8] {devices=[16]0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,16}", 56, "device 16, the mesh has 0 to 15"},
        {"f32[8] {devices=[16]0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,14}", 56, "device 14 a second time"},
        {"f32[8] {devices=[16]0,1,2,4,5,6,7,8,9,10,11,12,13,14,15,15}", 57, "device 15 a second time"},
        {"f32[8] {devices=[16]0,1,2,3,4,5,6,7,8,9,10,11,12,13,14}", 55, "found '}', expected ','"},
        {"f32[8] {devices=[16]1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,0}", 57,
         "the devices are in no order of a mesh"},
        {"f32[8] {devices=[16]-1,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15}", 21,
         "device -1, the mesh has 0 to 15"},
        {"f32[8] {maximal device=3}", 16, "an array on one device, or split by hand"},
        {"f32[8] #sdy.sharding<@m, [{\"x\":(1)3}]>", 35, "(1)3 does not divide the axis, which has 2"},
        {"f32[8] #sdy.sharding<@m, [{\"x\"}, {}]>", 32, "the sharding has 2 dims, the array 1"},
        {"f32[8] #sdy.sharding<@m, []>", 27, "the sharding has 0 dims, the array 1"},
        {"f32[8] S[(2,4):(1@x,1)]", 1,
         "2 devices that are 1 apart are neither in S nor in R: the array would lie on a part of the mesh"},
        {"f32[8] S[(2,4):(1@X,1)]", 1,
         "neither the mesh nor a memory of tpu-v4 has an axis 'X'; did you mean 'x'?"},
        {"f32[8] S[(2,4):(1@data,1)]", 1, "neither the mesh nor a memory of tpu-v4 has an axis 'data'"},
        {"f32[8] S[(2,4):(1@x,1)] + R[(4,2,2):(1@y,1@z,1@P)]", 1,
         "neither the mesh nor a memory of tpu-v4 has an axis 'P'"},
        {"f32[8] S[(4,2):(1@x,1)] + R[(4,2):(1@y,1@z)]", 1,
         "4 coordinates 1 apart on the axis 'x', which has 2"},
        {"f32[8] #sdy.sharding(@m, [{}])", 21, "found '(', expected '<'"},
        {"f32[8] #sdy.sharding<m, [{}]>", 22, "found 'm', expected '@'"},
        {"f32[8] #sdy.sharding<@m [{}]>", 25, "found '[', expected ','"},
        {"f32[8] #sdy.sharding<@m, {}>", 26, "found '{', expected '['"},
        {"f32[8] #sdy.sharding<@m, [{}], partial={}>", 32, "found 'partial', expected 'replicated'"},
        {"f32[8] {devices=[1,16]<=[16] last_tile_dims={replicated}", 57, "found the end, expected '}'"},
        {"f32[8] {devices=[1,16]<=[16] last_tile_dims=replicated}", 45, "found 'replicated', expected '{'"},
        {"f32[8] {devices=[1,4,4]<=[16] last_tile_dims={replicated unreduced}}", 58,
         "found 'unreduced', expected ','"},
        {"(f32[8])", 0, "the array is a tuple, expected an array"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_mesh mesh;
        ts_sharding s;
        make_mesh(arena, "x=2,y=4,z=2", &mesh);
        if (parse(&err, arena, &mesh, rows[i].text, &s)) fail_msg("%s: no error", rows[i].text);
        if (strcmp(err.message, rows[i].message) != 0) fail_msg("%s: %s", rows[i].text, err.message);
        if (err.column != rows[i].column)
            fail_msg("%s: column %d, expected %d", rows[i].text, err.column, rows[i].column);
        ts_arena_free(arena);
    }
}

/* Parts that are not those of the devices: of x=6 two by three, cut as three by two. */
TEST(test_uneven) {
    static const char *const texts[][2] = {
        {"f32[12] {devices=[2,3]<=[2,3]T(1,0) last_tile_dim_replicate}",
         "the devices are in no order of a mesh: a dim's tiles split one of <=[..] unevenly"},
        {"f32[6] {devices=[6]0,1,4,5,2,3}",
         "the devices are in no order of a mesh"}, /* nor of 2 x 2 x 2 cut short */
        {"f32[12] #sdy.sharding<@m, [{\"x\":(1)4}]>", "(1)4 does not divide the axis, which has 6"},
        {"f32[12] #sdy.sharding<@m, [{\"x\":(1)2}], replicated={\"x\":(3)2}>",
         "two parts of the sharding use the axis 'x', or parts of it that overlap"},
        {"f32[12] {devices=[4]<=[4]}", "the sharding is of 4 devices, the mesh has 6"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_mesh mesh;
        ts_sharding s;
        make_mesh(arena, "x=6", &mesh);
        if (parse(&err, arena, &mesh, texts[i][0], &s)) fail_msg("%s: no error", texts[i][0]);
        assert_string_equal(err.message, texts[i][1]);
        ts_arena_free(arena);
    }
}

/* Dims of <=[..] that follow each other are one, as XLA prints them. */
TEST(test_dims_in_a_row) {
    static const char *const texts[][2] = {
        {"f32[12] {devices=[2,6]<=[3,2,2] last_tile_dim_replicate}",
         "{devices=[2,6]<=[12] last_tile_dim_replicate}"},
        {"f32[12] {devices=[4,3]<=[3,1,4]T(0,1,2) last_tile_dim_replicate}",
         "{devices=[4,3]<=[12] last_tile_dim_replicate}"},
        {"f32[12] {devices=[2,6]<=[3,2,2]T(2,0,1) last_tile_dim_replicate}",
         "{devices=[2,6]<=[6,2]T(1,0) last_tile_dim_replicate}"},
        {"f32[12] {devices=[4,3]<=[3,2,2]T(1,2,0) last_tile_dim_replicate}",
         "{devices=[4,3]<=[3,4]T(1,0) last_tile_dim_replicate}"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_mesh mesh;
        ts_sharding s;
        make_mesh(arena, "x=12", &mesh);
        if (!parse(&err, arena, &mesh, texts[i][0], &s)) fail_msg("%s: %s", texts[i][0], err.message);
        assert_string_equal(print(arena, &mesh, &s, 0), texts[i][1]);
        ts_arena_free(arena);
    }
}

TEST(test_copies_and_sums) {
    static const struct {
        const char *text;
        int64_t copies, run, addend; /* in dim 0; of device 13, at (1,2,1) */
    } rows[] = {{"f32[12]", 16, 12, 0},
                {"f32[12] P('x')", 8, 6, 0},
                {"f32[13] P('y', unreduced={'x'})", 2, 4, 1},
                {"f32[12] P(('z','x'), unreduced={'y'})", 1, 3, 2},
                {"f32[12] P(unreduced={'x','y','z'})", 1, 12, 13},
                {"f32[0] P('x')", 8, 1, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_mesh mesh;
        ts_sharding s;
        make_mesh(arena, "x=2,y=4,z=2", &mesh);
        assert_true(parse(&err, arena, &mesh, rows[i].text, &s));
        assert_int_equal(ts_sharding_copies(&s), rows[i].copies);
        assert_int_equal(ts_sharding_run(&s, 0), rows[i].run);
        assert_int_equal(ts_sharding_addend(&s, 13), rows[i].addend);
        ts_arena_free(arena);
    }
}

/* ---- HLO's tile assignments: iota, reshaped, transposed, read in order (XLA, hlo_sharding.h, TileAssignment) ---- */

typedef struct {
    int count;
    int64_t dims[4];
    int order[4];
} iota;

static int64_t device_of_flat(const iota *from, int64_t flat) {
    int64_t index[4] = {0}, device = 0;
    for (int i = from->count - 1; i >= 0; i--) {
        index[from->order[i]] = flat % from->dims[from->order[i]];
        flat /= from->dims[from->order[i]];
    }
    for (int i = 0; i < from->count; i++) device = device * from->dims[i] + index[i];
    return device;
}

/* Powers of two whose product it is. */
static int random_factors(uint64_t *seed, int64_t product, int64_t *out) {
    int count = 0;
    while (product > 1 && count < 3) {
        out[count] = 1;
        do {
            out[count] *= 2;
            product /= 2;
        } while (product > 1 && random_below(seed, 2));
        count++;
    }
    if (product > 1 || count == 0) out[count++] = product;
    return count;
}

static iota random_iota(uint64_t *seed) {
    iota it = {0};
    it.count = random_factors(seed, 16, it.dims);
    for (int i = 0; i < it.count; i++) {
        int j = (int)random_below(seed, (uint32_t)i + 1);
        it.order[i] = it.order[j];
        it.order[j] = i;
    }
    return it;
}

static void add_numbers(ts_text *text, int count, const int64_t *values) {
    for (int i = 0; i < count; i++) ts_text_add(text, "%s%lld", i ? "," : "", (long long)values[i]);
}

typedef struct {
    iota from;
    int rank, count;
    bool replicate;
    int64_t tiles[4], dims[4];
} assignment;

static const char *random_assignment(ts_arena *arena, uint64_t *seed, assignment *a) {
    int64_t order[4];
    ts_text text = ts_text_begin(arena);
    a->from = random_iota(seed);
    a->count = random_factors(seed, 16, a->tiles);
    a->replicate = a->count > 1 && random_below(seed, 2);
    a->rank = a->count - a->replicate;
    for (int i = 0; i < a->rank; i++)
        a->dims[i] = a->tiles[i] * (1 + (int64_t)random_below(seed, 3)) - random_below(seed, 2);
    for (int i = 0; i < a->from.count; i++) order[i] = a->from.order[i];
    ts_text_add(&text, "f32[");
    add_numbers(&text, a->rank, a->dims);
    ts_text_add(&text, "] {devices=[");
    add_numbers(&text, a->count, a->tiles);
    ts_text_add(&text, "]<=[");
    add_numbers(&text, a->from.count, a->from.dims);
    ts_text_add(&text, "]T(");
    add_numbers(&text, a->from.count, order);
    ts_text_add(&text, a->replicate ? ") last_tile_dim_replicate}" : ")}");
    return text.bytes;
}

static bool is_mine(const assignment *a, const int64_t *index, int64_t flat) {
    int64_t left = flat / (a->replicate ? a->tiles[a->count - 1] : 1);
    for (int i = a->rank - 1; i >= 0; left /= a->tiles[i--]) {
        int64_t block = (a->dims[i] + a->tiles[i] - 1) / a->tiles[i];
        if (index[i] / block != left % a->tiles[i]) return false;
    }
    return true;
}

TEST_WITH_ARENA(test_iota) {
    uint64_t seed = 21;
    ts_mesh mesh;
    make_mesh(arena, "x=2,y=4,z=2", &mesh);
    for (int i = 0; i < rounds(400, 60); i++) {
        assignment a;
        ts_error err = {0};
        ts_sharding s;
        const char *text = random_assignment(arena, &seed, &a);
        int64_t index[4] = {0};
        if (!parse(&err, arena, &mesh, text, &s)) fail_msg("%s: %s", text, err.message);
        do {
            for (int64_t flat = 0; flat < 16; flat++)
                if (ts_sharding_holds(&s, index, device_of_flat(&a.from, flat)) != is_mine(&a, index, flat))
                    fail_msg("%s", text);
        } while (next_index(a.rank, a.dims, index));
    }
}

/* ---- What is printed is the same sharding when read ---- */

static void check_printed(const char *source, int form) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_mesh mesh;
    ts_sharding s, again;
    ts_text text;
    make_mesh(arena, "x=2,y=4,z=2", &mesh);
    text = ts_text_begin(arena);
    assert_true(parse(&err, arena, &mesh, source, &s));
    const char *printed = print(arena, &mesh, &s, form);
    if (strcmp(printed, "none") == 0) return ts_arena_free(arena);
    ts_text_add(&text, "%.*s %s", (int)(strchr(source, ']') - source) + 1, source, printed);
    if (!parse(&err, arena, &mesh, text.bytes, &again)) fail_msg("%s: %s", text.bytes, err.message);
    assert_int_equal(again.digit_count, s.digit_count);
    for (int d = 0; d < s.digit_count; d++) {
        assert_int_equal(again.digits[d].kind, s.digits[d].kind);
        assert_int_equal(again.digits[d].weight, s.digits[d].weight);
        assert_int_equal(again.digits[d].dim, s.digits[d].dim);
    }
    ts_arena_free(arena);
}

/* Axes of a memory are on no device; what is nearly one of the mesh is refused. */
TEST_WITH_ARENA(test_axes_of_memories) {
    static const char *const sets[] = {
        "memories.hbm.axes.P.extent=2",     "memories.hbm.axes.P.step=4 B",
        "memories.vmem.axes.sub.extent=2",  "memories.vmem.axes.sub.step=4 B",
        "memories.vmem.axes.lane.extent=2", "memories.vmem.axes.lane.step=8 B"};
    ts_error err = {0};
    ts_mesh mesh;
    ts_sharding s;
    ts_mesh_request request = {.machine = ts_machine_load_with(&err, arena, "tpu-v4", "sets", sets, 6),
                               .axes = {"--mesh", "x=2", 3}};
    if (!request.machine || !ts_mesh_read(&err, arena, &request, &mesh)) fail_msg("%s", err.message);
    if (!parse(&err, arena, &mesh, "f32[16] S[(2,2,2,2):(1@x,1@lane,1@sub,1@P)]", &s))
        fail_msg("%s", err.message);
    assert_int_equal(s.digit_count, 1);
    assert_false(parse(&err, arena, &mesh, "f32[8] S[(2,4):(1@xx,1)]", &s));
    assert_string_equal(err.message,
                        "neither the mesh nor a memory of tpu-v4 has an axis 'xx'; did you mean 'x'?");
}

TEST(test_printed) {
    static const struct {
        const char *text;
        int forms; /* Axe's has no partial sums, and only padded dims */
    } rows[] = {
        {"f32[9,16] P(('z', 'x'), 'y')", 2},          {"f32[8,4] S[(2,2,2,4):(1@x,4,1@z,1)] + R[4:1@y]", 3},
        {"f32[8,9] {devices=[2,8]<=[8,2]T(1,0)}", 2}, {"s4[8,4] P(None, 'y', unreduced={'x'})", 2},
        {"f32[16,64] P('z', ('y','x'))", 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int form = 0; form < rows[i].forms; form++) check_printed(rows[i].text, form);
}

TEST(names_of_axes_are_whole) {
#define LONG_AXIS "an_axis_whose_name_is_longer_than_sixty_characters_which_few_are"
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_mesh mesh;
    ts_sharding s;
    make_mesh(arena, LONG_AXIS "=2,b=2", &mesh);
    assert_true(parse(&err, arena, &mesh, "f32[8,6] P('" LONG_AXIS "')", &s));
    assert_string_equal(print(arena, &mesh, &s, 1), "P('" LONG_AXIS "', None)");
    assert_string_equal(print(arena, &mesh, &s, 2), "S[(2,4,6):(1@" LONG_AXIS ",6,1)] + R[(2):(1@b)]");
    ts_arena_free(arena);
}
