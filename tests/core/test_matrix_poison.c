/* What is undefined in products of the matrix units: rows and columns with an undefined element. */
#include <stdio.h>
#include <string.h>

#include "tests/support/core_fixture.h"
#include "tests/support/random_layout.h"
#include "tests/support/test.h"

enum {
    EDGE_MIN = 128,
    EDGE_MAX = 256,
    ROWS_MAX = 64,
    VREG = 1024, /* words */
    SPOTS = 3,
    FIRST = 3,   /* accumulator */
    TILE_AT = 0, /* in VMEM: the number of the first vreg */
    PUSHED_AT = 64,
    ADDED_AT = 66,
    POPPED_AT = 68,
    TAKEN_AT = 84,
    AGAIN_AT = 100,
    VREGS = 116
};

typedef struct {
    const char *type;
    int bits, edge;
    bool transposed;
} multiply;

/* What is undefined of the tile's columns, of rows that are pushed and rows that are added. */
typedef struct {
    bool columns[EDGE_MAX], pushed[ROWS_MAX], added[ROWS_MAX];
} undefined;

static int rows_of(const multiply *m) { return 256 / m->bits; }
static int chunks_of(const multiply *m) { return m->edge / 128; }
static int results_of(const multiply *m) { return rows_of(m) / 8 * chunks_of(m); }

/* One bit of element (row, column), of vregs from number `first` on, packed as a tile's rows are. */
static void poison(ts_space *vmem, const multiply *m, int first, int row, int column, int bit) {
    int packing = 32 / m->bits, rows = rows_of(m);
    int64_t vreg = first + row / rows * chunks_of(m) + column / 128,
            word = vreg * VREG + row % rows / packing * 128 + column % 128;
    ts_space_mark_poison(vmem, word * 32 + row % packing * m->bits + bit, 1);
}

static undefined random_poison(ts_space *vmem, const multiply *m, uint64_t *seed) {
    undefined u = {0};
    uint32_t edge = (uint32_t)m->edge, rows = (uint32_t)rows_of(m), bits = (uint32_t)m->bits;
    ts_space_mark_valid(vmem, 0, vmem->capacity_bytes * 8);
    for (int i = 0; i < SPOTS; i++) {
        bool corner = i == 0;
        int row = (int)(corner ? random_below(seed, 2) * (edge - 1) : random_below(seed, edge)),
            column = (int)(corner ? random_below(seed, 2) * (edge - 1) : random_below(seed, edge));
        poison(vmem, m, TILE_AT, row, column, (int)random_below(seed, bits));
        u.columns[m->transposed ? row : column] = true;
    }
    bool *of[] = {u.pushed, u.added};
    static const int at[] = {PUSHED_AT, ADDED_AT};
    for (int k = 0; k < 2; k++) {
        int row = (int)random_below(seed, rows);
        poison(vmem, m, at[k], row, (int)random_below(seed, edge), (int)random_below(seed, bits));
        of[k][row] = true;
    }
    return u;
}

static void add_loads(char *text, const char *line, const multiply *m, int from, int count, const char *end) {
    for (int i = 0; i < count; i++)
        sprintf(text + strlen(text), "vld v0 [%d]\n%s.%s 1 v0%s\n", (from + i) * VREG, line, m->type, end);
}

/* A product that is popped, and the sum with a second one, taken twice. */
static void write_program(const multiply *m, char *text) {
    strcpy(text, "wait e0 1\n");
    add_loads(text, m->transposed ? "mxu.latcht" : "mxu.latch", m, TILE_AT,
              m->edge / rows_of(m) * chunks_of(m), "");
    strcat(text, "mxu.swap 1\n");
    add_loads(text, "mxu.push", m, PUSHED_AT, chunks_of(m), "");
    add_loads(text, "mxu.acc", m, PUSHED_AT, chunks_of(m), " 3");
    add_loads(text, "mxu.acc", m, ADDED_AT, chunks_of(m), " 3");
    for (int i = 0; i < results_of(m); i++)
        sprintf(text + strlen(text),
                "mxu.pop v1 1\nvst [%d] v1\nmxu.take v1 1 %d\nvst [%d] v1\nmxu.take v1 1 %d\nvst [%d] v1\n",
                (POPPED_AT + i) * VREG, FIRST + i, (TAKEN_AT + i) * VREG, FIRST + i, (AGAIN_AT + i) * VREG);
    strcat(text, "jump @0\n");
}

static void check_results(const fixture *f, const multiply *m, int first, const bool *a, const bool *b,
                          const bool *columns) {
    uint32_t shadow[VREG];
    for (int i = 0; i < results_of(m); i++) {
        ts_space_get_poison(f->vmem, (int64_t)(first + i) * VREG * 32, VREG, shadow);
        for (int word = 0; word < VREG; word++) {
            int row = i / chunks_of(m) * 8 + word / 128, column = i % chunks_of(m) * 128 + word % 128;
            uint32_t want = (a && a[row]) || (b && b[row]) || (columns && columns[column]) ? UINT32_MAX : 0;
            if (shadow[word] != want)
                fail_msg("%s, edge %d, at %d: (%d, %d): %08x", m->type, m->edge, first, row, column,
                         shadow[word]);
        }
    }
}

static fixture *new_fixture(const multiply *m) {
    fixture *f = fixture_new();
    f->config.mxu = (ts_machine_mxu){.units = 2,
                                     .edge = m->edge,
                                     .rate = {1, 1, 1, 2, 4},
                                     .staging = 2,
                                     .accumulators = 80,
                                     .result_vregs = 32};
    f->vmem = ts_space_new(f->arena, "vmem", VREGS * VREG * 4);
    ts_space_track(f->vmem, f->arena);
    ts_space_track(f->smem, f->arena);
    f->findings = TS_NEW(f->arena, ts_findings);
    return f;
}

/* Several by the same unit: what was undefined before is not any more. */
static void check(const multiply *m) {
    enum { ROUNDS = 3, ROUND_CYCLES = 1 << 20 };
    static char text[16384];
    uint64_t seed = (uint64_t)(m->bits + m->edge + m->transposed);
    fixture *f = new_fixture(m);
    write_program(m, text);
    assert_true(fixture_load(f, text));
    for (int round = 0; round < ROUNDS; round++) {
        undefined u = random_poison(f->vmem, m, &seed);
        f->semaphores[0] = 1;
        if (round > 0) ts_core_notify(f->core, round * ROUND_CYCLES);
        if (!fixture_run(f)) fail_msg("%s", f->err.message);
        check_results(f, m, POPPED_AT, u.pushed, NULL, u.columns);
        check_results(f, m, TAKEN_AT, u.pushed, u.added, u.columns);
        check_results(f, m, AGAIN_AT, NULL, NULL, NULL);
    }
    fixture_free(f);
}

TEST(undefined_elements_spoil_rows_and_columns) {
    static const struct {
        const char *type;
        int bits;
    } types[] = {{"f32", 32}, {"bf16", 16}, {"f8e5m2", 8}, {"i8", 8}, {"i4", 4}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        for (int edge = 128; edge <= EDGE_MAX; edge *= 2)
            for (int transposed = 0; transposed < 2; transposed++)
                check(&(multiply){types[i].type, types[i].bits, edge, transposed});
}

/* ---- The transposer ---- */

/* Bits of words or halves, of which a few are undefined, go where the values go. */
TEST(undefined_bits_come_out_transposed) {
    static uint32_t in[EDGE_MIN * EDGE_MIN], out[EDGE_MIN * EDGE_MIN];
    for (int bits = 16; bits <= 32; bits += 16) {
        fixture *f = new_fixture(&(multiply){"f32", 32, EDGE_MIN, false});
        char text[4096] = "";
        int vregs = bits / 2, half = 32 / bits;
        for (int i = 0; i < vregs; i++)
            sprintf(text + strlen(text), "vld v0 [%d]\nvtr.push.b%d v0\n", i * VREG, bits);
        for (int i = 0; i < vregs; i++)
            sprintf(text + strlen(text), "vtr.pop v0\nvst [%d] v0\n", (vregs + i) * VREG);
        assert_true(fixture_load(f, text));
        uint64_t seed = 3;
        ts_space_mark_valid(f->vmem, 0, f->vmem->capacity_bytes * 8);
        for (int i = 0; i < 50; i++)
            ts_space_mark_poison(f->vmem, random_below(&seed, (uint32_t)(vregs * VREG * 32)), 1 + i % 3);
        for (int i = 0; i < vregs; i++)
            ts_space_get_poison(f->vmem, (int64_t)i * VREG * 32, VREG, in + i * VREG);
        assert_true(fixture_run(f));
        for (int i = 0; i < vregs; i++)
            ts_space_get_poison(f->vmem, (int64_t)(vregs + i) * VREG * 32, VREG, out + i * VREG);
        uint32_t mask = bits == 32 ? UINT32_MAX : 0xffff;
        for (int r = 0; r < EDGE_MIN; r++)
            for (int c = 0; c < EDGE_MIN; c++)
                assert_int_equal(out[r / half * 128 + c] >> r % half * bits & mask,
                                 in[c / half * 128 + r] >> c % half * bits & mask);
        fixture_free(f);
    }
}
