/* Pricing one transfer on a machine. */
#include "tilesim/study/transfer.h"

#include <string.h>

#include "tilesim/base/number.h"

double ts_machine_microseconds(const ts_machine *machine, int64_t cycles) {
    return (double)cycles * 1000.0 / (double)machine->chip.sustained_khz;
}

static const ts_machine_memory *memory_of(ts_error *err, const ts_machine *machine, const ts_shape *shape) {
    for (int i = 0; i < machine->memory_count; i++) {
        if (machine->memories[i].xla_space == shape->memory_space) return &machine->memories[i];
    }
    ts_error_set(err, TS_ERROR_INPUT, "%s has no memory space S(%d)", machine->name, shape->memory_space);
    return NULL;
}

static bool same_dims(ts_error *err, ts_arena *arena, const ts_shape *src, const ts_shape *dst) {
    if (!src->layout || !dst->layout)
        return ts_error_set(err, TS_ERROR_INPUT, "a shape without layout cannot be moved");
    const ts_layout *a = src->layout, *b = dst->layout;
    if (a->rank == b->rank && memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0) return true;
    ts_text text;
    ts_text_init(&text, arena);
    ts_shape_print(src, &text);
    ts_text_add(&text, " and ");
    ts_shape_print(dst, &text);
    return ts_error_set(err, TS_ERROR_INPUT, "%s have different dimensions, expected the same", text.bytes);
}

/* Where a side lies: its axis bits are kept in the arena. */
static bool place(ts_error *err, ts_arena *arena, const ts_machine_memory *memory, const ts_shape *shape,
                  int64_t at, ts_plan_side *side) {
    int64_t *bits = TS_NEW_ARRAY(arena, int64_t, TS_LAYOUT_MAX_AXES);
    const ts_space *space = ts_space_of_machine(err, arena, memory, false);
    if (!ts_space_place(err, space, shape, at, bits)) return false;
    *side = (ts_plan_side){shape, NULL, bits, at * 8};
    return true;
}

static int64_t end_of(const ts_shape *shape, const ts_machine_memory *memory) {
    int64_t bytes = shape->storage_bytes > shape->bytes ? shape->storage_bytes : shape->bytes;
    return ts_round_up(bytes, memory->align_bytes);
}

static ts_dma_end end_in(const ts_space *space, const ts_machine_memory *memory) {
    return (ts_dma_end){.in_hbm = strcmp(memory->name, "hbm") == 0,
                        .partition_bits = ts_space_partition_bits(space)};
}

bool ts_transfer_price(ts_error *err, ts_arena *arena, const ts_machine *machine, const ts_shape *src,
                       const ts_shape *dst, int64_t src_at, int64_t dst_at, bool exact,
                       ts_transfer_study *study) {
    *study = (ts_transfer_study){.machine = machine, .src = src, .dst = dst};
    if (!same_dims(err, arena, src, dst)) return false;
    study->src_memory = memory_of(err, machine, src);
    study->dst_memory = memory_of(err, machine, dst);
    if (!study->src_memory || !study->dst_memory) return false;
    bool shared = study->src_memory == study->dst_memory;
    study->src_at = src_at >= 0 ? src_at : 0;
    study->dst_at = dst_at >= 0 ? dst_at : shared ? study->src_at + end_of(src, study->src_memory) : 0;
    ts_plan_side from, to;
    if (!place(err, arena, study->src_memory, src, study->src_at, &from) ||
        !place(err, arena, study->dst_memory, dst, study->dst_at, &to)) {
        return false;
    }
    study->plan = ts_plan_new(err, arena, &from, &to, src->layout->rank, src->layout->dims);
    if (!study->plan) return false;
    const ts_space *a = ts_space_of_machine(err, arena, study->src_memory, false);
    const ts_space *b = shared ? a : ts_space_of_machine(err, arena, study->dst_memory, false);
    ts_dma_machine memory = {&machine->dma, &machine->hbm, machine->chip.sustained_khz};
    return ts_dma_check(err, study->plan, a, b) &&
           ts_dma_price(err, arena, &memory, study->plan, end_in(a, study->src_memory),
                        end_in(b, study->dst_memory), exact, &study->cost);
}
