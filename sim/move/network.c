/* The network of a tile, from the digits of its lines. */
#include <assert.h>

#include "copy_context.h"

/* The digit behind one, of the same loop, if that counts so far. */
static bool continue_digit(const ts_plan_box *box, const ts_digit *last, ts_digit *out) {
    if (box->loops[last->loop].extent >> (last->bit + 1) < 2) return false;
    *out = (ts_digit){last->loop, last->bit + 1, 2 * last->src, 2 * last->dst};
    return true;
}

/* A digit that is at least counted twice, so that two steps of it are still in the loop. */
static bool find_digit(const ts_plan_box *box, ts_side side, int64_t stride, ts_digit *out) {
    for (int i = 0; i < box->loop_count; i++) {
        const ts_plan_loop *loop = &box->loops[i];
        int64_t step = ts_plan_step_bits(loop, side);
        if (step <= 0 || step > stride) continue;
        int bit = __builtin_ctzll((uint64_t)stride) - __builtin_ctzll((uint64_t)step);
        if (bit < 0 || step << bit != stride || loop->extent >> bit < 2) continue;
        *out = (ts_digit){i, bit, loop->src_bits * (INT64_C(1) << bit), loop->dst_bits * (INT64_C(1) << bit)};
        return true;
    }
    return false;
}

bool ts_digits_find(const ts_plan_box *box, ts_side side, int64_t stride, int count, ts_digit *digits) {
    for (int i = 0; i < count; i++)
        if (!(i > 0 && continue_digit(box, &digits[i - 1], &digits[i])) &&
            !find_digit(box, side, stride << i, &digits[i]))
            return false;
    return true;
}

static int position_of(const ts_digit *d, const ts_digit *digits, int count) {
    for (int i = 0; i < count; i++)
        if (digits[i].loop == d->loop && digits[i].bit == d->bit) return i;
    return -1;
}

static bool in_order(const int *positions, int count) {
    for (int i = 0; i < count; i++)
        if (positions[i] != i) return false;
    return true;
}

/* Byte p of a line whose digit i is the source's digit positions[i] comes from byte order[p]; does any
 * move? */
static bool fill_order(uint8_t *order, int unit_log2, int count, const int *positions) {
    for (int p = 0; p < 1 << unit_log2; p++) order[p] = (uint8_t)p;
    for (int i = 0; i < count; i++) {
        int half = 1 << (unit_log2 + i), step = 1 << (unit_log2 + positions[i]);
        for (int p = 0; p < half; p++) order[half + p] = (uint8_t)(order[p] + step);
    }
    return !in_order(positions, count);
}

/* Arranges lines of two lanes, whose highest digit chooses the lane: what comes to that position is first
 * brought to the top of its lane, below it the others in their order; then both change places; then what came
 * down finds its own. */
static void arrange_lanes(ts_tile *tile, int unit_log2, int count, const int *positions) {
    int low = count - 1, first[TS_TILE_STAGES], second[TS_TILE_STAGES], used = 0;
    tile->swaps = positions[low] != low;
    if (!tile->swaps) {
        tile->orders = fill_order(tile->order, unit_log2, low, positions);
        return;
    }
    for (int i = 0; i < low; i++)
        if (positions[i] != low) first[used++] = positions[i];
    first[low - 1] = positions[low];
    for (int i = 0, k = 0; i < low; i++) second[i] = positions[i] == low ? low - 1 : k++;
    tile->orders = fill_order(tile->order, unit_log2, low, first);
    tile->orders_again = fill_order(tile->order_again, unit_log2, low, second);
}

/* The source line's digits when it has been arranged: what stays, in the destination's order, below what
 * leaves. The top digit of two lanes is apart. */
typedef struct {
    int positions[TS_TILE_STAGES], used;
    bool has_lanes;
    int top; /* the digit that stays as the lane's; -1: that one leaves */
} arrangement;

/* Digits of the destination that the source has too stay, others enter. */
static void let_enter(ts_tile *tile, const ts_network *network, arrangement *a, ts_digit *enters) {
    for (int i = 0; i < network->count; i++) {
        int position = position_of(&network->dst[i], network->src, network->count);
        if (position < 0) {
            tile->granules |= 1 << (network->unit_log2 + i);
            enters[tile->stages++] = network->dst[i];
        } else if (a->has_lanes && i == network->count - 1) {
            a->top = position;
        } else {
            a->positions[a->used++] = position;
        }
    }
}

/* As many as enter: the highest first, but that of the lanes last. */
static void let_leave(const ts_tile *tile, const ts_network *network, arrangement *a, ts_digit *leaves) {
    for (int i = 0; i < network->count; i++)
        if (position_of(&network->src[i], network->dst, network->count) < 0) a->positions[a->used++] = i;
    for (int j = 0; j < tile->stages; j++) leaves[j] = network->src[a->positions[a->used - 1 - j]];
    if (!a->has_lanes) return;
    if (a->top >= 0) {
        a->positions[a->used++] = a->top;
        return;
    }
    for (int j = 0; j + 1 < tile->stages; j++) leaves[j] = leaves[j + 1];
    leaves[tile->stages - 1] = network->src[a->positions[a->used - 1]];
}

void ts_network_make(ts_tile *tile, const ts_network *network, ts_digit *enters, ts_digit *leaves) {
    int count = network->count, unit_log2 = network->unit_log2;
    arrangement a = {.has_lanes = network->line_bytes == 32 && count > 0, .top = -1};
    tile->line_bytes = network->line_bytes;
    tile->unit_log2 = unit_log2;
    tile->stages = tile->granules = 0;
    let_enter(tile, network, &a, enters);
    let_leave(tile, network, &a, leaves);
    assert(a.used == count);
    tile->orders = tile->swaps = tile->orders_again = false;
    if (in_order(a.positions, count)) return;
    if (a.has_lanes)
        arrange_lanes(tile, unit_log2, count, a.positions);
    else
        tile->orders = fill_order(tile->order, unit_log2, count, a.positions);
}
