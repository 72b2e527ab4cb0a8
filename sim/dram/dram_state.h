/* One DRAM channel: the last commands of every node, and the earliest cycles of the four commands that matter
 * all the time, kept up to date as commands are issued. All cycles are int32 after a base that the owner
 * moves. */
#ifndef TILESIM_DRAM_DRAM_STATE_H
#define TILESIM_DRAM_DRAM_STATE_H

#include "hbm_lanes.h"
#include "dram/dram.h"

enum {
    DRAM_MAX_BANKS = TS_HBM_MAX_BANKS,
    DRAM_MAX_GROUPS = DRAM_MAX_BANKS, /* each has one at least */
    DRAM_MAX_PCS = 4,
    DRAM_MAX_SIDS = 8, /* of a pseudo channel */
    DRAM_WINDOW = 4,   /* the only window there is (tFAW) */
    DRAM_NEVER = -(1 << 29),
    DRAM_CLOSED = -1,
    DRAM_MAX_WAITS = 32, /* of a command */
};

/* Bit numbers of commands; the first two are directions. */
enum { DRAM_READ, DRAM_WRITE, DRAM_ACT, DRAM_PRE, DRAM_RDA, DRAM_WRA, DRAM_PREA, DRAM_REFA, DRAM_REFB };

/* Where two banks are nearest to each other: in one channel at least. */
typedef enum {
    DRAM_SAME_BANK,
    DRAM_SAME_GROUP,
    DRAM_SAME_SID,
    DRAM_SAME_PC,
    DRAM_SAME_CHANNEL,
    DRAM_RELATIONS
} dram_relation;

/* Where the time of the last command of a node is found. */
typedef enum {
    DRAM_NOTE_OF_BANK,
    DRAM_NOTE_OF_GROUP,
    DRAM_NOTE_OF_PC,
    DRAM_NOTE_OF_WINDOW, /* the oldest ACT in the window */
    DRAM_NOTES_OF_GROUPS,
    DRAM_NOTES_OF_BANKS,
    DRAM_NOTES_OF_PCS,
} dram_notes;

/* A command waits so many ticks, from start to start, for the last `after` (a bit number) of the rule's node.
 */
typedef struct {
    const ts_dram_rule *rule;
    int32_t ticks;
    uint8_t after;
    dram_notes notes;
} dram_wait;

/* What all channels of a machine share: the rules by the command that waits, its own bank's first, and what
 * follows from them for the controller. Ticks are from the start of one command to that of the next;
 * DRAM_NEVER where no rule is. Group and bank counts are powers of two. */
typedef struct {
    dram_wait *waits[TS_DRAM_COMMANDS]; /* by bit number; for RD and WR, those of RDA and WRA too */
    int wait_count[TS_DRAM_COMMANDS], own_count[TS_DRAM_COMMANDS];
    int bus_first[TS_DRAM_COMMANDS];                     /* from there on, those for a bus */
    int32_t ticks_per_ck, odd, length[TS_DRAM_COMMANDS]; /* ticks a command takes */
    int32_t bus_ticks[TS_DRAM_COMMANDS];                 /* it holds its bus, */
    ts_hbm_limiter bus_limiter[TS_DRAM_COMMANDS];        /* and what a wait for that counts as */
    int32_t longest_cycles;                              /* of a rule */
    int banks, pcs, banks_of_pc, banks_of_sid, banks_of_group, groups, groups_of_pc;
    int group_shift, pc_shift; /* banks_of_group, banks_of_pc are 1 << them */
    int32_t *
        column[2]; /* RD, WR to RD and WR: [(group * 2 + direction) * lanes(groups) + group] of the channel */
    /* RD, WR from the groups of the channel: [to group * 2 * lanes + from / 8 * 16 + after * 8 + from % 8],
     * and whose rules they are, as a bit by number in `waits`. */
    int32_t *column_from[2];
    int32_t *column_wait[2];
    int32_t *act; /* ACT to ACT of two banks: [group of the pc * banks_of_pc + bank of the pc] */
    int32_t act_to_act, faw, act_to_pre, act_to_column[2], column_to_pre[2], pre_to_act, pre_to_pre;
    int32_t refa_to_act;
    int32_t to_act[TS_DRAM_COMMANDS][DRAM_RELATIONS];
    bool is_wide[TS_DRAM_COMMANDS]; /* to ACT of other banks, beyond `act` */
} dram_spec;

ALWAYS static inline int dram_relate(const dram_spec *s, int a, int b) {
    int differ = a ^ b;
    return (differ >= 1) + (differ >= s->banks_of_group) + (differ >= s->banks_of_sid) +
           (differ >= s->banks_of_pc);
}

/* The earliest times hold the column bus, but not the row bus. */
struct ts_dram {
    const dram_spec *spec;
    int32_t column_time[2][DRAM_MAX_GROUPS]; /* the earliest RD, WR by the rules between columns */
    int32_t opened_time[2][DRAM_MAX_BANKS];  /* and by those after the bank's ACT */
    int32_t act_time[DRAM_MAX_BANKS], open_row[DRAM_MAX_BANKS];
    int32_t row_time[DRAM_MAX_BANKS]; /* of an open bank its PRE; else its ACT: of half CKs, only odd ones */
    /* The last command by node and bit number: columns by group and bank, row commands by pseudo channel and
     * bank. What another node saw last is the latest of its parts. */
    int32_t group_note[3][DRAM_MAX_GROUPS], bank_note[TS_DRAM_COMMANDS][DRAM_MAX_BANKS],
        pc_note[DRAM_MAX_PCS][TS_DRAM_COMMANDS];
    int32_t acts[DRAM_MAX_PCS][DRAM_WINDOW]; /* a ring of the last ACTs */
    int32_t act_at[DRAM_MAX_PCS];            /* its oldest */
    int32_t open_banks[DRAM_MAX_PCS];
    int64_t open_cycles[DRAM_MAX_PCS]; /* with an open bank; while one is, less the cycle since which */
};

dram_spec *dram_spec_new(ts_error *err, ts_arena *arena, const ts_hbm_config *config, ts_dram_rules rules);
void dram_clear(ts_dram *dram, const dram_spec *spec);
void dram_rebase(ts_dram *dram, int32_t shift);
ts_dram_limit dram_earliest(const ts_dram *dram, ts_dram_command command, int bank);
/* No bank is opened sooner than the rules after a command of this bank let it. */
void dram_hold_acts(ts_dram *dram, int command, int bank, int32_t t);

ALWAYS static inline void dram_count_open(ts_dram *d, int pc, int32_t t) {
    if (d->open_banks[pc]++ == 0) d->open_cycles[pc] -= t;
}
ALWAYS static inline void dram_count_closed(ts_dram *d, int pc, int32_t t) {
    if (--d->open_banks[pc] == 0) d->open_cycles[pc] += t;
}

ALWAYS static inline void raise_to(int32_t *value, int32_t least) { *value = max32(*value, least); }

/* RD (direction 0) or WR (1). */
ALWAYS static inline void dram_column(ts_dram *d, int direction, int bank, int group, int32_t t, int groups) {
    const dram_spec *s = d->spec;
    const int32_t *delta = s->column[direction] + 2 * group * lanes_of(groups);
    raise_row(d->column_time[DRAM_READ], delta, t, lanes_of(groups));
    raise_row(d->column_time[DRAM_WRITE], delta + lanes_of(groups), t, lanes_of(groups));
    raise_to(&d->row_time[bank], t + s->column_to_pre[direction]);
    d->group_note[direction][group] = t;
    d->bank_note[direction][bank] = t;
}

ALWAYS static inline void dram_act(ts_dram *d, int bank, int32_t row, int32_t t, int banks_of_pc,
                                   int banks_of_group) {
    const dram_spec *s = d->spec;
    int pc = bank / banks_of_pc, first = pc * banks_of_pc, group = (bank - first) / banks_of_group;
    int32_t precharged = max32(d->pc_note[pc][DRAM_PRE], d->pc_note[pc][DRAM_PREA]) + s->pre_to_pre;
    int oldest = d->act_at[pc];
    d->acts[pc][oldest] = t;
    d->act_at[pc] = oldest = (oldest + 1) & (DRAM_WINDOW - 1);
    const act_lanes banks = {d->act_time + first, d->row_time + first, s->act + group * banks_of_pc,
                             d->open_row + first};
    raise_acts(banks, t, d->acts[pc][oldest] + s->faw, s->odd, banks_of_pc);
    lane_set(d->open_row, bank, row);
    lane_set(d->act_time, bank, max32(d->act_time[bank], t + s->act_to_act));
    lane_set_soon(d->row_time, bank, max32(t + s->act_to_pre, precharged));
    d->opened_time[DRAM_READ][bank] = t + s->act_to_column[DRAM_READ];
    d->opened_time[DRAM_WRITE][bank] = t + s->act_to_column[DRAM_WRITE];
    if (__builtin_expect(s->is_wide[DRAM_ACT], 0)) dram_hold_acts(d, DRAM_ACT, bank, t);
    dram_count_open(d, pc, t);
    d->group_note[DRAM_ACT][bank / banks_of_group] = t;
    d->bank_note[DRAM_ACT][bank] = d->pc_note[pc][DRAM_ACT] = t;
}

ALWAYS static inline void dram_close(ts_dram *d, int bank, int32_t t, int banks_of_pc) {
    lane_set(d->open_row, bank, DRAM_CLOSED);
    lane_set_soon(d->row_time, bank, d->act_time[bank] | d->spec->odd);
    dram_count_closed(d, bank / banks_of_pc, t);
}

ALWAYS static inline void dram_pre(ts_dram *d, int bank, int32_t t, int banks_of_pc) {
    const dram_spec *s = d->spec;
    int pc = bank / banks_of_pc, first = pc * banks_of_pc;
    if (s->pre_to_pre > 0)
        raise_open(d->row_time + first, d->open_row + first, t + s->pre_to_pre, banks_of_pc);
    lane_set(d->act_time, bank, max32(d->act_time[bank], t + s->pre_to_act));
    dram_close(d, bank, t, banks_of_pc);
    if (__builtin_expect(s->is_wide[DRAM_PRE], 0)) dram_hold_acts(d, DRAM_PRE, bank, t);
    d->bank_note[DRAM_PRE][bank] = d->pc_note[pc][DRAM_PRE] = t;
}

/* The last command in a node that is noted several times; DRAM_NEVER. */
int32_t dram_latest_of_many(const ts_dram *d, const dram_wait *w, int bank);
/* The last command that a rule counts from; DRAM_NEVER. */
static inline int32_t dram_latest(const ts_dram *d, const dram_wait *w, int bank) {
    int pc = bank >> d->spec->pc_shift;
    switch (w->notes) {
    case DRAM_NOTE_OF_BANK:
        return d->bank_note[w->after][bank];
    case DRAM_NOTE_OF_GROUP:
        return d->group_note[w->after][bank >> d->spec->group_shift];
    case DRAM_NOTE_OF_PC:
        return d->pc_note[pc][w->after];
    case DRAM_NOTE_OF_WINDOW:
        return d->acts[pc][d->act_at[pc]];
    default:
        return dram_latest_of_many(d, w, bank);
    }
}

/* RDA, WRA, PREA, REFA and REFB: rare. */
void dram_rare(ts_dram *dram, ts_dram_command command, int bank, int32_t t);

#endif
