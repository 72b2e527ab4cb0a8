/* Time only: scalars that come from vectors are unknown; what they go into is too, and nothing may be steered
 * by them. */
#ifndef TILESIM_CHECK_UNKNOWN_H
#define TILESIM_CHECK_UNKNOWN_H

#include "base/arena.h"
#include "base/error.h"
#include "isa/isa.h"

typedef struct ts_unknown ts_unknown;       /* the sregs and the SMEM of a core */
typedef struct ts_unknown_op ts_unknown_op; /* an instruction, as far as it has to do with scalars */

ts_unknown *ts_unknown_new(ts_arena *arena, const ts_code *code, int sregs, int64_t smem_bytes);
bool ts_unknown_has(const ts_unknown *unknown, int sreg); /* is it unknown now? */
bool ts_unknown_any(const ts_unknown *unknown);           /* is any sreg? */

/* NULL: it neither reads nor writes a scalar that can be unknown. */
ts_unknown_op *ts_unknown_op_new(ts_arena *arena, const ts_unknown *unknown,
                                 const ts_instruction *instruction);

/* Before the bundle issues, of each op: all that steers it is known. Else refused, with the lines through
 * which the unknown came. */
bool ts_unknown_check(ts_error *err, const ts_unknown *unknown, const ts_unknown_op *op, int64_t cycle);
/* Then what its result comes from; `address`: the byte of SMEM that it names, if it names one. After the
 * bundle, of each op: what it made unknown. */
void ts_unknown_begin(const ts_unknown *unknown, ts_unknown_op *op, int64_t address);
void ts_unknown_settle(ts_unknown *unknown, const ts_unknown_op *op);

#endif
