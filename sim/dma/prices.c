/* Prices that were asked before. */
#include <pthread.h>
#include <string.h>

#include "prices.h"
#include "traversal_private.h"

#include "base/hash.h"
#include "base/number.h"

enum { ENTRIES = 1 << 10, WORDS = 256 }; /* answers kept; of a question */

/* All that a price depends on. */
typedef struct {
    int count;
    int64_t words[WORDS];
} question;

typedef struct {
    question asked; /* count 0: none yet */
    ts_dma_cost answer;
} entry;

struct ts_dma_prices {
    pthread_mutex_t lock;
    entry *entries; /* by hash */
};

ts_dma_prices *ts_dma_prices_new(ts_arena *arena) {
    ts_dma_prices *prices = TS_NEW(arena, ts_dma_prices);
    *prices = (ts_dma_prices){PTHREAD_MUTEX_INITIALIZER, TS_NEW_ARRAY(arena, entry, ENTRIES)};
    return prices;
}

static bool add_word(question *q, int64_t word) {
    if (q->count == WORDS) return false;
    q->words[q->count++] = word;
    return true;
}

static bool add_box(question *q, const ts_plan *plan, int64_t number) {
    ts_plan_box box;
    ts_plan_get_box(plan, number, &box);
    bool fits = add_word(q, box.src_bits) && add_word(q, box.dst_bits) && add_word(q, box.loop_count);
    for (int i = 0; i < box.loop_count && fits; i++) {
        fits = add_word(q, box.loops[i].extent) && add_word(q, box.loops[i].src_bits) &&
               add_word(q, box.loops[i].dst_bits);
    }
    return fits;
}

/* Are bits beside a write read, if they are valid? */
static bool has_neighbours(const ts_dma_price_request *r) {
    const ts_plan *plan = r->plan;
    ts_plan_box box;
    bool covers = true;
    for (int64_t i = 0; i < plan->box_count && covers; i++) {
        ts_plan_get_box(plan, i, &box);
        covers = traversal_covers_granules(&box, plan->dst.shape->element_bits,
                                           r->machine->dma->write_granule_bits);
    }
    return r->dst.in_hbm && !covers;
}

/* The destination's text: which bits beside a write are valid. */
static uint64_t hash_shape(ts_arena *scratch, const ts_shape *shape) {
    ts_text text = ts_text_begin(scratch);
    ts_shape_print(shape, &text);
    return ts_hash_bytes(TS_HASH_BEGIN, text.bytes, text.length);
}

/* All figures of the machine, by their values. */
static uint64_t hash_machine(const ts_dma_machine *m) {
    ts_hbm_config hbm;
    memcpy(&hbm, m->hbm, sizeof hbm);
    hbm.address_map = NULL;
    uint64_t hash = ts_hash_bytes(TS_HASH_BEGIN, m->dma, sizeof *m->dma);
    hash = ts_hash_bytes(hash, &hbm, sizeof hbm);
    return ts_hash_bytes(hash, m->hbm->address_map, strlen(m->hbm->address_map));
}

static bool fill_question(question *q, ts_arena *scratch, const ts_dma_price_request *r) {
    const ts_plan *plan = r->plan;
    const int64_t whole[] = {(int64_t)hash_machine(r->machine),
                             r->machine->core_khz,
                             r->exact,
                             r->src.in_hbm,
                             r->src.partition_bits,
                             r->dst.in_hbm,
                             r->dst.partition_bits,
                             plan->src.shape->dtype,
                             plan->src.shape->element_bits,
                             plan->dst.shape->dtype,
                             plan->dst.shape->element_bits,
                             ts_layout_replica_total(plan->dst_layout),
                             plan->src.base_bits,
                             plan->dst.base_bits,
                             plan->elements,
                             plan->moved_elements,
                             plan->box_count};
    q->count = 0;
    if (plan->gathers || plan->box_count > WORDS) return false;
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) add_word(q, whole[i]);
    bool fits = add_word(q, has_neighbours(r) ? (int64_t)hash_shape(scratch, plan->dst.shape) : 0);
    for (int64_t i = 0; i < plan->box_count && fits; i++) fits = add_box(q, plan, i);
    return fits;
}

static entry *entry_of(ts_dma_prices *prices, const question *q) {
    uint64_t hash = ts_hash_bytes(TS_HASH_BEGIN, q->words, (size_t)q->count * sizeof q->words[0]);
    return &prices->entries[hash % ENTRIES];
}

/* A price, or that it is over the limit. */
static bool find(ts_dma_prices *prices, const question *q, int64_t limit, ts_dma_cost *cost) {
    const entry *e = entry_of(prices, q);
    pthread_mutex_lock(&prices->lock);
    bool answers = ts_integers_equal(e->asked.words, e->asked.count, q->words, q->count) &&
                   (!e->answer.is_over || (limit > 0 && limit < e->answer.cycles));
    if (answers) *cost = e->answer;
    pthread_mutex_unlock(&prices->lock);
    return answers;
}

static void keep(ts_dma_prices *prices, const question *q, const ts_dma_cost *cost) {
    entry *e = entry_of(prices, q);
    pthread_mutex_lock(&prices->lock);
    e->asked = *q;
    e->answer = *cost;
    pthread_mutex_unlock(&prices->lock);
}

bool ts_dma_price_within(ts_error *err, ts_arena *scratch, const ts_dma_price_request *request, int64_t limit,
                         ts_dma_cost *cost) {
    ts_dma_prices *prices = request->machine->prices;
    question q;
    if (!prices || !fill_question(&q, scratch, request))
        return prices_simulate(err, scratch, request, limit, cost);
    if (find(prices, &q, limit, cost)) return true;
    if (!prices_simulate(err, scratch, request, limit, cost)) return false;
    keep(prices, &q, cost);
    return true;
}

bool ts_dma_price(ts_error *err, ts_arena *scratch, const ts_dma_price_request *request, ts_dma_cost *cost) {
    return ts_dma_price_within(err, scratch, request, 0, cost);
}
