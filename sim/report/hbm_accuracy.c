/* How near HBM time is to other simulators. */
#include "report/validation.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "plain.h"
#include "report/json.h"

static double larger(double a, double b) { return a > b ? a : b; }
static double distance(double a, double b) { return a > b ? a - b : b - a; }

/* What a figure printed with that many decimals can be off without a difference. */
static double rounded(double off, double half_digit) { return off <= half_digit + 1e-9 ? 0 : off; }

typedef struct {
    int runs;
    int64_t cycles; /* the largest differences */
    double percent, row_hits, latency_percent;
} differences;

static void note(differences *d, const ts_hbm_comparison *c) {
    const ts_hbm_reference *r = c->reference;
    int64_t cycles = llabs((long long)(c->run.cycles - ts_hbm_reference_cycles(r)));
    double latency = rounded(distance(ts_hbm_mean_read_latency(&c->run.stats), r->read_latency), 0.05);
    d->runs++;
    if (cycles > d->cycles) d->cycles = cycles;
    d->percent = larger(d->percent, 100 * (double)cycles / (double)r->cycles);
    d->row_hits =
        larger(d->row_hits, rounded(distance(ts_hbm_row_hit_rate(&c->run.stats), r->row_hit_rate), 0.00005));
    if (r->read_latency > 0) d->latency_percent = larger(d->latency_percent, 100 * latency / r->read_latency);
}

static bool same_group(const ts_hbm_reference *a, const ts_hbm_reference *b) {
    return strcmp(a->simulator, b->simulator) == 0 && strcmp(a->config, b->config) == 0 &&
           strcmp(a->map, b->map) == 0 && strcmp(a->frontend, b->frontend) == 0;
}

/* The runs of one configuration, map and front end lie together: [*first, the result). */
static int end_of_group(const ts_hbm_accuracy *a, int first, differences *d) {
    int i = first;
    *d = (differences){0};
    for (; i < a->run_count && same_group(a->runs[first].reference, a->runs[i].reference); i++)
        note(d, &a->runs[i]);
    return i;
}

static const char *lookahead(const ts_hbm_reference *r) {
    return strcmp(r->frontend, "perch") == 0     ? "unlimited"
           : strcmp(r->frontend, "inorder") == 0 ? "none"
                                                 : "64 KiB";
}

/* ---- The section. ---- */

static void add_sequences(const ts_hbm_accuracy *a, ts_text *out) {
    ts_text_add(out,
                "Short sequences on one pseudo channel of HBM2, no refresh, in cycles:\n\n"
                "| sequence | Ramulator 2.1 | tilesim | DRAMsim3 | per_bank |\n|---|---:|---:|---:|---:|\n");
    for (int i = 0; i < ts_hbm_sequence_reference_count; i++) {
        const ts_hbm_sequence_reference *r = &ts_hbm_sequence_references[i];
        ts_text_add(out, "| %s | %" PRId64 " | %" PRId64 " | ", r->name, r->ramulator_cycles,
                    a->sequences[0][i].cycles);
        if (r->dramsim3_cycles < 0)
            ts_text_add(out, "(not drained) ");
        else
            ts_text_add(out, "%" PRId64 " ", r->dramsim3_cycles - 1);
        ts_text_add(out, "| %" PRId64 " |\n", a->sequences[1][i].cycles);
    }
}

static void add_groups(const ts_hbm_accuracy *a, ts_text *out) {
    differences d;
    ts_text_add(out, "\nThe largest differences, by configuration:\n\n"
                     "| configuration | map | look-ahead | runs | cycles | row hits | read latency |\n"
                     "|---|---|---|---:|---:|---:|---:|\n");
    for (int i = 0, end; i < a->run_count; i = end) {
        const ts_hbm_reference *r = a->runs[i].reference;
        end = end_of_group(a, i, &d);
        ts_text_add(out, "| %s | %s | %s | %d | %" PRId64 " (%.2f %%) | %.4f | %.2f %% |\n",
                    ts_hbm_reference_find(r->config)->meaning, r->map, lookahead(r), d.runs, d.cycles,
                    d.percent, d.row_hits, d.latency_percent);
    }
}

/* The same run of DRAMsim3 and its controller, or NULL. */
static const ts_hbm_comparison *dramsim3_run(const ts_hbm_accuracy *a, const ts_hbm_reference *like) {
    for (int i = 0; i < a->run_count; i++) {
        const ts_hbm_reference *r = a->runs[i].reference;
        if (strcmp(r->config, "hbm2m_16pc") == 0 && strcmp(r->map, like->map) == 0 &&
            strcmp(r->frontend, like->frontend) == 0 && strcmp(r->pattern, like->pattern) == 0)
            return &a->runs[i];
    }
    return NULL;
}

typedef enum { WITHOUT_DRAMSIM3, WITH_DRAMSIM3 } run_columns;

static void add_run(const ts_hbm_accuracy *a, const ts_hbm_comparison *c, run_columns columns, ts_text *out) {
    const ts_hbm_reference *r = c->reference;
    const ts_hbm_comparison *other = columns == WITH_DRAMSIM3 ? dramsim3_run(a, r) : NULL;
    ts_text_add(out, "| %s | %s | %s | %s ", r->pattern, r->map, ts_text_grouped(out->arena, r->cycles),
                ts_text_grouped(out->arena, c->run.cycles));
    ts_text_add(out, "| %.4f | %.4f | %.1f |",
                r->bandwidth_fraction * (double)r->cycles / (double)c->run.cycles,
                ts_hbm_row_hit_rate(&c->run.stats), ts_hbm_mean_read_latency(&c->run.stats));
    if (other)
        ts_text_add(out, " %s | %s |", ts_text_grouped(out->arena, ts_hbm_reference_cycles(other->reference)),
                    ts_text_grouped(out->arena, other->run.cycles));
    ts_text_add_char(out, '\n');
}

/* Each run of a configuration with 64 KiB of look-ahead. */
static void add_runs(const ts_hbm_accuracy *a, const char *config, run_columns columns, ts_text *out) {
    bool both = columns == WITH_DRAMSIM3;
    ts_text_add(out,
                "| pattern | map | Ramulator 2.1 | tilesim | of the peak | row hits | read latency |%s\n"
                "|---|---|---:|---:|---:|---:|---:|%s\n",
                both ? " DRAMsim3 | per_bank |" : "", both ? "---:|---:|" : "");
    for (int i = 0; i < a->run_count; i++) {
        const ts_hbm_reference *r = a->runs[i].reference;
        if (strcmp(r->config, config) == 0 && strcmp(r->frontend, "win1024") == 0)
            add_run(a, &a->runs[i], columns, out);
    }
}

static void add_body(const ts_hbm_accuracy *accuracy, ts_text *out) {
    add_sequences(accuracy, out);
    add_groups(accuracy, out);
    ts_text_add(out, "\nHBM2, one stack, 64 KiB of look-ahead, in cycles of 1 ns:\n\n");
    add_runs(accuracy, "hbm2_8ch", WITH_DRAMSIM3, out);
    ts_text_add(out, "\nHBM3, one stack, 64 KiB of look-ahead, in half cycles of 0.625 ns:\n\n");
    add_runs(accuracy, "hbm3_16ch", WITHOUT_DRAMSIM3, out);
}

void ts_report_hbm_accuracy(const ts_hbm_accuracy *accuracy, ts_text *out) {
    ts_text body = ts_text_begin(out->arena);
    add_body(accuracy, &body);
    report_plain(&body, out);
}

static const char introduction[] =
    "## HBM time\n\n"
    "Against runs of Ramulator 2.1 (CMU-SAFARI/ramulator2, c5b1c3a) and DRAMsim3 (umd-memsys/DRAMsim3,\n"
    "2981759) on the patterns of `tilesim hbm --list`: requests of 64 bytes, offered as fast as they "
    "are\n"
    "accepted. The controllers of both are there, as values of `hbm.controller`: Ramulator's "
    "(`row_hit`,\n"
    "`frfcfs`), which the machines have, and DRAMsim3's (`per_bank`), with a queue for each bank, and "
    "channels\n"
    "that share no command bus. The driver of DRAMsim3's runs counts one cycle more than there are: it "
    "is\n"
    "taken off. Neither simulator has been checked against HBM itself. `tilesim validate hbm\n"
    "--markdown` writes this section.\n\n"
    "Traces that both have run as well (`tests/data/hbm_traces`), with gaps, hot rows and refreshes bank by "
    "bank,\n"
    "take the same cycles too, and random machines and requests (`tests/data/hbm_random.tsv`: stacks, "
    "queues, timing,\n"
    "maps, policies) the same cycles, activations, row hits, refreshes and read latencies. Not as there:\n"
    "\n"
    "- With closed pages, Ramulator closes a row (RDA, WRA) for which a burst of the other direction is "
    "active, which\n"
    "  then waits until that row happens to be opened again, or for ever; here it stays open "
    "(`read_then_write_5`:\n"
    "  16,699 half cycles instead of 17,157).\n"
    "- Where DRAMsim3's controller stands still for ever, as the oldest write to be drained waits for a read "
    "that is not\n"
    "  taken before the writes, `per_bank` says so.\n"
    "- DRAMsim3 never issues writes that stay in a buffer at the end; `per_bank` does, once all requests are "
    "accepted.\n"
    "- With one bank group, DRAMsim3 takes tCCD_S, tWTR_S and tRRD_S for all, here tCCD_L, tWTR_L and tRRD_L "
    "count.\n"
    "- With closed pages (of one burst), DRAMsim3 waits a burst longer from RDA to ACT, and may refresh "
    "before tRC.\n"
    "- With refreshes bank by bank, DRAMsim3 waits tREFI from one to that of another bank, and not at all "
    "before an ACT\n"
    "  of the bank itself; `per_bank` keeps to the rules of the machine.\n"
    "\n";

void ts_report_hbm_accuracy_markdown(const ts_hbm_accuracy *accuracy, ts_text *out) {
    ts_text_add(out, "%s", introduction);
    add_body(accuracy, out);
}

/* ---- JSON. ---- */

static void add_json_run(ts_json *json, const ts_hbm_comparison *c) {
    const ts_hbm_reference *r = c->reference;
    ts_json_object(json, NULL);
    ts_json_text(json, "simulator", r->simulator);
    ts_json_text(json, "config", r->config);
    ts_json_text(json, "map", r->map);
    ts_json_text(json, "frontend", r->frontend);
    ts_json_text(json, "pattern", r->pattern);
    ts_json_int(json, "reference_cycles", ts_hbm_reference_cycles(r));
    ts_json_int(json, "cycles", c->run.cycles);
    ts_json_real(json, "reference_row_hit_rate", r->row_hit_rate, 4);
    ts_json_real(json, "row_hit_rate", ts_hbm_row_hit_rate(&c->run.stats), 6);
    ts_json_real(json, "reference_mean_read_latency_cycles", r->read_latency, 1);
    ts_json_real(json, "mean_read_latency_cycles", ts_hbm_mean_read_latency(&c->run.stats), 4);
    ts_json_close(json);
}

void ts_report_hbm_accuracy_json(const ts_hbm_accuracy *accuracy, ts_text *out) {
    ts_json json;
    ts_json_begin(&json, out, "validate");
    ts_json_array(&json, "sequences");
    for (int i = 0; i < ts_hbm_sequence_reference_count; i++) {
        ts_json_object(&json, NULL);
        ts_json_text(&json, "name", ts_hbm_sequence_references[i].name);
        ts_json_int(&json, "reference_cycles", ts_hbm_sequence_references[i].ramulator_cycles);
        ts_json_int(&json, "cycles", accuracy->sequences[0][i].cycles);
        ts_json_close(&json);
    }
    ts_json_close(&json);
    ts_json_array(&json, "runs");
    for (int i = 0; i < accuracy->run_count; i++) add_json_run(&json, &accuracy->runs[i]);
    ts_json_close(&json);
    ts_json_end(&json);
}
