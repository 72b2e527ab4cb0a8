/* List scheduling of a block, cycle by cycle within slots and units, as long as there are registers: the
 * instruction that a walk from the results needs first goes first, or, where latencies bound the block and it
 * is shorter, the one with the longest way to the end. */
#include <string.h>

#include "base/number.h"
#include "graph.h"

/* How far ahead of what the walk needs next an instruction may go. */
enum { NONE = -1, CLASSES = 3, WINDOW = 2048 };

typedef enum { LONGEST_FIRST, DEPTH_FIRST } block_order;

typedef struct {
    graph *g;
    mosaic_code *code;
    int *uses;                      /* reads of each register not issued yet, plus 1 if it lives on */
    uint64_t *ready[TS_SLOT_COUNT]; /* bits of instructions that wait for none */
    int64_t *ready_cycle;
    bool *issued; /* by position in the depth-first order */
    int frontier; /* the first position that is not */
    int alive[CLASSES], most[CLASSES];
    int used[TS_SLOT_COUNT];
    int64_t *unit_free;
    block_order order; /* DEPTH_FIRST where latencies do not bound the block */
} scheduler;

static int class_of(const scheduler *s, int v) {
    int kind = s->code->kinds.items[v];
    return kind == TS_OPERAND_VREG ? 0 : kind == TS_OPERAND_VMASK ? 1 : 2;
}

/* ---- Registers ---- */

/* Uses of each register in the block; what is used in another block never dies. */
static void count_uses(scheduler *s, const int *blocks_of) {
    for (int i = 0; i < s->g->count; i++) {
        const graph_node *n = &s->g->nodes[i];
        for (int k = 0; k < n->read_count; k++) s->uses[n->reads[k]]++;
        if (n->written != NONE && blocks_of[n->written] > 1) s->uses[n->written]++;
    }
}

/* How many more registers of each class are alive behind the instruction. */
static void find_change(const scheduler *s, int at, int change[CLASSES]) {
    const graph_node *n = &s->g->nodes[at];
    memset(change, 0, CLASSES * sizeof change[0]);
    for (int k = 0; k < n->read_count; k++) {
        int same = 0;
        for (int j = 0; j <= k; j++) same += n->reads[j] == n->reads[k];
        if (s->uses[n->reads[k]] == same) change[class_of(s, n->reads[k])]--;
    }
    if (n->written != NONE) change[class_of(s, n->written)] += s->uses[n->written] > 0;
}

/* What begins a chain leaves room for what ends one. What the walk needs next always goes. */
static bool fits(const scheduler *s, int at) {
    int change[CLASSES];
    if (at <= s->frontier) return true;
    if (at > s->frontier + WINDOW) return false;
    find_change(s, at, change);
    for (int c = 0; c < CLASSES; c++) {
        int most = s->g->nodes[at].leaf && c == 0 ? s->most[c] * 3 / 4 : s->most[c];
        if (change[c] > 0 && s->alive[c] + change[c] > most) return false;
    }
    return true;
}

static void take_registers(scheduler *s, int at) {
    const graph_node *n = &s->g->nodes[at];
    int change[CLASSES];
    find_change(s, at, change);
    for (int c = 0; c < CLASSES; c++) s->alive[c] += change[c];
    for (int k = 0; k < n->read_count; k++) s->uses[n->reads[k]]--;
    s->issued[at] = true;
    while (s->frontier < s->g->count && s->issued[s->frontier]) s->frontier++;
}

/* ---- Placing ---- */

static int free_unit(const scheduler *s, const graph_node *n, int64_t cycle) {
    for (int i = n->unit.first; i < n->unit.first + n->unit.count; i++)
        if (s->unit_free[i] <= cycle) return i;
    return NONE;
}

static bool has_unit(const scheduler *s, const graph_node *n, int64_t cycle) {
    return n->unit.count == 0 || free_unit(s, n, cycle) != NONE;
}

static bool is_before(const scheduler *s, int a, int b) {
    const graph_node *x = &s->g->nodes[a], *y = &s->g->nodes[b];
    return s->order == LONGEST_FIRST && x->height != y->height ? x->height > y->height : a < b;
}

/* Bits of 64 instructions that wait for none and whose slots have room. */
static uint64_t ready_word(const scheduler *s, int word) {
    uint64_t bits = 0;
    for (int slot = 0; slot < TS_SLOT_COUNT; slot++)
        if (s->used[slot] < s->g->core->limits.slots[slot]) bits |= s->ready[slot][word];
    return bits;
}

/* The best instruction that can be issued in the cycle; NONE: none can. */
static int choose(const scheduler *s, int64_t cycle) {
    int best = NONE, last = s->g->count - 1 < s->frontier + WINDOW ? s->g->count - 1 : s->frontier + WINDOW;
    for (int word = s->frontier / 64; word <= last / 64; word++) {
        for (uint64_t bits = ready_word(s, word); bits != 0; bits &= bits - 1) {
            int at = word * 64 + __builtin_ctzll(bits);
            if (s->ready_cycle[at] > cycle || (best != NONE && !is_before(s, at, best))) continue;
            if (!has_unit(s, &s->g->nodes[at], cycle) || !fits(s, at)) continue;
            if (s->order == DEPTH_FIRST) return at;
            best = at;
        }
    }
    return best;
}

static void flip_ready(scheduler *s, int at) {
    s->ready[s->g->nodes[at].slot][at / 64] ^= (uint64_t)1 << (at % 64);
}

static void issue(scheduler *s, int at, int64_t cycle) {
    const graph_node *n = &s->g->nodes[at];
    int unit = free_unit(s, n, cycle);
    flip_ready(s, at);
    s->used[n->slot]++;
    if (unit != NONE) s->unit_free[unit] = cycle + n->unit.cycles;
    take_registers(s, at);
    for (int e = n->first_edge; e != NONE; e = s->g->edges.items[e].next) {
        int to = s->g->edges.items[e].to;
        int64_t from = cycle + s->g->edges.items[e].latency;
        if (from > s->ready_cycle[to]) s->ready_cycle[to] = from;
        if (--s->g->nodes[to].waits_for == 0) flip_ready(s, to);
    }
}

/* The first cycle behind one without an instruction in which there may be one: operands or a unit are
 * there. */
static int64_t next_cycle(const scheduler *s, int64_t cycle) {
    int64_t next = ts_core_next_unit(s->g->core, s->unit_free, cycle);
    for (int i = s->frontier; i < s->g->count && i <= s->frontier + WINDOW; i++)
        if (!s->issued[i] && s->ready_cycle[i] > cycle) next = ts_min(next, s->ready_cycle[i]);
    return next == INT64_MAX ? cycle + 1 : next;
}

static int64_t run(scheduler *s, ts_instruction *out) {
    int issued = 0;
    int64_t cycle = 0;
    for (int i = 0; i < s->g->count; i++)
        if (s->g->nodes[i].waits_for == 0) flip_ready(s, i);
    while (issued < s->g->count) {
        int before = issued;
        memset(s->used, 0, sizeof s->used);
        for (int chosen; (chosen = choose(s, cycle)) != NONE;) {
            out[issued++] = s->g->instructions[chosen];
            issue(s, chosen, cycle);
        }
        cycle = issued > before ? cycle + 1 : next_cycle(s, cycle);
    }
    return cycle;
}

/* ---- Bounds ---- */

static void find_bounds(const graph *g, mosaic_bound *bound) {
    ts_core_bound least = {0};
    *bound = (mosaic_bound){.instructions = g->count};
    for (int i = 0; i < g->count; i++) {
        const graph_node *n = &g->nodes[i];
        ts_core_bound_add(g->core, &g->instructions[i], &least);
        bound->path_cycles = ts_max(n->height, bound->path_cycles);
    }
    bound->slot_cycles = least.cycles;
}

/* Is there a slot for each of its instructions? */
static bool can_issue(const graph *g) {
    for (int i = 0; i < g->count; i++)
        if (g->core->limits.slots[g->nodes[i].slot] < 1) return false;
    return true;
}

/* In one of the two orders; the cycles. */
static int64_t try_order(mosaic_code *code, graph *g, const int *blocks_of, block_order order,
                         ts_instruction *out) {
    const ts_core_config *core = g->core;
    int *waits = TS_NEW_ARRAY(g->arena, int, g->count + 1);
    scheduler s = {.g = g, .code = code, .order = order};
    s.most[0] = core->limits.vregs * 7 / 8;
    s.most[1] = core->limits.vmasks * 7 / 8;
    s.most[2] = core->limits.sregs * 5 / 8;
    s.uses = TS_NEW_ARRAY(g->arena, int, code->kinds.count + 1);
    s.issued = TS_NEW_ARRAY(g->arena, bool, g->count + 1);
    for (int slot = 0; slot < TS_SLOT_COUNT; slot++)
        s.ready[slot] = TS_NEW_ARRAY(g->arena, uint64_t, g->count / 64 + 1);
    s.ready_cycle = TS_NEW_ARRAY(g->arena, int64_t, g->count + 1);
    s.unit_free = TS_NEW_ARRAY(g->arena, int64_t, ts_core_unit_count(core) + 1);
    for (int i = 0; i < g->count; i++) waits[i] = g->nodes[i].waits_for;
    count_uses(&s, blocks_of);
    int64_t cycles = run(&s, out);
    for (int i = 0; i < g->count; i++) g->nodes[i].waits_for = waits[i];
    return cycles;
}

/* By the longest way, and as the walk goes: where values are many, the one may keep registers from what the
 * other would have ended. What slots bound from the start is as walked. The instructions, in that order. */
static const ts_instruction *better_order(mosaic_code *code, graph *g, const int *blocks_of,
                                          mosaic_bound *bound) {
    ts_instruction *out = TS_NEW_ARRAY(g->arena, ts_instruction, g->count + 1);
    bound->cycles = try_order(code, g, blocks_of, DEPTH_FIRST, out);
    if (bound->slot_cycles > bound->path_cycles) return out;
    ts_instruction *other = TS_NEW_ARRAY(g->arena, ts_instruction, g->count + 1);
    int64_t cycles = try_order(code, g, blocks_of, LONGEST_FIRST, other);
    if (cycles > bound->cycles) return out;
    bound->cycles = cycles;
    return other;
}

/* What the machine has no slot for stays where it is: its bundle is refused later. */
static void schedule_block(mosaic_code *code, const ts_core_config *core, int number, const int *blocks_of,
                           mosaic_bound *bound) {
    mosaic_block *block = &code->blocks.items[number];
    int count = block->list.count;
    ts_arena *arena = ts_arena_new();
    if (count > 0 && ts_opcode_get(block->list.items[count - 1].opcode)->family == TS_FAMILY_CONTROL)
        count--; /* a branch stays last */
    graph *g = graph_new(arena, code, core, block->list.items, count);
    find_bounds(g, bound);
    if (count > 0 && can_issue(g))
        memcpy(block->list.items, better_order(code, g, blocks_of, bound),
               (size_t)count * sizeof(ts_instruction));
    ts_arena_free(arena);
}

void mosaic_schedule(mosaic_code *code, const ts_core_config *core, mosaic_bound *longest) {
    ts_arena *arena = ts_arena_new();
    int *blocks = mosaic_find_blocks(code, arena);
    *longest = (mosaic_bound){0};
    for (int b = 0; b < code->blocks.count; b++) {
        mosaic_bound bound;
        schedule_block(code, core, b, blocks, &bound);
        if (bound.instructions > longest->instructions) *longest = bound;
    }
    ts_arena_free(arena);
}
