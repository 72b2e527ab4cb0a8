/* Layouts beside each other: those that TPUs use for a type, and transfers between them. */
#include "study/layouts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/threads.h"
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

static bool price_one(ts_error *err, ts_arena *scratch, const ts_transfer_request *request,
                      ts_dma_cost *cost) {
    ts_transfer_study study;
    bool priced = ts_transfer_price(err, scratch, request, &study);
    *cost = priced ? study.cost : (ts_dma_cost){0};
    return priced;
}

/* What nobody can do, and a tensor that does not fit, are no error: cost->cycles stays 0. */
static bool try_one(ts_error *err, ts_arena *scratch, const ts_transfer_request *request, ts_dma_cost *cost) {
    ts_error refused = {0};
    if (price_one(&refused, scratch, request, cost)) return true;
    if (refused.kind == TS_ERROR_UNMODELLED || refused.kind == TS_ERROR_INPUT ||
        refused.kind == TS_ERROR_CAPACITY)
        return true;
    if (err) *err = refused;
    return false;
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

/* ---- Other layouts of one end ---- */

/* A layout, and what the transfer costs with it. */
typedef struct {
    const ts_shape *shape;
    int number; /* in the list */
    int64_t limit;
    ts_dma_cost cost;
    enum { PRICED, BY_ENGINE, BY_CORE } kind;
} candidate;

typedef struct {
    ts_transfer_request request; /* of the study, without a limit */
    bool is_dst;                 /* that end varies */
    candidate list[TS_LAYOUTS_MOST];
    int count;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t limited;
    bool is_limited; /* the first candidate is priced */
    const candidate *best;
} variation;

/* A transfer, and what else is priced beside it. */
typedef struct {
    ts_transfer_study *study; /* prepared */
    const ts_transfer_request *request;
    variation ends[2]; /* the source in other layouts, and the destination */
} search;

static bool price_own(ts_error *err, ts_arena *scratch, const search *s) {
    return ts_transfer_price_prepared(err, scratch, s->request->prices, s->request->limit, s->study);
}

static bool price_candidate(ts_error *err, ts_arena *scratch, const variation *v, candidate *c) {
    ts_transfer_request request = v->request;
    request.limit = c->limit;
    (v->is_dst ? &request.dst : &request.src)->shape = c->shape;
    return try_one(err, scratch, &request, &c->cost);
}

/* The other layouts of one end: without its own, and without those that the end cannot have. */
static bool begin_variation(ts_error *err, ts_arena *arena, const search *s, bool is_dst, variation *v) {
    const ts_transfer_study *study = s->study;
    int generation = study->machine->chip.generation;
    const ts_shape *own = is_dst ? study->dst.shape : study->src.shape,
                   *other = is_dst ? study->src.shape : study->dst.shape;
    ts_layout_list list;
    *v = (variation){.request = *s->request,
                     .is_dst = is_dst,
                     .lock = PTHREAD_MUTEX_INITIALIZER,
                     .limited = PTHREAD_COND_INITIALIZER};
    v->request.src = study->src;
    v->request.dst = study->dst;
    if (study->src_memory == study->dst_memory && !study->dst_placed)
        v->request.dst.at = TS_TRANSFER_ANYWHERE;
    if (own->layout->axis_count > 1) return true;
    if (!layouts_of_tpu(err, arena, own, generation, &list)) return false;
    add_like(arena, own, other, generation, &list);
    const char *text = ts_shape_text(arena, own);
    for (int i = 0; i < list.count; i++)
        if (strcmp(text, ts_shape_text(arena, list.shapes[i])) != 0)
            v->list[v->count++] = (candidate){.shape = list.shapes[i], .number = i};
    return true;
}

/* ---- All of them ---- */

static int by_cycles(const void *a, const void *b) {
    const candidate *left = a, *right = b;
    if (left->cost.cycles != right->cost.cycles) return ts_order(left->cost.cycles, right->cost.cycles);
    return left->number - right->number;
}

/* The transfer, then others of the source, then of the destination. */
static bool price_number(ts_error *err, ts_arena *scratch, void *self, int number) {
    search *s = self;
    int at = number - 1, sources = s->ends[0].count;
    if (number == 0) return price_own(err, scratch, s);
    variation *v = &s->ends[at >= sources];
    return price_candidate(err, scratch, v, &v->list[at >= sources ? at - sources : at]);
}

static bool price_all(ts_error *err, int threads, search *s, ts_transfer_others others[2]) {
    int count = 1 + s->ends[0].count + s->ends[1].count;
    if (!ts_threads_each(err, &(ts_threads_list){threads, count, price_number, s, NULL, NULL})) return false;
    for (int end = 0; end < 2; end++) {
        variation *v = &s->ends[end];
        qsort(v->list, (size_t)v->count, sizeof v->list[0], by_cycles);
        for (const candidate *c = v->list; c < v->list + v->count; c++)
            if (c->cost.cycles > 0)
                others[end].others[others[end].count++] =
                    (ts_transfer_other){c->shape, c->cost.cycles, c->cost.estimated};
    }
    return true;
}

/* ---- The cheapest ---- */

/* Those that may be fast first, so that most others are over what they take: of what was priced before, then
 * of what the engine does; programs, which are long to run, last. */
static int by_promise(const void *a, const void *b) {
    const candidate *left = a, *right = b;
    if (left->kind != right->kind) return (int)left->kind - (int)right->kind;
    return by_cycles(a, b);
}

/* Leaves those that can be done, by what they take at least. */
static bool find_bounds(ts_error *err, variation *v) {
    ts_arena *scratch = ts_arena_new();
    int kept = 0;
    bool good = true;
    for (int i = 0; i < v->count && good; i++, ts_arena_reset(scratch)) {
        candidate c = v->list[i];
        c.limit = 1;
        good = price_candidate(err, scratch, v, &c);
        bool by_core = c.cost.is_over && c.cost.transfer.kind == TS_DMA_CORE_PROGRAM;
        c.kind = by_core ? BY_CORE : c.cost.is_over ? BY_ENGINE : PRICED;
        if (good && c.cost.cycles > 0) v->list[kept++] = c;
    }
    ts_arena_free(scratch);
    v->count = kept;
    qsort(v->list, (size_t)v->count, sizeof v->list[0], by_promise);
    return good;
}

/* What a candidate may take to win: of equal ones the first of the list does. Those behind the first wait for
 * what that takes, or they would be priced in vain. */
static int64_t limit_of(variation *v, int number) {
    const candidate *c = &v->list[number];
    pthread_mutex_lock(&v->lock);
    while (number > 0 && !v->is_limited) pthread_cond_wait(&v->limited, &v->lock);
    int64_t limit = v->best ? ts_max(v->best->cost.cycles - (c->number > v->best->number), 1) : 0;
    pthread_mutex_unlock(&v->lock);
    return limit;
}

static void note_priced(variation *v, const candidate *c, bool priced) {
    pthread_mutex_lock(&v->lock);
    bool counts = priced && !c->cost.is_over && c->cost.cycles > 0;
    if (counts && (!v->best || by_cycles(c, v->best) < 0)) v->best = c;
    v->is_limited = true;
    pthread_cond_broadcast(&v->limited);
    pthread_mutex_unlock(&v->lock);
}

/* A limit only cuts off what does not win in any case, so it does not matter which is priced first. */
static bool try_to_win(ts_error *err, ts_arena *scratch, variation *v, int number) {
    if (number >= v->count) return true;
    candidate *c = &v->list[number];
    c->limit = limit_of(v, number);
    bool priced = price_candidate(err, scratch, v, c);
    note_priced(v, c, priced);
    return priced;
}

/* The transfer, which nothing cuts short, then candidates of both ends in turns: their first limit the others. */
static bool try_number(ts_error *err, ts_arena *scratch, void *self, int number) {
    search *s = self;
    if (number == 0) return price_own(err, scratch, s);
    return try_to_win(err, scratch, &s->ends[(number - 1) % 2], (number - 1) / 2);
}

static bool price_cheapest(ts_error *err, int threads, search *s, ts_transfer_others others[2]) {
    if (!find_bounds(err, &s->ends[0]) || !find_bounds(err, &s->ends[1])) return false;
    int count = 1 + 2 * (int)ts_max(s->ends[0].count, s->ends[1].count);
    if (!ts_threads_each(err, &(ts_threads_list){threads, count, try_number, s, NULL, NULL})) return false;
    for (int end = 0; end < 2; end++) {
        const candidate *best = s->ends[end].best;
        if (!best) continue;
        others[end].count = 1;
        others[end].others[0] = (ts_transfer_other){best->shape, best->cost.cycles, best->cost.estimated};
    }
    return true;
}

bool ts_transfer_price_with_others(ts_error *err, ts_arena *arena, const ts_transfer_request *request,
                                   const ts_transfer_others_request *tried, ts_transfer_study *study,
                                   ts_transfer_others others[2]) {
    search *s = TS_NEW(arena, search);
    others[0] = others[1] = (ts_transfer_others){0};
    if (!ts_transfer_prepare(err, arena, request, study)) return false;
    s->study = study;
    s->request = request;
    for (int end = 0; end < 2; end++)
        if (!begin_variation(err, arena, s, end == 1, &s->ends[end])) return false;
    return tried->cheapest_only ? price_cheapest(err, tried->threads, s, others)
                                : price_all(err, tried->threads, s, others);
}

/* ---- All pairs ---- */

typedef struct {
    ts_transfer_matrix *matrix;
    ts_prices *prices;
    bool exact;
} pairs;

static bool price_pair(ts_error *err, ts_arena *scratch, void *self, int number) {
    const pairs *p = self;
    ts_transfer_matrix *m = p->matrix;
    int from = number / m->list.count, to = number % m->list.count;
    ts_transfer_end src = {.shape = m->list.shapes[from], .at = TS_TRANSFER_ANYWHERE},
                    dst = {.shape = m->list.shapes[to], .at = TS_TRANSFER_ANYWHERE};
    ts_transfer_request request = {m->machine, p->prices, src, dst, p->exact, 0};
    return (number == 0 ? price_one : try_one)(err, scratch, &request, &m->costs[from][to]);
}

ts_transfer_matrix *ts_transfer_price_matrix(ts_error *err, ts_arena *arena,
                                             const ts_transfer_matrix_request *r) {
    ts_transfer_matrix *m = TS_NEW(arena, ts_transfer_matrix);
    pairs all = {m, ts_prices_new(arena), r->exact};
    m->machine = r->machine;
    if (!layouts_of_tpu(err, arena, r->model, r->machine->chip.generation, &m->list)) return NULL;
    const ts_threads_list list = {r->threads, m->list.count * m->list.count, price_pair, &all, NULL, NULL};
    if (!ts_threads_each(err, &list)) return NULL;
    m->copy_cycles = m->costs[0][0].cycles;
    return m;
}
