/* The function of a transfer: boxes of strided loops, row by row. */
#include "tilesim/dma/move.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "tilesim/base/number.h"
#include "tilesim/layout/convert.h"

enum { ROW_ELEMENTS = 512, WIDEST_BYTES = 16 };

/* One side of a row of elements: bytes, the first bit, and bits from one element to the next. */
typedef struct {
    uint8_t *bytes;
    ts_dtype dtype;
    int element_bits;
} side;

typedef struct {
    side src, dst;
    bool same;        /* bits are copied, not converted */
    bool whole_bytes; /* every address and both widths are whole bytes */
} mover;

static uint64_t get_bits(const uint8_t *bytes, int64_t bit, int width) {
    uint64_t value = 0;
    for (int i = 0; i < width; i++) value |= (uint64_t)(bytes[(bit + i) >> 3] >> ((bit + i) & 7) & 1) << i;
    return value;
}

static void put_bits(uint8_t *bytes, int64_t bit, int width, uint64_t value) {
    for (int i = 0; i < width; i++) {
        uint8_t *byte = &bytes[(bit + i) >> 3], mask = (uint8_t)(1u << ((bit + i) & 7));
        *byte = (uint8_t)(value >> i & 1 ? *byte | mask : *byte & ~mask);
    }
}

#define STRIDED_COPY(type)                                                                         \
    for (int64_t i = 0; i < count; i++) {                                                          \
        type value;                                                                                \
        memcpy(&value, src + i * src_step, sizeof value);                                          \
        memcpy(dst + i * dst_step, &value, sizeof value);                                          \
    }                                                                                              \
    return

typedef struct { uint64_t half[2]; } sixteen;

/* Elements of whole bytes; steps in bytes. */
static void copy_strided(const uint8_t *src, int64_t src_step, uint8_t *dst, int64_t dst_step, int64_t count, int bytes) {
    if (src_step == bytes && dst_step == bytes) {
        memcpy(dst, src, (size_t)(count * bytes));
        return;
    }
    switch (bytes) {
    case 1: STRIDED_COPY(uint8_t);
    case 2: STRIDED_COPY(uint16_t);
    case 4: STRIDED_COPY(uint32_t);
    case 8: STRIDED_COPY(uint64_t);
    case 16: STRIDED_COPY(sixteen);
    default:
        for (int64_t i = 0; i < count; i++) memcpy(dst + i * dst_step, src + i * src_step, (size_t)bytes);
    }
}

static void row_of_bytes(const mover *m, int64_t src_bit, int64_t dst_bit, const ts_plan_loop *row) {
    const uint8_t *src = m->src.bytes + src_bit / 8;
    uint8_t *dst = m->dst.bytes + dst_bit / 8, from[ROW_ELEMENTS * WIDEST_BYTES], to[ROW_ELEMENTS * WIDEST_BYTES];
    int src_bytes = m->src.element_bits / 8, dst_bytes = m->dst.element_bits / 8;
    int64_t src_step = row->src_bits / 8, dst_step = row->dst_bits / 8;
    if (m->same) {
        copy_strided(src, src_step, dst, dst_step, row->extent, src_bytes);
        return;
    }
    for (int64_t done = 0; done < row->extent; done += ROW_ELEMENTS) {
        int64_t count = row->extent - done < ROW_ELEMENTS ? row->extent - done : ROW_ELEMENTS;
        copy_strided(src + done * src_step, src_step, from, src_bytes, count, src_bytes);
        ts_convert_elements(m->src.dtype, from, m->dst.dtype, to, (size_t)count);
        copy_strided(to, dst_bytes, dst + done * dst_step, dst_step, count, dst_bytes);
    }
}

/* Bits above the value's are zero where the store is wider, and are dropped where it is narrower. */
static void row_of_bits(const mover *m, int64_t src_bit, int64_t dst_bit, const ts_plan_loop *row) {
    for (int64_t i = 0; i < row->extent; i++) {
        int64_t from = src_bit + i * row->src_bits, to = dst_bit + i * row->dst_bits;
        for (int done = 0; m->same && done < m->src.element_bits; done += 64) {
            int width = m->src.element_bits - done < 64 ? m->src.element_bits - done : 64;
            put_bits(m->dst.bytes, to + done, width, get_bits(m->src.bytes, from + done, width));
        }
        if (m->same) continue;
        int width = m->src.element_bits < 64 ? m->src.element_bits : 64;
        uint64_t value = ts_element_convert(m->src.dtype, get_bits(m->src.bytes, from, width), m->dst.dtype);
        if (m->src.dtype == TS_DTYPE_PRED && m->dst.dtype == TS_DTYPE_PRED) value = value != 0;
        put_bits(m->dst.bytes, to, m->dst.element_bits < 64 ? m->dst.element_bits : 64, value);
    }
}

/* The loop to run innermost: the longest, so that the cost outside it is small. */
static int pick_row(const ts_plan_box *box) {
    int best = box->loop_count - 1;
    for (int i = box->loop_count - 2; i >= 0; i--) {
        if (box->loops[i].extent > box->loops[best].extent * 4) best = i;
    }
    return best;
}

static void move_box(const mover *m, const ts_plan_box *box) {
    int row_loop = pick_row(box);
    ts_plan_loop row = row_loop < 0 ? (ts_plan_loop){1, m->src.element_bits, m->dst.element_bits} : box->loops[row_loop];
    int64_t at[TS_PLAN_MAX_LOOPS] = {0}, src = box->src_bits, dst = box->dst_bits;
    for (;;) {
        if (m->whole_bytes) row_of_bytes(m, src, dst, &row);
        else row_of_bits(m, src, dst, &row);
        int i = box->loop_count - 1;
        for (; i >= 0; i--) {
            if (i == row_loop) continue;
            src += box->loops[i].src_bits;
            dst += box->loops[i].dst_bits;
            if (++at[i] < box->loops[i].extent) break;
            src -= box->loops[i].src_bits * box->loops[i].extent;
            dst -= box->loops[i].dst_bits * box->loops[i].extent;
            at[i] = 0;
        }
        if (i < 0) return;
    }
}

static bool is_whole_bytes(const mover *m, const ts_plan_box *box) {
    int64_t bits = box->src_bits | box->dst_bits | m->src.element_bits | m->dst.element_bits;
    for (int i = 0; i < box->loop_count; i++) bits |= box->loops[i].src_bits | box->loops[i].dst_bits;
    bool stored = m->same || (m->src.element_bits == ts_dtype_get(m->src.dtype)->stored_bits &&
                              m->dst.element_bits == ts_dtype_get(m->dst.dtype)->stored_bits);
    return (bits & 7) == 0 && stored;
}

/* ---- Checks ---- */

typedef struct {
    int64_t low, high; /* bytes: low .. high-1 */
} extent_bytes;

static void widen(extent_bytes *bits, int64_t first, int64_t last) {
    if (first < bits->low) bits->low = first;
    if (last > bits->high) bits->high = last;
}

/* The bytes that the boxes touch on each side. */
static void reach(const ts_plan *plan, extent_bytes *src, extent_bytes *dst) {
    *src = *dst = (extent_bytes){INT64_MAX, INT64_MIN};
    for (int64_t n = 0; n < plan->box_count; n++) {
        ts_plan_box box;
        ts_plan_get_box(plan, n, &box);
        extent_bytes from = {box.src_bits, box.src_bits}, to = {box.dst_bits, box.dst_bits};
        for (int i = 0; i < box.loop_count; i++) {
            int64_t steps = box.loops[i].extent - 1;
            *(box.loops[i].src_bits < 0 ? &from.low : &from.high) += steps * box.loops[i].src_bits;
            *(box.loops[i].dst_bits < 0 ? &to.low : &to.high) += steps * box.loops[i].dst_bits;
        }
        widen(src, from.low, from.high + plan->src.shape->element_bits);
        widen(dst, to.low, to.high + plan->dst.shape->element_bits);
    }
    *src = (extent_bytes){ts_floor_div(src->low, 8), ts_floor_div(src->high + 7, 8)};
    *dst = (extent_bytes){ts_floor_div(dst->low, 8), ts_floor_div(dst->high + 7, 8)};
}

static bool check_inside(ts_error *err, const char *which, extent_bytes at, const ts_space *space) {
    if (ts_space_contains(space, at.low, at.high - at.low)) return true;
    return ts_error_set(err, TS_ERROR_FAULT, "the %s takes bytes %lld to %lld of %s, which has %lld bytes", which,
                        (long long)at.low, (long long)at.high - 1, space->name, (long long)space->capacity_bytes);
}

static bool check(ts_error *err, const ts_plan *plan, const ts_space *src, const ts_space *dst, extent_bytes *from,
                  extent_bytes *to) {
    if (!ts_convert_possible(plan->src.shape->dtype, plan->dst.shape->dtype)) {
        return ts_error_set(err, TS_ERROR_INPUT, "there is no conversion from %s to %s",
                            ts_dtype_get(plan->src.shape->dtype)->name, ts_dtype_get(plan->dst.shape->dtype)->name);
    }
    if (plan->elements == 0) return true;
    reach(plan, from, to);
    if (!check_inside(err, "source", *from, src) || !check_inside(err, "destination", *to, dst)) return false;
    if (src != dst || from->high <= to->low || to->high <= from->low) return true;
    return ts_error_set(err, TS_ERROR_INPUT, "the source (bytes %lld to %lld) and the destination (%lld to %lld) overlap",
                        (long long)from->low, (long long)from->high - 1, (long long)to->low, (long long)to->high - 1);
}

bool ts_dma_check(ts_error *err, const ts_plan *plan, const ts_space *src, const ts_space *dst) {
    extent_bytes from, to;
    return check(err, plan, src, dst, &from, &to);
}

static uint8_t *touch(ts_space *space, extent_bytes bytes) {
    ts_space_touch(space, bytes.low, bytes.high - bytes.low);
    return space->bytes;
}

bool ts_dma_move(ts_error *err, const ts_plan *plan, ts_space *src, ts_space *dst) {
    extent_bytes from_bytes, to_bytes;
    if (!check(err, plan, src, dst, &from_bytes, &to_bytes)) return false;
    if (plan->elements == 0) return true;
    const ts_shape *from = plan->src.shape, *to = plan->dst.shape;
    mover m = {.src = {touch(src, from_bytes), from->dtype, from->element_bits},
               .dst = {touch(dst, to_bytes), to->dtype, to->element_bits},
               .same = from->dtype == to->dtype && from->element_bits == to->element_bits};
    for (int64_t i = 0; i < plan->box_count; i++) {
        ts_plan_box box;
        ts_plan_get_box(plan, i, &box);
        m.whole_bytes = is_whole_bytes(&m, &box);
        move_box(&m, &box);
    }
    if (dst->shadow) ts_dma_move_shadow(plan, src, dst);
    return true;
}
