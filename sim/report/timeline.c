/* The timeline of a run: JSON in Chrome's trace event format. */
#include <stdio.h>

#include "report/json.h"
#include "report/machine.h"
#include "report/run.h"

enum { CORE = 1, ENGINE = 2, OTHER_CORES = 3, BUNDLES = 1, STALLS = 2, LANES_MAX = 64 };

typedef struct {
    const ts_run_request *request;
    const ts_run_result *result;
    ts_text *out;
    int64_t busy_until[LANES_MAX]; /* transfers that overlap go to different rows */
    int lanes;
} timeline;

/* Microseconds with six decimals, from integers alone. */
static void add_time(timeline *t, const char *key, int64_t cycles) {
    int64_t khz = t->request->machine->chip.sustained_khz;
    __int128 picoseconds = (__int128)cycles * 1000000000 / khz;
    ts_text_add(t->out, ",\"%s\":%lld.%06lld", key, (long long)(picoseconds / 1000000),
                (long long)(picoseconds % 1000000));
}

static void add_name(timeline *t, int process, int row, const char *kind, const char *name) {
    ts_text_add(t->out, "{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"%s\",\"args\":{\"name\":\"%s\"}},\n",
                process, row, kind, name);
}

static void begin_event(timeline *t, int process, int row, const ts_trace_event *event) {
    ts_text_add(t->out, "{\"ph\":\"X\",\"pid\":%d,\"tid\":%d", process, row);
    add_time(t, "ts", event->begin);
    add_time(t, "dur", event->cycles);
    ts_text_add(t->out, ",\"name\":\"");
}

/* Of what happened, from a program's text. */
static void begin_args(timeline *t, const ts_source *source, int line) {
    ts_text_add(t->out, "\",\"args\":{");
    if (source) {
        ts_text_add(t->out, "\"file\":");
        ts_json_quote(t->out, source->name);
        ts_text_add(t->out, ",");
    }
    ts_text_add(t->out, "\"line\":%d", line);
}

static void begin_bundle_args(timeline *t, int bundle) {
    const ts_program *program = t->result->program;
    begin_args(t, ts_program_source(program, bundle), ts_program_line(program, bundle));
}

/* Process of a core: the first has the number before the engine's, for rows in that order. */
static int process_of(int core) { return core == 0 ? CORE : OTHER_CORES + core - 1; }

static void add_bundle(timeline *t, const ts_trace_event *event) {
    const ts_bundle *bundle = &t->result->program->code.bundles[event->id];
    begin_event(t, process_of(event->unit), BUNDLES, event);
    for (int i = 0; i < bundle->count; i++) {
        ts_text_add(t->out, "%s%s", i > 0 ? " ; " : "",
                    ts_opcode_get(bundle->instructions[i].opcode)->mnemonic);
    }
    begin_bundle_args(t, event->id);
    ts_text_add(t->out, ",\"cycle\":%lld}},\n", (long long)event->begin);
}

static void add_stall(timeline *t, const ts_trace_event *event) {
    begin_event(t, process_of(event->unit), STALLS, event);
    ts_text_add(t->out, "%s", ts_stall_get(event->id)->text);
    begin_bundle_args(t, (int)event->value);
    ts_text_add(t->out, ",\"cycles\":%lld}},\n", (long long)event->cycles);
}

/* The first row that is free; the last one when all are taken. */
static int choose_lane(timeline *t, const ts_trace_event *event) {
    int lane = 0;
    while (lane < LANES_MAX - 1 && t->busy_until[lane] > event->begin) {
        lane++;
    }
    t->busy_until[lane] = event->begin + event->cycles;
    return lane;
}

static void add_transfer(timeline *t, const ts_trace_event *event) {
    const ts_code *code = &t->result->program->code;
    const ts_transfer *transfer = &code->transfers[event->id];
    int lane = choose_lane(t, event);
    while (t->lanes <= lane) {
        char name[32];
        snprintf(name, sizeof(name), "transfers %d", t->lanes);
        add_name(t, ENGINE, 1 + t->lanes++, "thread_name", name);
    }
    begin_event(t, ENGINE, 1 + lane, event);
    ts_text_add(t->out, "%s <- %s", code->tensors[transfer->destination.tensor].name,
                code->tensors[transfer->source.tensor].name);
    begin_args(t, transfer->source_text, transfer->line);
    ts_text_add(t->out, ",\"useful_bytes\":%lld,\"cycles\":%lld}},\n", (long long)event->value,
                (long long)event->cycles);
}

static void add_core(timeline *t, int core, bool one_of_several) {
    char name[32] = "core";
    if (one_of_several) {
        snprintf(name, sizeof(name), "core %d", core);
    }
    add_name(t, process_of(core), 0, "process_name", name);
    add_name(t, process_of(core), BUNDLES, "thread_name", "bundles");
    add_name(t, process_of(core), STALLS, "thread_name", "stalls");
}

void ts_report_timeline(const ts_run_request *request, const ts_run_result *result, ts_text *out) {
    timeline t = {.request = request, .result = result, .out = out};
    ts_text_add(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    for (int core = 0; core < result->chip.core_count; core++) {
        add_core(&t, core, result->chip.core_count > 1);
    }
    add_name(&t, ENGINE, 0, "process_name", "DMA engine");
    int64_t count = ts_trace_count(request->trace);
    for (int64_t i = 0; i < count; i++) {
        const ts_trace_event *event = ts_trace_get(request->trace, i);
        switch (event->kind) {
        case TS_RUN_EVENT_BUNDLE:
            add_bundle(&t, event);
            break;
        case TS_RUN_EVENT_STALL:
            add_stall(&t, event);
            break;
        default:
            add_transfer(&t, event);
            break;
        }
    }
    ts_text_add(out,
                "{\"ph\":\"M\",\"pid\":%d,\"tid\":0,\"name\":\"process_labels\",\"args\":{\"labels\":", CORE);
    ts_text name;
    ts_text_init(&name, out->arena);
    ts_report_machine_name(request->machine, &name);
    ts_json_quote(out, name.bytes);
    ts_text_add(out, "}}\n]}\n");
}
