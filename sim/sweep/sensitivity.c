/* Figures halved and doubled, one at a time, and what becomes of a column. */
#include "sweep/sensitivity.h"

#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "config/scale.h"

/* ---- The study ---- */

typedef struct {
    ts_arena *arena;
    const ts_sweep_case *asked; /* at the first point */
    ts_grid_axis axis;
} change_list;

static int add_value(change_list *m, const char *value) {
    m->axis.values = ts_arena_extend(m->arena, m->axis.values, (size_t)m->axis.count, sizeof *m->axis.values);
    m->axis.values[m->axis.count] = value;
    return m->axis.count++;
}

/* The number of the new value; 0, that of none: there is no such machine. */
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

bool ts_sweep_changes_make(ts_error *err, ts_arena *arena, const ts_sweep_study *study,
                           ts_sweep_changes *changes) {
    ts_sweep_point point;
    ts_sweep_case asked;
    change_list m = {arena, &asked, {.name = TS_SWEEP_CHANGE}};
    add_value(&m, "");
    ts_sweep_point_get(arena, study, 0, &point);
    if (!ts_sweep_case_of(err, arena, &point, &asked)) return false;
    const ts_machine *machine =
        ts_machine_load_with(err, arena, asked.machine, "set", asked.sets, asked.set_count);
    if (!machine) return false;
    ts_sweep_moved *fields = TS_NEW_ARRAY(arena, ts_sweep_moved, machine->leaf_count);
    *changes = (ts_sweep_changes){.fields = fields};
    for (int i = 0; i < machine->leaf_count; i++) {
        const ts_field_leaf *leaf = &machine->leaves[i];
        ts_sweep_moved moved = {leaf->path, value_of(arena, leaf), add_change(&m, leaf, TS_FIELD_HALVED), 0};
        moved.doubled = add_change(&m, leaf, TS_FIELD_DOUBLED);
        if (moved.halved || moved.doubled) fields[changes->count++] = moved;
    }
    changes->study = ts_sweep_study_with(err, arena, study, &m.axis);
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

/* The mean of ln(with the change / without it); NAN: no point has both. */
static double mean_of(const results *r, int change) {
    double sum = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < r->points && change > 0; i++) {
        if (i % r->block >= r->stride) continue;
        double moved = r->logarithms[i + change * r->stride] - r->logarithms[i];
        if (isnan(moved)) continue;
        sum += moved;
        count++;
    }
    return count > 0 ? sum / (double)count : (double)NAN;
}

static ts_sweep_elasticity measure(const results *r, const ts_sweep_moved *moved) {
    double low = mean_of(r, moved->halved), high = mean_of(r, moved->doubled), octave = log(2);
    ts_sweep_elasticity e = {.moved = moved};
    if (!isnan(low)) e.halved = exp(low);
    if (!isnan(high)) e.doubled = exp(high);
    if (!isnan(low) && !isnan(high))
        e.elasticity = (high - low) / (2 * octave);
    else if (!isnan(low) || !isnan(high))
        e.elasticity = (isnan(high) ? -low : high) / octave;
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
