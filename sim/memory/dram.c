/* DRAM timing: the rules as a table, the earliest cycle from the table, and the deltas made of it. */
#include "tilesim/memory/dram.h"

#include <assert.h>
#include <string.h>

#include "dram_state.h"

typedef struct {
    ts_dram_level level;
    int after, before, window;
    const char *name;
} rule_row;

enum {
    RD = TS_DRAM_RD, WR = TS_DRAM_WR, ACT = TS_DRAM_ACT, PRE = TS_DRAM_PRE, RDA = TS_DRAM_RDA, WRA = TS_DRAM_WRA,
    PREA = TS_DRAM_PREA, REFA = TS_DRAM_REFA, REFB = TS_DRAM_REFB,
};

static void add_rule(dram_spec *s, ts_dram_rule rule) {
    if (rule.cycles > 0)
        s->rules[s->rule_count++] = rule;
}

static void fill_rules(dram_spec *s, const ts_hbm_config *c) {
    const ts_hbm_timing *t = &c->timing;
#define RULE(name, level, after, before, cycles, window) \
    add_rule(s, (ts_dram_rule){name, TS_DRAM_##level, after, before, cycles, window, false});
#define BUS_RULE(name, after, before, ticks) \
    add_rule(s, (ts_dram_rule){name, TS_DRAM_CHANNEL, after, before, ticks, 1, true});
#include "dram_rules.def"
#undef RULE
#undef BUS_RULE
}

static int count_rules(void) {
    int count = 0;
#define RULE(name, level, after, before, cycles, window) count++;
#define BUS_RULE(name, after, before, ticks) count++;
#include "dram_rules.def"
#undef RULE
#undef BUS_RULE
    return count;
}

static int bit_number(int command) { return __builtin_ctz((unsigned)command); }

static int32_t rule_ticks(const dram_spec *s, const ts_dram_rule *rule, int after, int before) {
    if (rule->is_bus)
        return rule->cycles;
    return rule->cycles * s->ticks_per_ck + s->length[bit_number(after)] - s->length[bit_number(before)];
}

/* The longest time from `after` to `before` that rules of window 1 at exactly this level ask for. */
static int32_t delta_at(const dram_spec *s, ts_dram_level level, int after, int before) {
    int32_t most = DRAM_NEVER;
    for (int i = 0; i < s->rule_count; i++) {
        const ts_dram_rule *r = &s->rules[i];
        if (r->level == level && r->window == 1 && (r->after & after) && (r->before & before) && !r->is_bus)
            dram_raise(&most, rule_ticks(s, r, after, before));
    }
    return most;
}

/* The same between two banks of one pseudo channel, the first known by its group; rules of one bank apart. */
static void fill_deltas(const dram_spec *s, int32_t *out, int after, int before) {
    int32_t pc = delta_at(s, TS_DRAM_PC, after, before), sid = delta_at(s, TS_DRAM_SID, after, before);
    int32_t other = delta_at(s, TS_DRAM_OTHER_SID, after, before), group = delta_at(s, TS_DRAM_GROUP, after, before);
    for (int g = 0; g < s->groups_of_pc; g++) {
        for (int bank = 0; bank < s->banks_of_pc; bank++) {
            bool same_sid = g * s->banks_of_group / s->banks_of_sid == bank / s->banks_of_sid;
            int32_t delta = dram_max(pc, same_sid ? sid : other);
            out[g * s->banks_of_pc + bank] = g == bank / s->banks_of_group ? dram_max(delta, group) : delta;
        }
    }
}

static int32_t window_delta(const dram_spec *s) {
    int32_t most = DRAM_NEVER;
    for (int i = 0; i < s->rule_count; i++) {
        const ts_dram_rule *r = &s->rules[i];
        if (r->window == 1)
            continue;
        assert(r->window == DRAM_WINDOW && r->level == TS_DRAM_PC && r->after == ACT && r->before == ACT);
        dram_raise(&most, rule_ticks(s, r, ACT, ACT));
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
    static const int column[2] = {RD, WR};
    dram_spec *s = TS_NEW(arena, dram_spec);
    s->rules = TS_NEW_ARRAY(arena, ts_dram_rule, count_rules());
    fill_rules(s, c);
    s->ticks_per_ck = c->ticks_per_ck;
    for (int bit = 0; bit < TS_DRAM_COMMANDS; bit++) {
        int command = 1 << bit;
        s->length[bit] = command == ACT ? c->act_ticks : command & (RD | RDA | WR | WRA) ? c->column_ticks
                                                                                          : c->row_ticks;
    }
    s->pcs = c->pseudo_channels;
    s->banks_of_group = c->banks;
    s->banks_of_sid = c->banks * c->bank_groups;
    s->banks_of_pc = s->banks_of_sid * c->sids;
    s->groups_of_pc = c->bank_groups * c->sids;
    s->banks = s->banks_of_pc * c->pseudo_channels;
    assert(s->banks <= DRAM_MAX_BANKS && s->pcs <= DRAM_MAX_PCS);
    for (int i = 0; i < 4; i++) {
        s->column[i / 2][i % 2] = TS_NEW_ARRAY(arena, int32_t, s->groups_of_pc * s->banks_of_pc);
        fill_deltas(s, s->column[i / 2][i % 2], column[i / 2], column[i % 2]);
    }
    s->act = TS_NEW_ARRAY(arena, int32_t, s->groups_of_pc * s->banks_of_pc);
    fill_deltas(s, s->act, ACT, ACT);
    fill_scalars(s);
    return s;
}

static int nodes_of(const dram_spec *s, int level) {
    switch (level) {
    case TS_DRAM_CHANNEL: return 1;
    case TS_DRAM_PC: return s->pcs;
    case TS_DRAM_SID: return s->banks / s->banks_of_sid;
    case TS_DRAM_GROUP: return s->banks / s->banks_of_group;
    case TS_DRAM_BANK: return s->banks;
    default: return 0;
    }
}

static int node_of(const dram_spec *s, int level, int bank) {
    switch (level) {
    case TS_DRAM_PC: return bank / s->banks_of_pc;
    case TS_DRAM_SID: return bank / s->banks_of_sid;
    case TS_DRAM_GROUP: return bank / s->banks_of_group;
    case TS_DRAM_BANK: return bank;
    default: return 0;
    }
}

void dram_init(ts_dram *d, ts_arena *arena, const dram_spec *spec) {
    d->spec = spec;
    for (int i = 0; i < DRAM_TIMES; i++)
        d->time[i] = TS_NEW_ARRAY(arena, int32_t, spec->banks);
    d->open_row = TS_NEW_ARRAY(arena, int32_t, spec->banks);
    for (int level = 0; level < 6; level++)
        d->last[level] = TS_NEW_ARRAY(arena, int32_t, nodes_of(spec, level) * TS_DRAM_COMMANDS);
    dram_clear(d);
}

void dram_clear(ts_dram *d) {
    for (int bank = 0; bank < d->spec->banks; bank++) {
        for (int i = 0; i < DRAM_TIMES; i++)
            d->time[i][bank] = 0;
        d->open_row[bank] = DRAM_CLOSED;
    }
    for (int level = 0; level < 6; level++) {
        for (int i = 0; i < nodes_of(d->spec, level) * TS_DRAM_COMMANDS; i++)
            d->last[level][i] = DRAM_NEVER;
    }
    for (int pc = 0; pc < DRAM_MAX_PCS; pc++) {
        for (int i = 0; i < DRAM_WINDOW; i++)
            d->acts[pc][i] = DRAM_NEVER;
        d->act_at[pc] = d->open_banks[pc] = 0;
    }
}

static void shift_down(int32_t *values, int count, int32_t shift) {
    for (int i = 0; i < count; i++)
        values[i] = values[i] < DRAM_NEVER + shift ? DRAM_NEVER : values[i] - shift;
}

void dram_rebase(ts_dram *d, int32_t shift) {
    for (int i = 0; i < DRAM_TIMES; i++)
        shift_down(d->time[i], d->spec->banks, shift);
    for (int level = 0; level < 6; level++)
        shift_down(d->last[level], nodes_of(d->spec, level) * TS_DRAM_COMMANDS, shift);
    for (int pc = 0; pc < DRAM_MAX_PCS; pc++)
        shift_down(d->acts[pc], DRAM_WINDOW, shift);
}

/* The last command of one bit in the node that a rule looks at; DRAM_NEVER. */
static int32_t last_at(const ts_dram *d, const ts_dram_rule *rule, int bit, int bank) {
    const dram_spec *s = d->spec;
    int32_t last = DRAM_NEVER;
    if (rule->window == DRAM_WINDOW)
        return d->acts[bank / s->banks_of_pc][d->act_at[bank / s->banks_of_pc]];
    if (rule->level != TS_DRAM_OTHER_SID)
        return d->last[rule->level][node_of(s, (int)rule->level, bank) * TS_DRAM_COMMANDS + bit];
    int sids = s->banks_of_pc / s->banks_of_sid, first = bank / s->banks_of_pc * sids;
    for (int sid = first; sid < first + sids; sid++) {
        if (sid != bank / s->banks_of_sid)
            dram_raise(&last, d->last[TS_DRAM_SID][sid * TS_DRAM_COMMANDS + bit]);
    }
    return last;
}

ts_dram_limit dram_earliest(const ts_dram *d, ts_dram_command command, int bank) {
    ts_dram_limit limit = {0, NULL, 0};
    for (int i = 0; i < d->spec->rule_count; i++) {
        const ts_dram_rule *rule = &d->spec->rules[i];
        for (int bit = 0; bit < TS_DRAM_COMMANDS && (rule->before & (int)command); bit++) {
            if (!(rule->after >> bit & 1))
                continue;
            int32_t last = last_at(d, rule, bit, bank), at = last + rule_ticks(d->spec, rule, 1 << bit, (int)command);
            if (last != DRAM_NEVER && (at > limit.cycle))
                limit = (ts_dram_limit){at, rule, last};
        }
    }
    return limit;
}

void dram_rare(ts_dram *d, ts_dram_command command, int bank, int32_t t) {
    const dram_spec *s = d->spec;
    int pc = bank / s->banks_of_pc, first = pc * s->banks_of_pc, count = s->banks_of_pc;
    int32_t *act = d->time[DRAM_ACT];
    if (command == TS_DRAM_RDA || command == TS_DRAM_WRA) {
        int direction = command == TS_DRAM_WRA;
        dram_column(d, direction, bank, t, count);
        /* The columns around it see RDA as RD; precharges do not. */
        dram_raise(&act[bank], t + s->column_a_to_act[direction]);
        dram_close(d, bank, count);
    } else if (command == TS_DRAM_PREA) {
        dram_raise_all(act + first, t + s->prea_to_act, count);
        for (int i = first; i < first + count; i++)
            d->open_row[i] = DRAM_CLOSED;
        if (s->pre_to_pre > 0)
            dram_raise_all(d->time[DRAM_PRE] + first, t + s->pre_to_pre, count);
        d->open_banks[pc] = 0;
    } else if (command == TS_DRAM_REFA) {
        dram_raise_all(act + first, t + s->refa_to_act, count);
    } else {
        dram_raise_all(act + first, t + s->refb_to_act_pc, count);
        dram_raise(&act[bank], t + s->refb_to_act);
    }
    dram_note(d, bit_number((int)command), bank, t, count);
}

/* ---- The public face: one channel, cycles from 0. ---- */

ts_dram *ts_dram_new(ts_arena *arena, const ts_hbm_config *config) {
    ts_dram *dram = TS_NEW(arena, ts_dram);
    dram_init(dram, arena, dram_spec_new(arena, config));
    return dram;
}
void ts_dram_reset(ts_dram *dram) { dram_clear(dram); }
int ts_dram_rule_count(const ts_dram *dram) { return dram->spec->rule_count; }
const ts_dram_rule *ts_dram_rule_at(const ts_dram *dram, int index) { return &dram->spec->rules[index]; }
int32_t ts_dram_rule_ticks(const ts_dram *dram, const ts_dram_rule *rule, ts_dram_command after,
                           ts_dram_command before) {
    return rule_ticks(dram->spec, rule, (int)after, (int)before);
}
ts_dram_limit ts_dram_earliest(const ts_dram *dram, ts_dram_command command, int bank) {
    return dram_earliest(dram, command, bank);
}

void ts_dram_issue(ts_dram *dram, ts_dram_command command, int bank, int64_t cycle) {
    int32_t t = (int32_t)cycle;
    int count = dram->spec->banks_of_pc;
    assert(cycle >= 0 && cycle < INT32_MAX / 4);
    switch (command) {
    case TS_DRAM_RD:
    case TS_DRAM_WR: dram_column(dram, command == TS_DRAM_WR, bank, t, count); break;
    case TS_DRAM_ACT: dram_act(dram, bank, 0, t, count); break;
    case TS_DRAM_PRE: dram_pre(dram, bank, t, count); break;
    default: dram_rare(dram, command, bank, t); break;
    }
}
