/* Boxes of large tensors whose kernel would store pieces of cache lines: a block of the box after the other
 * is made in a scratch within the nearest cache, where the lines lie as in the destination, and stored from
 * there past the caches, line by line; columns of transposes without a scratch. What a block leaves of a line
 * is carried to the block that continues it. */
#include <stdlib.h>
#include <string.h>

#include "copy_plan.h"

enum {
    STAGE_BYTES = 64 << 10,
    DST_RUN_BYTES = 256,    /* as many of a block should be contiguous in the destination; */
    NARROW_RUN_BYTES = 512, /* of elements of one or two bytes, */
    COLLIDING_BYTES = 4096, /* unless they lie so far apart in the source, or multiples of it */
    SRC_RUN_BYTES = 128,    /* and in the source */
    SHORT_ROW_BYTES = 512,  /* rows of the source up to these are read whole */
    MOST_STAGE_BYTES = SHORT_ROW_BYTES * DST_RUN_BYTES,
    LEAST_RUN_BYTES = 256, /* of all blocks together */
    FULL_BYTES = 16 << 10, /* smaller blocks grow */
    MOST_CARRIED = 2048,
    FILLS = 4,
};

typedef struct {
    uint64_t shorter;                  /* which loops the block takes fewer steps of */
    bool known, by_columns, by_kernel; /* else by elements */
    ts_plan_box box;
    ts_copy_plan copy;
} fill;

/* A box, its loops by the destination, the longest steps first, and how it is cut into blocks. */
typedef struct {
    ts_copy_context in; /* to the scratch */
    uint8_t *dst;
    ts_plan_box box;
    int64_t cover[TS_PLAN_MAX_LOOPS]; /* steps of each loop that a block takes */
    int64_t pitch[TS_PLAN_MAX_LOOPS]; /* bits of a step in the scratch */
    bool in_run[TS_PLAN_MAX_LOOPS];   /* its steps lie together in the destination */
    int order[TS_PLAN_MAX_LOOPS];     /* of the loops, the first outermost */
    int along;                        /* the loop whose next block continues the runs; -1 */
    int row;                          /* the innermost loop over runs; -1 */
    int64_t rows;                     /* runs of a block */
    bool in_columns;                  /* blocks are rows and columns, that need no scratch */
    uint8_t *carried;                 /* lines, of all blocks of the loops inside `along` */
    fill fills[FILLS];
} stage;

/* Bits of a block that lie together on one side, and the loop whose next steps would continue them; -1. */
static int64_t run_bits(const ts_plan_box *box, const int64_t *cover, ts_side side, int width, int *loop,
                        bool *in_run) {
    int64_t bits = width;
    for (int i = 0; i < box->loop_count; i++) {
        if (ts_plan_step_bits(&box->loops[i], side) != bits || box->loops[i].extent == 1) continue;
        bits *= cover[i];
        *loop = i;
        if (in_run) in_run[i] = true;
        if (cover[i] < box->loops[i].extent) return bits;
        i = -1;
    }
    *loop = -1;
    return bits;
}

static int64_t power_below(int64_t n) { return INT64_C(1) << ts_log2(n); }

/* Covers more of a loop: as much of it as makes so many times the run, or all where little would be left. */
static bool extend(const ts_plan_box *box, int64_t *cover, int loop, int64_t times, int64_t *bytes) {
    int64_t extent = box->loops[loop].extent, room = STAGE_BYTES / *bytes * cover[loop];
    int64_t want = power_below(cover[loop] * times * 2 - 1);
    if (room < 1) return false;
    if (cover[loop] * times * 2 >= extent) want = extent;
    if (want > room) want = power_below(room);
    if (want <= cover[loop]) return false;
    *bytes = *bytes / cover[loop] * want;
    cover[loop] = want;
    return true;
}

/* Covers all of a loop that ends a short row of the source, of which a block has so many bytes. */
static bool take_row(const ts_plan_box *box, int64_t *cover, int loop, int64_t row_bytes, int64_t *bytes) {
    int64_t extent = box->loops[loop].extent, all = *bytes / cover[loop] * extent;
    if (row_bytes / cover[loop] * extent > SHORT_ROW_BYTES || all > MOST_STAGE_BYTES) return false;
    *bytes = all;
    cover[loop] = extent;
    return true;
}

/* As many bytes as should be contiguous in the destination. */
static int64_t want_run(int64_t element_bytes, const ts_plan_loop *loop) {
    bool collides = loop->src_bits / 8 % COLLIDING_BYTES == 0;
    return element_bytes > 2 || collides ? DST_RUN_BYTES : NARROW_RUN_BYTES;
}

/* How many steps of each loop a block takes. */
static void choose(const ts_copy_context *m, const ts_plan_box *box, int64_t *cover) {
    const int64_t element = m->dst.element_bits / 8;
    int64_t bytes = element, src, dst;
    int src_loop, dst_loop;
    bool grows;
    for (int i = 0; i < box->loop_count; i++) cover[i] = 1;
    do {
        src = run_bits(box, cover, TS_SRC, m->src.element_bits, &src_loop, NULL) / 8;
        dst = run_bits(box, cover, TS_DST, m->dst.element_bits, &dst_loop, NULL) / 8;
        const int64_t run = dst_loop >= 0 ? want_run(element, &box->loops[dst_loop]) : 0;
        grows = dst < run && extend(box, cover, dst_loop, (run + dst - 1) / dst, &bytes);
        grows = grows || (src_loop >= 0 && src < SRC_RUN_BYTES &&
                          (take_row(box, cover, src_loop, src, &bytes) ||
                           extend(box, cover, src_loop, (SRC_RUN_BYTES + src - 1) / src, &bytes)));
        if (!grows && bytes < FULL_BYTES && src_loop >= 0) grows = extend(box, cover, src_loop, 2, &bytes);
        if (!grows && bytes < FULL_BYTES && dst_loop >= 0) grows = extend(box, cover, dst_loop, 2, &bytes);
    } while (grows);
}

static int by_destination(const void *left, const void *right) {
    int64_t a = ((const ts_plan_loop *)left)->dst_bits, b = ((const ts_plan_loop *)right)->dst_bits;
    return a > b ? -1 : a < b;
}

/* The source is read in its order. */
static void set_order(stage *s) {
    for (int i = 0; i < s->box.loop_count; i++) {
        int k = i;
        for (; k > 0 && llabs(s->box.loops[s->order[k - 1]].src_bits) < llabs(s->box.loops[i].src_bits); k--)
            s->order[k] = s->order[k - 1];
        s->order[k] = i;
    }
}

/* Runs lie in lines of their own, at the offsets in them that they have in the destination. How many bytes
 * the scratch needs. */
static int64_t set_pitches(stage *s, int64_t run_bytes) {
    int64_t next = run_bytes + TS_CACHE_LINE_BYTES;
    s->row = -1;
    s->rows = 1;
    for (int i = s->box.loop_count - 1; i >= 0; i--) {
        s->pitch[i] = s->box.loops[i].dst_bits;
        if (s->in_run[i] || s->cover[i] == 1) continue;
        int64_t offset = s->box.loops[i].dst_bits / 8 % TS_CACHE_LINE_BYTES;
        next += (offset - next % TS_CACHE_LINE_BYTES + TS_CACHE_LINE_BYTES) % TS_CACHE_LINE_BYTES;
        s->pitch[i] = next * 8;
        next *= s->cover[i];
        s->rows *= s->cover[i];
        if (s->row < 0 || s->cover[i] > s->cover[s->row]) s->row = i;
    }
    return next + TS_CACHE_LINE_BYTES;
}

/* ---- A block ---- */

typedef struct {
    int64_t extent[TS_PLAN_MAX_LOOPS], src_bits, dst_bits;
    uint64_t shorter;
    bool begins, ends; /* the runs */
    uint8_t *carried;
} block;

static fill *find_fill(stage *s, const block *b) {
    fill *f = s->fills;
    while (f < s->fills + FILLS - 1 && f->known && f->shorter != b->shorter) f++;
    if (f->known && f->shorter == b->shorter) return f;
    f->known = true;
    f->shorter = b->shorter;
    f->box = (ts_plan_box){.loop_count = s->box.loop_count};
    for (int i = 0; i < s->box.loop_count; i++)
        f->box.loops[i] = (ts_plan_loop){b->extent[i], s->box.loops[i].src_bits, s->pitch[i]};
    f->by_columns = s->in_columns && ts_copy_plan_match_columns(&f->copy, &s->in, &f->box);
    f->by_kernel = !f->by_columns && ts_copy_plan_is_element(s->in.dst.element_bits) &&
                   ts_copy_plan_match(&f->copy, &s->in, &f->box);
    return f;
}

static void fill_scratch(stage *s, const block *b, int64_t offset) {
    fill *f = find_fill(s, b);
    if (f->by_kernel) {
        f->copy.tile.ahead_bytes = s->in.ahead_bytes;
        ts_copy_plan_run(&f->copy, b->src_bits, offset * 8);
        return;
    }
    ts_plan_box box = f->box;
    box.src_bits = b->src_bits;
    box.dst_bits = offset * 8;
    ts_move_elements(&s->in, &box);
}

typedef enum { BRING, STORE } direction;

/* Runs of the fastest row loop of a block: brought what was carried to them, or stored. */
static void take_rows(const stage *s, const block *b, const ts_staged_runs *runs, uint8_t *dst, uint8_t *at,
                      direction way) {
    if (way == STORE) {
        s->in.kernels->stream_staged(dst, at, runs);
        return;
    }
    for (int64_t i = 0; i < runs->count; i++, dst += runs->dst_step, at += runs->step) {
        if (!b->begins)
            memcpy(at - (intptr_t)dst % TS_CACHE_LINE_BYTES, runs->carried + i * TS_CACHE_LINE_BYTES,
                   TS_CACHE_LINE_BYTES);
        else
            __builtin_prefetch(dst, 1, 2);
        if (b->ends) __builtin_prefetch(dst + runs->bytes - 1, 1, 2);
    }
}

/* Bytes of a block that lie together in the destination. */
static int64_t bytes_of_run(const stage *s, const block *b) {
    int64_t bytes = s->in.dst.element_bits / 8;
    for (int i = 0; i < s->box.loop_count; i++) bytes *= s->in_run[i] ? b->extent[i] : 1;
    return bytes;
}

/* All runs of a block. */
static void take_runs(const stage *s, const block *b, uint8_t *scratch, uint8_t *dst, direction way) {
    int64_t at[TS_PLAN_MAX_LOOPS] = {0};
    ts_staged_runs runs = {
        .count = 1, .bytes = bytes_of_run(s, b), .begins = b->begins, .ends = b->ends, .carried = b->carried};
    if (s->row >= 0) {
        runs.count = b->extent[s->row];
        runs.step = s->pitch[s->row] / 8;
        runs.dst_step = s->box.loops[s->row].dst_bits / 8;
    }
    for (;;) {
        take_rows(s, b, &runs, dst, scratch, way);
        runs.carried += runs.count * TS_CACHE_LINE_BYTES;
        int i = s->box.loop_count - 1;
        for (; i >= 0; i--) {
            if (s->in_run[i] || i == s->row || b->extent[i] == 1) continue;
            dst += s->box.loops[i].dst_bits / 8;
            scratch += s->pitch[i] / 8;
            if (++at[i] < b->extent[i]) break;
            dst -= at[i] * s->box.loops[i].dst_bits / 8;
            scratch -= at[i] * s->pitch[i] / 8;
            at[i] = 0;
        }
        if (i < 0) return;
    }
}

/* Of short rows or columns, where kernels take no columns of them, as into a scratch. */
static void move_columns(stage *s, const block *b) {
    fill *f = find_fill(s, b);
    const ts_column_runs runs = {(int)bytes_of_run(s, b), b->begins, b->ends, b->carried};
    if (!f->by_columns) {
        fill_scratch(s, b, b->dst_bits / 8);
        return;
    }
    f->copy.tile.ahead_bytes = s->in.ahead_bytes;
    f->copy.columns_function(&f->copy.tile, s->dst + b->dst_bits / 8, s->in.src.bytes + b->src_bits / 8,
                             &runs);
}

static void move_block(stage *s, const block *b) {
    uint8_t *dst = s->dst + b->dst_bits / 8;
    int64_t offset = (intptr_t)dst % TS_CACHE_LINE_BYTES;
    take_runs(s, b, s->in.dst.bytes + offset, dst, BRING);
    fill_scratch(s, b, offset);
    take_runs(s, b, s->in.dst.bytes + offset, dst, STORE);
}

/* ---- All blocks ---- */

static int64_t blocks_of(const stage *s, int loop) {
    return (s->box.loops[loop].extent + s->cover[loop] - 1) / s->cover[loop];
}

static void take_block(const stage *s, const int64_t *at, block *b) {
    b->src_bits = s->box.src_bits;
    b->dst_bits = s->box.dst_bits;
    b->shorter = 0;
    for (int i = 0; i < s->box.loop_count; i++) {
        int64_t left = s->box.loops[i].extent - at[i];
        b->extent[i] = s->cover[i] < left ? s->cover[i] : left;
        b->shorter |= (uint64_t)(left < s->cover[i]) << i;
        b->src_bits += at[i] * s->box.loops[i].src_bits;
        b->dst_bits += at[i] * s->box.loops[i].dst_bits;
    }
    b->begins = s->along < 0 || at[s->along] == 0;
    b->ends = s->along < 0 || at[s->along] + s->cover[s->along] >= s->box.loops[s->along].extent;
}

/* The steps of the block behind; false where there is none. Counts the blocks since `along` went on. */
static bool go_on(const stage *s, int64_t *at, int64_t *within) {
    *within += s->along >= 0;
    for (int k = s->box.loop_count - 1; k >= 0; k--) {
        int i = s->order[k];
        if (i == s->along) *within = 0;
        at[i] += s->cover[i];
        if (at[i] < s->box.loops[i].extent) return true;
        at[i] = 0;
    }
    return false;
}

static void move_blocks(stage *s) {
    int64_t at[TS_PLAN_MAX_LOOPS] = {0}, within = 0;
    block b, next;
    take_block(s, at, &next);
    for (bool more = true; more;) {
        b = next;
        b.carried = s->carried + within * s->rows * TS_CACHE_LINE_BYTES;
        more = go_on(s, at, &within);
        if (more) take_block(s, at, &next);
        s->in.ahead_bytes = (next.src_bits - b.src_bits) / 8;
        (s->in_columns ? move_columns : move_block)(s, &b);
    }
}

/* How many lines are carried, and the outermost of the loops over blocks that make them many, or -1: what its
 * parts read lies together in the source. */
static int64_t count_carried(const stage *s, int *outermost) {
    int64_t lines = s->rows;
    *outermost = -1;
    for (int k = s->box.loop_count - 1; k >= 0 && s->along >= 0 && s->order[k] != s->along; k--) {
        int64_t blocks = blocks_of(s, s->order[k]);
        lines *= blocks;
        if (blocks > 1) *outermost = s->order[k];
    }
    return lines;
}

/* In as many parts as keep what is carried in a cache. */
static void move_parts(stage *s) {
    int outermost;
    int64_t lines = count_carried(s, &outermost);
    if (lines <= MOST_CARRIED || outermost < 0) {
        move_blocks(s);
        return;
    }
    ts_plan_loop *loop = &s->box.loops[outermost], whole = *loop;
    int64_t src_bits = s->box.src_bits, dst_bits = s->box.dst_bits;
    int64_t blocks = blocks_of(s, outermost) * MOST_CARRIED / lines,
            steps = (blocks > 1 ? blocks : 1) * s->cover[outermost];
    for (int64_t at = 0; at < whole.extent; at += steps) {
        loop->extent = whole.extent - at < steps ? whole.extent - at : steps;
        s->box.src_bits = src_bits + at * whole.src_bits;
        s->box.dst_bits = dst_bits + at * whole.dst_bits;
        move_parts(s);
    }
    *loop = whole;
    s->box.src_bits = src_bits;
    s->box.dst_bits = dst_bits;
}

/* False where runs are so short that their ends are much of them. */
static bool cut(stage *s, int64_t scratch_bytes) {
    int64_t all[TS_PLAN_MAX_LOOPS];
    int count = s->box.loop_count, width = s->in.dst.element_bits, none;
    if (count == 0 || s->box.loops[count - 1].dst_bits <= 0) return false;
    for (int i = 0; i < count; i++) {
        all[i] = s->box.loops[i].extent;
        s->in_run[i] = false;
    }
    if (run_bits(&s->box, all, TS_DST, width, &none, NULL) / 8 < LEAST_RUN_BYTES) return false;
    choose(&s->in, &s->box, s->cover);
    int64_t run = run_bits(&s->box, s->cover, TS_DST, width, &s->along, s->in_run) / 8;
    return set_pitches(s, run) <= scratch_bytes && s->rows <= MOST_CARRIED &&
           (s->along < 0 ||
            run >= TS_CACHE_LINE_BYTES); /* no line is begun by a block and continued by the next */
}

static void begin_stage(stage *s, const ts_copy_context *m, const ts_plan_box *box, uint8_t *carried) {
    s->in = *m;
    s->in.streams = false;
    s->dst = m->dst.bytes;
    s->box = *box;
    s->carried = carried;
    s->in_columns = false;
    for (int i = 0; i < FILLS; i++) s->fills[i].known = false;
    qsort(s->box.loops, (size_t)box->loop_count, sizeof s->box.loops[0], by_destination);
}

/* False where kernels do not take the first block as rows and columns. Columns may follow each other, and are
 * runs for themselves. */
static bool cut_columns(stage *s) {
    static const int64_t first[TS_PLAN_MAX_LOOPS];
    const int count = s->box.loop_count;
    bool of_columns[TS_PLAN_MAX_LOOPS];
    ts_plan_box runs = s->box;
    block b;
    if (!ts_columns_choose(&s->in, &s->box, s->cover, of_columns)) return false;
    s->rows = 1;
    for (int i = 0; i < count; i++) {
        s->pitch[i] = s->box.loops[i].dst_bits;
        s->in_run[i] = false;
        s->rows *= of_columns[i] ? s->cover[i] : 1;
        runs.loops[i].dst_bits *= !of_columns[i];
    }
    run_bits(&runs, s->cover, TS_DST, s->in.dst.element_bits, &s->along, s->in_run);
    take_block(s, first, &b);
    const fill *f = find_fill(s, &b);
    return f->by_columns && f->copy.tile.columns.count == s->rows;
}

bool ts_stage_columns(const ts_copy_context *m, const ts_plan_box *box) {
    _Alignas(TS_CACHE_LINE_BYTES) uint8_t carried[MOST_CARRIED * TS_CACHE_LINE_BYTES];
    stage s;
    begin_stage(&s, m, box, carried);
    s.in_columns = true;
    if (!cut_columns(&s)) return false;
    set_order(&s);
    move_parts(&s);
    return true;
}

bool ts_stage_move(const ts_copy_context *m, const ts_plan_box *box) {
    _Alignas(TS_CACHE_LINE_BYTES) uint8_t scratch[2 * MOST_STAGE_BYTES],
        carried[MOST_CARRIED * TS_CACHE_LINE_BYTES];
    stage s;
    begin_stage(&s, m, box, carried);
    if (!cut(&s, sizeof scratch)) return false;
    set_order(&s);
    s.in.staging = true;
    s.in.dst.bytes = scratch;
    move_parts(&s);
    return true;
}
