/* Pricing one transfer on a machine. */
#include "study/transfer.h"

#include "base/number.h"

/* Where the memory space stands in the text. */
static size_t space_offset(const ts_transfer_end *end) {
    for (size_t i = 0; end->text && i + 1 < end->text->length; i++)
        if (end->text->text[i] == 'S' && end->text->text[i + 1] == '(') return i;
    return 0;
}

static const ts_machine_memory *memory_of(ts_error *err, const ts_machine *machine,
                                          const ts_transfer_end *end) {
    const ts_machine_memory *memory = ts_machine_find_space(machine, end->shape->memory_space);
    if (memory) return memory;
    ts_error_set(err, TS_ERROR_INPUT, "%s has no memory space S(%d)", machine->name,
                 end->shape->memory_space);
    ts_transfer_end_error(err, end, space_offset(end));
    return NULL;
}

/* ---- Sizes ---- */

static const int64_t *sizes_of(const ts_transfer_end *end) {
    return end->sizes ? end->sizes : end->shape->layout->dims;
}

typedef enum { ALL, WITHOUT_ONES } which_sizes;

/* Returns how many. */
static int list_sizes(const ts_transfer_end *end, which_sizes which, int64_t *sizes) {
    int count = 0;
    for (int i = 0; i < end->shape->layout->rank; i++)
        if (which == ALL || sizes_of(end)[i] != 1) sizes[count++] = sizes_of(end)[i];
    return count;
}

/* Where errors about sizes point: at a slice, or at the dims. */
static size_t sizes_offset(const ts_transfer_end *end) {
    size_t at = 0, found = 0;
    for (; end->text && at < end->text->length; at++) {
        if (end->text->text[at] != '[') continue;
        found = at;
        if (!end->sizes) break;
    }
    return found;
}

/* Sizes that differ, as an error. */
static bool refuse_sizes(ts_error *err, ts_arena *arena, which_sizes which, const ts_transfer_end *src,
                         const ts_transfer_end *dst) {
    int64_t a[TS_LAYOUT_MAX_DIMS], b[TS_LAYOUT_MAX_DIMS];
    int a_count = list_sizes(src, which, a), b_count = list_sizes(dst, which, b);
    ts_text a_text = ts_text_begin(arena), b_text = ts_text_begin(arena);
    ts_text_add_integers(&a_text, a, a_count);
    ts_text_add_integers(&b_text, b, b_count);
    if (which == ALL && a_count != b_count)
        ts_error_set(err, TS_ERROR_INPUT,
                     "the destination has %d dimension%s, [%s], and the source has %d, [%s]", b_count,
                     b_count == 1 ? "" : "s", b_text.bytes, a_count, a_text.bytes);
    else
        ts_error_set(err, TS_ERROR_INPUT, "the destination takes [%s] and the source gives [%s]",
                     b_text.bytes, a_text.bytes);
    return ts_transfer_end_error(err, dst, sizes_offset(dst));
}

/* The sizes must be the same; between slices those of 1 are left out (*squeezed) when ranks differ. */
static bool same_sizes(ts_error *err, ts_arena *arena, const ts_transfer_end *src, const ts_transfer_end *dst,
                       bool *squeezed) {
    const ts_layout *from = ts_shape_layout(err, src->shape, "the source");
    if (!from) return ts_transfer_end_error(err, src, 0);
    const ts_layout *to = ts_shape_layout(err, dst->shape, "the destination");
    if (!to) return ts_transfer_end_error(err, dst, 0);
    which_sizes which = src->sizes || dst->sizes ? WITHOUT_ONES : ALL;
    int64_t a[TS_LAYOUT_MAX_DIMS], b[TS_LAYOUT_MAX_DIMS];
    int a_count = list_sizes(src, which, a), b_count = list_sizes(dst, which, b);
    *squeezed =
        which == WITHOUT_ONES && !ts_integers_equal(sizes_of(src), from->rank, sizes_of(dst), to->rank);
    return ts_integers_equal(a, a_count, b, b_count) || refuse_sizes(err, arena, which, src, dst);
}

/* ---- Places and the plan ---- */

/* Where a side lies: its axis bits are kept in the arena. */
static bool place(ts_error *err, ts_arena *arena, const ts_machine_memory *memory, const ts_transfer_end *end,
                  ts_plan_side *side) {
    int64_t *bits = TS_NEW_ARRAY(arena, int64_t, TS_LAYOUT_MAX_AXES);
    const ts_space *space = ts_space_of_machine(arena, memory);
    if (!ts_space_place(err, space, end->shape, end->at, bits)) return ts_transfer_end_error(err, end, 0);
    *side = (ts_plan_side){end->shape, end->begin, bits, end->at * 8};
    return true;
}

/* Where the next tensor can begin: behind the last byte or, in a memory with partitions, behind the last one
 * of any partition. */
static int64_t end_of(ts_arena *arena, const ts_transfer_end *end, const ts_machine_memory *memory) {
    const ts_shape *shape = end->shape;
    const ts_space *space = ts_space_of_machine(arena, memory);
    int64_t bytes = ts_shape_memory_bytes(shape);
    int64_t bits[TS_LAYOUT_MAX_AXES], last = shape->element_bits, partition = ts_space_partition_bits(space),
                                      low, high;
    if (partition > 0 && ts_space_place(NULL, space, shape, end->at, bits)) {
        for (int i = 0; i < shape->layout->axis_count; i++) {
            ts_layout_axis_range(shape->layout, i, &low, &high);
            if (bits[i] < partition) last += high * bits[i];
        }
        if (last <= partition) bytes = ts_ceil_div(last, 8);
    }
    return ts_round_up(end->at + bytes, memory->align_bytes);
}

static ts_dma_end end_in(const ts_space *space, const ts_machine_memory *memory) {
    return (ts_dma_end){.in_hbm = memory->kind == TS_SPACE_HBM,
                        .partition_bits = ts_space_partition_bits(space)};
}

/* Where the end of a transfer lies. */
typedef struct {
    const ts_transfer_end *end;
    ts_plan_side side;
} placed_end;

static const ts_plan *plan_between(ts_error *err, ts_arena *arena, placed_end src, placed_end dst,
                                   bool squeezed) {
    int rank = src.side.shape->layout->rank;
    const int64_t *sizes = sizes_of(src.end);
    if (squeezed) {
        sizes = ts_plan_squeeze(err, arena, &src.side, sizes, &rank);
        if (!sizes || !ts_plan_squeeze(err, arena, &dst.side, sizes_of(dst.end), &rank)) return NULL;
    }
    const ts_plan *plan = ts_plan_new(err, arena, &src.side, &dst.side, rank, sizes);
    if (!plan) ts_transfer_end_error(err, dst.end, 0);
    return plan;
}

static bool make_plan(ts_error *err, ts_arena *arena, ts_transfer_study *study, bool squeezed) {
    placed_end src = {.end = &study->src}, dst = {.end = &study->dst};
    if (!place(err, arena, study->src_memory, src.end, &src.side) ||
        !place(err, arena, study->dst_memory, dst.end, &dst.side))
        return false;
    study->plan = plan_between(err, arena, src, dst, squeezed);
    return study->plan != NULL;
}

bool ts_transfer_prepare(ts_error *err, ts_arena *arena, const ts_transfer_request *r,
                         ts_transfer_study *study) {
    bool squeezed;
    *study = (ts_transfer_study){
        .machine = r->machine, .src = r->src, .dst = r->dst, .dst_placed = r->dst.at >= 0, .exact = r->exact};
    if (!same_sizes(err, arena, &r->src, &r->dst, &squeezed)) return false;
    study->src_memory = memory_of(err, r->machine, &r->src);
    study->dst_memory = study->src_memory ? memory_of(err, r->machine, &r->dst) : NULL;
    if (!study->dst_memory) return false;
    bool shared = study->src_memory == study->dst_memory;
    if (r->src.at < 0) study->src.at = 0;
    if (r->dst.at < 0) study->dst.at = shared ? end_of(arena, &study->src, study->src_memory) : 0;
    return make_plan(err, arena, study, squeezed);
}

bool ts_transfer_price_prepared(ts_error *err, ts_arena *scratch, ts_prices *prices, int64_t limit,
                                ts_transfer_study *study) {
    const ts_space *src = ts_space_of_machine(scratch, study->src_memory), *dst = src;
    if (study->dst_memory != study->src_memory) dst = ts_space_of_machine(scratch, study->dst_memory);
    if (!ts_dma_check(err, study->plan, src, dst)) return ts_transfer_end_error(err, &study->dst, 0);
    ts_plan_price_request price = {.machine = study->machine,
                                   .prices = prices,
                                   .plan = study->plan,
                                   .src = end_in(src, study->src_memory),
                                   .dst = end_in(dst, study->dst_memory),
                                   .exact = study->exact,
                                   .limit = limit};
    return ts_plan_price(err, scratch, &price, &study->cost, &study->by);
}

bool ts_transfer_price(ts_error *err, ts_arena *arena, const ts_transfer_request *r,
                       ts_transfer_study *study) {
    return ts_transfer_prepare(err, arena, r, study) &&
           ts_transfer_price_prepared(err, arena, r->prices, r->limit, study);
}

void ts_transfer_energy(const ts_transfer_study *study, ts_energy *energy) {
    const ts_dma_result *r = &study->cost.transfer;
    int64_t vmem = (study->src_memory->kind == TS_SPACE_HBM ? 0 : r->src_bytes) +
                   (study->dst_memory->kind == TS_SPACE_HBM ? 0 : r->dst_bytes);
    ts_energy_of_hbm(study->machine, &study->cost.hbm, study->cost.cycles, energy);
    if (!study->by.program)
        ts_energy_add_transfers(study->machine, r->src_bytes + r->dst_bytes, vmem, energy);
}

const ts_plan *ts_transfer_plan(ts_error *err, ts_arena *arena, const ts_transfer_end *src, ts_plan_side from,
                                const ts_transfer_end *dst, ts_plan_side to) {
    bool squeezed;
    return same_sizes(err, arena, src, dst, &squeezed)
               ? plan_between(err, arena, (placed_end){src, from}, (placed_end){dst, to}, squeezed)
               : NULL;
}

/* ---- Several at once ---- */

/* Prices one that begins, in each memory, at its `next` or behind; moves those behind it. */
static bool price_behind(ts_error *err, ts_arena *arena, const ts_transfer_mix_request *r,
                         ts_transfer_end ends[2], int64_t *next, ts_transfer_study *study) {
    for (int i = 0; i < 2; i++) {
        const ts_machine_memory *memory = memory_of(err, r->machine, &ends[i]);
        if (!memory) return false;
        bool is_first = i == 0 || ends[0].shape->memory_space != ends[1].shape->memory_space;
        if (ends[i].at < 0 && is_first) ends[i].at = next[memory - r->machine->memories];
    }
    ts_transfer_request one = {r->machine, r->prices, ends[0], ends[1], r->exact, 0};
    if (!ts_transfer_price(err, arena, &one, study)) return false;
    if (study->by.program) {
        ts_error_set(err, TS_ERROR_UNMODELLED,
                     "%s does this one, and only the engine's transfers can be mixed", study->by.program);
        return ts_transfer_end_error(err, &study->dst, 0);
    }
    const ts_transfer_end *placed[2] = {&study->src, &study->dst};
    const ts_machine_memory *memories[2] = {study->src_memory, study->dst_memory};
    for (int i = 0; i < 2; i++) {
        int64_t *behind = &next[memories[i] - r->machine->memories];
        *behind = ts_max(*behind, end_of(arena, placed[i], memories[i]));
    }
    return true;
}

bool ts_transfer_price_concurrent(ts_error *err, ts_arena *arena, const ts_transfer_mix_request *r,
                                  ts_transfer_mix *mix) {
    ts_dma_transfer *transfers = TS_NEW_ARRAY(arena, ts_dma_transfer, r->count);
    ts_dma_result *results = TS_NEW_ARRAY(arena, ts_dma_result, r->count);
    int64_t *next = TS_NEW_ARRAY(arena, int64_t, r->machine->memory_count);
    *mix = (ts_transfer_mix){.machine = r->machine, .count = r->count, .results = results};
    mix->alone = TS_NEW_ARRAY(arena, ts_transfer_study, r->count);
    for (int i = 0; i < r->count; i++) {
        ts_transfer_study *study = &mix->alone[i];
        if (!price_behind(err, arena, r, r->ends[i], next, study)) return false;
        const ts_space *src = ts_space_of_machine(arena, study->src_memory),
                       *dst = ts_space_of_machine(arena, study->dst_memory);
        transfers[i] = (ts_dma_transfer){.plan = study->plan,
                                         .src = end_in(src, study->src_memory),
                                         .dst = end_in(dst, study->dst_memory)};
        mix->one_after_other += study->cost.cycles;
    }
    ts_dma_machine dma = ts_prices_machine(r->prices, r->machine);
    ts_dma_mix_request all = {&dma, transfers, r->count, r->exact};
    return ts_dma_price_concurrent(err, arena, &all, results, &mix->mix);
}
