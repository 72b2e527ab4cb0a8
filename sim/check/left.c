/* What is left when a program ends. */
#include "check/left.h"

#include <stdio.h>

void ts_left_send(ts_semaphore_account *account, const ts_transfer *transfer, int64_t by) {
    account->sent += by;
    account->transfer = transfer;
}

void ts_left_change(ts_semaphore_account *account, const ts_instruction *instruction, int64_t by) {
    if (instruction->opcode == TS_OP_wait)
        account->taken -= by;
    else
        account->added += by;
    if (by > 0) account->adder = instruction;
}

/* " of core 1", or nothing. */
static const char *of_core(int core, char text[32]) {
    text[0] = '\0';
    if (core >= 0) snprintf(text, 32, " of core %d", core);
    return text;
}

void ts_left_transfer(ts_findings *findings, const ts_transfer *what, int core, int64_t end, int64_t cycle) {
    ts_location where = ts_location_of_transfer(what);
    ts_finding *f = ts_findings_add(findings, TS_FINDING_TRANSFER, where, (ts_location){0}, cycle);
    char text[32];
    if (f)
        ts_finding_describe(f, "the program%s ended at cycle %lld, when this DMA was under way",
                            of_core(core, text), (long long)end);
}

void ts_left_semaphores(ts_findings *findings, const ts_left_state *left, int64_t cycle) {
    for (int i = 0; i < left->code->semaphore_count; i++) {
        const ts_semaphore_account *a = &left->accounts[i];
        if (left->semaphores[i] == 0) continue;
        bool sent = a->sent > a->taken; /* else it was not the transfers that were forgotten */
        ts_location where = sent ? ts_location_of_transfer(a->transfer) : ts_location_of(a->adder);
        /* each semaphore is a finding of its own, so its number stands in for a column where there is no
         * line */
        if (where.line == 0) where.column = i + 1;
        ts_finding *f = ts_findings_add(findings, TS_FINDING_SEMAPHORE, where, (ts_location){0}, cycle);
        char text[32];
        if (f)
            ts_finding_describe(f, "semaphore %s%s is %lld at the end, expected 0: %s",
                                left->code->semaphore_names[i], of_core(left->core, text),
                                (long long)left->semaphores[i],
                                sent ? "the last DMA that signals it was not waited for"
                                     : "it was added to more often than waited for");
    }
}
