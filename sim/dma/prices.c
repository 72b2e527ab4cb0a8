/* Prices that were asked before. */
#include <string.h>

#include "prices.h"

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
    const ts_dma_config *dma; /* NULL: not yet asked */
    const ts_hbm_config *hbm;
    int64_t core_khz;
    entry *entries; /* by hash */
};

ts_dma_prices *ts_dma_prices_new(ts_arena *arena) {
    ts_dma_prices *prices = TS_NEW(arena, ts_dma_prices);
    prices->entries = TS_NEW_ARRAY(arena, entry, ENTRIES);
    return prices;
}

static bool is_of(ts_dma_prices *prices, const ts_dma_machine *m) {
    if (!prices) return false;
    if (!prices->dma) prices->dma = m->dma, prices->hbm = m->hbm, prices->core_khz = m->core_khz;
    return prices->dma == m->dma && prices->hbm == m->hbm && prices->core_khz == m->core_khz;
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

/* The destination as text: which bits beside a write are valid. */
static bool add_shape(question *q, ts_arena *scratch, const ts_shape *shape) {
    ts_text text;
    ts_text_init(&text, scratch);
    ts_shape_print(shape, &text);
    for (size_t at = 0; at < text.length; at += sizeof(int64_t)) {
        int64_t word = 0;
        memcpy(&word, text.bytes + at, text.length - at < sizeof word ? text.length - at : sizeof word);
        if (!add_word(q, word)) return false;
    }
    return true;
}

static bool fill_question(question *q, ts_arena *scratch, const ts_plan *plan, ts_dma_end src, ts_dma_end dst,
                          bool exact) {
    const int64_t whole[] = {exact,
                             src.in_hbm,
                             src.partition_bits,
                             dst.in_hbm,
                             dst.partition_bits,
                             plan->src.shape->dtype,
                             plan->src.shape->element_bits,
                             plan->src.base_bits,
                             plan->dst.base_bits,
                             plan->elements,
                             plan->moved_elements,
                             plan->box_count};
    q->count = 0;
    if (plan->gathers || plan->box_count > WORDS) return false;
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) add_word(q, whole[i]);
    bool fits = add_shape(q, scratch, plan->dst.shape);
    for (int64_t i = 0; i < plan->box_count && fits; i++) fits = add_box(q, plan, i);
    return fits;
}

static size_t hash(const question *q) {
    uint64_t h = 0;
    for (int i = 0; i < q->count; i++) h = (h ^ (uint64_t)q->words[i]) * 0x9E3779B97F4A7C15u, h ^= h >> 29;
    return (size_t)(h % ENTRIES);
}

bool ts_dma_price(ts_error *err, ts_arena *scratch, const ts_dma_machine *machine, const ts_plan *plan,
                  ts_dma_end src, ts_dma_end dst, bool exact, ts_dma_cost *cost) {
    question q;
    if (!is_of(machine->prices, machine) || !fill_question(&q, scratch, plan, src, dst, exact))
        return prices_walk(err, scratch, machine, plan, src, dst, exact, cost);
    entry *e = &machine->prices->entries[hash(&q)];
    bool known = e->asked.count == q.count &&
                 memcmp(e->asked.words, q.words, (size_t)q.count * sizeof q.words[0]) == 0;
    if (known) {
        *cost = e->answer;
        return true;
    }
    if (!prices_walk(err, scratch, machine, plan, src, dst, exact, cost)) return false;
    e->asked = q;
    e->answer = *cost;
    return true;
}
