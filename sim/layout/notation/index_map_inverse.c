/* Index maps: their inverses, at a point and in closed form, and the loops over a transformed tensor. */
#include <inttypes.h>

#include "index_map_private.h"
#include "base/number.h"
#include "notation.h"

static void add_index(ts_text *out, int rank, const int64_t *index) { ts_text_add_tuple(out, index, rank); }

/* An error names two indices at one place where the map is not injective. */
static bool need_injective(ts_error *err, ts_arena *arena, const ts_index_map *map, const int64_t *dims) {
    ts_layout_injectivity found;
    if (!ts_index_map_injective(err, arena, map, dims, &found)) return false;
    if (found.injective) return true;
    ts_text both = ts_text_begin(arena);
    add_index(&both, map->rank, found.first);
    ts_text_add(&both, " and ");
    add_index(&both, map->rank, found.second);
    return ts_error_set(err, TS_ERROR_INPUT, "the map is not injective: it puts %s in one place", both.bytes);
}

bool ts_index_map_inverse_at(ts_error *err, ts_arena *arena, const ts_index_map *map, const int64_t *dims,
                             const int64_t *transformed, const int64_t **index) {
    int64_t point[TS_LAYOUT_MAX_AXES];
    ts_index_ranges ranges;
    ts_index_list found;
    if (!need_injective(err, arena, map, dims) || !ts_index_map_ranges(err, arena, map, dims, &ranges))
        return false;
    for (int i = 0; i < map->count; i++) {
        if (transformed[i] < ranges.low[i] || transformed[i] - ranges.low[i] >= ranges.extent[i])
            return ts_error_set(err, TS_ERROR_INPUT,
                                "transformed index %d is %" PRId64 ", expected %" PRId64 " to %" PRId64, i,
                                transformed[i], ranges.low[i], ranges.low[i] + (ranges.extent[i] - 1));
        point[i] = transformed[i] - ranges.low[i];
    }
    const ts_layout *layout = ts_index_map_from_zero(err, arena, map, dims);
    if (!layout || !ts_layout_backward(err, arena, layout, point, 1, &found)) return false;
    *index = found.count > 0 ? found.indices : NULL;
    return true;
}

/* ---- Closed form ---- */

typedef struct {
    ts_arena *arena;
    const ts_index_map *map;
    const int64_t *low; /* where each transformed index begins */
    const ts_index_digits *digits;
} inverter;

/* `expr` with `value` behind the operator, unless that changes nothing. */
static const ts_index_expr *with(const inverter *v, ts_index_kind kind, const ts_index_expr *expr,
                                 int64_t value) {
    bool idle = kind == TS_INDEX_ADD || kind == TS_INDEX_SUBTRACT ? value == 0 : value == 1;
    return idle ? expr : ts_index_node(v->arena, kind, expr, ts_index_constant(v->arena, value));
}

static const ts_index_expr *plus(const inverter *v, const ts_index_expr *a, const ts_index_expr *b) {
    return a ? ts_index_node(v->arena, TS_INDEX_ADD, a, b) : b;
}

/* The largest scale in a sum of terms that have more than one value. */
static bool is_top(const inverter *v, int i, const ts_index_term *term) {
    const ts_index_sum *s = &v->digits->sums[i];
    for (int j = 0; j < s->count; j++)
        if (s->terms[j].scale > term->scale && s->terms[j].extent > 1) return false;
    return true;
}

/* A term's value, from transformed index i. */
static const ts_index_expr *term_value(const inverter *v, int i, const ts_index_term *term) {
    const ts_index_expr *x = with(v, TS_INDEX_SUBTRACT, ts_index_variable(v->arena, i), v->low[i]);
    x = with(v, TS_INDEX_DIVIDE, x, term->scale);
    if (is_top(v, i, term)) return x;
    return ts_index_node(v->arena, TS_INDEX_MODULO, x, ts_index_constant(v->arena, term->extent));
}

/* The term of a source with this divisor and an extent above 1; NULL: none. */
static const ts_index_term *find_term(const inverter *v, int source, int64_t divisor, int *i) {
    for (*i = 0; *i < v->map->count; ++*i)
        for (int j = 0; j < v->digits->sums[*i].count; j++) {
            const ts_index_term *term = &v->digits->sums[*i].terms[j];
            if (term->source == source && term->divisor == divisor && term->extent > 1) return term;
        }
    return NULL;
}

/* A source's value as the sum of its terms, each beginning where the one below ends; what they reach into
 * *padded. */
static const ts_index_expr *source_value(const inverter *v, int source, int64_t *padded) {
    const ts_index_expr *parts[TS_LAYOUT_MAX_DIMS], *sum = NULL;
    int count = 0, i;
    *padded = 1;
    for (const ts_index_term *term;
         (term = find_term(v, source, *padded, &i)) && count < TS_LAYOUT_MAX_DIMS;) {
        parts[count++] = with(v, TS_INDEX_MULTIPLY, term_value(v, i, term), term->divisor);
        *padded *= term->extent;
    }
    while (count > 0) sum = plus(v, sum, parts[--count]);
    return sum ? sum : ts_index_constant(v->arena, 0);
}

static void add_padding(const inverter *v, ts_index_kind kind, const ts_index_expr *sum, int64_t border,
                        const ts_index_expr **padding) {
    const ts_index_expr *here = ts_index_node(v->arena, kind, sum, ts_index_constant(v->arena, border));
    *padding = *padding ? ts_index_node(v->arena, TS_INDEX_EITHER, *padding, here) : here;
}

/* What the source's terms reach is multiplied into *addresses. */
static bool invert_source(const inverter *v, const int64_t *dims, int number, const ts_index_expr **exprs,
                          const ts_index_expr **padding, int64_t *addresses) {
    const ts_index_source *source = &v->digits->sources[number];
    int64_t padded, below = 1, end = source->extent + source->bias;
    const ts_index_expr *sum = source_value(v, number, &padded);
    if (padded < end || !ts_mul(*addresses, padded, addresses)) return false;
    if (source->bias > 0) add_padding(v, TS_INDEX_LESS, sum, source->bias, padding);
    if (padded > end) add_padding(v, TS_INDEX_AT_LEAST, sum, end, padding);
    sum = with(v, TS_INDEX_SUBTRACT, sum, source->bias);
    for (int i = source->count - 1; i >= 0; i--) {
        int dim = source->variables[i];
        const ts_index_expr *value = with(v, TS_INDEX_DIVIDE, sum, below);
        exprs[dim] =
            i > 0 ? ts_index_node(v->arena, TS_INDEX_MODULO, value, ts_index_constant(v->arena, dims[dim]))
                  : value;
        below *= dims[dim];
    }
    return true;
}

/* Every transformed index has terms without gaps (then its shape is the sum's extent). */
static bool has_closed_form(const inverter *v, const int64_t *shape) {
    for (int i = 0; i < v->map->count; i++) {
        int64_t extent = 1, whole;
        const ts_index_sum *s = &v->digits->sums[i];
        for (int j = 0; j < s->count; j++)
            if (s->terms[j].scale < 0 || !ts_mul(extent, s->terms[j].extent, &extent)) return false;
        if (s->constant != 0 || extent != shape[i] || !ts_index_sum_is_compact(s, &whole)) return false;
    }
    return true;
}

static const char *const *index_names(ts_arena *arena, int count) {
    const char **names = TS_NEW_ARRAY(arena, const char *, count);
    for (int i = 0; i < count; i++) names[i] = ts_text_format(arena, "x%d", i);
    return names;
}

bool ts_index_map_inverse(ts_error *err, ts_arena *arena, const ts_index_map *map, const int64_t *dims,
                          ts_index_inverse *out) {
    ts_index_ranges ranges;
    *out = (ts_index_inverse){0};
    if (!need_injective(err, arena, map, dims) || !ts_index_map_ranges(err, arena, map, dims, &ranges))
        return false;
    inverter v = {arena, map, ranges.low, ts_index_digits_of(arena, &ranges.from_zero, dims)};
    if (!v.digits || !has_closed_form(&v, ranges.extent)) return true;
    const ts_index_expr **exprs = TS_NEW_ARRAY(arena, const ts_index_expr *, map->rank);
    int64_t reached = 1;
    for (int i = 0; i < v.digits->source_count; i++)
        if (!invert_source(&v, dims, i, exprs, &out->padding, &reached)) return true;
    /* Else a digit stands in several addresses, which must agree. They fit: the map has a layout. */
    if (reached != ts_product(map->count, ranges.extent)) return true;
    out->map = (ts_index_map){
        .rank = map->count, .count = map->rank, .names = index_names(arena, map->count), .exprs = exprs};
    out->found = true;
    return true;
}

/* ---- Loops ---- */

static void indent(ts_text *out, int depth) {
    for (int i = 0; i < depth; i++) ts_text_add(out, "  ");
}

static void print_body(const ts_index_map *map, const ts_index_map *inverse, const ts_index_expr *padding,
                       int depth, ts_text *out) {
    if (padding) {
        indent(out, depth++);
        ts_text_add(out, "if not (");
        ts_index_expr_print(out, padding, inverse->names);
        ts_text_add(out, "):\n");
    }
    for (int i = 0; i < map->rank; i++) {
        indent(out, depth);
        ts_text_add(out, "%s = ", map->names[i]);
        ts_index_expr_print(out, inverse->exprs[i], inverse->names);
        ts_text_add_char(out, '\n');
    }
}

bool ts_index_map_print_loops(ts_error *err, ts_arena *arena, const ts_index_map *map, const int64_t *dims,
                              ts_text *out) {
    ts_index_ranges ranges;
    ts_index_inverse inverse;
    if (!ts_index_map_ranges(err, arena, map, dims, &ranges) ||
        !ts_index_map_inverse(err, arena, map, dims, &inverse))
        return false;
    for (int i = 0; i < map->count; i++) {
        indent(out, i);
        ts_text_add(out, "for x%d in range(", i);
        if (ranges.low[i] != 0) ts_text_add(out, "%" PRId64 ", ", ranges.low[i]);
        ts_text_add(out, "%" PRId64 "):  # ", ranges.low[i] + ranges.extent[i]);
        ts_index_expr_print(out, map->exprs[i], map->names);
        ts_text_add_char(out, '\n');
    }
    if (inverse.found) {
        print_body(map, &inverse.map, inverse.padding, map->count, out);
    } else {
        indent(out, map->count);
        ts_text_add(out, "# the logical index has no closed form: it is found by searching\n");
    }
    return true;
}

/* An address holds one element: a map that is not injective is refused. */
bool ts_notation_read_tvm(ts_error *err, ts_arena *arena, ts_cursor *cursor, ts_notation_shape *shape) {
    ts_index_map map;
    int64_t physical[TS_LAYOUT_MAX_AXES];
    if (!ts_index_map_read(err, arena, cursor, &map)) return false;
    ts_index_map_print(&shape->text, &map);
    if (map.rank != shape->rank)
        return ts_error_set(err, TS_ERROR_INPUT, "the map has %d logical indices, the array %d dimensions",
                            map.rank, shape->rank);
    if (!need_injective(err, arena, &map, shape->dims)) return false;
    const ts_layout *layout = ts_index_map_layout(err, arena, &map, shape->dims, TS_INDEX_MAP_FLAT);
    if (!layout || !ts_index_map_physical_shape(err, arena, &map, shape->dims, physical)) return false;
    ts_layout *known = TS_NEW(arena, ts_layout);
    *known = *layout;
    known->injective = true;
    shape->layout = known;
    shape->addresses = ts_product(map.separator_count + 1, physical);
    return true;
}
