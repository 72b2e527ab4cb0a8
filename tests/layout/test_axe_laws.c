/* Axe layouts: the laws of the algebra on random layouts, against an oracle that enumerates points. */
#include <stdio.h>
#include <string.h>

#include "tests/support/laws.h"
#include "tests/support/axe_oracle.h"
#include "layout/notation/axe.h"
#include "tests/support/cmocka.h"

enum { ROUNDS = 10000, SANITIZED_ROUNDS = 1000, SIZE_MOST = 96, POINTS_MOST = 4096 };
static const uint64_t first_seed = 20260902;
static const char *const axis_names[] = {"F", "P", "laneid", "m"}; /* sorted */
enum { AXES = 4 };

static int below(trial *t, int n) { return (int)random_below(&t->seed, (uint32_t)n); }

/* ---- Random layouts ---- */

typedef enum { COMPACT, PERMUTED, GAPS, ANY, KINDS } stride_kind;

static int random_extents(trial *t, int most, int64_t *extents) {
    static const int choices[] = {1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 8};
    int count = 1 + below(t, most), size = 1;
    for (int i = 0; i < count; i++) {
        int extent = choices[below(t, 11)];
        extents[i] = size * extent > SIZE_MOST ? 1 : extent;
        size *= (int)extents[i];
    }
    return count;
}

/* Strides that follow each other on each axis in a random order, or any. */
static void random_strides(trial *t, stride_kind kind, int count, ts_axe_iter *iters) {
    int64_t next[AXES] = {1, 1, 1, 1};
    bool done[16] = {false};
    for (int placed = 0; placed < count; placed++) {
        int at = kind == COMPACT ? count - 1 - placed : below(t, count);
        while (done[at]) at = (at + 1) % count;
        done[at] = true;
        int axis = below(t, 2) ? 3 : below(t, AXES);
        if (kind == GAPS) next[axis] *= 1 + below(t, 3);
        iters[at].axis = axis_names[axis];
        iters[at].stride = kind == ANY ? below(t, 17) - 8 : next[axis];
        next[axis] *= iters[at].extent;
    }
}

static ts_axe random_axe(trial *t, stride_kind kinds, bool replicas) {
    ts_axe_iter *shards = TS_NEW_ARRAY(t->arena, ts_axe_iter, 8),
                *copies = TS_NEW_ARRAY(t->arena, ts_axe_iter, 3);
    ts_axe_offset *offsets = TS_NEW_ARRAY(t->arena, ts_axe_offset, AXES);
    int64_t extents[8];
    ts_axe axe = {.shard_count = random_extents(t, 5, extents),
                  .shards = shards,
                  .replicas = copies,
                  .offsets = offsets};
    for (int i = 0; i < axe.shard_count; i++) shards[i].extent = extents[i];
    random_strides(t, (stride_kind)below(t, (int)kinds), axe.shard_count, shards);
    if (replicas && below(t, 2))
        for (axe.replica_count = 0; axe.replica_count < 1 + below(t, 2); axe.replica_count++)
            copies[axe.replica_count] =
                (ts_axe_iter){1 + below(t, 4), below(t, 13) - 4, axis_names[below(t, AXES)]};
    for (int i = 0; replicas && i < AXES; i++)
        if (below(t, 4) == 0) offsets[axe.offset_count++] = (ts_axe_offset){axis_names[i], below(t, 9) - 2};
    return axe;
}

static void note(trial *t, const char *what, const ts_axe *axe) {
    ts_text text = ts_text_begin(t->arena);
    ts_axe_print(&text, axe);
    size_t used = strlen(t->text);
    snprintf(t->text + used, sizeof t->text - used, "%s %s ", what, text.bytes);
}

/* A shape with as many elements, its dims products of random runs of factors. */
static ts_axe_shape random_shape(trial *t, int64_t size) {
    int64_t *dims = TS_NEW_ARRAY(t->arena, int64_t, 8);
    int rank = 1 + below(t, 4);
    for (int i = 0; i < rank; i++) dims[i] = 1;
    for (int64_t factor = 2; size > 1;) {
        if (size % factor != 0)
            factor++;
        else {
            dims[below(t, rank)] *= factor;
            size /= factor;
        }
    }
    return (ts_axe_shape){rank, dims};
}

/* ---- The oracle's view; all four axes, missing ones at 0 ---- */

static int axis_number(const char *name) {
    int i = 0;
    while (strcmp(axis_names[i], name) != 0) i++;
    return i;
}

static void copy_iters(const ts_axe_iter *from, int count, axe_oracle_iter *to) {
    for (int i = 0; i < count; i++)
        to[i] = (axe_oracle_iter){from[i].extent, from[i].stride, axis_number(from[i].axis)};
}

static void view(trial *t, const ts_axe *axe, axe_oracle *out) {
    axe_oracle_iter shards[32], replicas[16];
    int64_t offsets[AXES] = {0};
    assert_true(axe->shard_count <= 32 && axe->replica_count <= 16);
    copy_iters(axe->shards, axe->shard_count, shards);
    copy_iters(axe->replicas, axe->replica_count, replicas);
    for (int i = 0; i < axe->offset_count; i++)
        offsets[axis_number(axe->offsets[i].axis)] = axe->offsets[i].value;
    assert_true(axe_oracle_make(t->arena, axe->shard_count, shards, axe->replica_count, replicas, AXES,
                                offsets, 1 << 20, out));
}

static bool same_sets(trial *t, const ts_axe *a, const ts_axe *b) {
    axe_oracle x, y;
    view(t, a, &x);
    view(t, b, &y);
    return axe_oracle_difference(&x, &y) < 0;
}

/* A layout's point as the oracle orders axes. */
static void spread(const ts_layout *layout, const int64_t *point, int64_t *out) {
    memset(out, 0, AXES * sizeof *out);
    for (int i = 0; i < layout->axis_count; i++) out[axis_number(layout->axes[i].name)] = point[i];
}

static void unflatten(ts_axe_shape shape, int64_t flat, int64_t *index) {
    for (int i = shape.rank - 1; i >= 0; i--) {
        index[i] = flat % shape.dims[i];
        flat /= shape.dims[i];
    }
}

static int64_t flatten(ts_axe_shape shape, const int64_t *index) {
    int64_t flat = 0;
    for (int i = 0; i < shape.rank; i++) flat = flat * shape.dims[i] + index[i];
    return flat;
}

static const ts_layout *common(trial *t, const ts_axe *axe, ts_axe_shape shape) {
    const ts_layout *layout = ts_axe_layout(NULL, t->arena, axe, shape.rank, shape.dims);
    CHECK(t, layout != NULL);
    return layout;
}

/* ---- Laws ---- */

/* Both texts read back as what was printed. */
static void law_text(trial *t) {
    ts_axe axe = random_axe(t, KINDS, true), again;
    if (below(t, 8) == 0)
        axe.swizzle = (ts_swizzle){.present = true, .keep = 2, .bits = below(t, 3), .shift = 3};
    for (int i = 0; axe.swizzle.present && i < axe.shard_count; i++)
        ((ts_axe_iter *)(uintptr_t)&axe.shards[i])->axis = "m";
    if (axe.swizzle.present) axe.replica_count = axe.offset_count = 0;
    for (int matrix = 0; matrix < 2; matrix++) {
        ts_text text, twice;
        text = ts_text_begin(t->arena);
        twice = ts_text_begin(t->arena);
        (matrix ? ts_axe_print_matrix : ts_axe_print)(&text, &axe);
        snprintf(t->text, sizeof t->text, "%s", text.bytes);
        ts_source source = {"layout", text.bytes, text.length};
        CHECK(t, ts_axe_parse(NULL, t->arena, &source, &again));
        (matrix ? ts_axe_print_matrix : ts_axe_print)(&twice, &again);
        CHECK(t, strcmp(text.bytes, twice.bytes) == 0);
        CHECK(t, same_sets(t, &axe, &again));
    }
}

/* The common form has the same points, whatever admitted shape the index is in; backward finds what forward
 * made. */
static void law_points(trial *t) {
    ts_axe axe = random_axe(t, KINDS, true);
    axe_oracle o;
    int64_t index[8], point[TS_LAYOUT_MAX_AXES], all[AXES];
    note(t, "", &axe);
    view(t, &axe, &o);
    ts_axe_shape shape = random_shape(t, o.element_count);
    const ts_layout *layout = common(t, &axe, shape);
    for (int64_t e = 0; e < o.element_count; e++) {
        unflatten(shape, e, index);
        for (int64_t r = 0; r < o.replica_count; r++) {
            ts_layout_forward_replica(layout, index, r, point);
            spread(layout, point, all);
            CHECK(t, memcmp(all, axe_oracle_point(&o, e, r), sizeof all) == 0);
        }
    }
    unflatten(shape, below(t, (int)o.element_count), index);
    ts_layout_forward_replica(layout, index, below(t, (int)o.replica_count), point);
    point[below(t, layout->axis_count)] += below(t, 4) == 0; /* perhaps a hole */
    spread(layout, point, all);
    ts_index_list found;
    CHECK(t, ts_layout_backward(NULL, t->arena, layout, point, POINTS_MOST, &found));
    int64_t e = -1;
    for (int64_t i = 0; i < found.count; i++) {
        e = axe_oracle_find(&o, e + 1, all);
        CHECK(t, e >= 0 && e == flatten(shape, found.indices + i * shape.rank));
    }
    CHECK(t, axe_oracle_find(&o, e + 1, all) < 0);
    t->found += found.count > 0;
}

/* Canonical forms keep the sets, are canonical, and equal the original. */
static void law_canonical(trial *t) {
    static const ts_axe_form forms[] = {TS_AXE_TVM, TS_AXE_PAPER};
    ts_axe axe = random_axe(t, KINDS, true), canonical, again;
    bool equal;
    note(t, "", &axe);
    for (int i = 0; i < 2; i++) {
        CHECK(t, ts_axe_canonical(NULL, t->arena, forms[i], &axe, &canonical));
        CHECK(t, same_sets(t, &axe, &canonical));
        CHECK(t, ts_axe_canonical(NULL, t->arena, forms[i], &canonical, &again));
        note(t, "canonical", &canonical);
        CHECK(t,
              again.shard_count == canonical.shard_count && again.replica_count == canonical.replica_count);
        CHECK(t, ts_axe_equal(NULL, t->arena, &axe, &canonical, &equal) && equal);
    }
    ts_axe other = random_axe(t, KINDS, true);
    CHECK(t, ts_axe_equal(NULL, t->arena, &axe, &other, &equal));
    if (equal) CHECK(t, same_sets(t, &axe, &other)); /* "no" may be wrong, "yes" may not */
}

/* Back from the common form. */
static void law_common_form(trial *t) {
    ts_axe axe = random_axe(t, KINDS, true), back;
    note(t, "", &axe);
    ts_axe_shape shape = random_shape(t, ts_axe_size(&axe, NULL));
    CHECK(t, ts_axe_from_layout(NULL, t->arena, common(t, &axe, shape), NULL, &back));
    note(t, "back", &back);
    CHECK(t, same_sets(t, &axe, &back));
}

/* Sizes, spans and ranges. */
static void law_spans(trial *t) {
    ts_axe axe = random_axe(t, KINDS, true);
    axe_oracle o;
    note(t, "", &axe);
    view(t, &axe, &o);
    CHECK(t, ts_axe_size(&axe, NULL) == o.element_count);
    for (int a = 0; a < AXES; a++) {
        int64_t low = INT64_MAX, high = INT64_MIN, found_low, found_high, span;
        for (int64_t i = 0; i < o.element_count * o.replica_count; i++) {
            int64_t at = o.points[i * AXES + a];
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
        ts_axe_range(&axe, axis_names[a], &found_low, &found_high);
        CHECK(t, found_low == low && found_high == high);
        CHECK(t, ts_axe_span(NULL, &axe, TS_AXE_PAPER, axis_names[a], &span) && span == high - low + 1);
    }
}

/* Groups keep the map; each block has the size of its dim; the two rules agree on what can be grouped. */
static void law_group(trial *t) {
    ts_axe axe = random_axe(t, KINDS, false);
    ts_axe_grouped grouped[2];
    note(t, "", &axe);
    ts_axe_shape shape = random_shape(t, ts_axe_size(&axe, NULL));
    bool tvm = ts_axe_group(NULL, t->arena, TS_AXE_TVM, &axe, shape, &grouped[0]);
    CHECK(t, tvm == ts_axe_group(NULL, t->arena, TS_AXE_PAPER, &axe, shape, &grouped[1]));
    t->found += tvm;
    for (int form = 0; form < 2 && tvm; form++) {
        const int *seps = grouped[form].seps;
        note(t, "grouped", &grouped[form].axe);
        CHECK(t, same_sets(t, &axe, &grouped[form].axe));
        for (int d = 0; d < shape.rank; d++) {
            int64_t block = 1;
            for (int i = seps[d]; i < seps[d + 1]; i++) block *= grouped[form].axe.shards[i].extent;
            CHECK(t, block == shape.dims[d]);
        }
    }
}

static void law_group_many(trial *t) {
    ts_axe axe = random_axe(t, KINDS, false);
    ts_axe_grouped grouped[2];
    note(t, "", &axe);
    ts_axe_shape a = random_shape(t, ts_axe_size(&axe, NULL)), b = random_shape(t, ts_axe_size(&axe, NULL));
    if (!ts_axe_group_many(NULL, t->arena, &axe, 2, (ts_axe_shape[]){a, b}, grouped)) return;
    t->found++;
    note(t, "grouped", &grouped[0].axe);
    CHECK(t, same_sets(t, &axe, &grouped[0].axe));
    for (int which = 0; which < 2; which++) {
        ts_axe_shape shape = which ? b : a;
        const int *seps = grouped[which].seps;
        for (int d = 0; d < shape.rank; d++) {
            int64_t block = 1;
            for (int i = seps[d]; i < seps[d + 1]; i++) block *= grouped[which].axe.shards[i].extent;
            CHECK(t, block == shape.dims[d]);
        }
    }
}

/* A slice has the points of the box. */
static void law_slice(trial *t) {
    ts_axe axe = random_axe(t, KINDS, true);
    ts_axe_answer slice;
    axe_oracle whole, part;
    int64_t begin[8], end[8], sizes[8], index[8];
    note(t, "", &axe);
    ts_axe_shape shape = random_shape(t, ts_axe_size(&axe, NULL));
    for (int i = 0; i < shape.rank; i++) {
        begin[i] = below(t, (int)shape.dims[i]);
        if (below(t, 2)) begin[i] = 0;
        end[i] = begin[i] + 1 + below(t, (int)(shape.dims[i] - begin[i]));
        sizes[i] = end[i] - begin[i];
    }
    if (!ts_axe_slice(NULL, t->arena, (ts_axe_shaped){&axe, shape}, begin, end, &slice) || !slice.found)
        return;
    t->found++;
    note(t, "sliced", &slice.axe);
    view(t, &axe, &whole);
    view(t, &slice.axe, &part);
    for (int64_t e = 0; e < part.element_count; e++) {
        unflatten((ts_axe_shape){shape.rank, sizes}, e, index);
        for (int i = 0; i < shape.rank; i++) index[i] += begin[i];
        for (int64_t r = 0; r < part.replica_count; r++)
            CHECK(t, axe_oracle_has(&whole, flatten(shape, index), axe_oracle_point(&part, e, r)));
    }
}

/* The first point of an element, without replicas. */
static const int64_t *point_of(const axe_oracle *o, ts_axe_shape shape, const int64_t *index) {
    return axe_oracle_point(o, flatten(shape, index), 0);
}

/* Two layouts, their shapes of one rank, and the products of the dims. */
typedef struct {
    ts_axe a, b;
    ts_axe_shape as, bs, both;
} pair;

static bool random_pair(trial *t, pair *p) {
    p->a = random_axe(t, ANY, false);
    p->b = random_axe(t, ANY, false);
    note(t, "outer", &p->a);
    note(t, "inner", &p->b);
    p->as = random_shape(t, ts_axe_size(&p->a, NULL));
    p->bs = random_shape(t, ts_axe_size(&p->b, NULL));
    if (p->as.rank != p->bs.rank || ts_axe_size(&p->a, NULL) * ts_axe_size(&p->b, NULL) > 2048) return false;
    int64_t *dims = TS_NEW_ARRAY(t->arena, int64_t, p->as.rank);
    for (int i = 0; i < p->as.rank; i++) dims[i] = p->as.dims[i] * p->bs.dims[i];
    p->both = (ts_axe_shape){p->as.rank, dims};
    return true;
}

static ts_axe_shaped over(const ts_axe *axe, ts_axe_shape shape) { return (ts_axe_shaped){axe, shape}; }

/* T(x) = A(x / inner) * scale + B(x % inner), the scale by axis. */
static void check_pair(trial *t, const pair *p, const ts_axe *sum, const int64_t *scale) {
    axe_oracle a, b, s;
    int64_t index[8], outer[8], inner[8];
    view(t, &p->a, &a);
    view(t, &p->b, &b);
    view(t, sum, &s);
    CHECK(t, s.element_count == a.element_count * b.element_count);
    for (int64_t e = 0; e < s.element_count; e++) {
        unflatten(p->both, e, index);
        for (int i = 0; i < p->both.rank; i++) {
            outer[i] = index[i] / p->bs.dims[i];
            inner[i] = index[i] % p->bs.dims[i];
        }
        const int64_t *pa = point_of(&a, p->as, outer), *pb = point_of(&b, p->bs, inner),
                      *ps = axe_oracle_point(&s, e, 0);
        for (int i = 0; i < AXES; i++) CHECK(t, ps[i] == pa[i] * scale[i] + pb[i]);
    }
}

static void law_tile(trial *t) {
    pair p;
    ts_axe tiled, paper;
    ts_axe_answer back;
    int64_t scale[AXES];
    bool equal;
    if (!random_pair(t, &p)) return;
    ts_axe_shaped a = over(&p.a, p.as), b = over(&p.b, p.bs);
    if (!ts_axe_tile(NULL, t->arena, TS_AXE_TVM, a, b, &tiled)) return;
    t->found++;
    note(t, "tiled", &tiled);
    for (int i = 0; i < AXES; i++) CHECK(t, ts_axe_span(NULL, &p.b, TS_AXE_PAPER, axis_names[i], &scale[i]));
    check_pair(t, &p, &tiled, scale);
    CHECK(t, ts_axe_tile(NULL, t->arena, TS_AXE_PAPER, a, b, &paper));
    CHECK(t, same_sets(t, &tiled, &paper)); /* without replicas and offsets the two rules agree */
    if (ts_axe_is_tile_inner(NULL, t->arena, b, over(&tiled, p.both), &back) && back.found) {
        ts_axe again;
        note(t, "outer again", &back.axe);
        CHECK(t, ts_axe_tile(NULL, t->arena, TS_AXE_TVM, over(&back.axe, p.as), b, &again));
        CHECK(t, ts_axe_equal(NULL, t->arena, &again, &tiled, &equal) && equal);
    }
    if (ts_axe_is_tile_outer(NULL, t->arena, a, over(&tiled, p.both), &back) && back.found) {
        note(t, "inner again", &back.axe);
        CHECK(t, ts_axe_tile(NULL, t->arena, TS_AXE_TVM, a, over(&back.axe, p.bs), &paper));
        CHECK(t, same_sets(t, &paper, &tiled));
    }
}

static void law_direct_sum(trial *t) {
    pair p;
    ts_axe sum, again;
    ts_axe_answer other;
    static const int64_t ones[AXES] = {1, 1, 1, 1};
    if (!random_pair(t, &p)) return;
    if (!ts_axe_direct_sum(NULL, t->arena, over(&p.a, p.as), over(&p.b, p.bs), &sum)) return;
    t->found++;
    note(t, "sum", &sum);
    check_pair(t, &p, &sum, ones);
    int64_t dims[16];
    for (int i = 0; i < p.as.rank; i++) {
        dims[2 * i] = p.as.dims[i];
        dims[2 * i + 1] = p.bs.dims[i];
    }
    ts_axe_shape interleaved = {2 * p.as.rank, dims};
    for (int left = 0; left < 2; left++) {
        ts_axe_shaped known = left ? over(&p.a, p.as) : over(&p.b, p.bs);
        if (!ts_axe_is_direct_sum(NULL, t->arena, left ? TS_AXE_LEFT : TS_AXE_RIGHT, known,
                                  over(&sum, interleaved), &other) ||
            !other.found)
            continue;
        note(t, "other addend", &other.axe);
        const ts_axe *first = left ? &p.a : &other.axe, *second = left ? &other.axe : &p.b;
        CHECK(t, ts_axe_direct_sum(NULL, t->arena, over(first, p.as), over(second, p.bs), &again));
        CHECK(t, same_sets(t, &again, &sum));
    }
}

/* Permuting shards permutes the dims that they are. */
static void law_permute(trial *t) {
    ts_axe axe = random_axe(t, KINDS, false), permuted;
    axe_oracle before, after;
    int64_t order[8], dims[8], moved[8], index[8], from[8];
    int count = axe.shard_count;
    note(t, "", &axe);
    for (int i = 0; i < count; i++) order[i] = i;
    for (int i = count - 1; i > 0; i--) {
        int j = below(t, i + 1);
        int64_t other = order[i];
        order[i] = order[j];
        order[j] = other;
    }
    CHECK(t, ts_axe_permute(NULL, t->arena, &axe, count, order, &permuted));
    view(t, &axe, &before);
    view(t, &permuted, &after);
    for (int i = 0; i < count; i++) {
        dims[i] = axe.shards[i].extent;
        moved[i] = axe.shards[order[i]].extent;
    }
    for (int64_t e = 0; e < after.element_count; e++) {
        unflatten((ts_axe_shape){count, moved}, e, index);
        for (int i = 0; i < count; i++) from[order[i]] = index[i];
        const int64_t *point = point_of(&before, (ts_axe_shape){count, dims}, from);
        CHECK(t, memcmp(axe_oracle_point(&after, e, 0), point, AXES * sizeof *point) == 0);
    }
}

/* Unpacking makes every element n in a row; packing undoes it. */
static void law_pack(trial *t) {
    ts_axe axe = random_axe(t, KINDS, true), wide, back;
    axe_oracle a, w;
    int n = 1 << below(t, 3);
    note(t, "", &axe);
    CHECK(t, ts_axe_unpack(NULL, t->arena, &axe, n, &wide));
    note(t, "unpacked", &wide);
    view(t, &axe, &a);
    view(t, &wide, &w);
    CHECK(t, w.element_count == a.element_count * n);
    for (int64_t e = 0; e < w.element_count; e++) {
        int64_t point[AXES];
        memcpy(point, axe_oracle_point(&a, e / n, 0), sizeof point);
        point[3] = point[3] * n + e % n;
        CHECK(t, axe_oracle_has(&w, e, point));
    }
    if (!ts_axe_pack(NULL, t->arena, &wide, n, &back)) return; /* where the row fused with others */
    t->found++;
    note(t, "packed", &back);
    CHECK(t, same_sets(t, &axe, &back));
}

/* An overlap is found if and only if there is one. */
static void law_injective(trial *t) {
    ts_axe axe = random_axe(t, KINDS, true);
    axe_oracle o;
    int64_t dims;
    ts_layout_injectivity found;
    bool overlaps = false;
    note(t, "", &axe);
    view(t, &axe, &o);
    dims = o.element_count;
    const ts_layout *layout = common(t, &axe, (ts_axe_shape){1, &dims});
    CHECK(t, ts_layout_injective(NULL, t->arena, layout, 1 << 20, &found));
    for (int64_t e = 0; e < o.element_count && !overlaps; e++)
        for (int64_t r = 0; r < o.replica_count && !overlaps; r++)
            overlaps = axe_oracle_find(&o, e + 1, axe_oracle_point(&o, e, r)) >= 0;
    CHECK(t, found.injective == !overlaps);
    if (!overlaps) return;
    bool shared = false;
    for (int64_t r = 0; r < o.replica_count; r++)
        shared = shared || axe_oracle_has(&o, found.first[0], axe_oracle_point(&o, found.second[0], r));
    CHECK(t, found.first[0] != found.second[0] && shared);
    t->found++;
}

/* Swizzles permute, and their layouts invert. */
static void law_swizzle(trial *t) {
    int64_t dims[2] = {8, 16}, index[2], address;
    ts_axe axe = {.shard_count = 2};
    ts_axe_iter shards[2] = {{8, 16, "m"}, {16, 1, "m"}};
    int bits = below(t, 3), shift = bits + below(t, 3), keep = below(t, 3);
    bool outer = below(t, 2), seen[1 << 10] = {false};
    if (below(t, 2)) shards[0] = (ts_axe_iter){8, 1, "m"}, shards[1] = (ts_axe_iter){16, 8, "m"};
    axe.shards = shards;
    axe.swizzle = (ts_swizzle){.present = true, .outer = outer, .bits = bits, .keep = keep, .shift = shift};
    note(t, "", &axe);
    const ts_layout *layout = common(t, &axe, (ts_axe_shape){2, dims});
    for (int64_t e = 0; e < 128; e++) {
        ts_index_list found;
        unflatten((ts_axe_shape){2, dims}, e, index);
        int64_t plain = index[0] * shards[0].stride + index[1] * shards[1].stride, high = plain >> keep;
        int64_t mask = (1 << bits) - 1;
        int64_t expected = outer ? high ^ ((high & mask) << shift) : high ^ ((high >> shift) & mask);
        ts_layout_forward(layout, index, &address);
        CHECK(t, address == (expected << keep | (plain & ((1 << keep) - 1))));
        CHECK(t, address >= 0 && address < 1 << 10 && !seen[address]);
        seen[address] = true;
        CHECK(t, ts_layout_backward(NULL, t->arena, layout, &address, 2, &found) && found.count == 1);
        CHECK(t, memcmp(found.indices, index, sizeof index) == 0);
    }
}

LAW(text, 0)
LAW(points, 2)
LAW(canonical, 0)
LAW(common_form, 0)
LAW(spans, 0)
LAW(group, 8)
LAW(group_many, 8)
LAW(slice, 8)
LAW(tile, 40)
LAW(direct_sum, 40)
LAW(permute, 0)
LAW(pack, 8)
LAW(injective, 20)
LAW(swizzle, 0)
