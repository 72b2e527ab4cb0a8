/* The values of inputs without a file. */
#include "host/fill.h"

#include <string.h>

#include "reference_loops.h"
#include "base/number.h"
#include "layout/convert.h"

static uint64_t mix(uint64_t z) {
    ts_reference_loops_best()->mix(z, 0, &z, 1);
    return z;
}

/* ceil and floor of numbers within int64, without libm. */
static int64_t floor_of(double x) { return (int64_t)x - ((double)(int64_t)x > x); }
static int64_t ceil_of(double x) { return -floor_of(-x); }

enum { BLOCK = 1024 /* elements */ };

static bool is_float(ts_dtype dtype) { return ts_dtype_get(dtype)->class == TS_CLASS_FLOAT; }

/* Numbers of a range such as -4 to 4 are multiples of a power of two, 24 bits of them, which f32 has. */
static void find_unit(ts_fill *fill, double width) {
    const double most = 0x1p24, unit = width / most, offset = fill->low / unit;
    uint64_t bits;
    memcpy(&bits, &width, sizeof bits);
    bool power = bits << 12 == 0 && width >= 0x1p-100 && width <= 0x1p100;
    if (!power || !(offset >= -most && offset <= 0) || (double)(int32_t)offset != offset) return;
    fill->offset = (int32_t)offset;
    fill->unit = (float)unit;
}

/* The integers of a type from low to high; as many as doubles have exactly. */
static bool find_integers(ts_error *err, ts_fill *fill) {
    const ts_dtype_info *type = ts_dtype_get(fill->dtype);
    const double limit = 0x1p53;
    bool is_signed = type->class == TS_CLASS_SIGNED;
    int bits = type->value_bits - is_signed < 53 ? type->value_bits - is_signed : 53;
    int64_t most = (INT64_C(1) << bits) - (bits < 53), least = is_signed ? -most - 1 : 0;
    if (!(fill->low >= -limit && fill->high <= limit))
        return ts_error_set(err, TS_ERROR_INPUT, "found %g to %g, expected integers of up to 2^53", fill->low,
                            fill->high);
    int64_t first = ts_max(ceil_of(fill->low), least), last = ts_min(floor_of(fill->high), most);
    if (first > last)
        return ts_error_set(err, TS_ERROR_INPUT, "there is no %s between %g and %g", type->name, fill->low,
                            fill->high);
    fill->first = first;
    fill->count = last - first + 1;
    return true;
}

bool ts_fill_make(ts_error *err, const ts_tensor_use *use, ts_dtype dtype, ts_fill *fill) {
    *fill = (ts_fill){use->fill, dtype, use->low, use->high, mix((uint64_t)use->seed), 0, 1, 0, 0};
    find_unit(fill, use->high - use->low);
    if (!ts_dtype_has_value(dtype))
        return ts_error_set(err, TS_ERROR_INPUT, "%s has no values to begin with", ts_dtype_get(dtype)->name);
    return is_float(dtype) || find_integers(err, fill);
}

static void count_up(const ts_fill *f, int64_t begin, int64_t stride, size_t count, void *elements) {
    int64_t block[BLOCK];
    for (size_t i = 0; i < count; i++) block[i] = begin + (int64_t)i * stride;
    ts_convert_elements(TS_DTYPE_S64, block, f->dtype, elements, count);
}

static void draw_integers(const ts_fill *f, const ts_reference_draw *d, size_t count, void *elements) {
    int64_t block[BLOCK];
    uint64_t bits[BLOCK];
    ts_reference_loops_best()->mix(d->first, d->step, bits, count);
    for (size_t i = 0; i < count; i++) block[i] = f->first + (int64_t)(bits[i] % (uint64_t)f->count);
    ts_convert_elements(TS_DTYPE_S64, block, f->dtype, elements, count);
}

static void draw_floats(const ts_fill *f, const ts_reference_draw *d, size_t count, void *elements) {
    const ts_reference_loops *loops = ts_reference_loops_best();
    uint64_t bits[BLOCK];
    double block[BLOCK];
    if (f->dtype == TS_DTYPE_F32) {
        loops->draw_f32(d, elements, count);
    } else if (f->dtype != TS_DTYPE_BF16 || !loops->draw_bf16(d, elements, count)) {
        loops->mix(d->first, d->step, bits, count);
        loops->uniform(bits, d->low, d->width, block, count);
        ts_convert_elements(TS_DTYPE_F64, block, f->dtype, elements, count);
    }
}

static void draw(const ts_fill *f, int64_t begin, int64_t stride, size_t count, void *elements) {
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
    const ts_reference_draw d = {f->stream + ((uint64_t)begin + 1) * golden,
                                 (uint64_t)stride * golden,
                                 f->low,
                                 f->high - f->low,
                                 f->offset,
                                 f->unit};
    if (is_float(f->dtype))
        draw_floats(f, &d, count, elements);
    else
        draw_integers(f, &d, count, elements);
}

bool ts_fill_read(ts_error *err, void *fill, int64_t begin, int64_t stride, size_t count, void *elements) {
    (void)err;
    const ts_fill *f = fill;
    size_t bytes = (size_t)ts_dtype_get(f->dtype)->stored_bits / 8;
    if (f->kind != TS_FILL_IOTA && f->kind != TS_FILL_RANDOM) {
        memset(elements, 0, count * bytes);
        return true;
    }
    for (size_t at = 0; at < count; at += BLOCK) {
        size_t some = count - at < BLOCK ? count - at : BLOCK;
        (f->kind == TS_FILL_IOTA ? count_up : draw)(f, begin + (int64_t)at * stride, stride, some,
                                                    (uint8_t *)elements + at * bytes);
    }
    return true;
}
