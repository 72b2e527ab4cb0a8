/* DRAM timing: the rules as a table, the earliest cycle from the table, and the deltas made of it. */
#include "dram/dram.h"

#include <assert.h>
#include <string.h>

#include "dram_state.h"

typedef struct {
    ts_dram_level level;
    int after, before, window;
    const char *name;
} rule_row;

enum {
    RD = TS_DRAM_RD,
    WR = TS_DRAM_WR,
    ACT = TS_DRAM_ACT,
    PRE = TS_DRAM_PRE,
    RDA = TS_DRAM_RDA,
    WRA = TS_DRAM_WRA,
    PREA = TS_DRAM_PREA,
    REFA = TS_DRAM_REFA,
    REFB = TS_DRAM_REFB,
};

static void add_rule(dram_spec *s, ts_dram_rule rule) {
    if (rule.cycles > 0) s->rules[s->rule_count++] = rule;
}

static void fill_rules(dram_spec *s, const ts_hbm_config *c) {
    const ts_hbm_timing *t = &c->timing;
#define RULE(name, level, after, before, cycles, window)                                                     \
    add_rule(s, (ts_dram_rule){name, TS_DRAM_##level, after, before, cycles, window, false});
#define BUS_RULE(name, after, before, ticks)                                                                 \
    add_rule(s, (ts_dram_rule){name, TS_DRAM_CHANNEL, after, before, ticks, 1, true});
#include "dram_rules.def"
#undef RULE
#undef BUS_RULE
}

static int count_rules(void) {
    int count = 0;
#define RULE(name, level, after, before, cycles, window) count++;
#define BUS_RULE(name, after, before, ticks)             count++;
#include "dram_rules.def"
#undef RULE
#undef BUS_RULE
    return count;
}

static int bit_number(int command) { return __builtin_ctz((unsigned)command); }

static int32_t rule_ticks(const dram_spec *s, const ts_dram_rule *rule, int after, int before) {
    if (rule->is_bus) return rule->cycles;
    return rule->cycles * s->ticks_per_ck + s->length[bit_number(after)] - s->length[bit_number(before)];
}

/* The longest time from `after` to `before` that rules of window 1 at exactly this level ask for. */
static int32_t delta_at(const dram_spec *s, ts_dram_level level, int after, int before) {
    int32_t most = DRAM_NEVER;
    for (int i = 0; i < s->rule_count; i++) {
        const ts_dram_rule *r = &s->rules[i];
        if (r->level == level && r->window == 1 && (r->after & after) && (r->before & before) && !r->is_bus)
            raise_to(&most, rule_ticks(s, r, after, before));
    }
    return most;
}

/* The longest time from `after` in one group to `before` in another (both of the channel), by the rules of
 * every level but the bank's. */
static int32_t group_delta(const dram_spec *s, int from, int to, int after, int before) {
    int groups_of_sid = s->banks_of_sid / s->banks_of_group;
    int32_t delta;
    if (from / s->groups_of_pc != to / s->groups_of_pc) return DRAM_NEVER;
    delta = max32(delta_at(s, TS_DRAM_PC, after, before),
                  delta_at(s, from / groups_of_sid == to / groups_of_sid ? TS_DRAM_SID : TS_DRAM_OTHER_SID,
                           after, before));
    return from == to ? max32(delta, delta_at(s, TS_DRAM_GROUP, after, before)) : delta;
}

static void fill_deltas(dram_spec *s, ts_arena *arena) {
    static const int column[2] = {RD, WR};
    int lanes = lanes_of(s->groups);
    for (int i = 0; i < 2; i++) {
        s->column[i] = TS_NEW_ARRAY(arena, int32_t, s->groups * 2 * lanes);
        for (int at = 0; at < s->groups * 2 * lanes; at++) {
            s->column[i][at] = DRAM_NEVER;
            if (at % lanes < s->groups)
                s->column[i][at] =
                    group_delta(s, at / lanes / 2, at % lanes, column[i], column[at / lanes % 2]);
        }
    }
    s->act = TS_NEW_ARRAY(arena, int32_t, s->groups_of_pc * s->banks_of_pc);
    for (int at = 0; at < s->groups_of_pc * s->banks_of_pc; at++)
        s->act[at] = group_delta(s, at / s->banks_of_pc, at % s->banks_of_pc / s->banks_of_group, ACT, ACT);
}

static int32_t window_delta(const dram_spec *s) {
    int32_t most = DRAM_NEVER;
    for (int i = 0; i < s->rule_count; i++) {
        const ts_dram_rule *r = &s->rules[i];
        if (r->window == 1) continue;
        assert(r->window == DRAM_WINDOW && r->level == TS_DRAM_PC && r->after == ACT && r->before == ACT);
        raise_to(&most, rule_ticks(s, r, ACT, ACT));
    }
    return most;
}

static void fill_scalars(dram_spec *s) {
    static const int column[2] = {RD, WR}, column_a[2] = {RDA, WRA};
    s->act_to_act = delta_at(s, TS_DRAM_BANK, ACT, ACT);
    s->faw = window_delta(s);
    s->act_to_pre = delta_at(s, TS_DRAM_BANK, ACT, PRE);
    s->pre_to_act = delta_at(s, TS_DRAM_BANK, PRE, ACT);
    s->pre_to_pre = delta_at(s, TS_DRAM_PC, PRE, PRE);
    s->prea_to_act = delta_at(s, TS_DRAM_PC, PREA, ACT);
    s->refa_to_act = delta_at(s, TS_DRAM_PC, REFA, ACT);
    s->refb_to_act = delta_at(s, TS_DRAM_BANK, REFB, ACT);
    s->refb_to_act_pc = delta_at(s, TS_DRAM_PC, REFB, ACT);
    for (int i = 0; i < 2; i++) {
        s->act_to_column[i] = delta_at(s, TS_DRAM_BANK, ACT, column[i]);
        s->column_to_pre[i] = delta_at(s, TS_DRAM_BANK, column[i], PRE);
        s->column_a_to_act[i] = delta_at(s, TS_DRAM_BANK, column_a[i], ACT);
    }
}

dram_spec *dram_spec_new(ts_arena *arena, const ts_hbm_config *c) {
    dram_spec *s = TS_NEW(arena, dram_spec);
    s->rules = TS_NEW_ARRAY(arena, ts_dram_rule, count_rules());
    fill_rules(s, c);
    s->ticks_per_ck = c->ticks_per_ck;
    s->odd = c->ticks_per_ck == 2;
    for (int bit = 0; bit < TS_DRAM_COMMANDS; bit++) {
        int command = 1 << bit;
        s->length[bit] = command == ACT                    ? c->act_ticks
                         : command & (RD | RDA | WR | WRA) ? c->column_ticks
                                                           : c->row_ticks;
    }
    s->pcs = c->pseudo_channels;
    s->banks_of_group = c->banks;
    s->banks_of_sid = c->banks * c->bank_groups;
    s->banks_of_pc = s->banks_of_sid * c->sids;
    s->groups_of_pc = c->bank_groups * c->sids;
    s->groups = s->groups_of_pc * s->pcs;
    s->group_shift = bit_number(c->banks);
    s->pc_shift = bit_number(s->banks_of_pc);
    s->banks = s->banks_of_pc * c->pseudo_channels;
    assert(s->banks <= DRAM_MAX_BANKS && s->pcs <= DRAM_MAX_PCS);
    fill_deltas(s, arena);
    fill_scalars(s);
    return s;
}

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
    fill(d->bank_note[0], DRAM_MAX_BANKS * DRAM_NOTES, DRAM_NEVER);
    fill(d->group_note[0], DRAM_MAX_GROUPS * 2, DRAM_NEVER);
    fill(d->pc_note[0], DRAM_MAX_PCS * DRAM_NOTES, DRAM_NEVER);
    fill(d->acts[0], DRAM_MAX_PCS * DRAM_WINDOW, DRAM_NEVER);
    fill(d->act_at, DRAM_MAX_PCS, 0);
    fill(d->open_banks, DRAM_MAX_PCS, 0);
    d->last_column = DRAM_NEVER;
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
    shift_down(d->bank_note[0], DRAM_MAX_BANKS * DRAM_NOTES, shift);
    shift_down(d->group_note[0], DRAM_MAX_GROUPS * 2, shift);
    shift_down(d->pc_note[0], DRAM_MAX_PCS * DRAM_NOTES, shift);
    shift_down(d->acts[0], DRAM_MAX_PCS * DRAM_WINDOW, shift);
    shift_down(&d->last_column, 1, shift);
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

/* The last command of one bit in the node that a rule looks at; DRAM_NEVER. */
static int32_t last_at(const ts_dram *d, const ts_dram_rule *rule, int bit, int bank) {
    const dram_spec *s = d->spec;
    int count = banks_of_level(s, rule->level), first = bank / count * count, pc = bank / s->banks_of_pc;
    bool is_row = bit == DRAM_ACT || bit == DRAM_PRE || 1 << bit >= TS_DRAM_PREA;
    int step = is_row && count >= s->banks_of_pc ? s->banks_of_pc : 1;
    int32_t last = DRAM_NEVER;
    if (rule->window == DRAM_WINDOW) return d->acts[pc][d->act_at[pc]];
    for (int b = first; b < first + count; b += step) {
        if (rule->level == TS_DRAM_OTHER_SID && b / s->banks_of_sid == bank / s->banks_of_sid) continue;
        raise_to(&last, step == 1 ? d->bank_note[b][bit] : d->pc_note[b / s->banks_of_pc][bit]);
    }
    return last;
}

ts_dram_limit dram_earliest(const ts_dram *d, ts_dram_command command, int bank) {
    ts_dram_limit limit = {0, NULL, 0};
    for (int i = 0; i < d->spec->rule_count; i++) {
        const ts_dram_rule *rule = &d->spec->rules[i];
        for (int after = rule->before & (int)command ? rule->after : 0; after != 0; after &= after - 1) {
            int bit = bit_number(after);
            int32_t last = last_at(d, rule, bit, bank),
                    at = last + rule_ticks(d->spec, rule, 1 << bit, (int)command);
            if (last != DRAM_NEVER && (at > limit.cycle)) limit = (ts_dram_limit){at, rule, last};
        }
    }
    return limit;
}

/* No bank of the pseudo channel is opened before. */
static void raise_closed(ts_dram *d, int first, int count, int32_t least) {
    for (int bank = first; bank < first + count; bank++) {
        raise_to(&d->act_time[bank], least);
        if (d->open_row[bank] == DRAM_CLOSED) d->row_time[bank] = d->act_time[bank] | d->spec->odd;
    }
}

void dram_rare(ts_dram *d, ts_dram_command command, int bank, int32_t t) {
    const dram_spec *s = d->spec;
    int pc = bank / s->banks_of_pc, first = pc * s->banks_of_pc, count = s->banks_of_pc;
    if (command == TS_DRAM_RDA || command == TS_DRAM_WRA) {
        int direction = command == TS_DRAM_WRA;
        int32_t last = d->bank_note[bank][direction];
        dram_column(d, direction, bank, bank >> s->group_shift, t, s->groups);
        d->bank_note[bank][direction] = last; /* a PRE does not wait for a row that closes itself */
        raise_to(&d->act_time[bank], t + s->column_a_to_act[direction]);
        dram_close(d, bank, count);
    } else if (command == TS_DRAM_PREA) {
        fill(d->open_row + first, count, DRAM_CLOSED);
        raise_closed(d, first, count, t + s->prea_to_act);
        d->open_banks[pc] = 0;
    } else if (command == TS_DRAM_REFA) {
        raise_closed(d, first, count, t + s->refa_to_act);
    } else {
        raise_to(&d->act_time[bank], t + s->refb_to_act);
        raise_closed(d, first, count, t + s->refb_to_act_pc);
    }
    d->bank_note[bank][bit_number((int)command)] = d->pc_note[pc][bit_number((int)command)] = t;
}

/* ---- The public face: one channel, cycles from 0. ---- */

ts_dram *ts_dram_new(ts_arena *arena, const ts_hbm_config *config) {
    ts_dram *dram = TS_NEW(arena, ts_dram);
    dram_clear(dram, dram_spec_new(arena, config));
    return dram;
}
void ts_dram_reset(ts_dram *dram) { dram_clear(dram, dram->spec); }
ts_dram_limit ts_dram_earliest(const ts_dram *dram, ts_dram_command command, int bank) {
    return dram_earliest(dram, command, bank);
}

void ts_dram_issue(ts_dram *dram, ts_dram_command command, int bank, int64_t cycle) {
    int32_t t = (int32_t)cycle;
    int count = dram->spec->banks_of_pc;
    assert(cycle >= 0 && cycle < INT32_MAX / 4);
    switch (command) {
    case TS_DRAM_RD:
    case TS_DRAM_WR:
        dram_column(dram, command == TS_DRAM_WR, bank, bank >> dram->spec->group_shift, t,
                    dram->spec->groups);
        break;
    case TS_DRAM_ACT:
        dram_act(dram, bank, 0, t, count);
        break;
    case TS_DRAM_PRE:
        dram_pre(dram, bank, t, count);
        break;
    default:
        dram_rare(dram, command, bank, t);
        break;
    }
}
