/* Software pipelining, by modulo scheduling: an iteration of a loop begins every `interval` cycles, before
 * those in front of it have ended. The loop is unrolled first: `copies` iterations become one, whose
 * values have vregs of their own as long as there are some that the program leaves to the packer; no
 * register is written before those in front have read it. Addresses are corrected by as much as the loop's
 * counter is ahead. The result is a prologue, the loop and an epilogue. */

#include "pack.h"

enum { NODES_MAX = 512, STAGES_MAX = 8, COPIES_MAX = 8, NONE = -1 };

/* `to`, `distance` iterations behind `from`, is no sooner than `latency` cycles behind it. */
typedef struct {
    int from, to, distance;
    int64_t latency;
    int next_out, next_in; /* of the same instruction, NONE: the last */
} link;

struct pipeline {
    region r;
    const counted_loop *loop;
    item *body; /* unrolled */
    int copies; /* iterations that were unrolled into one */
    int64_t step;
    bool free_queues; /* pushes and pops of different iterations go in any order */
    LIST_OF(link) links;
    int *first_out, *first_in;
    int64_t *height;
    /* of a schedule */
    int64_t interval, *time; /* NONE: not placed */
    int *used;               /* [interval][TS_SLOT_COUNT] */
    bool *busy;              /* [units][interval] */
    int stages;
};

/* ---- Unrolling: copies of the body, with vregs of their own ---- */

/* The position behind the last use of the value that item `at` writes; NONE: it may live on. */
static int find_overwrite(const assembler *as, const item *items, int count, int at, int reg) {
    const ts_code code = {.transfers = as->transfers.items};
    for (int i = at + 1; i < count; i++) {
        ts_register_use use;
        ts_instruction_registers(&code, &items[i].code, &use);
        if (use.writes && !use.merges && use.written.kind == TS_OPERAND_VREG && use.written.reg == reg)
            return i;
    }
    return NONE;
}

/* The spare vreg that has been free for longest, NONE: none is. */
static int find_spare(const int *free_from, int first, int count, int at) {
    int best = NONE;
    for (int v = first; v < count; v++)
        if (free_from[v] <= at && (best == NONE || free_from[v] < free_from[best])) best = v;
    return best;
}

/* Operands that are vregs get the names that hold now: those that are read, or those that are written. */
typedef enum { READ, WRITTEN } operand_use;

static void rename_operands(ts_instruction *code, operand_use use, const int *now) {
    const ts_opcode_info *info = ts_opcode_get(code->opcode);
    for (int k = 0; k < code->operand_count; k++) {
        ts_operand *o = &code->operands[k];
        if (o->kind == TS_OPERAND_VREG && ts_opcode_operand(info, k)->written == (use == WRITTEN))
            o->as.reg = now[o->as.reg];
    }
}

static void rename_vregs(const assembler *as, item *items, int count) {
    int now[TS_REGISTERS_MAX], free_from[TS_REGISTERS_MAX] = {0}, vregs = as->target->core.limits.vregs;
    const ts_code code = {.transfers = as->transfers.items};
    for (int v = 0; v < TS_REGISTERS_MAX; v++) now[v] = v;
    for (int i = 0; i < count && as->own_vregs > 0; i++) {
        ts_register_use use;
        ts_instruction_registers(&code, &items[i].code, &use);
        rename_operands(&items[i].code, READ, now);
        if (use.writes && !use.merges && use.written.kind == TS_OPERAND_VREG) {
            int end = find_overwrite(as, items, count, i, use.written.reg);
            int spare = end == NONE ? NONE : find_spare(free_from, as->own_vregs, vregs, i);
            now[use.written.reg] = spare == NONE ? use.written.reg : spare;
            if (spare != NONE) free_from[spare] = end + 1;
        }
        rename_operands(&items[i].code, WRITTEN, now);
    }
}

/* Addresses by the counter are those of a counter that is `ahead`. */
static void correct(assembler *as, int reg, item *it, int64_t ahead) {
    for (int i = 0; i < it->code.operand_count && ahead != 0; i++) {
        ts_operand *o = &it->code.operands[i];
        if (o->kind != TS_OPERAND_ADDRESS) continue;
        ts_address *new = TS_NEW(as->arena, ts_address);
        *new = *o->as.address;
        for (int t = 0; t < new->term_count; t++)
            if (new->terms[t].sreg == reg) new->terms[t].bias -= ahead;
        o->as.address = new;
    }
}

static item *copy_body(assembler *as, const counted_loop *loop, const item *body, int copies) {
    item *all = TS_NEW_ARRAY(as->scratch, item, loop->count * copies);
    for (int c = 0; c < copies; c++) {
        for (int i = 0; i < loop->count; i++) {
            item *new = &all[c * loop->count + i];
            *new = body[i];
            correct(as, loop->reg, new, -c * loop->step);
        }
    }
    rename_vregs(as, all, loop->count * copies);
    return all;
}

/* ---- Dependences ---- */

static void add_link(pipeline *p, int from, int to, int distance, int64_t latency) {
    *PUSH(p->r.scratch, &p->links) = (link){from, to, distance, latency, p->first_out[from], p->first_in[to]};
    p->first_out[from] = p->first_in[to] = p->links.count - 1;
}

static bool is_written(const pipeline *p, int sreg) {
    for (int i = 0; i < p->r.count; i++) {
        const node *n = &p->r.nodes[i];
        if (n->writes && n->written.kind == TS_OPERAND_SREG && n->written.reg == sreg) return true;
    }
    return false;
}

/* The address that the instruction has `distance` iterations later. */
static const ts_address *later_address(const pipeline *p, const ts_address *address, int distance) {
    ts_address *new = TS_NEW(p->r.scratch, ts_address);
    int64_t step = distance * p->step;
    *new = *address;
    for (int i = 0; i < new->term_count; i++) {
        ts_address_term *t = &new->terms[i];
        if (is_written(p, t->sreg))
            t->bias++; /* as of another register: nothing is known */
        else if (t->sreg == p->loop->reg && t->modulus == 0 && step % t->divisor == 0)
            new->word += step / t->divisor * t->multiplier;
        else if (t->sreg == p->loop->reg)
            t->bias += step;
    }
    return new;
}

static bool is_pop(const node *n) { return n->it->code.opcode == TS_OP_mxu_pop; }

static bool is_matrix(const node *n) { return ts_opcode_get(n->it->code.opcode)->family == TS_FAMILY_MATRIX; }

/* Results that an iteration gives to the unit's queue. */
static int64_t results_of(const region *r, uint64_t queues) {
    int64_t results = 0;
    for (int i = 0; i < r->count; i++) {
        const node *n = &r->nodes[i];
        if (is_matrix(n) && n->unit.queues == queues) results += n->unit.results;
    }
    return results;
}

/* Results wait in a queue, so pushes of later iterations go before pops of this one as long as there is
 * room. */
static bool link_queue(pipeline *p, int from, int to) {
    const node *a = &p->r.nodes[from], *b = &p->r.nodes[to];
    int64_t results = results_of(&p->r, a->unit.queues), room = p->r.as->target->core.mxu.result_vregs;
    if (b->unit.results == 0 || results == 0) return true;
    if (results > room) return false;
    add_link(p, from, to, (int)(room / results), 1);
    return true;
}

/* Of a unit: are results popped behind the pushes that give them, and none is left? */
static bool is_balanced(const pipeline *p, const item *items, int count, uint64_t queues) {
    int64_t given = 0, taken = 0, chunks = p->r.as->target->core.mxu.edge / TS_LANES;
    for (int i = 0; i < count; i++) {
        const node n = {.it = &items[i], .unit = ts_core_use_of(&p->r.as->target->core, &items[i].code)};
        if (!is_matrix(&n) || n.unit.queues != queues) continue;
        given += n.unit.results;
        if (is_pop(&n) && (taken++ / chunks + 1) * chunks > given) return false;
    }
    return given == taken;
}

static bool are_balanced(const pipeline *p) {
    const ts_core_config *core = &p->r.as->target->core;
    bool good = core->mxu.accumulators == 0 && core->mxu.edge >= TS_LANES;
    for (int unit = 0; unit < core->mxu.units && good; unit++) {
        good = is_balanced(p, p->r.as->items.items, p->loop->first, (uint64_t)1 << unit) &&
               is_balanced(p, p->body, p->r.count, (uint64_t)1 << unit);
    }
    return good;
}

/* The instruction `distance` iterations later. Registers are of the iteration before, so beyond that only
 * memory matters. */
static node later_node(const pipeline *p, const node *n, int distance) {
    node later = *n;
    if (later.address != NULL) later.address = later_address(p, later.address, distance);
    if (distance > 1) {
        later.read_count = 0;
        later.writes = false;
    }
    return later;
}

static bool link_later(pipeline *p, int from, int to, int distance, const node *later) {
    const node *a = &p->r.nodes[from];
    bool queue = is_matrix(a) && is_matrix(later) && (a->unit.queues & later->unit.queues) != 0;
    node registers = *later; /* of a queue that is free, only they tie the two */
    dependence d;
    if (distance > 1 && (a->address == NULL || later->address == NULL)) return true;
    if (queue && is_pop(a) != is_pop(later) && p->free_queues) {
        if (is_pop(a) && !link_queue(p, from, to)) return false;
        registers.unit.queues = 0;
    }
    if (pack_depends(a, &registers, &d)) add_link(p, from, to, distance, d.together ? 0 : d.latency);
    return true;
}

static bool is_read(const node *n, int sreg) {
    for (int i = 0; i < n->it->code.operand_count; i++) {
        const ts_operand *o = &n->it->code.operands[i];
        if (o->kind == TS_OPERAND_SREG && o->as.reg == sreg) return true;
    }
    return false;
}

static bool link_all(pipeline *p) {
    const region *r = &p->r;
    p->first_out = TS_NEW_ARRAY(r->scratch, int, r->count + 1);
    p->first_in = TS_NEW_ARRAY(r->scratch, int, r->count + 1);
    p->height = TS_NEW_ARRAY(r->scratch, int64_t, r->count + 1);
    for (int i = 0; i < r->count; i++) p->first_out[i] = p->first_in[i] = NONE;
    for (int k = 0; k < r->edges.count; k++) {
        const edge *e = &r->edges.items[k];
        add_link(p, e->from, e->to, 0, e->together ? 0 : e->latency);
    }
    for (int i = 0; i < r->count; i++) p->height[i] = r->nodes[i].height;
    for (int distance = 1; distance <= STAGES_MAX; distance++) {
        for (int to = 0; to < r->count; to++) {
            const node later = later_node(p, &r->nodes[to], distance);
            for (int from = 0; from < r->count; from++)
                if (!link_later(p, from, to, distance, &later)) return false;
        }
    }
    return true;
}

/* ---- A schedule ---- */

static int *slots_at(const pipeline *p, int64_t cycle) {
    return p->used + cycle % p->interval * TS_SLOT_COUNT;
}

static bool unit_is_free(const pipeline *p, int unit, const node *n, int64_t cycle) {
    for (int64_t i = 0; i < n->unit.cycles; i++)
        if (p->busy[unit * p->interval + (cycle + i) % p->interval]) return false;
    return n->unit.cycles <= p->interval;
}

static bool schedule_at(pipeline *p, int at, int64_t cycle) {
    const node *n = &p->r.nodes[at];
    int *used = &slots_at(p, cycle)[n->slot], unit = NONE;
    if (*used >= p->r.as->target->core.limits.slots[n->slot]) return false;
    for (int i = n->unit.first; i < n->unit.first + n->unit.count && unit == NONE; i++)
        unit = unit_is_free(p, i, n, cycle) ? i : NONE;
    if (unit == NONE && n->unit.count > 0) return false;
    for (int64_t i = 0; i < n->unit.cycles && unit != NONE; i++)
        p->busy[unit * p->interval + (cycle + i) % p->interval] = true;
    ++*used;
    p->time[at] = cycle;
    return true;
}

/* In the first cycle that those placed before allow; the counter is read by others than addresses in its
 * own iteration. */
static bool location(pipeline *p, int at) {
    int64_t earliest = 0, latest = INT64_MAX;
    for (int k = p->first_in[at]; k != NONE; k = p->links.items[k].next_in) {
        const link *l = &p->links.items[k];
        int64_t from = l->from == at ? NONE : p->time[l->from];
        int64_t cycle = from + l->latency - l->distance * p->interval;
        if (from != NONE && cycle > earliest) earliest = cycle;
        if (l->from == at && l->latency > l->distance * p->interval) return false;
    }
    for (int k = p->first_out[at]; k != NONE; k = p->links.items[k].next_out) {
        const link *l = &p->links.items[k];
        int64_t to = l->to == at ? NONE : p->time[l->to];
        int64_t cycle = to + l->distance * p->interval - l->latency;
        if (to != NONE && cycle < latest) latest = cycle;
    }
    if (is_read(&p->r.nodes[at], p->loop->reg) && latest > p->interval - 2) latest = p->interval - 2;
    for (int64_t cycle = earliest; cycle <= latest && cycle < earliest + p->interval; cycle++)
        if (schedule_at(p, at, cycle)) return true;
    return false;
}

/* The one with the longest way to the end, of those whose iteration has what they wait for. */
static int choose(const pipeline *p) {
    int best = NONE;
    for (int i = 0; i < p->r.count; i++) {
        bool ready = p->time[i] == NONE && (best == NONE || p->height[i] > p->height[best]);
        for (int k = p->first_in[i]; k != NONE && ready; k = p->links.items[k].next_in) {
            const link *l = &p->links.items[k];
            ready = l->distance > 0 || p->time[l->from] != NONE;
        }
        if (ready) best = i;
    }
    return best;
}

static bool schedule(pipeline *p, int64_t interval) {
    const region *r = &p->r;
    int units = ts_core_unit_count(&r->as->target->core);
    int64_t last = 0;
    p->interval = interval;
    p->used = TS_NEW_ARRAY(r->scratch, int, (size_t)interval *TS_SLOT_COUNT);
    p->busy = TS_NEW_ARRAY(r->scratch, bool, (size_t)interval *(size_t)units + 1);
    for (int i = 0; i < r->count; i++) p->time[i] = NONE;
    slots_at(p, interval - 1)[TS_SLOT_SCALAR]++; /* the branch, and the addition before it */
    slots_at(p, interval - 2)[TS_SLOT_SCALAR]++;
    for (int i; (i = choose(p)) != NONE;) {
        if (!location(p, i)) return false;
        last = p->time[i] > last ? p->time[i] : last;
    }
    p->stages = (int)(last / interval) + 1;
    return true;
}

/* ---- The loop that comes of it ---- */

/* The counter is `iterations` further than where the instruction's own iteration had it, and by copies - 1
 * iterations: it tells whether the last copy is there. */
static void add_copy(const pipeline *p, const item *from, bool *first, int64_t iterations) {
    assembler *as = p->r.as;
    item *new = PUSH(as->scratch, &as->items);
    *new = *from;
    new->first = *first;
    new->made = true;
    *first = false;
    correct(as, p->loop->reg, new, iterations * p->step + (p->copies - 1) * p->loop->step);
}

static void add_control(const pipeline *p, const item *control) {
    item *new = PUSH(p->r.as->scratch, &p->r.as->items);
    *new = *control;
}

/* Interval number `pass` behind the last iteration that begins (0: in which one does), of the stages first
 * to last. */
typedef struct {
    int pass, first, last;
    bool branches;
} passage;

static void add_pass(const pipeline *p, passage at, const item control[2]) {
    for (int64_t row = 0; row < p->interval; row++) {
        bool first = true;
        for (int i = 0; i < p->r.count; i++) {
            int64_t stage = p->time[i] / p->interval, iterations = stage + (row == p->interval - 1);
            if (p->time[i] % p->interval != row || stage < at.first || stage > at.last) continue;
            add_copy(p, p->r.nodes[i].it, &first, at.pass > 0 ? stage - at.pass + 1 : iterations);
        }
        int k = row == p->interval - 2 ? 0 : row == p->interval - 1 && at.branches ? 1 : NONE;
        if (at.pass == 0 && k != NONE) {
            add_control(p, &control[k]);
            p->r.as->items.items[p->r.as->items.count - 1].first = first;
        }
    }
}

void pack_loop_build(const pipeline *p, item control[2]) {
    assembler *as = p->r.as;
    for (int stage = 0; stage < p->stages - 1; stage++) add_pass(p, (passage){0, 0, stage, false}, control);
    control[1].target = as->items.count;
    add_pass(p, (passage){0, 0, p->stages - 1, true}, control);
    for (int pass = 1; pass < p->stages; pass++)
        add_pass(p, (passage){pass, pass, p->stages - 1, false}, control);
    as->region = as->items.count;
}

/* ---- Which loops ---- */

static bool can_overlap(const pipeline *p) {
    for (int i = 0; i < p->r.count; i++) {
        const node *n = &p->r.nodes[i];
        if (n->effect == EFFECT_SYNC || n->effect == EFFECT_CONTROL ||
            p->r.as->target->core.limits.slots[n->slot] < 1 || (p->copies > 1 && is_read(n, p->loop->reg)))
            return false;
    }
    return !is_written(p, p->loop->reg) && (p->loop->end < 0 || !is_written(p, p->loop->end));
}

/* Cycles that an iteration takes at least, by slots and units, with its addition and its branch. */
static int64_t least_interval(const pipeline *p) {
    static const ts_instruction control[] = {{.opcode = TS_OP_sadd}, {.opcode = TS_OP_br_lt}};
    const ts_core_config *core = &p->r.as->target->core;
    ts_core_bound least = {.cycles = 2};
    for (int i = 0; i < 2; i++) ts_core_bound_add(core, &control[i], &least);
    for (int i = 0; i < p->r.count; i++) ts_core_bound_add(core, &p->r.nodes[i].it->code, &least);
    return least.cycles;
}

/* The cycles of an iteration if every instruction could start once its operands are there. */
static int64_t critical_path(const pipeline *p) {
    int64_t path = 0;
    for (int i = 0; i < p->r.count; i++) path = p->r.nodes[i].height > path ? p->r.nodes[i].height : path;
    return path;
}

/* The first interval from the least on that has a schedule, below `most`. */
static bool find_schedule(pipeline *p, int64_t most) {
    for (int64_t interval = least_interval(p); interval < most; interval += 1 + interval / 32)
        if (schedule(p, interval) && p->stages > 1 && p->stages <= STAGES_MAX) return true;
    return false;
}

static pipeline *try_copies(assembler *as, const counted_loop *loop, const item *body, int copies) {
    bool for_results = as->packs_for_results;
    pipeline *p = TS_NEW(as->scratch, pipeline);
    result_count *results = TS_NEW_ARRAY(as->scratch, result_count, QUEUES_MAX);
    *p = (pipeline){.loop = loop, .copies = copies, .step = copies * loop->step};
    p->body = copy_body(as, loop, body, copies);
    as->packs_for_results = true;
    p->r = pack_new_region(as, p->body, loop->count * copies, results);
    as->packs_for_results = for_results;
    p->time = TS_NEW_ARRAY(p->r.scratch, int64_t, p->r.count);
    p->free_queues = are_balanced(p);
    return p;
}

const pipeline *pack_loop(assembler *as, const counted_loop *loop, const item *body) {
    pipeline *best = NULL;
    bool for_results = as->packs_for_results;
    as->packs_for_results = true;
    int64_t plain = pack_cycles(as, body, loop->count) + 1; /* a bundle to go back */
    as->packs_for_results = for_results;
    int64_t most_of_one = plain * 3 / 4; /* more is lost before and behind the loop */
    for (int copies = 1; copies <= COPIES_MAX && loop->count * copies <= NODES_MAX; copies *= 2) {
        pipeline *p = try_copies(as, loop, body, copies);
        int64_t most = best ? best->interval * copies / best->copies : most_of_one * copies;
        bool better = can_overlap(p) && link_all(p) && find_schedule(p, most);
        pipeline *worse = better ? best : p;
        if (better) best = p;
        if (worse) ts_arena_free(worse->r.scratch);
    }
    bool fits = best && as->items.count + best->r.count * (best->stages + 1) < INSTRUCTIONS_MAX;
    return fits ? best : NULL;
}

ts_program_pipeline pack_loop_facts(const pipeline *p) {
    return (ts_program_pipeline){.iterations = p->copies,
                                 .stages = p->stages,
                                 .cycles = p->interval,
                                 .slot_cycles = least_interval(p),
                                 .path_cycles = critical_path(p)};
}
void pack_loop_end(const pipeline *p) { ts_arena_free(p->r.scratch); }
