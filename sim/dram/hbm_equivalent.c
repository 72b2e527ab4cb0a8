/* When two channels are in the same state: what they hold is the same, and each time that a rule, or an account of waits,
 * may still ask for. Which slot of a queue holds a request does not matter, nor its number, as long as the order of all
 * is the same; nor what is only kept so that it need not be found again. */
#include "hbm_equivalent.h"

#include "hbm_time.h"

static bool are_equal(const void *a, const void *b, size_t bytes) { return memcmp(a, b, bytes) == 0; }

/* Times up to `past` are all alike. */
static bool same_times(const int32_t *a, const int32_t *b, int count, int32_t past) {
    bool same = true;
    for (int i = 0; i < count; i++) same &= max32(a[i], past) == max32(b[i], past);
    return same;
}

/* ---- What the rules ask for ---- */

static bool same_acts(const ts_dram *a, const ts_dram *b, int pc, int32_t past) {
    for (int i = 0; i < DRAM_WINDOW; i++) {
        const int32_t *x = &a->acts[pc][(a->act_at[pc] + i) % DRAM_WINDOW],
                      *y = &b->acts[pc][(b->act_at[pc] + i) % DRAM_WINDOW];
        if (!same_times(x, y, 1, past)) return false;
    }
    return true;
}

static bool same_pcs(const ts_dram *a, const ts_dram *b, int32_t past) {
    for (int pc = 0; pc < a->spec->pcs; pc++)
        if (a->open_banks[pc] != b->open_banks[pc] || !same_acts(a, b, pc, past) ||
            !same_times(a->pc_note[pc], b->pc_note[pc], TS_DRAM_COMMANDS, past))
            return false;
    return true;
}

static bool same_banks(const ts_dram *a, const ts_dram *b, int32_t past) {
    const int banks = a->spec->banks, groups = a->spec->groups;
    for (int i = 0; i < 2; i++)
        if (!same_times(a->column_time[i], b->column_time[i], groups, past) ||
            !same_times(a->opened_time[i], b->opened_time[i], banks, past))
            return false;
    for (int i = 0; i < 3; i++)
        if (!same_times(a->group_note[i], b->group_note[i], groups, past)) return false;
    for (int i = 0; i < TS_DRAM_COMMANDS; i++)
        if (!same_times(a->bank_note[i], b->bank_note[i], banks, past)) return false;
    return are_equal(a->open_row, b->open_row, sizeof a->open_row[0] * (size_t)banks) &&
           same_times(a->act_time, b->act_time, banks, past) &&
           same_times(a->row_time, b->row_time, banks, past);
}

/* ---- What waits ---- */

typedef struct {
    const hbm_queue *a, *b;
} queues;

/* The same request, by its age. */
static bool same_key(const queues *q, int32_t a, int32_t b) {
    if (a == KEY_NONE || b == KEY_NONE) return a == b;
    return (a >> KEY_SLOT_BITS) - q->a->age == (b >> KEY_SLOT_BITS) - q->b->age;
}

static bool same_slot(const queues *q, uint16_t a, uint16_t b) {
    if (a >= q->a->entries || b >= q->b->entries) return a >= q->a->entries && b >= q->b->entries;
    return same_key(q, q->a->slots[a].key, q->b->slots[b].key);
}

static bool same_request(const queues *q, uint16_t a, uint16_t b) {
    const hbm_slot *x = &q->a->slots[a], *y = &q->b->slots[b];
    if (x->location != y->location || x->stream != y->stream || x->at != y->at || x->end != y->end ||
        x->counted != y->counted || !same_key(q, x->key, y->key))
        return false;
    for (int i = x->at; i < x->end; i++)
        if (x->arrival[i] != y->arrival[i]) return false;
    return true;
}

static bool same_bank(const queues *q, int bank) {
    const uint16_t end = (uint16_t)(q->a->entries + bank);
    uint16_t a = q->a->links[end].next, b = q->b->links[end].next;
    for (; a != end && b != end; a = q->a->links[a].next, b = q->b->links[b].next)
        if (!same_request(q, a, b)) return false;
    return a == b && same_slot(q, q->a->hit[bank], q->b->hit[bank]) &&
           same_slot(q, q->a->miss[bank], q->b->miss[bank]) &&
           same_key(q, q->a->hit_key[bank], q->b->hit_key[bank]) &&
           same_key(q, q->a->row_key[bank], q->b->row_key[bank]);
}

static bool same_queue(const hbm_queue *a, const hbm_queue *b, int banks) {
    const queues q = {a, b};
    if (a->count != b->count || !same_slot(&q, a->newest, b->newest)) return false;
    for (int bank = 0; bank < banks; bank++)
        if (!same_bank(&q, bank)) return false;
    return true;
}

static bool same_active(const hbm_channel *a, const hbm_channel *b) {
    if (a->active_count != b->active_count) return false;
    for (int i = 0; i < a->active_count; i++) {
        const hbm_active *x = &a->active[a->active_first + i], *y = &b->active[b->active_first + i];
        if (x->age != y->age || x->opened != y->opened || x->bank != y->bank || x->stream != y->stream ||
            x->direction != y->direction || x->column != y->column)
            return false;
    }
    return true;
}

static bool same_lists(const hbm_channel *a, const hbm_channel *b) {
    return a->opening_count == b->opening_count && a->waiting_count == b->waiting_count &&
           are_equal(a->opening, b->opening, sizeof a->opening[0] * (size_t)a->opening_count) &&
           are_equal(a->waiting, b->waiting, sizeof a->waiting[0] * (size_t)a->waiting_count) &&
           are_equal(a->active_of, b->active_of, sizeof a->active_of) && same_active(a, b);
}

/* ---- What waits are accounted by ---- */

static bool same_cause(hbm_cause a, hbm_cause b) { return a.limiter == b.limiter && a.after == b.after; }

/* Causes of commands before `bus_until` are not asked for. */
static bool same_causes(const hbm_channel *a, const hbm_channel *b) {
    const dram_spec *s = a->dram.spec;
    for (int bank = 0; bank < s->banks; bank++) {
        int32_t until = a->bus_until[bank >> s->pc_shift];
        if ((a->dram.bank_note[DRAM_ACT][bank] > until &&
             !same_cause(a->act_cause[bank], b->act_cause[bank])) ||
            (a->dram.bank_note[DRAM_PRE][bank] > until &&
             !same_cause(a->pre_cause[bank], b->pre_cause[bank])))
            return false;
    }
    return true;
}

/* A refresh before `bus_until` is accounted for. */
static bool same_refreshes(const hbm_channel *a, const hbm_channel *b) {
    for (int pc = 0; pc < a->dram.spec->pcs; pc++) {
        if (a->bus_until[pc] != b->bus_until[pc] || a->passed[pc] != b->passed[pc] ||
            a->last_direction[pc] != b->last_direction[pc] ||
            max32(a->refresh_until[pc], a->bus_until[pc]) != max32(b->refresh_until[pc], b->bus_until[pc]))
            return false;
        if (a->refresh_until[pc] > a->bus_until[pc] &&
            (a->refresh_from[pc] != b->refresh_from[pc] || a->nobody_waits[pc] != b->nobody_waits[pc]))
            return false;
    }
    return true;
}

static bool same_bus(const hbm_channel *a, const hbm_channel *b, int32_t past) {
    return same_times(&a->row_bus_free, &b->row_bus_free, 1, past) &&
           (a->row_bus_free <= past || a->row_bus_command == b->row_bus_command);
}

bool hbm_are_equivalent(const ts_hbm *hbm, const hbm_channel *a, const hbm_channel *b) {
    const int32_t first = min32(a->next, a->last_accept + 1); /* what is offered may be done before `next` */
    const int32_t past = first - (int32_t)hbm_longest_rule(hbm);
    return a->next == b->next && a->last_accept == b->last_accept && a->is_writing == b->is_writing &&
           a->refresh_at == b->refresh_at && a->refresh_head == b->refresh_head &&
           same_times(a->refresh_again, b->refresh_again, DRAM_MAX_SIDS, past) && same_bus(a, b, past) &&
           same_refreshes(a, b) && same_lists(a, b) && same_causes(a, b) &&
           same_pcs(&a->dram, &b->dram, past) && same_banks(&a->dram, &b->dram, past) &&
           same_queue(&a->queue[0], &b->queue[0], hbm->spec->banks) &&
           same_queue(&a->queue[1], &b->queue[1], hbm->spec->banks);
}
