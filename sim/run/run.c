/* A run from its files to its results. */
#include <string.h>

#include "base/file.h"
#include "host/format.h"
#include "mosaic/mosaic.h"
#include "base/memory.h"
#include "base/number.h"
#include "host/pack.h"
#include "layout/shape.h"

#include "recorder.h"
#include "run_parts.h"

void ts_run_target(const ts_machine *machine, ts_target *target) {
    ts_chip_config config;
    ts_chip_configure(machine, &config);
    *target =
        (ts_target){.machine = machine->name, .core = machine->core, .cores = machine->chip.tensor_cores};
    for (int i = 0; i < TS_SPACE_COUNT; i++) {
        target->space_bytes[i] = config.spaces[i] != NULL ? config.spaces[i]->capacity_bytes : 0;
    }
}

/* ---- Values in and out of the memories ---- */

static bool store_inputs(ts_error *err, ts_chip *chip, const ts_program *program,
                         const ts_run_tensor *tensors) {
    ts_arena *scratch = ts_arena_new();
    bool good = true;
    for (int i = 0; good && i < program->code.tensor_count; i++) {
        const ts_tensor *tensor = &program->code.tensors[i];
        const ts_space *last = NULL;
        for (int core = 0; good && tensors[i].origin && core < ts_chip_core_count(chip); core++) {
            ts_space *space = ts_chip_core_space(chip, core, tensor->space);
            good = space == last ||
                   (tensors[i].made.read != NULL
                        ? ts_host_store_read(err, &tensors[i].made, tensor->shape, space, tensor->base_bytes)
                        : ts_host_store(err, scratch, &tensors[i].before, tensor->shape, space,
                                        tensor->base_bytes));
            last = space;
        }
    }
    ts_arena_free(scratch);
    return good;
}

static bool is_saved(const ts_run_request *request, const char *name) {
    for (int k = 0; k < request->output_count; k++) {
        if (strcmp(request->outputs[k].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_checked(const ts_program *program, const ts_check *checks, const char *name) {
    for (int k = 0; k < program->check_count + program->report_count; k++) {
        if (ts_check_uses(&checks[k], name)) {
            return true;
        }
    }
    return false;
}

/* What is saved, whole; what is only checked stays in the chip, and is read from there. */
static bool fetch(ts_error *err, ts_arena *arena, const ts_run_request *request, const run_parts *parts) {
    const ts_program *program = parts->program;
    ts_run_tensor *tensors = parts->tensors;
    for (int i = 0; i < program->code.tensor_count && !request->time_only; i++) {
        const ts_tensor *tensor = &program->code.tensors[i];
        ts_space *space = ts_chip_space(parts->chip, tensor->space);
        ts_host_array *after = &tensors[i].after;
        ts_tensor_role role = program->uses[i].role;
        bool kept = request->keep_outputs && (role == TS_ROLE_OUT || role == TS_ROLE_INOUT);
        bool saved = kept || is_saved(request, tensor->name);
        if (!saved && !is_checked(program, parts->checks, tensor->name)) {
            continue;
        }
        tensors[i].fetched = ts_host_fetch_reader(arena, tensor->shape, space, tensor->base_bytes);
        if (saved ? !ts_host_fetch(err, arena, tensor->shape, space, tensor->base_bytes, after)
                  : !ts_host_array_describe(err, tensor->shape->dtype, tensor->shape->layout->rank,
                                            tensor->shape->layout->dims, after)) {
            return false;
        }
    }
    return true;
}

/* ---- Counters ---- */

static void count(const ts_chip_counters *c, ts_counters *out) {
    int64_t *v = out->values;
    v[TS_COUNTER_CYCLES] = c->cycles;
    for (int core = 0; core < c->core_count; core++) {
        v[TS_COUNTER_BUNDLES] += c->cores[core].bundles;
        for (int i = 0; i < TS_SLOT_COUNT; i++) {
            v[TS_COUNTER_INSTRUCTIONS] += c->cores[core].instructions[i];
        }
        for (int kind = 0; kind < TS_FLOPS_COUNT; kind++) {
            ts_counter unit = kind < TS_MXU_TYPE_COUNT ? TS_COUNTER_MXU_FLOPS : TS_COUNTER_VPU_FLOPS;
            v[unit] += c->cores[core].flops[kind];
        }
    }
    v[TS_COUNTER_TRANSFERS] = c->transfers;
    v[TS_COUNTER_RECALLED_TRANSFERS] = c->recalled;
    v[TS_COUNTER_DMA_BUSY_CYCLES] = c->dma_busy_cycles;
    v[TS_COUNTER_TRANSFER_CYCLES] = c->transfer_cycles;
    v[TS_COUNTER_LEAST_TRANSFER_CYCLES] = c->least_transfer_cycles;
    v[TS_COUNTER_USEFUL_BYTES] = c->useful_bytes;
    v[TS_COUNTER_MOVED_BYTES] = c->src_bytes + c->dst_bytes;
    v[TS_COUNTER_PADDING_BYTES] = c->padding_bytes;
    v[TS_COUNTER_WASTE_BYTES] = c->waste_bytes;
    v[TS_COUNTER_RMW_ACCESSES] = c->rmw_lines;
    v[TS_COUNTER_HBM_READ_BYTES] = c->hbm_read_bytes;
    v[TS_COUNTER_HBM_WRITTEN_BYTES] = c->hbm_written_bytes;
    v[TS_COUNTER_HBM_ROW_HITS] = c->hbm.row_hits;
    v[TS_COUNTER_HBM_ROW_MISSES] = c->hbm.row_misses;
    v[TS_COUNTER_HBM_ROW_CONFLICTS] = c->hbm.row_conflicts;
    v[TS_COUNTER_HBM_ACTIVATIONS] = c->hbm.activations;
    v[TS_COUNTER_HBM_REFRESHES] = c->hbm.refreshes;
}

/* ---- The whole ---- */

/* The files that the text names as inputs stay as they are. */
static bool check_overwritten(ts_error *err, ts_arena *arena, const ts_define *output,
                              const ts_program *program) {
    for (int i = 0; i < program->code.tensor_count; i++) {
        const char *file = program->uses[i].file;
        if (file && ts_file_same(arena, file, output->value))
            return ts_error_set(err, TS_ERROR_USAGE, "-o %s would be written over '%s', an input of %s",
                                output->name, file, program->code.tensors[i].name);
    }
    return true;
}

static bool check_outputs(ts_error *err, ts_arena *arena, const ts_run_request *request,
                          const ts_program *program) {
    if (request->time_only && request->output_count > 0) {
        return ts_error_set(err, TS_ERROR_USAGE, "-o %s: --time-only computes no values",
                            request->outputs[0].name);
    }
    for (int i = 0; i < request->output_count; i++) {
        if (find_run_tensor(err, program, "-o", request->outputs[i].name) < 0 ||
            !ts_host_can_save(err, arena, request->outputs[i].value) ||
            !check_overwritten(err, arena, &request->outputs[i], program)) {
            return false;
        }
    }
    return true;
}

static bool open_chip(ts_error *err, ts_arena *arena, const ts_run_request *request,
                      const ts_chip_observer *observer, run_parts *parts) {
    ts_chip_configure(request->machine, &parts->config);
    parts->outputs = mark_tensors(arena, parts->program, 1 << TS_ROLE_OUT | 1 << TS_ROLE_INOUT);
    parts->findings = TS_NEW(arena, ts_findings);
    parts->findings->all_warn = !request->check;
    parts->config.time_only = request->time_only;
    parts->config.exact = request->exact;
    parts->config.profile = request->profile;
    parts->config.patience = request->patience;
    parts->config.max_cycles = request->max_cycles;
    parts->config.findings = parts->findings;
    parts->config.sanitize = request->check;
    parts->config.outputs = parts->outputs;
    parts->config.inputs = mark_tensors(arena, parts->program, 1 << TS_ROLE_IN);
    parts->chip = ts_chip_new(err, arena, &parts->config, &parts->program->code, observer);
    if (parts->chip != NULL && !store_inputs(err, parts->chip, parts->program, parts->tensors)) {
        ts_chip_free(parts->chip);
        parts->chip = NULL;
    }
    return parts->chip != NULL;
}

/* HBM that a program keeps for itself takes memory only if a transfer reaches it. */
static bool is_touched(const ts_program *program, int tensor) {
    const ts_code *code = &program->code;
    bool touched =
        program->uses[tensor].role != TS_ROLE_SCRATCH || code->tensors[tensor].space != TS_SPACE_HBM;
    for (int i = 0; i < code->transfer_count && !touched; i++)
        touched =
            code->transfers[i].source.tensor == tensor || code->transfers[i].destination.tensor == tensor;
    return touched;
}

/* Bytes of the arrays beside the memories: what a file holds, the same converted, and what is saved. */
static bool array_bytes(const ts_run_request *request, const ts_program *program, int tensor, int64_t *out) {
    const char *name = program->code.tensors[tensor].name, *path = program->uses[tensor].file;
    int64_t each = program->code.tensors[tensor].shape->unpadded_bytes;
    uint64_t file = 0;
    *out = is_saved(request, name) ? each : 0;
    for (int k = 0; k < request->input_count; k++)
        if (strcmp(request->inputs[k].name, name) == 0) path = request->inputs[k].value;
    if (!path) return true;
    enum { HEADER = 1 << 16 };
    bool known = !strstr(path, ".safetensors") && ts_file_size(NULL, path, &file);
    bool same = !known || (file >= (uint64_t)each && file - (uint64_t)each <= HEADER);
    return ts_add(*out, same ? each : (int64_t)file, out) &&
           (same ? !request->convert || ts_add(*out, each, out) : ts_add(*out, each, out));
}

/* Tensors where they lie, under --check with as many bits beside them, their arrays, and what checks hold. */
static bool check_memory(ts_error *err, ts_arena *arena, const ts_run_request *request,
                         const ts_program *program, const ts_check *checks) {
    const ts_code *code = &program->code;
    if (request->max_memory_bytes == 0 || request->time_only) {
        return true;
    }
    ts_memory_part *parts = TS_NEW_ARRAY(arena, ts_memory_part, code->tensor_count + 1);
    for (int i = 0; i < code->tensor_count; i++) {
        int64_t values = is_touched(program, i) ? code->tensors[i].bytes : 0, arrays;
        bool good = (!request->check || ts_mul(values, 2, &values)) &&
                    array_bytes(request, program, i, &arrays) && ts_add(values, arrays, &values);
        parts[i] = (ts_memory_part){code->tensors[i].name, good ? values : INT64_MAX};
    }
    parts[code->tensor_count] = (ts_memory_part){"its checks", checks_bytes(program, checks)};
    return ts_memory_check(err, parts, code->tensor_count + 1, request->max_memory_bytes);
}

bool run_parts_open(ts_error *err, ts_arena *arena, const ts_run_request *request,
                    const ts_chip_observer *observer, run_parts *parts) {
    ts_target target;
    ts_run_target(request->machine, &target);
    *parts = (run_parts){0};
    parts->program = request->built != NULL ? request->built
                                            : ts_mosaic_load(err, arena, request->program, &target,
                                                             request->defines, request->define_count);
    parts->checks = parts->program != NULL ? parse_checks(err, arena, parts->program) : NULL;
    if (parts->checks == NULL || !check_outputs(err, arena, request, parts->program)) {
        return false;
    }
    if (parts->program->code.bundle_count == 0) {
        return ts_error_set(err, TS_ERROR_INPUT, "'%s' has no instructions", parts->program->code.name);
    }
    parts->tensors = TS_NEW_ARRAY(arena, ts_run_tensor, parts->program->code.tensor_count + 1);
    return check_memory(err, arena, request, parts->program, parts->checks) &&
           bind_inputs(err, arena, request, parts->program, parts->tensors) &&
           open_chip(err, arena, request, observer, parts);
}

/* What no check or output is read from, such as VMEM, gives its memory to what is computed for checks. */
static void forget_spaces(ts_chip *chip, const ts_code *code, const ts_run_tensor *tensors) {
    for (int kind = 0; kind < TS_SPACE_COUNT; kind++) {
        bool needed = false;
        for (int i = 0; i < code->tensor_count; i++)
            needed = needed || ((int)code->tensors[i].space == kind && tensors[i].fetched.read != NULL);
        for (int core = 0; core < ts_chip_core_count(chip) && !needed; core++) {
            ts_space *space = ts_chip_core_space(chip, core, (ts_space_kind)kind);
            if (space) ts_space_forget(space);
        }
    }
}

/* The chip runs, and its values are checked. */
static bool simulate(ts_error *err, ts_arena *arena, const ts_run_request *request, run_parts *parts,
                     ts_run_result *result) {
    ts_check_result *results = TS_NEW_ARRAY(arena, ts_check_result, parts->program->check_count + 1);
    double *reports = TS_NEW_ARRAY(arena, double, parts->program->report_count + 1);
    bool good = ts_chip_run(err, parts->chip, request->max_cycles) && fetch(err, arena, request, parts);
    if (good) {
        ts_chip_count(parts->chip, &result->chip);
        good = !request->check || request->time_only ||
               find_unwritten(err, parts->chip, parts->program, parts->outputs, parts->findings,
                              result->chip.cycles);
        count(&result->chip, &result->counters);
        ts_roofline_find(request->machine, &result->chip, &result->roofline);
        ts_energy_of_chip(request->machine, &result->chip, &result->energy);
        if (request->profile) result->profile = ts_profile_new(arena, parts->program, parts->chip);
    }
    if (good && !request->time_only) {
        forget_spaces(parts->chip, &parts->program->code, parts->tensors);
        result->checks = results;
        result->reports = reports;
        good = run_checks(err, parts->program, parts->checks, parts->tensors, results) &&
               run_reports(err, parts->program, parts->checks, parts->tensors, reports);
    }
    return good;
}

/* The chip runs, with a timeline also if it fails. */
static bool run_chip(ts_error *err, ts_arena *arena, const ts_run_request *request, run_parts *parts,
                     recorder *told, ts_run_result *result) {
    if (told != NULL) {
        recorder_begin(told, request->machine, parts->program);
    }
    bool good = simulate(err, arena, request, parts, result);
    if (told != NULL) {
        recorder_end(told, parts->chip);
    }
    return good;
}

bool ts_run(ts_error *err, ts_arena *arena, const ts_run_request *request, ts_run_result *result) {
    run_parts parts;
    *result = (ts_run_result){0};
    recorder *told = request->timeline != NULL ? recorder_new(arena, request->timeline) : NULL;
    const ts_chip_observer *observer = told != NULL ? recorder_observer(told) : request->observer;
    if (!run_parts_open(err, arena, request, observer, &parts)) {
        return false;
    }
    result->program = parts.program; /* an observer may want it */
    bool good = run_chip(err, arena, request, &parts, told, result);
    ts_chip_free(parts.chip);
    if (!good) {
        return false;
    }
    result->tensors = parts.tensors;
    result->rules = parts.checks;
    result->findings = parts.findings;
    result->passed = ts_findings_count(result->findings, false) == 0;
    for (int i = 0; result->checks != NULL && i < parts.program->check_count; i++) {
        result->passed = result->passed && result->checks[i].failed == 0;
    }
    return true;
}

bool ts_run_save(ts_error *err, ts_arena *arena, const ts_run_request *request, const ts_run_result *result) {
    for (int i = 0; i < request->output_count; i++) {
        int tensor = find_run_tensor(err, result->program, "-o", request->outputs[i].name);
        if (tensor < 0 ||
            !ts_host_save(err, arena, request->outputs[i].value, &result->tensors[tensor].after)) {
            return false;
        }
    }
    return true;
}
