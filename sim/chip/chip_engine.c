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
    pool_position from; /* its tree is NULL: nothing was started yet */
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

static void leave(chip_engine *e) {
    if (e->from.tree) pool_leave(e->from.pool, e->from.tree);
    e->from.tree = NULL;
    e->from.at = e->idle = NULL;
}

static pool_node *ask(chip_engine *e, const pool_node *question, ts_arena **arena) {
    return e->from.at = pool_ask(&e->from, question, arena);
}

/* Has it an engine of its own, now that so much was asked? */
static bool is_alone(chip_engine *e) {
    if (!e->own && e->from.tree && e->from.at->depth >= DEEPEST) e->own = pool_part(&e->from);
    return e->own != NULL;
}

/* ---- A chip's ---- */

chip_engine *chip_engine_new(ts_error *err, ts_arena *arena, const chip_engine_setup *setup) {
    chip_engine *e = TS_NEW(arena, chip_engine);
    *e = (chip_engine){
        .arena = arena, .machine = setup->machine, .from.pool = setup->observer ? NULL : setup->pool};
    e->share = setup->exact || setup->share == 0 ? pool_share_of(setup->machine, setup->exact) : setup->share;
    if (e->from.pool) e->share = e->from.pool->share;
    e->pending = TS_NEW_ARRAY(arena, pending, setup->machine->dma->descriptors);
    if (e->from.pool) return e;
    e->own = pool_make_engine(err, setup->machine, e->share);
    if (!e->own) return NULL;
    ts_dma_set_interrupt(e->own->dma, setup->interrupt);
    if (!setup->observer) return e;
    ts_hbm_simulate_all(e->own->hbm);
    ts_hbm_observe(e->own->hbm, setup->observer, setup->observed);
    return e;
}

void chip_engine_free(chip_engine *e) {
    if (!e) return;
    pool_free_engines(e->own);
    leave(e);
}

bool chip_engine_can_start(const chip_engine *e) { return e->under_way < e->machine->dma->descriptors; }
int chip_engine_under_way(const chip_engine *e) { return e->under_way; }
bool chip_engine_is_part(const chip_engine *e) { return e->share > 1; }
bool chip_engine_check(ts_error *err, const chip_engine *e) {
    return !e->own || ts_hbm_check(err, e->own->hbm);
}

/* ---- Leaving a tree ---- */

/* What was counted on the tree goes with the chip. */
static void add_beyond(chip_engine *e, int64_t tick) {
    ts_hbm_stats beyond;
    if (e->own)
        pool_count_beyond(e->from.pool, e->own, tick, &beyond);
    else
        pool_count_at(&e->from, tick, &beyond);
    e->own = NULL;
    ts_hbm_stats_add(&e->before, &beyond, 1);
    e->end = ts_max(e->end, beyond.end_cycle);
}

/* Goes off a tree at whose end the memory rests at the cycle; the direction for the next, or -1: it stays. */
static int leave_rested(chip_engine *e, int64_t cycle) {
    const ts_dma_machine *m = e->machine;
    int64_t tick = ts_clock_convert(cycle, m->core_khz, ts_hbm_tick_khz(m->hbm));
    if (e->under_way > 0 || e->arriving_count > 0 || !(e->own || e->idle)) return -1;
    if (e->own)
        ts_hbm_settle(e->own->hbm, tick); /* what came may not be written yet; the start does it as well */
    if (!e->own && e->idle->rest == INT64_MAX)
        e->idle = ask(e, &(pool_node){.what = ASK_SETTLE, .cycle = tick}, NULL);
    int64_t rest = e->own ? ts_hbm_rest_cycle(e->own->hbm) : e->idle->rest;
    int direction = e->own ? ts_hbm_direction(e->own->hbm) : e->idle->direction;
    if (tick < rest || direction < 0) return -1;
    add_beyond(e, tick);
    leave(e);
    e->has_shift = false;
    e->shift = 0;
    e->started = e->arrived = 0;
    return direction;
}

/* ---- Starting ---- */

static void mix_trace(const chip_engine *e, const ts_dma_transfer *what, ts_hbm_trace *trace,
                      uint64_t *hash) {
    ts_dma_trace(e->machine->dma, e->from.pool->model->hbm, what, trace);
    for (int i = 0; i < 2; i++)
        hash[i] = (hash[i] ^ trace->hash[i] >> 32) * UINT64_C(0x9e3779b97f4a7c15) ^ trace->hash[i];
}

/* Asks by the hash of the question and what the transfer, which it is about, makes of the HBM, if
 * `simulated`; direction: of a chip on no tree. */
static void ask_about(chip_engine *e, pool_node *question, int direction, bool simulated, ts_arena **arena) {
    ts_hbm_trace trace = {.shift = e->shift, .begun = e->has_shift};
    if (simulated) mix_trace(e, &question->transfer, &trace, question->hash);
    e->shift = question->transfer.shift = trace.shift;
    e->has_shift = trace.begun;
    if (!e->from.tree) {
        pool_tree key = {.cycle = question->cycle, .direction = direction};
        memcpy(key.hash, question->hash, sizeof key.hash);
        e->from.tree = pool_join(e->from.pool, &key);
        e->from.at = &e->from.tree->root;
    }
    e->idle = NULL;
    ask(e, question, arena);
}

enum { NO_DIRECTION = 2 };

void chip_engine_start(chip_engine *e, const ts_dma_transfer *what, const uint64_t hash[2], ts_arena **arena,
                       int64_t cycle) {
    bool in_hbm = what->src.in_hbm || what->dst.in_hbm;
    pool_node question = {.what = ASK_START, .cycle = cycle, .hash = {hash[0], hash[1]}, .transfer = *what};
    int direction = NO_DIRECTION;
    if (e->from.pool && in_hbm && (e->own || e->from.tree)) direction = leave_rested(e, cycle);
    question.transfer.tag = e->started++;
    e->pending[e->under_way++] = (pending){question.transfer.tag, what->tag};
    if (is_alone(e)) {
        question.transfer.shift = e->shift;
        pool_ask_engine(e->own, NULL, &question);
    } else {
        ask_about(e, &question, direction, in_hbm, arena);
    }
}

/* ---- What comes over links ---- */

int64_t chip_engine_expect(chip_engine *e, const chip_engine_arrival *what, const uint64_t hash[2]) {
    if (e->arriving_count == e->arriving_room) {
        e->arriving_room = 2 * e->arriving_room + 4;
        e->arriving = ts_arena_grow(e->arena, e->arriving, (size_t)e->arriving_count,
                                    (size_t)e->arriving_room, sizeof *e->arriving);
    }
    e->arriving[e->arriving_count++] =
        (arriving){.number = e->arrived, .what = *what, .hash = {hash[0], hash[1]}};
    return e->arrived++;
}

static arriving *find_arriving(chip_engine *e, int64_t number) {
    arriving *a = e->arriving;
    while (a->number != number) a++;
    return a;
}

/* simulated: of some of its writes. */
static void tell_expected(chip_engine *e, arriving *a, bool simulated) {
    if (a->is_told) return;
    a->is_told = true;
    pool_node question = {.what = ASK_EXPECT,
                          .number = a->number,
                          .hash = {a->hash[0], a->hash[1] + simulated},
                          .transfer = {.plan = a->what.plan, .dst.in_hbm = true}};
    if (is_alone(e)) {
        question.transfer.shift = e->shift;
        pool_ask_engine(e->own, NULL, &question);
    } else {
        ask_about(e, &question, NO_DIRECTION, simulated, a->what.arena);
    }
}

static void tell_fed(chip_engine *e, const arriving *a, const ts_dma_chunk *chunk) {
    pool_node question = {.what = ASK_FEED,
                          .cycle = chunk->cycle,
                          .number = a->number,
                          .hash = {(uint64_t)chunk->bytes, 2 * (uint64_t)chunk->last + chunk->passed},
                          .chunk = *chunk};
    e->is_fed = true;
    e->idle = NULL;
    if (is_alone(e))
        pool_ask_engine(e->own, NULL, &question);
    else
        ask(e, &question, NULL);
}

/* What is passed over changes nothing but what the bytes behind it are: the engine is told of that with
 * these, if they are not passed over as well. */
void chip_engine_feed(chip_engine *e, int64_t incoming, const ts_dma_chunk *chunk) {
    arriving *a = find_arriving(e, incoming);
    if (chunk->passed && !chunk->last) {
        a->passed_bytes += chunk->bytes;
        return;
    }
    tell_expected(e, a, !chunk->passed);
    if (a->passed_bytes > 0 && !chunk->passed)
        tell_fed(e, a, &(ts_dma_chunk){.bytes = a->passed_bytes, .cycle = chunk->cycle, .passed = true});
    a->passed_bytes = 0;
    tell_fed(e, a, chunk);
}

/* ---- What comes of it ---- */

/* The engine has nothing to do. */
static bool is_quiet(const chip_engine *e) { return e->under_way == 0 && !e->is_fed; }

static int64_t note_next(chip_engine *e, int64_t next, int64_t quiet) {
    if (next == INT64_MAX && quiet == INT64_MAX) e->is_fed = false;
    return next;
}

int64_t chip_engine_next(chip_engine *e, int64_t limit) {
    if (is_quiet(e)) return INT64_MAX;
    if (is_alone(e)) return ts_dma_next(e->own->dma, limit);
    const pool_node *n = ask(e, &(pool_node){.what = ASK_NEXT, .cycle = limit}, NULL);
    return note_next(e, n->next, n->quiet);
}

int64_t chip_engine_quiet_until(chip_engine *e, int64_t limit) {
    if (is_quiet(e)) return INT64_MAX;
    if (is_alone(e)) return ts_dma_quiet_until(e->own->dma, limit);
    if (e->from.at->what == ASK_NEXT && e->from.at->cycle == limit) return e->from.at->quiet;
    return ask(e, &(pool_node){.what = ASK_QUIET, .cycle = limit}, NULL)->quiet;
}

static void note_complete(chip_engine *e, ts_dma_result *result) {
    int i = 0;
    if (result->incoming) {
        arriving *a = find_arriving(e, (int64_t)(uintptr_t)result->incoming - 1);
        result->incoming = a->what.owner;
        *a = e->arriving[--e->arriving_count];
        return;
    }
    while (e->pending[i].number != result->tag) i++;
    result->tag = e->pending[i].tag;
    e->pending[i] = e->pending[--e->under_way];
}

void chip_engine_complete(chip_engine *e, ts_dma_result *result) {
    pool_node question = {.what = ASK_COMPLETE};
    pool_node *at = NULL; /* on the tree */
    if (is_alone(e)) {
        bool good = pool_complete(e->own, NULL, &question);
        assert(good);
    } else {
        at = ask(e, &question, NULL);
    }
    *result = at ? at->result : question.result;
    note_complete(e, result);
    if (at && e->under_way == 0 && e->arriving_count == 0) e->idle = at;
}

void chip_engine_read_stats(chip_engine *e, ts_hbm_stats *stats) {
    const pool_node *at = NULL;
    *stats = (ts_hbm_stats){0};
    if (is_alone(e))
        ts_hbm_read_stats_to(e->own->hbm, e->end, stats);
    else if (e->from.tree)
        at = e->from.at == e->idle ? e->idle : ask(e, &(pool_node){.what = ASK_STATS, .cycle = e->end}, NULL);
    if (at) *stats = *at->stats;
    ts_hbm_stats_add(stats, &e->before, 1);
}
