/* What a chip sends over the links of a mesh, and what comes over them. */
#include "chip/remote.h"

#include <string.h>

#include "base/number.h"
#include "layout/plan.h"
#include "layout/shape.h"
#include "move/move.h"
#include "state.h"

/* ---- Messages ---- */

static ts_chip_message *new_message(ts_chip *chip, int64_t room) {
    ts_arena *arena = ts_arena_new();
    ts_chip_message *message = TS_NEW(arena, ts_chip_message);
    *message = (ts_chip_message){.arena = arena, .room = room, .made = chip->made};
    chip->made = message;
    message->buffer = TS_NEW_ARRAY(arena, uint8_t, room);
    message->memory = ts_space_wrap(arena, "what a message holds", message->buffer, room);
    return message;
}

/* One that came before, where it has room. */
static ts_chip_message *take_message(ts_chip *chip, int64_t room) {
    for (ts_chip_message **link = &chip->spare; *link; link = &(*link)->next) {
        ts_chip_message *found = *link;
        if (found->room < room) continue;
        *link = found->next;
        return found;
    }
    return new_message(chip, room);
}

static void give_message(ts_chip *chip, ts_chip_message *message) {
    message->next = chip->spare;
    chip->spare = message;
}

static ts_core_device const *own_device(const ts_chip *chip) { return chip->config->links->device; }

/* ---- Sending ---- */

/* What the sender knows of other devices goes along. */
static void tell_known(chip_core *by, ts_chip_message *m, int64_t cycle) {
    int64_t count = own_device(by->chip)->count;
    if (!by->arrivals) return;
    if (!m->known) m->known = TS_NEW_ARRAY(m->arena, int64_t, count);
    memcpy(m->known, ts_arrivals_known(by->arrivals, cycle), (size_t)count * sizeof *m->known);
}

/* Of the slice, without what pads it. */
static int64_t slice_bytes(const ts_chip *chip, const ts_slice *slice) {
    return ts_ceil_div(ts_slice_elements(slice) * chip->code->tensors[slice->tensor].shape->element_bits, 8);
}

void chip_send(ts_chip *chip, ts_in_flight *t, const ts_core_start *start, bool values) {
    const ts_chip_links *links = chip->config->links;
    const ts_slice *to = &t->what->destination;
    int64_t bytes = t->what->bytes, held = slice_bytes(chip, &t->what->source);
    ts_chip_message *m = take_message(chip, values ? ts_max(held, bytes) : 0);
    m->source = own_device(chip)->id;
    m->destination = start->device;
    m->bytes = bytes;
    m->transfer = t->transfer;
    m->core = t->core;
    m->semaphore = t->receive;
    m->by = ts_transfer_adds(chip->code, t->what, t->receive);
    m->number = t->number;
    m->issued_cycle = t->issued_cycle;
    m->values = values;
    m->into_hbm = chip->code->tensors[to->tensor].space == TS_SPACE_HBM;
    m->incoming = -1;
    m->from_bits = -1;
    memcpy(m->source_begin, start->source_begin, (size_t)t->what->source.rank * sizeof *m->source_begin);
    memcpy(m->begin, start->destination_begin, (size_t)to->rank * sizeof *m->begin);
    t->message = m;
    tell_known(&chip->cores[t->core], m, start->cycle);
    chip->has_message = true;
    links->send(links->self, m, t->begun_cycle);
}

/* Where the slice is one run of bits, a message holds them as they lie, from m->from_bits on. NULL: it is
 * not, or on an error. */
static const ts_plan *plan_run(ts_error *err, const ts_chip *chip, ts_chip_message *m,
                               const ts_plan_side *tensor) {
    const ts_slice *slice = &chip->code->transfers[m->transfer].source;
    const ts_plan *same = ts_plan_new(err, chip->scratch, tensor, tensor, slice->rank, slice->size);
    ts_plan_box box = {0};
    if (same && same->box_count == 1) ts_plan_get_box(same, 0, &box);
    int bits = tensor->shape->element_bits;
    if (box.loop_count != 1 || box.loops[0].src_bits != bits || box.src_bits % 8 != 0 ||
        box.elements * bits > m->room * 8)
        return NULL;
    ts_plan *shifted = TS_NEW(chip->scratch, ts_plan);
    *shifted = *same;
    m->from_bits = box.src_bits;
    ts_plan_shift(shifted, 0, -m->from_bits);
    return shifted;
}

/* Elsewhere the elements, row-major, in the destination's type. */
static const ts_plan *plan_into(ts_error *err, const ts_chip *chip, ts_chip_message *m) {
    const ts_transfer *what = &chip->code->transfers[m->transfer];
    const ts_slice *slice = &what->source;
    ts_dtype dtype = chip->code->tensors[what->destination.tensor].shape->dtype;
    ts_plan_side tensor = chip_side(chip, slice, m->source_begin), rows = {0};
    ts_arena_reset(chip->scratch);
    const ts_plan *run = plan_run(err, chip, m, &tensor);
    if (run) return run;
    rows.shape = ts_shape_row_major(err, chip->scratch, dtype, slice->rank, slice->size);
    return rows.shape ? ts_plan_new(err, chip->scratch, &tensor, &rows, slice->rank, slice->size) : NULL;
}

static const ts_plan *plan_out(ts_error *err, const ts_chip *chip, const ts_chip_message *m) {
    const ts_transfer *what = &chip->code->transfers[m->transfer];
    const ts_slice *slice = &what->destination;
    ts_plan_side tensor = chip_side(chip, slice, m->begin), held = {0};
    ts_arena_reset(chip->scratch);
    if (m->from_bits >= 0) {
        held = chip_side(chip, &what->source, m->source_begin);
        held.base_bits -= m->from_bits;
        return chip_plan(err, chip->scratch, what, &held, &tensor);
    }
    held.shape = ts_shape_row_major(err, chip->scratch, tensor.shape->dtype, slice->rank, slice->size);
    return held.shape ? ts_plan_new(err, chip->scratch, &held, &tensor, slice->rank, slice->size) : NULL;
}

static ts_space *space_of(ts_chip *chip, const ts_chip_message *m, const ts_slice *slice) {
    return chip->cores[m->core].spaces[chip->code->tensors[slice->tensor].space];
}

/* All devices do the same, about at once. */
static bool move_values(ts_error *err, const ts_chip *chip, const ts_plan *plan, ts_space *from,
                        ts_space *to) {
    const ts_move_options how = {.kernels = ts_kernels_best(), .alike = own_device(chip)->count};
    return plan && ts_dma_move_with(err, plan, from, to, &how);
}

bool chip_read(ts_error *err, ts_chip *chip, ts_in_flight *t, int64_t cycle) {
    const ts_chip_links *links = chip->config->links;
    ts_chip_message *m = t->message;
    bool good = true;
    if (m->values) {
        ts_space *from = space_of(chip, m, &t->what->source);
        if (from->shadow && !m->memory->shadow) ts_space_track(m->memory, m->arena);
        if (from->shadow) ts_space_mark_poison(m->memory, 0, m->room * 8);
        good = move_values(err, chip, plan_into(err, chip, m), from, m->memory);
    }
    t->message = NULL;
    chip->has_message = true;
    links->read(links->self, m, cycle);
    return good;
}

void ts_chip_sent(ts_chip *chip, int64_t number, int64_t cycle) {
    ts_in_flight *t = chip->active;
    while (t->number != number) t = t->younger;
    if (chip->observer && chip->observer->sent) chip->observer->sent(chip->observer->self, t, cycle);
    chip_settle(chip, t, cycle);
}

void chip_signal(void *self, const ts_core_signal *signal) {
    chip_core *by = self;
    ts_chip *chip = by->chip;
    const ts_chip_links *links = chip->config->links;
    ts_chip_message *m = take_message(chip, 0);
    m->source = own_device(chip)->id;
    m->destination = signal->device;
    m->bytes = 0;
    m->transfer = -1;
    m->core = (int)(by - chip->cores);
    m->semaphore = signal->semaphore;
    m->by = signal->by;
    m->instruction = signal->instruction;
    m->issued_cycle = signal->cycle;
    m->values = m->into_hbm = false;
    tell_known(by, m, signal->cycle);
    chip->has_message = true;
    links->send(links->self, m, signal->cycle);
}

/* ---- Receiving ---- */

static bool write_values(ts_error *err, ts_chip *chip, const ts_chip_message *m) {
    const ts_transfer *what = &chip->code->transfers[m->transfer];
    return move_values(err, chip, plan_out(err, chip, m), m->memory, space_of(chip, m, &what->destination));
}

/* For the sanitizer: what comes is not waited for yet. */
static bool check_arrival(ts_error *err, ts_chip *chip, const ts_chip_message *m, int64_t cycle) {
    ts_arrivals *arrivals = chip->cores[m->core].arrivals;
    if (!arrivals) return true;
    const ts_transfer *what = m->transfer >= 0 ? &chip->code->transfers[m->transfer] : NULL;
    ts_arrival arrival = {.what = what,
                          .plan = what ? plan_out(err, chip, m) : NULL,
                          .source = m->source,
                          .cycle = cycle,
                          .semaphore = m->semaphore,
                          .by = m->by,
                          .known = m->known};
    if (what && !arrival.plan) return false;
    ts_arrivals_come(arrivals, &arrival);
    return true;
}

static void account(ts_chip *chip, const ts_chip_message *m) {
    ts_semaphore_account *a = &chip->cores[m->core].accounts[m->semaphore];
    if (m->transfer >= 0)
        ts_left_send(a, &chip->code->transfers[m->transfer], m->by);
    else
        ts_left_change(a, m->instruction, m->by);
}

/* The plan by which the sender reads: the bytes come in its order. */
static const ts_plan *plan_whole(ts_error *err, const ts_chip *chip, ts_chip_message *m) {
    const ts_transfer *what = &chip->code->transfers[m->transfer];
    ts_plan_side from = chip_side(chip, &what->source, m->source_begin),
                 to = chip_side(chip, &what->destination, m->begin);
    if (!m->plan_arena) m->plan_arena = ts_arena_new();
    ts_arena_reset(m->plan_arena);
    return chip_plan(err, m->plan_arena, what, &from, &to);
}

static bool fault(ts_error *err, const ts_chip *chip, const ts_chip_message *m, int64_t cycle) {
    const ts_transfer *what = m->transfer >= 0 ? &chip->code->transfers[m->transfer] : NULL;
    return chip_fault_at(err, cycle, what ? what->source_text : NULL, what ? what->line : 0,
                         what ? what->column : 0);
}

bool ts_chip_feed(ts_error *err, ts_chip *chip, ts_chip_message *m, const ts_dma_chunk *chunk) {
    if (m->incoming < 0) {
        traffic_arrival what = {.arena = &m->plan_arena, .owner = m, .layouts = m->transfer};
        what.plan = plan_whole(err, chip, m);
        if (!what.plan || !traffic_expect(err, chip->traffic, &what, &m->incoming))
            return fault(err, chip, m, chunk->cycle);
    }
    traffic_feed(chip->traffic, m->incoming, *chunk);
    chip->quiet_until = 0;
    return true;
}

bool chip_arrive(ts_error *err, ts_chip *chip, const ts_dma_result *written) {
    ts_chip_message *m = written->incoming;
    ts_chip_transfers *of = &chip->transfers[m->transfer];
    chip->counters.hbm_written_bytes += written->dst_bytes;
    chip->counters.rmw_lines += written->rmw_lines;
    of->hbm_bytes += written->dst_bytes;
    of->moved_bytes += written->dst_bytes;
    return ts_chip_receive(err, chip, m, written->completed_cycle);
}

/* As of a transfer of the chip itself. */
static void tell_moved(const ts_chip *chip, ts_chip_message *m, int64_t cycle) {
    const ts_chip_observer *o = chip->observer;
    if (!o || !o->moved || m->transfer < 0) return;
    const ts_transfer *what = &chip->code->transfers[m->transfer];
    ts_space_kind kind = chip->code->tensors[what->destination.tensor].space;
    const ts_in_flight came = {.what = what,
                               .transfer = m->transfer,
                               .core = m->core,
                               .plan = plan_whole(NULL, chip, m),
                               .message = m,
                               .dst = chip->cores[m->core].spaces[kind],
                               .done_cycle = cycle};
    if (came.plan) o->moved(o->self, &came);
}

bool ts_chip_receive(ts_error *err, ts_chip *chip, ts_chip_message *m, int64_t cycle) {
    const ts_chip_links *links = chip->config->links;
    links->received(links->self, m, cycle);
    tell_moved(chip, m, cycle);
    bool good = (!m->values || write_values(err, chip, m)) && check_arrival(err, chip, m, cycle);
    account(chip, m);
    ts_core_signal_from_outside(chip->cores[m->core].core, m->semaphore, m->by, cycle);
    chip->last_done = ts_max(chip->last_done, cycle);
    good = good || fault(err, chip, m, cycle);
    give_message(chip, m);
    return good;
}
