/* Choosing a layout: candidates in the order of their bounds, priced until no other can be the best. */
#include "tilesim/study/choose.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "choose_private.h"
#include "tilesim/base/number.h"
#include "tilesim/dma/price.h"
#include "tilesim/layout/tpu_rule.h"
#include "tilesim/layout/xla.h"
#include "tilesim/run/run.h"

/* ---- Uses ---- */

static const ts_machine_memory *read_memory(ts_error *err, ts_cursor *c, const ts_machine *machine) {
    const char *name;
    size_t length;
    if (!ts_cursor_name(c, &name, &length))
        return ts_cursor_unexpected(err, c, "a memory of the machine"), NULL;
    for (int i = 0; i < machine->memory_count; i++)
        if (strlen(machine->memories[i].name) == length &&
            memcmp(machine->memories[i].name, name, length) == 0)
            return &machine->memories[i];
    char word[40];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    ts_error_at(err, TS_ERROR_USAGE, c->source, c->token, "%s has no memory '%s'", machine->name, word);
    ts_error_hint(err, ts_text_nearest(word, &machine->memories[0].name, (size_t)machine->memory_count,
                                       sizeof machine->memories[0]));
    return NULL;
}

static bool read_use(ts_error *err, ts_cursor *c, const ts_machine *machine, int rank, ts_choose_use *use) {
    const char *word;
    size_t length;
    if (!ts_cursor_name(c, &word, &length))
        return ts_cursor_unexpected(err, c, "a use: dma, reduce or stream");
    if (length == 3 && memcmp(word, "dma", 3) == 0) {
        *use = (ts_choose_use){.kind = TS_USE_DMA,
                               .from = ts_machine_find_memory(err, machine, "hbm"),
                               .to = ts_machine_find_memory(err, machine, "vmem")};
        if (!use->from || !use->to) return false;
        if (!ts_cursor_take(c, ":")) return true;
        use->from = read_memory(err, c, machine);
        if (!use->from || !ts_cursor_expect(err, c, ">")) return false;
        use->to = read_memory(err, c, machine);
        return use->to != NULL;
    }
    if (length == 6 && memcmp(word, "stream", 6) == 0) return use->kind = TS_USE_STREAM, true;
    if (length == 6 && memcmp(word, "reduce", 6) == 0) {
        int64_t dim;
        if (!ts_cursor_expect(err, c, ":") || !ts_cursor_integer(err, c, "a dimension", &dim)) return false;
        *use = (ts_choose_use){.kind = TS_USE_REDUCE, .dim = (int)dim};
        return (dim >= 0 && dim < rank) ||
               ts_error_at(err, TS_ERROR_USAGE, c->source, c->token,
                           "the tensor has no dimension %lld, expected 0 to %d", (long long)dim, rank - 1);
    }
    static const char *const uses[] = {"dma", "reduce", "stream"};
    char name[40];
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    ts_error_at(err, TS_ERROR_USAGE, c->source, c->token, "unknown use '%s', expected dma, reduce or stream",
                name);
    return ts_error_hint(err, ts_text_nearest(name, uses, 3, sizeof uses[0]));
}

bool ts_choose_read_uses(ts_error *err, ts_arena *arena, const ts_machine *machine, const ts_source *text,
                         int rank, const ts_choose_use **uses, int *count) {
    ts_cursor cursor = {text, 0, 0};
    ts_choose_use *list = TS_NEW_ARRAY(arena, ts_choose_use, TS_CHOOSE_USES);
    *count = 0;
    do {
        if (*count == TS_CHOOSE_USES)
            return ts_error_set(err, TS_ERROR_USAGE, "more than %d uses", TS_CHOOSE_USES);
        if (!read_use(err, &cursor, machine, rank, &list[(*count)++])) return false;
    } while (ts_cursor_take(&cursor, ","));
    *uses = list;
    return ts_cursor_at_end(&cursor) || ts_cursor_unexpected(err, &cursor, "',' or the end");
}

/* ---- Pricing ---- */

typedef struct {
    int64_t bytes, cycles;
    const ts_machine_memory *from, *to;
    const char *limiter;
} known_price;

/* A machine to price on: the request's, or one with a figure moved. */
typedef struct {
    ts_arena *arena;
    const ts_machine *machine;
    const ts_choose_request *request;
    const ts_program *program; /* of a program's tensor */
    int tensor;
    choose_core core;
    known_price *known;
    int known_count, known_capacity;
} pricer;

static bool is_hbm(const ts_machine_memory *memory) { return strcmp(memory->name, "hbm") == 0; }

/* Equal layouts on both sides move their padding along, in one run: equal bytes are equal plans. */
static bool price_transfer(ts_error *err, pricer *p, const ts_shape *shape, const ts_choose_use *use,
                           int64_t *cycles, const char **limiter) {
    for (int i = 0; i < p->known_count; i++) {
        known_price *known = &p->known[i];
        if (known->bytes != shape->bytes || known->from != use->from || known->to != use->to) continue;
        *cycles = known->cycles;
        *limiter = known->limiter;
        return true;
    }
    ts_arena *scratch = ts_arena_new();
    ts_plan_side src = {.shape = shape}, dst = {.shape = shape};
    if (use->from == use->to) dst.base_bits = ts_round_up(shape->bytes, use->to->align_bytes) * 8;
    const ts_plan *plan = ts_plan_new(err, scratch, &src, &dst, shape->layout->rank, shape->layout->dims);
    ts_dma_machine machine = {&p->machine->dma, &p->machine->hbm, p->machine->chip.sustained_khz};
    ts_dma_cost cost;
    bool good = plan && ts_dma_price(err, scratch, &machine, plan, (ts_dma_end){.in_hbm = is_hbm(use->from)},
                                     (ts_dma_end){.in_hbm = is_hbm(use->to)}, false, &cost);
    ts_arena_free(scratch);
    if (!good) return false;
    if (p->known_count == p->known_capacity) {
        int capacity = p->known_capacity ? 2 * p->known_capacity : 64;
        p->known =
            ts_arena_grow(p->arena, p->known, (size_t)p->known_count, (size_t)capacity, sizeof *p->known);
        p->known_capacity = capacity;
    }
    p->known[p->known_count++] = (known_price){shape->bytes, cost.cycles, use->from, use->to, cost.limiter};
    *cycles = cost.cycles;
    *limiter = cost.limiter;
    return true;
}

static bool price_uses(ts_error *err, pricer *p, ts_candidate *c) {
    const ts_choose_request *r = p->request;
    int64_t most_dma = 0, most_core = 0;
    const char *dma = NULL, *core = NULL;
    c->dma_cycles = c->core_cycles = 0;
    for (int i = 0; i < r->use_count; i++) {
        int64_t cycles;
        const char *limiter;
        bool moves = r->uses[i].kind == TS_USE_DMA;
        if (moves ? !price_transfer(err, p, c->shape, &r->uses[i], &cycles, &limiter)
                  : !choose_core_cycles(err, &p->core, c->shape, &r->uses[i], &cycles, &limiter))
            return false;
        *(moves ? &c->dma_cycles : &c->core_cycles) += cycles;
        if (moves && cycles > most_dma) most_dma = cycles, dma = limiter;
        if (!moves && cycles > most_core) most_core = cycles, core = limiter;
    }
    c->cycles = c->dma_cycles > c->core_cycles ? c->dma_cycles : c->core_cycles;
    c->limiter = c->dma_cycles >= c->core_cycles ? dma : core;
    return true;
}

/* ---- A program's tensor ---- */

#define LONGEST (INT64_C(1) << 60) /* cycles; what a run without a limit may take */

static int64_t end_of_hbm(const ts_program *program) {
    int64_t end = 0;
    for (int i = 0; i < program->code.tensor_count; i++) {
        const ts_tensor *t = &program->code.tensors[i];
        if (t->space == TS_SPACE_HBM && t->base_bytes + t->bytes > end) end = t->base_bytes + t->bytes;
    }
    return end;
}

/* The program with the tensor in another layout: in its place if it fits there, else behind all that is in
 * HBM. `limit`: cycles after which the run is given up; then *cycles is the limit and *cut is set. */
static bool run_program(ts_error *err, pricer *p, const ts_shape *shape, int64_t limit, int64_t *cycles,
                        bool *cut) {
    ts_arena *arena = ts_arena_new();
    ts_program copy = *p->program;
    ts_tensor *tensors = TS_NEW_ARRAY(arena, ts_tensor, copy.code.tensor_count);
    memcpy(tensors, copy.code.tensors, (size_t)copy.code.tensor_count * sizeof *tensors);
    ts_tensor *tensor = &tensors[p->tensor];
    int64_t bytes = shape->storage_bytes > shape->bytes ? shape->storage_bytes : shape->bytes;
    if (bytes > tensor->bytes) tensor->base_bytes = ts_round_up(end_of_hbm(p->program), 4096);
    tensor->shape = shape;
    tensor->bytes = bytes;
    copy.code.tensors = tensors;
    ts_run_request request = {.program = p->request->program,
                              .built = &copy,
                              .machine = p->machine,
                              .time_only = true,
                              .defines = p->request->defines,
                              .define_count = p->request->define_count,
                              .max_cycles = limit < LONGEST ? limit : LONGEST};
    ts_run_result result;
    ts_error own = {0};
    bool good = ts_run(&own, arena, &request, &result);
    *cut = !good && own.kind == TS_ERROR_FAULT && limit != INT64_MAX && own.cycle >= limit;
    if (good) *cycles = result.chip.cycles;
    if (*cut) *cycles = limit;
    if (!good && !*cut) *err = own;
    ts_arena_free(arena);
    return good || *cut;
}

static bool load_program(ts_error *err, ts_arena *arena, pricer *p) {
    ts_target target;
    const ts_choose_request *r = p->request;
    ts_run_target(p->machine, &target);
    p->program = ts_program_load(err, arena, r->program, &target, r->defines, r->define_count);
    if (!p->program) return false;
    int count = p->program->code.tensor_count;
    const ts_tensor *tensors = p->program->code.tensors;
    for (p->tensor = 0; p->tensor < count; p->tensor++)
        if (strcmp(tensors[p->tensor].name, r->tensor) == 0) break;
    if (p->tensor == count) {
        ts_error_set(err, TS_ERROR_INPUT, "%s has no tensor '%s'", r->program, r->tensor);
        return ts_error_hint(
            err,
            count ? ts_text_nearest(r->tensor, &tensors[0].name, (size_t)count, sizeof tensors[0]) : NULL);
    }
    if (tensors[p->tensor].space == TS_SPACE_HBM) return true;
    return ts_error_set(
        err, TS_ERROR_UNMODELLED,
        "%s lies in %s, where the program's own loads depend on its layout, expected a tensor in hbm",
        r->tensor, ts_space_text(tensors[p->tensor].space));
}

/* ---- Bounds ---- */

/* No transfer is faster than the HBM's data buses, and no kernel than its loads. */
static int64_t bound_of(const pricer *p, const ts_shape *shape) {
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
    return bound > core ? bound : core;
}

static int by_bound(const void *x, const void *y) {
    const ts_candidate *a = x, *b = y;
    if (a->bound_cycles != b->bound_cycles) return a->bound_cycles < b->bound_cycles ? -1 : 1;
    if (a->combines != b->combines) return a->combines ? 1 : -1;
    return strcmp(a->text, b->text);
}

static int by_cycles(const void *x, const void *y) {
    const ts_candidate *a = x, *b = y;
    if (a->priced != b->priced) return a->priced ? -1 : 1;
    if (!a->priced) return by_bound(x, y);
    if (a->cycles != b->cycles) return a->cycles < b->cycles ? -1 : 1;
    if (a->bytes != b->bytes) return a->bytes < b->bytes ? -1 : 1;
    if (a->combines != b->combines) return a->combines ? 1 : -1;
    bool marked = a->is_now || a->is_rule, other = b->is_now || b->is_rule;
    if (marked != other) return marked ? -1 : 1;
    return strcmp(b->text, a->text); /* row-major, whose text is the greatest, first */
}

static int64_t with_tie(int64_t cycles) {
    return cycles + cycles / 100 * TS_CHOOSE_TIE_PERCENT + TS_CHOOSE_TIE_PERCENT;
}

/* What is asked about is priced, however bad. */
static bool is_marked(const ts_candidate *c) { return c->is_now || c->is_rule; }

static bool price_candidate(ts_error *err, pricer *p, ts_candidate *c, int64_t best, bool *cut) {
    *cut = false;
    if (!p->program) return price_uses(err, p, c);
    bool all = p->request->exhaustive || best == INT64_MAX || is_marked(c);
    int64_t limit = all ? INT64_MAX : with_tie(best) + 1;
    c->limiter = "";
    return run_program(err, p, c->shape, limit, &c->cycles, cut);
}

static bool price_all(ts_error *err, pricer *p, ts_candidate *list, int count, ts_choose_result *result) {
    int64_t best = INT64_MAX;
    for (int i = 0; i < count; i++) {
        bool cut = !p->request->exhaustive && !is_marked(&list[i]) && best != INT64_MAX &&
                   list[i].bound_cycles > with_tie(best);
        if (!cut && !price_candidate(err, p, &list[i], best, &cut)) return false;
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
    for (int i = 0; i < 2 && i < x->rank; i++)
        if (x->minor_to_major[i] != y->minor_to_major[i]) return false;
    return x->tiles[0].rank == y->tiles[0].rank &&
           memcmp(x->tiles[0].dims, y->tiles[0].dims, (size_t)x->tiles[0].rank * sizeof(int64_t)) == 0;
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
    ts_text now, rule;
    ts_text_init(&now, arena);
    ts_text_init(&rule, arena);
    if (tensor->xla && tensor->xla->layout_written) ts_shape_print(tensor, &now);
    ts_xla_layout fields = {
        .rank = tensor->layout->rank, .dims = tensor->layout->dims, .memory_space = tensor->memory_space};
    const ts_shape *picked =
        ts_tpu_tiled(NULL, arena, tensor->dtype, &fields, machine->chip.generation, TS_TPU_ARGUMENT);
    if (picked) ts_shape_print(picked, &rule);
    for (int i = 0; i < count; i++) {
        list[i].is_now = now.length > 0 && strcmp(list[i].text, now.bytes) == 0;
        list[i].is_rule = rule.length > 0 && strcmp(list[i].text, rule.bytes) == 0;
    }
}

/* The tensor's own layout is a candidate whatever it is. */
static void add_own(ts_arena *arena, const ts_shape *tensor, ts_candidate *list, int *count) {
    ts_text text;
    if (!tensor->xla || !tensor->xla->layout_written || *count == TS_CHOOSE_CANDIDATES ||
        tensor->xla->tile_count == 0)
        return;
    ts_text_init(&text, arena);
    ts_shape_print(tensor, &text);
    for (int i = 0; i < *count; i++)
        if (strcmp(list[i].text, text.bytes) == 0) return;
    list[(*count)++] = (ts_candidate){.shape = tensor,
                                      .text = text.bytes,
                                      .bytes = tensor->bytes,
                                      .logical_bytes = tensor->unpadded_bytes,
                                      .alike = 1};
}

/* ---- Moving what is assumed ---- */

enum { RIVALS = 4 };

/* "64 KiB" times a factor, as text; false: it is no number, or does not stay whole. */
static bool scale(const char *text, bool doubles, char out[64]) {
    char *unit;
    long long value = strtoll(text, &unit, 10);
    if (unit == text || *unit == '.' || value <= 0 || value > INT32_MAX) return false;
    if (!doubles && value % 2 != 0) return false;
    snprintf(out, 64, "%lld%.40s", doubles ? 2 * value : value / 2, unit);
    return true;
}

static bool is_timing(const char *path) {
    return strncmp(path, "dma.", 4) == 0 || strncmp(path, "hbm.", 4) == 0 || strncmp(path, "core.", 5) == 0;
}

/* The best of the rivals on a machine with a figure moved; -1: it cannot be. */
static int best_on(ts_arena *arena, const pricer *now, const char *override, const ts_candidate *list,
                   const int *rivals, int count, int64_t cycles[RIVALS]) {
    const ts_choose_request *request = now->request;
    ts_choose_request moved = *request;
    const char **sets = TS_NEW_ARRAY(arena, const char *, request->set_count + 1);
    for (int i = 0; i < request->set_count; i++) sets[i] = request->sets[i];
    sets[request->set_count] = override;
    moved.machine =
        ts_machine_load_with(NULL, arena, request->machine_name, "assumed", sets, request->set_count + 1);
    if (!moved.machine) return -1;
    ts_choose_use *uses = TS_NEW_ARRAY(arena, ts_choose_use, TS_CHOOSE_USES);
    for (int i = 0; i < request->use_count; i++) {
        uses[i] = request->uses[i];
        if (uses[i].from) uses[i].from = ts_machine_find_memory(NULL, moved.machine, uses[i].from->name);
        if (uses[i].to) uses[i].to = ts_machine_find_memory(NULL, moved.machine, uses[i].to->name);
    }
    moved.uses = uses;
    pricer p = {.arena = arena, .machine = moved.machine, .request = &moved};
    p.core = now->core; /* kernels take as long as they did, unless the core is what changes */
    if (strncmp(override, "core.", 5) == 0) p.core = (choose_core){.dtype = now->core.dtype};
    p.core.machine = moved.machine;
    if (request->program && !load_program(NULL, arena, &p)) return -1;
    int best = -1;
    for (int i = 0; i < count; i++) {
        ts_candidate c = list[rivals[i]];
        ts_error err = {0};
        bool cut;
        if (!price_candidate(&err, &p, &c, INT64_MAX, &cut)) return -1;
        cycles[i] = c.cycles;
        if (best < 0 || c.cycles < cycles[best]) best = i;
    }
    return best;
}

/* Those whose prices can part: the best of each number of bytes and core time. */
static int find_rivals(const ts_candidate *list, int count, int rivals[RIVALS]) {
    int found = 0;
    for (int i = 0; i < count && found < RIVALS; i++) {
        bool fresh = list[i].priced && list[i].cycles < 2 * list[0].cycles;
        for (int k = 0; k < found && fresh; k++) {
            const ts_candidate *other = &list[rivals[k]];
            fresh = other->bytes != list[i].bytes || other->core_cycles != list[i].core_cycles ||
                    other->cycles != list[i].cycles;
        }
        if (fresh) rivals[found++] = i;
    }
    return found;
}

static void move_fields(const pricer *now, const ts_candidate *list, int count, ts_choose_result *result) {
    int rivals[RIVALS], rival_count = find_rivals(list, count, rivals);
    ts_arena *arena = now->arena;
    const ts_choose_request *request = now->request;
    ts_choose_flip *flips = TS_NEW_ARRAY(arena, ts_choose_flip, TS_CHOOSE_FLIPS);
    const ts_machine *machine = request->machine;
    result->flips = flips;
    for (int i = 0; i < machine->leaf_count; i++) {
        const ts_field_leaf *leaf = &machine->leaves[i];
        if (ts_field_leaf_status(leaf) != TS_STATUS_ASSUMED || !is_timing(leaf->path)) continue;
        ts_text text;
        ts_text_init(&text, arena);
        ts_field_print(&text, leaf->field, leaf->at);
        int moved = 0;
        for (int doubles = 0; doubles < 2 && rival_count > 1; doubles++) {
            char value[64], override[192];
            int64_t cycles[RIVALS];
            if (!scale(text.bytes, doubles != 0, value)) continue;
            snprintf(override, sizeof override, "%s=%s", leaf->path, value);
            ts_arena *scratch = ts_arena_new();
            int best = best_on(scratch, now, override, list, rivals, rival_count, cycles);
            ts_arena_free(scratch);
            moved += best >= 0;
            if (best <= 0 || cycles[0] <= with_tie(cycles[best]) || result->flip_count == TS_CHOOSE_FLIPS)
                continue;
            flips[result->flip_count++] =
                (ts_choose_flip){.field = leaf->path,
                                 .value = ts_arena_copy_text(arena, value, strlen(value)),
                                 .winner = rivals[best],
                                 .cycles = cycles[best],
                                 .cycles_of_best = cycles[0]};
        }
        result->fields_moved += moved > 0;
        if (request->progress) request->progress(request->self, i + 1, machine->leaf_count);
    }
}

/* ---- The whole ---- */

bool ts_choose(ts_error *err, ts_arena *arena, const ts_choose_request *request, ts_choose_result *result) {
    pricer p = {.arena = arena, .machine = request->machine, .request = request};
    ts_candidate *list = TS_NEW_ARRAY(arena, ts_candidate, TS_CHOOSE_CANDIDATES);
    int count;
    *result = (ts_choose_result){.request = request, .tensor = request->shape};
    if (request->program) {
        if (!load_program(err, arena, &p)) return false;
        result->tensor = p.program->code.tensors[p.tensor].shape;
    }
    p.core = (choose_core){.machine = request->machine, .dtype = result->tensor->dtype};
    if (!choose_enumerate(err, arena, result->tensor, request->machine->chip.generation, request->combine,
                          list, &count))
        return false;
    add_own(arena, result->tensor, list, &count);
    mark(arena, request->machine, result->tensor, list, count);
    for (int i = 0; i < count; i++) list[i].bound_cycles = bound_of(&p, list[i].shape);
    qsort(list, (size_t)count, sizeof *list, by_bound);
    result->enumerated = count;
    if (!price_all(err, &p, list, count, result)) return false;
    qsort(list, (size_t)count, sizeof *list, by_cycles);
    count = merge_alike(list, count);
    for (int i = 0; i < count; i++)
        list[i].is_tie = list[i].priced && list[i].cycles <= with_tie(list[0].cycles);
    result->candidates = list;
    result->candidate_count = count;
    if (request->moves_fields) move_fields(&p, list, count, result);
    return true;
}
