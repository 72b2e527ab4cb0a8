/* One DRAM channel: the last commands of every node, and the earliest cycles of the four commands that matter
 * all the time, kept up to date as commands are issued. All cycles are int32 after a base that the owner moves. */
#ifndef SIM_MEMORY_DRAM_STATE_H
#define SIM_MEMORY_DRAM_STATE_H

#include "tilesim/memory/dram.h"

enum {
    DRAM_MAX_BANKS = 512,
    DRAM_MAX_PCS = 8,
    DRAM_WINDOW = 4, /* the only window there is (tFAW) */
    DRAM_NEVER = -(1 << 29),
    DRAM_CLOSED = -1,
};

enum { DRAM_READ, DRAM_WRITE, DRAM_ACT, DRAM_PRE, DRAM_TIMES }; /* rows of `time`; the first two are directions */

/* What all channels of a machine share. Deltas are ticks from the start of one command to that of the next, by
 * the bank group (of a pseudo channel) of the first and the bank of the second; DRAM_NEVER where no rule is. */
typedef struct {
    ts_dram_rule *rules;
    int rule_count;
    int32_t ticks_per_ck, length[TS_DRAM_COMMANDS]; /* ticks a command takes, by bit number */
    int banks, pcs, banks_of_pc, banks_of_sid, banks_of_group, groups_of_pc;
    int32_t *column[2][2]; /* [direction][direction][group * banks_of_pc + bank] */
    int32_t *act;          /* ACT to ACT, without tRC */
    int32_t act_to_act, faw, act_to_pre, act_to_column[2], column_to_pre[2], pre_to_act, pre_to_pre;
    int32_t prea_to_act, refa_to_act, refb_to_act, refb_to_act_pc, column_a_to_act[2];
} dram_spec;

struct ts_dram {
    const dram_spec *spec;
    int32_t *time[DRAM_TIMES]; /* by bank: the earliest RD, WR, ACT, PRE, without the buses */
    int32_t *open_row;         /* by bank; DRAM_CLOSED */
    int32_t *last[6];          /* by level: [node * TS_DRAM_COMMANDS + bit number] */
    int32_t acts[DRAM_MAX_PCS][DRAM_WINDOW]; /* a ring of the last ACTs */
    int32_t act_at[DRAM_MAX_PCS];            /* its oldest */
    int32_t open_banks[DRAM_MAX_PCS];
};

dram_spec *dram_spec_new(ts_arena *arena, const ts_hbm_config *config);
void dram_init(ts_dram *dram, ts_arena *arena, const dram_spec *spec);
void dram_clear(ts_dram *dram);
void dram_rebase(ts_dram *dram, int32_t shift);
ts_dram_limit dram_earliest(const ts_dram *dram, ts_dram_command command, int bank);

static inline int32_t dram_max(int32_t a, int32_t b) { return a > b ? a : b; }
static inline void dram_raise(int32_t *value, int32_t least) { *value = dram_max(*value, least); }

/* value[i] = max(value[i], t + delta[i]); count is a multiple of 4 in every machine that is fast. */
static inline void dram_raise_row(int32_t *restrict value, const int32_t *restrict delta, int32_t t, int count) {
    for (int i = 0; i < count; i++)
        value[i] = dram_max(value[i], t + delta[i]);
}
static inline void dram_raise_all(int32_t *value, int32_t least, int count) {
    for (int i = 0; i < count; i++)
        value[i] = dram_max(value[i], least);
}

/* Notes a command at every node above its bank. */
static inline void dram_note(ts_dram *d, int bit, int bank, int32_t t, int banks_of_pc) {
    const dram_spec *s = d->spec;
    d->last[TS_DRAM_CHANNEL][bit] = t;
    d->last[TS_DRAM_PC][bank / banks_of_pc * TS_DRAM_COMMANDS + bit] = t;
    d->last[TS_DRAM_SID][bank / s->banks_of_sid * TS_DRAM_COMMANDS + bit] = t;
    d->last[TS_DRAM_GROUP][bank / s->banks_of_group * TS_DRAM_COMMANDS + bit] = t;
    d->last[TS_DRAM_BANK][bank * TS_DRAM_COMMANDS + bit] = t;
}

/* RD (direction 0) or WR (1). */
static inline void dram_column(ts_dram *d, int direction, int bank, int32_t t, int banks_of_pc) {
    const dram_spec *s = d->spec;
    int pc = bank / banks_of_pc, group = bank % banks_of_pc / s->banks_of_group;
    int first = pc * banks_of_pc;
    dram_raise_row(d->time[DRAM_READ] + first, s->column[direction][DRAM_READ] + group * banks_of_pc, t, banks_of_pc);
    dram_raise_row(d->time[DRAM_WRITE] + first, s->column[direction][DRAM_WRITE] + group * banks_of_pc, t, banks_of_pc);
    dram_raise(&d->time[DRAM_PRE][bank], t + s->column_to_pre[direction]);
    dram_note(d, direction, bank, t, banks_of_pc);
}

static inline void dram_act(ts_dram *d, int bank, int32_t row, int32_t t, int banks_of_pc) {
    const dram_spec *s = d->spec;
    int pc = bank / banks_of_pc, group = bank % banks_of_pc / s->banks_of_group;
    int32_t *times = d->time[DRAM_ACT] + pc * banks_of_pc;
    int oldest = d->act_at[pc];
    d->acts[pc][oldest] = t;
    d->act_at[pc] = oldest = (oldest + 1) % DRAM_WINDOW;
    dram_raise_row(times, s->act + group * banks_of_pc, t, banks_of_pc);
    dram_raise_all(times, d->acts[pc][oldest] + s->faw, banks_of_pc);
    dram_raise(&d->time[DRAM_ACT][bank], t + s->act_to_act);
    dram_raise(&d->time[DRAM_READ][bank], t + s->act_to_column[DRAM_READ]);
    dram_raise(&d->time[DRAM_WRITE][bank], t + s->act_to_column[DRAM_WRITE]);
    dram_raise(&d->time[DRAM_PRE][bank], t + s->act_to_pre);
    d->open_row[bank] = row;
    d->open_banks[pc]++;
    dram_note(d, 2, bank, t, banks_of_pc);
}

static inline void dram_close(ts_dram *d, int bank, int banks_of_pc) {
    d->open_row[bank] = DRAM_CLOSED;
    d->open_banks[bank / banks_of_pc]--;
}

static inline void dram_pre(ts_dram *d, int bank, int32_t t, int banks_of_pc) {
    const dram_spec *s = d->spec;
    int first = bank / banks_of_pc * banks_of_pc;
    dram_raise(&d->time[DRAM_ACT][bank], t + s->pre_to_act);
    if (s->pre_to_pre > 0)
        dram_raise_all(d->time[DRAM_PRE] + first, t + s->pre_to_pre, banks_of_pc);
    dram_close(d, bank, banks_of_pc);
    dram_note(d, 3, bank, t, banks_of_pc);
}

/* RDA, WRA, PREA, REFA and REFB: rare. */
void dram_rare(ts_dram *dram, ts_dram_command command, int bank, int32_t t);

#endif
