/* Functions of reference expressions that are neither element by element nor along an axis. */
#include <inttypes.h>
#include <string.h>

#include "reference_loops.h"
#include "reference_stream.h"
#include "base/number.h"

/* An axis= that defaults to `otherwise`. */
static bool read_axis(evaluator *in, const node *tree, int64_t otherwise, int64_t *axis) {
    const node *location = tree->keywords[KEYWORD_AXIS];
    *axis = otherwise;
    return !location || ts_reference_integer(in, location, "an axis", axis);
}

static double *new_block(evaluator *in) { return ts_reference_room(in, REFERENCE_BLOCK); }

/* ---- where ---- */

enum { CHUNK = 64 /* elements: a shorter range is not worth a call */, UNKNOWN = CHUNK + 1 };

typedef struct {
    double *condition, *otherwise;
    uint8_t set[REFERENCE_BLOCK / CHUNK]; /* in how many elements of each chunk the condition holds */
    uint8_t *known;                       /* the same of a condition that is held, and seen again; or NULL */
} choice;

/* The next range of whole chunks, from `begin` on, all of which have elements where the condition holds, or
 * does not. */
static size_t find_range(const uint8_t *set, bool holds, size_t count, size_t *begin) {
    size_t end, some;
    bool found = false;
    for (end = *begin; end < count; end += some) {
        some = count - end < CHUNK ? count - end : CHUNK;
        bool any = (holds ? set[end / CHUNK] : some - set[end / CHUNK]) > 0;
        if (found && !any) return end;
        if (any && !found) *begin = end;
        found = any || found;
    }
    if (!found) *begin = count;
    return end;
}

/* Reads only the chunks in which this side is chosen; all where reading may fail. */
static bool read_side(evaluator *in, stream *self, int side, int64_t begin, size_t count, double *out) {
    const choice *blocks = self->state;
    stream *from = self->arguments[1 + side];
    if (in->refuses) return from->read(in, from, begin, count, out);
    for (size_t first = 0, end; first < count; first = end) {
        end = find_range(blocks->set, side == 0, count, &first);
        if (first < end && !from->read(in, from, begin + (int64_t)first, end - first, out + first))
            return false;
    }
    return true;
}

/* In so many elements of a chunk the condition holds; `at` is where a held one lies, or -1. */
static uint8_t count_chunk(const choice *blocks, const double *condition, int64_t at, size_t some) {
    bool again = at >= 0 && at % CHUNK == 0 && some == CHUNK;
    if (again && blocks->known[at / CHUNK] != UNKNOWN) return blocks->known[at / CHUNK];
    uint8_t set = (uint8_t)ts_reference_loops_best()->count_set(condition, some);
    if (again) blocks->known[at / CHUNK] = set;
    return set;
}

/* Reading a side may take the place of a condition that is not cheap. */
static const double *read_condition(evaluator *in, stream *self, int64_t begin, size_t count) {
    choice *blocks = self->state;
    stream *from = self->arguments[0];
    const double *condition = blocks->condition;
    if (from->cheap)
        condition = ts_stream_look(in, from, begin, count, blocks->condition);
    else if (!from->read(in, from, begin, count, blocks->condition))
        condition = NULL;
    int64_t held = blocks->known ? ts_stream_find_held(from, begin, count) : -1;
    for (size_t at = 0; condition && at < count; at += CHUNK) {
        size_t some = count - at < CHUNK ? count - at : CHUNK;
        blocks->set[at / CHUNK] =
            count_chunk(blocks, condition + at, held < 0 ? -1 : held + (int64_t)at, some);
    }
    return condition;
}

/* Chunks in which all is chosen are in place; the others are taken, or mixed. */
static void take_otherwise(const choice *blocks, const double *condition, size_t count, double *out) {
    for (size_t at = 0; at < count; at += CHUNK) {
        size_t some = count - at < CHUNK ? count - at : CHUNK, set = blocks->set[at / CHUNK];
        if (set == 0)
            memcpy(out + at, blocks->otherwise + at, some * sizeof *out);
        else if (set < some)
            ts_reference_loops_best()->choose(condition + at, blocks->otherwise + at, out + at, some);
    }
}

static bool read_where(evaluator *in, stream *self, int64_t begin, size_t count, double *out) {
    const choice *blocks = self->state;
    const double *condition = read_condition(in, self, begin, count);
    if (!condition || !read_side(in, self, 0, begin, count, out) ||
        !read_side(in, self, 1, begin, count, blocks->otherwise))
        return false;
    take_otherwise(blocks, condition, count, out);
    return true;
}

stream *ts_reference_where(evaluator *in, const node *tree, stream **arguments) {
    walk shape;
    if (!ts_stream_common(in, tree, arguments[1], arguments[2], &shape)) return NULL;
    stream *sides = ts_stream_new(in, tree, shape.rank, shape.dims);
    if (!sides || !ts_stream_common(in, tree, arguments[0], sides, &shape)) return NULL;
    stream *made = ts_stream_elements(in, tree, &shape, arguments, 3);
    choice *blocks = TS_NEW(in->arena, choice);
    if (!made) return NULL;
    *blocks = (choice){.condition = new_block(in), .otherwise = new_block(in)};
    if (made->count > 0 && ts_stream_find_held(made->arguments[0], 0, 1) >= 0) {
        size_t chunks = (size_t)(made->arguments[0]->arguments[0]->count / CHUNK + 1);
        blocks->known = TS_NEW_ARRAY(in->arena, uint8_t, chunks);
        memset(blocks->known, UNKNOWN, chunks);
        in->held_bytes += (int64_t)chunks;
    }
    made->read = read_where;
    made->state = blocks;
    return made;
}

/* ---- Dims ---- */

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

stream *ts_reference_transpose(evaluator *in, const node *tree, stream **arguments) {
    stream *value = arguments[0];
    int64_t order[TS_HOST_RANK];
    if (!read_order(in, tree, value->rank, order)) return NULL;
    walk from = ts_walk_rows(value->rank, value->dims), to = {.rank = value->rank};
    for (int i = 0; i < value->rank; i++) {
        to.dims[i] = from.dims[order[i]];
        to.strides[i] = from.strides[order[i]];
    }
    return ts_stream_view(in, tree, value, 0, &to);
}

stream *ts_reference_reshape(evaluator *in, const node *tree, stream **arguments) {
    int64_t dims[TS_HOST_RANK], count = 1;
    int rank = 0;
    if (!ts_reference_integers(in, tree, 1, dims, &rank)) return NULL;
    bool fits = true;
    for (int i = 0; i < rank; i++) fits = fits && dims[i] >= 0 && ts_mul(count, dims[i], &count);
    if (!fits || count != arguments[0]->count) {
        ts_reference_refuse(in, tree,
                            "'reshape' of %" PRId64 " elements to dims that hold a different number",
                            arguments[0]->count);
        return NULL;
    }
    stream *made = ts_stream_new(in, tree, rank, dims); /* refuses dims that are too large */
    if (!made) return NULL;
    *made = *arguments[0]; /* reads no dims of its own; an error is at its place */
    made->rank = rank;
    memcpy(made->dims, dims, sizeof dims);
    return made;
}

typedef struct {
    int64_t dim, stride;
} counter;

static bool read_iota(evaluator *in, stream *self, int64_t begin, size_t count, double *out) {
    (void)in;
    const counter *c = self->state;
    for (size_t i = 0, run; i < count; i += run) {
        int64_t at = begin + (int64_t)i, value = at / c->stride % c->dim;
        int64_t left = c->stride == 1 ? c->dim - value : c->stride - at % c->stride;
        run = (size_t)left < count - i ? (size_t)left : count - i;
        for (size_t k = i; k < i + run && c->stride > 1; k++) out[k] = (double)value;
        for (size_t k = 0; k < run && c->stride == 1; k++) out[i + k] = (double)(value + (int64_t)k);
    }
    return true;
}

stream *ts_reference_iota(evaluator *in, const node *tree, stream **arguments) {
    (void)arguments;
    int64_t dims[TS_HOST_RANK], axis;
    int rank = 0;
    if (!ts_reference_integers(in, tree, 0, dims, &rank) || !read_axis(in, tree, -1, &axis)) return NULL;
    bool good = axis >= -rank && axis < rank;
    if (!good) {
        const node *location = tree->keywords[KEYWORD_AXIS];
        ts_reference_refuse(in, location ? location : tree, "axis %" PRId64 " of an array of %d dims", axis,
                            rank);
    }
    for (int i = 0; good && i < rank; i++)
        good = dims[i] >= 0 ||
               ts_reference_refuse(in, tree, "a dim of %" PRId64 ", expected 0 or more", dims[i]);
    stream *made = good ? ts_stream_new(in, tree, rank, dims) : NULL;
    if (!made) return NULL;
    axis += axis < 0 ? rank : 0;
    counter *c = TS_NEW(in->arena, counter);
    *c = (counter){dims[axis], ts_walk_rows(rank, dims).strides[axis]};
    made->read = read_iota;
    made->cheap = true;
    made->state = c;
    return made;
}

/* ---- cast ---- */

static bool read_cast(evaluator *in, stream *self, int64_t begin, size_t count, double *out) {
    const ts_reference_type *type = self->state;
    if (!self->arguments[0]->read(in, self->arguments[0], begin, count, out)) return false;
    ts_reference_round_all(type, out, count);
    return true;
}

stream *ts_reference_cast(evaluator *in, const node *tree, stream **arguments) {
    const node *name = tree->items[1];
    const char *text = name->kind == NODE_NAME ? name->name : "";
    ts_dtype dtype;
    if (!ts_dtype_find(text, strlen(text), &dtype) || ts_dtype_get(dtype)->class == TS_CLASS_COMPLEX ||
        ts_dtype_get(dtype)->class == TS_CLASS_NO_DATA) {
        const char *near = *text ? ts_dtype_nearest(text, strlen(text)) : NULL;
        ts_reference_refuse(in, name, "expected an element type such as bf16%s%s%s",
                            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        return NULL;
    }
    walk shape = ts_walk_rows(arguments[0]->rank, arguments[0]->dims);
    stream *made = ts_stream_elements(in, tree, &shape, arguments, 1);
    ts_reference_type *type = TS_NEW(in->arena, ts_reference_type);
    if (!made) return NULL;
    *type = ts_reference_describe(dtype);
    made->single = type->single;
    made->read = read_cast;
    made->state = type;
    return made;
}

/* ---- Indices ---- */

/* From [outer][extent][inner] to [outer][count][inner]. */
typedef struct {
    int64_t extent, count, inner;
} taker;

/* An index of `tree`'s second argument that its first has along an axis of `extent`. */
static bool index_at(evaluator *in, const node *tree, double value, int64_t extent, int64_t *out) {
    *out = value >= 0 && value < (double)extent ? (int64_t)value : -1;
    return (*out >= 0 && (double)*out == value) ||
           ts_reference_refuse(in, tree->items[1],
                               "found the index %.9g, expected an integer from 0 to %" PRId64, value,
                               extent - 1);
}

static bool read_take(evaluator *in, stream *self, int64_t begin, size_t count, double *out) {
    const taker *t = self->state;
    stream *from = self->arguments[0], *list = self->arguments[1];
    int64_t end = begin + (int64_t)count, index;
    while (begin < end) {
        int64_t line = begin / t->inner, at = begin % t->inner, some = t->inner - at;
        double value;
        if (some > end - begin) some = end - begin;
        if (!list->read(in, list, line % t->count, 1, &value) ||
            !index_at(in, self->location, value, t->extent, &index) ||
            !from->read(in, from, (line / t->count * t->extent + index) * t->inner + at, (size_t)some, out))
            return false;
        out += some;
        begin += some;
    }
    return true;
}

/* The axis that is taken along, from 0. */
static bool find_taken_axis(evaluator *in, const node *tree, int rank, int64_t *axis) {
    const node *location = tree->keywords[KEYWORD_AXIS];
    if (!read_axis(in, tree, 0, axis)) return false;
    *axis += *axis < 0 ? rank : 0;
    if (*axis >= 0 && *axis < rank) return true;
    ts_reference_refuse(in, location ? location : tree, "'take' of an array of %d dims", rank);
    return false;
}

stream *ts_reference_take(evaluator *in, const node *tree, stream **arguments) {
    const stream *value = arguments[0], *list = arguments[1];
    int64_t axis, dims[2 * TS_HOST_RANK];
    if (!find_taken_axis(in, tree, value->rank, &axis)) return NULL;
    taker *t = TS_NEW(in->arena, taker);
    int rank = value->rank - 1 + list->rank;
    *t = (taker){value->dims[axis], list->count, 1};
    if (rank > TS_HOST_RANK) {
        ts_reference_refuse(in, tree, "more than %d dims", TS_HOST_RANK);
        return NULL;
    }
    for (int i = 0; i < rank; i++) {
        bool in_list = i >= axis && i < axis + list->rank;
        dims[i] = in_list ? list->dims[i - axis] : value->dims[i < axis ? i : i - list->rank + 1];
        t->inner *= i >= axis + list->rank ? dims[i] : 1;
    }
    stream *made = ts_stream_new(in, tree, rank, dims);
    if (!made) return NULL;
    made->arguments[0] = ts_stream_steady(in, arguments[0]);
    made->arguments[1] = ts_stream_hold(in, arguments[1]);
    in->refuses = true;
    made->read = read_take;
    made->cheap = true;
    made->state = t;
    return made->arguments[0] && made->arguments[1] ? made : NULL;
}

static bool fill_bincount(evaluator *in, stream *self, int64_t begin, int64_t count, double *out) {
    double *block = self->state;
    (void)begin;
    memset(out, 0, (size_t)count * sizeof *out);
    for (int64_t at = 0; at < self->arguments[0]->count; at += REFERENCE_BLOCK) {
        int64_t left = self->arguments[0]->count - at, some = left < REFERENCE_BLOCK ? left : REFERENCE_BLOCK;
        if (!ts_stream_read(in, self->arguments[0], at, some, block)) return false;
        for (int64_t i = 0; i < some; i++) {
            int64_t bin = block[i] >= 0 && block[i] < (double)count ? (int64_t)block[i] : -1;
            if (bin >= 0 && (double)bin == block[i]) out[bin]++;
        }
    }
    return true;
}

stream *ts_reference_bincount(evaluator *in, const node *tree, stream **arguments) {
    int64_t bins;
    if (!ts_reference_integer(in, tree->items[1], "the number of bins", &bins)) return NULL;
    if (bins < 1) {
        ts_reference_refuse(in, tree->items[1], "expected 1 bin or more");
        return NULL;
    }
    stream *made = ts_stream_new(in, tree, 1, &bins);
    if (!made) return NULL;
    made->arguments[0] = arguments[0];
    made->state = new_block(in);
    return ts_stream_in_units(in, made, bins, fill_bincount) ? made : NULL;
}
