/* Iterations of a loop are left out when its state repeats.
 *
 * Watched are loops without other branches inside, and without anything that others can notice: no DMA,
 * semaphores, SMEM or scalars from vectors; with values, or where others see accesses, loops of scalars
 * alone. When one iteration has left the core as the one before did (what is not ready for how long, all seen
 * from the head of the loop), and every scalar, address and the branch are linear in the iteration, so will
 * the following ones: k of them are added at once. k ends where the branch falls through, where a scalar or
 * an address would leave its range, and at the cycle up to which the core may go alone. Nothing else changes:
 * not a cycle, not a counter. */
#include <string.h>

#include "state.h"

enum { VISITS = 16, PAUSE = 64 }; /* after so many visits in vain, two of every PAUSE are looked at */

/* Of a load or store of VMEM in the body: its bytes in the next iteration, and how far they move with
 * each. */
typedef struct {
    int64_t first, end, step;
    bool writes;
} access;

typedef struct {
    int64_t cycle; /* at the head */
    int64_t stalls[TS_STALL_COUNT];
    int64_t *issues, *stall_cycles; /* of the bundles */
    uint32_t *sregs;
    int64_t *state;
    int state_count;
} snapshot;

struct core_skip {
    int head, end; /* the loop's bundles */
    bool known;    /* there is a snapshot of its head */
    int visits;
    snapshot before;
    bool *bodies;    /* by bundle: the branch of it ends a body that can be watched */
    int64_t *state;  /* now */
    int64_t *slopes; /* of sregs, an iteration */
    uint32_t *sregs;
    access *accesses;
    int access_count;
    int64_t most; /* iterations */
};

/* ---- Which loops ---- */

static bool may_repeat(const core_op *op) {
    switch (ts_opcode_get(op->instruction->opcode)->family) {
    case TS_FAMILY_SCALAR:
        return op->instruction->opcode != TS_OP_sld && op->instruction->opcode != TS_OP_sst &&
               op->run != core_run_copy_word;
    case TS_FAMILY_CONTROL:
        return op->instruction->opcode == TS_OP_nop;
    case TS_FAMILY_TRANSFER:
    case TS_FAMILY_TRANSPOSE:
        return false;
    default:
        return ts_opcode_get(op->instruction->opcode)->shadow != TS_SHADOW_FIRST_WORD;
    }
}

static bool is_scalar(const core_op *op) {
    ts_family family = ts_opcode_get(op->instruction->opcode)->family;
    return (family == TS_FAMILY_SCALAR || family == TS_FAMILY_CONTROL) && may_repeat(op);
}

typedef bool (*op_test)(const core_op *op);

/* But for a branch. */
static bool may_all(const core_bundle *bundle, op_test may) {
    const core_op *branch = core_branch_of(bundle);
    for (int i = 0; i < bundle->op_count; i++)
        if (&bundle->ops[i] != branch && !may(&bundle->ops[i])) return false;
    return true;
}

/* Finds the loop bodies that have no other branch. */
static void find_bodies(const ts_core *core, op_test may) {
    int first = 0; /* `may` holds for all bundles from here to `end` */
    for (int end = 0; end < core->bundle_count; end++) {
        const core_op *branch = core_branch_of(&core->bundles[end]);
        bool good = may_all(&core->bundles[end], may);
        core->skip->bodies[end] = good && branch && branch->target <= end && branch->target >= first;
        if (!good || branch) first = end + 1;
    }
}

void core_skip_new(ts_arena *arena, ts_core *core) {
    const ts_core_ports *ports = core->setup.ports;
    if (core->setup.findings || ports->issued || ports->stalled) return;
    op_test may = core->setup.time_only && !ports->accessed && !ports->vmem_take ? may_repeat : is_scalar;
    const ts_isa_limits *limits = &core->setup.config->limits;
    core_skip *skip = core->skip = TS_NEW(arena, core_skip);
    int registers = ts_register_count(limits), ops = 0;
    int room = 2 * registers + 2 * ts_core_unit_count(core->setup.config) + 2 * core->store_room;
    room += core_mxus_state(core, NULL);
    skip->head = -1;
    skip->bodies = TS_NEW_ARRAY(arena, bool, core->bundle_count);
    find_bodies(core, may);
    for (int i = 0; i < core->bundle_count; i++) ops += core->bundles[i].op_count;
    skip->before.issues = TS_NEW_ARRAY(arena, int64_t, core->bundle_count);
    skip->before.stall_cycles = TS_NEW_ARRAY(arena, int64_t, core->bundle_count);
    skip->before.sregs = TS_NEW_ARRAY(arena, uint32_t, limits->sregs);
    skip->before.state = TS_NEW_ARRAY(arena, int64_t, room);
    skip->state = TS_NEW_ARRAY(arena, int64_t, room);
    skip->slopes = TS_NEW_ARRAY(arena, int64_t, limits->sregs);
    skip->sregs = TS_NEW_ARRAY(arena, uint32_t, limits->sregs);
    skip->accesses = TS_NEW_ARRAY(arena, access, ops);
}

/* ---- What repeats ---- */

static int add_times(const int64_t *times, const int *stalls, int count, int64_t from, int64_t *out) {
    int at = 0;
    for (int i = 0; i < count; i++) {
        bool ahead = times[i] > from;
        out[at++] = ahead ? times[i] - from : 0;
        out[at++] = ahead ? stalls[i] : 0;
    }
    return at;
}

static int read_state(const ts_core *core, int64_t *out) {
    const ts_isa_limits *limits = &core->setup.config->limits;
    int registers = ts_register_count(limits), at = 0;
    at += add_times(core->ready, core->ready_stall, registers, core->next, out);
    at += add_times(core->unit_free, core->unit_stall, ts_core_unit_count(core->setup.config), core->next,
                    out + at);
    for (int i = 0; i < core->store_count; i++) {
        const core_store *store = core_store_at(core, i);
        if (store->visible > core->next) {
            out[at++] = store->visible - core->next;
            out[at++] = store->stall;
        }
    }
    return at + core_mxus_state(core, out + at);
}

static void remember(core_skip *skip, const ts_core *core, int count) {
    snapshot *s = &skip->before;
    size_t body = (size_t)(skip->end - skip->head + 1) * sizeof(*core->issues);
    s->cycle = core->next;
    s->state_count = count;
    memcpy(s->state, skip->state, (size_t)count * sizeof(*s->state));
    memcpy(s->stalls, core->stalls, sizeof(s->stalls));
    memcpy(s->issues + skip->head, core->issues + skip->head, body);
    memcpy(s->stall_cycles + skip->head, core->stall_cycles + skip->head, body);
    memcpy(s->sregs, core->sregs, (size_t)core->setup.config->limits.sregs * sizeof(*s->sregs));
    if (core->profile) core_profile_remember(core->profile, core, skip->head, skip->end);
    skip->known = true;
}

/* ---- What is linear: one iteration ahead, with the slope of every scalar ---- */

static void limit(core_skip *skip, int64_t iterations) {
    skip->most = iterations < skip->most ? iterations : skip->most;
}

/* value + k * slope stays within low .. high for k up to skip->most. */
static void keep_within(core_skip *skip, int64_t value, int64_t slope, int64_t low, int64_t high) {
    if (slope > 0)
        limit(skip, (high - value) / slope);
    else if (slope < 0)
        limit(skip, (value - low) / -slope);
}

/* The slope of a source; constants have none. */
static int64_t slope_of(const core_skip *skip, const ts_core *core, const uint32_t *source) {
    ptrdiff_t reg = source - core->sregs;
    return reg >= 0 && reg < core->setup.config->limits.sregs ? skip->slopes[reg] : 0;
}

/* A scalar, and what an iteration adds to it. */
typedef struct {
    int64_t value, slope;
} line;

static line line_of(const core_skip *skip, const ts_core *core, const uint32_t *source) {
    return source ? (line){(int32_t)*source, slope_of(skip, core, source)} : (line){0};
}

/* False: not linear, or beyond 32 bits. Of other operations than these the value is INT64_MIN. */
static bool linear(ts_opcode opcode, line x, line y, line *result) {
    switch (opcode) {
    case TS_OP_smov:
        *result = x;
        return true;
    case TS_OP_sadd:
        *result = (line){x.value + y.value, x.slope + y.slope};
        return true;
    case TS_OP_ssub:
        *result = (line){x.value - y.value, x.slope - y.slope};
        return true;
    case TS_OP_smul:
        *result = (line){x.value * y.value, x.slope * y.value + y.slope * x.value};
        return x.slope == 0 || y.slope == 0;
    default:
        *result = (line){INT64_MIN, 0};
        return x.slope == 0 && y.slope == 0;
    }
}

static bool do_scalar(core_skip *skip, ts_core *core, const core_op *op) {
    ptrdiff_t reg = op->d - core->sregs;
    bool known = reg >= 0 && reg < core->setup.config->limits.sregs;
    line x = line_of(skip, core, op->in[0]), y = line_of(skip, core, op->in[1]), result;
    if (!known || !linear(op->instruction->opcode, x, y, &result) || !op->run(NULL, core, op)) return false;
    if (result.value != INT64_MIN && (int32_t)*op->d != result.value) return false;
    keep_within(skip, (int32_t)*op->d, result.slope, INT32_MIN, INT32_MAX);
    skip->slopes[reg] = result.slope;
    return true;
}

static bool do_access(core_skip *skip, const ts_core *core, const core_op *op) {
    const core_address *a = op->address;
    int64_t address, step = 0;
    if (!core_address_find(NULL, core, op, &address)) return false;
    for (int i = 0; i < a->term_count; i++) {
        int64_t slope = slope_of(skip, core, a->terms[i].sreg);
        if (slope != 0 && (a->terms[i].modulus > 0 || slope % a->terms[i].divisor != 0)) return false;
        step += slope / a->terms[i].divisor * a->terms[i].multiplier * 4;
    }
    keep_within(skip, address + a->low_bytes, step, a->tensor_first, INT64_MAX / 2);
    keep_within(skip, address + a->high_bytes, step, INT64_MIN / 2, a->tensor_end);
    skip->accesses[skip->access_count++] =
        (access){address + a->low_bytes, address + a->high_bytes, step, op->instruction->opcode == TS_OP_vst};
    return true;
}

/* Lets k grow to the iterations in which the branch is taken: difference + k * slope < 0. */
static void limit_below(core_skip *skip, int64_t difference, int64_t slope) {
    if (difference >= 0)
        limit(skip, 0);
    else if (slope > 0)
        limit(skip, (-difference + slope - 1) / slope);
}

static void limit_branch(core_skip *skip, const ts_core *core, const core_op *op) {
    if (op->instruction->opcode == TS_OP_jump) return;
    const uint32_t *in = op->in[1];
    int64_t d = (int64_t)(int32_t)*op->in[0] - (in ? (int32_t)*in : 0);
    int64_t slope = slope_of(skip, core, op->in[0]) - (in ? slope_of(skip, core, in) : 0);
    switch (op->instruction->opcode) {
    case TS_OP_brnz:
    case TS_OP_br_ne: /* until it is 0, or passes it */
        limit_below(skip, d < 0 ? d : -d, d < 0 ? slope : -slope);
        return;
    case TS_OP_br_lt:
        limit_below(skip, d, slope);
        return;
    case TS_OP_br_le:
        limit_below(skip, d - 1, slope);
        return;
    case TS_OP_br_gt:
        limit_below(skip, -d, -slope);
        return;
    case TS_OP_br_ge:
        limit_below(skip, -d - 1, -slope);
        return;
    default:
        limit(skip, 0);
    }
}

static bool do_bundle(core_skip *skip, ts_core *core, const core_bundle *bundle) {
    for (int i = 0; i < bundle->op_count; i++) {
        const core_op *op = &bundle->ops[i];
        bool scalar = ts_opcode_get(op->instruction->opcode)->family == TS_FAMILY_SCALAR;
        if (op->target >= 0)
            limit_branch(skip, core, op);
        else if (op->address ? !do_access(skip, core, op) : scalar && !do_scalar(skip, core, op))
            return false;
    }
    return true;
}

/* Runs the scalars of one iteration on the core's registers and puts these back. */
static bool look_ahead(core_skip *skip, ts_core *core) {
    int sregs = core->setup.config->limits.sregs;
    bool good = true;
    skip->most = INT64_MAX;
    skip->access_count = 0;
    memcpy(skip->sregs, core->sregs, (size_t)sregs * sizeof(*skip->sregs));
    for (int i = 0; i < sregs; i++) {
        skip->slopes[i] = (int64_t)(int32_t)core->sregs[i] - (int32_t)skip->before.sregs[i];
        keep_within(skip, (int32_t)core->sregs[i], skip->slopes[i], INT32_MIN, INT32_MAX);
    }
    for (int b = skip->head; b <= skip->end && good; b++) good = do_bundle(skip, core, &core->bundles[b]);
    for (int i = 0; i < sregs; i++) {
        int64_t step = (int64_t)(int32_t)skip->sregs[i] - (int32_t)skip->before.sregs[i];
        good = good && skip->slopes[i] == step && (int32_t)core->sregs[i] == (int32_t)skip->sregs[i] + step;
    }
    memcpy(core->sregs, skip->sregs, (size_t)sregs * sizeof(*skip->sregs));
    return good;
}

/* ---- Loads behind stores ---- */

/* Whether the two can touch the same bytes between the iteration before and number k from now. */
static bool ever_meet(const access *store, const access *load, int64_t k) {
    int64_t low[2], high[2];
    for (int i = 0; i < 2; i++) {
        const access *a = i == 0 ? store : load;
        int64_t from = -a->step, to = a->step * k;
        low[i] = a->first + (from < to ? from : to);
        high[i] = a->end + (from > to ? from : to);
    }
    return low[0] < high[1] && low[1] < high[0];
}

/* Loads meet the same stores in every iteration: they move alike, or never meet. */
static bool stores_stay(const core_skip *skip, int64_t k) {
    for (int i = 0; i < skip->access_count; i++) {
        for (int j = 0; j < skip->access_count && skip->accesses[i].writes; j++) {
            const access *store = &skip->accesses[i], *load = &skip->accesses[j];
            if (!load->writes && store->step != load->step && ever_meet(store, load, k)) return false;
        }
    }
    return true;
}

/* The store of the body that has left this one in the iteration before; NULL: none, or it is not clear
 * which. */
static const access *origin_of(const core_skip *skip, const core_store *store) {
    const access *found = NULL;
    for (int i = 0; i < skip->access_count; i++) {
        const access *a = &skip->accesses[i];
        bool same = a->writes && a->first - a->step == store->first && a->end - a->step == store->end;
        if (same && found && found->step != a->step) return NULL;
        found = same ? a : found;
    }
    return found;
}

static bool stores_are_known(const core_skip *skip, const ts_core *core) {
    for (int i = 0; i < core->store_count; i++)
        if (core_store_at(core, i)->visible > core->next && !origin_of(skip, core_store_at(core, i)))
            return false;
    return true;
}

/* ---- Leaving out ---- */

static void move_times(int64_t *times, int count, int64_t from, int64_t by) {
    for (int i = 0; i < count; i++) times[i] += times[i] > from ? by : 0;
}

void core_skip_move(ts_core *core, int64_t by) {
    const ts_isa_limits *limits = &core->setup.config->limits;
    int64_t from = core->next;
    for (int i = 0; i < core->store_count; i++) move_times(&core_store_at(core, i)->visible, 1, from, by);
    move_times(core->ready, ts_register_count(limits), from, by);
    move_times(core->unit_free, ts_core_unit_count(core->setup.config), from, by);
    move_times(&core->stores_visible, 1, from, by);
    core_mxus_move(core, from, by);
    core_transposer_move(core, from, by);
    core->next += by;
    if (core->skip) core->skip->known = false;
}

static void leave_out(core_skip *skip, ts_core *core, int64_t k) {
    const ts_isa_limits *limits = &core->setup.config->limits;
    int64_t by = k * (core->next - skip->before.cycle);
    for (int i = 0; i < core->store_count; i++) {
        core_store *store = core_store_at(core, i);
        if (store->visible > core->next) {
            int64_t far = k * origin_of(skip, store)->step;
            store->first += far;
            store->end += far;
        }
    }
    for (int i = 0; i < limits->sregs; i++)
        core->sregs[i] += (uint32_t)(k * ((int64_t)(int32_t)core->sregs[i] - (int32_t)skip->before.sregs[i]));
    for (int i = 0; i < TS_STALL_COUNT; i++)
        core->stalls[i] += k * (core->stalls[i] - skip->before.stalls[i]);
    for (int b = skip->head; b <= skip->end; b++) {
        core->issues[b] += k * (core->issues[b] - skip->before.issues[b]);
        core->stall_cycles[b] += k * (core->stall_cycles[b] - skip->before.stall_cycles[b]);
    }
    if (core->profile) core_profile_repeat(core->profile, core, skip->head, skip->end, k);
    core->branches_taken[skip->end] += k;
    core_skip_move(core, by);
}

static void try_to_skip(core_skip *skip, ts_core *core, int64_t until) {
    int64_t cycles = core->next - skip->before.cycle;
    if ((core->unknown && ts_unknown_any(core->unknown)) || !look_ahead(skip, core)) return;
    if (skip->most == INT64_MAX) return; /* it never ends: core_loops_turn will see that */
    limit(skip, until > core->next ? (until - core->next) / cycles : 0);
    if (skip->most > 0 && stores_are_known(skip, core) && stores_stay(skip, skip->most))
        leave_out(skip, core, skip->most);
}

void core_skip_loop(ts_core *core, int end, int64_t until) {
    core_skip *skip = core->skip;
    if (!skip->bodies[end]) return;
    if (skip->head != core->pc || skip->end != end) {
        skip->head = core->pc;
        skip->end = end;
        skip->known = false;
        skip->visits = 0;
    }
    skip->visits++;
    if (skip->visits > VISITS && skip->visits % PAUSE > 1) {
        skip->known = false;
        return;
    }
    int count = read_state(core, skip->state);
    size_t bytes = (size_t)count * sizeof(*skip->state);
    bool one_round = skip->known && core->issues[end] == skip->before.issues[end] + 1;
    bool same =
        one_round && count == skip->before.state_count && memcmp(skip->state, skip->before.state, bytes) == 0;
    if (same) try_to_skip(skip, core, until);
    if (!same || skip->known) remember(skip, core, count);
}
