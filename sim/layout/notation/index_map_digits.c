/* Index maps as sums of digits of the logical index, where they are that. */
#include <string.h>

#include "index_map_private.h"
#include "base/number.h"

enum { MAX_TERMS = 32, MAX_SOURCES = 2 * TS_LAYOUT_MAX_DIMS };

typedef struct {
    int64_t constant;
    int count;
    ts_index_term terms[MAX_TERMS];
} sum;

typedef struct {
    ts_arena *arena;
    const int64_t *dims;
    int source_count;
    ts_index_source sources[MAX_SOURCES];
} analysis;

/* ---- Sources ---- */

static bool same_source(const ts_index_source *s, int count, const int *variables, int64_t bias) {
    return s->count == count && s->bias == bias &&
           memcmp(s->variables, variables, (size_t)count * sizeof(int)) == 0;
}

/* The source of these variables; -1 when there are too many. */
static int find_source(analysis *a, int count, const int *variables, int64_t bias) {
    for (int i = 0; i < a->source_count; i++)
        if (same_source(&a->sources[i], count, variables, bias)) return i;
    int64_t extent = 1, end;
    for (int i = 0; i < count; i++)
        if (!ts_mul(extent, a->dims[variables[i]], &extent)) return -1;
    if (a->source_count == MAX_SOURCES || bias < 0 || !ts_add(extent, bias, &end)) return -1;
    int *copy = TS_COPY_ARRAY(a->arena, variables, count);
    a->sources[a->source_count] = (ts_index_source){count, copy, extent, bias, 1};
    return a->source_count++;
}

static int64_t end_of(const ts_index_source *source) { return source->extent + source->bias; }

static ts_index_term whole_source(const analysis *a, int number) {
    const ts_index_source *source = &a->sources[number];
    return (ts_index_term){
        .source = number, .scale = 1, .divisor = 1, .low = source->bias, .extent = end_of(source)};
}

/* ---- Sums ---- */

/* To a constant; what lies beyond `count` is never read. */
static void clear(sum *s, int64_t constant) {
    s->constant = constant;
    s->count = 0;
}

static void copy(sum *to, const sum *from) {
    to->constant = from->constant;
    to->count = from->count;
    memcpy(to->terms, from->terms, (size_t)from->count * sizeof from->terms[0]);
}

/* Two digits of one quotient, side by side, are one: (y / (l m)) % n * (s m) + (y / l) % m * s. */
static bool join(ts_index_term *outer, const ts_index_term *inner) {
    int64_t scale, divisor, extent;
    if (outer->source != inner->source || inner->modulus == 0) return false;
    if (!ts_mul(inner->scale, inner->modulus, &scale) || !ts_mul(inner->divisor, inner->modulus, &divisor))
        return false;
    if (outer->scale != scale || outer->divisor != divisor) return false;
    if (!ts_mul(outer->extent, inner->modulus, &extent)) return false;
    outer->extent = extent;
    outer->low *= inner->modulus;
    outer->modulus *= inner->modulus;
    outer->scale = inner->scale;
    outer->divisor = inner->divisor;
    return true;
}

static void remove_term(sum *s, int at) {
    s->count--;
    memmove(&s->terms[at], &s->terms[at + 1], (size_t)(s->count - at) * sizeof s->terms[0]);
}

static void join_terms(sum *s) {
    for (int i = 0; i < s->count; i++)
        for (int j = 0; j < s->count; j++) {
            if (i == j || !join(&s->terms[i], &s->terms[j])) continue;
            remove_term(s, j);
            i = -1; /* from the start: the joined digit may join others */
            break;
        }
}

static bool add_term(sum *s, const ts_index_term *term, int64_t factor) {
    ts_index_term scaled = *term;
    if (!ts_mul(term->scale, factor, &scaled.scale)) return false;
    for (int i = 0; i < s->count; i++) {
        ts_index_term *here = &s->terms[i];
        if (here->source != term->source || here->divisor != term->divisor || here->modulus != term->modulus)
            continue;
        if (!ts_add(here->scale, scaled.scale, &here->scale)) return false;
        here->low = ts_min(here->low, term->low);
        here->extent = ts_max(here->extent, term->extent);
        if (here->scale == 0) remove_term(s, i);
        return true;
    }
    if (s->count == MAX_TERMS) return false;
    if (scaled.scale != 0) s->terms[s->count++] = scaled;
    return true;
}

/* s += factor * other. */
static bool add_sum(sum *s, const sum *other, int64_t factor) {
    int64_t constant;
    if (!ts_mul(other->constant, factor, &constant) || !ts_add(s->constant, constant, &s->constant))
        return false;
    for (int i = 0; i < other->count; i++)
        if (!add_term(s, &other->terms[i], factor)) return false;
    join_terms(s);
    return true;
}

/* ---- Division ---- */

/* One digit over a constant: (y / l) % m / c and (y / l) % m % c are digits where c divides m. */
static bool divide_digit(analysis *a, ts_index_term term, int64_t c, sum *quotient, sum *rest) {
    ts_index_source *source = &a->sources[term.source];
    ts_index_term low = term;
    if (term.modulus && term.modulus <= c) return add_term(rest, &term, 1);
    if (term.modulus % c != 0 || !ts_mul(term.divisor, c, &term.divisor)) return false;
    if (!ts_lcm(source->period, term.divisor, &source->period)) return false;
    if (source->period > INT64_MAX - end_of(source)) return false;
    low.modulus = low.extent = c;
    low.low = 0;
    term.modulus /= c;
    term.low /= c;
    term.extent = ts_ceil_div(term.extent, c);
    return add_term(quotient, &term, 1) && add_term(rest, &low, 1);
}

static bool is_whole(const analysis *a, const ts_index_term *term) {
    return term->divisor == 1 && term->modulus == 0 && a->sources[term->source].bias == 0;
}

/* Marks the terms that are always 0, of dims of 1; how many. */
static int mark_zeros(const analysis *a, const sum *s, bool *marked) {
    int count = 0;
    for (int i = 0; i < s->count; i++) {
        marked[i] = end_of(&a->sources[s->terms[i].source]) == 1;
        count += marked[i];
    }
    return count;
}

/* The sum as one source, biased by its constant: whole variables that follow each other without gaps. */
static bool as_source(analysis *a, const sum *s, ts_index_term *out) {
    int variables[TS_LAYOUT_MAX_DIMS], count = 0;
    int64_t next = 1;
    bool used[MAX_TERMS];
    for (int placed = mark_zeros(a, s, used); placed < s->count; placed++) {
        int at = 0;
        while (at < s->count && (used[at] || s->terms[at].scale != next || !is_whole(a, &s->terms[at]))) at++;
        if (at == s->count) return false;
        const ts_index_source *source = &a->sources[s->terms[at].source];
        if (count + source->count > TS_LAYOUT_MAX_DIMS || !ts_mul(next, source->extent, &next)) return false;
        memmove(variables + source->count, variables, (size_t)count * sizeof variables[0]);
        memcpy(variables, source->variables, (size_t)source->count * sizeof variables[0]);
        count += source->count;
        used[at] = true;
    }
    int source = count ? find_source(a, count, variables, s->constant) : -1;
    if (source >= 0) *out = whole_source(a, source);
    return source >= 0;
}

/* Terms that are multiples of c fall out; the others must stay below c. */
static bool split_multiples(const sum *s, int64_t c, sum *quotient, sum *rest) {
    int64_t most = s->constant, span;
    clear(rest, s->constant);
    if (s->constant < 0) return false;
    for (int i = 0; i < s->count; i++) {
        ts_index_term term = s->terms[i];
        if (term.scale % c == 0) {
            term.scale /= c;
            if (!add_term(quotient, &term, 1)) return false;
            continue;
        }
        if (term.scale < 0 || !ts_mul(term.extent - 1, term.scale, &span) || !ts_add(most, span, &most) ||
            !add_term(rest, &term, 1))
            return false;
    }
    return quotient->count > 0 && most < c;
}

/* Divides all by what they have in common, which only the rest keeps. */
static int64_t reduce(sum *s, int64_t *c) {
    int64_t common = *c;
    for (int i = 0; i < s->count && common > 1; i++) common = ts_gcd(common, s->terms[i].scale);
    common = s->constant == 0 ? common : ts_gcd(common, s->constant);
    for (int i = 0; i < s->count; i++) s->terms[i].scale /= common;
    s->constant /= common;
    *c /= common;
    return common;
}

/* s / c and s % c; false where they are no sums of digits. */
static bool divide_reduced(analysis *a, const sum *s, int64_t c, sum *quotient, sum *rest) {
    ts_index_term whole;
    clear(quotient, 0);
    clear(rest, 0);
    if (s->count == 0) {
        quotient->constant = ts_floor_div(s->constant, c);
        rest->constant = ts_floor_mod(s->constant, c);
        return true;
    }
    if (s->count == 1 && s->constant == 0 && s->terms[0].scale == 1)
        return divide_digit(a, s->terms[0], c, quotient, rest);
    if (split_multiples(s, c, quotient, rest)) return true;
    clear(quotient, 0);
    clear(rest, 0);
    return as_source(a, s, &whole) && divide_digit(a, whole, c, quotient, rest);
}

static bool divide(analysis *a, const sum *s, int64_t c, sum *quotient, sum *rest) {
    sum reduced, reduced_rest;
    copy(&reduced, s);
    clear(rest, 0);
    int64_t common = reduce(&reduced, &c);
    return divide_reduced(a, &reduced, c, quotient, &reduced_rest) && add_sum(rest, &reduced_rest, common);
}

/* ---- Expressions: the sums of operands that wait are on a stack ---- */

/* x * y, where one of them is constant. */
static bool product(const sum *x, const sum *y, sum *out) {
    if (x->count > 0 && y->count > 0) return false;
    const sum *constant = x->count == 0 ? x : y;
    return add_sum(out, constant == x ? y : x, constant->constant);
}

static bool quotient_or_rest(analysis *a, ts_index_kind kind, const sum *x, const sum *y, sum *out) {
    sum quotient, rest;
    if (y->count > 0 || y->constant <= 0 || !divide(a, x, y->constant, &quotient, &rest)) return false;
    copy(out, kind == TS_INDEX_MODULO ? &rest : &quotient);
    join_terms(out);
    return true;
}

static bool variable(analysis *a, int number, sum *out) {
    int source = find_source(a, 1, &number, 0);
    if (source < 0) return false;
    ts_index_term term = whole_source(a, source);
    return add_term(out, &term, 1);
}

/* *x = x operator y. */
static bool combine(analysis *a, ts_index_kind kind, sum *x, const sum *y) {
    sum out;
    clear(&out, 0);
    switch (kind) {
    case TS_INDEX_ADD:
        return add_sum(x, y, 1);
    case TS_INDEX_SUBTRACT:
        return add_sum(x, y, -1);
    case TS_INDEX_NEGATE:
        if (!add_sum(&out, x, -1)) return false;
        break;
    case TS_INDEX_MULTIPLY:
        if (!product(x, y, &out)) return false;
        break;
    case TS_INDEX_DIVIDE:
    case TS_INDEX_MODULO:
        if (!quotient_or_rest(a, kind, x, y, &out)) return false;
        break;
    default:
        return false;
    }
    copy(x, &out);
    return true;
}

static bool push(analysis *a, const ts_index_step *step, sum *stack, int *top) {
    if (step->kind == TS_INDEX_CONSTANT || step->kind == TS_INDEX_VARIABLE) {
        clear(&stack[(*top)++], step->kind == TS_INDEX_CONSTANT ? step->value : 0);
        return step->kind == TS_INDEX_CONSTANT || variable(a, (int)step->value, &stack[*top - 1]);
    }
    const sum *y = step->kind == TS_INDEX_NEGATE ? NULL : &stack[--*top];
    return combine(a, step->kind, &stack[*top - 1], y);
}

/* The expression's, in stack[0]; room for its depth. */
static bool expression(analysis *a, const ts_index_expr *expr, sum *stack) {
    int top = 0;
    for (int i = 0; i < expr->count; i++)
        if (!push(a, &expr->steps[i], stack, &top)) return false;
    return true;
}

/* ---- Biases ---- */

/* `bias`, whole periods of a source, becomes constants of its digits without a modulus. */
static bool move_bias(ts_index_sum *s, int source, int64_t bias) {
    for (int i = 0; i < s->count; i++) {
        ts_index_term *term = &s->terms[i];
        int64_t gain = bias / term->divisor, scaled;
        if (term->source != source || term->modulus) continue;
        if (!ts_mul(gain, term->scale, &scaled) || !ts_add(s->constant, scaled, &s->constant)) return false;
        term->low -= gain;
        term->extent -= gain;
    }
    return true;
}

/* Only what is left of a bias behind whole periods is padding. */
static bool reduce_biases(analysis *a, ts_index_sum *sums, int count) {
    for (int i = 0; i < a->source_count; i++) {
        ts_index_source *source = &a->sources[i];
        int64_t left = source->bias % source->period;
        for (int j = 0; j < count; j++)
            if (!move_bias(&sums[j], i, source->bias - left)) return false;
        source->bias = left;
    }
    return true;
}

/* ---- The whole map ---- */

/* Sources that no term reads are dropped. */
static void drop_unused(analysis *a, ts_index_sum *sums, int count) {
    int number[MAX_SOURCES], kept = 0;
    for (int i = 0; i < a->source_count; i++) {
        bool used = false;
        for (int j = 0; j < count; j++)
            for (int k = 0; k < sums[j].count; k++) used = used || sums[j].terms[k].source == i;
        number[i] = used ? kept : -1;
        if (used) a->sources[kept++] = a->sources[i];
    }
    a->source_count = kept;
    for (int j = 0; j < count; j++)
        for (int k = 0; k < sums[j].count; k++) sums[j].terms[k].source = number[sums[j].terms[k].source];
}

/* Every logical dim belongs to one source; those that are not used to one of their own. */
static bool cover_dims(analysis *a, int rank) {
    bool seen[TS_LAYOUT_MAX_DIMS] = {false};
    for (int i = 0; i < a->source_count; i++)
        for (int j = 0; j < a->sources[i].count; j++) {
            int dim = a->sources[i].variables[j];
            if (seen[dim]) return false;
            seen[dim] = true;
        }
    for (int dim = 0; dim < rank; dim++)
        if (!seen[dim] && find_source(a, 1, &dim, 0) < 0) return false;
    return true;
}

const ts_index_digits *ts_index_digits_of(ts_arena *arena, const ts_index_map *map, const int64_t *dims) {
    analysis *a = TS_NEW(arena, analysis);
    ts_index_sum *sums = TS_NEW_ARRAY(arena, ts_index_sum, map->count);
    int depth = 0;
    for (int i = 0; i < map->count; i++) depth = map->exprs[i]->depth > depth ? map->exprs[i]->depth : depth;
    sum *own = TS_NEW_ARRAY(arena, sum, depth);
    a->arena = arena;
    a->dims = dims;
    for (int i = 0; i < map->count; i++) {
        if (!expression(a, map->exprs[i], own)) return NULL;
        sums[i] = (ts_index_sum){own->constant, own->count, TS_COPY_ARRAY(arena, own->terms, own->count)};
    }
    drop_unused(a, sums, map->count);
    if (!reduce_biases(a, sums, map->count) || !cover_dims(a, map->rank)) return NULL;
    ts_index_digits *digits = TS_NEW(arena, ts_index_digits);
    *digits = (ts_index_digits){a->source_count, a->sources, sums};
    return digits;
}

void ts_index_digits_trim(const ts_index_digits *digits, int count) {
    for (int i = 0; i < count; i++)
        for (int j = 0; j < digits->sums[i].count; j++) {
            ts_index_term *term = &digits->sums[i].terms[j];
            int64_t values = ts_ceil_div(end_of(&digits->sources[term->source]), term->divisor);
            if (term->modulus >= values) term->modulus = 0;
            if (values == 1) *term = (ts_index_term){.source = term->source, .divisor = 1};
        }
}

/* ---- Cuts ---- */

static int add_cut(int64_t *cuts, int count, int64_t cut) {
    int at = 0;
    while (at < count && cuts[at] < cut) at++;
    if (at < count && cuts[at] == cut) return count;
    memmove(&cuts[at + 1], &cuts[at], (size_t)(count - at) * sizeof *cuts);
    cuts[at] = cut;
    return count + 1;
}

int ts_index_cuts(const ts_index_digits *digits, int count, int source, int64_t *cuts) {
    int found = add_cut(cuts, 0, 1);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < digits->sums[i].count; j++) {
            const ts_index_term *term = &digits->sums[i].terms[j];
            int64_t upper;
            if (term->source != source) continue;
            if (found + 2 > TS_LAYOUT_MAX_DIMS) return 0;
            found = add_cut(cuts, found, term->divisor);
            if (!term->modulus) continue;
            if (!ts_mul(term->divisor, term->modulus, &upper)) return 0;
            found = add_cut(cuts, found, upper);
        }
    for (int i = 1; i < found; i++)
        if (cuts[i] % cuts[i - 1] != 0) return 0;
    return found;
}
