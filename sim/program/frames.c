/* Frames: the calls, inclusions and loops that instructions are in. */
#include "assembler.h"

/* In one frame a line opens one macro, file or loop; a program made in C has all its texts at line 1. */
static bool is_like(const ts_program_frame *a, const ts_program_frame *b) {
    return a->source == b->source && a->line == b->line && a->body == b->body;
}

int open_frame(assembler *as, ts_program_frame what) {
    int outer = as->frame;
    int *link = outer < 0 ? &as->first_frame : &as->frame_links.items[outer].first_inner;
    while (*link >= 0 && !is_like(&as->frames.items[*link], &what)) link = &as->frame_links.items[*link].next;
    if (*link < 0) {
        *link = as->frames.count; /* before the list grows: `link` may point into it */
        what.parent = outer;
        *PUSH(as->arena, &as->frames) = what;
        *PUSH(as->arena, &as->frame_links) = (frame_links){-1, -1};
        as->frame = as->frames.count - 1;
    } else {
        as->frame = *link;
    }
    return outer;
}

ts_program_location ts_program_location_of(const ts_program *program, const ts_instruction *instruction) {
    return program->locations[instruction - program->code.bundles[0].instructions];
}

const ts_source *ts_program_frame_text(const ts_program *program, int frame) {
    return frame < 0 ? program->source : program->frames[frame].body;
}
