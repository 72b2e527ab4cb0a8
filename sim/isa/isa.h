/* The instruction set as data: opcodes, operands, and the code that an assembler makes and a core runs. */
#ifndef TILESIM_ISA_ISA_H
#define TILESIM_ISA_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "isa/vreg.h"

typedef enum {
#define SLOT(name, text, meaning) TS_SLOT_##name,
#include "isa/slots.def"
    TS_SLOT_COUNT
} ts_slot;

typedef enum {
#define LATENCY(name, text, meaning) TS_LATENCY_##name,
#include "isa/latencies.def"
    TS_LATENCY_COUNT
} ts_latency;

typedef enum {
#define FAMILY(name, text, note) TS_FAMILY_##name,
#include "isa/opcodes.def"
    TS_FAMILY_COUNT
} ts_family;

typedef enum {
#define OPCODE(family, id, mnemonic, operands, slot, latency, shadow, flops, meaning) TS_OP_##id,
#include "isa/opcodes.def"
    TS_OP_COUNT
} ts_opcode;

typedef enum { TS_SPACE_HBM, TS_SPACE_VMEM, TS_SPACE_SMEM, TS_SPACE_CMEM, TS_SPACE_COUNT } ts_space_kind;

typedef enum {
    TS_OPERAND_NONE,
    TS_OPERAND_SREG,
    TS_OPERAND_VREG,
    TS_OPERAND_VMASK,
    TS_OPERAND_INTEGER, /* -2^31 .. 2^32 - 1: 32 bits */
    TS_OPERAND_F32,     /* bits */
    TS_OPERAND_LABEL,   /* index of a bundle; one past the last halts */
    TS_OPERAND_ADDRESS,
    TS_OPERAND_SEMAPHORE,
    TS_OPERAND_TRANSFER, /* index into ts_code.transfers */
    TS_OPERAND_KIND_COUNT
} ts_operand_kind;

/* What stands in the place of an operand. An integer literal where only f32 is accepted is that number. */
typedef struct {
    bool written;        /* a destination; every other register operand is read */
    uint32_t accepts;    /* bit (1 << ts_operand_kind) each */
    ts_space_kind space; /* of an address */
    const char *text;    /* "vreg, sreg or integer": what an error says was expected */
    bool packed;         /* an f32 number goes into both halves of a word, as bf16 */
    bool optional;
    bool is_signed; /* read as a signed number: a literal is below 2^31 */
} ts_operand_class;

const ts_operand_class *ts_operand_class_mask(void); /* that of a write mask */
/* "vreg", "integer", ... */
const char *ts_operand_kind_text(ts_operand_kind kind);

/* How an instruction's result depends on what goes in: which of its bits are undefined when bits of the
 * sources are, and which scalars are unknown where only time is modelled. "Value" rules are those with scalar
 * results or a scalar that is stored; but for CONTROL, the words of a vreg source that is a scalar are all
 * undefined when that is. */
typedef enum {
    TS_SHADOW_CONTROL,    /* no result; the scalars steer, and must be defined */
    TS_SHADOW_DEFINED,    /* defined, whatever goes in */
    TS_SHADOW_WORDS,      /* a word is undefined where any bit of a source's is */
    TS_SHADOW_HALVES,     /* the same for halves */
    TS_SHADOW_COPY,       /* the bits of the first source */
    TS_SHADOW_MOVE,       /* the function itself, on shadows */
    TS_SHADOW_FIELD,      /* the same, then whole words: a field, with its sign */
    TS_SHADOW_SHIFT,      /* the first shadow, shifted by the second value */
    TS_SHADOW_AND,        /* a defined 0 hides what is undefined */
    TS_SHADOW_OR,         /* a defined 1 does */
    TS_SHADOW_XOR,        /* the bits of both */
    TS_SHADOW_SELECT,     /* of the source that the mask takes */
    TS_SHADOW_PACK_WORDS, /* a word of the first source makes the low half, one of the second the high half */
    TS_SHADOW_PACK_ROWS,  /* the same, of the rows of both */
    TS_SHADOW_PACK_HALVES, /* the same, halves into bytes */
    TS_SHADOW_PACK_BYTES,  /* the same, bytes into halves of bytes */
    TS_SHADOW_GATHER,      /* the function on the first shadow and the second value */
    TS_SHADOW_LANES,       /* a reduction over a row */
    TS_SHADOW_SUBLANES,    /* and over a column */
    TS_SHADOW_CARRY, /* a sum over a column: what is below the lowest undefined bit does not depend on it */
    TS_SHADOW_LOAD,  /* rows of VMEM */
    TS_SHADOW_STORE,
    TS_SHADOW_VALUE,      /* a scalar from scalars */
    TS_SHADOW_VALUE_LOAD, /* a word of SMEM */
    TS_SHADOW_VALUE_STORE,
    TS_SHADOW_FIRST_WORD, /* a scalar from the first word of a vreg; where only time is modelled it is unknown */
    TS_SHADOW_UNIT,       /* the unit keeps the shadows of what it holds */
    TS_SHADOW_COUNT
} ts_shadow_rule;

/* constant + the sum of factor * sreg. */
enum { TS_AFFINE_TERMS = 4, TS_ADDRESS_TERMS = 4, TS_OPERANDS_MAX = 5 };
typedef struct {
    int64_t constant;
    int term_count;
    struct {
        int sreg;
        int64_t factor;
    } terms[TS_AFFINE_TERMS];
} ts_affine;

/* (floor((sreg + bias) / divisor) mod modulus) * multiplier; modulus 0: no mod. When `exact`, a sreg + bias
 * that the divisor does not divide is a fault: not on a tile boundary. */
typedef struct {
    int sreg;
    bool exact;
    int64_t bias, divisor, modulus, multiplier;
} ts_address_term;

/* A VMEM or SMEM address in 32-bit words from the start of the space: word + the sum of the terms. */
typedef struct {
    int64_t word;
    int tensor;  /* index into ts_code.tensors, -1: none; the access must stay inside its bytes */
    bool beyond; /* sld: one outside of them reads what lies there, and is a finding */
    int term_count;
    ts_address_term terms[TS_ADDRESS_TERMS];
    int64_t stride; /* vld, vst: rows of 128 words between sublanes; default 1; vld: 0 repeats one row */
    uint8_t sublane_mask; /* vld, vst: bit i set: sublane i takes part; default 0xff */
} ts_address;

/* The words that an access touches, from its address: low .. high - 1. Of VMEM these are rows of 128. */
void ts_address_reach(const ts_address *address, ts_space_kind space, int64_t *low, int64_t *high);
/* Whether two accesses of one space can touch the same word while no sreg changes. Not in two tensors, as
 * each stays inside its own, nor at a distance that no sreg takes part in. */
bool ts_address_may_meet(const ts_address *a, const ts_address *b, ts_space_kind space);

/* Semaphore first + sreg, which must lie in first .. first + count - 1. sreg -1: the semaphore `first`. */
typedef struct {
    int first, count;
    int sreg;
    int64_t bias; /* added to the sreg */
} ts_semaphore_operand;

typedef struct {
    ts_operand_kind kind;
    union {
        int reg;
        int64_t integer;
        uint32_t f32_bits;
        int label;
        int transfer;
        const ts_address *address;
        ts_semaphore_operand semaphore;
    } as;
} ts_operand;

typedef struct {
    ts_opcode opcode;
    int mask; /* the vmask of a masked write, -1: none */
    int operand_count;
    ts_operand operands[TS_OPERANDS_MAX];
    const ts_source *source; /* the program text, NULL: none; then line and column mean nothing */
    int line, column;
} ts_instruction;

/* The instructions issue together: all read before any writes. */
typedef struct {
    const ts_instruction *instructions;
    int count;
    int line;
} ts_bundle;

/* Where the program's tensors lie. */
struct ts_shape;
typedef struct {
    const char *name;
    ts_space_kind space;
    int64_t base_bytes, bytes;
    const struct ts_shape *shape;
} ts_tensor;

/* One side of a transfer: the tensor and, for each of its dims, the first index and the number of indices. */
typedef struct {
    int tensor;
    int rank;
    const ts_affine *begin; /* [rank] */
    const int64_t *size;    /* [rank] */
} ts_slice;
int64_t ts_slice_elements(const ts_slice *slice);

enum { TS_TRANSFER_PRIORITY_MOST = 15 };

typedef struct {
    ts_slice source, destination;
    int64_t bytes; /* of the elements that it moves, at the destination */
    ts_semaphore_operand semaphore;
    int priority; /* 0 goes first; at most TS_TRANSFER_PRIORITY_MOST */
    /* Not 0: fills one of so many equal buffers, in the order of the destination's first dim: what it leaves
     * of that has no defined value from here on. */
    int renews;
    /* To another device of the mesh: the destination is in its memory, `receive` is its semaphore, which
     * grows when all is there; `semaphore` grows when all has left. */
    bool remote;
    ts_affine device;
    ts_semaphore_operand receive;
    const ts_source *source_text; /* as in ts_instruction */
    int line, column;
} ts_transfer;

/* Gives each sreg that a transfer reads, in the order of its operands, where the transfer names it; one that
 * is read twice is given twice. */
typedef void ts_sreg_function(void *self, const int *sreg);
void ts_transfer_sregs(const ts_transfer *transfer, ts_sreg_function *take, void *self);

/* A program ready to run. Registers are as many as the machine has. */
typedef struct {
    const char *name; /* of the file, for messages */
    const ts_bundle *bundles;
    int bundle_count;
    const ts_tensor *tensors;
    int tensor_count;
    const ts_transfer *transfers;
    int transfer_count;
    int semaphore_count;
    const char *const *semaphore_names; /* [semaphore_count], "ready[1]" */
    const bool *counts_bytes;           /* [semaphore_count]: see ts_transfer_adds; NULL: none does */
    int cores;                          /* that run it, each from its beginning; 0: one */
} ts_code;

/* What a transfer adds to its semaphore, of whatever device. */
static inline int64_t ts_transfer_adds(const ts_code *code, const ts_transfer *transfer, int semaphore) {
    return code->counts_bytes && code->counts_bytes[semaphore] ? transfer->bytes : 1;
}

/* The row of an instruction. */
typedef struct {
    const char *mnemonic;
    unsigned char operands[TS_OPERANDS_MAX]; /* see ts_opcode_operand */
    ts_slot slot;
    ts_latency latency;
    ts_family family;
    ts_shadow_rule shadow;
    bool masks; /* takes a write mask */
    int flops;  /* see isa/opcodes.def */
    const char *meaning;
} ts_opcode_info;

const ts_opcode_info *ts_opcode_get(ts_opcode opcode);
/* A branch, or the end of the program: what a stretch that runs from its first bundle to its last ends in. */
bool ts_opcode_leaves(ts_opcode opcode);
/* Of one instruction, on a machine whose matrix units have that edge. */
int64_t ts_opcode_flops(ts_opcode opcode, int edge);
/* False when there is none. */
bool ts_opcode_find(const char *mnemonic, size_t length, ts_opcode *opcode);
/* The nearest mnemonic, or NULL. */
const char *ts_opcode_nearest(const char *mnemonic);

typedef struct {
    const char *text, *meaning;
} ts_named;
const ts_named *ts_slot_get(ts_slot slot);
const ts_named *ts_latency_get(ts_latency latency);
const ts_named *ts_family_get(ts_family family); /* the meaning may be "" */
const char *ts_space_text(ts_space_kind space);

/* What a machine's core has of everything that an instruction names. */
typedef struct {
    int slots[TS_SLOT_COUNT]; /* instructions of the slot in a bundle */
    int sregs, vregs, vmasks;
    bool bf16; /* has vector bf16 arithmetic */
} ts_isa_limits;

/* Whether the core can issue the bundle: slots, register numbers, one writer a register, one branch or halt,
 * one wait, one delay. The error points at the instruction that is one too many. */
bool ts_bundle_check(ts_error *err, const ts_code *code, const ts_bundle *bundle,
                     const ts_isa_limits *limits);

/* An error at the instruction's location in the text, or without one. Returns false. */
bool ts_instruction_error(ts_error *err, ts_error_kind kind, const ts_instruction *instruction,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The registers that an instruction reads, each once, and the one that it writes. A masked write, and a load
 * of a part of the sublanes, also reads the register that it writes. */
typedef struct {
    ts_operand_kind kind; /* sreg, vreg or vmask */
    int reg;
} ts_register;

/* Those of all kinds numbered through: sregs, vregs, vmasks. */
static inline int ts_register_index(const ts_isa_limits *limits, ts_register r) {
    return r.kind == TS_OPERAND_SREG   ? r.reg
           : r.kind == TS_OPERAND_VREG ? limits->sregs + r.reg
                                       : limits->sregs + limits->vregs + r.reg;
}
static inline int ts_register_count(const ts_isa_limits *limits) {
    return limits->sregs + limits->vregs + limits->vmasks;
}

enum { TS_REGISTERS_MAX = 256, /* of a kind */ TS_READS_MAX = TS_REGISTERS_MAX + TS_OPERANDS_MAX + 2 };
typedef struct {
    int read_count;
    ts_register reads[TS_READS_MAX];
    bool writes, merges; /* merges: the old value of the written register stays in part */
    ts_register written;
} ts_register_use;
/* The code holds the transfer that a dma names. */
void ts_instruction_registers(const ts_code *code, const ts_instruction *instruction, ts_register_use *use);

/* That of the memory which it loads or stores, and which of its operands that is; NULL: none. */
const ts_address *ts_instruction_address(const ts_instruction *instruction, int *operand);

/* What a vector instruction does: d is the destination (a vreg, a vmask, or for v2s one word), a, b, c the
 * vector and mask sources in the order of the operands, n the scalar source. d may be one of the sources;
 * they never overlap in part. */
typedef void ts_vector_function(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                                int32_t n);

/* The number of operands that an instruction needs at least and takes at most, and the class of operand
 * `index`; NULL: it has none. */
void ts_opcode_arity(const ts_opcode_info *info, int *least, int *most);
const ts_operand_class *ts_opcode_operand(const ts_opcode_info *info, int index);

#endif
