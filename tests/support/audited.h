/* Audits of texts, for tests. */
#ifndef TESTS_SUPPORT_AUDITED_H
#define TESTS_SUPPORT_AUDITED_H

#include "audit/audit.h"

typedef struct {
    const char *text;
    size_t length, piece; /* bytes; fed in pieces, 0: at once */
} audited_text;

/* In the arena; the request must stay. Fails the test on an error. To be freed by ts_audit_free. */
ts_audit *audited(ts_arena *to, const ts_audit_request *request, audited_text of, ts_audit_result *result);

/* For tpu-v6e, from begin_audits on: the set-up of a group, which has its arena too (tests/support/group.h). */
extern ts_audit_request v6e_audit;
int begin_audits(void **state);

#endif
