/* Who calls whom: how often a computation runs is the sum over all that call it, whichever of them the text
 * has first. */
#include "audit_state.h"

static int32_t new_call(ts_audit *a, const audit_call_record *call) {
    a->calls = audit_room(a, a->calls, a->call_count, &a->call_capacity, INT64_MAX, sizeof *a->calls);
    a->calls[a->call_count] = *call;
    return (int32_t)a->call_count++;
}

void audit_add_call(ts_audit *a, int64_t line, int32_t callee, uint8_t level, int64_t runs) {
    computation_record *c = &a->computations[callee];
    bool only_called = c->level == TS_AUDIT_LEVEL_UNKNOWN, branch = level == AUDIT_LEVEL_BRANCH;
    if (branch) level = TS_AUDIT_LEVEL_CONTROL;
    if (level != AUDIT_LEVEL_CALLED || only_called) c->level = level;
    if (callee == a->current || level == TS_AUDIT_LEVEL_APPLIED) return;
    if (c->calls == AUDIT_NONE || a->calls[c->calls].caller != a->current)
        c->calls = new_call(a, &(audit_call_record){.caller = a->current, .before = c->calls});
    audit_call_record *call = &a->calls[c->calls];
    if (call->line == line) return;
    call->line = line;
    audit_add(&call->runs, runs < 0 ? 1 : runs);
    call->unknown |= runs < 0;
    call->branch |= branch;
}

void audit_set_runs(ts_audit *a, int32_t callee, int64_t runs) {
    audit_call_record *call = &a->calls[a->computations[callee].calls];
    call->runs = runs;
    call->unknown = false;
}

/* Sums up the calls of a computation, once its callers are known; a call of itself counts 0. */
static void sum_up(const ts_audit *a, computation_record *c) {
    bool called = c->level == AUDIT_LEVEL_CALLED;
    if (called) c->level = TS_AUDIT_LEVEL_UNKNOWN;
    if (c->calls != AUDIT_NONE) c->runs = 0;
    for (int32_t k = c->calls; k != AUDIT_NONE; k = a->calls[k].before) {
        const audit_call_record *call = &a->calls[k];
        const computation_record *caller = call->caller < 0 ? NULL : &a->computations[call->caller];
        if (caller && !caller->summed_up) continue;
        audit_add(&c->runs, audit_times(call->runs, caller ? caller->runs : 1));
        c->runs_unknown |= call->unknown || (caller && caller->runs_unknown);
        c->in_branch |= call->branch || (caller && caller->in_branch);
        if (called && caller && c->level != TS_AUDIT_LEVEL_CONTROL) c->level = caller->level;
    }
    c->summed_up = true;
}

/* A caller that was not visited yet, or AUDIT_NONE. */
static int32_t next_caller(const ts_audit *a, computation_record *c) {
    while (c->next != AUDIT_NONE) {
        int32_t caller = a->calls[c->next].caller;
        c->next = a->calls[c->next].before;
        if (caller >= 0 && !a->computations[caller].visited) return caller;
    }
    return AUDIT_NONE;
}

static void begin_visit(ts_audit *a, int32_t number, int32_t back) {
    computation_record *c = &a->computations[number];
    c->visited = true;
    c->next = c->calls;
    c->back = back;
}

void audit_settle_calls(ts_audit *a) {
    for (int32_t i = 0; i < a->computation_count; i++) {
        if (a->computations[i].visited) continue;
        begin_visit(a, i, AUDIT_NONE);
        for (int32_t now = i; now != AUDIT_NONE;) {
            computation_record *c = &a->computations[now];
            int32_t caller = next_caller(a, c);
            if (caller != AUDIT_NONE)
                begin_visit(a, caller, now);
            else
                sum_up(a, c);
            now = caller != AUDIT_NONE ? caller : c->back;
        }
    }
}
