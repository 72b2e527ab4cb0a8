/* The TPU compiler's choice of tiles, as Mosaic mirrors it, and of the order of dims. */
#include "layout/notation/tpu_rule.h"

#include "base/number.h"
#include "isa/vreg.h"

/* Of a packed element. The types that XLA stores in less than a byte on TPU are 4, 2 and 1 bits wide; pred is
 * a byte (tiled_layout.md). Wider types than a word are whole words. */
static int packed_bits(ts_dtype dtype) {
    const ts_dtype_info *info = ts_dtype_get(dtype);
    bool narrow = info->class != TS_CLASS_BOOL && info->value_bits <= 4;
    int bits = narrow ? info->value_bits : info->stored_bits;
    return bits < TS_WORD_BITS ? bits : TS_WORD_BITS;
}

static int64_t tall_rows(int bits, int rank, int64_t cap, int generation, unsigned flags) {
    bool tall16 = (flags & TS_TPU_LARGE_X16) || (generation >= 6 && !(flags & TS_TPU_ARGUMENT));
    if (rank < 2) return cap;
    if (bits == 2) return TS_SUBLANES * 16;
    if ((bits == 4 && (flags & TS_TPU_LARGE_X4)) || (bits == 8 && (flags & TS_TPU_LARGE_X8)) ||
        (bits == 16 && tall16))
        return TS_SUBLANES * TS_WORD_BITS / bits;
    return cap;
}

/* Rows of 128 in the first tile of an array with `rows` of them. */
static int64_t tile_rows(int bits, int rank, int64_t rows, int generation, unsigned flags) {
    int64_t packing = TS_WORD_BITS / bits, least = (generation < 4 ? 2 : 1) * packing;
    int64_t cap = ts_max(packing, TS_SUBLANES), large = tall_rows(bits, rank, cap, generation, flags);
    if (rows % large != 0) large = cap;
    if (large <= rows) return large;
    while (least < rows && least < cap) least *= 2;
    return least;
}

static ts_xla_tile new_tile(ts_arena *arena, int rank, int64_t major, int64_t minor) {
    int64_t *dims = TS_NEW_ARRAY(arena, int64_t, 2);
    dims[0] = rank == 2 ? major : minor;
    dims[1] = minor;
    return (ts_xla_tile){rank, dims};
}

const ts_shape *ts_tpu_tiled(ts_error *err, ts_arena *arena, ts_dtype dtype, const ts_xla_layout *fields,
                             int generation, unsigned flags) {
    ts_xla_layout f = *fields;
    ts_xla_tile *tiles = TS_NEW_ARRAY(arena, ts_xla_tile, 3);
    int bits = packed_bits(dtype), rank = f.rank;
    if (ts_dtype_get(dtype)->class == TS_CLASS_NO_DATA) return ts_xla_shape(err, arena, dtype, fields);
    int second = rank < 2 ? 0 : f.minor_to_major != NULL ? f.minor_to_major[1] : rank - 2;
    int64_t size = rank > 0 ? f.dims[second] : 1;
    int64_t rows = tile_rows(bits, rank, rank < 2 ? ts_ceil_div(size, TS_LANES) : size, generation, flags);
    f.layout_written = true;
    f.tiles = tiles;
    f.tile_count = 0;
    f.element_bits = bits < 8 ? bits : 0;
    tiles[f.tile_count++] =
        rank < 2 ? new_tile(arena, 1, 0, rows * TS_LANES) : new_tile(arena, 2, rows, TS_LANES);
    if (bits < TS_WORD_BITS && rank == 1) tiles[f.tile_count++] = new_tile(arena, 1, 0, TS_LANES);
    if (bits < TS_WORD_BITS && rank > 0) tiles[f.tile_count++] = new_tile(arena, 2, TS_WORD_BITS / bits, 1);
    return ts_xla_shape(err, arena, dtype, &f);
}

/* ---- The order of dims ---- */

/* 0 where an order pads nothing, else the elements with padding. Rows are counted by 8 where tiles have more,
 * those of 2-bit types: so the compiler answers. */
static int64_t padded_elements(const ts_xla_layout *f, int minor, int second, int64_t rows) {
    if (f->dims[minor] % TS_LANES == 0 && f->dims[second] % rows == 0) return 0;
    int64_t step = ts_min(rows, TS_SUBLANES), elements = ts_ceil_div(f->dims[second], step) * step;
    for (int i = 0; i < f->rank; i++) {
        int64_t extent = i == second ? 1 : f->dims[i];
        if (i == minor) extent = ts_ceil_div(extent, TS_LANES) * TS_LANES;
        if (!ts_mul(elements, extent, &elements)) return INT64_MAX;
    }
    return elements;
}

static void find_minor_dims(ts_dtype dtype, const ts_xla_layout *f, int generation, int found[2]) {
    int64_t least = -1;
    for (int minor = f->rank - 1; minor >= 0; minor--) {
        for (int second = f->rank - 1; second >= 0; second--) {
            if (second == minor) continue;
            int64_t rows = tile_rows(packed_bits(dtype), f->rank, f->dims[second], generation, TS_TPU_ENTRY),
                    elements = padded_elements(f, minor, second, rows);
            if (least >= 0 && elements >= least) continue;
            least = elements;
            found[0] = minor, found[1] = second;
        }
    }
}

/* An array of no elements is row-major without tiles. */
static const ts_shape *untiled(ts_error *err, ts_arena *arena, ts_dtype dtype, ts_xla_layout f) {
    int bits = packed_bits(dtype);
    f.layout_written = true;
    f.element_bits = bits < 8 ? bits : 0;
    return ts_xla_shape(err, arena, dtype, &f);
}

const ts_shape *ts_tpu_default(ts_error *err, ts_arena *arena, ts_dtype dtype, const ts_xla_layout *fields,
                               int generation) {
    ts_xla_layout f = {.rank = fields->rank,
                       .dims = fields->dims,
                       .dynamic = fields->dynamic,
                       .memory_space = fields->memory_space};
    int *order = TS_NEW_ARRAY(arena, int, f.rank + 1), found[2] = {0, 0}, count = f.rank < 2 ? f.rank : 2;
    for (int i = 0; i < f.rank; i++)
        if (f.dims[i] <= 0) return untiled(err, arena, dtype, f);
    if (f.rank > 1) find_minor_dims(dtype, &f, generation, found);
    for (int i = 0; i < count; i++) order[i] = found[i];
    for (int dim = f.rank - 1; dim >= 0 && f.rank > 1; dim--)
        if (dim != found[0] && dim != found[1]) order[count++] = dim;
    f.minor_to_major = order;
    return ts_tpu_tiled(err, arena, dtype, &f, generation, TS_TPU_ENTRY);
}
