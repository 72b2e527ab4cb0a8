/* The functions of TVM's index maps, by the names of its methods. */
#include <inttypes.h>

#include "algebra_private.h"
#include "base/number.h"

enum { A, B, C };

/* ---- Arguments ---- */

static bool has_count(ts_call *call, int number, const char *name, int expected) {
    int count = call->arguments[number].count;
    return count == expected ||
           ts_error_set(call->err, TS_ERROR_INPUT, "%s has %d entries, expected %d", name, count, expected);
}

static bool has_shape(ts_call *call) {
    return has_count(call, B, "shape", call->arguments[A].index_map.rank);
}

/* ---- Indices and shapes ---- */

static bool map_indices(ts_call *call, ts_value *out) {
    const ts_index_map *map = &call->arguments[A].index_map;
    int64_t transformed[TS_LAYOUT_MAX_AXES];
    return has_count(call, B, "index", map->rank) &&
           ts_index_map_apply(call->err, map, call->arguments[B].integers, transformed) &&
           ts_value_integers(call->arena, out, map->count, transformed);
}

static bool map_shape(ts_call *call, ts_value *out) {
    const ts_index_map *map = &call->arguments[A].index_map;
    int64_t shape[TS_LAYOUT_MAX_AXES];
    return has_shape(call) &&
           ts_index_map_shape(call->err, call->arena, map, call->arguments[B].integers, shape) &&
           ts_value_integers(call->arena, out, map->count, shape);
}

static bool map_ranges(ts_call *call, ts_value *out) {
    const ts_index_map *map = &call->arguments[A].index_map;
    ts_index_ranges ranges;
    int64_t pairs[2 * TS_LAYOUT_MAX_AXES];
    if (!has_shape(call) ||
        !ts_index_map_ranges(call->err, call->arena, map, call->arguments[B].integers, &ranges))
        return false;
    for (int i = 0; i < map->count; i++) {
        pairs[2 * i] = ranges.low[i];
        pairs[2 * i + 1] = ranges.extent[i];
    }
    return ts_value_lists(call->arena, out, map->count, 2, pairs);
}

static bool physical_shape(ts_call *call, ts_value *out) {
    const ts_index_map *map = &call->arguments[A].index_map;
    int64_t shape[TS_LAYOUT_MAX_AXES];
    return has_shape(call) &&
           ts_index_map_physical_shape(call->err, call->arena, map, call->arguments[B].integers, shape) &&
           ts_value_integers(call->arena, out, map->separator_count + 1, shape);
}

/* Is entry i of an index within its dim? */
static bool is_within(ts_call *call, int i, int64_t index, int64_t extent) {
    return (index >= 0 && index < extent) ||
           ts_error_set(call->err, TS_ERROR_INPUT, "index %d is %" PRId64 ", expected 0 to %" PRId64, i,
                        index, extent - 1);
}

static bool physical_index(ts_call *call, ts_value *out) {
    const ts_index_map *map = &call->arguments[A].index_map;
    const int64_t *shape = call->arguments[B].integers, *index = call->arguments[C].integers;
    int64_t physical[TS_LAYOUT_MAX_AXES];
    if (!has_shape(call) || !has_count(call, C, "index", map->rank) ||
        !ts_index_map_physical_shape(call->err, call->arena, map, shape, physical))
        return false;
    for (int i = 0; i < map->rank; i++)
        if (!is_within(call, i, index[i], shape[i])) return false;
    return ts_index_map_physical_index(call->err, call->arena, map, shape, index, physical) &&
           ts_value_integers(call->arena, out, map->separator_count + 1, physical);
}

static bool separators(ts_call *call, ts_value *out) {
    const ts_index_map *map = &call->arguments[A].index_map;
    int64_t values[TS_LAYOUT_MAX_AXES];
    for (int i = 0; i < map->separator_count; i++) values[i] = map->separators[i];
    return ts_value_integers(call->arena, out, map->separator_count, values);
}

/* The shape and its groups: `seps` is the last argument, and may be missing. */
static bool flatten(ts_call *call, int seps, int64_t *physical) {
    const ts_argument *shape = &call->arguments[A], *given = &call->arguments[seps];
    if (given->count >= TS_LAYOUT_MAX_AXES)
        return ts_error_set(call->err, TS_ERROR_INPUT, "more than %d separators", TS_LAYOUT_MAX_AXES - 1);
    return ts_index_flatten_shape(call->err, shape->count, shape->integers, given->count, given->integers,
                                  physical);
}

static bool flatten_shape(ts_call *call, ts_value *out) {
    int64_t physical[TS_LAYOUT_MAX_AXES];
    return flatten(call, B, physical) &&
           ts_value_integers(call->arena, out, call->arguments[B].count + 1, physical);
}

/* Row-major in each group. */
static bool flatten_index(ts_call *call, ts_value *out) {
    const ts_argument *shape = &call->arguments[A], *index = &call->arguments[B], *seps = &call->arguments[C];
    int64_t physical[TS_LAYOUT_MAX_AXES];
    if (!flatten(call, C, physical) || !has_count(call, B, "index", shape->count)) return false;
    for (int i = 0, group = -1; i <= shape->count; i++) {
        while (group < seps->count && (group < 0 || seps->integers[group] <= i)) physical[++group] = 0;
        if (i == shape->count) break;
        if (!is_within(call, i, index->integers[i], shape->integers[i])) return false;
        physical[group] = physical[group] * shape->integers[i] + index->integers[i];
    }
    return ts_value_integers(call->arena, out, seps->count + 1, physical);
}

/* ---- Injective, equivalent ---- */

static bool injective(ts_call *call, ts_value *out) {
    ts_layout_injectivity found;
    return has_shape(call) &&
           ts_index_map_injective(call->err, call->arena, &call->arguments[A].index_map,
                                  call->arguments[B].integers, &found) &&
           ts_value_yes(out, found.injective);
}

/* A map whose shape does not begin at 0 is onto no shape. */
static bool is_bijective(ts_call *call, bool *yes) {
    const ts_index_map *map = &call->arguments[A].index_map;
    const int64_t *dims = call->arguments[B].integers;
    int64_t shape[TS_LAYOUT_MAX_AXES];
    *yes = false;
    return has_shape(call) && (!ts_index_map_shape(NULL, call->arena, map, dims, shape) ||
                               ts_index_map_bijective(call->err, call->arena, map, dims, yes));
}

static bool bijective(ts_call *call, ts_value *out) {
    bool yes;
    return is_bijective(call, &yes) && ts_value_yes(out, yes);
}

static bool is_equivalent_to(ts_call *call, ts_value *out) {
    return ts_value_yes(
        out, ts_index_map_equivalent(&call->arguments[A].index_map, &call->arguments[B].index_map));
}

/* ---- Inverses ---- */

enum { STRICT, PADDED };

static bool may_invert(ts_call *call) {
    bool onto = true;
    if (!has_shape(call) || (call->variant == STRICT && !is_bijective(call, &onto))) return false;
    return onto || ts_error_set(call->err, TS_ERROR_INPUT, "the map is not one to one onto its shape");
}

static bool inverse_at(ts_call *call, ts_value *out) {
    const ts_index_map *map = &call->arguments[A].index_map;
    const int64_t *index;
    if (!has_count(call, C, "index", map->count) || !may_invert(call) ||
        !ts_index_map_inverse_at(call->err, call->arena, map, call->arguments[B].integers,
                                 call->arguments[C].integers, &index))
        return false;
    return index ? ts_value_integers(call->arena, out, map->rank, index) : ts_value_word(out, "padding");
}

/* What is padding, as a predicate over the transformed index. */
static bool add_padding(ts_call *call, const ts_index_expr *padding, ts_value *out) {
    ts_value *extra = ts_value_add_extra(call->arena, out, "padding");
    if (!padding) return ts_value_word(extra, "none");
    ts_text text = ts_text_begin(call->arena);
    ts_index_expr_print(&text, padding, out->map.names);
    return ts_value_text(extra, &text);
}

static bool inverse(ts_call *call, ts_value *out) {
    ts_index_inverse found;
    if (!may_invert(call) || !ts_index_map_inverse(call->err, call->arena, &call->arguments[A].index_map,
                                                   call->arguments[B].integers, &found))
        return false;
    if (!found.found)
        return ts_error_set(call->err, TS_ERROR_INPUT,
                            "no closed form of the inverse was found, expected %s with an index",
                            call->variant == STRICT ? "inverse_at" : "non_surjective_inverse_at");
    out->map = found.map;
    return call->variant == STRICT || add_padding(call, found.padding, out);
}

static bool loops(ts_call *call, ts_value *out) {
    ts_text text = ts_text_begin(call->arena);
    if (!has_shape(call) || !ts_index_map_print_loops(call->err, call->arena, &call->arguments[A].index_map,
                                                      call->arguments[B].integers, &text))
        return false;
    text.bytes[text.length - 1] = '\0'; /* the last newline */
    return ts_value_text(out, &text);
}

/* ---- Padding ---- */

enum { SHOWN = 16, POINTS_MAX = 1 << 26 };

/* Marks every address that an index goes to. */
static bool mark_addresses(ts_call *call, const ts_index_map *map, const int64_t *extent, bool *taken) {
    int64_t *index = TS_NEW_ARRAY(call->arena, int64_t, map->rank + 1), point[TS_LAYOUT_MAX_AXES];
    do {
        int64_t number = 0;
        if (!ts_index_map_apply(call->err, map, index, point)) return false;
        for (int i = 0; i < map->count; i++) number = number * extent[i] + point[i];
        if (taken[number]) return ts_error_set(call->err, TS_ERROR_INPUT, "the map is not injective");
        taken[number] = true;
    } while (ts_index_next(map->rank, call->arguments[B].integers, index));
    return true;
}

static bool padding_points(ts_call *call, ts_value *out) {
    const ts_index_map *map = &call->arguments[A].index_map;
    int64_t point[TS_LAYOUT_MAX_AXES] = {0}, shown[SHOWN * TS_LAYOUT_MAX_AXES], total = 1, count = 0;
    ts_index_ranges ranges;
    if (!has_shape(call) ||
        !ts_index_map_ranges(call->err, call->arena, map, call->arguments[B].integers, &ranges))
        return false;
    for (int i = 0; i < map->count; i++)
        if (!ts_mul(total, ranges.extent[i], &total) || total > POINTS_MAX)
            return ts_error_set(call->err, TS_ERROR_INPUT, "the transformed shape has more than %d places",
                                POINTS_MAX);
    bool *taken = TS_NEW_ARRAY(call->arena, bool, total);
    if (!mark_addresses(call, &ranges.from_zero, ranges.extent, taken)) return false;
    for (int64_t i = 0; i < total; i++, ts_index_next(map->count, ranges.extent, point)) {
        if (taken[i] || count++ >= SHOWN) continue;
        for (int j = 0; j < map->count; j++) shown[(count - 1) * map->count + j] = ranges.low[j] + point[j];
    }
    if (count == 0) return ts_value_word(out, "none");
    ts_value_integer(ts_value_add_extra(call->arena, out, "count"), count);
    return ts_value_lists(call->arena, out, count < SHOWN ? (int)count : SHOWN, map->count, shown);
}

static bool to_axe(ts_call *call, ts_value *out) {
    ts_axe axe;
    if (!has_shape(call)) return false;
    const ts_layout *layout = ts_index_map_layout(call->err, call->arena, &call->arguments[A].index_map,
                                                  call->arguments[B].integers, TS_INDEX_MAP_FLAT);
    out->kind = TS_VALUE_AXE;
    return layout && ts_axe_from_layout(call->err, call->arena, layout, NULL, &axe) &&
           ts_axe_canonical(call->err, call->arena, TS_AXE_TVM, &axe, &out->axe);
}

/* Parameters, each with its comma. */
#define INTEGERS(name) {name, TS_TAKES_INTEGERS, false},
#define MAP(name)      {name, TS_TAKES_INDEX_MAP, false},
#define MAYBE(name)    {name, TS_TAKES_INTEGERS, true},

static const ts_algebra_entry entries[] = {
    TS_FUNCTION("map_indices", MAP("map") INTEGERS("index"), map_indices, 0, "the transformed index",
                "map_indices(lambda i, j: [i // 4, j, i % 4], (9,5))", "(2,5,1)"),
    TS_FUNCTION("map_shape", MAP("map") INTEGERS("shape"), map_shape, 0,
                "the transformed shape, which must begin at 0", "map_shape(lambda i: [i // 4, i % 4], 14)",
                "(4,4)"),
    TS_FUNCTION("map_ranges", MAP("map") INTEGERS("shape"), map_ranges, 0,
                "the lowest of each transformed index, and how many there are",
                "map_ranges(lambda i: [i + 5], 8)", "((5,8))"),
    TS_FUNCTION("physical_shape", MAP("map") INTEGERS("shape"), physical_shape, 0,
                "the shape, flattened between separators",
                "physical_shape(lambda i, j, k: [i, j, SEP, k], (2,3,4))", "(6,4)"),
    TS_FUNCTION("physical_index", MAP("map") INTEGERS("shape") INTEGERS("index"), physical_index, 0,
                "the transformed index, flattened so",
                "physical_index(lambda i, j, k: [i, j, SEP, k], (2,3,4), (1,2,3))", "(5,3)"),
    TS_FUNCTION("separators", MAP("map"), separators, 0, "how many transformed indices are before each",
                "separators(lambda i, j, k: [i, j, SEP, k])", "(2)"),
    TS_FUNCTION("flatten_shape", INTEGERS("shape") MAYBE("seps"), flatten_shape, 0,
                "a transformed shape, flattened", "flatten_shape((4,16,32), 2)", "(64,32)"),
    TS_FUNCTION("flatten_index", INTEGERS("shape") INTEGERS("index") MAYBE("seps"), flatten_index, 0,
                "a transformed index, flattened", "flatten_index((4,16,32), (1,2,3), 2)", "(18,3)"),
    TS_FUNCTION("injective", MAP("map") INTEGERS("shape"), injective, 0,
                "does no place belong to two indices?", "injective(lambda i: [7 - i], 8)", "yes"),
    TS_FUNCTION("bijective", MAP("map") INTEGERS("shape"), bijective, 0, "and is it onto its shape?",
                "bijective(lambda i: [i // 4, i % 4], 14)", "no"),
    TS_FUNCTION("is_equivalent_to", MAP("map") MAP("other"), is_equivalent_to, 0,
                "equal for every index, by trying many",
                "is_equivalent_to(lambda i: [i // 2 // 2], lambda i: [i // 4])", "yes"),
    TS_FUNCTION("inverse", MAP("map") INTEGERS("shape"), inverse, STRICT,
                "the inverse of a map that is one to one onto its shape",
                "inverse(lambda i: [i // 4, i % 4], 16)", "lambda x0, x1: [x0 * 4 + x1]"),
    TS_FUNCTION("non_surjective_inverse", MAP("map") INTEGERS("shape"), inverse, PADDED,
                "the inverse of any injective map, and where it is of padding",
                "non_surjective_inverse(lambda i: [i // 4, i % 4], 14)", "lambda x0, x1: [x0 * 4 + x1]"),
    TS_FUNCTION("inverse_at", MAP("map") INTEGERS("shape") INTEGERS("index"), inverse_at, STRICT,
                "the inverse at one index", "inverse_at(lambda i: [i // 4, i % 4], 16, (2,1))", "(9)"),
    TS_FUNCTION("non_surjective_inverse_at", MAP("map") INTEGERS("shape") INTEGERS("index"), inverse_at,
                PADDED, "the same of any injective map, or padding",
                "non_surjective_inverse_at(lambda i: [i // 4, i % 4], 14, (3,2))", "padding"),
    TS_FUNCTION("padding_points", MAP("map") INTEGERS("shape"), padding_points, 0,
                "how many places no index reaches, the first 16, or none",
                "padding_points(lambda i: [i // 4, i % 4], 14)", "((3,2),(3,3))"),
    TS_FUNCTION("to_axe", MAP("map") INTEGERS("shape"), to_axe, 0, "as an Axe layout of the physical index",
                "to_axe(lambda i, j: [j, i], (2,3))", "S[(2,3):(1,2)]"),
    TS_FUNCTION("loops", MAP("map") INTEGERS("shape"), loops, 0, "the loops over the transformed tensor",
                "loops(lambda i: [i + 5], 8)", "for x0 in range(5, 13):  # i + 5"),
};

const ts_algebra_table ts_algebra_index_maps = {"TVM index maps", "TVM's IndexMap", TS_VALUE_INDEX_MAP,
                                                entries, sizeof entries / sizeof entries[0]};
