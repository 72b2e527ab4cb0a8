/* Index maps: values, ranges and shapes. */
#include "tilesim/layout/index_map.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "index_map_private.h"
#include "tilesim/base/number.h"

/* ---- Values ---- */

/* Towards minus infinity, for divisors of either sign. */
static bool divide(int64_t a, int64_t b, int64_t *out) {
    if (b == 0 || (a == INT64_MIN && b == -1)) return false;
    *out = a / b - (a % b != 0 && (a % b < 0) != (b < 0));
    return true;
}

static bool modulo(int64_t a, int64_t b, int64_t *out) {
    if (b == 0) return false;
    *out = b == -1 ? 0 : a % b;
    if (*out != 0 && (*out < 0) != (b < 0)) *out += b;
    return true;
}

static bool shift(int64_t a, int64_t bits, bool left, int64_t *out) {
    if (bits < 0 || bits > 62) return false;
    return left ? ts_mul(a, INT64_C(1) << bits, out) : divide(a, INT64_C(1) << bits, out);
}

static bool combine(ts_index_kind kind, int64_t a, int64_t b, int64_t *out) {
    switch (kind) {
    case TS_INDEX_NEGATE:
        return ts_mul(a, -1, out);
    case TS_INDEX_OR:
        *out = a | b;
        return true;
    case TS_INDEX_XOR:
        *out = a ^ b;
        return true;
    case TS_INDEX_AND:
        *out = a & b;
        return true;
    case TS_INDEX_SHIFT_LEFT:
        return shift(a, b, true, out);
    case TS_INDEX_SHIFT_RIGHT:
        return shift(a, b, false, out);
    case TS_INDEX_ADD:
        return ts_add(a, b, out);
    case TS_INDEX_SUBTRACT:
        return !__builtin_sub_overflow(a, b, out);
    case TS_INDEX_MULTIPLY:
        return ts_mul(a, b, out);
    case TS_INDEX_DIVIDE:
        return divide(a, b, out);
    case TS_INDEX_MODULO:
        return modulo(a, b, out);
    case TS_INDEX_MIN:
        *out = a < b ? a : b;
        return true;
    case TS_INDEX_MAX:
        *out = a > b ? a : b;
        return true;
    case TS_INDEX_LESS:
        *out = a < b;
        return true;
    case TS_INDEX_AT_LEAST:
        *out = a >= b;
        return true;
    case TS_INDEX_EITHER:
        *out = a || b;
        return true;
    case TS_INDEX_CONSTANT:
    case TS_INDEX_VARIABLE:
        break;
    }
    return false;
}

bool ts_index_value(const ts_index_expr *expr, const int64_t *index, int64_t *value) {
    int64_t a, b = 0;
    if (expr->kind == TS_INDEX_CONSTANT || expr->kind == TS_INDEX_VARIABLE) {
        *value = expr->kind == TS_INDEX_CONSTANT ? expr->value : index[expr->value];
        return true;
    }
    return ts_index_value(expr->a, index, &a) && (!expr->b || ts_index_value(expr->b, index, &b)) &&
           combine(expr->kind, a, b, value);
}

/* By a power of two: a shift, or a mask. */
static bool by_power(const ts_index_expr *expr, int count, int64_t *values) {
    int64_t by = expr->b->kind == TS_INDEX_CONSTANT ? expr->b->value : 0;
    if (by <= 0 || (by & (by - 1)) != 0 || (expr->kind != TS_INDEX_DIVIDE && expr->kind != TS_INDEX_MODULO))
        return false;
    int shift = __builtin_ctzll((uint64_t)by);
    for (int k = 0; k < count; k++)
        values[k] = expr->kind == TS_INDEX_DIVIDE ? values[k] >> shift : values[k] & (by - 1);
    return true;
}

#define EACH(operation)                                                                                      \
    for (int k = 0; k < count; k++) values[k] = values[k] operation b[k];                                    \
    return

/* Sums and products fit: the range of every part was looked at when the map was made. */
void ts_index_values(const ts_index_expr *expr, int64_t (*index)[TS_MAP_BLOCK], int count, int64_t *values) {
    int64_t b[TS_MAP_BLOCK] = {0};
    if (expr->kind == TS_INDEX_CONSTANT || expr->kind == TS_INDEX_VARIABLE) {
        const int64_t *from = expr->kind == TS_INDEX_VARIABLE ? index[expr->value] : NULL;
        for (int k = 0; k < count; k++) values[k] = from ? from[k] : expr->value;
        return;
    }
    ts_index_values(expr->a, index, count, values);
    if (expr->b && by_power(expr, count, values)) return;
    if (expr->b) ts_index_values(expr->b, index, count, b);
    switch (expr->kind) {
    case TS_INDEX_ADD:
        EACH(+);
    case TS_INDEX_SUBTRACT:
        EACH(-);
    case TS_INDEX_MULTIPLY:
        EACH(*);
    case TS_INDEX_XOR:
        EACH(^);
    case TS_INDEX_AND:
        EACH(&);
    case TS_INDEX_OR:
        EACH(|);
    default:
        for (int k = 0; k < count; k++) {
            bool fits = combine(expr->kind, values[k], b[k], &values[k]);
            assert(fits);
        }
    }
}

bool ts_index_map_apply(ts_error *err, const ts_index_map *map, const int64_t *index, int64_t *transformed) {
    for (int i = 0; i < map->count; i++)
        if (!ts_index_value(map->exprs[i], index, &transformed[i]))
            return ts_error_set(err, TS_ERROR_INPUT,
                                "transformed index %d divides by 0 or does not fit in 64 bits at this index",
                                i);
    return true;
}

/* ---- Ranges ---- */

/* The least and largest of an operation that is monotonic in each operand, at the corners. */
static bool corners(ts_index_kind kind, ts_index_range a, ts_index_range b, ts_index_range *out) {
    const int64_t as[] = {a.low, a.low, a.high, a.high}, bs[] = {b.low, b.high, b.low, b.high};
    for (int i = 0; i < 4; i++) {
        int64_t value;
        if (!combine(kind, as[i], bs[i], &value)) return false;
        if (i == 0 || value < out->low) out->low = value;
        if (i == 0 || value > out->high) out->high = value;
    }
    return true;
}

static bool divide_range(ts_index_kind kind, ts_index_range a, ts_index_range b, ts_index_range *out) {
    if (b.low <= 0 && b.high >= 0) return false;
    if (kind == TS_INDEX_DIVIDE) return corners(kind, a, b, out);
    int64_t first, last;
    if (b.low == b.high && b.low > 0 && divide(a.low, b.low, &first) && divide(a.high, b.low, &last) &&
        first == last)
        return corners(kind, a, b, out);
    *out = b.low > 0 ? (ts_index_range){0, b.high - 1} : (ts_index_range){b.low + 1, 0};
    return true;
}

/* Of values that are not negative: below the next power of two. */
static bool bits_range(ts_index_kind kind, ts_index_range a, ts_index_range b, ts_index_range *out) {
    if (a.low < 0 || b.low < 0) return false;
    int64_t most = 0, high = kind == TS_INDEX_AND ? (a.high < b.high ? a.high : b.high) : a.high | b.high;
    while (most < high) most = most * 2 + 1;
    *out = (ts_index_range){0, kind == TS_INDEX_AND ? high : most};
    return true;
}

bool ts_index_range_of(const ts_index_expr *expr, const int64_t *dims, ts_index_range *range) {
    ts_index_range a, b = {0, 0};
    if (expr->kind == TS_INDEX_CONSTANT || expr->kind == TS_INDEX_VARIABLE) {
        bool constant = expr->kind == TS_INDEX_CONSTANT;
        *range = constant ? (ts_index_range){expr->value, expr->value}
                          : (ts_index_range){0, dims[expr->value] - 1};
        return true;
    }
    if (!ts_index_range_of(expr->a, dims, &a) || (expr->b && !ts_index_range_of(expr->b, dims, &b)))
        return false;
    switch (expr->kind) {
    case TS_INDEX_OR:
    case TS_INDEX_XOR:
    case TS_INDEX_AND:
        return bits_range(expr->kind, a, b, range);
    case TS_INDEX_DIVIDE:
    case TS_INDEX_MODULO:
        return divide_range(expr->kind, a, b, range);
    default:
        return corners(expr->kind, a, b, range);
    }
}

/* ---- Shapes ---- */

static bool check_dims(ts_error *err, const ts_index_map *map, const int64_t *dims) {
    for (int i = 0; i < map->rank; i++)
        if (dims[i] < 1)
            return ts_error_set(err, TS_ERROR_INPUT, "dimension %d is %" PRId64 ", expected at least 1", i,
                                dims[i]);
    return true;
}

static bool begins_late(ts_error *err, int i, int64_t low) {
    return ts_error_set(err, TS_ERROR_INPUT, "transformed index %d begins at %" PRId64 ", expected 0", i,
                        low);
}

/* Do the terms follow each other without gaps: each scale the extent times the scale of the next smaller one?
 * Then the sum's extent. */
static bool is_compact(const ts_index_digits *digits, const ts_index_sum *sum, int64_t *extent) {
    const ts_index_term *last = NULL;
    int64_t next = 0;
    for (int used = 0;; used++) {
        const ts_index_term *least = NULL;
        for (int i = 0; i < sum->count; i++) {
            const ts_index_term *term = &sum->terms[i];
            if (term->scale <= 0) return false;
            if (ts_index_term_extent(digits, term) == 1 || (last && term->scale <= last->scale)) continue;
            if (least && term->scale == least->scale) return false;
            if (!least || term->scale < least->scale) least = term;
        }
        if (!least) break;
        if (used > 0 && least->scale != next) return false;
        if (!ts_mul(least->scale, ts_index_term_extent(digits, least), &next)) return false;
        last = least;
    }
    *extent = last ? next : 1;
    return true;
}

static bool sums_of_digits(ts_error *err, ts_arena *arena, const ts_index_map *map, const int64_t *dims,
                           bool *found, int64_t *shape) {
    const ts_index_digits *digits = ts_index_digits_of(arena, map, dims);
    *found = digits != NULL;
    for (int i = 0; i < map->count && *found; i++) {
        bool reversed = digits->sums[i].count == 1 && digits->sums[i].terms[0].scale < 0;
        if (reversed && digits->sums[i].constant != 0)
            return ts_error_set(err, TS_ERROR_INPUT,
                                "transformed index %d runs backwards, expected it to begin at 0", i);
        *found = is_compact(digits, &digits->sums[i], &shape[i]);
    }
    for (int i = 0; i < map->count && *found; i++)
        if (digits->sums[i].constant != 0) return begins_late(err, i, digits->sums[i].constant);
    return true;
}

bool ts_index_map_shape(ts_error *err, ts_arena *arena, const ts_index_map *map, const int64_t *dims,
                        int64_t *shape) {
    bool found;
    if (!check_dims(err, map, dims) || !sums_of_digits(err, arena, map, dims, &found, shape)) return false;
    for (int i = 0; i < map->count && !found; i++) {
        ts_index_range range;
        if (!ts_index_range_of(map->exprs[i], dims, &range) || range.high == INT64_MAX)
            return ts_error_set(err, TS_ERROR_INPUT, "transformed index %d has no range that fits in 64 bits",
                                i);
        if (range.low != 0) return begins_late(err, i, range.low);
        shape[i] = range.high + 1;
    }
    return true;
}

/* The separators around group g of `count` indices. */
static int group_begin(const ts_index_map *map, int g) { return g > 0 ? map->separators[g - 1] : 0; }
static int group_end(const ts_index_map *map, int g) {
    return g < map->separator_count ? map->separators[g] : map->count;
}

bool ts_index_flatten_shape(ts_error *err, int count, const int64_t *shape, int separator_count,
                            const int64_t *separators, int64_t *physical) {
    int64_t before = 0, total = 1;
    for (int g = 0; g <= separator_count; g++) {
        int64_t end = g < separator_count ? separators[g] : count;
        if (end < before || end > count)
            return ts_error_set(err, TS_ERROR_INPUT,
                                "separator %d is %" PRId64 ", expected %" PRId64 " to %d", g, end, before,
                                count);
        physical[g] = 1;
        for (int64_t i = before; i < end; i++)
            if (shape[i] < 1 || !ts_mul(physical[g], shape[i], &physical[g]) ||
                !ts_mul(total, shape[i], &total))
                return ts_error_set(err, TS_ERROR_INPUT,
                                    "the transformed shape does not fit in 64 bits, or is empty");
        before = end;
    }
    return true;
}

bool ts_index_map_physical_shape(ts_error *err, ts_arena *arena, const ts_index_map *map, const int64_t *dims,
                                 int64_t *physical) {
    int64_t shape[TS_LAYOUT_MAX_AXES], separators[TS_LAYOUT_MAX_AXES];
    for (int i = 0; i < map->separator_count; i++) separators[i] = map->separators[i];
    return ts_index_map_shape(err, arena, map, dims, shape) &&
           ts_index_flatten_shape(err, map->count, shape, map->separator_count, separators, physical);
}

bool ts_index_map_physical_index(ts_error *err, ts_arena *arena, const ts_index_map *map, const int64_t *dims,
                                 const int64_t *index, int64_t *physical) {
    int64_t shape[TS_LAYOUT_MAX_AXES], transformed[TS_LAYOUT_MAX_AXES];
    if (!ts_index_map_physical_shape(err, arena, map, dims, physical) ||
        !ts_index_map_shape(err, arena, map, dims, shape) ||
        !ts_index_map_apply(err, map, index, transformed))
        return false;
    for (int g = 0; g <= map->separator_count; g++) {
        physical[g] = 0;
        for (int i = group_begin(map, g); i < group_end(map, g); i++)
            physical[g] = physical[g] * shape[i] + transformed[i];
    }
    return true;
}

/* ---- Equivalence ---- */

/* Small and large, negative and positive, and around multiples of small numbers. */
static int64_t probe(uint64_t *seed) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    int64_t bits = (int64_t)(*seed >> 33), kind = bits % 4;
    return kind == 0   ? bits / 4 % 64
           : kind == 1 ? bits / 4 % 4096 - 2048
           : kind == 2 ? bits / 4
                       : -(bits / 4 % 100000);
}

bool ts_index_map_equivalent(const ts_index_map *a, const ts_index_map *b) {
    enum { PROBES = 4000 };
    int64_t index[TS_LAYOUT_MAX_DIMS];
    uint64_t seed = 1;
    if (a->rank != b->rank || a->count != b->count) return false;
    for (int i = 0; i < PROBES; i++) {
        for (int j = 0; j < a->rank; j++) index[j] = probe(&seed);
        for (int j = 0; j < a->count; j++) {
            int64_t x = 0, y = 0;
            bool has_x = ts_index_value(a->exprs[j], index, &x),
                 has_y = ts_index_value(b->exprs[j], index, &y);
            if (has_x != has_y || x != y) return false;
        }
    }
    return true;
}
