/* Large transposes by kernels that store columns past the caches: how a box is cut into blocks of rows and
 * columns. */
#include <string.h>

#include "copy_plan.h"

#include "base/number.h"

enum {
    RUN_BYTES = 512,        /* of a column of a block, at most; */
    NARROW_RUN_BYTES = 256, /* of elements of one or two bytes, of which that are many rows; */
    WIDE_RUN_BYTES = 4096,  /* of runs, as wide elements are */
    ROW_BYTES = 1024,       /* of a row; */
    WIDE_ROW_BYTES = 2560,  /* of runs */
    LEAST_ROW = 64,
    LEAST_ROW_OF_BYTES = 256, /* of which a kernel reads many; */
    LEAST_ADJOINING_ROW = 16, /* where it follows another, of which a block has many */
    LEAST_WHOLE = 768,        /* of a column of all blocks, whose ends are stored in pieces; */
    LEAST_OF_FEW = 1024,      /* where a line is more than a row; */
    LEAST_OF_FEW_BYTES = 4096,
    LEAST_ALIGNED = 256, /* or there are no pieces */
    LEAST_WIDE = 33,     /* a run: shorter ones are appended too slowly, */
    MOST_WIDE = 256      /* longer ones are as fast by themselves */
};

/* The loops whose elements follow each other on one side, as far as a block goes. */
typedef struct {
    ts_side side;
    int64_t count; /* of elements of a block */
    bool has[TS_PLAN_MAX_LOOPS];
} chain;

/* Steps of a loop, of which there is room for so many: even parts, of whole lines. */
static int64_t in_parts(int64_t extent, int64_t room, int64_t line) {
    if (extent <= room) return extent;
    return ts_min(ts_round_up(ts_ceil_div(extent, ts_ceil_div(extent, room)), line), room);
}

int ts_columns_find_step(const ts_plan_box *box, ts_side side, int64_t bits, const bool *taken) {
    for (int i = 0; i < box->loop_count; i++)
        if (!taken[i] && box->loops[i].extent > 1 && ts_plan_step_bits(&box->loops[i], side) == bits)
            return i;
    return -1;
}

/* The loop that continues a chain; -1. */
static int find_next(const ts_plan_box *box, const chain *c, int64_t width) {
    return ts_columns_find_step(box, c->side, c->count * width, c->has);
}

/* Covers the loops of a side, up to one of the other's. */
static void take(const ts_plan_box *box, int64_t width, int64_t most, const chain *other, chain *c,
                 int64_t *cover) {
    for (int64_t room = most; room > 1; room = most / c->count) {
        int i = find_next(box, c, width);
        if (i < 0 || other->has[i]) return;
        c->has[i] = true;
        cover[i] = in_parts(box->loops[i].extent, room, c->count == 1 ? ts_copy_count_in_line(width) : 1);
        c->count *= cover[i];
        if (cover[i] < box->loops[i].extent) return;
    }
}

/* Elements that follow each other in the destination, of all blocks with the same columns. Their runs are
 * aligned where no line of memory is of two of them. */
static int64_t count_whole(const ts_copy_context *m, const ts_plan_box *box, const chain *columns,
                           bool *aligned) {
    const int64_t width = m->dst.element_bits;
    chain all = {.side = TS_DST, .count = 1};
    for (int i = find_next(box, &all, width); i >= 0 && !columns->has[i]; i = find_next(box, &all, width)) {
        all.has[i] = true;
        all.count *= box->loops[i].extent;
    }
    int64_t ends = (int64_t)(intptr_t)m->dst.bytes * 8 + box->dst_bits;
    ends |= all.count * width;
    for (int i = 0; i < box->loop_count; i++) ends |= all.has[i] ? 0 : box->loops[i].dst_bits;
    *aligned = ends % (8 * TS_LINE_BYTES) == 0;
    return all.count;
}

/* Do a block's rows follow each other in the source? */
static bool rows_adjoin(const ts_plan_box *box, int64_t width, const chain *rows, const chain *columns) {
    chain all = {.side = TS_DST, .count = 1};
    for (int i = find_next(box, &all, width); i >= 0 && rows->has[i]; i = find_next(box, &all, width)) {
        if (box->loops[i].src_bits != all.count * columns->count * width) return false;
        all.has[i] = true;
        all.count *= box->loops[i].extent;
    }
    return true;
}

/* Bytes of a block's columns and rows, at most. */
typedef struct {
    int64_t column, row;
} block_bytes;

static block_bytes most_bytes(int64_t width) {
    if (!ts_copy_plan_is_element(width)) return (block_bytes){WIDE_RUN_BYTES, WIDE_ROW_BYTES};
    return (block_bytes){width > 16 ? RUN_BYTES : NARROW_RUN_BYTES, ROW_BYTES};
}

bool ts_columns_choose(const ts_copy_context *m, const ts_plan_box *box, int64_t *cover, bool *of_columns) {
    const int64_t width = m->dst.element_bits, bytes = width / 8;
    const block_bytes most = most_bytes(width);
    chain rows = {.side = TS_DST, .count = 1}, columns = {.side = TS_SRC, .count = 1};
    for (int i = 0; i < box->loop_count; i++) cover[i] = 1;
    take(box, width, most.column / bytes, &columns, &rows, cover);
    take(box, width, ts_min(most.row / bytes, TS_TRANSPOSED), &rows, &columns, cover);
    memcpy(of_columns, columns.has, sizeof columns.has);
    bool aligned, adjoin = rows_adjoin(box, width, &rows, &columns);
    const int64_t whole = count_whole(m, box, &columns, &aligned) * bytes, row = columns.count * bytes,
                  least_row = bytes > 1 ? LEAST_ROW : LEAST_ROW_OF_BYTES,
                  least_of_few = bytes > 1 ? LEAST_OF_FEW : LEAST_OF_FEW_BYTES,
                  least_whole = row < LEAST_ROW ? least_of_few : LEAST_WHOLE;
    if (whole < (aligned ? LEAST_ALIGNED : least_whole) || row < (adjoin ? LEAST_ADJOINING_ROW : least_row))
        return false;
    if (!adjoin || row >= LEAST_ROW_OF_BYTES) return true;
    rows = (chain){.side = TS_DST, .count = 1};
    take(box, width, TS_TRANSPOSED, &columns, &rows, cover);
    return true;
}

/* Elements, and short runs; whole lines are stored as fast by themselves. */
static bool pays(int64_t width) {
    const int64_t bytes = width / 8;
    return ts_copy_plan_is_element(width) || (bytes >= LEAST_WIDE && bytes <= MOST_WIDE &&
                                              (bytes == TS_LINE_BYTES || bytes % TS_LINE_BYTES != 0));
}

bool ts_columns_widen(ts_copy_context *m, ts_plan_box *box) {
    if (!m->same || !m->kernels->tiles[0]->columns || m->dst.element_bits < 8) return false;
    int64_t times[TS_PLAN_MAX_LOOPS], steps = box->src_bits | box->dst_bits;
    for (int i = 0; i < box->loop_count; i++) {
        steps |= box->loops[i].src_bits | box->loops[i].dst_bits;
        times[i] = 1;
    }
    const int64_t width = ts_copy_plan_find_run(box, m->dst.element_bits, times);
    if (steps % 8 != 0 || !pays(width)) return false;
    int count = 0;
    for (int i = 0; i < box->loop_count; i++)
        if (times[i] == 1) box->loops[count++] = box->loops[i];
    box->loop_count = count;
    m->src.element_bits = m->dst.element_bits = (int)width;
    return true;
}
