/* The oracles that other tests compare with, themselves against published layouts. */
#include <stdlib.h>
#include <string.h>

#include "tests/support/axe_oracle.h"
#include "tests/support/xla_oracle.h"
#include "base/file.h"
#include "tests/support/test.h"

enum { LIMIT = 1 << 20, MAX_DIMS = 16, MAX_TILES = 8 };

typedef struct {
    int rank, tile_count;
    int64_t dims[MAX_DIMS];
    int minor_to_major[MAX_DIMS];
    int64_t tile_dims[MAX_TILES][MAX_DIMS];
    xla_oracle_tile tiles[MAX_TILES];
    int64_t alignment; /* L() */
} shape;

/* Numbers, "<=" and '*' up to the closing character; returns what is behind it. */
static const char *read_list(const char *text, const char *close, int64_t *values, int *count) {
    for (*count = 0; !strchr(close, *text); text += *text == ',') {
        char *end = NULL;
        if (strncmp(text, "<=", 2) == 0) text += 2;
        values[(*count)++] = *text == '*' ? XLA_ORACLE_COMBINE : strtoll(text, &end, 10);
        text = end ? end : text + 1;
    }
    return text + 1;
}

/* TYPE[dims]{minor_to_major:T(..)(..)L(..)...}; the fields behind L do not matter here. */
static void read_shape(const char *text, shape *s) {
    int64_t order[MAX_DIMS];
    int rank = 0;
    *s = (shape){.alignment = 1};
    text = read_list(strchr(text, '[') + 1, "]", s->dims, &s->rank);
    for (int i = 0; i < s->rank; i++) order[i] = s->rank - 1 - i;
    if (*text == '{') text = read_list(text + 1, ":}", order, &rank);
    assert_true(rank == 0 || rank == s->rank);
    for (int i = 0; i < s->rank; i++) s->minor_to_major[i] = (int)order[i];
    for (text += *text == 'T'; *text == '('; s->tile_count++) {
        xla_oracle_tile *tile = &s->tiles[s->tile_count];
        tile->dims = s->tile_dims[s->tile_count];
        text = read_list(text + 1, ")", s->tile_dims[s->tile_count], &tile->rank);
    }
    if (strncmp(text, "L(", 2) == 0) s->alignment = strtoll(text + 2, NULL, 10);
}

static int64_t flat_index(const shape *s, const char *text) {
    int64_t index[MAX_DIMS], flat = 0;
    int rank;
    read_list(text, "", index, &rank);
    for (int i = 0; i < rank; i++) flat = flat * s->dims[i] + index[i];
    return flat;
}

/* Columns: shape, index, offset, elements with padding, bytes, note. */
static bool check_row(ts_arena *arena, const char *name, const char *index, const char *offset,
                      const char *total) {
    shape s;
    xla_oracle o;
    read_shape(name, &s);
    if (!xla_oracle_make(arena, s.rank, s.dims, s.minor_to_major, s.tile_count, s.tiles, LIMIT, &o))
        return false;
    int64_t slots = o.slot_count;
    while (slots % s.alignment) slots++;
    assert_int_equal(slots, strtoll(total, NULL, 10));
    if (*index == '-') return true;
    int64_t element = *index ? flat_index(&s, index) : 0;
    assert_int_equal(o.offset[element], strtoll(offset, NULL, 10));
    assert_int_equal(o.element[o.offset[element]], element);
    return true;
}

TEST(test_xla) {
    ts_error err = {0};
    ts_arena *arena = ts_arena_new(), *scratch = ts_arena_new();
    char *text;
    size_t length;
    int checked = 0, large = 0;
    assert_true(ts_file_read(&err, arena, "tests/data/xla_vectors.tsv", 1 << 20, &text, &length));
    char *save = NULL;
    (void)strtok_r(text, "\n", &save); /* the names of the columns */
    for (char *line; (line = strtok_r(NULL, "\n", &save));) {
        char *column[4];
        for (int i = 0; i < 4; i++) column[i] = strsep(&line, "\t");
        ts_arena_reset(scratch);
        if (check_row(scratch, column[0], column[1], column[2], column[3]))
            checked++;
        else
            large++;
    }
    assert_int_equal(checked, 234);
    assert_int_equal(large, 5);
    ts_arena_free(scratch);
    ts_arena_free(arena);
}

/* Every slot of storage of figure 1 of XLA tiled_layout.md. */
TEST_WITH_ARENA(test_xla_storage) {
    static const int64_t figure1[24] = {0,  1,  5,  6,  2,  3,  7,  8,  4,  -1, 9,  -1,
                                        10, 11, -1, -1, 12, 13, -1, -1, 14, -1, -1, -1};
    static const int order[] = {1, 0};
    const int64_t two[] = {2, 2}, dims[] = {3, 5};
    xla_oracle_tile tile = {2, two}, bad = {2, (const int64_t[]){2, XLA_ORACLE_COMBINE}};
    xla_oracle o;
    assert_true(xla_oracle_make(arena, 2, dims, order, 1, &tile, LIMIT, &o));
    assert_int_equal(o.slot_count, 24);
    assert_memory_equal(o.element, figure1, sizeof figure1);
    assert_false(xla_oracle_make(arena, 2, dims, order, 1, &tile, 23, &o));
    assert_false(xla_oracle_make(arena, 2, dims, order, 1, &bad, LIMIT, &o));
}

enum { LANE, WARP, REG };

/* The tensor-core tile of TVM's docs/tirx/layout.rst: S[(8,2,4,2):(4@lane,1@warp,1@lane,1@reg)] + R[2:4@warp]
 * + 5@warp. */
TEST_WITH_ARENA(test_axe) {
    static const axe_oracle_iter shards[] = {{8, 4, LANE}, {2, 1, WARP}, {4, 1, LANE}, {2, 1, REG}};
    static const axe_oracle_iter replicas[] = {{2, 4, WARP}};
    static const int64_t offsets[] = {0, 5, 0};
    axe_oracle o;
    assert_true(axe_oracle_make(arena, 4, shards, 1, replicas, 3, offsets, LIMIT, &o));
    assert_int_equal(o.element_count, 128);
    assert_int_equal(o.replica_count, 2);
    const int64_t first[] = {8, 6, 1}, second[] = {8, 10, 1}, neither[] = {8, 8, 1};
    int64_t element = 2 * 16 + 9; /* (2,9) of (8,16) */
    assert_memory_equal(axe_oracle_point(&o, element, 0), first, sizeof first);
    assert_memory_equal(axe_oracle_point(&o, element, 1), second, sizeof second);
    assert_true(axe_oracle_has(&o, element, second));
    assert_false(axe_oracle_has(&o, element, neither));
    assert_int_equal(axe_oracle_find(&o, 0, first), element);
    assert_int_equal(axe_oracle_find(&o, element + 1, first), -1);
    assert_int_equal(axe_oracle_find(&o, 0, neither), -1);
    assert_false(axe_oracle_make(arena, 4, shards, 1, replicas, 3, offsets, 255, &o));
}

/* R[(2,2):(1,1)] is R[3:1] as a set; a stride of 1 in place of 2 is not, and differs first at element 1. */
TEST_WITH_ARENA(test_axe_equality) {
    static const axe_oracle_iter shard = {3, 2, 0}, other = {3, 1, 0}, longer = {4, 2, 0};
    static const axe_oracle_iter twice[] = {{2, 1, 0}, {2, 1, 0}}, thrice = {3, 1, 0};
    static const int64_t offset = -1;
    axe_oracle a, b, c, d;
    assert_true(axe_oracle_make(arena, 1, &shard, 2, twice, 1, &offset, LIMIT, &a));
    assert_true(axe_oracle_make(arena, 1, &shard, 1, &thrice, 1, &offset, LIMIT, &b));
    assert_true(axe_oracle_make(arena, 1, &other, 1, &thrice, 1, &offset, LIMIT, &c));
    assert_true(axe_oracle_make(arena, 1, &longer, 1, &thrice, 1, &offset, LIMIT, &d));
    assert_int_equal(axe_oracle_difference(&a, &b), -1);
    assert_int_equal(axe_oracle_difference(&a, &c), 1);
    assert_int_equal(axe_oracle_difference(&a, &d), 3);
    assert_int_equal(axe_oracle_point(&a, 0, 0)[0], -1);
}
