/* Private to a run: what a chip tells becomes the events of a timeline. */
#ifndef TILESIM_RUN_RECORDER_H
#define TILESIM_RUN_RECORDER_H

#include "chip/chip.h"
#include "run/timeline.h"

typedef struct recorder recorder;

recorder *recorder_new(ts_arena *arena, ts_timeline *timeline);
const ts_chip_observer *recorder_observer(const recorder *r);
/* Before the chip runs: what it will run. */
void recorder_begin(recorder *r, const ts_machine *machine, const ts_program *program);
void recorder_end(recorder *r, const ts_chip *chip); /* also of a run that failed */

#endif
