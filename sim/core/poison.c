/* How undefined values go through the registers. The rules follow the instructions bit by bit where an
 * instruction moves or combines bits, and word by word where it computes. */
#include "poison.h"

#include <assert.h>
#include <string.h>

#include "state.h"

/* ---- Words ---- */

static uint32_t whole(uint32_t word) { return word ? ~0u : 0; }
static uint32_t halves(uint32_t word) { return whole(word & 0xffff) >> 16 | whole(word >> 16) << 16; }
/* Fields of 2 * bits, each squeezed into bits, in the low half of the result. */
static uint32_t squeezed(uint32_t word, int bits) {
    uint32_t out = 0;
    for (int i = 0; i < 16 / bits; i++) {
        uint32_t field = word >> (2 * i * bits) & ((1u << 2 * bits) - 1);
        out |= field ? ((1u << bits) - 1) << (i * bits) : 0;
    }
    return out;
}
static bool any(const uint32_t *words) {
    uint32_t all = 0;
    for (int i = 0; i < TS_VREG_WORDS; i++) {
        all |= words[i];
    }
    return all != 0;
}

static void spread(const core_op *op, uint32_t *d, const uint32_t *a) {
    bool lanes = op->poison->rule == TS_SHADOW_LANES;
    uint32_t rows[TS_SUBLANES] = {0}, columns[TS_LANES] = {0};
    for (int i = 0; i < TS_VREG_WORDS; i++) {
        rows[i / TS_LANES] |= a[i];
        columns[i % TS_LANES] |= a[i];
    }
    for (int i = 0; i < TS_VREG_WORDS; i++) {
        uint32_t word = lanes ? rows[i / TS_LANES] : columns[i % TS_LANES];
        d[i] = op->poison->rule == TS_SHADOW_CARRY ? ~(word & (0u - word)) + 1u : whole(word);
    }
}

#define EACH_WORD for (int i = 0; i < TS_VREG_WORDS; i++)
static void apply(const core_op *op, uint32_t *d, const uint32_t *const *p) {
    const uint32_t *a = p[0], *b = p[1], *c = p[2];
    const uint32_t *va = op->in[0], *vb = op->in[1], *vc = op->in[2];
    int32_t n = op->scalar ? (int32_t)op->scalar[0] : 0;
    switch (op->poison->rule) {
    case TS_SHADOW_COPY:
        memcpy(d, a, TS_VREG_BYTES);
        return;
    case TS_SHADOW_MOVE:
        op->vector(d, a, b, c, n);
        return;
    case TS_SHADOW_FIELD:
        op->vector(d, a, b, c, n);
        EACH_WORD d[i] = whole(d[i]);
        return;
    case TS_SHADOW_SHIFT:
    case TS_SHADOW_GATHER:
        op->vector(d, a, vb, c, n);
        EACH_WORD d[i] |= whole(b[i]);
        return;
    case TS_SHADOW_AND:
        EACH_WORD d[i] = (a[i] & b[i]) | (a[i] & vb[i]) | (b[i] & va[i]);
        return;
    case TS_SHADOW_OR:
        EACH_WORD d[i] = (a[i] & b[i]) | (a[i] & ~vb[i]) | (b[i] & ~va[i]);
        return;
    case TS_SHADOW_XOR:
        EACH_WORD d[i] = a[i] | b[i];
        return;
    case TS_SHADOW_SELECT:
        EACH_WORD d[i] = (a[i] & (b[i] | c[i] | (vb[i] ^ vc[i]))) | (va[i] & b[i]) | (~va[i] & c[i]);
        return;
    case TS_SHADOW_PACK_WORDS:
        EACH_WORD d[i] = whole(a[i]) >> 16 | whole(b[i]) << 16;
        return;
    case TS_SHADOW_PACK_ROWS: { /* halves of ~0 are NaN */
        uint32_t low[TS_VREG_WORDS], high[TS_VREG_WORDS];
        EACH_WORD low[i] = whole(a[i]), high[i] = whole(b[i]);
        op->vector(d, low, high, c, n);
        EACH_WORD d[i] = halves(d[i]);
        return;
    }
    case TS_SHADOW_PACK_HALVES:
        EACH_WORD d[i] = squeezed(a[i], 8) | squeezed(b[i], 8) << 16;
        return;
    case TS_SHADOW_PACK_BYTES:
        EACH_WORD d[i] = squeezed(a[i], 4) | squeezed(b[i], 4) << 16;
        return;
    case TS_SHADOW_HALVES:
        EACH_WORD d[i] = halves(a[i] | b[i] | c[i]);
        return;
    case TS_SHADOW_LANES:
    case TS_SHADOW_SUBLANES:
    case TS_SHADOW_CARRY:
        spread(op, d, a);
        return;
    default:
        EACH_WORD d[i] = whole(a[i] | b[i] | c[i]);
        return;
    }
}

/* ---- Vregs ---- */

static const ts_instruction *origin_of(const core_shadow *shadow) {
    return shadow->origin ? *shadow->origin : NULL;
}

static const ts_instruction *scalar_origin(const core_op_poison *p) {
    for (int i = 0; i < p->scalar_count; i++) {
        if (*p->scalars[i]) {
            return *p->scalars[i];
        }
    }
    return NULL;
}

/* Where an undefined result would come from; NULL: all that goes in is defined. */
static const ts_instruction *cause_of(const core_op_poison *p) {
    const ts_instruction *cause = scalar_origin(p);
    for (int i = 0; !cause && i < TS_OPERANDS_MAX; i++) {
        cause = origin_of(&p->in[i]);
    }
    return cause ? cause : origin_of(&p->mask);
}

/* The new words go to the written register, under the op's mask. */
static void settle(const core_op *op, const uint32_t *words, const ts_instruction *cause) {
    const core_op_poison *p = op->poison;
    uint32_t *d = p->d.words;
    if (op->mask) {
        const uint32_t *unknown = p->mask.words;
        bool defined = !origin_of(&p->mask);
        EACH_WORD d[i] = (words[i] & op->mask[i]) | (d[i] & ~op->mask[i]) | (defined ? 0 : unknown[i]);
    } else {
        memcpy(d, words, TS_VREG_BYTES);
    }
    const ts_instruction *old = op->mask ? *p->d.origin : NULL;
    *p->d.origin = any(d) ? (cause ? cause : old) : NULL;
    assert(*p->d.origin || !any(d));
}

static void clear(const core_shadow *d) {
    if (*d->origin) {
        memset(d->words, 0, TS_VREG_BYTES);
        *d->origin = NULL;
    }
}

const uint32_t *core_poison_in(const ts_core *core, const core_op *op, int i) {
    const core_shadow *in = &op->poison->in[i];
    return origin_of(in) ? in->words : core->poison->zeros;
}

void core_poison_out(ts_core *core, const core_op *op, const uint32_t *words) {
    (void)core;
    settle(op, words, op->instruction);
}

static void run_vector(ts_core *core, const core_op *op) {
    const core_op_poison *p = op->poison;
    const ts_instruction *cause = p->rule == TS_SHADOW_DEFINED ? NULL : cause_of(p);
    if (!cause) {
        if (!op->mask) {
            clear(&p->d);
        } else if (*p->d.origin) {
            settle(op, core->poison->zeros, NULL);
        }
        return;
    }
    if (op->fill) {
        ts_vector_fill(op->fill, op->fill_from[0]);
    }
    const uint32_t *in[3];
    for (int i = 0; i < 3; i++) {
        in[i] = core_poison_in(core, op, i);
    }
    if (scalar_origin(p)) {
        settle(op, core->poison->ones, cause);
        return;
    }
    apply(op, core->poison->scratch, in);
    settle(op, core->poison->scratch, cause);
}

/* ---- Scalars ---- */

/* The first instruction to met an undefined value is the op itself when it comes from a vector. */
static void run_scalar(const core_op *op) {
    const core_op_poison *p = op->poison;
    const ts_instruction *cause = scalar_origin(p);
    if (!cause && origin_of(&p->in[0]) && p->in[0].words[0]) {
        cause = origin_of(&p->in[0]);
    }
    if (p->sreg) {
        *p->sreg = cause;
    }
}

static void check_controls(ts_core *core, const core_op *op) {
    const core_op_poison *p = op->poison;
    for (int i = 0; i < p->control_count; i++) {
        const ts_instruction *origin = *p->controls[i];
        ts_finding *finding =
            origin ? ts_findings_add(core->poison->findings, TS_FINDING_CONTROL, ts_place_of(op->instruction),
                                     ts_place_of(origin), core->now)
                   : NULL;
        if (finding) {
            ts_finding_describe(finding, "%s depends on s%d, which is undefined",
                                ts_opcode_get(op->instruction->opcode)->mnemonic, p->control_sregs[i]);
            finding->other_text = "this met the undefined value first";
        }
    }
}

/* ---- Memory ---- */

static bool row_of(const core_op *op, int64_t address, int i, int64_t *row) {
    const ts_address *source = op->address->source;
    *row = address + i * source->stride * TS_LANES * 4;
    return source->sublane_mask >> i & 1;
}

static void run_load(ts_core *core, const core_op *op, int64_t address) {
    const core_op_poison *p = op->poison;
    uint32_t *words = core->poison->scratch;
    const ts_instruction *cause = *p->d.origin;
    memcpy(words, p->d.words, TS_VREG_BYTES);
    for (int i = 0; i < TS_SUBLANES; i++) {
        int64_t row;
        if (row_of(op, address, i, &row) &&
            ts_space_get_poison(core->setup.vmem, row * 8, TS_LANES, words + i * TS_LANES)) {
            cause = op->instruction;
        }
    }
    if (cause || origin_of(&p->mask)) {
        settle(op, words, cause ? cause : origin_of(&p->mask));
    }
}

static void store_row(ts_core *core, const core_op *op, int64_t row, int i) {
    const core_op_poison *p = op->poison;
    const uint32_t *from = core_poison_in(core, op, 0) + i * TS_LANES;
    uint32_t words[TS_LANES];
    if (op->mask) {
        const uint32_t *mask = op->mask + i * TS_LANES;
        const uint32_t *unknown = (origin_of(&p->mask) ? p->mask.words : core->poison->zeros) + i * TS_LANES;
        ts_space_get_poison(core->setup.vmem, row * 8, TS_LANES, words);
        for (int k = 0; k < TS_LANES; k++) {
            words[k] = (from[k] & mask[k]) | (words[k] & ~mask[k]) | unknown[k];
        }
        from = words;
    }
    bool poisoned =
        (op->mask || origin_of(&p->in[0])) && ts_space_set_poison(core->setup.vmem, row * 8, TS_LANES, from);
    if (poisoned && cause_of(p)) {
        core->poison->rows[row / (TS_LANES * 4)] = (core_row_origin){op->instruction, cause_of(p)};
    } else if (!poisoned) {
        ts_space_mark(core->setup.vmem, row * 8, TS_LANES * 32, true);
    }
}

static void run_store(ts_core *core, const core_op *op, int64_t address) {
    for (int i = 0; i < TS_SUBLANES; i++) {
        int64_t row;
        if (row_of(op, address, i, &row)) {
            store_row(core, op, row, i);
        }
    }
}

static void run_scalar_load(ts_core *core, const core_op *op, int64_t address) {
    bool undefined = ts_space_find_poison(core->setup.smem, address * 8, 32) >= 0;
    *op->poison->sreg = undefined ? op->instruction : NULL;
}

static void run_scalar_store(ts_core *core, const core_op *op, int64_t address) {
    ts_space_mark(core->setup.smem, address * 8, 32, !scalar_origin(op->poison));
}

void core_poison_run(ts_core *core, const core_op *op) {
    const core_op_poison *p = op->poison;
    int64_t address = 0;
    check_controls(core, op);
    if (op->address && !core_address_find(NULL, core, op, &address)) {
        return; /* the op itself will say so */
    }
    switch (p->rule) {
    case TS_SHADOW_LOAD:
        run_load(core, op, address);
        return;
    case TS_SHADOW_STORE:
        run_store(core, op, address);
        return;
    case TS_SHADOW_VALUE_LOAD:
        run_scalar_load(core, op, address);
        return;
    case TS_SHADOW_VALUE_STORE:
        run_scalar_store(core, op, address);
        return;
    case TS_SHADOW_VALUE:
    case TS_SHADOW_FIRST_WORD:
        run_scalar(op);
        return;
    case TS_SHADOW_UNIT:
        return;
    default:
        if (p->d.words) {
            run_vector(core, op);
        }
        return;
    }
}

/* ---- Decoding ---- */

/* Results that are kept aside for the length of a bundle have shadows of their own. */
typedef struct aside {
    struct aside *next;
    const uint32_t *words;
    core_shadow shadow;
    const ts_instruction **sreg;
} aside;

typedef struct {
    ts_arena *arena;
    ts_core *core;
    aside *asides;
} shadow_decoder;

static uint32_t *new_words(ts_arena *arena, int vregs) {
    return TS_NEW_ARRAY(arena, uint32_t, (int64_t)vregs * TS_VREG_WORDS);
}

static bool in_file(const uint32_t *words, const uint32_t *file, int count, int size, int *reg) {
    uintptr_t at = (uintptr_t)words, first = (uintptr_t)file;
    if (at < first || at >= first + (uintptr_t)count * (uintptr_t)size * 4) {
        return false;
    }
    *reg = (int)((at - first) / ((uintptr_t)size * 4));
    return true;
}

static aside *aside_of(shadow_decoder *dec, const uint32_t *words) {
    for (aside *a = dec->asides; a; a = a->next) {
        if (a->words == words) {
            return a;
        }
    }
    aside *made = TS_NEW(dec->arena, aside);
    *made = (aside){dec->asides,
                    words,
                    {new_words(dec->arena, 1), TS_NEW(dec->arena, const ts_instruction *)},
                    TS_NEW(dec->arena, const ts_instruction *)};
    return dec->asides = made;
}

/* An empty shadow: a constant. `written`: a place that is none of the registers is one kept aside. */
static core_shadow vreg_shadow(shadow_decoder *dec, const uint32_t *words, bool written) {
    ts_core *core = dec->core;
    const ts_isa_limits *limits = &core->setup.config->limits;
    core_poison *p = core->poison;
    int reg;
    if (in_file(words, core->vregs, limits->vregs, TS_VREG_WORDS, &reg)) {
        return (core_shadow){p->vregs.words + (ptrdiff_t)reg * TS_VREG_WORDS, p->vregs.origin + reg};
    }
    if (in_file(words, core->vmasks, limits->vmasks, TS_VREG_WORDS, &reg)) {
        return (core_shadow){p->vmasks.words + (ptrdiff_t)reg * TS_VREG_WORDS, p->vmasks.origin + reg};
    }
    if (written) {
        return aside_of(dec, words)->shadow;
    }
    for (aside *a = dec->asides; a; a = a->next) {
        if (a->words == words) {
            return a->shadow;
        }
    }
    return (core_shadow){0};
}

static const ts_instruction **sreg_shadow(shadow_decoder *dec, const uint32_t *word) {
    ts_core *core = dec->core;
    int reg;
    if (in_file(word, core->sregs, core->setup.config->limits.sregs, 1, &reg)) {
        return core->poison->sregs + reg;
    }
    for (aside *a = dec->asides; a; a = a->next) {
        if (a->words == word) {
            return a->sreg;
        }
    }
    return NULL;
}

static void add_scalar(shadow_decoder *dec, core_op_poison *p, const uint32_t *word) {
    const ts_instruction **origin = word ? sreg_shadow(dec, word) : NULL;
    if (origin && p->scalar_count < TS_OPERANDS_MAX) {
        p->scalars[p->scalar_count++] = origin;
    }
}

static void add_control(shadow_decoder *dec, core_op_poison *p, int sreg) {
    if (sreg >= 0 && p->control_count < (int)(sizeof(p->controls) / sizeof(p->controls[0]))) {
        p->control_sregs[p->control_count] = sreg;
        p->controls[p->control_count++] = dec->core->poison->sregs + sreg;
    }
}

static void add_slice(shadow_decoder *dec, core_op_poison *p, const ts_slice *slice) {
    for (int i = 0; i < slice->rank; i++) {
        for (int k = 0; k < slice->begin[i].term_count; k++) {
            add_control(dec, p, slice->begin[i].terms[k].sreg);
        }
    }
}

/* Scalars that steer: addresses, branches, semaphores, the indices of a transfer. */
static void add_controls(shadow_decoder *dec, const core_op *op, core_op_poison *p) {
    const ts_instruction *instruction = op->instruction;
    bool steers = ts_opcode_get(instruction->opcode)->shadow == TS_SHADOW_CONTROL;
    for (int i = 0; op->address && i < op->address->term_count; i++) {
        add_control(dec, p, op->address->source->terms[i].sreg);
    }
    for (int i = 0; i < instruction->operand_count; i++) {
        const ts_operand *operand = &instruction->operands[i];
        if (operand->kind == TS_OPERAND_SREG && steers) {
            add_control(dec, p, operand->as.reg);
        }
        if (operand->kind == TS_OPERAND_SEMAPHORE) {
            add_control(dec, p, operand->as.semaphore.sreg);
        }
        if (operand->kind == TS_OPERAND_TRANSFER) {
            const ts_transfer *transfer = &dec->core->setup.code->transfers[operand->as.transfer];
            add_slice(dec, p, &transfer->source);
            add_slice(dec, p, &transfer->destination);
            add_control(dec, p, transfer->semaphore.sreg);
        }
    }
}

static bool writes_scalar(const core_op *op) {
    ts_shadow_rule rule = ts_opcode_get(op->instruction->opcode)->shadow;
    bool value = rule == TS_SHADOW_VALUE || rule == TS_SHADOW_VALUE_LOAD || rule == TS_SHADOW_FIRST_WORD;
    return op->run == core_run_copy_word || (value && op->d);
}

static void decode_one(shadow_decoder *dec, core_op *op) {
    core_op_poison *p = TS_NEW(dec->arena, core_op_poison);
    bool copy = op->run == core_run_copy_word || op->run == core_run_copy_vreg;
    bool scalar = writes_scalar(op);
    p->rule = !copy    ? ts_opcode_get(op->instruction->opcode)->shadow
              : scalar ? TS_SHADOW_VALUE
                       : TS_SHADOW_COPY;
    op->poison = p;
    if (op->d && scalar) {
        p->sreg = sreg_shadow(dec, op->d);
        p->sreg = p->sreg ? p->sreg : aside_of(dec, op->d)->sreg;
    } else if (op->d) {
        p->d = vreg_shadow(dec, op->d, true);
    }
    for (int i = 0; i < TS_OPERANDS_MAX; i++) {
        add_scalar(dec, p, op->in[i]);
        p->in[i] = op->in[i] ? vreg_shadow(dec, op->in[i], false) : (core_shadow){0};
    }
    add_scalar(dec, p, op->scalar);
    add_scalar(dec, p, op->fill_from);
    if (op->mask) {
        p->mask = vreg_shadow(dec, op->mask, false);
    }
    if (!copy) {
        add_controls(dec, op, p);
    }
}

void core_poison_decode(ts_arena *arena, ts_core *core, core_op *ops, int count) {
    shadow_decoder dec = {arena, core, NULL};
    for (int i = 0; i < count; i++) {
        decode_one(&dec, &ops[i]);
    }
}

static core_shadow new_file(ts_arena *arena, int count) {
    return (core_shadow){new_words(arena, count), TS_NEW_ARRAY(arena, const ts_instruction *, count)};
}

void core_poison_new(ts_arena *arena, ts_core *core) {
    const ts_isa_limits *limits = &core->setup.config->limits;
    core_poison *p = core->poison = TS_NEW(arena, core_poison);
    p->findings = core->setup.findings;
    p->vregs = new_file(arena, limits->vregs);
    p->vmasks = new_file(arena, limits->vmasks);
    p->sregs = TS_NEW_ARRAY(arena, const ts_instruction *, limits->sregs);
    p->rows = TS_NEW_ARRAY(arena, core_row_origin, core->setup.vmem->capacity_bytes / (TS_LANES * 4));
    p->zeros = new_words(arena, 1);
    p->ones = new_words(arena, 1);
    p->scratch = new_words(arena, 1);
    memset(p->ones, 0xff, TS_VREG_BYTES);
}
