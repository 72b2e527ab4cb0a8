/* Undefined values on their way through registers and memories. */
#include "check/poison.h"

#include <assert.h>
#include <string.h>

#include "check/scalars.h"
#include "check/shadow.h"

/* A vreg or vmask: shadow words, and the instruction that first met the undefined value; NULL: all defined.
 * An empty one: a constant. */
typedef struct {
    uint32_t *words;
    const ts_instruction **origin;
} vreg_shadow;

/* Results that are kept aside for the length of a bundle have shadows of their own. */
typedef struct aside {
    struct aside *next;
    const uint32_t *words;
    vreg_shadow vreg;
    const ts_instruction **sreg;
} aside;

struct ts_poison {
    ts_arena *arena;
    ts_poison_setup setup;
    vreg_shadow vregs, vmasks; /* arrays: words, and an origin each */
    const ts_instruction **sregs;
    ts_poison_row *rows; /* of VMEM */
    uint32_t *zeros, *ones, *scratch;
    aside *asides; /* of the bundle that is prepared */
};

struct ts_poison_op {
    ts_poison *poison;
    ts_poison_operands words;
    ts_scalar_use scalars;
    const ts_address *address;
    vreg_shadow result, sources[TS_OPERANDS_MAX], mask;
    const ts_instruction **origins[TS_OPERANDS_MAX + 2]; /* of the sregs that are values */
    int origin_count;
    const ts_instruction **sreg; /* that is written */
};

#define EACH_WORD for (int i = 0; i < TS_VREG_WORDS; i++)

static bool any(const uint32_t *words) {
    uint32_t all = 0;
    EACH_WORD all |= words[i];
    return all != 0;
}

/* ---- Vregs ---- */

static const ts_instruction *origin_of(const vreg_shadow *shadow) {
    return shadow->origin ? *shadow->origin : NULL;
}

static const ts_instruction *scalar_origin(const ts_poison_op *op) {
    for (int i = 0; i < op->origin_count; i++)
        if (*op->origins[i]) return *op->origins[i];
    return NULL;
}

/* Where an undefined result would come from; NULL: all that goes in is defined. */
static const ts_instruction *cause_of(const ts_poison_op *op) {
    const ts_instruction *cause = scalar_origin(op);
    for (int i = 0; !cause && i < TS_OPERANDS_MAX; i++) cause = origin_of(&op->sources[i]);
    return cause ? cause : origin_of(&op->mask);
}

/* The new words go to the written register, under the op's mask. */
static void settle(const ts_poison_op *op, const uint32_t *words, const ts_instruction *cause) {
    const uint32_t *mask = op->words.mask;
    uint32_t *d = op->result.words;
    if (mask) {
        const uint32_t *undefined = origin_of(&op->mask) ? op->mask.words : op->poison->zeros;
        EACH_WORD d[i] = (words[i] & mask[i]) | (d[i] & ~mask[i]) | undefined[i];
    } else {
        memcpy(d, words, TS_VREG_BYTES);
    }
    const ts_instruction *old = mask ? *op->result.origin : NULL;
    *op->result.origin = any(d) ? (cause ? cause : old) : NULL;
    assert(*op->result.origin || !any(d));
}

static void clear(const vreg_shadow *shadow) {
    if (*shadow->origin) {
        memset(shadow->words, 0, TS_VREG_BYTES);
        *shadow->origin = NULL;
    }
}

const uint32_t *ts_poison_source(const ts_poison_op *op, int i) {
    return origin_of(&op->sources[i]) ? op->sources[i].words : op->poison->zeros;
}

void ts_poison_result(const ts_poison_op *op, const uint32_t *words) {
    settle(op, words, op->words.instruction);
}

/* The shadow of a result, of sources of which something is undefined. */
static void apply(const ts_poison_op *op, uint32_t *result) {
    const ts_poison_operands *words = &op->words;
    ts_shadow_sources sources = {.rule = words->rule, .function = words->function};
    for (int i = 0; words->fill && i < TS_VREG_WORDS; i++) words->fill[i] = words->fill_from[0];
    for (int i = 0; i < TS_SHADOW_SOURCES; i++) {
        sources.values[i] = words->sources[i];
        sources.shadows[i] = ts_poison_source(op, i);
    }
    sources.number = words->number ? (int32_t)words->number[0] : 0;
    ts_shadow_apply(&sources, result);
}

static void run_vector(const ts_poison_op *op) {
    ts_poison *poison = op->poison;
    const ts_instruction *cause = op->words.rule == TS_SHADOW_DEFINED ? NULL : cause_of(op);
    if (cause) {
        bool all = scalar_origin(op) != NULL;
        if (!all) apply(op, poison->scratch);
        settle(op, all ? poison->ones : poison->scratch, cause);
    } else if (!op->words.mask) {
        clear(&op->result);
    } else if (*op->result.origin) {
        settle(op, poison->zeros, NULL);
    }
}

/* ---- Scalars ---- */

static void run_scalar(const ts_poison_op *op) {
    const ts_instruction *cause = scalar_origin(op);
    if (!cause && origin_of(&op->sources[0]) && op->sources[0].words[0]) cause = origin_of(&op->sources[0]);
    *op->sreg = cause;
}

void ts_poison_check(const ts_poison_op *op, int64_t cycle) {
    const ts_instruction *instruction = op->words.instruction;
    for (int i = 0; i < op->scalars.control_count; i++) {
        int sreg = op->scalars.controls[i];
        const ts_instruction *origin = op->poison->sregs[sreg];
        ts_finding *finding =
            origin ? ts_findings_add(op->poison->setup.findings, TS_FINDING_CONTROL,
                                     ts_location_of(instruction), ts_location_of(origin), cycle)
                   : NULL;
        if (finding) {
            ts_finding_describe(finding, "%s depends on s%d, which is undefined",
                                ts_opcode_get(instruction->opcode)->mnemonic, sreg);
            finding->other_text = "this met the undefined value first";
        }
    }
}

/* ---- Memory ---- */

static bool row_of(const ts_poison_op *op, int64_t address, int i, int64_t *row) {
    *row = address + i * op->address->stride * TS_LANES * 4;
    return op->address->sublane_mask >> i & 1;
}

static void run_load(const ts_poison_op *op, int64_t address) {
    uint32_t *words = op->poison->scratch;
    const ts_instruction *cause = *op->result.origin;
    memcpy(words, op->result.words, TS_VREG_BYTES);
    for (int i = 0; i < TS_SUBLANES; i++) {
        int64_t row;
        if (row_of(op, address, i, &row) &&
            ts_space_get_poison(op->poison->setup.vmem, row * 8, TS_LANES, words + i * TS_LANES))
            cause = op->words.instruction;
    }
    cause = cause ? cause : origin_of(&op->mask);
    if (cause) settle(op, words, cause);
}

/* The shadow of row i of a store where the mask decides: the new bits, the old ones, or nobody knows
 * which. */
static void merge_row(const ts_poison_op *op, int64_t row, int i, uint32_t *words) {
    const uint32_t *from = ts_poison_source(op, 0) + i * TS_LANES, *mask = op->words.mask + i * TS_LANES;
    const uint32_t *undefined = (origin_of(&op->mask) ? op->mask.words : op->poison->zeros) + i * TS_LANES;
    ts_space_get_poison(op->poison->setup.vmem, row * 8, TS_LANES, words);
    for (int k = 0; k < TS_LANES; k++) words[k] = (from[k] & mask[k]) | (words[k] & ~mask[k]) | undefined[k];
}

static void store_row(const ts_poison_op *op, int64_t row, int i) {
    ts_poison *poison = op->poison;
    const uint32_t *from = ts_poison_source(op, 0) + i * TS_LANES;
    uint32_t words[TS_LANES];
    if (op->words.mask) {
        merge_row(op, row, i, words);
        from = words;
    }
    bool poisoned = (op->words.mask || origin_of(&op->sources[0])) &&
                    ts_space_set_poison(poison->setup.vmem, row * 8, TS_LANES, from);
    if (!poisoned)
        ts_space_mark_valid(poison->setup.vmem, row * 8, TS_LANES * 32);
    else if (cause_of(op))
        poison->rows[row / (TS_LANES * 4)] = (ts_poison_row){op->words.instruction, cause_of(op)};
}

static void run_store(const ts_poison_op *op, int64_t address) {
    for (int i = 0; i < TS_SUBLANES; i++) {
        int64_t row;
        if (row_of(op, address, i, &row)) store_row(op, row, i);
    }
}

static void run_scalar_load(const ts_poison_op *op, int64_t address) {
    bool undefined = ts_space_find_poison(op->poison->setup.smem, address * 8, 32) >= 0;
    *op->sreg = undefined ? op->words.instruction : NULL;
}

static void run_scalar_store(const ts_poison_op *op, int64_t address) {
    if (scalar_origin(op))
        ts_space_mark_poison(op->poison->setup.smem, address * 8, 32);
    else
        ts_space_mark_valid(op->poison->setup.smem, address * 8, 32);
}

void ts_poison_run(const ts_poison_op *op, int64_t address) {
    switch (op->words.rule) {
    case TS_SHADOW_LOAD:
        run_load(op, address);
        return;
    case TS_SHADOW_STORE:
        run_store(op, address);
        return;
    case TS_SHADOW_VALUE_LOAD:
        run_scalar_load(op, address);
        return;
    case TS_SHADOW_VALUE_STORE:
        run_scalar_store(op, address);
        return;
    case TS_SHADOW_VALUE:
    case TS_SHADOW_FIRST_WORD:
        run_scalar(op);
        return;
    case TS_SHADOW_CONTROL:
    case TS_SHADOW_UNIT:
        return;
    default:
        run_vector(op);
        return;
    }
}

ts_poison_row ts_poison_row_of(const ts_poison *poison, int64_t address) {
    return poison->rows[address / (TS_LANES * 4)];
}

/* ---- Preparing ---- */

static uint32_t *new_words(ts_arena *arena, int vregs) {
    return TS_NEW_ARRAY(arena, uint32_t, (int64_t)vregs * TS_VREG_WORDS);
}

/* Whether the words are those of a register of `file`: `count` of `size` words each. */
static bool in_file(const uint32_t *words, const uint32_t *file, int count, int size, int *reg) {
    uintptr_t at = (uintptr_t)words, first = (uintptr_t)file, bytes = (uintptr_t)size * sizeof *words;
    if (at < first || at >= first + (uintptr_t)count * bytes) return false;
    *reg = (int)((at - first) / bytes);
    return true;
}

static aside *find_aside(const ts_poison *poison, const uint32_t *words) {
    aside *a = poison->asides;
    while (a && a->words != words) a = a->next;
    return a;
}

static aside *open_aside(ts_poison *poison, const uint32_t *words) {
    aside *a = find_aside(poison, words);
    if (a) return a;
    ts_arena *arena = poison->arena;
    a = TS_NEW(arena, aside);
    *a = (aside){poison->asides,
                 words,
                 {new_words(arena, 1), TS_NEW(arena, const ts_instruction *)},
                 TS_NEW(arena, const ts_instruction *)};
    return poison->asides = a;
}

typedef enum { READ, WRITTEN } word_use;

/* What is written and no register is kept aside; what is read and was not written is a constant. */
static vreg_shadow vreg_of(ts_poison *poison, const uint32_t *words, word_use use) {
    const ts_poison_setup *setup = &poison->setup;
    int reg;
    if (in_file(words, setup->vregs, setup->limits->vregs, TS_VREG_WORDS, &reg)) {
        return (vreg_shadow){poison->vregs.words + (ptrdiff_t)reg * TS_VREG_WORDS,
                             poison->vregs.origin + reg};
    }
    if (in_file(words, setup->vmasks, setup->limits->vmasks, TS_VREG_WORDS, &reg)) {
        return (vreg_shadow){poison->vmasks.words + (ptrdiff_t)reg * TS_VREG_WORDS,
                             poison->vmasks.origin + reg};
    }
    const aside *a = use == WRITTEN ? open_aside(poison, words) : find_aside(poison, words);
    return a ? a->vreg : (vreg_shadow){0};
}

static const ts_instruction **sreg_of(ts_poison *poison, const uint32_t *word, word_use use) {
    int reg;
    if (in_file(word, poison->setup.sregs, poison->setup.limits->sregs, 1, &reg)) return poison->sregs + reg;
    const aside *a = use == WRITTEN ? open_aside(poison, word) : find_aside(poison, word);
    return a ? a->sreg : NULL;
}

static void add_origin(ts_poison_op *op, const uint32_t *word) {
    const ts_instruction **origin = word ? sreg_of(op->poison, word, READ) : NULL;
    if (origin) op->origins[op->origin_count++] = origin;
}

static ts_poison_op *new_op(ts_poison *poison, const ts_poison_operands *words) {
    ts_poison_op *op = TS_NEW(poison->arena, ts_poison_op);
    *op = (ts_poison_op){.poison = poison, .words = *words};
    bool scalar = words->rule == TS_SHADOW_VALUE || words->rule == TS_SHADOW_VALUE_LOAD ||
                  words->rule == TS_SHADOW_FIRST_WORD;
    if (words->instruction) {
        int operand;
        ts_scalar_use_of(poison->arena, poison->setup.code, words->instruction, &op->scalars);
        op->address = ts_instruction_address(words->instruction, &operand);
    }
    if (scalar)
        op->sreg = sreg_of(poison, words->result, WRITTEN);
    else if (words->result)
        op->result = vreg_of(poison, words->result, WRITTEN);
    for (int i = 0; i < TS_OPERANDS_MAX; i++) {
        add_origin(op, words->sources[i]);
        if (words->sources[i]) op->sources[i] = vreg_of(poison, words->sources[i], READ);
    }
    add_origin(op, words->number);
    add_origin(op, words->fill_from);
    if (words->mask) op->mask = vreg_of(poison, words->mask, READ);
    return op;
}

void ts_poison_bundle(ts_poison *poison, const ts_poison_operands *operands, int count, ts_poison_op **ops) {
    poison->asides = NULL;
    for (int i = 0; i < count; i++) ops[i] = new_op(poison, &operands[i]);
}

static vreg_shadow new_file(ts_arena *arena, int count) {
    return (vreg_shadow){new_words(arena, count), TS_NEW_ARRAY(arena, const ts_instruction *, count)};
}

ts_poison *ts_poison_new(ts_arena *arena, const ts_poison_setup *setup) {
    const ts_isa_limits *limits = setup->limits;
    ts_poison *poison = TS_NEW(arena, ts_poison);
    *poison = (ts_poison){.arena = arena, .setup = *setup};
    poison->vregs = new_file(arena, limits->vregs);
    poison->vmasks = new_file(arena, limits->vmasks);
    poison->sregs = TS_NEW_ARRAY(arena, const ts_instruction *, limits->sregs);
    int64_t vmem_bytes = setup->vmem ? setup->vmem->capacity_bytes : 0;
    poison->rows = TS_NEW_ARRAY(arena, ts_poison_row, vmem_bytes / (TS_LANES * 4));
    poison->zeros = new_words(arena, 1);
    poison->ones = new_words(arena, 1);
    poison->scratch = new_words(arena, 1);
    memset(poison->ones, 0xff, TS_VREG_BYTES);
    return poison;
}
