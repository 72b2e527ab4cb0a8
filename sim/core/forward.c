/* Time only: iterations of a loop that are done without time, for their scalars alone.
 *
 * A loop can be gone round so when it starts transfers, and nothing in it that decides the way or an address
 * comes from vectors, from what transfers bring, or from how long things take. Iterations are alike when they
 * take the same branches, wait for the same semaphores or for as many cycles, and start the same transfers at
 * the same point of a tile; a period is how many it takes until they begin again. What they cost is the
 * caller's to say: it lets whole periods be simulated, goes forward over others, and has the simulated ones
 * count for them. */
#include "core/forward.h"

#include <assert.h>
#include <string.h>

#include "state.h"
#include "base/list.h"
#include "base/number.h"
#include "layout/notation/xla.h"
#include "layout/shape.h"

/* The longest period, in iterations; signatures that are kept; iterations from one state that is kept to the
 * next; passages of an inner loop that are kept. */
enum { PERIODS = 1024, KEPT = 2560, STRIDE = 64, PASSAGES = 4 };

/* What went on in an inner loop that began with these scalars, until it ended. */
typedef struct {
    int64_t bundles; /* 0: unused */
    uint64_t signature;
    uint32_t *before, *after; /* of `sregs` */
} passage;

/* Without transfers: where it begins with the same scalars, the same goes on. */
typedef struct {
    int end;
    int sreg_count;
    int *sregs; /* that it reads or writes; NULL until it is first looked at */
    int oldest;
    passage passages[PASSAGES];
} inner_loop;

typedef struct {
    int64_t cycle, cycles; /* cycles: that it stands for */
    int64_t stalls[TS_STALL_COUNT];
    int64_t *issues, *stall_cycles, *branches_taken; /* of the bundles */
} forward_counts;

struct core_forward {
    bool *loops;        /* by bundle: its branch back closes a loop that can be gone round */
    bool *is_idle;      /* by bundle: no scalar, no branch, no transfer in it */
    inner_loop **inner; /* by bundle: the one that begins with it; NULL: none */
    /* By transfer and dim, of the source, then of the destination: extents of its tiles. */
    int64_t **residues;
    uint32_t *sregs; /* of the head of an iteration */
    uint64_t signatures[KEPT];
    ts_arena *arena;
    LIST_OF(uint32_t) passed; /* the scalars after each STRIDE iterations that were looked at */
    forward_counts before;
};

/* ---- Which loops ---- */

static int sregs_of(const ts_core *core) { return core->setup.config->limits.sregs; }

static bool is_smem(const ts_core *core, const ts_instruction *dma) {
    const ts_transfer *t = &core->setup.code->transfers[dma->operands[0].as.transfer];
    return core->setup.code->tensors[t->destination.tensor].space == TS_SPACE_SMEM;
}

static bool can_pass(const ts_core *core, const core_op *op) {
    ts_opcode opcode = op->instruction->opcode;
    switch (ts_opcode_get(opcode)->family) {
    case TS_FAMILY_SCALAR:
        return opcode != TS_OP_sst && op->run != core_run_copy_word;
    case TS_FAMILY_CONTROL:
        return true;
    case TS_FAMILY_TRANSFER:
        return opcode == TS_OP_wait || (opcode == TS_OP_dma && !is_smem(core, op->instruction));
    default:
        return ts_opcode_get(opcode)->shadow != TS_SHADOW_FIRST_WORD;
    }
}

static bool can_pass_all(const ts_core *core, const core_bundle *bundle) {
    for (int i = 0; i < bundle->op_count; i++)
        if (!can_pass(core, &bundle->ops[i])) return false;
    return true;
}

static void find_sregs(const ts_core *core, int head, inner_loop *inner) {
    ts_arena *arena = core->forward->arena;
    int count = sregs_of(core);
    bool *used = TS_NEW_ARRAY(arena, bool, count);
    inner->sregs = TS_NEW_ARRAY(arena, int, count);
    for (int b = head; b <= inner->end; b++) {
        const core_bundle *bundle = &core->bundles[b];
        for (int i = 0; i < bundle->read_count; i++)
            if (bundle->reads[i] < count) used[bundle->reads[i]] = true;
        for (int i = 0; i < bundle->write_count; i++)
            if (bundle->writes[i].reg < count) used[bundle->writes[i].reg] = true;
    }
    for (int i = 0; i < count; i++)
        if (used[i]) inner->sregs[inner->sreg_count++] = i;
    for (int i = 0; i < PASSAGES; i++) {
        inner->passages[i].before = TS_NEW_ARRAY(arena, uint32_t, inner->sreg_count);
        inner->passages[i].after = TS_NEW_ARRAY(arena, uint32_t, inner->sreg_count);
    }
}

/* Loops that can be gone round: all of it can be passed. */
static void find_loops(ts_core *core) {
    core_forward *forward = core->forward;
    int first = 0, last_dma = -1; /* the bundles from `first` on can be passed */
    for (int end = 0; end < core->bundle_count; end++) {
        const core_op *branch = core_branch_of(&core->bundles[end]);
        if (!can_pass_all(core, &core->bundles[end])) first = end + 1;
        if (core->bundles[end].starts_dma) last_dma = end;
        if (!branch || branch->target > end || branch->target < first) continue;
        forward->loops[end] = last_dma >= branch->target;
        if (forward->loops[end]) continue;
        inner_loop *inner = forward->inner[branch->target] = TS_NEW(forward->arena, inner_loop);
        inner->end = end;
    }
}

static bool is_idle(const core_bundle *bundle) {
    for (int i = 0; i < bundle->op_count; i++) {
        const core_op *op = &bundle->ops[i];
        ts_family family = ts_opcode_get(op->instruction->opcode)->family;
        if (family == TS_FAMILY_SCALAR || family == TS_FAMILY_CONTROL || family == TS_FAMILY_TRANSFER ||
            op->address)
            return false;
    }
    return true;
}

/* What moves by whole tiles is the same plan elsewhere. */
static void set_residues(const ts_core *core, const ts_slice *slice, int64_t *residues) {
    const ts_xla_layout *xla = core->setup.code->tensors[slice->tensor].shape->xla;
    const ts_xla_tile *tile = xla && xla->tile_count > 0 ? &xla->tiles[0] : NULL;
    for (int i = 0; i < slice->rank; i++) residues[i] = 1;
    for (int i = 0; tile && i < tile->rank && i < slice->rank; i++) {
        int64_t extent = tile->dims[tile->rank - 1 - i];
        if (extent > 0) residues[ts_xla_dim_at(xla, i)] = extent;
    }
}

static void make_residues(ts_arena *arena, const ts_core *core, core_forward *forward) {
    const ts_code *code = core->setup.code;
    forward->residues = TS_NEW_ARRAY(arena, int64_t *, code->transfer_count);
    for (int i = 0; i < code->transfer_count; i++) {
        const ts_slice *from = &code->transfers[i].source, *to = &code->transfers[i].destination;
        forward->residues[i] = TS_NEW_ARRAY(arena, int64_t, from->rank + to->rank);
        set_residues(core, from, forward->residues[i]);
        set_residues(core, to, forward->residues[i] + from->rank);
    }
}

void core_forward_new(ts_arena *arena, ts_core *core) {
    const ts_core_ports *ports = core->setup.ports;
    if (!core->setup.time_only || core->setup.findings || core->profile || !ports->looped) return;
    core_forward *forward = core->forward = TS_NEW(arena, core_forward);
    forward->arena = arena;
    forward->loops = TS_NEW_ARRAY(arena, bool, core->bundle_count);
    forward->is_idle = TS_NEW_ARRAY(arena, bool, core->bundle_count);
    forward->inner = TS_NEW_ARRAY(arena, inner_loop *, core->bundle_count);
    find_loops(core);
    for (int i = 0; i < core->bundle_count; i++) forward->is_idle[i] = is_idle(&core->bundles[i]);
    make_residues(arena, core, forward);
    forward->sregs = TS_NEW_ARRAY(arena, uint32_t, core->setup.config->limits.sregs);
    int64_t **counts[] = {&forward->before.issues, &forward->before.stall_cycles,
                          &forward->before.branches_taken};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        *counts[i] = TS_NEW_ARRAY(arena, int64_t, core->bundle_count);
}

void core_forward_loop(ts_core *core, int end) {
    const ts_core_ports *ports = core->setup.ports;
    if (core->forward->loops[end]) ports->looped(ports->chip, end);
}

int ts_core_forward_head(const ts_core *core, int end) { return core_branch_of(&core->bundles[end])->target; }

/* ---- An iteration ---- */

typedef struct {
    ts_core *core;
    int head, end;
    int64_t bundles; /* that may still be passed */
    uint64_t signature;
} iteration;

static void mix(iteration *it, int64_t value) {
    it->signature = (it->signature ^ (uint64_t)value) * UINT64_C(0x9e3779b97f4a7c15);
    it->signature ^= it->signature >> 29;
}

/* Semaphore and slice of a transfer that would start. */
static bool pass_transfer(iteration *it, const core_op *op) {
    ts_core *core = it->core;
    int index = op->instruction->operands[0].as.transfer, semaphore;
    const ts_transfer *transfer = &core->setup.code->transfers[index];
    if (!core_transfer_find(NULL, core, op, &semaphore)) return false;
    mix(it, index);
    mix(it, semaphore);
    for (int i = 0; i < transfer->source.rank + transfer->destination.rank; i++) {
        const ts_slice *slice = i < transfer->source.rank ? &transfer->source : &transfer->destination;
        int dim = i < transfer->source.rank ? i : i - transfer->source.rank;
        int64_t begin = core->begin[i],
                extent = core->setup.code->tensors[slice->tensor].shape->layout->dims[dim];
        if (begin < 0 || begin > extent - slice->size[dim]) return false;
        mix(it, begin % core->forward->residues[index][i]);
    }
    return true;
}

static bool pass_wait(iteration *it, const core_op *op) {
    int semaphore;
    if (!core_semaphore_find(NULL, it->core, op, &semaphore) || core_wait_count(op) < 0) return false;
    mix(it, semaphore);
    mix(it, core_wait_count(op));
    return true;
}

static bool pass_control(iteration *it, const core_op *op) {
    ts_opcode opcode = op->instruction->opcode;
    if (opcode == TS_OP_delay) mix(it, ts_max((int32_t)op->in[0][0], 1));
    return opcode != TS_OP_halt && op->run(NULL, it->core, op);
}

/* False: the run must look at this one itself. */
static bool pass_op(iteration *it, const core_op *op) {
    ts_core *core = it->core;
    int64_t address;
    switch (ts_opcode_get(op->instruction->opcode)->family) {
    case TS_FAMILY_SCALAR:
        return op->run(NULL, core, op);
    case TS_FAMILY_CONTROL:
        return pass_control(it, op);
    case TS_FAMILY_TRANSFER:
        return op->instruction->opcode == TS_OP_dma ? pass_transfer(it, op) : pass_wait(it, op);
    default:
        return !op->address || core_address_find(NULL, core, op, &address);
    }
}

static bool pass_bundle(iteration *it, int pc) {
    const core_bundle *bundle = &it->core->bundles[pc];
    for (int i = 0; i < bundle->op_count; i++)
        if (!pass_op(it, &bundle->ops[i])) return false;
    return true;
}

/* Returns the next one; -1: the run must look at this one itself. */
static int pass_one(iteration *it, int pc) {
    ts_core *core = it->core;
    core->taken = -1;
    if (it->bundles-- <= 0) return -1;
    if (core->forward->is_idle[pc]) return pc + 1;
    if (!pass_bundle(it, pc)) return -1;
    if (core->taken < 0) return pc + 1;
    mix(it, pc);
    return core->taken;
}

static bool is_from(const ts_core *core, const inner_loop *inner, const uint32_t *before) {
    for (int i = 0; i < inner->sreg_count; i++)
        if (core->sregs[inner->sregs[i]] != before[i]) return false;
    return true;
}

static void save_sregs(const ts_core *core, const inner_loop *inner, uint32_t *to) {
    for (int i = 0; i < inner->sreg_count; i++) to[i] = core->sregs[inner->sregs[i]];
}

/* Bundle by bundle. The passage is unused where it does not end behind the loop. */
static int pass_anew(iteration *it, int head, const inner_loop *inner, passage *p) {
    uint64_t signature = it->signature;
    int64_t bundles = it->bundles;
    int pc = head;
    save_sregs(it->core, inner, p->before);
    it->signature = 0;
    do pc = pass_one(it, pc);
    while (pc >= head && pc <= inner->end);
    save_sregs(it->core, inner, p->after);
    p->signature = it->signature;
    p->bundles = pc == inner->end + 1 ? bundles - it->bundles : 0;
    it->signature = signature;
    mix(it, (int64_t)p->signature);
    return pc;
}

static int pass_inner(iteration *it, int head, inner_loop *inner) {
    if (!inner->sregs) find_sregs(it->core, head, inner);
    for (int k = 0; k < PASSAGES; k++) {
        const passage *p = &inner->passages[k];
        if (p->bundles == 0 || p->bundles > it->bundles || !is_from(it->core, inner, p->before)) continue;
        for (int i = 0; i < inner->sreg_count; i++) it->core->sregs[inner->sregs[i]] = p->after[i];
        mix(it, (int64_t)p->signature);
        it->bundles -= p->bundles;
        return inner->end + 1;
    }
    inner->oldest = (inner->oldest + 1) % PASSAGES;
    return pass_anew(it, head, inner, &inner->passages[inner->oldest]);
}

/* From the head until the branch back is taken; false: it does not come there, and scalars are void. */
static bool go_round(iteration *it) {
    inner_loop **inner = it->core->forward->inner;
    it->signature = 0;
    for (int last, pc = it->head; pc >= it->head && pc <= it->end;) {
        last = pc;
        bool is_inside = inner[pc] && inner[pc]->end < it->end;
        pc = is_inside ? pass_inner(it, pc, inner[pc]) : pass_one(it, pc);
        if (last == it->end && pc == it->head) return true;
    }
    return false;
}

/* ---- Iterations that are alike ---- */

static void copy_sregs(const ts_core *core, uint32_t *to, const uint32_t *from) {
    memcpy(to, from, (size_t)sregs_of(core) * sizeof *to);
}

/* The `number`th from where one looks, 1: the first. */
static bool pass_round(iteration *it, int64_t number) {
    core_forward *forward = it->core->forward;
    if (!go_round(it)) return false;
    for (int i = 0; i < sregs_of(it->core) && number % STRIDE == 0; i++)
        *PUSH(forward->arena, &forward->passed) = it->core->sregs[i];
    return true;
}

/* How many of the kept signatures repeat those `period` before. */
static int64_t repeated(const core_forward *forward, int64_t kept, int64_t period) {
    int64_t count = period;
    while (count < kept && forward->signatures[count] == forward->signatures[count - period]) count++;
    return count;
}

/* The shortest one with which most of the iterations are alike; that many in *alike. */
static int64_t find_period(const core_forward *forward, int64_t kept, int64_t *alike) {
    int64_t best = 0;
    *alike = 0;
    for (int64_t period = 1; period <= PERIODS && 2 * period <= kept; period++) {
        int64_t count = repeated(forward, kept, period);
        if (count >= 2 * period && count > *alike) *alike = count, best = period;
    }
    return best;
}

/* Of the loops inside: SMEM may hold other scalars by now. */
static void forget_passages(const iteration *it) {
    inner_loop **inner = it->core->forward->inner;
    for (int b = it->head; b <= it->end; b++)
        for (int i = 0; i < PASSAGES && inner[b]; i++) inner[b]->passages[i].bundles = 0;
}

int64_t ts_core_forward_count(ts_core *core, int end, int64_t bundles, int64_t *period, int64_t *in_vain) {
    core_forward *forward = core->forward;
    iteration it = {.core = core, .head = core->pc, .end = end, .bundles = bundles};
    int64_t kept = 0, alike = 0;
    *period = *in_vain = 0;
    if (core->unknown && ts_unknown_any(core->unknown)) return 0;
    copy_sregs(core, forward->sregs, core->sregs);
    forward->passed.count = 0;
    forget_passages(&it);
    while (kept < KEPT && pass_round(&it, kept + 1)) forward->signatures[kept++] = it.signature;
    *period = find_period(forward, kept, &alike);
    *in_vain = kept - alike;
    if (alike == KEPT)
        while (pass_round(&it, alike + 1) && it.signature == forward->signatures[alike % *period]) alike++;
    copy_sregs(core, core->sregs, forward->sregs);
    core->taken = -1;
    return alike;
}

void ts_core_forward_go(ts_core *core, int end, int64_t done, int64_t iterations) {
    const core_forward *forward = core->forward;
    iteration it = {.core = core, .head = core->pc, .end = end, .bundles = INT64_MAX};
    int64_t all = done + iterations, states = ts_min(all / STRIDE, forward->passed.count / sregs_of(core));
    if (states * STRIDE > done) {
        copy_sregs(core, core->sregs, forward->passed.items + (states - 1) * sregs_of(core));
        iterations = all - states * STRIDE;
    }
    for (int64_t i = 0; i < iterations; i++) {
        bool good = go_round(&it);
        assert(good);
    }
    core->taken = -1;
}

/* ---- What they count ---- */

void ts_core_forward_mark(ts_core *core) {
    forward_counts *before = &core->forward->before;
    size_t bytes = (size_t)core->bundle_count * sizeof *core->issues;
    before->cycle = core->next;
    memcpy(before->stalls, core->stalls, sizeof before->stalls);
    memcpy(before->issues, core->issues, bytes);
    memcpy(before->stall_cycles, core->stall_cycles, bytes);
    memcpy(before->branches_taken, core->branches_taken, bytes);
}

int64_t ts_core_forward_waited(const ts_core *core, int64_t *cycles) {
    const forward_counts *before = &core->forward->before;
    static const int waits[] = {TS_STALL_SEMAPHORE, TS_STALL_DMA_QUEUE};
    int64_t waited = 0;
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        waited += core->stalls[waits[i]] - before->stalls[waits[i]];
    *cycles = core->next - before->cycle;
    return waited;
}

/* Returns what it adds in all. */
static int64_t add_again(int64_t *now, const int64_t *before, int64_t count, int64_t times) {
    int64_t sum = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t more = times * (now[i] - before[i]);
        now[i] += more;
        sum += more;
    }
    return sum;
}

int64_t ts_core_forward_repeat(ts_core *core, int64_t times) {
    forward_counts *before = &core->forward->before;
    before->cycles = times * (core->next - before->cycle);
    add_again(core->stalls, before->stalls, TS_STALL_COUNT, times);
    add_again(core->stall_cycles, before->stall_cycles, core->bundle_count, times);
    add_again(core->branches_taken, before->branches_taken, core->bundle_count, times);
    return add_again(core->issues, before->issues, core->bundle_count, times);
}

/* Adds `by` (it may be negative) to the largest counts, none of which falls below 0. */
static void absorb(int64_t *counts, int count, int64_t by) {
    while (by != 0) {
        int most = 0;
        for (int i = 1; i < count; i++) most = counts[i] > counts[most] ? i : most;
        int64_t some = ts_max(by, -counts[most]);
        assert(some != 0);
        counts[most] += some;
        by -= some;
    }
}

void ts_core_forward_move(ts_core *core, int64_t by) {
    int64_t rest = by - core->forward->before.cycles;
    absorb(core->stalls, TS_STALL_COUNT, rest);
    absorb(core->stall_cycles, core->bundle_count, rest);
    core_skip_move(core, by);
    core->waiting_since += by;
}
