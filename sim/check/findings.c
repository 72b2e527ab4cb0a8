/* The list of findings. */
#include "check/findings.h"

#include <stdarg.h>
#include <stdio.h>

static const ts_named kinds[] = {
#define FINDING(id, text, weight, meaning) {text, meaning},
#include "check/findings.def"
};
static const bool kind_warns[] = {
#define FINDING(id, text, weight, meaning) TS_FINDING_##weight == TS_FINDING_WARNS,
#include "check/findings.def"
};

const ts_named *ts_finding_get(ts_finding_kind kind) { return &kinds[kind]; }

bool ts_finding_warns(const ts_findings *findings, const ts_finding *finding) {
    return findings->all_warn || kind_warns[finding->kind];
}

int ts_findings_count(const ts_findings *findings, ts_finding_weight weight) {
    int count = 0;
    for (int i = 0; i < findings->count; i++)
        count += ts_finding_warns(findings, &findings->list[i]) == (weight == TS_FINDING_WARNS);
    return count;
}

bool ts_findings_have(const ts_findings *findings, ts_finding_kind kind) {
    for (int i = 0; i < findings->count; i++)
        if (findings->list[i].kind == kind) return true;
    return false;
}

static bool same_location(ts_location a, ts_location b) {
    return a.line == b.line && a.column == b.column && a.source == b.source;
}

ts_finding *ts_findings_join(ts_findings *findings, const ts_finding *other) {
    for (int i = 0; i < findings->count; i++) {
        ts_finding *known = &findings->list[i];
        if (known->kind == other->kind && same_location(known->where, other->where) &&
            same_location(known->other, other->other)) {
            known->times += other->times;
            return NULL;
        }
    }
    if (findings->count == TS_FINDINGS_MOST) {
        findings->dropped++;
        return NULL;
    }
    findings->list[findings->count] = *other;
    return &findings->list[findings->count++];
}

ts_finding *ts_findings_add(ts_findings *findings, ts_finding_kind kind, ts_location where, ts_location other,
                            int64_t cycle) {
    return ts_findings_join(findings, &(ts_finding){kind, where, other, cycle, .times = 1});
}

void ts_finding_describe(ts_finding *finding, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(finding->text, sizeof(finding->text), format, args);
    va_end(args);
}

ts_location ts_location_of(const ts_instruction *instruction) {
    if (!instruction) return (ts_location){0};
    return (ts_location){instruction->source, instruction->source ? instruction->line : 0,
                         instruction->column};
}

ts_location ts_location_of_transfer(const ts_transfer *transfer) {
    return (ts_location){transfer->source_text, transfer->source_text ? transfer->line : 0, transfer->column};
}
