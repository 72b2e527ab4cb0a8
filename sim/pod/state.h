/* Private to the pod: its chips with their links. */
#ifndef TILESIM_POD_STATE_H
#define TILESIM_POD_STATE_H

#include <pthread.h>

#include "chip/engine_pool.h"
#include "link.h"
#include "pod/pod.h"

struct pod_node;

/* What a program runs on: a ts_chip. */
typedef struct {
    struct pod_node *node;
    ts_chip *chip;
    ts_chip_config config;
    ts_core_device device;
    ts_chip_links chip_links;
    int64_t next_cycle;  /* nothing happens before it, of itself */
    int64_t launched_ps; /* before which none of its transfers leaves; -1: it has started none */
    ts_error err;
    bool failed;
} pod_device;

/* A chip of the mesh: its devices, which may be several, and the links that they share. */
typedef struct pod_node {
    ts_pod *pod;
    ts_arena *arena;     /* its own: chips may be stepped by different threads */
    pod_device *devices; /* [mesh->devices_per_chip] */
    pod_links links;
    int incoming_count;
    int64_t incoming[2 * TS_MESH_MAX_DIMS]; /* links of the mesh that lead here */
    int64_t next_ps; /* nothing happens before it, of itself or of what is known to come */
} pod_node;

struct ts_pod {
    ts_pod_request request;
    ts_arena *arena;
    int64_t node_count, device_count;
    pod_node *nodes; /* [chip] */
    pod_device *devices;
    ts_engine_pool *engine_pool; /* NULL: none are shared */
    int64_t inside_ps;           /* from a device to another of its chip */
    int64_t window_ps;           /* a chip goes so far alone */
    int64_t until_ps;            /* the end of the window */
    int64_t bound_ps;            /* what begins from here on is left for later */
    int threads;
    bool over;
    pthread_mutex_t gate;
    pthread_barrier_t barrier;
};

#endif
