/* Which steps of the loops a kernel takes, and when it is taken again. */
#include <string.h>

#include "move/copy_plan.h"
#include "tests/support/cmocka.h"

static ts_plan_box box_of(const ts_plan_loop *bytes, int count) {
    ts_plan_box box = {.loop_count = count};
    for (int i = 0; i < count; i++)
        box.loops[i] = (ts_plan_loop){bytes[i].extent, bytes[i].src_bits * 8, bytes[i].dst_bits * 8};
    return box;
}

static ts_plan_box all_loops(const ts_plan_loop *bytes) {
    int count = 0;
    while (bytes[count].extent > 0) count++;
    return box_of(bytes, count);
}

static ts_copy_context context_of(ts_dtype type, int bits, const ts_kernels *kernels) {
    return (ts_copy_context){
        .src = {type, bits, NULL}, .dst = {type, bits, NULL}, .same = true, .kernels = kernels};
}

/* ---- Permutes ---- */

/* Loops in bytes; `times` 0: none is taken. */
static const struct {
    int unit;
    bool apart;
    int count;
    ts_plan_loop loops[4];
    int64_t times[4];
    int lines;
    uint64_t src_mask[3], dst_mask[3];
} permutes[] = {
    {1,
     true,
     2,
     {{900, 3, 1}, {3, 1, 900}},
     {64, 3},
     3,
     {~0u, ~0u, ~0u},
     {~0u, ~0u, ~0u}}, /* three colours */
    {1, true, 2, {{900, 1, 3}, {3, 900, 1}}, {64, 3}, 3, {~0u, ~0u, ~0u}, {~0u, ~0u, ~0u}}, /* and back */
    {1, false, 2, {{900, 3, 1}, {3, 1, 900}}, {0}, 0, {0}, {0}},
    {1, false, 2, {{9, 1, 7}, {7, 9, 1}}, {9, 7}, 1, {~0u}, {~0u}},
    {2, false, 2, {{5, 2, 6}, {3, 10, 2}}, {5, 3}, 1, {0x3fffffff}, {0x3fffffff}},
    {1, true, 2, {{900, 10, 1}, {10, 1, 900}}, {0}, 0, {0}, {0}}, /* more lines than there can be */
    {1, true, 2, {{900, 4, 1}, {4, 1, 900}}, {0}, 0, {0}, {0}},   /* networks halve it */
    {1, true, 2, {{600, 3, 1}, {3, 1, 600}}, {0}, 0, {0}, {0}},   /* too few elements */
    {1, true, 2, {{900, 1, 7}, {7, 900, 1}}, {64, 7}, 7, {~0u, ~0u, ~0u}, {~0u, ~0u, ~0u}}, /* all of seven */
    {4, true, 2, {{900, 4, 20}, {5, 3600, 4}}, {16, 5}, 5, {~0u, ~0u, ~0u}, {~0u, ~0u, ~0u}}, /* words */
    {2, true, 2, {{1800, 6, 2}, {3, 2, 3600}}, {32, 3}, 3, {~0u, ~0u, ~0u}, {~0u, ~0u, ~0u}},
    {4, true, 2, {{900, 4, 36}, {9, 3600, 4}}, {0}, 0, {0}, {0}},
    {1,
     false,
     2,
     {{64, 2, 3}, {3, 1, 1}},
     {64, 3},
     3,
     {~0u, ~0u, 1},
     {~0u, ~0u, ~0u}}, /* bytes that are read again */
    {1,
     true,
     3,
     {{1280, 4, 18}, {2, 1, 3}, {3, 8192, 1}},
     {16, 2, 3},
     5,
     {0x33333333, 0x33333333, 0x33333333},
     {0x00fc003f, 0xfc003f00, 0x003f000f}},
};

/* The lower halves of the masks tell enough. */
TEST(permutes_of_lines) {
    const ts_kernels *kernels = ts_kernels_get(TS_KERNELS_AVX512);
    for (size_t n = 0; kernels && n < sizeof permutes / sizeof permutes[0]; n++) {
        ts_copy_context m = context_of(TS_DTYPE_U8, 8 * permutes[n].unit, kernels);
        ts_plan_box box = box_of(permutes[n].loops, permutes[n].count);
        int64_t times[TS_PLAN_MAX_LOOPS];
        ts_copy_plan j = {.m = &m};
        bool is = ts_copy_plan_match_permute(&j, &box, permutes[n].apart ? 3 : 0, times);
        assert_int_equal(is, permutes[n].times[0] != 0);
        for (int i = 0; is && i < box.loop_count; i++) assert_int_equal(times[i], permutes[n].times[i]);
        if (!is) continue;
        assert_int_equal(j.tile.permute.lines, permutes[n].lines);
        for (int i = 0; i < 3; i++) {
            assert_int_equal((uint32_t)j.tile.src_mask[i], permutes[n].src_mask[i]);
            assert_int_equal((uint32_t)j.tile.dst_mask[i], permutes[n].dst_mask[i]);
        }
    }
}

/* ---- Permutes or a network ---- */

/* Loops in bytes; whether lines that are not whole take a network of so many stages, in place of a permute. */
static const struct {
    int unit;
    ts_plan_loop loops[4];
    int stages; /* 0: a permute */
} networks[] = {
    {2, {{9362, 2, 14}, {7, 18724, 2}}, 3},             /* seven lines of eight */
    {2, {{9362, 14, 2}, {7, 2, 18724}}, 3},             /* and into seven */
    {4, {{512, 4, 28}, {7, 20480, 4}}, 3},              /* of words */
    {2, {{332, 336, 336}, {28, 12, 2}, {6, 2, 56}}, 3}, /* two of three that there are of a tile */
    {1, {{26026, 5, 1}, {5, 1, 26026}}, 0},             /* five lines of eight */
    {4, {{31, 4080, 4080}, {204, 20, 4}, {5, 4, 816}}, 0},
    {2, {{370, 282, 282}, {47, 6, 2}, {3, 2, 94}}, 0}, /* of four lines */
};

static bool is_permute(const ts_tile_kernels *kernels, ts_tile_function *function) {
    for (int i = 0; i < TS_PERMUTE_LINES; i++)
        for (int k = 0; k <= TS_PERMUTE_FEW; k++)
            if (kernels->permutes[0][i][k] == function || kernels->permutes[1][i][k] == function) return true;
    return false;
}

TEST(permutes_or_networks) {
    const ts_kernels *kernels = ts_kernels_get(TS_KERNELS_AVX512);
    for (size_t n = 0; kernels && n < sizeof networks / sizeof networks[0]; n++) {
        ts_copy_context m = context_of(TS_DTYPE_U8, 8 * networks[n].unit, kernels);
        ts_plan_box box = all_loops(networks[n].loops);
        int64_t times[TS_PLAN_MAX_LOOPS];
        int stages = networks[n].stages;
        ts_copy_plan j;
        ts_copy_plan_begin(&j, &m);
        assert_true(ts_copy_plan_match_box(&j, &box, times));
        const ts_tile_kernels *tiles = kernels->tiles[0];
        bool is = stages ? j.tile_function == tiles->masked[stages] : is_permute(tiles, j.tile_function);
        if (!is) fail_msg("row %zu", n);
    }
}

/* Loops in bytes, of lines of which some bytes are not there; how many bytes behind the source may be read, and whether
 * lines of the source are read whole. */
static const struct {
    ts_dtype to;
    int64_t behind;
    ts_plan_loop loops[5];
    bool whole;
} loads[] = {
    {TS_DTYPE_U8, 0, {{7, 1024, 1}, {1024, 1, 7}}, true}, /* seven lines are whole, one is not there */
    {TS_DTYPE_U8, 0, {{60, 1, 16}, {16, 60, 1}}, false},  /* 60 bytes of each */
    {TS_DTYPE_U8, 63, {{60, 1, 16}, {16, 60, 1}}, false},
    {TS_DTYPE_U8, 64, {{60, 1, 16}, {16, 60, 1}}, true},
    {TS_DTYPE_S8, 0, {{60, 1, 16}, {16, 60, 1}}, true}, /* by way of a scratch */
    {TS_DTYPE_U8, 0, {{754, 48, 144}, {3, 36192, 48}, {16, 3, 1}, {3, 1, 16}}, false}, /* of a permute */
    {TS_DTYPE_U8, 64, {{754, 48, 144}, {3, 36192, 48}, {16, 3, 1}, {3, 1, 16}}, true},
};

TEST(loads_of_lines) {
    const ts_kernels *kernels = ts_kernels_get(TS_KERNELS_AVX512);
    for (size_t n = 0; kernels && n < sizeof loads / sizeof loads[0]; n++) {
        ts_copy_context m = context_of(TS_DTYPE_U8, 8, kernels);
        ts_plan_box box = all_loops(loads[n].loops);
        int64_t times[TS_PLAN_MAX_LOOPS];
        ts_copy_plan j;
        m.dst.dtype = loads[n].to;
        m.same = m.src.dtype == m.dst.dtype;
        m.behind_bytes = loads[n].behind;
        ts_copy_plan_begin(&j, &m);
        assert_true(ts_copy_plan_match_box(&j, &box, times));
        assert_true(j.tile.masks);
        if (j.tile.loads_whole != loads[n].whole) fail_msg("row %zu", n);
    }
}

/* ---- Again ---- */

/* Loops in bytes, of halves that take turns by rows. */
static const struct {
    int count;
    ts_plan_loop loops[4];
    bool again;
} boxes[] = {
    {4, {{15, 4016, 4096}, {4, 1004, 512}, {128, 2, 4}, {2, 502, 2}}, true},
    {4, {{15, 4016, 4096}, {4, 1004, 512}, {123, 2, 4}, {2, 502, 2}}, true}, /* as often as a tile, or more */
    {3, {{3, 1004, 512}, {128, 2, 4}, {2, 502, 2}}, true}, /* without a loop around the tile */
    {2, {{128, 2, 4}, {2, 502, 2}}, true},
    {3, {{15, 4016, 4096}, {4, 1004, 512}, {128, 2, 4}}, false},            /* a tile has two rows */
    {4, {{15, 4016, 4096}, {4, 1004, 512}, {5, 2, 4}, {2, 502, 2}}, false}, /* fewer than a tile */
    {4, {{15, 4016, 4096}, {4, 1004, 512}, {128, 2, 4}, {2, 504, 2}}, false},
    {4, {{9, 9216, 8192}, {4, 1004, 512}, {128, 2, 4}, {2, 502, 2}}, false}, /* a loop that is not known */
};

TEST(boxes_that_are_alike) {
    for (int version = 0; version < TS_KERNELS_COUNT; version++) {
        const ts_kernels *kernels = ts_kernels_get(version);
        ts_copy_context m = context_of(TS_DTYPE_BF16, 16, kernels);
        for (size_t n = 0; kernels && n < sizeof boxes / sizeof boxes[0]; n++) {
            ts_plan_box first = box_of(boxes[0].loops, 4), box = box_of(boxes[n].loops, boxes[n].count);
            int64_t times[TS_PLAN_MAX_LOOPS];
            ts_copy_plan j;
            ts_copy_plan_begin(&j, &m);
            assert_true(ts_copy_plan_match_box(&j, &first, times));
            ts_copy_plan_keep(&j, &first, times);
            assert_int_equal(ts_copy_plan_match_again(&j, &box, times), boxes[n].again);
            for (int i = 1; boxes[n].again && i <= box.loop_count; i++)
                assert_int_equal(times[box.loop_count - i], j.times[4 - i]);
        }
    }
}

/* ---- Boxes that continue a transpose ---- */

/* Loops in bytes, of words, behind the last one of extent 0; where another box begins, and its loops. */
static const struct {
    ts_plan_loop loops[5];
    int64_t src, dst;
    ts_plan_loop other[5];
    bool taken;
    int rows, columns;
    int64_t last; /* offset of the last row or column */
    bool even;    /* all are steps of one loop */
} continued[] = {
    {{{9, 4096, 30400}, {128, 4, 76}, {2, 49152, 32}, {8, 512, 4}},
     98304,
     64,
     {{9, 4096, 30400}, {128, 4, 76}, {3, 512, 4}},
     true,
     19,
     128,
     99328,
     false},
    {{{400, 4, 76}, {2, 49152, 32}, {8, 512, 4}}, 98304, 64, {{400, 4, 76}}, true, 17, 400, 98304, false},
    {{{400, 4, 76}, {2, 49152, 32}, {8, 512, 4}},
     98304,
     64,
     {{384, 4, 76}},
     false,
     16,
     400,
     0,
     false}, /* another loop */
    {{{384, 4, 76}, {2, 49152, 32}, {8, 512, 4}},
     98304,
     64,
     {{384, 4, 76}},
     false,
     16,
     384,
     0,
     false}, /* few elements */
    {{{385, 4, 76}, {2, 49152, 32}, {8, 512, 4}}, 98304, 64, {{385, 4, 76}}, true, 17, 385, 98304, false},
    {{{400, 4, 76}, {2, 49152, 32}, {8, 512, 4}},
     98304,
     64,
     {{400, 4, 76}, {3, 600, 12}, {3, 512, 4}},
     true,
     25,
     400,
     100528,
     false},
    {{{400, 4, 76}, {2, 49152, 32}, {8, 512, 4}},
     98304,
     68,
     {{400, 4, 76}},
     false,
     16,
     400,
     0,
     false}, /* not behind it */
    {{{400, 4, 76}, {2, 49152, 32}, {8, 512, 4}},
     98304,
     64,
     {{400, 4, 76}, {3, 512, 8}},
     false,
     16,
     400,
     0,
     false}, /* apart */
    {{{400, 4, 76}, {2, 49152, 32}, {8, 512, 4}},
     98304,
     64,
     {{400, 512, 4}},
     false,
     16,
     400,
     0,
     false}, /* it lacks the columns */
    {{{400, 4, 76}, {2, 49152, 32}, {8, 512, 4}},
     98304,
     64,
     {{400, 4, 76}, {497, 512, 4}},
     false,
     16,
     400,
     0,
     false}, /* more than a table has */
    {{{400, 4, 76}, {2, 49152, 32}, {8, 512, 4}},
     98304,
     64,
     {{400, 4, 76}, {496, 512, 4}},
     true,
     512,
     400,
     351744,
     false},
    {{{4, 32, 32768}, {7, 17408, 4096}, {8, 4, 512}, {128, 136, 4}},
     128,
     131072,
     {{7, 17408, 4096}, {2, 4, 512}, {128, 136, 4}},
     true,
     128,
     34,
     131584,
     false}, /* columns */
    {{{14, 68, 24576}, {2, 32, 8192}, {8, 4, 512}, {128, 952, 4}},
     64,
     16384,
     {{14, 68, 24576}, {128, 952, 4}},
     true,
     128,
     238,
     335872,
     false}, /* and a loop that continues both */
    {{{141, 112, 16384}, {3, 32, 4096}, {8, 4, 512}, {128, 15792, 4}},
     96,
     12288,
     {{141, 112, 16384}, {4, 4, 512}, {128, 15792, 4}},
     true,
     128,
     504,
     292352,
     false}, /* pieces of it */
    {{{400, 4, 340}, {5, 200000, 68}, {2, 49152, 32}, {8, 512, 4}},
     98304,
     64,
     {{400, 4, 340}, {5, 200000, 68}},
     true,
     85,
     400,
     898304,
     false},
    {{{400, 4, 1420}, {5, 200000, 284}, {2, 49152, 140}, {35, 512, 4}},
     98304,
     280,
     {{400, 4, 1420}, {5, 200000, 284}},
     true,
     71,
     400,
     98304,
     false}, /* a side that is not short */
    {{{600, 4, 76}, {16, 4096, 4}},
     65536,
     64,
     {{600, 4, 76}},
     true,
     17,
     300,
     65536,
     true}, /* pieces, and one step more */
    {{{600, 4, 64}, {16, 4096, 4}},
     2400,
     38400,
     {{16, 4096, 4}},
     false,
     16,
     300,
     0,
     false}, /* of a side in pieces */
    {{{400, 4, 76}, {16, 512, 4}},
     8192,
     64,
     {{400, 4, 76}, {3, 512, 4}},
     true,
     19,
     400,
     9216,
     true}, /* all in one step */
    {{{400, 4, 76}, {16, 512, 4}}, 8192, 64, {{400, 4, 76}, {3, 516, 4}}, true, 19, 400, 9224, false},
    {{{400, 4, 76}, {16, 512, 4}}, 8196, 64, {{400, 4, 76}, {3, 512, 4}}, true, 19, 400, 9220, false},
    {{{400, 4, 76}, {16, 512, 4}},
     8192,
     64,
     {{400, 4, 76}, {2, 512, 4}, {3, 1024, 8}},
     true,
     22,
     400,
     10752,
     false},
    {{{400, 4, 76}, {2, 8192, 32}, {8, 512, 4}},
     16384,
     64,
     {{400, 4, 76}, {3, 512, 4}},
     true,
     19,
     400,
     17408,
     false},
};

/* Two boxes, of which the second is still to come: it begins at these bytes. */
static ts_box_list list_before(const ts_plan_loop *other, int64_t src, int64_t dst) {
    ts_box_list list = {.count = 2, .next = 1};
    list.boxes[1] = all_loops(other);
    list.boxes[1].src_bits = src * 8;
    list.boxes[1].dst_bits = dst * 8;
    return list;
}

static void match_continued(size_t n, const ts_copy_context *m) {
    ts_plan_box box = all_loops(continued[n].loops);
    int64_t times[TS_PLAN_MAX_LOOPS];
    ts_box_list list = list_before(continued[n].other, continued[n].src, continued[n].dst);
    ts_copy_plan j;
    ts_copy_plan_begin(&j, m);
    j.others = &list;
    assert_true(ts_copy_plan_match_transpose(&j, &box, times));
    assert_int_equal(list.taken[1], continued[n].taken);
    assert_int_equal(j.extended, continued[n].taken);
    assert_int_equal(j.tile.rows.count, continued[n].rows);
    assert_int_equal(j.tile.columns.count, continued[n].columns);
    if (!continued[n].taken) return;
    const ts_offsets *side = continued[n].rows == 128 ? &j.tile.columns : &j.tile.rows;
    assert_int_equal(side->even, continued[n].even ? side->count : 1);
    int64_t last = side->even == 1 ? side->chunk[side->count - 1] : (side->count - 1) * side->step;
    assert_int_equal(last, continued[n].last);
    assert_true(ts_copy_plan_match_transpose(&j, &box, times)); /* it is not taken twice */
    assert_true(j.tile.rows.count * j.tile.columns.count < continued[n].rows * continued[n].columns);
}

TEST(boxes_that_continue) {
    for (int version = 0; version < TS_KERNELS_COUNT; version++) {
        const ts_kernels *kernels = ts_kernels_get(version);
        ts_copy_context m = context_of(TS_DTYPE_F32, 32, kernels);
        for (size_t n = 0; kernels && n < sizeof continued / sizeof continued[0]; n++) match_continued(n, &m);
    }
}

/* Columns of 8 bytes, 12 apart, are left to lines, but where another box makes them longer. */
static const struct {
    ts_plan_loop other[3];
    int64_t src, dst;
    bool taken;
} short_columns[] = {
    {{{128, 1, 12}, {4, 256, 1}}, 2048, 8, true},
    {{{128, 1, 12}, {3, 256, 1}}, 2048, 8, false},  /* few elements */
    {{{128, 1, 12}, {4, 256, 1}}, 2048, 9, false},  /* not behind it */
    {{{50, 1, 12}, {8, 256, 1}}, 128, 1536, false}, /* more columns */
};

static void match_short_columns(size_t n, const ts_kernels *kernels) {
    static const ts_plan_loop loops[] = {{128, 1, 12}, {8, 256, 1}, {0, 0, 0}};
    ts_copy_context m = context_of(TS_DTYPE_U8, 8, kernels);
    ts_plan_box box = all_loops(loops);
    int64_t times[TS_PLAN_MAX_LOOPS];
    ts_box_list list = list_before(short_columns[n].other, short_columns[n].src, short_columns[n].dst);
    ts_copy_plan j;
    ts_copy_plan_begin(&j, &m);
    j.others = &list;
    bool is = short_columns[n].taken && kernels->tiles[0]->masks_columns;
    assert_int_equal(ts_copy_plan_match_transpose(&j, &box, times), is);
    assert_int_equal(list.taken[1], is);
    if (is) assert_int_equal(j.tile.rows.count, 12);
}

TEST(short_columns_that_continue) {
    for (int version = 0; version < TS_KERNELS_COUNT; version++) {
        const ts_kernels *kernels = ts_kernels_get(version);
        for (size_t n = 0; kernels && n < sizeof short_columns / sizeof short_columns[0]; n++)
            match_short_columns(n, kernels);
    }
}

/* ---- Two lines ---- */

#ifdef TS_KERNELS_X86
/* Loops in bytes, of elements of so many: do halves make lines? */
static const struct {
    int unit;
    ts_plan_loop loops[4];
    bool are;
} pairs[] = {
    {2, {{128, 2, 4}, {2, 256, 2}}, true},
    {2, {{128, 4, 2}, {2, 2, 256}}, true},
    {1, {{256, 1, 2}, {2, 256, 1}}, true},
    {1, {{256, 2, 1}, {2, 1, 256}}, true},
    {4, {{64, 4, 8}, {2, 256, 4}}, false},             /* words */
    {2, {{16, 4, 4}, {2, 2, 128}, {2, 64, 2}}, false}, /* the digit that leaves is not the first */
};

static void move_by_halves(size_t n, const ts_kernels *kernels) {
    const int bits = 8 * pairs[n].unit;
    ts_copy_context m = context_of(bits == 8    ? TS_DTYPE_U8
                                   : bits == 16 ? TS_DTYPE_BF16
                                                : TS_DTYPE_F32,
                                   bits, kernels);
    ts_plan_box box = all_loops(pairs[n].loops);
    uint8_t src[512], dst[512];
    int64_t times[TS_PLAN_MAX_LOOPS];
    ts_copy_plan j;
    ts_copy_plan_begin(&j, &m);
    assert_true(ts_copy_plan_match_box(&j, &box, times));
    assert_non_null(j.tile_function);
    assert_int_equal(j.tile.stages, 1);
    for (int i = 0; i < TS_TILE_LOOPS; i++) j.tile.loops[i] = (ts_kernel_loop){1, 0, 0};
    assert_int_equal(j.tile.listed, 0);
    for (int i = 0; i < 512; i++) src[i] = (uint8_t)(i * 7 + i / 256);
    j.tile.streams = false;
    j.tile.ahead_bytes = 0;
    assert_int_equal(ts_halves_avx512(&j.tile, dst, src), pairs[n].are);
    for (int i = 0; pairs[n].are && i < 2 * TS_LINE_BYTES; i++) { /* those of the first steps */
        const ts_plan_loop *loops = pairs[n].loops;
        int64_t k = i % pairs[n].unit, c = i / pairs[n].unit / 2, r = i / pairs[n].unit % 2;
        assert_int_equal(dst[c * loops[0].dst_bits + r * loops[1].dst_bits + k],
                         src[c * loops[0].src_bits + r * loops[1].src_bits + k]);
    }
}
#endif

TEST(lines_of_halves) {
#ifdef TS_KERNELS_X86
    const ts_kernels *kernels = ts_kernels_get(TS_KERNELS_AVX512);
    for (size_t n = 0; kernels && n < sizeof pairs / sizeof pairs[0]; n++) move_by_halves(n, kernels);
#endif
}

/* ---- Halves that become words ---- */

#ifdef TS_KERNELS_X86
/* Loops in bytes, from bf16 to f32: does a line have the elements of two in turns? */
static const struct {
    ts_plan_loop loops[4];
    bool are;
} turns[] = {
    {{{32, 4, 4}, {2, 2, 256}}, true},
    {{{2, 2, 256}, {16, 4, 4}, {2, 64, 512}}, true},
    {{{8, 4, 4}, {2, 2, 32}, {2, 32, 64}}, false},   /* they turn within a line */
    {{{8, 2, 4}, {2, 32, 32}, {2, 16, 128}}, false}, /* halves of lines do */
    {{{8, 4, 4}, {2, 32, 32}, {2, 2, 256}}, true},   /* by two loops */
    {{{16, 4, 4}, {2, 2, 64}, {2, 1024, 128}}, true},
};

static void split_lines(size_t n, const ts_kernels *kernels) {
    ts_copy_context m = context_of(TS_DTYPE_BF16, 16, kernels);
    ts_plan_box box = all_loops(turns[n].loops);
    uint16_t src[2048] = {0};
    uint32_t dst[512] = {0};
    int64_t times[TS_PLAN_MAX_LOOPS];
    ts_copy_plan j;
    m.dst = (ts_copy_side){TS_DTYPE_F32, 32, NULL};
    m.same = false;
    ts_copy_set_conversion(&m);
    ts_copy_plan_begin(&j, &m);
    assert_true(ts_copy_plan_match_box(&j, &box, times));
    for (int i = 0; i < TS_TILE_LOOPS; i++) j.tile.loops[i] = (ts_kernel_loop){1, 0, 0};
    for (int i = 0; i < 32; i++) src[i] = (uint16_t)(0x7f70 + i); /* some are no numbers */
    j.tile.streams = false;
    j.tile.ahead_bytes = 0;
    assert_int_equal(j.tile.stages == 1 && ts_pairs_split_avx512(&j.tile, (uint8_t *)dst, (uint8_t *)src),
                     turns[n].are);
    for (int i = 0; turns[n].are && i < 32; i++) {
        uint32_t bits = (uint32_t)src[i] << 16;
        assert_int_equal(dst[(i % 2 ? j.tile.dst_line[1] : j.tile.dst_line[0]) / 4 + i / 2],
                         i > 16 ? 0x7fc00000 : bits);
    }
    j.tile.ahead_bytes = 64;
    assert_false(ts_pairs_split_avx512(&j.tile, (uint8_t *)dst, (uint8_t *)src));
}
#endif

TEST(lines_that_are_split) {
#ifdef TS_KERNELS_X86
    const ts_kernels *kernels = ts_kernels_get(TS_KERNELS_AVX512);
    for (size_t n = 0; kernels && n < sizeof turns / sizeof turns[0]; n++) split_lines(n, kernels);
#endif
}

/* ---- Elements ---- */

/* Loops in bytes, of elements of so many bits: how many of them are listed, and do they follow each other? */
static const struct {
    int bits;
    ts_plan_loop loops[4];
    int are;
    bool follows[2];
} elements[] = {
    {8, {{3, 128, 1}, {2, 40, 64}, {64, 1, 2}}, 384, {false, false}},
    {128, {{5, 512, 16}, {2, 16, 128}, {2, 256, 512}}, 20, {false, false}},
    {8, {{11, 128, 1}, {5, 40, 64}, {7, 1, 2}}, 0, {false, false}}, /* 385 */
    {24, {{5, 512, 16}, {2, 16, 128}, {2, 256, 512}}, 0, {false, false}},
    {4, {{5, 512, 16}, {2, 16, 128}, {2, 256, 512}}, 0, {false, false}},
    {16, {{2, 40, 160}, {5, 8, 32}, {4, 2, 8}}, 40, {true, false}},
    {16, {{2, 160, 40}, {5, 32, 8}, {4, 8, 2}}, 40, {false, true}},
    {16, {{2, 42, 160}, {5, 8, 32}, {4, 2, 8}}, 40, {false, false}},
};

TEST(elements_that_are_listed) {
    for (size_t n = 0; n < sizeof elements / sizeof elements[0]; n++) {
        ts_copy_context m = context_of(TS_DTYPE_U8, elements[n].bits, NULL);
        ts_plan_box box = all_loops(elements[n].loops);
        ts_element_list list;
        const ts_plan_loop *l = elements[n].loops;
        box.src_bits = 8;
        box.dst_bits = 16;
        ts_elements_list(&m, &box, &list);
        assert_int_equal(list.count, elements[n].are);
        for (int i = 0; i < 2 && elements[n].are > 0; i++)
            assert_int_equal(list.follows[i], elements[n].follows[i]);
        for (int64_t i = 0; i < elements[n].are; i++) {
            int64_t c = i % l[2].extent, b = i / l[2].extent % l[1].extent, a = i / l[2].extent / l[1].extent;
            assert_int_equal(list.at[i].src, 1 + a * l[0].src_bits + b * l[1].src_bits + c * l[2].src_bits);
            assert_int_equal(list.at[i].dst, 2 + a * l[0].dst_bits + b * l[1].dst_bits + c * l[2].dst_bits);
        }
    }
}

/* ---- Steps ---- */

TEST(steps_that_are_kept) {
    enum { BYTES = 512 };
    static const ts_plan_loop few[] = {{5, 20, 1}, {4, 1, 5}}, runs[] = {{3, 100, 130}, {100, 1, 1}};
    uint8_t src[BYTES], dst[BYTES] = {0}, again[BYTES] = {0};
    ts_arena *arena = ts_arena_new();
    ts_copy_context m = context_of(TS_DTYPE_U8, 8, ts_kernels_get(TS_KERNELS_PORTABLE));
    ts_copy_steps steps = {.arena = arena, .m = &m};
    ts_plan_box moved[] = {box_of(few, 2), box_of(runs, 2)};
    moved[1].dst_bits = 32 * 8;
    for (int i = 0; i < BYTES; i++) src[i] = (uint8_t)(i * 3 + i / 256);
    m.steps = &steps;
    m.src.bytes = src;
    m.dst.bytes = dst;
    for (int i = 0; i < 2; i++) ts_move_box(&m, &moved[i]);
    assert_int_equal(steps.count, 2);
    assert_int_equal(dst[5], src[1]);
    assert_int_equal(dst[32 + 130 + 7], src[107]);
    m.dst.bytes = again;
    ts_copy_steps_repeat(&steps);
    assert_memory_equal(again, dst, BYTES);
    while (steps.count < TS_COPY_MOST_STEPS) ts_move_box(&m, &moved[0]);
    assert_false(steps.full);
    ts_move_box(&m, &moved[1]);
    assert_true(steps.full);
    assert_int_equal(steps.count, TS_COPY_MOST_STEPS);
    ts_arena_free(arena);
}

/* ---- Lists ---- */

/* Two boxes, the second so many bytes behind the first on both sides, of halves that take turns by rows: are their tiles
 * moved together? */
static const struct {
    ts_plan_loop first[4], second[4];
    int64_t src_bytes, dst_bytes;
    bool are;
} listed[] = {
    {{{5, 2008, 4096}, {4, 502, 512}, {128, 2, 4}, {2, 251, 2}},
     {{5, 2008, 4096}, {4, 502, 512}, {96, 2, 4}, {2, 251, 2}},
     10240,
     2048,
     true},
    {{{5, 2008, 4096}, {4, 502, 512}, {64, 2, 4}, {2, 251, 2}},
     {{5, 2008, 4096}, {4, 502, 512}, {123, 2, 4}, {2, 251, 2}}, /* with tails */
     10240,
     2048,
     true},
    {{{5, 2008, 4096}, {4, 502, 512}, {123, 2, 4}, {2, 251, 2}},
     {{4, 2008, 4096}, {4, 502, 512}, {128, 2, 4}, {2, 251, 2}}, /* another outermost loop */
     10240,
     2048,
     false},
    {{{5, 2008, 4096}, {4, 502, 512}, {123, 2, 4}, {2, 251, 2}},
     {{5, 2010, 4096}, {4, 502, 512}, {128, 2, 4}, {2, 251, 2}},
     10240,
     2048,
     false},
    {{{5, 2008, 4096}, {4, 502, 512}, {123, 2, 4}, {2, 251, 2}},
     {{5, 2008, 4096}, {4, 502, 512}, {65, 2, 4}, {2, 251, 2}}, /* a rest would be left */
     10240,
     2048,
     false},
    {{{3, 8032, 16384}, {32, 251, 512}, {64, 2, 4}, {2, 125, 2}}, /* as many as there is room for */
     {{3, 8032, 16384}, {32, 251, 512}, {32, 2, 4}, {2, 125, 2}},
     24096,
     256,
     false},
    {{{3, 8032, 16384}, {8, 251, 512}, {128, 2, 4}, {2, 125, 2}}, /* and both together */
     {{3, 8032, 16384}, {8, 251, 512}, {128, 2, 4}, {2, 125, 2}},
     24096,
     8192,
     true},
    {{{3, 8032, 16384}, {8, 251, 512}, {128, 2, 4}, {2, 125, 2}}, /* more than that */
     {{3, 8032, 16384}, {9, 251, 512}, {128, 2, 4}, {2, 125, 2}},
     24096,
     8192,
     false},
    {{{2, 2008, 4096}, {4, 502, 512}, {96, 2, 4}, {2, 251, 2}}, /* few, however often the outermost turns */
     {{3, 2008, 4096}, {4, 502, 512}, {96, 2, 4}, {2, 251, 2}},
     10240,
     8192,
     true},
    {{{2, 2008, 4096}, {4, 502, 512}, {96, 2, 4}, {2, 251, 2}}, /* more */
     {{3, 2008, 4096}, {4, 502, 512}, {128, 2, 4}, {2, 251, 2}},
     10240,
     8192,
     false},
    {{{3, 8032, 16384}, {9, 251, 512}, {256, 2, 4}, {2, 125, 2}}, /* the first alone */
     {{3, 8032, 16384}, {2, 251, 512}, {32, 2, 4}, {2, 125, 2}},
     24096,
     8192,
     false},
};

enum { LISTED_BYTES = 64 << 10 };

static void move_listed(size_t n, const ts_kernels *kernels) {
    static uint8_t src[LISTED_BYTES], dst[LISTED_BYTES], want[LISTED_BYTES];
    ts_copy_context m = context_of(TS_DTYPE_BF16, 16, kernels);
    ts_box_list list = {.count = 2, .next = 1};
    ts_copy_plan copy;
    list.boxes[0] = box_of(listed[n].first, 4);
    list.boxes[1] = box_of(listed[n].second, 4);
    list.boxes[1].src_bits = listed[n].src_bytes * 8;
    list.boxes[1].dst_bits = listed[n].dst_bytes * 8;
    for (int i = 0; i < LISTED_BYTES; i++) src[i] = (uint8_t)(i * 7 + i / 251);
    memset(dst, 1, sizeof dst);
    memset(want, 1, sizeof want);
    m.src.bytes = src;
    m.dst.bytes = want;
    for (int i = 0; i <= listed[n].are; i++) ts_move_elements(&m, &list.boxes[i]);
    m.dst.bytes = dst;
    ts_copy_plan_begin(&copy, &m);
    copy.others = &list;
    ts_copy_plan_move(&copy, &list.boxes[0]);
    assert_int_equal(list.taken[1], listed[n].are);
    assert_memory_equal(dst, want, sizeof want);
}

/* The same of one box alone. */
static const struct {
    ts_plan_loop loops[4];
    int count;
    bool are;
} alone[] = {
    {{{5, 2008, 4096}, {4, 502, 512}, {128, 2, 4}, {2, 251, 2}}, 4, false},
    {{{5, 2008, 4096}, {4, 502, 512}, {96, 2, 4}, {2, 251, 2}}, 4, true}, /* the last loop is short */
    {{{5, 2008, 4096}, {139, 2, 4}, {2, 1004, 2}}, 3, true},              /* or has a tail */
    {{{267, 2, 4}, {2, 1004, 2}}, 2, true},
    {{{256, 2, 4}, {2, 1004, 2}}, 2, false},
};

static void move_alone(size_t n, const ts_kernels *kernels) {
    static uint8_t src[LISTED_BYTES], dst[LISTED_BYTES];
    ts_copy_context m = context_of(TS_DTYPE_BF16, 16, kernels);
    ts_plan_box box = box_of(alone[n].loops, alone[n].count);
    ts_copy_plan copy;
    m.src.bytes = src;
    m.dst.bytes = dst;
    ts_copy_plan_begin(&copy, &m);
    ts_copy_plan_move(&copy, &box);
    assert_int_equal(copy.tile.loops[TS_TILE_LOOPS - 1].src_step == 0, alone[n].are);
}

TEST(tiles_that_are_listed) {
    const ts_kernels *kernels = ts_kernels_get(TS_KERNELS_AVX512);
    for (size_t n = 0; kernels && n < sizeof listed / sizeof listed[0]; n++) move_listed(n, kernels);
    for (size_t n = 0; kernels && n < sizeof alone / sizeof alone[0]; n++) move_alone(n, kernels);
}

/* Loops in bytes, of elements of so many: is it a transpose? */
static const struct {
    int unit;
    ts_plan_loop loops[4];
    bool is;
} whether[] = {
    {1, {{512, 1, 4}, {2, 600, 1}}, false}, /* columns and gaps of their length: lines of both */
    {1, {{512, 1, 5}, {2, 600, 1}}, true},
    {2, {{60, 800, 800}, {20, 2, 20}, {10, 40, 2}}, true}, /* squares, and smaller ones */
    {2, {{60, 396, 396}, {18, 2, 22}, {11, 36, 2}}, false},
    {1, {{60, 1024, 1024}, {32, 1, 32}, {32, 32, 1}}, false},
    {1, {{60, 2000, 2000}, {32, 1, 40}, {32, 50, 1}}, false}, /* bytes: more than half a line of either */
    {1, {{60, 2000, 2000}, {32, 1, 40}, {40, 50, 1}}, true},
    {1, {{60, 2000, 2000}, {40, 1, 40}, {32, 50, 1}}, true},
    {16, {{40, 16, 640}, {40, 800, 16}}, true},
    {8, {{2, 8, 8}, {40, 16, 640}, {40, 800, 16}}, true},
    {16, {{2, 16, 16}, {40, 32, 1280}, {40, 1600, 32}}, false}, /* kernels know no such elements */
    {1, {{512, 1, 5}, {2, 600, 7}}, false},                     /* no columns */
};

TEST(transposes_or_lines) {
    const ts_kernels *kernels = ts_kernels_get(TS_KERNELS_AVX512);
    for (size_t n = 0; kernels && n < sizeof whether / sizeof whether[0]; n++) {
        ts_copy_context m = context_of(TS_DTYPE_U8, 8 * whether[n].unit, kernels);
        ts_plan_box box = all_loops(whether[n].loops);
        int64_t times[TS_PLAN_MAX_LOOPS];
        ts_copy_plan j;
        ts_copy_plan_begin(&j, &m);
        if (ts_copy_plan_match_transpose(&j, &box, times) != whether[n].is) fail_msg("row %zu", n);
    }
}

/* ---- Lines that collide in caches ---- */

/* Of elements of so many bytes: how far rows and columns of a transpose lie apart, and bytes of a row that are moved
 * together. */
static const struct {
    int unit;
    int64_t rows, row_step, column_step;
    bool packs, apart, spread;
    int strip_bytes;
} colliding[] = {
    {1, 64, 4096, 100, true, false, true, 256},
    {1, 64, 4224, 100, false, false, false, 256},
    {1, 512, 4224, 600, false, false, false, 256},
    {1, 64, 1000, 4100, false, true, false, 16},
    {1, 64, 8192 + 4, 100, true, false, true, 256},
    {1, 64, 4096 + 8, 100, false, false, false, 256},
    {1, 64, 4096 - 6, 100, false, false, false, 256},
    {1, 64, 4096 - 9, 100, false, false, false, 256},
    {1, 64, 4096, 4096, true, true, false, 256},
    {1, 64, 4096, 4090, true, true, false, 256},
    {2, 64, 1000, 4100, false, true, false, 16},
    {2, 64, 1000, 4096, false, true, false, 16},
    {2, 64, 1000, 1024, false, true, false, 64},
    {2, 64, 1000, 512, false, true, false, 512},
    {2, 64, 1000, 4352, false, false, false, 512},
    {2, 64, 1000, 4096 - 8, false, true, false, 512},
    {2, 64, 1000, 4096 - 7, false, true, false, 16},
    {2, 64, 1000, 4096 - 10, false, false, false, 512},
    {2, 64, 1000, 4096 + 9, false, true, false, 512},
    {1, 64, 65536, 100, true, false, true, 256},
    {2, 64, 1000, 65536 - 7, false, true, false, 16},
    {4, 64, 1000, 1024, false, true, false, 128},
    {4, 64, 1000, 100, false, false, false, 640},
    {8, 64, 1000, 512 + 1, false, false, false, 640}, /* more than a strip has */
};

TEST(lines_that_collide) {
    for (int version = 0; version < TS_KERNELS_COUNT; version++) {
        const ts_kernels *kernels = ts_kernels_get(version);
        for (size_t n = 0; kernels && n < sizeof colliding / sizeof colliding[0]; n++) {
            const int unit = colliding[n].unit;
            ts_copy_context m = context_of(TS_DTYPE_U8, 8 * unit, kernels);
            ts_plan_loop loops[] = {{64, unit, colliding[n].column_step},
                                    {colliding[n].rows, colliding[n].row_step, unit}};
            ts_plan_box box = box_of(loops, 2);
            int64_t times[TS_PLAN_MAX_LOOPS];
            ts_copy_plan j;
            ts_copy_plan_begin(&j, &m);
            assert_true(ts_copy_plan_match_transpose(&j, &box, times));
            assert_int_equal(j.tile.packs, colliding[n].packs);
            assert_int_equal(j.tile.apart, colliding[n].apart);
            assert_int_equal(j.tile.spread, colliding[n].spread);
            assert_int_equal(j.tile.strip_bytes, colliding[n].strip_bytes);
        }
    }
}

/* Fewer bytes of rows than a lane has are moved together where what is behind the last may be read. */
TEST(strips_of_few_bytes) {
    for (int behind = 0; behind <= 64; behind += 64) {
        ts_copy_context m = context_of(TS_DTYPE_U8, 8, ts_kernels_best());
        ts_plan_loop loops[] = {{64, 1, 4100}, {64, 1000, 1}};
        ts_plan_box box = box_of(loops, 2);
        int64_t times[TS_PLAN_MAX_LOOPS];
        ts_copy_plan j;
        m.behind_bytes = behind;
        ts_copy_plan_begin(&j, &m);
        assert_true(ts_copy_plan_match_transpose(&j, &box, times));
        assert_int_equal(j.tile.strip_bytes, behind ? 8 : 16);
    }
}

/* Rows of two loops: those of one lie apart, and those of both in few lines of the cache. */
TEST(chunks_that_collide) {
    static const ts_plan_loop apart[] = {{8, 34816, 2}, {17, 2048, 16}, {120, 2, 272}, {0}},
                              near[] = {{8, 34944, 2}, {17, 2176, 16}, {120, 2, 272}, {0}};
    for (int version = 0; version < TS_KERNELS_COUNT; version++) {
        const ts_kernels *kernels = ts_kernels_get(version);
        if (!kernels || kernels->tiles[0]->line_bytes < 64) continue; /* shorter lines have few of the rows */
        ts_copy_context m = context_of(TS_DTYPE_F16, 16, kernels);
        for (int collide = 0; collide < 2; collide++) {
            ts_plan_box box = all_loops(collide ? apart : near);
            int64_t times[TS_PLAN_MAX_LOOPS];
            ts_copy_plan j;
            ts_copy_plan_begin(&j, &m);
            assert_true(ts_copy_plan_match_transpose(&j, &box, times));
            assert_int_equal(j.tile.rows.even, 8);
            assert_int_equal(j.tile.packs, collide);
        }
    }
}

/* ---- Boxes that are one but for a lack ---- */

/* Loops in bytes of elements of so many, and those of a second box, which begins so far behind the first; joined: both
 * are moved as one. */
static const struct {
    int unit;
    ts_plan_loop loops[4], last[4];
    int64_t src, dst;
    bool joined;
} lacks[] = {
    {2, {{128, 4, 10}, {2, 512, 4}, {2, 2, 2}}, {{128, 4, 10}}, 1024, 8, true}, /* pairs of rows, and one */
    {2, {{128, 4, 10}, {2, 512, 4}, {2, 2, 2}}, {{128, 4, 10}}, 1536, 8, false},
    {2, {{128, 4, 10}, {2, 512, 4}, {2, 2, 2}}, {{127, 4, 10}}, 1024, 8, false},
    {1, {{128, 4, 5}, {4, 1, 1}}, {{128, 4, 5}}, 512, 4, true},
    {1, {{128, 4, 7}, {4, 1, 1}}, {{128, 4, 7}, {3, 1, 1}}, 512, 4, true},
    {1, {{128, 4, 8}, {3, 1, 1}}, {{128, 4, 8}, {2, 1, 2}}, 512, 4, false},
    {1, {{3, 4, 512}, {128, 14, 4}, {4, 1, 1}}, {{128, 14, 4}, {2, 1, 1}}, 12, 1536, true}, /* and back */
    {1, {{3, 4, 512}, {128, 14, 4}, {4, 1, 1}}, {{128, 14, 4}, {2, 1, 2}}, 12, 1536, false},
    {4, {{36, 56, 1024}, {128, 2048, 4}, {2, 4, 512}}, {{36, 56, 1024}, {128, 2048, 4}}, 8, 36864, false},
    {4, {{3, 8, 1024}, {2, 4, 512}, {128, 28, 4}}, {{128, 28, 4}}, 24, 4096, false},
    {4, {{3, 8, 1024}, {2, 4, 512}, {128, 28, 4}}, {{128, 28, 4}}, 24, 3072, true},
};

enum { LACK_BYTES = 1 << 19 };

/* Moves both boxes in some way between memories of random bytes; was the second moved with the first? */
static bool move_both(size_t n, const ts_kernels *kernels, uint8_t *src, uint8_t *dst) {
    ts_copy_context m = context_of(TS_DTYPE_U8, 8 * lacks[n].unit, kernels);
    ts_box_list list = {.count = 2, .next = 1};
    m.src.bytes = src;
    m.dst.bytes = dst;
    m.behind_bytes = TS_LINE_BYTES;
    list.boxes[0] = all_loops(lacks[n].loops);
    list.boxes[1] = all_loops(lacks[n].last);
    list.boxes[1].src_bits = 8 * lacks[n].src;
    list.boxes[1].dst_bits = 8 * lacks[n].dst;
    for (int i = 0; i < LACK_BYTES; i++) {
        src[i] = (uint8_t)(i * 7 + i / 256);
        dst[i] = (uint8_t)(i * 5);
    }
    for (int i = 0; i < 2; i++) {
        ts_copy_plan j;
        ts_copy_plan_begin(&j, &m);
        j.others = &list;
        if (!kernels)
            ts_move_elements(&m, &list.boxes[i]);
        else if (!list.taken[i])
            ts_copy_plan_move(&j, &list.boxes[i]);
    }
    return list.taken[1];
}

TEST(boxes_with_a_lack) {
    static uint8_t src[LACK_BYTES], dst[LACK_BYTES], expected[LACK_BYTES];
    for (size_t n = 0; n < sizeof lacks / sizeof lacks[0]; n++) {
        move_both(n, NULL, src, expected);
        for (int version = 0; version < TS_KERNELS_COUNT; version++) {
            const ts_kernels *kernels = ts_kernels_get(version);
            if (!kernels) continue;
            bool joined = move_both(n, kernels, src, dst), masks = kernels->tiles[0]->masked;
            if (joined != (masks && lacks[n].joined)) fail_msg("row %zu: %d", n, joined);
            if (memcmp(dst, expected, LACK_BYTES) != 0) fail_msg("row %zu: other bytes", n);
        }
    }
}

/* ---- Runs ---- */

/* Within a cache, where lines are masked, runs of more than a quarter of one; else of half, or all of it. */
TEST(runs_or_lines) {
    for (int version = 0; version < TS_KERNELS_COUNT; version++) {
        const ts_kernels *kernels = ts_kernels_get(version);
        if (!kernels) continue;
        const int line = kernels->tiles[0]->line_bytes,
                  least = kernels->tiles[0]->masked ? line / 4 + 1 : line;
        for (int bytes = 4; bytes <= 64; bytes++) {
            ts_copy_context m = context_of(TS_DTYPE_U8, 8, kernels);
            ts_plan_loop loops[] = {{19, 40 * bytes, bytes}, {40, bytes, 19 * bytes}, {bytes, 1, 1}};
            ts_plan_box box = box_of(loops, 3);
            int64_t times[TS_PLAN_MAX_LOOPS];
            ts_copy_plan j;
            ts_copy_plan_begin(&j, &m);
            assert_true(ts_copy_plan_match_box(&j, &box, times));
            if (bytes >= least) assert_null(j.tile_function);
            if (bytes < least && kernels->tiles[0]->masked) assert_non_null(j.tile_function);
        }
    }
}

/* A kernel turns two loops of runs. Where it would be called often for little, the longest; and innermost those that follow
 * each other in the source, where others lie in more lines of it than are at hand. */
static const struct {
    int kernels; /* 64: those that mask lines of so many bytes alone */
    ts_plan_loop loops[5];
    int64_t outer, inner; /* the counts of the two */
} turned[] = {
    {0, {{362, 264, 264}, {2, 66, 132}, {2, 132, 66}, {66, 1, 1}}, 2, 362},
    {0, {{32, 264, 264}, {2, 66, 132}, {2, 132, 66}, {66, 1, 1}}, 2, 2},
    {0, {{362, 4160, 4160}, {2, 1040, 2080}, {2, 2080, 1040}, {1040, 1, 1}}, 2, 2},
    {0, {{362, 4096, 4096}, {2, 66, 132}, {20, 132, 66}, {66, 1, 1}}, 20, 362},
    {0, {{14, 64, 24960}, {390, 896, 64}, {64, 1, 1}}, 390, 14},
    {64, {{14, 24, 9360}, {390, 336, 24}, {24, 1, 1}}, 390, 14},
    {64, {{14, 24, 1536}, {64, 336, 24}, {24, 1, 1}}, 14, 64},      /* few lines */
    {64, {{7, 24, 9360}, {390, 63, 24}, {24, 1, 1}}, 7, 390},       /* not another line each */
    {64, {{14, 25, 9360}, {390, 350, 24}, {24, 1, 1}}, 14, 390},    /* apart in the source */
    {64, {{400, 24, 9360}, {390, 9600, 24}, {24, 1, 1}}, 400, 390}, /* no fewer */
    {0, {{14, 65, 25350}, {390, 910, 65}, {65, 1, 1}}, 14, 390},    /* longer than a line */
};

TEST(loops_of_runs) {
    for (int version = 0; version < TS_KERNELS_COUNT; version++) {
        const ts_kernels *kernels = ts_kernels_get(version);
        for (size_t n = 0; kernels && n < sizeof turned / sizeof turned[0]; n++) {
            if (kernels->tiles[0]->line_bytes < turned[n].kernels) continue;
            ts_copy_context m = context_of(TS_DTYPE_U8, 8, kernels);
            ts_plan_box box = all_loops(turned[n].loops);
            ts_copy_plan j;
            assert_true(ts_copy_plan_match(&j, &m, &box));
            assert_null(j.tile_function);
            if (j.loops[j.inner_loop[0]].count != turned[n].outer ||
                j.loops[j.inner_loop[1]].count != turned[n].inner)
                fail_msg("row %zu: %lld, %lld", n, (long long)j.loops[j.inner_loop[0]].count,
                         (long long)j.loops[j.inner_loop[1]].count);
        }
    }
}

/* ---- Short rows ---- */

/* Of elements of so many bytes; `many`: the line of the kernels from which on they are taken; 0: never. */
static const struct {
    int unit;
    ts_plan_loop loops[4];
    int many;
    int rows, columns;
} short_rows[] = {
    {1, {{13, 1, 500}, {500, 128, 1}}, 32, 500, 13},
    {1, {{15, 1, 500}, {500, 128, 1}}, 32, 500, 15},
    {1, {{8, 1, 500}, {500, 128, 1}}, 32, 500, 8},
    {1, {{7, 1, 500}, {500, 128, 1}}, 0, 0, 0},
    {1, {{16, 1, 500}, {500, 128, 1}}, 0, 0, 0},
    {1, {{13, 1, 32}, {32, 128, 1}}, 32, 32, 13},
    {1, {{13, 1, 31}, {31, 128, 1}}, 64, 31, 13},
    {1, {{13, 1, 16}, {16, 128, 1}, {9, 4096, 208}}, 64, 16, 13},
    {1, {{13, 1, 15}, {15, 128, 1}}, 0, 0, 0},
    {2, {{7, 2, 1000}, {500, 128, 2}}, 0, 0, 0},
};

TEST(rows_that_are_copied) {
    for (int version = 0; version < TS_KERNELS_COUNT; version++) {
        const ts_kernels *kernels = ts_kernels_get(version);
        for (size_t n = 0; kernels && n < sizeof short_rows / sizeof short_rows[0]; n++) {
            ts_copy_context m = context_of(TS_DTYPE_U8, 8 * short_rows[n].unit, kernels);
            ts_plan_box box = all_loops(short_rows[n].loops);
            int64_t times[TS_PLAN_MAX_LOOPS];
            ts_copy_plan j;
            ts_copy_plan_begin(&j, &m);
            bool is = short_rows[n].many > 0 && kernels->tiles[0]->line_bytes >= short_rows[n].many;
            assert_int_equal(ts_copy_plan_match_short_rows(&j, &box, times), is);
            if (!is) continue;
            assert_int_equal(j.tile.rows.count, short_rows[n].rows);
            assert_int_equal(j.tile.columns.count, short_rows[n].columns);
            assert_int_equal(j.tile.strip_bytes, TS_STRIP_BYTES);
        }
    }
}

/* Before lines that are hardly there, but behind those that are whole. */
TEST(rows_that_are_copied_late) {
    static const ts_plan_loop hardly[] = {{15, 16384, 4371}, {13, 1, 47}, {5, 2048, 8}, {8, 128, 1}, {0}},
                              whole[] = {{8, 1, 512}, {512, 8, 1}, {0}};
    for (int version = 0; version < TS_KERNELS_COUNT; version++) {
        const ts_kernels *kernels = ts_kernels_get(version);
        if (!kernels || kernels->tiles[0]->line_bytes < 32) continue;
        ts_copy_context m = context_of(TS_DTYPE_U8, 8, kernels);
        ts_plan_box box = all_loops(hardly), others = all_loops(whole);
        int64_t times[TS_PLAN_MAX_LOOPS];
        ts_copy_plan j;
        ts_copy_plan_begin(&j, &m);
        assert_true(ts_copy_plan_match_box(&j, &box, times));
        assert_ptr_equal(j.tile_function, kernels->tiles[0]->transposes[0]);
        assert_int_equal(j.tile.columns.count, 13);
        assert_true(ts_copy_plan_match_box(&j, &others, times));
        assert_ptr_not_equal(j.tile_function, kernels->tiles[0]->transposes[0]);
    }
}

/* The same where so many bytes behind the source may be read. */
static const struct {
    int unit;
    int64_t behind;
    ts_plan_loop loops[3];
    bool is;
} read_on[] = {
    {1, 64, {{64, 8, 1}, {8, 1, 64}}, true},   {1, 64, {{63, 8, 1}, {8, 1, 63}}, false},
    {1, 63, {{63, 8, 1}, {8, 1, 63}}, true},   {2, 64, {{32, 12, 2}, {6, 2, 64}}, true},
    {2, 63, {{32, 12, 2}, {6, 2, 64}}, false}, {4, 64, {{32, 12, 4}, {3, 4, 128}}, false},
};

TEST(rows_that_are_read_on) {
    const ts_kernels *kernels = ts_kernels_get(TS_KERNELS_AVX512);
    for (size_t n = 0; kernels && n < sizeof read_on / sizeof read_on[0]; n++) {
        ts_copy_context m = context_of(TS_DTYPE_U8, 8 * read_on[n].unit, kernels);
        ts_plan_box box = all_loops(read_on[n].loops);
        int64_t times[TS_PLAN_MAX_LOOPS];
        ts_copy_plan j;
        m.behind_bytes = read_on[n].behind;
        ts_copy_plan_begin(&j, &m);
        assert_int_equal(ts_copy_plan_match_short_rows(&j, &box, times), read_on[n].is);
        if (read_on[n].is) assert_int_equal(j.tile.reads_on, read_on[n].behind == 64);
    }
}

/* Before permutes and lines that are not whole. */
TEST(rows_that_are_read_on_early) {
    static const ts_plan_loop loops[] = {{128, 14, 1}, {14, 1, 128}, {0}};
    const ts_kernels *kernels = ts_kernels_get(TS_KERNELS_AVX512);
    for (int64_t behind = 0; kernels && behind <= 64; behind += 64) {
        ts_copy_context m = context_of(TS_DTYPE_U8, 8, kernels);
        ts_plan_box box = all_loops(loops);
        int64_t times[TS_PLAN_MAX_LOOPS];
        ts_copy_plan j;
        m.behind_bytes = behind;
        ts_copy_plan_begin(&j, &m);
        assert_true(ts_copy_plan_match_box(&j, &box, times));
        assert_int_equal(j.tile_function == kernels->tiles[0]->transposes[0], behind == 64);
    }
}
