/* The leaves of a reference expression as streams: numbers and arrays. */
#include <string.h>

#include "reference_loops.h"
#include "reference_stream.h"
#include "layout/convert.h"

static bool pick_number(evaluator *in, stream *self, int64_t begin, int64_t stride, size_t count,
                        double *out) {
    (void)in, (void)begin, (void)stride;
    for (size_t i = 0; i < count; i++) out[i] = *(const double *)self->state;
    return true;
}

static bool read_number(evaluator *in, stream *self, int64_t begin, size_t count, double *out) {
    return pick_number(in, self, begin, 1, count, out);
}

stream *ts_stream_number(evaluator *in, const node *tree, const double *number) {
    stream *made = ts_stream_new(in, tree, 0, NULL);
    made->read = read_number;
    made->pick = pick_number;
    made->cheap = true;
    made->state = (void *)number;
    return made;
}

/* Elements of a type as doubles. */
static bool widen(ts_dtype dtype, const void *from, double *out, size_t count) {
    const ts_reference_loops *loops = ts_reference_loops_best();
    if (dtype == TS_DTYPE_F32)
        loops->from_f32(from, out, count);
    else if (dtype == TS_DTYPE_BF16)
        loops->from_bf16(from, out, count);
    else
        return ts_convert_elements(dtype, from, TS_DTYPE_F64, out, count);
    return true;
}

static bool read_made(evaluator *in, const ts_reference_name *name, int64_t begin, int64_t stride,
                      size_t count, double *out) {
    uint64_t some[REFERENCE_BLOCK];
    return name->reader.read(in->err, name->reader.self, begin, stride, count, some) &&
           widen(name->array->dtype, some, out, count);
}

/* An array, and what was looked at last, for several operators name the same elements. */
typedef struct {
    const ts_reference_name *name;
    int64_t begin, end;
    double *seen;
} leaf;

static bool read_elements(evaluator *in, const ts_reference_name *name, int64_t begin, size_t count,
                          double *out) {
    const ts_host_array *array = name->array;
    size_t bytes = (size_t)ts_dtype_get(array->dtype)->stored_bits / 8;
    if (name->reader.read) return read_made(in, name, begin, 1, count, out);
    return widen(array->dtype, array->bytes + (size_t)begin * bytes, out, count);
}

static bool is_seen(const leaf *l, int64_t begin, size_t count) {
    return begin >= l->begin && begin + (int64_t)count <= l->end;
}

static bool read_array(evaluator *in, stream *self, int64_t begin, size_t count, double *out) {
    const leaf *l = self->state;
    if (!is_seen(l, begin, count)) return read_elements(in, l->name, begin, count, out);
    memcpy(out, l->seen + (begin - l->begin), count * sizeof *out);
    return true;
}

static const double *look_at_array(evaluator *in, stream *self, int64_t begin, size_t count) {
    leaf *l = self->state;
    if (is_seen(l, begin, count)) return l->seen + (begin - l->begin);
    l->begin = begin;
    l->end = begin; /* until it is read */
    if (!read_elements(in, l->name, begin, count, l->seen)) return NULL;
    l->end = begin + (int64_t)count;
    return l->seen;
}

/* `count` elements of so many bytes, `step` bytes apart. */
static void gather(uint8_t *to, const uint8_t *from, size_t bytes, size_t step, size_t count) {
    switch (bytes) {
    case 1:
        for (size_t i = 0; i < count; i++) to[i] = from[i * step];
        break;
    case 2:
        for (size_t i = 0; i < count; i++) memcpy(to + i * 2, from + i * step, 2);
        break;
    case 4:
        for (size_t i = 0; i < count; i++) memcpy(to + i * 4, from + i * step, 4);
        break;
    default:
        for (size_t i = 0; i < count; i++) memcpy(to + i * bytes, from + i * step, bytes);
    }
}

static bool pick_from_array(evaluator *in, stream *self, int64_t begin, int64_t stride, size_t count,
                            double *out) {
    const ts_reference_name *name = ((const leaf *)self->state)->name;
    const ts_host_array *array = name->array;
    size_t bytes = (size_t)ts_dtype_get(array->dtype)->stored_bits / 8;
    if (name->reader.read) return read_made(in, name, begin, stride, count, out);
    uint8_t some[REFERENCE_BLOCK * sizeof(uint64_t)];
    gather(some, array->bytes + (size_t)begin * bytes, bytes, bytes * (size_t)stride, count);
    return widen(array->dtype, some, out, count);
}

stream *ts_stream_array(evaluator *in, const node *tree, const ts_reference_name *name) {
    const ts_host_array *array = name->array;
    if (!ts_dtype_has_value(array->dtype)) {
        ts_reference_refuse(in, tree, "'%.40s' holds %s, which has no real values", tree->name,
                            ts_dtype_get(array->dtype)->name);
        return NULL;
    }
    stream *made = ts_stream_new(in, tree, array->rank, array->dims);
    if (!made) return NULL;
    leaf *l = TS_NEW(in->arena, leaf);
    *l = (leaf){.name = name, .seen = ts_reference_room(in, REFERENCE_BLOCK)};
    made->read = read_array;
    made->look = look_at_array;
    made->pick = name->reader.in_order ? NULL : pick_from_array;
    made->cheap = !name->reader.in_order;
    made->single = ts_reference_describe(array->dtype).single;
    made->state = l;
    return made;
}
