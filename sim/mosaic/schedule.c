/* List scheduling of a block, cycle by cycle within slots and units: the instruction with the longest way to the end goes
 * first, as long as there are registers; of equals the one that a walk from the results needs first. */
#include <string.h>

#include "graph.h"

enum { NONE = -1, CLASSES = 3 };

typedef struct {
    graph *g;
    mosaic_code *code;
    ts_arena *arena;
    int *order; /* the place of each in a walk from the last instructions to what they need */
    int *uses;  /* of each virtual register, that are not placed; those that live on have one more */
    int *ready; /* instructions that wait for none */
    int64_t *ready_cycle;
    int ready_count;
    int alive[CLASSES], most[CLASSES];
    int used[TS_SLOT_COUNT];
    int64_t *unit_free;
} scheduler;

static int class_of(const scheduler *s, int v) {
    int kind = s->code->kinds.items[v];
    return kind == TS_OPERAND_VREG ? 0 : kind == TS_OPERAND_VMASK ? 1 : 2;
}

/* ---- The walk ---- */

/* What each waits for, as lists. */
static int *find_sources(const graph *g, ts_arena *arena, int **first) {
    int *count = *first = TS_NEW_ARRAY(arena, int, g->count + 2);
    for (int i = 0; i < g->count; i++) {
        for (int e = g->nodes[i].first_edge; e != NONE; e = g->edges.items[e].next)
            count[g->edges.items[e].to + 1]++;
    }
    for (int i = 0; i < g->count; i++) count[i + 1] += count[i];
    int *sources = TS_NEW_ARRAY(arena, int, g->edges.count + 1), *at = TS_NEW_ARRAY(arena, int, g->count + 1);
    for (int i = 0; i < g->count; i++) {
        for (int e = g->nodes[i].first_edge; e != NONE; e = g->edges.items[e].next) {
            int to = g->edges.items[e].to;
            sources[count[to] + at[to]++] = i;
        }
    }
    return sources;
}

/* Behind all that it waits for; without recursion. */
static void walk(scheduler *s) {
    const graph *g = s->g;
    int *first, *sources = find_sources(g, s->arena, &first), placed = 0, depth = 0;
    int *stack = TS_NEW_ARRAY(s->arena, int, g->count + 1), *next = TS_NEW_ARRAY(s->arena, int, g->count + 1);
    bool *seen = TS_NEW_ARRAY(s->arena, bool, g->count + 1);
    for (int root = 0; root < g->count; root++) {
        if (seen[root] || g->nodes[root].first_edge != NONE) continue;
        stack[depth++] = root;
        seen[root] = true;
        while (depth > 0) {
            int at = stack[depth - 1];
            if (next[at] == first[at + 1] - first[at]) {
                s->order[at] = placed++;
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

/* ---- Registers ---- */

/* Uses of each register in the block; what is used in another block, or written here more than once, never dies. */
static void count_uses(scheduler *s, const int *blocks_of) {
    mosaic_places p;
    for (int i = 0; i < s->g->count; i++) {
        mosaic_find_places(s->code, &s->g->instructions[i], &p);
        for (int k = 0; k < p.count - p.writes; k++) s->uses[*p.places[k]]++;
        if (p.writes && blocks_of[*p.places[p.count - 1]] > 1) s->uses[*p.places[p.count - 1]]++;
    }
}

/* How many more registers of each class are alive behind the instruction. */
static void find_change(const scheduler *s, int at, int change[CLASSES]) {
    mosaic_places p;
    memset(change, 0, CLASSES * sizeof change[0]);
    mosaic_find_places(s->code, &s->g->instructions[at], &p);
    for (int k = 0; k < p.count - p.writes; k++) {
        int same = 0;
        for (int j = 0; j < p.count - p.writes; j++) same += *p.places[j] == *p.places[k] && j <= k;
        if (s->uses[*p.places[k]] == same) change[class_of(s, *p.places[k])]--;
    }
    if (p.writes) change[class_of(s, *p.places[p.count - 1])] += s->uses[*p.places[p.count - 1]] > 0;
}

/* What begins a chain leaves room for what ends one. */
static bool fits(const scheduler *s, int at, const int change[CLASSES]) {
    for (int c = 0; c < CLASSES; c++) {
        int most = s->g->nodes[at].leaf && c == 0 ? s->most[c] * 5 / 8 : s->most[c];
        if (change[c] > 0 && s->alive[c] + change[c] > most) return false;
    }
    return true;
}

static void take_registers(scheduler *s, int at) {
    int change[CLASSES];
    mosaic_places p;
    find_change(s, at, change);
    for (int c = 0; c < CLASSES; c++) s->alive[c] += change[c];
    mosaic_find_places(s->code, &s->g->instructions[at], &p);
    for (int k = 0; k < p.count - p.writes; k++) s->uses[*p.places[k]]--;
}

/* ---- Placing ---- */

static int free_unit(const scheduler *s, const graph_node *n, int64_t cycle) {
    for (int i = n->unit.first; i < n->unit.first + n->unit.count; i++) {
        if (s->unit_free[i] <= cycle) return i;
    }
    return NONE;
}

static bool has_slot(const scheduler *s, const graph_node *n, int64_t cycle) {
    return s->used[n->slot] < s->g->core->limits.slots[n->slot] &&
           (n->unit.count == 0 || free_unit(s, n, cycle) != NONE);
}

static bool is_before(const scheduler *s, int a, int b) {
    const graph_node *x = &s->g->nodes[a], *y = &s->g->nodes[b];
    return x->height != y->height ? x->height > y->height : s->order[a] < s->order[b];
}

/* Of those that are ready in the cycle, as an index into s->ready; *later: one that fits will be ready. */
static int choose(const scheduler *s, int64_t cycle, bool *later) {
    int best = NONE, change[CLASSES];
    *later = false;
    for (int i = 0; i < s->ready_count; i++) {
        int at = s->ready[i];
        bool now = s->ready_cycle[at] <= cycle && has_slot(s, &s->g->nodes[at], cycle);
        if (now ? best != NONE && !is_before(s, at, s->ready[best]) : *later) continue;
        find_change(s, at, change);
        if (!fits(s, at, change)) continue;
        if (now) {
            best = i;
        } else {
            *later = true;
        }
    }
    return best;
}

/* There are no registers for any: the first by the walk. */
static int choose_first(const scheduler *s) {
    int best = 0;
    for (int i = 1; i < s->ready_count; i++) {
        if (s->order[s->ready[i]] < s->order[s->ready[best]]) best = i;
    }
    return best;
}

static void place(scheduler *s, int chosen, int64_t cycle) {
    int at = s->ready[chosen];
    const graph_node *n = &s->g->nodes[at];
    int unit = free_unit(s, n, cycle);
    s->ready[chosen] = s->ready[--s->ready_count];
    s->used[n->slot]++;
    if (unit != NONE) s->unit_free[unit] = cycle + n->unit.cycles;
    take_registers(s, at);
    for (int e = n->first_edge; e != NONE; e = s->g->edges.items[e].next) {
        int to = s->g->edges.items[e].to;
        int64_t from = cycle + s->g->edges.items[e].latency;
        if (from > s->ready_cycle[to]) s->ready_cycle[to] = from;
        if (--s->g->nodes[to].waits_for == 0) s->ready[s->ready_count++] = to;
    }
}

static int64_t run(scheduler *s, ts_instruction *out) {
    int placed = 0;
    int64_t cycle = 0;
    for (int i = 0; i < s->g->count; i++) {
        if (s->g->nodes[i].waits_for == 0) s->ready[s->ready_count++] = i;
    }
    for (; placed < s->g->count; cycle++) {
        bool later = true;
        memset(s->used, 0, sizeof s->used);
        for (int chosen; s->ready_count > 0 && (chosen = choose(s, cycle, &later)) != NONE;) {
            out[placed++] = s->g->instructions[s->ready[chosen]];
            place(s, chosen, cycle);
        }
        if (!later && s->ready_count > 0) {
            int first = choose_first(s);
            out[placed++] = s->g->instructions[s->ready[first]];
            place(s, first, cycle);
        }
    }
    return cycle;
}

/* ---- Bounds ---- */

static void find_bounds(const graph *g, mosaic_bound *bound) {
    int64_t slots[TS_SLOT_COUNT] = {0}, busy[TS_LATENCY_COUNT] = {0};
    *bound = (mosaic_bound){.instructions = g->count};
    for (int i = 0; i < g->count; i++) {
        const graph_node *n = &g->nodes[i];
        int latency = (int)ts_opcode_get(g->instructions[i].opcode)->latency, units = n->unit.count;
        bool matrix = ts_opcode_get(g->instructions[i].opcode)->family == TS_FAMILY_MATRIX;
        slots[n->slot]++;
        busy[latency] += n->unit.cycles;
        units = matrix ? g->core->mxu.units : units > 0 ? units : 1;
        int64_t least = (busy[latency] + units - 1) / units;
        bound->slot_cycles = least > bound->slot_cycles ? least : bound->slot_cycles;
        bound->path_cycles = n->height > bound->path_cycles ? n->height : bound->path_cycles;
    }
    for (int i = 0; i < TS_SLOT_COUNT; i++) {
        int have = g->core->limits.slots[i] > 0 ? g->core->limits.slots[i] : 1;
        int64_t least = (slots[i] + have - 1) / have;
        bound->slot_cycles = least > bound->slot_cycles ? least : bound->slot_cycles;
    }
}

static void schedule_block(mosaic_code *code, const ts_core_config *core, int number, const int *blocks_of,
                           mosaic_bound *bound) {
    mosaic_block *block = &code->blocks.items[number];
    int count = block->list.count;
    ts_arena *arena = ts_arena_new();
    if (count > 0 && ts_opcode_get(block->list.items[count - 1].opcode)->family == TS_FAMILY_CONTROL) {
        count--; /* a branch stays last */
    }
    graph *g = graph_new(arena, code, core, block->list.items, count);
    scheduler s = {.g = g, .code = code, .arena = arena};
    s.most[0] = core->limits.vregs * 7 / 8;
    s.most[1] = core->limits.vmasks * 7 / 8;
    s.most[2] = core->limits.sregs * 5 / 8;
    s.order = TS_NEW_ARRAY(arena, int, count + 1);
    s.uses = TS_NEW_ARRAY(arena, int, code->kinds.count + 1);
    s.ready = TS_NEW_ARRAY(arena, int, count + 1);
    s.ready_cycle = TS_NEW_ARRAY(arena, int64_t, count + 1);
    s.unit_free = TS_NEW_ARRAY(arena, int64_t, ts_core_unit_count(core) + 1);
    ts_instruction *out = TS_NEW_ARRAY(arena, ts_instruction, count + 1);
    find_bounds(g, bound);
    walk(&s);
    count_uses(&s, blocks_of);
    bound->cycles = run(&s, out);
    if (count > 0) memcpy(block->list.items, out, (size_t)count * sizeof out[0]);
    ts_arena_free(arena);
}

/* In how many blocks each register is; 2 for those that are written more than once. */
static int *find_blocks(mosaic_code *code, ts_arena *arena) {
    int *last = TS_NEW_ARRAY(arena, int, code->kinds.count + 1),
        *blocks = TS_NEW_ARRAY(arena, int, code->kinds.count + 1);
    for (int b = 0; b < code->blocks.count; b++) {
        for (int i = 0; i < code->blocks.items[b].list.count; i++) {
            mosaic_places p;
            mosaic_find_places(code, &code->blocks.items[b].list.items[i], &p);
            for (int k = 0; k < p.count; k++) {
                int v = *p.places[k];
                if (last[v] != b + 1) blocks[v]++;
                last[v] = b + 1;
            }
        }
    }
    return blocks;
}

void mosaic_schedule(mosaic_code *code, const ts_core_config *core, mosaic_bound *longest) {
    ts_arena *arena = ts_arena_new();
    int *blocks = find_blocks(code, arena);
    *longest = (mosaic_bound){0};
    for (int b = 0; b < code->blocks.count; b++) {
        mosaic_bound bound;
        schedule_block(code, core, b, blocks, &bound);
        if (bound.instructions > longest->instructions) *longest = bound;
    }
    ts_arena_free(arena);
}
