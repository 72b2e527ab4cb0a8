/* Live registers against a search, from every bundle and for every register, for a read on some path without
 * a write. */
#include <string.h>

#include "machine/machine.h"
#include "program/live.h"
#include "run/run.h"
#include "tests/support/cmocka.h"
#include "tests/support/group.h"

static ts_target target;

static int set_up(void **state) {
    begin_group(state);
    const ts_machine *machine = ts_machine_load(NULL, arena, "tpu-v5e");
    assert_non_null(machine);
    ts_run_target(machine, &target);
    return 0;
}

static bool bundle_does(const ts_code *code, int bundle, ts_operand_kind kind, int reg, bool writes) {
    for (int i = 0; i < code->bundles[bundle].count; i++) {
        ts_register_use use;
        ts_instruction_registers(code, &code->bundles[bundle].instructions[i], &use);
        bool written = use.writes && use.written.kind == kind && use.written.reg == reg;
        if (writes && written && !use.merges) return true;
        if (!writes && written && use.merges) return true;
        for (int k = 0; k < use.read_count && !writes; k++)
            if (use.reads[k].kind == kind && use.reads[k].reg == reg) return true;
    }
    return false;
}

/* Bundles that may follow: at most two. */
static int successors(const ts_code *code, int bundle, int *next) {
    int count = 0;
    bool falls = true;
    for (int i = 0; i < code->bundles[bundle].count; i++) {
        const ts_instruction *it = &code->bundles[bundle].instructions[i];
        falls = falls && strcmp(ts_opcode_get(it->opcode)->mnemonic, "jump") != 0 &&
                strcmp(ts_opcode_get(it->opcode)->mnemonic, "halt") != 0;
        for (int k = 0; k < it->operand_count; k++)
            if (it->operands[k].kind == TS_OPERAND_LABEL) next[count++] = it->operands[k].as.label;
    }
    if (falls) next[count++] = bundle + 1;
    return count;
}

static bool search(const ts_code *code, int from, ts_operand_kind kind, int reg, int *stack, uint8_t *seen) {
    int depth = 0;
    memset(seen, 0, (size_t)code->bundle_count + 1);
    stack[depth++] = from;
    while (depth > 0) {
        int at = stack[--depth], next[3];
        if (at >= code->bundle_count || seen[at]) continue;
        seen[at] = 1;
        if (bundle_does(code, at, kind, reg, false)) return true;
        if (bundle_does(code, at, kind, reg, true)) continue;
        for (int count = successors(code, at, next), i = 0; i < count; i++) stack[depth++] = next[i];
    }
    return false;
}

static void compare(const ts_program *program) {
    static const ts_operand_kind kinds[] = {TS_OPERAND_SREG, TS_OPERAND_VREG, TS_OPERAND_VMASK};
    const ts_code *code = &program->code;
    const ts_live *live = ts_program_live(arena, program);
    int *stack = TS_NEW_ARRAY(arena, int, code->bundle_count * 3 + 3);
    uint8_t *seen = TS_NEW_ARRAY(arena, uint8_t, code->bundle_count + 1);
    for (int kind = 0; kind < TS_LIVE_KINDS; kind++) {
        for (int reg = 0; reg < 32; reg++) {
            for (int i = 0; i < code->bundle_count; i++) {
                bool should = search(code, i, kinds[kind], reg, stack, seen);
                if (ts_live_has(&live[i], (ts_live_kind)kind, reg) != should)
                    fail_msg("%s: kind %d register %d before bundle %d", code->name, kind, reg, i);
            }
        }
    }
}

TEST(shipped_programs) {
    static const char *const names[] = {"programs/add.tsim", "programs/relu.tsim", "programs/unpack.tsim"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        ts_error err = {0};
        const ts_program *program = ts_program_load(&err, arena, names[i], &target, NULL, 0);
        assert_string_equal(err.message, "");
        compare(program);
    }
}

static const ts_program *assemble(const char *text) {
    ts_source *source = TS_NEW(arena, ts_source);
    *source = (ts_source){"text", text, strlen(text)};
    ts_error err = {0};
    const ts_program *program = ts_program_parse(&err, arena, source, &target, NULL, 0);
    assert_string_equal(err.message, "");
    return program;
}

TEST(by_hand) {
    const ts_program *p = assemble(
        " smov s1, 3\nloop: { sadd s2, s1, 1 ; smov s1, s2 }\n brnz s2, loop\n halt\n smov s3, s4\n");
    const ts_live *live = ts_program_live(arena, p);
    compare(p);
    assert_false(ts_live_has(&live[0], TS_LIVE_SREGS, 1));
    assert_true(ts_live_has(&live[0], TS_LIVE_SREGS, 2)); /* the bundle reads it before it is written */
    assert_true(ts_live_has(&live[1], TS_LIVE_SREGS, 1) && ts_live_has(&live[2], TS_LIVE_SREGS, 1));
    assert_int_equal(ts_live_count(&live[1], TS_LIVE_SREGS), 2);
    assert_false(ts_live_has(&live[0], TS_LIVE_SREGS, 4)); /* behind the halt */
    p = assemble(" vmov v1, 0\n vmov v2, v1 if m3\n vst vmem[0], v2\n");
    live = ts_program_live(arena, p);
    compare(p);
    assert_true(ts_live_has(&live[0], TS_LIVE_VREGS, 2) && ts_live_has(&live[0], TS_LIVE_VMASKS, 3));
    assert_false(ts_live_has(&live[0], TS_LIVE_VREGS, 1));
}

int main(void) { return run_all_tests(set_up, end_group); }
