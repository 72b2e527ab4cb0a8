/* Where the cycles of a run went, by line of the program: what a listing or a picture of the source is drawn
 * from.
 *
 * Every cycle of every core belongs to one instruction, and with it to a line and the frames around it. A
 * cycle in which a bundle issued is divided among the instructions of the bundle, as evenly as whole cycles
 * allow; a cycle of a stall belongs to the instruction whose constraint was met last. So lines, and what is
 * in no frame with the outermost frames, add up to the cycles of the run, by reason too. */
#ifndef TILESIM_RUN_PROFILE_H
#define TILESIM_RUN_PROFILE_H

#include "chip/chip.h"
#include "program/program.h"

typedef enum {
#define LINE_COUNTER(id, name, unit, meaning) TS_LINE_##id,
#include "run/line_counters.def"
    TS_LINE_COUNTER_COUNT
} ts_line_counter;
const char *ts_line_counter_name(ts_line_counter counter);

typedef struct {
    int64_t values[TS_LINE_COUNTER_COUNT];
    int64_t stalls[TS_STALL_COUNT]; /* cycles; their sum is values[TS_LINE_STALLED] */
} ts_line_counts;
void ts_line_counts_add(ts_line_counts *sum, const ts_line_counts *counts);

/* A line with instructions of its own. */
typedef struct {
    const ts_source *source; /* NULL: a program made in C */
    int line;
    int frame; /* ts_program_frame, -1: none */
    ts_line_counts counts;
} ts_profile_line;

/* A loop of the code: a branch back, and what it goes back over. Those from the same lines are one. */
typedef struct {
    const ts_source *source;
    int first_line, last_line;
    int frame;             /* of its first location; of a .loop its own frame */
    int locations;         /* in the code */
    ts_line_counts counts; /* with inner loops; times: iterations */
    int64_t own_cycles;    /* without them */
} ts_profile_loop;

typedef struct {
    ts_line_counts total; /* of all cores; times: 0 */
    int line_count;
    const ts_profile_line *lines; /* by frame, then line */
    const ts_line_counts *frames; /* [program->frame_count] with all that is in them */
    int loop_count;
    const ts_profile_loop *loops; /* by cycles of their own, the most first */
} ts_profile;

/* Of a chip that ran the program and was told to (ts_chip_config.profile). */
const ts_profile *ts_profile_new(ts_arena *arena, const ts_program *program, const ts_chip *chip);

/* NULL: the line has no instructions of its own in the frame. */
const ts_profile_line *ts_profile_find(const ts_profile *profile, int frame, int line);

#endif
