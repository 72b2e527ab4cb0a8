/* A run from its files to its results. */
#include <string.h>

#include "tilesim/host/pack.h"
#include "tilesim/layout/shape.h"

#include "run_parts.h"

void ts_run_target(const ts_machine *machine, ts_target *target) {
    ts_chip_config config;
    ts_chip_configure(machine, &config);
    *target = (ts_target){.machine = machine->name, .core = machine->core};
    for (int i = 0; i < TS_SPACE_COUNT; i++) {
        target->space_bytes[i] = config.spaces[i] != NULL ? config.spaces[i]->capacity_bytes : 0;
    }
}

/* ---- The trace ---- */

typedef struct {
    ts_trace *trace;
} recorder;

static void record_bundle(void *self, int bundle, int64_t cycle) {
    ts_trace_add(((recorder *)self)->trace, &(ts_trace_event){cycle, 1, 0, TS_RUN_EVENT_BUNDLE, bundle});
}

static void record_stall(void *self, int bundle, int64_t first_cycle, int64_t cycles, int stall) {
    ts_trace_add(((recorder *)self)->trace,
                 &(ts_trace_event){first_cycle, cycles, bundle, TS_RUN_EVENT_STALL, stall});
}

static void record_transfer(void *self, int transfer, const ts_dma_result *result) {
    ts_trace_add(((recorder *)self)->trace,
                 &(ts_trace_event){result->issued_cycle, result->completed_cycle - result->issued_cycle,
                                   result->useful_bytes, TS_RUN_EVENT_TRANSFER, transfer});
}

/* ---- Values in and out of the memories ---- */

static bool store_inputs(ts_error *err, ts_chip *chip, const ts_program *program,
                         const ts_run_tensor *tensors) {
    ts_arena *scratch = ts_arena_new();
    bool good = true;
    for (int i = 0; good && i < program->code.tensor_count; i++) {
        const ts_tensor *tensor = &program->code.tensors[i];
        good = tensors[i].origin == NULL ||
               ts_host_store(err, scratch, &tensors[i].before, tensor->shape,
                             ts_chip_space(chip, tensor->space), tensor->base_bytes);
    }
    ts_arena_free(scratch);
    return good;
}

/* Is tensor `i` saved, or named by a check? */
static bool is_wanted(const ts_run_request *request, const ts_program *program, const ts_check *checks,
                      int i) {
    if (request->time_only) {
        return false;
    }
    const char *name = program->code.tensors[i].name;
    for (int k = 0; k < request->output_count; k++) {
        if (strcmp(request->outputs[k].name, name) == 0) {
            return true;
        }
    }
    for (int k = 0; k < program->check_count; k++) {
        if (ts_check_uses(&checks[k], name)) {
            return true;
        }
    }
    return false;
}

static bool fetch(ts_error *err, ts_arena *arena, ts_chip *chip, const ts_run_request *request,
                  const ts_program *program, const ts_check *checks, ts_run_tensor *tensors) {
    for (int i = 0; i < program->code.tensor_count; i++) {
        const ts_tensor *tensor = &program->code.tensors[i];
        tensors[i].fetched = is_wanted(request, program, checks, i);
        if (tensors[i].fetched &&
            !ts_host_fetch(err, arena, tensor->shape, ts_chip_space(chip, tensor->space), tensor->base_bytes,
                           &tensors[i].after)) {
            return false;
        }
    }
    return true;
}

/* ---- Counters ---- */

static void count(const ts_chip_counters *c, ts_counters *out) {
    int64_t *v = out->values;
    v[TS_COUNTER_CYCLES] = c->cycles;
    v[TS_COUNTER_BUNDLES] = c->core.bundles;
    for (int i = 0; i < TS_SLOT_COUNT; i++) {
        v[TS_COUNTER_INSTRUCTIONS] += c->core.instructions[i];
    }
    v[TS_COUNTER_TRANSFERS] = c->transfers;
    v[TS_COUNTER_DMA_BUSY_CYCLES] = c->dma_busy_cycles;
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

static bool simulate(ts_error *err, ts_arena *arena, const ts_run_request *request, const ts_program *program,
                     const ts_check *checks, ts_run_tensor *tensors, ts_run_result *result) {
    recorder self = {request->trace};
    ts_chip_observer observer = {&self, record_bundle, record_stall, record_transfer};
    ts_chip_config config;
    ts_chip_configure(request->machine, &config);
    config.time_only = request->time_only;
    ts_findings *findings = request->check ? TS_NEW(arena, ts_findings) : NULL;
    const bool *outputs = mark_outputs(arena, program);
    config.findings = findings;
    config.outputs = outputs;
    result->findings = findings;
    ts_chip *chip =
        ts_chip_new(err, arena, &config, &program->code, request->trace != NULL ? &observer : NULL);
    bool good = chip != NULL && store_inputs(err, chip, program, tensors) &&
                ts_chip_run(err, chip, request->max_cycles) &&
                fetch(err, arena, chip, request, program, checks, tensors);
    if (good) {
        ts_chip_count(chip, &result->chip);
        good = !findings || request->time_only ||
               find_unwritten(err, chip, program, outputs, findings, result->chip.cycles);
        count(&result->chip, &result->counters);
    }
    ts_chip_free(chip);
    return good;
}

static bool check_outputs(ts_error *err, const ts_run_request *request, const ts_program *program) {
    if (request->time_only && request->output_count > 0) {
        return ts_error_set(err, TS_ERROR_USAGE, "-o %s: --time-only computes no values",
                            request->outputs[0].name);
    }
    for (int i = 0; i < request->output_count; i++) {
        if (find_run_tensor(err, program, "-o", request->outputs[i].name) < 0) {
            return false;
        }
    }
    return true;
}

bool ts_run(ts_error *err, ts_arena *arena, const ts_run_request *request, ts_run_result *result) {
    ts_target target;
    ts_run_target(request->machine, &target);
    *result = (ts_run_result){0};
    const ts_program *program =
        ts_program_load(err, arena, request->program, &target, request->defines, request->define_count);
    const ts_check *checks = program != NULL ? parse_checks(err, arena, program) : NULL;
    if (checks == NULL || !check_outputs(err, request, program)) {
        return false;
    }
    ts_run_tensor *tensors = TS_NEW_ARRAY(arena, ts_run_tensor, program->code.tensor_count + 1);
    ts_check_result *results = TS_NEW_ARRAY(arena, ts_check_result, program->check_count + 1);
    if (!bind_inputs(err, arena, request, program, tensors) ||
        !simulate(err, arena, request, program, checks, tensors, result) ||
        !(request->time_only || run_checks(err, program, checks, tensors, results))) {
        return false;
    }
    result->program = program;
    result->tensors = tensors;
    result->rules = checks;
    result->checks = request->time_only ? NULL : results;
    result->passed = !result->findings || result->findings->count == 0;
    for (int i = 0; result->checks != NULL && i < program->check_count; i++) {
        result->passed = result->passed && results[i].failed == 0;
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
