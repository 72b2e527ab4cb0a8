/* Loops of a profile: the branches back of the code, and the lines that they go over. */
#include <stdlib.h>

#include "base/number.h"
#include "profile_private.h"

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

/* The line of an instruction in the frame `level`, which is around it, or of what leads to it from there. */
static int line_at(const ts_program *program, const ts_instruction *instruction, int level) {
    ts_program_location at = ts_program_location_of(program, instruction);
    if (at.frame == level) return at.line;
    while (parent_of(program, at.frame) != level) at.frame = parent_of(program, at.frame);
    return program->frames[at.frame].line;
}

static const ts_instruction *branch_of(const ts_bundle *bundle) {
    const ts_instruction *branch = bundle->instructions;
    while (ts_opcode_get(branch->opcode)->latency != TS_LATENCY_BRANCH) branch++;
    return branch;
}

/* The innermost frame around all of it: the packer may put what a macro has before what stands in front of it. */
static int frame_of(const ts_program *program, const code_loop *code) {
    const ts_bundle *bundles = program->code.bundles;
    int level = ts_program_location_of(program, bundles[code->end].instructions).frame;
    for (int bundle = code->head; bundle <= code->end; bundle++)
        for (int i = 0; i < bundles[bundle].count; i++)
            level = common_frame(program, level,
                                 ts_program_location_of(program, &bundles[bundle].instructions[i]).frame);
    return level;
}

/* From the first line of what is repeated to that of the branch back. */
static void find_span(const ts_program *program, const code_loop *code, ts_profile_loop *loop) {
    const ts_bundle *bundles = program->code.bundles;
    const ts_instruction *branch = branch_of(&bundles[code->end]);
    int level = frame_of(program, code);
    loop->frame = level;
    loop->source = ts_program_frame_text(program, level);
    loop->first_line = loop->last_line = line_at(program, branch, level);
    if (level >= 0 && program->frames[level].kind == TS_FRAME_LOOP &&
        loop->last_line == program->frames[level].line) {
        loop->last_line = program->frames[level].end_line;
        return;
    }
    for (int bundle = code->head; bundle <= code->end; bundle++) {
        for (int i = 0; i < bundles[bundle].count; i++) {
            int line = line_at(program, &bundles[bundle].instructions[i], level);
            if (line < loop->first_line) loop->first_line = line;
        }
    }
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
    lines_loop *loops = TS_NEW_ARRAY(scratch, lines_loop, count);
    for (int i = 0; i < count; i++) {
        loops[i].head = code[i].head;
        loops[i].loop =
            (ts_profile_loop){.locations = 1, .counts = code[i].counts, .own_cycles = code[i].own_cycles};
        find_span(program, &code[i], &loops[i].loop);
    }
    profile->loop_count = fold(loops, count);
    ts_profile_loop *kept = TS_NEW_ARRAY(arena, ts_profile_loop, profile->loop_count);
    for (int i = 0; i < profile->loop_count; i++) kept[i] = loops[i].loop;
    profile->loops = kept;
    ts_arena_free(scratch);
}
