/* The definition of moving a box: element by element, a row at a time. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "copy_context.h"
#include "base/number.h"
#include "layout/convert.h"

enum { LONG_ROW = 8, TOGETHER = 512, WIDEST_BYTES = 16 };

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

/* Four are loaded before the first is stored, so that none waits for another's line. */
#define STRIDED_COPY(type)                                                                                   \
    for (; count >= 4; count -= 4, src += 4 * src_step, dst += 4 * dst_step) {                               \
        type a, b, c, d;                                                                                     \
        memcpy(&a, src, sizeof a);                                                                           \
        memcpy(&b, src + src_step, sizeof b);                                                                \
        memcpy(&c, src + 2 * src_step, sizeof c);                                                            \
        memcpy(&d, src + 3 * src_step, sizeof d);                                                            \
        memcpy(dst, &a, sizeof a);                                                                           \
        memcpy(dst + dst_step, &b, sizeof b);                                                                \
        memcpy(dst + 2 * dst_step, &c, sizeof c);                                                            \
        memcpy(dst + 3 * dst_step, &d, sizeof d);                                                            \
    }                                                                                                        \
    for (; count > 0; count--, src += src_step, dst += dst_step) memcpy(dst, src, sizeof(type));             \
    return

typedef struct {
    uint64_t half[2];
} sixteen;

/* Elements of whole bytes; steps in bytes. */
static void copy_strided(const uint8_t *src, int64_t src_step, uint8_t *dst, int64_t dst_step, int64_t count,
                         int bytes) {
    if (src_step == bytes && dst_step == bytes) {
        memcpy(dst, src, (size_t)(count * bytes));
        return;
    }
    switch (bytes) {
    case 1:
        STRIDED_COPY(uint8_t);
    case 2:
        STRIDED_COPY(uint16_t);
    case 4:
        STRIDED_COPY(uint32_t);
    case 8:
        STRIDED_COPY(uint64_t);
    case 16:
        STRIDED_COPY(sixteen);
    default:
        for (int64_t i = 0; i < count; i++) memcpy(dst + i * dst_step, src + i * src_step, (size_t)bytes);
    }
}

static void row_of_bytes(const ts_copy_context *m, int64_t src_bit, int64_t dst_bit,
                         const ts_plan_loop *row) {
    copy_strided(m->src.bytes + src_bit / 8, row->src_bits / 8, m->dst.bytes + dst_bit / 8, row->dst_bits / 8,
                 row->extent, m->src.element_bits / 8);
}

/* Elements that are converted together, and the pieces of rows that they become. */
typedef struct {
    bool whole_bytes; /* else rows are moved at once */
    int64_t elements, pieces;
    struct {
        uint8_t *dst;
        int64_t count;
    } piece[TOGETHER];
    uint8_t from[TOGETHER * WIDEST_BYTES], to[TOGETHER * WIDEST_BYTES];
} batch;

static void convert_batch(const ts_copy_context *m, batch *b, int64_t dst_step) {
    int bytes = m->dst.element_bits / 8;
    const uint8_t *next = b->to;
    ts_fill_convert(m, b->from, b->to, b->elements);
    for (int64_t i = 0; i < b->pieces; next += b->piece[i++].count * bytes)
        copy_strided(next, bytes, b->piece[i].dst, dst_step, b->piece[i].count, bytes);
    b->elements = b->pieces = 0;
}

static void row_to_convert(const ts_copy_context *m, batch *b, const uint8_t *src, uint8_t *dst,
                           const ts_plan_loop *row) {
    int bytes = m->src.element_bits / 8;
    int64_t src_step = row->src_bits / 8, dst_step = row->dst_bits / 8;
    for (int64_t done = 0, count; done < row->extent; done += count) {
        count = ts_min(row->extent - done, TOGETHER - b->elements);
        copy_strided(src + done * src_step, src_step, b->from + b->elements * bytes, bytes, count, bytes);
        b->piece[b->pieces].dst = dst + done * dst_step;
        b->piece[b->pieces++].count = count;
        b->elements += count;
        if (b->elements == TOGETHER) convert_batch(m, b, dst_step);
    }
}

/* Bits above the value's are zero where the store is wider, and are dropped where it is narrower. */
static void row_of_bits(const ts_copy_context *m, int64_t src_bit, int64_t dst_bit, const ts_plan_loop *row) {
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

/* The loop to run innermost: one long enough that the cost outside it is small, with the shortest steps. */
static int pick_row(const ts_plan_box *box) {
    int best = -1;
    for (int i = box->loop_count - 1; i >= 0; i--) {
        const ts_plan_loop *loop = &box->loops[i], *chosen = &box->loops[best < 0 ? i : best];
        bool near =
            llabs(loop->src_bits) + llabs(loop->dst_bits) < llabs(chosen->src_bits) + llabs(chosen->dst_bits);
        bool is_long = loop->extent >= LONG_ROW, chosen_long = chosen->extent >= LONG_ROW;
        if (best < 0 || (is_long ? !chosen_long || near : !chosen_long && loop->extent > chosen->extent))
            best = i;
    }
    return best;
}

static bool is_whole_bytes(const ts_copy_context *m, const ts_plan_box *box) {
    int64_t bits = box->src_bits | box->dst_bits | m->src.element_bits | m->dst.element_bits;
    for (int i = 0; i < box->loop_count; i++) bits |= box->loops[i].src_bits | box->loops[i].dst_bits;
    bool stored = m->same || (m->src.element_bits == ts_dtype_get(m->src.dtype)->stored_bits &&
                              m->dst.element_bits == ts_dtype_get(m->dst.dtype)->stored_bits);
    return (bits & 7) == 0 && stored;
}

/* The lines of a row of the source that comes later. */
static void prefetch_row(const ts_copy_context *m, int64_t src_bit, const ts_plan_loop *row) {
    const uint8_t *src = m->src.bytes + src_bit / 8 + m->ahead_bytes;
    int64_t step = llabs(row->src_bits) / 8;
    int64_t every = step > 0 && step < TS_CACHE_LINE_BYTES ? TS_CACHE_LINE_BYTES / step : 1;
    for (int64_t i = 0; i < row->extent; i += every) __builtin_prefetch(src + i * row->src_bits / 8, 0, 2);
}

static void move_row(const ts_copy_context *m, batch *b, int64_t src, int64_t dst, const ts_plan_loop *row) {
    if (m->ahead_bytes) prefetch_row(m, src, row);
    if (b->whole_bytes && !m->same)
        row_to_convert(m, b, m->src.bytes + src / 8, m->dst.bytes + dst / 8, row);
    else if (b->whole_bytes)
        row_of_bytes(m, src, dst, row);
    else
        row_of_bits(m, src, dst, row);
}

void ts_move_elements(const ts_copy_context *m, const ts_plan_box *box) {
    int row_loop = pick_row(box);
    ts_plan_loop row =
        row_loop < 0 ? (ts_plan_loop){1, m->src.element_bits, m->dst.element_bits} : box->loops[row_loop];
    int64_t at[TS_PLAN_MAX_LOOPS] = {0}, src = box->src_bits, dst = box->dst_bits;
    batch b;
    b.whole_bytes = is_whole_bytes(m, box);
    b.elements = b.pieces = 0;
    for (;;) {
        move_row(m, &b, src, dst, &row);
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
        if (i < 0) break;
    }
    if (b.elements > 0) convert_batch(m, &b, row.dst_bits / 8);
}

/* ---- Lists ---- */

static void find_follows(const ts_copy_context *m, ts_element_list *list) {
    int64_t src = list->at[0].src, dst = list->at[0].dst;
    list->follows[TS_SRC] = list->follows[TS_DST] = true;
    for (int i = 0; i < list->count; i++, src += m->src.element_bits / 8, dst += m->dst.element_bits / 8) {
        list->follows[TS_SRC] = list->follows[TS_SRC] && list->at[i].src == src;
        list->follows[TS_DST] = list->follows[TS_DST] && list->at[i].dst == dst;
    }
}

void ts_elements_list(const ts_copy_context *m, const ts_plan_box *box, ts_element_list *list) {
    int bytes = m->src.element_bits / 8, used = 1;
    list->count = 0;
    if (!is_whole_bytes(m, box) || ts_copy_count_elements(box) > TS_COPY_TINY || bytes > WIDEST_BYTES ||
        (m->same && (bytes & (bytes - 1)) != 0))
        return;
    ts_tile_place *at = list->at;
    at[0] = (ts_tile_place){box->src_bits / 8, box->dst_bits / 8};
    for (int i = box->loop_count - 1; i >= 0; i--) {
        const ts_plan_loop *loop = &box->loops[i];
        for (int n = used; n < used * loop->extent; n++)
            at[n] =
                (ts_tile_place){at[n - used].src + loop->src_bits / 8, at[n - used].dst + loop->dst_bits / 8};
        used *= (int)loop->extent;
    }
    list->count = used;
    find_follows(m, list);
}

/* Elements at listed offsets, or, on the side where they are not, one behind the other: number i at i * size
 * bytes. Loops of their own: what is asked for each element takes longer than to move it. */
#define LISTED_COPY(type, from, to)                                                                          \
    for (int i = 0; i < count; i++) {                                                                        \
        const int64_t size = sizeof(type);                                                                   \
        type a;                                                                                              \
        memcpy(&a, src + from, (size_t)size);                                                                \
        memcpy(dst + to, &a, (size_t)size);                                                                  \
    }                                                                                                        \
    return
#define LISTED(name, from, to)                                                                               \
    static void name(const ts_tile_place *list, int count, uint8_t *dst, const uint8_t *src, int bytes) {    \
        switch (bytes) {                                                                                     \
        case 1:                                                                                              \
            LISTED_COPY(uint8_t, from, to);                                                                  \
        case 2:                                                                                              \
            LISTED_COPY(uint16_t, from, to);                                                                 \
        case 4:                                                                                              \
            LISTED_COPY(uint32_t, from, to);                                                                 \
        case 8:                                                                                              \
            LISTED_COPY(uint64_t, from, to);                                                                 \
        default:                                                                                             \
            LISTED_COPY(sixteen, from, to);                                                                  \
        }                                                                                                    \
    }
LISTED(copy_listed, list[i].src, list[i].dst)
LISTED(gather_listed, list[i].src, (i * size))
LISTED(scatter_listed, (i * size), list[i].dst)

void ts_elements_move_list(const ts_copy_context *m, const ts_element_list *list) {
    uint8_t from[TS_COPY_TINY * WIDEST_BYTES], to[TS_COPY_TINY * WIDEST_BYTES];
    const uint8_t *src = list->follows[TS_SRC] ? m->src.bytes + list->at[0].src : from;
    uint8_t *dst = list->follows[TS_DST] ? m->dst.bytes + list->at[0].dst : to;
    int src_bytes = m->src.element_bits / 8, dst_bytes = m->dst.element_bits / 8, count = list->count;
    assert(count > 0 && count <= TS_COPY_TINY);
    if (m->same) {
        copy_listed(list->at, count, m->dst.bytes, m->src.bytes, src_bytes);
        return;
    }
    if (src == from) gather_listed(list->at, count, from, m->src.bytes, src_bytes);
    ts_fill_convert(m, src, dst, count);
    if (dst == to) scatter_listed(list->at, count, m->dst.bytes, to, dst_bytes);
}
