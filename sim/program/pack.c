/* The packer: a list scheduler that fills bundles within dependences. What a region computes never changes: a
 * bundle reads before it writes, so an instruction may share a bundle with those that read what it writes,
 * and must come after those that write what it reads or writes. */
#include <assert.h>
#include <string.h>

#include "pack.h"
#include "base/number.h"

enum { REGION_MAX = 4096 };

/* ---- What depends on what ---- */

static effect effect_of(const ts_instruction *code, const ts_opcode_info *info) {
    int operand;
    switch (info->family) {
    case TS_FAMILY_CONTROL:
        return EFFECT_CONTROL;
    case TS_FAMILY_TRANSFER:
        return EFFECT_SYNC;
    case TS_FAMILY_SCALAR:
    case TS_FAMILY_MEMORY:
        if (!ts_instruction_address(code, &operand)) return EFFECT_NONE;
        return operand == 0 ? EFFECT_STORE : EFFECT_LOAD;
    case TS_FAMILY_VECTOR_F32:
    case TS_FAMILY_VECTOR_I32:
    case TS_FAMILY_VECTOR_BF16:
    case TS_FAMILY_VECTOR_MOVE:
    case TS_FAMILY_MASK:
    case TS_FAMILY_EUP:
    case TS_FAMILY_CROSS:
        return EFFECT_NONE;
    default:
        return EFFECT_STATE; /* keeps state of its own: its order stays */
    }
}

static uint64_t register_bit(ts_register r) { return (uint64_t)1 << ((unsigned)r.reg * 3 + r.kind) % 64; }

static void fill_node(region *r, node *n, const item *it) {
    const ts_opcode_info *info = ts_opcode_get(it->code.opcode);
    const ts_core_config *core = &r->as->target->core;
    ts_code code = {.transfers = r->as->transfers.items};
    *n = (node){.it = it, .slot = (int)info->slot, .effect = effect_of(&it->code, info)};
    n->latency = core->latency_cycles[info->latency] > 0 ? core->latency_cycles[info->latency] : 1;
    n->unit = ts_core_use_of(core, &it->code);
    ts_register_use use;
    ts_instruction_registers(&code, &it->code, &use);
    ts_register *reads = TS_COPY_ARRAY(r->scratch, use.reads, use.read_count);
    n->reads = reads;
    n->read_count = use.read_count;
    n->writes = use.writes;
    n->written = use.written;
    int operand = 0;
    n->address = ts_instruction_address(&it->code, &operand);
    if (n->address) n->space = ts_opcode_operand(info, operand)->space;
}

static bool reads(const node *n, ts_register reg) {
    for (int i = 0; i < n->read_count; i++)
        if (n->reads[i].kind == reg.kind && n->reads[i].reg == reg.reg) return true;
    return false;
}

static bool same_register(ts_register a, ts_register b) { return a.kind == b.kind && a.reg == b.reg; }

static bool accesses_memory(const node *n) { return n->effect == EFFECT_LOAD || n->effect == EFFECT_STORE; }

/* Must `to` stay behind `from` for another reason than registers? *together: it may share the bundle. */
static bool ordered(const node *a, const node *b, bool *together) {
    *together = false;
    if (a->effect == EFFECT_CONTROL || b->effect == EFFECT_CONTROL) {
        /* a branch is last, and what stands before it may share its bundle */
        *together = a->effect != EFFECT_CONTROL && b->it->label_operand >= 0;
        return true;
    }
    if (a->effect == EFFECT_STATE || b->effect == EFFECT_STATE) {
        *together = !b->unit.takes;
        return a->unit.queues & b->unit.queues;
    }
    if (a->effect == EFFECT_SYNC || b->effect == EFFECT_SYNC)
        return a->effect != EFFECT_NONE && b->effect != EFFECT_NONE;
    if (!accesses_memory(a) || !accesses_memory(b) || (a->effect == EFFECT_LOAD && b->effect == EFFECT_LOAD))
        return false;
    *together = a->effect == EFFECT_LOAD;
    return a->space == b->space && ts_address_may_meet(a->address, b->address, a->space);
}

static void add_edge(region *r, edge e) {
    *PUSH(r->scratch, &r->edges) = e;
    r->nodes[e.to].waits_for++;
}

bool pack_depends(const node *a, const node *b, dependence *out) {
    bool together;
    if (a->writes && reads(b, a->written)) {
        *out = (dependence){false, a->latency};
    } else if (a->writes && b->writes && same_register(a->written, b->written)) {
        int64_t lands = a->latency + 1 - b->latency; /* the later write after the earlier one */
        *out = (dependence){false, lands > 1 ? lands : 1};
    } else if (ordered(a, b, &together)) {
        bool seen =
            a->effect == EFFECT_STORE && b->effect == EFFECT_LOAD; /* a load waits until the store is */
        *out = (dependence){together, together ? 0 : seen ? a->latency : 1};
    } else if (b->writes && reads(a, b->written)) {
        *out = (dependence){true, 0};
    } else {
        return false;
    }
    return true;
}

/* The strongest dependence of `to` on an earlier `from`. */
static void connect(region *r, int from, int to) {
    dependence d;
    if (pack_depends(&r->nodes[from], &r->nodes[to], &d))
        add_edge(r, (edge){from, to, d.together, d.latency});
}

/* For each push the pops that take its results, as a list: *next of a pop is the one behind it. Where an edge
 * takes several pushes, they are taken to be those of the last of them. */
static int *find_pops(region *r, int **next) {
    int *first = TS_NEW_ARRAY(r->scratch, int, r->count + 1), units = r->as->target->core.mxu.units;
    int *giver = TS_NEW_ARRAY(r->scratch, int, r->count * 8 + 1),
        chunks = r->as->target->core.mxu.edge / TS_LANES;
    *next = TS_NEW_ARRAY(r->scratch, int, r->count + 1);
    for (int i = 0; i < r->count; i++) first[i] = (*next)[i] = -1;
    for (int unit = 0; unit < units && units <= QUEUES_MAX; unit++) {
        result_count *all = &r->results[unit];
        int given = 0, before = all->given;
        for (int i = 0; i < r->count; i++) {
            const node *n = &r->nodes[i];
            bool own = n->effect == EFFECT_STATE && n->unit.queues == (uint64_t)1 << unit;
            for (int k = 0; own && k < n->unit.results; k++) giver[given++] = i;
            if (own && n->it->code.opcode == TS_OP_mxu_pop) {
                int result = (all->taken / chunks + 1) * chunks - 1 - before;
                all->taken++;
                if (result >= 0 && result < given) {
                    (*next)[i] = first[giver[result]];
                    first[giver[result]] = i;
                }
            }
        }
        all->given += given;
    }
    return first;
}

/* Of a node, registers and tensors modulo 64 and effects, a bit each: by them most pairs are seen not to
 * depend. */
typedef struct {
    uint64_t reads, writes;
    uint64_t tensors;         /* that it may access: one for a load or store of a tensor, else all */
    unsigned effect, ordered; /* its effect; the effects it is ordered with */
} summary;

static bool may_depend(const summary *a, const summary *b) {
    return (a->writes & (b->reads | b->writes)) | (a->reads & b->writes) ||
           ((a->ordered & b->effect) && (a->tensors & b->tensors));
}

/* Of 64 nodes in a row, a bit each: those that read or write a register modulo 64, and those of an effect. */
typedef struct {
    uint64_t reads[64], writes[64], of[EFFECT_COUNT];
} node_set;

static summary *summarise(const region *r) {
    static const unsigned ordered_with[] = {
        [EFFECT_NONE] = 1u << EFFECT_CONTROL,
        [EFFECT_LOAD] = 1u << EFFECT_STORE | 1u << EFFECT_SYNC | 1u << EFFECT_CONTROL,
        [EFFECT_STORE] = 1u << EFFECT_LOAD | 1u << EFFECT_STORE | 1u << EFFECT_SYNC | 1u << EFFECT_CONTROL,
        [EFFECT_SYNC] = ~(1u << EFFECT_NONE),
        [EFFECT_STATE] = 1u << EFFECT_SYNC | 1u << EFFECT_STATE | 1u << EFFECT_CONTROL,
        [EFFECT_CONTROL] = ~0u,
    };
    summary *all = TS_NEW_ARRAY(r->scratch, summary, r->count);
    for (int i = 0; i < r->count; i++) {
        const node *n = &r->nodes[i];
        summary *s = &all[i];
        *s = (summary){.effect = 1u << n->effect, .ordered = ordered_with[n->effect]};
        for (int k = 0; k < n->read_count; k++) s->reads |= register_bit(n->reads[k]);
        s->writes = n->writes ? register_bit(n->written) : 0;
        s->tensors = accesses_memory(n) && n->address->tensor >= 0 ? UINT64_C(1) << n->address->tensor % 64
                                                                   : UINT64_MAX;
    }
    return all;
}

/* What shares a queue with `a` and stands behind `b` is behind `a` by way of `b`. */
static bool stands_for_later(const node *a, const node *b) {
    return a->effect == EFFECT_STATE && b->effect == EFFECT_STATE && (a->unit.queues & ~b->unit.queues) == 0;
}

static node_set *make_sets(const region *r, const summary *all) {
    node_set *sets = TS_NEW_ARRAY(r->scratch, node_set, r->count / 64 + 1);
    for (int i = 0; i < r->count; i++) {
        node_set *set = &sets[i / 64];
        uint64_t own = UINT64_C(1) << i % 64;
        for (uint64_t left = all[i].reads; left; left &= left - 1) set->reads[__builtin_ctzll(left)] |= own;
        for (uint64_t left = all[i].writes; left; left &= left - 1) set->writes[__builtin_ctzll(left)] |= own;
        set->of[r->nodes[i].effect] |= own;
    }
    return sets;
}

/* A superset of the nodes that may depend on `a`: their tensors are not compared. */
static uint64_t may_depend_of(const summary *a, const node_set *set) {
    uint64_t found = 0;
    for (uint64_t left = a->reads; left; left &= left - 1) found |= set->writes[__builtin_ctzll(left)];
    for (uint64_t left = a->writes; left; left &= left - 1)
        found |= set->reads[__builtin_ctzll(left)] | set->writes[__builtin_ctzll(left)];
    for (int i = 0; i < EFFECT_COUNT; i++) found |= a->ordered >> i & 1 ? set->of[i] : 0;
    return found;
}

static void connect_later(region *r, const summary *all, const node_set *sets, int from) {
    summary a = all[from];
    uint64_t behind = ~UINT64_C(1) << from % 64;
    for (int k = from / 64; k <= r->count / 64; k++, behind = UINT64_MAX) {
        for (uint64_t left = may_depend_of(&a, &sets[k]) & behind; left; left &= left - 1) {
            int to = k * 64 + __builtin_ctzll(left);
            if (!may_depend(&a, &all[to])) continue;
            connect(r, from, to);
            if (stands_for_later(&r->nodes[from], &r->nodes[to])) a.ordered &= ~(1u << EFFECT_STATE);
        }
    }
}

static void find_edges(region *r) {
    const summary *all = summarise(r);
    const node_set *sets = make_sets(r, all);
    int *next = NULL, *pops = r->as->packs_for_results ? find_pops(r, &next) : NULL;
    r->first_edge = TS_NEW_ARRAY(r->scratch, int, r->count + 1);
    for (int from = 0; from < r->count; from++) {
        r->first_edge[from] = r->edges.count;
        connect_later(r, all, sets, from);
        for (int to = pops ? pops[from] : -1; to >= 0; to = next[to])
            add_edge(r, (edge){.from = from, .to = to, .latency = r->nodes[from].latency});
    }
    r->first_edge[r->count] = r->edges.count;
    for (int i = r->count - 1; i >= 0; i--) {
        r->nodes[i].height = r->nodes[i].latency;
        for (int k = r->first_edge[i]; k < r->first_edge[i + 1]; k++) {
            int64_t below = r->edges.items[k].latency + r->nodes[r->edges.items[k].to].height;
            r->nodes[i].height = below > r->nodes[i].height ? below : r->nodes[i].height;
        }
    }
}

/* ---- Placing ---- */

typedef struct {
    int used[TS_SLOT_COUNT]; /* in the bundle of this cycle */
    int64_t *unit_free;      /* [ts_core_unit_count] first cycle in which a unit takes another */
} issue;

/* Whether the bundle has room for the node and, if it keeps a unit busy, one that is free. */
static bool find_unit(const region *r, const issue *now, const node *n, int64_t cycle, int *unit) {
    *unit = -1;
    for (int i = n->unit.first; i < n->unit.first + n->unit.count && *unit < 0; i++)
        *unit = now->unit_free[i] <= cycle ? i : -1;
    return now->used[n->slot] < r->as->target->core.limits.slots[n->slot] &&
           (*unit >= 0 || n->unit.count == 0);
}

/* The instruction with the longest way to the end, of those that can issue now; the earlier of equals. */
static int choose(const region *r, const issue *now, int64_t cycle) {
    const node *best = NULL;
    for (int i = 0; i < r->open_count; i++) {
        const node *n = &r->nodes[r->open[i]];
        bool first = best == NULL || n->height > best->height || (n->height == best->height && n < best);
        int unit;
        if (first && n->ready <= cycle && find_unit(r, now, n, cycle, &unit)) best = n;
    }
    return best == NULL ? -1 : (int)(best - r->nodes);
}

static void release(region *r, int issued, int64_t cycle) {
    for (int k = r->first_edge[issued]; k < r->first_edge[issued + 1]; k++) {
        const edge *e = &r->edges.items[k];
        node *n = &r->nodes[e->to];
        int64_t earliest = cycle + (e->together ? 0 : e->latency);
        n->ready = ts_max(earliest, n->ready);
        if (--n->waits_for == 0) r->open[r->open_count++] = e->to;
    }
    for (int i = 0; i < r->open_count; i++)
        if (r->open[i] == issued) r->open[i] = r->open[--r->open_count];
}

static void issue_node(region *r, issue *now, int chosen, int64_t cycle) {
    node *n = &r->nodes[chosen];
    int unit;
    bool found = find_unit(r, now, n, cycle, &unit);
    assert(found);
    now->used[n->slot]++;
    if (unit >= 0) now->unit_free[unit] = cycle + n->unit.cycles;
    release(r, chosen, cycle);
}

/* The first cycle behind an empty one in which an instruction may issue: its operands or a unit are there. */
static int64_t next_cycle(const region *r, const issue *now, int64_t cycle) {
    int64_t next = ts_core_next_unit(&r->as->target->core, now->unit_free, cycle);
    for (int i = 0; i < r->open_count; i++)
        if (r->nodes[r->open[i]].ready > cycle) next = ts_min(next, r->nodes[r->open[i]].ready);
    return next == INT64_MAX ? cycle + 1 : next;
}

/* Orders the region's items by cycle; the cycles, 0 when an instruction has no slot on this machine. */
static int64_t schedule(region *r, item *out) {
    issue now = {0};
    int issued = 0;
    now.unit_free = TS_NEW_ARRAY(r->scratch, int64_t, ts_core_unit_count(&r->as->target->core));
    r->open = TS_NEW_ARRAY(r->scratch, int, r->count);
    for (int i = 0; i < r->count; i++) {
        if (r->as->target->core.limits.slots[r->nodes[i].slot] < 1) return 0;
        if (r->nodes[i].waits_for == 0) r->open[r->open_count++] = i;
    }
    int64_t cycle = 0;
    while (issued < r->count) {
        memset(now.used, 0, sizeof(now.used));
        bool first = true;
        for (int i; (i = choose(r, &now, cycle)) >= 0; first = false) {
            issue_node(r, &now, i, cycle);
            out[issued] = *r->nodes[i].it;
            out[issued++].first = first;
        }
        cycle = first ? next_cycle(r, &now, cycle) : cycle + 1;
    }
    return cycle;
}

region pack_new_region(assembler *as, const item *items, int count, result_count *results) {
    region r = {.as = as, .scratch = ts_arena_new(), .count = count, .results = results};
    r.nodes = TS_NEW_ARRAY(r.scratch, node, count);
    for (int i = 0; i < count; i++) fill_node(&r, &r.nodes[i], &items[i]);
    find_edges(&r);
    return r;
}

int64_t pack_cycles(assembler *as, const item *items, int count) {
    result_count results[QUEUES_MAX] = {0};
    region r = pack_new_region(as, items, count, results);
    int64_t cycles = schedule(&r, TS_NEW_ARRAY(r.scratch, item, count));
    ts_arena_free(r.scratch);
    return cycles;
}

static void pack_piece(assembler *as, item *items, int count, result_count *results) {
    region r = pack_new_region(as, items, count, results);
    item *out = TS_NEW_ARRAY(r.scratch, item, count);
    if (schedule(&r, out) > 0) memcpy(items, out, (size_t)count * sizeof(item));
    ts_arena_free(r.scratch);
}

void pack_region(assembler *as) {
    result_count results[QUEUES_MAX] = {0};
    while (as->packing && as->region < as->items.count) {
        int left = as->items.count - as->region, count = left < REGION_MAX ? left : REGION_MAX;
        pack_piece(as, as->items.items + as->region, count, results);
        as->region += count;
    }
    as->region = as->items.count;
}
