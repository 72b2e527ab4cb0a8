/* The cycles of lines, frames and loops as JSON. */
#include "report/run.h"

#include <string.h>

static void add_counts(const ts_line_counts *counts, ts_json *json) {
    for (int i = 0; i < TS_LINE_COUNTER_COUNT; i++)
        ts_json_int(json, ts_line_counter_name((ts_line_counter)i), counts->values[i]);
    ts_json_object(json, "stalls");
    for (int i = 0; i < TS_STALL_COUNT; i++)
        if (counts->stalls[i] > 0) ts_json_int(json, ts_stall_get(i)->text, counts->stalls[i]);
    ts_json_close(json);
}

/* First what it is called, "gemm.tsim:451-543 name", by which two runs are compared. */
static void add_location(const ts_source *source, int first, int last, const char *name, ts_json *json) {
    ts_text location = ts_text_begin(json->out->arena);
    const char *slash = source ? strrchr(source->name, '/') : NULL;
    const char *file = slash ? slash + 1 : source ? source->name : "";
    ts_text_add(&location, "%s:%d", file, first);
    if (last > first) ts_text_add(&location, "-%d", last);
    if (*name) ts_text_add(&location, " %s", name);
    ts_json_text(json, "place", location.bytes);
    ts_json_text(json, "file", source ? source->name : NULL);
    ts_json_int(json, "line", first);
}

static void add_loop(const ts_profile_loop *loop, ts_json *json) {
    ts_json_object(json, NULL);
    add_location(loop->source, loop->first_line, loop->last_line, "", json);
    ts_json_int(json, "last_line", loop->last_line);
    ts_json_count(json, "frame", loop->frame);
    ts_json_int(json, "places", loop->locations);
    ts_json_int(json, "own_cycles", loop->own_cycles);
    add_counts(&loop->counts, json);
    ts_json_close(json);
}

static void add_frame(const ts_program_frame *frame, const ts_line_counts *counts, ts_json *json) {
    static const char *const kinds[] = {"macro", "file", "loop"};
    ts_json_object(json, NULL);
    add_location(frame->source, frame->line, frame->line, frame->kind == TS_FRAME_MACRO ? frame->name : "",
                 json);
    ts_json_text(json, "kind", kinds[frame->kind]);
    ts_json_text(json, "name", frame->name);
    ts_json_count(json, "parent", frame->parent);
    ts_json_text(json, "body_file", frame->body->name);
    ts_json_int(json, "body_line", frame->first_line);
    ts_json_int(json, "body_end_line", frame->end_line);
    add_counts(counts, json);
    ts_json_close(json);
}

void ts_report_lines_json(const ts_run_result *result, ts_json *json) {
    const ts_profile *p = result->profile;
    ts_json_array(json, "loops");
    for (int i = 0; i < p->loop_count; i++) add_loop(&p->loops[i], json);
    ts_json_close(json);
    ts_json_array(json, "frames");
    for (int i = 0; i < result->program->frame_count; i++)
        add_frame(&result->program->frames[i], &p->frames[i], json);
    ts_json_close(json);
    ts_json_array(json, "lines");
    for (int i = 0; i < p->line_count; i++) {
        ts_json_object(json, NULL);
        add_location(p->lines[i].source, p->lines[i].line, p->lines[i].line, "", json);
        ts_json_count(json, "frame", p->lines[i].frame);
        add_counts(&p->lines[i].counts, json);
        ts_json_close(json);
    }
    ts_json_close(json);
}
