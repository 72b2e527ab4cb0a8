/* A run as a page. */

#include <stdlib.h>
#include <string.h>

#include "padding.h"
#include "base/number.h"
#include "report/layout.h"
#include "report/run.h"
#include "run_private.h"

enum { MOST_PICTURES = 16, MOST_PICTURE_BYTES = 1 << 20 };

/* ---- Facts ---- */

static const char *checks_text(ts_arena *arena, const ts_run_request *request, const ts_run_result *result) {
    int failed = 0, count = result->program->check_count;
    for (int i = 0; result->checks && i < count; i++) failed += result->checks[i].failed > 0;
    if (request->time_only) return "not computed";
    if (count == 0) return NULL;
    return failed > 0 ? ts_text_format(arena, "%d of %d FAILED", failed, count)
                      : ts_text_format(arena, "%d passed", count);
}

static const char *speed_text(ts_arena *arena, const ts_roofline *r) {
    return r->unit == TS_FLOPS_NONE ? NULL
                                    : ts_text_format(arena, "%s%s/s, %.1f %%", report_scaled(arena, r->rate),
                                                     report_operations(r), 100 * r->rate / r->peak);
}

static const char *bound_text(ts_arena *arena, const ts_roofline *r) {
    return ts_text_format(arena, "%s (%s %.1f %% busy)", ts_bound_text(r->bound),
                          r->link >= 0 ? "a link" : ts_unit_text(r->busiest),
                          100 * (r->link >= 0 ? r->link_busy : r->busy[r->busiest]));
}

static void add_facts(const ts_run_request *request, const ts_run_result *result, page *p) {
    const ts_roofline *r = &result->roofline;
    ts_arena *arena = p->out->arena;
    const char *about = result->chip.estimated ? "~" : "";
    int64_t cycles = result->counters.values[TS_COUNTER_CYCLES];
    const page_fact facts[] = {
        {"time",
         ts_text_format(arena, "%s%.3f us", about, ts_machine_microseconds(request->machine, cycles))},
        {"cycles", ts_text_format(arena, "%s%s", about, ts_text_grouped(arena, cycles))},
        {"speed, of the peak", speed_text(arena, r)},
        {"HBM, of its peak",
         ts_text_format(arena, "%.1f GB/s, %.1f %%", r->hbm_rate / 1e9, 100 * r->busy[TS_UNIT_HBM])},
        {"bound by", bound_text(arena, r)},
        {"at least", ts_text_counted(arena, r->least_cycles, "cycle")},
        {"checks", checks_text(arena, request, result)}};
    page_facts(p, facts, sizeof facts / sizeof *facts);
}

/* ---- Cycles ---- */

/* Bundles first, then the reasons of stalls. */
enum { REASONS = 1 + TS_STALL_COUNT };

typedef struct {
    int reason;
    int64_t cycles; /* of all cores */
} reason_sum;

static int64_t cycles_of(const ts_core_counters *core, int reason) {
    return reason == 0 ? core->bundles : core->stalls[reason - 1];
}

static const char *reason_text(int reason) {
    return reason == 0 ? "a bundle issued" : ts_stall_get(reason - 1)->meaning;
}

static int compare_sums(const void *x, const void *y) {
    const reason_sum *a = x, *b = y;
    int order = ts_order(b->cycles, a->cycles);
    return order ? order : ts_order(a->reason, b->reason);
}

/* Bundles, then the longest stall first. */
static void find_reasons(const ts_chip_counters *chip, reason_sum sums[REASONS]) {
    for (int i = 0; i < REASONS; i++) {
        sums[i] = (reason_sum){i, 0};
        for (int core = 0; core < chip->core_count; core++)
            sums[i].cycles += cycles_of(&chip->cores[core], i);
    }
    qsort(sums + 1, REASONS - 1, sizeof *sums, compare_sums);
}

/* The rarest share a colour. */
static void make_parts(ts_arena *arena, const reason_sum *sums, const ts_core_counters *core,
                       page_part *parts) {
    for (int i = 0; i < REASONS; i++) {
        int64_t cycles = core ? cycles_of(core, sums[i].reason) : sums[i].cycles;
        parts[i] = (page_part){.label = reason_text(sums[i].reason),
                               .value = (double)cycles,
                               .text = ts_text_grouped(arena, cycles),
                               .kind = i < PAGE_SHADES ? i + 1 : PAGE_SHADES};
    }
}

static void add_cycles(const ts_run_result *result, page *p) {
    const ts_chip_counters *chip = &result->chip;
    reason_sum sums[REASONS];
    page_part parts[REASONS];
    find_reasons(chip, sums);
    page_section(p, "Where the cycles went");
    for (int i = 0; i < chip->core_count; i++) {
        const char *what = ts_text_format(p->out->arena, "Cycles of core %d by reason", i);
        if (chip->core_count > 1)
            page_paragraph(p, "core %d: %s", i,
                           ts_text_counted(p->out->arena, chip->cores[i].cycles, "cycle"));
        make_parts(p->out->arena, sums, &chip->cores[i], parts);
        page_bar(p, what, parts, REASONS);
    }
    make_parts(p->out->arena, sums, NULL, parts);
    if (chip->core_count > 1) page_paragraph(p, "All cores together:");
    page_legend(p, parts, REASONS);
}

/* ---- Roofline ---- */

static void add_units(const ts_roofline *r, page *p) {
    static const page_column headings[] = {{"unit", false}, {"% of its time busy", true}};
    page_listing(p, NULL, headings, 2);
    for (int i = 0; i < TS_UNIT_COUNT; i++) {
        const double parts[] = {r->busy[i], 0};
        if (r->busy[i] <= 0) continue;
        page_row(p);
        page_code(p, ts_unit_text(i));
        page_heat(p, r->busy[i], parts, ts_text_format(p->out->arena, "%.1f", 100 * r->busy[i]));
    }
    page_table_end(p);
}

static void add_roofline(const ts_run_request *request, const ts_run_result *result, page *p) {
    ts_text svg = ts_text_begin(p->out->arena);
    ts_text text = ts_text_begin(p->out->arena);
    page_section(p, "Roofline");
    ts_text_add(p->out, "<div class=\"beside\">\n");
    if (result->roofline.unit != TS_FLOPS_NONE) {
        report_roofline_svg(request->machine, &result->roofline, &svg);
        page_picture(p, NULL, &svg);
    }
    add_units(&result->roofline, p);
    ts_text_add(p->out, "</div>\n");
    report_roofline(result, &text);
    page_text(p, &text);
}

static void add_mesh(const ts_run_request *request, const ts_run_result *result, page *p) {
    if (!result->mesh) return;
    ts_text text = ts_text_begin(p->out->arena);
    page_section(p, "Mesh");
    report_run_mesh(request, result->mesh, &text);
    page_text(p, &text);
}

/* ---- Checks and findings ---- */

static void add_checks(const ts_run_result *result, page *p) {
    static const page_column headings[] = {
        {"check", false}, {"elements", true}, {"wrong", true}, {"error at most", true}, {"in ulp", true}};
    if (!result->checks || result->program->check_count == 0) return;
    page_section(p, "Checks");
    page_table(p, NULL, headings, 5);
    for (int i = 0; i < result->program->check_count; i++) {
        const ts_program_check *text = &result->program->checks[i];
        const ts_check_result *check = &result->checks[i];
        page_row(p);
        page_code(
            p, ts_arena_copy_text(p->out->arena, text->source->text + text->begin, text->end - text->begin));
        page_count(p, (int64_t)check->count);
        page_count(p, (int64_t)check->failed);
        page_number(p, check->max_abs, "%.4g", check->max_abs);
        page_number(p, check->max_ulp, "%.4g", check->max_ulp);
    }
    page_table_end(p);
}

static void add_findings(const ts_run_result *result, page *p) {
    if (result->findings->count == 0) return;
    ts_text text = ts_text_begin(p->out->arena);
    ts_report_findings(result->findings, &text);
    page_section(p, "Findings");
    page_text(p, &text);
}

/* ---- Tensors ---- */

static void add_tensor_row(const ts_run_result *result, int i, page *p) {
    const ts_tensor *tensor = &result->program->code.tensors[i];
    double padding = report_padding_percent(report_held_bytes(tensor->shape), tensor->bytes);
    const char *origin = result->tensors[i].origin;
    page_row(p);
    page_code(p, tensor->name);
    page_cell(p, "%s", ts_space_text(tensor->space));
    page_count(p, tensor->bytes);
    page_number(p, padding, "%.1f %%", padding);
    page_code(p, ts_shape_text(p->out->arena, tensor->shape));
    page_cell(p, "%s", origin ? origin : "");
}

/* How many pictures there are, and have no room; how many bytes there still are. */
typedef struct {
    int drawn, left_out;
    size_t bytes;
} picture_room;

/* A picture for all tensors of one shape, if it was not drawn yet and there is room. */
static void add_tensor_picture(const ts_run_result *result, int i, picture_room *room, page *p) {
    const ts_code *code = &result->program->code;
    ts_text names = ts_text_begin(p->out->arena), svg = ts_text_begin(p->out->arena),
            other = ts_text_begin(p->out->arena);
    const char *shape = ts_shape_text(p->out->arena, code->tensors[i].shape);
    for (int k = 0; k < code->tensor_count; k++) {
        ts_text_clear(&other); /* one for all, as there are many pairs */
        ts_shape_print(code->tensors[k].shape, &other);
        if (strcmp(shape, other.bytes) != 0) continue;
        if (k < i) return;
        ts_text_add(&names, "%s%s", names.length > 0 ? ", " : "", code->tensors[k].name);
    }
    if (room->drawn < MOST_PICTURES)
        ts_report_svg(p->out->arena, 1, (const ts_shape *const[]){code->tensors[i].shape}, &svg);
    if (room->drawn == MOST_PICTURES || svg.length > room->bytes) {
        room->left_out++;
        return;
    }
    room->drawn++;
    room->bytes -= svg.length;
    page_details(p, "%s: %s", names.bytes, shape);
    page_picture(p, NULL, &svg);
    page_details_end(p);
}

static void add_tensors(const ts_run_result *result, page *p) {
    static const page_column headings[] = {{"tensor", false}, {"in", false},     {"bytes", true},
                                           {"padding", true}, {"layout", false}, {"values from", false}};
    const ts_code *code = &result->program->code;
    picture_room room = {.bytes = MOST_PICTURE_BYTES};
    if (code->tensor_count == 0) return;
    page_section(p, "Tensors");
    page_table(p, NULL, headings, 6);
    for (int i = 0; i < code->tensor_count; i++) add_tensor_row(result, i, p);
    page_table_end(p);
    for (int i = 0; i < code->tensor_count; i++)
        if (code->tensors[i].shape->layout) add_tensor_picture(result, i, &room, p);
    if (room.left_out > 0)
        page_paragraph(p, "%d more picture%s left out here: tilesim layout 'SHAPE' --svg FILE draws one.",
                       room.left_out, room.left_out > 1 ? "s are" : " is");
}

/* ---- The page ---- */

void ts_report_run_html(const ts_run_request *request, const ts_run_result *result,
                        const ts_page_trace *trace, ts_text *out) {
    page p;
    ts_text subject = ts_text_begin(out->arena);
    ts_text_add(&subject, "%s", request->program);
    for (int i = 0; i < request->define_count; i++)
        ts_text_add(&subject, " %s=%s", request->defines[i].name, request->defines[i].value);
    page_begin(&p, out, "A run", subject.bytes, request->machine);
    add_facts(request, result, &p);
    add_findings(result, &p);
    add_mesh(request, result, &p);
    add_cycles(result, &p);
    add_roofline(request, result, &p);
    report_timeline_section(trace, &p);
    report_loops_section(result, &p);
    report_lines_section(result, &p);
    report_transfers_section(trace, &p);
    add_tensors(result, &p);
    add_checks(result, &p);
    if (trace->count > 0) page_script(&p, "timeline.js");
    page_end(&p);
}
