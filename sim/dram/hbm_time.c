/* Local cycles of an HBM: int32 after hbm->base, which moves up now and then; and gaps between requests,
 * which are passed over. */
#include "hbm_time.h"

#include "hbm_banks.h"
#include "hbm_simulators.h"
#include "base/number.h"

static void lower(int32_t *value, int64_t shift) {
    if (*value < FAR) *value = *value < DRAM_NEVER + shift ? DRAM_NEVER : (int32_t)(*value - shift);
}

static void queue_rebase(hbm_queue *q, int32_t shift) {
    for (int i = 0; i < q->entries; i++) {
        lower(&q->slots[i].arrival[0], shift);
        lower(&q->slots[i].arrival[1], shift);
    }
    lower(&q->column_bound, shift);
    lower(&q->row_bound, shift);
}

static void channel_rebase(ts_hbm *hbm, hbm_channel *ch, int32_t shift) {
    if (ch->banks) hbm_banks_rebase(hbm, ch, shift);
    dram_rebase(&ch->dram, shift);
    queue_rebase(&ch->queue[0], shift);
    queue_rebase(&ch->queue[1], shift);
    for (int i = 0; i < ch->active_count; i++) {
        hbm_active *a = &ch->active[ch->active_first + i];
        a->age -= shift * (((int64_t)1 << 32) + 1);
        a->opened -= shift;
    }
    hbm_attribution_rebase(hbm, ch, shift);
    for (int i = 0; i < ch->opening_count; i++) lower(&ch->opening[i].at, shift);
    lower(&ch->opening_at, shift);
    lower(&ch->active_at, shift);
    lower(&ch->page_at, shift);
    for (int sid = 0; sid < DRAM_MAX_SIDS; sid++) lower(&ch->refresh_again[sid], shift);
    lower(&ch->special_at, shift);
    lower(&ch->calm_until, shift);
    lower(&ch->next, shift);
    lower(&ch->last_accept, shift);
    lower(&ch->row_bus_free, shift);
    lower(&ch->refresh_at, shift);
}

/* The last thing of a stream that was done. */
int64_t hbm_stream_end(const ts_hbm_stream *st) {
    return st->end < 0 ? st->end_cycle : ts_max(st->end_cycle, st->hbm->base + st->end);
}

/* The same of all since reset, as far as it is known. */
int64_t hbm_end_cycle(const ts_hbm *hbm) {
    int64_t end = hbm->end_cycle;
    for (int i = 0; i < hbm->stream_count; i++) end = ts_max(end, hbm_stream_end(hbm->streams[i]));
    return end;
}

static void stream_rebase(ts_hbm_stream *st, int64_t shift) {
    for (int32_t i = 0; i < st->window; i++) lower(&st->accepted[i], shift);
    for (int32_t i = 0; i < st->in_flight; i++)
        if (st->done[i] >= -1) /* the rest are channels */
            st->done[i] = (int32_t)ts_max(st->done[i] - shift, -1);
    lower(&st->latest, shift);
    lower(&st->latest_done, shift);
    lower(&st->start, shift);
    st->end_cycle = hbm_stream_end(st);
    st->end = -1;
}

/* The base moves up by `shift`, and channels stay as they are: what streams know is that much longer ago. */
static void move_base(ts_hbm *hbm, int64_t shift) {
    for (int i = 0; i < hbm->stream_count; i++) stream_rebase(hbm->streams[i], shift);
    hbm->base += shift;
    hbm->gap_at = 0;
}

/* A channel that stands far behind has nothing to do but refresh. */
void hbm_rebase(ts_hbm *hbm) {
    const int32_t shift = REBASE_AT / 2; /* even: odd ticks, where half CKs have edges, stay odd */
    for (int i = 0; i < hbm->simulated_count; i++) {
        hbm->simulate(hbm, hbm->simulated[i], shift);
        channel_rebase(hbm, hbm->simulated[i], shift);
    }
    lower(&hbm->stepped, shift);
    move_base(hbm, shift);
}

/* ---- Gaps: nothing is queued, and each round of refreshes is like the one before. ---- */

/* Ticks after which the same banks are refreshed again. */
static int64_t refresh_round(const ts_hbm *hbm) {
    if (hbm->config.refresh == TS_HBM_REFRESH_NONE) return hbm->config.ticks_per_ck;
    int turns = hbm->config.refresh == TS_HBM_REFRESH_ALL_BANK ? 1 : hbm->spec->banks / hbm->refresh_pcs;
    return (int64_t)hbm->refresh_ticks * turns;
}

int64_t hbm_longest_rule(const ts_hbm *hbm) {
    return ((int64_t)hbm->spec->longest_cycles + 2) * hbm->config.ticks_per_ck;
}

static bool is_idle(const ts_hbm *hbm, const hbm_channel *ch) {
    int open = 0, queued = hbm_held(ch);
    for (int pc = 0; pc < hbm->spec->pcs; pc++) open += ch->dram.open_banks[pc];
    return (ch->banks ? hbm_banks_rest(hbm, ch) : queued == 0) &&
           ch->waiting_count + ch->opening_count == 0 && ch->page_at == FAR &&
           (open == 0 || hbm->config.refresh == TS_HBM_REFRESH_NONE);
}

/* What streams know to have been accepted and done, local. */
static int32_t last_done(const ts_hbm *hbm) {
    int32_t last = -1;
    for (int i = 0; i < hbm->stream_count; i++)
        last = max32(last, max32(hbm->streams[i]->latest, hbm->streams[i]->end));
    return last;
}

/* No channel has been stepped to, and no stream accepted, this local cycle or a later one. */
static int32_t untouched_from(const ts_hbm *hbm) {
    int32_t from = max32(last_done(hbm), hbm->stepped) + 1;
    for (int i = 0; i < hbm->simulated_count; i++)
        from = hbm->simulated[i]->next < FAR ? max32(from, hbm->simulated[i]->next) : from;
    return from;
}

/* Simulates all channels to `until`, and says whether a round from here ends as it begins. */
static bool simulate_round(ts_hbm *hbm, int32_t until, int32_t round) {
    bool same = true;
    for (int i = 0; i < hbm->simulated_count; i++) {
        hbm_channel *ch = hbm->simulated[i];
        hbm->simulate(hbm, ch, until - round);
        int32_t refresh_at = ch->refresh_at, head = ch->refresh_head;
        same &= is_idle(hbm, ch);
        hbm->simulate(hbm, ch, until);
        same &= is_idle(hbm, ch) && ch->refresh_head == head &&
                (refresh_at == FAR || ch->refresh_at == refresh_at + round);
    }
    return same;
}

/* Simulates one more round, and counts it `times` more. */
static void repeat_round(ts_hbm *hbm, hbm_channel *ch, int32_t until, int64_t times) {
    const ts_hbm_stats before = ch->stats;
    hbm->simulate(hbm, ch, until);
    ts_hbm_stats gained = ch->stats;
    ts_members_add(&gained, &before, ts_hbm_stats_members, -1, 1);
    ts_members_add(&ch->stats, &gained, ts_hbm_stats_members, times, 1);
    for (int pc = 0; pc < hbm->spec->pcs; pc++) {
        ch->passed[pc] += times * refresh_round(hbm);
        if (ch->dram.open_banks[pc] > 0) ch->dram.open_cycles[pc] += times * refresh_round(hbm);
    }
}

/* Nothing is offered before `cycle`: three rounds after the last thing done nothing counts that went before,
 * and those that follow are all the same. So channels stay where they are then, and time goes on. What waited
 * may be done only on the way there: then there is another way to go. */
static void pass_gap(ts_hbm *hbm, int64_t cycle) {
    const int64_t round = refresh_round(hbm);
    int64_t from, times;
    int32_t done;
    do {
        done = last_done(hbm);
        from = untouched_from(hbm) + 4 * round + hbm_longest_rule(hbm);
        times = (cycle - hbm->base - from) / round - 2;
        hbm->gap_at = from + 8 * round < REBASE_AT ? (int32_t)(from + 8 * round) : REBASE_AT;
        if (hbm->is_exact || times <= 0 || from + round >= REBASE_AT ||
            !simulate_round(hbm, (int32_t)from, (int32_t)round))
            return;
    } while (done != last_done(hbm));
    for (int i = 0; i < hbm->simulated_count; i++)
        repeat_round(hbm, hbm->simulated[i], (int32_t)(from + round), times);
    hbm->stepped = (int32_t)(from + round);
    move_base(hbm, times * round);
}

int32_t hbm_to_local(ts_hbm *hbm, int64_t cycle) {
    if (__builtin_expect(cycle - hbm->base >= hbm->gap_at, 0)) pass_gap(hbm, cycle);
    while (__builtin_expect(cycle - hbm->base >= REBASE_AT, 0)) hbm_rebase(hbm);
    return cycle < hbm->base ? 0 : (int32_t)(cycle - hbm->base);
}
