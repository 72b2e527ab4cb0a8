/* Values of the text as registers and numbers, and instructions on them. */
#include <string.h>

#include "base/file.h"
#include "base/number.h"

#include "lower.h"

const value *value_at(const lowering *l, int operand) {
    static const value none;
    return operand < l->op->operand_count ? &l->values[l->op->operands[operand]] : &none;
}

const mlir_type *type_at(const lowering *l, int operand) {
    static const mlir_type none;
    return operand < l->op->operand_count ? l->module->values[l->op->operands[operand]].type : &none;
}

const mlir_type *result_type(const lowering *l, int result) {
    static const mlir_type none;
    return result < l->op->result_count ? l->module->values[l->op->first_result + result].type : &none;
}

ts_operand part_of(const value *v, int index) { return v->count == 1 ? v->one : v->many[index]; }

bool set_result(lowering *l, int result, value v) {
    if (result < l->op->result_count) l->values[l->op->first_result + result] = v;
    return result < l->op->result_count || malformed(l, "a result");
}

bool set_scalar(lowering *l, ts_operand scalar) {
    return set_result(l, 0, (value){.kind = VALUE_SCALAR, .count = 1, .one = scalar});
}

bool set_vector(lowering *l, ts_operand vreg) {
    return set_result(l, 0, (value){.kind = VALUE_VECTOR, .count = 1, .one = vreg});
}

value value_of_parts(lowering *l, const ts_operand *parts, int count) {
    value v = {.kind = VALUE_VECTOR, .count = count};
    if (count == 1) {
        v.one = parts[0];
        return v;
    }
    v.many = TS_COPY_ARRAY(l->arena, parts, count);
    return v;
}

bool is_number(ts_operand o) { return o.kind == TS_OPERAND_INTEGER || o.kind == TS_OPERAND_F32; }

int64_t number_of(ts_operand o) {
    return o.kind == TS_OPERAND_F32 ? (int32_t)o.as.f32_bits : (int32_t)(uint32_t)o.as.integer;
}

bool is_mask_type(const mlir_type *type) {
    return type->kind == MLIR_VECTOR && type->element == MLIR_INTEGER && type->bits == 1;
}

ts_operand splat_bits(uint32_t bits) { return (ts_operand){TS_OPERAND_F32, {.f32_bits = bits}}; }

/* ---- Errors ---- */

bool refuse(lowering *l, const char *what) {
    return mlir_error(l->err, l->module, l->op, TS_ERROR_UNMODELLED, "'%.*s' is not modelled%s%s",
                      ts_text_quoted(l->op->name.length), l->op->name.text, what ? ": " : "",
                      what ? what : "");
}

bool malformed(lowering *l, const char *expected) {
    return mlir_error(l->err, l->module, l->op, TS_ERROR_INPUT, "'%.*s': expected %s",
                      ts_text_quoted(l->op->name.length), l->op->name.text, expected);
}

/* 8 x 128 words, or so many packed values in each. */
static bool is_vreg_type(const mlir_type *t) {
    bool packed = t->rank == 3 && (t->bits == 1 || t->bits * t->dims[2] == 32);
    return (t->rank == 2 || packed) && t->dims[0] == TS_SUBLANES && t->dims[1] == TS_LANES;
}

static bool check_vreg_type(lowering *l, const mlir_type *t) {
    if (t->kind != MLIR_VECTOR || is_vreg_type(t)) return true;
    return mlir_error(l->err, l->module, l->op, TS_ERROR_INPUT,
                      "'%.*s': found %.*s, expected a vreg, as vector<8x128xf32> or vector<8x128x2xbf16>",
                      ts_text_quoted(l->op->name.length), l->op->name.text, ts_text_quoted(t->text.length),
                      t->text.text);
}

bool check_vreg_types(lowering *l) {
    bool good = true;
    for (int i = 0; i < l->op->operand_count && good; i++) good = check_vreg_type(l, type_at(l, i));
    for (int i = 0; i < l->op->result_count && good; i++) good = check_vreg_type(l, result_type(l, i));
    return good;
}

/* ---- Instructions ---- */

void emit(lowering *l, ts_opcode opcode, int count, const ts_operand *operands) {
    ts_instruction *new = mosaic_add(&l->code, opcode, count, operands);
    new->source = l->file;
    new->line = l->line;
    new->column = 1;
}

ts_operand fresh(lowering *l, ts_operand_kind kind) {
    return (ts_operand){kind, {.reg = mosaic_register(&l->code, kind)}};
}

static ts_operand_kind kind_written(ts_opcode opcode) {
    uint32_t accepts = ts_opcode_operand(ts_opcode_get(opcode), 0)->accepts;
    return accepts >> TS_OPERAND_SREG & 1   ? TS_OPERAND_SREG
           : accepts >> TS_OPERAND_VREG & 1 ? TS_OPERAND_VREG
                                            : TS_OPERAND_VMASK;
}

/* A number where a register must be is put into one; others stay as the instruction takes them. */
static ts_operand fit(lowering *l, const ts_operand_class *class, ts_operand o) {
    if (!is_number(o) || class->accepts >> o.kind & 1) return o;
    /* A number of the other kind (float or integer) keeps its bits. */
    if (class->accepts >> TS_OPERAND_INTEGER & 1) return ts_integer((int32_t)o.as.f32_bits);
    if (class->accepts >> TS_OPERAND_F32 & 1 && !class->packed) return splat_bits((uint32_t)o.as.integer);
    return class->accepts >> TS_OPERAND_VMASK & 1  ? in_vmask(l, o)
           : class->accepts >> TS_OPERAND_VREG & 1 ? in_vreg(l, o)
                                                   : in_sreg(l, o);
}

void emit_to(lowering *l, ts_operand to, ts_opcode opcode, int count, const ts_operand *sources) {
    const ts_opcode_info *info = ts_opcode_get(opcode);
    ts_operand operands[TS_OPERANDS_MAX];
    for (int i = 0; i < count; i++) operands[i + 1] = fit(l, ts_opcode_operand(info, i + 1), sources[i]);
    operands[0] = to;
    emit(l, opcode, count + 1, operands);
}

ts_operand emit_new(lowering *l, ts_opcode opcode, int count, const ts_operand *sources) {
    ts_operand to = fresh(l, kind_written(opcode));
    emit_to(l, to, opcode, count, sources);
    return to;
}

ts_operand emit1(lowering *l, ts_opcode opcode, ts_operand a) { return emit_new(l, opcode, 1, &a); }
ts_operand emit2(lowering *l, ts_opcode opcode, ts_operand a, ts_operand b) {
    return emit_new(l, opcode, 2, (ts_operand[]){a, b});
}
ts_operand emit_select(lowering *l, ts_operand mask, ts_operand yes, ts_operand no) {
    return emit_new(l, TS_OP_vsel, 3, (ts_operand[]){mask, yes, no});
}

/* Numbers in vregs are kept while the block goes on. */
ts_operand in_vreg(lowering *l, ts_operand o) {
    if (o.kind == TS_OPERAND_VREG) return o;
    ts_operand source = is_number(o) ? ts_integer(number_of(o)) : o, d;
    uint32_t bits = (uint32_t)number_of(source);
    known_constant *known = &l->constants[(bits ^ bits >> 13 ^ bits >> 23) % 64];
    int block = l->code.blocks.count;
    if (is_number(o) && known->block == block && known->bits == bits) return ts_vreg(known->reg);
    d = fresh(l, TS_OPERAND_VREG);
    emit(l, TS_OP_vmov, 2, (ts_operand[]){d, source});
    if (is_number(o)) *known = (known_constant){bits, block, d.as.reg};
    return d;
}

ts_operand vreg_of_sublanes(lowering *l, const int64_t *numbers) {
    ts_operand sublane = emit_new(l, TS_OP_viota_sublane, 0, NULL), out = in_vreg(l, ts_integer(numbers[0]));
    for (int i = 1; i < TS_SUBLANES; i++) {
        if (numbers[i] == numbers[0]) continue;
        ts_operand here = emit2(l, TS_OP_vcmp_eq_i32, sublane, ts_integer(i));
        out = emit_select(l, here, in_vreg(l, ts_integer(numbers[i])), out);
    }
    return out;
}

ts_operand in_vmask(lowering *l, ts_operand o) {
    return o.kind == TS_OPERAND_VMASK ? o
                                      : emit_new(l, number_of(o) != 0 ? TS_OP_mall : TS_OP_mnone, 0, NULL);
}

ts_operand in_sreg(lowering *l, ts_operand o) {
    return o.kind == TS_OPERAND_SREG ? o : emit1(l, TS_OP_smov, ts_integer(number_of(o)));
}

void move_to(lowering *l, ts_operand to, ts_operand from) {
    ts_opcode opcode = to.kind == TS_OPERAND_VREG   ? TS_OP_vmov
                       : to.kind == TS_OPERAND_SREG ? TS_OP_smov
                                                    : TS_OP_mmov;
    if (from.kind == to.kind && from.as.reg == to.as.reg) return;
    if (is_number(from)) from = opcode == TS_OP_mmov ? in_vmask(l, from) : ts_integer(number_of(from));
    emit(l, opcode, 2, (ts_operand[]){to, from});
}

/* ---- Lines of Python ---- */

enum { PYTHON_BYTES_MAX = 1 << 22 };

/* Reads a Python file to show its lines in errors; it need not exist. */
static void read_python(lowering *l, ts_source *file) {
    size_t length = strlen(file->name);
    ts_error ignored = {0};
    char *text;
    if (l->shows_files && length > 3 && strcmp(file->name + length - 3, ".py") == 0 &&
        ts_file_read(&ignored, l->arena, file->name, PYTHON_BYTES_MAX, &text, &file->length))
        file->text = text;
}

static ts_source *file_named(lowering *l, ts_span name) {
    for (int i = 0; i < l->files.count; i++)
        if (strlen(l->files.items[i]->name) == name.length &&
            memcmp(l->files.items[i]->name, name.text, name.length) == 0)
            return l->files.items[i];
    ts_source *new = TS_NEW(l->arena, ts_source);
    *new = (ts_source){ts_arena_copy_text(l->arena, name.text, name.length), "", 0};
    read_python(l, new);
    *PUSH(l->arena, &l->files) = new;
    return new;
}

/* An operation without a location has that of the one before it. */
void find_source_line(lowering *l) {
    ts_span file;
    int line;
    if (mlir_locate(l->module, l->op->location, &file, &line)) {
        l->file = file_named(l, file);
        l->line = line;
    }
}

/* ---- Scalars ---- */

/* What numbers come to; false: it is not known. */
static bool fold(ts_opcode opcode, int32_t x, int32_t y, uint32_t *out) {
    uint32_t a = (uint32_t)x, b = (uint32_t)y;
    switch (opcode) {
#define SCALAR(id, value)                                                                                    \
    case TS_OP_##id:                                                                                         \
        *out = (uint32_t)(value);                                                                            \
        return true;
#include "isa/scalar.def"
#undef SCALAR
    case TS_OP_sdiv:
    case TS_OP_smod:
        if (y <= 0) return false;
        *out = (uint32_t)(opcode == TS_OP_sdiv ? ts_floor_div(x, y) : ts_floor_mod(x, y));
        return true;
    default:
        return false;
    }
}

/* What behind an operand changes nothing. */
static const struct {
    ts_opcode opcode;
    int32_t number;
} neutral[] = {{TS_OP_sadd, 0}, {TS_OP_ssub, 0}, {TS_OP_sor, 0},
               {TS_OP_sxor, 0}, {TS_OP_smul, 1}, {TS_OP_sdiv, 1}};

static bool is_neutral(ts_opcode opcode, ts_operand b) {
    bool found = false;
    for (size_t i = 0; i < sizeof neutral / sizeof *neutral && is_number(b); i++)
        found |= neutral[i].opcode == opcode && neutral[i].number == number_of(b);
    return found;
}

ts_operand scalar2(lowering *l, ts_opcode opcode, ts_operand a, ts_operand b) {
    uint32_t known;
    if (is_number(a) && is_number(b) && fold(opcode, (int32_t)number_of(a), (int32_t)number_of(b), &known))
        return ts_integer((int32_t)known);
    if (is_neutral(opcode, b)) return a;
    if (opcode == TS_OP_sadd && is_number(a) && number_of(a) == 0) return b;
    return emit2(l, opcode, a, b);
}

ts_operand lowest_bits(lowering *l, ts_operand a, int bits) {
    ts_operand up = ts_integer(32 - bits);
    return bits < 32 ? scalar2(l, TS_OP_ssra, scalar2(l, TS_OP_sshl, a, up), up) : a;
}

ts_operand zero_extend(lowering *l, ts_operand a, int bits) {
    return bits < 32 ? scalar2(l, TS_OP_sand, a, ts_integer((INT64_C(1) << bits) - 1)) : a;
}
