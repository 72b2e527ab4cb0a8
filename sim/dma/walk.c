/* Walking a plan's boxes in blocks, each side in the order of its own addresses. */
#include "dma/walk.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

enum {
    RUN_BYTES = 512
}; /* long enough that a longer run gains a memory nothing: several lines of 64 bytes */

/* What lies before a box, where all are taken as one; `work` is lines, about. */
typedef struct {
    int64_t blocks, elements, work;
} box_start;

struct ts_walk {
    const ts_plan *plan;
    box_start *starts; /* by box, and behind the last; NULL: each box is by itself */
    ts_arena *arena;
    int line_bytes[2], granule_bits, element_bits[2]; /* source, destination */
    int64_t box_number;
    bool box_open, box_rmw;
    ts_plan_box box;
    int64_t block[TS_PLAN_MAX_LOOPS]; /* extent of a block along each loop */
    int64_t at[TS_PLAN_MAX_LOOPS];    /* first element of the current block along each loop */
    int64_t last_line[2];
    ts_walk_totals totals;
    ts_walk_access *accesses;
    int count, capacity;
};

ts_walk *ts_walk_new(ts_arena *arena, const ts_plan *plan, int src_line_bytes, int dst_line_bytes,
                     int granule_bits) {
    ts_walk *walk = TS_NEW(arena, ts_walk);
    *walk = (ts_walk){.plan = plan,
                      .arena = arena,
                      .granule_bits = granule_bits,
                      .last_line = {-1, -1},
                      .line_bytes = {src_line_bytes, dst_line_bytes},
                      .element_bits = {plan->src.shape->element_bits, plan->dst.shape->element_bits}};
    return walk;
}

const ts_walk_totals *ts_walk_get_totals(const ts_walk *walk) { return &walk->totals; }

/* ---- Choosing the block of a box ---- */

static int64_t stride_of(const ts_plan_loop *loop, int side) {
    return llabs(side ? loop->dst_bits : loop->src_bits);
}

/* The loop with the smallest stride on a side among those not yet taken whole, or -1. */
static int next_inner(const ts_walk *walk, int side) {
    int best = -1;
    for (int i = 0; i < walk->box.loop_count; i++) {
        if (walk->block[i] == walk->box.loops[i].extent) continue;
        if (best < 0 || stride_of(&walk->box.loops[i], side) < stride_of(&walk->box.loops[best], side))
            best = i;
    }
    return best;
}

/* Grows the block along one side's addresses until it has `run_bytes` of them, or `most` elements in all. */
static int64_t grow(ts_walk *walk, int side, int64_t run_bytes, int64_t elements, int64_t most) {
    int64_t run = 1, wanted = ts_ceil_div(run_bytes * 8, walk->element_bits[side]);
    for (int i; run < wanted && elements < most && (i = next_inner(walk, side)) >= 0;) {
        int64_t extent = walk->box.loops[i].extent, room = most / (elements / walk->block[i]);
        int64_t take = ts_ceil_div(wanted, run) * walk->block[i];
        if (take > extent) take = extent;
        if (take > room) take = room;
        if (take <= walk->block[i]) break;
        elements = elements / walk->block[i] * take;
        run *= take;
        walk->block[i] = take;
    }
    return elements;
}

static void choose_block(ts_walk *walk) {
    int wide = walk->element_bits[0] > walk->element_bits[1] ? walk->element_bits[0] : walk->element_bits[1];
    int64_t most = TS_WALK_BLOCK_BYTES * 8 / wide;
    if (most > TS_WALK_BLOCK_ELEMENTS) most = TS_WALK_BLOCK_ELEMENTS;
    for (int i = 0; i < walk->box.loop_count; i++) walk->block[i] = 1;
    int64_t elements = grow(walk, 1, RUN_BYTES, 1, most);
    elements = grow(walk, 0, RUN_BYTES, elements, most);
    grow(walk, 1, TS_WALK_BLOCK_BYTES, elements, most);
}

/* ---- Read-modify-write: does a granule of the box's destination hold another valid element? ---- */

static bool covers_granules(const ts_walk *walk) {
    int64_t covered = walk->element_bits[1], granule = walk->granule_bits;
    bool aligned = walk->box.dst_bits % granule == 0;
    for (int i = walk->box.loop_count - 1; i >= 0; i--) {
        const ts_plan_loop *loop = &walk->box.loops[i];
        if (loop->dst_bits == covered)
            covered *= loop->extent;
        else
            aligned = aligned && loop->dst_bits % granule == 0;
    }
    return aligned && covered % granule == 0;
}

static bool is_element(const ts_walk *walk, int64_t bit, ts_arena *scratch) {
    const ts_plan_side *dst = &walk->plan->dst;
    int64_t offset = (bit - dst->base_bits) / walk->element_bits[1];
    ts_index_list found;
    ts_error ignored = {0};
    return !ts_layout_backward(&ignored, scratch, dst->shape->layout, &offset, 1, &found) || found.count > 0;
}

static bool needs_rmw(ts_walk *walk) {
    if (walk->line_bytes[1] == 0 || walk->plan->dst.shape->layout->axis_count != 1 || covers_granules(walk))
        return false;
    int64_t granule = walk->granule_bits, first = walk->box.dst_bits, start = first / granule * granule;
    ts_arena *scratch = ts_arena_new();
    bool shared = false;
    for (int64_t bit = first % walk->element_bits[1] + start; bit < start + granule;
         bit += walk->element_bits[1]) {
        bool own = bit == first;
        for (int i = 0; i < walk->box.loop_count; i++) {
            const ts_plan_loop *loop = &walk->box.loops[i];
            int64_t steps = loop->dst_bits > 0 ? (bit - first) / loop->dst_bits : 0;
            own = own || (steps > 0 && steps < loop->extent && first + steps * loop->dst_bits == bit);
        }
        if (!own && bit >= walk->plan->dst.base_bits) shared = shared || is_element(walk, bit, scratch);
    }
    ts_arena_free(scratch);
    return shared;
}

/* ---- The accesses of one block ---- */

static void add_access(ts_walk *walk, int side, int64_t address, bool is_write) {
    if (walk->count == walk->capacity) {
        int capacity = walk->capacity * 2 + 256;
        walk->accesses = ts_arena_grow(walk->arena, walk->accesses, (size_t)walk->count, (size_t)capacity,
                                       sizeof *walk->accesses);
        walk->capacity = capacity;
    }
    walk->accesses[walk->count++] = (ts_walk_access){address, is_write, side == 1};
}

/* `runs` runs within so many bits, which leave out no line between the first and the last. */
static void add_runs(ts_walk *walk, int side, int64_t first_bit, int64_t bits, int64_t runs) {
    int64_t line_bits = (int64_t)walk->line_bytes[side] * 8;
    int64_t first = ts_floor_div(first_bit, line_bits), last = ts_floor_div(first_bit + bits - 1, line_bits);
    *(side ? &walk->totals.dst_runs : &walk->totals.src_runs) += runs;
    for (int64_t line = first; line <= last; line++) {
        if (line == walk->last_line[side]) continue;
        walk->last_line[side] = line;
        bool rmw = side == 1 && walk->box_rmw;
        if (rmw) add_access(walk, side, line * walk->line_bytes[side], false);
        add_access(walk, side, line * walk->line_bytes[side], side == 1);
        *(side ? &walk->totals.dst_lines : &walk->totals.src_lines) += 1;
        walk->totals.rmw_lines += rmw;
    }
}

typedef struct {
    int64_t extent, stride;
} side_loop;

static int compare_side_loops(const void *left, const void *right) {
    int64_t a = llabs(((const side_loop *)left)->stride), b = llabs(((const side_loop *)right)->stride);
    return a > b ? -1 : a < b;
}

/* The block's loops on one side, widest stride first, with the contiguous ones folded into *run_bits. */
static int side_loops(const ts_walk *walk, int side, side_loop *loops, int64_t *first_bit,
                      int64_t *run_bits) {
    int count = 0;
    *first_bit = side ? walk->box.dst_bits : walk->box.src_bits;
    for (int i = 0; i < walk->box.loop_count; i++) {
        const ts_plan_loop *loop = &walk->box.loops[i];
        int64_t stride = side ? loop->dst_bits : loop->src_bits, left = loop->extent - walk->at[i];
        int64_t extent = left < walk->block[i] ? left : walk->block[i];
        *first_bit += walk->at[i] * stride;
        if (stride < 0) {
            *first_bit += (extent - 1) * stride;
            stride = -stride;
        }
        if (extent > 1 && stride != 0) loops[count++] = (side_loop){extent, stride};
    }
    if (count > 1) qsort(loops, (size_t)count, sizeof *loops, compare_side_loops);
    *run_bits = walk->element_bits[side];
    while (count > 0 && loops[count - 1].stride == *run_bits) *run_bits *= loops[--count].extent;
    return count;
}

/* Folds the inner loops whose turns lie one behind the other and leave out no line into *bits; returns how
 * many are left, and how many runs were folded. */
static int fold_lines(const ts_walk *walk, int side, const side_loop *loops, int count, int64_t *bits,
                      int64_t *runs) {
    int64_t line_bits = (int64_t)walk->line_bytes[side] * 8;
    for (*runs = 1; count > 0; count--) {
        int64_t gap = loops[count - 1].stride - *bits;
        if (gap < 0 || gap >= line_bits) break;
        *bits += (loops[count - 1].extent - 1) * loops[count - 1].stride;
        *runs *= loops[count - 1].extent;
    }
    return count;
}

static void add_side(ts_walk *walk, int side) {
    side_loop loops[TS_PLAN_MAX_LOOPS];
    int64_t bit, bits, runs, at[TS_PLAN_MAX_LOOPS] = {0};
    if (walk->line_bytes[side] == 0) return;
    int count = side_loops(walk, side, loops, &bit, &bits), i;
    count = fold_lines(walk, side, loops, count, &bits, &runs);
    do {
        add_runs(walk, side, bit, bits, runs);
        for (i = count - 1; i >= 0; i--) {
            bit += loops[i].stride;
            if (++at[i] < loops[i].extent) break;
            bit -= loops[i].stride * loops[i].extent;
            at[i] = 0;
        }
    } while (i >= 0);
}

static int64_t block_elements(const ts_walk *walk) {
    int64_t elements = 1;
    for (int i = 0; i < walk->box.loop_count; i++) {
        int64_t left = walk->box.loops[i].extent - walk->at[i];
        elements *= left < walk->block[i] ? left : walk->block[i];
    }
    return elements;
}

static bool open_box(ts_walk *walk) {
    if (walk->box_number == walk->plan->box_count) return false;
    ts_plan_get_box(walk->plan, walk->box_number++, &walk->box);
    memset(walk->at, 0, sizeof walk->at);
    choose_block(walk);
    walk->box_rmw = needs_rmw(walk);
    walk->box_open = true;
    return true;
}

static void next_block(ts_walk *walk) {
    for (int i = walk->box.loop_count - 1; i >= 0; i--) {
        walk->at[i] += walk->block[i];
        if (walk->at[i] < walk->box.loops[i].extent) return;
        walk->at[i] = 0;
    }
    walk->box_open = false;
}

/* Takes back what next_block did: behind the last block, all loops begin again. */
void ts_walk_last_block(const ts_walk *walk, ts_walk_block *block) {
    *block = (ts_walk_block){.box = walk->box_number - 1, .loop_count = walk->box.loop_count};
    bool back = true;
    for (int i = block->loop_count - 1; i >= 0; i--) {
        int64_t extent = walk->box.loops[i].extent, size = walk->block[i], at = walk->at[i];
        if (back) at = at > 0 ? at - size : (extent - 1) / size * size;
        back = back && walk->at[i] == 0;
        block->at[i] = at;
        block->extent[i] = extent - at < size ? extent - at : size;
    }
}

bool ts_walk_next(ts_walk *walk, const ts_walk_access **accesses, int *count, int64_t *elements) {
    if (!walk->box_open && !open_box(walk)) return false;
    walk->count = 0;
    walk->totals.blocks++;
    add_side(walk, 0);
    add_side(walk, 1);
    *elements = block_elements(walk);
    *accesses = walk->accesses;
    *count = walk->count;
    next_block(walk);
    return true;
}

/* ---- Leaving blocks out ---- */

static int64_t blocks_along(const ts_walk *walk, int loop) {
    return ts_ceil_div(walk->box.loops[loop].extent, walk->block[loop]);
}

/* The block that is next in the open box; *count: how many it has. */
static int64_t next_of_box(const ts_walk *walk, int64_t *count) {
    int64_t next = 0;
    *count = 1;
    for (int i = 0; i < walk->box.loop_count; i++) {
        int64_t along = blocks_along(walk, i);
        next = next * along + walk->at[i] / walk->block[i];
        *count *= along;
    }
    return next;
}

int64_t ts_walk_place(const ts_walk *walk, int64_t *next, int64_t *count) {
    const int64_t boxes = walk->plan->box_count;
    int64_t ignored;
    *next = *count = 0;
    if (walk->plan->gathers) {
        *next = walk->box_number;
        *count = boxes;
        return 0;
    }
    if (walk->starts && (walk->box_open || walk->box_number < boxes)) {
        *next = walk->box_open ? walk->starts[walk->box_number - 1].blocks + next_of_box(walk, &ignored)
                               : walk->starts[walk->box_number].blocks;
        *count = walk->starts[boxes].blocks;
        return boxes;
    }
    if (!walk->box_open) return -1;
    *next = next_of_box(walk, count);
    return walk->box_number - 1;
}

static int64_t elements_of_box_before(const ts_walk *walk, int64_t block) {
    int64_t before = 0, inner = 1;
    for (int i = walk->box.loop_count - 1; i >= 0; i--) {
        int64_t extent = walk->box.loops[i].extent, along = blocks_along(walk, i);
        int64_t at = (i > 0 ? block % along : block) * walk->block[i], left = extent - at;
        /* Of the inner loops, what lies before was counted for one turn of this one; the block has several.
         */
        before =
            before * (left < walk->block[i] ? left : walk->block[i]) + (at < extent ? at : extent) * inner;
        inner *= extent;
        block /= along;
    }
    return before;
}

/* Of all boxes as one, the box of a block. */
static int64_t box_of(const ts_walk *walk, int64_t block) {
    int64_t low = 0, high = walk->plan->box_count;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (walk->starts[middle].blocks <= block)
            low = middle;
        else
            high = middle;
    }
    return low;
}

ts_walk_amount ts_walk_before(const ts_walk *walk, int64_t block) {
    if (walk->plan->gathers) return (ts_walk_amount){block, block};
    if (!walk->starts) {
        int64_t elements = elements_of_box_before(walk, block);
        return (ts_walk_amount){elements, elements};
    }
    int64_t number = box_of(walk, block);
    const box_start *from = &walk->starts[number], *to = from + 1;
    double part = (double)(block - from->blocks) / (double)(to->blocks - from->blocks);
    return (ts_walk_amount){from->elements + (int64_t)(part * (double)(to->elements - from->elements)),
                            from->work + (int64_t)(part * (double)(to->work - from->work))};
}

int64_t ts_walk_period(const ts_walk *walk, int64_t least) {
    if (walk->plan->gathers || walk->starts) return least;
    int64_t inner = 1;
    for (int i = walk->box.loop_count - 1; i >= 0; i--) {
        int64_t along = blocks_along(walk, i), wanted = ts_ceil_div(least, inner);
        if (along < wanted) {
            inner *= along;
            continue;
        }
        int64_t turns = 1;
        while (turns < wanted) turns *= 2;
        return inner * (turns < along ? turns : along);
    }
    return inner;
}

static void seek_in_box(ts_walk *walk, int64_t block) {
    for (int i = walk->box.loop_count - 1; i >= 0; i--) {
        int64_t along = blocks_along(walk, i);
        walk->at[i] = block % along * walk->block[i];
        block /= along;
    }
    walk->last_line[0] = walk->last_line[1] = -1;
}

void ts_walk_seek(ts_walk *walk, int64_t block) {
    int64_t next, count;
    ts_walk_place(walk, &next, &count);
    assert(block >= 0 && block < count);
    if (walk->plan->gathers) {
        walk->box_number = block;
        walk->box_open = false;
    }
    if (walk->starts) {
        walk->box_number = box_of(walk, block);
        block -= walk->starts[walk->box_number].blocks;
        open_box(walk);
    }
    if (walk->box_open) seek_in_box(walk, block);
    walk->last_line[0] = walk->last_line[1] = -1;
}

/* ---- All boxes as one ---- */

enum {
    COUNTED = 1 << 15
}; /* blocks, of all boxes together, whose lines stand for the rest; one of each at least */

/* What the box adds to what lies before it. */
static box_start measure_box(ts_walk *probe, int64_t number, int64_t most) {
    ts_walk_totals before = probe->totals;
    const ts_walk_access *accesses;
    int64_t count, seen = 0, elements;
    int access_count;
    probe->box_number = number;
    open_box(probe);
    const int64_t all = probe->box.elements;
    next_of_box(probe, &count);
    for (int64_t block = 0; block < count; block += count / most | 1) {
        seek_in_box(probe, block);
        ts_walk_next(probe, &accesses, &access_count, &elements);
        seen += elements;
    }
    const ts_walk_totals *t = &probe->totals;
    int64_t lines =
        t->src_lines + t->dst_lines + t->rmw_lines - before.src_lines - before.dst_lines - before.rmw_lines;
    return (box_start){count, all, 1 + (int64_t)((double)lines / (double)seen * (double)all)};
}

void ts_walk_join_boxes(ts_walk *walk) {
    const int64_t boxes = walk->plan->box_count;
    ts_walk *probe =
        ts_walk_new(walk->arena, walk->plan, walk->line_bytes[0], walk->line_bytes[1], walk->granule_bits);
    box_start *starts = TS_NEW_ARRAY(walk->arena, box_start, boxes + 1);
    for (int64_t i = 0; i < boxes; i++) {
        box_start own = measure_box(probe, i, COUNTED / boxes + 1);
        starts[i + 1] = (box_start){starts[i].blocks + own.blocks, starts[i].elements + own.elements,
                                    starts[i].work + own.work};
    }
    walk->starts = starts;
}

void ts_walk_part_boxes(ts_walk *walk) { walk->starts = NULL; }
bool ts_walk_boxes_are_joined(const ts_walk *walk) { return walk->starts != NULL; }

const ts_member ts_walk_totals_members[] = {
    TS_MEMBER(ts_walk_totals, blocks),
    TS_MEMBER(ts_walk_totals, src_lines),
    TS_MEMBER(ts_walk_totals, dst_lines),
    TS_MEMBER(ts_walk_totals, rmw_lines),
    TS_MEMBER(ts_walk_totals, src_runs),
    TS_MEMBER(ts_walk_totals, dst_runs),
    {0, 0},
};

void ts_walk_add_totals(ts_walk *walk, const ts_walk_totals *totals) {
    ts_members_add(&walk->totals, totals, ts_walk_totals_members, 1, 1);
}
