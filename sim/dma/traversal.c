/* The traversal of a plan's boxes in blocks, each side in the order of its own addresses. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "traversal_private.h"

/* Long enough that a memory gains nothing by a longer run: several lines of 64 bytes. */
enum { RUN_BYTES = 512 };

ts_traversal *ts_traversal_new(ts_arena *arena, const ts_plan *plan, int src_line_bytes, int dst_line_bytes,
                               int granule_bits) {
    ts_traversal *traversal = TS_NEW(arena, ts_traversal);
    *traversal =
        (ts_traversal){.plan = plan,
                       .arena = arena,
                       .granule_bits = granule_bits,
                       .last_line = {-1, -1},
                       .line_bytes = {src_line_bytes, dst_line_bytes},
                       .element_bits = {plan->src.shape->element_bits, plan->dst.shape->element_bits}};
    return traversal;
}

const ts_traversal_totals *ts_traversal_get_totals(const ts_traversal *traversal) {
    return &traversal->totals;
}

int64_t ts_traversal_lines(const ts_traversal *traversal) {
    const ts_traversal_totals *t = &traversal->totals;
    return t->src_lines + t->dst_lines + t->rmw_lines;
}

/* ---- Choosing the block of a box ---- */

static int64_t stride_of(const ts_plan_loop *loop, int side) {
    return llabs(ts_plan_step_bits(loop, (ts_side)side));
}

/* The loop with the smallest stride on a side among those not yet taken whole, or -1. */
static int next_inner(const ts_traversal *traversal, int side) {
    int best = -1;
    for (int i = 0; i < traversal->box.loop_count; i++) {
        if (traversal->block[i] == traversal->box.loops[i].extent) continue;
        if (best < 0 ||
            stride_of(&traversal->box.loops[i], side) < stride_of(&traversal->box.loops[best], side))
            best = i;
    }
    return best;
}

/* Grows the block along one side's addresses until it has `run_bytes` of them, or `most` elements in all. */
static int64_t grow(ts_traversal *traversal, int side, int64_t run_bytes, int64_t elements, int64_t most) {
    int64_t run = 1, wanted = ts_ceil_div(run_bytes * 8, traversal->element_bits[side]);
    for (int i; run < wanted && elements < most && (i = next_inner(traversal, side)) >= 0;) {
        int64_t extent = traversal->box.loops[i].extent, room = most / (elements / traversal->block[i]);
        int64_t take = ts_ceil_div(wanted, run) * traversal->block[i];
        if (take > extent) take = extent;
        if (take > room) take = room;
        if (take <= traversal->block[i]) break;
        elements = elements / traversal->block[i] * take;
        run *= take;
        traversal->block[i] = take;
    }
    return elements;
}

static void choose_block(ts_traversal *traversal) {
    int64_t wide = ts_max(traversal->element_bits[0], traversal->element_bits[1]),
            most = ts_min(TS_TRAVERSAL_BLOCK_BYTES * 8 / wide, TS_TRAVERSAL_BLOCK_ELEMENTS);
    for (int i = 0; i < traversal->box.loop_count; i++) traversal->block[i] = 1;
    int64_t elements = grow(traversal, 1, RUN_BYTES, 1, most);
    elements = grow(traversal, 0, RUN_BYTES, elements, most);
    grow(traversal, 1, TS_TRAVERSAL_BLOCK_BYTES, elements, most);
}

/* ---- Read-modify-write: does a granule of the box's destination hold another valid element? ---- */

bool traversal_covers_granules(const ts_plan_box *box, int element_bits, int granule) {
    int64_t covered = element_bits;
    bool aligned = box->dst_bits % granule == 0;
    for (int i = box->loop_count - 1; i >= 0; i--) {
        const ts_plan_loop *loop = &box->loops[i];
        if (loop->dst_bits == covered)
            covered *= loop->extent;
        else
            aligned = aligned && loop->dst_bits % granule == 0;
    }
    return aligned && covered % granule == 0;
}

static bool is_element(const ts_traversal *traversal, int64_t bit, ts_arena *scratch) {
    const ts_plan_side *dst = &traversal->plan->dst;
    int64_t offset = (bit - dst->base_bits) / traversal->element_bits[1];
    ts_index_list found;
    ts_error ignored = {0};
    return !ts_layout_backward(&ignored, scratch, dst->shape->layout, &offset, 1, &found) || found.count > 0;
}

static bool needs_rmw(ts_traversal *traversal) {
    if (traversal->line_bytes[1] == 0 || traversal->plan->dst.shape->layout->axis_count != 1 ||
        traversal_covers_granules(&traversal->box, traversal->element_bits[1], traversal->granule_bits))
        return false;
    int64_t granule = traversal->granule_bits, first = traversal->box.dst_bits,
            start = first / granule * granule;
    ts_arena *scratch = ts_arena_new();
    bool shared = false;
    for (int64_t bit = first % traversal->element_bits[1] + start; bit < start + granule;
         bit += traversal->element_bits[1]) {
        bool own = bit == first;
        for (int i = 0; i < traversal->box.loop_count; i++) {
            const ts_plan_loop *loop = &traversal->box.loops[i];
            int64_t steps = loop->dst_bits > 0 ? (bit - first) / loop->dst_bits : 0;
            own = own || (steps > 0 && steps < loop->extent && first + steps * loop->dst_bits == bit);
        }
        if (!own && bit >= traversal->plan->dst.base_bits)
            shared = shared || is_element(traversal, bit, scratch);
    }
    ts_arena_free(scratch);
    return shared;
}

/* ---- The accesses of one block ---- */

/* Room for so many more; returns where they begin. */
static ts_traversal_access *reserve(ts_traversal *traversal, int64_t count) {
    if (traversal->count + count > traversal->capacity) {
        int64_t capacity = 2 * traversal->capacity + 256 + count;
        traversal->accesses = ts_arena_grow(traversal->arena, traversal->accesses, (size_t)traversal->count,
                                            (size_t)capacity, sizeof *traversal->accesses);
        traversal->capacity = (int)capacity;
    }
    return traversal->accesses + traversal->count;
}

static void count_lines(ts_traversal *traversal, int side, int64_t count) {
    *(side ? &traversal->totals.dst_lines : &traversal->totals.src_lines) += count;
    traversal->totals.rmw_lines += side == 1 && traversal->box_rmw ? count : 0;
}

static void count_runs(ts_traversal *traversal, int side, int64_t count) {
    *(side ? &traversal->totals.dst_runs : &traversal->totals.src_runs) += count;
}

/* Reads or writes of so many lines from `first` on; where rmw, each is read before it is written. */
static void add_lines(ts_traversal *traversal, int side, int64_t first, int64_t count) {
    const bool rmw = side == 1 && traversal->box_rmw;
    const int64_t bytes = traversal->line_bytes[side];
    count_lines(traversal, side, count);
    if (traversal->only_counts) return;
    ts_traversal_access *at = reserve(traversal, rmw ? 2 * count : count);
    int64_t address = first * bytes;
    for (int64_t end = address + count * bytes; address < end; address += bytes) {
        if (rmw) *at++ = (ts_traversal_access){address, false, true};
        *at++ = (ts_traversal_access){address, side == 1, side == 1};
    }
    traversal->count = (int)(at - traversal->accesses);
}

/* `runs` runs within so many bits, which leave out no line between the first and the last. */
static void add_runs(ts_traversal *traversal, int side, int64_t first_bit, int64_t bits, int64_t runs) {
    int64_t line_bits = (int64_t)traversal->line_bytes[side] * 8;
    int64_t first = ts_floor_div(first_bit, line_bits), end = first_bit - first * line_bits + bits,
            last = first;
    if (end > line_bits) last += (end - 1) / line_bits; /* a division takes as long as the rest */
    count_runs(traversal, side, runs);
    first += first == traversal->last_line[side];
    if (first > last) return;
    traversal->last_line[side] = last;
    add_lines(traversal, side, first, last - first + 1);
}

/* Behind those of a wider stride, or as wide. */
static void insert_loop(traversal_side *s, traversal_loop loop) {
    int at = s->count++;
    for (; at > 0 && s->loops[at - 1].stride < loop.stride; at--) s->loops[at] = s->loops[at - 1];
    s->loops[at] = loop;
}

/* Folds the inner loops whose iterations lie one behind the other and leave out no line. */
static void fold_lines(traversal_side *s, int64_t line_bits) {
    for (s->runs = 1; s->count > 0; s->count--) {
        const traversal_loop *inner = &s->loops[s->count - 1];
        int64_t gap = inner->stride - s->bits;
        if (gap < 0 || gap >= line_bits) break;
        s->bits += (inner->extent - 1) * inner->stride;
        s->runs *= inner->extent;
    }
}

/* The next block on one side. */
static void fill_side(const ts_traversal *traversal, int side, traversal_side *s) {
    s->count = 0;
    s->below_bits = 0;
    s->bits = traversal->element_bits[side];
    for (int i = 0; i < traversal->box.loop_count; i++) {
        const ts_plan_loop *loop = &traversal->box.loops[i];
        int64_t stride = ts_plan_step_bits(loop, (ts_side)side),
                extent = ts_min(loop->extent - traversal->at[i], traversal->block[i]);
        if (stride < 0) s->below_bits -= (extent - 1) * stride;
        if (extent > 1 && stride != 0) insert_loop(s, (traversal_loop){extent, llabs(stride)});
    }
    while (s->count > 0 && s->loops[s->count - 1].stride == s->bits) s->bits *= s->loops[--s->count].extent;
    fold_lines(s, (int64_t)traversal->line_bytes[side] * 8);
}

/* Is the next block smaller than others of its box? */
static bool is_cut(const ts_traversal *traversal) {
    for (int i = 0; i < traversal->box.loop_count; i++)
        if (traversal->box.loops[i].extent - traversal->at[i] < traversal->block[i]) return true;
    return false;
}

/* Of its first element. */
static int64_t first_bit(const ts_traversal *traversal, int side) {
    int64_t bit = ts_plan_start_bits(&traversal->box, (ts_side)side);
    for (int i = 0; i < traversal->box.loop_count; i++)
        bit += traversal->at[i] * ts_plan_step_bits(&traversal->box.loops[i], (ts_side)side);
    return bit;
}

/* Does no iteration begin in the last line of the one before? */
static bool are_apart(const traversal_side *s, int64_t line_bits) {
    int64_t last = 0; /* of the inner loops, how far on their last iteration is */
    for (int i = s->count - 1; i >= 0; i--) {
        int64_t jump = s->loops[i].stride - last;
        if (jump > -line_bits && jump < line_bits + s->bits - 1) return false;
        last += s->loops[i].stride * (s->loops[i].extent - 1);
    }
    return true;
}

/* The lines of all iterations of the loops from `level` on, but for `longest`, which is summed up at once. */
static int64_t sum_lines(const traversal_side *s, int level, int longest, int64_t bit, int64_t line_bits) {
    int64_t lines = 0;
    if (level == longest) level++;
    if (level >= s->count) {
        traversal_loop loop = longest < s->count ? s->loops[longest] : (traversal_loop){1, 0};
        int64_t first = ts_floor_mod(bit, line_bits),
                step = loop.stride % line_bits; /* whole lines cancel out */
        return loop.extent + ts_floor_sum(loop.extent, first + s->bits - 1, step, line_bits) -
               ts_floor_sum(loop.extent, first, step, line_bits);
    }
    for (int64_t i = 0; i < s->loops[level].extent; i++)
        lines += sum_lines(s, level + 1, longest, bit + i * s->loops[level].stride, line_bits);
    return lines;
}

/* What the last iteration accesses last. */
static int64_t last_line_of(const traversal_side *s, int64_t bit, int64_t line_bits) {
    bit += s->bits - 1;
    for (int i = 0; i < s->count; i++) bit += s->loops[i].stride * (s->loops[i].extent - 1);
    return ts_floor_div(bit, line_bits);
}

/* Counts the lines of a block where they are apart. */
static void count_apart(ts_traversal *traversal, int side, const traversal_side *s, int64_t bit) {
    int64_t line_bits = (int64_t)traversal->line_bytes[side] * 8, iterations = 1;
    int longest = 0;
    for (int i = 0; i < s->count; i++) {
        longest = s->loops[i].extent > s->loops[longest].extent ? i : longest;
        iterations *= s->loops[i].extent;
    }
    bool is_shared = ts_floor_div(bit, line_bits) == traversal->last_line[side];
    count_lines(traversal, side, sum_lines(s, 0, longest, bit, line_bits) - is_shared);
    count_runs(traversal, side, s->runs * iterations);
    traversal->last_line[side] = last_line_of(s, bit, line_bits);
}

static void add_iterations(ts_traversal *traversal, int side, const traversal_side *s, int64_t bit) {
    int64_t at[TS_PLAN_MAX_LOOPS];
    int i;
    for (i = 0; i < s->count; i++) at[i] = 0;
    do {
        add_runs(traversal, side, bit, s->bits, s->runs);
        for (i = s->count - 1; i >= 0; i--) {
            bit += s->loops[i].stride;
            if (++at[i] < s->loops[i].extent) break;
            bit -= s->loops[i].stride * s->loops[i].extent;
            at[i] = 0;
        }
    } while (i >= 0);
}

typedef void visit_side(ts_traversal *traversal, int side, const traversal_side *s, int64_t bit);

static void add_side(ts_traversal *traversal, int side, const traversal_side *s, int64_t bit) {
    bool is_counted = traversal->only_counts && are_apart(s, (int64_t)traversal->line_bytes[side] * 8);
    (is_counted ? count_apart : add_iterations)(traversal, side, s, bit);
}

static void pass_side(ts_traversal *traversal, int side, const traversal_side *s, int64_t bit) {
    traversal->last_line[side] = last_line_of(s, bit, (int64_t)traversal->line_bytes[side] * 8);
}

/* The lines of the next block, from its lowest bit on each side. */
static void visit_sides(ts_traversal *traversal, visit_side *visit) {
    traversal_side own, *whole = traversal->whole;
    bool cut = is_cut(traversal);
    for (int side = 0; side < 2; side++) {
        traversal_side *s = cut ? &own : &whole[side];
        if (traversal->line_bytes[side] == 0) continue;
        if (cut || s->runs == 0) fill_side(traversal, side, s);
        visit(traversal, side, s, first_bit(traversal, side) - s->below_bits);
    }
}

static int64_t block_elements(const ts_traversal *traversal) {
    int64_t elements = 1;
    for (int i = 0; i < traversal->box.loop_count; i++) {
        int64_t left = traversal->box.loops[i].extent - traversal->at[i];
        elements *= left < traversal->block[i] ? left : traversal->block[i];
    }
    return elements;
}

bool traversal_open_box(ts_traversal *traversal) {
    if (traversal->box_number == traversal->plan->box_count) return false;
    ts_plan_get_box(traversal->plan, traversal->box_number++, &traversal->box);
    memset(traversal->at, 0, sizeof traversal->at);
    choose_block(traversal);
    traversal->whole[0].runs = traversal->whole[1].runs = 0;
    traversal->box_rmw = needs_rmw(traversal);
    traversal->box_open = true;
    return true;
}

static void next_block(ts_traversal *traversal) {
    for (int i = traversal->box.loop_count - 1; i >= 0; i--) {
        traversal->at[i] += traversal->block[i];
        if (traversal->at[i] < traversal->box.loops[i].extent) return;
        traversal->at[i] = 0;
    }
    traversal->box_open = false;
}

void traversal_pass_block(ts_traversal *traversal) {
    visit_sides(traversal, pass_side);
    next_block(traversal);
}

/* Takes back what next_block did: behind the last block, all loops begin again. */
void ts_traversal_last_block(const ts_traversal *traversal, ts_traversal_block *block) {
    *block = (ts_traversal_block){.box = traversal->box_number - 1, .loop_count = traversal->box.loop_count};
    bool back = true;
    for (int i = block->loop_count - 1; i >= 0; i--) {
        int64_t extent = traversal->box.loops[i].extent, size = traversal->block[i], at = traversal->at[i];
        if (back) at = at > 0 ? at - size : (extent - 1) / size * size;
        back = back && traversal->at[i] == 0;
        block->at[i] = at;
        block->extent[i] = extent - at < size ? extent - at : size;
    }
}

bool ts_traversal_next(ts_traversal *traversal, const ts_traversal_access **accesses, int *count,
                       int64_t *elements) {
    if (!traversal->box_open && !traversal_open_box(traversal)) return false;
    traversal->count = 0;
    traversal->totals.blocks++;
    visit_sides(traversal, add_side);
    *elements = block_elements(traversal);
    *accesses = traversal->accesses;
    *count = traversal->count;
    next_block(traversal);
    return true;
}

const ts_member ts_traversal_totals_members[] = {
    TS_MEMBER(ts_traversal_totals, blocks),
    TS_MEMBER(ts_traversal_totals, src_lines),
    TS_MEMBER(ts_traversal_totals, dst_lines),
    TS_MEMBER(ts_traversal_totals, rmw_lines),
    TS_MEMBER(ts_traversal_totals, src_runs),
    TS_MEMBER(ts_traversal_totals, dst_runs),
    {0, 0},
};

void ts_traversal_add_totals(ts_traversal *traversal, const ts_traversal_totals *totals) {
    ts_members_add(&traversal->totals, totals, ts_traversal_totals_members, 1, 1);
}
