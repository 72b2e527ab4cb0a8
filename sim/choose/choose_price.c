/* What a candidate costs: its transfers, its kernels or a whole program; and the least that it can. */
#include "choose_private.h"
#include "base/number.h"
#include "chip/energy.h"
#include "dma/price.h"
#include "study/extend.h"

static bool is_hbm(const ts_machine_memory *memory) { return memory->kind == TS_SPACE_HBM; }

/* Equal layouts on both sides move their padding along, in one run: so many bytes in order. */
static bool price_bytes(ts_error *err, choose_pricer *p, const ts_choose_use *use, int64_t bytes,
                        ts_dma_cost *cost) {
    const ts_shape *shape = ts_shape_row_major(err, p->scratch, TS_DTYPE_U8, 1, &bytes);
    ts_plan_side src = {.shape = shape}, dst = {.shape = shape};
    if (use->from == use->to) dst.base_bits = ts_round_up(bytes, use->to->align_bytes) * 8;
    const ts_plan *plan = shape ? ts_plan_new(err, p->scratch, &src, &dst, 1, &bytes) : NULL;
    ts_dma_machine machine = ts_prices_machine(p->prices, p->machine);
    ts_dma_price_request request = {.machine = &machine,
                                    .plan = plan,
                                    .src = {.in_hbm = is_hbm(use->from)},
                                    .dst = {.in_hbm = is_hbm(use->to)},
                                    .exact = p->request->exact};
    bool good = plan && ts_dma_price(err, p->scratch, &request, cost);
    ts_arena_reset(p->scratch);
    p->extends = p->extends || (good && cost->estimated);
    return good;
}

/* A large transfer, whose price is extended from its stride in any case, is interpolated between two powers
 * of two: to within 2 %. */
enum { WHOLE_BYTES = 64 << 20 };

typedef struct {
    int64_t cycles;
    double joules; /* of the HBM */
    const char *limiter;
} price;

static double joules_of(const choose_pricer *p, const ts_hbm_stats *stats, int64_t cycles) {
    ts_energy energy;
    ts_energy_of_hbm(p->machine, stats, cycles, &energy);
    return energy.hbm_total;
}

static bool price_transfer(ts_error *err, choose_pricer *p, int64_t bytes, const ts_choose_use *use,
                           price *out) {
    ts_dma_cost at_low, at_high;
    int64_t low = bytes;
    if (bytes > WHOLE_BYTES && !p->request->exact)
        for (low = WHOLE_BYTES; low <= bytes / 2;) low *= 2;
    if (!price_bytes(err, p, use, low, &at_low)) return false;
    *out = (price){at_low.cycles, joules_of(p, &at_low.hbm, at_low.cycles), at_low.limiter};
    if (low == bytes) return true;
    if (!price_bytes(err, p, use, 2 * low, &at_high)) return false;
    out->cycles = ts_extend(&(ts_extension){{low, 2 * low}, {at_low.cycles, at_high.cycles}}, bytes);
    out->joules +=
        (joules_of(p, &at_high.hbm, at_high.cycles) - out->joules) * (double)(bytes - low) / (double)low;
    return true;
}

static bool price_use(ts_error *err, choose_pricer *p, const ts_candidate *c, const ts_choose_use *use,
                      price *out) {
    *out = (price){0};
    return use->kind == TS_USE_DMA
               ? price_transfer(err, p, c->shape->bytes, use, out)
               : choose_core_cycles(err, &p->core, c->shape, use, &out->cycles, &out->limiter);
}

/* The HBM stands by while the core works alone. */
static bool price_uses(ts_error *err, choose_pricer *p, ts_candidate *c) {
    const ts_choose_request *r = p->request;
    price slowest[2] = {{0}}; /* of transfers, of the core */
    c->dma_cycles = c->core_cycles = 0;
    c->hbm_joules = 0;
    for (int i = 0; i < r->use_count; i++) {
        price one;
        bool moves = r->uses[i].kind == TS_USE_DMA;
        if (!price_use(err, p, c, &r->uses[i], &one)) return false;
        *(moves ? &c->dma_cycles : &c->core_cycles) += one.cycles;
        c->hbm_joules += one.joules;
        if (one.cycles > slowest[!moves].cycles) slowest[!moves] = one;
    }
    c->cycles = ts_max(c->dma_cycles, c->core_cycles);
    c->hbm_joules += joules_of(p, &(ts_hbm_stats){0}, c->cycles - c->dma_cycles);
    c->limiter = c->cycles > 0 ? slowest[c->dma_cycles < c->core_cycles].limiter : "no elements";
    return true;
}

int64_t choose_bound(const choose_pricer *p, const ts_shape *shape) {
    const ts_choose_request *r = p->request;
    __int128 dma = 0;
    int64_t core = 0, rate = ts_machine_hbm_rate(p->machine);
    for (int i = 0; i < r->use_count; i++) {
        const ts_choose_use *use = &r->uses[i];
        if (use->kind != TS_USE_DMA) {
            core += choose_core_bound(&p->core, shape);
            continue;
        }
        int ends = is_hbm(use->from) + is_hbm(use->to);
        if (rate > 0) dma += (__int128)shape->bytes * ends * p->machine->chip.sustained_khz * 1000 / rate;
    }
    int64_t bound = dma > INT64_MAX ? INT64_MAX : (int64_t)dma;
    /* Prices of large transfers are extended, to within 1 % (dma/price.h). */
    bound -= bound / 100;
    return ts_max(bound, core);
}

bool choose_price(ts_error *err, choose_pricer *p, ts_candidate *c, int64_t limit, bool *cut) {
    *cut = false;
    if (!p->program) return price_uses(err, p, c);
    c->limiter = "";
    return choose_run_program(err, p, c, limit, cut);
}
