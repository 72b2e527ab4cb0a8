/* Compares results with reference values, in units of the last place of their type. */
#include <math.h>
#include <string.h>

#include "reference_loops.h"
#include "reference_stream.h"

static bool passes(ts_tolerance bound, double ulps, double distance, double expected) {
    return ulps == 0 || ulps <= bound.ulp || distance <= bound.abs || distance <= bound.rel * fabs(expected);
}

/* Between expected - err and expected + err, as the type has them: rounding keeps the order. */
static bool is_between(const ts_reference_type *type, double actual, double expected, double err) {
    if (isinf(err)) return err > 0;
    if (type->info->class != TS_CLASS_FLOAT) return fabs(actual - expected) <= err;
    return actual >= ts_reference_round(type, expected - err) &&
           actual <= ts_reference_round(type, expected + err);
}

static void note_failure(ts_check_result *result, ts_mismatch found) {
    if (result->mismatch_count < TS_MISMATCHES) result->mismatches[result->mismatch_count++] = found;
    result->failed++;
}

static double distance_of(double actual, double expected, double ulps) {
    double distance = ulps == 0 ? 0 : fabs(actual - expected);
    return isnan(distance) ? (double)INFINITY : distance;
}

/* A comparison under way. */
typedef struct {
    ts_reference_type type;
    ts_tolerance bound;
    ts_check_result *result;
    size_t seen;   /* elements */
    double worst;  /* ulps of result->worst; -1 before the first element */
    bool rounding; /* what the last block passed by */
} comparison;

/* Elements that all pass, none of them worse than what was seen; false where they must be looked at. */
static bool compare_at_once(comparison *c, const double *actual, const double *expected, const double *err,
                            size_t count) {
    const ts_reference_block block = {&c->type, c->bound, actual, expected, err, &c->rounding};
    ts_check_result *result = c->result;
    double ulps, distance;
    if (!c->type.plain || c->worst < 0 ||
        !ts_reference_loops_best()->compare(&block, count, &ulps, &distance) ||
        (result->failed == 0 && ulps > c->worst))
        return false;
    result->max_ulp = fmax(result->max_ulp, ulps);
    result->max_abs = fmax(result->max_abs, distance);
    return true;
}

static void compare_each(comparison *c, const double *actual, const double *expected, const double *err,
                         size_t count) {
    ts_check_result *result = c->result;
    for (size_t i = 0; i < count; i++) {
        double got = actual[i], wanted = expected[i];
        if (got == wanted && c->worst >= 0) continue;
        double ulps = ts_reference_distance(&c->type, got, wanted), distance = distance_of(got, wanted, ulps);
        bool failed = !passes(c->bound, ulps, distance, wanted) && !is_between(&c->type, got, wanted, err[i]);
        if ((failed && result->failed == 0) || (failed == (result->failed > 0) && ulps > c->worst)) {
            c->worst = ulps;
            result->worst = c->seen + i;
            result->actual = got;
            result->expected = wanted;
        }
        if (failed) note_failure(result, (ts_mismatch){c->seen + i, got, wanted, distance, ulps});
        result->max_ulp = fmax(result->max_ulp, ulps);
        result->max_abs = fmax(result->max_abs, distance);
    }
}

/* Elements that come next. */
static void compare_some(comparison *c, const double *actual, const double *expected, const double *err,
                         size_t count) {
    if (!compare_at_once(c, actual, expected, err, count)) compare_each(c, actual, expected, err, count);
    c->seen += count;
}

/* The sides of a check, and its err=, which may be NULL; two evaluators, for two sets of names. */
typedef struct {
    evaluator left, right, bound;
    stream *actual, *expected, *err;
} sides;

static bool is_equal(const double *a, const double *b, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (a[i] != b[i]) return false;
    return true;
}

/* Reading err= may take the place of what was looked at. */
static bool compare_streams(sides *s, comparison *c) {
    double got_room[REFERENCE_BLOCK], wanted_room[REFERENCE_BLOCK], err_room[REFERENCE_BLOCK];
    double nothing[REFERENCE_BLOCK]; /* lets nothing pass */
    for (int i = 0; i < REFERENCE_BLOCK; i++) nothing[i] = -(double)INFINITY;
    for (int64_t at = 0, run; at < s->actual->count; at += run) {
        run = ts_stream_run(s->expected, at);
        size_t count = (size_t)run;
        const double *err = nothing, *got = got_room;
        if (!s->actual->read(&s->left, s->actual, at, count, got_room)) return false;
        const double *wanted = ts_stream_look(&s->right, s->expected, at, count, wanted_room);
        if (wanted && s->err && !is_equal(got, wanted, count)) {
            err = ts_stream_look(&s->bound, s->err, at, count, err_room);
            if (err && wanted != wanted_room)
                wanted = ts_stream_look(&s->right, s->expected, at, count, wanted_room);
        }
        if (!wanted || !err) return false;
        compare_some(c, got, wanted, err, count);
    }
    return true;
}

static void print_dims(const stream *value, ts_text *out) {
    ts_text_add_char(out, '[');
    for (int i = 0; i < value->rank; i++) ts_text_add(out, i ? ",%lld" : "%lld", (long long)value->dims[i]);
    ts_text_add_char(out, ']');
}

/* `side`, broadcast to the shape of the left side; NULL and an error where it does not fit. */
static stream *fit(evaluator *in, const ts_reference *text, const char *name, stream *side,
                   const stream *actual) {
    int extra = actual->rank - side->rank;
    bool fits = extra >= 0;
    for (int i = 0; fits && i < side->rank; i++)
        fits = side->dims[i] == 1 || side->dims[i] == actual->dims[i + extra];
    walk shape = ts_walk_rows(actual->rank, actual->dims);
    if (fits) return ts_stream_broadcast(in, side, &shape);
    ts_text words = ts_text_begin(in->arena);
    ts_text_add(&words, "the left side has shape ");
    print_dims(actual, &words);
    ts_text_add(&words, ", but %s has ", name);
    print_dims(side, &words);
    ts_reference_refuse(in, text->root, "%s", words.bytes);
    return NULL;
}

/* The right side is read a block at a time by the comparison and by err= alike: it is computed once. */
static bool open_sides(sides *s, const ts_check *check) {
    s->actual = ts_reference_open(&s->left, check->actual->root);
    s->expected = s->actual ? ts_reference_open(&s->right, check->expected->root) : NULL;
    if (!s->expected || !check->err) return s->expected != NULL;
    s->expected = ts_stream_in_blocks(&s->right, s->expected);
    s->bound.expected = s->expected;
    s->err = s->expected ? ts_reference_open(&s->bound, check->err->root) : NULL;
    return s->err != NULL;
}

static bool fit_sides(sides *s, const ts_check *check) {
    s->expected = fit(&s->right, check->expected, "the right side", s->expected, s->actual);
    if (s->expected && s->err) s->err = fit(&s->bound, check->err, "err=", s->err, s->actual);
    return s->expected && (s->err || !check->err);
}

static const ts_host_array *find_array(const ts_reference_names *names, const char *name) {
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->list[i].name, name) == 0) return names->list[i].array;
    return NULL;
}

static sides begin_sides(ts_error *err, ts_arena *scratch, const ts_check *check,
                         const ts_reference_names *after, const ts_reference_names *before) {
    sides s = {0};
    s.left = (evaluator){.err = err, .arena = scratch, .names = after->list, .name_count = after->count};
    s.right = (evaluator){.err = err, .arena = scratch, .names = before->list, .name_count = before->count};
    s.left.source = &check->actual->source;
    s.right.source = &check->expected->source;
    s.right.arrays = TS_NEW_ARRAY(scratch, stream *, before->count + 1);
    s.bound = s.right; /* with the same arrays */
    s.bound.has_expected = true;
    return s;
}

int64_t ts_check_bytes(const ts_check *check, const ts_reference_names *after,
                       const ts_reference_names *before) {
    ts_arena *scratch = ts_arena_new();
    ts_error err = {0};
    sides s = begin_sides(&err, scratch, check, after, before);
    bool good = open_sides(&s, check) && fit_sides(&s, check);
    ts_arena_free(scratch);
    return good ? s.left.held_bytes + s.right.held_bytes + s.bound.held_bytes : 0;
}

bool ts_check_run(ts_error *err, ts_arena *scratch, const ts_check *check, const ts_reference_names *after,
                  const ts_reference_names *before, ts_check_result *result) {
    sides s = begin_sides(err, scratch, check, after, before);
    if (!open_sides(&s, check)) return false;
    const ts_host_array *array = find_array(after, check->name);
    if (!array)
        return ts_reference_refuse(&s.left, check->actual->root,
                                   "'%.40s' is a number, expected a tensor on the left side", check->name);
    if (!fit_sides(&s, check)) return false;
    *result =
        (ts_check_result){.dtype = array->dtype, .count = (size_t)s.actual->count, .rank = s.actual->rank};
    memcpy(result->dims, s.actual->dims, sizeof result->dims);
    comparison state = {ts_reference_describe(array->dtype), check->tolerance, result, 0, -1, false};
    ts_tolerance *bound = &state.bound;
    if (bound->ulp < 0 && bound->abs < 0 && bound->rel < 0 && !s.err) bound->ulp = 0.5;
    return compare_streams(&s, &state);
}
