/* Register allocation. What lives across blocks gets a register of its own where one is free in all of its
 * blocks, by how often it is used, or a home in memory; the rest of a block's registers go to what lives
 * inside it, where the value whose next use is farthest away is spilled first (Belady). */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "code.h"

enum { NEVER = INT32_MAX, NONE = -1 };
enum { SREGS, VREGS, VMASKS, FILES }; /* register files */

/* What is known of a virtual register. */
typedef struct {
    int block;   /* where it is; NONE: nowhere yet */
    bool global; /* in several blocks, or read before it is written */
    bool rigid;  /* of a global: has its register everywhere */
    bool homed;  /* of a global: its home is in memory */
    int definitions;
    ts_instruction *made_by; /* the only definition, if it has no sources */
    double weight;
    int number; /* of a global among them */
    int reg;    /* NONE: in none */
    int slot;   /* in memory, NONE: none */
    bool saved; /* the slot holds the value */
    int next;   /* use in the block, by instruction */
} state;

typedef struct {
    int count;                   /* of registers that may be used */
    int owner[TS_REGISTERS_MAX]; /* the virtual register in it, NONE: free */
    int64_t freed[TS_REGISTERS_MAX];
    bool taken[TS_REGISTERS_MAX]; /* by a rigid global of this block */
    bool pinned[TS_REGISTERS_MAX];
} file;

typedef struct {
    mosaic_code *code;
    ts_arena *arena;
    mosaic_spills *spills;
    state *states;
    int global_count, *globals;
    uint64_t *live_in, *live_out, *used; /* [blocks][words]: globals */
    int words;
    file files[FILES];
    int mask_vreg; /* through which masks are spilled, NONE: they are not */
    LIST_OF(int) free_slots[2];
    LIST_OF(ts_instruction) out;
    int64_t clock;
    const file *short_of; /* a file with too few registers for one instruction */
} allocator;

static int file_of(int kind) {
    return kind == TS_OPERAND_SREG ? SREGS : kind == TS_OPERAND_VREG ? VREGS : VMASKS;
}
static int kind_of(const allocator *a, int v) { return a->code->kinds.items[v]; }
static file *file_at(allocator *a, int v) { return &a->files[file_of(kind_of(a, v))]; }

/* ---- What lives across blocks ---- */

static bool has_no_sources(const ts_instruction *i) {
    return i->opcode == TS_OP_viota_lane || i->opcode == TS_OP_viota_sublane || i->opcode == TS_OP_mall ||
           i->opcode == TS_OP_mnone ||
           ((i->opcode == TS_OP_vmov || i->opcode == TS_OP_smov || i->opcode == TS_OP_mlanes ||
             i->opcode == TS_OP_msubs) &&
            (i->operands[1].kind == TS_OPERAND_INTEGER || i->operands[1].kind == TS_OPERAND_F32));
}

static double weight_of(int depth) {
    double w = 1;
    for (int i = 0; i < depth && i < 8; i++) w *= 8;
    return w;
}

static void note(allocator *a, int v, int block, ts_instruction *definition) {
    state *s = &a->states[v];
    if (s->block != NONE ? s->block != block : !definition) s->global = true;
    s->block = block;
    s->weight += weight_of(a->code->blocks.items[block].depth);
    if (definition) {
        s->definitions++;
        s->made_by =
            s->definitions == 1 && has_no_sources(definition) && definition->mask < 0 ? definition : NULL;
    }
}

static void survey(allocator *a) {
    for (int b = 0; b < a->code->blocks.count; b++) {
        mosaic_block *block = &a->code->blocks.items[b];
        for (int i = 0; i < block->list.count; i++) {
            mosaic_registers p;
            bool found = mosaic_find_registers(a->code, &block->list.items[i], &p);
            assert(found);
            for (int k = 0; k < p.count; k++) {
                bool written = p.writes && k == p.count - 1;
                note(a, *p.registers[k], b, written ? &block->list.items[i] : NULL);
            }
        }
    }
    a->globals = TS_NEW_ARRAY(a->arena, int, a->code->kinds.count + 1);
    for (int v = 0; v < a->code->kinds.count; v++) {
        state *s = &a->states[v];
        if (s->global && s->made_by) s->global = false; /* made again in each block */
        if (!s->global) continue;
        s->number = a->global_count;
        a->globals[a->global_count++] = v;
    }
    a->words = a->global_count / 64 + 1;
}

static uint64_t *row(const allocator *a, uint64_t *bits, int block) {
    return bits + (ptrdiff_t)block * a->words;
}
static bool bit(const uint64_t *bits, int n) { return bits[n / 64] >> (n % 64) & 1; }
static void set(uint64_t *bits, int n) { bits[n / 64] |= (uint64_t)1 << (n % 64); }

/* Reads before writes of a block, and its writes. */
static void find_block_uses(allocator *a, int b, uint64_t *reads, uint64_t *writes) {
    mosaic_block *block = &a->code->blocks.items[b];
    for (int i = 0; i < block->list.count; i++) {
        mosaic_registers p;
        mosaic_find_registers(a->code, &block->list.items[i], &p);
        for (int k = 0; k < p.count; k++) {
            const state *s = &a->states[*p.registers[k]];
            bool written = p.writes && k == p.count - 1;
            if (!s->global) continue;
            set(row(a, a->used, b), s->number);
            if ((!written || p.merges) && !bit(writes, s->number)) set(reads, s->number);
            if (written) set(writes, s->number);
        }
    }
}

/* The blocks behind b: the next, unless the last instruction always goes elsewhere, and where it goes. */
static int successors(const allocator *a, int b, int out[2]) {
    const mosaic_block *block = &a->code->blocks.items[b];
    const ts_instruction *last = block->list.count > 0 ? &block->list.items[block->list.count - 1] : NULL;
    int count = 0;
    bool branches =
        last && last->operand_count > 0 && last->operands[last->operand_count - 1].kind == TS_OPERAND_LABEL;
    if (branches) out[count++] = last->operands[last->operand_count - 1].as.label;
    if ((!branches || last->opcode != TS_OP_jump) && b + 1 < a->code->blocks.count) out[count++] = b + 1;
    return count;
}

static void find_liveness(allocator *a) {
    int blocks = a->code->blocks.count;
    size_t size = (size_t)blocks * (size_t)a->words;
    uint64_t *reads = TS_NEW_ARRAY(a->arena, uint64_t, size),
             *writes = TS_NEW_ARRAY(a->arena, uint64_t, size);
    a->live_in = TS_NEW_ARRAY(a->arena, uint64_t, size);
    a->live_out = TS_NEW_ARRAY(a->arena, uint64_t, size);
    a->used = TS_NEW_ARRAY(a->arena, uint64_t, size);
    for (int b = 0; b < blocks; b++) find_block_uses(a, b, row(a, reads, b), row(a, writes, b));
    for (bool changed = true; changed;) {
        changed = false;
        for (int b = blocks - 1; b >= 0; b--) {
            int next[2], count = successors(a, b, next);
            for (int w = 0; w < a->words; w++) {
                uint64_t out = 0;
                for (int i = 0; i < count; i++) out |= row(a, a->live_in, next[i])[w];
                uint64_t in = row(a, reads, b)[w] | (out & ~row(a, writes, b)[w]);
                changed = changed || in != row(a, a->live_in, b)[w];
                row(a, a->live_in, b)[w] = in;
                row(a, a->live_out, b)[w] = out;
            }
        }
    }
}

/* ---- Registers for globals ---- */

static bool is_in_block(const allocator *a, int b, int number) {
    return bit(row(a, a->live_in, b), number) || bit(row(a, a->live_out, b), number) ||
           bit(row(a, a->used, b), number);
}

typedef struct {
    int v;
    double weight;
} ranked;

static int heavier(const void *x, const void *y) {
    const ranked *a = x, *b = y;
    return a->weight > b->weight ? -1 : a->weight < b->weight ? 1 : a->v - b->v;
}

/* Most of a file goes to globals; the rest is for what lives inside a block. */
static int most_globals(const file *f) { return f->count * 5 / 8; }

/* The registers that rigid globals have in a block: a bit for each of all files. */
enum { BUSY_WORDS = FILES * TS_REGISTERS_MAX / 64 };
static uint64_t *busy_in(uint64_t *busy, int block) { return busy + (ptrdiff_t)block * BUSY_WORDS; }

/* The first register of the file that is free in all blocks where `number` lives; NONE: there is none. */
static int find_register(const allocator *a, int which, int number, uint64_t *busy) {
    int blocks = a->code->blocks.count;
    for (int r = 0; r < most_globals(&a->files[which]); r++) {
        bool free = true;
        for (int b = 0; b < blocks && free; b++)
            free = !is_in_block(a, b, number) || !bit(busy_in(busy, b), which * TS_REGISTERS_MAX + r);
        if (free) return r;
    }
    return NONE;
}

/* By how often they are used where they live, most first. */
static ranked *rank_globals(const allocator *a) {
    ranked *order = TS_NEW_ARRAY(a->arena, ranked, a->global_count + 1);
    for (int i = 0; i < a->global_count; i++) {
        int length = 0;
        for (int b = 0; b < a->code->blocks.count; b++) length += is_in_block(a, b, i);
        order[i] = (ranked){a->globals[i], a->states[a->globals[i]].weight / (length + 1)};
    }
    if (a->global_count > 1) qsort(order, (size_t)a->global_count, sizeof *order, heavier);
    return order;
}

static void allocate_globals(allocator *a) {
    int blocks = a->code->blocks.count;
    const ranked *order = rank_globals(a);
    uint64_t *busy = TS_NEW_ARRAY(a->arena, uint64_t, (size_t)blocks * BUSY_WORDS);
    for (int i = 0; i < a->global_count; i++) {
        state *s = &a->states[order[i].v];
        int which = file_of(kind_of(a, order[i].v));
        s->reg = find_register(a, which, s->number, busy);
        s->rigid = s->reg != NONE;
        s->homed = !s->rigid;
        for (int b = 0; b < blocks && s->rigid; b++)
            if (is_in_block(a, b, s->number)) set(busy_in(busy, b), which * TS_REGISTERS_MAX + s->reg);
    }
}

/* ---- Spilling ---- */

static void add(allocator *a, const ts_instruction *like, ts_opcode opcode, ts_operand x, ts_operand y) {
    *PUSH(a->arena, &a->out) = mosaic_beside(like, opcode, x, y);
}

static ts_operand slot_address(allocator *a, int v) {
    state *s = &a->states[v];
    bool scalar = kind_of(a, v) == TS_OPERAND_SREG;
    if (s->slot == NONE) {
        int *most = scalar ? &a->spills->words : &a->spills->vregs;
        s->slot = a->free_slots[scalar].count > 0 ? a->free_slots[scalar].items[--a->free_slots[scalar].count]
                                                  : (*most)++;
    }
    return mosaic_spill_slot(a->code->arena, scalar ? MOSAIC_SPILL_SMEM : MOSAIC_SPILL_VMEM,
                             scalar ? s->slot : (int64_t)s->slot * TS_VREG_WORDS);
}

static void save(allocator *a, int v, const ts_instruction *like) {
    state *s = &a->states[v];
    ts_operand at = slot_address(a, v), from = {(ts_operand_kind)kind_of(a, v), {.reg = s->reg}};
    if (from.kind == TS_OPERAND_VMASK) {
        from = ts_vreg(a->mask_vreg);
        add(a, like, TS_OP_vmov, from, ts_integer(0));
        add(a, like, TS_OP_vmov, from, ts_integer(-1));
        a->out.items[a->out.count - 1].mask = s->reg;
    }
    add(a, like, from.kind == TS_OPERAND_SREG ? TS_OP_sst : TS_OP_vst, at, from);
    a->spills->stores++;
    s->saved = true;
}

static void load(allocator *a, int v, const ts_instruction *like) {
    state *s = &a->states[v];
    ts_operand to = {(ts_operand_kind)kind_of(a, v), {.reg = s->reg}};
    if (s->made_by && !s->saved) {
        ts_instruction *new = PUSH(a->arena, &a->out);
        *new = *s->made_by;
        new->operands[0] = to;
        new->source = like->source;
        new->line = like->line;
        a->spills->again++;
        return;
    }
    a->spills->loads++;
    if (to.kind != TS_OPERAND_VMASK) {
        add(a, like, to.kind == TS_OPERAND_SREG ? TS_OP_sld : TS_OP_vld, to, slot_address(a, v));
        return;
    }
    add(a, like, TS_OP_vld, ts_vreg(a->mask_vreg), slot_address(a, v));
    add(a, like, TS_OP_mbits, to, ts_vreg(a->mask_vreg));
}

/* ---- Registers inside a block ---- */

static void release(allocator *a, int v) {
    state *s = &a->states[v];
    file *f = file_at(a, v);
    if (s->reg != NONE && !s->rigid) {
        f->owner[s->reg] = NONE;
        f->freed[s->reg] = ++a->clock;
        s->reg = NONE;
    }
}

/* The value is not needed again in this block. */
static void forget(allocator *a, int v) {
    state *s = &a->states[v];
    release(a, v);
    if (s->slot != NONE && !s->homed && !s->made_by) {
        *PUSH(a->arena, &a->free_slots[kind_of(a, v) == TS_OPERAND_SREG]) = s->slot;
        s->slot = NONE;
        s->saved = false;
    }
}

/* A register that is free, the one that has been so longest, or one whose value is needed last. Where the
 * instruction has all of them, any: then the kernel is refused. */
static int find_free(allocator *a, file *f, const ts_instruction *like) {
    int best = NONE, farthest = NONE;
    for (int r = 0; r < f->count; r++) {
        if (f->taken[r] || f->pinned[r]) continue;
        if (f->owner[r] == NONE) {
            if (best == NONE || f->freed[r] < f->freed[best]) best = r;
        } else if (farthest == NONE || a->states[f->owner[r]].next > a->states[f->owner[farthest]].next) {
            farthest = r;
        }
    }
    if (best == NONE && farthest == NONE) {
        a->short_of = f;
        best = 0;
    } else if (best == NONE) {
        int v = f->owner[farthest];
        state *s = &a->states[v];
        if (!s->saved && !s->made_by) save(a, v, like);
        release(a, v);
        best = farthest;
    }
    return best;
}

static void take_register(allocator *a, int v, const ts_instruction *like) {
    file *f = file_at(a, v);
    int r = find_free(a, f, like);
    f->owner[r] = v;
    a->states[v].reg = r;
}

/* For each register operand of each instruction of the block the instruction of its next use, NEVER: none. */
static int *find_next_uses(allocator *a, mosaic_block *block, int **first) {
    int total = 0, *last;
    *first = TS_NEW_ARRAY(a->arena, int, block->list.count + 1);
    mosaic_registers p;
    for (int i = 0; i < block->list.count; i++) {
        (*first)[i] = total;
        mosaic_find_registers(a->code, &block->list.items[i], &p);
        total += p.count;
    }
    int *next = TS_NEW_ARRAY(a->arena, int, total + 1);
    for (int i = block->list.count - 1; i >= 0; i--) {
        mosaic_find_registers(a->code, &block->list.items[i], &p);
        for (int k = 0; k < p.count; k++) next[(*first)[i] + k] = a->states[*p.registers[k]].next;
        for (int k = 0; k < p.count; k++) {
            last = &a->states[*p.registers[k]].next;
            *last = p.writes && k == p.count - 1 && !p.merges ? NEVER : i;
        }
        if (p.writes && !p.merges) /* read by the same instruction too? */
            for (int k = 0; k + 1 < p.count; k++) a->states[*p.registers[k]].next = i;
    }
    return next;
}

static void make_resident(allocator *a, int v, const ts_instruction *like) {
    state *s = &a->states[v];
    if (s->reg == NONE) {
        take_register(a, v, like);
        load(a, v, like);
    }
    if (!s->rigid) file_at(a, v)->pinned[s->reg] = true;
}

static void unpin(allocator *a) {
    for (int k = 0; k < FILES; k++) memset(a->files[k].pinned, 0, sizeof a->files[k].pinned);
}

/* Operands whose values are not needed again; the result's register is. */
static void forget_dead(allocator *a, const int *operands, int count, int result) {
    for (int k = 0; k < count; k++)
        if (a->states[operands[k]].next == NEVER && operands[k] != result) forget(a, operands[k]);
}

/* One instruction, with what must come before it and behind it. Where the result merges with what is in its
 * register, operands keep theirs until it is written. */
static void allocate_instruction(allocator *a, ts_instruction *i, const int *next) {
    mosaic_registers p;
    int virtual[MOSAIC_REGISTERS];
    mosaic_find_registers(a->code, i, &p);
    int reads = p.count - p.writes, written = p.writes ? *p.registers[p.count - 1] : NONE;
    for (int k = 0; k < p.count; k++) virtual[k] = *p.registers[k];
    for (int k = 0; k < reads; k++) make_resident(a, virtual[k], i);
    state *w = written != NONE ? &a->states[written] : NULL;
    if (w && p.merges && (w->reg != NONE || w->saved || w->homed)) make_resident(a, written, i);
    for (int k = 0; k < p.count; k++) a->states[virtual[k]].next = next[k];
    for (int k = 0; k < reads; k++) *p.registers[k] = a->states[virtual[k]].reg;
    unpin(a);
    if (!p.merges) forget_dead(a, virtual, reads, written);
    if (w) {
        if (w->reg == NONE) take_register(a, written, i);
        w->saved = false;
        *p.registers[p.count - 1] = w->reg;
    }
    *PUSH(a->arena, &a->out) = *i;
    if (w && w->homed) save(a, written, i);
    if (w && w->next == NEVER && !w->rigid) forget(a, written);
    if (p.merges) forget_dead(a, virtual, reads, written);
}

static void open_block(allocator *a, int b) {
    for (int k = 0; k < FILES; k++) {
        file *f = &a->files[k];
        for (int r = 0; r < f->count; r++) f->owner[r] = NONE;
        memset(f->taken, 0, sizeof f->taken);
    }
    for (int i = 0; i < a->global_count; i++) {
        state *s = &a->states[a->globals[i]];
        s->saved = s->homed;
        if (!s->rigid) s->reg = NONE;
        if (s->rigid && is_in_block(a, b, i)) file_at(a, a->globals[i])->taken[s->reg] = true;
    }
}

static bool refuse(ts_error *err, const allocator *a, const ts_instruction *i) {
    static const char *const names[FILES] = {"sregs", "vregs", "vmasks"};
    return ts_instruction_error(err, TS_ERROR_INPUT, i, "this needs more %s at once than the machine has",
                                names[a->short_of - a->files]);
}

static bool allocate_block(ts_error *err, allocator *a, int b) {
    mosaic_block *block = &a->code->blocks.items[b];
    ts_arena *own = a->arena;
    int *first;
    open_block(a, b);
    a->out.items = NULL;
    a->out.count = 0;
    a->arena = a->code->arena;
    int *next = find_next_uses(a, block, &first);
    for (int i = 0; i < block->list.count; i++) {
        allocate_instruction(a, &block->list.items[i], next + first[i]);
        if (a->short_of) break;
    }
    a->arena = own;
    if (a->short_of) return refuse(err, a, &a->out.items[a->out.count - 1]);
    block->list.items = a->out.items;
    block->list.count = a->out.count;
    return true;
}

bool mosaic_allocate(ts_error *err, mosaic_code *code, const ts_core_config *core, mosaic_spills *spills) {
    bool good = true;
    allocator *a = TS_NEW(code->arena, allocator);
    *a = (allocator){.code = code, .arena = ts_arena_new(), .spills = spills};
    a->states = TS_NEW_ARRAY(a->arena, state, code->kinds.count + 1);
    int masks = 0;
    for (int v = 0; v < code->kinds.count; v++) {
        a->states[v] = (state){.block = NONE, .reg = NONE, .slot = NONE, .next = NEVER};
        masks += code->kinds.items[v] == TS_OPERAND_VMASK;
    }
    a->files[SREGS].count = core->limits.sregs;
    a->files[VMASKS].count = core->limits.vmasks;
    a->mask_vreg = masks > core->limits.vmasks ? core->limits.vregs - 1 : NONE;
    a->files[VREGS].count = core->limits.vregs - (a->mask_vreg != NONE);
    survey(a);
    find_liveness(a);
    allocate_globals(a);
    for (int b = 0; b < code->blocks.count && good; b++) good = allocate_block(err, a, b);
    ts_arena_free(a->arena);
    return good;
}
