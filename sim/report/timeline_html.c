/* A timeline in a page: what its script draws, the same as a table, and the transfers by line. */
#include <inttypes.h>
#include <string.h>

#include "run_private.h"
#include "base/hash.h"
#include "base/number.h"
#include "base/table.h"
#include "core/core.h"
#include "report/run.h"

enum { EVENTS = 1 << 12, MOST_EVENTS = 360000, COLOUR_DMA = 2 };

/* ---- Keeping events ---- */

static void keep(ts_page_trace *t, const ts_trace_event *event) {
    if (t->count == MOST_EVENTS) {
        if (t->end < 0 || event->begin < t->end) t->end = event->begin;
    } else {
        *TS_APPEND(t->arena, t->events, t->count) = *event;
    }
}

static void take(void *self, const ts_trace_event *events, int64_t count) {
    ts_page_trace *t = self;
    if (t->forward) t->forward(t->self, events, count);
    for (int64_t i = 0; i < count; i++) keep(t, &events[i]);
}

void ts_page_trace_open(ts_arena *arena, ts_timeline *timeline, ts_page_trace *t) {
    *t = (ts_page_trace){.timeline = timeline,
                         .arena = arena,
                         .end = -1,
                         .forward = timeline->trace.take,
                         .self = timeline->trace.self};
    ts_trace_init(&timeline->trace, arena, EVENTS, take, t);
}

/* ---- What events are ---- */

/* What several events are of: the rows of the script's table. */
typedef struct {
    const ts_timeline *timeline;
    ts_text rows;     /* "[name, place, colour]" of each */
    ts_table numbers; /* of the rows */
} what_table;

static int colour_of_slot(int slot) {
    static const int colours[TS_SLOT_COUNT] = {
        [TS_SLOT_SCALAR] = 6, [TS_SLOT_VALU] = 1, [TS_SLOT_VLD] = 3, [TS_SLOT_VST] = 8,
        [TS_SLOT_EUP] = 4,    [TS_SLOT_XLU] = 7,  [TS_SLOT_MXU] = 5, [TS_SLOT_MISC] = COLOUR_DMA};
    return colours[slot];
}

/* The colour of the unit that a stall waits for. */
static int colour_of_stall(int stall) {
    const char *unit = ts_report_stall_unit(stall);
    for (int i = 0; i < TS_SLOT_COUNT; i++)
        if (strcmp(ts_slot_get((ts_slot)i)->text, unit) == 0) return colour_of_slot(i);
    return COLOUR_DMA;
}

static int colour_of(const ts_program *program, const ts_trace_event *event) {
    const ts_bundle *bundles = program->code.bundles;
    switch ((ts_timeline_kind)event->kind) {
    case TS_TIMELINE_BUNDLE:
        return 1;
    case TS_TIMELINE_INSTRUCTION:
        return colour_of_slot((int)ts_opcode_get(bundles[event->id].instructions[event->part].opcode)->slot);
    case TS_TIMELINE_TRANSFER:
        return COLOUR_DMA;
    case TS_TIMELINE_MESSAGE:
        return colour_of_slot(TS_SLOT_XLU);
    case TS_TIMELINE_BUS:
        return event->value[1] == 0 ? 3 : 5;
    case TS_TIMELINE_ENTER:
        return 1 + event->id % PAGE_KINDS;
    default: /* stalls, and what is summed up */
        return event->id >= 0 ? colour_of_stall(event->id) : 0;
    }
}

/* Its name and where it comes from, as texts of JSON. */
static void add_texts(const ts_program *program, const ts_trace_event *event, ts_text *out) {
    ts_text name = ts_text_begin(out->arena), location = ts_text_begin(out->arena);
    const ts_source *source;
    int line = report_event_line(program, event, &source);
    if (event->kind != TS_TIMELINE_STALL && event->kind != TS_TIMELINE_REST)
        report_event_name(program, event, &name);
    else
        ts_text_add(&name, "%s", event->id >= 0 ? ts_stall_get(event->id)->meaning : "summed up");
    if (line > 0) ts_program_print_location(program, source, line, &location);
    ts_json_quote(out, name.bytes);
    ts_text_add_char(out, ',');
    ts_json_quote(out, location.bytes);
}

/* Events of one key have one name and colour: a bus by whether it reads and writes. */
static uint64_t key_of(const ts_trace_event *event) {
    bool bus = event->kind == TS_TIMELINE_BUS, rest = event->kind == TS_TIMELINE_REST,
         transfer = event->kind == TS_TIMELINE_TRANSFER;
    uint64_t id =
        bus ? (uint64_t)(event->value[0] > 0) + 2 * (uint64_t)(event->value[1] > 0) : (uint64_t)event->id;
    uint64_t part = bus || rest || transfer ? 0 : (uint64_t)event->part;
    return (uint64_t)(event->kind + 1) << 58 | (id & 0x3fffffff) << 28 | (part & 0xfffffff);
}

static int number_of(what_table *t, const ts_trace_event *event) {
    uint64_t key = ts_hash_word(key_of(event));
    int known = ts_table_get(&t->numbers, key), number = (int)t->numbers.count;
    if (known >= 0) return known;
    ts_table_put(&t->numbers, key, number);
    ts_text_add(&t->rows, "%s[", number > 0 ? ",\n" : "");
    add_texts(t->timeline->program, event, &t->rows);
    ts_text_add(&t->rows, ",%d]", colour_of(t->timeline->program, event));
    return number;
}

/* ---- For the script ---- */

/* Events by track, each in their order. */
typedef struct {
    const ts_trace_event **events;
    int64_t *first; /* [tracks + 1] */
} by_track;

static by_track sort(const ts_page_trace *t) {
    int tracks = t->timeline->track_count;
    by_track s = {TS_NEW_ARRAY(t->arena, const ts_trace_event *, t->count + 1),
                  TS_NEW_ARRAY(t->arena, int64_t, tracks + 1)};
    int64_t *next = TS_NEW_ARRAY(t->arena, int64_t, tracks + 1);
    for (int64_t i = 0; i < t->count; i++)
        if (t->events[i].kind != TS_TIMELINE_ARROW) s.first[t->events[i].track + 1]++;
    for (int i = 0; i < tracks; i++) s.first[i + 1] += s.first[i];
    memcpy(next, s.first, (size_t)tracks * sizeof *next);
    for (int64_t i = 0; i < t->count; i++)
        if (t->events[i].kind != TS_TIMELINE_ARROW) s.events[next[t->events[i].track]++] = &t->events[i];
    return s;
}

/* Of an interval: [begin, cycles, what, how many or bytes]; of a counter [begin, value, value, 0]; of a
 * region [begin, 1, what, 0], and [begin, 0, 0, 0] where it ends. Each begins so many cycles behind the one
 * before. */
static void add_event(what_table *t, const ts_trace_event *e, int64_t gap, ts_text *out) {
    int64_t a = e->cycles, b = 0, c = 0;
    if (e->kind == TS_TIMELINE_COUNTER) {
        bool rate = t->timeline->tracks[e->track].is_rate;
        a = rate ? report_event_rate(t->timeline, e, 0) : e->value[0];
        b = rate ? report_event_rate(t->timeline, e, 1) : e->value[1];
    } else if (e->kind == TS_TIMELINE_ENTER || e->kind == TS_TIMELINE_LEAVE) {
        a = e->kind == TS_TIMELINE_ENTER;
        b = a ? number_of(t, e) : 0;
    } else {
        b = number_of(t, e);
        c = e->kind == TS_TIMELINE_BUS       ? e->value[0] + e->value[1]
            : e->kind == TS_TIMELINE_MESSAGE ? e->value[2]
                                             : e->value[0];
    }
    ts_text_add(out, "%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, gap, a, b, c);
}

static void add_track(what_table *t, int track, const by_track *s, ts_text *out) {
    const ts_track *about = &t->timeline->tracks[track];
    int64_t at = 0;
    ts_text_add(out, "{\"process\":\"%s\",\"name\":", t->timeline->processes[about->process]);
    ts_json_quote(out, about->name);
    ts_text_add(out, ",\"rate\":%d,\"series\":[", about->is_rate);
    for (int i = 0; i < 2 && about->series[i]; i++) {
        if (i > 0) ts_text_add_char(out, ',');
        ts_json_quote(out, about->series[i]);
    }
    int kind = s->events[s->first[track]]->kind;
    ts_text_add(out, "],\"regions\":%d,\"events\":[", kind == TS_TIMELINE_ENTER || kind == TS_TIMELINE_LEAVE);
    for (int64_t i = s->first[track]; i < s->first[track + 1]; i++) {
        if (i > s->first[track]) ts_text_add_char(out, ',');
        add_event(t, s->events[i], s->events[i]->begin - at, out);
        at = s->events[i]->begin;
    }
    ts_text_add(out, "]}");
}

/* From a track and a cycle through another (-1: not drawn) to the last. */
static void add_arrows(const ts_page_trace *t, ts_text *out) {
    bool first = true;
    ts_text_add(out, "],\n\"arrows\":[");
    for (int64_t i = 0; i < t->count; i++) {
        const ts_trace_event *e = &t->events[i];
        if (e->kind != TS_TIMELINE_ARROW) continue;
        ts_text_add(out, "%s%d,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, first ? "" : ",",
                    e->track, e->begin, e->value[2], e->value[3], e->value[0], e->value[1]);
        first = false;
    }
}

static int64_t last_cycle(const ts_page_trace *t) {
    int64_t last = 1;
    for (int64_t i = 0; i < t->count; i++) {
        const ts_trace_event *e = &t->events[i];
        int64_t end = e->begin + (e->kind < TS_TIMELINE_ENTER ? e->cycles : 0);
        if (e->kind != TS_TIMELINE_ARROW) last = ts_max(last, end);
    }
    return last;
}

/* What is left out. */
static void add_notes(const ts_page_trace *t, ts_text *out) {
    ts_text notes = ts_text_begin(t->arena);
    ts_report_timeline_notes(t->timeline, &notes);
    if (t->end >= 0)
        ts_text_add(&notes,
                    "this page has no room for what begins from cycle %s on: --from and --until choose\n",
                    ts_text_grouped(out->arena, t->end));
    ts_json_quote(out, notes.bytes);
}

void ts_report_page_trace_json(const ts_page_trace *t, ts_text *out) {
    what_table table = {.timeline = t->timeline,
                        .rows = ts_text_begin(t->arena),
                        .numbers = ts_table_begin(t->arena, INT64_MAX)};
    by_track s = sort(t);
    bool first = true;
    ts_text_add(out, "{\"from\":%" PRId64 ",\"to\":%" PRId64 ",\"notes\":", t->timeline->from, last_cycle(t));
    add_notes(t, out);
    ts_text_add(out, ",\n\"tracks\":[");
    for (int i = 0; i < t->timeline->track_count; i++) {
        if (s.first[i] == s.first[i + 1]) continue;
        ts_text_add(out, "%s{\"number\":%d,\"row\":", first ? "" : ",\n", i);
        add_track(&table, i, &s, out);
        ts_text_add_char(out, '}');
        first = false;
    }
    add_arrows(t, out);
    ts_text_add(out, "],\n\"what\":[%s]}", table.rows.bytes);
}

/* ---- The same as a table ---- */

static void add_table_row(const ts_page_trace *t, int track, const by_track *s, page *p) {
    const ts_track *about = &t->timeline->tracks[track];
    int64_t count = 0, cycles = 0, all = last_cycle(t) - t->timeline->from;
    for (int64_t i = s->first[track]; i < s->first[track + 1]; i++) {
        const ts_trace_event *e = s->events[i];
        count += e->kind == TS_TIMELINE_REST ? e->value[0] : e->kind != TS_TIMELINE_LEAVE;
        if (e->kind < TS_TIMELINE_ENTER) cycles += e->cycles;
    }
    page_row(p);
    page_cell(p, "%s", t->timeline->processes[about->process]);
    page_cell(p, "%s", about->name);
    page_count(p, count);
    if (cycles == 0) {
        page_cell(p, "%s", "");
        page_cell(p, "%s", "");
        return;
    }
    page_count(p, cycles);
    page_number(p, (double)cycles, "%.1f %%", 100.0 * (double)cycles / (double)all);
}

static void add_table(const ts_page_trace *t, const by_track *s, page *p) {
    static const page_column headings[] = {
        {"of", false}, {"row", false}, {"events", true}, {"cycles busy", true}, {"share", true}};
    page_details(p, "The rows of the timeline as a table");
    page_table(p, NULL, headings, 5);
    for (int i = 0; i < t->timeline->track_count; i++)
        if (s->first[i] < s->first[i + 1]) add_table_row(t, i, s, p);
    page_table_end(p);
    page_details_end(p);
}

void report_timeline_section(const ts_page_trace *t, page *p) {
    if (t->count == 0) return;
    by_track s = sort(t);
    ts_text json = ts_text_begin(t->arena);
    ts_report_page_trace_json(t, &json);
    page_section(p, "Timeline");
    ts_text_add(p->out, "<div id=\"timeline\"></div>\n");
    add_table(t, &s, p);
    page_data(p, "timeline-data", &json);
}

/* ---- Transfers by line ---- */

typedef struct {
    int first; /* transfer: the others are from the same line, between the same tensors */
    int64_t count, useful, moved, cycles, longest;
} transfer_sum;

static bool are_alike(const ts_transfer *a, const ts_transfer *b) {
    return a->source_text == b->source_text && a->line == b->line && a->source.tensor == b->source.tensor &&
           a->destination.tensor == b->destination.tensor;
}

static void add_transfer(const ts_program *program, transfer_sum *sums, const ts_trace_event *e) {
    transfer_sum *sum = sums;
    while (sum->count > 0 &&
           !are_alike(&program->code.transfers[sum->first], &program->code.transfers[e->id]))
        sum++;
    if (sum->count++ == 0) sum->first = e->id;
    sum->useful += e->value[0];
    sum->moved += e->value[1];
    sum->cycles += e->value[3];
    sum->longest = ts_max(sum->longest, e->value[3]);
}

static void add_transfer_row(const ts_timeline *timeline, const transfer_sum *sum, page *p) {
    const ts_program *program = timeline->program;
    const ts_transfer *transfer = &program->code.transfers[sum->first];
    ts_text location = ts_text_begin(p->out->arena);
    ts_text name = ts_text_begin(p->out->arena);
    ts_program_print_location(program, transfer->source_text, transfer->line, &location);
    report_transfer_name(program, sum->first, &name);
    page_row(p);
    page_number(p, transfer->line, "%s", location.bytes);
    page_code(p, name.bytes);
    page_count(p, sum->count);
    page_count(p, sum->useful);
    page_count(p, sum->moved);
    double each = (double)sum->cycles / (double)sum->count;
    page_number(p, each, "%.1f", each);
    page_count(p, sum->longest);
    double rate = sum->cycles > 0
                      ? (double)sum->useful / ts_machine_microseconds(timeline->machine, sum->cycles) / 1000
                      : 0;
    page_number(p, rate, "%.1f", rate);
}

void report_transfers_section(const ts_page_trace *t, page *p) {
    static const page_column headings[] = {
        {"line", true},        {"transfer", false},   {"times", true},       {"useful bytes", true},
        {"bytes moved", true}, {"cycles each", true}, {"the longest", true}, {"GB/s each", true}};
    const ts_program *program = t->timeline->program;
    transfer_sum *sums = TS_NEW_ARRAY(t->arena, transfer_sum, program->code.transfer_count + 1);
    for (int64_t i = 0; i < t->count; i++)
        if (t->events[i].kind == TS_TIMELINE_TRANSFER) add_transfer(program, sums, &t->events[i]);
    if (sums->count == 0) return;
    page_section(p, "Transfers");
    page_table(
        p,
        t->timeline->sampled_from >= 0 || t->end >= 0
            ? "By line, of those that the timeline draws one by one. Cycles are from start to completion."
            : "By line. Cycles are from start to completion; bytes moved count both ends.",
        headings, 8);
    for (transfer_sum *sum = sums; sum->count > 0; sum++) add_transfer_row(t->timeline, sum, p);
    page_table_end(p);
}
