/* What traffic costs that keeps its order: so many bytes read and written, in one transfer. Prices are made
 * at powers of two, and those between are interpolated, so that a module of many sizes needs few. */
#include <string.h>

#include "audit_private.h"
#include "tilesim/base/number.h"

enum {
    LINE_ELEMENTS = 1024, /* of what is priced: f32[n]{0:T(1024)} */
    WORD = 4,
    /* The sides are this far apart beyond a multiple of ALIGN, whatever their size, so that the streams do
     * not follow each other through the same banks; where buffers really lie, only the allocator knows. */
    APART_BYTES = 512 << 10,
    ALIGN_BYTES = 16 << 20,
    LEAST_BYTES = LINE_ELEMENTS * WORD,
};
static const int64_t most_bytes = INT64_C(1) << 50;

void audit_prices_init(audit_prices *prices, ts_arena *arena, const ts_audit_request *request) {
    *prices = (audit_prices){.arena = arena,
                             .scratch = ts_arena_new(),
                             .request = request,
                             .machine = request->machine,
                             .programs = ts_core_programs_new(arena)};
}

bool audit_is_hbm(const ts_machine *machine, int space) {
    const ts_machine_memory *memory = ts_machine_find_space(machine, space);
    return memory && strcmp(memory->name, "hbm") == 0;
}

int64_t audit_place(int64_t bytes) { return ts_round_up(bytes, ALIGN_BYTES) + APART_BYTES; }

/* A transfer in order of `bytes`; the sides lie one behind the other where they share a memory. -1: not
 * modelled. */
static int64_t price_line(audit_prices *p, int from, int to, int64_t bytes) {
    int64_t elements = ts_round_up(ts_ceil_div(bytes, WORD), LINE_ELEMENTS);
    ts_arena *arena = ts_arena_new(); /* the scratch is a caller's */
    const ts_shape *shape = ts_shape_row_major(NULL, arena, TS_DTYPE_F32, 1, &elements);
    ts_plan_side src = {.shape = shape}, dst = {.shape = shape};
    if (from == to) dst.base_bits = audit_place(elements * WORD) * 8;
    const ts_plan *plan = shape ? ts_plan_new(NULL, arena, &src, &dst, 1, &elements) : NULL;
    ts_dma_machine machine = ts_dma_machine_of(p->machine, NULL);
    ts_dma_cost cost;
    bool good = plan && ts_dma_price(NULL, arena, &machine, plan,
                                     (ts_dma_end){.in_hbm = audit_is_hbm(p->machine, from)},
                                     (ts_dma_end){.in_hbm = audit_is_hbm(p->machine, to)}, false, &cost);
    ts_arena_free(arena);
    return good ? cost.cycles : -1;
}

/* Of a power of two. */
static int64_t point(audit_prices *p, int from, int to, int64_t bytes) {
    for (int i = 0; i < p->point_count; i++) {
        const struct audit_point *known = &p->points[i];
        if (known->bytes == bytes && known->from == from && known->to == to) return known->cycles;
    }
    int64_t cycles = price_line(p, from, to, bytes);
    if (p->point_count < AUDIT_POINTS)
        p->points[p->point_count++] = (struct audit_point){bytes, cycles, from, to};
    return cycles;
}

/* Traffic that loads the HBM alike: reads and writes there are one stream, half each. */
static int64_t key_of(const audit_prices *p, int from, int to, int64_t read, int64_t written) {
    bool from_hbm = audit_is_hbm(p->machine, from), to_hbm = audit_is_hbm(p->machine, to);
    if (from_hbm && to_hbm) return read / 2 + written / 2 + (read % 2 + written % 2) / 2;
    if (from_hbm) return read;
    return to_hbm ? written : read > written ? read : written;
}

audit_price audit_prices_line(audit_prices *p, int from, int to, int64_t read, int64_t written) {
    int64_t key = key_of(p, from, to, read, written), low = LEAST_BYTES, high = LEAST_BYTES;
    if (!ts_machine_find_space(p->machine, from) || !ts_machine_find_space(p->machine, to))
        return (audit_price){.why_not = "the machine has no such memory space"};
    if (key == 0) return (audit_price){.known = true};
    while (high < key && high < most_bytes) low = high, high *= 2;
    int64_t a = key <= most_bytes ? point(p, from, to, low) : -1, b = a;
    if (a >= 0 && high > low) b = point(p, from, to, high);
    if (a < 0 || b < 0) return (audit_price){.why_not = "the transfer is not modelled"};
    if (high > low) a += (int64_t)((__int128)(b - a) * (key - low) / (high - low));
    return (audit_price){.known = true, .cycles = a};
}
