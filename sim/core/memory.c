/* Loads and stores of VMEM and SMEM. */
#include <inttypes.h>
#include <string.h>

#include "state.h"
#include "base/number.h"

enum { ROW_BYTES = TS_LANES * 4 };

static bool term_value(ts_error *err, const ts_core *core, const core_op *op, const core_term *term,
                       int64_t *value) {
    int64_t index = (int32_t)*term->sreg + term->bias;
    int64_t quotient = term->shift >= 0 ? index >> term->shift : ts_floor_div(index, term->divisor);
    if (term->exact && quotient * term->divisor != index) {
        return core_fault(err, core, op,
                          "index %" PRId64 " (s%d) is not on a tile boundary, expected a multiple of %" PRId64
                          ", or stride=1 behind the index",
                          index, (int)(term->sreg - core->sregs), term->divisor);
    }
    if (term->modulus > 0) quotient = ts_floor_mod(quotient, term->modulus);
    *value += quotient * term->multiplier;
    return true;
}

static bool outside(ts_error *err, const ts_core *core, const core_op *op, int64_t address) {
    const core_address *a = op->address;
    int tensor = a->source->tensor;
    return core_fault(err, core, op,
                      "%s touches bytes %" PRId64 " to %" PRId64 ", expected %" PRId64 " to %" PRId64
                      " of %s",
                      ts_opcode_get(op->instruction->opcode)->mnemonic, address + a->low_bytes,
                      address + a->high_bytes - 1, a->tensor_first, a->tensor_end - 1,
                      tensor >= 0 ? core->setup.code->tensors[tensor].name : "the memory");
}

static bool inside(const core_address *a, int64_t address) {
    return address + a->low_bytes >= a->tensor_first && address + a->high_bytes <= a->tensor_end;
}

static bool may_be_read(const ts_core *core, const core_address *a, int64_t address) {
    return a->source->beyond && address >= 0 && address + 4 <= core->setup.smem->capacity_bytes;
}

/* The byte address: of sublane 0 in VMEM, of the word in SMEM. */
bool core_address_find(ts_error *err, const ts_core *core, const core_op *op, int64_t *address) {
    const core_address *a = op->address;
    int64_t word = a->source->word;
    for (int i = 0; i < a->term_count; i++)
        if (!term_value(err, core, op, &a->terms[i], &word)) return false;
    *address = word * 4;
    bool rows = a->high_bytes - a->low_bytes >= ROW_BYTES;
    if (rows && word % TS_LANES != 0) {
        return core_fault(err, core, op,
                          "word address %" PRId64 " is not the start of a row, expected a multiple of %d",
                          word, TS_LANES);
    }
    return inside(a, *address) || may_be_read(core, a, *address) || outside(err, core, op, *address);
}

static bool whole(const core_op *op) {
    const ts_address *source = op->address->source;
    return source->stride == 1 && source->sublane_mask == 0xff && !op->mask;
}

/* The vreg that the rows make; d keeps its words in sublanes that do not take part. */
static void gather_rows(ts_core *core, const core_op *op, int64_t address, uint32_t *d) {
    const ts_address *source = op->address->source;
    for (int i = 0; i < TS_SUBLANES; i++) {
        int64_t row = address + i * source->stride * ROW_BYTES;
        if (source->sublane_mask >> i & 1)
            memcpy(d + i * TS_LANES, ts_space_touch(core->setup.vmem, row, ROW_BYTES), ROW_BYTES);
    }
}

typedef enum { READS, WRITES } access_kind;

/* Told row by row where some between them are not accessed, or words of a store are left out. */
static void tell(const ts_core *core, const core_op *op, const ts_space *space, int64_t address,
                 access_kind kind) {
    const ts_core_ports *ports = core->setup.ports;
    const core_address *a = op->address;
    if (!ports->accessed) return;
    ts_access access = {.instruction = op->instruction,
                        .space = space,
                        .first = address + a->low_bytes,
                        .end = address + a->high_bytes,
                        .writes = kind == WRITES,
                        .cycle = core->now};
    int rows = space == core->setup.vmem ? __builtin_popcount(a->source->sublane_mask) : 0;
    bool masked = kind == WRITES && op->mask && !core->setup.time_only;
    bool apart = rows > 0 && (masked || a->high_bytes - a->low_bytes > rows * ROW_BYTES);
    for (int i = 0; apart && i < TS_SUBLANES; i++) {
        access.first = address + i * a->source->stride * ROW_BYTES;
        access.end = access.first + ROW_BYTES;
        access.mask = masked ? op->mask + i * TS_LANES : NULL;
        if (a->source->sublane_mask >> i & 1) ports->accessed(ports->chip, &access);
    }
    if (!apart) ports->accessed(ports->chip, &access);
}

static void tell_outside(const ts_core *core, const core_op *op, int64_t address) {
    const ts_core_ports *ports = core->setup.ports;
    const core_address *a = op->address;
    ts_outside_read read = {op->instruction, address,       core->setup.code->tensors[a->source->tensor].name,
                            a->tensor_first, a->tensor_end, core->now};
    if (ports->read_outside) ports->read_outside(ports->chip, &read);
}

CORE_FUNCTION(vld) {
    int64_t address;
    if (!core_address_find(err, core, op, &address)) return false;
    tell(core, op, core->setup.vmem, address, READS);
    if (core->setup.time_only) return true;
    if (whole(op)) {
        const void *from = ts_space_touch(core->setup.vmem, address, TS_VREG_BYTES);
        core->copy(op->d, from, NULL, NULL, 0);
    } else if (!op->mask) {
        gather_rows(core, op, address, op->d);
    } else {
        core->copy(core->scratch, op->d, NULL, NULL, 0);
        gather_rows(core, op, address, core->scratch);
        core->select(op->d, op->mask, core->scratch, op->d, 0);
    }
    return true;
}

/* A store becomes visible to loads after its latency. Those that are by now are forgotten. */
static void remember_store(ts_core *core, const core_op *op, const ts_space *space, int64_t address,
                           int key) {
    int64_t latency_cycles = core->setup.config->latency_cycles[key];
    if (latency_cycles <= 1) return;
    int64_t visible = core->now + latency_cycles;
    int64_t first = address + op->address->low_bytes, end = address + op->address->high_bytes;
    for (; core->store_count > 0 && core_store_at(core, 0)->visible <= core->now; core->store_count--)
        core->store_first = core->store_first + 1 < core->store_room ? core->store_first + 1 : 0;
    *core_store_at(core, core->store_count++) = (core_store){space, first, end, visible, TS_STALL_WAIT + key};
    core->stores_visible = visible > core->stores_visible ? visible : core->stores_visible;
}

static void write_row(ts_space *space, int64_t address, const uint32_t *words, const uint32_t *mask) {
    uint32_t *row = (uint32_t *)(void *)ts_space_touch(space, address, ROW_BYTES);
    for (int i = 0; i < TS_LANES; i++) row[i] = (words[i] & mask[i]) | (row[i] & ~mask[i]);
}

static void scatter_rows(ts_core *core, const core_op *op, int64_t address) {
    const ts_address *source = op->address->source;
    for (int i = 0; i < TS_SUBLANES; i++) {
        int64_t row = address + i * source->stride * ROW_BYTES;
        if (!(source->sublane_mask >> i & 1)) continue;
        if (op->mask)
            write_row(core->setup.vmem, row, op->in[0] + i * TS_LANES, op->mask + i * TS_LANES);
        else
            memcpy(ts_space_touch(core->setup.vmem, row, ROW_BYTES), op->in[0] + i * TS_LANES, ROW_BYTES);
    }
}

CORE_FUNCTION(vst) {
    int64_t address;
    if (!core_address_find(err, core, op, &address)) return false;
    tell(core, op, core->setup.vmem, address, WRITES);
    if (core->setup.time_only) {
        remember_store(core, op, core->setup.vmem, address, TS_LATENCY_VECTOR_STORE);
        return true;
    }
    if (whole(op)) {
        void *to = ts_space_touch(core->setup.vmem, address, TS_VREG_BYTES);
        core->copy(to, op->in[0], NULL, NULL, 0);
    } else {
        scatter_rows(core, op, address);
    }
    remember_store(core, op, core->setup.vmem, address, TS_LATENCY_VECTOR_STORE);
    return true;
}

CORE_FUNCTION(sld) {
    int64_t address;
    if (!core_address_find(err, core, op, &address)) return false;
    if (!inside(op->address, address)) tell_outside(core, op, address);
    tell(core, op, core->setup.smem, address, READS);
    memcpy(op->d, ts_space_touch(core->setup.smem, address, 4), 4);
    return true;
}

CORE_FUNCTION(sst) {
    int64_t address;
    if (!core_address_find(err, core, op, &address)) return false;
    tell(core, op, core->setup.smem, address, WRITES);
    void *word = ts_space_touch(core->setup.smem, address, 4);
    if (memcmp(word, op->in[0], 4) != 0) core->seen |= CORE_SMEM_CHANGED;
    memcpy(word, op->in[0], 4);
    remember_store(core, op, core->setup.smem, address, TS_LATENCY_SCALAR_STORE);
    return true;
}
