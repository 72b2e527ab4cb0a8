/* What moves of an audit cost. A compiler's copy reads its source once and writes its destination once, in
 * whole tiles, and reorders in VMEM while the next tiles arrive: measured relayouts run as fast as copies of
 * as many bytes (TPU v5p, f32[128,32000] between {1,0} and {0,1}: 86 % of the HBM's peak). So a move is
 * priced as a transfer in order, with the bytes that it reads and writes; what the DMA engine would take to
 * reorder by itself is `tilesim dma`'s to say. */
#include <string.h>

#include "audit_private.h"
#include "tilesim/base/number.h"
#include "tilesim/dma/price.h"
#include "tilesim/study/transfer.h"

enum {
    LINE_ELEMENTS = 1024, /* of what is priced: f32[n]{0:T(1024)} */
    WORD = 4,
    /* The sides are this far apart beyond a multiple of ALIGN, whatever their size, so that the streams do
     * not follow each other through the same banks; where buffers really lie, only the allocator knows. */
    APART_BYTES = 512 << 10,
    ALIGN_BYTES = 16 << 20,
};

void audit_prices_init(audit_prices *prices, ts_arena *arena, const ts_machine *machine) {
    *prices = (audit_prices){.arena = arena, .scratch = ts_arena_new(), .machine = machine};
}

static const ts_machine_memory *memory_of(const ts_machine *machine, int space) {
    for (int i = 0; i < machine->memory_count; i++)
        if (machine->memories[i].xla_space == space) return &machine->memories[i];
    return NULL;
}

static bool is_hbm(const ts_machine *machine, int space) {
    const ts_machine_memory *memory = memory_of(machine, space);
    return memory && strcmp(memory->name, "hbm") == 0;
}

/* A transfer in order of `bytes`; the sides lie one behind the other where they share a memory. */
static bool price_line(audit_prices *p, struct audit_price *price) {
    ts_arena *arena = p->scratch;
    int64_t elements = ts_round_up(ts_ceil_div(price->key_bytes, WORD), LINE_ELEMENTS);
    const ts_shape *shape = ts_shape_row_major(NULL, arena, TS_DTYPE_F32, 1, &elements);
    if (!shape) return false;
    bool from_hbm = is_hbm(p->machine, price->src_space), to_hbm = is_hbm(p->machine, price->dst_space);
    ts_plan_side src = {.shape = shape}, dst = {.shape = shape};
    if (price->src_space == price->dst_space)
        dst.base_bits = (ts_round_up(elements * WORD, ALIGN_BYTES) + APART_BYTES) * 8;
    const ts_plan *plan = ts_plan_new(NULL, arena, &src, &dst, 1, &elements);
    ts_dma_machine machine = {&p->machine->dma, &p->machine->hbm, p->machine->chip.sustained_khz};
    ts_dma_cost cost;
    if (!plan || !ts_dma_price(NULL, arena, &machine, plan, (ts_dma_end){.in_hbm = from_hbm},
                               (ts_dma_end){.in_hbm = to_hbm}, false, &cost))
        return false;
    price->cycles = cost.cycles;
    return true;
}

/* Traffic that loads the HBM alike: reads and writes there are one stream, half each. */
static int64_t key_of(const audit_prices *p, int src_space, int dst_space, int64_t read, int64_t written) {
    bool from_hbm = is_hbm(p->machine, src_space), to_hbm = is_hbm(p->machine, dst_space);
    if (from_hbm && to_hbm) return read / 2 + written / 2 + (read % 2 + written % 2) / 2;
    if (from_hbm) return read;
    return to_hbm ? written : read > written ? read : written;
}

const struct audit_price *audit_prices_get(audit_prices *p, int src_space, int dst_space, int64_t read,
                                           int64_t written) {
    int64_t key = key_of(p, src_space, dst_space, read, written);
    for (int i = 0; i < p->count; i++) {
        struct audit_price *known = &p->prices[i];
        if (known->key_bytes == key && known->src_space == src_space && known->dst_space == dst_space)
            return known;
    }
    if (p->count == p->capacity) {
        int capacity = p->capacity ? 2 * p->capacity : 64;
        p->prices = ts_arena_grow(p->arena, p->prices, (size_t)p->count, (size_t)capacity, sizeof *p->prices);
        p->capacity = capacity;
    }
    struct audit_price *price = &p->prices[p->count++];
    *price = (struct audit_price){.key_bytes = key, .src_space = src_space, .dst_space = dst_space};
    if (!memory_of(p->machine, src_space) || !memory_of(p->machine, dst_space)) {
        price->why_not = "the machine has no such memory space";
    } else if (key == 0) {
        price->known = true;
    } else {
        price->known = price_line(p, price);
        if (!price->known) price->why_not = "the transfer is not modelled";
        ts_arena_reset(p->scratch);
    }
    return price;
}
