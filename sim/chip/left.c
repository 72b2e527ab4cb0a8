/* What is left when a program ends. */
#include "left.h"

void left_send(semaphore_account *account, const ts_transfer *transfer) {
    account->sent++;
    account->transfer = transfer;
}

void left_change(semaphore_account *account, const ts_instruction *instruction, int64_t by) {
    if (instruction->opcode == TS_OP_wait)
        account->taken -= by;
    else
        account->added += by;
    if (by > 0) account->adder = instruction;
}

void left_transfer(ts_findings *findings, const ts_transfer *what, int64_t end, int64_t cycle) {
    ts_place where = ts_place_of_transfer(what);
    ts_finding *f = ts_findings_add(findings, TS_FINDING_TRANSFER, where, (ts_place){0}, cycle);
    if (f)
        ts_finding_describe(f, "the program ended at cycle %lld, when this DMA was under way", (long long)end);
}

void left_semaphores(ts_findings *findings, const ts_code *code, const semaphore_account *accounts,
                     const int64_t *semaphores, int64_t cycle) {
    for (int i = 0; i < code->semaphore_count; i++) {
        const semaphore_account *a = &accounts[i];
        if (semaphores[i] == 0) continue;
        /* if as much was taken as transfers sent, it was not they that were forgotten */
        bool sent = a->sent > a->taken || a->added <= 0;
        ts_place where = sent ? ts_place_of_transfer(a->transfer) : ts_place_of(a->adder);
        /* each semaphore is a finding of its own, so its number stands in for a column where there is no line
         */
        if (where.line == 0) where.column = i + 1;
        ts_finding *f = ts_findings_add(findings, TS_FINDING_SEMAPHORE, where, (ts_place){0}, cycle);
        if (f)
            ts_finding_describe(f, "semaphore %s is %lld at the end, expected 0: %s",
                                code->semaphore_names[i], (long long)semaphores[i],
                                sent ? "the last DMA that signals it was not waited for"
                                     : "it was added to more often than waited for");
    }
}
