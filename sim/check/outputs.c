/* Findings about outputs and inputs. */
#include "check/outputs.h"

#include <stdio.h>

#include "layout/shape.h"
#include "move/move.h"

void ts_outputs_start(const ts_outputs *outputs, const ts_in_flight *t) {
    int tensor = t->what->destination.tensor;
    if (!outputs->inputs[tensor] || !t->dst) return;
    ts_finding *f = ts_findings_add(outputs->findings, TS_FINDING_OVERWRITTEN,
                                    ts_location_of_transfer(t->what), (ts_location){0}, t->issued_cycle);
    if (f)
        ts_finding_describe(f, "this DMA writes to '%s', which is an input and not inout",
                            outputs->code->tensors[tensor].name);
}

void ts_outputs_store(const ts_outputs *outputs, ts_space *const *spaces, const ts_access *store) {
    for (int i = 0; i < outputs->code->tensor_count; i++) {
        const ts_tensor *tensor = &outputs->code->tensors[i];
        bool met = tensor->base_bytes < store->end && store->first < tensor->base_bytes + tensor->bytes;
        if (!outputs->inputs[i] || !met || spaces[tensor->space] != store->space) continue;
        ts_finding *f = ts_findings_add(outputs->findings, TS_FINDING_OVERWRITTEN,
                                        ts_location_of(store->instruction), (ts_location){0}, store->cycle);
        if (f)
            ts_finding_describe(f, "%s writes to '%s', which is an input and not inout",
                                ts_opcode_get(store->instruction->opcode)->mnemonic, tensor->name);
    }
}

/* ---- Undefined values that are sent ---- */

enum { INDEX_BYTES = 96 };

/* "3,130" */
static void write_index(const int64_t *index, int rank, char text[INDEX_BYTES]) {
    size_t at = 0;
    text[0] = '\0';
    for (int i = 0; i < rank && at < INDEX_BYTES; i++)
        at += (size_t)snprintf(text + at, INDEX_BYTES - at, "%s%lld", i > 0 ? "," : "", (long long)index[i]);
}

/* The index of the element at a bit of memory; false: it is padding. */
static bool find_index(const ts_tensor *tensor, int64_t bit, char text[INDEX_BYTES]) {
    ts_arena *scratch = ts_arena_new();
    ts_index_list list = {0};
    int64_t offset = (bit - tensor->base_bytes * 8) / tensor->shape->element_bits;
    const ts_layout *layout = tensor->shape->layout;
    bool known = layout->axis_count == 1 && ts_layout_backward(NULL, scratch, layout, &offset, 1, &list) &&
                 list.count > 0 && layout->rank > 0;
    write_index(list.indices, known ? layout->rank : 0, text);
    ts_arena_free(scratch);
    return known;
}

/* The plan from what a transfer wrote to a row-major array: valid elements only, for padding travels as
 * well. */
static const ts_plan *valid_elements(ts_arena *scratch, const ts_plan *plan) {
    ts_shape *written = TS_NEW(scratch, ts_shape);
    *written = *plan->dst.shape;
    written->layout = plan->dst_layout;
    const ts_shape *flat = ts_shape_row_major(NULL, scratch, written->dtype, plan->rank, plan->sizes);
    ts_plan_side side = {written, NULL, plan->dst.axis_bits, plan->dst.base_bits},
                 rows = {flat, NULL, NULL, 0};
    return flat ? ts_plan_new(NULL, scratch, &side, &rows, plan->rank, plan->sizes) : NULL;
}

/* Where element `flat` of the transfer's row-major order came from. */
static int64_t source_bit(const ts_plan *plan, int64_t flat) {
    int64_t index[TS_LAYOUT_MAX_DIMS], coordinates[TS_LAYOUT_MAX_AXES], bit = plan->src.base_bits;
    ts_index_unflatten(plan->rank, plan->sizes, flat, index);
    ts_layout_forward(plan->src_layout, index, coordinates);
    for (int i = 0; i < plan->src_layout->axis_count; i++) {
        int64_t step = plan->src.axis_bits ? plan->src.axis_bits[i] : plan->src.shape->element_bits;
        bit += coordinates[i] * step;
    }
    return bit;
}

static void report(const ts_outputs *outputs, const ts_in_flight *t, ts_poison_row row, int64_t to) {
    const ts_tensor *tensor = &outputs->code->tensors[t->what->destination.tensor];
    const char *source = outputs->code->tensors[t->what->source.tensor].name;
    const char *text = !row.store                ? NULL
                       : row.origin == row.store ? "this stored it"
                                                 : "this met the undefined value first";
    ts_finding *finding =
        ts_findings_add(outputs->findings, TS_FINDING_OUTPUT, ts_location_of_transfer(t->what),
                        ts_location_of(row.origin), t->done_cycle);
    if (!finding) return;
    char index[INDEX_BYTES];
    bool known = find_index(tensor, to, index);
    ts_finding_describe(finding, "%s%s%s%s gets an undefined value from '%s'%s", tensor->name,
                        known ? "[" : "", index, known ? "]" : "", source,
                        text ? "" : ", where nothing was written");
    finding->other_text = text;
}

void ts_outputs_done(const ts_outputs *outputs, const ts_in_flight *t, const ts_poison *poison) {
    if (!outputs->outputs[t->what->destination.tensor]) return;
    ts_arena *scratch = ts_arena_new();
    const ts_plan *plan = valid_elements(scratch, t->plan);
    int64_t to, flat;
    if (plan && ts_dma_find_poison(plan, t->dst, &to, &flat)) {
        int64_t from = source_bit(t->plan, flat / plan->dst.shape->element_bits);
        report(outputs, t, poison ? ts_poison_row_of(poison, from / 8) : (ts_poison_row){0}, to);
    }
    ts_arena_free(scratch);
}

/* ---- What was never written ---- */

static void describe_unwritten(ts_finding *finding, const ts_tensor *tensor, const int64_t *dims,
                               int64_t flat) {
    int rank = tensor->shape->layout->rank;
    int64_t index[TS_LAYOUT_MAX_DIMS];
    char text[INDEX_BYTES];
    ts_index_unflatten(rank, dims, flat, index);
    write_index(index, rank, text);
    ts_finding_describe(finding, "%s[%s] was never written", tensor->name, text);
}

bool ts_outputs_find_unwritten(ts_error *err, const ts_outputs *outputs, int tensor, ts_space *space,
                               ts_location where, int64_t cycle) {
    const ts_tensor *own = &outputs->code->tensors[tensor];
    const ts_shape *shape = own->shape;
    const int64_t *dims = outputs->held ? outputs->held : shape->layout->dims;
    int rank = shape->layout->rank;
    int64_t axis_bits[TS_LAYOUT_MAX_AXES], from, to;
    ts_arena *scratch = ts_arena_new();
    const ts_shape *flat = ts_shape_row_major(err, scratch, shape->dtype, rank, dims);
    bool good = flat && ts_space_place(err, space, shape, own->base_bytes, axis_bits);
    ts_plan_side side = {shape, NULL, axis_bits, own->base_bytes * 8}, rows = {flat, NULL, NULL, 0};
    const ts_plan *plan = good ? ts_plan_new(err, scratch, &side, &rows, rank, dims) : NULL;
    bool found = plan && ts_dma_find_poison(plan, space, &from, &to);
    ts_finding *f =
        found ? ts_findings_add(outputs->findings, TS_FINDING_UNWRITTEN, where, (ts_location){0}, cycle)
              : NULL;
    if (f) describe_unwritten(f, own, dims, to / flat->element_bits);
    ts_arena_free(scratch);
    return plan != NULL;
}
