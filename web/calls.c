/* What the page's worker calls: texts in, one text out, which is JSON as the commands print it with --json. */
#ifdef __EMSCRIPTEN__
#include <emscripten.h>
#else
#define EMSCRIPTEN_KEEPALIVE /* compiled for its warnings alone */
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/embedded.h"
#include "report/error.h"
#include "report/layout.h"
#include "report/machine.h"
#include "report/program.h"
#include "report/run.h"
#include "report/timeline.h"
#include "report/transfer.h"

/* Kept by the linker, for JavaScript alone. */
#define CALL(name, ...)                                                                                      \
    EMSCRIPTEN_KEEPALIVE const char *name(__VA_ARGS__);                                                      \
    const char *name(__VA_ARGS__)

enum { PATIENCE = 1 << 27 };
#define MOST_CYCLES       INT64_C(10000000000)
#define MOST_MEMORY_BYTES (INT64_C(1) << 30)

/* A call's memory lives until the next one. */
static struct {
    ts_arena *arena;
    ts_error err;
    ts_text out, message;
} call;

static void begin(void) {
    ts_arena_free(call.arena);
    call.arena = ts_arena_new();
    call.err = (ts_error){0};
    call.out = ts_text_begin(call.arena);
    call.message = ts_text_begin(call.arena);
}

void ts_out_of_memory(size_t bytes) {
    fprintf(stderr, "out of memory (%zu bytes more)\n", bytes);
    abort();
}

/* The error as JSON, and in call.message as the command line shows it. */
static const char *fail(const char *command) {
    char text[TS_ERROR_TEXT_BYTES + TS_ERROR_NAME_BYTES + 2 * TS_ERROR_LINE_BYTES + 64];
    for (const ts_error *at = &call.err; at; at = at->next) {
        ts_error_format(at, text, sizeof text);
        ts_text_add(&call.message, "%s", text);
    }
    ts_text_clear(&call.out);
    ts_report_error_json(&call.err, command, &call.out);
    return call.out.bytes;
}

static const char *given(const char *text) { return *text ? text : NULL; }

/* The text of the last call that failed: with the line, and a caret below it. */
CALL(web_message, void) { return call.message.bytes; }

/* ---- Lists ---- */

CALL(web_machines, void) {
    begin();
    return ts_report_machines_json(&call.err, call.arena, &call.out) ? call.out.bytes : fail("show");
}

CALL(web_programs, void) {
    ts_json json;
    begin();
    ts_json_begin(&json, &call.out, "programs");
    ts_json_array(&json, "programs");
    for (size_t i = 0; i < ts_embedded_program_count; i++) {
        ts_json_object(&json, NULL);
        ts_json_text(&json, "name", ts_embedded_programs[i].name);
        ts_json_text(&json, "text", ts_embedded_programs[i].text);
        ts_json_close(&json);
    }
    ts_json_close(&json);
    ts_json_end(&json);
    return call.out.bytes;
}

/* What reports call the parts of a transfer's time, and the reasons for which a bundle does not issue, by their keys. */
CALL(web_names, void) {
    ts_json json;
    begin();
    ts_json_begin(&json, &call.out, "names");
    ts_json_object(&json, "components");
    for (int i = 0; i < TS_DMA_COMPONENT_COUNT; i++)
        ts_json_text(&json, ts_dma_component_key((ts_dma_component)i),
                     ts_dma_component_label((ts_dma_component)i));
    ts_json_close(&json);
    ts_json_object(&json, "stalls");
    for (int i = 0; i < TS_STALL_COUNT; i++)
        ts_json_text(&json, ts_stall_get(i)->text, ts_stall_get(i)->meaning);
    ts_json_close(&json);
    ts_json_end(&json);
    return call.out.bytes;
}

/* ---- Layouts ---- */

static const ts_shape *read_shape(const char *text) {
    ts_source source = {"shape", text, strlen(text)};
    return ts_shape_parse(&call.err, call.arena, &source);
}

/* As `tilesim layout SHAPE --json`, with --at, --inverse, --as and --equal where they are not "". */
CALL(web_layout, const char *shape, const char *at, const char *inverse, const char *as, const char *equal) {
    begin();
    ts_layout_question q = {.arena = call.arena,
                            .shape = read_shape(shape),
                            .at = given(at),
                            .inverse = given(inverse),
                            .as = given(as),
                            .equal = given(equal)};
    if (!q.shape || !ts_layout_question_answer(&call.err, &q)) return fail("layout");
    ts_report_layout_answer_json(&q, &call.out);
    return call.out.bytes;
}

/* The numbers of a text, in order; the rest stays as it is. */
static void read_numbers(const char *text, int count, int64_t *values) {
    char *end;
    for (int i = 0; i < count && *text; i++) {
        values[i] = strtoll(text, &end, 10);
        text = end + (*end == ',');
    }
}

/* view: row dim, column dim, rows, columns, line axis, place axis, lines, line. */
CALL(web_window, const char *shape, const char *view, const char *index, const char *point) {
    int64_t v[8] = {-1, -1, 16, 16, -1, -1, 16, 0};
    begin();
    const ts_shape *read = read_shape(shape);
    if (!read || !ts_shape_layout(&call.err, read, "a picture")) return fail("layout");
    read_numbers(view, 8, v);
    ts_layout_window window = {.row_dim = (int)v[0],
                               .column_dim = (int)v[1],
                               .rows = v[2],
                               .columns = v[3],
                               .line_axis = (int)v[4],
                               .place_axis = (int)v[5],
                               .lines = v[6],
                               .line = v[7]};
    memset(window.point, -1, sizeof window.point);
    read_numbers(index, TS_LAYOUT_MAX_DIMS, window.index);
    read_numbers(point, TS_LAYOUT_MAX_AXES, window.point);
    ts_report_layout_window_json(call.arena, read, &window, &call.out);
    return call.out.bytes;
}

/* ---- Transfers ---- */

/* The words of a text, at most `most`. */
static int split(const char *text, const char **words, int most) {
    int count = 0;
    while (*(text += strspn(text, " \n")) && count < most) {
        size_t length = strcspn(text, " \n");
        words[count++] = ts_arena_copy_text(call.arena, text, length);
        text += length;
    }
    return count;
}

/* sets: "FIELD=VALUE FIELD=VALUE". */
static const ts_machine *read_machine(const char *name, const char *sets) {
    const char *words[64];
    int count = split(sets, words, 64);
    return ts_machine_load_with(&call.err, call.arena, given(name) ? name : TS_MACHINE_DEFAULT, "--set",
                                words, count);
}

static bool price(const char *src, const char *dst, const ts_machine *machine, ts_transfer_study *study,
                  ts_transfer_others *others) {
    ts_transfer_end ends[2];
    ts_source *texts = TS_NEW_ARRAY(call.arena, ts_source, 2);
    texts[0] = (ts_source){"source", src, strlen(src)};
    texts[1] = (ts_source){"destination", dst, strlen(dst)};
    for (int i = 0; i < 2; i++)
        if (!ts_transfer_end_parse(&call.err, call.arena, &texts[i], &ends[i])) return false;
    ends[0].at = ends[1].at = TS_TRANSFER_ANYWHERE;
    const ts_transfer_request request = {machine, ts_prices_new(call.arena), ends[0], ends[1], false, 0};
    const ts_transfer_others_request all = {.cheapest_only = false, .threads = 1};
    return others ? ts_transfer_price_with_others(&call.err, call.arena, &request, &all, study, others)
                  : ts_transfer_price(&call.err, call.arena, &request, study);
}

/* As `tilesim dma SRC DST -m MACHINE --explain --json`; alone: with --alone. */
CALL(web_dma, const char *src, const char *dst, const char *machine, const char *sets, int alone) {
    ts_transfer_study study;
    ts_transfer_others tried[2], *others = alone ? NULL : tried;
    begin();
    const ts_machine *loaded = read_machine(machine, sets);
    if (!loaded || !price(src, dst, loaded, &study, others)) return fail("dma");
    ts_report_transfer_json(&study, others, TS_TRANSFER_COST_AND_LOOPS, &call.out);
    return call.out.bytes;
}

CALL(web_steps, const char *src, const char *dst, const char *machine, int first, int count) {
    ts_transfer_study study;
    begin();
    const ts_machine *loaded = read_machine(machine, "");
    if (!loaded || !price(src, dst, loaded, &study, NULL)) return fail("dma");
    ts_report_transfer_steps_json(&study, first, count, &call.out);
    return call.out.bytes;
}

/* ---- Programs ---- */

static bool read_defines(const char *text, ts_run_request *request) {
    const char *words[64];
    int count = split(text, words, 64);
    ts_define *defines = TS_NEW_ARRAY(call.arena, ts_define, count + 1);
    for (int i = 0; i < count; i++) {
        const char *equals = strchr(words[i], '=');
        if (!equals || equals == words[i] || !equals[1])
            return ts_error_set(&call.err, TS_ERROR_USAGE, "-D '%s': expected NAME=VALUE", words[i]);
        size_t length = (size_t)(equals - words[i]);
        defines[i] = (ts_define){ts_arena_copy_text(call.arena, words[i], length), equals + 1};
    }
    request->defines = defines;
    request->define_count = count;
    return true;
}

static struct {
    ts_run_request request;
    ts_run_result result;
    ts_timeline timeline;
    ts_page_trace trace;
} last_run;

static bool prepare(const char *path, const char *machine, const char *defines, bool check) {
    ts_run_request *request = &last_run.request;
    *request = (ts_run_request){.program = ts_arena_copy_text(call.arena, path, strlen(path)),
                                .max_cycles = MOST_CYCLES,
                                .patience = PATIENCE,
                                .max_memory_bytes = MOST_MEMORY_BYTES,
                                .profile = true,
                                .check = check,
                                .timeline = &last_run.timeline};
    last_run.timeline = (ts_timeline){.until = INT64_MAX, .events = TS_PAGE_EVENTS};
    request->machine = read_machine(machine, "");
    return request->machine && read_defines(defines, request);
}

/* As `tilesim run PATH -m MACHINE -D .. --lines --json`, with --check where it is not 0. The run stays for web_timeline
 * and web_bundles. */
CALL(web_run, const char *path, const char *machine, const char *defines, int check) {
    begin();
    if (!prepare(path, machine, defines, check != 0)) return fail("run");
    ts_page_trace_open(call.arena, &last_run.timeline, &last_run.trace);
    if (!ts_run(&call.err, call.arena, &last_run.request, &last_run.result)) return fail("run");
    ts_report_run_json(&last_run.request, &last_run.result, &call.out);
    return call.out.bytes;
}

/* Of the last web_run, which gave a result. */
CALL(web_timeline, void) {
    ts_text_clear(&call.out);
    ts_report_page_trace_json(&last_run.trace, &call.out);
    return call.out.bytes;
}

/* Of the same. */
CALL(web_bundles, void) {
    ts_text_clear(&call.out);
    ts_report_bundles_json(last_run.result.program, &call.out);
    return call.out.bytes;
}
