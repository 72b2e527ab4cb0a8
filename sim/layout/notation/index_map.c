/* Index maps: values, ranges and shapes. */
#include "layout/notation/index_map.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "index_map_private.h"
#include "base/number.h"

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

typedef enum { RIGHT, LEFT } direction;

static bool shift(int64_t a, int64_t bits, direction way, int64_t *out) {
    if (bits < 0 || bits > 62) return false;
    return way == LEFT ? ts_mul(a, INT64_C(1) << bits, out) : divide(a, INT64_C(1) << bits, out);
}

static bool put(int64_t value, int64_t *out) { return *out = value, true; }

/* Of those whose value always fits. */
static bool combine_fitting(ts_index_kind kind, int64_t a, int64_t b, int64_t *out) {
    switch (kind) {
    case TS_INDEX_OR:
        return put(a | b, out);
    case TS_INDEX_XOR:
        return put(a ^ b, out);
    case TS_INDEX_AND:
        return put(a & b, out);
    case TS_INDEX_MIN:
        return put(a < b ? a : b, out);
    case TS_INDEX_MAX:
        return put(a > b ? a : b, out);
    case TS_INDEX_LESS:
        return put(a < b, out);
    case TS_INDEX_AT_LEAST:
        return put(a >= b, out);
    case TS_INDEX_EITHER:
        return put(a || b, out);
    default:
        return false;
    }
}

static bool combine(ts_index_kind kind, int64_t a, int64_t b, int64_t *out) {
    switch (kind) {
    case TS_INDEX_NEGATE:
        return ts_mul(a, -1, out);
    case TS_INDEX_SHIFT_LEFT:
        return shift(a, b, LEFT, out);
    case TS_INDEX_SHIFT_RIGHT:
        return shift(a, b, RIGHT, out);
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
    default:
        return combine_fitting(kind, a, b, out);
    }
}

/* The operands of a step, the top of `stack`, are replaced by its value. */
static bool push_value(const ts_index_step *step, const int64_t *index, int64_t *stack, int *top) {
    if (step->kind == TS_INDEX_CONSTANT || step->kind == TS_INDEX_VARIABLE) {
        stack[(*top)++] = step->kind == TS_INDEX_CONSTANT ? step->value : index[step->value];
        return true;
    }
    int64_t b = step->kind == TS_INDEX_NEGATE ? 0 : stack[--*top];
    return combine(step->kind, stack[*top - 1], b, &stack[*top - 1]);
}

bool ts_index_value(const ts_index_expr *expr, const int64_t *index, int64_t *value) {
    int64_t stack[TS_INDEX_DEPTH];
    int top = 0;
    assert(expr->depth <= TS_INDEX_DEPTH);
    for (int i = 0; i < expr->count; i++)
        if (!push_value(&expr->steps[i], index, stack, &top)) return false;
    *value = stack[0];
    return true;
}

/* By a power of two: a shift, or a mask. */
static bool by_power(ts_index_kind kind, int64_t by, int count, int64_t *values) {
    if (by <= 0 || (by & (by - 1)) != 0 || (kind != TS_INDEX_DIVIDE && kind != TS_INDEX_MODULO)) return false;
    int shift = __builtin_ctzll((uint64_t)by);
    for (int k = 0; k < count; k++)
        values[k] = kind == TS_INDEX_DIVIDE ? values[k] >> shift : values[k] & (by - 1);
    return true;
}

#define EACH(operation)                                                                                      \
    for (int k = 0; k < count; k++) values[k] = values[k] operation b[k];                                    \
    return

/* Sums and products fit: the range of every part was looked at when the map was made. */
static void combine_values(ts_index_kind kind, int count, int64_t *values, const int64_t *b) {
    switch (kind) {
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
            bool fits = combine(kind, values[k], kind == TS_INDEX_NEGATE ? 0 : b[k], &values[k]);
            assert(fits);
        }
    }
}

/* Of `count` indices from number `from`; `stack` has room for `count` values of every operand that waits. */
static void block_values(const ts_index_expr *expr, int64_t (*index)[TS_MAP_BLOCK], int from, int count,
                         int64_t *stack) {
    int64_t *top = stack;
    for (int i = 0; i < expr->count; i++) {
        const ts_index_step *step = &expr->steps[i];
        bool last = i + 1 == expr->count;
        if (step->kind == TS_INDEX_VARIABLE) {
            memcpy(top, &index[step->value][from], (size_t)count * sizeof *top);
            top += count;
        } else if (step->kind == TS_INDEX_CONSTANT) {
            if (!last && by_power(step[1].kind, step->value, count, top - count)) {
                i++;
                continue;
            }
            for (int k = 0; k < count; k++) top[k] = step->value;
            top += count;
        } else {
            if (step->kind != TS_INDEX_NEGATE) top -= count;
            combine_values(step->kind, count, top - count, top);
        }
    }
}

void ts_index_values(const ts_index_expr *expr, int64_t (*index)[TS_MAP_BLOCK], int count, int64_t *values) {
    enum { ROOM = 32 * TS_MAP_BLOCK };
    int64_t stack[ROOM];
    int most = ROOM / expr->depth;
    assert(expr->depth <= TS_INDEX_DEPTH);
    for (int from = 0, part; from < count; from += part) {
        part = count - from < most ? count - from : most;
        block_values(expr, index, from, part, stack);
        memcpy(values + from, stack, (size_t)part * sizeof *values);
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

static bool combine_ranges(ts_index_kind kind, ts_index_range a, ts_index_range b, ts_index_range *out) {
    switch (kind) {
    case TS_INDEX_OR:
    case TS_INDEX_XOR:
    case TS_INDEX_AND:
        return bits_range(kind, a, b, out);
    case TS_INDEX_DIVIDE:
    case TS_INDEX_MODULO:
        return divide_range(kind, a, b, out);
    default:
        return corners(kind, a, b, out);
    }
}

bool ts_index_range_of(const ts_index_expr *expr, const int64_t *dims, ts_index_range *range) {
    ts_index_range stack[TS_INDEX_DEPTH];
    int top = 0;
    assert(expr->depth <= TS_INDEX_DEPTH);
    for (int i = 0; i < expr->count; i++) {
        const ts_index_step *step = &expr->steps[i];
        if (step->kind == TS_INDEX_CONSTANT) {
            stack[top++] = (ts_index_range){step->value, step->value};
        } else if (step->kind == TS_INDEX_VARIABLE) {
            stack[top++] = (ts_index_range){0, dims[step->value] - 1};
        } else {
            ts_index_range b = {0, 0};
            if (step->kind != TS_INDEX_NEGATE) b = stack[--top];
            if (!combine_ranges(step->kind, stack[top - 1], b, &stack[top - 1])) return false;
        }
    }
    *range = stack[0];
    return true;
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

static bool no_range(ts_error *err, int i) {
    return ts_error_set(err, TS_ERROR_INPUT, "transformed index %d has no range that fits in 64 bits", i);
}

bool ts_index_sum_is_compact(const ts_index_sum *sum, int64_t *extent) {
    const ts_index_term *last = NULL;
    int64_t next = 0;
    for (int used = 0;; used++) {
        const ts_index_term *least = NULL;
        for (int i = 0; i < sum->count; i++) {
            const ts_index_term *term = &sum->terms[i];
            if (term->scale <= 0) return false;
            if (term->extent == 1 || (last && term->scale <= last->scale)) continue;
            if (least && term->scale == least->scale) return false;
            if (!least || term->scale < least->scale) least = term;
        }
        if (!least) break;
        if (used > 0 && least->scale != next) return false;
        if (!ts_mul(least->scale, least->extent, &next)) return false;
        last = least;
    }
    *extent = last ? next : 1;
    return true;
}

static bool least_of(const ts_index_sum *sum, int64_t *least) {
    *least = sum->constant;
    for (int i = 0; i < sum->count; i++) {
        int64_t own;
        if (!ts_mul(sum->terms[i].low, sum->terms[i].scale, &own) || !ts_add(*least, own, least))
            return false;
    }
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
        *found = ts_index_sum_is_compact(&digits->sums[i], &shape[i]);
    }
    for (int i = 0; i < map->count && *found; i++) {
        int64_t least;
        if (!least_of(&digits->sums[i], &least)) return no_range(err, i);
        if (least != 0) return begins_late(err, i, least);
    }
    return true;
}

bool ts_index_map_shape(ts_error *err, ts_arena *arena, const ts_index_map *map, const int64_t *dims,
                        int64_t *shape) {
    bool found;
    if (!check_dims(err, map, dims) || !sums_of_digits(err, arena, map, dims, &found, shape)) return false;
    for (int i = 0; i < map->count && !found; i++) {
        ts_index_range range;
        if (!ts_index_range_of(map->exprs[i], dims, &range) || range.high == INT64_MAX)
            return no_range(err, i);
        if (range.low != 0) return begins_late(err, i, range.low);
        shape[i] = range.high + 1;
    }
    return true;
}

static bool find_ranges(ts_error *err, ts_arena *arena, const ts_index_map *map, const int64_t *dims,
                        ts_index_ranges *out) {
    const ts_index_expr **exprs = TS_NEW_ARRAY(arena, const ts_index_expr *, map->count);
    out->from_zero.exprs = exprs;
    for (int i = 0; i < map->count; i++) {
        ts_index_range range;
        if (!ts_index_range_of(map->exprs[i], dims, &range) ||
            __builtin_sub_overflow(range.high, range.low, &out->extent[i]) ||
            !ts_add(out->extent[i], 1, &out->extent[i]))
            return no_range(err, i);
        out->low[i] = range.low;
        exprs[i] = map->exprs[i];
        if (range.low != 0)
            exprs[i] = ts_index_node(arena, TS_INDEX_SUBTRACT, exprs[i], ts_index_constant(arena, range.low));
    }
    return true;
}

bool ts_index_map_ranges(ts_error *err, ts_arena *arena, const ts_index_map *map, const int64_t *dims,
                         ts_index_ranges *out) {
    int64_t shape[TS_LAYOUT_MAX_AXES], end;
    *out = (ts_index_ranges){.from_zero = *map};
    if (!check_dims(err, map, dims)) return false;
    if (ts_index_map_shape(NULL, arena, map, dims, out->extent)) return true;
    if (!find_ranges(err, arena, map, dims, out)) return false;
    if (ts_index_map_shape(NULL, arena, &out->from_zero, dims, shape))
        memcpy(out->extent, shape, (size_t)map->count * sizeof *shape);
    for (int i = 0; i < map->count; i++)
        if (!ts_add(out->low[i], out->extent[i], &end)) return no_range(err, i);
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

static uint64_t next_random(uint64_t *seed) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed;
}

/* Small and large, negative and positive, and around multiples of small numbers. */
static int64_t probe(uint64_t *seed) {
    int64_t bits = (int64_t)(next_random(seed) >> 33), kind = bits % 4;
    return kind == 0   ? bits / 4 % 64
           : kind == 1 ? bits / 4 % 4096 - 2048
           : kind == 2 ? bits / 4
                       : -(bits / 4 % 100000);
}

/* Of any number of bits. */
static int64_t wide_probe(uint64_t *seed) {
    uint64_t bits = next_random(seed);
    int64_t value = (int64_t)(next_random(seed) >> 1 >> (bits >> 33) % 63);
    return bits >> 32 & 1 ? -value : value;
}

static bool equal_at(const ts_index_map *a, const ts_index_map *b, const int64_t *index) {
    for (int j = 0; j < a->count; j++) {
        int64_t x = 0, y = 0;
        bool has_x = ts_index_value(a->exprs[j], index, &x), has_y = ts_index_value(b->exprs[j], index, &y);
        if (has_x != has_y || x != y) return false;
    }
    return true;
}

/* Does the map have a value in 64 bits there? Equal maps may leave them at different places. */
static bool has_value_at(const ts_index_map *map, const int64_t *index) {
    int64_t value;
    for (int j = 0; j < map->count; j++)
        if (!ts_index_value(map->exprs[j], index, &value)) return false;
    return true;
}

bool ts_index_map_equivalent(const ts_index_map *a, const ts_index_map *b) {
    enum { PROBES = 4000 };
    int64_t index[TS_LAYOUT_MAX_DIMS], wide[TS_LAYOUT_MAX_DIMS];
    uint64_t seed = 1, wide_seed = 1;
    if (a->rank != b->rank || a->count != b->count) return false;
    for (int i = 0; i < PROBES; i++) {
        for (int j = 0; j < a->rank; j++) index[j] = probe(&seed);
        for (int j = 0; j < a->rank; j++) wide[j] = wide_probe(&wide_seed);
        bool compared = has_value_at(a, wide) && has_value_at(b, wide);
        if (!equal_at(a, b, index) || (compared && !equal_at(a, b, wide))) return false;
    }
    return true;
}
