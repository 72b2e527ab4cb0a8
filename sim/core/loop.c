/* Loops that never end: which one the core is in, and when that is certain.
 *
 * Control depends on scalars, SMEM and semaphores alone. When all are as they were at an earlier branch back,
 * and nothing came in from vectors, memory or transfers meanwhile, all goes on as before. The state of a
 * branch back is kept at every power of two of them (Brent 1980), and compared with an eighth of those that
 * follow.
 *
 * Loops whose state changes are given up after a bound on the work between two transfers. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "state.h"
#include "base/number.h"

/* After so many branches back the state is kept first; the work is looked at as often. */
enum { STEP = 8192, WINDOW_PART = 8 };

/* What happened since the state was kept. */
enum {
    FROM_VECTOR = 1 << 0, /* a scalar was read from a vector */
    VECTORS_CHANGED = 1 << 1,
    SMEM_READ = 1 << 2,
    SEMAPHORE_READ = 1 << 3,
    TRANSFER_STARTED = 1 << 4,
    OTHERS_MET = 1 << 5, /* a barrier: what other cores do matters */
    SMEM_CHANGED = CORE_SMEM_CHANGED
};

struct core_loops {
    int64_t *taken_before;  /* ts_core.turned when the state was kept */
    int64_t visits;         /* of any branch back */
    int64_t compared_until; /* visits */
    int step;               /* visits that core->turns began with */
    int end;
    uint32_t *sregs;
    int64_t *promised;
};

void core_loops_new(ts_arena *arena, ts_core *core) {
    core_loops *loops = core->loops = TS_NEW(arena, core_loops);
    int semaphores = core->setup.code->semaphore_count;
    core->turned = TS_NEW_ARRAY(arena, int64_t, core->bundle_count);
    core->turns = loops->step = STEP;
    loops->taken_before = TS_NEW_ARRAY(arena, int64_t, core->bundle_count);
    loops->sregs = TS_NEW_ARRAY(arena, uint32_t, core->setup.config->limits.sregs);
    loops->promised = TS_NEW_ARRAY(arena, int64_t, semaphores);
    core->promised = TS_NEW_ARRAY(arena, int64_t, semaphores);
}

/* ---- What a bundle does ---- */

static unsigned sees(ts_opcode opcode, const ts_register_use *use) {
    switch (ts_opcode_get(opcode)->family) {
    case TS_FAMILY_SCALAR:
        return opcode == TS_OP_sld ? SMEM_READ : 0;
    case TS_FAMILY_CONTROL:
        return 0;
    case TS_FAMILY_TRANSFER:
        return opcode == TS_OP_dma        ? TRANSFER_STARTED | VECTORS_CHANGED
               : opcode == TS_OP_sem_read ? SEMAPHORE_READ
               : opcode == TS_OP_barrier  ? OTHERS_MET
                                          : 0;
    default:
        return use->writes && use->written.kind == TS_OPERAND_SREG ? FROM_VECTOR : VECTORS_CHANGED;
    }
}

/* What the host has to do for an instruction, in units of about 20 ns: measured, on one core with AVX2. */
static int64_t work_of(const ts_core *core, ts_opcode opcode) {
    if (core->setup.time_only) return 1;
    int64_t times = core->setup.findings ? 8 : 1;
    switch (ts_opcode_get(opcode)->family) {
    case TS_FAMILY_SCALAR:
    case TS_FAMILY_CONTROL:
    case TS_FAMILY_TRANSFER:
        return 1;
    case TS_FAMILY_MATRIX:
        return 100;
    case TS_FAMILY_EUP:
    case TS_FAMILY_CROSS:
    case TS_FAMILY_TRANSPOSE:
        return 20 * times;
    default:
        return 4 * times;
    }
}

void core_loops_describe(const ts_core *core, const ts_instruction *instruction, const ts_register_use *use,
                         core_bundle *bundle) {
    bundle->sees |= sees(instruction->opcode, use);
    bundle->work += work_of(core, instruction->opcode);
}

/* ---- Which loop ---- */

const core_op *core_branch_of(const core_bundle *bundle) {
    for (int i = 0; i < bundle->op_count; i++) {
        if (bundle->ops[i].target >= 0) return &bundle->ops[i];
    }
    return NULL;
}

/* The outermost loop around the next bundle of those gone round since the state was kept; NULL: none. */
static const core_op *current(const ts_core *core) {
    const core_loops *loops = core->loops;
    const core_op *found = NULL;
    for (int end = core->pc; end < core->bundle_count; end++) {
        const core_op *branch = core_branch_of(&core->bundles[end]);
        bool around = branch && branch->target <= core->pc && core->turned[end] > loops->taken_before[end];
        if (around && (!found || branch->target <= found->target)) found = branch;
    }
    return found;
}

static int64_t times_taken(const ts_core *core, const core_op *branch) {
    for (int end = branch->target; end < core->bundle_count; end++) {
        if (core_branch_of(&core->bundles[end]) == branch) return core->turned[end];
    }
    return 0;
}

/* "this branch back to line 4 was taken 8,192 times, s1 = 3" */
static void describe(const ts_core *core, const core_op *branch, char *text, size_t bytes) {
    const ts_instruction *i = branch->instruction, *head = core->bundles[branch->target].ops[0].instruction;
    bool far = head->source != i->source && head->source;
    char digits[32];
    ts_register_use use;
    int line = core->setup.code->bundles[branch->target].line;
    int at = snprintf(text, bytes, "this branch back to %s%sline %d was taken %s times",
                      far ? head->source->name : "", far ? ", " : "", line,
                      ts_text_group_digits(digits, times_taken(core, branch)));
    ts_instruction_registers(core->setup.code, i, &use);
    for (int k = 0; k < use.read_count && at >= 0 && (size_t)at < bytes; k++) {
        int reg = use.reads[k].reg;
        at += snprintf(text + at, bytes - (size_t)at, ", s%d = %" PRId32, reg, (int32_t)core->sregs[reg]);
    }
}

const ts_instruction *ts_core_loop(const ts_core *core, char *text, size_t bytes) {
    const core_op *branch = current(core);
    *text = '\0';
    if (!branch) return NULL;
    describe(core, branch, text, bytes);
    return branch->instruction;
}

/* ---- Whether it ends ---- */

static void keep(core_loops *loops, ts_core *core, int end) {
    size_t sregs = (size_t)core->setup.config->limits.sregs;
    size_t semaphores = (size_t)core->setup.code->semaphore_count;
    loops->end = end;
    loops->compared_until = loops->visits + loops->visits / WINDOW_PART;
    memcpy(loops->sregs, core->sregs, sregs * sizeof *loops->sregs);
    memcpy(loops->promised, core->promised, semaphores * sizeof *loops->promised);
    memcpy(loops->taken_before, core->turned, (size_t)core->bundle_count * sizeof *core->turned);
    core->seen = 0;
}

/* No transfer is under way, or was. */
static bool is_quiet(const ts_core *core) {
    bool quiet = !(core->seen & TRANSFER_STARTED);
    for (int i = 0; i < core->setup.code->semaphore_count; i++) {
        quiet = quiet && core->promised[i] == core->setup.semaphores[i];
    }
    return quiet;
}

/* No wait will last longer than before, once all transfers are done. */
static bool waits_alike(const core_loops *loops, const ts_core *core) {
    for (int i = 0; i < core->setup.code->semaphore_count; i++) {
        bool same = core->promised[i] == loops->promised[i];
        if (core->promised[i] < loops->promised[i] || ((core->seen & SEMAPHORE_READ) && !same)) return false;
    }
    return true;
}

static bool nothing_came_in(const ts_core *core) {
    unsigned seen = core->seen;
    bool vectors = (seen & FROM_VECTOR) != 0, smem = (seen & SMEM_READ) != 0;
    if ((vectors && (seen & VECTORS_CHANGED)) || (smem && (seen & SMEM_CHANGED))) return false;
    if ((seen & OTHERS_MET) && core->setup.cores > 1) return false;
    return is_quiet(core) || !(vectors || smem || (seen & SEMAPHORE_READ));
}

static bool repeats(const core_loops *loops, const ts_core *core, int end) {
    size_t sregs = (size_t)core->setup.config->limits.sregs;
    return end == loops->end && memcmp(loops->sregs, core->sregs, sregs * sizeof *loops->sregs) == 0 &&
           nothing_came_in(core) && waits_alike(loops, core);
}

static bool refuse(ts_error *err, const ts_core *core, const char *what, const char *why) {
    char text[TS_ERROR_TEXT_BYTES / 2];
    const ts_instruction *branch = ts_core_loop(core, text, sizeof text);
    ts_instruction_error(err, TS_ERROR_FAULT, branch, "%s: %s, %s", what, text, why);
    if (err) err->cycle = core->now;
    return false;
}

bool core_loops_turn(ts_error *err, ts_core *core, int end) {
    core_loops *loops = core->loops;
    loops->visits += loops->step;
    if (loops->visits < loops->compared_until && repeats(loops, core, end)) {
        return refuse(err, core, "endless loop", "and nothing that a branch depends on changes any more");
    }
    if (core->setup.patience > 0 && core->work > core->setup.patience) {
        return refuse(err, core, "a loop without an end in sight",
                      "and no DMA started in the last of them; --max-cycles N goes on up to cycle N");
    }
    if ((loops->visits & (loops->visits - 1)) == 0) keep(loops, core, end);
    bool compares = loops->visits < loops->compared_until;
    core->turns = loops->step = compares ? 1 : STEP - (int)(loops->visits % STEP);
    return true;
}
