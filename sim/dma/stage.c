/* Boxes of large tensors whose kernel would store pieces of cache lines far apart: a block of the box after
 * the other is made in a scratch, in the order of the destination, and stored from there in long runs. */
#include <stdlib.h>

#include "mover.h"

enum {
    STAGE_BYTES = 256 << 10,
    DST_RUN_BYTES = 1024, /* as many of a block should lie together in the destination, where there are two */
    SRC_RUN_BYTES = 512,  /* broken lines in a run; and in the source */
    LEAST_RUN_BYTES = 256,
    FULL_BYTES = 32 << 10,
};

static int64_t step_of(const ts_plan_loop *loop, bool dst) { return dst ? loop->dst_bits : loop->src_bits; }

/* Bits of a block that lie together on one side, and the loop whose next steps would continue them; -1. */
static int64_t run_bits(const ts_plan_box *box, const int64_t *cover, bool dst, int width, int *loop) {
    int64_t bits = width;
    for (int i = 0; i < box->loop_count; i++) {
        if (step_of(&box->loops[i], dst) != bits || box->loops[i].extent == 1) continue;
        bits *= cover[i];
        *loop = i;
        if (cover[i] < box->loops[i].extent) return bits;
        i = -1;
    }
    *loop = -1;
    return bits;
}

static int64_t power_below(int64_t n) { return INT64_C(1) << (63 - __builtin_clzll((uint64_t)n)); }

/* Covers more of a loop: as much of it as makes so many times the run, or all where little would be left. */
static bool extend(const ts_plan_box *box, int64_t *cover, int loop, int64_t times, int64_t *bytes) {
    int64_t extent = box->loops[loop].extent, room = STAGE_BYTES / *bytes * cover[loop];
    int64_t want = power_below(cover[loop] * times * 2 - 1);
    if (want * 2 >= extent) want = extent;
    if (want > room) want = power_below(room);
    if (want <= cover[loop]) return false;
    *bytes = *bytes / cover[loop] * want;
    cover[loop] = want;
    return true;
}

/* How many steps of each loop a block takes; false where blocks would not make runs long. */
static bool choose(const ts_mover *m, const ts_plan_box *box, int64_t *cover) {
    int64_t bytes = m->dst.element_bits / 8, src, dst;
    int src_loop, dst_loop;
    bool grows;
    for (int i = 0; i < box->loop_count; i++) cover[i] = 1;
    do {
        src = run_bits(box, cover, false, m->src.element_bits, &src_loop) / 8;
        dst = run_bits(box, cover, true, m->dst.element_bits, &dst_loop) / 8;
        grows = dst_loop >= 0 && dst < DST_RUN_BYTES &&
                extend(box, cover, dst_loop, (DST_RUN_BYTES + dst - 1) / dst, &bytes);
        grows = grows || (src_loop >= 0 && src < SRC_RUN_BYTES &&
                          extend(box, cover, src_loop, (SRC_RUN_BYTES + src - 1) / src, &bytes));
        if (!grows && bytes < FULL_BYTES && src_loop >= 0) grows = extend(box, cover, src_loop, 2, &bytes);
        if (!grows && bytes < FULL_BYTES && dst_loop >= 0) grows = extend(box, cover, dst_loop, 2, &bytes);
    } while (grows);
    return dst >= LEAST_RUN_BYTES;
}

/* ---- A block ---- */

static int by_destination(const void *left, const void *right) {
    int64_t a = ((const ts_plan_loop *)left)->dst_bits, b = ((const ts_plan_loop *)right)->dst_bits;
    return a > b ? -1 : a < b;
}

/* What goes out of the scratch: loops that go on where another ended are one with it. */
static void fuse(ts_plan_box *box) {
    qsort(box->loops, (size_t)box->loop_count, sizeof box->loops[0], by_destination);
    int used = 0;
    for (int i = 0; i < box->loop_count; i++) {
        ts_plan_loop *last = &box->loops[used ? used - 1 : 0], loop = box->loops[i];
        if (loop.extent == 1) continue;
        if (used > 0 && last->dst_bits == loop.dst_bits * loop.extent &&
            last->src_bits == loop.src_bits * loop.extent) {
            loop.extent *= last->extent;
            used--;
        }
        box->loops[used++] = loop;
    }
    box->loop_count = used;
}

/* The block's loops with steps of the scratch for those of the destination. */
static void move_block(const ts_mover *m, const ts_plan_box *block, int64_t ahead_bytes) {
    _Alignas(64) uint8_t scratch[STAGE_BYTES];
    ts_mover in = *m, out = *m;
    ts_plan_box from = *block, to = *block;
    int64_t step = m->dst.element_bits;
    in.streams = false;
    in.ahead_bytes = ahead_bytes;
    in.dst.bytes = scratch;
    out.src = in.dst;
    out.same = out.staged = true;
    from.dst_bits = to.src_bits = 0;
    for (int i = block->loop_count - 1; i >= 0; i--) {
        from.loops[i].dst_bits = to.loops[i].src_bits = step;
        step *= block->loops[i].extent;
    }
    ts_move_box(&in, &from);
    fuse(&to);
    ts_move_box(&out, &to);
}

bool ts_stage_move(const ts_mover *m, const ts_plan_box *given) {
    int64_t cover[TS_PLAN_MAX_LOOPS], at[TS_PLAN_MAX_LOOPS] = {0};
    int order[TS_PLAN_MAX_LOOPS];
    ts_plan_box box = *given;
    int count = box.loop_count;
    qsort(box.loops, (size_t)count, sizeof box.loops[0], by_destination);
    if (m->staged || count == 0 || box.loops[count - 1].dst_bits <= 0 || !choose(m, &box, cover))
        return false;
    for (int i = 0; i < count; i++) order[i] = i;
    for (int i = 1; i < count; i++) {
        int k = i, loop = order[i];
        for (; k > 0 && llabs(box.loops[order[k - 1]].src_bits) < llabs(box.loops[loop].src_bits); k--)
            order[k] = order[k - 1];
        order[k] = loop;
    }
    int inner = count - 1;
    while (inner > 0 && cover[order[inner]] == box.loops[order[inner]].extent) inner--;
    int64_t ahead = cover[order[inner]] * box.loops[order[inner]].src_bits / 8;
    for (;;) {
        ts_plan_box block = box;
        for (int i = 0; i < count; i++) {
            int64_t left = box.loops[i].extent - at[i];
            block.loops[i].extent = cover[i] < left ? cover[i] : left;
            block.src_bits += at[i] * box.loops[i].src_bits;
            block.dst_bits += at[i] * box.loops[i].dst_bits;
        }
        move_block(m, &block, ahead);
        int k = count - 1;
        for (; k >= 0; k--) {
            int i = order[k];
            at[i] += cover[i];
            if (at[i] < box.loops[i].extent) break;
            at[i] = 0;
        }
        if (k < 0) return true;
    }
}
