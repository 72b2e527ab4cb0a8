/* Cuts a part of a plan where its addresses stop being linear, by periods. */
#include "plan_segments.h"

#include <stddef.h>
#include <string.h>

#include "base/number.h"

typedef struct {
    ts_arena *arena;
    plan_segment *segments;
    int64_t count;
    bool full;
} solver;

static void copy_interval(plan_interval *to, const plan_interval *from) {
    memcpy(to, from, offsetof(plan_interval, terms) + (size_t)from->term_count * sizeof from->terms[0]);
}

static void emit(solver *s, const plan_interval *at) {
    const plan_segment *p = &at->prefix;
    if (s->count == TS_PLAN_MAX_SEGMENTS || p->loop_count == PLAN_SEGMENT_LOOPS) {
        s->full = true;
        return;
    }
    plan_segment *out = TS_APPEND(s->arena, s->segments, s->count);
    *out = *p;
    out->src += at->src_slope * at->low;
    out->dst += at->dst_slope * at->low;
    if (at->high - at->low > 1)
        out->loops[out->loop_count++] = (ts_plan_loop){at->high - at->low, at->src_slope, at->dst_slope};
}

/* Folds what does not change within [low, high). False when the term is gone: constant or linear by now. */
static bool fold(plan_interval *at, plan_term *t) {
    ts_chain *c = &t->chain;
    while (c->op_count > 0) {
        int64_t bias = c->ops[0].bias, modulus = c->ops[0].modulus;
        int64_t cell = ts_floor_div(at->low + bias, modulus);
        if (cell != ts_floor_div(at->high - 1 + bias, modulus)) return true;
        int64_t *next = c->op_count > 1 ? &c->ops[1].bias : &c->bias;
        *next += bias - cell * modulus;
        c->op_count--;
        memmove(&c->ops[0], &c->ops[1], (size_t)c->op_count * sizeof c->ops[0]);
    }
    int64_t value = ts_floor_div(at->low + c->bias, c->divisor);
    if (c->divisor == 1) {
        at->src_slope += t->src;
        at->dst_slope += t->dst;
        value = c->bias;
    } else if (value != ts_floor_div(at->high - 1 + c->bias, c->divisor)) {
        return true;
    }
    at->prefix.src += value * t->src;
    at->prefix.dst += value * t->dst;
    return false;
}

static void fold_all(plan_interval *at) {
    int kept = 0;
    for (int i = 0; i < at->term_count; i++) {
        plan_term t = at->terms[i];
        if (fold(at, &t)) at->terms[kept++] = t;
    }
    at->term_count = kept;
}

static int64_t period_of(const plan_term *t) {
    return t->chain.op_count ? t->chain.ops[0].modulus : t->chain.divisor;
}
static int64_t bias_of(const plan_term *t) {
    return t->chain.op_count ? t->chain.ops[0].bias : t->chain.bias;
}

static const plan_term *widest(const plan_interval *at) {
    const plan_term *best = &at->terms[0];
    for (int i = 1; i < at->term_count; i++)
        if (period_of(&at->terms[i]) > period_of(best)) best = &at->terms[i];
    return best;
}

/* The common period of all terms, or `limit` + 1 when it is larger. */
static int64_t common_period(const plan_interval *at, int64_t limit) {
    int64_t period = 1;
    for (int i = 0; i < at->term_count; i++)
        if (!ts_lcm(period, period_of(&at->terms[i]), &period) || period > limit) return limit + 1;
    return period;
}

/* What both addresses gain when x grows by a common period. */
static ts_plan_loop period_loop(const plan_interval *at, int64_t period, int64_t count) {
    ts_plan_loop loop = {count, at->src_slope * period, at->dst_slope * period};
    for (int i = 0; i < at->term_count; i++) {
        const plan_term *t = &at->terms[i];
        if (t->chain.op_count > 0) continue;
        loop.src_bits += period / t->chain.divisor * t->src;
        loop.dst_bits += period / t->chain.divisor * t->dst;
    }
    return loop;
}

static void solve(solver *s, const plan_interval *whole);

static void solve_between(solver *s, const plan_interval *at, int64_t low, int64_t high,
                          const ts_plan_loop *loop) {
    if (low >= high || s->full) return;
    plan_interval inner;
    copy_interval(&inner, at);
    inner.low = low;
    inner.high = high;
    if (loop) {
        if (inner.prefix.loop_count == PLAN_SEGMENT_LOOPS)
            s->full = true;
        else
            inner.prefix.loops[inner.prefix.loop_count++] = *loop;
    }
    solve(s, &inner);
}

static void solve(solver *s, const plan_interval *whole) {
    plan_interval at;
    copy_interval(&at, whole);
    fold_all(&at);
    if (at.term_count == 0) {
        emit(s, &at);
        return;
    }
    const plan_term *wide = widest(&at);
    int64_t cell = period_of(wide), start = at.low + ts_floor_mod(-(at.low + bias_of(wide)), cell);
    if (start >= at.high) start = at.high;
    solve_between(s, &at, at.low, start, NULL);
    int64_t period = common_period(&at, at.high - start), count = (at.high - start) / period;
    if (count >= 2) {
        ts_plan_loop loop = period_loop(&at, period, count);
        solve_between(s, &at, start, start + period, &loop);
        start += count * period;
        solve_between(s, &at, start, at.high, NULL);
        return;
    }
    for (int64_t low = start; low < at.high && !s->full; low += cell)
        solve_between(s, &at, low, at.high - low < cell ? at.high : low + cell, NULL);
}

bool plan_segments_solve(ts_arena *arena, const plan_interval *whole, struct ts_plan_part *part) {
    solver s = {.arena = arena};
    solve(&s, whole);
    *part = (struct ts_plan_part){s.count, s.segments};
    return !s.full;
}
