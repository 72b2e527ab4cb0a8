/* Plans made with bytes. Every device has room for the whole array, and knows only what it was given or sent. */
#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "mesh/reshard.h"

typedef struct {
    ts_error *err;
    ts_arena *arena;
    const ts_mesh *mesh;
    int rank;
    int64_t dims[TS_LAYOUT_MAX_DIMS], strides[TS_LAYOUT_MAX_DIMS], elements;
    int64_t shrink[TS_LAYOUT_MAX_DIMS]; /* weights and extents are divided by it */
    uint32_t **held, **arrived;         /* by device: what it has, and beside it what a step brings */
    int64_t moved;
    ts_arena *scratch; /* of a step */
    /* The step that is being made: its transfers see what was there before it. */
    const ts_collective_transfer **transfers;
    size_t transfer_count;
} proof;

/* ---- The array, made smaller ---- */

/* Digits on the way are of the one or of the other. */
static int64_t common_unit(const ts_reshard_plan *plan, int dim) {
    int64_t unit = plan->source.dims[dim];
    for (int i = 0; i < plan->source.digit_count; i++) {
        const ts_mesh_digit *a = &plan->source.digits[i], *b = &plan->destination.digits[i];
        if (a->kind == TS_DIGIT_SHARD && a->dim == dim) unit = ts_gcd(unit, a->weight);
        if (b->kind == TS_DIGIT_SHARD && b->dim == dim) unit = ts_gcd(unit, b->weight);
    }
    return unit > 0 ? unit : 1;
}

static int64_t least_factor(int64_t n) {
    for (int64_t f = 2; f * f <= n; f++)
        if (n % f == 0) return f;
    return n;
}

static bool fits(const proof *p, int64_t most) {
    int64_t all = p->mesh->device_count;
    for (int d = 0; d < p->rank; d++)
        if (!ts_mul(all, p->dims[d], &all)) return false;
    return all <= most;
}

/* The dim with the longest runs has them made shorter, until all fits or no run can be. */
static void set_dims(proof *p, const ts_reshard_plan *plan, int64_t most) {
    const ts_sharding *first = &plan->source;
    int64_t units[TS_LAYOUT_MAX_DIMS] = {1};
    p->rank = first->rank;
    for (int d = 0; d < p->rank; d++) {
        units[d] = common_unit(plan, d);
        p->shrink[d] = 1;
        p->dims[d] = first->dims[d];
    }
    while (!fits(p, most)) {
        int longest = 0;
        for (int d = 1; d < p->rank; d++)
            if (units[d] > units[longest]) longest = d;
        if (units[longest] == 1) break;
        int64_t factor = least_factor(units[longest]);
        units[longest] /= factor;
        p->shrink[longest] *= factor;
        p->dims[longest] /= factor;
    }
    p->elements = 1;
    for (int d = p->rank - 1; d >= 0 && fits(p, most); d--) {
        p->strides[d] = p->elements;
        p->elements *= p->dims[d];
    }
}

static void shrink(const proof *p, ts_sharding *sharding) {
    sharding->dims = p->dims;
    for (int i = 0; i < sharding->digit_count; i++) {
        ts_mesh_digit *digit = &sharding->digits[i];
        if (digit->kind == TS_DIGIT_SHARD) digit->weight /= p->shrink[digit->dim];
    }
}

/* ---- Elements ---- */

/* Calls `each` for every element (by its flat index) that a device holds, or that lies in the runs of `only`. */
typedef struct {
    int count;
    int64_t *indices;
} index_list;

static void list_dim(const proof *p, const ts_sharding *held, int dim, int64_t owner, index_list *list) {
    list->indices = TS_NEW_ARRAY(p->scratch, int64_t, p->dims[dim]);
    for (int64_t at = 0; at < p->dims[dim]; at++) {
        bool is_held = true;
        for (int i = 0; i < held->digit_count && is_held; i++) {
            const ts_mesh_digit *digit = &held->digits[i];
            if (digit->kind != TS_DIGIT_SHARD || digit->dim != dim) continue;
            is_held = at / digit->weight % digit->extent == owner / digit->stride % digit->extent;
        }
        if (is_held) list->indices[list->count++] = at;
    }
}

/* Flat indices, in row-major order. */
static int64_t list_elements(const proof *p, const ts_sharding *held, int64_t owner, int64_t **flat) {
    index_list lists[TS_LAYOUT_MAX_DIMS] = {{0}};
    int64_t count = 1;
    for (int d = 0; d < p->rank; d++) {
        list_dim(p, held, d, owner, &lists[d]);
        count *= lists[d].count;
    }
    *flat = TS_NEW_ARRAY(p->scratch, int64_t, count);
    for (int64_t i = 0; i < count; i++) {
        int64_t left = i;
        for (int d = p->rank - 1; d >= 0; left /= lists[d--].count)
            (*flat)[i] += lists[d].indices[left % lists[d].count] * p->strides[d];
    }
    return count;
}

/* What device `device` adds to an element: the same for all that hold copies. */
static uint32_t value_of(const ts_sharding *source, int64_t element, int64_t device) {
    uint64_t addend = 0;
    for (int i = 0; i < source->digit_count; i++) {
        const ts_mesh_digit *digit = &source->digits[i];
        if (digit->kind == TS_DIGIT_PARTIAL)
            addend = addend * 131 + (uint64_t)(device / digit->stride % digit->extent) + 1;
    }
    uint64_t x =
        ((uint64_t)element + 1) * UINT64_C(0x9e3779b97f4a7c15) + addend * UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)((x ^ (x >> 29)) * UINT64_C(0x94d049bb133111eb) >> 32);
}

/* The sum over the digits that are partial in the source and not in the end. */
static uint32_t value_wanted(const ts_sharding *source, const ts_sharding *end, int64_t element,
                             int64_t device) {
    int64_t members[TS_SHARDING_MAX_DIGITS], count = 1;
    int digits[TS_SHARDING_MAX_DIGITS], summed = 0;
    for (int i = 0; i < source->digit_count; i++) {
        if (source->digits[i].kind != TS_DIGIT_PARTIAL || end->digits[i].kind == TS_DIGIT_PARTIAL) continue;
        digits[summed] = i;
        members[summed++] = source->digits[i].extent;
        count *= source->digits[i].extent;
    }
    uint32_t sum = 0;
    for (int64_t n = 0; n < count; n++) {
        int64_t left = n, at = device;
        for (int i = 0; i < summed; left /= members[i++]) {
            const ts_mesh_digit *digit = &source->digits[digits[i]];
            at += (left % members[i] - device / digit->stride % digit->extent) * digit->stride;
        }
        sum += value_of(source, element, at);
    }
    return sum;
}

/* ---- Steps ---- */

static bool in_runs(const proof *p, const int64_t *only, int64_t flat) {
    for (int d = 0; only && d < p->rank; d++) {
        int64_t at = flat / p->strides[d] % p->dims[d];
        if (at < only[2 * d] || at >= only[2 * d] + only[2 * d + 1]) return false;
    }
    return true;
}

/* Element by element, of a device under t->parts. */
static void move_part(proof *p, const ts_collective_transfer *t, int64_t part) {
    int64_t *flat, count = list_elements(p, t->parts, part, &flat);
    int64_t begin = count * t->first / t->of, end = count * (t->first + 1) / t->of;
    for (int64_t i = begin; i < end; i++) {
        if (!in_runs(p, t->only, flat[i])) continue;
        uint32_t sent = p->held[t->source][flat[i]], *to = &p->arrived[t->destination][flat[i]];
        *to = t->adds ? *to + sent : sent;
        if (t->source != t->destination) p->moved += 4;
    }
}

/* All devices between which t->held makes no difference and t->parts does, in the digits from `from` on. */
static void make_transfer(proof *p, const ts_collective_transfer *t, int from, int64_t part) {
    while (from < t->parts->digit_count &&
           (t->parts->digits[from].kind != TS_DIGIT_SHARD || t->held->digits[from].kind == TS_DIGIT_SHARD))
        from++;
    if (from == t->parts->digit_count) {
        move_part(p, t, part);
        return;
    }
    const ts_mesh_digit *digit = &t->parts->digits[from];
    part -= part / digit->stride % digit->extent * digit->stride;
    for (int64_t i = 0; i < digit->extent; i++) make_transfer(p, t, from + 1, part + i * digit->stride);
}

static void end_step(proof *p) {
    for (size_t i = 0; i < p->transfer_count; i++)
        make_transfer(p, p->transfers[i], 0, p->transfers[i]->owner);
    for (int64_t d = 0; d < p->mesh->device_count; d++)
        memcpy(p->held[d], p->arrived[d], sizeof *p->held[d] * (size_t)p->elements);
    p->transfer_count = 0;
    p->transfers = NULL;
    ts_arena_reset(p->scratch);
}

static void begin_step(void *self, int64_t times) {
    (void)times;
    end_step(self);
}

static void keep_transfer(void *self, const ts_collective_transfer *t) {
    proof *p = self;
    ts_collective_transfer *kept = TS_NEW(p->scratch, ts_collective_transfer);
    ts_sharding *held = TS_NEW(p->scratch, ts_sharding);
    *kept = *t;
    *held = *t->held; /* the visitor's own go with the step */
    kept->held = held;
    if (t->only) {
        int64_t *only = TS_NEW_ARRAY(p->scratch, int64_t, 2 * p->rank);
        memcpy(only, t->only, sizeof *only * 2 * (size_t)p->rank);
        kept->only = only;
    }
    p->transfers =
        ts_arena_extend(p->scratch, (void *)(uintptr_t)p->transfers, p->transfer_count, sizeof kept);
    p->transfers[p->transfer_count++] = kept;
}

/* ---- All of it ---- */

static void begin_devices(proof *p, const ts_sharding *source) {
    p->held = TS_NEW_ARRAY(p->arena, uint32_t *, p->mesh->device_count);
    p->arrived = TS_NEW_ARRAY(p->arena, uint32_t *, p->mesh->device_count);
    for (int64_t d = 0; d < p->mesh->device_count; d++) {
        p->held[d] = TS_NEW_ARRAY(p->arena, uint32_t, p->elements);
        p->arrived[d] = TS_NEW_ARRAY(p->arena, uint32_t, p->elements);
        memset(p->held[d], 0xa5, sizeof(uint32_t) * (size_t)p->elements);
        int64_t *flat, count = list_elements(p, source, d, &flat);
        for (int64_t i = 0; i < count; i++) p->held[d][flat[i]] = value_of(source, flat[i], d);
        memcpy(p->arrived[d], p->held[d], sizeof(uint32_t) * (size_t)p->elements);
    }
}

static bool check_devices(proof *p, const ts_sharding *source, const ts_sharding *end) {
    for (int64_t d = 0; d < p->mesh->device_count; d++) {
        int64_t *flat, count = list_elements(p, end, d, &flat);
        for (int64_t i = 0; i < count; i++) {
            uint32_t want = value_wanted(source, end, flat[i], d);
            if (p->held[d][flat[i]] == want) continue;
            return ts_error_set(p->err, TS_ERROR_FAULT,
                                "device %" PRId64 " has 0x%08" PRIx32 " at element %" PRId64
                                ", expected 0x%08" PRIx32,
                                d, p->held[d][flat[i]], flat[i], want);
        }
    }
    return true;
}

static void print_shape(const proof *p, const ts_shape *shape, ts_text *out) {
    ts_text_init(out, p->arena);
    ts_text_add(out, "%s[", ts_dtype_get(shape->dtype)->name);
    for (int d = 0; d < p->rank; d++) ts_text_add(out, "%s%" PRId64, d ? "," : "", p->dims[d]);
    ts_text_add_char(out, ']');
}

static void move_all(proof *p, const ts_reshard_plan *plan, const ts_sharding *source) {
    ts_collective_visitor visitor = {
        .self = p, .every_step = true, .step = begin_step, .transfer = keep_transfer};
    begin_devices(p, source);
    for (int i = 0; i < plan->count; i++) {
        ts_collective c = plan->collectives[i];
        shrink(p, &c.before);
        shrink(p, &c.after);
        ts_collective_visit(p->arena, &c, &visitor);
        end_step(p);
    }
}

bool ts_reshard_prove(ts_error *err, ts_arena *arena, const ts_reshard_plan *plan, int64_t most,
                      ts_reshard_proof *result) {
    memset(result, 0, sizeof *result);
    proof p = {.err = err, .arena = arena, .mesh = plan->mesh};
    set_dims(&p, plan, most);
    ts_sharding source = plan->source, end = plan->destination;
    result->elements = p.elements;
    for (int d = 0; d < p.rank; d++) result->shrunk = result->shrunk || p.shrink[d] > 1;
    print_shape(&p, source.shape, &result->shape);
    if (!fits(&p, most))
        return ts_error_set(err, TS_ERROR_UNMODELLED,
                            "%s on %" PRId64
                            " devices is too much to move, and no smaller array has the same parts",
                            result->shape.bytes, p.mesh->device_count);
    shrink(&p, &source);
    shrink(&p, &end);
    p.scratch = ts_arena_new();
    move_all(&p, plan, &source);
    result->moved_bytes = p.moved;
    bool good = check_devices(&p, &source, &end);
    ts_arena_free(p.scratch);
    return good;
}
