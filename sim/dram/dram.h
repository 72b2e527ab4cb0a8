/* The timing of one DRAM channel: when a command may start, and which rule says so. */
#ifndef TILESIM_DRAM_DRAM_H
#define TILESIM_DRAM_DRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "machine/hbm_config.h"

/* Commands are bits, as rules name sets of them. PREA and REFA act on a pseudo channel, given by any of its
 * banks; RDA and WRA close their row after the access; REFB refreshes one bank. */
typedef enum {
    TS_DRAM_RD = 1,
    TS_DRAM_WR = 2,
    TS_DRAM_ACT = 4,
    TS_DRAM_PRE = 8,
    TS_DRAM_RDA = 16,
    TS_DRAM_WRA = 32,
    TS_DRAM_PREA = 64,
    TS_DRAM_REFA = 128,
    TS_DRAM_REFB = 256,
} ts_dram_command;
enum { TS_DRAM_COMMANDS = 9 };

typedef enum {
    TS_DRAM_CHANNEL,
    TS_DRAM_PC,
    TS_DRAM_SID,
    TS_DRAM_OTHER_SID,
    TS_DRAM_GROUP,
    TS_DRAM_BANK,
} ts_dram_level;

/* What the time of a pseudo channel goes to. */
typedef enum {
#define LIMITER(id, name, part, meaning) TS_HBM_LIMITER_##id,
#include "dram/hbm_limiters.def"
#undef LIMITER
    TS_HBM_LIMITER_COUNT,
} ts_hbm_limiter;

/* A row of dram_rules.def, with its numbers. */
typedef struct {
    const char *name;
    ts_dram_level level;
    int after, before; /* sets of commands */
    int32_t cycles;    /* CK, end to end; of a bus rule ticks, start to start; 0 or less: no such rule */
    int32_t window;
    bool is_bus;
    ts_hbm_limiter limiter; /* what a wait for it counts as */
} ts_dram_rule;

typedef struct {
    const ts_dram_rule *rows;
    int count;
} ts_dram_rules;

/* The rows of dram_rules.def for a machine. */
ts_dram_rules ts_dram_rules_of(ts_arena *arena, const ts_hbm_config *config);

typedef struct ts_dram ts_dram;

typedef struct {
    int64_t cycle; /* ticks; the command may start at it, and not at the one before */
    const ts_dram_rule
        *rule;     /* the row that sets it, of several its own bank's first; NULL: none (cycle 0) */
    int64_t since; /* when the command started that the rule counts from */
} ts_dram_limit;

#endif
