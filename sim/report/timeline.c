/* Chrome's trace events of a timeline. */
#include "report/timeline.h"

#include <inttypes.h>

#include "tilesim/version.h"

#include "core/core.h"
#include "report/machine.h"
#include "run_private.h"

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

static void add_number(ts_chrome_trace *t, const char *key, int64_t value) {
    bool first = t->text.bytes[t->text.length - 1] == '{';
    ts_text_add(&t->text, "%s\"%s\":%" PRId64, first ? "" : ",", key, value);
}

/* ---- Intervals ---- */

void report_transfer_name(const ts_program *program, int number, ts_text *out) {
    const ts_transfer *transfer = &program->code.transfers[number];
    ts_text_add(out, "%s <- %s", program->code.tensors[transfer->destination.tensor].name,
                program->code.tensors[transfer->source.tensor].name);
}

static const char *mnemonic(const ts_instruction *instruction) {
    return ts_opcode_get(instruction->opcode)->mnemonic;
}

void report_event_name(const ts_program *program, const ts_trace_event *event, ts_text *out) {
    const ts_bundle *bundles = program->code.bundles;
    switch ((ts_timeline_kind)event->kind) {
    case TS_TIMELINE_BUNDLE:
        for (int i = 0; i < bundles[event->id].count; i++)
            ts_text_add(out, "%s%s", i > 0 ? " ; " : "", mnemonic(&bundles[event->id].instructions[i]));
        return;
    case TS_TIMELINE_INSTRUCTION:
        ts_text_add(out, "%s", mnemonic(&bundles[event->id].instructions[event->part]));
        return;
    case TS_TIMELINE_BUS:
        ts_text_add(out, "%s", event->value[1] == 0 ? "read" : event->value[0] > 0 ? "read, write" : "write");
        return;
    case TS_TIMELINE_ENTER:
        ts_text_add(out, "%s", program->regions[event->id].name);
        return;
    default: /* a transfer, or a message */
        if (event->id >= 0)
            report_transfer_name(program, event->id, out);
        else
            ts_text_add(out, "signal %s", program->code.semaphore_names[event->part]);
    }
}

int report_event_line(const ts_program *program, const ts_trace_event *event, const ts_source **source) {
    bool stall = event->kind == TS_TIMELINE_STALL;
    *source = NULL;
    if (event->kind == TS_TIMELINE_INSTRUCTION) {
        const ts_instruction *instruction = &program->code.bundles[event->id].instructions[event->part];
        *source = instruction->source;
        return instruction->line;
    }
    if (event->kind == TS_TIMELINE_TRANSFER || (event->kind == TS_TIMELINE_MESSAGE && event->id >= 0)) {
        *source = program->code.transfers[event->id].source_text;
        return program->code.transfers[event->id].line;
    }
    if (event->kind != TS_TIMELINE_BUNDLE && !stall) return 0;
    *source = ts_program_source(program, stall ? event->part : event->id);
    return ts_program_line(program, stall ? event->part : event->id);
}

/* Of stalls, and of what is summed up, which may be stalls of one reason. */
static void add_event_name(ts_chrome_trace *t, const ts_trace_event *event) {
    bool rest = event->kind == TS_TIMELINE_REST;
    ts_text_add(&t->text, ",\"name\":\"");
    if (!rest && event->kind != TS_TIMELINE_STALL)
        report_event_name(t->timeline->program, event, &t->text);
    else
        ts_text_add(&t->text, "%s", event->id >= 0 ? ts_stall_get(event->id)->text : "sum of");
    ts_text_add_char(&t->text, '"');
}

static void add_interval(ts_chrome_trace *t, const ts_trace_event *event) {
    static const char *const keys[][4] = {
        [TS_TIMELINE_TRANSFER] = {"useful_bytes", "moved_bytes", "issued_cycle", "cycles_from_issue"},
        [TS_TIMELINE_BUS] = {"reads", "writes", "ticks"},
        [TS_TIMELINE_MESSAGE] = {"from", "to", "bytes"},
        [TS_TIMELINE_REST] = {"sum_of"},
    };
    const ts_program *program = t->timeline->program;
    const ts_source *source;
    int line = report_event_line(program, event, &source);
    begin_event(t, "X", event->track, event->begin);
    add_time(t, "dur", event->cycles);
    add_event_name(t, event);
    add_location(t, source, line);
    if (event->kind == TS_TIMELINE_TRANSFER && program->code.cores > 1) add_number(t, "core", event->part);
    for (int i = 0; i < 4 && keys[event->kind][i]; i++) add_number(t, keys[event->kind][i], event->value[i]);
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
    ts_text notes = ts_text_begin(t->text.arena);
    ts_report_timeline_notes(timeline, &notes);
    ts_text_add(&t->text, "\n],\"otherData\":{\"tilesim\":\"" TS_VERSION "\",\"program\":");
    ts_json_quote(&t->text, timeline->program->code.name);
    ts_text_add(&t->text, ",\"machine\":");
    ts_json_quote(&t->text, ts_report_machine_name(t->text.arena, timeline->machine));
    ts_text_add(&t->text, ",\"time\":\"1 ns is 1 cycle of the core, %" PRId64 " kHz\",\"left_out\":",
                timeline->machine->chip.sustained_khz);
    ts_json_quote(&t->text, notes.bytes);
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
