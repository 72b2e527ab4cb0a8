/* Positions of a traversal: what lies before a block, and going on with another. */
#include <assert.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/ratio.h"
#include "traversal_private.h"

static int64_t blocks_along(const ts_traversal *traversal, int loop) {
    return ts_ceil_div(traversal->box.loops[loop].extent, traversal->block[loop]);
}

/* The block that is next in the open box; *count: how many it has. */
static int64_t next_of_box(const ts_traversal *traversal, int64_t *count) {
    int64_t next = 0;
    *count = 1;
    for (int i = 0; i < traversal->box.loop_count; i++) {
        int64_t along = blocks_along(traversal, i);
        next = next * along + traversal->at[i] / traversal->block[i];
        *count *= along;
    }
    return next;
}

int64_t ts_traversal_position(const ts_traversal *traversal, int64_t *next, int64_t *count) {
    const int64_t boxes = traversal->plan->box_count;
    int64_t ignored;
    *next = *count = 0;
    if (traversal->plan->gathers) {
        *next = traversal->box_number;
        *count = boxes;
        return 0;
    }
    if (traversal->starts && (traversal->box_open || traversal->box_number < boxes)) {
        *next = traversal->box_open
                    ? traversal->starts[traversal->box_number - 1].blocks + next_of_box(traversal, &ignored)
                    : traversal->starts[traversal->box_number].blocks;
        *count = traversal->starts[boxes].blocks;
        return boxes;
    }
    if (!traversal->box_open) return -1;
    *next = next_of_box(traversal, count);
    return traversal->box_number - 1;
}

static int64_t elements_of_box_before(const ts_traversal *traversal, int64_t block) {
    int64_t before = 0, inner = 1;
    for (int i = traversal->box.loop_count - 1; i >= 0; i--) {
        int64_t extent = traversal->box.loops[i].extent, along = blocks_along(traversal, i);
        int64_t at = (i > 0 ? block % along : block) * traversal->block[i], left = extent - at;
        /* Of the inner loops, what lies before was counted for one iteration of this one; the block has
         * several. */
        before =
            before * (left < traversal->block[i] ? left : traversal->block[i]) + ts_min(at, extent) * inner;
        inner *= extent;
        block /= along;
    }
    return before;
}

int64_t ts_traversal_period(const ts_traversal *traversal, int64_t least) {
    if (traversal->plan->gathers || traversal->starts) return least;
    int64_t inner = 1;
    for (int i = traversal->box.loop_count - 1; i >= 0; i--) {
        int64_t along = blocks_along(traversal, i), wanted = ts_ceil_div(least, inner);
        if (along < wanted) {
            inner *= along;
            continue;
        }
        int64_t iterations = 1;
        while (iterations < wanted) iterations *= 2;
        return inner * ts_min(iterations, along);
    }
    return inner;
}

int64_t ts_traversal_alike(const ts_traversal *traversal) {
    int64_t next, count;
    ts_traversal_position(traversal, &next, &count);
    if (traversal->plan->gathers || traversal->starts || !traversal->box_open) return count;
    for (int i = 0; i < traversal->box.loop_count; i++) {
        int64_t along = blocks_along(traversal, i);
        if (along == 1) continue;
        return traversal->box.loops[i].extent % traversal->block[i] ? count - count / along : count;
    }
    return count;
}

static void place_in_box(ts_traversal *traversal, int64_t block) {
    for (int i = traversal->box.loop_count - 1; i >= 0; i--) {
        int64_t along = blocks_along(traversal, i);
        traversal->at[i] = block % along * traversal->block[i];
        block /= along;
    }
    traversal->last_line[0] = traversal->last_line[1] = -1;
}

/* Lines may be shared with the block before. */
static void seek_in_box(ts_traversal *traversal, int64_t block) {
    place_in_box(traversal, block > 0 ? block - 1 : 0);
    traversal->box_open = true;
    if (block > 0) traversal_pass_block(traversal);
}

/* ---- The work of blocks ---- */

enum {
    PROBES = 16,            /* blocks of a kind that are measured, at most, */
    PROBED_LINES = 1 << 14, /* until they have so many lines; */
    PROBED_PART = 8,        /* or one in so many of all, if that is more, */
    PROBED_ERROR = 400,     /* and until their mean is known to one part in so many, */
    PROBED_MOST = 1 << 12   /* but no more than these */
};

typedef struct {
    int loops, edges;
    int64_t along[TS_PLAN_MAX_LOOPS]; /* blocks */
    int edge[TS_PLAN_MAX_LOOPS];      /* the bit of a kind that says: the last, smaller one; or -1 */
} kinds;

static kinds kinds_of(const ts_traversal *traversal) {
    kinds k = {.loops = traversal->box.loop_count};
    for (int i = 0; i < k.loops; i++) {
        k.along[i] = blocks_along(traversal, i);
        bool has_edge = k.along[i] > 1 && traversal->box.loops[i].extent % traversal->block[i] != 0;
        k.edge[i] = has_edge && k.edges < TRAVERSAL_EDGES ? k.edges++ : -1;
    }
    return k;
}

static bool is_edge(const kinds *k, int kind, int loop) {
    return k->edge[loop] >= 0 && kind >> k->edge[loop] & 1;
}

/* Blocks of a kind along a loop. */
static int64_t along_of(const kinds *k, int kind, int loop) {
    if (k->edge[loop] < 0) return k->along[loop];
    return is_edge(k, kind, loop) ? 1 : k->along[loop] - 1;
}

static int64_t count_kind(const kinds *k, int kind) {
    int64_t count = 1;
    for (int i = 0; i < k->loops; i++) count *= along_of(k, kind, i);
    return count;
}

/* Number `n` of the blocks of a kind, as a block of the box. */
static int64_t block_of_kind(const kinds *k, int kind, int64_t n) {
    int64_t block = 0, inner = count_kind(k, kind);
    for (int i = 0; i < k->loops; i++) {
        int64_t along = along_of(k, kind, i);
        inner /= along;
        block = block * k->along[i] + (is_edge(k, kind, i) ? k->along[i] - 1 : n / inner % along);
    }
    return block;
}

/* How many of a kind lie before a block, which may be the one behind the last. */
static int64_t count_kind_before(const kinds *k, int kind, int64_t block) {
    int64_t before = 0, inner = 1;
    for (int i = k->loops - 1; i >= 0; i--) {
        int64_t at = i > 0 ? block % k->along[i] : block, least = is_edge(k, kind, i) ? k->along[i] - 1 : 0;
        int64_t along = along_of(k, kind, i), below = at - least;
        bool is_here = below >= 0 && below < along; /* blocks of the kind share this iteration */
        below = below < 0 ? 0 : below < along ? below : along;
        before = (is_here ? before : 0) + below * inner;
        inner *= along;
        block /= k->along[i];
    }
    return before;
}

/* Where nothing has lines, elements. */
static double measure_block(ts_traversal *probe, int64_t block) {
    const ts_traversal_access *accesses;
    int64_t elements, before = ts_traversal_lines(probe);
    int count;
    seek_in_box(probe, block);
    ts_traversal_next(probe, &accesses, &count, &elements);
    bool has_lines = probe->line_bytes[0] + probe->line_bytes[1] > 0;
    return (double)(has_lines ? ts_traversal_lines(probe) - before : elements);
}

/* Another block of a kind, after those that were measured? */
static bool is_wanted(int64_t all, const ts_ratio *work) {
    if (work->count < 2 || (work->count < PROBES && work->value < PROBED_LINES)) return true;
    double others = 1 - (double)work->count / (double)all;
    bool is_enough = work->count >= all / PROBED_PART && ts_ratio_is_known(work, PROBED_ERROR, others);
    return work->count < PROBED_MOST && !is_enough;
}

/* Of the blocks of each kind some, spread evenly; all where there are few. */
static void measure_kinds(ts_traversal *probe, double block_work[TRAVERSAL_KINDS]) {
    const kinds k = kinds_of(probe);
    for (int kind = 0; kind < 1 << k.edges; kind++) {
        int64_t all = count_kind(&k, kind);
        ts_ratio work = {0};
        while (work.count < all && is_wanted(all, &work)) {
            int64_t n = all <= PROBES ? work.count : (int64_t)(ts_golden_part(work.count + 1) * (double)all);
            ts_ratio_add(&work, measure_block(probe, block_of_kind(&k, kind, n)), 1);
        }
        block_work[kind] = ts_ratio_get(&work);
    }
}

static int64_t work_before(const ts_traversal *traversal, const double *block_work, int64_t block) {
    const kinds k = kinds_of(traversal);
    double work = 0;
    for (int kind = 0; kind < 1 << k.edges; kind++)
        work += block_work[kind] * (double)count_kind_before(&k, kind, block);
    return (int64_t)(work * TS_TRAVERSAL_LINE_WORK);
}

static ts_traversal *new_probe(ts_arena *arena, const ts_traversal *of, int64_t box) {
    ts_traversal *probe =
        ts_traversal_new(arena, of->plan, of->line_bytes[0], of->line_bytes[1], of->granule_bits);
    probe->only_counts = true;
    probe->box_number = box;
    traversal_open_box(probe);
    return probe;
}

/* Measures the open box, when that is first asked for. */
static void measure_open_box(ts_traversal *traversal) {
    if (traversal->measured_box == traversal->box_number) return;
    ts_arena *scratch = ts_arena_new();
    measure_kinds(new_probe(scratch, traversal, traversal->box_number - 1), traversal->block_work);
    traversal->measured_box = traversal->box_number;
    ts_arena_free(scratch);
}

/* ---- What lies before a block ---- */

/* Of all boxes as one, what lies before a box. */
typedef int64_t before_function(const ts_traversal *traversal, int64_t box);
static int64_t blocks_before(const ts_traversal *traversal, int64_t box) {
    return traversal->starts[box].blocks;
}
static int64_t work_before_box(const ts_traversal *traversal, int64_t box) {
    return traversal->starts[box].work;
}
static int64_t sorted_work_before(const ts_traversal *traversal, int64_t box) {
    return traversal->sorted[box].work;
}

/* The last box before which no more than `at` lies. */
static int64_t find_box(const ts_traversal *traversal, before_function *before, int64_t at) {
    int64_t low = 0, high = traversal->plan->box_count;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (before(traversal, middle) <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int64_t box_of(const ts_traversal *traversal, int64_t block) {
    return find_box(traversal, blocks_before, block);
}

typedef struct {
    const traversal_box_start *from;
    double part; /* of the box's blocks that lie before */
} joined_block;

static joined_block find_joined(const ts_traversal *traversal, int64_t block) {
    const traversal_box_start *from = &traversal->starts[box_of(traversal, block)];
    return (joined_block){from, (double)(block - from->blocks) / (double)(from[1].blocks - from->blocks)};
}

static int64_t interpolate(int64_t from, int64_t to, double part) {
    return from + (int64_t)(part * (double)(to - from));
}

int64_t ts_traversal_elements_before(const ts_traversal *traversal, int64_t block) {
    if (traversal->plan->gathers) return block;
    if (!traversal->starts) return elements_of_box_before(traversal, block);
    int64_t box = box_of(traversal, block);
    const traversal_box_start *from = &traversal->starts[box];
    ts_arena *scratch = ts_arena_new();
    int64_t inside = elements_of_box_before(new_probe(scratch, traversal, box), block - from->blocks);
    ts_arena_free(scratch);
    return from->elements + inside;
}

static int64_t find_work_before(ts_traversal *traversal, int64_t block) {
    if (traversal->plan->gathers) return block;
    if (!traversal->starts) {
        measure_open_box(traversal);
        return work_before(traversal, traversal->block_work, block);
    }
    joined_block at = find_joined(traversal, block);
    return interpolate(at.from->work, at.from[1].work, at.part);
}

ts_traversal_amount ts_traversal_before(ts_traversal *traversal, int64_t block) {
    return (ts_traversal_amount){ts_traversal_elements_before(traversal, block),
                                 find_work_before(traversal, block)};
}

void ts_traversal_seek(ts_traversal *traversal, int64_t block) {
    int64_t next, count;
    ts_traversal_position(traversal, &next, &count);
    assert(block >= 0 && block < count);
    if (traversal->plan->gathers) {
        traversal->box_number = block;
        traversal->box_open = false;
        traversal->last_line[0] = traversal->last_line[1] = -1;
    }
    if (traversal->starts) {
        traversal->box_number = box_of(traversal, block);
        block -= traversal->starts[traversal->box_number].blocks;
        traversal_open_box(traversal);
    }
    if (traversal->box_open) seek_in_box(traversal, block);
}

/* ---- All boxes as one ---- */

/* What a box adds to what lies before it. */
static traversal_box_start measure_box(ts_arena *scratch, const ts_traversal *of, int64_t number) {
    double block_work[TRAVERSAL_KINDS];
    int64_t count;
    ts_traversal *probe = new_probe(scratch, of, number);
    next_of_box(probe, &count);
    int64_t elements = probe->box.elements;
    measure_kinds(probe, block_work);
    return (traversal_box_start){
        .blocks = count, .elements = elements, .work = 1 + work_before(probe, block_work, count)};
}

int64_t ts_traversal_work_elsewhere(const ts_traversal *traversal, int64_t most) {
    const ts_plan *plan = traversal->plan;
    int64_t work = 0;
    if (plan->gathers || traversal->starts || plan->box_count > most) return 0;
    ts_arena *scratch = ts_arena_new();
    for (int64_t i = 0; i < plan->box_count; i++)
        if (i != traversal->box_number - 1) work += measure_box(scratch, traversal, i).work;
    ts_arena_free(scratch);
    return work;
}

static int compare_work(const void *left, const void *right) {
    const traversal_sorted_box *a = left, *b = right;
    if (a->own != b->own) return ts_order(a->own, b->own);
    return ts_order(a->box, b->box);
}

static void sort_boxes(ts_traversal *traversal) {
    const int64_t boxes = traversal->plan->box_count;
    traversal_sorted_box *sorted = TS_NEW_ARRAY(traversal->arena, traversal_sorted_box, boxes);
    traversal_box_start *starts = traversal->starts;
    for (int64_t i = 0; i < boxes; i++)
        sorted[i] = (traversal_sorted_box){.box = i, .own = starts[i + 1].work - starts[i].work};
    qsort(sorted, (size_t)boxes, sizeof *sorted, compare_work);
    for (int64_t i = 1; i < boxes; i++) sorted[i].work = sorted[i - 1].work + sorted[i - 1].own;
    for (int64_t i = 0; i < boxes; i++)
        starts[sorted[i].box].sorted_part =
            ((double)sorted[i].work + (double)sorted[i].own / 2) / (double)starts[boxes].work;
    traversal->sorted = sorted;
}

/* The block of a box before which so much of its own work lies. */
static int64_t find_in_box(const ts_traversal *traversal, int64_t box, int64_t work) {
    const traversal_box_start *from = &traversal->starts[box];
    return interpolate(from->blocks, from[1].blocks, (double)work / (double)(from[1].work - from->work));
}

int64_t ts_traversal_find_sorted(const ts_traversal *traversal, double part) {
    int64_t work = (int64_t)(part * (double)traversal->starts[traversal->plan->box_count].work);
    const traversal_sorted_box *box = &traversal->sorted[find_box(traversal, sorted_work_before, work)];
    return find_in_box(traversal, box->box, work - box->work);
}

int64_t ts_traversal_find_work(const ts_traversal *traversal, int64_t work) {
    int64_t box = find_box(traversal, work_before_box, work);
    return find_in_box(traversal, box, work - traversal->starts[box].work);
}

double ts_traversal_sorted_part(const ts_traversal *traversal, int64_t box) {
    return traversal->starts[box].sorted_part;
}

ts_traversal_amount ts_traversal_before_box(const ts_traversal *traversal, int64_t box) {
    return (ts_traversal_amount){traversal->starts[box].elements, traversal->starts[box].work};
}

void ts_traversal_join_boxes(ts_traversal *traversal) {
    const int64_t boxes = traversal->plan->box_count;
    traversal_box_start *starts = TS_NEW_ARRAY(traversal->arena, traversal_box_start, boxes + 1);
    ts_arena *scratch = ts_arena_new();
    for (int64_t i = 0; i < boxes; i++) {
        ts_arena_reset(scratch);
        traversal_box_start own = measure_box(scratch, traversal, i);
        starts[i + 1] = (traversal_box_start){.blocks = starts[i].blocks + own.blocks,
                                              .elements = starts[i].elements + own.elements,
                                              .work = starts[i].work + own.work};
    }
    ts_arena_free(scratch);
    traversal->starts = starts;
    sort_boxes(traversal);
}

void ts_traversal_split_boxes(ts_traversal *traversal) { traversal->starts = NULL; }
bool ts_traversal_boxes_are_joined(const ts_traversal *traversal) { return traversal->starts != NULL; }
