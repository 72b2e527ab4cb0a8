/* Dependences by registers, by memory, by the queues of the matrix units. */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "accesses.h"

enum { NONE = -1, UNITS_MAX = 64 };

/* Of a virtual register: who wrote it last, and who has read it since. */
typedef struct {
    int writer;
    LIST_OF(int) readers;
} history;

/* Of a matrix unit: the order of its ports, and what its queue of results has room for. */
typedef struct {
    int latch, push, pop, swap;  /* the last of each */
    int staged[8], staged_count; /* the last swaps, newest last */
    int64_t pushed, popped;      /* results */
    int columns, row;            /* of a row of the left side: pushed so far, and its first result */
    LIST_OF(int) pushes;         /* for each result the push that gives it */
    LIST_OF(int) pops;
} unit_history;

typedef struct {
    graph *g;
    history *registers;      /* by virtual register */
    LIST_OF(int) since_sync; /* loads and stores since the last of what waits for all of them */
    LIST_OF(int) slots;      /* of spilled values: the last store to each */
    int sync;
    int transposer;
    unit_history units[UNITS_MAX];
} builder;

static void add_edge(builder *b, int from, int to, int64_t latency) {
    graph *g = b->g;
    if (from == NONE || from == to) return;
    graph_edge *new = PUSH(g->arena, &g->edges);
    *new = (graph_edge){to, (int)latency, g->nodes[from].first_edge};
    g->nodes[from].first_edge = g->edges.count - 1;
    g->nodes[to].waits_for++;
}

static void add_registers(builder *b, int at) {
    graph *g = b->g;
    mosaic_registers p;
    mosaic_find_registers((mosaic_code *)(uintptr_t)g->code, &g->instructions[at], &p);
    g->nodes[at].reads = TS_NEW_ARRAY(g->arena, int, p.count + 1);
    g->nodes[at].read_count = p.count - p.writes;
    g->nodes[at].written = p.writes ? *p.registers[p.count - 1] : NONE;
    for (int k = 0; k < g->nodes[at].read_count; k++) g->nodes[at].reads[k] = *p.registers[k];
    g->nodes[at].leaf = p.writes && g->code->kinds.items[*p.registers[p.count - 1]] == TS_OPERAND_VREG;
    for (int k = 0; k < p.count; k++) {
        bool written = p.writes && k == p.count - 1;
        history *h = &b->registers[*p.registers[k]];
        if (!written || p.merges) {
            if (h->writer != NONE) add_edge(b, h->writer, at, g->nodes[h->writer].latency);
            *PUSH(g->arena, &h->readers) = at;
            g->nodes[at].leaf = g->nodes[at].leaf && g->code->kinds.items[*p.registers[k]] != TS_OPERAND_VREG;
        }
        if (written) {
            for (int i = 0; i < h->readers.count; i++) add_edge(b, h->readers.items[i], at, 0);
            if (h->readers.count == 0 && h->writer != NONE) add_edge(b, h->writer, at, 1);
            h->writer = at;
            h->readers.count = 0;
        }
    }
}

/* ---- Memory ---- */

static void find_address(graph_node *n, const ts_instruction *i) {
    int operand;
    n->address = ts_instruction_address(i, &operand);
    if (!n->address) return;
    n->space = ts_opcode_operand(ts_opcode_get(i->opcode), operand)->space;
    n->store = operand == 0;
}

bool graph_is_changed(const graph *g, int load) {
    int count;
    accesses_meeting(g->stores, load, 0, &count);
    return count > 0 || g->waits;
}

/* A spilled value has a slot of its own, which no transfer touches. */
static void add_spill(builder *b, int at) {
    const graph_node *n = &b->g->nodes[at];
    int64_t slot = n->address->word / TS_VREG_WORDS;
    while (b->slots.count <= slot) *PUSH(b->g->arena, &b->slots) = NONE;
    if (n->store)
        b->slots.items[slot] = at;
    else if (b->slots.items[slot] != NONE)
        add_edge(b, b->slots.items[slot], at, b->g->nodes[b->slots.items[slot]].latency);
}

/* Transfers and waits stay where they are among all accesses. */
static void add_sync(builder *b, int at) {
    for (int i = 0; i < b->since_sync.count; i++) add_edge(b, b->since_sync.items[i], at, 1);
    add_edge(b, b->sync, at, 1);
    b->sync = at;
    b->since_sync.count = 0;
}

static void add_memory(builder *b, int at) {
    graph *g = b->g;
    const graph_node *n = &g->nodes[at];
    if (ts_opcode_get(g->instructions[at].opcode)->family == TS_FAMILY_TRANSFER) {
        add_sync(b, at);
        return;
    }
    if (!n->address) return;
    if (n->address->tensor == MOSAIC_SPILL_VMEM) {
        add_spill(b, at);
        return;
    }
    int count, since = b->sync + 1;
    const int *before = accesses_meeting(g->stores, at, since, &count);
    add_edge(b, b->sync, at, 1);
    for (int i = 0; i < count; i++) add_edge(b, before[i], at, n->store ? 1 : g->nodes[before[i]].latency);
    if (n->store) {
        before = accesses_meeting(g->loads, at, since, &count);
        for (int i = 0; i < count; i++) add_edge(b, before[i], at, 0);
    }
    accesses_add(n->store ? g->stores : g->loads, at);
    *PUSH(g->arena, &b->since_sync) = at;
}

/* ---- Units with an order of their own ---- */

/* A tile is latched while at most staging - 1 others wait or are in use. */
static void add_latch(builder *b, unit_history *u, int at) {
    int keep = b->g->core->mxu.staging - 1;
    add_edge(b, u->latch, at, 1);
    if (keep > 0 && u->staged_count >= keep) add_edge(b, u->staged[u->staged_count - keep], at, 1);
    u->latch = at;
}

static void add_swap(builder *b, unit_history *u, int at) {
    add_edge(b, u->latch, at, 1);
    add_edge(b, u->push, at, 1);
    add_edge(b, u->swap, at, 1);
    if (u->staged_count == 8) {
        memmove(u->staged, u->staged + 1, sizeof u->staged[0] * 7);
        u->staged_count--;
    }
    u->staged[u->staged_count++] = u->swap = at;
}

static void add_push(builder *b, unit_history *u, int at) {
    const ts_machine_mxu *mxu = &b->g->core->mxu;
    int results = b->g->nodes[at].unit.results;
    add_edge(b, u->push, at, 1);
    add_edge(b, u->swap, at, 1);
    if (u->columns == 0) u->row = u->pushes.count;
    for (int i = 0; i < results; i++) *PUSH(b->g->arena, &u->pushes) = at;
    for (int i = u->row; i < u->pushes.count; i++) u->pushes.items[i] = at; /* all wait for the last column */
    u->columns = (u->columns + 1) % (mxu->edge / TS_LANES);
    u->pushed += results;
    int64_t room = u->pushed - mxu->result_vregs;
    if (room > 0 && room <= u->pops.count) add_edge(b, u->pops.items[room - 1], at, 1);
    u->push = at;
}

static void add_pop(builder *b, unit_history *u, int at) {
    add_edge(b, u->pop, at, 1);
    int64_t last = u->popped < u->pushes.count ? u->popped : u->pushes.count - 1;
    if (last >= 0) add_edge(b, u->pushes.items[last], at, b->g->nodes[u->pushes.items[last]].latency);
    u->popped++;
    *PUSH(b->g->arena, &u->pops) = at;
    u->pop = at;
}

static void add_state(builder *b, int at) {
    const ts_instruction *i = &b->g->instructions[at];
    const ts_opcode_info *info = ts_opcode_get(i->opcode);
    if (info->family == TS_FAMILY_TRANSPOSE) {
        add_edge(b, b->transposer, at, 1);
        b->transposer = at;
        return;
    }
    if (info->family != TS_FAMILY_MATRIX) return;
    int64_t number = i->operands[i->opcode == TS_OP_mxu_pop].as.integer;
    unit_history *u = &b->units[number >= 0 && number < UNITS_MAX ? number : 0];
    if (i->opcode == TS_OP_mxu_pop)
        add_pop(b, u, at);
    else if (i->opcode == TS_OP_mxu_swap)
        add_swap(b, u, at);
    else if (info->latency == TS_LATENCY_MXU_LATCH)
        add_latch(b, u, at);
    else
        add_push(b, u, at);
}

/* ---- All ---- */

static void fill_nodes(graph *g) {
    for (int i = 0; i < g->count; i++) {
        const ts_opcode_info *info = ts_opcode_get(g->instructions[i].opcode);
        int64_t latency = g->core->latency_cycles[info->latency];
        g->nodes[i] =
            (graph_node){.first_edge = NONE, .latency = latency > 0 ? latency : 1, .slot = (int)info->slot};
        find_address(&g->nodes[i], &g->instructions[i]);
        g->nodes[i].unit = ts_core_use_of(g->core, &g->instructions[i]);
    }
}

static void find_heights(graph *g) {
    for (int i = g->count - 1; i >= 0; i--) {
        graph_node *n = &g->nodes[i];
        n->height = n->latency;
        for (int e = n->first_edge; e != NONE; e = g->edges.items[e].next) {
            int64_t below = g->edges.items[e].latency + g->nodes[g->edges.items[e].to].height;
            n->height = ts_max(below, n->height);
        }
    }
}

graph *graph_new(ts_arena *arena, mosaic_code *code, const ts_core_config *core, ts_instruction *instructions,
                 int count) {
    graph *g = TS_NEW(arena, graph);
    builder *b = TS_NEW(arena, builder);
    *g = (graph){.arena = arena, .code = code, .core = core, .instructions = instructions, .count = count};
    g->nodes = TS_NEW_ARRAY(arena, graph_node, count + 1);
    g->loads = accesses_new(arena, g->nodes);
    g->stores = accesses_new(arena, g->nodes);
    *b = (builder){.g = g, .sync = NONE, .transposer = NONE};
    b->registers = TS_NEW_ARRAY(arena, history, code->kinds.count + 1);
    for (int v = 0; v < code->kinds.count; v++) b->registers[v].writer = NONE;
    for (int u = 0; u < UNITS_MAX; u++)
        b->units[u].latch = b->units[u].push = b->units[u].pop = b->units[u].swap = NONE;
    fill_nodes(g);
    for (int i = 0; i < count; i++) {
        g->waits = g->waits || ts_opcode_get(instructions[i].opcode)->family == TS_FAMILY_TRANSFER;
        add_registers(b, i);
        add_memory(b, i);
        add_state(b, i);
    }
    find_heights(g);
    return g;
}

/* ---- A walk ---- */

/* What each waits for, as lists. */
static int *find_sources(const graph *g, int **first) {
    int *count = *first = TS_NEW_ARRAY(g->arena, int, g->count + 2);
    for (int i = 0; i < g->count; i++)
        for (int e = g->nodes[i].first_edge; e != NONE; e = g->edges.items[e].next)
            count[g->edges.items[e].to + 1]++;
    for (int i = 0; i < g->count; i++) count[i + 1] += count[i];
    int *sources = TS_NEW_ARRAY(g->arena, int, g->edges.count + 1),
        *at = TS_NEW_ARRAY(g->arena, int, g->count + 1);
    for (int i = 0; i < g->count; i++) {
        for (int e = g->nodes[i].first_edge; e != NONE; e = g->edges.items[e].next) {
            int to = g->edges.items[e].to;
            sources[count[to] + at[to]++] = i;
        }
    }
    return sources;
}

/* From what the walk begins, and in which order: results, and what is done at the matrix units, whose order
 * is fixed; a result behind the last of the units' instructions that it needs. */
typedef struct {
    int at, behind;
} graph_root;

static int by_position(const void *x, const void *y) {
    const graph_root *a = x, *b = y;
    return a->behind != b->behind ? ts_order(a->behind, b->behind) : ts_order(a->at, b->at);
}

/* Of those that live on, behind all that read the old one. */
static bool writes_scalar(const graph *g, int at) {
    int v = g->nodes[at].written;
    return v != NONE && g->code->kinds.items[v] == TS_OPERAND_SREG;
}

static graph_root *find_roots(const graph *g, int *count) {
    int *behind = TS_NEW_ARRAY(g->arena, int, g->count + 1);
    bool *adds = TS_NEW_ARRAY(g->arena, bool, g->count + 1); /* what the unit gives */
    graph_root *roots = TS_NEW_ARRAY(g->arena, graph_root, g->count + 1);
    *count = 0;
    for (int i = 0; i < g->count; i++) behind[i] = NONE;
    for (int i = 0; i < g->count; i++) {
        bool matrix = ts_opcode_get(g->instructions[i].opcode)->family == TS_FAMILY_MATRIX,
             pop = g->instructions[i].opcode == TS_OP_mxu_pop;
        if (matrix) behind[i] = i;
        if (matrix || adds[i] || g->nodes[i].store || g->nodes[i].first_edge == NONE)
            roots[(*count)++] = (graph_root){i, writes_scalar(g, i) ? g->count : behind[i]};
        for (int e = g->nodes[i].first_edge; e != NONE; e = g->edges.items[e].next) {
            int to = g->edges.items[e].to;
            behind[to] = behind[i] > behind[to] ? behind[i] : behind[to];
            adds[to] = adds[to] || pop;
        }
    }
    qsort(roots, (size_t)*count, sizeof roots[0], by_position);
    return roots;
}

void graph_depth_first(const graph *g, int *order) {
    int *first, *sources = find_sources(g, &first), numbered = 0, depth = 0, root_count;
    int *stack = TS_NEW_ARRAY(g->arena, int, g->count + 1), *next = TS_NEW_ARRAY(g->arena, int, g->count + 1);
    bool *seen = TS_NEW_ARRAY(g->arena, bool, g->count + 1);
    const graph_root *roots = find_roots(g, &root_count);
    for (int r = 0; r < root_count; r++) {
        int root = roots[r].at;
        if (seen[root]) continue;
        stack[depth++] = root;
        seen[root] = true;
        while (depth > 0) {
            int at = stack[depth - 1];
            if (next[at] == first[at + 1] - first[at]) {
                order[at] = numbered++;
                depth--;
                continue;
            }
            int source = sources[first[at] + next[at]++];
            if (!seen[source]) {
                seen[source] = true;
                stack[depth++] = source;
            }
        }
    }
}
