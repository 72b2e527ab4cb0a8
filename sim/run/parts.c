/* What a run is made of, on one device or many: the program with its inputs, and what is asked of the
 * outputs. */
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "check/outputs.h"
#include "dram/hbm.h"
#include "host/format.h"
#include "host/pack.h"
#include "layout/shape.h"
#include "mosaic/mosaic.h"

#include "run_parts.h"

void ts_run_target(const ts_machine *machine, ts_target *target) {
    ts_chip_config config;
    ts_chip_configure(machine, &config);
    *target = (ts_target){.machine = machine->name,
                          .core = machine->core,
                          .cores = machine->chip.tensor_cores,
                          .core_khz = machine->chip.sustained_khz};
    for (int i = 0; i < TS_SPACE_COUNT; i++)
        target->space_bytes[i] = config.spaces[i] != NULL ? config.spaces[i]->capacity_bytes : 0;
}

static bool is_saved(const ts_run_request *request, const char *name) {
    for (int k = 0; k < request->output_count; k++)
        if (strcmp(request->outputs[k].name, name) == 0) return true;
    return false;
}

static bool is_checked(const ts_program *program, const ts_check *checks, const char *name) {
    for (int k = 0; k < program->check_count + program->report_count; k++)
        if (ts_check_uses(&checks[k], name)) return true;
    return false;
}

bool run_wants(const ts_run_request *request, const run_parts *parts, int tensor, bool *saved) {
    const char *name = parts->program->code.tensors[tensor].name;
    ts_tensor_role role = parts->program->uses[tensor].role;
    bool kept = request->keep_outputs && (role == TS_ROLE_OUT || role == TS_ROLE_INOUT);
    *saved = kept || is_saved(request, name);
    return *saved || is_checked(parts->program, parts->checks, name);
}

/* The files that the text names as inputs stay as they are. */
static bool check_overwritten(ts_error *err, ts_arena *arena, const ts_define *output,
                              const ts_program *program) {
    for (int i = 0; i < program->code.tensor_count; i++) {
        if (!program->uses[i].file) continue;
        const char *file = ts_host_file(arena, program->uses[i].file);
        if (ts_file_same(arena, file, ts_host_file(arena, output->value)))
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
    for (int i = 0; i < request->output_count; i++)
        if (find_run_tensor(err, program, "-o", request->outputs[i].name) < 0 ||
            !ts_host_can_save(err, request->outputs[i].value) ||
            !check_overwritten(err, arena, &request->outputs[i], program))
            return false;
    return true;
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
    int64_t each = ts_program_shape(program, tensor)->unpadded_bytes;
    uint64_t file = 0;
    *out = is_saved(request, name) ? each : 0;
    for (int k = 0; k < request->input_count; k++)
        if (strcmp(request->inputs[k].name, name) == 0) path = request->inputs[k].value;
    if (!path) return true;
    enum { HEADER = 1 << 16 };
    bool known = !ts_host_is_archive(path) && ts_file_size(NULL, path, &file);
    bool same = !known || (file >= (uint64_t)each && file - (uint64_t)each <= HEADER);
    return ts_add(*out, same ? each : (int64_t)file, out) &&
           (same ? !request->convert || ts_add(*out, each, out) : ts_add(*out, each, out));
}

/* Tensors where they lie, under --check with as many bits beside them, their arrays, and what checks hold. */
static bool check_memory(ts_error *err, ts_arena *arena, const ts_run_request *request,
                         const ts_program *program, const ts_check *checks) {
    const ts_code *code = &program->code;
    if (request->max_memory_bytes == 0 || request->time_only) return true;
    ts_memory_part *parts = TS_NEW_ARRAY(arena, ts_memory_part, code->tensor_count + 1);
    for (int i = 0; i < code->tensor_count; i++) {
        int64_t values = is_touched(program, i) ? code->tensors[i].bytes : 0, arrays;
        int64_t devices = request->mesh ? request->mesh->device_count : 1;
        bool good = ts_mul(values, request->check ? 2 * devices : devices, &values) &&
                    array_bytes(request, program, i, &arrays) && ts_add(values, arrays, &values);
        parts[i] = (ts_memory_part){code->tensors[i].name, good ? values : INT64_MAX};
    }
    parts[code->tensor_count] = (ts_memory_part){"its checks", checks_bytes(program, checks)};
    return ts_memory_check(err, parts, code->tensor_count + 1, request->max_memory_bytes);
}

static bool refuse_empty(ts_error *err, const ts_program *program) {
    const ts_source made_in_c = {.name = program->code.name, .text = ""};
    const ts_source *text = program->source ? program->source : &made_in_c;
    return ts_error_at(err, TS_ERROR_INPUT, text, text->length,
                       "the program has no instructions, expected at least one");
}

/* Of a program that was made for another machine: its assembler did not see this one. */
static bool check_cores(ts_error *err, const ts_program *program, const ts_target *target) {
    int most = target->cores > 1 ? target->cores : 1;
    return program->code.cores <= most ||
           ts_error_set(err, TS_ERROR_INPUT, "the program runs on %d TensorCores, %s has %d",
                        program->code.cores, target->machine, most);
}

bool run_parts_load(ts_error *err, ts_arena *arena, const ts_run_request *request, run_parts *parts) {
    ts_target target;
    ts_run_target(request->machine, &target);
    target.mesh = request->mesh;
    *parts = (run_parts){0};
    parts->program = request->built != NULL ? request->built
                                            : ts_mosaic_load(err, arena, request->program, &target,
                                                             request->defines, request->define_count);
    parts->checks = parts->program != NULL ? parse_checks(err, arena, parts->program) : NULL;
    if (parts->checks == NULL || !check_cores(err, parts->program, &target) ||
        !check_outputs(err, arena, request, parts->program))
        return false;
    if (parts->program->code.bundle_count == 0) return refuse_empty(err, parts->program);
    parts->tensors = TS_NEW_ARRAY(arena, ts_run_tensor, parts->program->code.tensor_count + 1);
    return ts_hbm_check_config(err, &request->machine->hbm) &&
           check_memory(err, arena, request, parts->program, parts->checks) &&
           bind_inputs(err, arena, request, parts->program, parts->tensors);
}

/* Which tensors have one of the roles (bits). */
static bool *mark_tensors(ts_arena *arena, const ts_program *program, unsigned roles) {
    bool *marked = TS_NEW_ARRAY(arena, bool, program->code.tensor_count + 1);
    for (int i = 0; i < program->code.tensor_count; i++)
        marked[i] = (roles >> program->uses[i].role & 1) != 0;
    return marked;
}

void run_parts_configure(ts_arena *arena, const ts_run_request *request, run_parts *parts) {
    ts_chip_configure(request->machine, &parts->config);
    parts->outputs = mark_tensors(arena, parts->program, 1 << TS_ROLE_OUT | 1 << TS_ROLE_INOUT);
    parts->findings = TS_NEW(arena, ts_findings);
    parts->findings->all_warn = !request->check;
    parts->config.time_only = request->time_only;
    parts->config.exact = request->exact;
    parts->config.channel_share = request->channel_share;
    parts->config.profile = request->profile;
    parts->config.patience = request->patience;
    parts->config.max_cycles = request->max_cycles;
    parts->config.interrupt = request->interrupt;
    parts->config.findings = parts->findings;
    parts->config.sanitize = request->check;
    parts->config.outputs = parts->outputs;
    parts->config.inputs = mark_tensors(arena, parts->program, 1 << TS_ROLE_IN);
}

/* ---- Values in and out of the memories ---- */

ts_host_reader run_input(ts_arena *scratch, const ts_run_tensor *bound) {
    return bound->made.read ? bound->made : sharded_of_array(scratch, &bound->before);
}

bool run_store(ts_error *err, const ts_tensor *tensor, const ts_host_reader *values, ts_chip *chip) {
    const ts_space *last = NULL;
    bool good = true;
    for (int core = 0; good && core < ts_chip_core_count(chip); core++) {
        ts_space *space = ts_chip_core_space(chip, core, tensor->space);
        good = space == last || ts_host_store_read(err, values, tensor->shape, space, tensor->base_bytes);
        last = space;
    }
    return good;
}

bool run_take(ts_error *err, ts_arena *arena, const ts_shape *shape, bool saved, ts_run_tensor *bound) {
    const ts_layout *layout = shape->layout;
    ts_host_array *after = &bound->after;
    if (!saved) return ts_host_array_describe(err, shape->dtype, layout->rank, layout->dims, after);
    return ts_host_array_init(err, arena, shape->dtype, layout->rank, layout->dims, after) &&
           bound->fetched.read(err, bound->fetched.self, 0, 1, ts_host_array_elements(after), after->bytes);
}

/* ---- Counters ---- */

static void count_core(const ts_core_counters *core, int64_t *v) {
    v[TS_COUNTER_BUNDLES] += core->bundles;
    for (int i = 0; i < TS_SLOT_COUNT; i++) v[TS_COUNTER_INSTRUCTIONS] += core->instructions[i];
    for (int kind = 0; kind < TS_FLOPS_COUNT; kind++)
        v[kind < TS_MXU_TYPE_COUNT ? TS_COUNTER_MXU_FLOPS : TS_COUNTER_VPU_FLOPS] += core->flops[kind];
}

void run_count(const ts_chip_counters *c, ts_counters *out) {
    int64_t *v = out->values;
    v[TS_COUNTER_CYCLES] = c->cycles;
    for (int core = 0; core < c->core_count; core++) count_core(&c->cores[core], v);
    v[TS_COUNTER_TRANSFERS] = c->transfers;
    v[TS_COUNTER_RECALLED_TRANSFERS] = c->recalled;
    v[TS_COUNTER_DMA_BUSY_CYCLES] = c->dma_busy_cycles;
    v[TS_COUNTER_TRANSFER_CYCLES] = c->transfer_cycles;
    v[TS_COUNTER_LEAST_TRANSFER_CYCLES] = ts_hbm_on_pins(&c->hbm, c->least_transfer_cycles);
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

void run_measure(ts_arena *arena, const ts_run_request *request, const ts_chip *chip, ts_run_result *result) {
    ts_chip_count(chip, &result->chip);
    run_count(&result->chip, &result->counters);
    ts_roofline_find(request->machine, &result->chip, &result->roofline);
    ts_energy_of_chip(request->machine, &result->chip, &result->energy);
    if (request->profile) result->profile = ts_profile_new(arena, result->program, chip);
}

/* ---- What came out ---- */

/* Values that were sent undefined are told where they were sent. Padding of a device's part may be
 * anything. */
bool find_unwritten(ts_error *err, const run_device *device, const ts_program *program, const bool *outputs,
                    ts_findings *findings) {
    const ts_code *code = &program->code;
    bool good = true;
    for (int i = 0; good && !ts_findings_have(findings, TS_FINDING_OUTPUT) && i < code->tensor_count; i++) {
        const ts_layout *layout = code->tensors[i].shape->layout;
        const ts_tensor_use *use = &program->uses[i];
        int64_t held[TS_LAYOUT_MAX_DIMS];
        if (!outputs[i] || !layout) continue;
        for (int d = 0; d < layout->rank; d++)
            held[d] = use->sharding ? sharded_held(use->sharding, d, device->device) : layout->dims[d];
        ts_outputs all = {.code = code, .outputs = outputs, .findings = findings, .held = held};
        good = ts_outputs_find_unwritten(err, &all, i, ts_chip_space(device->chip, code->tensors[i].space),
                                         (ts_location){use->source, use->line, 1}, device->cycle);
    }
    return good;
}

bool run_compare(ts_error *err, ts_arena *arena, run_parts *parts, ts_run_result *result) {
    ts_check_result *results = TS_NEW_ARRAY(arena, ts_check_result, parts->program->check_count + 1);
    double *reports = TS_NEW_ARRAY(arena, double, parts->program->report_count + 1);
    result->checks = results;
    result->reports = reports;
    return run_checks(err, parts->program, parts->checks, parts->tensors, results) &&
           run_reports(err, parts->program, parts->checks, parts->tensors, reports);
}

void run_conclude(const run_parts *parts, ts_run_result *result) {
    result->tensors = parts->tensors;
    result->rules = parts->checks;
    result->findings = parts->findings;
    result->passed = ts_findings_count(result->findings, TS_FINDING_WRONG) == 0;
    for (int i = 0; result->checks != NULL && i < parts->program->check_count; i++)
        result->passed = result->passed && result->checks[i].failed == 0;
}
