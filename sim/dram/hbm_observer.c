/* Who is told of each burst, and of each command, as it starts. */
#include "hbm_channel.h"

void ts_hbm_observe(ts_hbm *hbm, ts_hbm_observer *observer, void *self) {
    hbm->observer = observer;
    hbm->observed = self;
    hbm->is_observed = hbm->observer || hbm->command_observer;
}

void ts_hbm_observe_commands(ts_hbm *hbm, ts_hbm_command_observer *observer, void *self) {
    hbm->command_observer = observer;
    hbm->commands_observed = self;
    hbm->is_observed = hbm->observer || hbm->command_observer;
}

enum {
    COLUMNS = 1 << DRAM_READ | 1 << DRAM_WRITE | 1 << DRAM_RDA | 1 << DRAM_WRA,
    WRITES = 1 << DRAM_WRITE | 1 << DRAM_WRA,
    COLUMN_MASK = (1 << TS_ADDRESS_COLUMN_BITS) - 1,
};

/* The per bank scheduler has a channel for each pseudo channel. */
void hbm_tell(const ts_hbm *hbm, const hbm_channel *ch, int command, int bank, uint64_t location, int32_t t) {
    int bit = 1 << command, of_pc = hbm->spec->banks_of_pc;
    bool is_column = (bit & COLUMNS) != 0, has_row = is_column || command == DRAM_ACT;
    const ts_hbm_command told = {.command = (ts_dram_command)bit,
                                 .bus = ch->number * hbm->spec->pcs + bank / of_pc,
                                 .bank = bank % of_pc,
                                 .row = has_row ? ch->dram.open_row[bank] : -1,
                                 .column = is_column ? (int32_t)(location & COLUMN_MASK) : -1,
                                 .tick = hbm->base + t};
    if (hbm->command_observer) hbm->command_observer(hbm->commands_observed, &told);
    if (hbm->observer && is_column)
        hbm->observer(hbm->observed, &(ts_hbm_burst){told.bus, hbm->share, (bit & WRITES) != 0, told.tick});
}
