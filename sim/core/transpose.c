/* The transposer: a block of 128 rows of 128 words or halves goes in, and comes out with rows and columns
 * exchanged. It holds two blocks that are not yet popped. */

#include "state.h"

enum { EDGE = TS_LANES, BLOCKS = 2, HALF_ROWS = 2 * TS_SUBLANES };

typedef struct {
    uint32_t poison[EDGE * EDGE]; /* shadows of the words */
    uint32_t words[EDGE * EDGE]; /* transposed already, as vregs: those of halves fill the first half of it */
    int64_t ready;               /* cycle */
    int vregs, popped;
} block;

struct core_transposer {
    uint32_t rows[EDGE][EDGE];   /* coming in: words, or halves in the low bits */
    uint32_t poison[EDGE][EDGE]; /* their shadows */
    bool halves;
    int row_count;
    block blocks[BLOCKS]; /* ring */
    int first, count;
};

void core_transposer_new(ts_arena *arena, ts_core *core) {
    core->transposer = core->transposer ? core->transposer : TS_NEW(arena, core_transposer);
}

void core_transposer_move(ts_core *core, int64_t from, int64_t by) {
    for (int i = 0; core->transposer && i < BLOCKS; i++) {
        block *b = &core->transposer->blocks[i];
        b->ready += b->ready > from ? by : 0;
    }
}

/* Row `row` of the transposed block: column `row` of what came in. */
static void transpose_row(const core_transposer *t, uint32_t rows[EDGE][EDGE], uint32_t *words, int row) {
    uint32_t *out = words + (t->halves ? row / 2 : row) * EDGE;
    bool high = t->halves && row % 2 == 1;
    for (int column = 0; column < EDGE; column++) {
        uint32_t word = rows[column][row];
        out[column] = high ? out[column] | word << 16 : word;
    }
}

static void finish(ts_core *core, core_transposer *t) {
    block *b = &t->blocks[(t->first + t->count++) % BLOCKS];
    b->ready = core->now + core->setup.config->latency_cycles[TS_LATENCY_TRANSPOSE];
    b->popped = 0;
    b->vregs = EDGE / (t->halves ? HALF_ROWS : TS_SUBLANES);
    for (int row = 0; row < EDGE && !core->setup.time_only; row++) {
        transpose_row(t, t->rows, b->words, row);
        if (core->poison) transpose_row(t, t->poison, b->poison, row);
    }
    t->row_count = 0;
}

/* The rows of one sublane, from row `at` on. */
static void take_rows(const core_transposer *t, uint32_t rows[EDGE][EDGE], const uint32_t *words, int at) {
    for (int lane = 0; lane < TS_LANES; lane++) {
        rows[at][lane] = t->halves ? words[lane] & 0xffff : words[lane];
        if (t->halves) rows[at + 1][lane] = words[lane] >> 16;
    }
}

typedef enum { WORDS, HALVES } unit;

static bool push(ts_error *err, ts_core *core, const core_op *op, unit pushed) {
    core_transposer *t = core->transposer;
    bool halves = pushed == HALVES;
    if (t->row_count == 0 && t->count == BLOCKS) {
        return core_fault(err, core, op, "the transposer holds %d blocks, expected pops before another",
                          BLOCKS);
    }
    if (t->row_count > 0 && t->halves != halves) {
        return core_fault(err, core, op, "a block of %s so far, expected no %s in it",
                          t->halves ? "halves" : "words", halves ? "halves" : "words");
    }
    t->halves = halves;
    for (int s = 0; s < TS_SUBLANES && !core->setup.time_only; s++) {
        int at = t->row_count + s * (halves ? 2 : 1);
        take_rows(t, t->rows, op->in[0] + s * TS_LANES, at);
        if (core->poison) take_rows(t, t->poison, ts_poison_source(op->poison, 0) + s * TS_LANES, at);
    }
    t->row_count += halves ? HALF_ROWS : TS_SUBLANES;
    if (t->row_count == EDGE) finish(core, t);
    return true;
}

CORE_FUNCTION(vtr_push_b32) { return push(err, core, op, WORDS); }
CORE_FUNCTION(vtr_push_b16) { return push(err, core, op, HALVES); }

bool core_gate_vtr_pop(ts_error *err, const ts_core *core, const core_op *op, int64_t *cycle, int *stall) {
    const core_transposer *t = core->transposer;
    if (t->count == 0) {
        return core_fault(err, core, op, "the transposer has no complete block: %d of %d rows are in it",
                          t->row_count, TS_LANES);
    }
    if (t->blocks[t->first].ready > *cycle) {
        *cycle = t->blocks[t->first].ready;
        *stall = TS_STALL_WAIT + TS_LATENCY_TRANSPOSE;
    }
    return true;
}

CORE_FUNCTION(vtr_pop) {
    (void)err;
    core_transposer *t = core->transposer;
    block *b = &t->blocks[t->first];
    if (core->poison) ts_poison_result(op->poison, b->poison + (ptrdiff_t)b->popped * TS_VREG_WORDS);
    if (!core->setup.time_only) core_write_vreg(core, op, b->words + (ptrdiff_t)b->popped * TS_VREG_WORDS);
    if (++b->popped == b->vregs) {
        t->first = (t->first + 1) % BLOCKS;
        t->count--;
    }
    return true;
}
