/* A run as text and as JSON. */
#include "report/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "padding.h"
#include "run_private.h"
#include "layout/shape.h"
#include "report/energy.h"
#include "report/machine.h"

const char *ts_report_stall_unit(int stall) {
    if (stall >= TS_STALL_SEMAPHORE) {
        bool vmem = stall == TS_STALL_VMEM_PORT || stall == TS_STALL_VMEM_BANK;
        return vmem ? "vmem" : stall == TS_STALL_BARRIER ? "core" : "dma";
    }
    for (int i = 0; i < TS_OP_COUNT; i++) {
        const ts_opcode_info *info = ts_opcode_get((ts_opcode)i);
        if ((int)info->latency == stall % TS_LATENCY_COUNT) return ts_slot_get(info->slot)->text;
    }
    return "core";
}

static double gb_per_second(const ts_run_request *request, const ts_run_result *result, int64_t bytes) {
    return ts_machine_gb_per_second(request->machine, bytes, result->chip.elapsed_cycles);
}

/* ---- Lines ---- */

/* Adds a word, on a new line behind the label's column where it would not fit. */
static void add_word(ts_text *out, size_t *line, const char *word) {
    enum { COLUMNS = TS_TEXT_COLUMNS, LABEL = 11 };
    if (out->length - *line + strlen(word) + 1 > COLUMNS) {
        *line = out->length + 1;
        ts_text_add(out, "\n%*s%s", LABEL, "", word);
    } else {
        ts_text_add(out, " %s", word);
    }
}

/* Words of one line, put on as many as they take. */
static void add_words(ts_text *out, size_t *line, const char *text, size_t length) {
    char *rest = ts_arena_copy_text(out->arena, text, length), *word;
    while ((word = strtok_r(rest, " ", &rest)) != NULL)
        if (strlen(word) < TS_TEXT_COLUMNS)
            add_word(out, line, word);
        else
            ts_text_add(out, " %s", word); /* too long for any line */
}

/* ---- Checks ---- */

static void index_at(const ts_check_result *check, size_t at, int64_t *index) {
    for (int i = check->rank - 1; i >= 0; i--) {
        index[i] = (int64_t)(at % (size_t)check->dims[i]);
        at /= (size_t)check->dims[i];
    }
}

static void add_index(ts_text *out, const ts_check_result *check, size_t at) {
    int64_t index[TS_HOST_RANK];
    index_at(check, at, index);
    ts_text_add_char(out, '[');
    ts_text_add_integers(out, index, check->rank);
    ts_text_add_char(out, ']');
}

/* Beside 0 the last place says nothing: 1e-3 is some 10^42 of them. */
static bool has_ulp(double expected) { return fabs(expected) >= 0x1p-126; }

static void add_mismatch(ts_text *out, const ts_check_result *check, const ts_mismatch *found) {
    ts_text_add(out, "           ");
    add_index(out, check, found->at);
    ts_text_add(out, " got %.9g, expected %.9g, error %.4g", found->actual, found->expected, found->abs);
    if (has_ulp(found->expected)) ts_text_add(out, " = %.4g ulp", found->ulp);
    ts_text_add_char(out, '\n');
}

/* Of the worst element. */
static double worst_abs(const ts_check_result *check) {
    double error = fabs(check->actual - check->expected);
    return isnan(error) ? (double)INFINITY : error;
}

/* Of the check's text: a bound that is an expression is left to the program and the JSON. */
static size_t shown_length(const ts_program_check *text, bool has_err) {
    const char *begin = text->source->text + text->begin, *end = text->source->text + text->end;
    const char *at = begin;
    while (has_err && at + 5 <= end && memcmp(at, " err=", 5) != 0) at++;
    return (size_t)((has_err && at + 5 <= end ? at : end) - begin);
}

/* The error in the unit in which the check states its bound. */
static void add_check(ts_text *out, const ts_run_result *result, int i) {
    const ts_program_check *text = &result->program->checks[i];
    const ts_check_result *check = &result->checks[i];
    bool absolute = result->rules[i].tolerance.abs >= 0 || result->rules[i].err != NULL;
    size_t line = out->length;
    ts_text_add(out, "check     ");
    add_words(out, &line, text->source->text + text->begin, shown_length(text, result->rules[i].err != NULL));
    ts_text_add(out, result->rules[i].err != NULL ? " err=...\n           " : "\n           ");
    if (check->failed > 0)
        ts_text_add(out, "FAILED: %s of ", ts_text_grouped(out->arena, (int64_t)check->failed));
    else
        ts_text_add(out, "passed: ");
    ts_text_add(out, "%s", ts_text_counted(out->arena, (int64_t)check->count, "element"));
    ts_text_add(out, "%s, error at most ",
                check->failed == 0   ? ""
                : check->failed == 1 ? " is wrong"
                                     : " are wrong");
    if (absolute)
        ts_text_add(out, "%.4g absolute\n", check->max_abs);
    else if (check->max_ulp > 0 && !has_ulp(check->expected))
        ts_text_add(out, "%.4g absolute, where %.4g is expected\n", worst_abs(check), check->expected);
    else
        ts_text_add(out, "%.4g ulp\n", check->max_ulp);
    for (int k = 0; k < check->mismatch_count; k++) add_mismatch(out, check, &check->mismatches[k]);
}

bool ts_report_failed_check(const ts_run_result *result, int number, ts_error *err) {
    const ts_program_check *text = &result->program->checks[number];
    const ts_check_result *check = &result->checks[number];
    if (check->failed == 0) return false;
    ts_arena *scratch = ts_arena_new();
    ts_text index = ts_text_begin(scratch);
    add_index(&index, check, check->worst);
    ts_error_at(err, TS_ERROR_FAULT, text->source, text->begin,
                "check failed: %zu of %zu elements; at %s found %.9g, expected %.9g (%.4g %s)", check->failed,
                check->count, index.bytes, check->actual, check->expected,
                has_ulp(check->expected) ? check->max_ulp : worst_abs(check),
                has_ulp(check->expected) ? "ulp" : "absolute");
    ts_arena_free(scratch);
    return true;
}

/* ---- Text ---- */

static void add_head(ts_text *out, const ts_run_request *request, const ts_run_result *result) {
    ts_report_machine_line("machine    ", request->machine, out);
    size_t line = out->length;
    ts_text_add(out, "program    %s", ts_text_one_line(out->arena, request->program));
    for (int i = 0; i < result->program->param_count; i++) {
        const ts_param *param = &result->program->params[i];
        if (param->included) continue; /* the inner figures of what the program is made of; --json has them */
        add_word(out, &line,
                 param->is_float
                     ? ts_text_format(out->arena, "%s=%.9g", param->name, param->number)
                     : ts_text_format(out->arena, "%s=%lld", param->name, (long long)param->integer));
    }
    ts_text_add_char(out, '\n');
}

static void add_tensor(ts_text *out, const ts_run_result *result, int i) {
    const ts_tensor *tensor = &result->program->code.tensors[i];
    const ts_run_tensor *bound = &result->tensors[i];
    ts_text_add(out, "%-10s %-6s %-4s %14s bytes %5.1f %% padding  %s", i == 0 ? "tensors" : "", tensor->name,
                ts_space_text(tensor->space), ts_text_grouped(out->arena, tensor->bytes),
                report_padding_percent(report_held_bytes(tensor->shape), tensor->bytes),
                ts_shape_text(out->arena, tensor->shape));
    const ts_shape *whole = ts_program_shape(result->program, i);
    if (whole != tensor->shape) ts_text_add(out, "\n%18sof %s", "", ts_shape_text(out->arena, whole));
    if (bound->origin != NULL)
        ts_text_add(out, "\n%18sfrom %s%s", "", ts_text_one_line(out->arena, bound->origin),
                    bound->converted ? ", converted" : "");
    ts_text_add_char(out, '\n');
}

static void add_cycle_row(ts_text *out, const char *unit, const char *reason, int64_t cycles, int64_t total) {
    size_t begin = out->length;
    ts_text_add(out, "  %15s %5.1f %%  %-7s ", ts_text_grouped(out->arena, cycles), ts_percent(cycles, total),
                unit);
    ts_text_end_line(out, begin, reason);
}

static void add_core(ts_text *out, const ts_core_counters *core) {
    ts_text_add(out, "  %15s %7s  %-7s %s\n", "cycles", "share", "unit", "where they went");
    add_cycle_row(out, "core", "a bundle issued", core->bundles, core->cycles);
    for (int i = 0; i < TS_STALL_COUNT; i++) {
        if (core->stalls[i] > 0) {
            add_cycle_row(out, ts_report_stall_unit(i), ts_stall_get(i)->meaning, core->stalls[i],
                          core->cycles);
        }
    }
    add_cycle_row(out, "", "total", core->cycles, core->cycles);
}

static void add_cycles(ts_text *out, const ts_run_request *request, const ts_run_result *result) {
    int64_t total = result->counters.values[TS_COUNTER_CYCLES];
    ts_text_add(out, "cycles     %s%s = %.3f us at %.3g GHz\n\n", result->chip.estimated ? "~" : "",
                ts_text_grouped(out->arena, total), ts_machine_microseconds(request->machine, total),
                (double)request->machine->chip.sustained_khz / 1e6);
    for (int i = 0; i < result->chip.core_count; i++) {
        if (result->chip.core_count > 1) ts_text_add(out, "%score %d\n", i > 0 ? "\n" : "", i);
        add_core(out, &result->chip.cores[i]);
    }
}

/* Of all cores. */
static int64_t slots_used(const ts_run_result *result, int slot) {
    int64_t used = 0;
    for (int core = 0; core < result->chip.core_count; core++)
        used += result->chip.cores[core].instructions[slot];
    return used;
}

/* Begins a line with a label; returns where it begins. */
static size_t begin_line(ts_text *out, const char *label) {
    ts_text_add(out, "\n%s", label);
    return out->length - strlen(label);
}

static void add_slots(ts_text *out, const ts_run_request *request, const ts_run_result *result) {
    int64_t cycles = result->counters.values[TS_COUNTER_CYCLES] * result->chip.core_count;
    const int *slots = request->machine->core.limits.slots;
    int last = TS_SLOT_COUNT - 1;
    while (last > 0 && slots_used(result, last) == 0) last--;
    size_t line = begin_line(out, "slots used");
    for (int i = 0; i <= last; i++) {
        int64_t used = slots_used(result, i);
        if (used == 0) continue;
        add_word(out, &line,
                 ts_text_format(out->arena, "%s %.1f %%%s", ts_slot_get((ts_slot)i)->text,
                                ts_percent(used, cycles * slots[i]), i < last ? "," : ""));
    }
    line = begin_line(out, "           of");
    for (int i = 0; i <= last; i++) {
        if (slots_used(result, i) == 0) continue;
        add_word(out, &line,
                 ts_text_format(out->arena, "%d %s%s", slots[i], ts_slot_get((ts_slot)i)->text,
                                i < last ? "," : ""));
    }
    add_word(out, &line,
             ts_text_format(out->arena, "a cycle, in %s cycles", ts_text_grouped(out->arena, cycles)));
    ts_text_add_char(out, '\n');
}

static void add_transfers(ts_text *out, const ts_run_result *result) {
    const int64_t *v = result->counters.values;
    ts_text_add(out, "DMA        %s, under way in %.1f %% of the cycles\n",
                ts_text_counted(out->arena, v[TS_COUNTER_TRANSFERS], "transfer"),
                ts_percent(v[TS_COUNTER_DMA_BUSY_CYCLES], result->chip.elapsed_cycles));
    if (v[TS_COUNTER_LEAST_TRANSFER_CYCLES] > 0) {
        ts_text_add(
            out,
            "           each took %.2f times what it takes alone at the peak of HBM and engine, on average\n",
            (double)v[TS_COUNTER_TRANSFER_CYCLES] / (double)v[TS_COUNTER_LEAST_TRANSFER_CYCLES]);
    }
    if (v[TS_COUNTER_RECALLED_TRANSFERS] > 0) {
        ts_text_add(
            out,
            "           of them %s recalled from like ones, not simulated (--exact simulates them all)\n",
            ts_text_grouped(out->arena, v[TS_COUNTER_RECALLED_TRANSFERS]));
    }
}

static void add_traffic(ts_text *out, const ts_run_request *request, const ts_run_result *result) {
    const int64_t *v = result->counters.values;
    int64_t bursts =
        v[TS_COUNTER_HBM_ROW_HITS] + v[TS_COUNTER_HBM_ROW_MISSES] + v[TS_COUNTER_HBM_ROW_CONFLICTS];
    const ts_roofline *roofline = &result->roofline;
    add_transfers(out, result);
    ts_text_add(out, "bytes      %s useful (%.1f GB/s), ",
                ts_text_grouped(out->arena, v[TS_COUNTER_USEFUL_BYTES]),
                gb_per_second(request, result, v[TS_COUNTER_USEFUL_BYTES]));
    ts_text_add(out, "%s moved at both ends\n           of them %.1f %% padding, ",
                ts_text_grouped(out->arena, v[TS_COUNTER_MOVED_BYTES]),
                ts_percent(v[TS_COUNTER_PADDING_BYTES], v[TS_COUNTER_MOVED_BYTES]));
    ts_text_add(out, "%.1f %% not asked for\n",
                ts_percent(v[TS_COUNTER_WASTE_BYTES], v[TS_COUNTER_MOVED_BYTES]));
    ts_text_add(out, "HBM        %s read, ",
                ts_text_counted(out->arena, v[TS_COUNTER_HBM_READ_BYTES], "byte"));
    ts_text_add(out, "%s written: %.1f GB/s, %.1f %% of the peak; %.1f %% row hits\n",
                ts_text_grouped(out->arena, v[TS_COUNTER_HBM_WRITTEN_BYTES]), roofline->hbm_rate / 1e9,
                100.0 * roofline->busy[TS_UNIT_HBM], ts_percent(v[TS_COUNTER_HBM_ROW_HITS], bursts));
    if (roofline->pin_bytes < roofline->hbm_bytes)
        ts_text_add(out, "           %s of them are answered by its queues, without the pins\n",
                    ts_text_counted(out->arena, roofline->hbm_bytes - roofline->pin_bytes, "byte"));
}

static void add_sanitizer(ts_text *out, const ts_run_request *request, const ts_run_result *result) {
    int found = ts_findings_count(result->findings, TS_FINDING_WRONG);
    int warned = ts_findings_count(result->findings, TS_FINDING_WARNS);
    const char *what = request->time_only ? "addresses, waits and semaphores (values are not computed)"
                                          : "undefined values, races and semaphores";
    if (warned > 0) ts_text_add(out, "warnings   %d: of what works, and should not be so\n", warned);
    if (request->check && found == 0)
        ts_text_add(out, "sanitizer  clean: %s\n", what);
    else if (request->check)
        ts_text_add(out, "sanitizer  %s: %s\n", ts_text_counted(out->arena, found, "finding"), what);
}

void ts_report_run(const ts_run_request *request, const ts_run_result *result, ts_text *out) {
    const ts_program *program = result->program;
    add_head(out, request, result);
    for (int i = 0; i < program->code.tensor_count; i++) add_tensor(out, result, i);
    if (request->time_only) ts_text_add(out, "values     not computed and not checked (--time-only)\n");
    for (int i = 0; result->checks != NULL && i < program->check_count; i++) add_check(out, result, i);
    for (int i = 0; result->reports != NULL && i < program->report_count; i++) {
        const ts_program_check *text = &program->reports[i].text;
        ts_text_add(out, "%-10s %.9g = %.*s\n", program->reports[i].name, result->reports[i],
                    (int)(text->end - text->begin), text->source->text + text->begin);
    }
    report_run_pipelines(program, out);
    add_sanitizer(out, request, result);
    if (result->mesh) report_run_mesh(request, result->mesh, out);
    add_cycles(out, request, result);
    add_slots(out, request, result);
    ts_text traffic = ts_text_begin(out->arena);
    if (result->counters.values[TS_COUNTER_TRANSFERS] > 0) add_traffic(&traffic, request, result);
    ts_text_wrap(&traffic, TS_TEXT_COLUMNS);
    ts_text_add_bytes(out, traffic.bytes, traffic.length);
    report_energy(out, "energy     ", &result->energy,
                  ts_machine_microseconds(request->machine, result->chip.elapsed_cycles));
    report_roofline(result, out);
}

/* ---- JSON ---- */

static void add_json_mismatch(ts_json *json, const ts_check_result *check, const ts_mismatch *found) {
    int64_t index[TS_HOST_RANK];
    index_at(check, found->at, index);
    ts_json_object(json, NULL);
    ts_json_ints(json, "index", check->rank, index);
    ts_json_double(json, "got", found->actual);
    ts_json_double(json, "expected", found->expected);
    ts_json_double(json, "error", found->abs);
    ts_json_double(json, "ulp", found->ulp);
    ts_json_close(json);
}

static void add_json_check(ts_json *json, const ts_program_check *text, const ts_check_result *check) {
    ts_json_object(json, NULL);
    ts_json_text(
        json, "check",
        ts_arena_copy_text(json->out->arena, text->source->text + text->begin, text->end - text->begin));
    ts_json_int(json, "line", text->line);
    ts_json_bool(json, "passed", check->failed == 0);
    ts_json_int(json, "elements", (int64_t)check->count);
    ts_json_int(json, "failed", (int64_t)check->failed);
    ts_json_double(json, "max_ulp", check->max_ulp);
    ts_json_double(json, "max_abs", check->max_abs);
    ts_json_array(json, "mismatches");
    for (int i = 0; i < check->mismatch_count; i++) add_json_mismatch(json, check, &check->mismatches[i]);
    ts_json_close(json);
    ts_json_close(json);
}

static void add_json_tensor(ts_json *json, const ts_run_result *result, int i) {
    const ts_tensor *tensor = &result->program->code.tensors[i];
    ts_json_object(json, NULL);
    ts_json_text(json, "name", tensor->name);
    ts_json_text(json, "role", ts_tensor_role_text(result->program->uses[i].role));
    ts_json_text(json, "space", ts_space_text(tensor->space));
    ts_json_text(json, "shape", ts_shape_text(json->out->arena, tensor->shape));
    ts_json_int(json, "base_bytes", tensor->base_bytes);
    ts_json_int(json, "bytes", tensor->bytes);
    report_shape_padding_json(json, tensor->shape, tensor->bytes);
    ts_json_int(json, "unpadded_bytes", tensor->shape->unpadded_bytes);
    ts_json_text(json, "origin", result->tensors[i].origin);
    ts_json_close(json);
}

/* Of so many cores together. */
static void add_json_stalls(ts_json *json, const ts_core_counters *cores, int count) {
    ts_json_object(json, "stalls");
    for (int i = 0; i < TS_STALL_COUNT; i++) {
        int64_t cycles = 0;
        for (int core = 0; core < count; core++) cycles += cores[core].stalls[i];
        if (cycles > 0) ts_json_int(json, ts_stall_get(i)->text, cycles);
    }
    ts_json_close(json);
}

static void add_json_cores(ts_json *json, const ts_chip_counters *chip) {
    ts_json_array(json, "cores");
    for (int i = 0; i < chip->core_count; i++) {
        ts_json_object(json, NULL);
        ts_json_int(json, "cycles", chip->cores[i].cycles);
        ts_json_int(json, "bundles", chip->cores[i].bundles);
        add_json_stalls(json, &chip->cores[i], 1);
        ts_json_close(json);
    }
    ts_json_close(json);
}

static void add_json_params(ts_json *json, const ts_program *program) {
    ts_json_object(json, "params");
    for (int i = 0; i < program->param_count; i++) {
        const ts_param *param = &program->params[i];
        if (param->is_float)
            ts_json_double(json, param->name, param->number);
        else
            ts_json_int(json, param->name, param->integer);
    }
    ts_json_close(json);
}

static void add_json_counters(ts_json *json, const ts_run_request *request, const ts_run_result *result) {
    const int64_t *v = result->counters.values;
    for (int i = 0; i < TS_COUNTER_COUNT; i++) ts_json_int(json, ts_counter_get((ts_counter)i)->name, v[i]);
    ts_json_bool(json, "estimated", result->chip.estimated);
    ts_json_real(json, "microseconds", ts_machine_microseconds(request->machine, v[TS_COUNTER_CYCLES]), 6);
    ts_json_real(json, "gb_per_s", gb_per_second(request, result, v[TS_COUNTER_USEFUL_BYTES]), 3);
    report_energy_json(json, &result->energy);
}

/* What .check and .report came to. */
static void add_json_results(ts_json *json, const ts_run_result *result) {
    const ts_program *program = result->program;
    ts_json_bool(json, "passed", result->passed);
    ts_json_array(json, "checks");
    for (int i = 0; result->checks != NULL && i < program->check_count; i++)
        add_json_check(json, &program->checks[i], &result->checks[i]);
    ts_json_close(json);
    ts_json_object(json, "reports");
    for (int i = 0; result->reports != NULL && i < program->report_count; i++)
        ts_json_double(json, program->reports[i].name, result->reports[i]);
    ts_json_close(json);
}

void ts_report_run_json(const ts_run_request *request, const ts_run_result *result, ts_text *out) {
    ts_json json;
    ts_json_begin(&json, out, "run");
    ts_report_machine_keys(request->machine, &json);
    ts_json_text(&json, "program", request->program);
    add_json_params(&json, result->program);
    add_json_counters(&json, request, result);
    add_json_stalls(&json, result->chip.cores, result->chip.core_count);
    ts_json_real(&json, "mxu_busy_percent", 100 * result->roofline.busy[TS_SLOT_MXU], 3);
    report_roofline_json(result, &json);
    if (result->profile) ts_report_lines_json(result, &json);
    add_json_cores(&json, &result->chip);
    if (result->mesh) report_run_mesh_json(request, result->mesh, &json);
    ts_json_bool(&json, "time_only", request->time_only);
    add_json_results(&json, result);
    report_run_pipelines_json(result->program, &json);
    ts_report_warnings_json(result->findings, &json);
    if (request->check) ts_report_findings_json(result->findings, &json);
    ts_json_array(&json, "tensors");
    for (int i = 0; i < result->program->code.tensor_count; i++) add_json_tensor(&json, result, i);
    ts_json_close(&json);
    ts_json_end(&json);
}
