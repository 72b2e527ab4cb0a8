/* Evaluates reference expressions over doubles in row-major order: broadcasting, slices, and functions along
 * axes. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "reference_tree.h"
#include "tilesim/base/number.h"
#include "tilesim/base/text.h"
#include "tilesim/layout/convert.h"

enum { ELEMENT_LIMIT = 1 << 30 }; /* of one array: 8 GiB of doubles */

bool ts_reference_refuse(evaluator *in, const node *place, const char *format, ...) {
    char message[TS_ERROR_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return ts_error_at(in->err, TS_ERROR_INPUT, in->source, place->offset, "%s", message);
}

bool ts_reference_new(evaluator *in, const node *place, int rank, const int64_t *dims,
                      ts_reference_value *out) {
    int64_t count = 1;
    for (int i = 0; i < rank; i++) {
        if (!ts_mul(count, dims[i], &count) || count > ELEMENT_LIMIT)
            return ts_reference_refuse(in, place, "the result would have more than 2^30 elements");
    }
    if (rank > 0) memmove(out->dims, dims, (size_t)rank * sizeof *dims);
    out->rank = rank;
    out->count = (size_t)count;
    out->values = TS_NEW_ARRAY(in->arena, double, count);
    return true;
}

void ts_reference_step(int rank, const int64_t *dims, int64_t *index, int ways,
                       int64_t strides[][TS_HOST_RANK], int64_t *offsets) {
    for (int dim = rank - 1; dim >= 0; dim--) {
        bool wraps = ++index[dim] == dims[dim];
        for (int way = 0; way < ways; way++) offsets[way] += strides[way][dim] * (wraps ? 1 - dims[dim] : 1);
        if (!wraps) return;
        index[dim] = 0;
    }
}

void ts_reference_strides(const ts_reference_value *value, int rank, const int64_t *dims, int64_t *strides) {
    int64_t stride = 1;
    for (int i = 0; i < rank; i++) strides[i] = 0;
    for (int i = value->rank - 1, to = rank - 1; i >= 0; i--, to--) {
        strides[to] = value->dims[i] == 1 && dims[to] != 1 ? 0 : stride;
        stride *= value->dims[i];
    }
}

static void print_dims(const ts_reference_value *value, char *out, size_t bytes) {
    size_t at = (size_t)snprintf(out, bytes, "[");
    for (int i = 0; i < value->rank && at + 24 < bytes; i++)
        at += (size_t)snprintf(out + at, bytes - at, i ? ",%" PRId64 : "%" PRId64, value->dims[i]);
    snprintf(out + at, bytes - at, "]");
}

bool ts_reference_broadcast(evaluator *in, const node *place, const ts_reference_value *a,
                            const ts_reference_value *b, ts_reference_value *out) {
    int rank = a->rank > b->rank ? a->rank : b->rank;
    int64_t dims[TS_HOST_RANK];
    for (int i = 1; i <= rank; i++) {
        int64_t left = i <= a->rank ? a->dims[a->rank - i] : 1,
                right = i <= b->rank ? b->dims[b->rank - i] : 1;
        dims[rank - i] = left == 1 ? right : left;
        if (left == right || left == 1 || right == 1) continue;
        char first[128], second[128];
        print_dims(a, first, sizeof first);
        print_dims(b, second, sizeof second);
        return ts_reference_refuse(in, place, "shapes %s and %s do not broadcast", first, second);
    }
    return ts_reference_new(in, place, rank, dims, out);
}

static bool binary(evaluator *in, const node *tree, const ts_reference_value *arguments,
                   ts_reference_value *out) {
    const ts_reference_value *a = &arguments[0], *b = &arguments[1];
    if (!ts_reference_broadcast(in, tree, a, b, out)) return false;
    int64_t index[TS_HOST_RANK] = {0}, offsets[2] = {0}, strides[2][TS_HOST_RANK];
    ts_reference_strides(a, out->rank, out->dims, strides[0]);
    ts_reference_strides(b, out->rank, out->dims, strides[1]);
    for (size_t i = 0; i < out->count; i++) {
        out->values[i] = tree->function->binary(a->values[offsets[0]], b->values[offsets[1]]);
        ts_reference_step(out->rank, out->dims, index, 2, strides, offsets);
    }
    return true;
}

/* A dim of `value` from -rank to rank - 1. */
static bool pick_axis(evaluator *in, const node *place, const ts_reference_value *value, int64_t axis,
                      int *out) {
    if (axis < -value->rank || axis >= value->rank)
        return ts_reference_refuse(in, place, "axis %" PRId64 " of an array of %d dims", axis, value->rank);
    *out = (int)(axis < 0 ? axis + value->rank : axis);
    return true;
}

bool ts_reference_integer(evaluator *in, const node *tree, const char *what, int64_t *out) {
    ts_reference_value value;
    if (!ts_reference_node(in, tree, &value)) return false;
    if (value.rank != 0 || value.values[0] != rint(value.values[0]) ||
        fabs(value.values[0]) > 9007199254740992.0)
        return ts_reference_refuse(in, tree, "expected an integer as %s", what);
    *out = (int64_t)value.values[0];
    return true;
}

bool ts_reference_integers(evaluator *in, const node *call, int first, int64_t *list, int *count) {
    for (int i = first; i < call->count; i++) {
        const node *item = call->items[i];
        if (item->kind == NODE_TUPLE) {
            if (!ts_reference_integers(in, item, 0, list, count)) return false;
            continue;
        }
        if (*count == TS_HOST_RANK) return ts_reference_refuse(in, item, "more than %d dims", TS_HOST_RANK);
        if (!ts_reference_integer(in, item, "a dim", &list[(*count)++])) return false;
    }
    return true;
}

/* Which dims axis= names; all of them without it. */
static bool pick_axes(evaluator *in, const node *tree, const ts_reference_value *value, bool *chosen) {
    const node *axes = tree->keywords[KEYWORD_AXIS];
    int64_t list[TS_HOST_RANK];
    int count = 0, axis = 0;
    for (int i = 0; i < value->rank; i++) chosen[i] = !axes;
    if (!axes) return true;
    const node one = {.items = &axes, .count = 1};
    if (!ts_reference_integers(in, &one, 0, list, &count)) return false;
    for (int i = 0; i < count; i++) {
        if (!pick_axis(in, axes, value, list[i], &axis)) return false;
        if (chosen[axis]) return ts_reference_refuse(in, axes, "the same axis twice");
        chosen[axis] = true;
    }
    return true;
}

/* Dims that are kept, walked outside; dims that are reduced, walked inside into a line. */
typedef struct {
    int kept, reduced;
    int64_t kept_dims[TS_HOST_RANK], reduced_dims[TS_HOST_RANK];
    int64_t kept_strides[1][TS_HOST_RANK], reduced_strides[1][TS_HOST_RANK];
    size_t line; /* product of reduced_dims */
} split;

static split split_axes(const ts_reference_value *value, const bool *chosen) {
    split out = {.line = 1};
    int64_t strides[TS_HOST_RANK];
    ts_reference_strides(value, value->rank, value->dims, strides);
    for (int i = 0; i < value->rank; i++) {
        if (chosen[i]) {
            out.reduced_dims[out.reduced] = value->dims[i];
            out.reduced_strides[0][out.reduced++] = strides[i];
            out.line *= (size_t)value->dims[i];
        } else {
            out.kept_dims[out.kept] = value->dims[i];
            out.kept_strides[0][out.kept++] = strides[i];
        }
    }
    return out;
}

static bool keeps_dims(evaluator *in, const node *tree, bool *keep) {
    int64_t value = 0;
    const node *place = tree->keywords[KEYWORD_KEEPDIMS];
    if (place && !ts_reference_integer(in, place, "keepdims", &value)) return false;
    *keep = value != 0;
    return true;
}

static bool reduce(evaluator *in, const node *tree, const ts_reference_value *value,
                   ts_reference_value *out) {
    bool chosen[TS_HOST_RANK], keep;
    if (!pick_axes(in, tree, value, chosen) || !keeps_dims(in, tree, &keep)) return false;
    split parts = split_axes(value, chosen);
    int64_t dims[TS_HOST_RANK], outer[TS_HOST_RANK] = {0}, at[1] = {0};
    int rank = 0;
    for (int i = 0; i < value->rank; i++)
        if (!chosen[i] || keep) dims[rank++] = chosen[i] ? 1 : value->dims[i];
    if (!ts_reference_new(in, tree, rank, dims, out)) return false;
    double *line = TS_NEW_ARRAY(in->arena, double, parts.line);
    for (size_t i = 0; i < out->count; i++) {
        int64_t inner[TS_HOST_RANK] = {0}, offset[1] = {at[0]};
        for (size_t k = 0; k < parts.line; k++) {
            line[k] = value->values[offset[0]];
            ts_reference_step(parts.reduced, parts.reduced_dims, inner, 1, parts.reduced_strides, offset);
        }
        out->values[i] = tree->function->reduce(line, parts.line);
        ts_reference_step(parts.kept, parts.kept_dims, outer, 1, parts.kept_strides, at);
    }
    return true;
}

/* Along one axis, in place (an argument's values are never shared with a name's). */
static bool scan(evaluator *in, const node *tree, const ts_reference_value *value, ts_reference_value *out) {
    int64_t wanted = -1;
    int axis = 0;
    const node *place = tree->keywords[KEYWORD_AXIS];
    ts_reference_value eps = {.values = (double[]){0}};
    if (place && !ts_reference_integer(in, place, "an axis", &wanted)) return false;
    if (!pick_axis(in, place ? place : tree, value, wanted, &axis)) return false;
    place = tree->keywords[KEYWORD_EPS];
    if (place && !ts_reference_node(in, place, &eps)) return false;
    if (eps.rank != 0) return ts_reference_refuse(in, place, "expected a number as eps");
    size_t count = (size_t)value->dims[axis], stride = 1;
    for (int i = axis + 1; i < value->rank; i++) stride *= (size_t)value->dims[i];
    double *line = TS_NEW_ARRAY(in->arena, double, count);
    *out = *value;
    for (size_t begin = 0; begin < value->count; begin++) {
        if (begin / stride % count != 0) continue;
        for (size_t k = 0; k < count; k++) line[k] = out->values[begin + k * stride];
        tree->function->scan(line, count, eps.values[0]);
        for (size_t k = 0; k < count; k++) out->values[begin + k * stride] = line[k];
    }
    return true;
}

static bool call(evaluator *in, const node *tree, ts_reference_value *out) {
    const function *does = tree->function;
    ts_reference_value *arguments = TS_NEW_ARRAY(in->arena, ts_reference_value, tree->count);
    for (int i = 0; i < tree->count && i < does->arrays; i++)
        if (!ts_reference_node(in, tree->items[i], &arguments[i])) return false;
    if (does->whole) return does->whole(in, tree, arguments, out);
    if (does->binary && tree->count == 2) return binary(in, tree, arguments, out);
    if (does->reduce) return reduce(in, tree, arguments, out);
    if (does->scan) return scan(in, tree, arguments, out);
    *out = arguments[0];
    for (size_t i = 0; i < out->count; i++) out->values[i] = does->unary(out->values[i]);
    return true;
}

static bool array_value(evaluator *in, const node *tree, const ts_host_array *array,
                        ts_reference_value *out) {
    if (!ts_dtype_has_value(array->dtype))
        return ts_reference_refuse(in, tree, "'%.40s' holds %s, which has no real values", tree->name,
                                   ts_dtype_get(array->dtype)->name);
    if (!ts_reference_new(in, tree, array->rank, array->dims, out)) return false;
    size_t bytes = (size_t)ts_dtype_get(array->dtype)->stored_bits / 8;
    for (size_t i = 0; i < out->count; i++) {
        uint64_t bits = 0;
        memcpy(&bits, array->bytes + i * bytes, bytes);
        out->values[i] = ts_element_to_double(array->dtype, bits);
    }
    return true;
}

static const struct {
    const char *name;
    double value;
} constants[] = {{"inf", (double)INFINITY}, {"nan", (double)NAN}, {"pi", 3.14159265358979323846}};

static bool number_value(evaluator *in, const node *tree, double number, ts_reference_value *out) {
    if (!ts_reference_new(in, tree, 0, NULL, out)) return false;
    out->values[0] = number;
    return true;
}

static bool unknown_name(evaluator *in, const node *tree) {
    const char *near = NULL;
    if (in->name_count)
        near = ts_text_nearest(tree->name, &in->names[0].name, in->name_count, sizeof *in->names);
    return ts_reference_refuse(in, tree, "unknown name '%.40s'%s%s%s", tree->name,
                               near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static const ts_reference_name *find_name(const evaluator *in, const char *name) {
    for (size_t i = 0; i < in->name_count; i++)
        if (strcmp(in->names[i].name, name) == 0) return &in->names[i];
    return NULL;
}

static const double *find_constant(const char *name) {
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (strcmp(constants[i].name, name) == 0) return &constants[i].value;
    return NULL;
}

static bool is_expected(const evaluator *in, const char *name) {
    return in->has_expected && strcmp(name, "expected") == 0;
}

/* A copy: functions along an axis work in place. */
static bool expected_value(evaluator *in, const node *tree, ts_reference_value *out) {
    if (!ts_reference_new(in, tree, in->expected->rank, in->expected->dims, out)) return false;
    if (out->count > 0) memcpy(out->values, in->expected->values, out->count * sizeof *out->values);
    return true;
}

static bool name_value(evaluator *in, const node *tree, ts_reference_value *out) {
    if (is_expected(in, tree->name)) return expected_value(in, tree, out);
    const ts_reference_name *found = find_name(in, tree->name);
    const double *constant = find_constant(tree->name);
    if (found && found->array) return array_value(in, tree, found->array, out);
    if (found || constant) return number_value(in, tree, found ? found->number : *constant, out);
    return unknown_name(in, tree);
}

/* Arguments that are no values, such as the type of a cast, are left to the evaluation. */
static bool resolve(evaluator *in, const node *tree) {
    if (tree->kind == NODE_NAME)
        return is_expected(in, tree->name) || find_name(in, tree->name) || find_constant(tree->name) ||
               unknown_name(in, tree);
    int count = tree->kind == NODE_CALL && tree->function->arrays < tree->count ? tree->function->arrays
                                                                                : tree->count;
    for (int i = 0; i < count; i++)
        if (tree->items[i] && !resolve(in, tree->items[i])) return false;
    return true;
}

bool ts_check_resolve(ts_error *err, const ts_check *check, const ts_reference_name *names, size_t count) {
    evaluator left = {.err = err, .source = &check->actual->source, .names = names, .name_count = count};
    evaluator right = {.err = err, .source = &check->expected->source, .names = names, .name_count = count};
    evaluator bound = right;
    bound.has_expected = true;
    return resolve(&left, check->actual->root) && resolve(&right, check->expected->root) &&
           (!check->err || resolve(&bound, check->err->root));
}

/* One item of an index: where the dim begins, how far it steps, and how many it keeps (-1: the dim is gone).
 */
typedef struct {
    int64_t start, step, count;
} cut;

static bool cut_integer(evaluator *in, const node *item, int64_t dim, int64_t *out) {
    int64_t at;
    if (!ts_reference_integer(in, item, "an index", &at)) return false;
    if (at < -dim || at >= dim)
        return ts_reference_refuse(in, item, "index %" PRId64 " of a dim of %" PRId64, at, dim);
    *out = at < 0 ? at + dim : at;
    return true;
}

static bool cut_slice(evaluator *in, const node *item, int64_t dim, cut *out) {
    int64_t bounds[3] = {0, dim, 1};
    for (int i = 0; i < 3; i++) {
        if (!item->items[i]) continue;
        if (!ts_reference_integer(in, item->items[i], i < 2 ? "a bound" : "a step", &bounds[i])) return false;
        if (i < 2 && bounds[i] < 0) bounds[i] += dim;
    }
    if (bounds[2] < 1)
        return ts_reference_refuse(in, item, "a step of %" PRId64 ", expected 1 or more", bounds[2]);
    if (bounds[0] < 0 || bounds[1] < bounds[0] || bounds[1] > dim)
        return ts_reference_refuse(in, item, "slice %" PRId64 ":%" PRId64 " of a dim of %" PRId64, bounds[0],
                                   bounds[1], dim);
    *out = (cut){bounds[0], bounds[2], ts_ceil_div(bounds[1] - bounds[0], bounds[2])};
    return true;
}

static bool cut_dim(evaluator *in, const node *item, int64_t dim, cut *out) {
    if (item->kind == NODE_SLICE) return cut_slice(in, item, dim, out);
    *out = (cut){.step = 1, .count = -1};
    return cut_integer(in, item, dim, &out->start);
}

static bool index_value(evaluator *in, const node *tree, ts_reference_value *out) {
    ts_reference_value base;
    if (!ts_reference_node(in, tree->items[0], &base)) return false;
    if (tree->count - 1 > base.rank)
        return ts_reference_refuse(in, tree, "%d indices of an array of %d dims", tree->count - 1, base.rank);
    int64_t dims[TS_HOST_RANK], full[TS_HOST_RANK], strides[1][TS_HOST_RANK], index[TS_HOST_RANK] = {0},
                                                                              at[1] = {0};
    ts_reference_strides(&base, base.rank, base.dims, full);
    int rank = 0;
    for (int i = 0; i < base.rank; i++) {
        cut part = {0, 1, base.dims[i]};
        if (i + 1 < tree->count && !cut_dim(in, tree->items[i + 1], base.dims[i], &part)) return false;
        at[0] += part.start * full[i];
        if (part.count < 0) continue;
        strides[0][rank] = part.step * full[i];
        dims[rank++] = part.count;
    }
    if (!ts_reference_new(in, tree, rank, dims, out)) return false;
    for (size_t i = 0; i < out->count; i++) {
        out->values[i] = base.values[at[0]];
        ts_reference_step(rank, dims, index, 1, strides, at);
    }
    return true;
}

bool ts_reference_node(evaluator *in, const node *tree, ts_reference_value *out) {
    switch (tree->kind) {
    case NODE_NUMBER:
        return number_value(in, tree, tree->number, out);
    case NODE_NAME:
        return name_value(in, tree, out);
    case NODE_CALL:
        return call(in, tree, out);
    case NODE_INDEX:
        return index_value(in, tree, out);
    case NODE_SLICE:
    case NODE_TUPLE:
        break;
    }
    return ts_reference_refuse(in, tree, "a list is not a value, expected one expression");
}

bool ts_reference_evaluate(ts_error *err, ts_arena *arena, const ts_reference *expression,
                           const ts_reference_name *names, size_t count, ts_reference_value *value) {
    evaluator in = {err, arena, &expression->source, names, count, false, NULL};
    return ts_reference_node(&in, expression->root, value);
}

bool ts_check_bounds(ts_error *err, ts_arena *arena, const ts_check *check, const ts_reference_name *names,
                     size_t count, const ts_reference_value *expected, ts_tolerance *tolerance) {
    *tolerance = check->tolerance;
    if (!check->err) return true;
    ts_reference_value *value = TS_NEW(arena, ts_reference_value);
    evaluator in = {err, arena, &check->err->source, names, count, true, expected};
    tolerance->err = value;
    return ts_reference_node(&in, check->err->root, value);
}
