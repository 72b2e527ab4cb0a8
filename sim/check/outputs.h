/* What a program does to its outputs and inputs: undefined values sent, elements never written, inputs
 * overwritten. */
#ifndef TILESIM_CHECK_OUTPUTS_H
#define TILESIM_CHECK_OUTPUTS_H

#include "base/error.h"
#include "check/access.h"
#include "check/findings.h"
#include "check/in_flight.h"
#include "check/poison.h"

typedef struct {
    const ts_code *code;
    const bool *outputs, *inputs; /* of each tensor: whether what it holds at the end matters; should stay */
    ts_findings *findings;
    const int64_t *held; /* elements of each dim that are looked at for unwritten ones; NULL: all */
} ts_outputs;

/* A transfer that starts: does it write to an input? */
void ts_outputs_start(const ts_outputs *outputs, const ts_in_flight *t);
/* One whose bytes have moved: did undefined values come to an output? `poison`: of the source, if that is
 * VMEM. */
void ts_outputs_done(const ts_outputs *outputs, const ts_in_flight *t, const ts_poison *poison);

/* A store of the core whose memories are `spaces`, by ts_space_kind. */
void ts_outputs_store(const ts_outputs *outputs, ts_space *const *spaces, const ts_access *store);

/* At the end: is every element of the tensor, which lies in `space`, defined? Else a finding at `where`. */
bool ts_outputs_find_unwritten(ts_error *err, const ts_outputs *outputs, int tensor, ts_space *space,
                               ts_location where, int64_t cycle);

#endif
