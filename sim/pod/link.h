/* The links of a chip to its neighbours, as queues.
 *
 * A message goes in chunks, each along the route of ts_mesh_next_on_route. A chunk's head is at the next chip
 * a hop after its first byte left, and goes on at once where the link is free (virtual cut-through: Kermani
 * and Kleinrock, "Virtual cut-through", 1979); the link is taken for ts_mesh_link_ps of its bytes. A chunk of
 * a message is offered when the one before has left, so messages share a link. A message is whole flits, and
 * what a chip sends itself enters its links at most at the rate of ici.injection: a chunk begins late enough
 * to have come in when its end is due. Queues have no bound: rings cannot deadlock. A link's state belongs to
 * the chip that sends on it, so chips need nothing of each other for the length of a hop. */
#ifndef TILESIM_POD_LINK_H
#define TILESIM_POD_LINK_H

#include "pod/pod.h"

/* Small enough that messages share links evenly, large enough that few events are in a hop. */
enum { POD_CHUNK_BYTES = 16 << 10 };

typedef enum {
    POD_HEAD,    /* of a chunk is at the chip */
    POD_SENT,    /* the last byte has left its source */
    POD_ARRIVED, /* all of the message is there */
    POD_CAME, /* a chunk of one that goes into HBM is there; told of when its head is, for a time to come */
} pod_event_kind;

/* A message on its way out of its source. */
typedef struct pod_flow {
    struct pod_flow *next; /* in the list of free flows, or of those to be read */
    ts_chip_message *message;
    int64_t sequence, left; /* bytes, of whole flits, that were not offered */
    int64_t from_ps;        /* of the chunk that waits */
    bool read, waiting;     /* waiting: for that, with its last chunk */
} pod_flow;

typedef struct {
    int64_t ps;               /* of equal ones, in the order of source and sequence */
    int64_t source, sequence; /* of messages of that source */
    pod_event_kind kind;
    bool last;      /* chunk */
    int64_t bytes;  /* of it */
    pod_flow *flow; /* at its source */
    ts_chip_message *message;
} pod_event;

typedef struct {
    int64_t count, room;
    pod_event *items;
} pod_events;

typedef struct {
    int64_t free_ps, busy_ps, bytes, chunks;
    pod_events out; /* to the neighbour, since the links were last emptied */
} pod_link;

/* The way to a device where links have failed: it is searched for once. */
typedef struct pod_detour {
    struct pod_detour *next;
    int64_t destination;
    const int64_t *links; /* NULL: the usual one */
} pod_detour;

typedef struct {
    const ts_mesh *mesh;
    ts_arena *arena;
    int64_t chip;
    int64_t inside_ps;   /* from one device of the chip to another */
    int64_t injected_ps; /* when what it sent has come in, where that is limited */
    pod_detour *detours;
    const ts_pod_observer *observer; /* NULL: none */
    pod_link links[2 * TS_MESH_MAX_DIMS];
    pod_events queue; /* a heap */
    pod_flow *free_flows, *unread;
    int64_t sequence;
} pod_links;

/* A message leaves, from a time on; its last chunk when it was read. */
void pod_links_send(pod_links *links, ts_chip_message *message, int64_t ps);
void pod_links_read(pod_links *links, const ts_chip_message *message, int64_t ps);
void pod_links_push(pod_links *links, const pod_event *event);
int64_t pod_links_next(const pod_links *links); /* time of the first event; INT64_MAX: none */
/* Takes the first event; true: it is for the chip itself, sent or arrived. */
bool pod_links_step(pod_links *links, pod_event *event);

#endif
