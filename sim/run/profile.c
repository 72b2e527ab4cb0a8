/* Lines and frames: what was counted by bundle and instruction, added up by line of the text. */
#include "run/profile.h"

#include <stdlib.h>

#include "base/number.h"
#include "run_parts.h"

/* ---- Lines ---- */

/* An instruction and the line that it is counted with. */
typedef struct {
    int frame, line, column;
    int bundle, index;
} location;

static location location_of(const ts_program *program, int bundle, int index) {
    const ts_instruction *instruction = &program->code.bundles[bundle].instructions[index];
    ts_program_location at = ts_program_location_of(program, instruction);
    return (location){at.frame, at.line, instruction->column, bundle, index};
}

static int compare_lines(const location *a, const location *b) {
    int frames = ts_order(a->frame, b->frame);
    return frames ? frames : ts_order(a->line, b->line);
}

static int compare_locations(const void *x, const void *y) {
    const location *a = x, *b = y;
    int lines = compare_lines(a, b), columns = ts_order(a->column, b->column);
    int bundles = ts_order(a->bundle, b->bundle);
    return lines ? lines : columns ? columns : bundles ? bundles : ts_order(a->index, b->index);
}

static location *find_locations(ts_arena *arena, const ts_program *program, int *count) {
    const ts_code *code = &program->code;
    *count = 0;
    for (int i = 0; i < code->bundle_count; i++) *count += code->bundles[i].count;
    location *locations = TS_NEW_ARRAY(arena, location, *count), *next = locations;
    for (int i = 0; i < code->bundle_count; i++)
        for (int k = 0; k < code->bundles[i].count; k++) *next++ = location_of(program, i, k);
    qsort(locations, (size_t)*count, sizeof *locations, compare_locations);
    return locations;
}

static int count_lines(const location *locations, int count) {
    int lines = count > 0;
    for (int i = 1; i < count; i++) lines += compare_lines(&locations[i], &locations[i - 1]) != 0;
    return lines;
}

/* A .loop has several instructions in one place: the last, its branch, says how often it was gone round. */
static bool is_loop_line(const ts_program *program, const location *p) {
    const ts_program_frame *frame = p->frame >= 0 ? &program->frames[p->frame] : NULL;
    return frame && frame->kind == TS_FRAME_LOOP && p->line == frame->line;
}

static ts_opcode opcode_of(const ts_program *program, const location *p) {
    return program->code.bundles[p->bundle].instructions[p->index].opcode;
}

static bool counts_times(const ts_program *program, const location *p, const location *first) {
    return is_loop_line(program, p) ? opcode_of(program, p) == TS_OP_br_lt : p->column == first->column;
}

/* How often a frame was entered: as its first line was executed. */
typedef struct {
    int line;
    int64_t times;
    int64_t begun; /* a .loop: how often its counter was set */
} entry;

static void note_entry(entry *first, int line, int64_t times) {
    if (first->line != 0 && line >= first->line) return;
    first->line = line;
    first->times = times;
}

typedef struct {
    const ts_chip *chip;
    const ts_program *program;
    ts_line_counts *frames;
    entry *entries; /* of them */
} counter;

/* Of the instructions that begin with `first`, those of its line; returns how many. */
static int add_line(const counter *c, const location *first, int count, ts_profile_line *line) {
    int i = 0;
    *line = (ts_profile_line){.source = ts_program_frame_text(c->program, first->frame),
                              .line = first->line,
                              .frame = first->frame};
    for (; i < count && compare_lines(&first[i], first) == 0; i++) {
        ts_line_counts counts;
        profile_instruction(c->chip, c->program, first[i].bundle, first[i].index, &counts);
        int64_t times = counts.values[TS_LINE_TIMES];
        if (!counts_times(c->program, &first[i], first)) counts.values[TS_LINE_TIMES] = 0;
        if (is_loop_line(c->program, first) && opcode_of(c->program, &first[i]) == TS_OP_smov)
            c->entries[first->frame].begun += times;
        ts_line_counts_add(&line->counts, &counts);
    }
    return i;
}

static void add_frames(const counter *c, const ts_profile *profile) {
    for (int i = 0; i < profile->line_count; i++) {
        const ts_profile_line *line = &profile->lines[i];
        if (line->frame < 0) continue;
        ts_line_counts_add(&c->frames[line->frame], &line->counts);
        note_entry(&c->entries[line->frame], line->line, line->counts.values[TS_LINE_TIMES]);
    }
    for (int i = c->program->frame_count - 1; i >= 0; i--) {
        const ts_program_frame *frame = &c->program->frames[i];
        const entry *own = &c->entries[i];
        c->frames[i].values[TS_LINE_TIMES] = own->times;
        if (frame->parent < 0) continue;
        ts_line_counts_add(&c->frames[frame->parent], &c->frames[i]);
        note_entry(&c->entries[frame->parent], frame->line,
                   frame->kind == TS_FRAME_LOOP ? own->begun : own->times);
    }
}

const ts_profile *ts_profile_new(ts_arena *arena, const ts_program *program, const ts_chip *chip) {
    ts_profile *profile = TS_NEW(arena, ts_profile);
    ts_arena *scratch = ts_arena_new();
    int count;
    counter c = {chip, program, TS_NEW_ARRAY(arena, ts_line_counts, program->frame_count),
                 TS_NEW_ARRAY(scratch, entry, program->frame_count)};
    const location *locations = find_locations(scratch, program, &count);
    ts_profile_line *lines = TS_NEW_ARRAY(arena, ts_profile_line, count_lines(locations, count));
    for (int i = 0; i < count;) i += add_line(&c, &locations[i], count - i, &lines[profile->line_count++]);
    profile->lines = lines;
    add_frames(&c, profile);
    profile->frames = c.frames;
    for (int i = 0; i < profile->line_count; i++) ts_line_counts_add(&profile->total, &lines[i].counts);
    profile->total.values[TS_LINE_TIMES] = 0;
    ts_arena_free(scratch);
    profile_loops(arena, program, chip, profile);
    return profile;
}

const ts_profile_line *ts_profile_find(const ts_profile *profile, int frame, int line) {
    location wanted = {.frame = frame, .line = line};
    int low = 0, high = profile->line_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        location here = {.frame = profile->lines[middle].frame, .line = profile->lines[middle].line};
        if (compare_lines(&here, &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const ts_profile_line *found = low < profile->line_count ? &profile->lines[low] : NULL;
    return found && found->frame == frame && found->line == line ? found : NULL;
}
