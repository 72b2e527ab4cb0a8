/* Frames: the calls, inclusions and loops that instructions are in. */
#include "assembler.h"

/* In one frame a line opens one macro, file or loop; a program made in C has all its texts at line 1. */
static bool is_like(const ts_program_frame *a, const ts_program_frame *b) {
    return a->parent == b->parent && a->source == b->source && a->line == b->line && a->body == b->body;
}

/* Number + 1 of the frame like `what`; 0, to be filled: there is none. */
static int *find_slot(const assembler *as, const ts_program_frame *what) {
    uint64_t key = (uintptr_t)what->source + ((uint64_t)what->parent << 32) + (uint64_t)what->line;
    uint64_t at = key * 0x9e3779b97f4a7c15u >> 32; /* 2^64 over the golden ratio */
    int *slot = &as->frame_slots[at & (as->frame_slot_count - 1)];
    while (*slot > 0 && !is_like(&as->frames.items[*slot - 1], what))
        slot = &as->frame_slots[++at & (as->frame_slot_count - 1)];
    return slot;
}

/* Half of the slots at least are free. */
static void make_room(assembler *as) {
    enum { FIRST = 16 };
    if (2 * (uint64_t)as->frames.count < as->frame_slot_count) return;
    as->frame_slot_count = as->frame_slot_count == 0 ? FIRST : 2 * as->frame_slot_count;
    as->frame_slots = TS_NEW_ARRAY(as->scratch, int, as->frame_slot_count);
    for (int i = 0; i < as->frames.count; i++) *find_slot(as, &as->frames.items[i]) = i + 1;
}

int open_frame(assembler *as, ts_program_frame what) {
    int outer = what.parent = as->frame;
    make_room(as);
    int *slot = find_slot(as, &what);
    if (*slot == 0) {
        *PUSH(as->arena, &as->frames) = what;
        *slot = as->frames.count;
    }
    as->frame = *slot - 1;
    return outer;
}

ts_program_location ts_program_location_of(const ts_program *program, const ts_instruction *instruction) {
    return program->locations[instruction - program->code.bundles[0].instructions];
}

const ts_source *ts_program_frame_text(const ts_program *program, int frame) {
    return frame < 0 ? program->source : program->frames[frame].body;
}
