/* Prices a relayout by running its ops. */
#include "study/relayout.h"

#include <string.h>

#include "base/number.h"
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
    return a->dtype == b->dtype &&
           ts_integers_equal(a->layout->dims, a->layout->rank, b->layout->dims, b->layout->rank);
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

enum { LEAST_BITS = 4 };

/* What is not modelled of the ops leaves them without a price. */
static bool find_cycles(ts_error *err, ts_arena *arena, const ts_machine *machine, ts_relayout_price *out) {
    ts_error own = {0};
    int64_t cycles;
    if (out->plan.bits < LEAST_BITS) {
        out->unpriced = "vregs of elements of less than 4 bits are not modelled";
        return true;
    }
    ts_text with = ts_text_begin(arena), without = ts_text_begin(arena);
    ts_relayout_kernel(&out->plan, TS_RELAYOUT_WITH_OPS, &with);
    ts_relayout_kernel(&out->plan, TS_RELAYOUT_WITHOUT_OPS, &without);
    if (run_kernel(&own, arena, machine, &with, &cycles) &&
        run_kernel(&own, arena, machine, &without, &out->without)) {
        out->cycles = cycles > out->without ? cycles - out->without : 0;
        return true;
    }
    if (own.kind != TS_ERROR_UNMODELLED)
        return ts_error_within(err, &own, "a kernel that loads and stores the vregs, to price their ops");
    out->unpriced = ts_arena_copy_text(arena, own.message, strlen(own.message));
    return true;
}

bool ts_relayout_price_find(ts_error *err, ts_arena *arena, const ts_relayout_price_request *r,
                            ts_relayout_price *out) {
    *out = (ts_relayout_price){.request = {.rank = r->from->layout->rank,
                                           .dims = r->from->layout->dims,
                                           .masks = r->from->dtype == TS_DTYPE_PRED,
                                           .generation = r->machine->chip.generation,
                                           .scratch_sublanes = TS_RELAYOUT_SCRATCH}};
    if (!read_vpad(err, r->from, "the source", &out->request.from) ||
        !read_vpad(err, r->to, "the destination", &out->request.to))
        return false;
    if (!same_value(r->from, r->to))
        return ts_error_set(err, TS_ERROR_INPUT, "source and destination are of different types or dims");
    if (ts_layout_element_count(r->from->layout) == 0)
        return ts_error_set(err, TS_ERROR_INPUT, "the array has no elements, expected dims of at least 1");
    if (!ts_relayout_plan(err, arena, &out->request, &out->plan)) return false;
    return out->plan.op_count == 0 || find_cycles(err, arena, r->machine, out);
}
