/* Choosing a kernel for a box: which loops a tile or a run takes. */
#include <stdlib.h>
#include <string.h>

#include "copy_plan.h"
#include "layout/convert.h"

enum {
    PEELED_BYTES = 64 << 10,
    SHORT_LINE = 32,
    MOSTLY = 2,
    HARDLY = 8,
    LONG_RUN = 512,
    FEW = 8,
    LITTLE = 2,
    FEW_TILES = 3,
    MANY = 8,
    TINY_ELEMENTS = 384,
    WIDEST_ELEMENT = 16, /* bytes */
    MOST_DIRECT = 4      /* stages of a tile that is as fast when it stores for itself */
};

static int log2_of(int64_t n) { return 63 - __builtin_clzll((uint64_t)n); }

static ts_load load_of(const ts_copy_context *m) {
    ts_dtype from = m->src.dtype, to = m->dst.dtype;
    if (from == TS_DTYPE_F32 && to == TS_DTYPE_BF16) return TS_LOAD_BF16_FROM_F32;
    return from == TS_DTYPE_BF16 && to == TS_DTYPE_F32 ? TS_LOAD_F32_FROM_BF16 : TS_LOAD_SAME;
}

/* ---- The loops that a kernel leaves ---- */

/* How many steps of each loop the digits take; false when they leave one out between, or take one twice. */
static bool count_times(const ts_plan_box *box, const ts_digit *digits, int count, int64_t *times) {
    uint64_t taken[TS_PLAN_MAX_LOOPS] = {0};
    for (int i = 0; i < count; i++) {
        if (digits[i].loop >= 0) taken[digits[i].loop] |= UINT64_C(1) << digits[i].bit;
    }
    for (int i = 0; i < box->loop_count; i++) {
        if ((taken[i] & (taken[i] + 1)) != 0) return false;
        times[i] = (int64_t)taken[i] + 1;
    }
    return true;
}

/* What tiles leave of a loop; those that take more steps than it has leave nothing. */
static int64_t rest_of(const ts_plan_loop *loop, int64_t times) {
    return loop->extent < times ? 0 : loop->extent % times;
}

static bool is_narrow(const ts_copy_context *m) { return m->src.element_bits < 8 || m->dst.element_bits < 8; }

/* Is what tiles leave of a loop moved by itself, and not by a tile that ends where the loop does? */
static bool is_apart(const ts_copy_context *m, const ts_plan_loop *loop, int64_t times) {
    int64_t rest = rest_of(loop, times);
    if (is_narrow(m)) return rest > 0;
    return rest > 0 && !m->streams && !m->staging && rest <= LITTLE && rest * MANY <= times &&
           loop->extent < FEW_TILES * times;
}

void ts_copy_plan_set_loops(ts_copy_plan *j, const ts_plan_box *box, const int64_t *times) {
    j->loop_count = 0;
    for (int i = 0; i < box->loop_count; i++) {
        ts_plan_loop loop = box->loops[i];
        int64_t last = loop.extent - times[i];
        bool has_tail = rest_of(&loop, times[i]) > 0 && !is_apart(j->m, &loop, times[i]);
        if (loop.extent / times[i] < 2 && !has_tail) continue;
        j->loops[j->loop_count++] = (ts_copy_loop){.count = loop.extent / times[i],
                                                   .src_bits = loop.src_bits * times[i],
                                                   .dst_bits = loop.dst_bits * times[i],
                                                   .most = 1,
                                                   .has_tail = has_tail,
                                                   .tail_src_bits = loop.src_bits * last,
                                                   .tail_dst_bits = loop.dst_bits * last};
    }
}

bool ts_copy_plan_steps_by(const ts_copy_plan *j, const ts_plan_box *box, int64_t src_bits,
                           int64_t dst_bits) {
    int64_t src = box->src_bits, dst = box->dst_bits;
    for (int i = 0; i < j->loop_count; i++) {
        src |= j->loops[i].src_bits | j->loops[i].tail_src_bits;
        dst |= j->loops[i].dst_bits | j->loops[i].tail_dst_bits;
    }
    return src % src_bits == 0 && dst % dst_bits == 0;
}

/* ---- Tiles ---- */

static void set_lines(ts_copy_plan *j, const ts_digit *enters, const ts_digit *leaves) {
    ts_tile *tile = &j->tile;
    int64_t *src = j->line_bits, dst[TS_TILE_LINES];
    src[0] = dst[0] = 0;
    for (int i = 1; i < 1 << tile->stages; i++) {
        int low = __builtin_ctz((unsigned)i), others = i & (i - 1);
        src[i] = src[others] + enters[low].src;
        dst[i] = dst[others] + leaves[low].dst;
    }
    for (int i = 0; i < 1 << tile->stages; i++) {
        tile->src_line[i] = j->fills ? i * tile->line_bytes : src[i] / 8;
        tile->dst_line[i] = j->joins ? i * tile->line_bytes : dst[i] / 8;
        j->narrow.dst_line[i] = dst[i] / 8;
    }
}

/* The digits whose elements share a byte of the destination, if they can be loaded in parts: they must not
 * lie within a source line. */
static int find_parts(ts_copy_plan *j, const ts_plan_box *box, const ts_digit *src, int src_count,
                      ts_digit *digits) {
    const ts_copy_context *m = j->m;
    int width = m->dst.element_bits, count = width < 8 ? 3 - log2_of(width) : 0;
    j->narrow.parts = 1;
    j->narrow.part[0] = 0;
    if (count == 0 || m->src.dtype != m->dst.dtype || !ts_digits_find(box, true, width, count, digits))
        return 0;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < src_count; k++) {
            if (src[k].loop == digits[i].loop && src[k].bit == digits[i].bit) return 0;
        }
    }
    j->narrow.parts = 1 << count;
    for (int y = 0; y < j->narrow.parts; y++) {
        j->narrow.part[y] = 0;
        for (int k = 0; k < count; k++) j->narrow.part[y] += (y >> k & 1) * digits[k].src;
    }
    return count;
}

/* The elements of a whole line that is not so padded in memory: ts_lines_order. */
typedef struct {
    int count;
    uint8_t positions[TS_LINE_BYTES], places[TS_LINE_BYTES];
} line_elements;

/* How lines that are padded otherwise than in memory are arranged. */
static void set_orders(ts_tile *tile, int unit, const line_elements *src, const line_elements *dst) {
    uint8_t from[TS_LINE_BYTES] = {0};
    bool moves = src->positions[src->count - 1] != src->places[src->count - 1];
    for (int i = 0; moves && i < src->count * unit; i++) {
        from[src->positions[i / unit] * unit + i % unit] = (uint8_t)(src->places[i / unit] * unit + i % unit);
    }
    for (int p = 0; moves && p < tile->line_bytes; p++) {
        tile->order[p] = from[tile->orders ? tile->order[p] : p];
    }
    tile->orders = tile->orders || moves;
    tile->packs = dst->positions[dst->count - 1] != dst->places[dst->count - 1];
    for (int i = 0; tile->packs && i < dst->count * unit; i++) {
        tile->pack[dst->places[i / unit] * unit + i % unit] =
            (uint8_t)(dst->positions[i / unit] * unit + i % unit);
    }
}

/* The bytes of each line, which has the first so many elements. */
static void set_masks(uint64_t *masks, int lines, const uint8_t *have, int unit, const line_elements *line) {
    uint64_t first[TS_LINE_BYTES + 1] = {0};
    for (int i = 0; i < line->count; i++)
        first[i + 1] = first[i] | ((UINT64_C(1) << unit) - 1) << (line->places[i] * unit);
    for (int i = 0; i < lines; i++) masks[i] = first[have[i]];
}

/* Tiles of lines that are not whole, if enough of them is there. */
static bool match_masked(ts_copy_plan *j, const ts_plan_box *box, const ts_tile_kernels *kernels, int least,
                         int64_t *times) {
    const ts_copy_context *m = j->m;
    ts_tile *tile = &j->tile;
    int width = m->dst.element_bits, unit = width / 8,
        count = log2_of(kernels->line_bytes / (unit ? unit : 1));
    line_elements from, to;
    uint8_t dst_have[TS_TILE_LINES];
    int64_t useful = 1;
    ts_digit digits[2 * TS_TILE_STAGES], *dst = digits + count, enters[TS_TILE_STAGES],
                                         leaves[TS_TILE_STAGES];
    if (!kernels->masked || m->src.element_bits < 8 || width < 8 || count < 1) return false;
    ts_lines_find(box, false, m->src.element_bits, count, digits);
    ts_lines_find(box, true, width, count, dst);
    if (!count_times(box, digits, 2 * count, times)) return false;
    ts_network_make(tile, kernels->line_bytes, log2_of(unit), count, digits, dst, enters, leaves);
    for (int i = 0; i < box->loop_count; i++) {
        useful *= times[i] < box->loops[i].extent ? times[i] : box->loops[i].extent;
    }
    if (useful * least < (int64_t)1 << (tile->stages + count)) return false;
    from.count = ts_lines_order(box, false, m->src.element_bits, digits, count, from.positions, from.places);
    to.count = ts_lines_order(box, true, width, dst, count, to.positions, to.places);
    set_orders(tile, unit, &from, &to);
    j->kernels = kernels;
    j->joins = false;
    j->fills = !m->same;
    j->narrow.lines = 1 << tile->stages;
    set_lines(j, enters, leaves);
    ts_lines_measure(box, digits, count, enters, tile->stages, from.count, j->have);
    ts_lines_measure(box, dst, count, leaves, tile->stages, to.count, dst_have);
    set_masks(tile->src_mask, 1 << tile->stages, j->have, unit, &from);
    set_masks(tile->dst_mask, 1 << tile->stages, dst_have, unit, &to);
    for (int i = 0; i < 1 << tile->stages; i++) {
        if (j->have[i] > 0) j->have[i] = (uint8_t)(from.places[j->have[i] - 1] + 1);
        if (tile->src_mask[i] == 0) tile->src_line[i] = 0;
        if (tile->dst_mask[i] == 0) tile->dst_line[i] = 0;
    }
    ts_copy_plan_set_loops(j, box, times);
    tile->masks = true;
    j->tile_function = kernels->masked[tile->stages];
    return true;
}

/* Is it the interleave of two lines, with nothing else to arrange? */
static bool is_pairs(const ts_tile *tile, int unit_log2, int count, const ts_digit *src,
                     const ts_digit *dst) {
    for (int i = 0; i + 1 < count; i++) {
        if (dst[i + 1].loop != src[i].loop || dst[i + 1].bit != src[i].bit) return false;
    }
    return tile->stages == 1 && tile->granules == 1 << unit_log2;
}

static bool match_tile(ts_copy_plan *j, const ts_plan_box *box, const ts_tile_kernels *kernels,
                       int64_t *times) {
    const ts_copy_context *m = j->m;
    ts_load how = load_of(m);
    ts_tile *tile = &j->tile;
    int unit_log2 = log2_of(ts_copy_width(&m->dst) / 8), count = log2_of(kernels->line_bytes) - unit_log2;
    ts_digit digits[2 * TS_TILE_STAGES + 3], *dst = digits + count, enters[TS_TILE_STAGES],
                                             leaves[TS_TILE_STAGES];
    if (count < 0 || !ts_digits_find(box, false, ts_copy_width(&m->src), count, digits)) return false;
    int parts = find_parts(j, box, digits, count, digits + 2 * count);
    if (!ts_digits_find(box, true, (int64_t)m->dst.element_bits << parts, count, dst) ||
        !count_times(box, digits, 2 * count + parts, times)) {
        return false;
    }
    ts_network_make(tile, kernels->line_bytes, unit_log2, count, digits, dst, enters, leaves);
    if (how == TS_LOAD_BF16_FROM_F32 && is_pairs(tile, unit_log2, count, digits, dst))
        how = TS_LOAD_BF16_PAIRS;
    else if ((tile->orders || tile->swaps) && !kernels->orders)
        return false;
    tile->masks = false;
    j->kernels = kernels;
    j->narrow.lines = 1 << tile->stages;
    j->narrow.truth = m->dst.dtype == TS_DTYPE_PRED;
    j->narrow.src_width = m->src.element_bits < 8 && m->src.dtype == m->dst.dtype ? m->src.element_bits : 8;
    j->narrow.dst_width = m->dst.element_bits < 8 ? m->dst.element_bits : 8;
    j->joins = j->narrow.dst_width * j->narrow.parts < 8;
    j->fills = how == TS_LOAD_SAME && (!m->same || m->dst.element_bits < 8);
    set_lines(j, enters, leaves);
    ts_copy_plan_set_loops(j, box, times);
    int64_t places = 0;
    for (int i = 0; i < tile->stages; i++) places |= leaves[i].dst;
    if (places % 8 != 0 ||
        !ts_copy_plan_steps_by(j, box, m->src.element_bits < 8 ? m->src.element_bits : 8, 8))
        return false;
    j->tile_function = kernels->by_granules ? kernels->by_granules[how][tile->granules]
                                            : kernels->by_stages[how][tile->stages];
    return j->tile_function != NULL;
}

/* ---- Runs ---- */

static bool match_run(ts_copy_plan *j, const ts_plan_box *box, int64_t least_bytes, int64_t *times) {
    const ts_copy_context *m = j->m;
    int src_width = m->src.element_bits, dst_width = m->dst.element_bits, run = 0;
    while (run < box->loop_count &&
           (box->loops[run].src_bits != src_width || box->loops[run].dst_bits != dst_width))
        run++;
    if (run == box->loop_count) return false;
    j->run_elements = box->loops[run].extent;
    j->run_bytes = j->run_elements * dst_width / 8;
    if (j->run_bytes < least_bytes || j->run_elements * dst_width % 8 != 0 ||
        j->run_elements * src_width % 8 != 0)
        return false;
    ts_plan_box others = *box;
    others.loops[run].extent = 1;
    for (int i = 0; i < box->loop_count; i++) times[i] = 1;
    ts_copy_plan_set_loops(j, &others, times);
    j->tile_function = NULL;
    j->fills = false;
    return ts_copy_plan_steps_by(j, box, 8, 8);
}

/* Splits a longer run, so that it can be made in a scratch. */
static void split_run(ts_copy_plan *j) {
    int64_t most = TS_SCRATCH_BYTES / 2 / (j->m->dst.element_bits / 8), rest = j->run_elements % most;
    if (j->run_elements <= most || rest != 0) return;
    j->loops[j->loop_count++] = (ts_copy_loop){.count = j->run_elements / most,
                                               .src_bits = most * j->m->src.element_bits,
                                               .dst_bits = most * j->m->dst.element_bits,
                                               .most = 1};
    j->run_elements = most;
    j->run_bytes = most * j->m->dst.element_bits / 8;
}

/* ---- A box ---- */

/* Moves what tiles leave of each loop. */
static void move_rests(const ts_copy_context *m, ts_plan_box box, const int64_t *times) {
    for (int i = 0; i < box.loop_count; i++) {
        int64_t rest = rest_of(&box.loops[i], times[i]);
        if (!is_apart(m, &box.loops[i], times[i])) continue;
        ts_plan_box edge = box;
        edge.loops[i].extent = rest;
        edge.src_bits += (box.loops[i].extent - edge.loops[i].extent) * box.loops[i].src_bits;
        edge.dst_bits += (box.loops[i].extent - edge.loops[i].extent) * box.loops[i].dst_bits;
        ts_move_box(m, &edge);
        box.loops[i].extent -= rest;
    }
}

/* Widths for which there are kernels. */
static bool is_regular(const ts_copy_context *m, const ts_copy_side *side) {
    int bits = side->element_bits;
    const ts_dtype_info *type = ts_dtype_get(side->dtype);
    if (m->src.dtype != m->dst.dtype && bits != type->stored_bits && bits != type->value_bits) return false;
    if (bits < 8) return bits > 0 && 8 % bits == 0;
    if (!m->same && bits != type->stored_bits) return false;
    return bits % 8 == 0 && (bits & (bits - 1)) == 0;
}

static bool match(ts_copy_plan *j, const ts_plan_box *box, int64_t *times) {
    const ts_copy_context *m = j->m;
    if (!is_regular(m, &m->src) || !is_regular(m, &m->dst)) return false;
    bool converts = ts_copy_converts(m) && load_of(m) == TS_LOAD_SAME;
    if ((converts || (m->same && m->dst.element_bits >= 8)) &&
        match_run(j, box, m->kernels->tiles[0]->line_bytes, times)) {
        if (converts) split_run(j);
        return true;
    }
    if (m->same && m->dst.element_bits >= 8 && ts_copy_plan_match_permute(j, box, times)) return true;
    if (m->same && m->dst.element_bits >= 8 && !m->streams && ts_copy_plan_match_transpose(j, box, times))
        return true;
    /* Whole lines, then lines that are mostly there, then shorter ones. */
    for (int i = 0; m->kernels->tiles[i]; i++) {
        const ts_tile_kernels *kernels = m->kernels->tiles[i];
        if (match_tile(j, box, kernels, times) || match_masked(j, box, kernels, MOSTLY, times)) return true;
        if (kernels->line_bytes <= SHORT_LINE && match_masked(j, box, m->kernels->tiles[0], HARDLY, times))
            return true;
    }
    return match_run(j, box, 0, times);
}

/* Narrow elements that lie in whole bytes on both sides: bytes. */
static bool widen(const ts_copy_context *m, const ts_plan_box *box, ts_plan_box *wide) {
    int width = m->src.element_bits, times = 8 / (width ? width : 8);
    if (!m->same || width >= 8 || times * width != 8) return false;
    *wide = *box;
    for (int i = 0; i < wide->loop_count; i++) {
        ts_plan_loop *loop = &wide->loops[i];
        if (loop->src_bits != width || loop->dst_bits != width || loop->extent % times != 0) continue;
        *loop = (ts_plan_loop){loop->extent / times, 8, 8};
        int64_t all = wide->src_bits | wide->dst_bits;
        for (int k = 0; k < wide->loop_count; k++) all |= wide->loops[k].src_bits | wide->loops[k].dst_bits;
        return all % 8 == 0;
    }
    return false;
}

/* Splits a loop over narrow elements of the source where their byte ends, so that a loop over bytes is left.
 */
static bool split_bytes(const ts_copy_context *m, ts_plan_box *box) {
    for (int i = 0; i < box->loop_count && box->loop_count < TS_PLAN_MAX_LOOPS; i++) {
        ts_plan_loop loop = box->loops[i];
        int64_t times = loop.src_bits > 0 && 8 % loop.src_bits == 0 ? 8 / loop.src_bits : 1;
        if (times == 1 || loop.extent <= times) continue;
        int64_t taken[TS_PLAN_MAX_LOOPS];
        for (int k = 0; k < box->loop_count; k++) taken[k] = k == i ? times : 1;
        move_rests(m, *box, taken);
        box->loops[i] = (ts_plan_loop){loop.extent / times, loop.src_bits * times, loop.dst_bits * times};
        box->loops[box->loop_count++] = (ts_plan_loop){times, loop.src_bits, loop.dst_bits};
        return true;
    }
    return false;
}

/* A loop to turn outside of both a tile and what it leaves, so that these meet in the cache; -1 for none. */
static int find_peel(const ts_copy_context *m, const ts_plan_box *box, const int64_t *times) {
    int best = -1;
    bool leaves = false;
    int64_t bytes = m->dst.element_bits / 8;
    for (int i = 0; i < box->loop_count; i++) {
        bytes *= box->loops[i].extent;
        leaves = leaves || rest_of(&box->loops[i], times[i]) != 0;
    }
    for (int i = 0; leaves && m->streams && i < box->loop_count; i++) {
        const ts_plan_loop *loop = &box->loops[i];
        if (times[i] > 1 || loop->extent < 2 || bytes / loop->extent < PEELED_BYTES) continue;
        if (best < 0 || llabs(loop->src_bits) > llabs(box->loops[best].src_bits)) best = i;
    }
    return best;
}

static void peel(const ts_copy_context *m, ts_plan_box box, int loop) {
    int64_t extent = box.loops[loop].extent;
    box.loops[loop].extent = 1;
    for (int64_t i = 0; i < extent; i++) {
        ts_move_box(m, &box);
        box.src_bits += box.loops[loop].src_bits;
        box.dst_bits += box.loops[loop].dst_bits;
    }
}

bool ts_move_box_in_lines(const ts_copy_context *m, const ts_plan_box *box) {
    int64_t times[TS_PLAN_MAX_LOOPS];
    ts_copy_plan j = {.m = m};
    if (!match(&j, box, times)) return false;
    if (!j.tile_function) return j.run_bytes >= LONG_RUN;
    ts_copy_plan_order(&j, box);
    for (int i = 0; i < j.loop_count; i++) {
        if (j.loops[i].has_tail && j.loops[i].count < FEW) return false;
    }
    return j.streams;
}

bool ts_copy_plan_match(ts_copy_plan *j, const ts_copy_context *m, const ts_plan_box *box) {
    int64_t times[TS_PLAN_MAX_LOOPS];
    j->m = m;
    if (is_narrow(m) || !match(j, box, times)) return false;
    for (int i = 0; j->tile_function && i < box->loop_count; i++) {
        if (is_apart(m, &box->loops[i], times[i])) return false;
    }
    ts_copy_plan_order(j, box);
    return true;
}

/* A transpose of so many lines that it is better made in a scratch, even where it could store whole lines. */
static bool is_large_square(const ts_copy_context *m, const ts_tile *tile) {
    return tile->stages > MOST_DIRECT && m->dst.element_bits / 8 << tile->stages == tile->line_bytes;
}

/* So few elements that to choose a kernel takes longer than to move them? */
static bool is_tiny(const ts_plan_box *box) {
    int64_t elements = 1;
    for (int i = 0; i < box->loop_count; i++) elements *= box->loops[i].extent;
    return elements <= TINY_ELEMENTS;
}

static bool is_element(int64_t bytes) { return bytes <= WIDEST_ELEMENT && (bytes & (bytes - 1)) == 0; }

/* Runs that are as long as wider elements. */
static void move_runs_as_elements(const ts_copy_context *m, const ts_plan_box *box, int64_t run_bytes) {
    ts_copy_context wide = *m;
    ts_plan_box others = *box;
    others.loop_count = 0;
    wide.src.element_bits = wide.dst.element_bits = (int)(8 * run_bytes);
    for (int i = 0; i < box->loop_count; i++) {
        const ts_plan_loop *loop = &box->loops[i];
        bool in_run = loop->src_bits == m->src.element_bits && loop->dst_bits == m->dst.element_bits &&
                      loop->extent * m->dst.element_bits == 8 * run_bytes;
        if (!in_run) others.loops[others.loop_count++] = *loop;
    }
    ts_move_elements(&wide, &others);
}

void ts_move_box(const ts_copy_context *m, const ts_plan_box *box) {
    ts_plan_box wide;
    int64_t times[TS_PLAN_MAX_LOOPS];
    ts_copy_plan j;
    if (m->same && is_tiny(box)) {
        ts_move_elements(m, box);
        return;
    }
    if (widen(m, box, &wide)) {
        ts_copy_context bytes = *m;
        bytes.src.element_bits = bytes.dst.element_bits = 8;
        ts_move_box(&bytes, &wide);
        return;
    }
    j.m = m;
    bool runs = is_narrow(m) && m->dst.element_bits > 1 && m->convert && is_regular(m, &m->src) &&
                is_regular(m, &m->dst) && match_run(&j, box, TS_LINE_BYTES, times);
    if (m->src.element_bits < 8 && !runs) {
        wide = *box;
        while (split_bytes(m, &wide)) continue;
        box = &wide;
    }
    if (!runs && !match(&j, box, times)) {
        ts_move_elements(m, box);
        return;
    }
    if (m->same && !j.tile_function && is_element(j.run_bytes)) {
        move_runs_as_elements(m, box, j.run_bytes);
        return;
    }
    bool leaves = j.tile_function && is_narrow(m);
    int outside = leaves ? find_peel(m, box, times) : -1;
    if (outside >= 0) {
        peel(m, *box, outside);
        return;
    }
    ts_copy_plan_order(&j, box);
    bool direct = j.streams && !is_large_square(m, &j.tile),
         stages = j.tile_function && !direct && !leaves && !j.joins;
    if (m->streams && stages && ts_stage_move(m, box)) return;
    ts_copy_plan_run(&j, box->src_bits, box->dst_bits);
    if (j.tile_function) move_rests(m, *box, times);
}
