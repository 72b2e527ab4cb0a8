/* Moving a box: by which kernel, what its tiles leave, and what goes by way of a scratch. */
#include <stdlib.h>
#include <string.h>

#include "copy_plan.h"

enum {
    PEELED_BYTES = 64 << 10,
    LONG_RUN = 512,
    FEW = 8,
    MOST_DIRECT = 4 /* stages of a tile that is as fast when it stores for itself */
};

/* Moves what tiles leave of each loop. */
static void move_rests(const ts_copy_context *m, const ts_plan_box *all, const int64_t *times) {
    int first = 0;
    while (first < all->loop_count && !ts_copy_rest_is_apart(m, &all->loops[first], times[first])) first++;
    if (first == all->loop_count) return;
    ts_plan_box box = *all;
    for (int i = first; i < box.loop_count; i++) {
        if (!ts_copy_rest_is_apart(m, &box.loops[i], times[i])) continue;
        int64_t rest = ts_copy_rest(&box.loops[i], times[i]);
        ts_plan_box edge = box;
        edge.loops[i].extent = rest;
        edge.src_bits += (box.loops[i].extent - rest) * box.loops[i].src_bits;
        edge.dst_bits += (box.loops[i].extent - rest) * box.loops[i].dst_bits;
        ts_move_box(m, &edge);
        box.loops[i].extent -= rest;
    }
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

/* Splits a loop over narrow elements of the source where their byte ends, so that a loop over bytes is
 * left. */
static bool split_bytes(const ts_copy_context *m, ts_plan_box *box) {
    for (int i = 0; i < box->loop_count && box->loop_count < TS_PLAN_MAX_LOOPS; i++) {
        ts_plan_loop loop = box->loops[i];
        int64_t times = loop.src_bits > 0 && 8 % loop.src_bits == 0 ? 8 / loop.src_bits : 1;
        if (times == 1 || loop.extent <= times) continue;
        int64_t taken[TS_PLAN_MAX_LOOPS];
        for (int k = 0; k < box->loop_count; k++) taken[k] = k == i ? times : 1;
        move_rests(m, box, taken);
        box->loops[i] = (ts_plan_loop){loop.extent / times, loop.src_bits * times, loop.dst_bits * times};
        box->loops[box->loop_count++] = (ts_plan_loop){times, loop.src_bits, loop.dst_bits};
        return true;
    }
    return false;
}

/* A loop to run outside of both a tile and what it leaves, so that these meet in the cache; -1 for none. */
static int find_peel(const ts_copy_context *m, const ts_plan_box *box, const int64_t *times) {
    int best = -1;
    bool leaves = false;
    int64_t bytes = m->dst.element_bits / 8;
    for (int i = 0; i < box->loop_count; i++) {
        bytes *= box->loops[i].extent;
        leaves = leaves || ts_copy_rest(&box->loops[i], times[i]) != 0;
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
    ts_copy_plan copy = {.m = m};
    if (!ts_copy_plan_match_box(&copy, box, times)) return false;
    if (!copy.tile_function) return copy.run_bytes >= LONG_RUN;
    ts_copy_plan_order(&copy, box);
    for (int i = 0; i < copy.loop_count; i++)
        if (copy.loops[i].has_tail && copy.loops[i].count < FEW) return false;
    return copy.streams || copy.in_runs;
}

/* A transpose of so many lines that it is better made in a scratch, even where it could store whole lines. */
static bool is_large_square(const ts_copy_context *m, const ts_tile *tile) {
    return tile->stages > MOST_DIRECT && m->dst.element_bits / 8 << tile->stages == tile->line_bytes;
}

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
    ts_copy_step_elements(&wide, &others);
}

static bool match(ts_copy_plan *copy, const ts_plan_box *box, int64_t *times) {
    if (ts_copy_plan_match_again(copy, box, times)) return true;
    copy->box.loop_count = 0;
    if (!ts_copy_plan_match_box(copy, box, times)) return false;
    if (!copy->extended) ts_copy_plan_keep(copy, box, times);
    return true;
}

bool ts_columns_move(const ts_copy_context *m, const ts_plan_box *box) {
    ts_copy_context wide = *m;
    ts_plan_box others = *box;
    return ts_columns_widen(&wide, &others) &&
           (ts_adjoin_move(&wide, &others) || ts_stage_columns(&wide, &others));
}

/* By the kernel that it has. */
static void move_matched(ts_copy_plan *copy, const ts_plan_box *box, const int64_t *times) {
    const ts_copy_context *m = copy->m;
    bool leaves = copy->tile_function && ts_copy_is_narrow(m);
    int outside = leaves ? find_peel(m, box, times) : -1;
    if (outside >= 0) {
        peel(m, *box, outside);
        return;
    }
    ts_copy_plan_order(copy, box);
    bool direct = copy->in_runs || (copy->streams && !is_large_square(m, &copy->tile)),
         stages = copy->tile_function && !direct && !leaves && !copy->joins;
    if (m->streams && ts_columns_move(m, box)) return;
    if (m->streams && stages && ts_stage_move(m, box)) return;
    ts_copy_plan_run_box(copy, box);
    if (copy->tile_function) move_rests(m, box, times);
}

/* By a kernel that it has, or that is found; with another box, if both are one but for a lack. */
static void move_found(ts_copy_plan *copy, const ts_plan_box *box, bool has, int64_t *times) {
    const ts_copy_context *m = copy->m;
    bool taken[TS_CONCURRENT_BOXES];
    if (copy->others) memcpy(taken, copy->others->taken, sizeof taken);
    if (!has && !match(copy, box, times))
        ts_copy_step_elements(m, box);
    else if (copy->others && ts_copy_plan_move_joined(copy, box, taken))
        return;
    else if (m->same && !copy->tile_function && ts_copy_plan_is_element(8 * copy->run_bytes))
        move_runs_as_elements(m, box, copy->run_bytes);
    else
        move_matched(copy, box, times);
}

void ts_copy_plan_move(ts_copy_plan *copy, const ts_plan_box *box) {
    const ts_copy_context *m = copy->m;
    ts_plan_box wide;
    int64_t times[TS_PLAN_MAX_LOOPS];
    if ((m->same || ts_copy_converts(m)) && ts_copy_is_tiny(m, box)) {
        ts_copy_step_elements(m, box);
        return;
    }
    if (widen(m, box, &wide)) {
        ts_copy_context bytes = *m;
        bytes.src.element_bits = bytes.dst.element_bits = 8;
        ts_move_box(&bytes, &wide);
        return;
    }
    bool runs = ts_copy_plan_match_narrow_run(copy, box, times);
    if (m->src.element_bits < 8 && !runs) {
        wide = *box;
        while (split_bytes(m, &wide)) continue;
        box = &wide;
    }
    move_found(copy, box, runs, times);
}

void ts_move_box(const ts_copy_context *m, const ts_plan_box *box) {
    ts_copy_plan copy;
    ts_copy_plan_begin(&copy, m);
    ts_copy_plan_move(&copy, box);
}
