/* Spilling before scheduling: a block is put into the order in which values are needed, and where more vregs
 * would be alive than that order may have, the one whose next use is farthest away goes to memory (Belady).
 * What the scheduler then reorders has loads and stores like any other. */
#include <string.h>

#include "graph.h"

enum { NONE = -1, NEVER = INT32_MAX };

/* Of a virtual register of the text before. */
typedef struct {
    int now;   /* the register that holds it, NONE: none */
    int slot;  /* in memory, NONE: not there */
    int maker; /* the instruction that can make it again, NONE: none */
    int next;  /* use, by instruction */
    int held;  /* its index among those that are held */
    bool global, written;
} value_state;

typedef struct {
    mosaic_code *code;
    ts_arena *arena;
    mosaic_spills *spills;
    const graph *g;
    value_state *values;
    int most, held_count, count_before; /* registers before the first spill */
    int *held;                          /* values in registers */
    LIST_OF(ts_instruction) out;
} spiller;

static bool is_vreg(const spiller *s, int v) { return s->code->kinds.items[v] == TS_OPERAND_VREG; }

static ts_operand slot_of(spiller *s, int slot) {
    return mosaic_spill_slot(s->code->arena, MOSAIC_SPILL_VMEM, (int64_t)slot * TS_VREG_WORDS);
}

static void add(spiller *s, const ts_instruction *like, ts_opcode opcode, ts_operand a, ts_operand b) {
    *PUSH(s->code->arena, &s->out) = mosaic_beside(like, opcode, a, b);
}

/* ---- What is held ---- */

static void drop(spiller *s, int v) {
    value_state *state = &s->values[v];
    int last = s->held[--s->held_count];
    s->held[state->held] = last;
    s->values[last].held = state->held;
    state->held = NONE;
}

/* Room for one more; what the instruction `at` itself needs stays. */
static void make_room(spiller *s, int at, const ts_instruction *like) {
    while (s->held_count >= s->most) {
        int far = NONE;
        for (int i = 0; i < s->held_count; i++) {
            int next = s->values[s->held[i]].next;
            if (next > at && (far == NONE || next > s->values[far].next)) far = s->held[i];
        }
        if (far == NONE) return;
        value_state *state = &s->values[far];
        if (state->maker == NONE && state->slot == NONE && state->next != NEVER) {
            state->slot = s->spills->vregs++;
            add(s, like, TS_OP_vst, slot_of(s, state->slot), ts_vreg(state->now));
            s->spills->stores++;
        }
        drop(s, far);
        state->now = NONE;
    }
}

static void hold(spiller *s, int v, int at, const ts_instruction *like) {
    make_room(s, at, like);
    s->values[v].held = s->held_count;
    s->held[s->held_count++] = v;
}

/* The value is in a register again: a new one. */
static void bring(spiller *s, int v, int at, const ts_instruction *like) {
    value_state *state = &s->values[v];
    hold(s, v, at, like);
    state->now = mosaic_register(s->code, TS_OPERAND_VREG);
    if (state->maker == NONE) {
        add(s, like, TS_OP_vld, ts_vreg(state->now), slot_of(s, state->slot));
        s->spills->loads++;
        return;
    }
    ts_instruction *new = PUSH(s->code->arena, &s->out);
    *new = s->g->instructions[state->maker];
    new->operands[0] = ts_vreg(state->now);
    bool loads = new->opcode == TS_OP_vld;
    bool of_slot = loads && new->operands[1].as.address->tensor == MOSAIC_SPILL_VMEM;
    *(of_slot ? &s->spills->loads : &s->spills->again) += 1;
    if (loads) {
        ts_address *copy = TS_NEW(s->code->arena, ts_address);
        *copy = *new->operands[1].as.address;
        new->operands[1].as.address = copy;
    }
}

/* ---- A block ---- */

/* Constants, and loads of what the block does not change; what is not written whole is global. */
static bool can_be_made_again(const spiller *s, int at) {
    const ts_instruction *i = &s->g->instructions[at];
    if (i->opcode == TS_OP_vmov)
        return i->operands[1].kind == TS_OPERAND_INTEGER || i->operands[1].kind == TS_OPERAND_F32;
    if (i->opcode != TS_OP_vld) return false;
    if (i->operands[1].as.address->tensor == MOSAIC_SPILL_VMEM) return true; /* written in another block */
    for (int k = 0; k < i->operands[1].as.address->term_count; k++) {
        const value_state *v = &s->values[i->operands[1].as.address->terms[k].sreg];
        if (v->global && v->written) return false; /* it may have changed */
    }
    return !graph_is_changed(s->g, at);
}

static void spill_instruction(spiller *s, int at, ts_instruction *i, const int *next) {
    mosaic_registers p;
    mosaic_find_registers(s->code, i, &p);
    int virtual[MOSAIC_REGISTERS];
    for (int k = 0; k < p.count; k++) virtual[k] = *p.registers[k];
    for (int k = 0; k < p.count; k++) {
        bool written = p.writes && k == p.count - 1;
        value_state *v = &s->values[virtual[k]];
        if (written || !is_vreg(s, virtual[k]) || v->global) continue;
        if (v->held == NONE) bring(s, virtual[k], at, i);
        *p.registers[k] = v->now;
    }
    for (int k = 0; k < p.count; k++) {
        value_state *v = &s->values[virtual[k]];
        if (!is_vreg(s, virtual[k]) || v->global) continue;
        v->next = next[k];
        if (v->next == NEVER && v->held != NONE) drop(s, virtual[k]);
    }
    if (p.writes && is_vreg(s, virtual[p.count - 1]) && !s->values[virtual[p.count - 1]].global) {
        value_state *v = &s->values[virtual[p.count - 1]];
        v->now = virtual[p.count - 1];
        if (v->next != NEVER) hold(s, virtual[p.count - 1], at, i);
    }
    *PUSH(s->code->arena, &s->out) = *i;
}

/* For each register operand of each instruction, in their order, the next use. */
static int *find_uses(spiller *s, ts_instruction *ordered, int count, int *first) {
    mosaic_registers p;
    int total = 0;
    for (int i = 0; i < count; i++) {
        first[i] = total;
        mosaic_find_registers(s->code, &ordered[i], &p);
        total += p.count;
    }
    int *next = TS_NEW_ARRAY(s->arena, int, total + 1);
    for (int i = count - 1; i >= 0; i--) {
        mosaic_find_registers(s->code, &ordered[i], &p);
        for (int k = 0; k < p.count; k++) next[first[i] + k] = s->values[*p.registers[k]].next;
        for (int k = 0; k < p.count - p.writes; k++) s->values[*p.registers[k]].next = i;
    }
    return next;
}

/* Values that are written once, in this block, before they are read: the others are global. */
static void find_values(spiller *s, const int *blocks_of, int count) {
    mosaic_registers p;
    int kinds = s->code->kinds.count;
    bool *seen = TS_NEW_ARRAY(s->arena, bool, kinds + 1);
    for (int v = 0; v < kinds; v++) {
        s->values[v] = (value_state){.now = NONE, .slot = NONE, .maker = NONE, .next = NEVER, .held = NONE};
        s->values[v].global = v < s->count_before && blocks_of[v] > 1;
    }
    for (int i = 0; i < count; i++) {
        mosaic_find_registers(s->code, &s->g->instructions[i], &p);
        for (int k = 0; k < p.count; k++) {
            int v = *p.registers[k];
            bool written = p.writes && k == p.count - 1;
            if (written ? seen[v] || p.merges : !seen[v]) s->values[v].global = true;
            if (written) seen[v] = s->values[v].written = true;
        }
    }
    for (int i = 0; i < count; i++) {
        mosaic_find_registers(s->code, &s->g->instructions[i], &p);
        int v = p.writes ? *p.registers[p.count - 1] : NONE;
        if (v != NONE && is_vreg(s, v) && can_be_made_again(s, i)) s->values[v].maker = i;
    }
}

/* How many vregs of the block's own are alive at most. */
static int find_pressure(spiller *s, ts_instruction *ordered, const int *next, const int *first, int count) {
    int alive = 0, most = 0;
    mosaic_registers p;
    for (int i = 0; i < count; i++) {
        mosaic_find_registers(s->code, &ordered[i], &p);
        for (int k = 0; k < p.count; k++) {
            bool written = p.writes && k == p.count - 1, last = next[first[i] + k] == NEVER;
            if (!is_vreg(s, *p.registers[k]) || s->values[*p.registers[k]].global) continue;
            for (int j = 0; j < k; j++)
                last = last && p.registers[j] != NULL && *p.registers[j] != *p.registers[k];
            alive += written ? !last : -last;
        }
        most = alive > most ? alive : most;
    }
    return most;
}

static void spill_block(spiller *s, int number, const ts_core_config *core, const int *blocks_of) {
    mosaic_block *block = &s->code->blocks.items[number];
    int count = block->list.count;
    if (count > 0 && ts_opcode_get(block->list.items[count - 1].opcode)->family == TS_FAMILY_CONTROL) count--;
    s->g = graph_new(s->arena, s->code, core, block->list.items, count);
    int *order = TS_NEW_ARRAY(s->arena, int, count + 1), *first = TS_NEW_ARRAY(s->arena, int, count + 1);
    ts_instruction *ordered = TS_NEW_ARRAY(s->arena, ts_instruction, count + 1);
    graph_depth_first(s->g, order);
    for (int i = 0; i < count; i++) ordered[order[i]] = block->list.items[i];
    s->values = TS_NEW_ARRAY(s->arena, value_state, s->code->kinds.count + 1);
    s->held = TS_NEW_ARRAY(s->arena, int, count + MOSAIC_REGISTERS);
    s->held_count = 0;
    find_values(s, blocks_of, count);
    int *next = find_uses(s, ordered, count, first);
    if (find_pressure(s, ordered, next, first, count) <= s->most) {
        if (count > 0) memcpy(block->list.items, ordered, (size_t)count * sizeof ordered[0]);
        return;
    }
    s->most = s->most * 3 / 10; /* leaves registers for what the scheduler overlaps */
    s->out.items = NULL;
    s->out.count = 0;
    for (int i = 0; i < count; i++) spill_instruction(s, i, &ordered[i], next + first[i]);
    if (count < block->list.count) *PUSH(s->code->arena, &s->out) = block->list.items[count];
    block->list.items = s->out.items;
    block->list.count = s->out.count;
}

/* ---- Between blocks ---- */

/* Of a virtual register: where it is written, its address, and what holds it in the block that was last
 * seen. */
typedef struct {
    int block, slot, seen, now;
    bool fixed, crosses; /* no home for it; it is read in another block */
} crossing;

/* A value written once, not by a constant, and read no deeper in loops than there. */
static void find_crossing(const mosaic_code *code, const ts_instruction *i, const mosaic_registers *p, int b,
                          crossing *all) {
    const mosaic_block *blocks = code->blocks.items;
    for (int k = 0; k < p->count; k++) {
        crossing *c = &all[*p->registers[k]];
        if (p->writes && k == p->count - 1) {
            c->fixed = c->fixed || c->block != NONE || p->merges || i->opcode == TS_OP_vmov ||
                       i->opcode == TS_OP_viota_lane || i->opcode == TS_OP_viota_sublane;
            c->block = b;
        } else {
            c->fixed = c->fixed || c->block == NONE || blocks[b].depth > blocks[c->block].depth;
            c->crosses = c->crosses || c->block != b;
        }
    }
}

static int find_crossings(mosaic_code *code, crossing *all) {
    mosaic_registers p;
    int homes = 0, count = code->kinds.count;
    for (int v = 0; v < count; v++) all[v] = (crossing){NONE, NONE, NONE, NONE, false, false};
    for (int b = 0; b < code->blocks.count; b++) {
        for (int i = 0; i < code->blocks.items[b].list.count; i++) {
            ts_instruction *at = &code->blocks.items[b].list.items[i];
            mosaic_find_registers(code, at, &p);
            find_crossing(code, at, &p, b, all);
        }
    }
    for (int v = 0; v < count; v++) {
        all[v].crosses = all[v].crosses && !all[v].fixed && code->kinds.items[v] == TS_OPERAND_VREG;
        homes += all[v].crosses;
    }
    return homes;
}

static void home_instruction(spiller *s, ts_instruction *i, int b, crossing *all) {
    mosaic_registers p;
    mosaic_find_registers(s->code, i, &p);
    for (int k = 0; k < p.count - p.writes; k++) {
        crossing *c = *p.registers[k] < s->count_before ? &all[*p.registers[k]] : NULL;
        if (!c || !c->crosses || c->block == b) continue;
        if (c->seen != b) {
            c->seen = b;
            c->now = mosaic_register(s->code, TS_OPERAND_VREG);
            add(s, i, TS_OP_vld, ts_vreg(c->now), slot_of(s, c->slot));
            s->spills->loads++;
        }
        *p.registers[k] = c->now;
    }
    *PUSH(s->code->arena, &s->out) = *i;
    int written = p.writes ? *p.registers[p.count - 1] : NONE;
    if (written == NONE || !all[written].crosses) return;
    all[written].slot = s->spills->vregs++;
    add(s, i, TS_OP_vst, slot_of(s, all[written].slot), ts_vreg(written));
    s->spills->stores++;
}

/* Where more values go from block to block than registers could hold, they go through memory, so that their
 * loads and stores are scheduled like any other. */
static void home_crossings(mosaic_code *code, const ts_core_config *core, ts_arena *arena,
                           mosaic_spills *spills) {
    spiller s = {.code = code, .spills = spills, .count_before = code->kinds.count};
    crossing *all = TS_NEW_ARRAY(arena, crossing, code->kinds.count + 1);
    if (find_crossings(code, all) <= core->limits.vregs) return;
    for (int b = 0; b < code->blocks.count; b++) {
        mosaic_block *block = &code->blocks.items[b];
        s.out.items = NULL;
        s.out.count = 0;
        for (int i = 0; i < block->list.count; i++) home_instruction(&s, &block->list.items[i], b, all);
        block->list.items = s.out.items;
        block->list.count = s.out.count;
    }
}

void mosaic_spill(mosaic_code *code, const ts_core_config *core, mosaic_spills *spills) {
    ts_arena *all = ts_arena_new();
    *spills = (mosaic_spills){0};
    home_crossings(code, core, all, spills);
    int *blocks_of = mosaic_find_blocks(code, all);
    int count = code->kinds.count;
    for (int b = 0; b < code->blocks.count; b++) {
        spiller s = {.code = code,
                     .arena = ts_arena_new(),
                     .spills = spills,
                     .most = core->limits.vregs * 5 / 8,
                     .count_before = count};
        spill_block(&s, b, core, blocks_of);
        ts_arena_free(s.arena);
    }
    ts_arena_free(all);
}

/* ---- Slots ---- */

/* The block that uses a slot, its last use there, and the slot's new number. */
typedef struct {
    int block, last, number;
} slot_use;

enum { SEVERAL = -2 };

/* The slot of a spilled value that the instruction loads or stores, NULL: none. */
static ts_address *find_slot(ts_instruction *i) {
    int operand;
    const ts_address *address = ts_instruction_address(i, &operand);
    return address && address->tensor == MOSAIC_SPILL_VMEM ? (ts_address *)(uintptr_t)address : NULL;
}

static void survey_slots(mosaic_code *code, slot_use *uses) {
    for (int b = 0; b < code->blocks.count; b++) {
        for (int i = 0; i < code->blocks.items[b].list.count; i++) {
            const ts_address *a = find_slot(&code->blocks.items[b].list.items[i]);
            slot_use *use = a ? &uses[a->word / TS_VREG_WORDS] : NULL;
            if (use) *use = (slot_use){use->block == NONE || use->block == b ? b : SEVERAL, i, NONE};
        }
    }
}

/* Slots from `kept` on, of one block: the one that has been free for longest goes first. */
static int share_in_block(mosaic_block *block, slot_use *uses, int kept, ts_arena *arena) {
    LIST_OF(int) freed = {0};
    int taken = 0, most = kept;
    for (int i = 0; i < block->list.count; i++) {
        ts_address *a = find_slot(&block->list.items[i]);
        slot_use *use = a ? &uses[a->word / TS_VREG_WORDS] : NULL;
        if (!use) continue;
        if (use->number == NONE) use->number = taken < freed.count ? freed.items[taken++] : most++;
        a->word = (int64_t)use->number * TS_VREG_WORDS;
        if (use->block != SEVERAL && i == use->last) *PUSH(arena, &freed) = use->number;
    }
    return most;
}

void mosaic_share_slots(mosaic_code *code, mosaic_spills *spills) {
    ts_arena *arena = ts_arena_new();
    slot_use *uses = TS_NEW_ARRAY(arena, slot_use, spills->vregs + 1);
    int kept = 0, most = 0;
    for (int s = 0; s < spills->vregs; s++) uses[s].block = NONE;
    survey_slots(code, uses);
    for (int s = 0; s < spills->vregs; s++)
        if (uses[s].block == SEVERAL) uses[s].number = kept++;
    for (int b = 0; b < code->blocks.count; b++) {
        int used = share_in_block(&code->blocks.items[b], uses, kept, arena);
        most = used > most ? used : most;
    }
    spills->vregs = most > kept ? most : kept;
    ts_arena_free(arena);
}
