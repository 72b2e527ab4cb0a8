/* Choosing a kernel for a box: which loops a tile or a run takes, and in which order the others turn around
 * it. */
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "tilesim/layout/convert.h"

enum { AHEAD_BYTES = 1024, LINE_OF_MEMORY = 64, BAND_BYTES = 128, PEELED_BYTES = 64 << 10 };

static int log2_of(int64_t n) { return 63 - __builtin_clzll((uint64_t)n); }

static ts_load load_of(const ts_mover *m) {
    ts_dtype from = m->src.dtype, to = m->dst.dtype;
    if (from == TS_DTYPE_F32 && to == TS_DTYPE_BF16) return TS_LOAD_BF16_FROM_F32;
    return from == TS_DTYPE_BF16 && to == TS_DTYPE_F32 ? TS_LOAD_F32_FROM_BF16 : TS_LOAD_SAME;
}

/* ---- The loops that a kernel leaves ---- */

/* How many low bits of each loop the digits take; false when they leave one out between, or take one twice.
 */
static bool count_bits(const ts_plan_box *box, const ts_digit *digits, int count, int *bits) {
    uint64_t taken[TS_PLAN_MAX_LOOPS] = {0};
    for (int i = 0; i < count; i++) taken[digits[i].loop] |= UINT64_C(1) << digits[i].bit;
    for (int i = 0; i < box->loop_count; i++) {
        if ((taken[i] & (taken[i] + 1)) != 0) return false;
        bits[i] = __builtin_popcountll(taken[i]);
    }
    return true;
}

static void set_outer(ts_job *j, const ts_plan_box *box, const int *bits) {
    j->outer_count = 0;
    for (int i = 0; i < box->loop_count; i++) {
        ts_plan_loop loop = box->loops[i];
        int64_t times = INT64_C(1) << bits[i];
        loop = (ts_plan_loop){loop.extent / times, loop.src_bits * times, loop.dst_bits * times};
        if (loop.extent > 1) j->outer[j->outer_count++] = loop;
    }
}

/* Does everything around the kernel step by multiples of these? */
static bool steps_by(const ts_job *j, const ts_plan_box *box, int64_t src_bits, int64_t dst_bits) {
    int64_t src = box->src_bits, dst = box->dst_bits;
    for (int i = 0; i < j->outer_count; i++) {
        src |= j->outer[i].src_bits;
        dst |= j->outer[i].dst_bits;
    }
    return src % src_bits == 0 && dst % dst_bits == 0;
}

/* ---- Tiles ---- */

static void set_lines(ts_job *j, const ts_digit *enters, const ts_digit *leaves) {
    ts_tile *tile = &j->tile;
    for (int i = 0; i < 1 << tile->stages; i++) {
        int64_t src = 0, dst = 0;
        for (int k = 0; k < tile->stages; k++) {
            src += (i >> k & 1) * enters[k].src;
            dst += (i >> k & 1) * leaves[k].dst;
        }
        j->line_bits[i] = src;
        tile->src_line[i] = j->fills ? i * tile->line_bytes : src / 8;
        tile->dst_line[i] = j->joins ? i * tile->line_bytes : dst / 8;
        j->narrow.dst_line[i] = dst / 8;
    }
}

/* The digits whose elements share a byte of the destination, if they can be loaded in parts: they must not
 * lie within a source line. */
static int find_parts(ts_job *j, const ts_plan_box *box, const ts_digit *src, int src_count,
                      ts_digit *digits) {
    const ts_mover *m = j->m;
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

static bool match_tile(ts_job *j, const ts_plan_box *box, const ts_tile_kernels *kernels, int *bits) {
    const ts_mover *m = j->m;
    ts_load how = load_of(m);
    ts_tile *tile = &j->tile;
    int unit_log2 = log2_of(ts_mover_width(&m->dst) / 8), count = log2_of(kernels->line_bytes) - unit_log2;
    ts_digit digits[2 * TS_TILE_STAGES + 3], *dst = digits + count, enters[TS_TILE_STAGES],
                                             leaves[TS_TILE_STAGES];
    if (count < 0 || !ts_digits_find(box, false, ts_mover_width(&m->src), count, digits)) return false;
    int parts = find_parts(j, box, digits, count, digits + 2 * count);
    if (!ts_digits_find(box, true, (int64_t)m->dst.element_bits << parts, count, dst) ||
        !count_bits(box, digits, 2 * count + parts, bits)) {
        return false;
    }
    ts_network_make(tile, kernels->line_bytes, unit_log2, count, digits, dst, enters, leaves);
    if ((tile->orders || tile->swaps) && !kernels->orders) return false;
    j->kernels = kernels;
    j->narrow.lines = 1 << tile->stages;
    j->narrow.truth = m->dst.dtype == TS_DTYPE_PRED;
    j->narrow.src_width = m->src.element_bits < 8 && m->src.dtype == m->dst.dtype ? m->src.element_bits : 8;
    j->narrow.dst_width = m->dst.element_bits < 8 ? m->dst.element_bits : 8;
    j->joins = j->narrow.dst_width * j->narrow.parts < 8;
    j->fills = how == TS_LOAD_SAME && (!m->same || m->dst.element_bits < 8);
    set_lines(j, enters, leaves);
    set_outer(j, box, bits);
    int64_t places = 0;
    for (int i = 0; i < tile->stages; i++) places |= leaves[i].dst;
    if (places % 8 != 0 || !steps_by(j, box, m->src.element_bits < 8 ? m->src.element_bits : 8, 8))
        return false;
    j->tile_function = kernels->by_granules ? kernels->by_granules[how][tile->granules]
                                            : kernels->by_stages[how][tile->stages];
    return j->tile_function != NULL;
}

/* ---- Runs ---- */

static bool match_run(ts_job *j, const ts_plan_box *box, int64_t least_bytes, int *bits) {
    const ts_mover *m = j->m;
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
    memset(bits, 0, TS_PLAN_MAX_LOOPS * sizeof *bits);
    set_outer(j, &others, bits);
    j->tile_function = NULL;
    j->fills = false;
    return steps_by(j, box, 8, 8);
}

/* Splits a longer run, so that it can be made in a scratch. */
static void split_run(ts_job *j) {
    int64_t most = TS_SCRATCH_BYTES / 2 / (j->m->dst.element_bits / 8), rest = j->run_elements % most;
    if (j->run_elements <= most || rest != 0) return;
    j->outer[j->outer_count++] =
        (ts_plan_loop){j->run_elements / most, most * j->m->src.element_bits, most * j->m->dst.element_bits};
    j->run_elements = most;
    j->run_bytes = most * j->m->dst.element_bits / 8;
}

/* ---- The order of the loops ---- */

static int by_source(const void *left, const void *right) {
    int64_t a = llabs(((const ts_plan_loop *)left)->src_bits),
            b = llabs(((const ts_plan_loop *)right)->src_bits);
    return a > b ? -1 : a < b;
}

/* Makes a part of the loop that continues a line of one side the innermost. */
static bool split_inner(ts_job *j, bool dst, int64_t step, int64_t most) {
    if (most < 2) return false;
    for (int i = 0; i < j->outer_count; i++) {
        ts_plan_loop loop = j->outer[i];
        int64_t factor = loop.extent & -loop.extent;
        if ((dst ? loop.dst_bits : loop.src_bits) != step || factor < 2) continue;
        if (factor > most) factor = most;
        j->outer[i] = (ts_plan_loop){loop.extent / factor, loop.src_bits * factor, loop.dst_bits * factor};
        j->outer[j->outer_count++] = (ts_plan_loop){factor, loop.src_bits, loop.dst_bits};
        return true;
    }
    return false;
}

/* Is every store that passes the caches one of an aligned line, with the rest of its 64 bytes close behind?
 */
static bool can_stream(const ts_job *j, const ts_plan_box *box, bool continues) {
    const ts_tile *tile = &j->tile;
    intptr_t first = (intptr_t)j->m->dst.bytes + box->dst_bits / 8;
    if (first % LINE_OF_MEMORY != 0 || j->joins) return false;
    for (int i = 0; i < tile->stages; i++) {
        if (tile->dst_line[1 << i] % tile->line_bytes != 0) return false;
        continues = continues || tile->dst_line[1 << i] == tile->line_bytes;
    }
    for (int i = 0; i < j->outer_count; i++) {
        if (j->outer[i].dst_bits % (8 * tile->line_bytes) != 0) return false;
    }
    return continues || tile->line_bytes == LINE_OF_MEMORY;
}

/* Memory is read in its order; in a cache the order of the destination is as good. Inside turns what
 * continues the lines of the destination, and of lines that are shorter than the memory's also what continues
 * those of the source. */
static void order_loops(ts_job *j, const ts_plan_box *box) {
    const ts_mover *m = j->m;
    ts_tile *tile = &j->tile;
    bool continues = false, is_short = tile->line_bytes < LINE_OF_MEMORY;
    if (m->streams) qsort(j->outer, (size_t)j->outer_count, sizeof j->outer[0], by_source);
    if (!j->tile_function) return;
    int64_t lines = 1 << tile->stages, line_bits = 8 * tile->line_bytes, together = lines < 8 ? 8 / lines : 1;
    int64_t band = BAND_BYTES / tile->line_bytes > together ? BAND_BYTES / tile->line_bytes : together;
    if (is_short && lines > 1)
        split_inner(j, false, line_bits / ts_mover_width(&m->dst) * ts_mover_width(&m->src), 2 * together);
    if ((is_short || m->streams) && lines > 1) continues = split_inner(j, true, line_bits, band);
    tile->streams = m->streams && can_stream(j, box, continues);
    tile->ahead_bytes = m->streams ? AHEAD_BYTES : 0;
    j->narrow.ahead_bytes = tile->ahead_bytes;
}

static void enter_kernel(ts_job *j) {
    int inside = j->tile_function && !j->fills ? TS_TILE_LOOPS : 2;
    for (int i = 0; i < TS_TILE_LOOPS; i++) j->inner[i] = (ts_kernel_loop){1, 0, 0};
    for (int i = inside - 1; i >= 0 && j->outer_count > 0; i--) {
        ts_plan_loop loop = j->outer[--j->outer_count];
        j->inner[i] = (ts_kernel_loop){loop.extent, loop.src_bits, loop.dst_bits};
        if (!j->fills) j->inner[i] = (ts_kernel_loop){loop.extent, loop.src_bits / 8, loop.dst_bits / 8};
    }
    memcpy(j->tile.loops, j->inner, sizeof j->inner);
    if (j->fills) j->tile.loops[0] = (ts_kernel_loop){1, 0, 0};
}

/* ---- A box ---- */

/* Moves what a tile leaves of each loop: as the end of another tile, which moves some elements again, where
 * elements are whole bytes. */
static void move_rests(const ts_mover *m, ts_plan_box box, const int *bits) {
    bool again = m->src.element_bits >= 8 && m->dst.element_bits >= 8;
    for (int i = 0; i < box.loop_count; i++) {
        int64_t tile = INT64_C(1) << bits[i], rest = box.loops[i].extent & (tile - 1);
        if (rest == 0) continue;
        ts_plan_box edge = box;
        edge.loops[i].extent = again ? tile : rest;
        edge.src_bits += (box.loops[i].extent - edge.loops[i].extent) * box.loops[i].src_bits;
        edge.dst_bits += (box.loops[i].extent - edge.loops[i].extent) * box.loops[i].dst_bits;
        ts_move_box(m, &edge);
        box.loops[i].extent -= rest;
    }
}

/* Widths for which there are kernels. */
static bool is_regular(const ts_mover *m, const ts_mover_side *side) {
    int bits = side->element_bits;
    const ts_dtype_info *type = ts_dtype_get(side->dtype);
    if (m->src.dtype != m->dst.dtype && bits != type->stored_bits && bits != type->value_bits) return false;
    if (bits < 8) return bits > 0 && 8 % bits == 0;
    if (!m->same && bits != type->stored_bits) return false;
    return bits % 8 == 0 && (bits & (bits - 1)) == 0;
}

static bool match(ts_job *j, const ts_plan_box *box, int *bits) {
    const ts_mover *m = j->m;
    if (!is_regular(m, &m->src) || !is_regular(m, &m->dst)) return false;
    bool converts = ts_mover_converts(m) && load_of(m) == TS_LOAD_SAME;
    if ((converts || (m->same && m->dst.element_bits >= 8)) &&
        match_run(j, box, m->kernels->tiles[0]->line_bytes, bits)) {
        if (converts) split_run(j);
        return true;
    }
    for (int i = 0; m->kernels->tiles[i]; i++) {
        if (match_tile(j, box, m->kernels->tiles[i], bits)) return true;
    }
    return match_run(j, box, 0, bits);
}

/* Narrow elements that lie in whole bytes on both sides: bytes. */
static bool widen(const ts_mover *m, const ts_plan_box *box, ts_plan_box *wide) {
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
static bool split_bytes(const ts_mover *m, ts_plan_box *box) {
    for (int i = 0; i < box->loop_count && box->loop_count < TS_PLAN_MAX_LOOPS; i++) {
        ts_plan_loop loop = box->loops[i];
        int64_t times = loop.src_bits > 0 && 8 % loop.src_bits == 0 ? 8 / loop.src_bits : 1;
        if (times == 1 || loop.extent <= times) continue;
        int bits[TS_PLAN_MAX_LOOPS] = {0};
        bits[i] = log2_of(times);
        move_rests(m, *box, bits);
        box->loops[i] = (ts_plan_loop){loop.extent / times, loop.src_bits * times, loop.dst_bits * times};
        box->loops[box->loop_count++] = (ts_plan_loop){times, loop.src_bits, loop.dst_bits};
        return true;
    }
    return false;
}

/* A loop to turn outside of both a tile and what it leaves, so that these meet in the cache; -1 for none. */
static int find_peel(const ts_mover *m, const ts_plan_box *box, const int *bits) {
    int best = -1;
    bool leaves = false;
    int64_t bytes = m->dst.element_bits / 8;
    for (int i = 0; i < box->loop_count; i++) {
        bytes *= box->loops[i].extent;
        leaves = leaves || (box->loops[i].extent & ((INT64_C(1) << bits[i]) - 1)) != 0;
    }
    for (int i = 0; leaves && m->streams && i < box->loop_count; i++) {
        const ts_plan_loop *loop = &box->loops[i];
        if (bits[i] > 0 || loop->extent < 2 || bytes / loop->extent < PEELED_BYTES) continue;
        if (best < 0 || llabs(loop->src_bits) > llabs(box->loops[best].src_bits)) best = i;
    }
    return best;
}

static void peel(const ts_mover *m, ts_plan_box box, int loop) {
    int64_t extent = box.loops[loop].extent;
    box.loops[loop].extent = 1;
    for (int64_t i = 0; i < extent; i++) {
        ts_move_box(m, &box);
        box.src_bits += box.loops[loop].src_bits;
        box.dst_bits += box.loops[loop].dst_bits;
    }
}

void ts_move_box(const ts_mover *m, const ts_plan_box *box) {
    ts_plan_box wide;
    int bits[TS_PLAN_MAX_LOOPS];
    ts_job j;
    if (widen(m, box, &wide)) {
        ts_mover bytes = *m;
        bytes.src.element_bits = bytes.dst.element_bits = 8;
        ts_move_box(&bytes, &wide);
        return;
    }
    if (m->src.element_bits < 8) {
        wide = *box;
        while (split_bytes(m, &wide)) continue;
        box = &wide;
    }
    j.m = m;
    if (!match(&j, box, bits)) {
        ts_move_elements(m, box);
        return;
    }
    int outside = j.tile_function ? find_peel(m, box, bits) : -1;
    if (outside >= 0) {
        peel(m, *box, outside);
        return;
    }
    order_loops(&j, box);
    enter_kernel(&j);
    ts_job_run(&j, box->src_bits, box->dst_bits);
    if (j.tile_function) move_rests(m, *box, bits);
}
