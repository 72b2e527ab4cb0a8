/* The code around the body of a kernel: a loop over the grid, row-major, in which blocks are fetched one step
 * ahead into two buffers (into one behind the body: pl.Buffered(1)), only where another one is needed, and
 * results are written back when another block is begun and at the end (jax,
 * docs/pallas/tpu/pipelining.md). */
#include <string.h>

#include "kernel.h"

/* ---- Instructions under a condition ---- */

typedef struct {
    bool known, taken;
    int block, index; /* of the branch around it */
} guard;

static guard guard_begin(lowering *l, ts_operand condition) {
    if (is_number(condition)) return (guard){.known = true, .taken = number_of(condition) != 0};
    lower_branch(l, TS_OP_brz, 1, condition, condition);
    int block = l->code.blocks.count - 1, index = l->code.blocks.items[block].list.count - 1;
    begin_block(l);
    return (guard){false, true, block, index};
}

static void guard_end(lowering *l, guard g) {
    if (!g.known) {
        int end = begin_block(l);
        aim_branch(&l->code.blocks.items[g.block].list.items[g.index], end);
    }
}

static ts_operand is_not(lowering *l, ts_operand a) { return scalar2(l, TS_OP_sxor, a, ts_integer(1)); }

/* A register that can be changed, with a value. */
static ts_operand variable(lowering *l, ts_operand from) {
    ts_operand r = fresh(l, TS_OPERAND_SREG);
    move_to(l, r, from);
    return r;
}

/* ---- Blocks ---- */

/* What follows is from no line of Python. */
static void enter_pipeline(kernel *k) {
    static const char text[] = "the loop over the grid: blocks are fetched, waited for and written back";
    k->l->file = &k->source;
    k->l->line = 1;
    k->source = (ts_source){"pipeline", text, sizeof text - 1};
}

/* The block that a window has at an index of the grid. */
static bool transform(kernel *k, kernel_window *w, const ts_operand *at, ts_operand *out) {
    lowering *l = k->l;
    for (int i = 0; i < w->type.rank; i++) out[i] = ts_integer(0);
    if (!w->transform) return true;
    const mlir_block *block = w->transform->regions[0].blocks[0];
    l->op = w->transform;
    if (block->argument_count != k->grid_rank + k->prefetch_count)
        return malformed(l, "arguments for the grid and what is prefetched");
    for (int i = 0; i < k->grid_rank; i++)
        l->values[block->arguments[i]] = (value){.kind = VALUE_SCALAR, .count = 1, .one = at[i]};
    for (int i = 0; i < k->prefetch_count; i++)
        l->values[block->arguments[k->grid_rank + i]] = k->prefetch[i];
    if (!lower_block(l, block)) return false;
    l->op = w->transform;
    enter_pipeline(k);
    if (l->yielded.count != w->type.rank) return malformed(l, "a block index for each dim");
    for (int i = 0; i < w->type.rank; i++) {
        if (l->yielded.items[i].kind != VALUE_SCALAR) return malformed(l, "scalars");
        out[i] = l->yielded.items[i].one;
    }
    return true;
}

static bool is_moving(const kernel_window *w) { return w->tensor >= 0 && !w->fixed; }
static bool is_fetched(const kernel_window *w) { return is_moving(w) && !w->operand->result; }

static ts_operand semaphore_at(int first, ts_operand which) {
    return is_number(which) ? ts_semaphore(first + (int)number_of(which))
                            : ts_semaphore_of(first, 2, which.as.reg);
}

/* A transfer between a block of the array and a buffer, of `sizes` elements. */
static bool move_block(kernel *k, kernel_window *w, const ts_operand *index, ts_operand slot,
                       const int64_t *sizes) {
    ts_affine at[MLIR_RANK_MAX + 1] = {{0}}, in[MLIR_RANK_MAX + 1] = {{0}};
    int64_t buffer[MLIR_RANK_MAX + 1];
    int more = w->buffers > 1;
    for (int i = 0; i < w->type.rank; i++) {
        int64_t step = w->elements ? 1 : w->block[i];
        at[i] = is_number(index[i]) ? ts_index(number_of(index[i]) * step)
                                    : ts_index_of(index[i].as.reg, step, 0);
        buffer[i + more] = sizes[i];
    }
    if (more) {
        buffer[0] = 1;
        in[0] = is_number(slot) ? ts_index(number_of(slot)) : ts_index_of(slot.as.reg, 1, 0);
    }
    ts_program_box array = {w->operand->tensor, at, sizes}, own = {w->tensor, in, buffer};
    ts_operand semaphore = is_fetched(w) ? k->arrival
                           : more        ? semaphore_at(w->semaphores, slot)
                                         : ts_semaphore(w->semaphores);
    if (w->operand->result) return kernel_transfer(k->l, array, own, semaphore);
    if (!kernel_transfer(k->l, own, array, semaphore)) return false;
    for (int i = 0; i < w->type.rank && !w->fixed; i++)
        if (sizes[i] < w->block[i]) kernel_renew_last(k->l, w->buffers);
    return true;
}

/* The same, cut where the array ends: from dim on, a way for whole blocks and one for the last. */
static bool move_cut(kernel *k, kernel_window *w, const ts_operand *index, ts_operand slot, int64_t *sizes,
                     int dim) {
    lowering *l = k->l;
    for (; dim < w->type.rank; dim++) {
        int64_t size = w->operand->array.dims[dim], rest = size % w->block[dim];
        sizes[dim] = size < w->block[dim] ? size : w->block[dim];
        if (rest == 0 || w->elements || size < w->block[dim]) continue;
        ts_operand last = scalar2(l, TS_OP_scmp_ge, index[dim], ts_integer(size / w->block[dim]));
        ts_operand inner = is_not(l, last);
        guard g = guard_begin(l, inner);
        if (g.taken && !move_cut(k, w, index, slot, sizes, dim + 1)) return false;
        guard_end(l, g);
        g = guard_begin(l, last);
        sizes[dim] = rest;
        if (g.taken && !move_cut(k, w, index, slot, sizes, dim + 1)) return false;
        guard_end(l, g);
        return true;
    }
    return move_block(k, w, index, slot, sizes);
}

static bool start_move(kernel *k, kernel_window *w, const ts_operand *index, ts_operand slot) {
    int64_t sizes[MLIR_RANK_MAX];
    return move_cut(k, w, index, slot, sizes, 0);
}

static void wait_for(kernel *k, const kernel_window *w, ts_operand slot) {
    ts_operand semaphore = w->buffers == 1 ? ts_semaphore(w->semaphores) : semaphore_at(w->semaphores, slot);
    emit(k->l, TS_OP_wait, 1, &semaphore);
}

/* ---- The steps of the grid ---- */

/* The index behind k->at, last dim first; k->last where there is none. */
static void step_grid(kernel *k) {
    lowering *l = k->l;
    ts_operand carry = ts_integer(1);
    for (int i = k->grid_rank - 1; i >= 0; i--) {
        if (k->grid[i] == 1) {
            k->next[i] = ts_integer(0);
            continue;
        }
        ts_operand n = scalar2(l, TS_OP_sadd, k->at[i], carry);
        carry = scalar2(l, TS_OP_scmp_eq, n, ts_integer(k->grid[i]));
        k->next[i] = scalar2(l, TS_OP_ssub, n, scalar2(l, TS_OP_smul, carry, ts_integer(k->grid[i])));
    }
    k->last = carry;
}

/* Whether the next block of the window is another one. */
static bool find_next(kernel *k, kernel_window *w) {
    lowering *l = k->l;
    ts_operand moves = ts_integer(0);
    if (!transform(k, w, k->next, w->next)) return false;
    for (int i = 0; i < w->type.rank; i++)
        moves = scalar2(l, TS_OP_sor, moves, scalar2(l, TS_OP_scmp_ne, w->next[i], w->index[i]));
    w->moves = w->operand->result ? scalar2(l, TS_OP_sor, moves, k->last)
                                  : scalar2(l, TS_OP_sand, moves, is_not(l, k->last));
    return true;
}

static bool fetch_next(kernel *k, kernel_window *w) {
    guard g = guard_begin(k->l, w->moves);
    if (g.taken && !start_move(k, w, w->next, w->buffers == 1 ? w->slot : is_not(k->l, w->slot)))
        return false;
    guard_end(k->l, g);
    return true;
}

/* Before the body: the next blocks are fetched where they have a buffer, and those of this step are there. */
static bool begin_step(kernel *k) {
    lowering *l = k->l;
    ts_operand fetches = ts_integer(0);
    step_grid(k);
    if (k->fetched >= 0) k->arrival = semaphore_at(k->fetched, is_not(l, k->parity));
    for (int i = 0; i < k->window_count; i++) {
        kernel_window *w = &k->windows[i];
        if (!is_moving(w)) continue;
        if (!find_next(k, w)) return false;
        if (w->operand->result) continue;
        fetches = scalar2(l, TS_OP_sadd, fetches, w->moves);
        if (w->buffers > 1 && !fetch_next(k, w)) return false;
    }
    emit(l, TS_OP_delay, 1, (ts_operand[]){ts_integer(1)});
    k->pause_block = l->code.blocks.count - 1;
    k->pause = l->code.blocks.items[k->pause_block].list.count - 1;
    if (k->fetched < 0) return true;
    guard g = guard_begin(l, k->fetches);
    emit(l, TS_OP_wait, 2, (ts_operand[]){semaphore_at(k->fetched, k->parity), k->fetches});
    guard_end(l, g);
    move_to(l, k->fetches, fetches);
    return true;
}

/* A result that is complete leaves; of two buffers the other may still be on its way until now. */
static bool leave(kernel *k, kernel_window *w) {
    lowering *l = k->l;
    guard g = guard_begin(l, w->moves);
    if (g.taken && !start_move(k, w, w->index, w->slot)) return false;
    if (g.taken && w->buffers == 1) wait_for(k, w, w->slot);
    guard_end(l, g);
    if (w->buffers == 1) return true;
    g = guard_begin(l, w->waits);
    wait_for(k, w, is_not(l, w->slot));
    guard_end(l, g);
    move_to(l, w->waits, w->moves);
    return true;
}

/* Behind it: results leave, and blocks are fetched into the one buffer that they have. */
static bool end_step(kernel *k) {
    lowering *l = k->l;
    for (int i = 0; i < k->window_count; i++) {
        kernel_window *w = &k->windows[i];
        if (!is_moving(w)) continue;
        if (w->operand->result && !leave(k, w)) return false;
        if (!w->operand->result && w->buffers == 1 && !fetch_next(k, w)) return false;
        if (w->buffers > 1) emit(l, TS_OP_sxor, 3, (ts_operand[]){w->slot, w->slot, w->moves});
        for (int d = 0; d < w->type.rank; d++)
            if (!is_number(w->index[d])) move_to(l, w->index[d], w->next[d]);
    }
    if (k->fetched >= 0) emit(l, TS_OP_sxor, 3, (ts_operand[]){k->parity, k->parity, ts_integer(1)});
    for (int i = 0; i < k->grid_rank; i++)
        if (k->grid[i] > 1) move_to(l, k->at[i], k->next[i]);
    return true;
}

static int count_instructions(const lowering *l) {
    int count = 0;
    for (int b = 0; b < l->code.blocks.count; b++) count += l->code.blocks.items[b].list.count;
    return count;
}

/* What a step costs beyond the pipeline's own instructions, a cycle each, and a wait is waited for where
 * blocks on their way are not held up. */
static void complete_step(kernel *k, int own) {
    const ts_core_config *core = &k->l->target->core;
    mosaic_block *block = &k->l->code.blocks.items[k->pause_block];
    int64_t wait = k->fetched >= 0 ? core->latency_cycles[TS_LATENCY_SEMAPHORE] : 0;
    int64_t more = core->grid_step_cycles - wait - own;
    ts_instruction *pause = &block->list.items[k->pause];
    if (more > 0) {
        pause->operands[0] = ts_integer(more);
    } else {
        int behind = --block->list.count - k->pause;
        memmove(pause, pause + 1, (size_t)behind * sizeof *pause);
    }
}

/* ---- Before the first step, and behind the last ---- */

/* What is prefetched goes to SMEM. */
static bool bring_prefetch(kernel *k) {
    lowering *l = k->l;
    const mlir_block *body = k->main->regions[0].blocks[0];
    for (int i = 0; i < k->prefetch_count; i++) {
        const mlir_type *type = l->module->values[body->arguments[k->grid_rank + i]].type;
        const mlir_type *array = &k->operands[i].array;
        if (type->kind != MLIR_MEMREF || type->rank != array->rank || array->bits != type->bits ||
            type->space != MLIR_SMEM)
            return malformed(l, "what is prefetched as memrefs in SMEM");
        int tensor = tensor_of_type(l, ts_text_format(l->arena, "prefetch_%d", i), TS_SPACE_SMEM, type, 1);
        const char *name = ts_text_format(l->arena, "prefetched_%d", i);
        int semaphore = tensor < 0 ? -1 : ts_program_semaphores(l->builder, name, 1);
        if (semaphore < 0) return false;
        ts_affine begin[MLIR_RANK_MAX] = {{0}};
        ts_program_box from = {k->operands[i].tensor, begin, array->dims}, to = {tensor, begin, array->dims};
        if (!kernel_transfer(l, to, from, ts_semaphore(semaphore))) return false;
        emit(l, TS_OP_wait, 1, (ts_operand[]){ts_semaphore(semaphore)});
        memref *m = memref_of_tensor(l, type, tensor, 1, ts_integer(0));
        k->prefetch[i] = (value){.kind = VALUE_MEMREF, .count = 1, .memref = m};
    }
    return true;
}

/* The first block of a window is on its way, unless it is a result's; its index and slot are variables. */
static bool bring_window(kernel *k, kernel_window *w) {
    lowering *l = k->l;
    if (!transform(k, w, k->at, w->index)) return false;
    if (!w->operand->result && !start_move(k, w, w->index, ts_integer(0))) return false;
    if (w->fixed) return true;
    for (int d = 0; d < w->type.rank; d++) w->index[d] = variable(l, w->index[d]);
    w->slot = ts_integer(0);
    if (w->buffers == 1) return true;
    w->slot = variable(l, w->slot);
    w->waits = variable(l, ts_integer(0));
    return true;
}

static bool bring_first(kernel *k) {
    lowering *l = k->l;
    int fetches = 0;
    for (int i = 0; i < k->grid_rank; i++) k->at[i] = ts_integer(0);
    if (k->fetched >= 0) k->arrival = ts_semaphore(k->fetched);
    for (int i = 0; i < k->window_count; i++) {
        kernel_window *w = &k->windows[i];
        if (w->tensor < 0) continue;
        if (!bring_window(k, w)) return false;
        fetches += !w->fixed && is_fetched(w);
    }
    if (k->fetched >= 0) {
        k->parity = variable(l, ts_integer(0));
        k->fetches = variable(l, ts_integer(fetches));
    }
    for (int i = 0; i < k->window_count; i++) {
        kernel_window *w = &k->windows[i];
        if (w->tensor >= 0 && w->fixed && !w->operand->result) wait_for(k, w, ts_integer(0));
    }
    for (int i = 0; i < k->grid_rank; i++)
        if (k->grid[i] > 1) k->at[i] = variable(l, ts_integer(0));
    return true;
}

static bool take_last(kernel *k) {
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < k->window_count; i++) {
            kernel_window *w = &k->windows[i];
            if (w->tensor < 0 || !w->operand->result) continue;
            if (pass == 0 && w->fixed && !start_move(k, w, w->index, ts_integer(0))) return false;
            if (pass == 1 && w->fixed) wait_for(k, w, ts_integer(0));
            if (pass == 1 && w->buffers > 1) wait_for(k, w, is_not(k->l, w->slot));
        }
    }
    return true;
}

/* ---- The body ---- */

static memref *scratch_of_type(lowering *l, const char *name, const mlir_type *type) {
    static const ts_space_kind spaces[] = {
        [MLIR_VMEM] = TS_SPACE_VMEM, [MLIR_SMEM] = TS_SPACE_SMEM, [MLIR_HBM] = TS_SPACE_HBM};
    if (type->space == MLIR_SEMAPHORE_MEM) return memref_of_semaphores(l, name, type);
    if (type->space > MLIR_HBM) {
        refuse(l, "with scratch in this memory");
        return NULL;
    }
    int tensor = tensor_of_type(l, name, spaces[type->space], type, 1);
    return tensor < 0 ? NULL : memref_of_tensor(l, type, tensor, 1, ts_integer(0));
}

static bool bind_scratch(kernel *k, const mlir_block *body) {
    lowering *l = k->l;
    for (int i = 0; i < k->scratch_count; i++) {
        int argument = body->arguments[body->argument_count - k->scratch_count + i];
        memref *m = scratch_of_type(l, kernel_scratch_name(k, i), l->module->values[argument].type);
        if (!m) return false;
        l->values[argument] = (value){.kind = VALUE_MEMREF, .count = 1, .memref = m};
    }
    return true;
}

static bool lower_body(kernel *k) {
    lowering *l = k->l;
    const mlir_block *body = k->main->regions[0].blocks[0];
    int at = k->grid_rank + k->prefetch_count;
    for (int i = 0; i < k->grid_rank; i++)
        l->values[body->arguments[i]] = (value){.kind = VALUE_SCALAR, .count = 1, .one = k->at[i]};
    for (int i = 0; i < k->prefetch_count; i++) l->values[body->arguments[k->grid_rank + i]] = k->prefetch[i];
    for (int i = 0; i < k->window_count; i++) {
        kernel_window *w = &k->windows[i];
        mlir_type type = w->type;
        if (w->tensor < 0) memcpy(type.dims, w->operand->array.dims, sizeof type.dims);
        memref *m = w->tensor < 0 ? memref_of_tensor(l, &type, w->operand->tensor, 1, ts_integer(0))
                                  : memref_of_tensor(l, &type, w->tensor, w->buffers, w->slot);
        m->array = w->tensor < 0 ? &w->operand->array : NULL;
        l->values[body->arguments[at + i]] = (value){.kind = VALUE_MEMREF, .count = 1, .memref = m};
    }
    bool good = lower_block(l, body);
    l->op = k->main;
    enter_pipeline(k);
    return good;
}

/* None, one, or 2 for more. */
static int count_steps(const kernel *k) {
    int steps = 1;
    for (int i = 0; i < k->grid_rank; i++) {
        if (k->grid[i] == 0) return 0;
        if (k->grid[i] > 1) steps = 2;
    }
    return steps;
}

bool kernel_lower(kernel *k) {
    lowering *l = k->l;
    int steps = count_steps(k);
    l->op = k->main;
    enter_pipeline(k);
    begin_block(l);
    if (steps == 0) return true;
    if (!bind_scratch(k, k->main->regions[0].blocks[0]) || !bring_prefetch(k) || !bring_first(k))
        return false;
    if (steps == 1) return lower_body(k) && take_last(k);
    l->depth++;
    int head = begin_block(l), own = -count_instructions(l);
    if (!begin_step(k)) return false;
    own += count_instructions(l);
    if (!lower_body(k)) return false;
    own -= count_instructions(l);
    if (!end_step(k)) return false;
    complete_step(k, own + count_instructions(l) - 1);
    ts_operand last = in_sreg(l, k->last);
    aim_branch(lower_branch(l, TS_OP_brz, 1, last, last), head);
    l->depth--;
    begin_block(l);
    return take_last(k);
}
