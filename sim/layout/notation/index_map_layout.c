/* Index maps: to the common form, and whether they map two indices to one address. */
#include <assert.h>
#include <string.h>

#include "index_map_private.h"
#include "base/number.h"
#include "layout/block.h"

/* ---- Where the transformed indices go: axis and stride of each ---- */

typedef struct {
    int axis_count;
    const char *names[TS_LAYOUT_MAX_AXES];
    int64_t sizes[TS_LAYOUT_MAX_AXES];
    int axis_of[TS_LAYOUT_MAX_AXES];       /* of each transformed index */
    int64_t stride_of[TS_LAYOUT_MAX_AXES]; /* on it */
} index_axes;

static void axes_of_groups(ts_arena *arena, const ts_index_map *map, const int64_t *shape, index_axes *p) {
    p->axis_count = map->separator_count + 1;
    for (int g = p->axis_count - 1, i = map->count; g >= 0; g--) {
        p->names[g] = p->axis_count == 1 ? "m" : ts_text_format(arena, "p%d", g);
        p->sizes[g] = 1;
        for (int begin = g > 0 ? map->separators[g - 1] : 0; i > begin; i--) {
            p->axis_of[i - 1] = g;
            p->stride_of[i - 1] = p->sizes[g];
            p->sizes[g] *= shape[i - 1];
        }
    }
}

static void axes_of_each(ts_arena *arena, const ts_index_map *map, const int64_t *shape, index_axes *p) {
    p->axis_count = map->count;
    for (int i = 0; i < map->count; i++) {
        p->names[i] = ts_text_format(arena, "x%d", i);
        p->sizes[i] = shape[i];
        p->axis_of[i] = i;
        p->stride_of[i] = 1;
    }
}

static bool find_axes_of(ts_error *err, ts_arena *arena, const ts_index_map *map, const int64_t *shape,
                         ts_index_map_form form, index_axes *p) {
    int64_t total = 1;
    for (int i = 0; i < map->count; i++)
        if (!ts_mul(total, shape[i], &total))
            return ts_error_set(err, TS_ERROR_INPUT, "the transformed shape does not fit in 64 bits");
    (form == TS_INDEX_MAP_FLAT ? axes_of_groups : axes_of_each)(arena, map, shape, p);
    return true;
}

static bool find_axes(ts_error *err, ts_arena *arena, const ts_index_map *map, const int64_t *dims,
                      ts_index_map_form form, index_axes *p) {
    int64_t shape[TS_LAYOUT_MAX_AXES];
    return ts_index_map_shape(err, arena, map, dims, shape) && find_axes_of(err, arena, map, shape, form, p);
}

/* ---- Sums of digits: stages ---- */

typedef struct {
    ts_layout_builder builder;
    const index_axes *axes;
    const ts_index_digits *digits;
    int count, at; /* transformed indices; the current dim that the next source begins at */
    ts_iter iters[TS_LAYOUT_MAX_DIMS];
} maker;

/* What the digit between two cuts adds: terms that cover it, all on one axis. False where they are not. */
static bool digit_of(const maker *m, int source, int64_t low, int64_t high, ts_iter *iter) {
    *iter = (ts_iter){0, 0, -1};
    for (int i = 0; i < m->count; i++)
        for (int j = 0; j < m->digits->sums[i].count; j++) {
            const ts_index_term *term = &m->digits->sums[i].terms[j];
            int64_t stride;
            if (term->source != source || term->scale == 0 || term->divisor > low) continue;
            if (term->modulus && (high == 0 || term->divisor * term->modulus < high)) continue;
            if (iter->axis >= 0 && iter->axis != m->axes->axis_of[i]) return false;
            if (!ts_mul(low / term->divisor, term->scale, &stride) ||
                !ts_mul(stride, m->axes->stride_of[i], &stride) ||
                !ts_add(iter->stride, stride, &iter->stride))
                return false;
            iter->axis = m->axes->axis_of[i];
        }
    if (iter->axis < 0) iter->axis = 0;
    return true;
}

static bool add_source(maker *m, int number) {
    const ts_index_source *source = &m->digits->sources[number];
    int64_t cuts[TS_LAYOUT_MAX_DIMS], end = source->extent + source->bias;
    int count = ts_index_cuts(m->digits, m->count, number, cuts);
    if (count == 0 || end > INT64_MAX - cuts[count - 1]) return false;
    for (int i = 1; i < source->count; i++) ts_layout_merge(&m->builder, m->at);
    ts_layout_bias(&m->builder, m->at, source->bias, end);
    ts_layout_pad(&m->builder, m->at, ts_round_up(end, cuts[count - 1]));
    for (int i = 1; i < count; i++) ts_layout_split(&m->builder, m->at, cuts[i] / cuts[i - 1]);
    for (int i = count - 1; i >= 0 && !m->builder.failed; i--)
        if (!digit_of(m, number, cuts[i], i + 1 < count ? cuts[i + 1] : 0, &m->iters[m->at++])) return false;
    return !m->builder.failed;
}

static const ts_layout *stages(ts_arena *arena, const ts_index_map *map, const int64_t *dims,
                               const index_axes *p, const ts_index_digits *digits) {
    maker m = {.axes = p, .digits = digits, .count = map->count};
    int order[TS_LAYOUT_MAX_DIMS], next = 0;
    ts_axis axes[TS_LAYOUT_MAX_AXES];
    ts_layout_begin(&m.builder, NULL, arena, map->rank, dims);
    if (m.builder.failed) return NULL;
    for (int i = 0; i < m.digits->source_count; i++)
        for (int j = 0; j < m.digits->sources[i].count; j++)
            order[next++] = m.digits->sources[i].variables[j];
    ts_layout_reorder(&m.builder, order);
    for (int i = 0; i < m.digits->source_count; i++)
        if (!add_source(&m, i)) return NULL;
    for (int i = 0; i < p->axis_count; i++) axes[i] = (ts_axis){p->names[i], 0};
    for (int i = 0; i < map->count; i++)
        axes[p->axis_of[i]].offset += m.digits->sums[i].constant * p->stride_of[i];
    return ts_layout_finish(&m.builder, m.iters, p->axis_count, axes, 0, NULL);
}

/* ---- Other maps: a function ---- */

typedef struct {
    ts_index_map map;
    index_axes axes;
} computed;

static void forward(const void *self, const int64_t *index, int64_t *coordinates) {
    const computed *c = self;
    memset(coordinates, 0, (size_t)c->axes.axis_count * sizeof *coordinates);
    for (int i = 0; i < c->map.count; i++) {
        int64_t value = 0;
        bool fits = ts_index_value(c->map.exprs[i], index, &value);
        assert(fits && value >= 0);
        coordinates[c->axes.axis_of[i]] += value * c->axes.stride_of[i];
    }
}

static void forward_block(const void *self, int64_t (*index)[TS_MAP_BLOCK], int count, int64_t *offsets) {
    const computed *c = self;
    int64_t values[TS_MAP_BLOCK];
    memset(offsets, 0, (size_t)count * sizeof *offsets);
    for (int i = 0; i < c->map.count; i++) {
        ts_index_values(c->map.exprs[i], index, count, values);
        for (int k = 0; k < count; k++) offsets[k] += values[k] * c->axes.stride_of[i];
    }
}

static const ts_layout *function(ts_error *err, ts_arena *arena, const ts_index_map *map, const int64_t *dims,
                                 const index_axes *p) {
    ts_layout_builder b;
    ts_layout_begin(&b, err, arena, map->rank, dims);
    if (b.failed) return NULL;
    for (int i = 0; i < map->count; i++) {
        ts_index_range range;
        if (ts_index_range_of(map->exprs[i], dims, &range)) continue;
        ts_error_set(err, TS_ERROR_INPUT, "transformed index %d may divide by 0 or not fit in 64 bits", i);
        return NULL;
    }
    ts_axis *axes = TS_NEW_ARRAY(arena, ts_axis, p->axis_count);
    computed *self = TS_NEW(arena, computed);
    ts_layout *layout = TS_NEW(arena, ts_layout);
    *self = (computed){*map, *p};
    for (int i = 0; i < p->axis_count; i++) axes[i].name = p->names[i];
    *layout = (ts_layout){.rank = map->rank, .dims = b.dims, .axis_count = p->axis_count, .axes = axes};
    layout->function = (ts_map_function){.self = self, .forward = forward};
    if (p->axis_count == 1) layout->function.forward_block = forward_block;
    layout->axis_sizes = self->axes.sizes;
    return layout;
}

/* Does its padding, too, lie in the physical shape? */
static bool stays_inside(const ts_layout *layout, const index_axes *p) {
    int64_t low, high;
    for (int i = 0; i < p->axis_count; i++) {
        ts_layout_axis_range(layout, i, &low, &high);
        if (low < 0 || high >= p->sizes[i]) return false;
    }
    return true;
}

static const ts_layout *layout_on(ts_error *err, ts_arena *arena, const ts_index_map *map,
                                  const int64_t *dims, const index_axes *p) {
    const ts_index_digits *digits = ts_index_digits_of(arena, map, dims);
    for (int trimmed = 0; digits && trimmed < 2; trimmed++) {
        if (trimmed) ts_index_digits_trim(digits, map->count);
        const ts_layout *layout = stages(arena, map, dims, p, digits);
        if (layout && stays_inside(layout, p)) return layout;
    }
    return function(err, arena, map, dims, p);
}

const ts_layout *ts_index_map_layout(ts_error *err, ts_arena *arena, const ts_index_map *map,
                                     const int64_t *dims, ts_index_map_form form) {
    index_axes p;
    if (!find_axes(err, arena, map, dims, form, &p)) return NULL;
    return layout_on(err, arena, map, dims, &p);
}

/* The same of a map that need not begin at 0, less where it begins. */
static const ts_layout *layout_from_zero(ts_error *err, ts_arena *arena, const ts_index_map *map,
                                         const int64_t *dims, ts_index_map_form form, index_axes *p) {
    ts_index_ranges ranges;
    if (!ts_index_map_ranges(err, arena, map, dims, &ranges) ||
        !find_axes_of(err, arena, &ranges.from_zero, ranges.extent, form, p))
        return NULL;
    return layout_on(err, arena, &ranges.from_zero, dims, p);
}

const ts_layout *ts_index_map_from_zero(ts_error *err, ts_arena *arena, const ts_index_map *map,
                                        const int64_t *dims) {
    index_axes p;
    return layout_from_zero(err, arena, map, dims, TS_INDEX_MAP_APART, &p);
}

/* ---- Injective and bijective ---- */

enum { BITMAP_MAX = 1 << 30, CHUNK = 32 * TS_MAP_BLOCK };

/* The addresses of indices in row-major order, of a layout with one axis, from flat index `first` on; how
 * many. */
static int64_t next_addresses(const ts_layout *layout, int64_t first, int64_t addresses[CHUNK]) {
    int64_t count = ts_min(ts_layout_element_count(layout) - first, CHUNK);
    bool known = ts_layout_forward_blocks(layout, first, count, addresses);
    assert(known);
    return count;
}

/* The first index that is mapped to the address; there must be one. */
static int64_t find_address(const ts_layout *layout, int64_t address) {
    int64_t addresses[CHUNK];
    for (int64_t first = 0;; first += CHUNK) {
        int64_t count = next_addresses(layout, first, addresses);
        for (int64_t k = 0; k < count; k++)
            if (addresses[k] == address) return first + k;
    }
}

/* The first two indices that share an address, by marking all. More indices than addresses collide early. */
static bool collide(ts_arena *arena, const ts_layout *layout, int64_t positions, ts_layout_injectivity *out) {
    int64_t addresses[CHUNK], count = ts_layout_element_count(layout);
    uint64_t *seen = TS_NEW_ARRAY(arena, uint64_t, positions / 64 + 1);
    for (int64_t at = 0; at < count; at++) {
        if (at % CHUNK == 0) (void)next_addresses(layout, at, addresses);
        int64_t address = addresses[at % CHUNK];
        uint64_t bit = UINT64_C(1) << (address % 64);
        if (seen[address / 64] & bit) {
            ts_index_unflatten(layout->rank, layout->dims, find_address(layout, address), out->first);
            ts_index_unflatten(layout->rank, layout->dims, at, out->second);
            return true;
        }
        seen[address / 64] |= bit;
    }
    return false;
}

/* Of one axis: addresses in the physical shape, whose groups do not matter here. */
bool ts_index_map_injective(ts_error *err, ts_arena *arena, const ts_index_map *map, const int64_t *dims,
                            ts_layout_injectivity *out) {
    index_axes p;
    ts_index_map flat = *map;
    flat.separator_count = 0;
    const ts_layout *layout = layout_from_zero(err, arena, &flat, dims, TS_INDEX_MAP_FLAT, &p);
    if (!layout) return false;
    if (ts_layout_injective(NULL, arena, layout, 1, out)) return true;
    if (p.sizes[0] > BITMAP_MAX)
        return ts_error_set(err, TS_ERROR_INPUT,
                            "finding out whether the map is injective needs more than %d places", BITMAP_MAX);
    ts_arena *scratch = ts_arena_new();
    out->injective = !collide(scratch, layout, p.sizes[0], out);
    ts_arena_free(scratch);
    return true;
}

bool ts_index_map_bijective(ts_error *err, ts_arena *arena, const ts_index_map *map, const int64_t *dims,
                            bool *bijective) {
    ts_layout_injectivity found;
    index_axes p;
    if (!find_axes(err, arena, map, dims, TS_INDEX_MAP_FLAT, &p) ||
        !ts_index_map_injective(err, arena, map, dims, &found))
        return false;
    *bijective = found.injective && ts_product(map->rank, dims) == ts_product(p.axis_count, p.sizes);
    return true;
}
