/* Audits of texts. */
#include "tests/support/audited.h"

#include "tests/support/group.h"

ts_audit_request v6e_audit;

int begin_audits(void **state) {
    begin_group(state);
    v6e_audit.machine = ts_machine_load(NULL, arena, "tpu-v6e");
    return v6e_audit.machine ? 0 : -1;
}

ts_audit *audited(ts_arena *to, const ts_audit_request *request, audited_text of, ts_audit_result *result) {
    ts_error err = {0};
    ts_audit *audit = ts_audit_new(to, request);
    size_t piece = of.piece > 0 ? of.piece : of.length;
    for (size_t at = 0; at < of.length; at += piece)
        ts_audit_feed(audit, of.text + at, of.length - at < piece ? of.length - at : piece);
    if (!ts_audit_finish(&err, audit, NULL, NULL, result)) fail_msg("%s", err.message);
    return audit;
}
