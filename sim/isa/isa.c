/* The tables of the instruction set, and lookups in them. */
#include "isa/isa.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"

static const ts_named families[] = {
#define FAMILY(name, text, note) {text, note},
#include "isa/opcodes.def"
};

static const unsigned char mnemonic_lengths[] = {
#define OPCODE(family, id, mnemonic, operands, slot, latency, meaning) sizeof(mnemonic) - 1,
#include "isa/opcodes.def"
};

/* A write mask goes with a vreg destination, and with an address that a vector store writes. */
#define MASKS(slot, operands) ((operands)[0] == 'V' || TS_SLOT_##slot == TS_SLOT_VST)

static const ts_opcode_info opcodes[] = {
#define OPCODE(family, id, mnemonic, operands, slot, latency, meaning)                                       \
    {mnemonic, operands, TS_SLOT_##slot, TS_LATENCY_##latency, TS_FAMILY_##family, MASKS(slot, operands),    \
     meaning},
#include "isa/opcodes.def"
};

static const ts_named slots[] = {
#define SLOT(name, text, meaning) {text, meaning},
#include "isa/slots.def"
};

static const ts_named latencies[] = {
#define LATENCY(name, text, meaning) {text, meaning},
#include "isa/latencies.def"
};

static const char *const space_texts[] = {"hbm", "vmem", "smem", "cmem"};

static const char *const kind_texts[] = {
    "nothing", "sreg", "vreg", "vmask", "integer", "f32 number", "label", "address", "semaphore", "transfer",
};

enum {
    SREG = 1 << TS_OPERAND_SREG,
    VREG = 1 << TS_OPERAND_VREG,
    VMASK = 1 << TS_OPERAND_VMASK,
    INTEGER = 1 << TS_OPERAND_INTEGER,
    F32 = 1 << TS_OPERAND_F32,
    LABEL = 1 << TS_OPERAND_LABEL,
    ADDRESS = 1 << TS_OPERAND_ADDRESS,
    SEMAPHORE = 1 << TS_OPERAND_SEMAPHORE,
    TRANSFER = 1 << TS_OPERAND_TRANSFER,
};

static const ts_operand_class classes[] = {
    {'S', true, SREG, TS_SPACE_COUNT, "sreg", false},
    {'s', false, SREG, TS_SPACE_COUNT, "sreg", false},
    {'x', false, SREG | INTEGER, TS_SPACE_COUNT, "sreg or integer", false},
    {'n', false, INTEGER, TS_SPACE_COUNT, "integer", false},
    {'V', true, VREG, TS_SPACE_COUNT, "vreg", false},
    {'v', false, VREG, TS_SPACE_COUNT, "vreg", false},
    {'f', false, VREG | SREG | F32, TS_SPACE_COUNT, "vreg, sreg or f32 number", false},
    {'h', false, VREG | SREG | F32, TS_SPACE_COUNT, "vreg, sreg or bf16 number", true},
    {'i', false, VREG | SREG | INTEGER, TS_SPACE_COUNT, "vreg, sreg or integer", false},
    {'w', false, VREG | SREG | INTEGER | F32, TS_SPACE_COUNT, "vreg, sreg, integer or f32 number", false},
    {'M', true, VMASK, TS_SPACE_COUNT, "vmask", false},
    {'m', false, VMASK, TS_SPACE_COUNT, "vmask", false},
    {'a', false, ADDRESS, TS_SPACE_VMEM, "VMEM address", false},
    {'b', false, ADDRESS, TS_SPACE_SMEM, "SMEM address", false},
    {'L', false, LABEL, TS_SPACE_COUNT, "label", false},
    {'e', false, SEMAPHORE, TS_SPACE_COUNT, "semaphore", false},
    {'t', false, TRANSFER, TS_SPACE_COUNT, "transfer", false},
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
_Static_assert(COUNT(opcodes) == TS_OP_COUNT && COUNT(kind_texts) == TS_OPERAND_KIND_COUNT, "a row for each");
_Static_assert(COUNT(space_texts) == TS_SPACE_COUNT, "a row for each");

const ts_opcode_info *ts_opcode_get(ts_opcode opcode) { return &opcodes[opcode]; }
const ts_named *ts_slot_get(ts_slot slot) { return &slots[slot]; }
const ts_named *ts_latency_get(ts_latency latency) { return &latencies[latency]; }
const ts_named *ts_family_get(ts_family family) { return &families[family]; }
const char *ts_space_text(ts_space_kind space) { return space_texts[space]; }
const char *ts_operand_kind_text(ts_operand_kind kind) { return kind_texts[kind]; }

bool ts_opcode_find(const char *mnemonic, size_t length, ts_opcode *opcode) {
    for (int i = 0; i < TS_OP_COUNT; i++) {
        if (mnemonic_lengths[i] == length && memcmp(opcodes[i].mnemonic, mnemonic, length) == 0) {
            *opcode = (ts_opcode)i;
            return true;
        }
    }
    return false;
}

const char *ts_opcode_nearest(const char *mnemonic) {
    return ts_text_nearest(mnemonic, &opcodes[0].mnemonic, TS_OP_COUNT, sizeof(opcodes[0]));
}

const ts_operand_class *ts_operand_class_find(char letter) {
    for (size_t i = 0; i < COUNT(classes); i++) {
        if (classes[i].letter == letter) {
            return &classes[i];
        }
    }
    return NULL;
}

void ts_opcode_arity(const ts_opcode_info *info, int *least, int *most) {
    int optional = 0, count = 0;
    for (const char *at = info->operands; *at != '\0'; at++) {
        optional += *at == '?';
        count += *at != '?';
    }
    *least = count - optional;
    *most = count;
}

const ts_operand_class *ts_opcode_operand(const ts_opcode_info *info, int index) {
    for (const char *at = info->operands; *at != '\0'; at++) {
        if (*at != '?' && index-- == 0) {
            return ts_operand_class_find(*at);
        }
    }
    return NULL;
}

void ts_address_reach(const ts_address *address, ts_space_kind space, int64_t *low, int64_t *high) {
    bool rows = space == TS_SPACE_VMEM;
    assert(address->sublane_mask != 0);
    int64_t first = rows ? address->stride * TS_LANES * __builtin_ctz(address->sublane_mask) : 0;
    int64_t last = rows ? address->stride * TS_LANES * (31 - __builtin_clz(address->sublane_mask)) : 0;
    *low = first < last ? first : last;
    *high = (first < last ? last : first) + (rows ? TS_LANES : 1);
}

static bool same_terms(const ts_address *a, const ts_address *b) {
    bool same = a->term_count == b->term_count;
    for (int i = 0; i < a->term_count && same; i++) {
        const ts_address_term *x = &a->terms[i], *y = &b->terms[i];
        same = x->sreg == y->sreg && x->bias == y->bias && x->divisor == y->divisor &&
               x->modulus == y->modulus && x->multiplier == y->multiplier;
    }
    return same;
}

bool ts_address_may_meet(const ts_address *a, const ts_address *b, ts_space_kind space) {
    if (a->tensor >= 0 && b->tensor >= 0 && a->tensor != b->tensor) {
        return false;
    }
    int64_t a_low, a_high, b_low, b_high;
    ts_address_reach(a, space, &a_low, &a_high);
    ts_address_reach(b, space, &b_low, &b_high);
    return !same_terms(a, b) || (a->word + a_low < b->word + b_high && b->word + b_low < a->word + a_high);
}
