/* One DRAM channel: the last commands of every node, and the earliest cycles of the four commands that matter
 * all the time, kept up to date as commands are issued. All cycles are int32 after a base that the owner
 * moves. */
#ifndef TILESIM_DRAM_DRAM_STATE_H
#define TILESIM_DRAM_DRAM_STATE_H

#include "hbm_lanes.h"
#include "dram/dram.h"

enum {
    DRAM_MAX_BANKS = 128, /* of a channel: HBM4 with 16 dies */
    DRAM_MAX_GROUPS = 64,
    DRAM_MAX_PCS = 4,
    DRAM_MAX_SIDS = 8, /* of a pseudo channel */
    DRAM_WINDOW = 4,   /* the only window there is (tFAW) */
    DRAM_NEVER = -(1 << 29),
    DRAM_CLOSED = -1,
    DRAM_NOTES = 16, /* of TS_DRAM_COMMANDS, for the index to be a shift */
};

/* Bit numbers of commands; the first two are directions. */
enum { DRAM_READ, DRAM_WRITE, DRAM_ACT, DRAM_PRE, DRAM_PREA = 6 };

/* What all channels of a machine share. Deltas are ticks from the start of one command to that of the next;
 * DRAM_NEVER where no rule is. Group and bank counts are powers of two. */
typedef struct {
    ts_dram_rule *rules;
    int rule_count;
    int32_t ticks_per_ck, odd, length[TS_DRAM_COMMANDS]; /* ticks a command takes, by bit number */
    int banks, pcs, banks_of_pc, banks_of_sid, banks_of_group, groups, groups_of_pc;
    int group_shift, pc_shift; /* banks_of_group, banks_of_pc are 1 << them */
    int32_t *
        column[2]; /* RD, WR to RD and WR: [(group * 2 + direction) * lanes(groups) + group] of the channel */
    int32_t *act;  /* ACT to ACT without tRC: [group of the pc * banks_of_pc + bank of the pc] */
    int32_t act_to_act, faw, act_to_pre, act_to_column[2], column_to_pre[2], pre_to_act, pre_to_pre;
    int32_t prea_to_act, refa_to_act, refb_to_act, refb_to_act_pc, column_a_to_act[2];
} dram_spec;

/* The earliest times do not hold the buses. */
struct ts_dram {
    const dram_spec *spec;
    int32_t column_time[2][DRAM_MAX_GROUPS]; /* the earliest RD, WR by the rules between columns */
    int32_t opened_time[2][DRAM_MAX_BANKS];  /* and by those after the bank's ACT */
    int32_t act_time[DRAM_MAX_BANKS], open_row[DRAM_MAX_BANKS];
    int32_t row_time[DRAM_MAX_BANKS]; /* of an open bank its PRE; else its ACT: of half CKs, only odd ones */
    /* The last command by node and bit number: columns by group and bank, row commands by pseudo channel and
     * bank. What another node saw last is the latest of its parts. */
    int32_t group_note[DRAM_MAX_GROUPS][2], bank_note[DRAM_MAX_BANKS][DRAM_NOTES],
        pc_note[DRAM_MAX_PCS][DRAM_NOTES];
    int32_t acts[DRAM_MAX_PCS][DRAM_WINDOW]; /* a ring of the last ACTs */
    int32_t act_at[DRAM_MAX_PCS];            /* its oldest */
    int32_t open_banks[DRAM_MAX_PCS];
    int32_t last_column; /* RD or WR of any bank */
};

dram_spec *dram_spec_new(ts_arena *arena, const ts_hbm_config *config);
void dram_clear(ts_dram *dram, const dram_spec *spec);
void dram_rebase(ts_dram *dram, int32_t shift);
ts_dram_limit dram_earliest(const ts_dram *dram, ts_dram_command command, int bank);

ALWAYS static inline void raise_to(int32_t *value, int32_t least) { *value = max32(*value, least); }

/* RD (direction 0) or WR (1). */
ALWAYS static inline void dram_column(ts_dram *d, int direction, int bank, int group, int32_t t, int groups) {
    const dram_spec *s = d->spec;
    const int32_t *delta = s->column[direction] + 2 * group * lanes_of(groups);
    raise_row(d->column_time[DRAM_READ], delta, t, lanes_of(groups));
    raise_row(d->column_time[DRAM_WRITE], delta + lanes_of(groups), t, lanes_of(groups));
    raise_to(&d->row_time[bank], t + s->column_to_pre[direction]);
    d->group_note[group][direction] = t;
    d->last_column = t;
    d->bank_note[bank][direction] = t;
}

ALWAYS static inline void dram_act(ts_dram *d, int bank, int32_t row, int32_t t, int banks_of_pc) {
    const dram_spec *s = d->spec;
    int pc = bank / banks_of_pc, first = pc * banks_of_pc, group = (bank - first) >> s->group_shift;
    int32_t precharged = max32(d->pc_note[pc][DRAM_PRE], d->pc_note[pc][DRAM_PREA]);
    int oldest = d->act_at[pc];
    d->acts[pc][oldest] = t;
    d->act_at[pc] = oldest = (oldest + 1) % DRAM_WINDOW;
    lane_set(d->open_row, bank, row);
    raise_acts(d->act_time + first, s->act + group * banks_of_pc, t, d->acts[pc][oldest] + s->faw,
               d->open_row + first, d->row_time + first, s->odd, banks_of_pc);
    lane_set(d->act_time, bank, max32(d->act_time[bank], t + s->act_to_act));
    lane_set(d->row_time, bank, max32(t + s->act_to_pre, precharged + s->pre_to_pre));
    d->opened_time[DRAM_READ][bank] = t + s->act_to_column[DRAM_READ];
    d->opened_time[DRAM_WRITE][bank] = t + s->act_to_column[DRAM_WRITE];
    d->open_banks[pc]++;
    d->bank_note[bank][DRAM_ACT] = d->pc_note[pc][DRAM_ACT] = t;
}

ALWAYS static inline void dram_close(ts_dram *d, int bank, int banks_of_pc) {
    lane_set(d->open_row, bank, DRAM_CLOSED);
    lane_set(d->row_time, bank, d->act_time[bank] | d->spec->odd);
    d->open_banks[bank / banks_of_pc]--;
}

ALWAYS static inline void dram_pre(ts_dram *d, int bank, int32_t t, int banks_of_pc) {
    const dram_spec *s = d->spec;
    int pc = bank / banks_of_pc, first = pc * banks_of_pc;
    lane_set(d->act_time, bank, max32(d->act_time[bank], t + s->pre_to_act));
    dram_close(d, bank, banks_of_pc);
    if (s->pre_to_pre > 0)
        raise_open(d->row_time + first, d->open_row + first, t + s->pre_to_pre, banks_of_pc);
    d->bank_note[bank][DRAM_PRE] = d->pc_note[pc][DRAM_PRE] = t;
}

/* RDA, WRA, PREA, REFA and REFB: rare. */
void dram_rare(ts_dram *dram, ts_dram_command command, int bank, int32_t t);

#endif
