/* A run from its files to its results. */

#include "host/format.h"
#include "host/pack.h"
#include "layout/shape.h"

#include "recorder.h"
#include "run_parts.h"

/* ---- Values in and out of the memories ---- */

static bool store_inputs(ts_error *err, const run_parts *parts) {
    ts_arena *scratch = ts_arena_new();
    bool good = true;
    for (int i = 0; good && i < parts->program->code.tensor_count; i++) {
        if (!parts->tensors[i].origin) continue;
        const ts_host_reader values = run_input(scratch, &parts->tensors[i]);
        good = run_store(err, &parts->program->code.tensors[i], &values, parts->chip);
    }
    ts_arena_free(scratch);
    return good;
}

/* What is saved, whole; what is only checked stays in the chip, and is read from there. */
static bool fetch(ts_error *err, ts_arena *arena, const ts_run_request *request, const run_parts *parts) {
    const ts_program *program = parts->program;
    for (int i = 0; i < program->code.tensor_count && !request->time_only; i++) {
        const ts_tensor *tensor = &program->code.tensors[i];
        ts_space *space = ts_chip_space(parts->chip, tensor->space);
        ts_run_tensor *bound = &parts->tensors[i];
        bool saved;
        if (!run_wants(request, parts, i, &saved)) continue;
        bound->fetched = ts_host_fetch_reader(arena, tensor->shape, space, tensor->base_bytes);
        if (!run_take(err, arena, tensor->shape, saved, bound)) return false;
    }
    return true;
}

/* ---- The whole ---- */

static bool open_chip(ts_error *err, ts_arena *arena, const ts_run_request *request,
                      const ts_chip_observer *observer, run_parts *parts) {
    run_parts_configure(arena, request, parts);
    parts->chip = ts_chip_new(err, arena, &parts->config, &parts->program->code, observer);
    if (parts->chip != NULL && !store_inputs(err, parts)) {
        ts_chip_free(parts->chip);
        parts->chip = NULL;
    }
    return parts->chip != NULL;
}

bool run_parts_open(ts_error *err, ts_arena *arena, const ts_run_request *request,
                    const ts_chip_observer *observer, run_parts *parts) {
    return run_parts_load(err, arena, request, parts) && open_chip(err, arena, request, observer, parts);
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
    bool good = ts_chip_run(err, parts->chip, request->max_cycles) && fetch(err, arena, request, parts);
    if (good) {
        run_measure(arena, request, parts->chip, result);
        good = !request->check || request->time_only ||
               find_unwritten(err, &(run_device){parts->chip, 0, result->chip.cycles}, parts->program,
                              parts->outputs, parts->findings);
    }
    if (good && !request->time_only) {
        forget_spaces(parts->chip, &parts->program->code, parts->tensors);
        good = run_compare(err, arena, parts, result);
    }
    return good;
}

/* The chip runs, with a timeline also if it fails. */
static bool run_chip(ts_error *err, ts_arena *arena, const ts_run_request *request, run_parts *parts,
                     recorder *told, ts_run_result *result) {
    if (told != NULL) recorder_begin(told, request->machine, parts->program, 0);
    bool good = simulate(err, arena, request, parts, result);
    if (told != NULL) recorder_end(told, parts->chip);
    return good;
}

bool ts_run(ts_error *err, ts_arena *arena, const ts_run_request *request, ts_run_result *result) {
    run_parts parts;
    *result = (ts_run_result){0};
    if (request->mesh) return run_on_mesh(err, arena, request, result);
    recorder *told = request->timeline != NULL ? recorder_new(arena, request->timeline) : NULL;
    const ts_chip_observer *observer = told != NULL ? recorder_observer(told) : request->observer;
    if (!run_parts_open(err, arena, request, observer, &parts)) return false;
    result->program = parts.program; /* an observer may want it */
    bool good = run_chip(err, arena, request, &parts, told, result);
    ts_chip_free(parts.chip);
    if (!good) return false;
    run_conclude(&parts, result);
    return true;
}

bool ts_run_save(ts_error *err, ts_arena *arena, const ts_run_request *request, const ts_run_result *result) {
    for (int i = 0; i < request->output_count; i++) {
        int tensor = find_run_tensor(err, result->program, "-o", request->outputs[i].name);
        if (tensor < 0 ||
            !ts_host_save(err, arena, request->outputs[i].value, &result->tensors[tensor].after))
            return false;
    }
    return true;
}
