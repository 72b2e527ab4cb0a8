/* Private to a run on a mesh: one timeline of all its devices, a process each. */
#ifndef TILESIM_RUN_MESH_RECORDER_H
#define TILESIM_RUN_MESH_RECORDER_H

#include "pod/pod.h"
#include "run/run.h"

typedef struct mesh_recorder mesh_recorder;

/* Of the timeline of the request. It is not to be told by two threads at once. */
mesh_recorder *mesh_recorder_new(ts_arena *arena, const ts_run_request *request, const ts_program *program);
/* The observers of the devices, and of the links between them. */
const ts_chip_observer *const *mesh_recorder_observers(const mesh_recorder *m);
const ts_pod_observer *mesh_recorder_observer(const mesh_recorder *m);
void mesh_recorder_end(mesh_recorder *m, ts_pod *pod); /* also of a run that failed */

#endif
