/* Where the time of each pseudo channel goes: every cycle of it is charged once, to data or to what held back
 * the next column command. The wait for a row is taken apart backwards: column, ACT, PRE. */
#include "hbm_channel.h"

static int32_t note(const ts_dram *d, int bank, int bit) { return d->bank_note[bank][bit]; }

/* Charges [from, *end) and moves *end down to it, never below bus_until. */
static void charge(hbm_channel *ch, int pc, ts_hbm_limiter limiter, int32_t from, int32_t *end) {
    from = min32(max32(from, ch->bus_until[pc]), *end);
    ch->stats.limiter_cycles[limiter] += *end - from;
    *end = from;
}

/* HBM3 starts ACTs and columns at odd ticks only: what was ready at t - 1 waited for the edge, not for more.
 */
static bool just_at(const dram_spec *s, int32_t ready, int32_t t) {
    return (uint32_t)t - (uint32_t)ready < (uint32_t)s->ticks_per_ck;
}

/* In the two below the last that holds counts: all are looked at, as a wrong guess of a branch takes longer.
 */
ts_hbm_limiter hbm_act_cause(const ts_hbm *hbm, const hbm_channel *ch, int bank, int32_t arrival, int32_t t) {
    const ts_dram *d = &ch->dram;
    const dram_spec *s = hbm->spec;
    int pc = bank >> s->pc_shift;
    ts_hbm_limiter cause = TS_HBM_LIMITER_SCHEDULING;
    cause = just_at(s, ch->row_bus_free, t) ? TS_HBM_LIMITER_ROW_BUS : cause;
    cause = just_at(s, d->act_time[bank], t) ? TS_HBM_LIMITER_RRD : cause; /* or a refresh, charged already */
    cause = just_at(s, note(d, bank, DRAM_ACT) + s->act_to_act, t) ? TS_HBM_LIMITER_RC : cause;
    cause = just_at(s, d->acts[pc][d->act_at[pc]] + s->faw, t) ? TS_HBM_LIMITER_FAW : cause;
    cause = just_at(s, arrival + 1, t) ? TS_HBM_LIMITER_REQUESTS : cause;
    return just_at(s, note(d, bank, DRAM_PRE) + s->pre_to_act, t) ? TS_HBM_LIMITER_RP : cause;
}

ts_hbm_limiter hbm_pre_cause(const ts_hbm *hbm, const hbm_channel *ch, int bank, int32_t arrival, int32_t t) {
    const ts_dram *d = &ch->dram;
    const dram_spec *s = hbm->spec;
    ts_hbm_limiter cause = TS_HBM_LIMITER_SCHEDULING;
    cause = ch->row_bus_free == t ? TS_HBM_LIMITER_ROW_BUS : cause;
    cause = d->row_time[bank] == t ? TS_HBM_LIMITER_PPD : cause;
    cause = arrival + 1 == t ? TS_HBM_LIMITER_REQUESTS : cause;
    cause = note(d, bank, DRAM_WRITE) + s->column_to_pre[DRAM_WRITE] == t ? TS_HBM_LIMITER_WR : cause;
    cause = note(d, bank, DRAM_READ) + s->column_to_pre[DRAM_READ] == t ? TS_HBM_LIMITER_RTP : cause;
    return note(d, bank, DRAM_ACT) + s->act_to_pre == t ? TS_HBM_LIMITER_RAS : cause;
}

static ts_hbm_limiter column_cause(const ts_hbm *hbm, const hbm_channel *ch, int direction, int bank,
                                   int32_t arrival, int32_t t) {
    const ts_dram *d = &ch->dram;
    const dram_spec *s = hbm->spec;
    int group = bank >> s->group_shift, lanes = lanes_of(s->groups),
        first = (bank >> s->pc_shift) * s->groups_of_pc;
    if (just_at(s, d->opened_time[direction][bank], t)) return TS_HBM_LIMITER_RCD;
    if (just_at(s, arrival + 1, t)) return TS_HBM_LIMITER_REQUESTS;
    for (int after = 0; after < 2 && just_at(s, d->column_time[direction][group], t); after++) {
        const int32_t *delta = s->column[after] + direction * lanes + group;
        bool held = false;
        for (int g = first; g < first + s->groups_of_pc; g++)
            held |= d->group_note[g][after] + delta[2 * g * lanes] == d->column_time[direction][group];
        if (held)
            return after == direction ? TS_HBM_LIMITER_CCD : after ? TS_HBM_LIMITER_WTR : TS_HBM_LIMITER_RTW;
    }
    if (d->last_column >= t - s->ticks_per_ck) return TS_HBM_LIMITER_COLUMN_BUS;
    return TS_HBM_LIMITER_SCHEDULING;
}

void hbm_blame_column(const ts_hbm *hbm, hbm_channel *ch, int direction, int bank, int32_t arrival,
                      bool is_active, int32_t t) {
    const ts_dram *d = &ch->dram;
    int pc = bank >> hbm->spec->pc_shift;
    uint8_t *last = &ch->last_direction[pc];
    int32_t end = t, refreshed = min32(ch->refresh_until[pc], t);
    if (refreshed > ch->bus_until[pc]) {
        ch->stats.limiter_cycles[TS_HBM_LIMITER_REFRESH] += refreshed - ch->bus_until[pc];
        ch->bus_until[pc] = refreshed;
    }
    ch->stats.read_to_write += *last == DRAM_READ && direction == DRAM_WRITE;
    ch->stats.write_to_read += *last == DRAM_WRITE && direction == DRAM_READ;
    *last = (uint8_t)direction;
    ts_hbm_limiter cause = column_cause(hbm, ch, direction, bank, arrival, t);
    if (cause == TS_HBM_LIMITER_RCD && is_active) {
        charge(ch, pc, TS_HBM_LIMITER_RCD, note(d, bank, DRAM_ACT), &end);
        cause = (ts_hbm_limiter)ch->act_cause[bank];
    }
    if (cause == TS_HBM_LIMITER_RP) {
        charge(ch, pc, TS_HBM_LIMITER_RP, note(d, bank, DRAM_PRE), &end);
        cause = (ts_hbm_limiter)ch->pre_cause[bank];
    }
    charge(ch, pc, cause, arrival, &end);
    charge(ch, pc, TS_HBM_LIMITER_REQUESTS, ch->bus_until[pc], &end);
    ch->stats.limiter_cycles[TS_HBM_LIMITER_REQUESTS] += ch->passed[pc];
    ch->passed[pc] = 0;
}

void hbm_blame_refresh(const ts_hbm *hbm, hbm_channel *ch, int bank, int32_t t, int32_t ticks) {
    int pc = bank >> hbm->spec->pc_shift;
    int32_t end = t;
    if (hbm->is_done) return;
    bool idle = ch->queue[0].count + ch->queue[1].count + ch->active_count == 0;
    if (idle) charge(ch, pc, TS_HBM_LIMITER_REFRESH, ch->refresh_at - hbm->refresh_ticks, &end);
    charge(ch, pc, idle ? TS_HBM_LIMITER_REQUESTS : TS_HBM_LIMITER_REFRESH, ch->bus_until[pc], &end);
    ch->bus_until[pc] = max32(ch->bus_until[pc], t);
    ch->refresh_until[pc] = t + ticks;
}

void hbm_blame_rest(const ts_hbm *hbm, const hbm_channel *ch, int32_t end, int64_t *cycles) {
    for (int pc = 0; pc < hbm->spec->pcs; pc++) {
        int32_t from = ch->bus_until[pc], until = min32(ch->refresh_until[pc], end);
        cycles[TS_HBM_LIMITER_REFRESH] += until > from ? until - from : 0;
        from = max32(from, until);
        until = ch->last_direction[pc] == DRAM_READ
                    ? min32(end, ch->bus_until[pc] + hbm->read_latency - hbm->burst_ticks)
                    : from;
        cycles[TS_HBM_LIMITER_LATENCY] += until > from ? until - from : 0;
        from = max32(from, until);
        cycles[TS_HBM_LIMITER_IDLE] += (end > from ? end - from : 0) + ch->passed[pc];
        cycles[TS_HBM_LIMITER_DATA] -= from > end ? from - end : 0;
    }
}
