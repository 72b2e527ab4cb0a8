/* A core with small memories and a program in a few characters, for tests below the assembler. */
#ifndef TILESIM_TESTS_CORE_FIXTURE_H
#define TILESIM_TESTS_CORE_FIXTURE_H

#include "core/core.h"

/* One bundle a line, instructions separated by ';', operands by spaces:
 *   s1 v2 m3     registers            ?m3  the write mask
 *   12 -3 1.5    numbers (a '.' makes it f32)
 *   [64+s1*128+s2/8*1024!]  a word address; '!' behind a term: the division must be exact
 *   stride=2 rows=0x0f tensor=0 beyond   of the address before them
 *   @3 a bundle   e0 a semaphore   e1+s2:4 the semaphores 1 to 4 by s2   t0 a transfer
 * Aborts on a mistake. `code` gets the bundles; its other fields stay. */
void fixture_assemble(ts_arena *arena, ts_code *code, const char *text);

enum { FIXTURE_SEMAPHORES = 8, FIXTURE_EVENTS = 4096 };
typedef struct {
    int transfer, semaphore;
    int64_t source_begin[4], destination_begin[4];
    int64_t cycle;
} fixture_start;
typedef struct { /* without gaps: events are compared byte by byte */
    int64_t bundle;
    int64_t cycle, cycles; /* of a stall; cycles 0: the bundle issued at `cycle` */
    int64_t stall;
} fixture_event;

typedef struct {
    ts_arena *arena;
    ts_core_config config;
    ts_code code;
    ts_space *vmem, *smem;
    int64_t semaphores[FIXTURE_SEMAPHORES];
    ts_core_ports ports;
    bool time_only, profile;
    int64_t patience, max_cycles;
    int number, cores;            /* of the core, and how many there are: 1 */
    const ts_core_device *device; /* NULL: there is no mesh */
    ts_findings *findings;        /* NULL: undefined values are not followed; else the spaces need a shadow */
    ts_core *core;
    ts_error err;
    fixture_start starts[16];
    int start_count;
    fixture_event events[FIXTURE_EVENTS];
    int event_count;
} fixture;

/* All latencies 1, occupancies 1, 4 slots of each kind, 32 sregs, 64 vregs, 16 vmasks, 64 KiB of VMEM, 1 KiB
 * of SMEM. Change `config` and `code` before fixture_load. */
fixture *fixture_new(void);
bool fixture_load(fixture *f, const char *text);
/* To the end, or a fault (false), or a wait that nothing ends. */
bool fixture_run(fixture *f);
void fixture_free(fixture *f);

/* fixture_load and fixture_run, which must succeed. */
void fixture_do(fixture *f, const char *text);

uint32_t *fixture_vreg(fixture *f, int reg);
uint32_t fixture_sreg(fixture *f, int reg);
/* The cycle at which the bundle issued first, -1: never. */
int64_t fixture_issued(const fixture *f, int bundle);
/* The cycles charged to the stall of that name. */
int64_t fixture_stalled(const fixture *f, const char *name);

/* Where the instruction reads or writes, in bytes; 0: in no memory. */
int64_t fixture_address(const ts_instruction *instruction);
uint32_t fixture_random(uint64_t *seed); /* 31 bits */

#endif
