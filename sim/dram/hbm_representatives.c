/* Representative channels: of channels that are offered the same, as those of a regular stream are, one is
 * simulated for all. A channel knows nothing of its number, so two that were offered the same are in the same
 * state; what is offered to each is compared with what its representative gets, block by block, and where it
 * differs the channel is split off: it goes on alone, from a copy of the representative's state. When both have come to
 * the same state again, it is represented as before. Nothing is estimated by it. */
#include "hbm_representatives.h"

#include <string.h>

#include "base/number.h"
#include "hbm_equivalent.h"

bool hbm_may_represent(const ts_hbm *hbm) {
    return !hbm->is_exact && !hbm->is_limited && hbm->config.scheduler != TS_HBM_SCHEDULER_PER_BANK;
}

void hbm_represent_all(ts_hbm *hbm) {
    bool is_shared = hbm_may_represent(hbm);
    memset(hbm->history, 0, sizeof hbm->history[0] * (size_t)hbm->channel_count);
    hbm->simulated_count = 0;
    for (int i = 0; i < hbm->channel_count; i += hbm->share) {
        int representative = hbm->representative[i] = is_shared ? 0 : i;
        hbm_channel_at(hbm, representative)->represented += representative != i;
        if (representative == i) hbm->simulated[hbm->simulated_count++] = hbm_channel_at(hbm, i);
    }
}

ts_hbm_stats hbm_counts_of(const hbm_channel *ch) {
    ts_hbm_stats counts = ch->stats;
    counts.reads = ch->accepted[DRAM_READ];
    counts.writes = ch->accepted[DRAM_WRITE];
    for (int pc = 0; pc < ch->dram.spec->pcs; pc++) counts.open_cycles += ch->dram.open_cycles[pc];
    return counts;
}

/* What the channel has counted beyond its representative, whose state it has, is its own from now on. */
static void take_history(ts_hbm *hbm, hbm_channel *ch) {
    ts_hbm_stats *beyond = &hbm->history[ch->number];
    ch->accepted[DRAM_READ] += beyond->reads;
    ch->accepted[DRAM_WRITE] += beyond->writes;
    ch->dram.open_cycles[0] += beyond->open_cycles;
    beyond->reads = beyond->writes = beyond->open_cycles = 0;
    ts_members_add(&ch->stats, beyond, ts_hbm_stats_members, 1, 1);
    *beyond = (ts_hbm_stats){0};
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
    take_history(hbm, ch);
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

/* A channel in the state of `representative` is represented by it; what it has counted stays. */
static void follow(ts_hbm *hbm, int channel, hbm_channel *representative) {
    hbm_channel *last = hbm_representative(hbm, channel);
    const ts_hbm_stats more = hbm_counts_of(last), less = hbm_counts_of(representative);
    ts_members_add(&hbm->history[channel], &more, ts_hbm_stats_members, 1, 1);
    ts_members_add(&hbm->history[channel], &less, ts_hbm_stats_members, -1, 1);
    last->represented--;
    representative->represented++;
    hbm->representative[channel] = representative->number;
}

void hbm_regroup(ts_hbm *hbm) {
    const int before = hbm->simulated_count;
    for (int c = 0; c < hbm->channel_count; c += hbm->share) {
        int last = hbm->representative[c],
            representative = last == c ? c : find_representative(hbm, c, before);
        if (representative < 0)
            split_off(hbm, c);
        else if (representative != last)
            follow(hbm, c, hbm_channel_at(hbm, representative));
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

/* ---- Channels that do the same again ---- */

/* With all that the channel represents. */
static void rejoin(ts_hbm *hbm, hbm_channel *ch, hbm_channel *representative) {
    for (int c = 0; c < hbm->channel_count; c += hbm->share)
        if (hbm->representative[c] == ch->number) follow(hbm, c, representative);
    representative->stats.read_latency_max =
        ts_max(representative->stats.read_latency_max, ch->stats.read_latency_max);
}

/* Of the first so many, one that was offered as much and the same in the block, accepted it at the same times, and is in the
 * same state; NULL. Of a few segments it does not pay: the next may be others. */
static hbm_channel *find_like(const ts_hbm *hbm, const hbm_channel *ch, int count) {
    enum { LEAST = 8 };
    const int32_t *first = hbm->block_first + ch->number;
    if (first[1] - first[0] < LEAST) return NULL;
    for (int i = 0; i < count; i++) {
        hbm_channel *other = hbm->simulated[i];
        if (other->next == ch->next && get_same(hbm, other->number, ch->number, 0) &&
            hbm_are_equivalent(hbm, other, ch))
            return other;
    }
    return NULL;
}

void hbm_rejoin(ts_hbm *hbm) {
    enum { MANY = 64 }; /* so many seldom come to the same */
    int left = 1;
    if (!hbm_may_represent(hbm) || hbm->config.page != TS_HBM_PAGE_OPEN || hbm->simulated_count > MANY)
        return;
    for (int i = 1; i < hbm->simulated_count; i++) {
        hbm_channel *ch = hbm->simulated[i], *like = find_like(hbm, ch, left);
        if (like)
            rejoin(hbm, ch, like);
        else
            hbm->simulated[left++] = ch;
    }
    hbm->simulated_count = left;
}
