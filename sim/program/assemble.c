/* The assembler: statements to bundles. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"

#include "assembler.h"
#include "embedded.h"

void *list_room(ts_arena *arena, void *items, int count, int *capacity, size_t size) {
    if (count < *capacity) {
        return items;
    }
    *capacity = *capacity == 0 ? 16 : *capacity * 2;
    return ts_arena_grow(arena, items, (size_t)count, (size_t)*capacity, size);
}

bool expect_mark(assembler *as, const token **at, int mark, const char *what) {
    if (!token_is(*at, mark)) {
        return token_unexpected(as->err, *at, what);
    }
    ++*at;
    return true;
}

bool expect_name(assembler *as, const token **at, const char *what, const token **name) {
    *name = *at;
    if ((*at)->kind != TOKEN_NAME) {
        return token_unexpected(as->err, *at, what);
    }
    ++*at;
    return true;
}

bool expect_line_end(assembler *as, const token *at, const char *what) {
    return token_ends_line(at) || token_unexpected(as->err, at, what);
}

/* ---- Operands ---- */

static bool wrong_kind(assembler *as, const token *at, const ts_opcode_info *info,
                       const ts_operand_class *wanted, const char *found) {
    return TOKEN_ERROR(as->err, at, "%s: found %s '%.*s', expected %s", info->mnemonic, found,
                       (int)at->length, at->text, wanted->text);
}

static int register_count(const ts_target *target, ts_operand_kind kind) {
    const ts_isa_limits *limits = &target->core.limits;
    return kind == TS_OPERAND_SREG ? limits->sregs : kind == TS_OPERAND_VREG ? limits->vregs : limits->vmasks;
}

static bool check_register(assembler *as, const token *place, ts_operand_kind kind, int number) {
    int count = register_count(as->target, kind);
    if (number < count) {
        return true;
    }
    char letter = kind == TS_OPERAND_SREG ? 's' : kind == TS_OPERAND_VREG ? 'v' : 'm';
    return TOKEN_ERROR(as->err, place, "there is no %s %c%d: %s has %c0 to %c%d", ts_operand_kind_text(kind),
                       letter, number, as->target->machine, letter, letter, count - 1);
}

bool assemble_affine(assembler *as, const token **at, ts_affine *out) {
    const token *begin = *at;
    if (!expr_affine(as->err, as->names, at, out)) {
        return false;
    }
    for (int i = 0; i < out->term_count; i++) {
        if (!check_register(as, begin, TS_OPERAND_SREG, out->terms[i].sreg)) {
            return false;
        }
    }
    return true;
}

static bool accepts(const ts_operand_class *class, ts_operand_kind kind) {
    return (class->accepts >> kind & 1) != 0;
}

static bool parse_number(assembler *as, const token **at, const ts_operand_class *class, ts_operand *out) {
    const token *begin = *at;
    constant v;
    if (!expr_parse(as->err, as->names, at, &v)) {
        return false;
    }
    bool integer = accepts(class, TS_OPERAND_INTEGER) && !v.is_float;
    if (!integer && !accepts(class, TS_OPERAND_F32)) {
        return TOKEN_ERROR(as->err, begin, "found %g, expected %s", v.number, class->text);
    }
    if (integer && (v.integer < INT32_MIN || v.integer > UINT32_MAX)) {
        return TOKEN_ERROR(as->err, begin, "%lld does not fit in 32 bits", (long long)v.integer);
    }
    *out = (ts_operand){.kind = integer ? TS_OPERAND_INTEGER : TS_OPERAND_F32};
    if (integer) {
        out->as.integer = v.integer;
    } else {
        out->as.f32_bits = ts_f32_bits((float)(v.is_float ? v.number : (double)v.integer));
    }
    return true;
}

/* The label's number is filled in at the end. */
static bool parse_label(assembler *as, const token **at, ts_operand *out) {
    if ((*at)->kind != TOKEN_NAME) {
        return token_unexpected(as->err, *at, "a label");
    }
    *out = (ts_operand){.kind = TS_OPERAND_LABEL};
    ++*at;
    return true;
}

static bool parse_operand(assembler *as, const token **at, const ts_opcode_info *info,
                          const ts_operand_class *class, ts_operand *out) {
    const token *begin = *at;
    ts_operand_kind kind;
    int number;
    bool found;
    if (!register_read(as->err, as->names, at, &kind, &number, &found)) {
        return false;
    }
    if (found) {
        *out = (ts_operand){.kind = kind, .as.reg = number};
        return (accepts(class, kind) || wrong_kind(as, begin, info, class, ts_operand_kind_text(kind))) &&
               check_register(as, begin, kind, number);
    }
    if (accepts(class, TS_OPERAND_LABEL)) {
        return parse_label(as, at, out);
    }
    if (accepts(class, TS_OPERAND_ADDRESS)) {
        return assemble_address(as, at, class->space, out);
    }
    if (accepts(class, TS_OPERAND_SEMAPHORE)) {
        return assemble_semaphore(as, at, out);
    }
    if (accepts(class, TS_OPERAND_TRANSFER)) {
        return assemble_transfer(as, at, out);
    }
    if ((accepts(class, TS_OPERAND_INTEGER) || accepts(class, TS_OPERAND_F32)) &&
        expr_begins(as->names, begin)) {
        return parse_number(as, at, class, out);
    }
    const symbol *named =
        begin->kind == TOKEN_NAME ? scope_find(as->names, begin->text, begin->length) : NULL;
    if (named != NULL) {
        return wrong_kind(as, begin, info, class, symbol_class_text(named->class));
    }
    if (begin->kind == TOKEN_NAME) {
        return scope_unknown(as->err, as->names, begin, "name", SYMBOL_PARAM | SYMBOL_REGISTER);
    }
    return token_unexpected(as->err, begin, class->text);
}

bool check_semaphore(assembler *as, const token *place, const ts_semaphore_operand *semaphore) {
    bool known = semaphore->first >= 0 && semaphore->count > 0 &&
                 semaphore->count <= as->semaphores.count - semaphore->first;
    return known || TOKEN_ERROR(as->err, place, "there is no semaphore %d", semaphore->first);
}

bool check_operand(assembler *as, const token *place, const ts_opcode_info *info, int index,
                   const ts_operand *operand) {
    const ts_operand_class *class = ts_opcode_operand(info, index);
    ts_operand_kind kind = operand->kind;
    if (!accepts(class, kind)) {
        return TOKEN_ERROR(as->err, place, "%s: operand %d is a %s, expected %s", info->mnemonic, index + 1,
                           ts_operand_kind_text(kind), class->text);
    }
    bool reg = kind == TS_OPERAND_SREG || kind == TS_OPERAND_VREG || kind == TS_OPERAND_VMASK;
    if (reg && operand->as.reg < 0) {
        return TOKEN_ERROR(as->err, place, "there is no register %d", operand->as.reg);
    }
    if (kind == TS_OPERAND_SEMAPHORE && !check_semaphore(as, place, &operand->as.semaphore)) {
        return false;
    }
    return !reg || check_register(as, place, kind, operand->as.reg);
}

bool check_mask(assembler *as, const token *place, const ts_opcode_info *info, int vmask) {
    return (info->masks || TOKEN_ERROR(as->err, place, "%s takes no mask", info->mnemonic)) &&
           check_register(as, place, TS_OPERAND_VMASK, vmask);
}

/* "if m1" behind the operands. */
static bool parse_mask(assembler *as, const token **at, const ts_opcode_info *info, ts_instruction *code) {
    code->mask = -1;
    if (!token_is_name(*at, "if")) {
        return true;
    }
    const token *word = (*at)++;
    ts_operand mask;
    if (!info->masks) {
        return TOKEN_ERROR(as->err, word, "%s takes no mask", info->mnemonic);
    }
    if (!parse_operand(as, at, info, ts_operand_class_mask(), &mask)) {
        return false;
    }
    code->mask = mask.as.reg;
    return true;
}

static bool parse_operands(assembler *as, const token **at, item *new) {
    ts_instruction *code = &new->code;
    const ts_opcode_info *info = ts_opcode_get(code->opcode);
    int least, most;
    ts_opcode_arity(info, &least, &most);
    while (code->operand_count < most) {
        int i = code->operand_count;
        if (token_ends_line(*at) || token_is(*at, '}') || token_is_name(*at, "if")) {
            break;
        }
        if (i > 0 && !expect_mark(as, at, ',', "','")) {
            return false;
        }
        const token *begin = *at;
        if (!parse_operand(as, at, info, ts_opcode_operand(info, i), &code->operands[i])) {
            return false;
        }
        if (code->operands[i].kind == TS_OPERAND_LABEL) {
            new->label = begin;
            new->label_operand = i;
        }
        code->operand_count++;
    }
    if (code->operand_count < least) {
        return TOKEN_ERROR(as->err, *at, "%s takes %d operand%s, found %d", info->mnemonic, least,
                           least == 1 ? "" : "s", code->operand_count);
    }
    return parse_mask(as, at, info, code);
}

static bool unknown_mnemonic(assembler *as, const token *at) {
    char word[64];
    snprintf(word, sizeof(word), "%.*s", (int)(at->length > 63 ? 63 : at->length), at->text);
    const char *nearest = ts_opcode_nearest(word);
    if (nearest == NULL) {
        return scope_unknown(as->err, as->names, at, "instruction", SYMBOL_MACRO);
    }
    TOKEN_ERROR(as->err, at, "unknown instruction '%s'", word);
    return ts_error_hint(as->err, nearest);
}

static bool parse_instruction(assembler *as, const token **at, bool first) {
    const token *begin = *at;
    if (begin->kind != TOKEN_NAME) {
        return token_unexpected(as->err, begin, "an instruction");
    }
    item new = {.first = first,
                .place = begin,
                .label_operand = -1,
                .names = as->names,
                .named_region = as->named_region};
    if (!ts_opcode_find(begin->text, begin->length, &new.code.opcode)) {
        return unknown_mnemonic(as, begin);
    }
    ++*at;
    if (!parse_operands(as, at, &new)) {
        return false;
    }
    item *added = add_item(as, begin, new.code.opcode, first);
    if (added == NULL) {
        return false;
    }
    new.code.source = added->code.source;
    new.code.line = added->code.line;
    new.code.column = added->code.column;
    new.at = (ts_program_location){as->frame, (*at)->line}; /* what ends it is no argument of a macro */
    *added = new;
    return true;
}

bool leaves_region(const ts_instruction *code) {
    const ts_opcode_info *info = ts_opcode_get(code->opcode);
    return info->family == TS_FAMILY_CONTROL && info->slot == TS_SLOT_SCALAR;
}

item *add_item(assembler *as, const token *place, ts_opcode opcode, bool first) {
    if (as->items.count >= INSTRUCTIONS_MAX) {
        TOKEN_ERROR(as->err, place, "the program has over %d instructions", INSTRUCTIONS_MAX);
        give_up(as);
        return NULL;
    }
    item *added = LIST_ADD(as->arena, &as->items);
    *added = (item){.first = first,
                    .place = place,
                    .label_operand = -1,
                    .names = as->names,
                    .named_region = as->named_region,
                    .at = {as->frame, place->line}};
    added->code = (ts_instruction){
        .opcode = opcode, .mask = -1, .source = place->source, .line = place->line, .column = place->column};
    return added;
}

bool assemble_operand(assembler *as, const token **at, const char *mnemonic, int index, ts_operand *out) {
    ts_opcode opcode;
    bool known = ts_opcode_find(mnemonic, strlen(mnemonic), &opcode);
    assert(known);
    const ts_opcode_info *info = ts_opcode_get(opcode);
    return known && parse_operand(as, at, info, ts_opcode_operand(info, index), out);
}

/* ---- Bundles ---- */

static bool parse_braces(assembler *as, const token **at) {
    int begin = as->items.count, failures = as->failures;
    const token *brace = (*at)++;
    if (!token_is(bundle_end(brace), '}') && !token_is(*at, '{')) {
        return TOKEN_ERROR(as->err, brace, "the bundle has no '}'");
    }
    for (;;) {
        while ((*at)->kind == TOKEN_LINE) {
            ++*at;
        }
        if (token_is(*at, '}')) {
            break;
        }
        if ((*at)->kind == TOKEN_END) { /* an error was found before it */
            return false;
        }
        const token *place = *at;
        bool good = parse_instruction(as, at, as->items.count == begin) &&
                    (token_is(*at, '}') || expect_line_end(as, *at, "';' or '}'"));
        if (!good && !recover_instruction(as, place, at)) {
            return false;
        }
    }
    ++*at;
    if (as->failures > failures) {
        return false;
    }
    return as->items.count > begin || TOKEN_ERROR(as->err, brace, "the bundle is empty");
}

bool assemble_bundle(assembler *as, const token **at) {
    if (token_is(*at, '{')) { /* stays as it is */
        pack_region(as);
        bool good = parse_braces(as, at) && expect_line_end(as, *at, "the end of the line");
        as->region = as->items.count;
        return good;
    }
    if (!parse_instruction(as, at, true) || !expect_line_end(as, *at, "the end of the line")) {
        return false;
    }
    if (leaves_region(&as->items.items[as->items.count - 1].code)) {
        pack_region(as);
    }
    return true;
}

/* ---- Statements ---- */

static bool parse_label_definition(assembler *as, const token **at) {
    pack_region(as);
    symbol *label = scope_add(as->err, as->names, SYMBOL_LABEL, *at);
    if (label == NULL) {
        return false;
    }
    label->index = as->items.count;
    *at += 2;
    return true;
}

/* One statement; the cursor is left at the end of its line. */
static bool assemble_statement(assembler *as, const token **at, const token *stop) {
    while ((*at)->kind == TOKEN_NAME && token_is(*at + 1, ':')) {
        if (!parse_label_definition(as, at)) {
            return false;
        }
    }
    if (*at == stop || token_ends_line(*at)) {
        return true;
    }
    if (!count_work(as, *at, 1)) {
        return false;
    }
    if ((*at)->kind == TOKEN_DIRECTIVE) {
        return assemble_directive(as, at, stop);
    }
    const symbol *named =
        (*at)->kind == TOKEN_NAME ? scope_find(as->names, (*at)->text, (*at)->length) : NULL;
    if (named != NULL && named->class == SYMBOL_MACRO) {
        return assemble_call(as, at, named);
    }
    return assemble_bundle(as, at);
}

bool assemble_block(assembler *as, const token *at, const token *stop) {
    if (as->blocks == BLOCKS_MAX) {
        TOKEN_ERROR(as->err, at, "blocks are nested over %d deep", BLOCKS_MAX);
        return give_up(as);
    }
    int outer = as->outer_region;
    as->blocks++;
    as->outer_region = as->named_region;
    while (at < stop && !as->stopped) {
        const token *begin = at;
        if (at->kind == TOKEN_LINE) {
            at++;
        } else if (!assemble_statement(as, &at, stop)) {
            recover(as, begin, &at, stop);
        }
    }
    close_regions(as);
    as->outer_region = outer;
    as->blocks--;
    return !as->stopped;
}

/* ---- The whole ---- */

/* The bundle that each item begins or belongs to; [count] is one past the last. */
static int *number_bundles(assembler *as) {
    int *bundle_of = TS_NEW_ARRAY(as->arena, int, as->items.count + 1);
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
        if (it->label_operand >= 0 && !as->stopped && !resolve_label(as, it, bundle_of)) {
            const token *unknown = scope_take_unknown(as->global);
            keep_error(as);
            good = false;
            if (unknown != NULL) {
                scope_spoil(as->global, unknown);
            }
        }
        instructions[i] = it->code;
        locations[i] = it->at;
        ts_bundle *bundle = &bundles[bundle_of[i]];
        if (it->first) {
            *bundle = (ts_bundle){.instructions = &instructions[i], .line = it->code.line};
        }
        bundle->count++;
    }
    for (int i = 0; i < as->aliases.count; i++) {
        as->aliases.items[i].bundle = bundle_of[as->aliases.items[i].bundle];
    }
    program->locations = locations;
    code->bundles = bundles;
    code->bundle_count = count;
    program->region_of = find_regions(as, bundle_of, count);
    return good;
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
        if (as->define_used[i]) {
            continue;
        }
        for (int k = 0; k < i; k++) {
            if (strcmp(as->defines[k].name, as->defines[i].name) == 0) {
                return ts_error_set(as->err, TS_ERROR_USAGE, "-D %s is given twice", as->defines[i].name);
            }
        }
        ts_error_set(as->err, TS_ERROR_USAGE, "-D %s: the program has no such parameter",
                     as->defines[i].name);
        size_t count = (size_t)as->params.count;
        return ts_error_hint(as->err, ts_text_nearest(as->defines[i].name, names, count, sizeof(ts_param)));
    }
    return true;
}

const ts_program *finish_program(assembler *as, const char *name) {
    ts_program *program = TS_NEW(as->arena, ts_program);
    ts_code *code = &program->code;
    pack_region(as);
    code->name = ts_arena_copy_text(as->arena, name, strlen(name));
    code->tensors = as->tensors.items;
    code->tensor_count = as->tensors.count;
    code->transfers = as->transfers.items;
    code->transfer_count = as->transfers.count;
    code->semaphore_names = as->semaphores.items;
    code->semaphore_count = as->semaphores.count;
    bool good = make_bundles(as, program);
    good = check_bundles(as, code) && good && as->errors.count == 0;
    if (!good || !check_defines(as)) {
        keep_error(as);
        return NULL;
    }
    program->uses = as->uses.items;
    program->code.cores = as->cores;
    program->params = as->params.items;
    program->param_count = as->params.count;
    program->checks = as->checks.items;
    program->check_count = as->checks.count;
    program->reports = as->reports.items;
    program->report_count = as->reports.count;
    program->includes = as->includes.count > 0;
    program->aliases = as->aliases.items;
    program->alias_count = as->aliases.count;
    program->macros = as->macros.items;
    program->macro_count = as->macros.count;
    program->source = as->source;
    program->frames = as->frames.items;
    program->frame_count = as->frames.count;
    program->regions = as->regions.items;
    program->region_count = as->regions.count;
    memcpy(program->used_bytes, as->used_bytes, sizeof(as->used_bytes));
    return program;
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
    };
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        scope_add_figure(names, figures[i].name, figures[i].value);
    }
}

const ts_program *ts_program_parse(ts_error *err, ts_arena *arena, const ts_source *source,
                                   const ts_target *target, const ts_define *defines, int define_count) {
    assembler as = {.name = source->name,
                    .source = source,
                    .arena = arena,
                    .target = target,
                    .defines = defines,
                    .define_count = define_count,
                    .named_region = -1,
                    .outer_region = -1,
                    .frame = -1,
                    .first_frame = -1};
    as.err = &as.now;
    as.define_used = TS_NEW_ARRAY(arena, bool, define_count + 1);
    as.names = as.global = scope_new(arena, NULL);
    add_figures(target, as.global);
    const token *tokens = token_list(arena, source), *stop = tokens;
    while (stop->kind != TOKEN_END) {
        stop++;
    }
    const ts_program *program = assemble_block(&as, tokens, stop) ? finish_program(&as, source->name) : NULL;
    if (program == NULL) {
        give_errors(&as, err);
    }
    return program;
}

enum { PROGRAM_BYTES_MAX = 1 << 24 };

static const char embedded_prefix[] = "tilesim:/";

/* NULL: the binary has no such file, or the path is no name of one. */
static const ts_embedded_file *find_embedded(const char *path) {
    if (strncmp(path, embedded_prefix, sizeof embedded_prefix - 1) != 0) {
        return NULL;
    }
    for (size_t i = 0; i < ts_embedded_program_count; i++) {
        if (strcmp(ts_embedded_programs[i].name, path + sizeof embedded_prefix - 1) == 0) {
            return &ts_embedded_programs[i];
        }
    }
    return NULL;
}

const ts_source *read_source(ts_error *err, ts_arena *arena, const char *path) {
    ts_source *source = TS_NEW(arena, ts_source);
    char *text;
    source->name = ts_arena_copy_text(arena, path, strlen(path));
    const ts_embedded_file *embedded = find_embedded(path);
    if (embedded != NULL) {
        source->text = embedded->text;
        source->length = embedded->length;
        return source;
    }
    if (!ts_file_read(err, arena, path, PROGRAM_BYTES_MAX, &text, &source->length)) {
        return NULL;
    }
    source->text = text;
    return source;
}

/* There is no such file: is one of the binary's own called so, or nearly so behind the prefix? */
static void suggest_embedded(ts_error *err, const char *path) {
    char name[120];
    const char *slash = strrchr(path, '/'), *found = NULL;
    if (strncmp(path, embedded_prefix, sizeof embedded_prefix - 1) == 0) {
        found = ts_text_nearest(path + sizeof embedded_prefix - 1, &ts_embedded_programs[0].name,
                                ts_embedded_program_count, sizeof ts_embedded_programs[0]);
    }
    for (size_t i = 0; i < ts_embedded_program_count; i++) {
        if (strcmp(ts_embedded_programs[i].name, slash != NULL ? slash + 1 : path) == 0) {
            found = ts_embedded_programs[i].name;
        }
    }
    snprintf(name, sizeof name, "%s%s", embedded_prefix, found != NULL ? found : "");
    ts_error_hint(err, found != NULL ? name : NULL);
}

const ts_program *ts_program_load(ts_error *err, ts_arena *arena, const char *path, const ts_target *target,
                                  const ts_define *defines, int define_count) {
    const ts_source *source = read_source(err, arena, path);
    if (source == NULL) {
        suggest_embedded(err, path);
    }
    return source == NULL ? NULL : ts_program_parse(err, arena, source, target, defines, define_count);
}
