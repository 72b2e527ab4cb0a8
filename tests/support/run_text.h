/* Runs a program that a test has as text. */
#ifndef TESTS_SUPPORT_RUN_TEXT_H
#define TESTS_SUPPORT_RUN_TEXT_H

#include "run/run.h"

typedef struct {
    ts_arena *arena; /* the caller's to free */
    const ts_program *program;
    ts_run_result result;
} run_of_text;

/* Fails the test where the text is no program. */
const ts_program *assemble_text(ts_arena *arena, const ts_machine *machine, const char *text);
/* Whether it ran; without a profile, on the default machine, with that patience (ts_core_setup). */
bool run_patiently(ts_error *err, ts_arena *arena, const char *text, int64_t patience);

/* With a profile; fails the test where the program does. */
run_of_text run_text(const char *machine, const char *text, bool time_only);

#endif
