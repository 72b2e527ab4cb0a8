/* Functions of reference expressions that are neither element by element nor along an axis. */
#include <inttypes.h>
#include <string.h>

#include "reference_tree.h"
#include "tilesim/base/number.h"

bool ts_reference_where(evaluator *in, const node *tree, ts_reference_value *arguments,
                        ts_reference_value *out) {
    ts_reference_value shape;
    if (!ts_reference_broadcast(in, tree, &arguments[1], &arguments[2], &shape) ||
        !ts_reference_broadcast(in, tree, &arguments[0], &shape, out))
        return false;
    int64_t index[TS_HOST_RANK] = {0}, at[3] = {0}, strides[3][TS_HOST_RANK];
    for (int i = 0; i < 3; i++) ts_reference_strides(&arguments[i], out->rank, out->dims, strides[i]);
    for (size_t i = 0; i < out->count; i++) {
        bool first = arguments[0].values[at[0]] != 0;
        out->values[i] = first ? arguments[1].values[at[1]] : arguments[2].values[at[2]];
        ts_reference_step(out->rank, out->dims, index, 3, strides, at);
    }
    return true;
}

/* One matrix product; `out` is zero. The inner loop runs over columns. */
static void multiply(const double *a, const double *b, double *out, int64_t rows, int64_t inner,
                     int64_t columns) {
    for (int64_t row = 0; row < rows; row++)
        for (int64_t k = 0; k < inner; k++)
            for (int64_t column = 0; column < columns; column++)
                out[row * columns + column] += a[row * inner + k] * b[k * columns + column];
}

/* The dims in front of the last two, as a shape of their own. */
static ts_reference_value batch_of(const ts_reference_value *value) {
    ts_reference_value batch = *value;
    batch.rank -= 2;
    return batch;
}

bool ts_reference_matmul(evaluator *in, const node *tree, ts_reference_value *arguments,
                         ts_reference_value *out) {
    const ts_reference_value *a = &arguments[0], *b = &arguments[1];
    if (a->rank < 2 || b->rank < 2)
        return ts_reference_refuse(in, tree, "'matmul' takes arrays of 2 dims or more");
    int64_t rows = a->dims[a->rank - 2], inner = a->dims[a->rank - 1], columns = b->dims[b->rank - 1];
    if (b->dims[b->rank - 2] != inner)
        return ts_reference_refuse(in, tree,
                                   "'matmul' of [%" PRId64 ",%" PRId64 "] and [%" PRId64 ",%" PRId64
                                   "]: the inner dims differ",
                                   rows, inner, b->dims[b->rank - 2], columns);
    ts_reference_value batch, left = batch_of(a), right = batch_of(b);
    if (!ts_reference_broadcast(in, tree, &left, &right, &batch)) return false;
    int64_t index[TS_HOST_RANK] = {0}, at[2] = {0}, strides[2][TS_HOST_RANK], dims[TS_HOST_RANK];
    ts_reference_strides(&left, batch.rank, batch.dims, strides[0]);
    ts_reference_strides(&right, batch.rank, batch.dims, strides[1]);
    memcpy(dims, batch.dims, sizeof dims);
    dims[batch.rank] = rows;
    dims[batch.rank + 1] = columns;
    if (!ts_reference_new(in, tree, batch.rank + 2, dims, out)) return false;
    for (size_t i = 0; i < batch.count; i++) {
        multiply(a->values + at[0] * rows * inner, b->values + at[1] * inner * columns,
                 out->values + (int64_t)i * rows * columns, rows, inner, columns);
        ts_reference_step(batch.rank, batch.dims, index, 2, strides, at);
    }
    return true;
}

/* The order of dims that a transpose asks for; reversed where it names none. */
static bool read_order(evaluator *in, const node *tree, int rank, int64_t *order) {
    int count = 0;
    bool seen[TS_HOST_RANK] = {false};
    if (!ts_reference_integers(in, tree, 1, order, &count)) return false;
    for (int i = 0; tree->count == 1 && i < rank; i++) order[count++] = rank - 1 - i;
    bool good = count == rank;
    for (int i = 0; good && i < rank; i++) {
        good = order[i] >= 0 && order[i] < rank && !seen[order[i]];
        if (good) seen[order[i]] = true;
    }
    return good ||
           ts_reference_refuse(in, tree, "'transpose' of %d dims takes each of 0 to %d once", rank, rank - 1);
}

bool ts_reference_transpose(evaluator *in, const node *tree, ts_reference_value *arguments,
                            ts_reference_value *out) {
    const ts_reference_value *value = &arguments[0];
    int64_t order[TS_HOST_RANK], full[TS_HOST_RANK], dims[TS_HOST_RANK], strides[1][TS_HOST_RANK];
    int64_t index[TS_HOST_RANK] = {0}, at[1] = {0};
    if (!read_order(in, tree, value->rank, order)) return false;
    ts_reference_strides(value, value->rank, value->dims, full);
    for (int i = 0; i < value->rank; i++) {
        dims[i] = value->dims[order[i]];
        strides[0][i] = full[order[i]];
    }
    if (!ts_reference_new(in, tree, value->rank, dims, out)) return false;
    for (size_t i = 0; i < out->count; i++) {
        out->values[i] = value->values[at[0]];
        ts_reference_step(out->rank, out->dims, index, 1, strides, at);
    }
    return true;
}

bool ts_reference_reshape(evaluator *in, const node *tree, ts_reference_value *arguments,
                          ts_reference_value *out) {
    int64_t dims[TS_HOST_RANK], count = 1;
    int rank = 0;
    if (!ts_reference_integers(in, tree, 1, dims, &rank)) return false;
    bool fits = true;
    for (int i = 0; i < rank; i++) fits = fits && dims[i] >= 0 && ts_mul(count, dims[i], &count);
    if (!fits || (size_t)count != arguments[0].count)
        return ts_reference_refuse(in, tree, "'reshape' of %zu elements to dims that hold a different number",
                                   arguments[0].count);
    *out = arguments[0];
    out->rank = rank;
    memcpy(out->dims, dims, sizeof dims);
    return true;
}

bool ts_reference_iota(evaluator *in, const node *tree, ts_reference_value *arguments,
                       ts_reference_value *out) {
    (void)arguments;
    int64_t dims[TS_HOST_RANK], axis = -1, stride = 1;
    int rank = 0;
    const node *place = tree->keywords[KEYWORD_AXIS];
    if (!ts_reference_integers(in, tree, 0, dims, &rank)) return false;
    if (place && !ts_reference_integer(in, place, "an axis", &axis)) return false;
    if (axis < -rank || axis >= rank)
        return ts_reference_refuse(in, place ? place : tree, "axis %" PRId64 " of an array of %d dims", axis,
                                   rank);
    if (axis < 0) axis += rank;
    for (int i = 0; i < rank; i++)
        if (dims[i] < 0)
            return ts_reference_refuse(in, tree, "a dim of %" PRId64 ", expected 0 or more", dims[i]);
    if (!ts_reference_new(in, tree, rank, dims, out)) return false;
    for (int i = (int)axis + 1; i < rank; i++) stride *= dims[i];
    for (size_t i = 0; i < out->count; i++) out->values[i] = (double)((int64_t)i / stride % dims[axis]);
    return true;
}

bool ts_reference_cast(evaluator *in, const node *tree, ts_reference_value *arguments,
                       ts_reference_value *out) {
    const node *name = tree->items[1];
    const char *text = name->kind == NODE_NAME ? name->name : "";
    ts_dtype dtype;
    if (!ts_dtype_find(text, strlen(text), &dtype) || ts_dtype_get(dtype)->class == TS_CLASS_COMPLEX ||
        ts_dtype_get(dtype)->class == TS_CLASS_NO_DATA) {
        const char *near = *text ? ts_dtype_nearest(text, strlen(text)) : NULL;
        return ts_reference_refuse(in, name, "expected an element type such as bf16%s%s%s",
                                   near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    *out = arguments[0];
    ts_reference_type type = ts_reference_describe(dtype);
    for (size_t i = 0; i < out->count; i++) out->values[i] = ts_reference_round(&type, out->values[i]);
    return true;
}

/* An index of `tree`'s second argument that its first has along an axis of `extent`. */
static bool index_at(evaluator *in, const node *tree, double value, int64_t extent, int64_t *out) {
    *out = value >= 0 && value < (double)extent ? (int64_t)value : -1;
    return (*out >= 0 && (double)*out == value) ||
           ts_reference_refuse(in, tree->items[1],
                               "found the index %.9g, expected an integer from 0 to %" PRId64, value,
                               extent - 1);
}

bool ts_reference_take(evaluator *in, const node *tree, ts_reference_value *arguments,
                       ts_reference_value *out) {
    const ts_reference_value *value = &arguments[0], *list = &arguments[1];
    const node *place = tree->keywords[KEYWORD_AXIS];
    int64_t axis = 0, dims[2 * TS_HOST_RANK], outer = 1, inner = 1;
    if (place && !ts_reference_integer(in, place, "an axis", &axis)) return false;
    axis += axis < 0 ? value->rank : 0;
    if (axis < 0 || axis >= value->rank)
        return ts_reference_refuse(in, place ? place : tree, "'take' of an array of %d dims", value->rank);
    int rank = value->rank - 1 + list->rank;
    if (rank > TS_HOST_RANK) return ts_reference_refuse(in, tree, "more than %d dims", TS_HOST_RANK);
    for (int i = 0; i < rank; i++) {
        bool in_list = i >= axis && i < axis + list->rank;
        dims[i] = in_list ? list->dims[i - axis] : value->dims[i < axis ? i : i - list->rank + 1];
        outer *= i < axis ? dims[i] : 1;
        inner *= i >= axis + list->rank ? dims[i] : 1;
    }
    if (!ts_reference_new(in, tree, rank, dims, out)) return false;
    int64_t extent = value->dims[axis], count = (int64_t)list->count, from;
    for (int64_t i = 0; i < outer * count; i++) {
        if (!index_at(in, tree, list->values[i % count], extent, &from)) return false;
        memcpy(out->values + i * inner, value->values + (i / count * extent + from) * inner,
               (size_t)inner * sizeof *out->values);
    }
    return true;
}

bool ts_reference_bincount(evaluator *in, const node *tree, ts_reference_value *arguments,
                           ts_reference_value *out) {
    int64_t bins, bin;
    if (!ts_reference_integer(in, tree->items[1], "the number of bins", &bins)) return false;
    if (bins < 1) return ts_reference_refuse(in, tree->items[1], "expected 1 bin or more");
    if (!ts_reference_new(in, tree, 1, &bins, out)) return false;
    for (size_t i = 0; i < arguments[0].count; i++) {
        double value = arguments[0].values[i];
        bin = value >= 0 && value < (double)bins ? (int64_t)value : -1;
        if (bin >= 0 && (double)bin == value) out->values[bin]++;
    }
    return true;
}

/* One image: y[h,w,k] = sum of x[h + r - R/2, w + s - S/2, c] * f[r,s,c,k], x being 0 outside. */
static void convolve(const double *x, const int64_t *size, const double *f, const int64_t *window,
                     double *y) {
    int64_t height = size[0], width = size[1], depth = window[2], outputs = window[3];
    for (int64_t i = 0; i < height * width * window[0] * window[1]; i++) {
        int64_t tap = i % (window[0] * window[1]), at = i / (window[0] * window[1]);
        int64_t h = at / width + tap / window[1] - window[0] / 2;
        int64_t w = at % width + tap % window[1] - window[1] / 2;
        if (h < 0 || h >= height || w < 0 || w >= width) continue;
        multiply(x + (h * width + w) * depth, f + tap * depth * outputs, y + at * outputs, 1, depth, outputs);
    }
}

bool ts_reference_conv(evaluator *in, const node *tree, ts_reference_value *arguments,
                       ts_reference_value *out) {
    const ts_reference_value *x = &arguments[0], *f = &arguments[1];
    if (x->rank != 4 || f->rank != 4 || x->dims[3] != f->dims[2])
        return ts_reference_refuse(in, tree, "'conv' takes [N,H,W,C] and [R,S,C,K]");
    int64_t dims[4] = {x->dims[0], x->dims[1], x->dims[2], f->dims[3]};
    if (!ts_reference_new(in, tree, 4, dims, out)) return false;
    int64_t image = dims[1] * dims[2];
    for (int64_t n = 0; n < dims[0]; n++)
        convolve(x->values + n * image * x->dims[3], &dims[1], f->values, f->dims,
                 out->values + n * image * dims[3]);
    return true;
}
