/* The program in the form that runs: operands as pointers, the instructions of a bundle with reads before
 * writes. */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "state.h"
#include "base/number.h"

#define ROW_VECTOR(id)      [TS_OP_##id] = core_run_vector,
#define ROW_OWN(id)         [TS_OP_##id] = core_run_##id,
#define ROW_SCALAR(id)      ROW_OWN(id)
#define ROW_CONTROL(id)     ROW_OWN(id)
#define ROW_MEMORY(id)      ROW_OWN(id)
#define ROW_TRANSFER(id)    ROW_OWN(id)
#define ROW_VECTOR_F32(id)  ROW_VECTOR(id)
#define ROW_VECTOR_I32(id)  ROW_VECTOR(id)
#define ROW_VECTOR_BF16(id) ROW_VECTOR(id)
#define ROW_VECTOR_MOVE(id) ROW_VECTOR(id)
#define ROW_MASK(id)        ROW_VECTOR(id)
#define ROW_EUP(id)         ROW_VECTOR(id)
#define ROW_CROSS(id)       ROW_VECTOR(id)
#define ROW_TRANSPOSE(id)   ROW_OWN(id)
#define ROW_MATRIX(id)      ROW_OWN(id)
static core_function *const functions[TS_OP_COUNT] = {
#define OPCODE(family, id, mnemonic, operands, slot, latency, shadow, flops, meaning) ROW_##family(id)
#include "isa/opcodes.def"
};

typedef struct member member;

typedef struct {
    ts_error *err;
    ts_arena *arena;
    ts_core *core;
    member *members;     /* of the bundle being decoded; room for as many as the machine has slots */
    core_op *ops, *tail; /* of the same */
    ts_vector_function *const *vectors;
    uint32_t **fills; /* constant vregs made so far */
    int fill_count;
} decoder;

/* ---- Operands ---- */

static uint32_t *new_vreg(ts_arena *arena, int count) {
    uintptr_t bytes = (uintptr_t)ts_arena_alloc(arena, (size_t)count * TS_VREG_BYTES + 64, 1);
    return (uint32_t *)((bytes + 63) / 64 * 64);
}

static const uint32_t *constant_word(decoder *dec, uint32_t word) {
    uint32_t *copy = TS_NEW(dec->arena, uint32_t);
    *copy = word;
    return copy;
}

static const uint32_t *constant_vreg(decoder *dec, uint32_t word) {
    if (dec->core->setup.time_only) return dec->core->scratch; /* as all vregs */
    for (int i = 0; i < dec->fill_count; i++)
        if (dec->fills[i][0] == word) return dec->fills[i];
    uint32_t *vreg = new_vreg(dec->arena, 1);
    ts_vector_fill(vreg, word);
    *TS_APPEND(dec->arena, dec->fills, dec->fill_count) = vreg;
    return vreg;
}

/* Do the numbers of an address fit what the core computes with? */
static bool address_fits(const ts_address *source) {
    const int64_t most = (int64_t)1 << 28;
    bool fits = source->word >= -most * most && source->word <= most * most && source->stride >= -most &&
                source->stride <= most && source->sublane_mask != 0;
    for (int i = 0; i < source->term_count; i++) {
        const ts_address_term *term = &source->terms[i];
        fits = fits && term->bias >= -most && term->bias <= most && term->divisor >= 1 &&
               term->modulus >= 0 && term->multiplier >= -most && term->multiplier <= most;
    }
    return fits;
}

static core_term decode_term(const ts_core *core, const ts_address_term *term) {
    bool power = (term->divisor & (term->divisor - 1)) == 0;
    int shift = power ? __builtin_ctzll((uint64_t)term->divisor) : -1;
    return (core_term){core->sregs + term->sreg, term->bias, term->divisor, term->modulus,
                       term->multiplier,         shift,      term->exact};
}

static bool decode_address(decoder *dec, const ts_instruction *instruction, const ts_address *source,
                           ts_space_kind space, core_op *op) {
    core_address *a = TS_NEW(dec->arena, core_address);
    if (!address_fits(source))
        return ts_instruction_error(dec->err, TS_ERROR_INPUT, instruction, "the address does not fit %s",
                                    ts_space_text(space));
    a->source = source;
    a->term_count = source->term_count;
    for (int i = 0; i < source->term_count; i++) a->terms[i] = decode_term(dec->core, &source->terms[i]);
    ts_address_reach(source, space, &a->low_bytes, &a->high_bytes);
    a->low_bytes *= 4;
    a->high_bytes *= 4;
    const ts_tensor *tensors = dec->core->setup.code->tensors;
    const ts_tensor *tensor = source->tensor >= 0 ? &tensors[source->tensor] : NULL;
    const ts_space *memory = space == TS_SPACE_VMEM ? dec->core->setup.vmem : dec->core->setup.smem;
    if (!memory)
        return ts_instruction_error(dec->err, TS_ERROR_INPUT, instruction, "this machine has no %s",
                                    ts_space_text(space));
    a->tensor_first = tensor ? tensor->base_bytes : 0;
    a->tensor_end = tensor ? tensor->base_bytes + tensor->bytes : memory->capacity_bytes;
    assert(a->tensor_first >= 0 && a->tensor_end <= memory->capacity_bytes);
    op->address = a;
    return true;
}

uint32_t *ts_core_register(ts_core *core, ts_operand_kind kind, int reg) {
    if (kind == TS_OPERAND_SREG) return core->sregs + reg;
    if (core->setup.time_only) return core->scratch; /* values of vectors are not computed */
    return kind == TS_OPERAND_VREG ? core->vregs + (ptrdiff_t)reg * TS_VREG_WORDS
                                   : core->vmasks + (ptrdiff_t)reg * TS_VREG_WORDS;
}

/* A source that is a register or a number. Where a vreg is wanted a scalar becomes a whole one. */
static const uint32_t *decode_source(decoder *dec, core_op *op, const ts_operand_class *class,
                                     const ts_operand *operand) {
    bool wants_vreg = class->accepts & (1u << TS_OPERAND_VREG);
    if (operand->kind == TS_OPERAND_INTEGER || operand->kind == TS_OPERAND_F32) {
        bool f32 = operand->kind == TS_OPERAND_F32;
        uint32_t word = f32 ? operand->as.f32_bits : (uint32_t)operand->as.integer;
        if (class->packed) word = ts_bf16_from_f32(ts_f32_from_bits(word)) * 0x10001u;
        return wants_vreg ? constant_vreg(dec, word) : constant_word(dec, word);
    }
    const uint32_t *words = ts_core_register(dec->core, operand->kind, operand->as.reg);
    if (wants_vreg && operand->kind == TS_OPERAND_SREG) {
        op->fill = dec->core->setup.time_only ? dec->core->scratch : new_vreg(dec->arena, 1);
        op->fill_from = words;
        return op->fill;
    }
    return words;
}

static bool decode_operand(decoder *dec, core_op *op, const ts_operand_class *class,
                           const ts_operand *operand, int *sources) {
    switch (operand->kind) {
    case TS_OPERAND_ADDRESS:
        return decode_address(dec, op->instruction, operand->as.address, class->space, op);
    case TS_OPERAND_SEMAPHORE:
        op->semaphore = &operand->as.semaphore;
        return true;
    case TS_OPERAND_LABEL:
        op->target = operand->as.label;
        return true;
    case TS_OPERAND_TRANSFER:
        return true;
    default:
        break;
    }
    if (class->written) {
        op->d = ts_core_register(dec->core, operand->kind, operand->as.reg);
        return true;
    }
    const uint32_t *words = decode_source(dec, op, class, operand);
    if (op->vector && !(class->accepts & (1u << TS_OPERAND_VREG | 1u << TS_OPERAND_VMASK)))
        op->scalar = words;
    else
        op->in[(*sources)++] = words;
    return true;
}

static bool decode_op(decoder *dec, const ts_instruction *instruction, core_op *op) {
    const ts_opcode_info *info = ts_opcode_get(instruction->opcode);
    int sources = 0;
    *op = (core_op){.run = functions[instruction->opcode], .instruction = instruction, .target = -1};
    op->vector = dec->vectors[instruction->opcode];
    if (instruction->mask >= 0) {
        op->mask = ts_core_register(dec->core, TS_OPERAND_VMASK, instruction->mask);
        op->run = op->vector ? core_run_vector_masked : op->run;
    }
    for (int i = 0; i < instruction->operand_count; i++)
        if (!decode_operand(dec, op, ts_opcode_operand(info, i), &instruction->operands[i], &sources))
            return false;
    return true;
}

/* ---- The order inside a bundle: who reads something goes before who writes it. ---- */

/* What an op reads and writes; each memory and the semaphores count as one shared state. */
struct member {
    core_op op;
    unsigned reads_state, writes_state; /* bits */
    uint64_t queues;     /* bits: ops that share one keep the order in which they are written */
    bool done, late;     /* late: the result is kept aside until all have read */
    ts_register_use use; /* the last, as it is long and fills itself */
};

enum { STATE_VMEM = 1, STATE_SMEM = 2, STATE_SEMAPHORE = 4 };
static const struct {
    ts_opcode opcode;
    unsigned reads, writes;
} shared_states[] = {
    {TS_OP_vld, STATE_VMEM, 0},           {TS_OP_vst, 0, STATE_VMEM},
    {TS_OP_sld, STATE_SMEM, 0},           {TS_OP_sst, 0, STATE_SMEM},
    {TS_OP_sem_read, STATE_SEMAPHORE, 0}, {TS_OP_sem_set, 0, STATE_SEMAPHORE},
    {TS_OP_sem_add, 0, STATE_SEMAPHORE},  {TS_OP_wait, 0, STATE_SEMAPHORE},
    {TS_OP_barrier, 0, STATE_SEMAPHORE},  {TS_OP_sem_signal, 0, STATE_SEMAPHORE},
};

static void find_shared_state(member *m) {
    for (size_t i = 0; i < sizeof(shared_states) / sizeof(shared_states[0]); i++) {
        if (shared_states[i].opcode == m->op.instruction->opcode) {
            m->reads_state = shared_states[i].reads;
            m->writes_state = shared_states[i].writes;
        }
    }
}

static bool reads_register(const member *m, ts_register r) {
    for (int i = 0; i < m->use.read_count; i++)
        if (m->use.reads[i].kind == r.kind && m->use.reads[i].reg == r.reg) return true;
    return false;
}

static bool through_state(const member *reader, const member *writer) {
    unsigned shared = reader->reads_state & writer->writes_state;
    ts_space_kind space = shared & STATE_VMEM ? TS_SPACE_VMEM : TS_SPACE_SMEM;
    return shared == STATE_SEMAPHORE ||
           (shared && ts_address_may_meet(reader->op.address->source, writer->op.address->source, space));
}

/* Whether `reader` must execute before `writer`, both being of one array. */
static bool precedes(const member *reader, const member *writer) {
    bool through_register =
        writer->use.writes && !writer->late && reads_register(reader, writer->use.written);
    bool in_order = reader < writer && (reader->queues & writer->queues);
    return through_register || in_order || through_state(reader, writer);
}

static bool is_free(const member *members, int count, int candidate) {
    for (int i = 0; i < count; i++)
        if (i != candidate && !members[i].done && precedes(&members[i], &members[candidate])) return false;
    return !members[candidate].done;
}

static int find_free(const member *members, int count) {
    for (int i = 0; i < count; i++)
        if (is_free(members, count, i)) return i;
    return -1;
}

/* In a ring of reads and writes some register is written: that result is kept aside. (Not every op of a ring
 * writes a register, but a store only waits for loads, and those do.) */
static void break_ring(member *members, int count) {
    for (int i = 0; i < count; i++) {
        if (!members[i].done && !members[i].late && members[i].use.writes) {
            members[i].late = true;
            return;
        }
    }
    assert(false);
}

static core_op copy_op(const core_op *like, ts_operand_kind kind, uint32_t *to, const uint32_t *from) {
    bool word = kind == TS_OPERAND_SREG;
    return (core_op){.run = word ? core_run_copy_word : core_run_copy_vreg,
                     .instruction = like->instruction,
                     .d = to,
                     .in = {from}};
}

/* Appends the op, its result aside if it is late; the copy back goes to `tail`. */
static void append(decoder *dec, member *m, core_op *ops, int *count, core_op *tail, int *tail_count) {
    ts_operand_kind kind = m->use.written.kind;
    bool nothing_to_keep = dec->core->setup.time_only && kind != TS_OPERAND_SREG;
    m->done = true;
    if (!m->op.run) return;
    if (m->late && !nothing_to_keep) {
        uint32_t *home = m->op.d;
        m->op.d = kind == TS_OPERAND_SREG ? TS_NEW(dec->arena, uint32_t) : new_vreg(dec->arena, 1);
        if (m->use.merges) ops[(*count)++] = copy_op(&m->op, kind, m->op.d, home);
        tail[(*tail_count)++] = copy_op(&m->op, kind, home, m->op.d);
    }
    ops[(*count)++] = m->op;
}

static int order(decoder *dec, member *members, int count, core_op *ops) {
    int op_count = 0, tail_count = 0;
    for (int left = count; left > 0; left--) {
        int next = find_free(members, count);
        while (next < 0) {
            break_ring(members, count);
            next = find_free(members, count);
        }
        append(dec, &members[next], ops, &op_count, dec->tail, &tail_count);
    }
    memcpy(ops + op_count, dec->tail, (size_t)tail_count * sizeof(dec->tail[0]));
    return op_count + tail_count;
}

/* ---- Bundles ---- */

/* Matrix and transpose instructions: their unit, what they wait for, and the order that they keep. */
static bool decode_unit(decoder *dec, member *m) {
    const ts_instruction *instruction = m->op.instruction;
    m->queues = ts_core_use_of(dec->core->setup.config, instruction).queues;
    switch (ts_opcode_get(instruction->opcode)->family) {
    case TS_FAMILY_MATRIX:
        if (!core_mxus_new(dec->err, dec->arena, dec->core, instruction) ||
            !core_matrix_check(dec->err, dec->core, instruction, &m->op.unit))
            return false;
        m->op.gate = instruction->opcode == TS_OP_mxu_pop    ? core_gate_mxu_pop
                     : instruction->opcode == TS_OP_mxu_take ? core_gate_mxu_take
                     : instruction->opcode == TS_OP_mxu_swap ? core_gate_mxu_swap
                                                             : NULL;
        return true;
    case TS_FAMILY_TRANSPOSE:
        core_transposer_new(dec->arena, dec->core);
        m->op.gate = instruction->opcode == TS_OP_vtr_pop ? core_gate_vtr_pop : NULL;
        return true;
    default:
        return true;
    }
}

static bool decode_bundle(decoder *dec, const ts_bundle *source, core_bundle *bundle) {
    const ts_code *code = dec->core->setup.code;
    if (!ts_bundle_check(dec->err, code, source, &dec->core->setup.config->limits)) return false;
    for (int i = 0; i < source->count; i++) {
        member *m = &dec->members[i];
        memset(m, 0, offsetof(member, use));
        ts_instruction_registers(code, &source->instructions[i], &m->use);
        if (!decode_op(dec, &source->instructions[i], &m->op)) return false;
        find_shared_state(m);
        if (!decode_unit(dec, m)) return false;
        core_loops_describe(dec->core, &source->instructions[i], &m->use, bundle);
        core_shadow_instruction(dec->arena, dec->core, &m->op);
    }
    if (!core_describe(dec->err, dec->arena, dec->core, source, bundle)) return false;
    bundle->op_count = order(dec, dec->members, source->count, dec->ops);
    core_op *ops = TS_COPY_ARRAY(dec->arena, dec->ops, bundle->op_count);
    bundle->ops = ops;
    core_shadow_bundle(dec->arena, dec->core, ops, bundle->op_count);
    for (int i = 0; i < bundle->op_count; i++) {
        bundle->wait = ops[i].instruction->opcode == TS_OP_wait ? &ops[i] : bundle->wait;
        bundle->gated |= ops[i].gate != NULL;
        bundle->unknowns |= ops[i].unknown != NULL;
    }
    return true;
}

/* ---- The state ---- */

static void new_registers(ts_arena *arena, ts_core *core) {
    const ts_isa_limits *limits = &core->setup.config->limits;
    int registers = ts_register_count(limits);
    core->sregs = TS_NEW_ARRAY(arena, uint32_t, limits->sregs);
    bool values = !core->setup.time_only;
    core->vregs = values ? new_vreg(arena, limits->vregs) : NULL;
    core->vmasks = values ? new_vreg(arena, limits->vmasks) : NULL;
    core->scratch = new_vreg(arena, 1);
    core->ready = TS_NEW_ARRAY(arena, int64_t, registers);
    core->all_registers = TS_NEW_ARRAY(arena, int, registers);
    core->ready_stall = TS_NEW_ARRAY(arena, int, registers);
}

/* As many stores as can be issued while one is on its way. */
static void new_stores(ts_arena *arena, ts_core *core) {
    const ts_core_config *config = core->setup.config;
    int64_t vector = config->latency_cycles[TS_LATENCY_VECTOR_STORE];
    int64_t scalar = config->latency_cycles[TS_LATENCY_SCALAR_STORE];
    const int *slots = config->limits.slots;
    core->store_room = (int)(ts_max(vector, scalar) * (slots[TS_SLOT_VST] + slots[TS_SLOT_SCALAR]));
    core->stores = TS_NEW_ARRAY(arena, core_store, core->store_room);
}

static void new_begin(ts_arena *arena, ts_core *core) {
    int most = 1;
    for (int i = 0; i < core->setup.code->transfer_count; i++) {
        const ts_transfer *transfer = &core->setup.code->transfers[i];
        int ranks = transfer->source.rank + transfer->destination.rank;
        most = ranks > most ? ranks : most;
    }
    core->begin = TS_NEW_ARRAY(arena, int64_t, most);
}

/* The bundles, by means of a scratch arena for what only decoding needs. */
static bool decode_bundles(decoder *dec, ts_arena *scratch) {
    ts_core *core = dec->core;
    const int *in_slot = core->setup.config->limits.slots;
    int slots = 0;
    for (int i = 0; i < TS_SLOT_COUNT; i++) slots += in_slot[i];
    dec->members = TS_NEW_ARRAY(scratch, member, slots);
    dec->tail = TS_NEW_ARRAY(scratch, core_op, slots);
    dec->ops = TS_NEW_ARRAY(scratch, core_op, 3 * slots);
    core_bundle *bundles = TS_NEW_ARRAY(dec->arena, core_bundle, core->bundle_count);
    for (int i = 0; i < core->bundle_count; i++)
        if (!decode_bundle(dec, &core->setup.code->bundles[i], &bundles[i])) return false;
    core->bundles = bundles;
    return true;
}

bool core_decode(ts_error *err, ts_arena *arena, ts_core *core) {
    decoder dec = {.err = err, .arena = arena, .core = core, .vectors = ts_vector_select()};
    core->copy = dec.vectors[TS_OP_vmov];
    core->select = dec.vectors[TS_OP_vsel];
    new_registers(arena, core);
    core_units_new(arena, core);
    new_stores(arena, core);
    new_begin(arena, core);
    core_loops_new(arena, core);
    core_shadow_new(arena, core);
    ts_arena *scratch = ts_arena_new();
    bool good = decode_bundles(&dec, scratch);
    ts_arena_free(scratch);
    return good;
}
