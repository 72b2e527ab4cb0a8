/* Figures halved and doubled, one at a time, and what becomes of a column. */
#include "sweep/answers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "config/scale.h"
#include "sweep/case.h"

/* ---- The study ---- */

typedef struct {
    ts_arena *arena;
    const ts_sweep_case *asked; /* at the point that is looked at */
    ts_grid_axis axis;
    ts_sweep_moved *fields;
    int count;
} change_list;

static int add_value(change_list *m, const char *value) {
    *TS_APPEND(m->arena, m->axis.values, m->axis.count) = value;
    return m->axis.count - 1;
}

/* The index of the changed value; 0: the machine cannot be so. */
static int add_change(change_list *m, const ts_field_leaf *leaf, ts_field_scaling scaling) {
    const ts_sweep_case *asked = m->asked;
    ts_arena *scratch = ts_arena_new();
    ts_text text = ts_text_begin(scratch);
    const char **sets = TS_NEW_ARRAY(scratch, const char *, asked->set_count + 1);
    for (int i = 0; i < asked->set_count; i++) sets[i] = asked->sets[i];
    bool good = ts_field_scaled(leaf, scaling, &text);
    sets[asked->set_count] = text.bytes;
    good = good &&
           ts_machine_load_with(NULL, scratch, asked->machine, "set", sets, asked->set_count + 1) != NULL;
    ts_arena_free(scratch);
    if (!good) return 0;
    return add_value(m,
                     ts_text_format(m->arena, "%s%s", leaf->path, scaling == TS_FIELD_DOUBLED ? "*2" : "/2"));
}

static const char *value_of(ts_arena *arena, const ts_field_leaf *leaf) {
    ts_text text = ts_text_begin(arena);
    ts_field_print(&text, leaf->field, leaf->at);
    return text.bytes;
}

/* What no machine before could have. */
static void add_field(change_list *m, const ts_field_leaf *leaf) {
    int at = 0;
    while (at < m->count && strcmp(m->fields[at].field, leaf->path) != 0) at++;
    ts_sweep_moved found = at < m->count ? m->fields[at] : (ts_sweep_moved){leaf->path, NULL, 0, 0};
    if (!found.halved) found.halved = add_change(m, leaf, TS_FIELD_HALVED);
    if (!found.doubled) found.doubled = add_change(m, leaf, TS_FIELD_DOUBLED);
    if (!found.halved && !found.doubled) return;
    if (at == m->count) {
        m->fields = ts_arena_extend(m->arena, m->fields, (size_t)m->count++, sizeof *m->fields);
        found.field = ts_arena_copy_text(m->arena, leaf->path, strlen(leaf->path));
        found.value = value_of(m->arena, leaf);
    }
    m->fields[at] = found;
}

static bool add_machine(ts_error *err, ts_arena *scratch, change_list *m) {
    const ts_machine *machine =
        ts_machine_load_with(err, scratch, m->asked->machine, "set", m->asked->sets, m->asked->set_count);
    for (int i = 0; machine && i < machine->leaf_count; i++) add_field(m, &machine->leaves[i]);
    return machine != NULL;
}

/* The machines of points behind the first may be none: their answers say so. */
static bool add_point(ts_error *err, const ts_sweep_study *study, int64_t index, ts_sweep_moves *seen,
                      change_list *m) {
    ts_arena *scratch = ts_arena_new();
    ts_sweep_point point;
    ts_sweep_case asked;
    bool counts;
    m->asked = &asked;
    ts_sweep_point_get(scratch, study, index, &point);
    bool good = ts_sweep_point_counts(err, scratch, &point, &counts);
    if (good && (counts || index == 0)) {
        good = ts_sweep_case_of(err, scratch, &point, &asked);
        if (good && ts_sweep_moves_add(seen, &asked))
            good = add_machine(index == 0 ? err : NULL, scratch, m) || index > 0;
    }
    ts_arena_free(scratch);
    return good;
}

bool ts_sweep_changes_make(ts_error *err, ts_arena *arena, const ts_sweep_study *study,
                           ts_sweep_changes *changes) {
    change_list m = {.arena = arena, .axis = {.name = TS_SWEEP_CHANGE}};
    ts_arena *scratch = ts_arena_new();
    ts_sweep_moves *seen = ts_sweep_moves_new(scratch);
    bool good = true;
    add_value(&m, "");
    for (int64_t i = 0; i < study->grid.point_count && good; i++) good = add_point(err, study, i, seen, &m);
    ts_arena_free(scratch);
    if (!good) return false;
    *changes = (ts_sweep_changes){ts_sweep_study_with(err, arena, study, &m.axis), m.fields, m.count};
    return changes->study != NULL;
}

/* ---- What becomes of the column ---- */

typedef struct {
    int64_t points, stride,
        block;          /* from a change to the next; from one without a change to the next, so long */
    double *logarithms; /* of the column, by the study's point; NAN: none */
} results;

static void read_results(ts_arena *arena, const ts_sweep_table *table, int column, results *r) {
    const ts_grid *grid = &table->study->grid;
    int at = table->study->first_varied;
    *r = (results){.points = grid->point_count, .stride = 1};
    for (int i = at + 1; i < grid->axis_count; i++) r->stride *= grid->axes[i].count;
    r->block = r->stride * grid->axes[at].count;
    r->logarithms = TS_NEW_ARRAY(arena, double, r->points);
    for (int64_t i = 0; i < r->points; i++) r->logarithms[i] = (double)NAN;
    for (int64_t row = 0; row < table->row_count; row++) {
        double number;
        if (ts_sweep_value_number(ts_sweep_table_cell(table, row, column), &number) && number > 0)
            r->logarithms[table->points[row]] = log(number);
    }
}

typedef struct {
    double sum;
    int64_t count;
} mean;

static void add_number(mean *m, double number) {
    if (isnan(number)) return;
    m->sum += number;
    m->count++;
}

static double mean_of(const mean *m) { return m->sum / (double)m->count; }

/* ln(with the change / without it) of a point; NAN: it has not both. */
static double moved_by(const results *r, int64_t point, int change) {
    return change > 0 ? r->logarithms[point + change * r->stride] - r->logarithms[point] : (double)NAN;
}

/* From the halved figure to the doubled one, in logarithms; where one is NaN, of the other alone. */
static double slope_of(double low, double high) {
    double octave = log(2);
    if (isnan(low)) return high / octave;
    return isnan(high) ? -low / octave : (high - low) / (2 * octave);
}

static ts_sweep_elasticity measure(const results *r, const ts_sweep_moved *moved) {
    mean low = {0}, high = {0}, slope = {0};
    for (int64_t i = 0; i < r->points; i++) {
        if (i % r->block >= r->stride) continue;
        double halved = moved_by(r, i, moved->halved), doubled = moved_by(r, i, moved->doubled);
        add_number(&low, halved);
        add_number(&high, doubled);
        add_number(&slope, slope_of(halved, doubled));
    }
    ts_sweep_elasticity e = {.moved = moved};
    if (low.count > 0) e.halved = exp(mean_of(&low));
    if (high.count > 0) e.doubled = exp(mean_of(&high));
    if (slope.count > 0) e.elasticity = mean_of(&slope);
    return e;
}

/* Then in the order of the machine's figures. */
static int by_elasticity(const void *one, const void *other) {
    const ts_sweep_elasticity *a = one, *b = other;
    double x = fabs(a->elasticity), y = fabs(b->elasticity);
    return x != y ? ts_order_reals(y, x) : (a->moved > b->moved) - (a->moved < b->moved);
}

const ts_sweep_elasticity *ts_sweep_elasticities(ts_arena *arena, const ts_sweep_changes *changes,
                                                 const ts_sweep_table *table, int column) {
    ts_sweep_elasticity *list = TS_NEW_ARRAY(arena, ts_sweep_elasticity, changes->count + 1);
    results r;
    read_results(arena, table, column, &r);
    for (int i = 0; i < changes->count; i++) list[i] = measure(&r, &changes->fields[i]);
    qsort(list, (size_t)changes->count, sizeof *list, by_elasticity);
    return list;
}
