/* Sessions on a mesh: all devices stop in the same cycle. */
#include <assert.h>

#include "session_private.h"

bool session_open_mesh(ts_error *err, ts_arena *arena, ts_session *s) {
    int64_t devices = s->request->mesh->device_count;
    const ts_chip_observer **observers = TS_NEW_ARRAY(arena, const ts_chip_observer *, devices);
    for (int64_t i = 0; i < devices; i++) observers[i] = &s->devices[i].observer;
    s->pod = run_open_mesh(err, arena, s->request, observers, &s->parts);
    if (s->pod) ts_session_look_at(s, 0);
    return s->pod != NULL;
}

int64_t ts_session_device(const ts_session *s) { return s->pod ? s->at->number : -1; }

void ts_session_look_at(ts_session *s, int64_t device) {
    assert(s->pod && device >= 0 && device < s->request->mesh->device_count);
    s->at = &s->devices[device];
    s->parts.chip = ts_pod_chip(s->pod, device);
}

bool ts_session_is_at_breakpoint(const ts_session *s, int64_t device) { return s->devices[device].at_break; }

/* The bundle that would issue in this cycle has a breakpoint of which was not told yet. */
static bool comes_to_one(ts_session *s, session_device *d, const ts_session_goal *goal, int64_t cycle) {
    const ts_core *core = ts_chip_core(ts_pod_chip(s->pod, d->number), s->followed);
    if (ts_core_next(core) > cycle || d->told == d->paces[s->followed].issued) return false;
    ts_session_look_at(s, d->number);
    return session_at_breakpoint(s, goal->breakpoints, goal->breakpoint_count);
}

/* Is any device at a breakpoint? Then the session shows the first such one, unless the one shown is one. */
static bool any_comes_to_one(ts_session *s, const ts_session_goal *goal, int64_t cycle) {
    int64_t was = s->at->number, first = -1;
    for (int64_t i = 0; i < s->request->mesh->device_count && goal->breakpoint_count > 0; i++) {
        session_device *d = &s->devices[i];
        if (!comes_to_one(s, d, goal, cycle)) continue;
        d->told = d->paces[s->followed].issued;
        d->at_break = true;
        if (first < 0 || i == was) first = i;
    }
    ts_session_look_at(s, first < 0 ? was : first);
    return first >= 0;
}

/* Where it stops before anything of the next cycle happens, if it does. */
static bool stops(ts_session *s, const ts_session_goal *goal, int64_t most, ts_stop *stop) {
    if (s->at->paces[s->followed].issued >= most)
        *stop = TS_STOP_STEPPED;
    else if (s->cycle >= goal->until)
        *stop = TS_STOP_CYCLE;
    else if (any_comes_to_one(s, goal, s->cycle))
        *stop = TS_STOP_BREAK;
    else
        return false;
    return true;
}

bool session_go_on_mesh(ts_error *err, ts_session *s, const ts_session_goal *goal, ts_stop *stop) {
    int64_t issued = s->at->paces[s->followed].issued, next;
    int64_t most = goal->bundles > INT64_MAX - issued ? INT64_MAX : issued + goal->bundles;
    s->was_hit = false;
    s->at->told = issued; /* it stands there */
    for (int64_t i = 0; i < s->request->mesh->device_count; i++) s->devices[i].at_break = false;
    while (!s->ended && (next = ts_pod_next(s->pod)) != INT64_MAX) {
        s->cycle = next < goal->until ? next : goal->until;
        if (stops(s, goal, most, stop)) return true;
        if (!ts_pod_advance(err, s->pod, s->cycle + 1)) return false;
        if (!s->was_hit) continue;
        ts_session_look_at(s, s->hit_device);
        *stop = TS_STOP_WATCH;
        return true;
    }
    *stop = TS_STOP_END;
    bool ended = s->ended;
    s->ended = true;
    return ended || ts_pod_end(err, s->pod);
}
