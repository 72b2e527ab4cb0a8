/* What traffic costs that keeps its order: so many bytes read and written, in one transfer. Prices are made
 * at powers of two, and those between are interpolated, so that a module of many sizes needs few. */
#include "audit_private.h"
#include "base/number.h"
#include "study/extend.h"

enum {
    LINE_ELEMENTS = 1024, /* of what is priced: f32[n]{0:T(1024)} */
    WORD = 4,
    /* The sides are this far apart beyond a multiple of ALIGN, whatever their size: where buffers really lie,
     * only the allocator knows, and on the machines that are shipped a copy takes there what it takes at most
     * places, within 3 % on average. A power of two, as 512 KiB, leads both streams through the same
     * banks. */
    APART_BYTES = 640 << 10,
    ALIGN_BYTES = 16 << 20,
    LEAST_BYTES = LINE_ELEMENTS * WORD,
};
static const int64_t most_bytes = INT64_C(1) << 50;

void audit_prices_init(audit_prices *prices, ts_arena *arena, const ts_audit_request *request) {
    *prices = (audit_prices){.arena = arena,
                             .scratch = ts_arena_new(),
                             .request = request,
                             .machine = request->machine,
                             .prices = ts_prices_new(arena)};
    ts_prices_set_interrupt(prices->prices, request->interrupt);
}

/* XLA's numbers of memories whose machines do not state them: seen in modules of v5e and v6e. */
static const ts_machine_memory *find_space(const ts_machine *machine, int space) {
    enum { SMEM = 6 };
    const ts_machine_memory *memory = space >= 0 ? ts_machine_find_space(machine, space) : NULL;
    return memory || space != SMEM ? memory : machine->spaces[TS_SPACE_SMEM];
}

/* Why nothing is known of transfers to and from it; NULL: it is a memory of the machine. */
static const char *why_no_space(const ts_machine *machine, int space) {
    enum { FLAGS = 2, HOST = 5, SPARSE_FLAGS = 8 };
    if (find_space(machine, space)) return NULL;
    return space == HOST                             ? "transfers to and from the host are not modelled"
           : space == FLAGS || space == SPARSE_FLAGS ? "transfers of flags are not modelled"
                                                     : "the machine has no such memory space";
}

bool audit_is_hbm(const ts_machine *machine, int space) {
    const ts_machine_memory *memory = find_space(machine, space);
    return memory && memory->kind == TS_SPACE_HBM;
}

int64_t audit_address_behind(int64_t bytes) { return ts_round_up(bytes, ALIGN_BYTES) + APART_BYTES; }

/* A transfer in order of `bytes`; the sides lie one behind the other where they share a memory. -1: not
 * modelled. */
static int64_t price_line(audit_prices *p, int from, int to, int64_t bytes) {
    int64_t elements = ts_round_up(ts_ceil_div(bytes, WORD), LINE_ELEMENTS);
    ts_arena *arena = ts_arena_new(); /* the scratch is a caller's */
    const ts_shape *shape = ts_shape_row_major(NULL, arena, TS_DTYPE_F32, 1, &elements);
    ts_plan_side src = {.shape = shape}, dst = {.shape = shape};
    if (from == to) dst.base_bits = audit_address_behind(elements * WORD) * 8;
    const ts_plan *plan = shape ? ts_plan_new(NULL, arena, &src, &dst, 1, &elements) : NULL;
    ts_dma_machine machine = ts_prices_machine(p->prices, p->machine);
    ts_dma_price_request request = {.machine = &machine,
                                    .plan = plan,
                                    .src = {.in_hbm = audit_is_hbm(p->machine, from)},
                                    .dst = {.in_hbm = audit_is_hbm(p->machine, to)},
                                    .exact = p->request->exact};
    ts_dma_cost cost;
    ts_error err = {0};
    bool good = plan && ts_dma_price(&err, arena, &request, &cost);
    ts_arena_free(arena);
    ts_error_keep_system(&p->failure, &err);
    return good ? cost.cycles : -1;
}

/* No memory gives or takes more than its peak, whatever is moved: a price that says so is this one. */
static int64_t least_cycles(const audit_prices *p, const audit_traffic *t) {
    int64_t khz = p->machine->chip.sustained_khz, most = ts_max(t->read, t->written);
    int64_t bytes[2] = {0, 0}; /* of HBM and VMEM */
    for (int k = 0; k < 2; k++) {
        const ts_machine_memory *memory = find_space(p->machine, k == 0 ? t->from : t->to);
        int64_t side = k == 0 ? t->read : t->written;
        if (memory && memory->kind == TS_SPACE_HBM) bytes[0] += side;
        if (memory && memory->kind == TS_SPACE_VMEM) bytes[1] += side;
    }
    ts_dma_machine machine = ts_dma_machine_of(p->machine, NULL);
    int64_t engine = p->machine->dma.bytes_per_cycle[TS_DMA_COPY];
    ts_dma_result moved = {.engine_cycles = engine > 0 ? ts_ceil_div(most, engine) : 0};
    int64_t least = ts_dma_least_cycles(&machine, &moved, bytes[0]);
    int64_t rate = ts_machine_vmem_rate(p->machine, khz);
    __int128 vmem = rate > 0 ? (__int128)bytes[1] * khz * 1000 / rate : 0;
    return vmem > least ? (int64_t)vmem : least;
}

void audit_bound(const audit_prices *p, const audit_traffic *traffic, audit_price *price) {
    if (!price->known) return;
    int64_t least = least_cycles(p, traffic);
    if (price->cycles < least) price->cycles = least;
}

/* Traffic that loads the HBM alike: reads and writes there are one stream, half each. */
static int64_t key_of(const audit_prices *p, const audit_traffic *t) {
    int64_t read = t->read, written = t->written;
    bool from_hbm = audit_is_hbm(p->machine, t->from), to_hbm = audit_is_hbm(p->machine, t->to);
    if (from_hbm && to_hbm) return read / 2 + written / 2 + (read % 2 + written % 2) / 2;
    if (from_hbm) return read;
    return to_hbm ? written : read > written ? read : written;
}

audit_price audit_prices_line(audit_prices *p, const audit_traffic *t) {
    int from = t->from, to = t->to;
    int64_t key = key_of(p, t), low = LEAST_BYTES, high = LEAST_BYTES;
    const char *why = why_no_space(p->machine, from);
    if (!why) why = why_no_space(p->machine, to);
    if (why) return (audit_price){.why_not = why};
    if (key == 0) return (audit_price){.known = true};
    while (high < key && high < most_bytes && !p->request->exact) low = high, high *= 2;
    if (p->request->exact) low = high = key;
    int64_t a = key <= most_bytes ? price_line(p, from, to, low) : -1, b = a;
    if (a >= 0 && high > low) b = price_line(p, from, to, high);
    if (a < 0 || b < 0) return (audit_price){.why_not = "the transfer is not modelled"};
    if (high > low) a = ts_extend(&(ts_extension){{low, high}, {a, b}}, key);
    audit_price price = {.known = true, .cycles = a};
    audit_bound(p, t, &price);
    return price;
}
