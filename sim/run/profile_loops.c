/* Loops of a profile: the branches back of the code, and the lines that they go over. */
#include <stdlib.h>

#include "base/number.h"
#include "run_parts.h"

/* Bundles head .. end; several branches back to one head are one loop. */
typedef struct {
    int head, end;
    int outer; /* the smallest loop around it, -1: none */
    ts_line_counts counts;
    int64_t own_cycles;
} code_loop;

static int target_of(const ts_bundle *bundle) {
    for (int i = 0; i < bundle->count; i++) {
        const ts_instruction *instruction = &bundle->instructions[i];
        for (int k = 0; k < instruction->operand_count; k++)
            if (instruction->operands[k].kind == TS_OPERAND_LABEL) return instruction->operands[k].as.label;
    }
    return -1;
}

/* By head, the largest first: a loop comes behind those around it. */
static int compare_code(const void *x, const void *y) {
    const code_loop *a = x, *b = y;
    return a->head != b->head ? ts_order(a->head, b->head) : ts_order(b->end, a->end);
}

static code_loop *find_code(ts_arena *scratch, const ts_code *code, int *count) {
    code_loop *loops = TS_NEW_ARRAY(scratch, code_loop, code->bundle_count);
    int *by_head = TS_NEW_ARRAY(scratch, int, code->bundle_count); /* number + 1 */
    *count = 0;
    for (int i = 0; i < code->bundle_count; i++) {
        int target = target_of(&code->bundles[i]);
        if (target < 0 || target > i) continue;
        if (by_head[target] == 0) by_head[target] = ++*count;
        loops[by_head[target] - 1] = (code_loop){.head = target, .end = i, .outer = -1};
    }
    qsort(loops, (size_t)*count, sizeof *loops, compare_code);
    return loops;
}

/* The innermost loop around each bundle, -1: none. */
static int *find_innermost(ts_arena *scratch, const ts_code *code, code_loop *loops, int count) {
    int *innermost = TS_NEW_ARRAY(scratch, int, code->bundle_count);
    for (int bundle = 0, next = 0, open = -1; bundle < code->bundle_count; bundle++) {
        while (open >= 0 && loops[open].end < bundle) open = loops[open].outer;
        for (; next < count && loops[next].head == bundle; next++) {
            loops[next].outer = open;
            open = next;
        }
        innermost[bundle] = open;
    }
    return innermost;
}

static void count_code(const ts_chip *chip, const ts_program *program, code_loop *loops, int count,
                       const int *innermost) {
    for (int bundle = 0; bundle < program->code.bundle_count; bundle++) {
        code_loop *loop = innermost[bundle] >= 0 ? &loops[innermost[bundle]] : NULL;
        for (int i = 0; loop && i < program->code.bundles[bundle].count; i++) {
            ts_line_counts counts;
            profile_instruction(chip, program, bundle, i, &counts);
            int64_t times = counts.values[TS_LINE_TIMES];
            counts.values[TS_LINE_TIMES] = bundle == loop->head && i == 0 ? times : 0;
            ts_line_counts_add(&loop->counts, &counts);
            loop->own_cycles += counts.values[TS_LINE_CYCLES];
        }
    }
    for (int i = count - 1; i >= 0; i--) {
        if (loops[i].outer < 0) continue;
        code_loop *outer = &loops[loops[i].outer];
        int64_t iterations = outer->counts.values[TS_LINE_TIMES];
        ts_line_counts_add(&outer->counts, &loops[i].counts);
        outer->counts.values[TS_LINE_TIMES] = iterations;
    }
}

/* ---- Lines ---- */

/* A loop with the lines that it goes over. */
typedef struct {
    ts_profile_loop loop;
    int head;
} lines_loop;

static int parent_of(const ts_program *program, int frame) { return program->frames[frame].parent; }

/* The innermost frame around both; a frame has a higher number than those around it. */
static int common_frame(const ts_program *program, int a, int b) {
    while (a != b)
        if (a > b)
            a = parent_of(program, a);
        else
            b = parent_of(program, b);
    return a;
}

/* A line of a frame, as the frame `level` has it, which is around that one: the line that leads there. */
static int line_at(const ts_program *program, ts_program_location at, int level) {
    if (at.frame == level) return at.line;
    while (parent_of(program, at.frame) != level) at.frame = parent_of(program, at.frame);
    return program->frames[at.frame].line;
}

/* The innermost frame around both, and the first line there. */
static ts_program_location join(const ts_program *program, ts_program_location a, ts_program_location b) {
    int frame = common_frame(program, a.frame, b.frame);
    int x = line_at(program, a, frame), y = line_at(program, b, frame);
    return (ts_program_location){frame, x < y ? x : y};
}

/* A tree: the bundles from `count` on; at i below them the join of those at 2 i and 2 i + 1. */
static const ts_program_location *join_bundles(ts_arena *scratch, const ts_program *program) {
    int count = program->code.bundle_count;
    ts_program_location *tree = TS_NEW_ARRAY(scratch, ts_program_location, 2 * (int64_t)count);
    for (int i = 0; i < count; i++) {
        const ts_bundle *bundle = &program->code.bundles[i];
        ts_program_location *sum = &tree[count + i];
        *sum = ts_program_location_of(program, bundle->instructions);
        for (int k = 1; k < bundle->count; k++)
            *sum = join(program, *sum, ts_program_location_of(program, &bundle->instructions[k]));
    }
    for (int i = count - 1; i > 0; i--) tree[i] = join(program, tree[2 * i], tree[2 * i + 1]);
    return tree;
}

/* The packer may put what a macro has before what stands in front of it: all bundles of a loop count. */
static ts_program_location begin_of(const ts_program *program, const ts_program_location *tree,
                                    const code_loop *code) {
    int count = program->code.bundle_count;
    ts_program_location sum = tree[count + code->end];
    for (int low = count + code->head, high = count + code->end; low < high; low /= 2, high /= 2) {
        if (low % 2 == 1) sum = join(program, sum, tree[low++]);
        if (high % 2 == 1) sum = join(program, sum, tree[--high]);
    }
    return sum;
}

static const ts_instruction *branch_of(const ts_bundle *bundle) {
    const ts_instruction *branch = bundle->instructions;
    while (ts_opcode_get(branch->opcode)->latency != TS_LATENCY_BRANCH) branch++;
    return branch;
}

/* The lines of a loop: from its first instruction to its branch back. */
static void find_span(const ts_program *program, const ts_program_location *tree, const code_loop *code,
                      ts_profile_loop *loop) {
    const ts_instruction *branch = branch_of(&program->code.bundles[code->end]);
    ts_program_location begin = begin_of(program, tree, code);
    const ts_program_frame *frame = begin.frame >= 0 ? &program->frames[begin.frame] : NULL;
    int end = line_at(program, ts_program_location_of(program, branch), begin.frame);
    bool whole = frame && frame->kind == TS_FRAME_LOOP && end == frame->line;
    loop->frame = begin.frame;
    loop->source = ts_program_frame_text(program, begin.frame);
    loop->first_line = whole ? end : begin.line;
    loop->last_line = whole ? frame->end_line : end;
}

static int compare_spans(const void *x, const void *y) {
    const lines_loop *a = x, *b = y;
    if (a->loop.source != b->loop.source)
        return (uintptr_t)a->loop.source < (uintptr_t)b->loop.source ? -1 : 1;
    if (a->loop.first_line != b->loop.first_line) return ts_order(a->loop.first_line, b->loop.first_line);
    if (a->loop.last_line != b->loop.last_line) return ts_order(a->loop.last_line, b->loop.last_line);
    return ts_order(a->head, b->head);
}

static int compare_heat(const void *x, const void *y) {
    const lines_loop *a = x, *b = y;
    if (a->loop.own_cycles != b->loop.own_cycles) return ts_order(b->loop.own_cycles, a->loop.own_cycles);
    return ts_order(a->head, b->head);
}

/* Those of the same lines become one; returns how many are left. */
static int fold(lines_loop *loops, int count) {
    int kept = 0;
    qsort(loops, (size_t)count, sizeof *loops, compare_spans);
    for (int i = 0; i < count; i++) {
        ts_profile_loop *last = kept > 0 ? &loops[kept - 1].loop : NULL;
        const ts_profile_loop *loop = &loops[i].loop;
        if (last && last->source == loop->source && last->first_line == loop->first_line &&
            last->last_line == loop->last_line) {
            ts_line_counts_add(&last->counts, &loop->counts);
            last->own_cycles += loop->own_cycles;
            last->locations++;
        } else {
            loops[kept++] = loops[i];
        }
    }
    qsort(loops, (size_t)kept, sizeof *loops, compare_heat);
    return kept;
}

void profile_loops(ts_arena *arena, const ts_program *program, const ts_chip *chip, ts_profile *profile) {
    ts_arena *scratch = ts_arena_new();
    int count;
    code_loop *code = find_code(scratch, &program->code, &count);
    count_code(chip, program, code, count, find_innermost(scratch, &program->code, code, count));
    const ts_program_location *tree = join_bundles(scratch, program);
    lines_loop *loops = TS_NEW_ARRAY(scratch, lines_loop, count);
    for (int i = 0; i < count; i++) {
        loops[i].head = code[i].head;
        loops[i].loop =
            (ts_profile_loop){.locations = 1, .counts = code[i].counts, .own_cycles = code[i].own_cycles};
        find_span(program, tree, &code[i], &loops[i].loop);
    }
    profile->loop_count = fold(loops, count);
    ts_profile_loop *kept = TS_NEW_ARRAY(arena, ts_profile_loop, profile->loop_count);
    for (int i = 0; i < profile->loop_count; i++) kept[i] = loops[i].loop;
    profile->loops = kept;
    ts_arena_free(scratch);
}
