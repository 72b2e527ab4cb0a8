/* Compares results with reference values, in units of the last place of their type. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "reference_loops.h"
#include "reference_stream.h"

/* An infinity is near to nothing but itself, as in numpy.isclose. */
static bool passes(ts_tolerance bound, double ulps, double distance, double expected) {
    return ulps == 0 || ulps <= bound.ulp || distance <= bound.abs ||
           (isfinite(distance) && distance <= bound.rel * fabs(expected));
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

/* Levels of an err: what lets nothing pass, only what is rounded, and everything. */
typedef enum { NOTHING, ROUNDING, EVERYTHING, LEVELS } level;

/* A comparison under way. */
typedef struct {
    ts_reference_type type;
    ts_tolerance bound;
    ts_check_result *result;
    size_t seen;   /* elements */
    double worst;  /* ulps of result->worst; -1 before the first element */
    bool rounding; /* what the last block passed by */
    bool closely;  /* err= is bounded for the values of a block: what it is for any did not decide */
    int wait;      /* blocks whose err= is not bounded: that did not decide the last */
    double levels[LEVELS][REFERENCE_BLOCK];
    double got[REFERENCE_BLOCK], wanted[REFERENCE_BLOCK], err[REFERENCE_BLOCK]; /* room for a block */
} comparison;

static ts_reference_block block_of(comparison *c, const double *wanted, const double *err) {
    return (ts_reference_block){&c->type, c->bound, c->got, wanted, err, &c->rounding};
}

static void compare_each(comparison *c, const double *wanted, const double *err, size_t count) {
    ts_check_result *result = c->result;
    for (size_t i = 0; i < count; i++) {
        double got = c->got[i], expected = wanted[i];
        if (got == expected && c->worst >= 0) continue;
        double ulps = ts_reference_distance(&c->type, got, expected),
               distance = distance_of(got, expected, ulps);
        bool failed =
            !passes(c->bound, ulps, distance, expected) && !is_between(&c->type, got, expected, err[i]);
        if ((failed && result->failed == 0) || (failed == (result->failed > 0) && ulps > c->worst)) {
            c->worst = ulps;
            result->worst = c->seen + i;
            result->actual = ts_plain_nan(got);
            result->expected = ts_plain_nan(expected);
        }
        if (failed)
            note_failure(result, (ts_mismatch){c->seen + i, ts_plain_nan(got), ts_plain_nan(expected),
                                               distance, ulps});
        result->max_ulp = fmax(result->max_ulp, ulps);
        result->max_abs = fmax(result->max_abs, distance);
    }
}

/* Elements that all pass; false where they must be looked at. */
static bool compare_at_once(comparison *c, const ts_reference_block *block, size_t count) {
    ts_check_result *result = c->result;
    double ulps, distance;
    if (!c->type.plain || c->worst < 0 || !ts_reference_loops_best()->compare(block, count, &ulps, &distance))
        return false;
    if (result->failed == 0 && ulps > c->worst) /* one of them is the worst */
        compare_each(c, block->wanted, c->levels[EVERYTHING], count);
    result->max_ulp = fmax(result->max_ulp, ulps);
    result->max_abs = fmax(result->max_abs, distance);
    return true;
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

/* ---- err= that is left unread ---- */

/* What err= is at least, where `wanted` is expected; false on an error. What passes by such a bound has
 * expected values of at most twice the largest of its type. */
static bool bound_err(sides *s, const comparison *c, int64_t at, const double *wanted, size_t count,
                      range *least) {
    range seen = {-2 * c->type.largest, 2 * c->type.largest, 0, true, true};
    if (c->closely) {
        seen.known = ts_reference_loops_best()->extent(wanted, count, &seen.low, &seen.high);
        seen.share = seen.low >= 0;
    }
    s->bound.looked_at = seen;
    s->bound.looked_from = at;
    s->bound.looked_count = count;
    *least = (range){0};
    return ts_stream_bounds(&s->bound, s->err, at, count, least);
}

/* It is read where that is not for its values alone, and for a while where its bound did not decide. */
static bool may_bound(const sides *s, comparison *c) {
    bool may = c->type.plain && c->worst >= 0 && !s->bound.refuses && s->expected == s->bound.expected;
    return may && (c->wait == 0 || c->wait-- == 0);
}

/* Do all pass with what err= is at least? */
static bool compare_by_bound(comparison *c, const range *least, const double *wanted, size_t count) {
    enum { WAIT = 31 };
    ts_reference_block block = block_of(c, wanted, c->levels[ROUNDING]);
    block.bound.abs = fmax(block.bound.abs, least->low * BELOW_1);
    block.bound.rel = fmax(block.bound.rel, least->share * BELOW_1);
    bool sure = least->known && least->low >= 0 && least->low <= c->type.largest;
    bool passed = sure && compare_at_once(c, &block, count);
    c->wait = passed || !c->closely ? 0 : WAIT;
    c->closely = c->closely || !passed;
    return passed;
}

/* ---- Blocks ---- */

/* Reading err= may take the place of what was looked at. */
static const double *look_again(sides *s, comparison *c, int64_t at, const double *wanted, size_t count) {
    return wanted == c->wanted ? wanted : ts_stream_look(&s->right, s->expected, at, count, c->wanted);
}

static bool compare_block(sides *s, comparison *c, int64_t at, size_t count) {
    const double *err = c->levels[NOTHING], *wanted = c->wanted;
    range least;
    if (!s->actual->read(&s->left, s->actual, at, count, c->got)) return false;
    wanted = ts_stream_look(&s->right, s->expected, at, count, c->wanted);
    bool reads = wanted && s->err && !is_equal(c->got, wanted, count);
    if (reads && may_bound(s, c)) {
        if (!bound_err(s, c, at, wanted, count, &least)) return false;
        wanted = look_again(s, c, at, wanted, count);
        if (!wanted) return false;
        reads = !compare_by_bound(c, &least, wanted, count);
        if (!reads) return true;
    }
    if (reads) {
        err = ts_stream_look(&s->bound, s->err, at, count, c->err);
        wanted = err ? look_again(s, c, at, wanted, count) : NULL;
    }
    if (!wanted) return false;
    const ts_reference_block block = block_of(c, wanted, err);
    if (!compare_at_once(c, &block, count)) compare_each(c, wanted, err, count);
    return true;
}

static bool compare_streams(sides *s, comparison *c) {
    static const double levels[LEVELS] = {-(double)INFINITY, 0, (double)INFINITY};
    for (int i = 0; i < LEVELS; i++)
        for (int k = 0; k < REFERENCE_BLOCK; k++) c->levels[i][k] = levels[i];
    for (int64_t at = 0, run; at < s->actual->count; at += run) {
        run = ts_stream_run(s->expected, at);
        if (!compare_block(s, c, at, (size_t)run)) return false;
        c->seen += (size_t)run;
    }
    return true;
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
    ts_reference_refuse(in, text->root, "the left side has shape [%s], but %s has [%s]",
                        ts_stream_dims(in, actual), name, ts_stream_dims(in, side));
    return NULL;
}

/* The right side is read a block at a time by the comparison and by err= alike: it is computed once. */
static bool open_sides(sides *s, const ts_check *check) {
    s->actual = ts_reference_open(&s->left, check->actual->root);
    s->expected = s->actual ? ts_reference_open(&s->right, check->expected->root) : NULL;
    if (!s->expected || !check->err) return s->expected != NULL;
    s->expected = ts_stream_in_blocks(&s->right, s->expected);
    s->bound.expected = s->expected;
    s->bound.room = ts_reference_room(&s->bound, REFERENCE_BLOCK);
    s->err = s->expected ? ts_reference_open(&s->bound, check->err->root) : NULL;
    return s->err != NULL;
}

static bool fit_sides(sides *s, const ts_check *check) {
    s->expected = fit(&s->right, check->expected, "the right side", s->expected, s->actual);
    if (s->expected && s->err) s->err = fit(&s->bound, check->err, "err=", s->err, s->actual);
    return s->expected && (s->err || !check->err);
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
    const ts_reference_name *named = ts_reference_find_name(&s.left, check->name);
    if (!named || !named->array)
        return ts_reference_refuse(&s.left, check->actual->root,
                                   "'%.40s' is a number, expected a tensor on the left side", check->name);
    if (!fit_sides(&s, check)) return false;
    *result = (ts_check_result){.count = (size_t)s.actual->count, .rank = s.actual->rank};
    memcpy(result->dims, s.actual->dims, sizeof result->dims);
    comparison *state = TS_NEW(scratch, comparison);
    state->type = ts_reference_describe(named->array->dtype);
    state->bound = check->tolerance;
    state->result = result;
    state->worst = -1;
    ts_tolerance *bound = &state->bound;
    if (bound->ulp < 0 && bound->abs < 0 && bound->rel < 0 && !s.err) bound->ulp = 0.5;
    return compare_streams(&s, state);
}
