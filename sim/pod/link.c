/* Links. */
#include "link.h"

static void add_event(ts_arena *arena, pod_events *events, const pod_event *event) {
    if (events->count == events->room) {
        int64_t room = events->room ? 2 * events->room : 16;
        events->items =
            ts_arena_grow(arena, events->items, (size_t)events->count, (size_t)room, sizeof *event);
        events->room = room;
    }
    events->items[events->count++] = *event;
}

/* ---- The heap ---- */

static bool is_before(const pod_event *a, const pod_event *b) {
    if (a->ps != b->ps) return a->ps < b->ps;
    if (a->source != b->source) return a->source < b->source;
    return a->sequence != b->sequence ? a->sequence < b->sequence : a->kind < b->kind;
}

void pod_links_push(pod_links *links, const pod_event *event) {
    pod_events *q = &links->queue;
    add_event(links->arena, q, event);
    int64_t at = q->count - 1;
    for (; at > 0 && is_before(event, &q->items[(at - 1) / 2]); at = (at - 1) / 2)
        q->items[at] = q->items[(at - 1) / 2];
    q->items[at] = *event;
}

static pod_event pop(pod_events *q) {
    pod_event first = q->items[0], last = q->items[--q->count];
    int64_t at = 0;
    for (int64_t child; (child = 2 * at + 1) < q->count; at = child) {
        if (child + 1 < q->count && is_before(&q->items[child + 1], &q->items[child])) child++;
        if (!is_before(&q->items[child], &last)) break;
        q->items[at] = q->items[child];
    }
    q->items[at] = last;
    return first;
}

int64_t pod_links_next(const pod_links *links) {
    return links->queue.count > 0 ? links->queue.items[0].ps : INT64_MAX;
}

/* ---- Sources ---- */

static pod_flow *take_flow(pod_links *links) {
    pod_flow *flow = links->free_flows;
    if (!flow) return TS_NEW(links->arena, pod_flow);
    links->free_flows = flow->next;
    return flow;
}

/* The next chunk of a flow is offered, if it may be. */
static void offer(pod_links *links, pod_flow *flow, int64_t ps) {
    int64_t most = ts_mesh_wire_bytes(links->mesh, POD_CHUNK_BYTES);
    bool last = flow->left <= most;
    flow->waiting = last && !flow->read;
    flow->from_ps = ps;
    if (flow->waiting) return;
    pod_event event = {.ps = ps,
                       .source = flow->message->source,
                       .sequence = flow->sequence,
                       .kind = POD_HEAD,
                       .last = last,
                       .bytes = last ? flow->left : most,
                       .flow = flow,
                       .message = flow->message};
    flow->left -= event.bytes;
    pod_links_push(links, &event);
}

static const int64_t *find_detour(pod_links *links, int64_t destination) {
    const ts_mesh *mesh = links->mesh;
    if (!mesh->failed) return NULL;
    for (const pod_detour *known = links->detours; known; known = known->next)
        if (known->destination == destination) return known->links;
    pod_detour *new = TS_NEW(links->arena, pod_detour);
    *new = (pod_detour){.next = links->detours, .destination = destination};
    new->links = ts_mesh_find_detour(links->arena, mesh, links->chip, ts_mesh_chip(mesh, destination));
    links->detours = new;
    return new->links;
}

void pod_links_send(pod_links *links, ts_chip_message *message, int64_t ps) {
    message->left_ps = -1;
    message->detour = find_detour(links, message->destination);
    pod_flow *flow = take_flow(links);
    *flow = (pod_flow){.message = message,
                       .sequence = links->sequence++,
                       .left = ts_mesh_wire_bytes(links->mesh, message->bytes),
                       .read = message->transfer < 0};
    if (!flow->read) {
        flow->next = links->unread;
        links->unread = flow;
    }
    offer(links, flow, ps);
}

void pod_links_read(pod_links *links, const ts_chip_message *message, int64_t ps) {
    pod_flow **link = &links->unread;
    while ((*link)->message != message) link = &(*link)->next;
    pod_flow *flow = *link;
    *link = flow->next;
    flow->read = true;
    if (flow->waiting) offer(links, flow, ps > flow->from_ps ? ps : flow->from_ps);
}

/* ---- On the way ---- */

static int64_t whole_ps(double ps) {
    int64_t whole = (int64_t)ps;
    return whole + ((double)whole < ps);
}

static int64_t link_ps(const pod_links *links, int64_t bytes) {
    return whole_ps(ts_mesh_link_ps(links->mesh, (double)bytes));
}

/* When a chunk of the chip's own may go out from `ps` on. */
static int64_t inject(pod_links *links, const pod_event *event, int64_t ps) {
    if (!event->flow) return ps;
    int64_t taken = whole_ps(ts_mesh_injection_ps(links->mesh, (double)event->bytes)),
            beyond = taken - link_ps(links, event->bytes);
    if (links->injected_ps > ps) ps = links->injected_ps;
    links->injected_ps = ps + taken;
    return beyond > 0 ? ps + beyond : ps;
}

static void tell_carried(const pod_links *links, const pod_link *link, const pod_event *event,
                         int64_t begin_ps) {
    const ts_pod_observer *observer = links->observer;
    int64_t number = links->chip * 2 * links->mesh->dim_count + (link - links->links);
    ts_pod_chunk chunk = {event->message, number, event->bytes, begin_ps, link->free_ps};
    if (event->message->left_ps < 0) {
        event->message->left_ps = begin_ps;
        event->message->left_taken_ps = link->free_ps - begin_ps;
    }
    if (observer) observer->carried(observer->self, &chunk);
}

/* All of the chunk is at its destination. */
static int64_t arrive(const pod_links *links, const pod_event *event) {
    if (!event->flow) return event->ps + link_ps(links, event->bytes);
    return event->ps + (event->message->source == event->message->destination ? 0 : links->inside_ps);
}

/* The chunk goes out over a link; when its last byte has left. */
static int64_t pass_on(pod_links *links, pod_link *link, const pod_event *event) {
    int64_t ready = inject(links, event, event->ps), begin = ready > link->free_ps ? ready : link->free_ps,
            taken = link_ps(links, event->bytes);
    pod_event head = *event;
    head.ps = begin + links->mesh->ici->hop_ps;
    head.flow = NULL;
    add_event(links->arena, &link->out, &head);
    link->free_ps = begin + taken;
    link->busy_ps += taken;
    link->bytes += event->bytes;
    link->chunks++;
    tell_carried(links, link, event, begin);
    return link->free_ps;
}

static void tell(pod_links *links, const pod_event *event, pod_event_kind kind, int64_t ps) {
    pod_event own = *event;
    own.kind = kind;
    own.ps = ps;
    own.flow = NULL;
    if (event->last) pod_links_push(links, &own);
}

/* Behind a chunk of its own messages. */
static void go_on(pod_links *links, const pod_event *event, int64_t left_ps) {
    pod_flow *flow = event->flow;
    if (!event->last) {
        offer(links, flow, left_ps);
        return;
    }
    flow->next = links->free_flows;
    links->free_flows = flow;
    if (event->message->transfer >= 0) tell(links, event, POD_SENT, left_ps);
}

/* A chunk is at its destination. True: that is told of now. */
static bool come(pod_links *links, pod_event *event) {
    int64_t ps = arrive(links, event);
    if (!event->message->into_hbm) {
        tell(links, event, POD_ARRIVED, ps);
        return false;
    }
    event->kind = POD_CAME;
    event->ps = ps;
    return true;
}

bool pod_links_step(pod_links *links, pod_event *event) {
    *event = pop(&links->queue);
    if (event->kind != POD_HEAD) return true;
    int64_t to = ts_mesh_chip(links->mesh, event->message->destination);
    int64_t next = ts_mesh_next_on_route(links->mesh, event->message->detour, links->chip, to);
    int64_t left_ps = event->ps;
    bool own = false;
    if (next >= 0)
        left_ps = pass_on(links, &links->links[next % (2 * links->mesh->dim_count)], event);
    else
        own = come(links, event);
    if (event->flow) go_on(links, event, left_ps);
    return own;
}
