/* A program with one of its tensors in another layout. */
#include <string.h>

#include "choose_private.h"
#include "base/number.h"
#include "run/run.h"

#define LONGEST (INT64_C(1) << 60) /* cycles; what a run without a limit may take */
enum { ALIGN_BYTES = 4096 };

/* ---- Which tensors ---- */

static bool addresses(const ts_instruction *instruction, int tensor) {
    for (int i = 0; i < instruction->operand_count; i++) {
        const ts_operand *operand = &instruction->operands[i];
        if (operand->kind != TS_OPERAND_ADDRESS) continue;
        if (operand->as.address->tensor == tensor || operand->as.address->tensor < 0) return true;
    }
    return false;
}

/* The instruction whose address was made for the tensor's layout, or for words wherever they are; NULL: none,
 * only transfers say where the tensor's elements lie. */
static const ts_instruction *find_address(const ts_code *code, int tensor) {
    for (int i = 0; i < code->bundle_count && code->tensors[tensor].space != TS_SPACE_HBM; i++)
        for (int k = 0; k < code->bundles[i].count; k++)
            if (addresses(&code->bundles[i].instructions[k], tensor))
                return &code->bundles[i].instructions[k];
    return NULL;
}

/* "x, y or zb" */
static const char *list_choosable(ts_arena *arena, const ts_code *code) {
    const char **names = TS_NEW_ARRAY(arena, const char *, code->tensor_count + 1);
    int count = 0;
    ts_text text = ts_text_begin(arena);
    for (int i = 0; i < code->tensor_count; i++)
        if (!find_address(code, i)) names[count++] = code->tensors[i].name;
    ts_text_add_choices(&text, names, count);
    return count > 0 ? text.bytes : "a program with tensors in hbm";
}

static bool find_tensor(ts_error *err, ts_arena *arena, choose_pricer *p) {
    const ts_choose_request *r = p->request;
    const ts_code *code = &p->program->code;
    if (!r->tensor)
        return ts_error_set(err, TS_ERROR_USAGE, "which tensor of %s? expected %s", r->program,
                            list_choosable(arena, code));
    for (p->tensor = 0; p->tensor < code->tensor_count; p->tensor++)
        if (strcmp(code->tensors[p->tensor].name, r->tensor) == 0) break;
    if (p->tensor == code->tensor_count) {
        const char *near = code->tensor_count
                               ? ts_text_nearest(r->tensor, &code->tensors[0].name,
                                                 (size_t)code->tensor_count, sizeof code->tensors[0])
                               : NULL;
        ts_error_set(err, TS_ERROR_INPUT, "%s has no tensor '%s'%s%s", r->program, r->tensor,
                     near ? "" : ", expected ", near ? "" : list_choosable(arena, code));
        return ts_error_hint(err, near);
    }
    const ts_instruction *at = find_address(code, p->tensor);
    if (!at) return true;
    return ts_error_set(
        err, TS_ERROR_USAGE,
        "%s lies in %s, and line %d of %s addresses its words: with another layout it would be "
        "another program, expected %s",
        r->tensor, ts_space_text(code->tensors[p->tensor].space), at->line, r->program,
        list_choosable(arena, code));
}

bool choose_load_program(ts_error *err, ts_arena *arena, choose_pricer *p) {
    ts_target target;
    const ts_choose_request *r = p->request;
    ts_run_target(p->machine, &target);
    p->program = ts_program_load(err, arena, r->program, &target, r->defines, r->define_count);
    return p->program && find_tensor(err, arena, p);
}

/* ---- Running it ---- */

/* The tensor's own address if the layout fits there, else behind everything in its memory. */
static int64_t address_of(const choose_pricer *p, const ts_shape *shape) {
    const ts_code *code = &p->program->code;
    const ts_tensor *own = &code->tensors[p->tensor];
    int64_t end = 0;
    if (ts_shape_memory_bytes(shape) <= own->bytes) return own->base_bytes;
    for (int i = 0; i < code->tensor_count; i++) {
        const ts_tensor *t = &code->tensors[i];
        if (t->space == own->space && t->base_bytes + t->bytes > end) end = t->base_bytes + t->bytes;
    }
    return ts_round_up(end, ALIGN_BYTES);
}

bool choose_fits(const choose_pricer *p, const ts_shape *shape) {
    ts_target target;
    int64_t end;
    ts_run_target(p->machine, &target);
    return ts_add(address_of(p, shape), ts_shape_memory_bytes(shape), &end) &&
           end <= target.space_bytes[p->program->code.tensors[p->tensor].space];
}

/* The program with the tensor in another layout. */
static ts_program with_layout(const choose_pricer *p, const ts_shape *shape) {
    ts_program copy = *p->program;
    ts_tensor *tensors = TS_NEW_ARRAY(p->scratch, ts_tensor, copy.code.tensor_count);
    memcpy(tensors, copy.code.tensors, (size_t)copy.code.tensor_count * sizeof *tensors);
    ts_tensor *tensor = &tensors[p->tensor];
    tensor->base_bytes = address_of(p, shape);
    tensor->shape = shape;
    tensor->bytes = ts_shape_memory_bytes(shape);
    copy.code.tensors = tensors;
    return copy;
}

/* Of those under way first, which matter; then of the fastest. */
static void keep_left(choose_pricer *p, const ts_findings *found, ts_candidate *c) {
    c->unfinished = ts_findings_have(found, TS_FINDING_TRANSFER);
    if (!p->left || found->count == 0) return;
    bool known = ts_findings_have(p->left, TS_FINDING_TRANSFER);
    if (known != c->unfinished ? known : p->left->count > 0 && c->cycles >= p->left_cycles) return;
    *p->left = *found;
    p->left_cycles = c->cycles;
}

bool choose_run_program(ts_error *err, choose_pricer *p, ts_candidate *c, int64_t limit, bool *cut) {
    const ts_program copy = with_layout(p, c->shape);
    ts_run_request request = {.program = p->request->program,
                              .built = &copy,
                              .machine = p->machine,
                              .time_only = true,
                              .exact = p->request->exact,
                              .interrupt = p->request->interrupt,
                              .defines = p->request->defines,
                              .define_count = p->request->define_count,
                              .max_cycles = limit < LONGEST ? limit : LONGEST};
    ts_run_result result;
    ts_error own = {0};
    bool good = ts_run(&own, p->scratch, &request, &result);
    *cut = !good && own.kind == TS_ERROR_FAULT && limit != INT64_MAX && own.cycle >= limit;
    if (good) c->cycles = result.chip.cycles;
    if (good) c->hbm_joules = result.energy.hbm_total;
    if (good) keep_left(p, result.findings, c);
    if (*cut) c->cycles = limit;
    if (!good && !*cut) *err = own;
    ts_arena_reset(p->scratch);
    return good || *cut;
}
