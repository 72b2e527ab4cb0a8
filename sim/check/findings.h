/* What the sanitizer for kernels finds while a program runs: each kind of defect, with both program lines. */
#ifndef TILESIM_CHECK_FINDINGS_H
#define TILESIM_CHECK_FINDINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "isa/isa.h"

typedef enum {
#define FINDING(id, text, weight, meaning) TS_FINDING_##id,
#include "check/findings.def"
} ts_finding_kind;

const ts_named *ts_finding_get(ts_finding_kind kind);

/* A line of the program; line 0: none. */
typedef struct {
    const ts_source *source;
    int line, column;
} ts_location;

enum { TS_FINDING_TEXT_BYTES = 240 };
typedef struct {
    ts_finding_kind kind;
    ts_location where, other; /* the line that breaks the rule, and the other one involved */
    int64_t cycle;            /* of the first time */
    int64_t times;
    bool has_margin;
    int64_t margin_cycles;            /* of a race: by how many cycles it was won; negative: lost */
    char text[TS_FINDING_TEXT_BYTES]; /* one line: what happened the first time, at `where` */
    const char *other_text;           /* what `other` is: "the dma that ..." */
} ts_finding;

/* Findings of the same kind at the same lines are one. Kept are the first TS_FINDINGS_MOST. */
enum { TS_FINDINGS_MOST = 100 };
typedef struct {
    bool all_warn; /* nobody asked for them: none is held to be wrong */
    int count;
    int64_t dropped; /* different ones, for which there was no room */
    ts_finding list[TS_FINDINGS_MOST];
} ts_findings;

/* Where to describe a new finding; NULL: it is known, and counted. */
ts_finding *ts_findings_add(ts_findings *findings, ts_finding_kind kind, ts_location where, ts_location other,
                            int64_t cycle);
ts_finding *ts_findings_join(ts_findings *findings, const ts_finding *other); /* one of another list */
bool ts_findings_have(const ts_findings *findings, ts_finding_kind kind);     /* any of that kind? */
typedef enum { TS_FINDING_WRONG, TS_FINDING_WARNS } ts_finding_weight;
bool ts_finding_warns(const ts_findings *findings, const ts_finding *finding);
int ts_findings_count(const ts_findings *findings, ts_finding_weight weight);
void ts_finding_describe(ts_finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));
ts_location ts_location_of(const ts_instruction *instruction); /* NULL: none */
ts_location ts_location_of_transfer(const ts_transfer *transfer);

#endif
