/* .loop: a counter, a body and a branch back; under .pack pipeline its iterations overlap. */
#include <string.h>

#include "pack.h"

static bool add_scalar(assembler *as, const token *location, ts_opcode opcode, item_bundle bundle, int reg,
                       const ts_operand *b) {
    item *new = add_item(as, location, opcode, bundle);
    if (new == NULL) return false;
    ts_operand *operands = new->code.operands;
    int count = 0;
    operands[count++] = (ts_operand){.kind = TS_OPERAND_SREG, .as.reg = reg};
    if (opcode == TS_OP_sadd) operands[count++] = operands[0];
    operands[count++] = *b;
    new->code.operand_count = count;
    return true;
}

/* Goes to the item `target` where the opcode holds for the register and `b`. */
typedef struct {
    ts_opcode opcode;
    int reg;
    const ts_operand *b;
    int target;
} branch;

static bool add_branch(assembler *as, const token *location, item_bundle bundle, branch to) {
    if (!add_scalar(as, location, to.opcode, bundle, to.reg, to.b)) return false;
    item *new = &as->items.items[as->items.count - 1];
    new->label_operand = new->code.operand_count++;
    new->code.operands[new->label_operand] = (ts_operand){.kind = TS_OPERAND_LABEL};
    new->target = to.target;
    return true;
}

/* The bounds of a loop as written; `never` when both are constants and there is no pass. */
typedef struct {
    int reg;
    ts_operand begin, end;
    int64_t step;
    bool constant, never;
} loop;

/* A register or a number that a counter can have: it is compared as a signed one, with a register too. */
static bool read_bound(assembler *as, const token **at, const char *what, ts_operand *out) {
    const token *begin = *at;
    if (!assemble_operand(as, at, TS_OP_smov, 1, out)) return false;
    return out->kind != TS_OPERAND_INTEGER || out->as.integer <= INT32_MAX ||
           TOKEN_ERROR(as->err, begin, "%s is %lld, expected %d to %d", what, (long long)out->as.integer,
                       INT32_MIN, INT32_MAX);
}

/* Behind the last pass, too: a counter that wraps is below its end for ever. */
static bool check_last(assembler *as, const token *end, const loop *l) {
    if (!l->constant || l->never) return true;
    int64_t passes = (l->end.as.integer - l->begin.as.integer + l->step - 1) / l->step;
    int64_t last = l->begin.as.integer + passes * l->step;
    return last <= INT32_MAX ||
           TOKEN_ERROR(as->err, end, "the counter is %lld behind the last pass, expected at most %d",
                       (long long)last, INT32_MAX);
}

static bool read_loop(assembler *as, const token **at, loop *l) {
    ts_operand reg;
    if (!assemble_operand(as, at, TS_OP_smov, 0, &reg) || !expect_mark(as, at, '=', "'='") ||
        !read_bound(as, at, "the first value", &l->begin) || !expect_mark(as, at, ',', "','"))
        return false;
    const token *end = *at;
    if (!read_bound(as, at, "the end", &l->end) || !read_step(as, at, &l->step)) return false;
    l->reg = reg.as.reg;
    if (l->end.kind == TS_OPERAND_SREG && l->end.as.reg == l->reg)
        return TOKEN_ERROR(as->err, end, "the end is the loop's own counter, expected another register");
    l->constant = l->begin.kind == TS_OPERAND_INTEGER && l->end.kind == TS_OPERAND_INTEGER;
    l->never = l->constant && l->begin.as.integer >= l->end.as.integer;
    return check_last(as, end, l);
}

static bool add_to(assembler *as, const token *location, int reg, int64_t number) {
    ts_operand operand = {.kind = TS_OPERAND_INTEGER, .as.integer = number};
    return number == 0 || add_scalar(as, location, TS_OP_sadd, NEW_BUNDLE, reg, &operand);
}

/* Counts up and goes back. With a constant end both fit one bundle: the branch reads the counter's old
 * value. */
static bool close_plainly(assembler *as, const token *location, const loop *l, int target) {
    ts_operand last = l->end, add = {.kind = TS_OPERAND_INTEGER, .as.integer = l->step};
    bool together = last.kind == TS_OPERAND_INTEGER && last.as.integer - l->step >= INT32_MIN &&
                    as->target->core.limits.slots[TS_SLOT_SCALAR] > 1;
    pack_region(as);
    if (together) last.as.integer -= l->step;
    bool good = add_scalar(as, location, TS_OP_sadd, NEW_BUNDLE, l->reg, &add) &&
                add_branch(as, location, together ? SAME_BUNDLE : NEW_BUNDLE,
                           (branch){TS_OP_br_lt, l->reg, &last, target});
    as->region = as->items.count;
    return good;
}

/* A jump, of which only the target is missing; its item. */
static int add_jump(assembler *as, const token *location) {
    item *new = add_item(as, location, TS_OP_jump, NEW_BUNDLE);
    if (new == NULL) return -1;
    new->label_operand = 0;
    new->code.operand_count = 1;
    new->code.operands[0] = (ts_operand){.kind = TS_OPERAND_LABEL};
    return as->items.count - 1;
}

/* What an iteration of the pipelined loop ends with: its addition, and the branch back. */
static bool make_control(assembler *as, const token *location, const loop *l, int copies, item control[2]) {
    ts_operand step = {.kind = TS_OPERAND_INTEGER, .as.integer = copies * l->step};
    int first = as->items.count;
    if (!add_scalar(as, location, TS_OP_sadd, NEW_BUNDLE, l->reg, &step) ||
        !add_branch(as, location, NEW_BUNDLE, (branch){TS_OP_br_lt, l->reg, &l->end, 0}))
        return false;
    memcpy(control, as->items.items + first, 2 * sizeof control[0]);
    as->items.count = first;
    return true;
}

/* Adds to the counter and leaves if it has come to the end: the item of the branch, -1 on an error. */
static int leave_at_end(assembler *as, const token *location, const loop *l, int64_t ahead) {
    bool good = add_to(as, location, l->reg, ahead) &&
                add_branch(as, location, NEW_BUNDLE, (branch){TS_OP_br_ge, l->reg, &l->end, 0});
    return good ? as->items.count - 1 : -1;
}

/* How far the counter is ahead at most. */
static int64_t most_ahead(const loop *l, const pipeline *p) {
    const ts_program_pipeline facts = pack_loop_facts(p);
    return ((int64_t)facts.stages * facts.iterations - 1) * l->step;
}

/* Is a counter that is ahead below 2^31? Of an end in a register the loop finds out itself. */
static bool has_room(const loop *l, const pipeline *p) {
    int64_t end = l->end.kind == TS_OPERAND_INTEGER ? l->end.as.integer : 0;
    return end + most_ahead(l, p) <= INT32_MAX;
}

/* To the plain loop where a counter ahead of an end in a register would be 2^31 or more. */
static bool leave_at_edge(assembler *as, const token *location, const loop *l, int64_t ahead) {
    const ts_operand above = {.kind = TS_OPERAND_INTEGER, .as.integer = INT32_MAX - ahead + 1};
    return add_branch(as, location, NEW_BUNDLE, (branch){TS_OP_br_ge, l->end.as.reg, &above, 0});
}

/* The loop as `p` has it, if there are enough iterations; the plain loop stands behind it, for what is left,
 * or for all. */
static bool add_pipeline(assembler *as, const token *location, const loop *l, const pipeline *p) {
    int copies = pack_loop_facts(p).iterations;
    int64_t needed = most_ahead(l, p), ahead = (copies - 1) * l->step;
    bool in_register = l->end.kind == TS_OPERAND_SREG;
    int far = as->items.count;
    item control[2];
    bool good = make_control(as, location, l, copies, control) &&
                (!in_register || leave_at_edge(as, location, l, needed));
    int few = good ? leave_at_end(as, location, l, needed) : -1;
    if (few < 0 || !add_to(as, location, l->reg, ahead - needed)) return false;
    pack_loop_build(p, control);
    int done = leave_at_end(as, location, l, -ahead), rest = done < 0 ? -1 : add_jump(as, location);
    if (rest < 0) return false;
    as->items.items[few].target = as->items.count;
    as->items.items[done].target = -1; /* behind the plain loop */
    good = add_to(as, location, l->reg, -needed);
    as->items.items[rest].target = as->items.count;
    if (in_register) as->items.items[far].target = as->items.count;
    return good;
}

static void note_pipeline(assembler *as, const token *location, const pipeline *p) {
    ts_program_pipeline facts = pack_loop_facts(p);
    facts.source = location->source;
    facts.line = location->line;
    *PUSH(as->arena, &as->pipelines) = facts;
}

static bool close_loop(assembler *as, const token *location, const loop *l, int target) {
    const counted_loop counted = {target, as->items.count - target, l->reg,
                                  l->end.kind == TS_OPERAND_SREG ? l->end.as.reg : -1, l->step};
    if (!as->pipelining || as->region != target || counted.count < 1)
        return close_plainly(as, location, l, target);
    item *body = TS_COPY_ARRAY(as->scratch, as->items.items + target, counted.count);
    const pipeline *p = pack_loop(as, &counted, body);
    if (p != NULL && !has_room(l, p)) {
        pack_loop_end(p);
        p = NULL;
    }
    if (p == NULL) return close_plainly(as, location, l, target);
    as->items.count = target;
    bool good = add_pipeline(as, location, l, p);
    note_pipeline(as, location, p);
    pack_loop_end(p);
    int plain = as->region = as->items.count;
    for (int i = 0; i < counted.count && good; i++) *PUSH(as->scratch, &as->items) = body[i];
    good = good && close_plainly(as, location, l, plain);
    for (int i = target; i < plain; i++)
        if (as->items.items[i].label_operand >= 0 && as->items.items[i].target == -1)
            as->items.items[i].target = as->items.count;
    return good;
}

static bool expand_loop(assembler *as, const token *word, const loop *l, const token *body,
                        const token *end) {
    int guard = -1;
    if (!add_scalar(as, word, TS_OP_smov, NEW_BUNDLE, l->reg, &l->begin)) return false;
    if (!l->constant) {
        guard = as->items.count;
        if (!add_branch(as, word, NEW_BUNDLE, (branch){TS_OP_br_ge, l->reg, &l->end, 0})) return false;
    }
    pack_region(as);
    int target = as->items.count;
    if (!run_in_scope(as, scope_new(as->arena, as->names), body, end) || !close_loop(as, word, l, target))
        return false;
    if (guard >= 0) as->items.items[guard].target = as->items.count;
    return true;
}

bool assemble_loop(assembler *as, const token *word, const token **at, const token *stop) {
    loop l;
    if (!read_loop(as, at, &l)) return false;
    const token *body = *at;
    *at = find_end(as, word, body, stop, END_ONLY);
    if (*at == NULL) return false;
    const token *end = (*at)++;
    if (l.never) return true;
    int outer = open_frame(as, (ts_program_frame){TS_FRAME_LOOP, -1, "", word->source, word->line,
                                                  word->source, word->line, end->line});
    bool good = expand_loop(as, word, &l, body, end);
    as->frame = outer;
    return good;
}
