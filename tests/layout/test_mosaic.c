/* Mosaic's layouts: values in vregs (vpad) and tiled memrefs, against the places that an enumeration gives. */
#include "tests/support/rounds.h"
#include "tests/support/test.h"

#include <inttypes.h>
#include <string.h>

#include "tests/support/random_layout.h"
#include "tests/support/shapes.h"
#include "layout/notation/vpad.h"
#include "layout/shape.h"

enum { SUBLANES = 8, LANES = 128, MOST = 64 };

TEST(test_canonical) {
    static const struct {
        const char *text, *canonical;
        int64_t bytes;
    } rows[] = {
        {"f32[256,512] #tpu.vpad<\"32,{0,0},(8,128)\">", "f32[256,512] vpad<\"32,{0,0},(8,128)\">", 524288},
        {"bf16[512,128]vpad<\"16,{0,0},(16,128)\">", "bf16[512,128] vpad<\"16,{0,0},(16,128)\">", 131072},
        {"bf16[512,128] vpad<\"16,{0,0},(8,128)\">", "bf16[512,128] vpad<\"16,{0,0},(8,128)\">", 262144},
        {"f32[512] vpad<\"32,{0,0},(1,128),-2\">", "f32[512] vpad<\"32,{0,0},(1,128),-2\">", 4096},
        {"f32[512] vpad<\"32,{*,*},(8,128),-2\">", "f32[512] vpad<\"32,{*,*},(8,128),-2\">", 4096},
        {"f32[512] vpad<\"32,{0,*},(8,128),-1\">", "f32[512] vpad<\"32,{0,*},(8,128),-1\">", 262144},
        {"f32[] vpad<\"32,{*,*},(8,128),-2,-1\">", "f32[] vpad<\"32,{*,*},(8,128),-2,-1\">", 4096},
        {"f32[16] vpad<\"32,{0,0},(8,128),-2,-1\">", "f32[16] vpad<\"32,{0,0},(8,128),-2,-1\">", 65536},
        {"s4[64,256] vpad<\"4,{0,0},(64,128)\">", "s4[64,256] vpad<\"4,{0,0},(64,128)\"> E(4)", 8192},
        {"pred[64,256] vpad<\"1,{0,0},(32,128)\">", "pred[64,256] vpad<\"1,{0,0},(32,128)\"> E(1)", 8192},
        {"pred[16,128] vpad<\"16,{0,0},(16,128)\">", "pred[16,128] vpad<\"16,{0,0},(16,128)\"> E(16)", 4096},
        {"memref<16x256xbf16, #tpu.tiled<(8,128)(2,1),[2,1]>, #tpu.memory_space<vmem>>",
         "bf16[16,256] tiled<(8,128)(2,1),[2,1]> S(1)", 8192},
        {"memref<512xbf16, #tpu.tiled<(1024)(128)(2,1),[1]>>", "bf16[512] tiled<(1024)(128)(2,1),[1]>", 2048},
        {"memref<3x5xi8,#tpu.memory_space<hbm>>", "s8[3,5] tiled<,[5,1]>", 15},
        {"memref<4xi1, #tpu.memory_space<smem>>", "pred[4] tiled<,[1]> S(4)", 4},
        {"memref<f32>", "f32[] tiled<,[]>", 4},
        {"memref<8x128xf8E4M3FN, #tpu.tiled<(8,128)(4,1),[1,1]>, #tpu.memory_space<any>>",
         "f8e4m3fn[8,128] tiled<(8,128)(4,1),[1,1]>", 1024},
        {"f32[16,256] tiled<(8,128),[4,2]>", "f32[16,256] tiled<(8,128),[4,2]>", 28672},
        {"f32[8,100] #tpu.tiled<(8,128),[-7,9]>S(1)", "f32[8,100] tiled<(8,128),[-7,9]> S(1)", 4096},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_text text;
        const ts_shape *shape = parse_shape(arena, rows[i].text);
        text = ts_text_begin(arena);
        ts_shape_print(shape, &text);
        assert_string_equal(text.bytes, rows[i].canonical);
        const ts_shape *again = parse_shape(arena, text.bytes);
        assert_int_equal(shape->storage_bytes, rows[i].bytes);
        assert_int_equal(again->storage_bytes, rows[i].bytes);
        assert_int_equal(again->memory_space, shape->memory_space);
        ts_arena_free(arena);
    }
}

TEST(test_errors) {
    static const struct {
        const char *text, *message;
        int column;
    } rows[] = {
        {"f32[8] vpad<\"32,{0,0},(8,128)\">", "an array of 1 dims needs implicit ones, -1 or -2", 8},
        {"f32[] vpad<\"32,{0,0},(8,128),-1\">", "an array of 0 dims needs implicit ones, -2,-1", 7},
        {"f32[8,8] vpad<\"16,{0,0},(16,128)\">", "the layout is of elements of 16 bits, these have 32", 10},
        {"f32[8,8] vpad<\"24,{0,0},(8,128)\">", "an element has 1, 2, 4, 8, 16 or 32 bits", 16},
        {"f32[8,8] vpad<\"0,{0,0},(8,128)\">", "an element has 1, 2, 4, 8, 16 or 32 bits", 16},
        {"f32[8,8] vpad<\"64,{0,0},(8,128)\">", "an element has 1, 2, 4, 8, 16 or 32 bits", 16},
        {"f32[8,8] vpad<\"32,{-1,0},(8,128)\">", "an offset is at least 0", 20},
        {"f32[8,8] vpad<\"32,{8,0},(8,128)\">", "the first offset is not within the rows of the tile", 28},
        {"f32[8,8] vpad<\"32,{0,256},(4,128)\">",
         "the second offset is not within the columns of a vreg's tiles", 30},
        {"f32[8,8] vpad<\"32,{0,0},(16,128)\">", "the tile does not divide a vreg", 29},
        {"f32[8,8] vpad<\"32,{0,0},(3,128)\">", "the tile does not divide a vreg", 28},
        {"f32[8,8] vpad<\"32,{0,0},(0,128)\">", "the tile does not divide a vreg", 28},
        {"f32[8,8] vpad<\"32,{0,0},(8,1)\">", "the tile is no whole number of sublanes of 128 lanes", 28},
        {"f32[1] vpad<\"32,{0,0},(8,128)\">", "an array of 1 dims needs implicit ones, -1 or -2", 8},
        {"f32[] vpad<\"32,{0,0},(8,128),-2\">", "an array of 0 dims needs implicit ones, -2,-1", 7},
        {"f32[8,8] vpad<\"32,{0,0},(8,0)\">", "the tile does not divide a vreg", 28},
        {"bf16[8,8] vpad<\"16,{0,0},(1,128)\">", "the tile is no whole number of sublanes of 128 lanes", 29},
        {"f32[8,8] vpad<\"32,{0,0},(16,64)\">", "the tile is no whole number of sublanes of 128 lanes", 29},
        {"bf16[8,8] vpad<\"16,{0,0},(2,256)\">",
         "a tile of packed elements has 128 columns, or is one row of whole words", 29},
        {"s8[8,8] vpad<\"8,{0,0},(1,512),-3\">", "implicit dims are -1, -2 or -2,-1", 31},
        {"s8[8,8] vpad<\"8,{0,0},(1,512),-1,-2\">", "implicit dims are -1, -2 or -2,-1", 34},
        {"s8[8,8] vpad<\"8,{0,0},(1,512),-2,-2\">", "implicit dims are -1, -2 or -2,-1", 34},
        {"f32[8,8] vpad<\"none\">", "\"none\" is no layout: it is of scalars and memrefs", 16},
        {"f32[8,8] vpad<\"32,{0,0},(8,128)>", "found '>', expected '\"'", 32},
        {"f32[1152921504606846976] vpad<\"32,{0,0},(8,128),-1\">",
         "the padded size of the layout does not fit in 64 bits", 26},
        {"f32[8,8] tiled<(8,128),[1]>", "the layout has 1 strides and tiles of 2 dims, the array 2 dims", 10},
        {"f32[8] tiled<(8,128),[1]>", "the layout has 1 strides and tiles of 2 dims, the array 1 dims", 8},
        {"f32[8,8] tiled<(128)(2,8,1),[8,1]>", "a tile behind the first reaches out of it", 10},
        {"f32[8,8] tiled<(128)(2,1),[8,1]>", "a tile behind the first reaches out of it", 10},
        {"f32[8,8] tiled<(),[8,1]>", "a tile has at least one extent", 17},
        {"f32[8,8] tiled<(0,1),[8,1]>", "found 0, expected an extent of a tile of at least 1", 17},
        {"f32[16,8] tiled<(8,128),[4611686018427387904,1]>",
         "the strides of the layout do not fit in 64 bits", 11},
        {"memref<?x8xf32>", "a dim without a size ('?') has no layout", 8},
        {"memref<8x8xf31>", "unknown element type 'f31'", 12},
        {"memref<8x8xa12345678901234567890123456789012345678901234567890123456789012>",
         "unknown element type 'a12345678901234567890123456789012345678901234567890123456789'", 12},
        {"memref<8x8xtoken>", "unknown element type 'token'", 12},
        {"memref<8x8xf32, #tpu.memory_space<vmemo>>",
         "unknown memory space, expected any, hbm, vmem, semaphore_mem, smem or host", 35},
        {"memref<8x8xf32, strided<[1]>>", "found 'strided', expected '#tpu.memory_space<'", 17},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error err = {0};
        ts_arena *arena = ts_arena_new();
        if (read_shape(&err, arena, rows[i].text) != NULL) fail_msg("%s is read", rows[i].text);
        if (strcmp(err.message, rows[i].message) != 0 || err.column != rows[i].column)
            fail_msg("%s: column %d: %s", rows[i].text, err.column, err.message);
        ts_arena_free(arena);
    }
}

TEST(test_replicated_dims) {
    static const struct {
        int64_t offsets[2];
        ts_vpad_implicit implicit;
        bool last, before, others;
    } rows[] = {
        {{-1, 0}, TS_VPAD_ALL, false, true, false},     {{0, -1}, TS_VPAD_ALL, true, false, false},
        {{-1, -1}, TS_VPAD_ALL, true, true, false},     {{0, 0}, TS_VPAD_ALL, false, false, false},
        {{-1, 0}, TS_VPAD_MINOR, true, false, false},   {{0, -1}, TS_VPAD_MINOR, false, false, false},
        {{-1, 0}, TS_VPAD_SECOND, false, false, false}, {{0, -1}, TS_VPAD_SECOND, true, false, false},
        {{-1, -1}, TS_VPAD_BOTH, false, false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_vpad v = {.bits = 32, .tile = {8, 128}, .implicit = rows[i].implicit};
        v.offsets[0] = rows[i].offsets[0], v.offsets[1] = rows[i].offsets[1];
        assert_int_equal(ts_vpad_is_replicated(&v, 0), rows[i].last);
        assert_int_equal(ts_vpad_is_replicated(&v, 1), rows[i].before);
        assert_int_equal(ts_vpad_is_replicated(&v, 2), rows[i].others);
    }
}

TEST_WITH_ARENA(test_sizes_are_checked) {
    const ts_vpad vpad = {.bits = 32, .offsets = {0, 9}, .tile = {8, 128}, .implicit = TS_VPAD_SECOND};
    const int64_t dims[] = {INT64_MAX};
    ts_error err = {0};
    assert_null(ts_vpad_layout(&err, arena, &vpad, 1, dims));
    assert_error(&err, TS_ERROR_INPUT, "error: the vregs of the value do not fit in 64 bits\n");
}

/* ---- Values in vregs: the places of an element, by the arithmetic of layout.h, with nothing of ours ---- */

typedef struct {
    int64_t packing, rows, columns, row_offset, column_offset; /* offsets: -1 is '*' */
    int implicit;                                              /* 0, -1, -2 */
    int64_t dims[3];                                           /* of the value with implicit ones */
} value;

typedef struct {
    int64_t vreg, sublane, lane, sub;
} place;

/* Of row A and column B, offsets added. */
static place place_of(const value *v, int64_t leading, int64_t A, int64_t B) {
    int64_t tiles = v->packing * SUBLANES * LANES / (v->rows * v->columns), width = tiles * v->columns;
    int64_t down = v->row_offset < 0 ? 1 : (v->row_offset + v->dims[1] + v->rows - 1) / v->rows;
    int64_t across = v->column_offset < 0 ? 1 : (v->column_offset + v->dims[2] + width - 1) / width;
    int64_t tile = B % width / v->columns, r = A % v->rows, c = B % v->columns;
    place p = {.vreg = (leading * down + A / v->rows) * across + B / width};
    int64_t word = r * v->columns + c; /* of 32 bits: elements of the tile, one behind the other */
    p.lane = word % LANES;
    p.sublane = tile * (SUBLANES / tiles) + word / LANES;
    if (v->packing > 1 && v->rows > 1) {
        p.sublane = tile * (SUBLANES / tiles) + r / v->packing;
        p.sub = r % v->packing;
    } else if (v->packing > 1) {
        p.sublane = tile * (SUBLANES / tiles) + c / (v->packing * LANES);
        p.sub = c / LANES % v->packing;
    }
    return p;
}

static int64_t key(place p) { return ((p.vreg * SUBLANES + p.sublane) * LANES + p.lane) * 8 + p.sub; }

static void check_element(const value *v, const ts_layout *layout, const int64_t *index, const char *text) {
    int64_t tiles = v->packing * SUBLANES * LANES / (v->rows * v->columns),
            total = ts_layout_replica_total(layout);
    int64_t rows = v->row_offset < 0 ? v->rows : 1, columns = v->column_offset < 0 ? tiles * v->columns : 1;
    int64_t expected = 0, found = 0, x[4];
    int64_t a = v->implicit == -2 ? 0 : index[1],
            b = v->implicit == -1 ? 0 : index[v->implicit == -2 ? 1 : 2];
    if (v->implicit == -1) a = index[1];
    if (total != rows * columns) fail_msg("%s: %" PRId64 " places of an element", text, total);
    for (int64_t i = 0; i < rows * columns;
         i++) { /* two sets of distinct places are equal if such sums are */
        int64_t A = v->row_offset < 0 ? i / columns : a + v->row_offset;
        int64_t B = v->column_offset < 0 ? i % columns : b + v->column_offset;
        int64_t k = key(place_of(v, index[0], A, B));
        ts_layout_forward_replica(layout, index, i, x);
        int64_t f = key((place){x[0], x[1], x[2], x[3]});
        expected += k + k * k % 1000003;
        found += f + f * f % 1000003;
    }
    if (expected != found) fail_msg("%s at (%" PRId64 ",%" PRId64 ")", text, index[0], index[1]);
}

static value random_value(uint64_t *seed) {
    value v = {.packing = 1 << random_below(seed, 4), .implicit = -(int)random_below(seed, 3)};
    if (v.packing == 1 || random_below(seed, 2)) {
        v.rows = v.packing << random_below(seed, 4);
        v.columns = LANES;
        if (v.packing == 1 && v.rows < 8 && random_below(seed, 4) == 0) v.columns *= 8 / v.rows;
    } else {
        v.rows = 1;
        v.columns = LANES * v.packing << random_below(seed, 4);
    }
    int64_t tiles = v.packing * SUBLANES * LANES / (v.rows * v.columns);
    v.row_offset = (int64_t)random_below(seed, (uint32_t)v.rows + 1) - 1;
    v.column_offset = (int64_t)random_below(seed, 3) - 1;
    if (v.column_offset == 1) v.column_offset = (int64_t)random_below(seed, (uint32_t)(tiles * v.columns));
    v.dims[0] = 1 + (int64_t)random_below(seed, 3);
    v.dims[1] = v.implicit == -2 ? 1 : 1 + (int64_t)random_below(seed, 40);
    v.dims[2] = v.implicit == -1 ? 1 : 1 + (int64_t)random_below(seed, 2500);
    return v;
}

static void add_offset(ts_text *out, int64_t offset) {
    if (offset < 0)
        ts_text_add_char(out, '*');
    else
        ts_text_add(out, "%" PRId64, offset);
}

static const char *text_of(ts_arena *arena, const value *v) {
    static const char *const types[] = {"f32", "bf16", "s8", "s4"};
    int log = 0;
    ts_text out = ts_text_begin(arena);
    while (1 << log < v->packing) log++;
    ts_text_add(&out, "%s[%" PRId64, types[log], v->dims[0]);
    if (v->implicit != -2) ts_text_add(&out, ",%" PRId64, v->dims[1]);
    if (v->implicit != -1) ts_text_add(&out, ",%" PRId64, v->dims[2]);
    ts_text_add(&out, "] vpad<\"%" PRId64 ",{", 32 / v->packing);
    add_offset(&out, v->row_offset);
    ts_text_add_char(&out, ',');
    add_offset(&out, v->column_offset);
    ts_text_add(&out, "},(%" PRId64 ",%" PRId64 ")", v->rows, v->columns);
    if (v->implicit != 0) ts_text_add(&out, ",%d", v->implicit);
    ts_text_add(&out, "\">");
    return out.bytes;
}

TEST(test_places_in_vregs) {
    uint64_t seed = 19;
    for (int round = 0, count = rounds(3000, 300); round < count; round++) {
        ts_arena *arena = ts_arena_new();
        value v = random_value(&seed);
        const char *text = text_of(arena, &v);
        const ts_shape *shape = parse_shape(arena, text);
        for (int i = 0; i < 8; i++) {
            int64_t index[3] = {0};
            for (int k = 0; k < shape->layout->rank; k++)
                index[k] = i == 0 ? shape->layout->dims[k] - 1
                                  : (int64_t)random_below(&seed, (uint32_t)shape->layout->dims[k]);
            check_element(&v, shape->layout, index, text);
        }
        ts_arena_free(arena);
    }
}

/* ---- Tiled memrefs ---- */

/* Offset of an element: tiles one by one, with divisions and remainders alone. */
static int64_t offset_of(const int64_t *dims, const int64_t *strides, int64_t packing, const int64_t *index) {
    const int64_t rows = 8, columns = 128;
    (void)dims;
    int64_t tile = index[0] * strides[0] + index[1] / rows * strides[1] + index[2] / columns * strides[2];
    int64_t r = index[1] % rows, c = index[2] % columns;
    return tile * rows * columns + (r / packing * columns + c) * packing + r % packing;
}

TEST(test_places_in_memrefs) {
    uint64_t seed = 20;
    static const char *const types[] = {"f32", "bf16", "i8"};
    for (int round = 0, count = rounds(1000, 100); round < count; round++) {
        ts_arena *arena = ts_arena_new();
        ts_text text;
        int log = (int)random_below(&seed, 3);
        int64_t dims[3], strides[3];
        for (int i = 0; i < 3; i++) dims[i] = 1 + (int64_t)random_below(&seed, i == 2 ? 600 : 30);
        strides[2] = 1 + (int64_t)random_below(&seed, 2);
        strides[1] = strides[2] * ((dims[2] + 127) / 128 + (int64_t)random_below(&seed, 2));
        strides[0] = strides[1] * ((dims[1] + 7) / 8 + (int64_t)random_below(&seed, 2));
        text = ts_text_begin(arena);
        ts_text_add(&text, "memref<%" PRId64 "x%" PRId64 "x%" PRId64 "x%s, #tpu.tiled<(8,128)", dims[0],
                    dims[1], dims[2], types[log]);
        if (log > 0) ts_text_add(&text, "(%d,1)", 1 << log);
        ts_text_add(&text, ",[%" PRId64 ",%" PRId64 ",%" PRId64 "]>>", strides[0], strides[1], strides[2]);
        const ts_layout *layout = parse_shape(arena, text.bytes)->layout;
        for (int i = 0; i < 20; i++) {
            int64_t index[3], found;
            for (int k = 0; k < 3; k++) index[k] = (int64_t)random_below(&seed, (uint32_t)dims[k]);
            ts_layout_forward(layout, index, &found);
            if (found != offset_of(dims, strides, 1 << log, index)) fail_msg("%s", text.bytes);
        }
        ts_arena_free(arena);
    }
}

/* With strides that leave no gap it is XLA's layout. */
TEST(test_memrefs_are_xlas) {
    static const struct {
        const char *memref, *xla;
    } rows[] = {
        {"memref<1x512x128xbf16, #tpu.tiled<(8,128)(2,1),[64,1,1]>>", "bf16[1,512,128]{2,1,0:T(8,128)(2,1)}"},
        {"memref<500xf32, #tpu.tiled<(1024),[1]>>", "f32[500]{0:T(1024)}"},
        {"memref<3000xbf16, #tpu.tiled<(1024)(128)(2,1),[1]>>", "bf16[3000]{0:T(1024)(128)(2,1)}"},
        {"memref<2x30x200xi8, #tpu.tiled<(8,128)(4,1),[8,2,1]>>", "s8[2,30,200]{2,1,0:T(8,128)(4,1)}"},
        {"memref<30x200xf32>", "f32[30,200]{1,0}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_layout_comparison same;
        ts_error err = {0};
        assert_true(ts_layout_compare(&err, arena, parse_shape(arena, rows[i].memref)->layout,
                                      parse_shape(arena, rows[i].xla)->layout, 1 << 20, &same));
        assert_true(same.equal);
        ts_arena_free(arena);
    }
}
