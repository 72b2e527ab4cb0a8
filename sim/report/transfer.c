/* The cost breakdown of a transfer. */
#include "report/transfer.h"

#include <string.h>

#include "padding.h"
#include "transfer_private.h"

#include "base/number.h"
#include "report/energy.h"
#include "report/machine.h"

enum { BOXES_SHOWN = 16, CLASSES_SHOWN = 3 };

double report_gb_per_second(const ts_transfer_study *s) {
    return ts_machine_gb_per_second(s->machine, s->cost.transfer.useful_bytes, s->cost.cycles);
}

static int64_t answered_bursts(const ts_hbm_stats *hbm) { return hbm->forwarded + hbm->coalesced; }

/* Bursts that queues answer are not on the pins. */
double report_peak_share(const ts_transfer_study *s) {
    return ts_percent(ts_hbm_on_pins(&s->cost.hbm, s->cost.memory_cycles), s->cost.cycles);
}

static void add_side(ts_text *out, const char *label, const ts_transfer_end *end,
                     const ts_machine_memory *memory) {
    ts_text_add(out, "%-13s %s  in %s at byte %s\n", label, ts_transfer_end_text(out->arena, end),
                memory->name, ts_text_grouped(out->arena, end->at));
}

/* "The engine cannot .." */
static const char *kind_verb(ts_dma_kind kind) {
    return kind == TS_DMA_GATHER ? "gather element by element" : ts_dma_kind_text(kind);
}

static void add_cannot(ts_text *out, ts_dma_kind kind, const char *status) {
    ts_text_add(out, "the engine cannot %s (%s is 0, %s)", kind_verb(kind), ts_dma_rate_field(kind), status);
}

static void add_slower(ts_text *out, const ts_core_program *by) {
    if (by->slower)
        ts_text_add(out, ", and %s takes %s\n", by->slower,
                    ts_text_counted(out->arena, by->slower_cycles, "cycle"));
    else
        ts_text_add(out, ", nor does a program\n");
}

static void add_plan(ts_text *out, const ts_transfer_study *s) {
    const ts_plan *plan = s->plan;
    if (s->by.program) {
        ts_text_add(out, "plan          core program: ");
        add_cannot(out, s->by.kind, s->by.status);
        ts_text_add(out, "\n              %s %s\n", s->by.program, s->by.parameters);
        return;
    }
    ts_dma_kind kind = ts_dma_classify(plan);
    ts_text_add(out, "plan          %s", ts_dma_kind_text(s->cost.transfer.kind));
    if (kind != s->cost.transfer.kind) ts_text_add(out, ", element by element");
    if (plan->gathers) {
        ts_text_add(out, ", element by element: %s\n", plan->why_gather);
        return;
    }
    ts_text_add(out, ": %s, ", ts_text_counted(out->arena, plan->box_count, "box"));
    ts_text_add(out, "%s\n", ts_text_counted(out->arena, s->cost.transfer.descriptors, "descriptor"));
    if (kind == s->cost.transfer.kind) return;
    ts_text_add(out, "              ");
    add_cannot(out, kind, s->by.status);
    add_slower(out, &s->by);
}

/* "4 bits", "512 B", "4 KiB". */
static const char *length_text(ts_arena *arena, int64_t bits) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    int64_t bytes = bits / 8;
    if (bits % 8 != 0) return ts_text_format(arena, "%lld bit%s", (long long)bits, bits == 1 ? "" : "s");
    for (; bytes >= 1024 && bytes % 1024 == 0 && unit < 4; unit++) bytes /= 1024;
    return ts_text_format(arena, "%s %s", ts_text_grouped(arena, bytes), units[unit]);
}

/* "512 B", or "260 B to 508 B" where a class has several lengths. */
static void add_class(ts_text *out, const ts_dma_runs *runs, int class) {
    int64_t shortest = runs->shortest_bits[class], longest = runs->longest_bits[class];
    if (shortest != longest) ts_text_add(out, "%s to ", length_text(out->arena, shortest));
    ts_text_add(out, "%s", length_text(out->arena, longest));
}

static const struct {
    const char *label, *key;
} run_texts[] = {
    [TS_DMA_RUNS_BOTH] = {"in one piece ", "runs_at_both"},
    [TS_DMA_RUNS_SRC] = {"source alone ", "src_runs"},
    [TS_DMA_RUNS_DST] = {"destination alone ", "dst_runs"},
};

static void add_runs(ts_text *out, const ts_plan *plan) {
    for (int which = TS_DMA_RUNS_BOTH; which <= TS_DMA_RUNS_DST; which++) {
        ts_dma_runs runs;
        ts_dma_count_runs(plan, (ts_dma_runs_of)which, &runs);
        ts_text_add(out, "%-13s %s", which == 0 ? "runs" : "", run_texts[which].label);
        if (runs.total == 0) ts_text_add(out, "none");
        int64_t left = runs.total;
        for (int i = TS_DMA_RUN_CLASSES - 1, shown = 0; i >= 0; i--) {
            if (runs.count[i] == 0) continue;
            if (shown == CLASSES_SHOWN) {
                ts_text_add(out, ", %s shorter", ts_text_grouped(out->arena, left));
                break;
            }
            left -= runs.count[i];
            ts_text_add(out, "%s%s of ", shown++ ? ", " : "", ts_text_grouped(out->arena, runs.count[i]));
            add_class(out, &runs, i);
        }
        ts_text_add(out, "\n");
    }
}

static void add_bytes(ts_text *out, const ts_dma_result *r) {
    ts_text_add(out, "bytes         useful %s; moved at both ends %s: padding %s, burst waste %s\n",
                ts_text_grouped(out->arena, r->useful_bytes),
                ts_text_grouped(out->arena, r->src_bytes + r->dst_bytes),
                ts_text_grouped(out->arena, r->padding_bytes), ts_text_grouped(out->arena, r->waste_bytes));
    if (r->rmw_lines > 0) {
        ts_text_add(out, "              %s %s a word with other elements\n",
                    ts_text_counted(out->arena, r->rmw_lines, "access"),
                    r->rmw_lines == 1 ? "is a read-modify-write: it shares"
                                      : "are read-modify-writes: they share");
    }
}

enum { LIMITERS_SHOWN = 5 };

void report_add_limiters(ts_text *out, const char *before, const ts_hbm_stats *hbm) {
    int64_t left[TS_HBM_LIMITER_COUNT], total = 0;
    for (int i = 0; i < TS_HBM_LIMITER_COUNT; i++) total += left[i] = hbm->limiter_cycles[i];
    for (int shown = 0; shown < LIMITERS_SHOWN && total > 0; shown++) {
        int most = 0;
        for (int i = 1; i < TS_HBM_LIMITER_COUNT; i++) most = left[i] > left[most] ? i : most;
        if (left[most] * 100 < total) break;
        ts_text_add(out, "%s%s%.1f %% %s", shown > 0 ? "" : before, shown > 0 ? ", " : "of its time ",
                    100.0 * (double)left[most] / (double)total, ts_hbm_limiter_name((ts_hbm_limiter)most));
        left[most] = 0;
    }
    ts_text_add(out, "\n");
}

void report_add_limiters_json(ts_json *json, const ts_hbm_stats *hbm) {
    ts_json_object(json, "hbm_limiters");
    for (int i = 0; i < TS_HBM_LIMITER_COUNT; i++) {
        if (hbm->limiter_cycles[i] == 0) continue;
        ts_json_int(json, ts_hbm_limiter_name((ts_hbm_limiter)i), hbm->limiter_cycles[i]);
    }
    ts_json_close(json);
}

static void add_hbm(ts_text *out, const ts_hbm_stats *hbm) {
    int64_t bursts = hbm->reads + hbm->writes;
    if (bursts == 0) return;
    ts_text_add(out, "HBM           %s, %.1f %% row hits, %s, ", ts_text_counted(out->arena, bursts, "burst"),
                100.0 * (double)hbm->row_hits / (double)bursts,
                ts_text_counted(out->arena, hbm->activations, "activation"));
    ts_text_add(out, "%s\n",
                ts_text_counted(out->arena, hbm->read_to_write + hbm->write_to_read, "turnaround"));
    if (answered_bursts(hbm) > 0)
        ts_text_add(out, "              %s of the bursts are answered by its queues, without the pins\n",
                    ts_text_grouped(out->arena, answered_bursts(hbm)));
    report_add_limiters(out, "              ", hbm);
}

static void add_time(ts_text *out, const ts_transfer_study *s) {
    ts_text_add(out, "time          %s%s, %.3f us, %.1f GB/s useful", s->cost.estimated ? "~" : "",
                ts_text_counted(out->arena, s->cost.cycles, "cycle"),
                ts_machine_microseconds(s->machine, s->cost.cycles), report_gb_per_second(s));
    if (s->cost.memory_cycles > 0) ts_text_add(out, ", %.1f %% of HBM's peak", report_peak_share(s));
    ts_text_add(out, "\n");
}

const char *report_part_label(ts_arena *arena, const ts_transfer_study *s, ts_dma_component part) {
    if (part == TS_DMA_COMPONENT_REORDER && s->by.program) return "core program";
    if (part == TS_DMA_COMPONENT_REORDER && s->cost.transfer.kind != TS_DMA_COPY)
        return ts_text_format(arena, "%s rate", ts_dma_kind_text(s->cost.transfer.kind));
    return ts_dma_component_label(part);
}

/* The largest part, and why it is as large, unless that says the same word. */
static void add_limiter(ts_text *out, const ts_transfer_study *s) {
    const char *label = report_part_label(out->arena, s, ts_dma_largest_component(s->cost.components));
    bool named = strstr(s->cost.limiter, label) != NULL;
    ts_text_add(out, "limiter       %s%s%s", named ? "" : label, named ? "" : ": ", s->cost.limiter);
}

/* The rate that limits it. */
static void add_limit_rate(ts_text *out, const ts_transfer_study *s) {
    const ts_dma_cost *cost = &s->cost;
    if (cost->limit == TS_DMA_LIMIT_ENGINE)
        ts_text_add(out, ": %s a cycle, busy %.1f %%",
                    ts_text_counted(out->arena, s->machine->dma.bytes_per_cycle[cost->transfer.kind], "byte"),
                    100.0 * (double)cost->engine_cycles / (double)cost->cycles);
    if (cost->limit == TS_DMA_LIMIT_READS)
        ts_text_add(out, ": %s a cycle",
                    ts_text_counted(out->arena, s->machine->dma.read_bytes_per_cycle, "byte"));
    if (cost->limit == TS_DMA_LIMIT_PARTITIONS)
        ts_text_add(out, ": %s a cycle for each that is reached",
                    ts_text_counted(out->arena, s->machine->dma.partition_bytes_per_cycle, "byte"));
}

/* What limits it, with the number that says so. */
static void add_limit(ts_text *out, const ts_transfer_study *s) {
    const ts_dma_cost *cost = &s->cost;
    const ts_dma_result *r = &cost->transfer;
    double moved = (double)(r->src_bytes + r->dst_bytes),
           bursts = (double)(cost->hbm.reads + cost->hbm.writes);
    add_limiter(out, s);
    add_limit_rate(out, s);
    if (cost->limit == TS_DMA_LIMIT_WASTE)
        ts_text_add(out, ": %.1f %% of the bytes moved are unused", 100.0 * (double)r->waste_bytes / moved);
    if (cost->limit == TS_DMA_LIMIT_PADDING)
        ts_text_add(out, ": %.1f %% padding in the bytes moved", 100.0 * (double)r->padding_bytes / moved);
    if (cost->limit == TS_DMA_LIMIT_ROWS)
        ts_text_add(out, ": a row is opened for every %.1f bursts", bursts / (double)cost->hbm.activations);
    if (cost->limit == TS_DMA_LIMIT_DESCRIPTORS)
        ts_text_add(out, ": %s", ts_text_grouped(out->arena, r->descriptors));
    if (cost->limit == TS_DMA_LIMIT_BANDWIDTH)
        ts_text_add(out, ": it moves data for %.1f %% of the time", report_peak_share(s));
    ts_text_add(out, "\n");
}

enum { BAR = 40 };

static void add_parts(ts_text *out, const ts_transfer_study *s) {
    static const char bar[BAR + 1] = "########################################";
    int64_t total = s->cost.cycles;
    for (int i = 0; i < TS_DMA_COMPONENT_COUNT; i++) {
        int64_t cycles = s->cost.components[i];
        int length = total > 0 ? (int)((cycles * BAR + total / 2) / total) : 0;
        ts_text_add(
            out, "  %-23s %15s %5.1f %%%s%.*s\n", report_part_label(out->arena, s, (ts_dma_component)i),
            ts_text_grouped(out->arena, cycles), ts_percent(cycles, total), length ? "  " : "", length, bar);
    }
    add_limit(out, s);
}

void report_add_boxes(const ts_plan *plan, ts_text *out) {
    int64_t shown = ts_min(plan->box_count, BOXES_SHOWN);
    ts_text_add(out, "boxes (strides in bits, outermost loop first)\n");
    for (int64_t n = 0; n < shown; n++) {
        ts_plan_box box;
        ts_plan_get_box(plan, n, &box);
        ts_text_add(out, "%3lld: %lld element%s from bit %lld to bit %lld\n", (long long)n,
                    (long long)box.elements, box.elements == 1 ? "" : "s", (long long)box.src_bits,
                    (long long)box.dst_bits);
        for (int i = 0; i < box.loop_count; i++) {
            ts_text_add(out, "       %*sfor %lld: src += %lld, dst += %lld\n", 2 * i, "",
                        (long long)box.loops[i].extent, (long long)box.loops[i].src_bits,
                        (long long)box.loops[i].dst_bits);
        }
    }
    if (shown < plan->box_count) ts_text_add(out, "and %lld more\n", (long long)(plan->box_count - shown));
}

/* "source f32[8]{0}: 1,234 cycles, 3.2 % less" */
static void add_others(ts_text *out, const ts_transfer_study *s, const ts_transfer_others *others, int side) {
    const ts_transfer_other *best = &others->others[0];
    double percent = 100.0 * (double)(best->cycles - s->cost.cycles) / (double)s->cost.cycles;
    ts_text_add(out, "%-13s %s ", side == 1 ? "" : "other layout", side == 1 ? "destination" : "source");
    if (others->count == 0) {
        ts_text_add(out, "has none to try\n");
        return;
    }
    if (percent > -0.05) ts_text_add(out, "has no cheaper one; next ");
    ts_text_add(out, "%s: %s%s, ", ts_shape_text(out->arena, best->shape), best->estimated ? "~" : "",
                ts_text_counted(out->arena, best->cycles, "cycle"));
    if (percent > -0.05 && percent < 0.05)
        ts_text_add(out, "the same\n");
    else
        ts_text_add(out, "%.1f %% %s\n", percent < 0 ? -percent : percent, percent < 0 ? "less" : "more");
}

static void add_energy(ts_text *out, const ts_transfer_study *study) {
    ts_energy energy;
    ts_transfer_energy(study, &energy);
    report_energy(out, "energy        ", &energy,
                  ts_machine_microseconds(study->machine, study->cost.cycles));
}

void ts_report_transfer(const ts_transfer_study *study, const ts_transfer_others others[2],
                        ts_transfer_detail detail, ts_text *out) {
    add_side(out, "source", &study->src, study->src_memory);
    add_side(out, "destination", &study->dst, study->dst_memory);
    ts_report_machine_line("machine       ", study->machine, out);
    add_plan(out, study);
    add_runs(out, study->plan);
    add_bytes(out, &study->cost.transfer);
    add_hbm(out, &study->cost.hbm);
    add_time(out, study);
    add_parts(out, study);
    add_energy(out, study);
    for (int i = 0; i < 2 && others; i++) add_others(out, study, &others[i], i);
    if (detail == TS_TRANSFER_COST_AND_LOOPS) {
        ts_text_add_char(out, '\n');
        report_add_boxes(study->plan, out);
    }
    ts_text_wrap(out, TS_TEXT_COLUMNS);
}

static void add_json_runs(ts_json *json, const ts_plan *plan, ts_dma_runs_of which) {
    ts_dma_runs runs;
    ts_dma_count_runs(plan, which, &runs);
    ts_json_array(json, run_texts[which].key);
    for (int i = 0; i < TS_DMA_RUN_CLASSES; i++) {
        if (runs.count[i] == 0) continue;
        ts_json_object(json, NULL);
        ts_json_int(json, "shortest_bits", runs.shortest_bits[i]);
        ts_json_int(json, "longest_bits", runs.longest_bits[i]);
        ts_json_int(json, "count", runs.count[i]);
        ts_json_close(json);
    }
    ts_json_close(json);
}

void report_add_boxes_json(ts_json *json, const ts_plan *plan, int64_t most) {
    int64_t shown = ts_min(plan->box_count, most);
    ts_json_int(json, "box_count", plan->box_count);
    ts_json_array(json, "boxes");
    for (int64_t n = 0; n < shown; n++) {
        ts_plan_box box;
        ts_plan_get_box(plan, n, &box);
        ts_json_object(json, NULL);
        ts_json_int(json, "src_bits", box.src_bits);
        ts_json_int(json, "dst_bits", box.dst_bits);
        ts_json_array(json, "loops");
        for (int i = 0; i < box.loop_count; i++) ts_json_ints(json, NULL, 3, &box.loops[i].extent);
        ts_json_close(json);
        ts_json_close(json);
    }
    ts_json_close(json);
}

static void add_json_others(ts_json *json, const char *key, const ts_transfer_others *others,
                            ts_arena *arena) {
    ts_json_array(json, key);
    for (int i = 0; i < others->count; i++) {
        ts_json_object(json, NULL);
        ts_json_text(json, "shape", ts_shape_text(arena, others->others[i].shape));
        ts_json_int(json, "cycles", others->others[i].cycles);
        ts_json_bool(json, "estimated", others->others[i].estimated);
        ts_json_close(json);
    }
    ts_json_close(json);
}

static void add_json_program(ts_json *json, const ts_core_program *by) {
    ts_json_object(json, "core_program");
    ts_json_text(json, "program", by->program);
    ts_json_text(json, "parameters", by->parameters);
    ts_json_text(json, "engine_cannot", ts_dma_kind_text(by->kind));
    ts_json_text(json, "status", by->status);
    ts_json_close(json);
}

static void add_json_bytes(ts_json *json, const ts_dma_result *r) {
    int64_t moved = r->src_bytes + r->dst_bytes;
    ts_json_int(json, "useful_bytes", r->useful_bytes);
    ts_json_int(json, "moved_bytes", moved);
    ts_json_int(json, "padding_bytes", r->padding_bytes);
    ts_json_real(json, "padding_percent", report_padding_percent(moved - r->padding_bytes, moved), 4);
    ts_json_int(json, "waste_bytes", r->waste_bytes);
}

/* What limits the transfer, and where its cycles went. */
static void add_json_cost(ts_json *json, const ts_transfer_study *study) {
    ts_json_text(json, "limiter", study->cost.limiter);
    ts_json_text(json, "limiter_part",
                 ts_dma_component_key(ts_dma_largest_component(study->cost.components)));
    ts_json_text(json, "kind", ts_dma_kind_text(study->cost.transfer.kind));
    if (study->by.program) add_json_program(json, &study->by);
    ts_json_object(json, "parts");
    for (int i = 0; i < TS_DMA_COMPONENT_COUNT; i++)
        ts_json_int(json, ts_dma_component_key((ts_dma_component)i), study->cost.components[i]);
    ts_json_close(json);
    ts_json_real(json, "peak_percent", report_peak_share(study), 3);
    ts_json_int(json, "fixed_cycles", study->cost.fixed_cycles);
    ts_json_int(json, "engine_cycles", study->cost.engine_cycles);
    ts_json_int(json, "memory_cycles", study->cost.memory_cycles);
}

static void add_json_accesses(ts_json *json, const ts_transfer_study *study) {
    const ts_hbm_stats *hbm = &study->cost.hbm;
    ts_json_int(json, "descriptors", study->cost.transfer.descriptors);
    ts_json_int(json, "walked_runs", study->cost.transfer.runs);
    for (int i = TS_DMA_RUNS_BOTH; i <= TS_DMA_RUNS_DST; i++)
        add_json_runs(json, study->plan, (ts_dma_runs_of)i);
    ts_json_int(json, "rmw_accesses", study->cost.transfer.rmw_lines);
    ts_json_int(json, "bursts", hbm->reads + hbm->writes);
    ts_json_int(json, "forwarded", hbm->forwarded);
    ts_json_int(json, "coalesced", hbm->coalesced);
    ts_json_int(json, "row_hits", hbm->row_hits);
    ts_json_int(json, "activations", hbm->activations);
    report_add_limiters_json(json, hbm);
}

void ts_report_transfer_json(const ts_transfer_study *study, const ts_transfer_others others[2],
                             ts_transfer_detail detail, ts_text *out) {
    ts_json json;
    ts_energy energy;
    ts_json_begin(&json, out, "dma");
    ts_report_machine_keys(study->machine, &json);
    ts_json_int(&json, "cycles", study->cost.cycles);
    ts_json_bool(&json, "estimated", study->cost.estimated);
    ts_json_real(&json, "microseconds", ts_machine_microseconds(study->machine, study->cost.cycles), 6);
    add_json_bytes(&json, &study->cost.transfer);
    ts_json_real(&json, "gb_per_s", report_gb_per_second(study), 3);
    add_json_cost(&json, study);
    add_json_accesses(&json, study);
    ts_transfer_energy(study, &energy);
    report_energy_json(&json, &energy);
    ts_json_int(&json, "src_at", study->src.at);
    ts_json_int(&json, "dst_at", study->dst.at);
    if (others) add_json_others(&json, "other_sources", &others[0], out->arena);
    if (others) add_json_others(&json, "other_destinations", &others[1], out->arena);
    if (detail == TS_TRANSFER_COST_AND_LOOPS) report_add_boxes_json(&json, study->plan, BOXES_SHOWN);
    ts_json_end(&json);
}
