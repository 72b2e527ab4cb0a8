/* The tables of the instruction set: every row is well formed, and lookups find it. */
#include <string.h>

#include "isa/isa.h"
#include "tests/support/cmocka.h"

TEST(every_row_is_well_formed) {
    for (int op = 0; op < TS_OP_COUNT; op++) {
        const ts_opcode_info *info = ts_opcode_get((ts_opcode)op);
        int least, most;
        ts_opcode found;
        ts_opcode_arity(info, &least, &most);
        assert_in_range(most, 0, TS_OPERANDS_MAX);
        for (int i = 0; i < most; i++) {
            const ts_operand_class *class = ts_opcode_operand(info, i);
            assert_non_null(class);
            assert_true(!class->written || i == 0); /* one destination, the first */
        }
        assert_null(ts_opcode_operand(info, most));
        assert_true(ts_opcode_find(info->mnemonic, strlen(info->mnemonic), &found));
        assert_int_equal(found, op); /* so mnemonics are different */
        assert_string_equal(ts_opcode_nearest(info->mnemonic), info->mnemonic);
        assert_true(strlen(info->meaning) > 0);
    }
}

TEST(arity_counts_what_is_optional) {
    int least, most;
    ts_opcode_arity(ts_opcode_get(TS_OP_wait), &least, &most);
    assert_int_equal(least, 1);
    assert_int_equal(most, 2);
    assert_string_equal(ts_opcode_operand(ts_opcode_get(TS_OP_wait), 1)->text, "sreg or integer");
}

TEST(numbers_of_bf16_fill_both_halves) {
    assert_true(ts_opcode_operand(ts_opcode_get(TS_OP_vadd_bf16), 2)->packed);
    assert_false(ts_opcode_operand(ts_opcode_get(TS_OP_vadd_bf16), 1)->packed);
    assert_false(ts_opcode_operand(ts_opcode_get(TS_OP_vadd_f32), 2)->packed);
}

TEST(write_masks_go_with_vector_results) {
    assert_true(ts_opcode_get(TS_OP_vadd_f32)->masks);
    assert_true(ts_opcode_get(TS_OP_vld)->masks);
    assert_true(ts_opcode_get(TS_OP_vst)->masks);
    assert_false(ts_opcode_get(TS_OP_sld)->masks);
    assert_false(ts_opcode_get(TS_OP_vcmp_lt_f32)->masks);
    assert_false(ts_opcode_get(TS_OP_v2s)->masks);
}

TEST(the_nearest_mnemonic_is_offered) {
    ts_opcode opcode;
    assert_false(ts_opcode_find("vadd.f3", 7, &opcode));
    assert_false(ts_opcode_find("vadd", 4, &opcode));
    assert_string_equal(ts_opcode_nearest("vadd.f3"), "vadd.f32");
    assert_null(ts_opcode_nearest("q"));
}

TEST(pushes_have_operations_for_each_column) {
    assert_int_equal(ts_opcode_flops(TS_OP_vadd_f32, 128), 1024);
    assert_int_equal(ts_opcode_flops(TS_OP_mxu_latch_bf16, 128), 0);
    assert_int_equal(ts_opcode_flops(TS_OP_mxu_push_f32, 128), 2 * 8 * 128 * 128);
    assert_int_equal(ts_opcode_flops(TS_OP_mxu_push_bf16, 256), 2 * 16 * 128 * 256);
    assert_int_equal(ts_opcode_flops(TS_OP_mxu_acc_i8, 256), 2 * 32 * 128 * 256);
    assert_int_equal(ts_opcode_flops(TS_OP_mxu_push_i4, 128), 2 * 64 * 128 * 128);
}

/* ---- Registers of an instruction ---- */

static bool reads(const ts_register_use *use, ts_operand_kind kind, int reg) {
    int found = 0;
    for (int i = 0; i < use->read_count; i++) found += use->reads[i].kind == kind && use->reads[i].reg == reg;
    assert_in_range(found, 0, 1);
    return found == 1;
}

TEST(registers_of_operands_masks_and_addresses) {
    const ts_address address = {
        .tensor = -1, .term_count = 2, .terms = {{.sreg = 3}, {.sreg = 3}}, .sublane_mask = 1};
    const ts_instruction load = {.opcode = TS_OP_vld,
                                 .mask = 2,
                                 .operand_count = 2,
                                 .operands = {{.kind = TS_OPERAND_VREG, .as.reg = 5},
                                              {.kind = TS_OPERAND_ADDRESS, .as.address = &address}}};
    ts_register_use use;
    ts_instruction_registers(NULL, &load, &use);
    assert_true(use.writes && use.merges);
    assert_int_equal(use.written.reg, 5);
    assert_int_equal(use.read_count, 3);
    assert_true(reads(&use, TS_OPERAND_SREG, 3) && reads(&use, TS_OPERAND_VMASK, 2) &&
                reads(&use, TS_OPERAND_VREG, 5));
}

/* Those of the other device count where there is one. */
TEST(registers_of_a_transfer) {
    const ts_affine begin[] = {{.term_count = 1, .terms = {{1, 8}}},
                               {.term_count = 2, .terms = {{2, 1}, {1, 1}}},
                               {.term_count = 1, .terms = {{3, 1}}}};
    ts_transfer transfer = {.source = {.rank = 1, .begin = begin},
                            .destination = {.rank = 2, .begin = begin + 1},
                            .semaphore = {.sreg = 4, .count = 2},
                            .device = {.term_count = 1, .terms = {{5, 1}}},
                            .receive = {.sreg = 6, .count = 2}};
    const ts_code code = {.transfers = &transfer, .transfer_count = 1};
    const ts_instruction dma = {
        .opcode = TS_OP_dma, .mask = -1, .operand_count = 1, .operands = {{.kind = TS_OPERAND_TRANSFER}}};
    for (int remote = 0; remote < 2; remote++) {
        ts_register_use use;
        transfer.remote = remote;
        ts_instruction_registers(&code, &dma, &use);
        assert_false(use.writes || use.merges);
        assert_int_equal(use.read_count, remote ? 6 : 4);
        for (int reg = 0; reg < 8; reg++)
            assert_int_equal(reads(&use, TS_OPERAND_SREG, reg), reg >= 1 && reg <= (remote ? 6 : 4));
    }
}

/* What keeps a part of its destination reads it. */
TEST(results_that_keep_a_part) {
    static const struct {
        ts_opcode opcode;
        int mask;
        uint8_t rows;
        bool merges;
    } rows[] = {{TS_OP_vld, -1, 0xff, false}, {TS_OP_vld, 0, 0xff, true},   {TS_OP_vld, -1, 0x7f, true},
                {TS_OP_vld, -1, 0xfe, true},  {TS_OP_vst, -1, 0x7f, false}, {TS_OP_vst, 0, 0xff, false}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const ts_address address = {.tensor = -1, .sublane_mask = rows[i].rows};
        const ts_operand at = {.kind = TS_OPERAND_ADDRESS, .as.address = &address},
                         v5 = {.kind = TS_OPERAND_VREG, .as.reg = 5};
        bool load = rows[i].opcode == TS_OP_vld;
        const ts_instruction access = {.opcode = rows[i].opcode,
                                       .mask = rows[i].mask,
                                       .operand_count = 2,
                                       .operands = {load ? v5 : at, load ? at : v5}};
        ts_register_use use;
        ts_instruction_registers(NULL, &access, &use);
        assert_int_equal(use.merges, rows[i].merges);
        assert_int_equal(use.writes, load);
        assert_int_equal(reads(&use, TS_OPERAND_VREG, 5), !load || rows[i].merges);
        assert_int_equal(reads(&use, TS_OPERAND_VMASK, 0), rows[i].mask == 0);
    }
}
