/* Every rule of DRAM timing matters: what each says between any two commands on any two banks, by a second
 * table; and short sequences of requests that change when a figure is one cycle off, or its rule left out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"
#include "machine/machine.h"
#include "dram/command_names.h"
#include "dram/dram_state.h"
#include "dram/hbm.h"

/* ---- Between two commands. ---- */

enum {
    READS = RD | RDA,
    WRITES = WR | WRA,
    ROWS = ACT | PRE | PREA | REFA | REFB,
};

typedef enum { SAME_PC, SAME_SID, OTHER_SID, SAME_GROUP, SAME_BANK } relation;

#define T(member) offsetof(ts_hbm_timing, member) + 1
#define WRITTEN   T(t_cwl), T(n_bl) /* from a WR to the end of its data */

/* By JESD235 and JESD238: `before` comes no sooner than the sum of `parts` after `after`; from the end of one
 * to the end of the other. */
static const struct {
    const char *name;
    relation where;
    int after, before;
    size_t parts[4]; /* offset + 1 */
} rules[] = {
    {"data bus", SAME_PC, READS, READS, {T(n_bl)}},
    {"data bus", SAME_PC, WRITES, WRITES, {T(n_bl)}},
    {"tCCD_S", SAME_SID, READS, READS, {T(t_ccd_s)}},
    {"tCCD_S", SAME_SID, WRITES, WRITES, {T(t_ccd_s)}},
    {"tCCD_R", OTHER_SID, READS, READS, {T(t_ccd_r)}},
    {"tCCD_L", SAME_GROUP, READS, READS, {T(t_ccd_l)}},
    {"tCCD_L", SAME_GROUP, WRITES, WRITES, {T(t_ccd_l)}},
    {"tRTW", SAME_PC, READS, WRITES, {T(t_rtw)}},
    {"tWTR_S", SAME_PC, WRITES, READS, {WRITTEN, T(t_wtr_s)}},
    {"tWTR_L", SAME_GROUP, WRITES, READS, {WRITTEN, T(t_wtr_l)}},
    {"tRRD_S", SAME_PC, ACT, ACT | REFB, {T(t_rrd_s)}},
    {"tRRD_L", SAME_GROUP, ACT, ACT, {T(t_rrd_l)}},
    {"tRC", SAME_BANK, ACT, ACT | REFB, {T(t_rc)}},
    {"tRC", SAME_PC, ACT, REFA, {T(t_rc)}},
    {"tRCD_RD", SAME_BANK, ACT, READS, {T(t_rcd_rd)}},
    {"tRCD_WR", SAME_BANK, ACT, WRITES, {T(t_rcd_wr)}},
    {"tRAS", SAME_BANK, ACT, PRE, {T(t_ras)}},
    {"tRAS", SAME_PC, ACT, PREA, {T(t_ras)}},
    {"tRTP", SAME_BANK, RD, PRE, {T(t_rtp)}},
    {"tRTP", SAME_PC, RD, PREA, {T(t_rtp)}},
    {"tWR", SAME_BANK, WR, PRE, {WRITTEN, T(t_wr)}},
    {"tWR", SAME_PC, WR, PREA, {WRITTEN, T(t_wr)}},
    {"tPPD", SAME_PC, PRE | PREA, PRE | PREA, {T(t_ppd)}},
    {"tRP", SAME_BANK, PRE, ACT | REFB, {T(t_rp)}},
    {"tRP", SAME_PC, PREA, ACT | REFB | REFA, {T(t_rp)}},
    {"tRP", SAME_PC, PRE, REFA, {T(t_rp)}},
    {"tRP after RDA", SAME_BANK, RDA, ACT | REFB, {T(t_rtp), T(t_rp)}},
    {"tRP after RDA", SAME_PC, RDA, REFA, {T(t_rtp), T(t_rp)}},
    {"tRP after WRA", SAME_BANK, WRA, ACT | REFB, {WRITTEN, T(t_wr), T(t_rp)}},
    {"tRP after WRA", SAME_PC, WRA, REFA, {WRITTEN, T(t_wr), T(t_rp)}},
    {"tRFC", SAME_PC, REFA, ACT | PREA | REFA | REFB, {T(t_rfc)}},
    {"tRREFD", SAME_PC, REFB, ACT | REFB, {T(t_rrefd)}},
    {"tRFCpb", SAME_BANK, REFB, ACT | REFB, {T(t_rfc_pb)}},
};
enum { RULES = sizeof rules / sizeof rules[0], GROUP = 2, SID = 4, PC = 8, BANKS = 16, AT = 1000 };

static bool related(relation where, int a, int b) {
    switch (where) {
    case SAME_PC:
        return a / PC == b / PC;
    case SAME_SID:
        return a / SID == b / SID;
    case OTHER_SID:
        return a / PC == b / PC && a / SID != b / SID;
    case SAME_GROUP:
        return a / GROUP == b / GROUP;
    default:
        return a == b;
    }
}

static int32_t length(const ts_hbm_config *c, int command) {
    return command == ACT ? c->act_ticks : command & ROWS ? c->row_ticks : c->column_ticks;
}

static int32_t sum(const ts_hbm_timing *t, const size_t parts[4]) {
    int32_t cycles = 0;
    for (int i = 0; i < 4 && parts[i]; i++) cycles += *(const int32_t *)((const char *)t + parts[i] - 1);
    return cycles;
}

/* When `before` may start on bank b, `after` having started at AT on bank a. */
static int64_t expected(const ts_hbm_config *c, int after, int a, int before, int b, bool is_named[RULES]) {
    bool same_bus = !(after & ROWS) == !(before & ROWS);
    int64_t latest = same_bus ? AT + length(c, after) : 0;
    memset(is_named, 0, RULES);
    for (int i = 0; i < RULES; i++) {
        int32_t cycles = sum(&c->timing, rules[i].parts);
        int64_t at = AT + cycles * c->ticks_per_ck + length(c, after) - length(c, before);
        if (!(rules[i].after & after) || !(rules[i].before & before) || !related(rules[i].where, a, b))
            continue;
        if (cycles <= 0 || at < latest) continue;
        if (at > latest) memset(is_named, 0, RULES);
        latest = at;
        is_named[i] = true;
    }
    return latest;
}

static ts_dram *channel_of(ts_arena *arena, const ts_hbm_config *config) {
    ts_error err = {0};
    ts_dram *dram = TS_NEW(arena, ts_dram);
    const dram_spec *spec = dram_spec_new(&err, arena, config, ts_dram_rules_of(arena, config));
    if (!spec) fail_msg("%s", err.message);
    dram_clear(dram, spec);
    return dram;
}

static void issue(ts_dram *dram, ts_dram_command command, int bank, int32_t t) {
    const dram_spec *s = dram->spec;
    if (command == TS_DRAM_RD || command == TS_DRAM_WR)
        dram_column(dram, command == TS_DRAM_WR, bank, bank >> s->group_shift, t, s->groups);
    else if (command == TS_DRAM_ACT)
        dram_act(dram, bank, 0, t, s->banks_of_pc, s->banks_of_group);
    else if (command == TS_DRAM_PRE)
        dram_pre(dram, bank, t, s->banks_of_pc);
    else
        dram_rare(dram, command, bank, t);
}

static void check_pair(ts_dram *dram, const ts_hbm_config *c, int after, int a, int before, int b) {
    bool is_named[RULES];
    int64_t cycle = expected(c, after, a, before, b, is_named);
    ts_dram_limit got = dram_earliest(dram, (ts_dram_command)before, b);
    if (got.cycle != cycle)
        fail_msg("0x%x on %d, 0x%x on %d: %lld, expected %lld", after, a, before, b, (long long)got.cycle,
                 (long long)cycle);
    for (int i = 0; i < RULES; i++)
        if (is_named[i] && strcmp(got.rule->name, rules[i].name) == 0) return;
    if (got.rule && !strstr(got.rule->name, " bus")) fail_msg("%s sets the time", got.rule->name);
}

static void random_timing(ts_hbm_timing *t) {
    int32_t *figures = (int32_t *)t;
    for (size_t i = 0; i < sizeof *t / sizeof *figures; i++) figures[i] = rand() % 4 ? rand() % 60 : 0;
}

TEST(any_two_commands) {
    ts_hbm_config c = {.stacks = 1,
                       .channels = 1,
                       .pseudo_channels = 2,
                       .sids = 2,
                       .bank_groups = 2,
                       .banks = 2,
                       .rows = 16,
                       .row_bytes = 1024,
                       .burst_bytes = 32};
    srand(1);
    for (int round = 0; round < 60; round++) {
        ts_arena *arena = ts_arena_new();
        c.ticks_per_ck = 1 + round % 2;
        c.act_ticks = 1 + rand() % 3;
        c.row_ticks = c.column_ticks = c.ticks_per_ck;
        random_timing(&c.timing);
        ts_dram *dram = channel_of(arena, &c);
        for (int k = 0; k < TS_DRAM_COMMANDS * BANKS; k++) {
            int after = 1 << k / BANKS, a = k % BANKS;
            dram_clear(dram, dram->spec);
            issue(dram, (ts_dram_command)after, a, AT);
            for (int n = 0; n < TS_DRAM_COMMANDS * BANKS; n++)
                check_pair(dram, &c, after, a, 1 << n / BANKS, n % BANKS);
        }
        ts_arena_free(arena);
    }
}

TEST_WITH_ARENA(four_acts_in_a_window) {
    ts_hbm_config c = {.stacks = 1,
                       .channels = 1,
                       .pseudo_channels = 2,
                       .sids = 1,
                       .bank_groups = 4,
                       .banks = 2,
                       .rows = 16,
                       .row_bytes = 1024,
                       .burst_bytes = 32,
                       .ticks_per_ck = 1,
                       .act_ticks = 2,
                       .row_ticks = 1,
                       .column_ticks = 1,
                       .timing = {.n_bl = 2, .t_faw = 30, .t_rrd_s = 4}};
    ts_dram *dram = channel_of(arena, &c);
    for (int i = 0; i < 4; i++) {
        ts_dram_limit limit = dram_earliest(dram, TS_DRAM_ACT, 2 * i);
        assert_int_equal(limit.cycle, 4 * i);
        issue(dram, TS_DRAM_ACT, 2 * i, 4 * i);
    }
    ts_dram_limit limit = dram_earliest(dram, TS_DRAM_ACT, 1);
    assert_int_equal(limit.cycle, 30);
    assert_string_equal(limit.rule->name, "tFAW");
    assert_int_equal(limit.since, 0);
    assert_int_equal(dram_earliest(dram, TS_DRAM_ACT, 8).cycle,
                     14); /* the other pseudo channel: its bus only */
    issue(dram, TS_DRAM_ACT, 1, 30);
    assert_int_equal(dram_earliest(dram, TS_DRAM_ACT, 3).cycle, 34);
}

/* ---- Sequences of requests, in one pseudo channel: bits 6-7 of an address are the bank group, 8-11 the
 * column, 12-13 the bank; then, of HBM3, 14 the stack id; then the row. ---- */

typedef struct {
    const char *field;
    size_t at;
    bool is_hbm3;
    const char *requests; /* "R40@7": a read of 64 bytes at 0x40, from cycle 7 on */
    struct {
        size_t at; /* + 1 */
        int32_t cycles;
    } base[2]; /* figures that are not those of the reference machine: this rule is to be the one that binds
                */
    ts_hbm_refresh refresh;
    ts_hbm_limiter limiter; /* what a longer figure counts as; DATA: nothing */
    int64_t
        cycles[4]; /* by figure: one less, as it is, one more, 0 (the rule left out; -1: makes no sense) */
} sensitivity;

#define FIELD(member) #member, offsetof(ts_hbm_timing, member)
#define HBM2          false
#define HBM3          true
#define ALL_BANK      .refresh = TS_HBM_REFRESH_ALL_BANK
#define PER_BANK      .refresh = TS_HBM_REFRESH_PER_BANK
#define HELD_BY(id)   .limiter = TS_HBM_LIMITER_##id

/* R0: ACT at 1, RD at 1 + tRCD + 1, the second half tCCD_L later, its data CL + BL after that: 36. ACT takes
 * two cycles of HBM2 (hence + 1), three halves of one of HBM3, whose column commands start on whole cycles
 * only. */
static const sensitivity rows[] = {
    {FIELD(t_rcd_rd), HBM2, "R0", HELD_BY(RCD), .cycles = {35, 36, 37, 22}},
    {FIELD(t_cl), HBM2, "R0", .cycles = {35, 36, 37, 22}},
    {FIELD(n_bl), HBM2, "R0", .cycles = {35, 36, 37, -1}},
    {FIELD(n_bl), HBM2, "R0 R40", {{T(t_ccd_s), 1}}, .cycles = {39, 40, 43, -1}},
    {FIELD(t_rcd_wr), HBM2, "W0", HELD_BY(RCD), .cycles = {17, 18, 19, 6}},
    {FIELD(t_cwl), HBM2, "W0 W4000", .cycles = {70, 71, 72, 66}},
    {FIELD(t_wr), HBM2, "W0 W4000", HELD_BY(WR), .cycles = {70, 71, 72, 66}},
    {FIELD(t_rp), HBM2, "W0 W4000", HELD_BY(RP), .cycles = {70, 71, 72, 66}},
    {FIELD(t_ras), HBM2, "R0 R4000", {{T(t_rc), 40}}, HELD_BY(RAS), .cycles = {83, 84, 85, 76}},
    {FIELD(t_rc), HBM2, "R0 R4000", {{T(t_ras), 30}}, HELD_BY(RC), .cycles = {83, 84, 85, 80}},
    {FIELD(t_rtp), HBM2, "R0 R100 R200 R300 R4000", HELD_BY(RTP), .cycles = {96, 97, 98, 92}},
    {FIELD(t_ccd_s), HBM2, "R0 R40", {{T(t_ccd_s), 3}}, HELD_BY(CCD), .cycles = {40, 42, 44, 40}},
    {FIELD(t_ccd_l), HBM2, "R0 R100", HELD_BY(CCD), .cycles = {41, 44, 47, 38}},
    {FIELD(t_rrd_s), HBM2, "R0 R40", {{T(t_rrd_s), 8}}, HELD_BY(RRD), .cycles = {43, 44, 45, 38}},
    {FIELD(t_rrd_l), HBM2, "R0 R1000", {{T(t_rrd_l), 12}}, HELD_BY(RRD), .cycles = {47, 48, 49, 44}},
    {FIELD(t_faw), HBM2, "R0 R40 R80 Rc0 R1000", {{T(t_faw), 30}}, HELD_BY(FAW), .cycles = {65, 66, 67, 52}},
    {FIELD(t_wtr_s), HBM2, "R40 W0@40 R140@59", HELD_BY(WTR), .cycles = {90, 91, 92, 85}},
    {FIELD(t_wtr_l), HBM2, "W0 R100@19", HELD_BY(WTR), .cycles = {52, 53, 54, 51}},
    {FIELD(t_rtw), HBM2, "R0 W100", HELD_BY(RTW), .cycles = {36, 37, 38, 36}},
    {FIELD(t_rfc), HBM2, "R0@3900", ALL_BANK, HELD_BY(REFRESH), .cycles = {4193, 4194, 4195, 3936}},
    {FIELD(t_refi), HBM2, "R0@3900", ALL_BANK, .cycles = {4193, 4194, 4195, -1}},
    {FIELD(t_rfc_pb), HBM2, "R0@244", PER_BANK, HELD_BY(REFRESH), .cycles = {437, 438, 439, 286}},
    {FIELD(t_refi_pb), HBM2, "R0@244", PER_BANK, .cycles = {437, 438, 439, -1}},
    {FIELD(t_rrefd), HBM2, "R1000@244", PER_BANK, HELD_BY(REFRESH), .cycles = {285, 286, 287, 280}},
    {FIELD(t_rcd_rd), HBM3, "R0", HELD_BY(RCD), .cycles = {115, 117, 119, 55}},
    {FIELD(t_ccd_r), HBM3, "R0 R4000", HELD_BY(CCD), .cycles = {125, 129, 133, 125}},
    {FIELD(t_ppd),
     HBM3,
     "R0 R40 R8000@300 R8040@300",
     {{T(t_ppd), 8}},
     HELD_BY(PPD),
     .cycles = {481, 483, 485, 475}},
};

static void offer(ts_hbm_stream *stream, const char *requests) {
    for (const char *at = requests; *at; at += strspn(at, " ")) {
        bool is_write = *at == 'W';
        char *end;
        int64_t address = strtoll(at + 1, &end, 16), earliest = *end == '@' ? strtoll(end + 1, &end, 10) : 0;
        ts_hbm_stream_offer(stream, address, 64, is_write, earliest);
        at = end;
    }
}

static ts_hbm_stats stats_of(const sensitivity *row, const ts_hbm_config *reference, int32_t figure) {
    ts_arena *arena = ts_arena_new();
    ts_hbm_config c = *reference;
    ts_hbm_stats stats;
    c.refresh = row->refresh;
    c.channels = c.pseudo_channels = 1;
    for (int i = 0; i < 2 && row->base[i].at; i++)
        *(int32_t *)((char *)&c.timing + row->base[i].at - 1) = row->base[i].cycles;
    *(int32_t *)((char *)&c.timing + row->at) += figure;
    if (figure == INT32_MIN) *(int32_t *)((char *)&c.timing + row->at) = 0;
    ts_error err = {0};
    ts_hbm *hbm = ts_hbm_new(&err, arena, &c);
    if (!hbm) fail_msg("%s", err.message);
    offer(ts_hbm_stream_new(arena, hbm, TS_HBM_UNLIMITED, TS_HBM_UNLIMITED), row->requests);
    int64_t end = ts_hbm_drain(hbm);
    ts_hbm_read_stats(hbm, &stats);
    assert_int_equal(stats.end_cycle, end);
    ts_arena_free(arena);
    return stats;
}

static int64_t run(const sensitivity *row, const ts_hbm_config *reference, int32_t figure) {
    return stats_of(row, reference, figure).end_cycle;
}

/* All that a longer figure adds is counted as its rule's limiter. */
TEST_WITH_ARENA(the_rule_is_the_cause) {
    const ts_machine *machines[] = {ts_machine_load(NULL, arena, "hbm2-reference"),
                                    ts_machine_load(NULL, arena, "hbm3-reference")};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const ts_hbm_config *c = &machines[rows[i].is_hbm3]->hbm;
        ts_hbm_stats base = stats_of(&rows[i], c, 60), longer = stats_of(&rows[i], c, 100);
        int64_t more = longer.end_cycle - base.end_cycle;
        int64_t counted = longer.limiter_cycles[rows[i].limiter] - base.limiter_cycles[rows[i].limiter];
        if (rows[i].limiter != TS_HBM_LIMITER_DATA && (more < 40 || counted != more))
            fail_msg("%s, %s: %lld longer, %lld of it %s\n", rows[i].field, rows[i].requests, (long long)more,
                     (long long)counted, ts_hbm_limiter_name(rows[i].limiter));
    }
}

/* ---- Rules of one's own. ---- */

static ts_dram_rules with(ts_arena *arena, const ts_hbm_config *c, ts_dram_rule rule) {
    ts_dram_rules given = ts_dram_rules_of(arena, c);
    ts_dram_rule *more = TS_NEW_ARRAY(arena, ts_dram_rule, given.count + 1);
    memcpy(more, given.rows, (size_t)given.count * sizeof *more);
    more[given.count] = rule;
    return (ts_dram_rules){more, given.count + 1};
}

/* Requests that a new rule alone holds back: when all is done, and for how long no data moved because of it.
 * HBM2: R0 is an ACT at 1 and RDs at 16 and 20, whose data takes the bus up to 22; the next ACT is at 401. */
static const struct {
    const char *requests;
    ts_dram_rule rule;
    int64_t end, held;
} added[] = {
    {"R0 R40", {"tNEW", TS_DRAM_SID, ACT, ACT, 400, 1, false, TS_HBM_LIMITER_PPD}, 436, 379},
    {"R0 R40", {"tNEW", TS_DRAM_CHANNEL, ACT, ACT, 400, 1, false, TS_HBM_LIMITER_PPD}, 436, 379},
    {"R0 R1000", {"tNEW", TS_DRAM_GROUP, ACT, ACT, 400, 1, false, TS_HBM_LIMITER_WTR}, 436, 379},
    {"R0 R100", {"tNEW", TS_DRAM_PC, READS, READS, 100, 1, false, TS_HBM_LIMITER_PPD}, 332, 294},
    {"R0 R4000", {"tNEW", TS_DRAM_BANK, ACT, PRE, 400, 1, false, TS_HBM_LIMITER_PPD}, 450, 380},
    {"R0 R4000", {"tNEW", TS_DRAM_BANK, PRE, ACT, 400, 1, false, TS_HBM_LIMITER_PPD}, 470, 399},
    {"R0 R40 R80 Rc0 R1000", {"tNEW", TS_DRAM_PC, ACT, ACT, 400, 4, false, TS_HBM_LIMITER_PPD}, 436, 367},
    {"R0 R40", {"bus", TS_DRAM_CHANNEL, ROWS, ROWS, 400, 1, true, TS_HBM_LIMITER_PPD}, 436, 379},
    {"R0 R40", {"none", TS_DRAM_CHANNEL, ROWS, ROWS, 0, 1, true, TS_HBM_LIMITER_PPD}, 40, 0},
};

TEST_WITH_ARENA(a_rule_added_at_run_time) {
    ts_hbm_config c = ts_machine_load(NULL, arena, "hbm2-reference")->hbm;
    c.refresh = TS_HBM_REFRESH_NONE;
    c.channels = c.pseudo_channels = 1;
    for (size_t i = 0; i < sizeof added / sizeof added[0]; i++) {
        ts_hbm_stats stats;
        ts_error err = {0};
        ts_hbm *hbm = ts_hbm_new_with_rules(&err, arena, &c, 1, with(arena, &c, added[i].rule));
        if (!hbm) fail_msg("%s", err.message);
        offer(ts_hbm_stream_new(arena, hbm, TS_HBM_UNLIMITED, TS_HBM_UNLIMITED), added[i].requests);
        int64_t end = ts_hbm_drain(hbm);
        ts_hbm_read_stats(hbm, &stats);
        if (end != added[i].end || stats.limiter_cycles[added[i].rule.limiter] != added[i].held)
            fail_msg("%zu: {%lld, %lld}", i, (long long)end,
                     (long long)stats.limiter_cycles[added[i].rule.limiter]);
    }
}

TEST_WITH_ARENA(every_figure_counts) {
    static const int32_t figures[4] = {-1, 0, 1, INT32_MIN};
    ts_error err = {0};
    const ts_machine *machines[] = {ts_machine_load(&err, arena, "hbm2-reference"),
                                    ts_machine_load(&err, arena, "hbm3-reference")};
    int wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t got[4];
        bool differ = false;
        for (int k = 0; k < 4; k++) {
            got[k] = rows[i].cycles[k] < 0 ? -1 : run(&rows[i], &machines[rows[i].is_hbm3]->hbm, figures[k]);
            differ = differ || got[k] != rows[i].cycles[k];
        }
        if (differ)
            print_error("%s, %s: {%lld, %lld, %lld, %lld}\n", rows[i].field, rows[i].requests,
                        (long long)got[0], (long long)got[1], (long long)got[2], (long long)got[3]);
        wrong += differ;
        assert_true(rows[i].cycles[0] < rows[i].cycles[1] && rows[i].cycles[1] < rows[i].cycles[2]);
    }
    assert_int_equal(wrong, 0);
}

#define KINDS ", expected a rule that the controller can keep to (kinds in dram_spec.c)"
#define SETS  ", expected RD with RDA, WR with WRA, PRE with PREA before PRE, and all commands of a bus"

TEST_WITH_ARENA(a_rule_that_cannot_be_kept) {
    static const struct {
        ts_dram_rule rule;
        const char *message;
    } refused[] = {
        {{"x", TS_DRAM_BANK, READS, READS, 1, 1, false, 0}, "found RD after the last 1 RD of the bank" KINDS},
        {{"x", TS_DRAM_PC, ACT, WRITES, 1, 1, false, 0},
         "found WR after the last 1 ACT of the pseudo channel" KINDS},
        {{"x", TS_DRAM_BANK, RD, ACT, 1, 1, false, 0}, "found ACT after the last 1 RD of the bank" KINDS},
        {{"x", TS_DRAM_GROUP, ACT, PRE, 0, 1, false, 0},
         "found PRE after the last 1 ACT of the bank group" KINDS},
        {{"x", TS_DRAM_PC, ACT, ACT, 1, 5, false, 0},
         "found ACT after the last 5 ACT of the pseudo channel" KINDS},
        {{"x", TS_DRAM_SID, ACT, ACT, 1, 4, false, 0},
         "found ACT after the last 4 ACT of the stack id" KINDS},
        {{"x", TS_DRAM_BANK, PREA, REFB, 1, 1, false, 0},
         "found REFB after the last 1 PREA of the bank" KINDS},
        {{"x", TS_DRAM_OTHER_SID, WR, REFA, 1, 1, false, 0},
         "found REFA after the last 1 WR of the other stack id" KINDS},
        {{"x", TS_DRAM_BANK, RDA, PRE, 1, 1, false, 0}, "found PRE after the last 1 RDA of the bank" KINDS},
        {{"x", TS_DRAM_PC, ROWS, ROWS, 1, 1, true, 0},
         "found ACT after the last 1 ACT of the pseudo channel" KINDS},
        {{"x", TS_DRAM_CHANNEL, WR, WRITES, 1, 1, false, 0}, "found commands 0x22 after 0x2" SETS},
        {{"x", TS_DRAM_CHANNEL, READS, RDA, 1, 1, false, 0}, "found commands 0x10 after 0x11" SETS},
        {{"x", TS_DRAM_PC, PREA, PRE, 1, 1, false, 0}, "found commands 0x8 after 0x40" SETS},
        {{"x", TS_DRAM_CHANNEL, ROWS, ACT, 1, 1, true, 0}, "found commands 0x4 after 0x1cc" SETS},
        {{"x", TS_DRAM_CHANNEL, 0, ACT, 1, 1, false, 0}, "found commands 0x4 after 0x0" SETS},
        {{"x", TS_DRAM_CHANNEL, ACT, 0, 1, 1, false, 0}, "found commands 0x0 after 0x4" SETS},
    };
    ts_hbm_config c = ts_machine_load(NULL, arena, "hbm2-reference")->hbm;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        ts_error err = {0};
        char expected[256];
        snprintf(expected, sizeof expected, "dram rule x: %s", refused[i].message);
        assert_null(ts_hbm_new_with_rules(&err, arena, &c, 1, with(arena, &c, refused[i].rule)));
        assert_string_equal(err.message, expected);
    }
}

TEST_WITH_ARENA(too_many_rules) {
    ts_hbm_config c = ts_machine_load(NULL, arena, "hbm2-reference")->hbm;
    ts_dram_rule same[33];
    ts_error err = {0};
    for (int i = 0; i < 33; i++)
        same[i] = (ts_dram_rule){"x", TS_DRAM_PC, ACT, ACT, 1, 1, false, TS_HBM_LIMITER_RRD};
    assert_non_null(dram_spec_new(&err, arena, &c, (ts_dram_rules){same, 32}));
    assert_null(dram_spec_new(&err, arena, &c, (ts_dram_rules){same, 33}));
    assert_string_equal(err.message, "dram rules: found 33 that a command waits for, expected at most 32");
}

/* Each timing that a machine has is in `rows`. */
TEST(every_timing_has_a_row) {
    static const char *const timings[] = {
#define TIMING(name, most, meaning) #name,
#include "machine/hbm_timing.def"
#undef TIMING
    };
    for (size_t i = 0; i < sizeof timings / sizeof timings[0]; i++) {
        size_t row = 0, count = sizeof rows / sizeof rows[0];
        while (row < count && strcmp(rows[row].field, timings[i]) != 0) row++;
        if (row == count) fail_msg("%s has no row", timings[i]);
    }
}
