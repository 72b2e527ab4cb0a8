/* Engines, and the trees of what they were asked. */
#include "engine_tree.h"

#include <assert.h>
#include <string.h>

/* ---- Engines ---- */

pool_engine *pool_make_engine(ts_error *err, const ts_dma_machine *machine, int share) {
    ts_arena *arena = ts_arena_new();
    pool_engine *e = TS_NEW(arena, pool_engine);
    e->arena = arena;
    e->hbm = ts_hbm_new_subset(err, arena, machine->hbm, share);
    if (e->hbm) {
        e->dma = ts_dma_new(arena, machine->dma, e->hbm, machine->core_khz, ts_hbm_tick_khz(machine->hbm));
        return e;
    }
    ts_arena_free(arena);
    return NULL;
}

void pool_free_engines(pool_engine *list) {
    while (list) {
        pool_engine *e = list;
        list = e->next;
        ts_dma_free(e->dma);
        ts_arena_free(e->arena);
    }
}

/* Off its list. NULL: there is none. */
static pool_engine *take_off(pool_engine **link) {
    pool_engine *e = *link;
    if (!e) return NULL;
    *link = e->next;
    e->next = NULL;
    return e;
}

static pool_engine *take_engine(ts_engine_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    pool_engine *e = take_off(&pool->spare_engines);
    pool->engines += !e;
    pthread_mutex_unlock(&pool->lock);
    return e ? e : pool_make_engine(NULL, pool->machine, pool->share);
}

static bool is_idle(const pool_engine *e) { return ts_dma_under_way(e->dma) == 0 && e->expected_count == 0; }

static void expect(pool_engine *e, const pool_node *n) {
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

static expected *find_expected(pool_engine *e, int64_t number) {
    expected *found = e->expected;
    while (found->number != number) found++;
    return found;
}

/* ---- The pool ---- */

int pool_share_of(const ts_dma_machine *machine, bool exact) {
    int share = exact ? 1 : ts_dma_first_sampling_factor(machine);
    return ts_hbm_balanced_share(machine->hbm, share, machine->dma->access_bytes);
}

ts_engine_pool *ts_engine_pool_new(const ts_dma_machine *machine, bool exact) {
    if (!ts_hbm_may_be_alike(machine->hbm) || machine->dma->in_flight_bytes > 0) return NULL;
    pool_engine *model = pool_make_engine(NULL, machine, pool_share_of(machine, exact));
    if (!model) return NULL;
    ts_arena *arena = ts_arena_new();
    ts_engine_pool *pool = TS_NEW(arena, ts_engine_pool);
    pool->arena = arena;
    pool->machine = machine;
    pool->share = pool_share_of(machine, exact);
    pool->model = model;
    pthread_mutex_init(&pool->lock, NULL);
    return pool;
}

void ts_engine_pool_free(ts_engine_pool *pool) {
    if (!pool) return;
    pool_free_engines(pool->model);
    pool_free_engines(pool->spare_engines);
    for (pool_tree *c = pool->spare_trees; c; c = c->next) {
        pthread_mutex_destroy(&c->lock);
        ts_arena_free(c->arena);
    }
    pthread_mutex_destroy(&pool->lock);
    ts_arena_free(pool->arena);
}

/* ---- Trees ---- */

static pool_tree *new_tree(ts_engine_pool *pool, const pool_tree *key) {
    pool_tree *c = pool->spare_trees;
    if (c) {
        pool->spare_trees = c->next;
    } else {
        c = TS_NEW(pool->arena, pool_tree);
        pthread_mutex_init(&c->lock, NULL);
        c->arena = ts_arena_new();
    }
    c->cycle = key->cycle;
    c->direction = key->direction;
    memcpy(c->hash, key->hash, sizeof c->hash);
    c->root = (pool_node){0};
    return c;
}

pool_tree *pool_join(ts_engine_pool *pool, const pool_tree *key) {
    pthread_mutex_lock(&pool->lock);
    pool_tree **bucket = &pool->trees[(key->hash[1] + (uint64_t)key->cycle) % POOL_BUCKETS], *c = *bucket;
    while (c && (c->cycle != key->cycle || c->direction != key->direction ||
                 memcmp(c->hash, key->hash, sizeof c->hash) != 0))
        c = c->next;
    if (!c) {
        c = new_tree(pool, key);
        c->next = *bucket;
        *bucket = c;
    }
    c->chips++;
    pthread_mutex_unlock(&pool->lock);
    return c;
}

/* Nobody is on it any more. An engine that is not idle needs plans that go. */
static void empty(ts_engine_pool *pool, pool_tree *c) {
    pool_tree **at = &pool->trees[(c->hash[1] + (uint64_t)c->cycle) % POOL_BUCKETS];
    while (*at != c) at = &(*at)->next;
    *at = c->next;
    while (c->engines) {
        pool_engine *e = take_off(&c->engines);
        if (is_idle(e)) {
            e->next = pool->spare_engines;
            pool->spare_engines = e;
        } else {
            pool_free_engines(e);
        }
    }
    for (held *h = c->plans; h; h = h->next) ts_arena_free(h->arena);
    c->plans = NULL;
    ts_arena_reset(c->arena);
    c->next = pool->spare_trees;
    pool->spare_trees = c;
}

void pool_leave(ts_engine_pool *pool, pool_tree *tree) {
    pthread_mutex_lock(&pool->lock);
    if (--tree->chips == 0) empty(pool, tree);
    pthread_mutex_unlock(&pool->lock);
}

/* ---- Asking ---- */

static void note_idle(pool_engine *e, ts_arena *arena, pool_node *n) {
    n->stats = TS_NEW(arena, ts_hbm_stats);
    ts_hbm_read_stats(e->hbm, n->stats);
    n->rest = ts_hbm_rest_cycle(e->hbm);
    n->direction = ts_hbm_direction(e->hbm);
}

bool pool_complete(pool_engine *e, ts_arena *arena, pool_node *n) {
    bool good = ts_dma_complete(NULL, e->dma, &n->result);
    if (n->result.incoming)
        *find_expected(e, (int64_t)(uintptr_t)n->result.incoming - 1) = e->expected[--e->expected_count];
    if (arena && is_idle(e) && !n->stats) note_idle(e, arena, n);
    return good;
}

static void ask_next(pool_engine *e, pool_node *n) {
    n->next = n->what == ASK_NEXT ? ts_dma_next(e->dma, n->cycle) : 0;
    n->quiet = ts_dma_quiet_until(e->dma, n->cycle);
}

/* False: the engine could not. */
static bool answer(pool_engine *e, ts_arena *arena, pool_node *n) {
    switch (n->what) {
    case ASK_START:
        return ts_dma_start(NULL, e->dma, &n->transfer, n->cycle);
    case ASK_EXPECT:
        expect(e, n);
        return true;
    case ASK_FEED:
        ts_dma_feed(e->dma, find_expected(e, n->number)->incoming, &n->chunk);
        return true;
    case ASK_COMPLETE:
        return pool_complete(e, arena, n);
    case ASK_SETTLE:
        ts_hbm_settle(e->hbm, n->cycle);
        if (!n->stats) note_idle(e, arena, n);
        return true;
    case ASK_STATS:
        if (!n->stats) n->stats = TS_NEW(arena, ts_hbm_stats);
        ts_hbm_read_stats_to(e->hbm, n->cycle, n->stats);
        return true;
    default:
        ask_next(e, n);
        return true;
    }
}

void pool_ask_engine(pool_engine *e, ts_arena *arena, pool_node *n) {
    bool good = answer(e, arena, n);
    assert(good);
    e->head = n;
}

/* From the root on, in order. The answers are there, and other chips read them without the lock. */
static void ask_again(pool_engine *e, pool_tree *c, const pool_node *last) {
    const pool_node **path = TS_NEW_ARRAY(c->arena, const pool_node *, last->depth + 1);
    for (const pool_node *n = last; n != &c->root; n = n->parent) path[n->depth] = n;
    for (int i = 1; i <= last->depth; i++) {
        pool_node again = *path[i];
        ts_hbm_stats stats;
        again.stats = &stats;
        pool_ask_engine(e, NULL, &again);
    }
    e->head = last;
}

/* One that has been asked all up to there, and nothing else; taken off the tree. */
static pool_engine *take_engine_at(ts_engine_pool *pool, pool_tree *c, pool_node *at) {
    for (pool_engine **link = &c->engines; *link; link = &(*link)->next)
        if ((*link)->head == at) return take_off(link);
    pool_engine *e = take_engine(pool);
    ts_dma_reset(e->dma);
    ts_hbm_set_direction(e->hbm, c->direction);
    ask_again(e, c, at);
    return e;
}

static pool_node *find_answer(const pool_node *at, const pool_node *question) {
    for (pool_node *n = at->children; n; n = n->sibling)
        if (n->what == question->what && n->cycle == question->cycle && n->number == question->number &&
            memcmp(n->hash, question->hash, sizeof n->hash) == 0)
            return n;
    return NULL;
}

static pool_node *add_answer(ts_engine_pool *pool, pool_tree *c, pool_node *at, const pool_node *question) {
    pool_engine *e = take_engine_at(pool, c, at);
    pool_node *n = TS_NEW(c->arena, pool_node);
    *n = *question;
    n->parent = at;
    n->depth = at->depth + 1;
    n->sibling = at->children;
    at->children = n;
    pool_ask_engine(e, c->arena, n);
    e->next = c->engines;
    c->engines = e;
    return n;
}

static void hold(pool_tree *c, ts_arena **arena) {
    held *h = TS_NEW(c->arena, held);
    *h = (held){c->plans, *arena};
    c->plans = h;
    *arena = NULL;
}

pool_node *pool_ask(const pool_position *from, const pool_node *question, ts_arena **arena) {
    pool_tree *c = from->tree;
    pthread_mutex_lock(&c->lock);
    pool_node *n = find_answer(from->at, question);
    if (!n) {
        n = add_answer(from->pool, c, from->at, question);
        if (arena) hold(c, arena);
    }
    pthread_mutex_unlock(&c->lock);
    return n;
}

pool_engine *pool_part(const pool_position *from) {
    pthread_mutex_lock(&from->tree->lock);
    pool_engine *e = take_engine_at(from->pool, from->tree, from->at);
    pthread_mutex_unlock(&from->tree->lock);
    return e;
}

/* ---- Counts ---- */

void pool_count_beyond(ts_engine_pool *pool, pool_engine *e, int64_t tick, ts_hbm_stats *beyond) {
    pthread_mutex_lock(&pool->lock);
    ts_hbm_reset(pool->model->hbm);
    ts_hbm_count_beyond(e->hbm, pool->model->hbm, tick, beyond);
    e->next = pool->spare_engines;
    pool->spare_engines = e;
    pthread_mutex_unlock(&pool->lock);
}

void pool_count_at(const pool_position *from, int64_t tick, ts_hbm_stats *beyond) {
    pool_node *at = from->at;
    pthread_mutex_lock(&from->tree->lock);
    if (!at->beyond) {
        at->beyond = TS_NEW(from->tree->arena, ts_hbm_stats);
        pool_count_beyond(from->pool, take_engine_at(from->pool, from->tree, at), tick, at->beyond);
    }
    *beyond = *at->beyond;
    pthread_mutex_unlock(&from->tree->lock);
}
