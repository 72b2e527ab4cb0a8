/* Two databases compared. */
#include "sweep/diff.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *parameters, *question, *machine;
    ts_sweep_status status;
    double number;
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
    point p = {copy(c, identity->parameters), copy(c, identity->question), copy(c, identity->machine),
               row->status, 0};
    if (!ts_sweep_value_number(&row->values[c->column], &p.number)) p.number = 0;
    c->points = ts_arena_extend(c->arena, c->points, (size_t)c->count, sizeof *c->points);
    c->points[c->count++] = p;
    return true;
}

static int by_identity(const void *one, const void *other) {
    const point *a = one, *b = other;
    int order = strcmp(a->question, b->question);
    if (order == 0) order = strcmp(a->parameters, b->parameters);
    return order ? order : strcmp(a->machine, b->machine);
}

static bool read_points(ts_error *err, ts_sweep_store *store, collection *c) {
    if (!ts_sweep_store_each(err, store, collect, c)) return false;
    if (c->count > 1) qsort(c->points, (size_t)c->count, sizeof *c->points, by_identity);
    return true;
}

static bool is_broken(const ts_sweep_change *c) {
    return c->before_status == TS_SWEEP_OK && c->after_status != TS_SWEEP_OK;
}

static int by_harm(const void *one, const void *other) {
    const ts_sweep_change *a = one, *b = other;
    if (is_broken(a) != is_broken(b)) return is_broken(a) ? -1 : 1;
    return (a->ratio < b->ratio) - (a->ratio > b->ratio);
}

static void note(ts_sweep_diff *diff, ts_sweep_change *changes, const point *a, const point *b) {
    ts_sweep_change c = {b->parameters, b->question, b->machine, a->status,
                         b->status,     a->number,   b->number,  0};
    diff->both++;
    if (a->status == b->status && a->number == b->number) return;
    if (a->number > 0 && b->number > 0) c.ratio = b->number / a->number;
    if (c.ratio > diff->worst) diff->worst = c.ratio;
    diff->broken += is_broken(&c);
    changes[diff->change_count++] = c;
}

bool ts_sweep_compare(ts_error *err, ts_arena *arena, ts_sweep_store *before, ts_sweep_store *after,
                      int column, ts_sweep_diff *diff) {
    collection a = {.arena = arena, .column = column}, b = a;
    if (!read_points(err, before, &a) || !read_points(err, after, &b)) return false;
    ts_sweep_change *changes =
        TS_NEW_ARRAY(arena, ts_sweep_change, (a.count < b.count ? a.count : b.count) + 1);
    *diff = (ts_sweep_diff){.column = ts_sweep_column_get(column)->name, .changes = changes, .worst = 1};
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
