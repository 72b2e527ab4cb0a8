/* Regions of StableHLO's loops and branches: computations that their function runs. */
#include "audit_state.h"

static const ts_span no_name = {"", 0};

void audit_region(ts_audit *a, int64_t line, ts_hlo_part part) {
    const int64_t key[2] = {part, line}; /* what no name can be */
    audit_reserve_call(a, line, no_name);
    int32_t made = audit_new_computation(a, audit_hash((const char *)key, sizeof key), line, no_name);
    a->computations[made].part = (uint8_t)part;
    a->computations[made].within = a->current;
    if (part == TS_HLO_BRANCH)
        audit_add_call(a, line, made, AUDIT_LEVEL_BRANCH, 1);
    else
        audit_add_call(a, line, made, TS_AUDIT_LEVEL_CONTROL, AUDIT_NONE);
    if (part == TS_HLO_CONDITION && a->values.loop_count > 0)
        a->values.loops[a->values.loop_count - 1].condition = made;
    a->current = made;
}

static void end_body(ts_audit *a, int32_t body) {
    int32_t condition = a->values.loops[a->values.loop_count - 1].condition;
    int64_t trips = audit_count_loop(a);
    if (trips < 0) return;
    audit_set_runs(a, body, trips);
    if (condition >= 0) audit_set_runs(a, condition, audit_condition_runs(trips));
}

bool audit_in_region(const ts_audit *a) { return a->current >= 0 && a->computations[a->current].part != 0; }

void audit_region_end(ts_audit *a) {
    int32_t ended = a->current;
    if (!audit_in_region(a)) return; /* how it began is forgotten */
    a->current = a->computations[ended].within;
    if (a->computations[ended].part == TS_HLO_BODY && a->values.loop_count > 0) end_body(a, ended);
}
