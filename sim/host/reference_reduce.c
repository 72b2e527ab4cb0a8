/* Reductions and scans of reference expressions: functions along axes, whose input is read once, in order. */
#include <string.h>

#include "base/number.h"
#include "reference_stream.h"

/* ---- Reductions ---- */

/* The dims from the first that is reduced on are a group, which has `results`; a unit is whole groups. */
typedef struct {
    const reduction *does;
    int64_t inputs, results, line; /* of a group; line: inputs of one result */
    walk to;                       /* from an input of a unit to its result */
    tally *tallies;                /* of a unit */
    double *block, *together;      /* inputs; runs of them as one, NULL where they stay apart */
} reducer;

/* Of max and min, runs that come after each other and go to the same tallies are made one first: the order of
 * elements stays. */
static void add_runs(const stream *self, int pass, walker *w, const double *values, size_t count) {
    const reducer *r = self->state;
    size_t step = r->to.strides[r->to.rank - 1] != 0, held = 0, run;
    int64_t at, held_at = -1;
    for (; count > 0; count -= run, values += run) {
        run = (size_t)ts_walker_next(w, (int64_t)count, &at);
        if (!r->together) {
            r->does->add[pass](&r->tallies[at], step, values, run);
        } else if (at == held_at && run == held) {
            self->location->function->binary(r->together, r->together, 1, values, 1, run);
        } else {
            if (held > 0) r->does->add[pass](&r->tallies[held_at], step, r->together, held);
            memcpy(r->together, values, run * sizeof *values);
            held = run;
            held_at = at;
        }
    }
    if (held > 0) r->does->add[pass](&r->tallies[held_at], 1, r->together, held);
}

static bool add_inputs(evaluator *in, stream *self, int pass, int64_t begin, int64_t count) {
    reducer *r = self->state;
    walker w;
    if (count == 0) return true;
    ts_walker_begin(&w, &r->to, 0);
    for (int64_t done = 0; done < count; done += REFERENCE_BLOCK) {
        int64_t left = count - done < REFERENCE_BLOCK ? count - done : REFERENCE_BLOCK;
        const double *values = ts_stream_look(in, self->arguments[0], begin + done, (size_t)left, r->block);
        if (!values) return false;
        add_runs(self, pass, &w, values, (size_t)left);
    }
    return true;
}

static bool fill_reduction(evaluator *in, stream *self, int64_t begin, int64_t count, double *out) {
    reducer *r = self->state;
    int64_t group = begin / r->results, groups = count / r->results;
    for (int64_t i = 0; i < count; i++) r->tallies[i] = (tally){r->does->start, 0, 0};
    for (int pass = 0; pass < 2 && r->does->add[pass]; pass++) {
        for (int64_t i = 0; pass > 0 && i < count; i++)
            r->tallies[i] = (tally){0, r->does->turn(&r->tallies[i], (size_t)r->line), 0};
        if (!add_inputs(in, self, pass, group * r->inputs, groups * r->inputs)) return false;
    }
    for (int64_t i = 0; i < count; i++) out[i] = r->does->finish(&r->tallies[i], (size_t)r->line);
    return true;
}

/* The groups of an argument, and how its inputs lead to results. */
static void split(reducer *r, const stream *value, const bool *chosen) {
    int first = 0;
    while (first < value->rank && !chosen[first]) first++;
    *r = (reducer){.does = r->does, .inputs = 1, .results = 1, .line = 1};
    r->to.rank = 1 + value->rank - first;
    for (int i = value->rank - 1; i >= first; i--) {
        r->to.dims[1 + i - first] = value->dims[i];
        r->to.strides[1 + i - first] = chosen[i] ? 0 : r->results;
        r->inputs *= value->dims[i];
        *(chosen[i] ? &r->line : &r->results) *= value->dims[i];
    }
    if (r->results == 0) r->results = 1; /* and there is none */
    int64_t groups = REFERENCE_BLOCK / (r->inputs > r->results ? r->inputs : r->results);
    r->to.dims[0] = groups > 1 ? groups : 1;
    r->to.strides[0] = r->results;
}

stream *ts_reference_reduce(evaluator *in, const node *tree, stream *value, const bool *chosen, bool keep) {
    int64_t dims[TS_HOST_RANK];
    int rank = 0;
    for (int i = 0; i < value->rank; i++)
        if (!chosen[i] || keep) dims[rank++] = chosen[i] ? 1 : value->dims[i];
    stream *made = ts_stream_new(in, tree, rank, dims);
    reducer *r = made ? TS_NEW(in->arena, reducer) : NULL;
    if (!made) return NULL;
    r->does = tree->function->reduce;
    split(r, value, chosen);
    int64_t at_once = r->to.dims[0] * r->results;
    r->to = ts_walk_join(&r->to);
    made->state = r;
    made->arguments[0] = r->does->add[1] ? ts_stream_steady(in, value) : value;
    if (!made->arguments[0] || !ts_stream_in_units(in, made, at_once, fill_reduction)) return NULL;
    int64_t tallies = at_once < made->count ? at_once : made->count;
    r->tallies = TS_NEW_ARRAY(in->arena, tally, tallies);
    in->held_bytes += tallies * (int64_t)sizeof(tally);
    r->block = ts_reference_room(in, REFERENCE_BLOCK);
    if (tree->function->binary && r->to.strides[r->to.rank - 1] != 0)
        r->together = ts_reference_room(in, REFERENCE_BLOCK);
    return made;
}

/* ---- Scans ---- */

enum { AT_ONCE = 8 * REFERENCE_BLOCK /* elements: 8 lines of many lengths, in the second cache */ };

typedef struct {
    void (*scan)(double *lines, size_t count, size_t line_count, double eps);
    double eps, *line;
    int64_t length, stride; /* of a line */
} scanner;

static bool fill_scan(evaluator *in, stream *self, int64_t begin, int64_t count, double *out) {
    const scanner *s = self->state;
    if (!ts_stream_read(in, self->arguments[0], begin, count, out)) return false;
    if (s->stride == 1 && count > 0) s->scan(out, (size_t)s->length, (size_t)(count / s->length), s->eps);
    for (int64_t at = 0; at < count && s->stride > 1; at += s->length * s->stride) {
        for (int64_t i = 0; i < s->stride; i++) {
            for (int64_t k = 0; k < s->length; k++) s->line[k] = out[at + i + k * s->stride];
            s->scan(s->line, (size_t)s->length, 1, s->eps);
            for (int64_t k = 0; k < s->length; k++) out[at + i + k * s->stride] = s->line[k];
        }
    }
    return true;
}

stream *ts_reference_scan(evaluator *in, const node *tree, stream *value, int axis, double eps) {
    scanner *s = TS_NEW(in->arena, scanner);
    *s = (scanner){.scan = tree->function->scan, .eps = eps, .length = value->dims[axis]};
    s->stride = ts_product(value->rank - axis - 1, value->dims + axis + 1);
    stream *made = ts_stream_new(in, tree, value->rank, value->dims);
    if (!made) return NULL;
    int64_t group = s->length * s->stride, groups = group > 0 ? AT_ONCE / group : 1;
    made->arguments[0] = value;
    made->state = s;
    if (!ts_stream_in_units(in, made, (groups > 1 ? groups : 1) * group, fill_scan)) return NULL;
    s->line = ts_reference_room(in, s->stride > 1 ? s->length : 0);
    return made;
}
