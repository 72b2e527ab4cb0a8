/* Operations with regions: branches and loops, and the walk over a block. */
#include <string.h>

#include "lower.h"

/* ---- Values that are chosen at run time ---- */

/* Registers of the kinds of v; where `type` is one of masks, a number stands for a mask. */
static value registers_for(lowering *l, const value *v, const mlir_type *type) {
    ts_operand *parts = TS_NEW_ARRAY(l->arena, ts_operand, v->count + 1);
    for (int i = 0; i < v->count; i++) {
        ts_operand o = part_of(v, i);
        parts[i] = fresh(l, !is_number(o)             ? o.kind
                            : v->kind == VALUE_SCALAR ? TS_OPERAND_SREG
                            : is_mask_type(type)      ? TS_OPERAND_VMASK
                                                      : TS_OPERAND_VREG);
    }
    value out = value_of_parts(l, parts, v->count);
    out.kind = v->kind;
    return out;
}

static bool move_value(lowering *l, const value *to, const value *from) {
    if (to->kind != from->kind || to->count != from->count || to->kind == VALUE_MEMREF)
        return malformed(l, "the same kind of value on both ways");
    for (int i = 0; i < to->count; i++) move_to(l, part_of(to, i), part_of(from, i));
    return true;
}

/* All at once: what is read is copied before anything is written. */
static bool move_values(lowering *l, const value *to, const value *from, int count) {
    value *copies = TS_NEW_ARRAY(l->arena, value, count + 1);
    for (int i = 0; i < count; i++) {
        bool moved = false; /* another result is read here */
        copies[i] = from[i];
        for (int k = 0; k < count; k++) {
            moved = moved || (k != i && from[i].count > 0 && to[k].count > 0 &&
                              part_of(&from[i], 0).kind == part_of(&to[k], 0).kind &&
                              !is_number(part_of(&from[i], 0)) &&
                              part_of(&from[i], 0).as.reg == part_of(&to[k], 0).as.reg);
        }
        if (moved) {
            copies[i] = registers_for(l, &from[i], NULL);
            if (!move_value(l, &copies[i], &from[i])) return false;
        }
    }
    for (int i = 0; i < count; i++)
        if (!move_value(l, &to[i], &copies[i])) return false;
    return true;
}

static value *copy_yielded(lowering *l, int *count) {
    value *out = TS_NEW_ARRAY(l->arena, value, l->yielded.count + 1);
    *count = l->yielded.count;
    if (*count > 0) memcpy(out, l->yielded.items, (size_t)*count * sizeof *out);
    return out;
}

/* ---- scf.if ---- */

static bool lower_known_if(lowering *l, bool taken) {
    const mlir_op *op = l->op;
    const mlir_region *region = taken || op->region_count < 2 ? &op->regions[0] : &op->regions[1];
    l->yielded.count = 0;
    if ((taken || op->region_count == 2) && !lower_region(l, region)) return false;
    l->op = op;
    for (int i = 0; i < l->yielded.count; i++) set_result(l, i, l->yielded.items[i]);
    return true;
}

typedef enum { SECOND_WAY, FIRST_WAY } way_number;

static bool lower_way(lowering *l, const mlir_region *region, value *results, way_number number) {
    const mlir_op *op = l->op;
    int count;
    if (!lower_region(l, region)) return false;
    l->op = op;
    value *yielded = copy_yielded(l, &count);
    if (count != op->result_count) return malformed(l, "a yield of as many values as results");
    for (int i = 0; i < count && number == FIRST_WAY; i++)
        results[i] = registers_for(l, &yielded[i], result_type(l, i));
    return move_values(l, results, yielded, count);
}

/* The other way, behind the first; *skip: where the first one ends. */
static bool lower_other_way(lowering *l, value *results, branch_position *skip) {
    const mlir_op *op = l->op;
    if (op->region_count != 2 || op->regions[1].block_count == 0 || op->regions[1].blocks[0]->op_count == 0)
        return true;
    lower_branch(l, TS_OP_jump, 0, ts_integer(0), ts_integer(0));
    branch_position end = last_branch(l);
    aim_at(l, *skip, begin_block(l));
    *skip = end;
    return lower_way(l, &op->regions[1], results, SECOND_WAY);
}

bool lower_if(lowering *l) {
    const mlir_op *op = l->op;
    const value *condition = value_at(l, 0);
    if (op->region_count < 1 || condition->kind != VALUE_SCALAR)
        return malformed(l, "a condition and a region");
    if (is_number(condition->one)) return lower_known_if(l, number_of(condition->one) != 0);
    value *results = TS_NEW_ARRAY(l->arena, value, op->result_count + 1);
    lower_branch(l, TS_OP_brz, 1, condition->one, condition->one);
    branch_position skip = last_branch(l);
    begin_block(l);
    if (!lower_way(l, &op->regions[0], results, FIRST_WAY) || !lower_other_way(l, results, &skip))
        return false;
    aim_at(l, skip, begin_block(l));
    for (int i = 0; i < op->result_count; i++) set_result(l, i, results[i]);
    return true;
}

/* ---- Loops ---- */

/* Registers that begin with the operands from `first` on, bound to the arguments of a block. */
static value *carry(lowering *l, int first, int count) {
    value *carried = TS_NEW_ARRAY(l->arena, value, count + 1),
          *from = TS_NEW_ARRAY(l->arena, value, count + 1);
    for (int i = 0; i < count; i++) {
        from[i] = *value_at(l, first + i);
        carried[i] =
            from[i].kind == VALUE_MEMREF ? from[i] : registers_for(l, &from[i], type_at(l, first + i));
        if (from[i].kind != VALUE_MEMREF) move_value(l, &carried[i], &from[i]);
    }
    return carried;
}

static bool bind_arguments(lowering *l, const mlir_block *block, int first, const value *values, int count) {
    if (block->argument_count != first + count) return malformed(l, "as many arguments as values");
    for (int i = 0; i < count; i++) l->values[block->arguments[first + i]] = values[i];
    return true;
}

/* A region of one block, whose first values are bound already; what it yields are the values `to`. */
static bool lower_body(lowering *l, const mlir_region *region, const value *to, int count) {
    const mlir_op *op = l->op;
    int yielded_count;
    if (!lower_region(l, region)) return false;
    l->op = op;
    const value *yielded = copy_yielded(l, &yielded_count);
    if (yielded_count != count) return malformed(l, "a yield of what is carried");
    return move_values(l, to, yielded, count);
}

static bool lower_counted(lowering *l, ts_operand counter, const value *carried, int count) {
    const mlir_block *body = l->op->regions[0].blocks[0];
    if (body->argument_count < 1 || !bind_arguments(l, body, 1, carried, count))
        return malformed(l, "a counter");
    l->values[body->arguments[0]] = (value){.kind = VALUE_SCALAR, .count = 1, .one = counter};
    return lower_body(l, &l->op->regions[0], carried, count);
}

bool lower_for(lowering *l) {
    const mlir_op *op = l->op;
    if (op->operand_count < 3 || op->region_count != 1 || op->regions[0].block_count != 1)
        return malformed(l, "bounds, a step and a region of one block");
    ts_operand low = value_at(l, 0)->one, high = value_at(l, 1)->one, i = fresh(l, TS_OPERAND_SREG);
    bool runs = is_number(low) && is_number(high) && number_of(low) < number_of(high);
    int count = op->operand_count - 3;
    branch_position skip = {0};
    move_to(l, i, low);
    const value *carried = carry(l, 3, count);
    if (!runs) {
        lower_branch(l, TS_OP_br_ge, 2, i, high);
        skip = last_branch(l);
    }
    l->depth++;
    int head = begin_block(l);
    if (!lower_counted(l, i, carried, count)) return false;
    emit(l, TS_OP_sadd, 3, (ts_operand[]){i, i, value_at(l, 2)->one});
    aim_branch(lower_branch(l, TS_OP_br_lt, 2, i, high), head);
    l->depth--;
    int end = begin_block(l);
    if (!runs) aim_at(l, skip, end);
    for (int k = 0; k < count; k++) set_result(l, k, carried[k]);
    return true;
}

/* What the first region of a loop yields: the condition, and values that it passes on. */
static const value *lower_condition(lowering *l, const value *carried, int *count) {
    const mlir_op *op = l->op;
    if (!bind_arguments(l, op->regions[0].blocks[0], 0, carried, op->operand_count) ||
        !lower_region(l, &op->regions[0]))
        return NULL;
    l->op = op;
    const value *passed = copy_yielded(l, count);
    if (*count < 1 || passed[0].kind != VALUE_SCALAR) {
        malformed(l, "a condition");
        return NULL;
    }
    return passed;
}

bool lower_while(lowering *l) {
    const mlir_op *op = l->op;
    int count;
    if (op->region_count != 2 || op->regions[0].block_count != 1 || op->regions[1].block_count != 1)
        return malformed(l, "two regions of one block");
    const value *carried = carry(l, 0, op->operand_count);
    l->depth++;
    int head = begin_block(l);
    const value *passed = lower_condition(l, carried, &count);
    if (!passed) return false;
    ts_operand condition = in_sreg(l, passed[0].one);
    lower_branch(l, TS_OP_brz, 1, condition, condition);
    branch_position leave = last_branch(l);
    begin_block(l);
    if (!bind_arguments(l, op->regions[1].blocks[0], 0, passed + 1, count - 1) ||
        !lower_body(l, &op->regions[1], carried, op->operand_count))
        return false;
    aim_branch(lower_branch(l, TS_OP_jump, 0, condition, condition), head);
    l->depth--;
    aim_at(l, leave, begin_block(l));
    for (int k = 0; k < count - 1; k++) set_result(l, k, passed[k + 1]);
    return true;
}

/* A region that is only a scope. */
bool lower_inline(lowering *l) {
    const mlir_op *op = l->op;
    if (op->region_count != 1 || !lower_region(l, &op->regions[0])) return malformed(l, "a region");
    l->op = op;
    for (int i = 0; i < l->yielded.count && i < op->result_count; i++) set_result(l, i, l->yielded.items[i]);
    return true;
}

/* ---- The walk ---- */

bool lower_yield(lowering *l) {
    l->yielded.count = 0;
    for (int i = 0; i < l->op->operand_count; i++) *PUSH(l->arena, &l->yielded) = *value_at(l, i);
    return true;
}

bool lower_nothing(lowering *l) {
    (void)l;
    return true;
}

bool lower_log(lowering *l) {
    l->logs++;
    return true;
}

/* Nothing behind it begins before: it ends a block. Of nanoseconds those below 1000 by themselves, as cycles
 * of many are more than a word holds. */
bool lower_delay(lowering *l) {
    const value *v = value_at(l, 0);
    ts_operand mhz = ts_integer(l->target->core_khz / 1000), thousand = ts_integer(1000);
    if (v->kind != VALUE_SCALAR) return malformed(l, "a scalar");
    if (number_of(mhz) < 1) return refuse(l, "without a clock");
    matmul_flush(l);
    ts_operand whole = scalar2(l, TS_OP_sdiv, v->one, thousand),
               rest = scalar2(l, TS_OP_smod, v->one, thousand);
    rest = scalar2(l, TS_OP_sdiv, scalar2(l, TS_OP_smul, rest, mhz), thousand);
    ts_operand cycles = scalar2(l, TS_OP_sadd, scalar2(l, TS_OP_smul, whole, mhz), rest);
    emit(l, TS_OP_delay, 1, &cycles);
    begin_block(l);
    return true;
}

bool lower_iteration_bound(lowering *l) {
    int64_t dim;
    return read_integer(l, "dim", &dim) &&
           (dim < 0 || dim >= l->grid_rank ? malformed(l, "a dim of the grid")
                                           : set_scalar(l, ts_integer(l->grid[dim])));
}

static const struct {
    const char *name;
    lower_function *function;
    bool of_vectors; /* of several vregs */
} table[] = {
#define OP(name, function, what)      {name, function, false},
#define VECTORS(name, function, what) {name, function, true},
#include "ops.def"
};

/* What is known, but not modelled. */
static const struct {
    const char *name, *why;
} refused[] = {
#define REFUSED(name, why) {name, why},
#include "ops.def"
};

static bool lower_named(lowering *l) {
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (ts_span_is(l->op->name, table[i].name))
            return (table[i].of_vectors || check_vreg_types(l)) && table[i].function(l);
    bool known;
    bool good = lower_elementwise(l, &known);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0] && !known; i++)
        if (ts_span_is(l->op->name, refused[i].name)) return refuse(l, refused[i].why);
    return known ? good : refuse(l, NULL);
}

static bool lower_op(lowering *l, const mlir_op *op) {
    l->op = op;
    find_source_line(l);
    if (op->region_count > 0 || matmul_is_read(l)) matmul_flush(l);
    return lower_named(l);
}

bool lower_block(lowering *l, const mlir_block *block) {
    int outer = l->products;
    bool good = true;
    l->products = 0;
    for (int i = 0; i < block->op_count; i++) l->products += ts_span_is(block->ops[i]->name, "tpu.matmul");
    for (int i = 0; i < block->op_count && good; i++) good = lower_op(l, block->ops[i]);
    matmul_flush(l);
    l->products = outer;
    return good;
}

bool lower_region(lowering *l, const mlir_region *region) {
    l->yielded.count = 0;
    if (region->block_count > 1) return refuse(l, "with several blocks in a region");
    return region->block_count == 0 || lower_block(l, region->blocks[0]);
}
