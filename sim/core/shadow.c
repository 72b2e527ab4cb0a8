/* The core and what is known of its values: poison, unknown scalars, warnings (check/). */
#include "state.h"

void core_shadow_new(ts_arena *arena, ts_core *core) {
    const ts_core_setup *setup = &core->setup;
    const ts_isa_limits *limits = &setup->config->limits;
    if (setup->time_only)
        core->unknown =
            ts_unknown_new(arena, setup->code, limits->sregs, setup->smem ? setup->smem->capacity_bytes : 0);
    if (setup->findings && !setup->time_only) {
        ts_poison_setup poison = {.code = setup->code,
                                  .limits = limits,
                                  .sregs = core->sregs,
                                  .vregs = core->vregs,
                                  .vmasks = core->vmasks,
                                  .vmem = setup->vmem,
                                  .smem = setup->smem,
                                  .findings = setup->findings};
        core->poison = ts_poison_new(arena, &poison);
    }
    if (setup->findings) {
        ts_lint_setup lint = {setup->code, limits, core->sregs, core->unknown, setup->findings};
        core->lint = ts_lint_new(arena, &lint);
    }
}

void core_shadow_instruction(ts_arena *arena, const ts_core *core, core_op *op) {
    if (!core->unknown) return;
    op->unknown = ts_unknown_op_new(arena, core->unknown, op->instruction);
    if (op->vector) op->run = op->unknown ? core_run_nop : NULL; /* values of vectors are not computed */
}

static ts_poison_operands operands_of(const core_op *op) {
    bool word = op->run == core_run_copy_word, copy = word || op->run == core_run_copy_vreg;
    ts_poison_operands operands = {.instruction = copy ? NULL : op->instruction,
                                   .rule = word   ? TS_SHADOW_VALUE
                                           : copy ? TS_SHADOW_COPY
                                                  : ts_opcode_get(op->instruction->opcode)->shadow,
                                   .function = op->vector,
                                   .result = op->d,
                                   .number = op->scalar,
                                   .mask = op->mask,
                                   .fill = op->fill,
                                   .fill_from = op->fill_from};
    for (int i = 0; i < TS_OPERANDS_MAX; i++) operands.sources[i] = op->in[i];
    return operands;
}

void core_shadow_bundle(ts_arena *arena, const ts_core *core, core_op *ops, int count) {
    if (!core->poison) return;
    ts_poison_operands *operands = TS_NEW_ARRAY(arena, ts_poison_operands, count);
    ts_poison_op **shadows = TS_NEW_ARRAY(arena, ts_poison_op *, count);
    for (int i = 0; i < count; i++) operands[i] = operands_of(&ops[i]);
    ts_poison_bundle(core->poison, operands, count, shadows);
    for (int i = 0; i < count; i++) ops[i].poison = shadows[i];
}

bool core_shadow_check(ts_error *err, const ts_core *core, const core_bundle *bundle) {
    for (int i = 0; i < bundle->op_count; i++) {
        const core_op *op = &bundle->ops[i];
        int64_t address = 0;
        if (!op->unknown) continue;
        if (!ts_unknown_check(err, core->unknown, op->unknown, core->now)) return false;
        bool smem = op->instruction->opcode == TS_OP_sld || op->instruction->opcode == TS_OP_sst;
        if (smem && !core_address_find(err, core, op, &address)) return false;
        ts_unknown_begin(core->unknown, op->unknown, address);
    }
    return true;
}

/* An address that is refused is left to the op itself, which says so. */
void core_shadow_op(const ts_core *core, const core_op *op) {
    int64_t address = 0;
    ts_poison_check(op->poison, core->now);
    if (!op->address || core_address_find(NULL, core, op, &address)) ts_poison_run(op->poison, address);
}

void core_shadow_settle(ts_core *core, const core_bundle *bundle) {
    for (int i = 0; i < bundle->op_count; i++)
        if (bundle->ops[i].unknown) ts_unknown_settle(core->unknown, bundle->ops[i].unknown);
}
