/* What a use of a tensor costs the core: kernels of it, in the assembly that programs are in, run on the
 * model of the core with a few vregs and with some more, and extended by the loops that this shows. Where the
 * summed dim lies decides which kernel: vregs are added to vregs as long as possible, then one vreg's
 * sublanes or lanes are. */
#include <string.h>

#include "choose_private.h"
#include "tilesim/base/number.h"
#include "tilesim/chip/chip.h"
#include "tilesim/layout/xla.h"
#include "tilesim/run/run.h"

enum { VREG_BYTES = 4096, SUBLANES = 8, ACCUMULATORS = 8, FEW = 2, MORE = 6, SHORT = 4, LONG = 12 };

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

static void write_sum(ts_text *out, const arithmetic *a, choose_kernel kernel, int packing, int outputs) {
    ts_text_add(out, ".loop out = 0, GROUPS * %d * 1024 * VREGS, %d * 1024 * VREGS\n", outputs, outputs);
    for (int i = 0; i < ACCUMULATORS; i++) ts_text_add(out, "        vmov v%d, 0\n", i);
    ts_text_add(out, "        sadd end, out, 1024 * VREGS\n.loop from = out, end, 1024\n");
    add_additions(out, a, packing, outputs, "1024 * VREGS");
    ts_text_add(out, ".end\n");
    add_end_of_group(out, a, kernel, packing, outputs);
    ts_text_add(out, ".end\n");
}

/* Each vreg is read, one operation is done with its values, and it is written. */
static void write_stream(ts_text *out, const arithmetic *a, int packing, int outputs, bool native) {
    bool unpacks = packing == 2 && strcmp(a->unpack, "bf16") == 0 && !native;
    const char *whole = packing == 1                                               ? a->add
                        : native && packing == 2 && strcmp(a->unpack, "bf16") == 0 ? "vadd.bf16"
                                                                                   : "vadd.i32";
    ts_text_add(out, ".loop from = 0, GROUPS * %d * 1024 * VREGS, %d * 1024\n", outputs, outputs);
    for (int k = 0; k < outputs; k++)
        ts_text_add(out, "        vld v%d, xb.words[from + 1024 * %d]\n", 8 + k, k);
    for (int k = 0; k < outputs; k++) {
        if (!unpacks) {
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

static void write_kernel(ts_text *out, const arithmetic *a, choose_kernel kernel, int packing, int outputs,
                         bool native) {
    ts_text_add(out,
                ".param GROUPS = 2\n.param VREGS = 4\n"
                ".tensor xb vmem f32[GROUPS * %d * 8 * VREGS,128]{1,0:T(8,128)}\n"
                ".reg out = s0\n.reg from = s1\n.reg end = s2\n.pack auto\n        mall m0\n",
                outputs);
    if (kernel == CHOOSE_STREAM)
        write_stream(out, a, packing, outputs, native);
    else
        write_sum(out, a, kernel, packing, outputs);
}

/* ---- Running them ---- */

static bool run(ts_error *err, const ts_machine *machine, const ts_text *text, const char *groups,
                const char *vregs, int64_t *cycles) {
    ts_arena *arena = ts_arena_new();
    ts_source source = {"kernel", text->bytes, text->length};
    ts_define defines[] = {{"GROUPS", groups}, {"VREGS", vregs}};
    ts_target target;
    ts_chip_config config;
    ts_chip_counters counters;
    ts_run_target(machine, &target);
    ts_chip_configure(machine, &config);
    config.time_only = true;
    const ts_program *program = ts_program_parse(err, arena, &source, &target, defines, 2);
    ts_chip *chip = program ? ts_chip_new(err, arena, &config, &program->code, NULL) : NULL;
    bool good = chip && ts_chip_run(err, chip, INT64_C(1) << 60);
    if (good) ts_chip_count(chip, &counters);
    if (good) *cycles = counters.cycles;
    ts_chip_free(chip);
    ts_arena_free(arena);
    return good;
}

static bool measure(ts_error *err, choose_core *core, const ts_shape *shape, choose_kernel kernel) {
    choose_rate *rate = &core->rates[kernel];
    const arithmetic *a = arithmetic_of(err, core->dtype);
    int packing = packing_of(shape);
    if (rate->known || !a) return a != NULL;
    rate->outputs =
        kernel == CHOOSE_STREAM && packing > 2 ? ACCUMULATORS : ACCUMULATORS / (packing > 8 ? 8 : packing);
    ts_arena *arena = ts_arena_new();
    ts_text text;
    int64_t few_short, more_short, few_long, more_long;
    ts_text_init(&text, arena);
    write_kernel(&text, a, kernel, packing, rate->outputs, core->machine->core.limits.bf16);
    bool good = run(err, core->machine, &text, "2", "4", &few_short) &&
                run(err, core->machine, &text, "6", "4", &more_short) &&
                run(err, core->machine, &text, "2", "12", &few_long) &&
                run(err, core->machine, &text, "6", "12", &more_long);
    ts_arena_free(arena);
    if (!good) return false;
    double at_short = (double)(more_short - few_short) / (MORE - FEW),
           at_long = (double)(more_long - few_long) / (MORE - FEW);
    rate->per_vreg = (at_long - at_short) / (LONG - SHORT);
    rate->each = at_short - SHORT * rate->per_vreg;
    rate->base = (double)few_short - FEW * at_short;
    rate->known = true;
    return true;
}

/* ---- Which kernel, and how much of it ---- */

/* Where a dim lies: 0 in the lanes' dim, 1 in the sublanes' dim, 2 elsewhere; dims that a '*' combines lie
 * together. */
static int place_of(const ts_xla_layout *f, int dim) {
    int at = 0, place = 0;
    while (f->minor_to_major[at] != dim) at++;
    const ts_xla_tile *tile = &f->tiles[0];
    int first = 0; /* the tile's entry of the dim `at` from the minor end */
    for (int entry = tile->rank - 1; entry >= 0; entry--, first++) {
        if (entry < tile->rank - 1 && tile->dims[entry] != TS_XLA_COMBINE) place++;
        if (first == at) return place < 2 ? place : 2;
    }
    return 2;
}

static int64_t rows_of(const ts_xla_tile *tile) {
    for (int i = 0; i < tile->rank - 1; i++)
        if (tile->dims[i] != TS_XLA_COMBINE) return tile->dims[i];
    return 1;
}

static choose_kernel kernel_of(const ts_shape *shape, int dim, int64_t *added) {
    const ts_xla_layout *f = shape->xla;
    int packing = packing_of(shape), place = place_of(f, dim);
    int64_t extent = f->dims[dim], rows = f->rank < 2 ? 1 : rows_of(&f->tiles[0]);
    int64_t words = rows < packing ? 1 : rows / packing;      /* sublanes of a tile */
    int64_t beside = words < SUBLANES ? SUBLANES / words : 1; /* tiles in a vreg, along the lanes' dim */
    *added = extent;
    if (place == 0) {
        *added = ts_ceil_div(ts_ceil_div(extent, 128), beside);
        return beside > 1 ? CHOOSE_LANE_SUBLANE : CHOOSE_LANE;
    }
    if (place == 2 || rows == 1) return CHOOSE_LEADING;
    *added = ts_ceil_div(extent, rows);
    return words > 1 ? CHOOSE_SUBLANE : CHOOSE_LEADING; /* the values of a word: no sublanes to add */
}

static const char *const limiters[CHOOSE_KERNELS] = {"core: vreg adds", "core: sublane sums",
                                                     "core: lane sums", "core: lane and sublane sums",
                                                     "core: one pass"};

bool choose_core_cycles(ts_error *err, choose_core *core, const ts_shape *shape, const ts_choose_use *use,
                        int64_t *cycles, const char **limiter) {
    int64_t added = 1, vregs = ts_ceil_div(shape->bytes, VREG_BYTES);
    choose_kernel kernel = CHOOSE_STREAM;
    if (use->kind == TS_USE_REDUCE) kernel = kernel_of(shape, use->dim, &added);
    if (!measure(err, core, shape, kernel)) return false;
    const choose_rate *rate = &core->rates[kernel];
    if (added < 1) added = 1;
    /* Of the last group, only as much as there is. */
    double groups = (double)vregs / (double)added / rate->outputs;
    double each = rate->each + rate->per_vreg * (double)added;
    *cycles = (int64_t)(rate->base + groups * each + 0.5);
    *limiter = limiters[kernel];
    return true;
}

/* Every vreg is loaded once. */
int64_t choose_core_bound(const choose_core *core, const ts_shape *shape) {
    return ts_ceil_div(shape->bytes / VREG_BYTES, core->machine->core.limits.slots[TS_SLOT_VLD]);
}
