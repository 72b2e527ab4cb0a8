/* What comes over links: its bytes arrive in parts, whose writes are offered to the HBM when they are
 * there. */
#include "incoming.h"

#include "base/clock.h"
#include "base/number.h"
#include "transfer.h"

struct ts_dma_incoming {
    ts_dma_incoming *next; /* in the list of complete ones, by cycle, or of spare ones */
    ts_dma_incoming *made; /* that was before it */
    ts_arena *arena;       /* of the traversal */
    const ts_plan *plan;
    void *owner;
    ts_traversal *traversal;
    uint64_t shift; /* of its locations */
    int64_t fed;    /* bytes that have come */
    int64_t ready;  /* bytes up to the end of the block that `accesses` are of */
    const ts_traversal_access *accesses;
    int access_count;
    bool over; /* there is no block */
    int64_t done_cycle;
};

/* Writes that are offered in one cycle. */
typedef struct batch {
    struct batch *next;
    int64_t cycle;
    int count, room;
    ts_hbm_request *requests;
    uint64_t shift;
    ts_dma_incoming *last; /* the transfer that it completes; NULL: none yet */
} batch;

struct incoming_set {
    ts_arena *arena;
    incoming_memory memory;
    ts_hbm_stream *stream;
    batch *first, *spare_batches; /* by cycle, of equal ones in the order in which they were fed */
    ts_dma_incoming *complete, *spare, *made;
};

incoming_set *incoming_set_new(ts_arena *arena, const incoming_memory *memory) {
    incoming_set *set = TS_NEW(arena, incoming_set);
    *set = (incoming_set){.arena = arena, .memory = *memory};
    set->stream = ts_hbm_stream_new(arena, memory->hbm, TS_HBM_UNLIMITED, TS_HBM_UNLIMITED);
    return set;
}

void incoming_set_free(incoming_set *set) {
    for (ts_dma_incoming *in = set ? set->made : NULL; in; in = in->made) ts_arena_free(in->arena);
}

/* ---- What is expected ---- */

static ts_dma_incoming *take_incoming(incoming_set *set) {
    ts_dma_incoming *in = set->spare;
    if (in) {
        set->spare = in->next;
        ts_arena_reset(in->arena);
        return in;
    }
    in = TS_NEW(set->arena, ts_dma_incoming);
    *in = (ts_dma_incoming){.made = set->made, .arena = ts_arena_new()};
    return set->made = in;
}

/* The next block, whose writes are offered when all of it has come. */
static void go_on(ts_dma_incoming *in) {
    int64_t elements, bits = in->plan->dst.shape->element_bits;
    in->over = !ts_traversal_next(in->traversal, &in->accesses, &in->access_count, &elements);
    if (!in->over) in->ready += ts_ceil_div(elements * bits, 8);
}

ts_dma_incoming *incoming_expect(incoming_set *set, const ts_plan *plan, void *owner) {
    const ts_dma_config *config = set->memory.config;
    ts_dma_incoming *in = take_incoming(set);
    *in = (ts_dma_incoming){.made = in->made, .arena = in->arena, .plan = plan, .owner = owner};
    in->traversal = ts_traversal_new(in->arena, plan, 0, config->access_bytes, config->write_granule_bits);
    go_on(in);
    return in;
}

void ts_dma_incoming_shift(ts_dma_incoming *in, uint64_t shift) { in->shift = shift; }

/* ---- What has come ---- */

static batch *take_batch(incoming_set *set) {
    batch *b = set->spare_batches;
    if (b)
        set->spare_batches = b->next;
    else
        b = TS_NEW(set->arena, batch);
    b->count = 0;
    b->last = NULL;
    return b;
}

static void give_batch(incoming_set *set, batch *b) {
    b->next = set->spare_batches;
    set->spare_batches = b;
}

static void add_block(incoming_set *set, batch *b, const ts_dma_incoming *in) {
    int needed = b->count + in->access_count;
    if (needed > b->room) {
        b->requests = ts_arena_grow(set->arena, b->requests, (size_t)b->count, (size_t)(2 * needed),
                                    sizeof *b->requests);
        b->room = 2 * needed;
    }
    int64_t tick = ts_clock_convert(b->cycle, set->memory.core_khz, set->memory.tick_khz);
    for (int i = 0; i < in->access_count; i++) {
        const ts_traversal_access *access = &in->accesses[i];
        b->requests[b->count++] = (ts_hbm_request){access->address, tick, access->is_write};
    }
}

static void put_in_order(incoming_set *set, batch *b) {
    batch **at = &set->first;
    while (*at && (*at)->cycle <= b->cycle) at = &(*at)->next;
    b->next = *at;
    *at = b;
}

void incoming_feed(incoming_set *set, ts_dma_incoming *in, const ts_dma_chunk *chunk) {
    batch *b = take_batch(set);
    b->cycle = chunk->cycle;
    b->shift = in->shift;
    b->last = chunk->last ? in : NULL;
    in->fed = chunk->last ? INT64_MAX : in->fed + chunk->bytes;
    for (; !in->over && in->ready <= in->fed; go_on(in))
        if (!chunk->passed) add_block(set, b, in);
    if (b->count > 0 || b->last)
        put_in_order(set, b);
    else
        give_batch(set, b);
}

int64_t incoming_next(const incoming_set *set) { return set->first ? set->first->cycle : INT64_MAX; }
int64_t incoming_done(const incoming_set *set) {
    return set->complete ? set->complete->done_cycle : INT64_MAX;
}

/* Nothing is complete before what came before it: all writes are of one stream. */
static void finish(incoming_set *set, ts_dma_incoming *in, int64_t cycle) {
    const incoming_memory *m = &set->memory;
    int64_t accepted = ts_clock_convert(ts_hbm_stream_latest(set->stream), m->tick_khz, m->core_khz);
    ts_dma_incoming **end = &set->complete;
    while (*end) end = &(*end)->next;
    in->done_cycle = ts_max(accepted, cycle);
    in->next = NULL;
    *end = in;
}

void incoming_offer(incoming_set *set) {
    batch *b = set->first;
    set->first = b->next;
    ts_hbm_stream_shift(set->stream, b->shift);
    if (b->count > 0)
        ts_hbm_stream_offer_all(set->stream, b->requests, b->count, set->memory.config->access_bytes);
    if (b->last) finish(set, b->last, b->cycle);
    give_batch(set, b);
}

void incoming_complete(incoming_set *set, ts_dma_result *result) {
    ts_dma_incoming *in = set->complete;
    set->complete = in->next;
    in->next = set->spare;
    set->spare = in;
    *result = (ts_dma_result){.incoming = in->owner, .completed_cycle = in->done_cycle};
    transfer_count_bytes(set->memory.config, &(ts_dma_transfer){.plan = in->plan, .dst.in_hbm = true},
                         ts_traversal_get_totals(in->traversal), result);
}
