/* Channels that do the same, as those of a regular stream do: only one of them, their leader, is walked. A
 * channel knows nothing of its number, so two that were offered the same are in the same state; what is
 * offered to a follower is compared with what its leader gets, block by block, and where it differs the
 * follower goes on alone, from a copy of the leader's state. Nothing is estimated by it. */
#include "hbm_leaders.h"

#include <string.h>

void hbm_lead_all(ts_hbm *hbm, bool together) {
    hbm->walked_count = 0;
    for (int i = 0; i < hbm->channel_count; i += hbm->share) {
        hbm_channel *ch = &hbm->channels[i];
        ch->leader = together ? 0 : i;
        hbm->channels[ch->leader].followers += ch->leader != i;
        if (ch->leader == i) hbm->walked[hbm->walked_count++] = ch;
    }
}

/* Makes the channel its own leader. */
static void part(ts_hbm *hbm, hbm_channel *ch) {
    hbm_channel *leader = &hbm->channels[ch->leader];
    const hbm_queue own[2] = {ch->queue[0], ch->queue[1]};
    leader->followers--;
    *ch = *leader;
    for (int i = 0; i < 2; i++) {
        hbm_queue *q = &ch->queue[i];
        memcpy(own[i].slots, q->slots, sizeof(hbm_slot) * (size_t)(q->entries + DRAM_MAX_BANKS));
        q->slots = own[i].slots;
        q->tickets = own[i].tickets;
    }
    ch->followers = 0;
    ch->parted_from = ch->leader;
    ch->leader = (int)(ch - hbm->channels);
    hbm->walked[hbm->walked_count++] = ch;
}

/* Is what the block has for channels a and b the same? Offers before `last`, their last acceptance, wait for
 * it. */
static bool get_same(const ts_hbm *hbm, int a, int b, int32_t last) {
    const int32_t *first = hbm->block_first;
    hbm_piece *const *of_a = hbm->block.order + first[a], *const *of_b = hbm->block.order + first[b];
    if (first[a + 1] - first[a] != first[b + 1] - first[b]) return false;
    for (int i = 0; i < first[a + 1] - first[a]; i++) {
        const hbm_piece *p = of_a[i], *q = of_b[i];
        if (p->place != q->place || p->is_write != q->is_write || p->is_pair != q->is_pair) return false;
        for (int half = 0; half <= p->is_pair; half++) {
            if (p->at[half] != q->at[half] && max32(p->at[half], q->at[half]) > last) return false;
        }
    }
    return true;
}

/* The leader of a channel for the block: as before, or one that has just parted, or none (-1). */
static int find_leader(const ts_hbm *hbm, int channel, int walked_before) {
    int leader = hbm->channels[channel].leader;
    int32_t last = hbm->channels[leader].last_accept;
    if (get_same(hbm, leader, channel, last)) return leader;
    for (int i = walked_before; i < hbm->walked_count; i++) {
        const hbm_channel *other = hbm->walked[i];
        if (other->parted_from == leader && get_same(hbm, other->leader, channel, last)) return other->leader;
    }
    return -1;
}

void hbm_regroup(ts_hbm *hbm) {
    const int before = hbm->walked_count;
    for (int c = 0; c < hbm->channel_count; c += hbm->share) {
        hbm_channel *ch = &hbm->channels[c];
        int leader = ch->leader == c ? c : find_leader(hbm, c, before);
        if (leader < 0) {
            part(hbm, ch);
        } else if (leader != ch->leader) {
            hbm->channels[ch->leader].followers--;
            hbm->channels[leader].followers++;
            ch->leader = leader;
        }
    }
}

void hbm_follow(ts_hbm *hbm) {
    const int32_t *first = hbm->block_first;
    for (int c = 0; c < hbm->channel_count; c += hbm->share) {
        hbm_piece *const *of_leader = hbm->block.order + first[hbm->channels[c].leader];
        for (int i = 0; hbm->channels[c].leader != c && i < first[c + 1] - first[c]; i++)
            memcpy(hbm->block.order[first[c] + i]->at, of_leader[i]->at, sizeof of_leader[i]->at);
    }
}
