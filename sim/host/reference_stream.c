/* Streams: reading, units, held values, and views of others by strides. */
#include "reference_loops.h"
#include "reference_stream.h"

#include <stdarg.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"

#if !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) /* gcc vectorises such loops only at -O3 */
#pragma GCC optimize("O3")
#endif

enum {
    HELD_LIMIT = 1 << 30, /* elements: 8 GiB */
    SMALL = 1 << 18,      /* elements (2 MiB) that are rather held than computed again */
    SHORTEST_RUN = 16,    /* elements that are worth a call */
};
#define COUNT_LIMIT (INT64_C(1) << 40)

bool ts_reference_refuse(evaluator *in, const node *location, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    ts_error_at_list(in->err, TS_ERROR_INPUT, in->source, location->offset, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- Walks ---- */

walk ts_walk_rows(int rank, const int64_t *dims) {
    walk out = {.rank = rank};
    int64_t stride = 1;
    for (int i = rank - 1; i >= 0; i--) {
        out.dims[i] = dims[i];
        out.strides[i] = stride;
        if (i > 0) stride *= dims[i];
    }
    return out;
}

walk ts_walk_repeat(int rank, const int64_t *dims, const walk *shared) {
    walk out = *shared, own = ts_walk_rows(rank, dims);
    int extra = shared->rank - rank;
    for (int i = 0; i < shared->rank; i++) {
        bool repeats = i < extra || (dims[i - extra] == 1 && shared->dims[i] != 1);
        out.strides[i] = repeats ? 0 : own.strides[i - extra];
    }
    return out;
}

walk ts_walk_join(const walk *path) {
    walk out = {0};
    for (int i = 0; i < path->rank; i++) {
        int last = out.rank - 1;
        if (path->dims[i] == 1) continue;
        if (last >= 0 && out.strides[last] == path->strides[i] * path->dims[i]) {
            out.dims[last] *= path->dims[i];
        } else {
            last = out.rank++;
            out.dims[last] = path->dims[i];
        }
        out.strides[last] = path->strides[i];
    }
    if (out.rank == 0) return (walk){1, {1}, {1}};
    return out;
}

void ts_walker_begin(walker *w, const walk *path, int64_t begin) {
    *w = (walker){.path = path};
    for (int i = path->rank - 1; i >= 0; i--) {
        w->index[i] = i > 0 ? begin % path->dims[i] : begin;
        begin /= path->dims[i];
        w->at += w->index[i] * path->strides[i];
    }
}

int64_t ts_walker_next(walker *w, int64_t most, int64_t *at) {
    const walk *path = w->path;
    int dim = path->rank - 1;
    int64_t run = path->dims[dim] - w->index[dim];
    if (run > most) run = most;
    *at = w->at;
    w->index[dim] += run;
    w->at += run * path->strides[dim];
    for (; dim > 0 && w->index[dim] == path->dims[dim]; dim--) {
        w->index[dim] = 0;
        w->index[dim - 1]++;
        w->at += path->strides[dim - 1] - path->dims[dim] * path->strides[dim];
    }
    return run;
}

/* ---- Streams ---- */

double *ts_reference_room(evaluator *in, int64_t count) {
    in->held_bytes += count * (int64_t)sizeof(double);
    return TS_NEW_ARRAY(in->arena, double, count);
}

static bool multiply_dims(evaluator *in, const node *location, int rank, const int64_t *dims,
                          int64_t *count) {
    bool empty = false;
    *count = 1;
    for (int i = 0; i < rank; i++) {
        empty = empty || dims[i] == 0;
        if (!ts_mul(*count, dims[i] > 0 ? dims[i] : 1, count) || *count > COUNT_LIMIT)
            return ts_reference_refuse(in, location, "the result would have more than 2^40 elements");
    }
    if (empty) *count = 0;
    return true;
}

stream *ts_stream_new(evaluator *in, const node *location, int rank, const int64_t *dims) {
    stream *made = TS_NEW(in->arena, stream);
    int64_t count;
    if (!multiply_dims(in, location, rank, dims, &count)) return NULL;
    if (rank > 0) memcpy(made->dims, dims, (size_t)rank * sizeof *dims);
    made->location = location;
    made->rank = rank;
    made->count = count;
    return made;
}

bool ts_stream_read(evaluator *in, stream *from, int64_t begin, int64_t count, double *out) {
    for (int64_t done = 0; done < count; done += REFERENCE_BLOCK) {
        int64_t some = count - done < REFERENCE_BLOCK ? count - done : REFERENCE_BLOCK;
        if (!from->read(in, from, begin + done, (size_t)some, out + done)) return false;
    }
    return true;
}

/* ---- Units ---- */

struct unit {
    int64_t size, begin, end; /* which elements `values` are */
    double *values;
    bool (*fill)(evaluator *, stream *, int64_t begin, int64_t count, double *out);
};

/* The unit that this element is in. */
static bool load(evaluator *in, stream *self, int64_t element) {
    unit *u = self->unit;
    int64_t begin = element - element % u->size, left = self->count - begin;
    if (element >= u->begin && element < u->end) return true;
    if (!u->values) u->values = TS_NEW_ARRAY(in->arena, double, u->size);
    u->begin = begin;
    u->end = begin + (left < u->size ? left : u->size);
    return u->fill(in, self, begin, u->end - begin, u->values);
}

double *ts_stream_load(evaluator *in, stream *self, int64_t element) {
    return load(in, self, element) ? self->unit->values : NULL;
}

static bool read_unit(evaluator *in, stream *self, int64_t begin, size_t count, double *out) {
    unit *u = self->unit;
    int64_t end = begin + (int64_t)count;
    while (begin < end) {
        if (!load(in, self, begin)) return false;
        int64_t some = (u->end < end ? u->end : end) - begin;
        memcpy(out, u->values + (begin - u->begin), (size_t)some * sizeof *out);
        out += some;
        begin += some;
    }
    return true;
}

/* Where these elements begin in the stream that `self` views; -1: not in one row there, or no view. */
static int64_t find_in_view(const stream *self, int64_t begin, size_t count);

const double *ts_stream_look(evaluator *in, stream *from, int64_t begin, size_t count, double *room) {
    const unit *u = from->unit;
    bool held = u && from->read == read_unit && begin % u->size + (int64_t)count <= u->size;
    int64_t at = find_in_view(from, begin, count);
    if (from->look && count <= REFERENCE_BLOCK) return from->look(in, from, begin, count);
    if (held) return load(in, from, begin) ? u->values + (begin - u->begin) : NULL;
    if (at >= 0) return ts_stream_look(in, from->arguments[0], at, count, room);
    return ts_stream_read(in, from, begin, (int64_t)count, room) ? room : NULL;
}

static bool bound_by_reading(evaluator *in, stream *from, int64_t begin, size_t count, range *out) {
    const double *values = ts_stream_look(in, from, begin, count, in->room);
    *out = (range){0};
    if (values) out->known = ts_reference_loops_best()->extent(values, count, &out->low, &out->high);
    return values != NULL;
}

bool ts_stream_bounds(evaluator *in, stream *from, int64_t begin, size_t count, range *out) {
    bool expected = from == in->expected && begin == in->looked_from && count == in->looked_count;
    if (expected) *out = in->looked_at;
    return expected ||
           (from->bounds && count > 1 ? from->bounds : bound_by_reading)(in, from, begin, count, out);
}

int64_t ts_stream_run(const stream *from, int64_t begin) {
    int64_t run = from->count - begin < REFERENCE_BLOCK ? from->count - begin : REFERENCE_BLOCK;
    int64_t left = from->unit ? from->unit->size - begin % from->unit->size : run;
    return run < left ? run : left;
}

bool ts_stream_in_units(evaluator *in, stream *made, int64_t size,
                        bool (*fill)(evaluator *, stream *, int64_t, int64_t, double *)) {
    unit *u = TS_NEW(in->arena, unit);
    if (size > made->count) size = made->count;
    if (size < 1) size = 1;
    if (size > HELD_LIMIT)
        return ts_reference_refuse(in, made->location, "the result would have more than 2^30 elements");
    *u = (unit){.size = size, .fill = fill};
    in->held_bytes += size * (int64_t)sizeof(double);
    made->unit = u;
    made->read = read_unit;
    return true;
}

static bool fill_from_argument(evaluator *in, stream *self, int64_t begin, int64_t count, double *out) {
    return ts_stream_read(in, self->arguments[0], begin, count, out);
}

static bool pick_held(evaluator *in, stream *self, int64_t begin, int64_t stride, size_t count, double *out) {
    unit *u = self->unit;
    if (!load(in, self, begin)) return false;
    for (size_t i = 0; i < count; i++) out[i] = u->values[begin + (int64_t)i * stride];
    return true;
}

stream *ts_stream_hold(evaluator *in, stream *from) {
    if (from->pick) return from;
    stream *made = ts_stream_new(in, from->location, from->rank, from->dims);
    if (!made || !ts_stream_in_units(in, made, made->count, fill_from_argument)) return NULL;
    made->arguments[0] = from;
    made->pick = pick_held;
    made->single = from->single;
    made->cheap = true;
    return made;
}

stream *ts_stream_in_blocks(evaluator *in, stream *from) {
    if (from->pick || from->unit) return from;
    stream *made = ts_stream_new(in, from->location, from->rank, from->dims);
    if (!made || !ts_stream_in_units(in, made, REFERENCE_BLOCK, fill_from_argument)) return NULL;
    made->arguments[0] = from;
    made->single = from->single;
    return made;
}

stream *ts_stream_steady(evaluator *in, stream *from) {
    return from->cheap ? from : ts_stream_hold(in, from);
}

/* ---- Views ---- */

typedef struct {
    walk path;
    int64_t offset;
} view;

static bool read_run(evaluator *in, stream *base, int64_t at, int64_t stride, size_t count, double *out) {
    if (stride == 1) return base->read(in, base, at, count, out);
    if (stride != 0) return base->pick(in, base, at, stride, count, out);
    double value;
    if (!base->read(in, base, at, 1, &value)) return false;
    for (size_t i = 0; i < count; i++) out[i] = value;
    return true;
}

static bool read_view(evaluator *in, stream *self, int64_t begin, size_t count, double *out) {
    const view *v = self->state;
    int64_t stride = v->path.strides[v->path.rank - 1], left = (int64_t)count, at;
    walker w;
    ts_walker_begin(&w, &v->path, begin);
    while (left > 0) {
        int64_t run = ts_walker_next(&w, left, &at);
        if (!read_run(in, self->arguments[0], v->offset + at, stride, (size_t)run, out)) return false;
        out += run;
        left -= run;
    }
    return true;
}

static int64_t find_in_view(const stream *self, int64_t begin, size_t count) {
    const view *v = self->state;
    int64_t at, run = (int64_t)count;
    walker w;
    if (self->read != read_view || count == 0 || v->path.strides[v->path.rank - 1] != 1) return -1;
    ts_walker_begin(&w, &v->path, begin);
    return ts_walker_next(&w, run, &at) == run ? v->offset + at : -1;
}

int64_t ts_stream_find_held(const stream *from, int64_t begin, size_t count) {
    bool held = from->read == read_view && from->arguments[0]->pick == pick_held;
    return held ? find_in_view(from, begin, count) : -1;
}

/* Does the walk see what it sees in order, and again only at once? */
static bool is_in_order(const walk *path) {
    int64_t reach = 0;
    for (int i = path->rank - 1; i >= 0; i--) {
        if (path->strides[i] < reach) return false;
        if (path->dims[i] > 1) reach = path->strides[i] * (path->dims[i] - 1) + reach;
    }
    return true;
}

static bool should_hold(const stream *base, const walk *path, int64_t count) {
    int64_t stride = path->strides[path->rank - 1];
    if (base->pick) return false;
    if (stride > 1 || (!base->cheap && !is_in_order(path))) return true;
    return (path->rank > 1 && path->dims[path->rank - 1] < SHORTEST_RUN) ||
           (count > base->count && base->count <= SMALL);
}

stream *ts_stream_view(evaluator *in, const node *location, stream *base, int64_t offset, const walk *shape) {
    stream *made = ts_stream_new(in, location, shape->rank, shape->dims);
    view *v = TS_NEW(in->arena, view);
    if (!made) return NULL;
    *v = (view){ts_walk_join(shape), offset};
    made->arguments[0] = should_hold(base, &v->path, made->count) ? ts_stream_hold(in, base) : base;
    made->cheap = made->arguments[0] && made->arguments[0]->cheap;
    made->single = base->single;
    made->read = read_view;
    made->state = v;
    return made->arguments[0] ? made : NULL;
}

const char *ts_stream_dims(evaluator *in, const stream *value) {
    ts_text text = ts_text_begin(in->arena);
    ts_text_add_integers(&text, value->dims, value->rank);
    return text.bytes;
}

bool ts_stream_common(evaluator *in, const node *location, const stream *a, const stream *b, walk *shared) {
    int rank = a->rank > b->rank ? a->rank : b->rank;
    int64_t dims[TS_HOST_RANK] = {0};
    for (int i = 1; i <= rank; i++) {
        int64_t left = i <= a->rank ? a->dims[a->rank - i] : 1,
                right = i <= b->rank ? b->dims[b->rank - i] : 1;
        dims[rank - i] = left == 1 ? right : left;
        if (left == right || left == 1 || right == 1) continue;
        return ts_reference_refuse(in, location, "shapes [%s] and [%s] do not broadcast",
                                   ts_stream_dims(in, a), ts_stream_dims(in, b));
    }
    int64_t count;
    if (!multiply_dims(in, location, rank, dims, &count)) return false;
    *shared = ts_walk_rows(rank, dims);
    return true;
}

stream *ts_stream_broadcast(evaluator *in, stream *from, const walk *shared) {
    bool same = ts_integers_equal(from->dims, from->rank, shared->dims, shared->rank);
    walk path = ts_walk_repeat(from->rank, from->dims, shared);
    return same ? from : ts_stream_view(in, from->location, from, 0, &path);
}
