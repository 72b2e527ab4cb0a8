/* Private to a run: what a chip tells becomes the events of a timeline. */
#ifndef TILESIM_RUN_RECORDER_H
#define TILESIM_RUN_RECORDER_H

#include "pod/pod.h"
#include "tracks.h"

typedef struct recorder recorder;

recorder *recorder_new(ts_arena *arena, ts_timeline *timeline);
const ts_chip_observer *recorder_observer(const recorder *r);
/* Before the chip runs: what it will run, and its device of the timeline's mesh, if it has one. */
void recorder_begin(recorder *r, const ts_machine *machine, const ts_program *program, int64_t device);
void recorder_end(recorder *r, const ts_chip *chip); /* also of a run that failed */

/* Of a device: what goes out over one of its links; what comes. True: its arrival is drawn, in cycle *at. */
void recorder_carried(recorder *r, const ts_pod_chunk *chunk);
bool recorder_arrived(recorder *r, const ts_chip_message *message, int64_t cycle, int64_t *at);
int64_t recorder_cycle(const recorder *r, int64_t ps);
bool recorder_draws(recorder *r, int64_t cycle);
const track_map *recorder_tracks(const recorder *r);

#endif
