/* Pods. */
#include "pod/pod.h"

#include <pthread.h>

#include "base/clock.h"
#include "base/number.h"
#include "deadlock.h"
#include "link.h"
#include "state.h"

enum { PS_KHZ = 1000000000 }; /* a cycle a picosecond */

/* ---- Time: a link's is in picoseconds. A cycle begins in the picosecond that it is converted to. ---- */

static int64_t cycle_at(const ts_pod *pod, int64_t ps) {
    return ts_clock_cycles(ps, pod->request.config->memory.core_khz);
}

static int64_t ps_of(const ts_pod *pod, int64_t cycle) {
    return (int64_t)((__int128)cycle * PS_KHZ / pod->request.config->memory.core_khz);
}

/* ---- A chip's links ---- */

/* A device's first transfer over links launches the program's collectives, once, as those of a mesh are
 * priced. Signals and what stays on the chip do not wait for it. */
static int64_t launch(pod_device *device, const ts_chip_message *message, int64_t ps) {
    const ts_mesh *mesh = device->node->pod->request.mesh;
    if (message->transfer < 0 ||
        ts_mesh_chip(mesh, message->source) == ts_mesh_chip(mesh, message->destination))
        return ps;
    if (device->launched_ps < 0) device->launched_ps = ps + mesh->ici->launch_ps;
    return ts_max(ps, device->launched_ps);
}

static void send(void *self, ts_chip_message *message, int64_t cycle) {
    pod_device *device = self;
    pod_node *node = device->node;
    pod_links_send(&node->links, message, launch(device, message, ps_of(node->pod, cycle)));
}

static void was_read(void *self, ts_chip_message *message, int64_t cycle) {
    pod_node *node = ((pod_device *)self)->node;
    pod_links_read(&node->links, message, ps_of(node->pod, cycle));
}

static void received(void *self, const ts_chip_message *message, int64_t cycle) {
    const ts_pod_observer *observer = ((pod_device *)self)->node->pod->request.observer;
    if (observer) observer->arrived(observer->self, message, cycle);
}

/* ---- A window of one chip ---- */

static bool happen(ts_pod *pod, const pod_event *event) {
    int64_t cycle = cycle_at(pod, event->ps);
    ts_chip_message *message = event->message;
    bool is_sent = event->kind == POD_SENT;
    pod_device *device = &pod->devices[is_sent ? message->source : message->destination];
    device->next_cycle = ts_min(device->next_cycle, cycle);
    if (is_sent)
        ts_chip_sent(device->chip, message->number, cycle);
    else if (event->kind == POD_ARRIVED)
        device->failed = !ts_chip_receive(&device->err, device->chip, message, cycle);
    else
        device->failed = !ts_chip_feed(&device->err, device->chip, message,
                                       &(ts_dma_chunk){event->bytes, cycle, event->last, false});
    return !device->failed;
}

/* Before this cycle no other device of the chip does what it could see. */
static int64_t unseen_until(const pod_node *node, const pod_device *device) {
    const ts_pod *pod = node->pod;
    int64_t until = INT64_MAX;
    for (int i = 0; i < pod->request.mesh->devices_per_chip; i++) {
        const pod_device *other = &node->devices[i];
        if (other != device) until = ts_min(until, other->next_cycle);
    }
    return until == INT64_MAX ? until : cycle_at(pod, ps_of(pod, until) + node->links.inside_ps);
}

/* Its devices, as far as they may go, each only to what those before it have sent; `again`: not all came so
 * far, or one sent something or read it out. */
static bool advance(pod_node *node, int64_t until_ps, bool *again) {
    const ts_pod *pod = node->pod;
    int64_t cycle = cycle_at(pod, until_ps);
    *again = false;
    for (int i = 0; i < pod->request.mesh->devices_per_chip; i++) {
        pod_device *device = &node->devices[i];
        int64_t until = cycle_at(pod, ts_min(pod_links_next(&node->links), until_ps));
        ts_chip_span span = {pod->request.max_cycles, ts_min(until, unseen_until(node, device))};
        bool has_message;
        device->failed =
            !ts_chip_advance(&device->err, device->chip, &span, &device->next_cycle, &has_message);
        if (device->failed) return false;
        *again = *again || has_message || (span.until < cycle && device->next_cycle < cycle);
    }
    return true;
}

/* The devices, and what is on the links, in turns: neither goes ahead of what the other may yet do. */
static void go_until(pod_node *node, int64_t until_ps) {
    for (;;) {
        int64_t ps = ts_min(pod_links_next(&node->links), until_ps);
        bool again;
        pod_event event;
        if (!advance(node, ps, &again)) return;
        if (again) continue;
        if (pod_links_next(&node->links) >= until_ps) {
            if (ps == until_ps) return;
        } else if (pod_links_step(&node->links, &event) && !happen(node->pod, &event)) {
            return;
        }
    }
}

/* No device has failed before: that ends all windows. */
static void run_window(pod_node *node, int64_t until_ps) {
    const ts_mesh *mesh = node->pod->request.mesh;
    for (int i = 0; i < 2 * mesh->dim_count; i++) node->links.links[i].out.count = 0;
    if (node->next_ps < until_ps) go_until(node, until_ps);
}

/* What the neighbours sent in the window. */
static void collect(pod_node *node) {
    const ts_pod *pod = node->pod;
    int links = 2 * pod->request.mesh->dim_count;
    for (int i = 0; i < node->incoming_count; i++) {
        const pod_node *from = &pod->nodes[node->incoming[i] / links];
        const pod_events *out = &from->links.links[node->incoming[i] % links].out;
        for (int64_t k = 0; k < out->count; k++) pod_links_push(&node->links, &out->items[k]);
    }
    int64_t cycle = INT64_MAX;
    for (int i = 0; i < pod->request.mesh->devices_per_chip; i++)
        cycle = ts_min(cycle, node->devices[i].next_cycle);
    node->next_ps = ts_min(cycle == INT64_MAX ? cycle : ps_of(pod, cycle), pod_links_next(&node->links));
}

/* ---- All of them ---- */

typedef struct {
    ts_pod *pod;
    int number;
    pthread_t thread;
} worker;

static void run_share(const worker *w) {
    ts_pod *pod = w->pod;
    for (int64_t i = w->number; i < pod->node_count; i += pod->threads)
        run_window(&pod->nodes[i], pod->until_ps);
}

static void collect_share(const worker *w) {
    ts_pod *pod = w->pod;
    for (int64_t i = w->number; i < pod->node_count; i += pod->threads) collect(&pod->nodes[i]);
}

static void *work(void *self) {
    const worker *w = self;
    ts_pod *pod = w->pod;
    pthread_mutex_lock(&pod->gate); /* until it is known how many there are */
    pthread_mutex_unlock(&pod->gate);
    for (;;) {
        pthread_barrier_wait(&pod->barrier);
        if (pod->over) return NULL;
        run_share(w);
        pthread_barrier_wait(&pod->barrier);
        collect_share(w);
        pthread_barrier_wait(&pod->barrier);
    }
}

static void meet(ts_pod *pod) {
    if (pod->threads > 1) pthread_barrier_wait(&pod->barrier);
}

/* False: nothing is to come, or a chip failed. */
static bool find_window(ts_pod *pod) {
    int64_t next = INT64_MAX;
    bool failed = false;
    for (int64_t i = 0; i < pod->node_count; i++) next = ts_min(next, pod->nodes[i].next_ps);
    for (int64_t i = 0; i < pod->device_count; i++) failed = failed || pod->devices[i].failed;
    pod->until_ps = next == INT64_MAX ? next : ts_min(next + pod->window_ps, pod->bound_ps);
    return next < pod->bound_ps && !failed;
}

static bool is_interrupted(const ts_pod *pod) {
    return ts_interrupt_is_heard(pod->request.config->interrupt);
}

static void run_windows(ts_pod *pod) {
    const worker own = {.pod = pod};
    while (find_window(pod) && !is_interrupted(pod)) {
        meet(pod);
        run_share(&own);
        meet(pod);
        collect_share(&own);
        meet(pod);
    }
    pod->over = true;
    meet(pod);
}

/* Fewer threads where the host gives no more. */
static void start(ts_pod *pod, worker *workers) {
    int wanted = pod->request.threads < TS_POD_MAX_THREADS ? pod->request.threads : TS_POD_MAX_THREADS;
    if (wanted > pod->node_count) wanted = (int)pod->node_count;
    pod->threads = 1;
    pthread_mutex_init(&pod->gate, NULL);
    pthread_mutex_lock(&pod->gate);
    for (; pod->threads < wanted; pod->threads++) {
        worker *w = &workers[pod->threads];
        *w = (worker){.pod = pod, .number = pod->threads};
        if (pthread_create(&w->thread, NULL, work, w) != 0) break;
    }
    if (pod->threads > 1) pthread_barrier_init(&pod->barrier, NULL, (unsigned)pod->threads);
    pthread_mutex_unlock(&pod->gate);
}

static void finish(ts_pod *pod, const worker *workers) {
    for (int i = 1; i < pod->threads; i++) pthread_join(workers[i].thread, NULL);
    if (pod->threads > 1) pthread_barrier_destroy(&pod->barrier);
    pthread_mutex_destroy(&pod->gate);
}

static bool report(ts_error *err, const ts_pod *pod) {
    const pod_device *first = NULL;
    for (int64_t i = 0; i < pod->device_count; i++) {
        const pod_device *device = &pod->devices[i];
        if (device->failed && (!first || device->err.cycle < first->err.cycle)) first = device;
    }
    if (!first) return true;
    if (!err) return false;
    *err = first->err;
    return ts_error_whose(err, "device", first - pod->devices);
}

static bool all_halted(const ts_pod *pod) {
    bool all = true;
    for (int64_t i = 0; i < pod->device_count; i++) all = all && ts_chip_halted(pod->devices[i].chip);
    return all;
}

bool ts_pod_end(ts_error *err, ts_pod *pod) {
    if (!all_halted(pod)) return pod_deadlock(err, pod);
    for (int64_t i = 0; i < pod->device_count; i++) ts_chip_look_back(pod->devices[i].chip);
    return true;
}

bool ts_pod_run(ts_error *err, ts_pod *pod) {
    worker *workers = TS_NEW_ARRAY(pod->arena, worker, TS_POD_MAX_THREADS);
    pod->bound_ps = INT64_MAX;
    start(pod, workers);
    run_windows(pod);
    finish(pod, workers);
    if (is_interrupted(pod)) return ts_interrupt_error(err, pod->request.config->interrupt);
    return report(err, pod) && ts_pod_end(err, pod);
}

bool ts_pod_advance(ts_error *err, ts_pod *pod, int64_t cycle) {
    pod->bound_ps = cycle == INT64_MAX ? cycle : ps_of(pod, cycle);
    pod->threads = 1;
    run_windows(pod);
    return report(err, pod);
}

int64_t ts_pod_next(const ts_pod *pod) {
    int64_t next = INT64_MAX;
    for (int64_t i = 0; i < pod->node_count; i++) next = ts_min(next, pod->nodes[i].next_ps);
    return next == INT64_MAX ? next : cycle_at(pod, next);
}

/* ---- Building ---- */

static void set_device(pod_device *device, ts_pod *pod, int64_t id) {
    const ts_mesh *mesh = pod->request.mesh;
    int64_t *index = TS_NEW_ARRAY(pod->arena, int64_t, mesh->axis_count);
    int64_t *size = TS_NEW_ARRAY(pod->arena, int64_t, mesh->axis_count);
    for (int i = 0; i < mesh->axis_count; i++) {
        index[i] = ts_mesh_coordinate(mesh, id, i);
        size[i] = mesh->axes[i].extent;
    }
    device->device = (ts_core_device){id, mesh->device_count, mesh->axis_count, index, size};
    device->chip_links = (ts_chip_links){
        .self = device, .device = &device->device, .send = send, .read = was_read, .received = received};
    device->launched_ps = -1;
}

static void make_node(ts_pod *pod, int64_t chip) {
    pod_node *node = &pod->nodes[chip];
    node->pod = pod;
    node->arena = ts_arena_new();
    node->links = (pod_links){.mesh = pod->request.mesh,
                              .arena = node->arena,
                              .chip = chip,
                              .inside_ps = pod->inside_ps,
                              .observer = pod->request.observer};
}

static bool make_device(ts_error *err, ts_pod *pod, int64_t id) {
    pod_device *device = &pod->devices[id];
    const ts_pod_request *request = &pod->request;
    device->node = &pod->nodes[ts_mesh_chip(request->mesh, id)];
    if (id % request->mesh->devices_per_chip == 0) device->node->devices = device;
    set_device(device, pod, id);
    device->config = *request->config;
    device->config.links = &device->chip_links;
    device->config.engine_pool = pod->engine_pool;
    device->config.interrupt = NULL; /* looked for between windows */
    device->config.findings = request->findings ? request->findings[id] : NULL;
    const ts_chip_observer *observer = request->observers ? request->observers[id] : NULL;
    device->chip = ts_chip_new(err, device->node->arena, &device->config, request->code, observer);
    return device->chip != NULL;
}

static void connect(ts_pod *pod) {
    const ts_mesh *mesh = pod->request.mesh;
    for (int64_t link = 0; link < ts_mesh_link_count(mesh); link++) {
        if (!ts_mesh_has_link(mesh, link)) continue;
        pod_node *end = &pod->nodes[ts_mesh_link_end(mesh, link)];
        end->incoming[end->incoming_count++] = link;
    }
}

static bool check(ts_error *err, const ts_mesh *mesh) {
    return mesh->ici->hop_ps > 0 ||
           ts_error_set(err, TS_ERROR_INPUT, "programs on a mesh need links with latency: ici.hop is 0");
}

static bool has_messages(const ts_code *code) {
    bool found = false;
    for (int i = 0; i < code->transfer_count; i++) found = found || code->transfers[i].remote;
    for (int i = 0; i < code->bundle_count; i++)
        for (int k = 0; k < code->bundles[i].count; k++)
            found = found || code->bundles[i].instructions[k].opcode == TS_OP_sem_signal;
    return found;
}

/* Of a program without messages a moment of the host, after which others may have failed, or the caller wants
 * an end. Where events are looked at, those of all devices come in turns. */
static void set_steps(ts_pod *pod) {
    enum { ALONE_CYCLES = 1 << 17 };
    const ts_pod_request *r = &pod->request;
    bool alone = !has_messages(r->code) && !r->observers && !r->observer;
    pod->inside_ps = ts_max(r->config->memory.dma->completion_ps, ps_of(pod, 2));
    pod->window_ps = r->mesh->ici->hop_ps;
    if (alone) pod->inside_ps = pod->window_ps = ts_max(pod->window_ps, ps_of(pod, ALONE_CYCLES));
}

ts_pod *ts_pod_new(ts_error *err, ts_arena *arena, const ts_pod_request *request) {
    if (!check(err, request->mesh)) return NULL;
    ts_pod *pod = TS_NEW(arena, ts_pod);
    *pod = (ts_pod){.request = *request, .arena = arena, .node_count = request->mesh->chip_count};
    pod->device_count = request->mesh->device_count;
    set_steps(pod);
    pod->nodes = TS_NEW_ARRAY(arena, pod_node, pod->node_count);
    pod->devices = TS_NEW_ARRAY(arena, pod_device, pod->device_count);
    for (int64_t i = 0; i < pod->node_count; i++) make_node(pod, i);
    if (pod->device_count > 1)
        pod->engine_pool = ts_engine_pool_new(&request->config->memory, request->config->exact);
    for (int64_t i = 0; i < pod->device_count; i++) {
        if (make_device(err, pod, i)) continue;
        ts_pod_free(pod);
        return NULL;
    }
    connect(pod);
    return pod;
}

void ts_pod_free(ts_pod *pod) {
    if (!pod) return;
    for (int64_t i = 0; i < pod->device_count; i++) {
        if (pod->devices[i].chip) ts_chip_free(pod->devices[i].chip);
        pod->devices[i].chip = NULL;
    }
    ts_engine_pool_free(pod->engine_pool);
    pod->engine_pool = NULL;
    for (int64_t i = 0; i < pod->node_count; i++) {
        if (pod->nodes[i].arena) ts_arena_free(pod->nodes[i].arena);
        pod->nodes[i].arena = NULL;
    }
}

ts_chip *ts_pod_chip(ts_pod *pod, int64_t device) { return pod->devices[device].chip; }

ts_pod_link ts_pod_link_of(const ts_pod *pod, int64_t link) {
    int links = 2 * pod->request.mesh->dim_count;
    const pod_link *own = &pod->nodes[link / links].links.links[link % links];
    return (ts_pod_link){own->bytes, own->busy_ps};
}
