/* The normal form, comparison, injectivity and bulk evaluation of layouts. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "chain.h"
#include "base/number.h"
#include "layout/layout.h"

/* ---- Normal form ---- */

typedef struct {
    int64_t divisor, modulus; /* modulus 0: none */
    ts_iter iter;
} plain_digit;

static int compare_digits(const void *left, const void *right) {
    const plain_digit *a = left, *b = right;
    return ts_order(b->divisor, a->divisor);
}

/* The digits of one variable that have more than one value; -1 when one of them is biased. */
static int collect_digits(const ts_layout *layout, const ts_chains *chains, int variable, plain_digit *out) {
    int count = 0;
    for (int i = 0; i < layout->digit_count; i++) {
        const ts_chain *chain = &chains->digits[i];
        if (chain->variable != variable || layout->digits[i].extent == 1) continue;
        if (chain->op_count > 1 || chain->bias != 0 || (chain->op_count == 1 && chain->ops[0].bias != 0))
            return -1;
        out[count++] =
            (plain_digit){chain->divisor, chain->op_count ? chain->ops[0].modulus : 0, layout->digits[i]};
    }
    if (count > 0) qsort(out, (size_t)count, sizeof out[0], compare_digits);
    return count;
}

/* Do the digits cover 0 .. padded-1 once: each one's modulus the divisor of the one before? */
static bool is_mixed_radix(const plain_digit *digits, int count, int64_t extent) {
    int64_t above = 0;
    for (int i = 0; i < count; i++) {
        bool top = i == 0 && (digits[i].modulus == 0 || digits[i].modulus >= extent);
        if (!top && digits[i].modulus != above) return false;
        if (above != 0 && digits[i].divisor * digits[i].iter.extent != above) return false;
        above = digits[i].divisor;
    }
    return count == 0 ? extent <= 1 : above == 1;
}

static int fuse(const plain_digit *digits, int count, ts_iter *out) {
    int fused = 0;
    for (int i = 0; i < count; i++) {
        const ts_iter *iter = &digits[i].iter;
        ts_iter *last = fused ? &out[fused - 1] : NULL;
        int64_t step;
        if (last && last->axis == iter->axis && ts_mul(iter->extent, iter->stride, &step) &&
            step == last->stride)
            *last = (ts_iter){last->extent * iter->extent, iter->stride, iter->axis};
        else
            out[fused++] = *iter;
    }
    return fused;
}

/* Are the dims in order, with nothing but dims of 1 between them? */
static bool is_run(const ts_layout *layout, const ts_variable *v) {
    for (int i = 1; i < v->dim_count; i++) {
        if (v->dims[i] < v->dims[i - 1]) return false;
        for (int between = v->dims[i - 1] + 1; between < v->dims[i]; between++)
            if (layout->dims[between] != 1) return false;
    }
    return true;
}

static bool normalise_variable(ts_arena *arena, const ts_layout *layout, const ts_chains *chains,
                               int variable, ts_iter_group *group) {
    const ts_variable *v = &chains->variables[variable];
    if (!is_run(layout, v)) return false;
    plain_digit digits[TS_LAYOUT_MAX_DIMS];
    int count = collect_digits(layout, chains, variable, digits);
    if (count < 0 || !is_mixed_radix(digits, count, v->extent)) return false;
    ts_iter *iters = TS_NEW_ARRAY(arena, ts_iter, count);
    *group = (ts_iter_group){.dim = v->dims[0], .extent = v->extent, .iters = iters};
    group->dim_count = v->dims[v->dim_count - 1] - v->dims[0] + 1;
    group->padded = count ? digits[0].divisor * digits[0].iter.extent : v->extent;
    group->iter_count = fuse(digits, count, iters);
    return true;
}

static bool has_constant_bias(const ts_layout *layout, const ts_chains *chains) {
    for (int i = 0; i < layout->digit_count; i++)
        if (chains->digits[i].variable == TS_CHAIN_CONSTANT && chains->digits[i].bias != 0) return true;
    return false;
}

static int compare_groups(const void *left, const void *right) {
    const ts_iter_group *a = left, *b = right;
    return a->dim - b->dim;
}

/* Dims of 1 that stand among merged ones belong to their group. */
static int drop_enclosed(ts_iter_group *groups, int count) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
        const ts_iter_group *last = kept ? &groups[kept - 1] : NULL;
        bool enclosed = last && groups[i].dim < last->dim + last->dim_count;
        if (enclosed && groups[i].padded != 1) return -1;
        if (!enclosed) groups[kept++] = groups[i];
    }
    return kept;
}

const ts_normal_form *ts_layout_normalise(ts_arena *arena, const ts_layout *layout) {
    const ts_chains *chains = ts_chains_of(arena, layout);
    if (chains->compound || has_constant_bias(layout, chains)) return NULL;
    ts_iter_group *groups = TS_NEW_ARRAY(arena, ts_iter_group, layout->rank);
    ts_normal_form *form = TS_NEW(arena, ts_normal_form);
    for (int i = 0; i < chains->variable_count; i++) {
        if (chains->variables[i].dim_count == 0) continue;
        if (!normalise_variable(arena, layout, chains, i, &groups[form->group_count++])) return NULL;
    }
    if (form->group_count > 0) qsort(groups, (size_t)form->group_count, sizeof *groups, compare_groups);
    form->groups = groups;
    form->group_count = drop_enclosed(groups, form->group_count);
    return form->group_count >= 0 ? form : NULL;
}

/* ---- Parts: sets of dims that no layout at hand merges with others ---- */

typedef struct {
    int of_dim[TS_LAYOUT_MAX_DIMS]; /* the smallest dim of each dim's part */
} parts;

static void join_parts(parts *p, int rank, int a, int b) {
    int low = p->of_dim[a] < p->of_dim[b] ? p->of_dim[a] : p->of_dim[b];
    int high = p->of_dim[a] + p->of_dim[b] - low;
    for (int i = 0; i < rank; i++)
        if (p->of_dim[i] == high) p->of_dim[i] = low;
}

static void separate(parts *p, int rank) {
    for (int i = 0; i < rank; i++) p->of_dim[i] = i;
}

static void add_layout(parts *p, ts_arena *arena, const ts_layout *layout) {
    const ts_chains *chains = ts_chains_of(arena, layout);
    for (int i = 1; chains->compound && i < layout->rank; i++) join_parts(p, layout->rank, 0, i);
    for (int i = 0; !chains->compound && i < chains->variable_count; i++) {
        const ts_variable *v = &chains->variables[i];
        for (int j = 1; j < v->dim_count; j++) join_parts(p, layout->rank, v->dims[0], v->dims[j]);
    }
}

static int64_t part_size(const parts *p, const ts_layout *layout, int part) {
    int64_t size = 1;
    for (int i = 0; i < layout->rank; i++) size *= p->of_dim[i] == part ? layout->dims[i] : 1;
    return size;
}

/* Sets the dims of a part to its flat (row-major) index. */
static void set_part(const parts *p, const ts_layout *layout, int part, int64_t flat, int64_t *index) {
    for (int i = layout->rank - 1; i >= 0; i--) {
        if (p->of_dim[i] != part) continue;
        index[i] = flat % layout->dims[i];
        flat /= layout->dims[i];
    }
}

/* ---- Equality ---- */

typedef struct {
    const ts_layout *a, *b;
    int axis_count;
    int axis_a[2 * TS_LAYOUT_MAX_AXES], axis_b[2 * TS_LAYOUT_MAX_AXES]; /* -1: only the other one has it */
} matched;

static void match_axes(matched *m, const ts_layout *a, const ts_layout *b) {
    *m = (matched){.a = a, .b = b, .axis_count = a->axis_count};
    for (int i = 0; i < a->axis_count; i++) {
        m->axis_a[i] = i;
        m->axis_b[i] = ts_layout_find_axis(b, a->axes[i].name, strlen(a->axes[i].name));
    }
    for (int i = 0; i < b->axis_count; i++) {
        if (ts_layout_find_axis(a, b->axes[i].name, strlen(b->axes[i].name)) >= 0) continue;
        m->axis_a[m->axis_count] = -1;
        m->axis_b[m->axis_count++] = i;
    }
}

static bool same_step(const matched *m, const ts_iter *a, const ts_iter *b) {
    return a->stride == b->stride && m->axis_b[a->axis] == b->axis;
}

static bool same_replicas(const matched *m) {
    const ts_iter *a = m->a->replicas, *b = m->b->replicas;
    if (m->a->replica_count != m->b->replica_count) return false;
    for (int i = 0; i < m->a->replica_count; i++)
        if (a[i].extent != b[i].extent || !same_step(m, &a[i], &b[i])) return false;
    return true;
}

/* The outermost extent is only as large as padding makes it. */
static bool same_group(const matched *m, const ts_iter_group *a, const ts_iter_group *b) {
    if (a->dim != b->dim || a->dim_count != b->dim_count || a->iter_count != b->iter_count) return false;
    for (int i = 0; i < a->iter_count; i++)
        if ((i > 0 && a->iters[i].extent != b->iters[i].extent) || !same_step(m, &a->iters[i], &b->iters[i]))
            return false;
    return true;
}

static bool same_offsets(const matched *m) {
    for (int i = 0; i < m->axis_count; i++) {
        int64_t a = m->axis_a[i] < 0 ? 0 : m->a->axes[m->axis_a[i]].offset,
                b = m->axis_b[i] < 0 ? 0 : m->b->axes[m->axis_b[i]].offset;
        if (a != b) return false;
    }
    return true;
}

/* Layouts of one normal form are one map; layouts that differ in theirs may still be. */
static bool same_normal_form(ts_arena *arena, const matched *m) {
    if (!same_offsets(m) || !same_replicas(m)) return false;
    const ts_normal_form *a = ts_layout_normalise(arena, m->a), *b = ts_layout_normalise(arena, m->b);
    if (!a || !b || a->group_count != b->group_count) return false;
    for (int i = 0; i < a->group_count; i++)
        if (!same_group(m, &a->groups[i], &b->groups[i])) return false;
    return true;
}

/* The points of one index on the matched axes, sorted, each once. */
static int64_t point_set(const matched *m, const ts_layout *layout, const int *axes, const int64_t *index,
                         int64_t *points) {
    int64_t total = ts_layout_replica_total(layout), kept = 0, room[TS_LAYOUT_MAX_AXES];
    int n = m->axis_count;
    for (int64_t r = 0; r < total; r++) {
        ts_layout_forward_replica(layout, index, r, room);
        for (int i = 0; i < n; i++) points[r * n + i] = axes[i] < 0 ? 0 : room[axes[i]];
    }
    if (n == 0) return 1;
    size_t bytes = (size_t)n * sizeof *points;
    ts_sort_rows(points, total, n);
    for (int64_t r = 0; r < total; r++) {
        if (r > 0 && memcmp(points + r * n, points + (kept - 1) * n, bytes) == 0) continue;
        memmove(points + kept++ * n, points + r * n, bytes);
    }
    return kept;
}

static bool same_points(const matched *m, const int64_t *index, int64_t *room_a, int64_t *room_b) {
    int64_t count = point_set(m, m->a, m->axis_a, index, room_a);
    return count == point_set(m, m->b, m->axis_b, index, room_b) &&
           memcmp(room_a, room_b, (size_t)(count * m->axis_count) * sizeof *room_a) == 0;
}

/* The indices to compare: all of each part, with the other parts at 0. */
static int64_t count_work(const parts *p, const ts_layout *a) {
    int64_t work = 0;
    for (int i = 0; i < a->rank; i++)
        if (p->of_dim[i] == i && !ts_add(work, part_size(p, a, i), &work)) return INT64_MAX;
    return work;
}

typedef struct {
    const parts *parts;
    const matched *matched;
    int64_t most; /* indices of each part */
    int64_t *room_a, *room_b;
} comparison;

/* Wherever one part moves and all others are at 0: false at the first difference, which is the witness. */
static bool same_by_part(const comparison *c, int64_t *witness) {
    const ts_layout *a = c->matched->a;
    if (a->rank == 0) return same_points(c->matched, witness, c->room_a, c->room_b);
    for (int i = 0; i < a->rank; i++) {
        int64_t size = c->parts->of_dim[i] == i ? part_size(c->parts, a, i) : 0;
        for (int64_t flat = 0; flat < size && flat < c->most; flat++) {
            set_part(c->parts, a, i, flat, witness);
            if (!same_points(c->matched, witness, c->room_a, c->room_b)) return false;
        }
        if (size > 0) set_part(c->parts, a, i, 0, witness);
    }
    return true;
}

static bool too_many_points(ts_error *err, int64_t limit) {
    return ts_error_set(err, TS_ERROR_INPUT, "comparing these layouts needs more than %lld points",
                        (long long)limit);
}

/* Layouts are sums over parts, so two are equal when they agree wherever all parts but one are at 0. */
bool ts_layout_compare(ts_error *err, ts_arena *arena, const ts_layout *a, const ts_layout *b, int64_t limit,
                       ts_layout_comparison *out) {
    assert(ts_integers_equal(a->dims, a->rank, b->dims, b->rank));
    matched m;
    parts p;
    *out = (ts_layout_comparison){.equal = true};
    match_axes(&m, a, b);
    if (same_normal_form(arena, &m)) return true;
    separate(&p, a->rank);
    add_layout(&p, arena, a);
    add_layout(&p, arena, b);
    int64_t replicas_a = ts_layout_replica_total(a), replicas_b = ts_layout_replica_total(b);
    int64_t indices = limit / ts_max(replicas_a, replicas_b);
    bool all = count_work(&p, a) <= indices;
    if (indices == 0) return too_many_points(err, limit);
    const comparison c = {&p, &m, all ? INT64_MAX : indices / a->rank,
                          TS_NEW_ARRAY(arena, int64_t, replicas_a * (m.axis_count + 1)),
                          TS_NEW_ARRAY(arena, int64_t, replicas_b * (m.axis_count + 1))};
    out->equal = ts_layout_element_count(a) == 0 || same_by_part(&c, out->witness);
    return all || !out->equal || too_many_points(err, limit);
}

/* ---- Injectivity ---- */

static int compare_strides(const void *left, const void *right) {
    const ts_iter *a = left, *b = right;
    if (a->axis != b->axis) return a->axis - b->axis;
    int64_t sa = llabs(a->stride), sb = llabs(b->stride);
    return ts_order(sa, sb);
}

/* Each stride beyond the reach of the smaller ones of its axis: no two combinations of digits meet. */
static bool strides_keep_apart(const ts_layout *layout) {
    ts_iter iters[2 * TS_LAYOUT_MAX_DIMS];
    int count = 0;
    if (layout->function.forward || layout->replica_count > TS_LAYOUT_MAX_DIMS) return false;
    for (int i = 0; i < layout->digit_count; i++) iters[count++] = layout->digits[i];
    for (int i = 0; i < layout->replica_count; i++) iters[count++] = layout->replicas[i];
    if (count > 0) qsort(iters, (size_t)count, sizeof iters[0], compare_strides);
    int64_t reach = 0;
    for (int i = 0; i < count; i++) {
        if (i == 0 || iters[i].axis != iters[i - 1].axis) reach = 0;
        if (iters[i].extent <= 1) continue;
        if (llabs(iters[i].stride) <= reach) return false;
        reach += (iters[i].extent - 1) * llabs(iters[i].stride);
    }
    return true;
}

/* A row for each point of each element, sorted: the coordinates, and behind them the element's number. */
static int64_t *list_points(ts_arena *arena, const ts_layout *layout, int64_t count, int64_t replicas) {
    int n = layout->axis_count, width = n + 1;
    int64_t *points = TS_NEW_ARRAY(arena, int64_t, count * replicas * width), index[TS_LAYOUT_MAX_DIMS];
    for (int64_t i = 0; i < count * replicas; i++) {
        ts_index_unflatten(layout->rank, layout->dims, i / replicas, index);
        ts_layout_forward_replica(layout, index, i % replicas, points + i * width);
        points[i * width + n] = i / replicas;
    }
    ts_sort_rows(points, count * replicas, width);
    return points;
}

bool ts_layout_injective(ts_error *err, ts_arena *arena, const ts_layout *layout, int64_t limit,
                         ts_layout_injectivity *out) {
    int64_t count = ts_layout_element_count(layout), replicas = ts_layout_replica_total(layout);
    out->injective = true;
    if (count <= 1 || layout->injective || strides_keep_apart(layout)) return true;
    if (count > limit / replicas) {
        return ts_error_set(err, TS_ERROR_INPUT,
                            "finding out whether this layout overlaps needs more than %lld points",
                            (long long)limit);
    }
    int n = layout->axis_count, width = n + 1;
    const int64_t *points = list_points(arena, layout, count, replicas);
    for (int64_t i = 1; i < count * replicas && out->injective; i++) {
        const int64_t *here = points + i * width, *last = here - width;
        if (memcmp(here, last, (size_t)n * sizeof *here) != 0 || here[n] == last[n]) continue;
        out->injective = false;
        ts_index_unflatten(layout->rank, layout->dims, last[n], out->first);
        ts_index_unflatten(layout->rank, layout->dims, here[n], out->second);
    }
    return true;
}

/* ---- Bulk evaluation: one table a part, added up ---- */

typedef struct {
    int part_count;
    int64_t sizes[TS_LAYOUT_MAX_DIMS]; /* most significant first; the parts are runs of dims */
    int64_t *tables[TS_LAYOUT_MAX_DIMS];
} part_tables;

static bool parts_are_runs(const parts *p, int rank) {
    for (int i = 1; i < rank; i++)
        if (p->of_dim[i] != i && p->of_dim[i] != p->of_dim[i - 1]) return false;
    return true;
}

static void fill_tables(ts_arena *scratch, const ts_layout *layout, const parts *p, part_tables *t) {
    int64_t index[TS_LAYOUT_MAX_DIMS] = {0}, base;
    ts_layout_forward(layout, index, &base);
    for (int i = 0; i < layout->rank; i++) {
        if (p->of_dim[i] != i) continue;
        int64_t size = part_size(p, layout, i), *table = TS_NEW_ARRAY(scratch, int64_t, size);
        for (int64_t flat = 0; flat < size; flat++) {
            set_part(p, layout, i, flat, index);
            ts_layout_forward(layout, index, &table[flat]);
            if (t->part_count > 0) table[flat] -= base;
        }
        set_part(p, layout, i, 0, index);
        t->sizes[t->part_count] = size;
        t->tables[t->part_count++] = table;
    }
}

static void sum_tables(const part_tables *t, int64_t first, int64_t count, int64_t *offsets) {
    int64_t at[TS_LAYOUT_MAX_DIMS];
    int last = t->part_count - 1;
    for (int i = last; i >= 0; i--) {
        at[i] = first % t->sizes[i];
        first /= t->sizes[i];
    }
    for (int64_t done = 0; done < count;) {
        int64_t base = 0, run = t->sizes[last] - at[last];
        for (int i = 0; i < last; i++) base += t->tables[i][at[i]];
        if (run > count - done) run = count - done;
        for (int64_t i = 0; i < run; i++) offsets[done + i] = base + t->tables[last][at[last] + i];
        done += run;
        at[last] = 0;
        for (int i = last - 1; i >= 0 && ++at[i] == t->sizes[i]; i--) at[i] = 0;
    }
}

/* Without the swizzle. */
static void forward_plain(ts_arena *scratch, const ts_layout *layout, int64_t first, int64_t count,
                          int64_t *offsets) {
    parts p;
    int64_t work = 0, index[TS_LAYOUT_MAX_DIMS];
    separate(&p, layout->rank);
    add_layout(&p, scratch, layout);
    for (int i = 0; i < layout->rank; i++) work += p.of_dim[i] == i ? part_size(&p, layout, i) : 0;
    if (layout->rank > 0 && parts_are_runs(&p, layout->rank) && work <= count + 1024 && count > 0) {
        part_tables t = {0};
        fill_tables(scratch, layout, &p, &t);
        sum_tables(&t, first, count, offsets);
        return;
    }
    if (ts_layout_forward_blocks(layout, first, count, offsets)) return;
    for (int64_t i = 0; i < count; i++) {
        ts_index_unflatten(layout->rank, layout->dims, first + i, index);
        ts_layout_forward(layout, index, &offsets[i]);
    }
}

bool ts_layout_forward_many(ts_error *err, ts_arena *scratch, const ts_layout *layout, int64_t first,
                            int64_t count, int64_t *offsets) {
    if (layout->axis_count != 1)
        return ts_error_set(err, TS_ERROR_INPUT, "the layout has %d axes, expected one", layout->axis_count);
    assert(first >= 0 && count >= 0 && count <= ts_layout_element_count(layout) - first);
    ts_layout plain = *layout;
    plain.swizzle.present = false;
    forward_plain(scratch, &plain, first, count, offsets);
    for (int64_t i = 0; i < count && layout->swizzle.present; i++)
        offsets[i] = ts_swizzle_address(&layout->swizzle, offsets[i]);
    return true;
}
