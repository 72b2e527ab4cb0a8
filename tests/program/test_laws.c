/* Laws of the assembler over random programs: printing and assembling gives the same program, and the address
 * of an index is where the layout says. */

#include <stdio.h>
#include <string.h>

#include "tests/support/rounds.h"
#include "tests/support/random_layout.h"
#include "base/number.h"
#include "layout/shape.h"
#include "program/program.h"
#include "tests/support/cmocka.h"

static const ts_target target = {
    .machine = "toy",
    .core.limits = {.slots = {2, 2, 1, 1, 1, 1, 1, 1}, .sregs = 32, .bf16 = true, .vregs = 32, .vmasks = 8},
    .space_bytes = {1 << 30, 1 << 24, 1 << 14, 0},
};

static const ts_program *assemble(ts_arena *arena, const char *text, bool may_fail) {
    ts_error err = {0};
    ts_source *source = TS_NEW(arena, ts_source);
    *source = (ts_source){.name = "a.tsim", .text = text, .length = strlen(text)};
    const ts_program *program = ts_program_parse(&err, arena, source, &target, NULL, 0);
    if (program == NULL && !may_fail) {
        char message[2048];
        ts_error_format(&err, message, sizeof(message));
        fail_msg("%s\n%s", message, text);
    }
    return program;
}

/* ---- Random programs ---- */

static void add_affine(uint64_t *seed, ts_text *out, int most) {
    ts_text_add(out, "%u", random_below(seed, (uint32_t)most));
    if (random_below(seed, 2) == 0)
        ts_text_add(out, " + s%u * %u", random_below(seed, 16), 1 + random_below(seed, 3));
    if (random_below(seed, 4) == 0) ts_text_add(out, " - s%u", 16 + random_below(seed, 16));
}

static void add_semaphore(uint64_t *seed, ts_text *out) {
    static const char *const texts[] = {"p", "q[0]", "q[2]", "q[s3]", "q[s4 + 1]", "q[s5 - 1]"};
    ts_text_add(out, "%s", texts[random_below(seed, 6)]);
}

static void add_transfer(uint64_t *seed, ts_text *out) {
    bool half = random_below(seed, 2) == 0;
    ts_text_add(out, "b[");
    add_affine(seed, out, 2);
    ts_text_add(out, half ? ", 0:8] <- x[" : "] <- x[");
    add_affine(seed, out, 8);
    ts_text_add(out, half ? ":+8], " : ":+16, :], ");
    add_semaphore(seed, out);
}

static void add_address(uint64_t *seed, ts_text *out, bool scalar) {
    static const char *const vector[] = {"b[0, s1, 0]",
                                         "b[s2, 8, s3]",
                                         "b.words[128 + s1 // 3 % 5 * 7]",
                                         "vmem[(s1 - 2) / 4 * 128 + 4096]",
                                         "h[1, s4, 256] stride=2 mask=0x55",
                                         "h[s5, 16, 128] stride=0"};
    static const char *const words[] = {"k[1, s2]", "k[s1, s2 + 3]", "smem[17]", "k.words[s1 % 9]"};
    ts_text_add(out, "%s", scalar ? words[random_below(seed, 4)] : vector[random_below(seed, 6)]);
}

static void add_operand(uint64_t *seed, ts_text *out, const ts_operand_class *class) {
    ts_operand_kind kind;
    do {
        kind = (ts_operand_kind)random_below(seed, TS_OPERAND_KIND_COUNT);
    } while ((class->accepts >> kind & 1) == 0);
    switch (kind) {
    case TS_OPERAND_SREG:
    case TS_OPERAND_VREG:
        ts_text_add(out, "%c%u", kind == TS_OPERAND_SREG ? 's' : 'v', random_below(seed, 32));
        break;
    case TS_OPERAND_VMASK:
        ts_text_add(out, "m%u", random_below(seed, 8));
        break;
    case TS_OPERAND_INTEGER:
        ts_text_add(out, "%s%u", random_below(seed, 2) ? "-" : "",
                    random_below(seed, 0x7fffffff) >> random_below(seed, 31));
        break;
    case TS_OPERAND_F32:
        ts_text_add(out, "%.17e", (double)ts_f32_from_bits(random_below(seed, 0x7f800000)));
        break;
    case TS_OPERAND_LABEL:
        ts_text_add(out, "l%u", random_below(seed, 4));
        break;
    case TS_OPERAND_ADDRESS:
        add_address(seed, out, class->space == TS_SPACE_SMEM);
        break;
    case TS_OPERAND_SEMAPHORE:
        add_semaphore(seed, out);
        break;
    default:
        add_transfer(seed, out);
        break;
    }
}

static void add_instruction(uint64_t *seed, ts_text *out) {
    const ts_opcode_info *info = ts_opcode_get((ts_opcode)random_below(seed, TS_OP_COUNT));
    int least, most;
    ts_opcode_arity(info, &least, &most);
    int count = least + (int)random_below(seed, (uint32_t)(most - least) + 1);
    ts_text_add(out, "%s ", info->mnemonic);
    for (int i = 0; i < count; i++) {
        ts_text_add(out, i > 0 ? ", " : "");
        add_operand(seed, out, ts_opcode_operand(info, i));
    }
    if (info->masks && random_below(seed, 3) == 0) ts_text_add(out, " if m%u", random_below(seed, 8));
}

static void random_program(uint64_t *seed, ts_text *out) {
    ts_text_add(out, ".tensor x hbm f32[64,512]{1,0:T(8,128)} in random(seed=3, lo=-0.1, hi=2)\n"
                     ".tensor b vmem f32[2,16,512]{2,1,0:T(8,128)}\n"
                     ".tensor h vmem bf16[2,32,512]{2,1,0:T(16,128)(2,1)}\n"
                     ".tensor k smem s32[4,8]\n.tensor L hbm f32[3] inout\n");
    ts_text_add(out, ".sem p\n.sem q[3]\n.check x ~= x * 2 ulp=0.5\n");
    for (int i = 0; i < 4; i++) {
        ts_text_add(out, "l%d:\n", i);
        for (uint32_t n = random_below(seed, 6); n > 0; n--) {
            bool pair = random_below(seed, 3) == 0;
            ts_text_add(out, pair ? "{ viota.lane v0 ; sld s0, " : "");
            if (pair) {
                add_address(seed, out, true);
                ts_text_add(out, " }");
            } else {
                add_instruction(seed, out);
            }
            ts_text_add_char(out, '\n');
        }
    }
}

/* ---- Equality ---- */

static void assert_affine_equal(const ts_affine *a, const ts_affine *b) {
    assert_int_equal(a->constant, b->constant);
    assert_int_equal(a->term_count, b->term_count);
    for (int i = 0; i < a->term_count; i++) {
        assert_int_equal(a->terms[i].sreg, b->terms[i].sreg);
        assert_int_equal(a->terms[i].factor, b->terms[i].factor);
    }
}

static void assert_slice_equal(const ts_slice *a, const ts_slice *b) {
    assert_int_equal(a->tensor, b->tensor);
    assert_int_equal(a->rank, b->rank);
    for (int i = 0; i < a->rank; i++) {
        assert_affine_equal(&a->begin[i], &b->begin[i]);
        assert_int_equal(a->size[i], b->size[i]);
    }
}

static void assert_semaphore_equal(const ts_semaphore_operand *a, const ts_semaphore_operand *b) {
    assert_int_equal(a->first, b->first);
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->sreg, b->sreg);
    assert_int_equal(a->bias, b->bias);
}

static void assert_address_equal(const ts_address *a, const ts_address *b) {
    assert_int_equal(a->word, b->word);
    assert_int_equal(a->tensor, b->tensor);
    assert_int_equal(a->stride, b->stride);
    assert_int_equal(a->sublane_mask, b->sublane_mask);
    assert_int_equal(a->term_count, b->term_count);
    for (int i = 0; i < a->term_count; i++) {
        assert_int_equal(a->terms[i].sreg, b->terms[i].sreg);
        assert_int_equal(a->terms[i].exact, b->terms[i].exact);
        assert_int_equal(a->terms[i].bias, b->terms[i].bias);
        assert_int_equal(a->terms[i].divisor, b->terms[i].divisor);
        assert_int_equal(a->terms[i].modulus, b->terms[i].modulus);
        assert_int_equal(a->terms[i].multiplier, b->terms[i].multiplier);
    }
}

static void assert_operand_equal(const ts_operand *a, const ts_operand *b) {
    assert_int_equal(a->kind, b->kind);
    switch (a->kind) {
    case TS_OPERAND_ADDRESS:
        assert_address_equal(a->as.address, b->as.address);
        break;
    case TS_OPERAND_SEMAPHORE:
        assert_semaphore_equal(&a->as.semaphore, &b->as.semaphore);
        break;
    case TS_OPERAND_INTEGER:
        assert_int_equal(a->as.integer, b->as.integer);
        break;
    case TS_OPERAND_F32:
        assert_int_equal(a->as.f32_bits, b->as.f32_bits);
        break;
    default:
        assert_int_equal(a->as.reg, b->as.reg);
        break;
    }
}

static void assert_code_equal(const ts_code *a, const ts_code *b) {
    assert_int_equal(a->bundle_count, b->bundle_count);
    for (int i = 0; i < a->bundle_count; i++) {
        assert_int_equal(a->bundles[i].count, b->bundles[i].count);
        for (int j = 0; j < a->bundles[i].count; j++) {
            const ts_instruction *x = &a->bundles[i].instructions[j], *y = &b->bundles[i].instructions[j];
            assert_int_equal(x->opcode, y->opcode);
            assert_int_equal(x->mask, y->mask);
            assert_int_equal(x->operand_count, y->operand_count);
            for (int k = 0; k < x->operand_count; k++) assert_operand_equal(&x->operands[k], &y->operands[k]);
        }
    }
    assert_int_equal(a->transfer_count, b->transfer_count);
    for (int i = 0; i < a->transfer_count; i++) {
        assert_slice_equal(&a->transfers[i].source, &b->transfers[i].source);
        assert_slice_equal(&a->transfers[i].destination, &b->transfers[i].destination);
        assert_semaphore_equal(&a->transfers[i].semaphore, &b->transfers[i].semaphore);
    }
    assert_int_equal(a->tensor_count, b->tensor_count);
    for (int i = 0; i < a->tensor_count; i++) {
        assert_string_equal(a->tensors[i].name, b->tensors[i].name);
        assert_int_equal(a->tensors[i].space, b->tensors[i].space);
        assert_int_equal(a->tensors[i].base_bytes, b->tensors[i].base_bytes);
        assert_int_equal(a->tensors[i].bytes, b->tensors[i].bytes);
    }
    assert_int_equal(a->semaphore_count, b->semaphore_count);
    for (int i = 0; i < a->semaphore_count; i++)
        assert_string_equal(a->semaphore_names[i], b->semaphore_names[i]);
}

TEST(test_print_and_assemble) {
    uint64_t seed = 7;
    for (int i = 0, most = rounds(2000, 400); i < most; i++) {
        ts_arena *arena = ts_arena_new();
        ts_text text, printed;
        text = ts_text_begin(arena);
        printed = ts_text_begin(arena);
        random_program(&seed, &text);
        const ts_program *first = assemble(arena, text.bytes, false);
        ts_program_print(first, &printed);
        const ts_program *second = assemble(arena, printed.bytes, false);
        assert_code_equal(&first->code, &second->code);
        assert_memory_equal(first->used_bytes, second->used_bytes, sizeof(first->used_bytes));
        for (int t = 0; t < first->code.tensor_count; t++) {
            assert_int_equal(first->uses[t].role, second->uses[t].role);
            assert_int_equal(first->uses[t].fill, second->uses[t].fill);
            assert_int_equal(first->uses[t].seed, second->uses[t].seed);
            assert_true(first->uses[t].low == second->uses[t].low &&
                        first->uses[t].high == second->uses[t].high);
        }
        assert_int_equal(second->check_count, 1);
        assert_memory_equal(second->checks[0].source->text + second->checks[0].begin, "x ~= x * 2 ulp=0.5",
                            18);
        assert_int_equal(second->checks[0].end - second->checks[0].begin, 18);
        ts_arena_free(arena);
    }
}

/* ---- Addresses ---- */

/* The words of an address from the start of its tensor; false where a term's rest is a fault. */
static bool evaluate(const ts_address *address, const int64_t *sregs, int64_t *word) {
    *word = address->word;
    for (int i = 0; i < address->term_count; i++) {
        const ts_address_term *term = &address->terms[i];
        int64_t v = sregs[term->sreg] + term->bias;
        if (term->exact && ts_floor_mod(v, term->divisor) != 0) return false;
        v = ts_floor_div(v, term->divisor);
        *word += (term->modulus != 0 ? ts_floor_mod(v, term->modulus) : v) * term->multiplier;
    }
    return true;
}

enum { RANK = 3 };
typedef struct {
    int64_t dims[RANK];
    int64_t constant[RANK], factor[RANK]; /* index k is constant + factor * s(k) */
    char text[512];
} access;

static void random_access(uint64_t *seed, access *a) {
    static const char *const tiles[] = {
        "",        ":T(8,128)",         ":T(4,128)",     ":T(2,128)(2,1)", ":T(8,128)(4,1)",
        ":T(128)", ":T(16,128)(8,128)", ":T(8,256)(2,1)"};
    static const char *const orders[] = {"2,1,0", "2,0,1", "0,1,2", "1,2,0"};
    static const int64_t steps[] = {0, 0, 1, 2, 4, 8, 16, 24, 128, 256};
    char index[128];
    int used = 0;
    for (int k = 0; k < RANK; k++) {
        a->dims[k] = 1 + random_below(seed, 40) * (random_below(seed, 2) ? 1 : 16);
        a->constant[k] = steps[random_below(seed, 10)];
        a->factor[k] = steps[random_below(seed, 10)];
        used += snprintf(index + used, sizeof(index) - (size_t)used, "%s%lld + s%d * %lld", k > 0 ? ", " : "",
                         (long long)a->constant[k], k, (long long)a->factor[k]);
    }
    snprintf(a->text, sizeof(a->text), ".tensor t vmem %s[%lld,%lld,%lld]{%s%s}\nvld v0, t[%s]\n",
             random_below(seed, 2) ? "f32" : "bf16", (long long)a->dims[0], (long long)a->dims[1],
             (long long)a->dims[2], orders[random_below(seed, 4)], tiles[random_below(seed, 8)], index);
}

/* One point of an access: returns 1 when it was inside the tensor and no fault. */
static int check_point(uint64_t *seed, const access *a, const ts_program *program) {
    const ts_shape *shape = program->code.tensors[0].shape;
    const ts_address *address = program->code.bundles[0].instructions[0].operands[1].as.address;
    int64_t sregs[RANK], index[RANK], coordinate, word;
    for (int k = 0; k < RANK; k++) {
        sregs[k] = random_below(seed, 1 + random_below(seed, 16));
        index[k] = a->constant[k] + a->factor[k] * sregs[k];
        if (index[k] >= a->dims[k]) return 0;
    }
    ts_layout_forward(shape->layout, index, &coordinate);
    if (!evaluate(address, sregs, &word)) return 0;
    assert_int_equal(word * 32, coordinate * shape->element_bits);
    return 1;
}

TEST(test_addresses) {
    uint64_t seed = 11;
    int accepted = 0, points = 0, most = rounds(20000, 4000);
    for (int i = 0; i < most; i++) {
        ts_arena *arena = ts_arena_new();
        access a;
        random_access(&seed, &a);
        const ts_program *program = assemble(arena, a.text, true);
        accepted += program != NULL;
        for (int n = 0; program != NULL && n < 50; n++) points += check_point(&seed, &a, program);
        ts_arena_free(arena);
    }
    assert_in_range(accepted, most / 5, most);
    assert_in_range(points, most / 20, 50 * most);
}
