/* Representative channels: of channels that are offered the same, as those of a regular stream are, one is
 * simulated for all. A channel knows nothing of its number, so two that were offered the same are in the same
 * state; what is offered to each is compared with what its representative gets, block by block, and where it
 * differs the channel is split off: it goes on alone, from a copy of the representative's state. Nothing is
 * estimated by it. */
#include "hbm_representatives.h"

#include <string.h>

void hbm_represent_all(ts_hbm *hbm, bool together) {
    hbm->simulated_count = 0;
    for (int i = 0; i < hbm->channel_count; i += hbm->share) {
        int representative = hbm->representative[i] = together ? 0 : i;
        hbm_channel_at(hbm, representative)->represented += representative != i;
        if (representative == i) hbm->simulated[hbm->simulated_count++] = hbm_channel_at(hbm, i);
    }
}

/* Makes the channel its own representative. */
static void split_off(ts_hbm *hbm, int channel) {
    hbm_channel *representative = hbm_representative(hbm, channel), *ch = hbm_begin_channel(hbm, channel);
    const hbm_queue own[2] = {ch->queue[0], ch->queue[1]};
    representative->represented--;
    *ch = *representative;
    for (int i = 0; i < 2; i++) {
        hbm_queue *q = &ch->queue[i];
        memcpy(own[i].slots, q->slots, sizeof(hbm_slot) * (size_t)(q->entries + 1));
        memcpy(own[i].links, q->links, sizeof(hbm_link) * (size_t)(q->entries + DRAM_MAX_BANKS));
        q->slots = own[i].slots;
        q->links = own[i].links;
        q->tickets = own[i].tickets;
    }
    ch->number = channel;
    ch->represented = 0;
    ch->split_from = representative->number;
    hbm->representative[channel] = channel;
    hbm->simulated[hbm->simulated_count++] = ch;
}

/* Does the block offer the same to channels a and b, at times that come to the same? What is offered before
 * `last`, the last acceptance of both, waits until then, however long before it was offered. */
static bool get_same(const ts_hbm *hbm, int a, int b, int32_t last) {
    const int32_t *first = hbm->block_first;
    hbm_segment *const *of_a = hbm->block.order + first[a], *const *of_b = hbm->block.order + first[b];
    if (first[a + 1] - first[a] != first[b + 1] - first[b]) return false;
    for (int i = 0; i < first[a + 1] - first[a]; i++) {
        const hbm_segment *p = of_a[i], *q = of_b[i];
        if (p->location != q->location || p->is_write != q->is_write || p->is_pair != q->is_pair)
            return false;
        for (int half = 0; half <= p->is_pair; half++)
            if (p->at[half] != q->at[half] && max32(p->at[half], q->at[half]) > last) return false;
    }
    return true;
}

/* The representative of a channel for the block: as before, or one that was just split off, or none (-1). */
static int find_representative(const ts_hbm *hbm, int channel, int simulated_before) {
    int representative = hbm->representative[channel];
    int32_t last = hbm_channel_at(hbm, representative)->last_accept;
    if (get_same(hbm, representative, channel, last)) return representative;
    for (int i = simulated_before; i < hbm->simulated_count; i++) {
        const hbm_channel *other = hbm->simulated[i];
        if (other->split_from == representative && get_same(hbm, other->number, channel, last))
            return other->number;
    }
    return -1;
}

void hbm_regroup(ts_hbm *hbm) {
    const int before = hbm->simulated_count;
    for (int c = 0; c < hbm->channel_count; c += hbm->share) {
        int last = hbm->representative[c], representative = last == c ? c : find_representative(hbm, c, before);
        if (representative < 0) {
            split_off(hbm, c);
        } else if (representative != last) {
            hbm_channel_at(hbm, last)->represented--;
            hbm_channel_at(hbm, representative)->represented++;
            hbm->representative[c] = representative;
        }
    }
}

void hbm_copy_acceptances(ts_hbm *hbm) {
    const int32_t *first = hbm->block_first;
    for (int c = 0; c < hbm->channel_count; c += hbm->share) {
        int representative = hbm->representative[c];
        hbm_segment *const *of_representative = hbm->block.order + first[representative];
        for (int i = 0; representative != c && i < first[c + 1] - first[c]; i++)
            memcpy(hbm->block.order[first[c] + i]->at, of_representative[i]->at,
                   sizeof of_representative[i]->at);
    }
}
