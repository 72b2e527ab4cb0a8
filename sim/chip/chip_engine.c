/* A chip's engine: on a tree with those of others, or alone. */
#include "chip_engine.h"
#include "engine_tree.h"

#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "base/number.h"

enum { DEEPEST = 1 << 13 }; /* so much is asked on a tree */

/* A transfer under way: its number of all that were started on the tree, and the caller's. */
typedef struct {
    int64_t number, tag;
} pending;

/* What is expected: told to the engine when it needs to know. */
typedef struct {
    int64_t number;
    chip_engine_arrival what;
    uint64_t hash[2];
    bool is_told;
    int64_t passed_bytes; /* that the engine was not told of yet */
} arriving;

struct chip_engine {
    ts_arena *arena;
    pool_place from; /* its tree is NULL: nothing was started yet */
    const ts_dma_machine *machine;
    int share;
    pool_engine *own; /* NULL: on a tree */
    pool_node *idle;  /* a completion, and nothing was started since; NULL */
    uint64_t shift;   /* of the chip's locations on the tree, once it is known */
    bool has_shift;
    int64_t started;     /* on the tree */
    ts_hbm_stats before; /* the tree */
    int64_t end;         /* before it, of all */
    pending *pending;
    int under_way;
    int64_t arrived; /* on the tree */
    arriving *arriving;
    int arriving_count, arriving_room;
    bool is_fed; /* something may come of what was fed */
};

static void leave(chip_engine *w) {
    if (w->from.tree) pool_leave(w->from.pool, w->from.tree);
    w->from.tree = NULL;
    w->from.at = w->idle = NULL;
}

static pool_node *ask(chip_engine *w, const pool_node *question, ts_arena **arena) {
    return w->from.at = pool_ask(&w->from, question, arena);
}

/* Has it an engine of its own, now that so much was asked? */
static bool is_alone(chip_engine *w) {
    if (!w->own && w->from.tree && w->from.at->depth >= DEEPEST) w->own = pool_part(&w->from);
    return w->own != NULL;
}

/* ---- A chip's ---- */

chip_engine *chip_engine_new(ts_error *err, ts_arena *arena, const chip_engine_setup *setup) {
    chip_engine *w = TS_NEW(arena, chip_engine);
    *w = (chip_engine){
        .arena = arena, .machine = setup->machine, .from.pool = setup->observer ? NULL : setup->pool};
    w->share = w->from.pool ? w->from.pool->share : pool_share_of(setup->machine, setup->exact);
    w->pending = TS_NEW_ARRAY(arena, pending, setup->machine->dma->descriptors);
    if (w->from.pool) return w;
    w->own = pool_make_engine(err, setup->machine, w->share);
    if (!w->own) return NULL;
    if (!setup->observer) return w;
    ts_hbm_walk_all(w->own->hbm);
    ts_hbm_observe(w->own->hbm, setup->observer, setup->observed);
    return w;
}

void chip_engine_free(chip_engine *w) {
    if (!w) return;
    pool_free_engines(w->own);
    leave(w);
}

bool chip_engine_can_start(const chip_engine *w) { return w->under_way < w->machine->dma->descriptors; }
int chip_engine_under_way(const chip_engine *w) { return w->under_way; }
bool chip_engine_is_part(const chip_engine *w) { return w->share > 1; }
bool chip_engine_check(ts_error *err, const chip_engine *w) {
    return !w->own || ts_hbm_check(err, w->own->hbm);
}

/* ---- Leaving a tree ---- */

static void add_counts(ts_hbm_stats *sum, const ts_hbm_stats *counts) {
    int64_t longest = ts_max(sum->read_latency_max, counts->read_latency_max);
    ts_members_add(sum, counts, ts_hbm_stats_members, 1, 1);
    sum->read_latency_max = longest;
}

/* What was counted on the tree goes with the chip. */
static void add_beyond(chip_engine *w, int64_t tick) {
    ts_hbm_stats beyond;
    if (w->own)
        pool_count_beyond(w->from.pool, w->own, tick, &beyond);
    else
        pool_count_at(&w->from, tick, &beyond);
    w->own = NULL;
    add_counts(&w->before, &beyond);
    w->end = ts_max(w->end, beyond.end_cycle);
}

/* Goes off a tree at whose end the memory rests at the cycle; the direction for the next, or -1: it stays. */
static int leave_rested(chip_engine *w, int64_t cycle) {
    const ts_dma_machine *m = w->machine;
    int64_t tick = ts_clock_convert(cycle, m->core_khz, ts_hbm_tick_khz(m->hbm));
    if (w->under_way > 0 || w->arriving_count > 0 || !(w->own || w->idle)) return -1;
    if (w->own)
        ts_hbm_settle(w->own->hbm, tick); /* what came may not be written yet; the start does it as well */
    if (!w->own && w->idle->rest == INT64_MAX)
        w->idle = ask(w, &(pool_node){.what = ASK_SETTLE, .cycle = tick}, NULL);
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

static void mix_trace(const chip_engine *w, const ts_dma_transfer *what, ts_hbm_trace *trace,
                      uint64_t *hash) {
    ts_dma_trace(w->machine->dma, w->from.pool->model->hbm, what, trace);
    for (int i = 0; i < 2; i++)
        hash[i] = (hash[i] ^ trace->hash[i] >> 32) * UINT64_C(0x9e3779b97f4a7c15) ^ trace->hash[i];
}

/* Asks by the hash of the question and what the transfer, which it is about, makes of the HBM, if `walked`; direction:
 * of a chip on no tree. */
static void ask_about(chip_engine *w, pool_node *question, int direction, bool walked, ts_arena **arena) {
    ts_hbm_trace trace = {.shift = w->shift, .begun = w->has_shift};
    if (walked) mix_trace(w, &question->transfer, &trace, question->hash);
    w->shift = question->transfer.shift = trace.shift;
    w->has_shift = trace.begun;
    if (!w->from.tree) {
        pool_tree key = {.cycle = question->cycle, .direction = direction};
        memcpy(key.hash, question->hash, sizeof key.hash);
        w->from.tree = pool_join(w->from.pool, &key);
        w->from.at = &w->from.tree->root;
    }
    w->idle = NULL;
    ask(w, question, arena);
}

enum { NO_DIRECTION = 2 };

void chip_engine_start(chip_engine *w, const ts_dma_transfer *what, const uint64_t hash[2], ts_arena **arena,
                       int64_t cycle) {
    bool in_hbm = what->src.in_hbm || what->dst.in_hbm;
    pool_node question = {.what = ASK_START, .cycle = cycle, .hash = {hash[0], hash[1]}, .transfer = *what};
    int direction = NO_DIRECTION;
    if (w->from.pool && in_hbm && (w->own || w->from.tree)) direction = leave_rested(w, cycle);
    question.transfer.tag = w->started++;
    w->pending[w->under_way++] = (pending){question.transfer.tag, what->tag};
    if (is_alone(w)) {
        question.transfer.shift = w->shift;
        pool_ask_engine(w->own, NULL, &question);
    } else {
        ask_about(w, &question, direction, in_hbm, arena);
    }
}

/* ---- What comes over links ---- */

int64_t chip_engine_expect(chip_engine *w, const chip_engine_arrival *what, const uint64_t hash[2]) {
    if (w->arriving_count == w->arriving_room) {
        w->arriving_room = 2 * w->arriving_room + 4;
        w->arriving = ts_arena_grow(w->arena, w->arriving, (size_t)w->arriving_count,
                                    (size_t)w->arriving_room, sizeof *w->arriving);
    }
    w->arriving[w->arriving_count++] =
        (arriving){.number = w->arrived, .what = *what, .hash = {hash[0], hash[1]}};
    return w->arrived++;
}

static arriving *find_arriving(chip_engine *w, int64_t number) {
    arriving *a = w->arriving;
    while (a->number != number) a++;
    return a;
}

/* walked: of some of its writes. */
static void tell_expected(chip_engine *w, arriving *a, bool walked) {
    if (a->is_told) return;
    a->is_told = true;
    pool_node question = {.what = ASK_EXPECT,
                          .number = a->number,
                          .hash = {a->hash[0], a->hash[1] + walked},
                          .transfer = {.plan = a->what.plan, .dst.in_hbm = true}};
    if (is_alone(w)) {
        question.transfer.shift = w->shift;
        pool_ask_engine(w->own, NULL, &question);
    } else {
        ask_about(w, &question, NO_DIRECTION, walked, a->what.arena);
    }
}

static void tell_fed(chip_engine *w, const arriving *a, const ts_dma_chunk *chunk) {
    pool_node question = {.what = ASK_FEED,
                          .cycle = chunk->cycle,
                          .number = a->number,
                          .hash = {(uint64_t)chunk->bytes, 2 * (uint64_t)chunk->last + chunk->passed},
                          .chunk = *chunk};
    w->is_fed = true;
    w->idle = NULL;
    if (is_alone(w))
        pool_ask_engine(w->own, NULL, &question);
    else
        ask(w, &question, NULL);
}

/* What is passed over changes nothing but what the bytes behind it are: the engine is told of that with these, if they
 * are not passed over as well. */
void chip_engine_feed(chip_engine *w, int64_t incoming, const ts_dma_chunk *chunk) {
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
static bool is_quiet(const chip_engine *w) { return w->under_way == 0 && !w->is_fed; }

static int64_t note_next(chip_engine *w, int64_t next, int64_t quiet) {
    if (next == INT64_MAX && quiet == INT64_MAX) w->is_fed = false;
    return next;
}

int64_t chip_engine_next(chip_engine *w, int64_t limit) {
    if (is_quiet(w)) return INT64_MAX;
    if (is_alone(w)) return ts_dma_next(w->own->dma, limit);
    const pool_node *n = ask(w, &(pool_node){.what = ASK_NEXT, .cycle = limit}, NULL);
    return note_next(w, n->next, n->quiet);
}

int64_t chip_engine_quiet_until(chip_engine *w, int64_t limit) {
    if (is_quiet(w)) return INT64_MAX;
    if (is_alone(w)) return ts_dma_quiet_until(w->own->dma, limit);
    if (w->from.at->what == ASK_NEXT && w->from.at->cycle == limit) return w->from.at->quiet;
    return ask(w, &(pool_node){.what = ASK_QUIET, .cycle = limit}, NULL)->quiet;
}

static void note_complete(chip_engine *w, ts_dma_result *result) {
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

void chip_engine_complete(chip_engine *w, ts_dma_result *result) {
    pool_node question = {.what = ASK_COMPLETE};
    const bool alone = is_alone(w);
    if (alone) {
        bool good = pool_complete(w->own, NULL, &question);
        assert(good);
    }
    pool_node *at = NULL;
    *result = alone ? question.result : (at = ask(w, &question, NULL))->result;
    note_complete(w, result);
    if (!alone && w->under_way == 0 && w->arriving_count == 0) w->idle = at;
}

void chip_engine_read_stats(chip_engine *w, ts_hbm_stats *stats) {
    *stats = (ts_hbm_stats){0};
    if (is_alone(w))
        ts_hbm_read_stats_to(w->own->hbm, w->end, stats);
    else if (w->from.tree)
        *stats = *(w->from.at == w->idle ? w->idle
                                         : ask(w, &(pool_node){.what = ASK_STATS, .cycle = w->end}, NULL))
                      ->stats;
    add_counts(stats, &w->before);
}
