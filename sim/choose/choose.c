/* Choosing a layout: candidates in the order of their bounds, priced until no other can be the best. */
#include "choose/choose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "choose_private.h"
#include "base/number.h"
#include "layout/notation/tpu_rule.h"
#include "layout/notation/xla.h"

/* ---- Uses ---- */

static const ts_machine_memory *read_memory(ts_error *err, ts_cursor *c, const ts_machine *machine) {
    ts_span name;
    if (!ts_cursor_name(c, &name)) return ts_cursor_unexpected(err, c, "a memory of the machine"), NULL;
    for (int i = 0; i < machine->memory_count; i++)
        if (ts_span_is(name, machine->memories[i].name)) return &machine->memories[i];
    char word[40];
    snprintf(word, sizeof word, "%.*s", (int)name.length, name.text);
    ts_error_at(err, TS_ERROR_USAGE, c->source, c->token, "%s has no memory '%s'", machine->name, word);
    ts_error_hint(err, ts_text_nearest(word, &machine->memories[0].name, (size_t)machine->memory_count,
                                       sizeof machine->memories[0]));
    return NULL;
}

/* ":FROM>TO", any memories of the machine; else HBM and VMEM. */
static bool read_dma(ts_error *err, ts_cursor *c, const ts_machine *machine, ts_choose_use *use) {
    *use = (ts_choose_use){.kind = TS_USE_DMA};
    if (ts_cursor_take(c, ":")) {
        use->from = read_memory(err, c, machine);
        if (!use->from || !ts_cursor_expect(err, c, ">")) return false;
        use->to = read_memory(err, c, machine);
    } else {
        use->from = ts_machine_find_memory(err, machine, "hbm");
        use->to = use->from ? ts_machine_find_memory(err, machine, "vmem") : NULL;
    }
    return use->to != NULL;
}

static bool read_reduce(ts_error *err, ts_cursor *c, int rank, ts_choose_use *use) {
    int64_t dim;
    if (!ts_cursor_expect(err, c, ":") || !ts_cursor_integer(err, c, "a dimension", &dim)) return false;
    *use = (ts_choose_use){.kind = TS_USE_REDUCE, .dim = (int)dim};
    if (rank == 0)
        return ts_error_at(err, TS_ERROR_USAGE, c->source, c->token, "the tensor has no dimensions to sum");
    return (dim >= 0 && dim < rank) ||
           ts_error_at(err, TS_ERROR_USAGE, c->source, c->token,
                       "the tensor has no dimension %lld, expected 0 to %d", (long long)dim, rank - 1);
}

static bool read_use(ts_error *err, ts_cursor *c, const ts_machine *machine, int rank, ts_choose_use *use) {
    ts_span word;
    if (!ts_cursor_name(c, &word)) return ts_cursor_unexpected(err, c, "a use: dma, reduce or stream");
    if (ts_span_is(word, "dma")) return read_dma(err, c, machine, use);
    if (ts_span_is(word, "reduce")) return read_reduce(err, c, rank, use);
    if (ts_span_is(word, "stream")) return use->kind = TS_USE_STREAM, true;
    static const char *const uses[] = {"dma", "reduce", "stream"};
    char name[40];
    snprintf(name, sizeof name, "%.*s", (int)word.length, word.text);
    ts_error_at(err, TS_ERROR_USAGE, c->source, c->token, "unknown use '%s', expected dma, reduce or stream",
                name);
    return ts_error_hint(err, ts_text_nearest(name, uses, 3, sizeof uses[0]));
}

bool ts_choose_read_uses(ts_error *err, ts_arena *arena, const ts_source *text, ts_choose_request *request) {
    int rank = request->shape->layout->rank, *count = &request->use_count;
    ts_cursor cursor = {text, 0, 0};
    ts_choose_use *list = TS_NEW_ARRAY(arena, ts_choose_use, TS_CHOOSE_USES);
    *count = 0;
    do {
        if (*count == TS_CHOOSE_USES)
            return ts_error_set(err, TS_ERROR_USAGE, "more than %d uses", TS_CHOOSE_USES);
        if (!read_use(err, &cursor, request->machine, rank, &list[(*count)++])) return false;
    } while (ts_cursor_take(&cursor, ","));
    request->uses = list;
    return ts_cursor_at_end(&cursor) || ts_cursor_unexpected(err, &cursor, "',' or the end");
}

/* ---- The order ---- */

/* What is asked about is priced, however bad. */
static bool is_marked(const ts_candidate *c) { return c->is_now || c->is_rule; }

/* Likely ones first, for what is found cuts the others: those that are marked, of few bytes, row-major, whose
 * text is the greatest. */
static int by_bound(const void *x, const void *y) {
    const ts_candidate *a = x, *b = y;
    if (a->bound_cycles != b->bound_cycles) return ts_order(a->bound_cycles, b->bound_cycles);
    if (a->combines != b->combines) return a->combines ? 1 : -1;
    if (is_marked(a) != is_marked(b)) return is_marked(a) ? -1 : 1;
    if (a->bytes != b->bytes) return ts_order(a->bytes, b->bytes);
    return strcmp(b->text, a->text);
}

static int by_cycles(const void *x, const void *y) {
    const ts_candidate *a = x, *b = y;
    if (a->priced != b->priced) return a->priced ? -1 : 1;
    if (!a->priced) return by_bound(x, y);
    if (a->cycles != b->cycles) return ts_order(a->cycles, b->cycles);
    if (a->bytes != b->bytes) return ts_order(a->bytes, b->bytes);
    if (a->combines != b->combines) return a->combines ? 1 : -1;
    if (is_marked(a) != is_marked(b)) return is_marked(a) ? -1 : 1;
    return strcmp(b->text, a->text); /* row-major, whose text is the greatest, first */
}

static bool price_all(ts_error *err, choose_pricer *p, ts_candidate *list, int count,
                      ts_choose_result *result) {
    int64_t best = INT64_MAX;
    for (int i = 0; i < count; i++) {
        bool all = p->request->exhaustive || is_marked(&list[i]) || best == INT64_MAX;
        int64_t limit = all ? INT64_MAX : choose_with_tie(best) + 1;
        bool cut = list[i].bound_cycles >= limit;
        if (!cut && !choose_price(err, p, &list[i], limit, &cut)) return false;
        if (cut && list[i].cycles > 0) list[i].bound_cycles = list[i].cycles, list[i].cycles = 0;
        list[i].priced = !cut;
        if (!cut && list[i].cycles < best) best = list[i].cycles;
        *(cut ? &result->cut : &result->priced) += 1;
        if (p->request->progress) p->request->progress(p->request->self, i + 1, count);
    }
    return true;
}

/* ---- Rows that are alike ---- */

static bool same_minor(const ts_candidate *a, const ts_candidate *b) {
    const ts_xla_layout *x = a->shape->xla, *y = b->shape->xla;
    if (a->priced != b->priced || a->cycles != b->cycles || a->bytes != b->bytes ||
        a->combines != b->combines)
        return false;
    if (!x || !y || x->tile_count == 0 || y->tile_count == 0) return false;
    for (int i = 0; i < 2 && i < x->rank; i++)
        if (x->minor_to_major[i] != y->minor_to_major[i]) return false;
    return ts_integers_equal(x->tiles[0].dims, x->tiles[0].rank, y->tiles[0].dims, y->tiles[0].rank);
}

static int merge_alike(ts_candidate *list, int count) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
        int k = kept - 1;
        while (k >= 0 && list[k].cycles == list[i].cycles && list[k].priced == list[i].priced &&
               !same_minor(&list[k], &list[i]))
            k--;
        bool merges = k >= 0 && same_minor(&list[k], &list[i]) && !list[i].is_now && !list[i].is_rule;
        if (merges)
            list[k].alike++;
        else
            list[kept++] = list[i];
    }
    return kept;
}

static void mark(ts_arena *arena, const ts_machine *machine, const ts_shape *tensor, ts_candidate *list,
                 int count) {
    const char *now = tensor->xla && tensor->xla->layout_written ? ts_shape_text(arena, tensor) : "";
    ts_xla_layout fields = {
        .rank = tensor->layout->rank, .dims = tensor->layout->dims, .memory_space = tensor->memory_space};
    const ts_shape *picked = ts_tpu_default(NULL, arena, tensor->dtype, &fields, machine->chip.generation);
    const char *rule = picked ? ts_shape_text(arena, picked) : "";
    for (int i = 0; i < count; i++) {
        list[i].is_now |= strcmp(list[i].text, now) == 0;
        list[i].is_rule = strcmp(list[i].text, rule) == 0;
    }
}

/* The tensor's own layout is a candidate whatever it is, of a program even without tiles or in another
 * notation; kernels of a shape's uses are for tiles. */
static void add_own(const choose_pricer *p, const ts_shape *tensor, ts_candidate *list, int *count) {
    bool tiled = tensor->xla && tensor->xla->layout_written && tensor->xla->tile_count > 0;
    if (*count == TS_CHOOSE_CANDIDATES || !(p->program || tiled) || tensor->bytes == TS_SIZE_UNKNOWN) return;
    const char *text = ts_shape_text(p->arena, tensor);
    for (int i = 0; i < *count; i++)
        if (strcmp(list[i].text, text) == 0) return;
    list[(*count)++] =
        (ts_candidate){.shape = tensor, .text = text, .bytes = tensor->bytes, .is_now = true, .alike = 1};
}

/* ---- The whole ---- */

static bool fits_alone(const ts_machine *machine, const ts_shape *shape) {
    const ts_machine_memory *memory = ts_machine_find_space(machine, shape->memory_space);
    return !memory || shape->bytes <= memory->capacity_bytes;
}

/* Without those that the tensor's memory has no room for. */
static bool drop_unfit(ts_error *err, const choose_pricer *p, ts_candidate *list, int *count,
                       ts_choose_result *result) {
    int64_t least = INT64_MAX;
    int kept = 0;
    for (int i = 0; i < *count; i++) {
        least = list[i].bytes < least ? list[i].bytes : least;
        if (p->program ? choose_fits(p, list[i].shape) : fits_alone(p->machine, list[i].shape))
            list[kept++] = list[i];
    }
    result->unfit = *count - kept;
    *count = kept;
    return kept > 0 || ts_error_set(err, TS_ERROR_UNMODELLED,
                                    "the tensor fits into its memory with none of %lld layouts; the smallest "
                                    "takes %lld bytes",
                                    (long long)result->enumerated, (long long)least);
}

static bool find_tensor(ts_error *err, choose_pricer *p, ts_choose_result *result) {
    const ts_choose_request *request = p->request;
    *result = (ts_choose_result){.request = request, .tensor = request->shape};
    if (request->program) {
        if (!choose_load_program(err, p->arena, p)) return false;
        p->left = TS_NEW(p->arena, ts_findings);
        result->tensor = p->program->code.tensors[p->tensor].shape;
    }
    p->core = (choose_core){.arena = p->arena,
                            .machine = request->machine,
                            .dtype = result->tensor->dtype,
                            .interrupt = request->interrupt};
    return true;
}

/* Lists the layouts that fit, in the order of their least possible time. */
static bool list_candidates(ts_error *err, const choose_pricer *p, ts_candidate *list, int *count,
                            ts_choose_result *result) {
    if (!choose_enumerate(err, p->arena, p->request, result->tensor, list, count)) return false;
    add_own(p, result->tensor, list, count);
    mark(p->arena, p->request->machine, result->tensor, list, *count);
    result->logical_bytes = INT64_MAX;
    for (int i = 0; i < *count; i++) {
        list[i].bound_cycles = choose_bound(p, list[i].shape);
        result->logical_bytes = ts_min(result->logical_bytes, list[i].shape->unpadded_bytes);
    }
    qsort(list, (size_t)*count, sizeof *list, by_bound);
    result->enumerated = *count;
    return drop_unfit(err, p, list, count, result);
}

static bool choose(ts_error *err, choose_pricer *p, ts_choose_result *result) {
    const ts_choose_request *request = p->request;
    ts_candidate *list = TS_NEW_ARRAY(p->arena, ts_candidate, TS_CHOOSE_CANDIDATES);
    int count;
    if (!find_tensor(err, p, result)) return false;
    if (!list_candidates(err, p, list, &count, result)) return false;
    if (!price_all(err, p, list, count, result)) return false;
    qsort(list, (size_t)count, sizeof *list, by_cycles);
    count = merge_alike(list, count);
    for (int i = 0; i < count; i++)
        list[i].is_tie = list[i].priced && list[i].cycles <= choose_with_tie(list[0].cycles);
    result->block_bytes = p->core.block_bytes;
    result->estimated = p->extends || (p->program && !request->exact);
    result->left = p->left;
    result->candidates = list;
    result->candidate_count = count;
    if (request->moves_fields) choose_move_fields(p, list, count, result);
    return !ts_error_keep_system(err, p->failure);
}

bool ts_choose(ts_error *err, ts_arena *arena, const ts_choose_request *request, ts_choose_result *result) {
    ts_error failure = {0};
    choose_pricer p = {.arena = arena,
                       .machine = request->machine,
                       .request = request,
                       .failure = &failure,
                       .prices = ts_prices_new(arena),
                       .scratch = ts_arena_new()};
    ts_prices_set_interrupt(p.prices, request->interrupt);
    bool good = choose(err, &p, result);
    ts_arena_free(p.scratch);
    return good;
}
