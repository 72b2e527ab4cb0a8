/* The arithmetic from a logical index to its offset, step by step, as tiled_layout.md writes it. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "layout/notation/xla.h"
#include "report/layout.h"

/* An index and the dims it is in, as the tiles rewrite them. */
typedef struct {
    int count;
    int64_t index[TS_LAYOUT_MAX_DIMS], dims[TS_LAYOUT_MAX_DIMS];
} position;

/* "(1,1) in (2,3)" */
static void end_with(ts_text *out, const position *p) {
    ts_text_add_tuple(out, p->index, p->count);
    ts_text_add(out, " in ");
    ts_text_add_tuple(out, p->dims, p->count);
    ts_text_add_char(out, '\n');
}

static void add_position(ts_text *out, const char *label, const position *p) {
    ts_text_add(out, "  %-18s", label);
    end_with(out, p);
}

/* Dim `at` and the next become one. */
static void combine(position *p, int at) {
    p->index[at] = p->index[at] * p->dims[at + 1] + p->index[at + 1];
    p->dims[at] *= p->dims[at + 1];
    p->count--;
    size_t rest = (size_t)(p->count - at - 1) * sizeof(int64_t);
    memmove(&p->index[at + 1], &p->index[at + 2], rest);
    memmove(&p->dims[at + 1], &p->dims[at + 2], rest);
}

/* A dim of 1 in front. */
static void lead(position *p) {
    memmove(&p->index[1], &p->index[0], (size_t)p->count * sizeof(int64_t));
    memmove(&p->dims[1], &p->dims[0], (size_t)p->count * sizeof(int64_t));
    p->index[0] = 0;
    p->dims[0] = 1;
    p->count++;
}

/* "(2/2,3/2) = (1,1) in (2,3)": the part of the index that `op` ('/' or '%') takes by the tile. */
static void add_part(ts_text *out, const char *label, char op, const int64_t *whole, const int64_t *sizes,
                     const position *part) {
    ts_text_add(out, "    %-16s(", label);
    for (int i = 0; i < part->count; i++)
        ts_text_add(out, "%s%" PRId64 "%c%" PRId64, i > 0 ? "," : "", whole[i], op, sizes[i]);
    ts_text_add(out, ") = ");
    end_with(out, part);
}

static void add_heading(ts_text *out, const ts_xla_tile *tile) {
    ts_text_add(out, "  tile ");
    for (int i = 0; i < tile->rank; i++) {
        ts_text_add_char(out, i > 0 ? ',' : '(');
        if (tile->dims[i] == TS_XLA_COMBINE)
            ts_text_add_char(out, '*');
        else
            ts_text_add(out, "%" PRId64, tile->dims[i]);
    }
    ts_text_add(out, "):\n");
}

/* The `count` dims from `first` on become those of tiles, and behind them those within a tile. */
static void divide(ts_text *out, position *p, int first, int count, const int64_t *sizes) {
    position counts = {.count = count}, within = {.count = count};
    for (int i = 0; i < count; i++) {
        counts.index[i] = p->index[first + i] / sizes[i];
        counts.dims[i] = ts_ceil_div(p->dims[first + i], sizes[i]);
        within.index[i] = p->index[first + i] % sizes[i];
        within.dims[i] = sizes[i];
    }
    add_part(out, "tile index", '/', &p->index[first], sizes, &counts);
    add_part(out, "within the tile", '%', &p->index[first], sizes, &within);
    size_t bytes = (size_t)count * sizeof(int64_t);
    p->count += count;
    memcpy(&p->index[first], counts.index, bytes);
    memcpy(&p->dims[first], counts.dims, bytes);
    memcpy(&p->index[first + count], within.index, bytes);
    memcpy(&p->dims[first + count], within.dims, bytes);
}

/* Applies the tile; what remains of it without '*' goes to `sizes`. Returns how many sizes that is. */
static int add_tile(ts_text *out, const ts_xla_tile *tile, position *p, int64_t *sizes) {
    int kept = 0, before = p->count;
    add_heading(out, tile);
    while (p->count < tile->rank) lead(p);
    int first = p->count - tile->rank;
    for (int i = 0; i < tile->rank; i++)
        if (tile->dims[i] == TS_XLA_COMBINE)
            combine(p, first + kept);
        else
            sizes[kept++] = tile->dims[i];
    if (kept < tile->rank || before < tile->rank) add_position(out, "  rewritten", p);
    divide(out, p, first, kept, sizes);
    return kept;
}

static void add_call(ts_text *out, const int64_t *index, const int64_t *dims, int count) {
    ts_text_add(out, "linear_index(");
    ts_text_add_tuple(out, index, count);
    ts_text_add(out, ", ");
    ts_text_add_tuple(out, dims, count);
    ts_text_add_char(out, ')');
}

/* "(1 * 3 + 1)", or with more dims "((1 * 3 + 1) * 2 + 0)". */
static void add_sum(ts_text *out, const int64_t *index, const int64_t *dims, int count) {
    for (int i = 1; i < count; i++) ts_text_add_char(out, '(');
    ts_text_add(out, "%" PRId64, count > 0 ? index[0] : 0);
    for (int i = 1; i < count; i++) ts_text_add(out, " * %" PRId64 " + %" PRId64 ")", dims[i], index[i]);
}

static void add_sizes_product(ts_text *out, const int64_t *sizes, int count) {
    for (int i = 0; i < count; i++) ts_text_add(out, " * %" PRId64, sizes[i]);
}

/* The row-major index, first by what the last tile counts and what is within it (the last `kept` dims). */
static void add_linear(ts_text *out, const position *p, int kept) {
    int outer = p->count - kept;
    ts_text_add(out, "\n  ");
    add_call(out, p->index, p->dims, p->count);
    if (kept > 0) {
        ts_text_add(out, "\n  = ");
        add_call(out, p->index, p->dims, outer);
        add_sizes_product(out, &p->dims[outer], kept);
        ts_text_add(out, " + ");
        add_call(out, &p->index[outer], &p->dims[outer], kept);
    }
    if (p->count > 1) {
        ts_text_add(out, "\n  = ");
        add_sum(out, p->index, p->dims, outer);
    }
    if (kept > 0) {
        add_sizes_product(out, &p->dims[outer], kept);
        ts_text_add(out, " + ");
        add_sum(out, &p->index[outer], &p->dims[outer], kept);
    }
}

static int64_t linear(const position *p) {
    int64_t sum = 0;
    for (int i = 0; i < p->count; i++) sum = sum * p->dims[i] + p->index[i];
    return sum;
}

static void add_bytes_of(const ts_shape *shape, int64_t offset, ts_text *out) {
    if (shape->element_bits % 8 == 0) {
        int64_t bytes = shape->element_bits / 8;
        ts_text_add(out, "\n  bytes %" PRId64 " to %" PRId64 "\n", offset * bytes,
                    offset * bytes + bytes - 1);
    } else {
        int64_t bit = offset * shape->element_bits;
        ts_text_add(out, "\n  %s from bit %" PRId64 " of byte %" PRId64 "\n",
                    ts_text_counted(out->arena, shape->element_bits, "bit"), bit % 8, bit / 8);
    }
}

/* Is an element at one address of one memory, not before its beginning? */
static bool is_memory(const ts_layout *layout) {
    int64_t low, high;
    if (layout->axis_count != 1 || layout->replica_count > 0 || strcmp(layout->axes[0].name, "m") != 0)
        return false;
    ts_layout_axis_range(layout, 0, &low, &high);
    return low >= 0;
}

void ts_report_offset(const ts_shape *shape, const int64_t *index, ts_text *out) {
    const ts_xla_layout *f = shape->xla;
    int64_t sizes[TS_LAYOUT_MAX_DIMS], offset;
    position p = {.count = shape->layout->rank};
    int kept = 0;
    if (f == NULL) {
        ts_report_point(shape->layout, index, out);
        if (!is_memory(shape->layout)) return;
        ts_layout_forward(shape->layout, index, &offset);
        add_bytes_of(shape, offset, out);
        return;
    }
    for (int i = 0; i < p.count; i++) {
        int dim = f->minor_to_major[p.count - 1 - i];
        p.index[i] = index[dim];
        p.dims[i] = f->dims[dim];
    }
    add_position(out, "physical index", &p);
    for (int i = 0; i < f->tile_count; i++) kept = add_tile(out, &f->tiles[i], &p, sizes);
    add_linear(out, &p, kept);
    ts_layout_forward(shape->layout, index, &offset);
    assert(linear(&p) == offset); /* the explanation is of the layout that everything else uses */
    ts_text_add(out, "\n  = %" PRId64 "\n", offset);
    add_bytes_of(shape, offset, out);
}
