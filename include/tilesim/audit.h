/* Audits: what layouts cost in a module that was compiled for a TPU. */
#ifndef TILESIM_AUDIT_H
#define TILESIM_AUDIT_H

#include <stddef.h>

#include "tilesim/machine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    size_t struct_bytes; /* sizeof(ts_module_audit_request); what is zero is the default */
    const ts_machine *machine;
    const char *text; /* HLO or StableHLO, of `length` bytes */
    size_t length;
    int exact; /* price every size and plan by itself, and simulate every access */
    /* Asked some times a second: not 0 ends it with an error. NULL: none. */
    int (*stopped)(void *context);
    void *context;
} ts_module_audit_request;

typedef struct ts_module_audit ts_module_audit;

/* NULL on an error. To be closed: it holds more than is in the arena. */
TS_API ts_module_audit *ts_audit_module(ts_error *err, ts_arena *arena,
                                        const ts_module_audit_request *request);
TS_API void ts_audit_close(ts_module_audit *audit);                  /* NULL is fine */
TS_API int64_t ts_audit_logical_bytes(const ts_module_audit *audit); /* of all buffers */
TS_API int64_t ts_audit_padded_bytes(const ts_module_audit *audit);
TS_API double ts_audit_microseconds(const ts_module_audit *audit); /* of all moves */
/* What to change, the most time first: a sentence; NULL behind the last. */
TS_API const char *ts_audit_fix(const ts_module_audit *audit, int number);
/* What `tilesim audit` prints, and what it prints with --json. */
TS_API const char *ts_audit_text(ts_arena *arena, const ts_module_audit *audit);
TS_API const char *ts_audit_json(ts_arena *arena, const ts_module_audit *audit);

#ifdef __cplusplus
}
#endif

#endif
