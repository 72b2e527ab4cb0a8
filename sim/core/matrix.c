/* The matrix units: tiles of weights latched into staging registers, rows pushed through the tile in use,
 * results popped from a queue in the order of the pushes, or added to accumulators that have addresses. */
#include <assert.h>
#include <string.h>

#include "matrix_types.h"
#include "state.h"
#include "base/number.h"

/* ---- Instructions ---- */

ts_mxu_type core_matrix_type(ts_opcode opcode) {
    matrix_type type = TYPE_f32;
    int port;
    bool typed = matrix_find_type(opcode, &type, &port);
    assert(typed);
    return matrix_types[type].rate;
}

/* Occupancies are given for 8 rows of bf16 of the whole edge. */
int core_matrix_port(const ts_core_config *config, ts_opcode opcode, int64_t *cycles) {
    matrix_type type;
    int port, chunks = config->mxu.edge / TS_LANES;
    ts_latency key = ts_opcode_get(opcode)->latency;
    *cycles = config->occupancy_cycles[key];
    if (matrix_find_type(opcode, &type, &port)) {
        int rate = port == CORE_MXU_PUSH ? config->mxu.rate[matrix_types[type].rate] : 1;
        rate = rate > 0 ? rate : 1; /* 0: refused elsewhere */
        *cycles = ts_ceil_div(*cycles * matrix_packing(type), (int64_t)rate * chunks);
        return port;
    }
    return opcode == TS_OP_mxu_swap ? CORE_MXU_SWAP : CORE_MXU_POP;
}

/* The operand with the unit: behind the vreg of a pop. */
int64_t core_matrix_unit(const ts_instruction *instruction) {
    bool writes = ts_opcode_get(instruction->opcode)->latency == TS_LATENCY_MXU_POP;
    return instruction->operands[writes].as.integer;
}

/* Does the machine have all accumulators that the instruction reads or writes? */
static bool check_accumulators(ts_error *err, const ts_machine_mxu *mxu, const ts_instruction *instruction) {
    matrix_type type = TYPE_f32;
    int port;
    bool take = !matrix_find_type(instruction->opcode, &type, &port);
    int64_t first = instruction->operands[2].as.integer;
    int64_t count = take ? 1 : matrix_rows(type) / TS_SUBLANES * (mxu->edge / TS_LANES);
    if (mxu->accumulators == 0) {
        return ts_instruction_error(
            err, TS_ERROR_INPUT, instruction,
            "the matrix units of this machine have no accumulators, expected mxu.push and mxu.pop");
    }
    return (first >= 0 && first <= mxu->accumulators - count) ||
           ts_instruction_error(err, TS_ERROR_INPUT, instruction,
                                "accumulators %lld to %lld, expected 0 to %d", (long long)first,
                                (long long)first + count - 1, mxu->accumulators - 1);
}

bool core_matrix_check(ts_error *err, const ts_core *core, const ts_instruction *instruction, int *unit) {
    const ts_machine_mxu *mxu = &core->setup.config->mxu;
    matrix_type type;
    int port;
    int64_t number = core_matrix_unit(instruction);
    if (mxu->units == 0)
        return ts_instruction_error(err, TS_ERROR_INPUT, instruction, "this machine has no matrix unit");
    if (number < 0 || number >= mxu->units) {
        return ts_instruction_error(err, TS_ERROR_INPUT, instruction, "no matrix unit %lld, expected 0 to %d",
                                    (long long)number, mxu->units - 1);
    }
    if (mxu->edge % TS_LANES != 0) {
        return ts_instruction_error(err, TS_ERROR_UNMODELLED, instruction,
                                    "a matrix unit of edge %d, expected a multiple of %d", mxu->edge,
                                    TS_LANES);
    }
    if (matrix_find_type(instruction->opcode, &type, &port) && mxu->rate[matrix_types[type].rate] == 0) {
        return ts_instruction_error(err, TS_ERROR_INPUT, instruction,
                                    "the matrix unit of this machine does not take %s",
                                    matrix_types[type].name);
    }
    *unit = (int)number;
    return instruction->operand_count < 3 || check_accumulators(err, mxu, instruction);
}

/* ---- State ---- */

struct core_mxu {
    /* Tiles of edge x edge words (f32 bits or i32), a ring: the one in use, complete ones, the one that
     * fills. */
    uint32_t *tiles;
    matrix_type *tile_types; /* [staging] */
    int64_t *tile_ready;     /* the cycle from which a complete tile can be used */
    int first;               /* the tile in use, or else the first complete one */
    bool in_use;
    int complete; /* tiles that wait */
    int latched;  /* vregs in the one that fills */
    /* Rows of a push whose vregs have not all come; an edge above 128 takes several. */
    uint32_t *rows;
    matrix_type row_type;
    int pushed;
    uint32_t *products; /* of one push */
    /* With the sanitizer: which columns of each tile, and which rows of a push, have something undefined; and
     * the shadows of the results. */
    bool *tile_poison, *row_poison;
    uint32_t *result_poison;
    /* Results, a ring of vregs. */
    uint32_t *results;
    int64_t *result_ready;
    int result_first, result_count;
    /* Accumulators: none before the first is added to. */
    uint32_t *sums, *sum_poison;
    int64_t *sum_ready;
    bool sums_used;
};

bool core_mxus_new(ts_error *err, ts_arena *arena, ts_core *core, const ts_instruction *instruction) {
    const ts_machine_mxu *config = &core->setup.config->mxu;
    int unit;
    if (core->mxus || !core_matrix_check(err, core, instruction, &unit)) return core->mxus != NULL;
    core->mxus = TS_NEW_ARRAY(arena, core_mxu, config->units);
    int64_t words = (int64_t)config->edge * config->edge;
    bool values = !core->setup.time_only;
    for (int i = 0; i < config->units; i++) {
        core_mxu *mxu = &core->mxus[i];
        mxu->tiles = values ? TS_NEW_ARRAY(arena, uint32_t, words * config->staging) : NULL;
        mxu->tile_types = TS_NEW_ARRAY(arena, matrix_type, config->staging);
        mxu->tile_ready = TS_NEW_ARRAY(arena, int64_t, config->staging);
        mxu->rows = TS_NEW_ARRAY(arena, uint32_t, matrix_rows(TYPE_i4) * config->edge);
        mxu->products = TS_NEW_ARRAY(arena, uint32_t, matrix_rows(TYPE_i4) * config->edge);
        mxu->results = values ? TS_NEW_ARRAY(arena, uint32_t, config->result_vregs * TS_VREG_WORDS) : NULL;
        mxu->result_ready = TS_NEW_ARRAY(arena, int64_t, config->result_vregs);
        mxu->sums = values ? TS_NEW_ARRAY(arena, uint32_t, config->accumulators * TS_VREG_WORDS) : NULL;
        mxu->sum_ready = TS_NEW_ARRAY(arena, int64_t, config->accumulators);
        if (core->poison) {
            mxu->sum_poison = TS_NEW_ARRAY(arena, uint32_t, config->accumulators * TS_VREG_WORDS);
            mxu->tile_poison = TS_NEW_ARRAY(arena, bool, config->staging * config->edge);
            mxu->row_poison = TS_NEW_ARRAY(arena, bool, matrix_rows(TYPE_i4));
            mxu->result_poison = TS_NEW_ARRAY(arena, uint32_t, config->result_vregs * TS_VREG_WORDS);
        }
    }
    return true;
}

static int edge_of(const ts_core *core) { return core->setup.config->mxu.edge; }
static int chunks_of(const ts_core *core) { return edge_of(core) / TS_LANES; }
static uint32_t *tile_words(const ts_core *core, const core_mxu *mxu, int tile) {
    return mxu->tiles + (ptrdiff_t)tile * edge_of(core) * edge_of(core);
}

/* ---- What is undefined: a column of weights or a row of a push is, when an element of it is. ---- */

typedef enum { AS_IT_IS, TRANSPOSED } orientation;

static void poison_tile(const ts_core *core, const core_op *op, core_mxu *mxu, int tile, orientation way) {
    matrix_type type = mxu->tile_types[tile];
    const uint32_t *shadow = ts_poison_source(op->poison, 1);
    bool *columns = mxu->tile_poison + (ptrdiff_t)tile * edge_of(core);
    int row = mxu->latched / chunks_of(core) * matrix_rows(type);
    int column = mxu->latched % chunks_of(core) * TS_LANES;
    if (mxu->latched == 0) memset(columns, 0, (size_t)edge_of(core));
    for (int r = 0; r < matrix_rows(type); r++) {
        const uint32_t *words = shadow + r / matrix_packing(type) * TS_LANES;
        for (int lane = 0; lane < TS_LANES; lane++)
            columns[way == TRANSPOSED ? row + r : column + lane] |= matrix_is_undefined(type, words[lane], r);
    }
}

static void poison_rows(const core_op *op, core_mxu *mxu, matrix_type type) {
    const uint32_t *shadow = ts_poison_source(op->poison, 1);
    for (int r = 0; r < matrix_rows(type); r++) {
        const uint32_t *words = shadow + r / matrix_packing(type) * TS_LANES;
        mxu->row_poison[r] &= mxu->pushed > 0;
        for (int lane = 0; lane < TS_LANES; lane++)
            mxu->row_poison[r] |= matrix_is_undefined(type, words[lane], r);
    }
}

typedef enum { REPLACES, ADDS } result_use;

/* Of the vreg of results with the 8 rows from `row` and the 128 columns from `column` on. */
static void poison_results(const ts_core *core, const core_mxu *mxu, uint32_t *out, result_use use, int row,
                           int column) {
    const bool *columns = mxu->tile_poison + (ptrdiff_t)mxu->first * edge_of(core) + column;
    for (int i = 0; i < TS_VREG_WORDS; i++) {
        bool undefined = mxu->row_poison[row + i / TS_LANES] || columns[i % TS_LANES];
        out[i] = (use == ADDS ? out[i] : 0) | (undefined ? UINT32_MAX : 0);
    }
}

/* ---- Weights ---- */

static bool latch_allowed(ts_error *err, const ts_core *core, const core_op *op, matrix_type type) {
    const core_mxu *mxu = &core->mxus[op->unit];
    int staging = core->setup.config->mxu.staging, held = mxu->in_use + mxu->complete;
    matrix_type begun = mxu->tile_types[(mxu->first + held) % staging];
    if (mxu->latched == 0 && held == staging)
        return core_fault(err, core, op, "matrix unit %d holds %d tiles, expected a swap before another",
                          op->unit, staging);
    if (mxu->latched > 0 && begun != type)
        return core_fault(err, core, op, "a tile of %s so far, expected no %s in it",
                          matrix_types[begun].name, matrix_types[type].name);
    return true;
}

/* A tile of edge 128 * c takes c vregs for each group of rows, the columns from left to right. */
static int vregs_of_tile(const ts_core *core, matrix_type type) {
    return edge_of(core) / matrix_rows(type) * chunks_of(core);
}

static bool latch(ts_error *err, ts_core *core, const core_op *op, matrix_type type, orientation way) {
    core_mxu *mxu = &core->mxus[op->unit];
    int edge = edge_of(core);
    int tile = (mxu->first + mxu->in_use + mxu->complete) % core->setup.config->mxu.staging;
    if (!latch_allowed(err, core, op, type)) return false;
    mxu->tile_types[tile] = type;
    if (core->poison) poison_tile(core, op, mxu, tile, way);
    int row = mxu->latched / chunks_of(core) * matrix_rows(type),
        column = mxu->latched % chunks_of(core) * TS_LANES;
    for (int r = 0; r < matrix_rows(type) && !core->setup.time_only; r++) {
        uint32_t *words = tile_words(core, mxu, tile);
        words +=
            way == TRANSPOSED ? (ptrdiff_t)column * edge + row + r : (ptrdiff_t)(row + r) * edge + column;
        matrix_unpack_row(type, op->in[1], r, words, way == TRANSPOSED ? edge : 1);
    }
    mxu->latched++;
    if (mxu->latched == vregs_of_tile(core, type)) {
        mxu->latched = 0;
        mxu->complete++;
        mxu->tile_ready[tile] = core->now + core->setup.config->latency_cycles[TS_LATENCY_MXU_LATCH];
    }
    return true;
}

bool core_gate_mxu_swap(ts_error *err, const ts_core *core, const core_op *op, int64_t *cycle, int *stall) {
    const core_mxu *mxu = &core->mxus[op->unit];
    int tile = (mxu->first + mxu->in_use) % core->setup.config->mxu.staging;
    if (mxu->complete == 0 && mxu->latched == 0)
        return core_fault(err, core, op, "matrix unit %d has no tile, expected mxu.latch first", op->unit);
    if (mxu->complete == 0) {
        matrix_type type = mxu->tile_types[tile];
        return core_fault(err, core, op,
                          "matrix unit %d has no complete tile: %d of %d vregs of %s are latched", op->unit,
                          mxu->latched, vregs_of_tile(core, type), matrix_types[type].name);
    }
    if (mxu->tile_ready[tile] > *cycle) {
        *cycle = mxu->tile_ready[tile];
        *stall = TS_STALL_WAIT + TS_LATENCY_MXU_LATCH;
    }
    return true;
}

CORE_FUNCTION(mxu_swap) {
    (void)err;
    core_mxu *mxu = &core->mxus[op->unit];
    mxu->first = (mxu->first + mxu->in_use) % core->setup.config->mxu.staging;
    mxu->in_use = true;
    mxu->complete--;
    return true;
}

/* ---- Rows ---- */

static void multiply(const ts_core *core, core_mxu *mxu, int row_count) {
    if (core->setup.time_only) return;
    const ts_matrix_functions *matrix = ts_matrix_select();
    const uint32_t *tile = tile_words(core, mxu, mxu->first);
    if (matrix_is_integer(mxu->row_type)) {
        matrix->i32(mxu->products, mxu->rows, tile, row_count, edge_of(core));
        return;
    }
    matrix->f32((float *)(void *)mxu->products, (const float *)(const void *)mxu->rows,
                (const float *)(const void *)tile, row_count, edge_of(core));
    for (int i = 0; i < row_count * edge_of(core); i++) {
        bool nan = (mxu->products[i] & 0x7fffffffu) > 0x7f800000u;
        mxu->products[i] = nan ? 0x7fc00000u : mxu->products[i];
    }
}

/* 8 rows and 128 columns a vreg; rows first, so that the columns of 8 rows come out one after the other. */
static void queue_results(ts_core *core, core_mxu *mxu, int row_count) {
    int capacity = core->setup.config->mxu.result_vregs, chunks = chunks_of(core);
    for (int v = 0; v < row_count / TS_SUBLANES * chunks; v++) {
        int slot = (mxu->result_first + mxu->result_count++) % capacity;
        const uint32_t *from =
            mxu->products + (ptrdiff_t)(v / chunks * TS_SUBLANES) * edge_of(core) + v % chunks * TS_LANES;
        for (int s = 0; s < TS_SUBLANES && !core->setup.time_only; s++) {
            memcpy(mxu->results + (ptrdiff_t)slot * TS_VREG_WORDS + s * TS_LANES,
                   from + (ptrdiff_t)s * edge_of(core), TS_LANES * sizeof(*from));
        }
        if (core->poison) {
            poison_results(core, mxu, mxu->result_poison + (ptrdiff_t)slot * TS_VREG_WORDS, REPLACES,
                           v / chunks * TS_SUBLANES, v % chunks * TS_LANES);
        }
        mxu->result_ready[slot] = core->now + core->setup.config->latency_cycles[TS_LATENCY_MXU_PUSH];
    }
}

/* The same vregs, added: the f32 that is NaN is the one NaN. */
static void add_results(ts_core *core, core_mxu *mxu, int row_count, int first) {
    int chunks = chunks_of(core);
    bool integer = matrix_is_integer(mxu->row_type);
    for (int v = 0; v < row_count / TS_SUBLANES * chunks; v++) {
        int row = v / chunks * TS_SUBLANES, column = v % chunks * TS_LANES;
        for (int i = 0; i < TS_VREG_WORDS && !core->setup.time_only; i++) {
            uint32_t *sum = &mxu->sums[(ptrdiff_t)(first + v) * TS_VREG_WORDS + i];
            uint32_t product =
                mxu->products[(ptrdiff_t)(row + i / TS_LANES) * edge_of(core) + column + i % TS_LANES];
            float total = ts_f32_from_bits(*sum) + ts_f32_from_bits(product);
            *sum = integer ? *sum + product : total == total ? ts_f32_bits(total) : 0x7fc00000u;
        }
        if (core->poison) {
            poison_results(core, mxu, mxu->sum_poison + (ptrdiff_t)(first + v) * TS_VREG_WORDS, ADDS, row,
                           column);
        }
        mxu->sum_ready[first + v] = core->now + core->setup.config->latency_cycles[TS_LATENCY_MXU_PUSH];
    }
    mxu->sums_used = true;
}

static bool push_allowed(ts_error *err, const ts_core *core, const core_op *op, matrix_type type) {
    const core_mxu *mxu = &core->mxus[op->unit];
    int capacity = core->setup.config->mxu.result_vregs;
    bool queues = mxu->pushed + 1 == chunks_of(core) && op->instruction->operand_count == 2;
    int results = queues ? matrix_rows(type) / TS_SUBLANES * chunks_of(core) : 0;
    if (!mxu->in_use) {
        return core_fault(err, core, op, "matrix unit %d has no tile in use, expected a swap first",
                          op->unit);
    }
    if (mxu->tile_types[mxu->first] != type) {
        return core_fault(err, core, op, "the tile in use is of %s, expected rows of it, not %s",
                          matrix_types[mxu->tile_types[mxu->first]].name, matrix_types[type].name);
    }
    if (mxu->result_count + results > capacity) {
        return core_fault(err, core, op,
                          "%d results in the queue of matrix unit %d and %d to come, expected %d at most",
                          mxu->result_count, op->unit, results, capacity);
    }
    return true;
}

static bool push(ts_error *err, ts_core *core, const core_op *op, matrix_type type) {
    core_mxu *mxu = &core->mxus[op->unit];
    if (!push_allowed(err, core, op, type)) return false;
    for (int r = 0; r < matrix_rows(type) && !core->setup.time_only; r++) {
        uint32_t *row = mxu->rows + (ptrdiff_t)r * edge_of(core) + mxu->pushed * TS_LANES;
        matrix_unpack_row(type, op->in[1], r, row, 1);
    }
    if (core->poison) poison_rows(op, mxu, type);
    mxu->row_type = type;
    if (++mxu->pushed == chunks_of(core)) {
        mxu->pushed = 0;
        multiply(core, mxu, matrix_rows(type));
        if (op->instruction->operand_count == 2)
            queue_results(core, mxu, matrix_rows(type));
        else
            add_results(core, mxu, matrix_rows(type), (int)op->instruction->operands[2].as.integer);
    }
    return true;
}

bool core_gate_mxu_pop(ts_error *err, const ts_core *core, const core_op *op, int64_t *cycle, int *stall) {
    const core_mxu *mxu = &core->mxus[op->unit];
    if (mxu->result_count == 0)
        return core_fault(err, core, op, "matrix unit %d has no result, expected a push first", op->unit);
    if (mxu->result_ready[mxu->result_first] > *cycle) {
        *cycle = mxu->result_ready[mxu->result_first];
        *stall = TS_STALL_WAIT + TS_LATENCY_MXU_PUSH;
    }
    return true;
}

CORE_FUNCTION(mxu_pop) {
    (void)err;
    core_mxu *mxu = &core->mxus[op->unit];
    if (core->poison)
        ts_poison_result(op->poison, mxu->result_poison + (ptrdiff_t)mxu->result_first * TS_VREG_WORDS);
    if (!core->setup.time_only)
        core_write_vreg(core, op, mxu->results + (ptrdiff_t)mxu->result_first * TS_VREG_WORDS);
    mxu->result_first = (mxu->result_first + 1) % core->setup.config->mxu.result_vregs;
    mxu->result_count--;
    return true;
}

/* ---- Accumulators ---- */

bool core_gate_mxu_take(ts_error *err, const ts_core *core, const core_op *op, int64_t *cycle, int *stall) {
    (void)err;
    int64_t ready = core->mxus[op->unit].sum_ready[op->instruction->operands[2].as.integer];
    if (ready > *cycle) {
        *cycle = ready;
        *stall = TS_STALL_WAIT + TS_LATENCY_MXU_PUSH;
    }
    return true;
}

CORE_FUNCTION(mxu_take) {
    core_mxu *mxu = &core->mxus[op->unit];
    int64_t number = op->instruction->operands[2].as.integer;
    ptrdiff_t word = (ptrdiff_t)number * TS_VREG_WORDS;
    if (mxu->sum_ready[number] > core->now) {
        return core_fault(
            err, core, op,
            "accumulator %d of matrix unit %d is added to in this bundle, expected an earlier one",
            (int)number, op->unit);
    }
    if (core->poison) {
        ts_poison_result(op->poison, mxu->sum_poison + word);
        memset(mxu->sum_poison + word, 0, TS_VREG_BYTES);
    }
    if (!core->setup.time_only) {
        core_write_vreg(core, op, mxu->sums + word);
        memset(mxu->sums + word, 0, TS_VREG_BYTES);
    }
    return true;
}

/* ---- Loops that repeat ---- */

static int64_t cycles_left(const ts_core *core, int64_t ready) {
    return ready > core->next ? ready - core->next : 0;
}

static int mxu_state(const ts_core *core, const core_mxu *mxu, int64_t *out) {
    const ts_machine_mxu *config = &core->setup.config->mxu;
    int64_t counts[] = {mxu->in_use, mxu->complete,     mxu->latched,
                        mxu->pushed, mxu->result_count, mxu->row_type};
    int at = 6;
    memcpy(out, counts, sizeof(counts));
    for (int t = 0; t < mxu->in_use + mxu->complete + (mxu->latched > 0); t++) {
        int tile = (mxu->first + t) % config->staging;
        bool waits = t >= mxu->in_use && t < mxu->in_use + mxu->complete;
        out[at++] = mxu->tile_types[tile];
        out[at++] = waits ? cycles_left(core, mxu->tile_ready[tile]) : 0;
    }
    for (int r = 0; r < mxu->result_count; r++)
        out[at++] = cycles_left(core, mxu->result_ready[(mxu->result_first + r) % config->result_vregs]);
    for (int a = 0; mxu->sums_used && a < config->accumulators; a++)
        out[at++] = cycles_left(core, mxu->sum_ready[a]);
    return at;
}

int core_mxus_state(const ts_core *core, int64_t *out) {
    const ts_machine_mxu *config = &core->setup.config->mxu;
    int at = 0, units = core->mxus ? config->units : 0;
    if (!out) return units * (6 + 2 * config->staging + config->result_vregs + config->accumulators);
    for (int i = 0; i < units; i++) at += mxu_state(core, &core->mxus[i], out + at);
    return at;
}

void core_mxus_move(ts_core *core, int64_t from, int64_t by) {
    const ts_machine_mxu *config = &core->setup.config->mxu;
    for (int i = 0; core->mxus && i < config->units; i++) {
        for (int t = 0; t < config->staging; t++)
            core->mxus[i].tile_ready[t] += core->mxus[i].tile_ready[t] > from ? by : 0;
        for (int r = 0; r < config->result_vregs; r++)
            core->mxus[i].result_ready[r] += core->mxus[i].result_ready[r] > from ? by : 0;
        for (int a = 0; a < config->accumulators; a++)
            core->mxus[i].sum_ready[a] += core->mxus[i].sum_ready[a] > from ? by : 0;
    }
}

#define FUNCTION_ROWS(name, bits, rate)                                                                      \
    CORE_FUNCTION(mxu_latch_##name) { return latch(err, core, op, TYPE_##name, AS_IT_IS); }                  \
    CORE_FUNCTION(mxu_latcht_##name) { return latch(err, core, op, TYPE_##name, TRANSPOSED); }               \
    CORE_FUNCTION(mxu_push_##name) { return push(err, core, op, TYPE_##name); }                              \
    CORE_FUNCTION(mxu_acc_##name) { return push(err, core, op, TYPE_##name); }
MATRIX_TYPES(FUNCTION_ROWS)
