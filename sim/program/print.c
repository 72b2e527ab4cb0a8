/* The disassembler: a program as text that assembles to the same program. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "layout/shape.h"
#include "program/program.h"

typedef struct {
    const ts_program *program;
    const ts_code *code;
    ts_text *out;
    char label[32]; /* what labels begin with: no other name does */
} printer;

/* A number that is read back as a float, to the same bits when it has that many digits. */
static void print_float(ts_text *out, double value, int digits) {
    size_t begin = out->length;
    if (isfinite(value))
        ts_text_add(out, "%.*g", digits, value);
    else
        ts_text_add(out, "%s%s", signbit(value) ? "-" : "", isnan(value) ? "nan" : "inf");
    if (isfinite(value) && strpbrk(out->bytes + begin, ".e") == NULL) ts_text_add(out, ".0");
}

/* Checks and reports name them; nothing else does any more. */
static void print_param(printer *p, const ts_param *param) {
    ts_text_add(p->out, ".param %s = ", param->name);
    if (param->is_float)
        print_float(p->out, param->number, 17);
    else
        ts_text_add(p->out, "%lld", (long long)param->integer);
    ts_text_add_char(p->out, '\n');
}

/* Prints the sharding in the first notation that can say it. */
static void print_sharding(printer *p, const ts_sharding *sharding) {
    const ts_mesh *mesh = p->program->mesh;
    if (!sharding || ts_sharding_copies(sharding) == mesh->device_count) return;
    const char *text = ts_sharding_spec_text(p->out->arena, mesh, sharding);
    if (!text) text = ts_sharding_hlo_text(p->out->arena, sharding);
    ts_text_add(p->out, " %s", text ? text : ts_sharding_axe_text(p->out->arena, mesh, sharding));
}

/* "arg0" of the operand 0 of a kernel: only names are names. */
static const char *tensor_name(const printer *p, int i) {
    const char *name = p->code->tensors[i].name;
    return ts_is_digit(*name) ? ts_text_format(p->out->arena, "arg%s", name) : name;
}

static void print_tensor(printer *p, int i) {
    static const char *const roles[] = {"", " in", " out", " inout"};
    static const char *const fills[] = {"", " zeros", " iota", " random"};
    const ts_tensor *tensor = &p->code->tensors[i];
    const ts_tensor_use *use = &p->program->uses[i];
    ts_text_add(p->out, ".tensor %s %s ", tensor_name(p, i), ts_space_text(tensor->space));
    ts_shape_print(ts_program_shape(p->program, i), p->out);
    print_sharding(p, use->sharding);
    ts_text_add(p->out, "%s%s", roles[use->role], fills[use->fill]);
    if (use->file != NULL) ts_text_add(p->out, " file(\"%s\")", use->file_text);
    if (use->fill == TS_FILL_RANDOM)
        ts_text_add(p->out, "(seed=%lld, lo=%.17g, hi=%.17g)", (long long)use->seed, use->low, use->high);
    ts_text_add_char(p->out, '\n');
}

/* "ready" of "ready[1]". */
static size_t base_length(const char *name) { return (size_t)(strrchr(name, '[') - name); }

/* One past the semaphores that have the same base name as `first`. */
static int group_end(const ts_code *code, int first) {
    size_t length = base_length(code->semaphore_names[first]);
    int end = first;
    while (end < code->semaphore_count && base_length(code->semaphore_names[end]) == length &&
           memcmp(code->semaphore_names[end], code->semaphore_names[first], length) == 0)
        end++;
    return end;
}

static void print_semaphores(printer *p) {
    for (int i = 0, end; i < p->code->semaphore_count; i = end) {
        const char *name = p->code->semaphore_names[i];
        end = group_end(p->code, i);
        bool bytes = p->code->counts_bytes && p->code->counts_bytes[i];
        ts_text_add(p->out, ".sem %.*s[%d]%s\n", (int)base_length(name), name, end - i,
                    bytes ? " bytes" : "");
    }
}

/* The text as written, without line ends. */
static void print_line(printer *p, const ts_program_check *check) {
    ts_text_add_bytes(p->out, check->source->text + check->begin, check->end - check->begin);
    ts_text_add_char(p->out, '\n');
}

static void print_signed(ts_text *out, int64_t value) {
    if (value != 0)
        ts_text_add(out, " %c %lld", value < 0 ? '-' : '+', (long long)(value < 0 ? -value : value));
}

static void print_affine(ts_text *out, const ts_affine *affine) {
    for (int i = 0; i < affine->term_count; i++) {
        ts_text_add(out, "%ss%d", i > 0 ? " + " : "", affine->terms[i].sreg);
        if (affine->terms[i].factor != 1) ts_text_add(out, " * %lld", (long long)affine->terms[i].factor);
    }
    if (affine->term_count == 0)
        ts_text_add(out, "%lld", (long long)affine->constant);
    else
        print_signed(out, affine->constant);
}

static void print_slice(printer *p, const ts_slice *slice) {
    ts_text_add(p->out, "%s", tensor_name(p, slice->tensor));
    for (int i = 0; i < slice->rank; i++) {
        ts_text_add(p->out, i == 0 ? "[" : ", ");
        print_affine(p->out, &slice->begin[i]);
        if (slice->size[i] != 1) ts_text_add(p->out, ":+%lld", (long long)slice->size[i]);
    }
    ts_text_add(p->out, slice->rank > 0 ? "]" : "");
}

static void print_semaphore(printer *p, const ts_semaphore_operand *semaphore) {
    const char *name = p->code->semaphore_names[semaphore->first];
    if (semaphore->sreg < 0) {
        ts_text_add(p->out, "%s", name);
        return;
    }
    ts_text_add(p->out, "%.*s[s%d", (int)base_length(name), name, semaphore->sreg);
    print_signed(p->out, semaphore->bias);
    ts_text_add_char(p->out, ']');
}

static void print_transfer(printer *p, const ts_transfer *transfer) {
    print_slice(p, &transfer->destination);
    ts_text_add(p->out, " <- ");
    print_slice(p, &transfer->source);
    ts_text_add(p->out, ", ");
    print_semaphore(p, &transfer->semaphore);
    if (transfer->remote) {
        ts_text_add(p->out, ", ");
        print_semaphore(p, &transfer->receive);
        ts_text_add(p->out, " device=");
        print_affine(p->out, &transfer->device);
    }
    if (transfer->priority > 0) ts_text_add(p->out, " priority=%d", transfer->priority);
}

static void print_term(ts_text *out, const ts_address_term *term) {
    if (term->bias != 0) {
        ts_text_add(out, "(s%d", term->sreg);
        print_signed(out, term->bias);
        ts_text_add_char(out, ')');
    } else {
        ts_text_add(out, "s%d", term->sreg);
    }
    if (term->exact || term->divisor != 1)
        ts_text_add(out, " %s %lld", term->exact ? "/" : "//", (long long)term->divisor);
    if (term->modulus != 0) ts_text_add(out, " %% %lld", (long long)term->modulus);
    if (term->multiplier != 1) ts_text_add(out, " * %lld", (long long)term->multiplier);
}

static void print_address(printer *p, const ts_address *address, ts_space_kind space) {
    int64_t word = address->word;
    if (address->tensor >= 0) {
        ts_text_add(p->out, "%s.words[", tensor_name(p, address->tensor));
        word -= p->code->tensors[address->tensor].base_bytes / 4;
    } else {
        ts_text_add(p->out, "%s[", ts_space_text(space));
    }
    ts_text_add(p->out, "%lld", (long long)word);
    for (int i = 0; i < address->term_count; i++) {
        ts_text_add(p->out, " + ");
        print_term(p->out, &address->terms[i]);
    }
    ts_text_add_char(p->out, ']');
    if (space == TS_SPACE_VMEM && (address->stride != 1 || address->sublane_mask != 0xff))
        ts_text_add(p->out, " stride=%lld mask=0x%02x", (long long)address->stride, address->sublane_mask);
}

/* A register, a number or a label. */
static void print_simple(printer *p, const ts_operand *operand) {
    if (operand->kind == TS_OPERAND_SREG)
        ts_text_add(p->out, "s%d", operand->as.reg);
    else if (operand->kind == TS_OPERAND_VREG)
        ts_text_add(p->out, "v%d", operand->as.reg);
    else if (operand->kind == TS_OPERAND_VMASK)
        ts_text_add(p->out, "m%d", operand->as.reg);
    else if (operand->kind == TS_OPERAND_INTEGER)
        ts_text_add(p->out, "%lld", (long long)operand->as.integer);
    else if (operand->kind == TS_OPERAND_F32)
        print_float(p->out, (double)ts_f32_from_bits(operand->as.f32_bits), 9);
    else if (operand->kind == TS_OPERAND_LABEL)
        ts_text_add(p->out, "%s%d", p->label, operand->as.label);
}

static void print_operand(printer *p, const ts_operand *operand, const ts_operand_class *class) {
    switch (operand->kind) {
    case TS_OPERAND_ADDRESS:
        print_address(p, operand->as.address, class->space);
        break;
    case TS_OPERAND_SEMAPHORE:
        print_semaphore(p, &operand->as.semaphore);
        break;
    case TS_OPERAND_TRANSFER:
        print_transfer(p, &p->code->transfers[operand->as.transfer]);
        break;
    default:
        print_simple(p, operand);
        break;
    }
}

static void print_instruction(printer *p, const ts_instruction *code) {
    const ts_opcode_info *info = ts_opcode_get(code->opcode);
    ts_text_add(p->out, "%s", info->mnemonic);
    for (int i = 0; i < code->operand_count; i++) {
        ts_text_add(p->out, i == 0 ? " " : ", ");
        print_operand(p, &code->operands[i], ts_opcode_operand(info, i));
    }
    if (code->mask >= 0) ts_text_add(p->out, " if m%d", code->mask);
}

static void print_bundle(printer *p, const ts_bundle *bundle) {
    ts_text_add(p->out, bundle->count > 1 ? "{ " : "");
    for (int i = 0; i < bundle->count; i++) {
        ts_text_add(p->out, i > 0 ? " ; " : "");
        print_instruction(p, &bundle->instructions[i]);
    }
    ts_text_add(p->out, bundle->count > 1 ? " }" : "");
}

/* "L", longer while another name begins with it. */
static void choose_label(printer *p) {
    size_t length = 1;
    p->label[0] = 'L';
    for (int i = 0; i < p->code->tensor_count + p->code->semaphore_count; i++) {
        const char *name = i < p->code->tensor_count ? p->code->tensors[i].name
                                                     : p->code->semaphore_names[i - p->code->tensor_count];
        while (length < sizeof(p->label) - 1 && strncmp(name, p->label, length) == 0)
            p->label[length++] = '_';
    }
}

static printer new_printer(const ts_program *program, ts_text *out) {
    printer p = {.program = program, .code = &program->code, .out = out};
    choose_label(&p);
    return p;
}

const ts_shape *ts_program_shape(const ts_program *program, int tensor) {
    const ts_sharding *sharding = program->uses[tensor].sharding;
    return sharding ? sharding->shape : program->code.tensors[tensor].shape;
}

const ts_source *ts_program_source(const ts_program *program, int bundle) {
    const ts_bundle *b = &program->code.bundles[bundle];
    return b->count > 0 ? b->instructions[0].source : NULL;
}

/* Without the folders that it shares with the program. */
static const char *name_beside(const char *program, const char *name) {
    const char *kept = name;
    for (; *name != '\0' && *name == *program; name++, program++)
        if (*name == '/') kept = name + 1;
    return kept;
}

void ts_program_print_location(const ts_program *program, const ts_source *source, int line, ts_text *out) {
    if (!program->includes || !source)
        ts_text_add(out, "line %d", line);
    else
        ts_text_add(out, "%s:%d", ts_text_one_line(out->arena, name_beside(program->code.name, source->name)),
                    line);
}

int ts_program_region_of(const ts_program *program, int bundle) {
    bool inside = program->region_of != NULL && bundle < program->code.bundle_count;
    return inside ? program->region_of[bundle] : -1;
}

bool ts_program_region_holds(const ts_program *program, int region, int other) {
    while (other > region) other = program->regions[other].parent;
    return other == region;
}

int ts_program_line(const ts_program *program, int bundle) {
    const ts_bundle *b = &program->code.bundles[bundle];
    return b->count > 0 && b->instructions[0].source ? b->instructions[0].line : b->line;
}

void ts_program_print_bundle(const ts_program *program, int bundle, ts_text *out) {
    printer p = new_printer(program, out);
    print_bundle(&p, &p.code->bundles[bundle]);
}

void ts_program_print_transfer(const ts_program *program, int transfer, ts_text *out) {
    printer p = new_printer(program, out);
    print_transfer(&p, &p.code->transfers[transfer]);
}

/* Is a bundle the target of a branch? One entry per bundle, and one for the end of the program. */
static const bool *find_targets(const ts_code *code, ts_arena *arena) {
    bool *targets = TS_NEW_ARRAY(arena, bool, code->bundle_count + 1);
    for (int i = 0; i < code->bundle_count; i++) {
        for (int j = 0; j < code->bundles[i].count; j++) {
            const ts_instruction *it = &code->bundles[i].instructions[j];
            for (int k = 0; k < it->operand_count; k++)
                if (it->operands[k].kind == TS_OPERAND_LABEL) targets[it->operands[k].as.label] = true;
        }
    }
    return targets;
}

static void open_regions(printer *p, int from, int to) {
    if (to != from) {
        open_regions(p, from, p->program->regions[to].parent);
        ts_text_add(p->out, ".region %s\n", p->program->regions[to].name);
    }
}

/* The ends of regions, and the beginnings of others, between two bundles. */
static int change_region(printer *p, int from, int to) {
    for (; !ts_program_region_holds(p->program, from, to); from = p->program->regions[from].parent)
        ts_text_add(p->out, ".endregion\n");
    open_regions(p, from, to);
    return to;
}

void ts_program_print(const ts_program *program, ts_text *out) {
    printer p = new_printer(program, out);
    const bool *targets = find_targets(p.code, out->arena);
    bool named = program->check_count > 0 || program->report_count > 0;
    for (int i = 0; named && i < program->param_count; i++) print_param(&p, &program->params[i]);
    if (p.code->cores > 0) ts_text_add(out, ".cores %d\n", p.code->cores);
    for (int i = 0; i < p.code->tensor_count; i++) print_tensor(&p, i);
    print_semaphores(&p);
    for (int i = 0; i < program->check_count; i++) {
        ts_text_add(out, ".check ");
        print_line(&p, &program->checks[i]);
    }
    for (int i = 0; i < program->report_count; i++) {
        ts_text_add(out, ".report %s = ", program->reports[i].name);
        print_line(&p, &program->reports[i].text);
    }
    for (int i = 0, region = -1; i <= p.code->bundle_count; i++) {
        region = change_region(&p, region, ts_program_region_of(program, i));
        if (targets[i]) ts_text_add(out, "%s%d:\n", p.label, i);
        if (i < p.code->bundle_count) {
            ts_text_add(out, "    ");
            print_bundle(&p, &p.code->bundles[i]);
            ts_text_add(out, "\n");
        }
    }
}
