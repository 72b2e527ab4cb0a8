/* From the fields of XLA's notation to the layout form and its sizes.
 * Map: XLA tiled_layout.md, layout_util.cc LinearIndexForNestedTiling. Sizes: shape_util.cc ArraySize. */
#include "xla_private.h"

#include <limits.h>

#include "base/number.h"

/* A '*' merges its dim with the next; then each tiled dim becomes (count, within), and all the withins move
 * last. */
void ts_xla_apply_tile(ts_layout_builder *b, const ts_xla_tile *tile) {
    while (b->count < tile->rank && !b->failed) ts_layout_insert(b, 0);
    if (b->failed) return;
    int first = b->count - tile->rank, kept = 0, order[TS_LAYOUT_MAX_DIMS];
    for (int i = 0; i < tile->rank; i++)
        if (tile->dims[i] == TS_XLA_COMBINE)
            ts_layout_merge(b, first + kept);
        else
            kept++;
    for (int i = 0, k = 0; i < tile->rank; i++)
        if (tile->dims[i] != TS_XLA_COMBINE) ts_layout_tile(b, first + 2 * k++, tile->dims[i]);
    if (b->failed) return;
    for (int i = 0; i < first; i++) order[i] = i;
    for (int k = 0; k < kept; k++) {
        order[first + k] = first + 2 * k;
        order[first + kept + k] = first + 2 * k + 1;
    }
    ts_layout_reorder(b, order);
}

/* The number of elements that the current dims hold, rounded up to the tail alignment. */
static bool count_elements(const ts_layout_builder *b, int64_t alignment, int64_t *elements) {
    int64_t total = 1;
    for (int i = 0; i < b->count; i++)
        if (!ts_mul(total, b->extents[i], &total)) return false;
    return ts_mul(ts_ceil_div(total, alignment), alignment, elements);
}

static bool count_bytes(int64_t elements, int64_t bits, int64_t *bytes) {
    if (bits % 8 == 0) return ts_mul(elements, bits / 8, bytes);
    int64_t total;
    if (!ts_mul(elements, bits, &total)) return false;
    *bytes = ts_ceil_div(total, 8);
    return true;
}

/* Builds the stages of `dims` and sizes them: after the first tile, and after all. */
typedef struct {
    ts_layout_builder builder;
    int64_t first_tile, all;
} expansion;

static bool expand(ts_error *err, ts_arena *arena, const ts_xla_layout *f, const int64_t *dims,
                   expansion *out) {
    ts_layout_builder *b = &out->builder;
    int physical[TS_LAYOUT_MAX_DIMS];
    ts_layout_begin(b, err, arena, f->rank, dims);
    if (b->failed) return false;
    for (int i = 0; i < f->rank; i++) physical[i] = f->minor_to_major[f->rank - 1 - i];
    ts_layout_reorder(b, physical);
    bool fits = f->tile_count > 0 || count_elements(b, f->tail_alignment, &out->first_tile);
    for (int i = 0; i < f->tile_count && fits && !b->failed; i++) {
        ts_xla_apply_tile(b, &f->tiles[i]);
        if (i == 0) fits = count_elements(b, f->tail_alignment, &out->first_tile);
    }
    if (b->failed) return false;
    return (fits && count_elements(b, f->tail_alignment, &out->all)) ||
           ts_error_set(err, TS_ERROR_INPUT, "the padded size of the layout does not fit in 64 bits");
}

/* The dims of one memory where SC() spreads the array over several: each is its largest piece
 * (LayoutUtil::MaxSplitSize). ArraySize looks at splits only where there are tiles. */
static const int64_t *dims_of_one_memory(ts_arena *arena, const ts_xla_layout *f) {
    if (f->tile_count == 0 || f->split_count == 0) return f->dims;
    int64_t *dims = TS_COPY_ARRAY(arena, f->dims, f->rank);
    for (int i = 0; i < f->split_count; i++) {
        const ts_xla_split *split = &f->splits[i];
        int dim = f->minor_to_major[f->rank - 1 - split->dim];
        int64_t last = 0, largest = 0;
        for (int j = 0; j <= split->count; j++) {
            int64_t next = j < split->count ? split->indices[j] : f->dims[dim];
            if (next - last > largest) largest = next - last;
            last = next;
        }
        dims[dim] = largest;
    }
    return dims;
}

static bool size_shape(ts_error *err, ts_arena *arena, const ts_xla_layout *f, const expansion *whole,
                       ts_shape *shape) {
    expansion one = *whole;
    const int64_t *dims = dims_of_one_memory(arena, f);
    if (dims != f->dims && !expand(err, arena, f, dims, &one)) return false;
    int64_t logical = ts_product(f->rank, f->dims); /* fits: the expansion is no smaller */
    int own_bits = ts_dtype_get(shape->dtype)->stored_bits;
    int unpadded_bits = shape->element_bits < own_bits ? shape->element_bits : own_bits;
    shape->padded_elements = one.all;
    bool fits =
        count_bytes(f->tile_count > 0 ? one.first_tile : logical, shape->element_bits, &shape->bytes) &&
        count_bytes(whole->all, shape->element_bits, &shape->storage_bytes) &&
        count_bytes(logical, unpadded_bits, &shape->unpadded_bytes);
    return fits || ts_error_set(err, TS_ERROR_INPUT,
                                "the padded size of the layout in bytes does not fit in 64 bits");
}

static bool is_unbounded(const ts_xla_layout *f) {
    for (int i = 0; i < f->rank; i++)
        if (f->dims[i] == TS_XLA_UNBOUNDED) return true;
    return false;
}

/* A layout that was not written is row-major. */
static void fill_minor_to_major(ts_arena *arena, ts_xla_layout *f) {
    int *order = TS_NEW_ARRAY(arena, int, f->rank + 1);
    for (int i = 0; i < f->rank; i++) order[i] = f->rank - 1 - i;
    f->minor_to_major = order;
}

const ts_shape *ts_xla_new_shape(ts_error *err, ts_arena *arena, ts_dtype dtype, ts_xla_layout *f) {
    ts_shape *shape = TS_NEW(arena, ts_shape);
    int64_t bits = f->element_bits != 0 ? f->element_bits : ts_dtype_get(dtype)->stored_bits;
    *shape =
        (ts_shape){.dtype = dtype, .element_bits = (int)bits, .memory_space = (int)f->memory_space, .xla = f};
    if (ts_dtype_get(dtype)->class == TS_CLASS_NO_DATA) return shape;
    if (bits > INT_MAX || f->memory_space > INT_MAX) {
        ts_error_set(err, TS_ERROR_INPUT, "E() and S() go up to %d", INT_MAX);
        return NULL;
    }
    if (!f->layout_written) fill_minor_to_major(arena, f);
    if (is_unbounded(f)) {
        shape->padded_elements = shape->bytes = shape->storage_bytes = shape->unpadded_bytes =
            TS_SIZE_UNKNOWN;
        return shape;
    }
    expansion whole;
    if (!expand(err, arena, f, f->dims, &whole)) return NULL;
    shape->layout = ts_layout_finish_row_major(&whole.builder);
    return shape->layout != NULL && size_shape(err, arena, f, &whole, shape) ? shape : NULL;
}

/* Adds what is known; anything unknown makes the sum unknown. */
static bool add_size(int64_t *total, int64_t size) {
    if (*total == TS_SIZE_UNKNOWN || size == TS_SIZE_UNKNOWN)
        *total = TS_SIZE_UNKNOWN;
    else
        return ts_add(*total, size, total);
    return true;
}

const ts_shape *ts_xla_new_tuple(ts_error *err, ts_arena *arena, int count, const ts_shape *const *members) {
    ts_xla_layout *f = TS_NEW(arena, ts_xla_layout);
    ts_shape *shape = TS_NEW(arena, ts_shape);
    *f = (ts_xla_layout){.is_tuple = true, .tuple_count = count, .members = members, .tail_alignment = 1};
    *shape = (ts_shape){.dtype = TS_DTYPE_OPAQUE, .xla = f};
    for (int i = 0; i < count; i++) {
        if (add_size(&shape->padded_elements, members[i]->padded_elements) &&
            add_size(&shape->bytes, members[i]->bytes) &&
            add_size(&shape->storage_bytes, members[i]->storage_bytes) &&
            add_size(&shape->unpadded_bytes, members[i]->unpadded_bytes))
            continue;
        ts_error_set(err, TS_ERROR_INPUT, "the bytes of the tuple do not fit in 64 bits");
        return NULL;
    }
    return shape;
}
