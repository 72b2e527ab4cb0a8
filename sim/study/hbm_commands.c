/* The commands of a run of HBM: kept as they are issued, channel by channel, and written in the order of
 * time. */
#include "study/hbm_commands.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/number.h"

typedef struct {
    int64_t tick, number; /* in the order in which they were told */
    int32_t row;
    int16_t command, bus, bank, column;
} kept;
_Static_assert(sizeof(kept) <= 32, "as the header says");

struct ts_hbm_commands {
    ts_arena *arena;
    const ts_hbm_config *config;
    kept *all;
    int64_t count;
};

ts_hbm_commands *ts_hbm_commands_new(ts_arena *arena, const ts_hbm_config *config) {
    ts_hbm_commands *c = TS_NEW(arena, ts_hbm_commands);
    c->arena = arena;
    c->config = config;
    return c;
}

static void keep(void *self, const ts_hbm_command *command) {
    ts_hbm_commands *c = self;
    kept *made = TS_APPEND(c->arena, c->all, c->count);
    *made = (kept){.tick = command->tick,
                   .number = c->count,
                   .row = command->row,
                   .command = (int16_t)command->command,
                   .bus = (int16_t)command->bus,
                   .bank = (int16_t)command->bank,
                   .column = (int16_t)command->column};
}

void ts_hbm_commands_observe(ts_hbm_commands *commands, ts_hbm *hbm) {
    ts_hbm_observe_commands(hbm, keep, commands);
}

static int by_time(const void *a, const void *b) {
    const kept *x = a, *y = b;
    int order = ts_order(x->tick, y->tick);
    if (order == 0) order = ts_order(x->bus, y->bus);
    return order ? order : ts_order(x->number, y->number);
}

static const char *name_of(int command) {
    switch ((ts_dram_command)command) {
    case TS_DRAM_RD:
        return "RD";
    case TS_DRAM_WR:
        return "WR";
    case TS_DRAM_ACT:
        return "ACT";
    case TS_DRAM_PRE:
        return "PRE";
    case TS_DRAM_RDA:
        return "RDA";
    case TS_DRAM_WRA:
        return "WRA";
    case TS_DRAM_PREA:
        return "PREA";
    case TS_DRAM_REFA:
        return "REFab";
    default:
        return "REFpb";
    }
}

static void write_one(const ts_hbm_config *c, const kept *k, ts_text *out) {
    int pcs = c->pseudo_channels, of_sid = c->bank_groups * c->banks;
    ts_text_add(out, "%" PRId64 ",%s,%d,%d,", k->tick, name_of(k->command), k->bus / pcs, k->bus % pcs);
    if (k->command == TS_DRAM_PREA || k->command == TS_DRAM_REFA)
        ts_text_add(out, "-1,-1,-1,");
    else
        ts_text_add(out, "%d,%d,%d,", k->bank / of_sid, k->bank % of_sid / c->banks, k->bank % c->banks);
    ts_text_add(out, "%" PRId32 ",%d\n", k->row, k->column);
}

void ts_hbm_commands_write(ts_hbm_commands *commands, ts_text *out) {
    if (commands->count > 0) qsort(commands->all, (size_t)commands->count, sizeof *commands->all, by_time);
    ts_text_add(out, "cycle,command,channel,pseudo_channel,sid,bank_group,bank,row,column\n");
    for (int64_t i = 0; i < commands->count; i++) write_one(commands->config, &commands->all[i], out);
}
