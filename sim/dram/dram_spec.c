/* The rules of DRAM made into tables: what each command waits for, and the times that the controller adds
 * when it issues one. All of them come from the rows; a row that none of them could hold is an error. */
#include <assert.h>

#include "command_names.h"
#include "dram_state.h"

/* ---- The rows. ---- */

ts_dram_rules ts_dram_rules_of(ts_arena *arena, const ts_hbm_config *c) {
    const ts_hbm_timing *t = &c->timing;
    const ts_dram_rule rows[] = {
#define RULE(name, level, after, before, cycles, window, limiter)                                            \
    {name, TS_DRAM_##level, after, before, cycles, window, false, TS_HBM_LIMITER_##limiter},
#define BUS_RULE(name, after, before, ticks, limiter)                                                        \
    {name, TS_DRAM_CHANNEL, after, before, ticks, 1, true, TS_HBM_LIMITER_##limiter},
#include "dram_rules.def"
#undef RULE
#undef BUS_RULE
    };
    enum { COUNT = sizeof rows / sizeof rows[0] };
    ts_dram_rule *copy = TS_NEW_ARRAY(arena, ts_dram_rule, COUNT);
    for (int i = 0; i < COUNT; i++) copy[i] = rows[i];
    return (ts_dram_rules){copy, COUNT};
}

/* ---- What the controller can keep to. ---- */

#define AT(level) (1 << TS_DRAM_##level)
enum {
    ANY_NODE = AT(CHANNEL) | AT(PC) | AT(SID) | AT(OTHER_SID) | AT(GROUP) | AT(BANK),
    WHOLE_PC = AT(CHANNEL) | AT(PC), /* of commands to all banks */
    OF_ALL_BANKS = PREA | REFA,
    OF_A_BANK = RD | WR | RDA | WRA | ACT | PRE | REFB,
};

/* Rules of these kinds: every command of `after`, before every one of `before`. */
static const struct {
    int after, before, levels, window;
    bool is_bus;
} kinds[] = {
    {COLUMN_COMMANDS, COLUMN_COMMANDS, ANY_NODE & ~AT(BANK), 1, false},
    {ACT, COLUMN_COMMANDS, AT(BANK), 1, false},
    {OF_A_BANK & ~(RD | WR), ACT, ANY_NODE, 1, false},
    {OF_ALL_BANKS, ACT, WHOLE_PC, 1, false},
    {ACT, ACT, AT(PC), DRAM_WINDOW, false},
    {RD | WR | ACT, PRE, AT(BANK), 1, false},
    {PRE | PREA, PRE, AT(PC), 1, false},
    {OF_A_BANK, REFB, ANY_NODE, 1, false},
    {OF_ALL_BANKS, REFB, WHOLE_PC, 1, false},
    {OF_A_BANK | OF_ALL_BANKS, OF_ALL_BANKS, WHOLE_PC, 1, false},
    {ROW_COMMANDS, ROW_COMMANDS, AT(CHANNEL), 1, true},
    {COLUMN_COMMANDS, COLUMN_COMMANDS, AT(CHANNEL), 1, true},
};

static bool is_kept(const ts_dram_rule *rule, int after, int before) {
    bool kept = false;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        kept |= (kinds[i].after & after) && (kinds[i].before & before) && kinds[i].window == rule->window &&
                (kinds[i].levels >> rule->level & 1) && kinds[i].is_bus == rule->is_bus;
    return kept;
}

/* A column command is scheduled as RD or WR, and may then be one that closes its row; a bus is held by all
 * that use it; a PRE waits for other precharges alike. */
static bool is_whole(const ts_dram_rule *rule) {
    int sets[2] = {rule->before, rule->before & COLUMN_COMMANDS ? rule->after : 0};
    for (int i = 0; i < 2; i++)
        if (!(sets[i] & RD) != !(sets[i] & RDA) || !(sets[i] & WR) != !(sets[i] & WRA)) return false;
    if (rule->before & PRE && !(rule->after & PRE) != !(rule->after & PREA)) return false;
    return !rule->is_bus || rule->before == ROW_COMMANDS || rule->before == COLUMN_COMMANDS;
}

static bool refuse(ts_error *err, const ts_dram_rule *rule, int after, int before) {
    static const char *const commands[] = {"RD", "WR", "ACT", "PRE", "RDA", "WRA", "PREA", "REFA", "REFB"};
    static const char *const nodes[] = {"channel",        "pseudo channel", "stack id",
                                        "other stack id", "bank group",     "bank"};
    return ts_error_set(
        err, TS_ERROR_INPUT,
        "dram rule %s: found %s after the last %d %s of the %s, expected a rule that the controller "
        "can keep to (kinds in dram_spec.c)",
        rule->name, commands[before], rule->window, commands[after], nodes[rule->level]);
}

static bool check_rule(ts_error *err, const ts_dram_rule *rule) {
    if (!rule->after || !rule->before || !is_whole(rule))
        return ts_error_set(
            err, TS_ERROR_INPUT,
            "dram rule %s: found commands 0x%x after 0x%x, expected RD with RDA, WR with WRA, PRE "
            "with PREA before PRE, and all commands of a bus",
            rule->name, (unsigned)rule->before, (unsigned)rule->after);
    for (int pair = 0; pair < TS_DRAM_COMMANDS * TS_DRAM_COMMANDS; pair++) {
        int after = pair / TS_DRAM_COMMANDS, before = pair % TS_DRAM_COMMANDS;
        if (rule->after >> after & rule->before >> before & 1 && !is_kept(rule, 1 << after, 1 << before))
            return refuse(err, rule, after, before);
    }
    return true;
}

/* ---- What a command waits for. ---- */

static dram_notes notes_of(const ts_dram_rule *rule, int after, int before) {
    if (rule->level == TS_DRAM_BANK) return DRAM_NOTE_OF_BANK;
    if (rule->window > 1) return DRAM_NOTE_OF_WINDOW;
    if (1 << before & COLUMN_COMMANDS) return DRAM_NOTES_OF_GROUPS;
    if (after == DRAM_READ || after == DRAM_WRITE) return DRAM_NOTES_OF_BANKS;
    if (rule->level == TS_DRAM_GROUP && after == DRAM_ACT) return DRAM_NOTE_OF_GROUP;
    if (rule->level == TS_DRAM_PC) return DRAM_NOTE_OF_PC;
    return rule->level == TS_DRAM_CHANNEL ? DRAM_NOTES_OF_PCS : DRAM_NOTES_OF_BANKS;
}

static int32_t ticks_of(const dram_spec *s, const ts_dram_rule *rule, int after, int before) {
    return rule->is_bus ? rule->cycles
                        : rule->cycles * s->ticks_per_ck + s->length[after] - s->length[before];
}

/* The notes of groups hold RD and RDA as one, WR and WRA as well. */
static void add_waits(dram_spec *s, const ts_dram_rule *rule, int before) {
    int after = rule->before >> before & 1 && rule->cycles > 0 ? rule->after : 0;
    if (1 << before & COLUMN_COMMANDS) after &= ~(RDA | WRA);
    for (; after != 0; after &= after - 1) {
        int bit = __builtin_ctz((unsigned)after);
        s->waits[before][s->wait_count[before]++] =
            (dram_wait){rule, ticks_of(s, rule, bit, before), (uint8_t)bit, notes_of(rule, bit, before)};
    }
}

/* Fills the waits of each command: rules of its bank first, of buses last. */
static void fill_waits(dram_spec *s, ts_arena *arena, ts_dram_rules rules) {
    for (int before = 0; before < TS_DRAM_COMMANDS; before++) {
        int *const ends[3] = {&s->own_count[before], &s->bus_first[before], &s->wait_count[before]};
        s->waits[before] = TS_NEW_ARRAY(arena, dram_wait, rules.count * TS_DRAM_COMMANDS);
        for (int kind = 0; kind < 3; kind++) {
            for (int i = 0; i < rules.count; i++) {
                const ts_dram_rule *rule = &rules.rows[i];
                if (kind == (rule->is_bus ? 2 : rule->level != TS_DRAM_BANK)) add_waits(s, rule, before);
            }
            *ends[kind] = s->wait_count[before];
        }
    }
}

/* Sets of waits are bits. */
static bool check_waits(ts_error *err, const dram_spec *s) {
    for (int before = 0; before < TS_DRAM_COMMANDS; before++) {
        if (s->wait_count[before] > DRAM_MAX_WAITS)
            return ts_error_set(err, TS_ERROR_INPUT,
                                "dram rules: found %d that a command waits for, expected at most %d",
                                s->wait_count[before], DRAM_MAX_WAITS);
    }
    return true;
}

/* ---- What the controller adds when it issues a command. ---- */

/* Two banks of a relation are in one node of these levels (or in two, of OTHER_SID). */
static const int levels_of[DRAM_RELATIONS] = {
    [DRAM_SAME_BANK] = ANY_NODE & ~AT(OTHER_SID),
    [DRAM_SAME_GROUP] = AT(CHANNEL) | AT(PC) | AT(SID) | AT(GROUP),
    [DRAM_SAME_SID] = AT(CHANNEL) | AT(PC) | AT(SID),
    [DRAM_SAME_PC] = AT(CHANNEL) | AT(PC) | AT(OTHER_SID),
    [DRAM_SAME_CHANNEL] = AT(CHANNEL),
};

/* The longest wait for `after` of two banks so related, or of a window; of equal ones the first; NULL. The
 * row bus is kept by the controller, for all banks at once. */
static const dram_wait *longest(const dram_spec *s, int after, int before, dram_relation relation,
                                int window) {
    const dram_wait *most = NULL;
    for (int i = 0; i < s->wait_count[before]; i++) {
        const dram_wait *w = &s->waits[before][i];
        bool is_row_bus = w->rule->is_bus && !(1 << before & COLUMN_COMMANDS);
        if (w->after == after && w->rule->window == window && levels_of[relation] >> w->rule->level & 1 &&
            !is_row_bus && (!most || w->ticks > most->ticks))
            most = w;
    }
    return most;
}

static int32_t ticks_from(const dram_spec *s, int after, int before, dram_relation relation) {
    const dram_wait *w = longest(s, after, before, relation, 1);
    return w ? w->ticks : DRAM_NEVER;
}

/* The same, from a bank of group `from` to another bank in group `to`. */
static const dram_wait *between_groups(const dram_spec *s, int after, int before, int from, int to) {
    int relation = dram_relate(s, from << s->group_shift, to << s->group_shift);
    return longest(s, after, before, relation == DRAM_SAME_BANK ? DRAM_SAME_GROUP : (dram_relation)relation,
                   1);
}

/* From RD (after 0) or WR to RD or WR, of two groups: by the earlier command, and by the later one. */
static void set_column(dram_spec *s, int after, int before, int from, int to) {
    int lanes = lanes_of(s->groups), back = 2 * to * lanes + from / 8 * 16 + after * 8 + from % 8;
    const dram_wait *w = between_groups(s, after, before, from, to);
    if (!w) return;
    s->column[after][(from * 2 + before) * lanes + to] = s->column_from[before][back] = w->ticks;
    s->column_wait[before][back] = (int32_t)(1u << (w - s->waits[before]));
}

static int32_t *new_ticks(ts_arena *arena, int count) {
    int32_t *ticks = TS_NEW_ARRAY(arena, int32_t, count);
    for (int i = 0; i < count; i++) ticks[i] = DRAM_NEVER;
    return ticks;
}

static void fill_between_groups(dram_spec *s, ts_arena *arena) {
    int count = s->groups * 2 * lanes_of(s->groups);
    for (int direction = 0; direction < 2; direction++) {
        s->column[direction] = new_ticks(arena, count);
        s->column_from[direction] = new_ticks(arena, count);
        s->column_wait[direction] = TS_NEW_ARRAY(arena, int32_t, count);
    }
    for (int pair = 0; pair < 4 * s->groups * s->groups; pair++)
        set_column(s, pair & 1, pair >> 1 & 1, pair / 4 / s->groups, pair / 4 % s->groups);
    s->act = new_ticks(arena, s->groups_of_pc * s->banks_of_pc);
    for (int at = 0; at < s->groups_of_pc * s->banks_of_pc; at++) {
        const dram_wait *w =
            between_groups(s, DRAM_ACT, DRAM_ACT, at / s->banks_of_pc, at % s->banks_of_pc >> s->group_shift);
        if (w) s->act[at] = w->ticks;
    }
}

static void fill_to_act(dram_spec *s) {
    for (int after = 0; after < TS_DRAM_COMMANDS; after++) {
        int first =
            after == DRAM_ACT ? DRAM_SAME_CHANNEL : DRAM_SAME_GROUP; /* the rest dram_act does itself */
        for (int r = 0; r < DRAM_RELATIONS; r++) {
            s->to_act[after][r] = ticks_from(s, after, DRAM_ACT, (dram_relation)r);
            s->is_wide[after] |= r >= first && s->to_act[after][r] != DRAM_NEVER;
        }
    }
    s->act_to_act = s->to_act[DRAM_ACT][DRAM_SAME_BANK];
    s->pre_to_act = s->to_act[DRAM_PRE][DRAM_SAME_BANK];
    s->refa_to_act = s->to_act[DRAM_REFA][DRAM_SAME_BANK];
    const dram_wait *window = longest(s, DRAM_ACT, DRAM_ACT, DRAM_SAME_PC, DRAM_WINDOW);
    s->faw = window ? window->ticks : DRAM_NEVER;
}

static void set_bus(dram_spec *s, int command, const ts_dram_rule *rule) {
    if (rule->cycles <= s->bus_ticks[command]) return;
    s->bus_ticks[command] = rule->cycles;
    s->bus_limiter[command] = rule->limiter;
}

static void fill_to_others(dram_spec *s, ts_dram_rules rules) {
    for (int i = 0; i < 2; i++) {
        s->act_to_column[i] = ticks_from(s, DRAM_ACT, i, DRAM_SAME_BANK);
        s->column_to_pre[i] = ticks_from(s, i, DRAM_PRE, DRAM_SAME_BANK);
    }
    s->act_to_pre = ticks_from(s, DRAM_ACT, DRAM_PRE, DRAM_SAME_BANK);
    s->pre_to_pre = ticks_from(s, DRAM_PRE, DRAM_PRE, DRAM_SAME_PC);
    for (int i = 0; i < rules.count; i++) {
        for (int bit = 0; bit < TS_DRAM_COMMANDS && rules.rows[i].is_bus; bit++)
            if (rules.rows[i].after >> bit & 1) set_bus(s, bit, &rules.rows[i]);
        s->longest_cycles = max32(s->longest_cycles, rules.rows[i].cycles);
    }
}

/* ---- All of it. ---- */

static void fill_geometry(dram_spec *s, const ts_hbm_config *c) {
    s->ticks_per_ck = c->ticks_per_ck;
    s->odd = c->ticks_per_ck == 2;
    for (int bit = 0; bit < TS_DRAM_COMMANDS; bit++)
        s->length[bit] = bit == DRAM_ACT              ? c->act_ticks
                         : 1 << bit & COLUMN_COMMANDS ? c->column_ticks
                                                      : c->row_ticks;
    s->pcs = c->pseudo_channels;
    s->banks_of_group = c->banks;
    s->banks_of_sid = c->banks * c->bank_groups;
    s->banks_of_pc = s->banks_of_sid * c->sids;
    s->groups_of_pc = c->bank_groups * c->sids;
    s->groups = s->groups_of_pc * s->pcs;
    s->group_shift = __builtin_ctz((unsigned)c->banks);
    s->pc_shift = __builtin_ctz((unsigned)s->banks_of_pc);
    s->banks = s->banks_of_pc * c->pseudo_channels;
    assert(s->banks <= DRAM_MAX_BANKS && s->pcs <= DRAM_MAX_PCS);
}

dram_spec *dram_spec_new(ts_error *err, ts_arena *arena, const ts_hbm_config *c, ts_dram_rules rules) {
    dram_spec *s = TS_NEW(arena, dram_spec);
    for (int i = 0; i < rules.count; i++)
        if (!check_rule(err, &rules.rows[i])) return NULL;
    fill_geometry(s, c);
    fill_waits(s, arena, rules);
    if (!check_waits(err, s)) return NULL;
    fill_between_groups(s, arena);
    fill_to_act(s);
    fill_to_others(s, rules);
    return s;
}
