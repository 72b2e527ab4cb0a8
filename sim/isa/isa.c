/* The tables of the instruction set, and lookups in them. */
#include "isa/isa.h"

#include <assert.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"

static const ts_named families[] = {
#define FAMILY(name, text, note) {text, note},
#include "isa/opcodes.def"
};

static const unsigned char mnemonic_lengths[] = {
#define OPCODE(family, id, mnemonic, operands, slot, latency, shadow, flops, meaning) sizeof(mnemonic) - 1,
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

enum { ROLE_READ, ROLE_WRITTEN, ROLE_PACKED, ROLE_SIGNED, ROLE_OPTIONAL_SIGNED };
#define KIND(kind) (1u << TS_OPERAND_##kind)
static const ts_operand_class classes[] = {
#define OPERAND(name, kinds, space, role, text)                                                              \
    {ROLE_##role == ROLE_WRITTEN,                                                                            \
     kinds,                                                                                                  \
     TS_SPACE_##space,                                                                                       \
     text,                                                                                                   \
     ROLE_##role == ROLE_PACKED,                                                                             \
     ROLE_##role == ROLE_OPTIONAL_SIGNED,                                                                    \
     ROLE_##role == ROLE_SIGNED || ROLE_##role == ROLE_OPTIONAL_SIGNED},
#include "isa/operands.def"
};

/* So that a row of an opcode can name them. */
enum {
#define OPERAND(name, kinds, space, role, text) name,
#include "isa/operands.def"
};

#define LIST(...)                                                                                            \
    { __VA_ARGS__ }
#define FIRST(...)           FIRST_OF(__VA_ARGS__, NONE)
#define FIRST_OF(first, ...) first
/* A write mask goes with a vreg destination, and with an address that a vector store writes. */
#define MASKS(slot, operands) (FIRST operands == DST_VREG || TS_SLOT_##slot == TS_SLOT_VST)

static const ts_opcode_info opcodes[] = {
#define OPCODE(family, id, mnemonic, operands, slot, latency, shadow, flops, meaning)                        \
    {mnemonic,                                                                                               \
     LIST operands,                                                                                          \
     TS_SLOT_##slot,                                                                                         \
     TS_LATENCY_##latency,                                                                                   \
     TS_FAMILY_##family,                                                                                     \
     TS_SHADOW_##shadow,                                                                                     \
     MASKS(slot, operands),                                                                                  \
     flops,                                                                                                  \
     meaning},
#include "isa/opcodes.def"
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
_Static_assert(COUNT(opcodes) == TS_OP_COUNT && COUNT(kind_texts) == TS_OPERAND_KIND_COUNT, "a row for each");
_Static_assert(COUNT(space_texts) == TS_SPACE_COUNT, "a row for each");

int64_t ts_opcode_flops(ts_opcode opcode, int edge) {
    const ts_opcode_info *info = ts_opcode_get(opcode);
    return info->latency == TS_LATENCY_MXU_PUSH ? (int64_t)info->flops * edge : info->flops;
}

const ts_opcode_info *ts_opcode_get(ts_opcode opcode) { return &opcodes[opcode]; }
const ts_named *ts_slot_get(ts_slot slot) { return &slots[slot]; }
const ts_named *ts_latency_get(ts_latency latency) { return &latencies[latency]; }
const ts_named *ts_family_get(ts_family family) { return &families[family]; }
const char *ts_space_text(ts_space_kind space) { return space_texts[space]; }
const char *ts_operand_kind_text(ts_operand_kind kind) { return kind_texts[kind]; }

bool ts_opcode_leaves(ts_opcode opcode) {
    return opcodes[opcode].family == TS_FAMILY_CONTROL && opcodes[opcode].slot == TS_SLOT_SCALAR;
}

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

const ts_operand_class *ts_operand_class_mask(void) { return &classes[VMASK]; }

void ts_opcode_arity(const ts_opcode_info *info, int *least, int *most) {
    *least = *most = 0;
    for (const ts_operand_class *class; (class = ts_opcode_operand(info, *most)) != NULL; ++*most)
        *least += !class->optional;
}

const ts_operand_class *ts_opcode_operand(const ts_opcode_info *info, int index) {
    bool known = index < TS_OPERANDS_MAX && info->operands[index] != NONE;
    return known ? &classes[info->operands[index]] : NULL;
}

int64_t ts_slice_elements(const ts_slice *slice) { return ts_product(slice->rank, slice->size); }

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
    if (a->tensor >= 0 && b->tensor >= 0 && a->tensor != b->tensor) return false;
    int64_t a_low, a_high, b_low, b_high;
    ts_address_reach(a, space, &a_low, &a_high);
    ts_address_reach(b, space, &b_low, &b_high);
    return !same_terms(a, b) || (a->word + a_low < b->word + b_high && b->word + b_low < a->word + a_high);
}
