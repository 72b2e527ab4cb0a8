/* Every rule of DRAM timing matters: what each says between any two commands on any two banks, by a second
 * table; and short sequences of requests that change when a figure is one cycle off, or its rule left out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"
#include "machine/machine.h"
#include "dram/dram.h"
#include "dram/hbm.h"

/* ---- Between two commands. ---- */

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

static void check_pair(ts_dram *dram, const ts_hbm_config *c, int after, int a, int before, int b) {
    bool is_named[RULES];
    int64_t cycle = expected(c, after, a, before, b, is_named);
    ts_dram_limit got = ts_dram_earliest(dram, (ts_dram_command)before, b);
    if (got.cycle != cycle)
        fail_msg("0x%x on %d, 0x%x on %d: %lld, expected %lld", after, a, before, b, (long long)got.cycle,
                 (long long)cycle);
    for (int i = 0; i < RULES; i++) {
        if (is_named[i] && strcmp(got.rule->name, rules[i].name) == 0) return;
    }
    if (got.rule && !strstr(got.rule->name, " bus")) fail_msg("%s sets the time", got.rule->name);
}

static void random_timing(ts_hbm_timing *t) {
    int32_t *figures = (int32_t *)t;
    for (size_t i = 0; i < sizeof *t / sizeof *figures; i++) figures[i] = rand() % 4 ? rand() % 60 : 0;
}

static void any_two_commands(void **state) {
    (void)state;
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
        ts_dram *dram = ts_dram_new(NULL, arena, &c, ts_dram_rules_of(arena, &c));
        for (int k = 0; k < TS_DRAM_COMMANDS * BANKS; k++) {
            int after = 1 << k / BANKS, a = k % BANKS;
            ts_dram_reset(dram);
            ts_dram_issue(dram, (ts_dram_command)after, a, AT);
            for (int n = 0; n < TS_DRAM_COMMANDS * BANKS; n++)
                check_pair(dram, &c, after, a, 1 << n / BANKS, n % BANKS);
        }
        ts_arena_free(arena);
    }
}

static void four_acts_in_a_window(void **state) {
    (void)state;
    ts_arena *arena = ts_arena_new();
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
    ts_dram *dram = ts_dram_new(NULL, arena, &c, ts_dram_rules_of(arena, &c));
    for (int i = 0; i < 4; i++) {
        ts_dram_limit limit = ts_dram_earliest(dram, TS_DRAM_ACT, 2 * i);
        assert_int_equal(limit.cycle, 4 * i);
        ts_dram_issue(dram, TS_DRAM_ACT, 2 * i, 4 * i);
    }
    ts_dram_limit limit = ts_dram_earliest(dram, TS_DRAM_ACT, 1);
    assert_int_equal(limit.cycle, 30);
    assert_string_equal(limit.rule->name, "tFAW");
    assert_int_equal(limit.since, 0);
    assert_int_equal(ts_dram_earliest(dram, TS_DRAM_ACT, 8).cycle,
                     14); /* the other pseudo channel: its bus only */
    ts_dram_issue(dram, TS_DRAM_ACT, 1, 30);
    assert_int_equal(ts_dram_earliest(dram, TS_DRAM_ACT, 3).cycle, 34);
    ts_arena_free(arena);
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
    int64_t
        cycles[4]; /* by figure: one less, as it is, one more, 0 (the rule left out; -1: makes no sense) */
} sensitivity;

#define FIELD(member) #member, offsetof(ts_hbm_timing, member)
#define HBM2          false
#define HBM3          true
#define ALL_BANK      .refresh = TS_HBM_REFRESH_ALL_BANK
#define PER_BANK      .refresh = TS_HBM_REFRESH_PER_BANK

/* R0: ACT at 1, RD at 1 + tRCD + 1, the second half tCCD_L later, its data CL + BL after that: 36. ACT takes
 * two cycles of HBM2 (hence + 1), three halves of one of HBM3, whose column commands start on whole cycles
 * only. */
static const sensitivity rows[] = {
    {FIELD(t_rcd_rd), HBM2, "R0", .cycles = {35, 36, 37, 22}},
    {FIELD(t_cl), HBM2, "R0", .cycles = {35, 36, 37, 22}},
    {FIELD(n_bl), HBM2, "R0", .cycles = {35, 36, 37, -1}},
    {FIELD(n_bl), HBM2, "R0 R40", {{T(t_ccd_s), 1}}, .cycles = {39, 40, 43, -1}},
    {FIELD(t_rcd_wr), HBM2, "W0", .cycles = {17, 18, 19, 6}},
    {FIELD(t_cwl), HBM2, "W0 W4000", .cycles = {70, 71, 72, 66}},
    {FIELD(t_wr), HBM2, "W0 W4000", .cycles = {70, 71, 72, 66}},
    {FIELD(t_rp), HBM2, "W0 W4000", .cycles = {70, 71, 72, 66}},
    {FIELD(t_ras), HBM2, "R0 R4000", {{T(t_rc), 40}}, .cycles = {83, 84, 85, 76}},
    {FIELD(t_rc), HBM2, "R0 R4000", {{T(t_ras), 30}}, .cycles = {83, 84, 85, 80}},
    {FIELD(t_rtp), HBM2, "R0 R100 R200 R300 R4000", .cycles = {96, 97, 98, 92}},
    {FIELD(t_ccd_s), HBM2, "R0 R40", {{T(t_ccd_s), 3}}, .cycles = {40, 42, 44, 40}},
    {FIELD(t_ccd_l), HBM2, "R0 R100", .cycles = {41, 44, 47, 38}},
    {FIELD(t_rrd_s), HBM2, "R0 R40", {{T(t_rrd_s), 8}}, .cycles = {43, 44, 45, 38}},
    {FIELD(t_rrd_l), HBM2, "R0 R1000", {{T(t_rrd_l), 12}}, .cycles = {47, 48, 49, 44}},
    {FIELD(t_faw), HBM2, "R0 R40 R80 Rc0 R1000", {{T(t_faw), 30}}, .cycles = {65, 66, 67, 52}},
    {FIELD(t_wtr_s), HBM2, "R40 W0@40 R140@59", .cycles = {90, 91, 92, 85}},
    {FIELD(t_wtr_l), HBM2, "W0 R100@19", .cycles = {52, 53, 54, 51}},
    {FIELD(t_rtw), HBM2, "R0 W100", .cycles = {36, 37, 38, 36}},
    {FIELD(t_rfc), HBM2, "R0@3900", ALL_BANK, .cycles = {4193, 4194, 4195, 3936}},
    {FIELD(t_refi), HBM2, "R0@3900", ALL_BANK, .cycles = {4193, 4194, 4195, -1}},
    {FIELD(t_rfc_pb), HBM2, "R0@244", PER_BANK, .cycles = {437, 438, 439, 286}},
    {FIELD(t_refi_pb), HBM2, "R0@244", PER_BANK, .cycles = {437, 438, 439, -1}},
    {FIELD(t_rrefd), HBM2, "R1000@244", PER_BANK, .cycles = {285, 286, 287, 280}},
    {FIELD(t_rcd_rd), HBM3, "R0", .cycles = {115, 117, 119, 55}},
    {FIELD(t_ccd_r), HBM3, "R0 R4000", .cycles = {125, 129, 133, 125}},
    {FIELD(t_ppd), HBM3, "R0 R40 R8000@300 R8040@300", {{T(t_ppd), 8}}, .cycles = {481, 483, 485, 475}},
};

static int64_t run(const sensitivity *row, const ts_hbm_config *reference, int32_t figure) {
    ts_arena *arena = ts_arena_new();
    ts_hbm_config c = *reference;
    ts_error err = {0};
    c.refresh = row->refresh;
    c.channels = c.pseudo_channels = 1;
    for (int i = 0; i < 2 && row->base[i].at; i++)
        *(int32_t *)((char *)&c.timing + row->base[i].at - 1) = row->base[i].cycles;
    *(int32_t *)((char *)&c.timing + row->at) += figure;
    if (figure == INT32_MIN) *(int32_t *)((char *)&c.timing + row->at) = 0;
    ts_hbm *hbm = ts_hbm_new(&err, arena, &c);
    ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, TS_HBM_UNLIMITED, TS_HBM_UNLIMITED);
    for (const char *at = row->requests; *at; at += strspn(at, " ")) {
        bool is_write = *at == 'W';
        char *end;
        int64_t address = strtoll(at + 1, &end, 16), earliest = *end == '@' ? strtoll(end + 1, &end, 10) : 0;
        ts_hbm_stream_offer(stream, address, 64, is_write, earliest);
        at = end;
    }
    int64_t cycles = ts_hbm_drain(hbm);
    ts_arena_free(arena);
    return cycles;
}

static void every_figure_counts(void **state) {
    (void)state;
    static const int32_t figures[4] = {-1, 0, 1, INT32_MIN};
    ts_arena *arena = ts_arena_new();
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
    ts_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_two_commands),
        cmocka_unit_test(four_acts_in_a_window),
        cmocka_unit_test(every_figure_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
