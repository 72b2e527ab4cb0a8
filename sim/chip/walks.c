/* Walks that chips share. */
#include "walks.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "base/number.h"

typedef enum {
    ASK_START,
    ASK_EXPECT,
    ASK_FEED,
    ASK_NEXT,
    ASK_QUIET,
    ASK_COMPLETE,
    ASK_SETTLE,
    ASK_STATS
} asked;

/* What an engine was asked, behind all that its parents are, and the answer. */
typedef struct node {
    struct node *parent, *sibling, *children;
    asked what;
    int depth;
    int64_t cycle; /* of a start or a chunk; a limit; the tick to settle to; the least end of statistics */
    uint64_t hash[2];
    int64_t number; /* of what is expected, or fed */
    union {
        ts_dma_transfer transfer; /* that starts, or, but for its source, is expected */
        ts_dma_chunk chunk;
        struct {
            int64_t next, quiet;
        };
        ts_dma_result result;
    };
    ts_hbm_stats *stats;  /* of a completion with nothing under way: what was counted, */
    int64_t rest;         /* from which tick on the memory rests, */
    int direction;        /* and the direction of its buses */
    ts_hbm_stats *beyond; /* what was counted more than in a memory that did nothing; NULL: not known yet */
} node;

/* What is expected of links, by its number of all on a chain. */
typedef struct {
    int64_t number;
    ts_dma_incoming *incoming;
} expected;

typedef struct engine {
    struct engine *next;
    ts_arena *arena;
    ts_hbm *hbm;
    ts_dma *dma;
    expected *expected;
    int expected_count, expected_room;
    const node *head; /* the last that it was asked */
} engine;

typedef struct held {
    struct held *next;
    ts_arena *arena;
} held;

/* A tree, from a start of memories that rest on. */
typedef struct chain {
    struct chain *next;
    int64_t cycle;
    int direction;
    uint64_t hash[2];
    int64_t walkers;      /* on it */
    pthread_mutex_t lock; /* of all below; taken before that of the walks */
    ts_arena *arena;
    node root;
    engine *engines;
    held *plans;
} chain;

enum { BUCKETS = 1 << 10, DEEPEST = 1 << 13 };

struct ts_walks {
    ts_arena *arena;
    const ts_dma_machine *machine;
    int share;            /* of the channels one in so many is walked */
    engine *model;        /* its HBM is never offered anything */
    pthread_mutex_t lock; /* of what follows */
    chain *chains[BUCKETS], *spare_chains;
    engine *spare_engines;
    int64_t engines; /* made */
};

/* A transfer under way: its number of all that were started on the chain, and the caller's. */
typedef struct {
    int64_t number, tag;
} pending;

/* What is expected: told to the engine when it needs to know. */
typedef struct {
    int64_t number;
    walker_arrival what;
    uint64_t hash[2];
    bool is_told;
    int64_t passed_bytes; /* that the engine was not told of yet */
} arriving;

struct walker {
    ts_arena *arena;
    ts_walks *walks;
    const ts_dma_machine *machine;
    int share;
    engine *own;  /* NULL: on a chain */
    chain *chain; /* NULL: nothing was started yet */
    node *at;
    node *idle;     /* a completion, and nothing was started since; NULL */
    uint64_t shift; /* of the chip's locations on the chain, once it is known */
    bool has_shift;
    int64_t started;     /* on the chain */
    ts_hbm_stats before; /* the chain */
    int64_t end;         /* before it, of all */
    pending *pending;
    int under_way;
    int64_t arrived; /* on the chain */
    arriving *arriving;
    int arriving_count, arriving_room;
    bool is_fed; /* something may come of what was fed */
};

/* ---- Engines ---- */

static engine *make_engine(ts_error *err, const ts_dma_machine *machine, int share) {
    ts_arena *arena = ts_arena_new();
    engine *e = TS_NEW(arena, engine);
    e->arena = arena;
    e->hbm = ts_hbm_new_subset(err, arena, machine->hbm, share);
    if (e->hbm) {
        e->dma = ts_dma_new(arena, machine->dma, e->hbm, machine->core_khz, ts_hbm_tick_khz(machine->hbm));
        return e;
    }
    ts_arena_free(arena);
    return NULL;
}

static void free_engines(engine *list) {
    while (list) {
        engine *e = list;
        list = e->next;
        ts_dma_free(e->dma);
        ts_arena_free(e->arena);
    }
}

static engine *take_engine(ts_walks *walks) {
    pthread_mutex_lock(&walks->lock);
    engine *e = walks->spare_engines;
    if (e) walks->spare_engines = e->next;
    walks->engines += !e;
    pthread_mutex_unlock(&walks->lock);
    return e ? e : make_engine(NULL, walks->machine, walks->share);
}

static bool is_idle(const engine *e) { return ts_dma_under_way(e->dma) == 0 && e->expected_count == 0; }

static void expect(engine *e, const node *n) {
    if (e->expected_count == e->expected_room) {
        e->expected_room = 2 * e->expected_room + 4;
        e->expected = ts_arena_grow(e->arena, e->expected, (size_t)e->expected_count,
                                    (size_t)e->expected_room, sizeof *e->expected);
    }
    expected *new = &e->expected[e->expected_count++];
    new->number = n->number;
    new->incoming = ts_dma_expect(e->dma, n->transfer.plan, (void *)(uintptr_t)(n->number + 1));
    ts_dma_incoming_shift(new->incoming, n->transfer.shift);
}

static expected *find_expected(engine *e, int64_t number) {
    expected *found = e->expected;
    while (found->number != number) found++;
    return found;
}

/* ---- All walks ---- */

static int share_of(const ts_dma_machine *machine, bool exact) {
    int share = exact ? 1 : ts_dma_first_sampling_factor(machine);
    return ts_hbm_balanced_share(machine->hbm, share, machine->dma->access_bytes);
}

ts_walks *ts_walks_new(const ts_dma_machine *machine, bool exact) {
    if (!ts_hbm_may_be_alike(machine->hbm) || machine->dma->in_flight_bytes > 0) return NULL;
    engine *model = make_engine(NULL, machine, share_of(machine, exact));
    if (!model) return NULL;
    ts_arena *arena = ts_arena_new();
    ts_walks *walks = TS_NEW(arena, ts_walks);
    walks->arena = arena;
    walks->machine = machine;
    walks->share = share_of(machine, exact);
    walks->model = model;
    pthread_mutex_init(&walks->lock, NULL);
    return walks;
}

void ts_walks_free(ts_walks *walks) {
    if (!walks) return;
    free_engines(walks->model);
    free_engines(walks->spare_engines);
    for (chain *c = walks->spare_chains; c; c = c->next) {
        pthread_mutex_destroy(&c->lock);
        ts_arena_free(c->arena);
    }
    pthread_mutex_destroy(&walks->lock);
    ts_arena_free(walks->arena);
}

int64_t ts_walks_engines(const ts_walks *walks) { return walks->engines; }

/* ---- Chains ---- */

static chain *new_chain(ts_walks *walks, const chain *key) {
    chain *c = walks->spare_chains;
    if (c) {
        walks->spare_chains = c->next;
    } else {
        c = TS_NEW(walks->arena, chain);
        pthread_mutex_init(&c->lock, NULL);
        c->arena = ts_arena_new();
    }
    c->cycle = key->cycle;
    c->direction = key->direction;
    memcpy(c->hash, key->hash, sizeof c->hash);
    c->root = (node){0};
    return c;
}

static chain *join(ts_walks *walks, const chain *key) {
    pthread_mutex_lock(&walks->lock);
    chain **bucket = &walks->chains[(key->hash[1] + (uint64_t)key->cycle) % BUCKETS], *c = *bucket;
    while (c && (c->cycle != key->cycle || c->direction != key->direction ||
                 memcmp(c->hash, key->hash, sizeof c->hash) != 0))
        c = c->next;
    if (!c) {
        c = new_chain(walks, key);
        c->next = *bucket;
        *bucket = c;
    }
    c->walkers++;
    pthread_mutex_unlock(&walks->lock);
    return c;
}

/* Nobody is on it any more. An engine that is not idle needs plans that go. */
static void empty(ts_walks *walks, chain *c) {
    chain **at = &walks->chains[(c->hash[1] + (uint64_t)c->cycle) % BUCKETS];
    while (*at != c) at = &(*at)->next;
    *at = c->next;
    while (c->engines) {
        engine *e = c->engines;
        c->engines = e->next;
        bool idle = is_idle(e);
        e->next = idle ? walks->spare_engines : NULL;
        if (idle)
            walks->spare_engines = e;
        else
            free_engines(e);
    }
    for (held *h = c->plans; h; h = h->next) ts_arena_free(h->arena);
    c->plans = NULL;
    ts_arena_reset(c->arena);
    c->next = walks->spare_chains;
    walks->spare_chains = c;
}

static void leave(walker *w) {
    if (!w->chain) return;
    pthread_mutex_lock(&w->walks->lock);
    if (--w->chain->walkers == 0) empty(w->walks, w->chain);
    pthread_mutex_unlock(&w->walks->lock);
    w->chain = NULL;
    w->at = w->idle = NULL;
}

/* ---- Asking ---- */

static void note_idle(engine *e, ts_arena *arena, node *n) {
    n->stats = TS_NEW(arena, ts_hbm_stats);
    ts_hbm_read_stats(e->hbm, n->stats);
    n->rest = ts_hbm_rest_cycle(e->hbm);
    n->direction = ts_hbm_direction(e->hbm);
}

static bool complete(engine *e, ts_arena *arena, node *n) {
    bool good = ts_dma_complete(NULL, e->dma, &n->result);
    if (n->result.incoming)
        *find_expected(e, (int64_t)(uintptr_t)n->result.incoming - 1) = e->expected[--e->expected_count];
    if (arena && is_idle(e) && !n->stats) note_idle(e, arena, n);
    return good;
}

static void ask_engine(engine *e, ts_arena *arena, node *n) {
    bool good = true;
    switch (n->what) {
    case ASK_START:
        good = ts_dma_start(NULL, e->dma, &n->transfer, n->cycle);
        break;
    case ASK_EXPECT:
        expect(e, n);
        break;
    case ASK_FEED:
        ts_dma_feed(e->dma, find_expected(e, n->number)->incoming, &n->chunk);
        break;
    case ASK_COMPLETE:
        good = complete(e, arena, n);
        break;
    case ASK_SETTLE:
        ts_hbm_settle(e->hbm, n->cycle);
        if (!n->stats) note_idle(e, arena, n);
        break;
    case ASK_STATS:
        if (!n->stats) n->stats = TS_NEW(arena, ts_hbm_stats);
        ts_hbm_read_stats_to(e->hbm, n->cycle, n->stats);
        break;
    default:
        n->next = n->what == ASK_NEXT ? ts_dma_next(e->dma, n->cycle) : 0;
        n->quiet = ts_dma_quiet_until(e->dma, n->cycle);
        break;
    }
    assert(good);
    e->head = n;
}

/* From the root on, in order. */
static void ask_again(engine *e, chain *c, node *last) {
    node **path = TS_NEW_ARRAY(c->arena, node *, last->depth + 1);
    for (node *n = last; n != &c->root; n = n->parent) path[n->depth] = n;
    e->head = &c->root;
    for (int i = 1; i <= last->depth; i++) ask_engine(e, c->arena, path[i]);
}

/* One that has been asked all up to the node, and nothing else; taken off the chain. */
static engine *take_engine_at(ts_walks *walks, chain *c, node *at) {
    for (engine **link = &c->engines; *link; link = &(*link)->next) {
        engine *e = *link;
        if (e->head != at) continue;
        *link = e->next;
        return e;
    }
    engine *e = take_engine(walks);
    ts_dma_reset(e->dma);
    ts_hbm_set_direction(e->hbm, c->direction);
    ask_again(e, c, at);
    return e;
}

static node *find_answer(const node *at, const node *question) {
    for (node *n = at->children; n; n = n->sibling)
        if (n->what == question->what && n->cycle == question->cycle && n->number == question->number &&
            memcmp(n->hash, question->hash, sizeof n->hash) == 0)
            return n;
    return NULL;
}

static node *add_answer(walker *w, const node *question) {
    chain *c = w->chain;
    engine *e = take_engine_at(w->walks, c, w->at);
    node *n = TS_NEW(c->arena, node);
    *n = *question;
    n->parent = w->at;
    n->depth = w->at->depth + 1;
    n->sibling = w->at->children;
    w->at->children = n;
    ask_engine(e, c->arena, n);
    e->next = c->engines;
    c->engines = e;
    return n;
}

/* From here on the engine is the chip's own. */
static void part(walker *w) {
    pthread_mutex_lock(&w->chain->lock);
    w->own = take_engine_at(w->walks, w->chain, w->at);
    pthread_mutex_unlock(&w->chain->lock);
}

/* arena: of the plan of a start, to be kept with it where it is not known yet. */
static node *ask(walker *w, const node *question, ts_arena **arena) {
    chain *c = w->chain;
    pthread_mutex_lock(&c->lock);
    node *n = find_answer(w->at, question);
    if (!n) {
        n = add_answer(w, question);
        if (arena) {
            held *h = TS_NEW(c->arena, held);
            *h = (held){c->plans, *arena};
            c->plans = h;
            *arena = NULL;
        }
    }
    pthread_mutex_unlock(&c->lock);
    return w->at = n;
}

/* Has it an engine of its own, now that so much was asked? */
static bool is_alone(walker *w) {
    if (!w->own && w->chain && w->at->depth >= DEEPEST) part(w);
    return w->own != NULL;
}

/* ---- A chip's ---- */

walker *walker_new(ts_error *err, ts_arena *arena, const walker_setup *setup) {
    walker *w = TS_NEW(arena, walker);
    *w = (walker){.arena = arena, .machine = setup->machine, .walks = setup->observer ? NULL : setup->walks};
    w->share = w->walks ? w->walks->share : share_of(setup->machine, setup->exact);
    w->pending = TS_NEW_ARRAY(arena, pending, setup->machine->dma->descriptors);
    if (w->walks) return w;
    w->own = make_engine(err, setup->machine, w->share);
    if (!w->own) return NULL;
    if (!setup->observer) return w;
    ts_hbm_walk_all(w->own->hbm);
    ts_hbm_observe(w->own->hbm, setup->observer, setup->observed);
    return w;
}

void walker_free(walker *w) {
    if (!w) return;
    free_engines(w->own);
    leave(w);
}

bool walker_can_start(const walker *w) { return w->under_way < w->machine->dma->descriptors; }
int walker_under_way(const walker *w) { return w->under_way; }
bool walker_is_part(const walker *w) { return w->share > 1; }
bool walker_check(ts_error *err, const walker *w) { return !w->own || ts_hbm_check(err, w->own->hbm); }

/* ---- Leaving a chain ---- */

static void add_counts(ts_hbm_stats *sum, const ts_hbm_stats *counts) {
    int64_t longest = ts_max(sum->read_latency_max, counts->read_latency_max);
    ts_members_add(sum, counts, ts_hbm_stats_members, 1, 1);
    sum->read_latency_max = longest;
}

/* The engine is no longer needed. */
static void count_beyond(ts_walks *walks, engine *e, int64_t tick, ts_hbm_stats *beyond) {
    pthread_mutex_lock(&walks->lock);
    ts_hbm_reset(walks->model->hbm);
    ts_hbm_count_beyond(e->hbm, walks->model->hbm, tick, beyond);
    e->next = walks->spare_engines;
    walks->spare_engines = e;
    pthread_mutex_unlock(&walks->lock);
}

/* What was counted on the chain goes with the chip. */
static void add_beyond(walker *w, int64_t tick) {
    ts_hbm_stats beyond;
    node *at = w->at;
    if (w->own) {
        count_beyond(w->walks, w->own, tick, &beyond);
        w->own = NULL;
    } else {
        pthread_mutex_lock(&w->chain->lock);
        if (!at->beyond) {
            at->beyond = TS_NEW(w->chain->arena, ts_hbm_stats);
            count_beyond(w->walks, take_engine_at(w->walks, w->chain, at), tick, at->beyond);
        }
        beyond = *at->beyond;
        pthread_mutex_unlock(&w->chain->lock);
    }
    add_counts(&w->before, &beyond);
    w->end = ts_max(w->end, beyond.end_cycle);
}

/* Goes off a chain at whose end the memory rests at the cycle; the direction for the next, or -1: it stays. */
static int leave_rested(walker *w, int64_t cycle) {
    const ts_dma_machine *m = w->machine;
    int64_t tick = ts_clock_convert(cycle, m->core_khz, ts_hbm_tick_khz(m->hbm));
    if (w->under_way > 0 || w->arriving_count > 0 || !(w->own || w->idle)) return -1;
    if (w->own)
        ts_hbm_settle(w->own->hbm, tick); /* what came may not be written yet; the start does it as well */
    if (!w->own && w->idle->rest == INT64_MAX)
        w->idle = ask(w, &(node){.what = ASK_SETTLE, .cycle = tick}, NULL);
    int64_t rest = w->own ? ts_hbm_rest_cycle(w->own->hbm) : w->idle->rest;
    int direction = w->own ? ts_hbm_direction(w->own->hbm) : w->idle->direction;
    if (tick < rest || direction < 0) return -1;
    add_beyond(w, tick);
    leave(w);
    w->has_shift = false;
    w->shift = 0;
    w->started = w->arrived = 0;
    return direction;
}

/* ---- Starting ---- */

static void mix_trace(const walker *w, const ts_dma_transfer *what, ts_hbm_trace *trace, uint64_t *hash) {
    ts_dma_trace(w->machine->dma, w->walks->model->hbm, what, trace);
    for (int i = 0; i < 2; i++)
        hash[i] = (hash[i] ^ trace->hash[i] >> 32) * UINT64_C(0x9e3779b97f4a7c15) ^ trace->hash[i];
}

/* Asks by the hash of the question and what the transfer, which it is about, makes of the HBM, if `walked`; direction:
 * of a chip on no chain. */
static void ask_about(walker *w, node *question, int direction, bool walked, ts_arena **arena) {
    ts_hbm_trace trace = {.shift = w->shift, .begun = w->has_shift};
    if (walked) mix_trace(w, &question->transfer, &trace, question->hash);
    w->shift = question->transfer.shift = trace.shift;
    w->has_shift = trace.begun;
    if (!w->chain) {
        chain key = {.cycle = question->cycle, .direction = direction};
        memcpy(key.hash, question->hash, sizeof key.hash);
        w->chain = join(w->walks, &key);
        w->at = &w->chain->root;
    }
    w->idle = NULL;
    ask(w, question, arena);
}

enum { NO_DIRECTION = 2 };

void walker_start(walker *w, const ts_dma_transfer *what, const uint64_t hash[2], ts_arena **arena,
                  int64_t cycle) {
    bool in_hbm = what->src.in_hbm || what->dst.in_hbm;
    node question = {.what = ASK_START, .cycle = cycle, .hash = {hash[0], hash[1]}, .transfer = *what};
    int direction = NO_DIRECTION;
    if (w->walks && in_hbm && (w->own || w->chain)) direction = leave_rested(w, cycle);
    question.transfer.tag = w->started++;
    w->pending[w->under_way++] = (pending){question.transfer.tag, what->tag};
    if (is_alone(w)) {
        question.transfer.shift = w->shift;
        ask_engine(w->own, NULL, &question);
    } else {
        ask_about(w, &question, direction, in_hbm, arena);
    }
}

/* ---- What comes over links ---- */

int64_t walker_expect(walker *w, const walker_arrival *what, const uint64_t hash[2]) {
    if (w->arriving_count == w->arriving_room) {
        w->arriving_room = 2 * w->arriving_room + 4;
        w->arriving = ts_arena_grow(w->arena, w->arriving, (size_t)w->arriving_count,
                                    (size_t)w->arriving_room, sizeof *w->arriving);
    }
    w->arriving[w->arriving_count++] =
        (arriving){.number = w->arrived, .what = *what, .hash = {hash[0], hash[1]}};
    return w->arrived++;
}

static arriving *find_arriving(walker *w, int64_t number) {
    arriving *a = w->arriving;
    while (a->number != number) a++;
    return a;
}

/* walked: of some of its writes. */
static void tell_expected(walker *w, arriving *a, bool walked) {
    if (a->is_told) return;
    a->is_told = true;
    node question = {.what = ASK_EXPECT,
                     .number = a->number,
                     .hash = {a->hash[0], a->hash[1] + walked},
                     .transfer = {.plan = a->what.plan, .dst.in_hbm = true}};
    if (is_alone(w)) {
        question.transfer.shift = w->shift;
        ask_engine(w->own, NULL, &question);
    } else {
        ask_about(w, &question, NO_DIRECTION, walked, a->what.arena);
    }
}

static void tell_fed(walker *w, const arriving *a, const ts_dma_chunk *chunk) {
    node question = {.what = ASK_FEED,
                     .cycle = chunk->cycle,
                     .number = a->number,
                     .hash = {(uint64_t)chunk->bytes, 2 * (uint64_t)chunk->last + chunk->passed},
                     .chunk = *chunk};
    w->is_fed = true;
    w->idle = NULL;
    if (is_alone(w))
        ask_engine(w->own, NULL, &question);
    else
        ask(w, &question, NULL);
}

/* What is passed over changes nothing but what the bytes behind it are: the engine is told of that with these, if they
 * are not passed over as well. */
void walker_feed(walker *w, int64_t incoming, const ts_dma_chunk *chunk) {
    arriving *a = find_arriving(w, incoming);
    if (chunk->passed && !chunk->last) {
        a->passed_bytes += chunk->bytes;
        return;
    }
    tell_expected(w, a, !chunk->passed);
    if (a->passed_bytes > 0 && !chunk->passed)
        tell_fed(w, a, &(ts_dma_chunk){.bytes = a->passed_bytes, .cycle = chunk->cycle, .passed = true});
    a->passed_bytes = 0;
    tell_fed(w, a, chunk);
}

/* ---- What comes of it ---- */

/* The engine has nothing to do. */
static bool is_quiet(const walker *w) { return w->under_way == 0 && !w->is_fed; }

static int64_t note_next(walker *w, int64_t next, int64_t quiet) {
    if (next == INT64_MAX && quiet == INT64_MAX) w->is_fed = false;
    return next;
}

int64_t walker_next(walker *w, int64_t limit) {
    if (is_quiet(w)) return INT64_MAX;
    if (is_alone(w)) return ts_dma_next(w->own->dma, limit);
    const node *n = ask(w, &(node){.what = ASK_NEXT, .cycle = limit}, NULL);
    return note_next(w, n->next, n->quiet);
}

int64_t walker_quiet_until(walker *w, int64_t limit) {
    if (is_quiet(w)) return INT64_MAX;
    if (is_alone(w)) return ts_dma_quiet_until(w->own->dma, limit);
    if (w->at->what == ASK_NEXT && w->at->cycle == limit) return w->at->quiet;
    return ask(w, &(node){.what = ASK_QUIET, .cycle = limit}, NULL)->quiet;
}

static void note_complete(walker *w, ts_dma_result *result) {
    int i = 0;
    if (result->incoming) {
        arriving *a = find_arriving(w, (int64_t)(uintptr_t)result->incoming - 1);
        result->incoming = a->what.owner;
        *a = w->arriving[--w->arriving_count];
        return;
    }
    while (w->pending[i].number != result->tag) i++;
    result->tag = w->pending[i].tag;
    w->pending[i] = w->pending[--w->under_way];
}

void walker_complete(walker *w, ts_dma_result *result) {
    node question = {.what = ASK_COMPLETE};
    const bool alone = is_alone(w);
    if (alone) {
        bool good = complete(w->own, NULL, &question);
        assert(good);
    }
    node *at = NULL;
    *result = alone ? question.result : (at = ask(w, &question, NULL))->result;
    note_complete(w, result);
    if (!alone && w->under_way == 0 && w->arriving_count == 0) w->idle = at;
}

void walker_read_stats(walker *w, ts_hbm_stats *stats) {
    *stats = (ts_hbm_stats){0};
    if (is_alone(w))
        ts_hbm_read_stats_to(w->own->hbm, w->end, stats);
    else if (w->chain)
        *stats =
            *(w->at == w->idle ? w->idle : ask(w, &(node){.what = ASK_STATS, .cycle = w->end}, NULL))->stats;
    add_counts(stats, &w->before);
}
