/* Two databases compared. */
#include "sweep/answers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

typedef struct {
    const char *parameters, *question, *machine;
    char key[33];
    int version[3];
    bool shared; /* the other database has the same key: same inputs, same version */
    ts_sweep_status status;
    double number; /* NAN: none */
} point;

typedef struct {
    ts_arena *arena;
    int column;
    point *points;
    int64_t count;
} collection;

static const char *copy(const collection *c, const char *text) {
    return ts_arena_copy_text(c->arena, text, strlen(text));
}

static bool collect(ts_error *err, void *self, const ts_sweep_identity *identity, const ts_sweep_row *row) {
    (void)err;
    collection *c = self;
    point p = {.parameters = copy(c, identity->parameters),
               .question = copy(c, identity->question),
               .machine = copy(c, identity->machine),
               .status = row->status};
    if (!ts_sweep_value_number(&row->values[c->column], &p.number)) p.number = (double)NAN;
    memcpy(p.key, identity->key, sizeof p.key);
    sscanf(identity->version, "%d.%d.%d", &p.version[0], &p.version[1], &p.version[2]);
    *TS_APPEND(c->arena, c->points, c->count) = p;
    return true;
}

/* Marks the points that both have; both are sorted by key. */
static void find_shared(collection *a, collection *b) {
    for (int64_t i = 0, k = 0; i < a->count && k < b->count;) {
        int order = strcmp(a->points[i].key, b->points[k].key);
        if (order == 0) a->points[i].shared = b->points[k].shared = true;
        i += order <= 0;
        k += order >= 0;
    }
}

static int by_identity(const void *one, const void *other) {
    const point *a = one, *b = other;
    int order = strcmp(a->question, b->question);
    if (order == 0) order = strcmp(a->parameters, b->parameters);
    return order ? order : strcmp(a->machine, b->machine);
}

/* Of rows of one point that of the last version first, then one that the other database lacks. */
static int by_identity_and_age(const void *one, const void *other) {
    const point *a = one, *b = other;
    int order = by_identity(a, b);
    for (int i = 0; i < 3 && order == 0; i++) order = b->version[i] - a->version[i];
    if (order == 0) order = a->shared - b->shared;
    return order ? order : strcmp(a->key, b->key);
}

/* One row of each point. Returns how many there were more. */
static int64_t keep_last(collection *c) {
    int64_t kept = 0, all = c->count;
    if (all > 1) qsort(c->points, (size_t)all, sizeof *c->points, by_identity_and_age);
    for (int64_t i = 0; i < all; i++)
        if (kept == 0 || by_identity(&c->points[kept - 1], &c->points[i]) != 0)
            c->points[kept++] = c->points[i];
    c->count = kept;
    return all - kept;
}

static bool is_broken(const ts_sweep_change *c) {
    return c->before_status == TS_SWEEP_OK && c->after_status != TS_SWEEP_OK;
}

static int by_harm(const void *one, const void *other) {
    const ts_sweep_change *a = one, *b = other;
    if (is_broken(a) != is_broken(b)) return is_broken(a) ? -1 : 1;
    int order = ts_order_reals(b->ratio, a->ratio);
    if (order == 0) order = strcmp(a->question, b->question);
    if (order == 0) order = strcmp(a->parameters, b->parameters);
    return order ? order : strcmp(a->machine, b->machine);
}

static void note(ts_sweep_diff *diff, ts_sweep_change *changes, const point *a, const point *b) {
    ts_sweep_change c = {b->parameters, b->question, b->machine, a->status,
                         b->status,     a->number,   b->number,  0};
    diff->both++;
    diff->measured += !isnan(a->number) && !isnan(b->number);
    bool same = a->number == b->number || (isnan(a->number) && isnan(b->number));
    if (a->status == b->status && same) return;
    if (a->number >= 0 && b->number > 0) c.ratio = b->number / a->number;
    if (c.ratio > diff->worst) diff->worst = c.ratio;
    diff->broken += is_broken(&c);
    changes[diff->change_count++] = c;
}

bool ts_sweep_compare(ts_error *err, ts_arena *arena, ts_sweep_store *before, ts_sweep_store *after,
                      int column, ts_sweep_diff *diff) {
    collection a = {.arena = arena, .column = column}, b = a;
    if (!ts_sweep_store_each(err, before, collect, &a) || !ts_sweep_store_each(err, after, collect, &b))
        return false;
    find_shared(&a, &b);
    int64_t older = keep_last(&a) + keep_last(&b);
    ts_sweep_change *changes = TS_NEW_ARRAY(arena, ts_sweep_change, a.count);
    *diff = (ts_sweep_diff){
        .column = ts_sweep_column_get(column)->name, .older = older, .changes = changes, .worst = 1};
    for (int64_t i = 0, k = 0; i < a.count || k < b.count;) {
        int order = i == a.count ? 1 : k == b.count ? -1 : by_identity(&a.points[i], &b.points[k]);
        if (order < 0) diff->only_before++;
        if (order > 0) diff->only_after++;
        if (order == 0) note(diff, changes, &a.points[i], &b.points[k]);
        i += order <= 0;
        k += order >= 0;
    }
    if (diff->change_count > 1) qsort(changes, (size_t)diff->change_count, sizeof *changes, by_harm);
    return true;
}
