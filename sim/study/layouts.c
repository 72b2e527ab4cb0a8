/* Layouts beside each other: those that TPUs use for a type, and transfers between them. */
#include "study/layouts.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "isa/vreg.h"
#include "layout/notation/tpu_rule.h"

/* ---- The list ---- */

static bool has(ts_arena *arena, const ts_layout_list *list, const ts_shape *shape) {
    for (int i = 0; i < list->count; i++)
        if (strcmp(ts_shape_text(arena, list->shapes[i]), ts_shape_text(arena, shape)) == 0) return true;
    return false;
}

static bool add(ts_arena *arena, ts_layout_list *list, const ts_shape *shape) {
    if (shape && list->count < TS_LAYOUTS_MOST && !has(arena, list, shape))
        list->shapes[list->count++] = shape;
    return shape != NULL;
}

typedef struct {
    ts_dtype dtype;
    int generation;
    ts_xla_layout fields; /* without tiles */
} untiled;

/* The rule's tiles for an array with `rows` in its second minor dim, on the dims of `plain`. */
static bool add_tiled(ts_error *err, ts_arena *arena, const untiled *plain, int64_t rows, unsigned flags,
                      ts_layout_list *list) {
    ts_xla_layout model = plain->fields, tiled = plain->fields;
    int rank = model.rank;
    int64_t *dims = TS_NEW_ARRAY(arena, int64_t, rank + 1);
    int second = rank < 2 ? 0 : model.minor_to_major[1];
    for (int i = 0; i < rank; i++) dims[i] = model.dims[i];
    if (rank > 0) dims[second] = rank < 2 ? rows * TS_LANES : rows;
    model.dims = dims;
    const ts_shape *shape = ts_tpu_tiled(err, arena, plain->dtype, &model, plain->generation, flags);
    if (!shape) return false;
    tiled.tiles = shape->xla->tiles;
    tiled.tile_count = shape->xla->tile_count;
    tiled.element_bits = shape->xla->element_bits;
    tiled.layout_written = true;
    return add(arena, list, ts_xla_shape(err, arena, plain->dtype, &tiled));
}

enum { TALLEST = 256 };

static ts_xla_layout plain_fields(ts_arena *arena, const ts_shape *model) {
    int rank = model->layout->rank;
    int *order = TS_NEW_ARRAY(arena, int, rank + 1);
    for (int i = 0; i < rank; i++) order[i] = rank - 1 - i;
    const ts_dtype_info *info = ts_dtype_get(model->dtype);
    bool narrow = info->class != TS_CLASS_BOOL && info->value_bits <= 4;
    return (ts_xla_layout){.rank = rank,
                           .dims = model->layout->dims,
                           .minor_to_major = order,
                           .layout_written = true,
                           .memory_space = model->memory_space,
                           .element_bits = narrow ? info->value_bits : 0};
}

/* With the two minor dims exchanged. */
static ts_xla_layout transposed_fields(ts_arena *arena, const ts_shape *model) {
    ts_xla_layout fields = plain_fields(arena, model);
    int *order = TS_COPY_ARRAY(arena, fields.minor_to_major, fields.rank);
    order[0] = fields.minor_to_major[1];
    order[1] = fields.minor_to_major[0];
    fields.minor_to_major = order;
    return fields;
}

/* By the public rule (layout/tpu_rule.h) for any dims: row-major without tiles, and tiles of every height
 * from the least of the generation to the tallest; of two dims and more also with the last two exchanged,
 * without tiles and with the usual ones. Types narrower than a byte are packed. `model` gives the type, the
 * dims and the memory space; if its own layout is not among them, it comes first. */
static bool layouts_of_tpu(ts_error *err, ts_arena *arena, const ts_shape *model, int generation,
                           ts_layout_list *list) {
    enum { ALL_TALL = TS_TPU_LARGE_X4 | TS_TPU_LARGE_X8 | TS_TPU_LARGE_X16 };
    *list = (ts_layout_list){0};
    if (!ts_shape_layout(err, model, "the shape")) return false;
    untiled plain = {model->dtype, generation, plain_fields(arena, model)}, transposed = plain;
    bool fine = true;
    if (!model->xla || model->xla->layout_written) fine = add(arena, list, model);
    fine = fine && add(arena, list, ts_xla_shape(err, arena, model->dtype, &plain.fields));
    if (plain.fields.rank >= 2) {
        transposed.fields = transposed_fields(arena, model);
        fine = fine && add(arena, list, ts_xla_shape(err, arena, model->dtype, &transposed.fields)) &&
               add_tiled(err, arena, &transposed, TALLEST, TS_TPU_ARGUMENT, list);
    }
    for (int64_t rows = TALLEST; rows >= 1 && fine && plain.fields.rank > 0; rows /= 2)
        fine = add_tiled(err, arena, &plain, rows, ALL_TALL, list) &&
               add_tiled(err, arena, &plain, rows, TS_TPU_ARGUMENT, list);
    return fine;
}

/* ---- Pricing them ---- */

static bool price_one(ts_error *err, const ts_transfer_request *request, ts_dma_cost *cost) {
    ts_arena *scratch = ts_arena_new();
    ts_transfer_study study;
    bool priced = ts_transfer_price(err, scratch, request, &study);
    *cost = priced ? study.cost : (ts_dma_cost){0};
    ts_arena_free(scratch);
    return priced;
}

/* What nobody can do, and a tensor that does not fit, are no error: cost->cycles stays 0. */
static bool try_one(ts_error *err, const ts_transfer_request *request, ts_dma_cost *cost) {
    ts_error refused = {0};
    if (price_one(&refused, request, cost)) return true;
    if (refused.kind == TS_ERROR_UNMODELLED || refused.kind == TS_ERROR_INPUT ||
        refused.kind == TS_ERROR_CAPACITY)
        return true;
    if (err) *err = refused;
    return false;
}

static int by_cycles(const void *a, const void *b) {
    const ts_transfer_other *left = a, *right = b;
    return ts_order(left->cycles, right->cycles);
}

/* The layouts that are like the other end's: its own, and its order of dims without tiles and with the usual
 * ones. What cannot be is left out. */
static void add_like(ts_arena *arena, const ts_shape *own, const ts_shape *other, int generation,
                     ts_layout_list *list) {
    const ts_layout *a = own->layout, *b = other->layout;
    bool alike = own->dtype == other->dtype && own->memory_space == other->memory_space &&
                 ts_integers_equal(a->dims, a->rank, b->dims, b->rank);
    if (alike) add(arena, list, other);
    if (!other->xla || a->rank != b->rank || a->rank < 2) return;
    untiled plain = {own->dtype, generation, plain_fields(arena, own)};
    ts_xla_layout *fields = &plain.fields;
    int *order = TS_NEW_ARRAY(arena, int, a->rank);
    for (int i = 0; i < a->rank; i++) order[i] = ts_xla_dim_at(other->xla, i);
    fields->minor_to_major = order;
    add(arena, list, ts_xla_shape(NULL, arena, own->dtype, fields));
    add_tiled(NULL, arena, &plain, TALLEST, TS_TPU_ARGUMENT, list);
    if (own->element_bits != other->element_bits) return;
    fields->tiles = other->xla->tiles;
    fields->tile_count = other->xla->tile_count;
    fields->element_bits = other->xla->element_bits;
    add(arena, list, ts_xla_shape(NULL, arena, own->dtype, fields));
}

/* Another layout of one end. */
typedef struct {
    const ts_shape *shape;
    int number;     /* in the list */
    int64_t cycles; /* it takes at least */
    enum { PRICED, BY_ENGINE, BY_CORE } kind;
} candidate;

/* One end of a transfer in other layouts. */
typedef struct {
    ts_transfer_request request; /* without a limit */
    const ts_shape **varied;     /* the shape of that end in it */
    ts_layout_list list;         /* own and others */
    const char *own;
} variation;

static bool is_own(ts_arena *arena, const variation *v, int number) {
    return strcmp(v->own, ts_shape_text(arena, v->list.shapes[number])) == 0;
}

static bool try_other(ts_error *err, variation *v, const ts_shape *shape, int64_t limit, ts_dma_cost *cost) {
    *v->varied = shape;
    v->request.limit = limit;
    return try_one(err, &v->request, cost);
}

static bool try_all(ts_error *err, ts_arena *arena, variation *v, ts_transfer_others *others) {
    for (int i = 0; i < v->list.count; i++) {
        ts_dma_cost cost;
        const ts_shape *shape = v->list.shapes[i];
        if (is_own(arena, v, i)) continue;
        if (!try_other(err, v, shape, 0, &cost)) return false;
        if (cost.cycles > 0)
            others->others[others->count++] = (ts_transfer_other){shape, cost.cycles, cost.estimated};
    }
    qsort(others->others, (size_t)others->count, sizeof others->others[0], by_cycles);
    return true;
}

/* Those that may be fast first, so that most others are over what they take: of what was priced before, then
 * of what the engine does; programs, which are long to run, last. */
static int by_promise(const void *a, const void *b) {
    const candidate *left = a, *right = b;
    if (left->kind != right->kind) return (int)left->kind - (int)right->kind;
    if (left->cycles != right->cycles) return ts_order(left->cycles, right->cycles);
    return left->number - right->number;
}

/* Those that can be done, and what they take at least. */
static bool find_candidates(ts_error *err, ts_arena *arena, variation *v, candidate *found, int *count) {
    *count = 0;
    for (int i = 0; i < v->list.count; i++) {
        ts_dma_cost cost;
        if (is_own(arena, v, i)) continue;
        if (!try_other(err, v, v->list.shapes[i], 1, &cost)) return false;
        candidate c = {v->list.shapes[i], i, cost.cycles, cost.is_over ? BY_ENGINE : PRICED};
        if (cost.is_over && cost.transfer.kind == TS_DMA_CORE_PROGRAM) c.kind = BY_CORE;
        if (cost.cycles > 0) found[(*count)++] = c;
    }
    qsort(found, (size_t)*count, sizeof *found, by_promise);
    return true;
}

/* Of equal ones the first of the list. */
static bool try_for_cheapest(ts_error *err, ts_arena *arena, variation *v, ts_transfer_others *others) {
    candidate found[TS_LAYOUTS_MOST];
    ts_transfer_other *best = &others->others[0];
    int count, number = 0;
    if (!find_candidates(err, arena, v, found, &count)) return false;
    for (int i = 0; i < count; i++) {
        ts_dma_cost cost;
        bool equal_wins = found[i].number < number;
        int64_t limit = others->count > 0 ? ts_max(best->cycles - !equal_wins, 1) : 0;
        if (!try_other(err, v, found[i].shape, limit, &cost)) return false;
        if (cost.is_over || (limit > 0 && cost.cycles > limit)) continue;
        *best = (ts_transfer_other){found[i].shape, cost.cycles, cost.estimated};
        number = found[i].number;
        others->count = 1;
    }
    return true;
}

bool ts_transfer_try_others(ts_error *err, ts_arena *arena, const ts_transfer_others_request *r,
                            ts_transfer_others others[2]) {
    const ts_transfer_study *study = r->study;
    for (int dst = 0; dst < 2; dst++) {
        variation v = {.request = {study->machine, r->prices, study->src, study->dst, study->exact, 0}};
        const ts_shape *own = dst ? study->dst.shape : study->src.shape;
        others[dst] = (ts_transfer_others){0};
        if (own->layout->axis_count > 1) continue;
        if (!layouts_of_tpu(err, arena, own, study->machine->chip.generation, &v.list)) return false;
        add_like(arena, own, dst ? study->src.shape : study->dst.shape, study->machine->chip.generation,
                 &v.list);
        v.own = ts_shape_text(arena, own);
        v.varied = dst ? &v.request.dst.shape : &v.request.src.shape;
        if (study->src_memory == study->dst_memory && !study->dst_placed)
            v.request.dst.at = TS_TRANSFER_ANYWHERE;
        if (!(r->cheapest_only ? try_for_cheapest : try_all)(err, arena, &v, &others[dst])) return false;
    }
    return true;
}

ts_transfer_matrix *ts_transfer_price_matrix(ts_error *err, ts_arena *arena, const ts_machine *machine,
                                             const ts_shape *model, bool exact) {
    ts_transfer_matrix *m = TS_NEW(arena, ts_transfer_matrix);
    m->machine = machine;
    ts_prices *known = ts_prices_new(arena);
    if (!layouts_of_tpu(err, arena, model, machine->chip.generation, &m->list)) return NULL;
    for (int from = 0; from < m->list.count; from++) {
        for (int to = 0; to < m->list.count; to++) {
            ts_transfer_end src = {.shape = m->list.shapes[from], .at = TS_TRANSFER_ANYWHERE},
                            dst = {.shape = m->list.shapes[to], .at = TS_TRANSFER_ANYWHERE};
            ts_transfer_request request = {machine, known, src, dst, exact, 0};
            if (!(from + to == 0 ? price_one : try_one)(err, &request, &m->costs[from][to])) return NULL;
        }
    }
    m->copy_cycles = m->costs[0][0].cycles;
    return m;
}
