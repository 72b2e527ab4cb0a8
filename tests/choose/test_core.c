/* Kernels of uses: what they compute and how often each unit works for it, and how many vregs they add for which layout. */
#include <string.h>

#include "choose/choose_private.h"
#include "base/number.h"
#include "chip/chip.h"
#include "tests/support/group.h"
#include "tests/support/run_text.h"
#include "tests/support/shapes.h"

enum { VREG_BYTES = 4096, WORDS = 1024, SUBLANES = 8, LANES = 128 };

static const ts_machine *v5e, *v6e;

/* ---- What a kernel computes ---- */

/* A value of 1 to 7, which all types can hold, of a vreg's part: the same in all its words. */
static int value_of(int64_t vreg, int part) { return (int)(1 + (3 * vreg + 5 * part) % 7); }

/* Of a type's value in `bits` bits; bf16 is the upper half of an f32. */
static uint32_t pattern_of(ts_dtype dtype, int64_t value) {
    float number = (float)value;
    uint32_t bits;
    if (dtype != TS_DTYPE_F32 && dtype != TS_DTYPE_BF16) return (uint32_t)value;
    memcpy(&bits, &number, sizeof bits);
    return dtype == TS_DTYPE_F32 ? bits : bits >> 16;
}

static uint32_t word_of(ts_dtype dtype, int packing, int64_t vreg, int factor) {
    uint32_t word = 0;
    for (int part = 0; part < packing; part++)
        word |= pattern_of(dtype, (int64_t)factor * value_of(vreg, part)) << (32 / packing * part);
    return word;
}

/* Sums are of words: f32 of float types, else s32. */
static uint32_t sum_pattern(ts_dtype dtype, int64_t sum) {
    return pattern_of(dtype == TS_DTYPE_BF16 ? TS_DTYPE_F32 : dtype, sum);
}

typedef struct {
    ts_chip *chip;
    uint32_t *words; /* of xb */
    ts_chip_counters counters;
} kernel_end;

/* xb is filled, the kernel runs, and the words that it left are to be read until the chip is freed. */
static kernel_end ran(ts_arena *to, const choose_core *core, const choose_kernel_run *what) {
    ts_error err = {0};
    ts_text text = ts_text_begin(to);
    if (!choose_write_kernel(&err, &text, core, what)) fail_msg("%s", err.message);
    const ts_program *program = assemble_text(to, core->machine, text.bytes);
    ts_chip_config *config = TS_NEW(to, ts_chip_config);
    ts_chip_configure(core->machine, config);
    kernel_end end = {.chip = ts_chip_new(&err, to, config, &program->code, NULL)};
    assert_non_null(end.chip);
    const ts_tensor *xb = &program->code.tensors[0];
    int64_t vregs = what->sums * what->added;
    assert_true(xb->bytes >= vregs * VREG_BYTES);
    ts_space *vmem = ts_chip_space(end.chip, TS_SPACE_VMEM);
    end.words = (uint32_t *)ts_space_touch(vmem, xb->base_bytes, xb->bytes);
    for (int64_t i = 0; i < vregs * WORDS; i++)
        end.words[i] = word_of(core->dtype, what->packing, i / WORDS, 1);
    if (!ts_chip_run(&err, end.chip, 1000000)) fail_msg("%s", err.message);
    ts_chip_count(end.chip, &end.counters);
    end.words = (uint32_t *)ts_space_touch(vmem, xb->base_bytes, xb->bytes);
    return end;
}

static int64_t sum_of(int64_t first_vreg, int64_t vregs, int part) {
    int64_t sum = 0;
    for (int64_t i = 0; i < vregs; i++) sum += value_of(first_vreg + i, part);
    return sum;
}

/* `group`: sums that are added side by side, in 8 accumulators; `alone`: the rest. `lanes`, `sublanes`: how many of
 * them one sum goes over. */
static const struct {
    ts_dtype dtype;
    choose_kernel kernel;
    int packing, group, lanes, sublanes;
    int64_t sums, added;
} sums[] = {
    {TS_DTYPE_F32, CHOOSE_LEADING, 1, 8, 1, 1, 16, 3},
    {TS_DTYPE_F32, CHOOSE_LEADING, 1, 8, 1, 1, 1, 24}, /* in 8 parts, which are added */
    {TS_DTYPE_F32, CHOOSE_LEADING, 1, 8, 1, 1, 9, 8},
    {TS_DTYPE_S32, CHOOSE_SUBLANE, 1, 8, 1, SUBLANES, 16, 3},
    {TS_DTYPE_F32, CHOOSE_SUBLANE, 1, 8, 1, SUBLANES, 17, 16},
    {TS_DTYPE_U32, CHOOSE_LANE, 1, 8, LANES, 1, 16, 5},
    {TS_DTYPE_F32, CHOOSE_LANE_SUBLANE, 1, 8, LANES, SUBLANES, 8, 2},
    {TS_DTYPE_F32, CHOOSE_LANE_SUBLANE, 1, 8, LANES, SUBLANES, 1, 8},
    {TS_DTYPE_BF16, CHOOSE_LEADING, 2, 4, 1, 1, 8, 3},
    {TS_DTYPE_BF16, CHOOSE_SUBLANE, 2, 4, 1, SUBLANES, 8, 3}, /* both rows of a word */
    {TS_DTYPE_BF16, CHOOSE_LANE, 2, 4, LANES, 1, 5, 4},
    {TS_DTYPE_S16, CHOOSE_LEADING, 2, 4, 1, 1, 1, 12},
    {TS_DTYPE_U16, CHOOSE_LANE_SUBLANE, 2, 4, LANES, SUBLANES, 4, 2},
    {TS_DTYPE_S8, CHOOSE_LEADING, 4, 2, 1, 1, 4, 3},
    {TS_DTYPE_U8, CHOOSE_SUBLANE, 4, 2, 1, SUBLANES, 3, 4},
    {TS_DTYPE_PRED, CHOOSE_LANE, 4, 2, LANES, 1, 2, 4},
    {TS_DTYPE_S4, CHOOSE_LEADING, 8, 1, 1, 1, 2, 4},
    {TS_DTYPE_U4, CHOOSE_SUBLANE, 8, 1, 1, SUBLANES, 2, 4},
};

/* Of the sums `first` .. first + count - 1, which lie one behind the other. What is written: of lanes and sublanes the
 * last sum; else the last four, of which each is a vreg. */
static void assert_group(size_t row, const uint32_t *words, int64_t first, int64_t count) {
    int packing = sums[row].packing;
    bool within = sums[row].lanes * sums[row].sublanes > 1, meet = sums[row].sublanes > 1;
    int64_t added = sums[row].added, values = count * packing;
    const uint32_t *out = words + first * added * WORDS;
    for (int64_t value = within || values < 4 ? values - 1 : values - 4; value < values; value++) {
        int64_t vreg = (first + value / packing) * added, sum = 0;
        for (int part = 0; part < packing; part++)
            if (meet || part == value % packing) sum += sum_of(vreg, added, part);
        uint32_t want = sum_pattern(sums[row].dtype, sum * sums[row].lanes * sums[row].sublanes);
        const uint32_t *got = out + (within ? 0 : value % 4 * WORDS);
        if (got[0] != want || got[WORDS - 1] != want)
            fail_msg("row %zu, value %lld: %x, expected %x", row, (long long)value, got[0], want);
    }
}

/* Each vreg is loaded once; a value of it is added once, and once more where rows of a word meet. */
static void assert_work(size_t row, const ts_core_counters *c) {
    int64_t sum_count = sums[row].sums, packing = sums[row].packing, groups = sum_count / sums[row].group;
    bool rest = sum_count % sums[row].group != 0, meet = sums[row].sublanes > 1;
    assert_int_equal(c->instructions[TS_SLOT_VLD], sum_count * sums[row].added);
    int64_t crossings = (sums[row].lanes > 1) + meet;
    assert_int_equal(c->instructions[TS_SLOT_XLU], crossings * sum_count * (meet ? 1 : packing));
    assert_int_equal(c->instructions[TS_SLOT_VST], crossings ? groups + rest : sum_count * packing);
}

TEST(sums_are_of_all_values) {
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++) {
        ts_arena *scratch = ts_arena_new();
        const choose_core core = {.arena = scratch, .machine = v5e, .dtype = sums[i].dtype};
        const choose_kernel_run what = {.kernel = sums[i].kernel,
                                        .packing = sums[i].packing,
                                        .sums = sums[i].sums,
                                        .added = sums[i].added};
        kernel_end end = ran(scratch, &core, &what);
        for (int64_t first = 0; first < what.sums; first += sums[i].group)
            assert_group(i, end.words, first, ts_min(sums[i].group, what.sums - first));
        assert_work(i, &end.counters.cores[0]);
        ts_chip_free(end.chip);
        ts_arena_free(scratch);
    }
}

/* A pass doubles each value; of integers that are packed each word, as one addition does. `alu`: additions, and what
 * takes words apart and puts them together, for each vreg. */
static const struct {
    bool native; /* v6e, whose vector unit adds bf16 */
    ts_dtype dtype;
    int packing, alu;
    int64_t vregs;
} passes[] = {
    {false, TS_DTYPE_F32, 1, 1, 19}, {false, TS_DTYPE_S32, 1, 1, 8}, {false, TS_DTYPE_BF16, 2, 5, 11},
    {true, TS_DTYPE_BF16, 2, 1, 11}, {false, TS_DTYPE_S16, 2, 1, 5}, {true, TS_DTYPE_S8, 4, 1, 9},
    {false, TS_DTYPE_U4, 8, 1, 3},
};

TEST(a_pass_writes_what_it_read) {
    for (size_t i = 0; i < sizeof passes / sizeof passes[0]; i++) {
        ts_arena *scratch = ts_arena_new();
        ts_dtype dtype = passes[i].dtype;
        int packing = passes[i].packing;
        const choose_core core = {.arena = scratch, .machine = passes[i].native ? v6e : v5e, .dtype = dtype};
        const choose_kernel_run what = {CHOOSE_STREAM, packing, passes[i].vregs, 1, 0};
        kernel_end end = ran(scratch, &core, &what);
        bool floats = dtype == TS_DTYPE_F32 || dtype == TS_DTYPE_BF16;
        for (int64_t k = 0; k < (what.sums + 1) * WORDS; k++) {
            uint32_t want =
                floats ? word_of(dtype, packing, k / WORDS, 2) : 2 * word_of(dtype, packing, k / WORDS, 1);
            if (k >= what.sums * WORDS) want = 0; /* nothing is written behind the last */
            if (end.words[k] != want)
                fail_msg("row %zu, word %lld: %x, expected %x", i, (long long)k, end.words[k], want);
        }
        const ts_core_counters *c = &end.counters.cores[0];
        assert_int_equal(c->instructions[TS_SLOT_VLD], what.sums);
        assert_int_equal(c->instructions[TS_SLOT_VST], what.sums);
        assert_int_equal(c->instructions[TS_SLOT_VALU], 1 + what.sums * passes[i].alu); /* 1: mall */
        ts_chip_free(end.chip);
        ts_arena_free(scratch);
    }
}

/* ---- How much of it ---- */

/* Of a tensor of so many vregs: a sum goes over the vregs that hold all of the summed dim, for other dims as they are.
 * Half of the machine's VMEM is `most` vregs; 0: all of v5e. */
static const struct {
    const char *shape;
    int dim; /* -1: one pass */
    choose_kernel kernel;
    int64_t sums, added, most;
} amounts[] = {
    {"f32[512,512]{1,0:T(8,128)}", -1, CHOOSE_STREAM, 256, 1, 0},
    {"f32[512,512]{1,0:T(8,128)}", 0, CHOOSE_SUBLANE, 4, 64, 0},
    {"f32[512,512]{1,0:T(8,128)}", 1, CHOOSE_LANE, 64, 4, 0},
    {"f32[512,513]{1,0:T(8,128)}", 1, CHOOSE_LANE, 64, 5, 0},
    {"f32[512,512]{1,0:T(2,128)}", 0, CHOOSE_SUBLANE, 1, 256, 0}, /* four tiles lie in a vreg */
    {"f32[512,1024]{1,0:T(2,128)}", 1, CHOOSE_LANE_SUBLANE, 256, 2, 0},
    {"f32[512,2048]{1,0:T(1,128)}", 1, CHOOSE_LANE_SUBLANE, 512, 2, 0},
    {"f32[512,2048]{1,0:T(1,128)}", 0, CHOOSE_LEADING, 2, 512, 0},
    {"f32[8,64,512]{2,1,0:T(8,128)}", 0, CHOOSE_LEADING, 32, 8, 0},
    {"f32[8,64,512]{2,1,0:T(*,8,128)}", 1, CHOOSE_SUBLANE, 32, 8, 0},
    {"f32[8,16,64,512]{3,2,1,0:T(8,128)}", 0, CHOOSE_LEADING, 512, 8, 0},
    {"f32[16384]{0:T(1024)}", 0, CHOOSE_LANE_SUBLANE, 1, 16, 0},
    /* Tiles of more dims: a vreg holds 8 rows of one plane. */
    {"f32[16,64,512]{2,1,0:T(2,8,128)}", 2, CHOOSE_LANE, 128, 4, 0},
    {"f32[16,64,512]{2,1,0:T(2,8,128)}", 1, CHOOSE_SUBLANE, 64, 8, 0},
    {"f32[16,64,512]{2,1,0:T(2,8,128)}", 0, CHOOSE_LEADING, 32, 16, 0},
    {"f32[2,4,64,512]{3,2,1,0:T(2,2,8,128)}", 0, CHOOSE_LEADING, 128, 2, 0},
    /* Values of a word: two rows. */
    {"bf16[512,512]{1,0:T(8,128)(2,1)}", 0, CHOOSE_SUBLANE, 2, 64, 0},
    {"bf16[512,512]{1,0:T(8,128)(2,1)}", 1, CHOOSE_LANE_SUBLANE, 64, 2, 0},
    {"bf16[512,512]{1,0:T(16,128)(2,1)}", 1, CHOOSE_LANE, 32, 4, 0},
    {"bf16[512,4096]{1,0:T(1,128)(2,1)}", 1, CHOOSE_LANE_SUBLANE, 256, 4,
     0}, /* of half words, bytes count the first tile */
    {"s8[64,256]{1,0:T(32,128)(4,1)}", 0, CHOOSE_SUBLANE, 2, 2, 0},
    /* Blocks: as long sums as there are in whole groups, else one group of shorter ones. */
    {"f32[512,512]{1,0:T(8,128)}", -1, CHOOSE_STREAM, 96, 1, 100},
    {"f32[512,512]{1,0:T(8,128)}", 1, CHOOSE_LANE, 24, 4, 100},
    {"f32[512,512]{1,0:T(8,128)}", 0, CHOOSE_SUBLANE, 4, 25, 100},
    {"f32[512,512]{1,0:T(8,128)}", 1, CHOOSE_LANE, 8, 2, 16},
    {"f32[512,512]{1,0:T(8,128)}", 1, CHOOSE_LANE, 64, 4, 256},
    {"bf16[512,512]{1,0:T(16,128)(2,1)}", 1, CHOOSE_LANE, 12, 4, 50},
};

/* v5e with a VMEM of that many vregs, and a half one. */
static ts_machine machine_with(int64_t vregs, ts_machine_memory *vmem) {
    ts_machine machine = *v5e;
    *vmem = *v5e->spaces[TS_SPACE_VMEM];
    vmem->capacity_bytes = 2 * vregs * VREG_BYTES + VREG_BYTES / 2;
    machine.spaces[TS_SPACE_VMEM] = vmem;
    return machine;
}

TEST(sums_are_as_long_as_the_dim) {
    for (size_t i = 0; i < sizeof amounts / sizeof amounts[0]; i++) {
        ts_machine_memory vmem;
        const ts_machine small = machine_with(amounts[i].most, &vmem);
        const ts_shape *shape = parse_shape(arena, amounts[i].shape);
        choose_core core = {.arena = arena, .machine = amounts[i].most ? &small : v5e, .dtype = shape->dtype};
        const ts_choose_use use = {amounts[i].dim < 0 ? TS_USE_STREAM : TS_USE_REDUCE, amounts[i].dim, NULL,
                                   NULL};
        ts_error err = {0};
        int64_t cycles = 0;
        const char *limiter;
        if (!choose_core_cycles(&err, &core, shape, &use, &cycles, &limiter))
            fail_msg("row %zu: %s", i, err.message);
        const choose_kernel_run *run = &core.runs[0];
        if (run->kernel != amounts[i].kernel || run->sums != amounts[i].sums ||
            run->added != amounts[i].added)
            fail_msg("row %zu: kernel %d, %lld sums of %lld", i, run->kernel, (long long)run->sums,
                     (long long)run->added);
        int64_t vregs = ts_ceil_div(shape->bytes, VREG_BYTES), done = run->sums * run->added;
        if (done >= vregs) assert_int_equal(cycles, run->cycles);
        assert_int_equal(core.block_bytes, done < vregs ? amounts[i].most * VREG_BYTES : 0);
    }
}

/* All blocks count, those at the ends for what is left in them. */
TEST(all_blocks_are_run) {
    static const struct {
        const char *shape;
        int dim, most;
        int64_t runs[4][3]; /* sums and their vregs, how many of such blocks */
    } rows[] = {
        {"f32[512,512]{1,0:T(8,128)}", 1, 0, {{64, 4, 1}}},
        {"f32[512,512]{1,0:T(8,128)}", -1, 64, {{64, 1, 4}}},
        {"f32[512,512]{1,0:T(8,128)}", -1, 100, {{96, 1, 2}, {64, 1, 1}}},
        {"f32[512,512]{1,0:T(8,128)}", 1, 100, {{24, 4, 2}, {16, 4, 1}}},
        {"f32[512,512]{1,0:T(8,128)}", 0, 100, {{4, 25, 2}, {4, 14, 1}}},
        {"f32[600,640]{1,0:T(8,128)}", 1, 16, {{8, 2, 18}, {3, 2, 2}, {8, 1, 9}, {3, 1, 1}}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_machine_memory vmem;
        const ts_machine small = machine_with(rows[i].most, &vmem);
        choose_core core = {.arena = arena, .machine = rows[i].most ? &small : v5e, .dtype = TS_DTYPE_F32};
        const ts_choose_use use = {rows[i].dim < 0 ? TS_USE_STREAM : TS_USE_REDUCE, rows[i].dim, NULL, NULL};
        int64_t cycles, sum = 0;
        const char *limiter;
        ts_error err = {0};
        assert_true(
            choose_core_cycles(&err, &core, parse_shape(arena, rows[i].shape), &use, &cycles, &limiter));
        for (int k = 0; k < core.run_count; k++) {
            const int64_t *row = rows[i].runs[k];
            if (core.runs[k].sums != row[0] || core.runs[k].added != row[1])
                fail_msg("%zu: %lld sums of %lld", i, (long long)core.runs[k].sums,
                         (long long)core.runs[k].added);
            sum += row[2] * core.runs[k].cycles;
        }
        assert_int_equal(cycles, sum);
        assert_true(core.run_count == 4 || rows[i].runs[core.run_count][0] == 0);
    }
}

/* A group of sums needs room, too, behind half of a small VMEM. */
TEST(a_vmem_of_a_few_vregs) {
    ts_machine_memory vmem;
    const ts_machine small = machine_with(1, &vmem);
    choose_core core = {.arena = arena, .machine = &small, .dtype = TS_DTYPE_F32};
    const ts_choose_use use = {TS_USE_REDUCE, 0, NULL, NULL};
    ts_error err = {0};
    int64_t cycles;
    const char *limiter;
    const ts_shape *shape = parse_shape(arena, "f32[512,512]{1,0:T(8,128)}");
    assert_false(choose_core_cycles(&err, &core, shape, &use, &cycles, &limiter));
    assert_non_null(strstr(err.message, "'xb' is larger than vmem: 98,304 bytes"));
    assert_int_equal(err.line, 0); /* nobody has written the kernel */
}

/* The same kernel is run once, another anew. */
TEST(a_kernel_is_run_once) {
    static const struct {
        const char *shape;
        int dim, runs;
    } rows[] = {
        {"f32[64,256]{1,0:T(8,128)}", 1, 1}, {"f32[64,256]{1,0:T(8,128)}", 1, 1},
        {"f32[64,256]{1,0:T(8,128)}", 0, 2}, {"f32[128,256]{1,0:T(8,128)}", 1, 3},
        {"f32[64,512]{1,0:T(8,128)}", 1, 4}, {"f32[256,64]{0,1:T(8,128)}", 0, 4},
    };
    choose_core core = {.arena = arena, .machine = v5e, .dtype = TS_DTYPE_F32};
    int64_t first = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const ts_choose_use use = {TS_USE_REDUCE, rows[i].dim, NULL, NULL};
        ts_error err = {0};
        int64_t cycles = 0;
        const char *limiter;
        assert_true(
            choose_core_cycles(&err, &core, parse_shape(arena, rows[i].shape), &use, &cycles, &limiter));
        assert_int_equal(core.run_count, rows[i].runs);
        if (i == 0) first = cycles;
        if (i == 1 || i == 5) assert_int_equal(cycles, first);
    }
}

/* Nothing takes no time; and what the vector unit cannot add is not modelled, however little of it there is. */
TEST(nothing_to_add) {
    choose_core core = {.arena = arena, .machine = v5e, .dtype = TS_DTYPE_F32};
    const ts_choose_use use = {TS_USE_REDUCE, 0, NULL, NULL};
    ts_error err = {0};
    int64_t cycles = 1;
    const char *limiter;
    const ts_shape *none = parse_shape(arena, "f32[0,512]{1,0:T(8,128)}");
    assert_true(choose_core_cycles(&err, &core, none, &use, &cycles, &limiter));
    assert_true(cycles == 0 && core.run_count == 0);
    core.dtype = TS_DTYPE_F64;
    assert_false(choose_core_cycles(&err, &core, none, &use, &cycles, &limiter));
    assert_int_equal(err.kind, TS_ERROR_UNMODELLED);
}

static int load_machines(void **state) {
    begin_group(state);
    v5e = ts_machine_load(NULL, arena, "tpu-v5e");
    v6e = ts_machine_load(NULL, arena, "tpu-v6e");
    return v5e && v6e ? 0 : -1;
}

int main(void) { return run_all_tests(load_machines, end_group); }
