/* The per bank scheduler: what the rest of the memory calls, and its simulation with the instructions that
 * every machine has. */
#include <string.h>

#include "base/number.h"
#include "hbm_banks_scheduler.h"

BANKS_SIMULATORS(base)

bool hbm_banks_rest(const ts_hbm *hbm, const hbm_channel *ch) {
    const struct hbm_banks *b = ch->banks;
    return b->count == 0 && b->draining == 0 && b->waiting[DRAM_READ] == 0 && !is_to_drain(hbm, b);
}

void hbm_banks_await(ts_hbm *hbm) {
    hbm->is_awaited = true;
    for (int i = 0; i < hbm->simulated_count; i++) {
        hbm_channel *ch = hbm->simulated[i];
        if (ch->banks) ch->next = min32(ch->next, max32(ch->banks->stepped, ch->last_accept) + 1);
    }
}

void hbm_banks_init(ts_hbm *hbm, ts_arena *arena, hbm_channel *ch) {
    struct hbm_banks *b = ch->banks = TS_NEW(arena, struct hbm_banks);
    const ts_hbm_config *c = &hbm->config;
    b->capacity = c->read_entries + c->write_entries + hbm->spec->banks * c->bank_entries;
    b->pitch = lanes_of(c->bank_entries) + LANES;
    b->entries = TS_NEW_ARRAY(arena, entry, b->capacity + 2 * HBM_BANKS_MOST);
    b->commands = TS_NEW_ARRAY(arena, uint32_t, 2 * hbm->spec->banks * b->pitch);
}

void hbm_banks_clear(ts_hbm *hbm, hbm_channel *ch) {
    struct hbm_banks *b = ch->banks;
    *b = (struct hbm_banks){b->entries, b->capacity, b->pitch, b->commands, .column_at = -1};
    b->after = ~(uint64_t)1;
    b->room = bit_of(hbm->spec->banks - 1) * 2 - 1;
    for (int i = 0; i < BUCKETS; i++) b->bucket[i] = NONE;
    for (int32_t i = 0; i < b->capacity; i++) b->entries[i].same = i + 1;
    for (int i = 0; i < 2 * HBM_BANKS_MOST; i++) b->banks[i / 2].newest[i % 2] = end_of(b, i % 2, i / 2);
    for (int i = 0; i < hbm->stream_count; i++)
        memset(merged_of(hbm, ch, hbm->streams[i], 0), 0, (size_t)b->capacity * sizeof(hbm_merged));
}

void hbm_banks_add_stream(ts_arena *arena, ts_hbm_stream *st) {
    const struct hbm_banks *b = st->hbm->channels[0]->banks;
    int64_t simulated = ts_ceil_div(st->hbm->channel_count, st->hbm->share);
    st->merged = TS_NEW_ARRAY(arena, hbm_merged, simulated * b->capacity);
    if (st->in_flight > 0) st->merged_next = TS_NEW_ARRAY(arena, int32_t, st->in_flight);
}

static void lower_arrivals(const ts_hbm *hbm, hbm_channel *ch, int32_t slot, int32_t shift) {
    entry *e = &ch->banks->entries[slot];
    e->arrival = max32(e->arrival - shift, DRAM_NEVER);
    for (int i = 0; i < hbm->stream_count && e->is_merged; i++) {
        hbm_merged *m = merged_of(hbm, ch, hbm->streams[i], slot);
        m->arrivals -= m->count * shift;
    }
}

void hbm_banks_rebase(ts_hbm *hbm, hbm_channel *ch, int32_t shift) {
    struct hbm_banks *b = ch->banks;
    b->stepped = max32(b->stepped - shift, 0);
    b->column_at = max32(b->column_at - shift, -1);
    b->rested_until = max32(b->rested_until - shift, 0);
    for (int i = 0; i < BUCKETS; i++)
        for (int32_t slot = b->bucket[i]; slot != NONE; slot = b->entries[slot].same)
            lower_arrivals(hbm, ch, slot, shift);
}
