/* Code over virtual registers: what spilling, scheduling and allocation make of it still computes the same, uses no more
 * registers than there are, and is no longer than it need be. */
#include <string.h>

#include "mosaic/graph.h"

#include "tests/support/cmocka.h"
#include "tests/support/group.h"
#include "tests/support/random_layout.h"
#include "tests/support/rounds.h"

enum { VREGS = 16, SREGS = 8, VMASKS = 4, WORDS = 64 };

static uint64_t seed;

static ts_core_config machine(void) {
    ts_core_config core = {
        .limits = {.slots = {2, 2, 1, 1, 1, 1, 2, 1}, .sregs = SREGS, .vregs = VREGS, .vmasks = VMASKS},
        .mxu = {.units = 2, .edge = 128, .staging = 2, .result_vregs = 4, .rate = {1, 1, 1, 1, 1}}};
    for (int i = 0; i < TS_LATENCY_COUNT; i++) core.latency_cycles[i] = core.occupancy_cycles[i] = 1;
    core.latency_cycles[TS_LATENCY_VECTOR_LOAD] = 10;
    core.latency_cycles[TS_LATENCY_VECTOR_ALU] = 2;
    core.latency_cycles[TS_LATENCY_MXU_PUSH] = 100;
    return core;
}

static mosaic_code *new_code(void) {
    mosaic_code *code = TS_NEW(arena, mosaic_code);
    code->arena = arena;
    mosaic_begin_block(code, 0);
    return code;
}

static ts_operand address(int tensor, int64_t word) {
    ts_address *a = TS_NEW(arena, ts_address);
    *a = (ts_address){.word = word * TS_VREG_WORDS, .tensor = tensor, .stride = 1, .sublane_mask = 0xff};
    return (ts_operand){TS_OPERAND_ADDRESS, {.address = a}};
}

/* At the word whose number a scalar is. */
static ts_operand indexed(int tensor, ts_operand sreg) {
    ts_operand o = address(tensor, 0);
    ts_address *a = TS_NEW(arena, ts_address);
    *a = *o.as.address;
    a->term_count = 1;
    a->terms[0] = (ts_address_term){.sreg = sreg.as.reg, .divisor = 1, .multiplier = 1};
    o.as.address = a;
    return o;
}

/* Behind `first`, by as many words as a scalar says. */
static ts_operand behind(int tensor, int64_t first, ts_operand sreg) {
    ts_operand o = indexed(tensor, sreg);
    ts_address *a = TS_NEW(arena, ts_address);
    *a = *o.as.address;
    a->word = first * TS_VREG_WORDS;
    a->terms[0].multiplier = TS_VREG_WORDS;
    o.as.address = a;
    return o;
}

static ts_operand reg(ts_operand_kind kind, int number) { return (ts_operand){kind, {.reg = number}}; }
static ts_operand label(int block) { return (ts_operand){TS_OPERAND_LABEL, {.label = block}}; }
static ts_operand number(int64_t n) { return (ts_operand){TS_OPERAND_INTEGER, {.integer = n}}; }

static ts_operand load_at(mosaic_code *code, ts_operand place) {
    ts_operand d = reg(TS_OPERAND_VREG, mosaic_register(code, TS_OPERAND_VREG));
    mosaic_add(code, TS_OP_vld, 2, (ts_operand[]){d, place});
    return d;
}

static ts_operand load(mosaic_code *code, int64_t word) { return load_at(code, address(0, word)); }

static ts_operand sum(mosaic_code *code, ts_operand a, ts_operand b) {
    ts_operand d = reg(TS_OPERAND_VREG, mosaic_register(code, TS_OPERAND_VREG));
    mosaic_add(code, TS_OP_vadd_i32, 3, (ts_operand[]){d, a, b});
    return d;
}

static void store(mosaic_code *code, ts_operand from, int64_t word) {
    mosaic_add(code, TS_OP_vst, 2, (ts_operand[]){address(1, word), from});
}

/* ---- A machine of one word a vreg ---- */

typedef struct {
    int64_t vregs[4096], sregs[4096], vmasks[4096], memory[4][4096]; /* masks: of its bits */
} little;

static int64_t *word_at(little *m, const ts_operand *o) {
    const ts_address *a = o->as.address;
    int space = a->tensor == MOSAIC_SPILL_VMEM ? 2 : a->tensor == MOSAIC_SPILL_SMEM ? 3 : a->tensor;
    int64_t word = a->word;
    for (int k = 0; k < a->term_count; k++) word += m->sregs[a->terms[k].sreg] * a->terms[k].multiplier;
    return &m->memory[space][space == 3 ? word : word / TS_VREG_WORDS];
}

static int64_t value_of(const little *m, const ts_operand *o) {
    return o->kind == TS_OPERAND_INTEGER ? o->as.integer
           : o->kind == TS_OPERAND_SREG  ? m->sregs[o->as.reg]
                                         : m->vregs[o->as.reg];
}

/* Blocks may jump back while an sreg counts. */
static void execute(little *m, const mosaic_code *code) {
    int b = 0, at = 0;
    for (int steps = 0; b < code->blocks.count && steps < 100000; steps++) {
        const mosaic_block *block = &code->blocks.items[b];
        if (at == block->list.count) {
            b++;
            at = 0;
            continue;
        }
        const ts_instruction *i = &block->list.items[at++];
        const ts_operand *o = i->operands;
        switch (i->opcode) {
        case TS_OP_vld:
            m->vregs[o[0].as.reg] = *word_at(m, &o[1]);
            break;
        case TS_OP_vst:
            *word_at(m, &o[0]) = m->vregs[o[1].as.reg];
            break;
        case TS_OP_sld:
            m->sregs[o[0].as.reg] = *word_at(m, &o[1]);
            break;
        case TS_OP_sst:
            *word_at(m, &o[0]) = value_of(m, &o[1]);
            break;
        case TS_OP_vmov: {
            int64_t mask = i->mask >= 0 ? m->vmasks[i->mask] : -1, *d = &m->vregs[o[0].as.reg];
            *d = (value_of(m, &o[1]) & mask) | (*d & ~mask);
            break;
        }
        case TS_OP_vcmp_lt_i32:
            m->vmasks[o[0].as.reg] = -(int64_t)(value_of(m, &o[1]) < value_of(m, &o[2]));
            break;
        case TS_OP_mbits:
            m->vmasks[o[0].as.reg] = value_of(m, &o[1]);
            break;
        case TS_OP_smov:
            m->sregs[o[0].as.reg] = value_of(m, &o[1]);
            break;
        case TS_OP_sadd:
            m->sregs[o[0].as.reg] = value_of(m, &o[1]) + value_of(m, &o[2]);
            break;
        case TS_OP_vadd_i32:
            m->vregs[o[0].as.reg] = value_of(m, &o[1]) + 3 * value_of(m, &o[2]);
            break;
        case TS_OP_br_lt:
            if (value_of(m, &o[0]) < value_of(m, &o[1])) {
                b = o[2].as.label;
                at = 0;
            }
            break;
        case TS_OP_jump:
            b = o[0].as.label;
            at = 0;
            break;
        default:
            fail_msg("%s is not executed", ts_opcode_get(i->opcode)->mnemonic);
        }
    }
}

static void check_registers(const mosaic_code *code) {
    for (int b = 0; b < code->blocks.count; b++) {
        for (int i = 0; i < code->blocks.items[b].list.count; i++) {
            const ts_instruction *in = &code->blocks.items[b].list.items[i];
            for (int k = 0; k < in->operand_count; k++) {
                ts_operand_kind kind = in->operands[k].kind;
                if (kind == TS_OPERAND_VREG) assert_in_range(in->operands[k].as.reg, 0, VREGS - 1);
                if (kind == TS_OPERAND_SREG) assert_in_range(in->operands[k].as.reg, 0, SREGS - 1);
                if (kind == TS_OPERAND_VMASK) assert_in_range(in->operands[k].as.reg, 0, VMASKS - 1);
            }
        }
    }
}

/* ---- Random code ---- */

static int below(int n) { return (int)random_below(&seed, (uint32_t)n); }

/* Loads, some of them at a place that moves, then sums of any that are there, then stores: more values than registers. Those of `carried` are changed in a
 * loop, which is block 1, or is cut into two or three, the last the branch alone. Not all values live beyond it, and some
 * are written again. */
static mosaic_code *random_code(void) {
    mosaic_code *code = new_code();
    ts_operand values[300] = {load(code, below(WORDS))}, carried[24],
               counter = reg(TS_OPERAND_SREG, mosaic_register(code, TS_OPERAND_SREG)),
               place = reg(TS_OPERAND_SREG, mosaic_register(code, TS_OPERAND_SREG));
    int count = 1, carried_count = below(24), loads = 1 + below(60), cut = below(100);
    mosaic_add(code, TS_OP_smov, 2, (ts_operand[]){counter, number(0)});
    mosaic_add(code, TS_OP_smov, 2, (ts_operand[]){place, number(below(9))});
    for (int i = 0; i < carried_count; i++) {
        carried[i] = reg(TS_OPERAND_VREG, mosaic_register(code, TS_OPERAND_VREG));
        mosaic_add(code, TS_OP_vmov, 2, (ts_operand[]){carried[i], number(i)});
    }
    while (count < loads) values[count++] = load(code, below(WORDS));
    int head = mosaic_begin_block(code, 1);
    for (int i = below(100); i > 0 && count < 300; i--) {
        if (i == cut) mosaic_begin_block(code, 1);
        ts_operand b = below(4) == 0 ? number(below(9)) : values[below(count)];
        ts_operand next = sum(code, values[below(count)], b);
        values[count++] = next;
        if (below(8) == 0) store(code, values[below(count)], below(WORDS));
        if (below(8) == 0)
            mosaic_add(code, TS_OP_vadd_i32, 3,
                       (ts_operand[]){values[count - 1 - below(count - loads)], values[below(count)], b});
        if (below(8) == 0) values[below(count)] = load(code, below(WORDS));
        if (below(4) == 0) values[below(count)] = load_at(code, behind(0, below(WORDS), place));
        if (below(8) == 0) mosaic_add(code, TS_OP_sadd, 3, (ts_operand[]){place, place, number(1)});
    }
    for (int i = 0; i < carried_count; i++)
        mosaic_add(code, TS_OP_vadd_i32, 3, (ts_operand[]){carried[i], carried[i], values[below(count)]});
    mosaic_add(code, TS_OP_sadd, 3, (ts_operand[]){counter, counter, number(1)});
    if (below(2) == 0) mosaic_begin_block(code, 1);
    mosaic_add(code, TS_OP_br_lt, 3, (ts_operand[]){counter, number(3), label(head)});
    mosaic_begin_block(code, 0);
    for (int i = below(3); i < loads; i++) store(code, values[i], i);
    for (int i = 0; i < carried_count; i++) store(code, carried[i], WORDS + i);
    return code;
}

/* Loads or stores of vregs that are spilled. */
static int64_t slot_count(const mosaic_code *code, ts_opcode opcode) {
    int64_t count = 0;
    for (int b = 0; b < code->blocks.count; b++) {
        for (int i = 0; i < code->blocks.items[b].list.count; i++) {
            const ts_instruction *in = &code->blocks.items[b].list.items[i];
            const ts_operand *o = in->opcode == opcode ? &in->operands[opcode == TS_OP_vld] : NULL;
            count += o && o->kind == TS_OPERAND_ADDRESS && o->as.address->tensor == MOSAIC_SPILL_VMEM;
        }
    }
    return count;
}

TEST(the_code_computes_the_same) {
    ts_core_config core = machine();
    static little before, after;
    for (int round = 0; round < rounds(200, 60); round++) {
        mosaic_spills spills;
        mosaic_bound bound;
        seed = (uint64_t)round * 77 + 5;
        memset(&before, 0, sizeof before);
        for (int i = 0; i < 3 * WORDS; i++) before.memory[0][i] = i * i + 1;
        memcpy(&after, &before, sizeof after);
        mosaic_code *code = random_code();
        execute(&before, code);
        mosaic_spill(code, &core, &spills);
        assert_int_equal(spills.loads, slot_count(code, TS_OP_vld));
        assert_int_equal(spills.stores, slot_count(code, TS_OP_vst));
        mosaic_schedule(code, &core, &bound);
        mosaic_share_slots(code, &spills);
        assert_true(mosaic_allocate(NULL, code, &core, &spills));
        check_registers(code);
        execute(&after, code);
        if (memcmp(before.memory[1], after.memory[1], sizeof before.memory[1]) != 0)
            fail_msg("seed %d", round);
        assert_true(bound.path_cycles <= bound.cycles + 16 && bound.slot_cycles <= bound.cycles);
    }
}

/* ---- Spills ---- */

TEST(values_that_fit_are_not_spilled) {
    ts_core_config core = machine();
    for (int count = 8; count <= 40; count += 32) {
        mosaic_code *code = new_code();
        mosaic_spills spills;
        ts_operand values[40];
        for (int i = 0; i < count; i++) values[i] = sum(code, load(code, i), number(1));
        for (int i = 0; i < count; i++) store(code, sum(code, values[i], values[count - 1 - i]), i);
        mosaic_spill(code, &core, &spills);
        assert_true(mosaic_allocate(NULL, code, &core, &spills));
        assert_int_equal(spills.stores > 0, count == 40);
        assert_int_equal(spills.loads > 0, count == 40);
        assert_int_equal(spills.vregs > 0, count == 40);
        check_registers(code);
    }
}

/* The first of all registers, too: value i is 103 i, and a sum takes what it adds three times. */
TEST(spilled_values_come_back) {
    enum { COUNT = 3 * VREGS };
    ts_core_config core = machine();
    static little m;
    mosaic_code *code = new_code();
    mosaic_spills spills;
    ts_operand values[COUNT];
    for (int i = 0; i < COUNT; i++) values[i] = sum(code, number(100 * i), number(i));
    for (int i = 0; i < COUNT; i++) store(code, sum(code, values[i], values[COUNT - 1 - i]), i);
    mosaic_spill(code, &core, &spills);
    assert_in_range(spills.stores, COUNT / 2 - VREGS, COUNT);
    mosaic_share_slots(code, &spills);
    assert_true(mosaic_allocate(NULL, code, &core, &spills));
    check_registers(code);
    memset(&m, 0, sizeof m);
    execute(&m, code);
    for (int i = 0; i < COUNT; i++) assert_int_equal(m.memory[1][i], 103 * (i + 3 * (COUNT - 1 - i)));
}

/* The one is stored on one way alone, the other on the other: both are there in the block before. */
TEST(values_of_two_ways_are_apart) {
    ts_core_config core = machine();
    static little m;
    for (int way = 0; way < 2; way++) {
        mosaic_code *code = new_code();
        mosaic_spills spills;
        ts_operand first = sum(code, number(10), number(0)), second = sum(code, number(20), number(0)),
                   which = reg(TS_OPERAND_SREG, mosaic_register(code, TS_OPERAND_SREG));
        mosaic_add(code, TS_OP_smov, 2, (ts_operand[]){which, number(way)});
        mosaic_add(code, TS_OP_br_lt, 3, (ts_operand[]){which, number(1), label(2)});
        mosaic_begin_block(code, 0);
        store(code, first, 1);
        mosaic_add(code, TS_OP_jump, 1, (ts_operand[]){label(3)});
        mosaic_begin_block(code, 0);
        store(code, second, 1);
        mosaic_begin_block(code, 0);
        store(code, sum(code, number(1), number(0)), 2);
        mosaic_spill(code, &core, &spills);
        assert_true(mosaic_allocate(NULL, code, &core, &spills));
        memset(&m, 0, sizeof m);
        execute(&m, code);
        assert_int_equal(m.memory[1][1], way == 0 ? 20 : 10);
        assert_int_equal(m.memory[1][2], 1);
    }
}

/* More than there are registers, from one block to the next, or into a loop: only the former get homes before the schedule.
 * Fewer keep what registers they have. */
TEST(values_between_blocks_are_scheduled) {
    static const struct {
        int count, depth;
        bool homed;
    } rows[] = {{VREGS, 0, false}, {VREGS + 1, 0, true}, {40, 0, true}, {40, 1, false}};
    ts_core_config core = machine();
    static little before, after;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        mosaic_code *code = new_code();
        mosaic_spills spills;
        mosaic_bound bound;
        ts_operand values[40] = {reg(TS_OPERAND_VREG, mosaic_register(code, TS_OPERAND_VREG))},
                   constant = reg(TS_OPERAND_VREG, mosaic_register(code, TS_OPERAND_VREG));
        mosaic_add(code, TS_OP_vmov, 2, (ts_operand[]){constant, number(7)});
        mosaic_add(code, TS_OP_vadd_i32, 3, (ts_operand[]){values[0], load(code, 0), constant});
        for (int i = 1; i < rows[r].count; i++) values[i] = sum(code, load(code, i), constant);
        mosaic_begin_block(code, rows[r].depth);
        for (int i = 0; i < rows[r].count; i++) store(code, sum(code, values[i], values[0]), i);
        mosaic_begin_block(code, 0);
        store(code, constant, 63);
        for (int i = 0; i < WORDS; i++) before.memory[0][i] = after.memory[0][i] = i * i + 1;
        execute(&before, code);
        mosaic_spill(code, &core, &spills);
        assert_true(spills.stores >= (rows[r].homed ? rows[r].count : 0));
        int *blocks = mosaic_find_blocks(code, arena);
        for (int i = 0; i < rows[r].count; i++)
            assert_int_equal(blocks[values[i].as.reg], rows[r].homed ? 1 : 2);
        assert_int_equal(blocks[constant.as.reg], 2);
        mosaic_schedule(code, &core, &bound);
        mosaic_share_slots(code, &spills);
        if (rows[r].homed) assert_in_range(spills.vregs, rows[r].count, spills.stores);
        assert_true(mosaic_allocate(NULL, code, &core, &spills));
        check_registers(code);
        execute(&after, code);
        assert_memory_equal(before.memory[1], after.memory[1], sizeof before.memory[1]);
    }
}

static void use(mosaic_code *code, ts_operand value, int64_t word) {
    if (value.kind == TS_OPERAND_VREG)
        store(code, value, word);
    else if (value.kind == TS_OPERAND_SREG)
        mosaic_add(code, TS_OP_sst, 2, (ts_operand[]){address(2, word), value});
    else
        mosaic_add(code, TS_OP_vmov, 2,
                   (ts_operand[]){reg(TS_OPERAND_VREG, mosaic_register(code, TS_OPERAND_VREG)), number(1)})
            ->mask = value.as.reg;
}

static ts_operand made(mosaic_code *code, ts_opcode opcode, ts_operand_kind kind, ts_operand from) {
    ts_operand d = reg(kind, mosaic_register(code, kind));
    mosaic_add(code, opcode, from.kind == TS_OPERAND_NONE ? 1 : 2, (ts_operand[]){d, from});
    return d;
}

/* What has no sources is made again where it is read, by both passes; what has one is stored. */
TEST(constants_are_made_again) {
    enum { COUNT = 40 };
    static const ts_operand none, f32 = {TS_OPERAND_F32, {0}};
    const struct {
        ts_opcode opcode;
        ts_operand_kind kind;
        int registers;
        ts_operand from;
        bool again;
    } rows[] = {
        {TS_OP_vmov, TS_OPERAND_VREG, VREGS, number(5), true},
        {TS_OP_vmov, TS_OPERAND_VREG, VREGS, f32, true},
        {TS_OP_vmov, TS_OPERAND_VREG, VREGS, reg(TS_OPERAND_VREG, 0), false},
        {TS_OP_viota_lane, TS_OPERAND_VREG, VREGS, none, true},
        {TS_OP_viota_sublane, TS_OPERAND_VREG, VREGS, none, true},
        {TS_OP_smov, TS_OPERAND_SREG, SREGS, number(5), true},
        {TS_OP_mall, TS_OPERAND_VMASK, VMASKS, none, true},
        {TS_OP_mnone, TS_OPERAND_VMASK, VMASKS, none, true},
        {TS_OP_mlanes, TS_OPERAND_VMASK, VMASKS, number(5), true},
        {TS_OP_msubs, TS_OPERAND_VMASK, VMASKS, number(5), true},
        {TS_OP_mbits, TS_OPERAND_VMASK, VMASKS, reg(TS_OPERAND_VREG, 0), false},
    };
    ts_core_config core = machine();
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        mosaic_code *code = new_code();
        mosaic_spills spills = {0};
        ts_operand values[COUNT];
        load(code, 0); /* register 0 */
        for (int i = 0; i < COUNT; i++) values[i] = made(code, rows[r].opcode, rows[r].kind, rows[r].from);
        for (int i = 0; i < COUNT; i++) use(code, values[i], i);
        assert_true(mosaic_allocate(NULL, code, &core, &spills));
        if ((spills.stores == 0) != rows[r].again) fail_msg("row %zu: %d stores", r, (int)spills.stores);
        if (rows[r].again) assert_in_range(spills.again, COUNT - rows[r].registers, COUNT);
    }
}

/* All are there from the middle on: the sums have the first pass store what it cannot make again. */
TEST(constants_are_not_stored_before_the_schedule) {
    enum { COUNT = 40 };
    static const ts_operand f32 = {TS_OPERAND_F32, {0}};
    const struct {
        ts_operand from;
        bool again;
    } rows[] = {{number(5), true}, {f32, true}, {reg(TS_OPERAND_VREG, 0), false}};
    ts_core_config core = machine();
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        mosaic_code *code = new_code();
        mosaic_spills spills;
        ts_operand values[COUNT];
        load(code, 0);
        for (int i = 0; i < COUNT; i++) values[i] = made(code, TS_OP_vmov, TS_OPERAND_VREG, rows[r].from);
        for (int i = 0; i < COUNT; i++) store(code, sum(code, values[i], values[COUNT - 1 - i]), i);
        mosaic_spill(code, &core, &spills);
        if ((spills.stores == 0) != rows[r].again) fail_msg("row %zu: %d stores", r, (int)spills.stores);
    }
}

/* What a merge reads, and its mask, are there for what comes later. */
TEST(merges_leave_what_they_read) {
    static little m;
    ts_core_config core = machine();
    mosaic_code *code = new_code();
    mosaic_spills spills = {0};
    ts_operand values[VREGS + 8], mask = reg(TS_OPERAND_VMASK, mosaic_register(code, TS_OPERAND_VMASK));
    for (int i = 0; i < 4; i++) values[i] = load(code, i);
    mosaic_add(code, TS_OP_vcmp_lt_i32, 3, (ts_operand[]){mask, values[0], number(50)});
    mosaic_add(code, TS_OP_vmov, 2, (ts_operand[]){values[0], values[1]})->mask = mask.as.reg;
    for (int i = 4; i < VREGS + 8; i++) values[i] = load(code, i);
    for (int i = 4; i < VREGS + 8; i++) store(code, values[i], i);
    mosaic_add(code, TS_OP_vmov, 2, (ts_operand[]){values[2], values[1]})->mask = mask.as.reg;
    for (int i = 0; i < 4; i++) store(code, values[i], i);
    assert_true(mosaic_allocate(NULL, code, &core, &spills));
    check_registers(code);
    memset(&m, 0, sizeof m);
    for (int i = 0; i < VREGS + 8; i++) m.memory[0][i] = i * i + 1;
    execute(&m, code);
    for (int i = 0; i < VREGS + 8; i++) assert_int_equal(m.memory[1][i], i == 0 || i == 2 ? 2 : i * i + 1);
}

/* Each of the first values is another one where its mask says so; masks that have no register are spilled as vregs. */
TEST(masks_are_spilled) {
    static little m;
    ts_core_config core = machine();
    for (int count = VMASKS; count < VREGS; count += 5) {
        mosaic_code *code = new_code();
        mosaic_spills spills = {0};
        ts_operand values[VREGS], masks[VREGS];
        for (int i = 0; i < VREGS; i++) values[i] = load(code, i);
        for (int i = 0; i < count; i++) {
            masks[i] = reg(TS_OPERAND_VMASK, mosaic_register(code, TS_OPERAND_VMASK));
            mosaic_add(code, TS_OP_vcmp_lt_i32, 3, (ts_operand[]){masks[i], values[i], number(50)});
        }
        for (int i = 0; i < count; i++)
            mosaic_add(code, TS_OP_vmov, 2, (ts_operand[]){values[i], number(100 + i)})->mask =
                masks[i].as.reg;
        for (int i = 0; i < VREGS; i++) store(code, values[i], i);
        assert_true(mosaic_allocate(NULL, code, &core, &spills));
        check_registers(code);
        memset(&m, 0, sizeof m);
        for (int i = 0; i < VREGS; i++) m.memory[0][i] = i * i + 1;
        execute(&m, code);
        for (int i = 0; i < VREGS; i++)
            assert_int_equal(m.memory[1][i], i < count && i * i + 1 < 50 ? 100 + i : i * i + 1);
        assert_int_equal(spills.stores > 0, count > VMASKS);
    }
}

/* Two values may be made in a cycle, and one is used: they are not made so early that they are spilled. */
TEST(schedules_keep_to_the_registers) {
    static const struct {
        ts_operand_kind kind;
        ts_opcode opcode;
    } rows[] = {{TS_OPERAND_VREG, TS_OP_vadd_i32},
                {TS_OPERAND_SREG, TS_OP_sadd},
                {TS_OPERAND_VMASK, TS_OP_vcmp_lt_i32}};
    ts_core_config core = machine();
    for (int r = 0; r < 3; r++) {
        mosaic_code *code = new_code();
        mosaic_spills spills;
        mosaic_bound bound;
        ts_operand scalar = reg(TS_OPERAND_SREG, mosaic_register(code, TS_OPERAND_SREG)),
                   vector = load(code, 0);
        mosaic_add(code, TS_OP_sld, 2, (ts_operand[]){scalar, address(3, 0)});
        for (int i = 0; i < 6 * VREGS; i++) {
            ts_operand d = reg(rows[r].kind, mosaic_register(code, rows[r].kind)),
                       from = rows[r].kind == TS_OPERAND_SREG ? scalar : vector;
            mosaic_add(code, rows[r].opcode, 3, (ts_operand[]){d, from, number(i)});
            ts_instruction *used =
                mosaic_add(code, TS_OP_vst, 2,
                           (ts_operand[]){d.kind == TS_OPERAND_SREG ? indexed(1, d) : address(1, i),
                                          d.kind == TS_OPERAND_VREG ? d : vector});
            if (d.kind == TS_OPERAND_VMASK) used->mask = d.as.reg;
        }
        mosaic_spill(code, &core, &spills);
        mosaic_schedule(code, &core, &bound);
        assert_true(mosaic_allocate(NULL, code, &core, &spills));
        check_registers(code);
        if (spills.stores + spills.loads > 0) fail_msg("row %d: %d stores", r, (int)spills.stores);
    }
}

/* Twice as many values, of which no more are there at one time, take no more slots. */
TEST(slots_are_used_again) {
    enum { COUNT = VREGS + 5 };
    ts_core_config core = machine();
    int vregs[2];
    for (int times = 1; times <= 2; times++) {
        mosaic_code *code = new_code();
        mosaic_spills spills = {0};
        for (int k = 0; k < times; k++) {
            ts_operand values[COUNT];
            for (int i = 0; i < COUNT; i++) values[i] = load(code, i);
            for (int i = 0; i < COUNT; i++) store(code, values[i], i);
        }
        assert_true(mosaic_allocate(NULL, code, &core, &spills));
        vregs[times - 1] = spills.vregs;
    }
    assert_in_range(vregs[0], COUNT - VREGS, COUNT);
    assert_int_equal(vregs[1], vregs[0]);
}

static ts_operand scalar(mosaic_code *code, int64_t word) {
    ts_operand d = reg(TS_OPERAND_SREG, mosaic_register(code, TS_OPERAND_SREG));
    mosaic_add(code, TS_OP_sld, 2, (ts_operand[]){d, address(2, word)});
    return d;
}

/* What goes from the first block to the second leaves all registers to the third. */
TEST(registers_between_blocks_are_given_back) {
    enum { BETWEEN = 3 };
    ts_core_config core = machine();
    mosaic_code *code = new_code();
    mosaic_spills spills = {0};
    ts_operand values[SREGS];
    for (int i = 0; i < BETWEEN; i++) values[i] = scalar(code, i);
    mosaic_begin_block(code, 0);
    for (int i = 0; i < BETWEEN; i++)
        mosaic_add(code, TS_OP_sst, 2, (ts_operand[]){address(2, 9), values[i]});
    mosaic_begin_block(code, 0);
    for (int i = 0; i < SREGS; i++) values[i] = scalar(code, i);
    for (int i = 0; i < SREGS; i++) mosaic_add(code, TS_OP_sst, 2, (ts_operand[]){address(2, 9), values[i]});
    assert_true(mosaic_allocate(NULL, code, &core, &spills));
    check_registers(code);
    assert_int_equal(spills.stores, 0);
}

/* Six of a slot each, of which the second is there until the end: as many slots as are needed at one time, those that
 * have been free for longest first. */
TEST(slots_are_shared) {
    static const int first[] = {0, 1, 2, 2, 3, 3, 0, 4, 4, 5, 5, 1},
                     shared[] = {0, 1, 2, 2, 2, 2, 0, 2, 2, 0, 0, 1};
    enum { ACCESSES = sizeof first / sizeof first[0] };
    for (int block = 0; block < 2; block++) {
        mosaic_code *code = new_code();
        mosaic_spills spills = {.vregs = 6};
        bool written[6] = {0};
        if (block > 0) mosaic_begin_block(code, 0);
        for (int i = 0; i < ACCESSES; i++) {
            ts_operand value = reg(TS_OPERAND_VREG, mosaic_register(code, TS_OPERAND_VREG)),
                       at = address(MOSAIC_SPILL_VMEM, first[i]);
            if (written[first[i]])
                mosaic_add(code, TS_OP_vld, 2, (ts_operand[]){value, at});
            else
                mosaic_add(code, TS_OP_vst, 2, (ts_operand[]){at, value});
            written[first[i]] = true;
        }
        mosaic_share_slots(code, &spills);
        assert_int_equal(spills.vregs, 3);
        for (int i = 0; i < ACCESSES; i++) {
            const ts_operand *o = code->blocks.items[block].list.items[i].operands;
            assert_int_equal(o[o[0].kind != TS_OPERAND_ADDRESS].as.address->word, shared[i] * TS_VREG_WORDS);
        }
    }
}

/* ---- Order ---- */

TEST(loads_run_ahead) {
    ts_core_config core = machine();
    mosaic_code *code = new_code();
    mosaic_bound bound;
    for (int i = 0; i < 4; i++) store(code, sum(code, load(code, i), number(1)), i);
    mosaic_schedule(code, &core, &bound);
    assert_int_equal(bound.instructions, 12);
    assert_int_equal(bound.slot_cycles, 4);          /* of loads, and of stores */
    assert_int_equal(bound.path_cycles, 10 + 2 + 1); /* load, sum, store */
    assert_int_equal(bound.cycles, 3 + 10 + 2 + 1);
    for (int i = 0; i < 4; i++) assert_int_equal(code->blocks.items[0].list.items[i].opcode, TS_OP_vld);
}

/* No more in a cycle than slots: two matrix units have ports for two pushes, and one slot for both. */
TEST(slots_bound_the_schedule) {
    ts_core_config core = machine();
    for (int slots = 1; slots <= 2; slots++) {
        mosaic_code *code = new_code();
        mosaic_bound bound;
        ts_operand from = load(code, 0);
        core.limits.slots[TS_SLOT_MXU] = slots;
        for (int i = 0; i < 8; i++)
            mosaic_add(code, TS_OP_mxu_push_f32, 2, (ts_operand[]){number(i % 2), from});
        mosaic_schedule(code, &core, &bound);
        assert_int_equal(bound.slot_cycles, 8 / slots);
        assert_int_equal(bound.cycles, 10 + 8 / slots);
    }
}

/* The one load unit takes a load in three cycles. */
TEST(busy_units_bound_the_schedule) {
    ts_core_config core = machine();
    mosaic_code *code = new_code();
    mosaic_bound bound;
    core.occupancy_cycles[TS_LATENCY_VECTOR_LOAD] = 3;
    for (int i = 0; i < 4; i++) (void)load(code, i);
    mosaic_schedule(code, &core, &bound);
    assert_int_equal(bound.cycles, 3 * 3 + 1);
}

/* However long it waits: what is empty is not gone through cycle by cycle, which would take hours. */
TEST(long_waits_are_passed_over) {
    enum { COUNT = 64, WAIT = 1 << 30 };
    for (int k = 0; k < 2; k++) {
        ts_core_config core = machine();
        mosaic_code *code = new_code();
        mosaic_bound bound;
        (k ? core.occupancy_cycles : core.latency_cycles)[TS_LATENCY_VECTOR_ALU] = WAIT;
        ts_operand a = load(code, 0);
        for (int i = 0; i < COUNT; i++) {
            ts_operand d = reg(TS_OPERAND_VREG, mosaic_register(code, TS_OPERAND_VREG));
            mosaic_add(code, TS_OP_vadd_f32, 3, (ts_operand[]){d, a, a});
            if (k == 0) a = d;
        }
        mosaic_schedule(code, &core, &bound);
        int64_t waits =
            k ? COUNT / core.limits.slots[TS_SLOT_VALU] : COUNT; /* units, or one behind the other */
        assert_int_equal(bound.cycles, 10 + (waits - 1) * WAIT + 1);
    }
}

TEST(memory_keeps_its_order) {
    ts_core_config core = machine();
    mosaic_code *code = new_code();
    ts_operand a = load(code, 0);
    mosaic_add(code, TS_OP_vst, 2, (ts_operand[]){address(0, 1), a});
    ts_operand b = load(code, 1), c = load(code, 2);
    store(code, b, 0);
    store(code, c, 1);
    graph *g =
        graph_new(arena, code, &core, code->blocks.items[0].list.items, code->blocks.items[0].list.count);
    assert_int_equal(g->nodes[2].waits_for, 1); /* the store before it */
    assert_int_equal(g->nodes[3].waits_for, 0);
    assert_true(graph_is_changed(g, 2));
    assert_false(graph_is_changed(g, 3));
    mosaic_add(code, TS_OP_wait, 1,
               (ts_operand[]){{TS_OPERAND_SEMAPHORE, {.semaphore = {.count = 1, .sreg = -1}}}});
    g = graph_new(arena, code, &core, code->blocks.items[0].list.items, code->blocks.items[0].list.count);
    assert_true(graph_is_changed(g, 3));
    assert_int_equal(g->nodes[6].waits_for, 6);
}

/* The queue of the unit holds 4 results: the fifth push waits for the first pop. */
TEST(queues_have_room) {
    ts_core_config core = machine();
    mosaic_code *code = new_code();
    mosaic_bound bound;
    ts_operand a = load(code, 0), unit = number(0);
    mosaic_add(code, TS_OP_mxu_swap, 1, &unit);
    for (int i = 0; i < 4; i++) mosaic_add(code, TS_OP_mxu_push_f32, 2, (ts_operand[]){unit, a});
    for (int i = 0; i < 4; i++) {
        ts_operand d = reg(TS_OPERAND_VREG, mosaic_register(code, TS_OPERAND_VREG));
        mosaic_add(code, TS_OP_mxu_pop, 2, (ts_operand[]){d, unit});
        mosaic_add(code, TS_OP_mxu_push_f32, 2, (ts_operand[]){unit, a});
        store(code, d, i);
    }
    mosaic_schedule(code, &core, &bound);
    int pushed = 0, popped = 0;
    for (int i = 0; i < code->blocks.items[0].list.count; i++) {
        pushed += code->blocks.items[0].list.items[i].opcode == TS_OP_mxu_push_f32;
        popped += code->blocks.items[0].list.items[i].opcode == TS_OP_mxu_pop;
        assert_in_range(pushed - popped, 0, 4);
    }
    assert_int_equal(pushed, 8);
    assert_int_equal(bound.cycles, 10 + 100 + 3 + 1 + 1); /* load, push, the fourth pop, store */
}

static ts_operand pop(mosaic_code *code, int unit) {
    ts_operand d = reg(TS_OPERAND_VREG, mosaic_register(code, TS_OPERAND_VREG));
    mosaic_add(code, TS_OP_mxu_pop, 2, (ts_operand[]){d, number(unit)});
    return d;
}

/* Of 256 columns the second 128 are pushed late, and no result of the rows comes before. */
TEST(results_wait_for_all_columns) {
    ts_core_config core = machine();
    mosaic_code *code = new_code();
    mosaic_bound bound;
    ts_operand a = load(code, 0), late = a;
    core.mxu.edge = 2 * TS_LANES;
    for (int i = 0; i < 100; i++) late = sum(code, late, late);
    mosaic_add(code, TS_OP_mxu_push_bf16, 2, (ts_operand[]){number(0), a});
    mosaic_add(code, TS_OP_mxu_push_bf16, 2, (ts_operand[]){number(0), late});
    for (int i = 0; i < 4; i++) store(code, pop(code, 0), i);
    mosaic_schedule(code, &core, &bound);
    for (int i = 0, pushed = 0; i < code->blocks.items[0].list.count; i++) {
        pushed += code->blocks.items[0].list.items[i].opcode == TS_OP_mxu_push_bf16;
        if (code->blocks.items[0].list.items[i].opcode == TS_OP_mxu_pop) assert_int_equal(pushed, 2);
    }
    assert_int_equal(bound.cycles,
                     10 + 100 * 2 + 100 + 3 + 1 + 1); /* load, sums, push, the fourth pop, store */
}

/* From one instruction to a later one: its latency, -1: none. */
static int edge_of(const graph *g, int from, int to) {
    for (int e = g->nodes[from].first_edge; e >= 0; e = g->edges.items[e].next)
        if (g->edges.items[e].to == to) return g->edges.items[e].latency;
    return -1;
}

typedef struct {
    int from, to, latency;
} edge;

static const graph *graph_of(mosaic_code *code, const ts_core_config *core, const edge *edges, size_t count) {
    mosaic_block *block = &code->blocks.items[0];
    const graph *g = graph_new(arena, code, core, block->list.items, block->list.count);
    for (size_t i = 0; i < count; i++)
        if (edge_of(g, edges[i].from, edges[i].to) != edges[i].latency)
            fail_msg("%d to %d: %d, expected %d", edges[i].from, edges[i].to,
                     edge_of(g, edges[i].from, edges[i].to), edges[i].latency);
    return g;
}

/* Registers: a write waits for reads, which may issue with it, and for a write that nothing reads. Units: of three tiles
 * the third is latched when the first is in use, as one waits; all goes in the order of the text, a cycle apart. */
TEST(units_and_registers_have_an_order) {
    static const edge registers[] = {{0, 1, 10}, {1, 2, 0}, {0, 2, -1}, {2, 3, 1}, {3, 4, 2}},
                      units[] = {{1, 2, 1}, {2, 3, 1}, {2, 4, 1}, {1, 4, 1}, {3, 5, 1},
                                 {4, 5, 1}, {2, 5, 1}, {5, 6, 1}, {2, 6, -1}};
    ts_core_config core = machine();
    mosaic_code *code = new_code();
    ts_operand unused = reg(TS_OPERAND_VREG, mosaic_register(code, TS_OPERAND_VREG)), unit = number(0);
    ts_operand a = load(code, 0);
    store(code, a, 0);
    mosaic_add(code, TS_OP_vmov, 2, (ts_operand[]){a, number(1)});
    mosaic_add(code, TS_OP_vmov, 2, (ts_operand[]){a, number(2)});
    ts_operand both = sum(code, unused, a);
    const graph *g = graph_of(code, &core, registers, sizeof registers / sizeof registers[0]);
    assert_int_equal(g->nodes[4].read_count, 2);
    assert_int_equal(g->nodes[4].reads[0], unused.as.reg);
    assert_int_equal(g->nodes[4].reads[1], a.as.reg);
    assert_int_equal(g->nodes[4].written, both.as.reg);
    code = new_code();
    a = load(code, 0);
    for (int i = 0; i < 2; i++) {
        mosaic_add(code, TS_OP_mxu_latch_f32, 2, (ts_operand[]){unit, a});
        mosaic_add(code, TS_OP_mxu_swap, 1, &unit);
        if (i == 0) mosaic_add(code, TS_OP_mxu_push_f32, 2, (ts_operand[]){unit, a});
    }
    mosaic_add(code, TS_OP_mxu_latch_f32, 2, (ts_operand[]){unit, a});
    graph_of(code, &core, units, sizeof units / sizeof units[0]);
}

/* A push of narrower values makes more results: of 4 that there is room for, as many pushes go before a pop. */
TEST(narrow_pushes_fill_the_queue) {
    static const struct {
        ts_opcode opcode;
        int rows;
    } rows[] = {{TS_OP_mxu_push_f32, 1},
                {TS_OP_mxu_push_bf16, 2},
                {TS_OP_mxu_push_i8, 4},
                {TS_OP_mxu_push_f8e5m2, 4},
                {TS_OP_mxu_push_i4, 8}};
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        ts_core_config core = machine();
        mosaic_code *code = new_code();
        ts_operand a = load(code, 0);
        core.mxu.result_vregs = 8;
        int pushes = 8 / rows[r].rows;
        for (int i = 0; i < pushes; i++) mosaic_add(code, rows[r].opcode, 2, (ts_operand[]){number(0), a});
        for (int i = 0; i < 8; i++) pop(code, 0);
        mosaic_add(code, rows[r].opcode, 2,
                   (ts_operand[]){number(0), a}); /* waits for the pops that it fills */
        int last = 1 + pushes + 8;
        const edge edges[] = {{pushes + rows[r].rows, last, 1}, /* the pop that makes room */
                              {1, pushes + 1, 100},
                              {1, pushes + rows[r].rows, 100},
                              {1, pushes + rows[r].rows + 1, -1}};
        graph_of(code, &core, edges, pushes > 1 ? 4 : 3);
    }
}

/* Results of two units come twice, and only the sums wait for the second time. */
TEST(results_are_added_as_they_come) {
    enum { COUNT = 8 };
    ts_core_config core = machine();
    mosaic_code *code = new_code();
    mosaic_spills spills;
    ts_operand sums[COUNT];
    core.mxu.result_vregs = 64;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT; i++) {
            ts_operand a = pop(code, 0), b;
            sums[i] = round > 0 ? sum(code, a, sums[i]) : a;
            b = pop(code, 1);
            sums[i] = sum(code, b, sums[i]);
        }
    }
    for (int i = 0; i < COUNT; i++) store(code, sums[i], i);
    mosaic_spill(code, &core, &spills);
    assert_int_equal(spills.stores, 0);
    int pops = 0;
    for (int i = 0; i < code->blocks.items[0].list.count; i++) {
        const ts_instruction *in = &code->blocks.items[0].list.items[i];
        pops += in->opcode == TS_OP_mxu_pop;
        if (in->opcode == TS_OP_vst)
            assert_int_equal(pops, 2 * COUNT + 2 + 2 * in->operands[0].as.address->word / TS_VREG_WORDS);
    }
}

/* An address that a later instruction changes does not bring the loads before what uses them. */
TEST(new_scalars_come_last) {
    ts_core_config core = machine();
    mosaic_code *code = new_code();
    ts_operand slot = reg(TS_OPERAND_SREG, mosaic_register(code, TS_OPERAND_SREG)), loaded[4];
    for (int i = 0; i < 4; i++) {
        loaded[i] = load(code, i);
        ts_address *a = (ts_address *)(uintptr_t)code->blocks.items[0].list.items[i].operands[1].as.address;
        a->terms[0].sreg = slot.as.reg;
        a->term_count = 1;
    }
    mosaic_add(code, TS_OP_sadd, 3, (ts_operand[]){slot, slot, number(1)});
    for (int i = 0; i < 4; i++) mosaic_add(code, TS_OP_mxu_push_f32, 2, (ts_operand[]){number(0), loaded[i]});
    for (int i = 0; i < 4; i++) store(code, pop(code, 0), i);
    int count = code->blocks.items[0].list.count, order[32];
    graph *g = graph_new(arena, code, &core, code->blocks.items[0].list.items, count);
    graph_depth_first(g, order);
    assert_int_equal(order[4], count - 1); /* sadd */
    for (int i = 0; i < 4; i++) {
        assert_int_equal(order[i], 2 * i); /* a load, its push, .. */
        assert_int_equal(order[5 + i], 2 * i + 1);
    }
}

/* With what is computed of them alone; not where a store reads one, nor arithmetic that reads none. */
TEST(loads_that_nothing_reads_go) {
    mosaic_code *code = new_code();
    ts_operand s[8];
    for (int i = 8; i-- > 0;) /* s[3], which nothing reads, is number 0 */
        s[(i + 4) % 8] = reg(TS_OPERAND_SREG, mosaic_register(code, TS_OPERAND_SREG));
    mosaic_add(code, TS_OP_smov, 2, (ts_operand[]){s[0], number(3)});
    mosaic_add(code, TS_OP_sld, 2, (ts_operand[]){s[1], address(2, 1)}); /* goes */
    mosaic_add(code, TS_OP_sld, 2, (ts_operand[]){s[2], address(2, 2)}); /* goes, with the next */
    mosaic_add(code, TS_OP_sadd, 3, (ts_operand[]){s[3], s[2], s[0]});
    mosaic_add(code, TS_OP_sld, 2, (ts_operand[]){s[4], address(2, 3)});
    mosaic_add(code, TS_OP_sld, 2,
               (ts_operand[]){s[6], address(2, 4)}); /* goes, with the load that it leads to */
    mosaic_begin_block(code, 0);
    mosaic_add(code, TS_OP_sld, 2, (ts_operand[]){s[7], indexed(2, s[6])});
    mosaic_add(code, TS_OP_sst, 2, (ts_operand[]){address(2, 4), s[4]});
    mosaic_add(code, TS_OP_sld, 2, (ts_operand[]){s[5], address(2, 5)}); /* goes: one of two values */
    mosaic_add(code, TS_OP_smov, 2, (ts_operand[]){s[5], number(4)});
    mosaic_add(code, TS_OP_sadd, 3, (ts_operand[]){s[3], s[5], number(1)}); /* goes with it */
    mosaic_drop_loads(code);
    static const ts_opcode left[] = {TS_OP_smov, TS_OP_sld, TS_OP_sst, TS_OP_smov};
    assert_int_equal(code->blocks.items[0].list.count, 2);
    assert_int_equal(code->blocks.items[1].list.count, 2);
    for (int i = 0; i < 4; i++) assert_int_equal(code->blocks.items[i / 2].list.items[i % 2].opcode, left[i]);
}

static void add_transfer_from(mosaic_code *code, ts_operand sreg) {
    static const int64_t size = 8;
    static const ts_affine zero;
    ts_affine *begin = TS_NEW(arena, ts_affine);
    *begin = (ts_affine){.term_count = 1, .terms = {{sreg.as.reg, 1}}};
    *PUSH(code->arena, &code->transfers) =
        (ts_transfer){.source = {.rank = 1, .begin = begin, .size = &size},
                      .destination = {.rank = 1, .begin = &zero, .size = &size},
                      .semaphore = {.count = 1, .sreg = -1}};
    mosaic_add(code, TS_OP_dma, 1, (ts_operand[]){{TS_OPERAND_TRANSFER, {.transfer = 0}}});
}

/* Whatever reads a scalar keeps its load, also one whose value goes through others, or is one of several. */
TEST(loads_that_something_reads_stay) {
    enum { USES = 9 };
    mosaic_code *code = new_code();
    ts_operand s[USES + 1], v = reg(TS_OPERAND_VREG, mosaic_register(code, TS_OPERAND_VREG));
    for (int i = 0; i <= USES; i++) s[i] = reg(TS_OPERAND_SREG, mosaic_register(code, TS_OPERAND_SREG));
    for (int i = 0; i < USES; i++)
        mosaic_add(code, TS_OP_sld, 2, (ts_operand[]){s[i], i == 7 ? indexed(6, s[6]) : address(2, i)});
    mosaic_begin_block(code, 0);
    mosaic_add(code, TS_OP_vst, 2, (ts_operand[]){indexed(1, s[0]), v});
    mosaic_add(code, TS_OP_sst, 2, (ts_operand[]){indexed(2, s[1]), number(1)});
    mosaic_add(code, TS_OP_vadd_i32, 3, (ts_operand[]){v, v, s[2]});
    mosaic_add(code, TS_OP_br_lt, 3, (ts_operand[]){s[3], number(1), {TS_OPERAND_LABEL, {.label = 0}}});
    mosaic_add(code, TS_OP_wait, 2,
               (ts_operand[]){{TS_OPERAND_SEMAPHORE, {.semaphore = {0, 2, s[4].as.reg, 0}}}, number(1)});
    add_transfer_from(code, s[5]);
    mosaic_add(code, TS_OP_sadd, 3, (ts_operand[]){s[USES], s[7], number(1)}); /* the load of 7 reads 6 */
    mosaic_add(code, TS_OP_sst, 2, (ts_operand[]){address(2, 9), s[USES]});
    mosaic_add(code, TS_OP_smov, 2, (ts_operand[]){s[8], number(1)}); /* written twice */
    mosaic_add(code, TS_OP_sst, 2, (ts_operand[]){address(2, 10), s[8]});
    int counts[2] = {code->blocks.items[0].list.count, code->blocks.items[1].list.count};
    mosaic_drop_loads(code);
    for (int b = 0; b < 2; b++) assert_int_equal(code->blocks.items[b].list.count, counts[b]);
}

int main(void) { return run_all_tests(begin_group, end_group); }
