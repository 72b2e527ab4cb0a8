/* Plans made with bytes. Every device has room for the whole array, and knows only what it was given or
 * sent. */
#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "mesh/reshard.h"

/* One element on its way. */
struct arrival {
    uint32_t *to, value;
    bool adds;
};

typedef struct {
    ts_error *err;
    ts_arena *arena;
    const ts_mesh *mesh;
    int rank;
    int64_t dims[TS_LAYOUT_MAX_DIMS], strides[TS_LAYOUT_MAX_DIMS], elements;
    int64_t shrink[TS_LAYOUT_MAX_DIMS]; /* weights and extents are divided by it */
    uint32_t **held;                    /* by device: what it has */
    uint32_t **sums;   /* by the addends that are left: what elements add up to; NULL: not yet */
    int64_t moved;     /* elements, between devices */
    ts_arena *scratch; /* of a step */
    /* The step that is being made: its transfers see what was there before it. */
    struct arrival *arrivals;
    size_t arrival_count;
} proof;

/* ---- The array, made smaller ---- */

static int64_t unit_with(const ts_sharding *sharding, int dim, int64_t unit) {
    for (int i = 0; i < sharding->digit_count; i++) {
        const ts_mesh_digit *digit = &sharding->digits[i];
        if (digit->kind == TS_DIGIT_SHARD && digit->dim == dim) unit = ts_gcd(unit, digit->weight);
    }
    return unit;
}

static int64_t common_unit(const ts_reshard_plan *plan, int dim) {
    int64_t unit = unit_with(&plan->source, dim, plan->source.dims[dim]);
    unit = unit_with(&plan->destination, dim, unit);
    for (int i = 0; i < plan->count; i++) unit = unit_with(&plan->collectives[i].after, dim, unit);
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

/* Elements that a device holds: those whose index in each dim is in that dim's list. */
typedef struct {
    int64_t count; /* of all */
    int64_t counts[TS_LAYOUT_MAX_DIMS], *indices[TS_LAYOUT_MAX_DIMS];
} element_list;

/* `only`: those of its runs, the first index and the extent of each dim; NULL: all. */
static void list_elements(const proof *p, const ts_sharding *held, int64_t owner, const int64_t *only,
                          element_list *list) {
    list->count = 1;
    for (int d = 0; d < p->rank; d++) {
        int64_t begin = only ? only[2 * d] : 0, end = only ? begin + only[2 * d + 1] : p->dims[d];
        list->counts[d] = 0;
        list->indices[d] = TS_NEW_ARRAY(p->scratch, int64_t, end - begin);
        for (int64_t at = begin; at < end; at++)
            if (ts_sharding_holds_at(held, d, at, owner)) list->indices[d][list->counts[d]++] = at;
        list->count *= list->counts[d];
    }
}

/* The flat index of the n-th, in row-major order. */
static int64_t element_at(const proof *p, const element_list *list, int64_t n) {
    int64_t flat = 0;
    for (int d = p->rank - 1; d >= 0; n /= list->counts[d--])
        flat += list->indices[d][n % list->counts[d]] * p->strides[d];
    return flat;
}

/* What device `device` adds to an element: the same for all that hold copies. */
static uint32_t value_of(const ts_sharding *source, int64_t element, int64_t device) {
    uint64_t addend = (uint64_t)ts_sharding_addend(source, device);
    uint64_t x =
        ((uint64_t)element + 1) * UINT64_C(0x9e3779b97f4a7c15) + addend * UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)((x ^ (x >> 29)) * UINT64_C(0x94d049bb133111eb) >> 32);
}

/* The digits that are summed on the way. */
static bool is_summed(const ts_sharding *source, const ts_sharding *end, int digit) {
    return source->digits[digit].kind == TS_DIGIT_PARTIAL && end->digits[digit].kind != TS_DIGIT_PARTIAL;
}

/* Adds what the devices have that differ in the summed digits from `from` on, which are 0 in `device`. */
static void add_values(const proof *p, const ts_sharding *source, const ts_sharding *end, int from,
                       int64_t device, uint32_t *sums) {
    while (from < source->digit_count && !is_summed(source, end, from)) from++;
    if (from == source->digit_count) {
        for (int64_t e = 0; e < p->elements; e++) sums[e] += value_of(source, e, device);
        return;
    }
    const ts_mesh_digit *digit = &source->digits[from];
    for (int64_t i = 0; i < digit->extent; i++)
        add_values(p, source, end, from + 1, device + i * digit->stride, sums);
}

/* What a device's elements shall be in the end, by their flat index. The first that asks for a sum has 0 in
 * the summed digits. */
static const uint32_t *values_wanted(proof *p, const ts_sharding *source, const ts_sharding *end,
                                     int64_t device) {
    uint32_t **sums = &p->sums[ts_sharding_addend(end, device)];
    if (*sums) return *sums;
    *sums = TS_NEW_ARRAY(p->arena, uint32_t, p->elements);
    add_values(p, source, end, 0, device, *sums);
    return *sums;
}

/* ---- Steps ---- */

/* Element by element, of a device under t->parts. */
static void move_part(proof *p, const ts_collective_transfer *t, int64_t part) {
    element_list list;
    list_elements(p, t->parts, part, t->only, &list);
    int64_t begin = list.count * t->first / t->of, end = list.count * (t->first + t->count) / t->of;
    for (int64_t i = begin; i < end; i++) {
        int64_t flat = element_at(p, &list, i);
        *TS_APPEND(p->scratch, p->arrivals, p->arrival_count) =
            (struct arrival){&p->held[t->destination][flat], p->held[t->source][flat], t->adds};
        if (t->source != t->destination) p->moved++;
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
    for (size_t i = 0; i < p->arrival_count; i++) {
        const struct arrival *a = &p->arrivals[i];
        *a->to = a->adds ? *a->to + a->value : a->value;
    }
    p->arrival_count = 0;
    p->arrivals = NULL;
    ts_arena_reset(p->scratch);
}

/* Elements of sums that are made of values: the device that has 0 in those digits, or holds the shard, keeps
 * them. */
static bool keeps(const ts_collective *c, const int64_t *index, int64_t device) {
    bool kept = true;
    for (int i = 0; i < c->before.digit_count && kept; i++) {
        const ts_mesh_digit *from = &c->before.digits[i];
        if (c->after.digits[i].kind != TS_DIGIT_PARTIAL || from->kind == TS_DIGIT_PARTIAL) continue;
        int64_t own = device / from->stride % from->extent;
        kept = own == (from->kind == TS_DIGIT_SHARD ? index[from->dim] / from->weight % from->extent : 0);
    }
    return kept;
}

static void make_sums(proof *p, const ts_collective *c) {
    for (int64_t device = 0; device < p->mesh->device_count; device++) {
        element_list list;
        list_elements(p, &c->after, device, NULL, &list);
        for (int64_t i = 0; i < list.count; i++) {
            int64_t index[TS_LAYOUT_MAX_DIMS], flat = element_at(p, &list, i);
            for (int d = 0; d < p->rank; d++) index[d] = flat / p->strides[d] % p->dims[d];
            if (!keeps(c, index, device)) p->held[device][flat] = 0;
        }
    }
}

static void begin_step(void *self, int64_t times) {
    (void)times;
    end_step(self);
}

static void take_transfer(void *self, const ts_collective_transfer *t) {
    make_transfer(self, t, 0, t->owner);
}

/* ---- All of it ---- */

static void begin_devices(proof *p, const ts_sharding *source) {
    p->held = TS_NEW_ARRAY(p->arena, uint32_t *, p->mesh->device_count);
    p->sums = TS_NEW_ARRAY(p->arena, uint32_t *, p->mesh->device_count);
    for (int64_t d = 0; d < p->mesh->device_count; d++) {
        p->held[d] = TS_NEW_ARRAY(p->arena, uint32_t, p->elements);
        memset(p->held[d], 0xa5, sizeof(uint32_t) * (size_t)p->elements);
        element_list list;
        list_elements(p, source, d, NULL, &list);
        for (int64_t i = 0; i < list.count; i++) {
            int64_t flat = element_at(p, &list, i);
            p->held[d][flat] = value_of(source, flat, d);
        }
    }
}

/* The digits that are addends only in the end. */
static bool is_split_up(const ts_sharding *source, const ts_sharding *end, int digit) {
    return source->digits[digit].kind != TS_DIGIT_PARTIAL && end->digits[digit].kind == TS_DIGIT_PARTIAL;
}

/* The sum of an element over all devices that differ from this one only in those digits. */
static uint32_t held_by_all(const proof *p, const ts_sharding *source, const ts_sharding *end, int from,
                            int64_t device, int64_t flat) {
    while (from < end->digit_count && !is_split_up(source, end, from)) from++;
    if (from == end->digit_count) return p->held[device][flat];
    const ts_mesh_digit *digit = &end->digits[from];
    int64_t first = device - device / digit->stride % digit->extent * digit->stride;
    uint32_t sum = 0;
    for (int64_t i = 0; i < digit->extent; i++)
        sum += held_by_all(p, source, end, from + 1, first + i * digit->stride, flat);
    return sum;
}

static bool check_devices(proof *p, const ts_sharding *source, const ts_sharding *end) {
    for (int64_t d = 0; d < p->mesh->device_count; d++) {
        element_list list;
        const uint32_t *wanted = values_wanted(p, source, end, d);
        list_elements(p, end, d, NULL, &list);
        for (int64_t i = 0; i < list.count; i++) {
            int64_t flat = element_at(p, &list, i);
            uint32_t held = held_by_all(p, source, end, 0, d, flat);
            if (held == wanted[flat]) continue;
            return ts_error_set(p->err, TS_ERROR_FAULT,
                                "device %" PRId64 " has 0x%08" PRIx32 " at element %" PRId64
                                ", expected 0x%08" PRIx32,
                                d, held, flat, wanted[flat]);
        }
    }
    return true;
}

static void print_shape(const proof *p, const ts_shape *shape, ts_text *out) {
    *out = ts_text_begin(p->arena);
    ts_shape_print_array(shape->dtype, p->dims, p->rank, out);
}

static void move_all(proof *p, const ts_reshard_plan *plan, const ts_sharding *source) {
    ts_collective_visitor visitor = {
        .self = p, .every_step = true, .step = begin_step, .transfer = take_transfer};
    begin_devices(p, source);
    for (int i = 0; i < plan->count; i++) {
        ts_collective c = plan->collectives[i];
        shrink(p, &c.before);
        shrink(p, &c.after);
        ts_collective_visit(p->arena, &c, &visitor);
        end_step(p);
        make_sums(p, &c);
        ts_arena_reset(p->scratch);
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
    result->moved_bytes = ts_ceil_div(p.moved * plan->source.shape->element_bits, 8);
    bool good = check_devices(&p, &source, &end);
    ts_arena_free(p.scratch);
    return good;
}
