/* Loops that never end: which one the core is in, and when that is certain.
 *
 * Control depends on scalars, SMEM and semaphores alone. When all are as they were at an earlier branch back,
 * and nothing came in from vectors, memory or transfers meanwhile, all goes on as before. The state of a
 * branch back is kept at every power of two of them (Brent 1980), and compared with an eighth of those that
 * follow.
 *
 * Loops whose state changes are given up after a bound on the work between two transfers of slices that were
 * not moved before, but for those that count towards an end before the run's last cycle. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "state.h"

/* After so many branches back the state is kept first; the work is looked at as often. */
enum { STEP = 8192, WINDOW_PART = 8 };

/* What a transfer costs the host in units of work: measured, 6 us and 2.5 elements a ns. */
enum { TRANSFER_WORK = 300, ELEMENTS_A_UNIT = 50 };

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
    int64_t *taken_before;  /* ts_core.branches_taken when the state was kept */
    int64_t visits;         /* of any branch back */
    int64_t compared_until; /* visits */
    int step;               /* visits that core->branches_left began with */
    int end;
    int64_t kept_at; /* cycle */
    uint32_t *sregs;
    int64_t *promised;
    struct reached *reached; /* by transfer */
};

/* The indices of a transfer, those of the source before the destination's, that come first and last of all
 * there were, with the first index or the last one as the one that counts most: whichever way loops walk over
 * a tensor, these move. */
struct reached {
    bool started;
    int64_t *ends[4];
};

void core_loops_new(ts_arena *arena, ts_core *core) {
    core_loops *loops = core->loops = TS_NEW(arena, core_loops);
    int semaphores = core->setup.code->semaphore_count;
    core->branches_taken = TS_NEW_ARRAY(arena, int64_t, core->bundle_count);
    core->branches_left = loops->step = STEP;
    loops->taken_before = TS_NEW_ARRAY(arena, int64_t, core->bundle_count);
    loops->sregs = TS_NEW_ARRAY(arena, uint32_t, core->setup.config->limits.sregs);
    loops->promised = TS_NEW_ARRAY(arena, int64_t, semaphores);
    core->promised = TS_NEW_ARRAY(arena, int64_t, semaphores);
    loops->reached = TS_NEW_ARRAY(arena, struct reached, core->setup.code->transfer_count);
    for (int i = 0; i < core->setup.code->transfer_count; i++) {
        const ts_transfer *transfer = &core->setup.code->transfers[i];
        int rank = transfer->source.rank + transfer->destination.rank;
        for (int end = 0; end < 4; end++) loops->reached[i].ends[end] = TS_NEW_ARRAY(arena, int64_t, rank);
    }
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
    for (int i = 0; i < bundle->op_count; i++)
        if (bundle->ops[i].target >= 0) return &bundle->ops[i];
    return NULL;
}

/* The bundle whose branch closes the outermost loop around the next one, of those gone round since the state
 * was kept; -1: none. */
static int current(const ts_core *core) {
    const core_loops *loops = core->loops;
    int found = -1, head = core->pc;
    for (int end = core->pc; end < core->bundle_count; end++) {
        const core_op *branch = core_branch_of(&core->bundles[end]);
        if (!branch || branch->target > head || core->branches_taken[end] == loops->taken_before[end])
            continue;
        found = end;
        head = branch->target;
    }
    return found;
}

/* "this branch back to line 4 was taken 8,192 times, s1 = 3" */
static void describe(const ts_core *core, int end, char *text, size_t bytes) {
    const core_op *branch = core_branch_of(&core->bundles[end]);
    const ts_instruction *i = branch->instruction;
    const ts_bundle *first = &core->setup.code->bundles[branch->target];
    const ts_source *head = first->count > 0 ? first->instructions[0].source : NULL;
    bool far = head && head != i->source;
    char digits[32];
    ts_register_use use;
    int at =
        snprintf(text, bytes, "this branch back to %s%sline %d was taken %s times", far ? head->name : "",
                 far ? ", " : "", first->line, ts_text_group_digits(digits, core->branches_taken[end]));
    ts_instruction_registers(core->setup.code, i, &use);
    for (int k = 0; k < use.read_count && at >= 0 && (size_t)at < bytes; k++) {
        int reg = use.reads[k].reg;
        at += snprintf(text + at, bytes - (size_t)at, ", s%d = %" PRId32, reg, (int32_t)core->sregs[reg]);
    }
}

const ts_instruction *ts_core_loop(const ts_core *core, char *text, size_t bytes) {
    int end = current(core);
    *text = '\0';
    if (end < 0) return NULL;
    describe(core, end, text, bytes);
    return core_branch_of(&core->bundles[end])->instruction;
}

/* ---- Whether it goes on ---- */

/* Below 0: a comes before b, its last index being the one that counts most if `last`. */
static int order(const int64_t *a, const int64_t *b, int count, bool last) {
    for (int i = 0; i < count; i++) {
        int dim = last ? count - 1 - i : i;
        if (a[dim] != b[dim]) return ts_order(a[dim], b[dim]);
    }
    return 0;
}

static int64_t elements_moved(const ts_core *core, const ts_slice *slice) {
    return core->setup.time_only ? 0 : ts_slice_elements(slice);
}

/* At the next branch back, not after STEP of them. */
static void look_soon(ts_core *core) {
    core->loops->step -= core->branches_left - 1;
    core->branches_left = 1;
}

void core_loops_transfer(ts_core *core, int index) {
    const ts_transfer *transfer = &core->setup.code->transfers[index];
    struct reached *reached = &core->loops->reached[index];
    int count = transfer->source.rank + transfer->destination.rank;
    bool new = !reached->started;
    for (int end = 0; end < 4; end++) {
        int compared = order(core->begin, reached->ends[end], count, end & 1);
        if (reached->started && (end & 2 ? compared >= 0 : compared <= 0)) continue;
        memcpy(reached->ends[end], core->begin, (size_t)count * sizeof *core->begin);
        new = true;
    }
    reached->started = true;
    int64_t work = TRANSFER_WORK + elements_moved(core, &transfer->source) / ELEMENTS_A_UNIT;
    core->work = new ? 0 : core->work + work;
    if (core->setup.patience > 0 && core->work > core->setup.patience) look_soon(core);
}

/* The value of a branch's operand, when registers were as they are in `sregs`. */
static int64_t operand(const ts_core *core, const core_op *branch, int number, const uint32_t *sregs) {
    const uint32_t *in = branch->in[number];
    if (!in) return 0;
    bool reg = in >= core->sregs && in < core->sregs + core->setup.config->limits.sregs;
    return (int32_t)(reg ? sregs[in - core->sregs] : *in);
}

/* How far a branch's operands are apart. */
static int64_t gap(const ts_core *core, const core_op *branch, const uint32_t *sregs) {
    return operand(core, branch, 0, sregs) - operand(core, branch, 1, sregs);
}

/* The loop of this branch counts towards its end, and at the pace since the state was kept comes there before
 * the run's last cycle. (A jump is as far from its end as before.) */
static bool ends_in_time(const ts_core *core, const core_op *branch) {
    ts_opcode opcode = branch->instruction->opcode;
    if (opcode == TS_OP_brz || opcode == TS_OP_br_eq) return false;
    int64_t before = gap(core, branch, core->loops->sregs), left = gap(core, branch, core->sregs);
    if (before < 0) before = -before, left = -left;
    double cycles = (double)(core->now - core->loops->kept_at) * (double)left;
    int64_t limit = core->setup.max_cycles;
    return left >= 0 && left < before &&
           (limit == 0 || cycles / (double)(before - left) <= (double)(limit - core->now));
}

/* ---- Whether it ends ---- */

static void keep(core_loops *loops, ts_core *core, int end) {
    size_t sregs = (size_t)core->setup.config->limits.sregs;
    size_t semaphores = (size_t)core->setup.code->semaphore_count;
    loops->end = end;
    loops->compared_until = loops->visits + loops->visits / WINDOW_PART;
    loops->kept_at = core->now;
    memcpy(loops->sregs, core->sregs, sregs * sizeof *loops->sregs);
    memcpy(loops->promised, core->promised, semaphores * sizeof *loops->promised);
    memcpy(loops->taken_before, core->branches_taken,
           (size_t)core->bundle_count * sizeof *core->branches_taken);
    core->seen = 0;
}

/* No transfer is under way, or was. */
static bool is_quiet(const ts_core *core) {
    bool quiet = !(core->seen & TRANSFER_STARTED);
    for (int i = 0; i < core->setup.code->semaphore_count; i++)
        quiet = quiet && core->promised[i] == core->setup.semaphores[i];
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
    if ((seen & SEMAPHORE_READ) && core->setup.device) return false; /* other devices signal when they like */
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

bool core_loops_visit(ts_error *err, ts_core *core, int end) {
    core_loops *loops = core->loops;
    loops->visits += loops->step;
    if (loops->visits < loops->compared_until && repeats(loops, core, end))
        return refuse(err, core, "endless loop", "and nothing that a branch depends on changes any more");
    if (core->setup.patience > 0 && core->work > core->setup.patience) {
        static const char why[] = "and no DMA of a new slice started in the last of them; with max_cycles N "
                                  "it goes on up to cycle N";
        bool kept = loops->compared_until > 0;
        if (kept && !ends_in_time(core, core_branch_of(&core->bundles[current(core)])))
            return refuse(err, core, "a loop without an end in sight", why);
        if (!kept) keep(loops, core, end);
        core->work = 0;
    }
    if ((loops->visits & (loops->visits - 1)) == 0) keep(loops, core, end);
    bool compares = loops->visits < loops->compared_until;
    core->branches_left = loops->step = compares ? 1 : STEP - (int)(loops->visits % STEP);
    return true;
}
