/* Runs of a program with a caller's arrays. */
#include <string.h>

#include "report/run.h"
#include "report/timeline.h"

#include "api_private.h"

struct ts_simulation {
    ts_array **outputs; /* of the program's tensors, NULL: it is none */
    ts_run_request request;
    ts_run_result result;
    ts_timeline timeline;
    ts_page_trace *page; /* NULL: none is kept */
    ts_mesh mesh;
};

static const ts_run_array *list_inputs(ts_error *err, ts_arena *arena, const ts_run_options *options) {
    ts_run_array *list = TS_NEW_ARRAY(arena, ts_run_array, options->input_count + 1);
    for (int i = 0; i < options->input_count; i++) {
        const ts_input *input = options->inputs ? &options->inputs[i] : &(ts_input){NULL, NULL};
        if (!input->name || !input->array) {
            ts_error_set(err, TS_ERROR_USAGE, "input %d has no name or no array", i);
            return NULL;
        }
        list[i] = (ts_run_array){input->name, &input->array->host};
    }
    return list;
}

/* Two of one name differ in what was changed of them. */
static const char *name_of(ts_arena *arena, const ts_machine *machine) {
    return ts_machine_name_with(arena, machine->name, machine->overrides, machine->override_count);
}

static bool find_mesh(ts_error *err, ts_arena *arena, const ts_run_options *options, ts_simulation *run) {
    const ts_mesh *of_program = options->program->mesh;
    const char *const texts[2] = {options->mesh, options->topology};
    run->request.mesh = options->mesh ? &run->mesh : of_program;
    run->request.threads = options->threads;
    if (run->request.mesh) run->request.machine = ts_machine_device(err, arena, options->machine);
    if (!run->request.machine) return false;
    if (!options->mesh)
        return !of_program || of_program->machine->hash == options->machine->hash ||
               ts_error_set(err, TS_ERROR_USAGE,
                            "the program was read for a mesh of '%s', expected one of '%s' for its links too",
                            name_of(arena, of_program->machine), name_of(arena, options->machine));
    return api_read_mesh(err, arena, options->machine, texts, &run->mesh) &&
           (!of_program || api_same_axes(of_program, &run->mesh) ||
            ts_error_set(err, TS_ERROR_USAGE, "the program was read for a mesh with other axes than '%s'",
                         options->mesh));
}

static bool check_counts(ts_error *err, const ts_run_options *options) {
    const struct {
        const char *name;
        int64_t value;
    } counts[] = {{"input_count", options->input_count},
                  {"max_cycles", options->max_cycles},
                  {"threads", options->threads}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (counts[i].value < 0)
            return ts_error_set(err, TS_ERROR_USAGE, "%s is %lld, expected 0 or more", counts[i].name,
                                (long long)counts[i].value);
    return true;
}

static bool read_options(ts_error *err, ts_arena *arena, const ts_run_options *options, ts_simulation *run) {
    if (!options->machine || !options->program)
        return ts_error_set(err, TS_ERROR_USAGE, "the run has no machine or no program");
    if (!check_counts(err, options) || !api_need_mesh(err, options->mesh, options->topology)) return false;
    run->timeline =
        (ts_timeline){.until = INT64_MAX, .events = options->trace ? TS_TIMELINE_EVENTS : TS_PAGE_EVENTS};
    run->request = (ts_run_request){
        .program = options->program->code.name,
        .built = options->program,
        .machine = options->machine,
        .arrays = list_inputs(err, arena, options),
        .array_count = options->input_count,
        .keep_outputs = true,
        .convert = options->convert,
        .time_only = options->time_only,
        .check = options->check,
        .exact = options->exact,
        .profile = options->page != 0,
        .max_cycles = options->max_cycles ? options->max_cycles : INT64_MAX,
        .interrupt = api_interrupt(arena, "the run", options->stopped, options->context),
        .timeline = options->trace || options->page ? &run->timeline : NULL,
    };
    return find_mesh(err, arena, options, run) && run->request.arrays != NULL;
}

/* Behind the trace, which it forwards to. */
static void open_page(ts_arena *arena, ts_simulation *run) {
    run->page = TS_NEW(arena, ts_page_trace);
    ts_page_trace_open(arena, &run->timeline, run->page);
}

/* A program that broke a rule of the machine has a timeline up to there. */
static bool run_traced(ts_error *err, ts_arena *arena, const ts_run_options *options, ts_simulation *run) {
    ts_chrome_trace *trace = TS_NEW(arena, ts_chrome_trace);
    ts_error of_run = {0};
    if (!ts_chrome_trace_open(err, arena, options->trace, &run->timeline, trace)) return false;
    if (options->page) open_page(arena, run);
    bool good = ts_run(&of_run, arena, &run->request, &run->result);
    bool drawn = run->timeline.program && (good || of_run.kind == TS_ERROR_FAULT);
    if (!drawn) ts_chrome_trace_abandon(trace);
    if (drawn) good = ts_chrome_trace_close(&of_run, trace) && good;
    if (!good && err && err->kind == TS_ERROR_NONE) *err = of_run;
    return good;
}

static bool run_shown(ts_error *err, ts_arena *arena, const ts_run_options *options, ts_simulation *run) {
    if (options->trace) return run_traced(err, arena, options, run);
    if (options->page) open_page(arena, run);
    return ts_run(err, arena, &run->request, &run->result);
}

/* Once, so that to ask for one changes nothing that threads share. */
static void wrap_outputs(ts_arena *arena, ts_simulation *run) {
    const ts_program *program = run->result.program;
    run->outputs = TS_NEW_ARRAY(arena, ts_array *, program->code.tensor_count + 1);
    for (int i = 0; i < program->code.tensor_count; i++) {
        ts_tensor_role role = program->uses[i].role;
        if ((role == TS_ROLE_OUT || role == TS_ROLE_INOUT) && !run->request.time_only)
            run->outputs[i] = api_array_of(arena, &run->result.tensors[i].after);
    }
}

const ts_simulation *ts_simulate(ts_error *err, ts_arena *arena, const ts_run_options *options) {
    API_C_LOCALE;
    ts_run_options own;
    ts_simulation *made = TS_NEW(arena, ts_simulation);
    bool good = api_read_request(err, "ts_run_options", options, &own, sizeof own) &&
                read_options(err, arena, &own, made) && run_shown(err, arena, &own, made);
    if (good) wrap_outputs(arena, made);
    return good ? made : NULL;
}

int64_t ts_simulation_cycles(const ts_simulation *run) { return run->result.chip.cycles; }
double ts_simulation_microseconds(const ts_simulation *run) {
    return ts_machine_microseconds(run->request.machine, run->result.chip.cycles);
}
int ts_simulation_passed(const ts_simulation *run) { return run->result.passed; }

int64_t ts_simulation_counter(const ts_simulation *run, const char *name) {
    for (int i = 0; name && i < TS_COUNTER_COUNT; i++)
        if (strcmp(ts_counter_get((ts_counter)i)->name, name) == 0) return run->result.counters.values[i];
    return -1;
}

const ts_array *ts_simulation_output(const ts_simulation *run, const char *name) {
    const ts_program *program = run->result.program;
    for (int i = 0; name && i < program->code.tensor_count; i++)
        if (run->outputs[i] && strcmp(program->code.tensors[i].name, name) == 0) return run->outputs[i];
    return NULL;
}

/* What the command line prints, on stdout and then on stderr. */
static void add_run(const ts_simulation *run, ts_text *out) {
    const ts_run_result *result = &run->result;
    ts_report_run(&run->request, result, out);
    if (result->findings->count > 0) ts_text_add(out, "\n");
    ts_report_findings(result->findings, out);
    for (int i = 0; result->checks && i < result->program->check_count; i++) {
        enum { BYTES = 2048 };
        char text[BYTES];
        ts_error err = {0};
        if (!ts_report_failed_check(result, i, &err)) continue;
        ts_error_format(&err, text, sizeof text);
        ts_text_add(out, "\n%s", text);
    }
}

API_TEXT(ts_simulation_text, ts_simulation, add_run(self, &text))
API_TEXT(ts_simulation_json, ts_simulation, ts_report_run_json(&self->request, &self->result, &text))
const char *ts_simulation_html(ts_arena *arena, const ts_simulation *run) {
    API_C_LOCALE;
    if (!run->page) return NULL;
    ts_text text = ts_text_begin(arena);
    ts_report_run_html(&run->request, &run->result, run->page, &text);
    return text.bytes;
}
