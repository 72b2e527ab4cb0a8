/* The instructions of HLO, and what each of them does with bytes. */
#ifndef TILESIM_HOST_HLO_OPCODE_H
#define TILESIM_HOST_HLO_OPCODE_H

#include "host/hlo.h"

typedef enum {
    TS_HLO_COMPUTES,   /* makes a buffer of other values */
    TS_HLO_MOVES,      /* the same values elsewhere, or in another order */
    TS_HLO_ALIASES,    /* its result is, or lies in, a buffer that exists */
    TS_HLO_COLLECTIVE, /* moves between chips */
    TS_HLO_CALLS,      /* runs computations; its result lies in buffers of theirs or its operands' */
} ts_hlo_class;

typedef enum {
#define HLO_OPCODE(id, name, class) TS_HLO_OP_##id,
#include "host/hlo_opcodes.def"
#undef HLO_OPCODE
    TS_HLO_OP_UNKNOWN,
    TS_HLO_OPCODES = TS_HLO_OP_UNKNOWN
} ts_hlo_opcode;

/* Of "dot-start", "dot-update" and "dot-done", as of all that is started so without a name here: async-start
 * .. */
ts_hlo_opcode ts_hlo_opcode_find(ts_span name);
/* What "dot-start" starts. Unknown: of another name. */
ts_hlo_opcode ts_hlo_opcode_started(ts_span name);
const char *ts_hlo_opcode_name(ts_hlo_opcode opcode);   /* "(unknown)" */
ts_hlo_class ts_hlo_opcode_class(ts_hlo_opcode opcode); /* unknown: computes */

#endif
