/* Relayouts: how Mosaic brings a value in vregs from one layout to another, and the cycles of its ops on a
 * machine. */
#ifndef TILESIM_RELAYOUT_H
#define TILESIM_RELAYOUT_H

#include <stddef.h>

#include "tilesim/machine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    size_t struct_bytes; /* sizeof(ts_relayout_query) */
    const ts_machine *machine;
    const char *source,
        *destination; /* of one type and the same dims: "f32[8,128] vpad<\"32,{0,0},(8,128)\">" */
} ts_relayout_query;

typedef struct ts_relayout_answer ts_relayout_answer;

/* NULL on an error: bad input where Mosaic refuses, with its words. */
TS_API const ts_relayout_answer *ts_relayout_find(ts_error *err, ts_arena *arena,
                                                  const ts_relayout_query *query);
TS_API int64_t ts_relayout_cycles(const ts_relayout_answer *answer); /* -1: not known, the report says why */
TS_API int64_t ts_relayout_op_total(const ts_relayout_answer *answer); /* ops on vregs */
/* What `tilesim relayout` prints, and what it prints with --json. */
TS_API const char *ts_relayout_text(ts_arena *arena, const ts_relayout_answer *answer);
TS_API const char *ts_relayout_json(ts_arena *arena, const ts_relayout_answer *answer);
TS_API const char *ts_relayout_svg(ts_arena *arena, const ts_relayout_answer *answer); /* with --svg */

#ifdef __cplusplus
}
#endif

#endif
