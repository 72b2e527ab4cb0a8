/* The packer never changes what a program computes, and what it packs is never slower to issue. */
#include <string.h>

#include "tests/support/random_layout.h"
#include "tests/support/rounds.h"
#include "core/core.h"
#include "program/program.h"
#include "tests/support/test.h"

enum { SREGS = 8, VREGS = 8, VMASKS = 4, VMEM_BYTES = 1 << 18, SMEM_BYTES = 1 << 10, CYCLES_MAX = 1 << 20 };

static ts_target make_target(uint64_t *seed) {
    ts_target target = {.machine = "toy",
                        .core.limits = {.sregs = SREGS, .vregs = VREGS, .vmasks = VMASKS, .bf16 = true},
                        .space_bytes = {1 << 20, VMEM_BYTES, SMEM_BYTES, 0}};
    for (int i = 0; i < TS_SLOT_COUNT; i++) target.core.limits.slots[i] = 1 + (int)random_below(seed, 4);
    for (int i = 0; i < TS_LATENCY_COUNT; i++) {
        target.core.latency_cycles[i] = 1 + random_below(seed, 12);
        target.core.occupancy_cycles[i] = 1 + random_below(seed, 3);
    }
    return target;
}

/* ---- Random programs: few registers, so that there are many dependences ---- */

static void add_operand(uint64_t *seed, ts_text *out, const ts_operand_class *class) {
    static const char *const vector[] = {"t[0, s7, 0]",
                                         "t[1, 8, 0]",
                                         "u[0, 0] mask=0x3c",
                                         "t.words[128 + s6 * 128]",
                                         "t.words[s6 * 128]",
                                         "t.words[1920]",
                                         "u[8, 0]",
                                         "vmem[s6 * 256]",
                                         "t[s6, 8, 128]",
                                         "u[1, 0] stride=2",
                                         "u.words[0] stride=2 mask=0x33"};
    static const char *const scalar[] = {"k[3]", "k[s6]", "smem[s6 + 1]"};
    uint32_t kinds = class->accepts;
    if ((kinds >> TS_OPERAND_ADDRESS & 1) != 0) {
        bool smem = class->space == TS_SPACE_SMEM;
        ts_text_add(out, "%s", smem ? scalar[random_below(seed, 3)] : vector[random_below(seed, 11)]);
    } else if ((kinds >> TS_OPERAND_INTEGER & 1) != 0 && random_below(seed, 2) == 0) {
        ts_text_add(out, "%u", random_below(seed, 7));
    } else if ((kinds >> TS_OPERAND_F32 & 1) != 0 && random_below(seed, 2) == 0) {
        ts_text_add(out, "%u.5", random_below(seed, 9));
    } else if ((kinds >> TS_OPERAND_VREG & 1) != 0 && (!class->written || random_below(seed, 9) > 0)) {
        ts_text_add(out, "v%u", random_below(seed, VREGS));
    } else if ((kinds >> TS_OPERAND_SREG & 1) != 0) {
        ts_text_add(out, "s%u", random_below(seed, SREGS - 2)); /* s6 and s7 stay small */
    } else {
        ts_text_add(out, "%c%u", (kinds >> TS_OPERAND_VMASK & 1) != 0 ? 'm' : 'v',
                    random_below(seed, VMASKS));
    }
}

/* Not those that may fault. */
static bool is_plain(ts_opcode opcode) {
    const ts_opcode_info *info = ts_opcode_get(opcode);
    bool family = info->family == TS_FAMILY_SCALAR || info->family == TS_FAMILY_MEMORY ||
                  info->family == TS_FAMILY_VECTOR_F32 || info->family == TS_FAMILY_VECTOR_I32 ||
                  info->family == TS_FAMILY_VECTOR_MOVE || info->family == TS_FAMILY_MASK ||
                  info->family == TS_FAMILY_EUP || info->family == TS_FAMILY_CROSS;
    bool plain = family && strstr(info->meaning, "fault") == NULL;
    for (int i = 0; ts_opcode_operand(info, i); i++) {
        const ts_operand_class *class = ts_opcode_operand(info, i);
        plain = plain && !class->optional && class->accepts != 1u << TS_OPERAND_INTEGER;
    }
    return plain;
}

static void add_instruction(uint64_t *seed, ts_text *out) {
    static const ts_opcode memory[] = {TS_OP_vld, TS_OP_vst, TS_OP_sld, TS_OP_sst};
    ts_opcode opcode = memory[random_below(seed, 4)];
    if (random_below(seed, 12) == 0) ts_text_add(out, "smov s6, %u\n", random_below(seed, 2));
    for (bool any = random_below(seed, 3) > 0; any; any = !is_plain(opcode))
        opcode = (ts_opcode)random_below(seed, TS_OP_COUNT);
    const ts_opcode_info *info = ts_opcode_get(opcode);
    int least, most;
    ts_opcode_arity(info, &least, &most);
    ts_text_add(out, "%s ", info->mnemonic);
    for (int i = 0; i < most; i++) {
        ts_text_add(out, i > 0 ? ", " : "");
        add_operand(seed, out, ts_opcode_operand(info, i));
    }
    ts_text_add(out, info->masks && random_below(seed, 4) == 0 ? " if m1\n" : "\n");
}

static void random_body(uint64_t *seed, ts_text *out) {
    ts_text_add(out, ".loop s7 = 0, 16, 8\n");
    for (uint32_t n = 5 + random_below(seed, 40); n > 0; n--) {
        add_instruction(seed, out);
        if (random_below(seed, 20) == 0)
            ts_text_add(out, "{ viota.lane v0 ; smov s6, %u }\n", random_below(seed, 2));
    }
    ts_text_add(out, ".end\n");
}

/* ---- Running ---- */

typedef struct {
    uint32_t sregs[SREGS], vregs[VREGS][TS_VREG_WORDS], vmasks[VMASKS][TS_VREG_WORDS];
    uint8_t vmem[VMEM_BYTES], smem[SMEM_BYTES];
    int64_t cycles, bundles;
} outcome;

static void run(ts_arena *arena, const ts_target *target, const char *text, outcome *out) {
    ts_error err = {0};
    ts_source source = {.name = "a.tsim", .text = text, .length = strlen(text)};
    const ts_program *program = ts_program_parse(&err, arena, &source, target, NULL, 0);
    char message[1024];
    if (program == NULL) {
        ts_error_format(&err, message, sizeof(message));
        fail_msg("%s%s", message, text);
    }
    ts_core_ports ports = {0};
    ts_core_setup setup = {.config = &target->core, .code = &program->code, .ports = &ports};
    setup.vmem = ts_space_new(arena, "vmem", VMEM_BYTES);
    setup.smem = ts_space_new(arena, "smem", SMEM_BYTES);
    ts_core *core = ts_core_new(&err, arena, &setup);
    assert_non_null(core);
    for (int bundle = 0; !ts_core_halted(core); bundle++) {
        assert_true(bundle < CYCLES_MAX); /* it ends */
        if (!ts_core_step(&err, core, CYCLES_MAX, INT64_MAX)) {
            ts_error_format(&err, message, sizeof(message));
            fail_msg("%s%s", message, text);
        }
    }
    ts_core_counters counters;
    ts_core_count(core, &counters);
    out->cycles = counters.cycles;
    out->bundles = counters.bundles;
    for (int i = 0; i < SREGS; i++) out->sregs[i] = *ts_core_register(core, TS_OPERAND_SREG, i);
    for (int i = 0; i < VREGS; i++)
        memcpy(out->vregs[i], ts_core_register(core, TS_OPERAND_VREG, i), TS_VREG_BYTES);
    for (int i = 0; i < VMASKS; i++)
        memcpy(out->vmasks[i], ts_core_register(core, TS_OPERAND_VMASK, i), TS_VREG_BYTES);
    memcpy(out->vmem, ts_space_touch(setup.vmem, 0, VMEM_BYTES), VMEM_BYTES);
    memcpy(out->smem, ts_space_touch(setup.smem, 0, SMEM_BYTES), SMEM_BYTES);
    ts_space_free(setup.vmem);
    ts_space_free(setup.smem);
}

TEST(test_same_results) {
    static outcome plain, packed;
    static const char head[] =
        ".tensor t vmem f32[2,16,256]{2,1,0:T(8,128)}\n.tensor u vmem f32[16,128]{1,0:T(8,128)}\n"
        ".tensor k smem s32[8]\n"
        "viota.lane v1\nviota.sublane v2\nvcvt.f32.i32 v3, v1\nmlanes m1, 40\nmsubs m2, 3\n";
    uint64_t seed = 5;
    int64_t plain_cycles = 0, packed_cycles = 0;
    for (int i = 0, most = rounds(1500, 150); i < most; i++) {
        ts_arena *arena = ts_arena_new();
        ts_target target = make_target(&seed);
        ts_text body, text;
        body = ts_text_begin(arena);
        text = ts_text_begin(arena);
        random_body(&seed, &body);
        ts_text_add(&text, "%s%s", head, body.bytes);
        run(arena, &target, text.bytes, &plain);
        ts_text_clear(&text);
        ts_text_add(&text, ".pack auto\n%s%s", head, body.bytes);
        run(arena, &target, text.bytes, &packed);
        if (memcmp(&plain, &packed, offsetof(outcome, cycles)) != 0)
            fail_msg("the packed program differs:\n%s", text.bytes);
        assert_true(packed.bundles <= plain.bundles);
        plain_cycles += plain.cycles;
        packed_cycles += packed.cycles;
        ts_arena_free(arena);
    }
    assert_true(packed_cycles * 10 < plain_cycles * 9); /* it is worth something */
}

/* ---- Loops whose iterations overlap ---- */

static bool has_address(ts_opcode opcode) {
    const ts_opcode_info *info = ts_opcode_get(opcode);
    bool address = false;
    for (int i = 0; ts_opcode_operand(info, i); i++)
        address |= (ts_opcode_operand(info, i)->accepts >> TS_OPERAND_ADDRESS & 1) != 0;
    return address;
}

/* By the counter s7, ahead of it and behind it, in terms that wrap, and where all iterations meet. */
static void add_access(uint64_t *seed, ts_text *out) {
    static const char *const places[] = {"w[s7, 0]",
                                         "w[s7 + 8, 0]",
                                         "w[s7 + 16, 0]",
                                         "w[24, 0]",
                                         "w.words[s7 // 8 % 4 * 1024]",
                                         "w.words[s7 // 16 * 1024]",
                                         "w[s7, 0] mask=0x3c",
                                         "w.words[s6 * 128]",
                                         "u[8, 0]"};
    const char *place = places[random_below(seed, 9)];
    unsigned v = random_below(seed, VREGS), scalar = random_below(seed, SREGS - 2);
    switch (random_below(seed, 5)) {
    case 0:
        ts_text_add(out, "sst k.words[s7 / 8 %% 4], s%u\n", scalar);
        break;
    case 1:
        ts_text_add(out, "sld s%u, k.words[s7 / 8 %% 8]\n", scalar);
        break;
    case 2:
        ts_text_add(out, "vst %s, v%u\n", place, v);
        break;
    default:
        ts_text_add(out, "vld v%u, %s\n", v, place);
    }
}

static void add_random(uint64_t *seed, ts_text *out) {
    ts_opcode opcode;
    do {
        opcode = (ts_opcode)random_below(seed, TS_OP_COUNT);
    } while (!is_plain(opcode) || has_address(opcode));
    const ts_opcode_info *info = ts_opcode_get(opcode);
    ts_text_add(out, "%s ", info->mnemonic);
    for (int i = 0; ts_opcode_operand(info, i); i++) {
        ts_text_add(out, i > 0 ? ", " : "");
        add_operand(seed, out, ts_opcode_operand(info, i));
    }
    ts_text_add(out, info->masks && random_below(seed, 4) == 0 ? " if m1\n" : "\n");
}

/* What is loaded goes through some instructions and is stored elsewhere, in few registers. */
static void add_stream(uint64_t *seed, ts_text *out) {
    static const char *const through[][2] = {
        {"vmul.f32", ", 1.5"}, {"vexp.f32", ""}, {"vsum.lane.f32", ""}, {"vadd.f32", ", v1"}};
    unsigned v = random_below(seed, VREGS);
    ts_text_add(out, "vld v%u, w[s7%s, 0]\n", v, random_below(seed, 4) == 0 ? " + 8" : "");
    for (uint32_t n = random_below(seed, 4); n > 0; n--) {
        unsigned to = random_below(seed, 2) == 0 ? v : random_below(seed, VREGS);
        const char *const *what = through[random_below(seed, 4)];
        ts_text_add(out, "%s v%u, v%u%s\n", what[0], to, v, what[1]);
        if (random_below(seed, 8) == 0) ts_text_add(out, "vmov v%u, 3.0 if m1\n", to);
        v = to;
    }
    if (random_below(seed, 4) == 0) ts_text_add(out, "sadd s1, s7, 3\nvadd.i32 v%u, v%u, s1\n", v, v);
    ts_text_add(out, "vst %c[s7%s, 0], v%u\n", random_below(seed, 4) == 0 ? 'w' : 'y',
                random_below(seed, 4) == 0 ? " + 8" : "", v);
}

static void random_loop(uint64_t *seed, ts_text *out) {
    bool streams = random_below(seed, 2) == 0;
    unsigned begin = 8 * random_below(seed, 3), end = begin + 1 + random_below(seed, 136 - begin);
    ts_text_add(out, "smov s6, %u\n.loop s7 = %u, ", end, begin);
    if (random_below(seed, 2) == 0)
        ts_text_add(out, "%u, 8\n", end);
    else
        ts_text_add(out, "s6, 8\n");
    for (uint32_t n = 1 + random_below(seed, 2); n > 0 && streams; n--) add_stream(seed, out);
    for (uint32_t n = random_below(seed, streams ? 2 : 10); n > 0; n--) {
        if (random_below(seed, 8) == 0) ts_text_add(out, "sadd s%u, s7, 1\n", random_below(seed, 6));
        if (random_below(seed, 2) == 0)
            add_access(seed, out);
        else
            add_random(seed, out);
    }
    ts_text_add(out, ".end\n");
}

static const char loop_head[] =
    ".tensor u vmem f32[16,128]{1,0:T(8,128)}\n.tensor w vmem f32[160,128]{1,0:T(8,128)}\n"
    ".tensor k smem s32[8]\n.tensor y vmem f32[160,128]{1,0:T(8,128)}\n"
    "viota.lane v1\nviota.sublane v2\nvcvt.f32.i32 v3, v1\nmlanes m1, 40\nmsubs m2, 3\n";

enum { MODES = 4 };
static const char *const modes[MODES] = {".pack auto", ".pack pipeline", ".pack pipeline v8",
                                         ".pack pipeline v12"};

/* Of the first `count` modes: a loop gives what it does unpacked; adds what each takes. */
static void compare_modes(ts_arena *arena, const ts_target *target, const char *body, int count,
                          int64_t *cycles) {
    static outcome plain, packed;
    ts_text text = ts_text_begin(arena);
    ts_text_add(&text, "%s%s", loop_head, body);
    run(arena, target, text.bytes, &plain);
    for (int mode = 0; mode < count; mode++) {
        ts_text_clear(&text);
        ts_text_add(&text, "%s\n%s%s", modes[mode], loop_head, body);
        run(arena, target, text.bytes, &packed);
        if (memcmp(&plain, &packed, offsetof(outcome, cycles)) != 0)
            fail_msg("the packed program differs:\n%s", text.bytes);
        cycles[mode] += packed.cycles;
    }
}

TEST(test_loops_have_the_same_results) {
    uint64_t seed = 7;
    int64_t cycles[MODES] = {0};
    for (int i = 0, most = rounds(700, 90); i < most; i++) {
        ts_arena *arena = ts_arena_new();
        ts_target target = make_target(&seed);
        ts_text body;
        target.core.limits.vregs = 8 + (int)random_below(&seed, 24);
        body = ts_text_begin(arena);
        random_loop(&seed, &body);
        compare_modes(arena, &target, body.bytes, MODES, cycles);
        ts_arena_free(arena);
    }
    assert_true(cycles[1] < cycles[0] && cycles[2] * 100 < cycles[1] * 92);
}

/* ---- Loops with matrix units ---- */

enum { UNITS = 2, RESULTS_MOST = 4 };
static const struct {
    const char *type;
    int latches, results;
} unit_types[UNITS] = {{"f32", 16, 1}, {"bf16", 8, 2}};

/* Results that are not popped yet, a unit; is there a place for sums? */
typedef struct {
    int pending[UNITS];
    bool sums;
} queues;

static void add_push(uint64_t *seed, ts_text *out, queues *q, int unit) {
    if (q->pending[unit] + unit_types[unit].results > RESULTS_MOST) return;
    ts_text_add(out, "mxu.push.%s %d, v%u\n", unit_types[unit].type, unit, random_below(seed, VREGS));
    q->pending[unit] += unit_types[unit].results;
}

static void add_pops(uint64_t *seed, ts_text *out, queues *q, int unit, int left) {
    for (; q->pending[unit] > left; q->pending[unit]--)
        ts_text_add(out, "mxu.pop v%u, %d\n", random_below(seed, VREGS), unit);
}

static void add_matrix(uint64_t *seed, ts_text *out, queues *q) {
    int unit = (int)random_below(seed, UNITS);
    unsigned v = random_below(seed, VREGS), accumulator = random_below(seed, 3);
    switch (q->sums ? random_below(seed, 8) : 2 + random_below(seed, 6)) {
    case 0:
        ts_text_add(out, "mxu.acc.%s %d, v%u, %u\n", unit_types[unit].type, unit, v, accumulator);
        break;
    case 1:
        ts_text_add(out, "mxu.take v%u, %d, %u\n", v, unit, accumulator);
        break;
    case 2:
    case 3:
    case 4:
        add_push(seed, out, q, unit);
        break;
    case 5:
        add_pops(seed, out, q, unit, q->pending[unit] > 0 ? q->pending[unit] - 1 : 0);
        break;
    default:
        add_access(seed, out);
    }
}

/* What is loaded is pushed, and what comes of it is stored. */
static void add_product(uint64_t *seed, ts_text *out) {
    int unit = (int)random_below(seed, UNITS);
    unsigned v = random_below(seed, VREGS);
    ts_text_add(out, "vld v%u, w[s7, 0]\n", v);
    if (random_below(seed, 2) == 0) ts_text_add(out, "vmul.f32 v%u, v%u, 0.5\n", v, v);
    ts_text_add(out, "mxu.push.%s %d, v%u\n", unit_types[unit].type, unit, v);
    for (int i = 0; i < unit_types[unit].results; i++)
        ts_text_add(out, "mxu.pop v%u, %d\nvst y[s7%s, 0], v%u\n", v, unit, i ? " + 8" : "", v);
}

/* In one of four, the result of an iteration is popped by the next one. */
static void random_matrix_loop(uint64_t *seed, bool sums, ts_text *out) {
    queues q = {.sums = sums};
    for (int unit = 0; unit < UNITS; unit++) {
        for (int i = 0; i < unit_types[unit].latches; i++)
            ts_text_add(out, "mxu.latch.%s %d, v%d\n", unit_types[unit].type, unit, 1 + i % 3);
        ts_text_add(out, "mxu.swap %d\n", unit);
    }
    bool carried = random_below(seed, 4) == 0;
    if (carried) add_push(seed, out, &q, 0);
    ts_text_add(out, "smov s6, 3\n.loop s7 = 0, %u, 8\n", 8 + random_below(seed, 100));
    if (carried) ts_text_add(out, "mxu.pop v4, 0\nvst y[s7, 0], v4\nvld v5, w[s7, 0]\nmxu.push.f32 0, v5\n");
    for (uint32_t n = 1 + random_below(seed, 2); n > 0 && !carried; n--) add_product(seed, out);
    for (uint32_t n = carried ? 0 : random_below(seed, 2) * 6; n > 0; n--) add_matrix(seed, out, &q);
    for (int unit = 0; unit < UNITS; unit++) add_pops(seed, out, &q, unit, carried && unit == 0);
    ts_text_add(out, ".end\n");
    add_pops(seed, out, &q, 0, 0);
}

static ts_target make_matrix_target(uint64_t *seed) {
    ts_target target = make_target(seed);
    target.core.limits.vregs = 8 + (int)random_below(seed, 24);
    target.core.latency_cycles[TS_LATENCY_MXU_PUSH] = 1 + random_below(seed, 100);
    target.core.mxu = (ts_machine_mxu){.units = UNITS,
                                       .edge = 128,
                                       .rate = {1, 1, 1, 2, 4},
                                       .staging = 2,
                                       .accumulators = 8 * (int)random_below(seed, 2),
                                       .result_vregs = RESULTS_MOST + (int)random_below(seed, 6)};
    return target;
}

TEST(test_matrix_loops_have_the_same_results) {
    uint64_t seed = 11;
    int64_t cycles[MODES - 1] = {0};
    for (int i = 0, most = rounds(60, 20); i < most; i++) {
        ts_arena *arena = ts_arena_new();
        ts_target target = make_matrix_target(&seed);
        ts_text body;
        body = ts_text_begin(arena);
        random_matrix_loop(&seed, target.core.mxu.accumulators > 0, &body);
        compare_modes(arena, &target, body.bytes, MODES - 1, cycles);
        ts_arena_free(arena);
    }
    assert_true(cycles[2] * 10 < cycles[1] * 9);
}

/* An iteration's result is what the next one pushes. */
TEST(test_results_are_pushed_again) {
    uint64_t seed = 12;
    int64_t cycles[MODES - 1] = {0};
    for (int i = 0; i < 8; i++) {
        ts_arena *arena = ts_arena_new();
        ts_target target = make_matrix_target(&seed);
        ts_text body = ts_text_begin(arena);
        target.core.mxu.accumulators = 0;
        for (int k = 0; k < 16; k++) ts_text_add(&body, "mxu.latch.f32 0, v%d\n", 1 + k % 3);
        ts_text_add(&body,
                    "mxu.swap 0\nvmov v1, 0.5\n.loop s7 = 0, 64, 8\nvld v2, w[s7, 0]\nmxu.push.f32 0, v2\n"
                    "mxu.push.f32 0, v1\nmxu.pop v2, 0\nmxu.pop v1, 0\nvst y[s7, 0], v1\n.end\n");
        compare_modes(arena, &target, body.bytes, MODES - 1, cycles);
        ts_arena_free(arena);
    }
    assert_true(cycles[2] < cycles[1]);
}

/* ---- Ends near 2^31: a counter that is ahead of them would be beyond ---- */

static void run_to(const char *mode, int end, bool in_register, outcome *out) {
    ts_arena *arena = ts_arena_new();
    uint64_t seed = 3;
    ts_target target = make_target(&seed);
    ts_text text;
    target.core.limits.vregs = 32;
    text = ts_text_begin(arena);
    ts_text_add(
        &text,
        ".pack %s\n.tensor w vmem f32[160,128]{1,0:T(8,128)}\n.tensor y vmem f32[160,128]{1,0:T(8,128)}\n"
        ".loop s5 = 0, 160, 8\nvadd.f32 v1, v1, 1.0\nvst w[s5, 0], v1\n.end\nsmov s6, %d\n",
        mode, end);
    ts_text_add(&text, in_register ? ".loop s7 = %d, s6, 8\n" : ".loop s7 = %d, %d, 8\n", end - 157, end);
    ts_text_add(&text, "vld v0, w.words[s7 // 8 %% 16 * 1024]\nvexp.f32 v0, v0\nvadd.f32 v0, v0, 1.0\n"
                       "vst y.words[s7 // 8 %% 16 * 1024], v0\nsadd s2, s2, 1\n.end\n");
    run(arena, &target, text.bytes, out);
    ts_arena_free(arena);
}

/* A counter is ahead by a multiple of 8; iterations overlap up to the same end in a register as one that is known. */
TEST(test_loops_end_below_the_largest_number) {
    static outcome plain, packed;
    for (int under = 7; under < 700; under += under % 8 == 7 ? 1 : 7) {
        bool overlap[2];
        for (int form = 0; form < 2; form++) {
            run_to("auto", INT32_MAX - under, form == 1, &plain);
            run_to("pipeline v8", INT32_MAX - under, form == 1, &packed);
            assert_memory_equal(&plain, &packed, offsetof(outcome, cycles));
            assert_int_equal(packed.sregs[2], 20);
            overlap[form] = packed.cycles < plain.cycles;
            assert_true(under < 600 || overlap[form]);
        }
        assert_int_equal(overlap[1], overlap[0]);
    }
}

/* Whatever it does, it does in a cycle. */
static ts_target make_quick_target(void) {
    uint64_t seed = 1;
    ts_target target = make_target(&seed);
    for (int i = 0; i < TS_LATENCY_COUNT; i++)
        target.core.latency_cycles[i] = target.core.occupancy_cycles[i] = 1;
    return target;
}

/* v1 is written again 20 cycles after its sum began, and not before what can be done meanwhile. */
TEST_WITH_ARENA(test_later_writes_land_later) {
    static outcome packed;
    ts_target target = make_quick_target();
    ts_text text;
    target.core.latency_cycles[TS_LATENCY_LANE_REDUCE] = 20;
    text = ts_text_begin(arena);
    ts_text_add(&text, ".pack auto\nvsum.lane.f32 v1, v2\nvmov v1, 1.0\n");
    for (int i = 0; i < 20; i++) ts_text_add(&text, "vadd.f32 v3, v3, v4\n");
    run(arena, &target, text.bytes, &packed);
    assert_int_equal(packed.cycles, 21);
    /* nor later: beside 30 others ten that follow it are done in cycle 30 */
    target.core.limits.slots[TS_SLOT_VALU] = 2;
    text = ts_text_begin(arena);
    ts_text_add(&text, ".pack auto\nvsum.lane.f32 v1, v2\nvmov v1, 1.0\n");
    for (int i = 0; i < 40; i++)
        ts_text_add(&text, i < 10 ? "vadd.f32 v1, v1, v4\n" : "vadd.f32 v3, v3, v4\n");
    run(arena, &target, text.bytes, &packed);
    assert_int_equal(packed.cycles, 31);
}

/* What was stored is seen 20 cycles later: until then others are done, and nothing behind the load waits with it. */
TEST_WITH_ARENA(test_loads_wait_until_a_store_is_seen) {
    static outcome packed;
    ts_target target = make_quick_target();
    ts_text text;
    target.core.latency_cycles[TS_LATENCY_VECTOR_STORE] = 20;
    target.core.limits.slots[TS_SLOT_VALU] = 2;
    text = ts_text_begin(arena);
    ts_text_add(&text,
                ".pack auto\n.tensor w vmem f32[8,128]{1,0:T(8,128)}\nvst w[0, 0], v2\nvld v1, w[0, 0]\n");
    for (int i = 0; i < 39; i++)
        ts_text_add(&text, i < 9 ? "vadd.f32 v1, v1, v4\n" : "vadd.f32 v3, v3, v4\n");
    run(arena, &target, text.bytes, &packed);
    assert_int_equal(packed.cycles, 30); /* the load in cycle 20, nine behind it */
}

/* However long it waits: what is empty is not gone through cycle by cycle, which would take hours. */
TEST_WITH_ARENA(test_long_waits) {
    static const char *const texts[] = {".pack auto\nvsum.lane.f32 v1, v2\nvadd.f32 v3, v1, v4\n",
                                        ".pack auto\nvsum.lane.f32 v1, v2\nvsum.lane.f32 v3, v4\n"};
    static const int64_t wait = INT64_C(1) << 37;
    uint64_t seed = 1;
    for (int k = 0; k < 2; k++) {
        ts_target target = make_target(&seed);
        ts_source source = {.name = "a.tsim", .text = texts[k], .length = strlen(texts[k])};
        target.core.limits.slots[TS_SLOT_XLU] = 1;
        (k ? target.core.occupancy_cycles : target.core.latency_cycles)[TS_LATENCY_LANE_REDUCE] = wait;
        const ts_program *program = ts_program_parse(NULL, arena, &source, &target, NULL, 0);
        assert_non_null(program);
        assert_int_equal(program->code.bundle_count, 2);
    }
}
