/* Prices a relayout by running its ops. */
#include "study/relayout.h"

#include <string.h>

#include "mosaic/mosaic.h"
#include "run/run.h"

static bool read_vpad(ts_error *err, const ts_shape *shape, const char *what, ts_vpad *out) {
    if (shape->notation == NULL || strcmp(shape->notation, "vpad") != 0)
        return ts_error_set(err, TS_ERROR_INPUT,
                            "%s is no value in vregs, expected such as f32[8,128] vpad<\"32,{0,0},(8,128)\">",
                            what);
    ts_source source = {what, shape->layout_text, strlen(shape->layout_text)};
    ts_cursor cursor = {.source = &source};
    return ts_vpad_read(err, &cursor, out);
}

static bool same_value(const ts_shape *a, const ts_shape *b) {
    if (a->dtype != b->dtype || a->layout->rank != b->layout->rank) return false;
    return a->layout->rank == 0 ||
           memcmp(a->layout->dims, b->layout->dims, (size_t)a->layout->rank * sizeof(int64_t)) == 0;
}

static bool run_kernel(ts_error *err, ts_arena *arena, const ts_machine *machine, const ts_text *text,
                       int64_t *cycles) {
    ts_target target;
    ts_run_result result;
    ts_run_target(machine, &target);
    ts_source *source = TS_NEW(arena, ts_source);
    *source = (ts_source){"relayout", text->bytes, text->length};
    const ts_program *program = ts_mosaic_parse(err, arena, source, &target);
    if (program == NULL) return false;
    const ts_run_request request = {.program = "relayout",
                                    .built = program,
                                    .machine = machine,
                                    .time_only = true,
                                    .max_cycles = TS_RUN_MOST_CYCLES,
                                    .patience = TS_RUN_PATIENCE};
    if (!ts_run(err, arena, &request, &result)) return false;
    *cycles = result.chip.cycles;
    return true;
}

bool ts_relayout_price_find(ts_error *err, ts_arena *arena, const ts_relayout_price_request *r,
                            ts_relayout_price *out) {
    ts_relayout_request request = {.rank = r->from->layout->rank, .dims = r->from->layout->dims};
    ts_text with, without;
    *out = (ts_relayout_price){0};
    if (!read_vpad(err, r->from, "the source", &request.from) ||
        !read_vpad(err, r->to, "the destination", &request.to))
        return false;
    if (!same_value(r->from, r->to))
        return ts_error_set(err, TS_ERROR_INPUT, "source and destination are of different types or dims");
    if (!ts_relayout_plan(err, arena, &request, &out->plan)) return false;
    if (out->plan.op_count == 0) return true;
    ts_text_init(&with, arena), ts_text_init(&without, arena);
    ts_relayout_kernel(&out->plan, true, &with);
    ts_relayout_kernel(&out->plan, false, &without);
    int64_t cycles;
    if (!run_kernel(err, arena, r->machine, &with, &cycles) ||
        !run_kernel(err, arena, r->machine, &without, &out->without))
        return false;
    out->cycles = cycles - out->without;
    return true;
}
