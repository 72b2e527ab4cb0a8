/* Chrome's trace events of a timeline. */
#include "report/timeline.h"

#include <inttypes.h>

#include "tilesim/version.h"

#include "core/core.h"
#include "report/machine.h"
#include "timeline_private.h"

enum { EVENTS = 1 << 12, WRITTEN = 1 << 16, FIRST_ROW = 100 };

/* ---- Parts of an event ---- */

/* Microseconds: a cycle is 0.001. Perfetto takes the whole part of 1000 times the nearest double: where that
 * is a cycle too early, a tenth of one is added. */
static void add_time(ts_chrome_trace *t, const char *key, int64_t cycles) {
    bool early = (int64_t)((double)cycles / 1000.0 * 1000.0) != cycles;
    ts_text_add(&t->text, ",\"%s\":%" PRId64 ".%03d%s", key, cycles / 1000, (int)(cycles % 1000),
                early ? "1" : "");
}

/* Numbers of rows are no numbers of processes, which have meanings of their own. */
static int row_of(const ts_chrome_trace *t, int track) {
    int processes = t->timeline->process_count;
    return track + (processes < FIRST_ROW ? FIRST_ROW : processes + 1);
}

static void begin_event(ts_chrome_trace *t, const char *phase, int track, int64_t cycle) {
    ts_text_add(&t->text, "%s{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d", t->events++ > 0 ? ",\n" : "", phase,
                1 + t->timeline->tracks[track].process, row_of(t, track));
    add_time(t, "ts", cycle);
    t->used[track] = true;
}

static void add_name(ts_chrome_trace *t, const char *name) {
    ts_text_add(&t->text, ",\"name\":");
    ts_json_quote(&t->text, name);
}

static void add_location(ts_chrome_trace *t, const ts_source *source, int line) {
    ts_text_add(&t->text, ",\"args\":{");
    if (!source) return;
    ts_text_add(&t->text, "\"file\":");
    ts_json_quote(&t->text, source->name);
    ts_text_add(&t->text, ",\"line\":%d", line);
}

static void add_bundle_location(ts_chrome_trace *t, int bundle) {
    const ts_program *program = t->timeline->program;
    add_location(t, ts_program_source(program, bundle), ts_program_line(program, bundle));
}

static void add_number(ts_chrome_trace *t, const char *key, int64_t value) {
    bool first = t->text.bytes[t->text.length - 1] == '{';
    ts_text_add(&t->text, "%s\"%s\":%" PRId64, first ? "" : ",", key, value);
}

/* ---- Intervals ---- */

void report_bundle_name(const ts_program *program, int number, ts_text *out) {
    const ts_bundle *bundle = &program->code.bundles[number];
    for (int i = 0; i < bundle->count; i++)
        ts_text_add(out, "%s%s", i > 0 ? " ; " : "", ts_opcode_get(bundle->instructions[i].opcode)->mnemonic);
}

static void add_bundle(ts_chrome_trace *t, const ts_trace_event *event) {
    ts_text_add(&t->text, ",\"name\":\"");
    report_bundle_name(t->timeline->program, event->id, &t->text);
    ts_text_add(&t->text, "\"");
    add_bundle_location(t, event->id);
}

static void add_instruction(ts_chrome_trace *t, const ts_trace_event *event) {
    const ts_bundle *bundle = &t->timeline->program->code.bundles[event->id];
    const ts_instruction *instruction = &bundle->instructions[event->part];
    add_name(t, ts_opcode_get(instruction->opcode)->mnemonic);
    add_location(t, instruction->source, instruction->line);
}

static void add_stall(ts_chrome_trace *t, const ts_trace_event *event) {
    const ts_named *stall = ts_stall_get(event->id);
    add_name(t, stall->text);
    add_bundle_location(t, event->part);
}

void report_transfer_name(const ts_program *program, int number, ts_text *out) {
    const ts_transfer *transfer = &program->code.transfers[number];
    ts_text_add(out, "%s <- %s", program->code.tensors[transfer->destination.tensor].name,
                program->code.tensors[transfer->source.tensor].name);
}

static void add_transfer(ts_chrome_trace *t, const ts_trace_event *event) {
    const ts_code *code = &t->timeline->program->code;
    const ts_transfer *transfer = &code->transfers[event->id];
    ts_text_add(&t->text, ",\"name\":\"");
    report_transfer_name(t->timeline->program, event->id, &t->text);
    ts_text_add(&t->text, "\"");
    add_location(t, transfer->source_text, transfer->line);
    if (code->cores > 1) add_number(t, "core", event->part);
    add_number(t, "useful_bytes", event->value[0]);
    add_number(t, "moved_bytes", event->value[1]);
    add_number(t, "issued_cycle", event->value[2]);
    add_number(t, "cycles_from_issue", event->value[3]);
}

static void add_bus(ts_chrome_trace *t, const ts_trace_event *event) {
    bool reads = event->value[0] > 0, writes = event->value[1] > 0;
    add_name(t, !writes ? "read" : reads ? "read, write" : "write");
    add_location(t, NULL, 0);
    add_number(t, "reads", event->value[0]);
    add_number(t, "writes", event->value[1]);
    add_number(t, "ticks", event->value[2]);
}

void report_message_name(const ts_program *program, const ts_trace_event *event, ts_text *out) {
    if (event->id >= 0)
        report_transfer_name(program, event->id, out);
    else
        ts_text_add(out, "signal %s", program->code.semaphore_names[event->part]);
}

static void add_message(ts_chrome_trace *t, const ts_trace_event *event) {
    const ts_code *code = &t->timeline->program->code;
    const ts_transfer *transfer = event->id >= 0 ? &code->transfers[event->id] : NULL;
    ts_text_add(&t->text, ",\"name\":\"");
    report_message_name(t->timeline->program, event, &t->text);
    ts_text_add(&t->text, "\"");
    add_location(t, transfer ? transfer->source_text : NULL, transfer ? transfer->line : 0);
    add_number(t, "from", event->value[0]);
    add_number(t, "to", event->value[1]);
    add_number(t, "bytes", event->value[2]);
}

static void add_rest(ts_chrome_trace *t, const ts_trace_event *event) {
    add_name(t, event->id >= 0 ? ts_stall_get(event->id)->text : "sum of");
    add_location(t, NULL, 0);
    add_number(t, "sum_of", event->value[0]);
}

static void add_interval(ts_chrome_trace *t, const ts_trace_event *event) {
    static void (*const rows[])(ts_chrome_trace * t, const ts_trace_event *event) = {
        [TS_TIMELINE_BUNDLE] = add_bundle, [TS_TIMELINE_INSTRUCTION] = add_instruction,
        [TS_TIMELINE_STALL] = add_stall,   [TS_TIMELINE_TRANSFER] = add_transfer,
        [TS_TIMELINE_BUS] = add_bus,       [TS_TIMELINE_MESSAGE] = add_message,
        [TS_TIMELINE_REST] = add_rest,
    };
    begin_event(t, "X", event->track, event->begin);
    add_time(t, "dur", event->cycles);
    rows[event->kind](t, event);
    ts_text_add(&t->text, "}}");
}

/* ---- The others ---- */

static void add_region(ts_chrome_trace *t, const ts_trace_event *event) {
    bool enters = event->kind == TS_TIMELINE_ENTER;
    begin_event(t, enters ? "B" : "E", event->track, event->begin);
    if (enters) add_name(t, t->timeline->program->regions[event->id].name);
    ts_text_add(&t->text, "}");
}

int64_t report_event_rate(const ts_timeline *timeline, const ts_trace_event *event, int i) {
    __int128 rate = (__int128)event->value[i] * timeline->machine->chip.sustained_khz;
    return (int64_t)(rate / ((__int128)event->cycles * 10000));
}

/* Rates in 10^9 bytes a second, with two decimals. */
static void add_counter(ts_chrome_trace *t, const ts_trace_event *event) {
    const ts_track *track = &t->timeline->tracks[event->track];
    begin_event(t, "C", event->track, event->begin);
    add_name(t, track->name);
    ts_text_add(&t->text, ",\"args\":{");
    for (int i = 0; i < 2 && track->series[i]; i++) {
        int64_t value = event->value[i];
        if (track->is_rate) {
            int64_t hundredths = report_event_rate(t->timeline, event, i);
            ts_text_add(&t->text, "%s\"%s\":%" PRId64 ".%02d", i > 0 ? "," : "", track->series[i],
                        hundredths / 100, (int)(hundredths % 100));
        } else {
            add_number(t, track->series[i], value);
        }
    }
    ts_text_add(&t->text, "}}");
}

static void add_arrow_point(ts_chrome_trace *t, const char *phase, int64_t track, int64_t cycle) {
    begin_event(t, phase, (int)track, cycle);
    ts_text_add(&t->text, ",\"cat\":\"dma\",\"name\":\"dma\",\"id\":%" PRId64 "%s}", t->arrows,
                *phase == 'f' ? ",\"bp\":\"e\"" : "");
}

static void add_arrow(ts_chrome_trace *t, const ts_trace_event *event) {
    t->arrows++;
    add_arrow_point(t, "s", event->track, event->begin);
    if (event->value[2] >= 0) add_arrow_point(t, "t", event->value[2], event->value[3]);
    add_arrow_point(t, "f", event->value[0], event->value[1]);
}

static void add_event(ts_chrome_trace *t, const ts_trace_event *event) {
    if (event->kind == TS_TIMELINE_ENTER || event->kind == TS_TIMELINE_LEAVE)
        add_region(t, event);
    else if (event->kind == TS_TIMELINE_COUNTER)
        add_counter(t, event);
    else if (event->kind == TS_TIMELINE_ARROW)
        add_arrow(t, event);
    else
        add_interval(t, event);
}

/* ---- The file ---- */

static void write_text(ts_chrome_trace *t) {
    if (t->err.kind == TS_ERROR_NONE) ts_file_write(&t->err, t->file, t->text.bytes, t->text.length);
    ts_text_clear(&t->text);
}

static void take(void *self, const ts_trace_event *events, int64_t count) {
    ts_chrome_trace *t = self;
    if (!t->used) t->used = TS_NEW_ARRAY(t->text.arena, bool, t->timeline->track_count);
    for (int64_t i = 0; i < count && t->err.kind == TS_ERROR_NONE; i++) {
        add_event(t, &events[i]);
        if (t->text.length > WRITTEN) write_text(t);
    }
}

bool ts_chrome_trace_open(ts_error *err, ts_arena *arena, const char *path, ts_timeline *timeline,
                          ts_chrome_trace *t) {
    *t = (ts_chrome_trace){.timeline = timeline, .file = ts_file_create(err, arena, path)};
    if (!t->file) return false;
    t->text = ts_text_begin(arena);
    ts_text_add(&t->text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    ts_trace_init(&timeline->trace, arena, EVENTS, take, t);
    return true;
}

static void add_metadata(ts_chrome_trace *t, int process, int row, const char *kind) {
    ts_text_add(&t->text, "%s{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"%s\",\"args\":{",
                t->events++ > 0 ? ",\n" : "", 1 + process, row, kind);
}

static void name_process(ts_chrome_trace *t, int process) {
    add_metadata(t, process, 0, "process_name");
    ts_text_add(&t->text, "\"name\":\"%s\"}}", t->timeline->processes[process]);
    add_metadata(t, process, 0, "process_sort_index");
    ts_text_add(&t->text, "\"sort_index\":%d}}", process);
    bool has_hbm = t->timeline->mesh || process == t->timeline->process_count - 1;
    if (t->timeline->share <= 1 || !has_hbm) return;
    add_metadata(t, process, 0, "process_labels");
    ts_text_add(&t->text, "\"labels\":\"one of %d channels is simulated\"}}", t->timeline->share);
}

/* Those that have events. */
static void name_tracks(ts_chrome_trace *t) {
    const ts_timeline *timeline = t->timeline;
    int last = -1;
    for (int i = 0; t->used && i < timeline->track_count; i++) {
        const ts_track *track = &timeline->tracks[i];
        if (!t->used[i]) continue;
        if (track->process != last) name_process(t, track->process);
        last = track->process;
        if (track->series[0]) continue;
        add_metadata(t, track->process, row_of(t, i), "thread_name");
        ts_text_add(&t->text, "\"name\":\"%s\"}}", track->name);
        add_metadata(t, track->process, row_of(t, i), "thread_sort_index");
        ts_text_add(&t->text, "\"sort_index\":%d}}", i);
    }
}

static void add_about(ts_chrome_trace *t) {
    const ts_timeline *timeline = t->timeline;
    ts_text text = ts_text_begin(t->text.arena);
    ts_report_machine_name(timeline->machine, &text);
    ts_text_add(&t->text, "\n],\"otherData\":{\"tilesim\":\"" TS_VERSION "\",\"program\":");
    ts_json_quote(&t->text, timeline->program->code.name);
    ts_text_add(&t->text, ",\"machine\":");
    ts_json_quote(&t->text, text.bytes);
    ts_text_add(&t->text, ",\"time\":\"1 ns is 1 cycle of the core, %" PRId64 " kHz\",\"left_out\":",
                timeline->machine->chip.sustained_khz);
    ts_text_clear(&text);
    ts_report_timeline_notes(timeline, &text);
    ts_json_quote(&t->text, text.bytes);
    ts_text_add(&t->text, "}}\n");
}

bool ts_chrome_trace_close(ts_error *err, ts_chrome_trace *t) {
    name_tracks(t);
    add_about(t);
    write_text(t);
    if (t->err.kind == TS_ERROR_NONE) return ts_file_close(err, t->file);
    ts_file_abandon(t->file);
    if (err) *err = t->err;
    return false;
}

void ts_chrome_trace_abandon(ts_chrome_trace *t) { ts_file_abandon(t->file); }

/* ---- What is left out ---- */

void ts_report_timeline_notes(const ts_timeline *t, ts_text *out) {
    if (t->trace.added == 0 && t->from > 0)
        ts_text_add(out, "no event begins in the cycles asked for, from %s on: the run has %s\n",
                    ts_text_grouped(out->arena, t->from), ts_text_grouped(out->arena, t->cycles));
    if (t->sampled_from >= 0)
        ts_text_add(out,
                    "from cycle %s on, events are drawn in one of 2 windows of %s, later one of up to "
                    "%s, and are summed up in the others\n",
                    ts_text_grouped(out->arena, t->sampled_from),
                    ts_text_counted(out->arena, TS_TIMELINE_WINDOW, "cycle"),
                    ts_text_grouped(out->arena, (int64_t)1 << t->thinned));
    if (t->recalled > 0)
        ts_text_add(out, "the time of %s is recalled, and HBM does not show them; --exact simulates all\n",
                    ts_text_counted(out->arena, t->recalled, "transfer"));
}
