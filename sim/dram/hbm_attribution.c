/* Stall attribution: every cycle of a pseudo channel is charged once, to data or to what held back the next
 * column command. That is the rule of the table that forbids the command one slot before it was issued. When
 * the rule counts from the bank's own ACT, the time before that ACT is charged to what held the ACT back, and
 * so on for its PRE. */
#include "hbm_channel.h"

/* Charges [from, *end) and moves *end down to it, never below bus_until. */
static void charge(hbm_channel *ch, int pc, int limiter, int32_t from, int32_t *end) {
    from = min32(max32(from, ch->bus_until[pc]), *end);
    ch->stats.limiter_cycles[limiter] += *end - from;
    *end = from;
}

/* ---- The first rule that forbids a command (by bit number) to start at `t`. ---- */

static const dram_wait *first_of(const dram_spec *s, int command, uint32_t waits) {
    return waits ? &s->waits[command][__builtin_ctz(waits)] : NULL;
}

/* All are looked at: a branch guessed wrong takes longer. */
static inline const dram_wait *rule_of_bank(const ts_dram *d, int command, int bank, int32_t t) {
    const dram_wait *waits = d->spec->waits[command];
    uint32_t over = 0;
    for (int i = 0; i < d->spec->own_count[command]; i++)
        over |= (uint32_t)(d->bank_note[waits[i].after][bank] + waits[i].ticks > t) << i;
    return first_of(d->spec, command, over);
}

static inline const dram_wait *rule_of_banks(const ts_dram *d, int command, int bank, int32_t t) {
    const dram_wait *waits = d->spec->waits[command];
    uint32_t over = 0;
    for (int i = d->spec->own_count[command]; i < d->spec->bus_first[command]; i++)
        over |= (uint32_t)(dram_latest(d, &waits[i], bank) + waits[i].ticks > t) << i;
    return first_of(d->spec, command, over);
}

/* Rules as bits by 8 groups that RD, WR came from; written for the compiler to do 4 groups at a time. */
static inline int32_t bits_over(const ts_dram *d, int direction, int at, int g, int32_t t) {
    const dram_spec *s = d->spec;
    const int32_t *reads = d->group_note[DRAM_READ] + g, *writes = d->group_note[DRAM_WRITE] + g;
    const int32_t *ticks = s->column_from[direction] + at, *bits = s->column_wait[direction] + at;
    int32_t over = 0;
    for (int i = 0; i < 8; i++)
        over |= (bits[i] & -(reads[i] + ticks[i] > t)) | (bits[i + 8] & -(writes[i] + ticks[i + 8] > t));
    return over;
}

static inline const dram_wait *rule_of_columns(const ts_dram *d, int direction, int group, int32_t t) {
    int lanes = lanes_of(d->spec->groups), at = 2 * group * lanes;
    int32_t over = 0;
    for (int g = 0; g < lanes; g += 8) over |= bits_over(d, direction, at + 2 * g, g, t);
    return first_of(d->spec, direction, (uint32_t)over);
}

/* ---- What held a command back: a rule of its bank, else its request's arrival, else another rule. ---- */

enum { NOTHING_OF_THE_BANK = UINT8_MAX };

static hbm_cause other_cause(int limiter) { return (hbm_cause){(uint8_t)limiter, NOTHING_OF_THE_BANK}; }

static hbm_cause rule_cause(const dram_wait *w) {
    assert(w); /* what the controller keeps comes from the same rules */
    return other_cause((int)w->rule->limiter);
}

/* `t`: when it was not issued yet; `ready`: when the rules for more than a bus let it start. */
static hbm_cause row_cause(const hbm_channel *ch, int command, int bank, int32_t arrival, int32_t t,
                           int32_t ready) {
    const ts_dram *d = &ch->dram;
    const dram_wait *own = ready > t ? rule_of_bank(d, command, bank, t) : NULL;
    if (own) return (hbm_cause){(uint8_t)own->rule->limiter, own->after};
    if (arrival >= t) return other_cause(TS_HBM_LIMITER_REQUESTS);
    if (ready > t) return rule_cause(rule_of_banks(d, command, bank, t));
    return other_cause(ch->row_bus_free > t ? (int)d->spec->bus_limiter[ch->row_bus_command]
                                            : TS_HBM_LIMITER_SCHEDULING);
}

hbm_cause hbm_act_cause(const hbm_channel *ch, int bank, int32_t arrival, int32_t t) {
    const ts_dram *d = &ch->dram;
    return row_cause(ch, DRAM_ACT, bank, arrival, t - d->spec->ticks_per_ck, d->act_time[bank]);
}

hbm_cause hbm_pre_cause(const hbm_channel *ch, int bank, int32_t arrival, int32_t t) {
    return row_cause(ch, DRAM_PRE, bank, arrival, t - 1, ch->dram.row_time[bank]);
}

static hbm_cause column_cause(const ts_dram *d, int direction, int bank, int32_t arrival, int32_t t) {
    int group = bank >> d->spec->group_shift;
    t -= d->spec->ticks_per_ck;
    const dram_wait *own = d->opened_time[direction][bank] > t ? rule_of_bank(d, direction, bank, t) : NULL;
    if (own) return (hbm_cause){(uint8_t)own->rule->limiter, own->after};
    if (arrival >= t) return other_cause(TS_HBM_LIMITER_REQUESTS);
    if (d->column_time[direction][group] > t) return rule_cause(rule_of_columns(d, direction, group, t));
    return other_cause(TS_HBM_LIMITER_SCHEDULING);
}

/* Charges idle time first, then the rest of a refresh. */
static void charge_refresh(hbm_channel *ch, int pc, int32_t t) {
    int32_t until = min32(ch->refresh_until[pc], t);
    if (until <= ch->bus_until[pc]) return;
    charge(ch, pc, TS_HBM_LIMITER_REFRESH, ch->refresh_from[pc], &until);
    charge(ch, pc, TS_HBM_LIMITER_REQUESTS, ch->bus_until[pc], &until);
    ch->bus_until[pc] = min32(ch->refresh_until[pc], t);
}

void hbm_attribute_column(const ts_hbm *hbm, hbm_channel *ch, const hbm_column *column, int32_t t) {
    const ts_dram *d = &ch->dram;
    int direction = column->direction, bank = column->bank;
    int pc = bank >> hbm->spec->pc_shift;
    uint8_t *last = &ch->last_direction[pc];
    int32_t end = t;
    charge_refresh(ch, pc, t);
    ch->stats.read_to_write += *last == DRAM_READ && direction == DRAM_WRITE;
    ch->stats.write_to_read += *last == DRAM_WRITE && direction == DRAM_READ;
    *last = (uint8_t)direction;
    hbm_cause cause = column_cause(d, direction, bank, column->arrival, t);
    if (cause.after == DRAM_ACT && column->is_active) {
        charge(ch, pc, cause.limiter, d->bank_note[DRAM_ACT][bank], &end);
        cause = ch->act_cause[bank];
        if (cause.after == DRAM_PRE) {
            charge(ch, pc, cause.limiter, d->bank_note[DRAM_PRE][bank], &end);
            cause = ch->pre_cause[bank];
        }
    }
    charge(ch, pc, cause.limiter, column->arrival, &end);
    charge(ch, pc, TS_HBM_LIMITER_REQUESTS, ch->bus_until[pc], &end);
    ch->stats.limiter_cycles[TS_HBM_LIMITER_REQUESTS] += ch->passed[pc];
    ch->passed[pc] = 0;
}

void hbm_attribute_refresh(const ts_hbm *hbm, hbm_channel *ch, int bank, int32_t t, int32_t ticks,
                           bool waits) {
    int pc = bank >> hbm->spec->pc_shift;
    int32_t end = t;
    if (waits) {
        charge_refresh(ch, pc, t);
        charge(ch, pc, TS_HBM_LIMITER_REFRESH, ch->bus_until[pc], &end);
        ch->bus_until[pc] = max32(ch->bus_until[pc], t);
    }
    ch->nobody_waits[pc] = !waits;
    ch->refresh_from[pc] = min32(ch->refresh_at - hbm->refresh_ticks, t); /* with what it closes first */
    ch->refresh_until[pc] = t + ticks;
}

void hbm_attribution_rebase(const ts_hbm *hbm, hbm_channel *ch, int32_t shift) {
    for (int pc = 0; pc < hbm->spec->pcs; pc++) {
        int32_t until = ch->bus_until[pc] - shift, least = -hbm->read_latency;
        ch->passed[pc] += until < least ? least - until : 0;
        ch->bus_until[pc] = max32(until, least);
        ch->refresh_from[pc] = max32(ch->refresh_from[pc] - shift, DRAM_NEVER);
        ch->refresh_until[pc] = max32(ch->refresh_until[pc] - shift, DRAM_NEVER);
    }
}

void hbm_attribute_rest(const ts_hbm *hbm, const hbm_channel *ch, int32_t end, int64_t *cycles) {
    for (int pc = 0; pc < hbm->spec->pcs; pc++) {
        int32_t from = ch->bus_until[pc],
                until = ch->nobody_waits[pc] ? from : min32(ch->refresh_until[pc], end);
        cycles[TS_HBM_LIMITER_REFRESH] += until > from ? until - from : 0;
        from = max32(from, until);
        until = ch->last_direction[pc] == DRAM_READ
                    ? min32(end, ch->bus_until[pc] + hbm->read_latency - hbm->burst_ticks)
                    : from;
        cycles[TS_HBM_LIMITER_LATENCY] += until > from ? until - from : 0;
        from = max32(from, until);
        /* Simulated past the end: the last burst is on the pins, or what waits is refreshed first. */
        int64_t left = (int64_t)end - from + ch->passed[pc];
        cycles[left >= 0                   ? TS_HBM_LIMITER_IDLE
               : left >= -hbm->burst_ticks ? TS_HBM_LIMITER_DATA
                                           : TS_HBM_LIMITER_REFRESH] += left;
    }
}
