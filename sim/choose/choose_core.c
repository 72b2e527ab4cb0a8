/* What a use of a tensor costs the core: kernels of it, in the assembly that programs are in, run on the
 * model of the core with as many vregs as the tensor has. One that takes more than half of VMEM comes in
 * blocks of that size, one after another. Where the summed dim lies decides which kernel: vregs are added to
 * vregs as long as possible, then one vreg's sublanes or lanes are. */
#include <stdio.h>
#include <string.h>

#include "choose_private.h"
#include "base/number.h"
#include "chip/chip.h"
#include "layout/notation/xla.h"
#include "run/run.h"

enum { ACCUMULATORS = 8 };

/* How values of a type are taken out of words, and added. */
typedef struct {
    ts_dtype dtype;
    const char *unpack; /* with %d for the destination, the source and the part; NULL: words are values */
    const char *add;
    const char *sum; /* of lanes or sublanes: the type at the end of the mnemonic */
} arithmetic;

static const arithmetic types[] = {
    {TS_DTYPE_F32, NULL, "vadd.f32", "f32"},          {TS_DTYPE_S32, NULL, "vadd.i32", "i32"},
    {TS_DTYPE_U32, NULL, "vadd.i32", "i32"},          {TS_DTYPE_BF16, "bf16", "vadd.f32", "f32"},
    {TS_DTYPE_S16, "vunpack.i16", "vadd.i32", "i32"}, {TS_DTYPE_U16, "vunpack.u16", "vadd.i32", "i32"},
    {TS_DTYPE_S8, "vunpack.i8", "vadd.i32", "i32"},   {TS_DTYPE_U8, "vunpack.u8", "vadd.i32", "i32"},
    {TS_DTYPE_PRED, "vunpack.u8", "vadd.i32", "i32"}, {TS_DTYPE_S4, "vunpack.i4", "vadd.i32", "i32"},
    {TS_DTYPE_U4, "vunpack.u4", "vadd.i32", "i32"},
};

static const arithmetic *arithmetic_of(ts_error *err, ts_dtype dtype) {
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].dtype == dtype) return &types[i];
    ts_error_set(err, TS_ERROR_UNMODELLED,
                 "the vector unit has no arithmetic for %s: only transfers can be priced",
                 ts_dtype_get(dtype)->name);
    return NULL;
}

static int packing_of(const ts_shape *shape) {
    return shape->element_bits < 32 && shape->element_bits > 0 ? 32 / shape->element_bits : 1;
}

/* ---- Kernels as text ---- */

static void add_unpack(ts_text *out, const arithmetic *a, int to, int from, int part) {
    if (strcmp(a->unpack, "bf16") == 0)
        ts_text_add(out, "        vunpack.%s.bf16 v%d, v%d\n", part ? "hi" : "lo", to, from);
    else
        ts_text_add(out, "        %s v%d, v%d, %d\n", a->unpack, to, from, part);
}

/* One vreg of each output is loaded and added to the output's accumulators, one for each value in a word. */
static void add_additions(ts_text *out, const arithmetic *a, int packing, int outputs, const char *plane) {
    for (int k = 0; k < outputs; k++)
        ts_text_add(out, "        vld v%d, xb.words[from + %d * %s]\n", 8 + k, k, plane);
    for (int k = 0; k < outputs; k++) {
        for (int part = 0; part < packing; part++) {
            int accumulator = k * packing + part, value = packing > 1 ? 16 + accumulator : 8 + k;
            if (packing > 1) add_unpack(out, a, value, 8 + k, part);
            ts_text_add(out, "        %s v%d, v%d, v%d\n", a->add, accumulator, accumulator, value);
        }
    }
}

static void add_end_of_group(ts_text *out, const arithmetic *a, choose_kernel kernel, int packing,
                             int outputs) {
    bool lane = kernel == CHOOSE_LANE || kernel == CHOOSE_LANE_SUBLANE;
    bool sublane = kernel == CHOOSE_SUBLANE || kernel == CHOOSE_LANE_SUBLANE;
    for (int k = 0; k < outputs; k++) {
        /* Of a sum over sublanes the values of a word meet; else each is a row of its own. */
        for (int part = 1; part < packing && sublane; part++)
            ts_text_add(out, "        %s v%d, v%d, v%d\n", a->add, k * packing, k * packing,
                        k * packing + part);
        for (int part = 0; part < (sublane ? 1 : packing); part++) {
            int value = k * packing + part;
            if (lane) ts_text_add(out, "        vsum.lane.%s v%d, v%d\n", a->sum, value, value);
            if (sublane) ts_text_add(out, "        vsum.sublane.%s v%d, v%d\n", a->sum, value, value);
            if (lane || sublane)
                ts_text_add(out, "        vmov v30, v%d if m0\n", value);
            else
                ts_text_add(out, "        vst xb.words[out + 1024 * %d], v%d\n", value % 4, value);
        }
    }
    if (lane || sublane) ts_text_add(out, "        vst xb.words[out], v30\n");
}

/* So many groups of `outputs` sums, or vregs of a pass, from the one of number `first` on. */
typedef struct {
    int outputs;
    int64_t first, count;
} grouping;

/* Sums of `added` vregs each that lie one behind the other. Few sums come in `split` parts each, with
 * accumulators of their own, which are added at the end. */
static void write_sums(ts_text *out, const arithmetic *a, const choose_kernel_run *what, grouping g,
                       int split) {
    int packing = what->packing, outputs = g.outputs, parts = outputs * split;
    long long each = 1024 * (long long)ts_ceil_div(what->added, split),
              begin = 1024 * (long long)(g.first * what->added);
    char plane[32];
    snprintf(plane, sizeof plane, "%lld", each);
    ts_text_add(out, ".loop out = %lld, %lld, %lld\n", begin, begin + g.count * parts * each, parts * each);
    for (int i = 0; i < ACCUMULATORS; i++) ts_text_add(out, "        vmov v%d, 0\n", i);
    ts_text_add(out, "        sadd end, out, %lld\n.loop from = out, end, 1024\n", each);
    add_additions(out, a, packing, parts, plane);
    ts_text_add(out, ".end\n");
    for (int i = outputs * packing; i < parts * packing; i++)
        ts_text_add(out, "        %s v%d, v%d, v%d\n", a->add, i % (outputs * packing),
                    i % (outputs * packing), i);
    add_end_of_group(out, a, what->kernel, packing, outputs);
    ts_text_add(out, ".end\n");
}

/* What adds words of several values as they are; NULL: they are unpacked. */
static const char *whole_addition(const arithmetic *a, int packing, const ts_machine *machine) {
    if (packing == 1) return a->add;
    if (packing != 2 || strcmp(a->unpack, "bf16") != 0) return "vadd.i32";
    return machine->core.limits.bf16 ? "vadd.bf16" : NULL;
}

/* Each vreg is read, one operation is done with its values, and it is written. */
static void write_pass(ts_text *out, const arithmetic *a, const char *whole, grouping g) {
    int outputs = g.outputs;
    ts_text_add(out, ".loop from = %lld * 1024, %lld * 1024, %d * 1024\n", (long long)g.first,
                (long long)(g.first + g.count * outputs), outputs);
    for (int k = 0; k < outputs; k++)
        ts_text_add(out, "        vld v%d, xb.words[from + 1024 * %d]\n", 8 + k, k);
    for (int k = 0; k < outputs; k++) {
        if (whole) {
            ts_text_add(out, "        %s v%d, v%d, v%d\n", whole, 8 + k, 8 + k, 8 + k);
            continue;
        }
        for (int part = 0; part < 2; part++) {
            add_unpack(out, a, 16 + 2 * k + part, 8 + k, part);
            ts_text_add(out, "        vadd.f32 v%d, v%d, v%d\n", 16 + 2 * k + part, 16 + 2 * k + part,
                        16 + 2 * k + part);
        }
        ts_text_add(out, "        vpack.bf16 v%d, v%d, v%d\n", 8 + k, 16 + 2 * k, 17 + 2 * k);
    }
    for (int k = 0; k < outputs; k++)
        ts_text_add(out, "        vst xb.words[from + 1024 * %d], v%d\n", k, 8 + k);
    ts_text_add(out, ".end\n");
}

static int outputs_of(choose_kernel kernel, int packing) {
    bool passes = kernel == CHOOSE_STREAM && packing > 2;
    return passes ? ACCUMULATORS : ACCUMULATORS / (packing > 8 ? 8 : packing);
}

/* Whole groups in a loop, then what is left. */
bool choose_write_kernel(ts_error *err, ts_text *out, const choose_core *core,
                         const choose_kernel_run *what) {
    const arithmetic *a = arithmetic_of(err, core->dtype);
    if (!a) return false;
    int outputs = outputs_of(what->kernel, what->packing);
    int64_t whole = what->sums / outputs;
    ts_text_add(out,
                ".tensor xb vmem f32[%lld * 8,128]{1,0:T(8,128)}\n"
                ".reg out = s0\n.reg from = s1\n.reg end = s2\n.pack auto\n        mall m0\n",
                (long long)(what->sums * what->added + 2 * ACCUMULATORS));
    for (int tail = 0; tail < 2; tail++) {
        grouping g = {outputs, 0, whole};
        if (tail) g = (grouping){(int)(what->sums - whole * outputs), whole * outputs, 1};
        if (g.outputs == 0 || g.count == 0) continue;
        if (what->kernel == CHOOSE_STREAM)
            write_pass(out, a, whole_addition(a, what->packing, core->machine), g);
        else
            write_sums(out, a, what, g, outputs / g.outputs);
    }
    return true;
}

/* ---- Running them ---- */

static bool run(ts_error *err, const choose_core *core, const ts_text *text, int64_t *cycles) {
    ts_arena *arena = ts_arena_new();
    ts_source source = {"kernel", text->bytes, text->length};
    ts_error own = {0};
    ts_target target;
    ts_chip_config config;
    ts_chip_counters counters;
    ts_run_target(core->machine, &target);
    ts_chip_configure(core->machine, &config);
    config.interrupt = core->interrupt;
    config.time_only = true;
    const ts_program *program = ts_program_parse(&own, arena, &source, &target, NULL, 0);
    ts_chip *chip = program ? ts_chip_new(&own, arena, &config, &program->code, NULL) : NULL;
    bool good = chip && ts_chip_run(&own, chip, INT64_C(1) << 60);
    if (good) ts_chip_count(chip, &counters);
    if (good) *cycles = counters.cycles;
    ts_chip_free(chip);
    ts_arena_free(arena);
    return good || (!ts_error_keep_system(err, &own) &&
                    ts_error_within(err, &own, "a kernel that uses it, to price it"));
}

/* The cycles of a kernel, run unless it was before. */
static bool find_cycles(ts_error *err, choose_core *core, const choose_kernel_run *what, int64_t *cycles) {
    for (int i = 0; i < core->run_count; i++) {
        const choose_kernel_run *known = &core->runs[i];
        if (known->kernel != what->kernel || known->packing != what->packing || known->sums != what->sums ||
            known->added != what->added)
            continue;
        *cycles = known->cycles;
        return true;
    }
    ts_text text = ts_text_begin(core->arena);
    if (!choose_write_kernel(err, &text, core, what)) return false;
    if (!run(err, core, &text, cycles)) return false;
    choose_kernel_run *new = TS_APPEND(core->arena, core->runs, core->run_count);
    *new = *what;
    new->cycles = *cycles;
    return true;
}

/* A tensor's blocks one after another: whole ones, and at the end of either direction what is left. */
static bool add_blocks(ts_error *err, choose_core *core, const choose_kernel_run *all,
                       const choose_kernel_run *block, int64_t *cycles) {
    for (int end = 0; end < 4; end++) {
        choose_kernel_run one = *block;
        int64_t count[2] = {all->sums / block->sums, all->added / block->added}, each;
        if (end & 1) one.sums = all->sums % block->sums, count[0] = 1;
        if (end & 2) one.added = all->added % block->added, count[1] = 1;
        if (one.sums == 0 || one.added == 0) continue;
        if (!find_cycles(err, core, &one, &each)) return false;
        *cycles += count[0] * count[1] * each;
    }
    return true;
}

/* ---- Which kernel, and how much of it ---- */

/* Where a dim lies: 0 in the lanes' dim, 1 in the sublanes' dim, 2 elsewhere; dims that a '*' combines lie
 * together. */
static int tile_position(const ts_xla_layout *f, int dim) {
    int at = 0;
    int64_t position = 0;
    while (f->minor_to_major[at] != dim) at++;
    const ts_xla_tile *tile = &f->tiles[0];
    int first = 0; /* the tile's entry of the dim `at` from the minor end */
    for (int entry = tile->rank - 1; entry >= 0; entry--, first++) {
        if (entry < tile->rank - 1 && tile->dims[entry] != TS_XLA_COMBINE) position++;
        if (first == at) return (int)ts_min(position, 2);
    }
    return 2;
}

/* Of a tile's planes, should it have more than two dims. */
static int64_t rows_of(const ts_xla_tile *tile) {
    for (int i = tile->rank - 2; i >= 0; i--)
        if (tile->dims[i] != TS_XLA_COMBINE) return tile->dims[i];
    return 1;
}

static choose_kernel kernel_of(const ts_shape *shape, int dim, int64_t *added) {
    const ts_xla_layout *f = shape->xla;
    int packing = packing_of(shape), position = tile_position(f, dim);
    int64_t extent = f->dims[dim], rows = f->rank < 2 ? 1 : rows_of(&f->tiles[0]);
    int64_t words = rows < packing ? 1 : rows / packing; /* sublanes of a tile */
    int64_t beside =
        words < TS_SUBLANES ? TS_SUBLANES / words : 1; /* tiles in a vreg, along the lanes' dim */
    *added = extent;
    if (position == 0) {
        *added = ts_ceil_div(ts_ceil_div(extent, TS_LANES), beside);
        return beside > 1 ? CHOOSE_LANE_SUBLANE : CHOOSE_LANE;
    }
    if (position == 2 || rows == 1) return CHOOSE_LEADING;
    *added = ts_ceil_div(extent, rows);
    return words > 1 ? CHOOSE_SUBLANE : CHOOSE_LEADING; /* the values of a word: no sublanes to add */
}

static const char *const limiters[CHOOSE_KERNELS] = {"core: vreg adds", "core: sublane sums",
                                                     "core: lane sums", "core: lane and sublane sums",
                                                     "core: one pass"};

/* What kernels are run on at once: the other half of VMEM fills meanwhile. At least a group; the assembler
 * refuses a VMEM that has no room for one. */
static int64_t block_vregs(const ts_machine *machine) {
    const ts_machine_memory *vmem = machine->spaces[TS_SPACE_VMEM];
    int64_t bytes = vmem ? vmem->capacity_bytes : 0;
    return ts_max(bytes / 2 / TS_VREG_BYTES, ACCUMULATORS);
}

/* Whole groups of as long sums as there are, if one fits; else a group of shorter sums. */
static void fit_block(choose_kernel_run *what, int64_t most) {
    int64_t group = outputs_of(what->kernel, what->packing);
    if (what->sums < group) group = what->sums;
    if (what->added > most / group) what->added = most / group;
    int64_t groups = most / (group * what->added);
    if (what->sums > groups * group) what->sums = groups * group;
}

bool choose_core_cycles(ts_error *err, choose_core *core, const ts_shape *shape, const ts_choose_use *use,
                        int64_t *cycles, const char **limiter) {
    int64_t vregs = ts_ceil_div(shape->bytes, TS_VREG_BYTES);
    choose_kernel_run what = {.kernel = CHOOSE_STREAM, .packing = packing_of(shape), .added = 1};
    if (use->kind == TS_USE_REDUCE) what.kernel = kernel_of(shape, use->dim, &what.added);
    *limiter = limiters[what.kernel];
    *cycles = 0;
    if (vregs == 0) return arithmetic_of(err, core->dtype) != NULL;
    if (what.added > vregs) what.added = vregs;
    what.sums = ts_ceil_div(vregs, what.added);
    const choose_kernel_run all = what;
    fit_block(&what, block_vregs(core->machine));
    if (what.sums < all.sums || what.added < all.added)
        core->block_bytes = block_vregs(core->machine) * TS_VREG_BYTES;
    return add_blocks(err, core, &all, &what, cycles);
}

/* Every vreg is loaded once. */
int64_t choose_core_bound(const choose_core *core, const ts_shape *shape) {
    return ts_ceil_div(shape->bytes / TS_VREG_BYTES, core->machine->core.limits.slots[TS_SLOT_VLD]);
}
