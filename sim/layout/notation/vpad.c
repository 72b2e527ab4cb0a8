/* Mosaic's layouts of values in vregs. */
#include "layout/notation/vpad.h"

#include <assert.h>
#include <inttypes.h>

#include "base/number.h"
#include "notation.h"

static bool read_bits(ts_error *err, ts_cursor *cursor, int *bits) {
    int64_t value;
    if (!ts_cursor_integer(err, cursor, "the bits of an element", &value)) return false;
    if (value < 1 || value > TS_WORD_BITS || (value & (value - 1)) != 0)
        return ts_cursor_refuse(err, cursor, "an element has 1, 2, 4, 8, 16 or 32 bits");
    *bits = (int)value;
    return true;
}

static bool read_offset(ts_error *err, ts_cursor *cursor, int64_t *offset) {
    *offset = TS_VPAD_REPLICATED;
    if (ts_cursor_take(cursor, "*")) return true;
    if (!ts_cursor_integer(err, cursor, "an offset or '*'", offset)) return false;
    return *offset >= 0 || ts_cursor_refuse(err, cursor, "an offset is at least 0");
}

/* What layout.cc's isValid asks, and whole rows of lanes. */
static bool check_tile(ts_error *err, const ts_cursor *cursor, const ts_vpad *v) {
    int64_t packing = ts_vpad_packing(v), words, whole = packing * TS_SUBLANES * TS_LANES;
    if (v->tile[0] < 1 || v->tile[1] < 1 || !ts_mul(v->tile[0], v->tile[1], &words) || whole % words != 0)
        return ts_cursor_refuse(err, cursor, "the tile does not divide a vreg");
    if (words % (packing * TS_LANES) != 0 || v->tile[1] % TS_LANES != 0)
        return ts_cursor_refuse(err, cursor, "the tile is no whole number of sublanes of 128 lanes");
    if (v->tile[1] != TS_LANES && packing > 1 && v->tile[0] != 1)
        return ts_cursor_refuse(err, cursor,
                                "a tile of packed elements has 128 columns, or is one row of whole words");
    if (v->offsets[0] >= v->tile[0])
        return ts_cursor_refuse(err, cursor, "the first offset is not within the rows of the tile");
    if (v->offsets[1] >= v->tile[1] * ts_vpad_tiles(v))
        return ts_cursor_refuse(err, cursor, "the second offset is not within the columns of a vreg's tiles");
    return true;
}

static bool read_implicit(ts_error *err, ts_cursor *cursor, ts_vpad *v) {
    int64_t dim;
    v->implicit = TS_VPAD_ALL;
    while (ts_cursor_take(cursor, ",")) {
        if (!ts_cursor_integer(err, cursor, "an implicit dim", &dim)) return false;
        if (dim == -2 && v->implicit == TS_VPAD_ALL)
            v->implicit = TS_VPAD_SECOND;
        else if (dim == -1 && (v->implicit == TS_VPAD_ALL || v->implicit == TS_VPAD_SECOND))
            v->implicit = v->implicit == TS_VPAD_ALL ? TS_VPAD_MINOR : TS_VPAD_BOTH;
        else
            return ts_cursor_refuse(err, cursor, "implicit dims are -1, -2 or -2,-1");
    }
    return true;
}

static bool read_layout(ts_error *err, ts_cursor *cursor, ts_vpad *v) {
    return read_bits(err, cursor, &v->bits) && ts_cursor_expect(err, cursor, ",") &&
           ts_cursor_expect(err, cursor, "{") && read_offset(err, cursor, &v->offsets[0]) &&
           ts_cursor_expect(err, cursor, ",") && read_offset(err, cursor, &v->offsets[1]) &&
           ts_cursor_expect(err, cursor, "}") && ts_cursor_expect(err, cursor, ",") &&
           ts_cursor_expect(err, cursor, "(") &&
           ts_cursor_integer(err, cursor, "the rows of a tile", &v->tile[0]) &&
           ts_cursor_expect(err, cursor, ",") &&
           ts_cursor_integer(err, cursor, "the columns of a tile", &v->tile[1]) &&
           check_tile(err, cursor, v) && ts_cursor_expect(err, cursor, ")") && read_implicit(err, cursor, v);
}

bool ts_vpad_read(ts_error *err, ts_cursor *cursor, ts_vpad *out) {
    *out = (ts_vpad){0};
    ts_cursor_take(cursor, "#tpu.");
    if (!ts_cursor_expect(err, cursor, "vpad<") || !ts_cursor_expect(err, cursor, "\"")) return false;
    if (ts_cursor_take(cursor, "none"))
        return ts_cursor_refuse(err, cursor, "\"none\" is no layout: it is of scalars and memrefs");
    return read_layout(err, cursor, out) && ts_cursor_expect(err, cursor, "\"") &&
           ts_cursor_expect(err, cursor, ">");
}

static void print_offset(ts_text *out, int64_t offset) {
    if (offset == TS_VPAD_REPLICATED)
        ts_text_add_char(out, '*');
    else
        ts_text_add(out, "%" PRId64, offset);
}

static void print_vpad(ts_text *out, const ts_vpad *v) {
    static const char *const implicit[] = {"", ",-1", ",-2", ",-2,-1"};
    ts_text_add(out, "vpad<\"%d,{", v->bits);
    print_offset(out, v->offsets[0]);
    ts_text_add_char(out, ',');
    print_offset(out, v->offsets[1]);
    ts_text_add(out, "},(%" PRId64 ",%" PRId64 ")%s\">", v->tile[0], v->tile[1], implicit[v->implicit]);
}

bool ts_vpad_is_replicated(const ts_vpad *v, int dim) {
    static const int index[][2] = {[TS_VPAD_ALL] = {1, 0},
                                   [TS_VPAD_MINOR] = {0, -1},
                                   [TS_VPAD_SECOND] = {1, -1},
                                   [TS_VPAD_BOTH] = {-1, -1}};
    int at = dim < 2 ? index[v->implicit][dim] : -1;
    return at >= 0 && v->offsets[at] == TS_VPAD_REPLICATED;
}

/* ---- The layout ---- */

enum { VREG, SUBLANE, LANE, SUB, AXES };
enum { MOST_PARTS = 4 }; /* of a slice along one dim */

/* How a dim of the slice is cut, outermost first: extents that divide it, and where each part goes. */
typedef struct {
    int count;
    ts_iter parts[MOST_PARTS];
} cut;

static void add_part(cut *c, int64_t extent, int axis, int64_t stride) {
    if (extent > 1) c->parts[c->count++] = (ts_iter){extent, stride, axis};
}

/* Rows of a tile: whole words, then parts of a word. */
static cut cut_rows(const ts_vpad *v) {
    cut c = {0};
    int64_t packing = v->tile[0] == 1 ? 1 : ts_vpad_packing(v);
    add_part(&c, v->tile[0] / packing, SUBLANE, v->tile[1] / TS_LANES);
    add_part(&c, packing, SUB, 1);
    return c;
}

/* Columns: the tiles of a vreg, then in a tile the sublanes, the parts of a word (of one row) and the
 * lanes. */
static cut cut_columns(const ts_vpad *v) {
    cut c = {0};
    int64_t packing = v->tile[0] == 1 ? ts_vpad_packing(v) : 1;
    add_part(&c, ts_vpad_tiles(v), SUBLANE, TS_SUBLANES / ts_vpad_tiles(v));
    add_part(&c, v->tile[1] / TS_LANES / packing, SUBLANE, 1);
    add_part(&c, packing, SUB, 1);
    add_part(&c, TS_LANES, LANE, 1);
    return c;
}

static int64_t extent_of(const cut *c) {
    int64_t extent = 1;
    for (int i = 0; i < c->count; i++) extent *= c->parts[i].extent;
    return extent;
}

typedef struct {
    ts_layout_builder b;
    ts_iter digits[TS_LAYOUT_MAX_DIMS + 2 * (MOST_PARTS + 1)], replicas[2 * MOST_PARTS];
    int count, replica_count; /* digits from dim 0 on that are known */
} draft;

/* The dim at `count` into its slices and the parts of one; a replicated one stays whole, and its parts
 * repeat. */
static bool cut_dim(draft *d, int64_t offset, const cut *c) {
    int64_t slice = extent_of(c), end, rest = slice;
    int at = d->count;
    if (d->b.failed) return false;
    if (offset == TS_VPAD_REPLICATED) {
        d->digits[d->count++] = (ts_iter){0, 0, VREG};
        for (int i = 0; i < c->count; i++) d->replicas[d->replica_count++] = c->parts[i];
        return true;
    }
    if (!ts_add(offset + slice - 1, d->b.extents[at], &end)) return false;
    if (offset > 0)
        ts_layout_bias(&d->b, at, offset, end / slice * slice);
    else
        ts_layout_pad(&d->b, at, end / slice * slice);
    d->digits[d->count++] = (ts_iter){0, 1, VREG};
    for (int i = 0; i < c->count; i++) {
        ts_layout_split(&d->b, at + i, rest);
        d->digits[d->count++] = c->parts[i];
        rest /= c->parts[i].extent;
    }
    return true;
}

/* Row-major over the dims that count vregs: no more of them than elements, whose number fits. */
static void number_vregs(draft *d) {
    int64_t stride = 1;
    for (int i = d->count - 1; i >= 0; i--) {
        if (d->digits[i].axis != VREG || d->digits[i].stride == 0) continue;
        d->digits[i].stride = stride;
        bool fits = d->b.extents[i] == 0 || ts_mul(stride, d->b.extents[i], &stride);
        assert(fits);
    }
}

static void insert_implicit(ts_layout_builder *b, const ts_vpad *v) {
    if (v->implicit == TS_VPAD_SECOND) ts_layout_insert(b, b->count - 1);
    if (v->implicit == TS_VPAD_MINOR || v->implicit == TS_VPAD_BOTH) ts_layout_insert(b, b->count);
    if (v->implicit == TS_VPAD_BOTH) ts_layout_insert(b, b->count);
}

const ts_layout *ts_vpad_layout(ts_error *err, ts_arena *arena, const ts_vpad *v, int rank,
                                const int64_t *dims) {
    static const ts_axis axes[AXES] = {{"vreg", 0}, {"sublane", 0}, {"lane", 0}, {"sub", 0}};
    const int implicit = v->implicit == TS_VPAD_BOTH ? 2 : v->implicit != TS_VPAD_ALL;
    const cut rows = cut_rows(v), columns = cut_columns(v);
    draft *d = TS_NEW(arena, draft);
    if (rank + implicit < 2) {
        ts_error_set(err, TS_ERROR_INPUT, "an array of %d dims needs implicit ones, %s", rank,
                     rank == 0 ? "-2,-1" : "-1 or -2");
        return NULL;
    }
    ts_layout_begin(&d->b, err, arena, rank, dims);
    if (!d->b.failed) insert_implicit(&d->b, v);
    if (d->b.failed) return NULL;
    for (; d->count < d->b.count - 2; d->count++) d->digits[d->count] = (ts_iter){0, 1, VREG};
    bool fits = cut_dim(d, v->offsets[0], &rows) && cut_dim(d, v->offsets[1], &columns);
    if (d->b.failed) return NULL;
    if (!fits) {
        ts_error_set(err, TS_ERROR_INPUT, "the vregs of the value do not fit in 64 bits");
        return NULL;
    }
    number_vregs(d);
    return ts_layout_finish(&d->b, d->digits, AXES, axes, d->replica_count, d->replicas);
}

/* A mask has the bits of what it masks. */
bool ts_notation_read_vpad(ts_error *err, ts_arena *arena, ts_cursor *cursor, ts_notation_shape *shape) {
    ts_vpad vpad;
    if (!ts_vpad_read(err, cursor, &vpad)) return false;
    print_vpad(&shape->text, &vpad);
    if (vpad.bits != shape->value_bits && shape->value_bits != 1)
        return ts_error_set(err, TS_ERROR_INPUT, "the layout is of elements of %d bits, these have %d",
                            vpad.bits, shape->value_bits);
    shape->element_bits = vpad.bits;
    shape->layout = ts_vpad_layout(err, arena, &vpad, shape->rank, shape->dims);
    return shape->layout != NULL;
}
