/* Opens reference expressions as streams of values: numbers, arrays, operators element by element, slices. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "reference_stream.h"
#include "base/number.h"
#include "base/text.h"

/* ---- Names ---- */

static const struct {
    const char *name;
    double value;
} constants[] = {{"inf", (double)INFINITY}, {"nan", (double)NAN}, {"pi", 3.14159265358979323846}};

static bool unknown_name(evaluator *in, const node *tree) {
    const char *near = NULL;
    if (in->name_count)
        near = ts_text_nearest(tree->name, &in->names[0].name, in->name_count, sizeof *in->names);
    return ts_reference_refuse(in, tree, "unknown name '%.40s'%s%s%s", tree->name,
                               near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

const ts_reference_name *ts_reference_find_name(const evaluator *in, const char *name) {
    for (size_t i = 0; i < in->name_count; i++)
        if (strcmp(in->names[i].name, name) == 0) return &in->names[i];
    return NULL;
}

static const double *find_constant(const char *name) {
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (strcmp(constants[i].name, name) == 0) return &constants[i].value;
    return NULL;
}

static bool is_expected(const evaluator *in, const char *name) {
    return in->has_expected && strcmp(name, "expected") == 0;
}

/* Once for all that name it. */
static stream *open_named_array(evaluator *in, const node *tree, const ts_reference_name *found) {
    if (!in->arrays) in->arrays = TS_NEW_ARRAY(in->arena, stream *, in->name_count);
    stream **opened = &in->arrays[found - in->names];
    if (!*opened) *opened = ts_stream_array(in, tree, found);
    return *opened;
}

static stream *open_name(evaluator *in, const node *tree) {
    if (is_expected(in, tree->name)) return in->expected;
    const ts_reference_name *found = ts_reference_find_name(in, tree->name);
    const double *constant = find_constant(tree->name);
    if (found && found->array) return open_named_array(in, tree, found);
    if (found || constant) return ts_stream_number(in, tree, found ? &found->number : constant);
    unknown_name(in, tree);
    return NULL;
}

static bool is_binary(const node *tree) {
    return tree->kind == NODE_CALL && tree->function->binary && tree->count == 2;
}

/* The links of a + b + c, left end first. */
static const node **unchain(ts_arena *arena, const node *tree, size_t *links) {
    size_t left = 0;
    for (const node *at = tree; is_binary(at); at = at->items[0]) left++;
    const node **chained = TS_NEW_ARRAY(arena, const node *, left);
    *links = left;
    for (const node *at = tree; is_binary(at); at = at->items[0]) chained[--left] = at;
    return chained;
}

/* Arguments that are no values, such as the type of a cast, are left to the evaluation. */
static bool resolve(evaluator *in, const node *tree) {
    if (tree->kind == NODE_NAME)
        return is_expected(in, tree->name) || ts_reference_find_name(in, tree->name) ||
               find_constant(tree->name) || unknown_name(in, tree);
    size_t links;
    const node **chained = unchain(in->arena, tree, &links);
    bool good = links == 0 || resolve(in, chained[0]->items[0]);
    for (size_t i = 0; good && i < links; i++) good = resolve(in, chained[i]->items[1]);
    int count = links > 0 ? 0 : tree->count;
    if (tree->kind == NODE_CALL && tree->function->arrays < count) count = tree->function->arrays;
    for (int i = 0; good && i < count; i++) good = !tree->items[i] || resolve(in, tree->items[i]);
    return good;
}

bool ts_check_resolve(ts_error *err, const ts_check *check, const ts_reference_name *names, size_t count) {
    evaluator left = {.err = err, .source = &check->actual->source, .names = names, .name_count = count};
    left.arena = ts_arena_new();
    evaluator right = left, bound;
    right.source = &check->expected->source;
    bound = right;
    bound.has_expected = true;
    bool good = resolve(&left, check->actual->root) && resolve(&right, check->expected->root) &&
                (!check->err || resolve(&bound, check->err->root));
    ts_arena_free(left.arena);
    return good;
}

/* ---- Element by element ---- */

stream *ts_stream_elements(evaluator *in, const node *tree, const walk *shape, stream **arguments,
                           int count) {
    stream *made = ts_stream_new(in, tree, shape->rank, shape->dims);
    if (!made) return NULL;
    made->cheap = true;
    for (int i = 0; i < count; i++) {
        made->arguments[i] = ts_stream_broadcast(in, arguments[i], shape);
        if (!made->arguments[i]) return NULL;
        made->cheap = made->cheap && made->arguments[i]->cheap;
    }
    return made;
}

static bool read_unary(evaluator *in, stream *self, int64_t begin, size_t count, double *out) {
    const double *values = ts_stream_look(in, self->arguments[0], begin, count, out);
    if (values) self->location->function->unary(out, values, count);
    return values != NULL;
}

static bool bound_unary(evaluator *in, stream *self, int64_t begin, size_t count, range *out) {
    range values;
    if (!ts_stream_bounds(in, self->arguments[0], begin, count, &values)) return false;
    *out = ts_reference_bound(self->location->function, &values, NULL);
    return true;
}

static stream *open_unary(evaluator *in, const node *tree, stream **arguments) {
    walk shape = ts_walk_rows(arguments[0]->rank, arguments[0]->dims);
    stream *made = ts_stream_elements(in, tree, &shape, arguments, 1);
    if (!made) return NULL;
    made->read = read_unary;
    made->bounds = bound_unary;
    return made;
}

/* a + b - c: what is read of each link's right side (broadcast, but where it is one element, as the first
 * side), and what it does to what is left of it. */
typedef struct {
    const node *location;
    stream *right;
} chain_link;

typedef struct {
    size_t count;
    chain_link *links;
    double *block;
} chain;

/* The first side, in `out` or where it is held, as long as reading what is right of it leaves that alone: a
 * single number, once it is known. */
static const double *look_at_first(evaluator *in, const chain *c, stream *first, int64_t begin, size_t count,
                                   double *out) {
    stream *right = c->links[0].right;
    if (right->count != 1) return first->read(in, first, begin, count, out) ? out : NULL;
    return ts_stream_look(in, right, 0, 1, c->block) ? ts_stream_look(in, first, begin, count, out) : NULL;
}

static bool read_chain(evaluator *in, stream *self, int64_t begin, size_t count, double *out) {
    const chain *c = self->state;
    stream *first = self->arguments[0];
    size_t left_step = first->count != 1;
    const double *left =
        left_step ? look_at_first(in, c, first, begin, count, out) : ts_stream_look(in, first, 0, 1, out);
    for (size_t i = 0; left && i < c->count; i++) {
        stream *right = c->links[i].right;
        size_t step = right->count != 1;
        const double *values = ts_stream_look(in, right, step ? begin : 0, step ? count : 1, c->block);
        if (!values) return false;
        c->links[i].location->function->binary(out, left, left_step, values, step, count);
        left = out;
        left_step = 1;
    }
    return left != NULL;
}

static bool bound_side(evaluator *in, stream *side, int64_t begin, size_t count, range *out) {
    return side->count == 1 ? ts_stream_bounds(in, side, 0, 1, out)
                            : ts_stream_bounds(in, side, begin, count, out);
}

static bool bound_chain(evaluator *in, stream *self, int64_t begin, size_t count, range *out) {
    const chain *c = self->state;
    range right;
    if (!bound_side(in, self->arguments[0], begin, count, out)) return false;
    for (size_t i = 0; out->known && i < c->count; i++) {
        if (!bound_side(in, c->links[i].right, begin, count, &right)) return false;
        *out = ts_reference_bound(c->links[i].location->function, out, &right);
    }
    return true;
}

static stream *spread(evaluator *in, stream *from, const walk *shape) {
    return from->count == 1 ? ts_stream_hold(in, from) : ts_stream_broadcast(in, from, shape);
}

/* The links from `c` on that keep the shape of the first, over `first`: what is smaller is computed as
 * such. */
static stream *open_part(evaluator *in, stream *first, const walk *shape, chain *c) {
    stream *made = ts_stream_new(in, c->links[0].location, shape->rank, shape->dims);
    stream *left = made ? spread(in, first, shape) : NULL;
    if (!left) return NULL;
    made->arguments[0] = left;
    made->cheap = left->cheap;
    for (size_t i = 0; i < c->count; i++) {
        stream *right = c->links[i].right = spread(in, c->links[i].right, shape);
        if (!right) return NULL;
        made->cheap = made->cheap && right->cheap;
    }
    c->block = ts_reference_room(in, REFERENCE_BLOCK);
    made->read = read_chain;
    made->bounds = bound_chain;
    made->state = c;
    return made;
}

static stream with_shape(const stream *from, const walk *shape) {
    stream same = *from;
    same.rank = shape->rank;
    memcpy(same.dims, shape->dims, sizeof same.dims);
    return same;
}

/* One stream for each shape that a chain has, however long it is: reading does not go as deep as the text is
 * long. */
static stream *open_chain(evaluator *in, const node *tree) {
    size_t count;
    const node *const *chained = unchain(in->arena, tree, &count);
    chain_link *links = TS_NEW_ARRAY(in->arena, chain_link, count);
    stream *first = ts_reference_open(in, chained[0]->items[0]);
    chain *part = NULL;
    walk shape, grown;
    for (size_t i = 0; first && i < count; i++) {
        stream *right = ts_reference_open(in, chained[i]->items[1]);
        stream so_far = part ? with_shape(first, &shape) : *first;
        if (!right || !ts_stream_common(in, chained[i], &so_far, right, &grown)) return NULL;
        links[i] = (chain_link){chained[i], right};
        if (part && !ts_integers_equal(so_far.dims, so_far.rank, grown.dims, grown.rank)) {
            if (!(first = open_part(in, first, &shape, part))) return NULL;
            part = NULL;
        }
        if (!part) {
            part = TS_NEW(in->arena, chain);
            *part = (chain){.links = &links[i]};
        }
        part->count++;
        shape = grown;
    }
    return first ? open_part(in, first, &shape, part) : NULL;
}

/* ---- Axes ---- */

/* A dim of `value` from -rank to rank - 1. */
static bool pick_axis(evaluator *in, const node *location, const stream *value, int64_t axis, int *out) {
    if (axis < -value->rank || axis >= value->rank)
        return ts_reference_refuse(in, location, "axis %" PRId64 " of an array of %d dims", axis,
                                   value->rank);
    *out = (int)(axis < 0 ? axis + value->rank : axis);
    return true;
}

/* Which dims axis= names; all of them without it. */
static bool pick_axes(evaluator *in, const node *tree, const stream *value, bool *chosen) {
    const node *axes = tree->keywords[KEYWORD_AXIS];
    int64_t list[TS_HOST_RANK];
    int count = 0, axis = 0;
    for (int i = 0; i < value->rank; i++) chosen[i] = !axes;
    if (!axes) return true;
    const node one = {.items = &axes, .count = 1};
    if (!ts_reference_integers(in, &one, 0, list, &count)) return false;
    for (int i = 0; i < count; i++) {
        if (!pick_axis(in, axes, value, list[i], &axis)) return false;
        if (chosen[axis]) return ts_reference_refuse(in, axes, "the same axis twice");
        chosen[axis] = true;
    }
    return true;
}

static bool keeps_dims(evaluator *in, const node *tree, bool *keep) {
    int64_t value = 0;
    const node *location = tree->keywords[KEYWORD_KEEPDIMS];
    if (location && !ts_reference_integer(in, location, "keepdims", &value)) return false;
    *keep = value != 0;
    return true;
}

static stream *open_reduction(evaluator *in, const node *tree, stream *value) {
    bool chosen[TS_HOST_RANK], keep;
    if (!pick_axes(in, tree, value, chosen) || !keeps_dims(in, tree, &keep)) return NULL;
    return ts_reference_reduce(in, tree, value, chosen, keep);
}

static bool read_eps(evaluator *in, const node *tree, double *eps) {
    stream *value = ts_reference_open(in, tree);
    if (!value) return false;
    if (value->rank != 0) return ts_reference_refuse(in, tree, "expected a number as eps");
    return ts_stream_read(in, value, 0, 1, eps);
}

static stream *open_scan(evaluator *in, const node *tree, stream *value) {
    int64_t wanted = -1;
    int axis = 0;
    double eps = 0;
    const node *location = tree->keywords[KEYWORD_AXIS];
    if (location && !ts_reference_integer(in, location, "an axis", &wanted)) return NULL;
    if (!pick_axis(in, location ? location : tree, value, wanted, &axis)) return NULL;
    location = tree->keywords[KEYWORD_EPS];
    if (location && !read_eps(in, location, &eps)) return NULL;
    return ts_reference_scan(in, tree, value, axis, eps);
}

/* ---- Calls ---- */

static stream *open_call(evaluator *in, const node *tree) {
    if (is_binary(tree)) return open_chain(in, tree);
    const function *does = tree->function;
    stream *arguments[REFERENCE_ARGUMENTS] = {NULL};
    for (int i = 0; i < tree->count && i < does->arrays; i++)
        if (!(arguments[i] = ts_reference_open(in, tree->items[i]))) return NULL;
    if (does->whole) return does->whole(in, tree, arguments);
    if (does->reduce) return open_reduction(in, tree, arguments[0]);
    if (does->scan) return open_scan(in, tree, arguments[0]);
    return open_unary(in, tree, arguments);
}

/* ---- Slices ---- */

/* One item of an index: where the dim begins, how far it steps, and how many it keeps (-1: the dim is
 * gone). */
typedef struct {
    int64_t start, step, count;
} cut;

static bool cut_integer(evaluator *in, const node *item, int64_t dim, int64_t *out) {
    int64_t at;
    if (!ts_reference_integer(in, item, "an index", &at)) return false;
    if (at < -dim || at >= dim)
        return ts_reference_refuse(in, item, "index %" PRId64 " of a dim of %" PRId64, at, dim);
    *out = at < 0 ? at + dim : at;
    return true;
}

static bool cut_slice(evaluator *in, const node *item, int64_t dim, cut *out) {
    int64_t bounds[3] = {0, dim, 1};
    for (int i = 0; i < 3; i++) {
        if (!item->items[i]) continue;
        if (!ts_reference_integer(in, item->items[i], i < 2 ? "a bound" : "a step", &bounds[i])) return false;
        if (i < 2 && bounds[i] < 0) bounds[i] += dim;
    }
    if (bounds[2] < 1)
        return ts_reference_refuse(in, item, "a step of %" PRId64 ", expected 1 or more", bounds[2]);
    if (bounds[0] < 0 || bounds[1] < bounds[0] || bounds[1] > dim)
        return ts_reference_refuse(in, item, "slice %" PRId64 ":%" PRId64 " of a dim of %" PRId64, bounds[0],
                                   bounds[1], dim);
    *out = (cut){bounds[0], bounds[2], ts_ceil_div(bounds[1] - bounds[0], bounds[2])};
    return true;
}

static bool cut_dim(evaluator *in, const node *item, int64_t dim, cut *out) {
    if (item->kind == NODE_SLICE) return cut_slice(in, item, dim, out);
    *out = (cut){.step = 1, .count = -1};
    return cut_integer(in, item, dim, &out->start);
}

static stream *open_index(evaluator *in, const node *tree) {
    stream *base = ts_reference_open(in, tree->items[0]);
    if (!base) return NULL;
    if (tree->count - 1 > base->rank) {
        ts_reference_refuse(in, tree, "%d indices of an array of %d dims", tree->count - 1, base->rank);
        return NULL;
    }
    walk full = ts_walk_rows(base->rank, base->dims), kept = {0};
    int64_t offset = 0;
    for (int i = 0; i < base->rank; i++) {
        cut part = {0, 1, base->dims[i]};
        if (i + 1 < tree->count && !cut_dim(in, tree->items[i + 1], base->dims[i], &part)) return NULL;
        offset += part.start * full.strides[i];
        if (part.count < 0) continue;
        kept.strides[kept.rank] = part.step * full.strides[i];
        kept.dims[kept.rank++] = part.count;
    }
    return ts_stream_view(in, tree, base, offset, &kept);
}

/* ---- The whole ---- */

stream *ts_reference_open(evaluator *in, const node *tree) {
    switch (tree->kind) {
    case NODE_NUMBER:
        return ts_stream_number(in, tree, &tree->number);
    case NODE_NAME:
        return open_name(in, tree);
    case NODE_CALL:
        return open_call(in, tree);
    case NODE_INDEX:
        return open_index(in, tree);
    case NODE_SLICE:
    case NODE_TUPLE:
        break;
    }
    ts_reference_refuse(in, tree, "a list is not a value, expected one expression");
    return NULL;
}

bool ts_reference_integer(evaluator *in, const node *tree, const char *what, int64_t *out) {
    stream *value = ts_reference_open(in, tree);
    double number = (double)NAN;
    if (!value || (value->rank == 0 && !ts_stream_read(in, value, 0, 1, &number))) return false;
    if (number != rint(number) || fabs(number) > 9007199254740992.0)
        return ts_reference_refuse(in, tree, "expected an integer as %s", what);
    *out = (int64_t)number;
    return true;
}

bool ts_reference_integers(evaluator *in, const node *call, int first, int64_t *list, int *count) {
    for (int i = first; i < call->count; i++) {
        const node *item = call->items[i];
        if (item->kind == NODE_TUPLE) {
            if (!ts_reference_integers(in, item, 0, list, count)) return false;
            continue;
        }
        if (*count == TS_HOST_RANK) return ts_reference_refuse(in, item, "more than %d dims", TS_HOST_RANK);
        if (!ts_reference_integer(in, item, "a dim", &list[(*count)++])) return false;
    }
    return true;
}

bool ts_reference_evaluate(ts_error *err, ts_arena *arena, const ts_reference *expression,
                           const ts_reference_name *names, size_t count, ts_reference_value *value) {
    evaluator in = {
        .err = err, .arena = arena, .source = &expression->source, .names = names, .name_count = count};
    stream *all = ts_reference_open(&in, expression->root);
    if (!all) return false;
    if (all->count > 1 << 30)
        return ts_reference_refuse(&in, expression->root, "the result would have more than 2^30 elements");
    value->rank = all->rank;
    memcpy(value->dims, all->dims, sizeof value->dims);
    value->count = (size_t)all->count;
    value->values = TS_NEW_ARRAY(arena, double, value->count);
    return ts_stream_read(&in, all, 0, all->count, value->values);
}
