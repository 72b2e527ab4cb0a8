/* What it costs to move an array from one layout to another: by the plan between the two, as the DMA engine
 * does it, or a shipped program of the core where the engine cannot, or where that is faster. A change of
 * type and order may also be made in two passes. The largest are priced so; of the others each costs so many
 * times what its traffic costs in order as the nearest one of its kind that was priced. */
#include <string.h>

#include "audit_private.h"
#include "base/number.h"
#include "layout/notation/tpu_rule.h"
#include "layout/notation/xla.h"

/* Which were priced by their plans: the largest, and at least one of each kind while there is room. */
enum { LARGEST = 12 };

typedef struct {
    const ts_shape *src, *dst;
    int from, to; /* memory spaces */
} relayout;

/* ---- Shapes ---- */

const ts_shape *audit_permuted(ts_arena *arena, const ts_shape *shape, const int8_t *permutation) {
    ts_xla_layout f = *shape->xla;
    int64_t *dims = TS_NEW_ARRAY(arena, int64_t, f.rank + 1);
    int *order = TS_NEW_ARRAY(arena, int, f.rank + 1);
    int where[TS_AUDIT_PERMUTED];
    for (int i = 0; i < f.rank; i++) {
        dims[i] = f.dims[permutation[i]];
        where[permutation[i]] = i;
    }
    for (int i = 0; i < f.rank; i++) order[i] = where[ts_xla_dim_at(&f, i)];
    f.dims = dims;
    f.minor_to_major = order;
    f.layout_written = true;
    return ts_xla_shape(NULL, arena, shape->dtype, &f);
}

static bool same_dims(const ts_shape *a, const ts_shape *b) {
    return ts_integers_equal(a->xla->dims, a->xla->rank, b->xla->dims, b->xla->rank);
}

static const ts_shape *parse(ts_arena *arena, const char *text) {
    const ts_shape *shape = audit_parse(NULL, arena, text, strlen(text));
    return shape && shape->xla && shape->layout && shape->bytes > 0 ? shape : NULL;
}

static bool read_relayout(audit_prices *p, const audit_wanted *w, relayout *r) {
    *r = (relayout){parse(p->scratch, w->src), parse(p->scratch, w->dst), w->traffic.from, w->traffic.to};
    if (!r->src || !r->dst) return false;
    if (w->permutation && r->src->xla->rank != r->dst->xla->rank) return false;
    if (w->permutation) r->src = audit_permuted(p->scratch, r->src, w->permutation);
    return r->src && same_dims(r->src, r->dst);
}

/* ---- Ways ---- */

typedef struct {
    int64_t cycles;
    const char *by; /* a program, or NULL: the engine */
} way;

/* It becomes the best where it takes less; what surely takes more is not priced to its end. */
static void try_machine(audit_prices *p, const ts_machine *machine, const ts_plan *plan, const relayout *r,
                        way *best) {
    ts_dma_cost cost;
    ts_core_program by;
    ts_dma_end src = {.in_hbm = audit_is_hbm(machine, r->from)},
               dst = {.in_hbm = audit_is_hbm(machine, r->to)};
    ts_error err = {0};
    ts_plan_price_request request = {
        machine, p->prices, plan, src, dst, p->request->exact, ts_max(best->cycles, 0)};
    bool good = ts_plan_price(&err, p->scratch, &request, &cost, &by);
    ts_error_keep_system(&p->failure, &err);
    if (good && !cost.is_over && (best->cycles < 0 || cost.cycles < best->cycles))
        *best = (way){cost.cycles, by.program};
}

/* One pass: the engine, or a program that does its kind. cycles -1: neither. */
static way one_pass(audit_prices *p, const relayout *r) {
    way best = {-1, NULL};
    ts_plan_side src = {.shape = r->src}, dst = {.shape = r->dst};
    if (r->from == r->to) dst.base_bits = audit_address_behind(r->src->bytes) * 8;
    const ts_plan *plan = ts_plan_new(NULL, p->scratch, &src, &dst, r->src->xla->rank, r->src->xla->dims);
    if (!plan) return best;
    try_machine(p, p->machine, plan, r, &best);
    ts_dma_kind kind = ts_dma_classify(plan);
    if (kind == TS_DMA_COPY || p->machine->dma.bytes_per_cycle[kind] == 0) return best;
    ts_machine *without = TS_NEW(p->scratch, ts_machine);
    *without = *p->machine;
    without->dma.bytes_per_cycle[kind] = 0;
    way program = best;
    try_machine(p, without, plan, r, &program);
    return program.by ? program : best;
}

/* First the type, in the source's order, then the order. */
static void try_two_passes(audit_prices *p, const relayout *r, way *best) {
    const ts_shape *between =
        ts_tpu_tiled(NULL, p->scratch, r->dst->dtype, r->src->xla, p->machine->chip.generation, TS_TPU_ENTRY);
    if (!between || !same_dims(between, r->src)) return;
    way first = one_pass(p, &(relayout){r->src, between, r->from, r->from});
    if (first.cycles < 0 || (best->cycles >= 0 && first.cycles >= best->cycles)) return;
    way second = one_pass(p, &(relayout){between, r->dst, r->from, r->to});
    if (second.cycles < 0) return;
    int64_t cycles = first.cycles + second.cycles;
    if (best->cycles < 0 || cycles < best->cycles) *best = (way){cycles, "two passes: type, then order"};
}

/* ---- Those that are priced, and the others ---- */

static const struct audit_exact *find_exact(const audit_prices *p, uint64_t key) {
    for (int i = 0; i < p->exact_count; i++)
        if (p->exact[i].key == key) return &p->exact[i];
    return NULL;
}

/* Other orders of dims are far. */
static double distance(const struct audit_exact *e, uint64_t orders, int64_t bytes) {
    double far = e->orders == orders ? 1 : 16;
    return far * (e->bytes < bytes ? (double)bytes / (double)e->bytes : (double)e->bytes / (double)bytes);
}

static const struct audit_exact *find_nearest(const audit_prices *p, uint64_t kind, uint64_t orders,
                                              int64_t bytes) {
    const struct audit_exact *best = NULL;
    for (int i = 0; i < p->exact_count; i++) {
        const struct audit_exact *e = &p->exact[i];
        if (e->kind != kind || e->cycles < 0) continue;
        if (!best || distance(e, orders, bytes) < distance(best, orders, bytes)) best = e;
    }
    return best;
}

/* Minor to major, of both. */
static uint64_t orders_of(const relayout *r) {
    const ts_shape *sides[2] = {r->src, r->dst};
    int8_t orders[2 * TS_LAYOUT_MAX_DIMS];
    int count = 0;
    for (int k = 0; k < 2; k++) {
        const ts_xla_layout *f = sides[k]->xla;
        for (int i = 0; i < f->rank; i++) orders[count++] = (int8_t)ts_xla_dim_at(f, i);
    }
    return audit_hash((const char *)orders, (size_t)count);
}

/* Is the minor dim another? Dims of 1 are nowhere. */
static bool transposes(const relayout *r) {
    int minor[2] = {-1, -1};
    const ts_shape *sides[2] = {r->src, r->dst};
    for (int k = 0; k < 2; k++) {
        const ts_xla_layout *f = sides[k]->xla;
        for (int i = f->rank - 1; i >= 0; i--) {
            int dim = ts_xla_dim_at(f, i);
            if (f->dims[dim] > 1) minor[k] = dim;
        }
    }
    return minor[0] != minor[1];
}

/* What makes moves alike: types, spaces, and what is done. */
static uint64_t kind_of(const audit_wanted *w, const relayout *r) {
    uint64_t parts[] = {r->src->dtype,
                        r->dst->dtype,
                        (uint64_t)(int64_t)w->traffic.from,
                        (uint64_t)(int64_t)w->traffic.to,
                        w->changes & (TS_AUDIT_TYPE | TS_AUDIT_ORDER | TS_AUDIT_TILE),
                        transposes(r)};
    return audit_hash((const char *)parts, sizeof parts);
}

static uint64_t key_of(const audit_wanted *w) {
    uint64_t parts[] = {audit_hash(w->src, strlen(w->src)), audit_hash(w->dst, strlen(w->dst)),
                        (uint64_t)(int64_t)w->traffic.from, (uint64_t)(int64_t)w->traffic.to,
                        w->permutation ? audit_hash((const char *)w->permutation, TS_AUDIT_PERMUTED) : 0};
    return audit_hash((const char *)parts, sizeof parts);
}

static audit_price price_exactly(audit_prices *p, const audit_wanted *w, const relayout *r, uint64_t kind,
                                 audit_price line) {
    way best = one_pass(p, r);
    bool in_two = (w->changes & TS_AUDIT_TYPE) && (w->changes & TS_AUDIT_ORDER);
    if (in_two) try_two_passes(p, r, &best);
    *TS_APPEND(p->arena, p->exact, p->exact_count) =
        (struct audit_exact){.key = key_of(w),
                             .kind = kind,
                             .orders = orders_of(r),
                             .bytes = w->traffic.read + w->traffic.written,
                             .line_cycles = line.cycles,
                             .cycles = best.cycles,
                             .by = best.by};
    if (best.cycles < 0) return line;
    return (audit_price){.known = true, .cycles = best.cycles, .by = best.by};
}

static audit_price scaled_price(const struct audit_exact *near, const audit_price *line) {
    double times = (double)near->cycles / (double)near->line_cycles;
    return (audit_price){
        .known = true, .scaled = true, .cycles = (int64_t)((double)line->cycles * times), .by = near->by};
}

static audit_price price_relayout(audit_prices *p, const audit_wanted *w, audit_price line) {
    const struct audit_exact *known = find_exact(p, key_of(w));
    relayout r;
    if (known && known->cycles < 0) return line;
    if (known) return (audit_price){.known = true, .cycles = known->cycles, .by = known->by};
    if (!read_relayout(p, w, &r)) return line;
    uint64_t kind = kind_of(w, &r);
    const struct audit_exact *near =
        find_nearest(p, kind, orders_of(&r), w->traffic.read + w->traffic.written);
    bool exactly = p->request->exact || p->exact_count < LARGEST || (!near && p->exact_count < AUDIT_EXACT);
    if (exactly) return price_exactly(p, w, &r, kind, line);
    return near ? scaled_price(near, &line) : line;
}

audit_price audit_prices_move(audit_prices *p, const audit_wanted *w) {
    audit_price line = audit_prices_line(p, &w->traffic);
    bool reorders = (w->changes & (TS_AUDIT_TYPE | TS_AUDIT_ORDER | TS_AUDIT_TILE)) != 0 && w->src;
    if (!line.known || line.cycles == 0 || !reorders) return line;
    audit_price price = price_relayout(p, w, line);
    ts_arena_reset(p->scratch);
    audit_bound(p, &w->traffic, &price);
    return price;
}
