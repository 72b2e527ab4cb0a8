/* The state of one DRAM channel: the last commands, and the earliest cycle of a command by the rules. */
#include "dram/dram.h"

#include "dram_state.h"

static int bit_number(int command) { return __builtin_ctz((unsigned)command); }

static void fill(int32_t *values, int count, int32_t value) {
    for (int i = 0; i < count; i++) values[i] = value;
}

void dram_clear(ts_dram *d, const dram_spec *spec) {
    d->spec = spec;
    fill(d->column_time[0], 2 * DRAM_MAX_GROUPS, 0);
    fill(d->opened_time[0], 2 * DRAM_MAX_BANKS, 0);
    fill(d->act_time, DRAM_MAX_BANKS, 0);
    fill(d->row_time, DRAM_MAX_BANKS, spec->odd);
    fill(d->open_row, DRAM_MAX_BANKS, DRAM_CLOSED);
    fill(d->bank_note[0], TS_DRAM_COMMANDS * DRAM_MAX_BANKS, DRAM_NEVER);
    fill(d->group_note[0], DRAM_MAX_GROUPS * 3, DRAM_NEVER);
    fill(d->pc_note[0], DRAM_MAX_PCS * TS_DRAM_COMMANDS, DRAM_NEVER);
    fill(d->acts[0], DRAM_MAX_PCS * DRAM_WINDOW, DRAM_NEVER);
    fill(d->act_at, DRAM_MAX_PCS, 0);
    fill(d->open_banks, DRAM_MAX_PCS, 0);
    for (int pc = 0; pc < DRAM_MAX_PCS; pc++) d->open_cycles[pc] = 0;
}

static void shift_down(int32_t *values, int count, int32_t shift) {
    for (int i = 0; i < count; i++)
        values[i] = values[i] < DRAM_NEVER + shift ? DRAM_NEVER : values[i] - shift;
}

void dram_rebase(ts_dram *d, int32_t shift) {
    shift_down(d->column_time[0], 2 * DRAM_MAX_GROUPS, shift);
    shift_down(d->opened_time[0], 2 * DRAM_MAX_BANKS, shift);
    shift_down(d->act_time, DRAM_MAX_BANKS, shift);
    shift_down(d->row_time, DRAM_MAX_BANKS, shift);
    shift_down(d->bank_note[0], TS_DRAM_COMMANDS * DRAM_MAX_BANKS, shift);
    shift_down(d->group_note[0], DRAM_MAX_GROUPS * 3, shift);
    shift_down(d->pc_note[0], DRAM_MAX_PCS * TS_DRAM_COMMANDS, shift);
    shift_down(d->acts[0], DRAM_MAX_PCS * DRAM_WINDOW, shift);
    for (int pc = 0; pc < DRAM_MAX_PCS; pc++) d->open_cycles[pc] += d->open_banks[pc] > 0 ? shift : 0;
}

static int banks_of_level(const dram_spec *s, ts_dram_level level) {
    switch (level) {
    case TS_DRAM_CHANNEL:
        return s->banks;
    case TS_DRAM_PC:
    case TS_DRAM_OTHER_SID:
        return s->banks_of_pc;
    case TS_DRAM_SID:
        return s->banks_of_sid;
    case TS_DRAM_GROUP:
        return s->banks_of_group;
    default:
        return 1;
    }
}

/* The last command in a node that is noted several times. */
int32_t dram_latest_of_many(const ts_dram *d, const dram_wait *w, int bank) {
    const dram_spec *s = d->spec;
    int count = banks_of_level(s, w->rule->level), first = bank & -count;
    int step = w->notes == DRAM_NOTES_OF_PCS      ? s->banks_of_pc
               : w->notes == DRAM_NOTES_OF_GROUPS ? s->banks_of_group
                                                  : 1;
    int32_t last = DRAM_NEVER;
    for (int b = first; b < first + count; b += step) {
        if (w->rule->level == TS_DRAM_OTHER_SID && dram_relate(s, b, bank) < DRAM_SAME_PC) continue;
        raise_to(&last, w->notes == DRAM_NOTES_OF_PCS      ? d->pc_note[b >> s->pc_shift][w->after]
                        : w->notes == DRAM_NOTES_OF_GROUPS ? d->group_note[w->after][b >> s->group_shift]
                                                           : d->bank_note[w->after][b]);
    }
    return last;
}

ts_dram_limit dram_earliest(const ts_dram *d, ts_dram_command command, int bank) {
    ts_dram_limit limit = {0, NULL, 0};
    int bit = bit_number((int)command);
    for (int i = 0; i < d->spec->wait_count[bit]; i++) {
        const dram_wait *w = &d->spec->waits[bit][i];
        int32_t last = dram_latest(d, w, bank), at = last + w->ticks;
        if (last != DRAM_NEVER && at > limit.cycle) limit = (ts_dram_limit){at, w->rule, last};
    }
    return limit;
}

void dram_hold_acts(ts_dram *d, int command, int bank, int32_t t) {
    const dram_spec *s = d->spec;
    const int32_t *ticks = s->to_act[command];
    bool all = ticks[DRAM_SAME_CHANNEL] != DRAM_NEVER;
    int first = all ? 0 : bank & -s->banks_of_pc, count = all ? s->banks : s->banks_of_pc;
    for (int b = first; b < first + count; b++) {
        raise_to(&d->act_time[b], t + ticks[dram_relate(s, b, bank)]);
        if (d->open_row[b] == DRAM_CLOSED) d->row_time[b] = d->act_time[b] | s->odd;
    }
}

static void rare_column(ts_dram *d, int command, int bank, int32_t t) {
    int direction = command == DRAM_WRA;
    int32_t last = d->bank_note[direction][bank];
    dram_column(d, direction, bank, bank >> d->spec->group_shift, t, d->spec->groups);
    d->bank_note[direction][bank] = last; /* a PRE does not wait for a row that closes itself */
    raise_to(&d->act_time[bank], t + d->spec->to_act[command][DRAM_SAME_BANK]);
    dram_close(d, bank, t, d->spec->banks_of_pc);
    if (d->spec->is_wide[command]) dram_hold_acts(d, command, bank, t);
}

void dram_rare(ts_dram *d, ts_dram_command command, int bank, int32_t t) {
    const dram_spec *s = d->spec;
    int pc = bank >> s->pc_shift, bit = bit_number((int)command);
    if (command == TS_DRAM_PREA) {
        fill(d->open_row + (pc << s->pc_shift), s->banks_of_pc, DRAM_CLOSED);
        if (d->open_banks[pc] > 0) d->open_cycles[pc] += t;
        d->open_banks[pc] = 0;
    }
    if (command == TS_DRAM_RDA || command == TS_DRAM_WRA)
        rare_column(d, bit, bank, t);
    else
        dram_hold_acts(d, bit, bank, t);
    d->bank_note[bit][bank] = d->pc_note[pc][bit] = t;
}
