/* What the sanitizer warns of: registers that nothing has written, and addresses made of numbers over 32
 * bits. */
#ifndef TILESIM_CHECK_LINT_H
#define TILESIM_CHECK_LINT_H

#include "check/findings.h"
#include "isa/isa.h"

typedef struct ts_lint ts_lint;
struct ts_unknown;

typedef struct {
    const ts_code *code;
    const ts_isa_limits *limits;
    const uint32_t *sregs;            /* of the core, now */
    const struct ts_unknown *unknown; /* which sregs are unknown (time only); NULL: all are known */
    ts_findings *findings;
} ts_lint_setup;

ts_lint *ts_lint_new(ts_arena *arena, const ts_lint_setup *setup);
/* Looks at a bundle before it issues at `cycle`, and adds what is found. */
void ts_lint_bundle(ts_lint *lint, int bundle, int64_t cycle);

#endif
