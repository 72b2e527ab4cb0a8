/* Facts of the shapes of an audit: sizes and what pads them, what two of them differ in, and better ones. */
#include <string.h>

#include "audit_private.h"
#include "base/number.h"
#include "layout/notation/tpu_rule.h"
#include "layout/notation/xla.h"

const ts_shape *audit_parse(ts_error *err, ts_arena *arena, const char *text, size_t length) {
    ts_source source = {"shape", text, length};
    ts_cursor cursor = {&source, 0, 0};
    const ts_shape *shape = ts_xla_parse(err, arena, &cursor);
    if (shape && !ts_cursor_at_end(&cursor)) {
        ts_cursor_unexpected(err, &cursor, "the end of the shape");
        return NULL;
    }
    return shape;
}

static bool is_row_major(const ts_xla_layout *f) {
    for (int i = 0; i < f->rank; i++)
        if (ts_xla_dim_at(f, i) != f->rank - 1 - i) return false;
    return true;
}

const ts_shape *audit_shape_tiled(ts_arena *arena, const ts_machine *machine, const ts_shape *shape,
                                  bool orders_chosen) {
    const ts_xla_layout *f = shape->xla;
    int generation = machine->chip.generation;
    if (!f || f->tile_count > 0 || !shape->layout) return NULL;
    bool chosen = f->layout_written && (orders_chosen || !is_row_major(f));
    return chosen ? ts_tpu_tiled(NULL, arena, shape->dtype, f, generation, TS_TPU_ENTRY)
                  : ts_tpu_default(NULL, arena, shape->dtype, f, generation);
}

/* A tile with '*' merges a dim with the next minor one: neither alone is padded. */
static bool is_merged(const ts_xla_tile *tile, int location) {
    const int64_t *step = &tile->dims[tile->rank - 1 - location];
    return *step == TS_XLA_COMBINE || (location + 1 < tile->rank && step[-1] == TS_XLA_COMBINE);
}

/* Which dim the first tile pads most, in ratio. */
static void find_worst(const ts_xla_layout *f, ts_audit_shape *out) {
    out->worst_dim = -1;
    if (f->tile_count == 0) return;
    const ts_xla_tile *tile = &f->tiles[0];
    double worst = 1;
    for (int location = 0; location < tile->rank && location < f->rank; location++) {
        int64_t step = tile->dims[tile->rank - 1 - location], extent = f->dims[ts_xla_dim_at(f, location)],
                padded;
        if (is_merged(tile, location) || extent <= 0 || !ts_mul(ts_ceil_div(extent, step), step, &padded))
            continue;
        double ratio = (double)padded / (double)extent;
        if (ratio <= worst) continue;
        worst = ratio;
        out->worst_dim = ts_xla_dim_at(f, location);
        out->worst_rank = location;
        out->worst_extent = extent;
        out->worst_padded = padded;
    }
}

bool audit_shape_size(ts_arena *scratch, const ts_shape *shape, ts_audit_shape *out) {
    (void)scratch;
    if (shape->bytes == TS_SIZE_UNKNOWN) return false;
    int own_bits = ts_dtype_get(shape->dtype)->stored_bits;
    out->memory_space = shape->memory_space;
    out->logical_bytes = shape->unpadded_bytes;
    out->padded_bytes = shape->bytes;
    out->worst_dim = -1;
    if (shape->element_bits > own_bits && own_bits > 0) {
        int64_t wide;
        if (ts_mul(shape->unpadded_bytes / own_bits, shape->element_bits, &wide))
            out->widened_bytes = wide - shape->unpadded_bytes;
    }
    if (shape->xla && shape->layout) find_worst(shape->xla, out);
    return true;
}

/* ---- Differences ---- */

/* How far a tile reaches, but for steps of 1 at its major end, which do nothing. */
static int reach_of(const ts_xla_layout *f) {
    int reach = f->tile_count > 0 ? f->tiles[0].rank : 0;
    while (reach > 0 && f->tiles[0].dims[f->tiles[0].rank - reach] == 1) reach--;
    return reach;
}

/* Dims of more than one element, minor to major, and where they are in that order as far as tiles reach on
 * both sides: there a dim of one element takes a location, too. */
typedef struct {
    int count, dims[TS_LAYOUT_MAX_DIMS], locations[TS_LAYOUT_MAX_DIMS];
} dim_order;

static dim_order order_of(const ts_xla_layout *f, int reach) {
    dim_order order = {0};
    for (int i = 0; i < f->rank; i++) {
        int dim = ts_xla_dim_at(f, i);
        if (f->dims[dim] == 1) continue;
        order.locations[order.count] = i < reach ? i : reach;
        order.dims[order.count++] = dim;
    }
    return order;
}

/* Of equal dims, those of `to` after a transpose. */
static bool same_order(const ts_xla_layout *from, const ts_xla_layout *to, const int8_t *permutation) {
    int reach = reach_of(from) < reach_of(to) ? reach_of(from) : reach_of(to);
    const dim_order a = order_of(from, reach), b = order_of(to, reach);
    bool same = a.count == b.count;
    for (int i = 0; same && i < a.count; i++)
        same = a.dims[i] == (permutation ? permutation[b.dims[i]] : b.dims[i]) &&
               a.locations[i] == b.locations[i];
    return same;
}

static bool same_tiles(const ts_xla_layout *a, const ts_xla_layout *b) {
    if (a->tile_count != b->tile_count) return false;
    for (int i = 0; i < a->tile_count; i++) {
        const ts_xla_tile *x = &a->tiles[i], *y = &b->tiles[i];
        if (!ts_integers_equal(x->dims, x->rank, y->dims, y->rank)) return false;
    }
    return true;
}

unsigned audit_changes(const ts_shape *src, const ts_shape *dst, const int8_t *permutation) {
    unsigned changes = 0;
    if (src->dtype != dst->dtype || src->element_bits != dst->element_bits) changes |= TS_AUDIT_TYPE;
    if (src->memory_space != dst->memory_space) changes |= TS_AUDIT_SPACE;
    if (!src->layout || !dst->layout) return changes;
    const ts_xla_layout *a = src->xla, *b = dst->xla;
    bool same_dims = a->rank == b->rank;
    for (int i = 0; same_dims && i < a->rank; i++)
        same_dims = a->dims[permutation ? permutation[i] : i] == b->dims[i];
    if (!same_dims)
        changes |= TS_AUDIT_SHAPE;
    else if (!same_order(a, b, permutation))
        changes |= TS_AUDIT_ORDER;
    if (!same_tiles(a, b)) changes |= TS_AUDIT_TILE;
    double before = (double)src->bytes * (double)dst->unpadded_bytes;
    if ((double)dst->bytes * (double)src->unpadded_bytes > 1.001 * before) changes |= TS_AUDIT_PADDING;
    return changes;
}

/* ---- Better ---- */

/* A shape whose better orders and folds are looked for; texts of those found go to `keep`. */
typedef struct {
    ts_arena *scratch, *keep;
    const ts_audit_request *request;
    const ts_shape *now;
    const char *reported; /* a size that a compiler printed */
} search;

typedef void consider_shape(const search *s, const ts_xla_layout *fields, int distance, audit_better *best);

/* The array in this order with the rule's tiles, or NULL. */
static const ts_shape *ordered(const search *s, const ts_xla_layout *fields) {
    ts_xla_layout f = *fields;
    f.tile_count = 0;
    f.layout_written = true;
    return ts_tpu_tiled(NULL, s->scratch, s->now->dtype, &f, s->request->machine->chip.generation,
                        TS_TPU_ENTRY);
}

static void keep(const search *s, const ts_shape *shape, int distance, audit_better *best) {
    best->bytes = shape->bytes;
    best->distance = distance;
    best->text = ts_shape_text(s->keep, shape);
}

/* Is it smaller, or as small and nearer? */
static void consider_smaller(const search *s, const ts_xla_layout *fields, int distance, audit_better *best) {
    const ts_shape *shape = ordered(s, fields);
    bool nearer = shape && best->text && shape->bytes == best->bytes && distance < best->distance;
    if (shape && (shape->bytes < best->bytes || nearer)) keep(s, shape, distance, best);
}

/* Has it the size that is reported? The nearest is taken. */
static void consider_reported(const search *s, const ts_xla_layout *fields, int distance,
                              audit_better *best) {
    const ts_shape *shape = ordered(s, fields);
    bool nearer = !best->text || distance < best->distance;
    if (shape && nearer && audit_says(s->reported, shape->bytes)) keep(s, shape, distance, best);
}

/* The tiles cover the last two dims of memory, so that which two come last is all that matters. */
static void try_orders(const search *s, consider_shape *consider, audit_better *best) {
    const ts_shape *now = s->now;
    int rank = now->xla->rank, order[TS_LAYOUT_MAX_DIMS];
    for (int minor = 0; minor < rank; minor++) { /* positions in the order now */
        for (int second = 0; second < rank; second++) {
            if (second == minor && rank > 1) continue;
            int count = 0;
            order[count++] = ts_xla_dim_at(now->xla, minor);
            if (rank > 1) order[count++] = ts_xla_dim_at(now->xla, second);
            for (int i = 0; i < rank; i++)
                if (i != minor && i != second) order[count++] = ts_xla_dim_at(now->xla, i);
            ts_xla_layout f = *now->xla;
            f.minor_to_major = order;
            consider(s, &f, minor + second, best);
        }
    }
}

/* Two neighbours in memory as one dim, written row-major. */
static void try_folds(const search *s, audit_better *best) {
    const ts_xla_layout *f = s->now->xla;
    int64_t dims[TS_LAYOUT_MAX_DIMS];
    for (int location = 0; location < 2 && location + 1 < f->rank; location++) {
        int count = 0;
        for (int at = f->rank - 1; at >= 0; at--) {
            int64_t extent = f->dims[ts_xla_dim_at(f, at)];
            if (at == location && !ts_mul(dims[count - 1], extent, &dims[count - 1])) return;
            if (at != location) dims[count++] = extent;
        }
        ts_xla_layout folded = {.rank = count, .dims = dims, .memory_space = f->memory_space};
        consider_smaller(s, &folded, location, best);
    }
}

void audit_find_better(ts_arena *arena, const ts_audit_request *request, const char *text,
                       audit_better *order, audit_better *fold) {
    ts_arena *scratch = ts_arena_new();
    const ts_shape *now = audit_parse(NULL, scratch, text, strlen(text));
    if (now && now->layout && now->xla->rank > 0) {
        *order = *fold = (audit_better){.bytes = now->bytes};
        fold->folds = true;
        const search s = {scratch, arena, request, now, NULL};
        try_orders(&s, consider_smaller, order);
        try_folds(&s, fold);
    }
    ts_arena_free(scratch);
}

const char *audit_find_reported(ts_arena *arena, const ts_audit_request *request, const char *text,
                                const char *reported) {
    ts_arena *scratch = ts_arena_new();
    const ts_shape *now = audit_parse(NULL, scratch, text, strlen(text));
    audit_better best = {0};
    if (now && now->layout && now->xla->rank > 0 && !now->xla->layout_written) {
        const search s = {scratch, arena, request, now, reported};
        try_orders(&s, consider_reported, &best);
    }
    ts_arena_free(scratch);
    return best.text;
}
