/* The assembler: statements to bundles. */
#include <string.h>

#include "assembler.h"

static bool unknown_mnemonic(assembler *as, const token *at) {
    const symbol *named = scope_find(as->names, at->text, at->length);
    if (named != NULL && named->class == SYMBOL_MACRO) /* elsewhere it would have been used */
        return TOKEN_ERROR(as->err, at,
                           "'%.63s' is a macro, expected an instruction: a bundle in braces has no macros",
                           named->name);
    const char *word = ts_arena_copy_text(as->arena, at->text, at->length);
    const char *nearest = ts_opcode_nearest(word);
    if (nearest == NULL) return scope_unknown(as->err, as->names, at, "instruction", SYMBOL_MACRO);
    TOKEN_ERROR(as->err, at, "unknown instruction '%.63s'", word);
    return ts_error_hint(as->err, nearest);
}

static bool parse_instruction(assembler *as, const token **at, item_bundle bundle) {
    const token *begin = *at;
    if (begin->kind != TOKEN_NAME) return token_unexpected(as->err, begin, "an instruction");
    item new = {.first = bundle == NEW_BUNDLE,
                .location = begin,
                .label_operand = -1,
                .names = as->names,
                .named_region = as->named_region};
    if (!ts_opcode_find(begin->text, begin->length, &new.code.opcode)) return unknown_mnemonic(as, begin);
    ++*at;
    if (!assemble_operands(as, at, &new)) return false;
    item *added = add_item(as, begin, new.code.opcode, bundle);
    if (added == NULL) return false;
    new.code.source = added->code.source;
    new.code.line = added->code.line;
    new.code.column = added->code.column;
    new.at = (ts_program_location){as->frame, (*at)->line}; /* what ends it is no argument of a macro */
    *added = new;
    return true;
}

/* ---- Bundles ---- */

static bool parse_braces(assembler *as, const token **at) {
    int begin = as->items.count, failures = as->failures;
    const token *brace = (*at)++;
    if (!token_is(bundle_end(brace), '}') && !token_is(*at, '{'))
        return TOKEN_ERROR(as->err, brace, "the bundle has no '}'");
    for (;;) {
        while ((*at)->kind == TOKEN_LINE) ++*at;
        if (token_is(*at, '}')) break;
        if ((*at)->kind == TOKEN_END) /* an error was found before it */
            return false;
        const token *location = *at;
        bool good = parse_instruction(as, at, as->items.count == begin ? NEW_BUNDLE : SAME_BUNDLE) &&
                    (token_is(*at, '}') || expect_line_end(as, *at, "';' or '}'"));
        if (!good && !recover_instruction(as, location, at)) return false;
    }
    ++*at;
    if (as->failures > failures) return false;
    return as->items.count > begin || TOKEN_ERROR(as->err, brace, "the bundle is empty");
}

/* Instructions: one, or a bundle in braces. */
static bool assemble_bundle(assembler *as, const token **at) {
    if (token_is(*at, '{')) { /* stays as it is */
        pack_region(as);
        bool good = parse_braces(as, at) && expect_line_end(as, *at, "the end of the line");
        as->region = as->items.count;
        return good;
    }
    if (!parse_instruction(as, at, NEW_BUNDLE) || !expect_line_end(as, *at, "the end of the line"))
        return false;
    if (ts_opcode_leaves(as->items.items[as->items.count - 1].code.opcode)) pack_region(as);
    return true;
}

/* ---- Statements ---- */

static bool parse_label_definition(assembler *as, const token **at) {
    pack_region(as);
    symbol *label = scope_add(as->err, as->names, SYMBOL_LABEL, *at);
    if (label == NULL) return false;
    label->index = as->items.count;
    *at += 2;
    return true;
}

/* One statement; the cursor is left at the end of its line. */
static bool assemble_statement(assembler *as, const token **at, const token *stop) {
    while ((*at)->kind == TOKEN_NAME && token_is(*at + 1, ':'))
        if (!parse_label_definition(as, at)) return false;
    if (*at == stop || token_ends_line(*at)) return true;
    if (!count_work(as, *at, 1)) return false;
    if ((*at)->kind == TOKEN_DIRECTIVE) return assemble_directive(as, at, stop);
    const symbol *named =
        (*at)->kind == TOKEN_NAME ? scope_find(as->names, (*at)->text, (*at)->length) : NULL;
    if (named != NULL && named->class == SYMBOL_MACRO) return assemble_call(as, at, named);
    if (as->only_parameters) return as->stopped = true;
    return assemble_bundle(as, at);
}

/* Behind a statement that failed: *at is where to go on. */
static void go_on(assembler *as, const token *begin, const token **at, const token *stop) {
    const token *word = recover(as, begin, at, stop);
    if (word != NULL && word->kind == TOKEN_DIRECTIVE) spoil_directive(as, word);
    if (word != NULL && !as->stopped) recover_block(as, word, at, stop);
}

static bool assemble_block(assembler *as, const token *at, const token *stop) {
    if (as->blocks == BLOCKS_MAX) return refuse_depth(as, at);
    int outer = as->outer_region;
    as->blocks++;
    as->outer_region = as->named_region;
    while (at < stop && !as->stopped) {
        const token *begin = at;
        if (at->kind == TOKEN_LINE)
            at++;
        else if (!assemble_statement(as, &at, stop))
            go_on(as, begin, &at, stop);
    }
    close_regions(as);
    as->outer_region = outer;
    as->blocks--;
    return !as->stopped;
}

/* ---- The whole ---- */

/* The bundle that each item begins or belongs to; [count] is one past the last. */
static int *number_bundles(assembler *as) {
    int *bundle_of = TS_NEW_ARRAY(as->scratch, int, as->items.count + 1);
    int count = 0;
    for (int i = 0; i < as->items.count; i++) {
        count += as->items.items[i].first;
        bundle_of[i] = count - 1;
    }
    bundle_of[as->items.count] = count;
    return bundle_of;
}

static bool resolve_label(assembler *as, item *it, const int *bundle_of) {
    int target = it->target;
    if (it->label != NULL) {
        const symbol *label = scope_find(it->names, it->label->text, it->label->length);
        if (label == NULL || label->class != SYMBOL_LABEL) {
            bool follows = as->blind || (label != NULL && label->class == SYMBOL_BAD);
            return !follows && scope_unknown(as->err, it->names, it->label, "label", SYMBOL_LABEL);
        }
        target = label->index;
    }
    it->code.operands[it->label_operand].as.label = bundle_of[target];
    return true;
}

static bool point_at_label(assembler *as, item *it, const int *bundle_of) {
    if (it->label_operand < 0 || as->stopped || resolve_label(as, it, bundle_of)) return true;
    const token *unknown = scope_take_unknown(as->global);
    keep_error(as);
    if (unknown != NULL) scope_spoil(as->global, unknown);
    return false;
}

static bool make_bundles(assembler *as, ts_program *program) {
    ts_code *code = &program->code;
    bool good = true;
    const int *bundle_of = number_bundles(as);
    int count = bundle_of[as->items.count];
    ts_instruction *instructions = TS_NEW_ARRAY(as->arena, ts_instruction, as->items.count + 1);
    ts_bundle *bundles = TS_NEW_ARRAY(as->arena, ts_bundle, count + 1);
    ts_program_location *locations = TS_NEW_ARRAY(as->arena, ts_program_location, as->items.count + 1);
    for (int i = 0; i < as->items.count; i++) {
        item *it = &as->items.items[i];
        good = point_at_label(as, it, bundle_of) && good;
        instructions[i] = it->code;
        locations[i] = it->at;
        ts_bundle *bundle = &bundles[bundle_of[i]];
        if (it->first) *bundle = (ts_bundle){.instructions = &instructions[i], .line = it->code.line};
        bundle->count++;
    }
    for (int i = 0; i < as->aliases.count; i++)
        as->aliases.items[i].bundle = bundle_of[as->aliases.items[i].bundle];
    program->locations = locations;
    code->bundles = bundles;
    code->bundle_count = count;
    program->region_of = find_regions(as, bundle_of, count);
    return good;
}

/* Those that were left to the packer are used by nobody else. */
static bool check_own_vregs(assembler *as) {
    for (int i = 0; i < as->items.count && as->own_vregs > 0; i++) {
        const item *it = &as->items.items[i];
        for (int k = 0; k < it->code.operand_count && !it->made; k++) {
            const ts_operand *o = &it->code.operands[k];
            if (o->kind != TS_OPERAND_VREG || o->as.reg < as->own_vregs) continue;
            TOKEN_ERROR(as->err, it->location, "v%d is the packer's, as .pack pipeline says", o->as.reg);
            keep_error(as);
            return false;
        }
    }
    return true;
}

static bool check_bundles(assembler *as, const ts_code *code) {
    bool good = true;
    for (int i = 0; i < code->bundle_count && !as->stopped; i++) {
        if (!ts_bundle_check(as->err, code, &code->bundles[i], &as->target->core.limits)) {
            keep_error(as);
            good = false;
        }
    }
    return good;
}

static bool check_defines(assembler *as) {
    const char *const *names = as->params.count > 0 ? &as->params.items[0].name : NULL;
    for (int i = 0; i < as->define_count; i++) {
        if (as->define_used[i]) continue;
        for (int k = 0; k < i; k++)
            if (strcmp(as->defines[k].name, as->defines[i].name) == 0)
                return ts_error_set(as->err, TS_ERROR_USAGE, "parameter %s is given twice",
                                    as->defines[i].name);
        ts_error_set(as->err, TS_ERROR_USAGE, "the program has no parameter '%s'", as->defines[i].name);
        size_t count = (size_t)as->params.count;
        return ts_error_hint(as->err, ts_text_nearest(as->defines[i].name, names, count, sizeof(ts_param)));
    }
    return true;
}

static void give_code(const assembler *as, const char *name, ts_code *code) {
    code->name = ts_arena_copy_text(as->arena, name, strlen(name));
    code->tensors = as->tensors.items;
    code->tensor_count = as->tensors.count;
    code->transfers = as->transfers.items;
    code->transfer_count = as->transfers.count;
    code->semaphore_names = as->semaphores.items;
    code->counts_bytes = as->semaphore_bytes.items;
    code->semaphore_count = as->semaphores.count;
    code->cores = as->cores;
}

static void give_lists(const assembler *as, ts_program *program) {
    program->uses = as->uses.items;
    program->params = as->params.items;
    program->param_count = as->params.count;
    program->checks = as->checks.items;
    program->check_count = as->checks.count;
    program->reports = as->reports.items;
    program->report_count = as->reports.count;
    program->pipelines = as->pipelines.items;
    program->pipeline_count = as->pipelines.count;
    program->includes = as->includes.count > 0;
    program->aliases = as->aliases.items;
    program->alias_count = as->aliases.count;
    program->macros = as->macros.items;
    program->macro_count = as->macros.count;
    program->source = as->source;
    program->mesh = as->target->mesh;
    program->frames = as->frames.items;
    program->frame_count = as->frames.count;
    program->regions = as->regions.items;
    program->region_count = as->regions.count;
    memcpy(program->used_bytes, as->used_bytes, sizeof(as->used_bytes));
}

const ts_program *finish_program(assembler *as, const char *name) {
    ts_program *program = TS_NEW(as->arena, ts_program);
    pack_region(as);
    give_code(as, name, &program->code);
    bool good = make_bundles(as, program);
    good = check_bundles(as, &program->code) && good && check_own_vregs(as) && as->errors.count == 0;
    if (!good || !check_defines(as)) {
        keep_error(as);
        return NULL;
    }
    give_lists(as, program);
    return program;
}

static void add_mesh_sizes(const ts_mesh *mesh, scope *names) {
    for (int i = 0; mesh && i < mesh->axis_count; i++) {
        const ts_mesh_axis *axis = &mesh->axes[i];
        const char *name = ts_text_format(names->arena, "mesh.size.%s", axis->name);
        scope_add_figure(names, name, axis->extent);
    }
}

/* Figures of the machine, by the names that its file has for them: programs fit their blocks to them. */
static void add_figures(const ts_target *target, scope *names) {
    const ts_core_config *core = &target->core;
    const struct {
        const char *name;
        int64_t value;
    } figures[] = {
        {"machine.chip.tensor_cores", target->cores > 1 ? target->cores : 1},
        {"machine.core.bf16", core->limits.bf16},
        {"machine.core.vregs", core->limits.vregs},
        {"machine.mxu.accumulators", core->mxu.accumulators},
        {"machine.mxu.edge", core->mxu.edge},
        {"machine.mxu.rate.fp8", core->mxu.rate[TS_MXU_FP8]},
        {"machine.mxu.rate.int8", core->mxu.rate[TS_MXU_INT8]},
        {"machine.mxu.results", core->mxu.result_vregs},
        {"machine.mxu.units", core->mxu.units},
        {"machine.vmem.capacity", target->space_bytes[TS_SPACE_VMEM]},
        {"mesh.axes", target->mesh ? target->mesh->axis_count : 0},
        {"mesh.devices", target->mesh ? target->mesh->device_count : 1},
    };
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
        scope_add_figure(names, figures[i].name, figures[i].value);
    add_mesh_sizes(target->mesh, names);
}

/* Its scratch is to be freed. */
static assembler *new_assembler(ts_arena *arena, const ts_source *source, const ts_target *target,
                                const ts_define *defines, int define_count) {
    assembler *as = TS_NEW(arena, assembler);
    *as = (assembler){.name = source->name,
                      .source = source,
                      .arena = arena,
                      .scratch = ts_arena_new(),
                      .target = target,
                      .defines = defines,
                      .define_count = define_count,
                      .named_region = -1,
                      .outer_region = -1,
                      .frame = -1,
                      .assemble_block = assemble_block};
    as->err = &as->now;
    as->define_used = TS_NEW_ARRAY(arena, bool, define_count + 1);
    as->names = as->global = scope_new(arena, NULL);
    add_figures(target, as->global);
    return as;
}

static bool assemble_text(assembler *as) {
    const token *tokens = token_list(as->scratch, as->source), *stop = tokens;
    while (stop->kind != TOKEN_END) stop++;
    return assemble_block(as, tokens, stop);
}

const ts_program *ts_program_parse(ts_error *err, ts_arena *arena, const ts_source *source,
                                   const ts_target *target, const ts_define *defines, int define_count) {
    assembler *as = new_assembler(arena, source, target, defines, define_count);
    const ts_program *program = assemble_text(as) ? finish_program(as, source->name) : NULL;
    if (program == NULL) give_errors(as, err);
    ts_arena_free(as->scratch);
    return program;
}

static const ts_source *load(ts_error *err, ts_arena *arena, const char *path) {
    const ts_source *source = read_source(err, arena, path);
    if (source == NULL) suggest_embedded(err, path);
    return source;
}

const ts_program *ts_program_load(ts_error *err, ts_arena *arena, const char *path, const ts_target *target,
                                  const ts_define *defines, int define_count) {
    const ts_source *source = load(err, arena, path);
    return source == NULL ? NULL : ts_program_parse(err, arena, source, target, defines, define_count);
}

const ts_program *ts_program_load_parameters(ts_error *err, ts_arena *arena, const char *path,
                                             const ts_target *target, const ts_define *defines,
                                             int define_count) {
    const ts_source *source = load(err, arena, path);
    if (source == NULL) return NULL;
    assembler *as = new_assembler(arena, source, target, defines, define_count);
    as->only_parameters = true;
    assemble_text(as);
    ts_arena_free(as->scratch);
    if (as->errors.count > 0) {
        give_errors(as, err);
        return NULL;
    }
    ts_program *program = TS_NEW(arena, ts_program);
    give_lists(as, program);
    return program;
}
