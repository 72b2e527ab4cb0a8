/* From what the devices of a mesh tell to one timeline: a recorder each, whose processes become one. */
#include "recorder.h"

enum { EVENTS = 256 }; /* of a device, that are passed on at once */

typedef struct {
    mesh_recorder *all;
    int64_t device;
    int first_track; /* in the timeline of all */
    ts_timeline timeline;
    recorder *recorder;
} device_recorder;

struct mesh_recorder {
    ts_timeline *timeline;
    const ts_mesh *mesh;
    device_recorder *devices;
    int64_t *first_on; /* [chip] the device that has its links */
    const ts_chip_observer **observers;
    ts_pod_observer observer;
};

/* ---- Events ---- */

static void pass_on(void *self, const ts_trace_event *events, int64_t count) {
    const device_recorder *d = self;
    for (int64_t i = 0; i < count; i++) {
        ts_trace_event event = events[i];
        event.track += d->first_track;
        if (event.kind == TS_TIMELINE_ARROW) {
            event.value[0] += d->first_track;
            if (event.value[2] >= 0) event.value[2] += d->first_track;
        }
        ts_trace_add(&d->all->timeline->trace, &event);
    }
}

static void see_carried(void *self, const ts_pod_chunk *chunk) {
    mesh_recorder *m = self;
    int64_t chip = chunk->link / (2 * m->mesh->dim_count);
    recorder_carried(m->devices[m->first_on[chip]].recorder, chunk);
}

/* The track of the first link of the message's route; -1: it is not drawn. */
static int via_track(const mesh_recorder *m, const ts_chip_message *message, int64_t *cycle) {
    int64_t chip = ts_mesh_chip(m->mesh, message->source), to = ts_mesh_chip(m->mesh, message->destination);
    const device_recorder *from = &m->devices[m->first_on[chip]];
    const track_map *tracks = recorder_tracks(from->recorder);
    int64_t link = ts_mesh_next_on_route(m->mesh, message->detour, chip, to);
    *cycle = recorder_cycle(from->recorder, message->left_ps);
    int64_t end = recorder_cycle(from->recorder, message->left_ps + message->left_taken_ps);
    if (link < 0 || end <= *cycle || *cycle < message->issued_cycle ||
        !recorder_draws(from->recorder, *cycle))
        return -1;
    return from->first_track + tracks->link_first + (int)(link % tracks->links);
}

static void see_arrived(void *self, const ts_chip_message *message, int64_t cycle) {
    mesh_recorder *m = self;
    const device_recorder *from = &m->devices[message->source], *to = &m->devices[message->destination];
    const track_map *tracks = recorder_tracks(to->recorder);
    int64_t at, via_cycle;
    if (!recorder_arrived(to->recorder, message, cycle, &at) ||
        !recorder_draws(from->recorder, message->issued_cycle))
        return;
    int via = via_track(m, message, &via_cycle);
    ts_trace_add(&m->timeline->trace,
                 &(ts_trace_event){
                     .begin = message->issued_cycle,
                     .value = {to->first_track + tracks->arrivals, at, via, via_cycle},
                     .kind = TS_TIMELINE_ARROW,
                     .track = from->first_track + message->core * tracks->of_core + TRACK_BUNDLES,
                     .id = message->transfer,
                 });
}

/* ---- Tracks ---- */

static const char *device_name(ts_arena *arena, const ts_mesh *mesh, int64_t device) {
    ts_text name = ts_text_begin(arena);
    ts_text_add(&name, "device %lld", (long long)device);
    for (int i = 0; i < mesh->axis_count; i++)
        ts_text_add(&name, "%s%s=%lld", i ? ", " : " (", mesh->axes[i].name,
                    (long long)ts_mesh_coordinate(mesh, device, i));
    ts_text_add_char(&name, ')');
    return name.bytes;
}

/* Two cores have rows of the same name. */
static const char *track_name(ts_arena *arena, const ts_timeline *own, const ts_track *track, int cores) {
    ts_text name;
    if (cores <= 1 || track->process >= cores) return track->name;
    name = ts_text_begin(arena);
    ts_text_add(&name, "%s %s", own->processes[track->process], track->name);
    return name.bytes;
}

static void add_tracks(ts_arena *arena, const device_recorder *d, ts_track *tracks) {
    const ts_timeline *own = &d->timeline;
    int cores = recorder_tracks(d->recorder)->cores;
    for (int i = 0; i < own->track_count; i++) {
        tracks[i] = own->tracks[i];
        tracks[i].process = (int)d->device;
        tracks[i].name = track_name(arena, own, &own->tracks[i], cores);
    }
}

/* Every device has as many tracks. */
static void join(ts_arena *arena, mesh_recorder *m) {
    int devices = (int)m->mesh->device_count, each = m->devices[0].timeline.track_count;
    const char **names = TS_NEW_ARRAY(arena, const char *, devices);
    ts_track *tracks = TS_NEW_ARRAY(arena, ts_track, (int64_t)devices * each);
    for (int i = 0; i < devices; i++) {
        m->devices[i].first_track = i * each;
        names[i] = device_name(arena, m->mesh, i);
        add_tracks(arena, &m->devices[i], &tracks[i * each]);
    }
    m->timeline->processes = names;
    m->timeline->tracks = tracks;
    m->timeline->process_count = devices;
    m->timeline->track_count = devices * each;
}

/* ---- Beginning and end ---- */

static void begin_device(ts_arena *arena, mesh_recorder *m, int64_t device) {
    device_recorder *d = &m->devices[device];
    int64_t events = m->timeline->events / m->mesh->device_count;
    d->all = m;
    d->device = device;
    d->timeline = *m->timeline;
    d->timeline.events = events > 0 ? events : 1;
    ts_trace_init(&d->timeline.trace, arena, EVENTS, pass_on, d);
    d->recorder = recorder_new(arena, &d->timeline);
    recorder_begin(d->recorder, d->timeline.machine, d->timeline.program, device);
    m->observers[device] = recorder_observer(d->recorder);
}

mesh_recorder *mesh_recorder_new(ts_arena *arena, const ts_run_request *request, const ts_program *program) {
    int64_t devices = request->mesh->device_count;
    mesh_recorder *m = TS_NEW(arena, mesh_recorder);
    *m = (mesh_recorder){.timeline = request->timeline,
                         .mesh = request->mesh,
                         .devices = TS_NEW_ARRAY(arena, device_recorder, devices),
                         .first_on = TS_NEW_ARRAY(arena, int64_t, request->mesh->chip_count),
                         .observers = TS_NEW_ARRAY(arena, const ts_chip_observer *, devices)};
    m->observer = (ts_pod_observer){.self = m, .carried = see_carried, .arrived = see_arrived};
    m->timeline->machine = request->machine;
    m->timeline->program = program;
    m->timeline->mesh = request->mesh;
    m->timeline->sampled_from = -1;
    for (int64_t i = 0; i < devices; i++) {
        begin_device(arena, m, i);
        if (i % m->mesh->devices_per_chip == 0) m->first_on[ts_mesh_chip(m->mesh, i)] = i;
    }
    join(arena, m);
    return m;
}

const ts_chip_observer *const *mesh_recorder_observers(const mesh_recorder *m) { return m->observers; }
const ts_pod_observer *mesh_recorder_observer(const mesh_recorder *m) { return &m->observer; }

void mesh_recorder_end(mesh_recorder *m, ts_pod *pod) {
    ts_timeline *all = m->timeline;
    for (int64_t i = 0; i < m->mesh->device_count; i++) {
        const ts_timeline *own = &m->devices[i].timeline;
        recorder_end(m->devices[i].recorder, ts_pod_chip(pod, i));
        if (own->sampled_from >= 0 && (all->sampled_from < 0 || own->sampled_from < all->sampled_from))
            all->sampled_from = own->sampled_from;
        if (own->thinned > all->thinned) all->thinned = own->thinned;
        if (own->share > all->share) all->share = own->share;
        if (own->cycles > all->cycles) all->cycles = own->cycles;
        all->recalled += own->recalled;
    }
    ts_trace_flush(&all->trace);
}
