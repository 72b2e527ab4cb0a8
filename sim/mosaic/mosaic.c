/* A module becomes a program: translated, scheduled, its registers allocated, given to the program
 * builder. */
#include "mosaic/mosaic.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"

#include "kernel.h"

enum { MODULE_BYTES_MAX = 1 << 26 };

/* ---- To the builder ---- */

typedef struct {
    lowering *l;
    ts_operand *labels; /* of the blocks */
    int spill_vmem, spill_smem;
} output;

static ts_operand finish_transfer(lowering *l, const ts_transfer *t) {
    ts_program_box to = {t->destination.tensor, t->destination.begin, t->destination.size};
    ts_program_box from = {t->source.tensor, t->source.begin, t->source.size};
    ts_operand done = {TS_OPERAND_SEMAPHORE, {.semaphore = t->semaphore}},
               received = {TS_OPERAND_SEMAPHORE, {.semaphore = t->receive}};
    ts_operand new = ts_program_transfer(l->builder, to, from, done);
    if (t->renews > 0) ts_program_renew(l->builder, new, t->renews);
    if (t->remote) ts_program_to_device(l->builder, new, received, t->device);
    return new;
}

static ts_operand finish_operand(output *o, ts_operand operand) {
    lowering *l = o->l;
    if (operand.kind == TS_OPERAND_LABEL) return o->labels[operand.as.label];
    if (operand.kind == TS_OPERAND_TRANSFER)
        return finish_transfer(l, &l->code.transfers.items[operand.as.transfer]);
    if (operand.kind == TS_OPERAND_ADDRESS && operand.as.address->tensor < -1) {
        ts_address *a = (ts_address *)(uintptr_t)operand.as.address;
        a->tensor = a->tensor == MOSAIC_SPILL_VMEM ? o->spill_vmem : o->spill_smem;
        if (a->tensor >= 0) a->word += ts_program_get_tensor(l->builder, a->tensor)->base_bytes / 4;
    }
    return operand;
}

static void add_instruction(output *o, const ts_instruction *i) {
    lowering *l = o->l;
    ts_operand operands[TS_OPERANDS_MAX];
    ts_program_from(l->builder, i->source, i->line);
    for (int k = 0; k < i->operand_count; k++) operands[k] = finish_operand(o, i->operands[k]);
    ts_program_add_named(l->builder, i->mask, ts_opcode_get(i->opcode)->mnemonic, i->operand_count, operands);
}

static bool make_spills(output *o, const mosaic_spills *spills) {
    mlir_type vregs = {.kind = MLIR_TENSOR, .dtype = TS_DTYPE_S32, .bits = 32, .rank = 2, .tile_count = 1};
    mlir_type words = {.kind = MLIR_TENSOR, .dtype = TS_DTYPE_S32, .bits = 32, .rank = 1};
    vregs.dims[0] = (int64_t)spills->vregs * TS_SUBLANES;
    vregs.dims[1] = vregs.tiles[0].dims[1] = TS_LANES;
    vregs.tiles[0].rank = 2;
    vregs.tiles[0].dims[0] = TS_SUBLANES;
    words.dims[0] = spills->words;
    o->spill_vmem = o->spill_smem = -1;
    if (spills->vregs > 0 && !vmem_take_and_check(o->l, "spilled_vregs", &vregs)) return false;
    if (spills->vregs > 0) o->spill_vmem = tensor_of_type(o->l, "spilled_vregs", TS_SPACE_VMEM, &vregs, 1);
    if (spills->words > 0) o->spill_smem = tensor_of_type(o->l, "spilled_sregs", TS_SPACE_SMEM, &words, 1);
    return (spills->vregs == 0 || o->spill_vmem >= 0) && (spills->words == 0 || o->spill_smem >= 0);
}

static void report(lowering *l, const char *name, int64_t number) {
    ts_program_report_text(l->builder, name, ts_text_format(l->arena, "%lld", (long long)number));
}

static void report_all(lowering *l, const mosaic_bound *bound, const mosaic_spills *spills) {
    report(l, "block_cycles", bound->cycles);
    report(l, "block_slot_bound", bound->slot_cycles);
    report(l, "block_critical_path", bound->path_cycles);
    report(l, "spill_stores", spills->stores);
    report(l, "spill_loads", spills->loads);
    if (l->random && l->random->vregs > 0) report(l, "random_stand_ins", l->random->vregs);
    if (l->logs > 0) report(l, "logs_not_printed", l->logs);
}

static const ts_program *finish(lowering *l) {
    output o = {.l = l, .labels = TS_NEW_ARRAY(l->arena, ts_operand, l->code.blocks.count + 1)};
    mosaic_spills spills;
    mosaic_bound bound;
    mosaic_drop_loads(&l->code);
    mosaic_spill(&l->code, &l->target->core, &spills);
    mosaic_schedule(&l->code, &l->target->core, &bound);
    mosaic_share_slots(&l->code, &spills);
    if (!mosaic_allocate(l->err, &l->code, &l->target->core, &spills) || !make_spills(&o, &spills))
        return NULL;
    for (int b = 0; b < l->code.blocks.count; b++) o.labels[b] = ts_program_label(l->builder);
    if (l->files.count > 0) ts_program_from(l->builder, l->files.items[0], 1); /* the program's own text */
    ts_program_pack_results(l->builder);
    ts_program_pack_begin(l->builder);
    for (int b = 0; b < l->code.blocks.count; b++) {
        const mosaic_block *block = &l->code.blocks.items[b];
        ts_program_place(l->builder, o.labels[b]);
        for (int i = 0; i < block->list.count; i++) add_instruction(&o, &block->list.items[i]);
    }
    ts_program_add(l->builder, TS_OP_halt, 0);
    ts_program_pack_end(l->builder);
    report_all(l, &bound, &spills);
    return ts_program_end(l->builder);
}

typedef enum { HIDE_FILES, SHOW_FILES } file_use;

static const ts_program *make(ts_error *err, ts_arena *arena, const ts_source *source, file_use files,
                              const ts_target *target) {
    const mlir_module *module = mlir_parse(err, arena, source);
    lowering *l = TS_NEW(arena, lowering);
    kernel *k = TS_NEW(arena, kernel);
    if (!module) return NULL;
    *l = (lowering){
        .err = err, .arena = arena, .target = target, .module = module, .shows_files = files == SHOW_FILES};
    l->code.arena = arena;
    l->values = TS_NEW_ARRAY(arena, value, module->value_count + 1);
    l->builder = ts_program_begin(err, arena, source->name, target);
    *k = (kernel){.l = l};
    if (!kernel_read(k)) return NULL;
    return kernel_lower(k) ? finish(l) : NULL;
}

const ts_program *ts_mosaic_parse(ts_error *err, ts_arena *arena, const ts_source *source,
                                  const ts_target *target) {
    return make(err, arena, source, HIDE_FILES, target);
}

bool ts_mosaic_is_module(const char *path) {
    static const char ending[] = ".mlir";
    size_t length = strlen(path), want = sizeof ending - 1;
    return length > want && strcmp(path + length - want, ending) == 0;
}

const ts_program *ts_mosaic_load(ts_error *err, ts_arena *arena, const char *path, const ts_target *target,
                                 const ts_define *defines, int define_count) {
    ts_source source;
    if (!ts_mosaic_is_module(path)) return ts_program_load(err, arena, path, target, defines, define_count);
    if (define_count > 0) {
        ts_error_set(err, TS_ERROR_USAGE, "parameter %s: a module has no parameters", defines[0].name);
        return NULL;
    }
    if (!ts_file_read_source(err, arena, path, MODULE_BYTES_MAX, &source)) return NULL;
    return make(err, arena, &source, SHOW_FILES, target);
}
