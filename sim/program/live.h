/* Which registers hold a value that is still read, before each bundle. */
#ifndef TILESIM_PROGRAM_LIVE_H
#define TILESIM_PROGRAM_LIVE_H

#include "program/program.h"

typedef enum { TS_LIVE_SREGS, TS_LIVE_VREGS, TS_LIVE_VMASKS, TS_LIVE_KINDS } ts_live_kind;

/* A set bit: the register of that number is read by this bundle or a later one before it is written. A masked
 * write, and a load of some sublanes, keep the old value alive. */
typedef struct {
    uint64_t live[TS_LIVE_KINDS][TS_REGISTERS_MAX / 64];
} ts_live;

/* Live registers: an entry per bundle, and one for the end of the program. */
const ts_live *ts_program_live(ts_arena *arena, const ts_program *program);
bool ts_live_has(const ts_live *live, ts_live_kind kind, int reg);
int ts_live_count(const ts_live *live, ts_live_kind kind);

#endif
