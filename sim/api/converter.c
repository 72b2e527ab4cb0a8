/* Conversions that are prepared once, from the bytes of one layout to those of another. */
#include <stdatomic.h>

#include "host/pack.h"
#include "layout/plan.h"
#include "move/move.h"

#include "api_private.h"

#define MOST_BYTES (INT64_MAX / 16) /* of a space */

static const char *const source_name = "the source", *const destination_name = "the destination";

struct ts_converter {
    const ts_plan *plan;
    ts_move_options how;
    int64_t source_bytes, destination_bytes;
    ts_prepared_move *move;
    atomic_flag *taken; /* the move, by a thread */
};

/* A side's bytes, and the bits of a step on its axis. */
static bool measure(ts_error *err, const char *name, const ts_shape *shape, int64_t *bytes,
                    int64_t axis_bits[TS_LAYOUT_MAX_AXES]) {
    if (!ts_host_buffer_bytes(err, shape, bytes)) return false;
    if (*bytes >= MOST_BYTES)
        return ts_error_set(err, TS_ERROR_INPUT, "%s: %lld bytes, more than any memory has", name,
                            (long long)*bytes);
    const ts_space space = ts_space_around(name, NULL, *bytes);
    return ts_space_place(err, &space, shape, 0, axis_bits);
}

static bool plan(ts_error *err, ts_arena *arena, ts_converter *c, const ts_shape *source,
                 const ts_shape *destination) {
    int64_t from_bits[TS_LAYOUT_MAX_AXES], to_bits[TS_LAYOUT_MAX_AXES];
    if (!api_same_dims(err, source, destination) ||
        !measure(err, source_name, source, &c->source_bytes, from_bits) ||
        !measure(err, destination_name, destination, &c->destination_bytes, to_bits))
        return false;
    const ts_plan_side from = {source, NULL, from_bits, 0}, to = {destination, NULL, to_bits, 0};
    c->plan = ts_plan_of_elements(err, arena, &from, &to, source->layout->rank, source->layout->dims);
    return c->plan != NULL;
}

static bool prepare(ts_error *err, ts_arena *arena, ts_converter *c) {
    ts_space from = ts_space_around(source_name, NULL, c->source_bytes),
             to = ts_space_around(destination_name, NULL, c->destination_bytes);
    c->move = ts_move_prepare(arena, c->plan, &c->how);
    c->taken = TS_NEW(arena, atomic_flag);
    atomic_flag_clear(c->taken);
    return c->plan->elements == 0 || /* of any types, as they are packed */
           ts_move_make_ready(err, c->move, (ts_move_end){&from, 0}, (ts_move_end){&to, 0});
}

const ts_converter *ts_converter_new(ts_error *err, ts_arena *arena, const ts_shape *source,
                                     const ts_shape *destination, int threads) {
    ts_converter *c = TS_NEW(arena, ts_converter);
    c->how = (ts_move_options){.kernels = ts_kernels_best(), .threads = threads};
    return plan(err, arena, c, source, destination) && prepare(err, arena, c) ? c : NULL;
}

int64_t ts_converter_source_bytes(const ts_converter *converter) { return converter->source_bytes; }
int64_t ts_converter_destination_bytes(const ts_converter *converter) { return converter->destination_bytes; }

static bool are_apart(ts_error *err, const ts_host_buffer *a, const ts_host_buffer *b) {
    const uintptr_t one = (uintptr_t)a->bytes, other = (uintptr_t)b->bytes;
    return one + (uintptr_t)a->length <= other || other + (uintptr_t)b->length <= one ||
           ts_error_set(err, TS_ERROR_USAGE, "%s and %s overlap, expected memory of its own for each",
                        a->name, b->name);
}

/* By what was found, unless another thread is at it. */
static bool move(ts_error *err, const ts_converter *c, ts_space *from, ts_space *to) {
    if (c->plan->elements == 0) return true;
    if (atomic_flag_test_and_set_explicit(c->taken, memory_order_acquire))
        return ts_dma_move_with(err, c->plan, from, to, &c->how);
    bool good = ts_move_execute(err, c->move, (ts_move_end){from, 0}, (ts_move_end){to, 0});
    atomic_flag_clear_explicit(c->taken, memory_order_release);
    return good;
}

int ts_converter_run(ts_error *err, const ts_converter *converter, const void *source, int64_t source_length,
                     void *destination, int64_t destination_length) {
    const ts_host_buffer read = {source_name, (uint8_t *)(uintptr_t)source, source_length},
                         written = {destination_name, destination, destination_length};
    if (!ts_host_buffer_check(err, &read, converter->source_bytes) ||
        !ts_host_buffer_check(err, &written, converter->destination_bytes) ||
        !are_apart(err, &read, &written))
        return false;
    ts_space from = ts_space_around(read.name, read.bytes, read.length),
             to = ts_space_around(written.name, written.bytes, written.length);
    return move(err, converter, &from, &to);
}
