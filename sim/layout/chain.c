/* From stages to chains. */
#include "chain.h"

#include <assert.h>
#include <string.h>

#include "base/number.h"

/* Takes the chain's numerator modulo `modulus`. A modulus that divides the one before replaces it. */
static bool push_modulus(ts_chain *chain, int64_t modulus) {
    ts_chain_op *last = chain->op_count ? &chain->ops[chain->op_count - 1] : NULL;
    if (last && chain->bias == 0 && last->modulus % modulus == 0) {
        last->modulus = modulus;
        return true;
    }
    if (chain->op_count == TS_CHAIN_OPS) return false;
    chain->ops[chain->op_count++] = (ts_chain_op){chain->bias, modulus};
    chain->bias = 0;
    return true;
}

bool ts_chain_substitute(ts_chain *chain, int64_t modulus, int64_t divisor) {
    if (chain->variable == TS_CHAIN_CONSTANT) return true;
    ts_chain out = {.variable = chain->variable, .divisor = 1};
    if (modulus > 0 && !push_modulus(&out, modulus)) return false;
    for (int i = 0; i < chain->op_count; i++) {
        int64_t bias, scaled;
        if (!ts_mul(chain->ops[i].bias, divisor, &bias) || !ts_mul(chain->ops[i].modulus, divisor, &scaled))
            return false;
        out.bias += bias;
        if (!push_modulus(&out, scaled)) return false;
    }
    int64_t bias;
    if (!ts_mul(chain->bias, divisor, &bias) || !ts_mul(chain->divisor, divisor, &out.divisor)) return false;
    out.bias += bias;
    *chain = out;
    return true;
}

/* ---- Running the stages on chains ---- */

typedef struct {
    ts_chains *chains;
    int count;
    ts_chain current[TS_LAYOUT_MAX_DIMS];
    int64_t extents[TS_LAYOUT_MAX_DIMS];
} tracer;

static bool is_whole(const tracer *t, int k) {
    const ts_chain *chain = &t->current[k];
    return chain->variable != TS_CHAIN_CONSTANT && chain->op_count == 0 && chain->bias == 0 &&
           chain->divisor == 1;
}

/* Two whole variables become one, the dims of the first being the more significant. */
static void join_variables(tracer *t, int outer, int inner) {
    ts_variable *a = &t->chains->variables[outer], *b = &t->chains->variables[inner];
    memcpy(a->dims + a->dim_count, b->dims, (size_t)b->dim_count * sizeof a->dims[0]);
    a->dim_count += b->dim_count;
    a->extent *= b->extent;
    b->dim_count = 0;
}

/* Is dim k+1 the part just below dim k of one quotient: y / (c e) and (y mod c e) / c ? */
static bool is_continued(const ts_chain *outer, const ts_chain *inner, int64_t inner_extent) {
    if (inner->op_count != outer->op_count + 1 || inner->bias != 0) return false;
    const ts_chain_op *last = &inner->ops[outer->op_count];
    return last->bias == outer->bias && last->modulus == outer->divisor &&
           inner_extent * inner->divisor == outer->divisor &&
           memcmp(outer->ops, inner->ops, (size_t)outer->op_count * sizeof outer->ops[0]) == 0;
}

static bool merge(tracer *t, int k) {
    ts_chain *outer = &t->current[k], *inner = &t->current[k + 1];
    const ts_variable *variables = t->chains->variables;
    if (t->extents[k] == 1) {
        *outer = *inner;
    } else if (t->extents[k + 1] == 1) {
        /* the outer one stays */
    } else if (is_whole(t, k) && is_whole(t, k + 1) && outer->variable != inner->variable &&
               t->extents[k + 1] == variables[inner->variable].extent) {
        join_variables(t, outer->variable, inner->variable);
    } else if (outer->variable == inner->variable && outer->variable != TS_CHAIN_CONSTANT &&
               is_continued(outer, inner, t->extents[k + 1])) {
        outer->divisor = inner->divisor;
    } else {
        return false;
    }
    t->extents[k] *= t->extents[k + 1];
    t->count--;
    memmove(&t->current[k + 1], &t->current[k + 2], (size_t)(t->count - k - 1) * sizeof t->current[0]);
    memmove(&t->extents[k + 1], &t->extents[k + 2], (size_t)(t->count - k - 1) * sizeof t->extents[0]);
    return true;
}

static void insert(tracer *t, int k, ts_chain chain, int64_t extent) {
    memmove(&t->current[k + 1], &t->current[k], (size_t)(t->count - k) * sizeof t->current[0]);
    memmove(&t->extents[k + 1], &t->extents[k], (size_t)(t->count - k) * sizeof t->extents[0]);
    t->current[k] = chain;
    t->extents[k] = extent;
    t->count++;
}

static bool split(tracer *t, int k, int64_t factor) {
    ts_chain *outer = &t->current[k], inner = *outer;
    t->extents[k] /= factor;
    if (outer->variable == TS_CHAIN_CONSTANT) {
        inner.bias = outer->bias % factor;
        outer->bias /= factor;
    } else {
        int64_t scaled;
        if (!ts_mul(outer->divisor, factor, &scaled) || !push_modulus(&inner, scaled)) return false;
        outer->divisor = scaled;
    }
    insert(t, k + 1, inner, factor);
    return true;
}

static bool add_bias(ts_chain *chain, int64_t value) {
    int64_t scaled = value;
    if (chain->variable != TS_CHAIN_CONSTANT && !ts_mul(value, chain->divisor, &scaled)) return false;
    return ts_add(chain->bias, scaled, &chain->bias);
}

static void reorder(tracer *t, const int *order) {
    ts_chain current[TS_LAYOUT_MAX_DIMS];
    int64_t extents[TS_LAYOUT_MAX_DIMS];
    for (int i = 0; i < t->count; i++) {
        current[i] = t->current[order[i]];
        extents[i] = t->extents[order[i]];
    }
    memcpy(t->current, current, (size_t)t->count * sizeof current[0]);
    memcpy(t->extents, extents, (size_t)t->count * sizeof extents[0]);
}

static bool trace_stage(tracer *t, const ts_stage *stage) {
    switch (stage->kind) {
    case TS_STAGE_MERGE:
        return merge(t, stage->dim);
    case TS_STAGE_BIAS:
        t->extents[stage->dim] = stage->extent;
        return add_bias(&t->current[stage->dim], stage->value);
    case TS_STAGE_PAD:
        t->extents[stage->dim] = stage->extent;
        return true;
    case TS_STAGE_SPLIT:
        return split(t, stage->dim, stage->value);
    case TS_STAGE_INSERT:
        insert(t, stage->dim, (ts_chain){.variable = TS_CHAIN_CONSTANT}, 1);
        return true;
    case TS_STAGE_REORDER:
        reorder(t, stage->order);
        return true;
    }
    return false;
}

static void begin(tracer *t, const ts_layout *layout) {
    for (int i = 0; i < layout->rank; i++) {
        t->chains->variables[i] = (ts_variable){.dim_count = 1, .dims = {i}, .extent = layout->dims[i]};
        t->current[i] = (ts_chain){.variable = i, .divisor = 1};
        t->extents[i] = layout->dims[i];
    }
    t->count = layout->rank;
}

const ts_chains *ts_chains_of(ts_arena *arena, const ts_layout *layout) {
    ts_chains *chains = TS_NEW(arena, ts_chains);
    tracer t; /* 20 KB, of which few are used */
    t.chains = chains;
    chains->variable_count = layout->rank;
    chains->variables = TS_NEW_ARRAY(arena, ts_variable, layout->rank);
    begin(&t, layout);
    chains->compound = layout->function.forward != NULL || layout->swizzle.present;
    for (int i = 0; i < layout->stage_count && !chains->compound; i++)
        chains->compound = !trace_stage(&t, &layout->stages[i]);
    if (!chains->compound) {
        assert(t.count == layout->digit_count);
        chains->digits = TS_COPY_ARRAY(arena, t.current, t.count);
    }
    return chains;
}
