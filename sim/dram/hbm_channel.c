/* The state of a channel: made when it is simulated for the first time, and cleared. */
#include "hbm_channel.h"

#include <string.h>

#include "hbm_banks.h"

static void queue_clear(hbm_queue *q) {
    q->count = 0;
    q->age = 0;
    q->newest = NO_SLOT;
    q->free = 0;
    for (int i = 0; i < q->entries; i++) q->links[i].next = (uint16_t)(i + 1 < q->entries ? i + 1 : NO_SLOT);
    q->slots[q->entries] = (hbm_slot){.key = KEY_NONE, .arrival = {FAR}};
    for (int i = 0; i < DRAM_MAX_BANKS; i++) {
        q->hit_key[i] = q->row_key[i] = KEY_NONE;
        uint16_t end = (uint16_t)(q->entries + i);
        q->hit[i] = q->miss[i] = end;
        q->links[end] = (hbm_link){DRAM_CLOSED, end, end};
    }
    for (int i = 0; i < DRAM_MAX_GROUPS; i++) {
        q->group_key[i] = KEY_NONE;
        q->group_hits[i] = 0;
    }
    q->column_bound = q->row_bound = 0;
}

static void queue_init(hbm_queue *q, ts_arena *arena, int entries) {
    q->entries = entries;
    q->slots = TS_NEW_ARRAY(arena, hbm_slot, entries + 1);
    q->links = TS_NEW_ARRAY(arena, hbm_link, entries + DRAM_MAX_BANKS);
    q->tickets = TS_NEW_ARRAY(arena, int32_t, 2 * entries);
}

void hbm_clear_channel(ts_hbm *hbm, hbm_channel *ch) {
    hbm_queue read = ch->queue[DRAM_READ], write = ch->queue[DRAM_WRITE];
    struct hbm_banks *banks = ch->banks;
    *ch = (hbm_channel){.number = ch->number,
                        .next = 1,
                        .banks = banks,
                        .active_at = FAR,
                        .opening_at = FAR,
                        .page_at = FAR,
                        .queue = {read, write}};
    for (int i = 0; i < ACTIVE_PLACES; i++) ch->active[i].opened = FAR;
    dram_clear(&ch->dram, hbm->spec);
    queue_clear(&ch->queue[0]);
    queue_clear(&ch->queue[1]);
    ch->refresh_at = hbm->refresh_ticks;
    ch->special_at = ch->refresh_at;
    memset(ch->last_direction, 2, sizeof ch->last_direction);
    if (banks) hbm_banks_clear(hbm, ch);
}

hbm_channel *hbm_begin_channel(ts_hbm *hbm, int number) {
    const ts_hbm_config *c = &hbm->config;
    hbm_channel **at = &hbm->channels[hbm_channel_index(hbm, number)];
    if (*at) return *at;
    hbm_channel *ch = *at = TS_NEW(hbm->arena, hbm_channel);
    ch->number = number;
    queue_init(&ch->queue[DRAM_READ], hbm->arena, c->read_entries);
    queue_init(&ch->queue[DRAM_WRITE], hbm->arena, c->write_entries);
    if (c->scheduler == TS_HBM_SCHEDULER_PER_BANK) hbm_banks_init(hbm, hbm->arena, ch);
    return ch;
}
