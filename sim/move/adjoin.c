/* Large transposes of few rows whose columns follow each other in the destination: streams, past the
 * caches. */
#include <string.h>

#include "copy_plan.h"

enum {
    LEAST_STREAM = 1024, /* bytes: its ends are stored in pieces */
    LEAST_COLUMN = 20,   /* each is appended by itself; */
    LEAST_OF_BYTES = 33, /* and the kernel makes twice as much of them in the same time */
    MOST_OF_RUNS = 768,
    LEAST_ROW = 256,
    LONG_ROW = 2048,   /* of which more of the same is read next, */
    AHEAD_BYTES = 1024 /* so far ahead */
};

/* A box as streams: its rows, the columns that kernels make one stream of, and the loops around them, the
 * longest steps of the destination first, of which the last `inner` go on in a stream. */
typedef struct {
    ts_tile tile;
    int64_t columns, column_bits;
    bool taken[TS_PLAN_MAX_LOOPS];
    ts_plan_box rows; /* their loops */
    ts_plan_loop around[TS_PLAN_MAX_LOOPS];
    int around_count, inner;
    ts_adjoin_function *function;
} streams;

static int find_loop(const ts_plan_box *box, const streams *s, int64_t dst_bits) {
    return ts_columns_find_step(box, TS_DST, dst_bits, s->taken);
}

/* The loops that make a column, and the one over columns that lie together in the source. */
static bool find_columns(const ts_plan_box *box, int64_t width, streams *s) {
    const int64_t most = ts_copy_plan_is_element(width) ? TS_ADJOIN_VECTORS * TS_LINE_BYTES : MOST_OF_RUNS;
    s->column_bits = width;
    for (;;) {
        int i = find_loop(box, s, s->column_bits);
        if (i < 0) return false;
        s->taken[i] = true;
        s->columns = box->loops[i].extent;
        if (box->loops[i].src_bits == width) return s->rows.loop_count > 0;
        s->rows.loops[s->rows.loop_count++] = box->loops[i];
        s->column_bits *= s->columns;
        if (s->column_bits > 8 * most) return false;
    }
}

/* The loops around: those that go on in a stream are the last. The bytes of a stream. */
static int64_t find_around(const ts_plan_box *box, streams *s) {
    int64_t bits = s->column_bits * s->columns;
    int at = TS_PLAN_MAX_LOOPS;
    for (int i = find_loop(box, s, bits); i >= 0; i = find_loop(box, s, bits)) {
        s->taken[i] = true;
        s->around[--at] = box->loops[i];
        bits *= box->loops[i].extent;
    }
    s->inner = TS_PLAN_MAX_LOOPS - at;
    for (int i = 0; i < box->loop_count; i++)
        if (!s->taken[i] && box->loops[i].extent > 1) s->around[--at] = box->loops[i];
    s->around_count = TS_PLAN_MAX_LOOPS - at;
    for (int i = 0; i < s->around_count; i++) s->around[i] = s->around[at + i];
    return bits / 8;
}

static bool match(const ts_copy_context *m, const ts_plan_box *box, streams *s) {
    const int64_t width = m->dst.element_bits;
    const ts_adjoin_kernels *kernels = m->kernels->tiles[0]->adjoins;
    memset(s->taken, 0, sizeof s->taken);
    s->rows.loop_count = 0;
    if (!kernels || !find_columns(box, width, s) || s->columns * width < 8 * LEAST_ROW ||
        s->column_bits < 8 * (width > 8 ? LEAST_COLUMN : LEAST_OF_BYTES) ||
        find_around(box, s) < LEAST_STREAM)
        return false;
    s->function = kernels->of_runs;
    if (ts_copy_plan_is_element(width))
        s->function =
            kernels
                ->by_vectors[(s->column_bits / 8 - 1) / TS_LINE_BYTES][__builtin_ctzll((uint64_t)width / 8)];
    return s->function != NULL;
}

/* Goes on by a step of a loop of those around: the number of that, or -1 when all are over. */
static int go_on(const streams *s, int64_t *at, int64_t *src_bits, int64_t *dst_bits) {
    for (int i = s->around_count - 1; i >= 0; i--) {
        const ts_plan_loop *loop = &s->around[i];
        *src_bits += loop->src_bits;
        *dst_bits += loop->dst_bits;
        if (++at[i] < loop->extent) return i;
        *src_bits -= at[i] * loop->src_bits;
        *dst_bits -= at[i] * loop->dst_bits;
        at[i] = 0;
    }
    return -1;
}

static ts_stream begin_stream(uint8_t *dst) {
    const int behind = (int)((uintptr_t)dst % TS_LINE_BYTES);
    return (ts_stream){.line = dst - behind, .first = behind, .fill = behind};
}

static void move(const ts_copy_context *m, const ts_plan_box *box, streams *s) {
    const ts_adjoin_kernels *kernels = m->kernels->tiles[0]->adjoins;
    int64_t at[TS_PLAN_MAX_LOOPS] = {0}, src_bits = box->src_bits, dst_bits = box->dst_bits;
    ts_stream stream = begin_stream(m->dst.bytes + dst_bits / 8);
    for (int moved = 0; moved >= 0;) {
        s->function(&s->tile, m->src.bytes + src_bits / 8, s->columns, &stream);
        moved = go_on(s, at, &src_bits, &dst_bits);
        if (moved >= s->around_count - s->inner) continue;
        kernels->end(&stream);
        stream = begin_stream(m->dst.bytes + dst_bits / 8);
    }
}

bool ts_adjoin_move(const ts_copy_context *m, const ts_plan_box *box) {
    const int64_t width = m->dst.element_bits;
    streams s;
    if (!match(m, box, &s)) return false;
    ts_copy_plan_list_rows(&s.rows, width, &s.tile.rows);
    if (width == 8 && ts_copy_plan_rows_collide(&s.tile.rows, s.tile.rows.count)) return false;
    s.tile.line_bytes = (int)width / 8;
    s.tile.runs.bytes = s.column_bits / 8;
    s.tile.ahead_bytes = s.columns * width / 8 >= LONG_ROW ? AHEAD_BYTES
                         : s.around_count > 0              ? s.around[s.around_count - 1].src_bits / 8
                                                           : 0;
    move(m, box, &s);
    return true;
}
